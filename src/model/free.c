// free.c: bodies that no expression knows (derive/bodies/free.c): their masses, forces and energies, as numbers.
#include "model/model.h"
#include "model/free.inc"

static void put(carom_matrix A, int i, int j, double x) { if (x != 0) A.a[carom_model_place(A.shape, i, j)] += x; }

static free_body numbers(const body *b) {
    const int dim = b->space == SPATIAL ? 3 : 2;
    return (free_body){.dim = dim, .q = b->orientation - dim, .v = b->v, .mass = b->mass, .J = b->J};
}

// (BOD-5)  M = diag(m, m, m, J)
void carom_free_mass(const carom_model *m, carom_matrix M) {
    for (int i = 0; m->nfree && i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (!b->free) continue;
        const int n = b->space == SPATIAL ? 3 : 2;
        for (int k = 0; k < n; ++k) put(M, b->v + k, b->v + k, b->mass);
        if (n == 2) put(M, b->v + 2, b->v + 2, b->J[8]);
        for (int k = 0; k < 9 && n == 3; ++k) put(M, b->v + 3 + k / 3, b->v + 3 + k % 3, b->J[k]);
    }
}

void carom_free_force(const carom_model *m, const double *v, double *f) {
    for (int i = 0; m->nfree && i < m->nbodies; ++i) {
        if (!m->bodies[i].free) continue;
        const free_body b = numbers(&m->bodies[i]);
        free_force(&b, m->gravity, v, f);
    }
}

void carom_free_tangent(const carom_model *m, const double *v, carom_matrix C) {
    for (int i = 0; m->nfree && i < m->nbodies; ++i) {
        if (!m->bodies[i].free || m->bodies[i].space != SPATIAL) continue;
        const free_body b = numbers(&m->bodies[i]);
        double x[9];
        free_tangent(&b, v, x);
        for (int k = 0; k < 9; ++k) put(C, b.v + 3 + k / 3, b.v + 3 + k % 3, x[k]);
    }
}

void carom_free_energy(const carom_model *m, const double *q, const double *v, double *kinetic, double *potential) {
    for (int i = 0; m->nfree && i < m->nbodies; ++i) {
        if (!m->bodies[i].free) continue;
        const free_body b = numbers(&m->bodies[i]);
        free_energy(&b, m->gravity, q, v, kinetic, potential);
    }
}

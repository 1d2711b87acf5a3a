// free.c: bodies that no expression knows (derive/bodies/free.c): their masses, forces and energies, as numbers.
#include "model/model.h"

static void spin(const body *b, const double *w, double *p) { // J w
    for (int i = 0; i < 3; ++i) p[i] = b->J[3 * i] * w[0] + b->J[3 * i + 1] * w[1] + b->J[3 * i + 2] * w[2];
}

static void put(carom_matrix A, int i, int j, double x) { if (x != 0) A.a[carom_model_place(A.shape, i, j)] += x; }

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

// (BOD-5)  f = (m g, -w x J w)
void carom_free_force(const carom_model *m, const double *v, double *f) {
    for (int i = 0; m->nfree && i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (!b->free) continue;
        const int n = b->space == SPATIAL ? 3 : 2;
        for (int k = 0; k < n; ++k) f[b->v + k] = b->mass * m->gravity[k];
        if (n == 2) f[b->v + 2] = 0;
        if (n == 2) continue;
        const double *w = v + b->v + 3;
        double p[3];
        spin(b, w, p);
        for (int k = 0; k < 3; ++k) f[b->v + 3 + k] = w[(k + 2) % 3] * p[(k + 1) % 3] - w[(k + 1) % 3] * p[(k + 2) % 3];
    }
}

// C = -df/dv = skew(w) J - skew(J w)
void carom_free_tangent(const carom_model *m, const double *v, carom_matrix C) {
    for (int i = 0; m->nfree && i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (!b->free || b->space != SPATIAL) continue;
        const double *w = v + b->v + 3, *J = b->J;
        double p[3];
        spin(b, w, p);
        for (int k = 0; k < 3; ++k) {
            const int a = (k + 1) % 3, c = (k + 2) % 3;
            for (int l = 0; l < 3; ++l) put(C, b->v + 3 + k, b->v + 3 + l, w[a] * J[3 * c + l] - w[c] * J[3 * a + l]);
            put(C, b->v + 3 + k, b->v + 3 + a, p[c]);
            put(C, b->v + 3 + k, b->v + 3 + c, -p[a]);
        }
    }
}

void carom_free_energy(const carom_model *m, const double *q, const double *v, double *kinetic, double *potential) {
    for (int i = 0; m->nfree && i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (!b->free) continue;
        const int n = b->space == SPATIAL ? 3 : 2;
        const double *u = v + b->v, *x = q + b->turn - n;
        double p[3];
        for (int k = 0; k < n; ++k) *kinetic += 0.5 * b->mass * u[k] * u[k], *potential -= b->mass * m->gravity[k] * x[k];
        if (n == 2) *kinetic += 0.5 * b->J[8] * u[2] * u[2];
        if (n == 2) continue;
        spin(b, u + 3, p);
        *kinetic += 0.5 * carom_dot(u + 3, p, 3);
    }
}

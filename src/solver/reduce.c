// reduce.c: eliminating the bilateral rows (SOL-6) by LU with full pivoting, once per problem.
#include "solver/reduce.h"
#include "contact/residual.h"
#include "linalg/dense.h"

static const double REDUNDANT = 1e-12; // pivots of joints that depend on others, of the largest

void carom_allocate_reduced(carom_reduced *r, carom_arena *mem, int n) {
    const size_t m = (size_t)n;
    r->U = carom_allocate_ints(mem, m);
    r->E = carom_allocate_ints(mem, m);
    r->row = carom_allocate_ints(mem, m);
    r->col = carom_allocate_ints(mem, m);
    r->S_own = carom_allocate(mem, m * m);
    r->s_own = carom_allocate(mem, m);
    r->F = carom_allocate(mem, m * m);
    r->X = carom_allocate(mem, m * (m + 1));
    r->scale = carom_allocate(mem, 2 * m);
    r->b = carom_allocate(mem, m);
    r->G = carom_allocate(mem, m * m);
    r->g = carom_allocate(mem, m);
    r->x = carom_allocate(mem, 4 * m);
}

static void split(carom_reduced *r, const carom_problem *pb) {
    r->nu = r->ne = 0;
    for (int i = 0; i < pb->nb; i++) {
        const carom_block *b = pb->block + i;
        const int rows = carom_has_friction(b) ? carom_law_rows(b->law) : 1;
        if (b->law == CAROM_BILATERAL) r->E[r->ne++] = b->at;
        else
            for (int k = 0; k < rows; k++) r->U[r->nu++] = b->at + k;
    }
}

static void solve_E(carom_reduced *r, double *x) {
    carom_dense_full_solve(r->F, r->ne, r->ne, r->rank, r->row, r->col, r->scale, r->b, x);
}

void carom_reduce(carom_reduced *r, const carom_problem *pb) {
    split(r, pb);
    r->S = pb->G;
    r->s = pb->c;
    r->ld = pb->ld;
    if (r->nu == pb->n) return;

    const int nu = r->nu, ne = r->ne;
    const size_t ld = (size_t)pb->ld;
    for (int j = 0; j < ne; j++)
        for (int i = 0; i < ne; i++) r->F[i + (size_t)j * ne] = pb->G[r->E[i] + r->E[j] * ld];
    r->rank = carom_dense_full(r->F, ne, ne, REDUNDANT, r->row, r->col, r->scale);
    for (int k = 0; k <= nu; k++) {
        const double *column = k < nu ? pb->G + r->U[k] * ld : pb->c;
        for (int i = 0; i < ne; i++) r->b[i] = column[r->E[i]];
        solve_E(r, r->X + (size_t)k * ne);
        double *y = k < nu ? r->S_own + (size_t)k * nu : r->s_own;
        for (int i = 0; i < nu; i++) y[i] = column[r->U[i]];
        for (int e = 0; e < ne; e++) {
            const double *g = pb->G + r->E[e] * ld, x = r->X[e + (size_t)k * ne];
            for (int i = 0; i < nu; i++) y[i] -= g[r->U[i]] * x;
        }
    }
    r->S = r->S_own;
    r->s = r->s_own;
    r->ld = nu;
}

// (SOL-6)  Redundant joints: p_E without its part in the null space of G_EE, G_EE^+ G_EE p_E.
static void shorten(carom_reduced *r, const carom_problem *pb) {
    const int ne = r->ne;
    for (int j = 0; j < ne; j++)
        for (int i = 0; i < ne; i++) r->G[i + (size_t)j * ne] = pb->G[r->E[i] + r->E[j] * (size_t)pb->ld];
    for (int i = 0; i < ne; i++) r->g[i] = 0;
    for (int j = 0; j < ne; j++)
        for (int i = 0; i < ne; i++) r->g[i] += r->G[i + (size_t)j * ne] * pb->p[r->E[j]];
    carom_dense_shortest(r->G, ne, ne, REDUNDANT, r->col, r->x + ne, r->g, r->x);
    for (int i = 0; i < ne; i++) pb->p[r->E[i]] = r->x[i];
}

void carom_reduced_expand(carom_reduced *r, const carom_problem *pb, const double *pU) {
    const int nu = r->nu, ne = r->ne;
    double *p = pb->p;
    for (int i = 0; i < pb->n; i++) p[i] = 0; // tangents without friction are in neither set
    for (int k = 0; k < nu; k++) p[r->U[k]] = pU[k];
    for (int i = 0; i < ne; i++) {
        double x = -r->X[i + (size_t)nu * ne];
        for (int k = 0; k < nu; k++) x -= r->X[i + (size_t)k * ne] * pU[k];
        p[r->E[i]] = x;
    }
    if (ne == 0) return;
    if (r->rank < ne) {
        shorten(r, pb);
        return;
    }
    // One step of refinement: joints are usually stiffer coupled than contacts.
    for (int i = 0; i < ne; i++) {
        double u = pb->c[r->E[i]];
        for (int j = 0; j < pb->n; j++) u += pb->G[r->E[i] + (size_t)j * pb->ld] * p[j];
        r->b[i] = u;
    }
    double *x = r->X + (size_t)nu * ne; // no longer needed
    solve_E(r, x);
    for (int i = 0; i < ne; i++) p[r->E[i]] -= x[i];
}

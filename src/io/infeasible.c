// infeasible.c: a proof that a contact problem has no solution.
//
// Spec: docs/solvers.md, "Problems without a solution".  The search may fail; a proof that it finds is checked with
// the problem itself, so a
// mistake in the search cannot make one.
#include "contact/law.h"
#include "linalg/dense.h"
#include <carom/problem.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const carom_problem *pb;
    int m, nc;                 // unknowns: one of each block, then a slack of each contact; contacts
    const double *G;           // dense, leading dimension n
    double *d;                 // n: square roots of scales
    double *A, *H, *q, *z, *u; // A: (n + 1) x m, H = A'A, q, z and u of the least-squares problem
    double *r, *P;             // n + 1: A z + e; m x m: part of H
    int *active;               // m
    carom_block *block;        // m
} proof;

// (INF-1), up to rounding (INF-2)
static bool holds(const proof *w, const double *y, double tol) {
    const carom_problem *pb = w->pb;
    const int n = pb->n;
    const double rounding = (4 + 0.25 * n) * DBL_EPSILON; // as in (CP-9)
    double drive = 0, size = 0, blur = 0;
    for (int b = 0; b < pb->nb; b++) {
        const int at = pb->block[b].at, rows = carom_rows_of(pb->block + b);
        const bool joint = pb->block[b].law == CAROM_BILATERAL;
        double excess = 0, terms = 0;
        for (int i = 0; i < rows; i++) {
            const double *column = w->G + (size_t)(at + i) * (size_t)n, weight = i ? pb->block[b].mu : 1;
            double g = 0, a = 0;
            for (int k = 0; k < pb->nb; k++) {
                const int j = pb->block[k].at;
                g += column[j] * y[j], a += fabs(column[j] * y[j]);
            }
            excess += i || joint ? weight * fabs(g) : g; // g_N + mu sum |g_T| >= g_N + mu |g_T|
            terms += weight * a;
        }
        if (!(excess <= rounding * terms) || (!joint && !(y[at] >= 0))) return false;
        drive += y[at] * pb->c[at], size += fabs(y[at]), blur += fabs(y[at] * pb->c[at]);
    }
    return drive < -(tol * size + rounding * blur);
}

static bool solve(carom_problem *pb, double tol) {
    carom_arena mem = {0};
    const int rigid = pb->n;
    carom_allocate_chain(&mem, pb->n, pb->nb, rigid, NULL);
    mem = (carom_arena){.base = aligned_alloc(64, (mem.used + 127) / 64 * 64), .size = mem.used};
    if (!mem.base) return false;
    carom_chain_solve(carom_allocate_chain(&mem, pb->n, pb->nb, rigid, NULL), pb, tol);
    free(mem.base);
    return true;
}

// r = A z + e, e the last unit vector
static void remainder_of(const proof *w) {
    const int rows = w->pb->n + 1;
    for (int i = 0; i < rows; i++) w->r[i] = i == w->pb->n;
    for (int j = 0; j < w->m; j++)
        for (int i = 0; i < rows; i++) w->r[i] += w->A[i + (size_t)j * (size_t)rows] * w->z[j];
}

// (INF-3)  Columns of A: those of D^-1 G'D^-1 that belong to normal directions and joints, with c/(d max |c/d|)
// below; unit vectors for slacks.
static bool set_up(const proof *w) {
    const carom_problem *pb = w->pb;
    const int n = pb->n, rows = n + 1;
    double largest = 0;
    for (int b = 0; b < pb->nb; b++) largest = fmax(largest, fabs(pb->c[pb->block[b].at]) / w->d[pb->block[b].at]);
    if (!(largest > 0 && largest < INFINITY)) return false;
    for (int b = 0, slack = pb->nb; b < pb->nb; b++) {
        const int j = pb->block[b].at;
        double *a = w->A + (size_t)b * (size_t)rows;
        for (int i = 0; i < n; i++) a[i] = w->G[j + (size_t)i * (size_t)n] / (w->d[i] * w->d[j]);
        a[n] = pb->c[j] / (w->d[j] * largest);
        const bool joint = pb->block[b].law == CAROM_BILATERAL;
        w->block[b] = (carom_block){.law = joint ? CAROM_BILATERAL : CAROM_UNILATERAL, .at = b};
        if (joint) continue;
        w->block[slack] = (carom_block){.law = CAROM_UNILATERAL, .at = slack};
        w->A[j + (size_t)slack++ * (size_t)rows] = 1;
    }
    for (int j = 0; j < w->m; j++) {
        w->q[j] = w->A[n + (size_t)j * (size_t)rows];
        const double *a = w->A + (size_t)j * (size_t)rows;
        for (int i = 0; i < w->m; i++)
            w->H[i + (size_t)j * (size_t)w->m] = carom_dot_in_order(w->A + (size_t)i * (size_t)rows, a, rows);
    }
    return true;
}

// Unknowns that are not zero once more, from what is left: H has the square of the condition of A.
static bool refine(proof *w) {
    int k = 0;
    remainder_of(w);
    for (int j = 0; j < w->m; j++)
        if (w->z[j] != 0) w->active[k++] = j;
    for (int j = 0; j < k; j++) {
        w->q[j] = carom_dot_in_order(w->A + (size_t)w->active[j] * (size_t)(w->pb->n + 1), w->r, w->pb->n + 1);
        w->block[j] = (carom_block){.law = CAROM_BILATERAL, .at = j};
        const double *H = w->H + (size_t)w->active[j] * (size_t)w->m;
        for (int i = 0; i < k; i++) w->P[i + (size_t)j * (size_t)k] = H[w->active[i]];
    }
    double *dz = calloc((size_t)k + 1, sizeof *dz);
    carom_problem least = {.n = k, .nb = k, .ld = k, .block = w->block, .G = w->P, .c = w->q, .p = dz, .u = w->u};
    least.symmetric = true;
    const bool good = dz && k > 0 && solve(&least, 0);
    for (int j = 0; good && j < k; j++) {
        const int i = w->active[j];
        w->z[i] += dz[j];
        if ((i >= w->pb->nb || w->pb->block[i].law != CAROM_BILATERAL) && !(w->z[i] > 0)) w->z[i] = 0;
    }
    free(dz);
    return good;
}

// (INF-4)  min |A z + e|^2 with z >= 0 for contacts and slacks: a contact problem with G = A'A, c = A'e, which always
// has a solution.
static bool search(proof *w, double tol, double *y) {
    enum { ROUNDS = 3 };
    static const double EXACT = 1e-14; // a proof is as sharp as rounding allows
    const carom_problem *pb = w->pb;
    if (!set_up(w)) return false;
    const int m = w->m;
    carom_problem least = {.n = m, .nb = m, .ld = m, .block = w->block, .G = w->H, .c = w->q, .p = w->z, .u = w->u};
    least.symmetric = true;
    if (!solve(&least, EXACT)) return false;
    for (int round = 0; round <= ROUNDS; round++) {
        for (int i = 0; i < pb->n; i++) y[i] = 0;
        for (int b = 0; b < pb->nb; b++) y[pb->block[b].at] = w->z[b] / w->d[pb->block[b].at];
        if (holds(w, y, tol)) return true;
        if (round == ROUNDS || !refine(w)) break;
    }
    return false;
}

bool carom_infeasible(carom_problem *pb, double tol, double *y) {
    proof w = {.pb = pb};
    for (int b = 0; b < pb->nb; b++) w.nc += pb->block[b].law != CAROM_BILATERAL;
    if (pb->n == 0 || pb->n > CAROM_DENSE_ROWS || !carom_problem_rows(pb)) return false;
    const size_t n = (size_t)pb->n, m = (size_t)pb->nb + (size_t)w.nc;
    double *room = calloc(n * n + n + (n + 1) * (m + 1) + 2 * m * m + 3 * m, sizeof *room), *G = room;
    w.m = (int)m;
    w.active = calloc(m, sizeof *w.active);
    w.block = calloc(m, sizeof *w.block);
    bool found = false;
    if (room && w.active && w.block) {
        if (pb->rows) carom_problem_expand(pb, G, pb->n);
        if (!pb->rows) carom_problem_copy(pb, G, (int)n);
        w.G = G, w.d = G + n * n, w.A = w.d + n, w.r = w.A + (n + 1) * m, w.H = w.r + n + 1, w.P = w.H + m * m;
        w.q = w.P + m * m, w.z = w.q + m, w.u = w.z + m;
        carom_problem_scales(pb, w.d);
        for (size_t i = 0; i < n; i++) w.d[i] = sqrt(w.d[i]);
        found = search(&w, tol, y);
    }
    free(room), free(w.active), free(w.block);
    return found;
}

// prox.c: the prox fixed point, all blocks at once.
//
// Spec: docs/solvers.md, "prox".  Source: P. Alart, A. Curnier, Comput. Methods Appl. Mech. Engrg. 92 (1991) 353-375; step
// control after M. Foerg, F. Pfeiffer, H. Ulbrich, Multibody Syst. Dyn. 14 (2005) 1-15.  Linear convergence, slow when
// contacts are nearly dependent; needs no factorisation and is indifferent to rank.
#include "contact/law.h"

enum { CHECK = 64 };                 // iterations
static const double SHORTEST = 1e-3; // factor of the step length

typedef struct {
    double *d, *r;    // scales; 1 / sum_j |G_ij|    n
    double *u, *f;    // velocity, natural map       n
    double *best;     // n
} prox;

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    prox *w = work;
    (void)nb;
    CAROM_ALLOCATE(mem, (size_t)n, &w->d, &w->r, &w->u, &w->f, &w->best);
}

// r_i = 1 / sum_j |G_ij| makes the iteration safe for symmetric semi-definite G; tangential rows of a block share one r.
static void steps(prox *w, const carom_problem *pb) {
    for (int i = 0; i < pb->n; i++) w->r[i] = 0;
    if (!pb->G) carom_rows_sums(pb, w->r);
    for (int j = 0; pb->G && j < pb->n; j++)
        for (int i = 0; i < pb->n; i++) w->r[i] += fabs(pb->G[i + (size_t)j * pb->ld]);
    for (int i = 0; i < pb->n; i++) w->r[i] = 1 / (w->r[i] > 0 ? w->r[i] : w->d[i]);
    for (int b = 0; b < pb->nb; b++)
        if (pb->block[b].law >= CAROM_SPATIAL) {
            const int tangents = carom_block_tangents(pb->block + b);
            double *r = w->r + pb->block[b].at + 1, least = r[0];
            for (int i = 1; i < tangents; i++) least = fmin(least, r[i]);
            for (int i = 0; i < tangents; i++) r[i] = least;
        }
}

// (SOL-10)  p_N = max(0, p_N - a r u_N),  p_T = proj(p_T - a r u_T) on the ball of radius mu p_N
static void project(prox *w, const carom_problem *pb, double a) {
    double *p = pb->p;
    for (int i = 0; i < pb->n; i++) p[i] -= a * w->r[i] * w->u[i];
    for (int k = 0; k < pb->nb; k++) {
        const carom_block *b = pb->block + k;
        double *x = p + b->at;
        if (b->law == CAROM_BILATERAL) continue;
        x[0] = x[0] > 0 ? x[0] : 0;
        if (b->law == CAROM_UNILATERAL) continue;
        const int tangents = carom_block_tangents(b);
        double xx = 0;
        for (int t = 1; t <= tangents; t++) xx += x[t] * x[t];
        const double limit = b->mu * x[0], size = b->law == CAROM_PLANAR ? fabs(x[1]) : sqrt(xx);
        const double s = size > limit ? limit / size : 1;
        for (int t = 1; t <= tangents; t++) x[t] *= s;
    }
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    prox *w = work;
    carom_report report = {.converged = false};
    double a = 1, best = INFINITY, last = INFINITY, mark = INFINITY;
    int stale = 0;
    carom_problem_scales(pb, w->d);
    steps(w, pb);
    const double entries = pb->G ? (double)pb->n * pb->n : 10.0 * pb->n + 10.0 * pb->rows->start[pb->nb];
    const double passes = 500 + 4e7 / (entries + 1);
    const int most = passes < 20000 ? (int)passes : 20000;
    for (; report.iterations < most; report.iterations++) {
        carom_problem_multiply(pb, pb->p, w->u);
        const double error = carom_problem_map(pb, w->d, pb->p, w->u, w->f, NULL);
        if (!(error < INFINITY)) break;
        if (error < best) {
            best = error;
            stale = 0;
            for (int i = 0; i < pb->n; i++) w->best[i] = pb->p[i];
            if (best <= 0.5 * tol) break;
        } else if (++stale > 2000) break;
        if (report.iterations % CHECK == CHECK - 1) {
            if (carom_stagnates(0.5 * pb->enough, mark, best)) break;
            mark = best;
        }
        // Longer steps while it goes down, shorter ones when it goes up; 1.9 stays inside the stable range.
        a = error <= last ? fmin(1.05 * a, 1.9) : fmax(0.6 * a, SHORTEST);
        last = error;
        project(w, pb, a);
    }
    for (int i = 0; i < pb->n && best < INFINITY; i++) pb->p[i] = w->best[i];
    report.converged = best <= tol;
    return report;
}

const carom_solver carom_solver_prox = {
    .name = "prox",
    .about = "prox fixed point over all blocks at once; all laws, slow and undemanding",
    .laws = CAROM_EVERY_LAW,
    .sparse = true,
    .work_size = sizeof(prox),
    .allocate = allocate,
    .solve = solve,
};

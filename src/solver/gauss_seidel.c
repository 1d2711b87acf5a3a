// gauss_seidel.c: one block after the other, each solved exactly.
//
// Spec: docs/solvers.md, "gauss-seidel".  Source: M. Jean, Comput. Methods Appl. Mech. Engrg. 177 (1999) 235-257.  A
// sweep costs n^2 multiply-adds and no factorisation, so it is for many contacts; convergence is linear and slow when
// contacts are nearly dependent.
#include "contact/law.h"
#include "contact/residual.h"
#include "solver/local.h"
#include "solver/sweep.h"

typedef struct {
    double *d, *u, *f; // scales, velocity, natural map    n
    double *best;      // n
} gauss_seidel;

enum { FRESH = 64 }; // sweeps, whose updates of u gather rounding

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    gauss_seidel *w = work;
    (void)nb;
    CAROM_ALLOCATE(mem, (size_t)n, &w->d, &w->u, &w->f, &w->best);
}

// (SOL-11)  q solves the block's own problem u = G_bb q + (u - G_bb p), everything else held.
static void local(const gauss_seidel *w, const carom_problem *pb, const carom_block *b, double *q) {
    const int at = b->at, rows = carom_law_rows(b->law);
    const double *g = pb->G + at + (size_t)at * pb->ld, *p = pb->p + at, *u = w->u + at;
    double c[1 + CAROM_TANGENTS];
    if (!carom_has_friction(b)) {
        q[0] = carom_local_normal(b->law, g[0], u[0], p[0]);
        for (int k = 1; k < rows; k++) q[k] = 0;
        return;
    }
    for (int i = 0; i < rows; i++) {
        c[i] = u[i];
        for (int j = 0; j < rows; j++) c[i] -= g[i + (size_t)j * pb->ld] * p[j];
    }
    carom_local_friction(g, pb->ld, c, rows - 1, b->mu, CAROM_SLIP_EXACT, q);
}

static void sweep(gauss_seidel *w, const carom_problem *pb, double relax) {
    if (!pb->G) {
        carom_sweep(pb, pb->p, relax);
        carom_problem_multiply(pb, pb->p, w->u);
        return;
    }
    for (int k = 0; k < pb->nb; k++) {
        const carom_block *b = pb->block + k;
        const int rows = carom_law_rows(b->law);
        double q[1 + CAROM_TANGENTS];
        local(w, pb, b, q);
        for (int j = 0; j < rows; j++) {
            const double step = relax * (q[j] - pb->p[b->at + j]);
            if (step == 0) continue;
            const double *restrict g = pb->G + (size_t)(b->at + j) * pb->ld;
            double *restrict u = w->u;
            pb->p[b->at + j] += step;
            for (int i = 0; i < pb->n; i++) u[i] += g[i] * step;
        }
    }
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    gauss_seidel *w = work;
    carom_report report = {.converged = false};
    double best = INFINITY, relax = 1, mark = INFINITY;
    carom_problem_scales(pb, w->d);
    const double entries = pb->G ? (double)pb->n * pb->n : 10.0 * pb->n + 10.0 * pb->rows->start[pb->nb];
    const double sweeps = 200 + 2e7 / (entries + 1); // sweeps that cost some ten milliseconds
    const int most = sweeps < 5000 ? (int)sweeps : 5000;
    for (; report.iterations < most; report.iterations++) {
        if (report.iterations % FRESH == 0) carom_problem_multiply(pb, pb->p, w->u); // the updates of u gather rounding
        const double error = carom_problem_map(pb, w->d, pb->p, w->u, w->f, NULL);
        if (!(error < INFINITY)) break;
        if (error < best) {
            best = error;
            for (int i = 0; i < pb->n; i++) w->best[i] = pb->p[i];
            if (best <= CAROM_AIM * tol) break;
        }
        // No better than FRESH sweeps ago: it goes round in circles, and shorter steps break them.
        if (report.iterations % FRESH == FRESH - 1) {
            if (carom_stagnates(CAROM_AIM * pb->acceptable, mark, best)) break;
            // chosen: better by less than 0.1 % is no better; below 0.1 steps go nowhere
            if (best > 0.999 * mark && (relax *= 0.7) < 0.1) break;
            mark = best;
        }
        sweep(w, pb, relax);
    }
    for (int i = 0; i < pb->n && best < INFINITY; i++) pb->p[i] = w->best[i];
    report.converged = best <= tol;
    return report;
}

const carom_solver carom_solver_gauss_seidel = {
    .name = "gauss-seidel",
    .about = "block after block, each solved exactly; all laws, many contacts",
    .laws = CAROM_EVERY_LAW,
    .sparse = true,
    .work_size = sizeof(gauss_seidel),
    .allocate = allocate,
    .solve = solve,
};

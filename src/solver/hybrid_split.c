// hybrid_split.c: ADMM, which splits the linear equation from the friction cones.
//
// Spec: docs/solvers.md, "hybrid".  Source: V. Acary, P. Armand, H. M. Nguyen, M. Shpakovych, Optim. Methods Softw. 37
// (2022); the term of De Saxce follows the iteration one step behind.
#include "solver/hybrid.h"
#include "solver/local.h"
#include <float.h>

enum { CHECK = 5 }; // iterations between two residuals, which cost as much as one
static const double FIRST_RHO = 1e-3; // of the diagonal of G; adapted from there

// (SOL-19)  (G + rho D) p = rho D (z - y) - c - mu rho |D y_T| n,   z = proj(p + y),   y = y + p - z:   u = -rho D y
static void iterate(carom_hybrid *w, double rho, const double *scale, double *z, double *y, double *primal,
                    double *dual) {
    const carom_problem *pb = &w->pb;
    double *p = w->x;
    for (int b = 0; b < pb->nb; b++) {
        const carom_block *k = pb->block + b;
        const double s = rho * scale[b];
        double slip = 0;
        for (int i = k->at; i < k->at + w->size[b]; i++) {
            w->rhs[i] = s * (z[i] - y[i]) - pb->c[i];
            if (i > k->at) slip += y[i] * y[i];
        }
        if (carom_has_friction(k)) w->rhs[k->at] -= k->mu * s * sqrt(slip);
    }
    carom_block_lu_solve(&w->lu, w->rhs, p);
    *primal = *dual = 0;
    for (int b = 0; b < pb->nb; b++) {
        const int at = pb->block[b].at;
        double x[1 + CAROM_TANGENTS], to[1 + CAROM_TANGENTS];
        for (int i = 0; i < w->size[b]; i++) x[i] = p[at + i] + y[at + i];
        carom_cone_project(pb->block + b, x, to);
        for (int i = 0; i < w->size[b]; i++) {
            const double off = scale[b] * (p[at + i] - to[i]), change = rho * scale[b] * (to[i] - z[at + i]);
            *primal += off * off;
            *dual += change * change;
            y[at + i] = x[i] - to[i];
            z[at + i] = to[i];
        }
    }
}

static bool factor(carom_hybrid *w, double rho, const double *scale) {
    for (int b = 0; b < w->pb.nb; b++) {
        double *S = w->S + CAROM_BLOCK_ROWS * (size_t)w->first[b];
        const int rows = w->size[b];
        for (int q = 0; q < rows * rows; q++) S[q] = q % (rows + 1) == 0 ? rho * scale[b] : 0;
        w->plain[b] = true;
    }
    w->spent += carom_hybrid_factor_work(w);
    return carom_block_lu_factor(&w->lu, &(carom_block_values){w->pb.rows->value, w->T, w->S, w->plain});
}

void carom_hybrid_split(carom_hybrid *w, int most) {
    const int n = w->pb.n;
    double rho = FIRST_RHO, *scale = w->centre, *y = w->r, *z = w->p, primal = 0, dual = 0, balance = 0;
    for (int b = 0; b < w->pb.nb; b++) {
        scale[b] = 0;
        for (int i = 0; i < w->size[b]; i++) scale[b] += w->d[w->first[b] + i] / w->size[b];
        w->lu.skip[b] = false;
    }
    for (int i = 0; i < n; i++) z[i] = w->pb.p[i], y[i] = 0;
    if (!factor(w, rho, scale)) return;
    for (int it = 1; it <= most; it++) {
        iterate(w, rho, scale, z, y, &primal, &dual);
        w->iterations++;
        w->spent += 2 * carom_hybrid_sweep_work(w);
        balance += 0.5 * (log(primal + DBL_MIN) - log(dual + DBL_MIN));
        if (it % CHECK != 0) continue;
        carom_hybrid_look(w);
        if (w->error <= w->target || it == most) return;
        // Errors of the two halves far apart: another rho, at the price of a factorisation.
        // chosen: a factor 5 pays for a factorisation (SOL-19); a change of ten at most, as the errors follow late
        const double ratio = exp(balance / CHECK), change = ratio > 5     ? fmin(sqrt(ratio), 10)
                                                            : ratio < 0.2 ? fmax(sqrt(ratio), 0.1)
                                                                          : 1;
        balance = 0;
        if (change == 1) continue;
        rho *= change;
        for (int i = 0; i < n; i++) y[i] /= change;
        if (!factor(w, rho, scale)) return;
    }
}

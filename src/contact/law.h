// law.h: what solvers know about the laws: scales, classification, natural maps.
//
// Private to the solvers.  The certificate (residual.c) is written independently of this file.
#pragma once
#include "contact/operator.h"
#include <math.h>

/// What a problem contains.  A friction block with mu = 0 is a unilateral one (with tangential rows at p_T = 0).
typedef struct carom_kind {
    unsigned laws;                       // mask of (1u << law)
    int bilateral, unilateral, friction; // blocks; unilateral ones include those with friction
} carom_kind;

// as masks
enum { CAROM_EVERY_LAW = (1 << CAROM_LAWS) - 1, CAROM_CONTACT_LAWS = CAROM_EVERY_LAW & ~(1 << CAROM_BILATERAL) };

/// Tangential directions; of a bilateral block -1.
static inline int carom_block_tangents(const carom_block *b) { return (int)b->law - (int)CAROM_UNILATERAL; }

static inline bool carom_has_friction(const carom_block *b) {
    return b->law >= CAROM_PLANAR && b->mu > 0;
}

static inline carom_kind carom_problem_kind(const carom_problem *pb) {
    carom_kind k = {0, 0, 0, 0};
    for (int i = 0; i < pb->nb; i++) {
        const carom_block *b = pb->block + i;
        const bool rubs = carom_has_friction(b);
        const carom_law law = b->law < CAROM_PLANAR || rubs ? b->law : CAROM_UNILATERAL;
        k.laws |= 1u << law;
        k.friction += rubs;
        k.bilateral += law == CAROM_BILATERAL;
    }
    k.unilateral = pb->nb - k.bilateral;
    return k;
}

/// Of a tolerance: what iterations aim at, as they measure the error otherwise than the certificate does, or in other
/// sums.  Chosen: methods that converge slowly pay for a smaller part.
#define CAROM_AIM 0.5

/// (TOL-5)  Has a solver come below `enough`, and not halved the residual since it looked last?
static inline bool carom_stagnates(double enough, double before, double now) {
    return now <= enough && now > 0.5 * before;
}

static inline double carom_diagonal(const carom_problem *pb, int i) {
    return pb->G[i + (size_t)i * pb->ld];
}

/// (CP-6)  d[i]: turns impulses of row i into velocities; positive.
static inline void carom_problem_scales(const carom_problem *pb, double *d) {
    double largest = 0;
    bool all = true;
    if (!pb->G) carom_rows_diagonal(pb, d);
    for (int i = 0; i < pb->n; i++) {
        if (pb->G) d[i] = carom_diagonal(pb, i);
        largest = d[i] > largest ? d[i] : largest;
        all = all && d[i] > 0;
    }
    if (!all)
        for (int i = 0; i < pb->n; i++)
            if (!(d[i] > 0)) d[i] = largest > 0 ? largest : 1;
    for (int b = 0; b < pb->nb; b++)
        if (pb->block[b].law >= CAROM_SPATIAL) {
            double *t = d + pb->block[b].at + 1, most = t[0];
            const int tangents = carom_block_tangents(pb->block + b);
            for (int i = 1; i < tangents; i++) most = t[i] > most ? t[i] : most;
            for (int i = 0; i < tangents; i++) t[i] = most;
        }
}

static inline void carom_multiply_small(const carom_problem *pb, const double *p, double *restrict u) {
    const int n = pb->n;
    int i = 0;
    for (; i + 2 <= n; i += 2) {
        const double *g = pb->G + i;
        double a = pb->c[i], b = pb->c[i + 1];
        for (int j = 0; j < n; j++, g += pb->ld) {
            a += g[0] * p[j];
            b += g[1] * p[j];
        }
        u[i] = a;
        u[i + 1] = b;
    }
    if (i < n) {
        const double *g = pb->G + i;
        double a = pb->c[i];
        for (int j = 0; j < n; j++, g += pb->ld) a += g[0] * p[j];
        u[i] = a;
    }
}

/// u = G p + c.  Large problems skip the zeros of p and take two columns at a time, which halves the traffic in u.
static inline void carom_problem_multiply(const carom_problem *pb, const double *p, double *restrict u) {
    const int n = pb->n;
    int first = -1;
    if (!pb->G) {
        carom_rows_multiply(pb, p, u);
        return;
    }
    if (n <= 8) {
        carom_multiply_small(pb, p, u);
        return;
    }
    for (int i = 0; i < n; i++) u[i] = pb->c[i];
    for (int j = 0; j < n; j++) {
        if (p[j] == 0) continue;
        if (first < 0) {
            first = j;
            continue;
        }
        const double *restrict g = pb->G + (size_t)first * pb->ld, *restrict k = pb->G + (size_t)j * pb->ld;
        const double a = p[first], b = p[j];
        for (int i = 0; i < n; i++) u[i] += g[i] * a + k[i] * b;
        first = -1;
    }
    if (first >= 0) {
        const double *restrict g = pb->G + (size_t)first * pb->ld, a = p[first];
        for (int i = 0; i < n; i++) u[i] += g[i] * a;
    }
}

/// (CP-7), (CP-8) of one block as vectors f (velocity units): f = 0 iff the law holds.
static inline void carom_block_map(const carom_block *b, const double *d, const double *p, const double *u, double *f) {
    const int i = b->at;
    if (b->law == CAROM_BILATERAL) {
        f[i] = u[i];
        return;
    }
    const double y = d[i] * p[i];
    f[i] = y < u[i] ? y : u[i];
    if (b->law == CAROM_UNILATERAL) return;
    const double rho = p[i] > 0 ? b->mu * d[i + 1] * p[i] : 0;
    if (b->law == CAROM_PLANAR) {
        const double t = d[i + 1] * p[i + 1], z = t - u[i + 1];
        f[i + 1] = z > rho ? t - rho : z < -rho ? t + rho : u[i + 1];
        return;
    }
    const int end = i + carom_block_tangents(b);
    double zz = 0;
    for (int k = i + 1; k <= end; k++) zz += (d[i + 1] * p[k] - u[k]) * (d[i + 1] * p[k] - u[k]);
    const double length = sqrt(zz), s = rho / length;
    for (int k = i + 1; k <= end; k++) f[k] = length > rho ? d[i + 1] * p[k] - s * (d[i + 1] * p[k] - u[k]) : u[k];
}

/// Largest |f| over all blocks; *merit (NULL allowed) is the sum of squares.  NaN gives NaN.
static inline double carom_problem_map(const carom_problem *pb, const double *d, const double *p, const double *u,
                                       double *f, double *merit) {
    double largest = 0, sum = 0;
    for (int b = 0; b < pb->nb; b++) carom_block_map(pb->block + b, d, p, u, f);
    for (int i = 0; i < pb->n; i++) {
        const double e = fabs(f[i]);
        if (!(e <= largest)) largest = e;
        sum += e * e;
    }
    if (merit) *merit = sum;
    return sum < INFINITY ? largest : NAN;
}

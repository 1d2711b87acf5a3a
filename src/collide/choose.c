// choose.c: which of many candidates become contacts of a patch: the outermost in eight directions fixed in A, and the
// deepest.
#include "collide/posed.h"

// Two axes across n, fixed in A as long as n is.
static void across(const carom_frame *a, const double *n, double *u, double *v) {
    int k = 0;
    double along[3];
    for (int i = 0; i < 3; ++i) {
        along[i] = a->R[i] * n[0] + a->R[3 + i] * n[1] + a->R[6 + i] * n[2];
        // 0.1: ties, as of a cube, are not decided by rounding
        if (fabs(along[i]) < fabs(along[k]) - 0.1) k = i;
    }
    for (int i = 0; i < 3; ++i) u[i] = a->R[3 * i + k] - along[k] * n[i];
    const double size = size_of(u);
    for (int i = 0; i < 3; ++i) u[i] /= size;
    cross(n, u, v);
}

void carom_patch_choose(const candidates *c, const carom_frame *a, const double *n, double size, carom_feature *f) {
    // depth counts ten times as much as distance: the deepest point is among those kept
    static const double DEEP = 10, C = 0.92387953251128674, S = 0.38268343236508977, // of pi/8
        toward[DIRECTIONS][2] = {{C, S}, {S, C}, {-S, C}, {-C, S}, {-C, -S}, {-S, -C}, {S, -C}, {C, -S}};
    int chosen[CAROM_PATCH], deepest = 0;
    double u[3], v[3], at[MOST][2];
    across(a, n, u, v);
    for (int i = 0; i < c->n; ++i) at[i][0] = dot(u, c->p[i]), at[i][1] = dot(v, c->p[i]);
    for (int i = 1; i < c->n; ++i)
        if (c->gap[i] < c->gap[deepest] - SIDE * size) deepest = i;
    for (int k = 0; k < CAROM_PATCH; ++k) {
        int best = deepest;
        double most = -INFINITY;
        for (int i = 0; i < c->n && k < DIRECTIONS; ++i) {
            const double s = toward[k][0] * at[i][0] + toward[k][1] * at[i][1] - DEEP * c->gap[i];
            if (s > most + SIDE * size) most = s, best = i;
        }
        chosen[k] = best;
        f[k] = c->f[best];
        for (int j = 0; j < k && !f[k].spare; ++j) {
            double w[3];
            minus(c->p[best], c->p[chosen[j]], w);
            f[k].spare = best == chosen[j] || dot(w, w) <= SAME * SAME * size * size;
        }
    }
}

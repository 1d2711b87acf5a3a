// choose.c: which of many candidates become contacts of a patch: the outermost in eight directions fixed in A, and the
// deepest.
#include "collide/posed.h"

// Two axes across n, fixed in A as long as n is.
static void across(const carom_frame *a, const double *n, double *u, double *v) {
    int k = 0;
    double along[3];
    for (int i = 0; i < 3; ++i) {
        along[i] = a->R[i] * n[0] + a->R[3 + i] * n[1] + a->R[6 + i] * n[2];
        if (fabs(along[i]) < fabs(along[k]) - 0.1) k = i;
    }
    for (int i = 0; i < 3; ++i) u[i] = a->R[3 * i + k] - along[k] * n[i];
    const double size = size_of(u);
    for (int i = 0; i < 3; ++i) u[i] /= size;
    cross(n, u, v);
}

void carom_patch_choose(const candidates *c, const carom_frame *a, const double *n, double size, carom_feature *f) {
    // depth counts ten times as much as distance: the deepest point is among those kept; pi/4
    static const double DEEP = 10, EIGHTH = 0.78539816339744831;
    int chosen[CAROM_PATCH], deepest = 0;
    double u[3], v[3];
    across(a, n, u, v);
    for (int i = 1; i < c->n; ++i)
        if (c->gap[i] < c->gap[deepest] - SIDE * size) deepest = i;
    for (int k = 0; k < CAROM_PATCH; ++k) {
        const double x = cos((k + 0.5) * EIGHTH), y = sin((k + 0.5) * EIGHTH);
        int best = deepest;
        double most = -INFINITY;
        for (int i = 0; i < c->n && k < DIRECTIONS; ++i) {
            const double s = x * dot(u, c->p[i]) + y * dot(v, c->p[i]) - DEEP * c->gap[i];
            if (s > most + SIDE * size) most = s, best = i;
        }
        chosen[k] = best;
        f[k] = c->f[best];
        for (int j = 0; j < k && !f[k].spare; ++j) {
            double w[3];
            minus(c->p[best], c->p[chosen[j]], w);
            f[k].spare = size_of(w) <= SAME * size;
        }
    }
}

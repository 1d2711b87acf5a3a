// forecast.h (private): the parts of forecast.c, for steps that nothing touches (carom_scheme.flight).
#pragma once
#include "scheme/inside.h"
#include <math.h>

/// Does a step of length h from (q, v) follow the last one that was seen?
static inline bool carom_forecast_follows(const carom_forecast *f, double h, const double *q, const double *v, int n) {
    bool same = f->known && !f->seen && f->h == h;
    for (int k = 0; k < n; ++k) same &= (f->q[k] == q[k]) & (f->v[k] == v[k]);
    return same;
}

/// Remember where the step ended, with n velocities.
static inline void carom_forecast_keep(carom_forecast *f, const carom_step *s, int n) {
    carom_copy(f->q, s->q, n);
    carom_copy(f->v, s->v, n);
}

/// Gaps at the end of a step as those in its middle and in the one before foretell them: the smallest and the largest.
static inline void carom_forecast_range(const carom_forecast *f, int nc, double *least, double *most) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int c = 0; c < nc; ++c) {
        const double x = f->g[c] + 0.5 * (f->g[c] - f->g_last[c]);
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    *least = low;
    *most = high;
}

// (MID-8)  The middles of two steps lie h v_0 apart, and q_1 = q_M + h/2 v_0 + h/2 (v_1 - v_0).  By Taylor's formula at q_M
//          |g(q_1) - g_M - (g_M - g_M')/2| <= (1/8 + 1/4) h^2 sum B_k v_0k^2 + h/2 sum G_k |v_1k - v_0k|,
//          with G, B of carom_reach; positions and gaps are rounded.  least, most: of carom_forecast_range.
static inline void carom_forecast_bound(carom_forecast *f, double least, double most, double h, const double *q, const double *v, const double *v_0, int n) {
    static const double ROUNDING = 1e-12;
    double bend = 0, turn = 0, far = f->reach.size;
    for (int k = 0; k < n; ++k) {
        const double slope = f->reach.slope[k];
        bend += f->reach.bend[k] * v_0[k] * v_0[k];
        turn += slope * fabs(v[k] - v_0[k]);
        far += slope * fabs(q[k]);
    }
    const double margin = 0.375 * h * h * bend + 0.5 * h * turn + ROUNDING * far;
    f->nearest = least;
    f->least = least - margin;
    f->most = most + margin;
}

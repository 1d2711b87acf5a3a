// forecast.c: bounds of the gaps at the end of a step, without evaluating them there.
//
// Most of what a step in flight costs is sines, and gaps at its end are booked only where they are the largest or the smallest so far.
#include "scheme/inside.h"
#include "scheme/step.h"
#include <math.h>

carom_forecast carom_allocate_forecast(carom_arena *mem, const carom_system *sys) {
    carom_forecast f = {.least = -HUGE_VAL, .most = HUGE_VAL};
    if (!sys->reach) return f;
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &f.reach.slope, &f.reach.bend, &f.q, &f.v);
    CAROM_ALLOCATE(mem, (size_t)sys->nc, &f.g_last, &f.g);
    return f;
}

void carom_forecast_begin(carom_step *s, const double *g) {
    carom_forecast *f = &s->inside->forecast;
    if (!f->on) return;
    double *g_last = f->g;
    f->known = f->known && !f->seen; // a step that failed has left what it saw
    f->seen = true;
    f->g = f->g_last;
    f->g_last = g_last;
    carom_copy(f->g, g, s->sys->nc);
}

// (MID-8)  The middles of two steps lie h v_0 apart, and q_1 = q_M + h/2 v_0 + h/2 (v_1 - v_0).  By Taylor's formula at q_M
//          |g(q_1) - g_M - (g_M - g_M')/2| <= (1/8 + 1/4) h^2 sum B_k v_0k^2 + h/2 sum G_k |v_1k - v_0k|,
//          with G, B of carom_reach; positions and gaps are rounded.
void carom_forecast_end(carom_step *s, const double *q_0, const double *v_0) {
    static const double ROUNDING = 1e-12;
    carom_forecast *f = &s->inside->forecast;
    if (!f->on) return;
    const double h = s->h;
    bool same = f->known && f->h == h; // and this step begins where the last one ended
    double bend = 0, turn = 0, far = f->reach.size, least = HUGE_VAL, most = -HUGE_VAL;
    for (int k = 0; k < s->sys->nv; ++k) {
        const double q = s->q[k], v = s->v[k], slope = f->reach.slope[k];
        if (!(f->q[k] == q_0[k] && f->v[k] == v_0[k])) same = false;
        f->q[k] = q;
        f->v[k] = v;
        bend += f->reach.bend[k] * v_0[k] * v_0[k];
        turn += slope * fabs(v - v_0[k]);
        far += slope * fabs(q);
    }
    f->seen = false;
    f->known = true;
    f->h = h;
    if (!same) return;
    for (int c = 0; c < s->sys->nc; ++c) {
        const double x = f->g[c] + 0.5 * (f->g[c] - f->g_last[c]);
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    const double margin = 0.375 * h * h * bend + 0.5 * h * turn + ROUNDING * far;
    f->least = least - margin;
    f->most = most + margin;
}

// forecast.c: bounds of the gaps at the end of a step, without evaluating them there.
//
// Most of what a step in flight costs is sines, and gaps at its end are booked only where they are the largest or the smallest so far.
#include "scheme/forecast.h"
#include "scheme/step.h"

carom_forecast carom_allocate_forecast(carom_arena *mem, const carom_system *sys) {
    carom_forecast f = {.least = -HUGE_VAL, .most = HUGE_VAL, .low = -HUGE_VAL, .high = HUGE_VAL, .nearest = HUGE_VAL};
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

// With n velocities.
static inline void end(carom_forecast *f, const carom_step *s, const double *q_0, const double *v_0, int n) {
    double least, most;
    f->seen = false;
    carom_forecast_range(f, s->sys->nc, &least, &most);
    if (!(least > f->low && most < f->high)) f->nearest = least; // its bounds are wider still
    else if (carom_forecast_follows(f, s->h, q_0, v_0, n)) carom_forecast_bound(f, least, most, s->h, s->q, s->v, v_0, n);
    f->known = true;
    f->h = s->h;
    carom_forecast_keep(f, s, n);
}

void carom_forecast_end(carom_step *s, const double *q_0, const double *v_0) {
    carom_forecast *f = &s->inside->forecast;
    if (!f->on) return;
    switch (s->sys->nv) { // loops of a known length are none
    case 1: end(f, s, q_0, v_0, 1); break;
    case 2: end(f, s, q_0, v_0, 2); break;
    case 3: end(f, s, q_0, v_0, 3); break;
    default: end(f, s, q_0, v_0, s->sys->nv);
    }
}

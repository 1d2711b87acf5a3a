// feature.c: contacts of edged bodies go from feature to feature: from a side to a corner, from one body's corner to the
// other's.
//
// During a phase gaps, directions and curvatures of closed contacts belong to the features they had when it began
// (CAROM_HOLD), so that the integrator sees smooth functions also where it tries a step too far.  Where the nearest feature of one
// is another one, the phase ends (EV-18) and all is decided anew, with the features that lie ahead.  Gaps that are written are not held: where
// their direction jumps, the contact approaches (EV-21), and the phase ends with an impact; only in models without shapes that touch.
#include "event/event.h"
#include <math.h>

static const double OTHER = 1e-7; // directions of one feature differ by rounding

carom_status event_hold(carom_step *s, carom_hold what, double t, const double *q) {
    return s->sys->hold ? s->sys->hold(s->sys->model, s->sys_work, what, t, q) : CAROM_OK;
}

static bool differ(event_work *w, const carom_step *s, int k) {
    double size = 0, apart = 0;
    carom_column_expand(w->v_1, &w->C.W, k);
    carom_column_expand(w->f.a, &w->f.L.W, k);
    for (int i = 0; i < s->sys->nv; ++i) {
        size = fmax(size, fabs(w->f.a[i]));
        apart = fmax(apart, fabs(w->f.a[i] - w->v_1[i]));
    }
    return apart > OTHER * size;
}

// (EV-21)  A kink of a gap that is written: a closed contact approaches faster than integration leaves velocities,
//          u < -max(1e3 rtol, 1e-6) sum |W v|, and than what counts as rest.
static bool kinked(const event_work *w, const carom_step *s, const double *v) {
    const double little = fmax(1e3 * s->opt[OPT_RTOL], 1e-6);
    for (int b = s->sys->ne; b < w->f.L.nb; ++b) {
        const int k = w->f.L.at[b];
        const double theta = little * (carom_local_magnitude(&w->f.L, k, v) + fabs(w->f.L.w[k])) + 4 * event_still(w, s, &w->f.L, k);
        if (carom_column_dot(&w->f.L.W, k, v) + w->f.L.w[k] < -theta) return true;
    }
    return false;
}

carom_status event_switched(event_work *w, carom_step *s, double t, const double *y, bool *yes) {
    const double *q = y;
    const carom_system *sys = s->sys;
    bool closed = false;
    *yes = false;
    for (int id = 0; id < sys->ne + sys->nc; ++id) {
        w->f.side[id] = id < sys->ne || w->f.mode[id - sys->ne] != CAROM_MODE_OPEN ? -1 : 1;
        closed = closed || (id >= sys->ne && w->f.side[id] < 0);
    }
    if (!closed) return CAROM_OK;
    carom_close(s, &w->f.L, w->f.side);
    CAROM_TRY(carom_directions(s, &w->f.L, t, q));
    if (!sys->hold) return *yes = kinked(w, s, y + sys->nq), CAROM_OK;
    carom_close(s, &w->C, w->f.side);
    CAROM_TRY(event_hold(s, CAROM_FREE, t, q));
    CAROM_TRY(carom_directions(s, &w->C, t, q));
    CAROM_TRY(event_hold(s, CAROM_HELD, t, q));
    for (int k = w->f.L.at[sys->ne]; k < w->f.L.at[w->f.L.nb] && !*yes; ++k) *yes = differ(w, s, k);
    return CAROM_OK;
}

// (EV-18)  Halving until the change lies within time-tol, and there the later end: features are clearly the new ones.
carom_status event_locate_switch(event_work *w, carom_step *s, double a, double *b, event_state at) {
    const double near = s->opt[OPT_TIME] * w->head.size_q / w->head.size_v;
    bool yes;
    for (double t = 0.5 * (a + *b); *b - a > near && t > a && t < *b; t = 0.5 * (a + *b)) {
        CAROM_TRY(at(w, s, t, w->y_2));
        CAROM_TRY(event_switched(w, s, t, w->y_2, &yes));
        if (yes) *b = t;
        else a = t;
    }
    CAROM_TRY(at(w, s, *b, w->y_2));
    return event_watch(w, s, *b, w->y_2);
}

// short.c: steps of Dormand and Prince's method of order 5, for what is too short for a multistep method.
//
// A flight between two impacts shortly before they accumulate is lower than the tolerance of any integrator that
// chooses its own steps: it would step over it and fall through the wall.  The parabola (EV-7) says how long the
// flight is; one step covers it, or a few, and the method's own estimate says whether that is good enough.
// Other short intervals are covered in the same way.
#include "event/event.h"
#include <float.h>
#include <math.h>

static const double SAFE = 0.01; // part of the tolerance that such a step may use up: there may be many
static const double MANY = 32;   // steps that together cost as much as a restart of the multistep method
static const double LOW = 1e4;   // roundings of a gap
static const double WILD = 1e4;  // an error that is not known, over the tolerance

// (EV-8)  y_1 = state at t, by one step from (t_0, y); k[0] is there already.
static carom_status state(event_work *w, carom_step *s, double t, double *y_1) {
    const double h = t - w->t_0;
    for (int i = 1; i < 6; ++i) {
        carom_copy(y_1, w->y, w->ny);
        for (int j = 0; j < i; ++j) carom_axpy(y_1, h * carom_butcher_a(w->T, i, j), w->k[j], w->ny);
        CAROM_TRY(event_rhs(w, s, w->t_0 + carom_butcher_c(w->T, i) * h, y_1, w->k[i]));
    }
    carom_copy(y_1, w->y, w->ny);
    for (int j = 0; j < 6; ++j) carom_axpy(y_1, h * w->T->b[j], w->k[j], w->ny);
    return CAROM_OK;
}

// Largest of the estimated errors of components from .. to - 1, over their tolerances.
static double worst(const event_work *w, const carom_step *s, double h, const double *y_1, int from, int to, double rounding) {
    double most = 0;
    for (int i = from; i < to; ++i) {
        double e = 0;
        for (int j = 0; j < 7; ++j) e += h * (w->T->b[j] - w->T->low[j]) * w->k[j][i];
        most = fmax(most, fabs(e) / (s->opt[OPT_RTOL] * fabs(y_1[i]) + w->atol[i] + rounding));
    }
    return most;
}

// The same of all; works are not counted, and reactions not where there is a blur (EV-20).
static carom_status error_of(event_work *w, carom_step *s, double t, const double *y_1, double blur, double *error) {
    const int nq = s->sys->nq, nv = s->sys->nv;
    const double h = t - w->t_0;
    CAROM_TRY(event_rhs(w, s, t, y_1, w->k[6]));
    *error = worst(w, s, h, y_1, 0, nq, blur * w->head.size_q);
    *error = fmax(*error, worst(w, s, h, y_1, nq, nq + nv, blur * w->head.size_v));
    if (blur == 0) *error = fmax(*error, worst(w, s, h, y_1, nq + nv, w->ny - WORKS, 0));
    return CAROM_OK;
}

static carom_status sample(void *user, carom_step *s, double t, carom_sample *P) {
    event_work *w = user;
    CAROM_TRY(state(w, s, t, w->y_2));
    CAROM_TRY(event_smooth(w, s, t, w->y_2, w->y_2 + s->sys->nq));
    carom_copy(w->scan.a, w->f.a, s->sys->nv);
    return event_sample(w, s, t, w->y_2, w->scan.a, P);
}

// Did an open contact touch and leave inside the step to *t, so that its gap at the end does not tell?  Then *t is the place.
static carom_status look_inside(event_work *w, carom_step *s, double *t, bool *missed) {
    const int nq = s->sys->nq;
    CAROM_TRY(event_sample(w, s, *t, w->y_1, w->k[6] + nq, w->scan.right));
    CAROM_TRY(event_sample(w, s, w->t_0, w->y, w->k[0] + nq, &w->scan.left));
    double at = *t;
    CAROM_TRY(carom_scan_run(&w->scan, s, sample, w, 1e-9 * (*t - w->t_0), missed, &at));
    *missed = *missed && at < *t;
    *t = at;
    return CAROM_OK;
}

// Zero where event_below() begins to count.
static double least(const event_work *w, const carom_step *s) {
    double most = HUGE_VAL;
    for (int i = 0; i < 2 * s->sys->nc; ++i) {
        if (!w->armed[i]) continue;
        const double size = fmax(fmax(fabs(w->phi_a[i]), fabs(w->phi_b[i])), DBL_MIN);
        most = fmin(most, (w->phi[i] + w->floor[i] + w->slack[i]) / size);
    }
    return most;
}

// Below zero, but by no more than rounding: nothing is gained by coming nearer.
static bool just_below(const event_work *w, const carom_step *s) {
    for (int i = 0; i < 2 * s->sys->nc; ++i)
        if (w->hit[i] && w->phi[i] < -2 * w->floor[i] - w->slack[i]) return false;
    return true;
}

// Bracketing secant (Illinois) on the least of all functions, each scaled by its size.
carom_status event_locate(event_work *w, carom_step *s, double a, double b, event_state at) {
    const int m = 2 * s->sys->nc;
    CAROM_TRY(at(w, s, a, w->y_2));
    CAROM_TRY(event_watch(w, s, a, w->y_2));
    carom_copy(w->phi_a, w->phi, m);
    CAROM_TRY(at(w, s, b, w->y_2));
    CAROM_TRY(event_watch(w, s, b, w->y_2));
    carom_copy(w->phi_b, w->phi, m);
    event_below(w, s, w->hit);
    double f_b = least(w, s);
    carom_copy(w->phi, w->phi_a, m);
    double f_a = fmax(least(w, s), 0);
    int side = 0;
    for (int i = 0; i < 120 && b - a > 2 * DBL_EPSILON * fmax(fabs(a), fabs(b)); ++i) {
        double t = f_a > 0 && i % 4 < 3 ? (a * f_b - b * f_a) / (f_b - f_a) : 0.5 * (a + b);
        if (!(t > a && t < b)) t = 0.5 * (a + b);
        if (!(t > a && t < b)) break;
        CAROM_TRY(at(w, s, t, w->y_2));
        CAROM_TRY(event_watch(w, s, t, w->y_2));
        const double f = least(w, s);
        if (event_below(w, s, w->hit)) {
            b = t, f_b = fmin(f, 0);
            if (just_below(w, s)) break;
            if (side == -1) f_a /= 2;
            side = -1;
        } else {
            a = t, f_a = fmax(f, 0);
            if (side == 1) f_b /= 2;
            side = 1;
        }
    }
    CAROM_TRY(at(w, s, b, w->y_2));
    CAROM_TRY(event_watch(w, s, b, w->y_2));
    event_below(w, s, w->hit);
    carom_copy(w->y, w->y_2, w->ny);
    w->t = b;
    return CAROM_OK;
}

static carom_status first_event(event_work *w, carom_step *s, double t, double T, bool *found) {
    // A place before the event: the middle of the flight, or earlier.
    double a = fmin(w->t_0 + 0.5 * T, w->t_0 + 0.5 * (t - w->t_0));
    for (int i = 0; i < 30; ++i) {
        CAROM_TRY(state(w, s, a, w->y_2));
        CAROM_TRY(event_watch(w, s, a, w->y_2));
        if (!event_below(w, s, w->hit)) break;
        t = a;
        a = w->t_0 + 0.25 * (a - w->t_0);
    }
    *found = true;
    return event_locate(w, s, a, t, state);
}

carom_status event_short(event_work *w, carom_step *s, double t_1, double blur, double T, double height, int who, bool *done,
                         bool *found) {
    const bool lands = w->t + T < t_1;
    const bool low = lands && height <= LOW * w->floor[2 * who]; // such a gap is rounding: the parabola knows better
    const double last = s->opt[OPT_LONGEST] > 0 ? fmin(t_1, w->t + s->opt[OPT_LONGEST]) : t_1;
    const double allowed = blur > 0 ? 1 : SAFE;
    const double end = lands ? fmin(w->t + (low ? T : 1.02 * T), last) : last;
    double t = end, error = 0;
    w->t_0 = w->t;
    w->steps += 1;
    *done = *found = lands && !(end > w->t); // no time left
    if (*found) w->hit[2 * who] = 1;
    if (*done) return CAROM_OK;
    CAROM_TRY(event_rhs(w, s, w->t_0, w->y, w->k[0]));
    for (int attempt = 0; attempt < 4; ++attempt) {
        carom_status status = state(w, s, t, w->y_1);
        if (status == CAROM_OK) status = error_of(w, s, t, w->y_1, blur, &error);
        if (status == CAROM_RETRY || status == CAROM_SINGULAR) error = WILD; // too long a step led where the system makes no sense
        else if (status != CAROM_OK) return status;
        if (error <= allowed) break;
        t = w->t_0 + 0.9 * pow(allowed / error, 0.2) * (t - w->t_0);
        if (!((end - w->t_0) <= (blur > 0 ? 1 : MANY) * (t - w->t_0))) return CAROM_OK;
    }
    if (!(error <= allowed)) return CAROM_OK;
    CAROM_TRY(event_switched(w, s, t, w->y_1, &w->switched));
    if (w->switched) {
        *done = *found = true;
        CAROM_TRY(event_locate_switch(w, s, w->t_0, &t, state));
        w->switched = !event_below(w, s, w->hit);
        if (!w->switched) return first_event(w, s, t, T, found);
        carom_copy(w->y, w->y_2, w->ny);
        w->t = t;
        return CAROM_OK;
    }
    if (low) w->armed[2 * who] = w->scan.watched[who] = false;
    bool missed = false;
    if (s->sys->nc > 0) CAROM_TRY(look_inside(w, s, &t, &missed));
    *done = true;
    if (missed) return first_event(w, s, t, T, found);
    CAROM_TRY(event_watch(w, s, t, w->y_1));
    if (event_below(w, s, w->hit)) return first_event(w, s, t, T, found);
    carom_copy(w->y, w->y_1, w->ny);
    w->t = t;
    *found = low && t == w->t_0 + T;
    if (*found) w->hit[2 * who] = 1;
    return CAROM_OK;
}

carom_status event_ahead(void *work, carom_step *s, double tau, const bool *without, double *q, double *v, bool *clear) {
    event_work *w = work;
    double error = 0;
    w->t_0 = w->t;
    CAROM_TRY(event_rhs(w, s, w->t_0, w->y, w->k[0]));
    CAROM_TRY(state(w, s, w->t_0 + tau, w->y_1));
    CAROM_TRY(error_of(w, s, w->t_0 + tau, w->y_1, 0, &error));
    CAROM_TRY(event_watch(w, s, w->t_0 + tau, w->y_1));
    event_below(w, s, w->hit);
    *clear = error <= 1;
    for (int i = 0; i < 2 * s->sys->nc; ++i) *clear = *clear && (without[i / 2] || !w->hit[i]), w->hit[i] = 0;
    carom_copy(q, w->y_1, s->sys->nq);
    carom_copy(v, w->y_1 + s->sys->nq, s->sys->nv);
    return CAROM_OK;
}

// watch.c: event functions.  An event is where one of them falls through zero.
//
//     open      g;  -u_N, which falls where the gap is smallest                                        (EV-6)
//     closed    lambda_N
//     sliding   u_T d for one tangent; |u_T| - eps_v for more, or 100 eps_v - |u_T| after a start from rest
//     sticking  mu lambda_N - |lambda_T|
//
// Reactions are multiplied by their Delassus number, so that all functions of closed contacts are accelerations and
// a common measure of rounding fits them.
#include "event/event.h"
#include <float.h>
#include <math.h>

static const double ROUNDING = 1e-11; // of accelerations, relative to their terms
static const double SEEN = 1e-6;      // tolerance of witnesses, relative to the sizes of gaps and impulses

// Direction of L that is the normal of each closed contact comes in order of contacts.
static void watch_closed(event_work *w, const carom_step *s, int b) {
    const carom_local *L = &w->f.L;
    const int contact = L->id[b] - s->sys->ne, k = L->at[b], tangents = L->at[b + 1] - k - 1;
    const double mode = w->f.mode[contact];
    double *phi = w->phi + 2 * contact, *floor = w->floor + 2 * contact;
    // Reactions of dependent contacts are the law's: they are never negative, but the acceleration may be positive.
    phi[0] = w->f.Gamma[k] > ROUNDING * w->f.noise[k] ? -w->f.Gamma[k] : w->f.lambda[k] * w->f.D[k];
    floor[0] = ROUNDING * w->f.noise[k];
    phi[1] = 1, floor[1] = 0;
    const double *T = w->f.lambda + k + 1, *u = w->f.u + k + 1, *Gamma = w->f.Gamma + k + 1;
    if (tangents == 0) return;
    if (mode == CAROM_MODE_STICK) {
        const double size = carom_length(T, tangents), away = carom_length(Gamma, tangents);
        phi[1] = (s->sys->contacts[contact].friction * w->f.lambda[k] - size) * w->f.D[k + 1] - away;
        floor[1] = ROUNDING * (w->f.noise[k + 1] + s->sys->contacts[contact].friction * w->f.noise[k]);
    } else if (mode == CAROM_MODE_SLIP) {
        const double still = event_still_slip(w, s, L, k + 1);
        phi[1] = tangents == 1 ? w->f.dir[CAROM_TANGENTS * contact] * u[0]
                 : event_young(w, contact, tangents) ? EVENT_YOUNG * still - carom_length(u, tangents)
                               : carom_length(u, tangents) - still;
        floor[1] = 16 * DBL_EPSILON * carom_local_magnitude(L, k + 1, w->v);
    }
}

static void watch_open(event_work *w, const carom_step *s, int contact) {
    const int id = s->sys->ne + contact, k = w->all.at[id];
    w->phi[2 * contact] = w->g[id];
    w->phi[2 * contact + 1] = -w->u_all[k];
    w->floor[2 * contact] = 4 * DBL_EPSILON * carom_local_magnitude(&w->all, k, w->span);
    w->floor[2 * contact + 1] = 0;
}

carom_status event_watch(event_work *w, carom_step *s, double t, const double *y) {
    const carom_system *sys = s->sys;
    const double *q = y, *v = y + sys->nq;
    bool open = false, closed = false;
    for (int c = 0; c < sys->nc; ++c) *(w->f.mode[c] == CAROM_MODE_OPEN ? &open : &closed) = true;
    if (open) { // gaps of open contacts are what they are
        CAROM_TRY(event_hold(s, CAROM_FREE, t, q));
        CAROM_TRY(carom_gaps(s, w->g, t, q));
        carom_close_all(s, &w->all);
        CAROM_TRY(carom_directions(s, &w->all, t, q));
        CAROM_TRY(event_hold(s, CAROM_HELD, t, q));
        carom_local_velocity(w->u_all, &w->all, v);
        for (int c = 0; c < sys->nc; ++c)
            if (w->f.mode[c] == CAROM_MODE_OPEN) watch_open(w, s, c);
    }
    if (!closed) return CAROM_OK;
    CAROM_TRY(event_smooth(w, s, t, q, v));
    for (int b = sys->ne; b < w->f.L.nb; ++b) watch_closed(w, s, b);
    return CAROM_OK;
}

bool event_below(event_work *w, const carom_step *s, int *hit) {
    bool any = false;
    for (int i = 0; i < 2 * s->sys->nc; ++i) {
        hit[i] = w->armed[i] && w->phi[i] < -w->floor[i] - w->slack[i];
        any = any || hit[i];
    }
    return any;
}

carom_status event_sample(event_work *w, carom_step *s, double t, const double *y, const double *a, carom_sample *P) {
    const int nc = s->sys->nc, nq = s->sys->nq;
    bool open = false;
    for (int c = 0; c < nc; ++c) open = open || w->scan.watched[c];
    P->tau = t;
    CAROM_TRY(event_watch(w, s, t, y));
    if (!open) return CAROM_OK;
    for (int c = 0; c < nc; ++c) w->offset[c] = w->floor[2 * c] + w->slack[2 * c];
    CAROM_TRY(event_hold(s, CAROM_FREE, t, y));
    CAROM_TRY(carom_sample_set(&w->scan, s, &w->all, t, y, y + nq, a, w->g, w->offset, P));
    return event_hold(s, CAROM_HELD, t, y);
}

// (EV-7)  Time until the parabola g + u T + Gamma T^2/2 reaches zero, from g >= 0.
static double parabola(double g, double u, double Gamma) {
    if (g < 0) g = 0;
    const double square = u * u - 2 * Gamma * g;
    if (u < 0 && square >= 0) return 2 * g / (sqrt(square) - u); // the other root would lose all digits where Gamma is small
    return Gamma < 0 ? (u + sqrt(square)) / -Gamma : INFINITY;
}

// How an open contact stands to the wall: away from it, on it and entering, or on it without a sign of leaving or
// entering, which later steps will show.
enum { AWAY, ENTERING, RESTING };
static int stance(const event_work *w, const carom_step *s, int contact, double u, double Gamma) {
    const int k = w->all.at[s->sys->ne + contact];
    if (w->phi[2 * contact] > w->floor[2 * contact]) return AWAY;
    const double still = 1e-3 * event_still(w, s, &w->all, k) +
                         (64 * DBL_EPSILON + s->opt[OPT_RTOL]) * carom_local_magnitude(&w->all, k, w->v);
    if (fabs(u) > still) return u < 0 ? ENTERING : AWAY;
    const double terms = carom_local_magnitude(&w->all, k, w->f.a) + fabs(w->kappa_all[k]);
    return Gamma < -s->opt[OPT_DECIDE] * terms ? ENTERING : RESTING;
}

carom_status event_begin(event_work *w, carom_step *s, bool *at_once, double *T, double *height, int *who) {
    const carom_system *sys = s->sys;
    *at_once = false;
    *T = *height = INFINITY;
    *who = -1;
    CAROM_TRY(event_watch(w, s, w->t, w->y));
    CAROM_TRY(event_smooth(w, s, w->t, w->q, w->v));
    // Witnesses start at zero; they need not be exact.
    for (int c = 0; c < sys->nc; ++c) {
        w->y[sys->nq + sys->nv + c] = 0;
        w->atol[sys->nq + sys->nv + c] = SEEN * (w->f.mode[c] == CAROM_MODE_OPEN ? w->head.size_q : w->size_p);
    }
    bool open = false;
    for (int i = 0; i < 2 * sys->nc; ++i) {
        const bool is_open = w->f.mode[i / 2] == CAROM_MODE_OPEN;
        w->hit[i] = 0;
        w->armed[i] = is_open ? i % 2 == 0 : w->phi[i] >= -w->floor[i];
        w->slack[i] = is_open ? fmax(-w->phi[i], 0) : 0; // it may leave from a place inside the wall
        open = open || is_open;
    }
    for (int c = 0; c < sys->nc; ++c) w->scan.watched[c] = w->f.mode[c] == CAROM_MODE_OPEN;
    if (!open) return CAROM_OK;
    carom_zero(w->kappa_all, w->all.at[w->all.nb]);
    CAROM_TRY(carom_curvature(s, w->kappa_all, &w->all, w->t, w->q, w->v));
    for (int c = 0; c < sys->nc; ++c) {
        if (w->f.mode[c] != CAROM_MODE_OPEN) continue;
        const int k = w->all.at[sys->ne + c];
        const double g = w->phi[2 * c], u = w->u_all[k], Gamma = carom_column_dot(&w->all.W, k, w->f.a) + w->kappa_all[k];
        const int now = stance(w, s, c, u, Gamma);
        // What leaves smoothly stays for a while as near as the integrator can tell.
        const double unseen = 10 * s->opt[OPT_RTOL] * carom_local_magnitude(&w->all, k, w->span);
        if (g <= unseen && (now == RESTING || (now == AWAY && Gamma >= 0)))
            w->slack[2 * c] = fmax(w->slack[2 * c], unseen);
        if (now == ENTERING) w->hit[2 * c] = 1, *at_once = true;
        if (now != AWAY) continue;
        const double time =
            parabola(u > 0 && g <= 2 * w->floor[2 * c] ? 0 : g, u, Gamma); // what has just left left from the wall
        if (time > *T) continue;
        *T = time;
        *who = c;
        *height = Gamma < 0 ? g - u * u / (2 * Gamma) : g;
    }
    return CAROM_OK;
}

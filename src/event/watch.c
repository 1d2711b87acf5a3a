// watch.c: event functions: gaps, reactions and friction, which are negative beyond an event.
#include "base/tolerance.h"
#include "event/feature.h"
#include "event/watch.h"
#include "scheme/inside.h"
#include "system/narrow.h"
#include "system/system.h"
#include <float.h>
#include <math.h>

// Where events are not located to rounding a smaller one is enough: a function that is wrong by more ends a phase too
// soon by less than the interval.
static double rounding(const carom_phase *w) {
    return w->limits.exact ? CAROM_FLOW_ROUNDING : 0.1 * CAROM_FLOW_ROUNDING;
}

carom_status carom_phase_gaps(carom_phase *w, carom_step *s, double t, carom_event_point *P) {
    if (s->sys->nc == 0) return CAROM_OK;
    CAROM_TRY(carom_phase_free(s));
    CAROM_TRY(carom_gaps(s, P->g, t, P->q));
    CAROM_TRY(carom_directions(s, &w->all, t, P->q));
    CAROM_TRY(carom_phase_held(s));
    for (int c = 0; c < s->sys->nc; ++c) {
        const int k = w->all.at[s->sys->ne + c];
        P->u[c] = carom_column_dot(&w->all.W, k, P->v) + w->all.w[k];
    }
    return CAROM_OK;
}

double carom_phase_own_direction(const carom_phase *w, const carom_step *s, int b) {
    // errors of slip speed, above which it has a direction of its own; of what friction does in a run
    static const double YOUNG = 100, TURNS = 1e6;
    const carom_flow *f = &w->f;
    const int k = f->L.at[b] + 1, tangents = f->L.at[b + 1] - k;
    const double T = s->inside->t_end - s->inside->t_0;
    double push = 0;
    for (int i = k; i < k + tangents; ++i)
        push = hypot(push, carom_column_dot(&f->L.W, i, f->a) - carom_column_dot(&f->L.W, i, f->a_f));
    return fmax(YOUNG * carom_phase_still(w, s, &f->L, k, true), T > 0 && T < HUGE_VAL ? push * T / TURNS : 0);
}

// Friction: what a sticking contact has left, the speed of a sliding one along its direction.
static double friction_function(const carom_phase *w, const carom_step *s, int b, int c, double margin, double *floor) {
    const carom_flow *f = &w->f;
    const int k = f->L.at[b], tangents = f->L.at[b + 1] - k - 1;
    const bool sticks = f->mode[c] == CAROM_MODE_STICK;
    *floor = 0;
    if (tangents == 0) return margin;
    *floor = sticks ? rounding(w) * (f->noise[k + 1] + s->sys->contacts[c].friction * f->noise[k])
                    : CAROM_ROUNDING_SUM * (carom_local_magnitude(&f->L, k + 1, w->v) + fabs(f->L.w[k + 1]));
    // Slip that was decided where the laws are asked a moment delta later (EV-11) may go back until then, by jerks as
    // there are: delta^2/2 size_v/(size_q/size_v)^2.
    const double moment = CAROM_PHASE_MOMENT * w->limits.decide;
    if (!sticks && w->limits.exact)
        *floor += 0.5 * moment * moment * carom_local_magnitude(&f->L, k + 1, w->span) / carom_phase_time(w);
    if (sticks || !f->follows || tangents == 1) return margin;
    if (carom_phase_young(w, c, tangents)) return carom_phase_own_direction(w, s, b) - margin;
    return margin - carom_phase_still(w, s, &f->L, k + 1, true);
}

bool carom_phase_idle(const carom_phase *w, const carom_system *sys, int i) {
    const int of = carom_system_kink_of(sys, i), c = carom_kink_condition(of);
    return of >= 0 ? carom_phase_open(w, of) : c >= 0 && !carom_phase_open(w, c);
}

carom_status carom_phase_kinks_raw(const carom_phase *w, carom_step *s, double t, const double *q, const double *v,
                                   double *k) {
    const carom_system *sys = s->sys;
    const carom_status status = sys->events->kinks(sys->model, s->sys_work, t, q, v, k);
    if (status == CAROM_RETRY) return carom_retry(s, "the model could not compute the places of its kinks");
    if (status != CAROM_OK)
        return carom_fail(s->err, status, "t = %.9g: the model failed to compute the places of its kinks", t);
    for (int i = 0; i < sys->events->nk; ++i)
        if (carom_phase_idle(w, sys, i)) k[i] = 1;
    return CAROM_OK;
}

// (EV-22)  k, with the sign it had at the start of the phase: forces, or the gap of a closed contact, have a kink where
//          it changes.  What the start of the phase was beyond it by rounding is added; a state that rests on the kink
//          has no sign.
carom_status carom_phase_kinks(const carom_phase *w, carom_step *s, double t, const double *q, const double *v,
                               double *phi) {
    CAROM_TRY(carom_phase_kinks_raw(w, s, t, q, v, phi));
    for (int i = 0; i < s->sys->events->nk; ++i) {
        phi[i] = w->sign[i] == 0 ? 1 : phi[i] * w->sign[i] + w->beyond[i];
        // on a jump forces may be those beyond it
        if (phi[i] == 0 && carom_system_kink_of(s->sys, i) == CAROM_JUMPS) phi[i] = -DBL_MIN;
    }
    return CAROM_OK;
}

// On the kink of its gap a contact has no direction, only beyond it.
static bool on_kink(const carom_system *sys, const double *phi, int c) {
    for (int i = 0; sys->events->kink_of && i < sys->events->nk; ++i)
        if (carom_system_kink_of(sys, i) == c && phi[i] == 0) return true;
    return false;
}

// (EV-33)  What the gap of an open contact rounds to: 4 eps max(sum |W_i| span_i, sum |W_i q_i|).  An angle that has
//          gone round many times rounds like a long way.
static double gap_floor(const carom_phase *w, const carom_step *s, int c, const double *q) {
    const int k = w->all.at[s->sys->ne + c];
    const double place = s->sys->nq == s->sys->nv ? carom_local_magnitude(&w->all, k, q) : 0;
    return CAROM_ROUNDING * fmax(carom_local_magnitude(&w->all, k, w->span), place);
}

// (EV-48)  phi = min(alpha, 1 - alpha) of a surface that the motion is held on, plus what does not decide
static void hold(const carom_phase *w, double *phi) {
    const carom_filippov *z = &w->f.filippov;
    for (int m = 0; m < z->n; ++m) phi[z->kink[m]] = fmin(z->part[m], 1 - z->part[m]) + w->limits.decide;
}

// (MX-8), (EV-6)  open: phi = g - min(0, g_0);  closed: lambda_N;  sticking: mu lambda_N - |lambda_T|;  sliding: u_T.d,
//                 or |u_T|; all plus
//         what rounding may take.  Reactions are multiplied by their Delassus number, so that functions of closed
//         contacts are accelerations.
carom_status carom_phase_watch(carom_phase *w, carom_step *s, carom_event_point *P) {
    const double t = w->t + P->tau;
    const int ne = s->sys->ne, nc = s->sys->nc;
    if (s->sys->events->nk > 0) CAROM_TRY(carom_phase_kinks(w, s, t, P->q, P->v, P->phi + 2 * nc));
    CAROM_TRY(carom_phase_gaps(w, s, t, P));
    bool closed = w->f.filippov.n > 0;
    for (int c = 0; c < nc; ++c) {
        closed = closed || !carom_phase_open(w, c);
        P->phi[c] = P->g[ne + c] + w->offset[c];
        P->phi[nc + c] = 1;
        P->kink[c] = w->floor[nc + c] = 0;
        if (carom_phase_open(w, c)) w->floor[c] = w->limits.exact ? gap_floor(w, s, c, P->q) : 0;
    }
    const carom_flow *f = &w->f;
    if (closed) {
        CAROM_TRY(carom_flow_rate(&w->f, s, t, P->q, P->v, false));
        hold(w, P->phi + 2 * nc);
        CAROM_TRY(carom_phase_switches(w, s, P));
    }
    for (int b = ne; closed && b < f->L.nb; ++b) {
        const int c = f->L.id[b] - ne;
        double normal, friction;
        carom_flow_margins(f, s, b, &normal, &friction);
        w->floor[c] = rounding(w) * f->noise[f->L.at[b]];
        P->phi[c] = normal + w->floor[c];
        P->phi[nc + c] = friction_function(w, s, b, c, friction, w->floor + nc + c) + w->floor[nc + c];
    }
    for (int i = 0; i < 2 * nc; ++i)
        if (!w->armed[i] || (i < nc && w->barred[i])) P->phi[i] = 1;
    for (int c = 0; c < nc; ++c)
        if (P->kink[c] < 0 && !on_kink(s->sys, P->phi + 2 * nc, c)) P->phi[c] = P->kink[c];
    return CAROM_OK;
}

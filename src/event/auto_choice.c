// auto_choice.c: which method suits the model, when it is changed, and the account of it.
#include "base/number.h"
#include "event/auto.h"
#include "event/side.h"
#include "linalg/matrix.h"
#include "scheme/inside.h"
#include "system/system.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double STIFF = 1e4; // fastest rate times size_q/size_v
static const double MOST_WAIT = 1e6; // steps between two looks at the other method
static const double LONG = 1e5;  // the same times the length of the run, where nothing moves yet
static const double LIMIT = 0.5; // fastest rate times step: beyond, an explicit method is about to be unstable
// chosen: steps to the first look at the other method; wait after which a stiff model has begun to move; events at one
// instant (AU-11); power iterations, for rates to some percent
enum { PROBE = 64, PATIENCE = 1024, STANDSTILL = 40, ITERATIONS = 12 };

void auto_change_to(auto_work *w, double t, auto_method method, auto_why why) {
    auto_head *h = &w->head;
    const int i = (int)h->changes;
    h->method = method;
    h->changes += 1;
    h->last = 1;
    if (i < AUTO_CHANGES) h->change[i] = (auto_change){t, method, why};
}

// Evaluations of the accelerations that a step costs, explicit and implicit.
static double cost_explicit(void) { return 7; }
static double cost_implicit(const carom_step *s) { return 4.0 * s->sys->nv + 25; }

// (AU-9)  fastest rate: (|dv'|/|dq|)^1/2 along positions and |dv'|/|dv| along velocities, each by power iteration on
//         differences
static carom_status fastest(auto_work *w, carom_step *s, double *rate) {
    carom_flow *f = &w->P.f;
    const int nv = s->sys->nv;
    double *d = w->error; // nq + nv is room enough
    *rate = 0;
    CAROM_TRY(carom_flow_rate(f, s, w->P.t, w->P.q, w->P.v, false));
    carom_copy(w->x, f->a, nv);
    static const double DIFFERENCE = 1e-6; // relative size of the differences: rates by them are good to about as much,
                                           // and are wanted to some percent
    for (int by_v = 0; by_v < 2; ++by_v) {
        const double e = DIFFERENCE * fmax(by_v ? w->head.size_v : w->head.size_q, DBL_MIN);
        double found = 0;
        for (int i = 0; i < nv; ++i) d[i] = (1 + 0.3 * sin(1 + 7.0 * i)) / carom_lever(s->sys, i); // some of every mode
        for (int k = 0; k < ITERATIONS; ++k) {
            const double size = carom_size_of_motion(s->sys, d);
            if (!(size > 0)) break;
            for (int i = 0; i < nv; ++i) d[i] /= size;
            carom_copy(w->q, w->P.q, s->sys->nq);
            carom_copy(w->y, w->P.v, nv);
            if (by_v) carom_axpy(w->y, e, d, nv);
            else carom_move(s, w->q, w->P.q, e, d);
            bool across;
            CAROM_TRY(carom_phase_across_jump(&w->P, s, w->q, w->y, &across));
            if (across) break; // that is no rate
            CAROM_TRY(carom_flow_rate(f, s, w->P.t, w->q, w->y, false));
            for (int i = 0; i < nv; ++i) d[i] = (f->a[i] - w->x[i]) / e;
            found = carom_size_of_motion(s->sys, d);
        }
        *rate = fmax(*rate, by_v ? found : sqrt(found));
    }
    return CAROM_OK;
}

// Momentum at the largest velocity, to scale reactions.
static carom_status measure_momentum(auto_work *w, carom_step *s) {
    CAROM_TRY(carom_mass(s, s->M, w->P.t, w->P.q));
    for (int i = 0; i < s->sys->nv; ++i)
        w->x[i] = carom_is_state(s->sys, i) ? 0 : w->head.size_v / carom_lever(s->sys, i);
    carom_matrix_mul(w->y, s->M, w->x);
    w->head.size_p = 0;
    for (int i = 0; i < s->sys->nv; ++i) w->head.size_p = fmax(w->head.size_p, fabs(w->y[i]) / carom_lever(s->sys, i));
    return CAROM_OK;
}

// What stands still has no time of its own: then that of the run counts.
static bool stiff_at(const auto_work *w, const carom_step *s, double rate) {
    const auto_head *h = &w->head;
    return h->size_v > 0 ? rate * h->size_q > STIFF * h->size_v : rate * (s->inside->t_end - s->t) > LONG;
}

carom_status auto_choose(auto_work *w, carom_step *s) {
    auto_head *h = &w->head;
    if (w->large) return auto_change_to(w, s->t, AUTO_STEPPING, AUTO_LARGE), CAROM_OK;
    double rate = 0;
    const carom_status status = fastest(w, s, &rate); // beside its redundant joints a model may have no answer: then it
                                                      // is not known
    if (status != CAROM_OK && status != CAROM_RETRY) return status;
    if (status == CAROM_RETRY) rate = 0;
    CAROM_TRY(measure_momentum(w, s));
    const bool stiff = stiff_at(w, s, rate);
    if (stiff && !w->implicit) { // for good: what an explicit method would have to resolve does not end
        h->before = AUTO_STEPPING;
        auto_change_to(w, s->t, AUTO_STEPPING, AUTO_STIFF_LARGE);
        return CAROM_OK;
    }
    auto_change_to(w, s->t, stiff ? AUTO_IMPLICIT : AUTO_EXPLICIT, stiff ? AUTO_STIFF : AUTO_FEW);
    h->wait = PROBE;
    return CAROM_OK;
}

// The error of a step over `length` with the method T.
static double error_with(auto_work *w, carom_step *s, const carom_butcher *T, double length) {
    carom_phase *P = &w->P;
    const carom_butcher *own = P->f.T;
    P->f.T = T;
    carom_status status = carom_phase_start(P, s, length);
    if (status == CAROM_OK) status = carom_phase_try(P, s, length, &P->trial, w->error);
    P->f.T = own;
    return status == CAROM_OK ? auto_error(w, s, P->q, P->v, P->trial.q, P->trial.v) : HUGE_VAL;
}

static void change_method(auto_work *w, auto_method method, auto_why why, double length) {
    auto_change_to(w, w->P.t, method, why);
    w->head.next = length;
    w->head.wait = PROBE;
}

// (AU-10)  Steps at the limit of stability, rate h > 1/2: a step of the implicit method is tried that is longer by
//          twice the ratio of the costs.  Is it accurate, the method is changed; else the next trial waits twice as
//          long.
static void probe_implicit(auto_work *w, carom_step *s) {
    const double next = w->head.next, length = next * 2 * cost_implicit(s) / cost_explicit();
    double rate = 0;
    if (fastest(w, s, &rate) == CAROM_OK && rate * next >= LIMIT && error_with(w, s, w->implicit, length) <= 1)
        change_method(w, AUTO_IMPLICIT, AUTO_STIFF, length);
}

// The same the other way round: an explicit step shorter by that ratio would be stable and accurate.  A stiff model is
// given time: steps are short while it begins to move, and what an explicit method then leaves of fast modes, long
// implicit steps would have to resolve.
static void probe_explicit(auto_work *w, carom_step *s) {
    const double length = w->head.next * cost_explicit() / cost_implicit(s);
    const carom_butcher *own = w->P.f.T;
    double rate = 0;
    w->P.f.T = w->explicit;
    const carom_status status = fastest(w, s, &rate);
    w->P.f.T = own;
    if (status == CAROM_OK && error_with(w, s, w->explicit, length) <= 1 && rate * length < LIMIT &&
        (w->head.wait > PATIENCE || !stiff_at(w, s, rate)))
        change_method(w, AUTO_EXPLICIT, AUTO_MILD, length);
}

void auto_reconsider(auto_work *w, carom_step *s) {
    auto_head *h = &w->head;
    // an explicit step that errors do not limit is long enough
    if (h->method == AUTO_IMPLICIT || h->last > 0.01) h->probe += 1;
    if (!w->implicit || h->probe < h->wait) return;
    h->probe = 0;
    h->wait = fmin(2 * h->wait, MOST_WAIT);
    if (h->method == AUTO_EXPLICIT) probe_implicit(w, s);
    else probe_explicit(w, s);
}

// How many of the last 64 events were at the start of their segment?
static int prompt_events(const auto_head *h) {
    double n = 0;
    for (int i = 0; i < AUTO_FLURRY_OF; ++i) n += h->prompt[i];
    return (int)n;
}

// Directions of closed contacts are rows of dense matrices; joints are eliminated with their bodies.
static bool crowded(const auto_work *w, const carom_step *s) {
    int n = 0;
    for (int c = 0; c < s->sys->nc; ++c)
        if (!carom_phase_open(&w->P, c)) n += carom_system_directions(s->sys, s->sys->ne + c);
    return n > AUTO_CROWD;
}

// (AU-11)  64 events within sqrt(rtol) of the time scale of the run, or 40 at one instant
// (AU-18)  chatter: 64 events within 64 sqrt(rtol) of the time scale, a fourth of them at the start of their segment,
//          where the event before has just been decided
auto_why auto_too_many(const auto_work *w, const carom_step *s) {
    const auto_head *h = &w->head;
    const double *now = w->P.now, t = w->P.t;
    const double natural = now[CAROM_PHASE_SIZE_A] > 0 ? now[CAROM_PHASE_SPEED] / now[CAROM_PHASE_SIZE_A] : 0;
    const double T = fmax(natural, t - now[CAROM_PHASE_START]);
    if (crowded(w, s)) return AUTO_LARGE;
    if (h->still > STANDSTILL) return AUTO_STALL;
    if (h->seen < AUTO_FLURRY_OF) return AUTO_FEW;
    const double length = t - h->event_t[(int)h->seen % AUTO_FLURRY_OF], few = sqrt(s->opt[AUTO_RTOL]) * T;
    if (length < few) return AUTO_FLURRY;
    return length < AUTO_FLURRY_OF * few && prompt_events(h) >= AUTO_FLURRY_OF / 4 ? AUTO_FLURRY : AUTO_FEW;
}

// -- in words --------------------------------------------------------------------------------------------

static const char *const methods[] = {"explicit Runge-Kutta 5(4) with located events",
                                      "Radau IIA of order 5 with located events", "time-stepping (moreau-jean)"};
static const char *const shortly[] = {"explicit", "implicit", "time-stepping"};
static const char *const reasons[] = {
    [AUTO_FEW] = "a small model that is not stiff, its events taken one by one",
    [AUTO_STIFF] = "stiff: an implicit step may be longer by more than it costs",
    [AUTO_MILD] = "not stiff any more",
    [AUTO_LARGE] = "large: too many velocities or contact directions for dense matrices",
    [AUTO_STIFF_LARGE] = "stiff, with too many velocities for an implicit method with a dense matrix",
    [AUTO_FLURRY] = "a flurry of events",
    [AUTO_STALL] = "events at one instant without end",
    [AUTO_REFUSED] = "no step with located events succeeded",
    [AUTO_QUIET] = "quiet again",
    [AUTO_AGAIN] = "events without end again and again; rtol is ten times as large from here on",
};

void auto_describe(const void *memory, char *text, size_t size) {
    const auto_head *h = ((const auto_work *)memory)->kept_head;
    const int n = (int)fmin(h->changes, AUTO_CHANGES);
    if (size > 0) text[0] = 0;
    for (int i = 0; i < n; ++i) {
        const auto_change *c = h->change + i;
        const size_t used = strlen(text);
        if (i == 0) snprintf(text, size, "%s (%s)", methods[(int)c->method], reasons[(int)c->why]);
        else
            carom_format(text + used, size - used, "; t = %.9g: %s (%s)", c->t, shortly[(int)c->method],
                         reasons[(int)c->why]);
    }
    const size_t used = strlen(text);
    if (h->changes > AUTO_CHANGES) carom_format(text + used, size - used, "; and %g more", h->changes - AUTO_CHANGES);
}

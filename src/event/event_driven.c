// event_driven.c: the scheme `event-driven`: from t to t + h exactly, through all events on the way.
//
// Spec: docs/methods-event.md.  h is the interval between outputs; how finely it is divided is the integrator's
// business.  Every step starts afresh from (q, v) and the kept modes of the contacts, so a run that was
// interrupted goes on bit for bit.
#include "base/control.h"
#include "base/tolerance.h"
#include "scheme/friction.h"
#include "event/cvode.h"
#include "event/feature.h"
#include "event/hidden.h"
#include "event/phase.h"
#include "event/side.h"
#include "event/singular.h"
#include "event/watch.h"
#include "linalg/matrix.h"
#include <carom/event.h>
#include <float.h>
#include <math.h>

static const double KINK = 1e-6; // least part of a velocity by which a direction that jumps changes it: noise of the
                                 // integrator is below

enum {
    OPT_METHOD,
    OPT_RTOL,
    OPT_ATOL,
    OPT_GAP,
    OPT_VELOCITY,
    OPT_TIME,
    OPT_DECIDE,
    OPT_LONGEST,
    OPT_EVENTS,
    OPT_STEPS
};

static const carom_option options[] = {
    [OPT_METHOD] = {.name = "method", .kind = CAROM_CHOICE, .choices = "adams|bdf",
     .about = "multistep formulas of the smooth phases: Adams' (up to order 12), or backward differences for stiff "
              "models"},
    [OPT_RTOL] = {.name = "rtol", .kind = CAROM_REAL, .fallback = 1e-12, .low = 1e-14, .high = 1e-2,
     .about = "error allowed in one internal step, relative to each component"},
    [OPT_ATOL] = {.name = "atol", .kind = CAROM_REAL, .fallback = 0, .low = 0, .high = 1e-2,
     .about = "the same, relative to the largest position (velocity) of the run; 0: a hundredth of rtol"},
    [OPT_GAP] = {.name = "gap-tol", .kind = CAROM_REAL, .fallback = 1e-13, .low = 0, .high = 1e-3,
     .about = "contacts this near to the wall take part in an impact, relative to the positions (at the start: rtol)"},
    [OPT_VELOCITY] = {.name = "velocity-tol", .kind = CAROM_REAL, .fallback = 1e-9, .low = 1e-14, .high = 1e-2,
     .about = "local velocities below this, relative to the largest of the run, count as none: ends accumulations; "
              "at least 10 rtol"},
    [OPT_TIME] = {.name = "time-tol", .kind = CAROM_REAL, .fallback = 1e-10, .low = 0, .high = 1e-2,
     .about = "flights shorter than this, relative to largest position over largest velocity, end the accumulation "
              "of a single contact too"},
    [OPT_DECIDE] = {.name = "decide-tol", .kind = CAROM_REAL, .fallback = 1e-8, .low = 1e-12, .high = 1e-2,
     .about = "accelerations and reactions below this, relative to their terms, decide nothing"},
    [OPT_LONGEST] = {.name = "max-step", .kind = CAROM_REAL, .fallback = 0, .low = 0, .high = 1e12,
     .about = "longest internal step (time); 0: no limit"},
    [OPT_EVENTS] = {.name = "most-events", .kind = CAROM_INTEGER, .fallback = 4000, .low = 1, .high = 1e9,
     .about = "events in one step before it is refused"},
    [OPT_STEPS] = {.name = "most-steps", .kind = CAROM_INTEGER, .fallback = 1e5, .low = 1, .high = 1e9,
     .about = "internal steps in one step before it is refused"},
    {0},
};

static const double LOOSE = 1e3; // of the tolerance: what some steps may leave of a closed contact's approach
static const double SAFETY = 0.9; // of the next length that an error gives
static const double SAFE = 0.01; // part of the tolerance that a Runge-Kutta step may use up: there may be many
static const double MANY = 32;   // steps that together cost as much as a restart of the multistep method
static const double LOW = 1e4;   // roundings of a gap
static const double WILD = 1e4;  // an error that is not known, over the tolerance
static const double COSTLY = 16; // internal steps that an event and the start of the next phase cost
static const double HALVED = 16; // times most-steps: of a step that is refused for its many internal steps, and of its
                                 // halves
static const double SEEN = 1e-6; // error of reactions, relative to the size of impulses

typedef struct work {
    carom_phase P;
    double *error;        // nq + nv
    double energy;        // at the largest velocity
    double T, height;     // time to the next impact by a parabola, and its height
    int who;              // of which contact
    double until;         // HUGE_VAL, or the end of the next phase: before a friction curve that a step has passed over
    double *law;          // 3 CAROM_FRICTION_LAW nc: friction at the start, in the middle and at the end of a step
    double cap;           // HUGE_VAL, or what a step that passed over a short phase of other forces leaves to the next
                          // try
    long steps;           // of this step
} work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    work *w = memory;
    void *const integrator = w->P.memory; // it outlives a list of contacts that becomes longer
    w->P = carom_allocate_phase(mem, keep, sys, carom_butcher_find(CAROM_RK_DORMAND, 5));
    w->P.gates = true;
    w->P.memory = integrator;
    w->P.tol = fmax(opt[OPT_VELOCITY], 10 * opt[OPT_RTOL]); // predictions of a limit agree to what ends the run of a
                                                            // single contact, not to the noise of the integrator
    w->P.limits = (carom_limits){.exact = true,
                                 .decide = opt[OPT_DECIDE],
                                 // after some steps a velocity is not known better
                                 .velocity = fmax(opt[OPT_VELOCITY], 10 * opt[OPT_RTOL]),
                                 .gap = opt[OPT_GAP],
                                 .gap_first = fmax(opt[OPT_GAP], opt[OPT_RTOL]),
                                 .time = opt[OPT_TIME],
                                 .kink = fmax(LOOSE * opt[OPT_RTOL], KINK),
                                 .events = opt[OPT_EVENTS]};
    w->error = carom_allocate(mem, (size_t)(sys->nq + sys->nv));
    w->law = carom_allocate(mem, 3 * CAROM_FRICTION_LAW * (size_t)sys->nc);
}

static carom_status start(void *memory, carom_step *s) {
    work *w = memory;
    const double longest = s->opt[OPT_LONGEST], most = s->opt[OPT_STEPS];
    if (longest > 0 && s->h > most * longest)
        return carom_fail(s->err, CAROM_BAD_INPUT,
                          "max-step=%g would divide every step of %g into %.3g, which is more than most-steps=%g: give "
                          "a larger max-step, or a smaller step",
                          longest, s->h, s->h / longest, most);
    return carom_cvode_create(&w->P, s, s->opt[OPT_RTOL], s->opt[OPT_METHOD] == 1);
}

static void finish(void *memory) { carom_cvode_destroy(&((work *)memory)->P); }

static double absolute(const carom_step *s) {
    // chosen: for coordinates a hundred times smaller than the largest
    return s->opt[OPT_ATOL] > 0 ? s->opt[OPT_ATOL] : 0.01 * s->opt[OPT_RTOL];
}

// Works follow what moves: their size is that of the kinetic energy at size_v.
static carom_status measure_energy(work *w, carom_step *s) {
    carom_phase *P = &w->P;
    const double size_v = P->now[CAROM_PHASE_SIZE_V];
    CAROM_TRY(carom_mass(s, s->M, P->t, P->q));
    for (int i = 0; i < s->sys->nv; ++i) P->v_1[i] = carom_is_state(s->sys, i) ? 0 : size_v / carom_lever(s->sys, i);
    carom_matrix_mul(P->f.dv, s->M, P->v_1);
    w->energy = DBL_MIN;
    for (int i = 0; i < s->sys->nv; ++i) w->energy = fmax(w->energy, fabs(P->f.dv[i] * P->v_1[i]));
    return CAROM_OK;
}

// -- how a phase begins -----------------------------------------------------------------------------------------------

// (EV-7)  Time until the parabola g + u T + Gamma T^2/2 reaches zero, from g >= 0.
static double parabola(double g, double u, double Gamma) {
    if (g < 0) g = 0;
    const double square = u * u - 2 * Gamma * g;
    // the other root would lose all digits where Gamma is small
    if (u < 0 && square >= 0) return 2 * g / (sqrt(square) - u);
    return Gamma < 0 ? (u + sqrt(square)) / -Gamma : INFINITY;
}

// How an open contact stands to the wall: away from it, on it and entering, or on it without a sign of leaving or
// entering, which later steps will show.
enum { AWAY, ENTERING, RESTING };
static int stance(const carom_phase *P, const carom_step *s, int c, double u, double Gamma) {
    const int k = P->all.at[s->sys->ne + c];
    if (P->from.g[s->sys->ne + c] > P->floor[c]) return AWAY;
    const double slow = carom_phase_still(P, s, &P->all, k, false), size = carom_local_magnitude(&P->all, k, P->v);
    if (fabs(u) > CAROM_PHASE_LITTLE * slow + (CAROM_ROUNDING_SOLVED + s->opt[OPT_RTOL]) * size)
        return u < 0 ? ENTERING : AWAY;
    // those of the laws
    const double terms =
        carom_local_magnitude(&P->all, k, P->f.a) + carom_local_magnitude(&P->all, k, P->f.a_f) + fabs(P->kappa[k]);
    if (!(Gamma < -s->opt[OPT_DECIDE] * terms)) return RESTING;
    // what is faster than that would not close: it has a flight
    return u > slow + CAROM_ROUNDING_SOLVED * size ? AWAY : ENTERING;
}

// An open contact: what is added to its gap; does it hit at once; else when, by the parabola.
static void begin_open(work *w, carom_step *s, int c, bool *at_once) {
    carom_phase *P = &w->P;
    const int k = P->all.at[s->sys->ne + c];
    const double g = P->from.g[s->sys->ne + c], u = P->from.u[c],
                 Gamma = carom_column_dot(&P->all.W, k, P->f.a) + P->kappa[k];
    const int now = stance(P, s, c, u, Gamma);
    double slack = fmax(-g, 0); // it may leave from a place inside the wall
    // What leaves smoothly stays for a while as near as the integrator can tell.
    const double unseen = 10 * s->opt[OPT_RTOL] * carom_local_magnitude(&P->all, k, P->span);
    if (g <= unseen && (now == RESTING || (now == AWAY && Gamma >= 0))) slack = fmax(slack, unseen);
    P->offset[c] = P->floor[c] + slack;
    if (now == ENTERING) P->hit[c] = *at_once = true;
    if (now != AWAY) return;
    // what has just left left from the wall
    const double time = parabola(u > 0 && g <= 2 * P->floor[c] ? 0 : g, u, Gamma);
    if (time > w->T) return;
    w->T = time;
    w->who = c;
    w->height = Gamma < 0 ? g - u * u / (2 * Gamma) : g;
}

// Start of a phase: what is armed; contacts that hit at once; the next impact.
static carom_status begin(work *w, carom_step *s, bool *at_once) {
    carom_phase *P = &w->P;
    const int nc = s->sys->nc;
    *at_once = false;
    w->T = w->height = INFINITY;
    w->who = -1;
    if (nc == 0) return CAROM_OK;
    for (int i = 0; i < 2 * nc; ++i) P->armed[i] = true, P->hit[i] = false;
    CAROM_TRY(carom_phase_watch(P, s, &P->from));
    for (int i = 0; i < 2 * nc; ++i) P->armed[i] = carom_phase_open(P, i % nc) ? i < nc : P->from.phi[i] >= 0;
    CAROM_TRY(carom_phase_free(s));
    CAROM_TRY(carom_curvature(s, P->kappa, &P->all, P->t, P->q, P->v));
    CAROM_TRY(carom_phase_held(s));
    for (int c = 0; c < nc; ++c)
        if (carom_phase_open(P, c) && !P->barred[c]) begin_open(w, s, c, at_once);
    return carom_phase_arm(P, s);
}

// -- Runge-Kutta steps ------------------------------------------------------------------------------------------------
//
// A flight between two impacts shortly before they accumulate is lower than the tolerance of any integrator that
// chooses its own steps: it would step over it and fall through the wall.  The parabola (EV-7) says how long the
// flight is; one step covers it, or a few, and the method's own estimate says whether that is good enough.
// Other short intervals are covered in the same way.

// The error of the step to P->b over its tolerance; reactions and works are not counted where there is a blur (EV-20).
static carom_status error_of(work *w, carom_step *s, double blur, double *error) {
    carom_phase *P = &w->P;
    const double rtol = s->opt[OPT_RTOL], atol = absolute(s) + blur, size_v = P->now[CAROM_PHASE_SIZE_V];
    double works;
    *error = carom_flow_error(s, w->error, P->q, P->v, P->b.q, P->b.v, rtol, atol, P->now[CAROM_PHASE_SIZE_Q], size_v);
    if (blur > 0) return CAROM_OK;
    CAROM_TRY(carom_flow_work_error(&P->f, s, P->t, P->b.tau, P->q, P->v, rtol, atol, 0, w->energy, &works));
    *error = fmax(fmax(*error, works), carom_flow_reaction_error(&P->f, s, P->b.tau, SEEN * w->energy / size_v));
    return CAROM_OK;
}

static double allowed(double blur) { return blur > 0 ? 1 : SAFE; }

// (EV-25)  A kink of forces at P->b, the end of a step none of whose stages need have met the forces before it: the
//          next try is short against the time until then.
static void try_finer(work *w) { w->cap = w->P.b.tau / CAROM_PHASE_FINE; }

// (EV-34)  Slip stops at P->a in a step that may have passed over most of a narrow friction curve mu(u), as Stribeck's:
//          half way in time mu must lie half way between its ends, roughly. If it does not, the phase ends half way,
//          and the next steps come nearer.
static carom_status end_before_curve(work *w, carom_step *s, bool *curved) {
    // of the change of mu; of mu; of the interval between records
    static const double STRAIGHT = 0.1, NONE = 1e-9, FINEST = 1e-10;
    carom_phase *P = &w->P;
    const carom_system *sys = s->sys;
    const double length = P->a.tau - P->from.tau, half = P->from.tau + 0.5 * length;
    const int nc = sys->nc, size = CAROM_FRICTION_LAW * nc;
    bool stops = false;
    *curved = false;
    for (int c = 0; c < nc && sys->friction; ++c)
        stops = stops || (P->f.mode[c] == CAROM_MODE_SLIP && sys->contacts[c].friction_varies && P->b.phi[nc + c] < 0);
    if (!stops || !(length > FINEST * s->h)) return CAROM_OK;
    CAROM_TRY(P->integrator->at(P, s, half, &P->trial));
    const carom_event_point *at[3] = {&P->from, &P->trial, &P->a};
    for (int i = 0; i < 3; ++i)
        if (!carom_friction_laws(s, P->t + at[i]->tau, at[i]->q, at[i]->v, w->law + i * size)) return CAROM_OK;
    for (int c = 0; c < nc; ++c) {
        if (P->f.mode[c] != CAROM_MODE_SLIP || !sys->contacts[c].friction_varies || !(P->b.phi[nc + c] < 0)) continue;
        const double *mu = w->law + CAROM_FRICTION_LAW * c, change = mu[2 * size] - mu[0];
        *curved = *curved || (fabs(change) > NONE * fabs(mu[0]) &&
                              fabs(mu[size] - mu[0] - 0.5 * change) > STRAIGHT * fabs(change));
    }
    if (*curved) w->until = P->t + half;
    return CAROM_OK;
}

// An event in the step to P->b, or its end; not *done: the error of the step to a kink is too large.
static carom_status conclude(work *w, carom_step *s, double delta, double blur, bool *done, bool *found) {
    carom_phase *P = &w->P;
    CAROM_TRY(carom_phase_look(P, s, found));
    if (!*found) carom_phase_near(P, s, &P->a);
    if (!*found) {
        carom_phase_end(P, s, P->t + P->a.tau);
        // what is not known across the constraints goes, and what has drifted from surfaces that hold the motion
        return blur > 0 ? carom_phase_project(P, s, 0) : carom_filippov_put_back(&P->f.filippov, s, P->t, P->q, P->v);
    }
    CAROM_TRY(carom_phase_enclose(P, s, delta));
    if (carom_phase_kink(P, s)) {
        CAROM_TRY(P->integrator->advance(P, s, P->b.tau, &P->b, w->error));
        CAROM_TRY(carom_phase_watch(P, s, &P->b));
        double error;
        CAROM_TRY(error_of(w, s, blur, &error));
        if (!(error <= allowed(blur))) {
            *done = *found = false;
            try_finer(w);
            return CAROM_OK;
        }
    }
    bool curved;
    CAROM_TRY(end_before_curve(w, s, &curved));
    if (curved) return *done = *found = false, CAROM_OK;
    carom_phase_near(P, s, &P->b);
    return carom_phase_event(P, s, delta);
}

static double shortest(double t) { return 2 * DBL_EPSILON * fabs(t); } // two roundings of t

// (EV-8)  One Runge-Kutta step over h or to the first event, when that is accurate: *done.  *found: an event.  blur >
//         0: over a singular position.
static carom_status short_step(work *w, carom_step *s, double h, double blur, bool *done, bool *found) {
    carom_phase *P = &w->P;
    // such a gap is rounding: the parabola knows better
    const bool lands = w->T < h, low = lands && w->height <= LOW * P->floor[w->who];
    const double last = s->opt[OPT_LONGEST] > 0 ? fmin(h, s->opt[OPT_LONGEST]) : h, most = allowed(blur);
    const double end = lands ? fmin(low ? w->T : 1.02 * w->T, last) : last; // 2 % farther: the event is inside
    double tau = end, error = 0;
    w->steps += 1;
    *done = *found = lands && !(P->t + end > P->t); // no time left
    if (*found) P->hit[w->who] = true;
    if (*done) return carom_phase_impact(P, s, &P->from);
    for (int attempt = 0; attempt < 4; ++attempt) {
        const carom_status status = P->integrator->advance(P, s, tau, &P->b, w->error);
        // too long a step led where the system makes no sense
        if (status == CAROM_RETRY || status == CAROM_SINGULAR || status == CAROM_USER) error = WILD;
        else if (status != CAROM_OK) return status;
        else CAROM_TRY(error_of(w, s, blur, &error));
        if (error <= most) break;
        tau *= carom_step_factor(fmin(error, DBL_MAX) / most, 5, SAFETY, 0, SAFETY);
        if (!(end <= (blur > 0 ? 1 : MANY) * tau)) return CAROM_OK;
    }
    if (!(error <= most)) return CAROM_OK;
    bool hidden = false;
    double at, width;
    if (!(blur > 0)) CAROM_TRY(carom_phase_hidden(P, s, s->opt[OPT_RTOL], 1, &hidden, &at, &width));
    if (hidden) return CAROM_OK;
    *done = true;
    if (low) P->armed[w->who] = P->scan.watched[w->who] = false;
    CAROM_TRY(carom_phase_watch(P, s, &P->b));
    if (!low || tau != w->T) return conclude(w, s, shortest(P->t + tau), blur, done, found);
    CAROM_TRY(carom_phase_look(P, s, found));
    if (*found) {
        CAROM_TRY(carom_phase_enclose(P, s, shortest(P->t + tau)));
        carom_phase_near(P, s, &P->b);
        return carom_phase_event(P, s, 0);
    }
    *found = P->hit[w->who] = true;
    carom_phase_near(P, s, &P->a);
    return carom_phase_impact(P, s, &P->a);
}

// -- the multistep method ---------------------------------------------------------------------------------------------

// (EV-31)  A force in the step to P->b that the method has not met (HF): the phase ends before the step, and steps of
//          the next one are short against it.  The method sees no force between the ends.
static carom_status end_before_hidden(work *w, carom_step *s, bool first, bool *hidden) {
    static const double FINEST = 1e-9, WIDE = 0.25; // of the interval between records; of (HF-3)
    carom_phase *P = &w->P;
    double at, width;
    const double length = P->b.tau - P->from.tau;
    *hidden = false;
    if (length > FINEST * s->h) CAROM_TRY(carom_phase_hidden(P, s, s->opt[OPT_RTOL], WIDE, hidden, &at, &width));
    if (!*hidden) return CAROM_OK;
    w->cap = length / CAROM_PHASE_FINE;
    if (first) return CAROM_OK;
    CAROM_TRY(carom_phase_next(P, s));
    carom_phase_end(P, s, P->t + P->a.tau);
    return CAROM_OK;
}

static carom_status multistep(work *w, carom_step *s, double h, bool *found) {
    carom_phase *P = &w->P;
    const double t_1 = P->t + h;
    enum { LINGERS = 200 }; // steps near a singular position that was not stepped over: from where they have come, it
                            // may be
    bool near = P->f.pivot < CAROM_FLOW_SINGULAR, entered = false, hidden;
    int steps = 0;
    double size_q = P->now[CAROM_PHASE_SIZE_Q];
    CAROM_TRY(P->integrator->reset(P, s, h));
    for (bool first = true; !entered; first = false) {
        if (!first) CAROM_TRY(carom_substep_done(s, P->t + P->a.tau, P->a.q, P->a.v));
        if (!first) CAROM_TRY(carom_phase_next(P, s));
        CAROM_TRY(carom_phase_advance(P, s, h, NULL));
        if (++w->steps > s->opt[OPT_STEPS]) return CAROM_OK; // the caller refuses
        CAROM_TRY(end_before_hidden(w, s, first, &hidden));
        if (hidden) return CAROM_OK;
        carom_phase_grow(P, s, P->b.q);
        entered = P->f.pivot < CAROM_FLOW_SINGULAR && (!near || ++steps > LINGERS); // the next phase steps over it
        near = P->f.pivot < CAROM_FLOW_SINGULAR;
        CAROM_TRY(carom_phase_look(P, s, found));
        if (*found) P->now[CAROM_PHASE_SIZE_Q] = size_q; // what lies beyond an event is no position of the run
        size_q = P->now[CAROM_PHASE_SIZE_Q];
        // the method has seen nothing but the start
        if (*found && first && !(w->cap < HUGE_VAL) && carom_phase_kink(P, s)) {
            *found = false;
            try_finer(w);
            return CAROM_OK;
        }
        if (*found) {
            const double delta = CAROM_ROUNDING * P->b.tau;
            bool curved;
            CAROM_TRY(carom_phase_enclose(P, s, delta));
            CAROM_TRY(end_before_curve(w, s, &curved));
            if (curved) return *found = false, CAROM_OK;
            carom_phase_near(P, s, &P->b);
            return carom_phase_event(P, s, delta);
        }
        carom_phase_near(P, s, &P->a);
        if (P->a.tau >= h || carom_phase_reaches_jump(P, s)) break;
    }
    CAROM_TRY(carom_substep_done(s, P->t + P->a.tau, P->a.q, P->a.v));
    carom_phase_end(P, s, P->a.tau >= h ? t_1 : P->t + P->a.tau);
    return carom_filippov_put_back(&P->f.filippov, s, P->t, P->q, P->v);
}

static carom_status with_multistep(work *w, carom_step *s, double h, bool *found) {
    carom_phase *P = &w->P;
    const double atol = absolute(s), size_v = P->now[CAROM_PHASE_SIZE_V];
    double longest = w->cap;
    // a contact that has just left must not come back inside one internal step
    if (w->T > 0 && w->T < h) longest = fmin(longest, 0.25 * w->T);
    if (s->opt[OPT_LONGEST] > 0) longest = fmin(longest, s->opt[OPT_LONGEST]);
    carom_cvode_limit(
        P, (carom_cvode_limits){longest < HUGE_VAL ? longest : 0, atol, size_v, w->energy / size_v, w->energy});
    P->integrator = &carom_integrator_cvode;
    const double cap = w->cap;
    const carom_status status = multistep(w, s, h, found);
    if (w->cap == cap) w->cap = HUGE_VAL;
    P->integrator = &carom_integrator_rk;
    s->counts->substeps_rejected += carom_cvode_rejected(P);
    return status;
}

// One phase: to t_1 or across an event.
static carom_status phase(work *w, carom_step *s, double t_1, bool *found) {
    carom_phase *P = &w->P;
    if (P->t >= w->until) w->until = HUGE_VAL;
    t_1 = fmin(t_1, w->until);
    const double h = t_1 - P->t;
    const bool first = w->cap == HUGE_VAL; // try
    double crossing, blur;
    bool done = false;
    CAROM_TRY(carom_phase_start(P, s, h));
    CAROM_TRY(measure_energy(w, s));
    CAROM_TRY(begin(w, s, found));
    if (*found) return carom_phase_impact(P, s, &P->from);
    CAROM_TRY(carom_phase_crossing(P, s, h, &crossing, &blur));
    const double t = P->t, length = crossing > 0 ? crossing : h;
    if (first) CAROM_TRY(short_step(w, s, length, blur, &done, found));
    if (!done && first && (w->cap < HUGE_VAL || w->until < t_1)) return CAROM_OK; // the phase begins anew
    if (!done) return with_multistep(w, s, h, found);
    if (!*found && crossing == 0 && P->a.tau == h) P->t = t_1; // t + h rounds
    if (!*found && P->t == t) return carom_retry(s, "no progress in time at t = %.12g", t);
    return *found ? CAROM_OK : carom_substep_done(s, P->t, P->q, P->v);
}

enum { STANDSTILL = 40 }; // events at one instant before the step is refused

static carom_status march(work *w, carom_step *s) {
    carom_phase *P = &w->P;
    const double t_1 = s->t + s->h;
    carom_phase_load(P, s);
    w->steps = 0;
    w->cap = w->until = HUGE_VAL;
    bool changes;
    CAROM_TRY(carom_phase_enter(P, s, s->h, &changes));
    if (changes) CAROM_TRY(carom_phase_settle(P, s, 0, NULL));
    double last = P->t;
    for (int still = 0, idle = 0; P->t < t_1;) {
        bool found = false;
        const long before = w->steps;
        CAROM_TRY(phase(w, s, t_1, &found));
        CAROM_TRY(carom_limit_parts(s, (double)(w->steps - before) + (found ? COSTLY : 0),
                                    HALVED * fmax(s->opt[OPT_STEPS], options[OPT_STEPS].fallback)));
        if (w->steps > s->opt[OPT_STEPS])
            return carom_retry(
                s, "more than %g internal steps in one step; a smaller one, looser tolerances or most-steps= may help",
                s->opt[OPT_STEPS]);
        if (!found) continue;
        still = P->t - last > CAROM_ROUNDING * fabs(P->t) ? 0 : still + 1;
        last = P->t;
        if (still > STANDSTILL)
            return carom_retry(s, "no consistent contact state found at t = %.12g after %d events", P->t, still);
        idle = carom_phase_unchanged(P, s) ? idle + 1 : 0;
        if (idle > CAROM_PHASE_UNCHANGED)
            return carom_retry(s,
                               "%d events up to t = %.12g change nothing: contacts that share a load contradict each "
                               "other.  Try mixed or auto, which pass such states by time-stepping",
                               idle, P->t);
        if ((double)P->events > s->opt[OPT_EVENTS])
            return carom_retry(s,
                               "more than %g events in one step; try a smaller step, or mixed or auto, which pass "
                               "bursts of events by time-stepping",
                               s->opt[OPT_EVENTS]);
        CAROM_TRY(carom_substep_done(s, P->t, P->q, P->v));
    }
    CAROM_TRY(carom_phase_project(P, s, 0));
    CAROM_TRY(carom_flow_finish(&P->f, s, t_1, P->q, P->v, false, true));
    carom_copy(s->q, P->q, s->sys->nq);
    carom_copy(s->v, P->v, s->sys->nv);
    carom_phase_keep(P, s);
    return CAROM_OK;
}

static carom_status step(void *memory, carom_step *s) { return carom_phase_leave(s, march(memory, s)); }

static bool recalls(const void *memory, const carom_step *s, int id) {
    return carom_phase_recalls(&((const work *)memory)->P, s, id);
}

static void forget(void *memory, carom_step *s, int id) { carom_phase_forget(&((work *)memory)->P, s, id); }

const carom_scheme carom_scheme_event_driven = {
    .name = "event-driven",
    .about =
        "adaptive integration between events, each located to rounding (SUNDIALS): ten digits where impacts are few",
    .text =
        "M v' = f + W lambda,   W'v' + kappa = 0 over joints, closed normals and sticking tangents,\n"
        "lambda_T = -mu lambda_N u_T/|u_T| at sliding contacts: integrated with CVODE until an event function falls to "
        "zero:\n"
        "g of an open contact, lambda_N of a closed one, mu lambda_N - |lambda_T| when it sticks, u_T when it slides.\n"
        "Then Newton's impact law on all contacts at the wall, the contact laws on acceleration level for those that "
        "are\n"
        "left without normal velocity, and the next phase.\n\n"
        "The step is the interval between outputs and does not enter the error.  Positions and velocities follow rtol "
        "and\n"
        "atol; joints and closed gaps are projected at every event and step end.  Where impacts accumulate, flights "
        "too low\n"
        "for the integrator are taken in one Runge-Kutta step each until velocity-tol ends them in a plastic impulse;\n"
        "contacts that take turns end in the limit of their sequence once two predictions of it agree to rtol.  Slow "
        "where impacts are many.",
    .closes_while = true,
    .order = 5, // of its Runge-Kutta steps; the multistep method chooses
    .controls_own_steps = true,
    .exact = "",
    .emits_events = true,
    .redundant = true, // positions are projected to rounding, and event_share() knows
    .accounts_power = true,
    .options = options,
    .work_size = sizeof(work),
    .allocate = allocate,
    .start = start,
    .limitations = CAROM_NO_REST,
    .step = step,
    .reset_contact = forget,
    .follows_features = true,
    .recalls = recalls,
    .finish = finish,
};

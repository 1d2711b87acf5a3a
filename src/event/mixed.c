// mixed.c: Runge-Kutta of any order between events, a Moreau step across them.
//
// Spec: docs/methods-mixed.md (Acary: the lecture's time stepping of any order, after Mannshardt).  An event is
// enclosed in an interval of length O(h^(p+1)); the rest of the step starts anew behind it, as often as needed, so that
// the order p of the table survives impacts, take-off, stick and slip.  Where flights become shorter than the interval,
// the contact is closed: accumulations end there.  Those of several contacts end in their limit (accumulate.h).
//
// Where contacts contradict each other, so that events follow each other without progress, a short piece of the step is
// made by Moreau's midpoint rule and the contacts are looked at anew behind it.
#include "base/tolerance.h"
#include "event/feature.h"
#include "event/phase.h"
#include "scheme/inside.h"
#include "scheme/moreau/moreau.h"
#include <math.h>

enum { OPT_RK, OPT_ORDER, OPT_BRACKET, OPT_EVENTS };
static const carom_option options[] = {
    [OPT_RK] = {.name = "rk", .kind = CAROM_CHOICE, .choices = "explicit|radau|gauss",
     .about = "Runge-Kutta method between events: explicit, Radau IIA (orders 3, 5) or Gauss (2, 4, 6)"},
    [OPT_ORDER] = {.name = "order", .kind = CAROM_INTEGER, .fallback = 4, .low = 2, .high = 6,
     .about = "order p; a family that lacks it gives the next higher one it has"},
    [OPT_BRACKET] = {.name = "bracket", .kind = CAROM_REAL, .fallback = 1, .low = 0, .high = 1e6,
     .about = "events are enclosed in bracket h (h/T)^p, T a time scale of the run; 0: as narrow as rounding allows"},
    [OPT_EVENTS] = {.name = "most-events", .kind = CAROM_INTEGER, .fallback = 20000, .low = 1, .high = 1e9,
     .about = "events in one step before it is refused"},
    {0},
};

enum { STANDSTILL = 60 }; // events without progress before a step is refused
static const double SOON = 1e-7;      // of a whole step

static const double SHORT = 1. / 16;  // of a step: when what is shorter still fails, the rest of the step is made by
                                      // time-stepping
enum { PAUSE_MOST = 1000 };           // steps
enum { CROSSED, PAUSE, LEFT, KINK, KEPT = KINK + 2 }; // kept[...]: pieces crossed since the last whole step; steps that
                                                      // time-stepping takes after that, those left; the last kink

typedef struct work {
    carom_phase P;
    double longest, begun, across;                      // longest step seen; begin of the last one so long; until then
                                                        // by time-stepping
    double *kept, *reacted;                             // reacted[c]: length of the step across the last
                                                        // events, if contact c had an impulse in it
    bool *lasting;
    carom_midpoint midpoint;
} work;

static const carom_butcher *table(const double *opt) {
    return carom_butcher_find((carom_rk_family)opt[OPT_RK], (int)opt[OPT_ORDER]);
}

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    work *w = memory;
    w->P = carom_allocate_phase(mem, keep, sys, table(opt));
    w->P.gates = true;
    w->kept = carom_allocate(keep, KEPT);
    w->reacted = carom_allocate(keep, (size_t)sys->nc);
    w->lasting = carom_allocate_bytes(mem, (size_t)sys->nc * sizeof *w->lasting);
    w->longest = w->begun = 0;
    w->across = -HUGE_VAL;
    carom_midpoint_allocate(&w->midpoint, mem, sys);
}

// What time can resolve.
static double shortest(const carom_step *s) { return CAROM_ROUNDING * (fabs(s->t) + s->h); }

// (MX-7)  delta = C h (h/T)^p
static double bracket_length(const carom_phase *w, const carom_step *s) {
    return fmax(fmin(s->opt[OPT_BRACKET] * s->h * carom_phase_relative(w, s), s->h / 16), shortest(s));
}

// The part ends at t, in w->a, without event.
static carom_status end_part(carom_phase *w, carom_step *s, double t, carom_kinked_parts *p) {
    p->kinked = false;
    carom_phase_near(w, s, &w->a);
    carom_phase_end(w, s, t);
    return carom_phase_project(w, s, bracket_length(w, s));
}

// From the start of the phase to t_1, or across the first event, or over a part of that.
//
// (MX-18)  A part knows nothing of forces that last shorter than it.  So parts are short against the time from and to a
//          kink of forces in the same step, or between two of them, and shorter where stages are beyond a kink that the
//          end is not beyond, or far beyond one that the end has just come to.
static carom_status phase(carom_phase *w, carom_step *s, double t_1, carom_kinked_parts *p, bool *found) {
    const double left = t_1 - w->t, h = carom_kinked_part(s, p, w->t, left);
    bool met;
    w->tol = carom_phase_relative(w, s);
    CAROM_TRY(carom_phase_start(w, s, h));
    if (carom_kinked_passing(w, p)) return CAROM_OK;
    CAROM_TRY(carom_phase_advance(w, s, h, NULL));
    CAROM_TRY(carom_phase_divide_hidden(w, s, p, &met));
    if (met) return CAROM_OK;
    CAROM_TRY(carom_phase_stages_kink(w, s, 0, &met));
    CAROM_TRY(carom_phase_look(w, s, found));
    if (!*found && carom_kinked_divide(s, h, false, met, p)) return CAROM_OK;
    if (!*found) return end_part(w, s, h < left ? w->t + h : t_1, p);
    bool kink = carom_phase_meets_kink(w, s);
    // the last stage counts for more than the interval that it is beyond a kink
    double delta = kink ? shortest(s) : bracket_length(w, s);
    CAROM_TRY(carom_phase_enclose(w, s, delta));
    if (!kink && carom_phase_jump(w, s)) { // what was beyond it made the event
        kink = true, delta = shortest(s);
        CAROM_TRY(carom_phase_enclose(w, s, delta));
    }
    if (w->strays && w->a.tau > shortest(s)) {
        *found = false;
        return end_part(w, s, w->t + w->a.tau, p);
    }
    if (kink) {
        CAROM_TRY(w->integrator->at(w, s, w->a.tau, &w->trial));
        CAROM_TRY(carom_phase_stages_kink(w, s, CAROM_PHASE_FAR, &met));
        CAROM_TRY(carom_phase_begins_at_kink(w, s, found));
        *found = *found || !carom_kinked_divide(s, w->b.tau, true, met, p);
        if (!*found) return CAROM_OK;
    }
    p->cap = HUGE_VAL;
    p->kinked = false;
    carom_phase_near(w, s, &w->b);
    CAROM_TRY(carom_phase_event(w, s, delta));
    if (kink) carom_kinked_begin(p, w->t);
    return CAROM_OK;
}

// last: as of carom_kinked_parts.  An event that follows another within `soon` is no progress.  *stands: it fails
// because time does not go on.
// lasting: contacts that have lasted until the first step of a phase.
static carom_status march(carom_phase *w, carom_step *s, const bool *lasting, double *last, double soon, bool *stands) {
    const double t_1 = s->t + s->h;
    carom_phase_load(w, s);
    bool changes;
    CAROM_TRY(carom_phase_enter(w, s, s->h, &changes));
    if (changes) CAROM_TRY(carom_phase_settle(w, s, bracket_length(w, s), lasting));
    int events = 0, still = 0, switches = 0, idle = 0;
    carom_kinked_parts p = {.cap = HUGE_VAL, .last = last};
    while (t_1 - w->t > shortest(s)) {
        const double before = w->t;
        bool found = false;
        CAROM_TRY(phase(w, s, t_1, &p, &found));
        if (!found) continue;
        if (s->inside->on_substep) CAROM_TRY(carom_substep_done(s, w->t, w->q, w->v));
        still = w->t - before > fmax(fmax(8 * shortest(s), 2 * bracket_length(w, s)), soon) ? 0 : still + 1;
        switches += w->switched;
        idle = carom_phase_unchanged(w, s) ? idle + 1 : 0;
        // a point in a groove goes from side to side for ever
        *stands = still > STANDSTILL || switches > STANDSTILL || idle > CAROM_PHASE_UNCHANGED;
        if (*stands)
            return carom_retry(s, "%d events up to t = %.12g and no progress: contacts there contradict each other",
                               idle > CAROM_PHASE_UNCHANGED ? idle
                               : still > switches           ? still
                                                            : switches,
                               w->t);
        CAROM_TRY(carom_limit_parts(s, 1, 4 * fmax(s->opt[OPT_EVENTS], options[OPT_EVENTS].fallback)));
        if (++events > s->opt[OPT_EVENTS])
            return carom_retry(s, "more than %g events in one step; a smaller step or most-events= may help",
                               s->opt[OPT_EVENTS]);
    }
    CAROM_TRY(carom_flow_finish(&w->f, s, t_1, w->q, w->v, false, true));
    carom_copy(s->q, w->q, s->sys->nq);
    carom_copy(s->v, w->v, s->sys->nv);
    carom_phase_keep(w, s);
    return CAROM_OK;
}

static carom_status power(carom_step *s, double t, double weight) {
    double in, out;
    CAROM_TRY(carom_power(s, t, s->q, s->v, &in, &out));
    s->record.account.external += weight * in;
    s->record.account.damping += weight * out;
    return CAROM_OK;
}

// (MX-16)  this step by (MID-1) to (MID-7); the next one begins as the first of the run does.
static carom_status cross(work *w, carom_step *s) {
    carom_phase_load(&w->P, s);
    CAROM_TRY(power(s, s->t, 0.5 * s->h));
    CAROM_TRY(carom_midpoint_step(&w->midpoint, s, false));
    const carom_status powers = power(s, s->t + s->h, 0.5 * s->h);
    if (powers != CAROM_OK) { // a step that fails leaves the state as it was
        carom_copy(s->q, w->P.q, s->sys->nq);
        carom_copy(s->v, w->P.v, s->sys->nv);
        return powers;
    }
    carom_list_suffices(s, &(carom_way){w->P.q, w->P.v, s->q, s->v, s->h});
    s->counts->fallbacks += 1;
    w->P.now[CAROM_PHASE_BEGUN] = 0;
    carom_phase_keep(&w->P, s);
    for (int c = 0; c < s->sys->nc; ++c) w->reacted[c] = s->record.impulse[s->dir[s->sys->ne + c]] > 0 ? s->h : 0;
    return CAROM_OK;
}

// Where pieces fail again and again, whole steps are made by time-stepping: twice as many each time, half as many after
// steps that went well.
static void take_pause(double *kept) {
    if (kept[LEFT] > 0) kept[LEFT] -= 1;
    else if (kept[CROSSED] > 0) kept[LEFT] = kept[PAUSE] = fmin(2 * kept[PAUSE] + 1, PAUSE_MOST);
    else kept[PAUSE] = floor(0.5 * kept[PAUSE]);
    kept[CROSSED] = 0;
}

static carom_status step(void *memory, carom_step *s) {
    work *w = memory;
    double kept[KEPT];
    carom_copy(kept, w->kept, KEPT);
    w->longest = fmax(w->longest, s->h);
    const bool whole = s->h >= (1 - CAROM_INSTANT) * w->longest;
    if (whole) w->begun = s->t, w->across = -HUGE_VAL, take_pause(w->kept);
    const bool crosses = w->kept[LEFT] > 0 || (s->t < w->across && !whole);
    bool stands = false;
    w->P.stepped = carom_norm_max(w->reacted, s->sys->nc);
    for (int c = 0; c < s->sys->nc; ++c) w->lasting[c] = w->reacted[c] != 0;
    const carom_status status = carom_phase_leave(
        s, crosses ? cross(w, s) : march(&w->P, s, w->lasting, w->kept + KINK, SOON * w->longest, &stands));
    if (status == CAROM_OK && crosses) w->kept[CROSSED] += 1;
    if (status == CAROM_OK && !crosses) carom_zero(w->reacted, s->sys->nc);
    if (status != CAROM_OK) carom_copy(w->kept, kept, KEPT);
    // in the pieces that follow
    if (status == CAROM_RETRY && stands && s->h <= SHORT * w->longest) w->across = w->begun + w->longest;
    return status;
}

static bool recalls(const void *memory, const carom_step *s, int id) {
    const work *w = memory;
    return w->reacted[id - s->sys->ne] != 0 || carom_phase_recalls(&w->P, s, id);
}

static void forget(void *memory, carom_step *s, int id) {
    work *w = memory;
    w->reacted[id - s->sys->ne] = 0;
    carom_phase_forget(&w->P, s, id);
}

static int order_of(const double *opt) { return table(opt)->order; }

const carom_scheme carom_scheme_mixed = {
    .name = "mixed",
    .about = "Runge-Kutta of order 2 to 6 between events, each enclosed in O(h^(p+1)), and a Moreau step across them",
    .text =
        "Q_i = q + tau sum a_ij V_j,  V_i = v + tau sum a_ij K_j,  M K_i = f + W lambda_i,  W'K_i + kappa = 0 over "
        "joints,\n"
        "closed contacts and sticking tangents; q_1, v_1 with the weights b.\n"
        "A gap, a reaction, what friction has left or a slip velocity falls below zero: the instant is enclosed in\n"
        "delta = bracket h (h/T)^p;  v+ = v- + M^-1 W P with Newton's law; the contact laws on acceleration level "
        "decide\n"
        "which contacts stay closed; the rest of the step starts anew.  Rebounds below 2 |Gamma| delta close the "
        "contact; impacts of contacts that\n"
        "take turns end in the limit of their sequence once two predictions of it agree to (h/T)^p.\n\n"
        "Order p in positions and velocities, across impacts, take-off, stick and slip.  Joints and closed gaps are\n"
        "projected at every event and step end.  Explicit tables need steps short against the fastest oscillation; "
        "rk=radau\n"
        "is for stiff models, with a dense Newton matrix of (stages x velocities)^2.  A grazing contact costs the "
        "order\n"
        "there.  Slow where events are many.",
    .order = 4,
    .closes_while = true,
    .order_of = order_of,
    .promises = {.contacts = CAROM_POSITION_LEVEL,
                 .joints = CAROM_POSITION_LEVEL,
                 .joint_order = 4,
                 .impact_order = 4,
                 .limited_steps = true,
                 .gain = 1e-3,
                 .loss = 1e-3,
                 .slow_piles = true,
                 .no_piles = true},
    .emits_events = true,
    .exact = "bracket=0",
    .accounts_power = true,
    .options = options,
    .work_size = sizeof(work),
    .limitations = CAROM_NO_REST,
    .allocate = allocate,
    .step = step,
    .reset_contact = forget,
    .follows_features = true,
    .recalls = recalls,
};

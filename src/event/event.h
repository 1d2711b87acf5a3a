// event.h: the parts of the event-driven scheme.  Spec: docs/methods-event.md.
//
// The state of a smooth phase is y = (q, v, one witness per contact, three works); which contacts are closed, sliding
// and sticking is kept beside it.  Files: smooth.c accelerations and reactions of one phase; share.c reactions that are
// not unique; feature.c contacts that go from feature to feature; watch.c event functions;
// short.c one Runge-Kutta step for what is too short for a multistep method; cvode.c the multistep method; decide.c
// impacts and who stays.
#pragma once
#include "event/accumulate.h"
#include "event/scan.h"
#include <carom/event.h>
#include <math.h>
#include <stdbool.h>

/// Options, in the order of the scheme's list.
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

typedef struct event_head {
    double begun;
    double size_q, size_v; // largest positions and velocities met: they scale the absolute tolerances
} event_head;

static const double EVENT_YOUNG = 100; // times event_still_slip()
static const double EVENT_CUT = 1e-11; // pivots smaller than this, relatively, count as zero
static const double EVENT_SINGULAR = 1e-4; // pivots smaller than this: the position is nearly singular (EV-19), (EV-20)

enum { WORK_FRICTION, WORK_EXTERNAL, WORK_DAMPING, WORKS };

struct event_ode; // SUNDIALS' objects

typedef struct event_work {
    event_head *kept_head, head;   // kept; of the step under way
    double *kept, *now;            // the same, of f: modes, directions of slip; live: no start from rest that is still too slow to have a direction of its own
    carom_flow f;                  // accelerations and reactions of the last system formed
    carom_accumulation runs;
    double *kept_choice, *choice;  // the same, by direction of all: reactions that the next ones are nearest to
    carom_status status;           // what a callback met
    double t;                      // where the step is
    double *y;                     // state: q, v, witnesses, works
    double *q, *v;                 // its parts
    int ny;
    double *atol;                  // ny
    double size_p;                 // size of impulses
    long events, steps;            // of this step
    struct event_ode *ode;

    // smooth.c
    double *span;                  // nv: size_q, to estimate rounding of gaps
    double *q_on, *v_on;           // a state put on the constraints
    double *b;                     // by unknown

    // share.c
    double pivot_least;            // of the last system of event_smooth(), relatively
    double *x_0, *N;               // those chosen, by unknown; what may be added to them
    int *order;

    // watch.c
    carom_local all;               // all constraints
    double *u_all, *kappa_all;     // by its directions
    double *g;                     // by id
    double *phi, *floor;           // 2 nc event functions, their rounding
    double *slack;                 // how far below zero each may be in this phase
    bool *armed;                   // it counts in this phase
    int *hit;                      // events found
    bool switched;                 // the one found is a change of features
    double *phi_a, *phi_b;         // for event_locate
    carom_scan scan;               // gaps inside a step
    double *offset;                // by contact: event function of an open one less its gap

    // short.c
    const carom_butcher *T;        // its table
    double t_0;                    // where its step begins; y is the state there
    double *k[7], *y_1, *y_2, *dq;

    // decide.c
    carom_local C;                 // contacts of an impact
    double *p, *u_minus, *u_plus;  // by its directions
    double *slow, *before, *after, *impulse; // by contact: speeds without restitution, normal velocities, normal impulses
    double *was, *left, *pull;     // by contact: mode before; normal velocity left by the impact; what pulls it back to the wall
    bool *in, *over;               // by contact: takes part; has accumulated
    double *q_1, *v_1, *lambda_0, *Gamma_0, *noise_0, *D_0; // look ahead
} event_work;

// -- smooth.c ------------------------------------------------------------------------------------------
/// Accelerations and reactions of a smooth phase; the same, with the contact laws on acceleration level.
carom_status event_smooth(event_work *w, carom_step *s, double t, const double *q, const double *v);
carom_status event_law(event_work *w, carom_step *s, double t, const double *q, const double *v);
/// At a nearly singular position: the time until it is left behind, at most until t_1, and what rounding leaves undetermined in
/// positions and velocities, relatively; 0 elsewhere, and where constraints are redundant everywhere.
carom_status event_crossing(event_work *w, carom_step *s, double t_1, double *time, double *blur);
/// y' = rhs(t, y)
carom_status event_rhs(event_work *w, carom_step *s, double t, const double *y, double *rate);
/// Positions, then velocities, on the constraints of the closed contacts, in place; p (NULL allowed): the impulses, by
/// direction of L.
carom_status event_project_position(event_work *w, carom_step *s, double t, double *q);
carom_status event_project_velocity(event_work *w, carom_step *s, double t, const double *q, double *v, double *p);

// -- share.c -------------------------------------------------------------------------------------------
/// Reactions of constraints that depend on each other: the nearest to the choice.
void event_share(event_work *w, carom_step *s);
/// Reactions that solve the laws of the system last formed, by direction of L, go as far inside the laws as they can.
void event_inside(event_work *w, carom_step *s, double *lambda);
/// The choice for the phase that begins.
carom_status event_choose(event_work *w, carom_step *s);

// -- feature.c -----------------------------------------------------------------------------------------
/// Asks the system to hold the features of contacts, where it has some.
carom_status event_hold(carom_step *s, carom_hold what, double t, const double *q);
/// Has a closed contact another feature at (t, q) than the one it is held on?
carom_status event_switched(event_work *w, carom_step *s, double t, const double *q, bool *yes);
/// Where that happened in (a, b]; b goes there, the state to y_2, and event functions are those of that place.
typedef carom_status (*event_state)(event_work *w, carom_step *s, double t, double *y); // the state at t
carom_status event_locate_switch(event_work *w, carom_step *s, double a, double *b, event_state at);

// -- watch.c -------------------------------------------------------------------------------------------
/// Event functions at a state: w->phi; an event is where one falls through zero.
carom_status event_watch(event_work *w, carom_step *s, double t, const double *y);
/// Which of them lie below zero, beyond rounding, although they may: hit[] is set, and the answer is whether any is.
bool event_below(event_work *w, const carom_step *s, int *hit);
/// The open contacts at a state with accelerations a, for the scan of a step.
carom_status event_sample(event_work *w, carom_step *s, double t, const double *y, const double *a, carom_sample *P);
/// Start of a phase: what is armed; contacts that hit at once; time to the next impact by a parabola, and its height.
carom_status event_begin(event_work *w, carom_step *s, bool *at_once, double *T, double *height, int *who);

// -- short.c -------------------------------------------------------------------------------------------
/// One Runge-Kutta step to t_1 or the first event, when that is accurate: *done.  *found: an event, in hit[].
/// blur > 0: over a singular position.
carom_status event_short(event_work *w, carom_step *s, double t_1, double blur, double T, double height, int who, bool *done,
                         bool *found);
/// carom_ahead, by one such step.
carom_status event_ahead(void *work, carom_step *s, double tau, const bool *without, double *q, double *v, bool *clear);
/// First event in (a, b], where none is below zero at a and some are at b: its time and state go to w, its functions to
/// hit[].  at(w, s, t, y) gives the state at t.
carom_status event_locate(event_work *w, carom_step *s, double a, double b, event_state at);

// -- cvode.c -------------------------------------------------------------------------------------------
carom_status event_ode_create(event_work *w, carom_step *s);
void event_ode_destroy(event_work *w);
/// To t_1 or the first event; no internal step is longer than longest (0: no limit).
carom_status event_ode_run(event_work *w, carom_step *s, double t_1, double longest, bool *found);

// -- decide.c ------------------------------------------------------------------------------------------
/// Is the limit of a run of impacts known that begins here?  Then there: *found, and its contacts are in hit[].
carom_status event_limit(event_work *w, carom_step *s, bool *found);
/// What happens at the events in hit[].
carom_status event_resolve(event_work *w, carom_step *s, bool first);
/// Positions grow while a phase lasts, and with them the rounding of gaps.
static inline void event_grow(event_work *w, const carom_step *s) {
    w->head.size_q = fmax(w->head.size_q, carom_norm_max(w->q, s->sys->nq));
    for (int i = 0; i < s->sys->nv; ++i) w->span[i] = w->head.size_q;
}
/// Local velocity in direction k of L that counts as none.  The scale of normal velocities is what impacts have shown, before the
/// first that of all velocities; slip may be fast where impacts are slight.
static inline double event_tiny(const carom_step *s, double speed) {
    return fmax(s->opt[OPT_VELOCITY], 10 * s->opt[OPT_RTOL]) * speed; // after some steps a velocity is not known better
}
/// Slip along more than one tangent that began from rest and is still too slow.
static inline bool event_young(const event_work *w, int contact, int tangents) { return tangents > 1 && w->f.live[contact] == 0; }
static inline double event_any(const event_work *w, const carom_local *L, int k) {
    return carom_local_reach(L, k, w->span) * w->head.size_v / w->head.size_q;
}
static inline double event_still(const event_work *w, const carom_step *s, const carom_local *L, int k) {
    return event_tiny(s, *s->speed > 0 ? *s->speed : event_any(w, L, k));
}
static inline double event_still_slip(const event_work *w, const carom_step *s, const carom_local *L, int k) {
    return event_tiny(s, fmax(*s->speed, event_any(w, L, k)));
}

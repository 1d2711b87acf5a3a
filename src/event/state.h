// state.h: what a phase of smooth motion is, for the files of the engine (phase.h).
#pragma once
#include "event/accumulate.h"
#include "event/scan.h"
#include <math.h>

/// A state tau after the start of the phase.
typedef struct carom_event_point {
    double tau;
    double *q, *v, *g;  // g by id
    double *u;          // nc: normal velocities
    double *phi;        // 2 nc + nk: event functions, negative beyond the event: gap or reaction of each contact,
                        // friction of each, kinks of forces and gaps
    double *kink;       // nc: negative where a closed contact has switched features, or approaches as no force
                        // explains; else 0
    carom_account work; // done since the start of the phase
} carom_event_point;

struct carom_phase;

/// How a phase is carried on.  States go to q, v, tau and work of a point.
typedef struct carom_integrator {
    /// The phase starts at (w->t, w->q, w->v); no step is longer than h.
    carom_status (*reset)(struct carom_phase *w, carom_step *s, double h);
    /// One step from w->from, to tau at most.  error (NULL: not wanted): nq + nv estimates, where the integrator does
    /// not control them itself.
    carom_status (*advance)(struct carom_phase *w, carom_step *s, double tau, carom_event_point *P, double *error);
    /// The state at tau within the last step.
    carom_status (*at)(struct carom_phase *w, carom_step *s, double tau, carom_event_point *P);
    /// Before, and for, a cheap look at the last step, to P: w->scan.q, v, a, and doubt, the error that these may have.
    carom_status (*look)(struct carom_phase *w, carom_step *s, const carom_event_point *P);
    carom_status (*path)(struct carom_phase *w, carom_step *s, double tau);
    /// What else is known of event function j of a closed contact in the last step: *low and *high are widened.
    void (*range)(const struct carom_phase *w, int j, double *low, double *high);
    /// Velocity number i of those that are known inside the last step; NULL: no more.  Without this nothing is known
    /// there.
    const double *(*velocity)(const struct carom_phase *w, int i);
} carom_integrator;

/// What counts as none.
typedef struct carom_limits {
    bool exact;      // events are located to rounding; else in an interval, which says what speeds count as none
                     // (MX-11)
    double decide;   // accelerations and reactions, relative to their terms
    double velocity; // exact: local velocities, relative to the largest of the run
    double gap, gap_first; // exact: gaps that take part in an impact, relative to positions; at the start and where
                           // features switch
    double time;     // changes of features, relative to size_q/size_v; exact: flights of a single contact
    double kink;     // approach of a closed contact, relative to its velocities
    double events;   // exact: in one step, after which long runs end sooner
} carom_limits;
/// Chosen: above rounding, below the tolerances of schemes that enclose events.
#define CAROM_LIMITS_ENCLOSED {.decide = 1e-8, .time = 1e-10, .kink = 1e-6, .events = HUGE_VAL}

/// A tube around the motion, tube.c.
typedef struct carom_tube {
    double *now;
    size_t size; // 0: there is none
    int room;    // contacts that there is room for
    double *kept, *kept_clear, *kept_most; // what now[] has, kept
} carom_tube;

/// Forces inside a step, hidden.c.
enum { CAROM_HIDDEN_DEPTH = 40 };
typedef struct carom_hidden_sample { double tau, *q, *v, *a, *f; } carom_hidden_sample;
typedef struct carom_hidden {
    carom_hidden_sample left, right[CAROM_HIDDEN_DEPTH];
    double *mid, *slope, *off, *v_off;  // nv: bounds of forces between two samples; how far velocities are off straight
                                        // lines there
    double *low, *high, *none;          // nv: what the first samples span; forces that count as none
} carom_hidden;

typedef struct carom_phase {
    carom_flow f;
    const carom_integrator *integrator;
    void *memory;                  // the integrator's
    carom_limits limits;
    carom_local all, C;            // all constraints; those of an event
    carom_scan scan;
    carom_tube tube;
    carom_hidden hidden;
    double longest;                // no step of the phase is longer
    bool bare;                     // the scan has no sample at the start of the step
    double nudge;                  // (SC-6)
    bool margins, crossed;         // the scan watches closed contacts (SC-9); one of their functions is negative
                                   // somewhere in the last step or its extrapolation
    double *now;                   // CAROM_PHASE_HEAD numbers and what the flow keeps: state of the contacts, of this
                                   // step
    size_t size;                   // of that
    double *kept, *kept_flow[CAROM_FLOW_KEPT]; // the same, kept
    size_t kept_size[CAROM_FLOW_KEPT];
    carom_accumulation runs;
    double tol;                    // error allowed in the limit of a run, relative to its velocities and length
    double t, *q, *v;              // start of the phase
    carom_event_point from, a, b, trial, aside; // from: start of the step; a before, b beyond an event
    double *tol_g;                 // nc: rounding of gaps
    double *offset;                // nc: event function of an open contact less its gap
    int nphi;                      // event functions: 2 nc, and those where forces have kinks
    double *sign;                  // nk: of the latter at the start of the phase; 0: it rests there
    double *beyond;                // nk: how far the phase began beyond it, by rounding
    double *floor;                 // nphi: rounding of the event functions measured last
    bool *armed;                   // 2 nc: the function counts in this phase
    bool *barred;                  // nc: open, and not to close in this phase (EV-24)
    double *scale;
    bool laws;                     // Runge-Kutta stages follow the contact laws: for schemes that do not locate the
                                   // ends of contact
    bool walls;                    // contacts are put on the wall
    bool gates;                    // those that may not close are barred (EV-24), else the simulation hides them
    double none;                   // normal velocities after an impact that count as none whatever else says so
    double tried;                  // length of the last step that was tried: to it belong the stages of f
    bool ended;                    // the last event was the limit of a run: the phase starts there
    long events;                   // of this step

    // an event
    double *q_before, *v_before, *phase_before; // for observers
    double *q_held;                // where it was decided, with the features of this position
    bool *hit;                     // 2 nc: its functions
    bool passing;                  // the phase began at a jump of forces that it had not quite passed
    bool strays;                   // stages alone are beyond the event enclosed last, a jump of forces (MX-26)
    bool bent;                     // the last event was a kink of forces alone
    bool switched;                 // a closed contact has switched features, or its direction jumps
    bool *in, *over;               // nc: takes part; its run has accumulated
    double *gap, *slow, *slow_T;   // nc: least gap seen; normal velocities and slips that count as none
    double passed;                 // features have changed: this is how well the time is known (EV-37); else 0
    double stepped;                // length of the time step before, after which some contacts last (EV-41); else 0
    double *over_to;               // nc: normal velocities that this leaves to contacts that take over
    double *span;                  // nv: size_q, in the unit of each
    double *was, *before, *after, *p, *left, *pull; // nc: mode before; normal velocities, normal impulses; velocity
                                                    // left, time of the rest of a run
    double *kappa, *u_minus, *u_plus, *impulse;     // by direction
    double *lambda_0, *Gamma_0, *noise_0, *D_0, *q_1, *v_1; // look ahead
} carom_phase;

enum {
    CAROM_PHASE_BEGUN,
    CAROM_PHASE_START,
    CAROM_PHASE_SIZE_Q,
    CAROM_PHASE_SIZE_V,
    CAROM_PHASE_SPEED,
    CAROM_PHASE_SIZE_A,
    CAROM_PHASE_STRUCK,
    CAROM_PHASE_HEAD
}; // now[...]; STRUCK: the fastest approach that ended in an impact

static inline bool carom_phase_open(const carom_phase *w, int c) { return w->f.mode[c] == CAROM_MODE_OPEN; }
static inline double carom_phase_time(const carom_phase *w) {
    return w->now[CAROM_PHASE_SIZE_Q] / w->now[CAROM_PHASE_SIZE_V];
}

/// exact: slip along direction k of L that counts as none.  The scale of normal velocities is what impacts have shown,
/// before the first that of all velocities; slip may be fast where impacts are slight.  Impacts may be ever so slight
/// (a table that begins to throw what rests on it): below CAROM_PHASE_SLIGHT of all velocities they are no scale.
#define CAROM_PHASE_SLIGHT 1e-2
static inline double carom_phase_still(const carom_phase *w, const carom_step *s, const carom_local *L, int k,
                                       bool slip) {
    const double any = carom_local_magnitude(L, k, w->span) / carom_phase_time(w), speed = s->scale;
    return w->limits.velocity * (slip ? fmax(speed, any) : speed > 0 ? fmax(speed, CAROM_PHASE_SLIGHT * any) : any);
}
/// Slip along more than one tangent that began from rest and is still too slow to have a direction of its own.
static inline bool carom_phase_young(const carom_phase *w, int c, int tangents) {
    return w->f.follows && tangents > 1 && w->f.live[c] == 0;
}
/// (EV-32)  A slip has its own direction from  |u_T| = max(100 eps_u, 1e-6 T |W_T'(a - a_f)|)  on, T the length of the
///          run:
/// reactions turn a slip at the rate |W_T'(a - a_f)|/|u_T|, and whoever follows that makes a million steps at most.
/// b: block of w->f.L, at the place last asked.
double carom_phase_own_direction(const carom_phase *w, const carom_step *s, int b);
/// Part of carom_phase_still() from which on an approach is one, for contacts that stand at the wall: impacts there end
/// in that speed.
#define CAROM_PHASE_LITTLE 1e-3
/// (EV-11)  delta over limits.decide size_q/size_v: where the laws are asked that do not decide now.
#define CAROM_PHASE_MOMENT 10

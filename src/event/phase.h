// phase.h: the engine of schemes that locate events: phases of smooth motion from event to event.
//
// A phase starts at (t, q, v) with a mode for every contact (flow.h).  An integrator carries it on; the engine watches event functions,
// finds the first event in each step of the integrator, encloses it in an interval, and says what happens there: impact, which contacts stay, stick, slide
// or leave, how contacts that depend on each other share, where runs of impacts end.  How long steps are and how narrow intervals, is the
// scheme's business.  Spec: docs/methods-mixed.md, docs/methods-event.md.
//
// Files: phase.c steps, event functions and location; decide.c what happens at an event; feature.c contacts that switch features;
// flow*.c accelerations, projections, impacts, Runge-Kutta stages; share.c reactions that are not unique; scan.c gaps inside a step; tube.c which of them can be left out; margin.c closed contacts there;
// accumulate.c runs of impacts and their limits; cvode.c the integrator that needs SUNDIALS.
#pragma once
#include "event/accumulate.h"
#include "event/scan.h"

/// A state tau after the start of the phase.
typedef struct carom_point {
    double tau;
    double *q, *v, *g;  // g by id
    double *u;          // nc: normal velocities
    double *phi;        // 2 nc + nk: event functions, negative beyond the event: gap or reaction of each contact, friction of each, kinks of forces and gaps
    double *kink;       // nc: negative where a closed contact has switched features, or approaches as no force explains; else 0
    carom_account work; // done since the start of the phase
} carom_point;

struct carom_phase;

/// How a phase is carried on.  States go to q, v, tau and work of a point.
typedef struct carom_integrator {
    /// The phase starts at (w->t, w->q, w->v); no step is longer than h.
    carom_status (*reset)(struct carom_phase *w, carom_step *s, double h);
    /// One step from w->from, to tau at most.  error (NULL: not wanted): nq + nv estimates, where the integrator does not control them itself.
    carom_status (*advance)(struct carom_phase *w, carom_step *s, double tau, carom_point *P, double *error);
    /// The state at tau within the last step.
    carom_status (*at)(struct carom_phase *w, carom_step *s, double tau, carom_point *P);
    /// Before, and for, a cheap look at the last step, to P: w->scan.q, v, a, and doubt, the error that these may have.
    carom_status (*look)(struct carom_phase *w, carom_step *s, const carom_point *P);
    carom_status (*path)(struct carom_phase *w, carom_step *s, double tau);
    /// What else is known of event function j of a closed contact in the last step: *low and *high are widened.
    void (*range)(const struct carom_phase *w, int j, double *low, double *high);
    /// Velocity number i of those that are known inside the last step; NULL: no more.  Without this nothing is known there.
    const double *(*velocity)(const struct carom_phase *w, int i);
} carom_integrator;

extern const carom_integrator carom_integrator_rk; // Runge-Kutta, explicit or implicit, by the table w->f.T: steps start at the start of the phase

/// What counts as none.
typedef struct carom_limits {
    bool exact;      // events are located to rounding; else in an interval, which says what speeds count as none (MX-11)
    double decide;   // accelerations and reactions, relative to their terms
    double velocity; // exact: local velocities, relative to the largest of the run
    double gap, gap_first; // exact: gaps that take part in an impact, relative to positions; at the start and where features switch
    double time;     // exact: flights of a single contact, relative to size_q/size_v; changes of features
    double kink;     // approach of a closed contact, relative to its velocities
    double events;   // exact: in one step, after which long runs end sooner
} carom_limits;
#define CAROM_LIMITS_ENCLOSED {.decide = 1e-8, .kink = 1e-6, .events = HUGE_VAL}

/// A tube around the motion, tube.c.
typedef struct carom_tube {
    double *kept, *now;
    size_t size; // 0: the system has no bounds, and there is none
} carom_tube;

typedef struct carom_phase {
    carom_flow f;
    const carom_integrator *integrator;
    void *memory;                  // the integrator's
    carom_limits limits;
    carom_local all, C;            // all constraints; those of an event
    carom_scan scan;
    carom_tube tube;
    double longest;                // no step of the phase is longer
    bool bare;                     // the scan has no sample at the start of the step
    double nudge;                  // (SC-6)
    bool margins, crossed;         // the scan watches closed contacts (SC-9); one of their functions is negative somewhere in the last step or its extrapolation
    double *kept, *now;            // CAROM_PHASE_HEAD numbers and what the flow keeps: state of the contacts, kept and of this step
    size_t size;                   // of that
    carom_accumulation runs;
    double tol;                    // error allowed in the limit of a run, relative to its velocities and length
    double t, *q, *v;              // start of the phase
    carom_point from, a, b, trial, aside; // from: start of the step; a before, b beyond an event
    double *tol_g;                 // nc: rounding of gaps
    double *offset;                // nc: event function of an open contact less its gap
    int nphi;                      // event functions: 2 nc, and those where forces have kinks
    double *sign;                  // nk: of the latter at the start of the phase
    double *floor;                 // nphi: rounding of the event functions measured last
    bool *armed;                   // 2 nc: the function counts in this phase
    bool *barred;                  // nc: open, and not to close in this phase (EV-24)
    double *scale;
    bool laws;                     // Runge-Kutta stages follow the contact laws: for schemes that do not locate the ends of contact
    bool walls;                    // contacts are put on the wall
    double none;                   // normal velocities after an impact that count as none whatever else says so
    double tried;                  // length of the last step that was tried: to it belong the stages of f
    bool ended;                    // the last event was the limit of a run: the phase starts there
    long events;                   // of this step

    // an event
    double *q_before, *v_before, *phase_before; // for observers
    bool *hit;                     // 2 nc: its functions
    bool bent;                     // the last event was a kink of forces alone
    bool switched;                 // a closed contact has switched features, or its direction jumps
    bool *in, *over;               // nc: takes part; its run has accumulated
    double *gap, *slow, *slow_T;   // nc: least gap seen; normal velocities and slips that count as none
    double *span;                  // nv: size_q
    double *was, *before, *after, *p, *left, *pull; // nc: mode before; normal velocities, normal impulses; velocity left, time of the rest of a run
    double *kappa, *u_minus, *u_plus, *impulse;     // by direction
    double *lambda_0, *Gamma_0, *noise_0, *D_0, *q_1, *v_1; // look ahead
} carom_phase;

enum { CAROM_PHASE_BEGUN, CAROM_PHASE_START, CAROM_PHASE_SIZE_Q, CAROM_PHASE_SIZE_V, CAROM_PHASE_SPEED, CAROM_PHASE_SIZE_A, CAROM_PHASE_HEAD }; // now[...]

carom_phase carom_allocate_phase(carom_arena *mem, carom_arena *keep, const carom_system *sys, const carom_butcher *T);

/// Modes as kept; the start of the phase at (s->t, s->q, s->v).
void carom_phase_load(carom_phase *w, carom_step *s);
void carom_phase_keep(carom_phase *w, const carom_step *s);

static inline bool carom_phase_open(const carom_phase *w, int c) { return w->f.mode[c] == CAROM_MODE_OPEN; }

/// The very first phase, for steps of h: all contacts open, sizes known.
carom_status carom_phase_begin(carom_phase *w, carom_step *s, double h);
/// The start of a step: the same where it is the first; a phase with contacts as they are where forces have jumped.  *changes: one of the two, and
/// carom_phase_settle() is wanted.
carom_status carom_phase_enter(carom_phase *w, carom_step *s, double h, bool *changes);

/// Then: which contacts are closed from the beginning.  lasting[c] (NULL: none): known to be so although the gap is not quite zero.
carom_status carom_phase_settle(carom_phase *w, carom_step *s, double delta, const bool *lasting);

/// Before steps are tried; none is longer than h.  exact: then the scheme says what is armed and what is added to gaps, and arms.
carom_status carom_phase_start(carom_phase *w, carom_step *s, double h);
carom_status carom_phase_arm(carom_phase *w, carom_step *s);

/// Gaps, rates and event functions at a point.
carom_status carom_phase_watch(carom_phase *w, carom_step *s, carom_point *P);

/// One step of the integrator, to tau at most, into w->b, with its event functions.
carom_status carom_phase_advance(carom_phase *w, carom_step *s, double tau, double *error);

/// The state after tau, its event functions, the work on the way; error (NULL: not wanted): nq + nv estimates.  By Runge-Kutta.
carom_status carom_phase_try(carom_phase *w, carom_step *s, double tau, carom_point *P, double *error);

/// After a step without event, for integrators that go on from its end.
void carom_phase_next(carom_phase *w);
/// Positions grow while a phase lasts, and with them the rounding of gaps.
void carom_phase_grow(carom_phase *w, const carom_step *s, const double *q);

/// Is there an event inside the step to w->b?  *found: then w->b lies beyond the first one; else w->a is the end of the step.
carom_status carom_phase_look(carom_phase *w, carom_step *s, bool *found);

/// Does an open contact touch and leave again inside the step to w->b?  *found: then w->b is where it is closed.
carom_status carom_phase_look_inside(carom_phase *w, carom_step *s, bool *found);

/// Is w->b beyond a kink of forces?  Is a stage of the Runge-Kutta step just made, by more than that part of the way to it?
bool carom_phase_kink(const carom_phase *w, const carom_step *s);
carom_status carom_phase_stages_kink(carom_phase *w, carom_step *s, double part, bool *met);
#define CAROM_PHASE_FINE 16 // steps, at least, between two kinks of forces that one step would pass over (EV-25)
#define CAROM_PHASE_FAR 0.1 // of the way to a kink: stages beyond it by more know too much of what is there

/// How a step is divided where forces have kinks (MX-18).
typedef struct carom_kinked_parts {
    double cap;      // no part is longer; HUGE_VAL: any
    bool kinked;     // the part begins at a kink
    double *last;    // kept: [0] 1, if the run has met a kink; [1] when it met the last one
} carom_kinked_parts;
/// A part from t on, `left` at most.
double carom_kinked_part(const carom_step *s, const carom_kinked_parts *p, double t, double left);
/// The part ends at t, at a kink.
void carom_kinked_begin(carom_kinked_parts *p, double t);
/// A part over tau, to a kink (which a stage may have met), or without one: is a shorter part to be tried?  Then p->cap is its length.
bool carom_kinked_divide(const carom_step *s, double tau, bool kink, bool met, carom_kinked_parts *p);

/// w->b lies beyond an event.  Then w->a before it, w->b beyond, b - a <= delta, or the event functions at b are rounding.
carom_status carom_phase_enclose(carom_phase *w, carom_step *s, double delta);

/// Across the event between w->a and w->b: impact, which contacts stay; the next phase starts behind it, or behind the limit of a run of impacts.
carom_status carom_phase_event(carom_phase *w, carom_step *s, double delta);

/// Is all as it was before the event just passed: contacts that share a load, one of which loses it and has it again?
bool carom_phase_idle(const carom_phase *w, const carom_step *s);
enum { CAROM_PHASE_IDLE = 200 }; // such events in a row before a step is refused

/// At P, where open contacts w->hit[c] arrive.
carom_status carom_phase_impact(carom_phase *w, carom_step *s, const carom_point *P);

/// Without event: the next phase starts at w->a; project: put on its constraints.
carom_status carom_phase_end(carom_phase *w, carom_step *s, double t, bool project);

static inline double carom_phase_time(const carom_phase *w) { return w->now[CAROM_PHASE_SIZE_Q] / w->now[CAROM_PHASE_SIZE_V]; }

void carom_phase_book(carom_step *s, const carom_account *work);

// -- decide.c
/// What happens at (w->t, w->q, w->v), at the functions in w->hit; the gaps seen are in w->gap.  dt: the interval that is left to pass.
carom_status carom_phase_resolve(carom_phase *w, carom_step *s, double delta, double dt, bool first, const bool *lasting);
/// The last part of it: which of the contacts w->in stay, stick and slide; w->slow and w->slow_T are velocities that count as none.  Modes are set.
carom_status carom_phase_sort(carom_phase *w, carom_step *s);
/// exact: slip along direction k of L that counts as none.  The scale of normal velocities is what impacts have shown, before the first that of
/// all velocities; slip may be fast where impacts are slight.
double carom_phase_still(const carom_phase *w, const carom_step *s, const carom_local *L, int k, bool slip);
/// Slip along more than one tangent that began from rest and is still too slow to have a direction of its own.
static inline bool carom_phase_young(const carom_phase *w, int c, int tangents) { return w->f.follows && tangents > 1 && w->f.live[c] == 0; }
static const double CAROM_PHASE_YOUNG = 100; // times carom_phase_still()
/// Part of carom_phase_still() from which on an approach is one, for contacts that stand at the wall: impacts there end in that speed.
#define CAROM_PHASE_LITTLE 1e-3
/// (EV-11)  delta over limits.decide size_q/size_v: where the laws are asked that do not decide now.
#define CAROM_PHASE_MOMENT 10

// -- change.c
/// For observers: the state before an event, whose smooth motion ended at t_before; then what happened there.
void carom_phase_remember(carom_phase *w, const carom_step *s);
carom_status carom_phase_emit(carom_phase *w, carom_step *s, double t_before, bool limit);
/// The smooth motion of a phase (carom_change) from t_0 to t_1, forwards or backwards, whatever its event functions do: q and v become those at t_1.
/// By Dormand and Prince's method, the table of w->f, with error control; error: room for nq + nv.
carom_status carom_phase_flow(carom_phase *w, carom_step *s, const double *phase, double t_0, double t_1, double rtol, double *q, double *v, double *error);

// -- feature.c
/// Asks the system to hold the features of contacts, where it has some.
carom_status carom_phase_hold(carom_step *s, carom_hold what, double t, const double *q);

/// At the end of a step with this status: no feature is held any more, so that between steps the system shows all.  The status of both.
carom_status carom_phase_leave(carom_step *s, carom_status status);
/// Which closed contacts have another feature at P than the one they are held on; the system f formed last is that of P.
carom_status carom_phase_switches(carom_phase *w, carom_step *s, double t, carom_point *P);

// -- margin.c
/// Which event functions of closed contacts may have a minimum below zero inside the step to w->b, w->margins: the scan watches them.  wanted false: none.
void carom_phase_margins(carom_phase *w, const carom_step *s, bool wanted);
/// Their samples at both ends of the step.
carom_status carom_phase_margin_ends(carom_phase *w, carom_step *s);
/// The same at P, inside the step, where event functions are known.
carom_status carom_phase_margin_sample(carom_phase *w, carom_step *s, const carom_point *P, carom_sample *S);

// -- tube.c
/// From the start of a phase on, around its motion: contacts that cannot close while velocities stay near those of its start.
carom_tube carom_allocate_tube(carom_arena *mem, carom_arena *keep, const carom_system *sys);
void carom_tube_load(carom_tube *z, const carom_step *s);
void carom_tube_keep(carom_tube *z);
/// The motion is another one now.
void carom_tube_leave(carom_tube *z);
/// At the start of a phase with steps up to w->longest: a tube, where there is none any more.  *needless: no contact that the scan watches can close in a step that stays in it.
carom_status carom_tube_enter(carom_phase *w, carom_step *s, bool *needless);
/// Did the step to w->b stay in it?  Then contact c did not close if it is clear.
bool carom_tube_holds(const carom_phase *w, const carom_step *s);
bool carom_tube_clear(const carom_phase *w, const carom_step *s, int c);

// -- singular.c
/// At a nearly singular position: the time until it is left behind, at most `left`, and what rounding leaves undetermined in positions and
/// velocities, relatively; 0 elsewhere, and where constraints are redundant everywhere.  The system f formed last is that of the start.
carom_status carom_phase_crossing(carom_phase *w, carom_step *s, double left, double *time, double *blur);

// scheme.h: interface for scheme authors: the step, its helper functions, and the scheme descriptor.
//
// A scheme is one small file that reads like its equations and ends in a const carom_scheme.  Its
// step() takes (q, v) from t to t + h with the functions below.  See docs/add-a-scheme.md.
#pragma once
#include <carom/option.h>
#include <carom/problem.h>
#include <carom/system.h>
#include <carom/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Work that contact reactions do in one step, for the ledger (J).
typedef struct carom_account {
    double impact;   // taken by normal impulses of contacts, and by bilateral ones in impacts
    double friction; // taken by tangential impulses and forces
    double external; // given by moving walls and driven joints
    double damping;  // taken by forces without potential; only from schemes that account it (`accounts_power` in
                     // their table)
    // Impulses of contacts, all of an impact together, split by sign.  Part of impact and friction above.
    double lost, created;
    double gain;     // largest energy that one impact created; 0: none
    long long gain_id;     // the contact that gave most of it
    double gain_t;   // when
} carom_account;

enum { CAROM_NEWTON_COUNTED = 60 };

/// Counters of the helper functions; the simulation adds them to the ledger.
typedef struct carom_counts {
    long problems, iterations, fallbacks; // contact problems
    double residual;                      // largest contact residual, velocity units
    long long residual_id;                // constraint it belongs to, -1: none
    long accepted;                        // steps with a contact problem that was accepted above tolerance (TOL-3)
    double accepted_residual;             // largest residual of these over the scale of its step
    long newton;                          // Newton iterations, all steps
    int newton_max;                       // most in one step
    double newton_max_t;
    long newton_many;                     // steps that needed more than 20
    long newton_steps[CAROM_NEWTON_COUNTED + 1]; // steps by their iterations; the last: that many and more
    int newton_median;                    // of them; in ledgers
    long switches;                        // changes of method on the way
    double violation, terms;              // of the scheme's energy balance: largest violation, largest sum of its terms
                                          // (J)
    long missed;                          // steps in which gaps change too fast to be followed
    long long missed_id;                  // constraint of the first one, and when
    double missed_t;
    long substeps, substeps_rejected;     // of schemes that divide their steps; attempts that were rejected
} carom_counts;

/// What a contact does between events.  STICK also: closed, without friction.
enum { CAROM_MODE_OPEN, CAROM_MODE_STICK, CAROM_MODE_SLIP };

/// What mainly happens where a scheme locates an event, the first of these that applies; contacts may do different
/// things, see their modes.
typedef enum carom_change_kind {
    CAROM_CHANGE_ACCUMULATION, // a run of impacts ends
    CAROM_CHANGE_IMPACT,       // velocities jump
    CAROM_CHANGE_CLOSE,        // without an impulse
    CAROM_CHANGE_OPEN,
    CAROM_CHANGE_STICK,
    CAROM_CHANGE_SLIP,
    CAROM_CHANGE_REVERSAL,     // slip continues in another direction
    CAROM_CHANGE_FEATURE,      // a closed contact has switched features
    CAROM_CHANGE_KINK,         // forces have a kink
    CAROM_CHANGE_NONE          // an event function fell below zero, and nothing changes
} carom_change_kind;

/// One event of a scheme that locates events, for observers.  The start of the run is one: t_before = t, all contacts
/// open before.
typedef struct carom_change {
    double t, t_before;                // when; and the end of the smooth motion before it: t less the interval that the
                                       // event was enclosed in
    carom_change_kind kind;
    const double *q_before, *v_before; // at t_before
    const double *q, *v;               // at t, where the next smooth motion starts
    const double *mode_before, *mode;  // nc: CAROM_MODE_...
    const double *phase_before, *phase; // the smooth motions: modes, then directions of slip
    size_t phase_size;                 // of each, numbers
    const bool *in;                    // nc: takes part
    const double *impulse;             // nc: normal impulses
    bool jumped;                       // time alone is the cause: forces may be others just before t
} carom_change;

typedef enum carom_side { CAROM_LEFT, CAROM_RIGHT } carom_side; // of a time at which velocities jump

/// Overflow guard for velocities; their energies are still finite.
#define CAROM_GROWN 1e100

/// What a step reports: reactions, their work and events.  The arrays are the simulation's.  Arrays over "recorded
/// directions" have, for every constraint id, its normal and all its tangential components from dir[id] on, active or
/// not.
typedef struct carom_step_record {
    double *impulse;       // recorded directions; zero on entry: impulse of this step not counted as force
    double *force;         // recorded directions; zero on entry: non-impulsive reaction at t + h
    double *nu;            // recorded directions, of schemes with a position level (`positions` in their table); zero
                           // on entry: its multipliers; else NULL
    double *u_before;      // directions of contacts: local velocity before an impulse (only where impulse is set)
    double *u_after;       // directions of contacts: local velocity after it, or where the force at the end acts
    double *lost;          // nc, saved with the state; zero on entry: part of account.impact that normal impulses of
                           // each contact took
    bool reacted;          // something was accounted in this step
    double t;              // time of the impulses that are accounted; t + h on entry
    carom_account account; // zero on entry
    carom_event *events;   // written by carom_emit_event
    int nevents, max_events;
    long substeps;         // inside this step, reported with carom_substep_done()
} carom_step_record;

/// One step.
typedef struct carom_step {
    const carom_system *sys;
    void *sys_work;
    double t, h;         // from t to t + h
    long n;              // number of the step, from 0
    bool renumbers;      // the number of a constraint may be that of another one in the next step: the contact list is
                         // dynamic, or redundant ones are chosen anew
    bool jumped;         // forces have jumped since the last step: an input or a controller has changed, or a time at
                         // which they jump has passed; values of them that were saved are out of date
    double *q, *v;       // in: state at t (right limits); out: state at t + h
    const double *opt;   // values of the scheme's options, in the order of its list
    double tol;          // contact residual allowed, relative to `scale`
    double newton_tol;   // Newton residual allowed, relative
    bool strict;         // a contact closes at g < 0 instead of g <= 0
    double *speed;       // largest local velocity met in this run (saved with the state); scales tol
    double scale;        // speed, and what the problems of this step make of it
    struct {
        double scale;    // of this step: largest |c| of its contact problems so far (TOL-1)
        double last, most; // residual of its last problem, if that was accepted above tolerance, else 0; largest of
                           // such
        double refused;  // `scale` when a problem rejected the step; 0: none did
    } contact;           // zero on entry
    const int *dir;      // ne + nc + 1: first recorded direction of each constraint
    const double *active; // nc, saved with the state: 1 if the contact was active in the last step, or is closed
                          // initially
    carom_step_record record;
    carom_counts *counts;

    struct carom_inside *inside; // of the simulation and the functions below (scheme/inside.h), not for schemes
    // The contact problem, and scratch.
    carom_matrix M;         // mass_shape
    carom_problem problem;
    carom_block *blocks;
    double *G, *c, *p, *u;  // storage of problem
    struct carom_impacts *impacts; // laws of impact (impact.c); NULL: all contacts follow Newton's at once, with
                                   // constant restitution
    carom_error *err;
} carom_step;

// -- helper functions of a step --------------------------------------------------------------------
// Each function is one line of a paper.  Outputs first.  Those that can fail return a status for CAROM_TRY.
// A step that fails leaves q, v and its kept memory as they were: compute into scratch, write at the end.
// (What it accounted is undone.)

/// q1 = q0 (+) h v.  q1 may be q0.
void carom_move(const carom_step *s, double *q1, const double *q0, double h, const double *v);

/// M(t, q) into M.
carom_status carom_mass(carom_step *s, carom_matrix M, double t, const double *q);

/// F = factor of M(t, q); a constant mass is factorised once.
carom_status carom_mass_factor(carom_step *s, carom_factor *F, double t, const double *q);

carom_status carom_force(carom_step *s, double *f, double t, const double *q, const double *v);

/// M(t, q), f(t, q, v) and, unless g is NULL, g(t, q): cheaper than one by one.
carom_status carom_motion(carom_step *s, carom_matrix M, double *f, double *g, double t, const double *q,
                          const double *v);

/// The same with F = factor of M; a constant mass is factorised once.
carom_status carom_motion_factor(carom_step *s, carom_factor *F, double *f, double *g, double t, const double *q,
                                 const double *v);

/// The same with a = M^-1 f instead of f.
carom_status carom_free_motion(carom_step *s, carom_factor *F, double *a, double *g, double t, const double *q,
                               const double *v);

/// The same as carom_motion_factor(), and carom_directions() of L if the system has them in one go (*found).
carom_status carom_motion_ahead(carom_step *s, carom_factor *F, double *f, double *g, carom_local *L, bool *found,
                                double t, const double *q, const double *v);

/// g[id], id = 0 .. ne+nc-1.
carom_status carom_gaps(carom_step *s, double *g, double t, const double *q);

/// Is a contact with this gap closed: g <= 0 (option closed: g < 0)?
static inline bool carom_closed(const carom_step *s, double g) { return s->strict ? g < 0 : g <= 0; }

/// Evaluation point for contact decisions: position, velocity and M^-1 f.
typedef struct carom_evaluation_point {
    double t;
    const double *q, *v;
    const carom_factor *F; // factor of M where f are forces; NULL: f is M^-1 f already
    const double *f;       // NULL: found when needed
    const double *active;  // nc: 1 for contacts that reacted just before; NULL: in the last step
    double drift;          // part of the motion of a step by which a contact that reacted may drift open; 0: only
                           // rounding
    double steps;          // number of steps by whose curvature it may drift open on a wall that moves (CL-7); 0: one
} carom_evaluation_point;

/// L's set: all bilateral constraints and the contacts that are closed at a point, g being the gaps there: by their
/// sign, and also when only rounding keeps them open, or when they reacted and do not leave (CL-3, CL-7).  Those gaps
/// become 0, so that carom_closed agrees.  With option closed=strict by their sign alone.  Directions that L
/// held are lost.
carom_status carom_close_at(carom_step *s, carom_local *L, double *g, carom_evaluation_point at);

/// L's set: all constraints of these kinds.
enum { CAROM_JOINTS = 1, CAROM_CONTACTS = 2 };
void carom_close_kinds(const carom_step *s, carom_local *L, unsigned kinds);

/// L's set: all joints, and the contacts c = 0 .. nc-1 with in[c].
void carom_close_these(const carom_step *s, carom_local *L, const bool *in);

/// The joints of L's set, with their rows: joints come first in every set.  The arrays are L's.
carom_local carom_joints_of(const carom_step *s, const carom_local *L);

/// Directions of L's set at (t, q).
carom_status carom_directions(carom_step *s, carom_local *L, double t, const double *q);

/// u = W'v + w.
void carom_local_velocity(double *u, const carom_local *L, const double *v);

carom_status carom_curvature(carom_step *s, double *kappa, const carom_local *L, double t, const double *q,
                             const double *v);

/// K = -df/dq, C = -df/dv, by the system, or by differences where it has none.
carom_status carom_tangent(carom_step *s, carom_matrix K, carom_matrix C, double t, const double *q, const double *v);
/// The contact problem of the set: blocks with their laws, G = a A' B with B = F^-1 W_f.  A are the constraint
/// directions (W of L), W_f the force directions (W of Lf; the same set).
void carom_problem_form(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a);

/// The contact problem of a step in which forces and impacts act together, formed and solved: G = W'F^-1 W, W of L;
/// u_free are the local velocities without reactions, u_before those before the step.
carom_status carom_problem_step(carom_step *s, const carom_local *L, const carom_factor *F, const double *u_free,
                                const double *u_before);

/// An impact of the set at local velocities u, by the laws of its contacts; the problem is formed.  Impulses are in
/// s->problem.p.  u_back is u, but 0 for contacts that give nothing back.
carom_status carom_problem_impact(carom_step *s, const carom_local *L, const double *u, const double *u_back);

/// v += a B p, B from carom_problem_form.
void carom_problem_apply(carom_step *s, double *v, double a);
/// Account the impulses p of L's set with the local velocities before and after.
void carom_account_impulses(carom_step *s, const carom_local *L, const double *p, const double *u_before,
                         const double *u_after);

/// Account forces lambda of L's set as acting during the time `weight` at local velocity u (of contacts); as the
/// reaction at the end of the step too when `end`.  Tangential ones take energy by friction, normal ones of contacts by
/// impact, those of joints none.
void carom_account_forces(carom_step *s, const carom_local *L, const double *lambda, const double *u, double weight,
                       bool end);

/// Account the multiplier nu of constraint id on position level, at the end of a step that has succeeded.  For schemes
/// with `positions`.
void carom_account_position(carom_step *s, int id, double nu);

/// Emit an event at time t.  For schemes with `emits_events`.
carom_status carom_emit_event(carom_step *s, carom_event event);

/// Report the end of a substep, with right limits.  For schemes that divide their steps by tolerances.
/// Fails if the observer requests a stop.
carom_status carom_substep_done(carom_step *s, double t, const double *q, const double *v);

/// Count the Newton iterations of this step.
void carom_account_newton(carom_step *s, int iterations);

/// Fail this step: CAROM_RETRY with a message that starts with the time.
carom_status carom_retry(carom_step *s, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

// -- the table -------------------------------------------------------------------------------------

enum { // limitations of a scheme
    CAROM_NO_FRICTION = 1,
    CAROM_NO_BILATERAL = 2,
    CAROM_NO_UNEQUAL_RESTITUTION = 4,
    CAROM_NO_STEP_CHANGE = 8, // all steps must be equal: no shortened last step, no smaller step on failure
    CAROM_NO_IMPACTS = 16,    // no impact law: contacts are rejected, unless its option impacts=ignore allows them
    CAROM_NO_IMPACT_LAWS = 64, // Newton's law alone, for all contacts at once, with constant restitution
    CAROM_NO_REST = 128,      // of lists of contacts: bodies that sleep, and rolling and spinning as discs of their own
    CAROM_NO_ADAPTIVE = 32    // step doubling does not apply, or the scheme controls its own steps
};

/// Level on which closed contacts, or joints, are satisfied at step ends.
typedef enum carom_level { CAROM_VELOCITY_LEVEL, CAROM_POSITION_LEVEL, CAROM_ACCELERATION_LEVEL } carom_level;

enum { CAROM_AT_START = 1, CAROM_AT_MIDDLE = 2, CAROM_AT_END = 4, CAROM_AT_OTHERS = 8 }; // points of a step

/// What a scheme promises besides its order on smooth motion, with its default options.  test/conformance_*.c and
/// test/test_every_scheme.c test this; the zeros are what a scheme of first order promises whose reactions are
/// impulses on velocity level.
typedef struct carom_promises {
    carom_level contacts, joints;
    int joint_order, impact_order; // of positions and velocities with joints; of positions across impacts; 0: 1
    unsigned forces, gaps, directions; // points of a step where it evaluates f; the gaps that close contacts (those at
                                       // its start may be the simulation's); W.  0: where it needs them, for schemes
                                       // that locate events or are of third order or higher
    bool limited_steps;            // the fastest vibration limits h: explicit, or its iteration needs it
    double gain, loss;             // allowed unaccounted energy gain or loss of a mechanism, relative to the maximum;
                                   // 0: gain 0.01, loss 0.2 where reactions of joints are of first order, else 0.01
    bool slow_piles, no_piles;     // many dependent contacts with friction: costly; not for those at all
    const char *option;            // to be set for mechanisms; NULL: none
} carom_promises;

/// Schemes that the lanes of a sweep have as text (src/sweep/lanes).
typedef enum carom_lane_scheme {
    CAROM_LANE_NONE,
    CAROM_LANE_MOREAU_MIDPOINT,
    CAROM_LANE_MOREAU_EXPLICIT,
    CAROM_LANE_HALF_EXPLICIT,
    CAROM_LANE_MOREAU_JEAN,
    CAROM_LANE_HALF_EXPLICIT_RK
} carom_lane_scheme;

typedef struct carom_scheme {
    const char *name;          // as typed
    const char *about;         // one line
    const char *text;          // its equations and limitations, for `carom schemes NAME`
    int order;                 // on smooth motion with velocity-dependent forces; tested
    int (*order_of)(const double *opt); // when an option decides; else NULL
    unsigned limitations;      // CAROM_NO_...
    carom_promises promises;
    bool controls_own_steps;   // it controls its error itself: h is only the interval between records
    const struct carom_scheme *worlds; // replaces it in models of many bodies that may hit each other; NULL: none
    double stable;             // largest h omega of an undamped oscillator that does not blow up; 0: no limit, or none
                               // known
    double (*stable_of)(const double *opt); // when an option decides; else NULL
    const char *second_order;  // NAME=VALUE of the option with which it is of second order, and stable, where others
                               // make it of first; NULL: there is none
    bool emits_events;         // it emits its events with carom_emit_event(); else the simulation derives them from the
                               // reactions
    const char *exact;         // NAME=VALUE of the option with which it locates events to rounding; "": it always does;
                               // NULL: it does not
    bool massless;             // M may be singular where joints or stiffness hold what has no inertia
    bool positions;            // it has multipliers on position level and accounts them with carom_account_position
    bool impulses;             // impulses, step by step, carry lasting contact; else forces do, and every impulse is an
                               // impact
    bool closes_while;         // it supports contacts that close only while a condition is met (CAROM_CLOSES_WHILE)
    bool accounts_power;       // it accounts the work of forces without potential itself; else the trapezoidal rule
                               // over steps does
    bool redundant;            // it sees redundant constraints too and shares reactions among them itself; else they
                               // are left out
    int levels;                // times that a constraint is in a contact problem, once more without friction each;
                               // 0: once
    int (*levels_of)(const double *opt); // when an option decides; else NULL
    bool full_levels;          // with friction each time
    const carom_option *options;
    const char *(*warning)(const double *opt); // sentence about options not to be used for results, or NULL; for the
                                               // ledger
    size_t work_size;
    /// Allocate scratch from mem, and what must survive from step to step from keep (doubles only).
    void (*allocate)(void *work, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt);
    carom_status (*start)(void *work, carom_step *s); // before the first step; NULL: nothing
    carom_status (*step)(void *work, carom_step *s);
    /// Dense output: the state at t + x h of the step just done, 0 < x < 1, as the scheme's own polynomials have it.
    /// NULL: it has none.
    void (*dense)(void *work, const carom_step *s, double x, double *q, double *v);
    void (*describe)(const void *work, char *text, size_t size); // text about method choices made during the run;
                                                            // NULL: none
    bool leads;                // it runs one step ahead of what it reports: lists have the contacts of two steps
    bool follows_features;     // it keeps contacts on the features of their shapes from the start of a step on, or
                               // freezes features: lists store them
    bool dense_operator;       // it writes or reads G = W'M^-1 W of its contact problems as a dense matrix, at any size
    carom_lane_scheme lanes;   // as which one it runs in the lanes of a sweep; CAROM_LANE_NONE: it does not
    /// Slot id now has another contact (of a dynamic list): clear its history.  NULL: none is kept.
    void (*reset_contact)(void *work, carom_step *s, int id);
    /// Does it remember of constraint id what may matter later, so that this contact has to stay in the list?  NULL:
    /// never; then contacts are forgotten where they are not near.
    bool (*recalls)(const void *work, const carom_step *s, int id);
    /// Motion that is decided already, from t, the end of the last step, on: where and how fast it ends, and how long
    /// it lasts.  Contacts that close on it are to be in the list.  False, or NULL: none.
    bool (*ahead)(const void *work, double t, carom_way *motion);
    void (*finish)(void *work); // release resources acquired by start; also called after a failed or missing start;
                                // NULL: none
} carom_scheme;

#ifdef __cplusplus
}
#endif

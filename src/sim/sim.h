// sim.h (private): the insides of a simulation.
//
// One block of memory holds everything.  Its first part, `kept`, is what must survive from step to step: saved
// as bytes it lets a run go on bit-identically.  Invariants:
//
// (1) kept->n steps are done and kept->t is their end; q, v, gap belong to that time.
// (2) impulse, u_before, u_after and force belong to the last step (zero at the start).
// (3) events[0 .. step.nevents) are those of the last step.
//
// Schemes see the system without its redundant constraints: step.sys, step.dir, step.impulse and step.force are those
// of `independent` where some are left out; sys, dir, impulse and force here are those of all.
#pragma once
#include "base/tolerance.h"
#include "scheme/inside.h"
#include "scheme/memory.h"
#include "system/independent.h"
#include <carom/sim.h>
#include <limits.h>
#include <stdint.h>

/// Steps of a run: whole numbers in double precision, and in a long, which has 32 bits in WebAssembly.
#define CAROM_MOST_STEPS (LONG_MAX > 1000000000000000 ? 1e15 : 2e9)

typedef struct carom_kept {
    uint64_t stamp;     // of scheme, options and system: a state of another simulation is refused
    long n;             // steps done
    long counted_from;  // the ledger counts steps from this one on
    long busy;          // contacts whose memory is not blank
    long holding;       // contacts that reacted in the last step
    double t;
    long from_n;        // planned steps are counted from the end of this one,
    double from_t;      // which was here
    long to_n;          // with controllers: equal steps up to this one,
    double to_t;        // which ends here
    uint64_t near;      // contacts that may close in the next step, whatever their last gaps say, a bit each, see
                        // diagnosis/tunnelling.c
    long jumped;        // signals have changed since the last step
    double speed;       // largest local velocity that contact problems had to take away: the scale of their tolerances
                        // (TOL-1)
    double fastest;     // largest one that a contact had before or behind its reaction, or rate at the end of a step:
                        // what the run is judged by
    double residual;    // largest one of contact problems before the ledger counted anew
    double h_next, error_last; // adaptive: step to try next; error of the last step, relative to the tolerance
    double length;      // adaptive: largest gap met
    double works;       // adaptive: magnitude of the works of the last steps
    long stops;         // adaptive: stop times passed
    double blur;             // time over which jumps follow each other within rounding, adaptive steps (JT-3)
    long slots;         // of the list of contacts that come and go: its room
    double reach, wanted; // and carom_list.margin; what the last step that needed one needs
    double power_in, power_out; // external and damping power at the end of the last step
    double explained;   // largest kinetic energy at some of the steps, less what had appeared unaccounted for until
                        // then
    double one_step;    // kinetic energy that forces at the start would give in a step
    double damped;      // ledger.energy.damping after the last step,
    double damped_step; // what that step added to it,
    double uneven;      // and half the sum of what it changed by from step to step
    struct {
        double work,
            t; // largest sum over joints of reaction times drift since the start (BK-7), at some of the steps; when,
        double force;    // the largest reaction there,
        long id;         // and the joint with the largest part
    } joints;
    carom_choice choice; // which solver goes first on large problems
    struct {
        double way, size, gap, t; // the impact that left bodies farthest from where it should (BK-8): how far, the
                                  // size of the smaller one (0: not known), the largest gap until then, and when
        long long id;
    } off;
    struct {
        double squares, most, t; // of impacts after flights (BK-9): squares of energies of approach, the
                                 // largest energy, and when
        long long id;
    } brief;
    struct {
        double worth, t; // what impulses of forces that steps have not seen are worth at most (BK-10), and when
        long looks;      // into steps, for that
    } unseen;
    carom_rise rise;    // energy that steps created outside the condition of their rule of dissipation (EN-6)
    carom_ledger ledger;
} carom_kept;

/// The largest of what is kept, of steps that count: a step that is rejected or fails takes it back, while counts of
/// work go on.
typedef struct carom_largest {
    double speed, fastest, residual, accepted_residual, residual_t;
    long accepted;
    long long residual_id;
} carom_largest;
static inline carom_largest carom_largest_of(const carom_kept *k) {
    const carom_counts *c = &k->ledger.counts;
    return (carom_largest){k->speed,    k->fastest,    c->residual, c->accepted_residual, k->ledger.residual_t,
                           c->accepted, c->residual_id};
}
static inline void carom_largest_again(carom_kept *k, const carom_largest *x) {
    carom_counts *c = &k->ledger.counts;
    k->speed = x->speed, k->fastest = x->fastest, k->ledger.residual_t = x->residual_t;
    c->residual = x->residual, c->accepted_residual = x->accepted_residual, c->accepted = x->accepted,
    c->residual_id = x->residual_id;
}

/// Gaps at the end of a step between bounds, from those by which the last two steps decided what is closed
/// (forecast.c).
typedef struct carom_forecast {
    carom_gap_bounds reach;
    bool known;            // of the step before these are:
    double *q, *g;         // where it looked; nq, nc
    bool alone;            // a step in which nothing reacts, and whose gaps are known to be neither the smallest nor
                           // the largest so far, has nothing else to book
} carom_forecast;

/// Scratch of the look at the fastest modes, see resolution.c.
typedef struct carom_resolution {
    bool on;                     // steps are as long as was asked for, and there are not too many joints
    bool joints;                 // F, L, B, G and u are there
    double *x, *y, *z, *v, *f;   // nv
    double *q;                   // nq
    carom_factor F;              // of M
    carom_local L;               // joints
    double *B, *G, *u;           // M^-1 W, W'M^-1 W factorised, 2 ne
} carom_resolution;

/// Step sizes as planned.
typedef struct carom_plan {
    double given;  // the step as given; h is shorter where rows are at multiples of a time
    long total;    // planned steps
    double row;    // planned steps end at multiples of it, `per_row` of them each; 0: anywhere
    long per_row;
    bool regular;  // sample instants of controllers, where there are some, are whole numbers of steps
} carom_plan;

/// The way back to where the present step began (undo.c).
typedef struct carom_undo {
    void *block;          // all that is kept, as it was then,
    const double *q, *v;  // with the state in it,
    struct { bool reacted, stale; int nevents; } was; // and what goes with it
    bool quiet;           // nothing reacted in the last step, and since it began only time, state and what the scheme
                          // itself keeps have changed
    size_t own_at, own_size; // the latter, in bytes of `kept`
    double refused_scale; // of the attempt that was halved, where a contact problem refused it; else 0
} carom_undo;

/// Gaps that a run has, and how far they may be trusted.
typedef struct carom_run_gaps {
    double *now;      // kept, ne + nc
    bool stale;       // they are older: not requested since, see carom_sim_gaps()
    bool kept;        // those at the end of a step are those at the start of the next one, for schemes that see all
                      // constraints
    bool lazy;        // they need not be known after every step
    bool watched;     // steps may pass obstacles unseen: look for them, with
    double touches;   // a gap that is no larger counts as closed,
    uint64_t shaped;  // CAROM_NEAR of contacts between shapes, whose gaps may be bounds where they are larger than
    double bounds_from; // the smallest size of a shape that touches another,
    double *first;    // kept, ne and contacts that are always there: gaps at the start of the run
    double *start;    // the same where the last step began,
    double *soon, *inside; // the same soon after; ne + nc: at some place inside
    double *before;   // ne + nc: before signals change; NULL: they do not, or contacts come and go
} carom_run_gaps;

/// Contacts and parts that are there only while a condition holds (switches.c).
typedef struct carom_switches {
    bool some;        // some switch may change: it is no gate, or the scheme knows none
    double *on;       // kept, nswitches: what is on
    double *condition, *next, *wanted; // nswitches: scratch
    bool decided;     // the next ones are `wanted`
    bool *off;        // nswitches: on, as lists want it
    void *piece;      // all that is kept, as it was when a piece of a step began; NULL: switches are not located
} carom_switches;

/// What a caller has asked to be called for; NULL: nothing.
typedef struct carom_callbacks {
    carom_status (*sample)(void *user, int k, bool effect, double t, const double *q, const double *v,
                           const double *signals);
    void *sample_user;
    carom_status (*inner)(void *user, double t, const double *q, const double *v); // inner steps
    void *inner_user;
    carom_status (*dense)(void *user, double t, const double *q, const double *v); // dense output,
    void *dense_user;
    int states;       // so many per step,
    double *q, *v;    // which are these
} carom_callbacks;

struct carom_sim {
    carom_system varying;          // the system with contacts of its own, where friction varies
    carom_contact *contacts;
    bool discs;                    // rolling or spinning have discs of their own
    bool rubs, reacts, bounces;    // friction varies; it depends on reactions; other laws of impact than Newton's, all
                                   // at once, with a constant restitution
    const carom_system *sys;
    carom_system own;   // sys, where contacts come and go: its nc and contacts are those of the list
    carom_system_events own_events; // of own, which has a list
    carom_list list;
    bool *slept;        // nparts: list.asleep, as it was in the step before
    carom_contact *laws; // own.contacts
    carom_contact slot;  // as the system has them: with as many tangents as any
    const carom_scheme *scheme;
    double t0, h, t_end;
    carom_plan plan;
    int nl;             // recorded directions
    void *block;        // all memory
    carom_arena mem;    // its scratch part, and what lives with it
    size_t block_size, block_taken; // in use; with what aligns it
    bool mapped;        // pages of its own: carom_reserve()
    size_t kept_size;   // bytes of the kept part, from kept on
    size_t ends[64];    // of its pieces, where contacts come and go
    int pieces;
    carom_kept *kept;
    double *q, *v;      // kept
    carom_memory *memory; // kept, nc
    double *pushed;       // kept, 3 nv: of each rate the last step with an impact that moved it, from the start of the
                          // run; what such steps have changed it by, each less of the one before; that before the last
                          // one (BK-9).  NULL where events are located
    struct {
        double *impulse, *slope, *mass; // kept, nv: sums of such impulses; what rates of forces at the start leave out
                                        // of them; inertia of each rate by itself.  NULL: not asked for
        double *scratch;
        carom_matrix M;
    } unseen;
    double *v_start;    // of schemes of two steps: its velocity there, see diagnosis/tunnelling.c; NULL: others
    bool grown;         // the last failure was a rate that ran away
    carom_undo undo;
    carom_run_gaps gaps;
    carom_switches switches;
    carom_callbacks callbacks;
    struct {
        double *q, *v, *gap; // of adaptive steps: the step taken at once
        unsigned char *hit;  // nc: the parts of an attempt in which a contact was struck
    } whole;
    double *held;       // kept, nc: 1 for a contact that reacted in the last step of the scheme
    double *input;      // kept, ni: signals
    double *sampled;    // kept, 2 nsamplers: samples, and how many of them have taken effect
    double *signal;     // ni: signals that are computed
    double *power, *done; // kept, nworks: power at the end of the last step, work so far
    double *power_now;  // nworks
    void *scheme_work;
    double *opt;        // values: the scheme's options, then the common ones
    carom_step step;
    carom_inside inside; // of step
    carom_local all;    // all constraints, for records
    double *jerk;       // 2 nl: rates of joints on both sides of a jump
    double *alone;      // scratch of carom_sim_alone()
    int *dir;           // ne + nc + 1
    bool *struck;       // nc, all false between steps: scratch of contacts.c
    int *visible_dir;      // step.dir, where constraints are left out; else NULL
    double *impulse, *force, *nu; // recorded directions of all constraints; nu may be NULL
    carom_independent independent; // its rows are in use where k > 0
    carom_sim_def names;           // of constraints and rates, as given
    char choice[240];              // why the scheme was chosen; empty: somebody named it
    double *reaction;   // kept, nl: where friction depends on reactions, those of the last step; NULL: it does not
    double *guess;      // nl: the same of a trial step
    double *lasting;    // kept, nl: forces of the last step, impulse/h where a lasting contact has an impulse only
    struct {
        bool on, violation, extrapolate, lecture; // lecture: (AD-9)
        double rtol, atol, stop; // stop: steps end at multiples of it; 0: none
        int estimate;            // order of the error estimate; -1: by what happened
    } control;          // of adaptive step sizes
    double *sides; // 4 nv, of schemes with steps of their own: forces beside the state (diagnosis/discontinuity.c);
                   // NULL: others
    double behind;      // here a step, or a piece of one, begins behind a time at which forces jump
    double unbooked;    // length of the last piece of the step
    bool running;       // inside carom_sim_run, since
    double cpu, wall;   // (thread CPU time, clock)
    double *booked;     // nl: impulses before an attempt, to go back to; behind them what was lost, nc
    carom_event *events; // recorded by the last step; step.nevents of them
    double (*size)(const void *user, long long id); // of contacts; NULL: not known
    carom_resolution resolution;
    carom_forecast forecast;
    carom_error error;  // of the step loop
};

/// options.c: is an option with this name in a list of "name=value"?
bool carom_sim_given(const char *const *list, const char *name);
/// options.c: the options that every scheme has, after its own.
extern const carom_option carom_common_options[];
/// Is there this scheme, does it have these options, and `name` too unless it is NULL?  CAROM_BAD_INPUT says what is
/// wrong.
carom_status carom_sim_check_options(const carom_sim_def *def, const char *name, carom_error *err);
enum {
    CAROM_OPT_CLOSED,
    CAROM_OPT_SOLVER,
    CAROM_OPT_TOL,
    CAROM_OPT_ACCEPT,
    CAROM_OPT_NEWTON_TOL,
    CAROM_OPT_ADAPTIVE,
    CAROM_OPT_RTOL,
    CAROM_OPT_ATOL,
    CAROM_OPT_ESTIMATE,
    CAROM_OPT_VIOLATION,
    CAROM_OPT_SAFETY,
    CAROM_OPT_SHRINK,
    CAROM_OPT_GROW,
    CAROM_OPT_EXTRAPOLATE,
    CAROM_OPT_CONTROL,
    CAROM_OPT_PROX_R,
    CAROM_OPT_PROX_TEST,
    CAROM_OPT_PROX_STOP,
    CAROM_COMMON_COUNT
};

/// The scheme that def names.
carom_status carom_sim_find_scheme(const carom_sim_def *def, const carom_scheme **scheme, carom_error *err);
/// The values of its options and of the common ones.  Does it support them, and what the system needs?  whole: the end
/// is a whole number of steps.
carom_status carom_sim_read_options(const carom_sim_def *def, const carom_scheme *scheme, bool whole, double *opt,
                                    carom_error *err);
/// Order of a scheme with these options.
int carom_sim_order(const carom_scheme *scheme, const double *opt);

/// signals.c: signals that are held.  Nothing where the system has none.
void carom_sim_signals_allocate(carom_sim *sim, carom_arena *mem, carom_arena *keep);
void carom_sim_signals_start(carom_sim *sim, const carom_sim_def *def); // before anything is evaluated
carom_status carom_sim_signals_check(carom_sim *sim, carom_error *err); // does the scheme reach the sample instants?
carom_status carom_sim_sample(carom_sim *sim, carom_error *err);       // controllers whose instant has come
void carom_sim_plan(carom_sim *sim);                                   // equal steps to the next instant
double carom_sim_next_sample(const carom_sim *sim);                    // HUGE_VAL: none
double carom_sim_planned(const carom_sim *sim);                        // the length of these steps

/// switches.c: contacts and parts that are there only while a condition holds.  Nothing where the system has none.
void carom_sim_switches_allocate(carom_sim *sim, carom_arena *mem, carom_arena *keep);
/// on_next at t; *some: one of them differs from `on`.
carom_status carom_sim_conditions(carom_sim *sim, double t, bool *some, carom_error *err);
/// All switches as they are to be at t, in the present state.  Energies are the caller's business.
carom_status carom_sim_switch(carom_sim *sim, double t, carom_error *err);
/// The same at the end of a step, or at the start, with the books.
carom_status carom_sim_switch_accounted(carom_sim *sim, carom_error *err);
/// between.c: a step from kept->t over h to t_1 of a scheme that locates events, in pieces between switches.
carom_status carom_sim_between_switches(carom_sim *sim, double h, double t_1, carom_error *err);

/// times.c: what counts as one instant at t; the first time behind t_0, not behind t_1, up to which forces have jumped.
double carom_sim_instant(const carom_sim *sim, double t);
double carom_sim_jump(const carom_sim *sim, double t_0, double t_1); // HUGE_VAL: none
// the end of a step in which no pulse is short; inside: in which it is followed, where the scheme or its books have no
// tolerance
double carom_sim_even(const carom_sim *sim, bool inside, double t_0, double t_1);
/// The number of the step that ends at t_end; -1: there is none.
long carom_sim_last_step(const carom_sim *sim, const carom_kept *k);
/// jumps.c: the books across a jump, after a piece of h.
carom_status carom_sim_pass(carom_sim *sim, double h, double before, double behind, carom_error *err);
/// The same where a step ends at the jump, `to` an instant before it: t_1 may be rounded to its near side, but
/// velocities are right limits, so driven joints are struck in any case.
carom_status carom_sim_pass_end(carom_sim *sim, double h, double to, double t_1, carom_error *err);
/// A step from t over h to t_1, in pieces where forces jump or have short pulses on the way.
carom_status carom_sim_pieces(carom_sim *sim, double t, double h, double t_1, carom_error *err);
/// jerk.c: does the velocity of a driven joint jump between two times beside each other, and does the scheme leave that
/// to the simulation?  Then its impact.
bool carom_sim_jerked(carom_sim *sim, double before, double behind);
carom_status carom_sim_jerk(carom_sim *sim, double before, double behind, carom_error *err);
/// state.c: is the energy far beyond what the books explain?
bool carom_sim_ran_away(const carom_ledger *l);
/// A run begins; of a run in progress: add the time that it has taken so far.
void carom_sim_start_time(carom_sim *sim);
void carom_sim_add_time(const carom_sim *sim, carom_ledger *l);
/// Energy that has appeared unaccounted for, where the total is `energy` now; negative: none has.
double carom_sim_excess(const carom_ledger *l, double energy);
/// forces.c: what forces can do: the kinetic energy with all rates 1, the acceleration that the largest force would
/// give to all, the work of all on the largest position, and the kinetic energy that they give to what is at rest, over
/// the square of the time (BK-6).
typedef struct carom_forces { double unit, a, work, power; } carom_forces;
carom_forces carom_sim_forces(const carom_sim *sim);
/// Kinetic energy, had every rate what its force would make of it in a step; 0: not known.
double carom_sim_of_step(const carom_sim *sim, const carom_forces *x);
double carom_sim_one_step(const carom_sim *sim); // with the forces of the present state

/// pulses.c: a pulse in time shorter than a step, in the run so far: entry i, of nv forces and then ne + nc gaps, rises
/// or falls for `width` about t (0: at t alone).  Nothing for schemes that cut steps there.
typedef struct carom_pulse { int i; double t, width; } carom_pulse;
bool carom_sim_short_pulse(const carom_sim *sim, carom_pulse *pulse);
/// The fastest pulse of fewer steps in which the wall of a contact moves (JT-7), shapes left out.  Nothing for schemes
/// that locate events or choose their own steps.
bool carom_sim_coarse_pulse(const carom_sim *sim, double fewest, carom_pulse *pulse);
/// Does a force, gap or coefficient of friction have a value at `at`, known to rounding, that it has neither before nor
/// behind (JT-6)?  No for schemes that cannot divide their steps there.
bool carom_sim_alone(const carom_sim *sim, double at);
int carom_sim_looked_at(const carom_sim *sim); // how many of them there are

/// Observer of a run.  What it finds goes into the ledger and into messages, never into the motion.
typedef struct carom_observer {
    /// After a step from t_0: did it pass an obstacle, of the contacts `near`, which are not of the list?  Counts it.
    /// stale: gap_0 is not that of t_0 yet.
    void (*after_step)(carom_sim *sim, double t_0, bool stale, uint64_t near);
    /// The same for contacts of the list, where some bodies move far relative to their size.
    void (*after_list)(carom_sim *sim, double t_0);
    /// After a step from t_0: what did forces do inside it that the scheme has not seen?  Where sim->unseen.impulse is
    /// there, with impulses_size() numbers of scratch.
    void (*after_forces)(carom_sim *sim, double t_0);
    size_t (*impulses_size)(const carom_system *sys);
    /// After a step of h with impacts, which have changed velocities: contacts that are no farther away than a few
    /// steps are near.
    void (*after_impacts)(carom_sim *sim, double h);
    /// Why no step from the present state converges, as text; false: unknown.
    bool (*why_it_failed)(const carom_sim *sim, char *text, size_t size);
    /// Why the scheme has taken millions of internal steps that neither rows nor events explain; false: it has not, or
    /// unknown.
    bool (*why_it_toils)(const carom_sim *sim, char *text, size_t size);
} carom_observer;

/// The observer of all runs: src/diagnosis.
extern const carom_observer carom_diagnosis;

/// The bit of contact c in carom_kept.near; beyond the first 63 all have one.
#define CAROM_NEAR(c) ((uint64_t)1 << ((c) < 63 ? (c) : 63))

/// Contacts that are always there, before those of the list.
static inline int carom_sim_fixed_contacts(const carom_sim *sim) { return sim->sys->nc - sim->sys->listed; }

/// books.c: may the gap of contact c, between shapes, have fallen by this much in the last step (PO-3)?  *reach: an
/// estimate for all, where it is needed; negative: not known yet.
bool carom_sim_moves_by(const carom_sim *sim, int c, double gap, double *reach);

/// Contacts that may have closed in the last step: those where the line through the gaps at both ends of the step
/// before falls to zero in it, and where one of the two may be a bound, those of shapes that move as far.  Moves gap_0
/// on to the start of the last step.
static inline uint64_t carom_sim_may_have_closed(carom_sim *sim) {
    const int ne = sim->sys->ne, nc = carom_sim_fixed_contacts(sim);
    // 2 g < g_0; adaptive steps may grow five times: g + 5 (g - g_0) < 0
    const double *g = sim->gaps.now + ne, times = sim->control.on ? 1.2 : 2, touches = sim->gaps.touches;
    double *g_0 = sim->gaps.start + ne;
    double reach = -1; // not known yet
    uint64_t near = sim->kept->near;
    for (int c = 0; c < nc; ++c) {
        const double last = g[c], larger = last > g_0[c] ? last : g_0[c];
        if (last > touches && times * last < g_0[c] + touches) near |= CAROM_NEAR(c);
        else if (last > touches && larger > sim->gaps.bounds_from && sim->gaps.shaped & CAROM_NEAR(c) &&
                 carom_sim_moves_by(sim, c, last, &reach))
            near |= CAROM_NEAR(c);
        g_0[c] = last;
    }
    return near;
}

/// books.c: the model failed to compute `what` at the present state; which force or gap it was, where one has no value.
carom_status carom_sim_failed(carom_sim *sim, carom_status status, const char *what, carom_error *err);
/// What the step has accounted for goes to the ledger; the gaps of the present state do; all that a step of h from t_0
/// on, just done, adds.
void carom_sim_account_step(carom_sim *sim);
void carom_sim_account_gaps(carom_sim *sim);
void carom_sim_account_compliant(carom_sim *sim); // of systems with contacts of finite stiffness
// known: the gaps at its end leave the ledger as it is
carom_status carom_sim_account(carom_sim *sim, double t_0, double h, bool known, carom_error *err);
/// Gaps and the power of forces without potential, at the present state; and powers of forces that are booked one by
/// one.
carom_status carom_sim_observe(carom_sim *sim, double *in, double *out, carom_error *err);
carom_status carom_sim_account_works(carom_sim *sim, double h, carom_error *err);

/// slots.c, and carom_sim_list() in list.c: contacts that come and go.  Nothing where the system has none.
void carom_sim_blank(carom_sim *sim, int contact);      // another contact, or one that has come or gone: nothing is
                                                        // known of it
void carom_sim_list_make(carom_sim *sim);               // sys becomes one of the simulation's own
void carom_sim_list_allocate(carom_sim *sim, carom_arena *mem, carom_arena *keep);
carom_status carom_sim_list(carom_sim *sim, double h, carom_error *err); // for a step of h from the present state on
void carom_sim_adopt(carom_sim *sim);                   // after what is kept has been replaced
void carom_sim_tell(carom_sim *sim);                    // signals and switches, to the system's work
/// What messages, events and ledgers call constraint id.
long long carom_sim_known_as(const carom_sim *sim, int id);
/// setup.c: one block of memory for all, for list.slots slots; what was kept stays.
carom_status carom_sim_allocate(carom_sim *sim, carom_error *err);
void carom_sim_free_block(const carom_sim *sim);
/// What points into the block, and the system's own work.
void carom_sim_wire(carom_sim *sim);
/// The system as schemes see it, without redundant constraints.
carom_status carom_sim_leave_out_redundant(carom_sim *sim, const carom_sim_def *def, carom_error *err);

/// sim.c: first gaps, first call of the scheme, first power.
carom_status carom_sim_begin(carom_sim *sim, carom_error *err);
/// Is the kinetic energy looked at after step n?
bool carom_sim_sampled(long n);
/// A step before the end of the run.
carom_status carom_sim_whole_step(carom_sim *sim, carom_error *err);

/// undo.c: a step begins, and nothing has reacted in it yet; it failed, and all is as it was before, with its counts;
/// it is rejected, and begins again, but for the counts of work.
void carom_sim_mark(carom_sim *sim);
void carom_sim_follow(carom_sim *sim); // as carom_sim_mark(), after a quiet step
void carom_sim_undo(carom_sim *sim);
void carom_sim_try_again(carom_sim *sim);

/// advance.c: one step of the scheme from t over h as a whole: a failure is reported, not retried.
carom_status carom_sim_advance(carom_sim *sim, double t, double h, carom_error *err);
/// The same, halved where it fails.
carom_status carom_sim_advance_halving(carom_sim *sim, double t, double h, carom_error *err);
/// The failure in sim->error, of a step that was halved `depth` times.
carom_status carom_sim_give_up(carom_sim *sim, carom_error *err, int depth);
const char *carom_sim_finer(const carom_sim *sim); // what to try where steps are too large, for messages
/// Forces of the last step become zero.
void carom_sim_clear_forces(const carom_sim *sim);

// Times are products, not sums, so that they do not drift.
static inline double carom_sim_end_of(const carom_sim *sim, const carom_kept *k, long n) {
    if (sim->sys->signals->nsamplers) {
        const double t = n >= k->to_n ? k->to_t
                                      : k->from_t + (double)(n - k->from_n) *
                                                        ((k->to_t - k->from_t) / (double)(k->to_n - k->from_n));
        return t > sim->t_end - CAROM_INSTANT * sim->h ? sim->t_end : t;
    }
    if (n >= sim->plan.total) return sim->t_end;
    if (!(sim->plan.row > 0)) return k->from_t + (double)(n - k->from_n) * sim->h;
    return sim->t0 + (double)(n / sim->plan.per_row) * sim->plan.row + (double)(n % sim->plan.per_row) * sim->h;
}

/// forecast.c: bounds of the gaps at the end of the step, which the scheme has just done.
void carom_forecast_allocate(carom_sim *sim, carom_arena *mem);
void carom_forecast_start(carom_sim *sim); // where the work of the system is there
bool carom_forecast_leaves_books(carom_sim *sim);
/// Do the gaps at the end of the step leave the ledger as it is?  False where bounds of them do not tell.
static inline bool carom_gaps_known(carom_sim *sim) { return sim->gaps.lazy && carom_forecast_leaves_books(sim); }

/// adaptive.c: a step of a size that meets the tolerances; kept->t is moved.
carom_status carom_adaptive_step(carom_sim *sim, double *h_done, carom_error *err);

/// redundant.c: look at the rows that are kept, at the present state; recorded reactions of all constraints; both.
/// Nothing where none is redundant.
carom_status carom_sim_check_rows(carom_sim *sim, carom_error *err);
void carom_sim_share_reactions(carom_sim *sim);
carom_status carom_sim_share(carom_sim *sim, carom_error *err);

/// resolution.c: the fastest vibration and the fastest decay at the present state, where they are slower than pace;
/// first: whatever they are.
void carom_allocate_resolution(carom_sim *sim, carom_arena *mem);
/// a, M^-1 f at a point, with the reactions of joints; as it is where there are too many of them.
carom_status carom_resolution_joints(carom_sim *sim, double *a, double t, const double *q, const double *v);
/// Is the mass of the present state positive definite?  CAROM_SINGULAR in sim->error: it is not.
carom_status carom_resolution_mass(carom_sim *sim);
void carom_resolution_look(carom_sim *sim, carom_pace pace[2], bool first);
/// No scheme minds steps of sim->h with this vibration and decay.
bool carom_resolution_short_enough(const carom_sim *sim, carom_pace p);

/// contacts.c: events, contact memory and impact loss after a step of h from t_0 on.
void carom_contacts_update(carom_sim *sim, double t_0, double h);

/// Forces of all constraints for records, after that.
void carom_lasting_forces(carom_sim *sim, double h);
/// sim->reaction at the end of a step.
void carom_last_reactions(carom_sim *sim, double h);

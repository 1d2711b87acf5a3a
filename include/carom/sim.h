// sim.h: one simulation: a system, a scheme, a step size; what happened, in a ledger.
#pragma once
#include <carom/scheme.h>
#include <carom/status.h>
#include <carom/system.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A mode of the model, linearised: x'' + damping x' + stiffness x = 0.
typedef struct carom_pace {
    double stiffness, damping; // 1/s^2, 1/s
} carom_pace;

/// The account of a run.  Names and meaning are those of `carom run`'s ledger (docs/reference-ledger.md).
typedef struct carom_ledger {
    long steps, rejected;                 // steps done; attempts rejected for a smaller step
    long switches;                        // auto: changes of method on the way
    long undecided;                       // adaptive: impacts that no step size resolves
    double seconds, wall;                 // thread CPU time in the step loop; wall time
    long impacts, accumulations;
    double penetration;                   // largest max(0, -gap) at step ends
    long long penetration_id;             // constraint id, -1: never
    double penetration_t;
    struct {
        double overlap, t;                // largest overlap of contacts of finite stiffness at step ends, and when
        double start;                     // at the start
        long long which;                  // for carom_model_compliant(), -1: none overlapped, or the model has none
    } compliant;
    double drift;                         // largest |g| of a bilateral constraint at step ends
    int drift_id;
    double drift_t;
    struct {
        double start, end;                // total energy
        double impact, friction, damping; // taken
        double lost, created;             // by impacts, each as a whole, split by sign
        double external;                  // given
        double balance;                   // end - start - external + impact + friction + damping
        double identity;                  // largest violation of the scheme's own balance in a step, relative to its
                                          // terms; NaN: not checked
    } energy;
    struct {
        long falls, wakes;                // bodies that fell asleep, and that woke again, so often
        double energy;                    // kinetic energy that they had when they fell asleep; part of energy.damping
    } sleep;
    carom_counts counts;                  // contact and Newton counters
    double residual_t;                    // time of the largest contact residual
    // what the sizes above are compared with, see carom_sim_warnings
    carom_account impulses;               // of impacts split by sign: the largest gain
    double kinetic;                       // largest kinetic energy at some of the steps
    double gap;                           // largest gap at step ends
    double moved, moved_t;                // largest jump of a gap with signals, and when
    int moved_id;
    carom_pace pace[2];                   // fastest vibration and fastest decay, where they were slowest; of schemes
                                          // with steps of the size given
} carom_ledger;

/// Something that a person should know before trusting a run.
typedef struct carom_warning {
    const char *kind; // energy-created, unaccounted-energy, drift, penetration, missed-contact, moved, unconverged,
                      // resolution,
                      // scheme
    char text[600];   // what happened, where, what to do
    long long id;     // constraint, -1: none
    const char *name; // of it; NULL: none
    double t;         // when; NaN: no instant
} carom_warning;

enum { CAROM_WARNINGS = 9 }; // most that a run has: one of each kind

/// What an observer sees after every step (and once at the start, step 0).  Pointers are valid during the call.
typedef struct carom_now {
    double t;
    long step;             // steps done
    const double *q, *v;   // right limits
    const double *gap;     // ne + nc
    const int *dir;        // ne + nc + 1: first recorded direction of each constraint
    bool reacted;          // there was a reaction in the last step; else impulse and force are zero, as after a step
                           // that failed (lasting and nu are then those of the last good one)
    const double *impulse; // recorded directions: impulse of the last step (not counted as force)
    const double *force;   // recorded directions
    const carom_event *events;
    int nevents;           // events of the last step
    const double *nu;      // recorded directions: multipliers on position level of the last step, at normals and
                           // joints; NULL: the scheme has none
    const double *lasting; // recorded directions: force, or impulse/h where a lasting contact or a joint has an impulse
                           // only; for records
} carom_now;

typedef struct carom_sim carom_sim;

typedef struct carom_sim_def {
    const carom_system *system;
    const char *scheme;         // name; NULL: the first one
    const carom_scheme *const *schemes; // to choose from, NULL-terminated; NULL: those of the core.  carom_schemes() of
                                        // carom/event.h: all
    const char *const *options; // "key=value" strings, NULL-terminated, later ones win; NULL: none
    double t0, h, t_end;        // with the option adaptive=on, h is the first step to try
    const double *q0, *v0;
    const double *input;        // the system's ni signals at the start; NULL: those of the system
    const char *(*name)(const void *user, long long id); // name of a constraint, for messages; NULL: "contact 3"
    const void *name_user;
    const char *(*rate_name)(const void *user, int i); // name of velocity i, with name_user; NULL, or returns NULL: "3"
    double (*size)(const void *user, long long id);    // length of what touches at contact id, with name_user; NULL, or
                                                       // returns 0: not known
    double input_t;             // `input` is what a run left that ended at this time: controllers that sampled then do
                                // not sample again at t0; 0: none did
    bool input_whole;           // `input` has outputs of controllers that are on their way, too: those that were
                                // computed before t0 take effect at their time, also where controllers would
                                // begin after that.  input_t does not count then
    // before controller k computes at an instant, or (effect) its outputs take effect: signals as they are (ni); also
    // at t0, inside of carom_sim_create().  NULL: none
    carom_status (*on_sample)(void *user, int k, bool effect, double t, const double *q, const double *v,
                              const double *signals);
    void *sample_user;
    const char *choice;         // why the scheme was chosen, for carom_sim_choice(); it is copied.  NULL: it was named
} carom_sim_def;

carom_sim_def carom_sim_default(void);

/// NULL on failure: err says why (an unknown option lists the known ones; a scheme that lacks what the
/// system needs is refused with the names of those that can).
carom_sim *carom_sim_create(const carom_sim_def *def, carom_error *err);
void carom_sim_destroy(carom_sim *sim);

/// Advance by one step of h (the last one is shortened to end at t_end).  CAROM_END once t_end is reached.
carom_status carom_sim_step(carom_sim *sim, carom_error *err);

/// The same, but a step that would go beyond `end` is shortened to end there, and the next steps of h are counted from
/// there. CAROM_UNSUPPORTED: the scheme cannot shorten a step.
carom_status carom_sim_step_until(carom_sim *sim, double end, carom_error *err);

/// Steps shall end at t0 + k dt as well (0: anywhere).  Adaptive steps are cut there; schemes that locate events take
/// equal steps, no longer than h, whole numbers of which make dt; without effect on others.  Before the first step, or
/// before a saved state is restored.
void carom_sim_stop_at(carom_sim *sim, double dt);

/// Who shall see the ends of steps that a scheme takes inside its own (schemes that divide their steps by tolerances);
/// states are right limits.  A step that is refused and halved tells some times again.  Anything but CAROM_OK ends the
/// run with that.
void carom_sim_watch_inner(carom_sim *sim,
                           carom_status (*on_inner)(void *user, double t, const double *q, const double *v),
                           void *user);

/// Observe the dense output of a scheme that has one: n states of each step at t + h (j - 1/2)/n, j = 1..n, and no
/// others.  Times may be repeated as above.  on_dense NULL: no longer.  False if the scheme has none.
bool carom_sim_watch_dense(carom_sim *sim, int n,
                           carom_status (*on_dense)(void *user, double t, const double *q, const double *v),
                           void *user);

/// Threads that the simulation may use from now on, see carom/team.h; NULL: none.  Results do not depend on them.  The
/// team must outlive it.
void carom_sim_team(carom_sim *sim, struct carom_team *team);

/// Observe contact problems: called before each one is solved (report NULL, pb->p is the start) and after it.
void carom_sim_watch_problems(carom_sim *sim,
                              void (*on_problem)(void *user, double t, const carom_problem *pb,
                                                 const carom_report *report),
                              void *user);

/// Observe both sides of every event that a scheme locates itself: the left limits, then the right ones, at the same t.
/// Times may be repeated as above.  NULL: no longer.
void carom_sim_watch_events(carom_sim *sim,
                            carom_status (*on_event)(void *user, carom_side side, double t, const double *q,
                                                     const double *v),
                            void *user);

/// Observe what happens at every event that a scheme locates itself: modes, states and impulses before and after.
/// Times may be repeated as above.  Pointers are valid during the call.  NULL: no longer.
void carom_sim_watch_changes(carom_sim *sim, carom_status (*on_change)(void *user, const carom_change *change),
                             void *user);

/// Whether the run shall stop is asked all the time, inside steps too; it must be quick.  A step that is stopped did
/// not take place, and carom_sim_run returns CAROM_STOPPED.  NULL: none.
void carom_sim_stop_when(carom_sim *sim, bool (*stop)(const void *user), const void *user);

/// Steps until t_end, or until on_step (NULL allowed) returns something else than CAROM_OK.
carom_status carom_sim_run(carom_sim *sim, carom_status (*on_step)(void *user, const carom_now *now), void *user,
                           carom_error *err);
/// The same for an on_step that reads gaps by carom_sim_gaps() alone, not from now->gap (as carom_record_step does): a
/// step leaves out gaps that the ledger does not need.  Results are bit-identical.
carom_status carom_sim_run_lazily(carom_sim *sim, carom_status (*on_step)(void *user, const carom_now *now), void *user,
                                  carom_error *err);

/// Another value of input i (0 .. nset-1 of the system; carom_model_input() has their names) from now on, between two
/// steps.  The value is constant until the next call, and part of the saved state.  Energy that the change brings
/// counts as external.
carom_status carom_sim_input(carom_sim *sim, int i, double value, carom_error *err);
/// The present values of all ni signals.
const double *carom_sim_inputs(const carom_sim *sim);

carom_now carom_sim_now(const carom_sim *sim);
/// The gaps of the present state, brought up to date.
const double *carom_sim_gaps(carom_sim *sim);
bool carom_sim_done(const carom_sim *sim);
long carom_sim_total_steps(const carom_sim *sim); // planned for the whole run; 0: not known, steps are adaptive or
                                                  // shortened for controllers

/// Local velocities of all recorded directions at the present state; energies there.
carom_status carom_sim_velocities(carom_sim *sim, double *u, carom_error *err);
carom_status carom_sim_energy(carom_sim *sim, double *kinetic, double *potential, carom_error *err);

/// Work that each of the system's nworks forces has given so far (J), by the trapezoidal rule over steps.
const double *carom_sim_works(const carom_sim *sim);

/// The ledger as of now, energies included.
carom_status carom_sim_ledger(carom_sim *sim, carom_ledger *ledger, carom_error *err);

/// Warnings about the run so far, from its ledger; returns how many of CAROM_WARNINGS were written.
int carom_sim_warnings(const carom_sim *sim, const carom_ledger *ledger, carom_warning *list);

/// The scheme in use and its option values (for records): "theta=0.5 closed=nonstrict ...".
const carom_scheme *carom_sim_scheme(const carom_sim *sim);
/// What to know before trusting this scheme with these options: a sentence, or NULL.
const char *carom_sim_warning(const carom_sim *sim);
/// What a scheme that chooses by itself chose and changed so far, with times and reasons; empty where there is nothing
/// to say.
void carom_sim_choice(const carom_sim *sim, char *text, size_t size);
void carom_sim_options_text(const carom_sim *sim, char *text, size_t size);

/// All that must survive to go on bit-identically, as one block of bytes.
const void *carom_sim_state(const carom_sim *sim, size_t *bytes);
carom_status carom_sim_restore(carom_sim *sim, const void *state, size_t bytes, carom_error *err);

/// Go on from the state of another simulation by the same scheme, of a model that differs in values of parameters only.
carom_status carom_sim_continue(carom_sim *sim, const carom_sim *other, carom_error *err);

/// Bytes that the simulation reserves for the largest contact problem there can be; only what is touched of them
/// becomes memory.
size_t carom_sim_memory(const carom_sim *sim);
/// Contacts that come and go: those of the next step, so that carom_sim_state() keeps its size during it.
/// carom_sim_step() does this itself.
carom_status carom_sim_ready(carom_sim *sim, carom_error *err);

/// Scratch of the system's functions that belongs to this simulation (for models' own outputs).
void *carom_sim_work(carom_sim *sim);

#ifdef __cplusplus
}
#endif

// observe.h: for programs that watch a simulation closely or keep its state: observers, saved states, threads.
//
// Recorders, user interfaces, co-simulation.  carom/sim.h has what most programs need.
#pragma once
#include <carom/problem.h>
#include <carom/scheme.h>
#include <carom/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/// As carom_sim_step(), but a step that would go beyond `end` is shortened to end there, and the next steps of h are
/// counted from there. CAROM_UNSUPPORTED: the scheme cannot shorten a step.
carom_status carom_sim_step_until(carom_sim *sim, double end, carom_error *err);

/// Require steps to end at t0 + k dt as well (0: no requirement).  Adaptive steps are cut there; schemes that locate
/// events take equal steps, no longer than h, whole numbers of which make dt; without effect on others.  Before the
/// first step, or before a saved state is restored.
void carom_sim_stop_at(carom_sim *sim, double dt);

/// Observer of internal steps (of schemes that subdivide their steps); states are right limits.  After a rejected and
/// halved step, some times are reported again.  Any status but CAROM_OK ends the run with it.
void carom_sim_watch_inner(carom_sim *sim,
                           carom_status (*on_inner)(void *user, double t, const double *q, const double *v),
                           void *user);

/// Observe the dense output of a scheme that has one: n states of each step at t + h (j - 1/2)/n, j = 1..n, and no
/// others.  Times may be repeated as above.  on_dense NULL: no longer.  False if the scheme has none.
bool carom_sim_watch_dense(carom_sim *sim, int n,
                           carom_status (*on_dense)(void *user, double t, const double *q, const double *v),
                           void *user);

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

/// Threads that the simulation may use from now on, see carom/team.h; NULL: none.  Results do not depend on them.  The
/// team must outlive it.
void carom_sim_team(carom_sim *sim, struct carom_team *team);

/// As carom_sim_run(), for an on_step that reads gaps by carom_sim_gaps() alone, not from now->gap (as
/// carom_record_step does): a step leaves out gaps that the ledger does not need.  Results are bit-identical.
carom_status carom_sim_run_lazily(carom_sim *sim, carom_status (*on_step)(void *user, const carom_now *now), void *user,
                                  carom_error *err);

/// The gaps of the present state, brought up to date.
const double *carom_sim_gaps(carom_sim *sim);

/// The present values of all ni signals.
const double *carom_sim_inputs(const carom_sim *sim);
long carom_sim_total_steps(const carom_sim *sim); // planned for the whole run; 0: not known, steps are adaptive or
                                                  // shortened for controllers

/// Local velocities of all recorded directions at the present state.
carom_status carom_sim_velocities(carom_sim *sim, double *u, carom_error *err);

/// Work that each of the system's nworks forces has given so far (J), by the trapezoidal rule over steps.
const double *carom_sim_works(const carom_sim *sim);

/// The scheme in use and its option values (for records): "theta=0.5 closed=nonstrict ...".
const carom_scheme *carom_sim_scheme(const carom_sim *sim);
void carom_sim_options_text(const carom_sim *sim, char *text, size_t size);
/// Warning about this scheme with these options; NULL: none.
const char *carom_sim_warning(const carom_sim *sim);

/// Complete state for a bit-identical restart, as one block of bytes.
const void *carom_sim_state(const carom_sim *sim, size_t *bytes);
carom_status carom_sim_restore(carom_sim *sim, const void *state, size_t bytes, carom_error *err);

/// Continue from the state of another simulation by the same scheme, of a model that differs in values of parameters
/// only.
carom_status carom_sim_continue(carom_sim *sim, const carom_sim *other, carom_error *err);

/// Bytes that the simulation reserves for the largest contact problem there can be; only what is touched of them
/// becomes memory.
size_t carom_sim_memory(const carom_sim *sim);

#ifdef __cplusplus
}
#endif

// state.c: what callers see of a simulation: its state and ledger; observers; saving and restoring.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "base/clock.h"
#include "base/missing.h"
#include "base/tolerance.h"
#include "sim/inspect.h"
#include "sim/sim.h"
#include "solver/solvers.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool carom_sim_ran_away(const carom_ledger *l) {
    static const double FAR = 1e3; // of all energy that the run knows of: nothing mechanical comes from there
    const double known = fabs(l->energy.start) + fabs(l->energy.external) + fabs(l->energy.damping);
    return known > 0 && l->energy.end > FAR * known && l->energy.balance > FAR * known;
}

// end - start - external + impact + friction + damping
static double balance(const carom_ledger *l, double energy) {
    return energy - l->energy.start - l->energy.external + l->energy.impact + l->energy.friction + l->energy.damping;
}

// Either the books do not explain it, or they do with a work that only takes: reactions and damping do not give energy.
double carom_sim_excess(const carom_ledger *l, double energy) {
    return fmax(balance(l, energy), energy - l->energy.start - fmax(0, l->energy.external) -
                                        fmax(0, -l->energy.damping) - l->impulses.created);
}

// -- observers ----------------------------------------------------------------------------------------------------

bool carom_sim_watch_dense(carom_sim *sim, int n,
                           carom_status (*on_dense)(void *user, double t, const double *q, const double *v),
                           void *user) {
    if (!sim) return false;
    if (!sim->scheme->dense) return false;
    sim->callbacks.states = n;
    sim->callbacks.dense = on_dense;
    sim->callbacks.dense_user = user;
    return true;
}
void carom_sim_watch_problems(carom_sim *sim,
                              void (*on_problem)(void *user, double t, const carom_problem *pb,
                                                 const carom_report *report),
                              void *user) {
    if (!sim) return;
    sim->inside.on_problem = on_problem;
    sim->inside.problem_user = user;
}
void carom_sim_watch_changes(carom_sim *sim, carom_status (*on_change)(void *user, const carom_change *change),
                             void *user) {
    if (!sim) return;
    sim->inside.on_change = on_change;
    sim->inside.change_user = user;
}

void carom_sim_watch_events(carom_sim *sim,
                            carom_status (*on_event)(void *user, carom_side side, double t, const double *q,
                                                     const double *v),
                            void *user) {
    if (!sim) return;
    sim->inside.on_event = on_event;
    sim->inside.event_user = user;
}
void carom_sim_stop_when(carom_sim *sim, bool (*stop)(const void *user), const void *user) {
    if (!sim) return;
    sim->inside.stop = stop;
    sim->inside.stop_user = user;
}
long carom_sim_total_steps(const carom_sim *sim) {
    if (!sim) return 0;
    return sim->control.on || !sim->plan.regular ? 0 : sim->plan.total;
}

// -- the present state ---------------------------------------------------------------------------------------

// Callers outside of the step loop always find the gaps up to date.
static void look_at_gaps(const carom_sim *sim) { carom_sim_gaps((carom_sim *)(uintptr_t)sim); }

carom_now carom_sim_now(const carom_sim *sim) {
    if (!sim) return (carom_now){0};
    look_at_gaps(sim);
    return (carom_now){.t = sim->kept->t,
                       .step = sim->kept->n,
                       .q = sim->q,
                       .v = sim->v,
                       .gap = sim->gaps.now,
                       .dir = sim->dir,
                       .impulse = sim->impulse,
                       .force = sim->force,
                       .events = sim->events,
                       .nevents = sim->step.record.nevents,
                       .reacted = sim->step.record.reacted,
                       .nu = sim->nu,
                       .lasting = sim->lasting};
}

carom_status carom_sim_velocities(carom_sim *sim, double *u, carom_error *err) {
    if (!sim || !u) return CAROM_MISSING(err);
    carom_step *s = &sim->step;
    const carom_system *sys = sim->sys;
    if (sys->speed->rates) {
        const carom_status status = sys->speed->rates(sys->model, s->sys_work, sim->kept->t, sim->q, sim->v, u);
        return status == CAROM_OK ? CAROM_OK : carom_sim_failed(sim, status, "local velocities", err);
    }
    carom_zero(u, sim->nl);
    const carom_system *seen = s->sys;
    s->sys = sys; // all constraints
    carom_close_kinds(s, &sim->all, CAROM_JOINTS | CAROM_CONTACTS);
    const carom_status status = carom_directions(s, &sim->all, sim->kept->t, sim->q);
    s->sys = seen;
    if (status != CAROM_OK) return carom_fail(err, status, "%s", sim->error.text);
    for (int id = 0; id < sim->all.nb; ++id)
        for (int k = sim->all.at[id]; k < sim->all.at[id + 1]; ++k)
            u[sim->dir[id] + k - sim->all.at[id]] = carom_column_dot(&sim->all.W, k, sim->v) + sim->all.w[k];
    return CAROM_OK;
}

void carom_sim_start_time(carom_sim *sim) {
    sim->running = true;
    sim->cpu = carom_seconds(CLOCK_THREAD_CPUTIME_ID);
    sim->wall = carom_seconds(CLOCK_MONOTONIC);
}

// What the present run has taken so far.
void carom_sim_add_time(const carom_sim *sim, carom_ledger *l) {
    if (!sim->running) return;
    l->seconds += carom_seconds(CLOCK_THREAD_CPUTIME_ID) - sim->cpu;
    l->wall += carom_seconds(CLOCK_MONOTONIC) - sim->wall;
}

// Half of the steps, or more, needed at most so many iterations.
static int median(const carom_counts *c) {
    double all = 0, below = 0;
    for (int i = 0; i <= CAROM_NEWTON_COUNTED; ++i) all += (double)c->newton_steps[i];
    for (int i = 0; i <= CAROM_NEWTON_COUNTED; ++i)
        if (2 * (below += (double)c->newton_steps[i]) >= all) return i;
    return 0;
}

carom_status carom_sim_ledger(carom_sim *sim, carom_ledger *ledger, carom_error *err) {
    if (!sim || !ledger) return CAROM_MISSING(err);
    double kinetic, potential;
    CAROM_TRY(carom_sim_energy(sim, &kinetic, &potential, err));
    *ledger = sim->kept->ledger;
    carom_sim_add_time(sim, ledger);
    ledger->switches = ledger->counts.switches;
    ledger->counts.newton_median = median(&ledger->counts);
    ledger->energy.end = kinetic + potential;
    ledger->energy.lost = ledger->impulses.lost;
    ledger->energy.created = ledger->impulses.created;
    ledger->kinetic = fmax(ledger->kinetic, kinetic);
    ledger->energy.balance = balance(ledger, ledger->energy.end);
    // far away nothing is learnt about the model
    if (!sim->grown && !carom_sim_ran_away(ledger)) carom_resolution_look(sim, ledger->pace, false);
    ledger->energy.identity = ledger->counts.terms > 0 ? ledger->counts.violation / ledger->counts.terms : NAN;
    return CAROM_OK;
}

const carom_system *carom_sim_system(const carom_sim *sim) { return sim ? sim->sys : NULL; }
void *carom_sim_work(carom_sim *sim) { return sim ? sim->step.sys_work : NULL; }

const double *carom_sim_works(const carom_sim *sim) { return sim ? sim->done : NULL; }

void carom_sim_spent(carom_sim *sim, double seconds, double wall) {
    if (!sim) return;
    sim->undo.quiet = false;
    sim->kept->ledger.seconds = seconds;
    sim->kept->ledger.wall = wall;
}

// -- saving ------------------------------------------------------------------------------------------------

const void *carom_sim_state(const carom_sim *sim, size_t *bytes) {
    if (!sim || !bytes) return NULL;
    look_at_gaps(sim);
    *bytes = sim->kept_size;
    return sim->kept;
}

void carom_sim_trim(const carom_sim *sim) {
    if (!sim) return;
    if (sim->list.slots) carom_chain_forget(sim->inside.chain);
}

// Numbers that only count up: what a run adds to them cannot overflow.
static bool counts_are_sound(const carom_kept *k) {
    const carom_ledger *l = &k->ledger;
    const carom_counts *c = &l->counts;
    const long all[] = {k->n,           k->counted_from, k->busy,          k->holding,     l->steps,
                        l->rejected,    l->switches,     l->undecided,     l->impacts,     l->accumulations,
                        l->sleep.falls, l->sleep.wakes,  c->problems,      c->iterations,  c->fallbacks,
                        c->accepted,    c->newton,       c->newton_max,    c->newton_many, c->switches,
                        c->missed,      c->substeps,        c->substeps_rejected};
    static const long most = LONG_MAX / 2;
    bool good = true;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) good = good && all[i] >= 0 && all[i] <= most;
    for (int i = 0; i <= CAROM_NEWTON_COUNTED; ++i)
        good = good && c->newton_steps[i] >= 0 && c->newton_steps[i] <= most;
    return good;
}

// A list of another length; the state holds a number for each slot, so a length that it cannot hold is none.
static bool another_length(const carom_sim *sim, const carom_kept *k, size_t bytes) {
    return sim->list.slots && k->stamp == sim->kept->stamp && sim->list.slots != k->slots && k->slots > 0 &&
           (size_t)k->slots <= bytes / sizeof *sim->list.key;
}

static carom_status restore(carom_sim *sim, const void *state, size_t bytes, carom_error *err) {
    carom_kept k;
    if (bytes != sim->kept_size)
        return carom_fail(
            err, CAROM_BAD_INPUT,
            "the saved state has %zu bytes, this simulation keeps %zu; it belongs to another model, scheme or version",
            bytes, sim->kept_size);
    memcpy(&k, state, sizeof k);
    if (k.stamp != sim->kept->stamp)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "the saved state belongs to another scheme, other options or another model");
    if (k.slots != sim->list.slots || !counts_are_sound(&k))
        return carom_fail(err, CAROM_BAD_INPUT, "the saved state is damaged: it contains impossible counts");
    const long total = sim->plan.total;
    if (!sim->control.on && !(sim->plan.row > 0)) sim->plan.total = carom_sim_last_step(sim, &k);
    const double t = carom_sim_end_of(sim, &k, k.n);
    if (sim->plan.total < 0 || (!sim->control.on && !(fabs(k.t - t) <= CAROM_INSTANT * sim->h * fmax(1, (double)k.n))))
        return sim->plan.total = total,
               carom_fail(err, CAROM_BAD_INPUT,
                          "the saved state is at step %ld, t = %g, which does not fit the step size %g", k.n, k.t,
                          sim->h);
    memcpy(sim->kept, state, bytes);
    sim->gaps.stale = sim->undo.quiet = false;
    carom_sim_adopt(sim);
    sim->step.record.nevents = 0;
    sim->step.record.reacted = true; // the saved impulses and forces belong to the last step
    return carom_sim_share(sim, err);
}

static carom_status change_length(carom_sim *sim, int slots, carom_error *err) {
    const int before = sim->list.slots;
    sim->list.slots = slots;
    const carom_status status = carom_sim_allocate(sim, err);
    if (status != CAROM_OK) sim->list.slots = before;
    return status;
}

carom_status carom_sim_restore(carom_sim *sim, const void *state, size_t bytes, carom_error *err) {
    if (!sim) return CAROM_MISSING(err);
    carom_kept k;
    if (bytes >= sizeof k) memcpy(&k, state, sizeof k);
    if (bytes < sizeof k || !another_length(sim, &k, bytes)) return restore(sim, state, bytes, err);
    const int slots = sim->list.slots;
    const size_t size = sim->kept_size;
    void *before = malloc(size); // contacts in slots that the other length lacks, in case the state is refused
    if (!before) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a simulation");
    memcpy(before, sim->kept, size);
    carom_status status = change_length(sim, (int)k.slots, err);
    if (status == CAROM_OK) {
        status = restore(sim, state, bytes, err);
        carom_error ignored;
        if (status != CAROM_OK && change_length(sim, slots, &ignored) == CAROM_OK) restore(sim, before, size, &ignored);
    }
    free(before);
    return status;
}

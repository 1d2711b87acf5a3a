// sim.c: a step of the run, planned or adaptive: what comes before it, its end, and the way back where it fails.
#include "base/missing.h"
#include "base/tolerance.h"
#include "base/number.h"
#include "sim/sim.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double TOUCHES = 1e-9; // of the coordinates and of the way of a step: a gap at the start, written by hand,
                                    // that is meant to be 0

// -- failures ------------------------------------------------------------------------------------------

// A motion that ran away fails in the end by something else, a matrix or a contact: then that is said too.
static void report_runaway(carom_sim *sim, carom_error *err) {
    carom_ledger l;
    carom_error mine;
    if (sim->grown || carom_sim_ledger(sim, &l, &mine) != CAROM_OK || !carom_sim_ran_away(&l)) return;
    const size_t used = strlen(err->text);
    carom_format(err->text + used, sizeof err->text - used,
                 "; the energy has grown from %.3g to %.3g without a cause: the step is too large for this scheme and "
                 "model, or the scheme is not "
                 "stable for it; try %s",
                 l.energy.start, l.energy.end, carom_sim_finer(sim));
}

// What the model itself knows of its failure.
static carom_status explain(const carom_sim *sim, carom_status status, carom_error *err) {
    char text[300];
    const carom_system *sys = sim->sys;
    if (status != CAROM_USER || !err || !sys->explain ||
        !sys->explain(sys->model, sim->step.sys_work, text, sizeof text))
        return status;
    const size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, ": %s", text);
    return status;
}

// A mass that vanishes, or a force that jumps with a rate, is why no method converges.
static void report_cause(const carom_sim *sim, carom_status status, carom_error *err) {
    char text[300];
    if (status != CAROM_NOT_CONVERGED || !carom_diagnosis.why_it_failed(sim, text, sizeof text)) return;
    const size_t used = strlen(err->text);
    carom_format(err->text + used, sizeof err->text - used, "; %s", text);
}

// Internal steps in millions because a force jumps: no tolerance is met there, and the run would not end.
static carom_status refuse_toil(const carom_sim *sim, carom_error *err) {
    char text[300];
    const carom_ledger *l = &sim->kept->ledger;
    if (!carom_diagnosis.why_it_toils(sim, text, sizeof text)) return CAROM_OK;
    return carom_fail(err, CAROM_NOT_CONVERGED,
                      "t = %.9g: %s has taken %.3g internal steps, %.3g for each of the run: %s", sim->kept->t,
                      sim->scheme->name, (double)l->counts.substeps,
                      (double)l->counts.substeps / fmax(1, (double)l->steps), text);
}

// -- steps ---------------------------------------------------------------------------------------------

// Contacts that touch at the start, to rounding, count as such that reacted: whether they stay is then decided as in
// later steps (CL-3).
static void hold_touching(carom_sim *sim) {
    const carom_system *sys = sim->sys;
    const double near =
        TOUCHES * (carom_size_moving(sys, sim->q, sys->nq) + sim->h * carom_size_moving(sys, sim->v, sys->nv));
    sim->gaps.touches = near;
    sim->kept->near = UINT64_MAX;
    for (int c = 0; c < sim->sys->nc; ++c) {
        sim->held[c] = sim->gaps.now[sim->sys->ne + c] <= near;
        sim->kept->holding += sim->held[c] > 0;
    }
}

// All is on until now.
static carom_status begin_switches(carom_sim *sim, carom_error *err) {
    for (int i = 0; i < sim->sys->conditional->nswitches; ++i) sim->switches.on[i] = 1;
    carom_sim_tell(sim);
    return carom_sim_switch(sim, sim->kept->t + CAROM_INSTANT * sim->h, err);
}

carom_status carom_sim_begin(carom_sim *sim, carom_error *err) {
    carom_kept *k = sim->kept;
    carom_step *s = &sim->step;
    double kinetic, potential;
    if (sim->switches.some) CAROM_TRY(begin_switches(sim, err));
    CAROM_TRY(carom_sim_list(sim, sim->h, err));
    CAROM_TRY(carom_sim_sample(sim, err));
    k = sim->kept; // the list may have wanted more memory
    k->jumped = 0;
    carom_sim_plan(sim);
    CAROM_TRY(carom_sim_observe(sim, &k->power_in, &k->power_out, err));
    CAROM_TRY(carom_sim_account_works(sim, 0, err));
    carom_sim_account_gaps(sim);
    k->ledger.compliant.which = -1;
    if (sim->sys->checks->compliant_overlap) carom_sim_account_compliant(sim);
    k->ledger.compliant.start = k->ledger.compliant.overlap;
    carom_copy(sim->gaps.first, sim->gaps.now, sim->sys->ne + carom_sim_fixed_contacts(sim));
    hold_touching(sim);
    CAROM_TRY(carom_sim_energy(sim, &kinetic, &potential, err));
    k->ledger.energy.start = kinetic + potential;
    k->ledger.kinetic = k->explained = kinetic;
    k->one_step = carom_sim_one_step(sim);
    s->t = sim->t0;
    s->h = sim->sys->signals->nsamplers ? carom_sim_planned(sim) : sim->plan.total == 1 ? sim->t_end - sim->t0 : sim->h;
    s->scale = k->speed;
    k->fastest = carom_size_moving(sim->sys, sim->v, sim->sys->nv);
    if (sim->scheme->start && sim->scheme->start(sim->scheme_work, s) != CAROM_OK)
        return carom_sim_give_up(sim, err, 0);
    carom_sim_account_step(sim); // a scheme that runs ahead may have met an impact
    k->speed = fmax(k->speed, s->scale);
    k->ledger.counts.residual_id = carom_independent_id(&sim->independent, (int)k->ledger.counts.residual_id);
    carom_resolution_look(sim, k->ledger.pace, true);
    return carom_sim_share(sim, err);
}

// Equal steps, no longer than h, whole numbers of which make dt.
static void plan_rows(carom_sim *sim, double dt) {
    const double count = dt / sim->h;
    if (!(count < CAROM_MOST_STEPS)) return;
    if (sim->sys->signals->nsamplers) {
        sim->plan.row = dt;
        carom_sim_plan(sim);
        return;
    }
    sim->plan.per_row = fmax(1, ceil(count * (1 - CAROM_INSTANT)));
    sim->plan.row = dt;
    sim->h = dt / (double)sim->plan.per_row;
    sim->plan.total = carom_sim_last_step(sim, sim->kept);
}

void carom_sim_stop_at(carom_sim *sim, double dt) {
    if (!sim) return;
    if (!sim->control.on && dt > 0 && sim->scheme->emits_events && !(sim->scheme->limitations & CAROM_NO_STEP_CHANGE))
        plan_rows(sim, dt);
    if (!sim->control.on) return;
    sim->control.stop = dt;
    // those that have passed
    if (dt > 0)
        sim->kept->stops = (long)fmin(floor((sim->kept->t - sim->t0) / dt * (1 + CAROM_QUOTIENT)), CAROM_MOST_STEPS);
}

// From kept->t over h to t_1.
static inline carom_status go_on(carom_sim *sim, double h, double t_1, carom_error *err) {
    carom_kept *k = sim->kept;
    if (sim->switches.piece) CAROM_TRY(carom_sim_between_switches(sim, h, t_1, err));
    else
        CAROM_TRY(sim->sys->events->next_jump || sim->sys->events->limit_step
                      ? carom_sim_pieces(sim, k->t, h, t_1, err)
                      : carom_sim_advance_halving(sim, k->t, h, err));
    k->t = t_1;
    return CAROM_OK;
}

// The last step, or one between sample instants: its length may be another than h.
static carom_status fitted_step(carom_sim *sim, double *h_done, carom_error *err) {
    const carom_kept *k = sim->kept;
    const double t_1 = carom_sim_end_of(sim, k, k->n + 1);
    const double planned = sim->sys->signals->nsamplers ? carom_sim_planned(sim) : sim->h;
    const bool last = sim->sys->signals->nsamplers ? t_1 == sim->t_end : k->n + 1 == sim->plan.total;
    const double h = last ? t_1 - k->t : planned;
    *h_done = h;
    return go_on(sim, fabs(h - sim->h) <= CAROM_INSTANT * sim->h ? sim->h : h, t_1, err);
}

// One step of the planned size; kept->t is moved.
static inline carom_status planned_step(carom_sim *sim, double *h_done, carom_error *err) {
    const carom_kept *k = sim->kept;
    if (sim->sys->signals->nsamplers || k->n + 1 >= sim->plan.total) return fitted_step(sim, h_done, err);
    *h_done = sim->h;
    return go_on(sim, sim->h, carom_sim_end_of(sim, k, k->n + 1), err);
}

// 16 to 32 steps in every doubling of their number: which ones does not depend on how long the run is to be.
static long stride(long n) {
#if defined(__GNUC__)
    return n < 32 ? 1 : 1L << (8 * (int)sizeof n - __builtin_clzl((unsigned long)n >> 5));
#else
    long x = 1;
    while (n >> 5 >= x) x *= 2;
    return x;
#endif
}

bool carom_sim_sampled(long n) { return (n & (stride(n) - 1)) == 0; }

static void measure_kinetic(carom_sim *sim) {
    double kinetic, potential;
    carom_error ignored;
    carom_kept *k = sim->kept;
    if (carom_sim_energy(sim, &kinetic, &potential, &ignored) != CAROM_OK) return;
    k->ledger.kinetic = fmax(k->ledger.kinetic, kinetic);
    // What an impact took was there, as seen from its wall, which may move.
    k->explained = fmax(k->explained, fmax(kinetic, sim->step.record.account.lost) -
                                          fmax(0, carom_sim_excess(&k->ledger, kinetic + potential)));
}

// (BK-7)  sum over joints of |reaction| (|g| - |g at the start|)
static void measure_drift(carom_sim *sim) {
    carom_kept *k = sim->kept;
    double sum = 0, most = 0, force = 0;
    int id = -1;
    for (int j = 0; j < sim->sys->ne; ++j) {
        const double f = fabs(sim->lasting[sim->dir[j]]),
                     work = f * (fabs(sim->gaps.now[j]) - fabs(sim->gaps.first[j]));
        force = fmax(force, f);
        if (!(work > 0)) continue;
        sum += work;
        if (work > most) most = work, id = j;
    }
    if (sum > k->joints.work && sum < HUGE_VAL)
        k->joints.work = sum, k->joints.t = k->t, k->joints.force = force, k->joints.id = id;
}

// (BK-5)  uneven = sum 1/2 |w_n - w_(n-1)|, w_n the work of damping in step n, h P where it is known at step ends.  A
//         pulse of N steps with the largest work w takes N w/2 and adds w; what varies slowly adds nothing.
static void follow_damping(carom_sim *sim, double h) {
    carom_kept *k = sim->kept;
    const double work = sim->inside.power.accounted ? k->ledger.energy.damping - k->damped : h * k->power_out;
    if (k->n > k->counted_from + 1) k->uneven += 0.5 * fabs(work - k->damped_step);
    k->damped = k->ledger.energy.damping;
    k->damped_step = work;
}

static inline carom_status take_step(carom_sim *sim, double *h, carom_error *err) {
    return sim->control.on ? carom_adaptive_step(sim, h, err) : planned_step(sim, h, err);
}

carom_status carom_sim_ready(carom_sim *sim, carom_error *err) {
    if (!sim) return CAROM_MISSING(err);
    // before the first step, too: a state that was restored comes with the list of another time
    return sim->list.slots ? carom_sim_list(sim, sim->control.on ? sim->kept->h_next : sim->h, err) : CAROM_OK;
}

// (LST-4)  A scheme that must not miss a contact says how long the list has to be, step by step of its integrator
//          (carom_list_suffices).  One that was too short may have missed some: the step is made again with a longer
//          one.  The next one is a little longer than this step needed; it shrinks slowly, so that few steps are made
//          twice.
static carom_status take_listed_step(carom_sim *sim, double *h, carom_error *err) {
    enum { TRIES = 64 }; // each time half as long again: 1e11 times the first length
    enum { FEW = 8 };    // pairs that cost less than steps which are taken twice
    // too short: half as much again; else a quarter to spare, and half of an excess goes in 14 steps
    static const double MORE = 1.5, SPARE = 1.25, SHRINKS = 0.95;
    carom_inside *in = sim->step.inside;
    for (int tries = 0;; ++tries) {
        in->margin = -HUGE_VAL; // not requested: the step is inside one that the scheme took before
        const carom_status status = take_step(sim, h, err);
        const double had = sim->kept->reach;
        if (!(in->margin > had) || in->margin == HUGE_VAL || tries == TRIES) {
            const bool asked = in->margin > -HUGE_VAL;
            if (asked) sim->kept->wanted = SPARE * fmax(0, in->margin);
            if (asked || sim->list.pairs > FEW) sim->kept->reach = fmax(sim->kept->wanted, SHRINKS * had);
            return status;
        }
        carom_sim_undo(sim);
        sim->kept->reach = MORE * fmax(in->margin, had);
        CAROM_TRY(carom_sim_list(sim, sim->control.on ? sim->kept->h_next : sim->h, err));
        carom_sim_mark(sim);
        sim->step.record.substeps = 0;
        in->spent = in->calls = in->multiplied = 0;
    }
}

// (FV-4)  Before the first step no reactions are known.  Those of a trial step are, and of another one with them; both
//         are undone.
static void guess_reactions(carom_sim *sim) {
    enum { TRIALS = 3 };
    for (int i = 0; i < TRIALS; ++i) {
        carom_error none = {0};
        double h;
        carom_sim_mark(sim);
        const carom_status status = take_step(sim, &h, &none);
        if (status == CAROM_OK) carom_sim_share_reactions(sim), carom_last_reactions(sim, h);
        carom_copy(sim->guess, sim->reaction, sim->nl);
        carom_sim_undo(sim);
        carom_copy(sim->reaction, sim->guess, sim->nl);
    }
}

// What happened at contacts in a step of length h from t_0 on.  reacts: some reacted in it or in the step before.
static inline void book_contacts(carom_sim *sim, double t_0, double h, bool reacts) {
    carom_step *s = &sim->step;
    if (reacts || sim->kept->busy || sim->scheme->emits_events) carom_contacts_update(sim, t_0, h);
    if (sim->independent.rows.k > 0) carom_sim_share_reactions(sim);
    if (reacts) carom_lasting_forces(sim, h);
    if (sim->reaction) carom_last_reactions(sim, h);
    for (int i = 0; i < s->record.nevents && sim->list.slots; ++i)
        s->record.events[i].contact =
            carom_sim_known_as(sim, sim->sys->ne + (int)s->record.events[i].contact) - sim->sys->ne;
    if (s->record.nevents > 0 && sim->gaps.watched) carom_diagnosis.after_impacts(sim, h);
}

// A step of length h from t_0 is done.  reacts: in the step before contacts reacted; known: the gaps at its end leave
// the ledger as it is.
static carom_status end_step(carom_sim *sim, double t_0, double h, bool reacts, bool known, carom_error *err) {
    carom_kept *k = sim->kept;
    carom_step *s = &sim->step;
    k->n += 1;
    const bool looks = carom_sim_sampled(k->n);
    if (sim->unseen.impulse && !sim->control.on) carom_diagnosis.after_forces(sim, t_0);
    // time and number are all there is to book
    if (known && sim->forecast.alone && !sim->switches.some && !sim->unseen.impulse && !s->record.reacted && !reacts &&
        !k->busy && !looks) {
        k->ledger.steps = k->n - k->counted_from;
        sim->gaps.stale = true;
        sim->undo.quiet = h == sim->h && s->contact.scale == 0;
        return CAROM_OK;
    }
    carom_status booked = carom_sim_account(sim, t_0, h, known, err);
    if (booked == CAROM_OK && sim->independent.rows.k > 0) booked = carom_sim_check_rows(sim, err);
    if (looks && booked == CAROM_OK && carom_resolution_mass(sim) != CAROM_OK) booked = carom_sim_give_up(sim, err, 0);
    if (booked != CAROM_OK) return booked;
    if (s->record.reacted || reacts || k->busy || sim->scheme->emits_events || sim->independent.rows.k > 0 ||
        sim->reaction)
        book_contacts(sim, t_0, h, s->record.reacted || reacts);
    k->jumped = 0;
    k->ledger.steps = k->n - k->counted_from;
    if (sim->sys->power) follow_damping(sim, h);
    if (looks || s->record.account.lost > k->explained) measure_kinetic(sim);
    if (looks && sim->sys->ne > 0 && !sim->gaps.stale) measure_drift(sim);
    if (k->n >= 4096 && (k->n & (k->n - 1)) == 0) carom_resolution_look(sim, k->ledger.pace, false);
    CAROM_TRY(carom_sim_switch_accounted(sim, err));
    if (!sim->sys->signals->nsamplers) return CAROM_OK;
    CAROM_TRY(carom_sim_sample(sim, err));
    if (k->n >= k->to_n) carom_sim_plan(sim);
    return CAROM_OK;
}

// A step after a quiet one, of the same length: all that a step is told stands but for time and number.  *taken: it is
// done; else something reacts in it, or fails, and it is undone.
static carom_status quiet_step(carom_sim *sim, bool *taken, carom_error *err) {
    carom_kept *k = sim->kept;
    carom_step *s = &sim->step;
    const double t_0 = k->t;
    *taken = false;
    if (k->n + 1 >= sim->plan.total || carom_sim_sampled(k->n + 1) || !(sim->gaps.lazy && sim->forecast.alone))
        return CAROM_OK;
    carom_sim_follow(sim);
    s->t = t_0;
    s->n = k->n;
    s->record.t = t_0 + sim->h;
    carom_status status = sim->scheme->step(sim->scheme_work, s);
    double fastest = 0;
    for (int i = 0; i < sim->sys->nv; ++i) fastest = fabs(sim->v[i]) > fastest ? fabs(sim->v[i]) : fastest;
    *taken = status == CAROM_OK && !s->record.reacted && s->contact.scale == 0 && fastest < CAROM_GROWN;
    sim->undo.quiet = *taken && carom_gaps_known(sim);
    if (*taken) {
        k->fastest = fastest > k->fastest ? fastest : k->fastest;
        k->t = carom_sim_end_of(sim, k, k->n + 1);
        if (!sim->undo.quiet) status = end_step(sim, t_0, sim->h, false, false, err);
        else k->n += 1, k->ledger.steps = k->n - k->counted_from;
    }
    if (*taken && status == CAROM_OK) return CAROM_OK;
    if (*taken) explain(sim, status, err);
    carom_sim_undo(sim);
    return *taken ? status : CAROM_OK;
}

// A step before the end, or a failure: then all is as before it.
carom_status carom_sim_whole_step(carom_sim *sim, carom_error *err) {
    bool quiet = sim->undo.quiet && !sim->switches.some;
    if (quiet) CAROM_TRY(quiet_step(sim, &quiet, err));
    if (quiet) return CAROM_OK;

    carom_step *s = &sim->step;
    carom_inside *in = s->inside;
    // a look may cost as much as a step
    if (sim->scheme->controls_own_steps && carom_sim_sampled(sim->kept->n)) CAROM_TRY(refuse_toil(sim, err));
    CAROM_TRY(carom_sim_ready(sim, err));
    carom_kept *k = sim->kept; // the list of contacts may have wanted more memory
    sim->undo.refused_scale = 0;
    sim->grown = false;
    in->spent = in->calls = in->multiplied = 0;
    if (k->n == 0 && sim->reaction && !sim->scheme->emits_events) guess_reactions(sim);
    const double residual = k->ledger.counts.residual, t_0 = k->t;
    const bool reacts = s->record.reacted; // did so in the step before
    carom_sim_mark(sim);
    s->record.substeps = 0;
    in->t_0 = sim->t0;
    in->t_end = sim->t_end;
    sim->unbooked = HUGE_VAL;
    double h;
    carom_status status = sim->list.slots ? take_listed_step(sim, &h, err) : take_step(sim, &h, err);
    k = sim->kept; // as above
    const bool taken = status == CAROM_OK;
    if (taken && k->ledger.counts.residual > residual) {
        k->ledger.residual_t = k->t;
        k->ledger.counts.residual_id =
            carom_sim_known_as(sim, carom_independent_id(&sim->independent, (int)k->ledger.counts.residual_id));
    }
    if (taken) status = end_step(sim, t_0, h, reacts, carom_gaps_known(sim), err);
    if (status == CAROM_OK) return CAROM_OK;
    explain(sim, status, err);
    carom_sim_undo(sim);
    if (!taken && err) report_runaway(sim, err), report_cause(sim, status, err);
    return status;
}

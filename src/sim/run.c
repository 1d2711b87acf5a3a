// run.c: steps up to the end: one, one that stops at a time, all of them.
#include "base/missing.h"
#include "base/tolerance.h"
#include "sim/sim.h"
#include <float.h>
#include <math.h>

bool carom_sim_done(const carom_sim *sim) {
    if (!sim) return false;
    return sim->control.on || sim->sys->signals->nsamplers ? sim->kept->t >= sim->t_end
                                                            : sim->kept->n >= sim->plan.total;
}

carom_status carom_sim_step(carom_sim *sim, carom_error *err) {
    if (!sim) return CAROM_MISSING(err);
    return carom_sim_done(sim) ? carom_fail(err, CAROM_END, "the end time %g is reached", sim->t_end)
                               : carom_sim_whole_step(sim, err);
}

// From t to the end of the next step, or to `end` if that comes first.
carom_status carom_sim_step_until(carom_sim *sim, double end, carom_error *err) {
    if (!sim) return CAROM_MISSING(err);
    carom_kept *k = sim->kept;
    if (carom_sim_done(sim) || !(end > k->t)) return carom_sim_step(sim, err);
    // 8: instants that are reckoned in two ways
    const bool whole = carom_sim_end_of(sim, k, k->n + 1) <= end + CAROM_INSTANT * sim->h + 8 * DBL_EPSILON * fabs(end);
    if (!sim->control.on && whole) return carom_sim_step(sim, err);
    if (!sim->control.on && sim->scheme->limitations & CAROM_NO_STEP_CHANGE)
        return carom_fail(
            err, CAROM_UNSUPPORTED,
            "t = %.9g: a step of %s cannot be shortened to end at %.9g; stop at a multiple of the step %g", k->t,
            sim->scheme->name, end, sim->h);
    const double t_end = sim->t_end;
    const long total = sim->plan.total;
    sim->t_end = end;
    sim->plan.total = k->n + 1;
    const carom_status status = carom_sim_step(sim, err);
    sim->t_end = t_end;
    sim->plan.total = total;
    k = sim->kept; // it may have wanted more memory
    if (status == CAROM_OK && !sim->control.on) {
        k->from_n = k->n, k->from_t = k->t;
        sim->plan.total = carom_sim_last_step(sim, k);
    }
    if (status == CAROM_OK) carom_sim_plan(sim);
    return status;
}

static carom_status run(carom_sim *sim, carom_status (*on_step)(void *user, const carom_now *now), void *user,
                        bool lazy, carom_error *err) {
    if (!sim) return CAROM_MISSING(err);
    carom_error mine;
    carom_sim_start_time(sim);
    carom_status status = CAROM_OK;
    carom_now now = carom_sim_now(sim);
    sim->gaps.lazy = lazy && sim->inside.noted.on;
    while (status == CAROM_OK && !carom_sim_done(sim)) {
        status = carom_sim_whole_step(sim, err ? err : &mine);
        if (status != CAROM_OK || !on_step) continue;
        if (sim->list.slots) now = carom_sim_now(sim);
        now.t = sim->kept->t;
        now.step = sim->kept->n;
        now.nevents = sim->step.record.nevents;
        now.reacted = sim->step.record.reacted;
        status = on_step(user, &now);
    }
    sim->gaps.lazy = false;
    carom_sim_gaps(sim);
    carom_sim_add_time(sim, &sim->kept->ledger);
    sim->running = sim->undo.quiet = false;
    return status;
}

carom_status carom_sim_run(carom_sim *sim, carom_status (*on_step)(void *user, const carom_now *now), void *user,
                           carom_error *err) {
    return run(sim, on_step, user, !on_step, err);
}

carom_status carom_sim_run_lazily(carom_sim *sim, carom_status (*on_step)(void *user, const carom_now *now), void *user,
                                  carom_error *err) {
    return run(sim, on_step, user, true, err);
}

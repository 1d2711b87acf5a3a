// part.c: looking inside a step that is done, counting anew from here, going on where another simulation stands.
#include "base/missing.h"
#include "sim/inspect.h"
#include "sim/sim.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The state as it was before the step just done.  Where contacts come and go, the list of that step is made again: with
// the reach that the step has needed, and with as many slots as there were.
static carom_status go_back(carom_sim *sim, const void *before, carom_error *err) {
    const carom_kept *then = before;
    const double reach = sim->kept->reach;
    if (sim->list.slots && then->slots != sim->list.slots) {
        sim->list.slots = (int)then->slots;
        CAROM_TRY(carom_sim_allocate(sim, err));
    }
    memcpy(sim->kept, before, sim->kept_size);
    carom_sim_adopt(sim);
    if (!sim->list.slots) return CAROM_OK;
    sim->kept->reach = fmax(sim->kept->reach, reach);
    return carom_sim_list(sim, sim->control.on ? sim->kept->h_next : sim->h, err);
}

carom_status carom_sim_between(carom_sim *sim, const void *before, double t, double *q, double *v, void *room,
                               carom_error *err) {
    if (!sim || !before || !q || !v || !room) return CAROM_MISSING(err);
    carom_step *s = &sim->step;
    const bool reacted = s->record.reacted;
    const int events = s->record.nevents, slots = sim->list.slots;
    const size_t size = sim->kept_size;
    carom_status (*const on_inner)(void *, double, const double *, const double *) = sim->callbacks.inner;
    carom_status (*const on_event)(void *, carom_side, double, const double *, const double *) = s->inside->on_event;
    carom_status (*const on_change)(void *, const carom_change *) = s->inside->on_change;
    // a list may have become longer since there was room
    void *const user = sim->callbacks.inner_user, *const kept = slots ? malloc(size) : room;
    if (!kept) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a simulation");
    memcpy(kept, sim->kept, size);
    carom_sim_watch_inner(sim, NULL, NULL); // observers do not see these steps
    s->inside->on_event = NULL;
    s->inside->on_change = NULL;
    s->record.nevents = 0;
    carom_status status = go_back(sim, before, err);
    carom_zero(s->record.impulse, sim->nl);
    carom_zero(s->record.force, sim->nl);
    if (status == CAROM_OK && t > sim->kept->t)
        status = sim->switches.piece ? carom_sim_between_switches(sim, t - sim->kept->t, t, err)
                            : carom_sim_advance(sim, sim->kept->t, t - sim->kept->t, err);
    carom_copy(q, sim->q, sim->sys->nq);
    carom_copy(v, sim->v, sim->sys->nv);
    if (sim->list.slots != slots) {
        carom_error own;
        sim->list.slots = slots;
        const carom_status again = carom_sim_allocate(sim, &own);
        if (again != CAROM_OK) return free(kept), carom_fail(err, again, "%s", own.text);
    }
    memcpy(sim->kept, kept, size);
    if (slots) free(kept);
    carom_sim_adopt(sim);
    carom_sim_watch_inner(sim, on_inner, user);
    s->inside->on_event = on_event;
    s->inside->on_change = on_change;
    s->record.reacted = reacted;
    s->record.nevents = events;
    return status;
}

carom_status carom_sim_count_anew(carom_sim *sim, carom_error *err) {
    if (!sim) return CAROM_MISSING(err);
    double kinetic, potential;
    CAROM_TRY(carom_sim_energy(sim, &kinetic, &potential, err));
    const carom_ledger fresh = {.energy.start = kinetic + potential,
                                .kinetic = kinetic,
                                .penetration_id = -1,
                                .compliant.which = -1,
                                .drift_id = -1,
                                .counts.residual_id = -1};
    sim->kept->residual = fmax(sim->kept->residual, sim->kept->ledger.counts.residual); // (CL-2) goes on
    sim->kept->ledger = fresh;
    sim->undo.quiet = false;
    sim->kept->explained = kinetic;
    sim->kept->one_step = carom_sim_one_step(sim);
    sim->kept->counted_from = sim->kept->n;
    sim->kept->damped = sim->kept->uneven = 0;
    sim->kept->joints.work = 0;
    sim->kept->off.way = 0;
    return CAROM_OK;
}

carom_status carom_sim_continue(carom_sim *sim, const carom_sim *other, carom_error *err) {
    if (!sim || !other) return CAROM_MISSING(err);
    const uint64_t stamp = sim->kept->stamp;
    if (sim->scheme != other->scheme || sim->sys->nq != other->sys->nq || sim->sys->nv != other->sys->nv ||
        sim->list.slots || sim->kept_size != other->kept_size)
        return carom_fail(err, CAROM_BAD_INPUT, "t = %.9g: the state does not fit the model with its new values",
                          other->kept->t);
    memcpy(sim->kept, other->kept, sim->kept_size);
    sim->kept->stamp = stamp;
    sim->undo.quiet = false;
    sim->gaps.stale = sim->sys->ne + sim->sys->nc > 0; // gaps are those of the other model
    if (!sim->control.on && !(sim->plan.row > 0)) sim->plan.total = carom_sim_last_step(sim, sim->kept);
    carom_sim_adopt(sim);
    sim->step.record.nevents = 0;
    sim->step.record.reacted = true; // the impulses and forces belong to the last step
    return carom_sim_share(sim, err);
}

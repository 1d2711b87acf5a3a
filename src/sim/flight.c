// flight.c: steps in which nothing touches, one after the other.
//
// Of the books of such a step only its time and its number change, as long as the gaps at its end are known to be neither the smallest nor the largest so far.
// Every other step goes the whole way (carom_sim_step), also one that a flight was tried for in vain.
#include "scheme/forecast.h"
#include "sim/sim.h"

bool carom_sim_flies(const carom_sim *sim) {
    const carom_system *sys = sim->sys;
    const carom_step *s = &sim->step;
    return sim->lazy && sim->scheme->flight && sys->motion && sim->inside.forecast.reach.powerless && !sim->control.on && !sys->nsamplers && !sys->nworks &&
           !sim->list.slots && sim->independent.rows.k == 0 && !sim->on_dense && !s->on_inner && !s->rub && !sim->reaction && !s->nu;
}

// The next step that has to go the whole way: the last, and those after which the books look closer.
static long next_whole(const carom_sim *sim, long n) {
    const long next = carom_sim_next_sampled(n);
    return next < sim->total ? next : sim->total;
}

static bool stopped(const carom_sim *sim) { return sim->inside.stop && sim->inside.stop(sim->inside.stop_user); }

// Did contacts take no part in the last step, and is nothing left of those before?
static bool free_of_contacts(const carom_sim *sim) {
    const carom_kept *k = sim->kept;
    return !sim->step.reacted && !sim->had_reacted && !k->busy && !k->holding && !k->jumped && sim->step.nevents == 0;
}

// One step.  *flown: it is done.
static carom_status fly(carom_sim *sim, bool *flown, carom_error *err) {
    carom_kept *k = sim->kept;
    carom_step *s = &sim->step;
    const double t_0 = k->t, t_1 = carom_sim_end_of(sim, k, k->n + 1);
    s->t = t_0;
    s->n = k->n;
    *flown = sim->scheme->flight(sim->scheme_work, s);
    if (!*flown) return CAROM_OK;
    k->t = t_1;
    if (!carom_gaps_known(sim)) return carom_sim_end_step(sim, t_0, s->h, false, err);
    k->n += 1;
    k->ledger.steps = k->n - k->counted_from;
    sim->stale = true;
    return CAROM_OK;
}

carom_status carom_sim_fly(carom_sim *sim, carom_status (*on_step)(void *user, const carom_now *now), void *user, carom_now *now, carom_error *err) {
    const carom_kept *k = sim->kept;
    carom_step *s = &sim->step;
    carom_forecast *f = &sim->inside.forecast;
    carom_status status = CAROM_OK;
    if (k->n == 0 || !free_of_contacts(sim)) return status;
    const long whole = next_whole(sim, k->n);
    if (k->n + 1 >= whole || !carom_forecast_follows(f, sim->h, sim->q, sim->v, sim->sys->nv)) return status;
    s->h = sim->h;
    s->q_0 = sim->q_0;
    s->v_0 = sim->v_0;
    sim->largest_0 = carom_largest_of(k); // flights leave it
    sim->refused = sim->grown = sim->own_saved = sim->books_saved = false;
    bool flown = true, some = false;
    double ahead = f->nearest; // about the smallest gap in the middle of the next step: where that is closed, a flight would be tried in vain
    while (status == CAROM_OK && k->n + 1 < whole && ahead >= CAROM_NOTICED && !stopped(sim)) {
        const double last = f->nearest;
        status = fly(sim, &flown, err);
        if (!flown || status != CAROM_OK) break;
        some = true;
        ahead = f->nearest + 0.5 * (f->nearest - last);
        if (!on_step) continue;
        now->t = k->t;
        now->step = k->n; // events and reactions: none, as before (free_of_contacts)
        status = on_step(user, now);
    }
    if (some) carom_forecast_keep(f, s, sim->sys->nv);
    return status;
}

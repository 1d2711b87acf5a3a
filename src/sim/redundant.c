// redundant.c: constraints that schemes do not see because others imply them: which ones, and their share of the
// recorded reactions.
#include "sim/sim.h"

// p by number of all constraints, from that of the first n - k of `order` and the contacts; and back.
static void spread(const carom_sim *sim, double *all, const double *seen, const int *order) {
    const carom_redundant *r = &sim->independent.rows;
    const int kept = r->n - r->k;
    carom_zero(all, r->n);
    for (int i = 0; i < kept; ++i) all[order[i]] = seen[i];
    carom_copy(all + r->n, seen + kept, sim->nl - r->n);
}

// Reactions of rows that were kept become those of the rows that are.
static void pass_on(carom_sim *sim, double *seen) {
    carom_redundant *r = &sim->independent.rows;
    spread(sim, sim->booked, seen, r->before);
    carom_redundant_gather(r, sim->booked);
    for (int i = 0; i < r->n - r->k; ++i) seen[i] = sim->booked[r->order[i]];
}

// Kept rows that have become weak are chosen anew.
static bool look(carom_sim *sim, double t, const double *q) {
    bool changed;
    if (!carom_redundant_look(&sim->independent.rows, sim->step.sys_work, t, q, &changed)) return false;
    if (changed)
        pass_on(sim, sim->inside.warm), pass_on(sim, sim->step.record.impulse), pass_on(sim, sim->step.record.force);
    return true;
}

// At the ends of steps inside a step.
static carom_status look_inside(void *user, double t, const double *q, const double *v) {
    carom_sim *sim = user;
    if (!(sim->sys->flags & CAROM_CONSTANT_DIRECTIONS) && !look(sim, t, q)) return CAROM_RETRY;
    return sim->callbacks.inner ? sim->callbacks.inner(sim->callbacks.inner_user, t, q, v) : CAROM_OK;
}

carom_status carom_sim_check_rows(carom_sim *sim, carom_error *err) {
    if (sim->independent.rows.k == 0 || look(sim, sim->kept->t, sim->q)) return CAROM_OK;
    return carom_sim_failed(sim, CAROM_USER, "constraint directions", err);
}

// Recorded reactions of all constraints.
void carom_sim_share_reactions(carom_sim *sim) {
    carom_redundant *r = &sim->independent.rows;
    if (r->k == 0) return;
    spread(sim, sim->impulse, sim->step.record.impulse, r->order);
    spread(sim, sim->force, sim->step.record.force, r->order);
    if (sim->nu) spread(sim, sim->nu, sim->step.record.nu, r->order), carom_redundant_share(r, sim->nu);
    carom_redundant_share(r, sim->impulse);
    carom_redundant_share(r, sim->force);
}

carom_status carom_sim_share(carom_sim *sim, carom_error *err) {
    CAROM_TRY(carom_sim_check_rows(sim, err));
    carom_sim_share_reactions(sim);
    return CAROM_OK;
}

void carom_sim_watch_inner(carom_sim *sim,
                           carom_status (*on_inner)(void *user, double t, const double *q, const double *v),
                           void *user) {
    if (!sim) return;
    const bool looks = sim->independent.rows.k > 0;
    sim->callbacks.inner = on_inner;
    sim->callbacks.inner_user = user;
    sim->step.inside->on_substep = looks ? look_inside : on_inner;
    sim->inside.substep_user = looks ? sim : user;
}

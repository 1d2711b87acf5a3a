// contacts.c: what happened at each contact in the last step, for the ledger.
#include "sim/sim.h"

// (BK-3)  What a scheme knows as an impulse only is, in lasting contact, a force: impulse/h.  Not so in an impact, and then for joints
//         neither.
static void forces_of_impulses(carom_sim *sim, double h) {
    carom_step *s = &sim->step;
    const int ne = sim->sys->ne, all = ne + sim->sys->nc;
    bool impact = false;
    for (int i = 0; i < s->nevents; ++i) {
        if (s->events[i].kind != CAROM_IMPACT) continue;
        impact = true;
        sim->struck[s->events[i].contact] = true;
    }
    for (int id = 0; id < all; ++id) {
        const int d = sim->dir[id];
        const bool lasts = id < ne ? !impact : sim->memory[id - ne].closed && !sim->struck[id - ne];
        if (!lasts || s->force[d] != 0 || s->impulse[d] == 0) continue;
        for (int k = d; k < sim->dir[id + 1]; ++k) s->force[k] = s->impulse[k] / h;
    }
    for (int i = 0; i < s->nevents; ++i)
        if (s->events[i].kind == CAROM_IMPACT) sim->struck[s->events[i].contact] = false;
}

void carom_contacts_update(carom_sim *sim, double h) {
    carom_step *s = &sim->step;
    carom_ledger *l = &sim->kept->ledger;
    sim->kept->busy = 0;
    for (int c = 0; c < sim->sys->nc && !sim->scheme->tells; ++c) {
        carom_memory_update(sim->memory + c, s, sim->kept->t, c);
        sim->kept->busy += sim->memory[c].reacting > 0 || sim->memory[c].closed;
    }
    if (s->reacted && !sim->scheme->tells) forces_of_impulses(sim, h);
    for (int i = 0; i < s->nevents; ++i) {
        if (s->events[i].kind == CAROM_IMPACT) l->impacts += 1;
        if (s->events[i].kind == CAROM_ACCUMULATION) l->accumulations += 1;
    }
}

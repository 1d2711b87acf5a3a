// contacts.c: what happened at each contact in the last step, for the ledger.
#include "sim/sim.h"

void carom_contacts_update(carom_sim *sim) {
    carom_step *s = &sim->step;
    carom_ledger *l = &sim->kept->ledger;
    sim->kept->busy = 0;
    for (int c = 0; c < sim->sys->nc && !sim->scheme->tells; ++c) {
        carom_memory_update(sim->memory + c, s, sim->kept->t, c);
        sim->kept->busy += sim->memory[c].reacting > 0 || sim->memory[c].closed;
    }
    for (int i = 0; i < s->nevents; ++i) {
        if (s->events[i].kind == CAROM_IMPACT) l->impacts += 1;
        if (s->events[i].kind == CAROM_ACCUMULATION) l->accumulations += 1;
    }
}

// slots.c: the slots of contacts that come and go: their memory, how many are in use, the names of the contacts in
// them.
#include "base/pages.h"
#include "sim/sim.h"

// nc of the systems that the simulation and its scheme see, and the directions in use: slots behind them are blank.
static void set_count(carom_sim *sim, int slots) {
    sim->own.nc += slots - sim->own.listed;
    sim->own_events.nk += sim->own_events.kinks_per_slot * (slots - sim->own.listed);
    sim->own.listed = slots;
    sim->nl = sim->dir[sim->own.ne + sim->own.nc];
    if (sim->step.sys == sim->sys) return;
    sim->independent.sys.nc = sim->own.nc, sim->independent.sys.listed = slots;
    sim->independent.extensions.events.nk = sim->own_events.nk;
}

void carom_sim_blank(carom_sim *sim, int c) {
    const int d = sim->dir[sim->sys->ne + c], n = sim->dir[sim->sys->ne + c + 1] - d,
              shift = sim->step.sys->ne - sim->sys->ne;
    double *warm = sim->step.inside->warm;
    sim->memory[c] = (carom_memory){.touched = sim->kept->t - sim->t0};
    sim->held[c] = 0;
    if (warm) carom_zero_changes(warm + d + shift, (size_t)n);
    carom_zero(sim->lasting + d, n);
    if (sim->reaction) carom_zero(sim->reaction + d, n);
}

void carom_sim_list_make(carom_sim *sim) {
    if (!sim->sys->listed) return;
    sim->own = *sim->sys;
    sim->list.slots = sim->own.listed;
    sim->list.freezes = sim->scheme->follows_features && sim->own.contact_list->freeze;
    sim->list.measured = sim->scheme->recalls;
    sim->own_events = *sim->own.events;
    sim->own.events = &sim->own_events;
    if (sim->list.freezes) sim->own_events.freeze = sim->own.contact_list->freeze;
    sim->slot = sim->own.contacts[sim->own.nc - 1];
    sim->sys = &sim->own;
}

void carom_sim_list_allocate(carom_sim *sim, carom_arena *mem, carom_arena *keep) {
    carom_list *l = &sim->list;
    const size_t n = (size_t)l->slots;
    if (n == 0) return;
    l->key = carom_allocate_bytes(keep, n * sizeof *l->key);
    l->sleep_timers = sim->own.contact_list->sleeps
                          ? carom_allocate(keep, (size_t)sim->own.nparts + 1 + 2 * (size_t)sim->own.nv)
                          : NULL;
    l->asleep =
        sim->own.contact_list->sleeps ? carom_allocate_bytes(keep, (size_t)sim->own.nparts * sizeof *l->asleep) : NULL;
    sim->slept =
        sim->own.contact_list->sleeps ? carom_allocate_bytes(keep, (size_t)sim->own.nparts * sizeof *sim->slept) : NULL;
    l->is_new = carom_allocate_bytes(mem, n * sizeof *l->is_new);
    l->stays = carom_allocate_bytes(mem, n * sizeof *l->stays);
    l->work = carom_allocate_bytes(mem, sim->own.contact_list->work_size(sim->own.model, l));
}

void carom_sim_tell(carom_sim *sim) {
    const carom_system *sys = sim->sys;
    if (sys->signals->ni) sys->signals->set(sys->model, sim->step.sys_work, sim->input);
    if (!sim->switches.some) return;
    for (int i = 0; i < sys->conditional->nswitches; ++i) sim->switches.off[i] = sim->switches.on[i] == 0;
    // steps in pieces: a list serves all of them, whatever is there
    sim->list.off = sim->switches.piece ? NULL : sim->switches.off;
    sys->conditional->set(sys->model, sim->step.sys_work, sim->switches.on);
}

void carom_sim_adopt(carom_sim *sim) {
    carom_sim_tell(sim);
    if (!sim->list.slots) return;
    sim->list.used = 0;
    for (int i = 0; i < sim->list.slots; ++i)
        if (sim->list.key[i]) sim->list.used = i + 1;
    sim->own.contact_list->adopt(sim->own.model, sim->step.sys_work, &sim->list);
    set_count(sim, sim->list.used);
}

void carom_sim_team(carom_sim *sim, struct carom_team *team) {
    if (!sim) return;
    sim->step.inside->team = sim->list.team = team;
    carom_sim_adopt(sim);
}

long long carom_sim_known_as(const carom_sim *sim, int id) {
    const int first = sim->sys->ne + sim->sys->nc - sim->sys->listed;
    return sim->list.slots && id >= first && id < first + sim->list.used
               ? sim->own.contact_list->number_of(sim->own.model, &sim->list, id - first)
               : id;
}

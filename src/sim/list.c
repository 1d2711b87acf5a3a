// list.c: contacts that come and go: once a step the list of those that may close is brought up to date.
//
// Contacts keep their slots while they stay, so that whatever is kept of a contact stays its own; a slot that holds another contact
// starts afresh.  Where slots do not suffice the simulation gets a larger block of memory, between two steps.
#include "base/pages.h"
#include "sim/sim.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// nc of the systems that the simulation and its scheme see, and the directions in use: slots behind them are blank.
static void set_count(carom_sim *sim, int slots) {
    sim->own.nc += slots - sim->own.listed;
    sim->own.listed = slots;
    sim->nl = sim->dir[sim->own.ne + sim->own.nc];
    if (sim->step.sys != sim->sys) sim->independent.sys.nc = sim->own.nc, sim->independent.sys.listed = slots;
}

void carom_sim_list_make(carom_sim *sim) {
    if (!sim->sys->listed) return;
    sim->own = *sim->sys;
    sim->list.slots = sim->own.listed;
    sim->slot = sim->own.contacts[sim->own.nc - 1];
    sim->sys = &sim->own;
}

void carom_sim_list_allocate(carom_sim *sim, carom_arena *mem, carom_arena *keep) {
    carom_list *l = &sim->list;
    const size_t n = (size_t)l->slots;
    if (n == 0) return;
    l->holds = carom_allocate_bytes(keep, n * sizeof *l->holds);
    l->calm = sim->own.sleeps ? carom_allocate(keep, (size_t)sim->own.nparts + 1 + 2 * (size_t)sim->own.nv) : NULL;
    l->asleep = sim->own.sleeps ? carom_allocate_bytes(keep, (size_t)sim->own.nparts * sizeof *l->asleep) : NULL;
    sim->slept = sim->own.sleeps ? carom_allocate_bytes(mem, (size_t)sim->own.nparts * sizeof *sim->slept) : NULL;
    l->fresh = carom_allocate_bytes(mem, n * sizeof *l->fresh);
    l->work = carom_allocate_bytes(mem, sim->own.list_work(sim->own.model, l->slots));
}

// A slot's contact is another one: nothing is known of it.
static void blank(carom_sim *sim, int c) {
    const int d = sim->dir[sim->own.ne + c], n = sim->dir[sim->own.ne + c + 1] - d, shift = sim->step.sys->ne - sim->own.ne;
    carom_step *s = &sim->step;
    double *const by_direction[] = {s->inside->warm, s->impulse, s->force, s->nu};
    sim->memory[c] = (carom_memory){.touched = sim->kept->t - sim->t0};
    sim->held[c] = s->lost[c] = 0;
    carom_zero(sim->lasting + d, n);
    for (int i = 0; i < 4; ++i)
        if (by_direction[i]) carom_zero_changes(by_direction[i] + d + shift, (size_t)n);
    if (sim->reaction) carom_zero(sim->reaction + d, n);
}

// Tolerances of many contacts, where none is given: a pile stands still with them (docs/large-systems.md).
enum { LARGE = 250 }; // pairs that are near each other
static const double LARGE_TOL = 1e-3, LARGE_ACCEPT = 1e-2;

static void set_tolerances(carom_sim *sim) {
    const double *given = sim->opt + carom_option_count(sim->scheme->options);
    const bool loose = sim->list.pairs > LARGE && given[CAROM_OPT_TOL] == carom_common_options[CAROM_OPT_TOL].fallback;
    sim->step.tol = loose ? LARGE_TOL : given[CAROM_OPT_TOL];
    sim->inside.accept = loose ? fmax(LARGE_ACCEPT, given[CAROM_OPT_ACCEPT]) : given[CAROM_OPT_ACCEPT];
}

void carom_sim_adopt(carom_sim *sim) {
    if (sim->sys->ni) sim->sys->inputs(sim->sys->model, sim->step.sys_work, sim->input);
    if (!sim->list.slots) return;
    sim->list.used = 0;
    for (int i = 0; i < sim->list.slots; ++i)
        if (sim->list.holds[i]) sim->list.used = i + 1;
    sim->own.adopt(sim->own.model, sim->step.sys_work, &sim->list);
    set_count(sim, sim->list.used);
    set_tolerances(sim);
}

// More room by a quarter, by a slot for every fourth part (all that a part has is made anew as well, which shall not happen every few steps), or as much as the list
// wants; what is kept stays.
static carom_status grow(carom_sim *sim, carom_error *err) {
    const int had = sim->list.slots, wants = sim->list.used - had, least = (had > sim->own.nparts ? had : sim->own.nparts) / 4 + 64, more = wants > least ? wants : least;
    carom_status status = CAROM_OK;
    if (had > sim->scheme->many - more)
        status = carom_fail(err, CAROM_BAD_INPUT, "t = %.9g: scheme %s does not support as many contacts that come and go: there are more than %d; try moreau-midpoint", sim->kept->t,
                            sim->scheme->name, had);
    if (status == CAROM_OK) sim->list.slots += more, status = carom_sim_allocate(sim, err);
    if (status != CAROM_OK) sim->list.slots = had, carom_sim_adopt(sim); // as it was
    return status;
}

// Those that have fallen asleep stand still from now on; what they had is booked.
static carom_status put_to_sleep(carom_sim *sim, carom_error *err) {
    double kinetic, potential, *had = sim->v_0; // free between steps
    carom_ledger *l = &sim->kept->ledger;
    const long falls = l->sleep.falls;
    carom_zero(had, sim->own.nv);
    for (int i = 0; i < sim->own.nparts; ++i) {
        const int at = sim->own.part[i], n = sim->own.part[i + 1] - at;
        l->sleep.wakes += sim->slept[i] && !sim->list.asleep[i];
        if (!sim->list.asleep[i]) continue;
        l->sleep.falls += !sim->slept[i];
        carom_copy(had + at, sim->v + at, n);
        carom_zero(sim->v + at, n);
    }
    if (l->sleep.falls == falls) return CAROM_OK;
    if (sim->own.energy(sim->own.model, sim->step.sys_work, sim->kept->t, sim->q, had, &kinetic, &potential) != CAROM_OK)
        return carom_fail(err, CAROM_USER, "t = %.9g: the model failed to compute its energy", sim->kept->t);
    l->sleep.energy += kinetic;
    l->energy.damping += kinetic;
    return CAROM_OK;
}

carom_status carom_sim_list(carom_sim *sim, double h, carom_error *err) {
    carom_list *l = &sim->list;
    if (!l->slots) return CAROM_OK;
    carom_status status;
    do {
        if (l->asleep) memcpy(sim->slept, l->asleep, (size_t)sim->own.nparts * sizeof *l->asleep);
        status = sim->own.list(sim->own.model, l, sim->kept->t, sim->q, sim->v, h);
        if (status == CAROM_NO_MEMORY) CAROM_TRY(grow(sim, err));
    } while (status == CAROM_NO_MEMORY);
    if (status != CAROM_OK) return carom_fail(err, status, "t = %.9g: the model failed to compute its contacts", sim->kept->t);
    const int first = sim->own.nc - sim->own.listed;
    for (int i = 0; i < l->slots; ++i)
        if (l->fresh[i]) blank(sim, first + i);
    if (sim->scheme->forget)
        for (int i = 0; i < l->slots; ++i)
            if (l->fresh[i]) sim->scheme->forget(sim->scheme_work, &sim->step, sim->step.sys->ne + first + i);
    carom_sim_adopt(sim);
    return l->asleep ? put_to_sleep(sim, err) : CAROM_OK;
}

void carom_sim_team(carom_sim *sim, struct carom_team *team) {
    sim->step.team = sim->list.team = team;
    carom_sim_adopt(sim);
}

int carom_sim_known_as(const carom_sim *sim, int id) {
    const int first = sim->sys->ne + sim->sys->nc - sim->sys->listed;
    return sim->list.slots && id >= first && id < first + sim->list.used ? sim->own.known_as(sim->own.model, &sim->list, id - first) : id;
}

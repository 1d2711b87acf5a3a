// list.c: contacts that come and go: once a step the list of those that may close is brought up to date.
//
// Contacts keep their slots while they stay, so that whatever is kept of a contact stays its own; a slot that holds
// another contact starts afresh.  Where slots do not suffice the simulation gets a larger block of memory, between two
// steps.
#include "base/pages.h"
#include "sim/sim.h"
#include <string.h>

// A slot's contact is another one: it had no part in the step either.
static void blank(carom_sim *sim, int c) {
    const int d = sim->dir[sim->own.ne + c], n = sim->dir[sim->own.ne + c + 1] - d,
              shift = sim->step.sys->ne - sim->own.ne;
    carom_step *s = &sim->step;
    double *const of_step[] = {s->record.impulse, s->record.force, s->record.nu};
    carom_sim_blank(sim, c);
    s->record.lost[c] = 0;
    for (int i = 0; i < 3; ++i)
        if (of_step[i]) carom_zero_changes(of_step[i] + d + shift, (size_t)n);
}

enum { MOST = 1 << 28 }; // slots: their numbers and those of their directions are ints

// More room by a quarter, by a slot for every fourth part (all that a part has is made anew as well, which shall not
// happen every few steps), or as much as the list wants; what is kept stays.
static carom_status grow(carom_sim *sim, carom_error *err) {
    const int had = sim->list.slots, wants = sim->list.used - had,
              least = (had > sim->own.nparts ? had : sim->own.nparts) / 4 + 64, more = wants > least ? wants : least;
    carom_status status = CAROM_OK;
    if (had > MOST - more)
        status = carom_fail(err, CAROM_NO_MEMORY, "t = %.9g: a dynamic contact list has at most %d contacts",
                            sim->kept->t, MOST);
    if (status == CAROM_OK) sim->list.slots += more, status = carom_sim_allocate(sim, err);
    if (status != CAROM_OK) sim->list.slots = had, carom_sim_adopt(sim); // as it was
    return status;
}

// Contacts of which something is remembered that may matter later stay in the list, with all of their pair: what
// follows does not depend on how far the list reaches.
static void recall(carom_sim *sim) {
    const carom_list *l = &sim->list;
    const int first = sim->own.nc - sim->own.listed, ne = sim->step.sys->ne;
    for (int i = 0, start = 0; i < sim->own.listed; ++i) { // none is used behind them
        l->stays[i] = false;
        if (!l->key[i]) continue;
        if (l->key[i] > 0) start = i;
        const bool stays = l->stays[start] || carom_memory_recalls(sim->memory + first + i, sim->kept->t) ||
                           (sim->scheme->recalls &&
                            sim->scheme->recalls(sim->scheme_work, &sim->step, ne + first + i));
        for (int k = start; k <= i; ++k) l->stays[k] = stays;
    }
    for (int i = sim->own.listed - 1; i > 0; --i)
        if (l->key[i] < 0) l->stays[i - 1] = l->stays[i - 1] || l->stays[i];
}

// Those that have fallen asleep stand still from now on; what they had is booked.
static carom_status put_to_sleep(carom_sim *sim, carom_error *err) {
    double kinetic, potential, *had = sim->whole.v; // scratch
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
    if (sim->own.energy(sim->own.model, sim->step.sys_work, sim->kept->t, sim->q, had, &kinetic, &potential) !=
        CAROM_OK)
        return carom_fail(err, CAROM_USER, "t = %.9g: the model failed to compute its energy", sim->kept->t);
    l->sleep.energy += kinetic;
    l->energy.damping += kinetic;
    return CAROM_OK;
}

carom_status carom_sim_list(carom_sim *sim, double h, carom_error *err) {
    carom_list *l = &sim->list;
    if (!l->slots) return CAROM_OK;
    carom_status status;
    for (int i = 0; l->asleep && i < sim->own.nparts; ++i) sim->slept[i] = l->asleep[i] != 0;
    do {
        recall(sim);
        carom_way ahead = {.q_0 = sim->q, .v_0 = sim->v};
        l->margin = sim->kept->reach;
        l->ahead = sim->scheme->ahead && sim->scheme->ahead(sim->scheme_work, sim->kept->t, &ahead) ? &ahead : NULL;
        status = sim->own.contact_list->search(sim->own.model, l, sim->kept->t, sim->q, sim->v,
                                               sim->scheme->leads ? 2 * h : h);
        if (status == CAROM_NO_MEMORY) CAROM_TRY(grow(sim, err));
        l->ahead = NULL;
    } while (status == CAROM_NO_MEMORY);
    if (status != CAROM_OK)
        return carom_fail(err, status, "t = %.9g: the model failed to compute its contacts", sim->kept->t);
    const int first = sim->own.nc - sim->own.listed;
    for (int i = 0; i < l->slots; ++i)
        if (l->is_new[i]) blank(sim, first + i);
    if (sim->scheme->reset_contact)
        for (int i = 0; i < l->slots; ++i)
            if (l->is_new[i]) sim->scheme->reset_contact(sim->scheme_work, &sim->step, sim->step.sys->ne + first + i);
    carom_sim_adopt(sim);
    return l->asleep ? put_to_sleep(sim, err) : CAROM_OK;
}

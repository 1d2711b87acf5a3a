// undo.c: where a step begins, and the one way back from it: all that is kept, as it was.
//
// What a step changes and what survives it is one block, `kept`.  carom_sim_mark() copies it before a step; a step that
// fails, for whatever reason and however far it came, is undone by copying it back, with its counts: a run that is
// interrupted inside a step and resumed has the ledger of one that never stopped.
#include "base/pages.h"
#include "sim/sim.h"
#include <assert.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1 // as gcc says it
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define CHECK(x) assert(x)
#else
#define CHECK(x) (void)0 // in every step it would cost as much as a copy
#endif

// Of a large block most may never have been used, as where contacts come and go, or stays for long, as factors do.
static inline void copy(const carom_sim *sim, void *to, const void *from) {
    enum { SMALL = 1 << 14 }; // copied faster than compared
    if (sim->kept_size > SMALL) carom_copy_changes(to, from, sim->kept_size);
    else memcpy(to, from, sim->kept_size);
}

// What the last step booked goes; before the first one the scheme's start may have booked, which counts with that.
static inline void clear(carom_sim *sim) {
    carom_step *s = &sim->step;
    if (sim->kept->n == 0) return;
    s->record.nevents = 0;
    if (s->record.reacted)
        carom_zero(s->record.impulse, sim->nl), carom_sim_clear_forces(sim), carom_zero(s->record.lost, sim->sys->nc);
    s->record.reacted = false;
    if (s->record.nu) carom_zero(s->record.nu, sim->nl);
}

void carom_sim_follow(carom_sim *sim) {
    const carom_kept *k = sim->kept;
    carom_kept *b = sim->undo.block;
    b->t = k->t;
    b->n = k->n;
    b->ledger.steps = k->ledger.steps;
    b->fastest = k->fastest;
    if (b->ledger.counts.newton != k->ledger.counts.newton) b->ledger.counts = k->ledger.counts;
    const int nq = sim->sys->nq, nv = sim->sys->nv;
    double *q_0 = (double *)(uintptr_t)sim->undo.q, *v_0 = (double *)(uintptr_t)sim->undo.v;
    for (int i = 0; i < nq; ++i) q_0[i] = sim->q[i];
    for (int i = 0; i < nv; ++i) v_0[i] = sim->v[i];
    if (sim->undo.own_size)
        memcpy((unsigned char *)sim->undo.block + sim->undo.own_at, (unsigned char *)sim->kept + sim->undo.own_at,
               sim->undo.own_size);
    sim->undo.was.stale = true;
    CHECK(memcmp(sim->undo.block, sim->kept, sim->kept_size) == 0);
}

void carom_sim_mark(carom_sim *sim) {
    const carom_step *s = &sim->step;
    sim->undo.was.reacted = s->record.reacted;
    sim->undo.was.stale = sim->gaps.stale;
    sim->undo.was.nevents = sim->kept->n > 0 ? 0 : s->record.nevents; // those of the step before are gone
    copy(sim, sim->undo.block, sim->kept);
    sim->undo.quiet = false;
    clear(sim);
}

static void back(carom_sim *sim) {
    carom_step *s = &sim->step;
    copy(sim, sim->kept, sim->undo.block);
    s->record.reacted = sim->undo.was.reacted;
    s->record.nevents = sim->undo.was.nevents;
    s->record.account = (carom_account){0};
    sim->gaps.stale = sim->undo.was.stale;
}

void carom_sim_undo(carom_sim *sim) {
    back(sim);
    carom_sim_tell(sim); // signals are those of the step's start
}

void carom_sim_try_again(carom_sim *sim) {
    const carom_counts counts = sim->kept->ledger.counts;
    const long rejected = sim->kept->ledger.rejected;
    back(sim);
    const carom_largest largest = carom_largest_of(sim->kept);
    sim->kept->ledger.counts = counts;
    carom_largest_again(sim->kept, &largest);
    sim->kept->ledger.rejected = rejected;
    clear(sim);
}

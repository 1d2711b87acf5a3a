// setup.c: the memory of a simulation: one block, made anew where contacts need more slots, and what points into it.
#include "base/pages.h"
#include "base/option.h"
#include "scheme/discs.h"
#include "scheme/friction.h"
#include "scheme/impact.h"
#include "sim/sim.h"
#include <stdlib.h>
#include <string.h>

static const carom_solver *chosen_solver(double value) {
    char name[24];
    carom_option_write(carom_common_options + CAROM_OPT_SOLVER, value, name, sizeof name);
    return carom_solver_find(name); // NULL for auto
}

// Schemes get arrays of their own where constraints are left out.
static void allocate_redundant(carom_sim *sim, carom_arena *mem, carom_arena *keep, int k) {
    sim->independent.rows = carom_allocate_redundant(mem, keep, sim->sys, k);
    sim->visible_dir = carom_allocate_ints(mem, (size_t)(sim->step.sys->ne + sim->sys->nc) + 1);
    sim->step.dir = sim->visible_dir;
    CAROM_ALLOCATE(mem, (size_t)sim->nl, &sim->impulse, &sim->force);
    if (sim->scheme->positions) sim->nu = carom_allocate(mem, (size_t)sim->nl);
}

// Are forces that may be narrow sampled inside steps (BK-10)?  For schemes that take the given steps.
static bool looks_inside(const carom_sim *sim) {
    return sim->sys->events->force_bounds && !sim->scheme->emits_events && !sim->scheme->controls_own_steps &&
           !sim->scheme->accounts_power;
}

// What survives from step to step.
static void allocate_kept(carom_sim *sim, carom_arena *mem, carom_arena *keep) {
    const carom_system *sys = sim->sys;
    const int nb = sys->ne + sys->nc;
    carom_step *s = &sim->step;
    sim->kept = carom_allocate_bytes(keep, sizeof *sim->kept);
    carom_sim_list_allocate(sim, mem, keep);
    sim->q = carom_allocate(keep, (size_t)sys->nq);
    sim->v = carom_allocate(keep, (size_t)sys->nv);
    sim->gaps.now = carom_allocate(keep, (size_t)nb);
    sim->gaps.first = carom_allocate(keep, (size_t)(sys->ne + carom_sim_fixed_contacts(sim)));
    sim->gaps.watched = !sim->scheme->emits_events && carom_sim_fixed_contacts(sim) > 0;
    if (sim->gaps.watched) sim->gaps.start = carom_allocate(keep, (size_t)(sys->ne + carom_sim_fixed_contacts(sim)));
    if (looks_inside(sim))
        CAROM_ALLOCATE(keep, (size_t)sys->nv, &sim->unseen.impulse, &sim->unseen.slope, &sim->unseen.mass);
    carom_sim_signals_allocate(sim, mem, keep);
    carom_sim_switches_allocate(sim, mem, keep);
    CAROM_ALLOCATE(keep, (size_t)sys->accounts->nworks, &sim->power, &sim->done);
    sim->memory = carom_allocate_bytes(keep, (size_t)sys->nc * sizeof *sim->memory);
    sim->pushed = sim->scheme->emits_events ? NULL : carom_allocate(keep, 3 * (size_t)sys->nv);
    s->inside = &sim->inside;
    CAROM_ALLOCATE(keep, (size_t)sim->nl, &s->inside->warm, &s->record.impulse, &s->record.force);
    s->record.nu = sim->scheme->positions ? carom_allocate(keep, (size_t)sim->nl) : NULL;
    sim->impulse = s->record.impulse;
    sim->force = s->record.force;
    sim->nu = s->record.nu;
    s->record.lost = carom_allocate(keep, (size_t)sys->nc);
    s->active = sim->held = carom_allocate(keep, (size_t)sys->nc);
    sim->lasting = carom_allocate(keep, (size_t)sim->nl);
    s->record.u_before = carom_allocate(keep, (size_t)sim->nl); // of what a scheme's start booked, until the first step
    s->record.u_after = carom_allocate(keep, (size_t)sim->nl);
}

// Of the step loop.
static void allocate_loop(carom_sim *sim, carom_arena *mem) {
    const carom_system *sys = sim->sys;
    const int nb = sys->ne + sys->nc;
    carom_step *s = &sim->step;
    sim->v_start =
        sim->gaps.watched && sim->scheme->limitations & CAROM_NO_STEP_CHANGE ? carom_allocate(mem, (size_t)sys->nv)
                                                                             : NULL;
    sim->power_now = carom_allocate(mem, (size_t)sys->accounts->nworks);
    // A step tells at most impact, accumulation, close and stick of each contact; one that finds its events in
    // continuous time may meet many.
    s->record.max_events = sim->scheme->emits_events ? 32768 + 16 * sys->nc : 4 * sys->nc;
    s->dir = sim->dir = carom_allocate_ints(mem, (size_t)nb + 1);
    sim->events = carom_allocate_bytes(mem, (size_t)s->record.max_events * sizeof *sim->events);
    sim->all = carom_allocate_local(mem, sys);
    sim->jerk = carom_allocate(mem, 2 * (size_t)sim->nl);
    sim->alone = carom_allocate(mem, sys->events->next_jump ? 3 * (size_t)carom_sim_looked_at(sim) : 0);
    sim->booked = carom_allocate(mem, (size_t)(sim->nl + sys->nc));
    sim->struck = carom_allocate_bytes(mem, (size_t)sys->nc * sizeof *sim->struck);
    sim->whole.q = carom_allocate(mem, (size_t)sys->nq);
    sim->whole.v = carom_allocate(mem, (size_t)sys->nv);
    sim->whole.gap = carom_allocate(mem, (size_t)nb);
    sim->sides = sim->scheme->controls_own_steps ? carom_allocate(mem, 4 * (size_t)sys->nv) : NULL;
    if (looks_inside(sim)) {
        sim->unseen.scratch = carom_allocate(mem, carom_diagnosis.impulses_size(sys));
        sim->unseen.M = carom_allocate_matrix(mem, sys->mass_shape);
    }
    if (sim->gaps.watched) CAROM_ALLOCATE(mem, (size_t)nb, &sim->gaps.soon, &sim->gaps.inside);
    sim->whole.hit = carom_allocate_bytes(mem, (size_t)sys->nc);
    sim->callbacks.q = carom_allocate(mem, (size_t)sys->nq);
    sim->callbacks.v = carom_allocate(mem, (size_t)sys->nv);
}

// Of the functions that schemes call.
static void allocate_functions(carom_sim *sim, carom_arena *mem) {
    const carom_system *sys = sim->sys;
    carom_step *s = &sim->step;
    s->sys_work = carom_allocate_bytes(mem, s->sys->work_size);
    s->M = carom_allocate_matrix(mem, sys->mass_shape);
    if (sys->nc > 0 || (sys->ne > 0 && !(sys->flags & CAROM_TIMELESS_GAPS)))
        s->inside->F_free = carom_allocate_factor(mem, sys->mass_shape, true);
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &s->inside->a_free, &s->inside->still);
    CAROM_ALLOCATE(mem, (size_t)sim->nl, &s->inside->kappa, &s->inside->kappa_before);
    s->inside->q_before = carom_allocate(mem, (size_t)sys->nq);
    s->inside->row_lever = carom_allocate(mem, (size_t)sys->ne);
    if (sys->accounts->power_along)
        CAROM_ALLOCATE(mem, (size_t)sys->nv + 1, &s->inside->power.given, &s->inside->power.taken);
}

// Of contact problems.
static void allocate_problem(carom_sim *sim, carom_arena *mem, carom_arena *keep) {
    const carom_system *sys = sim->sys, *seen = sim->step.sys; // all constraints; those that schemes see
    const int levels = sim->scheme->levels_of ? sim->scheme->levels_of(sim->opt) : sim->scheme->levels;
    const int nb = sys->ne + sys->nc, again = levels > 1 ? levels - 1 : 0, k = sys->ne - seen->ne;
    // of the largest contact problem
    const int rows = sim->nl - k + again * ((sim->scheme->full_levels ? sim->nl : nb) - k),
              blocks = nb - k + again * (nb - k);
    const double *common = sim->opt + carom_option_count(sim->scheme->options);
    carom_step *s = &sim->step;
    s->inside->delassus = carom_allocate_delassus(mem, seen, rows, blocks, sim->scheme->dense_operator, true);
    const carom_assembly *parts = &s->inside->delassus.parts;
    s->blocks = carom_allocate_bytes(mem, (size_t)blocks * sizeof *s->blocks);
    s->G = s->inside->delassus.G;
    CAROM_ALLOCATE(mem, (size_t)rows, &s->c, &s->p, &s->u);
    s->inside->friction =
        sim->rubs ? carom_allocate_varying_friction(mem, seen, sim->laws ? sim->laws : sim->contacts, sim->reacts)
                  : NULL;
    sim->reaction = sim->reacts ? carom_allocate(keep, (size_t)sim->nl) : NULL;
    sim->guess = sim->reacts ? carom_allocate(mem, (size_t)sim->nl) : NULL;
    s->impacts = sim->bounces ? carom_allocate_impacts(mem, seen, sim->nl, &s->inside->delassus) : NULL;
    s->inside->difference = carom_allocate_difference(mem, seen);
    s->inside->discs = sim->discs ? carom_allocate_discs(mem, seen, rows, blocks, parts->blocks, parts->values) : NULL;
    s->inside->chain = carom_allocate_chain(mem, rows + (sim->discs ? CAROM_DISC_ROWS * blocks : 0),
                                            (sim->discs ? CAROM_DISC_BLOCKS : 1) * blocks, seen->ne + again * seen->ne,
                                            chosen_solver(common[CAROM_OPT_SOLVER]));
}

// Describe all memory; runs twice, see arena.h.  `keep` is what survives from step to step.
static void allocate(carom_sim *sim, carom_arena *mem, carom_arena *keep) {
    const carom_system *seen = sim->step.sys;
    const int k = sim->sys->ne - seen->ne;
    allocate_kept(sim, mem, keep);
    allocate_loop(sim, mem);
    allocate_functions(sim, mem);
    allocate_problem(sim, mem, keep);
    carom_forecast_allocate(sim, mem);
    sim->undo.own_at = keep->used;
    sim->scheme->allocate(sim->scheme_work, mem, keep, seen, sim->opt);
    sim->undo.own_size = keep->used - sim->undo.own_at;
    carom_allocate_resolution(sim, mem);
    if (k > 0) allocate_redundant(sim, mem, keep, k);
    sim->undo.block = carom_allocate_bytes(mem, keep->used); // last: now it is known how much is kept
    const bool located = sim->switches.some && sim->scheme->emits_events;
    sim->switches.piece = located ? carom_allocate_bytes(mem, keep->used) : NULL;
}

// One block: the kept part first, scratch behind it, all zero.  There is room for a contact problem of all contacts at
// once; what is never touched of it (most, where shapes make thousands of contacts) never becomes memory, and need not
// be promised.
static carom_status make_block(carom_sim *sim, carom_arena keep, carom_error *err) {
    enum { LINE = 64 };
    carom_arena mem = {0};
    allocate(sim, &mem, &keep);
    const size_t size = keep.used + mem.used;
    sim->block = carom_reserve(size + LINE, sim->list.slots > 0, &sim->mapped);
    sim->block_taken = size + LINE;
    if (!sim->block)
        return carom_fail(err, CAROM_NO_MEMORY,
                          "not enough memory: %s needs %.3g GB for %d coordinates, %d constraints and %d contacts; "
                          "schemes differ much in what they need (docs/large-systems.md)",
                          sim->scheme->name, 1e-9 * (double)size, sim->sys->nv, sim->sys->ne, sim->sys->nc);
    unsigned char *base = (unsigned char *)sim->block + (LINE - (uintptr_t)sim->block % LINE) % LINE;
    keep = (carom_arena){.base = base, .size = keep.used, .ends = keep.ends, .capacity = keep.capacity};
    mem = (carom_arena){.base = base + keep.size, .size = size - keep.size};
    allocate(sim, &mem, &keep);
    sim->mem = mem;
    if (mem.failed)
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory to factorise matrices of %d rows", sim->sys->nv);
    sim->block_size = size;
    sim->kept_size = keep.size;
    sim->pieces = keep.pieces;
    return CAROM_OK;
}

void carom_sim_free_block(const carom_sim *sim) { carom_release(sim->block, sim->block_taken, sim->mapped); }

// Laws of contacts that come and go; those in use are the list's.
static carom_status make_laws(carom_sim *sim, carom_error *err) {
    const int fixed = sim->own.nc - sim->own.listed;
    carom_contact *laws = realloc(sim->laws, (size_t)(fixed + sim->list.slots) * sizeof *laws);
    if (!laws) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d contacts", fixed + sim->list.slots);
    if (!sim->laws) memcpy(laws, sim->own.contacts, (size_t)fixed * sizeof *laws);
    for (int i = 0; i < sim->list.slots; ++i) laws[fixed + i] = sim->slot;
    sim->laws = laws;
    sim->list.law = laws + fixed;
    sim->own.contacts = laws;
    return CAROM_OK;
}

static void set_directions(int *dir, const carom_system *sys) {
    for (int id = 0; id < sys->ne + sys->nc; ++id) dir[id + 1] = dir[id] + carom_system_recorded(sys, id);
}

// What points into the block, and the system's own work.
void carom_sim_wire(carom_sim *sim) {
    const carom_system *sys = sim->sys;
    carom_step *s = &sim->step;
    s->q = sim->q;
    s->v = sim->v;
    const unsigned char *kept = (unsigned char *)sim->kept, *then = sim->undo.block;
    sim->undo.q = (const double *)(const void *)(then + ((unsigned char *)sim->q - kept));
    sim->undo.v = (const double *)(const void *)(then + ((unsigned char *)sim->v - kept));
    s->speed = &sim->kept->speed;
    s->counts = &sim->kept->ledger.counts;
    s->inside->rise = &sim->kept->rise;
    s->inside->choice = &sim->kept->choice;
    s->inside->residual = &sim->kept->residual;
    s->record.events = sim->events;
    set_directions(sim->dir, sys);
    if (sim->visible_dir) set_directions(sim->visible_dir, s->sys);
    if (sys->work_init) sys->work_init(sys->model, s->sys_work);
    carom_sim_tell(sim);
    carom_forecast_start(sim);
}

// The system as schemes see it; k constraints are redundant.
static void see(carom_sim *sim, int k) {
    sim->step.sys = sim->sys;
    sim->step.renumbers = sim->sys->listed > 0;
    if (k == 0) return;
    carom_independent_make(&sim->independent, sim->sys, k);
    sim->step.sys = &sim->independent.sys;
    sim->step.renumbers = true;
}

enum { PIECES = 64 }; // of what is kept; no scheme has so many

// What was kept, piece by piece: those of contacts have become longer.
static void carry_over(const carom_sim *sim, const carom_sim *old, const size_t *ends, const size_t *old_ends) {
    for (int i = 0; i < old->pieces; ++i) {
        const size_t at = i ? ends[i - 1] : 0, from = i ? old_ends[i - 1] : 0, size = ends[i] - at,
                     had = old_ends[i] - from;
        carom_copy_changes((unsigned char *)sim->kept + at, (const unsigned char *)old->kept + from,
                           had < size ? had : size);
    }
}

carom_status carom_sim_allocate(carom_sim *sim, carom_error *err) {
    if (!sim->list.slots) return make_block(sim, (carom_arena){.ends = NULL}, err);
    size_t ends[PIECES], old_ends[PIECES];
    carom_sim old = *sim;
    memcpy(old_ends, sim->ends, sizeof old_ends);
    CAROM_TRY(make_laws(sim, err));
    sim->own.nc += sim->list.slots - sim->own.listed;
    sim->own_events.nk += sim->own_events.kinks_per_slot * (sim->list.slots - sim->own.listed);
    sim->own.listed = sim->list.slots;
    sim->nl = 0;
    for (int id = 0; id < sim->own.ne + sim->own.nc; ++id) sim->nl += carom_system_recorded(sim->sys, id);
    see(sim, old.sys->ne - old.step.sys->ne);
    void *work = old.block ? malloc(sim->scheme->work_size + 1) : NULL; // as it was, if there is no memory
    if (work) memcpy(work, sim->scheme_work, sim->scheme->work_size);
    const carom_status status = old.block && !work
                                    ? carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a simulation")
                                    : make_block(sim, (carom_arena){.ends = ends, .capacity = PIECES}, err);
    if (status != CAROM_OK && old.block) {
        carom_contact *const laws = sim->laws;
        const int fixed = old.own.nc - old.own.listed;
        if (sim->block && sim->block != old.block) carom_arena_release(&sim->mem), carom_sim_free_block(sim);
        *sim = old;
        sim->laws = laws;
        sim->list.law = laws + fixed;
        sim->own.contacts = laws;
        if (sim->step.inside->friction) sim->step.inside->friction->contacts = laws;
        if (sim->step.sys != sim->sys) sim->independent.sys.contacts = laws;
        if (work) memcpy(sim->scheme_work, work, sim->scheme->work_size);
    }
    free(work);
    CAROM_TRY(status);
    if (old.block) {
        carry_over(sim, &old, ends, old_ends);
        carom_arena_release(&old.mem);
        carom_sim_free_block(&old);
        carom_sim_wire(sim);
    }
    sim->kept->slots = sim->list.slots;
    memcpy(sim->ends, ends, sizeof ends);
    return CAROM_OK;
}

carom_status carom_sim_leave_out_redundant(carom_sim *sim, const carom_sim_def *def, carom_error *err) {
    const int k = sim->scheme->redundant ? 0 : carom_redundant_count(sim->sys, def->t0, def->q0);
    if (k < 0)
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory to look for redundant ones among %d constraints",
                          sim->sys->ne);
    if (k > 0 && sim->sys->nrates > 0)
        return carom_fail(err, CAROM_UNSUPPORTED,
                          "%d of the constraints and joints depend on others initially, and some constraints are on "
                          "rates: scheme %s does not support both together; remove the redundant ones",
                          k, sim->scheme->name);
    see(sim, k);
    return CAROM_OK;
}

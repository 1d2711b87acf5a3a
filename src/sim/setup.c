// setup.c: making a simulation: options, what a scheme lacks, one block of memory.
#include "base/pages.h"
#include "base/tolerance.h"
#include "scheme/delassus_blocks.h"
#include "scheme/discs.h"
#include "scheme/friction.h"
#include "scheme/impact.h"
#include "sim/sim.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const carom_option carom_common_options[] = {
    [CAROM_OPT_CLOSED] = {.name = "closed", .kind = CAROM_CHOICE, .choices = "nonstrict|strict",
                          .about = "a contact is closed when g <= 0 (nonstrict) or when g < 0 (strict)"},
    [CAROM_OPT_SOLVER] = {.name = "solver", .kind = CAROM_CHOICE,
                          .choices = "auto|direct|joints|enumerate|lemke|prox|gauss-seidel|newton|hybrid|bodies",
                          .about = "contact solver to try first; auto chooses by size and kind"},
    [CAROM_OPT_TOL] = {.name = "tol", .kind = CAROM_REAL, .fallback = 1e-12, .low = 1e-16, .high = 1,
                       .about = "contact residual allowed, relative to the largest local velocity of the run"},
    [CAROM_OPT_ACCEPT] = {.name = "accept", .kind = CAROM_REAL, .fallback = 1e-8, .low = 0, .high = 1,
                          .about = "where no solver does better: residual accepted and counted, relative to the largest local velocity of the step"},
    [CAROM_OPT_NEWTON_TOL] = {.name = "newton-tol", .kind = CAROM_REAL, .fallback = 1e-12, .low = 1e-16, .high = 1,
                              .about = "Newton residual allowed, relative to the terms of the equation"},
    [CAROM_OPT_ADAPTIVE] = {.name = "adaptive", .kind = CAROM_CHOICE, .choices = "off|on",
                            .about = "step sizes from error estimates; the step given is the first to try"},
    [CAROM_OPT_RTOL] = {.name = "rtol", .kind = CAROM_REAL, .fallback = 1e-4, .low = 1e-14, .high = 1,
                        .about = "adaptive steps: error allowed in a step, relative to each coordinate and rate"},
    [CAROM_OPT_ATOL] = {.name = "atol", .kind = CAROM_REAL, .fallback = 1e-6, .low = 0, .high = 1e6,
                        .about = "adaptive steps: the same, absolute"},
    [CAROM_OPT_ESTIMATE] = {.name = "estimate", .kind = CAROM_CHOICE, .choices = "variable|0|1|2",
                            .about = "adaptive steps: order of the error estimate; variable: 0 at impacts, else the scheme's"},
    [CAROM_OPT_VIOLATION] = {.name = "violation", .kind = CAROM_CHOICE, .choices = "on|off",
                             .about = "adaptive steps: penetration counts as an error"},
    [CAROM_OPT_SAFETY] = {.name = "safety", .kind = CAROM_REAL, .fallback = 0.9, .low = 0.1, .high = 1, .open_high = true,
                          .about = "adaptive steps: the next step is this part of the one that the estimate allows"},
    [CAROM_OPT_SHRINK] = {.name = "shrink", .kind = CAROM_REAL, .fallback = 0.2, .low = 0.01, .high = 0.9,
                          .about = "adaptive steps: the least ratio of a step to the one before; half of that after a rejection"},
    [CAROM_OPT_GROW] = {.name = "grow", .kind = CAROM_REAL, .fallback = 2, .low = 1.05, .high = 100,
                        .about = "adaptive steps: the largest ratio of a step to the one before"},
    [CAROM_OPT_EXTRAPOLATE] = {.name = "extrapolate", .kind = CAROM_CHOICE, .choices = "off|on",
                               .about = "adaptive steps of first-order schemes: 2 x(two halves) - x(whole step) where no contact acts, which is of second order"},
    [CAROM_COMMON_COUNT] = {0},
};

carom_sim_def carom_sim_default(void) {
    return (carom_sim_def){.scheme = carom_scheme_at(0)->name, .h = NAN, .t_end = NAN};
}

// -- options ---------------------------------------------------------------------------------------

static const char *option_name(const void *user, int i) {
    const carom_option *own = ((const carom_scheme *)user)->options;
    const int n = carom_option_count(own);
    if (i < n) return own[i].name;
    return i - n < CAROM_COMMON_COUNT ? carom_common_options[i - n].name : NULL;
}

static carom_status unknown_option(const carom_scheme *scheme, const char *key, carom_error *err) {
    char list[400] = "";
    for (int i = 0; option_name(scheme, i); ++i) {
        const size_t used = strlen(list);
        if (i >= carom_option_count(scheme->options) && carom_option_find(scheme->options, option_name(scheme, i), strlen(option_name(scheme, i))) >= 0) continue; // its own comes first
        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", option_name(scheme, i));
    }
    const char *near = carom_nearest(key, option_name, scheme);
    return carom_fail(err, CAROM_BAD_INPUT, "scheme %s has no option '%.60s'%s%s%s its options are: %s", scheme->name, key,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ";", list);
}

static carom_status read_options(const carom_scheme *scheme, const char *const *list, double *value, carom_error *err) {
    const int own = carom_option_count(scheme->options);
    carom_option_defaults(scheme->options, value);
    carom_option_defaults(carom_common_options, value + own);
    for (; list && *list; ++list) {
        const char *equals = strchr(*list, '=');
        if (!equals) return carom_fail(err, CAROM_BAD_INPUT, "option '%.60s' has no value; write key=value", *list);
        const size_t length = (size_t)(equals - *list);
        int i = carom_option_find(scheme->options, *list, length);
        const carom_option *o = i >= 0 ? scheme->options + i : NULL;
        if (!o && (i = carom_option_find(carom_common_options, *list, length)) >= 0) {
            o = carom_common_options + i;
            i += own;
        }
        if (!o) {
            char key[64];
            snprintf(key, sizeof key, "%.*s", (int)(length < 60 ? length : 60), *list);
            return unknown_option(scheme, key, err);
        }
        CAROM_TRY(carom_option_read(o, equals + 1, value + i, err));
    }
    return CAROM_OK;
}

// -- what a scheme lacks -------------------------------------------------------------------------------

// What the system needs that a scheme may lack.
static unsigned needs_of(const carom_sim_def *def, bool whole, bool adaptive) { // whole: the end is a whole number of steps
    const carom_system *sys = def->system;
    unsigned needs = 0;
    if (sys->ne > 0) needs |= CAROM_NO_BILATERAL;
    if (sys->nc > 0) needs |= CAROM_NO_IMPACTS;
    for (int i = 0; i < sys->nc; ++i) {
        if (sys->contacts[i].friction > 0) needs |= CAROM_NO_FRICTION;
        if (sys->contacts[i].restitution != sys->contacts[0].restitution) needs |= CAROM_NO_UNEQUAL_RESTITUTION;
    }
    if (carom_impacts_differ(sys)) needs |= CAROM_NO_IMPACT_LAWS;
    if (!whole && !adaptive) needs |= CAROM_NO_STEP_CHANGE;
    if (adaptive) needs |= CAROM_NO_ADAPTIVE;
    return needs;
}

static const carom_scheme *scheme_at(const carom_sim_def *def, int i) {
    if (!def->schemes) return carom_scheme_at(i);
    for (int k = 0; k < i; ++k)
        if (!def->schemes[k]) return NULL;
    return def->schemes[i];
}

static carom_status check_lacks(const carom_sim_def *def, const carom_scheme *scheme, unsigned needs, unsigned ignored, carom_error *err) {
    static const struct { unsigned flag; const char *text; } lacks[] = {
        {CAROM_NO_IMPACTS, "impacts"},
        {CAROM_NO_FRICTION, "friction"},
        {CAROM_NO_BILATERAL, "bilateral constraints"},
        {CAROM_NO_UNEQUAL_RESTITUTION, "contacts with different restitution"},
        {CAROM_NO_IMPACT_LAWS, "other laws of impact than Newton's with constant restitution"},
        {CAROM_NO_STEP_CHANGE, "an end time that is not a whole number of steps"},
        {CAROM_NO_ADAPTIVE, "adaptive step sizes"},
    };
    const char *what = NULL;
    if (def->system->listed > scheme->many) {
        char many[400] = "";
        for (int i = 0; scheme_at(def, i); ++i) {
            const size_t used = strlen(many);
            if (scheme_at(def, i)->many >= def->system->listed) snprintf(many + used, sizeof many - used, "%s%s", used ? ", " : "", scheme_at(def, i)->name);
        }
        return carom_fail(err, CAROM_BAD_INPUT, "scheme %s does not support contacts that come and go; these do: %s.  Contacts do so with more than 500 pairs of shapes (300 with boxes in space), and with hulls, meshes, ellipsoids and heights",
                          scheme->name, many);
    }
    for (int c = 0; c < def->system->nc; ++c)
        if (carom_system_gated(def->system, c) && !scheme->gates)
            return carom_fail(err, CAROM_UNSUPPORTED, "scheme %s does not support `closes while`; event-driven and mixed do", scheme->name);
    const bool bare = scheme->many < CAROM_MANY || scheme->lacks & CAROM_NO_REST;
    if (def->system->sleeps && bare)
        return carom_fail(err, CAROM_UNSUPPORTED, "scheme %s does not support `sleep`; moreau-midpoint, moreau-jean, moreau-explicit, half-explicit and ggl-projection do", scheme->name);
    if (carom_discs_used(def->system) && bare)
        return carom_fail(err, CAROM_UNSUPPORTED, "scheme %s does not support `resistance: discs`; moreau-midpoint, moreau-jean, moreau-explicit, half-explicit and ggl-projection do", scheme->name);
    for (size_t i = 0; i < sizeof lacks / sizeof *lacks; ++i)
        if (scheme->lacks & needs & ~ignored & lacks[i].flag) what = lacks[i].text;
    if (!what) return CAROM_OK;
    char able[400] = "";
    for (int i = 0; scheme_at(def, i); ++i) {
        const size_t used = strlen(able);
        if (!(scheme_at(def, i)->lacks & needs)) snprintf(able + used, sizeof able - used, "%s%s", used ? ", " : "", scheme_at(def, i)->name);
    }
    const bool impacts = (scheme->lacks & needs & ~ignored) == CAROM_NO_IMPACTS;
    return carom_fail(err, CAROM_UNSUPPORTED, "scheme %s does not support %s; these schemes can do all that this model needs: %s%s", scheme->name, what, able,
                      impacts ? " (impacts=ignore runs it all the same, for comparison only)" : "");
}

int carom_sim_order(const carom_scheme *scheme, const double *opt) { return scheme->order_of ? scheme->order_of(opt) : scheme->order; }

static carom_status check_extrapolation(const carom_sim_def *def, const carom_scheme *scheme, const double *opt, carom_error *err) {
    const double *common = opt + carom_option_count(scheme->options);
    const int order = carom_sim_order(scheme, opt);
    if (common[CAROM_OPT_EXTRAPOLATE] == 0) return CAROM_OK;
    if (common[CAROM_OPT_ADAPTIVE] == 0) return carom_fail(err, CAROM_BAD_INPUT, "extrapolate=on belongs to adaptive steps; add adaptive=on");
    if (order != 1) return carom_fail(err, CAROM_BAD_INPUT, "extrapolate=on is for schemes of first order; %s has order %d here", scheme->name, order);
    if (def->system->move) return carom_fail(err, CAROM_BAD_INPUT, "extrapolate=on does not support rotations in space");
    return CAROM_OK;
}

// What a person wants to run although the scheme lacks it.
static unsigned ignored_by(const carom_scheme *scheme, const double *opt) {
    const int i = carom_option_find(scheme->options, "impacts", strlen("impacts"));
    return i >= 0 && opt[i] == 1 ? CAROM_NO_IMPACTS : 0;
}

static const char *scheme_name(const void *user, int i) {
    const carom_scheme *scheme = scheme_at(user, i);
    return scheme ? scheme->name : NULL;
}

static carom_status find_scheme(const carom_sim_def *def, const carom_scheme **scheme, carom_error *err) {
    for (int i = 0; (*scheme = scheme_at(def, i)); ++i)
        if (!def->scheme || strcmp((*scheme)->name, def->scheme) == 0) return CAROM_OK;
    const char *near = carom_nearest(def->scheme, scheme_name, def);
    const char *more = def->schemes ? "`carom schemes` lists them" : "those outside the core are known with schemes = carom_schemes() (carom/event.h)";
    return carom_fail(err, CAROM_BAD_INPUT, "there is no scheme '%.60s'%s%s%s %s", def->scheme, near ? "; did you mean '" : "", near ? near : "",
                      near ? "'?" : ";", more);
}

carom_status carom_sim_check_options(const carom_sim_def *def, const char *name, carom_error *err) {
    const carom_scheme *scheme;
    CAROM_TRY(find_scheme(def, &scheme, err));
    double *value = calloc((size_t)carom_option_count(scheme->options) + CAROM_COMMON_COUNT, sizeof *value);
    carom_status status = value ? read_options(scheme, def->options, value, err) : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for options");
    free(value);
    if (status != CAROM_OK || !name) return status;
    const bool known = carom_option_find(scheme->options, name, strlen(name)) >= 0 || carom_option_find(carom_common_options, name, strlen(name)) >= 0;
    return known ? CAROM_OK : unknown_option(scheme, name, err);
}

// -- time ------------------------------------------------------------------------------------------------

// Steps from t0 to t_end.  T/h counts as whole when it is so to 1e-9.
static carom_status plan_steps(const carom_sim_def *def, long *total, bool *whole, carom_error *err) {
    if (!(def->h > 0 && isfinite(def->h))) return carom_fail(err, CAROM_BAD_INPUT, "the step size must be positive; it is %g", def->h);
    if (!(def->t_end > def->t0 && isfinite(def->t_end)))
        return carom_fail(err, CAROM_BAD_INPUT, "the end time %g must lie after the start %g", def->t_end, def->t0);
    const double count = (def->t_end - def->t0) / def->h, nearest = round(count);
    if (!(count < CAROM_MOST_STEPS)) return carom_fail(err, CAROM_BAD_INPUT, "%g steps of %g are too many", count, def->h);
    *whole = nearest >= 1 && fabs(count - nearest) <= CAROM_INSTANT * fmax(1, nearest);
    *total = *whole ? (long)nearest : (long)ceil(count);
    return CAROM_OK;
}

// -- memory ------------------------------------------------------------------------------------------------

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

// What survives from step to step.
static void allocate_kept(carom_sim *sim, carom_arena *mem, carom_arena *keep) {
    const carom_system *sys = sim->sys;
    const int nb = sys->ne + sys->nc;
    carom_step *s = &sim->step;
    sim->kept = carom_allocate_bytes(keep, sizeof *sim->kept);
    carom_sim_list_allocate(sim, mem, keep);
    sim->q = carom_allocate(keep, (size_t)sys->nq);
    sim->v = carom_allocate(keep, (size_t)sys->nv);
    sim->gap = carom_allocate(keep, (size_t)nb);
    sim->watched = !sim->scheme->emits_events && carom_sim_fixed_contacts(sim) > 0;
    if (sim->watched) sim->gap_0 = carom_allocate(keep, (size_t)(sys->ne + carom_sim_fixed_contacts(sim)));
    carom_sim_signals_allocate(sim, mem, keep);
    CAROM_ALLOCATE(keep, (size_t)sys->nworks, &sim->power, &sim->done);
    sim->memory = carom_allocate_bytes(keep, (size_t)sys->nc * sizeof *sim->memory);
    s->inside = &sim->inside;
    CAROM_ALLOCATE(keep, (size_t)sim->nl, &s->inside->warm, &s->impulse, &s->force);
    s->nu = sim->scheme->positions ? carom_allocate(keep, (size_t)sim->nl) : NULL;
    sim->impulse = s->impulse;
    sim->force = s->force;
    sim->nu = s->nu;
    s->lost = carom_allocate(keep, (size_t)sys->nc);
    s->held = sim->held = carom_allocate(keep, (size_t)sys->nc);
    sim->lasting = carom_allocate(keep, (size_t)sim->nl);
    s->u_before = carom_allocate(keep, (size_t)sim->nl); // of what a scheme's start booked, until the first step
    s->u_after = carom_allocate(keep, (size_t)sim->nl);
}

// Of the step loop.
static void allocate_loop(carom_sim *sim, carom_arena *mem) {
    const carom_system *sys = sim->sys;
    const int nb = sys->ne + sys->nc;
    carom_step *s = &sim->step;
    sim->q_0 = carom_allocate(mem, (size_t)sys->nq);
    sim->v_0 = carom_allocate(mem, (size_t)sys->nv);
    sim->power_now = carom_allocate(mem, (size_t)sys->nworks);
    // A step tells at most impact, accumulation, close and stick of each contact; one that finds its events in
    // continuous time may meet many.
    s->most_events = sim->scheme->emits_events ? 32768 + 16 * sys->nc : 4 * sys->nc;
    s->dir = sim->dir = carom_allocate_ints(mem, (size_t)nb + 1);
    sim->events = carom_allocate_bytes(mem, (size_t)s->most_events * sizeof *sim->events);
    sim->all = carom_allocate_local(mem, sys);
    sim->jerk = carom_allocate(mem, 2 * (size_t)sim->nl);
    sim->alone = carom_allocate(mem, sys->jump && !sys->listed ? 3 * (size_t)carom_sim_looked_at(sim) : 0);
    sim->booked = carom_allocate(mem, (size_t)(sim->nl + sys->nc));
    sim->struck = carom_allocate_bytes(mem, (size_t)sys->nc * sizeof *sim->struck);
    sim->q_try = carom_allocate(mem, (size_t)sys->nq);
    sim->v_try = carom_allocate(mem, (size_t)sys->nv);
    sim->gap_try = carom_allocate(mem, (size_t)nb);
    if (sim->watched) CAROM_ALLOCATE(mem, (size_t)nb, &sim->gap_next, &sim->gap_in);
    sim->hit = carom_allocate_bytes(mem, (size_t)sys->nc);
    sim->q_in = carom_allocate(mem, (size_t)sys->nq);
    sim->v_in = carom_allocate(mem, (size_t)sys->nv);
}

// Of the functions that schemes call.
static void allocate_functions(carom_sim *sim, carom_arena *mem) {
    const carom_system *sys = sim->sys;
    carom_step *s = &sim->step;
    s->sys_work = carom_allocate_bytes(mem, s->sys->work_size);
    s->M = carom_allocate_matrix(mem, sys->mass_shape);
    if (sys->nc > 0 || (sys->ne > 0 && !(sys->flags & CAROM_TIMELESS_GAPS))) s->inside->F_free = carom_allocate_factor(mem, sys->mass_shape, true);
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &s->inside->a_free, &s->inside->still);
    CAROM_ALLOCATE(mem, (size_t)sim->nl, &s->inside->kappa, &s->inside->kappa_before);
    s->inside->q_before = carom_allocate(mem, (size_t)sys->nq);
    if (sys->power_along) CAROM_ALLOCATE(mem, (size_t)sys->nv + 1, &s->inside->power.given, &s->inside->power.taken);
}

// Of contact problems.
static void allocate_problem(carom_sim *sim, carom_arena *mem, carom_arena *keep) {
    const carom_system *sys = sim->sys, *seen = sim->step.sys; // all constraints; those that schemes see
    const int levels = sim->scheme->levels_of ? sim->scheme->levels_of(sim->opt) : sim->scheme->levels;
    const int nb = sys->ne + sys->nc, again = levels > 1 ? levels - 1 : 0, k = sys->ne - seen->ne;
    const int rows = sim->nl - k + again * ((sim->scheme->full_levels ? sim->nl : nb) - k), blocks = nb - k + again * (nb - k); // of the largest contact problem
    const double *common = sim->opt + carom_option_count(sim->scheme->options);
    carom_step *s = &sim->step;
    s->inside->delassus = carom_allocate_delassus(mem, seen);
    s->inside->assembly = carom_allocate_assembly(mem, seen, blocks, rows);
    s->blocks = carom_allocate_bytes(mem, (size_t)blocks * sizeof *s->blocks);
    s->G = carom_allocate(mem, sys->listed ? 0 : (size_t)rows * (size_t)rows);
    CAROM_ALLOCATE(mem, (size_t)rows, &s->c, &s->p, &s->u);
    s->rub = sim->rubs ? carom_allocate_rubbing(mem, seen, sim->laws ? sim->laws : sim->contacts, sim->reacts) : NULL;
    sim->reaction = sim->reacts ? carom_allocate(keep, (size_t)sim->nl) : NULL;
    sim->guess = sim->reacts ? carom_allocate(mem, (size_t)sim->nl) : NULL;
    s->impacts = sim->bounces ? carom_allocate_impacts(mem, seen, sim->nl, s->inside->assembly.blocks, s->inside->assembly.values) : NULL;
    s->inside->difference = carom_allocate_difference(mem, seen);
    const bool by_blocks = s->inside->assembly.nparts > 0 && sys->listed;
    s->inside->discs = sim->discs ? carom_allocate_discs(mem, rows, blocks, by_blocks ? s->inside->assembly.blocks : 0, s->inside->assembly.values) : NULL;
    s->inside->chain = carom_allocate_chain(mem, rows + (sim->discs ? CAROM_DISC_ROWS * blocks : 0), (sim->discs ? CAROM_DISC_BLOCKS : 1) * blocks, seen->ne + again * seen->ne,
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
    sim->inside.forecast = carom_allocate_forecast(mem, sim->sys);
    sim->scheme->allocate(sim->scheme_work, mem, keep, seen, sim->opt);
    carom_allocate_resolution(sim, mem);
    if (k > 0) allocate_redundant(sim, mem, keep, k);
    sim->before = carom_allocate_bytes(mem, keep->used); // last: now it is known how much is kept
}

// One block: the kept part first, scratch behind it, all zero.  There is room for a contact problem of all contacts at once; what is never
// touched of it (most, where shapes make thousands of contacts) never becomes memory.
static carom_status make_block(carom_sim *sim, carom_arena keep, carom_error *err) {
    enum { LINE = 64 };
    carom_arena mem = {0};
    allocate(sim, &mem, &keep);
    const size_t size = keep.used + mem.used;
    sim->block = calloc(1, size + LINE);
    if (!sim->block)
        return carom_fail(err, CAROM_NO_MEMORY,
                          "not enough memory: %s needs %.3g GB for %d coordinates, %d constraints and %d contacts; schemes differ much in what they need (docs/large-systems.md)",
                          sim->scheme->name, 1e-9 * (double)size, sim->sys->nv, sim->sys->ne, sim->sys->nc);
    unsigned char *base = (unsigned char *)sim->block + (LINE - (uintptr_t)sim->block % LINE) % LINE;
    keep = (carom_arena){.base = base, .size = keep.used, .ends = keep.ends, .room = keep.room};
    mem = (carom_arena){.base = base + keep.size, .size = size - keep.size};
    allocate(sim, &mem, &keep);
    sim->mem = mem;
    if (mem.failed) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory to factorise matrices of %d rows", sim->sys->nv);
    sim->block_size = size;
    sim->kept_size = keep.size;
    sim->pieces = keep.pieces;
    return CAROM_OK;
}

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

static uint64_t mix(uint64_t stamp, const void *bytes, size_t count) { // FNV-1a
    for (size_t i = 0; i < count; ++i) stamp = (stamp ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return stamp;
}

// What a state must have in common with the simulation that goes on with it, as far as it can be seen from outside: functions
// and parameters of the system cannot.
static uint64_t stamp_of(const carom_sim *sim) {
    const carom_system *sys = sim->sys;
    const int nopt = carom_option_count(sim->scheme->options) + CAROM_COMMON_COUNT;
    const int sizes[] = {sys->nq, sys->nv, sys->ne, sys->nc - sys->listed, (int)sys->flags, sys->mass_shape.storage, sys->tangent_shape.storage};
    uint64_t stamp = mix(0xcbf29ce484222325u, sim->scheme->name, strlen(sim->scheme->name));
    stamp = mix(stamp, sim->opt, (size_t)nopt * sizeof *sim->opt);
    stamp = mix(stamp, sizes, sizeof sizes);
    for (int i = 0; i < sys->nc - sys->listed; ++i) {
        const carom_contact *c = sys->contacts + i;
        const double values[] = {c->restitution, c->tangential_restitution, c->friction, c->tangents};
        const int laws[] = {c->impact, c->sequential, c->varies, c->friction_varies + c->friction_reacts};
        stamp = mix(stamp, values, sizeof values);
        if (c->disc[0] > 0) stamp = mix(stamp, c->disc, sizeof c->disc);
        if (c->ellipse[0] > 0) stamp = mix(stamp, c->ellipse, sizeof c->ellipse);
        if (laws[0] || laws[1] || laws[2] || laws[3]) stamp = mix(stamp, laws, sizeof laws);
    }
    if (sys->ni) stamp = mix(stamp, (const int[]){sys->ni, sys->nsamplers}, 2 * sizeof(int));
    return mix(stamp, &sim->t0, sizeof sim->t0);
}

static void set_directions(int *dir, const carom_system *sys) {
    for (int id = 0; id < sys->ne + sys->nc; ++id) dir[id + 1] = dir[id] + carom_system_recorded(sys, id);
}

// Names of what the schemes see.
static const char *name_of(const void *user, int id) {
    const carom_sim *sim = user;
    return sim->names.name(sim->names.name_user, carom_sim_known_as(sim, carom_independent_id(&sim->independent, id)));
}

static const char *rate_name_of(const void *user, int i) {
    const carom_sim *sim = user;
    return sim->names.rate_name(sim->names.name_user, i);
}

// What points into the block, and the system's own work.
static void wire(carom_sim *sim) {
    const carom_system *sys = sim->sys;
    carom_step *s = &sim->step;
    s->q = sim->q;
    s->v = sim->v;
    s->speed = &sim->kept->speed;
    s->counts = &sim->kept->ledger.counts;
    s->events = sim->events;
    set_directions(sim->dir, sys);
    if (sim->visible_dir) set_directions(sim->visible_dir, s->sys);
    if (sys->work_init) sys->work_init(sys->model, s->sys_work);
    if (sys->ni) sys->inputs(sys->model, s->sys_work, sim->input);
    carom_forecast *f = &s->inside->forecast;
    f->on = sys->reach && sim->scheme->forecasts && !sim->control.on && sys->reach(sys->model, s->sys_work, &f->reach);
}

static void connect(carom_sim *sim, const carom_sim_def *def) {
    const carom_system *sys = sim->sys;
    const double *common = sim->opt + carom_option_count(sim->scheme->options);
    carom_step *s = &sim->step;
    s->opt = sim->opt;
    s->strict = common[CAROM_OPT_CLOSED] == 1;
    s->tol = common[CAROM_OPT_TOL];
    s->inside->accept = common[CAROM_OPT_ACCEPT];
    s->newton_tol = common[CAROM_OPT_NEWTON_TOL];
    sim->control.on = common[CAROM_OPT_ADAPTIVE] == 1;
    sim->keeps_gaps = s->sys == sys && !sim->control.on && !sys->listed && !sys->hold && !sys->jump && !sys->even && !sim->scheme->emits_events;
    sim->control.rtol = common[CAROM_OPT_RTOL];
    sim->control.atol = common[CAROM_OPT_ATOL];
    sim->control.estimate = (int)common[CAROM_OPT_ESTIMATE] - 1;
    sim->control.violation = common[CAROM_OPT_VIOLATION] == 0;
    sim->control.extrapolate = common[CAROM_OPT_EXTRAPOLATE] == 1;
    s->control.safety = common[CAROM_OPT_SAFETY];
    s->control.shrink = common[CAROM_OPT_SHRINK];
    s->control.grow = common[CAROM_OPT_GROW];
    sim->kept->h_next = def->h;
    sim->kept->error_last = 1;
    sim->names = *def;
    s->name = def->name ? name_of : NULL;
    s->name_user = sim;
    s->inside->rate_name = def->rate_name ? rate_name_of : NULL;
    sim->size = def->size;
    s->err = &sim->error;
    sim->kept->t = sim->kept->from_t = def->t0;
    carom_sim_signals_start(sim, def);
    wire(sim);
    carom_copy(sim->q, def->q0, sys->nq);
    carom_copy(sim->v, def->v0, sys->nv);
    sim->kept->stamp = stamp_of(sim);
    carom_ledger *l = &sim->kept->ledger;
    l->penetration_id = l->drift_id = l->counts.residual_id = -1;
}

// Contacts whose friction varies are the simulation's own, as those of a list are anyway.
static carom_status own_contacts(carom_sim *sim, const carom_system *given, carom_error *err) {
    sim->rubs = carom_friction_varies(given);
    sim->reacts = carom_friction_reacts(given);
    sim->bounces = carom_impacts_differ(given);
    sim->discs = carom_discs_used(given);
    if (!sim->rubs || sim->list.slots) return CAROM_OK;
    sim->contacts = malloc((size_t)sim->sys->nc * sizeof *sim->contacts);
    if (!sim->contacts) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a simulation");
    memcpy(sim->contacts, sim->sys->contacts, (size_t)sim->sys->nc * sizeof *sim->contacts);
    sim->varying = *sim->sys;
    sim->varying.contacts = sim->contacts;
    sim->sys = &sim->varying;
    return CAROM_OK;
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
        const size_t at = i ? ends[i - 1] : 0, from = i ? old_ends[i - 1] : 0, size = ends[i] - at, had = old_ends[i] - from;
        carom_copy_changes((unsigned char *)sim->kept + at, (const unsigned char *)old->kept + from, had < size ? had : size);
    }
}

carom_status carom_sim_allocate(carom_sim *sim, carom_error *err) {
    if (!sim->list.slots) return make_block(sim, (carom_arena){.ends = NULL}, err);
    size_t ends[PIECES], old_ends[PIECES];
    carom_sim old = *sim;
    memcpy(old_ends, sim->ends, sizeof old_ends);
    CAROM_TRY(make_laws(sim, err));
    sim->own.nc += sim->list.slots - sim->own.listed;
    sim->own.listed = sim->list.slots;
    sim->nl = 0;
    for (int id = 0; id < sim->own.ne + sim->own.nc; ++id) sim->nl += carom_system_recorded(sim->sys, id);
    see(sim, old.sys->ne - old.step.sys->ne);
    void *work = old.block ? malloc(sim->scheme->work_size + 1) : NULL; // as it was, if there is no memory
    if (work) memcpy(work, sim->scheme_work, sim->scheme->work_size);
    const carom_status status = old.block && !work ? carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a simulation") : make_block(sim, (carom_arena){.ends = ends, .room = PIECES}, err);
    if (status != CAROM_OK && old.block) {
        carom_contact *const laws = sim->laws;
        const int fixed = old.own.nc - old.own.listed;
        if (sim->block && sim->block != old.block) carom_arena_release(&sim->mem), free(sim->block);
        *sim = old;
        sim->laws = laws;
        sim->list.law = laws + fixed;
        sim->own.contacts = laws;
        if (sim->step.rub) sim->step.rub->contacts = laws;
        if (sim->step.sys != sim->sys) sim->independent.sys.contacts = laws;
        if (work) memcpy(sim->scheme_work, work, sim->scheme->work_size);
    }
    free(work);
    CAROM_TRY(status);
    if (old.block) {
        carry_over(sim, &old, ends, old_ends);
        carom_arena_release(&old.mem);
        free(old.block);
        wire(sim);
    }
    sim->kept->slots = sim->list.slots;
    memcpy(sim->ends, ends, sizeof ends);
    return CAROM_OK;
}

static carom_status leave_out_redundant(carom_sim *sim, const carom_sim_def *def, carom_error *err) {
    const int k = sim->scheme->redundant ? 0 : carom_redundant_count(sim->sys, def->t0, def->q0);
    if (k < 0) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory to look for redundant ones among %d constraints", sim->sys->ne);
    see(sim, k);
    return CAROM_OK;
}

static carom_status choose_kept(carom_sim *sim, carom_error *err) {
    carom_redundant *rows = &sim->independent.rows;
    if (rows->k == 0 || carom_redundant_start(rows, sim->step.sys_work, sim->step.M, sim->t0, sim->q)) return CAROM_OK;
    return carom_fail(err, CAROM_USER, "t = %.9g: the model failed to compute its mass or the directions of its constraints", sim->t0);
}

static carom_sim *create(const carom_sim_def *def, carom_error *err) {
    const carom_scheme *scheme = NULL;
    long total = 0;
    bool whole = true;
    if (!def || !def->system || !def->q0 || !def->v0) return carom_fail(err, CAROM_BAD_INPUT, "a simulation needs a system, q0 and v0"), NULL;
    if (carom_system_check(def->system, err) != CAROM_OK) return NULL;
    if (find_scheme(def, &scheme, err) != CAROM_OK) return NULL;
    if (plan_steps(def, &total, &whole, err) != CAROM_OK) return NULL;

    const size_t options = (size_t)carom_option_count(scheme->options) + CAROM_COMMON_COUNT;
    carom_sim *sim = calloc(1, sizeof *sim);
    if (!sim) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a simulation"), NULL;
    *sim = (carom_sim){.sys = def->system, .scheme = scheme, .t0 = def->t0, .h = def->h, .given = def->h, .t_end = def->t_end, .total = total};
    carom_sim_list_make(sim);
    for (int id = 0; id < sim->sys->ne + sim->sys->nc; ++id) sim->nl += carom_system_recorded(sim->sys, id);
    sim->behind = NAN;
    sim->opt = calloc(options, sizeof *sim->opt);
    sim->scheme_work = calloc(1, scheme->work_size);
    if (!sim->opt || !sim->scheme_work) {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a simulation");
    } else if (read_options(scheme, def->options, sim->opt, err) == CAROM_OK &&
               check_lacks(def, scheme, needs_of(def, whole, sim->opt[carom_option_count(scheme->options) + CAROM_OPT_ADAPTIVE] == 1),
                           ignored_by(scheme, sim->opt), err) == CAROM_OK &&
               check_extrapolation(def, scheme, sim->opt, err) == CAROM_OK &&
               own_contacts(sim, def->system, err) == CAROM_OK && leave_out_redundant(sim, def, err) == CAROM_OK && carom_sim_allocate(sim, err) == CAROM_OK) {
        connect(sim, def);
        if (carom_sim_signals_check(sim, err) != CAROM_OK) return carom_sim_destroy(sim), NULL;
        carom_sim_watch_inner(sim, NULL, NULL);
        if (choose_kept(sim, err) == CAROM_OK && carom_sim_begin(sim, err) == CAROM_OK) return sim;
    }
    carom_sim_destroy(sim);
    return NULL;
}

carom_sim *carom_sim_create(const carom_sim_def *def, carom_error *err) {
    carom_error mine;
    return create(def, err ? err : &mine);
}

void carom_sim_destroy(carom_sim *sim) {
    if (!sim) return;
    if (sim->scheme->finish && sim->scheme_work) sim->scheme->finish(sim->scheme_work);
    carom_arena_release(&sim->mem);
    free(sim->block);
    free(sim->contacts);
    free(sim->laws);
    free(sim->scheme_work);
    free(sim->opt);
    free(sim);
}

size_t carom_sim_memory(const carom_sim *sim) { return sim->block_size; }

const carom_scheme *carom_sim_scheme(const carom_sim *sim) { return sim->scheme; }

const char *carom_sim_warning(const carom_sim *sim) {
    return sim->scheme->warning ? sim->scheme->warning(sim->opt) : NULL;
}

void carom_sim_choice(const carom_sim *sim, char *text, size_t size) {
    if (size > 0) text[0] = 0;
    if (sim->scheme->say) sim->scheme->say(sim->scheme_work, text, size);
}

void carom_sim_options_text(const carom_sim *sim, char *text, size_t size) {
    const int own = carom_option_count(sim->scheme->options);
    if (size == 0) return;
    text[0] = 0;
    for (int i = 0; i < own + CAROM_COMMON_COUNT; ++i) {
        const carom_option *o = i < own ? sim->scheme->options + i : carom_common_options + (i - own);
        if (i >= own && carom_option_find(sim->scheme->options, o->name, strlen(o->name)) >= 0) continue; // the scheme's own rules
        char value[40];
        carom_option_write(o, sim->opt[i], value, sizeof value);
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s=%s", i ? " " : "", o->name, value);
    }
}

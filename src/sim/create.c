// create.c: a simulation is made, with its first state, and freed.
#include "base/number.h"
#include "base/option.h"
#include "base/tolerance.h"
#include "scheme/discs.h"
#include "scheme/friction.h"
#include "scheme/impact.h"
#include "sim/sim.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Steps from t0 to t_end.  T/h counts as whole when it is so to 1e-9.
static carom_status plan_steps(const carom_sim_def *def, long *total, bool *whole, carom_error *err) {
    if (!(def->h > 0 && isfinite(def->h)))
        return carom_fail(err, CAROM_BAD_INPUT, "step size must be positive, got %g", def->h);
    if (!(def->t_end > def->t0 && isfinite(def->t_end)))
        return carom_fail(err, CAROM_BAD_INPUT, "the end time %g must lie after the start %g", def->t_end, def->t0);
    const double count = (def->t_end - def->t0) / def->h, nearest = round(count);
    if (!(count < CAROM_MOST_STEPS))
        return carom_fail(
            err, CAROM_BAD_INPUT,
            "the run would need %g steps of %g, more than supported; increase the step or reduce the end time", count,
            def->h);
    *whole = nearest >= 1 && fabs(count - nearest) <= CAROM_INSTANT * fmax(1, nearest);
    *total = *whole ? (long)nearest : (long)ceil(count);
    return CAROM_OK;
}

static uint64_t mix(uint64_t stamp, const void *bytes, size_t count) { // FNV-1a
    for (size_t i = 0; i < count; ++i) stamp = (stamp ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return stamp;
}

// What a state must have in common with the simulation that goes on with it, as far as it can be seen from outside:
// functions and parameters of the system cannot.
static uint64_t stamp_of(const carom_sim *sim, const carom_system *model) {
    const carom_system *sys = sim->sys;
    const int nopt = carom_option_count(sim->scheme->options) + CAROM_COMMON_COUNT;
    const int sizes[] = {sys->nq,
                         sys->nv,
                         sys->ne,
                         sys->nc - sys->listed,
                         (int)sys->flags,
                         sys->mass_shape.storage,
                         sys->tangent_shape.storage};
    uint64_t stamp = mix(0xcbf29ce484222325u, sim->scheme->name, strlen(sim->scheme->name));
    stamp = mix(stamp, sim->opt, (size_t)nopt * sizeof *sim->opt);
    stamp = mix(stamp, sizes, sizeof sizes);
    // those of a list, too: every law is in one of the slots that the model begins with
    for (int i = 0; i < model->nc; ++i) {
        const carom_contact *c = model->contacts + i;
        const double values[] = {c->restitution, c->tangential_restitution, c->friction, c->tangents};
        const int laws[] = {c->impact, c->sequential, c->varies, c->friction_varies + c->friction_reacts};
        stamp = mix(stamp, values, sizeof values);
        if (c->disc[0] > 0) stamp = mix(stamp, c->disc, sizeof c->disc);
        if (c->ellipse[0] > 0) stamp = mix(stamp, c->ellipse, sizeof c->ellipse);
        if (laws[0] || laws[1] || laws[2] || laws[3]) stamp = mix(stamp, laws, sizeof laws);
    }
    if (sys->signals->ni) stamp = mix(stamp, (const int[]){sys->signals->ni, sys->signals->nsamplers}, 2 * sizeof(int));
    return mix(stamp, &sim->t0, sizeof sim->t0);
}

// Names of what the schemes see.
static const char *name_of(const void *user, long long id) {
    const carom_sim *sim = user;
    const int own = carom_independent_id(&sim->independent, (int)id);
    return sim->names.name(sim->names.name_user, carom_sim_known_as(sim, own));
}

static const char *rate_name_of(const void *user, int i) {
    const carom_sim *sim = user;
    return sim->names.rate_name(sim->names.name_user, i);
}

static const double FINE = 1e-12; // (TOL-2): some thousand roundings, which direct solvers reach

static void connect(carom_sim *sim, const carom_sim_def *def) {
    const carom_system *sys = sim->sys;
    const double *common = sim->opt + carom_option_count(sim->scheme->options);
    carom_step *s = &sim->step;
    s->opt = sim->opt;
    s->strict = common[CAROM_OPT_CLOSED] == 1;
    s->inside->solved = common[CAROM_OPT_TOL];
    s->tol = carom_sim_given(def->options, "tol") ? s->inside->solved : FINE;
    s->inside->accept = common[CAROM_OPT_ACCEPT];
    s->inside->prox = (carom_prox_rule){
        .r = common[CAROM_OPT_PROX_R], .test = (int)common[CAROM_OPT_PROX_TEST], .stop = common[CAROM_OPT_PROX_STOP]};
    if (sys->listed && !carom_sim_given(def->options, "tol")) { // (TOL-6)
        const bool given = carom_sim_given(def->options, "accept");
        s->inside->limited = given ? s->inside->accept : CAROM_LIMITED;
        s->inside->limited_most = given ? s->inside->accept : CAROM_LIMITED_MOST;
    }
    s->newton_tol = common[CAROM_OPT_NEWTON_TOL];
    sim->control.on = common[CAROM_OPT_ADAPTIVE] == 1;
    sim->gaps.kept = s->sys == sys && !sim->control.on && !sys->listed && !sys->events->freeze &&
                      !sys->events->next_jump && !sys->events->limit_step && !sim->scheme->emits_events;
    sim->control.rtol = common[CAROM_OPT_RTOL];
    sim->control.atol = common[CAROM_OPT_ATOL];
    sim->control.estimate = (int)common[CAROM_OPT_ESTIMATE] - 1;
    sim->control.violation = common[CAROM_OPT_VIOLATION] == 0;
    sim->control.extrapolate = common[CAROM_OPT_EXTRAPOLATE] == 1;
    sim->control.lecture = common[CAROM_OPT_CONTROL] == 1;
    s->inside->control.safety = common[CAROM_OPT_SAFETY];
    s->inside->control.shrink = common[CAROM_OPT_SHRINK];
    s->inside->control.grow = common[CAROM_OPT_GROW];
    sim->kept->h_next = def->h;
    sim->kept->error_last = 1;
    sim->names = *def;
    s->inside->name = def->name ? name_of : NULL;
    s->inside->name_user = sim;
    s->inside->rate_name = def->rate_name ? rate_name_of : NULL;
    sim->size = def->size;
    sim->gaps.bounds_from = HUGE_VAL;
    for (int c = 0; def->size && c < carom_sim_fixed_contacts(sim); ++c) {
        const double size = def->size(def->name_user, sys->ne + c);
        if (size > 0) sim->gaps.shaped |= CAROM_NEAR(c), sim->gaps.bounds_from = fmin(sim->gaps.bounds_from, size);
    }
    s->err = &sim->error;
    sim->kept->t = sim->kept->from_t = def->t0;
    carom_sim_signals_start(sim, def);
    carom_sim_wire(sim);
    carom_copy(sim->q, def->q0, sys->nq);
    carom_copy(sim->v, def->v0, sys->nv);
    sim->kept->stamp = stamp_of(sim, def->system);
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

static carom_status choose_kept(carom_sim *sim, carom_error *err) {
    carom_redundant *rows = &sim->independent.rows;
    if (rows->k == 0 || carom_redundant_start(rows, sim->step.sys_work, sim->step.M, sim->t0, sim->q)) return CAROM_OK;
    return carom_fail(err, CAROM_USER,
                      "t = %.9g: the model failed to compute its mass or the directions of its constraints", sim->t0);
}

static carom_sim *create(const carom_sim_def *def, carom_error *err) {
    const carom_scheme *scheme = NULL;
    long total = 0;
    bool whole = true;
    if (!def || !def->system || !def->q0 || !def->v0)
        return carom_fail(err, CAROM_BAD_INPUT, "a simulation needs a system, q0 and v0"), NULL;
    if (carom_system_check(def->system, err) != CAROM_OK) return NULL;
    if (carom_sim_find_scheme(def, &scheme, err) != CAROM_OK) return NULL;
    if (plan_steps(def, &total, &whole, err) != CAROM_OK) return NULL;

    const size_t options = (size_t)carom_option_count(scheme->options) + CAROM_COMMON_COUNT;
    carom_sim *sim = calloc(1, sizeof *sim);
    if (!sim) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a simulation"), NULL;
    *sim = (carom_sim){.sys = def->system,
                       .scheme = scheme,
                       .t0 = def->t0,
                       .h = def->h,
                       .t_end = def->t_end,
                       .plan = {.given = def->h, .total = total}};
    if (def->choice) carom_format(sim->choice, sizeof sim->choice, "%s", def->choice);
    carom_sim_list_make(sim);
    for (int id = 0; id < sim->sys->ne + sim->sys->nc; ++id) sim->nl += carom_system_recorded(sim->sys, id);
    sim->behind = NAN;
    sim->opt = calloc(options, sizeof *sim->opt);
    sim->scheme_work = calloc(1, scheme->work_size);
    if (!sim->opt || !sim->scheme_work) {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a simulation");
    } else if (carom_sim_read_options(def, scheme, whole, sim->opt, err) == CAROM_OK &&
               own_contacts(sim, def->system, err) == CAROM_OK &&
               carom_sim_leave_out_redundant(sim, def, err) == CAROM_OK && carom_sim_allocate(sim, err) == CAROM_OK) {
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
    carom_sim_free_block(sim);
    free(sim->contacts);
    free(sim->laws);
    free(sim->scheme_work);
    free(sim->opt);
    free(sim);
}

size_t carom_sim_memory(const carom_sim *sim) { return sim ? sim->block_size : 0; }

const carom_scheme *carom_sim_scheme(const carom_sim *sim) { return sim ? sim->scheme : NULL; }

void carom_sim_choice(const carom_sim *sim, char *text, size_t size) {
    if (!sim || !text) return;
    if (size > 0) text[0] = 0;
    if (sim->scheme->describe) sim->scheme->describe(sim->scheme_work, text, size);
    else carom_format(text, size, "%s", sim->choice);
}

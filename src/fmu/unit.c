// unit.c: an instance from its birth to its end, what may be called when, and the values of its variables.
#include "base/number.h"
#include "fmu/unit_data.h"
#include "mech/mech.h"
#include "model/answers.h"
#include "sim/inspect.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// of the largest position or rate: what a user computes by hand or with few digits may be off by
static const double OFF = 1e-6;

void carom_fmu_say(const fmu_unit *u, fmu_level level, const char *format, ...) {
    char text[1400];
    if (!u->def.log || (level == FMU_NOTE && !u->def.notes)) return;
    va_list args;
    va_start(args, format);
    carom_vformat(text, sizeof text, format, args);
    va_end(args);
    u->def.log(u->def.user, level, text);
}

// -- birth and end ----------------------------------------------------------------------------------------------------

static char *copy(const char *text) {
    char *own = text ? malloc(strlen(text) + 1) : NULL;
    return own ? strcpy(own, text) : NULL;
}

static char *read_file(const char *folder, const char *name, size_t *length) {
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return NULL;
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    if (f && fseek(f, 0, SEEK_END) == 0) {
        const long size = ftell(f);
        rewind(f);
        text = size >= 0 ? malloc((size_t)size + 1) : NULL;
        *length = text ? fread(text, 1, (size_t)size, f) : 0;
        if (text && *length != (size_t)size) free(text), text = NULL;
    }
    if (f) fclose(f);
    return text;
}

// The model with compiled code wherever there is some for a tape as it is now; the rest is interpreted, to the same
// bits.
static carom_model *native_model(const fmu_unit *u, const carom_mech *mech, carom_error *err) {
    carom_model *m = carom_model_of(mech, NULL, err);
    const int n = m && u->native ? carom_model_tapes(m, NULL, 0) : 0;
    carom_tape **tape = n ? calloc((size_t)n, sizeof *tape) : NULL;
    int attached = 0;
    if (tape) carom_model_tapes(m, tape, n);
    for (int i = 0; tape && i < n && u->native[i]; ++i) attached += carom_tape_attach(tape[i], u->native[i]);
    free(tape);
    if (m)
        carom_fmu_say(u, FMU_NOTE, "%d of %d parts of the model are compiled", attached, carom_model_tapes(m, NULL, 0));
    return m;
}

static carom_status load(fmu_unit *u, carom_error *err) {
    size_t length = 0;
    char *token = read_file(u->folder, "token.txt", &length);
    const bool same = token && length == strlen(u->token) && memcmp(token, u->token, length) == 0;
    free(token);
    if (!token)
        return carom_fail(
            err, CAROM_IO,
            "cannot read %.400s/token.txt; the importer must unpack the FMU and name its resources directory",
            u->folder);
    if (!same)
        return carom_fail(err, CAROM_BAD_INPUT, "the identifier (guid or instantiation token) is not that of this FMU");
    char *text = read_file(u->folder, "model.txt", &length);
    if (!text) return carom_fail(err, CAROM_IO, "cannot read %.400s/model.txt", u->folder);
    carom_status status = carom_fmu_bundle_read(&u->bundle, text, length, err);
    free(text);
    CAROM_TRY(status);
    u->native = carom_fmu_native(u->folder, &u->code);
    u->model = native_model(u, u->bundle.mech, err);
    if (!u->model) return err->code;
    CAROM_TRY(carom_fmu_variables(&u->variables, &u->bundle, u->model, err));
    const size_t n = (size_t)u->variables.n;
    u->value = calloc(n, sizeof *u->value);
    u->given = calloc(n, sizeof *u->given);
    u->row = calloc(n, sizeof *u->row);
    return u->value && u->given && u->row ? CAROM_OK
                                          : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an instance");
}

fmu_unit *carom_fmu_create(const fmu_unit_def *def) {
    carom_error err = {.code = CAROM_OK};
    fmu_unit *u = calloc(1, sizeof *u);
    if (!u) return NULL;
    u->def = *def;
    u->mode = FMU_INSTANTIATED;
    u->stale = true;
    u->stop = HUGE_VAL;
    u->folder = copy(def->folder);
    u->token = copy(def->token);
    u->about = UINT64_C(0xcbf29ce484222325);
    for (const char *c = def->token; c && *c; ++c) u->about = (u->about ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    if (!u->folder || !u->token)
        carom_fail(&err, CAROM_BAD_INPUT, "an instance requires the resources directory and the identifier of the FMU");
    else if (load(u, &err) == CAROM_OK) return u;
    carom_fmu_say(u, FMU_WRONG, "%s", err.text);
    carom_fmu_destroy(u);
    return NULL;
}

static void drop_simulation(fmu_unit *u) {
    carom_sim_destroy(u->sim);
    u->sim = NULL;
    double **const lists[] = {&u->impulse, &u->u, &u->gap, &u->out, &u->turned};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) free(*lists[i]), *lists[i] = NULL;
}

void carom_fmu_destroy(fmu_unit *u) {
    if (!u) return;
    drop_simulation(u);
    carom_model_destroy(u->model);
    carom_fmu_variables_free(&u->variables);
    carom_fmu_bundle_free(&u->bundle);
    carom_fmu_native_close(u->code);
    free(u->folder);
    free(u->token);
    free(u->value);
    free(u->given);
    free(u->row);
    free(u);
}

fmu_mode carom_fmu_mode(const fmu_unit *u) { return u->mode; }
void carom_fmu_notes(fmu_unit *u, bool on) { u->def.notes = on; }
double carom_fmu_time(const fmu_unit *u) { return u->sim ? carom_sim_now(u->sim).t : u->start; }

// -- modes ------------------------------------------------------------------------------------------------------------

static const char *mode_name(fmu_mode mode) {
    switch (mode) {
    case FMU_INSTANTIATED: return "before initialization";
    case FMU_INITIALIZING: return "in initialization mode";
    case FMU_STEPPING: return "in step mode";
    case FMU_EVENT: return "in event mode";
    case FMU_INTERMEDIATE: return "inside a step";
    case FMU_FAILED: return "after a step that was discarded";
    case FMU_TERMINATED: return "after termination";
    }
    return "now";
}

bool carom_fmu_allowed(const fmu_unit *u, unsigned modes, const char *call) {
    if (u->mode & modes) return true;
    carom_fmu_say(u, FMU_WRONG, "%s must not be called %s", call, mode_name(u->mode));
    return false;
}

bool carom_fmu_enter(fmu_unit *u, unsigned from, fmu_mode to, const char *call) {
    if (!carom_fmu_allowed(u, from, call)) return false;
    u->mode = to;
    return true;
}

bool carom_fmu_setup(fmu_unit *u, double start, bool ends, double stop) {
    if (!isfinite(start) || (ends && !(stop > start))) {
        carom_fmu_say(u, FMU_WRONG, "the start time %g and the stop time %g are no interval", start, stop);
        return false;
    }
    u->start = start;
    u->stop = ends ? stop : HUGE_VAL;
    u->stale = true;
    return true;
}

static bool failed(fmu_unit *u, const carom_error *err) {
    carom_fmu_say(u, FMU_WRONG, "%s", err->text);
    return false;
}

bool carom_fmu_start(fmu_unit *u) {
    carom_error err = {.code = CAROM_OK};
    if (!carom_fmu_allowed(u, FMU_INITIALIZING, "exitInitializationMode")) return false;
    if (carom_fmu_prepare(u, &err) != CAROM_OK) return failed(u, &err);
    u->mode = FMU_STEPPING;
    return true;
}

bool carom_fmu_terminate(fmu_unit *u) {
    if (!carom_fmu_allowed(u, FMU_STEPPING | FMU_EVENT | FMU_FAILED, "terminate")) return false;
    carom_warning list[CAROM_WARNINGS];
    carom_ledger ledger;
    carom_error err;
    if (u->sim && carom_sim_ledger(u->sim, &ledger, &err) == CAROM_OK)
        for (int i = 0, n = carom_sim_warnings(u->sim, &ledger, list); i < n; ++i)
            carom_fmu_say(u, FMU_WARN, "%s: %s", list[i].kind, list[i].text);
    u->mode = FMU_TERMINATED;
    return true;
}

bool carom_fmu_reset(fmu_unit *u) {
    if (!carom_fmu_allowed(u, ~(unsigned)FMU_INTERMEDIATE, "reset")) return false;
    drop_simulation(u);
    memset(u->given, 0, (size_t)u->variables.n * sizeof *u->given);
    u->mode = FMU_INSTANTIATED;
    u->start = 0;
    u->stop = HUGE_VAL;
    u->stale = true;
    u->fresh = false;
    return true;
}

// -- model and simulation ---------------------------------------------------------------------------------------------

// variable 1 is FMU_STEP
static double step_size(const fmu_unit *u) { return u->given[1] ? u->value[1] : u->bundle.step; }

// The model with the parameters and inputs that were set.
static carom_status make_model(fmu_unit *u, carom_model **model, carom_error *err) {
    carom_mech *mech = carom_mech_copy(u->bundle.mech);
    carom_status status = mech ? CAROM_OK : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the model");
    for (int i = 0; i < u->variables.n && status == CAROM_OK; ++i) {
        const fmu_variable *v = &u->variables.list[i];
        if (!u->given[i] || (v->kind != FMU_PARAMETER && v->kind != FMU_INPUT)) continue;
        char text[600];
        carom_format(text, sizeof text, "%s=%.17g", v->name, u->value[i]);
        status = carom_mech_set(mech, text, err);
    }
    *model = status == CAROM_OK ? native_model(u, mech, err) : NULL;
    carom_mech_destroy(mech);
    return *model ? CAROM_OK : err->code;
}

// Parameters must not change which variables there are.
static carom_status check_structure(fmu_unit *u, const carom_model *model, carom_error *err) {
    fmu_variables now;
    carom_status status = carom_fmu_variables(&now, &u->bundle, model, err);
    bool same = status == CAROM_OK && now.n == u->variables.n;
    for (int i = 0; same && i < now.n; ++i)
        same = now.list[i].kind == u->variables.list[i].kind && now.list[i].index == u->variables.list[i].index &&
               strcmp(now.list[i].name, u->variables.list[i].name) == 0;
    if (status == CAROM_OK && !same)
        status = carom_fail(err, CAROM_BAD_INPUT,
                            "these parameters change which variables the model has; export another FMU with `set`");
    carom_fmu_variables_free(&now);
    return status;
}

// Initial values that were set must hold at joints and constraints.
static carom_status check_start(const carom_model *model, carom_sim *sim, bool given, carom_error *err) {
    const carom_system *sys = carom_sim_system(sim);
    const carom_now now = carom_sim_now(sim);
    double *rate = calloc((size_t)now.dir[sys->ne + sys->nc] + 1, sizeof *rate);
    if (!rate) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an instance");
    carom_status status = given && sys->ne ? carom_sim_velocities(sim, rate, err) : CAROM_OK;
    double size = 1, speed = 1;
    for (int i = 0; i < sys->nq; ++i) size = fmax(size, fabs(now.q[i]));
    for (int i = 0; i < sys->nv; ++i) speed = fmax(speed, fabs(now.v[i]));
    for (int id = 0; id < sys->ne && given && status == CAROM_OK; ++id) {
        const bool at = fabs(now.gap[id]) > OFF * size, moves = fabs(rate[now.dir[id]]) > OFF * speed;
        if (at || moves)
            status = carom_fail(
                err, CAROM_BAD_INPUT,
                "the initial values that were set violate '%.60s' by %.3g (%s); set values that satisfy it",
                carom_model_constraint(model, id), at ? now.gap[id] : rate[now.dir[id]], at ? "position" : "rate");
    }
    free(rate);
    return status;
}

static carom_status make_sim(fmu_unit *u, const carom_model *model, carom_sim **sim, carom_error *err) {
    static const double FAR = 1e12; // steps: nobody waits for their end
    const carom_system *sys = carom_model_system(model);
    const double h = step_size(u);
    const carom_run run = {
        .scheme = u->bundle.scheme, .step = h, .end = u->start + FAR * h, .options = (const char **)u->bundle.options};
    carom_sim_def def = carom_run_sim(&run, model);
    double *q = malloc(((size_t)sys->nq + (size_t)sys->nv + (size_t)sys->signals->ni + 1) * sizeof *q),
           *v = q ? q + sys->nq : NULL, *signal = q ? v + sys->nv : NULL;
    if (!q) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an instance");
    memcpy(q, def.q0, (size_t)sys->nq * sizeof *q);
    memcpy(v, def.v0, (size_t)sys->nv * sizeof *v);
    bool given = false;
    for (int i = 0; i < u->variables.n; ++i) {
        const fmu_variable *x = &u->variables.list[i];
        if (!u->given[i] || (x->kind != FMU_POSITION && x->kind != FMU_VELOCITY)) continue;
        (x->kind == FMU_POSITION ? q : v)[x->index] = u->value[i];
        given = true;
    }
    def.q0 = q;
    def.v0 = v;
    def.t0 = u->start;
    if (sys->signals->ni) {
        memcpy(signal, sys->signals->input, (size_t)sys->signals->ni * sizeof *signal);
        for (int i = 0; i < u->variables.n; ++i)
            if (u->given[i] && u->variables.list[i].kind == FMU_SIGNAL)
                signal[u->variables.list[i].index] = u->value[i];
        def.input = signal;
    }
    *sim = carom_sim_create(&def, err);
    free(q);
    carom_status status = *sim ? check_start(model, *sim, given, err) : err->code;
    if (status != CAROM_OK) carom_sim_destroy(*sim), *sim = NULL;
    return status;
}

static carom_status make_rows(fmu_unit *u, carom_error *err) {
    const carom_system *sys = carom_sim_system(u->sim);
    const int all = sys->ne + sys->nc - sys->listed;
    u->ndir = carom_sim_now(u->sim).dir[all];
    const size_t n = (size_t)u->ndir + 1;
    u->sums = u->ndir + CAROM_GROUP_ROWS * u->variables.groups->n;
    if (!u->impulse) u->impulse = calloc((size_t)u->sums + 1, sizeof *u->impulse);
    if (!u->u) u->u = calloc(n, sizeof *u->u);
    if (!u->gap) u->gap = calloc((size_t)all + 1, sizeof *u->gap);
    if (!u->out) u->out = calloc((size_t)carom_model_count(u->model).outputs + 1, sizeof *u->out);
    if (!u->turned) u->turned = calloc(2 * n, sizeof *u->turned);
    return u->impulse && u->u && u->gap && u->out && u->turned
               ? CAROM_OK
               : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an instance");
}

carom_status carom_fmu_prepare(fmu_unit *u, carom_error *err) {
    if (!u->stale) return CAROM_OK;
    carom_model *model = NULL;
    carom_sim *sim = NULL;
    const bool begun = u->mode & (FMU_STEPPING | FMU_EVENT);
    carom_status status = make_model(u, &model, err);
    if (status == CAROM_OK) status = check_structure(u, model, err);
    if (status == CAROM_OK) status = make_sim(u, model, &sim, err);
    if (status == CAROM_OK && begun && u->sim) status = carom_sim_continue(sim, u->sim, err);
    if (status != CAROM_OK) {
        carom_sim_destroy(sim);
        carom_model_destroy(model);
        return status;
    }
    if (!begun) drop_simulation(u);
    carom_sim_destroy(u->sim);
    carom_model_destroy(u->model);
    u->model = model;
    u->sim = sim;
    u->stale = u->fresh = false;
    return make_rows(u, err);
}

// -- values -----------------------------------------------------------------------------------------------------------

void carom_fmu_add_impulses(fmu_unit *u, const carom_now *now) {
    const double *x = now->impulse;
    if (!now->reacted) return;
    if (carom_model_turned(u->model)) {
        carom_model_reactions(u->model, carom_sim_work(u->sim), now->t, now->q, now->dir, u->ndir, x, u->turned);
        x = u->turned;
    }
    for (int i = 0; i < u->ndir; ++i) u->impulse[i] += x[i];
    contact_groups *g = u->variables.groups;
    g->model = u->model;
    if (g->n) carom_groups_add(g, carom_sim_work(u->sim), now, carom_sim_system(u->sim), u->impulse + u->ndir);
}

static double value_of(const fmu_unit *u, const fmu_variable *v, const carom_now *now, const double energy[2],
                       const double *const *of) {
    double x;
    switch (v->kind) {
    case FMU_TIME: return now->t;
    case FMU_STEP: return step_size(u);
    case FMU_PARAMETER:
    case FMU_INPUT:
    case FMU_CALCULATED: return carom_model_parameter(u->model, v->index, &x) ? x : NAN;
    case FMU_SIGNAL: return carom_sim_inputs(u->sim)[v->index];
    case FMU_POSITION: return now->q[v->index];
    case FMU_VELOCITY: return now->v[v->index];
    case FMU_KINETIC: return energy[0];
    case FMU_POTENTIAL: return energy[1];
    case FMU_ENERGY: return energy[0] + energy[1];
    case FMU_REACTION: return carom_column_value(&u->variables.columns.list[v->index], of, u->gap, now->dir);
    case FMU_OUTPUT: return u->out[v->index];
    case FMU_KINDS: break;
    }
    return NAN;
}

// The same numbers as a row of a record.
static carom_status fill_row(fmu_unit *u, carom_error *err) {
    if (u->fresh) return CAROM_OK;
    const carom_system *sys = carom_sim_system(u->sim);
    const carom_now now = carom_sim_now(u->sim);
    const size_t all = (size_t)(sys->ne + sys->nc - sys->listed);
    void *work = carom_sim_work(u->sim);
    double energy[2];
    memcpy(u->gap, now.gap, all * sizeof *u->gap);
    if (carom_model_row(u->model, work, now.t, now.q, now.v, energy, u->u, u->gap, u->out) != CAROM_OK) {
        memcpy(u->gap, now.gap, all * sizeof *u->gap);
        CAROM_TRY(carom_sim_energy(u->sim, &energy[0], &energy[1], err));
        CAROM_TRY(carom_sim_velocities(u->sim, u->u, err));
        carom_model_outputs(u->model, work, now.t, now.q, now.v, u->out);
    }
    const double *turned = now.lasting;
    if (carom_model_turned(u->model)) {
        carom_model_reactions(u->model, work, now.t, now.q, now.dir, u->ndir, now.lasting, u->turned);
        turned = u->turned;
    }
    contact_groups *g = u->variables.groups;
    g->model = u->model; // that of the present settings
    if (g->n) carom_groups_fill(g, work, &now, sys, u->gap, u->u, now.lasting, u->impulse + u->ndir);
    const double *const of[CAROM_QUANTITIES] = {
        [CAROM_OF_GAP] = u->gap,
        [CAROM_OF_GAP_RATE] = u->u,
        [CAROM_OF_FORCE] = now.lasting,
        [CAROM_OF_IMPULSE] = u->impulse,
        [CAROM_OF_JOINT_GAP] = now.gap,
        [CAROM_OF_JOINT_FORCE] = turned,
        [CAROM_OF_JOINT_IMPULSE] = u->impulse,
        [CAROM_OF_GROUP_GAP] = g->gap,
        [CAROM_OF_GROUP_CLOSED] = g->closed,
        [CAROM_OF_GROUP_RATE] = g->rate,
        [CAROM_OF_GROUP_FORCE] = g->force,
        [CAROM_OF_GROUP_IMPULSE] = g->impulse,
    };
    for (int i = 0; i < u->variables.n; ++i) u->row[i] = value_of(u, &u->variables.list[i], &now, energy, of);
    u->fresh = true;
    return CAROM_OK;
}

static bool known(const fmu_unit *u, const unsigned *ref, size_t n, const void *x, const char *call) {
    if (n > 0 && (!ref || !x)) {
        carom_fmu_say(u, FMU_WRONG, "%s: a list is missing", call);
        return false;
    }
    for (size_t i = 0; i < n; ++i)
        if (ref[i] >= (unsigned)u->variables.n) {
            carom_fmu_say(u, FMU_WRONG, "%s: there is no variable with the value reference %u", call, ref[i]);
            return false;
        }
    return true;
}

bool carom_fmu_get(fmu_unit *u, const unsigned *ref, size_t n, double *x, const char *call) {
    carom_error err = {.code = CAROM_OK};
    const unsigned modes = FMU_INITIALIZING | FMU_STEPPING | FMU_EVENT | FMU_INTERMEDIATE | FMU_FAILED | FMU_TERMINATED;
    if (!carom_fmu_allowed(u, modes, call) || !known(u, ref, n, x, call)) return false;
    if (carom_fmu_prepare(u, &err) != CAROM_OK || fill_row(u, &err) != CAROM_OK) return failed(u, &err);
    for (size_t i = 0; i < n; ++i) x[i] = u->row[ref[i]];
    return true;
}

static bool settable(const fmu_unit *u, const fmu_variable *v, double x, const char *call) {
    const bool early = u->mode & (FMU_INSTANTIATED | FMU_INITIALIZING);
    const char *what = !carom_fmu_role(v->kind).start ? "is computed and cannot be set"
                       : !early && v->kind != FMU_INPUT && v->kind != FMU_SIGNAL
                           ? "can be set before the simulation starts only"
                       : !isfinite(x)                    ? "was given a value that is not finite"
                       : v->kind == FMU_STEP && !(x > 0) ? "must be positive"
                                                         : NULL;
    if (what) carom_fmu_say(u, FMU_WRONG, "%s: '%s' %s", call, v->name, what);
    return !what;
}

bool carom_fmu_set(fmu_unit *u, const unsigned *ref, size_t n, const double *x, const char *call) {
    if (!carom_fmu_allowed(u, FMU_INSTANTIATED | FMU_INITIALIZING | FMU_STEPPING | FMU_EVENT, call) ||
        !known(u, ref, n, x, call))
        return false;
    for (size_t i = 0; i < n; ++i)
        if (!settable(u, &u->variables.list[ref[i]], x[i], call)) return false;
    for (size_t i = 0; i < n; ++i) {
        const unsigned k = ref[i];
        carom_error err = {.code = CAROM_OK};
        // the simulation goes on with another value
        if (u->variables.list[k].kind == FMU_SIGNAL && u->mode & (FMU_STEPPING | FMU_EVENT)) {
            if (carom_sim_input(u->sim, u->variables.list[k].index, x[i], &err) != CAROM_OK) return failed(u, &err);
            u->fresh = false;
            u->value[k] = x[i];
            u->given[k] = true;
            continue;
        }
        const double old = u->given[k] ? u->value[k] : u->variables.list[k].start;
        u->stale = u->stale || memcmp(&old, &x[i], sizeof old) != 0 ||
                   (!u->given[k] && u->variables.list[k].kind != FMU_INPUT);
        u->value[k] = x[i];
        u->given[k] = true;
    }
    return true;
}

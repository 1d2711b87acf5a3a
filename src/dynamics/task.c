// task.c: a model with free names, and runs of it.
#include "base/number.h"
#include "base/text.h"
#include "dynamics/dynamics.h"
#include "model/answers.h"
#include "model/model.h"
#include "scheme/advice.h"
#include "sweep/sweep.h"
#include <carom/event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 200 }; // bytes of name=value: 150 and 24

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a run");
}

// What a name is: as in sweeps.
static carom_status look_up(const carom_task *t, const char *name, carom_free_name *f, carom_error *err) {
    static const carom_free_kind kind[] = {[VARY_PARAMETER] = CAROM_FREE_PARAMETER,
                                           [VARY_POSITION] = CAROM_FREE_POSITION,
                                           [VARY_RATE] = CAROM_FREE_RATE};
    const carom_system *sys = carom_model_system(t->base);
    varied_kind of;
    if (strlen(name) > TEXT - 10 || strchr(name, '='))
        return carom_fail(err, CAROM_BAD_INPUT, "'%.60s' is not a name", name);
    *f = (carom_free_name){.name = calloc(strlen(name) + 1, 1)};
    if (!f->name) return no_memory(err);
    memcpy(f->name, name, strlen(name));
    if (!carom_vary_find(t->base, name, &of, &f->index)) {
        free(f->name);
        f->name = NULL;
        return carom_vary_unknown(t->base, NULL, name, err);
    }
    f->kind = kind[of];
    if (f->kind == CAROM_FREE_POSITION) f->value = (t->start ? t->start : carom_model_q0(t->base))[f->index];
    if (f->kind == CAROM_FREE_RATE)
        f->value = t->start ? t->start[sys->nq + f->index] : carom_model_v0(t->base)[f->index];
    for (int i = 0; f->kind == CAROM_FREE_PARAMETER && i < carom_model_count(t->base).parameters; ++i) {
        double value;
        if (strcmp(carom_model_parameter(t->base, i, &value), name) == 0) f->value = value;
    }
    return CAROM_OK;
}

static carom_model *open_model(const carom_task *t, const carom_model_def *def, carom_error *err) {
    return t->option ? carom_model_observing(def, t->option, err) : carom_model_create(def, err);
}

carom_status carom_task_open(carom_task *t, const char *const *names, carom_error *err) {
    const int n = carom_list_length(names);
    t->base = open_model(t, &t->model, err);
    if (!t->base) return CAROM_BAD_INPUT;
    t->free = calloc((size_t)n + 1, sizeof *t->free);
    if (!t->free) return no_memory(err);
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k)
            if (strcmp(names[i], names[k]) == 0)
                return carom_fail(err, CAROM_BAD_INPUT, "'%.60s' is named twice", names[i]);
        CAROM_TRY(look_up(t, names[i], &t->free[i], err));
        t->nfree = i + 1;
        t->np += t->free[i].kind == CAROM_FREE_PARAMETER;
    }
    t->parameter = calloc((size_t)t->np + 1, sizeof *t->parameter);
    t->dp = calloc((size_t)n * (size_t)t->np + 1, sizeof *t->dp);
    if (!t->parameter || !t->dp) return no_memory(err);
    for (int i = 0, k = 0; i < n; ++i) {
        if (t->free[i].kind != CAROM_FREE_PARAMETER) continue;
        t->dp[i * t->np + k] = 1;
        t->parameter[k++] = t->free[i].index;
    }
    return CAROM_OK;
}

void carom_task_forget(carom_free_name *list, int n) {
    for (int i = 0; i < n; ++i) free(list[i].name), free(list[i].signal);
    free(list);
}

static bool is_input(const carom_model *m, const char *name) {
    const char *input;
    double value;
    for (int i = 0; (input = carom_model_input(m, i, &value)); ++i)
        if (strcmp(input, name) == 0) return true;
    for (int i = 0; (input = carom_model_following(m, i)); ++i)
        if (strcmp(input, name) == 0) return true;
    return false;
}

// Up to the next comma that is not inside of parentheses.
static size_t setting_length(const char *text) {
    size_t n = 0;
    for (int depth = 0; text[n] && (depth > 0 || text[n] != ','); ++n) depth += (text[n] == '(') - (text[n] == ')');
    return n;
}

// One setting, "NAME=VALUE" of this length, whose name is `word`.
static carom_status set_one(const carom_task *t, const char *at, size_t length, const char *word, carom_free_name *f,
                            carom_error *err) {
    const size_t name = strlen(word);
    if (is_input(t->base, word)) {
        f->kind = CAROM_FREE_INPUT;
        f->signal = calloc(length + 1, 1);
        if (!f->signal) return no_memory(err);
        memcpy(f->signal, at, length);
        return CAROM_OK;
    }
    CAROM_TRY(look_up(t, word, f, err));
    carom_error why = {0};
    double value;
    if (!carom_model_quantity(t->base, word, at + name + 1, length - name - 1, &value, &why))
        return carom_fail(err, CAROM_BAD_INPUT, "%.60s: the value %.200s", word, why.text);
    f->value = value;
    for (int i = 0; i < t->nfree; ++i)
        if (strcmp(t->free[i].name, word) == 0)
            return carom_fail(err, CAROM_BAD_INPUT, "'%.60s' is free and cannot be set", word);
    return CAROM_OK;
}

carom_status carom_task_settings(const carom_task *t, const char *text, carom_free_name **list, int *n,
                                 carom_error *err) {
    *n = 0;
    size_t most = 1;
    for (const char *c = text; *c; ++c) most += *c == ',';
    *list = calloc(most, sizeof **list);
    if (!*list) return no_memory(err);
    for (const char *at = text; *at;) {
        const size_t length = setting_length(at), name = strcspn(at, "=,");
        char word[TEXT];
        if (name == 0 || at[name] != '=' || name + 10 > TEXT)
            return carom_fail(err, CAROM_BAD_INPUT, "'%.*s' is not NAME=VALUE", (int)fmin((double)length, 60), at);
        memcpy(word, at, name), word[name] = 0;
        CAROM_TRY(set_one(t, at, length, word, &(*list)[(*n)++], err));
        at += length;
        at += *at == ',';
        at += strspn(at, " ");
    }
    return CAROM_OK;
}

void carom_task_close(carom_task *t) {
    for (int i = 0; i < t->nfree; ++i) free(t->free[i].name);
    free(t->free), free(t->parameter), free(t->dp), free(t->options);
    carom_model_destroy(t->base);
    t->free = NULL, t->parameter = NULL, t->dp = NULL, t->options = NULL, t->base = NULL, t->nfree = t->np = 0;
}

carom_status carom_task_locate(carom_task *t, bool *located, carom_error *err) {
    const char *name = t->run.scheme ? t->run.scheme : carom_model_simulation(t->base).scheme;
    const carom_scheme *s = name ? carom_schemes_find(name) : NULL;
    *located = s && s->exact;
    if (!*located || !s->exact[0] || t->options) return CAROM_OK;
    const size_t key = strcspn(s->exact, "=") + 1;
    size_t n = 0;
    for (; t->run.options && t->run.options[n]; ++n)
        if (strncmp(t->run.options[n], s->exact, key) == 0)
            return carom_fail(
                err, CAROM_BAD_INPUT,
                "derivatives need events that %s locates to rounding, %s, which is chosen here; leave %.60s out",
                s->name, s->exact, t->run.options[n]);
    t->options = calloc(n + 2, sizeof *t->options);
    if (!t->options) return no_memory(err);
    t->options[0] = s->exact;
    for (size_t i = 0; i < n; ++i) t->options[i + 1] = t->run.options[i];
    t->run.options = t->options;
    return CAROM_OK;
}

carom_status carom_task_derivable(carom_task *t, int rows, carom_error *err) {
    CAROM_TRY(carom_point_supports(t->base, err));
    CAROM_TRY(carom_point_uncontrolled(t->base, "derivatives of a run", err));
    carom_run_given *given = &t->run;
    const double end = isnan(given->end) ? carom_model_simulation(t->base).end : given->end;
    if (!given->scheme) given->scheme = CAROM_SCHEME_OF_DERIVATIVES;
    const carom_scheme *scheme = carom_schemes_find(given->scheme);
    if (isnan(given->step) && end > 0 && scheme && scheme->controls_own_steps) given->step = end / rows;
    bool located;
    CAROM_TRY(carom_task_locate(t, &located, err));
    return located
               ? CAROM_OK
               : carom_fail(
                     err, CAROM_UNSUPPORTED,
                     "derivatives need a scheme that locates events to rounding (" CAROM_LOCATING_EXACTLY "), not %s",
                     given->scheme);
}

static carom_model *make_model(const carom_task *t, const double *value, carom_error *err) {
    size_t n = 0;
    while (t->model.set && t->model.set[n]) ++n;
    const size_t all = n + (size_t)t->nfree + (size_t)t->nfixed + 1;
    const char **set = calloc(all * sizeof *set + (size_t)(t->nfree + t->nfixed) * TEXT, 1);
    if (!set) return no_memory(err), NULL;
    char *text = (char *)(set + all);
    for (size_t i = 0; i < n; ++i) set[i] = t->model.set[i];
    for (int i = 0; i < t->nfree; ++i, text += TEXT) {
        if (t->free[i].kind != CAROM_FREE_PARAMETER) continue;
        carom_format(text, TEXT, "%.150s=%.17g", t->free[i].name, value[i]);
        set[n++] = text;
    }
    for (int i = 0; i < t->nfixed; ++i, text += TEXT) {
        if (t->fixed[i].signal) set[n++] = t->fixed[i].signal;
        if (t->fixed[i].kind != CAROM_FREE_PARAMETER) continue;
        carom_format(text, TEXT, "%.150s=%.17g", t->fixed[i].name, t->fixed[i].value);
        set[n++] = text;
    }
    carom_model_def def = t->model;
    def.set = set;
    carom_model *m = open_model(t, &def, err);
    free(set);
    if (m) carom_model_adopt(m, t->base);
    return m;
}

carom_status carom_task_begin(const carom_task *t, const double *value, double end, carom_task_run *r,
                              carom_error *err) {
    *r = (carom_task_run){.model = make_model(t, value, err)};
    if (!r->model) return CAROM_BAD_INPUT;
    const carom_system *sys = carom_model_system(r->model);
    carom_run_given given = t->run;
    given.end = end;
    CAROM_TRY(carom_run_resolve(&r->run, r->model, &given, err));
    r->x = calloc((size_t)sys->nq + (size_t)sys->nv + (size_t)sys->signals->ni, sizeof *r->x);
    if (!r->x) return no_memory(err);
    carom_copy(r->x, t->start ? t->start : carom_model_q0(r->model), sys->nq);
    carom_copy(r->x + sys->nq, t->start ? t->start + sys->nq : carom_model_v0(r->model), sys->nv);
    for (int i = 0; i < t->nfree; ++i)
        if (t->free[i].kind != CAROM_FREE_PARAMETER)
            r->x[(t->free[i].kind == CAROM_FREE_RATE ? sys->nq : 0) + t->free[i].index] = value[i];
    for (int i = 0; i < t->nfixed; ++i)
        if (t->fixed[i].kind == CAROM_FREE_RATE || t->fixed[i].kind == CAROM_FREE_POSITION)
            r->x[(t->fixed[i].kind == CAROM_FREE_RATE ? sys->nq : 0) + t->fixed[i].index] = t->fixed[i].value;
    carom_sim_def def = carom_run_sim(&r->run, r->model);
    def.q0 = r->x, def.v0 = r->x + sys->nq;
    if (t->start) carom_run_signals(&def, t->signals, r->x + sys->nq + sys->nv);
    r->sim = carom_sim_create(&def, err);
    return r->sim ? CAROM_OK : err->code;
}

void carom_task_end(carom_task_run *r) {
    carom_sim_destroy(r->sim);
    carom_run_free(&r->run);
    carom_model_destroy(r->model);
    free(r->x);
    *r = (carom_task_run){0};
}

// The start by free name j: by a parameter as the model has it, by coordinates and rates themselves.
static carom_status start(const carom_task *t, const carom_task_run *r, carom_path *w, int j, double *dq) {
    const carom_system *s = carom_model_system(r->model);
    const carom_free_name *f = t->free + j;
    double *y = w->y + (size_t)j * 2 * (size_t)s->nv;
    if (f->value != 0) w->unit[j] = fabs(f->value);
    if (f->kind == CAROM_FREE_RATE) y[s->nv + f->index] = 1;
    if (f->kind == CAROM_FREE_POSITION) {
        carom_zero(dq, s->nq);
        dq[f->index] = 1;
        carom_model_velocities(r->model, r->x, dq, y);
    }
    if (f->kind != CAROM_FREE_PARAMETER || t->start) return CAROM_OK;
    CAROM_TRY(carom_variation_start(w->x, t->dp + (size_t)j * (size_t)t->np, y, y + s->nv, w->err));
    for (int i = 0; i < t->nfree + t->nfixed; ++i) { // what is free itself, or set, does not follow
        const carom_free_name *g = i < t->nfree ? t->free + i : t->fixed + i - t->nfree;
        if (g->kind == CAROM_FREE_RATE) y[s->nv + g->index] = 0;
        if (g->kind == CAROM_FREE_POSITION && s->nq == s->nv) y[g->index] = 0;
    }
    return CAROM_OK;
}

carom_status carom_task_columns(const carom_task *t, const carom_task_run *r, carom_path *w, int nz, carom_error *err) {
    CAROM_TRY(carom_path_open(w, r->model, r->sim, t->nfree, t->dp, t->np, t->parameter, nz, err));
    double *dq = calloc((size_t)carom_model_system(r->model)->nq + 1, sizeof *dq);
    if (!dq) return no_memory(err);
    carom_status status = CAROM_OK;
    for (int j = 0; j < t->nfree && status == CAROM_OK; ++j) status = start(t, r, w, j, dq);
    free(dq);
    return status;
}

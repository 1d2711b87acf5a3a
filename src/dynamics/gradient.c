// gradient.c: derivatives of a result of a run: a value at the end, extremes and integrals, the time of an event and
// values there.
#include "base/grow.h"
#include "base/tolerance.h"
#include "dynamics/adjoint.h"
#include "model/answers.h"
#include <carom/event.h>
#include <carom/result.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NEAR = 1e-3, AT = 1e-6; // of a name: a grazing contact that is as near makes a warning; makes
                                            // derivatives one-sided
static const double EQUAL = 1e-9;           // of an extreme: another one that is as large

enum { MANY = 10 }; // names: with more the way back is shorter

typedef struct finding {
    carom_task task;
    carom_task_run run;
    carom_path path;
    carom_results results;
    carom_gradient *g;
    carom_record *record;    // of the run, with columns of its own
    char **column;           // their names; the expression's first, then those of the state
    int nstate, *state;      // places of the state's in a column of the path
    int first;               // column that is written
    double *extra;
    const char *of;
    bool keeps;              // rows in memory
    bool done;               // on the way back
    carom_error *err;
} finding;

static carom_status on_row(void *user, carom_path *w) {
    finding *k = ((carom_results *)user)->user;
    carom_gradient *g = k->g;
    const size_t width = 2 + (size_t)w->n, rows = (size_t)g->rows;
    if (!carom_grow(&g->row, rows, width * sizeof *g->row))
        return carom_fail(k->err, CAROM_NO_MEMORY, "not enough memory for %ld rows", g->rows + 1);
    double *row = g->row + rows * width;
    ++g->rows;
    row[0] = w->t;
    return carom_results_now(&k->results, row + 1, row + 2);
}

// -- the run as a result ------------------------------------------------------------------------------------------
// Columns EXPR, "EXPR by NAME" for every name, then "x by NAME" of coordinates, unless positions turn, and of rates.

static const char *state_name(const finding *k, int i) {
    const int nv = k->path.p.nv;
    return i < nv ? carom_model_coordinate(k->run.model, i) : carom_model_velocity(k->run.model, i - nv);
}

static bool is_recorded(const finding *k, int i) {
    const int nv = k->path.p.nv;
    return i < nv ? k->path.p.nq == nv && carom_model_recorded(k->run.model, i)
                  : carom_model_velocity_recorded(k->run.model, i - nv);
}

static bool name_column(finding *k, int at, const char *of, const char *by) {
    const size_t size = strlen(of) + strlen(by) + 5;
    k->column[at] = malloc(size);
    if (k->column[at]) snprintf(k->column[at], size, *by ? "%s by %s" : "%s%s", of, by);
    return k->column[at] != NULL;
}

static carom_status name_columns(finding *k) {
    const int n = k->task.nfree, all = 2 * k->path.p.nv;
    k->state = calloc((size_t)all + 1, sizeof *k->state);
    bool good = k->state, known = false; // the expression is a part of the state
    for (int i = 0; good && i < all; ++i) {
        if (!is_recorded(k, i)) continue;
        k->state[k->nstate++] = i;
        known = known || strcmp(state_name(k, i), k->of) == 0;
    }
    k->first = known ? 1 + n : 0;
    const size_t columns = (1 + (size_t)n) + (size_t)n * (size_t)k->nstate;
    k->column = calloc(columns + 1, sizeof *k->column), k->extra = calloc(columns + 1, sizeof *k->extra);
    good = good && k->column && k->extra && name_column(k, 0, k->of, "");
    for (int j = 0; good && j < n; ++j) good = name_column(k, 1 + j, k->of, k->task.free[j].name);
    for (int i = 0, at = 1 + n; good && i < k->nstate; ++i)
        for (int j = 0; good && j < n; ++j)
            good = name_column(k, at++, state_name(k, k->state[i]), k->task.free[j].name);
    return good ? CAROM_OK : carom_fail(k->err, CAROM_NO_MEMORY, "not enough memory for columns of derivatives");
}

static void fill_states(finding *k, const double *y) {
    const carom_path *w = &k->path;
    double *to = k->extra + 1 + w->n;
    for (int i = 0; i < k->nstate; ++i)
        for (int j = 0; j < w->n; ++j) *to++ = y[(size_t)j * 2 * (size_t)w->p.nv + (size_t)k->state[i]];
}

// At the start, where the path is not yet.
static carom_status fill_start(finding *k) {
    carom_path *w = &k->path;
    carom_copy(w->q, k->run.x, w->p.nq), carom_copy(w->v, k->run.x + w->p.nq, w->p.nv);
    fill_states(k, w->y);
    return carom_results_now(&k->results, &k->extra[0], &k->extra[1]);
}

static carom_status open_record(finding *k, const carom_gradient_def *def) {
    CAROM_TRY(name_columns(k));
    CAROM_TRY(fill_start(k));
    carom_record_def rd = carom_record_default();
    rd.model = k->run.model, rd.sim = k->run.sim, rd.file = def->file, rd.step = k->run.run.step,
    rd.end = k->run.run.end, rd.replace = true;
    rd.text = def->model.text, rd.length = def->model.length, rd.model_file = def->model.file, rd.set = def->model.set,
    rd.options = (const char *const *)k->run.run.options;
    rd.extra = (const char *const *)k->column + k->first, rd.extra_value = k->extra + k->first;
    k->record = carom_record_create(&rd, k->err);
    return k->record ? CAROM_OK : k->err->code;
}

static carom_status close_record(finding *k, carom_status status) {
    carom_error err = {0};
    if (!k->record) return status;
    const carom_status end = carom_record_finish(k->record, status == CAROM_OK ? "done" : "failed",
                                                 status == CAROM_OK ? NULL : k->err->text, &err);
    if (status == CAROM_OK && end != CAROM_OK) *k->err = err, status = end;
    carom_record_destroy(k->record);
    return status;
}

static carom_status on_recorded(void *user, carom_path *w) {
    finding *k = ((carom_results *)user)->user;
    const carom_now now = carom_sim_now(k->run.sim);
    CAROM_TRY(carom_results_now(&k->results, &k->extra[0], &k->extra[1]));
    fill_states(k, w->y);
    CAROM_TRY(carom_record_step(k->record, &now));
    return k->keeps ? on_row(user, w) : CAROM_OK;
}

static const char *label(void *user, int j) { return ((finding *)((carom_results *)user)->user)->task.free[j].name; }

static carom_status prepare(finding *k, const carom_gradient_def *def, carom_gradient *g) {
    k->task = (carom_task){.model = def->model, .run = def->run, .start = def->start, .option = "`of`"};
    k->task.model.observe = k->results.expression;
    k->task.model.pairs = true;
    CAROM_TRY(carom_task_open(&k->task, def->by, k->err));
    const size_t n = (size_t)k->task.nfree;
    if (n == 0) return carom_fail(k->err, CAROM_BAD_INPUT, "nothing to differentiate by: give `by NAME,NAME`");
    double *value = calloc(n, sizeof *value);
    g->name = calloc(n, sizeof *g->name), g->gradient = calloc(n, sizeof *g->gradient),
    g->distance = calloc(n, sizeof *g->distance);
    bool good = value && g->name && g->gradient && g->distance;
    for (size_t j = 0; good && j < n; ++j) {
        value[j] = k->task.free[j].value;
        const size_t size = strlen(k->task.free[j].name) + 1;
        g->name[j] = malloc(size);
        good = g->name[j] != NULL;
        if (good) memcpy(g->name[j], k->task.free[j].name, size), g->n = (int)j + 1;
    }
    carom_status status =
        good ? CAROM_OK : carom_fail(k->err, CAROM_NO_MEMORY, "not enough memory for %d derivatives", (int)n);
    // a step is the time between rows
    if (status == CAROM_OK) status = carom_task_derivable(&k->task, def->rows || def->file ? 500 : 50, k->err);
    carom_run_given *given = &k->task.run;
    if (status == CAROM_OK) status = carom_task_begin(&k->task, value, given->end, &k->run, k->err);
    if (status == CAROM_OK && k->task.nfree > MANY && !def->rows && !def->file) {
        status = carom_adjoint_find(&k->task, &k->run, &k->results, def->of, def->stop, def->user, &g->value,
                                    g->gradient, &g->t, k->err);
        k->done = status == CAROM_OK;
        if (status == CAROM_UNSUPPORTED) { // forwards
            const char *of[] = {def->of, NULL};
            carom_task_end(&k->run);
            carom_results_free(&k->results);
            status = carom_results_read(&k->results, of, "`of`", k->err);
            k->task.model.observe = k->results.expression;
            if (status == CAROM_OK) status = carom_task_begin(&k->task, value, given->end, &k->run, k->err);
        }
    }
    free(value);
    k->task.model.observe = NULL;
    return status;
}

// Distances to grazing, and the nearest in units of its name.
static carom_status look_for_grazing(finding *k, bool one_sided) {
    carom_gradient *g = k->g;
    const carom_path *w = &k->path;
    double least = INFINITY;
    int nearest = -1;
    for (int j = 0; j < g->n; ++j) {
        const carom_grazing *z = &k->results.grazing[j];
        g->distance[j] = z->distance;
        const double part = z->distance / w->unit[j];
        if (part < least) least = part, nearest = j;
    }
    if (!(least < NEAR)) return CAROM_OK;
    const carom_grazing *z = &k->results.grazing[nearest];
    char text[sizeof g->note];
    snprintf(text, sizeof text,
             "t = %.9g: '%.60s' %s: derivatives with respect to '%.60s' are valid for changes well below %.3g", z->t,
             carom_model_constraint(k->run.model, carom_model_system(k->run.model)->ne + z->contact),
             z->struck ? "is nearly grazed" : "is nearly touched", g->name[nearest], z->distance);
    if (!(least < AT) || one_sided) return snprintf(g->note, sizeof g->note, "%s", text), CAROM_OK;
    return carom_fail(k->err, CAROM_NOT_CONVERGED,
                      "%.300s; they are one-sided (grazing): accept that by `one-sided`, or change the value", text);
}

// Two extremes that are equal have two gradients.
static void look_for_rivals(finding *k) {
    const carom_results *r = &k->results;
    for (int i = 0; i < 2 * r->nwatch; ++i) {
        const carom_extreme *e = i % 2 ? &r->watch[i / 2].high : &r->watch[i / 2].low;
        if (!e->some || k->g->note[0] || !(fabs(e->rival - e->value) <= EQUAL * fabs(e->value))) continue;
        snprintf(k->g->note, sizeof k->g->note,
                 "two extremes are equal, at t = %.9g and t = %.9g: the gradient is that of the first", e->t,
                 e->rival_t);
    }
}

static carom_status find(finding *k, const carom_gradient_def *def, carom_gradient *g) {
    const char *of[] = {def->of, NULL};
    carom_results *r = &k->results;
    carom_path *w = &k->path;
    CAROM_TRY(carom_results_read(r, of, "`of`", k->err));
    if ((r->event[0].some || r->all > r->n) && (def->rows || def->file))
        return carom_fail(k->err, CAROM_UNSUPPORTED,
                          "`of '%.80s'`: a result at an event has no value at every row; write no file", def->of);
    CAROM_TRY(prepare(k, def, g));
    g->scheme = carom_sim_scheme(k->run.sim)->name;
    g->adjoint = k->done;
    for (int j = 0; j < g->n && k->done; ++j) g->distance[j] = INFINITY;
    if (k->done) return CAROM_OK;
    CAROM_TRY(carom_results_bind(r, k->run.model, k->task.nfree, "`of`", k->err));
    carom_results_attach(r, w, k->run.sim);
    r->user = k, w->label = label;
    k->of = def->of, k->keeps = def->rows;
    if (def->rows || def->file) w->on_row = def->file ? on_recorded : on_row;
    carom_sim_stop_when(k->run.sim, def->stop, def->user);
    CAROM_TRY(carom_task_columns(&k->task, &k->run, w, r->nz, k->err));
    CAROM_TRY(carom_results_start(r, 0, k->run.x, k->run.x + carom_model_system(k->run.model)->nq));
    if (def->file) CAROM_TRY(open_record(k, def));
    const carom_status status = carom_path_run(w);
    if (status != CAROM_OK && !(status == CAROM_STOPPED && carom_results_complete(r))) return status;
    g->t = w->t;
    bool event = w->t - w->t_event <= CAROM_INSTANT * w->t;
    if (!r->event[0].some && !event) CAROM_TRY(carom_path_arrives(w, CAROM_INSTANT * w->t, &event));
    if (!r->event[0].some && event && carom_model_observes_state(k->run.model, 0))
        return carom_fail(k->err, CAROM_NOT_CONVERGED,
                          "t = %.9g: an event falls on the end of the run, where the motion has no derivative; end it "
                          "earlier or later",
                          w->t);
    CAROM_TRY(isnan(k->task.run.end) ? carom_results_end(r, &g->value, g->gradient)
                                     : carom_results_now(r, &g->value, g->gradient));
    CAROM_TRY(look_for_grazing(k, def->one_sided));
    look_for_rivals(k);
    return CAROM_OK;
}

carom_status carom_gradient_find(carom_gradient *g, const carom_gradient_def *def, carom_error *err) {
    carom_error own = {0};
    if (!err) err = &own;
    if (g) *g = (carom_gradient){0};
    if (!g || !def || !def->of || !def->by)
        return carom_fail(err, CAROM_BAD_INPUT, "a gradient needs an expression, names and a result pointer");
    finding k = {.g = g, .err = err};
    const carom_status status = close_record(&k, find(&k, def, g));
    for (int i = 0; k.column && k.column[i]; ++i) free(k.column[i]);
    free(k.column), free(k.extra), free(k.state);
    carom_path_close(&k.path);
    carom_task_end(&k.run);
    carom_task_close(&k.task);
    carom_results_free(&k.results);
    return status;
}

void carom_gradient_free(carom_gradient *g) {
    if (!g) return;
    for (int i = 0; i < g->n; ++i) free(g->name[i]);
    free(g->name), free(g->gradient), free(g->distance), free(g->row);
    *g = (carom_gradient){0};
}

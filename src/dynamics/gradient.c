// gradient.c: derivatives of a result of a run: a value at the end, an extreme, an integral.
#include "base/grow.h"
#include "base/tolerance.h"
#include "dynamics/dynamics.h"
#include <carom/event.h>
#include <carom/result.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double VANISHED = 1e-13, NARROW = 1e-15; // of the slopes at both ends; of the step: where a value is extreme

typedef enum wanted { AT_END, INTEGRAL, MEAN, RMS, MAXIMUM, MINIMUM } wanted;
static const struct { const char *name; wanted what; } functions[] = {{"integral", INTEGRAL}, {"mean", MEAN}, {"rms", RMS}, {"max", MAXIMUM}, {"min", MINIMUM}};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

typedef struct finding {
    wanted what;
    char *expression;    // what is observed
    carom_task task;
    carom_task_run run;
    carom_path path;
    carom_gradient *g;
    double *out, *dout;  // observed
    carom_average *averages; // of the model's own checks; not used here
    double value, *gradient; // an extreme so far
    bool some;
    carom_record *record;    // of the run, with columns of its own
    char **column;           // their names; the expression's first, then those of the state
    int nstate, *state;      // places of the state's in a column of the path
    int first;               // column that is written
    double *extra;
    const char *of;
    bool keeps;              // rows in memory
    carom_error *err;
} finding;

// -- the expression -----------------------------------------------------------------------------------------------

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

// Does the text hold this name as a word of its own?
static bool holds(const char *text, const char *name) {
    const size_t n = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name))
        if ((at == text || !is_word(at[-1])) && !is_word(at[n])) return true;
    return false;
}

// max(x) as a whole becomes x; inside of expressions there is no such function.
static carom_status read_expression(finding *k, const char *of) {
    size_t n = strlen(of), first = strspn(of, " ");
    while (n > first && of[n - 1] == ' ') --n;
    k->expression = calloc(n + 8, 1);
    if (!k->expression) return carom_fail(k->err, CAROM_NO_MEMORY, "not enough memory for an expression");
    snprintf(k->expression, n + 8, "%.*s", (int)(n - first), of + first);
    for (int i = 0; i < FUNCTIONS; ++i) {
        const size_t name = strlen(functions[i].name);
        if (strncmp(of + first, functions[i].name, name) != 0 || of[first + name] != '(') continue;
        int depth = 0;
        size_t end = first + name;
        do depth += (of[end] == '(') - (of[end] == ')'), ++end;
        while (end < n && depth > 0);
        if (end < n) continue; // max(x) - 1
        k->what = functions[i].what;
        snprintf(k->expression, n + 8, "%.*s%s", (int)(n - first - name), of + first + name, k->what == RMS ? "^2" : "");
        break;
    }
    for (int i = 0; i < FUNCTIONS; ++i)
        if (holds(k->expression, functions[i].name))
            return carom_fail(k->err, CAROM_UNSUPPORTED, "--of: %s() must be the whole expression, as in '%s(x)'; there are no derivatives of '%.80s'", functions[i].name, functions[i].name, of);
    for (int i = 0; carom_ledger_name(i); ++i)
        if (holds(k->expression, carom_ledger_name(i))) return carom_fail(k->err, CAROM_UNSUPPORTED, "--of: there are no derivatives of '%s', a figure of the ledger", carom_ledger_name(i));
    return CAROM_OK;
}

static double observe(finding *k, double t, const double *q, const double *v) {
    const carom_ledger none = {0};
    carom_model_observe(k->run.model, k->averages, &none, carom_sim_work(k->run.sim), t, q, v, k->out);
    return k->out[0];
}

static carom_status derive(finding *k, double t, const double *q, const double *v, carom_direction d, double *y) {
    const carom_status status = carom_variation_observed(k->path.x, t, q, v, d, k->dout);
    *y = k->dout[0];
    return status == CAROM_OK ? CAROM_OK : carom_fail(k->err, status, "t = %.9g: the derivative of '%.80s' is not finite", t, k->expression);
}

static carom_direction direction(const carom_path *w, const double *y, int j) {
    const double *dq = y + (size_t)j * 2 * (size_t)w->p.nv;
    return (carom_direction){0, dq, dq + w->p.nv, w->dp + (size_t)j * (size_t)w->np};
}

// -- integrals and extremes along the motion ----------------------------------------------------------------------

// z: the integral of the expression, then of its derivatives.
static carom_status rate(void *user, carom_path *w, double t, const double *q, const double *v, const double *y, double *z) {
    finding *k = user;
    z[0] = observe(k, t, q, v);
    for (int j = 0; j < w->n; ++j) CAROM_TRY(derive(k, t, q, v, direction(w, y, j), &z[1 + j]));
    return CAROM_OK;
}

// A value that may be the extreme; a, dt: of an event whose time changes, NULL: none.
static carom_status consider(finding *k, double t, const double *q, const double *v, const double *y, const double *a, const double *dt) {
    const carom_path *w = &k->path;
    const double x = observe(k, t, q, v);
    if (k->some && !(k->what == MAXIMUM ? x > k->value : x < k->value)) return CAROM_OK;
    double along = 0;
    if (a) CAROM_TRY(derive(k, t, q, v, (carom_direction){1, v, a, NULL}, &along));
    for (int j = 0; j < w->n; ++j) {
        CAROM_TRY(derive(k, t, q, v, direction(w, y, j), &k->gradient[j]));
        if (a) k->gradient[j] += along * dt[j];
    }
    k->value = x;
    k->some = true;
    return CAROM_OK;
}

// Both sides of an event: parts of an integral meet there, and extremes may lie there.
static carom_status on_side(void *user, carom_path *w, carom_side side) {
    finding *k = user;
    if (k->what >= MAXIMUM) return consider(k, w->t, w->q, w->v, w->y, side == CAROM_LEFT ? w->a_before : w->a_after, w->dt);
    const double x = observe(k, w->t, w->q, w->v) * (side == CAROM_LEFT ? 1 : -1);
    for (int j = 0; j < w->n; ++j) w->z[1 + j] += x * w->dt[j];
    return CAROM_OK;
}

// The rate of the expression tau into the step; the state there is in q_1, v_1, y_1.
static carom_status slope(finding *k, double tau, double *x) {
    carom_path *w = &k->path;
    CAROM_TRY(carom_path_try(w, tau, NULL));
    CAROM_TRY(carom_path_evaluate(w, w->t + tau, w->q_1, w->v_1));
    return derive(k, w->t + tau, w->q_1, w->v_1, (carom_direction){1, w->v_1, w->a, NULL}, x);
}

// An extreme inside a step, where the rate changes its sign: by regula falsi (Illinois).
static carom_status on_step(void *user, carom_path *w, double h) {
    finding *k = user;
    const double sign = k->what == MAXIMUM ? 1 : -1;
    double x_a, x_b;
    CAROM_TRY(carom_path_evaluate(w, w->t, w->q, w->v));
    CAROM_TRY(derive(k, w->t, w->q, w->v, (carom_direction){1, w->v, w->a, NULL}, &x_a));
    CAROM_TRY(carom_path_evaluate(w, w->t + h, w->q_1, w->v_1));
    CAROM_TRY(derive(k, w->t + h, w->q_1, w->v_1, (carom_direction){1, w->v_1, w->a, NULL}, &x_b));
    if (!(sign * x_a > 0 && sign * x_b < 0)) return CAROM_OK;
    double tau = h, x = x_b;
    carom_bracket zero = {.b = h, .f_a = x_a, .f_b = x_b};
    const double small = VANISHED * (fabs(x_a) + fabs(x_b));
    for (int i = 0; i < 60 && fabs(x) > small && zero.b - zero.a > NARROW * h; ++i) {
        tau = carom_bracket_next(&zero);
        CAROM_TRY(slope(k, tau, &x));
        carom_bracket_cut(&zero, tau, x, sign * x > 0);
    }
    return consider(k, w->t + tau, w->q_1, w->v_1, w->y_1, NULL, NULL);
}

// -- all of it ----------------------------------------------------------------------------------------------------

// The result of a run that ends here.
static carom_status result(finding *k, double *value, double *gradient) {
    carom_path *w = &k->path;
    if (k->what >= MAXIMUM) {
        CAROM_TRY(consider(k, w->t, w->q, w->v, w->y, NULL, NULL));
        *value = k->value;
        carom_copy(gradient, k->gradient, w->n);
        return CAROM_OK;
    }
    if (k->what == AT_END) {
        *value = observe(k, w->t, w->q, w->v);
        for (int j = 0; j < w->n; ++j) CAROM_TRY(derive(k, w->t, w->q, w->v, direction(w, w->y, j), &gradient[j]));
        return CAROM_OK;
    }
    const double by = k->what == INTEGRAL ? 1 : 1 / w->t, mean = by * w->z[0];
    *value = k->what == RMS ? sqrt(mean) : mean;
    for (int j = 0; j < w->n; ++j) gradient[j] = by * w->z[1 + j] / (k->what == RMS ? 2 * *value : 1);
    return CAROM_OK;
}

static carom_status on_row(void *user, carom_path *w) {
    finding *k = user;
    carom_gradient *g = k->g;
    const size_t width = 2 + (size_t)w->n, rows = (size_t)g->rows;
    if (!carom_grow(&g->row, rows, width * sizeof *g->row)) return carom_fail(k->err, CAROM_NO_MEMORY, "not enough memory for %ld rows", g->rows + 1);
    double *row = g->row + rows * width;
    ++g->rows;
    row[0] = w->t;
    return result(k, row + 1, row + 2);
}

// -- the run as a result ------------------------------------------------------------------------------------------
// Columns EXPR, "EXPR by NAME" for every name, then "x by NAME" of coordinates, unless positions turn, and of rates.

static const char *state_name(const finding *k, int i) {
    const int nv = k->path.p.nv;
    return i < nv ? carom_model_coordinate(k->run.model, i) : carom_model_velocity(k->run.model, i - nv);
}

static bool is_recorded(const finding *k, int i) {
    const int nv = k->path.p.nv;
    return i < nv ? k->path.p.nq == nv && carom_model_recorded(k->run.model, i) : carom_model_velocity_recorded(k->run.model, i - nv);
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
        for (int j = 0; good && j < n; ++j) good = name_column(k, at++, state_name(k, k->state[i]), k->task.free[j].name);
    return good ? CAROM_OK : carom_fail(k->err, CAROM_NO_MEMORY, "not enough memory for columns of derivatives");
}

static void fill_states(finding *k, const double *y) {
    const carom_path *w = &k->path;
    double *to = k->extra + 1 + w->n;
    for (int i = 0; i < k->nstate; ++i)
        for (int j = 0; j < w->n; ++j) *to++ = y[(size_t)j * 2 * (size_t)w->p.nv + (size_t)k->state[i]];
}

// At the start: an integral is zero, a mean is the value.
static carom_status fill_start(finding *k) {
    const carom_path *w = &k->path;
    const double *q = k->run.x, *v = q + w->p.nq;
    const double x = observe(k, 0, q, v);
    k->extra[0] = k->what == INTEGRAL ? 0 : k->what == RMS ? sqrt(x) : x;
    for (int j = 0; j < w->n && k->what != INTEGRAL; ++j) {
        CAROM_TRY(derive(k, 0, q, v, direction(w, w->y, j), &k->extra[1 + j]));
        if (k->what == RMS) k->extra[1 + j] = x > 0 ? k->extra[1 + j] / (2 * k->extra[0]) : 0;
    }
    fill_states(k, w->y);
    return CAROM_OK;
}

static carom_status open_record(finding *k, const carom_gradient_def *def) {
    CAROM_TRY(name_columns(k));
    CAROM_TRY(fill_start(k));
    carom_record_def rd = carom_record_default();
    rd.model = k->run.model, rd.sim = k->run.sim, rd.file = def->file, rd.step = k->run.run.step, rd.end = k->run.run.end, rd.replace = true;
    rd.text = def->model.text, rd.length = def->model.length, rd.model_file = def->model.file, rd.set = def->model.set, rd.options = (const char *const *)k->run.run.options;
    rd.extra = (const char *const *)k->column + k->first, rd.extra_value = k->extra + k->first;
    k->record = carom_record_create(&rd, k->err);
    return k->record ? CAROM_OK : k->err->code;
}

static carom_status close_record(finding *k, carom_status status) {
    carom_error err = {0};
    if (!k->record) return status;
    const carom_status end = carom_record_finish(k->record, status == CAROM_OK ? "done" : "failed", status == CAROM_OK ? NULL : k->err->text, &err);
    if (status == CAROM_OK && end != CAROM_OK) *k->err = err, status = end;
    carom_record_destroy(k->record);
    return status;
}

static carom_status on_recorded(void *user, carom_path *w) {
    finding *k = user;
    const carom_now now = carom_sim_now(k->run.sim);
    CAROM_TRY(result(k, &k->extra[0], &k->extra[1]));
    fill_states(k, w->y);
    CAROM_TRY(carom_record_step(k->record, &now));
    return k->keeps ? on_row(user, w) : CAROM_OK;
}

static const char *label(void *user, int j) { return ((finding *)user)->task.free[j].name; }

static carom_status choose_scheme(finding *k, const carom_gradient_def *def) {
    CAROM_TRY(carom_point_supports(k->task.base, k->err));
    carom_run_given *given = &k->task.run;
    const double end = isnan(given->end) ? carom_model_simulation(k->task.base).end : given->end;
    if (!given->scheme) given->scheme = "event-driven";
    const carom_scheme *scheme = carom_schemes_find(given->scheme);
    if (isnan(given->step) && end > 0 && scheme && scheme->own_steps) given->step = end / (def->rows || def->file ? 500 : 50); // a step is the time between rows
    bool located;
    CAROM_TRY(carom_task_locate(&k->task, &located, k->err));
    return located ? CAROM_OK : carom_fail(k->err, CAROM_UNSUPPORTED, "derivatives need a scheme that locates events to rounding: event-driven, mixed or auto, not %s", given->scheme);
}

static carom_status prepare(finding *k, const carom_gradient_def *def, carom_gradient *g) {
    const char *observe_list[] = {k->expression, NULL};
    k->task = (carom_task){.model = def->model, .run = def->run, .start = def->start, .option = "--of"};
    k->task.model.observe = observe_list;
    k->task.model.pairs = true;
    CAROM_TRY(carom_task_open(&k->task, def->by, k->err));
    const size_t n = (size_t)k->task.nfree;
    if (n == 0) return carom_fail(k->err, CAROM_BAD_INPUT, "nothing to differentiate by: give --by NAME,NAME");
    double *value = calloc(n, sizeof *value);
    k->gradient = calloc(n, sizeof *k->gradient);
    k->out = calloc(1, sizeof *k->out), k->dout = calloc(1, sizeof *k->dout);
    g->name = calloc(n, sizeof *g->name), g->gradient = calloc(n, sizeof *g->gradient);
    bool good = value && k->gradient && k->out && k->dout && g->name && g->gradient;
    for (size_t j = 0; good && j < n; ++j) {
        value[j] = k->task.free[j].value;
        const size_t size = strlen(k->task.free[j].name) + 1;
        g->name[j] = malloc(size);
        good = g->name[j] != NULL;
        if (good) memcpy(g->name[j], k->task.free[j].name, size), g->n = (int)j + 1;
    }
    carom_status status = good ? CAROM_OK : carom_fail(k->err, CAROM_NO_MEMORY, "not enough memory for %d derivatives", (int)n);
    if (status == CAROM_OK) status = choose_scheme(k, def);
    carom_run_given *given = &k->task.run;
    if (status == CAROM_OK) status = carom_task_begin(&k->task, value, given->end, &k->run, k->err);
    free(value);
    k->task.model.observe = NULL;
    return status;
}

static carom_status find(finding *k, const carom_gradient_def *def, carom_gradient *g) {
    CAROM_TRY(read_expression(k, def->of));
    CAROM_TRY(prepare(k, def, g));
    g->scheme = carom_sim_scheme(k->run.sim)->name;
    k->averages = calloc((size_t)carom_model_watched(k->run.model) + 1, sizeof *k->averages);
    if (!k->averages) return carom_fail(k->err, CAROM_NO_MEMORY, "not enough memory for checks");
    carom_path *w = &k->path;
    w->user = k, w->label = label;
    k->of = def->of, k->keeps = def->rows;
    if (def->rows || def->file) w->on_row = def->file ? on_recorded : on_row;
    if (k->what >= MAXIMUM) w->on_step = on_step, w->on_side = on_side;
    else if (k->what != AT_END) w->rate = rate, w->on_side = on_side;
    carom_sim_stop_when(k->run.sim, def->stop, def->user);
    CAROM_TRY(carom_task_columns(&k->task, &k->run, w, w->rate ? 1 + k->task.nfree : 0, k->err));
    if (k->what >= MAXIMUM) CAROM_TRY(consider(k, 0, k->run.x, k->run.x + carom_model_system(k->run.model)->nq, w->y, NULL, NULL));
    if (def->file) CAROM_TRY(open_record(k, def));
    CAROM_TRY(carom_path_run(w));
    g->t = w->t;
    bool event = w->t - w->t_event <= CAROM_INSTANT * w->t;
    if (k->what == AT_END && !event) CAROM_TRY(carom_path_arrives(w, CAROM_INSTANT * w->t, &event));
    if (k->what == AT_END && event)
        return carom_fail(k->err, CAROM_NOT_CONVERGED, "t = %.9g: an event falls on the end of the run, where the motion has no derivative; end it earlier or later", w->t);
    return result(k, &g->value, g->gradient);
}

carom_status carom_gradient_find(carom_gradient *g, const carom_gradient_def *def, carom_error *err) {
    carom_error own = {0};
    if (!err) err = &own;
    if (g) *g = (carom_gradient){0};
    if (!g || !def || !def->of || !def->by) return carom_fail(err, CAROM_BAD_INPUT, "a gradient needs an expression, names and a place for the answer");
    finding k = {.g = g, .err = err};
    const carom_status status = close_record(&k, find(&k, def, g));
    for (int i = 0; k.column && k.column[i]; ++i) free(k.column[i]);
    free(k.column), free(k.extra), free(k.state);
    carom_path_close(&k.path);
    carom_task_end(&k.run);
    carom_task_close(&k.task);
    free(k.expression), free(k.out), free(k.dout), free(k.gradient), free(k.averages);
    return status;
}

void carom_gradient_free(carom_gradient *g) {
    if (!g) return;
    for (int i = 0; i < g->n; ++i) free(g->name[i]);
    free(g->name), free(g->gradient), free(g->row);
    *g = (carom_gradient){0};
}

// durations.c: times among the options: numbers, quantities, expressions of the model's parameters.
#include "base/number.h"
#include "cli/cli.h"
#include "model/answers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The one observed expression, at the start.
static bool observe(const carom_model *m, double *x) {
    const carom_system *sys = carom_model_system(m);
    const size_t size = (sys->work_size + 63) & ~(size_t)63;
    const carom_ledger none = {0};
    void *work = aligned_alloc(64, size);
    carom_average *averages = calloc((size_t)carom_model_watched(m) + 1, sizeof *averages);
    if (!work || !averages) abort();
    memset(work, 0, size);
    sys->work_init(sys->model, work);
    carom_model_observe(m, averages, &none, work, 0, carom_model_q0(m), carom_model_v0(m), x);
    free(averages), free(work);
    return isfinite(*x);
}

// An expression of the model's parameters, with those of --set.  False: it is none.
static bool evaluate(const cli_args *a, const char *text, double *x) {
    const char *const expression[] = {text, NULL};
    bool good = false;
    cli_source s = {0};
    carom_error err = {0};
    if (!cli_is_expression(text)) return false;
    if (a->n < 1 || !carom_ends(a->word[0], ".yaml") || !cli_source_read(&s, a)) return cli_source_free(&s), false;
    s.def.observe = expression;
    s.model = carom_model_create(&s.def, &err);
    if (s.model && !carom_model_observes_state(s.model, 0)) good = observe(s.model, x);
    cli_source_free(&s);
    return good;
}

// A number of seconds, a quantity with a unit, or an expression of parameters.
bool cli_time(const cli_args *a, const char *name, double *x) {
    const char *text = cli_value(a, name);
    carom_error err = {0};
    if (!text || carom_model_quantity(NULL, "t", text, strlen(text), x, &err) || evaluate(a, text, x)) return true;
    return cli_say("--%s: %s", name, err.text), false;
}

bool cli_duration(const cli_args *a, const char *name, double *x) {
    double value = 1;
    if (!cli_time(a, name, &value)) return false;
    if (!(value > 0)) return cli_say("--%s must be positive, got %s", name, cli_value(a, name)), false;
    if (cli_has(a, name)) *x = value;
    return true;
}

bool cli_run_duration(const cli_args *a, const char *name, double *x) {
    return cli_by_expression(a, name) || cli_duration(a, name, x);
}

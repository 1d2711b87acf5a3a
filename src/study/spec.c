// spec.c: a scheme with its options as a comparison names it, and the simulations made of it.
//
// With a tolerance X a scheme gets rtol=X and an atol in the proportion of its defaults, behind the options of the
// model's file and before all others: an atol that is given stays.
#define _POSIX_C_SOURCE 200809L // strdup
#include "base/number.h"
#include "base/option.h"
#include "base/text.h"
#include "sim/sim.h"
#include "study/compare.h"
#include <carom/event.h>
#include <carom/run.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// The last value of an option in the list; NULL: not given.
static const char *given(const char *const *list, const char *key) {
    const size_t length = strlen(key);
    const char *value = NULL;
    for (; list && *list; ++list)
        if (strncmp(*list, key, length) == 0 && (*list)[length] == '=') value = *list + length + 1;
    return value;
}

static const carom_option *option_of(const carom_scheme *scheme, const char *name) {
    int i = carom_option_find(scheme->options, name, strlen(name));
    if (i >= 0) return scheme->options + i;
    i = carom_option_find(carom_common_options, name, strlen(name));
    return i >= 0 ? carom_common_options + i : NULL;
}

static void classify(spec *s) {
    s->scheme = carom_schemes_find(s->name);
    if (!s->scheme) return; // refused when a simulation of it is tried
    const char *word = given(s->options, "adaptive");
    s->divides = carom_option_find(s->scheme->options, "rtol", 4) >= 0;
    const bool chooses = !s->divides || carom_option_find(s->scheme->options, "adaptive", 8) >= 0;
    s->adaptive = chooses ? word && strcmp(word, "on") == 0 : true;
}

carom_status carom_spec_read(spec *s, const carom_model *m, const char *text, const char *const *common,
                             carom_error *err) {
    const carom_model_run file = carom_model_simulation(m);
    int n = 0, own = 1;
    for (const char *at = text; *at; ++at) own += *at == ':';
    *s = (spec){.text = strdup(text), .own = strdup(text)};
    s->options =
        calloc((size_t)(carom_list_length(file.options) + carom_list_length(common) + own + 2), sizeof *s->options);
    if (!s->text || !s->own || !s->options)
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a comparison");
    char *rest = strchr(s->own, ':');
    if (rest) *rest++ = 0;
    s->name = s->own;
    if (file.scheme && strcmp(file.scheme, s->name) == 0)
        for (int i = 0; file.options && file.options[i]; ++i) s->options[n++] = file.options[i];
    s->files = n;
    for (int i = 0; common && common[i]; ++i) s->options[n++] = common[i];
    for (char *next; rest; rest = next) {
        next = strchr(rest, ':');
        if (next) *next++ = 0;
        s->options[n++] = rest;
    }
    classify(s);
    return CAROM_OK;
}

void carom_spec_free(spec *s) {
    free(s->text);
    free(s->own);
    free(s->options);
}

carom_status carom_spec_tolerate(spec *s, bool steps, carom_error *err) {
    if (!s->scheme) return s->adaptive = !steps, CAROM_OK;
    if (!s->adaptive && steps) return CAROM_OK; // it has the steps
    if (!s->adaptive && given(s->options + s->files, "adaptive"))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "%.100s: adaptive=off and tolerances are mutually exclusive; give step sizes too", s->text);
    if (!s->adaptive) s->options[carom_list_length(s->options)] = "adaptive=on";
    s->adaptive = true;
    if (given(s->options + s->files, "rtol"))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "%.100s: rtol is given as an option and by the tolerances; leave one of them out", s->text);
    return CAROM_OK;
}

double carom_spec_tightest(const spec *s) {
    const carom_option *o = s->scheme ? option_of(s->scheme, "rtol") : NULL;
    return o ? o->low : 0;
}

static carom_sim *create(const carom_compare *c, const spec *s, double step, const char **options, carom_error *err) {
    const carom_run run = {.scheme = s->name, .options = options, .step = step, .end = c->end};
    const carom_sim_def def = carom_run_sim(&run, c->model);
    return carom_sim_create(&def, err);
}

carom_sim *carom_compare_sim(const carom_compare *c, const spec *s, double step, double tolerance, carom_error *err) {
    if (isnan(tolerance) || !s->scheme) return create(c, s, step, s->options, err);
    const carom_option *rtol = option_of(s->scheme, "rtol"), *atol = option_of(s->scheme, "atol");
    const int n = carom_list_length(s->options);
    const char **list = calloc((size_t)n + 3, sizeof *list);
    char text[2][48];
    if (!list) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a comparison"), NULL;
    carom_format(text[0], sizeof text[0], "rtol=%.17g", tolerance);
    carom_format(text[1], sizeof text[1], "atol=%.12g", tolerance * atol->fallback / rtol->fallback);
    memcpy(list, s->options, (size_t)s->files * sizeof *list);
    list[s->files] = text[0];
    list[s->files + 1] = text[1];
    memcpy(list + s->files + 2, s->options + s->files, (size_t)(n - s->files) * sizeof *list);
    carom_sim *sim = create(c, s, step, list, err);
    free(list);
    return sim;
}

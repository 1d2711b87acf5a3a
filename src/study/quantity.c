// quantity.c: what is compared: coordinates, rates and outputs by name.
#define _POSIX_C_SOURCE 200809L // strdup
#include "study/reference.h"
#include <carom/option.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Everything that may be named, for suggestions; rates are told by their coordinate.
static const char *known_name(const void *user, int i) {
    const carom_model *m = user;
    const carom_model_sizes n = carom_model_count(m);
    if (i < n.coordinates) return carom_model_coordinate(m, i);
    return i - n.coordinates < n.outputs ? carom_model_output(m, i - n.coordinates) : NULL;
}

static bool find(const carom_model *m, const char *name, quantity *x) {
    const carom_model_sizes n = carom_model_count(m);
    const size_t length = strlen(name);
    for (int i = 0; i < n.coordinates; ++i) {
        const char *own = carom_model_coordinate(m, i);
        if (strcmp(own, name) == 0) return *x = (quantity){COORDINATE, i, name}, true;
        if (length > 1 && name[length - 1] == '\'' && strlen(own) == length - 1 && strncmp(own, name, length - 1) == 0)
            return *x = (quantity){RATE, i, name}, true;
    }
    for (int i = 0; i < n.outputs; ++i)
        if (strcmp(carom_model_output(m, i), name) == 0) return *x = (quantity){OUTPUT, i, name}, true;
    return false;
}

static carom_status choose(quantities *s, const char *const *of, carom_error *err) {
    size_t length = 1;
    int n = 0;
    while (of[n]) length += strlen(of[n++]) + 1;
    s->at = calloc((size_t)n + 1, sizeof *s->at);
    char *copy = s->names = malloc(length);
    if (!s->at || !copy) return carom_fail(err, CAROM_NO_MEMORY, "no memory for %d names", n);
    for (s->n = 0; s->n < n; ++s->n) {
        strcpy(copy, of[s->n]);
        if (!find(s->model, copy, &s->at[s->n])) {
            const char *near = carom_nearest(copy, known_name, s->model);
            return carom_fail(err, CAROM_BAD_INPUT, "the model has no coordinate, rate or output '%.60s'%s%.60s%s; a rate is written x'", copy,
                              near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        }
        for (int i = 0; i < s->n; ++i)
            if (strcmp(s->at[i].name, copy) == 0) return carom_fail(err, CAROM_BAD_INPUT, "'%.60s' is named twice", copy);
        copy += strlen(copy) + 1;
    }
    return n > 0 ? CAROM_OK : carom_fail(err, CAROM_BAD_INPUT, "no names to compare");
}

carom_status carom_quantities_create(quantities *s, const carom_model *m, const char *const *of, carom_error *err) {
    const carom_system *sys = carom_model_system(m);
    const carom_model_sizes n = carom_model_count(m);
    *s = (quantities){.model = m, .nv = n.coordinates, .nout = n.outputs};
    if (sys->nq != sys->nv) return carom_fail(err, CAROM_BAD_INPUT, "only models with one rate per coordinate can be compared");
    if (of) return choose(s, of, err);
    s->at = calloc((size_t)n.coordinates + 1, sizeof *s->at);
    if (!s->at) return carom_fail(err, CAROM_NO_MEMORY, "no memory for %d names", n.coordinates);
    for (s->n = 0; s->n < n.coordinates; ++s->n) s->at[s->n] = (quantity){COORDINATE, s->n, carom_model_coordinate(m, s->n)};
    return CAROM_OK;
}

void carom_quantities_destroy(quantities *s) {
    free(s->at);
    free(s->names);
    *s = (quantities){0};
}

carom_status carom_scratch_create(scratch *w, const quantities *s, carom_error *err) {
    const size_t nv = (size_t)(s->nv > s->n ? s->nv : s->n), nout = (size_t)s->nout, n = (size_t)s->n;
    *w = (scratch){.block = calloc(2 * nv + nout + 2 * n + 1, sizeof(double))};
    if (!w->block) return carom_fail(err, CAROM_NO_MEMORY, "no memory for %d quantities", s->n);
    w->q = w->block;
    w->v = w->q + nv;
    w->out = w->v + nv;
    w->x = w->out + nout;
    w->y = w->x + n;
    return CAROM_OK;
}

void carom_scratch_destroy(scratch *w) {
    free(w->block);
    *w = (scratch){0};
}

void carom_quantities_eval(const quantities *s, scratch *w, double t, const double *q, const double *v, double *x) {
    bool outputs = false;
    for (int j = 0; j < s->n; ++j) outputs = outputs || s->at[j].kind == OUTPUT;
    if (outputs) carom_model_outputs(s->model, w->work, t, q, v, w->out);
    for (int j = 0; j < s->n; ++j) {
        const int i = s->at[j].index;
        x[j] = s->at[j].kind == COORDINATE ? q[i] : s->at[j].kind == RATE ? v[i] : w->out[i];
    }
}

// quantity.c: what is compared: coordinates, rates and outputs by name.
#define _POSIX_C_SOURCE 200809L // strdup
#include "base/option.h"
#include "model/answers.h"
#include "study/reference.h"
#include <carom/option.h>
#include <stdlib.h>
#include <string.h>

// Everything that may be named, for suggestions; rates go by the name of their coordinate.
static const char *known_name(const void *user, int i) {
    const carom_model *m = user;
    const carom_model_sizes n = carom_model_count(m);
    if (i < n.coordinates) return carom_model_coordinate(m, i);
    if ((i -= n.coordinates) < n.velocities) return carom_model_velocity(m, i);
    return i - n.velocities < n.outputs ? carom_model_output(m, i - n.velocities) : NULL;
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
    for (int i = 0; i < n.velocities; ++i)
        if (strcmp(carom_model_velocity(m, i), name) == 0) return *x = (quantity){VELOCITY, i, name}, true;
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
    if (!s->at || !copy) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d names", n);
    for (s->n = 0; s->n < n; ++s->n) {
        strcpy(copy, of[s->n]);
        if (!find(s->model, copy, &s->at[s->n])) {
            const char *near = carom_nearest(copy, known_name, s->model);
            return carom_fail(err, CAROM_BAD_INPUT,
                              "the model has no coordinate, rate or output '%.60s'%s%.60s%s; a rate is written x'",
                              copy, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        }
        for (int i = 0; i < s->n; ++i)
            if (strcmp(s->at[i].name, copy) == 0)
                return carom_fail(err, CAROM_BAD_INPUT, "'%.60s' is named twice", copy);
        copy += strlen(copy) + 1;
    }
    return n > 0 ? CAROM_OK : carom_fail(err, CAROM_BAD_INPUT, "no names to compare");
}

static carom_status take_all(quantities *s, carom_error *err) {
    s->at = calloc((size_t)s->nq + 1, sizeof *s->at);
    if (!s->at) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d names", s->nq);
    for (s->n = 0; s->n < s->nq; ++s->n)
        s->at[s->n] = carom_model_state(s->model, s->n)
                          ? (quantity){VELOCITY, s->n, carom_model_velocity(s->model, s->n)}
                          : (quantity){COORDINATE, s->n, carom_model_coordinate(s->model, s->n)};
    return CAROM_OK;
}

// Where the four numbers of a quaternion follow each other.
static carom_status find_quaternions(quantities *s, carom_error *err) {
    s->opposite = malloc(((size_t)s->n + 1) * sizeof *s->opposite);
    if (!s->opposite) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d names", s->n);
    for (int j = 0; j < s->n; ++j) s->opposite[j] = -1;
    for (int j = 0; j + 3 < s->n; ++j) {
        const int first = s->at[j].kind == COORDINATE ? carom_model_quaternion(s->model, s->at[j].index) : -1;
        bool whole = first >= 0;
        for (int k = 0; k < 4; ++k) whole = whole && s->at[j + k].kind == COORDINATE && s->at[j + k].index == first + k;
        for (int k = 0; whole && k < 4; ++k) s->opposite[j + k] = j;
    }
    return CAROM_OK;
}

carom_status carom_quantities_create(quantities *s, const carom_model *m, const char *const *of, carom_error *err) {
    const carom_model_sizes n = carom_model_count(m);
    *s = (quantities){.model = m,
                      .nq = n.coordinates,
                      .nv = n.velocities,
                      .nout = n.outputs,
                      .turns = carom_model_system(m)->move != NULL};
    CAROM_TRY(of ? choose(s, of, err) : take_all(s, err));
    return find_quaternions(s, err);
}

void carom_quantities_destroy(quantities *s) {
    free(s->at);
    free(s->opposite);
    free(s->names);
    *s = (quantities){0};
}

carom_status carom_scratch_create(scratch *w, const quantities *s, carom_error *err) {
    const size_t nq = (size_t)(s->nq > s->n ? s->nq : s->n), nv = (size_t)s->nv, nout = (size_t)s->nout,
                 n = (size_t)s->n;
    *w = (scratch){.block = calloc(2 * nq + nv + nout + 2 * n + 1, sizeof(double))};
    if (!w->block) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d quantities", s->n);
    w->q = w->block;
    w->dq = w->q + nq;
    w->v = w->dq + nq;
    w->out = w->v + nv;
    w->x = w->out + nout;
    w->y = w->x + n;
    return CAROM_OK;
}

void carom_scratch_destroy(scratch *w) {
    free(w->block);
    *w = (scratch){0};
}

void carom_quantities_eval(const quantities *s, scratch *w, double t, const double *q, const double *dq, double *x) {
    bool outputs = false, velocities = false;
    for (int j = 0; j < s->n; ++j)
        outputs = outputs || s->at[j].kind == OUTPUT, velocities = velocities || s->at[j].kind == VELOCITY;
    const double *v = s->turns ? w->v : dq;
    if (s->turns && (outputs || velocities)) carom_model_velocities(s->model, q, dq, w->v);
    if (outputs) carom_model_outputs(s->model, w->work, t, q, v, w->out);
    for (int j = 0; j < s->n; ++j) {
        const int i = s->at[j].index;
        switch (s->at[j].kind) {
        case COORDINATE: x[j] = q[i]; break;
        case RATE: x[j] = dq[i]; break;
        case VELOCITY: x[j] = v[i]; break;
        case OUTPUT: x[j] = w->out[i]; break;
        }
    }
}

void carom_quantities_subtract(const quantities *s, double *x, const double *y) {
    for (int j = 0; j < s->n; ++j) {
        if (s->opposite[j] != j) {
            if (s->opposite[j] < 0) x[j] -= y[j];
            continue;
        }
        double dot = 0;
        for (int k = j; k < j + 4; ++k) dot += x[k] * y[k];
        for (int k = j; k < j + 4; ++k) x[k] -= dot < 0 ? -y[k] : y[k];
    }
}

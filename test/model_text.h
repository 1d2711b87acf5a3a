// model_text.h: for tests of models: models from strings and files, with their work block.
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <carom/carom.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef CAROM_SOURCE_DIR
#define CAROM_SOURCE_DIR "."
#endif

#include "quick.h"
#include "system/system.h"

static const char *const shipped[] = {"bouncing-ball",
                                      "bouncing-ball-b",
                                      "ball-in-box",
                                      "slider-crank",
                                      "slider-crank-frictionless",
                                      "slider-crank-bilateral",
                                      "pendulum",
                                      "rocking-block",
                                      "impacting-oscillator",
                                      "two-ball-oscillator",
                                      NULL};

static inline carom_model *model_of(const char *text, carom_error *err) {
    return carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml"}, err);
}

/// A model that must be refused, with a place and these words.
static inline void model_refused(const char *text, const char *words) {
    carom_error err = {0};
    carom_model *m = model_of(text, &err);
    if (m) fail_msg("no error for %s", text);
    if (!strstr(err.text, words) || strncmp(err.text, "m.yaml:", 7) != 0) fail_msg("'%s' lacks '%s'", err.text, words);
}

/// A model that must be right.
static inline carom_model *good(const char *text) {
    carom_error err = {0};
    carom_model *m = model_of(text, &err);
    if (!m) fail_msg("%s", err.text);
    return m;
}

/// The text of a shipped model, for free().
static inline char *shipped_text(const char *name, size_t *length) {
    char path[2000];
    snprintf(path, sizeof path, "%s/models/%s.yaml", CAROM_SOURCE_DIR, name);
    FILE *f = fopen(path, "rb");
    if (!f) fail_msg("cannot open %s", path);
    char *text = calloc(1, 1 << 16);
    assert_non_null(text);
    *length = fread(text, 1, (1 << 16) - 1, f);
    fclose(f);
    return text;
}

static inline carom_model *shipped_model(const char *name) {
    size_t length = 0;
    char *text = shipped_text(name, &length);
    carom_error err = {0};
    carom_model *m = carom_model_create(&(carom_model_def){.text = text, .length = length, .file = name}, &err);
    free(text);
    if (!m) fail_msg("%s", err.text);
    return m;
}

/// A work block, for free().
static inline void *work_of(const carom_model *m) {
    const carom_system *s = carom_model_system(m);
    const size_t size = (s->work_size + 63) & ~(size_t)63;
    void *work = aligned_alloc(64, size);
    assert_non_null(work);
    memset(work, 0, size);
    s->work_init(s->model, work);
    return work;
}

/// The local frame of all constraints, allocated from one block (its base is for free()).
static inline carom_local local_of(const carom_model *m, carom_arena *mem) {
    const carom_system *s = carom_model_system(m);
    carom_arena count = {0};
    carom_allocate_local(&count, s);
    const size_t size = count.used + 64;
    *mem = (carom_arena){.base = aligned_alloc(64, size), .size = size};
    assert_non_null(mem->base);
    memset(mem->base, 0, size);
    carom_local L = carom_allocate_local(mem, s);
    L.nb = s->ne + s->nc;
    L.at[0] = 0;
    for (int id = 0; id < L.nb; ++id) {
        L.id[id] = id;
        L.at[id + 1] = L.at[id] + carom_system_directions(s, id);
    }
    return L;
}

/// A simulation of a model by one of all schemes (NULL: the default), from its start, as it is before it is created.
static inline carom_sim_def sim_def(const carom_model *m, const char *scheme, const char *const *options, double h,
                                    double end) {
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m);
    d.schemes = carom_schemes();
    if (scheme) d.scheme = scheme;
    d.options = options;
    d.h = h;
    d.t_end = end;
    d.q0 = carom_model_q0(m);
    d.v0 = carom_model_v0(m);
    return d;
}

/// A simulation of a model by one of all schemes, from its start.
static inline carom_sim *model_sim(const carom_model *m, const char *scheme, const char *const *options, double h,
                                   double end) {
    carom_error err = {0};
    const carom_sim_def d = sim_def(m, scheme, options, h, end);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s: %s", scheme, err.text);
    return sim;
}

/// To its end, which it must reach.
static inline void model_sim_run(carom_sim *sim) {
    carom_error err = {0};
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", carom_sim_scheme(sim)->name, err.text);
}

static inline void assert_close(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g and %.17g differ by more than %g", a, b, tolerance);
}

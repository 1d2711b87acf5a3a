// orbits.h: periodic orbits and branches that must be found.
#pragma once
#include "io/table.h"
#include "model_text.h"
#include <carom/dynamics.h>
#include <string.h>

static inline carom_orbit_def define(const char *text, const char *period, double transient) {
    carom_orbit_def d = {.period = period, .transient = transient, .guess = NAN};
    d.model.text = text, d.model.length = strlen(text), d.model.file = "model.yaml";
    d.run = carom_run_nothing();
    return d;
}

static inline void refused(const carom_orbit_def *d, carom_status status, const char *words) {
    carom_orbit o;
    carom_error err = {0};
    assert_int_equal(carom_orbit_find(&o, d, &err), status);
    carom_orbit_free(&o);
    if (!strstr(err.text, words)) fail_msg("'%s' is not in: %s", words, err.text);
}

static inline carom_follow_def define_branch(const carom_orbit_def *d, const carom_orbit *o, double *start,
                                             const char *by, double from, double to) {
    carom_follow_def f = {.model = d->model,
                          .run = d->run,
                          .period = d->period,
                          .guess = o ? o->period : NAN,
                          .by = by,
                          .from = from,
                          .to = to,
                          .start = o ? start : NULL};
    if (o)
        memcpy(start, o->q, (size_t)o->nq * sizeof *start), memcpy(start + o->nq, o->v, (size_t)o->nv * sizeof *start);
    return f;
}

static inline carom_branch follow(const carom_follow_def *d) {
    carom_branch b = {0};
    carom_error err = {0};
    if (carom_follow_run(&b, d, &err) != CAROM_OK) fail_msg("%s", err.text);
    for (int i = 0; i < b.branch.columns; ++i) {
        // not in every row
        const bool rare = strcmp(b.branch.column[i].name, "coefficient") == 0 ||
                          (!d->period && strncmp(b.branch.column[i].name, "mu", 2) == 0);
        for (long r = 0; r < b.branch.rows && b.branch.column[i].kind == CAROM_COLUMN_REAL; ++r)
            assert_true(isfinite(b.branch.column[i].real[r]) || i == 4 || rare);
    }
    return b;
}

static inline carom_orbit find_orbit(const carom_orbit_def *d) {
    carom_orbit o;
    carom_error err = {0};
    if (carom_orbit_find(&o, d, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_true(o.residual < 1e-10);
    return o;
}

// The parameter at the n-th event of this name (its first word), from 0.
static inline double at_event(const carom_branch *b, const char *name, int n) {
    for (long r = 0; r < b->branch.rows; ++r)
        if (strncmp(b->branch.column[5].text[r], name, strlen(name)) == 0 && n-- == 0)
            return b->branch.column[1].real[r];
    fail_msg("there is no %s", name);
    return NAN;
}

// The row of that event.
static inline long row_of(const carom_branch *b, const char *name, int n) {
    for (long r = 0; r < b->branch.rows; ++r)
        if (strncmp(b->branch.column[5].text[r], name, strlen(name)) == 0 && n-- == 0) return r;
    fail_msg("there is no %s", name);
    return -1;
}

static inline double value_in(const carom_branch *b, const char *name, long row) {
    const carom_column *c = carom_table_column(&b->branch, name);
    assert_non_null(c);
    return c->real[row];
}

// The first row of a branch, from `row` on, at this value of the parameter.
static inline long row_at(const carom_branch *b, int branch, double value) {
    for (long r = 0; r < b->branch.rows; ++r)
        if (b->branch.column[0].integer[r] == branch &&
            fabs(b->branch.column[1].real[r] - value) < 1e-12 * fmax(1, fabs(value)))
            return r;
    fail_msg("branch %d has no point at %g", branch, value);
    return -1;
}

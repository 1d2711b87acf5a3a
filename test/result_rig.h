// result_rig.h: a model, a simulation and a recorder in a temporary folder, for tests of results.
#pragma once
#include "ignoring.h"
#include <carom/carom.h>
#include <carom/result.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
// cmocka wants the above first
#include <cmocka.h>

#if defined(__GNUC__)
#define UNUSED __attribute__((unused))
#else
#define UNUSED
#endif

// A ball thrown over a floor with friction in one direction, a wall without, on a rail.
UNUSED static const char ball[] =
    "carom: 1\n"
    "name: Ball on a rail\n"
    "parameters: {m: 1.5, g: 9.81}\n"
    "coordinates: {x: {at: 0, rate: 2}, y: {at: 0.3, rate: 0}, z: {at: 0, rate: 0}}\n"
    "energy: {kinetic: 1/2*m*(x'^2 + y'^2 + z'^2), potential: m*g*y}\n"
    "constraints: {rail: z}\n"
    "contacts:\n"
    "  ground: {gap: y, slip: x, restitution: 0.6, friction: 0.3}\n"
    "  wall: {gap: 1.2 - x, restitution: 0.6}\n"
    "outputs: {height: y, speed: 'hypot(x'', y'')'}\n"
    "checks: [max(y) < 0.31]\n";

static char folder[64];

UNUSED static const char *path(const char *name) {
    static char text[4][160];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(text[turn], sizeof text[turn], "%s/%s", folder, name);
    return text[turn];
}

typedef struct rig {
    carom_model *m;
    carom_sim *sim;
    carom_record *r;
    long stop; // at this step; 0: never
} rig;

UNUSED static carom_status on_step(void *user, const carom_now *now) {
    rig *g = user;
    const carom_status status = carom_record_step(g->r, now);
    return status != CAROM_OK ? status : now->step == g->stop ? CAROM_STOPPED : CAROM_OK;
}

UNUSED static rig make(const char *text, const char *scheme, const char *file, double h, double end, long every,
                       double dt_out, bool resume) {
    rig g = {0};
    carom_error err = {0};
    const carom_model_def md = {.text = text, .length = strlen(text), .file = "model.yaml"};
    g.m = carom_model_create(&md, &err);
    if (!g.m) fail_msg("%s", err.text);
    carom_sim_def sd = carom_sim_default();
    sd.system = carom_model_system(g.m);
    sd.scheme = scheme;
    sd.options = ignoring_impacts(scheme, sd.system, NULL);
    sd.h = h;
    sd.t_end = end;
    sd.q0 = carom_model_q0(g.m);
    sd.v0 = carom_model_v0(g.m);
    g.sim = carom_sim_create(&sd, &err);
    if (!g.sim) fail_msg("%s", err.text);
    carom_record_def rd = carom_record_default();
    rd.model = g.m;
    rd.sim = g.sim;
    rd.file = file ? path(file) : NULL;
    rd.memory = !file;
    rd.step = h;
    rd.end = end;
    rd.every = every;
    rd.dt_out = dt_out;
    rd.text = text;
    rd.length = strlen(text);
    rd.model_file = "model.yaml";
    g.r = resume ? carom_record_resume(&rd, &err) : carom_record_create(&rd, &err);
    if (!g.r) fail_msg("%s", err.text);
    return g;
}

UNUSED static void finish(rig *g) {
    carom_error err = {0};
    const carom_status status = carom_sim_run(g->sim, on_step, g, &err);
    if (status != CAROM_OK && status != CAROM_STOPPED) fail_msg("%s", err.text);
    if (carom_record_finish(g->r, status == CAROM_OK ? "done" : "interrupted", NULL, &err) != CAROM_OK)
        fail_msg("%s", err.text);
    carom_record_destroy(g->r);
    carom_sim_destroy(g->sim);
    carom_model_destroy(g->m);
}

UNUSED static void simulate(const char *text, const char *scheme, const char *file, double h, double end, long every,
                            double dt_out) {
    rig g = make(text, scheme, file, h, end, every, dt_out, false);
    finish(&g);
}

UNUSED static carom_result *load(const char *file) {
    carom_error err = {0};
    carom_result *r = carom_result_open(path(file), &err);
    if (!r) fail_msg("%s", err.text);
    return r;
}

UNUSED static double *column(carom_result *r, const char *name) {
    const long n = carom_result_rows(r);
    double *x = malloc(sizeof *x * (size_t)n + 8);
    carom_error err = {0};
    const int c = carom_result_find(r, name);
    if (c < 0) fail_msg("no column %s", name);
    assert_int_equal(carom_result_read(r, c, 0, n, x, &err), CAROM_OK);
    return x;
}

// The same rows and events, bit for bit.
UNUSED static void assert_same(const char *a, const char *b) {
    carom_result *x = load(a), *y = load(b);
    carom_error err = {0};
    assert_int_equal(carom_result_columns(x), carom_result_columns(y));
    assert_int_equal(carom_result_rows(x), carom_result_rows(y));
    for (int c = 0; c < carom_result_columns(x); ++c) {
        assert_string_equal(carom_result_column(x, c), carom_result_column(y, c));
        double *p = column(x, carom_result_column(x, c)), *q = column(y, carom_result_column(y, c));
        assert_memory_equal(p, q, sizeof(double) * (size_t)carom_result_rows(x));
        free(p);
        free(q);
    }
    const long n = carom_result_event_count(x);
    assert_int_equal(n, carom_result_event_count(y));
    for (long i = 0; i < n; ++i) {
        carom_result_event e = {0}, f = {0};
        assert_int_equal(carom_result_events(x, i, 1, &e, &err), CAROM_OK);
        assert_int_equal(carom_result_events(y, i, 1, &f, &err), CAROM_OK);
        assert_true(e.t == f.t && e.before == f.before && e.after == f.after && e.impulse == f.impulse);
        assert_string_equal(e.contact, f.contact);
        assert_string_equal(e.kind, f.kind);
    }
    carom_result_close(x);
    carom_result_close(y);
}

UNUSED static int begin(void **state) {
    (void)state;
    strcpy(folder, "/tmp/carom-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

UNUSED static int end(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}


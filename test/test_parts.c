// test_parts.c: steps that end where they are told to, states inside a step, ledgers that begin anew, and runs that
// continue with other values.
//
// A ball falls from y = 1 with y' = 0: y = 1 - g t^2/2 until t = sqrt(2/g), then it bounces with e = 1/2.
#include "model_text.h"
#include "sim/inspect.h"
#include <carom/event.h>

static const char form[] = "carom: 1\nparameters: {g: 8, m: 2}\ncoordinates: {x: {at: 0, rate: 3}, y: {at: "
                           "1}}\nenergy: {kinetic: m*(x'^2 + y'^2)/2, potential: m*g*y}\n"
                           "contacts: {ground: {gap: y, restitution: 1/2}}\n";
static const double HIT = 0.5; // s

typedef struct run { carom_model *m; carom_sim *sim; } run;

static run start(const char *text, const char *scheme, double h, double end, const char *const *options) {
    carom_error err = {0};
    run r = {.m = good(text)};
    carom_sim_def d = sim_def(r.m, scheme, options, h, end);
    r.sim = carom_sim_create(&d, &err);
    if (!r.sim) fail_msg("%s", err.text);
    return r;
}

static void finish(run *r) {
    carom_sim_destroy(r->sim);
    carom_model_destroy(r->m);
}

static void is_near(double x, double y, double tol) {
    if (!(fabs(x - y) <= tol)) fail_msg("%.15g, expected %.15g +- %.2g", x, y, tol);
}

static void steps(carom_sim *sim, int n) {
    carom_error err = {0};
    for (int i = 0; i < n; ++i)
        if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s", err.text);
}

// moreau-midpoint is exact in free flight.
static void a_step_ends_where_it_is_told_to(void **state) {
    (void)state;
    carom_error err = {0};
    run r = start(form, "moreau-midpoint", 0.04, 0.4, NULL);
    assert_int_equal(carom_sim_step_until(r.sim, 1, &err), CAROM_OK); // a whole step
    is_near(carom_sim_now(r.sim).t, 0.04, 1e-15);
    assert_int_equal(carom_sim_step_until(r.sim, 0.05, &err), CAROM_OK);
    carom_now now = carom_sim_now(r.sim);
    assert_true(now.t == 0.05);
    is_near(now.q[0], 0.15, 1e-15), is_near(now.q[1], 1 - 4 * 0.05 * 0.05, 1e-15), is_near(now.v[1], -0.4, 1e-15);
    steps(r.sim, 1); // steps are counted from there
    is_near(carom_sim_now(r.sim).t, 0.09, 1e-15);
    assert_int_equal(carom_sim_step_until(r.sim, 0.13, &err), CAROM_OK); // exactly a whole step
    is_near(carom_sim_now(r.sim).t, 0.13, 1e-15);
    assert_false(carom_sim_done(r.sim));
    assert_int_equal(carom_sim_step_until(r.sim, 0.1, &err), CAROM_OK); // behind: a usual step
    is_near(carom_sim_now(r.sim).t, 0.17, 1e-15);
    int n = 0;
    for (; !carom_sim_done(r.sim); ++n) steps(r.sim, 1);
    assert_int_equal(n, 6); // 0.21, 0.25, 0.29, 0.33, 0.37, 0.4
    now = carom_sim_now(r.sim);
    assert_true(now.t == 0.4);
    is_near(now.q[1], 1 - 4 * 0.16, 1e-14);
    assert_int_equal(carom_sim_step_until(r.sim, 1, &err), CAROM_STOPPED);
    finish(&r);
    r = start(form, "schatzman-paoli", 0.04, 0.4, NULL); // it needs equal steps
    steps(r.sim, 1);
    assert_int_equal(carom_sim_step_until(r.sim, 0.05, &err), CAROM_UNSUPPORTED);
    assert_non_null(strstr(err.text, "cannot be shortened"));
    assert_int_equal(carom_sim_step_until(r.sim, 0.08, &err), CAROM_OK);
    finish(&r);
}

// A controller samples every 0.05 s, and steps are 0.01.  Behind a step that ends at 0.005 the rest of the interval is
// divided anew: 5 steps of 0.009, none longer than 0.01.
static void steps_behind_a_shortened_one_meet_the_next_sample(void **state) {
    (void)state;
    carom_error err = {0};
    run r = start("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/2}\nforces: {x: u}\ncontrollers: {c: {sample: "
                  "0.05, outputs: {u: 1}}}\n",
                  "moreau-midpoint", 0.01, 0.2, NULL);
    assert_int_equal(carom_sim_step_until(r.sim, 0.005, &err), CAROM_OK);
    for (int i = 1; i <= 5; ++i) {
        steps(r.sim, 1);
        is_near(carom_sim_now(r.sim).t, 0.005 + 0.009 * i, 1e-15);
    }
    steps(r.sim, 1);
    is_near(carom_sim_now(r.sim).t, 0.06, 1e-15);
    finish(&r);
}

static void adaptive_steps_end_where_they_are_told_to(void **state) {
    (void)state;
    carom_error err = {0};
    static const char *const options[] = {"adaptive=on", "rtol=1e-8", NULL};
    run r = start(form, "moreau-midpoint", 0.04, 0.4, options);
    for (int i = 0; i < 1000 && carom_sim_now(r.sim).t < 0.05; ++i)
        assert_int_equal(carom_sim_step_until(r.sim, 0.05, &err), CAROM_OK);
    assert_true(carom_sim_now(r.sim).t == 0.05);
    assert_false(carom_sim_done(r.sim));
    while (!carom_sim_done(r.sim)) steps(r.sim, 1);
    assert_true(carom_sim_now(r.sim).t == 0.4);
    finish(&r);
}

typedef struct count { int inner, events, changes; } count;
static carom_status inner(void *user, double t, const double *q, const double *v) {
    return (void)t, (void)q, (void)v, ++((count *)user)->inner, CAROM_OK;
}
static carom_status change(void *user, const carom_change *c) { return (void)c, ++((count *)user)->changes, CAROM_OK; }

// Inside a step with an impact; nobody notices, and the run goes on to the same bits.
static void a_state_inside_a_step(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "auto", "mixed"};
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        carom_error err = {0};
        run r = start(form, schemes[k], 0.2, 1, NULL), same = start(form, schemes[k], 0.2, 1, NULL);
        size_t bytes;
        steps(r.sim, 2), steps(same.sim, 3);
        const void *now_state = carom_sim_state(r.sim, &bytes);
        void *before = malloc(bytes), *room = malloc(bytes), *after = malloc(bytes);
        memcpy(before, now_state, bytes);
        count seen = {0};
        carom_sim_watch_inner(r.sim, inner, &seen);
        carom_sim_watch_changes(r.sim, change, &seen);
        steps(r.sim, 1); // 0.4 to 0.6
        const count once = seen;
        memcpy(after, carom_sim_state(r.sim, &bytes), bytes);
        double q[2], v[2];
        static const double t[] = {0.4, 0.45, 0.5625};
        for (int i = 0; i < 3; ++i) {
            if (carom_sim_between(r.sim, before, t[i], q, v, room, &err) != CAROM_OK) fail_msg("%s", err.text);
            const double s = t[i] - HIT, y = s > 0 ? 2 * s - 4 * s * s : 1 - 4 * t[i] * t[i],
                         rate = s > 0 ? 2 - 8 * s : -8 * t[i];
            const double tol = k == 0 ? 1e-8 : 1e-4;
            is_near(q[0], 3 * t[i], tol), is_near(q[1], y, tol), is_near(v[0], 3, tol), is_near(v[1], rate, tol);
            assert_memory_equal(carom_sim_state(r.sim, &bytes), after, bytes);
            assert_true(carom_sim_now(r.sim).t == carom_sim_now(same.sim).t);
            assert_memory_equal(carom_sim_now(r.sim).q, carom_sim_now(same.sim).q, 2 * sizeof(double));
        }
        assert_true(seen.inner == once.inner && seen.changes == once.changes && once.changes > 0);
        steps(r.sim, 1), steps(same.sim, 1);
        assert_memory_equal(carom_sim_now(r.sim).q, carom_sim_now(same.sim).q, 2 * sizeof(double));
        assert_memory_equal(carom_sim_now(r.sim).v, carom_sim_now(same.sim).v, 2 * sizeof(double));
        free(before), free(room), free(after);
        finish(&r), finish(&same);
    }
}

// At 0.6 the energy is m (9 + u^2)/2 + m g y with u = 2 - 0.8, y = 0.2 - 0.04; the impact has taken m (4^2 - 2^2)/2 =
// 12 J.
static void a_ledger_begins_anew(void **state) {
    (void)state;
    carom_error err = {0};
    run r = start(form, "event-driven", 0.05, 1, NULL);
    carom_ledger l;
    steps(r.sim, 12);
    assert_int_equal(carom_sim_ledger(r.sim, &l, &err), CAROM_OK);
    is_near(l.energy.start, 25, 1e-12), is_near(l.energy.impact, 12, 1e-8);
    assert_int_equal(l.steps, 12);
    assert_int_equal(l.impacts, 1);
    assert_int_equal(carom_sim_count_anew(r.sim, &err), CAROM_OK);
    steps(r.sim, 4);
    assert_int_equal(carom_sim_ledger(r.sim, &l, &err), CAROM_OK);
    is_near(l.energy.start, 13, 1e-8), is_near(l.energy.end, 13, 1e-8), is_near(l.energy.impact, 0, 1e-12),
        is_near(l.kinetic, 9 + 1.44, 1e-8);
    assert_int_equal(l.steps, 4);
    assert_int_equal(l.impacts, 0);
    is_near(carom_sim_now(r.sim).t, 0.8, 1e-15);
    finish(&r);
}

// From 0.2 on gravity is 2 instead of 8: y = 0.84 - 1.6 s - s^2.
static void a_run_goes_on_with_other_values(void **state) {
    (void)state;
    carom_error err = {0};
    char other[sizeof form + 10];
    snprintf(other, sizeof other, "%s", form);
    memcpy(strstr(other, "g: 8"), "g: 2", 4);
    run r = start(form, "event-driven", 0.1, 1, NULL), light = start(other, "event-driven", 0.1, 1, NULL),
        wrong = start(other, "moreau-jean", 0.1, 1, NULL);
    assert_int_equal(carom_sim_step_until(r.sim, 0.04, &err), CAROM_OK);
    assert_int_equal(carom_sim_step_until(r.sim, 0.1, &err), CAROM_OK);
    steps(r.sim, 1);
    assert_int_equal(carom_sim_continue(light.sim, r.sim, &err), CAROM_OK);
    is_near(carom_sim_now(light.sim).t, 0.2, 1e-15);
    assert_int_equal(carom_sim_now(light.sim).nevents, 0);
    steps(light.sim, 2);
    is_near(carom_sim_now(light.sim).q[0], 1.2, 1e-9), is_near(carom_sim_now(light.sim).q[1], 0.84 - 0.32 - 0.04, 1e-9),
        is_near(carom_sim_now(light.sim).v[1], -2, 1e-9);
    int n = 0;
    for (; !carom_sim_done(light.sim); ++n) steps(light.sim, 1);
    assert_int_equal(n, 6); // 0.5 to 1
    assert_true(carom_sim_now(light.sim).t == 1);
    assert_int_equal(carom_sim_continue(wrong.sim, r.sim, &err), CAROM_BAD_INPUT);
    finish(&r), finish(&light), finish(&wrong);
}

// The state of a run that went on with another restitution belongs to that: its model goes on from it, the first one
// does not.
static void a_state_belongs_to_the_values_it_went_on_with(void **state) {
    (void)state;
    static const char hard[] = "carom: 1\ncoordinates: {y: 1}\nenergy: {kinetic: y'^2/2, potential: 8*y}\ncontacts: "
                               "{floor: {gap: y, restitution: 0.9}}\n";
    char soft[sizeof hard];
    snprintf(soft, sizeof soft, "%s", hard);
    memcpy(strstr(soft, "0.9"), "0.5", 3);
    carom_error err = {0};
    run first = start(hard, "moreau-jean", 0.1, 1, NULL), then = start(soft, "moreau-jean", 0.1, 1, NULL),
        same = start(soft, "moreau-jean", 0.1, 1, NULL);
    size_t size = 0;
    steps(first.sim, 2);
    assert_int_equal(carom_sim_continue(then.sim, first.sim, &err), CAROM_OK);
    steps(then.sim, 1);
    const void *kept = carom_sim_state(then.sim, &size);
    assert_int_equal(carom_sim_restore(same.sim, kept, size, &err), CAROM_OK);
    assert_int_equal(carom_sim_restore(first.sim, kept, size, &err), CAROM_BAD_INPUT);
    steps(then.sim, 7), steps(same.sim, 7);
    assert_true(carom_sim_now(then.sim).q[0] == carom_sim_now(same.sim).q[0] && carom_sim_now(same.sim).t == 1);
    finish(&first), finish(&then), finish(&same);
}

typedef struct dense { int n; double t[40], y[40]; } dense;
static carom_status look(void *user, double t, const double *q, const double *v) {
    dense *d = user;
    (void)v;
    d->t[d->n] = t, d->y[d->n++] = q[1];
    return CAROM_OK;
}

// dg is exact for a motion that is a polynomial of its degree.
static void dense_output_is_between(void **state) {
    (void)state;
    static const char *const options[] = {"order=2", NULL};
    run r = start(form, "dg-plus", 0.1, 0.4, options);
    dense d = {0};
    assert_true(carom_sim_watch_dense(r.sim, 4, look, &d));
    steps(r.sim, 2);
    assert_int_equal(d.n, 8);
    for (int i = 0; i < 8; ++i)
        is_near(d.t[i], 0.1 * (i / 4) + 0.1 * (i % 4 + 0.5) / 4, 1e-15),
            is_near(d.y[i], 1 - 4 * d.t[i] * d.t[i], 1e-12);
    carom_sim_watch_dense(r.sim, 4, NULL, NULL);
    steps(r.sim, 1);
    assert_int_equal(d.n, 8);
    finish(&r);
    r = start(form, "moreau-jean", 0.1, 0.4, NULL);
    assert_false(carom_sim_watch_dense(r.sim, 4, look, &d));
    finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_ends_where_it_is_told_to),
        cmocka_unit_test(steps_behind_a_shortened_one_meet_the_next_sample),
        cmocka_unit_test(adaptive_steps_end_where_they_are_told_to),
        cmocka_unit_test(a_state_inside_a_step),
        cmocka_unit_test(a_ledger_begins_anew),
        cmocka_unit_test(a_run_goes_on_with_other_values),
        cmocka_unit_test(a_state_belongs_to_the_values_it_went_on_with),
        cmocka_unit_test(dense_output_is_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

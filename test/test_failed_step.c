// test_failed_step.c: a step that fails leaves nothing behind: neither in the state nor in the books, so that a run that goes on from there, or is resumed, is the same as one without it.
#include "ignoring.h"
#include "model_text.h"
#include "schemes.h"
#include <math.h>

// A block slides on a table against a damper, and a ball rests on the floor beside it; a force is not a number, nor is its power, at the end of one step when `broken`, and is 0 otherwise.
static const char *const text = "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0, z: {at: 0.02, rate: -1}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), potential: 9.81*(y + z)}\nforces: {x: -0.3*x'}\n"
                                "contacts: {table: {gap: y, slip: x, friction: 0.2}, floor: {gap: z, restitution: 0.5}}\n";
static carom_system sound;
static double broken; // from this time on there is no power

static carom_status power(const void *m, void *w, double t, const double *q, const double *v, double *in, double *out) {
    return t > broken ? CAROM_USER : sound.power(m, w, t, q, v, in, out);
}

static carom_status observe(const void *m, void *w, double t, const double *q, const double *v, double *g, double *in, double *out) {
    return t > broken ? CAROM_USER : sound.observe(m, w, t, q, v, g, in, out);
}

static carom_status force(const void *m, void *w, double t, const double *q, const double *v, double *f) {
    return t > broken ? CAROM_USER : sound.force(m, w, t, q, v, f);
}

static carom_sim *start(const carom_model *m, const carom_system *sys, const char *scheme, bool adapts) {
    static const char *const adaptive[] = {"adaptive=on", "rtol=1e-3", NULL};
    carom_error err = {0};
    carom_sim_def d = sim_def(m, scheme, ignoring_impacts(scheme, sys, adapts ? adaptive : NULL), 1.0 / 256, 0.25);
    d.system = sys;
    return carom_sim_create(&d, &err);
}

static void same_state(const char *scheme, const carom_sim *a, const carom_sim *b) {
    const carom_now x = carom_sim_now(a), y = carom_sim_now(b);
    if (x.t != y.t || memcmp(x.q, y.q, 3 * sizeof *x.q) != 0 || memcmp(x.v, y.v, 3 * sizeof *x.v) != 0) fail_msg("%s: the state at %g is another one after a failure", scheme, x.t);
}

static void same_books(const char *scheme, carom_sim *a, carom_sim *b) {
    carom_ledger l[2];
    carom_error err = {0};
    assert_int_equal(carom_sim_ledger(a, &l[0], &err), CAROM_OK);
    assert_int_equal(carom_sim_ledger(b, &l[1], &err), CAROM_OK);
    const double x[] = {l[0].energy.impact, l[0].energy.friction, l[0].energy.damping, l[0].energy.external, l[0].energy.lost, l[0].energy.created, l[0].kinetic, (double)l[0].impacts, (double)l[0].steps};
    const double y[] = {l[1].energy.impact, l[1].energy.friction, l[1].energy.damping, l[1].energy.external, l[1].energy.lost, l[1].energy.created, l[1].kinetic, (double)l[1].impacts, (double)l[1].steps};
    static const char *const names[] = {"impact", "friction", "damping", "external", "lost", "created", "kinetic", "impacts", "steps"};
    for (size_t i = 0; i < sizeof x / sizeof *x; ++i)
        if (x[i] != y[i]) fail_msg("%s: %s is %.17g, after a failure %.17g", scheme, names[i], x[i], y[i]);
}

// Every few steps one fails twice, after the scheme has done it; then it succeeds.  The other run has no failure.
static int fail_and_go_on(const carom_model *m, const char *scheme, bool adapts) {
    carom_system failing = *carom_model_system(m);
    sound = failing;
    if (failing.power) failing.power = power;
    if (failing.observe) failing.observe = observe;
    carom_sim *a = start(m, &sound, scheme, adapts), *b = start(m, &failing, scheme, adapts);
    int failures = 0;
    assert_true(!a == !b);
    for (int i = 0; a && !carom_sim_done(a) && i < 1000; ++i) {
        sim_step(a);
        for (int k = 0; k < 2 && i % 5 > 1; ++k) {
            carom_error err = {0};
            broken = carom_sim_now(b).t;
            const carom_status status = carom_sim_step(b, &err);
            failures += status != CAROM_OK;
            if (status == CAROM_OK) break; // it does without power
        }
        broken = HUGE_VAL;
        if (carom_sim_now(b).t < carom_sim_now(a).t) sim_step(b);
        same_state(scheme, a, b), same_books(scheme, a, b);
    }
    carom_sim_destroy(a);
    carom_sim_destroy(b);
    return failures;
}

static void a_failed_step_leaves_nothing_behind(void **state) {
    (void)state;
    carom_model *m = good(text);
    int failures = 0;
    broken = HUGE_VAL;
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) failures += fail_and_go_on(m, (*s)->name, false);
    assert_true(failures > 100);
    assert_true(fail_and_go_on(m, "moreau-explicit", true) > 10);
    carom_model_destroy(m);
}

// What a record takes from a state is the same after a step has failed: a last row at the last good state shows its reactions.
static void a_failed_step_leaves_the_reactions_of_the_last_one(void **state) {
    (void)state;
    carom_model *m = good(text);
    carom_system failing = sound = *carom_model_system(m);
    int positions = 0;
    failing.force = force, failing.motion = NULL, failing.free_motion = NULL, failing.motion_directions = NULL;
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        carom_error err = {0};
        broken = HUGE_VAL;
        carom_sim *sim = start(m, &failing, (*s)->name, false);
        if (!sim) continue;
        for (int i = 0; i < 12; ++i) sim_step(sim);
        const carom_now a = carom_sim_now(sim);
        const int n = a.dir[2];
        double lasting[8], nu[8] = {0};
        assert_true(n <= 8);
        memcpy(lasting, a.lasting, (size_t)n * sizeof *lasting);
        if (a.nu) memcpy(nu, a.nu, (size_t)n * sizeof *nu);
        broken = a.t;
        if (carom_sim_step(sim, &err) != CAROM_OK) {
            const carom_now b = carom_sim_now(sim);
            if (memcmp(lasting, b.lasting, (size_t)n * sizeof *lasting) != 0) fail_msg("%s: other lasting forces after a failure", (*s)->name);
            if (b.nu && memcmp(nu, b.nu, (size_t)n * sizeof *nu) != 0) fail_msg("%s: nu is %g, and after a failure %g", (*s)->name, nu[0], b.nu[0]);
            for (int i = 0; i < n; ++i) positions += nu[i] != 0;
        }
        carom_sim_destroy(sim);
    }
    assert_true(positions > 0);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_failed_step_leaves_nothing_behind), cmocka_unit_test(a_failed_step_leaves_the_reactions_of_the_last_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

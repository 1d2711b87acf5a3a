// test_endings.c: what ends a run before its end: a request to stop, seen inside a step; steps that are absurd; forces
// that jump and inertia that vanishes, each named.
#include "model_text.h"
#include "sim/sim.h"
#include <carom/run.h>

typedef struct fuse { long left; } fuse;
static bool burnt(const void *user) {
    fuse *f = (fuse *)user;
    return f->left > 0 && --f->left == 0;
}

// A single long step is stopped in the middle; the simulation stands where it was, and goes on as if nothing had
// happened.
static void a_long_step_can_be_stopped(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *option;
    } run[] = {{"auto", "max-step=1e-3"},
               {"mixed", NULL},
               {"event-driven", "max-step=1e-3"},
               {"splitting", "adaptive=on"},
               {"moreau-jean", "adaptive=on"},
               {"half-explicit", NULL},
               {"newmark", NULL}};
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 1, rate: 0}, y: {at: 2, rate: 1}}\nenergy: {kinetic: (x'^2 "
                          "+ y'^2)/2, potential: 10*x + 10*y + (x - y)^2}\n"
                          "contacts: {a: {gap: x, restitution: 0.7}, b: {gap: y - x + 2, restitution: 0.9}}\n");
    for (int i = 0; i < 7; ++i) {
        const char *const options[] = {run[i].option, NULL};
        const double h = i < 3 ? 1 : 0.05;
        carom_sim *whole = model_sim(m, run[i].scheme, options, h, 2),
                  *sim = model_sim(m, run[i].scheme, options, h, 2);
        model_sim_run(whole);
        carom_error err = {0};
        fuse f = {0};
        int stops = 0;
        carom_sim_stop_when(sim, burnt, &f);
        for (long after = 3; !carom_sim_done(sim); after = after * 2 + 1) {
            f.left = after;
            const carom_status status = carom_sim_run(sim, NULL, NULL, &err);
            stops += status == CAROM_STOPPED;
            if (status != CAROM_OK && status != CAROM_STOPPED) fail_msg("%s: %s", run[i].scheme, err.text);
        }
        assert_true(stops > 2);
        carom_ledger a, b;
        assert_int_equal(carom_sim_ledger(whole, &a, &err), CAROM_OK);
        assert_int_equal(carom_sim_ledger(sim, &b, &err), CAROM_OK);
        const carom_now x = carom_sim_now(whole), y = carom_sim_now(sim);
        for (int k = 0; k < 2; ++k)
            if (x.q[k] != y.q[k] || x.v[k] != y.v[k])
                fail_msg("%s: stopping changed the run: %.17g, %.17g", run[i].scheme, x.q[k], y.q[k]);
        assert_int_equal(a.impacts, b.impacts);
        assert_true(a.energy.impact == b.energy.impact);
        carom_sim_destroy(whole);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

static void absurd_steps_are_refused(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 1, rate: 0}}\nenergy: {kinetic: x'^2/2, potential: "
                          "10*x}\ncontacts: {a: {gap: x}}\n");
    static const char *const scheme[] = {"auto", "event-driven"};
    for (int i = 0; i < 2; ++i) {
        carom_error err = {0};
        carom_sim_def d = sim_def(m, scheme[i], (const char *const[]){"max-step=1e-14", NULL}, 0.01, 1);
        assert_null(carom_sim_create(&d, &err));
        assert_int_equal(err.code, CAROM_BAD_INPUT);
        assert_non_null(strstr(err.text, "max-step=1e-14"));
        d.options = (const char *const[]){"max-step=1e-5", NULL};
        carom_sim *sim = carom_sim_create(&d, &err);
        assert_non_null(sim);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Coulomb friction of 3 N, or between two masses, written as a force: an implicit scheme has no answer where the slip
// ends.  The error says which force it is, and what to write instead; as friction of a contact with `normal force` the
// same motion sticks at x = (-3 + sqrt(13))/4 (1/2 = 3 x + 2 x^2), where 4 x < 3, with all of them.  A stiff model that
// fails by its step alone is not called rough.
static void friction_written_as_a_force_is_named(void **state) {
    (void)state;
    static const char *const rough[] = {
        "carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2, potential: 2*x^2}\nforces: {x: "
        "-3*sign(x')}\n",
        "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0, rate: 0.5}}\nenergy: {kinetic: 1/2*x'^2 + 1/2*y'^2, "
        "potential: 2*x^2}\nforces: {x: -3*sign(x' - y'), y: 3*sign(x' - y')}\n"};
    static const char *const schemes[] = {"moreau-jean", "moreau-dissipative", "ggl-alpha", "ggl-midpoint", "newmark",
                                          "hht",         "generalized-alpha",  "dg-plus"};
    for (int i = 0; i < 8; ++i) {
        carom_error err = {0};
        for (int k = 0; k < 2; ++k) {
            carom_model *m = good(rough[k]);
            carom_sim *sim = model_sim(m, schemes[i], NULL, 1e-3, 1);
            assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_NOT_CONVERGED);
            if (!strstr(err.text, "jumps with the rate of") || !strstr(err.text, "`normal force`"))
                fail_msg("%s, %d: %s", schemes[i], k, err.text);
            carom_sim_destroy(sim), carom_model_destroy(m);
        }
        carom_model *m = good("carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2, potential: "
                              "2*x^2}\ncontacts: {brake: {slip: x, normal force: 3, friction: 1}}\n");
        carom_sim *sim = model_sim(m, schemes[i], NULL, 1e-3, 1);
        assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
        // a step before it sticks it is slower than 4.2 h, and moves by less than h times that
        assert_close(carom_sim_now(sim).q[0], (sqrt(13) - 3) / 4, 1e-5);
        carom_sim_destroy(sim), carom_model_destroy(m);
        m = good("carom: 1\ncoordinates: {x: {at: 1, rate: 1}}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: "
                 "-1e3*x'^3*exp(20*x'^2)}\n");
        sim = model_sim(m, schemes[i], NULL, 10, 100);
        const carom_status status = carom_sim_run(sim, NULL, NULL, &err);
        if (status != CAROM_OK && strstr(err.text, "jumps with")) fail_msg("%s: %s", schemes[i], err.text);
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
}

// Friction of 3 N that is written as a force stops 1 kg after 1/3 s, at 1/6 m, and holds it there.  A rate that is as
// large is followed to the end where the force has a width.
static void a_force_that_jumps_is_no_toil(void **state) {
    (void)state;
    QUICK_SKIPS();
    carom_error err = {0};
    carom_model *m =
        good("carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: -3*sign(x')}\n");
    carom_sim *sim = model_sim(m, "auto", NULL, 0.01, 100);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    if (!(fabs(carom_sim_now(sim).q[0] - 1. / 6) <= 1e-6)) fail_msg("x = %.12g", carom_sim_now(sim).q[0]);
    carom_sim_destroy(sim), carom_model_destroy(m);
    m = good(
        "carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: -3*tanh(1e3*x')}\n");
    sim = model_sim(m, "auto", NULL, 0.01, 1);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    carom_sim_destroy(sim), carom_model_destroy(m);
}

// 1/2 x x'^2 is constant: x = (1 - 3/2 t)^(2/3) is 0 at t = 2/3.  1/2 (0.5 - t) x'^2: at t = 1/2.  Every scheme ends
// there, with the sentence, whatever fails first.
static void vanishing_inertia_is_named(void **state) {
    (void)state;
    static const struct {
        const char *mass;
        double t;
    } cases[] = {{"x", 2.0 / 3}, {"(0.5 - t)", 0.5}, {"(x - 0.5)", 1.0 / 3}};
    for (int k = 0; k < 3; ++k) {
        char text[200];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 1, rate: -1}}\nenergy: {kinetic: \"1/2*%s*x'^2\"}\n", cases[k].mass);
        carom_model *m = good(text);
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
            carom_error err = {0};
            carom_sim *sim = model_sim(
                m, (*s)->name,
                strcmp((*s)->name, "event-driven") == 0 ? (const char *const[]){"most-steps=1000", NULL} : NULL, 0.01,
                1);
            if (carom_sim_run(sim, NULL, NULL, &err) == CAROM_OK)
                fail_msg("%s, %s: to the end", (*s)->name, cases[k].mass);
            if (!strstr(err.text, "the mass matrix is not positive definite at coordinate 1"))
                fail_msg("%s, %s: %s", (*s)->name, cases[k].mass, err.text);
            assert_true(fabs(carom_sim_now(sim).t - cases[k].t) < 0.03);
            carom_sim_destroy(sim);
        }
        carom_model_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_step_can_be_stopped),
        cmocka_unit_test(absurd_steps_are_refused),
        cmocka_unit_test(friction_written_as_a_force_is_named),
        cmocka_unit_test(a_force_that_jumps_is_no_toil),
        cmocka_unit_test(vanishing_inertia_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

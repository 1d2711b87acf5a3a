// test_splitting.c: `splitting` with constant and adaptive steps, with and without contact forces.
#include "model_text.h"
#include "schemes.h"

static double ball_exact(double t) { return known_ball_a_exact(t, NULL); }
static double oscillator_exact(double t) { return known_oscillator_exact(t, 0.5, NULL); }

// L1 error in q over [0, T].
static double error_of(const known *k, const char *const *options, double T, int n, double (*exact)(double)) {
    carom_sim *sim = sim_of(k, "splitting", options, T / n, T);
    double sum = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        sum += fabs(now.q[0] - exact(now.t)) * T / n;
    }
    carom_sim_destroy(sim);
    return sum;
}

static void constant_steps_are_of_first_order_across_impacts(void **state) {
    (void)state;
    static const char *const forces[] = {"forces=on", "forces=off"};
    known ball, oscillator;
    known_ball_a(&ball);
    known_oscillator(&oscillator, 0.5);
    for (int i = 0; i < 2; ++i) {
        enum { SIZES = 9, PHASES = 7 };
        double h[SIZES], e_ball[SIZES] = {0}, e_oscillator[SIZES] = {0};
        const char *const options[] = {forces[i], NULL};
        for (int j = 0; j < SIZES; ++j) {
            const int n = (int)(211 * pow(1.35, j));
            h[j] = 1.0 / n;
            for (int m = 0; m < PHASES; ++m) { // where in its step an impact falls decides much of the error
                const int steps = n + m * (n / 50) + m % 2;
                e_ball[j] += error_of(&ball, options, 4, steps, ball_exact) / PHASES;
                e_oscillator[j] += error_of(&oscillator, options, 10, 2 * steps + 1, oscillator_exact) / PHASES;
            }
        }
        const double ball_order = slope(h, e_ball, SIZES), oscillator_order = slope(h, e_oscillator, SIZES);
        print_message("    %s: ball %.2f, oscillator %.2f\n", forces[i], ball_order, oscillator_order);
        check_near(ball_order, 1, 0.15);
        check_near(oscillator_order, 1, 0.15);
    }
}

static long asked;
static carom_status (*force_of_ball)(const void *model, void *work, double t, const double *q, const double *v,
                                     double *f);

static carom_status asked_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    ++asked;
    return force_of_ball(model, work, t, q, v, f);
}

// Evaluations of the forces in n steps, behind the first two.
static long forces_asked(const char *scheme, double height, double h, int n) {
    known ball;
    known_ball(&ball, 1, -2, 0.5, height);
    force_of_ball = ball.sys.force;
    ball.sys.force = asked_force;
    carom_sim *sim = sim_of(&ball, scheme, NULL, h, (n + 2) * h);
    for (int i = 0; i < n + 2; ++i) {
        if (i == 2) asked = 0;
        sim_step(sim);
    }
    carom_sim_destroy(sim);
    return asked;
}

// In flight a step asks for the forces of its stages, 6 of Fehlberg's method and 4 of the classical one, and for no
// others.  At rest reactions also belong to the end of the step, where the next one begins: they are watched there, and
// recorded.  Records inside a segment of `auto` ask for none.
static void a_step_asks_for_the_forces_of_its_stages_alone(void **state) {
    (void)state;
    enum { N = 20 };
    const double h = 1. / 1024; // times are exact
    assert_int_equal(forces_asked("splitting", 1, h, N), 6 * N);
    assert_int_equal(forces_asked("mixed", 1, h, N), 4 * N);
    assert_int_equal(forces_asked("mixed", 0, h, N), 5 * N);
    assert_int_equal(forces_asked("auto", 1, 1e-6, N), 0);
}

static long again;
static double asked_at[8];
static carom_status (*directions_of)(const void *model, void *work, double t, const double *q, carom_local *L);

static carom_status asked_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    const size_t size = (size_t)L->W.rows * sizeof *q;
    again += t == asked_at[7] && memcmp(q, asked_at, size) == 0;
    memcpy(asked_at, q, size);
    asked_at[7] = t;
    return directions_of(model, work, t, q, L);
}

// Positions and velocities are put on the joints and reactions are recorded at one point, the end of a step, where the
// next one begins: its directions are asked for once.
static void directions_of_joints_are_asked_for_once_at_a_point(void **state) {
    (void)state;
    static const char *const scheme[] = {"splitting", "mixed"};
    for (int i = 0; i < 2; ++i) {
        known k;
        known_pendulum_free(&k);
        assert_true(k.sys.nq == k.sys.nv && k.sys.nq < 8);
        directions_of = k.sys.directions;
        k.sys.directions = asked_directions;
        carom_sim *sim = sim_of(&k, scheme[i], NULL, 1. / 1024, 22. / 1024);
        for (int n = 0; n < 22; ++n) {
            if (n == 2) again = 0;
            sim_step(sim);
        }
        assert_int_equal(again, 0);
        carom_sim_destroy(sim);
    }
}

// Smooth motion: order 5, here against steps 16 times as small, with joints too (the pendulum's two).
static void smooth_motion_is_of_fifth_order(void **state) {
    (void)state;
    for (int joints = 0; joints < 2; ++joints) {
        known k;
        if (joints) known_pendulum_free(&k);
        else known_double_pendulum(&k);
        double q[KNOWN_MOST] = {0}, h[4], error[4];
        for (int j = 4; j >= 0; --j) {
            const int n = j == 4 ? 640 : 5 << j;
            carom_sim *sim = sim_of(&k, "splitting", NULL, 0.4 / n, 0.4);
            while (!carom_sim_done(sim)) sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            if (j == 4) carom_copy(q, now.q, k.sys.nq);
            else {
                h[j] = 0.4 / n;
                error[j] = 0;
                for (int i = 0; i < k.sys.nq; ++i) error[j] = fmax(error[j], fabs(now.q[i] - q[i]));
            }
            assert_true(sim_ledger(sim).drift < 1e-14);
            carom_sim_destroy(sim);
        }
        print_message("    %s: measured %.2f (error %.1e)\n", joints ? "joints" : "no joints", slope(h, error, 4),
                      error[3]);
        assert_true(slope(h, error, 4) >= 4.7);
    }
}

// Without contact forces the velocity of a resting body is renewed each step: v_f = v - h |f|, v = e |v_f|, so v = e h
// |f|/(1 + e) and it moves by h (v - h |f|/2): it sinks with h |f| (1/2 - e/(1 + e)) for e < 1.  With forces it does
// not move.
static void resting_body_sinks_without_forces_only(void **state) {
    (void)state;
    for (int i = 0; i < 3; ++i) {
        const double e = 0.4 * i, h = 1e-3;
        known k;
        known_ball(&k, 1, -2, e, 0);
        carom_sim *off = sim_of(&k, "splitting", (const char *const[]){"forces=off", NULL}, h, 2);
        carom_sim *on = sim_of(&k, "splitting", NULL, h, 2);
        while (!carom_sim_done(off)) sim_step(off), sim_step(on);
        const double q = carom_sim_now(off).q[0];
        // the cycle is reached geometrically, within h |f| e^n
        check_near(q, -2 * 2 * h * (0.5 - e / (1 + e)), 4 * h * h / (1 - e));
        check_near(carom_sim_now(off).v[0], 2 * h * e / (1 + e), 1e-12);
        check_near(carom_sim_now(on).q[0], 0, 1e-15);
        check_near(carom_sim_now(on).force[0], 2, 1e-12);
        carom_sim_destroy(off);
        carom_sim_destroy(on);
    }
}

// -- adaptive --------------------------------------------------------------------------------------------------------

static long evaluations; // of the force below; one simulation at a time

static carom_status counted_force(const void *model, void *work, double t, const double *q, const double *v,
                                  double *f) {
    (void)model, (void)work, (void)t, (void)v;
    evaluations += 1;
    f[0] = -q[0];
    return CAROM_OK;
}

typedef struct tolerance {
    double tol;
    char rtol[24], atol[24];
    const char *options[4];
} tolerance;

static const char *const *tolerate(tolerance *o, double tol) {
    snprintf(o->rtol, sizeof o->rtol, "rtol=%g", tol);
    snprintf(o->atol, sizeof o->atol, "atol=%g", tol);
    o->options[0] = "adaptive=on", o->options[1] = o->rtol, o->options[2] = o->atol, o->options[3] = NULL;
    return o->options;
}

// references-B 4: oscillator over [0, 10], accepted + rejected parts and L1 error.  An attempt costs 6 evaluations, an
// event and the end some more.  One step for the whole run; errors are seen by runs to several ends.
static void oscillator_meets_the_reference_of_adaptive_splitting(void **state) {
    (void)state;
    static const struct {
        double tol;
        int parts;
        double error;
    } reference[] = {
        {1e-4, 31 + 9, 8.9e-4}, {1e-6, 59 + 13, 1.2e-5}, {1e-8, 127 + 29, 1.1e-7}, {1e-10, 276 + 38, 1.1e-9}};
    known k;
    known_oscillator(&k, 0.5);
    k.sys.force = counted_force;
    for (int i = 0; i < 4; ++i) {
        tolerance o;
        tolerate(&o, reference[i].tol);
        double error = 0;
        for (int j = 1; j <= 40; ++j) {
            const double T = 0.25 * j;
            carom_sim *sim = sim_of(&k, "splitting", o.options, T, T);
            evaluations = 0;
            sim_step(sim);
            error += 0.25 * fabs(carom_sim_now(sim).q[0] - oscillator_exact(T));
            carom_sim_destroy(sim);
        }
        print_message("    tol %g: %ld evaluations (%ld attempts; %d), L1 error %.1e (%.1e)\n", reference[i].tol,
                      evaluations, evaluations / 6, reference[i].parts, error, reference[i].error);
        assert_true(evaluations / 6 <= 1.25 * reference[i].parts);
        assert_true(error <= 2 * reference[i].error);
        assert_true(error >= 0.01 * reference[i].tol); // it does not do more than it was asked for
    }
}

static void adaptive_error_follows_the_tolerance_on_the_ball(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    for (double tol = 1e-4; tol > 1e-10; tol /= 100) {
        tolerance o;
        carom_sim *sim = sim_of(&k, "splitting", tolerate(&o, tol), 0.1, 4);
        double error = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            error += 0.1 * fabs(carom_sim_now(sim).q[0] - ball_exact(carom_sim_now(sim).t));
        }
        // References: ten times the tolerance.  Penetration is allowed once per contact phase.
        assert_true(error <= 10 * tol);
        assert_true(sim_ledger(sim).penetration <= tol);
        check_near(carom_sim_now(sim).v[0], 0, 1e-12);
        check_near(carom_sim_now(sim).force[0], 2, 1e-12);
        carom_sim_destroy(sim);
    }
}

// However the run is divided into steps, the tolerance decides.
static void steps_are_only_intervals_between_records(void **state) {
    (void)state;
    known k;
    known_oscillator(&k, 0.5);
    tolerance o;
    tolerate(&o, 1e-8);
    for (int n = 1; n < 2000; n *= 7) {
        carom_sim *sim = sim_of(&k, "splitting", o.options, 10.0 / n, 10);
        while (!carom_sim_done(sim)) sim_step(sim);
        check_near(carom_sim_now(sim).q[0], oscillator_exact(10), 1e-6);
        check_near(sim_energy(sim), 0.5 * pow(0.25, 3), 1e-6);
        check_near(sim_ledger(sim).energy.balance, 0, 1e-6);
        carom_sim_destroy(sim);
    }
}

static void slider_crank_follows_the_tolerance(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0, true);
    double last = 1;
    for (double tol = 1e-5; tol > 5e-10; tol /= 100) {
        tolerance o;
        carom_sim *sim = sim_of(&k, "splitting", tolerate(&o, tol), 1e-3, 0.05);
        while (!carom_sim_done(sim)) sim_step(sim);
        const double error = fabs(carom_sim_now(sim).q[0] - 4.7991045090043); // references-A 1.2
        print_message("    tol %g: error %.1e\n", tol, error);
        assert_true(error < 0.1 * last);
        last = error;
        carom_sim_destroy(sim);
    }
}

static void tolerances_that_cannot_be_met_are_told(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    carom_error err;
    carom_sim *sim = sim_of(&k, "splitting", (const char *const[]){"adaptive=on", "most-steps=2", NULL}, 4, 4);
    assert_int_equal(carom_sim_step(sim, &err), CAROM_NOT_CONVERGED);
    assert_non_null(strstr(err.text, "more than 2 parts in one step"));
    check_near(carom_sim_now(sim).q[0], 1, 0);
    carom_sim_destroy(sim);
}

// Slip that ends inside a step: 6 m/s against 5 m/s^2 stops after 1.2 s and 3.6 m; on a spring (unit mass and
// stiffness, friction 1, from 3.5) it turns at x = -1.5 after pi and stays at x = -0.5 after another pi.
static void slip_stops(void **state) {
    (void)state;
    static const double steps[] = {2, 1, 0.7, 0.1};
    static const char *const options[][2] = {{"adaptive=off", NULL}, {"adaptive=on", NULL}};
    carom_model *slides = good("carom: 1\ncoordinates: {q: 0, x: {at: 0, rate: 6}}\nenergy: {kinetic: (q'^2 + x'^2)/2, "
                               "potential: 10*q}\ncontacts: {g: {gap: q, slip: x, friction: 0.5}}\n");
    carom_model *spring = good("carom: 1\ncoordinates: {q: 0, x: 3.5}\nenergy: {kinetic: (q'^2 + x'^2)/2, potential: "
                               "10*q + x^2/2}\ncontacts: {g: {gap: q, slip: x, friction: 0.1}}\n");
    for (int i = 0; i < 8; ++i) {
        carom_sim *sim = model_sim(slides, "splitting", options[i % 2], steps[i / 2], 2);
        model_sim_run(sim);
        const carom_ledger l = sim_ledger(sim);
        assert_close(carom_sim_now(sim).q[1], 3.6, 1e-12);
        assert_true(carom_sim_now(sim).v[1] == 0);
        assert_close(l.energy.friction, 18, 1e-11);
        assert_close(l.energy.balance, 0, 1e-11);
        carom_sim_destroy(sim);
    }
    double error[2];
    for (int i = 0; i < 2; ++i) {
        carom_sim *sim = model_sim(spring, "splitting", NULL, i ? 0.05 : 0.2, 10);
        model_sim_run(sim);
        error[i] = fabs(carom_sim_now(sim).q[1] + 0.5);
        assert_true(carom_sim_now(sim).v[1] == 0);
        carom_sim_destroy(sim);
    }
    if (!(error[0] < 1e-4 && error[1] < 1e-7)) fail_msg("%g %g", error[0], error[1]);
    carom_model_destroy(slides);
    carom_model_destroy(spring);
}

// A block of 3 kg stands on a rough floor (weight 30 N, friction 0.5) until 1 kg with 2 m/s hits it from the side.
// Without restitution both go on with 0.5 m/s: the impact takes 1.5 J.  The floor has no impulse to stop the block
// with; its 15 N brake both by 3.75 m/s^2, over 1/30 m and 0.5 J.
static void an_impact_moves_a_body_that_stood(void **state) {
    (void)state;
    static const double steps[] = {0.1, 0.03, 1e-3};
    static const char *const options[][2] = {{"adaptive=off", NULL}, {"adaptive=on", NULL}};
    carom_model *m = good("carom: 1\ncoordinates: {y: 0, x: 0, z: {at: -0.5, rate: 2}}\nenergy: {kinetic: (3*x'^2 + "
                          "3*y'^2 + z'^2)/2, potential: 30*y}\n"
                          "contacts: {rest: {gap: y, slip: x, friction: 0.5}, hit: {gap: x - z}}\n");
    for (int i = 0; i < 6; ++i) {
        carom_sim *sim = model_sim(m, "splitting", options[i % 2], steps[i / 2], 0.6);
        model_sim_run(sim);
        const carom_ledger l = sim_ledger(sim);
        assert_close(carom_sim_now(sim).q[1], 1. / 30, 1e-12);
        assert_close(l.energy.impact, 1.5, 1e-12);
        assert_close(l.energy.friction, 0.5, 1e-12);
        assert_close(l.energy.balance, 0, 1e-12);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slip_stops),
        cmocka_unit_test(an_impact_moves_a_body_that_stood),
        cmocka_unit_test(constant_steps_are_of_first_order_across_impacts),
        cmocka_unit_test(a_step_asks_for_the_forces_of_its_stages_alone),
        cmocka_unit_test(directions_of_joints_are_asked_for_once_at_a_point),
        cmocka_unit_test(smooth_motion_is_of_fifth_order),
        cmocka_unit_test(resting_body_sinks_without_forces_only),
        cmocka_unit_test(oscillator_meets_the_reference_of_adaptive_splitting),
        cmocka_unit_test(adaptive_error_follows_the_tolerance_on_the_ball),
        cmocka_unit_test(steps_are_only_intervals_between_records),
        cmocka_unit_test(slider_crank_follows_the_tolerance),
        cmocka_unit_test(tolerances_that_cannot_be_met_are_told),
    };
    return cmocka_run_group_tests_name("splitting", tests, NULL, NULL);
}

// test_trajectory.c: a motion between its nodes, and on either side of a jump.
#include "study/trajectory.h"
#include <carom/study.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
// cmocka wants the above first
#include <cmocka.h>

static double next(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

static carom_trajectory fresh(int n, long room) {
    carom_trajectory tr;
    carom_error err = {0};
    assert_int_equal(carom_trajectory_create(&tr, n, room, &err), CAROM_OK);
    return tr;
}

static void add(carom_trajectory *tr, double t, double q, double v, double jump) {
    carom_trajectory_add(tr, t, &q, &v, jump);
}

static void at(const carom_trajectory *tr, double t, carom_side side, double *q, double *v) {
    long hint = 0;
    carom_trajectory_at(tr, t, side, &hint, q, v);
}

static void assert_near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g and %.17g differ by more than %g", a, b, tolerance);
}

static void cubics_are_reproduced(void **state) {
    (void)state;
    carom_trajectory tr = fresh(2, 5);
    for (int k = 0; k < 5; ++k) {
        const double t = 0.3 * k * k, q[] = {1 + t * (2 - t * (3 - 0.5 * t)), -t}, v[] = {2 - t * (6 - 1.5 * t), -1};
        carom_trajectory_add(&tr, t, q, v, NAN);
    }
    for (double t = 0; t <= 4.8; t += 0.01) {
        double q[2], v[2];
        long hint = 0;
        carom_trajectory_at(&tr, t, CAROM_RIGHT, &hint, q, v);
        assert_near(q[0], 1 + t * (2 - t * (3 - 0.5 * t)), 1e-12);
        assert_near(v[0], 2 - t * (6 - 1.5 * t), 1e-12);
        assert_near(q[1], -t, 1e-13);
        assert_near(v[1], -1, 1e-13);
    }
    carom_trajectory_destroy(&tr);
}

// The error of a Hermite cubic is at most h^4/384 max q'''', that of its slope sqrt(3)/216 h^3 max q''''.
static void smooth_motion_is_met_to_order_four(void **state) {
    (void)state;
    for (int n = 8; n <= 64; n *= 2) {
        carom_trajectory tr = fresh(1, n + 1);
        const double h = 3.0 / n;
        for (int k = 0; k <= n; ++k) add(&tr, k * h, sin(k * h), cos(k * h), NAN);
        for (double t = 0; t < 3; t += 0.00917) {
            double q, v;
            at(&tr, t, CAROM_LEFT, &q, &v);
            assert_near(q, sin(t), pow(h, 4) / 384 + 1e-15);
            assert_near(v, cos(t), sqrt(3) / 216 * pow(h, 3) + 1e-14);
        }
        carom_trajectory_destroy(&tr);
    }
}

static void nodes_are_returned_as_they_are_also_when_times_are_rounded(void **state) {
    (void)state;
    carom_trajectory tr = fresh(1, 1001);
    for (int k = 0; k <= 1000; ++k) add(&tr, k * 1e-3, sin(k), 1e3 * k, k % 3 ? NAN : k * 1e-3);
    for (int k = 0; k <= 1000; ++k) {
        double q, v;
        at(&tr, k * 1e-3 * (1 + 3e-16), CAROM_RIGHT, &q, &v);
        assert_true(q == sin(k) && v == 1e3 * k);
        at(&tr, k / 1000.0 * (1 - 3e-16), CAROM_RIGHT, &q, &v);
        assert_true(q == sin(k) && v == 1e3 * k);
    }
    carom_trajectory_destroy(&tr);
}

// A step of a time-stepping scheme with an impulse.  Nothing is known of the velocity before it, whatever the scheme
// moved with: no velocity outside of v_0 .. v_1 appears.
static void a_jump_somewhere_has_no_left_limit(void **state) {
    (void)state;
    const double h = 0.1, q_0 = 0.3, v_0 = -2, v_1 = 1;
    for (int i = 0; i <= 2; ++i) {
        const double theta = 0.5 * i, q_1 = q_0 + h * ((1 - theta) * v_0 + theta * v_1);
        carom_trajectory tr = fresh(1, 2);
        double q, v;
        add(&tr, 0, q_0, v_0, NAN);
        add(&tr, h, q_1, v_1, INFINITY);
        for (double t = 0; t <= h; t += h / 8) {
            at(&tr, t, t < h / 2 ? CAROM_LEFT : CAROM_RIGHT, &q, &v);
            assert_near(v, v_0 + t / h * (v_1 - v_0), 1e-14);
            // theta = 1/2: the motion with this velocity; else what it lacks is spread evenly.
            assert_near(q, q_0 + t * (v_0 + 0.5 * t / h * (v_1 - v_0)) + t * (theta - 0.5) * (v_1 - v_0), 1e-15);
        }
        at(&tr, h, CAROM_LEFT, &q, &v);
        assert_true(q == q_1 && v == v_1);
        carom_trajectory_destroy(&tr);
    }
}

// Both sides of a bounce at 0.4: velocities -1 - t and 0.6.
static void double_nodes_are_the_two_sides_of_a_jump(void **state) {
    (void)state;
    carom_trajectory tr = fresh(1, 4);
    add(&tr, 0, 0.48, -1, NAN);
    add(&tr, 0.4, 0, -1.4, NAN);
    add(&tr, 0.4, 0, 0.6, NAN);
    double q, v;
    for (int end = 0; end < 2; ++end) { // the last nodes, then no longer
        at(&tr, 0.4, CAROM_LEFT, &q, &v);
        assert_true(q == 0 && v == -1.4);
        at(&tr, 0.4, CAROM_RIGHT, &q, &v);
        assert_true(q == 0 && v == 0.6);
        at(&tr, 0.3, CAROM_RIGHT, &q, &v);
        assert_near(q, 0.48 - 0.3 - 0.045, 1e-15);
        assert_near(v, -1.3, 1e-14);
        if (!end) add(&tr, 1, 0.36, 0.6, NAN);
    }
    at(&tr, 0.5, CAROM_LEFT, &q, &v);
    assert_near(q, 0.06, 1e-15);
    carom_trajectory_destroy(&tr);
}

static void a_bounce_between_nodes_is_met(void **state) {
    (void)state;
    carom_trajectory tr = fresh(1, 2);
    const double s = 0.37; // |t - s| in two straight pieces, rates -1 and 0.6
    add(&tr, 0, s, -1, NAN);
    add(&tr, 1, 0.6 * (1 - s), 0.6, s);
    for (double t = 0; t <= 1; t += 0.01) {
        double q, v;
        at(&tr, t, CAROM_RIGHT, &q, &v);
        assert_near(q, t < s ? s - t : 0.6 * (t - s), 1e-14);
        assert_near(v, t < s ? -1 : 0.6, 1e-14);
    }
    double q, v, p, w;
    at(&tr, s, CAROM_LEFT, &q, &v);
    at(&tr, s, CAROM_RIGHT, &p, &w);
    assert_near(v, -1, 1e-14);
    assert_near(w, 0.6, 1e-14);
    assert_near(q, p, 1e-15);
    carom_trajectory_destroy(&tr);
}

// Nothing says how a motion with a jump is curved; the two pieces still meet.
static void positions_are_continuous_at_every_jump(void **state) {
    (void)state;
    unsigned seed = 2;
    for (int trial = 0; trial < 200; ++trial) {
        carom_trajectory tr = fresh(1, 2);
        const double s = 0.5 * (1 + next(&seed)) * 0.98 + 0.01;
        double x[4];
        for (int i = 0; i < 4; ++i) x[i] = next(&seed);
        add(&tr, 0, x[0], x[1], NAN);
        add(&tr, 1, x[2], x[3], s);
        double q, v, p, w;
        at(&tr, s, CAROM_LEFT, &q, &v);
        at(&tr, s, CAROM_RIGHT, &p, &w);
        assert_near(q, p, 1e-13);
        carom_trajectory_destroy(&tr);
    }
}

static void without_rates_lines_are_straight(void **state) {
    (void)state;
    carom_trajectory tr = fresh(1, 3);
    add(&tr, 0, 1, NAN, NAN);
    add(&tr, 2, 5, NAN, 1);
    add(&tr, 3, 4, NAN, NAN);
    double q, v;
    at(&tr, 0.5, CAROM_RIGHT, &q, &v);
    assert_near(q, 2, 1e-15);
    assert_near(v, 2, 1e-15);
    at(&tr, 2.5, CAROM_RIGHT, &q, &v);
    assert_near(q, 4.5, 1e-15);
    carom_trajectory_destroy(&tr);
}

static void the_hint_changes_nothing_and_times_outside_are_clipped(void **state) {
    (void)state;
    enum { N = 500 };
    carom_trajectory tr = fresh(1, N);
    unsigned seed = 9;
    for (int k = 0; k < N; ++k) {
        const double t = k + 0.3 * next(&seed), q = next(&seed), v = next(&seed);
        add(&tr, t, q, v, NAN);
    }
    for (int i = 0; i < 2000; ++i) {
        const double t = 0.5 * N * (1 + next(&seed));
        double q, v, p, w;
        long hint = (long)(N * next(&seed));
        at(&tr, t, CAROM_RIGHT, &q, &v);
        carom_trajectory_at(&tr, t, CAROM_RIGHT, &hint, &p, &w);
        assert_true(q == p && v == w);
    }
    double q, v;
    at(&tr, -10, CAROM_RIGHT, &q, &v);
    assert_true(q == tr.q[0]);
    at(&tr, 2 * N, CAROM_RIGHT, &q, &v);
    assert_true(q == tr.q[N - 1]);
    carom_trajectory_destroy(&tr);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cubics_are_reproduced),
        cmocka_unit_test(smooth_motion_is_met_to_order_four),
        cmocka_unit_test(nodes_are_returned_as_they_are_also_when_times_are_rounded),
        cmocka_unit_test(a_jump_somewhere_has_no_left_limit),
        cmocka_unit_test(double_nodes_are_the_two_sides_of_a_jump),
        cmocka_unit_test(a_bounce_between_nodes_is_met),
        cmocka_unit_test(positions_are_continuous_at_every_jump),
        cmocka_unit_test(without_rates_lines_are_straight),
        cmocka_unit_test(the_hint_changes_nothing_and_times_outside_are_clipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_hausdorff.c: distance of graphs that jump.
#include "study/norm.h"
#include <carom/study.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
// cmocka wants the above first
#include <cmocka.h>

static double next(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

static double distance(const carom_polyline *f, const carom_polyline *g) {
    double d = -1;
    carom_error err = {0};
    if (carom_hausdorff(f, g, &d, &err) != CAROM_OK) fail_msg("%s", err.text);
    return d;
}

static void assert_within(double x, double low, double high) {
    if (!(x >= low && x <= high)) fail_msg("%.17g is not between %.17g and %.17g", x, low, high);
}

// 0 before `at`, `height` behind it, on [0, 2].
#define STEP(name, at, height)                                                                     \
    double name##_t[] = {0, at, at, 2}, name##_x[] = {0, 0, height, height};                       \
    const carom_polyline name = {4, name##_t, name##_x}

static void a_step_that_comes_later_is_as_far_as_it_is_late(void **state) {
    (void)state;
    STEP(f, 1, 1);
    STEP(g, 1.1, 1);
    assert_within(distance(&f, &g), 0.1 - 1e-12, 0.1 + 1e-12);
    assert_within(distance(&g, &f), 0.1 - 1e-12, 0.1 + 1e-12);
}

static void a_higher_jump_is_as_far_as_it_is_higher(void **state) {
    (void)state;
    STEP(f, 1, 1);
    STEP(g, 1, 1.3);
    assert_within(distance(&f, &g), 0.3 - 1e-12, 0.3 + 1e-12);
}

static void a_jump_and_a_steep_ramp_are_near(void **state) {
    (void)state;
    STEP(f, 1, 1);
    double t[] = {0, 1, 1.01, 2}, x[] = {0, 0, 1, 1};
    const carom_polyline g = {4, t, x};
    // Farthest is the top of the jump, (1, 1): from (1.01 - 0.01 d, 1 - d) on the ramp it is d when 0.01 - 0.01 d = d.
    const double d = 0.01 / 1.01;
    assert_within(distance(&f, &g), d - 1e-12, d + 1e-12);
}

static void a_graph_is_at_distance_zero_from_itself(void **state) {
    (void)state;
    enum { N = 300 };
    double t[N], x[N];
    unsigned seed = 1;
    for (int i = 0; i < N; ++i) {
        t[i] = i == 0 ? 0 : t[i - 1] + (i % 7 ? 0.01 * (1 + next(&seed)) : 0);
        x[i] = next(&seed);
    }
    const carom_polyline f = {N, t, x};
    assert_within(distance(&f, &f), 0, 1e-14);
}

// -- against brute force ----------------------------------------------------------------------------------

// Distance of a point from a segment; the larger of two absolute values is convex along it.
static double from_segment(double t, double x, double t_0, double x_0, double t_1, double x_1) {
    double low = 0, high = 1;
    for (int i = 0; i < 60; ++i) {
        const double a = low + (high - low) / 3, b = high - (high - low) / 3;
        const double da = fmax(fabs(t_0 + a * (t_1 - t_0) - t), fabs(x_0 + a * (x_1 - x_0) - x));
        const double db = fmax(fabs(t_0 + b * (t_1 - t_0) - t), fabs(x_0 + b * (x_1 - x_0) - x));
        if (da < db) high = b;
        else low = a;
    }
    return fmax(fabs(t_0 + low * (t_1 - t_0) - t), fabs(x_0 + low * (x_1 - x_0) - x));
}

enum { POINTS = 100 }; // per segment

static double brute(const carom_polyline *f, const carom_polyline *g) {
    double most = 0;
    for (long i = 0; i + 1 < f->n; ++i)
        for (int k = 0; k <= POINTS; ++k) {
            const double s = (double)k / POINTS, t = f->t[i] + s * (f->t[i + 1] - f->t[i]),
                         x = f->x[i] + s * (f->x[i + 1] - f->x[i]);
            double least = INFINITY;
            for (long j = 0; j + 1 < g->n; ++j)
                least = fmin(least, from_segment(t, x, g->t[j], g->x[j], g->t[j + 1], g->x[j + 1]));
            most = fmax(most, least);
        }
    return most;
}

// Sizes of the largest segment in time and in the metric.
static void sizes(const carom_polyline *f, double *time, double *size) {
    for (long i = 0; i + 1 < f->n; ++i) {
        *time = fmax(*time, f->t[i + 1] - f->t[i]);
        *size = fmax(*size, fmax(f->t[i + 1] - f->t[i], fabs(f->x[i + 1] - f->x[i])));
    }
}

static void random_graphs_agree_with_brute_force(void **state) {
    (void)state;
    enum { N = 10 };
    unsigned seed = 7;
    for (int trial = 0; trial < 40; ++trial) {
        double t[2][N], x[2][N], time = 0, size = 0;
        for (int s = 0; s < 2; ++s)
            for (int i = 0; i < N; ++i) {
                t[s][i] = i == 0       ? 0
                          : i == N - 1 ? fmax(2, t[s][i - 1])
                                       : t[s][i - 1] + (next(&seed) > -0.4 ? 0.15 * (1 + next(&seed)) : 0);
                x[s][i] = (trial % 4 + 0.1) * next(&seed);
            }
        const carom_polyline f = {N, t[0], x[0]}, g = {N, t[1], x[1]};
        sizes(&f, &time, &size);
        sizes(&g, &time, &size);
        // Both are lower bounds, the first to 1/32 of a segment's time, the second to half the spacing of its points.
        const double d = distance(&f, &g), b = fmax(brute(&f, &g), brute(&g, &f));
        assert_within(d, b - time / 32 - 1e-9, b + size / (2 * POINTS) + 1e-9);
    }
}

// -- size and soundness -------------------------------------------------------------------------------------

static void many_jumps_take_little_time_and_the_known_distance(void **state) {
    (void)state;
    enum { STEPS = 100000 };
    const double h = 1e-3, late = 2.5e-4;
    double *t = calloc(8 * STEPS, sizeof *t);
    carom_polyline f = {0, t, t + 2 * STEPS}, g = {0, t + 4 * STEPS, t + 6 * STEPS};
    for (int k = 0; k < STEPS; ++k)
        for (int side = 0; side < 2; ++side) { // stairs with steps of height 1, the second set later
            f.t[f.n] = k * h, f.x[f.n++] = k + side;
            g.t[g.n] = k * h + late, g.x[g.n++] = k + side;
        }
    assert_within(distance(&f, &g), late * (1 - 1e-6), late * (1 + 1e-6));
    free(t);
}

static void what_is_not_a_graph_is_refused(void **state) {
    (void)state;
    STEP(f, 1, 1);
    double t[] = {0, 1, 0.5}, x[] = {0, NAN, 1}, d = 0;
    const carom_polyline back = {3, t, x}, empty = {0, t, x}, bad = {2, t, x};
    carom_error err = {0};
    assert_int_equal(carom_hausdorff(&f, &back, &d, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "decrease"));
    assert_int_equal(carom_hausdorff(&empty, &f, &d, &err), CAROM_BAD_INPUT);
    assert_int_equal(carom_hausdorff(&bad, &f, &d, &err), CAROM_OK);
    assert_true(isnan(d));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_that_comes_later_is_as_far_as_it_is_late),
        cmocka_unit_test(a_higher_jump_is_as_far_as_it_is_higher),
        cmocka_unit_test(a_jump_and_a_steep_ramp_are_near),
        cmocka_unit_test(a_graph_is_at_distance_zero_from_itself),
        cmocka_unit_test(random_graphs_agree_with_brute_force),
        cmocka_unit_test(many_jumps_take_little_time_and_the_known_distance),
        cmocka_unit_test(what_is_not_a_graph_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

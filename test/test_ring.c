// test_ring.c: the nearest place of a ring to lines and rings: against a search, and its derivatives against
// differences.
#include "expr/ring.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static double next(unsigned *seed) { // -1 .. 1
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

// The six numbers of a ring of radius a against a line or ring of radius 1 at C along b.
static void numbers(double a, const double *C, const double *b, double *p) {
    p[0] = a * a + C[0] * C[0] + C[1] * C[1] + C[2] * C[2];
    p[1] = 2 * a * C[0], p[2] = 2 * a * C[1];
    p[3] = a * b[0], p[4] = a * b[1];
    p[5] = b[0] * C[0] + b[1] * C[1] + b[2] * C[2];
}

static double square(bool ring, const double *p, double phi) {
    const double c = cos(phi), s = sin(phi), N = p[0] - p[1] * c - p[2] * s, z = p[3] * c + p[4] * s - p[5];
    return ring ? N - 2 * sqrt(fmax(0, N - z * z)) + 1 : N - z * z;
}

static void pose(unsigned *seed, double *a, double *C, double *b) {
    double l = 0;
    *a = 1 + 0.7 * next(seed);
    for (int i = 0; i < 3; ++i) C[i] = 2 * next(seed), b[i] = next(seed), l += b[i] * b[i];
    for (int i = 0; i < 3; ++i) b[i] /= sqrt(l);
}

static void one_of_the_two_is_the_nearest_place(void **state) {
    (void)state;
    unsigned seed = 1;
    for (int k = 0; k < 4000; ++k) {
        double a, C[3], b[3], p[6], least = HUGE_VAL;
        pose(&seed, &a, C, b);
        if (k % 5 == 0) b[2] *= 1e-3 / (1 + fabs(next(&seed))), C[2] *= 0.1; // nearly in one plane
        const double l = sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
        for (int i = 0; i < 3; ++i) b[i] /= l;
        numbers(a, C, b, p);
        const bool ring = k % 2;
        for (int i = 0; i < 2000; ++i) least = fmin(least, square(ring, p, i * 2 * acos(-1.0) / 2000));
        const double one = square(ring, p, carom_ring_nearest(ring, 0, p)),
                     two = square(ring, p, carom_ring_nearest(ring, 1, p));
        assert_true(fmin(one, two) <= least + 1e-12);
        assert_true(fmin(one, two) >= least - 1e-3);
    }
}

// Both ends of a chord, in order along the line; of two rings that overlap like a lens, both corners.
static void chords_and_lenses_have_two(void **state) {
    (void)state;
    double p[6];
    numbers(1, (double[]){0, 0.6, 0.2}, (double[]){1, 0, 0}, p);
    assert_true(fabs(carom_ring_nearest(false, 0, p) - asin(0.6)) < 1e-12);
    assert_true(fabs(carom_ring_nearest(false, 1, p) - (acos(-1.0) - asin(0.6))) < 1e-12);
    numbers(1, (double[]){1.6, 0, 0.1}, (double[]){0, 0, 1}, p);
    assert_true(fabs(carom_ring_nearest(true, 0, p) - acos(0.8)) < 1e-12);
    assert_true(fabs(carom_ring_nearest(true, 1, p) - (2 * acos(-1.0) - acos(0.8))) < 1e-12);
}

// Lines along the axis and rings round it are as near everywhere: some angle, and no derivative.
static void coaxial_ones_have_no_direction(void **state) {
    (void)state;
    carom_graph *g = carom_graph_create();
    for (int ring = 0; ring < 2; ++ring) {
        double p[6];
        carom_node n[6];
        numbers(0.7, (double[]){0, 0, 0.3}, (double[]){0, 0, 1}, p);
        for (int i = 0; i < 6; ++i) n[i] = carom_graph_input(g, CAROM_POSITION, i);
        const carom_node phi = carom_graph_nearest(g, ring, 0, n);
        carom_node out[7] = {phi};
        for (int i = 0; i < 6; ++i) out[1 + i] = carom_graph_diff(g, phi, CAROM_POSITION, i);
        carom_tape *tape = carom_tape_compile(g, &(carom_group){.count = 7, .nodes = out}, 1, 6, 0, 0, NULL);
        assert_non_null(tape);
        void *work = malloc(carom_tape_work_size(tape));
        double x[7];
        carom_tape_work_init(tape, work, NULL);
        carom_tape_eval(tape, work, 0, 0, p, NULL, x);
        for (int i = 0; i < 7; ++i) assert_true(isfinite(x[i]) && (i == 0 || x[i] == 0));
        free(work);
        carom_tape_destroy(tape);
    }
    carom_graph_destroy(g);
}

static void derivatives_follow_from_the_condition(void **state) {
    (void)state;
    for (int which = 0; which < 4; ++which) {
        carom_graph *g = carom_graph_create();
        carom_node n[6], out[43];
        for (int i = 0; i < 6; ++i) n[i] = carom_graph_input(g, CAROM_POSITION, i);
        out[0] = carom_graph_nearest(g, which / 2, which % 2, n);
        for (int i = 0; i < 6; ++i) out[1 + i] = carom_graph_diff(g, out[0], CAROM_POSITION, i);
        for (int i = 0; i < 36; ++i) out[7 + i] = carom_graph_diff(g, out[1 + i / 6], CAROM_POSITION, i % 6);
        carom_tape *tape = carom_tape_compile(g, &(carom_group){.count = 43, .nodes = out}, 1, 6, 0, 0, NULL);
        assert_non_null(tape);
        void *work = malloc(carom_tape_work_size(tape));
        carom_tape_work_init(tape, work, NULL);
        unsigned seed = 7 + (unsigned)which;
        int seen = 0;
        for (int k = 0; k < 60; ++k) {
            double a, C[3], b[3], p[6], x[43], y[2][43];
            pose(&seed, &a, C, b);
            numbers(a, C, b, p);
            carom_tape_eval(tape, work, 0, 0, p, NULL, x);
            for (int i = 0; i < 6; ++i) {
                const double h = 1e-6, at = p[i];
                for (int side = 0; side < 2; ++side) {
                    p[i] = at + (side ? h : -h);
                    carom_tape_eval(tape, work, 0, 0, p, NULL, y[side]);
                }
                p[i] = at;
                for (int j = 0; j < 7; ++j) {
                    const double d = (y[1][j] - y[0][j]) / (2 * h), exact = j ? x[7 + 6 * (j - 1) + i] : x[1 + i];
                    // near where minima merge or change
                    if (fabs(x[1 + i]) > 20 || fabs(exact) > 1e3 || fabs(y[1][0] - y[0][0]) > 1e-4) continue;
                    if (fabs(d - exact) > 1e-6 * (1 + fabs(exact)) * (j ? 100 : 1))
                        fail_msg("%d: d%d of %d: %.12g, difference %.12g", which, i, j, exact, d);
                    ++seen;
                }
            }
        }
        assert_true(seen > 1500);
        free(work);
        carom_tape_destroy(tape);
        carom_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_the_two_is_the_nearest_place),
        cmocka_unit_test(chords_and_lenses_have_two),
        cmocka_unit_test(coaxial_ones_have_no_direction),
        cmocka_unit_test(derivatives_follow_from_the_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

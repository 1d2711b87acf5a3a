// test_norm.c: norms of differences at step ends.
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

// The norm of rows x n differences with steps h.
static double norm_of(carom_norm_kind kind, const double *e, const double *h, int rows, int n) {
    carom_norm a;
    carom_error err = {0};
    assert_int_equal(carom_norm_begin(&a, kind, 3, n, &err), CAROM_OK);
    for (int k = 0; k < rows; ++k) carom_norm_add(&a, h ? h[k] : 1, e + k * n);
    const double x = carom_norm_value(&a);
    carom_norm_end(&a);
    return x;
}

static void assert_near(double a, double b, double relative) {
    if (!(fabs(a - b) <= relative * fabs(b))) fail_msg("%.17g is not %.17g", a, b);
}

static void sums_weigh_with_the_step_and_run_over_components(void **state) {
    (void)state;
    const double e[] = {1, -2, 3, 0, -4, 0.5}, h[] = {0, 0.1, 0.2}; // the first row has no step before it
    assert_near(norm_of(CAROM_NORM_L1, e, h, 3, 2), 0.1 * 3 + 0.2 * 4.5, 1e-15);
    assert_near(norm_of(CAROM_NORM_L2, e, h, 3, 2), sqrt(0.1 * 9 + 0.2 * 16.25), 1e-15);
    assert_true(norm_of(CAROM_NORM_LINF, e, h, 3, 2) == 4);
    assert_near(norm_of(CAROM_NORM_LP, e, h, 3, 2), cbrt(0.1 * 27 + 0.2 * (64 + 0.125)), 1e-15); // p = 3
}

static void a_value_that_is_not_a_number_is_not_lost(void **state) {
    (void)state;
    const double e[] = {1, NAN, 2, 3};
    for (int kind = CAROM_NORM_L1; kind <= CAROM_NORM_MATRIX; ++kind)
        assert_true(isnan(norm_of((carom_norm_kind)kind, e, NULL, 2, 2)));
}

static void matrix_norm_of_rank_one_is_the_product_of_lengths(void **state) {
    (void)state;
    enum { N = 7, ROWS = 5 };
    double a[ROWS], b[N], e[ROWS * N], aa = 0, bb = 0;
    unsigned seed = 3;
    for (int i = 0; i < ROWS; ++i) a[i] = next(&seed), aa += a[i] * a[i];
    for (int j = 0; j < N; ++j) b[j] = next(&seed), bb += b[j] * b[j];
    for (int i = 0; i < ROWS; ++i)
        for (int j = 0; j < N; ++j) e[i * N + j] = a[i] * b[j];
    assert_near(norm_of(CAROM_NORM_MATRIX, e, NULL, ROWS, N), sqrt(aa * bb), 1e-13);
}

// A matrix with known singular values: a diagonal one, mirrored at a random hyperplane.
static void matrix_norm_finds_the_largest_of_known_singular_values(void **state) {
    (void)state;
    unsigned seed = 11;
    for (int n = 1; n <= 60; n += n < 6 ? 1 : 27) {
        double *u = calloc((size_t)n, sizeof *u), *e = calloc((size_t)(n * n), sizeof *e), uu = 0;
        for (int i = 0; i < n; ++i) u[i] = next(&seed), uu += u[i] * u[i];
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) e[i * n + j] = (1 + i * 0.25) * ((i == j) - 2 * u[i] * u[j] / uu);
        assert_near(norm_of(CAROM_NORM_MATRIX, e, NULL, n, n), 1 + (n - 1) * 0.25, 1e-12);
        free(u);
        free(e);
    }
}

static void matrix_norm_of_two_columns_has_a_formula(void **state) {
    (void)state;
    enum { ROWS = 1000 };
    double e[2 * ROWS], a = 0, b = 0, c = 0;
    unsigned seed = 5;
    for (int k = 0; k < ROWS; ++k) {
        const double x = e[2 * k] = 1e-3 * next(&seed), y = e[2 * k + 1] = x + 1e-6 * next(&seed);
        a += x * x, b += y * y, c += x * y;
    }
    assert_near(norm_of(CAROM_NORM_MATRIX, e, NULL, ROWS, 2), sqrt(0.5 * (a + b) + hypot(0.5 * (a - b), c)), 1e-12);
}

static void no_difference_has_norm_zero(void **state) {
    (void)state;
    const double e[6] = {0};
    for (int kind = CAROM_NORM_L1; kind <= CAROM_NORM_MATRIX; ++kind)
        assert_true(norm_of((carom_norm_kind)kind, e, NULL, 2, 3) == 0);
}

static void every_norm_has_a_word_and_graphs_are_refused_here(void **state) {
    (void)state;
    static const char *const word[] = {"l1", "l2", "linf", "matrix", "hausdorff"};
    carom_norm a;
    carom_error err = {0};
    for (int i = 0; i < 5; ++i) {
        carom_compare_def def = carom_compare_default();
        assert_int_equal(carom_compare_norm(&def, word[i], &err), CAROM_OK);
        assert_int_equal(def.norm, i);
    }
    assert_int_equal(carom_norm_begin(&a, CAROM_NORM_HAUSDORFF, 1, 1, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "hausdorff"));
}

static void reads(const char *name, carom_norm_kind kind, double p, bool relative) {
    carom_compare_def def = carom_compare_default();
    assert_int_equal(carom_compare_norm(&def, name, NULL), CAROM_OK);
    assert_true(def.norm == kind && def.relative == relative && (kind != CAROM_NORM_LP || def.p == p));
}

static void refuses(const char *name, const char *because) {
    carom_compare_def def = carom_compare_default();
    carom_error err = {0};
    assert_int_equal(carom_compare_norm(&def, name, &err), CAROM_BAD_INPUT);
    if (!strstr(err.text, because)) fail_msg("%s: '%s' does not say '%s'", name, err.text, because);
}

static void names_have_exponents_and_may_be_relative(void **state) {
    (void)state;
    reads("l1", CAROM_NORM_L1, 1, false);
    reads("l3", CAROM_NORM_LP, 3, false);
    reads("l1.5", CAROM_NORM_LP, 1.5, false);
    reads("relative-l1", CAROM_NORM_L1, 1, true);
    reads("relative-l4", CAROM_NORM_LP, 4, true);
    reads("relative-matrix", CAROM_NORM_MATRIX, 1, true);
    reads("hausdorff", CAROM_NORM_HAUSDORFF, 1, false);
    refuses("relative-hausdorff", "no relative form");
    refuses("l0.5", "1 or more");
    refuses("l", "not one of");
    refuses("l2x", "not one of");
    refuses("lnan", "not one of");
    refuses("max", "not one of");
    refuses("relative-", "not one of");
    refuses("", "not one of");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_have_exponents_and_may_be_relative),
        cmocka_unit_test(sums_weigh_with_the_step_and_run_over_components),
        cmocka_unit_test(a_value_that_is_not_a_number_is_not_lost),
        cmocka_unit_test(matrix_norm_of_rank_one_is_the_product_of_lengths),
        cmocka_unit_test(matrix_norm_finds_the_largest_of_known_singular_values),
        cmocka_unit_test(matrix_norm_of_two_columns_has_a_formula),
        cmocka_unit_test(no_difference_has_norm_zero),
        cmocka_unit_test(every_norm_has_a_word_and_graphs_are_refused_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

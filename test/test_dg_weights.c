// test_dg_weights.c: the nodes and weights of the discontinuous Galerkin schemes: tables, identities, exactness.
#include "scheme/dg/dg_weights.h"
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static carom_dg_weights weights(int m, bool plus, void **block) {
    carom_arena count = {0};
    carom_allocate_dg_weights(&count, m, plus);
    *block = aligned_alloc(64, count.used);
    assert_non_null(*block);
    memset(*block, 0, count.used);
    carom_arena mem = {.base = *block, .size = count.used};
    return carom_allocate_dg_weights(&mem, m, plus);
}

// A few roundings of numbers of order 1.
#define check(x, y, ulps)                                                                                              \
    do {                                                                                                               \
        const double x_ = (x), y_ = (y);                                                                               \
        if (!(fabs(x_ - y_) <= (ulps)*DBL_EPSILON)) fail_msg("m = %d: %s = %.17g, not %.17g", m, #x, x_, y_);          \
    } while (0)

static void check_all(int m, const double *x, const double *y, int n, double scale) {
    for (int i = 0; i < n; ++i) check(x[i], y[i] / scale, 1);
}

static void tables_are_those_of_degree_1_to_4(void **state) {
    (void)state;
    const double r = sqrt(2);
    const double tau[4][5] = {{0, 1}, {0, 0.5, 1}, {0, 0.25, 0.75, 1}, {0, (2 - r) / 4, 0.5, (2 + r) / 4, 1}};
    const double b[4][5] = {{1, 1}, {1, 4, 1}, {1, 8, 8, 1}, {1, 8, 12, 8, 1}}, b_of[4] = {2, 6, 18, 30};
    const double part[4][4] = {{1}, {0, 1}, {1, 3, 5}, {0, 1, 1, 1}}, part_of[4] = {1, 1, 9, 3};
    const double end[4][4] = {{1}, {-1, 2}, {1, -2, 2}, {-1, 2, -2, 2}};
    for (int m = 1; m <= 4; ++m) {
        void *block;
        carom_dg_weights c = weights(m, false, &block);
        check_all(m, c.tau, tau[m - 1], m + 1, 1);
        check_all(m, c.b, b[m - 1], m + 1, b_of[m - 1]);
        check_all(m, c.b_part, part[m - 1], m, part_of[m - 1]);
        for (int k = 0; k < m; ++k) check(c.l_part[k], end[m - 1][k], 2);
        free(block);
        c = weights(m, true, &block); // D+ is the mirror of D-
        check_all(m, c.tau, tau[m - 1], m + 1, 1);
        check_all(m, c.b, b[m - 1], m + 1, b_of[m - 1]);
        for (int k = 0; k < m; ++k) {
            check(c.b_part[k], part[m - 1][m - 1 - k] / part_of[m - 1], 1);
            check(c.l_part[k], end[m - 1][m - 1 - k], 2);
        }
        free(block);
    }
}

static void degree_one_is_the_trapezoidal_pair(void **state) {
    (void)state;
    const int m = 1;
    void *block;
    carom_dg_weights c = weights(m, false, &block);
    const double minus[4] = {0, 0, 1, 0}, plus[4] = {0.5, -0.5, 0.5, 0.5}, position[4] = {0, 0, 0.5, 0.5};
    for (int i = 0; i < 4; ++i) check(c.A[i], minus[i], 0);
    for (int i = 0; i < 4; ++i) check(c.P[i], position[i], 0);
    free(block);
    c = weights(m, true, &block);
    for (int i = 0; i < 4; ++i) check(c.A[i], plus[i], 0);
    for (int i = 0; i < 4; ++i) check(c.P[i], position[i], 0);
    free(block);
}

static void identities_hold_for_every_degree(void **state) {
    (void)state;
    for (int m = 1; m <= CAROM_DG_MOST; ++m)
        for (int plus = 0; plus < 2; ++plus) {
            void *block;
            const carom_dg_weights c = weights(m, plus, &block);
            const int first = plus ? 1 : 0, other = plus ? 0 : m, n = m + 1;
            double sum = 0;
            for (int l = 0; l <= m; ++l) {
                assert_true(c.b[l] > 0);
                sum += c.b[l];
                assert_true(l == 0 || c.tau[l] > c.tau[l - 1]);
                check(c.tau[l] + c.tau[m - l], 1, 0); // symmetric to the last bit
                check(c.b[l], c.b[m - l], 1);
            }
            check(sum, 1, 4);
            for (int k = 0; k < m; ++k) check(c.b_part[k], c.b[k + first] + c.b[other] * c.l_part[k], 4);
            for (int l = 0; l <= m; ++l) {
                double p = 0, a = 0;
                for (int k = 0; k <= m; ++k) p += c.P[l * n + k], a += c.A[l * n + k];
                check(p, c.tau[l], 4); // constants are integrated
                check(a, c.tau[l], 4);
                check(c.P[m * n + l], c.b[l], 1); // the last stage is the end
                if (plus) check(c.A[m * n + l], c.b[l], 1);
                else check(c.A[l * n + m], 0, 0);
            }
            check(c.Q[m * n + m], 0, 1); // q_1 knows neither the last acceleration nor the impulse
            free(block);
        }
}

// P is exact for velocities of degree m, A for accelerations of degree m - 1, b for degree m (m + 1 when m is even).
static void polynomials_are_integrated_exactly(void **state) {
    (void)state;
    for (int m = 1; m <= 12; ++m)
        for (int plus = 0; plus < 2; ++plus) {
            void *block;
            const carom_dg_weights c = weights(m, plus, &block);
            const int n = m + 1;
            for (int d = 0; d <= m + 1; ++d) {
                double sum = 0;
                for (int k = 0; k <= m; ++k) sum += c.b[k] * pow(c.tau[k], d);
                if (d <= m || m % 2 == 0) check(sum, 1.0 / (d + 1), 8);
                else if (m <= 5) assert_true(fabs(sum - 1.0 / (d + 1)) > 1e-6); // so the test above can fail
                for (int l = 0; l <= m; ++l) {
                    double p = 0, a = 0;
                    for (int k = 0; k <= m; ++k) {
                        p += c.P[l * n + k] * pow(c.tau[k], d);
                        a += c.A[l * n + k] * pow(c.tau[k], d);
                    }
                    if (d <= m) check(p, pow(c.tau[l], d + 1) / (d + 1), 8);
                    if (d <= m - 1) check(a, pow(c.tau[l], d + 1) / (d + 1), 8);
                }
            }
            free(block);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_those_of_degree_1_to_4),
        cmocka_unit_test(degree_one_is_the_trapezoidal_pair),
        cmocka_unit_test(identities_hold_for_every_degree),
        cmocka_unit_test(polynomials_are_integrated_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

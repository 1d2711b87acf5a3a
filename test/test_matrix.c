// test_matrix.c: the three storages say the same thing as a plain table of numbers.
#include "linalg/sum.h"
#include "linalg/matrix.h"
#include "problems.h"
#include <carom/matrix.h>
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 12 };

// A random matrix of this shape, and the same as a full table.
static carom_matrix fill(double *memory, carom_shape shape, double table[MOST][MOST], uint64_t *seed) {
    const carom_matrix A = {shape, memory};
    carom_matrix_zero(A);
    for (int i = 0; i < shape.n; ++i)
        for (int j = 0; j < shape.n; ++j) {
            double *a = carom_matrix_entry(A, i, j);
            table[i][j] = a ? (*a = symmetric_uniform(seed)) : 0;
        }
    return A;
}

static const carom_shape SHAPES[] = {
    {CAROM_DIAGONAL, 1, 0, NULL}, {CAROM_DIAGONAL, 7, 0, NULL}, {CAROM_BANDED, 1, 0, NULL}, {CAROM_BANDED, 9, 0, NULL},
    {CAROM_BANDED, 9, 1, NULL},   {CAROM_BANDED, 9, 3, NULL},   {CAROM_BANDED, 4, 5, NULL}, {CAROM_DENSE, 1, 0, NULL},
    {CAROM_DENSE, 2, 0, NULL},    {CAROM_DENSE, 11, 0, NULL},
};
enum { COUNT = sizeof SHAPES / sizeof *SHAPES };

static void entries_are_where_the_header_says(void **state) {
    (void)state;
    double memory[MOST * MOST];
    const carom_matrix dense = {{CAROM_DENSE, 5, 0, NULL}, memory}, band = {{CAROM_BANDED, 5, 2, NULL}, memory},
                       diagonal = {{CAROM_DIAGONAL, 5, 0, NULL}, memory};
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j) {
            assert_ptr_equal(carom_matrix_entry(dense, i, j), memory + i + 5 * j);
            double *inside = memory + 2 + i - j + 5 * j, *outside = NULL;
            assert_ptr_equal(carom_matrix_entry(band, i, j), abs(i - j) <= 2 ? inside : outside);
            assert_ptr_equal(carom_matrix_entry(diagonal, i, j), i == j ? memory + i : outside);
        }
    assert_int_equal(carom_shape_size(dense.shape), 25);
    assert_int_equal(carom_shape_size(band.shape), 25);
    assert_int_equal(carom_shape_size(diagonal.shape), 5);
}

static void products_agree_with_the_table(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int c = 0; c < COUNT; ++c) {
        double memory[MOST * MOST * 3], table[MOST][MOST], x[MOST], y[MOST], z[MOST];
        const carom_matrix A = fill(memory, SHAPES[c], table, &seed);
        const int n = SHAPES[c].n;
        for (int i = 0; i < n; ++i) x[i] = symmetric_uniform(&seed), z[i] = symmetric_uniform(&seed), y[i] = z[i];
        carom_matrix_muladd(y, -1.5, A, x);
        for (int i = 0; i < n; ++i) {
            double sum = z[i];
            for (int j = 0; j < n; ++j) sum -= 1.5 * table[i][j] * x[j];
            assert_true(fabs(y[i] - sum) <= 4 * n * DBL_EPSILON); // n products below 1.5, each rounded twice
        }
        carom_matrix_mul(y, A, x);
        for (int i = 0; i < n; ++i) {
            double sum = 0;
            for (int j = 0; j < n; ++j) sum += table[i][j] * x[j];
            assert_true(fabs(y[i] - sum) <= 4 * n * DBL_EPSILON);
        }
        carom_matrix_magnitude(y, A, x);
        for (int i = 0; i < n; ++i) {
            double sum = 0;
            for (int j = 0; j < n; ++j) sum += fabs(table[i][j] * x[j]);
            assert_true(fabs(y[i] - sum) <= 4 * n * DBL_EPSILON);
        }
    }
}

static void a_narrow_matrix_adds_to_a_wide_one(void **state) {
    (void)state;
    static const carom_shape pairs[][2] = {
        {{CAROM_DENSE, 8, 0, NULL}, {CAROM_BANDED, 8, 2, NULL}},
        {{CAROM_DENSE, 8, 0, NULL}, {CAROM_DIAGONAL, 8, 0, NULL}},
        {{CAROM_BANDED, 8, 3, NULL}, {CAROM_BANDED, 8, 1, NULL}},
        {{CAROM_BANDED, 8, 3, NULL}, {CAROM_DIAGONAL, 8, 0, NULL}},
        {{CAROM_BANDED, 8, 2, NULL}, {CAROM_BANDED, 8, 2, NULL}},
        {{CAROM_DIAGONAL, 8, 0, NULL}, {CAROM_DIAGONAL, 8, 0, NULL}},
        {{CAROM_DENSE, 8, 0, NULL}, {CAROM_DENSE, 8, 0, NULL}},
    };
    uint64_t seed = 3;
    for (size_t c = 0; c < sizeof pairs / sizeof *pairs; ++c) {
        double a[MOST * MOST], b[MOST * MOST], ta[MOST][MOST], tb[MOST][MOST];
        const carom_matrix A = fill(a, pairs[c][0], ta, &seed), B = fill(b, pairs[c][1], tb, &seed);
        carom_matrix_add(A, 2, B);
        for (int i = 0; i < 8; ++i)
            for (int j = 0; j < 8; ++j) {
                const double *entry = carom_matrix_entry(A, i, j);
                assert_true((entry ? *entry : 0) == ta[i][j] + 2 * tb[i][j]);
            }
    }
}

static void a_matrix_adds_to_a_block_of_a_dense_one(void **state) {
    (void)state;
    enum { LD = MOST + 3, ROW = 2, COLUMN = 1 };
    uint64_t seed = 11;
    const int start[] = {0, 2, 3, 5}, row[] = {0, 2, 1, 0, 2};
    const carom_pattern pattern = {.n = 3, .start = start, .row = row};
    for (int k = 0; k <= COUNT; ++k) {
        double memory[MOST * MOST], table[MOST][MOST], S[LD * LD];
        const carom_matrix A = fill(memory, k < COUNT ? SHAPES[k] : carom_shape_sparse(&pattern), table, &seed);
        for (int i = 0; i < LD * LD; ++i) S[i] = i;
        carom_matrix_add_block(S + ROW + COLUMN * LD, LD, 2, A);
        for (int i = 0; i < LD; ++i)
            for (int j = 0; j < LD; ++j) {
                const bool inside = i >= ROW && i < ROW + A.shape.n && j >= COLUMN && j < COLUMN + A.shape.n;
                assert_true(S[i + j * LD] == i + j * LD + (inside ? 2 * table[i - ROW][j - COLUMN] : 0));
            }
    }
}

static void largest_entry_sees_what_is_no_number(void **state) {
    (void)state;
    assert_true(carom_norm_max((double[]){1, -3, 2}, 3) == 3);
    assert_true(carom_norm_max((double[]){1, NAN, 2}, 3) == HUGE_VAL);
    assert_true(carom_norm_max((double[]){NAN, 1}, 2) == HUGE_VAL);
    assert_true(carom_norm_max((double[]){-HUGE_VAL, 1}, 2) == HUGE_VAL);
    assert_true(carom_norm_max(NULL, 0) == 0);
}

static void vectors_do_what_their_names_say(void **state) {
    (void)state;
    double x[3] = {1, 2, 3}, y[3] = {4, 5, 6}, z[3];
    carom_add(z, x, 2, y, 3);
    assert_true(z[0] == 9 && z[1] == 12 && z[2] == 15);
    carom_axpy(z, -1, x, 3);
    assert_true(z[0] == 8 && z[1] == 10 && z[2] == 12);
    assert_true(carom_dot(x, y, 3) == 32);
    carom_copy(z, x, 3);
    carom_zero(x, 3);
    assert_true(z[1] == 2 && x[2] == 0);
}

static void a_pass_that_keeps_and_adds_does_both(void **state) {
    (void)state;
    enum { N = 37 };
    double x[N], z[N], x_0[N], z_0[N], y[N];
    for (int i = 0; i < N; ++i) x[i] = y[i] = 1.0 / (i + 3), z[i] = i - 0.1 * i * i;
    carom_add_keeping(x_0, z_0, x, 0.3, z, N);
    for (int i = 0; i < N; ++i) assert_true(x_0[i] == y[i] && z_0[i] == z[i] && x[i] == y[i] + 0.3 * z[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_where_the_header_says),
        cmocka_unit_test(products_agree_with_the_table),
        cmocka_unit_test(a_narrow_matrix_adds_to_a_wide_one),
        cmocka_unit_test(a_matrix_adds_to_a_block_of_a_dense_one),
        cmocka_unit_test(largest_entry_sees_what_is_no_number),
        cmocka_unit_test(vectors_do_what_their_names_say),
        cmocka_unit_test(a_pass_that_keeps_and_adds_does_both),
    };
    return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}

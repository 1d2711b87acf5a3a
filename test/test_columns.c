// test_columns.c: sparse columns say the same as dense ones.
#include "problems.h"
#include <carom/matrix.h>
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { ROWS = 9, N = 4, STRIDE = 3 };

typedef struct pair {
    carom_arena mem;
    carom_columns dense, sparse;
} pair;

static void allocate(pair *p) {
    p->dense = carom_allocate_columns(&p->mem, ROWS, N, ROWS);
    p->sparse = carom_allocate_columns(&p->mem, ROWS, N, STRIDE);
}

static pair create(uint64_t seed) {
    pair p = {0};
    allocate(&p);
    const size_t size = p.mem.used;
    p.mem = (carom_arena){.base = aligned_alloc(64, size), .size = size};
    assert_non_null(p.mem.base);
    memset(p.mem.base, 0, size);
    allocate(&p);
    for (int k = 0; k < N; ++k) {
        p.sparse.count[k] = k; // 0, 1, 2, 3 entries
        for (int e = 0; e < k; ++e) {
            const int row = (5 * k + 4 * e) % ROWS;
            const double x = symmetric_uniform(&seed);
            p.sparse.row[k * STRIDE + e] = row;
            p.sparse.a[k * STRIDE + e] = x;
            p.dense.a[k * ROWS + row] = x;
        }
    }
    return p;
}

static void storage_follows_the_stride(void **state) {
    (void)state;
    pair p = create(1);
    assert_null(p.dense.count);
    assert_int_equal(p.dense.stride, ROWS);
    assert_non_null(p.sparse.count);
    assert_int_equal(p.sparse.stride, STRIDE);
    carom_arena count = {0};
    assert_null(carom_allocate_columns(&count, ROWS, N, ROWS + 5).count); // wider than a column: dense
    free(p.mem.base);
}

static void sparse_and_dense_columns_agree(void **state) {
    (void)state;
    uint64_t seed = 9;
    pair p = create(2);
    double x[ROWS], y[ROWS], z[ROWS];
    for (int i = 0; i < ROWS; ++i) x[i] = symmetric_uniform(&seed);
    for (int k = 0; k < N; ++k) {
        assert_true(fabs(carom_column_dot(&p.dense, k, x) - carom_column_dot(&p.sparse, k, x)) <= ROWS * DBL_EPSILON);
        carom_copy(y, x, ROWS);
        carom_copy(z, x, ROWS);
        carom_column_axpy(y, -2.5, &p.dense, k);
        carom_column_axpy(z, -2.5, &p.sparse, k);
        assert_memory_equal(y, z, sizeof y);
        for (int i = 0; i < ROWS; ++i) assert_true(y[i] == x[i] + -2.5 * p.dense.a[k * ROWS + i]);
        carom_column_expand(z, &p.sparse, k);
        assert_memory_equal(z, p.dense.a + k * ROWS, sizeof z);
    }
    free(p.mem.base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_follows_the_stride),
        cmocka_unit_test(sparse_and_dense_columns_agree),
    };
    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}

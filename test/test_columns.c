// test_columns.c: sparse columns say the same as dense ones.
#include "problems.h"
#include "scheme/inside.h"
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

// Reactions of a constant banded system are added up by columns, or in one solution where more than 8 of them act: as many as act count, not as many as there are.
// The columns here are twice what the solution gives, which tells the two ways apart.
static void what_acts_decides_how_reactions_are_added_up(void **state) {
    (void)state;
    enum { ALL = 30 };
    double one[ALL], x[ALL], columns[ALL * ALL] = {0}, W[ALL * ALL] = {0};
    int which[ALL];
    for (int i = 0; i < ALL; ++i) one[i] = columns[i * (ALL + 1)] = 2, which[i] = i, W[i * (ALL + 1)] = 2; // M = 2, M^-1 W = 1
    carom_arena mem = {.base = aligned_alloc(64, 1 << 14), .size = 1 << 14};
    assert_non_null(mem.base);
    carom_factor F = carom_allocate_factor(&mem, (carom_shape){CAROM_BANDED, ALL, 0, NULL}, true);
    assert_int_equal(carom_factorise(&F, (carom_matrix){F.shape, one}, NULL), CAROM_OK);
    const carom_columns w = {.rows = ALL, .n = ALL, .stride = ALL, .a = W}, doubled = {.rows = ALL, .n = ALL, .stride = ALL, .a = columns};
    const carom_local L = {.W = w};
    carom_inside inside = {.delassus = {.dense = doubled, .column = which, .from = which, .F = &F, .L = &L, .x = x, .kept = true, .keep = {.all = L}}};
    carom_step s = {.inside = &inside};
    for (int acting = 0; acting <= ALL; ++acting) {
        double p[ALL] = {0}, v[ALL] = {0};
        for (int k = 0; k < acting; ++k) p[7 * k % ALL] = 1;
        carom_problem_react(&s, v, 3, p, ALL);
        for (int i = 0; i < ALL; ++i) assert_true(v[i] == (acting > 8 ? 3 : 6) * p[i]);
    }
    free(mem.base);
}

enum { NV = 12, MOST = 70, ENTRIES = 4, TRIES = 40 };

// Columns of random numbers in rows that begin anywhere, or all in the first few.
static void fill(carom_local *L, int n, bool crowded, uint64_t *rows, uint64_t *seed) {
    L->nb = n;
    for (int k = 0; k < n; ++k) {
        const int count = crowded ? ENTRIES : 1 + (int)(uniform(rows) * ENTRIES), start = crowded ? 0 : (int)(uniform(rows) * (NV - ENTRIES));
        L->id[k] = L->at[k] = k, L->at[k + 1] = k + 1;
        L->W.count[k] = count;
        for (int e = 0; e < count; ++e) L->W.row[k * ENTRIES + e] = start + e, L->W.a[k * ENTRIES + e] = symmetric_uniform(seed);
    }
}

// G = a A'F^-1 W of sparse columns: A and W the same, other numbers in the same rows, other rows; few products, and more than are remembered.
static void sparse_columns_make_the_matrix_of_the_problem(void **state) {
    (void)state;
    static double G[MOST * MOST], dense[2][MOST * NV], mass[NV];
    static carom_block blocks[MOST];
    static const int sizes[] = {7, MOST};
    uint64_t seed = 5, rows = 6;
    for (int i = 0; i < NV; ++i) mass[i] = 1 + i;
    const carom_system sys = {.nq = NV, .nv = NV, .ne = MOST, .column_stride = ENTRIES, .mass_shape = {CAROM_DIAGONAL, NV, 0, NULL}};
    carom_arena mem = {.base = aligned_alloc(64, 1 << 20), .size = 1 << 20};
    assert_non_null(mem.base);
    carom_inside inside = {.delassus = carom_allocate_delassus(&mem, &sys)};
    carom_step s = {.sys = &sys, .inside = &inside, .G = G, .blocks = blocks};
    carom_factor F = carom_allocate_factor(&mem, sys.mass_shape, true);
    assert_int_equal(carom_factorise(&F, (carom_matrix){sys.mass_shape, mass}, NULL), CAROM_OK);
    carom_local L[2] = {carom_allocate_local(&mem, &sys), carom_allocate_local(&mem, &sys)};
    assert_true(mem.used <= mem.size);
    for (int t = 0; t < TRIES; ++t) {
        const int n = sizes[t % 2], kind = t % 3;
        uint64_t again = rows;
        fill(L, n, n == MOST, &rows, &seed);
        fill(L + 1, n, n == MOST, kind == 1 ? &again : &rows, &seed);
        const carom_local *A = L, *W = kind == 0 ? L : L + 1;
        carom_problem_form(&s, A, W, &F, 0.5);
        assert_true(s.problem.symmetric == (kind == 0));
        for (int k = 0; k < n; ++k) carom_column_expand(dense[0] + k * NV, &A->W, k), carom_column_expand(dense[1] + k * NV, &W->W, k);
        for (int i = 0; i < n; ++i)
            for (int k = 0; k < n; ++k) {
                double sum = 0;
                for (int r = 0; r < NV; ++r) sum += dense[0][i * NV + r] * dense[1][k * NV + r] / mass[r];
                assert_true(fabs(G[i + k * n] - 0.5 * sum) <= 8 * DBL_EPSILON);
                assert_true(G[i + k * n] == 0 || (s.problem.first[k > i ? k : i] <= (k < i ? k : i)));
            }
    }
    free(mem.base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_follows_the_stride),
        cmocka_unit_test(sparse_and_dense_columns_agree),
        cmocka_unit_test(sparse_columns_make_the_matrix_of_the_problem),
        cmocka_unit_test(what_acts_decides_how_reactions_are_added_up),
    };
    return cmocka_run_group_tests_name("columns", tests, NULL, NULL);
}

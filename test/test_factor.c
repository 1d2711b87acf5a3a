// test_factor.c: factorisations solve what they were made of, and say when they cannot.
#include "problems.h"
#include "linalg/matrix.h"
#include "linalg/saddle.h"
#include <carom/matrix.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct memory {
    carom_arena mem;
    carom_matrix A;
    carom_factor F;
    double *x, *b;
} memory;

static void allocate(memory *m, carom_shape shape, bool symmetric) {
    m->A = carom_allocate_matrix(&m->mem, shape);
    m->F = carom_allocate_factor(&m->mem, shape, symmetric);
    m->x = carom_allocate(&m->mem, (size_t)shape.n);
    m->b = carom_allocate(&m->mem, (size_t)shape.n);
}

static memory create(carom_shape shape, bool symmetric) {
    memory m = {0};
    allocate(&m, shape, symmetric);
    const size_t size = m.mem.used;
    m.mem = (carom_arena){.base = aligned_alloc(64, size), .size = size};
    assert_non_null(m.mem.base);
    memset(m.mem.base, 0xff, size); // a factor may not rely on zeros
    allocate(&m, shape, symmetric);
    return m;
}

static void random_matrix(carom_matrix A, bool symmetric, uint64_t *seed) {
    const int n = A.shape.n;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            double *a = carom_matrix_entry(A, i, j);
            if (a) *a = symmetric_uniform(seed);
        }
    if (!symmetric) return;
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            double *a = carom_matrix_entry(A, i, j);
            if (a && i < j) *a = *carom_matrix_entry(A, j, i);
            if (a && i == j) *a = 2 * n; // rows sum to less than n beside it: positive definite
        }
}

// Backward error: |A x - b| <= C n eps |A| |x|, with C = 50 for growth and the few operations on each entry.
static void check_solves(carom_shape shape, bool symmetric, uint64_t *seed) {
    memory m = create(shape, symmetric);
    const int n = shape.n;
    random_matrix(m.A, symmetric, seed);
    for (int i = 0; i < n; ++i) m.x[i] = m.b[i] = symmetric_uniform(seed);
    assert_int_equal(carom_factorise(&m.F, m.A, NULL), CAROM_OK);
    carom_factor_solve(&m.F, m.x);
    double norm = 0;
    for (int i = 0; i < n; ++i) {
        double row = 0;
        for (int j = 0; j < n; ++j) row += carom_matrix_entry(m.A, i, j) ? fabs(*carom_matrix_entry(m.A, i, j)) : 0;
        norm = fmax(norm, row);
    }
    const double size = carom_norm_max(m.x, n);
    carom_matrix_muladd(m.b, -1, m.A, m.x);
    const double error = carom_norm_max(m.b, n);
    if (!(error <= 50 * n * DBL_EPSILON * norm * size))
        fail_msg("storage %d n %d band %d symmetric %d: residual %g", shape.storage, n, shape.band, symmetric, error);
    free(m.mem.base);
}

static void every_storage_and_size_is_solved(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int symmetric = 0; symmetric < 2; ++symmetric)
        for (int n = 1; n <= 24; ++n) {
            check_solves((carom_shape){CAROM_DIAGONAL, n, 0, NULL}, symmetric, &seed);
            check_solves((carom_shape){CAROM_DENSE, n, 0, NULL}, symmetric, &seed);
            for (int band = 0; band <= 5; ++band)
                check_solves((carom_shape){CAROM_BANDED, n, band, NULL}, symmetric, &seed);
        }
}

// Tiles and their rests; bands that are eliminated from both ends, and wider ones.
static void larger_matrices_are_solved_too(void **state) {
    (void)state;
    uint64_t seed = 31;
    for (int symmetric = 0; symmetric < 2; ++symmetric)
        for (int n = 61; n <= 103; n += 6) {
            for (int more = 0; more < 4; ++more)
                check_solves((carom_shape){CAROM_DENSE, n + more, 0, NULL}, symmetric, &seed);
            for (int band = 1; band <= 13; ++band)
                check_solves((carom_shape){CAROM_BANDED, n, band, NULL}, symmetric, &seed);
        }
}

// A matrix that nobody said is symmetric may be so, and positive definite or not.
static void symmetric_bands_are_solved_whether_said_or_not(void **state) {
    (void)state;
    uint64_t seed = 37;
    for (int n = 40; n <= 41; ++n)
        for (int band = 1; band <= 4; ++band)
            for (int definite = 0; definite < 2; ++definite) {
                const carom_shape shape = {CAROM_BANDED, n, band, NULL};
                memory m = create(shape, false);
                double y[64];
                random_matrix(m.A, true, &seed);
                for (int i = 0; i < n && !definite; i += 3) *carom_matrix_entry(m.A, i, i) *= -1;
                assert_int_equal(carom_factorise(&m.F, m.A, NULL), CAROM_OK);
                assert_int_equal(m.F.positive, definite);
                for (int i = 0; i < n; ++i) m.x[i] = symmetric_uniform(&seed);
                carom_matrix_mul(m.b, m.A, m.x);
                carom_copy(y, m.x, n);
                carom_copy(m.x, m.b, n);
                carom_factor_solve(&m.F, m.x);
                // Diagonally dominant by more than two: the condition is below three, and 100 operations meet in a row.
                for (int i = 0; i < n; ++i) assert_true(fabs(m.x[i] - y[i]) <= 300 * DBL_EPSILON);
                for (int i = 0; i < n; ++i) y[i] = 0.5 - y[i], m.x[i] = y[i] + 0.1;
                carom_factor_advance(&m.F, m.x, 0.1, m.b); // v += h A^-1 (A (0.5 - y))
                for (int i = 0; i < n; ++i)
                    assert_true(fabs(m.x[i] - (y[i] + 0.1 + 0.1 * (0.5 - y[i]))) <= 300 * DBL_EPSILON);
                free(m.mem.base);
            }
}

// LDL' reads the lower triangle alone.
static void symmetric_factor_ignores_the_upper_triangle(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int n = 2; n < 9; ++n) {
        memory m = create((carom_shape){CAROM_DENSE, n, 0, NULL}, true);
        random_matrix(m.A, true, &seed);
        double y[16];
        for (int i = 0; i < n; ++i) m.x[i] = y[i] = symmetric_uniform(&seed);
        assert_int_equal(carom_factorise(&m.F, m.A, NULL), CAROM_OK);
        carom_factor_solve(&m.F, m.x);
        for (int j = 1; j < n; ++j)
            for (int i = 0; i < j; ++i) *carom_matrix_entry(m.A, i, j) = NAN;
        assert_int_equal(carom_factorise(&m.F, m.A, NULL), CAROM_OK);
        carom_factor_solve(&m.F, y);
        for (int i = 0; i < n; ++i) assert_true(m.x[i] == y[i]);
        free(m.mem.base);
    }
}

static void missing_inertia_is_named(void **state) {
    (void)state;
    for (int n = 1; n < 8; ++n)
        for (int bad = 0; bad < n; ++bad)
            for (int storage = CAROM_DIAGONAL; storage <= CAROM_DENSE; ++storage) {
                memory m = create((carom_shape){(carom_storage)storage, n, 1, NULL}, true);
                carom_matrix_zero(m.A);
                for (int i = 0; i < n; ++i) *carom_matrix_entry(m.A, i, i) = i == bad ? 0 : 1;
                int row = -1;
                assert_int_equal(carom_factorise(&m.F, m.A, &row), CAROM_SINGULAR);
                assert_int_equal(row, bad);
                *carom_matrix_entry(m.A, bad, bad) = -1;
                assert_int_equal(carom_factorise(&m.F, m.A, &row), CAROM_SINGULAR);
                assert_int_equal(row, bad);
                free(m.mem.base);
            }
}

// Rank n - 1 to rounding: the last row is the sum of the others.
static void dependent_rows_are_found(void **state) {
    (void)state;
    uint64_t seed = 23;
    for (int symmetric = 0; symmetric < 2; ++symmetric)
        for (int n = 2; n < 12; ++n) {
            memory m = create((carom_shape){CAROM_DENSE, n, 0, NULL}, symmetric);
            random_matrix(m.A, symmetric, &seed);
            for (int j = 0; j < n; ++j) {
                double sum = 0;
                for (int i = 0; i < n - 1; ++i) sum += *carom_matrix_entry(m.A, i, j);
                *carom_matrix_entry(m.A, n - 1, j) = sum;
            }
            if (symmetric) { // and the last column the sum of the others
                double sum = 0;
                for (int i = 0; i < n - 1; ++i)
                    *carom_matrix_entry(m.A, i, n - 1) = *carom_matrix_entry(m.A, n - 1, i),
                                                    sum += *carom_matrix_entry(m.A, n - 1, i);
                *carom_matrix_entry(m.A, n - 1, n - 1) = sum;
            }
            int row = -1;
            assert_int_equal(carom_factorise(&m.F, m.A, &row), CAROM_SINGULAR);
            assert_int_equal(row, n - 1);
            free(m.mem.base);
        }
}

static void numbers_that_are_none_are_singular(void **state) {
    (void)state;
    for (int symmetric = 0; symmetric < 2; ++symmetric)
        for (int storage = CAROM_DIAGONAL; storage <= CAROM_DENSE; ++storage)
            for (int n = 1; n < 6; ++n) {
                memory m = create((carom_shape){(carom_storage)storage, n, 1, NULL}, symmetric);
                carom_matrix_zero(m.A);
                for (int i = 0; i < n; ++i) *carom_matrix_entry(m.A, i, i) = NAN;
                assert_int_equal(carom_factorise(&m.F, m.A, NULL), CAROM_SINGULAR);
                free(m.mem.base);
            }
}

// Very different scales in one regular matrix are no reason to refuse.
static void scales_do_not_make_a_matrix_singular(void **state) {
    (void)state;
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        memory m = create((carom_shape){CAROM_DENSE, 4, 0, NULL}, symmetric);
        carom_matrix_zero(m.A);
        static const double scale[4] = {1e-9, 1, 1e9, 1e-6};
        for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j) *carom_matrix_entry(m.A, i, j) = sqrt(scale[i] * scale[j]) * (i == j ? 1 : 0.2);
        for (int i = 0; i < 4; ++i) m.x[i] = sqrt(scale[i]) * 1.6; // A times 1/sqrt(scale)
        assert_int_equal(carom_factorise(&m.F, m.A, NULL), CAROM_OK);
        carom_factor_solve(&m.F, m.x);
        for (int i = 0; i < 4; ++i) assert_true(fabs(m.x[i] * sqrt(scale[i]) - 1) <= 1e-14);
        free(m.mem.base);
    }
}

// Three unknowns have a way of their own.  A band that reaches everywhere does the same operations in the same order:
// the same bits, the same pivots refused.
static void three_unknowns_have_the_bits_of_a_band(void **state) {
    (void)state;
    uint64_t seed = 7;
    int solved = 0, refused = 0;
    memory dense = create((carom_shape){CAROM_DENSE, 3, 0, NULL}, false),
           band = create((carom_shape){CAROM_BANDED, 3, 2, NULL}, false);
    for (int k = 0; k < 2000; ++k) {
        carom_matrix_zero(band.A);
        random_matrix(dense.A, false, &seed);
        for (int e = 0; e < 9; ++e)
            if (k >> (e % 8) & k % 3) dense.A.a[e] = 0; // zeros in all places, and rows that are none
        if (k % 10 == 9)
            // and dependent ones
            for (int j = 0; j < 3; ++j) dense.A.a[3 * j + k % 3] = 2 * dense.A.a[3 * j + (k + 1) % 3];
        for (int e = 0; e < 9; ++e) *carom_matrix_entry(band.A, e % 3, e / 3) = dense.A.a[e];
        for (int i = 0; i < 3; ++i) dense.x[i] = band.x[i] = symmetric_uniform(&seed);
        int row = -1, row_of_band = -1;
        const carom_status status = carom_factorise(&dense.F, dense.A, &row);
        assert_int_equal(carom_factorise(&band.F, band.A, &row_of_band), status);
        assert_int_equal(row, row_of_band);
        refused += status != CAROM_OK;
        if (status != CAROM_OK || band.F.positive) continue; // symmetric ones have another way
        carom_factor_solve(&dense.F, dense.x);
        carom_factor_solve(&band.F, band.x);
        assert_memory_equal(dense.x, band.x, 3 * sizeof *dense.x);
        ++solved;
    }
    assert_true(solved > 500 && refused > 50);
    free(dense.mem.base);
    free(band.mem.base);
}

// -- joints as part of the linear system ------------------------------------------------------------------------------

enum { BODIES = 12, ROWS = 3, JOINTS_MOST = 14, UNKNOWNS = 6 * BODIES, WIDE = 12 };

// Joint j between bodies a and b (-1: ground): rows of random numbers.
static void join(carom_columns *W, int j, int a, int b, uint64_t *seed) {
    for (int k = ROWS * j; k < ROWS * (j + 1); ++k) {
        int *row = carom_column_own_rows(W, k, a < 0 ? 6 : 12), n = 0;
        for (int i = 0; a >= 0 && i < 6; ++i) row[n++] = 6 * a + i;
        for (int i = 0; i < 6; ++i) row[n++] = 6 * b + i;
        for (int e = 0; e < n; ++e) W->a[k * WIDE + e] = symmetric_uniform(seed);
    }
}

// Chains, trees, and trees with loops: [A W; V' 0] (x, y) = b, where A is no more symmetric than an implicit step's and
// V is not W.  A joint twice, and matrices that couple bodies without a joint, are reported.
static void joints_are_eliminated_with_their_bodies(void **state) {
    (void)state;
    static int group[BODIES + 1];
    static double A[UNKNOWNS * UNKNOWNS];
    uint64_t seed = 3;
    for (int i = 0; i <= BODIES; ++i) group[i] = 6 * i;
    for (int variant = 0; variant < 12; ++variant) {
        const bool tree = variant % 3 > 0, loops = variant % 3 > 1;
        const int joints = loops ? JOINTS_MOST : BODIES, ne = ROWS * joints, n = UNKNOWNS + ne;
        const carom_shape shape = {.storage = CAROM_DENSE, .n = UNKNOWNS};
        carom_arena mem = {.base = aligned_alloc(64, 1 << 24), .size = 1 << 24};
        assert_non_null(mem.base);
        carom_saddle S = carom_allocate_saddle(&mem, UNKNOWNS, BODIES, group, ne, shape, WIDE, NULL);
        carom_columns W = carom_allocate_columns(&mem, UNKNOWNS, ne, WIDE),
                      V = carom_allocate_columns(&mem, UNKNOWNS, ne, WIDE);
        assert_true(S.on && mem.used <= mem.size);
        for (int i = 0; i < UNKNOWNS * UNKNOWNS; ++i) A[i] = 0;
        for (int b = 0; b < BODIES; ++b)
            for (int i = 0; i < 36; ++i)
                A[6 * b + i / 6 + (6 * b + i % 6) * UNKNOWNS] = (i % 7 == 0 ? 3 : 0) + 0.2 * symmetric_uniform(&seed);
        for (int j = 0; j < joints; ++j) {
            const int parent = j < BODIES ? (tree ? (int)(uniform(&seed) * j) : j - 1) : j - BODIES,
                      body = j < BODIES ? j : BODIES - 1 - (j - BODIES);
            join(&W, j, j == 0 ? -1 : parent, body, &seed);
            for (int k = ROWS * j; k < ROWS * (j + 1); ++k) {
                memcpy(carom_column_own_rows(&V, k, W.count[k]), carom_column_rows(&W, k),
                       (size_t)W.count[k] * sizeof(int));
                for (int e = 0; e < W.count[k]; ++e)
                    V.a[k * WIDE + e] = W.a[k * WIDE + e] + 0.01 * symmetric_uniform(&seed);
            }
            // joints couple the positions of their bodies
            if (j > 0) A[6 * parent + 1 + (6 * body + 2) * UNKNOWNS] += 0.05;
        }
        const carom_matrix matrix = {shape, A};
        assert_true(carom_saddle_factor(&S, matrix, &W, &V));
        // towards the ground: each body meets its joint and the body before it, each joint the latter
        if (!loops) assert_int_equal(S.F.up[S.nb], 3 * (BODIES - 1) + 1);
        for (int i = 0; i < n; ++i) S.b[i] = symmetric_uniform(&seed);
        assert_true(carom_saddle_solve_checked(&S, 0));
        for (int i = 0; i < n; ++i) {
            double left = S.b[i], size = fabs(left);
            for (int j = 0; i < UNKNOWNS && j < UNKNOWNS; ++j)
                left -= A[i + j * UNKNOWNS] * S.x[j], size += fabs(A[i + j * UNKNOWNS] * S.x[j]);
            for (int k = 0; k < ne; ++k)
                for (int e = 0; e < W.count[k]; ++e) {
                    if (carom_column_rows(&W, k)[e] == i)
                        left -= W.a[k * WIDE + e] * S.x[UNKNOWNS + k],
                            size += fabs(W.a[k * WIDE + e] * S.x[UNKNOWNS + k]);
                    if (UNKNOWNS + k == i) left -= V.a[k * WIDE + e] * S.x[carom_column_rows(&V, k)[e]];
                }
            assert_true(fabs(left) <= 1e-10 * fmax(size, 1));
        }
        if (!loops) {
            A[(UNKNOWNS - 1) * UNKNOWNS] = 1; // first and last body: not joined
            if (!tree) assert_false(carom_saddle_factor(&S, matrix, &W, &V));
            A[(UNKNOWNS - 1) * UNKNOWNS] = 0;
        } else { // the last joint once more instead of the one before
            for (int k = 0; k < ROWS; ++k)
                for (int e = 0; e < WIDE; ++e) {
                    const int from = (ROWS * (joints - 1) + k) * WIDE + e, to = (ROWS * (joints - 2) + k) * WIDE + e;
                    W.a[to] = W.a[from], W.row[to] = W.row[from], V.a[to] = V.a[from], V.row[to] = V.row[from];
                    W.count[ROWS * (joints - 2) + k] = V.count[ROWS * (joints - 2) + k] = WIDE;
                }
            S.known = false; // other bodies are joined
            assert_false(carom_saddle_factor(&S, matrix, &W, &V) && carom_saddle_solve_checked(&S, 0));
        }
        free(mem.base);
    }
    carom_arena count = {0};
    // a group of seven
    assert_false(carom_allocate_saddle(&count, 7, 1, (const int[]){0, 7}, 3,
                                       (carom_shape){.storage = CAROM_DENSE, .n = 7}, 4, NULL)
                     .on);
}

// Two levels as Newmark's scheme has them: A x_0 + A x_1/10 = b_0, A x_1 + W y = b_1, V'x_0/2 + W'x_1 = c.
static void solve_two_levels(carom_saddle *S, carom_matrix A, const carom_columns *W, const carom_columns *V,
                             const double *b, double *x) {
    const size_t size = (size_t)(2 * S->nv + S->ne) * sizeof *b;
    assert_true(carom_saddle_begin(S, A, W, V) && carom_saddle_add_matrix(S, 0, 0, 1, A) &&
                carom_saddle_add_matrix(S, 0, 1, 0.1, A) && carom_saddle_add_matrix(S, 1, 1, 1, A) &&
                carom_saddle_add_forces(S, 1, 0, 1, W) && carom_saddle_add_rates(S, 0, 0, 0.5, V) &&
                carom_saddle_add_rates(S, 0, 1, 1, W) && carom_saddle_finish(S));
    memcpy(S->b, b, size);
    assert_true(carom_saddle_solve_checked(S, 0));
    memcpy(x, S->x, size);
}

// (SDL-6)  Bodies in a row, coupled or not: whether the saddle has seen the other matrix before or not, the same bits;
// and what is left is rounding: of 6 + 12 + 3 terms in a row, times the growth of an elimination without pivoting.
static void coupling_that_appears_changes_no_number(void **state) {
    (void)state;
    enum { NE = ROWS * BODIES, ALL = 2 * UNKNOWNS + NE };
    const carom_saddle_levels levels = {.velocities = 2,
                                        .reactions = 1,
                                        .A = {{true, true}, {false, true}},
                                        .W = {{true}, {true}},
                                        .V = {{true, true}}};
    static int group[BODIES + 1];
    static double A[2][UNKNOWNS * UNKNOWNS], b[ALL], x[5][ALL];
    uint64_t seed = 11;
    const carom_shape shape = {.storage = CAROM_DENSE, .n = UNKNOWNS};
    carom_arena mem = {.base = aligned_alloc(64, 1 << 25), .size = 1 << 25};
    assert_non_null(mem.base);
    for (int i = 0; i <= BODIES; ++i) group[i] = 6 * i;
    carom_saddle S = carom_allocate_saddle(&mem, UNKNOWNS, BODIES, group, NE, shape, WIDE, &levels), T = S;
    T = carom_allocate_saddle(&mem, UNKNOWNS, BODIES, group, NE, shape, WIDE, &levels);
    carom_columns W = carom_allocate_columns(&mem, UNKNOWNS, NE, WIDE), V = W;
    V = carom_allocate_columns(&mem, UNKNOWNS, NE, WIDE);
    assert_true(S.on && T.on && mem.used <= mem.size);
    for (int j = 0; j < BODIES; ++j) join(&W, j, j - 1, j, &seed), join(&V, j, j - 1, j, &seed);
    for (int e = 0; e < NE * WIDE; ++e) V.a[e] = W.a[e] + 0.01 * symmetric_uniform(&seed);
    for (int k = 0; k < NE; ++k) // another structure: a zero less
        if (k % 2) V.count[k] -= 1;
    for (int c = 0; c < 2; ++c)
        for (int i = 0; i < UNKNOWNS; ++i)
            for (int j = 0; j < UNKNOWNS; ++j)
                if (i / 6 == j / 6) A[c][i + j * UNKNOWNS] = i == j ? 3 : 0.1 * ((i + 2 * j) % 5);
                else if (c && abs(i / 6 - j / 6) == 1) A[c][i + j * UNKNOWNS] = 0.02 * ((i + 3 * j) % 7);
    for (int i = 0; i < ALL; ++i) b[i] = symmetric_uniform(&seed);
    for (int k = 0; k < 3; ++k) solve_two_levels(&S, (carom_matrix){shape, A[k % 2]}, &W, &V, b, x[k]);
    for (int k = 0; k < 2; ++k) solve_two_levels(&T, (carom_matrix){shape, A[1]}, &W, &V, b, x[3 + k]);
    assert_memory_equal(x[0], x[2], sizeof b);
    assert_memory_equal(x[1], x[3], sizeof b);
    assert_memory_equal(x[1], x[4], sizeof b);
    for (int c = 0; c < 2; ++c) {
        const double *x_0 = x[c], *x_1 = x_0 + UNKNOWNS, *y = x_1 + UNKNOWNS;
        double left[ALL], most = 0;
        memcpy(left, b, sizeof left);
        for (int i = 0; i < ALL; ++i) most = fmax(most, fabs(x[c][i]));
        for (int i = 0; i < UNKNOWNS; ++i)
            for (int j = 0; j < UNKNOWNS; ++j) {
                left[i] -= A[c][i + j * UNKNOWNS] * (x_0[j] + 0.1 * x_1[j]);
                left[UNKNOWNS + i] -= A[c][i + j * UNKNOWNS] * x_1[j];
            }
        for (int k = 0; k < NE; ++k) {
            for (int e = 0; e < W.count[k]; ++e) {
                left[UNKNOWNS + carom_column_rows(&W, k)[e]] -= W.a[k * WIDE + e] * y[k];
                left[2 * UNKNOWNS + k] -= W.a[k * WIDE + e] * x_1[carom_column_rows(&W, k)[e]];
            }
            for (int e = 0; e < V.count[k]; ++e)
                left[2 * UNKNOWNS + k] -= 0.5 * V.a[k * WIDE + e] * x_0[carom_column_rows(&V, k)[e]];
        }
        for (int i = 0; i < ALL; ++i) assert_true(fabs(left[i]) <= 1e-10 * fmax(most, 1));
    }
    free(mem.base);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coupling_that_appears_changes_no_number),
        cmocka_unit_test(joints_are_eliminated_with_their_bodies),
        cmocka_unit_test(three_unknowns_have_the_bits_of_a_band),
        cmocka_unit_test(every_storage_and_size_is_solved),
        cmocka_unit_test(larger_matrices_are_solved_too),
        cmocka_unit_test(symmetric_bands_are_solved_whether_said_or_not),
        cmocka_unit_test(symmetric_factor_ignores_the_upper_triangle),
        cmocka_unit_test(missing_inertia_is_named),
        cmocka_unit_test(dependent_rows_are_found),
        cmocka_unit_test(numbers_that_are_none_are_singular),
        cmocka_unit_test(scales_do_not_make_a_matrix_singular),
    };
    return cmocka_run_group_tests_name("factor", tests, NULL, NULL);
}

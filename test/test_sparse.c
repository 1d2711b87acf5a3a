// test_sparse.c: sparse matrices say the same as dense ones, and are factorised as well as they.
#include "linalg/matrix.h"
#include "problems.h"
#include <carom/carom.h>
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MOST = 40 };

// About `per` entries in every column besides the diagonal; a mesh of squares when per is 0.
static carom_pattern *random_pattern(int n, int per, bool symmetric, uint64_t *seed) {
    int row[20 * MOST], col[20 * MOST];
    size_t count = 0;
    for (int j = 0; j < n; ++j)
        for (int k = 0; k < per; ++k) {
            const int i = (int)(0.5 * (1 + symmetric_uniform(seed)) * n) % n;
            row[count] = i, col[count++] = j;
            if (symmetric) row[count] = j, col[count++] = i;
        }
    for (int j = 0; per == 0 && j < n; ++j)
        for (int s = 1; s <= 6; s += 5)
            if (j + s < n) row[count] = j, col[count++] = j + s, row[count] = j + s, col[count++] = j;
    carom_pattern *P = carom_pattern_create(n, count, row, col, carom_direct_klu());
    assert_non_null(P);
    carom_error err;
    if (carom_pattern_check(P, &err) != CAROM_OK) fail_msg("%s", err.text);
    for (size_t e = 0; e < count; ++e) assert_true(carom_pattern_find(P, row[e], col[e]) >= 0);
    return P;
}

typedef struct both { // the same matrix twice
    carom_matrix S, D;
    double s[MOST * MOST], d[MOST * MOST];
} both;

static void fill(both *b, const carom_pattern *P, bool symmetric, uint64_t *seed) {
    b->S = (carom_matrix){carom_shape_sparse(P), b->s};
    b->D = (carom_matrix){{CAROM_DENSE, P->n, 0, NULL}, b->d};
    carom_matrix_zero(b->S);
    carom_matrix_zero(b->D);
    for (int j = 0; j < P->n; ++j)
        for (int i = 0; i < P->n; ++i) {
            double *a = carom_matrix_entry(b->S, i, j);
            if (a) *a = symmetric && i > j ? *carom_matrix_entry(b->S, j, i) : symmetric_uniform(seed);
            if (a && symmetric && i == j) *a = 2 * P->n;
            if (a) *carom_matrix_entry(b->D, i, j) = *a;
        }
}

static void a_pattern_holds_its_entries_once_and_the_diagonal(void **state) {
    (void)state;
    const int row[] = {2, 0, 2, 2, 1}, col[] = {0, 2, 0, 1, 1};
    carom_pattern *P = carom_pattern_create(3, 5, row, col, NULL);
    assert_non_null(P);
    const int start[] = {0, 2, 4, 6}, rows[] = {0, 2, 1, 2, 0, 2};
    for (int j = 0; j <= 3; ++j) assert_int_equal(P->start[j], start[j]);
    for (int e = 0; e < 6; ++e) assert_int_equal(P->row[e], rows[e]);
    assert_int_equal(carom_pattern_find(P, 2, 0), 1);
    assert_int_equal(carom_pattern_find(P, 1, 0), -1);
    assert_int_equal(carom_pattern_find(P, 0, 1), -1);
    carom_pattern_destroy(P);
    assert_null(carom_pattern_create(2, 5, row, col, NULL)); // row 2 of 0, 1
}

static void malformed_patterns_are_refused(void **state) {
    (void)state;
    const struct { int start[3], row[4]; const char *word; } bad[] = {
        {{1, 2, 3}, {0, 0, 1}, "start[0]"}, {{0, 2, 1}, {0, 1}, "ends before"}, {{0, 1, 3}, {0, 1, 2}, "row 2"},
        {{0, 2, 3}, {1, 0, 1}, "ascend"},   {{0, 2, 3}, {0, 0, 1}, "ascend"},    {{0, 1, 2}, {0, 0}, "diagonal"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        carom_error err = {0};
        assert_int_equal(carom_pattern_check(&(carom_pattern){2, bad[i].start, bad[i].row, NULL}, &err),
                         CAROM_BAD_INPUT);
        assert_non_null(strstr(err.text, bad[i].word));
    }
}

static void sparse_products_and_sums_are_those_of_dense_matrices(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int n = 1; n <= MOST; n += 3)
        for (int per = 0; per < 6; ++per) {
            carom_pattern *P = random_pattern(n, per, false, &seed);
            both b;
            fill(&b, P, false, &seed);
            double x[MOST], y[MOST], z[MOST];
            for (int i = 0; i < n; ++i) x[i] = symmetric_uniform(&seed), y[i] = z[i] = symmetric_uniform(&seed);
            carom_matrix_muladd(y, 0.7, b.S, x);
            carom_matrix_muladd(z, 0.7, b.D, x);
            for (int i = 0; i < n; ++i) assert_true(y[i] == z[i]); // zeros in between change nothing
            carom_matrix_mul(y, b.S, x);
            carom_matrix_mul(z, b.D, x);
            for (int i = 0; i < n; ++i) assert_true(y[i] == z[i]);
            carom_matrix_magnitude(y, b.S, x);
            carom_matrix_magnitude(z, b.D, x);
            for (int i = 0; i < n; ++i) assert_true(y[i] == z[i]);

            // Sums with every storage, in and out of sparse ones.
            carom_pattern *Q = random_pattern(n, 2, false, &seed);
            const carom_shape shapes[] = {
                {CAROM_DIAGONAL, n, 0, NULL}, {CAROM_BANDED, n, 1, NULL}, carom_shape_sparse(Q), carom_shape_sparse(P)};
            for (size_t k = 0; k < sizeof shapes / sizeof *shapes; ++k) {
                carom_pattern *U = carom_pattern_union(carom_shape_sparse(P), shapes[k], NULL);
                carom_error err;
                assert_non_null(U);
                assert_int_equal(carom_pattern_check(U, &err), CAROM_OK);
                assert_true(carom_shape_holds(carom_shape_sparse(U), carom_shape_sparse(P)));
                assert_true(carom_shape_holds(carom_shape_sparse(U), shapes[k]));
                double u[MOST * MOST], e[MOST * MOST * 3];
                const carom_matrix A = {carom_shape_sparse(U), u}, B = {shapes[k], e};
                carom_matrix_zero(A);
                for (size_t i = 0; i < carom_shape_size(B.shape); ++i) e[i] = symmetric_uniform(&seed);
                carom_matrix_add(A, 2, b.S);
                carom_matrix_add(A, -1, B);
                for (int i = 0; i < n; ++i)
                    for (int j = 0; j < n; ++j) {
                        const double *a = carom_matrix_entry(A, i, j), *f = carom_matrix_entry(B, i, j);
                        const double want = 2 * *carom_matrix_entry(b.D, i, j) - (f ? *f : 0);
                        assert_true((a ? *a : 0) == want);
                        if (!a) assert_true(!f && !carom_matrix_entry(b.S, i, j)); // no more than it must hold
                        else assert_true(f || i == j || carom_matrix_entry(b.S, i, j));
                    }
                carom_pattern_destroy(U);
            }
            double D[MOST * MOST] = {0};
            carom_matrix_add((carom_matrix){{CAROM_DENSE, n, 0, NULL}, D}, 1, b.S);
            for (int i = 0; i < n * n; ++i) assert_true(D[i] == b.d[i]);
            carom_pattern_destroy(Q);
            carom_pattern_destroy(P);
        }
}

static void a_shape_knows_what_it_holds_and_how_wide_it_is(void **state) {
    (void)state;
    const int row[] = {3, 0}, col[] = {1, 1};
    carom_pattern *P = carom_pattern_create(5, 2, row, col, NULL);
    const carom_shape S = carom_shape_sparse(P), diagonal = {CAROM_DIAGONAL, 5, 0, NULL},
                      band = {CAROM_BANDED, 5, 2, NULL}, narrow = {CAROM_BANDED, 5, 1, NULL},
                      dense = {CAROM_DENSE, 5, 0, NULL};
    assert_int_equal(carom_shape_band(S), 2);
    assert_int_equal(carom_shape_band(dense), 4);
    assert_true(carom_shape_holds(S, diagonal) && carom_shape_holds(band, S) && carom_shape_holds(dense, S));
    assert_false(carom_shape_holds(narrow, S) || carom_shape_holds(S, narrow) || carom_shape_holds(S, dense) ||
                 carom_shape_holds(diagonal, S));
    carom_pattern_destroy(P);
}

// -- factorisation -------------------------------------------------------------------------------------------------

typedef struct memory {
    carom_arena mem;
    carom_factor F;
} memory;

static memory make_factor(carom_shape shape, bool symmetric) {
    memory m = {0};
    m.F = carom_allocate_factor(&m.mem, shape, symmetric);
    const size_t size = m.mem.used;
    m.mem = (carom_arena){.base = aligned_alloc(64, size), .size = size};
    assert_non_null(m.mem.base);
    m.F = carom_allocate_factor(&m.mem, shape, symmetric);
    assert_false(m.mem.failed);
    return m;
}

static void drop(memory *m) {
    carom_arena_release(&m->mem);
    free(m->mem.base);
}

// |A x - b| <= C n eps |A| |x|, C = 1000: KLU's threshold pivoting allows entries to grow.
static void check_solution(const both *b, const carom_factor *F, uint64_t *seed) {
    const int n = b->D.shape.n;
    double x[MOST], r[MOST];
    for (int i = 0; i < n; ++i) x[i] = r[i] = symmetric_uniform(seed);
    carom_factor_solve(F, x);
    const double size = carom_norm_max(b->d, n * n), most = carom_norm_max(x, n);
    carom_matrix_muladd(r, -1, b->D, x);
    if (!(carom_norm_max(r, n) <= 1000 * n * DBL_EPSILON * n * size * most))
        fail_msg("n %d symmetric %d: residual %g", n, F->symmetric, carom_norm_max(r, n));
}

static void sparse_matrices_are_solved_again_and_again(void **state) {
    (void)state;
    uint64_t seed = 17;
    for (int symmetric = 0; symmetric < 2; ++symmetric)
        for (int n = 1; n <= MOST; ++n)
            for (int per = 0; per < 5; ++per) {
                carom_pattern *P = random_pattern(n, per, symmetric, &seed);
                memory m = make_factor(carom_shape_sparse(P), symmetric);
                for (int again = 0; again < 3; ++again) {
                    both b;
                    fill(&b, P, symmetric, &seed);
                    assert_int_equal(carom_factorise(&m.F, b.S, NULL), CAROM_OK);
                    check_solution(&b, &m.F, &seed);
                }
                drop(&m);
                carom_pattern_destroy(P);
            }
}

// A saddle point has no pivots on part of its diagonal: they must be found elsewhere, also when the first matrix had
// them.
static void pivots_leave_the_diagonal_when_they_must(void **state) {
    (void)state;
    enum { N = 30, C = 10 };
    int row[4 * C], col[4 * C], count = 0;
    for (int k = 0; k < C; ++k)
        for (int s = 0; s < 2; ++s) {
            row[count] = N + k, col[count++] = 3 * k + s;
            row[count] = 3 * k + s, col[count++] = N + k;
        }
    uint64_t seed = 5;
    carom_pattern *P = carom_pattern_create(N + C, (size_t)count, row, col, carom_direct_klu());
    memory m = make_factor(carom_shape_sparse(P), false);
    both b;
    for (int round = 0; round < 4; ++round) {
        fill(&b, P, false, &seed);
        for (int k = N; k < N + C && round != 1; ++k)
            *carom_matrix_entry(b.S, k, k) = *carom_matrix_entry(b.D, k, k) = 0;
        for (int k = 0; k < N && round == 3; ++k)
            *carom_matrix_entry(b.S, k, k) = *carom_matrix_entry(b.D, k, k) = 1e-13;
        // Round 3 is singular but for 1e-13 where no constraint acts; regular all the same.
        assert_int_equal(carom_factorise(&m.F, b.S, NULL), CAROM_OK);
        if (round < 3) check_solution(&b, &m.F, &seed);
    }
    drop(&m);
    carom_pattern_destroy(P);
}

static void what_cannot_be_factorised_is_named_and_forgotten(void **state) {
    (void)state;
    uint64_t seed = 29;
    for (int symmetric = 0; symmetric < 2; ++symmetric) {
        carom_pattern *P = random_pattern(20, 0, symmetric, &seed);
        memory m = make_factor(carom_shape_sparse(P), symmetric);
        both b;
        for (int bad = 0; bad < 20; bad += 7) {
            fill(&b, P, symmetric, &seed);
            for (int i = 0; i < 20; ++i) {
                double *a = carom_matrix_entry(b.S, i, bad), *c = carom_matrix_entry(b.S, bad, i);
                if (a) *a = 0;
                if (c) *c = 0;
            }
            int where = -1;
            assert_int_equal(carom_factorise(&m.F, b.S, &where), CAROM_SINGULAR);
            assert_int_equal(where, bad);
            *carom_matrix_entry(b.S, bad, bad) = NAN;
            assert_int_equal(carom_factorise(&m.F, b.S, &where), CAROM_SINGULAR);
            *carom_matrix_entry(b.S, bad, bad) = -1;
            if (symmetric) assert_int_equal(carom_factorise(&m.F, b.S, &where), CAROM_SINGULAR);
            if (symmetric) assert_int_equal(where, bad);
            fill(&b, P, symmetric, &seed);
            assert_int_equal(carom_factorise(&m.F, b.S, &where), CAROM_OK);
            check_solution(&b, &m.F, &seed);
        }
        drop(&m);
        carom_pattern_destroy(P);
    }
}

static carom_status nothing(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)t, (void)q, (void)v, (void)f;
    return CAROM_OK;
}
static carom_status unit_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)work, (void)t, (void)q;
    for (int i = 0; i < M.shape.n; ++i) *carom_matrix_entry(M, i, i) = 1;
    return CAROM_OK;
}

static void a_system_says_what_is_wrong_with_its_sparse_shapes(void **state) {
    (void)state;
    carom_pattern *none = carom_pattern_create(4, 0, NULL, NULL, NULL),
                  *klu = carom_pattern_create(4, 0, NULL, NULL, carom_direct_klu());
    carom_pattern *large = carom_pattern_create(5, 0, NULL, NULL, carom_direct_klu());
    carom_system s = carom_system_default(4, 4, 0, 0);
    carom_error err;
    s.mass = unit_mass;
    s.force = nothing;
    s.mass_shape = carom_shape_sparse(none);
    assert_int_equal(carom_system_check(&s, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "carom_direct_klu"));
    s.mass_shape = (carom_shape){CAROM_SPARSE, 4, 0, large};
    assert_int_equal(carom_system_check(&s, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "pattern of 4 columns"));
    s.mass_shape = (carom_shape){CAROM_BANDED, 4, 1, NULL};
    s.tangent_shape = carom_shape_sparse(klu);
    assert_int_equal(carom_system_check(&s, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "tangent_shape must contain"));
    s.mass_shape = carom_shape_sparse(klu);
    assert_int_equal(carom_system_check(&s, &err), CAROM_OK);
    carom_pattern_destroy(none);
    carom_pattern_destroy(klu);
    carom_pattern_destroy(large);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_holds_its_entries_once_and_the_diagonal),
        cmocka_unit_test(malformed_patterns_are_refused),
        cmocka_unit_test(sparse_products_and_sums_are_those_of_dense_matrices),
        cmocka_unit_test(a_shape_knows_what_it_holds_and_how_wide_it_is),
        cmocka_unit_test(sparse_matrices_are_solved_again_and_again),
        cmocka_unit_test(pivots_leave_the_diagonal_when_they_must),
        cmocka_unit_test(what_cannot_be_factorised_is_named_and_forgotten),
        cmocka_unit_test(a_system_says_what_is_wrong_with_its_sparse_shapes),
    };
    return cmocka_run_group_tests_name("sparse", tests, NULL, NULL);
}

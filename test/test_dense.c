// Small dense systems: solutions, ranks, shortest solutions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// cmocka wants the three above first
#include "linalg/dense.h"
#include "problems.h"
#include <cmocka.h>

enum { MOST = 23 };

// A = B C', n x n of rank r; symmetric: C = B.
static void make(double *A, int n, int r, bool symmetric, uint64_t seed) {
    double B[MOST * MOST], C[MOST * MOST];
    for (int i = 0; i < n * r; i++) B[i] = symmetric_uniform(&seed);
    for (int i = 0; i < n * r; i++) C[i] = symmetric ? B[i] : symmetric_uniform(&seed);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i + j * n] = 0;
            for (int k = 0; k < r; k++) A[i + j * n] += B[i + k * n] * C[j + k * n];
        }
}

static void times(double *y, const double *A, const double *x, int n) {
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++) y[i] += A[i + j * n] * x[j];
    }
}

static double distance(const double *x, const double *y, int n) {
    double d = 0;
    for (int i = 0; i < n; i++) d = fmax(d, fabs(x[i] - y[i]));
    return d;
}

static void regular_systems_are_solved(void **state) {
    (void)state;
    for (int n = 1; n <= MOST; n++) {
        double A[MOST * MOST], F[MOST * MOST], b[MOST], x[MOST], y[MOST], work[3 * MOST];
        int row[MOST], col[MOST];
        uint64_t seed = 17;
        make(A, n, n, true, 5 + (uint64_t)n);
        for (int i = 0; i < n; i++) A[i * (n + 1)] += 1; // eigenvalues from 1 to about n
        for (int i = 0; i < n; i++) b[i] = symmetric_uniform(&seed);

        memcpy(F, A, sizeof F), memcpy(x, b, sizeof x);
        assert_int_equal(carom_dense_ldl(F, n, n, 1e-12, work), 0);
        carom_dense_ldl_solve(F, n, n, x);
        times(y, A, x, n);
        assert_true(distance(y, b, n) < 1e-13);

        A[n - 1] += 0.5; // no longer symmetric for n > 1
        memcpy(F, A, sizeof F), memcpy(x, b, sizeof x);
        assert_true(carom_dense_lu(F, n, n, 1e-12, row));
        carom_dense_lu_solve(F, n, n, row, x);
        times(y, A, x, n);
        assert_true(distance(y, b, n) < 1e-13);

        double copy[MOST];
        memcpy(F, A, sizeof F), memcpy(copy, b, sizeof b);
        const int rank = carom_dense_full(F, n, n, 1e-12, row, col, work);
        assert_int_equal(rank, n);
        carom_dense_full_solve(F, n, n, rank, row, col, work, copy, x);
        times(y, A, x, n);
        assert_true(distance(y, b, n) < 1e-13);

        memcpy(F, A, sizeof F), memcpy(copy, b, sizeof b);
        assert_int_equal(carom_dense_shortest(F, n, n, 1e-12, col, work, copy, x), n);
        times(y, A, x, n);
        assert_true(distance(y, b, n) < 1e-12);
    }
}

static void singular_consistent_systems_are_solved_and_their_rank_is_found(void **state) {
    (void)state;
    for (int n = 2; n <= MOST; n++)
        for (int r = 1; r < n; r += 1 + n / 5) {
            double A[MOST * MOST], F[MOST * MOST], b[MOST], copy[MOST], x[MOST], y[MOST], z[MOST], work[3 * MOST];
            int row[MOST], col[MOST];
            uint64_t seed = 23;
            make(A, n, r, true, 100 + (uint64_t)n);
            for (int i = 0; i < n; i++) z[i] = symmetric_uniform(&seed);
            times(b, A, z, n);

            memcpy(F, A, sizeof F), memcpy(x, b, sizeof x);
            assert_int_equal(carom_dense_ldl(F, n, n, 1e-11, work), n - r);
            carom_dense_ldl_solve(F, n, n, x);
            times(y, A, x, n);
            assert_true(distance(y, b, n) < 1e-7); // no pivoting: the leading part may be badly conditioned

            make(A, n, r, false, 200 + (uint64_t)n);
            times(b, A, z, n);
            memcpy(F, A, sizeof F);
            assert_false(carom_dense_lu(F, n, n, 1e-12, row));

            memcpy(F, A, sizeof F), memcpy(copy, b, sizeof b);
            assert_int_equal(carom_dense_full(F, n, n, 1e-12, row, col, work), r);
            carom_dense_full_solve(F, n, n, r, row, col, work, copy, x);
            times(y, A, x, n);
            assert_true(distance(y, b, n) < 1e-11);

            memcpy(F, A, sizeof F), memcpy(copy, b, sizeof b);
            assert_int_equal(carom_dense_shortest(F, n, n, 1e-11, col, work, copy, x), r);
            times(y, A, x, n);
            assert_true(distance(y, b, n) < 1e-11);
        }
}

// x = A^+ b: A'(A x - b) = 0, and x is orthogonal to the kernel, that is in the range of A' = C B': x = C y.
static void the_shortest_solution_is_the_pseudo_inverse(void **state) {
    (void)state;
    for (int n = 3; n <= 9; n += 3) {
        const int r = n - 2;
        double A[81], F[81], b[9], copy[9], x[9], y[9], g[9], work[27], other[9];
        int col[9];
        uint64_t seed = 3;
        make(A, n, r, false, 300 + (uint64_t)n);
        for (int i = 0; i < n; i++) b[i] = copy[i] = symmetric_uniform(&seed); // not in the range
        memcpy(F, A, sizeof F);
        assert_int_equal(carom_dense_shortest(F, n, n, 1e-11, col, work, copy, x), r);
        times(y, A, x, n);
        for (int j = 0; j < n; j++) {
            g[j] = 0;
            for (int i = 0; i < n; i++) g[j] += A[i + j * n] * (y[i] - b[i]);
            assert_true(fabs(g[j]) < 1e-12);
        }
        // Another solution of the same least-squares problem is longer.
        memcpy(F, A, sizeof F), memcpy(copy, y, sizeof y);
        int row[9];
        double scale[18], xx = 0, oo = 0;
        const int rank = carom_dense_full(F, n, n, 1e-11, row, col, scale);
        carom_dense_full_solve(F, n, n, rank, row, col, scale, copy, other);
        double dot = 0; // x is orthogonal to the difference
        for (int i = 0; i < n; i++) xx += x[i] * x[i], oo += other[i] * other[i], dot += x[i] * (other[i] - x[i]);
        assert_true(xx < oo);
        assert_true(fabs(dot) < 1e-11 * oo);
    }
}

static void badly_scaled_systems_keep_their_rank(void **state) {
    (void)state;
    double A[9] = {1e-12, 0, 0, 0, 1, 0.5e6, 0, 0.5e6, 1e12}, b[3] = {1e-12, 1, 1e6}, x[3], scale[6];
    int row[3], col[3];
    assert_int_equal(carom_dense_full(A, 3, 3, 1e-12, row, col, scale), 3);
    carom_dense_full_solve(A, 3, 3, 3, row, col, scale, b, x);
    assert_true(fabs(x[0] - 1) < 1e-14);
    assert_true(fabs(x[1] - 2.0 / 3) < 1e-14 && fabs(x[2] - 2e-6 / 3) < 1e-20);
}

// L of a matrix with a band, or with blocks, has zeros at the ends of its columns: passing over them changes no bit,
// and neither does a second right-hand side.
static void zeros_below_columns_are_passed_over(void **state) {
    (void)state;
    for (int n = 1; n <= MOST; n++)
        for (int band = 0; band < n; band++) {
            double A[MOST * MOST], F[MOST * MOST], x[2][MOST], alone[2][MOST], y[MOST], end[MOST];
            uint64_t seed = 29;
            make(A, n, n, true, 7 + (uint64_t)n);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) {
                    if (abs(i - j) > band) A[i + j * n] = 0;
                    else if (i == j) A[i + j * n] += 2 * n; // rows sum to less: |a_ij| < n/3 on average
                }
            for (int i = 0; i < n; i++) x[0][i] = symmetric_uniform(&seed), x[1][i] = symmetric_uniform(&seed);
            memcpy(F, A, sizeof F), memcpy(alone, x, sizeof x);
            assert_int_equal(carom_dense_ldl(F, n, n, 1e-12, end), 0);
            carom_dense_ldl_ends(F, n, n, end);
            // rows k + 3 + band and above are filled
            for (int k = 0; k + 4 <= n; k += 4)
                assert_true(end[k / 4] >= fmin(k + 4 + band, n) && end[k / 4] <= fmin(k + 4 + band + 1, n));
            carom_dense_ldl_solve(F, n, n, alone[0]), carom_dense_ldl_solve(F, n, n, alone[1]);
            for (int two = 0; two < 2; two++) {
                double z[2][MOST];
                memcpy(z, x, sizeof z);
                carom_dense_ldl_solve_two(F, n, n, end, z[0], two ? z[1] : NULL);
                for (int i = 0; i < n; i++) assert_true(z[0][i] == alone[0][i] && z[1][i] == (two ? alone : x)[1][i]);
            }
            times(y, A, alone[1], n);
            assert_true(distance(y, x[1], n) < 1e-13);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regular_systems_are_solved),
        cmocka_unit_test(zeros_below_columns_are_passed_over),
        cmocka_unit_test(singular_consistent_systems_are_solved_and_their_rank_is_found),
        cmocka_unit_test(the_shortest_solution_is_the_pseudo_inverse),
        cmocka_unit_test(badly_scaled_systems_keep_their_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

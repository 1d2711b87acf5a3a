// The certificate: zero exactly where the law holds, in velocity units, infinite for what is not a number.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// cmocka wants the three above first
#include "problems.h"
#include <cmocka.h>
#include "contact/operator.h"
#include "solver/local.h"

// u and p are prescribed: c = u - G p.
static double residual_of(carom_law law, double mu, const double *G, const double *u, const double *p, int *worst) {
    contact_problem x = problem_create(1 + CAROM_TANGENTS, 1);
    problem_add(&x, law, mu);
    const int n = x.pb.n;
    for (int i = 0; i < n; i++) {
        x.p[i] = p[i];
        x.c[i] = u[i];
        for (int j = 0; j < n; j++) PROBLEM_G(&x, i, j) = G[i + j * n];
        for (int j = 0; j < n; j++) x.c[i] -= G[i + j * n] * p[j];
    }
    const double r = carom_residual(&x.pb, worst);
    problem_destroy(&x);
    return r;
}

static const double I2[] = {2, 0, 0, 4}, I3[] = {2, 0, 0, 0, 4, 0, 0, 0, 4};
static const double I6[36] = {[0] = 2, [7] = 4, [14] = 4, [21] = 4, [28] = 4, [35] = 4};

static void is_zero_where_the_laws_hold(void **state) {
    (void)state;
    const double g = 2;
    assert_true(residual_of(CAROM_BILATERAL, 0, &g, (double[]){0}, (double[]){-3}, NULL) == 0);
    assert_true(residual_of(CAROM_UNILATERAL, 0, &g, (double[]){0}, (double[]){3}, NULL) == 0);
    assert_true(residual_of(CAROM_UNILATERAL, 0, &g, (double[]){3}, (double[]){0}, NULL) == 0);
    assert_true(residual_of(CAROM_UNILATERAL, 0, &g, (double[]){0}, (double[]){0}, NULL) == 0);
    assert_true(residual_of(CAROM_PLANAR, 0.5, I2, (double[]){0, 0}, (double[]){2, -0.75}, NULL) == 0); // sticks
    assert_true(residual_of(CAROM_PLANAR, 0.5, I2, (double[]){0, 0}, (double[]){2, 1}, NULL) == 0);     // at the limit
    assert_true(residual_of(CAROM_PLANAR, 0.5, I2, (double[]){0, 7}, (double[]){2, -1}, NULL) == 0);    // slips
    assert_true(residual_of(CAROM_PLANAR, 0.5, I2, (double[]){1, 7}, (double[]){0, 0}, NULL) == 0);     // open
    assert_true(residual_of(CAROM_PLANAR, 0, I2, (double[]){0, 7}, (double[]){2, 0}, NULL) == 0);       // no friction
    assert_true(residual_of(CAROM_SPATIAL, 0.5, I3, (double[]){0, 0, 0}, (double[]){2, 0.6, 0.7}, NULL) == 0);
    assert_true(residual_of(CAROM_SPATIAL, 0.5, I3, (double[]){0, 3, 4}, (double[]){2, -0.6, -0.8}, NULL) < 1e-15);
    assert_true(residual_of(CAROM_BALL_5, 0.5, I6, (double[]){0, 0, 0, 0, 0, 0},
                            (double[]){2, 0.4, -0.4, 0.4, 0.4, -0.5}, NULL) == 0);
    assert_true(residual_of(CAROM_BALL_5, 0.5, I6, (double[]){0, 1, 2, 4, 2, 0},
                            (double[]){2, -0.2, -0.4, -0.8, -0.4, 0}, NULL) < 1e-15);
}

static void measures_violations_as_velocities(void **state) {
    (void)state;
    const double g = 2;
    assert_true(residual_of(CAROM_BILATERAL, 0, &g, (double[]){-0.25}, (double[]){1}, NULL) == 0.25);
    assert_true(residual_of(CAROM_UNILATERAL, 0, &g, (double[]){-0.25}, (double[]){0}, NULL) == 0.25); // penetrates
    assert_true(residual_of(CAROM_UNILATERAL, 0, &g, (double[]){0}, (double[]){-1}, NULL) == 2);       // pulls
    assert_true(residual_of(CAROM_UNILATERAL, 0, &g, (double[]){0.5}, (double[]){1}, NULL) == 0.5);    // both at once
    // p_T above the limit by 0.5: 4 * 0.5.  Inside the disc but sliding at 0.25.  Friction that drives.
    assert_true(residual_of(CAROM_PLANAR, 0.5, I2, (double[]){0, 0}, (double[]){2, 1.5}, NULL) == 2);
    assert_true(residual_of(CAROM_PLANAR, 0.5, I2, (double[]){0, 0.25}, (double[]){2, 0}, NULL) == 0.25);
    assert_true(residual_of(CAROM_PLANAR, 0.5, I2, (double[]){0, 100}, (double[]){2, 1}, NULL) == 8);
    // Unequal tangential rows: both count with the larger d, 9 * 0.5.
    const double unequal[] = {2, 0, 0, 0, 4, 0, 0, 0, 9};
    assert_true(residual_of(CAROM_SPATIAL, 0.5, unequal, (double[]){0, 0, 0}, (double[]){2, 1.5, 0}, NULL) == 4.5);
    // Right size, wrong direction by a right angle.
    assert_true(residual_of(CAROM_SPATIAL, 0.5, I3, (double[]){0, 100, 0}, (double[]){2, 0, 1}, NULL) > 4);
    // A square instead of a disc would let this pass: |p_1|, |p_2| < mu p_N, |p_T| > mu p_N.
    assert_true(residual_of(CAROM_SPATIAL, 0.5, I3, (double[]){0, 0, 0}, (double[]){2, 0.9, 0.9}, NULL) > 1);
    // Two discs (sliding, rolling) would let this pass: each half is below mu p_N.  |p_T| = sqrt(2) 0.8, d = 4.
    const double halves =
        residual_of(CAROM_BALL_5, 0.5, I6, (double[]){0, 0, 0, 0, 0, 0}, (double[]){2, 0.8, 0, 0.8, 0, 0}, NULL);
    assert_true(fabs(halves - 4 * (0.8 * sqrt(2) - 1)) < 1e-14);
    // The fifth row counts: it slides against nothing.
    assert_true(residual_of(CAROM_BALL_5, 0.5, I6, (double[]){0, 0, 0, 0, 0, 0.25}, (double[]){2, 0, 0, 0, 0, 0},
                            NULL) == 0.25);
}

static void falls_back_when_a_diagonal_is_not_positive(void **state) {
    (void)state;
    const double zero = 0, negative = -5, mixed[] = {0, 0, 0, 4};
    assert_true(residual_of(CAROM_UNILATERAL, 0, &zero, (double[]){0}, (double[]){-3}, NULL) == 3);
    assert_true(residual_of(CAROM_UNILATERAL, 0, &negative, (double[]){0}, (double[]){-3}, NULL) == 3);
    assert_true(residual_of(CAROM_PLANAR, 0.5, mixed, (double[]){0, 0}, (double[]){-3, 0}, NULL) == 12);
    assert_true(residual_of(CAROM_UNILATERAL, 0, &zero, (double[]){2}, (double[]){0}, NULL) == 0);
}

static void is_infinite_for_what_is_not_a_number(void **state) {
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        for (int where = 0; where < 4; where++) {
            contact_problem x = problem_random(3, CAROM_PLANAR, 0.3, 1, 7);
            if (where == 0) PROBLEM_G(&x, 4, 1) = bad[k]; // a column with p = 0 too
            if (where == 1) x.c[3] = bad[k];
            if (where == 2) x.p[5] = bad[k];
            if (where == 3) x.block[1].mu = bad[k];
            int worst = -2;
            assert_true(carom_residual(&x.pb, &worst) == INFINITY);
            assert_true(worst >= 0 && worst < 3);
            problem_destroy(&x);
        }
    }
    contact_problem x = problem_random(1, CAROM_PLANAR, -0.1, 1, 7);
    assert_true(carom_residual(&x.pb, NULL) == INFINITY);
    problem_destroy(&x);
}

static void names_the_worst_block_and_stores_u(void **state) {
    (void)state;
    for (int blocks = 1; blocks < 24; blocks++) { // all remainders of the row loop
        contact_problem x = problem_random(blocks, -1, 0.4, 1, 99 + (uint64_t)blocks);
        uint64_t seed = 5;
        const int n = x.pb.n, victim = blocks / 2;
        for (int i = 0; i < n; i++) x.p[i] = symmetric_uniform(&seed);
        for (int i = 0; i < n; i++) { // a solution, u = 0 and p = 0 where the law wants it, but for one block
            x.p[i] = 0;
            x.c[i] = 0;
        }
        x.c[x.block[victim].at] = -3;
        int worst;
        assert_true(carom_residual(&x.pb, &worst) == 3);
        assert_int_equal(worst, victim);
        for (int i = 0; i < n; i++) x.p[i] = symmetric_uniform(&seed);
        carom_residual(&x.pb, NULL);
        for (int i = 0; i < n; i++) {
            double u = x.c[i], size = fabs(u);
            for (int j = 0; j < n; j++) {
                u += PROBLEM_G(&x, i, j) * x.p[j];
                size += fabs(PROBLEM_G(&x, i, j) * x.p[j]);
            }
            assert_true(fabs(u - x.u[i]) <= (n + 2) * 2.3e-16 * size);
        }
        problem_destroy(&x);
    }
}

static void of_nothing_is_zero(void **state) {
    (void)state;
    contact_problem x = problem_create(0, 0);
    int worst = 5;
    assert_true(carom_residual(&x.pb, &worst) == 0);
    assert_int_equal(worst, -1);
    problem_destroy(&x);
}

// -- G by blocks ---------------------------------------------------------------------------------------------------

static void near(double a, double b, double size) { assert_true(fabs(a - b) <= 1e-14 * size); }

// Five tangents in discs of radius mu p_N = 1 each; d = 4 in every tangential row, as in I6.  At rest p_T leaves 4
// times what it is outside of its own disc.
static void discs_are_judged_one_by_one(void **state) {
    (void)state;
    static const struct { int disc[2]; double p[5], left; } cases[] = {
        {{2, 2}, {0.6, 0.8, 1, 0, -1}, 0},        {{2, 2}, {0.9, 1.2, 1, 0, -1}, 2},
        {{2, 2}, {0.6, 0.8, 0, -1.75, 1}, 3},     {{2, 2}, {0.6, 0.8, 1, 0, -1.25}, 1},
        {{2, 0}, {0.6, 0.8, 0.48, 0.64, 0.6}, 0}, {{2, 0}, {0.6, 0.8, 0.96, 1.28, 1.2}, 4},
        {{0, 0}, {0, 0.6, 0, 0.8, 0}, 0},         {{0, 0}, {0, 1.2, 0, 1.6, 0}, 4},
        {{1, 4}, {-1, 0, 0.6, 0, 0.8}, 0},        {{1, 4}, {-1.5, 0, 0.6, 0, 0.8}, 2},
        {{1, 4}, {1, 0, 0, 0.9, -1.2}, 2},        {{5, 0}, {0.9, 1.2, 0, 0, 0}, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        contact_problem x = problem_create(1 + CAROM_TANGENTS, 1);
        problem_add(&x, CAROM_BALL_5, 0.5);
        x.pb.disc = &cases[i].disc;
        x.p[0] = 2, x.c[0] = -4;
        for (int k = 0; k < 5; k++) x.p[1 + k] = cases[i].p[k], x.c[1 + k] = -4 * cases[i].p[k];
        for (int k = 0; k < 36; k++) PROBLEM_G(&x, k % 6, k / 6) = I6[k];
        assert_true(fabs(carom_residual(&x.pb, NULL) - cases[i].left) <= 4e-15);
        problem_destroy(&x);
    }
}

// A chain of blocks of one to three rows, each coupled with its neighbours: by blocks everything is what the dense
// matrix says, whatever stood in the results before.  The certificate excuses (4 + n/4) eps max_i (|c_i| + sum_j |G_ij
// p_j|) (CP-9).
static void blocks_are_the_dense_matrix(void **state) {
    (void)state;
    enum { BLOCKS = 7, MOST = 3 * BLOCKS };
    static const carom_law laws[BLOCKS] = {CAROM_PLANAR, CAROM_BILATERAL, CAROM_SPATIAL, CAROM_UNILATERAL,
                                           CAROM_PLANAR, CAROM_SPATIAL,   CAROM_SPATIAL};
    uint64_t seed = 5;
    contact_problem x = problem_create(MOST, BLOCKS);
    int first[MOST];
    for (int b = 0; b < BLOCKS; ++b) problem_add(&x, laws[b], 0.3);
    const int n = x.pb.n;
    for (int b = 0; b < BLOCKS; ++b)
        for (int c = 0; c < BLOCKS; ++c)
            for (int i = 0; abs(b - c) <= 1 && i < carom_law_rows(laws[b]); ++i)
                for (int j = 0; j < carom_law_rows(laws[c]); ++j)
                    PROBLEM_G(&x, x.block[b].at + i, x.block[c].at + j) = symmetric_uniform(&seed);
    PROBLEM_G(&x, x.block[4].at, x.block[3].at) = 0; // the rows of a block need not start together
    for (int i = 0; i < n; ++i) {
        x.c[i] = symmetric_uniform(&seed), x.p[i] = 10 * symmetric_uniform(&seed);
        for (first[i] = 0; PROBLEM_G(&x, i, first[i]) == 0;) ++first[i];
    }
    x.pb.first = first;
    static unsigned char memory[1 << 16];
    carom_rows_space space;
    carom_block_rows rows;
    carom_arena mem = {.base = memory, .size = sizeof memory};
    carom_allocate_rows(&space, &mem, n, BLOCKS, sizeof memory);
    assert_true(carom_rows_gather(&space, &x.pb, &rows));
    assert_int_equal(rows.start[BLOCKS], 3 * BLOCKS - 2); // neighbours, and no more
    assert_int_equal(rows.uniform, 0);
    carom_problem blocks = x.pb;
    blocks.rows = &rows, blocks.G = NULL;
    double G[MOST * MOST], d[MOST], r[MOST], u[MOST], row[3], largest = 0;
    for (int i = 0; i < MOST * MOST; ++i) G[i] = 7;
    for (int i = 0; i < MOST; ++i) d[i] = r[i] = u[i] = 7;
    carom_problem_expand(&blocks, G, n);
    carom_rows_diagonal(&blocks, d);
    carom_rows_sums(&blocks, r);
    carom_rows_multiply(&blocks, x.p, u);
    for (int i = 0; i < n; ++i) {
        double sum = 0, product = x.c[i], size = fabs(x.c[i]);
        for (int j = 0; j < n; ++j) {
            const double g = PROBLEM_G(&x, i, j);
            assert_true(G[i + j * n] == g);
            sum += fabs(g), product += g * x.p[j], size += fabs(g * x.p[j]);
        }
        assert_true(d[i] == PROBLEM_G(&x, i, i));
        near(r[i], sum, sum);
        near(u[i], product, size);
        largest = fmax(largest, size);
    }
    for (int b = 0; b < BLOCKS; ++b) {
        carom_rows_row(&blocks, b, x.p, row);
        for (int i = 0; i < carom_law_rows(laws[b]); ++i) near(row[i], u[x.block[b].at + i], largest);
    }
    assert_true(fabs(carom_rounding(&x.pb) / ((4 + n / 4.0) * 0x1p-52 * largest) - 1) < 1e-13);
    assert_true(fabs(carom_rounding(&blocks) / ((4 + n / 4.0) * 0x1p-52 * largest) - 1) < 1e-13);
    // The certificate, by rows that know where they start and by blocks: u and the residual.
    for (int i = 0; i < n; ++i) x.u[i] = 7;
    int worst[2];
    const double dense = carom_residual(&x.pb, &worst[0]);
    for (int i = 0; i < n; ++i) near(x.u[i], u[i], largest), x.u[i] = 7;
    near(carom_residual(&blocks, &worst[1]), dense, largest);
    assert_int_equal(worst[0], worst[1]);
    for (int i = 0; i < n; ++i) near(x.u[i], u[i], largest);
    // Too little room is said.
    mem = (carom_arena){.base = memory, .size = sizeof memory};
    carom_allocate_rows(&space, &mem, n, BLOCKS, 20);
    assert_false(carom_rows_gather(&space, &x.pb, &rows));
    problem_destroy(&x);
}

// Blocks of the same size say so: the loops of that size are taken.
static void blocks_of_one_size_say_so(void **state) {
    (void)state;
    static unsigned char memory[1 << 14];
    for (int rows_of = 1; rows_of <= 3; ++rows_of) {
        contact_problem x = problem_random(4, CAROM_UNILATERAL + rows_of - 1, 0.3, 0.3, 5);
        carom_rows_space space;
        carom_block_rows rows;
        carom_arena mem = {.base = memory, .size = sizeof memory};
        carom_allocate_rows(&space, &mem, x.pb.n, 4, sizeof memory);
        assert_true(carom_rows_gather(&space, &x.pb, &rows));
        assert_int_equal(rows.uniform, carom_law_rows(x.block[0].law));
        problem_destroy(&x);
    }
}

// (CP-9), (CP-10)  What is left may be excused by rounding, here 4.5 eps 2e12 = 2e-3, but no more than 1e-8 of the
//                  speeds.
static void rounding_excuses_little(void **state) {
    (void)state;
    contact_problem x = problem_create(2, 2);
    problem_add(&x, CAROM_UNILATERAL, 0), problem_add(&x, CAROM_UNILATERAL, 0);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) PROBLEM_G(&x, i, j) = i == j ? 1e12 : -1e12;
    x.p[0] = x.p[1] = 1, x.c[0] = 1, x.c[1] = 0.5;
    assert_true(carom_solved(&x.pb, 1e-10, 1e-10));
    assert_true(carom_solved(&x.pb, 0.9e-8, 1e-10));
    assert_false(carom_solved(&x.pb, 1.1e-8, 1e-10));
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) PROBLEM_G(&x, i, j) *= 1e-12; // rounding 4.5 eps 3
    assert_false(carom_solved(&x.pb, 0.9e-8, 1e-10));
    assert_true(carom_solved(&x.pb, 2.9e-15, 1e-16));
    assert_false(carom_solved(&x.pb, 3.1e-15, 1e-16));
    x.c[0] = INFINITY;
    assert_false(carom_solved(&x.pb, 1, 1e-10));
    problem_destroy(&x);
}

// The nearest point of the cone |y_T| <= mu y_N: y in it, x - y in its polar, and at right angles.
static void the_nearest_point_of_a_cone(void **state) {
    (void)state;
    static const carom_law laws[] = {CAROM_UNILATERAL, CAROM_PLANAR, CAROM_SPATIAL};
    for (int i = 0; i < 300; i++) {
        const carom_block b = {.law = laws[i % 3], .mu = i % 3 ? 0.2 + 0.3 * (i % 5) : 0};
        const int rows = i % 3 + 1;
        double x[3], y[3] = {NAN, NAN, NAN}, right = 0, t = 0, away = 0;
        for (int k = 0; k < rows; k++) x[k] = sin(1.7 * i + 2.3 * k) * (1 + i % 7);
        carom_cone_project(&b, x, y);
        for (int k = 0; k < rows; k++) right += (x[k] - y[k]) * y[k];
        for (int k = 1; k < rows; k++) t += y[k] * y[k], away += (x[k] - y[k]) * (x[k] - y[k]);
        assert_true(y[0] >= 0 && sqrt(t) <= b.mu * y[0] + 1e-14);
        assert_true(fabs(right) < 1e-13);
        assert_true(x[0] - y[0] + b.mu * sqrt(away) <= 1e-13);
    }
    double x[1] = {-2}, y[1];
    carom_cone_project(&(carom_block){.law = CAROM_BILATERAL}, x, y);
    assert_true(y[0] == -2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_excuses_little),
        cmocka_unit_test(discs_are_judged_one_by_one),
        cmocka_unit_test(is_zero_where_the_laws_hold),
        cmocka_unit_test(measures_violations_as_velocities),
        cmocka_unit_test(falls_back_when_a_diagonal_is_not_positive),
        cmocka_unit_test(is_infinite_for_what_is_not_a_number),
        cmocka_unit_test(names_the_worst_block_and_stores_u),
        cmocka_unit_test(of_nothing_is_zero),
        cmocka_unit_test(blocks_are_the_dense_matrix),
        cmocka_unit_test(blocks_of_one_size_say_so),
        cmocka_unit_test(the_nearest_point_of_a_cone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

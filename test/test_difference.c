// test_difference.c: derivatives by differences agree with derivatives by hand, and serve a simulation as well.
#include "problems.h"
#include "linalg/matrix.h"
#include "schemes.h"
#include "system/difference.h"
#include "system/system.h"

typedef struct memory {
    carom_arena mem;
    carom_difference d;
    carom_local L;
    carom_matrix A[4];
    carom_columns D[2];
    double *kappa[2];
} memory;

static void allocate(memory *m, const carom_system *sys) {
    m->d = carom_allocate_difference(&m->mem, sys);
    m->L = carom_allocate_local(&m->mem, sys);
    for (int i = 0; i < 4; ++i) m->A[i] = carom_allocate_matrix(&m->mem, sys->tangent_shape);
    for (int i = 0; i < 2; ++i) m->D[i] = carom_allocate_columns(&m->mem, sys->nv, m->L.W.n, sys->column_stride);
    for (int i = 0; i < 2; ++i) m->kappa[i] = carom_allocate(&m->mem, (size_t)m->L.W.n);
}

static memory create(const carom_system *sys) {
    memory m = {0};
    allocate(&m, sys);
    const size_t size = m.mem.used;
    m.mem = (carom_arena){.base = aligned_alloc(64, size), .size = size};
    assert_non_null(m.mem.base);
    memset(m.mem.base, 0, size);
    allocate(&m, sys);
    for (int id = 0; id < sys->ne + sys->nc; ++id) {
        m.L.id[id] = id;
        m.L.at[id + 1] = m.L.at[id] + carom_system_directions(sys, id);
    }
    m.L.nb = sys->ne + sys->nc;
    return m;
}

// Central differences with a step d of 6e-6 or more: rounding gives 2e-16 |function|/(2 d) < 2e-11 |function|,
// truncation d^2/6 times the third derivative, below 1e-9 of the largest entry.  `value` is the size of the function.
static void near(const double *x, const double *y, size_t n, double value, const char *what) {
    double size = 0;
    for (size_t i = 0; i < n; ++i) size = fmax(size, fabs(y[i]));
    for (size_t i = 0; i < n; ++i)
        if (!(fabs(x[i] - y[i]) <= 1e-9 * size + 4e-11 * value))
            fail_msg("%s: %.12g by differences, %.12g by hand (size %g)", what, x[i], y[i], size);
}

static void differences_agree_with_formulas(void **state) {
    (void)state;
    uint64_t seed = 4;
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0.01, true);
    memory m = create(&k.sys);
    const carom_system *sys = &k.sys;
    for (int trial = 0; trial < 20; ++trial) {
        double q[3], v[3], x[3], lambda[8];
        for (int i = 0; i < 3; ++i)
            q[i] = 2 * symmetric_uniform(&seed), v[i] = 3 * symmetric_uniform(&seed), x[i] = symmetric_uniform(&seed);
        for (int i = 0; i < 8; ++i) lambda[i] = symmetric_uniform(&seed);
        for (int i = 0; i < 4; ++i) carom_matrix_zero(m.A[i]);
        assert_int_equal(sys->directions(&k, NULL, 0, q, &m.L), CAROM_OK);

        assert_int_equal(carom_difference_tangent(&m.d, sys, NULL, 0, q, v, m.A[0], m.A[1]), CAROM_OK);
        assert_int_equal(sys->tangent(&k, NULL, 0, q, v, m.A[2], m.A[3]), CAROM_OK);
        near(m.A[0].a, m.A[2].a, 9, 0.7, "K");
        near(m.A[1].a, m.A[3].a, 9, 0.7, "C");

        for (int i = 0; i < 4; ++i) carom_matrix_zero(m.A[i]);
        m.A[0].a[4] = m.A[2].a[4] = 1; // they add
        assert_int_equal(carom_difference_mass_gradient(&m.d, sys, NULL, 0, q, x, -0.7, m.A[0]), CAROM_OK);
        assert_int_equal(sys->mass_gradient(&k, NULL, 0, q, x, -0.7, m.A[2]), CAROM_OK);
        near(m.A[0].a, m.A[2].a, 9, 0.02, "d(Mx)/dq");

        assert_int_equal(carom_difference_reaction_gradient(&m.d, sys, NULL, 0, q, &m.L, lambda, 0.3, m.A[1]),
                         CAROM_OK);
        assert_int_equal(sys->reaction_gradient(&k, NULL, 0, q, &m.L, lambda, 0.3, m.A[3]), CAROM_OK);
        near(m.A[1].a, m.A[3].a, 9, 1, "d(W lambda)/dq");

        assert_int_equal(carom_difference_rate_gradient(&m.d, sys, NULL, 0, q, v, &m.L, &m.D[0]), CAROM_OK);
        assert_int_equal(sys->rate_gradient(&k, NULL, 0, q, v, &m.L, &m.D[1]), CAROM_OK);
        near(m.D[0].a, m.D[1].a, 24, 3, "d(W'v)/dq");

        assert_int_equal(carom_difference_curvature(&m.d, sys, NULL, 0, q, v, &m.L, m.kappa[0]), CAROM_OK);
        assert_int_equal(sys->curvature(&k, NULL, 0, q, v, &m.L, m.kappa[1]), CAROM_OK);
        near(m.kappa[0], m.kappa[1], 8, 3, "curvature");
    }
    free(m.mem.base);
}

// Moving floor g = q - A sin(w t): kappa = A w^2 sin(w t), all of it from explicit time.
static void curvature_sees_explicit_time(void **state) {
    (void)state;
    known k;
    known_moving_floor(&k, 0.05, 8, 0);
    memory m = create(&k.sys);
    const double q[1] = {0.2}, v[1] = {1.5};
    for (double t = 0; t < 1; t += 0.13) {
        assert_int_equal(carom_difference_curvature(&m.d, &k.sys, NULL, t, q, v, &m.L, m.kappa[0]), CAROM_OK);
        // step 4e-6: truncation 1/6 h^2 A w^4, rounding 1e-16 A w/h
        check_near(m.kappa[0][0], 0.05 * 64 * sin(8 * t), 1e-9);
    }
    free(m.mem.base);
}

// Points on a line, the gap between neighbours is (q_i+1 - q_i)^2 / 2.  With d_i = q_i+1 - q_i and rows i, i + 1 of
// column i:  W = (-d, d),  so that
// d(W'v)/dq = (v_i - v_i+1, v_i+1 - v_i)  and  d(W lambda)/dq = lambda [1 -1; -1 1].
enum { POINTS = 40 };
static long evaluated;

static carom_status square_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t;
    for (int b = 0; b < L->nb; ++b) {
        const int i = L->id[b];
        const size_t at = (size_t)L->at[b] * (size_t)L->W.stride;
        L->W.count[L->at[b]] = 2;
        L->W.row[at] = i, L->W.row[at + 1] = i + 1;
        L->W.a[at] = q[i] - q[i + 1], L->W.a[at + 1] = q[i + 1] - q[i];
    }
    evaluated += L->nb;
    return CAROM_OK;
}

static void sparse_differences_look_at_what_a_coordinate_touches(void **state) {
    (void)state;
    static carom_contact contacts[POINTS - 1];
    const carom_system sys = {.nq = POINTS,
                              .nv = POINTS,
                              .nc = POINTS - 1,
                              .contacts = contacts,
                              .column_stride = 2,
                              .mass_shape = {CAROM_DIAGONAL, POINTS, 0, NULL},
                              .tangent_shape = {CAROM_BANDED, POINTS, 1, NULL},
                              .directions = square_directions};
    memory m = create(&sys);
    double q[POINTS], v[POINTS], lambda[POINTS];
    for (int i = 0; i < POINTS; ++i) q[i] = i + 0.3 * sin(i), v[i] = cos(3 * i), lambda[i] = 1 + 0.1 * i;
    assert_int_equal(square_directions(NULL, NULL, 0, q, &m.L), CAROM_OK);
    evaluated = 0;
    assert_int_equal(carom_difference_rate_gradient(&m.d, &sys, NULL, 0, q, v, &m.L, &m.D[0]), CAROM_OK);
    assert_int_equal(carom_difference_reaction_gradient(&m.d, &sys, NULL, 0, q, &m.L, lambda, 2, m.A[0]), CAROM_OK);
    assert_int_equal(evaluated, 2 * 2 * 2 * (POINTS - 1)); // two derivatives, two sides, two coordinates of every gap
    for (int k = 0; k < POINTS - 1; ++k) {
        double column[POINTS];
        carom_column_expand(column, &m.D[0], k);
        for (int j = 0; j < POINTS; ++j)
            check_near(column[j], j == k ? v[k] - v[k + 1] : j == k + 1 ? v[k + 1] - v[k] : 0, 1e-8);
        check_near(*carom_matrix_entry(m.A[0], k, k + 1), -2 * lambda[k], 1e-7);
        check_near(*carom_matrix_entry(m.A[0], k, k), 2 * (lambda[k] + (k > 0 ? lambda[k - 1] : 0)), 1e-7);
    }
    free(m.mem.base);
}

// The derivatives steer Newton's method only: answers agree to what its tolerance lets through.  Before the first
// impact nothing amplifies; 2600 steps of 1e-12 relative.
static void implicit_schemes_give_the_same_answer_without_formulas(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        double q[2][3];
        for (int formulas = 0; formulas < 2; ++formulas) {
            known k;
            known_slider_crank(&k, 1e-3, 0.4, 0, formulas);
            k.q0[2] = 0.005;
            carom_sim *sim = sim_of(&k, s->name, NULL, 1e-5, 0.0025); // one corner has hit
            while (!carom_sim_done(sim)) sim_step(sim);
            carom_copy(q[formulas], carom_sim_now(sim).q, 3);
            carom_sim_destroy(sim);
        }
        for (int i = 0; i < 3; ++i) scheme_near(s->name, q[0][i], q[1][i], 1e-9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_agree_with_formulas),
        cmocka_unit_test(sparse_differences_look_at_what_a_coordinate_touches),
        cmocka_unit_test(curvature_sees_explicit_time),
        cmocka_unit_test(implicit_schemes_give_the_same_answer_without_formulas),
    };
    return cmocka_run_group_tests_name("difference", tests, NULL, NULL);
}

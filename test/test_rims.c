// test_rims.c: cylinders against what is finite: conservation, positions without a direction.
#include "model_text.h"
#include "linalg/matrix.h"
#include "poses.h"

// -- conservation -----------------------------------------------------------------------------------------------------

// Momentum, then angular momentum round the origin (moments of inertia are alike about all axes); kinetic energy last.
static void motion_of(const double *q, const double *v, double *x) {
    static const double mass[2] = {2, 3}, J[2] = {0.1, 0.2};
    for (int k = 0; k < 7; ++k) x[k] = 0;
    for (int b = 0; b < 2; ++b) {
        const double *u = v + 6 * b, *w = u + 3;
        pose y;
        pose_of(q + 7 * b, &y);
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            x[i] += mass[b] * u[i];
            x[3 + i] += mass[b] * (y.r[j] * u[k] - y.r[k] * u[j]) +
                        J[b] * (y.R[3 * i] * w[0] + y.R[3 * i + 1] * w[1] + y.R[3 * i + 2] * w[2]);
            x[6] += 0.5 * (mass[b] * u[i] * u[i] + J[b] * w[i] * w[i]);
        }
    }
}

static const char *const others[] = {"{cylinder: [0.15, 0.3]}", "{box: [0.4, 0.3, 0.2]}", "{capsule: [0.1, 0.4]}"};
static const char CYLINDER[] = "{cylinder: [0.2, 0.25], at: [0.02, 0.01, 0.03], axis: [0.2, 0.1, 1]}";

static void free_bodies_keep_momentum_and_energy(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i)
        for (int law = 0; law < 2; ++law) {
            long impacts = 0;
            char text[900];
            snprintf(text, sizeof text,
                     "carom: 1\nbodies:\n  a: {mass: 2, inertia: [0.1, 0.1, 0.1], at: [0.3, 0.2, 0.35], axis: [1, 2, "
                     "3], angle: 0.7, velocity: [-0.5, -0.4, -0.6], spin: [1, -2, 0.5], shape: %s}\n"
                     "  b: {mass: 3, inertia: [0.2, 0.2, 0.2], axis: [2, -1, 0.5], angle: 1.1, spin: [0.3, 1, -2], "
                     "shape: %s}\ncontacts: {c: {between: [a, b], %s}}\n",
                     CYLINDER, others[i], law ? "restitution: 0.3, friction: 0.4" : "restitution: 1");
            carom_model *m = good(text);
            double before[7], after[7];
            motion_of(carom_model_q0(m), carom_model_v0(m), before);
            carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, 2e-3, 0.6);
            model_sim_run(sim);
            motion_of(carom_sim_now(sim).q, carom_sim_now(sim).v, after);
            for (int l = 0; l < 6; ++l) assert_close(after[l], before[l], 1e-11);
            if (law) assert_true(after[6] <= before[6] * (1 + 1e-12));
            else assert_close(after[6], before[6], 1e-11 * before[6]);
            carom_ledger ledger;
            carom_error err;
            assert_int_equal(carom_sim_ledger(sim, &ledger, &err), CAROM_OK);
            impacts += ledger.impacts;
            assert_true(impacts > 0);
            carom_sim_destroy(sim);
            carom_model_destroy(m);
        }
}

// -- without a direction ----------------------------------------------------------------------------------------------

// Positions in which something has no direction give gaps and columns all the same, and the gap that it should be.
static void positions_without_a_direction_have_finite_columns(void **state) {
    (void)state;
    static const struct { const char *a, *b; double z; bool across; } cases[] = {
        {"{cylinder: [0.1, 0.3]}", "{cylinder: [0.1, 0.2]}", 0.26, false},
        {"{cylinder: [0.2, 0.3]}", "{cylinder: [0.1, 0.2]}", 0.26, false},
        {"{cylinder: [0.1, 0.3]}", "{cylinder: [0.1, 0.3]}", 0.21, true},
        {"{cylinder: [0.1, 0.3]}", "{box: [0.2, 0.2, 0.2]}", 0.26, false},
        {"{cylinder: [0.1, 0.3]}", "{box: [0.3, 0.2, 0.2]}", 0.21, true},
        {"{capsule: [0.05, 0.3]}", "{cylinder: [0.1, 0.2]}", 0.31, false},
        {"{capsule: [0.05, 0.3]}", "{cylinder: [0.1, 0.2]}", 0.16, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[700];
        snprintf(text, sizeof text,
                 "carom: 1\nbodies:\n  a: {mass: 2, inertia: [0.1, 0.1, 0.1], at: [0, 0, %g], %s shape: %s}\n  b: "
                 "{mass: 3, inertia: [0.2, 0.2, 0.2], %s shape: %s}\n"
                 "contacts: {c: {between: [a, b]}}\n",
                 cases[i].z, cases[i].across ? "axis: [0, 1, 0], angle: pi/2," : "", cases[i].a,
                 i == 2 ? "axis: [0, 1, 0], angle: pi/2," : "", cases[i].b);
        carom_model *m = good(text);
        const carom_system *s = carom_model_system(m);
        void *work = work_of(m);
        carom_arena mem;
        carom_local L = local_of(m, &mem);
        double g[40], W[12], least = HUGE_VAL;
        assert_int_equal(s->gaps(s->model, work, 0, carom_model_q0(m), g), CAROM_OK);
        for (int k = 0; k < s->nc; ++k) least = fmin(least, g[k]);
        assert_close(least, 0.01, 1e-9);
        assert_int_equal(s->directions(s->model, work, 0, carom_model_q0(m), &L), CAROM_OK);
        for (int k = 0; k < s->nc; ++k) {
            carom_column_expand(W, &L.W, L.at[k]);
            for (int j = 0; j < 12; ++j) assert_true(fabs(W[j]) < 10);
        }
        free(mem.base);
        free(work);
        carom_model_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_bodies_keep_momentum_and_energy),
        cmocka_unit_test(positions_without_a_direction_have_finite_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

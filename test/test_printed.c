// test_printed.c: moreau-jean and schatzman-paoli as V. Acary's lecture prints them, equation by equation.
//
// Runs are put into the printed equations with the masses, forces and directions of the systems themselves.
#include "schemes.h"

#define WITH(...)                                                                                                      \
    (const char *const[]) { __VA_ARGS__, NULL }

// y = M(t, q) x of the double pendulum.
static void mass_times(const known *k, double t, const double *q, const double *x, double *y) {
    double a[4] = {0};
    const carom_matrix M = {.shape = k->sys.mass_shape, .a = a};
    assert_int_equal(k->sys.mass(k->sys.model, NULL, t, q, M), CAROM_OK);
    for (int i = 0; i < 2; ++i) y[i] = *carom_matrix_entry(M, i, 0) * x[0] + *carom_matrix_entry(M, i, 1) * x[1];
}

static void force_at(const known *k, double t, const double *q, const double *v, double *f) {
    assert_int_equal(k->sys.force(k->sys.model, NULL, t, q, v, f), CAROM_OK);
}

// -- moreau-jean ------------------------------------------------------------------------------------------------------

// (41a), (41b) without contacts:  M(q_theta) (v_1 - v_0) = h ((1 - theta) f_0 + theta f_1),  q_1 = q_0 + h v_theta.
static void mass_is_taken_at_theta(void **state) {
    (void)state;
    known k;
    known_double_pendulum(&k);
    static const char *const option[] = {"theta=0", "theta=0.5", "theta=0.7", "theta=1"};
    static const double thetas[] = {0, 0.5, 0.7, 1};
    const double h = 2e-3;
    for (int r = 0; r < 4; ++r) {
        const double theta = thetas[r];
        carom_sim *sim = sim_of(&k, "moreau-jean", WITH(option[r], "at=theta"), h, 100 * h);
        while (!carom_sim_done(sim)) {
            const carom_now a = carom_sim_now(sim);
            const double t = a.t, q_0[] = {a.q[0], a.q[1]}, v_0[] = {a.v[0], a.v[1]};
            sim_step(sim);
            const carom_now b = carom_sim_now(sim);
            double q_t[2], dv[2], f_0[2], f_1[2], y[2];
            for (int i = 0; i < 2; ++i) {
                q_t[i] = (1 - theta) * q_0[i] + theta * b.q[i];
                dv[i] = b.v[i] - v_0[i];
                check_near(b.q[i], q_0[i] + h * ((1 - theta) * v_0[i] + theta * b.v[i]), 1e-14);
            }
            mass_times(&k, t + theta * h, q_t, dv, y);
            force_at(&k, t, q_0, v_0, f_0);
            force_at(&k, t + h, b.q, b.v, f_1);
            // 1e-12 of M v
            for (int i = 0; i < 2; ++i) check_near(y[i], h * ((1 - theta) * f_0[i] + theta * f_1[i]), 2e-11);
        }
        carom_sim_destroy(sim);
    }
}

static double corner(double side, double angle, const double *v) {
    return v[1] + (0.75 * sin(angle) + side * 0.5 * cos(angle)) * v[2];
}

// (41a), (41c), (41d) with contacts: directions and Newton's law at q_theta.
static void directions_are_taken_at_theta(void **state) {
    (void)state;
    known k;
    known_rocking_block(&k);
    const double h = 2e-3, theta = 0.6, e = 0.5, J = k.par[2];
    carom_sim *sim = sim_of(&k, "moreau-jean", WITH("theta=0.6", "at=theta"), h, 1);
    int reactions = 0, skew = 0;
    while (!carom_sim_done(sim)) {
        const carom_now a = carom_sim_now(sim);
        const double angle_0 = a.q[2], v_0[] = {a.v[0], a.v[1], a.v[2]};
        sim_step(sim);
        const carom_now b = carom_sim_now(sim);
        const double angle = (1 - theta) * angle_0 + theta * b.q[2], *p = b.impulse;
        double turn = 0;
        for (int j = 0; j < 2; ++j) {
            const double side = j == 0 ? 1 : -1, u_0 = corner(side, angle, v_0), u_1 = corner(side, angle, b.v);
            turn += (0.75 * sin(angle) + side * 0.5 * cos(angle)) * p[b.dir[j]];
            if (p[b.dir[j]] == 0) continue;
            check_near(u_1, -e * u_0, 1e-11);
            ++reactions;
            // the law at q_0 and q_1 is another
            skew += fabs(corner(side, b.q[2], b.v) + e * corner(side, angle_0, v_0)) > 1e-6;
        }
        check_near(b.v[1] - v_0[1], -9.81 * h + p[b.dir[0]] + p[b.dir[1]], 1e-12);
        check_near(J * (b.v[2] - v_0[2]), turn, 1e-12);
    }
    assert_true(reactions > 100);
    assert_true(skew > 3);
    carom_sim_destroy(sim);
}

// theta = 1/2 is of second order without contacts, as with masses at q_1.
static void theta_one_half_is_of_second_order(void **state) {
    (void)state;
    known k;
    known_double_pendulum(&k);
    carom_sim *fine = sim_of(&k, "moreau-jean", WITH("at=theta"), 1.0 / 6400, 1);
    sim_to(fine, 1);
    double h[4], error[4];
    for (int i = 0; i < 4; ++i) {
        h[i] = 1.0 / (50 << i);
        carom_sim *sim = sim_of(&k, "moreau-jean", WITH("at=theta"), h[i], 1);
        sim_to(sim, 1);
        error[i] = fabs(carom_sim_now(sim).q[0] - carom_sim_now(fine).q[0]);
        carom_sim_destroy(sim);
    }
    check_near(slope(h, error, 4), 2, 0.1);
    carom_sim_destroy(fine);
}

// (126)  One step over an impact at sigma h of the ball with f = -2, e = 1/2, from v_0 < 0 at q_0 = -(v_0 sigma h -
// (sigma h)^2):
//        found when q_0 + gamma h v_0 <= 0, and then e_v = h f (1 - sigma - e sigma), else e_v = -(1 + e)(v_0 + h f
//        sigma).
static void the_forecast_decides_the_local_error(void **state) {
    (void)state;
    static const double gammas[] = {0, 0.5, 1}, sigmas[] = {0.2, 0.45, 0.55, 0.9};
    const double e = 0.5, f = -2, v_0 = -1.5;
    for (int r = 0; r < 3; ++r)
        for (int i = 0; i < 4; ++i)
            for (double h = 1e-2; h > 1e-4; h /= 10) {
                const double sigma = sigmas[i], gamma = gammas[r];
                known k;
                known_ball_a(&k);
                k.q0[0] = -(v_0 * sigma * h + 0.5 * f * sigma * sigma * h * h);
                k.v0[0] = v_0;
                char option[40];
                snprintf(option, sizeof option, "gamma=%g", gamma);
                carom_sim *sim = sim_of(&k, "moreau-jean", WITH(option), h, 3 * h);
                sim_step(sim);
                const double exact = -e * (v_0 + f * sigma * h) + f * (1 - sigma) * h,
                             e_v = exact - carom_sim_now(sim).v[0];
                const bool found = gamma > sigma;
                check_near(e_v, found ? h * f * (1 - sigma - e * sigma) : -(1 + e) * (v_0 + h * f * sigma), 1e-12);
                carom_sim_destroy(sim);
            }
}

// -- schatzman-paoli --------------------------------------------------------------------------------------------------

// (42a), (42b) on the double pendulum, driven and damped.  What is reported at t_k is v_{k+1} of the print.
static void the_scheme_is_the_one_printed(void **state) {
    (void)state;
    known k;
    known_double_pendulum(&k);
    static const char *const option[] = {"theta=0", "theta=0.4", "theta=1"};
    static const double thetas[] = {0, 0.4, 1};
    enum { STEPS = 60 };
    const double h = 2e-3;
    for (int r = 0; r < 3; ++r) {
        const double theta = thetas[r];
        double q[STEPS + 1][2], v[STEPS + 1][2];
        carom_sim *sim = sim_of(&k, "schatzman-paoli", WITH(option[r]), h, STEPS * h);
        for (int n = 0; n <= STEPS; ++n) {
            if (n > 0) sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            for (int i = 0; i < 2; ++i) q[n][i] = now.q[i], v[n][i] = now.v[i];
        }
        for (int n = 1; n < STEPS; ++n) {
            double q_t[2], v_t[2], second[2], y[2], f[2];
            for (int i = 0; i < 2; ++i) {
                q_t[i] = (1 - theta) * q[n][i] + theta * q[n + 1][i];
                v_t[i] = (1 - theta) * v[n - 1][i] + theta * v[n][i];
                second[i] = (q[n + 1][i] - 2 * q[n][i] + q[n - 1][i]) / h;
                check_near(v[n][i], (q[n + 1][i] - q[n - 1][i]) / (2 * h), 1e-12);
            }
            mass_times(&k, (n + 1) * h, q[n + 1], second, y);
            force_at(&k, (n + theta) * h, q_t, v_t, f);
            for (int i = 0; i < 2; ++i) check_near(y[i], h * f[i], 2e-11);
        }
        carom_sim_destroy(sim);
    }
}

// On the oscillator (1 + theta w) r^2 - (2 - (1 - theta) w) r + 1 = 0, w = (h omega)^2: from theta = 1/2 on no step is
// too large.
static void theta_from_one_half_on_is_stable(void **state) {
    (void)state;
    known k;
    known_oscillator(&k, 0.5);
    k.sys.nc = 0;
    for (double h = 0.1; h < 2000; h *= 3) {
        carom_sim *sim = sim_of(&k, "schatzman-paoli", WITH("theta=0.5"), h, 50 * h);
        double q[3] = {0};
        const double w = h * h;
        for (int n = 0; n < 50; ++n) {
            sim_step(sim);
            q[0] = q[1], q[1] = q[2], q[2] = carom_sim_now(sim).q[0];
            assert_true(fabs(q[2]) < 1.2);
            if (n >= 2) check_near((1 + 0.5 * w) * q[2], (2 - 0.5 * w) * q[1] - q[0], 2e-12 * (1 + w)); // 1e-12 of h f
        }
        carom_sim_destroy(sim);
    }
}

// (43)  g(z) = 0 where a contact reacts, z = (q_{k+1} + e q_{k-1})/(1 + e); e = 1/2 on the oscillator.
static void the_law_holds_at_z(void **state) {
    (void)state;
    known k;
    known_oscillator(&k, 0.5);
    const double h = 1e-2;
    carom_sim *sim = sim_of(&k, "schatzman-paoli", WITH("theta=1"), h, 10);
    double q[3] = {1, 1, 1};
    int touched = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        q[0] = q[1], q[1] = q[2], q[2] = carom_sim_now(sim).q[0];
        const double z = (q[2] + 0.5 * q[0]) / 1.5;
        assert_true(z > -1e-14);
        touched += fabs(z) < 1e-14;
    }
    assert_true(touched >= 3);
    carom_sim_destroy(sim);
}

// A joint is a constraint g(z) = 0.  Without contacts e = 0 and z = q_{k+1}: no drift; first order in time.
static void joints_hold_on_position_level(void **state) {
    (void)state;
    known k;
    known_pendulum_free(&k);
    carom_sim *fine = sim_of(&k, "ggl-alpha", NULL, 1e-4, 0.4);
    sim_to(fine, 0.4);
    static const char *const option[] = {"theta=none", "theta=0.5", "theta=1"};
    for (int r = 0; r < 3; ++r) {
        double h[3], error[3];
        for (int i = 0; i < 3; ++i) {
            h[i] = 0.4 / (100 << i);
            carom_sim *sim = sim_of(&k, "schatzman-paoli", WITH(option[r]), h[i], 0.4);
            sim_to(sim, 0.4);
            error[i] = fabs(carom_sim_now(sim).q[0] - carom_sim_now(fine).q[0]);
            assert_true(sim_ledger(sim).drift < 1e-12);
            carom_sim_destroy(sim);
        }
        check_near(slope(h, error, 3), 1, 0.1);
    }
    carom_sim_destroy(fine);
}

// Beside a contact with e > 0 the joint holds at z as well: off by O(h^2) at q.
static void joints_beside_contacts_are_off_by_the_square_of_the_step(void **state) {
    (void)state;
    known k;
    known_pendulum(&k, 0.1);
    double h[3], drift[3];
    for (int i = 0; i < 3; ++i) {
        h[i] = 0.4 / (100 << i);
        carom_sim *sim = sim_of(&k, "schatzman-paoli", NULL, h[i], 0.4); // before the wall
        sim_to(sim, 0.4);
        drift[i] = sim_ledger(sim).drift;
        carom_sim_destroy(sim);
    }
    check_near(slope(h, drift, 3), 2, 0.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mass_is_taken_at_theta),
        cmocka_unit_test(directions_are_taken_at_theta),
        cmocka_unit_test(theta_one_half_is_of_second_order),
        cmocka_unit_test(the_forecast_decides_the_local_error),
        cmocka_unit_test(the_scheme_is_the_one_printed),
        cmocka_unit_test(theta_from_one_half_on_is_stable),
        cmocka_unit_test(the_law_holds_at_z),
        cmocka_unit_test(joints_hold_on_position_level),
        cmocka_unit_test(joints_beside_contacts_are_off_by_the_square_of_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// conformance_scheme.c: every scheme in the table through the same frictionless physics: impacts, energy, rest.
//
// What a scheme lacks is skipped, and said so.  Orders: conformance_order.c; friction: conformance_friction.c; running,
// repeating and failing: conformance_run.c.
#include "schemes.h"
#include <float.h>

// Schemes that hold a closed contact on acceleration level keep whatever velocity it closed with, below |a| h for a
// contact that comes to rest: it creeps.
static double creep(const carom_scheme *s) { return s->promises.contacts == CAROM_ACCELERATION_LEVEL; }

// -- impacts -----------------------------------------------------------------------------------------------------

// The ball falls from 1 with force -2 and hits at t = 1 with -2; at t = 1.2 its velocity is 2e - 0.4 (e > 0.2).  The
// discrete impact happens within 2 h of t = 1 (half a step of forecast, half a step of position error, one step
// of sampling), where the velocity is wrong by |f| 2 h; that error is multiplied by 1 + e.
static void impact_follows_newtons_law(void **state) {
    (void)state;
    static const double restitution[] = {0.3, 0.7, 1};
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        for (int i = 0; i < 3; ++i)
            for (double h = 1e-2; h > 1e-4; h /= 7) {
                known k;
                const double e = restitution[i];
                known_ball(&k, 1, -2, e, 1);
                carom_sim *sim = sim_of(&k, s->name, NULL, h, h * round(1.2 / h));
                sim_to(sim, 2);
                const carom_now now = carom_sim_now(sim);
                scheme_near(s->name, now.v[0], 2 * e - 2 * (now.t - 1), (1 + e) * 2 * 2 * h);
                assert_int_equal(sim_ledger(sim).impacts, 1);
                carom_sim_destroy(sim);
            }
    }
}

static void plastic_impact_ends_at_rest(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        known k;
        known_ball(&k, 1, -2, 0, 1);
        const double h = 1.1e-3;
        carom_sim *sim = sim_of(&k, s->name, NULL, h, h * 1200);
        sim_to(sim, 2);
        const carom_now now = carom_sim_now(sim);
        // the contact problem is solved to 1e-12 of the largest local velocity, 2
        scheme_near(s->name, now.v[0], 0, 2e-12);
        // A contact that the forecast of half a step calls open ends at most h/2 |u| below; the step that closes it may
        // still move with the old velocity: 3/2 h |u|, |u| = 2 + |f| h.
        scheme_near(s->name, now.q[0], 0, 1.5 * h * (2 + 2 * h));
        scheme_near(s->name, now.impulse[0] + h * now.force[0], 2 * h, 4e-12);
        carom_sim_destroy(sim);
    }
}

static void collision_keeps_momentum(void **state) {
    (void)state;
    static const double restitution[] = {0, 0.5, 1};
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        for (int i = 0; i < 3; ++i) {
            known k;
            const double e = restitution[i], h = 0.0123;
            known_two_bodies(&k, 3, 0.25, e);
            carom_sim *sim = sim_of(&k, s->name, NULL, h, h * 80);
            while (!carom_sim_done(sim)) {
                sim_step(sim);
                const carom_now now = carom_sim_now(sim);
                scheme_near(s->name, 3 * now.v[0] + 0.25 * now.v[1], 3 * 2 - 0.25, 1e-13);
            }
            const carom_now now = carom_sim_now(sim);
            scheme_near(s->name, now.v[1] - now.v[0], e * 3, 1e-12); // approach velocity 3
            // 1/2 (1 - e^2) m_r u^2 with the reduced mass
            const carom_ledger l = sim_ledger(sim);
            scheme_near(s->name, l.energy.impact, 0.5 * (1 - e * e) * (3 * 0.25 / 3.25) * 9, 1e-12);
            carom_sim_destroy(sim);
        }
    }
}

// Impulses push, gaps that are clearly open have none, and the certificate is within its tolerance.
static void check_complementarity(const carom_scheme *s, const known *k, double h, double T) {
    carom_sim *sim = sim_of(k, s->name, NULL, h, h * round(T / h));
    const int nc = k->sys.nc;
    double last[KNOWN_MOST], u[2 * KNOWN_MOST], most = 0, reach = 0;
    carom_error err;
    for (int c = 0; c < nc; ++c) last[c] = carom_sim_now(sim).gap[c];
    while (!carom_sim_done(sim)) {
        assert_int_equal(carom_sim_velocities(sim, u, &err), CAROM_OK);
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < k->sys.nq; ++i) reach = fmax(reach, fabs(now.q[i]));
        for (int c = 0; c < nc; ++c) most = fmax(most, fabs(u[now.dir[c]]));
        for (int c = 0; c < nc; ++c) {
            const double p = now.impulse[now.dir[c]];
            scheme_true(s->name, p >= 0);
            if (last[c] > 3 * h * most && now.gap[c] > 3 * h * most) scheme_true(s->name, p == 0);
            last[c] = now.gap[c];
        }
    }
    // tol = 1e-12 of the largest c = u_free + e u <= 2 |u| + h |M^-1 f|; gaps count with their rounding over h
    const double allowed = 1e-12 * (2 * most + 10 * h) + 16 * DBL_EPSILON * reach / h;
    const carom_ledger l = sim_ledger(sim);
    scheme_true(s->name, l.counts.residual <= allowed);
    scheme_true(s->name, l.counts.problems > 0);
    carom_sim_destroy(sim);
}

static void gaps_and_impulses_are_complementary(void **state) {
    (void)state;
    known ball, balls, block, crank;
    known_ball_a(&ball);
    known_two_balls(&balls, 1e3);
    known_rocking_block(&block);
    known_slider_crank(&crank, 1e-3, 0.4, 0, true);
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        check_complementarity(s, &ball, 1.3e-3, 4);
        check_complementarity(s, &balls, 1.3e-3, 2);
        check_complementarity(s, &block, 1.3e-3, 1);
        check_complementarity(s, &crank, 1e-4, 0.1);
    }
}

// Steps so small that the rounding of a gap of order 1 divided by h is seen: the first impact, at 0.0026925 s, and for
// h = 1e-5 the closed phase behind it.
static void curved_gaps_are_met_with_very_small_steps(void **state) {
    (void)state;
    static const struct { double h, T; } runs[] = {{1e-5, 0.02}, {1.1e-6, 0.0028}, {1.03e-6, 0.0028}, {3e-7, 0.0028}};
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0, true);
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        for (int i = 0; i < 4; ++i) {
            carom_sim *sim = sim_of(&k, s->name, NULL, runs[i].h, runs[i].h * round(runs[i].T / runs[i].h));
            sim_to(sim, 0.0028);
            // 108.79 right after the impact, slopes below 2e4 1/s2, 1e-4 s later
            scheme_near(s->name, carom_sim_now(sim).v[0], 108.79, 2.5);
            while (!carom_sim_done(sim)) sim_step(sim);
            scheme_true(s->name, sim_ledger(sim).impacts >= 2);
            carom_sim_destroy(sim);
        }
    }
}

static void accumulation_of_impacts_is_passed(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        const double h = 1.3e-3;
        carom_sim *sim = sim_of(&k, s->name, NULL, h, h * 3077);
        sim_to(sim, 3.8);
        double reaction = 0;
        for (int i = 0; i < 100; ++i) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            reaction += now.impulse[0] + h * now.force[0];
            scheme_near(s->name, now.v[0], 0, 1e-12 + creep(s) * 2 * h);
            scheme_near(s->name, now.q[0], 0,
                        3 * h + creep(s) * 2 * h * 1); // one step of the largest speed, 2 + 1; a second of creeping
        }
        scheme_near(s->name, reaction, 100 * 2 * h, 1e-10); // it rests: the weight alone
        const carom_ledger l = sim_ledger(sim);
        scheme_true(s->name, l.accumulations >= 1);
        scheme_true(s->name, l.impacts >= 5 && l.impacts < 40); // flights shorter than h are none: 3 2^-n > h
        carom_sim_destroy(sim);
    }
}

// -- rest ---------------------------------------------------------------------------------------------------------

static void rest_stays_at_rest(void **state) {
    (void)state;
    static const double restitution[] = {0, 0.5, 1};
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        for (int i = 0; i < 3; ++i) {
            known k;
            known_rocking_block(&k);
            k.contact[0].restitution = k.contact[1].restitution = restitution[i];
            k.q0[1] = 0.75;
            k.q0[2] = 0;
            const double h = 1e-2;
            carom_sim *sim = sim_of(&k, s->name, NULL, h, 500 * h);
            for (int n = 0; n < 500; ++n) {
                sim_step(sim);
                const carom_now now = carom_sim_now(sim);
                // a residual of 1e-12 relative to the speed h g, 500 times
                scheme_near(s->name, now.q[1], 0.75, 1e-12);
                scheme_near(s->name, now.q[2], 0, 1e-12);
                scheme_near(s->name, carom_norm_max(now.v, 3), 0, 1e-12);
                const double reaction = now.impulse[0] + now.impulse[1] + h * (now.force[0] + now.force[1]);
                if (n > 0) scheme_near(s->name, reaction, 9.81 * h, 1e-12); // n = 0: a scheme's start may add its own
            }
            carom_sim_destroy(sim);
        }
    }
}

// Carried by a floor whose acceleration A w^2 stays below gravity.  A position that moves with velocities known only at
// one end of the step is wrong by h/2 times the change of the floor's velocity, at most h A w.  While the floor slows
// down, a forecast with constant velocity sees an open gap: then the body falls for a step or more and lands again,
// from no higher than the error of position, with relative acceleration of at most g + A w^2.
static void moving_floor_carries_a_body(void **state) {
    (void)state;
    const double A = 0.05, w = 8, T = 1.8, fall = 10 + A * w * w; // A w^2 = 3.2 < 10
    known k;
    known_moving_floor(&k, A, w, 0);
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        for (double h = 2e-3; h > 1e-4; h /= 8) {
            carom_sim *sim = sim_of(&k, s->name, NULL, h, T);
            const double height = h * A * w + h * h * fall + creep(s) * h * fall * T;
            double momentum = 0;
            while (!carom_sim_done(sim)) {
                sim_step(sim);
                const carom_now now = carom_sim_now(sim);
                scheme_near(s->name, now.gap[0], 0, height);
                scheme_near(s->name, now.v[0], A * w * cos(w * now.t), sqrt(2 * height * fall) + h * fall);
                scheme_true(s->name, now.impulse[0] >= 0);
                momentum += now.impulse[0] + h * now.force[0];
            }
            // a force is told at the end of the step and stands for all of it here; velocities may be half a step apart
            scheme_near(s->name, momentum, 10 * T + carom_sim_now(sim).v[0] - A * w, h * T * A * w * w * w + h * fall);
            // The floor's work is booked with its velocity at one instant of the step: wrong by at most p h A w^2 a
            // step, and schemes that are not symmetric lose or gain 1/2 |dv|^2 a step.
            const carom_ledger l = sim_ledger(sim);
            const double dE = 10 * A * sin(w * T) + 0.5 * A * w * A * w * (pow(cos(w * T), 2) - 1);
            scheme_near(s->name, l.energy.balance, 0, h * T * fall * fall);
            scheme_near(s->name, l.energy.external - l.energy.impact, dE, h * T * fall * fall + 2 * height * fall);
            carom_sim_destroy(sim);
        }
    }
}

// -- energy --------------------------------------------------------------------------------------------------------

// Schemes whose positions move with (1 - theta) v_0 + theta v_1 and whose reactions are one impulse p obey on the ball,
// whatever restitution:  dE = (1/2 - theta) m dv^2 + ((1 - theta) u_0 + theta u_1) p.
typedef struct balance_law {
    const char *scheme, *option;
    double theta;
} balance_law;

static const balance_law LAWS[] = {
    {"moreau-explicit", NULL, 0},
    {"moreau-midpoint", NULL, 0.5},
    {"moreau-jean", "theta=0", 0},
    {"moreau-jean", "theta=0.5", 0.5},
    {"moreau-jean", "theta=0.7", 0.7},
    {"moreau-jean", "theta=1", 1},
    {"moreau-dissipative", "theta=0.5", 0.5}, // moves with the mean velocity whatever theta is
    {"moreau-dissipative", "theta=1", 0.5},
};

static void energy_of_the_ball_obeys_the_balance_of_the_scheme(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof LAWS / sizeof *LAWS; ++i)
        for (double e = 0; e <= 1; e += 0.25) {
            known k;
            known_ball(&k, 1.7, -2, e, 1);
            const double h = 3.1e-3, theta = LAWS[i].theta;
            carom_sim *sim = sim_of(&k, LAWS[i].scheme, (const char *const[]){LAWS[i].option, NULL}, h, 1500 * h);
            double E = sim_energy(sim), v = 0;
            const double E_0 = E;
            while (!carom_sim_done(sim)) {
                sim_step(sim);
                const carom_now now = carom_sim_now(sim);
                const double E_1 = sim_energy(sim), dv = now.v[0] - v;
                const double law =
                    (0.5 - theta) * 1.7 * dv * dv + ((1 - theta) * v + theta * now.v[0]) * now.impulse[0];
                scheme_near(LAWS[i].scheme, E_1 - E, law, 64 * DBL_EPSILON * E_0);
                E = E_1;
                v = now.v[0];
            }
            carom_sim_destroy(sim);
        }
}

// On the oscillator, K = 1: moreau-dissipative takes (theta - 1/2) dq^2, and the mean of u_0 and u_1 times p.
static void energy_of_the_oscillator_obeys_the_dissipative_balance(void **state) {
    (void)state;
    for (double theta = 0.5; theta <= 1; theta += 0.25) {
        known k;
        char option[32];
        snprintf(option, sizeof option, "theta=%g", theta);
        known_oscillator(&k, 0.5);
        carom_sim *sim = sim_of(&k, "moreau-dissipative", (const char *const[]){option, NULL}, 0.013, 13);
        double E = sim_energy(sim), q = 1, v = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            const double E_1 = sim_energy(sim), dq = now.q[0] - q, p = now.impulse[0];
            check_near(E_1 - E, (0.5 - theta) * dq * dq + 0.5 * (v + now.v[0]) * p, 1e-13);
            if (p > 0 && v <= 0) assert_true(E_1 <= E + 1e-15);
            E = E_1;
            q = now.q[0];
            v = now.v[0];
        }
        carom_sim_destroy(sim);
    }
}

// Where the balance above has no positive term: theta = 1/(1 + e) (the impulse does no work), and e = 0 or 1 at theta =
// 1/2 (for e = 0 a closed contact never separates, so u_0 <= 0).  ggl-alpha: exact in flight, and the projection takes
// height.
static void energy_is_not_created_where_theory_says_so(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double e, theta;
    } cases[] = {
        {"moreau-jean", 0.25, 1 / 1.25}, {"moreau-jean", 0.5, 1 / 1.5}, {"moreau-jean", 0.8, 1 / 1.8},
        {"moreau-jean", 1, 0.5},         {"moreau-jean", 0, 0.5},       {"moreau-jean", 0, 1},
        {"moreau-midpoint", 0, -1},      {"moreau-midpoint", 1, -1},    {"moreau-dissipative", 0, 0.5},
        {"moreau-dissipative", 1, 0.5},  {"moreau-dissipative", 1, 1},  {"ggl-alpha", 0, -1},
        {"ggl-alpha", 0.3, -1},          {"ggl-alpha", 0.8, -1},        {"ggl-alpha", 1, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        known k;
        char option[40];
        snprintf(option, sizeof option, "theta=%.17g", cases[i].theta);
        known_ball(&k, 1, -2, cases[i].e, 1);
        const double h = 3.1e-3;
        carom_sim *sim =
            sim_of(&k, cases[i].scheme, (const char *const[]){cases[i].theta < 0 ? NULL : option, NULL}, h, 2000 * h);
        double E = sim_energy(sim);
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const double E_1 = sim_energy(sim);
            scheme_true(cases[i].scheme, E_1 <= E + 64 * DBL_EPSILON * 2);
            E = E_1;
        }
        carom_sim_destroy(sim);
    }
}

// The ledger explains all of the energy where the books use the velocities that the scheme uses.
static void ledger_closes_on_the_ball(void **state) {
    (void)state;
    static const char *const exact[] = {"moreau-midpoint", "moreau-jean", "moreau-dissipative"};
    for (size_t i = 0; i < sizeof exact / sizeof *exact; ++i) {
        known k;
        known_ball_a(&k);
        carom_sim *sim = sim_of(&k, exact[i], NULL, 1.3e-3, 1.3e-3 * 3077);
        while (!carom_sim_done(sim)) sim_step(sim);
        const carom_ledger l = sim_ledger(sim);
        scheme_near(exact[i], l.energy.balance, 0, 1e-12);
        scheme_near(exact[i], l.energy.start, 2, 1e-15);
        scheme_near(exact[i], l.energy.impact, 2 - l.energy.end, 1e-12);
        carom_sim_destroy(sim);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(impact_follows_newtons_law),
        cmocka_unit_test(plastic_impact_ends_at_rest),
        cmocka_unit_test(collision_keeps_momentum),
        cmocka_unit_test(gaps_and_impulses_are_complementary),
        cmocka_unit_test(curved_gaps_are_met_with_very_small_steps),
        cmocka_unit_test(accumulation_of_impacts_is_passed),
        cmocka_unit_test(rest_stays_at_rest),
        cmocka_unit_test(moving_floor_carries_a_body),
        cmocka_unit_test(energy_of_the_ball_obeys_the_balance_of_the_scheme),
        cmocka_unit_test(energy_of_the_oscillator_obeys_the_dissipative_balance),
        cmocka_unit_test(energy_is_not_created_where_theory_says_so),
        cmocka_unit_test(ledger_closes_on_the_ball),
    };
    return cmocka_run_group_tests_name("schemes: frictionless physics", tests, NULL, NULL);
}

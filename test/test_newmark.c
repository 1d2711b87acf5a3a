// test_newmark.c: newmark, hht, generalized-alpha, alpha-index3, and the counter-examples of the papers.
#include "chain.h"
#include "schemes.h"
#include <float.h>

#define WITH(...)                                                                                                      \
    (const char *const[]) { __VA_ARGS__, NULL }

// -- the family -----------------------------------------------------------------------------------------------------

// With a constant force a_0 = a_1 = s: the parameters drop out.
static void parameters_do_not_matter_under_a_constant_force(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    const double h = 1.7e-3;
    static const char *const names[] = {"newmark", "newmark", "hht", "generalized-alpha", "generalized-alpha"};
    static const char *const option[] = {"gamma=0.5", "gamma=1", "alpha=0.2", "rho=0.8", "rho=0"};
    carom_sim *sim[5];
    for (int i = 0; i < 5; ++i) sim[i] = sim_of(&k, names[i], WITH(option[i]), h, h * 2300);
    while (!carom_sim_done(sim[0])) {
        for (int i = 0; i < 5; ++i) sim_step(sim[i]);
        const carom_now a = carom_sim_now(sim[0]);
        for (int i = 1; i < 5; ++i) {
            const carom_now b = carom_sim_now(sim[i]);
            scheme_near(names[i], b.q[0], a.q[0], 1e-12); // 2300 roundings of 1e-16 and their sums
            scheme_near(names[i], b.v[0], a.v[0], 1e-12);
        }
    }
    for (int i = 0; i < 5; ++i) carom_sim_destroy(sim[i]);
}

// HHT with alpha = 0 and Newmark (1/2, 1/4) are the same; so is generalized-alpha with rho = 1/2 and (alpha_m, alpha_f)
// = (0, 1/3) the same as HHT with alpha = 1/3.
static void members_of_the_family_meet(void **state) {
    (void)state;
    static const struct {
        const char *a, *option_a, *b, *option_b;
    } pairs[] = {
        {"newmark", "beta=0.25", "hht", "alpha=0"},
        {"hht", "alpha=0.333333333333333333", "generalized-alpha", "rho=0.5"},
    };
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0.01, true);
    for (int i = 0; i < 2; ++i) {
        carom_sim *a = sim_of(&k, pairs[i].a, WITH(pairs[i].option_a), 1e-5, 0.004);
        carom_sim *b = sim_of(&k, pairs[i].b, WITH(pairs[i].option_b), 1e-5, 0.004);
        while (!carom_sim_done(a)) {
            sim_step(a);
            sim_step(b);
            for (int j = 0; j < 3; ++j) check_near(carom_sim_now(a).q[j], carom_sim_now(b).q[j], 1e-11);
        }
        assert_true(sim_ledger(a).impacts > 0);
        carom_sim_destroy(a);
        carom_sim_destroy(b);
    }
}

// Parameters that are given stand for those that others determine.
static void parameters_may_be_given_one_by_one(void **state) {
    (void)state;
    static const struct {
        const char *a, *option_a[2], *b, *option_b[4];
    } pairs[] = {
        {"newmark", {"gamma=0.7", "beta=0.4"}, "hht", {"alpha=0", "gamma=0.7", "beta=0.4"}},
        {"hht", {"alpha=0.2"}, "generalized-alpha", {"alpha-m=0", "alpha-f=0.2"}},
        {"hht", {"alpha=0.2"}, "hht", {"alpha=0.2", "gamma=by-alpha", "beta=0.36"}},
        {"generalized-alpha", {"rho=0.5"}, "generalized-alpha", {"rho=0.5", "alpha-m=0", "gamma=0.83333333333333333"}},
        {"newmark",
         {"gamma=0.5", "beta=0.16666666666666666"},
         "generalized-alpha",
         {"alpha-m=0", "alpha-f=0", "beta=0.16666666666666666"}},
    };
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0.01, true);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        carom_sim *a = sim_of(&k, pairs[i].a, WITH(pairs[i].option_a[0], pairs[i].option_a[1]), 1e-5, 0.004);
        carom_sim *b =
            sim_of(&k, pairs[i].b, WITH(pairs[i].option_b[0], pairs[i].option_b[1], pairs[i].option_b[2]), 1e-5, 0.004);
        while (!carom_sim_done(a)) {
            sim_step(a);
            sim_step(b);
            for (int j = 0; j < 3; ++j) check_near(carom_sim_now(a).q[j], carom_sim_now(b).q[j], 1e-11);
        }
        carom_sim_destroy(a);
        carom_sim_destroy(b);
    }
}

// Newmark on q'' = -q:  q_{k+1} + q_{k-1} = 2 c q_k with c = 1 - w/(2 (1 + beta w)), w = h^2, when gamma = 1/2; |c| <=
// 1 is the limit of stability.  Average and linear acceleration, Fox-Goodwin, central differences.
static void standard_values_have_their_recurrences(void **state) {
    (void)state;
    static const struct {
        const char *beta;
        double value, limit;
    } table[] = {{"beta=0.25", 0.25, INFINITY},
                 {"beta=0.16666666666666667", 1.0 / 6, 3.4641016151377544},
                 {"beta=0.083333333333333333", 1.0 / 12, 2.4494897427831779},
                 {"beta=0", 0, 2}};
    known k;
    known_oscillator(&k, 0.5);
    k.sys.nc = 0;
    for (int i = 0; i < 4; ++i)
        for (double h = 0.1; h < (isinf(table[i].limit) ? 1e5 : 30); h *= 1.9) {
            const double w = h * h, c = 1 - 0.5 * w / (1 + table[i].value * w);
            carom_sim *sim = sim_of(&k, "newmark", WITH(table[i].beta), h, 40 * h);
            double q[3] = {0, 0, 1}, most = 1;
            for (int n = 1; n <= 40; ++n) {
                sim_step(sim);
                q[0] = q[1], q[1] = q[2], q[2] = carom_sim_now(sim).q[0];
                most = fmax(most, fabs(q[2]));
                if (n > 1) check_near(q[2] + q[0], 2 * c * q[1], 1e-11 * (1 + w) * most);
            }
            assert_true(h < table[i].limit ? most < 1.01 : most > 100);
            assert_true(sim_ledger(sim).rejected == 0);
            carom_sim_destroy(sim);
        }
}

// Parameters with which vibrations grow have a warning; those that damp, and the defaults, have none.
static void negative_damping_has_a_warning(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *option;
        bool grows;
    } cases[] = {{"newmark", "gamma=0.4", true},
                 {"newmark", "gamma=0.5", false},
                 {"newmark", "gamma=1", false},
                 {"hht", "alpha=0.1", false},
                 {"hht", "gamma=0.55", true},
                 {"generalized-alpha", "rho=1", false},
                 {"generalized-alpha", "gamma=0.6", true}};
    known k;
    known_two_balls(&k, 1e3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_sim *sim = sim_of(&k, cases[i].scheme, WITH(cases[i].option), 1e-3, 1);
        const char *text = carom_sim_warning(sim);
        scheme_true(cases[i].option, (text && strstr(text, "vibrations grow")) == cases[i].grows);
        carom_sim_destroy(sim);
    }
}

// rho = 1 keeps the energy of a linear system, with M s_0 = f_0 at the start.
static void rho_one_does_not_damp(void **state) {
    (void)state;
    known k;
    known_two_balls(&k, 1e4);
    k.sys.nc = 0;
    k.q0[1] += 0.05;
    carom_sim *sim = sim_of(&k, "generalized-alpha", WITH("rho=1", "start=force"), 0.03, 3);
    const double start = sim_energy(sim);
    double off = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        off = fmax(off, fabs(sim_energy(sim) - start));
    }
    assert_true(off < 1e-9 * fabs(start));
    carom_sim_destroy(sim);
}

// Mean of |v - exact| over step ends, several close sizes each.
static void velocities_pass_impacts_with_first_order(void **state) {
    (void)state;
    enum { SIZES = 7, PHASES = 13 };
    static const struct {
        const char *scheme, *option;
    } runs[] = {
        {"newmark", "gamma=0.5"}, {"newmark", "active=half"}, {"hht", "alpha=0.1"}, {"generalized-alpha", "rho=0.8"}};
    known k;
    known_oscillator(&k, 0.5);
    for (int r = 0; r < 4; ++r) {
        double h[SIZES], error[SIZES];
        for (int i = 0; i < SIZES; ++i) {
            const int n = (int)(401 * pow(1.45, i));
            h[i] = 10.0 / n;
            error[i] = 0;
            for (int phase = 0; phase < PHASES; ++phase) {
                const int m = n + phase * (n / 90) + phase % 3;
                carom_sim *sim = sim_of(&k, runs[r].scheme, WITH(runs[r].option), 10.0 / m, 10);
                while (!carom_sim_done(sim)) {
                    sim_step(sim);
                    double v;
                    known_oscillator_exact(carom_sim_now(sim).t, 0.5, &v);
                    error[i] += fabs(carom_sim_now(sim).v[0] - v) / m / PHASES;
                }
                carom_sim_destroy(sim);
            }
        }
        const double order = slope(h, error, SIZES);
        print_message("    %s %s: %.2f (%.1e)\n", runs[r].scheme, runs[r].option, order, error[SIZES - 1]);
        scheme_true(runs[r].scheme, order > 0.85);
    }
}

// -- bouncing bar, h = 2e-3, consistent mass: energies at 1.5 s that another program printed with two decimals ------

static void bar_keeps_the_printed_energies(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *option, *more;
        double E;
    } runs[] = {
        {"generalized-alpha", "rho=0.6", "active=half", 495.78},
        {"generalized-alpha", "rho=0.8", "active=half", 497.44},
        {"newmark", "gamma=0.5", "beta=0.25", 498.34},
        {"newmark", "gamma=1", "beta=0.5625", 452.17},
        {"hht", "alpha=0.1", "active=half", 495.41},
        {"hht", "alpha=0.1", "active=free", 495.41},
        {"moreau-jean", "theta=0.55555555555555556", "identity=on", 476.92},
    };
    static chain c;
    chain_bouncing_bar(&c, false);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        carom_error err;
        carom_sim *sim = chain_sim(&c, runs[i].scheme, WITH(runs[i].option, runs[i].more), 2e-3, 1.5, &err);
        if (!sim) fail_msg("%s", err.text);
        double push = 0, last = 0, E = sim_energy(sim);
        int n = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            const double E_1 = sim_energy(sim);
            // e = 0: impulses take energy, and for 2 beta = gamma = 1/2 nothing else changes it
            if (strcmp(runs[i].option, "gamma=0.5") == 0) assert_true(E_1 <= E + 64 * DBL_EPSILON * 500 * 200);
            E = E_1;
            if (now.t > 0.6 && now.t < 1.0) push += now.impulse[0] / 2e-3, ++n;
            if (now.impulse[0] > 0) last = now.t;
        }
        const carom_ledger l = sim_ledger(sim);
        scheme_near(runs[i].scheme, l.energy.end, runs[i].E, 0.005 + 1e-6);
        // exact: 300 N until 0.5005 + 2/3 s; every fifth of a step late at most by the dispersion of the mesh
        scheme_near(runs[i].scheme, push / n, 300, 1.5);
        scheme_near(runs[i].scheme, last, 0.5005 + 2.0 / 3, 6e-3);
        scheme_true(runs[i].scheme, l.penetration <= 2e-3 * 10);
        scheme_true(runs[i].scheme, l.counts.newton_max <= 2);
        carom_sim_destroy(sim);
    }
}

static void bar_on_position_level_makes_energy(void **state) {
    (void)state;
    static const struct {
        bool lumped;
        double end, most;
    } runs[] = {{false, 497.80, 502.7}, {true, 543.0, 562.9}};
    static chain c;
    for (int i = 0; i < 2; ++i) {
        carom_error err;
        chain_bouncing_bar(&c, runs[i].lumped);
        carom_sim *sim = chain_sim(&c, "alpha-index3", NULL, 2e-3, 1.5, &err);
        if (!sim) fail_msg("%s", err.text);
        double most = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            most = fmax(most, sim_energy(sim));
        }
        const carom_ledger l = sim_ledger(sim);
        check_near(l.energy.end, runs[i].end, i == 0 ? 0.0051 : 0.051);
        check_near(most, runs[i].most, 0.051);
        assert_true(l.penetration <= 1e-14); // q of order 5
        carom_sim_destroy(sim);
    }
}

// -- counter-examples -----------------------------------------------------------------------------------------------

// The first bounce of a ball (g = 9.81, from 1 m or so, e = 0.9): velocity a few steps after over velocity a step
// before.
static double bounce(const char *scheme, const char *const *options, double height) {
    known k;
    known_ball(&k, 1, -9.81, 0.9, height);
    const double h = 1e-3, t_hit = sqrt(2 * height / 9.81);
    carom_sim *sim = sim_of(&k, scheme, options, h, 1);
    sim_to(sim, t_hit - h);
    const double before = carom_sim_now(sim).v[0] - 9.81 * (t_hit - carom_sim_now(sim).t);
    sim_to(sim, t_hit + 20 * h);
    const double after = carom_sim_now(sim).v[0] + 9.81 * (carom_sim_now(sim).t - t_hit);
    carom_sim_destroy(sim);
    return -after / before;
}

// Derived: the impulsive acceleration comes back in the next step with weight (1 - gamma)/gamma.  The time of the
// impact is known to 2 h, 2 h g/4.4 = 0.0044 of the velocity, times 1 + e_eff.
static void naive_velocity_level_multiplies_restitution(void **state) {
    (void)state;
    static const struct {
        const char *option;
        double gamma;
    } runs[] = {{"gamma=1", 1}, {"gamma=0.75", 0.75}, {"gamma=0.5", 0.5}};
    for (int i = 0; i < 3; ++i) {
        const double expected = 0.9 + 1.9 * (1 - runs[i].gamma) / runs[i].gamma;
        const double e = bounce("newmark", WITH(runs[i].option, "beta=0.5625", "contact=velocity"), 1);
        print_message("    %s: bounces with %.4f, derived %.4f\n", runs[i].option, e, expected);
        check_near(e, expected, (1 + expected) * 0.0044);
        check_near(bounce("newmark", WITH(runs[i].option, "beta=0.5625"), 1), 0.9, 1.9 * 0.0044);
    }
}

// Restitution is what the place of the impact in its step makes of it; the law says 0.9.
static void naive_position_level_bounces_by_chance(void **state) {
    (void)state;
    double least = 10, most = 0;
    for (int i = 0; i < 40; ++i) {
        const double e = bounce("newmark", WITH("gamma=1", "beta=0.5625", "contact=position"), 1 + 0.0001 * i);
        least = fmin(least, e);
        most = fmax(most, e);
    }
    print_message("    from %.3f to %.3f\n", least, most);
    assert_true(least < 0.2);
    assert_true(most - least > 0.5);
}

// Ball B: 8.01 J become 46.3 J at the first bounce.
static void index_3_makes_energy_at_an_impact(void **state) {
    (void)state;
    known k;
    known_ball(&k, 1, -10, 0.8, 0.801);
    carom_sim *sim = sim_of(&k, "alpha-index3", NULL, 2e-3, 5);
    check_near(sim_energy(sim), 8.01, 1e-12);
    sim_to(sim, 0.4);
    check_near(sim_energy(sim), 8.01, 1e-12);
    sim_to(sim, 0.6);
    check_near(sim_energy(sim), 46.3, 0.05);
    while (!carom_sim_done(sim)) sim_step(sim);
    const carom_ledger l = sim_ledger(sim);
    assert_true(l.energy.end > 100);
    assert_true(l.penetration <= 1e-17);
    assert_non_null(carom_sim_warning(sim));
    carom_sim_destroy(sim);
}

// Pendulum without its wall, h = 1e-3: second order, no drift.
static void index_3_is_good_for_joints(void **state) {
    (void)state;
    known k;
    known_pendulum_free(&k);
    double error[2];
    for (int i = 0; i < 2; ++i) {
        carom_sim *sim = sim_of(&k, "alpha-index3", NULL, 1e-3 / (1 + i), 0.4);
        while (!carom_sim_done(sim)) sim_step(sim);
        error[i] = fabs(carom_sim_now(sim).q[2] + 0.450878091411192185);
        assert_true(sim_ledger(sim).drift <= 1e-14);
        carom_sim_destroy(sim);
    }
    check_near(log2(error[0] / error[1]), 2, 0.05);
}

// Ball B after its accumulation: never at rest, impulses every now and then that carry ten steps of weight.
// nu = h theta (mu_1 + Lambda) + h (1 - theta) mu_0: with theta = 1/2 the ball no longer chatters; it rests, but above
// the ground, and there
// it bears its weight.
static void modified_complementarity_with_theta_hovers(void **state) {
    (void)state;
    known k;
    known_ball(&k, 1, -10, 0.8, 0.801);
    const double h = 2e-3;
    carom_sim *sim = sim_of(&k, "ggl-alpha", WITH("complementarity=modified", "theta=0.5"), h, 5);
    double speed = 0, gap = 1;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        if (now.t < 4.5) continue;
        speed = fmax(speed, fabs(now.v[0]));
        gap = fmin(gap, now.gap[0]);
        check_near(now.impulse[0] / h, 10, 1e-9);
    }
    print_message("    |v| <= %.1e, gap >= %.1e\n", speed, gap);
    assert_true(speed < 1e-12 && gap > 1e-6 && gap < 2e-5);
    assert_non_null(carom_sim_warning(sim));
    carom_sim_destroy(sim);
}

static void modified_complementarity_chatters(void **state) {
    (void)state;
    for (int modified = 0; modified < 2; ++modified) {
        known k;
        known_ball(&k, 1, -10, 0.8, 0.801);
        const double h = 2e-3;
        carom_sim *sim =
            sim_of(&k, "ggl-alpha", WITH(modified ? "complementarity=modified" : "complementarity=ggl"), h, 5);
        double speed = 0, gap = 0, least = 1, most = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            if (now.t < 4.5) continue;
            speed = fmax(speed, fabs(now.v[0]));
            gap = fmax(gap, now.gap[0]);
            least = fmin(least, now.impulse[0]);
            most = fmax(most, now.impulse[0]);
        }
        print_message("    %s: |v| <= %.3f, gap <= %.1e, reaction %.1f to %.1f\n", modified ? "modified" : "ggl", speed,
                      gap, least / h, most / h);
        if (modified) {
            assert_true(speed > 0.08 && speed < 0.125); // printed: 0.122 at most over the whole run
            assert_true(gap > 4e-4 && gap < 8.6e-4);    // printed: 8.5e-4
            assert_true(least == 0);
            check_near(most / h, 100, 1); // printed: 100
        } else {
            assert_true(speed < 1e-12 && gap < 1e-15);
            check_near(least / h, 10, 1e-9);
            check_near(most / h, 10, 1e-9);
        }
        assert_true(!carom_sim_warning(sim) == !modified);
        assert_true(sim_ledger(sim).penetration <= 1e-17);
        carom_sim_destroy(sim);
    }
}

static void warnings_are_told_for_counter_examples_only(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *option;
        bool warns;
    } cases[] = {{"newmark", "contact=nonsmooth", false},
                 {"newmark", "contact=position", true},
                 {"newmark", "contact=velocity", true},
                 {"hht", "contact=velocity", true},
                 {"hht", "active=half", false},
                 {"generalized-alpha", "contact=position", true},
                 {"half-explicit", "closed=strict", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        known k;
        known_ball_a(&k);
        carom_sim *sim = sim_of(&k, cases[i].scheme, WITH(cases[i].option), 1e-2, 1);
        assert_true((carom_sim_warning(sim) != NULL) == cases[i].warns);
        carom_sim_destroy(sim);
    }
}

// Impossible combinations end with a sentence.
static void impossible_options_are_refused(void **state) {
    (void)state;
    known k;
    known_slope(&k, 1, 0.1, 0.5);
    static const struct {
        const char *a, *b, *says;
    } cases[] = {{"contact=position", "beta=0", "beta > 0"},
                 {"contact=position", "beta=0.25", "does not support friction"},
                 {"contact=velocity", "gamma=0", "gamma > 0"}};
    for (int i = 0; i < 3; ++i) {
        carom_error err = {0};
        carom_sim_def d = known_run(&k, "newmark", 1e-3, 1);
        d.options = WITH(cases[i].a, cases[i].b);
        assert_null(carom_sim_create(&d, &err));
        if (!strstr(err.text, cases[i].says)) fail_msg("'%s' does not say '%s'", err.text, cases[i].says);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_do_not_matter_under_a_constant_force),
        cmocka_unit_test(members_of_the_family_meet),
        cmocka_unit_test(parameters_may_be_given_one_by_one),
        cmocka_unit_test(standard_values_have_their_recurrences),
        cmocka_unit_test(rho_one_does_not_damp),
        cmocka_unit_test(negative_damping_has_a_warning),
        cmocka_unit_test(velocities_pass_impacts_with_first_order),
        cmocka_unit_test(bar_keeps_the_printed_energies),
        cmocka_unit_test(bar_on_position_level_makes_energy),
        cmocka_unit_test(naive_velocity_level_multiplies_restitution),
        cmocka_unit_test(naive_position_level_bounces_by_chance),
        cmocka_unit_test(index_3_makes_energy_at_an_impact),
        cmocka_unit_test(index_3_is_good_for_joints),
        cmocka_unit_test(modified_complementarity_chatters),
        cmocka_unit_test(modified_complementarity_with_theta_hovers),
        cmocka_unit_test(warnings_are_told_for_counter_examples_only),
        cmocka_unit_test(impossible_options_are_refused),
    };
    return cmocka_run_group_tests_name("newmark", tests, NULL, NULL);
}

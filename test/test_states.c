// test_states.c: first-order states: closed forms, orders of all schemes, impacts, equilibria, modes, orbits, branches,
// gradients, energy, and what is refused.
#include "ends.h"
#include "orbits.h"

// i' = (U - R i)/L drives a mass of 1: with w = R/L, i = U/R (1 - exp(-w t)), v = U/R (t - (1 - exp(-w t))/w).
#define CIRCUIT                                                                                                        \
    "carom: 1\nparameters: {U: 12, R: 2, L: 0.5}\ncoordinates: {x: 0}\nstates: {i: {at: 0, rate: (U - R*i)/L}}\n"      \
    "energy: {kinetic: 1/2*x'^2}\nforces: {x: i}\n"

// A motor turns a pendulum, J = 0.08, against a stop at 1 rad.
#define MOTOR                                                                                                          \
    "carom: 1\nparameters: {U: 6, R: 1.2, L: 0.05, k: 0.3, m: 0.5, l: 0.4, grav: 9.81}\ncoordinates: {phi: 0}\n"       \
    "states: {i: {at: 0, rate: (U - R*i - k*phi')/L}}\nenergy: {kinetic: 1/2*m*l^2*phi'^2, potential: "                \
    "-m*grav*l*cos(phi)}\nforces: {phi: k*i}\ncontacts: {stop: {gap: 1 - phi, restitution: 0.4}}\n"

static bool fixed_steps(const carom_scheme *s) { return !s->controls_own_steps; }

// The largest error of three values at the end, over steps h, h/2, h/4; their slope.
static double observed(const char *text, const carom_scheme *s, double h, double t_end, const char *const *names,
                       const double *exact, int n, double *last) {
    double steps[3], error[3] = {0};
    for (int k = 0; k < 3; ++k) {
        steps[k] = h / (1 << k);
        const end e = run(text, s->name, steps[k], t_end, names);
        for (int i = 0; i < n; ++i) error[k] = fmax(error[k], fabs(e.x[i] - exact[i]));
    }
    *last = error[2];
    return slope(steps, error, 3);
}

static void every_scheme_keeps_its_order(void **state) {
    (void)state;
    const double e = exp(-4), exact[] = {6 * (0.25 + (1 - e) / 16), 6 * (1 - (1 - e) / 4), 6 * (1 - e)};
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        double error;
        if (!fixed_steps(s)) {
            const end at = run(CIRCUIT, s->name, 0.05, 1, NAMES("x", "x'", "i"));
            for (int i = 0; i < 3; ++i) scheme_near(s->name, at.x[i], exact[i], 1e-6);
            continue;
        }
        const double order = observed(CIRCUIT, s, 0.025, 1, NAMES("x", "x'", "i"), exact, 3, &error);
        print_message("    %-28s order %.2f, error %.2g\n", s->name, order, error);
        scheme_true(s->name, order > s->order - 0.15);
    }
}

// Before the impact, at 0.41 s, with its order; across two impacts with first order.  Where an impact is
// taken for h too early or too late, positions are off by (1 + e) v h, v = 2.3, rates by (1 + e) a h, a = 20.
static void orders_on_a_motor_against_a_stop(void **state) {
    (void)state;
    double exact[2][3];
    for (int k = 0; k < 2; ++k) {
        carom_model *m = good(MOTOR);
        const char *const names[] = {"phi", "phi'", "i"}, *const options[] = {"rtol=1e-12", NULL};
        carom_sim *sim = model_sim(m, "event-driven", options, 0.1, k ? 1.2 : 0.3);
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < 3; ++i) exact[k][i] = value(m, sim, &now, names[i]);
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        double error, after;
        if (!fixed_steps(s) || s->limitations & CAROM_NO_IMPACTS) continue;
        const double h = s->order > 3 ? 0.02 : 0.005;
        const double order = observed(MOTOR, s, h, 0.3, NAMES("phi", "phi'", "i"), exact[0], 3, &error);
        const double across = observed(MOTOR, s, 0.002, 1.2, NAMES("phi", "phi'", "i"), exact[1], 3, &after);
        print_message("    %-28s order %.2f, error %.2g; across impacts %.2f, %.2g\n", s->name, order, error, across,
                      after);
        scheme_true(s->name, order > s->order - 0.2);
        scheme_true(s->name, after < 1.4 * 20 * 0.0005);
        scheme_true(s->name, across > 0.5 || after < 1e-9);
    }
}

// An impact changes the rate of the current, not the current.
static void impacts_leave_states_alone(void **state) {
    (void)state;
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        if (s->limitations & CAROM_NO_IMPACTS) continue;
        carom_model *m = good(MOTOR);
        const double h = 1e-3;
        carom_sim *sim = model_sim(m, s->name, NULL, h, 1);
        double before = 0;
        int impacts = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            impacts += sim_impacts(sim);
            const double i = now.v[1], fastest = (6 + 1.2 * 6 + 0.3 * 3) / 0.05;
            scheme_true(s->name, fabs(i - before) <= fastest * h);
            before = i;
        }
        scheme_true(s->name, impacts > 0);
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
}

// The same current in MA and in uA, without a scale and with one: the motion is the same, up to the tolerances of
// Newton's method and of schemes that choose their steps.
static void units_of_states_do_not_matter(void **state) {
    (void)state;
    static const char form[] =
        "carom: 1\nparameters: {u: %g}\ncoordinates: {phi: 0}\nstates: {i: {at: 0, rate: u*(6 - 1.2*i/u - "
        "0.3*phi')/0.05%s}}\nenergy: {kinetic: 0.04*phi'^2, potential: -1.962*cos(phi)}\nforces: {phi: "
        "0.3*i/u}\ncontacts: {stop: {gap: 1 - phi, restitution: 0.4}}\n";
    static const struct { double u; const char *scale; } cases[] = {{1e-6, ""}, {1e6, ""}, {1e-6, ", scale: u"}};
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        if (s->limitations & CAROM_NO_IMPACTS) continue;
        const end one = run(MOTOR, s->name, 2e-3, 1, NAMES("phi", "phi'", "i"));
        for (size_t n = 0; n < sizeof cases / sizeof *cases; ++n) {
            char text[600];
            snprintf(text, sizeof text, form, cases[n].u, cases[n].scale);
            const end other = run(text, s->name, 2e-3, 1, NAMES("phi", "phi'", "i"));
            const double tol = s->controls_own_steps ? 1e-5 : 1e-6;
            scheme_near(s->name, other.x[0], one.x[0], tol);
            scheme_near(s->name, other.x[1], one.x[1], 10 * tol);
            scheme_near(s->name, other.x[2] / cases[n].u, one.x[2], 10 * tol);
        }
    }
}

static carom_equilibrium at_rest(const carom_model *m) {
    carom_equilibrium r;
    carom_error err = {0};
    if (carom_equilibrium_find(&r, m, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    return r;
}

// At the stop, stalled: i = U/R, and the stop takes what gravity leaves of k i.  Free: sin phi = k U/(R m g l).
static void equilibria(void **state) {
    (void)state;
    carom_model *m = good(MOTOR);
    carom_equilibrium r = at_rest(m);
    check_near(r.q[1], 5, 1e-10);
    check_near(r.q[0], asin(1.5 / 1.962), 1e-10);
    carom_equilibrium_free(&r);
    const int U = 0;
    const double value[] = {12};
    bool derived;
    carom_error err = {0};
    assert_int_equal(carom_model_set(m, 1, &U, value, &derived, &err), CAROM_OK);
    r = at_rest(m);
    check_near(r.q[1], 10, 1e-10);
    check_near(r.q[0], 1, 1e-12);
    check_near(r.force[0].value, 3 - 1.962 * sin(1), 1e-9);
    double v[2];
    carom_model_at_rest(m, r.q, v);
    check_near(v[0], 0, 0);
    check_near(v[1], r.q[1], 0);
    carom_equilibrium_free(&r);
    carom_model_destroy(m);
    // a pressure of megapascals holds a piston at its stop, and nothing else does: the stop does not lose it (RST-3)
    m = good("carom: 1\nparameters: {B: 1.2e9, A: 2e-3}\nbodies: {piston: {mass: 40, inertia: 1}}\njoints:\n"
             "  bore: {type: prismatic, between: [ground, piston], at: [0, 0], axis: [1, 0], limits: {lower: 0, upper: "
             "5e-3}}\nstates:\n  p: {at: 5e5, scale: 1e6, rate: \"B/(2e-4 + A*bore.shift)*(1e-5 - A*bore.shift' - "
             "1e-10*max(0, p - 6e6))\"}\nmotors: {push: {joint: bore, force: p*A - 800*bore.shift'}}\n"
             "springs: {load: {joint: bore, force: \"3000*min(1, max(0, length/1e-4))\"}}\n");
    r = at_rest(m);
    check_near(r.q[0], 6.1e6, 1e-4);
    check_near(r.q[1], 5e-3, 1e-12);
    carom_equilibrium_free(&r);
    carom_model_destroy(m);
    m = good("carom: 1\ncoordinates: {x: 0}\nstates: {z: {rate: 2}}\nenergy: {kinetic: x'^2, potential: x^2}\n");
    assert_int_equal(carom_equilibrium_find(&r, m, NULL, &err), CAROM_NOT_CONVERGED);
    if (!strstr(err.text, "the rate of 'z' is 2")) fail_msg("%s", err.text);
    carom_equilibrium_free(&r);
    carom_model_destroy(m);
}

// (J s^2 + m g l cos phi) (L s + R) + k^2 s = 0, three eigenvalues and no zeros; of a circuit alone -R/L.
static void modes_of_a_motor(void **state) {
    (void)state;
    carom_model *m = good(MOTOR);
    carom_modes x;
    carom_error err = {0};
    if (carom_modes_find(&x, m, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    const double c = 1.962 * sqrt(1 - 1.5 / 1.962 * 1.5 / 1.962), J = 0.08, L = 0.05, R = 1.2, k = 0.3;
    assert_int_equal(x.count, 2);
    for (int i = 0; i < x.count; ++i) {
        // a s^3 + b s^2 + d s + e by Horner's rule, s = re + i im
        const double a[] = {J * L, J * R, c * L + k * k, c * R}, re = x.mode[i].re, im = x.mode[i].im;
        double p = 0, q = 0, size = 0;
        for (int n = 0; n < 4; ++n) {
            const double next = p * re - q * im + a[n];
            q = p * im + q * re, p = next, size = size * hypot(re, im) + a[n];
        }
        check_near(hypot(p, q) / size, 0, 1e-12);
        // i = -k s phi/(L s + R)
        const double *shape = x.mode[i].shape, zr = L * re + R, zi = L * im, ir = shape[1], ii = shape[3];
        check_near(ir * zr - ii * zi + k * (re * shape[0] - im * shape[2]), 0, 1e-9 * hypot(zr, zi));
        check_near(ir * zi + ii * zr + k * (re * shape[2] + im * shape[0]), 0, 1e-9 * hypot(zr, zi));
    }
    carom_modes_free(&x);
    carom_model_destroy(m);
    m = good("carom: 1\nstates: {i: {at: 1, rate: -4*i}, z: {rate: i - 3*z}}\n");
    if (carom_modes_find(&x, m, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_int_equal(x.count, 2);
    check_near(x.mode[0].re, -3, 1e-12);
    check_near(x.mode[1].re, -4, 1e-12);
    carom_modes_free(&x);
    carom_model_destroy(m);
}

// i' = U cos(w t) - R i beside an oscillator that it drives: the current is U/(R^2 + w^2) (R cos w t + w sin w t), its
// multiplier exp(-R T); the oscillator's two are those of x'' + d x' + x = 0.
static void orbits_and_branches(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {U: 2, R: 1.5, w: 1.7, d: 0.2}\ncoordinates: {x: 0}\nstates: {i: {rate: U*cos(w*t) - "
        "R*i}}\nenergy: {kinetic: 1/2*x'^2, potential: 1/2*x^2}\nforces: {x: i - d*x'}\n";
    const double R = 1.5, w = 1.7, T = 8 * atan(1) / w;
    const carom_orbit_def d = define(text, "2*pi/w", 20);
    carom_orbit o = find_orbit(&d);
    assert_int_equal(o.nmultipliers, 3);
    check_near(o.v[1], 2 * R / (R * R + w * w), 1e-9);
    double product = 1, least = 1;
    for (int i = 0; i < 3; ++i)
        product *= hypot(o.re[i], o.im[i]), least = fmin(least, hypot(o.re[i], o.im[i]));
    check_near(least, exp(-R * T), 1e-8);
    check_near(product, exp(-(R + 0.2) * T), 1e-8);
    carom_orbit_free(&o);
    // Hopf: x'' - z x' + x = 0, z' = p - z: z = p, and the oscillation grows from p = 0 on
    static const char hopf[] = "carom: 1\nparameters: {p: -0.5}\ncoordinates: {x: 0}\nstates: {z: {at: -0.5, rate: p - "
                               "z}}\nenergy: {kinetic: 1/2*x'^2, potential: 1/2*x^2 + 1/4*x^4}\nforces: {x: z*x'}\n";
    const carom_orbit_def e = define(hopf, NULL, 0);
    const carom_follow_def f = define_branch(&e, NULL, NULL, "p", -0.5, 0.5);
    carom_branch b = follow(&f);
    check_near(at_event(&b, "hopf", 0), 0, 1e-8);
    bool has = false;
    for (int i = 0; i < b.branch.columns; ++i) {
        const carom_column *x = &b.branch.column[i];
        if (strcmp(x->name, "z") != 0) continue;
        has = true;
        for (long r = 0; r < b.branch.rows; ++r) check_near(x->real[r], b.branch.column[1].real[r], 1e-9);
    }
    assert_true(has);
    carom_branch_free(&b);
}

// Through two impacts, against differences of runs.
static void gradients(void **state) {
    (void)state;
    static const char *const by[] = {"U", "R", "L", "k", "i", "phi'", NULL};
    carom_gradient_def d = {.of = "i + phi", .by = by, .run = carom_run_nothing()};
    d.model.text = MOTOR, d.model.length = strlen(MOTOR), d.model.file = "m.yaml", d.run.end = 1.2;
    carom_gradient g;
    carom_error err = {0};
    if (carom_gradient_find(&g, &d, &err) != CAROM_OK) fail_msg("%s", err.text);
    for (int n = 0; by[n]; ++n) {
        double sum[2], by_h = 1e-4;
        for (int side = 0; side < 2; ++side) {
            char set[60];
            static const double at[] = {6, 1.2, 0.05, 0.3, 0, 0};
            snprintf(set, sizeof set, "%s=%.17g", by[n], at[n] + (side ? by_h : -by_h));
            const char *const sets[] = {set, NULL}, *const options[] = {"rtol=1e-12", NULL};
            carom_model *m = carom_model_create(
                &(carom_model_def){.text = MOTOR, .length = strlen(MOTOR), .file = "m.yaml", .set = sets}, &err);
            if (!m) fail_msg("%s", err.text);
            carom_sim *sim = model_sim(m, "event-driven", options, 0.1, 1.2);
            model_sim_run(sim);
            const carom_now now = carom_sim_now(sim);
            sum[side] = now.q[0] + now.v[1];
            carom_sim_destroy(sim), carom_model_destroy(m);
        }
        const double slope_of = (sum[1] - sum[0]) / (2 * by_h);
        if (!(fabs(g.gradient[n] - slope_of) <= 1e-5 * (1 + fabs(slope_of))))
            fail_msg("by %s: %.12g, by differences %.12g", by[n], g.gradient[n], slope_of);
    }
    carom_gradient_free(&g);
}

// R/L = 1.2e7: implicit schemes and auto reach the quasi-static current (U - k phi')/R; explicit ones say what is
// wrong.
static void stiff_states(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {L: 1e-7}\ncoordinates: {phi: 0}\nstates: {i: {at: 5, rate: (6 - 1.2*i - "
        "0.3*phi')/L}}\nenergy: {kinetic: 0.04*phi'^2, potential: -1.962*cos(phi)}\nforces: {phi: 0.3*i}\n";
    static const char *const implicit[] = {"moreau-jean",       "moreau-dissipative", "ggl-alpha", "alpha-forces",
                                           "ggl-midpoint",      "newmark",            "hht",       "generalized-alpha",
                                           "alpha-index3",      "dg-plus",            "auto",      NULL};
    for (int k = 0; implicit[k]; ++k) {
        const end e = run(text, implicit[k], 1e-3, 0.5, NAMES("phi'", "i"));
        scheme_near(implicit[k], e.x[1], (6 - 0.3 * e.x[0]) / 1.2, 2e-3);
    }
    static const char *const explicit_ones[] = {"half-explicit", "half-explicit-rk", "moreau-explicit", "dg-minus",
                                                "schatzman-paoli", NULL};
    for (int k = 0; explicit_ones[k]; ++k) {
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, explicit_ones[k], NULL, 1e-3, 0.5);
        carom_error err = {0};
        assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_NOT_CONVERGED);
        carom_warning list[CAROM_WARNINGS];
        const carom_ledger l = sim_ledger(sim);
        bool told = false;
        for (int i = 0; i < carom_sim_warnings(sim, &l, list); ++i) told |= strcmp(list[i].kind, "resolution") == 0;
        scheme_true(explicit_ones[k], told);
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
}

// A spring whose rest position is a state, 1/2 c (x - z)^2: moving it is work from outside, and the energy of the state
// itself is none.
static void energy_is_that_of_the_mechanism(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\ncoordinates: {x: 0}\nstates: {z: {at: 1, rate: 2*(cos(t) - z)}}\nlet: {e: x - z}\nenergy: {kinetic: "
        "1/2*x'^2, potential: 8*e^2}\noutputs: {rate: e', z.rate: z'}\n";
    const end e = run(text, "event-driven", 0.1, 3, NAMES("rate", "x'", "z.rate", "z"));
    check_near(e.x[0], e.x[1] - e.x[2], 1e-12);
    check_near(e.x[2], 2 * (cos(3) - e.x[3]), 1e-12);
    // z = (4 cos t + 2 sin t + exp(-2 t))/5
    check_near(e.x[3], (4 * cos(3) + 2 * sin(3) + exp(-6)) / 5, 1e-8);
    check_near(e.ledger.energy.balance, 0, 1e-6);
    assert_true(fabs(e.ledger.energy.external) > 0.1);
}

// A brake pressed by a current, N = 100 i: i = 1 - exp(-10 t).  mu r N = 0.5 0.1 100 i = 5 i on J = 1, from 3 rad/s:
// w = 3 - 5 (t - (1 - exp(-10 t))/10).
static void a_magnetic_brake(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\ncoordinates: {phi: {rate: 3}}\nstates: {i: {rate: 10*(1 - i)}}\nenergy: {kinetic: "
        "1/2*phi'^2}\ncontacts: {brake: {normal force: 100*i, slip: 0.1*phi, friction: 0.5}}\n";
    const carom_scheme *s;
    for (int k = 0; (s = scheme_with(&k, CAROM_NO_FRICTION | CAROM_NO_IMPACTS));) {
        const end e = run(text, s->name, 2e-3, 0.3, NAMES("phi'", "i")),
                  rests = run(text, s->name, 2e-3, 1, NAMES("phi'"));
        scheme_near(s->name, e.x[0], 3 - 5 * (0.3 - (1 - exp(-3)) / 10), fine(s, 1e-5, 2e-2));
        scheme_near(s->name, e.x[1], 1 - exp(-3), fine(s, 1e-6, 2e-2));
        scheme_near(s->name, rests.x[0], 0, 1e-12);
    }
}

// A controller that is sampled commands a voltage: from sample to sample i_1 = E i_0 + (1 - E) u/R, E = exp(-R T/L).
static void sampled_controllers_and_states(void **state) {
    (void)state;
    static const char text[] = "carom: 1\nstates: {i: {at: 0, rate: (u - 2*i)/0.5}}\ncontrollers: {c: {sample: 0.1, "
                               "outputs: {u: 5*(1 - i)}}}\n";
    const double E = exp(-0.4);
    double i = 0;
    for (int n = 0; n < 10; ++n) i = E * i + (1 - E) * 5 * (1 - i) / 2;
    const end e = run(text, "event-driven", 0.05, 1, NAMES("i")), f = run(text, "auto", 0.05, 1, NAMES("i"));
    check_near(e.x[0], i, 1e-8);
    check_near(f.x[0], i, 1e-6);
}

// Two tanks are level at first, and the law of their orifice has no slope there: the rate is named, and what to write.
// With the slope that real orifices have, every scheme comes to rest.
static void a_rate_without_a_slope_is_named(void **state) {
    (void)state;
#define TANKS(flow)                                                                                                    \
    "carom: 1\nlet: {d: a - b, flow: \"" flow "\"}\nstates:\n  a: {at: 1, rate: \"max(0, 1 - t) - flow\"}\n"           \
    "  b: {at: 1, rate: flow}\n"
    carom_error err = {0};
    carom_model *m = good(TANKS("sign(d)*sqrt(abs(d))"));
    const carom_sim_def def = sim_def(m, "ggl-alpha", NULL, 0.01, 3);
    assert_null(carom_sim_create(&def, &err));
    if (!strstr(err.text, "t = 0: the derivative of the rate of 1 by 1 is not a number; roots"))
        fail_msg("%s", err.text);
    carom_model_destroy(m);
    const carom_scheme *s;
    for (int k = 0; (s = carom_schemes()[k]); ++k) {
        const end e = run(TANKS("d/sqrt(abs(d) + 1e-3)"), s->name, 0.01, 4, NAMES("a", "b"));
        scheme_near(s->name, e.x[0] + e.x[1], 2.5, 1e-2); // by the order of the inflow
        scheme_near(s->name, e.x[0], e.x[1], 1e-6);
    }
}

// A limiter of a controller stops its integrator suddenly, with the rate that it measures: no friction written as a
// force.
static void limiters_are_no_friction(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nparameters: {U: 24, R: 1, L: 2e-3, k: 0.05, ki: 2}\ncoordinates: {phi: 0}\n"
                          "energy: {kinetic: 1/2*1e-4*phi'^2}\nlet: {u: 0.3*(100 - phi') + ki*s}\nstates:\n"
                          "  i: {at: 0, rate: \"(max(-U, min(U, u)) - R*i - k*phi')/L\"}\n"
                          "  s: {at: 0, rate: \"if(abs(u) < U, 100 - phi', 0)\"}\nforces: {phi: k*i}\n");
    static const char *const schemes[] = {"moreau-explicit", "moreau-midpoint", "schatzman-paoli"};
    for (int i = 0; i < 3; ++i) {
        carom_warning list[CAROM_WARNINGS];
        carom_sim *sim = model_sim(m, schemes[i], NULL, 1e-3, 3);
        model_sim_run(sim);
        const carom_ledger l = sim_ledger(sim);
        const int n = carom_sim_warnings(sim, &l, list);
        for (int w = 0; w < n; ++w)
            if (strstr(list[w].text, "dry friction")) fail_msg("%s: %s", schemes[i], list[w].text);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// The unit of a state is that of its start; units and scales of one kind belong together.
static void units_and_names(void **state) {
    (void)state;
    char unit[40];
    carom_model *m = good("carom: 1\nparameters: {R: 2 ohm, L: 3 mH, U: 5 V, k: 0.1 N m/A, C: 2 uF, F: 10 mA}\n"
                          "states: {i: {at: 100 mA, rate: (U - R*i)/L, scale: 1 A}}\n");
    static const char *const of[][2] = {{"i", "A"}, {"R", "ohm"}, {"L", "H"}, {"U", "V"}, {"k", "N m/A"}, {"C", "F"}};
    for (int n = 0; n < 6; ++n) {
        assert_true(carom_model_unit(m, of[n][0], false, unit, sizeof unit));
        assert_string_equal(unit, of[n][1]);
    }
    check_near(carom_model_v0(m)[0], 0.1, 0);
    assert_string_equal(carom_model_velocity(m, 0), "i");
    assert_true(carom_model_state(m, 0) && carom_model_hidden(m, 0) && !carom_model_recorded(m, 0) &&
                carom_model_velocity_recorded(m, 0));
    carom_model_destroy(m);
}

static void refusals(void **state) {
    (void)state;
#define AND "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: 1/2*x'^2}\n"
    static const struct { const char *text, *words; } cases[] = {
        {AND "states: {i: {rate: V - i}}\n", "m.yaml:4:20: unknown name 'V'"},
        {AND "states: {i: {at: 1}}\n", "m.yaml:4:10: state 'i' has no rate; add `rate:`"},
        {AND "states: {i: 3}\n", "state 'i' must be a map"},
        {AND "states: {x: {rate: 1}}\n", "'x' is already defined as a coordinate (line 2)"},
        {AND "states: {i: {rate: 1, speed: 2}}\n", "unknown key 'speed' in state 'i'"},
        {AND "states: {sin: {rate: 1}}\n", "'sin' is a reserved name"},
        {AND "states: {i: {rate: 1/0}}\n", "the rate of 'i' has no finite value"},
        {AND "states: {i: {rate: log(i)}}\n", "m.yaml:4:20: the rate of 'i' has no finite value at the start"},
        {AND "states: {i: {rate: 1, scale: 0}}\n", "the scale of a state must be positive, got 0"},
        {AND "states: {i: {at: x, rate: 1}}\n", "'x' is a coordinate, but the initial value may only use"},
        {AND "states: {p: {at: 1 bar, rate: 2 m}}\n", "'2 m' is a quantity of another kind; rate is in Pa/s here"},
        {AND "states: {p: {at: 1 bar, rate: 2, scale: 1 s}}\n", "'1 s' is a quantity of another kind; scale is in Pa"},
        {AND "states: {p: {rate: 2}}\nlet: {p: 1}\n", "'p' is already defined as a state (line 4)"},
        {AND "states: {p: {rate: 2}}\nparameters: {m: p}\n", "'p' is a state, but"},
        {AND "states: {p: {rate: 2}}\nforces: {p: 3}\n", "'p' is a state; write what changes it into its rate"},
        {AND "states: {p: {rate: p'}}\n", "p' is not known yet here"},
        {AND "states: {p: {rate: -p}}\nlet: {a: p^2, b: a'}\n", "'a' is made of states, whose rates come later"},
        {AND "states: {p: {rate: -p}}\ncontacts: {c: {gap: x - p}}\n", "the gap cannot depend on a state such as 'p'"},
        {AND "states: {p: {rate: -p}}\nconstraints: {c: x - p}\n", "cannot depend on a state such as 'p'"},
        {AND "states: {p: {rate: -p}}\ncontacts: {c: {gap: x, slip rate: x' - p, friction: 1}}\n",
         "the slip rate cannot depend on a state such as 'p'"},
        {"carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: 1/2*p*x'^2}\nstates: {p: {rate: 1}}\n",
         "the kinetic energy cannot depend on a state such as 'p'"},
        {AND "states: {p: {rate: -p}}\nexact: {x: 0}\n", "`exact` is for models without states"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        carom_error err = {0};
        carom_model *m = model_of(cases[k].text, &err);
        if (m) fail_msg("accepted: %s", cases[k].text);
        if (!strstr(err.text, cases[k].words)) fail_msg("'%s' is not in: %s", cases[k].words, err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheme_keeps_its_order),
        cmocka_unit_test(orders_on_a_motor_against_a_stop),
        cmocka_unit_test(impacts_leave_states_alone),
        cmocka_unit_test(units_of_states_do_not_matter),
        cmocka_unit_test(equilibria),
        cmocka_unit_test(modes_of_a_motor),
        cmocka_unit_test(orbits_and_branches),
        cmocka_unit_test(gradients),
        cmocka_unit_test(stiff_states),
        cmocka_unit_test(energy_is_that_of_the_mechanism),
        cmocka_unit_test(a_magnetic_brake),
        cmocka_unit_test(sampled_controllers_and_states),
        cmocka_unit_test(a_rate_without_a_slope_is_named),
        cmocka_unit_test(limiters_are_no_friction),
        cmocka_unit_test(units_and_names),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

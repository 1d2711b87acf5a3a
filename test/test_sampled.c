// test_sampled.c: equilibria, modes, orbits and branches of models with controllers, against sampled systems in closed
// form.
#include "orbits.h"

static double complex_of(const carom_orbit *o, double re, double im) {
    double least = HUGE_VAL;
    for (int i = 0; i < o->nmultipliers; ++i) least = fmin(least, hypot(o->re[i] - re, fabs(o->im[i]) - fabs(im)));
    return least;
}

// x'' = u, u = -a x - b x' held for T:  mu^2 - (2 - b T - a T^2/2) mu + 1 - b T + a T^2/2 = 0.
#define DOUBLE_INTEGRATOR                                                                                              \
    "carom: 1\nparameters: {T: 0.5, a: 1, b: 1.2, m: 1}\ncoordinates: {x: 1}\nenergy: {kinetic: \"1/2*m*x'^2\"}\n"     \
    "forces: {x: m*u}\ncontrollers:\n  pd: {sample: T, outputs: {u: \"-a*x - b*x'\"}}\n"

static void integrator_modes(void **state) {
    (void)state;
    carom_model *m = good(DOUBLE_INTEGRATOR);
    carom_modes x;
    carom_error err = {0};
    if (carom_modes_find(&x, m, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    const double T = 0.5, half = (2 - 1.2 * T - T * T / 2) / 2, det = 1 - 1.2 * T + T * T / 2,
                 im = sqrt(det - half * half);
    assert_int_equal(x.count, 1);
    assert_int_equal(x.forgotten, 1);
    assert_true(x.sample == T);
    // sums of a few terms of size 1
    assert_true(fabs(x.mode[0].re - log(sqrt(det)) / T) < 1e-13);
    assert_true(fabs(x.mode[0].im - atan2(im, half) / T) < 1e-13);
    carom_modes_free(&x);
    carom_model_destroy(m);
}

// The same system in units of kg and mm, and along b: mu = -1 at 4 - 2 b T = 0, b = 4; det = 1 at b = T/2.
static void integrator_branch(void **state) {
    (void)state;
    static const char text[] = DOUBLE_INTEGRATOR;
    carom_orbit_def d = define(text, "T", 0);
    double start[8];
    carom_orbit o = find_orbit(&d);
    const double half = (2 - 0.6 - 0.125) / 2, im = sqrt(0.525 - half * half);
    assert_true(fabs(o.q[0]) < 1e-10); // the residual asked for, of a motion of size 1
    assert_true(complex_of(&o, half, im) < 1e-10);
    carom_follow_def f = define_branch(&d, &o, start, "b", 0.1, 6);
    carom_branch b = follow(&f);
    assert_true(fabs(at_event(&b, "period-doubling", 0) - 4) < 1e-9);
    assert_true(fabs(at_event(&b, "neimark-sacker", 0) - 0.25) < 1e-9);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// An integrator in the controller moves x to r exactly: sum = (F + k r)/ki.  Its outputs come a whole sample late.
#define REGULATOR                                                                                                      \
    "carom: 1\nparameters: {T: 0.05, k: 3, F: 2, ki: 4, r: 1, d: 0.05}\ncoordinates: {x: 0}\n"                         \
    "energy: {kinetic: \"1/2*x'^2\", potential: 1/2*k*x^2}\nforces: {x: \"u - F - 2*x'\"}\n"                           \
    "controllers:\n  pi: {sample: T, delay: d, states: {sum: sum + T*(r - x), last: x}, "                              \
    "outputs: {u: 2*(r - x) + ki*sum - 0.5*(x - last)/T}}\n"

static void regulator_rests(void **state) {
    (void)state;
    carom_model *m = good(REGULATOR);
    carom_equilibrium rest;
    carom_error err = {0};
    if (carom_equilibrium_find(&rest, m, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_int_equal(rest.nsignals, 4);
    const double expected[] = {1.25, 1, 5, 5}; // sum, last, u, u on its way
    assert_true(fabs(rest.q[0] - 1) < 1e-12);
    for (int i = 0; i < 4; ++i) assert_true(fabs(rest.signals[i] - expected[i]) < 1e-11);
    carom_equilibrium_free(&rest);
    carom_model_destroy(m);
}

// Modes by matrices and orbits by variations of a run are two ways to the same multipliers: delays of a part of a
// sample and of a whole one, two controllers of different sample times with an offset.
static void two_ways(void **state) {
    (void)state;
    static const char two[] =
        "carom: 1\nparameters: {k: 4}\ncoordinates: {x: 0.1, y: 0.2}\n"
        "energy: {kinetic: \"1/2*x'^2 + 1/2*y'^2\", potential: \"1/2*k*x^2 + 1/2*(x - y)^2\"}\n"
        "forces: {x: \"u - 0.1*x'\", y: \"s - 0.2*y'\"}\ncontrollers:\n"
        "  one: {sample: 0.1, offset: 0.02, outputs: {u: \"-x' - s/3\"}}\n"
        "  two: {sample: 0.03, delay: 0.01, states: {i: i - y/10}, outputs: {s: \"i - y'\"}}\n";
    static const struct { const char *text, *period, *set; } cases[] = {
        {REGULATOR, "T", "d=0.05"}, {REGULATOR, "T", "d=0.02"}, {two, "0.3", "k=4"}, {two, "0.6", "k=1"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        const char *const set[] = {cases[c].set, NULL};
        carom_orbit_def d = define(cases[c].text, cases[c].period, 0);
        d.model.set = set;
        carom_error err = {0};
        carom_model *m = carom_model_create(&d.model, &err);
        if (!m) fail_msg("%s", err.text);
        carom_orbit o = find_orbit(&d);
        carom_modes x;
        if (carom_modes_find(&x, m, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
        assert_true(x.count > 1);
        for (int i = 0; i < x.count; ++i) { // the linearised motion has a tolerance of 1e-11
            const double size = exp(o.period * x.mode[i].re), angle = o.period * x.mode[i].im;
            assert_true(complex_of(&o, size * cos(angle), size * sin(angle)) < 1e-9);
        }
        carom_modes_free(&x);
        carom_orbit_free(&o);
        carom_model_destroy(m);
    }
}

// A driven oscillator strikes a wall under control: the orbit returns, and its multipliers are those of the run itself
// by central differences.
static void impacts_under_control(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {w: 2*pi/1.2}\ncoordinates: {x: 0}\n"
        "energy: {kinetic: \"1/2*x'^2\", potential: \"10*x^2\"}\nforces: {x: \"u + 9*cos(w*t)\"}\n"
        "contacts: {wall: {gap: 0.4 - x, restitution: 0.6}}\n"
        "controllers:\n  c: {sample: 0.15, delay: 0.05, states: {m: 0.5*m + x}, outputs: {u: \"-x' - m\"}}\n";
    carom_orbit_def d = define(text, "2*pi/w", 30);
    carom_orbit o = find_orbit(&d);
    assert_true(o.nevents > 0);
    assert_true(o.largest < 1);
    carom_error err = {0};
    carom_model *m = carom_model_create(&d.model, &err);
    assert_int_equal(o.nsignals, 3);
    double P[5][5], x_1[2][5];
    for (int j = 0; j < 5; ++j) {
        for (int side = 0; side < 2; ++side) {
            double x[5] = {o.q[0], o.v[0], o.signals[0], o.signals[1], o.signals[2]};
            x[j] += side ? 1e-5 : -1e-5;
            static const char *const options[] = {"rtol=1e-12", NULL};
            carom_sim_def sd = carom_sim_default();
            sd.system = carom_model_system(m), sd.schemes = carom_schemes(), sd.scheme = "event-driven";
            sd.options = options, sd.h = 0.01, sd.t_end = 1.2 - 1e-9, sd.q0 = x, sd.v0 = x + 1, sd.input = x + 2;
            sd.input_whole = true; // the last nanosecond: before controllers compute again
            carom_sim *sim = carom_sim_create(&sd, &err);
            if (!sim) fail_msg("%s", err.text);
            if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
            const carom_now now = carom_sim_now(sim);
            x_1[side][0] = now.q[0], x_1[side][1] = now.v[0];
            memcpy(&x_1[side][2], carom_sim_inputs(sim), 3 * sizeof(double));
            carom_sim_destroy(sim);
        }
        for (int i = 0; i < 5; ++i) P[i][j] = (x_1[1][i] - x_1[0][i]) / 2e-5;
    }
    double trace = 0, sum = 0, square = 0, squares = 0;
    for (int i = 0; i < 5; ++i) trace += P[i][i];
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 5; ++j) square += P[i][j] * P[j][i];
    for (int i = 0; i < o.nmultipliers; ++i) sum += o.re[i], squares += o.re[i] * o.re[i] - o.im[i] * o.im[i];
    assert_true(fabs(trace - sum) < 1e-6); // differences: 1e-10 by steps of 1e-5, runs of 1e-12/1e-5
    assert_true(fabs(square - squares) < 1e-6);
    carom_model_destroy(m);
    carom_orbit_free(&o);
}

// m x'' = u, u = -p x - d x' held for T, in units of length, mass and time: mu = -1 at d T/m = 2, det = 1 at
// d = p T/2.  The controller alone says that x is no angle.
static void units_of_forces(void **state) {
    (void)state;
    static const struct { double length, mass, time, start; } units[] = {
        {1e-3, 1e-3, 1, 1}, {1, 1, 1, 1}, {1e3, 1e3, 1, 1}, {1e6, 1e6, 1, 1}, {1e3, 1e4, 50, 0}, {1e-3, 1, 1e-3, 0}};
    for (size_t k = 0; k < sizeof units / sizeof *units; ++k) {
        const double L = units[k].length, m = 2 * units[k].mass, T = 0.4 * units[k].time, p = 0.088 * m / (T * T);
        char text[600];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {T: %.17g, p: %.17g, d: %.17g}\ncoordinates: {x: %.17g}\n"
                 "energy: {kinetic: \"1/2*%.17g*x'^2\"}\nforces: {x: u}\n"
                 "controllers:\n  pd: {sample: T, outputs: {u: \"-p*x - d*x'\"}}\n",
                 T, p, m / T, L * units[k].start, m);
        carom_orbit_def d = define(text, "T", 0);
        double start[8];
        carom_orbit o = find_orbit(&d);
        assert_true(fabs(o.q[0]) < 1e-10 * L && fabs(o.advance[0]) < 1e-10 * L); // the residual asked for
        carom_follow_def f = define_branch(&d, &o, start, "d", 0.01 * m / T, 3 * m / T);
        carom_branch b = follow(&f);
        assert_true(fabs(at_event(&b, "period-doubling", 0) * T / m - 2) < 1e-9);
        assert_true(fabs(at_event(&b, "neimark-sacker", 0) * T / m - 0.044) < 1e-9);
        carom_branch_free(&b);
        carom_orbit_free(&o);
    }
}

// A cart that balances a pendulum, in units of length and mass: lengths and an angle at rest, and the same multipliers.
static void units_beside_angles(void **state) {
    (void)state;
    static const double units[] = {1, 1e-3, 1e3};
    double of_one[20] = {0};
    for (int k = 0; k < 3; ++k) {
        const double L = units[k];
        char text[900];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {L: %g, F: L*L, T: 0.02, kt: -48.7*F}\ncoordinates: {x: 0, th: 0.1}\n"
                 "let: {xm: x + 0.4*L*sin(th), ym: 0.4*L*cos(th)}\nforces: {x: u}\n"
                 "energy: {kinetic: \"1/2*L*x'^2 + 0.1*L*(xm'^2 + ym'^2)\", potential: 0.2*9.81*F*ym}\n"
                 "controllers:\n  c: {sample: T, states: {a: x, b: th}, "
                 "outputs: {u: 7.7*L*x - kt*th + 8.2*L*(x - a)/T + 9.4*F*(th - b)/T}}\n",
                 L);
        carom_orbit_def d = define(text, "T", 0);
        double start[8];
        carom_orbit o = find_orbit(&d);
        carom_follow_def f = define_branch(&d, &o, start, "kt", -50 * L * L, -45 * L * L);
        carom_branch b = follow(&f);
        assert_int_equal(o.nmultipliers, 7);
        for (int i = 0; i < 7; ++i)
            if (k == 0) of_one[2 * i] = o.re[i], of_one[2 * i + 1] = o.im[i];
            else assert_true(complex_of(&o, of_one[2 * i], of_one[2 * i + 1]) < 1e-9); // as in two_ways
        carom_branch_free(&b);
        carom_orbit_free(&o);
    }
}

static void what_is_refused(void **state) {
    (void)state;
    static const char text[] = DOUBLE_INTEGRATOR;
    carom_orbit_def d = define(text, "free", 0);
    d.run.end = 10;
    refused(&d, CAROM_BAD_INPUT, "the controller 'pd'");
    d = define(text, "0.7*T", 0);
    refused(&d, CAROM_BAD_INPUT, "does not repeat itself");
    d = define(text, "T", 0);
    double start[8];
    carom_orbit o = find_orbit(&d);
    carom_follow_def f = define_branch(&d, &o, start, "T", 0.1, 1);
    carom_branch b = {0};
    carom_error err = {0};
    assert_int_equal(carom_follow_run(&b, &f, &err), CAROM_UNSUPPORTED);
    assert_non_null(strstr(err.text, "sample times of controllers depend on 'T'"));
    carom_branch_free(&b);
    f.period = NULL, f.by = "b";
    assert_int_equal(carom_follow_run(&b, &f, &err), CAROM_UNSUPPORTED);
    assert_non_null(strstr(err.text, "orbits whose period is the sample time"));
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integrator_modes),    cmocka_unit_test(integrator_branch),
        cmocka_unit_test(regulator_rests),     cmocka_unit_test(two_ways),
        cmocka_unit_test(impacts_under_control), cmocka_unit_test(units_of_forces),
        cmocka_unit_test(units_beside_angles), cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

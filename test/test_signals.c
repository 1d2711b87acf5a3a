// test_signals.c: inputs and discrete controllers, against sampled solutions by hand, with every scheme.
#include "model_text.h"
#include "sim/inspect.h"
#include <carom/event.h>

// -- controllers ------------------------------------------------------------------------------------------------------

#define CART                                                                                                           \
    "carom: 1\nparameters: {T: 0.05, kp: 8, kd: 4, ref: 1}\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2}\nforces: "    \
    "{x: u}\n"
#define PD CART "controllers: {pd: {sample: T, outputs: {u: kp*(ref - x) - kd*x'}}}\n"

// m = 2: between samples x'' = u/2 is constant, so that x_1 = x + T v + T^2/4 u, v_1 = v + T/2 u.
static void cart(double T, int n, double *x, double *v) {
    *x = *v = 0;
    for (int k = 0; k < n; ++k) {
        const double u = 8 * (1 - *x) - 4 * *v;
        *x += T * *v + 0.25 * T * T * u;
        *v += 0.5 * T * u;
    }
}

// The largest error of x and x' at t = 1, for steps of h; NAN: the scheme takes equal steps alone, and these do not do.
static double error_of(const char *text, const carom_scheme *scheme, double h, const double exact[2]) {
    carom_model *m = good(text);
    carom_error err = {0};
    carom_sim_def def = carom_run_sim(&(carom_run){.scheme = scheme->name, .step = h, .end = 1}, m);
    carom_sim *sim = carom_sim_create(&def, &err);
    double error = NAN;
    if (!sim) assert_true(strstr(err.text, "takes equal steps of") || strstr(err.text, "a whole number of steps"));
    if (sim) {
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        assert_true(now.t == 1);
        error = fmax(fabs(now.q[0] - exact[0]), fabs(now.v[0] - exact[1]));
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
    return error;
}

// The force is constant in every step, so that schemes of second order, and moreau-midpoint, are exact.  The others lag
// behind by a part of a step.
static void every_scheme(void **state) {
    (void)state;
    double exact[2];
    cart(0.05, 20, &exact[0], &exact[1]);
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        const bool exactly = ((*s)->order > 1 && strcmp((*s)->name, "schatzman-paoli") != 0) ||
                             strcmp((*s)->name, "moreau-midpoint") == 0;
        const double whole = error_of(PD, *s, 0.01, exact), other = error_of(PD, *s, 0.013, exact),
                     fine = error_of(PD, *s, 0.0025, exact);
        if (!(whole <= (exactly ? 1e-9 : 0.03)) || other > (exactly ? 1e-9 : 0.04) || !(fine <= 1e-9 + 0.3 * whole))
            fail_msg("%s: errors %g with steps that fit, %g with others, %g with a quarter", (*s)->name, whole, other,
                     fine);
        assert_true(isnan(other) == (((*s)->limitations & CAROM_NO_STEP_CHANGE) != 0));
    }
}

// A mass that a signal doubles at t = 1/2: x'' = 1, then 1/2, so that x = 1/8 + 1/2 1/2 + 1/4 1/4 and x' = 1/2 + 1/4 at
// t = 1, exactly for the same schemes.
static void masses(void **state) {
    (void)state;
    static const double exact[2] = {0.4375, 0.75};
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        const bool exactly = ((*s)->order > 1 && strcmp((*s)->name, "schatzman-paoli") != 0) ||
                             strcmp((*s)->name, "moreau-midpoint") == 0;
        const double error =
            error_of("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: 1/2*(1 + w)*x'^2}\nforces: {x: 1}\n"
                     "controllers: {c: {sample: 0.5, outputs: {w: 'if(x > 0.1, 1, 0)'}}}\n",
                     *s, 0.01, exact);
        // others: a step's way, h x' < 0.01, and its half
        if (!(error <= (exactly ? 1e-9 : 0.02))) fail_msg("%s: error %g", (*s)->name, error);
    }
}

static const carom_scheme *scheme_called(const char *name) {
    const carom_scheme *const *s = carom_schemes();
    while (strcmp((*s)->name, name) != 0) ++s;
    return *s;
}

// x'' = w^2 x + u falls; u = -k (x + 2 T x'_estimated), the rate from two samples.  Over T with constant u:
// x_1 = (x + u/w^2) cosh wT + v/w sinh wT - u/w^2,  v_1 = (x w + u/w) sinh wT + v cosh wT.
static void inverted_pendulum(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {w: 3, T: 0.02}\ncoordinates: {x: 0.1}\nenergy: {kinetic: 1/2*x'^2, potential: "
        "-1/2*w^2*x^2}\nforces: {x: u}\n"
        "controllers: {pd: {sample: T, states: {last: x}, start: {last: 0.1}, outputs: {u: -20*x - 6*(x - last)/T}}}\n";
    const double w = 3, T = 0.02, C = cosh(w * T), S = sinh(w * T);
    double x = 0.1, v = 0, last = 0.1;
    for (int k = 0; k < 50; ++k) {
        const double u = -20 * x - 6 * (x - last) / T, a = x + u / (w * w), b = v;
        last = x;
        x = a * C + b / w * S - u / (w * w);
        v = a * w * S + b * C;
    }
    const double exact[2] = {x, v};
    assert_true(fabs(x) < 0.05); // it is held upright
    const char *const located[] = {"event-driven", "mixed", "auto", "splitting"};
    const double bound[] = {1e-10, 1e-8, 1e-5, 1e-8};
    for (int i = 0; i < 4; ++i) assert_true(error_of(text, scheme_called(located[i]), 0.005, exact) < bound[i]);
    const char *const second[] = {"half-explicit", "generalized-alpha", "newmark", "ggl-alpha", "moreau-midpoint"};
    for (int i = 0; i < 5; ++i) { // second order: the jumps do not disturb it
        const double e = error_of(text, scheme_called(second[i]), 0.005, exact),
                     half = error_of(text, scheme_called(second[i]), 0.0025, exact);
        if (!(e < 1e-3 && half < 0.3 * e)) fail_msg("%s: %g, %g", second[i], e, half);
    }
}

// The same cart, u delayed.  delay = T: u_k acts from t_{k+1} on; T/2: the old value acts in the first half.
static void delays(void **state) {
    (void)state;
    const double T = 0.05, share[] = {1, 0.5};
    static const char *const text[] = {
        CART "controllers: {pd: {sample: T, delay: T, start: {u: 0.5}, outputs: {u: kp*(ref - x) - kd*x'}}}\n",
        CART "controllers: {pd: {sample: T, delay: T/2, start: {u: 0.5}, outputs: {u: kp*(ref - x) - kd*x'}}}\n"};
    for (int i = 0; i < 2; ++i) {
        double x = 0, v = 0, u = 0.5;
        for (int k = 0; k < 20; ++k) {
            const double next = 8 * (1 - x) - 4 * v, h[2] = {share[i] * T, (1 - share[i]) * T}, f[2] = {u, next};
            for (int part = 0; part < 2; ++part)
                x += h[part] * v + 0.25 * h[part] * h[part] * f[part], v += 0.5 * h[part] * f[part];
            u = next;
        }
        const double exact[2] = {x, v};
        const char *const some[] = {"half-explicit", "moreau-jean", "event-driven", "generalized-alpha", "mixed"};
        for (int k = 0; k < 5; ++k) {
            const double error = error_of(text[i], scheme_called(some[k]), 0.02, exact);
            if (!(error < 1e-9)) fail_msg("%s: %g", some[k], error);
        }
    }
}

// The inner loop samples five times as often, and after the outer one where both do.  5 * 0.01 and 0.05 are one
// instant.
static void cascade(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: u}\n"
                               "controllers:\n  outer: {sample: 0.05, outputs: {vref: 2*(1 - x)}}\n  inner: {sample: "
                               "0.01, outputs: {u: 10*(vref - x')}}\n";
    double x = 0, v = 0, ref = 0;
    for (int k = 0; k < 100; ++k) {
        if (k % 5 == 0) ref = 2 * (1 - x);
        const double u = 10 * (ref - v);
        x += 0.01 * v + 0.5e-4 * u;
        v += 0.01 * u;
    }
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, "half-explicit", NULL, 0.01, 1);
    model_sim_run(sim);
    const carom_now now = carom_sim_now(sim);
    assert_close(now.q[0], x, 1e-12);
    assert_int_equal(now.step, 100);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A controller counts its samples, at 0.03, 0.08, 0.13, ...  A run that goes on from the signals that another left at
// 0.08 does not sample again there; one that is given them without that time does, and one that begins at 0.1 waits for
// 0.13.  Signals of 0.1, when nothing was sampled, say nothing of a start at 0.08.
static void a_sample_that_was_done_is_not_done_again(void **state) {
    (void)state;
    static const struct {
        double left, start;
        int at_start, later;
    } cases[] = {{0.08, 0.08, 2, 3}, {0, 0.08, 3, 4}, {0.08, 0.1, 2, 3}, {0.1, 0.08, 3, 4}, {0.08, 0.03, 2, 3}};
    carom_model *m = good("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: u}\ncontrollers: "
                          "{c: {sample: 0.05, offset: 0.03, states: {n: n + 1}, start: {n: 0}, outputs: {u: n}}}\n");
    const int ni = carom_model_system(m)->signals->ni;
    carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, 0.01, 0.08);
    model_sim_run(sim);
    double left[8];
    assert_in_range(ni, 2, 8);
    carom_copy(left, carom_sim_inputs(sim), ni);
    carom_sim_destroy(sim);
    int n = 0; // which signal is the count: 2 after two samples; u has the one of before
    while (n < ni && left[n] != 2) ++n;
    assert_true(n < ni);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_error err = {0};
        carom_sim_def d = sim_def(m, "moreau-midpoint", NULL, 0.01, cases[i].start + 0.06);
        d.t0 = cases[i].start;
        d.input = left;
        d.input_t = cases[i].left;
        sim = carom_sim_create(&d, &err);
        if (!sim) fail_msg("%s", err.text);
        assert_true(carom_sim_inputs(sim)[n] == cases[i].at_start);
        model_sim_run(sim);
        assert_true(carom_sim_inputs(sim)[n] == cases[i].later);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// A block at rest with friction: at t = 1/2 the controller pulls with 6 N against 0.5 * 10 N.  x(1) = 1/2 * 1 *
// (1/2)^2, and it stuck until then.
static void stick_ends(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: 10*y}\nforces: {x: u}\n"
        "contacts: {floor: {gap: y, slip: x, friction: 0.5}}\ncontrollers: {c: {sample: 0.25, outputs: {u: 'if(t < "
        "0.4, 4, 6)'}}}\n";
    const double exact[2] = {0.125, 0.5};
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        if ((*s)->limitations & (CAROM_NO_FRICTION | CAROM_NO_IMPACTS)) continue;
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, (*s)->name, NULL, 0.01, 1);
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        const double bound = (*s)->emits_events ? 1e-6 : 0.02;
        if (!(fabs(now.q[0] - exact[0]) < bound && fabs(now.v[0] - exact[1]) < 2 * bound))
            fail_msg("%s: x = %g, x' = %g", (*s)->name, now.q[0], now.v[0]);
        carom_ledger l;
        assert_int_equal(carom_sim_ledger(sim, &l, NULL), CAROM_OK);
        if ((*s)->emits_events && !(fabs(l.energy.external - 6 * 0.125) < 1e-5 && fabs(l.energy.balance) < 1e-5))
            fail_msg("%s: work %g, balance %g", (*s)->name, l.energy.external, l.energy.balance);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// Saved in the middle of an interval, and at a sample: the rest is the same to the last bit.
static void saved(void **state) {
    (void)state;
    static const char text[] =
        CART "controllers: {pd: {sample: T, delay: T/2, states: {n: n + 1}, outputs: {u: kp*(ref - x) - kd*x'}}}\n";
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        const char *const adaptive[] = {"adaptive=on", NULL};
        for (int way = 0; way < 2; ++way) {
            if (way && (*s)->limitations & CAROM_NO_ADAPTIVE) continue;
            carom_model *m = good(text);
            carom_sim *a = model_sim(m, (*s)->name, way ? adaptive : NULL, 0.0125, 1),
                      *b = model_sim(m, (*s)->name, way ? adaptive : NULL, 0.0125, 1);
            for (int k = 0; k < (way ? 5 : 14); ++k) assert_int_equal(carom_sim_step(a, NULL), CAROM_OK);
            size_t bytes;
            const void *kept = carom_sim_state(a, &bytes);
            assert_int_equal(carom_sim_restore(b, kept, bytes, NULL), CAROM_OK);
            model_sim_run(a);
            model_sim_run(b);
            const carom_now x = carom_sim_now(a), y = carom_sim_now(b);
            assert_true(x.q[0] == y.q[0] && x.v[0] == y.v[0] && x.step == y.step);
            assert_true(carom_sim_inputs(a)[0] == 21 && carom_sim_inputs(b)[0] == 21); // t = 0 and t = 1 are samples
            carom_sim_destroy(a);
            carom_sim_destroy(b);
            carom_model_destroy(m);
        }
    }
}

// -- inputs -----------------------------------------------------------------------------------------------------------

#define PUSHED                                                                                                         \
    "carom: 1\nparameters: {F0: 2}\ninputs: {F: F0, c: 0}\ncoordinates: {x: 0}\nenergy: {kinetic: 1/2*x'^2, "          \
    "potential: 1/2*c*x}\nforces: {x: F}\n"

// x'' = 2 for one second, -2 for another: at rest at x = 2.  c adds potential energy c x/2, and a force -c/2.
static void set_between_steps(void **state) {
    (void)state;
    carom_model *m = good(PUSHED);
    carom_error err = {0};
    double start = 0;
    assert_string_equal(carom_model_input(m, 0, &start), "F");
    assert_true(start == 2 && carom_model_count(m).inputs == 2 && carom_model_input(m, 2, NULL) == NULL);
    assert_int_equal(carom_model_find_input(m, "c", &err), 1);
    assert_int_equal(carom_model_find_input(m, "G", &err), -1);
    assert_non_null(strstr(err.text, "has no input 'G'"));
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        carom_sim *sim = model_sim(m, (*s)->name, NULL, 0.125, 2);
        for (int k = 0; k < 8; ++k) assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
        assert_int_equal(carom_sim_input(sim, 0, 0, &err), CAROM_OK);
        assert_int_equal(carom_sim_input(sim, 1, 4, &err), CAROM_OK);
        assert_int_not_equal(carom_sim_input(sim, 2, 4, &err), CAROM_OK);
        assert_int_not_equal(carom_sim_input(sim, 0, NAN, &err), CAROM_OK);
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        const bool exactly = (*s)->order > 1 && strcmp((*s)->name, "schatzman-paoli") != 0;
        if (!(fabs(now.q[0] - 2) < (exactly ? 1e-9 : 0.3) && fabs(now.v[0]) < (exactly ? 1e-9 : 0.3)))
            fail_msg("%s: %g %g", (*s)->name, now.q[0], now.v[0]);
        carom_ledger l;
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        if (exactly && !(fabs(l.energy.external - (2 * 1 + 0.5 * 4 * 1)) < 1e-9 && fabs(l.energy.balance) < 1e-9))
            fail_msg("%s: %g %g", (*s)->name, l.energy.external, l.energy.balance);
        carom_sim_destroy(sim);
    }
    const int index = 0;
    const double value = 3;
    // values at the start follow parameters
    assert_int_equal(carom_model_set(m, 1, &index, &value, NULL, &err), CAROM_OK);
    carom_model_input(m, 0, &start);
    assert_true(start == 3);
    carom_model_destroy(m);
}

static carom_model *with(const char *text, const char *set, const carom_matrix_text *file, carom_error *err) {
    const char *const sets[] = {set, NULL};
    return carom_model_create(&(carom_model_def){.text = text,
                                                 .length = strlen(text),
                                                 .file = "m.yaml",
                                                 .set = sets,
                                                 .matrices = file,
                                                 .nmatrices = file != NULL},
                              err);
}

// F = t: x(1) = 1/6.  As a table 0, 0.25, 1 at 0, 0.5, 1: x(1) = sum of the double integrals = 5/48 by hand.
static void signals(void **state) {
    (void)state;
    carom_error err = {0};
    const carom_matrix_text file = {.name = "push.csv", .text = "t,F\n0,0\n0.5,0.25\n1,1\n", .length = 21};
    const char *const set[] = {"F=t", "F=push.csv", "F=6"};
    const double x[] = {1.0 / 6, 5.0 / 48, 3};
    for (int i = 0; i < 3; ++i) {
        carom_model *m = with(PUSHED, set[i], i == 1 ? &file : NULL, &err);
        if (!m) fail_msg("%s", err.text);
        carom_sim *sim = model_sim(m, "half-explicit-rk", NULL, 0.125, 1);
        model_sim_run(sim);
        assert_close(carom_sim_now(sim).q[0], x[i], 1e-12);
        assert_int_equal(carom_model_count(m).inputs, i == 2 ? 2 : 1);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A floor that an input moves, and a joint that another one turns.
static void motions(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ninputs: {lift: 0.5, turn: 0}\nbodies:\n  ball: {mass: 1, inertia: 1, at: [0, 2], "
                          "shape: {circle: 0.5}}\n  floor: {motion: {at: [0, lift]}, shape: {plane: [0, 1]}}\n"
                          "  arm: {mass: 1, inertia: 1, at: [5, 0]}\njoints: {hinge: {type: revolute, between: "
                          "[ground, arm], at: [5, 0], motion: turn}}\n"
                          "gravity: [0, -10]\ncontacts: {touch: {between: [ball, floor]}}\n");
    carom_sim *sim = model_sim(m, "moreau-jean", NULL, 1e-3, 2);
    carom_error err = {0};
    while (carom_sim_now(sim).t < 1) assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
    assert_close(carom_sim_now(sim).q[1], 1, 0.02);
    assert_int_equal(carom_sim_input(sim, 0, 0.25, &err), CAROM_OK);
    // the gap is that of the new place at once
    assert_close(carom_sim_now(sim).gap[carom_sim_system(sim)->ne], 0.25, 0.02);
    while (carom_sim_now(sim).t < 1.9) assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
    assert_close(carom_sim_now(sim).q[1], 0.75, 0.02);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// -- mistakes ---------------------------------------------------------------------------------------------------------

static void refuse(const char *text, const char *message) {
    carom_error err = {0};
    carom_model *m = model_of(text, &err);
    assert_null(m);
    if (!strstr(err.text, message)) fail_msg("\"%s\" instead of \"%s\"", err.text, message);
}

static void mistakes(void **state) {
    (void)state;
#define REST "coordinates: {x: 0}\nenergy: {kinetic: 1/2*x'^2}\n"
    refuse("carom: 1\ninputs: {x: 0}\n" REST, "m.yaml:3:15: 'x' is already defined as an input");
    refuse("carom: 1\ninputs: {F: x}\n" REST,
           "m.yaml:2:13: 'x' is a coordinate, but the value at the start may only use numbers and parameters");
    refuse("carom: 1\ninputs: {F: {signal: cart.x}}\n" REST,
           "m.yaml:2:22: unknown name 'cart.x'; the signal of an input may only use time and parameters");
    refuse("carom: 1\ninputs: {F: 0}\nparameters: {m: 2*F}\n" REST,
           "'F' is an input or a signal of a controller, but parameter 'm' may only use numbers and parameters");
    refuse("carom: 1\ninputs: {F: 0}\n" REST "forces: {x: F'}\n",
           "m.yaml:5:13: F' is zero: 'F' keeps its value between its changes");
    refuse("carom: 1\ninputs: {F: {start: 1, signal: t}}\n" REST,
           "m.yaml:2:21: input 'F' has both `signal` and `start`; give only one");
    refuse("carom: 1\ninputs: {F: {stat: 1}}\n" REST,
           "m.yaml:2:14: unknown key 'stat' in input 'F'; did you mean 'start'?");
    refuse("carom: 1\n" REST "controllers: {c: {outputs: {u: x}}}\n", "m.yaml:4:15: controller 'c' has no sample time");
    refuse("carom: 1\n" REST "controllers: {c: {sample: 0, outputs: {u: x}}}\n",
           "m.yaml:4:27: the sample time must be positive, got 0");
    refuse("carom: 1\n" REST "controllers: {c: {sample: 1, delay: 2, outputs: {u: x}}}\n",
           "m.yaml:4:37: the delay must lie between 0 and the sample time 1, got 2");
    refuse("carom: 1\n" REST "controllers: {c: {sample: 1, offset: -2, outputs: {u: x}}}\n",
           "m.yaml:4:38: the offset must not be negative, got -2");
    refuse("carom: 1\n" REST "controllers: {c: {sample: 1}}\n", "m.yaml:4:15: controller 'c' computes nothing");
    refuse("carom: 1\n" REST "controllers: {c: {sample: 1, outputs: {u: x}, start: {v: 1}}}\n",
           "m.yaml:4:55: controller 'c' has no state or output 'v'");
    refuse("carom: 1\n" REST "controllers: {c: {sample: 1, outputs: {u: y}}}\n", "m.yaml:4:43: unknown name 'y'");
    carom_error err = {0};
    assert_null(with(PUSHED, "G=2", NULL, &err));
    assert_non_null(strstr(err.text, "`set` or `input` G=2: the model has no parameter, input or initial value 'G'"));
    assert_null(with(PUSHED, "F=push.csv", NULL, &err));
    assert_non_null(strstr(err.text, "the text of 'push.csv' is not given"));
    carom_model *m = good("carom: 1\n" REST "controllers: {c: {sample: 1, outputs: {u: 1/x}}}\n");
    carom_sim_def def = carom_run_sim(&(carom_run){.step = 0.1, .end = 1}, m);
    assert_null(carom_sim_create(&def, &err));
    assert_non_null(strstr(err.text, "t = 0: a state or output of controller 'c' is not a finite number"));
    carom_model_destroy(m);
}

// A sample that is never reached: the run ends as without a controller.
static void far_away(void **state) {
    (void)state;
    carom_error err = {0};
    carom_model *m = good("carom: 1\ncoordinates: {x: {rate: 1}}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: "
                          "u}\ncontrollers: {c: {sample: 1e308, offset: 1e308, outputs: {u: -x}}}\n");
    const carom_sim_def def = carom_run_sim(&(carom_run){.scheme = "moreau-midpoint", .step = 0.1, .end = 1}, m);
    carom_sim *sim = carom_sim_create(&def, &err);
    if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_true(carom_sim_now(sim).step == 10);
    assert_close(carom_sim_now(sim).q[0], 1, 1e-14);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Time at a sample is k T, whatever the steps are: 0.3 is not 3*0.1.
static void time_of_samples(void **state) {
    (void)state;
    static const double steps[] = {0.1, 0.01, 0.003, 0.07};
    static const char *const schemes[] = {"half-explicit", "moreau-jean", "mixed", "auto"};
    carom_model *m = good("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/2}\nforces: {x: u}\ncontrollers: {c: "
                          "{sample: 0.1, outputs: {u: t}}}\n");
    for (int i = 0; i < 16; ++i) {
        carom_sim *sim = model_sim(m, schemes[i % 4], NULL, steps[i / 4], 0.35);
        carom_sim_stop_at(sim, 0.3); // rows there
        model_sim_run(sim);
        if (carom_sim_inputs(sim)[0] != 3 * 0.1)
            fail_msg("%s, step %g: %.17g", schemes[i % 4], steps[i / 4], carom_sim_inputs(sim)[0]);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// A state that is restored comes with its signals: where positions are those of the last step but the floor was
// elsewhere, nothing of that step counts.
static void restored_signals(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ninputs: {height: -1}\ncoordinates: {x: 0}\nenergy: {kinetic: 1/2*x'^2}\nforces: "
                          "{x: -10}\ncontacts: {touch: {gap: x - height}}\n");
    carom_error err = {0};
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        if ((*s)->limitations & CAROM_NO_IMPACTS) continue;
        carom_sim *sim = model_sim(m, (*s)->name, NULL, 0.01, 1), *rests = model_sim(m, (*s)->name, NULL, 0.01, 1);
        size_t bytes;
        const void *start = carom_sim_state(sim, &bytes);
        void *saved = malloc(bytes);
        memcpy(saved, start, bytes);
        assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
        assert_int_equal(carom_sim_input(rests, 0, 0, &err), CAROM_OK); // as high as x
        for (int k = 0; k < 3; ++k) assert_int_equal(carom_sim_step(rests, &err), CAROM_OK);
        assert_int_equal(carom_sim_restore(rests, saved, bytes, &err), CAROM_OK);
        assert_int_equal(carom_sim_step(rests, &err), CAROM_OK);
        const carom_now a = carom_sim_now(sim), b = carom_sim_now(rests);
        if (a.q[0] != b.q[0] || a.v[0] != b.v[0])
            fail_msg("%s: x = %.17g, x' = %.17g, restored %.17g, %.17g", (*s)->name, a.q[0], a.v[0], b.q[0], b.v[0]);
        free(saved);
        carom_sim_destroy(sim);
        carom_sim_destroy(rests);
    }
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_sample_that_was_done_is_not_done_again),
                                       cmocka_unit_test(time_of_samples),
                                       cmocka_unit_test(every_scheme),
                                       cmocka_unit_test(masses),
                                       cmocka_unit_test(inverted_pendulum),
                                       cmocka_unit_test(delays),
                                       cmocka_unit_test(cascade),
                                       cmocka_unit_test(stick_ends),
                                       cmocka_unit_test(saved),
                                       cmocka_unit_test(set_between_steps),
                                       cmocka_unit_test(signals),
                                       cmocka_unit_test(motions),
                                       cmocka_unit_test(restored_signals),
                                       cmocka_unit_test(mistakes),
                                       cmocka_unit_test(far_away)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

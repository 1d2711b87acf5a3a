// test_adaptive.c: step sizes from error estimates, for schemes that have one step size: accuracy, limits, exact
// undoing.
#include "model_text.h"
#include "schemes.h"
#include "sim/inspect.h"
#include "system/system.h"

static carom_sim *adaptive(const known *k, const char *scheme, double rtol, const char *more, double h, double t_end) {
    char a[40], b[40];
    snprintf(a, sizeof a, "rtol=%.17g", rtol);
    snprintf(b, sizeof b, "atol=%.17g", 0.01 * rtol);
    return sim_of(k, scheme, (const char *const[]){"adaptive=on", a, b, more, NULL}, h, t_end);
}

static double oscillator_error(carom_sim *sim) {
    double most = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        most = fmax(most, fabs(carom_sim_now(sim).q[0] - known_oscillator_exact(carom_sim_now(sim).t, 0.5, NULL)));
    }
    return most;
}

// Whatever order the estimate has, the error falls with the tolerance: errors of single steps add up, and there are as
// many steps as the estimate thinks necessary.  Order 1 and 2 miss what an impact does, order 0 asks for too much in
// smooth motion.
static void errors_follow_the_tolerance_with_every_estimate(void **state) {
    (void)state;
    static const char *const schemes[] = {"half-explicit", "moreau-jean", "moreau-midpoint", "generalized-alpha"};
    static const char *const estimates[] = {"estimate=variable", "estimate=0", "estimate=1", "estimate=2"};
    known k;
    known_oscillator(&k, 0.5);
    for (int s = 0; s < 4; ++s)
        for (int e = 0; e < 4; ++e) {
            static const double rtol[3] = {1e-2, 1e-3, 1e-4};
            double error[3];
            for (int i = 0; i < 3; ++i) {
                carom_sim *sim = adaptive(&k, schemes[s], rtol[i], estimates[e], 0.01, 6);
                error[i] = oscillator_error(sim);
                assert_int_equal(sim_ledger(sim).impacts, 2);
                carom_sim_destroy(sim);
            }
            const double p = slope(rtol, error, 3);
            if (!(p > 0.4 && error[2] < 0.02))
                fail_msg("%s %s: errors %.2g %.2g %.2g", schemes[s], estimates[e], error[0], error[1], error[2]);
        }
}

// A scheme of order 2 in smooth motion: the error of a step is h^3, so steps are as the cube root of the tolerance.
static void steps_are_as_the_root_of_the_tolerance(void **state) {
    (void)state;
    static const double rtol[3] = {1e-5, 1e-7, 1e-9};
    double steps[3];
    known k;
    known_double_pendulum(&k);
    for (int i = 0; i < 3; ++i) {
        carom_sim *sim = adaptive(&k, "half-explicit", rtol[i], NULL, 1e-3, 1);
        while (!carom_sim_done(sim)) sim_step(sim);
        steps[i] = (double)sim_ledger(sim).steps;
        carom_sim_destroy(sim);
    }
    check_near(slope(rtol, steps, 3), -1.0 / 3, 0.04);
}

// The difference of whole and halved step weighs 2, 1 and 1/3 with an estimate of order 0, 1 and 2: the larger its
// weight, the more steps.  In smooth motion `variable` is the scheme's own order, 2.
static void more_steps_with_a_lower_order_of_the_estimate(void **state) {
    (void)state;
    static const char *const estimates[] = {"estimate=0", "estimate=1", "estimate=2", "estimate=variable"};
    double steps[4];
    known k;
    known_double_pendulum(&k);
    for (int i = 0; i < 4; ++i) {
        carom_sim *sim = adaptive(&k, "half-explicit", 1e-7, estimates[i], 1e-4, 0.5);
        while (!carom_sim_done(sim)) sim_step(sim);
        steps[i] = (double)sim_ledger(sim).steps;
        carom_sim_destroy(sim);
    }
    assert_true(steps[1] > 1.05 * steps[2]);
    assert_true(steps[0] > 1.1 * steps[1]);
    assert_true(steps[3] == steps[2]);
}

// An accepted step is two plain steps of half its length from the same state, however many attempts went before.
static void rejected_steps_leave_no_trace(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-explicit", "moreau-jean", "half-explicit"};
    for (int s = 0; s < 3; ++s) {
        known k;
        known_oscillator(&k, 0.5);
        carom_sim *sim = adaptive(&k, schemes[s], 1e-4, NULL, 0.5, 3); // a first step that is much too long
        double q = k.q0[0], v = k.v0[0], t = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            carom_error err;
            carom_sim_def d = known_run(&k, schemes[s], 0.5 * (now.t - t), now.t - t);
            d.q0 = &q, d.v0 = &v; // the oscillator knows no time
            carom_sim *plain = carom_sim_create(&d, &err);
            assert_non_null(plain);
            while (!carom_sim_done(plain)) sim_step(plain);
            // steps are differences of times here: equal to rounding of the step
            scheme_near(schemes[s], now.q[0], carom_sim_now(plain).q[0], 1e-14);
            scheme_near(schemes[s], now.v[0], carom_sim_now(plain).v[0], 1e-14);
            carom_sim_destroy(plain);
            q = now.q[0], v = now.v[0], t = now.t;
        }
        assert_true(sim_ledger(sim).rejected > 3);
        carom_sim_destroy(sim);
    }
}

// Momentum and the midpoint rule's exact balance of energy close to rounding only if nothing of a rejected step is in
// them.
static void books_hold_what_was_accepted(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    carom_sim *sim = adaptive(&k, "moreau-midpoint", 1e-4, NULL, 0.1, 2);
    double momentum = 0, t = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        momentum += carom_sim_now(sim).impulse[0];
        t = carom_sim_now(sim).t;
    }
    check_near(momentum, carom_sim_now(sim).v[0] + 2 * t, 1e-12); // m dv = f t + sum of impulses
    check_near(sim_ledger(sim).energy.balance, 0, 1e-12);
    assert_true(sim_ledger(sim).rejected > 0);
    carom_sim_destroy(sim);
}

// Steps grow by 2 at most and shrink by 5, without rejections; after one they do not grow.
static void steps_change_within_limits(void **state) {
    (void)state;
    known k;
    known_double_pendulum(&k);
    carom_sim *sim = adaptive(&k, "moreau-jean", 1e-6, NULL, 1e-5, 2);
    double last = 0, t = 0;
    long rejected = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const double h = carom_sim_now(sim).t - t;
        if (last > 0 && sim_ledger(sim).rejected == rejected && !carom_sim_ending(sim) && !carom_sim_done(sim))
            assert_true(h <= 2 * last * (1 + 1e-9) && h >= 0.2 * last * (1 - 1e-9));
        last = h, t = carom_sim_now(sim).t, rejected = sim_ledger(sim).rejected;
    }
    carom_sim_destroy(sim);
}

// A step that whole and halves make over a contact shows no error on a parabola; penetration shows it: at most atol +
// rtol L.
static void penetration_counts_as_an_error(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    carom_sim *with = adaptive(&k, "half-explicit", 1e-4, "violation=on", 0.1, 2);
    while (!carom_sim_done(with)) sim_step(with);
    assert_true(sim_ledger(with).penetration <= 1e-4 * 1 + 1e-6); // L = 1
    assert_true(sim_ledger(with).rejected > 0);
    carom_sim *without = adaptive(&k, "half-explicit", 1e-4, "violation=off", 0.1, 2);
    while (!carom_sim_done(without)) sim_step(without);
    assert_true(sim_ledger(without).penetration > 2e-4);
    assert_true(sim_ledger(without).rejected < sim_ledger(with).rejected);
    carom_sim_destroy(with);
    carom_sim_destroy(without);
}

// A model whose gaps are not defined deep in the wall: the step is made smaller.
static carom_status shallow_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = q[0];
    return q[0] < -0.01 ? CAROM_RETRY : CAROM_OK;
}

static void gaps_that_fail_make_smaller_steps(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    k.sys.gaps = shallow_gaps;
    carom_extensions own;
    carom_system_extend(&k.sys, &own);
    own.speed.observe = NULL;
    carom_sim *sim = adaptive(&k, "moreau-explicit", 1e-3, NULL, 0.5, 2);
    while (!carom_sim_done(sim)) sim_step(sim);
    assert_true(sim_ledger(sim).rejected > 0);
    assert_int_equal(sim_ledger(sim).impacts > 0, 1);
    carom_sim_destroy(sim);
}

// From the state before the end mattered, a run goes on as one that never had that end.
static void a_later_end_gives_the_same_bits(void **state) {
    (void)state;
    static const double stops[] = {0, 0.07, 0.25};
    for (int i = 0; i < 3; ++i) {
        known k;
        known_ball_a(&k);
        carom_sim *whole = adaptive(&k, "half-explicit", 1e-4, NULL, 0.01, 4),
                  *first = adaptive(&k, "half-explicit", 1e-4, NULL, 0.01, 1.3),
                  *second = adaptive(&k, "half-explicit", 1e-4, NULL, 0.01, 4);
        carom_sim_stop_at(whole, stops[i]);
        carom_sim_stop_at(first, stops[i]);
        carom_sim_stop_at(second, stops[i]);
        while (!carom_sim_ending(first)) sim_step(first);
        size_t bytes, n;
        carom_error err;
        const void *saved = carom_sim_state(first, &bytes);
        assert_int_equal(carom_sim_restore(second, saved, bytes, &err), CAROM_OK);
        while (!carom_sim_done(second)) sim_step(second);
        while (!carom_sim_done(whole)) sim_step(whole);
        const void *a = carom_sim_state(whole, &bytes), *b = carom_sim_state(second, &n);
        assert_int_equal(bytes, n);
        assert_memory_equal(a, b, n);
        carom_sim_destroy(whole);
        carom_sim_destroy(first);
        carom_sim_destroy(second);
    }
}

static void outside_schemes_are_said_to_be_outside(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    carom_error err;
    carom_sim_def d = known_run(&k, "event-driven", 0.1, 1);
    d.schemes = NULL;
    assert_null(carom_sim_create(&d, &err));
    assert_non_null(strstr(err.text, "carom_schemes()"));
}

// Steps grow and shrink within the limits that are given, and factors outside their ranges are refused.
static void factors_are_options(void **state) {
    (void)state;
    static const char *const bad[] = {"safety=1", "safety=0", "shrink=0", "shrink=0.95", "grow=1", "grow=1000"};
    known k;
    known_oscillator(&k, 0.5);
    carom_sim *sim = adaptive(&k, "half-explicit", 1e-4, "grow=1.1", 1e-4, 3);
    double last = 0, most = 0;
    for (double t = 0; !carom_sim_done(sim);) {
        sim_step(sim);
        const double h = carom_sim_now(sim).t - t;
        if (last > 0 && !carom_sim_done(sim)) most = fmax(most, h / last);
        last = h;
        t += h;
    }
    check_near(most, 1.1, 1e-6);
    carom_sim_destroy(sim);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        carom_error err = {0};
        carom_sim_def d = carom_sim_default();
        d.system = &k.sys, d.scheme = "half-explicit", d.h = 0.1, d.t_end = 1, d.q0 = k.q0, d.v0 = k.v0;
        d.options = (const char *const[]){"adaptive=on", bad[i], NULL};
        assert_null(carom_sim_create(&d, &err));
        assert_int_equal(err.code, CAROM_BAD_INPUT);
        assert_non_null(strstr(err.text, "is outside"));
    }
}

static carom_status falls(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)t, (void)q, (void)v;
    f[0] = -9.81;
    return CAROM_OK;
}

// (AD-9)  In free fall whole and halves differ by C h^2 whatever the state, so that the rule of the lecture takes every
//         step but the first with h = safety sqrt(atol/C), at any safety; a PI controller needs many steps, and they
//         end
// at safety^(1/0.3) sqrt(atol/C).
static void the_rule_of_the_lecture_knows_the_last_error_only(void **state) {
    (void)state;
    static const char *const safety[2] = {"safety=0.8", "safety=0.4"};
    for (int pi = 0; pi < 2; ++pi) {
        double second[2] = {0}, later[2] = {0};
        for (int i = 0; i < 2; ++i) {
            known k;
            known_oscillator(&k, 0.5);
            k.sys.force = falls, k.sys.nc = 0;
            carom_sim *sim =
                sim_of(&k, "moreau-explicit",
                       (const char *const[]){"adaptive=on", "rtol=1e-14", "atol=1e-4", "estimate=1", "grow=100",
                                             safety[i], pi ? "control=pi" : "control=lecture", NULL},
                       1e-3, 10);
            double t = 0;
            for (int n = 1; n <= 40; ++n) {
                sim_step(sim);
                const double h = carom_sim_now(sim).t - t;
                t = carom_sim_now(sim).t;
                if (n == 2) second[i] = h;
                later[i] = h;
            }
            carom_sim_destroy(sim);
            if (!pi) check_near(second[i] / later[i], 1, 1e-6);
        }
        check_near(log(later[0] / later[1]) / log(2), pi ? 1 / 0.3 : 1, 0.01);
    }
}

static carom_status damped(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)t;
    f[0] = -q[0] - 0.4 * v[0];
    return CAROM_OK;
}

// q'' = -q - 0.4 q' from (1, 0): q = e^(-0.2 t) (cos wt + 0.2/w sin wt), w = sqrt(0.96).  Extrapolation adds one to the
// order over the mean step, two
// where the scheme is symmetric.
static void extrapolation_adds_to_the_order(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *option; int first; double order[2];
    } rows[] = {{"moreau-explicit", "solver=auto", 4, {1, 2}},
                {"half-explicit", "solver=auto", 5, {2, 3}},
                {"moreau-jean", "theta=0.5", 5, {2, 4}},
                {"half-explicit-rk", "order=3", 7, {3, 4}}};
    known k;
    known_oscillator(&k, 0.5);
    carom_extensions own;
    carom_system_extend(&k.sys, &own);
    k.sys.nc = 0, k.sys.force = damped, k.sys.flags &= ~(unsigned)CAROM_LINEAR, own.speed.motion = NULL;
    k.q0[0] = 1, k.v0[0] = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; ++r) {
        for (int on = 0; on < 2; ++on) {
            double error[3] = {0}, h[3];
            for (int i = 0; i < 3; ++i) {
                char rtol[16], atol[16];
                snprintf(rtol, sizeof rtol, "rtol=1e-%d", rows[r].first + i);
                snprintf(atol, sizeof atol, "atol=1e-%d", rows[r].first + i);
                const char *const options[] = {
                    "adaptive=on", rtol, atol, rows[r].option, on ? "extrapolate=on" : "extrapolate=off", NULL};
                carom_sim *sim = sim_of(&k, rows[r].scheme, options, 2e-2, 5);
                while (!carom_sim_done(sim)) {
                    sim_step(sim);
                    const double t = carom_sim_now(sim).t, w = sqrt(0.96);
                    error[i] = fmax(
                        error[i], fabs(carom_sim_now(sim).q[0] - exp(-0.2 * t) * (cos(w * t) + 0.2 / w * sin(w * t))));
                }
                h[i] = 1 / (double)sim_ledger(sim).steps;
                carom_sim_destroy(sim);
            }
            print_message("    %s extrapolate=%s: order %.2f, errors %.1e %.1e %.1e\n", rows[r].scheme,
                          on ? "on" : "off", slope(h, error, 3), error[0], error[1], error[2]);
            check_near(slope(h, error, 3), rows[r].order[on], 0.25);
        }
    }
}

// Two bodies of 1 kg fly side by side with -1 m/s, a damper of k u^3 between them, u = a' - b'.  One meets a stop at t
// = 0.1 and is thrown back, e = 1: u = 2 then, u' = -2 k u^3, a' = -b' = u/2:  a = (sqrt(1 + 16 k tau) - 1)/(8 k), tau
// = t - 0.1.  The damper takes u within 1/(8 k) s, down to 1e-10 s: an implicit step that is longer lets it act during
// the impact, and momentum comes out of nothing; an explicit one leads to forces that overflow.  In both cases shorter
// steps are right.  Errors of a step are below atol + rtol 0.1 m, the way to the stop; those of some hundred steps add
// up to some of that.
static void steps_at_an_impact_are_short_enough_for_the_forces_behind_it(void **state) {
    (void)state;
    static const char *const strength[] = {"1e3", "1e6", "1e9"}, *const options[] = {"adaptive=on", "rtol=1e-4",
                                                                                     "atol=1e-6", NULL};
    for (int i = 0; i < 3; ++i) {
        const double k = atof(strength[i]), allowed = 10 * (1e-6 + 1e-4 * 0.1),
                     exact = (sqrt(1 + 16 * k * 1.1) - 1) / (8 * k);
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {k: %s}\ncoordinates: {a: {at: 0.1, rate: -1}, b: {at: 0.1, rate: "
                 "-1}}\nenergy: {kinetic: 1/2*(a'^2 + b'^2)}\n"
                 "forces: {a: -k*(a' - b')^3, b: -k*(b' - a')^3}\ncontacts: {stop: {gap: a, restitution: 1}}\n",
                 strength[i]);
        carom_model *m = good(text);
        const carom_scheme *scheme;
        for (int j = 0; (scheme = scheme_with(&j, CAROM_NO_STEP_CHANGE | CAROM_NO_IMPACTS));) {
            if (scheme->controls_own_steps) continue;
            carom_sim_def d = sim_def(m, scheme->name, options, 0.3, 1.2);
            carom_error err = {0};
            carom_sim *sim = carom_sim_create(&d, &err);
            if (!sim) fail_msg("%s", err.text);
            while (!carom_sim_done(sim)) sim_step(sim);
            scheme_near(scheme->name, carom_sim_now(sim).q[0], exact, allowed);
            scheme_near(scheme->name, carom_sim_now(sim).q[1], -exact, allowed);
            assert_int_equal(sim_ledger(sim).impacts, 1);
            carom_sim_destroy(sim);
        }
        carom_model_destroy(m);
    }
}

// x = t, and beyond 1/2 the force on y has no value: no step size helps, and the message says so.
static void forces_without_value_end_the_run(void **state) {
    (void)state;
    static const char *const options[] = {"adaptive=on", NULL};
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + "
                          "y'^2)}\nforces: {y: sqrt(1/2 - x)}\n");
    carom_sim_def d = sim_def(m, "half-explicit", options, 0.1, 1);
    carom_error err = {0};
    carom_sim *sim = carom_sim_create(&d, &err);
    assert_non_null(sim);
    carom_status status = CAROM_OK;
    while (status == CAROM_OK && !carom_sim_done(sim)) status = carom_sim_step(sim, &err);
    assert_int_equal(status, CAROM_USER);
    assert_non_null(strstr(err.text, "(also with a step of "));
    assert_null(strstr(err.text, "halved"));
    check_near(carom_sim_now(sim).t, 0.5, 1e-12);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A block slows down by 0.5 g from 1 m/s: it stops after 1/g m, inside a step.  However long the steps are before, the
// way is found to a few tolerances: of an error h u/12 that is let through, h u/4 may be wrong.
static void the_end_of_a_slip_is_resolved(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), "
                          "potential: 9.81*y}\ncontacts: {floor: {gap: y, slip: x, restitution: 0, friction: 0.5}}\n");
    static const char *const schemes[] = {"half-explicit-rk", "half-explicit", "newmark", "moreau-jean"};
    static const char *const orders[] = {"order=2", "order=3", "order=4", "order=5", NULL};
    for (int k = 0; k < 4; ++k)
        for (int i = 0; i < (k == 0 ? 4 : 1); ++i)
            for (int first = 0; first < 10; ++first)
                for (double rtol = 1e-3; rtol > 1e-8; rtol /= 10) {
                    char a[40], b[40];
                    snprintf(a, sizeof a, "rtol=%.17g", rtol);
                    snprintf(b, sizeof b, "atol=%.17g", 0.01 * rtol);
                    carom_sim *sim = model_sim(
                        m, schemes[k], (const char *const[]){"adaptive=on", a, b, k == 0 ? orders[i] : NULL, NULL},
                        0.01 + 0.003 * first, 1);
                    carom_error err = {0};
                    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", schemes[k], err.text);
                    const double off = carom_sim_now(sim).q[0] - 1 / 9.81;
                    if (!(fabs(off) < 4 * (0.01 + 0.11) * rtol))
                        fail_msg("%s, %s, rtol %g: off by %g", schemes[k], k == 0 ? orders[i] : "", rtol, off);
                    carom_sim_destroy(sim);
                }
    carom_model_destroy(m);
}

static carom_status (*takes)(void *memory, carom_step *s);
static int calls;

// The whole step goes astray, so that it is rejected; the second half succeeds when it is asked a second time.
static carom_status refuses_a_half(void *memory, carom_step *s) {
    ++calls;
    if (calls == 3) return CAROM_RETRY;
    const carom_status status = takes(memory, s);
    if (calls == 1) s->q[0] += 1;
    return status;
}

// A half that a scheme of position level takes again with other means (CL-10), in a step that is rejected: the next
// attempt starts where the step began, so that x = t.
static void rejected_steps_are_undone_where_a_half_was_taken_again(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: x'^2/2}\n");
    carom_sim_def d = carom_run_sim(&(carom_run){.scheme = "ggl-projection", .step = 0.125, .end = 1}, m);
    carom_scheme scheme = {0};
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s)
        if (strcmp((*s)->name, d.scheme) == 0) scheme = **s;
    takes = scheme.step;
    scheme.step = refuses_a_half;
    d.schemes = (const carom_scheme *const[]){&scheme, NULL};
    d.options = (const char *const[]){"adaptive=on", NULL};
    carom_error err = {0};
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    calls = 0;
    sim_step(sim);
    const carom_now now = carom_sim_now(sim);
    assert_true(calls >= 7 && sim_ledger(sim).rejected == 2); // the half, the step
    check_near(now.q[0], now.t, 1e-15); // rounding
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rejected_steps_are_undone_where_a_half_was_taken_again),
        cmocka_unit_test(errors_follow_the_tolerance_with_every_estimate),
        cmocka_unit_test(more_steps_with_a_lower_order_of_the_estimate),
        cmocka_unit_test(steps_are_as_the_root_of_the_tolerance),
        cmocka_unit_test(rejected_steps_leave_no_trace),
        cmocka_unit_test(books_hold_what_was_accepted),
        cmocka_unit_test(steps_change_within_limits),
        cmocka_unit_test(factors_are_options),
        cmocka_unit_test(the_rule_of_the_lecture_knows_the_last_error_only),
        cmocka_unit_test(extrapolation_adds_to_the_order),
        cmocka_unit_test(penetration_counts_as_an_error),
        cmocka_unit_test(gaps_that_fail_make_smaller_steps),
        cmocka_unit_test(a_later_end_gives_the_same_bits),
        cmocka_unit_test(steps_at_an_impact_are_short_enough_for_the_forces_behind_it),
        cmocka_unit_test(forces_without_value_end_the_run),
        cmocka_unit_test(the_end_of_a_slip_is_resolved),
        cmocka_unit_test(outside_schemes_are_said_to_be_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

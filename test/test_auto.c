// test_auto.c: `auto`: does it keep its tolerance, choose what suits, change its mind when it must, and say so?
#include "model_text.h"
#include "schemes.h"
#include "sim/sim.h"
#include "system/system.h"

static bool long_ones; // tests of many seconds, too

static carom_sim *sim_of_model_by(const carom_model *m, const char *scheme, const char *const *options, double h,
                                  double t_end) {
    carom_error err;
    carom_sim_def d = sim_def(m, scheme, options, h, t_end);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    return sim;
}

static carom_sim *sim_of_model(const carom_model *m, const char *const *options, double h, double t_end) {
    return sim_of_model_by(m, "auto", options, h, t_end);
}

static void said(const carom_sim *sim, const char *word) {
    char text[4096];
    carom_sim_choice(sim, text, sizeof text);
    if (!strstr(text, word)) fail_msg("'%s' is not in: %s", word, text);
}

// -- accuracy ---------------------------------------------------------------------------------------------------------

// A ball falls from 1 m with 10 m/s^2, e = 1/2: flights of 2 v/g, v halved at each impact.  Beside it rests a light
// body under a heavy load, which would fall with 1e9 m/s^2: what that would be in the interval between two records is
// no velocity of the run, below whose rtol/10 a rebound counts as none.
static void loads_end_no_flights(void **state) {
    (void)state;
    const double t_end = 1.3, g = 10, rtol = 1e-7;
    double v = sqrt(2 * g), t = v / g; // of an impact
    for (v *= 0.5; t + 2 * v / g < t_end; v *= 0.5) t += 2 * v / g;
    const double tau = t_end - t;
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 0}, y: {at: 1}}\nenergy: {kinetic: 1e-5*x'^2/2 + y'^2/2, "
                          "potential: 1e4*x + 10*y}\ncontacts: {floor: {gap: x}, ball: {gap: y, restitution: 0.5}}\n");
    carom_sim *sim = sim_of_model(m, NULL, 0.1, t_end);
    while (!carom_sim_done(sim)) sim_step(sim);
    check_near(carom_sim_now(sim).q[1], v * tau - 0.5 * g * tau * tau, 100 * rtol);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Two bodies of 1 kg fly side by side with -1 m/s, a damper of k u^3 between them, u = a' - b'.  One meets a stop at t
// = 0.1 and is thrown back, e = 1: from then on u = 2, and the damper acts.  u' = -2 k u^3, a' = -b' = u/2:  a =
// (sqrt(1 + 16 k tau) - 1)/(8 k), tau = t - 0.1.  Steps have grown long in the flight; the first one behind the impact
// leads to forces that overflow, and must be tried again shorter.
static void forces_that_overflow_ask_for_a_shorter_step(void **state) {
    (void)state;
    static const char *const strength[] = {"1e3", "1e6", "1e9"}, *const options[][4] = {
                                                                     {"rtol=1e-8"},
                                                                     {"adaptive=on", "rtol=1e-8", "atol=1e-8"}};
    for (int i = 0; i < 6; ++i) {
        const double k = atof(strength[i % 3]), rtol = 1e-8;
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {k: %s}\ncoordinates: {a: {at: 0.1, rate: -1}, b: {at: 0.1, rate: "
                 "-1}}\nenergy: {kinetic: 1/2*(a'^2 + b'^2)}\n"
                 "forces: {a: -k*(a' - b')^3, b: -k*(b' - a')^3}\ncontacts: {stop: {gap: a, restitution: 1}}\n",
                 strength[i % 3]);
        carom_model *m = good(text);
        carom_sim *sim = sim_of_model_by(m, i < 3 ? "auto" : "splitting", options[i / 3], 0.3, 1.2);
        while (!carom_sim_done(sim)) sim_step(sim);
        check_near(carom_sim_now(sim).q[0], (sqrt(1 + 16 * k * 1.1) - 1) / (8 * k), 100 * rtol);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A wall stands at 0 and reaches 0.7 around t = 4.65 for a hundredth of a second; a mass stands at 1/2.  The system
// tells nothing of that (neither even parts of its functions of time nor bounds of its gaps), and another coordinate,
// z' = exp(-t/10), lets steps grow far beyond it: a record inside the step shows that the gap was closed.  The step is
// planned anew to end there, and the work of damping that was booked for it is not booked twice.  e = 1: x' = 2 u
// behind the impact, u the speed of the wall where it passes 1/2; and the wall gives 2 u^2.
static void a_record_shows_what_a_step_has_missed(void **state) {
    (void)state;
    const double rtol = 1e-8, a = sqrt(log(1.4)), hit = 4.65 - 0.01 * a, u = 2 * a / 0.01 * 0.5;
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 1/2}, z: {rate: 1}}\nenergy: {kinetic: 1/2*(x'^2 + "
                          "z'^2)}\nforces: {z: -z'/10}\n"
                          "contacts: {wall: {gap: 'x - 0.7*exp(-((t - 4.65)/0.01)^2)', restitution: 1}}\n");
    carom_system sys = *carom_model_system(m);
    carom_extensions own;
    carom_system_extend(&sys, &own);
    own.events.limit_step = NULL;
    own.events.next_jump = NULL;
    own.events.gap_bounds = NULL;
    carom_error err = {0};
    carom_sim_def d = sim_def(m, "auto", (const char *const[]){"rtol=1e-8", NULL}, 0.004, 6);
    d.system = &sys;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    while (!carom_sim_done(sim)) sim_step(sim);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, NULL), CAROM_OK);
    assert_int_equal(l.impacts, 1);
    check_near(carom_sim_now(sim).q[0], 0.5 + 2 * u * (6 - hit), 100 * rtol * 2 * u);
    check_near(l.energy.damping, 0.5 * (1 - exp(-1.2)), 100 * rtol);
    check_near(l.energy.external, 2 * u * u, 100 * rtol * 2 * u * u);
    check_near(l.energy.balance, 0, 100 * rtol * 2 * u * u);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Errors of single steps add up over some tens of steps, and an impact multiplies them by at most two: a hundred times
// rtol.
static void errors_follow_the_tolerance(void **state) {
    (void)state;
    static const char *const rtol[] = {"rtol=1e-4", "rtol=1e-6", "rtol=1e-8", "rtol=1e-10"};
    known ball, oscillator;
    known_ball_a(&ball);
    known_oscillator(&oscillator, 0.5);
    for (int i = 0; i < 4; ++i) {
        const double allowed = 100 * atof(rtol[i] + 5);
        carom_sim *a = sim_of(&ball, "auto", (const char *const[]){rtol[i], NULL}, 0.01, 2.9);
        while (!carom_sim_done(a)) {
            sim_step(a);
            check_near(carom_sim_now(a).q[0], known_ball_a_exact(carom_sim_now(a).t, NULL), allowed);
        }
        carom_sim *b = sim_of(&oscillator, "auto", (const char *const[]){rtol[i], NULL}, 0.01, 10);
        while (!carom_sim_done(b)) {
            sim_step(b);
            double v;
            check_near(carom_sim_now(b).q[0], known_oscillator_exact(carom_sim_now(b).t, 0.5, &v), allowed);
            check_near(carom_sim_now(b).v[0], v, allowed);
        }
        assert_int_equal(sim_ledger(b).impacts, 3);
        check_near(sim_ledger(b).energy.balance, 0, allowed);
        carom_sim_destroy(a);
        carom_sim_destroy(b);
    }
}

// The values of an event-driven program, converged to 12 digits; see test_event.c.  Through accumulations, lasting
// contact and releases; rates up to 140 rad/s.  x' of a body of 1 kg that slides since t_0 with x' = v_0, driven by 4
// sin(25 t) against friction of 0.3*9.81 N; and how far it has come.
static double slides(double t, double t_0, double v_0) {
    return v_0 + 4. / 25 * (cos(25 * t_0) - cos(25 * t)) - 2.943 * (t - t_0);
}
static double has_slid(double t, double t_0, double v_0) {
    return (v_0 + 4. / 25 * cos(25 * t_0)) * (t - t_0) - 4. / 625 * (sin(25 * t) - sin(25 * t_0)) -
           0.5 * 2.943 * (t - t_0) * (t - t_0);
}
static double stops(double from, double to, double t_0, double v_0) {
    for (int k = 0; k < 60; ++k) *(slides(0.5 * (from + to), t_0, v_0) > 0 ? &from : &to) = 0.5 * (from + to);
    return from;
}

// While a body sticks nothing moves, and steps would be long: a pulse tears it loose for a while all the same.
static void a_pulse_tears_a_body_loose(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: {rate: 0.6}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), "
                          "potential: 9.81*y}\nforces: {x: 4*sin(25*t)}\n"
                          "contacts: {f: {gap: y, slip: x, friction: 0.3}}\n");
    const double t_1 = stops(0.15, 0.25, 0, 0.6), loose = (2 * acos(-1.) + asin(2.943 / 4)) / 25,
                 t_2 = stops(loose + 0.03, loose + 0.15, loose, 0);
    carom_sim *sim = sim_of_model(m, NULL, 0.01, 0.4);
    carom_error err = {0};
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    check_near(carom_sim_now(sim).q[0], has_slid(t_1, 0, 0.6) + has_slid(t_2, loose, 0), 1e-7);
    check_near(carom_sim_now(sim).v[0], 0, 1e-12);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static void the_slider_crank_meets_its_references(void **state) {
    (void)state;
    static const struct { double mu, t, q[2], v[2]; } at[] = {
        {0, 0.003, {0.38809297833861, -0.18732972813055}, {104.54283442782, -50.064165501445}},
        {0, 0.02, {1.6145267238876, -0.51987995997003}, {71.799705419838, 1.4326368383092}},
        {0, 0.1, {9.0442082806021, -0.19013625821456}, {138.906015433, 65.667289348}},
        {0, 0.15, {13.700848255004, -0.46715720491578}, {63.78298010208, -15.25484509437}},
        {0.01, 0.003, {0.38807253694248, -0.18732015952313}, {104.47888802508, -50.034747670653}},
        {0.01, 0.05, {4.7935542997301, 0.52547066853001}, {68.473290603172, -3.204474152708}},
        {0.01, 0.1, {9.0006398425259, -0.210588755100}, {135.87277312701, 63.315565851134}},
    };
    for (size_t i = 0; i < sizeof at / sizeof *at; ++i) {
        known k;
        known_slider_crank(&k, 1e-3, 0.4, at[i].mu, true);
        carom_sim *sim = sim_of(&k, "auto", (const char *const[]){"rtol=1e-9", NULL}, 1e-3, at[i].t);
        sim_to(sim, at[i].t);
        for (int j = 0; j < 2; ++j) {
            check_near(carom_sim_now(sim).q[j], at[i].q[j], 1e-6);
            check_near(carom_sim_now(sim).v[j], at[i].v[j], 1e-4);
        }
        assert_true(sim_ledger(sim).penetration < 1e-12);
        carom_sim_destroy(sim);
    }
}

static carom_status (*plain_force)(const void *, void *, double, const double *, const double *, double *);
static long evaluations;
static carom_status counted_force(const void *model, void *work, double t, const double *q, const double *v,
                                  double *f) {
    ++evaluations;
    return plain_force(model, work, t, q, v, f);
}

// Time is not for a test; evaluations of the forces are, the largest part of it: for an error of 1e-6 in positions a
// twentieth of those that moreau-jean needs, whose error is of first order.
static void it_needs_a_twentieth_of_what_time_stepping_needs(void **state) {
    (void)state;
    void (*const make[])(known *) = {known_ball_a, known_rocking_block};
    static const double T[] = {2.9, 0.6};
    for (int m = 0; m < 4; ++m) {
        known k;
        if (m < 2) make[m](&k);
        else if (m == 2) known_oscillator(&k, 0.5);
        else known_slider_crank(&k, 1e-3, 0.4, 0.01, true);
        const double end = m < 2 ? T[m] : m == 2 ? 5.5 : 0.007, h = end / 20000;
        plain_force = k.sys.force;
        k.sys.force = counted_force;
        carom_sim *sharp = sim_of(&k, "mixed", (const char *const[]){"order=5", NULL}, end / 2000, end);
        sim_to(sharp, end);
        evaluations = 0;
        carom_sim *stepped = sim_of(&k, "moreau-jean", NULL, h, end);
        sim_to(stepped, end);
        const long each = evaluations;
        evaluations = 0;
        carom_sim *chosen = sim_of(&k, "auto", NULL, end, end);
        sim_to(chosen, end);
        double error = 0, first = 0;
        for (int i = 0; i < k.sys.nq; ++i) {
            error = fmax(error, fabs(carom_sim_now(chosen).q[i] - carom_sim_now(sharp).q[i]));
            first = fmax(first, fabs(carom_sim_now(stepped).q[i] - carom_sim_now(sharp).q[i]));
        }
        print_message("    %d: moreau-jean %.1e with %ld evaluations, auto %.1e with %ld\n", m, first, each, error,
                      evaluations);
        assert_true(error <= 1e-6);
        assert_true((double)evaluations <= 0.05 * (double)each * first / 1e-6);
        carom_sim_destroy(sharp);
        carom_sim_destroy(stepped);
        carom_sim_destroy(chosen);
    }
}

// Where somebody looks does not change what happens by more than the tolerance (sizes that scale it may come from the
// step).
static void the_step_is_only_the_interval_between_records(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0.01, true);
    carom_sim *coarse = sim_of(&k, "auto", NULL, 0.05, 0.05), *fine = sim_of(&k, "auto", NULL, 1e-5, 0.05);
    sim_to(coarse, 0.05);
    sim_to(fine, 0.05);
    for (int i = 0; i < 3; ++i) {
        check_near(carom_sim_now(coarse).q[i], carom_sim_now(fine).q[i], 5 * 1e-7); // 4.8 rad
        check_near(carom_sim_now(coarse).v[i], carom_sim_now(fine).v[i], 100 * 1e-7);
    }
    check_near(sim_ledger(coarse).energy.friction, sim_ledger(fine).energy.friction, 1e-7);
    check_near(sim_ledger(coarse).energy.balance, 0, 7.5 * 1e-6);
    carom_sim_destroy(coarse);
    carom_sim_destroy(fine);
}

// -- choices ----------------------------------------------------------------------------------------------------------

static void every_shipped_model_runs(void **state) {
    (void)state;
    for (int i = 0; shipped[i]; ++i) {
        carom_model *m = shipped_model(shipped[i]);
        const double T = carom_model_simulation(m).end;
        carom_sim *sim = sim_of_model(m, NULL, T / 100, T);
        while (!carom_sim_done(sim)) sim_step(sim);
        const carom_ledger l = sim_ledger(sim);
        said(sim, "explicit Runge-Kutta");
        if (!(l.penetration < 1e-10 && l.drift < 1e-10))
            fail_msg("%s: penetration %.3g, drift %.3g", shipped[i], l.penetration, l.drift);
        check_near(l.energy.balance, 0, 1e-5 * fmax(1, fabs(l.energy.start)));
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// Two masses held together by a stiff damped spring fall like one and bounce.  The rates are 2e6 and 100 1/s; an
// explicit method would need 1e6 steps a second.  Height after the first impact of both: mass 1 leaves with e u, the
// spring shares it.
static const char stiff[] =
    "carom: 1\nname: stiff\ncoordinates: {x: {at: 1}, y: {at: 1}}\n"
    "energy: {kinetic: 1/2*(x'^2 + y'^2), potential: 5*(x + y) + 5e7*(x - y)^2}\n"
    "forces: {x: -1e6*(x' - y'), y: -1e6*(y' - x')}\ncontacts: {ground: {gap: x, restitution: 0.5}}\n";

static void stiff_models_get_an_implicit_method(void **state) {
    (void)state;
    carom_model *m = good(stiff);
    carom_sim *sim = sim_of_model(m, NULL, 0.01, 2);
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        // both fall from 1 with acceleration 5; they are one body to 5/1e8
        if (now.t < 0.63) check_near(now.q[0], 1 - 2.5 * now.t * now.t, 1e-6);
        check_near(now.q[0], now.q[1], 1e-5);
    }
    said(sim, "Radau IIA");
    said(sim, "stiff");
    const carom_ledger l = sim_ledger(sim);
    assert_true(l.counts.newton > 0);
    check_near(l.energy.balance, 0, 1e-4);
    check_near(carom_sim_now(sim).q[0], 0, 1e-6); // it has come to rest
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Damping that begins at t = 1 and draws y' to cos t at a rate of 1e5 (t - 1): y = sin t, shifted by less than 1e-3.
// And back, when it ends.
static void it_changes_its_mind_about_stiffness(void **state) {
    (void)state;
    static const char text[] = "carom: 1\nname: grows\ncoordinates: {x: {at: 1}, y: {rate: 1}}\n"
                               "energy: {kinetic: 1/2*(x'^2 + y'^2), potential: 1/2*x^2}\n"
                               "forces: {y: \"-sin(t) - 1e5*max(0, (t - 1)*(20 - t))*(y' - cos(t))\"}\n";
    carom_model *m = good(text);
    carom_sim *sim = sim_of_model(m, NULL, 0.1, 200);
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        check_near(now.q[0], cos(now.t), 1e-4); // 200 s: a thousand steps
        check_near(now.q[1], sin(now.t), 1e-4);
    }
    said(sim, "explicit Runge-Kutta");
    said(sim, ": implicit (stiff");
    said(sim, ": explicit (not stiff");
    assert_int_equal(sim_ledger(sim).switches, 2);
    assert_true(sim_ledger(sim).steps == 2000);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A body flies to and fro in a slot of 1e-7: ten million impacts a second.  Time-stepping takes over until so much
// speed is lost that impacts come apart again.  What goes on beside it, an oscillation, is not disturbed by more than
// the tolerance.
static const char slot[] =
    "carom: 1\nname: slot\ncoordinates: {x: {at: 0.5e-7, rate: 1}, y: {at: 1}}\n"
    "energy: {kinetic: 1/2*(x'^2 + y'^2), potential: 1/2*y^2}\ncontact defaults: {restitution: 0.99}\n"
    "contacts: {left: {gap: x}, right: {gap: 1e-7 - x}}\n";

static void a_flurry_of_impacts_is_stepped_over_and_back(void **state) {
    (void)state;
    carom_model *m = good(slot);
    carom_sim *sim = sim_of_model(m, NULL, 0.1, 6);
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        check_near(now.q[1], cos(now.t), 1e-5);
        check_near(now.q[0], 0.5e-7, 0.5e-7 + 1e-8);
    }
    said(sim, "time-stepping (a flurry of events)");
    said(sim, "explicit (quiet again)");
    const carom_ledger l = sim_ledger(sim);
    assert_true(l.switches >= 2);
    check_near(l.energy.impact, 0.5, 1e-6); // nearly all of the cross motion
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// The walls go away after the flurry.  Events are located again when time-stepping has lasted for 0.1 sqrt(rtol)
// size_q/size_v, not earlier and at most one of its steps later.
static void what_is_quiet_is_stepped_for_a_while(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\ncoordinates: {x: {at: 0.5e-7, rate: 1}, y: {at: 1}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), "
        "potential: 1/2*y^2}\ncontact defaults: {restitution: 0.99}\n"
        "contacts: {left: {gap: \"x + 10*max(0, t - 1e-5)\"}, right: {gap: \"1e-7 - x + 10*max(0, t - 1e-5)\"}}\n");
    carom_sim *sim = sim_of_model(m, (const char *const[]){"rtol=1e-7", NULL}, 1e-6, 1e-4);
    double t[3] = {0};
    for (int n = 0; !carom_sim_done(sim);) {
        sim_step(sim);
        if (sim_ledger(sim).switches > n && n < 2) t[++n] = carom_sim_now(sim).t;
    }
    said(sim, "explicit (quiet again)");
    assert_int_equal(sim_ledger(sim).switches, 2);
    check_near(t[2] - t[1], 0.1 * sqrt(1e-7), 2e-6);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Many balls with friction: when all have landed, more contact directions are closed than dense matrices are for.  Each
// ball falls from 1 + i/50, onto restitution 0.
static void many_contacts_are_stepped(void **state) {
    (void)state;
    enum { N = 70 };
    char text[16384] = "carom: 1\nname: many\ncoordinates:\n";
    for (int i = 0; i < N; ++i) sprintf(text + strlen(text), "  x%d: {rate: 1}\n  y%d: {at: %g}\n", i, i, 1 + 0.02 * i);
    strcat(text, "energy:\n  kinetic: 0");
    for (int i = 0; i < N; ++i) sprintf(text + strlen(text), " + 1/2*(x%d'^2 + y%d'^2)", i, i);
    strcat(text, "\n  potential: 0");
    for (int i = 0; i < N; ++i) sprintf(text + strlen(text), " + 2*y%d", i);
    strcat(text, "\ncontact defaults: {friction: 0.25}\ncontacts:\n");
    for (int i = 0; i < N; ++i) sprintf(text + strlen(text), "  c%d: {gap: y%d, slip: x%d}\n", i, i, i);
    carom_model *m = good(text);
    carom_sim *sim = sim_of_model(m, NULL, 0.05, 6);
    while (!carom_sim_done(sim)) sim_step(sim);
    said(sim, "time-stepping (large");
    // sqrt(height) of flight with velocity 1; the impact of 2 sqrt(height) takes 1/4 of that; then friction 1/2
    for (int i = 0; i < N; ++i) {
        const double T = sqrt(1 + 0.02 * i), u = 1 - 0.25 * 2 * T;
        // sqrt(rtol) = 3e-4 in the time of impact, some of them
        check_near(carom_sim_now(sim).q[2 * i], T + u * u, 5e-3);
        check_near(carom_sim_now(sim).v[2 * i], 0, 1e-10);
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// -- saving -----------------------------------------------------------------------------------------------------------

// In the middle of a segment, of time-stepping, of the implicit method.
static void it_goes_on_bit_for_bit(void **state) {
    (void)state;
    static const struct { const char *text; double h, T; } cases[] = {{stiff, 0.013, 1}, {slot, 1e-6, 3e-4}};
    for (int i = 0; i < 2; ++i) {
        carom_model *m = good(cases[i].text);
        carom_sim *one = sim_of_model(m, NULL, cases[i].h, cases[i].T),
                  *two = sim_of_model(m, NULL, cases[i].h, cases[i].T);
        for (int n = 0; !carom_sim_done(one); ++n) {
            sim_step(one);
            if (n % 7 != 3) {
                if (!carom_sim_done(two) && n % 7 > 3) sim_step(two);
                continue;
            }
            size_t bytes;
            carom_error err;
            const void *saved = carom_sim_state(one, &bytes);
            assert_int_equal(carom_sim_restore(two, saved, bytes, &err), CAROM_OK);
        }
        while (!carom_sim_done(two)) sim_step(two);
        size_t a, b;
        const void *x = carom_sim_state(one, &a), *y = carom_sim_state(two, &b);
        assert_int_equal(a, b);
        assert_memory_equal(x, y, a);
        carom_sim_destroy(one);
        carom_sim_destroy(two);
        carom_model_destroy(m);
    }
}

// A beam with damping in proportion to its stiffness: the fastest rate is 0.01 omega^2, omega = 2 c/length of an
// element, beyond 1e5 1/s, while the beam swings with seconds.  Up to 200 velocities the implicit method serves it,
// beyond that time-stepping.
static void a_beam_of_many_unknowns_is_stiff(void **state) {
    (void)state;
    static const int elements[] = {25, 70}; // 75 and 210 velocities
    for (int i = 0; i < 2; ++i) {
        char text[600], choice[4096];
        snprintf(text, sizeof text,
                 "carom: 1\nflexible:\n  beam: {type: exact beam, length: 1, elements: %d, density: 1, area: 1, "
                 "inertia: 1e-4, modulus: 1e4, shear modulus: 1e4, "
                 "shear area: 1, fix: {start: [x, y, angle]}, damping: {mass: 2, stiffness: 0.01}}\nforces: "
                 "{beam.end.y: 10}\n",
                 elements[i]);
        carom_model *m = good(text);
        const double h = i == 0 ? 0.02 : 1e-6;
        carom_sim *sim = sim_of_model(m, (const char *const[]){"rtol=1e-3", NULL}, h, h);
        model_sim_run(sim);
        carom_sim_choice(sim, choice, sizeof choice);
        if (!strstr(choice, i == 0 ? "Radau IIA" : "time-stepping (moreau-jean) (stiff"))
            fail_msg("%d velocities: %s", carom_model_count(m).velocities, choice);
        carom_error err;
        carom_ledger l;
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        // an explicit method needs about a third of rate h
        if (i == 0) assert_true(l.counts.substeps < 0.1 * h * 0.01 * pow(2 * 100 * elements[i], 2));
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// Simo and Vu-Quoc's arm, held by its hub, begins to turn from rest, with no acceleration: nothing tells how fast it
// will be, and its fastest rate, sqrt(GA/rho I) and more, is beyond 1e5 1/s.  Turning steadily with 6 rad/s it is
// longer by omega^2 rho L^3/(3 E), up to what stretching adds to the radius and what is left of bending.  Positions of
// 10 m are rounded: Newton's method ends where velocities of mm/s cannot be better.
static void an_arm_that_stands_is_stiff(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nflexible:\n  arm: {type: exact beam, length: 10, elements: 2, density: 1.2, area: 1, inertia: 5e-4, "
        "modulus: 2.8e7, shear modulus: 1e7, shear area: 1, fix: {start: [x, y]}}\n"
        "let: {psi: \"if(t < 15, 0.4*(t^2/2 + (15/(2*pi))^2*(cos(2*pi*t/15) - 1)), 6*t - 45)\"}\nconstraints: {hub: "
        "arm.start.angle - psi}\n";
    carom_model *m = good(text);
    carom_sim *sim = sim_of_model(m, (const char *const[]){"rtol=1e-5", NULL}, 0.1, 20);
    model_sim_run(sim);
    const carom_now now = carom_sim_now(sim);
    const int end = carom_model_count(m).velocities - 3;
    said(sim, "Radau IIA");
    assert_true(sim_ledger(sim).counts.substeps < 10000); // explicit: two millions
    check_near(hypot(now.q[end], now.q[end + 1]) - 10, 36 * 1.2 * 1000 / (3 * 2.8e7), 2e-6);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A mass far from the origin swings with 100 rad/s and 1e-6 m: beside 1000 m it looks stiff, as a model does that
// begins to move.  The implicit method is kept for 64 + 128 + 256 + 512 + 1024 = 1984 steps, although the explicit one
// could do it with less work; then that takes over, for good.  A row takes some steps.
static void what_looks_stiff_is_given_time(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 1000, rate: 1e-4}}\nenergy: {kinetic: 1/2*x'^2, potential: "
                          "1/2*100^2*(x - 1000)^2}\n");
    carom_sim *sim = sim_of_model(m, NULL, 0.01, 6);
    long inner = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_ledger l = sim_ledger(sim);
        if (l.switches == 0) inner = l.counts.substeps;
    }
    assert_in_range(inner, 1984 - 10, 1984);
    assert_int_equal(sim_ledger(sim).switches, 1);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Boxes in space that fall on each other have too many contact directions for dense matrices.  Components that are
// small (spins, tilts) count against the size of all, or first order would need many more steps for a moment in which
// boxes rock: 3410 here, most of them in 20 ms in which two contacts with a friction of 5 have two answers, and 12914
// until t = 0.33 with tolerances for each component.
static void a_pile_of_boxes_takes_few_steps(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
                          "  a: {mass: 10.65, shape: {box: [0.902, 0.765, 0.4238]}, inertia: [0.07166, 0.07166, "
                          "0.07166], at: [0.041, 0, 0.25185], velocity: [1.33, -0.138, -2.1]}\n"
                          "  b: {mass: 3.045, shape: {box: [0.541, 0.156, 0.3447]}, inertia: [0.05478, 0.05478, "
                          "0.05478], at: [-0.0154, 0, 0.68386], velocity: [-2.24, -0.213, -2.1]}\n"
                          "  c: {mass: 0.01172, shape: {sphere: 0.22164}, inertia: [9.01e-4, 9.01e-4, 9.01e-4], at: "
                          "[-0.0244, 0, 1.18046], velocity: [1.13, 0.592, -2.1]}\n"
                          "contacts:\n  f: {between: [[a, b], floor], restitution: 0.674, friction: 5}\n  g: {between: "
                          "[c, floor], restitution: 0.757, friction: 0.31}\n"
                          "  p: {between: [a, b], restitution: 0, friction: 5}\n  q: {between: [c, [a, b]], "
                          "restitution: 0.451, friction: 5}\n");
    carom_sim *sim = sim_of_model(m, NULL, 0.01, 0.4);
    model_sim_run(sim);
    carom_error err;
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    print_message("    %ld internal steps\n", l.counts.substeps);
    assert_true(l.counts.substeps < 5000);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A box of 1 kg between the floor and a box of 100 kg: its friction chatters, thousands of events that last some
// milliseconds.
static void chatter_is_stepped_over(void **state) {
    (void)state;
    if (!long_ones) skip();
    carom_model *m =
        good("carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
             "  a: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0, 0.1], shape: {box: [0.4, 0.4, 0.2]}}\n"
             "  b: {mass: 100, inertia: [1, 1, 1], at: [0.02, 0.01, 0.35], velocity: [0.1, 0, 0], spin: [0.1, 0, 0], "
             "shape: {box: [0.3, 0.3, 0.2]}}\n"
             "contact defaults: {friction: 0.5, restitution: 0.2}\ncontacts: {c: {between: [a, floor]}, d: {between: "
             "[a, b]}}\n");
    carom_sim *sim = sim_of_model(m, NULL, 1e-3, 0.131);
    while (!carom_sim_done(sim)) sim_step(sim);
    print_message("    %ld internal steps\n", sim_ledger(sim).counts.substeps);
    assert_true(sim_ledger(sim).counts.substeps < 5000); // 8000 and more with all events located
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// -- work -------------------------------------------------------------------------------------------------------------

static const double LIMIT = 1e8, LEFT = 2e5; // of work; of it, that is left at the start of a step
static long inner_steps;
static carom_status almost_spent(void *work, carom_step *s) {
    s->inside->calls = (LIMIT - LEFT) / (1 + (s->sys->nv + s->sys->ne + s->sys->nc) / 8.0);
    const carom_status status = carom_scheme_find("auto")->step(work, s);
    inner_steps = s->counts->substeps; // the step is taken back
    return status;
}

// n masses that vibrate alike, or in stiff pairs (1e10), for long between two records: internal steps until the end of
// the work.
static double steps_of_work(int n, bool stiff) {
    char text[8000], *at = text;
    at += sprintf(at, "carom: 1\ncoordinates: {");
    for (int i = 0; i < n; ++i) at += sprintf(at, "%sx%d: %d", i ? ", " : "", i, i % 2 ? -1 : 1);
    at += sprintf(at, "}\nenergy: {kinetic: 0");
    for (int i = 0; i < n; ++i) at += sprintf(at, " + x%d'^2/2", i);
    at += sprintf(at, ", potential: 0");
    for (int i = 0; i < n; ++i) at += sprintf(at, " + x%d^2/2 + x%d^4/4", i, i);
    for (int i = 1; stiff && i < n; i += 2) at += sprintf(at, " + 1e10*(x%d + x%d)^2/2", i, i - 1);
    at += sprintf(at, "}\n");
    if (stiff) at += sprintf(at, "forces: {x0: sin(3*t)}\n");
    carom_scheme scheme = *carom_scheme_find("auto");
    scheme.step = almost_spent;
    const carom_scheme *const list[] = {&scheme, NULL};
    carom_model *m = good(text);
    carom_error err = {0};
    carom_sim_def d = sim_def(m, "auto", NULL, 1e7, 1e7);
    d.schemes = list;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    assert_int_equal(carom_sim_step(sim, &err), CAROM_NOT_CONVERGED);
    if (!strstr(err.text, "exceeded the work limit, 1e+08 evaluations")) fail_msg("%s", err.text);
    const double done = carom_work_done(&sim->step);
    if (!(done > LIMIT && done < LIMIT + 0.05 * LEFT)) fail_msg("%d masses: ended after %.9g", n, done);
    assert_int_equal(sim->step.inside->multiplied > 0, stiff);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return (double)inner_steps;
}

// (AU-19)  The same work ends a run whose steps are cheap and one whose steps are dear: 1 + n/8 is what an evaluation
//          costs, so it has fewer steps by that.  Implicit steps have factorisations as well.
static void the_limit_is_one_of_work(void **state) {
    (void)state;
    const double one = steps_of_work(1, false), many = steps_of_work(40, false), ratio = 6 / 1.125;
    if (!(many > 1000 && fabs(one / many - ratio) < 0.05 * ratio))
        fail_msg("%g steps with one mass, %g with 40", one, many);
    const double few_stiff = steps_of_work(2, true), many_stiff = steps_of_work(40, true);
    if (!(few_stiff > 1.1 * 6 / 1.25 * many_stiff)) fail_msg("stiff: %g and %g steps", few_stiff, many_stiff);
}

// Of 1 kg and 10 t: accumulations of accumulations.  Without (AU-20) and (AU-21) it takes 15 000 steps to 0.2 s.
static void trouble_that_returns_loosens_the_tolerance(void **state) {
    (void)state;
    if (!long_ones) skip();
    carom_model *m =
        good("carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
             "  a: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [0, 0, 0.1], shape: {box: [0.4, 0.4, 0.2]}}\n"
             "  b: {mass: 1e4, inertia: [100, 100, 100], at: [0.02, 0.01, 0.35], velocity: [0.1, 0, 0], "
             "spin: [0.1, 0, 0], shape: {box: [0.3, 0.3, 0.2]}}\n"
             "contact defaults: {friction: 0.5, restitution: 0.2}\ncontacts: {c: {between: [a, floor]}, d: {between: "
             "[a, b]}}\n");
    carom_sim *sim = sim_of_model(m, NULL, 1e-3, 0.5);
    while (!carom_sim_done(sim)) sim_step(sim);
    said(sim, "rtol is ten times as large");
    assert_true(sim_ledger(sim).counts.substeps < 12000);
    const double *q = carom_sim_now(sim).q; // of the heavy box, runs with rtol 1e-4 to 1e-7 differ by 4e-5 at 0.2 s
    check_near(q[7], 0.03200, 3e-4);
    check_near(q[8], 0.01182, 3e-4);
    check_near(q[9], 0.3, 1e-6);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

int main(int argc, char **argv) {
    long_ones = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_follow_the_tolerance),
        cmocka_unit_test(a_record_shows_what_a_step_has_missed),
        cmocka_unit_test(loads_end_no_flights),
        cmocka_unit_test(the_limit_is_one_of_work),
        cmocka_unit_test(forces_that_overflow_ask_for_a_shorter_step),
        cmocka_unit_test(a_pulse_tears_a_body_loose),
        cmocka_unit_test(the_slider_crank_meets_its_references),
        cmocka_unit_test(it_needs_a_twentieth_of_what_time_stepping_needs),
        cmocka_unit_test(the_step_is_only_the_interval_between_records),
        cmocka_unit_test(every_shipped_model_runs),
        cmocka_unit_test(stiff_models_get_an_implicit_method),
        cmocka_unit_test(it_changes_its_mind_about_stiffness),
        cmocka_unit_test(a_flurry_of_impacts_is_stepped_over_and_back),
        cmocka_unit_test(what_is_quiet_is_stepped_for_a_while),
        cmocka_unit_test(many_contacts_are_stepped),
        cmocka_unit_test(it_goes_on_bit_for_bit),
        cmocka_unit_test(a_beam_of_many_unknowns_is_stiff),
        cmocka_unit_test(an_arm_that_stands_is_stiff),
        cmocka_unit_test(what_looks_stiff_is_given_time),
        cmocka_unit_test(a_pile_of_boxes_takes_few_steps),
        cmocka_unit_test(chatter_is_stepped_over),
        cmocka_unit_test(trouble_that_returns_loosens_the_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

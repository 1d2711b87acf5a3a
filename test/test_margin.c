// test_margin.c: closed contacts whose reaction, friction or slip reaches zero inside a step, or begins there: limits
// and times by hand.
#include "model_text.h"
#include "schemes.h"

static int changes(const char *text, const char *scheme, carom_event_kind kind) {
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, scheme, NULL, 0.01, 1);
    int n = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        for (int i = 0; i < carom_sim_now(sim).nevents; ++i) n += carom_sim_now(sim).events[i].kind == kind;
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return n;
}

// `format` with x = limit (1 +- part): the change happens beyond the limit, `all` times with event-driven and at least
// once with the others, and never before it.
static void check(const char *format, double limit, double part, carom_event_kind kind, int all) {
    static const char *const schemes[] = {"event-driven", "mixed", "auto"};
    char text[600];
    for (size_t k = 0; k < 3; ++k)
        for (int side = -1; side <= 1; side += 2) {
            snprintf(text, sizeof text, format, limit * (1 + side * part));
            const int n = changes(text, schemes[k], kind);
            if (side < 0 ? n > 0 : k == 0 ? n != all : n == 0)
                fail_msg("%s: %d changes at %.17g\n%s", schemes[k], n, limit * (1 + side * part), text);
        }
}

// A ball on a table at A sin(w t) leaves where A w^2 > g, at every crest: t = (pi/2 + 2 pi k)/w, five times in the
// first second.
static void lift_off(void **state) {
    (void)state;
    check("carom: 1\nparameters: {A: %.17g, w: 30}\ncoordinates: {y: {at: 0, rate: A*w}}\nenergy: {kinetic: y'^2/2, "
          "potential: 9.81*y}\n"
          "contacts: {table: {gap: y - A*sin(w*t), restitution: 0}}\n",
          9.81 / 900, 1e-8, CAROM_OPEN, 5);
}

// A block held by friction slips where a |sin(w t)| > mu g: six crests.
static void slip(void **state) {
    (void)state;
    check("carom: 1\nparameters: {a: %.17g}\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: x'^2/2 + y'^2/2, potential: "
          "10*y}\nforces: {x: a*sin(20*t)}\n"
          "contacts: {table: {gap: y, slip: x, friction: 0.5, restitution: 0}}\n",
          5, 1e-8, CAROM_SLIP, 6);
}

// x' = 1 - b (1 - cos(20 t)) while the block slides: it comes to rest where 2 b > 1.
static void stick(void **state) {
    (void)state;
    check("carom: 1\nparameters: {b: %.17g}\ncoordinates: {x: {at: 0, rate: 1}, y: 0}\nenergy: {kinetic: x'^2/2 + "
          "y'^2/2, potential: 10*y}\n"
          "forces: {x: 1 - 20*b*sin(20*t)}\ncontacts: {table: {gap: y, slip: x, friction: 0.1, restitution: 0}}\n",
          0.5, 1e-5, CAROM_STICK, 1);
}

// Slip u under a force F < mu g at the angle phi to it:  mu g |u| + F u_x  falls by  (mu g)^2 - F^2  in unit time,
// whatever else it does, so that the stop is known; |u| = C tan(phi/2)^(mu g/F)/sin(phi).
// Below |u| = mu g h `mixed` has one direction of friction in a step (MX-14).  An angle d between it and the slip
// changes that rate by  mu g (mu g d^2/2 + F d sin(phi)),  d < phi, for the time |u|/(mu g - F) that is left.
static double angle_at(double speed, double C, double F) {
    double a = 0, b = 1;
    for (int i = 0; i < 60; ++i)
        *(C * pow(tan(0.25 * (a + b)), 1 / F) / sin(0.5 * (a + b)) > speed ? &b : &a) = 0.5 * (a + b);
    return b;
}

static void slip_that_turns_stops_in_time(void **state) {
    (void)state;
    // mu g = 1
    const double F = 0.6, size = hypot(0.1, 0.3), phi = atan2(0.3, 0.1),
                 C = size * sin(phi) / pow(tan(0.5 * phi), 1 / F), t = (size + F * 0.1) / (1 - F * F);
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 0, rate: 0.1}, y: {at: 0, rate: 0.3}, z: 0}\nenergy: "
                          "{kinetic: (x'^2 + y'^2 + z'^2)/2, potential: 10*z}\nforces: {x: 0.6}\n"
                          "contacts: {far: {gap: z + 1}, floor: {gap: z, slip: [x, y], friction: 0.1}}\n");
    for (double h = 0.01; h > 0.002; h *= 0.5) {
        carom_sim *sim = model_sim(m, "mixed", NULL, h, 1);
        double stop = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            for (int i = 0; i < now.nevents; ++i)
                if (now.events[i].kind == CAROM_STICK)
                    assert_true(stop == 0 && now.events[i].contact == 1), stop = now.events[i].t;
        }
        const double d = angle_at(h, C, F);
        assert_close(stop, t, h / (1 - F) * (0.5 + F) * d * d / (1 - F * F));
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Loads that begin at zero decide by their first change: t lifts y at once, -t + 2 t^2 holds x down until t = 1/2.  y =
// t^3/6 meets the top at 0.6^(1/3).  No other event.
static void loads_that_begin_at_zero(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double accuracy;
    } runs[] = {{"event-driven", 1e-9}, {"mixed", 1e-9}, {"auto", 1e-6}};
    const struct {
        double t;
        int contact;
        carom_event_kind kind;
    } want[] = {{0, 0, CAROM_CLOSE}, {0.5, 0, CAROM_OPEN}, {cbrt(0.6), 2, CAROM_IMPACT}};
    carom_model *m =
        good("carom: 1\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: (x'^2 + y'^2)/2}\nforces: {x: 2*t^2 - t, y: t}\n"
             "contacts: {down: {gap: x}, up: {gap: y}, top: {gap: 1/10 - y, restitution: 0.5}}\n");
    for (size_t k = 0; k < sizeof runs / sizeof *runs; ++k) {
        carom_sim *sim = model_sim(m, runs[k].scheme, NULL, 0.01, 0.85);
        int n = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            for (int i = 0; i < now.nevents; ++i) {
                const carom_event *e = now.events + i;
                if (n >= 3 || e->kind != want[n].kind || e->contact != want[n].contact ||
                    !(fabs(e->t - want[n].t) <= runs[k].accuracy))
                    fail_msg("%s: kind %d of contact %lld at %.12g", runs[k].scheme, e->kind, e->contact, e->t);
                ++n;
            }
        }
        assert_int_equal(n, 3);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// A wall with a step: the gap falls from 1 to -1 at x = 5, which no approach explains, however short the interval.  It
// is divided as long as there are numbers inside, and the impact is there.
static void a_gap_that_jumps_is_met_where_it_jumps(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "mixed", "auto"};
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 0, rate: 10}}\nenergy: {kinetic: x'^2/2}\ncontacts: {wall: "
                          "{gap: 'if(x > 5, 4 - x, 6 - x)', restitution: 1}}\n");
    for (int k = 0; k < 3; ++k) {
        carom_sim *sim = model_sim(m, schemes[k], NULL, 0.11, 0.55);
        int n = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            for (int i = 0; i < now.nevents; ++i, ++n)
                if (n > 0 || now.events[i].kind != CAROM_IMPACT || !(fabs(now.events[i].t - 0.5) < 1e-9))
                    fail_msg("%s: kind %d at %.12g", schemes[k], now.events[i].kind, now.events[i].t);
        }
        assert_int_equal(n, 1);
        assert_close(carom_sim_now(sim).v[0], -10, 1e-9);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Two upright bars of length 1 on hinges, and one across their ends: they turn by th with 5/3 th'' = 2 g sin th.  Where
// all lie flat, at th = pi/2, the joints depend on each other.  The equation is integrated here with steps short enough
// for 1e-13.
static void bars_pass_the_position_where_they_lie_flat(void **state) {
    (void)state;
    double a = 0, w = 1;
    const int n = 4000;
    const double T = 0.9, h = T / n, k = 2 * 9.81 * 3 / 5;
    for (int i = 0; i < n; ++i) {
        const double k1 = k * sin(a), w2 = w + h / 2 * k1, k2 = k * sin(a + h / 2 * w), w3 = w + h / 2 * k2,
                     k3 = k * sin(a + h / 2 * w2), w4 = w + h * k3, k4 = k * sin(a + h * w3);
        a += h / 6 * (w + 2 * w2 + 2 * w3 + w4), w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    assert_true(a > 2 && a < 4);
    carom_model *m = good("carom: 1\ngravity: [0, -9.81]\nbodies:\n  v0: {mass: 1, inertia: 1/12, at: [0, 0.5], angle: "
                          "pi/2, velocity: [0.5, 0], spin: -1}\n"
                          "  v1: {mass: 1, inertia: 1/12, at: [1, 0.5], angle: pi/2, velocity: [0.5, 0], spin: -1}\n  "
                          "h0: {mass: 1, inertia: 1/12, at: [0.5, 1], velocity: [1, 0]}\n"
                          "joints:\n  g0: {type: revolute, between: [ground, v0], at: [0, 0]}\n  g1: {type: revolute, "
                          "between: [ground, v1], at: [1, 0]}\n"
                          "  l0: {type: revolute, between: [v0, h0], at: [0, 1]}\n  r0: {type: revolute, between: [h0, "
                          "v1], at: [1, 1]}\n");
    carom_sim *sim = model_sim(m, "event-driven", NULL, 0.1, T);
    model_sim_run(sim);
    const carom_ledger l = sim_ledger(sim);
    assert_close(atan(1) * 2 - carom_sim_now(sim).q[2], a, 1e-9);
    assert_close(l.energy.balance, 0, 1e-8);
    if (!(l.counts.substeps < 5000)) fail_msg("%ld inner steps", l.counts.substeps);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lift_off),
                                       cmocka_unit_test(slip),
                                       cmocka_unit_test(stick),
                                       cmocka_unit_test(slip_that_turns_stops_in_time),
                                       cmocka_unit_test(loads_that_begin_at_zero),
                                       cmocka_unit_test(bars_pass_the_position_where_they_lie_flat),
                                       cmocka_unit_test(a_gap_that_jumps_is_met_where_it_jumps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_soft_contacts.c: contacts of finite stiffness against closed forms.
#include "model_text.h"
#include "schemes.h"
#include <carom/event.h>
#include <math.h>

static const double PI = 3.14159265358979323846;

typedef struct bounce {
    double begin, last, peak, deepest; // while the force is not zero, to a step
    double v[3];
    carom_ledger ledger;
} bounce;

static int output(const carom_model *m, const char *name) {
    for (int i = 0; i < carom_model_count(m).outputs; ++i)
        if (strcmp(carom_model_output(m, i), name) == 0) return i;
    fail_msg("no column %s", name);
    return -1;
}

static bounce run(const char *text, const char *scheme, double h, double t_end) {
    carom_error err = {0};
    carom_model *m = good(text);
    const int force = output(m, "wall.force"), gap = output(m, "wall.gap");
    void *work = work_of(m);
    carom_sim *sim = model_sim(m, scheme, NULL, h, t_end);
    bounce b = {.begin = NAN};
    while (!carom_sim_done(sim)) {
        if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s: %s", scheme, err.text);
        const carom_now now = carom_sim_now(sim);
        double out[16];
        carom_model_outputs(m, work, now.t, now.q, now.v, out);
        b.peak = fmax(b.peak, out[force]);
        b.deepest = fmax(b.deepest, -out[gap]);
        if (out[force] > 0) b.last = now.t, b.begin = isnan(b.begin) ? now.t : b.begin;
        assert_true(out[force] >= 0);
        for (int i = 0; i < 3 && i < carom_model_system(m)->nv; ++i) b.v[i] = now.v[i];
    }
    b.ledger = sim_ledger(sim);
    carom_sim_destroy(sim);
    free(work);
    carom_model_destroy(m);
    return b;
}

// Mass m with velocity v on k d^n: d_max = ((n + 1) m v^2/(2 k))^(1/(n+1)), F = k d_max^n; contact lasts pi sqrt(m/k)
// for n = 1 and 4 sqrt(pi)/5 Gamma(2/5)/Gamma(9/10) d_max/v = 2.943 d_max/v for Hertz's law, n = 3/2.
static void spring_and_hertz(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "mixed",     "half-explicit", "moreau-jean",
                                          "newmark",      "ggl-alpha", "dg-plus"};
    const double m = 0.1, v = 2, k[2] = {1e5, 1e7}, n[2] = {1, 1.5};
    for (int i = 0; i < 2; ++i) {
        const double d = pow((n[i] + 1) * m * v * v / (2 * k[i]), 1 / (n[i] + 1));
        const double T = i ? 4 * sqrt(PI) / 5 * tgamma(0.4) / tgamma(0.9) * d / v : PI * sqrt(m / k[i]), h = T / 2000;
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 1e-4, rate: -2}}\nenergy: {kinetic: 0.05*x'^2}\ncontacts: {wall: "
                 "{gap: x, stiffness: %g, exponent: %g}}\n",
                 k[i], n[i]);
        for (size_t s = 0; s < sizeof schemes / sizeof *schemes; ++s) {
            const bounce b = run(text, schemes[s], h, T + 3e-4);
            scheme_near(schemes[s], b.peak, k[i] * pow(d, n[i]), 1e-4 * k[i] * pow(d, n[i]));
            scheme_near(schemes[s], b.deepest, d, 1e-4 * d);
            scheme_near(schemes[s], b.last - b.begin, T, 3 * h);
            scheme_near(schemes[s], b.v[0], v, 1e-4 * v);
            scheme_near(schemes[s], b.ledger.energy.balance, 0, 1e-5 * 0.2);
            assert_int_equal(b.ledger.impacts, 0);
        }
    }
}

// Hunt and Crossley: with a = c v and e = c v+, dv/dd = -k d^n (1 + c v)/(m v) gives  a - log(1 + a) = -e - log(1 - e):
// the velocity that comes back does not depend on k and n; e/a = 1 - 2/3 a + ...  Without tension c v+ < 1.
static void damping(void **state) {
    (void)state;
    static const double c[] = {0.01, 0.1, 0.5, 2};
    for (int i = 0; i < 4; ++i)
        for (int n = 0; n < 2; ++n) {
            double low = 0, high = 1;
            const double a = c[i], left = a - log(1 + a);
            for (int k = 0; k < 100; ++k) {
                const double e = 0.5 * (low + high);
                *(-e - log(1 - e) < left ? &low : &high) = e;
            }
            char text[400];
            snprintf(
                text, sizeof text,
                "carom: 1\nparameters: {c: %g}\ncoordinates: {x: {at: 1e-4, rate: -1}}\nenergy: {kinetic: 0.05*x'^2}\n"
                "contacts: {wall: {gap: x, stiffness: 1e5, exponent: %g, damping: c}}\n",
                c[i], n ? 1.5 : 1);
            const bounce b = run(text, "event-driven", 1e-4, n ? 0.1 : 0.05);
            assert_close(b.v[0], low / a, 1e-6);
            if (a < 0.05) assert_close(b.v[0], 1 - 2. / 3 * a, 1e-4);
            assert_close(b.ledger.energy.damping, 0.05 * (1 - b.v[0] * b.v[0]), 1e-6);
            assert_close(b.ledger.energy.balance, 0, 1e-7);
        }
}

// Between shapes, with friction: a disc of mass 1, radius 0.1 and J = m r^2/2 hits with (1, -1) and e = 1, P = 2.  Slip
// stops at P = 1/(3 mu): with mu = 0.1 it goes on, vx = 1 - 0.2; with mu = 1 it rolls, vx = 2/3.
static void friction_of_shapes(void **state) {
    (void)state;
    const double mu[] = {0.1, 1}, vx[] = {0.8, 2. / 3};
    for (int i = 0; i < 2; ++i) {
        char text[600];
        snprintf(text, sizeof text,
                 "carom: 1\nbodies: {disc: {mass: 1, inertia: 0.005, at: [0, 0.101], velocity: [1, -1], shape: "
                 "{circle: 0.1}}}\nshapes: {floor: {plane: [0, 1]}}\n"
                 "contacts: {wall: {between: [disc, floor], stiffness: 1e7, exponent: 1.5, friction: %g, stiction "
                 "speed: 1e-5}}\n",
                 mu[i]);
        const bounce b = run(text, "event-driven", 1e-4, 0.01);
        assert_close(b.v[0], vx[i], 1e-3);
        assert_close(b.v[1], 1, 1e-6);
        assert_close(b.ledger.energy.damping, 0.5 * (1 - vx[i] * vx[i]) - 0.5 * 0.005 * pow((1 - vx[i]) / 0.05, 2),
                     1e-3);
        assert_close(b.ledger.energy.balance, 0, 1e-6);
    }
}

// A wall that moves with 1 m/s gives its work: a mass at rest leaves with 2 m/s.
static void a_wall_that_moves(void **state) {
    (void)state;
    const bounce b = run("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: 1/2*x'^2}\ncontacts: {wall: {gap: x - t + "
                         "1e-3, stiffness: 1e6, exponent: 1.5}}\n",
                         "event-driven", 1e-4, 0.1);
    assert_close(b.v[0], 2, 1e-6);
    assert_close(b.ledger.energy.external, 2, 1e-5);
    assert_close(b.ledger.energy.balance, 0, 1e-7);
}

// A belt of V = 0.5 under a mass that yields: its drive gives m V^2, half of which friction takes until the mass moves
// with it; then neither gives nor takes.  The mass rests m g/k deep.
static void a_belt_that_moves(void **state) {
    (void)state;
    for (int moving = 0; moving < 2; ++moving) {
        char text[400];
        snprintf(
            text, sizeof text,
            "carom: 1\ncoordinates: {x: {at: 0, rate: %g}, y: -9.81e-5}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), "
            "potential: 9.81*y}\n"
            "contacts: {wall: {gap: y, slip rate: x' - 0.5, friction: 0.4, stiffness: 1e5, stiction speed: 1e-4}}\n",
            moving ? 0.5 : 0);
        const bounce b = run(text, "event-driven", 1e-3, 1);
        assert_close(b.v[0], 0.5, 1e-6);
        assert_close(b.ledger.energy.external, moving ? 0 : 0.25, 1e-6);
        assert_close(b.ledger.energy.damping, moving ? 0 : 0.125, 1e-6);
        assert_close(b.ledger.energy.balance, 0, 1e-9);
    }
}

// The same in steps h that do not resolve the stiction speed, h mu g/v_s = 39: a block on its belt has full friction at
// one stage of a step and the opposite at the next.  Books hold to rounding all the same: y rests, so kinetic energy
// changes by forces times mean velocities alone.  The block keeps up with the belt but for a change of h mu g in a
// step.  Likewise by a smooth law of its own, whose external part is that at rest.
static void a_belt_in_coarse_steps(void **state) {
    (void)state;
    static const char *const schemes[] = {"half-explicit", "half-explicit-acceleration", "half-explicit-rk",
                                          "dg-minus"};
    const double h = 1e-2, V = 0.5, late = h * 0.4 * 9.81;
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; ++s) {
        const bounce b = run(
            "carom: 1\ncoordinates: {x: 0, y: -9.81e-4}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: 9.81*y}\n"
            "contacts: {wall: {gap: y, slip rate: x' - 0.5, friction: 0.4, stiffness: 1e4, stiction speed: 1e-3}}\n",
            schemes[s], h, 1);
        scheme_near(schemes[s], b.v[0], V, late);
        scheme_near(schemes[s], b.ledger.energy.external, V * V, V * late);
        scheme_near(schemes[s], b.ledger.energy.damping, 0.5 * V * V, 0.5 * late * late);
        scheme_near(schemes[s], b.ledger.energy.balance, 0, 1e-14);
        carom_model *m = good(
            "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: -3.924*tanh((x' - 0.5)/1e-3)}\n");
        carom_sim *sim = model_sim(m, schemes[s], NULL, h, 1);
        model_sim_run(sim);
        // 3.924 times the way
        scheme_near(schemes[s], sim_ledger(sim).energy.external, 3.924 * (0.5 * V * V / 3.924 + V * (1 - V / 3.924)),
                    3.924 * late);
        scheme_near(schemes[s], sim_ledger(sim).energy.balance, 0, 1e-13);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

static void mistakes_are_told(void **state) {
    (void)state;
    static const struct { const char *law, *says; } cases[] = {
        {"damping: 1", "has `damping` but no `stiffness`"},
        {"stiffness: 0", "stiffness is 0; it must exceed 0"},
        {"stiffness: 1, exponent: 0.5", "exponent is 0.5; it must not be below 1"},
        {"stiffness: 1, restitution: 0.5", "`restitution` belongs to rigid contacts"},
        {"stiffness: 1, impact law: poisson", "`impact law` belongs to rigid contacts"},
        {"stiffness: 1, slip: y, friction: 0.5", "add `stiction speed:`"},
        {"stiffnes: 1", "did you mean 'stiffness'?"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 1, rate: -1}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2)}\ncontacts: "
                 "{wall: {gap: x, %s}}\n",
                 cases[i].law);
        carom_error err = {0};
        carom_model *m = model_of(text, &err);
        if (m || !strstr(err.text, cases[i].says)) fail_msg("%s: %s", cases[i].law, m ? "accepted" : err.text);
    }
}

// The force has a kink where the gap passes zero: located, it costs no order.  x after a bounce on a spring, v (t - pi
// sqrt(m/k)) - x_0.
static void kinks_cost_no_order(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: {at: 0.0123, rate: -2}}\nenergy: {kinetic: "
                               "0.05*x'^2}\ncontacts: {wall: {gap: x, stiffness: 1e3}}\n";
    static const struct {
        const char *scheme;
        double h, error;
    } run[] = {{"mixed", 1e-3, 1e-7},
               {"mixed", 5e-4, 6e-9},
               {"mixed", 2.5e-4, 4e-10},
               {"auto", 1e-3, 1e-9},
               {"event-driven", 1e-3, 1e-11}};
    const double exact = 2 * (0.06 - PI * sqrt(0.1 / 1e3)) - 0.0123;
    carom_model *m = good(text);
    for (size_t i = 0; i < sizeof run / sizeof *run; ++i) {
        carom_sim *sim = model_sim(m, run[i].scheme, NULL, run[i].h, 0.06);
        model_sim_run(sim);
        scheme_near(run[i].scheme, carom_sim_now(sim).q[0], exact, run[i].error);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// A mass of 1 at 10 m/s passes a bump, gap (x - 1)^2 - w^2, in less time than a step: V = k/2 (w^2 - (x - 1)^2)^2 costs
// it 0.5 J at the top and delays it by int dx/sqrt(100 - 2 V) - 2 w/10.
static void a_touch_inside_a_step(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double error;
    } run[] = {{"mixed", 2e-4}, {"auto", 2e-7}, {"event-driven", 1e-9}};
    const double w = 0.01, k = 1 / pow(w, 4);
    enum { N = 2000 };
    double time = 0;
    for (int i = 0; i <= N; ++i) { // Simpson
        const double x = w * (2. * i / N - 1), d = w * w - x * x;
        time += (i % N == 0 ? 1 : i % 2 ? 4 : 2) * 2 * w / (3 * N) / sqrt(100 - k * d * d);
    }
    char text[300];
    snprintf(text, sizeof text,
             "carom: 1\ncoordinates: {x: {at: 0, rate: 10}}\nenergy: {kinetic: 1/2*x'^2}\ncontacts: {bump: {gap: (x - "
             "1.003)^2 - %g, stiffness: %.17g}}\n",
             w * w, k);
    for (size_t i = 0; i < sizeof run / sizeof *run; ++i) {
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, run[i].scheme, NULL, 0.05, 0.2);
        model_sim_run(sim);
        scheme_near(run[i].scheme, carom_sim_now(sim).q[0], 2 - 10 * (time - 2 * w / 10), run[i].error);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A wall comes to a body at rest for 0.01 s and goes, at 1 m/s, in a step of 1 s: k int (A - |t|) dt = k A^2 is what it
// leaves, to the accuracy of one step from kink to kink.
static void a_wall_that_comes_for_a_moment(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {q: 0}\nenergy: {kinetic: q'^2/2}\ncontacts: {wall: {gap: q - 0.005 "
                          "+ sqrt((t - 0.3137)^2 + 1e-8), stiffness: 1}}\n");
    carom_sim *sim = model_sim(m, "event-driven", NULL, 1, 1);
    model_sim_run(sim);
    assert_close(carom_sim_now(sim).v[0], 0.005 * 0.005, 0.1 * 0.005 * 0.005);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Contacts that last shorter than a step, for schemes that end phases where forces begin and end.  A wall, pi sqrt(m/k)
// long; and a hump of the height 1/2 k (1e-4)^2 = 0.5 J that 1.125 J pass: speeds are those from before.  No stage of a
// step over the hump need meet it.  With k = 1e4 and h = 0.013 the contact lasts 2.4 steps, of which the middle one,
// omega h = 1.3, meets no kink.
static void shorter_than_a_step(void **state) {
    (void)state;
    static const struct {
        const char *scheme;
        double tol;
    } schemes[] = {{"event-driven", 1e-7}, {"auto", 1e-4}, {"mixed", 1e-4}, {"splitting", 4e-4}};
    static const double k[] = {1e4, 1e7, 1e10}, h[] = {1, 0.1, 0.013};
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; ++s)
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                char text[300];
                snprintf(text, sizeof text,
                         "carom: 1\ncoordinates: {x: {at: 1, rate: -5}}\nenergy: {kinetic: 1/2*x'^2}\ncontacts: {wall: "
                         "{gap: x, stiffness: %g}}\n",
                         k[j]);
                const bounce b = run(text, schemes[s].scheme, h[i], 1);
                scheme_near(schemes[s].scheme, b.v[0], 5, 5 * schemes[s].tol);
                scheme_near(schemes[s].scheme, b.ledger.energy.balance, 0, 25 * schemes[s].tol);
            }
            const bounce b = run("carom: 1\ncoordinates: {x: {at: 0, rate: 1.5}}\nenergy: {kinetic: "
                                 "1/2*x'^2}\ncontacts: {wall: {gap: (x - 0.7)^2 - 1e-4, stiffness: 1e8}}\n",
                                 schemes[s].scheme, h[i], 1);
            scheme_near(schemes[s].scheme, b.v[0], 1.5, 1.5 * schemes[s].tol);
        }
}

// A first step so long that its end is beyond all numbers is made shorter.
static void beyond_numbers(void **state) {
    (void)state;
    const bounce b = run("carom: 1\ncoordinates: {x: {at: 0, rate: 4.17947}, y: {at: 0, rate: 0.81951}}\nenergy: "
                         "{kinetic: 1/2*(x'^2 + y'^2)}\nparameters: {k: 2.47549e8}\ncontacts:\n"
                         "  left: {gap: x + 1 + 0.3*y, stiffness: k, exponent: 2, damping: 0.1}\n"
                         "  wall: {gap: 2 - x - 0.3*sin(3*y), stiffness: k, exponent: 2, damping: 0.1}\n"
                         "  floor: {gap: y + 0.4 - 0.1*cos(20*x), stiffness: k, exponent: 2, damping: 0.1}\n"
                         "  roof: {gap: 0.5 - y, stiffness: k, exponent: 2, damping: 0.1}\n",
                         "event-driven", 1, 1);
    scheme_near("event-driven", b.ledger.energy.balance, 0, 1e-7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spring_and_hertz),
        cmocka_unit_test(damping),
        cmocka_unit_test(friction_of_shapes),
        cmocka_unit_test(a_wall_that_moves),
        cmocka_unit_test(a_belt_that_moves),
        cmocka_unit_test(a_belt_in_coarse_steps),
        cmocka_unit_test(kinks_cost_no_order),
        cmocka_unit_test(a_touch_inside_a_step),
        cmocka_unit_test(shorter_than_a_step),
        cmocka_unit_test(beyond_numbers),
        cmocka_unit_test(a_wall_that_comes_for_a_moment),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_friction_laws.c: static and kinetic friction, and coefficients that depend on slip speed, place and time,
// against closed forms.
#include "model_text.h"
#include "schemes.h"
#include <carom/event.h>
#include <math.h>

typedef struct end {
    double q[3], v[3];
    carom_ledger ledger;
} end;

static end run(const char *text, const char *scheme, double h, double t_end) {
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, scheme, NULL, h, t_end);
    model_sim_run(sim);
    const carom_now now = carom_sim_now(sim);
    end e = {.ledger = sim_ledger(sim)};
    for (int i = 0; i < carom_model_system(m)->nv && i < 3; ++i) e.q[i] = now.q[i], e.v[i] = now.v[i];
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return e;
}

// Every scheme with friction; those that locate events see the coefficient at every stage, the others at the start of a
// step.
#define EACH(s) int i_ = 0; (s = scheme_with(&i_, CAROM_NO_FRICTION | CAROM_NO_IMPACTS));
static double fine(const carom_scheme *s, double located, double others) { return s->emits_events ? located : others; }

// Mass 1 on a belt with 0.1 m/s, spring 10 N/m, normal force 10 N, static 0.4, kinetic 0.3.  It sticks until 10 x = 4,
// t = 4; slips with x = 0.3 + 0.1 cos(w s) + 0.1/w sin(w s), w^2 = 10, until x' = 0.1 again at x = 0.2, s = 2/w (pi -
// atan(w)); then sticks.
static void stick_and_slip_on_a_belt(void **state) {
    (void)state;
    const char *text = "carom: 1\ncoordinates: {x: {at: 0, rate: 0.1}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), "
                       "potential: 5*x^2 + 10*y}\n"
                       "contacts: {belt: {gap: y, slip: x - 0.1*t, friction: {static: 0.4, kinetic: 0.3}}}\n";
    const double w = sqrt(10), slip = 2 / w * (3.14159265358979323846 - atan(w)), s = 0.7;
    const carom_scheme *z;
    for (EACH(z)) {
        const end early = run(text, z->name, 1e-3, 4.7), late = run(text, z->name, 1e-3, 7);
        scheme_near(z->name, early.q[0], 0.3 + 0.1 * cos(w * s) + 0.1 / w * sin(w * s), fine(z, 1e-6, 1e-3));
        scheme_near(z->name, late.q[0], 0.2 + 0.1 * (3 - slip), fine(z, 2e-6, 1.2e-3));
        scheme_near(z->name, late.v[0], 0.1, 1e-9);
        scheme_near(z->name, late.ledger.energy.balance, 0, 2e-3);
    }
}

// A force of 4 N on a block with weight 10 N: static 0.5 holds it, kinetic 0.3 lets it slide on with 1 m/s^2.
static void static_friction_holds(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 0, rate: %d}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: "
                 "10*y - 4*x}\n"
                 "contact defaults: {friction: {static: 0.5, kinetic: 0.3}}\ncontacts: {floor: {gap: y, slip: x}}\n",
                 k);
        const carom_scheme *z;
        for (EACH(z)) {
            const end r = run(text, z->name, 1e-3, 0.5);
            scheme_near(z->name, r.v[0], 1.5 * k, 1e-9);
            if (k == 0) scheme_near(z->name, r.q[0], 0, 1e-12);
        }
    }
}

// Swings that end: spring 10, no belt, static 0.45, kinetic 0.3, from x = 1 at rest.  The turning point is -0.4, and
// there 10 |x| <= 4.5 holds: kinetic friction alone would let it go back to -0.2, which is what a scheme of
// Runge-Kutta type does that does not locate events: its stages stop at different times, and its last one reverses
// (docs/laws-of-contact.md).
static void static_friction_holds_at_a_turning_point(void **state) {
    (void)state;
    const char *text =
        "carom: 1\ncoordinates: {x: 1, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: 5*x^2 + 10*y}\n"
        "contacts: {floor: {gap: y, slip: x, friction: {static: 0.45, kinetic: 0.3}}}\n";
    const carom_scheme *z;
    for (EACH(z)) {
        const end r = run(text, z->name, 1e-3, 3);
        if (z->promises.limited_steps && z->promises.joint_order == 3) continue;
        scheme_near(z->name, r.q[0], -0.4, fine(z, 1e-6, 5e-3));
        scheme_near(z->name, r.v[0], 0, 1e-9);
    }
}

// mu = 0.1 + 0.2 u: v' = -1 - 2 v, v = 3.5 exp(-2 t) - 0.5, rest after log(7)/2.  mu = 0.1 (1 + x): x'' = -(1 + x),
// from x' = 2: x = sin t * 2 + cos t - 1.
static void coefficients_by_speed_and_place(void **state) {
    (void)state;
    static const char form[] =
        "carom: 1\ncoordinates: {x: {at: 0, rate: %d}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: 10*y}\n"
        "contacts: {floor: {gap: y, slip: x, friction: \"%s\"}}\n";
    char speed[400], place[400];
    snprintf(speed, sizeof speed, form, 3, "0.1 + 0.2*slip.speed");
    snprintf(place, sizeof place, form, 2, "0.1*(1 + x)");
    const carom_scheme *z;
    for (EACH(z)) {
        scheme_near(z->name, run(speed, z->name, 1e-3, 0.5).v[0], 3.5 * exp(-1) - 0.5, fine(z, 2e-6, 2e-3));
        scheme_near(z->name, run(speed, z->name, 1e-3, 1.2).v[0], 0, 1e-9);
        scheme_near(z->name, run(place, z->name, 1e-3, 0.5).q[0], 2 * sin(0.5) + cos(0.5) - 1, fine(z, 2e-6, 1e-3));
    }
}

// In space, between shapes, v = (3, 4): the same law along the slip, 5.5 exp(-2 t) - 0.5 of it.  The box has no turning
// to do: its floor is a plane and gravity acts in its low centre.
static void two_directions_between_shapes(void **state) {
    (void)state;
    const char *text =
        "carom: 1\nbodies: {b: {mass: 1, inertia: [1e6, 1e6, 1e6], at: [0, 0, 0.1], velocity: [3, 4, 0], shape: "
        "{sphere: 0.1}}}\nshapes: {floor: {plane: [0, 0, 1]}}\n"
        "gravity: [0, 0, -10]\ncontacts: {floor: {between: [b, floor], friction: 0.1 + 0.2*slip.speed}}\n";
    const double v = 5.5 * exp(-1) - 0.5;
    static const char *const names[] = {"event-driven", "mixed", "half-explicit", "moreau-jean", "ggl-alpha"};
    for (int i = 0; i < 5; ++i) {
        const end r = run(text, names[i], 1e-3, 0.5);
        scheme_near(names[i], r.v[0], 0.6 * v, i < 2 ? 1e-5 : 5e-3);
        scheme_near(names[i], r.v[1], 0.8 * v, i < 2 ? 1e-5 : 5e-3);
    }
}

// A force that grows overcomes static friction somewhere inside a step.  Wherever that is, the body never moves against
// the force, with any scheme.
static void slip_begins_with_the_force(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: "
                          "9.81*y}\nforces: {x: 15*sin(7*t)}\n"
                          "contacts: {floor: {gap: y, slip: x, friction: {static: 0.8, kinetic: 0.3}}}\n");
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_FRICTION | CAROM_NO_IMPACTS)) continue;
        for (int k = 0; k < 24; ++k) {
            const double h = 0.02 + 1.1e-3 * k;
            carom_sim *sim = model_sim(m, s->name, NULL, h, 0.3);
            carom_error err = {0};
            while (!carom_sim_done(sim)) {
                if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s: %s", s->name, err.text);
                const carom_now now = carom_sim_now(sim);
                if (now.v[0] < -1e-12) fail_msg("%s, step %g: %g m/s at t = %g", s->name, h, now.v[0], now.t);
            }
            assert_true(carom_sim_now(sim).v[0] > 0.5);
            carom_sim_destroy(sim);
        }
    }
    carom_model_destroy(m);
}

// A direction that is the normal leaves no tangent: refused, with the place.  Another body that touches nothing yet may
// stand anywhere.
static void a_direction_in_the_tangential_plane(void **state) {
    (void)state;
    static const struct {
        const char *at, *shape, *direction, *says;
    } cases[] = {{"[0, 0, 5]", "{sphere: 0.5}", "[0, 0, 2]",
                  "m.yaml:5:47: the direction of friction is the normal of 'b' and 'floor'"},
                 {"[0, 0, 0.5]", "{sphere: 0.5}", "[0, 0, 1], of: b",
                  "contact 'c' is its normal initially; give one that lies in the tangential plane"},
                 {"[0, 0, 0.5]", "{box: [1, 1, 1]}", "[0, 0, 1], of: b", "is its normal initially"},
                 {"[0, 0, 0.6]", "{box: [1, 1, 1]}", "[0, 0, 1], of: b", NULL},
                 {"[0, 0, 0.5]", "{box: [1, 1, 1]}", "[0, 1e-3, 1], of: b", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[500];
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies: {b: {mass: 1, "
                 "inertia: [1, 1, 1], at: %s, shape: %s}}\n"
                 "contacts: {c: {between: [b, floor], friction: {along: 0.1, across: 0.2, direction: %s}}}\n",
                 cases[i].at, cases[i].shape, cases[i].direction);
        carom_model *m = model_of(text, &err);
        if (cases[i].says ? m || !strstr(err.text, cases[i].says) : !m)
            fail_msg("%s: %s", text, m ? "accepted" : err.text);
        carom_model_destroy(m);
    }
}

// A misspelt key may be the one that decides what a contact is; a joint's name has a near one.
static void near_names(void **state) {
    (void)state;
    static const struct { const char *contact, *says; } cases[] = {
        {"{jont: hinge, radius: 0.1, friction: 0.3}", "unknown key 'jont' in contact 'c'; did you mean 'joint'?"},
        {"{normal forse: 3, slip: x, friction: 0.3}", "did you mean 'normal force'?"},
        {"{joint: hnge, radius: 0.1, friction: 0.3}", "there is no joint 'hnge' above; did you mean 'hinge'?"},
        {"{joint: k, radius: 0.1, friction: 0.3}", "there is no joint 'k' above; joints are hinge"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[400];
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\nbodies: {b: {mass: 1, inertia: 1}}\njoints: {hinge: {type: revolute, between: [ground, b], "
                 "at: [0, 0]}}\ncontacts: {c: %s}\n",
                 cases[i].contact);
        carom_model *m = model_of(text, &err);
        if (m || !strstr(err.text, cases[i].says)) fail_msg("%s: %s", cases[i].contact, m ? "accepted" : err.text);
    }
}

static void mistakes_are_told(void **state) {
    (void)state;
    static const struct { const char *law, *says; } cases[] = {
        {"{static: 0.3}", "friction needs `static` and `kinetic`"},
        {"{static: 0.3, kinetic: 0.4}", "static friction (0.3) must not be less than kinetic friction (0.4)"},
        {"{static: 0.3, kinetik: 0.2}", "did you mean 'kinetic'?"},
        {"{static: 0.3, kinetic: 0.2, stribeck: 0}", "stribeck must be positive"},
        {"slip.sped", "did you mean 'slip.speed'?"},
        {"normal.force'", "normal.force' is not available"},
        {"[0.3, 0.2]", "two coefficients of friction need two"},
        {"{along: 0.3, across: 0.2, direction: [1, 0, 0]}", "are for shapes"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: 1, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2)}\ncontacts: {wall: {gap: x, "
                 "slip: y, friction: %s}}\n",
                 cases[i].law);
        carom_error err = {0};
        carom_model *m = model_of(text, &err);
        if (m || !strstr(err.text, cases[i].says)) fail_msg("%s: %s", cases[i].law, m ? "accepted" : err.text);
    }
    carom_error err = {0};
    carom_model *m =
        good("carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: y}\n"
             "contacts: {floor: {gap: y, slip: x, friction: 0.05 - x}}\n");
    carom_sim *sim = model_sim(m, "half-explicit", NULL, 1e-3, 1);
    assert_int_not_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    assert_non_null(strstr(err.text, "must not be negative, got"));
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A block thrown up a slope of 0.45 rad, tan 0.45 = 0.483, stops after v^2/(2 g (sin a + 0.3 cos a)); static friction
// of 0.5 holds it there, kinetic friction of 0.3 would not. A box falls flat with much friction: sliding contacts of
// the moment it touches have no forces, and it comes to rest on its side, 0.1 m high. D+ gives e u back where u + g h
// arrives: 1/2 e g h p are lost to that in each impact, p = (1 + e) m u, and the sum of all u = u/(1 - e) with Newton's
// law, which keeps the box flat; others let it tip.
static void galerkin_schemes_stop_and_jam(void **state) {
    (void)state;
    static const char *const schemes[] = {"dg-plus", "dg-minus"}, *const laws[] = {"newton", "poisson", "energetic"};
    const double older = 0.5 * 0.6 * 9.81 * 1e-3 * 1.6 * 2 * sqrt(2 * 9.81 * 0.2) / 0.4;
    for (int i = 0; i < 2; ++i) {
        const end r = run("carom: 1\ncoordinates: {s: {at: 0, rate: -2}, n: 0}\nenergy: {kinetic: 1.5*(s'^2 + n'^2), "
                          "potential: 3*9.81*(n*cos(0.45) - s*sin(0.45))}\n"
                          "contacts: {p: {gap: n, slip: s, friction: {static: 0.5, kinetic: 0.3}}}\n",
                          schemes[i], 1e-3, 1);
        scheme_near(schemes[i], r.q[0], -2 / (9.81 * (sin(0.45) + 0.3 * cos(0.45))), 1e-5);
        scheme_near(schemes[i], r.v[0], 0, 1e-12);
        for (int k = 0; k < 3; ++k) {
            char text[600];
            snprintf(text, sizeof text,
                     "carom: 1\ngravity: [0, -9.81]\nbodies: {b: {mass: 2, inertia: 0.05, at: [0, 0.3], velocity: [2, "
                     "0], shape: {box: [0.6, 0.2]}}}\n"
                     "shapes: {floor: {plane: [0, 1]}}\ncontacts: {c: {between: [b, floor], friction: 5, restitution: "
                     "0.6, impact law: %s}}\n",
                     laws[k]);
            const end flat = run(text, schemes[i], 1e-3, 2);
            scheme_near(schemes[i], flat.ledger.energy.end, 2 * 9.81 * 0.1, 5e-3);
            scheme_near(schemes[i], flat.ledger.energy.balance, i == 0 ? -older : 0,
                        i > 0    ? 1e-3
                        : k == 0 ? 0.1 * older
                                 : older);
        }
    }
}

// A capsule lands on one end, turns over it without slip for 0.36 s, and slips at 0.567 s, where normal force and
// friction depend on each other: as event-driven finds it.
static void slip_off_one_end(void **state) {
    (void)state;
    const char *text =
        "carom: 1\ngravity: [-0.4634, 0, -9.81]\nbodies: {b: {mass: 1.0004, inertia: [0.072, 0.0602, 0.0784], at: [0, "
        "0, 0.5523], velocity: [1.281, -0.0657, 0.0311], "
        "spin: [0.7827, 0.0159, -0.1039], shape: {capsule: [0.1, 0.5]}}}\nshapes: {floor: {plane: [0, 0, 1]}}\n"
        "contacts: {c: {between: [b, floor], friction: {static: 0.9, kinetic: 0.7891}, restitution: 0}}\n";
    static const char *const schemes[] = {"ggl-alpha", "ggl-midpoint", "half-explicit", "newmark"};
    const end exact = run(text, "event-driven", 0.1, 0.6);
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        const end e = run(text, schemes[k], 1e-3, 0.6);
        for (int i = 0; i < 3; ++i) scheme_near(schemes[k], e.q[i], exact.q[i], 2e-3); // the way of a step
        scheme_near(schemes[k], e.ledger.energy.friction, exact.ledger.energy.friction,
                    0.1 * exact.ledger.energy.friction);
    }
}

// The coefficient is no number from t = 0.05 on.  The step that meets it fails, and the simulation stands where that
// step began, whether or not the scheme copies the state itself (carom_scheme.keeps).
static void a_coefficient_that_fails_changes_nothing(void **state) {
    (void)state;
    const char *text =
        "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: 10*y}\n"
        "contacts: {floor: {gap: y, slip: x, friction: sqrt(0.05 - t)}}\n";
    const carom_scheme *z;
    for (EACH(z)) {
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, z->name, NULL, 0.01, 1);
        carom_error err = {0};
        carom_status status = CAROM_OK;
        double before[5] = {0};
        for (int n = 0; n < 20 && status == CAROM_OK; ++n) {
            const carom_now now = carom_sim_now(sim);
            memcpy(before, (const double[]){now.t, now.q[0], now.q[1], now.v[0], now.v[1]}, sizeof before);
            status = carom_sim_step(sim, &err);
        }
        const carom_now now = carom_sim_now(sim);
        const double after[5] = {now.t, now.q[0], now.q[1], now.v[0], now.v[1]};
        scheme_true(z->name, status != CAROM_OK && before[0] > 0.03);
        scheme_true(z->name, memcmp(before, after, sizeof before) == 0);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A block slides until it rests: with slip u, u' = -mu(u) g, it goes the way int u du/(mu g), integrated here in log u
// with 4000 intervals (Simpson).  The curve is as narrow as 1e-6 of the speed: a step that looks at its ends alone does
// not see it.
static double way(double u_0, double v_s) {
    enum { N = 4000 };
    const double low = log(1e-9 * v_s), high = log(u_0), h = (high - low) / N;
    double sum = 0;
    for (int i = 0; i <= N; ++i) {
        const double u = exp(low + i * h), mu = 0.3 + 0.1 * exp(-(u / v_s) * (u / v_s));
        sum += (i == 0 || i == N ? 1 : i % 2 ? 4 : 2) * u * u / (9.81 * mu);
    }
    return sum * h / 3;
}

static void narrow_curves(void **state) {
    (void)state;
    static const double widths[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-6};
    for (int i = 0; i < 5; ++i) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0}\nenergy: {kinetic: x'^2/2 + y'^2/2, potential: "
                 "9.81*y}\n"
                 "contacts: {floor: {gap: y, slip: x, friction: {static: 0.4, kinetic: 0.3, stribeck: %g}}}\n",
                 widths[i]);
        const end e = run(text, "event-driven", 0.1, 0.5);
        assert_true(e.v[0] == 0);
        if (!(fabs(e.q[0] - way(1, widths[i])) < 1e-10))
            fail_msg("stribeck %g: %.12g, %.12g expected", widths[i], e.q[0], way(1, widths[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_curves),
        cmocka_unit_test(stick_and_slip_on_a_belt),
        cmocka_unit_test(static_friction_holds),
        cmocka_unit_test(static_friction_holds_at_a_turning_point),
        cmocka_unit_test(coefficients_by_speed_and_place),
        cmocka_unit_test(two_directions_between_shapes),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(a_coefficient_that_fails_changes_nothing),
        cmocka_unit_test(a_direction_in_the_tangential_plane),
        cmocka_unit_test(near_names),
        cmocka_unit_test(slip_off_one_end),
        cmocka_unit_test(galerkin_schemes_stop_and_jam),
        cmocka_unit_test(slip_begins_with_the_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

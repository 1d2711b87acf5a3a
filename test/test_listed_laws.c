// test_listed_laws.c: laws of contacts that come and go.
//
// The reference is the same model with few enough pairs to have contacts of their own: 14 or more balls that fly
// elsewhere make pairs so many that all of them come and go, in a world, and must change nothing.
#define _POSIX_C_SOURCE 200809L
#include "result_rig.h"
#include "quick.h"
#include "sim/sim.h"
#include <carom/event.h>
#include <math.h>

static const char *const schemes[] = {
    "moreau-midpoint", "moreau-jean", "moreau-explicit", "half-explicit", "ggl-projection",
    "ggl-alpha",       "mixed",       "splitting",       "auto",          "event-driven"};
enum { SCHEMES = sizeof schemes / sizeof *schemes, STEPPING = 6, BALLS = 3, NUMBERS = 13 * BALLS };

static carom_model *model(const char *text) {
    carom_error err = {0};
    carom_model *m =
        carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml"}, &err);
    if (!m) fail_msg("%s", err.text);
    return m;
}

static carom_sim *simulation(const carom_model *m, const char *scheme, double h, double end) {
    carom_error err = {0};
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m);
    d.scheme = scheme;
    d.schemes = carom_schemes();
    d.h = h;
    d.t_end = end;
    d.q0 = carom_model_q0(m);
    d.v0 = carom_model_v0(m);
    d.name = (const char *(*)(const void *, long long))carom_model_constraint;
    d.name_user = m;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s: %s", scheme, err.text);
    return sim;
}

// Positions and velocities of the three balls at the end.
static void roll(const char *law, bool many, const char *scheme, double *x) {
    char text[2000];
    carom_error err = {0};
    const int g = strstr(law, "impact") ? 0 : 10; // impacts in flight: on the floor those of other laws are decided by
                                                  // the last bit
    snprintf(
        text, sizeof text,
        "carom: 1\ngravity: [0, 0, -%d]\nbodies:\n"
        "  a: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0, 0.1], velocity: [3, 0.2, 0], shape: {sphere: 0.1}}\n"
        "  b: {mass: 2, inertia: [0.008, 0.008, 0.008], at: [0.4, 0.05, 0.1], shape: {sphere: 0.1}}\n"
        "  d: {mass: 2, inertia: [0.008, 0.008, 0.008], at: [0.75, 0.05, 0.1], shape: {sphere: 0.1}}\n"
        "  c: {repeat: 14, body: {mass: 1, inertia: [1, 1, 1], at: [i, 9, 9], shape: {sphere: 0.1}}}\n"
        "shapes: {floor: {plane: [0, 0, 1]}}\ncontact defaults: {%s}\ncontacts: {all: {among: [a, b, d%s]}, ground: "
        "{between: [[a, b, d], floor]}}\n",
        g, law, many ? ", c" : "");
    carom_model *m = model(text);
    assert_int_equal(carom_model_system(m)->listed > 0, many);
    carom_sim *sim = simulation(m, scheme, 2e-3, 0.14);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s, %s: %s", scheme, law, err.text);
    const carom_now now = carom_sim_now(sim);
    memcpy(x, now.q, 7 * BALLS * sizeof *x);
    memcpy(x + 7 * BALLS, now.v, 6 * BALLS * sizeof *x);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Every law that can be written for pairs of their own, with every scheme; and it is not Newton's with a constant
// coefficient.
static void laws_of_lists_are_those_of_pairs(void **state) {
    (void)state;
    static const char *const laws[] = {
        "restitution: 0.5, friction: 0.3",
        "restitution: 0.5, friction: 0.3, impact law: poisson",
        "restitution: 0.5, friction: 0.3, impact law: energetic",
        "restitution: 0.5, friction: 0.3, impact order: sequential",
        "restitution: 0.9/(1 + approach.speed), friction: 0.3",
        "restitution: 0.5, friction: {static: 0.4, kinetic: 0.2}",
        "restitution: 0.5, friction: {static: 0.4, kinetic: 0.2, stribeck: 0.5}",
        "restitution: 0.5, friction: 0.2 + 0.1*exp(-slip.speed)",
        "restitution: 0.5, friction: 0.3/(1 + normal.force/10)",
        "restitution: 0.5, friction: 0.2 + 2*t",
        "restitution: 0.5, friction: 0.2 + a.x^2 + 0.01*b.x'^2 + 0.1*slip.speed/(1 + normal.force)",
    };
    for (int s = 0; s < SCHEMES; ++s) {
        double plain[NUMBERS], few[NUMBERS], many[NUMBERS];
        roll(laws[0], true, schemes[s], plain);
        for (size_t l = 0; l < sizeof laws / sizeof *laws; ++l) {
            double apart = 0, other = 0;
            if (BRIEF && (l + (size_t)s) % 4 != 0) continue; // every law with some scheme, and the other way round
            roll(laws[l], false, schemes[s], few);
            roll(laws[l], true, schemes[s], many);
            for (int i = 0; i < NUMBERS; ++i)
                apart = fmax(apart, fabs(few[i] - many[i])), other = fmax(other, fabs(plain[i] - many[i]));
            if (!(apart < 1e-7))
                fail_msg("%s, %s: %g from pairs of their own", schemes[s], laws[l], apart);
            if (l > 0 && !(other > 1e-4)) fail_msg("%s, %s: %g from the plain law", schemes[s], laws[l], other);
        }
    }
}

// A sphere that approaches a wall of its list with 2 and e = 0.8 - 0.1 approach.speed leaves with 1.2; friction 0.2 +
// 0.1 slip.speed brakes a cube that slides with u by g (0.2 + 0.1 u): u = (u_0 + 2) exp(-t) - 2 for g = 10.  Friction y
// t with y' = 0.4, y(0) = 0: u = u_0 - 4/3 t^3.
static void laws_by_hand(void **state) {
    (void)state;
    carom_error err = {0};
    carom_model *m = model("carom: 1\nbodies:\n  s: {repeat: 40, body: {mass: 1, inertia: [1, 1, 1], at: [i, 0, "
                           "0.101], velocity: [0, 0, -2], shape: {sphere: 0.1}}}\n"
                           "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {c: {among: [s, floor], restitution: 0.8 - "
                           "0.1*approach.speed}}\n");
    carom_sim *sim = simulation(m, "moreau-midpoint", 1e-3, 5e-3);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    for (int i = 0; i < 40; ++i) assert_true(fabs(carom_sim_now(sim).v[6 * i + 2] - 1.2) < 1e-9);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    for (int k = 0; k < 2; ++k) {
        char text[1000];
        snprintf(text, sizeof text,
                 "carom: 1\ngravity: [0, 0, -10]\nparameters: {rate: 0.2}\ncoordinates: {y: {at: 0, rate: "
                 "2*rate}}\nenergy: {kinetic: 1/2*y'^2}\nbodies:\n"
                 "  s: {mass: 1, inertia: [1, 1, 1], at: [0, 0, 0.05], velocity: [3, 4, 0], shape: {hull: [[-0.5, "
                 "-0.5, -0.05], [0.5, -0.5, -0.05], [0.5, 0.5, -0.05], [-0.5, 0.5, -0.05], [0, 0, 0.05]]}}\n"
                 "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {c: {between: [s, floor], friction: %s}}\n",
                 k ? "y*t" : "rate + 0.1*slip.speed");
        m = model(text);
        assert_true(carom_model_system(m)->listed > 0);
        sim = simulation(m, "moreau-midpoint", 1e-4, 0.5);
        if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
        const double *v = carom_sim_now(sim).v + 1, u = hypot(v[0], v[1]),
                     exact = k ? 5 - 4.0 / 3 * 0.125 : 7 * exp(-0.5) - 2;
        if (!(fabs(u - exact) < 2e-3)) fail_msg("%g instead of %g", u, exact);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// Two balls on a floor and on each other, and a planar disc: positions and velocities at the end, and the ledger's
// energies.
static void press(const char *floor, const char *law, bool many, bool plane, const char *scheme, double *x) {
    char text[2000];
    carom_error err = {0};
    carom_ledger l;
    snprintf(text, sizeof text,
             plane ? "carom: 1\ngravity: [0, -10]\nshapes: {floor: {plane: [0, 1]%s}}\nbodies:\n  a: {mass: 1, "
                     "inertia: 0.004, at: [0, 0.1], velocity: [1, 0], shape: {circle: 0.1}}\n"
                     "  b: {mass: 2, inertia: 0.008, at: [0.05, 0.31], velocity: [0, -1], shape: {circle: "
                     "0.1}}\n%scontacts: {all: {among: [a, b, floor%s], %s}}\n"
                   : "carom: 1\ngravity: [0, 0, -10]\nshapes: {floor: {plane: [0, 0, 1]%s}}\nbodies:\n  a: {mass: 1, "
                     "inertia: [0.004, 0.004, 0.004], at: [0, 0, 0.1], velocity: [1, 0.3, 0], shape: {sphere: 0.1}}\n"
                     "  b: {mass: 2, inertia: [0.008, 0.008, 0.008], at: [0.05, 0.02, 0.31], velocity: [0, 0, -1], "
                     "shape: {sphere: 0.1}}\n%scontacts: {all: {among: [a, b, floor%s], %s}}\n",
             floor,
             !many ? ""
             : plane
                 ? "  c: {repeat: 24, body: {mass: 1e-9, inertia: 1, at: [i, 9], shape: {circle: 0.1}}}\n"
                 : "  c: {repeat: 14, body: {mass: 1e-9, inertia: [1, 1, 1], at: [i, 9, 9], shape: {sphere: 0.1}}}\n",
             many ? ", c" : "", law);
    carom_model *m = model(text);
    assert_int_equal(carom_model_system(m)->listed > 0, many);
    carom_sim *sim = simulation(m, scheme, 5e-4, 0.05);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s, %s: %s", scheme, law, err.text);
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    const carom_now now = carom_sim_now(sim);
    const int nq = plane ? 6 : 14, nv = plane ? 6 : 12;
    memset(x, 0, 30 * sizeof *x);
    memcpy(x, now.q, (size_t)nq * sizeof *x);
    memcpy(x + nq, now.v, (size_t)nv * sizeof *x);
    x[26] = l.energy.external, x[27] = l.energy.damping, x[28] = l.energy.friction, x[29] = l.energy.balance;
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Contacts of stiffness, surfaces that move, and friction by direction; Newton's method of moreau-jean leaves out what
// couples two bodies that yield, and stops a little elsewhere.
static void forces_of_lists_are_those_of_pairs(void **state) {
    (void)state;
    static const struct { const char *floor, *law; bool plane, soft; } cases[] = {
        {"", "stiffness: 1e4, exponent: 1.5, damping: 0.5, friction: 0.3, stiction speed: 0.01", false, true},
        {", surface velocity: [2 + t, 0.5, 0]", "stiffness: 1e4, friction: 0.3, stiction speed: 0.1", false, true},
        {", surface velocity: [2 + t]", "stiffness: 1e4, damping: 0.5, friction: 0.3, stiction speed: 0.1", true, true},
        {", surface velocity: [2 + 5*t, 0.5, 0]", "friction: 0.3", false, false},
        {", surface velocity: [2 + t]", "friction: 0.1 + 0.2*exp(-slip.speed)", true, false},
        {", surface velocity: [2, 0.5, 0]", "friction: {along: 0.1, across: 0.4, direction: [1, 1, 0]}", false, false},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        for (int s = 0; s < 4; ++s) {
            double few[30], many[30];
            char floor[60];
            snprintf(floor, sizeof floor, "%s",
                     cases[k].plane && *cases[k].floor ? ", surface velocity: [2 + t, 0]" : cases[k].floor);
            press(floor, cases[k].law, false, cases[k].plane, schemes[s], few);
            press(floor, cases[k].law, true, cases[k].plane, schemes[s], many);
            const double tol = cases[k].soft && s == 1 ? 1e-5 : 1e-7;
            for (int i = 0; i < 30; ++i)
                if (!(fabs(few[i] - many[i]) < tol))
                    fail_msg("%s, %s, %s: number %d is %.12g, of pairs of their own %.12g", schemes[s], cases[k].law,
                             cases[k].floor, i, many[i], few[i]);
        }
}

// 40 balls, m = 1, on a floor of stiffness k = 1e4 that they just touch: z = r - m g/k (1 - cos(t sqrt(k/m))), and m
// g/k deep where damping has ended that.  40 cubes on a conveyor of 1 m/s, mu g = 2: v = 2 t up to t = 0.5, then they
// go with it; x = 1/4 + (t - 0.5).  Its drive does m v^2 = 1 J each, half of it friction.
static void soft_floors_and_conveyors_by_hand(void **state) {
    (void)state;
    carom_error err = {0};
    carom_ledger l;
    for (int damped = 0; damped < 2; ++damped) {
        char text[600];
        snprintf(
            text, sizeof text,
            "carom: 1\ngravity: [0, 0, -10]\nbodies:\n  s: {repeat: 40, body: {mass: 1, inertia: [1, 1, 1], at: [i, 0, "
            "0.1], shape: {sphere: 0.1}}}\n"
            "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {c: {among: [s, floor], stiffness: 1e4, damping: %d}}\n",
            20 * damped);
        carom_model *m = model(text);
        for (int s = 0; s < 4; ++s) {
            const double h = damped ? 1e-3 : 2e-4, T = damped ? 1 : acos(-1) / 100, depth = damped ? 1e-3 : 2e-3;
            carom_sim *sim = simulation(m, schemes[s], h, T);
            if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", schemes[s], err.text);
            assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
            for (int i = 0; i < 40; ++i) {
                const double z = carom_sim_now(sim).q[7 * i + 2];
                if (!(fabs(z - 0.1 + depth) < 2e-2 * depth)) fail_msg("%s: ball %d is at %.9g", schemes[s], i, z);
            }
            // of 0.4 J; what is linear keeps it
            if (s == 1 && !(fabs(l.energy.balance) < (damped ? 1e-3 : 1e-11)))
                fail_msg("%s: balance %g", schemes[s], l.energy.balance);
            carom_sim_destroy(sim);
        }
        carom_model_destroy(m);
    }
    carom_model *m = model("carom: 1\ngravity: [0, 0, -10]\nbodies:\n  s: {repeat: 40, body: {mass: 1, inertia: [1, 1, "
                           "1], at: [i, 0, 0.1], shape: {box: [0.2, 0.2, 0.2]}}}\n"
                           "shapes: {floor: {plane: [0, 0, 1], surface velocity: [1, 0, 0]}}\ncontacts: {c: {among: "
                           "[s, floor], friction: 0.2}}\n");
    for (int s = 0; s < 4; ++s) {
        carom_sim *sim = simulation(m, schemes[s], 5e-3, 1);
        if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", schemes[s], err.text);
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        for (int i = 0; i < 40; ++i)
            assert_true(fabs(carom_sim_now(sim).v[6 * i] - 1) < 1e-9 &&
                        fabs(carom_sim_now(sim).q[7 * i] - i - 0.75) < 5e-3);
        assert_true(fabs(l.energy.external - 40) < 0.5 && fabs(l.energy.friction - 20) < 0.3);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// A ball that turns rolls on the floor and under another one; the direction of friction is fixed in it, by its name or
// that of its family, in the ground, or in the other one, on the floor, too.
static void askew(bool many, const char *of, const char *scheme, double *x) {
    char text[1500];
    carom_error err = {0};
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, 0, -10]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
             "  a: {repeat: 1, body: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0, 0.1], velocity: [1, 0.3, 0], "
             "spin: [1, 2, 5], shape: {sphere: 0.1}}}\n"
             "  b: {mass: 2, inertia: [0.008, 0.008, 0.008], at: [0.05, 0.02, 0.31], velocity: [0, 0, -1], spin: [0, "
             "1, -3], shape: {sphere: 0.1}}\n%s"
             "contacts: {all: {between: [a, [b, floor%s]], friction: {along: 0.1, across: 0.4, direction: [1, 0.2, "
             "0.1], of: %s}}%s}\n",
             many ? "  c: {repeat: 14, body: {mass: 1e-9, inertia: [1, 1, 1], at: [i, 9, 9], shape: {sphere: 0.1}}}\n"
                  : "",
             many ? ", c" : "", of, many ? ", more: {among: c}" : "");
    carom_model *m = model(text);
    assert_int_equal(carom_model_system(m)->listed > 0, many);
    carom_sim *sim = simulation(m, scheme, 5e-4, 0.05);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", scheme, err.text);
    memcpy(x, carom_sim_now(sim).q, 14 * sizeof *x);
    memcpy(x + 14, carom_sim_now(sim).v, 12 * sizeof *x);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// 40 skates that are turned by 0.3 i, with 2 m/s along their own x-axes: v = 2 - 0.1 g t.  40 others with the same
// shape go across it: v = 2 - 0.4 g t.
static void directions_of_friction_turn_with_bodies(void **state) {
    (void)state;
    for (int s = 0; s < 4; ++s) {
        double few[26], many[26], family[26], world[2][26], third[2][26];
        for (int k = 0; k < 2; ++k) askew(k, "ground", schemes[s], world[k]), askew(k, "b", schemes[s], third[k]);
        askew(false, "a.0", schemes[s], few);
        askew(true, "a.0", schemes[s], many);
        askew(s % 2, "a", schemes[s], family);
        for (int i = 0; i < 26; ++i)
            assert_true(fabs(world[0][i] - world[1][i]) < 1e-7 && fabs(third[0][i] - third[1][i]) < 1e-7);
        for (int i = 0; i < 26; ++i)
            if (!(fabs(few[i] - many[i]) < 1e-7 && fabs(few[i] - family[i]) < 1e-7))
                fail_msg("%s: number %d is %.12g and %.12g, of pairs of their own %.12g", schemes[s], i, many[i],
                         family[i], few[i]);
    }
    carom_error err = {0};
    carom_model *m =
        model("carom: 1\ngravity: [0, 0, -10]\nshapes: {ice: {plane: [0, 0, 1]}}\nbodies:\n"
              "  s: {repeat: 40, body: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [i, 0, 0.02], axis: [0, 0, 1], "
              "angle: 0.3*i, velocity: [2*cos(0.3*i), 2*sin(0.3*i), 0], shape: {box: [0.3, 0.3, 0.04]}}}\n"
              "  w: {repeat: 40, body: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [i, 5, 0.02], axis: [0, 0, 1], "
              "angle: 0.3*i, velocity: [-2*sin(0.3*i), 2*cos(0.3*i), 0], shape: {box: [0.3, 0.3, 0.04]}}}\n"
              "contacts: {c: {between: [s, [ice]], friction: {along: 0.1, across: 0.4, direction: [1, 0, 0], of: s}}, "
              "d: {between: [w, [ice]], friction: {along: 0.1, across: 0.4, direction: [1, 0, 0], of: w}}, e: {among: "
              "[s, w]}}\n");
    carom_sim *sim = simulation(m, "moreau-midpoint", 5e-3, 0.2);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    for (int i = 0; i < 80; ++i) {
        const double *v = carom_sim_now(sim).v + 6 * i, phi = 0.3 * (i % 40), speed = i < 40 ? 1.8 : 1.2,
                     x = i < 40 ? cos(phi) : -sin(phi), y = i < 40 ? sin(phi) : cos(phi);
        if (!(hypot(v[0] - speed * x, v[1] - speed * y) < 1e-6)) fail_msg("skate %d: %g, %g", i, v[0], v[1]);
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// 40 balls fall on a floor, ball i from 0.1 + 0.01 i above it: t = sqrt((0.1 + 0.01 i)/5), noticed in the middle of a
// step and recorded at its end, and the event has the name of its pair.  A joint holds one more body.
static void events_have_the_names_of_their_pairs(void **state) {
    (void)state;
    carom_model *m =
        model("carom: 1\ngravity: [0, 0, -10]\nbodies:\n  c: {repeat: 40, body: {mass: 1, inertia: [1, 1, 1], at: [i, "
              "0, 0.2 + 0.01*i], shape: {sphere: 0.1}}}\n"
              "  arm: {mass: 1, inertia: [1, 1, 1], at: [0, 9, 9]}\njoints: {pin: {type: weld, between: [ground, arm], "
              "at: [0, 9, 9]}}\n"
              "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {all: {among: [c]}, ground: {between: [c, floor]}}\n");
    assert_true(carom_model_system(m)->listed > 0 && carom_model_system(m)->ne > 0);
    const double h = 1e-3;
    carom_sim *sim = simulation(m, "moreau-midpoint", h, 0.35);
    carom_error err = {0};
    int struck = 0;
    while (!carom_sim_done(sim)) {
        if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s", err.text);
        const carom_now now = carom_sim_now(sim);
        for (int k = 0; k < now.nevents; ++k) {
            if (now.events[k].kind != CAROM_IMPACT) continue;
            const char *name = carom_model_constraint(m, carom_model_system(m)->ne + now.events[k].contact);
            char expected[32];
            snprintf(expected, sizeof expected, "c.%d-floor", struck);
            assert_string_equal(name, expected);
            assert_float_equal(now.events[k].t, sqrt((0.1 + 0.01 * struck) / 5), 1.5 * h);
            ++struck;
        }
    }
    assert_int_equal(struck, 40);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// What no list supports is refused, with a sentence.
static void what_lists_do_not_support(void **state) {
    (void)state;
    static const struct { const char *law, *says; } bad[] = {
        {"friction: 0}, d: {between: [[h], [s.1, w]], friction: {along: 0.1, across: 0.5, direction: [1, 0, 0], of: "
         "s.2}",
         "in one of the two, and not all pairs of 'd' have 's.2'"},
        {"friction: {along: 0.1, across: 0.5, direction: [1, 0, 0], of: s}",
         "both bodies of a pair of contact 'c' are members of 's'"},
        {"stiffness: 1e5, friction: 0.5 - 0.1*t", "a compliant contact needs constant coefficients of friction"},
        {"stiffness: 1e5, friction: 0.1", "add `stiction speed:`"},
        {"stiffness: 1e5, restitution: 0.1", "`restitution` belongs to rigid contacts"},
        {"friction: 0.5 - 0.1*t}}\nsleep: 0.01\n#", "cannot be combined with `sleep`; remove `sleep`"},
        {"stiffness: 1e5}, d: {between: [s, [w]], friction: {along: 0.1, across: 0.5, direction: [0, 0, 2]}",
         "the direction of friction is the normal of 's.0' and 'w'"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        char text[600];
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\nbodies:\n  s: {repeat: 40, body: {mass: 1, inertia: [1, 1, 1], at: [i, 0, 1], shape: "
                 "{sphere: 0.1}}}\n  h: {mass: 1, inertia: [1, 1, 1], at: [0, 9, 9], shape: {hull: [[0, 0, 0], [1, 0, "
                 "0], [0, 1, 0], [0, 0, 1]]}}\nshapes: {w: {plane: [0, 0, 1]}}\ncontacts: {c: {among: s, %s}}\n",
                 bad[i].law);
        assert_null(
            carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml"}, &err));
        if (!strstr(err.text, bad[i].says)) fail_msg("%s", err.text);
    }
}

// A state that is saved on the way has the same end, bit for bit, also where friction depends on reactions.
static void a_saved_state_goes_on(void **state) {
    (void)state;
    carom_error err = {0};
    carom_model *m = model(
        "carom: 1\ngravity: [0, 0, -10]\nbodies:\n  s: {repeat: [5, 5, 2], body: {mass: 1, inertia: [0.004, 0.004, "
        "0.004], at: [0.21*i + 0.03*k, 0.22*j, 0.11 + 0.21*k], velocity: [1, 0.3, 0], shape: {sphere: 0.1}}}\n"
        "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {c: {among: [s, floor], impact law: poisson, restitution: 0.3, "
        "friction: 0.2 + 0.2/(1 + normal.force)}}\n");
    for (int s = 0; s < STEPPING; s += 3) {
        carom_sim *whole = simulation(m, schemes[s], 2e-3, 0.1), *again = simulation(m, schemes[s], 2e-3, 0.1);
        for (int i = 0; i < 25; ++i) assert_int_equal(carom_sim_step(whole, &err), CAROM_OK);
        size_t bytes;
        const void *kept = carom_sim_state(whole, &bytes);
        assert_int_equal(carom_sim_restore(again, kept, bytes, &err), CAROM_OK);
        assert_int_equal(carom_sim_run(whole, NULL, NULL, &err), CAROM_OK);
        assert_int_equal(carom_sim_run(again, NULL, NULL, &err), CAROM_OK);
        assert_memory_equal(carom_sim_now(whole).q, carom_sim_now(again).q, 350 * sizeof(double));
        assert_memory_equal(carom_sim_now(whole).v, carom_sim_now(again).v, 300 * sizeof(double));
        carom_sim_destroy(whole);
        carom_sim_destroy(again);
    }
    carom_model_destroy(m);
}

// -- a disc for each of sliding, rolling and spinning -----------------------------------------------------------------

// Angular velocity of body i in the world.
static void turning(const carom_now *now, int i, double *w) {
    const double *e = now->q + 7 * i + 3, *u = now->v + 6 * i + 3;
    const double R[9] = {
        1 - 2 * (e[2] * e[2] + e[3] * e[3]), 2 * (e[1] * e[2] - e[0] * e[3]),     2 * (e[1] * e[3] + e[0] * e[2]),
        2 * (e[1] * e[2] + e[0] * e[3]),     1 - 2 * (e[1] * e[1] + e[3] * e[3]), 2 * (e[2] * e[3] - e[0] * e[1]),
        2 * (e[1] * e[3] - e[0] * e[2]),     2 * (e[2] * e[3] + e[0] * e[1]),     1 - 2 * (e[1] * e[1] + e[2] * e[2])};
    for (int k = 0; k < 3; ++k) w[k] = R[3 * k] * u[0] + R[3 * k + 1] * u[1] + R[3 * k + 2] * u[2];
}

// A ball of radius r, J = 2/5 m r^2, on levers rho and sigma, g = 10.  One that rolls: v' = -5/7 g rho/r.  One that
// slides without turning: v' = -mu g, and r w' = 5/2 (mu - rho/r) g.  Either spins down by w' = -5/2 sigma g/r^2,
// whatever else it does, and stops.  With one ball for all, a spinning one rolls farther.
static void rolling_and_spinning_one_by_one(void **state) {
    (void)state;
    enum { STEPS = 400 };
    const double r = 0.1, g = 10, rho = 0.01, sigma = 0.005, mu = 0.3, h = 1e-3, T = STEPS * h;
    for (int many = 0; many < 2; ++many)
        for (int s = 0; s < STEPPING - 1; ++s) {
            char text[1500];
            carom_error err = {0};
            snprintf(
                text, sizeof text,
                "carom: 1\ngravity: [0, 0, -10]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
                "  a: {mass: 2, inertia: [0.008, 0.008, 0.008], at: [0, 0, 0.1], velocity: [1, 0, 0], spin: [0, 10, "
                "60], shape: {sphere: 0.1}}\n"
                "  b: {mass: 2, inertia: [0.008, 0.008, 0.008], at: [0, 5, 0.1], velocity: [5, 0, 0], spin: [0, 0, "
                "20], shape: {sphere: 0.1}}\n%s"
                "contacts: {roll: {among: [a, b, floor%s], friction: 0.3, rolling: 0.01, spinning: 0.005, resistance: "
                "discs}}\n",
                many ? "  c: {repeat: 40, body: {mass: 1, inertia: [1, 1, 1], at: [i, 9, 9], shape: {sphere: 0.1}}}\n"
                     : "",
                many ? ", c" : "");
            carom_model *m = model(text);
            carom_sim *sim = simulation(m, schemes[s], h, T);
            if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", schemes[s], err.text);
            const carom_now now = carom_sim_now(sim);
            // moreau-jean and half-explicit have errors of second order
            const double tol = s == 1 ? 1e-4 : s == 3 ? 1e-6 : 1e-9;
            double a[3], b[3];
            turning(&now, 0, a);
            turning(&now, 1, b);
            const double rolls = 1 - 5.0 / 7 * g * rho / r * T, slides = 5 - mu * g * T,
                         turns = 2.5 * (mu - rho / r) * g * T / r, slows = 2.5 * sigma * g / (r * r) * T;
            if (!(fabs(now.v[0] - rolls) < tol && fabs(a[1] * r - rolls) < tol && fabs(a[2] - 60 + slows) < 100 * tol))
                fail_msg("%s, %s: rolls with %.9g (%.9g), spins with %.9g (%.9g)", schemes[s], many ? "list" : "pair",
                         now.v[0], rolls, a[2], 60 - slows);
            if (!(fabs(now.v[6] - slides) < tol && fabs(b[1] - turns) < 100 * tol &&
                  fabs(b[2] - 20 + slows) < 100 * tol))
                fail_msg("%s, %s: slides with %.9g (%.9g), turns with %.9g (%.9g)", schemes[s], many ? "list" : "pair",
                         now.v[6], slides, b[1], turns);
            carom_sim_destroy(sim);
            carom_model_destroy(m);
        }
}

// -- sleep ------------------------------------------------------------------------------------------------------------

// 40 balls glide over a smooth floor with 0.005, slower than `sleep`: after half a second all stand, 0.0025 from where
// they were, and 40 times m v^2/2 is booked.  A ball that falls from 4.35 arrives above one of them at 0.9 and wakes
// that one alone.  A state that is saved before and after goes on with the same bits.
static void bodies_fall_asleep_and_wake(void **state) {
    (void)state;
    carom_error err = {0};
    carom_model *m = model("carom: 1\ngravity: [0, 0, -10]\nsleep: 0.01\nbodies:\n  s: {repeat: 40, body: {mass: 2, "
                           "inertia: [1, 1, 1], at: [i, 0, 0.1], velocity: [0.005, 0, 0], shape: {sphere: 0.1}}}\n"
                           "  late: {mass: 1, inertia: [1, 1, 1], at: [3.0025, 0, 4.35], shape: {sphere: "
                           "0.1}}\nshapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {all: {among: [s, late, floor]}}\n");
    for (int s = 0; s < STEPPING - 1; ++s) {
        carom_sim *sim = simulation(m, schemes[s], 5e-3, 1),
                  *again[2] = {simulation(m, schemes[s], 5e-3, 1), simulation(m, schemes[s], 5e-3, 1)};
        carom_ledger l;
        for (int i = 1; i <= 200; ++i) {
            size_t bytes;
            assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
            const carom_now now = carom_sim_now(sim);
            const void *saved = carom_sim_state(sim, &bytes);
            if (i == 60 || i == 160) assert_int_equal(carom_sim_restore(again[i > 60], saved, bytes, &err), CAROM_OK);
            if (i != 160) continue;
            assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
            assert_int_equal(l.sleep.falls, 40);
            assert_int_equal(l.sleep.wakes, 0);
            assert_true(fabs(l.sleep.energy - 40 * 2.5e-5) < 1e-9 && (s != 0 || fabs(l.energy.balance) < 1e-9));
            for (int k = 0; k < 40; ++k)
                assert_true(fabs(now.q[7 * k] - k - 0.0025) < 0.005 * 0.011 && now.v[6 * k] == 0 &&
                            fabs(now.q[7 * k + 2] - 0.1) < 1e-9);
        }
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        assert_int_equal(l.sleep.falls - l.sleep.wakes, 39);
        // on top, up to its way of 0.045 in a step
        assert_true(carom_sim_now(sim).q[7 * 40 + 2] > 0.2 && carom_sim_now(sim).q[7 * 40 + 2] < 0.4);
        for (int k = 0; k < 2; ++k) {
            assert_int_equal(carom_sim_run(again[k], NULL, NULL, &err), CAROM_OK);
            for (int i = 0; i < 41 * 7; ++i)
                if (carom_sim_now(sim).q[i] != carom_sim_now(again[k]).q[i])
                    fail_msg("%s: position %d is %.17g, from state %d on %.17g", schemes[s], i, carom_sim_now(sim).q[i],
                             k, carom_sim_now(again[k]).q[i]);
            assert_memory_equal(carom_sim_now(sim).v, carom_sim_now(again[k]).v, 41 * 6 * sizeof(double));
            carom_sim_destroy(again[k]);
        }
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Two rows of 20 blocks, 1e-4 apart, and a ball that falls on the first block at 0.9.  Asleep they have no contacts;
// the ball wakes all of its row, with contacts in the same step, and none of the other.  A state saved in between goes
// on with the same bits.
static void a_row_wakes_as_a_whole(void **state) {
    (void)state;
    carom_error err = {0};
    carom_ledger l;
    size_t bytes;
    carom_model *m = model("carom: 1\ngravity: [0, 0, -10]\nsleep: 0.01\nbodies:\n  s: {repeat: [2, 20], body: {mass: "
                           "2, inertia: [0.02, 0.02, 0.02], at: [0.2001*j, 5*i, 0.1], shape: {box: [0.2, 0.2, 0.2]}}}\n"
                           "  ball: {mass: 0.1, inertia: [1, 1, 1], at: [-0.08, 0, 4.35], shape: {sphere: 0.1}}\n"
                           "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {all: {among: [s, ball, floor], friction: "
                           "0.5}}\n");
    carom_sim *sim = simulation(m, "moreau-midpoint", 5e-3, 1), *again = simulation(m, "moreau-midpoint", 5e-3, 1);
    while (carom_sim_now(sim).t < 0.8) assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_int_equal(l.sleep.falls, 40);
    assert_int_equal(l.sleep.wakes, 0);
    assert_int_equal(sim->list.pairs, 0);
    const void *saved = carom_sim_state(sim, &bytes);
    assert_int_equal(carom_sim_restore(again, saved, bytes, &err), CAROM_OK);
    for (l.sleep.wakes = 0; l.sleep.wakes == 0;) {
        assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    }
    assert_int_equal(l.sleep.wakes, 20);
    assert_int_equal(sim->list.pairs, 20 + 19 + 1); // on the floor, beside each other, under the ball
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_int_equal(l.sleep.falls - l.sleep.wakes, 20);
    assert_int_equal(carom_sim_run(again, NULL, NULL, &err), CAROM_OK);
    assert_memory_equal(carom_sim_now(sim).q, carom_sim_now(again).q, 41 * 7 * sizeof(double));
    assert_memory_equal(carom_sim_now(sim).v, carom_sim_now(again).v, 41 * 6 * sizeof(double));
    carom_sim_destroy(sim), carom_sim_destroy(again), carom_model_destroy(m);
}

// Balls on a smooth slope start with 0.015 m/s^2, and blocks on a slope just above their angle of friction, mu = 0.1,
// with 0.01: far slower than `sleep` for half a second and more, but not in equilibrium.  x = a t^2/2.
static void what_accelerates_stays_awake(void **state) {
    (void)state;
    static const struct {
        const char *shape, *gravity, *friction;
        double a;
    } cases[] = {{"sphere: 0.1", "[0.015, 0, -10]", "0", 0.015},
                 {"box: [0.2, 0.2, 0.2]", "[1.01, 0, -10]", "0.1", 0.01}};
    for (int c = 0; c < 2; ++c) {
        char text[500];
        carom_error err = {0};
        carom_ledger l;
        snprintf(text, sizeof text,
                 "carom: 1\ngravity: %s\nsleep: 0.1\nbodies:\n  s: {repeat: 34, body: {mass: 1, inertia: [1, 1, 1], "
                 "at: [i, 0, 0.1], shape: {%s}}}\n"
                 "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {all: {among: [s, floor], friction: %s}}\n",
                 cases[c].gravity, cases[c].shape, cases[c].friction);
        carom_model *m = model(text);
        carom_sim *sim = simulation(m, "moreau-midpoint", 1e-2, 2);
        assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        assert_int_equal(l.sleep.falls, 0);
        for (int k = 0; k < 34; ++k)
            assert_true(fabs(carom_sim_now(sim).q[7 * k] - k - cases[c].a * 2) < 0.01 * cases[c].a * 2);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// m^3 spheres fall into a box and settle: at the default tolerance and at a moderate one the pile falls asleep as a
// whole.
static void a_settled_pile_falls_asleep(int each, const char *const *options) {
    carom_error err = {0};
    carom_ledger l;
    char text[1200];
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, 0, -9.81]\nsleep: 0.1\nparameters: {m: %d, w: 0.21*m + 0.01}\nbodies: {s: "
             "{repeat: [m, m, m], body: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0.21*(i + 0.5) + "
             "0.004*sin(13*((i*m + j)*m + k)), 0.21*(j + 0.5) + 0.004*sin(78*((i*m + j)*m + k)), 0.12 + 0.203*k], "
             "shape: "
             "{sphere: 0.1}}}}\n"
             "shapes: {floor: {plane: [0, 0, 1]}, a: {plane: [1, 0, 0], at: [-0.01, 0, 0]}, b: {plane: [-1, 0, 0], at: "
             "[w, 0, 0]}, c: {plane: [0, 1, 0], at: [0, -0.01, 0]}, d: {plane: [0, -1, 0], at: [0, w, 0]}}\n"
             "contacts: {all: {among: s, friction: 0.3}, walls: {between: [s, [floor, a, b, c, d]], friction: 0.3}}\n",
             each);
    carom_model *m = model(text);
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m), d.scheme = "moreau-midpoint", d.options = options, d.h = 2e-3, d.t_end = 6,
    d.q0 = carom_model_q0(m), d.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_int_equal(l.sleep.falls - l.sleep.wakes, each * each * each);
    assert_true(l.sleep.energy < each * each * each * 0.5 * 0.1 * 0.1); // no rim was faster than 0.1
    assert_true(options || l.counts.accepted_residual <= 1e-4);   // (TOL-6)
    carom_sim_destroy(sim), carom_model_destroy(m);
}

static void settled_piles_fall_asleep(void **state) {
    QUICK_SKIPS();
    (void)state;
    a_settled_pile_falls_asleep(4, (const char *const[]){"tol=1e-3", NULL});
    a_settled_pile_falls_asleep(4, NULL);
}

// With hundreds of contacts, whose work is limited.
static void a_large_pile_falls_asleep(void **state) {
    (void)state;
    a_settled_pile_falls_asleep(6, NULL);
}

// Balls on a conveyor that starts after 0.8 s are awake then, v = t - 0.8; those on the floor beside it sleep.  Where
// nothing could fall asleep, `sleep` is a mistake.
static void conveyors_keep_awake(void **state) {
    (void)state;
    carom_error err = {0};
    carom_ledger l;
    carom_model *m = model("carom: 1\ngravity: [0, 0, -10]\nsleep: 0.01\nbodies:\n  s: {repeat: 20, body: {mass: 1, "
                           "inertia: [0.004, 0.004, 0.004], at: [i, 0, 0.1], shape: {box: [0.2, 0.2, 0.2]}}}\n"
                           "  c: {repeat: 20, body: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [i, 2, 0.1], shape: "
                           "{box: [0.2, 0.2, 0.2]}}}\n"
                           "shapes: {floor: {plane: [0, 0, 1]}, belt: {plane: [0, 0, 1], surface velocity: [\"max(0, t "
                           "- 0.8)\", 0, 0]}}\ncontacts: {all: {among: [s, c]}, a: {between: [s, [floor]], friction: "
                           "0.5}, b: {between: [c, [belt]], friction: 0.5}}\n");
    carom_sim *sim = simulation(m, "moreau-midpoint", 5e-3, 1.2);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_int_equal(l.sleep.falls, 20);
    for (int i = 20; i < 40; ++i) assert_true(fabs(carom_sim_now(sim).v[6 * i] - 0.4) < 5e-3);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    static const char *const bad[] = {"bodies:\n  s: {repeat: 40, body: {mass: 1, inertia: [1, 1, 1], at: [i, 0, 0.1], "
                                      "shape: {sphere: 0.1}}}\n  plate: {motion: {at: [0, 9, sin(t)]}, shape: {box: "
                                      "[1, 1, 1]}}\ncontacts: {c: {among: s}, d: {between: [s, plate]}}\n",
                                      "bodies:\n  s: {repeat: 40, body: {mass: 1, inertia: [1, 1, 1], at: [i, 0, 0.1], "
                                      "shape: {sphere: 0.1}}}\ncontacts: {c: {among: s, stiffness: 1e4}}\n"};
    for (int i = 0; i < 2; ++i) {
        char text[600];
        snprintf(text, sizeof text, "carom: 1\nsleep: 0.1\n%s", bad[i]);
        assert_null(
            carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml"}, &err));
        if (!strstr(err.text, i ? "remove `sleep`, or make the contact rigid" : "sleep has no effect"))
            fail_msg("%s", err.text);
    }
}

// What goes with it, and which schemes take it.
static void discs_are_refused_where_they_make_no_sense(void **state) {
    (void)state;
    static const struct { const char *law, *says; } bad[] = {
        {"friction: 0.3, resistance: discs", "requires `rolling` or `spinning`"},
        {"friction: 0.3, rolling: 0.1, resistance: disk", "did you mean 'discs'"},
        {"friction: 0.3, rolling: 0.1, resistance: discs, impact law: energetic", "requires a single friction bound"},
    };
    char text[600];
    carom_error err = {0};
#define BALL                                                                                                           \
    "carom: 1\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies: {a: {mass: 2, inertia: [1, 1, 1], at: [0, 0, 0.1], "       \
    "shape: {sphere: 0.1}}}\ncontacts: {c: {between: [a, floor], %s}}\n"
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        snprintf(text, sizeof text, BALL, bad[i].law);
        assert_null(
            carom_model_create(&(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml"}, &err));
        if (!strstr(err.text, bad[i].says)) fail_msg("%s", err.text);
    }
    snprintf(text, sizeof text, BALL, "friction: 0.3, rolling: 0.1, resistance: discs");
    carom_model *m = model(text);
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m), d.h = 1e-3, d.t_end = 1, d.q0 = carom_model_q0(m), d.v0 = carom_model_v0(m);
    static const char *const able[] = {"moreau-midpoint", "moreau-jean",      "moreau-explicit", "moreau-dissipative",
                                       "half-explicit",   "half-explicit-rk", "ggl-projection"};
    enum { ABLE = sizeof able / sizeof *able };
    for (int i = 0; carom_schemes()[i]; ++i) { // ggl-alpha has its own problem of contacts, with one ball for all
                                               // tangents
        bool expected = false;
        d.scheme = carom_schemes()[i]->name, d.schemes = carom_schemes();
        for (int k = 0; k < ABLE; ++k) expected = expected || strcmp(d.scheme, able[k]) == 0;
        carom_sim *sim = carom_sim_create(&d, &err);
        if (!sim != !expected) fail_msg("%s: %s", d.scheme, sim ? "supports discs" : err.text);
        if (!sim && !strstr(err.text, "does not support ")) fail_msg("%s", err.text);
        if (strcmp(d.scheme, "ggl-alpha") == 0)
            assert_non_null(strstr(err.text, "does not support `resistance: discs`; schemes that support this model: "
                                             "half-explicit, half-explicit-rk, moreau-jean, "));
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Two boxes in space have 25 formulas, so n (n - 1)/2 + n pairs with the floor come and go from 3 on, of spheres from
// 81 on, whatever their friction.
static void pairs_come_and_go_where_they_are_many(void **state) {
    (void)state;
    static const char *const turned = "{along: 0.3, across: 0.1, direction: [1, 0, 0]}";
    const struct {
        int n;
        bool boxes, listed;
        const char *friction;
    } cases[] = {{2, true, true, "0.3"},   {2, true, true, turned},     {25, true, true, "0.3"},
                 {2, false, false, "0.3"}, {12, false, false, "0.3"},   {12, false, false, turned},
                 {13, false, true, "0.3"}, {13, false, true, turned}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[600];
        snprintf(
            text, sizeof text,
            "carom: 1\nbodies:\n  s: {repeat: %d, body: {mass: 1, inertia: [1, 1, 1], at: [i, 0, 0.3], shape: {%s}}}\n"
            "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {all: {among: s}, ground: {between: [s, floor], friction: "
            "%s}}\n",
            cases[i].n, cases[i].boxes ? "box: [0.2, 0.2, 0.2]" : "sphere: 0.1", cases[i].friction);
        carom_model *m = model(text);
        assert_int_equal(carom_model_system(m)->listed > 0, cases[i].listed);
        carom_model_destroy(m);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest slow[] = {cmocka_unit_test(a_large_pile_falls_asleep)};
    if (argc > 1 && strcmp(argv[1], "long") == 0) return cmocka_run_group_tests(slow, NULL, NULL);
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_have_the_names_of_their_pairs),
                                       cmocka_unit_test(laws_of_lists_are_those_of_pairs),
                                       cmocka_unit_test(laws_by_hand),
                                       cmocka_unit_test(forces_of_lists_are_those_of_pairs),
                                       cmocka_unit_test(soft_floors_and_conveyors_by_hand),
                                       cmocka_unit_test(directions_of_friction_turn_with_bodies),
                                       cmocka_unit_test(what_lists_do_not_support),
                                       cmocka_unit_test(pairs_come_and_go_where_they_are_many),
                                       cmocka_unit_test(a_saved_state_goes_on),
                                       cmocka_unit_test(rolling_and_spinning_one_by_one),
                                       cmocka_unit_test(bodies_fall_asleep_and_wake),
                                       cmocka_unit_test(a_row_wakes_as_a_whole),
                                       cmocka_unit_test(settled_piles_fall_asleep),
                                       cmocka_unit_test(conveyors_keep_awake),
                                       cmocka_unit_test(what_accelerates_stays_awake),
                                       cmocka_unit_test(discs_are_refused_where_they_make_no_sense)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

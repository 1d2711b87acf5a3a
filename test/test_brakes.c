// test_brakes.c: friction with a given normal force (brakes, clutches), in joints, by normal force, by direction, and
// on conveyors, against closed forms.
#include "ends.h"
#include <carom/event.h>

#define EACH(s) int i_ = 0; (s = scheme_with(&i_, CAROM_NO_FRICTION | CAROM_NO_IMPACTS));

// I = 0.2, mu r N = 0.1 0.05 40 = 0.2: 1 rad/s^2, from 3 rad/s to rest after 4.5 rad.
static void a_shaft_spins_down(void **state) {
    (void)state;
    const char *text = "carom: 1\ncoordinates: {phi: {rate: 3}}\nenergy: {kinetic: 0.1*phi'^2}\n"
                       "contacts: {bearing: {normal force: 40, slip: 0.05*phi, friction: 0.1}}\n";
    const carom_scheme *z;
    for (EACH(z)) {
        const end e = run(text, z->name, 2e-2, 4, NAMES("phi", "phi'"));
        scheme_near(z->name, e.x[0], 4.5, fine(z, 1e-6, 4e-2));
        scheme_near(z->name, e.x[1], 0, 1e-12);
        scheme_near(z->name, e.ledger.energy.friction, 0.9, 2e-2);
    }
}

// Capacity mu r N = 0.4 0.1 50 = 2 N m, torque t, I = 0.5: it holds until t = 2; then phi' = (t - 2)^2, phi = (t -
// 2)^3/3.  With a normal force that falls, the same.
static void a_brake_holds_and_slips(void **state) {
    (void)state;
    static const char form[] = "carom: 1\ncoordinates: {phi: 0}\nenergy: {kinetic: 1/4*phi'^2}\nforces: {phi: %s}\n"
                               "contacts: {brake: {normal force: %s, slip rate: 0.1*phi', friction: 0.4}}\n";
    // of the second, 2 - 0.04 (100 - 25 t) = t - 2
    static const char *const load[][2] = {{"t", "50"}, {"2", "\"100 - 25*t\""}};
    for (int k = 0; k < 2; ++k) {
        char text[400];
        snprintf(text, sizeof text, form, load[k][0], load[k][1]);
        const carom_scheme *z;
        for (EACH(z)) {
            const end held = run(text, z->name, 2e-2, 1.9, NAMES("phi", "phi'")),
                      slips = run(text, z->name, 2e-2, 3, NAMES("phi", "phi'"));
            // implicit schemes follow a load that grows with their error
            scheme_near(z->name, held.x[0], 0, fine(z, 1e-14, 8e-6));
            scheme_near(z->name, held.x[1], 0, 1e-14);
            scheme_near(z->name, slips.x[0], 1.0 / 3, fine(z, 1e-6, 4e-2));
            scheme_near(z->name, slips.x[1], 1, fine(z, 1e-6, 8e-2));
        }
    }
}

// A clutch with torque 0.5 0.1 200 = 10 between 1 and 2 kg m^2: 10 rad/s are made equal at 15 rad/s^2, in 2/3 s, and
// both continue with 10/3.  Released from t = 0.9 to 1, after which a torque acts on the first alone: p' = 10/3 + 3/2
// (t - 1)^2.
static void a_clutch_engages_and_opens(void **state) {
    (void)state;
    const char *text = "carom: 1\ncoordinates: {p: {rate: 10}, s: 0}\nenergy: {kinetic: 1/2*p'^2 + s'^2}\nforces: {p: "
                       "\"3*max(0, t - 1)\"}\n"
                       "contacts: {clutch: {normal force: \"200*min(1, 10 - 10*t)\", slip: 0.1*(p - s), friction: "
                       "{static: 0.6, kinetic: 0.5}}}\n";
    const carom_scheme *z;
    for (EACH(z)) {
        const end e = run(text, z->name, 1e-2, 0.9, NAMES("p'", "s'")),
                  open = run(text, z->name, 1e-2, 2, NAMES("p'", "s'"));
        scheme_near(z->name, e.x[0], 10.0 / 3, 1e-9);
        scheme_near(z->name, e.x[1], 10.0 / 3, 1e-9);
        scheme_near(z->name, open.x[1], 10.0 / 3, 1e-9);
        scheme_near(z->name, open.x[0], 29.0 / 6, fine(z, 1e-5, 0.02));
    }
}

// A rotor of 2 kg, 0.01 kg m^2 on its bearing, r = 0.02, mu = 0.3: torque 0.3 0.02 20 = 0.12 from its own weight.  From
// 6 rad/s it rests after 6^2/(2 12) = 1.5 rad; a motor of 0.1 N m does not turn it, one of 0.15 N m turns it with 3
// rad/s^2.  In a second one, 30 N of preload make 0.3 N m.
static void a_bearing_takes_its_own_reaction(void **state) {
    (void)state;
    static const char form[] =
        "carom: 1\ngravity: [0, -10]\nbodies: {rotor: {mass: 2, inertia: 0.01, spin: %d}}\njoints: {hinge: {type: "
        "revolute, between: [ground, rotor], at: [0, 0]}}\n"
        "motors: {m: {joint: hinge, torque: %g}}\ncontacts: {bearing: {joint: hinge, radius: 0.02, friction: 0.3%s}}\n";
    static const struct {
        int spin; double torque; const char *force; double angle, rate;
    } cases[] = {{6, 0, "", 1.5, 0},
                 {0, 0.1, "", 0, 0},
                 {0, 0.15, "", 1.5, 3},
                 {0, 0.32, ", normal force: joint.force + 30", 1, 2}};
    for (int k = 0; k < 4; ++k) {
        char text[500];
        snprintf(text, sizeof text, form, cases[k].spin, cases[k].torque, cases[k].force);
        const carom_scheme *z;
        for (EACH(z)) {
            const end e = run(text, z->name, 5e-3, 1, NAMES("rotor.angle", "rotor.wz"));
            scheme_near(z->name, e.x[0], cases[k].angle, cases[k].angle == 0 ? 1e-12 : fine(z, 1e-6, 2e-2));
            scheme_near(z->name, e.x[1], cases[k].rate, cases[k].rate == 0 ? 1e-12 : 1e-9);
        }
    }
}

// In space: a slide with 1 m/s on a guide, mu g = 2 m/s^2, and the same where a force of 20 N lifts it against the
// upper side; a ball with (3, 0, 4) rad/s, mu r N/J = 0.1 0.1 10/0.1 = 1; a shaft that turns with r w = 3 and slides
// with 4 m/s, J = m r^2: both fall along the slip, with 2 m/s^2.
static void guides_balls_and_sleeves(void **state) {
    (void)state;
    static const char guide[] =
        "carom: 1\ngravity: [0, 0, -10]\nbodies: {b: {mass: 1, inertia: [1, 1, 1], velocity: [1, 0, 0]}}\n"
        "joints: {j: {type: prismatic, between: [ground, b], at: [0, 0, 0], axis: [1, 0, 0]}}\nloads: {l: {on: b, "
        "force: [0, 0, %d]}}\ncontacts: {c: {joint: j, friction: 0.2}}\n";
    static const char ball[] =
        "carom: 1\ngravity: [0, 0, -10]\nbodies: {b: {mass: 1, inertia: [0.1, 0.1, 0.1], spin: [3, 0, 4]}}\n"
        "joints: {j: {type: spherical, between: [ground, b], at: [0, 0, 0]}}\ncontacts: {c: {joint: j, radius: 0.1, "
        "friction: 0.1}}\n";
    static const char sleeve[] = "carom: 1\ngravity: [0, 0, -10]\nbodies: {b: {mass: 1, inertia: [0.01, 1, 1], "
                                 "velocity: [4, 0, 0], spin: [30, 0, 0]}}\n"
                                 "joints: {j: {type: cylindrical, between: [ground, b], at: [0, 0, 0], axis: [1, 0, "
                                 "0]}}\ncontacts: {c: {joint: j, radius: 0.1, friction: 0.2}}\n";
    const carom_scheme *z;
    for (EACH(z)) {
        for (int k = 0; k < 2; ++k) {
            char text[500];
            snprintf(text, sizeof text, guide, 20 * k);
            const end e = run(text, z->name, 5e-3, 0.25, NAMES("b.vx")),
                      rest = run(text, z->name, 5e-3, 0.6, NAMES("b.x", "b.vx"));
            scheme_near(z->name, e.x[0], 0.5, 1e-7);
            scheme_near(z->name, rest.x[0], 0.25, fine(z, 1e-6, 5e-3));
            scheme_near(z->name, rest.x[1], 0, 1e-12);
        }
        const end b = run(ball, z->name, 5e-3, 1, NAMES("b.wx", "b.wz")),
                  s = run(sleeve, z->name, 5e-3, 0.5, NAMES("b.vx", "b.wx"));
        scheme_near(z->name, b.x[0], 2.4, 1e-6);
        scheme_near(z->name, b.x[1], 3.2, 1e-6);
        scheme_near(z->name, s.x[0], 3.2, 1e-6);
        scheme_near(z->name, s.x[1], 24, 1e-5);
    }
}

// A door on a hinge: |R|^2 = (m g)^2 + (m w^2 l)^2 + (m w' l)^2 with m = 10, l = 0.5, and 10/3 w' = -0.006 |R|.
static double door_acceleration(double w) {
    double a = 0;
    for (int i = 0; i < 60; ++i) a = -0.0018 * sqrt(1e4 + 25 * w * w * w * w + 25 * a * a);
    return a;
}

static void reactions_that_change(void **state) {
    (void)state;
    const char *text = "carom: 1\ngravity: [0, 0, -10]\nbodies: {door: {mass: 10, inertia: [1, 1, 5/6], at: [0.5, 0, "
                       "0], spin: [0, 0, 5]}}\n"
                       "joints: {h: {type: revolute, between: [ground, door], at: [0, 0, 0], axis: [0, 0, "
                       "1]}}\ncontacts: {c: {joint: h, radius: 0.02, friction: 0.3}}\n";
    double w = 5;
    for (int i = 0; i < 1000; ++i) { // Runge and Kutta's
        const double h = 1e-3, a = door_acceleration(w), b = door_acceleration(w + h / 2 * a),
                     c = door_acceleration(w + h / 2 * b), d = door_acceleration(w + h * c);
        w += h / 6 * (a + 2 * b + 2 * c + d);
    }
    static const struct {
        const char *scheme;
        double off;
    } cases[] = {{"event-driven", 1e-8}, {"mixed", 1e-5},         {"auto", 1e-5},
                 {"splitting", 1e-3},    {"half-explicit", 1e-2}, {"dg-plus", 1e-2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        scheme_near(cases[i].scheme, run(text, cases[i].scheme, 1e-2, 1, NAMES("door.wz")).x[0], w, cases[i].off);
}

// Numbers of constraints shift where some are redundant: b is held twice, and the hinge of the rotor comes after it.
static void bearings_beside_redundant_joints(void **state) {
    (void)state;
    const char *text = "carom: 1\ngravity: [0, -10]\nbodies: {b: {mass: 1, inertia: 1}, rotor: {mass: 2, inertia: "
                       "0.01, at: [3, 0], spin: 6}}\n"
                       "joints: {p: {type: prismatic, between: [ground, b], at: [0, 0], axis: [1, 0]}, q: {type: "
                       "prismatic, between: [ground, b], at: [1, 0], axis: [1, 0]}, "
                       "hinge: {type: revolute, between: [ground, rotor], at: [3, 0]}}\ncontacts: {bearing: {joint: "
                       "hinge, radius: 0.02, friction: 0.3}}\n";
    static const char *const names[] = {"half-explicit", "moreau-jean", "mixed", "event-driven"};
    for (int i = 0; i < 4; ++i) check_near(run(text, names[i], 5e-3, 0.25, NAMES("rotor.wz")).x[0], 3, 1e-6);
}

// A bar on a hinge strikes a stop with its tip and comes back.  The hinge has an impulse then, which is no force that
// presses: time-stepping tends to what event-driven finds.
static void an_impact_does_not_press(void **state) {
    (void)state;
    const char *text = "carom: 1\nbodies: {bar: {mass: 1, inertia: 1/12, at: [0.5, 0], spin: -1, points: {tip: [0.5, "
                       "0]}}}\njoints: {h: {type: revolute, between: [ground, bar], at: [0, 0]}}\n"
                       "shapes: {stop: {plane: [0, 1], at: [0, -0.2]}}\ncontacts: {c: {joint: h, radius: 0.1, "
                       "friction: 1}, s: {between: [bar.tip, stop], restitution: 1}}\n";
    const double exact = run(text, "event-driven", 1e-2, 0.5, NAMES("bar.wz")).x[0];
    static const char *const names[] = {"half-explicit", "moreau-jean", "moreau-midpoint", "ggl-alpha", "newmark"};
    assert_true(exact > 0.8);
    for (int i = 0; i < 5; ++i) check_near(run(text, names[i], 1e-3, 0.5, NAMES("bar.wz")).x[0], exact, 1e-2);
}

// Columns are slips and forces, not those of the scaled directions of an ellipse: (1, 1) m/s and (0.16, 0.04)
// 10/0.2^0.5 N, along first.
static void columns_of_an_ellipse(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\ncoordinates: {x: {rate: 1}, y: {rate: 1}, z: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2), "
        "potential: 10*z}\n"
        "contacts: {ice: {gap: z, slip: [x, y], friction: [0.4, 0.2]}, b: {normal force: 1, slip: z, friction: 0}}\n");
    carom_sim *sim = model_sim(m, "event-driven", NULL, 1e-6, 1e-6);
    carom_error err = {0};
    carom_record_def d = carom_record_default();
    d.model = m, d.sim = sim, d.memory = true, d.step = 1e-6, d.end = 1e-6, d.every = 1;
    carom_record *record = carom_record_create(&d, &err);
    if (!record) fail_msg("%s", err.text);
    assert_int_equal(carom_record_advance(record, 0, 0, &err), CAROM_OK);
    static const struct {
        const char *name;
        double is;
    } columns[] = {{"ice.slip1'", 1},       {"ice.slip2'", 1}, {"ice.friction1", -1.6},
                   {"ice.friction2", -0.4}, {"ice.force", 10}, {"b.slip'", 0}};
    for (size_t k = 0; k < sizeof columns / sizeof *columns; ++k) {
        int at = -1;
        for (int i = 0; i < carom_record_columns(record); ++i) {
            if (strcmp(carom_record_column(record, i), columns[k].name) == 0) at = i;
            if (strcmp(carom_record_column(record, i), "b.force") == 0 ||
                strstr(carom_record_column(record, i), "press"))
                fail_msg("there is a column %s", carom_record_column(record, i));
        }
        if (at < 0) fail_msg("no column %s", columns[k].name);
        const double force = columns[k].is < 0 ? sqrt(0.2) : 1; // |s| of (FV-6)
        check_near(carom_record_row(record, carom_record_rows(record) - 1)[at] * force, columns[k].is, 1e-4);
    }
    carom_record_destroy(record);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// mu = 0.1 + 0.02 N at N = 10.  And where friction has a hold on the normal force, T = (x'^2 + y'^2)/2 + x'y'/2, with
// mu = 0.1 N: N = 10 - mu N/2, so N = 10 sqrt(3) - 10, and x'' = -0.1 N^2.
static void friction_by_normal_force(void **state) {
    (void)state;
    const char *plain = "carom: 1\ncoordinates: {x: {rate: 1}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2), potential: "
                        "10*y}\ncontacts: {floor: {gap: y, slip: x, friction: 0.1 + 0.02*normal.force}}\n";
    const char *mixed = "carom: 1\ncoordinates: {x: {rate: 1}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + x'*y'), "
                        "potential: 10*y}\ncontacts: {floor: {gap: y, slip: x, friction: 0.1*normal.force}}\n";
    const double N = 10 * (sqrt(3) - 1);
    const carom_scheme *z;
    for (EACH(z)) {
        scheme_near(z->name, run(plain, z->name, 2e-3, 0.5, NAMES("x")).x[0], 1.0 / 6, fine(z, 1e-6, 2e-3));
        scheme_near(z->name, run(mixed, z->name, 2e-3, 0.1, NAMES("x'")).x[0], 1 - 0.01 * N * N, fine(z, 1e-9, 2e-2));
    }
    // The reactions of the last step are part of the state: a run that goes on from it has the same bits.
    static const char *const names[] = {"moreau-jean", "half-explicit", "mixed", "event-driven"};
    for (int k = 0; k < 4; ++k) {
        carom_model *m = good(mixed);
        carom_sim *whole = model_sim(m, names[k], NULL, 2e-3, 0.1), *rest = model_sim(m, names[k], NULL, 2e-3, 0.1);
        carom_error err = {0};
        size_t bytes = 0;
        for (int i = 0; i < 20; ++i) assert_int_equal(carom_sim_step(whole, &err), CAROM_OK);
        const void *kept = carom_sim_state(whole, &bytes);
        assert_int_equal(carom_sim_restore(rest, kept, bytes, &err), CAROM_OK);
        model_sim_run(whole);
        model_sim_run(rest);
        assert_memory_equal(carom_sim_now(whole).v, carom_sim_now(rest).v, 2 * sizeof(double));
        carom_sim_destroy(whole);
        carom_sim_destroy(rest);
        carom_model_destroy(m);
    }
}

// An ellipse, 0.4 along and 0.2 across: x'' = -10 0.16 x'/s, y'' = -10 0.04 y'/s, s^2 = 0.16 x'^2 + 0.04 y'^2.  From
// (1, 1) the speeds keep y' = x'^(1/4).  A force (3, 1) N lies inside (9/16 + 1/4 < 1) and moves nothing; (3, 1.5) lies
// outside.  Both with slips of one's own and between shapes, where the direction is that of the world or of a body
// turned by 90 degrees.
static void an_ellipse_of_friction(void **state) {
    (void)state;
    static const char slips[] = "carom: 1\ncoordinates: {x: {rate: %d}, y: {rate: %d}, z: 0}\nenergy: {kinetic: "
                                "1/2*(x'^2 + y'^2 + z'^2), potential: 10*z - %g*x - %g*y}\n"
                                "contacts: {ice: {gap: z, slip: [x, y], friction: [0.4, 0.2]}}\n";
    static const char shapes[] =
        "carom: 1\ngravity: [0, 0, -10]\nbodies: {b: {mass: 1, inertia: [1e6, 1e6, 1e6], at: [0, 0, 0.1], velocity: "
        "[1, 1, 0], axis: [0, 0, 1], angle: pi/2, shape: {sphere: 0.1}}}\n"
        "shapes: {ice: {plane: [0, 0, 1]}}\ncontacts: {c: {between: [b, ice], friction: {along: %g, across: %g, "
        "direction: [1, 0, 0]%s}}}\n";
    char own[400], held[400], slides[400], world[600], body[600];
    snprintf(own, sizeof own, slips, 1, 1, 0.0, 0.0);
    snprintf(held, sizeof held, slips, 0, 0, 3.0, 1.0);
    snprintf(slides, sizeof slides, slips, 0, 0, 3.0, 1.5);
    snprintf(world, sizeof world, shapes, 0.4, 0.2, "");
    snprintf(body, sizeof body, shapes, 0.2, 0.4, ", of: b");
    const carom_scheme *z;
    for (EACH(z)) {
        const end e = run(own, z->name, 2e-3, 0.16, NAMES("x'", "y'")),
                  h = run(held, z->name, 5e-3, 0.5, NAMES("x", "y")),
                  s = run(slides, z->name, 5e-3, 0.2, NAMES("x'", "y'"));
        scheme_near(z->name, e.x[1], pow(e.x[0], 0.25), fine(z, 1e-6, 1e-3));
        scheme_true(z->name, e.x[0] > 0.3 && e.x[0] < 0.6);
        scheme_near(z->name, hypot(h.x[0], h.x[1]), 0, 1e-12);
        scheme_true(z->name, s.x[0] > 0.01 && s.x[1] > 0.01);
        const end w = run(world, z->name, 2e-3, 0.16, NAMES("b.vx", "b.vy")),
                  b = run(body, z->name, 2e-3, 0.16, NAMES("b.vx", "b.vy"));
        for (int k = 0; k < 2; ++k) {
            scheme_near(z->name, w.x[k], e.x[k], fine(z, 1e-4, 1e-3)); // the huge inertia is not infinite
            scheme_near(z->name, b.x[k], w.x[k], fine(z, 1e-5, 1e-4));
        }
    }
}

// A crate on a belt with 2 m/s, mu g = 5 m/s^2: it moves with the belt after 0.4 s, x(1) = 2 - 0.4.  The belt gives 4
// J: half is kinetic, half lost to friction.  In space the belt runs along (1.2, 1.6, 0), on a body turned by 90
// degrees: (-1.6, 1.2, 0).
static void a_conveyor_carries(void **state) {
    (void)state;
    const char *plane = "carom: 1\ngravity: [0, -10]\nbodies: {crate: {mass: 1, inertia: 1, at: [0, 0.05], shape: "
                        "{box: [1, 0.1]}}}\nshapes: {belt: {plane: [0, 1], surface velocity: [2, 0]}}\n"
                        "contacts: {c: {between: [crate, belt], friction: 0.5}}\n";
    const char *space =
        "carom: 1\ngravity: [0, 0, -10]\nbodies:\n  b: {mass: 1, inertia: [1e6, 1e6, 1e6], at: [0, 0, 0.1], shape: "
        "{sphere: 0.1}}\n"
        "  bed: {motion: {at: [0, 0, 0], angle: pi/2, axis: [0, 0, 1]}, shape: {plane: [0, 0, 1], surface velocity: "
        "[1.2, \"1.6 + 0*t\", 0]}}\ncontacts: {c: {between: [b, bed], friction: 0.5}}\n";
    const carom_scheme *z;
    for (EACH(z)) {
        const end p = run(plane, z->name, 1e-2, 1, NAMES("crate.x", "crate.vx")),
                  s = run(space, z->name, 1e-2, 1, NAMES("b.vx", "b.vy"));
        scheme_near(z->name, p.x[0], 1.6, fine(z, 1e-6, 2e-2));
        scheme_near(z->name, p.x[1], 2, 1e-9);
        scheme_near(z->name, p.ledger.energy.external, 4, 1e-6);
        scheme_near(z->name, p.ledger.energy.friction, 2, 0.06);
        scheme_near(z->name, s.x[0], -1.6, 1e-6);
        scheme_near(z->name, s.x[1], 1.2, 1e-6);
    }
}

// A family of three: 0.1 (1 + i) 0.1 10/0.1 = 1 + i rad/s^2 stop 1 + i rad/s after 1 s.
static void families_of_bearings(void **state) {
    (void)state;
    const char *text =
        "carom: 1\nbodies: {w: {repeat: 3, body: {mass: 1, inertia: 0.1, at: [i, 0], spin: 1 + i}}}\njoints: {h: "
        "{repeat: 3, joint: {type: revolute, between: [ground, \"w[i]\"], at: [i, 0]}}}\n"
        "contacts: {f: {repeat: 3, contact: {joint: \"h[i]\", radius: 0.1, friction: 0.1*(1 + i), normal force: "
        "10}}}\n";
    const end e = run(text, "event-driven", 1e-2, 0.75, NAMES("w.0.wz", "w.1.wz", "w.2.wz"));
    for (int i = 0; i < 3; ++i) check_near(e.x[i], 0.25 * (1 + i), 1e-9);
}

static void mistakes_are_told(void **state) {
    (void)state;
    static const struct { const char *contact, *says; } cases[] = {
        {"{normal force: 1, friction: 0.1}", "has no slip"},
        {"{normal force: 1, slip: x}", "has no friction"},
        {"{normal force: 1, slip: x, friction: [1, 2]}", "has one coefficient"},
        {"{normal force: joint.force, slip: x, friction: 1}", "unknown name 'joint.force'"},
        {"{joint: h, friction: 0.1}", "add `radius:`"},
        {"{joint: h, radius: 0, friction: 0.1}", "radius must be positive, got 0"},
        {"{joint: g, radius: 1, friction: 0.1}", "there is no joint 'g'"},
        {"{joint: w, radius: 1, friction: 0.1}", "which is of type weld"},
        {"{joint: s, radius: 1, friction: 0.1}", "does not turn"},
        {"{normal force: 1, slip: x, friction: 0.1, gap: x}", "gap"},
        {"{between: [b, floor], friction: [0.1, 0.2]}", "need a direction"},
        {"{between: [b, floor], friction: {along: 0.1, across: 0.2, direction: [1, 0, 0]}}", "are planar"},
        {"{between: [b, floor], friction: {along: 0.1, across: 0.2}}", "needs `along`, `across` and `direction`"},
        {"{between: [b, floor], friction: {along: 0.1, across: 0, direction: [1, 0, 0]}}", "both must be positive"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[900];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: 1}\nenergy: {kinetic: 1/2*x'^2}\nbodies: {b: {mass: 1, inertia: 1, shape: "
                 "{circle: 1}}, c: {mass: 1, inertia: 1}, d: {mass: 1, inertia: 1}}\n"
                 "shapes: {floor: {plane: [0, 1], at: [0, -3]}}\njoints: {h: {type: revolute, between: [ground, b], "
                 "at: [0, 0]}, w: {type: weld, between: [b, c], at: [0, 0]}, s: {type: prismatic, between: [ground, "
                 "d], at: [0, 0], axis: [1, 0]}}\n"
                 "contacts: {k: %s}\n",
                 cases[i].contact);
        carom_error err = {0};
        carom_model *m = model_of(text, &err);
        if (m || !strstr(err.text, cases[i].says)) fail_msg("%s: %s", cases[i].contact, m ? "accepted" : err.text);
    }
}

// A nut of 2 kg on a screw of lead l = 0.02 m and radius r = 0.05 m, along gravity.  With the axial load F of the
// thread, pressed by F/cos and rubbed along the helix, m l a = -m g + F (1 + mu l/r) and J a = -F (l - mu r): it turns
// with a = -m g/(m l + J (1 + mu l/r)/(l - mu r)), and holds itself where mu > l/r.
static void a_nut_runs_down_a_screw_or_holds_itself(void **state) {
    (void)state;
    const double l = 0.02, r = 0.05, m = 2, J = 0.01, g = 10, mus[] = {0, 0.2, 0.35, 0.45};
    for (int k = 0; k < 4; ++k)
        for (int i = 0; i < 2; ++i) {
            const double mu = mus[k], a = mu > l / r ? 0 : -m * g / (m * l + J * (1 + mu * l / r) / (l - mu * r));
            char text[500];
            snprintf(text, sizeof text,
                     "carom: 1\ngravity: [0, 0, -10]\nbodies: {nut: {mass: 2, inertia: [0.02, 0.02, 0.01]}}\n"
                     "joints: {thread: {type: screw, between: [ground, nut], at: [0, 0, 0], axis: [0, 0, 1], pitch: "
                     "2*pi*0.02}}\ncontacts: {rub: {joint: thread, radius: 0.05, friction: %g}}\n",
                     mu);
            const end e = run(text, i ? "auto" : "event-driven", 1e-2, 0.3, NAMES("nut.z"));
            const double want = l * a * 0.3 * 0.3 / 2;
            if (!(fabs(e.x[0] - want) < 1e-8)) fail_msg("friction %g: %.12g, not %.12g", mu, e.x[0], want);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_nut_runs_down_a_screw_or_holds_itself),
        cmocka_unit_test(a_shaft_spins_down),
        cmocka_unit_test(a_brake_holds_and_slips),
        cmocka_unit_test(a_clutch_engages_and_opens),
        cmocka_unit_test(a_bearing_takes_its_own_reaction),
        cmocka_unit_test(guides_balls_and_sleeves),
        cmocka_unit_test(friction_by_normal_force),
        cmocka_unit_test(an_ellipse_of_friction),
        cmocka_unit_test(a_conveyor_carries),
        cmocka_unit_test(families_of_bearings),
        cmocka_unit_test(reactions_that_change),
        cmocka_unit_test(bearings_beside_redundant_joints),
        cmocka_unit_test(an_impact_does_not_press),
        cmocka_unit_test(columns_of_an_ellipse),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

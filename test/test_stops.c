// test_stops.c: ropes, limits and friction of joints, play of gears, against closed forms; columns of joints; shapes of
// a body by its name; starts that are projected; one rule for names in every section.
#include "ends.h"
#include <carom/event.h>

#define EACH(s) int i_ = 0; (s = scheme_with(&i_, CAROM_NO_BILATERAL | CAROM_NO_IMPACTS));

// -- ropes ------------------------------------------------------------------------------------------------------------

// From its anchor, where the gap has no direction, a ball falls 1 m at 10 m/s^2: taut at t = sqrt(0.2) with sqrt(20)
// m/s, half of it upwards then.
static void a_rope_becomes_taut(void **state) {
    (void)state;
    const char *text = "carom: 1\ngravity: [0, -10]\nbodies: {ball: {mass: 2, inertia: 1}}\n"
                       "ropes: {line: {between: [ground, ball], length: 1, restitution: 0.5}}\n";
    const double s = 0.75 - sqrt(0.2), v = sqrt(5);
    const carom_scheme *z;
    for (EACH(z)) {
        const end e = run(text, z->name, 1e-3, 0.75, NAMES("ball.y", "ball.vy"));
        scheme_near(z->name, e.x[0], -1 + v * s - 5 * s * s, fine(z, 1e-9, 1e-2));
        scheme_near(z->name, e.x[1], v - 10 * s, fine(z, 1e-9, 3e-2)); // (1 + e) g 2 h
        scheme_near(z->name, e.ledger.energy.impact, 0.75 * 20, fine(z, 1e-8, 0.2));
    }
}

// Elastic, k/m = 100: beyond 1 m it is a spring, d = g/w^2 (1 - cos w s) + v/w sin w s.
static void an_elastic_rope_is_a_spring_beyond_its_length(void **state) {
    (void)state;
    const char *text = "carom: 1\ngravity: [0, -10]\nbodies: {ball: {mass: 2, inertia: 1}}\n"
                       "ropes: {line: {between: [ground, ball], length: 1, stiffness: 200}}\n";
    const double s = 0.6 - sqrt(0.2), w = 10, d = 0.1 * (1 - cos(w * s)) + sqrt(20) / w * sin(w * s);
    const end e = run(text, "event-driven", 1e-3, 0.6, NAMES("ball.y", "line.gap", "line.force"));
    check_near(e.x[0], -1 - d, 1e-8);
    check_near(e.x[1], -d, 1e-8);
    check_near(e.x[2], 200 * d, 1e-6);
}

// Atwood: a rope through an eye, 1 kg against 3 kg, (3 - 1)/(3 + 1) g = 5 m/s^2, tension 15 N.
static void a_rope_runs_through_points(void **state) {
    (void)state;
    const char *text = "carom: 1\ngravity: [0, -10]\nbodies: {a: {mass: 1, inertia: 1, at: [0, -2]}, b: {mass: 3, "
                        "inertia: 1, at: [0, -1]}}\nropes: {line: {between: [a, ground, b], length: 3}}\n";
    const carom_scheme *z;
    for (EACH(z)) {
        const end e = run(text, z->name, 1e-3, 0.5, NAMES("a.y", "b.y", "b.vy"));
        scheme_near(z->name, e.x[0], -2 + 0.625, 5e-3);
        scheme_near(z->name, e.x[1], -1 - 0.625, 5e-3);
        scheme_near(z->name, e.x[2], -2.5, 1e-8);
    }
}

// A winch: the length falls with 0.5 m/s.
static void a_winch_pulls(void **state) {
    (void)state;
    const char *text = "carom: 1\ngravity: [0, -10]\nbodies: {load: {mass: 2, inertia: 1, at: [0, -2], velocity: [0, "
                       "0.5]}}\nropes: {line: {between: [ground, load], length: 2 - 0.5*t}}\n";
    const end e = run(text, "event-driven", 1e-2, 2, NAMES("load.y"));
    check_near(e.x[0], -1, 1e-10);
}

// -- limits -----------------------------------------------------------------------------------------------------------

// 1 m/s against a stop at 0.5, e = 0.5: back with 0.5 m/s; 0.75 s later it is at 0.125.
static void a_slide_hits_its_stop(void **state) {
    (void)state;
    const char *text = "carom: 1\nbodies: {b: {mass: 2, inertia: 1, velocity: [1, 0]}}\n"
                       "joints: {rail: {type: prismatic, between: [ground, b], at: [0, 0], axis: [1, 0], limits: "
                       "{lower: -0.1, upper: 0.5, restitution: 0.5}}}\n";
    const carom_scheme *z;
    for (EACH(z)) {
        const end e = run(text, z->name, 1e-3, 1.25, NAMES("b.x", "rail.shift", "rail.shift'"));
        scheme_near(z->name, e.x[0], 0.125, fine(z, 1e-9, 2e-3));
        scheme_near(z->name, e.x[1], e.x[0], 1e-12);
        scheme_near(z->name, e.x[2], -0.5, 1e-9);
    }
}

// In space, by type: a coordinate that moves with 1 per second from 0 has its stop at 0.5, e = 0.5; angles counted
// beyond half a turn at 4.
static void stops_of_every_joint(void **state) {
    (void)state;
    static const struct { const char *joint, *motion, *limits, *rate; double stop, end; } cases[] = {
        {"type: revolute, axis: [0, 0, 1]", "spin: [0, 0, 1]", "upper: 4", "b.wz", 4, 5},
        {"type: revolute, axis: [0, 0, 1]", "spin: [0, 0, -1]", "lower: -4", "b.wz", 4, 5},
        {"type: prismatic, axis: [0, 0, 1]", "velocity: [0, 0, 1]", "upper: 0.5", "b.vz", 0.5, 1},
        {"type: cylindrical, axis: [0, 0, 1]", "velocity: [0, 0, 1]", "of: shift, upper: 0.5", "b.vz", 0.5, 1},
        {"type: cylindrical, axis: [0, 0, 1]", "spin: [0, 0, 1]", "upper: 4", "b.wz", 4, 5},
        {"type: planar, axis: [0, 0, 1]", "velocity: [1, 0, 0]", "of: shift1, upper: 0.5", "b.vx", 0.5, 1},
        {"type: planar, axis: [0, 0, 1]", "velocity: [0, 1, 0]", "of: shift2, upper: 0.5", "b.vy", 0.5, 1},
        {"type: planar, axis: [0, 0, 1]", "spin: [0, 0, 1]", "of: angle, upper: 4", "b.wz", 4, 5},
        {"type: spherical, axis: [0, 0, 1]", "spin: [1, 0, 0]", "upper: 0.5", "b.wx", 0.5, 1},
        {"type: universal, axis: [[1, 0, 0], [0, 1, 0]]", "spin: [1, 0, 0]", "upper: 0.5", "b.wx", 0.5, 1},
        {"type: universal, axis: [[1, 0, 0], [0, 1, 0]]", "spin: [0, -1, 0]", "of: angle2, upper: 0.5", "b.wy", 0.5, 1},
        {"type: screw, axis: [0, 0, 1], pitch: 2*pi", "spin: [0, 0, 1]", "of: shift, upper: 0.5", "b.vz", 0.5, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[600];
        snprintf(text, sizeof text,
                 "carom: 1\nbodies: {b: {mass: 2, inertia: [1, 1, 1], %s}}\njoints: {j: {between: [ground, b], at: [0, "
                 "0, 0], %s, limits: {%s, restitution: 0.5}}}\n",
                 cases[k].motion, cases[k].joint, cases[k].limits);
        const end e = run(text, "event-driven", 1e-2, cases[k].end, NAMES(cases[k].rate));
        scheme_near(cases[k].joint, fabs(e.x[0]), 0.5, 1e-8);
        scheme_near(cases[k].joint, e.ledger.impacts, 1, 0);
    }
}

// A torque of 3 N m presses a rod against its elastic stop of 60 N m/rad at 0.2: it rests on average at 0.25, and turns
// back at 0.3, where it came from: d = 0.05 (1 - cos(w s)), w^2 = 60.
static void an_elastic_stop(void **state) {
    (void)state;
    const char *text = "carom: 1\nbodies: {rod: {mass: 1, inertia: 1}}\njoints: {pin: {type: revolute, between: "
        "[ground, "
                       "rod], at: [0, 0], limits: {upper: 0, stiffness: 60}}}\n"
                       "motors: {m: {joint: pin, torque: 3}}\n";
    const end e = run(text, "event-driven", 1e-3, 0.3, NAMES("rod.angle", "pin.upper.force"));
    check_near(e.x[0], 0.05 * (1 - cos(sqrt(60) * 0.3)), 1e-9);
    check_near(e.x[1], 60 * e.x[0], 1e-12);
}

// Ratio 1, wheels of 1 kg m^2: the teeth meet after 0.1 rad at 1 rad/s, e = 0.5 leaves 0.25 and 0.75 rad/s; after 0.2
// rad at 0.5 rad/s the other flank: 0.625 and 0.375.
static void a_gear_has_play(void **state) {
    (void)state;
    const char *text = "carom: 1\nbodies: {a: {mass: 1, inertia: 1, spin: 1}, b: {mass: 1, inertia: 1, at: [1, 0]}}\n"
                       "joints: {p: {type: revolute, between: [ground, a], at: [0, 0]}, r: {type: revolute, between: "
                       "[ground, b], at: [1, 0]}, mesh: {type: gear, joints: [p, r], ratio: 1, backlash: {width: 0.2, "
                       "restitution: 0.5}}}\n";
    const carom_scheme *z;
    for (EACH(z)) {
        const end e = run(text, z->name, 1e-3, 0.6, NAMES("a.wz", "b.wz", "p.angle", "r.angle'"));
        scheme_near(z->name, e.x[0], 0.625, 1e-9);
        scheme_near(z->name, e.x[1], 0.375, 1e-9);
        scheme_near(z->name, e.x[2], 0.1 + 0.25 * 0.4 + 0.625 * 0.1, fine(z, 1e-9, 2e-3));
        scheme_near(z->name, e.x[3], e.x[1], 1e-14);
    }
    const char *pitched = "carom: 1\nbodies: {a: {mass: 1, inertia: 1, spin: 1}, b: {mass: 1, inertia: 1, at: [1, "
        "0]}}\n"
                          "joints: {p: {type: revolute, between: [ground, a], at: [0, 0]}, r: {type: prismatic, "
                          "between: "
                          "[ground, b], at: [1, 0], axis: [0, 1]}, mesh: {type: gear, joints: [p, r], ratio: 0.5, "
                          "backlash: 0.1 m}}\n";
    const end e = run(pitched, "event-driven", 1e-3, 0.5, NAMES("a.wz", "b.vy")); // e = 0: they go on together
    check_near(e.x[1], 0.5 * e.x[0], 1e-12);
    check_near(e.x[0] + 0.5 * e.x[1], 1, 1e-12);
}

// -- friction ---------------------------------------------------------------------------------------------------------

static void joints_rub(void **state) {
    (void)state;
    static const struct { const char *text, *rate; double expected; } cases[] = {
        // a bearing of 0.02 m under 20 N, mu = 0.3: 0.12 N m on 0.01 kg m^2
        {"gravity: [0, -10]\nbodies: {b: {mass: 2, inertia: 0.01, spin: 6}}\njoints: {j: {type: revolute, between: "
         "[ground, b], at: [0, 0], friction: 0.3, radius: 0.02}}", "b.wz", 6 - 12 * 0.2},
        // a slide under its weight
        {"gravity: [0, -10]\nbodies: {b: {mass: 2, inertia: 1, velocity: [1, 0]}}\njoints: {j: {type: prismatic, "
         "between: [ground, b], at: [0, 0], axis: [1, 0], friction: 0.2}}", "b.vx", 1 - 2 * 0.2},
        // a plate on its plane
        {"gravity: [0, 0, -10]\nbodies: {b: {mass: 2, inertia: [1, 1, 1], velocity: [3, 4, 0]}}\njoints: {j: {type: "
         "planar, between: [ground, b], at: [0, 0, 0], axis: [0, 0, 1], friction: 0.2}}", "b.vx",
             3 * (5 - 2 * 0.2) / 5},
        // a cross of two bearings, of which the second turns: mu r N = 0.3 0.02 20
        {"gravity: [0, 0, -10]\nbodies: {b: {mass: 2, inertia: [0.01, 0.01, 0.01], spin: [0, 6, 0]}}\njoints: {j: "
            "{type: "
         "universal, between: [ground, b], at: [0, 0, 0], axis: [[1, 0, 0], [0, 1, 0]], friction: 0.3, radius: 0.02}}",
         "b.wy", 6 - 12 * 0.2},
        // a nut runs down: phi'' = -m g/(m l + J (1 + mu l/r)/(l - mu r)), lead l = 0.1, r = 0.2, mu = 0.1
        {"gravity: [0, 0, -10]\nbodies: {b: {mass: 2, inertia: [1, 1, 0.05]}}\njoints: {j: {type: screw, between: "
            "[ground, "
         "b], at: [0, 0, 0], axis: [0, 0, 1], pitch: 0.1*2*pi, friction: 0.1, radius: 0.2}}", "b.wz",
         -0.2 * 20 / (2 * 0.1 + 0.05 * (1 + 0.05) / (0.1 - 0.02))}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[600];
        snprintf(text, sizeof text, "carom: 1\n%s\n", cases[k].text);
        const end e = run(text, "event-driven", 1e-3, 0.2, NAMES(cases[k].rate));
        if (!(fabs(e.x[0] - cases[k].expected) < 1e-8))
            fail_msg("case %zu: %.12g, expected %.12g", k, e.x[0], cases[k].expected);
    }
}

// -- the start --------------------------------------------------------------------------------------------------------

// A ball 0.01 inside the floor; a rod whose velocity leaves its pin: it turns about it with the angular momentum that
// it has, 0.5/0.35 rad/s of 1 m/s.
static void starts_are_projected(void **state) {
    (void)state;
    const char *text = "carom: 1\nstart: project\nbodies: {ball: {mass: 1, inertia: 1, at: [0, 0.09], shape: {circle: "
                       "0.1}}, rod: {mass: 1, inertia: 0.1, at: [0.5, 1], velocity: [1, 1], spin: 0}}\n"
                       "shapes: {floor: {plane: [0, 1]}}\njoints: {pin: {type: revolute, between: [ground, rod], "
                       "points: [[0, 1], [-0.5, 0]]}}\ncontacts: {c: {between: [ball, floor]}}\n";
    carom_model *m = good(text);
    check_near(carom_model_q0(m)[1], 0.1, 1e-15);
    check_near(carom_model_v0(m)[3], 0, 1e-14);
    check_near(carom_model_v0(m)[5], 0.5 / 0.35, 1e-12);
    assert_string_equal(carom_model_settled(m),
                        "start: contact 'c' was violated by 0.01; positions moved, 'ball.y' farthest, by 0.01; "
                        "velocities against joint 'pin' (rate 1) are projected, that of 'rod.angle' most, by 1.42857");
    carom_model_destroy(m);
    // written gaps, a corner: both walls, by the shortest way; a wall that is not violated stays out of it
    m = good("carom: 1\nstart: project\ncoordinates: {x: -0.1, y: -0.2, z: 0.3}\nenergy: {kinetic: 10*x'^2 + y'^2 + "
             "z'^2}\ncontacts: {a: {gap: x}, b: {gap: x + y}, c: {gap: z}}\n");
    check_near(carom_model_q0(m)[0], 0, 1e-14);
    check_near(carom_model_q0(m)[1], 0, 1e-14);
    check_near(carom_model_q0(m)[2], 0.3, 0);
    carom_model_destroy(m);
    // one wall suffices: the way out of the second, by the mass, leaves the first
    m = good("carom: 1\nstart: project\ncoordinates: {x: -0.1, y: -0.2}\nenergy: {kinetic: x'^2 + y'^2}\n"
             "contacts: {a: {gap: x}, b: {gap: x + y}}\n");
    check_near(carom_model_q0(m)[0], 0.05, 1e-14);
    check_near(carom_model_q0(m)[1], -0.05, 1e-14);
    carom_model_destroy(m);
    // nothing to do: nothing is said
    m = good("carom: 1\nstart: project\ncoordinates: {x: 0.1}\nenergy: {kinetic: x'^2}\ncontacts: {a: {gap: x}}\n");
    assert_null(carom_model_settled(m));
    carom_model_destroy(m);
}

// -- names ------------------------------------------------------------------------------------------------------------

static void a_body_means_all_its_shapes(void **state) {
    (void)state;
    static const struct { const char *contact; int count; } cases[] = {
        {"between: [table, floor]", 3}, {"between: [table, ball]", 3}, {"among: [table, ball]", 3},
        {"between: [table, ground]", 6}, {"between: [floor, table, wall]", 6},
        {"between: [table, ground], ignore: [[table, wall]]", 3}, {"between: [[table, ball], floor]", 4}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[600];
        snprintf(text, sizeof text,
                 "carom: 1\nbodies: {table: {mass: 1, inertia: 1, at: [0, 1], shape: {circle: 0.1}, shapes: {a: "
                 "{circle: "
                 "0.1, at: [-0.3, 0]}, b: {circle: 0.1, at: [0.3, 0]}}}, ball: {mass: 1, inertia: 1, at: [0, 3], "
                 "shape: "
                 "{circle: 0.1}}}\nshapes: {floor: {plane: [0, 1]}, wall: {plane: [1, 0], at: [-1, 0]}}\n"
                 "contacts: {c: {%s}}\n", cases[k].contact);
        carom_model *m = good(text);
        if (carom_model_count(m).contacts != cases[k].count)
            fail_msg("%s: %d contacts", cases[k].contact, carom_model_count(m).contacts);
        carom_model_destroy(m);
    }
}

#define ONE "bodies: {b: {mass: 1, inertia: 1}}\n"
static void names_have_no_spaces_anywhere(void **state) {
    (void)state;
    static const char *const models[] = {
        ONE "parameters: {a b: 1}", ONE "tables: {a b: {x: [0, 1], y: [0, 1]}}", ONE "inputs: {a b: 0}",
        ONE "controllers: {a b: {sample: 1, outputs: {u: 1}}}", ONE "controllers: {c: {sample: 1, states: {a b: 1}}}",
        ONE "controllers: {c: {sample: 1, outputs: {a b: 1}}}",
        "coordinates: {a b: 0}\nenergy: {kinetic: 1}", "bodies: {a b: {mass: 1, inertia: 1}}",
        "bodies: {b: {mass: 1, inertia: 1, points: {a b: [0, 0]}}}",
        "bodies: {b: {mass: 1, inertia: 1, shapes: {a b: {circle: 1}}}}",
        "bodies: {a b: {repeat: 2, body: {mass: 1, inertia: 1}}}", ONE "shapes: {a b: {plane: [0, 1]}}",
        ONE "joints: {a b: {type: revolute, between: [ground, b], at: [0, 0]}}",
        ONE "ropes: {a b: {between: [ground, b], length: 1}}",
        ONE "springs: {a b: {between: [ground, b], points: [[1, 0], [0, 0]], stiffness: 1}}",
        ONE "joints: {j: {type: revolute, between: [ground, b], at: [0, 0]}}\nmotors: {a b: {joint: j, torque: 1}}",
        ONE "loads: {a b: {on: b, force: [1, 0]}}",
        "flexible: {a b: {type: bar, length: 1, elements: 2, density: 1, modulus: 1, area: 1}}",
        "flexible: {f: {type: bar, length: 1, elements: 2, density: 1, modulus: 1, area: 1, points: {a b: 0.5}}}",
        ONE "let: {a b: t}", ONE "constraints: {a b: b.x}", ONE "materials: {a b: {friction: 0.1}}",
        ONE "contacts: {a b: {gap: b.y + 1}}", ONE "outputs: {a b: t}", ONE "exact: {a b: t}"};
    for (size_t k = 0; k < sizeof models / sizeof *models; ++k) {
        char text[400];
        carom_error err = {0};
        snprintf(text, sizeof text, "carom: 1\n%s\n", models[k]);
        carom_model *m = model_of(text, &err);
        if (m) fail_msg("%s is accepted", models[k]);
        if (!strstr(err.text, "'a b' is not a name; names are letters, digits, _ and dots inside, and start with a "
            "letter"))
            fail_msg("%s: %s", models[k], err.text);
    }
    carom_model_destroy(good("carom: 1\n" ONE "draw: {a b: {point: [0, 0]}}\n")); // a label
}

// Angles in space are columns where they are asked for, others always.
static void coordinates_of_joints_are_columns(void **state) {
    (void)state;
    static const struct { const char *body, *joint, *record; int outputs; } cases[] = {
        {"inertia: 1", "type: revolute, at: [0, 0]", "", 2},
        {"inertia: 1", "type: revolute, at: [0, 0]", "record: {joints: none}", 0},
        {"inertia: [1, 1, 1]", "type: revolute, at: [0, 0, 0], axis: [0, 0, 1]", "", 0},
        {"inertia: [1, 1, 1]", "type: revolute, at: [0, 0, 0], axis: [0, 0, 1]", "record: {joints: j}", 1}, // its rate
        {"inertia: [1, 1, 1]", "type: cylindrical, at: [0, 0, 0], axis: [0, 0, 1]", "record: {joints: all}", 3},
        {"inertia: [1, 1, 1]", "type: universal, at: [0, 0, 0], axis: [[1, 0, 0], [0, 1, 0]]", "", 4}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\nbodies: {b: {mass: 1, %s}}\njoints: {j: {between: [ground, b], %s}}\n%s\n", cases[k].body,
                 cases[k].joint, cases[k].record);
        carom_model *m = good(text);
        if (carom_model_count(m).outputs != cases[k].outputs)
            fail_msg("%s %s: %d outputs", cases[k].joint, cases[k].record, carom_model_count(m).outputs);
        carom_model_destroy(m);
    }
}

#define PIN "joints: {j: {type: revolute, between: [ground, b], at: [0, 0], "
static void mistakes_are_named(void **state) {
    (void)state;
    static const struct { const char *text, *message; } cases[] = {
        {PIN "limits: {}}}", "limits of joint 'j' are empty"},
        {PIN "limits: {lower: 1, upper: 0}}}", "upper is 0 and lower 1; upper must be larger"},
        {PIN "limits: {of: shift, upper: 1}}}", "joint 'j' has no coordinate 'shift'; it has angle"},
        {PIN "limits: {upper: 1 m}}}", "quantity of another kind"},
        {PIN "limits: {upper: b.wz}}}", "depends on rates"},
        {PIN "limits: {lower: 1, upper: 2}}}", "negative initial gap"},
        {PIN "limits: {upper: 1, stiffness: 5, restitution: 0.5}}}", "has a stiffness, so forces act and no impacts"},
        {PIN "radius: 0.1}}", "joint 'j' has a radius and no friction"},
        {PIN "friction: 0.1}}", "add `radius:`"},
        {PIN "backlash: 0.1}}", "'backlash' does not apply to a revolute joint"},
        {"joints: {j: {type: weld, between: [ground, b], at: [0, 0], limits: {upper: 1}}}", "no coordinate that could"},
        {"joints: {j: {type: weld, between: [ground, b], at: [0, 0], friction: 0.1}}", "friction acts between "
            "surfaces"},
        {PIN "}, k: {type: revolute, between: [ground, c], at: [0, 0]}, g: {type: gear, joints: [j, k], ratio: 1, "
            "backlash: "
         "-1}}", "the width of a backlash must be positive, got -1"},
        {"ropes: {r: {between: [ground, x], length: 1}}", "unknown body 'x'"},
        {"ropes: {r: {between: [ground], length: 1}}", "rope 'r' connects bodies"},
        {"ropes: {r: {between: [ground, b]}}", "coincide initially; add `length:`"},
        {"ropes: {r: {between: [ground, b], length: -1}}", "the length of a rope must be positive, got -1"},
        {"ropes: {r: {between: [b, b], length: 1}}", "from a point to the same point"},
        {"start: maybe", "start must be given or project"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char text[500];
        carom_error err = {0};
        snprintf(text, sizeof text, "carom: 1\nbodies: {b: {mass: 1, inertia: 1}, c: {mass: 1, inertia: 1}}\n%s\n",
                 cases[k].text);
        carom_model *m = model_of(text, &err);
        if (m) fail_msg("accepted: %s", cases[k].text);
        if (!strstr(err.text, cases[k].message)) fail_msg("%s\n says %s", cases[k].text, err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rope_becomes_taut),
        cmocka_unit_test(an_elastic_rope_is_a_spring_beyond_its_length),
        cmocka_unit_test(a_rope_runs_through_points),
        cmocka_unit_test(a_winch_pulls),
        cmocka_unit_test(a_slide_hits_its_stop),
        cmocka_unit_test(stops_of_every_joint),
        cmocka_unit_test(an_elastic_stop),
        cmocka_unit_test(a_gear_has_play),
        cmocka_unit_test(joints_rub),
        cmocka_unit_test(starts_are_projected),
        cmocka_unit_test(a_body_means_all_its_shapes),
        cmocka_unit_test(names_have_no_spaces_anywhere),
        cmocka_unit_test(coordinates_of_joints_are_columns),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

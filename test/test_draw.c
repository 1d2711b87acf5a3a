// test_draw.c: what a model draws: shapes from expressions, and forces that point where they push.
#include "model_text.h"
#include <carom/draw.h>

#define H "carom: 1\ncoordinates: {x: {at: 1}, y: {at: 2}, th: {at: 0.3}}\nenergy: {kinetic: x'^2 + y'^2 + th'^2}\n"

static carom_drawing *drawing_of(const carom_model *m) {
    carom_error err = {0};
    carom_drawing *d = carom_drawing_create(m, &err);
    if (!d) fail_msg("%s", err.text);
    return d;
}

// The numbers of all shapes at the model's initial state, for free().
static double *values_at(const carom_model *m, carom_drawing *d, const double *q) {
    double *out = calloc((size_t)carom_drawing_values(d) + 1, sizeof *out);
    assert_non_null(out);
    carom_drawing_eval(d, 0.5, q, carom_model_v0(m), out);
    return out;
}

static int find(const carom_drawing *d, carom_figure figure, const char *name) {
    for (int i = 0; i < carom_drawing_shapes(d); ++i) {
        const carom_drawn s = carom_drawing_shape(d, i);
        if (s.figure == figure && strcmp(s.name, name) == 0) return i;
    }
    fail_msg("no shape '%s'", name);
    return -1;
}

static void shapes_are_placed_by_their_expressions(void **state) {
    (void)state;
    carom_model *m = good(H "parameters: {R: 0.25}\n"
                            "draw:\n"
                            "  ball: {circle: 2*R, at: [x, y + t], angle: th, colour: orange, trace: yes}\n"
                            "  rod: {segment: [[0, 0], [x*y, 3]], width: R/5, color: \"#12abEF\"}\n"
                            "  block: {box: [R, 1], at: [x, -y]}\n"
                            "  way: {line: [[0, 0], [1, x], [2, y]]}\n"
                            "  hinge: {point: [th, 7]}\n");
    carom_drawing *d = drawing_of(m);
    assert_int_equal(carom_drawing_dim(d), 2);
    assert_int_equal(carom_drawing_shapes(d), 5);
    const double q[3] = {1.5, 2.5, -0.75};
    double *x = values_at(m, d, q);
    const struct { carom_figure figure; const char *name; int sizes, points, turn; double value[7]; } want[] = {
        {CAROM_CIRCLE, "ball", 1, 1, 1, {0.5, 1.5, 3, -0.75}},
        {CAROM_SEGMENT, "rod", 1, 2, 0, {0.05, 0, 0, 3.75, 3}},
        {CAROM_BOX, "block", 2, 1, 0, {0.25, 1, 1.5, -2.5}},
        {CAROM_LINE, "way", 0, 3, 0, {0, 0, 1, 1.5, 2, 2.5}},
        {CAROM_POINT, "hinge", 0, 1, 0, {-0.75, 7}},
    };
    for (size_t i = 0; i < sizeof want / sizeof *want; ++i) {
        const carom_drawn s = carom_drawing_shape(d, find(d, want[i].figure, want[i].name));
        assert_int_equal(s.sizes, want[i].sizes);
        assert_int_equal(s.points, want[i].points);
        assert_int_equal(s.rotation, want[i].turn);
        for (int k = 0; k < s.sizes + 2 * s.points + s.rotation; ++k)
            assert_close(x[s.first + k], want[i].value[k], 1e-15);
    }
    assert_string_equal(carom_drawing_shape(d, 0).colour, "orange");
    assert_true(carom_drawing_shape(d, 0).trace);
    assert_string_equal(carom_drawing_shape(d, 1).colour, "#12abEF");
    assert_null(carom_drawing_shape(d, 2).colour);
    free(x);
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

static void spatial_shapes_have_three_coordinates_and_a_turn(void **state) {
    (void)state;
    carom_model *m = good(H "draw:\n"
                            "  die: {box: [1, 2, 3], at: [x, y, th], turn: [0, 0, th]}\n"
                            "  ball: {sphere: 0.5, at: [0, 0, x]}\n"
                            "  drum: {cylinder: [1, 2], at: [0, 0, 0], turn: [cos(th), sin(th), 0, 0]}\n");
    carom_drawing *d = drawing_of(m);
    assert_int_equal(carom_drawing_dim(d), 3);
    double *x = values_at(m, d, carom_model_q0(m));
    const carom_drawn die = carom_drawing_shape(d, 0), drum = carom_drawing_shape(d, 2);
    assert_int_equal(die.sizes, 3);
    assert_int_equal(die.rotation, 3);
    assert_int_equal(drum.rotation, 4);
    assert_close(x[die.first + 5], 0.3, 0);
    assert_close(x[die.first + 8], 0.3, 0);
    assert_close(x[drum.first + 2 + 3], cos(0.3), 1e-16);
    free(x);
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

// A corner of a tilted block: the force that belongs to the gap is (0, 1) whatever the tilt, though it acts on three
// coordinates.
static void the_direction_of_a_force_follows_from_place_and_gap(void **state) {
    (void)state;
    carom_model *m =
        good(H "contacts:\n"
               "  corner: {gap: y + sin(th) - 0.5*cos(th), slip: x + cos(th) + 0.5*sin(th), friction: 0.3}\n"
               "  slope: {gap: 0.6*x + 0.8*y}\n"
               "draw:\n"
               "  contacts:\n"
               "    corner: [x + cos(th) + 0.5*sin(th), y + sin(th) - 0.5*cos(th)]\n"
               "    slope: {at: [x, y]}\n");
    carom_drawing *d = drawing_of(m);
    const carom_drawn corner = carom_drawing_shape(d, find(d, CAROM_CONTACT_MARKER, "corner"));
    const carom_drawn slope = carom_drawing_shape(d, find(d, CAROM_CONTACT_MARKER, "slope"));
    assert_int_equal(corner.id, 0);
    assert_int_equal(corner.points, 3); // place, normal, tangent
    assert_int_equal(slope.points, 2);
    for (int k = 0; k < 20; ++k) {
        const double q[3] = {0.1 * k, -0.2 * k, 0.3 * k};
        double *x = values_at(m, d, q);
        const double *p = x + corner.first, *s = x + slope.first;
        assert_close(p[0], q[0] + cos(q[2]) + 0.5 * sin(q[2]), 1e-14);
        assert_close(p[2], 0, 1e-12), assert_close(p[3], 1, 1e-12); // normal
        assert_close(p[4], 1, 1e-12), assert_close(p[5], 0, 1e-12); // tangent
        assert_close(s[2], 0.6, 1e-12), assert_close(s[3], 0.8, 1e-12);
        free(x);
    }
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

static void a_direction_that_cannot_be_known_is_the_one_that_is_written(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\ncoordinates: {y: 1}\nenergy: {kinetic: y'^2}\ncontacts: {ground: {gap: y}, step: {gap: 2*y}}\n"
             "draw: {contacts: {ground: {at: [3, 0], normal: [0, 1]}, step: [0, y]}}\n");
    carom_drawing *d = drawing_of(m);
    double *x = values_at(m, d, carom_model_q0(m));
    const double *ground = x + carom_drawing_shape(d, 0).first, *step = x + carom_drawing_shape(d, 1).first;
    assert_true(ground[2] == 0 && ground[3] == 1);
    assert_close(step[2], 0, 1e-15); // one coordinate moves the place: of all forces that fit, the smallest
    assert_close(step[3], 2, 1e-15); // a gap of twice the distance: its force counts twice
    free(x);
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

// A groove has two sides, y - x and y + x: their forces at the place of the gap are along (-1, 1) and (1, 1), and a
// side may have a place of its own.
static void the_place_of_a_gap_is_that_of_its_parts(void **state) {
    (void)state;
    static const char *const places[] = {"{v: [x, y]}", "{v: {at: [x, y], colour: red}, v.2: [x, y - 1]}",
                                         "{v.2: [x, y - 1], v: {at: [x, y], colour: red}}"};
    for (int i = 0; i < 3; ++i) {
        char text[500];
        snprintf(text, sizeof text, H "contacts: {floor: {gap: y}, v: {gap: y - abs(x)}}\ndraw: {contacts: %s}\n",
                 places[i]);
        carom_model *m = good(text);
        carom_drawing *d = drawing_of(m);
        assert_int_equal(carom_drawing_shapes(d), 2);
        const carom_drawn side[2] = {carom_drawing_shape(d, find(d, CAROM_CONTACT_MARKER, "v.1")),
                                     carom_drawing_shape(d, find(d, CAROM_CONTACT_MARKER, "v.2"))};
        double *x = values_at(m, d, carom_model_q0(m)); // at (1, 2)
        for (int k = 0; k < 2; ++k) {
            const double *p = x + side[k].first, high = i > 0 && k == 1 ? 1 : 2, sign = k == 0 ? -1 : 1;
            assert_int_equal(side[k].id, 1 + k);
            assert_true(p[0] == 1 && p[1] == high);
            assert_close(p[2], sign, 1e-14), assert_close(p[3], 1, 1e-14);
            assert_int_equal(side[k].colour != NULL, i > 0 && k == 0);
        }
        free(x);
        carom_drawing_destroy(d);
        carom_model_destroy(m);
    }
}

static void every_shipped_model_draws_itself_and_its_contacts(void **state) {
    (void)state;
    for (int k = 0; shipped[k]; ++k) {
        carom_model *m = shipped_model(shipped[k]);
        carom_drawing *d = drawing_of(m);
        const carom_model_sizes n = carom_model_count(m);
        int touches = 0;
        double *x = values_at(m, d, carom_model_q0(m));
        for (int i = 0; i < carom_drawing_values(d); ++i) assert_true(isfinite(x[i]));
        for (int i = 0; i < carom_drawing_shapes(d); ++i) {
            const carom_drawn s = carom_drawing_shape(d, i);
            if (s.figure != CAROM_CONTACT_MARKER) continue;
            touches += s.id >= n.constraints;
            assert_close(hypot(x[s.first + 2], x[s.first + 3]), 1, 1e-9); // their gaps are distances
        }
        assert_int_equal(touches, n.contacts);
        assert_true(carom_drawing_shapes(d) > touches);
        free(x);
        carom_drawing_destroy(d);
        carom_model_destroy(m);
    }
}

// The state after a run, bit for bit.
static void end_of_run(const char *text, double *q) {
    carom_error err = {0};
    carom_model *m = good(text);
    carom_sim_def def = sim_def(m, "moreau-jean", NULL, 1e-3, 1);
    carom_sim *sim = carom_sim_create(&def, &err);
    if (!sim) fail_msg("%s", err.text);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    memcpy(q, carom_sim_now(sim).q, 3 * sizeof *q);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static void drawing_does_not_change_a_bit_of_the_motion(void **state) {
    (void)state;
#define M "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 1}, th: {at: 0.3, rate: 2}}\n" \
          "energy: {kinetic: x'^2 + y'^2 + (1 + 0.1*x*sin(th))*th'^2, potential: 10*y + cos(th)*x}\n" \
          "contacts: {c: {gap: y - 0.5*cos(th)^2, restitution: 0.5}}\n"
    double plain[3], drawn[3];
    end_of_run(M, plain);
    end_of_run(M "draw: {a: {circle: 1, at: [sin(th)*x + y, cos(th)^2*0.5]}, contacts: {c: [x*y, y - th*0.5]}}\n",
               drawn);
    assert_memory_equal(plain, drawn, sizeof plain);
}

#define B "carom: 1\nsimulation: {scheme: moreau-jean, step: 1e-3, end: 1}\ngravity: [0, -9.81]\n"

static void bodies_draw_themselves(void **state) {
    (void)state;
    carom_model *m = good(B "bodies:\n"
                            "  disc: {mass: 2, inertia: 0.25, at: [1, 2], angle: 0.5}\n"
                            "  rod: {mass: 1, inertia: 0.1, at: [3, 0], angle: pi/2, points: {a: [-1, 0], b: [1, 0]}}\n"
                            "  hidden: {mass: 1, inertia: 1}\n"
                            "  car: {mass: 1, inertia: 1, at: [5, 1], angle: pi/2}\n"
                            "draw:\n"
                            "  hidden: none\n"
                            "  wheel: {circle: 0.2, at: [1, -0.5], of: car}\n"
                            "  chassis: {box: [2, 1], of: car, angle: 0.25}\n");
    carom_drawing *d = drawing_of(m);
    assert_int_equal(carom_drawing_dim(d), 2);
    double *x = values_at(m, d, carom_model_q0(m));
    const carom_drawn disc = carom_drawing_shape(d, find(d, CAROM_CIRCLE, "disc"));
    assert_close(x[disc.first], 0.5, 1e-15); // J = m r^2/2
    assert_close(x[disc.first + 1], 1, 0);
    assert_close(x[disc.first + 3], 0.5, 0);
    const carom_drawn rod = carom_drawing_shape(d, find(d, CAROM_SEGMENT, "rod"));
    const double way[] = {3, -1, 3, 0, 3, 1}; // a, the centre of mass, b
    assert_int_equal(rod.points, 3);
    for (int i = 0; i < 6; ++i) assert_close(x[rod.first + i], way[i], 1e-15);
    find(d, CAROM_POINT, "a");
    const carom_drawn wheel = carom_drawing_shape(d, find(d, CAROM_CIRCLE, "wheel")),
                      chassis = carom_drawing_shape(d, find(d, CAROM_BOX, "chassis"));
    assert_close(x[wheel.first + 1], 5.5, 1e-15); // turned by a right angle
    assert_close(x[wheel.first + 2], 2, 1e-15);
    assert_close(x[chassis.first + 2], 5, 1e-15);
    assert_close(x[chassis.first + 4], acos(0) + 0.25, 1e-15);
    for (int i = 0; i < carom_drawing_shapes(d); ++i) {
        const char *name = carom_drawing_shape(d, i).name;
        assert_true(strcmp(name, "hidden") != 0 && strcmp(name, "car") != 0);
    }
    free(x);
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

static void shapes_of_bodies_and_their_contacts_are_seen(void **state) {
    (void)state;
    carom_model *m = good(B "shapes: {floor: {plane: [0, 1]}, drum: {circle: 0.5, at: [3, 0]}}\n"
                            "bodies:\n"
                            "  ball: {mass: 1, inertia: 1, at: [0, 0.1], shape: {circle: 0.1, at: [0, 0.05]}}\n"
                            "  bar: {mass: 1, inertia: 1, at: [1, 1], angle: pi/2, shape: {capsule: [0.1, 0.6]}}\n"
                            "contacts: {land: {between: [ball, floor], friction: 0.1}}\n");
    carom_drawing *d = drawing_of(m);
    double *x = values_at(m, d, carom_model_q0(m));
    const carom_drawn ball = carom_drawing_shape(d, find(d, CAROM_CIRCLE, "ball")),
                      bar = carom_drawing_shape(d, find(d, CAROM_SEGMENT, "bar"));
    const double circle[] = {0.1, 0, 0.15, 0}, ends[] = {0.2, 1, 0.7, 1, 1.3}, touch[] = {0, 0.05, 0, 1, 1, 0};
    for (int i = 0; i < 4; ++i) assert_close(x[ball.first + i], circle[i], 1e-15);
    for (int i = 0; i < 5; ++i) assert_close(x[bar.first + i], ends[i], 1e-15);
    const carom_drawn land = carom_drawing_shape(d, find(d, CAROM_CONTACT_MARKER, "land"));
    assert_int_equal(land.points, 3);
    for (int i = 0; i < 6; ++i) assert_close(x[land.first + i], touch[i], 1e-15); // the lowest point, normal, tangent
    assert_string_equal(carom_drawing_shape(d, find(d, CAROM_CIRCLE, "drum")).colour, "grey");
    const carom_drawn floor = carom_drawing_shape(d, find(d, CAROM_WALL, "floor"));
    assert_true(x[floor.first] < x[floor.first + 2]); // solid on the right-hand side of who walks along
    assert_close(x[floor.first + 1], 0, 1e-15);
    free(x);
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

// Turned by their bodies, then by themselves: corners are where R_body R_shape says.
static void shapes_in_space_are_turned_with_their_bodies(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nbodies:\n"
                          "  a: {mass: 1, inertia: [1, 1, 1], axis: [1, 2, -1], angle: 0.7, shape: {box: [1, 2, 3], "
                          "axis: [0, 1, 1], angle: -0.4}}\n"
                          "  b: {motion: {at: [0, 0, 2*t], axis: [1, 2, -1], angle: 1.4*t}, shape: {box: [1, 2, 3], "
                          "axis: [0, 1, 1], angle: -0.4}}\n");
    carom_drawing *d = drawing_of(m);
    double *x = values_at(m, d, carom_model_q0(m)); // at t = 0.5
    const carom_drawn a = carom_drawing_shape(d, find(d, CAROM_BOX, "a")),
                      b = carom_drawing_shape(d, find(d, CAROM_BOX, "b"));
    const double c = cos(0.35), s = sin(0.35) / sqrt(6), e = cos(-0.2), f = sin(-0.2) / sqrt(2);
    const double p[4] = {c, s, 2 * s, -s}, q[4] = {e, 0, f, f};
    const double want[4] = {p[0] * q[0] - p[2] * q[2] - p[3] * q[3], p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
                            p[0] * q[2] + p[2] * q[0] - p[1] * q[3], p[0] * q[3] + p[3] * q[0] + p[1] * q[2]};
    for (int i = 0; i < 4; ++i) {
        assert_close(x[a.first + 6 + i], want[i], 1e-14);
        assert_close(x[b.first + 6 + i], want[i], 1e-14);
    }
    assert_close(x[b.first + 5], 1, 1e-15);
    free(x);
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

// A body that is not there has no place, nor has the contact that it would make.
static void bodies_that_are_not_there_are_left_out(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nshapes: {floor: {plane: [0, 1]}}\nbodies:\n"
                          "  a: {mass: 1, inertia: 1, at: [0, 1], shape: {circle: 0.1}}\n"
                          "  b: {mass: 1, inertia: 1, at: [1, 1], shape: {circle: 0.1}, exists while: t > 0.5}\n"
                          "  c: {mass: 1, inertia: 1, at: [2, 1], shape: {circle: 0.1}, exists while: c.y > 0.5}\n"
                          "contacts: {h: {between: [[a, b, c], floor]}}\n");
    carom_error err = {0};
    carom_drawing *d = carom_drawing_create(m, &err);
    assert_non_null(d);
    double q[9], v[9] = {0}, *x = calloc((size_t)carom_drawing_values(d) + 1, sizeof *x);
    int seen = 0;
    for (int k = 0; k < 4; ++k) { // b comes, c goes
        memcpy(q, carom_model_q0(m), sizeof q);
        if (k & 2) q[7] = 0.4;
        carom_drawing_eval(d, k & 1, q, v, x);
        for (int i = 0; i < carom_drawing_shapes(d); ++i) {
            const carom_drawn s = carom_drawing_shape(d, i);
            const int body =
                s.figure == CAROM_CONTACT_MARKER ? 1 + s.id : s.of; // a, b, c: bodies 1 to 3, contacts 0 to 2
            const bool there = body < 2 || (body == 2 ? k & 1 : !(k & 2));
            assert_int_equal(isfinite(x[s.first + s.sizes]) != 0, there);
            seen += body >= 2;
        }
    }
    assert_true(seen >= 16);
    free(x);
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

static void joints_and_springs_are_seen(void **state) {
    (void)state;
    carom_model *m = good(B "bodies:\n"
                            "  crank: {mass: 1, inertia: 0.01, at: [0.5, 0]}\n"
                            "  rod: {mass: 1, inertia: 0.01, at: [2, 0]}\n"
                            "  slider: {mass: 1, inertia: 0.02, at: [3, 0]}\n"
                            "joints:\n"
                            "  main: {type: revolute, between: [ground, crank], at: [0, 0]}\n"
                            "  big: {type: revolute, between: [crank, rod], at: [1, 0]}\n"
                            "  small: {type: revolute, between: [rod, slider], at: [3, 0]}\n"
                            "  guide: {type: prismatic, between: [ground, slider], at: [0, 0], axis: [1, 0]}\n"
                            "springs: {strut: {between: [ground, slider], points: [[5, 0], [0.1, 0]], stiffness: 10}}\n"
                            "draw: {big: none}\n");
    carom_drawing *d = drawing_of(m);
    double *x = values_at(m, d, carom_model_q0(m));
    int bars = 0, marks = 0;
    for (int i = 0; i < carom_drawing_shapes(d); ++i) {
        const carom_drawn s = carom_drawing_shape(d, i);
        bars += s.figure == CAROM_SEGMENT ? s.points - 1 : 0;
        marks += s.figure == CAROM_POINT;
        assert_true(strcmp(s.name, "big") != 0);
    }
    assert_int_equal(bars, 4);  // of crank and rod to their joints; the slider's joint is its centre
    assert_int_equal(marks, 2); // main and small: big is hidden, and a guide is nowhere
    find(d, CAROM_CIRCLE, "slider");
    const double *spring = x + carom_drawing_shape(d, find(d, CAROM_SPRING, "strut")).first;
    assert_close(spring[0], 5, 0);
    assert_close(spring[2], 3.1, 1e-15);
    free(x);
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

#define FLEXIBLE(record)                                                                                               \
    "carom: 1\nflexible: {beam: {type: exact beam, length: 2, elements: 4, density: 1, area: 1, inertia: 1, modulus: " \
    "1, shear modulus: 1, "                                                                                            \
    "fix: {start: [x, y]}, points: {middle: 1}" record "}}\n"

static void flexible_members_draw_themselves_through_what_is_recorded(void **state) {
    (void)state;
    const struct { const char *text; int points; } cases[] = {{FLEXIBLE(""), 3}, {FLEXIBLE(", record: unknowns"), 5}};
    for (int k = 0; k < 2; ++k) {
        carom_model *m = good(cases[k].text);
        carom_drawing *d = drawing_of(m);
        double *x = values_at(m, d, carom_model_q0(m));
        const carom_drawn beam = carom_drawing_shape(d, find(d, CAROM_SEGMENT, "beam"));
        assert_int_equal(beam.points, cases[k].points);
        for (int i = 0; i < beam.points; ++i) {
            assert_close(x[beam.first + 2 * i], 2.0 * i / (beam.points - 1), 1e-15);
            assert_close(x[beam.first + 2 * i + 1], 0, 0);
        }
        free(x);
        carom_drawing_destroy(d);
        carom_model_destroy(m);
    }
}

static void unknowns_of_named_points_are_found_under_their_names(void **state) {
    (void)state;
    carom_model *m = good(FLEXIBLE(""));
    carom_drawing *d = drawing_of(m);
    int found = 0;
    for (int i = 0; i < carom_model_count(m).coordinates; ++i) {
        const char *own = carom_model_coordinate(m, i), *column = carom_drawing_column(d, i);
        if (strcmp(own, "beam.x4") == 0) assert_string_equal(column, "beam.end.x");
        if (strcmp(own, "beam.angle2") == 0) assert_string_equal(column, "beam.middle.angle");
        if (strcmp(own, "beam.x1") == 0) assert_null(column);
        found += column != NULL;
    }
    assert_int_equal(found, 7); // the angle of the start; three of the middle, three of the end
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

// The solid of even density has the inertia that was given.
static void spatial_bodies_are_drawn_with_their_inertia(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nbodies:\n"
                          "  brick: {mass: 2, inertia: [1, 1.5, 2], at: [1, 2, 3], axis: [0, 0, 1], angle: 1}\n"
                          "  ball: {mass: 2, inertia: [0.8, 0.8, 0.8]}\n"
                          "  top: {mass: 3, inertia: [1, 1, 0.5]}\n");
    carom_drawing *d = drawing_of(m);
    assert_int_equal(carom_drawing_dim(d), 3);
    double *x = values_at(m, d, carom_model_q0(m));
    const carom_drawn brick = carom_drawing_shape(d, find(d, CAROM_BOX, "brick"));
    const double *s = x + brick.first;
    for (int i = 0; i < 3; ++i)
        assert_close(2 * (s[(i + 1) % 3] * s[(i + 1) % 3] + s[(i + 2) % 3] * s[(i + 2) % 3]) / 12, 1 + 0.5 * i, 1e-14);
    assert_int_equal(brick.rotation, 4);
    assert_close(s[6], cos(0.5), 1e-15);
    assert_close(s[9], sin(0.5), 1e-15);
    assert_close(x[carom_drawing_shape(d, find(d, CAROM_SPHERE, "ball")).first], 1, 1e-15);
    const double *top = x + carom_drawing_shape(d, find(d, CAROM_CYLINDER, "top")).first;
    assert_close(3 * top[0] * top[0] / 2, 0.5, 1e-15);
    assert_close(3 * (3 * top[0] * top[0] + top[1] * top[1]) / 12, 1, 1e-15);
    free(x);
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

// A bob hangs below its pin; an arm carries two small shapes away from its centre of mass, a hanger a hole and a slot,
// which cover nothing; a plank covers its pin and its knob.
static void bars_join_small_shapes_to_their_joints(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\nbodies:\n"
             "  bob: {mass: 1, inertia: 1e-3, at: [1, -2], shape: {circle: 0.1}}\n"
             "  arm: {mass: 1, inertia: 1e-2, at: [4, 0], shapes: {tip: {circle: 0.1, at: [0.5, 0]}, foot: {box: [0.1, "
             "0.1], at: [0, -0.5]}}}\n"
             "  plank: {mass: 1, inertia: 1e-2, at: [8, 0], shape: {box: [2, 0.1]}, points: {knob: [1, 0]}}\n"
             "  hanger: {mass: 1, inertia: 1e-2, at: [12, 0], shapes: {eye: {hole: 0.1, at: [0.5, 0]}, slit: {slot: "
             "[0.1, 0.2], at: [0, -0.5]}}}\n"
             "joints:\n"
             "  hook: {type: revolute, between: [ground, bob], at: [1, 0]}\n"
             "  peg: {type: revolute, between: [ground, arm], at: [4, 1]}\n"
             "  axle: {type: revolute, between: [ground, plank], at: [7.2, 0]}\n");
    carom_drawing *d = drawing_of(m);
    double *x = values_at(m, d, carom_model_q0(m));
    int bars = 0;
    for (int i = 0; i < carom_drawing_shapes(d); ++i) bars += carom_drawing_shape(d, i).figure == CAROM_SEGMENT;
    assert_int_equal(bars, 3);
    find(d, CAROM_POINT, "knob"); // a mark, and no bar over the plank
    const carom_drawn hanger = carom_drawing_shape(d, find(d, CAROM_SEGMENT, "hanger"));
    assert_int_equal(hanger.points, 3); // eye, centre, slit
    const double eye_to_slit[6] = {12.5, 0, 12, 0, 12, -0.5};
    for (int i = 0; i < 6; ++i) assert_close(x[hanger.first + i], eye_to_slit[i], 1e-15);
    const carom_drawn bob = carom_drawing_shape(d, find(d, CAROM_SEGMENT, "bob")),
                      arm = carom_drawing_shape(d, find(d, CAROM_SEGMENT, "arm"));
    assert_int_equal(bob.points, 2);
    const double hook_to_bob[4] = {1, 0, 1, -2};
    for (int i = 0; i < 4; ++i) assert_close(x[bob.first + i], hook_to_bob[i], 1e-15);
    assert_int_equal(arm.points, 5); // peg, centre, tip, centre, foot
    const double through[10] = {4, 1, 4, 0, 4.5, 0, 4, 0, 4, -0.5};
    for (int i = 0; i < 10; ++i) assert_close(x[arm.first + i], through[i], 1e-15);
    free(x);
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

static void a_model_without_draw_has_an_empty_drawing(void **state) {
    (void)state;
    carom_model *m = good(H "draw:\n");
    carom_drawing *d = drawing_of(m);
    assert_int_equal(carom_drawing_shapes(d), 0);
    assert_int_equal(carom_drawing_values(d), 0);
    carom_drawing_eval(d, 0, carom_model_q0(m), carom_model_v0(m), NULL);
    carom_drawing_destroy(d);
    carom_model_destroy(m);
}

static void mistakes_are_told_with_their_place(void **state) {
    (void)state;
    static const struct { const char *draw, *error; } cases[] = {
        {"draw: [1]\n", "4:7: section draw must be a map"},
        {"draw: {a: {circel: 1, at: [0, 0]}}\n", "4:12: unknown key 'circel' in shape 'a'; did you mean 'circle'?"},
        {"draw: {a: {at: [0, 0]}}\n", "4:8: shape 'a' has no shape key; expected point"},
        {"draw: {a: {circle: 1, point: [0, 0]}}\n", "4:23: shape 'a' is both circle and point"},
        {"draw: {a: {circle: 1}}\n", "4:8: the circle 'a' has no place; add `at: [x, y]`"},
        {"draw: {a: {circle: 1, at: [x, yy]}}\n", "4:31: unknown name 'yy'; did you mean 'y'?"},
        {"draw: {a: {circle: 1, at: x}}\n", "4:27: at is a point: [x, y]"},
        {"draw: {a: {circle: 1, at: [x]}}\n", "4:27: at is a point: [x, y]"},
        {"draw: {a: {point: [0, 0]}, b: {point: [0, 0, 0]}}\n",
         "4:39: this point has 3 coordinates, the one in line 4 has 2"},
        {"draw: {a: {segment: [[0, 0]]}}\n", "4:21: a segment is a list of 2 points"},
        {"draw: {a: {line: 3}}\n", "4:18: a line is a list of at least 2 points"},
        {"draw: {a: {box: 1, at: [0, 0]}}\n", "4:17: a box needs 2 sizes"},
        {"draw: {a: {box: [1, 2], at: [0, 0], turn: [0, 0, 1]}}\n", "4:37: in the plane a shape is turned by `angle`"},
        {"draw: {a: {sphere: 1, at: [0, 0, 0], angle: 1}}\n", "4:38: in space a shape is turned by `turn`"},
        {"draw: {a: {sphere: 1, at: [0, 0]}}\n", "4:12: there is no sphere in the plane; write `circle`"},
        {"draw: {a: {wall: [[0, 0, 0], [1, 1, 1]]}}\n", "4:12: there is no wall in space"},
        {"draw: {a: {point: [0, 0], angle: 1}}\n", "4:27: a point is placed by its points; remove `angle`"},
        {"draw: {a: {circle: 1, at: [0, 0], width: 1}}\n", "4:35: a circle has its size already"},
        {"draw: {a: {point: [0, 0], colour: bleu}}\n", "4:35: unknown colour 'bleu'; did you mean 'blue'?"},
        {"draw: {a: {point: [0, 0], colour: \"#12345g\"}}\n", "4:36: unknown colour '#12345g'"},
        {"draw: {a: {point: [0, 0], trace: 1}}\n", "4:34: trace is yes or no"},
        {"draw: {contacts: {floor: [0, 0]}}\n", "4:19: unknown contact or constraint 'floor'"},
        {"contacts: {ground: {gap: y}}\ndraw: {contacts: {grund: [0, 0]}}\n",
         "5:19: unknown contact or constraint 'grund'; did you mean 'ground'?"},
        {"contacts: {v: {gap: 2 - abs(x)}}\ndraw: {contacts: {v.3: [x, 0]}}\n",
         "5:19: unknown contact or constraint 'v.3'; did you mean 'v.1'?"},
        {"contacts: {v: {gap: y}}\ndraw: {contacts: {v.1: [x, 0]}}\n", "5:19: unknown contact or constraint 'v.1'"},
        {"contacts: {ground: {gap: y}}\ndraw: {contacts: {ground: [0, 0]}}\n",
         "5:27: the place of 'ground' moves with no coordinate"},
        {"contacts: {ground: {gap: y}}\ndraw: {contacts: {ground: {normal: [0, 1]}}}\n",
         "5:19: the place of 'ground' is missing"},
        {"draw: {a: {circle: 1, at: [max(x, 0), 0]}}\n", "4:28: 'max(x' was split at a comma"},
        {"draw: {a: {circle: 1, at: [0, 0], of: b}}\n", "4:39: unknown body 'b'"},
        {"draw: {a: none}\n", "4:11: shape 'a' must be a map"},
        {"bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\ndraw: {a: {sphere: 1, of: b, turn: [0, 0, 1]}}\n",
         "5:30: 'a' turns with its body"},
        {"bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\ndraw: {c: {point: [0, 0, 0]}, a: {circle: 1, of: b}}\n",
         "5:35: there is no circle in space"},
        {"draw: {a: {circle: 1, at: [x'', 0]}}\n", "4:28: x'' is a second derivative"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[1000], want[400];
        carom_error err = {0};
        snprintf(text, sizeof text, H "%s", cases[i].draw);
        snprintf(want, sizeof want, "m.yaml:%s", cases[i].error);
        carom_model *m = model_of(text, &err);
        if (m) fail_msg("accepted: %s", cases[i].draw);
        if (strncmp(err.text, want, strlen(want)) != 0)
            fail_msg("\n%s\nis not\n%s\nfor %s", err.text, want, cases[i].draw);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_are_placed_by_their_expressions),
        cmocka_unit_test(spatial_shapes_have_three_coordinates_and_a_turn),
        cmocka_unit_test(the_direction_of_a_force_follows_from_place_and_gap),
        cmocka_unit_test(a_direction_that_cannot_be_known_is_the_one_that_is_written),
        cmocka_unit_test(the_place_of_a_gap_is_that_of_its_parts),
        cmocka_unit_test(every_shipped_model_draws_itself_and_its_contacts),
        cmocka_unit_test(drawing_does_not_change_a_bit_of_the_motion),
        cmocka_unit_test(bodies_draw_themselves),
        cmocka_unit_test(shapes_of_bodies_and_their_contacts_are_seen),
        cmocka_unit_test(shapes_in_space_are_turned_with_their_bodies),
        cmocka_unit_test(bodies_that_are_not_there_are_left_out),
        cmocka_unit_test(joints_and_springs_are_seen),
        cmocka_unit_test(flexible_members_draw_themselves_through_what_is_recorded),
        cmocka_unit_test(unknowns_of_named_points_are_found_under_their_names),
        cmocka_unit_test(spatial_bodies_are_drawn_with_their_inertia),
        cmocka_unit_test(bars_join_small_shapes_to_their_joints),
        cmocka_unit_test(a_model_without_draw_has_an_empty_drawing),
        cmocka_unit_test(mistakes_are_told_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

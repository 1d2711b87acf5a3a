// test_families.c: `repeat`: a family is what its members, written out, are.
#include "model_text.h"

static const char family[] =
    "carom: 1\nparameters: {n: 3, l: 0.2}\ngravity: [0, -9.81]\n"
    "bodies:\n"
    "  links: {repeat: n, body: {mass: 1 + i, inertia: l^2/12, at: [l*(i + 1/2), 0], points: {tip: [l/2, 0.01*i]}, "
    "shape: {capsule: [0.01, l]}}}\n"
    "  balls: {repeat: [2, 2], index: [a, b], body: {mass: 0.1, inertia: 1e-5, at: [0.3*a, 0.5 + 0.3*b], shape: "
    "{circle: 0.05}}}\n"
    "joints:\n"
    "  hang: {type: revolute, between: [ground, 'links[0]'], at: [0, 0]}\n"
    "  pins: {repeat: n - 1, joint: {type: revolute, between: ['links[i]', 'links[i + 1]'], at: [l*(i + 1), 0]}}\n"
    "springs: {turn: {repeat: 2, index: [s], spring: {joint: 'pins[s]', stiffness: 10^s}}}\n"
    "contacts:\n"
    "  hits: {between: [balls, links], restitution: 0.5}\n"
    "  each: {among: balls}\n"
    "  floors: {repeat: 2, contact: {gap: 'balls[i, 2*i - i].y - 0.1*(i + 1)', restitution: i/2}}\n"
    "outputs: {tip: links.2.tip.y}\nsimulation: {step: 1e-3, end: 0.6}\n";

static const char written_out[] =
    "carom: 1\nparameters: {n: 3, l: 0.2}\ngravity: [0, -9.81]\n"
    "bodies:\n"
    "  links.0: {mass: 1, inertia: l^2/12, at: [l/2, 0], points: {tip: [l/2, 0]}, shape: {capsule: [0.01, l]}}\n"
    "  links.1: {mass: 2, inertia: l^2/12, at: [l*(1 + 1/2), 0], points: {tip: [l/2, 0.01]}, shape: {capsule: [0.01, "
    "l]}}\n"
    "  links.2: {mass: 3, inertia: l^2/12, at: [l*(2 + 1/2), 0], points: {tip: [l/2, 0.02]}, shape: {capsule: [0.01, "
    "l]}}\n"
    "  balls.0.0: {mass: 0.1, inertia: 1e-5, at: [0, 0.5], shape: {circle: 0.05}}\n"
    "  balls.0.1: {mass: 0.1, inertia: 1e-5, at: [0, 0.5 + 0.3], shape: {circle: 0.05}}\n"
    "  balls.1.0: {mass: 0.1, inertia: 1e-5, at: [0.3, 0.5], shape: {circle: 0.05}}\n"
    "  balls.1.1: {mass: 0.1, inertia: 1e-5, at: [0.3, 0.5 + 0.3], shape: {circle: 0.05}}\n"
    "joints:\n"
    "  hang: {type: revolute, between: [ground, links.0], at: [0, 0]}\n"
    "  pins.0: {type: revolute, between: [links.0, links.1], at: [l, 0]}\n"
    "  pins.1: {type: revolute, between: [links.1, links.2], at: [l*2, 0]}\n"
    "springs: {turn.0: {joint: pins.0, stiffness: 1}, turn.1: {joint: pins.1, stiffness: 10}}\n"
    "contacts:\n"
    "  hits: {between: [[balls.0.0, balls.0.1, balls.1.0, balls.1.1], [links.0, links.1, links.2]], restitution: 0.5}\n"
    "  each: {among: [balls.0.0, balls.0.1, balls.1.0, balls.1.1]}\n"
    "  floors.0: {gap: balls.0.0.y - 0.1, restitution: 0}\n"
    "  floors.1: {gap: balls.1.1.y - 0.2, restitution: 1/2}\n"
    "outputs: {tip: links.2.tip.y}\nsimulation: {step: 1e-3, end: 0.6}\n";

static carom_sim *simulated(const carom_model *m) {
    carom_error err = {0};
    carom_run run;
    const carom_run_given nothing = carom_run_nothing();
    assert_int_equal(carom_run_resolve(&run, m, &nothing, &err), CAROM_OK);
    const carom_sim_def def = carom_run_sim(&run, m);
    carom_sim *sim = carom_sim_create(&def, &err);
    if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    carom_run_free(&run);
    return sim;
}

static void a_family_is_what_its_members_are(void **state) {
    (void)state;
    carom_model *one = good(family), *two = good(written_out);
    const carom_system *a = carom_model_system(one), *b = carom_model_system(two);
    assert_int_equal(a->nv, b->nv);
    assert_int_equal(a->ne + a->nc, b->ne + b->nc);
    for (int i = 0; i < a->nq; ++i) assert_string_equal(carom_model_coordinate(one, i), carom_model_coordinate(two, i));
    for (int i = 0; i < a->ne + a->nc; ++i)
        assert_string_equal(carom_model_constraint(one, i), carom_model_constraint(two, i));
    carom_sim *x = simulated(one), *y = simulated(two);
    const carom_now at = carom_sim_now(x), too = carom_sim_now(y);
    assert_memory_equal(at.q, too.q, (size_t)a->nq * sizeof *at.q);
    assert_memory_equal(at.v, too.v, (size_t)a->nv * sizeof *at.v);
    carom_ledger l;
    carom_error err = {0};
    assert_int_equal(carom_sim_ledger(x, &l, &err), CAROM_OK);
    assert_true(l.impacts > 0); // it was a test
    carom_sim_destroy(x);
    carom_sim_destroy(y);
    carom_model_destroy(one);
    carom_model_destroy(two);
}

// The number of members may be a parameter.
static void a_parameter_changes_how_many_there_are(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {n: 2}\nbodies: {b: {repeat: [n, 3], body: {mass: 1, inertia: 1, at: [i, j]}}}\n";
    const char *const set[] = {"n=5", NULL};
    carom_error err = {0};
    carom_model *m = carom_model_create(
        &(carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml", .set = set}, &err);
    if (!m) fail_msg("%s", err.text);
    assert_int_equal(carom_model_system(m)->nv, 45);
    assert_string_equal(carom_model_coordinate(m, 44), "b.4.2.angle");
    assert_true(carom_model_q0(m)[42] == 4 && carom_model_q0(m)[43] == 2);
    carom_model_destroy(m);
}

typedef struct seen { int rows, failed; double worst; } seen;

static bool on_row(void *user, const carom_sweep_row *row) {
    seen *s = user;
    const double n = row->vary[0];
    ++s->rows;
    s->failed += row->status != 0;
    s->worst = fmax(s->worst,
                    fmax(fabs(row->observed[0] - (1 - 0.5 * 9.81 * 0.09)), fabs(row->observed[1] - n * (n - 1) / 2)));
    return true;
}

// Bodies fall freely for 0.3 s.  Runs with more of them than the model's own value have states of their own size; the
// sum of the places is that of 0 .. n - 1.  Nothing is observed where the transient is longer than the run.
static void a_sweep_may_change_how_many_there_are(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {n: 2}\ngravity: [0, -9.81]\nbodies: {b: {repeat: n, body: {mass: 1 + i, inertia: 1, "
        "at: [i, 1]}}}\n"
        "outputs: {sum: (n - 1)*n/2 + 0*b.0.x}\nsimulation: {scheme: half-explicit, step: 0.01, end: 0.3}\n";
    carom_error err = {0};
    carom_sweep_def d = carom_sweep_default();
    d.model = (carom_model_def){.text = text, .length = strlen(text), .file = "m.yaml"};
    d.vary = (const char *const[]){"n=1,2,7,60", NULL};
    d.observe = (const char *const[]){"b.0.y", "sum", "max(b.0.y)", NULL};
    d.jobs = 2;
    carom_sweep *s = carom_sweep_create(&d, &err);
    if (!s) fail_msg("%s", err.text);
    seen x = {0};
    const carom_sweep_watch watch = {.user = &x, .row = on_row};
    assert_int_equal(carom_sweep_run(s, &watch, &err), CAROM_OK);
    assert_int_equal(x.rows, 4);
    assert_int_equal(x.failed, 0);
    assert_true(x.worst < 1e-12);
    carom_sweep_destroy(s);
    d.transient = 0.3;
    s = carom_sweep_create(&d, &err);
    x = (seen){0};
    if (!s || carom_sweep_run(s, &watch, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_int_equal(x.failed, 4);
    carom_sweep_destroy(s);
}

#define TOUCH "\nshapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {all: {among: [s, floor]}}\n"

// Bodies of a world have the names that they would have alone.
static void bodies_that_nobody_names_have_names(void **state) {
    (void)state;
    static const char *const position[] = {"x", "y", "z", "qw", "qx", "qy", "qz"}, *const velocity[] = {"vx", "vy",
                                                                                                        "vz", "wx",
                                                                                                        "wy", "wz"};
    carom_error err = {0};
    carom_model *m = model_of("carom: 1\nbodies:\n  d: {mass: 1, inertia: 1, at: [0, 0], shape: {circle: 1}}\n"
                              "  s: {repeat: 40, body: {mass: 1, inertia: [1, 1, 1], at: [i, 0, 1], shape: {sphere: "
                              "0.1}}}\n  last: {mass: 1, inertia: [1, 1, 1]}\nlet: {a: s.7.x}" TOUCH,
                              &err);
    if (!m) fail_msg("%s", err.text);
    const carom_model_sizes n = carom_model_count(m);
    const int first = 7; // positions of s.7, which an expression names
    char name[20];
    assert_int_equal(n.coordinates, 3 + 7 * 41);
    assert_int_equal(n.velocities, 3 + 6 * 41);
    assert_string_equal(carom_model_coordinate(m, 0), "s.7.x");
    assert_string_equal(carom_model_velocity(m, 5), "s.7.wz");
    assert_string_equal(carom_model_coordinate(m, first + 2), "d.angle");
    assert_string_equal(carom_model_velocity(m, 6 + 2), "d.wz");
    for (int k = 0; k < 39; ++k)
        for (int i = 0; i < 7; ++i) {
            snprintf(name, sizeof name, "s.%d.%s", k < 7 ? k : k + 1, position[i]);
            assert_string_equal(carom_model_coordinate(m, first + 3 + 7 * k + i), name);
            snprintf(name, sizeof name, "s.%d.%s", k < 7 ? k : k + 1, velocity[i % 6]);
            assert_string_equal(carom_model_velocity(m, 6 + 3 + 6 * k + i % 6), name);
        }
    assert_string_equal(carom_model_coordinate(m, n.coordinates - 1), "last.qz");
    assert_string_equal(carom_model_velocity(m, n.velocities - 1), "last.wz");
    carom_model_destroy(m);
    static const struct {
        const char *more, *says;
    } twice[] = {{"  s.3: {mass: 1, inertia: [1, 1, 1]}",
                  "m.yaml:4:3: 's.3.vx' of body 's.3' is already defined as a velocity of a body (line 3)"},
                 {"coordinates: {s.3.x: {at: 0, rate: 0}}",
                  "m.yaml:3:3: 's.3.x' of body 's.3' is already defined as a coordinate (line 4)"}};
    for (int i = 0; i < 2; ++i) {
        char text[600];
        snprintf(text, sizeof text,
                 "carom: 1\nbodies:\n  s: {repeat: 40, body: {mass: 1, inertia: [1, 1, 1], at: [i, 0, 1], shape: "
                 "{sphere: 0.1}}}\n%s" TOUCH,
                 twice[i].more);
        assert_null(model_of(text, &err));
        if (!strstr(err.text, twice[i].says)) fail_msg("'%s' is not in: %s", twice[i].says, err.text);
    }
}

// Among one member nothing touches: it falls through where two would rest on each other.  A list of one shape is a
// mistake.
static void one_member_is_among_itself(void **state) {
    (void)state;
    static const char text[] = "carom: 1\nparameters: {n: 1}\ngravity: [0, -10]\nshapes: {floor: {plane: [0, 1]}}\n"
                               "bodies: {b: {repeat: n, body: {mass: 1, inertia: 1, at: [0, 1 + i], shape: {circle: "
                               "0.1}}}}\n"
                               "contacts: {c: {among: %s}%s}\n";
    static const struct { const char *among, *more, *says; int contacts; } list[] = {
        {"b", "", NULL, 0}, {"b", ", f: {between: [b, floor]}", NULL, 1}, {"[b]", "", NULL, 0},
        {"[b, floor]", "", NULL, 1}, {"[b.0]", "", "among is a list of shapes", 0},
        {"[floor]", "", "among is a list of shapes", 0}};
    for (size_t i = 0; i < sizeof list / sizeof *list; ++i) {
        char of[600];
        carom_error err = {0};
        snprintf(of, sizeof of, text, list[i].among, list[i].more);
        carom_model *m = model_of(of, &err);
        if (list[i].says) {
            assert_null(m);
            if (!strstr(err.text, list[i].says)) fail_msg("'%s' is not in: %s", list[i].says, err.text);
            continue;
        }
        if (!m) fail_msg("%s", err.text);
        assert_int_equal(carom_model_system(m)->nc, list[i].contacts);
        assert_int_equal(carom_model_set(m, 1, &(int){0}, &(double){2}, NULL, &err), CAROM_OK);
        assert_true(carom_model_system(m)->nc > list[i].contacts);
        carom_model_destroy(m);
    }
}

static void mistakes_have_their_place(void **state) {
    (void)state;
    static const struct {
        const char *bodies, *says;
    } wrong[] = {
        {"b: {repeat: 2.5, body: {mass: 1, inertia: 1}}",
         "m.yaml:2:22: repeat must be an integer of at least 1, got 2.5"},
        {"b: {repeat: 0, body: {mass: 1, inertia: 1}}", "repeat must be an integer of at least 1, got 0"},
        {"b: {repeat: 2, body: {mass: 1, inertia: 1, shape: {circel: 1}}}",
         "unknown key 'circel' in shape 'b'; did you mean 'circle'?"},
        {"b: {repeat: [1, 2, 3, 4], body: {mass: 1, inertia: 1}}", "a list of up to three"},
        {"b: {repeat: [1000, 1001], body: {mass: 1, inertia: 1}}", "more than 1000000 members"},
        {"b: {repeat: 2}", "has nothing to repeat; add `body: {...}`"},
        {"b: {repeat: 2, body: {mass: 1, inertia: j}}", "unknown name 'j'"},
        {"b: {repeat: 2, index: t, body: {mass: 1, inertia: 1}}", "'t'"},
        {"b: {repeat: 2, index: [c, c], body: {mass: 1, inertia: 1}}", "index names each of the 1 indices once"},
        {"b: {repeat: [2, 2], index: [c, c], body: {mass: 1, inertia: 1}}", "two indices are called 'c'"},
        {"b: {repeat: 2, body: {mass: 1, inertia: 1}, mass: 2}", "unknown key 'mass'"},
        {"b: {repeat: 2, body: {mass: 1, inertia: 1}}, b.1: {mass: 1, inertia: 1}", "'b.1'"},
        {"b: {repeat: 2, body: {mass: 1, inertia: 1}}}\njoints: {p: {type: weld, between: [ground, 'b[2]'], at: [0, "
         "0]}",
         "m.yaml:3:47: 'b' has no member 2 here; they are numbered from 0 to 1"},
        {"b: {repeat: 2, body: {mass: 1, inertia: 1}}}\njoints: {p: {type: weld, between: [ground, 'b[0, 1]'], at: [0, "
         "0]}",
         "'b' has 1 index"},
        {"b: {repeat: 2, body: {mass: 1, inertia: 1}}}\njoints: {p: {type: weld, between: [ground, 'b[1/2]'], at: [0, "
         "0]}",
         "this is 0.5"},
        {"b: {repeat: 2, body: {mass: 1, inertia: 1}}}\njoints: {p: {type: weld, between: [ground, 'b[1'], at: [0, 0]}",
         "the bracket is not closed"},
        {"b: {repeat: 2, body: {mass: 1, inertia: 1}}}\njoints: {p: {type: weld, between: [ground, 'c[1]'], at: [0, "
         "0]}",
         "unknown family 'c'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        char text[600];
        carom_error err = {0};
        snprintf(text, sizeof text, "carom: 1\nbodies: {%s}\n", wrong[i].bodies);
        assert_null(model_of(text, &err));
        if (!strstr(err.text, wrong[i].says)) fail_msg("'%s' is not in: %s", wrong[i].says, err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_family_is_what_its_members_are),
        cmocka_unit_test(a_parameter_changes_how_many_there_are),
        cmocka_unit_test(a_sweep_may_change_how_many_there_are),
        cmocka_unit_test(bodies_that_nobody_names_have_names),
        cmocka_unit_test(one_member_is_among_itself),
        cmocka_unit_test(mistakes_have_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

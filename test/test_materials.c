// test_materials.c: friction and restitution by materials, and pairs that ignore each other; the same with pairs
// written out and with pairs that come and go.
#include "model_text.h"

// Balls a (steel), b (rubber), c (wood) fall on a steel floor from 0.5; `idle` more touch nothing, so that pairs come
// and go from about 32 on.
static char *text_of(const char *materials, const char *contact, int idle) {
    static char text[4000];
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, 0, -9.81]\n%s\nbodies:\n"
             "  a: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 0, 0.6], velocity: [1, 0, 0], material: steel, "
             "shape: {sphere: 0.1}}\n"
             "  b: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 1, 0.6], velocity: [1, 0, 0], material: rubber, "
             "shape: {sphere: 0.1}}\n"
             "  c: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [0, 2, 0.6], velocity: [1, 0, 0], material: steel, "
             "shape: {sphere: 0.1, material: wood}}\n"
             "  d: {repeat: %d, body: {mass: 1, inertia: [0.004, 0.004, 0.004], at: [i, 9, 9], material: steel, shape: "
             "{sphere: 0.1}}}\n"
             "shapes: {floor: {plane: [0, 0, 1], material: steel}}\ncontacts: {all: {%s}}\n",
             materials, idle, contact);
    return text;
}

static const char *const three =
    "materials:\n  steel: {friction: 0.04, restitution: 0.81, with: {rubber: {friction: 0.03, restitution: 0.3}}}\n"
    "  rubber: {friction: 0.9, restitution: 0.5}\n  wood: {friction: 0.01, restitution: 0.25}\n";

// State of a body after 0.4 s, with one impact at sqrt(2 0.5/9.81) = 0.319 s.
static void run(const char *text, bool listed, double *q, double *v) {
    carom_error err = {0};
    carom_model *m = good(text);
    carom_sim_def def = sim_def(m, "moreau-midpoint", NULL, 1e-3, 0.4);
    assert_int_equal(def.system->listed > 0, listed);
    carom_sim *sim = carom_sim_create(&def, &err);
    if (!sim) fail_msg("%s", err.text);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    memcpy(q, carom_sim_now(sim).q, 21 * sizeof *q);
    memcpy(v, carom_sim_now(sim).v, 18 * sizeof *v);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// An impact with speed u leaves e u; friction takes mu (1 + e) u along x.
static void impact_as(const double *v, double mu, double e) {
    const double u = v[2] + 9.81 * (0.4 - sqrt(1 / 9.81)), before = sqrt(9.81);
    assert_true(fabs(u / before - e) < 0.01);
    assert_true(fabs(1 - v[0] - mu * (1 + e) * before) < 0.002);
}

static void a_listed_pair_has_its_law_and_others_the_geometric_mean(void **state) {
    (void)state;
    for (int idle = 1; idle < 60; idle += 40) {
        double q[21], v[18];
        run(text_of(three,
                    idle > 1 ? "among: [a, b, c, d, floor], ignore: [[d, floor]]" : "between: [[a, b, c], floor]",
                    idle),
            idle > 1, q, v);
        impact_as(v, 0.04, 0.81);
        impact_as(v + 6, 0.03, 0.3);
        impact_as(v + 12, sqrt(0.04 * 0.01), sqrt(0.81 * 0.25));
    }
}

static void what_the_contact_says_comes_first(void **state) {
    (void)state;
    double q[21], v[18];
    run(text_of(three, "between: [[a, b, c], floor], restitution: 0.6", 1), false, q, v);
    impact_as(v, 0.04, 0.6);
    impact_as(v + 6, 0.03, 0.6);
}

// b and c ignore the floor, alone and as members of a family's list.
static void ignored_pairs_do_not_touch(void **state) {
    (void)state;
    for (int idle = 1; idle < 60; idle += 40) {
        double q[21], v[18];
        run(text_of(three, "among: [a, b, c, d, floor], ignore: [[floor, [b, c]], [d, d], [d, a]]", idle), idle > 1, q,
            v);
        impact_as(v, 0.04, 0.81);
        for (int k = 1; k < 3; ++k) assert_true(fabs(q[7 * k + 2] - (0.6 - 0.5 * 9.81 * 0.16)) < 1e-3);
    }
}

static void refused(const char *materials, const char *contact, const char *with) {
    carom_error err = {0};
    carom_model *m = model_of(text_of(materials, contact, 1), &err);
    if (m) fail_msg("accepted: %s", with);
    if (!strstr(err.text, with)) fail_msg("'%s' does not say '%s'", err.text, with);
}

static void mistakes_are_explained(void **state) {
    (void)state;
    const char *all = "between: [[a, b, c], floor]";
    refused("materials: {steel: {}, rubber: {}}", all, "unknown material 'wood'");
    refused("materials: {steel: {}, rubber: {}, woot: {}}", all, "unknown material 'wood'; did you mean 'woot'?");
    refused("materials: {steel: {}, rubber: {}, wood: {}, clay: {friction: -1}}", all,
            "friction must not be negative, got -1");
    refused("materials: {steel: {}, rubber: {}, wood: {}, clay: {with: {wood: {restitution: 1.5}}}}", all,
            "restitution must lie between 0 and 1, got 1.5");
    carom_error err = {0}; // each law is judged by itself: newton's, with another material
    carom_model *m = model_of(text_of("materials: {steel: {}, rubber: {}, wood: {}, clay: {impact law: poisson, with: "
                                      "{wood: {tangential restitution: 0.5}}}}",
                                      all, 1),
                              &err);
    if (!m) fail_msg("%s", err.text);
    carom_model_destroy(m);
    refused("materials: {steel: {with: {rubbr: {}}}, rubber: {}, wood: {}}", all,
            "unknown material 'rubbr'; did you mean 'rubber'?");
    refused("materials: {steel: {with: {steel: {}}}, rubber: {}, wood: {}}", all,
            "`with: steel` names the material itself");
    refused("materials: {steel: {with: {wood: {}}}, rubber: {}, wood: {with: {steel: {}}}}", all,
            "the law of 'steel' and 'wood' is given in both materials");
    refused("materials: {steel: {friction: -1}, rubber: {}, wood: {}}", all, "must not be negative, got -1");
    refused("materials: {steel: {friction: 0.1 + slip.speed}, rubber: {friction: 1}, wood: {}}", all, "list the pair");
    refused(three, "between: [[a, b, c], floor], ignore: [a, floor]", "a pair of shapes");
    refused(three, "between: [[a, b, c], floor], ignore: [[a, flor]]", "unknown shape 'flor'");
    refused(three, "gap: a.z, ignore: [[a, floor]]", "`ignore` requires `between` or `among`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listed_pair_has_its_law_and_others_the_geometric_mean),
        cmocka_unit_test(what_the_contact_says_comes_first),
        cmocka_unit_test(ignored_pairs_do_not_touch),
        cmocka_unit_test(mistakes_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

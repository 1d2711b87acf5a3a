// test_thickness.c: how thin shapes are, by hand; and when slow bodies fall asleep.
#include "model/pairs.h"
#include "model_text.h"

// Half the smallest distance of two parallel lines or planes that hold the shape between them.
static void half_the_thickness_of_each_shape(void **state) {
    (void)state;
    static const struct { const char *shape; double half; } space[] = {
        {"sphere: 0.2", 0.2},
        {"capsule: [0.1, 0.7]", 0.1},
        {"cylinder: [0.3, 0.5]", 0.25},
        {"cylinder: [0.2, 0.5]", 0.2},
        {"box: [0.3, 0.5, 0.2]", 0.1},
        {"box: [0.3, 0.1, 0.2]", 0.05},
        {"box: [0.05, 0.1, 0.2]", 0.025},
        {"ellipsoid: [0.3, 0.1, 0.2]", 0.1},
        {"ellipsoid: [0.3, 0.2, 0.05]", 0.05},
        // from the slanted face x/0.3 + y/0.4 + z/0.6 = 1 to the corner: 1/sqrt(1/0.09 + 1/0.16 + 1/0.36)
        {"hull: [[0, 0, 0], [0.3, 0, 0], [0, 0.4, 0], [0, 0, 0.6]]", 0.5 / 4.4876373392787533},
    }, plane[] = {
        {"circle: 0.2", 0.2},
        {"capsule: [0.1, 0.7]", 0.1},
        {"box: [0.3, 0.5]", 0.15},
        {"box: [0.5, 0.08]", 0.04},
        {"polygon: [[0, 0], [3, 0], [0, 4]]", 1.2}, // the height over the longest side: 3 x 4/5
    };
    for (size_t i = 0; i < sizeof space / sizeof *space + sizeof plane / sizeof *plane; ++i) {
        const bool spatial = i < sizeof space / sizeof *space;
        const char *shape = spatial ? space[i].shape : plane[i - sizeof space / sizeof *space].shape;
        const double half = spatial ? space[i].half : plane[i - sizeof space / sizeof *space].half;
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\nbodies: {b: {mass: 1, inertia: %s, shape: {%s}}}\nshapes: {floor: {plane: %s, at: "
                 "%s}}\ncontacts: {c: {between: [b, floor]}}\n",
                 spatial ? "[1, 1, 1]" : "1", shape, spatial ? "[0, 0, 1]" : "[0, 1]",
                 spatial ? "[0, 0, -9]" : "[0, -9]");
        carom_model *m = good(text);
        int found = 0;
        for (int k = 0; k < m->nshapes; ++k) {
            if (m->shapes[k].kind == SHAPE_PLANE) continue;
            ++found;
            if (!(fabs(carom_shape_thin(&m->shapes[k]) - half) <= 1e-14))
                fail_msg("%s: %.17g, not %.17g", shape, carom_shape_thin(&m->shapes[k]), half);
        }
        assert_int_equal(found, 1);
        carom_model_destroy(m);
    }
}

// A block on a smooth floor that a force accelerates by a sleeps iff a 0.5 s <= V/100 (SLP-1): V = 0.1, a = 2e-3 -+ 3
// %. The slope of the line that fits a velocity that grows evenly is a, whatever the step.
static void the_limit_of_sleep_is_an_acceleration(void **state) {
    (void)state;
    for (int k = 0; k < 4; ++k) {
        const double a = 2e-3 * (k % 2 ? 1.03 : 0.97), h = k < 2 ? 2e-3 : 1e-2;
        char text[600];
        snprintf(text, sizeof text,
                 "carom: 1\ngravity: [%.17g, 0, -10]\nsleep: 0.1\nbodies:\n  s: {repeat: 34, body: {mass: 1, inertia: "
                 "[1, 1, 1], at: [i, 0, 0.1], shape: {box: [0.2, 0.2, 0.2]}}}\n"
                 "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {all: {among: [s, floor]}}\n",
                 a);
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, h, 0.8);
        model_sim_run(sim);
        carom_ledger l;
        carom_error err;
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        if (l.sleep.falls != (k % 2 ? 0 : 34))
            fail_msg("acceleration %g, step %g: %ld fell asleep", a, h, (long)l.sleep.falls);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(half_the_thickness_of_each_shape),
                                       cmocka_unit_test(the_limit_of_sleep_is_an_acceleration)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

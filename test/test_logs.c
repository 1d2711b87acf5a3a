// test_logs.c: cylinders that lie and stand on boxes and on each other, and capsules on them.
#include "model_text.h"

// -- rest -------------------------------------------------------------------------------------------------------------

// lies: its z along the world's x; z: where it comes to rest
typedef struct rest { const char *shape; double at[3]; bool lies; const char *others, *names; double z; } rest;

#define LOGS                                                                                                           \
    "b: {cylinder: [0.1, 0.9], axis: [0, 1, 0], at: [0.2, 0, 0]}, d: {cylinder: [0.1, 0.9], axis: [0, 1, 0], at: "     \
    "[-0.2, 0, 0]}"
static const rest rests[] = {
    {"{cylinder: [0.1, 0.3]}", {0, 0, 0.201}, true, "b: {box: [1, 1, 0.2]}", "b", 0.2},
    {"{cylinder: [0.1, 0.3]}", {0.1, 0, 0.251}, false, "b: {box: [1, 1, 0.2]}", "b", 0.25},
    // Across a plank: edges carry its side, or cross its end.
    {"{cylinder: [0.1, 0.9]}",
     {0.02, 0, 0.201},
     true,
     "b: {box: [0.4, 1, 0.2], axis: [0, 0, 1], angle: 0.1}",
     "b",
     0.2},
    {"{cylinder: [0.3, 0.1]}", {0.01, 0.02, 0.151}, false, "b: {box: [0.2, 2, 0.2]}", "b", 0.15},
    {"{box: [0.5, 0.1, 0.1]}", {0, 0.01, 0.151}, false, "b: {cylinder: [0.1, 0.2]}", "b", 0.15},
    // On each other: coaxial, overlapping like a lens, between two, across two, standing on two.
    {"{cylinder: [0.1, 0.3]}", {0, 0, 0.251}, false, "b: {cylinder: [0.1, 0.2]}", "b", 0.25},
    {"{cylinder: [0.1, 0.3]}", {0.08, 0, 0.251}, false, "b: {cylinder: [0.1, 0.2]}", "b", 0.25},
    {"{cylinder: [0.1, 0.4]}",
     {0, 0, 0.168},
     true,
     "b: {cylinder: [0.1, 0.5], axis: [1, 0, 0], at: [0, 0.11, 0]}, d: {cylinder: [0.1, 0.3], axis: [1, 0, 0], at: [0, "
     "-0.11, 0]}",
     "b, d",
     0.16703293088490065},
    {"{cylinder: [0.1, 0.6]}", {0, 0, 0.201}, true, LOGS, "b, d", 0.2},
    {"{cylinder: [0.3, 0.1]}", {0, 0, 0.151}, false, LOGS, "b, d", 0.15},
    {"{capsule: [0.05, 0.8]}", {0, 0.02, 0.151}, true, LOGS, "b, d", 0.15},
    {"{capsule: [0.05, 0.5]}", {0, 0.02, 0.151}, true, "b: {cylinder: [0.1, 0.2]}", "b", 0.15},
    {"{capsule: [0.05, 0.8]}", {0, 0.02, 0.151}, true, "b: {box: [0.2, 0.4, 0.2]}", "b", 0.15},
};
enum { RESTS = sizeof rests / sizeof *rests };

static carom_model *resting(const rest *r, double friction) {
    char text[800];
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, 0, -9.81]\nbodies: {c: {mass: 1, inertia: [0.01, 0.01, 0.01], at: [%g, %g, %g], "
             "%s shape: %s}}\nshapes: {%s}\n"
             "contacts: {k: {between: [c, [%s]], friction: %g}}\n",
             r->at[0], r->at[1], r->at[2], r->lies ? "axis: [0, 1, 0], angle: pi/2," : "", r->shape, r->others,
             r->names, friction);
    return good(text);
}

// It falls a millimetre, stays where it fell and sinks in by no more than it moves in a step.
static void what_lies_or_stands_stays(void **state) {
    (void)state;
    for (int i = 0; i < RESTS; ++i) {
        carom_model *m = resting(&rests[i], 0.4);
        carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, 1e-3, 0.1);
        model_sim_run(sim);
        const double *q = carom_sim_now(sim).q, *v = carom_sim_now(sim).v, *at = rests[i].at;
        if (fabs(q[2] - rests[i].z) > 2e-4 || hypot(q[0] - at[0], q[1] - at[1]) > 1e-5)
            fail_msg("%d: at %.9g %.9g %.9g", i, q[0], q[1], q[2]);
        for (int k = 0; k < 6; ++k) assert_close(v[k], 0, 1e-9);
        const double turn = rests[i].lies ? sqrt(0.5) : 0;
        assert_close(fabs(q[3]), rests[i].lies ? turn : 1, 1e-6);
        assert_close(fabs(q[5]), turn, 1e-5);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A capsule across two cylinders, with every scheme that keeps what touches together.
static void every_scheme_holds_it(void **state) {
    (void)state;
    static const char *const schemes[2][20] = {
        {"moreau-explicit", "half-explicit", "half-explicit-rk", "moreau-jean", "moreau-midpoint", "moreau-dissipative",
         "ggl-alpha", "ggl-projection", "ggl-midpoint", "newmark", "hht", "generalized-alpha", "mixed", "splitting",
         "auto", "event-driven"},
        {"schatzman-paoli", "dg-plus", "dg-minus", "half-explicit-acceleration"}};
    for (int k = 0; k < 2; ++k) {
        carom_model *m = resting(&rests[10], k ? 0 : 0.4);
        for (int i = 0; i < 20 && schemes[k][i]; ++i) {
            carom_sim *sim = model_sim(m, schemes[k][i], NULL, 1e-3, 0.03);
            model_sim_run(sim);
            const double *q = carom_sim_now(sim).q, *v = carom_sim_now(sim).v;
            if (fabs(q[2] - 0.15) > 3e-4 || fabs(v[2]) > 2 * 9.81e-3 || fabs(v[4]) > 1e-2)
                fail_msg("%s: z %.9g, vz %.3g, wy %.3g", schemes[k][i], q[2], v[2], v[4]);
            carom_sim_destroy(sim);
        }
        carom_model_destroy(m);
    }
}

// On a board like on a plane, and 2/3 of what a sliding one gains (the first steps close the contacts).
static void a_cylinder_rolls_down_a_board(void **state) {
    (void)state;
    double v[2];
    for (int k = 0; k < 2; ++k) {
        char text[600];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {al: 0.3}\ngravity: [9.81*sin(al), 0, -9.81*cos(al)]\n"
                 "bodies: {c: {mass: 2, inertia: [0.02, 0.02, 0.01], at: [-1, 0.1, 0.2], axis: [1, 0, 0], angle: pi/2, "
                 "shape: {cylinder: [0.1, 0.3]}}}\n"
                 "shapes: {b: %s}\ncontacts: {k: {between: [c, b], friction: 0.5}}\n",
                 k ? "{plane: [0, 0, 1], at: [0, 0, 0.1]}" : "{box: [4, 1, 0.2]}");
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, 1e-3, 0.5);
        model_sim_run(sim);
        v[k] = carom_sim_now(sim).v[0];
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
    assert_close(v[0], v[1], 1e-9);
    assert_close(v[0], 2.0 / 3 * 9.81 * sin(0.3) * 0.5, 1e-3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_lies_or_stands_stays),
        cmocka_unit_test(every_scheme_holds_it),
        cmocka_unit_test(a_cylinder_rolls_down_a_board),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

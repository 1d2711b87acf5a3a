// test_jacobians.c: the matrices of Newton's method are exact: it converges quadratically, in three or four iterations, where every term counts.
//
// A matrix with a wrong or missing term gives the same answers, more slowly, and no other test notices.  Steps are long, so that each term is large: the
// mass changes with the position, forces with position and velocity, constraints and contacts are curved and move.
#include "model_text.h"

#define COUNT(list) (sizeof list / sizeof *list)

static const char smooth[] = "carom: 1\ncoordinates: {a: {at: 1.2, rate: 2}, b: {at: 0.3, rate: -3}}\n"
                             "energy: {kinetic: a'^2 + 1/2*b'^2 + 0.9*a'*b'*cos(a - b), potential: -20*cos(a) - 10*cos(b) + 5*a*b^3}\n"
                             "forces: {a: -0.3*a'*b'^2 + sin(3*t + a), b: -0.2*b'^3*cos(a)}\n";
static const char constrained[] = "carom: 1\ncoordinates: {x: {at: 1, rate: 0.075}, y: {at: 0, rate: 1}, z: {at: 0.2, rate: 0.5}}\n"
                                  "energy: {kinetic: 1/2*(2 + sin(x*y + z))*(x'^2 + y'^2) + 1/2*z'^2*(1.5 + cos(x)), potential: 9.81*y + 2*z^2}\n"
                                  "forces: {z: -0.5*z'*x}\nconstraints: {circle: x^2 + y^2*(1 + 0.2*z) - 1 - 0.05*sin(3*t)}\n";
static const char bowl[] = "carom: 1\ncoordinates: {x: {at: 0.3, rate: 1}, y: {at: 0.09, rate: 0.6}, z: {at: 0.2, rate: 0.5}}\n"
                           "energy: {kinetic: 1/2*(2 + sin(x + z))*(x'^2 + y'^2) + 1/2*z'^2*(1.5 + cos(x)), potential: 9.81*y + 2*z^2 + 3*x^2*z}\n"
                           "forces: {z: -0.5*z'*x}\ncontacts: {bowl: {gap: y - x^2 - 0.1*z*x + 0.1*0.2*0.3, slip: x + 0.3*z*y, friction: 0.15}}\n";
static const char box[] = "carom: 1\ngravity: [0, 0, -9.81]\nbodies: {b: {mass: 2, inertia: [0.05, 0.04, 0.03], at: [0, 0, 0.3], spin: [3, 2, 5], velocity: [0.5, 0, 0], shape: {box: [0.4, 0.3, 0.6]}}}\n"
                          "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {c: {between: [b, floor], friction: 0.3}}\n";

// most: iterations of all steps, about one in twenty above what was counted.
static const struct { const char *name, *text; double h; int steps; struct { const char *scheme; long most; } of[8]; } runs[] = {
    {"smooth", smooth, 0.05, 20, {{"moreau-jean", 61}, {"moreau-dissipative", 66}, {"ggl-midpoint", 63}, {"ggl-alpha", 65}, {"newmark", 62}, {"hht", 64}, {"generalized-alpha", 63}, {"dg-plus", 110}}},
    {"constrained", constrained, 0.05, 20, {{"moreau-jean", 63}, {"moreau-dissipative", 63}, {"ggl-midpoint", 63}, {"ggl-alpha", 63}, {"ggl-projection", 60}, {"newmark", 83}, {"generalized-alpha", 83}, {"dg-plus", 96}}},
    {"bowl", bowl, 0.02, 30, {{"moreau-jean", 94}, {"moreau-dissipative", 94}, {"ggl-midpoint", 94}, {"ggl-alpha", 94}, {"ggl-projection", 62}, {"newmark", 126}, {"generalized-alpha", 126}, {"dg-plus", 97}}},
    {"box", box, 0.005, 40, {{"moreau-jean", 103}, {"moreau-dissipative", 102}, {"ggl-midpoint", 108}, {"ggl-projection", 80}, {"newmark", 150}, {"hht", 150}, {"generalized-alpha", 150}, {NULL, 0}}},
};

static void newton_converges_quadratically(void **state) {
    (void)state;
    int slow = 0;
    for (size_t k = 0; k < COUNT(runs); ++k) {
        carom_model *m = good(runs[k].text);
        for (size_t j = 0; j < COUNT(runs[k].of) && runs[k].of[j].scheme; ++j) {
            carom_error err = {0};
            carom_ledger l;
            carom_sim *sim = model_sim(m, runs[k].of[j].scheme, NULL, runs[k].h, runs[k].steps * runs[k].h);
            model_sim_run(sim);
            assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
            carom_sim_destroy(sim);
            if (l.counts.newton <= runs[k].of[j].most && l.counts.newton >= runs[k].steps) continue;
            print_error("%s, %s: %ld iterations in %d steps, at most %ld expected\n", runs[k].name, runs[k].of[j].scheme, (long)l.counts.newton, runs[k].steps, runs[k].of[j].most);
            ++slow;
        }
        carom_model_destroy(m);
    }
    if (slow) fail_msg("%d runs need more", slow);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(newton_converges_quadratically)};
    return cmocka_run_group_tests_name("jacobians", tests, NULL, NULL);
}

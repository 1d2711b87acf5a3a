// test_rolling.c: rolling resistance of circles in the plane.
#include "model_text.h"

static void run(const char *text, const char *scheme, double h, double end, double *q, double *v) {
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, scheme, NULL, h, end);
    model_sim_run(sim);
    memcpy(q, carom_sim_now(sim).q, 3 * sizeof *q);
    memcpy(v, carom_sim_now(sim).v, 3 * sizeof *v);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static const char *const schemes[] = {"moreau-explicit", "half-explicit",   "half-explicit-rk",
                                      "moreau-jean",     "moreau-midpoint", "ggl-midpoint",
                                      "newmark",         "mixed",           "auto"};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

// Friction F = m g sin a and moment F r are inside (F/mu)^2 + (F r/rho)^2 <= N^2 as long as tan a <= 1/sqrt(1/mu^2 +
// r^2/rho^2).
static void a_wheel_on_a_slope_starts_to_roll_where_the_ellipse_ends(void **state) {
    (void)state;
    static const double L[] = {1e-3, 1, 1e3};
    for (int s = 0; s < SCHEMES - 2; ++s)
        for (int k = 0; k < 3; ++k)
            for (int side = -1; side < 2; side += 2) {
                char text[500];
                double q[3], v[3];
                snprintf(text, sizeof text,
                         "carom: 1\nparameters: {r: %g, mu: 0.3, rho: r/50, al: atan(1/sqrt(1/mu^2 + (r/rho)^2)*(1 + "
                         "%g))}\ngravity: [9.81*sin(al), -9.81*cos(al)]\n"
                         "shapes: {f: {plane: [0, 1]}}\nbodies: {w: {mass: 2, inertia: r^2, at: [0, r*(1 - 1e-12)], "
                         "shape: {circle: r}}}\n"
                         "contacts: {c: {between: [w, f], friction: mu, rolling: rho}}\n",
                         L[k], side * 1e-9);
                run(text, schemes[s], 1e-3, 0.5, q, v);
                const double expected = 9.81 * 0.02 * 1e-9 / 1.5 * 0.5; // of what gravity is too much
                if (side < 0 ? !(fabs(v[0]) < 0.01 * expected) : !(v[0] > 0.5 * expected && v[0] < 2 * expected))
                    fail_msg("%s, r = %g: speed %g on the %s side, expected %g", schemes[s], L[k], v[0],
                             side < 0 ? "lower" : "upper", expected);
            }
}

// a = (rho/r) g/(1 + J/(m r^2)) sqrt(1 - (F/(mu N))^2), F = m a, but for the creep, which is (F/mu)/(M/rho) rho/mu w:
// below 1e-3 of v here.
static void a_wheel_on_the_level_slows_down_by_its_lever(void **state) {
    (void)state;
    const double a = 1e-2 * 9.81 / 1.5;
    for (int s = 0; s < SCHEMES; ++s) {
        double q[3], v[3];
        run("carom: 1\nparameters: {r: 0.1, m: 2, rho: 1e-3, v: 1}\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, "
            "1]}}\n"
            "bodies: {wheel: {mass: m, inertia: m*r^2/2, at: [0, r], velocity: [v, 0], spin: -v/r, shape: {circle: "
            "r}}}\n"
            "contacts: {c: {between: [wheel, floor], friction: 0.3, rolling: rho}}\n",
            schemes[s], 1e-3, 5, q, v);
        assert_close(v[0], 1 - 5 * a, 1e-3);
        assert_close(v[0] + 0.1 * v[2], 0, 1e-3);
        assert_close(q[0], 5 - 12.5 * a, 5e-3);
    }
}

// Slip s and rolling lambda w, lambda = rho/mu, keep their ratio s = k w when r k^2 + (r^2 + j - lambda^2) k - lambda^2
// r = 0; then all fall linearly to zero.
static void a_wheel_comes_to_rest_at_its_time_and_stays(void **state) {
    (void)state;
    static const char *const all[] = {"moreau-explicit",
                                      "half-explicit",
                                      "half-explicit-rk",
                                      "moreau-jean",
                                      "moreau-midpoint",
                                      "moreau-dissipative",
                                      "ggl-alpha",
                                      "ggl-projection",
                                      "ggl-midpoint",
                                      "newmark",
                                      "hht",
                                      "generalized-alpha",
                                      "mixed",
                                      "splitting",
                                      "auto",
                                      "event-driven"};
    const double r = 0.1, j = 0.005, l = 1e-3 / 0.3, p = (r * r + j - l * l) / (2 * r), k = -p + sqrt(p * p + l * l),
                 a = 0.3 * 9.81 * k / hypot(k, l), v0 = 0.1, stop = v0 / a;
    char text[500];
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1]}}\nbodies: {wheel: {mass: 2, inertia: "
             "0.01, at: [0, 0.1], velocity: [0.1, 0], spin: %.17g, "
             "shape: {circle: 0.1}}}\ncontacts: {c: {between: [wheel, floor], friction: 0.3, rolling: 1e-3}}\n",
             -v0 / (r + k));
    for (size_t s = 0; s < sizeof all / sizeof *all; ++s) {
        double q[3], v[3];
        run(text, all[s], 1e-3, 0.9 * stop, q, v);
        assert_close(v[0], 0.1 * v0, 1e-9);
        run(text, all[s], 1e-3, 1.1 * stop, q, v);
        for (int i = 0; i < 3; ++i) assert_close(v[i], 0, 1e-9);
        assert_close(q[0], 0.5 * v0 * stop, 0.5e-3 * v0 + 1e-6); // to a step
    }
}

static void rolling_that_makes_no_sense_is_refused(void **state) {
    (void)state;
    static const struct { const char *body, *contact, *message; } cases[] = {
        {"{mass: 1, inertia: 1, at: [0, 1], shape: {circle: 1}}", "friction: 0.1, rolling: -1",
         "rolling must not be negative, got -1"},
        {"{mass: 1, inertia: 1, at: [0, 1], shape: {circle: 1}}", "rolling: 1", "needs friction"},
        {"{mass: 1, inertia: 1, at: [0, 1], shape: {box: [1, 1]}}", "friction: 1, rolling: 1",
         "touch with corners (4 contacts)"},
        {"{mass: 1, inertia: 1, at: [0, 1], shape: {circle: 1}}", "friction: 1, spinning: 1",
         "`spinning` requires a spatial contact"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[400];
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\nshapes: {f: {plane: [0, 1]}}\nbodies: {b: %s}\ncontacts: {c: {between: [b, f], %s}}\n",
                 cases[i].body, cases[i].contact);
        carom_model *m = model_of(text, &err);
        if (m || !strstr(err.text, cases[i].message)) fail_msg("%s: %s", cases[i].contact, m ? "was taken" : err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wheel_on_a_slope_starts_to_roll_where_the_ellipse_ends),
        cmocka_unit_test(a_wheel_on_the_level_slows_down_by_its_lever),
        cmocka_unit_test(a_wheel_comes_to_rest_at_its_time_and_stays),
        cmocka_unit_test(rolling_that_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_branch.c: time in a model, events along branches, branches through events: known answers.
#include "orbits.h"

static const double PI = 3.14159265358979323846;

// -- time in a model ------------------------------------------------------------------------------------------------
// x'' + 2 z x' + (1 + p cos(w t)) x + x^3 = 0: at x = 0 no force depends on time, but the model does.

#define MATHIEU "carom: 1\nparameters: {p: 0.01, w: 2, z: 0.01}\ncoordinates: {x: {at: 0, rate: 0}}\n" \
                "energy: {kinetic: \"1/2*x'^2\", potential: \"1/2*(1 + p*cos(w*t))*x^2 + 1/4*x^4\"}\nforces: {x: \"-2*z*x'\"}\n"

static void mathieu_rate(double t, const double *x, double p, double w, double z, double *to) {
    to[0] = x[1], to[1] = -2 * z * x[1] - (1 + p * cos(w * t)) * x[0];
}

// det(P + 1) of the linear equation over a period, by Runge and Kutta's method.
static double mathieu_doubles(double p, double w, double z) {
    enum { STEPS = 4000 };
    const double h = 2 * PI / w / STEPS;
    double P[2][2];
    for (int j = 0; j < 2; ++j) {
        double x[2] = {j == 0, j == 1};
        for (int i = 0; i < STEPS; ++i) {
            double k[4][2], y[2];
            mathieu_rate(i * h, x, p, w, z, k[0]);
            for (int s = 1; s < 4; ++s) {
                const double a = s < 3 ? h / 2 : h;
                y[0] = x[0] + a * k[s - 1][0], y[1] = x[1] + a * k[s - 1][1];
                mathieu_rate(i * h + a, y, p, w, z, k[s]);
            }
            for (int l = 0; l < 2; ++l) x[l] += h / 6 * (k[0][l] + 2 * k[1][l] + 2 * k[2][l] + k[3][l]);
        }
        P[0][j] = x[0], P[1][j] = x[1];
    }
    return (P[0][0] + 1) * (P[1][1] + 1) - P[0][1] * P[1][0];
}

static void parametric_excitation(void **state) {
    (void)state;
    carom_orbit_def d = define(MATHIEU, "free", 0);
    d.run.end = 50;
    refused(&d, CAROM_BAD_INPUT, "the force along 'x' does; replace `--period free` by the excitation period, --period 3.14159265358979");
    d = define(MATHIEU, "3", 0);
    refused(&d, CAROM_BAD_INPUT, "does not repeat itself after 3");
    d = define(MATHIEU, "2*pi/w", 0);
    carom_orbit o = find_orbit(&d);
    assert_int_equal(o.trivial, 0);
    double start[2];
    const carom_follow_def f = define_branch(&d, &o, start, "p", 0.005, 0.1);
    carom_branch b = follow(&f);
    double low = 0.01, high = 0.1;
    for (int i = 0; i < 50; ++i) {
        const double p = (low + high) / 2;
        if (mathieu_doubles(p, 2, 0.01) > 0) low = p;
        else high = p;
    }
    assert_close(at_event(&b, "period-doubling", 0), low, 1e-6 * 0.095);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// Is time in the model, with this parameter free?
static bool timeless(const char *text, const char *by) {
    carom_model *m = good(text);
    bool is = false;
    carom_error err = {0};
    assert_int_equal(carom_model_timeless(m, by, &is, &err), CAROM_OK);
    carom_model_destroy(m);
    return is;
}

static void time_in_expressions(void **state) {
    (void)state;
#define DRIVEN(F, force) "carom: 1\nparameters: {F: " F ", G: 2*F, w: 2}\ncoordinates: {x: 1}\nenergy: {kinetic: \"1/2*x'^2\", potential: 1/2*x^2}\nforces: {x: \"" force "\"}\n"
    assert_true(timeless(DRIVEN("1", "-x'"), NULL));
    assert_false(timeless(DRIVEN("1", "F*cos(w*t)"), NULL));
    assert_true(timeless(DRIVEN("0", "F*cos(w*t) - x'"), NULL));
    assert_false(timeless(DRIVEN("0", "F*cos(w*t)"), "F")); // it will not stay 0
    assert_true(timeless(DRIVEN("0", "F*cos(w*t)"), "w"));
    assert_true(timeless(DRIVEN("0", "G*cos(w*t)"), NULL));
    assert_false(timeless(DRIVEN("0", "G*cos(w*t)"), "F")); // which G follows
    assert_true(timeless(DRIVEN("1", "if(F > 2, cos(w*t), -x')"), NULL));
    assert_false(timeless(DRIVEN("1", "if(F > 2, cos(w*t), -x')"), "F"));
    assert_false(timeless(DRIVEN("1", "if(x > 2, cos(w*t), -x')"), NULL)); // not at the initial state
    // two rates with a common period, two without, and one that is hidden in another function
    carom_orbit_def d = define(DRIVEN("1", "cos(2*t) + sin(3*t + x)"), "free", 0);
    d.run.end = 20;
    refused(&d, CAROM_BAD_INPUT, "--period 6.28318530717959");
    d = define(DRIVEN("1", "cos(2*t) + sin(sqrt(2)*t)"), "free", 0);
    d.run.end = 20;
    refused(&d, CAROM_BAD_INPUT, "--period EXPR");
    d = define(DRIVEN("1", "x*if(t - floor(t) > 0.5, 1, 0)"), "free", 0);
    d.run.end = 20;
    refused(&d, CAROM_BAD_INPUT, "--period EXPR");
    // a square wave that acts on x alone: at x = 0 nothing changes with time, beside it everything does
    d = define("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", potential: \"(1 + floor(2*(t - floor(t))))*x^2\"}\nforces: {x: \"-x'\"}\n", "0.7", 0);
    refused(&d, CAROM_BAD_INPUT, "does not repeat itself after 0.7");
    d.period = "1";
    carom_orbit o = find_orbit(&d);
    assert_int_equal(o.trivial, 0);
    carom_orbit_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(parametric_excitation), cmocka_unit_test(time_in_expressions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_backbone.c: frequency response, backbones and nonlinear modes: known answers.
#include "orbits.h"

static const double PI = 3.14159265358979323846;

#define DUFFING                                                                                                        \
    "carom: 1\nparameters: {w: %s, F: %s}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", potential: \"1/2*x^2 " \
    "+ 1/4*x^4\"}\nforces: {x: \"F*cos(w*t) - 0.2*x'\"}\n"

// x'' + 0.2 x' + x + x^3 = 0.3 cos 1.3 t, the large one of its orbits.
static void response(void **state) {
    (void)state;
    char text[400];
    snprintf(text, sizeof text, DUFFING, "1.2", "0.3");
    const carom_orbit_def d = define(text, "2*pi/w", 0);
    carom_orbit o = find_orbit(&d);
    double start[2];
    carom_follow_def f = define_branch(&d, &o, start, "w", 1.2, 1.3);
    f.response = "x";
    carom_branch b = follow(&f);
    const long r = row_at(&b, 1, 1.3);
    assert_close(value_in(&b, "x.amplitude", r), 1.032702885561, 1e-9),
        assert_close(value_in(&b, "x.phase", r), -63.9760133990, 1e-6);
    assert_close(value_in(&b, "x.h3", r), 0.021822915951, 1e-9),
        assert_close(value_in(&b, "x.h3.phase", r), 171.6188114928, 1e-5);
    assert_close(value_in(&b, "x.mean", r), 0, 1e-9), assert_close(value_in(&b, "x.h2", r), 0, 1e-9);
    carom_branch_free(&b), carom_orbit_free(&o);
    f = define_branch(&d, NULL, NULL, "w", 1.2, 1.3);
    f.response = "nothing";
    carom_error err = {0};
    carom_branch none = {0};
    assert_int_equal(carom_follow_run(&none, &f, &err), CAROM_BAD_INPUT);
    assert_true(strstr(err.text, "nothing") != NULL);
    carom_branch_free(&none);
}

// At quadrature the work of the force is pi F A_1, that of the damping 0.2 pi w (A_1^2 + 9 A_3^2 + ...).
static void quadrature(void **state) {
    (void)state;
    char text[400], value[40];
    snprintf(text, sizeof text, DUFFING, "1", "0.1");
    const carom_orbit_def d = define(text, "2*pi/w", 0);
    carom_orbit o = find_orbit(&d);
    double start[2];
    carom_follow_def f = define_branch(&d, &o, start, "w", 1, 1.1);
    f.response = "x";
    carom_branch b = follow(&f);
    long r = 0;
    while (value_in(&b, "x.phase", r) > -80) ++r;
    snprintf(value, sizeof value, "w=%.17g", b.branch.column[1].real[r]);
    const char *const set[] = {value, NULL};
    const double at[2] = {value_in(&b, "x", r), value_in(&b, "x'", r)};
    carom_locus_def l = {.model = {.text = text, .length = strlen(text), .file = "model.yaml", .set = set},
                         .run = carom_run_nothing(),
                         .kind = CAROM_LOCUS_QUADRATURE,
                         .start = at,
                         .period = "2*pi/w",
                         .guess = 2 * PI,
                         .response = "x",
                         .by = {"w", "F"},
                         .from = {0.9, 0.05},
                         .to = {1.3, 0.2},
                         .step = 0.2};
    carom_locus c;
    carom_error err = {0};
    if (carom_locus_run(&c, &l, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_true(c.curve.rows > 5);
    for (long i = 0; i < c.curve.rows; i += c.curve.rows / 3) {
        // work of the force: pi F A at a quarter of a period; of the damper: 0.2 pi w sum k^2 A_k^2
        const double w = c.curve.column[1].real[i], F = c.curve.column[2].real[i], A = c.curve.column[7].real[i];
        char values[2][60];
        snprintf(values[0], sizeof values[0], "w=%.17g", w), snprintf(values[1], sizeof values[1], "F=%.17g", F);
        const char *const there[] = {values[0], values[1], NULL};
        const double x[2] = {c.curve.column[8].real[i], c.curve.column[9].real[i]};
        carom_follow_def g = f;
        g.model.set = there, g.start = x, g.from = w - 1e-4, g.to = w + 1e-4, g.max_points = 1;
        carom_branch one = follow(&g);
        double damper = A * A;
        for (int k = 2; k <= 9; ++k) {
            char name[20];
            snprintf(name, sizeof name, "x.h%d", k);
            damper += k * k * pow(value_in(&one, name, 0), 2);
        }
        assert_close(value_in(&one, "x.amplitude", 0), A, 1e-9);
        assert_close(value_in(&one, "x.phase", 0), -90, 1e-6);
        assert_close(F, 0.2 * w * damper / A, 1e-9 * F); // the eleventh harmonic is smaller
        carom_branch_free(&one);
    }
    carom_locus_free(&c), carom_branch_free(&b), carom_orbit_free(&o);
}

// x'' + x + x^3 = 0 from x = 1 and 2; x'' + x = 0 with an elastic stop at 1 and the energy 2: T = 4 pi/3.
static void conservative_orbits(void **state) {
    (void)state;
    static const char *const at[] = {"1", "2"};
    static const double period[] = {4.76802202910, 3.17972331678};
    for (int i = 0; i < 2; ++i) {
        char text[300];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: %s}}\nenergy: {kinetic: \"1/2*x'^2\", potential: \"1/2*x^2 + "
                 "1/4*x^4\"}\nsimulation: {end: 20}\n",
                 at[i]);
        carom_orbit_def d = define(text, "free", 0);
        d.conservative = true, d.energy = NAN;
        carom_orbit o = find_orbit(&d);
        assert_close(o.period, period[i], 1e-10);
        carom_orbit_free(&o);
        d.energy = 2; // V(sqrt(2)) = 2
        o = find_orbit(&d);
        assert_close(o.v[0] * o.v[0] / 2 + o.q[0] * o.q[0] / 2 + pow(o.q[0], 4) / 4, 2, 1e-10);
        assert_close(o.period, 4.0043095218, 1e-8);
        carom_orbit_free(&o);
    }
    carom_orbit_def d =
        define("carom: 1\ncoordinates: {x: {at: 0, rate: 2}}\nenergy: {kinetic: \"1/2*x'^2\", potential: "
               "\"1/2*x^2\"}\ncontacts: {stop: {gap: 1 - x, restitution: 1}}\nsimulation: {end: 20}\n",
               "free", 0);
    d.conservative = true, d.energy = NAN;
    carom_orbit o = find_orbit(&d);
    assert_close(o.period, 4 * PI / 3, 1e-9);
    carom_orbit_free(&o);
    // damped: there is none
    d = define("carom: 1\ncoordinates: {x: {at: 1}}\nenergy: {kinetic: \"1/2*x'^2\", potential: \"1/2*x^2\"}\nforces: "
               "{x: \"-0.1*x'\"}\nsimulation: {end: 20}\n",
               "free", 0);
    d.conservative = true, d.energy = NAN;
    refused(&d, CAROM_NOT_CONVERGED, "must be conservative");
}

// most: points; 0: to the end of the range
static carom_branch family(const char *text, int mode, double from, double to, int most, double *start) {
    const carom_orbit_def d = define(text, "free", 0);
    carom_follow_def f = define_branch(&d, NULL, NULL, "energy", from, to);
    carom_error err = {0};
    carom_model *m = carom_model_create(&d.model, &err);
    assert_non_null(m);
    if (carom_orbit_mode(m, mode, from, start, &f.guess, &err) != CAROM_OK) fail_msg("%s", err.text);
    carom_model_destroy(m);
    f.start = start, f.conservative = true, f.max_points = most;
    return follow(&f);
}

// Two masses with a cubic spring, in phase: at the energy 1 they are at rest at 0.89075204151, 1.01653920234.
static void nonlinear_mode(void **state) {
    (void)state;
    double start[4];
    carom_branch b = family("carom: 1\ncoordinates: {x1: 0, x2: 0}\nenergy: {kinetic: \"1/2*x1'^2 + 1/2*x2'^2\", "
                            "potential: \"x1^2 + x2^2 - x1*x2 + x1^4/8\"}\n",
                            1, 0.01, 1, 0, start);
    const long r = b.branch.rows - 1;
    assert_close(b.branch.column[1].real[r], 1, 1e-9);
    assert_close(value_in(&b, "period", r), 5.89468561546, 1e-9);
    assert_close(value_in(&b, "max(x1)", r), 0.89075204151, 1e-7),
        assert_close(value_in(&b, "max(x2)", r), 1.01653920234, 1e-7);
    carom_branch_free(&b);
}

// x'' + x = 0 with an elastic stop at 1: from the energy 1/2 on, T = 2 (pi - acos(1/sqrt(2 E))).  Two masses, one of
// which meets the stop: the mode in phase grazes at 1, that out of phase at 2.
static void through_the_stop(void **state) {
    (void)state;
    double start[4];
    carom_branch b = family("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", potential: "
                            "\"1/2*x^2\"}\ncontacts: {stop: {gap: 1 - x, restitution: 1}}\n",
                            1, 0.1, 2, 0, start);
    assert_close(at_event(&b, "grazing stop", 0), 0.5, 1e-8);
    for (long r = 0; r < b.branch.rows; ++r) {
        const double E = b.branch.column[1].real[r];
        if (E < 0.51) continue;
        assert_close(value_in(&b, "period", r), 2 * (PI - acos(1 / sqrt(2 * E))), 1e-9);
    }
    assert_true(b.note.code == CAROM_OK);
    carom_branch_free(&b);
    // a long range has large steps, of which one ends at 1 + 8e-11: it touches the stop by less than a run shows
    for (int i = 0; i < 3; ++i) {
        const int mode = i == 0 ? 1 : i;
        b = family("carom: 1\ncoordinates: {x1: 0, x2: 0}\nenergy: {kinetic: \"1/2*x1'^2 + 1/2*x2'^2\", potential: "
                   "\"1/2*x1^2 + 1/2*x2^2 + 1/4*(x1 - x2)^2\"}\ncontacts: {stop: {gap: 1 - x2, restitution: 1}}\n",
                   mode, i ? 0.5 : 0.1, i ? 2.5 : 5, i ? 0 : 40, start);
        assert_close(at_event(&b, "grazing stop", 0), mode, 1e-8);
        assert_true(b.note.code == CAROM_OK);
        carom_branch_free(&b);
    }
}

// The mode in phase, of x1 + x2 = sqrt(2) A cos t and x1 - x2 = sqrt(2) B cos(sqrt(2) t), t from where it is at rest, a
// time h before and behind the impact: x2 = 1 and x1' = 0 there.  With P the product of both linear motions and the
// jump, det(P + 1) = 0 at h = 2.750296061017, where the energy is (A^2 + 2 B^2)/2 = 3.27308232176.
static void doubling_of_a_family(void **state) {
    (void)state;
    static const double h = 2.76, limit[][2] = {{3, 3.5}, {2.9, 8}};
    const double w = sqrt(2), A = w / (cos(h) + sin(h) * cos(w * h) / (w * sin(w * h))),
                 B = -A * sin(h) / (w * sin(w * h)), start[4] = {(A + B) / w, (A - B) / w, 0, 0};
    const carom_orbit_def d =
        define("carom: 1\ncoordinates: {x1: 0, x2: 0}\nenergy: {kinetic: \"1/2*x1'^2 + 1/2*x2'^2\", "
               "potential: \"1/2*x1^2 + 1/2*x2^2 + 1/4*(x1 - x2)^2\"}\ncontacts: {stop: {gap: 1 - x2, "
               "restitution: 1}}\n",
               "free", 0);
    for (int i = 0; i < 2; ++i) {
        carom_follow_def f = define_branch(&d, NULL, NULL, "energy", limit[i][0], limit[i][1]);
        f.start = start, f.guess = 2 * h, f.conservative = true, f.max_points = 30;
        carom_branch b = follow(&f);
        assert_close(at_event(&b, "period-doubling", 0), 3.27308232176, 1e-9);
        carom_branch_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(response), cmocka_unit_test(quadrature),
                                       cmocka_unit_test(conservative_orbits), cmocka_unit_test(nonlinear_mode),
                                       cmocka_unit_test(through_the_stop),
                                       cmocka_unit_test(doubling_of_a_family)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

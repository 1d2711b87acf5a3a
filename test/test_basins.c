// test_basins.c: carom basins: labels against runs of its own, states of rest, runs that escape, an irregular motion.
#include "io/table.h"
#include "model_text.h"
#include <carom/dynamics.h>
#include <string.h>

#define LIST(...)                                                                                                      \
    (const char *const[]) { __VA_ARGS__, NULL }

static carom_basins_def define(const char *text, const char *const *vary) {
    carom_basins_def d = {.sweep = carom_sweep_default()};
    d.sweep.model.text = text, d.sweep.model.length = strlen(text), d.sweep.model.file = "model.yaml";
    d.sweep.vary = vary;
    return d;
}

static carom_basins basins(const carom_basins_def *d) {
    carom_basins b;
    carom_error err = {0};
    if (carom_basins_find(&b, d, &err) != CAROM_OK) fail_msg("%s", err.text);
    return b;
}

static double real(const carom_table *t, const char *name, long row) {
    const carom_column *c = carom_table_column(t, name);
    return c->kind == CAROM_COLUMN_REAL ? c->real[row] : (double)c->integer[row];
}

// x'' + 0.2 x' + x^3 = 0.35 cos t: two orbits of one period, (0.800567, 1.020854) and (-0.375987, 0.087609).
#define DUFFING(scheme)                                                                                                \
    "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/2, potential: x^4/4}\nforces: {x: 0.35*cos(t) - "           \
    "0.2*x'}\nsimulation: {" scheme "}\n"

static bool reaches_first(double x, double v) {
    enum { STEPS = 200 };
    const double h = 2 * 3.14159265358979323846 / STEPS;
#define A(t, x, v) (0.35 * cos(t) - 0.2 * (v) - (x) * (x) * (x))
    for (int i = 0; i < 60 * STEPS; ++i) {
        const double t = i % STEPS * h, a1 = A(t, x, v), v2 = v + h / 2 * a1, a2 = A(t + h / 2, x + h / 2 * v, v2),
                     v3 = v + h / 2 * a2, a3 = A(t + h / 2, x + h / 2 * v2, v3), v4 = v + h * a3,
                     a4 = A(t + h, x + h * v3, v4);
        x += h / 6 * (v + 2 * v2 + 2 * v3 + v4), v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
    return x > 0.2;
}

static void duffing(void **state) {
    (void)state;
    carom_basins_def d = define(DUFFING("scheme: half-explicit-rk, step: 0.05, end: 10, options: {order: 4}"),
                                LIST("x=-2:2:9", "x'=-2:2:9"));
    carom_basins b = basins(&d);
    assert_int_equal(b.runs.rows, 81);
    for (long r = 0; r < 81; ++r)
        assert_int_equal(real(&b.runs, "label", r) == 1, reaches_first(real(&b.runs, "x", r), real(&b.runs, "x'", r)));
    assert_int_equal(b.attractors.rows, 2);
    assert_close(real(&b.attractors, "x", 0), 0.800567, 1e-6);
    assert_close(real(&b.attractors, "x'", 0), 1.020854, 1e-6);
    assert_close(real(&b.attractors, "x", 1), -0.375987, 1e-6);
    assert_close(real(&b.attractors, "x'", 1), 0.087609, 1e-6);
    for (int i = 0; i < 2; ++i)
        assert_close(real(&b.attractors, "multiplier", i), exp(-0.2 * 3.14159265358979),
                     1e-5); // a complex pair: det = exp(-0.2 T)
    d.sweep.jobs = 3;       // the same table
    carom_basins c = basins(&d);
    for (long r = 0; r < 81; ++r)
        assert_true(real(&b.runs, "end.x", r) == real(&c.runs, "end.x", r) &&
                    real(&b.runs, "points", r) == real(&c.runs, "points", r));
    carom_basins_free(&c);
    carom_basins_free(&b);
    // In lanes all points of a run are computed, with steps of first order.
    d = define(DUFFING("scheme: moreau-jean, step: 0.02, end: 10"), LIST("x=-1,1", "x'=0,1"));
    d.sweep.lanes = CAROM_LANES_ON, d.sweep.count = 60;
    b = basins(&d);
    for (long r = 0; r < 4; ++r)
        assert_int_equal(real(&b.runs, "label", r) == 1, reaches_first(real(&b.runs, "x", r), real(&b.runs, "x'", r)) ==
                                                             (real(&b.attractors, "x", 0) > 0));
    carom_basins_free(&b);
}

// Two wells without forcing: states of rest at -1 and 1; beyond x = -2 it runs away.
static void wells(void **state) {
    (void)state;
    carom_basins_def d = define("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/2, potential: \"x^4/4 - "
                                "x^2/2\"}\nforces: {x: \"-0.5*x' - 1e4*if(x < -2, (x + 2)^2, 0)*exp(min(50, -x))\"}\n"
                                "simulation: {scheme: half-explicit-rk, step: 0.02, end: 20}\n",
                                LIST("x=-1.5,-0.1,0.1,1.5,-3"));
    carom_basins b = basins(&d);
    static const double end[] = {-1, -1, 1, 1};
    for (long r = 0; r < 4; ++r) {
        assert_close(real(&b.runs, "end.x", r), end[r], 1e-4);
        assert_int_equal(real(&b.runs, "label", r), end[r] < 0 ? 1 : 2);
    }
    assert_int_equal(real(&b.runs, "label", 4), 0);
    assert_true(real(&b.runs, "status", 4) != 0 && carom_table_column(&b.runs, "message")->text[4][0]);
    assert_string_equal(carom_table_column(&b.attractors, "kind")->text[0], "out");
    assert_string_equal(carom_table_column(&b.attractors, "kind")->text[1], "rest");
    carom_basins_free(&b);
}

// x'' + 0.05 x' + x^3 = 7.5 cos t (Ueda): the motion is irregular, and the largest exponent is positive.
static void irregular(void **state) {
    (void)state;
    QUICK_SKIPS();
    carom_basins_def d =
        define("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/2, potential: x^4/4}\nforces: {x: 7.5*cos(t) - "
               "0.05*x'}\nsimulation: {scheme: half-explicit-rk, step: 0.02, end: 10, options: {order: 4}}\n",
               LIST("x=1"));
    d.sweep.count = 64;
    carom_basins b = basins(&d);
    assert_int_equal(real(&b.runs, "period", 0), 0);
    assert_string_equal(carom_table_column(&b.attractors, "kind")->text[0], "chaotic");
    assert_true(fabs(real(&b.attractors, "exponent", 0) - 0.1) < 0.04);
    assert_int_equal(b.attractors.rows, 1);
    carom_basins_free(&b);
}

// x'' + 0.3 x' + x^3 - x = F cos(1.2 t), two wells (Holmes).
#define HOLMES(F)                                                                                                      \
    "carom: 1\ncoordinates: {x: 0.5}\nenergy: {kinetic: x'^2/2, potential: x^4/4 - x^2/2}\nforces: {x: " F           \
    "*cos(1.2*t) - 0.3*x'}\nsimulation: {scheme: half-explicit-rk, step: 0.05, end: 10, options: {order: 4}}\n"

// F = 0.2: one orbit of one period in each well.  Steps by a rough tolerance leave noise of that size, whose own period
// is that of the pieces in which runs go on.
static void rough_steps(void **state) {
    (void)state;
    static const double rtol[] = {1e-3, 1e-5};
    for (int i = 0; i < 2; ++i) {
        carom_basins_def d = define(HOLMES("0.2"), LIST("x=-1,0,1", "x'=0,0.1"));
        d.sweep.run.adaptive = true, d.sweep.run.rtol = rtol[i];
        carom_basins b = basins(&d);
        assert_int_equal(b.attractors.rows, 2);
        for (int a = 0; a < 2; ++a) {
            const bool right = real(&b.attractors, "x", a) > 0;
            assert_int_equal(real(&b.attractors, "period", a), 1);
            assert_close(real(&b.attractors, "x", a), right ? 0.568392 : -0.945023, 10 * rtol[i]);
            assert_close(real(&b.attractors, "multiplier", a), exp(-0.3 * 3.14159265358979 / 1.2), 1e-5);
        }
        carom_basins_free(&b);
    }
}

// F = 0.5: one irregular motion across both wells.  Means over 200 points differ by 8 % of the largest rate.
static void one_irregular(void **state) {
    (void)state;
    QUICK_SKIPS();
    carom_basins_def d = define(HOLMES("0.5"), LIST("x=-1,0", "x'=-1,-0.33333333333333343"));
    carom_basins b = basins(&d);
    assert_int_equal(b.attractors.rows, 1);
    assert_string_equal(carom_table_column(&b.attractors, "kind")->text[0], "chaotic");
    carom_basins_free(&b);
}

static void bad_input(void **state) {
    (void)state;
    carom_basins b;
    carom_error err = {0};
    carom_basins_def d = define(DUFFING("scheme: half-explicit-rk, step: 0.05, end: 10"), LIST("z=0:1:2"));
    assert_int_equal(carom_basins_find(&b, &d, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "'z'"));
    carom_basins_free(&b);
    d = define("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/2}\nforces: {x: t - x}\nsimulation: {scheme: "
               "event-driven, step: 0.05, end: 10}\n",
               LIST("x=0:1:2"));
    assert_int_equal(carom_basins_find(&b, &d, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "`section 'every PERIOD'`"));
    carom_basins_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(duffing), cmocka_unit_test(wells), cmocka_unit_test(irregular),
                                       cmocka_unit_test(rough_steps), cmocka_unit_test(one_irregular),
                                       cmocka_unit_test(bad_input)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_tables.c: tables in models: values and derivatives by hand, with every way to evaluate them, and what is wrong
// with a table.
#include "model_text.h"

// y = x^3 - 2 x: a spline through points of a cubic is that cubic.
#define CUBIC "cubic: {x: [-1, 0, 0.5, 2, 3], y: [1, 0, -0.875, 4, 21], kind: spline}"
#define ROAD "road: {x: [0, 1, 3], y: [1, 2, -2]}"
#define REST "coordinates: {x: {at: 0.25, rate: 2}}\nenergy: {kinetic: 1/2*x'^2, potential: cubic(x)}\n"

static double output(const char *expression) {
    char text[400];
    snprintf(text, sizeof text,
             "carom: 1\ntables: {" CUBIC ", " ROAD "}\ncoordinates: {x: {at: 0.25, rate: 2}}\nlet:\n  u: cubic(x)\n  "
                                                   "w: road(4*x)\nenergy: {kinetic: 1/2*x'^2}\noutputs:\n  y: %s\n",
             expression);
    carom_model *m = good(text);
    void *work = work_of(m);
    double y = NAN;
    carom_model_outputs(m, work, 0, carom_model_q0(m), carom_model_v0(m), &y);
    free(work);
    carom_model_destroy(m);
    return y;
}

static void values(void **state) {
    (void)state;
    assert_close(output("cubic(x)"), 0.25 * 0.25 * 0.25 - 0.5, 1e-15);
    assert_close(output("cubic(x + 2.5)"), 2.75 * 2.75 * 2.75 - 5.5, 1e-13);
    assert_close(output("u'"), (3 * 0.0625 - 2) * 2, 1e-14);
    assert_close(output("cubic(5*x)"), 1.25 * 1.25 * 1.25 - 2.5, 1e-14);
    // ends, knots
    assert_true(output("cubic(-7)") == 1 && output("cubic(7*x - 1.75)") == 0 && output("cubic(100*x)") == 21);
    assert_true(output("road(x)") == 1.25 && output("road(8*x)") == 0 && output("road(40*x)") == -2 &&
                output("road(-x)") == 1);
    assert_true(output("w'") == -2 * 4 * 2); // the kink at 1: from the right
}

static void forces(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ntables: {" CUBIC "}\nparameters: {k: 2*cubic(2)}\n" REST "forces: {x: k}\n");
    void *work = work_of(m);
    const carom_system *s = carom_model_system(m);
    double f = NAN, q = 2.5;
    assert_int_equal(s->force(s->model, work, 0, &q, carom_model_v0(m), &f), CAROM_OK);
    assert_close(f, 8 - (3 * 6.25 - 2), 1e-13); // k - V'(x)
    free(work);
    carom_model_destroy(m);
}

// Other values of parameters that tables are asked with, set in a model that is there.
static void parameters_are_set(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ntables: {" CUBIC "}\nparameters: {a: 2, k: 2*cubic(a)}\n" REST "forces: {x: k}\n");
    const int index = 0;
    const double value = 3;
    carom_error err = {0};
    double k = NAN;
    if (carom_model_set(m, 1, &index, &value, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    carom_model_parameter(m, 1, &k);
    assert_true(k == 42);
    carom_model_destroy(m);
}

// F rises from 1 to 2 in the first second and stays: v(2) = 3.5, x(2) = 2/3 + 1.5 + 1 = 19/6.
static void motion(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ntables: {F: {x: [0, 1], y: [1, 2]}}\ncoordinates: {x: 0}\nenergy: {kinetic: "
                          "1/2*x'^2}\nforces: {x: F(t)}\n");
    const char *const schemes[] = {"half-explicit-rk", "event-driven", "moreau-midpoint"};
    for (int k = 0; k < 3; ++k) {
        carom_sim *sim = model_sim(m, schemes[k], NULL, 0.125, 2);
        model_sim_run(sim);
        assert_close(*carom_sim_now(sim).q, 19.0 / 6, k == 2 ? 5e-3 : 1e-6);
        assert_close(*carom_sim_now(sim).v, 3.5, 1e-6);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Located schemes stop at the knots of a linear table: F = 0, 3, -1, 1 at 0, 0.3, 0.7, 1.9 s and x'' = F(t).  By hand,
// over a piece of length h from F_0 to F_1: x += v h + h^2 (2 F_0 + F_1)/6, v += h (F_0 + F_1)/2.  Beyond the last knot
// F stays 1.
static void knots_are_located(void **state) {
    (void)state;
    const double t[] = {0, 0.3, 0.7, 1.9, 2}, F[] = {0, 3, -1, 1, 1};
    double x = 0, v = 0;
    for (int i = 0; i < 4; ++i) {
        const double h = t[i + 1] - t[i];
        x += v * h + h * h * (2 * F[i] + F[i + 1]) / 6;
        v += 0.5 * h * (F[i] + F[i + 1]);
    }
    carom_model *m = good("carom: 1\ntables: {F: {x: [0, 0.3, 0.7, 1.9], y: [0, 3, -1, 1]}}\ncoordinates: {x: "
                          "0}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: F(t)}\n");
    assert_int_equal(carom_model_system(m)->events->nk, 1);
    const char *const schemes[] = {"event-driven", "mixed"};
    for (int k = 0; k < 2; ++k) {
        carom_sim *sim = model_sim(m, schemes[k], NULL, k ? 0.1 : 0.5, 2);
        model_sim_run(sim);
        assert_close(*carom_sim_now(sim).q, x, k ? 1e-6 : 1e-11);
        assert_close(*carom_sim_now(sim).v, v, k ? 1e-6 : 1e-11);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

static void none_outside(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ntables: {F: {x: [0, 1], y: [1, 2], outside: error}}\ncoordinates: {x: 0}\nenergy: "
                          "{kinetic: 1/2*x'^2}\nforces: {x: F(t)}\n");
    carom_sim *sim = model_sim(m, "half-explicit-rk", NULL, 0.125, 2);
    carom_error err = {0};
    assert_int_not_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    assert_true(carom_sim_now(sim).t <= 1);
    assert_non_null(strstr(err.text, "table 'F' evaluated at 1.0"));
    assert_non_null(strstr(err.text, ", beyond its last point 1 (`outside: error`)"));
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static carom_model *with_file(const char *file, carom_error *err) {
    static const char text[] =
        "carom: 1\ntables: {F: folder/F.csv}\ncoordinates: {x: 0}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: F(t)}\n";
    const carom_matrix_text t = {.name = "folder/F.csv", .text = file, .length = strlen(file)};
    return carom_model_create(
        &(carom_model_def){.text = text, .length = sizeof text - 1, .file = "m.yaml", .matrices = &t, .nmatrices = 1},
        err);
}

static void files(void **state) {
    (void)state;
    static const struct { const char *file, *says; } bad[] = {
        {"", "m.yaml:2:13: table 'F' has 0 points; it needs two or more"},
        {"x, y\n0, 1\n", "m.yaml:2:13: table 'F' has 1 point; it needs two or more"},
        {"x, y\nx, y\n", "folder/F.csv:2: expected two numbers, x and y"},
        {"0, 1\n1 2 3\n", "folder/F.csv:2: this line has 3 numbers"},
        {"# F\n\n0, 1\n2, 2\n1, 3", "folder/F.csv:5: x must ascend: 1 follows 2"},
        {"0, 1\n1, nan\n", "folder/F.csv:2: expected two numbers, x and y"},
        {"0, nan\n1, 2\n2, 3\n", "folder/F.csv:1: expected two numbers, x and y"}, // no line of names
        {"-1e308, 1\n1e308, 2\n", "folder/F.csv:2: this point is too far"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        carom_error err = {0};
        if (with_file(bad[k].file, &err) || !strstr(err.text, bad[k].says))
            fail_msg("%s instead of %s", err.text, bad[k].says);
    }
    carom_error err = {0};
    // the second with a byte order mark
    static const char *const good_ones[] = {"t; F\r\n# in N\r\n 0;\t1\r\n0.5 1.5\n1, 2", "\xEF\xBB\xBF"
                                                                                         "0,1\n1,2\n2,5\n"};
    for (int k = 0; k < 2; ++k) {
        carom_model *m = with_file(good_ones[k], &err);
        if (!m) fail_msg("%s", err.text);
        void *work = work_of(m);
        const carom_system *s = carom_model_system(m);
        double f = NAN;
        assert_int_equal(s->force(s->model, work, 0.75, carom_model_q0(m), carom_model_v0(m), &f), CAROM_OK);
        assert_true(f == 1.75);
        free(work);
        carom_model_destroy(m);
    }
}

static void wrong(void **state) {
    (void)state;
    static const struct { const char *table, *force, *says; } bad[] = {
        {"{x: [0, 1], y: [1]}", "0", "m.yaml:3:21: table 'F': x has 2 entries and y has 1"},
        {"{x: [0, 2, 1], y: [1, 2, 3]}", "0", "m.yaml:3:17: x must ascend: 1 follows 2; sort the points by x"},
        {"{x: [0, a], y: [1, 2]}", "0", "m.yaml:3:14: 'a' is a parameter, but an x of this table may only use numbers"},
        {"{x: [0, 1], y: [1, 1/0]}", "0", "m.yaml:3:25: a y of this table has no finite value"},
        {"{x: [0, 1]}", "0", "table 'F' needs x and y, or a file"},
        {"{x: [0, 1], y: [1, 2], kind: cubic}", "0", "kind is linear or spline"},
        {"{x: [0, 1], y: [1, 2], outside: nan}", "0", "outside is constant or error"},
        {"F.csv", "0", "m.yaml:3:6: the text of 'F.csv' is not given"},
        {"{x: [0, 1], y: [1, 2]}", "F", "m.yaml:6:6: 'F' is a table and needs an argument: F(x)"},
        {"{x: [0, 1], y: [1, 2]}", "F(t, t)", "m.yaml:6:6: table F requires 1 argument, got 2"},
        {"{x: [0, 1], y: [1, 2]}", "min(t)", "m.yaml:6:6: min requires at least 2 arguments, got 1"},
        {"{x: [0, 1], y: [1, 2]}", "G(t)", "m.yaml:6:6: unknown function 'G'"},
        {"{x: [0, 1], y: [1, 2]}\n  profile: {x: [0, 1], y: [1, 2]}", "profil(t)",
         "m.yaml:7:6: unknown function or table 'profil'; did you mean 'profile'?"},
        {"{x: [0, 1], y: [1, 2]}", "sine(t)", "m.yaml:6:6: unknown function or table 'sine'; did you mean 'sin'?"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ntables:\n  F: %s\nparameters: {a: 1}\nforces:\n  x: %s\ncoordinates: {x: 0}\nenergy: "
                 "{kinetic: 1/2*x'^2}\n",
                 bad[k].table, bad[k].force);
        carom_error err = {0};
        if (model_of(text, &err) || !strstr(err.text, bad[k].says)) fail_msg("%s instead of %s", err.text, bad[k].says);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values),
                                       cmocka_unit_test(forces),
                                       cmocka_unit_test(parameters_are_set),
                                       cmocka_unit_test(motion),
                                       cmocka_unit_test(knots_are_located),
                                       cmocka_unit_test(none_outside),
                                       cmocka_unit_test(files),
                                       cmocka_unit_test(wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

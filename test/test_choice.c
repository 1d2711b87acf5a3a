// test_choice.c: which scheme and step a run has whose model names none: auto, and for worlds moreau-midpoint with a
// step that follows from widths and speeds (WLD-1).
#include "model_text.h"
#include "scheme/advice.h"
#include <carom/event.h>
#include <carom/run.h>

static const double g = 9.81;

// n discs of radius r on each other, on a floor; `more` after the bodies.
static carom_model *column(int n, double r, double gravity, const char *more, const char *simulation) {
    char text[1000];
    snprintf(text, sizeof text,
             "carom: 1\nparameters: {r: %.17g}\ngravity: [0, -%.17g]\n"
             "bodies: {disc: {repeat: %d, body: {mass: 1, inertia: r^2/2, at: [0, r*(1 + 2*i)], shape: {circle: r}}}}\n"
             "shapes: {floor: {plane: [0, 1]}}\n"
             "contacts: {c: {among: [disc, floor], friction: 0.3}}\n%ssimulation: {%s}\n",
             r, gravity, n, more, simulation);
    return good(text);
}

typedef struct outcome { char scheme[40], chosen[240]; double step; } outcome;

static outcome chosen(carom_model *m, carom_run_given given) {
    carom_run run;
    carom_error err = {0};
    outcome x = {.step = NAN};
    if (carom_run_resolve(&run, m, &given, &err) != CAROM_OK) fail_msg("%s", err.text);
    snprintf(x.scheme, sizeof x.scheme, "%s", run.scheme);
    snprintf(x.chosen, sizeof x.chosen, "%s", run.chosen);
    x.step = run.step;
    carom_run_free(&run);
    carom_model_destroy(m);
    return x;
}

static void expect(outcome x, const char *scheme, double step) {
    assert_string_equal(x.scheme, scheme);
    assert_true(fabs(x.step - step) <= 1e-15 * step);
    assert_int_equal(x.chosen[0] != 0, strcmp(scheme, "moreau-midpoint") == 0);
}

// The largest of 1, 2, 5 times powers of ten that is not above x.
static double rounded(double x) {
    double best = 0;
    static const double lead[] = {1, 2, 5};
    for (int p = -12; p < 6; ++p)
        for (int i = 0; i < 3; ++i)
            if (lead[i] * pow(10, p) <= x) best = lead[i] * pow(10, p);
    return best;
}

static void worlds_get_a_step(void **state) {
    (void)state;
    const carom_run_given nothing = carom_run_nothing();
    // ten discs: the highest falls 19 r; nine are 27 velocities
    const double r = 0.05, u = sqrt(2 * g * 19 * r);
    expect(chosen(column(10, r, g, "", "end: 3"), nothing), "moreau-midpoint", rounded(0.1 * r / u));
    expect(chosen(column(9, r, g, "", "end: 3"), nothing), "auto", 3.0 / 1000);
    // in other units of length and time the step is the same part of the time in which one falls by r
    for (int k = -6; k <= 6; k += 3) {
        const double R = r * pow(10, k);
        expect(chosen(column(12, R, g, "", "end: 1e6"), nothing), "moreau-midpoint",
               rounded(0.1 * R / sqrt(2 * g * 23 * R)));
        expect(chosen(column(12, r, g * pow(10, k), "", "end: 1e6"), nothing), "moreau-midpoint",
               rounded(0.1 * r / sqrt(2 * g * pow(10, k) * 23 * r)));
    }
    // no more than a thousandth of the run, as records are not rarer
    expect(chosen(column(10, r, g, "", "end: 1e-4"), nothing), "moreau-midpoint", 1e-7);
    // what is given stands
    expect(chosen(column(10, r, g, "", "step: 3e-4, end: 3"), nothing), "moreau-midpoint", 3e-4);
    expect(chosen(column(10, r, g, "", "scheme: moreau-jean, step: 3e-4, end: 3"), nothing), "moreau-jean", 3e-4);
    carom_run_given given = nothing;
    given.rtol = 1e-5;
    expect(chosen(column(10, r, g, "", "end: 3"), given), "auto", 3.0 / 1000);
    given = nothing;
    given.scheme = "auto";
    expect(chosen(column(10, r, g, "", "scheme: moreau-jean, step: 3e-4, end: 3"), given), "moreau-midpoint", 3e-4);
    expect(chosen(column(10, r, g, "", "options: {max-step: 1e-3}, end: 3"), nothing), "auto", 3.0 / 1000);
    // options of the solver do not speak to auto
    expect(chosen(column(10, r, g, "", "options: {tol: 1e-6}, end: 3"), nothing), "moreau-midpoint",
           rounded(0.1 * r / u));
}

// Joints and springs make no world, nor bodies that never meet each other.
static void mechanisms_are_no_worlds(void **state) {
    (void)state;
    const carom_run_given nothing = carom_run_nothing();
    char joints[1200] = "joints:\n";
    for (int i = 0; i < 9; ++i)
        snprintf(joints + strlen(joints), sizeof joints - strlen(joints),
                 "  j%d: {type: revolute, between: [disc.%d, disc.%d], at: [0, r*%d]}\n", i, i, i + 1, 2 * (i + 1));
    char text[2200];
    snprintf(text, sizeof text,
             "carom: 1\nparameters: {r: 0.05}\ngravity: [0, -9.81]\n"
             "bodies: {disc: {repeat: 10, body: {mass: 1, inertia: r^2/2, at: [0, r*(1 + 2*i)], shape: {circle: r}}}}\n"
             "shapes: {floor: {plane: [0, 1]}}\ncontacts: {c: {between: [disc, floor]}}\n%ssimulation: {end: 3}\n",
             joints);
    expect(chosen(good(text), nothing), "auto", 3.0 / 1000);
    const char *spring = "springs: {s: {between: [ground, disc.3], points: [[0, 2], [0, 0]], stiffness: 1e6}}\n";
    expect(chosen(column(10, 0.05, g, spring, "end: 3"), nothing), "auto", 3.0 / 1000);
    expect(chosen(good("carom: 1\ngravity: [0, -9.81]\n"
                       "bodies: {disc: {repeat: 20, body: {mass: 1, inertia: 1, at: [3*i, 1], shape: {circle: 1}}}}\n"
                       "shapes: {floor: {plane: [0, 1]}}\ncontacts: {c: {between: [disc, floor]}}\n"
                       "simulation: {end: 3}\n"),
                  nothing),
           "auto", 3.0 / 1000);
    // without gravity and speed nothing says how long a step is
    expect(chosen(column(10, 0.05, 0, "", "end: 3"), nothing), "auto", 3.0 / 1000);
    expect(chosen(good("carom: 1\ncoordinates: {x: 1}\nenergy: {kinetic: 1/2*x'^2}\nsimulation: {end: 3}\n"), nothing),
           "auto", 3.0 / 1000);
}

// With its step twelve discs that are dropped on each other overlap by less than a tenth of a radius, and nothing is
// warned of.
static void a_world_runs_without_warnings(void **state) {
    (void)state;
    QUICK_SKIPS();
    for (int k = -3; k <= 3; k += 3) {
        const double r = 0.05 * pow(10, k);
        carom_model *m = column(12, r, g, "", "");
        carom_run run;
        carom_error err = {0};
        carom_run_given given = carom_run_nothing();
        given.end = 40 * sqrt(r / g);
        assert_int_equal(carom_run_resolve(&run, m, &given, &err), CAROM_OK);
        carom_sim_def def = carom_run_sim(&run, m);
        double *q = calloc((size_t)carom_model_system(m)->nq, sizeof *q);
        for (int i = 0; i < 12; ++i) q[3 * i] = 0.1 * r * (i % 3), q[3 * i + 1] = r * (1.5 + 2.6 * i);
        def.q0 = q;
        carom_sim *sim = carom_sim_create(&def, &err);
        assert_non_null(sim);
        while (!carom_sim_done(sim)) assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
        carom_ledger l;
        carom_warning warning[CAROM_WARNINGS];
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        assert_int_equal(carom_sim_warnings(sim, &l, warning), 0);
        assert_true(l.impacts > 12 && l.penetration < 0.1 * r);
        char text[300];
        carom_sim_choice(sim, text, sizeof text);
        assert_string_equal(text, run.chosen);
        carom_sim_destroy(sim);
        carom_run_free(&run);
        carom_model_destroy(m);
        free(q);
    }
}

// Schemes that messages advise are in the list of schemes.
static void advised_schemes_are_there(void **state) {
    (void)state;
    static const char *const lists[] = {CAROM_DEFAULT_SCHEME,
                                        CAROM_SCHEME_OF_DERIVATIVES,
                                        CAROM_SCHEME_OF_MODES,
                                        CAROM_SCHEME_OF_IMPORTS,
                                        CAROM_LOCATING,
                                        CAROM_LOCATING_EXACTLY,
                                        CAROM_LOCATING_ORBITS,
                                        CAROM_STIFF,
                                        CAROM_IMPLICIT,
                                        CAROM_SECOND_ORDER,
                                        CAROM_OTHER_SECOND_ORDER,
                                        CAROM_CLOSED_JOINTS,
                                        CAROM_POSITIONS,
                                        CAROM_MASSLESS};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
        for (const char *at = lists[i]; *at;) {
            char name[40];
            const size_t n = strcspn(at, ",");
            snprintf(name, sizeof name, "%.*s", (int)n, at);
            if (!carom_schemes_find(name)) fail_msg("'%s' is advised and is no scheme", name);
            at += n;
            at += strspn(at, ", ");
        }
    assert_true(carom_schemes_find(CAROM_MASSLESS)->massless);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advised_schemes_are_there),
        cmocka_unit_test(worlds_get_a_step),
        cmocka_unit_test(mechanisms_are_no_worlds),
        cmocka_unit_test(a_world_runs_without_warnings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

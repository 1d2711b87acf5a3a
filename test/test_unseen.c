// test_unseen.c: forces, pulses, walls, positions, brakes and soft contacts that steps do not see, or see too coarsely:
// each has its warning, and its silence where it is resolved.
#include "warned.h"

// (BK-10)  Barriers, walls and pulses that are narrower than some of these steps, in other units, at other speeds, and
// forces that brake: what a run ends with is right to 3 %, or it warns, in every scheme with every step.  What comes
// out right with the finest step is not warned of, but for a scheme of first order.
static void forces_that_steps_do_not_see(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double end, steps[4], rate; // at the end
    } cases[] = {
        {"coordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: x'^2/2, potential: "
         "'0.8*exp(-((x-0.5037)/2e-3)^2)'}\n",
         1,
         {2e-2, 1e-2, 5e-3, 5e-4},
         -1},
        {"coordinates: {x: {at: 0, rate: 1e-3}}\nenergy: {kinetic: 1e-6*x'^2/2, potential: "
         "'0.25e-12*exp(-((x-0.5037e-3)/2e-6)^2)'}\n",
         1,
         {2e-2, 1e-2, 5e-3, 5e-4},
         1e-3},
        {"coordinates: {x: {at: 0, rate: 7}}\nenergy: {kinetic: 3*x'^2/2, potential: "
         "'118*exp(-((x-0.3331)/1e-3)^2)'}\n",
         0.1,
         {1e-3, 5e-4, 2e-4, 2e-5},
         -7},
        {"coordinates: {x: {at: 0, rate: 2}}\nenergy: {kinetic: x'^2, potential: '6*(1+tanh((x-0.7113)/1e-3))'}\n",
         0.7,
         {1e-2, 5e-3, 1e-3, 1e-4},
         -2},
        {"coordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: x'^2/2}\nforces: {x: "
         "\"-150*exp(-((x-0.5123)/2e-3)^2)*x'\"}\n",
         1,
         {2e-2, 1e-2, 5e-3, 5e-4},
         1 - 0.3 * 1.7724538509055159},
        {"coordinates: {x: 0}\nenergy: {kinetic: x'^2/2}\nforces: {x: '282.0947917738782*exp(-((t-0.5037)/2e-3)^2)'}\n",
         1,
         {5e-2, 1e-2, 5e-3, 5e-4},
         1},
        {"coordinates: {x: 0}\nenergy: {kinetic: x'^2/200}\nforces: {x: '1/cosh((t-0.2007)/1e-3) + "
         "1/cosh((t-0.6019)/1e-3)'}\n",
         1,
         {2e-2, 1e-2, 5e-3, 2e-4},
         0.2 * 3.1415926535897931},
    };
    carom_error err = {0};
    int wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
        for (const carom_scheme *const *scheme = carom_schemes(); *scheme; ++scheme)
            for (int k = 0; k < 4; ++k) {
                if ((i + (size_t)k) % (BRIEF ? 4 : 2) != 0) continue;
                char text[400];
                snprintf(text, sizeof text, "carom: 1\n%s", cases[i].text);
                carom_model *m = good(text);
                const carom_run run = {.scheme = (*scheme)->name, .step = cases[i].steps[k], .end = cases[i].end};
                carom_sim_def d = carom_run_sim(&run, m);
                carom_sim *sim = carom_sim_create(&d, &err);
                if (!sim) fail_msg("%s: %s", (*scheme)->name, err.text);
                carom_ledger l;
                carom_warning list[CAROM_WARNINGS];
                model_sim_run(sim);
                assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
                const int n = carom_sim_warnings(sim, &l, list);
                const double v =
                    fabs(carom_sim_now(sim).v[0] - cases[i].rate) / fmax(fabs(cases[i].rate), carom_model_v0(m)[0]);
                wrong += v > 0.03;
                if (v > 0.03 && n == 0)
                    fail_msg("case %zu, %s, step %g: %g instead of %g, silently", i, (*scheme)->name, d.h,
                             carom_sim_now(sim).v[0], cases[i].rate);
                if (k == 3 && v < 1e-3 && n > 0 && strcmp((*scheme)->name, "moreau-explicit") != 0)
                    fail_msg("case %zu, %s, step %g, off by %g: %s", i, (*scheme)->name, d.h, v, list[0].text);
                carom_sim_destroy(sim);
                carom_model_destroy(m);
            }
    assert_true(wrong > (BRIEF ? 50 : 100));
}

// Pulses of force shorter than a step, 0.1 ms by jumps and 2 w ln(2)^(1/2) = 1.67 ms by a bell, and a wall that juts
// out for 1 ms; with steps short enough, with schemes that cut their steps, and for steps that rise and stay, stairs
// and functions that touch zero smoothly there is no warning.
static void short_pulses(void **state) {
    (void)state;
    static const char *const schemes[] = {"half-explicit", "moreau-jean", "newmark", "ggl-alpha", "mixed"};
    static const struct { const char *text; double t, width;
    } x[] = {
        {"forces: {q: \"if((t >= 0.264)*(t < 0.2641), -300, 0)\"}\n", 0.26405, 1e-4},
        {"forces: {q: 1 + 100*exp(-((t - 0.3137)/1e-3)^2)}\n", 0.3137, 1.6651e-3},
        {"contacts: {c: {gap: \"q + 1 - if((t > 0.7)*(t < 0.701), 0.5, 0)\"}}\n", 0.7005, 1e-3},
        {"forces: {q: \"5 + 5*tanh((t - 0.5)/1e-4) + floor(t/1e-3) + (1 - cos(20*t))\"}\n", 0, 0},
        {"forces: {q: \"2 + abs(sin(20*t)) + exp(-100*t)\"}\n", 0, 0},
    };
    for (int i = 0; i < 25; ++i) {
        const int k = i % 5;
        char text[300];
        snprintf(text, sizeof text, "carom: 1\ncoordinates: {q: 0}\nenergy: {kinetic: q'^2/2}\n%s", x[i / 5].text);
        for (int fine = 0; fine < 2; ++fine) {
            carom_warning list[CAROM_WARNINGS];
            carom_ledger l;
            const int n = run_to_end(text, schemes[k], NULL, fine ? 5e-5 : 0.02, 1, list, &l);
            const carom_warning *w = find(list, n, "resolution");
            if (k == 4 || fine || x[i / 5].width == 0) {
                if (w) fail_msg("%s: %s", schemes[k], w->text);
                continue;
            }
            if (!w) fail_msg("%s: no warning for %s", schemes[k], x[i / 5].text);
            assert_close(w->t, x[i / 5].t, 0.5 * x[i / 5].width);
            const char *at = strstr(w->text, "a pulse of ");
            assert_non_null(at);
            assert_close(strtod(at + 11, NULL), x[i / 5].width, 0.05 * x[i / 5].width);
            assert_non_null(strstr(w->text, i / 5 == 2 ? "the gap of" : "the force on"));
        }
    }
}

// A body is thrown by a wall that moves as a bell of half its height for 2 w ln(2)^(1/2) = 16.7 ms, with its largest
// speed, (2/e)^(1/2) A/w; and by one that swings, in half a period of 15.7 ms.  Schemes that take steps as they are
// given are told where these are too few, and with the step that is named the speed is right and nothing is told.
// Schemes that locate events know it with any step.  There is no warning of walls that only rise, that nothing touches,
// or that hardly move.
static double thrown(const char *wall, const char *scheme, double h, const char **told, carom_warning *list) {
    char text[300];
    snprintf(text, sizeof text,
             "carom: 1\ncoordinates: {x: 0.05}\nenergy: {kinetic: x'^2/2}\n"
             "contacts: {far: {gap: x + 9}, c: {gap: 'x - %s', restitution: 0}}\n",
             wall);
    carom_model *m = good(text);
    carom_error err = {0};
    carom_sim_def d = sim_def(m, scheme, (const char *const[]){NULL}, h, 1);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s: %s", scheme, err.text);
    model_sim_run(sim);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    const int n = carom_sim_warnings(sim, &l, list);
    const carom_warning *w = find(list, n, "resolution"), *deep = find(list, n, "penetration");
    *told = w ? w->text : deep ? deep->text : NULL;
    if (w && strstr(w->text, "the wall of")) assert_true(w->id == 1);
    const double v = carom_sim_now(sim).v[0];
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return v;
}

static void walls_in_few_steps(void **state) {
    (void)state;
    static const char *const schemes[] = {"half-explicit", "half-explicit-rk", "moreau-jean",  "moreau-midpoint",
                                          "ggl-alpha",     "alpha-forces",     "ggl-midpoint", "ggl-projection",
                                          "newmark",       "generalized-alpha", "dg-plus",     "schatzman-paoli"};
    static const char bell[] = "0.1*exp(-((t - 0.5037)/1e-2)^2)", swings[] = "0.1*sin(200*t)";
    const double v_true = 0.1 * sqrt(2 / exp(1)) / 1e-2;
    carom_warning list[CAROM_WARNINGS];
    const char *told;
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
        const char *name = schemes[i];
        for (int k = 0; k < 3; ++k) { // 1.7, 3.3 and 5.6 steps
            const double v = thrown(bell, name, (const double[]){1e-2, 5e-3, 1.0 / 333}[k], &told, list);
            if (!told) fail_msg("%s: x' = %g, and no word", name, v);
            const char *at = strstr(told, "a step below ");
            if (!at) continue; // penetration, which names no step
            const double v_1 = thrown(bell, name, 1 / ceil(1 / (0.999 * strtod(at + 13, NULL))), &told, list);
            if (told) fail_msg("%s, with the step it asked for: %s", name, told);
            if (!(fabs(v_1 - v_true) < 0.03 * v_true))
                fail_msg("%s, with the step it asked for: x' = %.9g, not %.9g", name, v_1, v_true);
        }
        // so short in the run that only bounds of the function show where it is
        if (thrown("0.1*exp(-((t - 0.5037)/2e-4)^2)", name, 1e-4, &told, list), !told)
            fail_msg("%s: no word of a short pulse", name);
        if (thrown(swings, name, 5e-3, &told, list), !told) fail_msg("%s: no word of a wall that swings", name);
        static const char *const calm[] = {"0.05*(1 + tanh((t - 0.5)/1e-2))", "(0.04*exp(-((t - 0.5037)/1e-2)^2))",
                                           "0.05*t - 1e-9*sin(200*t)"};
        for (int k = 0; k < 3; ++k)
            if (thrown(calm[k], name, 5e-3, &told, list), told && strstr(told, "the wall of"))
                fail_msg("%s, %s: %s", name, calm[k], told);
    }
    for (int i = 0; i < 3; ++i) {
        static const char *const located[] = {"mixed", "auto", "event-driven"};
        assert_close(thrown(bell, located[i], 1e-2, &told, list), v_true, 1e-3);
        if (told) fail_msg("%s: %s", located[i], told);
    }
}

// Forces of a place of 1 mm or 2 cm, and brakes that act for 2 ms, between two steps of 10 ms: no scheme with constant
// steps meets them.  The same in the steps that follow them are no matter.
static void places_and_brakes_between_steps(void **state) {
    (void)state;
    static const char *const model[] = {
        "coordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: '-if(abs(x - 0.4037) < 0.5e-3, "
        "400, 0)'}\n",
        "coordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: '-800e3*max(0, 0.5e-3 - abs(x - "
        "0.4037))'}\n",
        "tables: {f: {x: [-1, 0.403, 0.4032, 0.4038, 0.404, 3], y: [0, 0, -500, -500, 0, 0]}}\n"
        "coordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: f(x)}\n",
        "shapes: {peg: {circle: 0.01, at: [0.503, 0]}}\nbodies: {ball: {mass: 1, inertia: 1e-3, velocity: [10, 0], "
        "shape: {circle: 0.01}}}\ncontacts: {hit: {between: [ball, peg], stiffness: 1e7, friction: 0}}\n",
        "coordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2}\ncontacts: {c: {normal force: 'if(abs(t - "
        "0.5037) < 1e-3, 2000, 0)', slip: x, friction: 0.1}}\n",
        "coordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2}\ncontacts: {c: {normal force: "
        "'2000*exp(-((t - 0.5037)/1e-3)^2)', slip: x, friction: 0.1}}\n"};
    static const char *const scheme[] = {"half-explicit", "moreau-jean", "moreau-midpoint", "ggl-midpoint", "newmark"};
    for (int i = 0; i < 6; ++i)
        for (int k = 0; k < 5; ++k) {
            char text[500];
            carom_warning list[CAROM_WARNINGS];
            carom_ledger l;
            snprintf(text, sizeof text, "carom: 1\n%s", model[i]);
            if (!find(list, run_to_end(text, scheme[k], NULL, 1e-2, 1, list, &l), "resolution"))
                fail_msg("%s, model %d: no word", scheme[k], i);
            // what bends, and a brake, in 20 steps and more
            if (i != 1 && i < 4) continue;
            const double h = i == 1 ? 1e-5 : 5e-5;
            const int n = run_to_end(text, scheme[k], NULL, h, 0.6, list, &l);
            const carom_warning *w = find(list, n, "resolution");
            if (w) fail_msg("%s, model %d, %g: %s", scheme[k], i, h, w->text);
        }
}

// Half of a step behind the middle of one pulse of 0.1 ms lies another: the width is that of one of them.
static void pulses_one_after_the_other(void **state) {
    (void)state;
    carom_warning list[CAROM_WARNINGS];
    carom_ledger l;
    const int n = run_to_end("carom: 1\ncoordinates: {q: 0}\nenergy: {kinetic: q'^2/2}\nforces: {q: \"if((t >= "
                             "0.264)*(t < 0.2641) + (t >= 0.274)*(t < 0.2741), 300, 0)\"}\n",
                             "half-explicit", NULL, 0.02, 1, list, &l);
    const carom_warning *w = find(list, n, "resolution");
    assert_non_null(w);
    assert_non_null(strstr(w->text, "a pulse of 0.0001 s at t = 0.26405"));
}

// A place of 5 mm with a force, which a step of 10 mm passes over: few bodies or many, whose contacts are in a list,
// hard or compliant.
static void places_among_few_bodies_and_many(void **state) {
    (void)state;
    for (int i = 0; i < 4; ++i) {
        const int bodies = i % 2 ? 80 : 2;
        char text[8000], names[1000] = "s";
        carom_warning list[CAROM_WARNINGS];
        carom_ledger l;
        size_t n = (size_t)snprintf(text, sizeof text,
                                    "carom: 1\nbodies:\n  s: {mass: 1, inertia: 1, velocity: [1, 0], shape: {circle: "
                                    "0.01}}\n");
        for (int i = 0; i < bodies; ++i) {
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "  b%d: {mass: 1, inertia: 1, at: [%g, 3], shape: {circle: 0.1}}\n", i,
                                  0.5 * (i - bodies / 2));
            snprintf(names + strlen(names), sizeof names - strlen(names), ", b%d", i);
        }
        snprintf(text + n, sizeof text - n,
                 "loads: {push: {on: s, force: ['if(abs(s.x - 0.5) < 0.0025, 100, 0)', 0]}}\ncontacts: {c: {between: "
                 "[%s]%s}}\n",
                 names, i < 2 ? "" : ", stiffness: 1e4");
        for (int k = 0; k < 2; ++k) {
            const char *scheme = k ? "half-explicit" : "moreau-midpoint";
            if (!find(list, run_to_end(text, scheme, NULL, 1e-2, 1, list, &l), "resolution"))
                fail_msg("%d bodies, %d, %s: no word", bodies, i, scheme);
        }
    }
}

// A ball of 1 kg falls on a soft floor of 1e6 N/m, on which it stays for pi/1000 s, with Hunt and Crossley's damping: 3
// steps of 1 ms do not follow that, with any scheme that takes such steps.  31 do.
static void soft_contacts_of_few_steps(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {y: 0.1}\nenergy: {kinetic: y'^2/2, potential: "
                               "9.81*y}\ncontacts: {floor: {gap: y, stiffness: 1e6, damping: 0.3}}\n";
    carom_warning list[CAROM_WARNINGS];
    carom_ledger l;
    for (int i = 0; carom_schemes()[i]; ++i) {
        const carom_scheme *scheme = carom_schemes()[i];
        // it has no use for so stiff a floor with either step
        if (strcmp(scheme->name, "moreau-explicit") == 0) continue;
        const bool fixed = !scheme->accounts_power;
        const carom_warning *w = find(list, run_to_end(text, scheme->name, NULL, 1e-3, 0.5, list, &l), "resolution");
        if ((w != NULL) != fixed) fail_msg("%s, 3 steps: %s", scheme->name, w ? w->text : "no warning");
        if (w && !strstr(w->text, "damping dissipated") && !strstr(w->text, "forces change inside steps"))
            fail_msg("%s: %s", scheme->name, w->text);
        const int n = run_to_end(text, scheme->name, NULL, 1e-4, 0.5, list, &l);
        if (n > 0) fail_msg("%s, 31 steps: %s", scheme->name, list[0].text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_that_steps_do_not_see),
        cmocka_unit_test(short_pulses),
        cmocka_unit_test(walls_in_few_steps),
        cmocka_unit_test(places_among_few_bodies_and_many),
        cmocka_unit_test(soft_contacts_of_few_steps),
        cmocka_unit_test(pulses_one_after_the_other),
        cmocka_unit_test(places_and_brakes_between_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_steps.c: what a step notes, books and leaves behind: where it fails, across jumps and signals, after obstacles,
// where the run is set back.
#include "diagnosis/diagnosis.h"
#include "measures.h"
#include "scheme/registry.h"
#include "sim/inspect.h"

// What a step notes for itself, set to what no step leaves, does not change the next one.
static void a_step_forgets_what_the_one_before_noted(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0.02, rate: -0.3}}\nenergy: "
                               "{kinetic: (x'^2 + y'^2)/2, potential: 9.81*y}\nforces: {x: 'if(t < 0.0333, 3, -2)'}\n"
                               "contacts: {floor: {gap: y, slip: x, friction: 0.3, restitution: 0.4}}\n";
    static const char *const schemes[] = {"moreau-midpoint", "half-explicit", "ggl-alpha",
                                          "mixed",           "newmark",       "moreau-midpoint"};
    for (int i = 0; i < 6; ++i) {
        const made a = make(text, schemes[i], i == 5 ? "adaptive=on" : NULL, 2e-3, 0.2),
                   b = make(text, schemes[i], i == 5 ? "adaptive=on" : NULL, 2e-3, 0.2);
        carom_error err = {0};
        while (!carom_sim_done(a.sim)) {
            b.sim->grown = true, b.sim->undo.refused_scale = 1e9, b.sim->unbooked = 0, b.sim->behind = -1;
            assert_true(carom_sim_step(a.sim, &err) == CAROM_OK && carom_sim_step(b.sim, &err) == CAROM_OK);
            assert_false(b.sim->grown || b.sim->undo.refused_scale != a.sim->undo.refused_scale);
            assert_memory_equal(a.sim->kept, b.sim->kept, a.sim->kept_size);
        }
        done(&a), done(&b);
    }
}

// A scheme whose contact problems need a looser `accept` than they have.  `scales`: velocities of a step are those of
// its forces, and halve with it (TOL-4).
static struct { const carom_scheme *real; double wants; bool scales; int calls; } choosy;

static carom_status choose(void *work, carom_step *s) {
    ++choosy.calls;
    if (s->inside->accept >= choosy.wants) return choosy.real->step(work, s);
    *s->speed = 1e9; // of an iterate
    s->contact.refused = choosy.scales ? s->h : 1;
    return carom_retry(s, "refused");
}

// At rest, halves are accepted within 1e-6 at once: a step, its first half and its second are refused, and no more.
// Where even that does not help, or is allowed already, the run ends there.  Where velocities are others than those of
// forces, a step is halved ten times.
static void refused_steps_at_rest_are_not_halved_on(void **state) {
    (void)state;
    static const struct {
        const char *accept; double wants; bool scales, goes_on; int calls;
    } cases[] = {{NULL, 1e-6, true, true, 5},
                 {"accept=1e-6", 1e-6, true, true, 1},
                 {NULL, 1, true, false, 3},
                 {"accept=1e-5", 1, true, false, 2},
                 {NULL, 1e-6, false, false, 11}};
    choosy.real = carom_scheme_find("moreau-jean");
    carom_scheme scheme = *choosy.real;
    scheme.name = "choosy", scheme.step = choose;
    const carom_scheme *const list[] = {&scheme, NULL};
    carom_model *m = good(
        "carom: 1\ncoordinates: {y: 0}\nenergy: {kinetic: y'^2/2, potential: 9.81*y}\ncontacts: {floor: {gap: y}}\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *const options[] = {cases[i].accept, NULL};
        carom_error err = {0};
        carom_sim_def d = sim_def(m, "choosy", options, 1e-3, 1e-2);
        d.schemes = list;
        carom_sim *sim = carom_sim_create(&d, &err);
        if (!sim) fail_msg("%s", err.text);
        choosy.wants = cases[i].wants, choosy.scales = cases[i].scales, choosy.calls = 0;
        const carom_status status = carom_sim_step(sim, &err);
        assert_int_equal(choosy.calls, cases[i].calls);
        assert_int_equal(status == CAROM_OK, cases[i].goes_on);
        if (cases[i].goes_on) assert_true(sim->kept->speed < 1); // what was refused says nothing about the motion
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// A scheme that has no answer for steps longer than `most`, and the lengths that it was asked for, up to nine.
static struct { const carom_scheme *real; double most, tried[9]; int n; } brittle;

static carom_status break_down(void *work, carom_step *s) {
    if (brittle.n < 9) brittle.tried[brittle.n++] = s->h;
    return s->h > brittle.most ? carom_fail(s->err, CAROM_NOT_CONVERGED, "too long") : brittle.real->step(work, s);
}

static carom_sim *brittle_sim(const carom_model *m, double most, const char *const *options) {
    static carom_scheme scheme;
    static const carom_scheme *list[] = {&scheme, NULL};
    brittle.real = carom_scheme_find("moreau-jean"), brittle.most = most, brittle.n = 0;
    scheme = *brittle.real;
    scheme.name = "brittle", scheme.step = break_down;
    carom_error err = {0};
    carom_sim_def d = sim_def(m, "brittle", options, 0.1, 1);
    d.schemes = list;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    return sim;
}

// (AD-5)  An adaptive step that is not solved is tried with a quarter of its length: 100 ms, 25 ms, 6.25 ms, and 1.5625
//         ms is solved.
static void unsolved_steps_are_quartered(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\ncoordinates: {y: 0}\nenergy: {kinetic: y'^2/2, potential: y}\ncontacts: {floor: {gap: y + 9}}\n");
    carom_sim *sim = brittle_sim(m, 3e-3, (const char *const[]){"adaptive=on", NULL});
    carom_error err = {0};
    if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_true(brittle.n > 3);
    for (int i = 1; i < 3; ++i) is_near("the ratio", brittle.tried[i] / brittle.tried[i - 1], 0.25, 1e-12);
    is_near("the step", carom_sim_now(sim).t, 0.1 / 64, 1e-12);
    assert_int_equal(sim->kept->ledger.rejected, 3);
    carom_sim_destroy(sim), carom_model_destroy(m);
}

// The same where the error is far too large: by half of `shrink`, 0.2 or what it is set to.
static void rejected_steps_shrink_by_half_of_shrink(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {y: 1}\nenergy: {kinetic: y'^2/2, potential: 50*y^2}\ncontacts: "
                          "{floor: {gap: y + 9}}\n");
    static const struct { const char *option; double ratio; } cases[] = {{NULL, 0.1}, {"shrink=0.4", 0.2}};
    for (int i = 0; i < 2; ++i) {
        carom_sim *sim =
            brittle_sim(m, 1, (const char *const[]){"adaptive=on", "rtol=1e-12", "atol=1e-12", cases[i].option, NULL});
        carom_error err = {0};
        int next = 1;
        assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
        assert_int_equal(brittle.n, 9);
        while (brittle.tried[next] > 0.49 * brittle.tried[0]) ++next; // halves of the first
        is_near("the ratio", brittle.tried[next] / brittle.tried[0], cases[i].ratio, 1e-12);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Inertia 1 - x vanishes at x = 1, half a metre ahead at 1 m/s, and 1/2 - t at its time: told where four steps lead
// there, and not where they end before it, where x moves away, or stands.
static void inertia_that_vanishes_ahead_is_told(void **state) {
    (void)state;
    static const struct {
        double rate, h;
        bool is;
        const char *inertia;
    } cases[] = {{1, 0.126, true, "1 - x"},   {1, 0.124, false, "1 - x"},  {2, 0.063, true, "1 - x"},
                 {2, 0.062, false, "1 - x"},  {-1, 0.2, false, "1 - x"},   {0, 0.2, false, "1 - x"},
                 {0, 0.126, true, "1/2 - t"}, {0, 0.124, false, "1/2 - t"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[300], said[400] = "";
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {y: 0, x: {at: 0.5, rate: %g}}\nenergy: {kinetic: y'^2/2 + (%s)*x'^2/2}\n",
                 cases[i].rate, cases[i].inertia);
        const made x = make(text, "half-explicit", NULL, cases[i].h, 1);
        if (carom_diagnosis_massless(x.sim, said, sizeof said) != cases[i].is)
            fail_msg("%g m/s, steps of %g s: %s", cases[i].rate, cases[i].h, cases[i].is ? "nothing is said" : said);
        if (cases[i].is) assert_non_null(strstr(said, "loses its inertia"));
        done(&x);
    }
}

// (AD-6)  A ball strikes one that nearly touches a third, 1e-12 apart: steps and their halves may meet the contacts
//         together or in turn, and differ however short they are.  That is counted once and the motion goes
// on with impacts in turn: 1/4 and 3/4, then 3/16 and 9/16, then 13/64 and 15/64.  A distance of 0.01 is resolved.
static void an_order_of_impacts_that_nothing_decides_is_counted(void **state) {
    (void)state;
    static const char *const schemes[] = {"half-explicit", "moreau-jean"};
    for (int i = 0; i < 4; ++i) {
        char text[300];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0.3, z: %.17g}\nenergy: {kinetic: (x'^2 + y'^2 + "
                 "z'^2)/2}\ncontacts: {a: {gap: y - x, restitution: 0.5}, b: {gap: z - y, restitution: 0.5}}\n",
                 0.3 + (i < 2 ? 1e-12 : 0.01));
        const made x = make(text, schemes[i % 2], "adaptive=on", 0.05, 1);
        model_sim_run(x.sim);
        const carom_now now = carom_sim_now(x.sim);
        is_near("x'", now.v[0], 13 / 64., 1e-12), is_near("y'", now.v[1], 15 / 64., 1e-12),
            is_near("z'", now.v[2], 9 / 16., 1e-12);
        assert_int_equal(x.sim->kept->ledger.undecided, i < 2);
        done(&x);
    }
}

// What an observer sees, but for impulses and events, which a step begins without.
typedef struct seen {
    double x[60];
    int n;
} seen;

static void see(seen *s, carom_sim *sim) {
    const carom_now now = carom_sim_now(sim);
    const carom_system *sys = carom_sim_system(sim);
    const struct {
        const double *x;
        int n;
    } all[] = {{&now.t, 1},
               {now.q, sys->nq},
               {now.v, sys->nv},
               {now.gap, sys->ne + sys->nc},
               {now.lasting, now.dir[sys->ne + sys->nc]},
               {carom_sim_works(sim), sys->accounts->nworks}};
    memset(s, 0, sizeof *s);
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k)
        for (int i = 0; i < all[k].n; ++i) s->x[s->n++] = all[k].x[i];
    s->x[s->n++] = (double)now.step, s->x[s->n++] = (double)sim->kept->holding;
    for (int c = 0; c < sys->nc; ++c) s->x[s->n++] = sim->held[c];
    assert_true(s->n < 60);
}

// A step that fails, because a force, a gap at its end or a mass has no value behind a time or a place, leaves the
// simulation where it was: it fails again in the same words.
static void a_step_that_fails_changes_nothing(void **state) {
    (void)state;
    static const struct {
        const char *mass, *force, *gap;
    } models[] = {{"1", "sqrt(0.0413 - t)", "y"},
                  {"1", "sqrt(0.0183 - x)", "y"},
                  {"1", "0.2*x'*sqrt(0.0413 - t)", "y"},
                  {"1", "1", "y + 1e-30*sqrt(0.0413 - t)"},
                  {"1 + sqrt(0.0413 - t)", "1", "y"}};
    for (size_t i = 0; i < sizeof models / sizeof *models; ++i) {
        char text[600];
        snprintf(
            text, sizeof text,
            "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0, z: {at: 0, rate: 0.1}}\nenergy: {kinetic: '(%s)*(x''^2 "
            "+ y''^2 + z''^2)/2', potential: 9.81*y}\nforces: {x: \"%s\"}\nconstraints: {rail: z - 0.1*x}\n"
            "contacts: {floor: {gap: '%s', slip: x, friction: 0.1}, wall: {gap: 0.02 - x, restitution: 0.5}}\n",
            models[i].mass, models[i].force, models[i].gap);
        carom_model *m = good(text);
        int fails = 0;
        for (int k = 0; carom_schemes()[k]; ++k) {
            const carom_scheme *scheme = carom_schemes()[k];
            carom_error err = {0}, again = {0};
            if (scheme->controls_own_steps || scheme->limitations & (CAROM_NO_BILATERAL | CAROM_NO_FRICTION |
                                                                     CAROM_NO_IMPACTS | CAROM_NO_UNEQUAL_RESTITUTION))
                continue;
            carom_sim *sim = model_sim(m, scheme->name, NULL, 4e-3, 0.1);
            seen before, after;
            carom_status status = CAROM_OK;
            for (int n = 0; n < 25 && status == CAROM_OK && !carom_sim_done(sim); ++n)
                see(&before, sim), status = carom_sim_step(sim, &err);
            for (int n = 0; n < 2 && status != CAROM_OK; ++n) {
                see(&after, sim);
                for (int j = 0; j < before.n; ++j)
                    if (before.x[j] != after.x[j])
                        fail_msg("model %zu, %s: number %d has changed from %.17g to %.17g: %s", i, scheme->name, j,
                                 before.x[j], after.x[j], err.text);
                if (carom_sim_step(sim, &again) != status || strcmp(err.text, again.text) != 0)
                    fail_msg("model %zu, %s: %s; then: %s", i, scheme->name, err.text, again.text);
            }
            assert_null(strstr(err.text, "the energy has grown"));
            fails += status != CAROM_OK;
            carom_sim_destroy(sim);
        }
        if (fails < 5) fail_msg("model %zu: only %d schemes fail", i, fails);
        carom_model_destroy(m);
    }
}

// The work of a force that a controller switches: 2 m/s whatever happens, since the mass is 1e15 kg, and u_k = 3 k^2 N
// over 0.05 s each.
static void work_follows_signals(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-midpoint", "half-explicit", "ggl-alpha", "mixed", "moreau-midpoint"};
    for (int i = 0; i < 5; ++i) {
        const made x = make("carom: 1\ncoordinates: {x: {at: 0, rate: 2}}\nenergy: {kinetic: 0.5e15*x'^2}\nforces: {x: "
                            "u}\ncontrollers: {c: {sample: 0.05, states: {n: n + 1}, outputs: {u: 3*n^2}}}\n",
                            schemes[i], i == 4 ? "adaptive=on" : NULL, 0.02, 0.35);
        carom_error err = {0};
        double work = 0;
        for (int k = 0; k < 7; ++k) work += 3.0 * k * k * 2 * 0.05;
        model_sim_run(x.sim);
        carom_ledger l;
        assert_int_equal(carom_sim_ledger(x.sim, &l, &err), CAROM_OK);
        is_near(schemes[i], l.energy.external, work, 1e-9 * work);
        done(&x);
    }
}

// Forces that jump at the ends of steps, at the same speed of 2 m/s: each side of a jump has its own power.
static void work_follows_jumps(void **state) {
    (void)state;
    static const char *const schemes[] = {"half-explicit", "mixed", "half-explicit"};
    for (int i = 0; i < 3; ++i) {
        const made x = make("carom: 1\ncoordinates: {x: {at: 0, rate: 2}}\nenergy: {kinetic: 0.5e15*x'^2}\nforces: {x: "
                            "\"if(t < 0.12, 3, 7) - if(t < 0.08, 2, 5)*x'\"}\n",
                            schemes[i], i == 2 ? "adaptive=on" : NULL, 0.02, 0.2);
        carom_error err = {0};
        carom_ledger l;
        model_sim_run(x.sim);
        assert_int_equal(carom_sim_ledger(x.sim, &l, &err), CAROM_OK);
        is_near(schemes[i], l.energy.external, 2 * (3 * 0.12 + 7 * 0.08), 1e-9),
            is_near(schemes[i], l.energy.damping, 4 * (2 * 0.08 + 5 * 0.12), 1e-9);
        done(&x);
    }
}

// A force that goes up and down again within a step of 4 ms is a short pulse, with its time and width; stairs that go
// up, or down, in as short a time are none.
static void stairs_are_no_pulses(void **state) {
    (void)state;
    static const struct {
        const char *force; double t, width;
    } cases[] = {{"if(t < 0.1, 1, if(t < 0.101, 3, 1))", 0.1005, 1e-3},
                 {"if(t < 0.1, 1, if(t < 0.101, -1, 1))", 0.1005, 1e-3},
                 {"if(t < 0.1, 1, if(t < 0.101, 2, 3))", NAN, 0},
                 {"if(t < 0.1, 3, if(t < 0.101, 2, 1))", NAN, 0},
                 // half its height at sqrt(ln 2) of it
                 {"1 + tanh((t - 0.1)/2e-4)", NAN, 0},
                 {"1 - tanh((t - 0.1)/2e-4)", NAN, 0},
                 {"1 + 2*exp(-((t - 0.1)/2e-4)^2)", 0.1, 2 * 2e-4 * 0.832554611157698},
                 // less than a tenth of the largest force
                 {"if(t < 0.1, 1, if(t < 0.101, 1.09, 1))", NAN, 0},
                 {"if(t < 0.1, 1, if(t < 0.101, 0.91, 1))", NAN, 0},
                 // more
                 {"if(t < 0.1, 1, if(t < 0.101, 1.13, 1))", 0.1005, 1e-3},
                 {"if(t < 0.1, 1, if(t < 0.101, 0.87, 1))", 0.1005, 1e-3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {y: 0, x: 0}\nenergy: {kinetic: (x'^2 + y'^2)/2}\nforces: {x: "
                 "'%s'}\ncontacts: {wall: {gap: 9 - y}}\n",
                 cases[i].force);
        const made x = make(text, "moreau-midpoint", NULL, 4e-3, 0.2);
        carom_pulse p = {0};
        model_sim_run(x.sim);
        const bool is = carom_sim_short_pulse(x.sim, &p);
        if (is != !isnan(cases[i].t) || (is && !(p.i == 1 && fabs(p.t - cases[i].t) < 1e-4 &&
                                                 fabs(p.width - cases[i].width) < 0.1 * cases[i].width)))
            fail_msg("%s: %s %d at t = %.9g, width %.3g", cases[i].force, is ? "a pulse of force" : "no pulse", p.i,
                     p.t, p.width);
        done(&x);
    }
}

// What a value at one instant is judged by: forces among forces, gaps among gaps and positions, coefficients among
// coefficients, whatever the size of the others.
static void instants_are_judged_among_their_kind(void **state) {
    (void)state;
    static const struct {
        const char *force, *gap, *friction; double at; bool is;
    } cases[] = {{"1e15", "x + 5 + if(t == 0.5, 0.1, 0)", "0.2", 0, true},
                 {"1e15", "x + 5", "if(t == 0.5, 0.9, 0.2)", 0, true},
                 {"if(t == 0.5, 0.1, 0)", "1e15 + x", "0.2", 0, true},
                 {"1", "x + 5 + if(t == 0.5, 0.1, 0)", "1e15 + slip.speed", 0, true},
                 {"1e3", "1e15 + x", "if(t == 0.5, 0.9, 0.2)", 0, true},
                 {"1e15", "1e15 + x", "0.2 + slip.speed", 0, false},
                 {"1e15", "x + 5 + 1e-12*if(t == 0.5, 1, 0)", "0.2 + slip.speed", 0, false},
                 {"1", "x - 1e12 + 5 + if(t == 0.5, 0.1, 0)", "0.2", 1e12, false},
                 {"if(t == 0.5, 0.1, 0)", "x + 5", "0.2", 1e12, true},
                 {"1", "x + 5", "if(t == 0.5, 0.9, 0.2)", 1e12, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[500];
        snprintf(
            text, sizeof text,
            "carom: 1\ncoordinates: {x: %g, y: 0, z: 0}\nenergy: {kinetic: (x'^2 + y'^2 + z'^2)/2}\nconstraints: "
            "{rail: z}\nforces: {x: '%s'}\ncontacts: {far: {gap: 9 + y}, wall: {gap: '%s', slip: y, friction: '%s'}}\n",
            cases[i].at, cases[i].force, cases[i].gap, cases[i].friction);
        const made x = make(text, "moreau-jean", NULL, 0.1, 1);
        if (carom_sim_alone(x.sim, 0.5) != cases[i].is)
            fail_msg("force %s, gap %s, friction %s: %s", cases[i].force, cases[i].gap, cases[i].friction,
                     cases[i].is ? "no instant" : "an instant");
        done(&x);
    }
}

// Of two gaps the first rises by rounding of the second: that one has a value at an instant, whether it is large there
// or everywhere else.
static void the_instant_is_that_of_the_largest(void **state) {
    (void)state;
    static const char *const large[] = {"if(t == 0.5, 1e12, 0)", "if(t == 0.5, 0, 1e12)"};
    for (int i = 0; i < 2; ++i) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: (x'^2 + y'^2)/2}\nconstraints: {rail: "
                 "y}\ncontacts: {small: {gap: 'x + 5 + if(t == 0.5, 1, 0)'}, large: {gap: 'x + 5 + %s'}}\n",
                 large[i]);
        const made x = make(text, "schatzman-paoli", NULL, 0.1, 1);
        carom_pulse p = {0};
        model_sim_run(x.sim);
        assert_true(carom_sim_short_pulse(x.sim, &p));
        assert_int_equal(p.i, 4); // behind two forces, a joint and the small one
        is_near("its time", p.t, 0.5, 1e-9);
        assert_true(p.width == 0);
        done(&x);
    }
}

// x = t - 0.1 passes an obstacle between 0.42 and 0.52 in the step from 0.4 to 0.9, whose middle is behind it: entered
// at t = 0.52.  Its contact is the second, beside a joint.
static void what_is_passed_has_its_time(void **state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        const made x = make(
            "carom: 1\ncoordinates: {x: {at: -0.1, rate: 1}, z: 0}\nenergy: {kinetic: (x'^2 + z'^2)/2}\nconstraints: "
            "{rail: z}\ncontacts: {far: {gap: 9 - x}, thin: {gap: 'abs(x - 0.47) - 0.05'}}\n",
            k ? "half-explicit" : "moreau-midpoint", NULL, 0.5, 1.5);
        model_sim_run(x.sim);
        const carom_counts *c = &x.sim->kept->ledger.counts;
        assert_int_equal(c->missed, 1), assert_int_equal(c->missed_id, 2);
        is_near("time", c->missed_t, 0.52, 1e-9);
        done(&x);
    }
}

// A thin wall that moves, 0.47 - t +- 0.05, passes x = -0.1, which is at rest and enters it at t = 0.52.  Where a step
// of 0.6 ends inside, behind its middle, it is on its way out all the same.
static void what_passes_has_its_time(void **state) {
    (void)state;
    for (int k = 0; k < 4; ++k) {
        const made x = make("carom: 1\ncoordinates: {x: -0.1}\nenergy: {kinetic: x'^2/2}\ncontacts: {far: {gap: 9 - "
                            "x}, thin: {gap: 'abs(x - 0.47 + t) - 0.05'}}\n",
                            k % 2 ? "half-explicit" : "moreau-midpoint", NULL, k < 2 ? 0.5 : 0.6, k < 2 ? 1.5 : 1.8);
        model_sim_run(x.sim);
        const carom_counts *c = &x.sim->kept->ledger.counts;
        assert_int_equal(c->missed, 1), assert_int_equal(c->missed_id, 1);
        is_near("time", c->missed_t, 0.52, 1e-9);
        done(&x);
    }
}

// Names as a program gives them: of constraint id and of rate i.
static const char *name_given(const void *user, long long id) { return ((const char *const *)user)[id]; }
static const char *rate_given(const void *user, int i) { return ((const char *const *)user)[3 + i]; }

// A bump of 1e-12 s on the way, which no look meets: it is told where the gap may fall below zero by more than a
// thousandth of what it is at the ends of the step, 2 * 1 m, and not where by less.
static void what_may_be_missed_is_told(void **state) {
    (void)state;
    static const char *const schemes[] = {"mixed", "auto", "splitting"};
    for (int i = 0; i < 6; ++i) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 0, rate: 10}, y: 0}\nenergy: {kinetic: (x'^2 + "
                 "y'^2)/2}\nconstraints: {rail: y}\ncontacts: {far: {gap: 20 - x}, bump: {gap: '1 - %g*exp(-((x - "
                 "5.0123)/1e-11)^2)', restitution: 1}}\n",
                 i % 2 ? 1.0015 : 1.003);
        const made x = make(text, schemes[i / 2], NULL, 0.1, 1);
        model_sim_run(x.sim);
        const carom_counts *c = &x.sim->kept->ledger.counts;
        if (c->missed != (i % 2 == 0))
            fail_msg("%s: told %ld times of a bump of %g m", schemes[i / 2], c->missed, i % 2 ? 1.5e-3 : 3e-3);
        if (c->missed) assert_int_equal(c->missed_id, 2), is_near("time", c->missed_t, 0.50123, 1e-6);
        done(&x);
    }
}

// Messages name rates and gaps as the program does: the second rate grows, or the gap of the second contact, behind a
// joint, has no value.
static void messages_use_the_names_that_are_given(void **state) {
    (void)state;
    static const char *const names[] = {"rail", "far", "broken", "along", "up"},
                             *const forces[] = {"{y: 50*y'}", "{x: 0}"},
                             *const said[] = {"the solution diverges (rate of 'up' is",
                                              "the gap of 'broken' is not a number"};
    for (int k = 0; k < 2; ++k) {
        char text[400];
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 0, rate: 0}, y: {at: 0, rate: 1}}\nenergy: {kinetic: (x'^2 + "
                 "y'^2)/2}\nforces: %s\nconstraints: {r: x}\ncontacts: {a: {gap: 9 + x}, b: {gap: '%s'}}\n",
                 forces[k], k ? "9 + x + 1e-30*sqrt(1.05 - t)" : "9 - x");
        carom_model *m = good(text);
        carom_sim_def d = sim_def(m, "moreau-explicit", NULL, 0.1, 100);
        d.name = name_given, d.rate_name = rate_given, d.name_user = names;
        carom_sim *sim = carom_sim_create(&d, &err);
        if (!sim) fail_msg("%s", err.text);
        assert_true(carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK);
        if (!strstr(err.text, said[k])) fail_msg("%s", err.text);
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
}

// y' grows sixfold in each step, x' and z' do not: the message names the second.
static void the_rate_that_runs_away_is_named(void **state) {
    (void)state;
    const made x = make("carom: 1\ncoordinates: {x: {at: 0, rate: 5}, y: {at: 0, rate: 1}, z: {at: 0, rate: "
                        "-5}}\nenergy: {kinetic: (x'^2 + y'^2 + z'^2)/2}\nforces: {y: 50*y'}\n",
                        "moreau-explicit", NULL, 0.1, 100);
    carom_error err = {0};
    assert_int_equal(carom_sim_run(x.sim, NULL, NULL, &err), CAROM_NOT_CONVERGED);
    if (!strstr(err.text, "the solution diverges (rate of 2 is")) fail_msg("%s", err.text);
    done(&x);
}

static carom_status until_300(void *user, const carom_now *now) {
    return (void)user, now->step == 300 ? CAROM_STOPPED : CAROM_OK;
}

// A run that nobody looks at takes shorter ways while nothing is near.  Set back to a state just before an impact, or
// ahead to one, it sees it: the same bits as without the detour.
static void a_restored_state_is_followed_from_there(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\ncoordinates: {x: {at: 0, rate: 0.5}, y: {at: 0.3, rate: 0.3}}\nenergy: {kinetic: x'^2 + y'^2 + "
        "0.3*x'*y', potential: 2*9.81*y}\ncontacts: {low: {gap: y, slip: x, friction: 0.2, restitution: 0.8}}\n";
    const made whole = make(text, "moreau-midpoint", NULL, 1e-3, 2),
               first = make(text, "moreau-midpoint", NULL, 1e-3, 2);
    carom_error err = {0};
    model_sim_run(whole.sim);
    for (int n = 0; n < 1000; n += 45) {
        const made other = make(text, "moreau-midpoint", NULL, 1e-3, 2);
        size_t bytes;
        const void *saved = carom_sim_state(first.sim, &bytes);
        assert_int_equal(carom_sim_run_lazily(other.sim, until_300, NULL, &err), CAROM_STOPPED);
        assert_int_equal(carom_sim_restore(other.sim, saved, bytes, &err), CAROM_OK);
        model_sim_run(other.sim);
        const carom_now a = carom_sim_now(whole.sim), b = carom_sim_now(other.sim);
        if (a.q[0] != b.q[0] || a.q[1] != b.q[1] || a.v[0] != b.v[0] || a.v[1] != b.v[1] ||
            whole.sim->kept->ledger.impacts != other.sim->kept->ledger.impacts)
            fail_msg("from step %d on: y = %.17g instead of %.17g, %ld impacts instead of %ld", n, b.q[1], a.q[1],
                     other.sim->kept->ledger.impacts, whole.sim->kept->ledger.impacts);
        done(&other);
        for (int i = 0; i < 45; ++i) assert_int_equal(carom_sim_step(first.sim, &err), CAROM_OK);
    }
    done(&whole), done(&first);
}

// A saved state that belongs to another run, or holds a length of list that it cannot have, is refused and changes
// nothing, whether contacts come and go or not.
static void a_state_that_is_refused_changes_nothing(void **state) {
    (void)state;
    static const char *const texts[] = {
        "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies: {a: {repeat: 3, body: {mass: "
        "1, inertia: [1, 1, 1], at: [i, 0, 0.31], shape: {ellipsoid: [0.1, 0.2, 0.3]}}}}\ncontacts: {c: {between: [a, "
        "floor]}}\n",
        "carom: 1\ncoordinates: {y: 0.01}\nenergy: {kinetic: y'^2/2, potential: 9.81*y}\ncontacts: {floor: {gap: "
        "y}}\n"};
    // of 64: one slot for three contacts
    static const struct { int slots; bool foreign; } cases[] = {{20, true}, {-63, false}, {1 << 30, false}, {0, true}};
    for (int i = 0; i < 8; ++i) {
        const made a = make(texts[i / 4], "moreau-midpoint", NULL, 1e-3, 0.1),
                   b = make(texts[i / 4], "moreau-midpoint", NULL, 1e-3, 0.1);
        carom_error err = {0};
        size_t bytes = 0;
        const int slots = a.sim->list.slots;
        assert_int_equal(slots > 0, i < 4);
        // on the floor
        for (int j = 0; j < 60; ++j)
            assert_true(carom_sim_step(a.sim, &err) == CAROM_OK && carom_sim_step(b.sim, &err) == CAROM_OK);
        const void *saved = carom_sim_state(a.sim, &bytes);
        carom_kept *good = malloc(bytes), *bad = malloc(bytes);
        memcpy(good, saved, bytes), memcpy(bad, saved, bytes);
        bad->slots = slots + cases[i % 4].slots, bad->stamp ^= cases[i % 4].foreign;
        assert_int_equal(carom_sim_restore(a.sim, bad, bytes, &err), CAROM_BAD_INPUT);
        assert_int_equal(a.sim->list.slots, slots);
        for (int j = 0; j < 30; ++j)
            assert_true(carom_sim_step(a.sim, &err) == CAROM_OK && carom_sim_step(b.sim, &err) == CAROM_OK);
        assert_memory_equal(a.sim->kept, b.sim->kept, bytes);
        assert_int_equal(carom_sim_restore(a.sim, good, bytes, &err), CAROM_OK); // and its own is taken
        is_near("time", carom_sim_now(a.sim).t, 0.06, 1e-12);
        for (int j = 0; j < 30; ++j) assert_int_equal(carom_sim_step(a.sim, &err), CAROM_OK);
        assert_memory_equal(a.sim->kept, b.sim->kept, bytes);
        free(good), free(bad);
        done(&a), done(&b);
    }
}

// A state goes with a run of the same laws alone: ellipses of friction, discs of resistance, friction that is a
// function.
static void the_stamp_knows_ellipses_discs_and_functions(void **state) {
    (void)state;
#define POINT                                                                                                          \
    "carom: 1\ncoordinates: {x: 0, y: 0, z: 1}\nenergy: {kinetic: (x'^2 + y'^2 + z'^2)/2, potential: z}\ncontacts: "   \
    "{c: {gap: z, slip: %s}}\n"
#define BALL                                                                                                           \
    "carom: 1\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies: {a: {mass: 2, inertia: [1, 1, 1], at: [0, 0, 1], shape: "  \
    "{sphere: 0.1}}}\ncontacts: {c: {between: [a, floor], friction: 0.3, rolling: 0.01, resistance: %s}}\n"
    static const struct {
        const char *form, *one, *other;
    } cases[] = {{POINT, "[x, y], friction: [0.3, 0.2]", "[x, y], friction: [0.3, 0.25]"},
                 {BALL, "discs", "ball"},
                 {POINT, "x, friction: 0.3", "x, friction: 0.3 + 0.1*slip.speed"},
                 {POINT, "x, friction: 0.3", "x, friction: 0.3 + 0.1*normal.force"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char one[500], other[500];
        snprintf(one, sizeof one, cases[i].form, cases[i].one),
            snprintf(other, sizeof other, cases[i].form, cases[i].other);
        const made a = make(one, "moreau-midpoint", NULL, 0.01, 1), b = make(other, "moreau-midpoint", NULL, 0.01, 1),
                   c = make(one, "moreau-midpoint", NULL, 0.01, 1);
        if (a.sim->kept->stamp == b.sim->kept->stamp || a.sim->kept->stamp != c.sim->kept->stamp)
            fail_msg("%s and %s", cases[i].one, cases[i].other);
        done(&a), done(&b), done(&c);
    }
#undef POINT
#undef BALL
}

// What located events say of a contact is what is remembered of it: held down until 0.5, open behind.
static void contacts_are_remembered_as_events_say(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "mixed", "auto", "splitting"};
    for (int i = 0; i < 4; ++i) {
        const made x = make("carom: 1\ncoordinates: {x: 0, y: 1}\nenergy: {kinetic: (x'^2 + y'^2)/2}\nforces: {x: t - "
                            "1/2}\ncontacts: {far: {gap: y}, down: {gap: x}}\n",
                            schemes[i], NULL, 0.1, 1);
        carom_error err = {0};
        for (int n = 1; n <= 10; ++n) {
            assert_int_equal(carom_sim_step(x.sim, &err), CAROM_OK);
            if (n != 5 && (x.sim->memory[0].closed || x.sim->memory[1].closed != (n < 5)))
                fail_msg("%s: at t = %g", schemes[i], 0.1 * n);
        }
        done(&x);
    }
}

// Counting anew leaves a ledger like that of a simulation which begins at this state.
static void a_ledger_that_begins_anew_is_that_of_a_new_run(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: {at: 0.3, rate: 1}, y: {at: 0.05, rate: -0.3}}\nenergy: "
                               "{kinetic: (x'^2 + y'^2)/2, potential: 9.81*y + 20*x^2}\nforces: {x: -0.3*x' + 2}\n"
                               "contacts: {floor: {gap: y, slip: x, friction: 0.3, restitution: 0.4}}\n";
    const made x = make(text, "moreau-midpoint", NULL, 2e-3, 1);
    carom_error err = {0};
    for (int i = 0; i < 150; ++i) assert_int_equal(carom_sim_step(x.sim, &err), CAROM_OK);
    assert_int_equal(carom_sim_count_anew(x.sim, &err), CAROM_OK);
    const carom_now now = carom_sim_now(x.sim);
    carom_sim_def d = sim_def(x.m, "moreau-midpoint", NULL, 2e-3, 1);
    d.q0 = now.q, d.v0 = now.v;
    carom_sim *fresh = carom_sim_create(&d, &err);
    assert_non_null(fresh);
    const carom_kept *a = x.sim->kept, *b = fresh->kept;
    is_near("energy", a->ledger.energy.start, b->ledger.energy.start, 1e-12),
        is_near("kinetic energy", a->ledger.kinetic, b->ledger.kinetic, 1e-12);
    is_near("explained", a->explained, b->explained, 1e-12), is_near("one step", a->one_step, b->one_step, 1e-15),
        is_near("damping", a->damped, 0, 0), is_near("unevenness", a->uneven, 0, 0);
    assert_true(a->one_step > 0 && a->ledger.energy.impact == 0 && a->ledger.energy.friction == 0 &&
                a->ledger.energy.damping == 0 && a->ledger.impacts == 0);
    assert_true(a->ledger.penetration_id == -1 && a->ledger.drift_id == -1 && a->ledger.counts.residual_id == -1);
    for (int i = 0; i < 20; ++i) assert_int_equal(carom_sim_step(x.sim, &err), CAROM_OK);
    assert_int_equal(a->ledger.steps, 20);
    carom_sim_destroy(fresh), done(&x);
}

// Neither does it change the motion: what rounding of large impulses leaves of velocities, as under a heavy body, is
// known of the whole run (CL-2).
static void counting_anew_does_not_change_the_motion(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1]}}\nbodies:\n  a: {mass: "
                               "1, inertia: 0.1, at: [0, 0.25], shape: {box: [0.5, 0.5]}}\n"
                               "  b: {mass: 1e6, inertia: 1e5, at: [0.1, 0.75], shape: {box: [0.5, 0.5]}}\ncontacts: "
                               "{f: {between: [a, floor], friction: 0.5}, s: {between: [a, b], friction: 0.5}}\n";
    carom_error err = {0};
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        if ((*s)->limitations & (CAROM_NO_IMPACTS | CAROM_NO_FRICTION)) continue;
        const made x = make(text, (*s)->name, NULL, 1e-3, 1), y = make(text, (*s)->name, NULL, 1e-3, 1);
        for (int i = 0; i < 8; ++i) {
            assert_int_equal(carom_sim_step(x.sim, &err), CAROM_OK),
                assert_int_equal(carom_sim_step(y.sim, &err), CAROM_OK);
            assert_int_equal(carom_sim_count_anew(y.sim, &err), CAROM_OK);
            const carom_now a = carom_sim_now(x.sim), b = carom_sim_now(y.sim);
            if (memcmp(a.q, b.q, 6 * sizeof *a.q) != 0 || memcmp(a.v, b.v, 6 * sizeof *a.v) != 0)
                fail_msg("%s: step %d differs", (*s)->name, i);
        }
        done(&x), done(&y);
    }
}

// A residual of 0.1 m/s that was accepted (TOL-3) is no rounding of impulses: a block that slides with 0.5 m/s does not
// stick for it, x = t/2 - mu g t^2/2.
static void accepted_residuals_are_no_rounding(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: {rate: 0.5}, y: 0}\nenergy: {kinetic: (x'^2 + y'^2)/2, "
                               "potential: 10*y}\ncontacts: {floor: {gap: y, slip: x, friction: 0.2}}\n";
    carom_error err = {0};
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        if ((*s)->limitations & (CAROM_NO_IMPACTS | CAROM_NO_FRICTION)) continue;
        const made x = make(text, (*s)->name, NULL, 1e-3, 1);
        for (int i = 0; i < 100; ++i) {
            x.sim->kept->ledger.counts.residual = 0.1;
            assert_int_equal(carom_sim_step(x.sim, &err), CAROM_OK);
        }
        const carom_now now = carom_sim_now(x.sim); // first order at least: an error of a step, h/2
        carom_ledger l;
        carom_warning list[CAROM_WARNINGS];
        assert_int_equal(carom_sim_ledger(x.sim, &l, &err), CAROM_OK);
        l.energy.created = 0.1; // of 0.125 J
        bool warned = false;
        for (int i = carom_sim_warnings(x.sim, &l, list) - 1; i >= 0; --i)
            warned = warned || strcmp(list[i].kind, "energy-created") == 0;
        if (!warned) fail_msg("%s: impacts created most of the energy, and nobody was warned", (*s)->name);
        if (!(fabs(now.v[0] - 0.3) <= 2e-3 && fabs(now.q[0] - 0.04) <= 1e-3))
            fail_msg("%s: x = %g, x' = %g", (*s)->name, now.q[0], now.v[0]);
        done(&x);
    }
}

// T/h rounds to a little more or less than a whole number: 1.1/0.1 = 11 + 2e-15, 0.3/0.1 = 3 - 4e-16.  A run that is
// shorter than an instant of its step has one step all the same.
static void steps_are_counted_to_rounding(void **state) {
    (void)state;
    static const struct {
        double h, end;
        long steps;
    } cases[] = {{0.1, 1.1, 11}, {0.1, 0.3, 3}, {0.1, 0.35, 4}, {1, 1e-10, 1}, {0.1, 1.1 + 1e-8, 12}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const made x = make("carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: x'^2/2}\n",
                            "moreau-midpoint", NULL, cases[i].h, cases[i].end);
        carom_error err = {0};
        size_t size;
        assert_int_equal(carom_sim_step(x.sim, &err), CAROM_OK);
        const void *state = carom_sim_state(x.sim, &size);
        // from what was saved there are as many
        carom_sim *again = model_sim(x.m, "moreau-midpoint", NULL, cases[i].h, cases[i].end);
        assert_int_equal(carom_sim_restore(again, state, size, &err), CAROM_OK);
        model_sim_run(again), model_sim_run(x.sim);
        assert_true(x.sim->kept->n == cases[i].steps && again->kept->n == cases[i].steps);
        is_near("t", carom_sim_now(x.sim).t, cases[i].end, 1e-12),
            is_near("t", carom_sim_now(again).t, cases[i].end, 1e-12);
        carom_sim_destroy(again);
        done(&x);
    }
}

// A run from t = 1 on is one from 0 on of a model whose clock is ahead by 1: every scheme starts, steps and ends with
// the time that it is.  A step rounds time and forces in the last places; where steps follow tolerances, they may
// differ by these.
static void a_run_may_begin_at_any_time(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: {at: 0.3, rate: 0.1}, y: {at: 0.02, rate: -0.1}}\nenergy: "
                               "{kinetic: (x'^2 + y'^2)/2, potential: 9.81*y + 8*x^2}\n"
                               "forces: {x: 5*cos(3*(t + %d)) - 0.2*x', y: sin(2*(t + %d))}\ncontacts: {floor: {gap: y "
                               "+ 0.01*sin(4*(t + %d)), restitution: 0.4}, wall: {gap: 0.5 - x, restitution: 0.4}}\n";
    for (int k = 0; carom_schemes()[k]; ++k) {
        const carom_scheme *scheme = carom_schemes()[k];
        double end[2][4];
        if (scheme->limitations & CAROM_NO_IMPACTS) continue;
        for (int late = 0; late < 2; ++late) {
            char of[600];
            snprintf(of, sizeof of, text, !late, !late, !late);
            carom_error err = {0};
            carom_model *m = good(of);
            carom_sim_def d = sim_def(m, scheme->name, NULL, 1e-2, late + 0.6);
            d.t0 = late;
            carom_sim *sim = carom_sim_create(&d, &err);
            if (!sim) fail_msg("%s: %s", scheme->name, err.text);
            model_sim_run(sim);
            const carom_now now = carom_sim_now(sim);
            carom_copy(end[late], now.q, 2), carom_copy(end[late] + 2, now.v, 2);
            is_near("t", now.t, late + 0.6, 1e-12);
            carom_sim_destroy(sim);
            carom_model_destroy(m);
        }
        for (int i = 0; i < 4; ++i)
            is_near(scheme->name, end[1][i], end[0][i], scheme->controls_own_steps ? 1e-5 : 1e-9);
    }
}

// Two contacts that are struck at once: the projection method takes hundreds of iterations where others take one to
// ten.
static void the_solver_that_is_asked_for_solves(void **state) {
    (void)state;
    static const struct {
        const char *option;
        long least, most;
    } cases[] = {{NULL, 1, 20}, {"solver=prox", 30, 10000}, {"solver=gauss-seidel", 1, 20}, {"solver=lemke", 1, 20}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const made x = make("carom: 1\ncoordinates: {y: {at: 0.05}, th: {at: 0}}\nenergy: {kinetic: y'^2/2 + th'^2/12, "
                            "potential: 9.81*y}\n"
                            "contacts: {left: {gap: y + 0.2*th}, right: {gap: y - 0.7*th}}\n",
                            "moreau-midpoint", cases[i].option, 1e-3, 0.105);
        model_sim_run(x.sim);
        const carom_counts *c = &x.sim->kept->ledger.counts;
        assert_true(c->problems > 0 && c->fallbacks == 0);
        assert_in_range(c->iterations / c->problems, cases[i].least, cases[i].most);
        done(&x);
    }
}

// A run that is stopped anywhere, also inside a step, and goes on from what was saved has the state and the ledger of
// one that never stopped, counts of work included.
static bool soon(const void *user) { return --*(long *)(uintptr_t)user < 0; }

static void a_stopped_run_has_the_ledger_of_a_whole_one(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\ngravity: [0, -9.81]\nbodies:\n  a: {mass: 1, inertia: 0.1, at: [0.5, 0], shape: {box: [1, 0.2]}}\n  "
        "b: {mass: 0.5, inertia: 0.05, at: [1.5, 0], spin: 3, shape: {circle: 0.3}}\n"
        "joints:\n  one: {type: revolute, between: [ground, a], at: [0, 0]}\n  two: {type: revolute, between: [a, b], "
        "at: [1, 0]}\n"
        "shapes: {floor: {plane: [0, 1], at: [0, -0.6]}}\ncontacts: {c: {between: [[a, b], floor], friction: 0.3, "
        "restitution: 0.4}}\n";
    static const char *const schemes[] = {"moreau-midpoint", "moreau-jean", "half-explicit", "ggl-midpoint",
                                          "ggl-alpha",       "newmark",     "dg-minus",      "mixed",
                                          "event-driven",    "auto",        "moreau-jean",   "half-explicit"};
    for (int i = 0; i < 12; ++i) {
        const char *option = i >= 10 ? "adaptive=on" : NULL;
        const made whole = make(text, schemes[i], option, 5e-3, 0.6);
        carom_error err = {0};
        model_sim_run(whole.sim);
        long left = 7, stops = 0;
        made part = make(text, schemes[i], option, 5e-3, 0.6);
        carom_sim_stop_when(part.sim, soon, &left);
        for (;;) {
            const carom_status status = carom_sim_run(part.sim, NULL, NULL, &err);
            if (status == CAROM_OK) break;
            if (status != CAROM_STOPPED) fail_msg("%s: %s", schemes[i], err.text);
            if (++stops > 100000) fail_msg("%s does not come on", schemes[i]);
            const made next = make(text, schemes[i], option, 5e-3, 0.6);
            size_t bytes;
            const void *saved = carom_sim_state(part.sim, &bytes);
            if (carom_sim_restore(next.sim, saved, bytes, &err) != CAROM_OK) fail_msg("%s: %s", schemes[i], err.text);
            done(&part);
            part = next;
            left = 25 + 7 * stops; // sooner or later enough for a step
            carom_sim_stop_when(part.sim, soon, &left);
        }
        if (stops < 2) fail_msg("%s was stopped %ld times", schemes[i], stops);
        carom_ledger x, y;
        assert_int_equal(carom_sim_ledger(whole.sim, &x, &err), CAROM_OK);
        assert_int_equal(carom_sim_ledger(part.sim, &y, &err), CAROM_OK);
        y.seconds = x.seconds, y.wall = x.wall;
        if (memcmp(&x, &y, sizeof x) != 0)
            fail_msg("%s: %ld and %ld problems, %ld and %ld Newton iterations, %ld and %ld steps inside, %ld and %ld "
                     "rejected",
                     schemes[i], x.counts.problems, y.counts.problems, x.counts.newton, y.counts.newton,
                     x.counts.substeps, y.counts.substeps, x.rejected, y.rejected);
        assert_memory_equal(carom_sim_now(whole.sim).q, carom_sim_now(part.sim).q,
                            (size_t)carom_sim_system(whole.sim)->nq * sizeof(double));
        done(&whole), done(&part);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_run_has_the_ledger_of_a_whole_one),
cmocka_unit_test(refused_steps_at_rest_are_not_halved_on),
        cmocka_unit_test(steps_are_counted_to_rounding),
        cmocka_unit_test(a_run_may_begin_at_any_time),
        cmocka_unit_test(the_solver_that_is_asked_for_solves),
        cmocka_unit_test(a_step_forgets_what_the_one_before_noted),
        cmocka_unit_test(a_step_that_fails_changes_nothing),
        cmocka_unit_test(work_follows_signals),
        cmocka_unit_test(work_follows_jumps),
        cmocka_unit_test(unsolved_steps_are_quartered),
        cmocka_unit_test(rejected_steps_shrink_by_half_of_shrink),
        cmocka_unit_test(an_order_of_impacts_that_nothing_decides_is_counted),
        cmocka_unit_test(inertia_that_vanishes_ahead_is_told),
        cmocka_unit_test(stairs_are_no_pulses),
        cmocka_unit_test(instants_are_judged_among_their_kind),
        cmocka_unit_test(the_instant_is_that_of_the_largest),
        cmocka_unit_test(what_is_passed_has_its_time),
        cmocka_unit_test(what_passes_has_its_time),
        cmocka_unit_test(what_may_be_missed_is_told),
        cmocka_unit_test(messages_use_the_names_that_are_given),
        cmocka_unit_test(the_rate_that_runs_away_is_named),
        cmocka_unit_test(a_restored_state_is_followed_from_there),
        cmocka_unit_test(a_state_that_is_refused_changes_nothing),
        cmocka_unit_test(the_stamp_knows_ellipses_discs_and_functions),
        cmocka_unit_test(contacts_are_remembered_as_events_say),
        cmocka_unit_test(a_ledger_that_begins_anew_is_that_of_a_new_run),
        cmocka_unit_test(counting_anew_does_not_change_the_motion),
        cmocka_unit_test(accepted_residuals_are_no_rounding),
    };
    return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}

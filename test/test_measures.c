// test_measures.c: the numbers by which a run is judged and planned, against numbers that are derived by hand: forces,
// sudden forces, the fastest modes, stability limits, sampled steps, last steps, sample instants, and who is named as
// able to do what another scheme cannot.
#include "diagnosis/diagnosis.h"
#include "measures.h"
#include "sim/inspect.h"

// -- forces -----------------------------------------------------------------------------------------------------------

// T = x'^2 + 3/2 y'^2: 5/2 J with rates of 1.  All as large as the largest of 2 forces, 8 N: 16 N on 5 kg, 16 * 4 J at
// 4 m.
static void forces_are_measured_by_the_largest(void **state) {
    (void)state;
    const made x =
        make("carom: 1\ncoordinates: {x: 0.5, y: -4}\nenergy: {kinetic: x'^2 + 3/2*y'^2}\nforces: {x: 3, y: -8}\n",
             "moreau-midpoint", NULL, 0.1, 1);
    const carom_forces f = carom_sim_forces(x.sim);
    is_near("unit", f.unit, 2.5, 1e-12), is_near("a", f.a, 3.2, 1e-12), is_near("work", f.work, 64, 1e-12);
    is_near("one step", carom_sim_one_step(x.sim), 2 * 64.0 / 6 * 0.01, 1e-12);
    is_near("one step", carom_sim_of_step(x.sim, &f), 2 * 64.0 / 6 * 0.01, 1e-12);
    is_near("kept", x.sim->kept->one_step, 2 * 64.0 / 6 * 0.01, 1e-12);
    done(&x);
}

// -- forces that jump with a rate -------------------------------------------------------------------------------------

// A force of F that turns round with x' over a width w, in a run of 1/2 J on 1 kg, so at most 1 m/s; on y a force G and
// one that grows with x'.
typedef struct slope { double F, w, G, K, h; } slope;

static bool rough(slope s, char *said, size_t size) {
    char text[500];
    snprintf(text, sizeof text,
             "carom: 1\ncoordinates: {y: 0, x: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2)}\nforces: {x: '-%.17g*max(-1, "
             "min(1, x''/%.17g))', y: '%.17g - %.17g*x'''}\n",
             s.F, s.w, s.G, s.K);
    const made x = make(text, "moreau-midpoint", NULL, s.h, 1e6 * s.h);
    x.sim->kept->ledger.kinetic = 0.5;
    const bool is = carom_diagnosis_discontinuity(x.sim, false, said, size);
    done(&x);
    return is;
}

// Rough up to a limit of one of the numbers, and not above; `from`: from the limit on, and not below.
static void rough_at(slope s, size_t number, double limit, bool from, int line) {
    char text[400];
    for (int above = 0; above < 2; ++above) {
        *(double *)(void *)((char *)&s + number) = limit * (above ? 1.02 : 0.98);
        const bool is = rough(s, text, sizeof text);
        if (is != (above == from))
            fail_msg("line %d: %s at %d %% of the limit", line, is ? "rough" : "not rough", above ? 102 : 98);
        if (is && !strstr(text, "the force on 2 jumps with the rate of 2")) fail_msg("line %d: %s", line, text);
    }
}
#define ROUGH_UP_TO(number, limit, ...) rough_at((slope){__VA_ARGS__}, offsetof(slope, number), limit, false, __LINE__)
#define ROUGH_FROM(number, limit, ...) rough_at((slope){__VA_ARGS__}, offsetof(slope, number), limit, true, __LINE__)

// Half of the change over 1 m/s takes place within e = 1/1000 of it, and what the forces make of it in 4 steps; e is at
// most a tenth; the change is a hundredth of the largest force, or of the largest change.
static void sudden_forces_are_told_from_steep_ones(void **state) {
    (void)state;
    ROUGH_UP_TO(w, 2e-3, .F = 1, .h = 1e-9);
    ROUGH_UP_TO(w, 2 * (1e-3 + 4 * 1e-3 * 0.25), .F = 0.25, .h = 1e-3);
    ROUGH_UP_TO(w, 2 * 0.1, .F = 1, .h = 1);
    ROUGH_UP_TO(G, 200, .F = 1, .w = 1e-4, .h = 1e-9);
    ROUGH_FROM(F, 0.005, .G = 1, .w = 1e-4, .h = 1e-9);
    ROUGH_UP_TO(K, 100, .F = 1, .w = 1e-4, .h = 1e-9);
}

// No kinetic energy, no speed to compare with; and it is looked at wherever the motion is: here the force has turned
// round already.
static void forces_are_sudden_where_the_motion_is(void **state) {
    (void)state;
    char text[400];
    made x = make("carom: 1\ncoordinates: {x: {at: 0, rate: 0.3}}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: '-max(-1, "
                  "min(1, x''/1e-4))'}\n",
                  "moreau-midpoint", NULL, 1e-9, 1e-3);
    x.sim->kept->ledger.kinetic = 0;
    assert_false(carom_diagnosis_discontinuity(x.sim, false, text, sizeof text));
    x.sim->kept->ledger.kinetic = 0.5;
    assert_false(carom_diagnosis_discontinuity(x.sim, false, text, sizeof text));
    x.sim->v[0] = 0;
    assert_true(carom_diagnosis_discontinuity(x.sim, false, text, sizeof text));
    done(&x);
}

// -- the fastest modes ------------------------------------------------------------------------------------------------

// 1 kg and 3 kg that a joint holds together, a spring of 200 N/m at one and a damper of 8 Ns/m at the other: w^2 = 50
// 1/s^2 and d = 2 1/s of a single mode.  Differences know that to 1e-6.  Where h w, or h d, is below 0.1 the step is
// short and nothing more is asked for: the rate of the other kind remains 0.
static void the_fastest_modes_are_those_that_joints_allow(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: 0.3, y: 0.3}\nenergy: {kinetic: 1/2*(x'^2 + 3*y'^2), "
                               "potential: 100*x^2}\nforces: {y: -8*y'}\nconstraints: {bar: x - y}\n";
    const double slow = 0.1 / sqrt(50), still = 0.1 / 2;
    for (int k = 0; k < 4; ++k) {
        const double h = (k % 2 ? 1.02 : 0.98) * (k < 2 ? slow : still);
        const made x = make(text, "half-explicit", NULL, h, 10);
        const carom_pace *p = x.sim->kept->ledger.pace;
        is_near("stiffness", p[0].stiffness, 50, 1e-4), is_near("damping", p[0].damping, h > slow ? 2 : 0, 1e-5);
        is_near("stiffness", p[1].stiffness, h > still ? 50 : 0, 1e-4), is_near("damping", p[1].damping, 2, 1e-5);
        assert_int_equal(carom_resolution_short_enough(x.sim, (carom_pace){.stiffness = 50}), h < slow);
        assert_int_equal(carom_resolution_short_enough(x.sim, (carom_pace){.damping = 2}), h < still);
        done(&x);
    }
}

// Joints that hold everything leave no mode, however stiff the springs are.
static void joints_that_hold_everything_leave_no_mode(void **state) {
    (void)state;
    const made x = make("carom: 1\ncoordinates: {x: 0.3, y: 0.3}\nenergy: {kinetic: 1/2*(x'^2 + 3*y'^2), potential: "
                        "1e6*x^2 + 1e5*y^2}\nforces: {y: -800*y'}\nconstraints: {bar: x - y, pin: x - 0.3}\n",
                        "half-explicit", NULL, 0.1, 10);
    const carom_pace *p = x.sim->kept->ledger.pace;
    // 1e6 and 800 times rounding of differences
    for (int i = 0; i < 2; ++i)
        is_near("stiffness", p[i].stiffness, 0, 1e-3), is_near("damping", p[i].damping, 0, 1e-6);
    done(&x);
}

// Two pendulums of springs, 400 and 100 1/s^2, with dampers of 1 and 3 1/s: vibration and decay are fastest in
// different modes.
static void the_fastest_decay_is_another_mode(void **state) {
    (void)state;
    const made x = make("carom: 1\ncoordinates: {x: 0.1, y: 0.2}\nenergy: {kinetic: x'^2 + y'^2/2, potential: 400*x^2 "
                        "+ 50*y^2}\nforces: {x: -2*x', y: -3*y'}\n",
                        "moreau-midpoint", NULL, 0.1, 1);
    const carom_pace *p = x.sim->kept->ledger.pace;
    // 16 steps of the power method: (1/4)^16 of the other mode
    is_near("stiffness", p[0].stiffness, 400, 1e-3), is_near("damping", p[0].damping, 1, 1e-4);
    // (1/3)^32 of the other
    is_near("stiffness", p[1].stiffness, 100, 0.01), is_near("damping", p[1].damping, 3, 1e-4);
    done(&x);
}

// Forces that have no value beside the state, and modes that are no number, leave what is known: nothing.  The first
// two have a value for other rates, or other places, alone.
static void modes_without_a_number_are_not_known(void **state) {
    (void)state;
    static const char *const force[] = {"1e-30*sqrt(x) - 2*x'", "1e-30*sqrt(x') - 50*x", "-1e300*x", "-1e300*x'"};
    for (int i = 0; i < 4; ++i) {
        char text[300];
        snprintf(text, sizeof text, "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: %s*x'^2}\nforces: {x: \"%s\"}\n",
                 i < 2 ? "1/2" : "1e-10", force[i]);
        const made x = make(text, "moreau-midpoint", NULL, 1, 10);
        const carom_pace *p = x.sim->kept->ledger.pace;
        for (int k = 0; k < 2; ++k)
            if (p[k].stiffness != 0 || p[k].damping != 0)
                fail_msg("%s: stiffness %g, damping %g", force[i], p[k].stiffness, p[k].damping);
        done(&x);
    }
}

// y and z can move together without inertia, and a spring keeps y + z = 0.  The momentum (1 + t) (y' - z') is constant:
// y = 0.1 + 0.3 log(1 + t).  Steps that look at the mass, which varies, see a trace of inertia.
static void coordinates_without_inertia_have_a_trace_of_it(void **state) {
    (void)state;
    int able = 0;
    for (int i = 0; carom_schemes()[i]; ++i) {
        const carom_scheme *s = carom_schemes()[i];
        if (!s->massless) continue;
        const made x = make("carom: 1\ncoordinates: {y: {at: 0.1, rate: 0.3}, z: {at: -0.1, rate: -0.3}}\nenergy: "
                            "{kinetic: 1/2*(1 + t)*(y' - z')^2, potential: 50*(y + z)^2}\n",
                            s->name, NULL, 0.01, 0.5);
        model_sim_run(x.sim);
        is_near(s->name, carom_sim_now(x.sim).q[0], 0.1 + 0.3 * log(1.5), 1e-4); // h^2
        done(&x);
        ++able;
    }
    assert_true(able > 0);
}

// -- what a scheme makes of them --------------------------------------------------------------------------------------

static const char plain[] = "carom: 1\ncoordinates: {x: 0.1}\nenergy: {kinetic: x'^2/2}\n";

// The longest step, known to 2 %; 0: the scheme can do with the step of the run.
static double longest_step(const char *scheme, const char *option, carom_pace p, bool fades, double end) {
    const made x = make(plain, scheme, option, 0.1, end);
    // a decay cannot fade: the second one is not looked at then
    const carom_pace pace[2] = {fades ? p : (carom_pace){0}, fades ? (carom_pace){0} : p};
    carom_pace worst = {0};
    double longest = 0;
    if (!carom_diagnosis_unresolved(x.sim, pace, fades, &worst, &longest)) longest = 0;
    else assert_true(worst.stiffness == p.stiffness && worst.damping == p.damping && longest > 0);
    done(&x);
    return longest;
}

static void is_longest(const char *scheme, const char *option, carom_pace p, bool fades, double end, double want) {
    const double h = longest_step(scheme, option, p, fades, end);
    if (!(h <= 1.001 * want && h >= want / 1.021))
        fail_msg("%s: the longest step is %.6g instead of %.6g", scheme, h, want);
}

// Explicit steps with forces at the midpoint are stable up to h w = 2 and, within a growth of 100 in 200 steps, h d = 1
// + 100^(1/200); implicit ones with theta = 1 take half of a vibration in T where T/(2 h) ln(1 + (h w)^2) = ln 2.
static void the_longest_step_is_the_stability_limit(void **state) {
    (void)state;
    is_longest("moreau-midpoint", NULL, (carom_pace){.stiffness = 1e4}, false, 1, 0.02);
    is_longest("moreau-midpoint", NULL, (carom_pace){.stiffness = 9e4}, false, 1, 2.0 / 300);
    is_longest("moreau-midpoint", NULL, (carom_pace){.damping = 100}, false, 1, (1 + pow(100, 1.0 / 200)) / 100);
    is_longest("moreau-jean", "theta=1", (carom_pace){.stiffness = 1e4}, true, 1, 2 * log(2) / 1e4);
    is_longest("moreau-jean", "theta=1", (carom_pace){.stiffness = 1e4}, true, 10, 2 * log(2) / 1e5);
    // it does not grow
    assert_true(longest_step("moreau-jean", "theta=1", (carom_pace){.stiffness = 1e4}, false, 1) == 0);
    // and this one keeps it
    assert_true(longest_step("newmark", NULL, (carom_pace){.stiffness = 1e4}, true, 1) == 0);
    for (int i = 0; i < 3; ++i) // stable with every step, with and without damping
        for (int k = 0; k < 3; ++k)
            assert_true(longest_step((const char *const[]){"newmark", "ggl-midpoint", "ggl-alpha"}[i], NULL,
                                     (carom_pace){.stiffness = k ? 1e8 : 0, .damping = k == 1 ? 0 : 1e5}, false,
                                     1) == 0);
    assert_true(longest_step("moreau-midpoint", NULL, (carom_pace){.stiffness = 380}, false, 1) == 0);  // h w = 1.95
    assert_true(longest_step("moreau-midpoint", NULL, (carom_pace){.stiffness = 420}, false, 1) > 0);   // h w = 2.05
    // the motion itself grows
    assert_true(longest_step("moreau-midpoint", NULL, (carom_pace){.stiffness = -1e4}, false, 1) == 0);
    assert_true(longest_step("moreau-midpoint", NULL, (carom_pace){.damping = -1e4}, false, 1) == 0);
}

// -- ledgers ----------------------------------------------------------------------------------------------------------

// A step far too long for a well of 2e6 1/s^2 throws the mass out of it, with 1e4 times its energy.  There is no
// stiffness where it is now, which says nothing about the model.
static void far_away_nothing_is_learnt(void **state) {
    (void)state;
    const made x = make("carom: 1\ncoordinates: {x: 0.01}\nenergy: {kinetic: x'^2/2, potential: 1e6*(1 - exp(-x^2))}\n",
                        "half-explicit", NULL, 0.01, 1);
    carom_error err = {0};
    carom_ledger l;
    for (int i = 0; i < 3; ++i) assert_int_equal(carom_sim_step(x.sim, &err), CAROM_OK);
    assert_int_equal(carom_sim_ledger(x.sim, &l, &err), CAROM_OK);
    assert_true(carom_sim_ran_away(&l) && !x.sim->grown && fabs(carom_sim_now(x.sim).q[0]) > 4);
    is_near("stiffness", l.pace[0].stiffness, 2e6, 2e3); // 2e6 (1 - 2 x^2) exp(-x^2) at the start
    done(&x);
}

// A thousand times what is known: energy at the start, given and taken.
static void energy_that_runs_away_is_a_thousandfold(void **state) {
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2)
        for (int k = 0; k < 2; ++k) {
            carom_ledger l = {
                .energy = {
                    .start = sign * 2.0, .external = sign * 3.0, .damping = sign * 4.0, .end = 1e5, .balance = 1e5}};
            *(k ? &l.energy.end : &l.energy.balance) = 9001;
            assert_true(carom_sim_ran_away(&l));
            *(k ? &l.energy.end : &l.energy.balance) = 8999;
            assert_false(carom_sim_ran_away(&l));
        }
    assert_false(carom_sim_ran_away(&(carom_ledger){.energy = {.end = 1, .balance = 1}})); // nothing is known
}

// Beyond what the books explain; or they explain it by a work of reactions or damping that gives.
static void energy_in_excess(void **state) {
    (void)state;
    // end - start - external + impact + friction + damping
    const carom_ledger taken = {
        .energy = {.start = 1, .external = 20, .impact = 300, .friction = 4000, .damping = 50000}};
    is_near("excess", carom_sim_excess(&taken, 600000), 600000 - 1 - 20 + 300 + 4000 + 50000, 1e-9);
    const carom_ledger given = {
        .energy = {.start = 1, .external = -20, .impact = -300, .friction = -4000, .damping = -50000},
        .impulses.created = 7};
    // damping may give, as forces that are active do
    is_near("excess", carom_sim_excess(&given, 600000), 600000 - 1 - 50000 - 7, 1e-9);
    const carom_ledger pushed = {
        .energy = {.start = 1, .external = 20, .impact = -300, .friction = -4000, .damping = 0}, .impulses.created = 7};
    is_near("excess", carom_sim_excess(&pushed, 600000), 600000 - 1 - 20 - 7, 1e-9);
}

// The kinetic energy is looked at after each of the first 32 steps, then after every second up to 64, every fourth up
// to 128 and so on.
static void sampled_steps_double(void **state) {
    (void)state;
    int count = 0;
    for (long n = 0; n < 100000; n += n < 3000 ? 1 : 17, ++count) {
        long every = 1;
        while (32 * every <= n) every *= 2;
        if (carom_sim_sampled(n) != (n % every == 0)) fail_msg("step %ld is%s sampled", n, n % every ? "" : " not");
    }
    assert_true(count > 3000);
}

// -- times ------------------------------------------------------------------------------------------------------------

// From (n, t) on in steps of 0.1 to 1: whole numbers of steps, to 1e-9 of them, or one more.
static void the_last_step_ends_the_run(void **state) {
    (void)state;
    const made x = make(plain, "moreau-midpoint", NULL, 0.1, 1);
    static const struct {
        long n;
        double t;
        long last;
    } cases[] = {{0, 0, 10},
                 {4, 0.35, 11},
                 {4, 0.4, 10},
                 {4, 0.4 - 0.6 * 0.5e-9, 10},
                 {4, 0.4 - 0.6 * 2e-9, 11},
                 {4, 0.4 + 0.6 * 0.5e-9, 10},
                 {4, 0.4 + 0.6 * 2e-9, 10},
                 {0, 0.95, 1},
                 {7, 1, 7},
                 {0, 1, 0},
                 {7, 1.05, 7},
                 {7, 1.11, -1},
                 {3, -1e16, -1},
                 {5, 0.95, 6},
                 {5, 0.9 + 0.5e-10, 6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const carom_kept k = {.from_n = cases[i].n, .from_t = cases[i].t};
        const long last = carom_sim_last_step(x.sim, &k);
        if (last != cases[i].last)
            fail_msg("from step %ld at %.12g on the last one is %ld instead of %ld", cases[i].n, cases[i].t, last,
                     cases[i].last);
    }
    is_near("instant", carom_sim_instant(x.sim, -3), 4 * 2.220446049250313e-16 * 3, 1e-30);
    is_near("instant", carom_sim_instant(x.sim, 1e-7), 4 * 2.220446049250313e-16 * 1e-4, 1e-34);
    done(&x);
}

static carom_sim *controlled(carom_model **m, const char *scheme, double h, double sample, double offset, double delay,
                             double end, carom_error *err) {
    char text[400];
    snprintf(text, sizeof text,
             "carom: 1\ncoordinates: {x: 0.1}\nenergy: {kinetic: x'^2/2}\nforces: {x: u}\ncontrollers: {c: {sample: "
             "%.17g, offset: %.17g, delay: %.17g, outputs: {u: -x}}}\n",
             sample, offset, delay);
    *m = good(text);
    const carom_sim_def d = sim_def(*m, scheme, NULL, h, end);
    return carom_sim_create(&d, err);
}

// Equal steps to the next instant, no longer than h; a million of them at most are planned at once.
static void steps_are_planned_to_the_next_sample(void **state) {
    (void)state;
    static const struct {
        double h, sample, offset, delay, to_t; long to_n;
    } cases[] = {{0.01, 0.095, 0, 0, 0.095, 10},  {0.01, 0.1, 0, 0, 0.1, 10},     {0.01, 0.1, 0.032, 0, 0.032, 4},
                 {0.01, 0.1, 0, 0.051, 0.051, 6}, {1e-5, 100, 0, 0, 10, 1000000}, {0.01, 1e-3, 0, 0, 1e-3, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_model *m;
        carom_error err = {0};
        carom_sim *sim =
            controlled(&m, "moreau-midpoint", cases[i].h, cases[i].sample, cases[i].offset, cases[i].delay, 1000, &err);
        if (!sim) fail_msg("%s", err.text);
        is_near("planned time", sim->kept->to_t, cases[i].to_t, 1e-12);
        assert_int_equal(sim->kept->to_n, cases[i].to_n);
        is_near("planned step", carom_sim_planned(sim), cases[i].to_t / (double)cases[i].to_n, 1e-15);
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
}

// A scheme of equal steps meets instants that are whole numbers of them, and no others; sampling a million times in a
// step is refused to all.
static void instants_that_steps_do_not_meet_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *scheme; double sample, offset, delay; const char *refused;
    } cases[] = {{"schatzman-paoli", 0.03, 0.02, 0.01, NULL},
                 {"schatzman-paoli", 0.035, 0.02, 0.01, "takes equal steps"},
                 {"schatzman-paoli", 0.03, 0.015, 0.01, "takes equal steps"},
                 {"schatzman-paoli", 0.03, 0.02, 0.004, "takes equal steps"},
                 {"moreau-midpoint", 0.035, 0.015, 0.004, NULL},
                 {"moreau-midpoint", 1.01e-8, 0, 0, NULL},
                 {"moreau-midpoint", 0.99e-8, 0, 0, "too often"},
                 {"mixed", 0.99e-8, 0, 0, "too often"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_model *m;
        carom_error err = {0};
        carom_sim *sim =
            controlled(&m, cases[i].scheme, 0.01, cases[i].sample, cases[i].offset, cases[i].delay, 0.3, &err);
        if (!sim != !!cases[i].refused || (!sim && !strstr(err.text, cases[i].refused)))
            fail_msg("%s, sample %g, offset %g, delay %g: %s", cases[i].scheme, cases[i].sample, cases[i].offset,
                     cases[i].delay, sim ? "runs" : err.text);
        const bool regular = cases[i].sample == 0.03 && cases[i].offset == 0.02 && cases[i].delay == 0.01;
        // rows are counted in steps only where these are regular
        if (sim) assert_int_equal(carom_sim_total_steps(sim), regular ? 30 : 0);
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
}

// Three controllers that count their samples, each with a sample time, an offset and a delay of its own.  At time T
// controller c has sampled floor((T - offset)/sample) + 1 times, and its output of sample k acts from offset + k sample
// + delay on.  Whatever the steps, and where the run is saved and goes on in another simulation.
static void controllers_count_their_samples(void **state) {
    (void)state;
    static const struct {
        double sample, offset, delay;
    } c[3] = {{0.03, 0, 0.025}, {0.05, 0.01, 0}, {0.07, 0.02, 0.065}};
    static const char text[] =
        "carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: x'^2/2}\nforces: {x: 0*(a + b + "
        "d)}\ncontrollers:\n"
        "  a: {sample: 0.03, delay: 0.025, states: {m: m + 1}, outputs: {a: m + 1}}\n  b: {sample: 0.05, offset: 0.01, "
        "states: {n: n + 1}, outputs: {b: n + 1}}\n"
        "  d: {sample: 0.07, offset: 0.02, delay: 0.065, states: {o: o + 1}, outputs: {d: o + 1}}\n";
    static const char *const ways[] = {NULL, NULL, "adaptive=on", NULL};
    static const char *const schemes[] = {"moreau-midpoint", "mixed", "moreau-midpoint", "schatzman-paoli"};
    for (int way = 0; way < 4; ++way) {
        made x = make(text, schemes[way], ways[way], 0.005, 0.5);
        carom_error err = {0};
        for (int i = 0; !carom_sim_done(x.sim); ++i) {
            if (carom_sim_step(x.sim, &err) != CAROM_OK) fail_msg("%s", err.text);
            const double t = carom_sim_now(x.sim).t + 1e-9, *signal = carom_sim_inputs(x.sim);
            for (int k = 0; k < 3; ++k) {
                const double sampled = t < c[k].offset ? 0 : floor((t - c[k].offset) / c[k].sample) + 1,
                             acts = t < c[k].offset + c[k].delay
                                        ? 0
                                        : floor((t - c[k].offset - c[k].delay) / c[k].sample) + 1;
                int states = 0, outputs = 0;
                for (int j = 0; j < carom_sim_system(x.sim)->signals->ni; ++j)
                    states += signal[j] == sampled, outputs += signal[j] == acts;
                is_near("samples", x.sim->sampled[2 * k], sampled, 0),
                    is_near("samples in effect", x.sim->sampled[2 * k + 1], acts, 0);
                if (!states || !outputs)
                    fail_msg("%s, t = %.9g: controller %d has sampled %g times, of which %g act, but no signal says so",
                             schemes[way], t, k, sampled, acts);
            }
            double next = HUGE_VAL; // of all samples and effects behind t
            for (int k = 0; k < 3; ++k)
                for (int j = 0; j < 40; ++j)
                    for (int effect = 0; effect < 2; ++effect) {
                        const double at = c[k].offset + j * c[k].sample + effect * c[k].delay;
                        // an effect is known once its sample is taken
                        if (at > t && (!effect || j < x.sim->sampled[2 * k])) next = fmin(next, at);
                    }
            is_near("next instant", carom_sim_next_sample(x.sim), next, 1e-12);
            if (i % 5 == 2) {
                size_t bytes;
                const void *saved = carom_sim_state(x.sim, &bytes);
                const char *const options[] = {ways[way], NULL};
                carom_sim *other = model_sim(x.m, schemes[way], ways[way] ? options : NULL, 0.005, 0.5);
                if (carom_sim_restore(other, saved, bytes, &err) != CAROM_OK) fail_msg("%s", err.text);
                carom_sim_destroy(x.sim);
                x.sim = other;
            }
        }
        done(&x);
    }
}

// -- adaptive steps ---------------------------------------------------------------------------------------------------

// Free flight under a constant force is exact: the error is rounding, which counts as 1e-8 of the tolerance, and is
// remembered as 1e-4.  (AD-4), p = 1: h <- h safety (1e-8)^(-0.7/2) last^(0.4/2).
static void exact_steps_grow_as_the_controller_says(void **state) {
    (void)state;
    const char *const options[] = {"adaptive=on", "grow=100", "safety=0.1", NULL};
    carom_model *m = good("carom: 1\ncoordinates: {y: {at: 0, rate: 1}}\nenergy: {kinetic: y'^2/2, potential: y}\n");
    carom_sim *sim = model_sim(m, "moreau-midpoint", options, 1e-6, 1);
    carom_error err = {0};
    double h = 1e-6, last = 1;
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
        h *= 0.1 * pow(1e-8, -0.7 / 2) * pow(last, 0.4 / 2), last = 1e-4;
        is_near("next step", sim->kept->h_next, h, 1e-9 * h),
            is_near("remembered error", sim->kept->error_last, last, 1e-18);
    }
    carom_sim_destroy(sim), carom_model_destroy(m);
}

// Values of common options at their limits are read, beyond them refused; and the values where none is given.
static void common_options_have_limits(void **state) {
    (void)state;
    // below and above: refused
    static const struct {
        const char *name; double usual, low, high, below, above;
    } options[] = {{"tol", 1e-8, 1e-16, 1, 0.9e-16, 1.1},         {"accept", 1e-8, 0, 1, -1e-9, 1.1},
                   {"newton-tol", 1e-12, 1e-16, 1, 0.9e-16, 1.1}, {"rtol", 1e-4, 1e-14, 1, 0.9e-14, 1.1},
                   {"atol", 1e-6, 0, 1e6, -1e-9, 1.1e6},          {"safety", 0.9, 0.1, 0.999999, 0.09, 1},
                   {"shrink", 0.2, 0.01, 0.9, 0.009, 0.91},       {"grow", 2, 1.05, 100, 1.04, 101}};
    carom_model *m = good(plain);
    for (size_t i = 0; i < sizeof options / sizeof *options; ++i) {
        const double value[] = {options[i].usual, options[i].low, options[i].high, options[i].below, options[i].above};
        for (int k = 0; k < 5; ++k) {
            char word[60];
            carom_error err = {0};
            const char *const list[] = {word, NULL};
            snprintf(word, sizeof word, "%s=%.17g", options[i].name, value[k]);
            const carom_sim_def d = sim_def(m, "moreau-midpoint", list, 0.1, 1),
                                bare = sim_def(m, "moreau-midpoint", NULL, 0.1, 1);
            carom_sim *sim = carom_sim_create(&d, &err), *usual = carom_sim_create(&bare, &err);
            if (!sim != (k > 2)) fail_msg("%s: %s", word, sim ? "is not refused" : err.text);
            char text[1000];
            carom_sim_options_text(usual, text, sizeof text);
            snprintf(word, sizeof word, " %s=%g ", options[i].name, options[i].usual);
            strncat(text, " ", sizeof text - strlen(text) - 1);
            if (!strstr(text, word)) fail_msg("%s instead of%s", text, word);
            carom_sim_destroy(sim), carom_sim_destroy(usual);
        }
    }
    carom_model_destroy(m);
}

// -- many contacts ----------------------------------------------------------------------------------------------------

// The tolerance does not depend on the number of contacts; what is given is used.  From 251 pairs that are near each
// other on, a larger residual is accepted where neither is given.
static void many_contacts_have_the_tolerance_of_few(void **state) {
    (void)state;
    static const char *const given[] = {NULL, "tol=1e-9", "accept=0.5"};
    for (int n = 250; n <= 251; ++n) {
        char text[500];
        snprintf(text, sizeof text,
                 "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n  s: {repeat: %d, "
                 "body: {mass: 1, inertia: [1, 1, 1], at: [i, 0, 0.1], shape: {sphere: 0.1}}}\n"
                 "contacts: {base: {between: [s, floor]}, among: {among: [s]}}\n",
                 n);
        carom_model *m = good(text);
        for (int k = 0; k < 3; ++k) {
            const char *const options[] = {given[k], NULL};
            carom_sim *sim = model_sim(m, "moreau-midpoint", k ? options : NULL, 1e-3, 1);
            assert_int_equal(sim->list.pairs, n);
            is_near("tolerance", sim->inside.solved, k == 1 ? 1e-9 : 1e-8, 1e-20);
            is_near("accepted", sim->inside.accept, k == 2 ? 0.5 : 1e-8, 1e-20);
            is_near("limit of work", sim->inside.limited, k == 0 ? 1e-4 : k == 1 ? 0 : 0.5, 1e-20); // (TOL-6)
            carom_sim_destroy(sim);
        }
        carom_model_destroy(m);
    }
}

// -- who can ----------------------------------------------------------------------------------------------------------

// Is the word in a list with commas?
static bool listed(const char *list, const char *word) {
    const size_t n = strlen(word);
    for (const char *c = strstr(list, word); c; c = strstr(c + 1, word))
        if ((c == list || c[-1] == ' ') && !strchr("-abcdefghijklmnopqrstuvwxyz", c[n] ? c[n] : '.')) return true;
    return false;
}

// A refusal names the schemes that can do all that the model needs: those that run it, and no others; and the option
// impacts=ignore, where that helps, and nowhere else.
static void those_who_can_are_named(void **state) {
    (void)state;
#define BALL "carom: 1\ncoordinates: {x: 0, y: 1, z: 0}\nenergy: {kinetic: (x'^2 + y'^2 + z'^2)/2, potential: 9.81*y}\n"
    static const struct { const char *text; double end; const char *option; } cases[] = {
        {BALL, 1, NULL},
        {BALL, 0.995, NULL},
        {BALL, 1, "adaptive=on"},
        {BALL "constraints: {rail: z - x}\n", 1, NULL},
        {BALL "contacts: {floor: {gap: y}}\n", 1, NULL},
        {BALL "contacts: {floor: {gap: y}, wall: {gap: 1 - x, restitution: 0.5}}\n", 1, NULL},
        {BALL "contacts: {floor: {gap: y, slip: x, friction: 0.3}}\n", 1, NULL},
        {BALL "contacts: {floor: {gap: y, slip: x, friction: 0.3}}\nconstraints: {rail: z - x}\n", 0.995, NULL},
        {BALL "contacts: {floor: {gap: y, restitution: 0.5, impact law: poisson}}\n", 1, NULL},
        {"carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies: {a: {mass: 1, inertia: [1, 1, "
         "1], at: [0, 0, 1], shape: {ellipsoid: [0.1, 0.2, 0.3]}}}\n"
         "contacts: {c: {between: [a, floor]}}\n",
         1, NULL},
    };
#undef BALL
    int refusals = 0, ignored = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_model *m = good(cases[i].text);
        const char *const options[] = {cases[i].option, NULL};
        char why[40][sizeof ((carom_error *)0)->text];
        bool runs[40];
        int n = 0;
        for (; carom_schemes()[n]; ++n) {
            carom_error err = {0};
            const carom_sim_def d =
                sim_def(m, carom_schemes()[n]->name, cases[i].option ? options : NULL, 0.01, cases[i].end);
            carom_sim *sim = carom_sim_create(&d, &err);
            runs[n] = sim != NULL;
            snprintf(why[n], sizeof why[n], "%s", err.text);
            carom_sim_destroy(sim);
        }
        for (int k = 0; k < n; ++k) {
            const char *list = runs[k] ? NULL
                               : strstr(why[k], "that support this model: ")
                                   ? strstr(why[k], "that support this model: ")
                                   : strstr(why[k], "these do: ");
            if (runs[k]) continue;
            if (!list) fail_msg("case %zu, %s: %s", i, carom_schemes()[k]->name, why[k]);
            for (int j = 0; j < n; ++j)
                if (listed(list, carom_schemes()[j]->name) != runs[j])
                    fail_msg("case %zu: %s %s, but %s says: %s", i, carom_schemes()[j]->name,
                             runs[j] ? "runs" : "does not run", carom_schemes()[k]->name, why[k]);
            const char *const ignore[] = {"impacts=ignore", cases[i].option, NULL};
            carom_error err = {0};
            const carom_sim_def d = sim_def(m, carom_schemes()[k]->name, ignore, 0.01, cases[i].end);
            carom_sim *sim = carom_sim_create(&d, &err);
            if ((sim != NULL) != (strstr(why[k], "impacts=ignore") != NULL))
                fail_msg("case %zu: impacts=ignore %s, but %s says: %s", i, sim ? "helps" : "does not help",
                         carom_schemes()[k]->name, why[k]);
            ignored += sim != NULL;
            carom_sim_destroy(sim);
            ++refusals;
        }
        carom_model_destroy(m);
    }
    assert_true(refusals > 12 && ignored > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_measured_by_the_largest),
        cmocka_unit_test(sudden_forces_are_told_from_steep_ones),
        cmocka_unit_test(forces_are_sudden_where_the_motion_is),
        cmocka_unit_test(the_fastest_modes_are_those_that_joints_allow),
        cmocka_unit_test(joints_that_hold_everything_leave_no_mode),
        cmocka_unit_test(the_fastest_decay_is_another_mode),
        cmocka_unit_test(modes_without_a_number_are_not_known),
        cmocka_unit_test(coordinates_without_inertia_have_a_trace_of_it),
        cmocka_unit_test(the_longest_step_is_the_stability_limit),
        cmocka_unit_test(energy_that_runs_away_is_a_thousandfold),
        cmocka_unit_test(far_away_nothing_is_learnt),
        cmocka_unit_test(energy_in_excess),
        cmocka_unit_test(sampled_steps_double),
        cmocka_unit_test(the_last_step_ends_the_run),
        cmocka_unit_test(steps_are_planned_to_the_next_sample),
        cmocka_unit_test(instants_that_steps_do_not_meet_are_refused),
        cmocka_unit_test(controllers_count_their_samples),
        cmocka_unit_test(exact_steps_grow_as_the_controller_says),
        cmocka_unit_test(common_options_have_limits),
        cmocka_unit_test(many_contacts_have_the_tolerance_of_few),
        cmocka_unit_test(those_who_can_are_named),
    };
    return cmocka_run_group_tests_name("measures", tests, NULL, NULL);
}

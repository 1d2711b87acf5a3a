// test_books.c: where energy is booked: joints that nothing strikes, joints in an impact; gaps that need not be
// computed for it.
#include "model_text.h"
#include "system/system.h"
#include <carom/event.h>

static carom_ledger ledger_of(carom_model *m, const carom_scheme *scheme, double h, double end) {
    carom_sim *sim = model_sim(m, scheme->name, NULL, h, end);
    model_sim_run(sim);
    carom_ledger ledger;
    carom_error err = {0};
    if (carom_sim_ledger(sim, &ledger, &err) != CAROM_OK) fail_msg("%s: %s", scheme->name, err.text);
    carom_sim_destroy(sim);
    return ledger;
}

static void near(const carom_scheme *scheme, const char *what, double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%s: %s is %.9g instead of %.9g, allowed are %.2g", scheme->name, what, value, expected, tolerance);
}

// A four-bar mechanism without contacts: nothing is lost to impact, whatever the scheme loses; all of that is the
// balance.
static void joints_that_nothing_strikes_lose_nothing_to_impact(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ngravity: [0, -9.81]\nbodies:\n"
                          "  left: {mass: 1, inertia: 1/12, at: [0, 0.5], angle: pi/2, velocity: [1, 0], spin: -2}\n"
                          "  right: {mass: 1, inertia: 1/12, at: [1.2, 0.5], angle: pi/2, velocity: [1, 0], spin: -2}\n"
                          "  bar: {mass: 1, inertia: 1/12, at: [0.6, 1], velocity: [2, 0]}\n"
                          "joints:\n  a: {type: revolute, between: [ground, left], at: [0, 0]}\n  b: {type: revolute, "
                          "between: [left, bar], at: [0, 1]}\n"
                          "  c: {type: revolute, between: [bar, right], at: [1.2, 1]}\n  d: {type: revolute, between: "
                          "[ground, right], at: [1.2, 0]}\n");
    int tried = 0, lossy = 0;
    for (int i = 0; carom_schemes()[i]; ++i) {
        const carom_scheme *s = carom_schemes()[i];
        if (s->limitations & CAROM_NO_BILATERAL) continue;
        const carom_ledger l = ledger_of(m, s, 1e-3, 0.4);
        near(s, "impact", l.energy.impact, 0, 0);
        near(s, "balance", l.energy.balance, l.energy.end - l.energy.start, 0);
        lossy += fabs(l.energy.balance) > 1e-3;
        ++tried;
    }
    assert_true(tried >= 19 && lossy >= 3); // Moreau's schemes are off by order h
    carom_model_destroy(m);
}

// A bar of mass m and length 2 l on a hinge turns with w against a stop: 1/2 (J + m l^2) w^2 (1 - e^2) are lost to
// impact, and the hinge takes part. A scheme of first order loses about h w of the energy before, and finds the impact
// h late.
static void joints_in_an_impact_belong_to_it(void **state) {
    (void)state;
    const double h = 1e-4, w = 2, all = 0.5 * (0.5 / 12 + 0.5 * 0.25) * w * w;
    carom_model *m =
        good("carom: 1\nbodies:\n  bar: {mass: 0.5, inertia: 0.5/12, at: [0.5, 0], velocity: [0, -1], spin: -2}\n"
             "joints:\n  hinge: {type: revolute, between: [ground, bar], at: [0, 0]}\n"
             "contacts:\n  stop: {gap: bar.angle + 0.1, restitution: 0.5}\n");
    for (int i = 0; carom_schemes()[i]; ++i) {
        const carom_scheme *s = carom_schemes()[i];
        if (s->limitations & (CAROM_NO_BILATERAL | CAROM_NO_IMPACTS)) continue;
        const carom_ledger l = ledger_of(m, s, h, 0.2);
        near(s, "impact", l.energy.impact, 0.75 * all, 2 * h * w * all);
        near(s, "balance", l.energy.balance, 0, 2 * h * w * all);
    }
    carom_model_destroy(m);
}

// Falls from 1 with g = 10: an impact takes 10 (1 - e^2) J, found up to h late and with velocities of another time in
// the step, both g h u; with e = 1 it takes nothing, at most the energy of g h, and what a scheme loses of its own is
// the balance. D+ gives back the velocity with which the step of the impact begins, too slow by up to g h: that loses
// up to g h u, u^2 = 20, in each, which no impact takes.
static void impacts_take_what_their_law_takes(void **state) {
    (void)state;
    const double h = 5e-3, g = 10, u = sqrt(20);
    int tried = 0;
    for (int k = 0; k <= 2; ++k) {
        const double e = 0.5 * k;
        char text[200];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {y: 1}\nenergy: {kinetic: y'^2/2, potential: 10*y}\ncontacts: {floor: {gap: "
                 "y, restitution: %.1f}}\n",
                 e);
        carom_model *m = good(text);
        for (int i = 0; carom_schemes()[i]; ++i) {
            const carom_scheme *s = carom_schemes()[i];
            if (s->limitations & CAROM_NO_IMPACTS) continue;
            const carom_ledger l = ledger_of(m, s, h, k < 2 ? 0.6 : 4);
            near(s, "impact", l.energy.impact, 10 * (1 - e * e),
                 k < 2 ? 2 * g * h * u : 0.5 * (double)l.impacts * g * h * g * h + 1e-12);
            if (k < 2) near(s, "balance", l.energy.balance, 0, 2 * g * h * u);
            else if (strcmp(s->name, "dg-plus") == 0)
                assert_true(l.impacts > 3 && l.energy.balance < -0.1 &&
                            l.energy.balance > -(double)l.impacts * g * h * u);
            ++tried;
        }
        carom_model_destroy(m);
    }
    assert_true(tried >= 3 * 19);
}

// -- gaps that a step leaves out ---------------------------------------------------------------------------------

typedef struct counted { carom_system sys; const carom_system *own; long observed; } counted;
static counted counting;

static carom_status observe(const void *model, void *work, double t, const double *q, const double *v, double *g,
                            double *in, double *out) {
    ++counting.observed;
    return counting.own->speed->observe(model, work, t, q, v, g, in, out);
}

static carom_status look(void *user, const carom_now *now) {
    double *widest = user;
    for (int c = 0; c < counting.own->nc; ++c) *widest = fmax(*widest, now->gap[c]);
    return CAROM_OK;
}

static carom_sim *counted_sim(const carom_model *m, double h, double end) {
    counting = (counted){.sys = *carom_model_system(m), .own = carom_model_system(m)};
    static carom_extensions own;
    carom_system_extend(&counting.sys, &own);
    own.speed.observe = observe;
    carom_sim_def def = carom_sim_default();
    carom_error err = {0};
    def.system = &counting.sys, def.scheme = "moreau-midpoint", def.h = h, def.t_end = end, def.q0 = carom_model_q0(m),
    def.v0 = carom_model_v0(m);
    carom_sim *sim = carom_sim_create(&def, &err);
    if (!sim) fail_msg("%s", err.text);
    return sim;
}

// A run that nobody looks at asks for fewer gaps at the ends of its steps than one whose steps are looked at, and has
// the same ledger and the same state, byte for byte.  `fewer`: at most so many of the steps need them.
static void same_books(const char *text, double h, double end, double fewer) {
    carom_model *m = good(text);
    carom_error err = {0};
    carom_ledger quiet, seen;
    double widest = 0;
    carom_sim *a = counted_sim(m, h, end);
    if (carom_sim_run(a, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_int_equal(carom_sim_ledger(a, &quiet, &err), CAROM_OK);
    const long observed = counting.observed;
    carom_sim *b = counted_sim(m, h, end);
    const carom_now start = carom_sim_now(b);
    look(&widest, &start);
    if (carom_sim_run(b, look, &widest, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_int_equal(carom_sim_ledger(b, &seen, &err), CAROM_OK);
    assert_true(counting.observed > seen.steps);
    if (!((double)observed <= fewer * (double)seen.steps))
        fail_msg("%ld of %ld steps needed gaps", observed, seen.steps);
    assert_true(quiet.penetration == seen.penetration && quiet.penetration_t == seen.penetration_t &&
                quiet.gap == seen.gap);
    assert_true(quiet.energy.external == seen.energy.external && quiet.energy.damping == seen.energy.damping &&
                quiet.energy.impact == seen.energy.impact);
    assert_true(widest == seen.gap);
    const carom_now now = carom_sim_now(a), other = carom_sim_now(b);
    assert_memory_equal(now.q, other.q, (size_t)counting.own->nq * sizeof(double));
    assert_memory_equal(now.v, other.v, (size_t)counting.own->nv * sizeof(double));
    assert_memory_equal(now.gap, other.gap, (size_t)counting.own->nc * sizeof(double));
    carom_sim_destroy(a);
    carom_sim_destroy(b);
    carom_model_destroy(m);
}

static void gaps_that_change_no_book_are_not_computed(void **state) {
    (void)state;
    // turns against a stop, with a damper and a motor; steps from so small that few need gaps to so large that a bound
    // of first order says nothing
    static const char crank[] =
        "carom: 1\nparameters: {r: 0.3}\ncoordinates: {a: {at: 0.1, rate: 9}, y: {at: 0.2, rate: 0}}\n"
        "energy: {kinetic: 0.1*a'^2 + y'^2/2, potential: 9.81*y + 2*sin(a)}\nforces: {a: 0.2 - 0.01*a'}\n"
        "contacts:\n  top: {gap: 1.2*r - r*sin(a) + y, restitution: 0.6}\n  floor: {gap: y + r*cos(a)/2 + 0.4, "
        "restitution: 0.5}\n";
    same_books(crank, 1e-4, 2, 0.2);
    same_books(crank, 1e-3, 5, 0.7);
    same_books(crank, 0.02, 5, 1.1);
    same_books("carom: 1\ncoordinates: {x: {at: 1, rate: 0}}\nenergy: {kinetic: x'^2/2, potential: 9.81*x}\ncontacts: "
               "{floor: {gap: x, restitution: 0.8}}\n",
               1e-3, 3, 0.3);
    // no bound holds everywhere: every step needs them
    same_books("carom: 1\ncoordinates: {x: {at: 1, rate: 0}}\nenergy: {kinetic: x'^2/2, potential: 9.81*x}\ncontacts: "
               "{floor: {gap: x + abs(x)*x, restitution: 0.8}}\n",
               1e-3, 1, 1.1);
}

// A contact that may not close is passed through, which is no penetration; the one beside it is, and has its own name,
// also behind joints.
static void what_may_not_close_penetrates_nothing(void **state) {
    (void)state;
    static const char form[] = "carom: 1\ncoordinates: {x: {at: 1, rate: -2}, y: {at: 2, rate: 0}, z: 0, w: "
                               "0}\nenergy: {kinetic: (x'^2 + y'^2 + z'^2 + w'^2)/2}\nconstraints: {rail: z, bar: w}\n"
                               "contacts: {%s, %s}\n";
    for (int first = 0; first < 2; ++first) {
        char text[600];
        static const char door[] = "door: {gap: x, closes while: -1}", floor[] = "floor: {gap: y}";
        snprintf(text, sizeof text, form, first ? door : floor, first ? floor : door);
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, "mixed", NULL, 0.01, 1);
        model_sim_run(sim);
        carom_ledger l;
        carom_error err = {0};
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        assert_true(fabs(carom_sim_now(sim).q[0] + 1) < 1e-9 && l.penetration == 0 && l.penetration_id == -1 &&
                    fabs(l.gap - 2) < 1e-12);
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
}

// From rest with x'' = 1: the largest kinetic energy of a run is that at its end, t^2/2, also where the last step is
// not one of those that books look at (with 37 steps every other one).
static void the_largest_kinetic_energy_is_that_of_the_end(void **state) {
    (void)state;
    for (int n = 36; n <= 37; ++n) {
        carom_model *m = good("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/2, potential: -x}\n");
        carom_ledger l;
        carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, 0.125, 0.125 * n);
        model_sim_run(sim);
        assert_int_equal(carom_sim_ledger(sim, &l, NULL), CAROM_OK);
        assert_int_equal(l.steps, n);
        assert_close(l.kinetic, 0.5 * 0.125 * 0.125 * n * n, 1e-13);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A step knows its number and its time: s->n steps of h, which is a power of two, lead there.
static carom_status (*steps)(void *memory, carom_step *s);
static long taken;
static carom_status step_with_its_number(void *memory, carom_step *s) {
    assert_true(s->n == taken && s->t == (double)s->n * 0x1p-10);
    ++taken;
    return steps(memory, s);
}

static void steps_know_their_number(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 1, rate: 0}}\nenergy: {kinetic: x'^2/2, potential: "
                          "10*x}\ncontacts: {floor: {gap: x, restitution: 0.8}}\n");
    carom_sim_def d = sim_def(m, "moreau-midpoint", NULL, 0x1p-10, 0.4);
    carom_scheme scheme = {0};
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s)
        if (strcmp((*s)->name, d.scheme) == 0) scheme = **s;
    steps = scheme.step;
    scheme.step = step_with_its_number;
    d.schemes = (const carom_scheme *const[]){&scheme, NULL};
    carom_error err = {0};
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    model_sim_run(sim);
    assert_int_equal(taken, carom_sim_now(sim).step);
    assert_true(taken > 400);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A rotor is hinged in its mass centre, so its weight, g, presses nothing: a pin that reaches its stop with g h/5
// strikes it, and the loss is (1 - e^2)/2 J w^2. Without the joint it would be a body that lies there.
static void weight_that_a_joint_carries_presses_no_contact(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\ngravity: [0, -9.81]\nbodies: {rotor: {mass: 2, inertia: 1, at: [0, 0], spin: -0.01962}}\n"
             "joints: {axle: {type: revolute, between: [ground, rotor], at: [0, 0]}}\n"
             "contacts: {stop: {gap: rotor.y + rotor.angle + 0.005, restitution: 0.5}}\n");
    int tried = 0;
    for (int i = 0; carom_schemes()[i]; ++i) {
        const carom_scheme *s = carom_schemes()[i];
        if (s->limitations & (CAROM_NO_BILATERAL | CAROM_NO_IMPACTS)) continue;
        const carom_ledger l = ledger_of(m, s, 0.01, 0.6);
        near(s, "number of impacts", (double)l.impacts, 1, 0);
        near(s, "loss", l.energy.start - l.energy.end, 0.5 * (1 - 0.25) * 0.01962 * 0.01962, 1e-15);
        ++tried;
    }
    assert_true(tried >= 20);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_know_their_number),
        cmocka_unit_test(the_largest_kinetic_energy_is_that_of_the_end),
        cmocka_unit_test(what_may_not_close_penetrates_nothing),
        cmocka_unit_test(joints_that_nothing_strikes_lose_nothing_to_impact),
        cmocka_unit_test(joints_in_an_impact_belong_to_it),
        cmocka_unit_test(impacts_take_what_their_law_takes),
        cmocka_unit_test(weight_that_a_joint_carries_presses_no_contact),
        cmocka_unit_test(gaps_that_change_no_book_are_not_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

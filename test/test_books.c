// test_books.c: where energy is booked: joints that nothing strikes, joints in an impact.
#include "model_text.h"
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
    if (!(fabs(value - expected) <= tolerance)) fail_msg("%s: %s is %.9g instead of %.9g, allowed are %.2g", scheme->name, what, value, expected, tolerance);
}

// A four-bar mechanism without contacts: nothing is lost to impact, whatever the scheme loses; all of that is the balance.
static void joints_that_nothing_strikes_lose_nothing_to_impact(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ngravity: [0, -9.81]\nbodies:\n"
                          "  left: {mass: 1, inertia: 1/12, at: [0, 0.5], angle: pi/2, velocity: [1, 0], spin: -2}\n"
                          "  right: {mass: 1, inertia: 1/12, at: [1.2, 0.5], angle: pi/2, velocity: [1, 0], spin: -2}\n"
                          "  bar: {mass: 1, inertia: 1/12, at: [0.6, 1], velocity: [2, 0]}\n"
                          "joints:\n  a: {type: revolute, between: [ground, left], at: [0, 0]}\n  b: {type: revolute, between: [left, bar], at: [0, 1]}\n"
                          "  c: {type: revolute, between: [bar, right], at: [1.2, 1]}\n  d: {type: revolute, between: [ground, right], at: [1.2, 0]}\n");
    int tried = 0, lossy = 0;
    for (int i = 0; carom_schemes()[i]; ++i) {
        const carom_scheme *s = carom_schemes()[i];
        if (s->lacks & CAROM_NO_BILATERAL) continue;
        const carom_ledger l = ledger_of(m, s, 1e-3, 0.4);
        near(s, "impact", l.energy.impact, 0, 0);
        near(s, "balance", l.energy.balance, l.energy.end - l.energy.start, 0);
        lossy += fabs(l.energy.balance) > 1e-3;
        ++tried;
    }
    assert_true(tried >= 19 && lossy >= 3); // Moreau's schemes are off by order h
    carom_model_destroy(m);
}

// A bar of mass m and length 2 l on a hinge turns with w against a stop: 1/2 (J + m l^2) w^2 (1 - e^2) are lost to impact, and the hinge takes part.
// A scheme of first order loses about h w of the energy before, and finds the impact h late.
static void joints_in_an_impact_belong_to_it(void **state) {
    (void)state;
    const double h = 1e-4, w = 2, all = 0.5 * (0.5 / 12 + 0.5 * 0.25) * w * w;
    carom_model *m = good("carom: 1\nbodies:\n  bar: {mass: 0.5, inertia: 0.5/12, at: [0.5, 0], velocity: [0, -1], spin: -2}\n"
                          "joints:\n  hinge: {type: revolute, between: [ground, bar], at: [0, 0]}\n"
                          "contacts:\n  stop: {gap: bar.angle + 0.1, restitution: 0.5}\n");
    for (int i = 0; carom_schemes()[i]; ++i) {
        const carom_scheme *s = carom_schemes()[i];
        if (s->lacks & (CAROM_NO_BILATERAL | CAROM_NO_IMPACTS)) continue;
        const carom_ledger l = ledger_of(m, s, h, 0.2);
        near(s, "impact", l.energy.impact, 0.75 * all, 2 * h * w * all);
        near(s, "balance", l.energy.balance, 0, 2 * h * w * all);
    }
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_that_nothing_strikes_lose_nothing_to_impact),
        cmocka_unit_test(joints_in_an_impact_belong_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

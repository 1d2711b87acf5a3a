// test_hard.c: small models that are hard for one reason each: balls that touch before the first impact, positions where joints become dependent.
#include "model_text.h"
#include <carom/event.h>

// -- the first impact of a run ------------------------------------------------------------------------------------

// One ball of n hits n - 1 that touch.  Newton's law on all contacts at once: the struck contact opens with e, the others stay closed, and momentum
// stays: v_1 = (1 + e)/n, v_0 = v_1 - e.  With e = 1 no energy is lost.
static void a_ball_meets_balls_that_touch(void **state) {
    (void)state;
    for (int n = 3; n <= 6; ++n)
        for (int k = 0; k < 2; ++k) {
            const double e = k == 0 ? 1 : 0.6, v_1 = (1 + e) / n;
            char text[2000] = "carom: 1\ncoordinates:\n  x0: {at: -0.25, rate: 1}\n", kinetic[400] = "x0'^2";
            for (int i = 1; i < n; ++i) {
                snprintf(text + strlen(text), sizeof text - strlen(text), "  x%d: {at: %d, rate: 0}\n", i, i);
                snprintf(kinetic + strlen(kinetic), sizeof kinetic - strlen(kinetic), " + x%d'^2", i);
            }
            snprintf(text + strlen(text), sizeof text - strlen(text), "energy: {kinetic: 1/2*(%s)}\ncontacts:\n", kinetic);
            for (int i = 1; i < n; ++i) snprintf(text + strlen(text), sizeof text - strlen(text), "  c%d: {gap: x%d - x%d - 1, restitution: %g}\n", i, i, i - 1, e);
            carom_model *m = good(text);
            for (int i = 0; carom_schemes()[i]; ++i) {
                const carom_scheme *s = carom_schemes()[i];
                if (s->lacks & CAROM_NO_IMPACTS) continue;
                carom_sim *sim = model_sim(m, s->name, NULL, 1.0 / 512, 0.5);
                model_sim_run(sim);
                const carom_now now = carom_sim_now(sim);
                for (int j = 0; j < n; ++j)
                    if (!(fabs(now.v[j] - (j == 0 ? v_1 - e : v_1)) <= 1e-9)) fail_msg("%s, %d balls, e = %g: x%d' is %.12g instead of %.12g", s->name, n, e, j, now.v[j], j == 0 ? v_1 - e : v_1);
                carom_sim_destroy(sim);
            }
            carom_model_destroy(m);
        }
}

// -- singular positions ----------------------------------------------------------------------------------------------

// N + 1 bars on hinges side by side, N bars across their ends: all turn by th from upright with (N + 1)/3 + N times th'' = (N + (N + 1)/2) g sin th.  Where they
// lie flat the joints of a cell depend on each other.  The equation is integrated here with steps short enough for 1e-13.
static double turned(int cells, double rate, double end) {
    const double k = (cells + 0.5 * (cells + 1)) * 9.81 / ((cells + 1) / 3.0 + cells);
    const int n = 20000;
    const double h = end / n;
    double th = 0, w = rate;
    for (int i = 0; i < n; ++i) {
        const double a1 = k * sin(th), w2 = w + h / 2 * a1, a2 = k * sin(th + h / 2 * w), w3 = w + h / 2 * a2, a3 = k * sin(th + h / 2 * w2),
                     w4 = w + h * a3, a4 = k * sin(th + h * w3);
        th += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
        w += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
    return th;
}

static carom_model *cells(int n, double rate) {
    char text[4000] = "carom: 1\ngravity: [0, -9.81]\nbodies:\n", joints[2000] = "joints:\n";
    for (int i = 0; i <= n; ++i) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "  v%d: {mass: 1, inertia: 1/12, at: [%d, 0.5], angle: pi/2, velocity: [%.17g, 0], spin: %.17g}\n", i, i, rate / 2, -rate);
        snprintf(joints + strlen(joints), sizeof joints - strlen(joints), "  g%d: {type: revolute, between: [ground, v%d], at: [%d, 0]}\n", i, i, i);
    }
    for (int i = 0; i < n; ++i) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "  h%d: {mass: 1, inertia: 1/12, at: [%d.5, 1], velocity: [%.17g, 0]}\n", i, i, rate);
        snprintf(joints + strlen(joints), sizeof joints - strlen(joints), "  l%d: {type: revolute, between: [v%d, h%d], at: [%d, 1]}\n  r%d: {type: revolute, between: [h%d, v%d], at: [%d, 1]}\n",
                 i, i, i, i, i, i, i + 1, i + 1);
    }
    strncat(text, joints, sizeof text - strlen(text) - 1);
    return good(text);
}

static void four_bars_pass_the_position_where_they_lie_flat(void **state) {
    (void)state;
    static const struct { int n; double rate, step, end, close; } cases[] = {
        {1, 1, 1e-2, 1, 1e-9}, {2, 1, 1e-2, 1.5, 1e-9}, {2, 1, 1e-3, 0.72, 1e-9}, {3, 2, 2.5e-2, 1, 1e-9},
        {2, 1, 0.7143554, 0.72, 1e-7}, {2, 1, 0.7143, 0.72, 1e-8}}; // steps that end at that position, and shortly before it
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_model *m = cells(cases[i].n, cases[i].rate);
        carom_sim *sim = model_sim(m, "event-driven", NULL, cases[i].step, cases[i].end);
        model_sim_run(sim);
        carom_ledger l;
        carom_error err = {0};
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        const double th = atan(1) * 2 - carom_sim_now(sim).q[2], expected = turned(cases[i].n, cases[i].rate, cases[i].end);
        if (!(fabs(th - expected) <= cases[i].close)) fail_msg("case %zu: %.14g instead of %.14g", i, th, expected);
        if (!(fabs(l.energy.balance) <= (i < 4 ? 1e-8 : 2e-6))) fail_msg("case %zu: balance %.3g", i, l.energy.balance);
        if (!(l.counts.inner < 20000)) fail_msg("case %zu: %ld inner steps", i, l.counts.inner);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_meets_balls_that_touch),
        cmocka_unit_test(four_bars_pass_the_position_where_they_lie_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_hard.c: small models that are hard for one reason each: balls that touch before the first impact, positions
// where joints become dependent, joints that hold stiff members, a mechanism of seven bodies.
#include "model_text.h"
#include "sim/inspect.h"
#include <carom/event.h>

// -- the first impact of a run ------------------------------------------------------------------------------------

// One ball of n hits n - 1 that touch.  Newton's law on all contacts at once: the struck contact opens with e, the
// others stay closed, and momentum stays: v_1 = (1 + e)/n, v_0 = v_1 - e.  With e = 1 no energy is lost.
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
            snprintf(text + strlen(text), sizeof text - strlen(text), "energy: {kinetic: 1/2*(%s)}\ncontacts:\n",
                     kinetic);
            for (int i = 1; i < n; ++i)
                snprintf(text + strlen(text), sizeof text - strlen(text),
                         "  c%d: {gap: x%d - x%d - 1, restitution: %g}\n", i, i, i - 1, e);
            carom_model *m = good(text);
            for (int i = 0; carom_schemes()[i]; ++i) {
                const carom_scheme *s = carom_schemes()[i];
                if (s->limitations & CAROM_NO_IMPACTS) continue;
                carom_sim *sim = model_sim(m, s->name, NULL, 1.0 / 512, 0.5);
                model_sim_run(sim);
                const carom_now now = carom_sim_now(sim);
                for (int j = 0; j < n; ++j)
                    if (!(fabs(now.v[j] - (j == 0 ? v_1 - e : v_1)) <= 1e-9))
                        fail_msg("%s, %d balls, e = %g: x%d' is %.12g instead of %.12g", s->name, n, e, j, now.v[j],
                                 j == 0 ? v_1 - e : v_1);
                carom_sim_destroy(sim);
            }
            carom_model_destroy(m);
        }
}

// -- singular positions ----------------------------------------------------------------------------------------------

// N + 1 bars on hinges side by side, N bars across their ends: all turn by th from upright with (N + 1)/3 + N times
// th'' = (N + (N + 1)/2) g sin th.  Where they lie flat the joints of a cell depend on each other.  The equation is
// integrated here with steps short enough for 1e-13.
static double turned(int cells, double rate, double end) {
    const double k = (cells + 0.5 * (cells + 1)) * 9.81 / ((cells + 1) / 3.0 + cells);
    const int n = 20000;
    const double h = end / n;
    double th = 0, w = rate;
    for (int i = 0; i < n; ++i) {
        const double a1 = k * sin(th), w2 = w + h / 2 * a1, a2 = k * sin(th + h / 2 * w), w3 = w + h / 2 * a2,
                     a3 = k * sin(th + h / 2 * w2), w4 = w + h * a3, a4 = k * sin(th + h * w3);
        th += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
        w += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
    return th;
}

static carom_model *cells(int n, double rate) {
    char text[4000] = "carom: 1\ngravity: [0, -9.81]\nbodies:\n", joints[2000] = "joints:\n";
    for (int i = 0; i <= n; ++i) {
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  v%d: {mass: 1, inertia: 1/12, at: [%d, 0.5], angle: pi/2, velocity: [%.17g, 0], spin: %.17g}\n", i,
                 i, rate / 2, -rate);
        snprintf(joints + strlen(joints), sizeof joints - strlen(joints),
                 "  g%d: {type: revolute, between: [ground, v%d], at: [%d, 0]}\n", i, i, i);
    }
    for (int i = 0; i < n; ++i) {
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  h%d: {mass: 1, inertia: 1/12, at: [%d.5, 1], velocity: [%.17g, 0]}\n", i, i, rate);
        snprintf(joints + strlen(joints), sizeof joints - strlen(joints),
                 "  l%d: {type: revolute, between: [v%d, h%d], at: [%d, 1]}\n  r%d: {type: revolute, between: [h%d, "
                 "v%d], at: [%d, 1]}\n",
                 i, i, i, i, i, i, i + 1, i + 1);
    }
    strncat(text, joints, sizeof text - strlen(text) - 1);
    return good(text);
}

static void four_bars_pass_the_position_where_they_lie_flat(void **state) {
    (void)state;
    static const struct { int n; double rate, step, end, close; } cases[] = {
        {1, 1, 1e-2, 1, 1e-9}, {2, 1, 1e-2, 1.5, 1e-9}, {2, 1, 1e-3, 0.72, 1e-9}, {3, 2, 2.5e-2, 1, 1e-9},
        // steps that end at that position, and shortly before it
        {2, 1, 0.7143554, 0.72, 1e-7}, {2, 1, 0.7143, 0.72, 1e-8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_model *m = cells(cases[i].n, cases[i].rate);
        carom_sim *sim = model_sim(m, "event-driven", NULL, cases[i].step, cases[i].end);
        model_sim_run(sim);
        carom_ledger l;
        carom_error err = {0};
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        const double th = atan(1) * 2 - carom_sim_now(sim).q[2],
                     expected = turned(cases[i].n, cases[i].rate, cases[i].end);
        if (!(fabs(th - expected) <= cases[i].close)) fail_msg("case %zu: %.14g instead of %.14g", i, th, expected);
        if (!(fabs(l.energy.balance) <= (i < 4 ? 1e-8 : 2e-6))) fail_msg("case %zu: balance %.3g", i, l.energy.balance);
        if (!(l.counts.substeps < 20000)) fail_msg("case %zu: %ld inner steps", i, l.counts.substeps);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// -- joints that hold stiff members ----------------------------------------------------------------------------------

// Simo and Vu-Quoc's spin-up of a flexible beam, its first three seconds.  The hub is driven: accelerations without its
// reaction are 1e5 times those with it.  Schemes that treat the reaction as an impulse agree with one that puts it into
// the accelerations, with steps of which the fastest mode makes several turns.
static double spun(carom_model *m, const char *scheme, double h, double *energy) {
    carom_sim *sim = model_sim(m, scheme, NULL, h, 3);
    model_sim_run(sim);
    carom_ledger l;
    carom_error err = {0};
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    *energy = l.energy.end;
    const carom_now now = carom_sim_now(sim);
    const double last = now.q[carom_sim_system(sim)->nq - 1]; // angle at the tip
    carom_sim_destroy(sim);
    return last;
}

static void a_driven_beam_does_not_explode(void **state) {
    (void)state;
    static const char *const schemes[] = {"newmark", "hht", "generalized-alpha", "moreau-jean", "moreau-dissipative"};
    carom_model *m =
        good("carom: 1\nparameters: {Ts: 15, Om: 6}\nflexible:\n"
             "  arm: {type: exact beam, length: 10, elements: 10, density: 1.2, area: 1, inertia: 5e-4, modulus: "
             "2.8e7, shear modulus: 1e7, shear area: 1, fix: {start: [x, y]}}\n"
             "constraints:\n  hub: arm.start.angle - Om/Ts*(t^2/2 + (Ts/(2*pi))^2*(cos(2*pi*t/Ts) - 1))\n");
    double energy, other;
    const double angle = spun(m, "ggl-alpha", 1e-3, &energy);
    assert_true(fabs(angle) > 0.05 && energy > 10);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i)
        for (int k = 0; k < 2; ++k) {
            const double h = k == 0 ? 2e-3 : 5e-3, value = spun(m, schemes[i], h, &other);
            const double close = 5e-3; // beta other than gamma/2 would leave (beta - gamma/2) h^2 times the change of
                                       // those accelerations in the angle of the hub: tens of per cent
            if (!(fabs(value - angle) <= close * angle) || !(fabs(other - energy) <= close * energy))
                fail_msg("%s, h = %g: angle %.9g instead of %.9g, energy %.9g instead of %.9g", schemes[i], h, value,
                         angle, other, energy);
        }
    carom_model_destroy(m);
}

// -- Andrews' squeezing mechanism -------------------------------------------------------------------------------------

// Seven bodies, three loops, written in angles; W. Schiehlen (ed.), Multibody Systems Handbook, 1990; Hairer and
// Wanner, Solving Ordinary Differential Equations II, VII.7; values at t = 0.03 of the Test Set for IVP Solvers.
static const char *const ANDREWS =
    "carom: 1\n"
    "parameters: {m1: .04325, m2: .00365, m3: .02373, m4: .00706, m5: .07050, m6: .00706, m7: .05498, xa: -.06934, ya: "
    "-.00227, xb: -0.03635, yb: .03273, xc: .014, yc: .072, c0: 4530,\n"
    "  i1: 2.194e-6, i2: 4.410e-7, i3: 5.255e-6, i4: 5.667e-7, i5: 1.169e-5, i6: 5.667e-7, i7: 1.912e-5, d: 28e-3, da: "
    "115e-4, e: 2e-2, ea: 1421e-5, rr: 7e-3, ra: 92e-5, l0: 7785e-5,\n"
    "  ss: 35e-3, sa: 1874e-5, sb: 1043e-5, sc: 18e-3, sd: 2e-2, ta: 2308e-5, tb: 916e-5, u: 4e-2, ua: 1228e-5, ub: "
    "449e-5, zf: 2e-2, zt: 4e-2, fa: 1421e-5, mom: 33e-3}\n"
    "coordinates:\n"
    "  be: {at: -0.0617138900142764496358948458001}\n"
    "  th: {at: 0}\n"
    "  ga: {at: 0.455279819163070380255912382449}\n"
    "  ph: {at: 0.222668390165885884674473185609}\n"
    "  de: {at: 0.487364979543842550225598953530}\n"
    "  om: {at: -0.222668390165885884674473185609}\n"
    "  ep: {at: 1.23054744454982119249735015568}\n"
    "let:\n"
    "  x1: ra*cos(be)\n"
    "  y1: ra*sin(be)\n"
    "  x2: rr*cos(be) - da*cos(be + th)\n"
    "  y2: rr*sin(be) - da*sin(be + th)\n"
    "  x3: xb + sa*sin(ga) + sb*cos(ga)\n"
    "  y3: yb - sa*cos(ga) + sb*sin(ga)\n"
    "  x4: xa + zt*cos(de) + (e - ea)*sin(ph + de)\n"
    "  y4: ya + zt*sin(de) - (e - ea)*cos(ph + de)\n"
    "  x5: xa + ta*cos(de) - tb*sin(de)\n"
    "  y5: ya + ta*sin(de) + tb*cos(de)\n"
    "  x6: xa + u*sin(ep) + (zf - fa)*cos(om + ep)\n"
    "  y6: ya - u*cos(ep) + (zf - fa)*sin(om + ep)\n"
    "  x7: xa + ua*sin(ep) - ub*cos(ep)\n"
    "  y7: ya - ua*cos(ep) - ub*sin(ep)\n"
    "  xd: xb + sc*sin(ga) + sd*cos(ga)\n"
    "  yd: yb - sc*cos(ga) + sd*sin(ga)\n"
    "energy:\n"
    "  kinetic: 1/2*(m1*(x1'^2 + y1'^2) + m2*(x2'^2 + y2'^2) + m3*(x3'^2 + y3'^2) + m4*(x4'^2 + y4'^2) + m5*(x5'^2 + "
    "y5'^2) + m6*(x6'^2 + y6'^2) + m7*(x7'^2 + y7'^2)\n"
    "    + i1*be'^2 + i2*(be' + th')^2 + i3*ga'^2 + i4*(ph' + de')^2 + i5*de'^2 + i6*(om' + ep')^2 + i7*ep'^2)\n"
    "  potential: 1/2*c0*(sqrt((xd - xc)^2 + (yd - yc)^2) - l0)^2\n"
    "forces: {be: mom}\n"
    "constraints:\n"
    "  k1: rr*cos(be) - d*cos(be + th) - ss*sin(ga) - xb\n"
    "  k2: rr*sin(be) - d*sin(be + th) + ss*cos(ga) - yb\n"
    "  k3: rr*cos(be) - d*cos(be + th) - e*sin(ph + de) - zt*cos(de) - xa\n"
    "  k4: rr*sin(be) - d*sin(be + th) + e*cos(ph + de) - zt*sin(de) - ya\n"
    "  k5: rr*cos(be) - d*cos(be + th) - zf*cos(om + ep) - u*sin(ep) - xa\n"
    "  k6: rr*sin(be) - d*sin(be + th) - zf*sin(om + ep) + u*cos(ep) - ya\n";

static void andrews_mechanism_squeezes(void **state) {
    (void)state;
    static const double truth[7] = {15.81077119629904,  -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
                                    0.5244099658805304, 0.5347301163226948, 1.048080741042263};
    static const struct {
        const char *scheme; double h, close; const char *option;
    } cases[] = {{"event-driven", 1e-3, 1e-8, NULL},
                 {"mixed", 2e-5, 1e-7, NULL},
                 {"ggl-midpoint", 1e-5, 1e-4, NULL},
                 {"ggl-alpha", 1e-5, 2e-4, NULL},
                 {"half-explicit", 5e-6, 1e-4, NULL},
                 // first order, C h: C is 3e4/s in the metric of angles and 3.2e4/s in that of masses
                 {"ggl-projection", 1e-5, 0.3, "metric=euclidean"},
                 {"ggl-projection", 2.5e-6, 0.075, "metric=euclidean"},
                 {"ggl-projection", 1e-5, 0.32, NULL},
                 {"ggl-projection", 2.5e-6, 0.08, NULL}};
    carom_model *m = good(ANDREWS);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const char *const options[] = {cases[i].option, NULL};
        carom_sim *sim = model_sim(m, cases[i].scheme, cases[i].option ? options : NULL, cases[i].h, 0.03);
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        carom_ledger l;
        carom_error err = {0};
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        for (int j = 0; j < 7; ++j)
            if (!(fabs(now.q[j] - truth[j]) <= cases[i].close))
                fail_msg("%s: angle %d is %.12g instead of %.12g", cases[i].scheme, j + 1, now.q[j], truth[j]);
        if (strncmp(cases[i].scheme, "ggl", 3) == 0 && !(l.drift <= 1e-14))
            fail_msg("%s: drift %.3g", cases[i].scheme, l.drift);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_meets_balls_that_touch),
        cmocka_unit_test(four_bars_pass_the_position_where_they_lie_flat),
        cmocka_unit_test(a_driven_beam_does_not_explode),
        cmocka_unit_test(andrews_mechanism_squeezes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

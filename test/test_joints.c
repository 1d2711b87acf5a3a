// test_joints.c: joints between bodies: freedoms, conservation, agreement with coordinates, redundancy, couplings,
// reactions.
#include "mechanisms.h"
#include "model/answers.h"
#include "scheme/registry.h"

// -- every joint ------------------------------------------------------------------------------------------------------

static const char *const two_spatial =
    "carom: 1\nbodies:\n"
    "  a: {mass: 2, inertia: [0.2, 0.3, 0.4], at: [0.1, 0.2, 0.3], axis: [1, 2, 3], angle: 0.7, velocity: [1, -0.4, "
    "0.3], spin: [0.5, 2, -1]}\n"
    "  b: {mass: 1, inertia: [0.1, 0.15, 0.2, 0.01, 0.02, 0], at: [0.9, -0.3, 0.4], axis: [0, 1, 1], angle: -1.1}\n"
    "joints:\n  j: ";
static const char *const two_planar =
    "carom: 1\nbodies:\n"
    "  a: {mass: 2, inertia: 0.4, at: [0.1, 0.2], angle: 0.7, velocity: [1, -0.4], spin: 2}\n"
    "  b: {mass: 1, inertia: 0.2, at: [0.9, -0.3], angle: -1.1}\n"
    "joints:\n  j: ";

static const struct { bool spatial; const char *text; int removed; } each[] = {
    {true, "{type: revolute, between: [a, b], at: [0.5, 0.1, 0.2], axis: [1, 1, 0]}", 5},
    {true, "{type: prismatic, between: [a, b], at: [0.5, 0.1, 0.2], axis: [1, 1, 0]}", 5},
    {true, "{type: spherical, between: [a, b], at: [0.5, 0.1, 0.2]}", 3},
    {true, "{type: cylindrical, between: [a, b], at: [0.5, 0.1, 0.2], axis: [1, 1, 0]}", 4},
    {true, "{type: universal, between: [a, b], at: [0.5, 0.1, 0.2], axis: [[1, 1, 0], [0, 0, 1]]}", 4},
    {true, "{type: planar, between: [a, b], at: [0.5, 0.1, 0.2], axis: [1, 1, 0]}", 3},
    {true, "{type: weld, between: [a, b], at: [0.5, 0.1, 0.2]}", 6},
    {true, "{type: distance, between: [a, b], points: [[0.1, 0, 0], [0, 0.1, 0.2]]}", 1},
    {true, "{type: screw, between: [a, b], at: [0.5, 0.1, 0.2], axis: [1, 1, 0], pitch: 0.3}", 5},
    {false, "{type: revolute, between: [a, b], at: [0.5, 0.1]}", 2},
    {false, "{type: prismatic, between: [a, b], at: [0.5, 0.1], axis: [1, 1]}", 2},
    {false, "{type: weld, between: [a, b], at: [0.5, 0.1]}", 3},
    {false, "{type: distance, between: [a, b], points: [[0.1, 0], [0, 0.1]]}", 1},
};
enum { EACH = sizeof each / sizeof *each };

static carom_model *model_with(int i) {
    char text[800];
    snprintf(text, sizeof text, "%s%s\n", each[i].spatial ? two_spatial : two_planar, each[i].text);
    return good(text);
}

static void each_joint_removes_its_degrees_of_freedom_and_has_exact_derivatives(void **state) {
    (void)state;
    for (int i = 0; i < EACH; ++i) {
        carom_model *m = model_with(i);
        const findings f = examine(m);
        assert_int_equal(f.faults, 0);
        assert_int_equal(f.freedom, (each[i].spatial ? 12 : 6) - each[i].removed);
        assert_int_equal(carom_model_system(m)->ne, each[i].removed);
        carom_model_destroy(m);
    }
}

static void turned(const double *e, const double *v, double *out) {
    double c[3], d[3];
    const double *u = e + 1;
    for (int i = 0; i < 3; ++i) c[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3] + e[0] * v[i];
    for (int i = 0; i < 3; ++i) d[i] = u[(i + 1) % 3] * c[(i + 2) % 3] - u[(i + 2) % 3] * c[(i + 1) % 3];
    for (int i = 0; i < 3; ++i) out[i] = v[i] + 2 * d[i];
}

// Momentum and angular momentum about the origin of n spatial bodies, or (P_x, P_y, 0, 0, 0, L) of planar ones.
static void momenta(bool spatial, int n, const double *q, const double *v, double *P) {
    static const double mass[3] = {2, 1, 0.5}, J[3][6] = {{0.2, 0.3, 0.4, 0, 0, 0},
                                                          {0.1, 0.15, 0.2, 0.01, 0.02, 0},
                                                          {0.05, 0.06, 0.07, 0, 0, 0}};
    static const double flat[3] = {0.4, 0.2, 0.1};
    for (int i = 0; i < 6; ++i) P[i] = 0;
    for (int b = 0; b < n; ++b) {
        const double *x = q + (spatial ? 7 : 3) * b, *u = v + (spatial ? 6 : 3) * b, *w = u + 3, *I = J[b];
        for (int i = 0; i < (spatial ? 3 : 2); ++i) P[i] += mass[b] * u[i];
        if (!spatial) {
            P[5] += mass[b] * (x[0] * u[1] - x[1] * u[0]) + flat[b] * u[2];
            continue;
        }
        double L[3];
        turned(x + 3,
               (double[]){I[0] * w[0] + I[3] * w[1] + I[4] * w[2], I[3] * w[0] + I[1] * w[1] + I[5] * w[2],
                          I[4] * w[0] + I[5] * w[1] + I[2] * w[2]},
               L);
        for (int i = 0; i < 3; ++i)
            P[3 + i] += L[i] + mass[b] * (x[(i + 1) % 3] * u[(i + 2) % 3] - x[(i + 2) % 3] * u[(i + 1) % 3]);
    }
}

static void each_joint_keeps_momentum_angular_momentum_and_energy(void **state) {
    (void)state;
    for (int i = 0; i < EACH; ++i) {
        carom_model *m = model_with(i);
        carom_sim *sim = start(m, "mixed", "order=6", 5e-3, 1);
        double P0[6], P[6];
        const double E0 = energy(sim);
        momenta(each[i].spatial, 2, carom_sim_now(sim).q, carom_sim_now(sim).v, P0);
        model_sim_run(sim);
        momenta(each[i].spatial, 2, carom_sim_now(sim).q, carom_sim_now(sim).v, P);
        // Order 6 at h w of 0.02: far below 1e-9.
        for (int k = 0; k < 6; ++k) assert_close(P[k], P0[k], 1e-9);
        assert_close(energy(sim), E0, 1e-9 * E0);
        carom_error err;
        carom_ledger l;
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        assert_true(l.drift < 1e-13);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A third body hits one of the two, away from its centre, with restitution 1.
static void each_joint_keeps_them_through_elastic_impacts(void **state) {
    (void)state;
    for (int i = 0; i < EACH; ++i) {
        char text[1600];
        const bool spatial = each[i].spatial;
        const char *bodies = spatial ? two_spatial : two_planar, *joints = strstr(bodies, "joints:");
        snprintf(text, sizeof text, "%.*s%s%s%s\n%s", (int)(joints - bodies), bodies,
                 spatial ? "  c: {mass: 0.5, inertia: [0.05, 0.06, 0.07], at: [1.6, -0.35, 0.5], velocity: [-4, 0.2, "
                           "0.1], spin: [1, 2, 3], points: {p: [0.1, 0, 0]}}\n"
                         : "  c: {mass: 0.5, inertia: 0.1, at: [1.6, -0.35], velocity: [-4, 0.2], spin: 1, points: {p: "
                           "[0.1, 0]}}\n",
                 joints, each[i].text,
                 spatial ? "contacts: {hit: {gap: sqrt((c.p.x - b.x)^2 + (c.p.y - b.y)^2 + (c.p.z - b.z)^2) - 0.4, "
                           "restitution: 1}}\n"
                         : "contacts: {hit: {gap: sqrt((c.p.x - b.x)^2 + (c.p.y - b.y)^2) - 0.4, restitution: 1}}\n");
        carom_model *m = good(text);
        carom_sim *sim = start(m, "mixed", "order=6", 2.5e-3, 0.4);
        double P0[6], P[6];
        const double E0 = energy(sim);
        momenta(spatial, 3, carom_sim_now(sim).q, carom_sim_now(sim).v, P0);
        model_sim_run(sim);
        momenta(spatial, 3, carom_sim_now(sim).q, carom_sim_now(sim).v, P);
        carom_error err;
        carom_ledger l;
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        if (l.impacts < 1) fail_msg("no impact: %s", each[i].text);
        for (int k = 0; k < 6; ++k) assert_close(P[k], P0[k], 1e-8);
        assert_close(energy(sim), E0, 1e-9 * E0);
        assert_close(l.energy.impact, 0, 1e-9 * E0);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// Two joints of one body coupled: the bearing takes what the gear does not.
static void a_gear_removes_one_degree_of_freedom_and_keeps_them(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\nbodies:\n"
        "  a: {mass: 2, inertia: [0.2, 0.3, 0.4], at: [0.1, 0.2, 0.3], axis: [1, 2, 3], angle: 0.7, velocity: [1, "
        "-0.4, 0.3], spin: [0.5, 2, -1]}\n"
        "  b: {mass: 1, inertia: [0.1, 0.15, 0.2, 0.01, 0.02, 0], at: [0.9, -0.3, 0.4], axis: [0, 1, 1], angle: -1.1}\n"
        "  c: {mass: 0.5, inertia: [0.05, 0.06, 0.07], at: [-0.5, 0.3, 0.4], axis: [1, 0, 1], angle: 0.4}\n"
        "joints:\n"
        "  jb: {type: revolute, between: [a, b], at: [0.5, 0.1, 0.2], axis: [1, 1, 0]}\n"
        "  jc: {type: revolute, between: [a, c], at: [-0.3, 0.1, 0.2], axis: [0, 1, 1]}\n"
        "  g: {type: gear, joints: [jb, jc], ratio: -1.5}\n"
        "motors: {m: {joint: jb, torque: 8*t}}\n");
    const findings f = examine(m);
    assert_int_equal(f.faults, 0);
    assert_int_equal(f.freedom, 18 - 5 - 5 - 1);
    carom_sim *sim = start(m, "mixed", "order=6", 5e-3, 1);
    double P0[6], P[6];
    momenta(true, 3, carom_sim_now(sim).q, carom_sim_now(sim).v, P0);
    model_sim_run(sim);
    const double *q = carom_sim_now(sim).q, turn = q[position(m, "jb.angle")];
    momenta(true, 3, q, carom_sim_now(sim).v, P);
    for (int k = 0; k < 6; ++k) assert_close(P[k], P0[k], 1e-8);
    assert_true(fabs(turn) > 0.5);
    assert_close(q[position(m, "jc.angle")], -1.5 * turn, 1e-10);
    carom_error err;
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_close(l.energy.balance, 0, 1e-6);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// -- mechanisms -------------------------------------------------------------------------------------------------------

#define SLIDER                                                                                                         \
    "carom: 1\nparameters: {l1: 0.153, l2: 0.306, m1: 0.038, m2: 0.038, m3: 0.076, J1: 7.4e-5, J2: 5.9e-4, J3: "       \
    "2.7e-6}\n"

static void the_slider_crank_of_bodies_is_that_of_coordinates_with_every_scheme(void **state) {
    (void)state;
    carom_model *bodies = good(SLIDER "gravity: [0, -9.81]\nbodies:\n"
                               "  crank: {mass: m1, inertia: J1, at: [l1/2, 0], spin: 50}\n"
                               "  rod: {mass: m2, inertia: J2, at: [l1 + l2/2, 0]}\n"
                               "  slider: {mass: m3, inertia: J3, at: [l1 + l2, 0]}\n"
                               "joints:\n"
                               "  main: {type: revolute, between: [ground, crank], at: [0, 0]}\n"
                               "  big: {type: revolute, between: [crank, rod], at: [l1, 0]}\n"
                               "  small: {type: revolute, between: [rod, slider], at: [l1 + l2, 0]}\n"
                               "  guide: {type: prismatic, between: [ground, slider], at: [0, 0], axis: [1, 0]}\n");
    // One coordinate: sin(th2) = -l1/l2 sin(th1).
    carom_model *one =
        good(SLIDER "coordinates: {th: {at: 0, rate: 50}}\nlet:\n"
                    "  s: -l1/l2*sin(th)\n  c: sqrt(1 - s^2)\n  be: asin(s)\n"
                    "  x2: l1*cos(th) + l2/2*c\n  y2: l1*sin(th) + l2/2*s\n  x3: l1*cos(th) + l2*c\n"
                    "energy:\n"
                    "  kinetic: 1/2*(J1 + m1*l1^2/4)*th'^2 + 1/2*J2*be'^2 + 1/2*m2*(x2'^2 + y2'^2) + 1/2*m3*x3'^2\n"
                    "  potential: 9.81*(m1*l1/2*sin(th) + m2*y2)\n");
    assert_int_equal(examine(bodies).freedom, 1);
    carom_sim *exact = start(one, "mixed", "order=6", 2e-4, 0.05);
    carom_sim *again = start(bodies, "mixed", "order=6", 2e-4, 0.05);
    model_sim_run(exact);
    model_sim_run(again);
    const double th = carom_sim_now(exact).q[0], rate = carom_sim_now(exact).v[0];
    assert_close(carom_sim_now(again).q[2], th, 1e-10);
    assert_close(carom_sim_now(again).v[2], rate, 1e-8);
    carom_sim_destroy(exact);
    carom_sim_destroy(again);
    const carom_scheme *s;
    for (int i = 0; (s = carom_schemes()[i]) != NULL; ++i) {
        if (s->limitations & CAROM_NO_BILATERAL) continue;
        double error[2];
        for (int k = 0; k < 2; ++k) {
            carom_sim *sim = start(bodies, s->name, NULL, k ? 2.5e-5 : 2e-4, 0.05);
            model_sim_run(sim);
            error[k] = fmax(fabs(carom_sim_now(sim).q[2] - th), fabs(carom_sim_now(sim).v[2] - rate) / 50);
            carom_error err;
            carom_ledger l;
            assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
            if (s->positions && !(l.drift < 1e-13)) fail_msg("%s: drift %g", s->name, l.drift);
            carom_sim_destroy(sim);
        }
        print_message("    %s: %.1e, %.1e\n", s->name, error[0], error[1]);
        // First order at least: an eighth of the step, less than a fifth of the error, or nothing left of it.
        if (!(error[1] <= error[0] / 5 || error[1] < 1e-9)) fail_msg("%s: %g, then %g", s->name, error[0], error[1]);
    }
    carom_model_destroy(bodies);
    carom_model_destroy(one);
}

static int joint_order(const carom_scheme *s) {
    return s->controls_own_steps || s->promises.joint_order < 1 ? 1 : s->promises.joint_order;
}

static void schemes_have_their_orders_on_a_spatial_four_bar(void **state) {
    (void)state;
    carom_model *m = shipped_model("four-bar");
    assert_int_equal(examine(m).faults, 0);
    assert_int_equal(examine(m).freedom, 1);
    const double T = 0.05;
    carom_sim *exact = start(m, "mixed", "order=6", T / 1600, T);
    model_sim_run(exact);
    const int nq = carom_model_system(m)->nq, nv = carom_model_system(m)->nv;
    const carom_scheme *s;
    for (int i = 0; (s = carom_scheme_at(i)) != NULL; ++i) {
        if (s->limitations & CAROM_NO_BILATERAL) continue;
        double error[2] = {0};
        const int order = joint_order(s), n = order > 3 ? 20 : 50;
        for (int k = 0; k < 2; ++k) {
            carom_sim *sim = start(m, s->name, NULL, T / (k ? 4 * n : n), T);
            model_sim_run(sim);
            for (int c = 0; c < nq; ++c)
                error[k] = fmax(error[k], fabs(carom_sim_now(sim).q[c] - carom_sim_now(exact).q[c]));
            for (int c = 0; c < nv; ++c)
                error[k] = fmax(error[k], fabs(carom_sim_now(sim).v[c] - carom_sim_now(exact).v[c]));
            carom_error err;
            carom_ledger l;
            assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
            if (s->positions && !(l.drift < 1e-12)) fail_msg("%s: drift %g", s->name, l.drift);
            carom_sim_destroy(sim);
        }
        const double measured = log(error[0] / error[1]) / log(4);
        print_message("    %s: expected %d, measured %.2f (error %.1e)\n", s->name, order, measured, error[1]);
        if (!(measured >= order - 0.2)) fail_msg("%s: order %.2f, not %d", s->name, measured, order);
    }
    carom_sim_destroy(exact);
    carom_model_destroy(m);
}

// -- redundant joints -------------------------------------------------------------------------------------------------

#define PARALLELOGRAM                                                                                                  \
    "carom: 1\ngravity: [0, -9.81, 0]\nparameters: {a: 0.2, b: 0.5}\nbodies:\n"                                        \
    "  left: {mass: 1, inertia: [1e-3, 4e-3, 4e-3], at: [0.3*a, 0.4*a, 0]}\n"                                          \
    "  bar: {mass: 2, inertia: [2e-3, 5e-2, 5e-2], at: [0.6*a + b/2, 0.8*a, 0]}\n"                                     \
    "  right: {mass: 1, inertia: [1e-3, 4e-3, 4e-3], at: [b + 0.3*a, 0.4*a, 0], spin: [0, 0, 5]}\n"                    \
    "joints:\n"                                                                                                        \
    "  A: {type: revolute, between: [ground, left], at: [0, 0, 0], axis: [0, 0, 1]}\n"                                 \
    "  B: {type: revolute, between: [left, bar], at: [0.6*a, 0.8*a, 0], axis: [0, 0, 1]}\n"                            \
    "  C: {type: revolute, between: [bar, right], at: [b + 0.6*a, 0.8*a, 0], axis: [0, 0, 1]}\n"                       \
    "  D: {type: revolute, between: [ground, right], at: [b, 0, 0], axis: [0, 0, 1]}\n"

static void redundant_joints_are_found_and_named_and_every_scheme_runs(void **state) {
    (void)state;
    carom_model *m = good(PARALLELOGRAM);
    const findings f = examine(m);
    assert_int_equal(f.freedom, 1);
    assert_string_equal(f.redundant, "D");
    assert_string_equal(carom_model_redundant(m), "D (3)");
    const carom_scheme *s;
    // One coordinate: two bars turn about fixed pins, the third is carried round.
    carom_model *one =
        good("carom: 1\ncoordinates: {phi: {at: \"atan2(0.8, 0.6)\", rate: 5}}\n"
             "energy: {kinetic: (0.004 + 0.01 + 0.04)*phi'^2, potential: 9.81*(0.2 + 2*0.2)*sin(phi)}\n");
    carom_sim *exact = start(one, "mixed", "order=6", 1e-3, 0.4);
    model_sim_run(exact);
    const double turn = carom_sim_now(exact).q[0] - carom_model_q0(one)[0];
    for (int i = 0; (s = carom_scheme_at(i)) != NULL; ++i) {
        if (s->limitations & CAROM_NO_BILATERAL) continue;
        carom_sim *sim = start(m, s->name, NULL, 2e-3, 0.4);
        model_sim_run(sim);
        const double *q = carom_sim_now(sim).q, angle = 2 * atan2(q[6], q[3]);
        const double off = remainder(angle - turn, 2 * 3.14159265358979323846);
        // First-order schemes lose about a tenth of their energy here; all others are far closer.
        if (!(fabs(off) < (s->order > 1 ? 0.15 : 0.2)))
            fail_msg("%s: turned by %g instead of %g", s->name, angle, turn);
        carom_sim_destroy(sim);
    }
    carom_sim_destroy(exact);
    carom_model_destroy(one);
    carom_model_destroy(m);
}

// Two equal welds share a weight equally: of all reactions the smallest.
static void redundant_reactions_are_the_smallest(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ngravity: [0, -10]\nbodies: {b: {mass: 3, inertia: 1}}\n"
                          "joints:\n  one: {type: weld, between: [ground, b], at: [0, 0]}\n  two: {type: weld, "
                          "between: [ground, b], at: [0, 0]}\n");
    assert_string_equal(carom_model_redundant(m), "two (3)");
    static const char *const schemes[] = {"moreau-jean", "moreau-midpoint", "ggl-projection", NULL};
    for (int i = 0; schemes[i]; ++i) {
        carom_sim *sim = start(m, schemes[i], NULL, 1e-2, 1e-1);
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        assert_close(now.impulse[1], 0.15, 1e-12);
        assert_close(now.impulse[4], 0.15, 1e-12);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// -- couplings and drives ---------------------------------------------------------------------------------------------

static void angles_are_counted_over_turns_by_gears_and_screws(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\nbodies:\n"
             "  a: {mass: 1, inertia: [0.1, 0.1, 0.1], spin: [0, 0, 7]}\n"
             "  b: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [1, 0, 0]}\n"
             "  nut: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [3, 0, 0]}\n"
             "joints:\n"
             "  ja: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}\n"
             "  jb: {type: revolute, between: [ground, b], at: [1, 0, 0], axis: [0, 0, 1]}\n"
             "  thread: {type: screw, between: [ground, nut], at: [3, 0, 0], axis: [0, 0, 1], pitch: 0.2}\n"
             "  pair: {type: gear, joints: [ja, jb], ratio: -2.5}\n"
             "  more: {type: gear, joints: [ja, thread], ratio: 0.5}\n");
    assert_int_equal(examine(m).faults, 0);
    assert_int_equal(examine(m).freedom, 1);
    const int ja = position(m, "ja.angle"), jb = position(m, "jb.angle"), z = position(m, "nut.z");
    const carom_scheme *s;
    for (int i = 0; (s = carom_scheme_at(i)) != NULL; ++i) {
        if (s->limitations & CAROM_NO_BILATERAL) continue;
        carom_sim *sim = start(m, s->name, NULL, 2e-2, 6); // more than a turn of each
        model_sim_run(sim);
        const double *q = carom_sim_now(sim).q;
        assert_true(q[ja] > 12 && q[jb] < -30);
        assert_close(q[jb], -2.5 * q[ja], 1e-9);
        assert_close(q[z], 0.2 / (2 * 3.14159265358979323846) * 0.5 * q[ja], 1e-9);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

static void driven_joints_follow_their_motion_and_their_work_is_external(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\nbodies:\n  a: {mass: 1, inertia: [0.1, 0.2, 0.1], at: [0.5, 0, 0]}\n"
             "  p: {mass: 2, inertia: 1, at: [0, 1]}\n  lift: {motion: {at: [0, 0.1*sin(4*t)]}}\n"
             "joints:\n"
             "  j: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], motion: 3 + 5*t^2}\n"
             "  k: {type: prismatic, between: [lift, p], at: [0, 0], axis: [1, 0], motion: t^3}\n");
    assert_int_equal(examine(m).freedom, 0);
    carom_sim *sim = start(m, "mixed", "order=5", 1e-3, 1);
    model_sim_run(sim);
    const double *q = carom_sim_now(sim).q;
    assert_close(q[position(m, "j.angle")], 5, 1e-9);
    assert_close(q[position(m, "p.x")], 1, 1e-9);
    assert_close(q[position(m, "p.y")], 1 + 0.1 * sin(4), 1e-9);
    carom_error err;
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    const double T = 0.5 * (0.25 + 0.2) * 100 + 0.5 * 2 * (9 + 0.16 * cos(4) * cos(4));
    assert_close(l.energy.end, T, 1e-8 * T);
    assert_close(l.energy.balance, 0, 1e-6 * T);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// -- starting ---------------------------------------------------------------------------------------------------------

static void velocities_are_completed_and_positions_assembled(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nbodies:\n  a: {mass: 1, inertia: 1, at: [1, 0], spin: 3}\n"
                          "joints: {j: {type: revolute, between: [ground, a], at: [0, 0]}}\n");
    assert_close(carom_model_v0(m)[0], 0, 1e-15);
    assert_close(carom_model_v0(m)[1], 3, 1e-14);
    assert_close(carom_model_v0(m)[2], 3, 0);
    carom_model_destroy(m);
    const char *apart = "carom: 1\nassemble: yes\nbodies:\n  a: {mass: 1, inertia: [1, 1, 2], at: [1.1, 0.1, 0.05]}\n"
                        "joints: {j: {type: revolute, between: [ground, a], points: [[0, 0, 0], [-1, 0, 0]], axes: "
                        "[[0, 0, 1], [0, 0.1, 1]]}}\n";
    m = good(apart);
    void *work = work_of(m);
    double g[5];
    assert_int_equal(carom_model_system(m)->gaps(m, work, 0, carom_model_q0(m), g), CAROM_OK);
    for (int i = 0; i < 5; ++i) assert_close(g[i], 0, 1e-14);
    free(work);
    carom_model_destroy(m);
}

#define H "carom: 1\nbodies:\n  a: {mass: 1, inertia: 1, at: [1, 0]}\n  s: {mass: 1, inertia: [1, 1, 1]}\njoints:\n"

// BODY.POINT in `between` says what `at` and `points` say, in joints, springs and bushings; families spread it.
static void named_points_are_places(void **state) {
    (void)state;
    static const char *const bodies =
        "carom: 1\ngravity: [0, -9.81]\nbodies:\n"
        "  hook: {mass: 1, inertia: 0.1, angle: 0.3, points: {eye: [0.1, 0], tail: [-0.1, 0]}}\n"
        "  load: {mass: 1, inertia: 0.1, at: [-0.1, -0.3], points: {top: [0, 0.1]}}\n"
        "  links: {repeat: 3, body: {mass: 0.1, inertia: 1e-4, at: [0.1*i, -0.4], points: {eye: [-0.05, 0], end: "
        "[0.05, 0]}}}\n";
    static const char *const named =
        "joints:\n  pin: {type: revolute, between: [ground, hook.eye]}\n"
        "  rod: {type: distance, between: [hook, load.top]}\n"
        "  first: {type: revolute, between: [load, \"links[0].eye\"]}\n"
        "  pins: {repeat: 2, joint: {type: revolute, between: [\"links[i].end\", \"links[i + 1].eye\"]}}\n"
        "springs:\n  s: {between: [load, hook.tail], stiffness: 100, length: 0.2}\n"
        "  b: {type: bushing, between: [load.top, hook], stiffness: 50}\n";
    static const char *const given =
        "joints:\n  pin: {type: revolute, between: [ground, hook], at: [0.1*cos(0.3), 0.1*sin(0.3)]}\n"
        "  rod: {type: distance, between: [hook, load], points: [[0, 0], [0, 0.1]]}\n"
        "  first: {type: revolute, between: [load, \"links[0]\"], at: [-0.05, -0.4]}\n"
        "  pins: {repeat: 2, joint: {type: revolute, between: [\"links[i]\", \"links[i + 1]\"], points: [[0.05, 0], "
        "[-0.05, 0]]}}\n"
        "springs:\n  s: {between: [load, hook], points: [[0, 0], [-0.1, 0]], stiffness: 100, length: 0.2}\n"
        "  b: {type: bushing, between: [load, hook], at: [-0.1, -0.2], stiffness: 50}\n";
    carom_sim *sim[2];
    carom_model *m[2];
    for (int i = 0; i < 2; ++i) {
        char text[2000];
        snprintf(text, sizeof text, "%s%s", bodies, i ? given : named);
        m[i] = good(text);
        sim[i] = start(m[i], "auto", NULL, 1e-2, 0.5);
        model_sim_run(sim[i]);
    }
    for (int i = 0; i < 15; ++i) assert_close(carom_sim_now(sim[0]).q[i], carom_sim_now(sim[1]).q[i], 1e-9);
    for (int i = 0; i < 2; ++i) {
        carom_sim_destroy(sim[i]);
        carom_model_destroy(m[i]);
    }
}

static void mistakes_in_joints_have_their_place_and_sentence(void **state) {
    (void)state;
    static const struct { const char *text, *error; } cases[] = {
        {H "  j: {between: [ground, a]}\n", "6:3: joint 'j' has no type; write `type: revolute`"},
        {H "  j: {type: revolte, between: [ground, a]}\n",
         "6:13: unknown joint type 'revolte'; did you mean 'revolute'?"},
        {H "  j: {type: hinge, between: [ground, a]}\n",
         "6:13: unknown joint type 'hinge'; expected one of revolute, prismatic, spherical, cylindrical, universal, "
         "planar, weld, distance, screw, gear"},
        {H "  j: {type: revolute, between: [ground, a], at: [0, 0], motion: 2*a.x}\n",
         "6:67: 'a.x' is a coordinate, but the motion may only use time, parameters and inputs"},
        {H "  j: {type: revolute, between: [ground, b]}\n",
         "6:41: unknown body 'b'; bodies are `ground` and those of section bodies"},
        {H "  j: {type: revolute, between: [a, a]}\n", "6:32: joint 'j' connects a body with itself"},
        {H "  j: {type: revolute, between: [a, s]}\n",
         "6:32: joint 'j' connects a planar body with a spatial one; make both alike"},
        {H "  j: {type: revolute, between: [ground, a]}\n",
         "6:3: joint 'j' needs a location: `at: [x, y]` (world frame, initial position), `points:` (one per body "
         "frame), or BODY.POINT in `between`"},
        {H "  j: {type: spherical, between: [ground, a], at: [0, 0]}\n",
         "6:13: a spherical joint connects spatial bodies; these are planar"},
        {H "  j: {type: revolute, between: [ground, s], at: [0, 0, 0]}\n",
         "6:3: joint 'j' has no axis; write `axis: [0, 0, 1]` (world frame, initial position)"},
        {H "  j: {type: revolute, between: [ground, a], at: [0, 0], axis: [0, 1]}\n",
         "6:57: joint 'j' needs no axis; remove it"},
        {H "  j: {type: revolute, between: [ground, a], at: [0, 0], pitch: 1}\n",
         "6:57: 'pitch' does not apply to a revolute joint"},
        {H "  j: {type: spherical, between: [ground, s], at: [0, 0, 0], motion: t}\n",
         "6:61: a spherical joint cannot have `motion`; only revolute, prismatic and screw joints can"},
        {H "  j: {type: distance, between: [ground, a], points: [[1, 0], [0, 0]]}\n",
         "6:3: the length is 0; points that coincide are a revolute joint"},
        {H "  j: {type: screw, between: [ground, s], at: [0, 0, 0], axis: [0, 0, 1]}\n",
         "6:3: joint 'j' has no pitch; write `pitch: 0.01`, its travel per turn"},
        {H "  j: {type: gear, joints: [x, y], ratio: 2}\n",
         "6:28: there is no joint 'x' above; joints are read in order"},
        {H "  j: {type: revolute, between: [ground, a], points: [[0, 0], tip]}\n",
         "6:62: body 'a' has no point 'tip'; write its coordinates, or name it in `points` there"},
        {"carom: 1\nbodies: {a: {mass: 1, inertia: 1, points: {eye: [1, 0]}}}\njoints: {j: {type: revolute, between: "
         "[ground, a.eyes]}}\n",
         "3:48: body 'a' has no point 'eyes'; did you mean 'eye'?"},
        {"carom: 1\nbodies: {a: {mass: 1, inertia: 1, points: {eye: [1, 0]}}}\njoints: {j: {type: revolute, between: "
         "[ground, a.eye], at: [0, 0]}}\n",
         "3:56: joint 'j' names a point in `between` and has `at` too; give only one"},
        {H "  j: {type: revolute, between: [ground, a], points: [[0, 0], [0, 0]]}\n",
         "6:3: joint 'j' is not assembled initially: constraint 1 is 1, expected 0; change positions, or use "
         "`assemble: yes`"},
        {"carom: 1\nbodies: {a: {mass: 1, inertia: 1, velocity: [1, 0], spin: 2}}\njoints: {j: {type: weld, between: "
         "[ground, a], at: [0, 0]}}\n",
         "3:10: initial velocities violate joint 'j' (rate 1, expected 0); give fewer velocities (those not given are "
         "completed), others, or use `start: project`"},
        {"carom: 1\nassemble: maybe\n",
         "2:11: assemble must be yes or no: yes projects the initial positions onto joints and constraints"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_error err = {0};
        carom_model *m = model_of(cases[i].text, &err);
        if (m) fail_msg("no error: %s", cases[i].text);
        assert_string_equal(strncmp(err.text, "m.yaml:", 7) == 0 ? err.text + 7 : err.text, cases[i].error);
    }
}

// A pendulum with the centre of mass at distance 1, seen from its own frame (that of the first body).
static void reactions_are_recorded_in_the_frame_of_the_joint(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ngravity: [0, -10]\nbodies: {b: {mass: 2, inertia: 0.5, at: [1, 0]}}\n"
                          "joints: {j: {type: revolute, between: [b, ground], at: [0, 0]}}\n");
    carom_sim *sim = start(m, "mixed", "order=6", 1e-3, 0.7);
    model_sim_run(sim);
    const carom_now now = carom_sim_now(sim);
    double f[2];
    assert_true(carom_model_turned(m));
    carom_model_reactions(m, carom_sim_work(sim), now.t, now.q, now.dir, 2, now.force, f);
    const double angle = now.q[2], w = now.v[2];
    // What acts on the ground: m (w^2 - g sin) along the rod, -m (w' + g cos) across it, w' = -m g cos/(m + J).
    assert_close(f[0], 2 * (w * w - 10 * sin(angle)), 1e-9);
    assert_close(f[1], -2 * (10 - 20 / 2.5) * cos(angle), 1e-9);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static void shipped_models_of_bodies_are_sound(void **state) {
    (void)state;
    static const struct { const char *name; int freedom; } models[] = {
        {"slider-crank-bodies", 1}, {"spinning-top", 3}, {"four-bar", 1}, {"chain", 10}};
    for (size_t i = 0; i < sizeof models / sizeof *models; ++i) {
        carom_model *m = shipped_model(models[i].name);
        const findings f = examine(m);
        assert_int_equal(f.faults, 0);
        assert_int_equal(f.freedom, models[i].freedom);
        carom_model_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_joint_removes_its_degrees_of_freedom_and_has_exact_derivatives),
        cmocka_unit_test(each_joint_keeps_momentum_angular_momentum_and_energy),
        cmocka_unit_test(each_joint_keeps_them_through_elastic_impacts),
        cmocka_unit_test(a_gear_removes_one_degree_of_freedom_and_keeps_them),
        cmocka_unit_test(the_slider_crank_of_bodies_is_that_of_coordinates_with_every_scheme),
        cmocka_unit_test(schemes_have_their_orders_on_a_spatial_four_bar),
        cmocka_unit_test(redundant_joints_are_found_and_named_and_every_scheme_runs),
        cmocka_unit_test(redundant_reactions_are_the_smallest),
        cmocka_unit_test(angles_are_counted_over_turns_by_gears_and_screws),
        cmocka_unit_test(driven_joints_follow_their_motion_and_their_work_is_external),
        cmocka_unit_test(velocities_are_completed_and_positions_assembled),
        cmocka_unit_test(named_points_are_places),
        cmocka_unit_test(mistakes_in_joints_have_their_place_and_sentence),
        cmocka_unit_test(reactions_are_recorded_in_the_frame_of_the_joint),
        cmocka_unit_test(shipped_models_of_bodies_are_sound),
    };
    return cmocka_run_group_tests_name("joints", tests, NULL, NULL);
}

// test_redundant.c: mechanisms with more joints than they need move like those without, in every scheme.
#include "mechanisms.h"
#include "system/redundant.h"

#define scheme_near(scheme, x, y, tol)                                                                                 \
    do {                                                                                                               \
        const double x_ = (x), y_ = (y), tol_ = (tol);                                                                 \
        if (!(fabs(x_ - y_) <= tol_)) fail_msg("%s: %s = %.15g, expected %.15g +- %.2g", (scheme), #x, x_, y_, tol_);  \
    } while (0)

static const char DOOR[] = "carom: 1\ngravity: [0, 0, -9.81]\n"
                           "bodies:\n  d: {mass: 10, inertia: [3.5, 2.6, 0.9], at: [0.5, 0, 1], spin: [0, 0, 1]}\n"
                           "joints:\n"
                           "  h1: {type: revolute, between: [ground, d], at: [0, 0, 0.2], axis: [0, 0, 1]}\n"
                           "  h2: {type: revolute, between: [ground, d], at: [0, 0, 1.0], axis: [0, 0, 1]}\n"
                           "  h3: {type: revolute, between: [ground, d], at: [0, 0, 1.8], axis: [0, 0, 1]}\n";

// A bar on three cranks of length 1/2, at the angle a to the vertical.  `more` ends the text.
static carom_model *cranks(const char *a, double spin, const char *more) {
    char text[1600];
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, -9.81]\nparameters: {a: %s, s: -sin(a), c: cos(a), w: %g}\nbodies:\n"
             "  c1: {mass: 1, inertia: 0.01, at: [0.25*s, 0.25*c], angle: a, spin: w}\n"
             "  c2: {mass: 1, inertia: 0.01, at: [1 + 0.25*s, 0.25*c], angle: a, spin: w}\n"
             "  c3: {mass: 1, inertia: 0.01, at: [2 + 0.25*s, 0.25*c], angle: a, spin: w}\n"
             "  bar: {mass: 2, inertia: 0.6, at: [1 + 0.5*s, 0.5*c], spin: 0}\n"
             "joints:\n"
             "  g1: {type: revolute, between: [ground, c1], at: [0, 0]}\n"
             "  g2: {type: revolute, between: [ground, c2], at: [1, 0]}\n"
             "  g3: {type: revolute, between: [ground, c3], at: [2, 0]}\n"
             "  b1: {type: revolute, between: [c1, bar], at: [0.5*s, 0.5*c]}\n"
             "  b2: {type: revolute, between: [c2, bar], at: [1 + 0.5*s, 0.5*c]}\n"
             "  b3: {type: revolute, between: [c3, bar], at: [2 + 0.5*s, 0.5*c]}\n%s",
             a, spin, more);
    return good(text);
}

// 3 (J + m l^2/4) a'' + M l^2 a'' = (3 m l/2 + M l) g sin(a), m = 1, J = 0.01, M = 2, l = 1/2: by Runge and Kutta's rule.
static double crank_angle(double a, double w, double t) {
    enum { STEPS = 2000 };
    const double k = (3 * 0.25 + 2 * 0.5) * 9.81 / (3 * (0.01 + 0.0625) + 2 * 0.25), h = t / STEPS;
    for (int i = 0; i < STEPS; ++i) {
        const double a1 = w, w1 = k * sin(a), a2 = w + h / 2 * w1, w2 = k * sin(a + h / 2 * a1);
        const double a3 = w + h / 2 * w2, w3 = k * sin(a + h / 2 * a2), a4 = w + h * w3, w4 = k * sin(a + h * a3);
        a += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), w += h / 6 * (w1 + 2 * w2 + 2 * w3 + w4);
    }
    return a;
}

static const carom_scheme *with_joints(int i) {
    const carom_scheme *const *all = carom_schemes();
    for (int k = 0; all[k]; ++k)
        if (!(all[k]->lacks & CAROM_NO_BILATERAL) && i-- == 0) return all[k];
    return NULL;
}

// Schemes that keep second order with joints.
static bool second_order(const char *scheme) {
    static const char *const first[] = {"moreau-jean", "moreau-explicit", "moreau-midpoint", "moreau-dissipative", "schatzman-paoli", "ggl-projection", "newmark", "hht", "generalized-alpha"};
    for (size_t i = 0; i < sizeof first / sizeof *first; ++i)
        if (strcmp(scheme, first[i]) == 0) return false;
    return true;
}

static void run(carom_sim *sim, const char *scheme) {
    carom_error err = {0};
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", scheme, err.text);
}

static int redundant(carom_model *m) {
    const int k = carom_redundant_count(carom_model_system(m), 0, carom_model_q0(m));
    carom_model_destroy(m);
    return k;
}

static void they_are_counted(void **state) {
    (void)state;
    assert_int_equal(redundant(good(DOOR)), 10);
    assert_int_equal(redundant(shipped_model("four-bar")), 0);
    assert_int_equal(redundant(cranks("0", 0, "")), 1);
    assert_int_equal(redundant(cranks("1.1", 0, "")), 1);
    assert_int_equal(redundant(cranks("pi/2", 0, "")), 1); // a dead point: two rows depend on the others there
    // Without the third crank that start has a dependent row, but none is redundant.
    assert_int_equal(redundant(good("carom: 1\nbodies:\n  c1: {mass: 1, inertia: 0.01, at: [0.25, 0]}\n"
                                    "  c2: {mass: 1, inertia: 0.01, at: [1.25, 0]}\n  bar: {mass: 2, inertia: 0.6, at: [1, 0]}\n"
                                    "joints:\n  g1: {type: revolute, between: [ground, c1], at: [0, 0]}\n"
                                    "  g2: {type: revolute, between: [ground, c2], at: [1, 0]}\n"
                                    "  b1: {type: revolute, between: [c1, bar], at: [0.5, 0]}\n"
                                    "  b2: {type: revolute, between: [c2, bar], at: [1.5, 0]}\n")),
                     0);
    // The size does not matter: the same door for ants.
    assert_int_equal(redundant(good("carom: 1\nbodies:\n  d: {mass: 1e-8, inertia: [4e-20, 3e-20, 1e-20], at: [5e-7, 0, 1e-6]}\n"
                                    "joints:\n  h1: {type: revolute, between: [ground, d], at: [0, 0, 2e-7], axis: [0, 0, 1]}\n"
                                    "  h2: {type: revolute, between: [ground, d], at: [0, 0, 1e-6], axis: [0, 0, 1]}\n")),
                     5);
}

// The spin of a door stays, and each hinge carries a third of its weight.
static void a_door_swings_on_three_hinges(void **state) {
    (void)state;
    carom_model *m = good(DOOR);
    for (int i = 0; with_joints(i); ++i) {
        const char *scheme = with_joints(i)->name;
        const double h = 2e-3, end = 0.5;
        carom_sim *sim = start(m, scheme, NULL, h, end);
        run(sim, scheme);
        const carom_now now = carom_sim_now(sim);
        scheme_near(scheme, atan2(now.q[1], now.q[0]), end, second_order(scheme) ? 2e-6 : 2e-3);
        for (int hinge = 0; hinge < 3; ++hinge) {
            const int z = now.dir[5 * hinge + 2];
            scheme_near(scheme, now.force[z] + now.impulse[z] / h, 98.1 / 3, 1e-3);
        }
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Over a dead point, where the kept rows are chosen anew or nearly depend on each other.
static void cranks_turn(void **state) {
    (void)state;
    carom_model *m = cranks("0.5", 6, "");
    const double end = 0.4, exact = crank_angle(0.5, 6, end);
    assert_true(exact > 3); // past pi/2
    for (int i = 0; with_joints(i); ++i) {
        const char *scheme = with_joints(i)->name;
        carom_sim *sim = start(m, scheme, NULL, 1e-3, end);
        run(sim, scheme);
        const double *q = carom_sim_now(sim).q;
        for (int crank = 0; crank < 3; ++crank) {
            static const char *const name[] = {"c1.angle", "c2.angle", "c3.angle"};
            scheme_near(scheme, q[position(m, name[crank])], exact, second_order(scheme) ? 2e-4 : 6e-2);
        }
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// With a stop besides: they come to rest on it, at cos(a) = 1/2.
static void cranks_rest_on_a_stop(void **state) {
    (void)state;
    carom_model *m = cranks("0", -2, "contacts:\n  stop: {gap: bar.y - 0.25, restitution: 0.5}\n");
    for (int i = 0; with_joints(i); ++i) {
        const char *scheme = with_joints(i)->name;
        if (with_joints(i)->lacks & CAROM_NO_IMPACTS || strcmp(scheme, "half-explicit-acceleration") == 0) continue; // that one drifts
        carom_sim *sim = start(m, scheme, NULL, 1e-3, 1.6);
        run(sim, scheme);
        scheme_near(scheme, carom_sim_now(sim).q[position(m, "c1.angle")], -acos(0.5), 4e-3);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

static void a_saved_run_goes_on_with_the_same_bits(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-midpoint", "half-explicit", "ggl-midpoint", "ggl-alpha", "newmark", "mixed", "auto", NULL};
    carom_model *m = cranks("0.5", 6, ""); // passes dead points after 200 and 540 steps
    for (int i = 0; schemes[i]; ++i) {
        carom_error err = {0};
        carom_sim *a = start(m, schemes[i], NULL, 1e-3, 0.6), *b = start(m, schemes[i], NULL, 1e-3, 0.6);
        for (int k = 0; k < 300; ++k)
            if (carom_sim_step(a, &err) != CAROM_OK) fail_msg("%s: %s", schemes[i], err.text);
        size_t bytes = 0;
        const void *kept = carom_sim_state(a, &bytes);
        assert_int_equal(carom_sim_restore(b, kept, bytes, &err), CAROM_OK);
        const carom_now then = carom_sim_now(a), restored = carom_sim_now(b);
        const size_t nl = (size_t)carom_model_system(m)->ne;
        assert_memory_equal(then.impulse, restored.impulse, nl * sizeof(double));
        assert_memory_equal(then.force, restored.force, nl * sizeof(double));
        run(a, schemes[i]), run(b, schemes[i]);
        const carom_now x = carom_sim_now(a), y = carom_sim_now(b);
        assert_memory_equal(x.q, y.q, (size_t)carom_model_system(m)->nq * sizeof(double));
        assert_memory_equal(x.v, y.v, (size_t)carom_model_system(m)->nv * sizeof(double));
        assert_memory_equal(x.impulse, y.impulse, nl * sizeof(double));
        assert_memory_equal(x.force, y.force, nl * sizeof(double));
        carom_sim_destroy(a), carom_sim_destroy(b);
    }
    carom_model_destroy(m);
}

// (CP-10)  A ball between two walls that approach: no impulse helps, however large, and rounding of large ones is no excuse.
static void rounding_excuses_little(void **state) {
    (void)state;
    const carom_block blocks[] = {{CAROM_UNILATERAL, 0, 0}, {CAROM_UNILATERAL, 1, 0}};
    const double G[] = {1, -1, -1, 1}, c[] = {-1, -1};
    double p[] = {1e12, 1e12}, u[2];
    carom_problem pb = {.n = 2, .nb = 2, .ld = 2, .block = blocks, .G = G, .c = c, .p = p, .u = u};
    const double residual = carom_residual(&pb, NULL);
    scheme_near("residual", residual, 1, 0);
    assert_true(carom_rounding(&pb) > 1e-4);
    assert_false(carom_solved(&pb, residual, 1e-12));
    assert_false(carom_solved(&pb, 1e-7, 1e-12)); // below its rounding, above 1e-8 of the velocities
    assert_true(carom_solved(&pb, 1e-9, 1e-12));
    p[0] = p[1] = 1;
    assert_false(carom_solved(&pb, 1e-9, 1e-12));
    assert_true(carom_solved(&pb, 1e-12, 1e-12));
    assert_false(carom_solved(&pb, INFINITY, 1e-12));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_counted),
        cmocka_unit_test(a_door_swings_on_three_hinges),
        cmocka_unit_test(cranks_turn),
        cmocka_unit_test(cranks_rest_on_a_stop),
        cmocka_unit_test(a_saved_run_goes_on_with_the_same_bits),
        cmocka_unit_test(rounding_excuses_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_newton.c: Newton's method of the implicit schemes, where the position rounds, and where moreau-jean does without
// its matrix.
#include "model_text.h"
#include "schemes.h"
#include "scheme/increments.h"
#include "sim/sim.h"
#include <float.h>

// From the fourth iterate on a component stays when it would change by a unit in its last place, and only then.
static void a_position_settles_when_its_last_bit_is_in_doubt(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 0, 0.1, 0, true);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 1e-3, 1);
    const carom_step *s = &sim->step;
    const double q_0[3] = {100, -3, 0}, tiny = 0x1p-53, v[3] = {100 * 3 * tiny, 0, 1e-30};
    double exact[3], q[3];
    carom_move(s, exact, q_0, 1, v);
    for (int iterate = 0; iterate < 6; ++iterate) {
        q[0] = nextafter(exact[0], 0);
        q[1] = nextafter(nextafter(exact[1], 0), 0);
        q[2] = 0;
        carom_move_iterate(s, q, q_0, 1, v, iterate);
        assert_true(q[0] == (iterate < 4 ? exact[0] : nextafter(exact[0], 0)));
        assert_true(q[1] == exact[1]);
        assert_true(q[2] == exact[2]);
    }
    q[0] = NAN;
    carom_move_iterate(s, q, q_0, 1, v, 5);
    assert_true(q[0] == exact[0]);
    carom_sim_destroy(sim);
}

// The law is judged with the velocities given, whatever G p + c would be; to tolerance or to the rounding given.
static void the_law_is_judged_at_the_velocity_itself(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 0, 0.1, 0, true);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 1e-3, 1);
    carom_step *s = &sim->step;
    carom_local *L = &sim->all;
    carom_close(s, L, (double[]){-1, 1, 1, 1});
    carom_problem_blocks(s, L);
    s->G[0] = 1;
    s->scale = 1;
    const struct {
        double u, p, rounding;
        bool met;
    } cases[] = {
        {0, 1, 0, true},           {1, 0, 0, true},      {0.9 * s->tol, 1, 0, true},   {1.1 * s->tol, 1, 0, false},
        {1e-9, 1, 2e-9, true},     {1e-9, 1, 0, false},  {-1e-9, 0, 0, false},         {1, -1e-9, 0, false},
        {INFINITY, 1, 1e9, false}, {NAN, 0, 0, false},   {0, INFINITY, 1e9, false},    {1, 1, 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        s->c[0] = cases[i].u;
        s->p[0] = cases[i].p;
        assert_true(carom_problem_met(s, L->id, cases[i].rounding) == cases[i].met);
    }
    carom_sim_destroy(sim);
}

// 16 eps of the terms of W'v + w.
static void velocities_round_with_their_terms(void **state) {
    (void)state;
    known k;
    known_slope(&k, 1, 0.1, 0.5);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 1e-3, 1);
    carom_local *L = &sim->all;
    carom_close_kinds(&sim->step, L, CAROM_JOINTS | CAROM_CONTACTS);
    assert_int_equal(carom_directions(&sim->step, L, 0, k.q0), CAROM_OK);
    const double v[2] = {3, -2};
    // tangent along the slope, normal across it
    assert_true(carom_local_velocity_rounding(&sim->step, L, v) == 16 * DBL_EPSILON * 3);
    L->w[0] = -2;
    assert_true(carom_local_velocity_rounding(&sim->step, L, v) == 16 * DBL_EPSILON * 4);
    carom_sim_destroy(sim);
}

// A slider without clearance whose crank has turned often: in about h |du/dq|/|W| of the steps the answer lies where
// the position rounds up or down.  No step is repeated for that, none needs many iterations, and the velocity meets the
// law.
static void rounding_of_large_angles_refuses_no_step(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-jean",       "moreau-dissipative", "newmark",  "hht",
                                          "generalized-alpha", "ggl-midpoint",       "ggl-alpha"};
    static const struct {
        double h, end, turns;
    } runs[] = {{1e-4, 0.2, 100}, {1e-4, 0.2, 10000}, {1e-3, 0.5, 1000}};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i)
        for (size_t r = 0; r < sizeof runs / sizeof *runs; ++r) {
            known k;
            known_slider_crank(&k, 0, 0.1, 0, true);
            k.q0[0] = 6.283185307179586 * runs[r].turns;
            carom_sim *sim = sim_of(&k, schemes[i], NULL, runs[r].h, runs[r].end);
            carom_error err;
            assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
            carom_ledger l;
            assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
            if (l.rejected != 0)
                fail_msg("%s, h = %g, %g turns: %ld steps rejected", schemes[i], runs[r].h, runs[r].turns, l.rejected);
            assert_true(l.counts.newton_max <= 8);
            carom_sim_destroy(sim);
        }
}

// -- moreau-jean without contacts: corrections with M_0 --------------------------------------------------------------

// q'' = -k sin q, with counts of its evaluations.
typedef struct pendulum { double k; long forces, tangents; } pendulum;

static carom_status pendulum_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)work, (void)t, (void)q;
    *carom_matrix_entry(M, 0, 0) = 1;
    return CAROM_OK;
}

static carom_status pendulum_force(const void *model, void *work, double t, const double *q, const double *v,
                                   double *f) {
    (void)work, (void)t, (void)v;
    pendulum *p = (pendulum *)(uintptr_t)model;
    p->forces += 1;
    f[0] = -p->k * sin(q[0]);
    return CAROM_OK;
}

static carom_status pendulum_tangent(const void *model, void *work, double t, const double *q, const double *v,
                                     carom_matrix K, carom_matrix C) {
    (void)work, (void)t, (void)v, (void)C;
    pendulum *p = (pendulum *)(uintptr_t)model;
    p->tangents += 1;
    *carom_matrix_entry(K, 0, 0) = p->k * cos(q[0]);
    return CAROM_OK;
}

static const double STEP = 1e-3;

static carom_sim *pendulum_run(const pendulum *p, int steps) {
    static carom_system sys;
    static const double q_0 = 0.5, v_0 = 0.1;
    sys = carom_system_default(1, 1, 0, 0);
    sys.model = p, sys.mass = pendulum_mass, sys.force = pendulum_force, sys.tangent = pendulum_tangent;
    carom_error err;
    carom_sim_def d = carom_sim_default();
    d.system = &sys, d.scheme = "moreau-jean", d.h = STEP, d.t_end = steps * STEP, d.q0 = &q_0, d.v0 = &v_0;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    return sim;
}

// One step.  The trapezoidal rule holds: for the velocity to newton-tol of its terms (twice: the force at the start is
// solved for, too), for the position to rounding.
static void checked_step(carom_sim *sim, const pendulum *p) {
    const carom_now at = carom_sim_now(sim);
    const double q_0 = at.q[0], v_0 = at.v[0], f_0 = -p->k * sin(q_0);
    sim_step(sim);
    const double q_1 = at.q[0], v_1 = at.v[0], f_1 = -p->k * sin(q_1),
                 terms = fabs(v_1) + 0.5 * STEP * (fabs(f_0) + fabs(f_1));
    const double rounding = 4 * DBL_EPSILON * (terms + 0.5 * STEP * p->k * fabs(q_1)); // of sin(q_1), by that of q_1
    assert_true(fabs(v_1 - v_0 - 0.5 * STEP * (f_0 + f_1)) <= 2e-12 * terms + rounding);
    assert_true(fabs(q_1 - q_0 - 0.5 * STEP * (v_0 + v_1)) <=
                2 * DBL_EPSILON * (fabs(q_0) + STEP * (fabs(v_0) + fabs(v_1))));
}

// h^4 of the motion is 1e-12, and M_0 differs from A by h^2 k/4 of it: from the third step on one correction with M_0
// is enough, and there is no tangent.
static void a_smooth_motion_needs_no_tangent(void **state) {
    (void)state;
    enum { N = 500 };
    pendulum p = {.k = 1};
    carom_sim *sim = pendulum_run(&p, N);
    for (int i = 0; i < 2; ++i) checked_step(sim, &p);
    assert_int_equal(p.tangents, 2);
    p.forces = 0;
    for (int i = 2; i < N; ++i) checked_step(sim, &p);
    assert_int_equal(p.tangents, 2);
    assert_int_equal(p.forces, 3 * (N - 2)); // at the start, at the first guess, at the answer
    carom_ledger l;
    carom_error err;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_int_equal(l.counts.newton, N);
    carom_sim_destroy(sim);
}

// h^2 k/4 = 1/2: corrections with M_0 halve the error at best.  Newton's method takes over, and they are tried again
// only after 50 steps and two more.
static void a_stiff_motion_is_left_to_newton(void **state) {
    (void)state;
    enum { N = 500 };
    pendulum p = {.k = 2e6};
    carom_sim *sim = pendulum_run(&p, N);
    for (int i = 0; i < N; ++i) {
        p.forces = p.tangents = 0;
        checked_step(sim, &p);
        assert_true(p.tangents >= 1);
        const int attempt = i % 52 == 2; // in step 3, 55, ...: the first guess and two corrections
        // at the start of the step; by Newton's method at each iterate, and at the answer
        assert_int_equal(p.forces, 1 + p.tangents + 1 + 3 * attempt);
    }
    carom_sim_destroy(sim);
}

// What a step takes from those before is saved with the state.
static void a_restored_motion_has_the_same_bits(void **state) {
    (void)state;
    enum { N = 20, AT = 9 };
    pendulum p = {.k = 100};
    carom_error err;
    carom_sim *a = pendulum_run(&p, N);
    for (int i = 0; i < AT; ++i) sim_step(a);
    size_t bytes;
    const void *kept = carom_sim_state(a, &bytes);
    carom_sim *b = pendulum_run(&p, N);
    assert_int_equal(carom_sim_restore(b, kept, bytes, &err), CAROM_OK);
    const long before = p.tangents;
    for (int i = AT; i < N; ++i) {
        sim_step(a);
        sim_step(b);
        assert_true(carom_sim_now(a).q[0] == carom_sim_now(b).q[0] && carom_sim_now(a).v[0] == carom_sim_now(b).v[0]);
    }
    assert_int_equal(p.tangents, before); // also from the first step on
    carom_sim_destroy(a);
    carom_sim_destroy(b);
}

// lift: [x_0 1; 0 2] v, which is singular at x_0 = 0
static void sheared(const void *model, double *dx, const double *x, const double *v) {
    (void)model;
    const double v_1 = v[1];
    dx[0] = x[0] * v[0] + v_1;
    dx[1] = 2 * v_1;
}

// (NEW-4)  T = [x_0 1; 0 2]^-1 = [1/x_0  -1/(2 x_0); 0  1/2].  Where there is none, T = 1, whatever stood there before.
static void increments_turn_with_the_position(void **state) {
    (void)state;
    carom_system sys = carom_system_default(2, 2, 0, 0);
    sys.lift = sheared;
    const carom_step s = {.sys = &sys};
    static _Alignas(64) unsigned char memory[1 << 12];
    carom_arena mem = {.base = memory, .size = sizeof memory};
    carom_increments t = carom_allocate_increments(&mem, &sys);
    const double dx[2] = {3, 5}, places[] = {4, 0, 0.5, 0};
    for (int i = 0; i < 4; ++i) {
        const double x_0 = places[i], x[2] = {x_0, 7};
        double y[2], w[2];
        carom_increments_at(&t, &s, x);
        carom_increments_move(&t, y, dx, 2);
        carom_increments_row(&t, w, dx, 2);
        assert_true(y[0] == (x_0 > 0 ? (3 - 2.5) / x_0 : 3) && y[1] == (x_0 > 0 ? 2.5 : 5));
        assert_true(w[0] == (x_0 > 0 ? 3 / x_0 : 3) && w[1] == (x_0 > 0 ? 2.5 - 1.5 / x_0 : 5)); // T'w
    }
}

// -- a step that ends at rest -----------------------------------------------------------------------------------------

// One step of x'' = -500 x - 4e5 x^3 from x = 0.1 with velocity v_0: its end, and how many iterations it took; -1: not
// supported.
static long one_step(const carom_model *m, const char *scheme, const char *option, double v_0, double *v_1) {
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(m), d.schemes = carom_schemes(), d.scheme = scheme, d.q0 = carom_model_q0(m),
    d.v0 = &v_0, d.h = d.t_end = 5e-3;
    d.options = (const char *const[]){"newton-tol=1e-5", option, NULL};
    carom_error err = {0};
    carom_ledger l;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) return -1;
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    *v_1 = carom_sim_now(sim).v[0];
    carom_sim_destroy(sim);
    return l.counts.newton;
}

// The velocity from which the body is at rest after the step, by the secant method, as far as a solution to 1e-5 lets
// it be found.
static double stops_from(const carom_model *m, const char *scheme, const char *option) {
    double a = 2, b = 3, v_a = 0, v_b = 0;
    one_step(m, scheme, option, a, &v_a);
    for (int k = 0; k < 12; ++k) {
        one_step(m, scheme, option, b, &v_b);
        if (v_b == v_a || fabs(v_b) < 1e-12) break;
        const double next = b - v_b * (b - a) / (v_b - v_a);
        a = b, v_a = v_b, b = next;
    }
    return b;
}

// Residuals are compared with the impulses of the forces, not with the momentum that is left: where a body comes to
// rest at the end of a step, it takes as many iterations as where it does not.  1: judged, 0: a scheme without
// iterations.
static int comes_to_rest(const carom_model *m, const char *scheme, const char *option) {
    double v_1 = 0, other = 0;
    if (one_step(m, scheme, option, 2, &v_1) <= 0) return 0;
    const double v_0 = stops_from(m, scheme, option);
    const long at_rest = one_step(m, scheme, option, v_0, &v_1),
               moving = one_step(m, scheme, option, 1.1 * v_0, &other);
    assert_true(fabs(v_1) < 1e-12 && fabs(other) > 0.1);
    if (at_rest != moving)
        fail_msg("%s: %ld iterations where it comes to rest, %ld elsewhere", scheme, at_rest, moving);
    return 1;
}

static void a_step_that_ends_at_rest_takes_no_more_iterations(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\ncoordinates: {x: 0.1}\nenergy: {kinetic: 1/2*x'^2, potential: 250*x^2 + 1e5*x^4}\n");
    int judged = comes_to_rest(m, "moreau-jean", "at=theta");
    for (const carom_scheme *const *scheme = carom_schemes(); *scheme; ++scheme)
        if (!(*scheme)->controls_own_steps) judged += comes_to_rest(m, (*scheme)->name, NULL);
    assert_true(judged >= 9);
    carom_model_destroy(m);
}

// -- a step that starts at rest ---------------------------------------------------------------------------------------

enum { FALLING = 5 };
static double weight(int i) { return 9.81 + i; }
static double drag(int i) { return 1.7 + 0.3 * i; }

static carom_status falling_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)work, (void)t, (void)q;
    for (int i = 0; i < FALLING; ++i) *carom_matrix_entry(M, i, i) = 1;
    return CAROM_OK;
}

static carom_status falling_force(const void *model, void *work, double t, const double *q, const double *v,
                                  double *f) {
    (void)model, (void)work, (void)t, (void)q;
    for (int i = 0; i < FALLING; ++i) f[i] = weight(i) - drag(i) * v[i] * v[i] * v[i];
    return CAROM_OK;
}

static carom_status falling_tangent(const void *model, void *work, double t, const double *q, const double *v,
                                    carom_matrix K, carom_matrix C) {
    (void)model, (void)work, (void)t, (void)q, (void)K;
    for (int i = 0; i < FALLING; ++i) *carom_matrix_entry(C, i, i) = 3 * drag(i) * v[i] * v[i];
    return CAROM_OK;
}

// Bodies fall from rest with v' = g - c v^3.  By the implicit Euler rule all momentum comes from the impulse of the
// forces, and the two are of one size: none of it counts for the other, or no residual would be small enough.  x h of
// that impulse act in the first step, at the velocity y v.
static void fall_from_rest(const char *scheme, const char *const *options, double x, double y) {
    carom_system sys = carom_system_default(FALLING, FALLING, 0, 0);
    sys.mass = falling_mass, sys.force = falling_force, sys.tangent = falling_tangent;
    const double zero[FALLING] = {0}, h = 0.1;
    carom_sim_def d = carom_sim_default();
    d.system = &sys, d.scheme = scheme, d.options = options, d.h = d.t_end = h, d.q0 = d.v0 = zero;
    carom_error err = {0};
    carom_ledger l;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", scheme, err.text);
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_true(l.rejected == 0 && l.counts.newton_max <= 6);
    for (int i = 0; i < FALLING; ++i) {
        const double v = carom_sim_now(sim).q[i] / h;
        assert_true(fabs(v + x * h * drag(i) * pow(y * v, 3) - x * h * weight(i)) <= 1e-11 * v);
    }
    carom_sim_destroy(sim);
}

static void a_step_that_starts_at_rest_is_solved(void **state) {
    (void)state;
    fall_from_rest("moreau-jean", (const char *const[]){"theta=1", NULL}, 1, 1);
    fall_from_rest("moreau-jean", (const char *const[]){"theta=1", "at=theta", NULL}, 1, 1);
    fall_from_rest("schatzman-paoli", (const char *const[]){"theta=1", NULL}, 0.5, 0.5); // (SP-4); v = d_1/2 (SP-6)
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_position_settles_when_its_last_bit_is_in_doubt),
        cmocka_unit_test(the_law_is_judged_at_the_velocity_itself),
        cmocka_unit_test(velocities_round_with_their_terms),
        cmocka_unit_test(increments_turn_with_the_position),
        cmocka_unit_test(a_step_that_ends_at_rest_takes_no_more_iterations),
        cmocka_unit_test(a_step_that_starts_at_rest_is_solved),
        cmocka_unit_test(rounding_of_large_angles_refuses_no_step),
        cmocka_unit_test(a_smooth_motion_needs_no_tangent),
        cmocka_unit_test(a_stiff_motion_is_left_to_newton),
        cmocka_unit_test(a_restored_motion_has_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_dg.c: the discontinuous Galerkin schemes: orders in flight, contact and rest; the trapezoidal rules; endurance.
//
// Problems 4.2 to 4.4 are those of Schindler and Acary: a unit mass over the floor q >= 0.
#include "schemes.h"
#include <float.h>
#include <stdlib.h>

static const char *const both[] = {"dg-minus", "dg-plus"};

// Options of a run: order=m, and another one or NULL.
typedef struct opts {
    char order[16];
    const char *list[3];
} opts;
static const char *const *with(opts *o, int m, const char *more) {
    snprintf(o->order, sizeof o->order, "order=%d", m);
    o->list[0] = o->order;
    o->list[1] = more;
    o->list[2] = NULL;
    return o->list;
}

static carom_sim *sim_for(const carom_system *sys, const char *scheme, const char *const *options, double h, double t_end,
                          const double *q0, const double *v0) {
    carom_error err;
    carom_sim_def d = carom_sim_default();
    d.system = sys, d.scheme = scheme, d.options = options, d.h = h, d.t_end = t_end, d.q0 = q0, d.v0 = v0;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    return sim;
}

static double halved(double e_coarse, double e_fine) { return log2(e_coarse / e_fine); } // order when h is halved

// -- systems ---------------------------------------------------------------------------------------------------------

static carom_status unit_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)work, (void)t, (void)q;
    for (int i = 0; i < M.shape.n; ++i) *carom_matrix_entry(M, i, i) = 1;
    return CAROM_OK;
}
static carom_status floor_gap(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = q[0];
    return CAROM_OK;
}
static carom_status floor_direction(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t, (void)q;
    for (int k = 0; k < L->nb; ++k) L->W.a[k] = 1;
    return CAROM_OK;
}
static carom_status square_load(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)q, (void)v;
    f[0] = -10 * t * t;
    return CAROM_OK;
}
static const carom_contact half = {.restitution = 0.5};

// Problems 4.2 and 4.3: f = -10 t^2.
static carom_system point(void) {
    carom_system s = carom_system_default(1, 1, 0, 1);
    s.flags = CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS;
    s.contacts = &half, s.mass = unit_mass, s.force = square_load, s.gaps = floor_gap, s.directions = floor_direction;
    return s;
}

static carom_status driven_pendulum(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work;
    f[0] = -sin(q[0]) - 0.1 * v[0] + 0.3 * cos(2 * t);
    return CAROM_OK;
}

// A bead on the unit circle, pressed on it from outside by a varying load and driven around.
static carom_status bead_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work;
    const double r = hypot(q[0], q[1]), load = 80 + 20 * sin(3 * t);
    f[0] = -load * q[0] / r - 2 * q[1] + 0.3 * cos(2 * t) - 0.1 * v[0];
    f[1] = -load * q[1] / r + 2 * q[0] - 1 - 0.1 * v[1];
    return CAROM_OK;
}
static carom_status bead_gap(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = hypot(q[0], q[1]) - 1;
    return CAROM_OK;
}
static carom_status bead_direction(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t;
    const double r = hypot(q[0], q[1]);
    for (int k = 0; k < L->nb; ++k) L->W.a[2 * k] = q[0] / r, L->W.a[2 * k + 1] = q[1] / r;
    return CAROM_OK;
}
static carom_status bead_curvature(const void *model, void *work, double t, const double *q, const double *v, const carom_local *L,
                                   double *kappa) {
    (void)model, (void)work, (void)t;
    const double r = hypot(q[0], q[1]), u = (q[0] * v[0] + q[1] * v[1]) / r;
    for (int k = 0; k < L->nb; ++k) kappa[k] = (v[0] * v[0] + v[1] * v[1] - u * u) / r;
    return CAROM_OK;
}
static carom_system bead(bool bilateral) {
    carom_system s = carom_system_default(2, 2, bilateral, !bilateral);
    s.flags = CAROM_CONSTANT_MASS | CAROM_TIMELESS_GAPS;
    s.contacts = bilateral ? NULL : &half;
    s.mass = unit_mass, s.force = bead_force, s.gaps = bead_gap, s.directions = bead_direction, s.curvature = bead_curvature;
    return s;
}

// -- orders ------------------------------------------------------------------------------------------------------------

// Orders of q and v at t_end for m = 1..4 against degree 6; expected 2, 4, 4, 6.  n[m - 1]: steps of the coarser run.
static void check_orders(const char *what, const carom_system *sys, const double *q0, const double *v0, double t_end, const int *n,
                         int n_ref) {
    const int nv = sys->nv;
    double q_ref[3], v_ref[3];
    opts o;
    carom_sim *sim = sim_for(sys, "dg-plus", with(&o, 6, NULL), t_end / n_ref, t_end, q0, v0);
    sim_to(sim, t_end);
    memcpy(q_ref, carom_sim_now(sim).q, sizeof(double) * (size_t)nv);
    memcpy(v_ref, carom_sim_now(sim).v, sizeof(double) * (size_t)nv);
    carom_sim_destroy(sim);
    for (int i = 0; i < 2; ++i)
        for (int m = 1; m <= 4; ++m) {
            double e_q[2] = {0}, e_v[2] = {0};
            for (int fine = 0; fine < 2; ++fine) {
                sim = sim_for(sys, both[i], with(&o, m, NULL), t_end / (n[m - 1] << fine), t_end, q0, v0);
                sim_to(sim, t_end);
                const carom_now now = carom_sim_now(sim);
                for (int j = 0; j < nv; ++j) {
                    e_q[fine] = fmax(e_q[fine], fabs(now.q[j] - q_ref[j]));
                    e_v[fine] = fmax(e_v[fine], fabs(now.v[j] - v_ref[j]));
                }
                assert_int_equal(sim_ledger(sim).rejected, 0);
                assert_int_equal(sim_ledger(sim).impacts, 0);
                carom_sim_destroy(sim);
            }
            const double expected = m % 2 ? m + 1 : m + 2;
            const double p_q = halved(e_q[0], e_q[1]), p_v = halved(e_v[0], e_v[1]);
            print_message("    %s %s order=%d: q %.2f (%.1e), v %.2f (%.1e)\n", what, both[i], m, p_q, e_q[1], p_v, e_v[1]);
            check_near(p_q, expected, 0.2);
            check_near(p_v, expected, 0.2);
        }
}

static void smooth_motion_has_order_2_4_4_6(void **state) {
    (void)state;
    carom_system s = carom_system_default(1, 1, 0, 0);
    s.mass = unit_mass, s.force = driven_pendulum;
    const double q0 = 1, v0 = 0.5;
    check_orders("pendulum", &s, &q0, &v0, 2, (int[]){80, 40, 40, 10}, 100);
}

static void mechanism_in_flight_has_order_2_4_4_6(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0, true);
    // The first impact is at 0.0026925.
    check_orders("slider-crank", &k.sys, k.q0, k.v0, 0.0025, (int[]){100, 25, 25, 8}, 50);
}

static void lasting_contact_on_a_circle_has_order_2_4_4_6(void **state) {
    (void)state;
    const carom_system s = bead(false);
    check_orders("bead", &s, (double[]){1, 0}, (double[]){0, 1}, 2, (int[]){400, 80, 80, 30}, 200);
}

static void bilateral_constraint_has_order_2_4_4_6(void **state) {
    (void)state;
    const carom_system s = bead(true);
    check_orders("bead on a wire", &s, (double[]){1, 0}, (double[]){0, 1}, 2, (int[]){400, 80, 80, 30}, 200);
}

// Two masses on each other: the upper is pressed down by 10 e^t (1.2 + sin 5t), the lower has a spring, so that what the
// contact transmits is seen in the motion of the lower one.
static carom_status stack_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)v;
    f[0] = -0.5 * q[0];
    f[1] = -10 * exp(t) * (1.2 + sin(5 * t)) - 40;
    return CAROM_OK;
}
static carom_status stack_gap(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = q[1] - q[0];
    return CAROM_OK;
}
static carom_status stack_direction(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t, (void)q;
    for (int k = 0; k < L->nb; ++k) L->W.a[2 * k] = -1, L->W.a[2 * k + 1] = 1;
    return CAROM_OK;
}

static void interaction_under_load_has_order_2_4_4_6(void **state) {
    (void)state;
    carom_system s = carom_system_default(2, 2, 0, 1);
    s.contacts = &half, s.mass = unit_mass, s.force = stack_force, s.gaps = stack_gap, s.directions = stack_direction;
    check_orders("stack", &s, (double[]){0, 0}, (double[]){0, 0}, 1, (int[]){80, 20, 20, 5}, 50);
}

// -- the paper's problems --------------------------------------------------------------------------------------------------

// L1 norms over a step of the errors of q^h = q + h tau v_a + (h tau)^2/2 a and v^h = v_a + h tau a against 4.2.  The error of v
// changes sign inside the step, so the rule is a simple one with many points.
static void flight_errors(double t, double h, double q, double v_a, double a, double *e_q, double *e_v) {
    enum { POINTS = 64 };
    for (int i = 0; i < POINTS; ++i) {
        const double z = h * (i + 0.5) / POINTS, s = t + z;
        *e_q += h / POINTS * fabs(q + z * v_a + z * z / 2 * a - (1 - 5 * s * s * s * s / 6));
        *e_v += h / POINTS * fabs(v_a + z * a + 10 * s * s * s / 3);
    }
}

static void free_flight_has_the_known_errors(void **state) {
    (void)state;
    const carom_system s = point();
    // L1 errors of the dense output at h = 1e-3.  Positions: measured with a prototype.  Velocities: to leading order the error
    // is (10 z^2 - 5/3 h^2) t at z = tau h, so that its norm is h^2/2 int |10 x^2 - 5/3| dx = 1.28695 h^2.
    const double known_q[2] = {2.774e-7, 2.782e-7}, known_v[2] = {1.28695e-6, 1.28695e-6};
    for (int i = 0; i < 2; ++i) {
        const double h = 1e-3, q0 = 1, v0 = 0;
        double e_q = 0, e_v = 0;
        opts o;
        carom_sim *sim = sim_for(&s, both[i], with(&o, 1, NULL), h, 1, &q0, &v0);
        while (!carom_sim_done(sim)) {
            const double t = carom_sim_now(sim).t, q = carom_sim_now(sim).q[0], v = carom_sim_now(sim).v[0];
            const double a_0 = -10 * t * t, a_1 = -10 * (t + h) * (t + h);
            sim_step(sim);
            if (i == 0) flight_errors(t, h, q, v, a_0, &e_q, &e_v);                                    // v_0 = v, v_1 = v + h a_0
            else flight_errors(t, h, q, v + h / 2 * (a_0 - a_1), a_1, &e_q, &e_v); // v_1 - v_0 = h a_1
            check_near(carom_sim_now(sim).force[0] + carom_sim_now(sim).impulse[0], 0, 0);
        }
        print_message("    4.2 %s: L1 errors q %.4g, v %.4g\n", both[i], e_q, e_v);
        check_near(e_q / known_q[i], 1, 1e-3);
        check_near(e_v / known_v[i], 1, 3e-3); // the next term is O(h)
        carom_sim_destroy(sim);
        for (int m = 2; m <= 4; ++m) { // f is quadratic: Clenshaw-Curtis integrates it and, for m > 2, its second integral
            sim = sim_for(&s, both[i], with(&o, m, NULL), 0.01, 1, &q0, &v0);
            sim_to(sim, 1);
            check_near(carom_sim_now(sim).v[0], -10.0 / 3, 1e-14);
            check_near(carom_sim_now(sim).q[0], 1 - 5.0 / 6, m == 2 ? 1e-9 : 1e-14);
            carom_sim_destroy(sim);
        }
    }
}

static void rest_phase_rests_and_its_interaction_has_order_2(void **state) {
    (void)state;
    const carom_system s = point();
    const double zero = 0;
    opts o;
    for (int i = 0; i < 2; ++i)
        for (int m = 1; m <= 6; ++m) {
            double error[2];
            for (int fine = 0; fine < 2; ++fine) {
                const double h = fine ? 1e-3 : 2e-3;
                double interaction = 0, before = 0;
                carom_sim *sim = sim_for(&s, both[i], with(&o, m, NULL), h, 1, &zero, &zero);
                while (!carom_sim_done(sim)) {
                    sim_step(sim);
                    const carom_now now = carom_sim_now(sim);
                    check_near(now.q[0], 0, 1e-15);
                    check_near(now.v[0], 0, 1e-15);
                    check_near(now.force[0], 10 * now.t * now.t, 4e-15 * 10);
                    check_near(now.impulse[0], 0, 0);
                    interaction += h / 2 * (before + now.force[0]);
                    before = now.force[0];
                }
                error[fine] = fabs(interaction - 10.0 / 3);
                carom_sim_destroy(sim);
            }
            if (m > 1) continue;
            check_near(halved(error[0], error[1]), 2, 0.01);
            check_near(error[1] / (10.0 / 6 * 1e-6), 1, 1e-3); // trapezoidal rule: h^2/12 (f'(1) - f'(0)) at the end
        }
}

// Order of the mean error at mesh points fitted from N = 41 to 5297; *finest is the last error.
static double combined(const char *scheme, int m, const char *rest, double *finest) {
    static const int n[] = {41, 97, 211, 443, 1021, 2311, 5297};
    double h[7], error[7];
    for (int k = 0; k < 7; ++k) {
        known ball;
        known_ball_a(&ball);
        opts o;
        carom_sim *sim = sim_of(&ball, scheme, with(&o, m, rest), 4.0 / n[k], 4);
        double sum = 0, v;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            sum += fabs(carom_sim_now(sim).q[0] - known_ball_a_exact(carom_sim_now(sim).t, &v)) * 4 / n[k];
        }
        carom_sim_destroy(sim);
        h[k] = 4.0 / n[k];
        error[k] = *finest = sum;
    }
    return slope(h, error, 7);
}

static void impacts_and_their_accumulation_are_passed_with_order_1(void **state) {
    (void)state;
    double finest;
    for (int i = 0; i < 2; ++i)
        for (int m = 1; m <= 4; ++m) {
            const double order = combined(both[i], m, "rest=settle", &finest);
            print_message("    4.4 %s order=%d: q %.2f (%.2e)\n", both[i], m, order, finest);
            check_near(order, 1, 0.15);
        }
    // As printed in the paper; the L1 error at N = 5297 is known from a prototype.
    const double order = combined("dg-minus", 1, "rest=paper", &finest);
    print_message("    4.4 dg-minus order=1 rest=paper: q %.2f (%.2e)\n", order, finest);
    check_near(order, 1, 0.15);
    check_near(finest / 1.3e-3, 1, 0.05);
}

// -- degree 1 and degree 0 ----------------------------------------------------------------------------------------------------

// The forecasting trapezoidal rule for the ball: (q, v) to the end of the step.  True: the contact was closed all the time
// and approaches, where rest=settle differs.
static bool forecasting(double h, double f, double e, double *q, double *v) {
    const double r_0 = *q <= 0 && *v <= 0 ? fmax(0, -f) : 0, a_0 = f + r_0;
    const double v_1 = *v + h * a_0, q_1 = *q + h / 2 * (*v + v_1);
    const double r_1 = q_1 <= 0 && v_1 <= 0 ? fmax(0, -f) : 0, a_1 = f + r_1;
    double after = *v + h / 2 * (a_0 + a_1);
    const bool returns = *q <= 0 && q_1 <= 0 && v_1 < 0;
    if (q_1 <= 0) after += fmax(0, -(after + e * v_1));
    *q = q_1;
    *v = after;
    return returns;
}

// The contemplating one by trying all patterns of closed stages.  Returns the number of consistent patterns.
static int contemplating(double h, double f, double e, double *q, double *v) {
    int found = 0;
    double q_i = 0, v_i = 0;
    for (int pattern = 0; pattern < 4; ++pattern) {
        const bool closed_0 = pattern & 1, closed_1 = pattern & 2;
        const double a_0 = f + (closed_0 ? fmax(0, -f) : 0), a_1 = f + (closed_1 ? fmax(0, -f) : 0);
        double v_0 = *v + h / 2 * (a_0 - a_1), v_1 = *v + h / 2 * (a_0 + a_1);
        const double q_1 = *q + h * *v + h * h / 2 * a_0;
        const double p = q_1 <= 0 ? fmax(0, -(v_1 + e * *v)) : 0;
        v_0 -= p;
        v_1 += p;
        if (closed_0 != (*q <= 0 && v_0 <= 0) || closed_1 != (q_1 <= 0 && v_1 <= 0)) continue;
        found += 1;
        q_i = q_1;
        v_i = v_1;
    }
    if (found > 0) *q = q_i, *v = v_i;
    return found;
}

static void degree_1_minus_is_the_forecasting_trapezoidal_rule(void **state) {
    (void)state;
    static const int n[] = {41, 97, 331, 1001};
    for (size_t k = 0; k < sizeof n / sizeof *n; ++k)
        for (int paper = 0; paper < 2; ++paper) {
            known ball;
            known_ball_a(&ball);
            opts o;
            const double h = 4.0 / n[k];
            carom_sim *sim = sim_of(&ball, "dg-minus", with(&o, 1, paper ? "rest=paper" : NULL), h, 4);
            double q = 1, v = 0;
            int steps = 0;
            while (!carom_sim_done(sim)) {
                const bool returns = forecasting(h, -2, 0.5, &q, &v);
                if (returns && !paper) break;
                sim_step(sim);
                steps += 1;
                check_near(carom_sim_now(sim).q[0], q, 1e-13);
                check_near(carom_sim_now(sim).v[0], v, 1e-13);
            }
            if (paper) assert_int_equal(steps, n[k]);
            else assert_true(steps * h > 2); // through the impacts at 1 and 2 at least
            if (paper) check_near(v, 2 * h / 3, 1e-4 * h); // as printed, the ball never rests: it bounces with 2/3 |f| h/2 ...
            if (paper) assert_true(q < -h / 5);         // ... and sinks by h^2/3 in every step
            carom_sim_destroy(sim);
        }
}

static void degree_1_plus_is_the_contemplating_trapezoidal_rule(void **state) {
    (void)state;
    static const int n[] = {41, 97, 331, 1001};
    for (size_t k = 0; k < sizeof n / sizeof *n; ++k) {
        known ball;
        known_ball_a(&ball);
        opts o;
        const double h = 4.0 / n[k];
        carom_sim *sim = sim_of(&ball, "dg-plus", with(&o, 1, "rest=paper"), h, 4);
        double q = 1, v = 0;
        int equal = 0, without = 0;
        while (!carom_sim_done(sim)) {
            const int patterns = contemplating(h, -2, 0.5, &q, &v);
            sim_step(sim);
            if (patterns > 0) {
                equal += 1;
                check_near(carom_sim_now(sim).q[0], q, 1e-13);
                check_near(carom_sim_now(sim).v[0], v, 1e-13);
            } else {
                without += 1; // go on from what the scheme makes of it
            }
            q = carom_sim_now(sim).q[0];
            v = carom_sim_now(sim).v[0];
            if (without > 0 && fabs(v) < 1e-11) break; // at rest to tolerance, where the literal flags are noise
        }
        print_message("    N = %d: equal in %d steps, no consistent pattern in %d\n", n[k], equal, without);
        assert_true(equal * h > 1.9);
        carom_sim_destroy(sim);
    }
}

static void degree_0_is_moreau_jean_bit_for_bit(void **state) {
    (void)state;
    const char *const theta[] = {"theta=0", "theta=1"};
    for (int i = 0; i < 2; ++i) {
        known crank;
        known_slider_crank(&crank, 1e-3, 0.4, 0, true);
        opts o;
        carom_sim *a = sim_of(&crank, both[i], with(&o, 0, NULL), 1e-4, 0.05);
        carom_sim *b = sim_of(&crank, "moreau-jean", (const char *const[]){theta[i], NULL}, 1e-4, 0.05);
        while (!carom_sim_done(a)) {
            sim_step(a);
            sim_step(b);
            assert_memory_equal(carom_sim_now(a).q, carom_sim_now(b).q, 3 * sizeof(double));
            assert_memory_equal(carom_sim_now(a).v, carom_sim_now(b).v, 3 * sizeof(double));
        }
        assert_true(sim_ledger(a).impacts > 0);
        carom_sim_destroy(a);
        carom_sim_destroy(b);
    }
}

// -- contacts ----------------------------------------------------------------------------------------------------------------

static void ball_comes_to_rest_at_every_step_size(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i)
        for (int m = 1; m <= 6; ++m)
            for (int n = 20; n < 2000; n += n / 7) {
                known ball;
                known_ball_a(&ball);
                opts o;
                const double h = 4.0 / n;
                carom_sim *sim = sim_of(&ball, both[i], with(&o, m, NULL), h, 4);
                while (!carom_sim_done(sim)) sim_step(sim);
                const carom_now now = carom_sim_now(sim);
                const carom_ledger l = sim_ledger(sim);
                assert_int_equal(l.rejected, 0);
                check_near(now.v[0], 0, 1e-12);
                check_near(now.q[0], -h / 2, h / 2 + 1e-12); // it stays where it met the floor, less than one step of fall in it
                check_near(now.force[0], 2, 1e-11); // the contact tolerance is 1e-12
                check_near(now.impulse[0], 0, 0);
                carom_sim_destroy(sim);
            }
}

// Forces and impulses are told apart: a bounce is an impulse and leaves no force, rest is a force alone.
static void bounces_are_impulses_and_rest_is_force(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i)
        for (int m = 1; m <= 4; ++m) {
            known ball;
            known_ball_a(&ball);
            opts o;
            const double h = 1.3e-3;
            double impulses = 0;
            carom_sim *sim = sim_of(&ball, both[i], with(&o, m, NULL), h, h * 2800);
            while (!carom_sim_done(sim)) {
                sim_step(sim);
                const carom_now now = carom_sim_now(sim);
                impulses += now.impulse[0];
                if (now.t < 2.9) assert_true(now.impulse[0] == 0 || (now.impulse[0] > 0 && now.force[0] == 0));
                if (now.t < 0.99) assert_true(now.impulse[0] == 0 && now.force[0] == 0);
                if (now.t > 3.1) {
                    check_near(now.impulse[0], 0, 0);
                    check_near(now.force[0], 2, 1e-11); // the contact tolerance is 1e-12
                }
            }
            check_near(impulses, 6, 100 * h); // 3 (1 + 1/2 + 1/4 + ...), each of about ten to first order
            assert_int_equal(sim_ledger(sim).accumulations, 1);
            carom_sim_destroy(sim);
        }
}

static void start_on_the_floor_with_approach_bounces(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i)
        for (int m = 1; m <= 4; ++m) {
            known ball;
            known_ball_a(&ball);
            ball.q0[0] = 0, ball.v0[0] = -1;
            opts o;
            carom_sim *sim = sim_of(&ball, both[i], with(&o, m, NULL), 1e-3, 0.1);
            sim_step(sim);
            check_near(carom_sim_now(sim).v[0], 0.5, 4 * 2 * 1e-3);
            carom_sim_destroy(sim);
        }
}

// A bead that is pressed on a circle all the time: no impulse, no opening, velocity on the circle to rounding.
static void lasting_contact_is_held_by_force_alone(void **state) {
    (void)state;
    const carom_system s = bead(false);
    for (int i = 0; i < 2; ++i)
        for (int m = 1; m <= 4; ++m) {
            opts o;
            carom_sim *sim = sim_for(&s, both[i], with(&o, m, NULL), 0.01, 4, (double[]){1, 0}, (double[]){0, 1});
            double drift = 0;
            while (!carom_sim_done(sim)) {
                sim_step(sim);
                const carom_now now = carom_sim_now(sim);
                assert_true(now.impulse[0] == 0 && now.force[0] > 0);
                check_near((now.q[0] * now.v[0] + now.q[1] * now.v[1]) / hypot(now.q[0], now.q[1]), 0, 1e-10);
                drift = fmax(drift, fabs(now.gap[0]));
            }
            // Of the order of the scheme: speeds reach 8, the gap's velocity is exact at step ends.
            assert_true(drift < (m == 1 ? 2e-2 : m < 4 ? 1e-5 : 1e-8));
            assert_int_equal(sim_ledger(sim).impacts, 0);
            carom_sim_destroy(sim);
        }
}

static void moving_floor_carries_what_lies_on_it(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        double error[2];
        for (int fine = 0; fine < 2; ++fine) {
            known k;
            known_moving_floor(&k, 0.01, 10, 0.5);
            opts o;
            carom_sim *sim = sim_of(&k, both[i], with(&o, 2, NULL), fine ? 0.005 : 0.01, 1);
            while (!carom_sim_done(sim)) {
                sim_step(sim);
                const carom_now now = carom_sim_now(sim);
                check_near(now.impulse[0], 0, 0);
                check_near(now.v[0], 0.1 * cos(10 * now.t), 1e-12);
            }
            error[fine] = fabs(carom_sim_now(sim).q[0] - 0.01 * sin(10));
            carom_sim_destroy(sim);
        }
        check_near(halved(error[0], error[1]), 4, 0.2);
    }
}

static void rocking_block_comes_to_rest(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i)
        for (int m = 1; m <= 4; ++m)
            for (double h = 0.01; h > 5e-4; h *= 0.43) {
                known block;
                known_rocking_block(&block);
                opts o;
                carom_sim *sim = sim_of(&block, both[i], with(&o, m, NULL), h, 3);
                while (!carom_sim_done(sim)) sim_step(sim);
                const carom_now now = carom_sim_now(sim);
                assert_int_equal(sim_ledger(sim).rejected, 0);
                for (int j = 0; j < 3; ++j) check_near(now.v[j], 0, 1e-11);
                check_near(now.q[1], 0.75, h); // flat, in the floor by less than a step of fall
                check_near(now.force[0] + now.force[now.dir[1]], 9.81, 1e-9);
                carom_sim_destroy(sim);
            }
}

static void slider_crank_endures(void **state) {
    (void)state;
    static const struct { double c, tilt; } cases[] = {{1e-3, 0}, {1e-3, 0.005}, {0, 0}};
    for (size_t j = 0; j < sizeof cases / sizeof *cases; ++j)
        for (int i = 0; i < 2; ++i)
            for (int m = 1; m <= 3; ++m) {
                known crank;
                known_slider_crank(&crank, cases[j].c, 0.4, 0, true);
                crank.q0[2] = cases[j].tilt;
                opts o;
                carom_sim *sim = sim_of(&crank, both[i], with(&o, m, NULL), 1e-5, 0.05);
                while (!carom_sim_done(sim)) sim_step(sim);
                const carom_ledger l = sim_ledger(sim);
                assert_int_equal(l.rejected, 0);
                assert_true(l.penetration < 5e-5); // the slider meets its guide with at most 5 m/s
                // Event-driven 7.4051988 (flat, c = 1e-3); no loss at c = 0.
                const bool joint = cases[j].c == 0;
                if (cases[j].tilt == 0) check_near(l.energy.end, joint ? 7.49554875 : 7.4051988, joint ? 1e-4 : 1e-3);
                // Forces of the last stage act on a contact that approaches in the step of an impact (D-), or it gives back a velocity older by a step (D+): first order, 33 h here.
                assert_true(fabs(l.energy.balance) < 5e-4);
                carom_sim_destroy(sim);
            }
}

// With friction and zero clearance in steps of 1e-4: four contacts share one load, and those that have none of it carry all the same.  Reference: steps of
// 1e-5 and 1e-6 leave 7.40492 and 7.40490 J at 0.1 s, with both schemes.
static void dependent_contacts_with_friction(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        known crank;
        known_slider_crank(&crank, 0, 0.4, 0.01, true);
        opts o;
        carom_sim *sim = sim_of(&crank, both[i], with(&o, 1, NULL), 1e-4, 0.1);
        while (!carom_sim_done(sim)) sim_step(sim);
        const carom_ledger l = sim_ledger(sim);
        check_near(l.energy.end, 7.4049, 4e-3);
        assert_int_equal(l.rejected, 0);
        assert_int_equal(l.counts.accepted, 0);
        carom_sim_destroy(sim);
    }
}

// With zero clearance the four contacts act as a joint: order and reference of the bilateral slider-crank.
static void four_dependent_contacts_act_as_a_joint(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        known crank;
        known_slider_crank(&crank, 0, 0.4, 0, true);
        opts o;
        carom_sim *sim = sim_of(&crank, both[i], with(&o, 4, NULL), 2e-5, 0.1);
        sim_to(sim, 0.1);
        known joint;
        known_slider_bilateral(&joint, true);
        carom_sim *reference = sim_of(&joint, "dg-plus", with(&o, 6, NULL), 1e-5, 0.1);
        sim_to(reference, 0.1);
        for (int j = 0; j < 2; ++j) check_near(carom_sim_now(sim).q[j], carom_sim_now(reference).q[j], 1e-7);
        check_near(carom_sim_now(reference).q[0], 9.14015241694, 1e-10);
        carom_sim_destroy(sim);
        carom_sim_destroy(reference);
    }
}

// Two walls that overlap: one contact opens and must not be reversed, the other bounces.  Newton's law cannot have both.
static carom_status jaw_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = q[0];
    g[1] = -0.01 - q[0];
    return CAROM_OK;
}
static carom_status jaw_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t, (void)q;
    for (int k = 0; k < L->nb; ++k) L->W.a[k] = L->id[k] == 0 ? 1 : -1;
    return CAROM_OK;
}
static void opposing_contacts_without_solution_stop(void **state) {
    (void)state;
    const carom_contact c[2] = {half, half};
    carom_system s = carom_system_default(1, 1, 0, 2);
    s.contacts = c, s.mass = unit_mass, s.force = square_load, s.gaps = jaw_gaps, s.directions = jaw_directions;
    for (int i = 0; i < 2; ++i) {
        const double q0 = -0.005, v0 = 1;
        opts o;
        carom_sim *sim = sim_for(&s, both[i], with(&o, 1, NULL), 1e-3, 0.01, &q0, &v0);
        sim_step(sim);
        check_near(carom_sim_now(sim).v[0], 0, 1e-12);
        assert_int_equal(sim_ledger(sim).rejected, 0);
        carom_sim_destroy(sim);
    }
}

// -- storage and stiffness --------------------------------------------------------------------------------------------------------

enum { CHAIN = 12 };
static carom_status chain_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)work, (void)t, (void)q;
    for (int i = 0; i < CHAIN; ++i) {
        *carom_matrix_entry(M, i, i) = 4;
        if (i > 0) *carom_matrix_entry(M, i, i - 1) = *carom_matrix_entry(M, i - 1, i) = 1;
    }
    return CAROM_OK;
}
static carom_status chain_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)t;
    for (int i = 0; i < CHAIN; ++i) {
        const double left = i > 0 ? q[i] - q[i - 1] : 0, right = i < CHAIN - 1 ? q[i + 1] - q[i] : 0;
        f[i] = -20 * left + 20 * right + right * right * right - left * left * left - 0.1 * v[i] - 1;
    }
    return CAROM_OK;
}
static carom_system chain(bool banded) {
    carom_system s = carom_system_default(CHAIN, CHAIN, 0, 1);
    const carom_shape shape = {banded ? CAROM_BANDED : CAROM_DENSE, CHAIN, banded ? 1 : 0, NULL};
    s.mass_shape = s.tangent_shape = shape;
    s.column_stride = banded ? 1 : CHAIN;
    s.contacts = &half, s.mass = chain_mass, s.force = chain_force, s.gaps = floor_gap;
    return s;
}
static carom_status chain_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t, (void)q;
    for (int k = 0; k < L->nb; ++k) {
        L->W.a[k * L->W.stride] = 1;
        if (L->W.count) L->W.count[k] = 1, L->W.row[k * L->W.stride] = 0;
    }
    return CAROM_OK;
}

static void banded_storage_gives_the_dense_answer(void **state) {
    (void)state;
    carom_system dense = chain(false), banded = chain(true);
    dense.directions = banded.directions = chain_directions;
    double q0[CHAIN], v0[CHAIN] = {0};
    for (int i = 0; i < CHAIN; ++i) q0[i] = 0.1 + 0.02 * i * i;
    for (int i = 0; i < 2; ++i)
        for (int m = 1; m <= 3; ++m) {
            opts o;
            carom_sim *a = sim_for(&dense, both[i], with(&o, m, NULL), 0.01, 2, q0, v0);
            carom_sim *b = sim_for(&banded, both[i], with(&o, m, NULL), 0.01, 2, q0, v0);
            sim_to(a, 2);
            sim_to(b, 2);
            assert_true(sim_ledger(a).impacts > 0);
            for (int j = 0; j < CHAIN; ++j) check_near(carom_sim_now(a).q[j], carom_sim_now(b).q[j], 1e-10);
            carom_sim_destroy(a);
            carom_sim_destroy(b);
        }
}

// f = -k q - c v
static carom_status linear_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    const double *k = model;
    (void)work, (void)t;
    f[0] = -k[0] * q[0] - k[1] * v[0];
    return CAROM_OK;
}
static double last_velocity(const char *scheme, int m, double k, double c, int steps) {
    const double par[2] = {k, c}, q0 = 0, v0 = 1;
    carom_system s = carom_system_default(1, 1, 0, 0);
    s.mass = unit_mass, s.force = linear_force, s.model = par;
    opts o;
    carom_sim *sim = sim_for(&s, scheme, with(&o, m, NULL), 1, steps, &q0, &v0);
    while (!carom_sim_done(sim)) sim_step(sim);
    const double v = carom_sim_now(sim).v[0];
    carom_sim_destroy(sim);
    return v;
}

// Positions are explicit in the accelerations of the last stage: h omega < 2 as for the leapfrog, 2 sqrt 2 for degree 2.
static void oscillators_have_a_stability_limit(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i)
        for (int m = 1; m <= 2; ++m) {
            const double limit = m == 1 ? 2 : sqrt(8);
            assert_true(fabs(last_velocity(both[i], m, pow(0.99 * limit, 2), 0, 400)) < 20);
            assert_true(fabs(last_velocity(both[i], m, pow(1.01 * limit, 2), 0, 400)) > 1e6);
        }
}

// Damping is implicit in D+, explicit in D- of degree 1: h c < 2.
static void plus_takes_any_damping(void **state) {
    (void)state;
    for (int m = 1; m <= 4; ++m) check_near(last_velocity("dg-plus", m, 0, 1e4, 10), 0, 1e-6);
    check_near(last_velocity("dg-minus", 1, 0, 1.9, 100), 0, 1e-3);
    assert_true(fabs(last_velocity("dg-minus", 1, 0, 2.1, 100)) > 1e3);
}

// The coupled stages of a ball at rest are a problem of four rows: too many for the solver `direct`, so the others help out.
static void coupled_stages_ask_the_solver_that_is_asked_for(void **state) {
    (void)state;
    static const char *const solvers[] = {"solver=auto", "solver=direct", "solver=gauss-seidel"};
    double end[3];
    for (int i = 0; i < 3; ++i) {
        known k;
        known_ball(&k, 1, -10, 0, 0);
        opts o;
        carom_sim *sim = sim_of(&k, "dg-plus", with(&o, 2, solvers[i]), 1e-2, 0.1);
        carom_error err;
        assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
        carom_ledger l;
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        assert_true(i == 1 ? l.counts.fallbacks >= 10 : l.counts.fallbacks == 0);
        end[i] = carom_sim_now(sim).v[0];
        carom_sim_destroy(sim);
    }
    check_near(end[1], end[0], 1e-12);
    check_near(end[2], end[0], 1e-12);
}

// Rounding of W'v, 16 eps sum |W_i v_i|, is all that is left where nothing moves along the contact normals: the terms of
// W'v do not scale the tolerance.  They are at most l1 150 + l2 75 m/s.
static void fast_links_do_not_loosen_slow_contacts(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 0, 0.1, 0, true);
    carom_sim *sim = sim_of(&k, "dg-plus", NULL, 1e-5, 0.1);
    carom_error err;
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_int_equal(l.rejected, 0);
    assert_true(l.counts.residual <= 16 * DBL_EPSILON * (0.153 * 150 + 0.306 * 75));
    carom_sim_destroy(sim);
}

// -- friction ------------------------------------------------------------------------------------------------------------

enum { LAST = 3 }; // a unit mass on the floor x_n = 0, n = 2 or 3 coordinates, on a spring and pressed by 10 + 5 sin 3t
static double pressed(double t) { return 10 + 5 * sin(3 * t); }
static carom_status puck_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    const int n = *(const int *)model;
    (void)work, (void)v;
    for (int i = 0; i < n - 1; ++i) f[i] = -4 * q[i] + i;
    f[n - 1] = -pressed(t);
    return CAROM_OK;
}
static carom_status puck_gap(const void *model, void *work, double t, const double *q, double *g) {
    (void)work, (void)t;
    g[0] = q[*(const int *)model - 1];
    return CAROM_OK;
}
static carom_status puck_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    const int n = *(const int *)model;
    (void)work, (void)t, (void)q;
    if (L->nb == 0) return CAROM_OK;
    L->W.a[n - 1] = 1;
    for (int i = 1; i < n; ++i) L->W.a[i * n + i - 1] = 1;
    return CAROM_OK;
}

// q'' = f - mu N q'/|q'| by the classical Runge-Kutta method with small steps: x = (q, q'), k coordinates
static void puck_rate(int k, double mu, double t, const double *x, double *rate) {
    const double speed = k == 1 ? fabs(x[1]) : hypot(x[2], x[3]);
    for (int i = 0; i < k; ++i) rate[i] = x[k + i], rate[k + i] = -4 * x[i] + i - mu * pressed(t) * x[k + i] / speed;
}
static void puck_exact(int k, double mu, double end, double *x) {
    enum { STEPS = 4000 };
    const double h = end / STEPS;
    for (int n = 0; n < STEPS; ++n) {
        double r[4][4], y[4];
        for (int j = 0; j < 4; ++j) {
            const double c = j == 0 ? 0 : j == 3 ? 1 : 0.5;
            for (int i = 0; i < 2 * k; ++i) y[i] = x[i] + (j ? c * h * r[j - 1][i] : 0);
            puck_rate(k, mu, n * h + c * h, y, r[j]);
        }
        for (int i = 0; i < 2 * k; ++i) x[i] += h / 6 * (r[0][i] + 2 * r[1][i] + 2 * r[2][i] + r[3][i]);
    }
}

// The direction of friction follows the path; orders are those of smooth motion, in the plane and in space.
static void sliding_has_order_2_4_4_6(void **state) {
    (void)state;
    const double mu = 0.3, end = 0.4, v0[2] = {6, 3};
    for (int n = 2; n <= LAST; ++n) {
        const carom_contact contact = {.restitution = 0.5, .friction = mu, .tangents = n - 1};
        carom_system s = carom_system_default(n, n, 0, 1);
        s.flags = CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS;
        s.model = &n, s.contacts = &contact, s.mass = unit_mass, s.force = puck_force, s.gaps = puck_gap, s.directions = puck_directions;
        double x[4] = {0}, q[3] = {0}, v[3] = {0};
        for (int i = 0; i < n - 1; ++i) x[n - 1 + i] = v[i] = v0[i];
        puck_exact(n - 1, mu, end, x);
        for (int i = 0; i < 2; ++i)
            for (int m = 1; m <= 4; ++m) {
                static const int steps[] = {40, 10, 10, 6};
                double error[2] = {0};
                opts o;
                for (int fine = 0; fine < 2; ++fine) {
                    carom_sim *sim = sim_for(&s, both[i], with(&o, m, NULL), end / (steps[m - 1] << fine), end, q, v);
                    sim_to(sim, end);
                    const carom_now now = carom_sim_now(sim);
                    for (int j = 0; j < n - 1; ++j)
                        error[fine] = fmax(error[fine], fmax(fabs(now.q[j] - x[j]), fabs(now.v[j] - x[n - 1 + j])));
                    check_near(carom_length(now.force + 1, n - 1), mu * now.force[0], 1e-11);
                    assert_int_equal(sim_ledger(sim).impacts, 0);
                    carom_sim_destroy(sim);
                }
                const double p = halved(error[0], error[1]);
                print_message("    puck, %d tangents, %s order=%d: %.2f (%.1e)\n", n - 1, both[i], m, p, error[1]);
                check_near(p, m % 2 ? m + 1 : m + 2, 0.35);
            }
    }
}

// A block thrown up a slope of 0.3 rad decelerates with g (sin + mu cos), stops and, with mu > tan, stays: half of v^2 is friction and height.
static void block_thrown_up_a_slope_stops_and_stays(void **state) {
    (void)state;
    const double angle = 0.3, mu = 0.5, v_0 = 1, a = 9.81 * (sin(angle) + mu * cos(angle));
    for (int i = 0; i < 2; ++i)
        for (int m = 1; m <= 3; ++m) {
            opts o;
            known k;
            known_slope(&k, 1, angle, mu);
            k.v0[0] = -v_0; // downhill is positive
            carom_sim *sim = sim_of(&k, both[i], with(&o, m, NULL), 1e-3, 0.5);
            double rest = NAN;
            while (!carom_sim_done(sim)) {
                sim_step(sim);
                const carom_now now = carom_sim_now(sim);
                if (now.t < v_0 / a - 1e-3) check_near(now.v[0], -v_0 + a * now.t, 1e-11);
                if (now.t < v_0 / a + 1e-3) continue;
                if (isnan(rest)) rest = now.q[0];
                check_near(now.v[0], 0, 1e-12);
                check_near(now.q[0], rest, 1e-13);
            }
            check_near(rest, -v_0 * v_0 / (2 * a), 1e-5); // a step ends after the stop: h^2 a
            const carom_ledger l = sim_ledger(sim);
            check_near(l.energy.friction, mu * 9.81 * cos(angle) * v_0 * v_0 / (2 * a), 1e-4);
            check_near(l.energy.balance, 0, 1e-4);
            carom_sim_destroy(sim);
        }
}

// -- order=auto, dense output -----------------------------------------------------------------------------------------------

static carom_status sun(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    const double r = hypot(q[0], q[1]);
    (void)model, (void)work, (void)t, (void)v;
    for (int i = 0; i < 2; ++i) f[i] = -q[i] / (r * r * r);
    return CAROM_OK;
}

// An ellipse of eccentricity 0.8 closes after 2 pi.  High degrees near the sun, low ones far away: the tolerance is kept to the factor of
// a hundred steps, with a mean degree far below the one that keeps it everywhere.
static void degree_follows_the_motion(void **state) {
    (void)state;
    carom_system s = carom_system_default(2, 2, 0, 0);
    s.flags = CAROM_CONSTANT_MASS, s.mass = unit_mass, s.force = sun;
    const double end = 2 * acos(-1.0), q[2] = {0.2, 0}, v[2] = {0, 3};
    for (int i = 0; i < 2; ++i) {
        double error[2];
        for (int fine = 0; fine < 2; ++fine) {
            const char *const options[] = {"order=auto", fine ? "order-tol=1e-8" : "order-tol=1e-5", NULL};
            carom_sim *sim = sim_for(&s, both[i], options, end / 126, end, q, v);
            sim_to(sim, end);
            const carom_now now = carom_sim_now(sim);
            error[fine] = hypot(now.q[0] - q[0], now.q[1] - q[1]);
            char text[200];
            carom_sim_choice(sim, text, sizeof text);
            double mean = NAN;
            assert_int_equal(sscanf(text, "mean degree %lf,", &mean), 1);
            print_message("    %s: error %.1e, %s\n", both[i], error[fine], text);
            assert_true(fine ? mean > 3 && mean < 5 : mean > 1.5 && mean < 3.5);
            carom_sim_destroy(sim);
        }
        assert_true(error[0] < 1e-5 * 1e3 && error[1] < 1e-8 * 1e3 && error[0] > 100 * error[1]);
    }
}

// Spring of frequency 1 and one of frequency 4, with nothing between them.
static carom_status two_springs(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)t, (void)v;
    f[0] = -q[0], f[1] = -16 * q[1];
    return CAROM_OK;
}

// What moves slowly is resolved as well as what moves fast, down to a millionth of it: the second oscillation, with 2e-6 of the speed of the first, has the degrees that it
// has alone, and each step keeps it to order-tol of its own speed.
static void small_motions_are_resolved(void **state) {
    (void)state;
    enum { STEPS = 40 };
    carom_system s = carom_system_default(2, 2, 0, 0);
    s.flags = CAROM_CONSTANT_MASS, s.mass = unit_mass, s.force = two_springs;
    const double tol = 1e-6, speed = 2e-6, h = 0.1;
    for (int i = 0; i < 2; ++i) {
        char text[2][200];
        for (int k = 0; k < 2; ++k) {
            carom_sim *sim = sim_for(&s, both[i], (const char *const[]){"order=auto", "order-tol=1e-6", NULL}, h, STEPS * h, (double[]){0, 0}, (double[]){k, speed});
            sim_to(sim, STEPS * h);
            check_near(carom_sim_now(sim).v[0], k * cos(STEPS * h), STEPS * tol);
            check_near(carom_sim_now(sim).v[1], speed * cos(4 * STEPS * h), STEPS * tol * speed);
            carom_sim_choice(sim, text[k], sizeof text[k]);
            carom_sim_destroy(sim);
        }
        assert_string_equal(text[0], text[1]);
    }
}

// 1 at the end of the step, next to nothing at the other points.
static carom_status spike(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)q, (void)v;
    f[0] = pow(t, 1000);
    return CAROM_OK;
}

// No polynomial follows a spike at the end of a step.  With degree m its coefficients are 1/m, the last one promised by those before: the errors of degrees 1, 2
// and 3 are as 1/2 (the mean counts half), 1/2 and 1/3.  Twice they have not halved, and the search ends with degree 3 after two attempts more than one.
static void no_degree_follows_a_spike(void **state) {
    (void)state;
    carom_system s = carom_system_default(1, 1, 0, 0);
    s.flags = CAROM_CONSTANT_MASS, s.mass = unit_mass, s.force = spike;
    const double q = 0, v = 1;
    for (int i = 0; i < 2; ++i) {
        carom_sim *sim = sim_for(&s, both[i], (const char *const[]){"order=auto", "order-tol=1e-6", NULL}, 1, 1, &q, &v);
        sim_to(sim, 1);
        char text[200];
        carom_sim_choice(sim, text, sizeof text);
        if (strncmp(text, "mean degree 3.00, 2 attempts repeated", 37) != 0) fail_msg("%s: %s", both[i], text);
        carom_sim_destroy(sim);
    }
}

typedef struct inside {
    double h, e_v, e_q;
    long n;
} inside;
static carom_status see_inside(void *user, double t, const double *q, const double *v) {
    inside *x = user;
    x->e_v += x->h / 64 * fabs(v[0] + 10.0 / 3 * t * t * t);
    x->e_q = fmax(x->e_q, fabs(q[0] - 1 + 5.0 / 6 * t * t * t * t));
    x->n += 1;
    return CAROM_OK;
}

// Problem 4.2 between step ends: the line through the exact t^3 has the error h^2/2 int |10 x^2 - 5/3| dx..., a cubic none.
static void dense_output_has_the_known_errors(void **state) {
    (void)state;
    const carom_system s = point();
    for (int i = 0; i < 2; ++i)
        for (int m = 1; m <= 3; m += 2) {
            opts o;
            inside x = {.h = 1e-3};
            carom_sim *sim = sim_for(&s, both[i], with(&o, m, NULL), x.h, 1, (double[]){1}, (double[]){0});
            assert_true(carom_sim_watch_dense(sim, 64, see_inside, &x));
            sim_to(sim, 1);
            assert_int_equal(x.n, 64000);
            check_near(x.e_v, m == 1 ? 1.287e-6 : 0, m == 1 ? 4e-9 : 1e-13);
            check_near(x.e_q, 0, m == 1 ? 1e-6 : 1e-13);
            carom_sim_destroy(sim);
        }
    carom_sim *other = sim_for(&s, "half-explicit", NULL, 0.1, 1, (double[]){1}, (double[]){0});
    assert_false(carom_sim_watch_dense(other, 8, see_inside, NULL));
    carom_sim_destroy(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliding_has_order_2_4_4_6),
        cmocka_unit_test(block_thrown_up_a_slope_stops_and_stays),
        cmocka_unit_test(degree_follows_the_motion),
        cmocka_unit_test(small_motions_are_resolved),
        cmocka_unit_test(no_degree_follows_a_spike),
        cmocka_unit_test(dense_output_has_the_known_errors),
        cmocka_unit_test(smooth_motion_has_order_2_4_4_6),
        cmocka_unit_test(mechanism_in_flight_has_order_2_4_4_6),
        cmocka_unit_test(lasting_contact_on_a_circle_has_order_2_4_4_6),
        cmocka_unit_test(bilateral_constraint_has_order_2_4_4_6),
        cmocka_unit_test(interaction_under_load_has_order_2_4_4_6),
        cmocka_unit_test(free_flight_has_the_known_errors),
        cmocka_unit_test(rest_phase_rests_and_its_interaction_has_order_2),
        cmocka_unit_test(impacts_and_their_accumulation_are_passed_with_order_1),
        cmocka_unit_test(degree_1_minus_is_the_forecasting_trapezoidal_rule),
        cmocka_unit_test(degree_1_plus_is_the_contemplating_trapezoidal_rule),
        cmocka_unit_test(degree_0_is_moreau_jean_bit_for_bit),
        cmocka_unit_test(ball_comes_to_rest_at_every_step_size),
        cmocka_unit_test(bounces_are_impulses_and_rest_is_force),
        cmocka_unit_test(start_on_the_floor_with_approach_bounces),
        cmocka_unit_test(lasting_contact_is_held_by_force_alone),
        cmocka_unit_test(moving_floor_carries_what_lies_on_it),
        cmocka_unit_test(rocking_block_comes_to_rest),
        cmocka_unit_test(slider_crank_endures),
        cmocka_unit_test(dependent_contacts_with_friction),
        cmocka_unit_test(four_dependent_contacts_act_as_a_joint),
        cmocka_unit_test(opposing_contacts_without_solution_stop),
        cmocka_unit_test(banded_storage_gives_the_dense_answer),
        cmocka_unit_test(oscillators_have_a_stability_limit),
        cmocka_unit_test(plus_takes_any_damping),
        cmocka_unit_test(coupled_stages_ask_the_solver_that_is_asked_for),
        cmocka_unit_test(fast_links_do_not_loosen_slow_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

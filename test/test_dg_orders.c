// test_dg_orders.c: the discontinuous Galerkin schemes: orders in flight, contact, sliding and rest; the problems of
// the paper; the trapezoidal rules and degree 0.
//
// Problems 4.2 to 4.4 are those of Schindler and Acary: a unit mass over the floor q >= 0.
#include "dg_rig.h"

// -- orders -----------------------------------------------------------------------------------------------------------

static carom_status driven_pendulum(const void *model, void *work, double t, const double *q, const double *v,
                                    double *f) {
    (void)model, (void)work;
    f[0] = -sin(q[0]) - 0.1 * v[0] + 0.3 * cos(2 * t);
    return CAROM_OK;
}

// Orders of q and v at t_end for m = 1..4 against degree 6; expected 2, 4, 4, 6.  n[m - 1]: steps of the coarser run.
static void check_orders(const char *what, const carom_system *sys, const double *q0, const double *v0, double t_end,
                         const int *n, int n_ref) {
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
            print_message("    %s %s order=%d: q %.2f (%.1e), v %.2f (%.1e)\n", what, both[i], m, p_q, e_q[1], p_v,
                          e_v[1]);
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

// Two masses on each other: the upper is pressed down by 10 e^t (1.2 + sin 5t), the lower has a spring, so that what
// the contact transmits is seen in the motion of the lower one.
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
        s.model = &n, s.contacts = &contact, s.mass = unit_mass, s.force = puck_force, s.gaps = puck_gap,
        s.directions = puck_directions;
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

// -- the paper's problems ---------------------------------------------------------------------------------------------

static carom_status floor_direction(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t, (void)q;
    for (int k = 0; k < L->nb; ++k) L->W.a[k] = 1;
    return CAROM_OK;
}

// Problems 4.2 and 4.3: f = -10 t^2.
static carom_system point(void) {
    carom_system s = carom_system_default(1, 1, 0, 1);
    s.flags = CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS;
    s.contacts = &half, s.mass = unit_mass, s.force = square_load, s.gaps = floor_gap, s.directions = floor_direction;
    return s;
}

// L1 norms over a step of the errors of q^h = q + h tau v_a + (h tau)^2/2 a and v^h = v_a + h tau a against 4.2.  The
// error of v changes sign inside the step, so the rule is a simple one with many points.
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
    // L1 errors of the dense output at h = 1e-3.  Positions: measured with a prototype.  Velocities: to leading order
    // the error is (10 z^2 - 5/3 h^2) t at z = tau h, so that its norm is h^2/2 int |10 x^2 - 5/3| dx = 1.28695 h^2.
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
            // v_0 = v, v_1 = v + h a_0
            if (i == 0) flight_errors(t, h, q, v, a_0, &e_q, &e_v);
            else flight_errors(t, h, q, v + h / 2 * (a_0 - a_1), a_1, &e_q, &e_v); // v_1 - v_0 = h a_1
            check_near(carom_sim_now(sim).force[0] + carom_sim_now(sim).impulse[0], 0, 0);
        }
        print_message("    4.2 %s: L1 errors q %.4g, v %.4g\n", both[i], e_q, e_v);
        check_near(e_q / known_q[i], 1, 1e-3);
        check_near(e_v / known_v[i], 1, 3e-3); // the next term is O(h)
        carom_sim_destroy(sim);
        for (int m = 2; m <= 4; ++m) { // f is quadratic: Clenshaw-Curtis integrates it and, for m > 2, its second
                                       // integral
            sim = sim_for(&s, both[i], with(&o, m, NULL), 0.01, 1, &q0, &v0);
            sim_to(sim, 1);
            check_near(carom_sim_now(sim).v[0], -10.0 / 3, 1e-14);
            check_near(carom_sim_now(sim).q[0], 1 - 5.0 / 6, m == 2 ? 1e-9 : 1e-14);
            carom_sim_destroy(sim);
        }
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

// Problem 4.2 between step ends: the line through the exact t^3 has the error h^2/2 int |10 x^2 - 5/3| dx..., a cubic
// none.
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

// -- degree 1 and degree 0 --------------------------------------------------------------------------------------------

// The forecasting trapezoidal rule for the ball: (q, v) to the end of the step.  True: the contact was closed all the
// time and approaches, where rest=settle differs.
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
            if (paper) check_near(v, 2 * h / 3, 1e-4 * h); // as printed, the ball never rests: it bounces with 2/3 |f|
                                                           // h/2 ...
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliding_has_order_2_4_4_6),
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

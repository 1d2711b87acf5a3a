// conformance_order.c: every scheme in the table shows the order that it declares, on smooth motion, with joints and
// across impacts.
#include "base/option.h"
#include "schemes.h"

static int declared_order(const carom_scheme *s) {
    if (!s->order_of) return s->order;
    double opt[16];
    assert_true(carom_option_count(s->options) <= 16);
    carom_option_defaults(s->options, opt);
    return s->order_of(opt);
}

// x' of the double pendulum: M is 2 x 2.
static void double_pendulum_rate(const known *k, double t, const double *x, double *dx) {
    double a[4] = {0}, f[2] = {0};
    const carom_matrix M = {{CAROM_DENSE, 2, 0, NULL}, a};
    k->sys.mass(k, NULL, t, x, M);
    k->sys.force(k, NULL, t, x, x + 2, f);
    const double det = a[0] * a[3] - a[1] * a[2];
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = (a[3] * f[0] - a[2] * f[1]) / det;
    dx[3] = (a[0] * f[1] - a[1] * f[0]) / det;
}

// Pendulum of one coordinate: 1.1 angle'' = -10 cos(angle).
static void pendulum_rate(const known *k, double t, const double *x, double *dx) {
    (void)k, (void)t;
    dx[0] = x[1];
    dx[1] = -10 * cos(x[0]) / 1.1;
}

// The classic Runge-Kutta method of order 4.
static void runge_kutta(const known *k, void (*rate)(const known *, double, const double *, double *), double *x, int n,
                        double t_end, int steps) {
    const double h = t_end / steps;
    for (int i = 0; i < steps; ++i) {
        double r[4][4], y[4];
        static const double c[4] = {0, 0.5, 0.5, 1}, w[4] = {1, 2, 2, 1};
        for (int j = 0; j < 4; ++j) {
            for (int m = 0; m < n; ++m) y[m] = x[m] + (j > 0 ? c[j] * h * r[j - 1][m] : 0);
            rate(k, (i + c[j]) * h, y, r[j]);
        }
        for (int j = 0; j < 4; ++j)
            for (int m = 0; m < n; ++m) x[m] += h / 6 * w[j] * r[j][m];
    }
}

// A scheme that controls its own error keeps it whatever h is: a hundred times the tolerance of a step, because errors
// of some tens of steps add up and these motions amplify them.
static double allowed_error(const carom_scheme *s) {
    const int i = carom_option_find(s->options, "rtol", 4);
    assert_true(i >= 0);
    return 100 * s->options[i].fallback;
}

static bool keeps_its_error(const carom_scheme *s, const double *error, int n) {
    if (!s->controls_own_steps) return false;
    for (int i = 0; i < n; ++i) scheme_near(s->name, error[i], 0, allowed_error(s));
    return true;
}

static void smooth_motion_has_the_declared_order(void **state) {
    (void)state;
    known k;
    known_double_pendulum(&k);
    // 4000 steps of order 4: an error of about 1e-12, far below every error compared with it
    double x[4] = {k.q0[0], k.q0[1], k.v0[0], k.v0[1]};
    runge_kutta(&k, double_pendulum_rate, x, 4, 1, 4000);
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        enum { SIZES = 6 };
        double h[SIZES], error[SIZES];
        for (int i = 0; i < SIZES; ++i) {
            const int n = (declared_order(s) > 3 ? 10 : 100) << i; // high orders meet rounding early
            h[i] = 1.0 / n;
            carom_sim *sim = sim_of(&k, s->name, NULL, h[i], 1);
            sim_to(sim, 1);
            const carom_now now = carom_sim_now(sim);
            error[i] = 0;
            for (int j = 0; j < 2; ++j)
                error[i] = fmax(error[i], fmax(fabs(now.q[j] - x[j]), fabs(now.v[j] - x[2 + j])));
            carom_sim_destroy(sim);
        }
        const double order = slope(h, error, SIZES);
        print_message("    %s: declared %d, measured %.2f (error %.1e)\n", s->name, declared_order(s), order,
                      error[SIZES - 1]);
        scheme_true(s->name, keeps_its_error(s, error, SIZES) || order >= declared_order(s) - 0.15);
    }
}

static int at_least_one(int order) { return order > 1 ? order : 1; }

// Errors show the order, as far as they stand out of rounding.
static bool shows(int order, const double *h, const double *error, int n, double rounding) {
    while (n > 0 && error[n - 1] < rounding) --n;
    return n < 3 || slope(h, error, n) >= order - 0.15;
}

static void motion_with_joints_has_its_order(void **state) {
    (void)state;
    known k;
    known_pendulum_free(&k);
    double x[2] = {k.q0[2], 0};
    runge_kutta(&k, pendulum_rate, x, 2, 0.4, 4000);
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_BILATERAL)) continue;
        enum { SIZES = 6 };
        double h[SIZES], error[SIZES];
        for (int i = 0; i < SIZES; ++i) {
            h[i] = 0.4 / (50 << i);
            carom_sim *sim = sim_of(&k, s->name, NULL, h[i], 0.4);
            sim_to(sim, 0.4);
            const carom_now now = carom_sim_now(sim);
            error[i] = fmax(fabs(now.q[2] - x[0]), fabs(now.v[2] - x[1]));
            carom_sim_destroy(sim);
        }
        const double order = slope(h, error, SIZES);
        print_message("    %s: measured %.2f (error %.1e)\n", s->name, order, error[SIZES - 1]);
        scheme_true(s->name, keeps_its_error(s, error, SIZES) ||
                                 shows(at_least_one(s->promises.joint_order), h, error, SIZES, 1e-11));
    }
}

// Mean of |q - exact| over step ends; step sizes have no common measure with the impact times.
static double mean_error(const known *k, const char *scheme, double T, int n, double (*exact)(double t)) {
    carom_sim *sim = sim_of(k, scheme, NULL, T / n, T);
    double sum = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        sum += fabs(now.q[0] - exact(now.t)) / n;
    }
    carom_sim_destroy(sim);
    return sum;
}

static double ball_exact(double t) { return known_ball_a_exact(t, NULL); }
static double oscillator_exact(double t) { return known_oscillator_exact(t, 0.5, NULL); }

// Where in its step an impact falls decides much of the error: every size stands for the mean of several close ones.
static double mean_over_phases(const known *k, const char *scheme, double T, int n, double (*exact)(double t)) {
    enum { PHASES = 7 };
    double sum = 0;
    for (int i = 0; i < PHASES; ++i) sum += mean_error(k, scheme, T, n + i * (n / 50) + i % 2, exact) / PHASES;
    return sum;
}

static void impacts_are_passed_with_the_declared_order(void **state) {
    (void)state;
    enum { SIZES = 10 };
    known ball, oscillator;
    known_ball_a(&ball);
    known_oscillator(&oscillator, 0.5);
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (skipped(s, CAROM_NO_IMPACTS)) continue;
        double h[SIZES], e_ball[SIZES], e_osc[SIZES];
        for (int i = 0; i < SIZES; ++i) {
            const int n = (int)(211 * pow(1.37, i));
            h[i] = 1.0 / n;
            e_ball[i] = mean_over_phases(&ball, s->name, 4, n, ball_exact);
            e_osc[i] = mean_over_phases(&oscillator, s->name, 10, 2 * n + 1, oscillator_exact);
        }
        const double order_ball = slope(h, e_ball, SIZES), order_osc = slope(h, e_osc, SIZES);
        print_message("    %s: ball %.2f (%.1e), oscillator %.2f (%.1e)\n", s->name, order_ball, e_ball[SIZES - 1],
                      order_osc, e_osc[SIZES - 1]);
        const int declared = at_least_one(s->promises.impact_order);
        scheme_true(s->name, keeps_its_error(s, e_ball, SIZES) || shows(declared, h, e_ball, SIZES, 1e-12));
        scheme_true(s->name, keeps_its_error(s, e_osc, SIZES) || shows(declared, h, e_osc, SIZES, 1e-12));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_motion_has_the_declared_order),
        cmocka_unit_test(motion_with_joints_has_its_order),
        cmocka_unit_test(impacts_are_passed_with_the_declared_order),
    };
    return cmocka_run_group_tests_name("schemes: orders", tests, NULL, NULL);
}

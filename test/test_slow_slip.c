// test_slow_slip.c: slip along two tangents that begins, turns and stops: friction turns a slow slip at the rate mu
// lambda_N/|u|, faster than steps are long.  Schemes with a tolerance keep it all the same.
#include "model_text.h"
#include "schemes.h"

static const double WEIGHT = 9.81, MU = 0.3, MULTIPLE = 10; // MULTIPLE: errors at the end over rtol, as
                                                            // docs/methods-auto.md promises

// One foot, and four that share the load; the feet move alike, so that friction is that of one with the whole load.
static const char *const feet[] = {
    "carom: 1\nparameters: {m: %g}\ncoordinates: {x: 0, z: {at: 0, rate: %g}, y: 0}\nenergy: {kinetic: 1/2*(m*x'^2 + "
    "y'^2 + z'^2), potential: 9.81*y}\nforces: {x: '%s', z: '%s'}\n"
    "contacts: {p: {gap: y, slip: [x, z], friction: 0.3}}\n",
    "carom: 1\nparameters: {m: %g}\ncoordinates: {x: 0, z: {at: 0, rate: %g}, y: 0, a: 0, b: 0, k: 0}\nenergy: "
    "{kinetic: 1/2*((m - 0.01)*x'^2 + y'^2 + z'^2 + 0.1*a'^2 + 0.2*b'^2 + k'^2), potential: 9.81*y}\n"
    "forces: {x: '%s', z: '%s', a: 0.2, b: 0.1*t}\nconstraints: {rail: k - 0.1*x}\ncontact defaults: {friction: 0.3}\n"
    "contacts: {p: {gap: y + a + b, slip: [x, z]}, q: {gap: y + a - b, slip: [x, z]}, r: {gap: y - a + b, slip: [x, "
    "z]}, s: {gap: y - a - b, slip: [x, z]}}\n"};

static carom_model *table(int i, double mass, double rate, const char *x, const char *z) {
    char text[900];
    snprintf(text, sizeof text, feet[i], mass, rate, x, z);
    return good(text);
}

static carom_sim *start(const carom_model *m, const char *scheme, const char *rtol, double h, double end) {
    const char *const by_auto[] = {rtol, NULL}, *const by_parts[] = {rtol, "adaptive=on", "atol=1e-10", NULL};
    carom_error err = {0};
    const carom_sim_def d = sim_def(m, scheme, strcmp(scheme, "auto") == 0 ? by_auto : by_parts, h, end);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    return sim;
}

// -- the answer by integration ----------------------------------------------------------------------------------------

static double force_x(double t) { return 60 * t - 300 * fmax(0, t - 0.07); }
static double force_z(double t) { return 2 * sin(30 * t); }
static double left(double t) { return hypot(force_x(t), force_z(t)) - MU * WEIGHT; } // what forces exceed friction by
static const double MASS[2] = {1.01, 1};

static void rates(double t, const double *u, double *a) {
    const double size = hypot(u[0], u[1]);
    a[0] = (force_x(t) - MU * WEIGHT * u[0] / size) / MASS[0],
    a[1] = (force_z(t) - MU * WEIGHT * u[1] / size) / MASS[1];
}

// Runge and Kutta's step of order 4.
static void step(double t, double h, double *u) {
    double k[4][2], w[2];
    rates(t, u, k[0]);
    for (int i = 1; i < 4; ++i) {
        const double c = i < 3 ? 0.5 : 1;
        for (int j = 0; j < 2; ++j) w[j] = u[j] + c * h * k[i - 1][j];
        rates(t + c * h, w, k[i]);
    }
    for (int j = 0; j < 2; ++j) u[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
}

// From rest at t: along the forces once they exceed friction, E after that with the velocity left' E^2/2, which the
// direction of slip forgets within |u|/(mu W) = E^2.
static double leave(double t, double *u) {
    static const double E = 1e-6, STEP = 1e-4;
    while (left(t + STEP) < 0) t += STEP;
    double a = t, b = t + STEP;
    for (int i = 0; i < 60; ++i) *(left(0.5 * (a + b)) < 0 ? &a : &b) = 0.5 * (a + b);
    const double size = hypot(force_x(b), force_z(b)), speed = 0.5 * E * left(b + E);
    u[0] = speed * force_x(b) / size, u[1] = speed * force_z(b) / size;
    return b + E;
}

// Velocities at `end`.  Steps of 1/100 of the time in which friction would stop the slip: the error of order 4 is below
// 1e-10.
static void integrate(double end, double *u) {
    static const double REST = 1e-9, LONGEST = 1e-5, KINK = 0.07;
    double t = 0;
    u[0] = 0, u[1] = 0.02;
    while (t < end) {
        const double size = hypot(u[0], u[1]), next = t < KINK ? KINK : end,
                     h = fmin(fmin(LONGEST, 0.01 * size / (MU * WEIGHT)), next - t);
        if (size < REST && left(t) < 0) t = leave(t, u);
        else step(t, h, u), t = h == next - t ? next : t + h;
    }
}

// -- the tests --------------------------------------------------------------------------------------------------------

static const char *const tolerances[] = {"rtol=1e-5", "rtol=1e-7", "rtol=1e-9"};
static const double records[] = {0.16, 4e-3, 1e-3};

static void slips_that_begin_turn_and_stop(const char *scheme, int finest) {
    static const double END = 0.16;
    double u[2];
    integrate(END, u);
    const double size = hypot(u[0], u[1]);
    for (int i = 0; i < 3 * finest; ++i)
        for (int k = 0; k < 2; ++k) {
            if ((i + k) % 2 != 0) continue; // each tolerance and each record with one of both
            carom_model *m = table(k, MASS[0], 0.02, "60*t - 300*max(0, t - 0.07)", "2*sin(30*t)");
            carom_sim *sim = start(m, scheme, tolerances[i / 3], records[i % 3], END);
            while (!carom_sim_done(sim)) sim_step(sim);
            const double *v = carom_sim_now(sim).v, rtol = atof(tolerances[i / 3] + 5),
                         off = hypot(v[0] - u[0], v[1] - u[1]);
            if (!(off <= MULTIPLE * rtol * size))
                fail_msg("%s, %s, records every %g, %s: %g off, of %g", scheme, tolerances[i / 3], records[i % 3],
                         k ? "four feet" : "one foot", off, size);
            carom_sim_destroy(sim);
            carom_model_destroy(m);
        }
}

static void auto_keeps_its_tolerance(void **state) { (void)state, slips_that_begin_turn_and_stop("auto", 3); }
static void splitting_keeps_its_tolerance(void **state) { (void)state, slips_that_begin_turn_and_stop("splitting", 2); }

// Mass 1, friction R = mu W, a constant force F < R along x; thrown across it with u_0.  u' = F - R u/|u|:  (R |u| + F
// u_x)' = R (F u_x/|u| - R) + F (F - R u_x/|u|) = F^2 - R^2, a constant.  So it stops at R u_0/(R^2 - F^2), and until
// then the direction turns towards the force ever faster.
static void a_slip_across_a_force_stops_in_time(void **state) {
    (void)state;
    const double R = MU * WEIGHT, F = 0.5 * R, speed = 0.3, stop = R * speed / (R * R - F * F);
    char force[40];
    snprintf(force, sizeof force, "%.17g", F);
    assert_true(stop < 0.16);
    for (int j = 0; j < 18; ++j) {
        const int i = j / 2, k = j % 2;
        const double rtol = atof(tolerances[i / 3] + 5);
        carom_model *m = table(k, 1, speed, force, "0");
        carom_sim *sim = start(m, "auto", tolerances[i / 3], records[i % 3], 0.16);
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            check_near(R * hypot(now.v[0], now.v[1]) + F * now.v[0], fmax(0, (R * R - F * F) * (stop - now.t)),
                       MULTIPLE * rtol * R * speed);
        }
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(auto_keeps_its_tolerance),
        cmocka_unit_test(splitting_keeps_its_tolerance),
        cmocka_unit_test(a_slip_across_a_force_stops_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_works.c: friction, external and damping work against closed forms, where the motion does not show them.
#include "model_text.h"
#include <carom/event.h>

// A scheme with its tolerance.  Works are held to rtol of their magnitude in some sixteen steps; of constant steps
// `allowed` is the error of the order.
typedef struct run_of {
    const char *scheme, *options[4];
    double step;    // the interval between records; constant steps: the step
    double allowed; // of the magnitude of a work
} run_of;

static const run_of runs[] = {
    {"auto", {NULL}, 1e-3, 2e-6}, // 16 times 1e-7
    {"auto", {NULL}, 0.1, 2e-6},
    {"auto", {"rtol=1e-10", NULL}, 0.1, 2e-9},
    {"auto", {"rtol=1e-4", NULL}, 0.5, 2e-3},
    {"event-driven", {NULL}, 0.1, 1e-9},
    {"mixed", {NULL}, 1e-3, 1e-7}, // (w h)^4/120 = 1e-8
    {"mixed", {"rk=radau", "order=5", NULL}, 1e-3, 1e-7},
    {"splitting", {"adaptive=on", "rtol=1e-7", "atol=1e-9", NULL}, 0.1, 2e-6},
    {"splitting", {NULL}, 1e-3, 1e-7},
    {"moreau-jean", {"adaptive=on", "rtol=1e-5", NULL}, 1e-3, 2e-4},
    {"moreau-midpoint", {"adaptive=on", "rtol=1e-5", NULL}, 1e-3, 2e-4},
    {"half-explicit-rk", {"adaptive=on", "rtol=1e-6", NULL}, 1e-3, 2e-5},
};
enum { RUNS = sizeof runs / sizeof *runs };

typedef struct expected { double friction, external, damping; } expected;

static void near(const run_of *r, const char *what, double value, double exact, double size, double factor) {
    if (!(fabs(value - exact) <= factor * r->allowed * size))
        fail_msg("%s %s, %g: %s is %.12g instead of %.12g, off by %.2g of %.3g", r->scheme,
                 r->options[0] ? r->options[0] : "", r->step, what, value, exact, (value - exact) / size, size);
}

static carom_ledger ledger_of(const char *text, const run_of *r, double end) {
    carom_error err = {0};
    carom_ledger l;
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, r->scheme, r->options, r->step, end);
    model_sim_run(sim);
    if (carom_sim_ledger(sim, &l, &err) != CAROM_OK) fail_msg("%s: %s", r->scheme, err.text);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return l;
}

static void check(const char *text, double end, expected x, double size, double factor) {
    for (int i = 0; i < RUNS; ++i) {
        const carom_ledger l = ledger_of(text, &runs[i], end);
        near(&runs[i], "friction", l.energy.friction, x.friction, size, factor);
        near(&runs[i], "external", l.energy.external, x.external, size, factor);
        near(&runs[i], "damping", l.energy.damping, x.damping, size, factor);
    }
}

// Lengths and masses in other units.
static const double units[][2] = {{1, 1}, {1e-6, 1e-12}, {1e6, 1e6}};
enum { UNITS = sizeof units / sizeof *units };

// A block slides down a slope that shakes along itself, always faster than the slope: s' = A w + a t, a = g (sin al -
// mu cos al).
static void friction_on_a_shaken_surface(void **state) {
    (void)state;
    for (int k = 0; k < UNITS; ++k) {
        const double L = units[k][0], m = units[k][1], al = 0.4, mu = 0.4, g = 9.81, A = 0.02, w = 40,
                     a = g * (sin(al) - mu * cos(al)), E = m * L * L, T = 1;
        const double slip = A * w * T + 0.5 * a * T * T - A * sin(w * T), N = g * cos(al);
        // the slope pushes with mu N: its power is mu N A w cos(w t), here by slip rate
        const expected x = {.friction = E * mu * N * slip, .external = -E * mu * N * A * sin(w * T)};
        char text[700];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {al: 0.4, mu: 0.4, A: %.17g, w: 40, g: %.17g, m: %.17g}\ncoordinates: {s: {at: "
                 "0, rate: A*w}, n: 0}\n"
                 "energy: {kinetic: 1/2*m*(s'^2 + n'^2), potential: m*g*(n*cos(al) - s*sin(al))}\ncontacts: {c: {gap: "
                 "n, slip: s - A*sin(w*t), friction: mu}}\n",
                 A * L, g * L, m);
        if (k == 0) check(text, T, x, x.friction, 1);
        for (int i = 0; i < 3 && k > 0; ++i) { // atol of the others is absolute
            const carom_ledger l = ledger_of(text, &runs[i], T);
            near(&runs[i], "friction", l.energy.friction, x.friction, x.friction, 1);
            near(&runs[i], "external", l.energy.external, x.external, x.friction, 1);
        }
    }
}

// A block rests in a spring on a belt that moves with V (1 + a cos(w t)): mu m g V (t + a/w sin(w t)).
static const char belt[] =
    "carom: 1\nparameters: {mu: 0.3, V: 1.5, a: 0.8, w: 35, k: 20, g: 9.81}\ncoordinates: {x: mu*g/k, n: 0}\n"
    "energy: {kinetic: 1/2*(x'^2 + n'^2), potential: g*n + 1/2*k*x^2}\ncontacts: {c: {gap: n, slip: x - V*t - "
    "V*a/w*sin(w*t), friction: mu}}\n";
static const char conveyor[] = "carom: 1\ngravity: [0, -9.81]\nparameters: {mu: 0.3, V: 1.5, a: 0.8, w: 35, k: "
                               "20}\nshapes: {floor: {plane: [0, 1], surface velocity: [V*(1 + a*cos(w*t)), 0]}}\n"
                               "bodies: {b: {mass: 1, inertia: 0.01, at: [mu*9.81/k, 0.1], shape: {box: [0.3, "
                               "0.2]}}}\nconstraints: {turn: b.angle}\nforces: {b.x: -k*b.x}\n"
                               "contacts: {c: {between: [b, floor], friction: mu}}\n";
static void a_belt(void **state) {
    (void)state;
    const double W = 0.3 * 9.81 * 1.5 * (1 + 0.8 / 35 * sin(35));
    check(belt, 1, (expected){.friction = W, .external = W}, W, 1);
    check(conveyor, 1, (expected){.friction = W, .external = W}, W, 1);
}

// A rod turned by phi = A sin(w t) against c phi': c A^2 w^2/2 (t + sin(2 w t)/(2 w)) is damped, and the drive gives
// that and the kinetic energy.  The work of the drive goes to and fro by J A^2 w^2/2 in each quarter of a turn; schemes
// of time-stepping have reactions of joints of first order.
static void a_driven_joint(void **state) {
    (void)state;
    const double A = 0.3, w = 25, c = 0.7, J = 0.2, t = 1, D = c * A * A * w * w / 2 * (t + sin(2 * w * t) / (2 * w)),
                 K = 0.5 * J * A * A * w * w, all = D + 4 * K * w * t / acos(-1);
    const char text[] = "carom: 1\nparameters: {A: 0.3, w: 25, c: 0.7, J: 0.2}\nbodies: {rod: {mass: 1, inertia: J, "
                        "at: [0, 0], spin: A*w}}\n"
                        "joints: {hinge: {type: revolute, between: [ground, rod], at: [0, 0], motion: "
                        "A*sin(w*t)}}\nforces: {rod.wz: -c*rod.wz}\n";
    for (int i = 0; i < RUNS; ++i) {
        // its drives have drift that adaptive steps follow
        if (strcmp(runs[i].scheme, "moreau-midpoint") == 0) continue;
        const carom_ledger l = ledger_of(text, &runs[i], t);
        near(&runs[i], "external", l.energy.external, D + K * (cos(w * t) * cos(w * t) - 1), all, 1);
        near(&runs[i], "damping", l.energy.damping, D, all, 1);
    }
}

// A carriage that a constraint moves with x = t against a drag that varies: c (t + b/w sin(w t)).
static void a_damper_that_varies(void **state) {
    (void)state;
    const double W = 2 * (1 + 0.9 * sin(30) / 30);
    check("carom: 1\nparameters: {w: 30, c: 2}\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: "
          "1/2*x'^2}\nconstraints: {drive: x - t}\nforces: {x: -c*x'*(1 + 0.9*cos(w*t))}\n",
          1, (expected){.external = W, .damping = W}, W, 1);
}

// v = v_0 exp(-c t): the motion itself has an error of first order in the tolerance, and the work with it.
static void a_damper(void **state) {
    (void)state;
    check("carom: 1\ncoordinates: {x: {at: 0, rate: 2}}\nenergy: {kinetic: 1/2*x'^2}\nforces: {x: -3*x'}\n", 1,
          (expected){.damping = 2 * (1 - exp(-6))}, 2, 10);
}

// A cart of mass 2 under a controller that holds its force between samples: x_1 = x + T v + T^2/4 u, v_1 = v + T/2 u,
// and u (x_1 - x) are given.
static void a_sampled_controller(void **state) {
    (void)state;
    const double T = 0.05;
    double x = 0, v = 0, W = 0;
    for (int k = 0; k < 20; ++k) {
        const double u = 8 * (1 - x) - 4 * v, x_1 = x + T * v + 0.25 * T * T * u;
        W += u * (x_1 - x);
        x = x_1, v += 0.5 * T * u;
    }
    const char text[] = "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2}\ncontrollers: {pd: {sample: 0.05, "
                        "outputs: {u: 8*(1 - x) - 4*x'}}}\nforces: {x: u}\n";
    check(text, 1, (expected){.external = W}, W, 1);
    for (int n = 1; n <= 50; n *= 5) { // the work is that of its own motion, to second order in the step
        const double h = T / n;
        const run_of r = {"schatzman-paoli", {NULL}, h, 0};
        const carom_ledger l = ledger_of(text, &r, 1);
        if (!(fabs(l.energy.balance) <= 2 * h * h * 8))
            fail_msg("schatzman-paoli, %g: balance %g", h, l.energy.balance);
    }
}

// A spring of 1e4 N/m on expressions across a spherical joint, 14 kN radially: it does no work.  At q_1 the velocity of
// ggl-projection is off the tangent by h omega/2, a power of F v h omega/2 that is none (GP-10): 1322 J in 10 s.  Of
// second order in h omega = 0.044: the trapezoidal rule leaves (h omega)^2/12 of what F does over the way of a swing.
static void a_force_across_a_joint(void **state) {
    (void)state;
    static const char text[] = "carom: 1\nbodies: {b: {mass: 1, inertia: [0.1, 1, 1], at: [1, 0, -1]}}\n"
                               "gravity: [0, 0, -9.81]\njoints: {k: {type: spherical, between: [ground, b], "
                               "at: [0, 0, 0]}}\nforces: {b.x: -1e4*b.x, b.z: -1e4*b.z}\n";
    const carom_ledger rough = ledger_of(text, &(run_of){.scheme = "ggl-projection", .step = 1e-2}, 2),
                       fine = ledger_of(text, &(run_of){.scheme = "ggl-projection", .step = 1e-3}, 2);
    const double turn = 1e-2 * 4.4, most = turn * turn / 12 * 1.4e4 * 2;
    if (!(fabs(rough.energy.external) < most)) fail_msg("external work %g", rough.energy.external);
    if (!(fabs(fine.energy.external) < 0.02 * most)) fail_msg("external work %g", fine.energy.external);
}

// A carriage that is driven with x = t against F x'/(1 + ((t - c)/w)^2), a pulse in time, or in x:
// F w (atan((1 - c)/w) + atan(c/w)).  Adaptive runs know it to their tolerance of the kinetic energy.  Constant steps
// are cut where the pulse is above 1/32 of its height, so its tails, atan(1/sqrt(31))/(pi/2) = 11 % of the work, are
// left to few steps of fourth order on each side: to 2 % of that by Simpson's rule in parts that halve it.
static void a_narrow_pulse_on_a_drive(void **state) {
    (void)state;
    static const double width[] = {1e-3, 3e-5, 1.1e-6}, c = 0.4371;
    static const char *const along[] = {"t", "x"};
    for (int i = 0; i < RUNS; ++i)
        for (int k = 0; k < 6; ++k) {
            const double w = width[k % 3], F = 0.1 / w, W = F * w * (atan((1 - c) / w) + atan(c / w));
            const run_of *r = &runs[i];
            const bool tolerant = !strcmp(r->scheme, "auto") || !strcmp(r->scheme, "event-driven"),
                       constant = !tolerant && r->options[0] == NULL;
            char text[300];
            if (!tolerant && !constant) continue;
            snprintf(text, sizeof text,
                     "carom: 1\ncoordinates: {x: {at: 0, rate: 1}}\nenergy: {kinetic: 1/2*x'^2}\nconstraints: {drive: "
                     "x - t}\nforces: {x: \"-%.17g*x'/(1 + ((%s - %.17g)/%.17g)^2)\"}\n",
                     F, along[k / 3], c, w);
            const carom_ledger l = ledger_of(text, r, 1);
            const double allowed = constant ? 0.11 * 0.02 * W : 10 * r->allowed * 0.5;
            if (!(fabs(l.energy.external - W) <= allowed))
                fail_msg("%s %g, pulse of %g in %s: external work is %.12g instead of %.12g, off by %.2g", r->scheme,
                         r->step, w, along[k / 3], l.energy.external, W, l.energy.external - W);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(friction_on_a_shaken_surface),
        cmocka_unit_test(a_belt),
        cmocka_unit_test(a_driven_joint), cmocka_unit_test(a_force_across_a_joint),
        cmocka_unit_test(a_damper_that_varies),
        cmocka_unit_test(a_narrow_pulse_on_a_drive),
        cmocka_unit_test(a_damper),
        cmocka_unit_test(a_sampled_controller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_floating.c: flexible members with a floating frame: rigid limit, momenta, energy, other formulations, joints and
// contacts at their points.
#include "linalg/matrix.h"
#include "model_text.h"
#include <carom/flex.h>

#define assert_close(a, b, tolerance)                                                                                  \
    do {                                                                                                               \
        const double a_ = (a), b_ = (b), t_ = (tolerance);                                                             \
        if (!(fabs(a_ - b_) <= t_)) fail_msg("%s = %.17g, expected %.17g within %g", #a, a_, b_, t_);                  \
    } while (0)

#define PLANAR(rest)                                                                                                   \
    "{type: beam, frame: floating, length: 1, elements: 4, density: 7800, modulus: 2.1e11, area: 1e-4, inertia: "      \
    "1e-8/12, " rest "}"
#define SPATIAL(rest)                                                                                                  \
    "{type: spatial beam, frame: floating, length: 1, elements: 3, density: 2000, modulus: 2e9, area: 1e-4, inertia: " \
    "[1e-9, 2e-9], torsion: 2e-9,\n"                                                                                   \
    "    shear modulus: 8e8, direction: [1, 2, -1], " rest "}"

/// A model with its work block.
typedef struct lab {
    carom_model *m;
    const carom_system *s;
    void *work;
} lab;

static lab lab_of(const char *text) {
    lab x = {.m = good(text)};
    x.s = carom_model_system(x.m);
    x.work = aligned_alloc(64, (x.s->work_size + 63) & ~(size_t)63);
    assert_non_null(x.work);
    memset(x.work, 0, x.s->work_size);
    x.s->work_init(x.m, x.work);
    return x;
}

static void close_lab(lab *x) {
    free(x->work);
    carom_model_destroy(x->m);
}

static double output_of(const lab *x, carom_now now, const char *name) {
    double out[200];
    const int n = carom_model_count(x->m).outputs;
    assert_true(n <= 200);
    carom_model_outputs(x->m, x->work, now.t, now.q, now.v, out);
    for (int i = 0; i < n; ++i)
        if (strcmp(carom_model_output(x->m, i), name) == 0) return out[i];
    fail_msg("no output %s", name);
    return NAN;
}

static void no_faults(void *user, carom_finding kind, const char *sentence) {
    (void)user;
    if (kind == CAROM_FAULT) fail_msg("%s", sentence);
}

// Exact derivatives of everything, with joints, contacts, springs and loads at points.
static void derivatives_agree_with_differences(void **state) {
    (void)state;
    static const char *const
        text[] = {"carom: 1\ngravity: [0, -9.81]\nshapes: {floor: {plane: [0, 1], at: [0, -1]}, knob: {circle: 0.02, "
                  "of: a.end}}\nflexible:\n"
                  "  a: " PLANAR(
                      "velocity: [1, 2], spin: 3, direction: 0.3, at: {w: 1e-2*s^2}, rate: {w: s^2}, damping: {mass: "
                      "1, stiffness: 1e-6}") "\n"
                                             "  b: " PLANAR(
                                                 "origin: [cos(0.3) - 0.01*sin(0.3), sin(0.3) + 0.01*cos(0.3)], fix: "
                                                 "{start: [u, w], end: w}") "\n"
                                                                            "joints: {hinge: {type: revolute, between: "
                                                                            "[a.end, b], points: [[0, 0], [0, 0]]}}\n"
                                                                            "springs: {s: {between: [ground, b.end], "
                                                                            "points: [[0, 0], [0, 0]], stiffness: 100, "
                                                                            "damping: 1}}\n"
                                                                            "loads: {l: {on: b.end, force: [1, t], "
                                                                            "torque: 0.1}}\ncontacts: {floor: "
                                                                            "{between: [knob, floor], friction: 0.3}, "
                                                                            "other: {between: [b.end, floor]}}\n",
                  "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1], at: [0, 0, -3]}}\nflexible:\n"
                  "  a: " SPATIAL("velocity: [1, 0, 3], spin: [3, 5, -4], at: {v: 1e-2*s^2, rx: 1e-2*s}, rate: {w: "
                                  "s^2}") "\n"
                                          "bodies: {wheel: {mass: 1, inertia: [0.1, 0.1, 0.2], at: [1, 1, "
                                          "1]}}\nassemble: yes\n"
                                          "joints: {weld: {type: spherical, between: [a.end, wheel], points: [[0, 0, "
                                          "0], [0, 0, 0]]}}\ncontacts: {floor: {between: [a.end, floor], friction: "
                                          "0.3}}\n"};
    for (int i = 0; i < 2; ++i) {
        carom_model *m = good(text[i]);
        carom_error err = {0};
        assert_int_equal(carom_model_examine(m, no_faults, NULL, &err), CAROM_OK);
        carom_model_destroy(m);
    }
}

// As a rigid body it has the kinetic energy of one: m v^2/2 of its centre and J w^2/2 about it, sections included.
static void rigid_motion_has_the_kinetic_energy_of_a_rigid_body(void **state) {
    (void)state;
    double T, V;
    lab x = lab_of("carom: 1\nflexible:\n  a: " PLANAR("velocity: [1, 2], spin: 3, direction: 0.3") "\n");
    assert_int_equal(x.s->energy(x.m, x.work, 0, carom_model_q0(x.m), carom_model_v0(x.m), &T, &V), CAROM_OK);
    const double m = 0.78, vx = 1 - 1.5 * sin(0.3), vy = 2 + 1.5 * cos(0.3);
    assert_close(T, 0.5 * m * (vx * vx + vy * vy) + 0.5 * (m / 12 + 7800 * 1e-8 / 12) * 9, 1e-13);
    assert_true(V == 0);
    close_lab(&x);
    x = lab_of("carom: 1\nflexible:\n  a: " SPATIAL("velocity: [1, 0, 3], spin: [3, 5, -4]") "\n");
    assert_int_equal(x.s->energy(x.m, x.work, 0, carom_model_q0(x.m), carom_model_v0(x.m), &T, &V), CAROM_OK);
    // own axes: x along (1, 2, -1), z in the plane of x and (0, 0, 1); spin about these
    const double M = 0.2, a = 1 / sqrt(6), X[3] = {a, 2 * a, -a}, b = 1 / sqrt(30), Z[3] = {b, 2 * b, 5 * b};
    const double Y[3] = {Z[1] * X[2] - Z[2] * X[1], Z[2] * X[0] - Z[0] * X[2], Z[0] * X[1] - Z[1] * X[0]};
    double square = 0;
    for (int i = 0; i < 3; ++i) {
        // w x (1/2, 0, 0) = (0, w_z, -w_y)/2
        const double v = (i == 0 ? 1 : i == 2 ? 3 : 0) + 0.5 * (-4 * Y[i] - 5 * Z[i]);
        square += v * v;
    }
    assert_close(T, 0.5 * M * square + 0.5 * (M / 12 * (25 + 16) + 2000 * (3e-9 * 9 + 1e-9 * 25 + 2e-9 * 16)), 1e-12);
    close_lab(&x);
}

// Linear and angular momentum about the origin, from M v: velocities of the frame come first.
static void momenta(const lab *x, const double *q, const double *v, double p[3], double H[3]) {
    enum { MOST = 40 };
    static double a[MOST * MOST];
    double y[MOST];
    const int n = x->s->nv;
    const bool spatial = x->s->nq > n;
    assert_true(n <= MOST && x->s->mass_shape.storage == CAROM_DENSE);
    memset(a, 0, sizeof a);
    const carom_matrix M = {x->s->mass_shape, a};
    assert_int_equal(x->s->mass(x->m, x->work, 0, q, M), CAROM_OK);
    carom_matrix_mul(y, M, v);
    p[2] = H[0] = H[1] = 0;
    if (!spatial) {
        p[0] = y[0], p[1] = y[1];
        H[2] = y[2] + q[0] * y[1] - q[1] * y[0];
        return;
    }
    const double *e = q + 3;
    double R[9];
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        R[4 * i] = 1 - 2 * (e[1 + j] * e[1 + j] + e[1 + k] * e[1 + k]);
        R[3 * i + j] = 2 * (e[1 + i] * e[1 + j] - e[0] * e[1 + k]);
        R[3 * j + i] = 2 * (e[1 + i] * e[1 + j] + e[0] * e[1 + k]);
    }
    for (int i = 0; i < 3; ++i) p[i] = y[i];
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        H[i] = R[3 * i] * y[3] + R[3 * i + 1] * y[4] + R[3 * i + 2] * y[5] + q[j] * p[k] - q[k] * p[j];
    }
}

// A soft member that bends while it flies: nothing acts from outside.  It starts as short as its bending makes it, u =
// -1/2 integral w'^2.
static void momenta_and_energy_stay_in_flight(void **state) {
    QUICK_SKIPS();
    (void)state;
    static const char *const text[] = {
        "carom: 1\nflexible:\n  a: {type: beam, frame: floating, length: 1, elements: 4, density: 1000, modulus: 1e8, "
        "area: 1e-3, inertia: 1e-7,\n"
        "    velocity: [1, 2], spin: 3, direction: 0.3, fix: {start: [u, w], end: w}, at: {w: 0.02*sin(pi*s), u: "
        "-1e-4*pi^2*(s + sin(2*pi*s)/(2*pi))}, rate: {u: s*(1 - s)}}\n",
        "carom: 1\nflexible:\n  a: {type: spatial beam, frame: floating, length: 1, elements: 3, density: 1000, "
        "modulus: 1e8, area: 1e-3, inertia: [1e-7, 2e-7],\n"
        "    torsion: 2e-7, shear modulus: 4e7, velocity: [1, 0, 3], spin: [3, 5, -4], at: {v: 0.02*s^2, w: -0.01*s^2, "
        "u: -s^3/3000}, rate: {rx: 2*s}}\n"};
    for (int k = 0; k < 2; ++k) {
        lab x = lab_of(text[k]);
        carom_sim *sim = model_sim(x.m, "half-explicit-rk", (const char *const[]){"order=5", NULL}, 4e-5, 0.1);
        double p0[3], H0[3], p[3], H[3];
        momenta(&x, carom_sim_now(sim).q, carom_sim_now(sim).v, p0, H0);
        model_sim_run(sim);
        momenta(&x, carom_sim_now(sim).q, carom_sim_now(sim).v, p, H);
        for (int i = 0; i < 3; ++i) {
            assert_close(p[i], p0[i], 1e-9);
            assert_close(H[i], H0[i], 1e-9);
        }
        assert_true(fabs(H0[2]) > 0.05);
        carom_ledger l;
        carom_error err = {0};
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        assert_close(l.energy.end, l.energy.start, 1e-8 * l.energy.start);
        carom_sim_destroy(sim);
        close_lab(&x);
    }
}

// A steel rod is swung by 0.1 rad, slowly: the period of its first vibration is a tenth of the time, so that it bends
// as a static load would.  Elements of the exact beam are too stiff by 1/(4 n^2) = 0.1 %, linear strains do not make it
// shorter when it bends.
static void slow_swings_bend_it_as_the_exact_beam(void **state) {
    QUICK_SKIPS();
    (void)state;
    static const char *const text[] = {
        "carom: 1\nparameters: {A: 0.1, T: 0.3}\nflexible: {arm: " PLANAR(
            "") "}\n"
                "joints: {pin: {type: revolute, between: [ground, arm], at: [0, 0], motion: A*(t/T - "
                "sin(2*pi*t/T)/(2*pi))}}\n",
        "carom: 1\nparameters: {A: 0.1, T: 0.3}\nflexible:\n  arm: {type: exact beam, length: 1, elements: 16, "
        "density: 7800, modulus: 2.1e11, area: 1e-4, inertia: 1e-8/12,\n"
        "    shear modulus: 8e10, fix: {start: [x, y]}}\nconstraints: {drive: arm.start.angle - A*(t/T - "
        "sin(2*pi*t/T)/(2*pi))}\n"};
    double place[2][2], bent = 0;
    for (int k = 0; k < 2; ++k) {
        lab x = lab_of(text[k]);
        carom_sim *sim = model_sim(x.m, "ggl-alpha", NULL, 1e-4, 0.075);
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        place[k][0] = output_of(&x, now, "arm.end.x");
        place[k][1] = output_of(&x, now, "arm.end.y");
        if (k == 0) bent = output_of(&x, now, "arm.end.w");
        carom_sim_destroy(sim);
        close_lab(&x);
    }
    assert_true(fabs(bent) > 1e-3);
    assert_close(place[0][0], place[1][0], 0.7 * bent * bent); // what bending makes it shorter: 0.6 w^2/l
    assert_close(place[0][1], place[1][1], 0.003 * fabs(bent));
}

// Three frames for one member: at its start, along its chord, in its middle.  It moves the same.
static void the_frame_does_not_matter(void **state) {
    (void)state;
    static const char *const fix[] = {"start", "{start: [u, w], end: w}", "{middle: [u, w, angle]}"};
    double place[3][2], w[3];
    for (int k = 0; k < 3; ++k) {
        char text[700];
        snprintf(text, sizeof text,
                 "carom: 1\ngravity: [0, -9.81]\nflexible: {arm: " PLANAR(
                     "points: {middle: 0.5}, fix: %s") "}\n"
                                                       "joints: {pin: {type: revolute, between: [ground, arm.start], "
                                                       "points: [[0, 0], [0, 0]]}}\n",
                 fix[k]);
        lab x = lab_of(text);
        carom_sim *sim = model_sim(x.m, "half-explicit", NULL, 2e-5, 0.1);
        model_sim_run(sim);
        place[k][0] = output_of(&x, carom_sim_now(sim), "arm.end.x");
        place[k][1] = output_of(&x, carom_sim_now(sim), "arm.end.y");
        w[k] = k == 1 ? 0 : output_of(&x, carom_sim_now(sim), "arm.end.w");
        carom_sim_destroy(sim);
        close_lab(&x);
    }
    // Axial forces of 10 N make it stiffer by 10 N l^2/(10 E I) = 0.6 %.  Linear strains see a part of that, another
    // one in every frame.
    for (int k = 1; k < 3; ++k)
        for (int i = 0; i < 2; ++i) assert_close(place[k][i], place[0][i], 0.02 * 2e-4);
    assert_true(fabs(w[0]) > 2e-5 && fabs(w[0] - w[2]) > 2e-5); // deflections at the end, which depend on the frame
}

// A body welded to the tip of a cantilever: omega^2 = 3 E I/((m + 33/140 rho A l) l^3), right to 0.1 % for m = 2 rho A
// l.
static void a_body_at_the_tip_swings_as_the_theory_says(void **state) {
    QUICK_SKIPS();
    (void)state;
    static const char *const
        text[] = {"carom: 1\nflexible: {arm: " PLANAR("at: {w: 1e-3*(3*s^2 - s^3)/2, u: -1.125e-6*(4/3*s^3 - s^4 + "
                                                      "s^5/5)}") "}\nbodies: {tip: {mass: 1.56, inertia: 1e-6, at: [1 "
                                                                 "- 6e-7, 1e-3], angle: 1.5e-3}}\n"
                                                                 "joints:\n  clamp: {type: weld, between: [ground, "
                                                                 "arm], at: [0, 0]}\n  nut: {type: weld, between: "
                                                                 "[arm.end, tip], points: [[0, 0], [0, 0]]}\n",
                  "carom: 1\nflexible:\n  arm: {type: spatial beam, frame: floating, length: 1, elements: 4, density: "
                  "7800, modulus: 2.1e11, area: 1e-4, inertia: [1e-8/12, 1e-8/12],\n"
                  "    torsion: 1e-9, shear modulus: 8e10, at: {w: 1e-3*(3*s^2 - s^3)/2, u: -1.125e-6*(4/3*s^3 - s^4 + "
                  "s^5/5)}}\nbodies: {tip: {mass: 1.56, inertia: [1e-6, 1e-6, 1e-6], at: [1 - 6e-7, 0, 1e-3]}}\n"
                  "joints:\n  clamp: {type: weld, between: [ground, arm], at: [0, 0, 0]}\n  nut: {type: spherical, "
                  "between: [arm.end, tip], points: [[0, 0, 0], [0, 0, 0]]}\n"};
    const double omega = sqrt(3 * 2.1e11 * 1e-8 / 12 / ((1.56 + 33. / 140 * 0.78)));
    for (int k = 0; k < 2; ++k) {
        lab x = lab_of(text[k]);
        carom_sim *sim = model_sim(x.m, "half-explicit", NULL, 2e-5, 2 * 3.14159265358979 / omega * 0.25);
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        // After a quarter of a turn w passes through 0 with all its speed; higher modes have 1 % of it.
        assert_close(output_of(&x, now, "arm.end.w"), 0, 5e-3 * 1e-3);
        assert_close(output_of(&x, now, "arm.end.w'"), -omega * 1e-3, 0.05 * omega * 1e-3);
        carom_ledger l;
        carom_error err = {0};
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        assert_true(l.drift < 1e-7);
        assert_close(l.energy.balance, 0, 1e-4 * l.energy.start);
        carom_sim_destroy(sim);
        close_lab(&x);
    }
}

// Two outputs after `turns` periods of omega, by ggl-alpha with 200 steps in each: its phase is behind by (omega
// h)^2/12 = 8e-5 of itself, about.
static void after(double turns, double omega, const char *text, const char *w, const char *rate, double value[2]) {
    lab x = lab_of(text);
    const double period = 2 * 3.14159265358979 / fabs(omega);
    carom_sim *sim = model_sim(x.m, "ggl-alpha", NULL, period / 200, turns * period);
    model_sim_run(sim);
    value[0] = output_of(&x, carom_sim_now(sim), w);
    value[1] = output_of(&x, carom_sim_now(sim), rate);
    carom_sim_destroy(sim);
    close_lab(&x);
}

// Between pins, under P = c P_E, P_E = pi^2 E I/l^2: omega^2 = E I pi^4/(rho A l^4) (1 - c)/(1 + I pi^2/(A l^2)),
// softer by compression, stiffer by tension. Six elements have the frequency of both parts to (pi/6)^4/1440 = 5e-5.
static void axial_forces_change_the_frequency_as_euler_says(void **state) {
    (void)state;
    const double E = 2e9, rho = 1000, A = 1e-4, I = 1e-9, pi = 3.14159265358979;
    for (int k = 0; k < 2; ++k) {
        const double c = k ? -0.8 : 0.5, P = c * pi * pi * E * I,
                     omega = sqrt(E * I * pow(pi, 4) / (rho * A) * (1 - c) / (1 + I * pi * pi / A));
        char text[700];
        snprintf(text, sizeof text,
                 "carom: 1\nflexible:\n  a: {type: beam, frame: floating, length: 1, elements: 6, density: 1000, "
                 "modulus: 2e9, area: 1e-4, inertia: 1e-9, points: {middle: 0.5},\n"
                 "    fix: {start: [u, w], end: w}, at: {u: %.17g*s, w: 1e-5*sin(pi*s)}}\n"
                 "joints: {clamp: {type: weld, between: [ground, a], at: [0, 0]}}\nloads: {P: {on: a.end, force: "
                 "[%.17g, 0]}}\n",
                 -P / (E * A), -P);
        double w[2];
        after(4.25, omega, text, "a.middle.w", "a.middle.w'", w); // in the middle with all its speed
        assert_close(w[0], 0, 4.25 * 2 * pi * (2 * 5e-5 + 8e-5) * 1e-5);
        assert_close(w[1], -omega * 1e-5, 1e-2 * omega * 1e-5);
    }
}

// A cantilever on a hub that turns with eta sqrt(E I/(rho A l^4)) flaps out of the plane with 6.4495 of these units at
// eta = 5, with 3.5160 at rest (Wright et al. 1982).  The axial force is constant in an element, errors fall with
// 1/n^2: three and six elements, extrapolated.  The start is the first mode but for 1 %.
static void a_turning_blade_is_stiffer(void **state) {
    QUICK_SKIPS();
    (void)state;
    static const double eta[] = {0, 5}, lambda[] = {3.5160, 6.4495};
    for (int k = 0; k < 2; ++k) {
        const double unit = sqrt(2e9 * 1e-9 / (1000 * 1e-4)), Omega = eta[k] * unit, omega = lambda[k] * unit;
        double w[2][2];
        for (int n = 0; n < 2; ++n) {
            char text[900];
            snprintf(
                text, sizeof text,
                "carom: 1\nparameters: {Om: %.17g}\nflexible:\n  a: {type: spatial beam, frame: floating, length: 1, "
                "elements: %d, density: 1000, modulus: 2e9, area: 1e-4,\n"
                "    inertia: [1e-9, 1e-9], torsion: 2e-9, shear modulus: 8e8, spin: [0, 0, Om], at: {u: "
                "1000*Om^2/2e9*(s/2 - s^3/6), w: 1e-5*(%s)}}\n"
                "joints: {hub: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], motion: Om*t}}\n",
                Omega, n ? 6 : 3, k ? "2.205*s^2 - 1.713*s^3 + 0.508*s^4" : "(6*s^2 - 4*s^3 + s^4)/3");
            after(2.25, omega, text, "a.end.w", "a.end.w'", w[n]);
        }
        assert_close((4 * w[1][0] - w[0][0]) / 3, 0, 0.03e-5); // a phase of 0.03 in 14: a frequency to 0.2 %
        assert_close(w[1][1], -omega * 1e-5, 0.1 * omega * 1e-5);
    }
}

// A thick shaft between pins that spins with Omega in a frame along its chord: omega of its whirls solves (rho A + rho
// I k^2) omega^2 - 2 rho I k^2 Omega omega - E I k^4 = 0, k = pi/l.  Forwards and backwards; without gyroscopic moments
// the phase would be wrong by 0.15.
static void a_spinning_shaft_whirls_as_the_theory_says(void **state) {
    (void)state;
    const double r = 0.05, pi = 3.14159265358979, A = pi * r * r, I = A * r * r / 4, E = 2.1e11, rho = 7800,
                 Omega = 1000;
    const double a = rho * A + rho * I * pi * pi, b = rho * I * pi * pi * Omega, c = E * I * pow(pi, 4);
    for (int k = 0; k < 2; ++k) {
        const double omega = (b + (k ? -1 : 1) * sqrt(b * b + a * c)) / a;
        char text[900];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {r: 0.05, A: pi*r^2, I: A*r^2/4}\nflexible:\n  a: {type: spatial beam, frame: "
                 "floating, length: 1, elements: 4, density: 7800, modulus: 2.1e11, area: A,\n"
                 "    inertia: [I, I], torsion: 2*I, shear modulus: 8e10, points: {middle: 0.5}, fix: {start: [u, v, "
                 "w, rx], end: [v, w]}, spin: [1000, 0, 0],\n"
                 "    at: {v: 1e-6*sin(pi*s)}, rate: {w: 1e-6*(%.17g)*sin(pi*s)}}\n"
                 "joints: {bearings: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [1, 0, 0]}}\n",
                 omega - Omega);
        double place[2];
        after(5.1, omega, text, "a.middle.y", "a.middle.z", place);
        // four elements: 5.1 2 pi (pi/4)^4/1440 = 9e-3
        assert_close(atan2(place[1], place[0]), (k ? -0.1 : 0.1) * 2 * pi, 1e-2);
        assert_close(hypot(place[0], place[1]), 1e-6, 1e-8);
    }
}

// A torque at the end of a member in free flight, in axes of the world: the angular momentum grows by T t, the momentum
// stays.
static void a_torque_at_a_point_in_space_acts(void **state) {
    (void)state;
    lab x = lab_of("carom: 1\nflexible:\n  a: " SPATIAL(
        "velocity: [1, 0, 3], spin: [3, 5, -4]") "\nloads: {l: {on: a.end, torque: [0.01, 0.02, -0.03]}}\n");
    static const double T[3] = {0.01, 0.02, -0.03};
    carom_sim *sim = model_sim(x.m, "half-explicit-rk", (const char *const[]){"order=5", NULL}, 4e-5, 0.05);
    double p0[3], H0[3], p[3], H[3];
    momenta(&x, carom_sim_now(sim).q, carom_sim_now(sim).v, p0, H0);
    model_sim_run(sim);
    momenta(&x, carom_sim_now(sim).q, carom_sim_now(sim).v, p, H);
    for (int i = 0; i < 3; ++i) {
        assert_close(p[i], p0[i], 1e-9);
        assert_close(H[i] - H0[i], 0.05 * T[i], 0.01 * 0.05 * 0.03); // R (1 + skew(th)) is a rotation but for th^2
    }
    carom_ledger l;
    carom_error err = {0};
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_close(l.energy.balance, 0, 1e-6 * l.energy.start); // power is summed by the trapezoidal rule
    carom_sim_destroy(sim);
    close_lab(&x);
}

// A wheel on the end of a stiff arm that a motor drives: phi = T t^2/(2 J), turns counted.
static void joints_at_points_in_space_count_their_angle(void **state) {
    (void)state;
    lab x = lab_of("carom: 1\nflexible:\n  a: " SPATIAL(
        "") "\nbodies: {wheel: {mass: 0.1, inertia: [1e-4, 1e-4, 1e-4], at: [1/sqrt(6), 2/sqrt(6), -1/sqrt(6)]}}\n"
            "joints:\n  clamp: {type: weld, between: [ground, a], at: [0, 0, 0]}\n"
            "  axle: {type: revolute, between: [a.end, wheel], points: [[0, 0, 0], [0, 0, 0]], axis: [1, 2, -1]}\n"
            "motors: {drive: {joint: axle, torque: 0.01}}\noutputs: {phi: axle.angle}\n");
    carom_sim *sim = model_sim(x.m, "mixed", NULL, 1e-4, 0.5);
    model_sim_run(sim);
    const double phi = output_of(&x, carom_sim_now(sim), "phi");
    // The arm is twisted by T l/(G J) under the motor, and swings by as much again.
    assert_close(phi, 0.01 * 0.25 / (2 * 1e-4), 2 * 0.01 / (8e8 * 2e-9) + 1e-3);
    assert_true(phi > 6.3);
    carom_sim_destroy(sim);
    close_lab(&x);
}

// Waves along a member that an explicit scheme does not resolve: whatever stops the run in the end, the cause is told.
static void a_step_that_is_too_large_is_told(void **state) {
    (void)state;
    lab x = lab_of("carom: 1\nflexible:\n  a: " SPATIAL("velocity: [1, 0, 3], spin: [3, 5, -4]") "\n");
    carom_error err = {0};
    carom_sim *sim = model_sim(x.m, "moreau-midpoint", NULL, 1e-3, 1);
    assert_int_not_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    assert_non_null(strstr(err.text, "too large for this scheme"));
    carom_sim_destroy(sim);
    close_lab(&x);
}

// The tip against the floor: as a shape at a point and as an expression.
static void contacts_at_points_are_those_of_expressions(void **state) {
    (void)state;
    static const char *const contact[] = {"{between: [arm.end, floor]", "{gap: arm.end.y + 0.2, slip: arm.end.x"};
    double q[2][40], impulse[2] = {0};
    int n = 0;
    for (int k = 0; k < 2; ++k) {
        char text[700];
        snprintf(text, sizeof text,
                 "carom: 1\ngravity: [0, -9.81]\nflexible: {arm: " PLANAR(
                     "") "}\njoints: {pin: {type: revolute, between: [ground, arm], at: [0, 0]}}\n"
                         "%scontacts: {tip: %s, friction: 0.2, restitution: 0.5}}\n",
                 k ? "" : "shapes: {floor: {plane: [0, 1], at: [0, -0.2]}}\n", contact[k]);
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, "half-explicit", NULL, 2e-5, 0.2);
        carom_error err = {0};
        while (!carom_sim_done(sim)) {
            assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
            impulse[k] += carom_sim_now(sim).impulse[2];
        }
        n = carom_model_count(m).coordinates;
        assert_true(n <= 40);
        for (int i = 0; i < n; ++i) q[k][i] = carom_sim_now(sim).q[i];
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
    assert_true(impulse[0] > 0.05);
    assert_close(impulse[0], impulse[1], 1e-9);
    for (int i = 0; i < n; ++i) assert_close(q[0][i], q[1][i], 1e-9);
}

static void mistakes_are_told_with_their_place(void **state) {
    (void)state;
    static const struct { const char *text, *part; } wrong[] = {
        {"carom: 1\nflexible: {a: {type: bar, frame: floating, length: 1, elements: 1, density: 1, modulus: 1, area: "
         "1}}\n",
         "a floating frame is for `beam` and `spatial beam`"},
        {"carom: 1\nflexible: {a: {type: beam, frame: flying, length: 1, elements: 1, density: 1, modulus: 1, area: 1, "
         "inertia: 1}}\n",
         "frame is `fixed` (default) or `floating`"},
        {"carom: 1\nflexible: {a: {type: beam, frame: floating, length: 1, elements: 61, density: 1, modulus: 1, area: "
         "1, inertia: 1}}\n",
         "at most 60"},
        {"carom: 1\nflexible: {a: " PLANAR("fix: {start: [u, w]}") "}\n", "can move in its frame without bending"},
        {"carom: 1\nflexible: {a: " PLANAR("massless: end") "}\n", "unknown key 'massless'"},
        {"carom: 1\nflexible: {a: " PLANAR("velocity: [1, 2, 3]") "}\n", "longer"},
        {"carom: 1\nflexible: {a: " PLANAR("") "}\nshapes: {knob: {circle: 1, of: a.ende}}\n", "a.ende"},
        {"carom: 1\nflexible: {a: " PLANAR(
             "points: {x: 0.5}") "}\njoints: {j: {type: weld, between: [a.y, ground], at: [0, 0]}}\n",
         "body 'a' has no point 'y'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) model_refused(wrong[i].text, wrong[i].part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derivatives_agree_with_differences),
        cmocka_unit_test(rigid_motion_has_the_kinetic_energy_of_a_rigid_body),
        cmocka_unit_test(momenta_and_energy_stay_in_flight),
        cmocka_unit_test(slow_swings_bend_it_as_the_exact_beam),
        cmocka_unit_test(the_frame_does_not_matter),
        cmocka_unit_test(a_body_at_the_tip_swings_as_the_theory_says),
        cmocka_unit_test(axial_forces_change_the_frequency_as_euler_says),
        cmocka_unit_test(a_turning_blade_is_stiffer),
        cmocka_unit_test(a_spinning_shaft_whirls_as_the_theory_says),
        cmocka_unit_test(a_torque_at_a_point_in_space_acts),
        cmocka_unit_test(joints_at_points_in_space_count_their_angle),
        cmocka_unit_test(a_step_that_is_too_large_is_told),
        cmocka_unit_test(contacts_at_points_are_those_of_expressions),
        cmocka_unit_test(mistakes_are_told_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_modes.c: frequencies and stability limits with known answers.
#define _DEFAULT_SOURCE // mkdtemp
#include "model_text.h"
#include "program.h"

static const double PI = 3.14159265358979323846;

static carom_modes modes_at(const carom_model *m, const double *q, const double *v, int count) {
    carom_modes x;
    carom_error err = {0};
    const carom_status status = carom_modes_find(&x, m, &(carom_modes_def){.q = q, .v = v, .count = count}, &err);
    if (status != CAROM_OK) fail_msg("status %d: %s", status, err.text);
    return x;
}

static carom_modes modes_of(const carom_model *m) { return modes_at(m, NULL, NULL, 0); }

static void drop(carom_modes *x, carom_model *m) {
    carom_modes_free(x);
    carom_model_destroy(m);
}

static bool among(const carom_modes *x, double frequency, double tolerance) {
    for (int i = 0; i < x->count; ++i)
        if (fabs(x->mode[i].frequency - frequency) <= tolerance) return true;
    return false;
}

static double least_damping(const carom_modes *x) {
    double least = 2;
    for (int i = 0; i < x->count; ++i) least = fmin(least, x->mode[i].damping);
    return least;
}

// x'' + 2 z w x' + w^2 x = 0: lambda = w (-z +- i sqrt(1 - z^2)).  Overdamped: two real ones, w (-z +- sqrt(z^2 - 1)).
static void oscillator(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nparameters: {w: 3, z: 0.2, Z: 2}\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: "
                          "\"1/2*(x'^2 + y'^2)\", potential: \"1/2*w^2*(x^2 + y^2)\"}\n"
                          "forces: {x: \"-2*z*w*x'\", y: \"-2*Z*w*y'\"}\n");
    carom_modes x = modes_of(m);
    assert_int_equal(x.count, 3);
    assert_close(x.mode[0].re, 3 * (-2 + sqrt(3)), 1e-12);
    assert_close(x.mode[0].damping, 1, 1e-12);
    assert_close(x.mode[1].frequency, 3 / (2 * PI), 1e-13);
    assert_close(x.mode[1].damping, 0.2, 1e-13);
    assert_close(x.mode[1].im, 3 * sqrt(1 - 0.04), 1e-12);
    assert_close(x.mode[1].shape[0], 1, 1e-13);
    assert_close(x.mode[2].re, 3 * (-2 - sqrt(3)), 1e-12);
    drop(&x, m);
}

// Equal frequencies: a ring of three masses, x_1 + x_2 + x_3 = 0 at omega^2 = 3 k/m, twice; two equal pairs of masses
// under gyroscopic forces, lambda^2 +- i g lambda + k = 0, each with shapes (1, +-i) of one pair, twice.  Each shape
// has a component that the other does not have.
static void equal_frequencies(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: 0, y: 0, z: 0}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2 + z'^2)\", "
                          "potential: \"50*((x - y)^2 + (y - z)^2 + (z - x)^2)\"}\n");
    carom_modes x = modes_of(m);
    assert_int_equal(x.count, 3);
    for (int k = 1; k < 3; ++k) {
        const double *shape = x.mode[k].shape;
        assert_close(x.mode[k].im, sqrt(300), 1e-13 * sqrt(300));
        for (int i = 0; i < 3; ++i) {
            assert_close(shape[i], i == k - 1 ? 1 : i == 2 ? -1 : 0, 1e-14);
            assert_close(shape[3 + i], 0, 1e-14);
        }
    }
    drop(&x, m);
    m = good("carom: 1\ncoordinates: {x: 0, y: 0, z: 0, w: 0}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2 + z'^2 + w'^2)\", "
             "potential: \"2*(x^2 + y^2 + z^2 + w^2)\"}\nforces: {x: \"3*y'\", y: \"-3*x'\", z: \"3*w'\", "
             "w: \"-3*z'\"}\n");
    x = modes_of(m);
    assert_int_equal(x.count, 4);
    for (int k = 0; k < 4; ++k) { // omega = 1, 4:  x'' = 3 y' - 4 x  with x = 1, y = i s:  s = (omega^2 - 4)/(3 omega)
        const double *shape = x.mode[k].shape, omega = k < 2 ? 1 : 4;
        assert_close(x.mode[k].im, omega, 1e-13 * omega);
        for (int i = 0; i < 4; ++i) {
            assert_close(shape[i], i == 2 * (k % 2) ? 1 : 0, 1e-13);
            assert_close(shape[4 + i], i == 2 * (k % 2) + 1 ? (omega * omega - 4) / (3 * omega) : 0, 1e-13);
        }
    }
    drop(&x, m);
}

// (lambda^2 M + lambda C + K) x = 0 for every mode, with damping and gyroscopic forces that mix the modes, so that
// shapes are complex; the largest entry of a shape is 1.
static void modes_solve_their_equation(void **state) {
    (void)state;
    static const double M[3][3] = {{2, 0.3, 0}, {0.3, 1, 0.1}, {0, 0.1, 1.5}},
                        C[3][3] = {{0.4, 0.7, 0}, {-0.6, 0.1, 0.2}, {0.1, -0.3, 0}},
                        K[3][3] = {{9, -3, 0}, {-3, 7, -2}, {0, -2, 4}};
    carom_model *m = good("carom: 1\ncoordinates: {x: 0, y: 0, z: 0}\n"
                          "energy: {kinetic: \"x'^2 + 0.3*x'*y' + 1/2*y'^2 + 0.1*y'*z' + 0.75*z'^2\", potential: "
                          "\"4.5*x^2 - 3*x*y + 3.5*y^2 - 2*y*z + 2*z^2\"}\n"
                          "forces: {x: \"-0.4*x' - 0.7*y'\", y: \"0.6*x' - 0.1*y' - 0.2*z'\", z: \"-0.1*x' + "
                          "0.3*y'\"}\n");
    carom_modes x = modes_of(m);
    assert_int_equal(x.count, 3);
    double mixed = 0;
    for (int k = 0; k < 3; ++k) {
        const double a = x.mode[k].re, b = x.mode[k].im, *u = x.mode[k].shape, *w = u + 3;
        double largest = 0;
        for (int i = 0; i < 3; ++i) {
            double re = 0, im = 0;
            for (int j = 0; j < 3; ++j) { // (A + i B)(u + i w)
                const double A = (a * a - b * b) * M[i][j] + a * C[i][j] + K[i][j],
                             B = 2 * a * b * M[i][j] + b * C[i][j];
                re += A * u[j] - B * w[j], im += A * w[j] + B * u[j];
            }
            if (!(hypot(re, im) < 1e-11)) fail_msg("mode %d leaves %g", k, hypot(re, im));
            if (hypot(u[i], w[i]) > largest + 1e-9) largest = hypot(u[i], w[i]);
            mixed = fmax(mixed, fabs(w[i]));
        }
        assert_close(largest, 1, 1e-12);
        assert_close(x.mode[k].frequency, hypot(a, b) / (2 * PI), 1e-12);
        assert_close(x.mode[k].damping, -a / hypot(a, b), 1e-12);
    }
    assert_true(mixed > 0.1);
    drop(&x, m);
}

// A rigid body on a hinge, spatial: w^2 = m g d/(J + m d^2); it starts level.
static void hinge(void **state) {
    (void)state;
    carom_model *m = good(
        "carom: 1\ngravity: [0, 0, -9.81]\nbodies: {rod: {mass: 2, inertia: [0.01, 0.03, 0.02], at: [0.4, 0, 0]}}\n"
        "joints: {pin: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0]}}\n");
    carom_modes x = modes_of(m);
    assert_int_equal(x.count, 1);
    assert_int_equal(x.joints, 5);
    assert_close(x.mode[0].frequency, sqrt(2 * 9.81 * 0.4 / (0.03 + 2 * 0.16)) / (2 * PI), 1e-9);
    assert_close(x.mode[0].damping, 0, 1e-12);
    drop(&x, m);
}

#define BEAM                                                                                                           \
    "carom: 1\nparameters: {n: %d, P: %g}\nflexible:\n  beam: {type: %s, length: 2, elements: n, density: 7800, "      \
    "area: 1e-4, inertia: 1e-4/1200, modulus: 2e11, "                                                                  \
    "%sfix: {start: [%s], end: [%s]}}\n%s"

static carom_model *beam(int n, double P, bool exact) {
    char text[800];
    snprintf(text, sizeof text, BEAM, n, P, exact ? "exact beam" : "beam", exact ? "shear modulus: 8e10, " : "",
             exact ? "x, y" : "u, w", exact ? "y" : "w", exact ? "forces: {beam.end.x: -P}\n" : "");
    return good(text);
}

// A beam on two supports: f_k = k^2 pi/(2 L^2) sqrt(EI/(rho A)).  Cubic elements are off by (k pi/n)^4/720 relative.  A
// fine mesh is a large model: ARPACK and KLU.
static void supports(void **state) {
    (void)state;
    const double first = PI / (2 * 4) * sqrt(2e11 / 1200 / 7800);
    const int elements[] = {20, 150};
    for (int i = 0; i < 2; ++i) {
        carom_model *m = beam(elements[i], 0, false);
        carom_modes x = modes_at(m, NULL, NULL, 6);
        assert_string_equal(x.method, i ? "arpack" : "lapack");
        assert_int_equal(x.count, 6);
        for (int k = 1; k <= 6; ++k) { // the fourth is the first along the beam, sqrt(E/rho)/(4 L)
            const int wave = k < 4 ? k : k - 1;
            const double f = k != 4 ? wave * wave * first : sqrt(2e11 / 7800) / 8, n = elements[i];
            assert_close(x.mode[k - 1].frequency, f,
                         f * (k != 4 ? pow(wave * PI / n, 4) / 720 + 1e-7 : pow(0.5 * PI / n, 2) / 24 + 1e-7));
            assert_close(x.mode[k - 1].damping, 0, 1e-9);
        }
        drop(&x, m);
    }
}

// Euler: under a compression P the square of the lowest frequency is proportional to 1 - P/P_c, P_c = pi^2 EI/L^2.
// Shear and shortening change P_c by pi^2 I/(A L^2) (1 + E A/(G A_s)) = 8e-5, elements by some (pi/n)^2.
static void buckling(void **state) {
    (void)state;
    const double Pc = PI * PI * 2e11 * 1e-4 / 1200 / 4, part[] = {0, 0.5, 0.99, 1.01};
    double square[4];
    for (int i = 0; i < 4; ++i) {
        carom_model *m = beam(40, part[i] * Pc, true);
        carom_modes x = modes_at(m, NULL, NULL, 0);
        square[i] = x.mode[0].im != 0 ? pow(x.mode[0].frequency, 2) : -pow(x.mode[0].frequency, 2);
        if (part[i] > 1) assert_true(least_damping(&x) < -0.99);
        else assert_true(least_damping(&x) > -1e-9);
        drop(&x, m);
    }
    assert_close(square[1] / square[0], 0.5, 0.5 * pow(PI / 40, 2));
    // where the line meets zero
    assert_close((part[2] - square[2] * (part[3] - part[2]) / (square[3] - square[2])), 1, pow(PI / 40, 2));
}

// A disc on a light shaft, in the middle: w = sqrt(k/m) for its deflection, k = 48 EI/L^3; tilting, forward and
// backward whirl split, w = sqrt(s^2 + k_t/J_t) +- s with s = J_p W/(2 J_t), k_t = 12 EI/L.
static void rotor(void **state) {
    (void)state;
    const double W = 800, r = 0.01, EI = 2.1e11 * PI * pow(r, 4) / 4, Jp = 0.04, Jt = 0.02, s = Jp * W / (2 * Jt),
                 kt = 12 * EI / 0.8;
    carom_model *m = good("carom: 1\nflexible:\n  shaft: {type: shaft, length: 0.8, elements: {middle: 4, end: 4}, "
                          "points: {middle: 0.4}, radius: 0.01, density: 1e-3, modulus: 2.1e11,\n"
                          "    shear modulus: 0.81e11, flywheels: {middle: {mass: 5, inertia: [0.04, 0.02]}}, fix: "
                          "{start: [v, w], end: [v, w]}, rate: {rx: 800}}\n");
    carom_modes x = modes_at(m, carom_model_q0(m), carom_model_v0(m), 0);
    const double bend = sqrt(48 * EI / pow(0.8, 3) / 5), forward = sqrt(s * s + kt / Jt) + s,
                 backward = sqrt(s * s + kt / Jt) - s;
    assert_true(among(&x, bend / (2 * PI), 1e-4 * bend));
    assert_true(among(&x, forward / (2 * PI), 1e-4 * forward));
    assert_true(among(&x, backward / (2 * PI), 1e-4 * backward));
    drop(&x, m);
}

// Three points in space under springs that are stretched and compressed, and at rest: potentials do not change with
// translations and rotations, so that the stiffness, that of the prestress included, has these six in its null space.
static void rigid_with_prestress(void **state) {
    (void)state;
#define AWAY(x, a, b) "(" #x #a " - " #x #b ")^2"
#define SPRING(k, l, a, b) #k "*(sqrt(" AWAY(x, a, b) " + " AWAY(y, a, b) " + " AWAY(z, a, b) ") - " #l ")^2"
    carom_model *m = good("carom: 1\ncoordinates: {x1: 0, y1: 0, z1: 0, x2: {at: 0.6}, y2: {at: 0.8}, z2: 0, "
                          "x3: {at: 1.1}, y3: {at: 0.2}, z3: {at: 0.3}}\n"
                          "energy: {kinetic: \"1/2*(x1'^2 + y1'^2 + z1'^2) + 3/2*(x2'^2 + y2'^2 + z2'^2) + "
                          "(x3'^2 + y3'^2 + z3'^2)\", potential: \"" SPRING(50, 1, 1, 2)
                          " + " SPRING(50, 0.8, 1, 2) " + " SPRING(70, 1, 1, 3) " + " SPRING(1000, 0.7, 3, 2) "\"}\n");
    carom_modes x;
    carom_error err = {0};
    assert_int_equal(carom_modes_find(&x, m, NULL, &err), CAROM_OK);
    assert_int_equal(x.count, 9);
    for (int i = 0; i < 9; ++i) {
        assert_int_equal(x.mode[i].rigid, i < 6);
        assert_true((x.mode[i].frequency == 0) == (i < 6));
    }
    carom_modes_free(&x);
    carom_model_destroy(m);
}

// Two masses with a spring, free along a line, and one with a damper: two rigid-body modes, which rounding makes
// neither stable nor unstable, beside sqrt(2 k/m) and the rate c/m.
static void rigid_bodies(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: 0, y: 0, z: 0}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2 + z'^2)\", "
                          "potential: 2*(x - y)^2}\nforces: {z: \"-3*z'\"}\n");
    carom_modes x = modes_at(m, NULL, NULL, 0);
    int rigid = 0;
    for (int i = 0; i < x.count; ++i) {
        rigid += x.mode[i].rigid;
        if (x.mode[i].rigid) assert_true(x.mode[i].re == 0 && x.mode[i].im == 0 && x.mode[i].damping == 0);
    }
    assert_int_equal(rigid, 2);
    assert_int_equal(x.count, 4);
    assert_true(among(&x, sqrt(8) / (2 * PI), 1e-9));
    assert_true(among(&x, 3 / (2 * PI), 1e-9));
    drop(&x, m);
}

// A free symmetric top that spins: seen from the body, its axis goes round with the spin W, and its momentum with W (J3
// - J1)/J1.
static void top(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nbodies: {top: {mass: 1, inertia: [2, 2, 3], at: [0, 0, 0], spin: [0, 0, 10]}}\n");
    carom_modes x = modes_at(m, carom_model_q0(m), carom_model_v0(m), 0);
    assert_true(among(&x, 10 / (2 * PI), 1e-6));
    assert_true(among(&x, 10 * 0.5 / (2 * PI), 1e-6));
    assert_close(least_damping(&x), 0, 1e-9);
    drop(&x, m);
}

// A pad on a running belt; a mass sits on it by a spring k and is coupled to the pad's sliding by c.  The normal force
// is N_0 - k y, so that K = [k1, mu k - c; -c, k + kb]: flutter where ((k1 - k - kb)/2)^2 + c (c - mu k) < 0
// (Hoffmann's mode coupling, with a rigid contact).
#define BRAKE                                                                                                          \
    "carom: 1\nparameters: {mu: %.17g, k1: 110, k: 60, kb: 40, c: 7}\ncoordinates: {x: 0, pad: 0, y: 0}\n"             \
    "energy: {kinetic: \"1/2*(x'^2 + pad'^2 + y'^2)\", potential: \"1/2*k1*x^2 + 1/2*k*(y - pad)^2 + 1/2*kb*y^2 - "    \
    "c*x*y + 50*pad\"}\n"                                                                                              \
    "contacts: {belt: {gap: pad, slip rate: \"x' - 20\", friction: mu}}\n"

static void brake(void **state) {
    (void)state;
    const double limit = (25 + 49) / (7.0 * 60), part[] = {0.5, 0.999, 1.001, 1.5};
    for (int i = 0; i < 4; ++i) {
        char text[800];
        snprintf(text, sizeof text, BRAKE, part[i] * limit);
        carom_model *m = good(text);
        carom_modes x = modes_of(m);
        assert_int_equal(x.sliding, 1);
        assert_int_equal(x.count, 2);
        const double root = 25 + 7 * (7 - part[i] * limit * 60);
        if (root > 0) {
            assert_close(x.mode[0].frequency, sqrt(105 - sqrt(root)) / (2 * PI), 1e-10);
            assert_close(x.mode[1].frequency, sqrt(105 + sqrt(root)) / (2 * PI), 1e-10);
            assert_true(least_damping(&x) > -1e-8);
        } else { // lambda^2 = -105 +- i sqrt(-root)
            const double size = sqrt(hypot(105, sqrt(-root))), re = sqrt((size * size - 105) / 2);
            assert_close(x.mode[0].frequency, size / (2 * PI), 1e-10);
            assert_close(least_damping(&x), -re / size, 1e-9);
        }
        drop(&x, m);
    }
}

// Friction that falls with the slip drives: m x'' + k x = N mu_0 (1 - a (20 - x')), so Re lambda = N mu_0 a/(2 m).  A
// block that sticks to the ground does not move.
static void falling_friction(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: \"x'^2 + y'^2\", potential: 100*x^2 + 30*y}\n"
             "contacts: {belt: {gap: y, slip rate: \"x' - 20\", friction: 0.4*(1 - 0.02*slip.speed)}}\n");
    carom_modes x = modes_of(m);
    assert_int_equal(x.count, 1);
    assert_close(x.mode[0].re, 30 * 0.4 * 0.02 / 4, 1e-14);
    drop(&x, m);
    // x'' + c x' + 4 x = N (0.3 + 0.2 exp(-(v - x')/v_s)) at v = v_s log(0.2 N/(c v_s)), where the fall of friction is
    // c: also where friction falls within 1e-4 m/s
    m = good("carom: 1\nparameters: {vs: 1e-4, c: 130, v: vs*log(0.4/(c*vs))}\ncoordinates: {x: 0.1}\nenergy: "
             "{kinetic: \"1/2*x'^2\", potential: 2*x^2}\nforces: {x: \"-c*x'\"}\ncontacts: {belt: "
             "{normal force: 2, slip rate: "
             "\"x' - v\", friction: 0.3 + 0.2*exp(-slip.speed/vs)}}\n");
    x = modes_of(m);
    assert_close(x.mode[0].re, 0, 1e-12 * 130);
    assert_close(x.mode[0].im, 2, 1e-12 * 130);
    drop(&x, m);
    m = good("carom: 1\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: \"x'^2 + y'^2\", potential: 100*x^2 + "
             "30*y}\ncontacts: {ground: {gap: y, slip: x, friction: 0.4}}\n");
    x = modes_of(m);
    assert_int_equal(x.count, 0);
    assert_int_equal(x.sticking, 1);
    carom_modes_free(&x);
    carom_error err = {0};
    assert_int_equal(carom_modes_find(&x, m, &(carom_modes_def){.open = true}, &err), CAROM_OK);
    assert_true(among(&x, 10 / (2 * PI), 1e-9));
    assert_true(among(&x, 0, 0));
    drop(&x, m);
}

// A sliding contact whose friction blocks its own normal motion: in'M^-1 out = 1 - mu c = 0 for a rod that slides point
// first.
static void jam(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: 0, y: 0}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2) + 1/2*x'*y'\", "
                          "potential: \"30*y + 50*x^2\"}\n"
                          "contacts: {belt: {gap: y, slip rate: \"x' - 1\", friction: 2}}\n");
    carom_modes x;
    carom_error err = {0};
    assert_int_not_equal(carom_modes_find(&x, m, &(carom_modes_def){.q = carom_model_q0(m)}, &err), CAROM_OK);
    assert_true(strlen(err.text) > 10);
    drop(&x, m);
}

// -- the program --------------------------------------------------------------------------------------------------

static void verb(void **state) {
    (void)state;
    char folder[] = "/tmp/carom-modes-XXXXXX", text[800];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    FILE *f = fopen("b.yaml", "w");
    snprintf(text, sizeof text, BRAKE, 0.1);
    fputs(text, f);
    fclose(f);
    assert_int_equal(carom("modes b.yaml --json"), 0);
    assert_says(out, "{\"frequencies\": [");
    assert_says(out, "\"damping\": [0, 0]");
    assert_int_equal(carom("modes b.yaml --over mu=0.1,0.3 -o c.csv"), 0);
    assert_says(out, "mu=0.3: ");
    assert_says(out, "(unstable)");
    get("c.csv", out, sizeof out);
    assert_says(out, "mode,mu,frequency,damping,re,im\n1,0.10000000000000001,");
    assert_int_equal(carom("modes b.yaml --mode 2 -o mode.h5"), 0);
    assert_int_equal(carom("info mode.h5"), 0);
    assert_int_equal(carom("view mode.h5 -o mode.html"), 0);
    assert_int_equal(carom("equilibrium b.yaml --save s.state"), 0);
    assert_int_equal(carom("modes b.yaml --at s.state --contacts open"), 0);
    assert_says(out, "3 modes");
    put("r.yaml", "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/2, potential: 2*x^2}\ncontacts: {b: {normal "
                  "force: 9, slip: x, friction: 0.5}}\n");
    assert_int_equal(carom("modes r.yaml --contacts open --json"), 0);
    assert_says(out, "\"names\": [\"x'\"]");
    assert_int_equal(carom("modes b.yaml --mode 3 -o mode.h5"), 2);
    assert_says(complaints, "there are 2 modes");
    assert_int_equal(carom("modes b.yaml --over nu=1,2"), 2);
    assert_says(complaints, "--over: the model has no parameter, coordinate or rate 'nu'");
    assert_int_equal(carom("modes b.yaml --contacts ajar"), 2);
    assert_int_equal(carom("modes b.yaml --plot p.svg"), 2);
    assert_int_equal(chdir("/"), 0);
    snprintf(text, sizeof text, "rm -rf %s", folder);
    assert_int_equal(system(text), 0);
}

// Velocities that are rounding neither open a contact nor let it slide: a block on a rough floor beside an oscillator
// keeps the oscillator's mode alone.
static void rounding(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: 0, y: 0, z: 0}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2 + z'^2)\", "
                          "potential: 10*y + 18*z^2}\n"
                          "contacts: {floor: {gap: y, slip: x, friction: {static: 0.5, kinetic: 0.3}}}\n");
    static const double q[] = {1, 0, 0}, v[][3] = {{1e-13, -2e-13, 0}, {1e-13, -2e-13, 3}};
    for (int i = 0; i < 2; ++i) { // all of them, or beside one that moves
        carom_modes x = modes_at(m, q, v[i], 0);
        assert_int_equal(x.sticking, 1);
        assert_int_equal(x.count, 1);
        assert_close(x.mode[0].frequency, 6 / (2 * PI), 1e-12);
        carom_modes_free(&x);
    }
    carom_model_destroy(m);
}

// A brake holds an oscillator; released it does not, nor where contacts are open.  Its own coordinate moves in none of
// these cases.
static void released(void **state) {
    (void)state;
    for (int i = 0; i < 3; ++i) {
        carom_modes x;
        carom_error err = {0};
        carom_model *m = good(i == 1 ? "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/2, potential: "
                                       "2*x^2}\ncontacts: {b: {normal force: 0, slip: x, friction: 0.5}}\n"
                                     : "carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/2, potential: "
                                       "2*x^2}\ncontacts: {b: {normal force: 9, slip: x, friction: 0.5}}\n");
        assert_int_equal(carom_modes_find(&x, m, &(carom_modes_def){.open = i == 2}, &err), CAROM_OK);
        assert_int_equal(x.count, i > 0);
        assert_int_equal(x.sticking, i == 0);
        if (i > 0) assert_close(x.mode[0].frequency, 1 / PI, 1e-12);
        drop(&x, m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(modes_solve_their_equation), cmocka_unit_test(equal_frequencies),
        cmocka_unit_test(oscillator),   cmocka_unit_test(hinge),    cmocka_unit_test(supports),
        cmocka_unit_test(buckling),     cmocka_unit_test(rotor),    cmocka_unit_test(top),
        cmocka_unit_test(rigid_with_prestress),
        cmocka_unit_test(rigid_bodies), cmocka_unit_test(brake),    cmocka_unit_test(falling_friction),
        cmocka_unit_test(jam),          cmocka_unit_test(rounding), cmocka_unit_test(released),
        cmocka_unit_test(verb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_flex.c: flexible members: matrices against differences, mass, points, statics, frequencies.
#include "flex/member.h"
#include "linalg/matrix.h"
#include <carom/flex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define assert_double_equal(a, b, tolerance)                                                                           \
    do {                                                                                                               \
        const double a_ = (a), b_ = (b), t_ = (tolerance);                                                             \
        if (!(fabs(a_ - b_) <= t_)) fail_msg("%s = %.17g, expected %.17g within %g", #a, a_, b_, t_);                  \
    } while (0)

enum { MOST = 80, KINDS = 4 };
static const double PI = 3.14159265358979323846;

static carom_member_def example(carom_member_kind kind, int elements) {
    carom_member_def d = carom_member_default(kind);
    d.elements = elements;
    d.length = 1.5;
    d.density = 3;
    d.area = 0.2;
    d.modulus = 700;
    d.inertia = 0.03;
    d.inertia_v = 0.05;
    d.shear_modulus = 250;
    d.shear_area = 0.15;
    d.torsion = 0.04;
    d.direction[0] = 0.6;
    d.direction[1] = 0.8;
    d.origin[0] = 0.3;
    d.origin[1] = -0.2;
    return d;
}

static carom_member *make(const carom_member_def *d) {
    carom_error err = {0};
    carom_member *m = carom_member_create(d, &err);
    if (!m) fail_msg("%s", err.text);
    assert_true(carom_member_unknowns(m) <= MOST);
    return m;
}

static double next(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

// A state away from rest, with rates.
static void wander(const carom_member *m, unsigned seed, double size, double *q, double *v) {
    carom_member_rest(m, q);
    for (int i = 0; i < carom_member_unknowns(m); ++i) {
        q[i] += size * next(&seed);
        v[i] = next(&seed);
    }
}

static double potential(const carom_member *m, const double *q, const double *v) {
    double T, V;
    carom_member_energy(m, q, v, &T, &V);
    return V;
}

static carom_matrix dense(double *a, int n) {
    memset(a, 0, sizeof *a * (size_t)n * (size_t)n);
    return (carom_matrix){{.storage = CAROM_DENSE, .n = n}, a};
}

static void the_force_is_the_gradient_of_the_energy(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; ++kind) {
        carom_member_def d = example((carom_member_kind)kind, 4);
        d.gravity[0] = 2, d.gravity[1] = -9, d.gravity[2] = 1;
        carom_member *m = make(&d);
        const int n = carom_member_unknowns(m);
        double q[MOST], v[MOST], f[MOST] = {0};
        wander(m, 5, 0.05, q, v);
        carom_member_force(m, q, v, f);
        for (int i = 0; i < n; ++i) {
            const double x = q[i], h = 1e-5;
            q[i] = x + h;
            const double up = potential(m, q, v);
            q[i] = x - h;
            const double down = potential(m, q, v);
            q[i] = x;
            assert_double_equal(f[i], -(up - down) / (2 * h), 1e-6 * (1 + carom_norm_max(f, n)));
        }
        carom_member_destroy(m);
    }
}

static void tangents_are_the_derivatives_of_the_force(void **state) {
    (void)state;
    static double K[MOST * MOST], C[MOST * MOST];
    for (int kind = 0; kind < KINDS; ++kind) {
        carom_member_def d = example((carom_member_kind)kind, 3);
        d.damping_mass = 0.3, d.damping_stiffness = 0.02;
        carom_member *m = make(&d);
        const int n = carom_member_unknowns(m);
        double q[MOST], v[MOST], most = 0;
        wander(m, 9, 0.05, q, v);
        carom_member_tangent(m, q, v, dense(K, n), dense(C, n), 0);
        for (int e = 0; e < n * n; ++e) most = fmax(most, fabs(K[e]));
        for (int j = 0; j < n; ++j)
            for (int side = 0; side < 2; ++side) {
                double *x = side ? v : q, up[MOST] = {0}, down[MOST] = {0};
                const double at = x[j], h = 1e-6;
                x[j] = at + h;
                carom_member_force(m, q, v, up);
                x[j] = at - h;
                carom_member_force(m, q, v, down);
                x[j] = at;
                for (int i = 0; i < n; ++i)
                    assert_double_equal((side ? C : K)[i + n * j], -(up[i] - down[i]) / (2 * h), 1e-7 * most);
            }
        carom_member_destroy(m);
    }
}

static void damping_takes_what_dissipation_says(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; ++kind) {
        carom_member_def d = example((carom_member_kind)kind, 3);
        d.damping_mass = 0.3, d.damping_stiffness = 0.02;
        carom_member *m = make(&d);
        const int n = carom_member_unknowns(m);
        double q[MOST], v[MOST], zero[MOST] = {0}, f[MOST] = {0}, rest[MOST] = {0};
        wander(m, 3, 0.05, q, v);
        carom_member_force(m, q, v, f);
        carom_member_force(m, q, zero, rest);
        const double power = carom_dot(rest, v, n) - carom_dot(f, v, n);
        assert_true(power > 0);
        assert_double_equal(carom_member_dissipation(m, q, v), power, 1e-12 * fabs(power) + 1e-12);
        carom_member_destroy(m);
    }
}

static void rigid_motions_meet_no_force(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; ++kind) {
        carom_member_def d = example((carom_member_kind)kind, 5);
        carom_member *m = make(&d);
        const int n = carom_member_unknowns(m), per = carom_member_components((carom_member_kind)kind);
        double q[MOST], v[MOST] = {0}, f[MOST] = {0};
        carom_member_rest(m, q);
        for (int i = 0; i < n; ++i) q[i] += i % per == 0 ? 0.7 : 0; // along the first component
        carom_member_force(m, q, v, f);
        assert_true(carom_norm_max(f, n) < 1e-11);
        if (kind == CAROM_EXACT_BEAM) { // turn it by any angle about the origin
            const double a = 2.3, c = cos(a), s = sin(a);
            for (int i = 0; i < n; i += 3) {
                const double x = q[i], y = q[i + 1];
                q[i] = c * x - s * y, q[i + 1] = s * x + c * y, q[i + 2] += a;
            }
            carom_zero(f, n);
            carom_member_force(m, q, v, f);
            assert_true(carom_norm_max(f, n) < 1e-10);
            assert_true(potential(m, q, v) < 1e-20);
        }
        carom_member_destroy(m);
    }
}

// Pure bending: a moment E I kappa at either end holds the beam on a polygon with unit lengths, however far it turns.
static void the_exact_beam_rolls_up_under_end_moments(void **state) {
    (void)state;
    carom_member_def d = example(CAROM_EXACT_BEAM, 8);
    carom_member *m = make(&d);
    const int n = carom_member_unknowns(m);
    const double l = d.length / 8, kappa = 2 * PI / d.length;
    double q[MOST], v[MOST] = {0}, f[MOST] = {0}, x = 0, y = 0;
    for (int i = 0; i <= 8; ++i) {
        q[3 * i] = x, q[3 * i + 1] = y, q[3 * i + 2] = kappa * l * i;
        x += l * cos(kappa * l * (i + 0.5)), y += l * sin(kappa * l * (i + 0.5));
    }
    carom_member_force(m, q, v, f);
    const double moment = d.modulus * d.inertia * kappa;
    for (int i = 0; i < n; ++i) assert_double_equal(f[i], i == 2 ? moment : i == n - 1 ? -moment : 0, 1e-11 * moment);
    assert_double_equal(q[n - 3], 0, 1e-14); // closed
    assert_double_equal(q[n - 2], 0, 1e-14);
    double stress[24];
    carom_member_field(m, CAROM_FIELD_STRESS, q, v, stress);
    for (int e = 0; e < 8; ++e) assert_double_equal(stress[3 * e + 2], moment, 1e-11 * moment);
    carom_member_destroy(m);
}

static void kinetic_energy_is_that_of_the_mass_matrix(void **state) {
    (void)state;
    static double M[MOST * MOST];
    for (int kind = 0; kind < KINDS; ++kind)
        for (int lumped = 0; lumped < 2; ++lumped) {
            carom_member_def d = example((carom_member_kind)kind, 4);
            d.lumped = lumped;
            carom_member *m = make(&d);
            const int n = carom_member_unknowns(m);
            double q[MOST], v[MOST], y[MOST], T, V;
            wander(m, 4, 0.1, q, v);
            carom_member_mass(m, dense(M, n), 0);
            carom_matrix_mul(y, (carom_matrix){{.storage = CAROM_DENSE, .n = n}, M}, v);
            carom_member_energy(m, q, v, &T, &V);
            assert_double_equal(T, 0.5 * carom_dot(v, y, n), 1e-13);
            assert_int_equal(carom_member_mass_band(m) == 0, lumped);
            carom_member_destroy(m);
        }
}

// sum of M over the first component, and its first moment along the axis.
static void mass_and_moment(const carom_member *m, int per, double l, double *mass, double *moment) {
    static double M[MOST * MOST];
    const int n = carom_member_unknowns(m);
    carom_matrix A = dense(M, n);
    carom_member_mass(m, A, 0);
    *mass = *moment = 0;
    for (int j = 0; j < n; j += per)
        for (int i = 0; i < n; i += per) {
            *mass += M[i + n * j];
            *moment += M[i + n * j] * l * (j / per);
        }
}

static void mass_is_kept_by_lumping_and_by_massless_nodes(void **state) {
    (void)state;
    const bool light[3][7] = {{0}, {true}, {false, false, false, true, false, false, true}};
    for (int kind = 0; kind < KINDS; ++kind)
        for (int lumped = 0; lumped < 2; ++lumped)
            for (int which = 0; which < 3; ++which) {
                carom_member_def d = example((carom_member_kind)kind, 6);
                d.lumped = lumped;
                d.massless = light[which];
                carom_member *m = make(&d);
                const int per = carom_member_components((carom_member_kind)kind);
                double mass, moment;
                mass_and_moment(m, per, d.length / 6, &mass, &moment);
                const double whole = d.density * d.area * d.length;
                assert_double_equal(mass, whole, 1e-13);
                assert_double_equal(moment, whole * d.length / 2, 1e-13);
                static double M[MOST * MOST];
                const int n = carom_member_unknowns(m);
                carom_member_mass(m, dense(M, n), 0);
                for (int node = 0; node < 7; ++node) assert_int_equal(M[node * per * (n + 1)] == 0, light[which][node]);
                assert_int_equal(isinf(carom_member_fastest(m)), which > 0);
                carom_member_destroy(m);
            }
}

static void a_bar_in_pieces_acts_like_its_stiffness_matrix(void **state) {
    (void)state;
    static double K[MOST * MOST], C[MOST * MOST];
    for (int pattern = 0; pattern < 64; ++pattern) {
        bool fixed[6];
        for (int i = 0; i < 6; ++i) fixed[i] = pattern >> i & 1;
        carom_member_def d = example(CAROM_BAR, 5);
        d.fixed = fixed;
        d.damping_stiffness = pattern % 2 ? 0.1 : 0;
        carom_error err = {0};
        carom_member *m = carom_member_create(&d, &err);
        assert_int_equal(m == NULL, pattern == 63);
        if (!m) continue;
        const int n = carom_member_unknowns(m);
        double q[MOST], v[MOST], f[MOST] = {0}, y[MOST];
        wander(m, 6, 1, q, v);
        carom_member_force(m, q, v, f);
        assert_int_equal(carom_member_streams(m), d.damping_stiffness == 0);
        if (carom_member_streams(m)) {
            for (int i = 0; i < n; ++i) y[i] = NAN; // whatever it holds
            carom_member_stream(m, q, y);
            for (int i = 0; i < n; ++i) assert_true(f[i] == y[i]);
        }
        carom_matrix A = dense(K, n), B = dense(C, n);
        carom_member_tangent(m, q, v, A, B, 0);
        carom_matrix_mul(y, A, q);
        carom_matrix_muladd(y, 1, B, v);
        for (int i = 0; i < n; ++i) assert_double_equal(f[i], -y[i], 1e-12 * 700);
        carom_member_destroy(m);
    }
}

// -- points -------------------------------------------------------------------------------------------------

static double value(const carom_member *m, double s, int c, bool place, const double *q) {
    int index[CAROM_MEMBER_POINT];
    double weight[CAROM_MEMBER_POINT], x;
    const int n =
        place ? carom_member_position(m, s, c, index, weight, &x) : carom_member_point(m, s, c, index, weight, &x);
    assert_in_range(n, 0, CAROM_MEMBER_POINT);
    for (int k = 0; k < n; ++k) x += weight[k] * q[index[k]];
    return x;
}

static void only_bars_without_loads_and_damping_stream(void **state) {
    (void)state;
    for (int which = 0; which < 5; ++which) {
        carom_member_def d = example(which == 1 ? CAROM_BEAM : CAROM_BAR, 3);
        if (which == 2) d.gravity[0] = 1;
        if (which == 3) d.damping_mass = 1;
        if (which == 4) d.damping_stiffness = 1;
        carom_member *m = make(&d);
        assert_int_equal(carom_member_streams(m), which == 0);
        carom_member_destroy(m);
    }
}

static void points_follow_the_shape_functions(void **state) {
    (void)state;
    carom_member_def d = example(CAROM_BEAM, 3);
    carom_member *m = make(&d);
    double q[MOST];
    // u = 2 s, w = s^3 - s^2: both are in the space of the elements
    for (int i = 0; i <= 3; ++i) {
        const double s = 0.5 * i;
        q[3 * i] = 2 * s, q[3 * i + 1] = s * s * s - s * s, q[3 * i + 2] = 3 * s * s - 2 * s;
    }
    for (double s = 0; s <= 1.5; s += 0.125) {
        const double w = s * s * s - s * s;
        assert_double_equal(value(m, s, 0, false, q), 2 * s, 1e-14);
        assert_double_equal(value(m, s, 1, false, q), w, 1e-14);
        assert_double_equal(value(m, s, 2, false, q), 3 * s * s - 2 * s, 1e-13);
        assert_double_equal(value(m, s, 0, true, q), 0.3 + 0.6 * 3 * s - 0.8 * w, 1e-14);
        assert_double_equal(value(m, s, 1, true, q), -0.2 + 0.8 * 3 * s + 0.6 * w, 1e-14);
    }
    carom_member_destroy(m);
}

// The shape functions of the element at an end go on beyond it, however far: at a distance of more elements than an int
// counts, too.
static void points_beyond_the_ends_belong_to_the_elements_there(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; ++kind) {
        carom_member_def d = example((carom_member_kind)kind, 3);
        carom_member *m = make(&d);
        const int per = carom_member_unknowns(m) / 4;
        for (int way = -1; way <= 1; way += 2)
            for (double far = 1; far < 1e30; far *= 1e9) {
                int index[CAROM_MEMBER_POINT];
                double weight[CAROM_MEMBER_POINT], constant;
                const int n = carom_member_point(m, way * 2 * far, 0, index, weight, &constant);
                assert_true(n > 0);
                for (int k = 0; k < n; ++k)
                    assert_in_range(index[k], way < 0 ? 0 : 2 * per, way < 0 ? 2 * per - 1 : 4 * per - 1);
            }
        carom_member_destroy(m);
    }
}

static void spatial_points_use_both_planes_of_bending(void **state) {
    (void)state;
    carom_member_def d = example(CAROM_SPATIAL_BEAM, 2);
    d.direction[0] = 1, d.direction[1] = 0;
    carom_member *m = make(&d);
    double q[MOST] = {0};
    for (int i = 0; i <= 2; ++i) {
        const double s = 0.75 * i;
        double *x = q + 6 * i;
        x[0] = s, x[1] = s * s, x[2] = s * s * s, x[3] = 4 * s, x[4] = -3 * s * s, x[5] = 2 * s;
    }
    for (double s = 0; s <= 1.5; s += 0.25) {
        const double exact[6] = {s, s * s, s * s * s, 4 * s, -3 * s * s, 2 * s};
        for (int c = 0; c < 6; ++c) assert_double_equal(value(m, s, c, false, q), exact[c], 1e-13);
        assert_double_equal(value(m, s, 0, true, q), 0.3 + 2 * s, 1e-14); // own axes are those of space here
        assert_double_equal(value(m, s, 1, true, q), -0.2 + s * s, 1e-14);
        assert_double_equal(value(m, s, 2, true, q), s * s * s, 1e-14);
    }
    carom_member_destroy(m);
}

static void fixed_nodes_stay_where_the_member_rests(void **state) {
    (void)state;
    const bool fixed[9] = {true, true, false};
    carom_member_def d = example(CAROM_EXACT_BEAM, 2);
    d.fixed = fixed;
    carom_member *m = make(&d);
    double q[MOST], rest;
    assert_int_equal(carom_member_unknowns(m), 7);
    assert_int_equal(carom_member_unknown(m, 0, 1, &rest), -1);
    assert_double_equal(rest, -0.2, 0);
    assert_int_equal(carom_member_unknown(m, 1, 0, NULL), 1);
    int node, c;
    carom_member_place(m, 6, &node, &c);
    assert_int_equal(node, 2);
    assert_int_equal(c, 2);
    carom_member_rest(m, q);
    assert_double_equal(value(m, 0, 0, false, q), 0.3, 0);
    assert_double_equal(value(m, 0.75, 0, false, q), 0.3 + 0.75 * 0.6, 1e-15);
    assert_double_equal(value(m, 0.375, 1, false, q), -0.2 + 0.375 * 0.8, 1e-15);
    carom_member_destroy(m);
}

// -- statics and frequencies -----------------------------------------------------------------------------------

// q with K q = f, by elimination (small, positive definite).
static void solve(const carom_member *m, const double *f, double *x) {
    static double K[MOST * MOST], C[MOST * MOST];
    const int n = carom_member_unknowns(m);
    double q[MOST], v[MOST] = {0};
    carom_member_rest(m, q);
    carom_member_tangent(m, q, v, dense(K, n), dense(C, n), 0);
    carom_copy(x, f, n);
    for (int k = 0; k < n; ++k)
        for (int i = k + 1; i < n; ++i) {
            const double r = K[i + n * k] / K[k + n * k];
            for (int j = k; j < n; ++j) K[i + n * j] -= r * K[k + n * j];
            x[i] -= r * x[k];
        }
    for (int k = n - 1; k >= 0; --k) {
        for (int j = k + 1; j < n; ++j) x[k] -= K[k + n * j] * x[j];
        x[k] /= K[k + n * k];
    }
}

static void cantilevers_bend_as_the_theory_says(void **state) {
    (void)state;
    bool fixed[60] = {true, true, true, true, true, true};
    carom_member_def d = example(CAROM_BEAM, 4);
    fixed[3] = fixed[4] = fixed[5] = false;
    d.fixed = fixed;
    carom_member *m = make(&d);
    double f[MOST] = {0}, x[MOST];
    f[10] = 2; // at the tip, across
    solve(m, f, x);
    const double EI = d.modulus * d.inertia, L = d.length;
    assert_double_equal(x[10], 2 * L * L * L / (3 * EI), 1e-12); // exact at nodes
    assert_double_equal(x[11], 2 * L * L / (2 * EI), 1e-12);
    double stress[12];
    carom_member_field(m, CAROM_FIELD_STRESS, x, x, stress);
    assert_double_equal(stress[3 * 3 + 1], 2, 1e-10); // shear force
    assert_double_equal(stress[3 * 3 + 2], 2 * L / 8, 1e-10);
    carom_member_destroy(m);
    // Weight as a distributed load: w = p L^4/(8 E I), also exact at nodes.
    d.direction[0] = 1, d.direction[1] = 0;
    d.gravity[1] = -10;
    m = make(&d);
    carom_zero(f, MOST);
    double zero[MOST] = {0};
    carom_member_force(m, zero, zero, f);
    solve(m, f, x);
    assert_double_equal(x[10], -10 * d.density * d.area * L * L * L * L / (8 * EI), 1e-12);
    carom_member_destroy(m);
}

static void torsion_twists_as_the_theory_says(void **state) {
    (void)state;
    bool fixed[60] = {true, true, true, true, true, true};
    carom_member_def d = example(CAROM_SPATIAL_BEAM, 3);
    d.fixed = fixed;
    carom_member *m = make(&d);
    double f[MOST] = {0}, x[MOST];
    f[15] = 3; // rx of the last node
    f[14] = 2; // w
    f[13] = 5; // v
    solve(m, f, x);
    const double L = d.length;
    assert_double_equal(x[15], 3 * L / (d.shear_modulus * d.torsion), 1e-12);
    assert_double_equal(x[14], 2 * L * L * L / (3 * d.modulus * d.inertia), 1e-12);
    assert_double_equal(x[13], 5 * L * L * L / (3 * d.modulus * d.inertia_v), 1e-12);
    assert_double_equal(x[16], -2 * L * L / (2 * d.modulus * d.inertia), 1e-12); // ry = -dw/ds
    assert_double_equal(x[17], 5 * L * L / (2 * d.modulus * d.inertia_v), 1e-12);
    carom_member_destroy(m);
}

// A thin beam: one-point integration bends without locking.  Exact deflection with shear: F L^3/(3EI) + F L/(G A_s);
// the element has F L^3/(3EI) (1 - 1/(4 n^2)), since the moment is constant in each.
static void the_exact_beam_does_not_lock(void **state) {
    (void)state;
    bool fixed[60] = {true, true, true};
    carom_member_def d = example(CAROM_EXACT_BEAM, 10);
    d.direction[0] = 1, d.direction[1] = 0;
    d.area = 1e-4, d.inertia = 1e-4 * 1e-4 / 12, d.shear_area = 5e-4 / 6, d.modulus = 2e11, d.shear_modulus = 8e10;
    d.fixed = fixed;
    carom_member *m = make(&d);
    const int n = carom_member_unknowns(m);
    double f[MOST] = {0}, x[MOST];
    f[n - 2] = 1e-3;
    solve(m, f, x);
    const double L = d.length, bending = 1e-3 * L * L * L / (3 * d.modulus * d.inertia),
                 shear = 1e-3 * L / (d.shear_modulus * d.shear_area);
    assert_double_equal(x[n - 2], bending * (1 - 1.0 / 400) + shear, 1e-9 * bending);
    carom_member_destroy(m);
}

static void frequencies_are_those_of_bars_and_beams(void **state) {
    (void)state;
    double omega[8];
    // A bar held at one end: (k - 1/2) pi c/L; n linear elements with consistent mass are above by (k-th kL/n)^2/24.
    bool fixed[200] = {true};
    carom_member_def d = example(CAROM_BAR, 60);
    d.fixed = fixed;
    carom_member *m = make(&d);
    const double c = sqrt(d.modulus / d.density), L = d.length;
    assert_int_equal(carom_member_frequencies(m, 3, omega), 3);
    for (int k = 0; k < 3; ++k) {
        const double a = (k + 0.5) * PI / 60; // exact discrete: omega^2 = 6 c^2/l^2 (1 - cos a)/(2 + cos a)
        assert_double_equal(omega[k], 60 * c / L * sqrt(6 * (1 - cos(a)) / (2 + cos(a))), 1e-9 * omega[k]);
    }
    carom_member_destroy(m);
    // Free: the first is 0.  The fastest of lumped ones is 2 c/l, of consistent ones 2 sqrt(3) c/l.
    d.fixed = NULL;
    d.lumped = true;
    m = make(&d);
    assert_int_equal(carom_member_frequencies(m, 2, omega), 2);
    assert_double_equal(omega[0], 0, 0);
    assert_double_equal(omega[1], 2 * 60 * c / L * sin(PI / 120), 1e-9 * omega[1]);
    assert_double_equal(carom_member_fastest(m), 2 * 60 * c / L, 1e-12 * c / L * 60);
    assert_double_equal(carom_member_step(m, 2), L / 60 / c, 1e-12);
    carom_member_destroy(m);
    d.lumped = false;
    m = make(&d);
    assert_double_equal(carom_member_fastest(m), 2 * sqrt(3) * 60 * c / L, 1e-10 * c / L * 60);
    carom_member_destroy(m);
    // A cantilever: b_k^2 sqrt(EI/(rho A L^4)); cubic elements come from above, by (b_k/n)^4/1440 of it.
    memset(fixed, 0, sizeof fixed);
    fixed[0] = fixed[1] = fixed[2] = true;
    d = example(CAROM_BEAM, 12);
    d.modulus = 7e5, d.inertia = 1e-5;
    d.fixed = fixed;
    m = make(&d);
    const double unit = sqrt(d.modulus * d.inertia / (d.density * d.area)) / (L * L);
    assert_int_equal(carom_member_frequencies(m, 2, omega), 2);
    const double b[2] = {1.875104068711961, 4.694091132974175};
    for (int k = 0; k < 2; ++k) {
        const double above = omega[k] / (b[k] * b[k] * unit) - 1, expected = pow(b[k] / 12, 4) / 1440;
        assert_double_equal(above, expected, 0.1 * expected);
    }
    carom_member_destroy(m);
}

static void the_bound_of_frequencies_holds(void **state) {
    (void)state;
    for (int kind = 0; kind < KINDS; ++kind)
        for (int lumped = 0; lumped < 2; ++lumped) {
            carom_member_def d = example((carom_member_kind)kind, 2);
            d.lumped = lumped;
            carom_member *m = make(&d);
            double omega[24];
            const int n = carom_member_frequencies(m, carom_member_unknowns(m), omega);
            assert_int_equal(n, carom_member_unknowns(m));
            const double most = carom_member_fastest(m);
            assert_true(omega[n - 1] <= most * (1 + 1e-9));
            assert_true(omega[n - 1] > 0.5 * most);
            carom_member_destroy(m);
        }
}

// -- mistakes -------------------------------------------------------------------------------------------------

static void mistakes_are_told(void **state) {
    (void)state;
    carom_error err = {0};
    carom_member_def d = example(CAROM_BAR, 0);
    assert_null(carom_member_create(&d, &err));
    assert_non_null(strstr(err.text, "elements"));
    d = example(CAROM_BEAM, 2);
    d.inertia = -1;
    assert_null(carom_member_create(&d, &err));
    assert_non_null(strstr(err.text, "the inertia must be positive, got -1"));
    d = example(CAROM_SPATIAL_BEAM, 2);
    d.up[0] = 0.6, d.up[1] = 0.8, d.up[2] = 0;
    assert_null(carom_member_create(&d, &err));
    assert_non_null(strstr(err.text, "up"));
    d = example(CAROM_BAR, 2);
    const bool light[3] = {true, true, false};
    d.massless = light;
    assert_null(carom_member_create(&d, &err));
    assert_non_null(strstr(err.text, "massless"));
    d = example(CAROM_BAR, 2);
    d.damping_stiffness = NAN;
    assert_null(carom_member_create(&d, &err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_force_is_the_gradient_of_the_energy),
        cmocka_unit_test(tangents_are_the_derivatives_of_the_force),
        cmocka_unit_test(damping_takes_what_dissipation_says),
        cmocka_unit_test(rigid_motions_meet_no_force),
        cmocka_unit_test(the_exact_beam_rolls_up_under_end_moments),
        cmocka_unit_test(kinetic_energy_is_that_of_the_mass_matrix),
        cmocka_unit_test(mass_is_kept_by_lumping_and_by_massless_nodes),
        cmocka_unit_test(a_bar_in_pieces_acts_like_its_stiffness_matrix),
        cmocka_unit_test(only_bars_without_loads_and_damping_stream),
        cmocka_unit_test(points_follow_the_shape_functions),
        cmocka_unit_test(points_beyond_the_ends_belong_to_the_elements_there),
        cmocka_unit_test(spatial_points_use_both_planes_of_bending),
        cmocka_unit_test(fixed_nodes_stay_where_the_member_rests),
        cmocka_unit_test(cantilevers_bend_as_the_theory_says),
        cmocka_unit_test(torsion_twists_as_the_theory_says),
        cmocka_unit_test(the_exact_beam_does_not_lock),
        cmocka_unit_test(frequencies_are_those_of_bars_and_beams),
        cmocka_unit_test(the_bound_of_frequencies_holds),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

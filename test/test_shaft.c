// test_shaft.c: shafts that turn: matrices against differences, statics, frequencies and their splitting by the spin,
// flywheels, energy, the rotor.
#include "flex/member.h"
#include "linalg/matrix.h"
#include "model/answers.h"
#include "model_text.h"
#include <carom/flex.h>

#define assert_close(a, b, tolerance)                                                                                  \
    do {                                                                                                               \
        const double a_ = (a), b_ = (b), t_ = (tolerance);                                                             \
        if (!(fabs(a_ - b_) <= t_)) fail_msg("%s = %.17g, expected %.17g within %g", #a, a_, b_, t_);                  \
    } while (0)

enum { MOST = 80 };
static const double PI = 3.14159265358979323846;

static double next(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

static carom_member *make(const carom_member_def *d) {
    carom_error err = {0};
    carom_member *m = carom_member_create(d, &err);
    if (!m) fail_msg("%s", err.text);
    assert_true(carom_member_unknowns(m) <= MOST);
    return m;
}

// Unequal elements, one hollow; two wheels, one thick.
static const carom_shaft_element ELEMENTS[] = {{0.3, 0.05, 0}, {0.2, 0.08, 0.06}, {0.5, 0.05, 0}};
static const carom_flywheel WHEELS[] = {{1, 2, 0.3, 0.15}, {3, 1, 0.1, 0.2}};

static carom_member_def uneven(void) {
    carom_member_def d = carom_member_default(CAROM_SHAFT);
    d.elements = 3;
    d.density = 900;
    d.modulus = 7e6;
    d.shear_modulus = 3e6;
    d.shaft = ELEMENTS;
    d.flywheels = WHEELS;
    d.nflywheels = 2;
    return d;
}

static void wander(const carom_member *m, unsigned seed, double *q, double *v) {
    for (int i = 0; i < carom_member_unknowns(m); ++i) {
        q[i] = 0.05 * next(&seed);
        v[i] = 3 * next(&seed);
    }
}

// -- forces -----------------------------------------------------------------------------------------------------------

static void tangents_are_the_derivatives_of_the_force(void **state) {
    (void)state;
    static double K[MOST * MOST], C[MOST * MOST];
    carom_member_def d = uneven();
    d.damping_mass = 0.3, d.damping_stiffness = 0.002, d.damping_torsion = 0.7;
    d.gravity[1] = 3, d.gravity[2] = -9;
    bool fixed[20] = {false};
    fixed[0] = fixed[12] = fixed[13] = true; // a deflection, an angle, a slope
    d.fixed = fixed;
    carom_member *m = make(&d);
    const int n = carom_member_unknowns(m);
    assert_int_equal(n, 17);
    double q[MOST], v[MOST], most = 0;
    wander(m, 9, q, v);
    memset(K, 0, sizeof K);
    memset(C, 0, sizeof C);
    const carom_shape shape = {.storage = CAROM_DENSE, .n = n};
    carom_member_tangent(m, q, v, (carom_matrix){shape, K}, (carom_matrix){shape, C}, 0);
    for (int e = 0; e < n * n; ++e) most = fmax(most, fabs(K[e]));
    for (int j = 0; j < n; ++j)
        for (int side = 0; side < 2; ++side) {
            double *x = side ? v : q, up[MOST] = {0}, down[MOST] = {0};
            const double at = x[j], h = side ? 1 : 1e-6; // of rates at most quadratic
            x[j] = at + h;
            carom_member_force(m, q, v, up);
            x[j] = at - h;
            carom_member_force(m, q, v, down);
            x[j] = at;
            for (int i = 0; i < n; ++i)
                assert_close((side ? C : K)[i + n * j], -(up[i] - down[i]) / (2 * h),
                             side ? 1e-12 * most : 1e-8 * most);
        }
    carom_member_destroy(m);
}

// v.f = -dV/dt - dissipation: the gyroscopic part has no share in it.
static void the_power_of_all_forces_is_what_springs_store_and_damping_takes(void **state) {
    (void)state;
    for (int damped = 0; damped < 2; ++damped) {
        carom_member_def d = uneven();
        d.gravity[1] = 3, d.gravity[2] = -9;
        if (damped) d.damping_mass = 0.3, d.damping_stiffness = 0.002, d.damping_torsion = 0.7;
        carom_member *m = make(&d);
        const int n = carom_member_unknowns(m);
        double q[MOST], v[MOST], f[MOST] = {0}, T, up, down;
        wander(m, 5, q, v);
        carom_member_force(m, q, v, f);
        const double h = 1e-3; // V is quadratic: the central difference is exact
        carom_axpy(q, h, v, n);
        carom_member_energy(m, q, v, &T, &up);
        carom_axpy(q, -2 * h, v, n);
        carom_member_energy(m, q, v, &T, &down);
        double scale = 0;
        for (int i = 0; i < n; ++i) scale += fabs(f[i] * v[i]);
        assert_close(carom_dot(f, v, n), -(up - down) / (2 * h) - carom_member_dissipation(m, q, v), 1e-9 * scale);
        assert_true((carom_member_dissipation(m, q, v) > 0) == damped);
        carom_member_destroy(m);
    }
}

static void a_turning_shaft_feels_nothing_but_its_spin(void **state) {
    (void)state;
    carom_member_def d = uneven();
    d.damping_mass = 0.3, d.damping_torsion = 0.7;
    carom_member *m = make(&d);
    const int n = carom_member_unknowns(m);
    double q[MOST] = {0}, v[MOST] = {0}, f[MOST] = {0}, T, V;
    for (int node = 0; node < 4; ++node) q[5 * node + 2] = 1e4, v[5 * node + 2] = 800; // turned often, and turning
    carom_member_force(m, q, v, f);
    for (int i = 0; i < n; ++i) assert_true(f[i] == 0);
    carom_member_energy(m, q, v, &T, &V);
    double J = 0.4; // wheels, then rho pi/2 (R^4 - r^4) l
    for (int e = 0; e < 3; ++e)
        J += 900 * PI / 2 * (pow(ELEMENTS[e].radius, 4) - pow(ELEMENTS[e].bore, 4)) * ELEMENTS[e].length;
    assert_close(T, 0.5 * J * 800 * 800, 1e-9 * T);
    assert_true(V == 0);
    carom_member_destroy(m);
}

// -- statics ----------------------------------------------------------------------------------------------------------

// x of K x = f.
static void solve(const carom_member *m, const double *f, double *x) {
    static double K[MOST * MOST], C[MOST * MOST];
    const int n = carom_member_unknowns(m);
    double zero[MOST] = {0};
    memset(K, 0, sizeof K);
    const carom_shape shape = {.storage = CAROM_DENSE, .n = n};
    carom_member_tangent(m, zero, zero, (carom_matrix){shape, K}, (carom_matrix){shape, C}, 0);
    carom_arena mem = {0};
    carom_allocate_factor(&mem, shape, true);
    void *block = aligned_alloc(64, (mem.used + 63) & ~(size_t)63);
    assert_non_null(block);
    mem = (carom_arena){.base = block, .size = mem.used};
    carom_factor F = carom_allocate_factor(&mem, shape, true);
    assert_int_equal(carom_factorise(&F, (carom_matrix){shape, K}, NULL), CAROM_OK);
    carom_copy(x, f, n);
    carom_factor_solve(&F, x);
    free(block);
}

// A stepped cantilever with a force F at its tip: deflection of the outer part on that of the inner one; twist adds up.
static void a_stepped_shaft_bends_and_twists_as_the_theory_says(void **state) {
    (void)state;
    static const carom_shaft_element steps[] = {{0.2, 0.05, 0}, {0.1, 0.05, 0}, {0.4, 0.03, 0.01}, {0.1, 0.03, 0.01}};
    carom_member_def d = carom_member_default(CAROM_SHAFT);
    bool fixed[25] = {true, true, true, true, true};
    d.elements = 4, d.density = 1000, d.modulus = 2e9, d.shear_modulus = 8e8, d.shaft = steps, d.fixed = fixed;
    carom_member *m = make(&d);
    const double I1 = PI / 4 * pow(0.05, 4), I2 = PI / 4 * (pow(0.03, 4) - pow(0.01, 4)), l1 = 0.3, l2 = 0.5, E = 2e9,
                 G = 8e8;
    double f[MOST] = {0}, x[MOST];
    f[15] = 7, f[16] = -3, f[17] = 2; // v, w, rx of the tip
    solve(m, f, x);
    const double slope = l1 * (l1 / 2 + l2) / (E * I1),
                 tip = l1 * l1 * (l1 / 3 + l2 / 2) / (E * I1) + slope * l2 + pow(l2, 3) / (3 * E * I2);
    assert_close(x[15], 7 * tip, 1e-12 * tip);
    assert_close(x[16], -3 * tip, 1e-12 * tip);
    assert_close(x[17], 2 * (l1 / (G * 2 * I1) + l2 / (G * 2 * I2)), 1e-12);
    assert_close(x[9], 7 * slope, 1e-12);  // rz and ry where the radius changes
    assert_close(x[8], 3 * slope, 1e-12);
    double stress[4 * 5];
    carom_member_field(m, CAROM_FIELD_STRESS, x, x, stress);
    assert_close(stress[5 * 3 + 0], 7, 1e-9);
    assert_close(stress[5 * 3 + 1], -3, 1e-9);
    assert_close(stress[5 * 3 + 2], 2, 1e-9);
    assert_close(fabs(stress[5 * 3 + 4]), 7 * 0.05, 1e-9); // moment in the middle of the last element
    assert_close(carom_member_field_place(m, CAROM_FIELD_STRESS, 3), 0.75, 1e-15);
    carom_member_destroy(m);
}

static void points_lie_on_the_curve_between_unequal_nodes(void **state) {
    (void)state;
    carom_member_def d = uneven();
    d.origin[0] = 2, d.direction[0] = 0, d.direction[1] = 1; // along y: its own axes are y, -x, z
    carom_member *m = make(&d);
    double q[MOST] = {0};
    for (int node = 0; node < 4; ++node) { // v = s^3, w = -s^2, with their slopes
        const double s = carom_member_arc(m, node);
        q[5 * node] = s * s * s, q[5 * node + 4] = 3 * s * s;
        q[5 * node + 1] = -s * s, q[5 * node + 3] = 2 * s;
    }
    for (double s = 0; s <= 1.0000001; s += 0.125) {
        int index[CAROM_MEMBER_POINT];
        double weight[CAROM_MEMBER_POINT], c, x[5], place[3];
        for (int k = 0; k < 5; ++k) {
            const int n = carom_member_point(m, s, k, index, weight, &c);
            x[k] = c;
            for (int i = 0; i < n; ++i) x[k] += weight[i] * q[index[i]];
        }
        for (int k = 0; k < 3; ++k) {
            const int n = carom_member_position(m, s, k, index, weight, &c);
            place[k] = c;
            for (int i = 0; i < n; ++i) place[k] += weight[i] * q[index[i]];
        }
        assert_close(x[0], s * s * s, 1e-14);
        assert_close(x[1], -s * s, 1e-14);
        assert_close(x[3], 2 * s, 1e-13);
        assert_close(x[4], 3 * s * s, 1e-13);
        assert_close(place[0], 2 - s * s * s, 1e-14);
        assert_close(place[1], s, 1e-14);
        assert_close(place[2], -s * s, 1e-14);
    }
    carom_member_destroy(m);
}

// -- frequencies ------------------------------------------------------------------------------------------------------

// Between two pins: omega^2 = E I k^4/(rho A + rho I k^2), k = n pi/l, twice; fixed torsion at the start: (2n - 1)
// pi/(2l) sqrt(G/rho).
static void frequencies_converge_to_those_of_beam_theory(void **state) {
    (void)state;
    const double r = 0.04, l = 1, rho = 7850, E = 2.1e11, G = 0.2e11, A = PI * r * r, I = PI / 4 * pow(r, 4);
    double last[2] = {0, 0};
    for (int elements = 2; elements <= 8; elements *= 2) {
        carom_shaft_element list[8];
        bool fixed[45] = {false};
        for (int e = 0; e < elements; ++e) list[e] = (carom_shaft_element){.length = l / elements, .radius = r};
        fixed[0] = fixed[1] = fixed[2] = fixed[5 * elements] = fixed[5 * elements + 1] = true;
        carom_member_def d = carom_member_default(CAROM_SHAFT);
        d.elements = elements, d.density = rho, d.modulus = E, d.shear_modulus = G, d.shaft = list, d.fixed = fixed;
        carom_member *m = make(&d);
        double omega[3];
        assert_int_equal(carom_member_frequencies(m, 3, omega), 3);
        const double bending = sqrt(E * I * pow(PI / l, 4) / (rho * A + rho * I * pow(PI / l, 2))),
                     torsion = PI / (2 * l) * sqrt(G / rho);
        assert_true(bending < torsion);
        assert_close(omega[1], omega[0], 1e-8 * omega[0]);
        const double error[2] = {omega[0] / bending - 1, omega[2] / torsion - 1};
        assert_true(error[0] > 0 && error[1] > 0); // Ritz: from above
        if (elements > 2) {
            assert_close(log2(last[0] / error[0]), 4, 0.1);
            assert_close(log2(last[1] / error[1]), 2, 0.1);
        }
        last[0] = error[0], last[1] = error[1];
        assert_true(carom_member_fastest(m) > omega[2]);
        carom_member_destroy(m);
    }
    assert_close(last[0] / (pow(PI / 8, 4) / 1440), 1, 0.1); // of cubics, and of linear shape functions
    assert_close(last[1] / (pow(PI / 16, 2) / 24), 1, 0.1);
}

// -- motion -----------------------------------------------------------------------------------------------------------

// Of a shaft between pins that spins with Omega the mode sin(k s) whirls round with both roots of
//     (rho A + rho I k^2) omega^2 - 2 rho I k^2 Omega omega - E I k^4 = 0,
// forwards and backwards.  It starts on a circle and must be there again after some turns.
static void whirling_is_split_by_the_spin_as_the_theory_says(void **state) {
    (void)state;
    const double r = 0.1, rho = 7850, E = 2.1e11, spin = 3000, k = PI, A = PI * r * r, I = PI / 4 * pow(r, 4);
    const double a = rho * A + rho * I * k * k, b = rho * I * k * k * spin, c = E * I * pow(k, 4);
    for (int way = -1; way <= 1; way += 2) {
        const double omega = (b + way * sqrt(b * b + a * c)) / a, turn = 2 * PI / fabs(omega);
        assert_true(fabs(fabs(omega) / sqrt(c / a) - 1) > 0.02); // the split is what is tested
        char text[900];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {omega: %.17g}\nflexible:\n"
                 "  axle: {type: shaft, length: 1, elements: 10, radius: 0.1, density: 7850, modulus: 2.1e11, shear "
                 "modulus: 0.8e11, points: {middle: 0.5},\n"
                 "    fix: {start: [v, w], end: [v, w]}, at: {v: 1e-3*sin(pi*s)}, rate: {w: 1e-3*omega*sin(pi*s), rx: "
                 "3000}}\n"
                 "outputs: {v: axle.middle.v, w: axle.middle.w}\n",
                 omega);
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, "mixed", NULL, turn / 2000, 3.25 * turn); // ends where w is largest
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        const int middle = 3 + 4 * 5; // of node 5; two components of node 0 are fixed
        // 10 elements: omega is right to (pi/10)^4/1440 = 7e-6, which after 20.4 radians is 1.4e-4 of the radius.
        assert_close(now.q[middle], 0, 2e-4 * 1e-3);
        assert_close(now.q[middle + 1], way * 1e-3, 2e-5 * 1e-3);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A wheel on a short stiff shaft that flies: it nutates with (J_p/J_d) Omega, J of everything about the centre.
static void a_free_wheel_nutates(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nflexible:\n"
                          "  top: {type: shaft, length: 0.2, elements: {wheel: 1, end: 1}, radius: 0.01, density: "
                          "7850, modulus: 2.1e11, shear modulus: 0.8e11,\n"
                          "    points: {wheel: 0.1}, flywheels: {wheel: {mass: 3, inertia: [0.02, 0.012]}}, rate: {rx: "
                          "50, w: -0.1*(s - 0.1)}}\n");
    const double rho = 7850, r = 0.01, l = 0.2, A = PI * r * r, I = PI / 4 * pow(r, 4);
    const double Jp = 0.02 + 2 * rho * I * l, Jd = 0.012 + rho * A * l * l * l / 12 + rho * I * l, omega = Jp / Jd * 50;
    carom_sim *sim = model_sim(m, "half-explicit", NULL, 2e-6, 2.25 * 2 * PI / omega);
    assert_close(carom_sim_now(sim).v[8], 0.1, 1e-15); // ry' = -w' slope
    model_sim_run(sim);
    const carom_now now = carom_sim_now(sim);
    // ry'' = -omega rz', rz'' = omega ry': after a quarter more ry' has become rz'.  The shaft, 1/8 of the inertia,
    // is first behind and then vibrates with 9100 rad/s: 80/9100/8 of the rate.
    assert_close(now.v[8], 0, 1.1e-3 * 0.1);
    assert_close(now.v[9], 0.1, 1.1e-3 * 0.1);
    assert_close(now.v[7], 50, 1e-9);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Nothing is damped, nothing touches: what half-explicit makes of the energy vanishes with h^2.
static void energy_is_kept_by_a_spinning_shaft(void **state) {
    (void)state;
    double last = 0;
    for (int k = 0; k < 2; ++k) {
        carom_model *m = good("carom: 1\nflexible:\n"
                              "  axle: {type: shaft, length: 1, elements: {one: 2, two: 1, end: 2}, radius: {two: "
                              "0.05, end: 0.03}, density: 7850, modulus: 2.1e11,\n"
                              "    shear modulus: 0.8e11, points: {one: 0.5, two: 0.6}, flywheels: {one: {mass: 30, "
                              "inertia: 0.5}, two: {mass: 5, inertia: [0.1, 0.2]}},\n"
                              "    fix: {start: [v, w], end: [v, w]}, gravity: [0, 0, -9.81], at: {v: 1e-3*sin(pi*s)}, "
                              "rate: {w: 0.5*sin(2*pi*s), rx: 600 + 5*s}}\n");
        carom_sim *sim = model_sim(m, "half-explicit", NULL, k ? 1e-6 : 2e-6, 0.02);
        model_sim_run(sim);
        carom_ledger l;
        carom_error err = {0};
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        const double motion = l.energy.start - 0.5 * 0.6 * 600 * 600; // without the wheels' spin
        assert_true(motion > 0);
        assert_true(fabs(l.energy.end - l.energy.start) < 1e-4 * motion);
        assert_true(l.energy.damping == 0);
        if (k) assert_close(last / (l.energy.end - l.energy.start), 4, 1);
        last = l.energy.end - l.energy.start;
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// q_1 = q_0 + h v_0, v_1 = v_0 - h q_1 keeps q^2 + v^2 + h q v; forward Euler gains h^2 in every step.
static void moreau_explicit_keeps_oscillations_with_forces_at_the_end(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\ncoordinates: {x: {at: 1, rate: 0.5}}\nenergy: {kinetic: 1/2*x'^2, potential: 1/2*x^2}\n");
    const double h = 1.5, kept = 1 + 0.25 + h * 0.5;
    carom_sim *sim = model_sim(m, "moreau-explicit", (const char *const[]){"forces=end", NULL}, h, 3000 * h);
    model_sim_run(sim);
    const carom_now now = carom_sim_now(sim);
    assert_close(now.q[0] * now.q[0] + now.v[0] * now.v[0] + h * now.q[0] * now.v[0], kept, 1e-11);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// -- the rotor --------------------------------------------------------------------------------------------------------

static double output_of(const carom_model *m, const carom_now *now, const char *name) {
    void *work = aligned_alloc(64, (carom_model_system(m)->work_size + 63) & ~(size_t)63);
    assert_non_null(work);
    memset(work, 0, carom_model_system(m)->work_size);
    carom_model_system(m)->work_init(m, work);
    const int n = carom_model_count(m).outputs;
    double *out = calloc((size_t)n, sizeof *out), x = NAN;
    assert_non_null(out);
    carom_model_outputs(m, work, now->t, now->q, now->v, out);
    for (int i = 0; i < n; ++i)
        if (strcmp(carom_model_output(m, i), name) == 0) x = out[i];
    free(out);
    free(work);
    return x;
}

// Another program's numbers for the same data, after 0.15 s: the journal at (-4.1299e-5, -9.1064e-5), 1.08 % impulsive
// steps, the wheel's spin without friction 491.3.  It takes gaps below 1e-8 m for closed, so its journal may be that
// far away; the two schemes are apart by 3e-8.
static void the_rotor_meets_its_reference_values(void **state) {
    (void)state;
    static const struct { const char *scheme, *options[3]; double y, z, deep; } runs[] = {
        {"half-explicit", {"active=predicted", "impulsive-step=0.1", NULL}, -4.1299e-5, -9.1064e-5, 3e-8},
        {"moreau-explicit", {"forces=end", NULL, NULL}, -4.1320e-5, -9.1096e-5, 4e-7}};
    for (int k = 0; k < 2; ++k) {
        carom_model *m = shipped_model("rotor");
        carom_sim *sim = model_sim(m, runs[k].scheme, runs[k].options, 5e-6, 0.15);
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        assert_close(output_of(m, &now, "journal.y"), runs[k].y, 2e-8);
        assert_close(output_of(m, &now, "journal.z"), runs[k].z, 2e-8);
        // 9800 rad/s^2 start and stop at once: torsion with 1.2e4 rad/s
        assert_close(output_of(m, &now, "axle.wheel.rx'"), 491.3, 1.5);
        carom_ledger l;
        carom_error err = {0};
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        assert_true(l.penetration > 0 && l.penetration < runs[k].deep);
        const double share = (double)l.counts.substeps / (double)l.steps;
        if (k == 0) assert_true(share > 0.01 && share < 0.013);
        assert_close(l.energy.balance, 0, 1e-4 * l.energy.end);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// omega^2 of K x = omega^2 M x next to `near`, by inverse iteration.
static double frequency_near(const carom_model *m, double near) {
    const carom_system *s = carom_model_system(m);
    const int n = s->nv;
    static double M[MOST * MOST], K[MOST * MOST], C[MOST * MOST], A[MOST * MOST];
    void *work = aligned_alloc(64, (s->work_size + 63) & ~(size_t)63);
    assert_non_null(work);
    memset(work, 0, s->work_size);
    s->work_init(m, work);
    assert_int_equal(s->mass_shape.storage, CAROM_DENSE);
    assert_int_equal(s->tangent_shape.storage, CAROM_DENSE);
    memset(M, 0, sizeof M), memset(K, 0, sizeof K), memset(C, 0, sizeof C);
    double zero[MOST] = {0}, x[MOST], y[MOST], omega2 = 0;
    assert_int_equal(s->mass(m, work, 0, zero, (carom_matrix){s->mass_shape, M}), CAROM_OK);
    assert_int_equal(
        s->tangent(m, work, 0, zero, zero, (carom_matrix){s->tangent_shape, K}, (carom_matrix){s->tangent_shape, C}),
        CAROM_OK);
    free(work);
    unsigned seed = 3;
    for (int i = 0; i < n; ++i) x[i] = next(&seed);
    for (int round = 0; round < 40; ++round) {
        for (int e = 0; e < n * n; ++e) A[e] = K[e] - near * near * M[e];
        carom_matrix_mul(y, (carom_matrix){s->mass_shape, M}, x);
        for (int c = 0; c < n; ++c) { // Gauss with pivots
            int p = c;
            for (int i = c + 1; i < n; ++i)
                if (fabs(A[i + n * c]) > fabs(A[p + n * c])) p = i;
            for (int j = 0; j < n; ++j) {
                const double t = A[c + n * j];
                A[c + n * j] = A[p + n * j], A[p + n * j] = t;
            }
            const double t = y[c];
            y[c] = y[p], y[p] = t;
            for (int i = c + 1; i < n; ++i) {
                const double f = A[i + n * c] / A[c + n * c];
                for (int j = c; j < n; ++j) A[i + n * j] -= f * A[c + n * j];
                y[i] -= f * y[c];
            }
        }
        for (int i = n - 1; i >= 0; --i) {
            for (int j = i + 1; j < n; ++j) y[i] -= A[i + n * j] * x[j];
            x[i] = y[i] / A[i + n * i];
        }
        double Mx[MOST], Kx[MOST];
        carom_matrix_mul(Mx, (carom_matrix){s->mass_shape, M}, x);
        carom_matrix_mul(Kx, (carom_matrix){s->tangent_shape, K}, x);
        omega2 = carom_dot(x, Kx, n) / carom_dot(x, Mx, n);
        const double size = carom_norm_max(x, n);
        for (int i = 0; i < n; ++i) x[i] /= size;
    }
    return sqrt(omega2);
}

// The axle's mass, what turns with it, and frequencies at rest, by another program.
static void the_rotor_has_the_masses_and_frequencies_of_its_data(void **state) {
    (void)state;
    carom_model *m = shipped_model("rotor");
    const carom_model_member axle = carom_model_member_at(m, 0);
    double q[MOST] = {0}, v[MOST] = {0}, T, V;
    for (int node = 0; node < 6; ++node) v[5 * node] = 1;
    carom_member_energy(axle.flex, q, v, &T, &V);
    assert_close(2 * T - 4.98, 2.27348, 0.5e-5);
    memset(v, 0, sizeof v);
    for (int node = 0; node < 6; ++node) v[5 * node + 2] = 1;
    carom_member_energy(axle.flex, q, v, &T, &V);
    assert_close(2 * T, 0.0101776, 0.5e-7);
    assert_close(frequency_near(m, 655), 659.4, 0.05);   // the bearing alone
    assert_close(frequency_near(m, 1190), 1191.7, 0.05); // the axle on the drive's support
    carom_model_destroy(m);
}

// -- mistakes ---------------------------------------------------------------------------------------------------------

#define SHAFT(rest)                                                                                                    \
    "carom: 1\nflexible:\n  a: {type: shaft, length: 1, density: 1, modulus: 1, shear modulus: 1, points: {mid: 0.5, " \
    "odd: 0.3}, " rest "}\n"

static void mistakes_are_told_with_their_place(void **state) {
    (void)state;
    static const struct { const char *text, *part; } wrong[] = {
        {SHAFT("elements: 4"), "has no radius"},
        {SHAFT("elements: 4, radius: -1"), "the radius must be positive, got -1"},
        {SHAFT("elements: 4, radius: 1, bore: 2"), "a bore of radius 2 in a shaft of radius 1"},
        {SHAFT("elements: {mid: 2}, radius: 1"), "elements reaches to arc length 0.5 only; the last stretch is `end`"},
        {SHAFT("elements: {end: 2, mid: 2}, radius: 1"),
         "stretches come in order; 'mid' (arc length 0.5) does not follow 1"},
        {SHAFT("elements: {mit: 2, end: 2}, radius: 1"), "did you mean 'mid'?"},
        {SHAFT("elements: {mid: 2.5, end: 2}, radius: 1"), "elements must be an integer of at least 1, got 2.5"},
        {SHAFT("elements: [2, 2], radius: 1"), "elements is one value, or one for each stretch"},
        {SHAFT("elements: {}, radius: 1"), "elements is one value, or one for each stretch"},
        {SHAFT("elements: 4, radius: {odd: 1, end: 2}"), "radius changes at arc length 0.3, inside an element"},
        {SHAFT("elements: 4, radius: 1, flywheels: {odd: {mass: 1, inertia: 1}}"),
         "point 'odd' lies inside an element"},
        {SHAFT("elements: 4, radius: 1, flywheels: {mid: {mass: 1}}"), "the flywheel at 'mid' needs mass and inertia"},
        {SHAFT("elements: 4, radius: 1, flywheels: {mid: {mass: 0, inertia: 1}}"),
         "the mass of a flywheel must be positive, got 0"},
        {SHAFT("elements: 4, radius: 1, flywheels: {mid: {mass: 1, inertia: [1, 0.4]}}"),
         "no mass has less than half across"},
        {SHAFT("elements: 4, radius: 1, flywheels: {mid: {mass: 1, inertia: [1, 2, 3]}}"),
         "one number, or a list of two"},
        {SHAFT("elements: 4, radius: 1, area: 1"), "unknown key 'area'"},
        {SHAFT("elements: 4, radius: 1, damping: {torsion: -1}"), "must not be negative, got"},
        {"carom: 1\nflexible: {b: {type: bar, length: 1, elements: 1, density: 1, modulus: 1, area: 1, flywheels: "
         "{}}}\n",
         "unknown key 'flywheels'"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) model_refused(wrong[i].text, wrong[i].part);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tangents_are_the_derivatives_of_the_force),
        cmocka_unit_test(the_power_of_all_forces_is_what_springs_store_and_damping_takes),
        cmocka_unit_test(a_turning_shaft_feels_nothing_but_its_spin),
        cmocka_unit_test(a_stepped_shaft_bends_and_twists_as_the_theory_says),
        cmocka_unit_test(points_lie_on_the_curve_between_unequal_nodes),
        cmocka_unit_test(frequencies_converge_to_those_of_beam_theory),
        cmocka_unit_test(whirling_is_split_by_the_spin_as_the_theory_says),
        cmocka_unit_test(a_free_wheel_nutates),
        cmocka_unit_test(energy_is_kept_by_a_spinning_shaft),
        cmocka_unit_test(moreau_explicit_keeps_oscillations_with_forces_at_the_end),
        cmocka_unit_test(the_rotor_meets_its_reference_values),
        cmocka_unit_test(the_rotor_has_the_masses_and_frequencies_of_its_data),
        cmocka_unit_test(mistakes_are_told_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

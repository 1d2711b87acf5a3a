// test_bodies.c: rigid bodies from model files: kinematics, equations of motion, conservation, orders of all schemes.
#include "base/option.h"
#include "model/answers.h"
#include "model_text.h"
#include "scheme/registry.h"

// (e.x) R(e) v
static void turned(const double *e, const double *v, double *out) {
    const double w = e[0], *u = e + 1;
    double c[3], d[3];
    for (int i = 0; i < 3; ++i) c[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3] + w * v[i];
    for (int i = 0; i < 3; ++i) d[i] = u[(i + 1) % 3] * c[(i + 2) % 3] - u[(i + 2) % 3] * c[(i + 1) % 3];
    for (int i = 0; i < 3; ++i) out[i] = v[i] + 2 * d[i];
}

#define FREE                                                                                                           \
    "carom: 1\nbodies:\n  top: {mass: 2, inertia: [1, 2, 3.5], at: [1, 2, 3], axis: [1, 1, 0], angle: 0.4, "           \
    "velocity: [1, 0, 3], spin: [0.1, 3, 0.2]}\n"

static void a_free_top_keeps_energy_and_angular_momentum(void **state) {
    (void)state;
    static const double J[3] = {1, 2, 3.5};
    carom_model *m = good(FREE);
    static const char *const order[] = {"order=6", NULL};
    carom_sim *sim = model_sim(m, "mixed", order, 1e-2, 20);
    double E0, T, V, L0[3], L[3];
    carom_error err;
    assert_int_equal(carom_sim_energy(sim, &E0, &V, &err), CAROM_OK);
    const carom_now a = carom_sim_now(sim);
    assert_int_equal(carom_model_count(m).coordinates, 7);
    assert_int_equal(carom_model_count(m).velocities, 6);
    turned(a.q + 3, (double[]){J[0] * a.v[3], J[1] * a.v[4], J[2] * a.v[5]}, L0);
    model_sim_run(sim);
    const carom_now b = carom_sim_now(sim);
    assert_int_equal(carom_sim_energy(sim, &T, &V, &err), CAROM_OK);
    turned(b.q + 3, (double[]){J[0] * b.v[3], J[1] * b.v[4], J[2] * b.v[5]}, L);
    // Order 6: the local error per unit time is about (h w)^6 = 7e-10 for h w = 0.03, with constants far below 1.
    assert_close(T, E0, 1e-9 * E0);
    for (int i = 0; i < 3; ++i) assert_close(L[i], L0[i], 1e-9 * 6);
    for (int i = 0; i < 3; ++i) assert_close(b.q[i], i + 1 + 20 * (double[]){1, 0, 3}[i], 1e-11);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static void quaternions_stay_unit_with_every_scheme(void **state) {
    (void)state;
    carom_model *m = good(FREE);
    const carom_scheme *s;
    for (int i = 0; (s = carom_scheme_at(i)) != NULL; ++i) {
        carom_sim *sim = model_sim(m, s->name, NULL, 1e-2, 20);
        model_sim_run(sim);
        const double *e = carom_sim_now(sim).q + 3;
        assert_close(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3], 1, 1e-14);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// -- a spatial top on a spring ------------------------------------------------------------------------------------

#define HEAVY                                                                                                          \
    "carom: 1\nparameters: {k: 60}\ngravity: [0, 0, -9.81]\n"                                                          \
    "bodies:\n  top: {mass: 1.3, inertia: [1, 2, 3.5], at: [0.1, 0, 0], axis: [1, 1, 0], angle: 0.4, "                 \
    "velocity: [0.3, 0, 0.2], spin: [0.8, 3, 0.7], points: {tip: [0.1, 0.2, 1]}}\n"                                    \
    "energy: {potential: 1/2*k*(top.tip.x^2 + top.tip.y^2 + (top.tip.z - 1)^2)}\n"                                     \
    "forces: {top.x: -0.3*top.x', top.wy: -0.1*top.wy}\n"

// State: x, e, v, w.  Newton's and Euler's equations by hand.
static void heavy_rate(const double *y, double *dy) {
    static const double s[3] = {0.1, 0.2, 1}, J[3] = {1, 2, 3.5}, m = 1.3, k = 60;
    const double *x = y, *e = y + 3, *v = y + 7, *w = y + 10;
    const double size = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
    const double unit[4] = {e[0] / size, e[1] / size, e[2] / size, e[3] / size},
                 back[4] = {unit[0], -unit[1], -unit[2], -unit[3]};
    double arm[3], F[3], f[3];
    turned(unit, s, arm);
    for (int i = 0; i < 3; ++i) F[i] = -k * (x[i] + arm[i] - (i == 2));
    turned(back, F, f);
    for (int i = 0; i < 3; ++i) {
        const int a = (i + 1) % 3, b = (i + 2) % 3;
        dy[i] = v[i];
        dy[7 + i] = (F[i] - (i == 0 ? 0.3 * v[0] : 0)) / m - (i == 2 ? 9.81 : 0);
        dy[10 + i] =
            (s[a] * f[b] - s[b] * f[a] - (w[a] * J[b] * w[b] - w[b] * J[a] * w[a]) - (i == 1 ? 0.1 * w[1] : 0)) / J[i];
        dy[4 + i] = 0.5 * (e[0] * w[i] + e[1 + a] * w[b] - e[1 + b] * w[a]);
    }
    dy[3] = -0.5 * (e[1] * w[0] + e[2] * w[1] + e[3] * w[2]);
}

// The classic Runge-Kutta method, on (x, e, v, w) as a vector: another way than any scheme goes.
static void heavy_reference(double *y, double end, int steps) {
    static const double c[4] = {0, 0.5, 0.5, 1}, b[4] = {1, 2, 2, 1};
    const double h = end / steps;
    for (int n = 0; n < steps; ++n) {
        double r[4][13], z[13];
        for (int j = 0; j < 4; ++j) {
            for (int i = 0; i < 13; ++i) z[i] = y[i] + (j ? c[j] * h * r[j - 1][i] : 0);
            heavy_rate(z, r[j]);
        }
        for (int j = 0; j < 4; ++j)
            for (int i = 0; i < 13; ++i) y[i] += h / 6 * b[j] * r[j][i];
    }
}

static double heavy_error(const carom_model *m, const char *scheme, const char *const *options, int n,
                          const double *y) {
    carom_sim *sim = model_sim(m, scheme, options, 0.5 / n, 0.5);
    model_sim_run(sim);
    const carom_now now = carom_sim_now(sim);
    double error = 0;
    for (int i = 0; i < 7; ++i) error = fmax(error, fabs(now.q[i] - y[i]));
    for (int i = 0; i < 6; ++i) error = fmax(error, fabs(now.v[i] - y[7 + i]));
    carom_sim_destroy(sim);
    return error;
}

static void every_scheme_has_its_declared_order_on_a_spatial_top(void **state) {
    (void)state;
    static const struct { const char *scheme, *option; int order; } more[] = {
        {"half-explicit-rk", "order=2", 2}, {"half-explicit-rk", "order=4", 4}, {"half-explicit-rk", "order=5", 5},
        {"dg-plus", "order=2", 3},          {"dg-minus", "order=2", 3},         {"dg-plus", "order=3", 4},
        {"dg-minus", "order=3", 4},         {"mixed", "order=2", 2},            {"mixed", "order=3", 3},
        {"mixed", "order=5", 5},            {"mixed", "order=6", 6},            {"moreau-jean", "theta=1", 1},
    };
    carom_model *m = good(HEAVY);
    double y[13];
    carom_copy(y, carom_model_q0(m), 7);
    carom_copy(y + 7, carom_model_v0(m), 6);
    heavy_reference(y, 0.5, 4000); // error about 1e-13
    const int all = (int)(sizeof more / sizeof *more);
    for (int i = -100; i < all; ++i) {
        const carom_scheme *s = i < 0 ? carom_scheme_at(i + 100) : carom_scheme_find(more[i].scheme);
        if (!s) continue;
        double opt[16];
        carom_option_defaults(s->options, opt);
        const char *options[] = {i < 0 ? NULL : more[i].option, NULL};
        const int order = i >= 0 ? more[i].order : s->order_of ? s->order_of(opt) : s->order;
        const int n = order > 4 ? 12 : order > 2 ? 25 : 100;
        const double coarse = heavy_error(m, s->name, options, n, y), fine = heavy_error(m, s->name, options, 4 * n, y);
        const double measured = log(coarse / fine) / log(4);
        print_message("    %s %s: declared %d, measured %.2f (error %.1e)\n", s->name, options[0] ? options[0] : "",
                      order, measured, fine);
        if (s->controls_own_steps) { // its error does not depend on the step: errors of some tens of steps within rtol
                                     // add up
            const double rtol = s->options[carom_option_find(s->options, "rtol", 4)].fallback;
            assert_true(coarse <= 100 * rtol && fine <= 100 * rtol);
            continue;
        }
        if (!(measured >= order - 0.15))
            fail_msg("%s %s: order %.2f, not %d", s->name, options[0] ? options[0] : "", measured, order);
    }
    carom_model_destroy(m);
}

// -- against other descriptions ------------------------------------------------------------------------------------

// A point mass mu on a body of mass M, by `energy`, is a body with J + M mu/(M + mu) (|s|^2 1 - s s').
static void a_point_mass_written_as_energy_adds_to_the_inertia(void **state) {
    (void)state;
    carom_model *a = good("carom: 1\nparameters: {mu: 0.5}\n"
                          "bodies:\n  b: {mass: 2, inertia: [1, 2, 2.5], spin: [1, 3, 0.2], velocity: [1.24, -0.2, "
                          "0.06], points: {p: [0.4, 0.2, 0.6]}}\n"
                          "energy: {kinetic: 1/2*mu*(b.p.x'^2 + b.p.y'^2 + b.p.z'^2)}\n");
    const double r = 2 * 0.5 / 2.5, x = 0.4, y = 0.2, z = 0.6;
    char text[400];
    snprintf(
        text, sizeof text,
        "carom: 1\nbodies:\n  b: {mass: 2.5, spin: [1, 3, 0.2], inertia: [%.17g, %.17g, %.17g, %.17g, %.17g, %.17g]}\n",
        1 + r * (y * y + z * z), 2 + r * (x * x + z * z), 2.5 + r * (x * x + y * y), -r * x * y, -r * x * z,
        -r * y * z);
    carom_model *b = good(text);
    static const char *const order[] = {"order=6", NULL};
    carom_sim *one = model_sim(a, "mixed", order, 5e-3, 3), *two = model_sim(b, "mixed", order, 5e-3, 3);
    model_sim_run(one);
    model_sim_run(two);
    const carom_now p = carom_sim_now(one), q = carom_sim_now(two);
    for (int i = 3; i < 6; ++i) assert_close(p.v[i], q.v[i], 1e-10);
    for (int i = 3; i < 7; ++i) assert_close(p.q[i], q.q[i], 1e-10);
    carom_sim_destroy(one);
    carom_sim_destroy(two);
    carom_model_destroy(a);
    carom_model_destroy(b);
}

static void a_planar_body_is_three_coordinates(void **state) {
    (void)state;
    carom_model *a = good("carom: 1\ngravity: [0, -9.81]\n"
                          "bodies:\n  b: {mass: 2, inertia: 0.3, at: [1, 2], angle: 0.5, velocity: [1, 0], spin: 4, "
                          "points: {p: [0.2, 0.1]}}\n"
                          "energy: {potential: 50*(b.p.x^2 + b.p.y^2)}\nforces: {b.angle: -0.1*b.wz}\n");
    carom_model *b = good("carom: 1\ncoordinates: {x: {at: 1, rate: 1}, y: 2, phi: {at: 0.5, rate: 4}}\n"
                          "let: {px: x + 0.2*cos(phi) - 0.1*sin(phi), py: y + 0.2*sin(phi) + 0.1*cos(phi)}\n"
                          "energy: {kinetic: x'^2 + y'^2 + 0.15*phi'^2, potential: 50*(px^2 + py^2) + "
                          "2*9.81*y}\nforces: {phi: -0.1*phi'}\n");
    assert_null(carom_model_system(a)->move);
    double rates[4] = {0, 0, 0, 7}; // of a body in the plane they are its velocities
    carom_model_rates(a, carom_model_q0(a), (const double[]){3, -2, 5}, rates);
    assert_true(rates[0] == 3 && rates[1] == -2 && rates[2] == 5 && rates[3] == 7);
    const carom_scheme *s;
    for (int i = 0; (s = carom_scheme_at(i)) != NULL; ++i) {
        carom_sim *one = model_sim(a, s->name, NULL, 1e-2, 1), *two = model_sim(b, s->name, NULL, 1e-2, 1);
        model_sim_run(one);
        model_sim_run(two);
        for (int k = 0; k < 3; ++k) {
            assert_close(carom_sim_now(one).q[k], carom_sim_now(two).q[k], 1e-10);
            assert_close(carom_sim_now(one).v[k], carom_sim_now(two).v[k], 1e-9);
        }
        carom_sim_destroy(one);
        carom_sim_destroy(two);
    }
    carom_model_destroy(a);
    carom_model_destroy(b);
}

// -- kinematics ------------------------------------------------------------------------------------------------------

// d/ds move(q0, 1, x + s lift(x, v)) = d/ds move(q, s, v) at q = move(q0, 1, x).
static void lifted_rates_move_with_the_velocity(void **state) {
    (void)state;
    carom_model *m = good(FREE);
    const carom_system *sys = carom_model_system(m);
    const double *q0 = carom_model_q0(m), v[6] = {1, 2, 3, 0.7, -1.1, 0.4};
    for (int size = 0; size < 4; ++size) {
        double x[6] = {1, 1, 1, 0.5, -0.3, 0.8}, d[6], q[7], a[7], b[7];
        for (int i = 3; i < 6; ++i) x[i] *= (double[]){0, 1e-3, 0.3, 2.5}[size];
        sys->lift(m, d, x, v);
        sys->move(m, q, q0, 1, x);
        double there[6], back[6];
        const double s = 1e-5;
        for (int i = 0; i < 6; ++i) there[i] = x[i] + s * d[i], back[i] = x[i] - s * d[i];
        sys->move(m, a, q0, 1, there);
        sys->move(m, b, q0, 1, back);
        double one[7], two[7];
        sys->move(m, one, q, s, v);
        sys->move(m, two, q, -s, v);
        for (int i = 0; i < 7; ++i) assert_close((a[i] - b[i]) / (2 * s), (one[i] - two[i]) / (2 * s), 1e-9);
    }
    carom_model_destroy(m);
}

static void count_faults(void *user, carom_finding kind, const char *sentence) {
    if (kind != CAROM_FAULT) return;
    print_message("    %s\n", sentence);
    ++*(int *)user;
}

static void derivatives_of_mixed_models_agree_with_differences(void **state) {
    (void)state;
    static const char *const texts[] = {
        HEAVY,
        "carom: 1\ngravity: [0, -9, -3]\nparameters: {k: 3}\ncoordinates: {x: {at: 1, rate: 2}}\n"
        "bodies:\n"
        "  flat: {mass: 1, inertia: 0.2, at: [1, 2], angle: 1, spin: 2, points: {p: [0.3, 0.1]}}\n"
        "  top: {mass: 2, inertia: [1, 2, 2.5, 0.1, 0.2, -0.1], at: [0.3, 0, 1], quaternion: [1, 2, 3, 1], spin: [1, "
        "2, 3], points: {p: [1, 0.5, 0]}}\n"
        "  lift: {motion: {at: [0, 0, sin(t)], axis: [0, 1, 1], angle: 2*t}, points: {p: [0.1, 0, 0]}}\n"
        "energy: {kinetic: \"1/2*(1 + x^2)*x'^2 + 0.3*(top.p.x' + x')^2 + flat.p.x'^2\", potential: \"k*hypot(top.p.x "
        "- lift.p.x, top.p.y) + x*flat.p.y\"}\n"
        "forces: {top.wx: -0.2*top.wx*top.wy, flat.angle: sin(t)*flat.x', top.z: -top.z'^3}\n"
        "contacts:\n"
        "  wall: {gap: 8 - top.p.x + 0.1*lift.p.x, slip: [top.p.y, top.p.z], friction: 0.3}\n"
        "  hit: {gap: \"hypot(top.p.x - flat.p.x, top.p.y + 9)\", slip rate: top.p.x' - flat.p.x', friction: 0.1}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        carom_model *m = good(texts[i]);
        carom_error err;
        int faults = 0;
        carom_model_examine(m, count_faults, &faults, &err);
        assert_int_equal(faults, 0);
        carom_model_destroy(m);
    }
}

// -- mistakes --------------------------------------------------------------------------------------------------------

#define H "carom: 1\nbodies:\n"

static void mistakes_in_bodies_have_their_place_and_sentence(void **state) {
    (void)state;
    static const struct { const char *text, *error; } cases[] = {
        {H "  b: {mass: 1}\n", "3:3: body 'b' has no inertia; write `mass: 1, inertia: 0.1` (planar) or `inertia: "
                               "[0.1, 0.1, 0.2]` (spatial), or `density: 1000` and a shape"},
        {H "  b: {inertia: 1}\n", "3:3: body 'b' has no mass; write `mass: 1, inertia: 0.1` (planar) or `inertia: "
                                  "[0.1, 0.1, 0.2]` (spatial), or `density: 1000` and a shape"},
        {H "  b: {mass: 0, inertia: 1}\n", "3:13: mass must be positive, got 0"},
        {H "  b: {mass: 1, inertia: -1}\n", "3:25: the inertia must be positive"},
        {H "  b: {mass: 1, inertia: [1, 1]}\n",
         "3:25: the inertia of a spatial body is a list of three (principal) or six (xx, yy, zz, xy, xz, yz), not 2"},
        {H "  b: {mass: 1, inertia: [1, 1, 1, 2, 0, 0]}\n", "3:25: the inertia must be positive definite"},
        {H "  b: {mass: 1, inertia: 1, at: [0, 0, 0]}\n",
         "3:32: the position of a planar body (its inertia is one number, in space it is a list of three) is a list of "
         "2 (`[x, y]`), this is longer"},
        {H "  b: {mass: 1, inertia: [1, 1, 1], at: [0, 0]}\n",
         "3:40: the position of a spatial body is a list of 3 (`[x, y, z]`), this is shorter"},
        {H "  b: {mass: 1, inertia: [1, 1, 1], spin: 3}\n",
         "3:42: the spin of a spatial body is a list of 3 (`[x, y, z]`), this is no list"},
        {H "  b: {mass: 1, inertia: [1, 1, 1], angle: 3}\n",
         "3:36: body 'b' is turned by `axis: [x, y, z]` and `angle:`; one of the two is missing"},
        {H "  b: {mass: 1, inertia: [1, 1, 1], angle: 3, axis: [0, 0, 0]}\n",
         "3:52: the axis has no length; write a direction such as [0, 0, 1]"},
        {H "  b: {mass: 1, inertia: [1, 1, 1], quaternion: [1, 0]}\n",
         "3:48: the quaternion is a list of four, [w, x, y, z]"},
        {H "  b: {mass: 1, inertia: [1, 1, 1], quaternion: [0, 0, 0, 0]}\n", "3:48: quaternion must be non-zero"},
        {H "  b: {mass: 1, inertia: 1, axis: [0, 0, 1]}\n",
         "3:28: body 'b' is planar (its inertia is one number) and turns by `angle` alone"},
        {H "  b: {mas: 1}\n", "3:7: unknown key 'mas' in body 'b'; did you mean 'mass'?"},
        {H "  ground: {mass: 1}\n", "3:3: 'ground' is predefined; for a body with prescribed motion use `motion:`"},
        {H "  b: {motion: {at: [0, sin(t)]}, mass: 1}\n",
         "3:34: the motion of body 'b' is prescribed; 'mass' cannot be combined with `motion`"},
        {H "  b: {motion: {angle: t}}\n", "3:7: the motion needs `at:` with a list of two (planar) or three (spatial)"},
        {H "  b: {motion: {at: [0, 0, 0], angle: t}}\n",
         "3:31: an angle in space needs an axis; add `axis: [0, 0, 1]`"},
        {H "  b: {motion: {at: [0, t]}}\n", "3:3: every body has a prescribed motion, so there is nothing to simulate; "
                                            "add a body with a mass, or coordinates"},
        {H "  b: {motion: {at: [0, 0, t]}}\n", "3:3: every body has a prescribed motion, so there is nothing to "
                                               "simulate; add a body with a mass, or coordinates"},
        {H "  b: {motion: {at: [0, 1/t]}}\n",
         "3:24: value is not finite at t = 0; check divisions, square roots and logarithms"},
        {H "  b: {mass: 1, inertia: [1, 1, 1]}\nforces: {b.qw: 1}\n",
         "4:10: no force acts on 'b.qw' itself; use wx, wy, wz of the body, for torques about its axes"},
        {H "  b: {mass: 1, inertia: 1}\nlet: {b.x: 1}\n",
         "3:3: 'b.x' of body 'b' is already defined as a let name (line 4); rename one of them"},
        {H "  b: {mass: 1, inertia: 1}\nlet: {z: b.vx'}\n",
         "4:10: b.vx' would be an acceleration: 'b.vx' is a velocity already"},
        {H "  b: {mass: 1, inertia: 1}\ngravity: -9.81\n",
         "4:10: gravity must be a list of two (planar) or three (spatial) numbers, e.g. [0, -9.81]"},
        {H "  b: {mass: 1, inertia: 1}\ngravity: [0, 0, -9.81]\n",
         "4:10: all bodies are planar, and the third component of gravity, -9.81, acts on none of them; write [x, y], "
         "such as [0, -9.81]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_error err = {0};
        carom_model *m = model_of(cases[i].text, &err);
        if (m) fail_msg("no error: %s", cases[i].text);
        assert_string_equal(strncmp(err.text, "m.yaml:", 7) == 0 ? err.text + 7 : err.text, cases[i].error);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_top_keeps_energy_and_angular_momentum),
        cmocka_unit_test(quaternions_stay_unit_with_every_scheme),
        cmocka_unit_test(every_scheme_has_its_declared_order_on_a_spatial_top),
        cmocka_unit_test(a_point_mass_written_as_energy_adds_to_the_inertia),
        cmocka_unit_test(a_planar_body_is_three_coordinates),
        cmocka_unit_test(lifted_rates_move_with_the_velocity),
        cmocka_unit_test(derivatives_of_mixed_models_agree_with_differences),
        cmocka_unit_test(mistakes_in_bodies_have_their_place_and_sentence),
    };
    return cmocka_run_group_tests_name("bodies", tests, NULL, NULL);
}

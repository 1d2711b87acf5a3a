// test_impact_laws.c: Newton's, Poisson's and energetic restitution, contacts struck at once or one after the other,
// with every scheme.
//
// One impact of two coordinates (n, t) with M^-1 = g = [2 1/2; 1/2 1], mu = 1, e = 1/2, u = (-1, 1/4), solved by hand:
//   slip, f = -1:    u_N' = 3/2, u_T' = -1/2: slip ends at p_N = 1/2 with u_N = -1/4, W = -5/16
//   stick, f = -1/2: u_N' = 7/4: compression ends at p_N = 9/14, W = -37/112, p_T = -4/7
//   Newton:    u+ = (1/2, 0)                   p = (13/14, -5/7)
//   Poisson:   p_N = 3/2 9/14                  p = (27/28, -41/56)
//   energetic: 7/8 x^2 = 37/448 more           p = (9/14 + x, -4/7 - x/2), x^2 = 37/392
//   Fremond:   u+ = (1/2, -1/4)                p = (1, -1)
#include "contact/energetic.h"
#include "model_text.h"
#include "schemes.h"
#include <carom/event.h>
#include <math.h>

typedef struct end {
    double v[5];
    carom_ledger ledger;
} end;

static end run(const char *text, const char *scheme, double h, double t_end) {
    carom_error err = {0};
    carom_model *m = good(text);
    carom_sim_def d = sim_def(m, scheme, NULL, h, t_end);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim || carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", scheme, err.text);
    const carom_now now = carom_sim_now(sim);
    end e = {.ledger = sim_ledger(sim)};
    for (int i = 0; i < d.system->nv && i < 5; ++i) e.v[i] = now.v[i];
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return e;
}

// Every scheme that has the laws, and event-driven.
#define EACH(s, needs) int i_ = 0; (s = scheme_with(&i_, (needs) | CAROM_NO_IMPACTS | CAROM_NO_IMPACT_LAWS));

static void one_impact_by_hand(void **state) {
    (void)state;
    const double x = sqrt(37.0 / 392);
    const struct { const char *law; double p_N, p_T; } cases[] = {
        {"newton", 13. / 14, -5. / 7},
        {"poisson", 27. / 28, -41. / 56},
        {"energetic", 9. / 14 + x, -4. / 7 - x / 2},
        {"fremond", 1, -1}};
    for (int k = 0; k < 4; ++k) {
        char text[600];
        snprintf(text, sizeof text, "carom: 1\ncoordinates: {n: {at: 0.0105, rate: -1}, s: {at: 0, rate: 0.25}}\n"
                 "energy: {kinetic: 2/7*n'^2 - 2/7*n'*s' + 4/7*s'^2}\n"
                 "contacts: {floor: {gap: n, slip: s, restitution: 1/2, friction: 1, impact law: %s}}\n", cases[k].law);
        const double n = -1 + 2 * cases[k].p_N + cases[k].p_T / 2, t = 0.25 + cases[k].p_N / 2 + cases[k].p_T;
        const double T = 2. / 7 * n * n - 2. / 7 * n * t + 4. / 7 * t * t;
        const carom_scheme *s;
        for (EACH(s, CAROM_NO_FRICTION)) {
            const end r = run(text, s->name, 1e-3, 0.02);
            scheme_near(s->name, r.v[0], n, 1e-9);
            scheme_near(s->name, r.v[1], t, 1e-9);
            scheme_near(s->name, r.ledger.energy.end, T, 1e-9);
            scheme_near(s->name, r.ledger.energy.balance, 0, 1e-9);
            assert_int_equal(r.ledger.impacts, 1);
        }
    }
}

// Five balls of mass 1 that touch, the first with velocity 1.  At once: contact 0 opens with 1, the others stay closed:
// v_0 + 1 = v_1 = ... = v_4, 5 v_4 = 2.  In sequence each hands its velocity on.  Poisson at once: v = 1/5 after
// compression, p_C = 4/5, 3/5, 2/5, 1/5, as much again.
static void a_cradle(void **state) {
    (void)state;
    static const struct { const char *law; double v[5]; } cases[] = {
        {"newton, impact order: simultaneous", {-0.6, 0.4, 0.4, 0.4, 0.4}},
        {"poisson", {-0.6, 0.4, 0.4, 0.4, 0.4}},
        {"newton, impact order: sequential", {0, 0, 0, 0, 1}},
        {"poisson, impact order: sequential", {0, 0, 0, 0, 1}},
        {"fremond", {-0.6, 0.4, 0.4, 0.4, 0.4}},
        {"energetic", {0, 0, 0, 0, 1}}};
    for (int k = 0; k < 6; ++k) {
        char text[700];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {a: {at: -0.5, rate: 1}, b: 1, c: 2, d: 3, f: 4}\n"
                 "energy: {kinetic: 1/2*(a'^2 + b'^2 + c'^2 + d'^2 + f'^2)}\ncontact defaults: {restitution: 1, impact "
                 "law: %s}\n"
                 "contacts: {c0: {gap: b - a - 1}, c1: {gap: c - b - 1}, c2: {gap: d - c - 1}, c3: {gap: f - d - 1}}\n",
                 cases[k].law);
        const carom_scheme *s;
        for (EACH(s, 0)) {
            const end r = run(text, s->name, 1e-3, 0.6);
            for (int i = 0; i < 5; ++i) scheme_near(s->name, r.v[i], cases[k].v[i], 1e-9);
        }
    }
}

// Three balls, e = 1 at the first contact and 0 at the second.  Poisson: 1/3 each after compression, p_C = (2/3, 1/3).
// Expansion with (2/3, 0) would let the second contact approach, so it is held: v = (-1/3, 2/3, 2/3).  In sequence: 0,
// 1, 0, then 0, 1/2, 1/2.
static void unequal_restitution(void **state) {
    (void)state;
    static const struct {
        const char *order;
        double v[3];
    } cases[] = {{"simultaneous", {-1. / 3, 2. / 3, 2. / 3}}, {"sequential", {0, 0.5, 0.5}}};
    for (int k = 0; k < 2; ++k) {
        char text[500];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {a: {at: -0.1005, rate: 1}, b: 1, c: 2}\nenergy: {kinetic: 1/2*(a'^2 + b'^2 + "
                 "c'^2)}\n"
                 "contact defaults: {impact law: poisson, impact order: %s}\ncontacts: {c0: {gap: b - a - 1, "
                 "restitution: 1}, c1: {gap: c - b - 1}}\n",
                 cases[k].order);
        const carom_scheme *s;
        for (EACH(s, 0)) {
            const end r = run(text, s->name, 1e-3, 0.2);
            for (int i = 0; i < 3; ++i) scheme_near(s->name, r.v[i], cases[k].v[i], 1e-9);
        }
    }
}

// (IL-9)  A ball of mass 1 on the floor, u = (-1, 1/4), e = 1/2, p_N = 3/2.  mu = 0.1: it slides through the impact,
// p_T = -mu p_N.  mu = 0.5: the mean of both slips is 0, so slip reverses.  A disc (r = 1, J = 1/2, g_T = 3): p_T =
// -2/3 u_T where the mean is 0.  The energy changes by p_N (u_N + u_N+)/2 + p_T (u_T + u_T+)/2.
static void fremond_by_hand(void **state) {
    (void)state;
    static const struct { double mu, J, p_T; } cases[] = {{0.1, 0, -0.15}, {0.5, 0, -0.5}, {0.5, 0.5, -0.5 / 3}};
    for (int k = 0; k < 3; ++k) {
        char text[600];
        const double J = cases[k].J, p_T = cases[k].p_T;
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {y: {at: 0.0105, rate: -1}, x: {at: 0, rate: 0.25}, th: 0}\n"
                 "energy: {kinetic: 1/2*(x'^2 + y'^2) + %g*th'^2}\n"
                 "contacts: {floor: {gap: y, slip: x%s, restitution: 1/2, friction: %g, impact law: fremond}}\n",
                 J > 0 ? J / 2 : 1, J > 0 ? " + th" : "", cases[k].mu);
        const double T = 0.5 * (0.25 + (0.25 + p_T) * (0.25 + p_T) + (J > 0 ? p_T * p_T / J : 0)),
                     mean = 0.25 + 0.5 * p_T * (J > 0 ? 3 : 1);
        assert_true(fabs(0.5 * (1 + 0.0625) + 1.5 * (-1 + 0.5) / 2 + p_T * mean - T) < 1e-15);
        const carom_scheme *s;
        for (EACH(s, CAROM_NO_FRICTION)) {
            const end r = run(text, s->name, 1e-3, 0.02);
            scheme_near(s->name, r.v[0], 0.5, 1e-9);
            scheme_near(s->name, r.v[1], 0.25 + p_T, 1e-9);
            scheme_near(s->name, r.v[2], J > 0 ? p_T / J : 0, 1e-9);
            scheme_near(s->name, r.ledger.energy.end, T, 1e-9);
            scheme_near(s->name, r.ledger.energy.friction, -p_T * mean, 1e-9);
            scheme_near(s->name, r.ledger.energy.balance, 0, 1e-9);
            assert_int_equal(r.ledger.impacts, 1);
        }
    }
}

// Between two walls with e = 1/(1 + speed): 1, 1/2, 1/3, 1/4.
static void restitution_by_approach_speed(void **state) {
    (void)state;
    const char *text =
        "carom: 1\nparameters: {w: 1}\ncoordinates: {x: {at: 0.5, rate: 1}}\nenergy: {kinetic: 1/2*x'^2}\n"
        "contact defaults: {restitution: w/(w + approach.speed)}\ncontacts: {left: {gap: x}, right: {gap: 1.0005 - "
        "x}}\n";
    const carom_scheme *s;
    for (EACH(s, 0)) {
        const end r = run(text, s->name, 1e-3, 6);
        scheme_near(s->name, r.v[0], -0.25, 1e-9);
        assert_int_equal(r.ledger.impacts, 3);
    }
}

// A double pendulum of bodies on joints (two thin bars of mass 1 and length 1) hits the floor with friction: the joints
// take part in the impact. The same in coordinates, without joints, has the same velocities.
static void with_joints(void **state) {
    (void)state;
    static const char *const laws[] = {"newton", "poisson", "energetic", "fremond"};
    for (int k = 0; k < 4; ++k) {
        char joints[1200], angles[1000];
        snprintf(
            angles, sizeof angles,
            "carom: 1\nparameters: {a: 20*pi/180, b: 30*pi/180}\ncoordinates: {p: {at: a, rate: -0.1}, q: {at: b, "
            "rate: -0.2}}\n"
            "let: {x1: sin(p)/2, y1: -cos(p)/2, x2: sin(p) + sin(q)/2, y2: -cos(p) - cos(q)/2, x: sin(p) + sin(q), y: "
            "-cos(p) - cos(q)}\n"
            "energy: {kinetic: 1/2*(x1'^2 + y1'^2 + x2'^2 + y2'^2) + 1/24*(p'^2 + q'^2)}\n"
            "contacts: {floor: {gap: y + cos(a) + cos(b), slip: x, restitution: 0.5, friction: 0.5, impact law: %s}}\n",
            laws[k]);
        snprintf(joints, sizeof joints,
                 "carom: 1\nparameters: {a: 20*pi/180, b: 30*pi/180}\n"
                 "coordinates: {p: {at: a, rate: -0.1}, q: {at: b, rate: -0.2}, x1: {at: sin(a)/2, rate: "
                 "-0.05*cos(a)}, y1: {at: -cos(a)/2, rate: -0.05*sin(a)},\n"
                 "  x2: {at: sin(a) + sin(b)/2, rate: -0.1*cos(a) - 0.1*cos(b)}, y2: {at: -cos(a) - cos(b)/2, rate: "
                 "-0.1*sin(a) - 0.1*sin(b)}}\n"
                 "energy: {kinetic: 1/2*(x1'^2 + y1'^2 + x2'^2 + y2'^2) + 1/24*(p'^2 + q'^2)}\n"
                 "constraints: {j1: x1 - sin(p)/2, j2: y1 + cos(p)/2, j3: x2 - sin(p) - sin(q)/2, j4: y2 + cos(p) + "
                 "cos(q)/2}\n"
                 "contacts: {floor: {gap: y2 - cos(q)/2 + cos(a) + cos(b), slip: x2 + sin(q)/2, restitution: 0.5, "
                 "friction: 0.5, impact law: %s}}\n",
                 laws[k]);
        const carom_scheme *s;
        for (EACH(s, CAROM_NO_FRICTION | CAROM_NO_BILATERAL)) {
            const end free = run(angles, s->name, 1e-6, 1e-5), held = run(joints, s->name, 1e-6, 1e-5);
            for (int i = 0; i < 2; ++i) scheme_near(s->name, held.v[i], free.v[i], 1e-6);
            if (k == 0)
                scheme_true(s->name,
                            free.ledger.energy.end > 1.5 * free.ledger.energy.start && free.ledger.energy.created > 0);
            if (k == 2) scheme_true(s->name, free.ledger.energy.end < free.ledger.energy.start);
        }
    }
}

// A box tumbles on a floor: contacts of two corners, one after the other and at once, lasting contact, rest with energy
// m g times half its height.
static void a_box_comes_to_rest(void **state) {
    (void)state;
    const char *text = "carom: 1\nbodies: {b: {mass: 1, inertia: 0.02, at: [0, 0.5], angle: 0.3, velocity: [1, 0], "
                       "spin: 2, shape: {box: [0.4, 0.2]}}}\n"
                       "shapes: {floor: {plane: [0, 1]}}\ngravity: [0, -9.81]\ncontacts: {c: {between: [b, floor], "
                       "restitution: 0.6, friction: 0.5, impact law: energetic}}\n";
    const carom_scheme *s;
    for (EACH(s, CAROM_NO_FRICTION)) {
        const end r = run(text, s->name, 1e-3, 2);
        scheme_near(s->name, r.ledger.energy.end, 0.981, 1e-3);
        scheme_true(s->name, r.ledger.energy.created <= 1e-3);
        if (s->emits_events) scheme_near(s->name, r.ledger.energy.balance, 0, 1e-4);
    }
}

// -- the energetic impact alone ---------------------------------------------------------------------------------------

static double chance(unsigned *seed) { return (double)(*seed = *seed * 1664525u + 1013904223u) / 4294967296.0; }

// g of the tip of a rod: 1/m I + (J^-1 (r x e_j)) x r, in space with inertias A about axes across the rod and C along
// it.
static void rod(unsigned *seed, int m, double *g) {
    const double mass = 0.2 + chance(seed);
    double J[3], r[3] = {0};
    for (int i = 0; i < 3; ++i) J[i] = 0.02 + 0.2 * chance(seed);
    for (int i = 0; i < (m > 1 ? 3 : 2); ++i) r[i] = i == 0 ? chance(seed) : 2 * chance(seed) - 1;
    for (int j = 0; j <= m; ++j) {
        double e[3] = {j == 0, j == 1, j == 2};
        double w[3] = {r[1] * e[2] - r[2] * e[1], r[2] * e[0] - r[0] * e[2], r[0] * e[1] - r[1] * e[0]};
        for (int i = 0; i < 3; ++i) w[i] /= J[i];
        const double u[3] = {w[1] * r[2] - w[2] * r[1], w[2] * r[0] - w[0] * r[2], w[0] * r[1] - w[1] * r[0]};
        for (int i = 0; i <= m; ++i) g[i + j * (m + 1)] = u[i] + (i == j ? 1 / mass : 0);
    }
}

// The same impact by small steps of the normal impulse.
static void creep(const double *g, int m, double mu, double e, const double *u_0, double *p) {
    const int n = m + 1;
    double u[3] = {0}, W = 0, goal = 0, dp = 1e-5 * fabs(u_0[0]) / g[0];
    bool expands = false;
    for (int i = 0; i < n; ++i) u[i] = u_0[i], p[i] = 0;
    for (long k = 0; k < 20000000; ++k) {
        double f[2] = {0}, slip = m > 1 ? hypot(u[1], u[2]) : m > 0 ? fabs(u[1]) : 0;
        // implicit in the direction of slip: what it would be without friction, braked at most to rest
        double v[2] = {0};
        for (int i = 0; i < m; ++i) v[i] = u[1 + i] + g[1 + i] * dp;
        if (m == 1) {
            f[0] = -v[0] / (g[1 + n] * dp);
            if (fabs(f[0]) > mu) f[0] = f[0] > 0 ? mu : -mu;
        } else if (m == 2) {
            const double a = g[1 + n], b = g[2 + n], c = g[2 + 2 * n], det = a * c - b * b;
            f[0] = -(c * v[0] - b * v[1]) / (det * dp), f[1] = -(a * v[1] - b * v[0]) / (det * dp);
            if (hypot(f[0], f[1]) > mu) {
                const double *d = slip > 0 ? u + 1 : v, length = hypot(d[0], d[1]);
                f[0] = -mu * d[0] / length, f[1] = -mu * d[1] / length;
            }
        }
        W += u[0] * dp;
        p[0] += dp;
        for (int i = 0; i < m; ++i) p[1 + i] += f[i] * dp;
        for (int i = 0; i < n; ++i) {
            u[i] += g[i] * dp;
            for (int j = 0; j < m; ++j) u[i] += g[i + (1 + j) * n] * f[j] * dp;
        }
        if (!expands && u[0] >= 0) expands = true, goal = (1 - e * e) * W;
        if (expands && W >= goal) return;
    }
    fail_msg("the impact does not end");
}

// dy/ds of a slip in space, dx = |u_T| ds; y = (u_N, u_T, p_N, p_T)
static void slip_rate(const double *g, double mu, const double *y, double *dy) {
    const double slip = hypot(y[1], y[2]);
    for (int i = 0; i < 3; ++i) dy[i] = slip * g[i] - mu * (g[i + 3] * y[1] + g[i + 6] * y[2]);
    dy[3] = slip, dy[4] = -mu * y[1], dy[5] = -mu * y[2];
}

// A step of the classic Runge-Kutta method.
static void slip_step(const double *g, double mu, double h, const double *y, double *y_1) {
    static const double c[4] = {0, 0.5, 0.5, 1}, b[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
    double k[4][6] = {{0}}, z[6], sum[6];
    memcpy(sum, y, sizeof sum);
    for (int l = 0; l < 4; ++l) {
        for (int i = 0; i < 6; ++i) z[i] = y[i] + (l ? c[l] * h * k[l - 1][i] : 0);
        slip_rate(g, mu, z, k[l]);
        for (int i = 0; i < 6; ++i) sum[i] += h * b[l] * k[l][i];
    }
    memcpy(y_1, sum, sizeof sum);
}

// Compression of a rod that slips on a curve to its end, e = 0.  Each of some ten steps has an error below 1e-12,
// relatively; that of a Runge-Kutta method with thousands is less.
static void a_slip_that_turns_is_followed_closely(void **state) {
    (void)state;
    unsigned seed = 5;
    int turned = 0;
    for (int k = 0; k < 60; ++k) {
        double g[9], p[3], y[6] = {0}, y_1[6], pace = 0;
        rod(&seed, 2, g);
        const double mu = 0.1 + 0.3 * chance(&seed), u[3] = {-1, 1 + chance(&seed), 2 * chance(&seed) - 1};
        for (int i = 0; i < 9; ++i) pace = fmax(pace, fabs(g[i]));
        for (int i = 0; i < 3; ++i) y[i] = u[i];
        double h = 1e-3 / pace;
        int n = 0;
        for (; n < 20000 && y[0] < 0 && hypot(y[1], y[2]) > 0.1; ++n) {
            slip_step(g, mu, h, y, y_1);
            if (y_1[0] >= 0) break;
            memcpy(y, y_1, sizeof y);
        }
        if (!(y_1[0] >= 0)) continue; // slip ends before
        for (int i = 0; i < 6; ++i) { // by Newton's method from the last step on
            double rate[6];
            slip_rate(g, mu, y, rate);
            h = -y[0] / rate[0];
            slip_step(g, mu, h, y, y);
        }
        assert_true(carom_energetic_impact(g, 3, 2, mu, 0, u, p));
        for (int i = 0; i < 3; ++i)
            if (!(fabs(p[i] - y[3 + i]) <= 1e-11 * y[3])) fail_msg("%d: %.15g, not %.15g", k, p[i], y[3 + i]);
        turned += fabs(u[1] * y[2] - u[2] * y[1]) > 0.05 * hypot(u[1], u[2]) * hypot(y[1], y[2]);
    }
    assert_true(turned > 10);
}

static void random_rods_lose_energy(void **state) {
    (void)state;
    QUICK_SKIPS();
    unsigned seed = 1;
    int reversals = 0, sticks = 0;
    for (int k = 0; k < 4000; ++k) {
        const int m = 1 + k % 2, n = m + 1;
        double g[9], u[3], p[3], v[3], gain = 0;
        rod(&seed, m, g);
        const double mu = 2 * chance(&seed), e = k % 5 == 0 ? 1 : chance(&seed);
        u[0] = -0.1 - chance(&seed);
        for (int i = 1; i < n; ++i) u[i] = k % 7 == 0 ? 0 : 4 * chance(&seed) - 2;
        assert_true(carom_energetic_impact(g, n, m, mu, e, u, p));
        double slip = 0, rub = 0;
        for (int i = 0; i < n; ++i) {
            v[i] = u[i];
            for (int j = 0; j < n; ++j) v[i] += g[i + j * n] * p[j];
            gain += 0.5 * (u[i] + v[i]) * p[i];
            if (i > 0) slip = hypot(slip, v[i]), rub = hypot(rub, p[i]);
        }
        assert_true(v[0] >= 0 && p[0] > 0);
        assert_true(rub <= mu * p[0] * (1 + 1e-12));
        assert_true(gain <= 1e-12);
        sticks += slip < 1e-9;
        reversals += m == 1 && v[1] * u[1] < -1e-9;
        if (k >= 40) continue;
        double q[3];
        creep(g, m, mu, e, u, q);
        for (int i = 0; i < n; ++i) assert_true(fabs(q[i] - p[i]) <= 5e-4 * p[0]);
    }
    assert_true(reversals > 50 && sticks > 500); // all kinds were there
}

// A body that can move along one line only: normal and slip are the same motion, g has rank 1.  With mu |g_NT| >= g_NN
// it is jammed where it stops.
static void one_degree_of_freedom(void **state) {
    (void)state;
    const double g[4] = {1, 2, 2, 4}; // u = (1, 2) w
    double p[2];
    assert_true(carom_energetic_impact(g, 2, 1, 1, 0.5, (double[]){-1, -2}, p));
    double w = -1 + p[0] + 2 * p[1];
    assert_true(fabs(w) < 1e-9 && p[1] >= 0 && p[1] <= p[0]); // friction 1 > 1/2 holds it
    assert_true(carom_energetic_impact(g, 2, 1, 0.25, 0.5, (double[]){-1, -2}, p));
    w = -1 + p[0] + 2 * p[1];
    // compression f = 1/4: slope 3/2, W = -1/3; expansion f = -1/4: slope 1/2, W = 1/12: w^2 = 1/12
    assert_true(fabs(w - sqrt(1. / 12)) < 1e-12);
}

// -- what a file may say ----------------------------------------------------------------------------------------------

// A contact without slip whose friction cannot hold it slides off in the one direction d that stays, g_T - mu A d =
// lambda d (IL-7), however strongly the normal impulse drives it sideways: p_N = -u_N/(g_NN - mu g_N.d) to the end of
// compression, p_T = -mu d p_N.
static void it_slides_off_in_the_direction_that_stays(void **state) {
    (void)state;
    const double g[9] = {1, 0.5, 3, 0.5, 1, 0, 3, 0, 25}, mu = 0.05;
    double low = 0, high = 10, p[3];
    for (int k = 0; k < 100; ++k) { // |(lambda I + mu A)^-1 g_T| = 1
        const double lambda = 0.5 * (low + high);
        *(hypot(0.5 / (lambda + mu), 3 / (lambda + 25 * mu)) > 1 ? &low : &high) = lambda;
    }
    const double d[2] = {0.5 / (low + mu), 3 / (low + 25 * mu)}, p_N = 1 / (1 - mu * (0.5 * d[0] + 3 * d[1]));
    assert_true(carom_energetic_impact(g, 3, 2, mu, 0, (double[]){-1, 0, 0}, p));
    assert_close(p[0], p_N, 1e-12);
    for (int i = 0; i < 2; ++i) assert_close(p[1 + i], -mu * d[i] * p_N, 1e-12);
}

static void mistakes_are_told(void **state) {
    (void)state;
    static const struct {
        const char *law, *says;
    } cases[] = {{"impact law: newtom", "impact law is newton, poisson, energetic or fremond; did you mean 'newton'?"},
                 {"impact order: parallel", "impact order is simultaneous or sequential"},
                 {"impact law: energetic, impact order: simultaneous", "follows one contact after the other"},
                 {"impact law: poisson, friction: 0.1, slip: y, tangential restitution: 0.5",
                  "impact law poisson has no tangential restitution"},
                 {"restitution: approach.sped", "did you mean 'approach.speed'?"},
                 {"restitution: 2 - approach.speed", "restitution must lie between 0 and 1 at every speed, got 2"},
                 {"restitution: x*approach.speed", "numbers, parameters and approach.speed"},
                 {"friction: approach.speed, slip: y", "unknown name 'approach.speed'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 1, rate: -1}, y: 0}\nenergy: {kinetic: 1/2*(x'^2 + y'^2)}\ncontacts: "
                 "{wall: {gap: x, %s}}\n",
                 cases[i].law);
        carom_error err = {0};
        carom_model_def d = {.text = text, .length = strlen(text), .file = "m.yaml"};
        carom_model *m = carom_model_create(&d, &err);
        if (m || !strstr(err.text, cases[i].says)) fail_msg("%s: %s", cases[i].law, m ? "accepted" : err.text);
    }
}

static void a_restitution_above_one_stops_the_run(void **state) {
    (void)state;
    carom_error err = {0};
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 0.1, rate: -3}}\nenergy: {kinetic: 1/2*x'^2}\ncontacts: "
                          "{wall: {gap: x, restitution: approach.speed/2}}\n");
    carom_sim_def d = sim_def(m, "half-explicit", NULL, 1e-3, 1);
    carom_sim *sim = carom_sim_create(&d, &err);
    assert_non_null(sim);
    assert_int_not_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    assert_non_null(strstr(err.text, "must lie between 0 and 1, got 1.5 at an approach speed of 3"));
    carom_sim_destroy(sim);
    d.scheme = "schatzman-paoli";
    assert_null(carom_sim_create(&d, &err));
    assert_non_null(strstr(err.text, "does not support other laws of impact than Newton's"));
    carom_model_destroy(m);
}

static void gather(void *user, carom_finding kind, const char *sentence) {
    char *text = user;
    if (kind == CAROM_FINE && strstr(sentence, "starts with an impact")) strcat(strcat(text, sentence), "\n");
}

// Closed and approaching: floor.  Closed and leaving, closed and at rest, open and approaching: the others.
static void impacts_at_the_start_are_listed(void **state) {
    (void)state;
    char text[1000] = "";
    carom_error err = {0};
    carom_model *m =
        good("carom: 1\ncoordinates: {x: {at: 0, rate: -2}, y: {at: 0, rate: 1}, z: 0, w: {at: 1e-3, rate: -1}}\n"
             "energy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2 + w'^2)}\ncontacts: {floor: {gap: x - 0.5*t}, b: {gap: y}, c: "
             "{gap: z}, d: {gap: w}}\n");
    carom_model_examine(m, gather, text, &err);
    assert_string_equal(text, "the run starts with an impact: 'floor' is closed and approaches with 2.5\n");
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_impact_by_hand),
        cmocka_unit_test(fremond_by_hand),
        cmocka_unit_test(a_cradle),
        cmocka_unit_test(unequal_restitution),
        cmocka_unit_test(restitution_by_approach_speed),
        cmocka_unit_test(with_joints),
        cmocka_unit_test(a_box_comes_to_rest),
        cmocka_unit_test(random_rods_lose_energy),
        cmocka_unit_test(a_slip_that_turns_is_followed_closely),
        cmocka_unit_test(one_degree_of_freedom),
        cmocka_unit_test(it_slides_off_in_the_direction_that_stays),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(impacts_at_the_start_are_listed),
        cmocka_unit_test(a_restitution_above_one_stops_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

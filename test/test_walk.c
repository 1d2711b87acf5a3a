// test_walk.c: contacts with a condition, walking, overturning, and limits of stability in closed form.
#include "orbits.h"

static const double PI = 3.14159265358979323846;

static carom_model_def of_text(const char *text) {
    return (carom_model_def){.text = text, .length = strlen(text), .file = "model.yaml"};
}

// -- the compass walker -----------------------------------------------------------------------------------------------
// Stance leg at the angle a, swing leg at b, hip of mass 1, feet of mass m, legs and gravity 1, slope c:
//     (1 + m) a'' - m cos(a - b) b'' - m sin(a - b) b'^2 = (1 + m) sin(a - c),  b'' - cos(a - b) a'' + sin(a - b) a'^2
//     = -sin(b - c).
// Heel strike where b = -a, behind the other foot no more.  The impulse acts on the front foot alone: velocities are
// projected on those that keep it still,
//     a+ = b-,  b+ = a-,  a'+ (1 + m sin^2 2a) = cos 2a a'-,  b'+ = cos 2a a'+.
// Just behind the strike (a, a') says all: a map of the plane, by the classical Runge-Kutta method.

typedef struct walker { double m, c; } walker;

static void leg_rates(const walker *w, const double x[4], double r[4]) {
    const double m = w->m, s = sin(x[0] - x[1]), k = cos(x[0] - x[1]);
    const double p = (1 + m) * sin(x[0] - w->c) + m * s * x[3] * x[3], q = -sin(x[1] - w->c) - s * x[2] * x[2];
    r[0] = x[2], r[1] = x[3];
    r[2] = (p + m * k * q) / (1 + m - m * k * k);
    r[3] = q + k * r[2];
}

static void leg_step(const walker *w, double x[4], double h) {
    double k[4][4], y[4];
    static const double at[4] = {0, 0.5, 0.5, 1};
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) y[j] = x[j] + (i ? at[i] * h * k[i - 1][j] : 0);
        leg_rates(w, y, k[i]);
    }
    for (int j = 0; j < 4; ++j) x[j] += h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
}

static double walk(const walker *w, double x[2]) {
    double s[4] = {x[0], -x[0], x[1], cos(2 * x[0]) * x[1]}, t = 0;
    const double h = 0.008;
    for (; t < 20; t += h) {
        double y[4] = {s[0], s[1], s[2], s[3]};
        leg_step(w, y, h);
        if (y[1] - y[0] > 0.1 && y[0] + y[1] <= 0) break;
        memcpy(s, y, sizeof s);
    }
    double dt = 0;
    for (int i = 0; i < 30; ++i) { // Newton's method from there
        double z[4] = {s[0], s[1], s[2], s[3]};
        leg_step(w, z, dt);
        const double off = (z[0] + z[1]) / (z[2] + z[3]);
        dt -= off;
        if (fabs(off) < 1e-15) break;
    }
    leg_step(w, s, dt);
    const double k = cos(2 * s[0]), n = sin(2 * s[0]);
    x[0] = s[1], x[1] = k * s[2] / (1 + w->m * n * n);
    return t + dt;
}

// The map's derivative by central differences; a fixed point by Newton's method with it.
static void derivative(const walker *w, const double x[2], double J[2][2]) {
    for (int j = 0; j < 2; ++j) {
        double up[2] = {x[0], x[1]}, down[2] = {x[0], x[1]};
        const double e = 3e-6;
        up[j] += e, down[j] -= e;
        walk(w, up), walk(w, down);
        for (int i = 0; i < 2; ++i) J[i][j] = (up[i] - down[i]) / (2 * e);
    }
}

static double gait(const walker *w, double x[2], double J[2][2]) {
    double T = 0;
    for (int k = 0; k < 20; ++k) {
        double y[2] = {x[0], x[1]};
        T = walk(w, y);
        derivative(w, x, J);
        const double a = J[0][0] - 1, b = J[0][1], c = J[1][0], d = J[1][1] - 1, r = y[0] - x[0], s = y[1] - x[1],
                     det = a * d - b * c;
        x[0] -= (d * r - b * s) / det, x[1] -= (a * s - c * r) / det;
        if (fabs(r) + fabs(s) < 1e-13) break;
    }
    return T;
}

// x: the gait at a slope of 0.009; angles grow with the third root of the slope.
static double doubling(double m, double x[2]) {
    const double root = cbrt(0.0145 / 0.009);
    x[0] *= root, x[1] *= root;
    double c[2] = {0.0145, 0.0152}, f[2], J[2][2];
    for (int k = 0; k < 12; ++k) {
        const walker w = {m, c[k > 0]};
        gait(&w, x, J);
        f[k > 0] = 1 + J[0][0] + J[1][1] + J[0][0] * J[1][1] - J[0][1] * J[1][0]; // a multiplier is -1
        if (k == 0) continue;
        const double next = c[1] - f[1] * (c[1] - c[0]) / (f[1] - f[0]);
        c[0] = c[1], f[0] = f[1], c[1] = next;
        if (fabs(c[1] - c[0]) < 1e-13) break;
    }
    return c[1];
}

// Published, for feet without mass: at a slope of 0.009 a = 0.2003, a' = -0.1998, T = 3.882 and multipliers -0.19 +-
// 0.56 i; period two beyond 0.0151.
static void compass_walker(void **state) {
    (void)state;
    QUICK_SKIPS();
    const char *const exchange[] = {"a=b", NULL};
    size_t length = 0;
    char *text = shipped_text("compass-walker", &length);
    carom_orbit_def d = {.model = {.text = text, .length = length, .file = "compass-walker.yaml"},
                         .run = carom_run_nothing(),
                         .period = "free",
                         .exchange = exchange,
                         .guess = NAN};
    carom_orbit o = find_orbit(&d);
    const walker w = {1e-4, 0.009};
    double x[2] = {0.2003, -0.1998}, J[2][2];
    const double T = gait(&w, x, J), trace = J[0][0] + J[1][1], det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
    assert_close(o.period, T, 1e-8);
    assert_close(T, 3.882, 6e-4);
    assert_close(o.re[0], trace / 2, 1e-6);
    assert_close(fabs(o.im[0]), sqrt(det - trace * trace / 4), 1e-6);
    assert_close(o.re[0], -0.19, 6e-3);
    assert_close(fabs(o.im[0]), 0.56, 6e-3);
    assert_close(o.advance[0], 2 * sin(x[0]), 1e-8); // one step
    assert_int_equal(o.trivial, 2);
    double start[8];
    memcpy(start, o.q, 4 * sizeof *start), memcpy(start + 4, o.v, 4 * sizeof *start);
    carom_follow_def f = {.model = d.model,
                          .run = d.run,
                          .period = "free",
                          .guess = o.period,
                          .exchange = exchange,
                          .by = "slope",
                          .from = 0.009,
                          .to = 0.0156,
                          .start = start,
                          .step = 0.2};
    carom_branch b = follow(&f);
    const double at = at_event(&b, "period-doubling", 0);
    assert_close(at, doubling(1e-4, x), 1e-8);
    assert_close(at, 0.0151, 5e-5);
    carom_branch_free(&b);
    carom_orbit_free(&o);
    free(text);
}

// -- contacts with a condition ----------------------------------------------------------------------------------------

#define RAMP(x0)                                                                                                       \
    "carom: 1\ncoordinates: {x: {at: " x0                                                                              \
    ", rate: 1}, y: {at: 1}}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2)\", potential: 2*y}\n"                              \
    "contacts: {floor: {gap: y, restitution: 1, closes while: x}}\n"

// The height at t = 1.5; -1: the run failed with a sentence about the condition.
static double thrown(const char *text, const char *scheme) {
    carom_error err = {0};
    carom_ledger l;
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, scheme, NULL, 0.1, 1.5);
    carom_status status = CAROM_OK;
    while (!carom_sim_done(sim) && status == CAROM_OK) status = carom_sim_step(sim, &err);
    if (status != CAROM_OK && !strstr(err.text, "may close again")) fail_msg("%s", err.text);
    const double y = status == CAROM_OK ? carom_sim_now(sim).q[1] : -1;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_true(l.penetration < 1e-9); // passing is no fault
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return y;
}

// A ball falls with y = 1 - t^2 and moves with x = x0 + t over a floor that begins at x = 0: it bounces at t = 1, and
// is back at 0.75 at t = 1.5; or falls past; or is below the floor where that begins.
static void condition(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "mixed", "auto", "splitting"};
    for (int i = 0; i < 4; ++i) {
        assert_close(thrown(RAMP("-0.5"), schemes[i]), 0.75, 1e-5);
        assert_close(thrown(RAMP("-9"), schemes[i]), 1 - 1.5 * 1.5, 1e-5);
        assert_close(thrown(RAMP("-1.2"), schemes[i]), -1, 0);
    }
}

// -- overturning ------------------------------------------------------------------------------------------------------
// Housner: a slender block, th'' = p^2 (th - alpha) about a corner, p^2 = m g R/I; a ground acceleration of A g alpha
// for a time s lifts it at once, A > 1:
//     th = alpha (A - 1)(cosh p t - 1).
// It overturns if th' > p (alpha - th) at the end, the way that leads to th = alpha:  (A - 1) exp(p s) = A, or cosh p s
// = 1 + 1/(2 A (A - 1)). The block in the model is not linear; alpha = 1e-3 leaves alpha^2.

#define BLOCK                                                                                                          \
    "carom: 1\nparameters: {s: 1, A: 1.5, alpha: 1e-3, R: 1, g: 9.81}\ncoordinates: {x: {at: R*sin(alpha)}, y: {at: "  \
    "R*cos(alpha)}, th: 0}\n"                                                                                          \
    "energy: {kinetic: \"1/2*(x'^2 + y'^2) + 1/6*R^2*th'^2\", potential: g*y}\nforces: {x: \"if(t < s, A*g*alpha, "    \
    "0)\"}\ncontact defaults: {friction: 5}\n"                                                                         \
    "contacts:\n  left: {gap: y - R*cos(alpha + th), slip: x - R*sin(alpha + th)}\n  right: {gap: y - R*cos(alpha - "  \
    "th), slip: x + R*sin(alpha - th)}\n"

static double tilt_at_end(carom_model *m, double s) {
    bool derived;
    carom_error err = {0};
    const int which = 0;
    assert_int_equal(carom_model_set(m, 1, &which, &s, &derived, &err), CAROM_OK);
    carom_sim *sim = model_sim(m, "event-driven", NULL, 0.5, 6);
    double th = 0;
    while (!carom_sim_done(sim) && fabs(th) < 2e-3) { // overturned, or back on the other corner
        if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s", err.text);
        th = carom_sim_now(sim).q[2];
        if (carom_sim_now(sim).v[2] * th < 0 && fabs(th) < 1e-3) break;
    }
    carom_sim_destroy(sim);
    return fabs(th);
}

static void overturning(void **state) {
    (void)state;
    carom_model *m = good(BLOCK);
    const double p = sqrt(0.75 * 9.81), A = 1.5, limit = log(A / (A - 1)) / p; // I = 4/3 m R^2
    assert_close(cosh(p * limit), 1 + 1 / (2 * A * (A - 1)), 1e-12);
    double low = 0.5 * limit, high = 2 * limit;
    assert_true(tilt_at_end(m, low) < 1e-3);
    assert_true(tilt_at_end(m, high) > 1e-3);
    while (high - low > 2e-6 * limit) *(tilt_at_end(m, (low + high) / 2) > 1e-3 ? &high : &low) = (low + high) / 2;
    assert_close(low, limit, 5e-6 * limit);
    carom_model_destroy(m);
}

// -- limits of stability ----------------------------------------------------------------------------------------------
// A linear oscillator with a stop, x'' + d x' + x = cos(w t), one impact in a period T: the determinant of its
// monodromy is e^2 exp(-d T) (test_orbit.c), so that a pair of multipliers crosses the unit circle at d = 2 log(e)/T:
// the damping is negative there.

#define STOP                                                                                                           \
    "carom: 1\nparameters: {d: 0.02, w: 2.6, e: 0.9, s: 0}\ncoordinates: {x: {at: -0.1, rate: -0.5}}\nenergy: "        \
    "{kinetic: \"1/2*x'^2\", potential: 1/2*x^2}\n"                                                                    \
    "forces: {x: \"cos(w*t) - d*x'\"}\ncontacts: {stop: {gap: s - x, restitution: e}}\n"

static void neimark_sacker(void **state) {
    (void)state;
    carom_orbit_def d = {
        .model = of_text(STOP), .run = carom_run_nothing(), .period = "2*pi/w", .transient = 100, .guess = NAN};
    carom_orbit o = find_orbit(&d);
    const double T = 2 * PI / 2.6;
    assert_int_equal(o.nevents, 1);
    assert_close(o.re[0] * o.re[0] + o.im[0] * o.im[0], 0.81 * exp(-0.02 * T), 1e-9);
    double start[2] = {o.q[0], o.v[0]};
    carom_follow_def f = {.model = d.model,
                          .run = d.run,
                          .period = "2*pi/w",
                          .guess = o.period,
                          .by = "d",
                          .from = 0.02,
                          .to = -0.12,
                          .start = start};
    carom_branch b = follow(&f);
    assert_close(at_event(&b, "neimark-sacker", 0), 2 * log(0.9) / T, 1e-8);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// Ziegler's column: two rigid links of length 1, masses 2 and 1, springs 1 and dampers c in both joints, a follower
// force P along the last link, whose linearised equations are
//     M = [3 1; 1 1],  C = c [2 -1; -1 1],  K = [2 - P, P - 1; -1, 1].
// det(M s^2 + C s + K) = 2 s^4 + 7 c s^3 + (7 - 2 P + c^2) s^2 + 2 c s + 1.  Routh: 7 c (7 - 2 P + c^2) 2 c = 2 (2 c)^2
// + (7 c)^2, so that P = 41/28 + c^2/2.
#define COLUMN                                                                                                         \
    "carom: 1\nparameters: {P: 0.5, c: 0.1}\ncoordinates: {a: 0, b: 0}\nenergy:\n  kinetic: \"1/2*2*a'^2 + 1/2*(a'^2 " \
    "+ b'^2 + 2*a'*b'*cos(a - b))\"\n  potential: 1/2*a^2 + 1/2*(b - a)^2\n"                                           \
    "forces: {a: \"P*sin(a - b) - c*a' - c*(a' - b')\", b: \"-c*(b' - a')\"}\n"

static void hopf(void **state) {
    (void)state;
    carom_follow_def f = {
        .model = of_text(COLUMN), .run = carom_run_nothing(), .guess = NAN, .by = "P", .from = 0, .to = 2};
    carom_branch b = follow(&f);
    assert_close(at_event(&b, "hopf", 0), 41.0 / 28 + 0.005, 1e-8);
    carom_branch_free(&b);
}

// A brake pad: the normal force N = 50 - k y presses it on a belt that drags it by mu N; x'' = -110 x + c y + mu N, y''
// = -100 y + c x with k = 60, c = 7.  Two modes meet where (110 - 100)^2 + 4 c (c - mu k) = 0, at mu = 296/1680: beyond
// they flutter.  Rest: 110 x = c y + mu (50 - k y), 100 y = c x.
#define BRAKE                                                                                                          \
    "carom: 1\nparameters: {mu: 0.1}\ncoordinates: {x: 0, pad: 0, y: 0}\nenergy:\n  kinetic: \"1/2*(x'^2 + pad'^2 + "  \
    "y'^2)\"\n"                                                                                                        \
    "  potential: \"1/2*110*x^2 + 1/2*60*(y - pad)^2 + 1/2*40*y^2 - 7*x*y + 50*pad\"\ncontacts: {belt: {gap: pad, "    \
    "slip rate: \"x' - 20\", friction: mu}}\n"

static void squeal(void **state) {
    (void)state;
    carom_follow_def f = {
        .model = of_text(BRAKE), .run = carom_run_nothing(), .guess = NAN, .by = "mu", .from = 0.05, .to = 0.3};
    carom_branch b = follow(&f);
    assert_close(at_event(&b, "hopf", 0), 296.0 / 1680, 1e-8);
    for (long r = 0; r < b.branch.rows; ++r) {
        const double mu = b.branch.column[1].real[r], x = 50 * mu / (110 - 0.07 * (7 - 60 * mu));
        assert_close(carom_table_column(&b.branch, "x")->real[r], x, 1e-10);
    }
    carom_branch_free(&b);
}

// A rotating hoop with a bead: the bottom is stable up to w^2 = g/r, where two other states of rest branch off.
#define HOOP                                                                                                           \
    "carom: 1\nparameters: {w: 2, g: 9}\ncoordinates: {a: 0}\nenergy: {kinetic: \"1/2*a'^2\", potential: \"-g*cos(a) " \
    "- 1/2*w^2*sin(a)^2\"}\nforces: {a: \"-0.3*a'\"}\n"

static void branch_point(void **state) {
    (void)state;
    carom_follow_def f = {
        .model = of_text(HOOP), .run = carom_run_nothing(), .guess = NAN, .by = "w", .from = 1, .to = 4.2};
    carom_branch b = follow(&f);
    assert_close(at_event(&b, "branch", 0), 3, 1e-8);
    carom_branch_free(&b);
}

// -- orbits in pieces -------------------------------------------------------------------------------------------------
// x'' = k^2 x + cos t has the orbit x = -cos t/(k^2 + 1), and multipliers exp(+-2 pi k): with k = 5 a difference grows
// by 4e13 in a period, and one shot cannot close it.
#define AWAY                                                                                                           \
    "carom: 1\nparameters: {k: 5}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", potential: "                   \
    "\"-1/2*k^2*x^2\"}\nforces: {x: cos(t)}\n"

static void pieces(void **state) {
    (void)state;
    carom_orbit_def d = {
        .model = of_text(AWAY), .run = carom_run_nothing(), .period = "2*pi", .guess = NAN, .segments = 1};
    carom_orbit o;
    carom_error err = {0};
    assert_int_not_equal(carom_orbit_find(&o, &d, &err), CAROM_OK);
    carom_orbit_free(&o);
    static const int ask[] = {0, 4, 20};
    for (int i = 0; i < 3; ++i) {
        d.segments = ask[i];
        o = find_orbit(&d);
        assert_true(o.segments > 1);
        assert_close(o.q[0], -1.0 / 26, 1e-12);
        assert_close(o.v[0], 0, 1e-12);
        assert_close(log(o.re[0]), 10 * PI, 1e-8);
        assert_close(log(o.re[1]), -10 * PI, 1e-8);
        for (int k = 0; k < o.segments; ++k) assert_close(o.node[2 * k], -cos(2 * PI * k / o.segments) / 26, 1e-12);
        const char *file = "walk-pieces.csv"; // its result stays on the orbit
        if (carom_orbit_record(&o, &d, file, &err) != CAROM_OK) fail_msg("%s", err.text);
        FILE *f = fopen(file, "r");
        char line[300];
        double t = 0, x = 0, most = 0;
        assert_non_null(f);
        while (fgets(line, sizeof line, f))
            if (sscanf(line, "%lf,%lf", &t, &x) == 2) most = fmax(most, fabs(x + cos(t) / 26));
        fclose(f);
        remove(file), remove("walk-pieces.csv.events.csv");
        assert_close(t, 2 * PI, 1e-12);
        assert_true(most < 1e-6);
        carom_orbit_free(&o);
    }
    // An orbit with an impact, in one piece and in five.
    carom_orbit_def s = {
        .model = of_text(STOP), .run = carom_run_nothing(), .period = "2*pi/w", .transient = 100, .guess = NAN};
    carom_orbit one = find_orbit(&s);
    s.segments = 5;
    carom_orbit five = find_orbit(&s);
    assert_int_equal(five.nevents, 1);
    assert_close(five.q[0], one.q[0], 1e-9);
    assert_close(five.event[0].t, one.event[0].t, 1e-9);
    assert_close(five.re[0], one.re[0], 1e-8);
    assert_close(fabs(five.im[0]), fabs(one.im[0]), 1e-8);
    carom_orbit_free(&one);
    carom_orbit_free(&five);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(compass_walker), cmocka_unit_test(condition),
                                       cmocka_unit_test(overturning),    cmocka_unit_test(neimark_sacker),
                                       cmocka_unit_test(hopf),           cmocka_unit_test(squeal),
                                       cmocka_unit_test(branch_point),   cmocka_unit_test(pieces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

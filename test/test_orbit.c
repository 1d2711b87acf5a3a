// test_orbit.c: carom orbit, follow and lyapunov: known answers.
#include "orbits.h"
#include <carom/event.h>

static const double PI = 3.14159265358979323846;

// -- a ball on a vibrating table ------------------------------------------------------------------------------------
// Orbit of the period T = 2 pi/w, one impact a period at the phase p: the ball leaves with v = g T/2 and comes with -v,
// the table has U = A w cos p there:
//     v - U = e (v + U):   A w^2 cos p = g pi (1 - e)/(1 + e).
// With (dt, dv) behind the impact, dt_1 = dt + (1 + e)/g dv, dv_1 = -(1 + e) Q dt_1 - e dv + e g (dt_1 - dt), Q = A w^2
// sin p: determinant e^2, trace 1 + e^2 - (1 + e)^2 Q/g.  Fold: Q = 0; period doubling: 1 + trace + determinant = 0, Q
// = 2 g (1 + e^2)/(1 + e)^2.

#define TABLE                                                                                                          \
    "carom: 1\nparameters: {g: 9.81, e: 0.8, w: 30, A: 0.01}\ncoordinates: {y: {at: 0, rate: 0.9}}\nenergy: "          \
    "{kinetic: \"1/2*y'^2\", potential: g*y}\n"                                                                        \
    "contacts: {table: {gap: \"y - A*sin(w*t)\", restitution: e}}\n"

static void table(void **state) {
    (void)state;
    const double g = 9.81, e = 0.8, w = 30, A = 0.01, part = g * PI * (1 - e) / (1 + e),
                 Q = sqrt(pow(A * w * w, 2) - part * part), trace = 1 + e * e - (1 + e) * (1 + e) * Q / g;
    const carom_orbit_def d = define(TABLE, "2*pi/w", 20);
    carom_orbit o = find_orbit(&d);
    assert_close(o.period, 2 * PI / w, 1e-15);
    assert_int_equal(o.nmultipliers, 2);
    assert_close(o.re[0], trace / 2, 1e-8);
    assert_close(fabs(o.im[0]), sqrt(e * e - trace * trace / 4), 1e-8);
    assert_int_equal(o.nevents, 1);
    assert_string_equal(o.event[0].kind, "impact");
    assert_close(o.event[0].t, asin(Q / (A * w * w)) / w, 1e-9); // the stable one of the two phases
    double start[2];
    carom_follow_def f = define_branch(&d, &o, start, "A", 0.002, 0.013);
    carom_branch b = follow(&f);
    assert_close(at_event(&b, "fold", 0), part / (w * w), 1e-8 * 0.011);
    const double doubling = 2 * g * (1 + e * e) / ((1 + e) * (1 + e));
    assert_close(at_event(&b, "period-doubling", 0), sqrt(part * part + doubling * doubling) / (w * w), 1e-8 * 0.011);
    // stable between the two limits, on that side of the fold alone
    const carom_table *t = &b.branch;
    for (long r = 0; r < t->rows; ++r) {
        if (t->column[5].text[r][0]) continue;
        const double a = t->column[1].real[r], q = sqrt(fmax(0, pow(a * w * w, 2) - part * part)),
                     m = t->column[4].real[r];
        if (t->column[3].integer[r]) assert_true(q < doubling);
        // the largest multiplier, of the orbit with Q or with -Q
        double off = 1;
        for (int side = -1; side <= 1; side += 2) {
            const double half = (1 + e * e - side * (1 + e) * (1 + e) * q / g) / 2, root = half * half - e * e,
                         largest = root < 0 ? e : fabs(half) + sqrt(root);
            off = fmin(off, fabs(m - largest) / largest);
        }
        assert_true(off < 1e-6);
    }
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// -- a linear oscillator with a stop ----------------------------------------------------------------------------------
// x'' + 2 z x' + x = cos(w t), x <= s, restitution e; X_p = R cos(w t - psi) alone.  One impact in a period T: with y =
// x - X_p, (y, y') goes over T with E = exp.  a = s - X_p, b = v+ - X_p', c = v- - X_p' with v- = -v+/e:  (a, c) = E
// (a, b), so b = beta v+, a = alpha v+, and
//     (s - alpha v)^2 + (v (1 - beta)/w)^2 = R^2,
// two orbits, which meet at s = R sqrt(1 + (alpha w/(1 - beta))^2).  Monodromy: E S, S = [-e 0; (e a- + a+)/v- -e];
// determinant e^2 exp(-2 z T).

#define STOP                                                                                                           \
    "carom: 1\nparameters: {z: 0.1, w: 2.8, e: 0.7, s: 0}\ncoordinates: {x: {at: 0, rate: 0}}\nenergy: {kinetic: "     \
    "\"1/2*x'^2\", potential: 1/2*x^2}\n"                                                                              \
    "forces: {x: \"cos(w*t) - 2*z*x'\"}\ncontacts: {stop: {gap: s - x, restitution: e}}\n"

typedef struct stop { double alpha, gamma, R, T, E[4], z, w, e; } stop;

static stop stop_of(double w) {
    const double z = 0.1, e = 0.7, n = sqrt(1 - z * z), T = 2 * PI / w, d = exp(-z * T), C = cos(n * T), S = sin(n * T);
    stop k = {.T = T,
              .z = z,
              .w = w,
              .e = e,
              .R = 1 / sqrt(pow(1 - w * w, 2) + pow(2 * z * w, 2)),
              .E = {d * (C + z / n * S), d * S / n, -d * S / n, d * (C - z / n * S)}};
    const double ratio = k.E[2] * k.E[1] / (1 - k.E[0]) + k.E[3], beta = (1 + e) / (e * (1 - ratio));
    k.alpha = k.E[1] * beta / (1 - k.E[0]), k.gamma = (1 - beta) / w;
    return k;
}

// Trace of the monodromy of the orbit with velocity v behind its impact.
static double stop_trace(const stop *k, double s, double v) {
    const double X = s - k->alpha * v, dX = v * k->gamma * k->w; // X_p, X_p' there; cos(w t) from both
    const double force = (1 - k->w * k->w) * X + 2 * k->z * dX, before = -v / k->e, a_0 = force - 2 * k->z * before - s,
                 a_1 = force - 2 * k->z * v - s;
    return -k->e * (k->E[0] + k->E[3]) + k->E[1] * (k->e * a_0 + a_1) / before;
}

static double stop_velocity(const stop *k, double s, int side) {
    const double a = k->alpha * k->alpha + k->gamma * k->gamma, b = s * k->alpha, c = s * s - k->R * k->R;
    return (b + side * sqrt(b * b - a * c)) / a;
}

static void impact_oscillator(void **state) {
    (void)state;
    const stop k = stop_of(2.8);
    carom_orbit_def d = define(STOP, "2*pi/w", 200);
    carom_orbit o = find_orbit(&d);
    const double det = k.e * k.e * exp(-2 * k.z * k.T), v = stop_velocity(&k, 0, stop_velocity(&k, 0, 1) < 0 ? 1 : -1),
                 trace = stop_trace(&k, 0, v), root = sqrt(trace * trace / 4 - det);
    assert_close(o.re[0], trace / 2 + (trace < 0 ? -root : root), 1e-7);
    assert_close(o.re[0] * o.re[1], det, 1e-8);
    assert_false(o.largest < 1);
    double start[2];
    // the doubling along w, where 1 + trace + det = 0, by bisection of the formula
    carom_follow_def f = define_branch(&d, &o, start, "w", 2.6, 2.8);
    carom_branch b = follow(&f);
    double low = 2.6, high = 2.8;
    for (int i = 0; i < 60; ++i) {
        const double w = (low + high) / 2;
        const stop m = stop_of(w);
        const double u = stop_velocity(&m, 0, stop_velocity(&m, 0, 1) < 0 ? 1 : -1);
        if (1 + stop_trace(&m, 0, u) + m.e * m.e * exp(-2 * m.z * m.T) < 0) high = w;
        else low = w;
    }
    assert_close(at_event(&b, "period-doubling", 0), low, 2e-9);
    carom_branch_free(&b);
    carom_orbit_free(&o);
    // without impacts: the stop is grazed at s = R
    const char *const wide[] = {"s=0.3", NULL};
    d.model.set = wide;
    o = find_orbit(&d);
    assert_int_equal(o.nevents, 0);
    assert_close(o.largest, exp(-k.z * k.T), 1e-9);
    f = define_branch(&d, &o, start, "s", 0.1, 0.3);
    f.model.set = wide;
    b = follow(&f);
    assert_close(at_event(&b, "grazing stop", 0), k.R, 1e-8 * 0.2);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// The two orbits with an impact meet at a fold.
static void impact_oscillator_fold(void **state) {
    (void)state;
    const char *const set[] = {"w=1.5", "s=0.5", NULL};
    const stop k = stop_of(1.5);
    const double fold = k.R * sqrt(1 + pow(k.alpha / k.gamma, 2));
    carom_orbit_def d = define(STOP, "2*pi/w", 100);
    d.model.set = set;
    carom_orbit o = find_orbit(&d);
    double start[2];
    carom_follow_def f = define_branch(&d, &o, start, "s", 0.5, fold + 0.3);
    carom_branch b = follow(&f);
    assert_close(at_event(&b, "fold", 0), fold, 1e-8 * fold);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// -- orbits that stick and chatter ------------------------------------------------------------------------------------

// A block on a belt, m = k = N = 1: it sticks from x = mk - A to x = mk + A, A = ms - mk, which takes 2 A/V, then turns
// about x = mk from (A, V) to (-A, V), clockwise, by pi + 2 atan(V/A).  All variations die where it sticks.
static void stick_slip(void **state) {
    (void)state;
    const carom_orbit_def d = define(
        "carom: 1\nparameters: {V: 0.2, ms: 0.8, mk: 0.5}\ncoordinates: {x: {at: 0.1, rate: 0}, y: {at: 0, rate: 0}}\n"
        "energy: {kinetic: \"1/2*(x'^2 + y'^2)\", potential: \"1/2*x^2 + y\"}\n"
        "contacts: {belt: {gap: y, slip rate: \"x' - V\", friction: {static: ms, kinetic: mk}}}\nsimulation: {end: "
        "40}\n",
        "free", 0);
    carom_orbit o = find_orbit(&d);
    const double A = 0.3, V = 0.2, slide = PI + 2 * atan(V / A);
    assert_close(o.period, 2 * A / V + slide, 1e-9);
    assert_int_equal(o.nevents, 2);
    assert_int_equal(o.nmultipliers, 4);
    assert_int_equal(o.trivial, 1);
    assert_true(o.largest < 1e-9);
    carom_orbit_free(&o);
}

// A fast table throws the ball, which chatters and rests before the next throw: nothing is left of any variation.  It
// leaves where A w^2 sin(w t) = g.
static void chatter(void **state) {
    (void)state;
    const char *const set[] = {"A=0.012", NULL};
    carom_orbit_def d = define(TABLE, "2*pi/w", 20);
    d.model.set = set;
    d.start = (double[]){0.05, 0};
    carom_orbit o = find_orbit(&d);
    assert_int_equal(o.nevents, 2);
    assert_string_equal(o.event[0].kind, "open");
    assert_close(o.event[0].t, asin(9.81 / (0.012 * 900)) / 30, 1e-9);
    assert_string_equal(o.event[1].kind, "chatter");
    assert_true(o.largest < 1e-9);
    carom_orbit_free(&o);
}

// Den Hartog: x'' + x + sign(x') = P cos(w t) with friction 1.  From a maximum x0 at t = 0 to the minimum -x0 at pi/w
// without a stop,
//     x = 1 - cos t - tan(pi/2w) sin t + b P cos(w t + phi),  b = 1/(1 - w^2):  x0 = b P cos phi,  x0^2 = (b P)^2 -
//     tan(pi/2w)^2/w^2,
// since x' = 0 at both ends.  Behind the maximum x'' = P cos phi + 1 - x0 = 1 - w^2 x0: it sticks where x0 < 1/w^2.
static void onset_of_sticking(void **state) {
    (void)state;
    QUICK_SKIPS();
    carom_orbit_def d = define("carom: 1\nparameters: {P: 1.6, w: 1.5}\ncoordinates: {x: {at: 0.5}, y: 0}\nenergy: "
                               "{kinetic: \"1/2*(x'^2 + y'^2)\", potential: \"1/2*x^2 + y\"}\n"
                               "forces: {x: P*cos(w*t)}\ncontacts: {floor: {gap: y, slip: x, friction: 1}}\n",
                               "2*pi/w", 60);
    carom_orbit o = find_orbit(&d);
    const double w = 1.5, limit = (w * w - 1) * sqrt(pow(w, -4) + pow(tan(PI / 2 / w) / w, 2));
    double start[4];
    carom_follow_def f = define_branch(&d, &o, start, "P", 1.6, 1.5);
    f.step = 0.3;
    carom_branch b = follow(&f);
    assert_close(at_event(&b, "crossing-sliding floor", 0), limit, 1e-8 * 0.1);
    assert_close(b.branch.column[1].real[b.branch.rows - 1], 1.5, 1e-12); // the branch goes on behind it
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// Three balls on tables A sin(w t), A sin(w t + 1), B sin(w t - 0.1) are hit at the phase a of their table where cos a
// = c/(amplitude), c = pi g (1 - e)/(w^2 (1 + e)).  The first and the third change places where acos(c/A) = acos(c/B) +
// 0.1.
static void change_of_sequence(void **state) {
    (void)state;
    carom_orbit_def d = define("carom: 1\nparameters: {g: 9.81, e: 0.8, w: 30, A: 0.01, B: 0.0082}\ncoordinates: {a: "
                               "{at: 0.01, rate: 0.9}, b: {at: 0.01, rate: 0.9}, c: {at: 0.01, rate: 0.9}}\n"
                               "energy: {kinetic: \"1/2*(a'^2 + b'^2 + c'^2)\", potential: g*(a + b + c)}\ncontact "
                               "defaults: {restitution: e}\ncontacts:\n  one: {gap: \"a - A*sin(w*t)\"}\n"
                               "  two: {gap: \"b - A*sin(w*t + 1)\"}\n  three: {gap: \"c - B*sin(w*t - 0.1)\"}\n",
                               "2*pi/w", 12);
    carom_orbit o = find_orbit(&d);
    assert_int_equal(o.nevents, 3);
    double start[6];
    carom_follow_def f = define_branch(&d, &o, start, "B", 0.0082, 0.008);
    f.step = 0.5;
    carom_branch b = follow(&f);
    const double c = PI * 9.81 * 0.2 / (900 * 1.8);
    assert_close(at_event(&b, "sequence", 0), c / cos(acos(c / 0.01) - 0.1), 1e-8 * 2e-4);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// A table carries what rests on it up to B w^2 = g, whatever the start of the period is.  Behind that the table throws
// it at each period, and it comes back to rest.
static void resting_on_a_table(void **state) {
    (void)state;
    const double limit = 9.81 / 900;
    carom_orbit_def d =
        define("carom: 1\nparameters: {B: 0.008, w: 30}\ncoordinates: {c: {at: 0, rate: B*w}}\nenergy: {kinetic: "
               "\"1/2*c'^2\", potential: 9.81*c}\ncontacts: {table: {gap: \"c - B*sin(w*t)\", restitution: 0.5}}\n",
               "2*pi/w", 0);
    carom_orbit o = find_orbit(&d);
    double start[2];
    carom_follow_def f = define_branch(&d, &o, start, "B", 0.006, 0.013);
    carom_branch b = follow(&f);
    assert_close(at_event(&b, "opening table", 0), limit, 1e-8 * 0.007);
    int events = 0;
    for (long r = 0; r < b.branch.rows; ++r) events += b.branch.column[5].text[r][0] != 0;
    assert_int_equal(events, 1);
    double most = 0;
    for (long r = 0; r < b.branch.rows; ++r) most = fmax(most, b.branch.column[1].real[r]);
    assert_close(most, 0.013, 1e-12);
    assert_int_equal(b.note.code, CAROM_OK);
    carom_branch_free(&b);
    carom_orbit_free(&o);
    // back again, from an orbit with flights
    const char *const set[] = {"B=0.013", NULL};
    d.model.set = set;
    o = find_orbit(&d);
    assert_int_equal(o.nevents, 2);
    f = define_branch(&d, &o, start, "B", 0.013, 0.008);
    f.model.set = set;
    b = follow(&f);
    assert_close(at_event(&b, "closing table", 0), limit, 1e-8 * 0.005);
    assert_close(b.branch.column[1].real[b.branch.rows - 1], 0.008, 1e-12);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// x'' + x = cos(w t) from (1, 0), where the forces balance at first: nothing is known of the speed yet.  x = cos(w
// t)/(1 - w^2) repeats itself, and none does at w = 1.
static void from_balance(void **state) {
    (void)state;
    const char *const set[] = {"w=2", NULL};
    carom_orbit_def d = define("carom: 1\nparameters: {w: 1}\ncoordinates: {x: 1}\nenergy: {kinetic: \"1/2*x'^2\", "
                               "potential: 1/2*x^2}\nforces: {x: cos(w*t)}\n",
                               "2*pi/w", 0);
    refused(&d, CAROM_SINGULAR, "the linearisation is singular");
    d.model.set = set;
    carom_orbit o = find_orbit(&d);
    assert_close(o.q[0], -1.0 / 3, 1e-9);
    carom_orbit_free(&o);
}

// A start that hits the table at once, and an impact every second period elsewhere: the search begins at another phase,
// or near another orbit.
static void hits_at_the_start(void **state) {
    (void)state;
    const double g = 9.81, e = 0.5, w = 30, part = g * PI * (1 - e) / (1 + e);
    carom_orbit_def d =
        define("carom: 1\nparameters: {A: 0.03}\ncoordinates: {y: {at: 0, rate: 0.15}}\nenergy: {kinetic: "
               "\"1/2*y'^2\", potential: 9.81*y}\ncontacts: {table: {gap: \"y - A*sin(30*t)\", restitution: 0.5}}\n",
               "2*pi/30", 0);
    carom_orbit o = find_orbit(&d);
    assert_int_equal(o.nevents, 1);
    assert_close(o.event[0].t, acos(part / (0.03 * w * w)) / w, 1e-9); // as in table()
    carom_orbit_free(&o);
}

// The impact of the orbit at t = 0 itself: its search from states before it, behind it and beside it, in one piece and
// in several, begins at another phase.
static void impact_at_zero(void **state) {
    (void)state;
    // table(), with sin(w (t + t_0)) for sin(w t)
    const double g = 9.81, e = 0.8, A = 0.01, w = 30, rate = g * PI / w,
                 t_0 = acos(g * PI * (1 - e) / (1 + e) / (A * w * w)) / w;
    for (int k = 0; k < 6; ++k) {
        const double rates[] = {rate, -rate, 0.9 * rate};
        char text[300];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {y: {at: %.17g, rate: %.17g}}\nenergy: {kinetic: \"1/2*y'^2\", potential: "
                 "9.81*y}\ncontacts: {table: {gap: \"y - 0.01*sin(30*(t + %.17g))\", restitution: 0.8}}\n",
                 A * sin(w * t_0), rates[k % 3], t_0);
        carom_orbit_def d = define(text, "2*pi/30", 0);
        d.segments = k < 3 ? 0 : 3;
        carom_orbit o = find_orbit(&d);
        assert_int_equal(o.nevents, 1);
        assert_close(remainder(o.event[0].t, o.period), 0, 1e-10);
        assert_close(fabs(o.v[0]), rate, 1e-10);
        assert_close(hypot(o.re[0], o.im[0]), e, 1e-10);
        carom_orbit_free(&o);
    }
}

// Between two stops, pushed by negative damping: from where it strikes one, hangs on one, or leaves rest too slowly to
// return.  Flight from -1 to 1 takes t with E (B sin w t - cos w t) = 1, E = exp(0.15 t), w^2 = 1 - 0.15^2, and the
// rate behind one stop is 0.8 times that before the other.
static void between_stops(void **state) {
    (void)state;
    const double starts[3][2] = {{1, 1}, {1, 0}, {0.5, 0}};
    for (int k = 0; k < 3; ++k) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {m: 0.3}\ncoordinates: {x: {at: %g, rate: %g}}\nenergy: {kinetic: "
                 "\"1/2*x'^2\", potential: 1/2*x^2}\nforces: {x: \"m*x'\"}\ncontacts: {right: {gap: 1 - x, "
                 "restitution: 0.8}, left: {gap: x + 1, restitution: 0.8}}\nsimulation: {end: 50}\n",
                 starts[k][0], starts[k][1]);
        const carom_orbit_def d = define(text, "free", 0);
        carom_orbit o = find_orbit(&d);
        assert_int_equal(o.nevents, 2);
        assert_close(o.period, 1.3716877980761604, 1e-9);
        carom_orbit_free(&o);
        carom_follow_def f = define_branch(&d, NULL, NULL, "m", 0.29, 0.3);
        carom_branch b = follow(&f);
        assert_close(value_in(&b, "period", row_at(&b, 1, 0.3)), 1.3716877980761604, 1e-9);
        carom_branch_free(&b);
    }
}

// At grazing, orbits without an impact go over into orbits with one.
static void beyond_grazing(void **state) {
    (void)state;
    carom_orbit_def d = define("carom: 1\nparameters: {F: 1.5}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", "
                               "potential: 1/2*x^2}\nforces: {x: \"F*cos(3*t) - 0.1*x'\"}\n"
                               "contacts: {wall: {gap: 0.2 + x, restitution: 0.7}}\n",
                               "2*pi/3", 200);
    carom_orbit o = find_orbit(&d);
    double start[2];
    carom_follow_def f = define_branch(&d, &o, start, "F", 1.5, 2);
    carom_branch b = follow(&f);
    assert_close(at_event(&b, "grazing wall", 0), 0.2 * sqrt(64 + 0.09), 1e-8 * 0.5); // amplitude F/|1 - w^2 + i c w|
    if (b.note.code != CAROM_OK) fail_msg("%s", b.note.text);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// -- a rimless wheel of six spokes ------------------------------------------------------------------------------------
// Angle 2 a = pi/3 between spokes, slope c.  About a spoke w^2 grows by K = 4 m g l sin a sin c/(J + m l^2) from step
// to step; at an impact w+ = h w-, h = (J + m l^2 cos 2a)/(J + m l^2).  Fixed point w+^2 = h^2 K/(1 - h^2), multiplier
// h^2 a step, h^12 around.
static void rimless_wheel(void **state) {
    (void)state;
    const carom_orbit_def d =
        define("carom: 1\nparameters: {m: 1, l: 1, J: 1, g: 9.81, c: 0.12}\ncoordinates: {x: {at: 0, rate: 1.2}, y: "
               "{at: 1, rate: 0}, th: {at: 0, rate: -1.2}}\n"
               "energy: {kinetic: \"1/2*m*(x'^2 + y'^2) + 1/2*J*th'^2\", potential: \"m*g*(y*cos(c) - x*sin(c))\"}\n"
               "contact defaults: {friction: 5, restitution: 0}\ncontacts:\n"
               "  s0: {gap: y - l*cos(th), slip: x + l*sin(th)}\n  s1: {gap: y - l*cos(th + pi/3), slip: x + l*sin(th "
               "+ pi/3)}\n"
               "  s2: {gap: y - l*cos(th + 2*pi/3), slip: x + l*sin(th + 2*pi/3)}\n  s3: {gap: y - l*cos(th + pi), "
               "slip: x + l*sin(th + pi)}\n"
               "  s4: {gap: y - l*cos(th + 4*pi/3), slip: x + l*sin(th + 4*pi/3)}\n  s5: {gap: y - l*cos(th + 5*pi/3), "
               "slip: x + l*sin(th + 5*pi/3)}\n"
               "simulation: {end: 25}\n",
               "free", 0);
    carom_orbit o = find_orbit(&d);
    const double h = 0.75, K = 4 * 9.81 * 0.5 * sin(0.12) / 2;
    assert_close(o.advance[0], 6, 1e-9);
    assert_close(o.advance[2], -2 * PI, 1e-9);
    assert_close(o.largest, pow(h, 12), 1e-8);
    assert_int_equal(o.trivial, 2);
    // energy about the spoke on the ground: w^2 + 2 m g l cos(angle to the vertical)/(J + m l^2) = that behind the
    // impact, at a before the normal of the slope
    const double angle = remainder(o.q[2], PI / 3), w = sqrt(h * h * K / (1 - h * h));
    assert_close(o.v[2] * o.v[2] + 9.81 * cos(angle - 0.12), w * w + 9.81 * cos(PI / 6 - 0.12), 1e-8);
    carom_orbit_free(&o);
}

// -- the woodpecker ---------------------------------------------------------------------------------------------------

// The beak's speed before its hits, from hit to hit.
typedef struct hits { double v[16]; int n; } hits;

static carom_status on_hit(void *user, const carom_change *x) {
    hits *h = user;
    if (x->impulse[0] > 0 && h->n < 16) h->v[h->n++] = x->v_before[2];
    return CAROM_OK;
}

static void woodpecker(void **state) {
    (void)state;
    size_t length;
    char *text = shipped_text("woodpecker", &length);
    carom_orbit_def d = define(text, "free", 0);
    d.model.length = length;
    carom_orbit o = find_orbit(&d);
    assert_close(o.period, 0.146, 5e-4); // as in the source of the model
    assert_close(o.advance[0], -0.0194, 1e-4);
    assert_int_equal(o.trivial, 2);
    assert_true(o.largest < 1);
    // differences of the return map: a motion beside the orbit comes back to it by this factor
    carom_error err = {0};
    carom_model *m = model_of(text, &err);
    assert_non_null(m);
    carom_sim_def sd = carom_sim_default();
    double v[3] = {o.v[0], o.v[1], o.v[2] * (1 + 1e-5)};
    sd.system = carom_model_system(m), sd.schemes = carom_schemes(), sd.scheme = "event-driven", sd.h = o.period,
    sd.t_end = o.period, sd.q0 = o.q, sd.v0 = o.v;
    // The motion of a period begins and ends with the same energy but for the height: impacts and friction take all of
    // the weight's work, (mM + mS) g times the way down.
    carom_sim *sim = carom_sim_create(&sd, &err);
    assert_non_null(sim);
    carom_ledger l;
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_close((l.energy.impact + l.energy.friction) / (4.8e-3 * 9.81), -o.advance[0], 1e-9);
    carom_sim_destroy(sim);
    // Hits differ by 1e-7 of their speed in the end, and runs are good to ten times their tolerance: 1e-13 leaves 1e-5
    // of the factor.
    const char *const tight[] = {"rtol=1e-13", NULL};
    sd.t_end = 8 * o.period, sd.v0 = v, sd.options = tight;
    sim = carom_sim_create(&sd, &err);
    assert_non_null(sim);
    hits h = {.n = 0};
    carom_sim_watch_changes(sim, on_hit, &h);
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    assert_true(h.n >= 7);
    assert_close((h.v[6] - h.v[5]) / (h.v[5] - h.v[4]), o.re[0], 2e-5);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    carom_orbit_free(&o);
    free(text);
}

// -- states of rest ---------------------------------------------------------------------------------------------------

// A shallow arch, V = k (L - L0)^2 + P y, L^2 = 1 + y^2: dP/dy = 0 where L^3 = L0, at P = 2 k y^3, y^2 = L0^(2/3) - 1,
// and at the negative of it.  A stop at y = -0.2 closes on the way back, at P = 2 k y (L0/L - 1).
static void arch(void **state) {
    (void)state;
    const char *text = "carom: 1\nparameters: {P: 0, h: 0.3, k: 100}\ncoordinates: {y: {at: 0.3}}\nenergy: {kinetic: "
                       "\"1/2*y'^2\", potential: \"k*(sqrt(1 + y^2) - sqrt(1 + h^2))^2 + P*y\"}\n"
                       "forces: {y: \"-y'\"}\ncontacts: {stop: {gap: y + 0.2}}\n";
    carom_orbit_def d = define(text, NULL, 0);
    const carom_follow_def f = define_branch(&d, NULL, NULL, "P", -2, 2);
    carom_branch b = follow(&f);
    const double y = sqrt(pow(1.09, 1. / 3) - 1);
    assert_close(at_event(&b, "fold", 0), 200 * y * y * y, 1e-8);
    assert_close(at_event(&b, "fold", 1), -200 * y * y * y, 1e-8);
    assert_close(at_event(&b, "closing stop", 0), -40 * (sqrt(1.09 / 1.04) - 1), 1e-8);
    carom_branch_free(&b);
}

// A bar on two supports, lifted in its middle by P against a weight of 1: both open at P = 1.  A weight on an unstable
// spring, force y + P, meets a stop at y = 1 where P = -1; with the stop closed it rests for P > -1 only: the branch
// turns back.  Contacts that open and close at once: y = 0 until P = 1, z = (1 - P)/5 until then.
static void corners(void **state) {
    (void)state;
    static const struct { const char *text, *event; double at; } cases[] = {
        {"carom: 1\nparameters: {P: 0.9}\ncoordinates: {y: 0, a: 0}\nenergy: {kinetic: \"1/2*(y'^2 + a'^2)\", "
         "potential: \"5*y^2 + y + 5*a^2 - P*y\"}\ncontacts: {left: {gap: y - a}, right: {gap: y + a}}\n",
         "opening left + right", 1},
        {"carom: 1\nparameters: {P: -0.9}\ncoordinates: {y: 0.9}\nenergy: {kinetic: \"1/2*y'^2\", potential: "
         "\"-1/2*y^2 - P*y\"}\ncontacts: {stop: {gap: 1 - y}}\n",
         "closing stop", -1},
        {"carom: 1\nparameters: {P: 0.9}\ncoordinates: {y: 0, z: 0.02}\nenergy: {kinetic: \"1/2*(y'^2 + z'^2)\", "
         "potential: \"5*y^2 + y + 5*(z - 0.2)^2 - P*y + 2*P*z\"}\ncontacts: {floor: {gap: y}, ground: {gap: z}}\n",
         "opening floor, closing ground", 1},
    };
    for (int i = 0; i < 3; ++i) {
        carom_orbit_def d = define(cases[i].text, NULL, 0);
        const carom_follow_def f = define_branch(&d, NULL, NULL, "P", i == 1 ? 2 : 0.9, i == 1 ? -2 : 2);
        carom_branch b = follow(&f);
        assert_close(at_event(&b, cases[i].event, 0), cases[i].at, 1e-9);
        const long last = b.branch.rows - 1;
        const carom_column *y = carom_table_column(&b.branch, "y");
        for (long r = 0; i != 1 && r <= last; ++r)
            assert_close(y->real[r], fmax(0, (b.branch.column[1].real[r] - 1) / 10), 1e-10);
        for (long r = 0; i == 1 && r <= last; ++r)
            assert_true(fabs(y->real[r] + b.branch.column[1].real[r]) < 1e-9 || fabs(y->real[r] - 1) < 1e-9);
        assert_true(i == 1 || fabs(b.branch.column[1].real[last] - 2) < 1e-12);
        double most = -INFINITY;
        for (long r = 0; r <= last; ++r)
            if (fabs(y->real[r] - 1) < 1e-9) most = fmax(most, b.branch.column[1].real[r]);
        if (i == 1) assert_close(most, 2, 1e-12); // the closed stop, followed back
        carom_branch_free(&b);
    }
}

// From a state of zeros the solution grows by orders of size: so do the steps.
static void grows_from_zero(void **state) {
    (void)state;
    carom_orbit_def d = define("carom: 1\nparameters: {P: 0}\ncoordinates: {y: 0, z: 0}\nenergy: {kinetic: \"1/2*y'^2 "
                               "+ 1/2*z'^2\", potential: \"1/2*y^2 + 1/4*z^4 + 1/2*z^2 - P*y - P*z\"}\n",
                               NULL, 0);
    const carom_follow_def f = define_branch(&d, NULL, NULL, "P", 0, 100);
    carom_branch b = follow(&f);
    assert_true(b.branch.rows < 250);
    assert_int_equal(b.queue.rows, 0);
    for (long r = 0; r < b.branch.rows; ++r)
        assert_close(carom_table_column(&b.branch, "y")->real[r], b.branch.column[1].real[r], 1e-9);
    carom_branch_free(&b);
}

// -- Lyapunov exponents -----------------------------------------------------------------------------------------------

static carom_status count_hits(void *user, const carom_change *x) {
    if (x->impulse[0] > 0) ++*(int *)user;
    return CAROM_OK;
}

// The sum of the exponents is the mean divergence: -2 z of the damping, and log det S = 2 log e of every impact.
static void sum_rule(void **state) {
    (void)state;
    const char *const set[] = {"s=0.1", NULL};
    carom_lyapunov_def d = {.model = {.text = STOP, .length = strlen(STOP), .file = "model.yaml", .set = set},
                            .run = carom_run_nothing()};
    d.run.end = 60, d.run.step = 0.5;
    carom_lyapunov x;
    carom_error err = {0};
    if (carom_lyapunov_find(&x, &d, &err) != CAROM_OK) fail_msg("%s", err.text);
    carom_model *m = carom_model_create(&d.model, &err);
    assert_non_null(m);
    carom_sim_def sd = sim_def(m, "event-driven", NULL, 0.5, 60);
    carom_sim *sim = carom_sim_create(&sd, &err);
    assert_non_null(sim);
    int n = 0;
    carom_sim_watch_changes(sim, count_hits, &n);
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK);
    assert_true(n > 10);
    assert_int_equal(x.n, 2);
    assert_close(x.sum, -0.2 + 2 * n * log(0.7) / 60, 1e-7);
    assert_true(x.exponent[0] > 0.02);
    // Standard errors by the table: t lambda(t) grows from tenth to tenth by ten samples of the mean, and the error of
    // that is their deviation over sqrt(10).
    assert_int_equal(x.rows, 120);
    for (int j = 0; j < 2; ++j) {
        double before = 0, sum = 0, squares = 0;
        for (int k = 1; k <= 10; ++k) {
            const double *row = x.history + 3 * (12 * k - 1), now = row[0] * row[1 + j];
            assert_close(row[0], 6 * k, 1e-12);
            const double sample = (now - before) / 6;
            before = now, sum += sample, squares += sample * sample;
        }
        assert_close(sum / 10, x.exponent[j], 1e-12);
        assert_close(x.error[j], sqrt((squares / 10 - sum * sum / 100) / 9), 1e-12);
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    carom_lyapunov_free(&x);
}

// On a periodic orbit they are log |multiplier|/T: both log e/T where the multipliers are a pair of modulus e.
static void of_an_orbit(void **state) {
    (void)state;
    carom_lyapunov_def d = {.model = {.text = TABLE, .length = strlen(TABLE), .file = "model.yaml"},
                            .run = carom_run_nothing(),
                            .transient = 20};
    const double T = 2 * PI / 30;
    d.run.end = 200 * T, d.run.step = T;
    carom_lyapunov x;
    carom_error err = {0};
    if (carom_lyapunov_find(&x, &d, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_close(x.sum, 2 * log(0.8) / T, 1e-6);
    for (int i = 0; i < 2; ++i) assert_close(x.exponent[i], log(0.8) / T, 0.05);
    carom_lyapunov_free(&x);
}

// -- what is in the way -----------------------------------------------------------------------------------------------

static void no_orbit(void **state) {
    (void)state;
    carom_orbit_def d = define(TABLE, "free", 0);
    d.run.end = 5;
    refused(&d, CAROM_BAD_INPUT, "the model depends on time");
    d = define(TABLE, "1.1*2*pi/w", 0);
    refused(&d, CAROM_BAD_INPUT, "does not repeat itself");
    d = define(TABLE, "y", 0);
    refused(&d, CAROM_BAD_INPUT, "depends on the state");
    d = define(TABLE, "-1", 0);
    refused(&d, CAROM_BAD_INPUT, "must be positive");
    // a ball that is thrown does not come back
    d = define("carom: 1\ncoordinates: {y: {at: 1, rate: 0}}\nenergy: {kinetic: y'^2/2, potential: 10*y}\n", "free", 0);
    d.run.end = 3;
    refused(&d, CAROM_NOT_CONVERGED, "does not return to an earlier state");
    // one that rests has no period
    d = define("carom: 1\ncoordinates: {y: {at: 0, rate: 0}}\nenergy: {kinetic: y'^2/2, potential: 10*y}\ncontacts: "
               "{floor: {gap: y}}\n",
               "free", 0);
    d.run.end = 3;
    refused(&d, CAROM_NOT_CONVERGED, "at rest");
    // in pieces rest is no orbit either
    d = define("carom: 1\ncoordinates: {x: {at: 0.5, rate: 0}}\nenergy: {kinetic: x'^2/2, potential: x^2/2}\nforces: "
               "{x: \"-0.1*x'\"}\n",
               "free", 0);
    d.run.end = 20, d.segments = 3;
    refused(&d, CAROM_NOT_CONVERGED, "converged to an equilibrium");
    // at resonance without damping there is none, and the linearisation is zero
    d = define("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: x'^2/2, potential: x^2/2}\nforces: {x: cos(t)}\n",
               "2*pi", 0);
    refused(&d, CAROM_SINGULAR, "the linearisation is singular (rank 0 of 2");
    // a pendulum has no orbit of a period below 2 pi
    d = define("carom: 1\ncoordinates: {a: {at: 1, rate: 0}}\nenergy: {kinetic: \"1/2*a'^2\", potential: -cos(a)}\n",
               "3", 0);
    carom_orbit o;
    carom_error err = {0};
    assert_int_not_equal(carom_orbit_find(&o, &d, &err), CAROM_OK);
    assert_non_null(strstr(err.text, "`period free`"));
    assert_non_null(o.q);
    carom_orbit_free(&o);
}

// An interrupted branch goes on where it was.
static carom_status stop_at(void *user, const carom_branch *b) {
    return b->branch.rows >= *(long *)user ? CAROM_STOPPED : CAROM_OK;
}

static void same_branch(const carom_branch *a, const carom_branch *b) {
    assert_int_equal(a->branch.rows, b->branch.rows);
    for (int i = 0; i < a->branch.columns; ++i)
        if (a->branch.column[i].kind == CAROM_COLUMN_REAL)
            assert_memory_equal(a->branch.column[i].real, b->branch.column[i].real,
                                (size_t)a->branch.rows * sizeof(double));
}

static void goes_on(void **state) {
    (void)state;
    const carom_orbit_def d = define(TABLE, "2*pi/w", 20);
    carom_orbit o = find_orbit(&d);
    double start[2];
    long most = 12;
    carom_error err = {0};
    carom_follow_def f = define_branch(&d, &o, start, "A", 0.006, 0.012);
    carom_branch whole = follow(&f), b = {0};
    f.on_point = stop_at, f.user = &most;
    assert_int_equal(carom_follow_run(&b, &f, &err), CAROM_STOPPED);
    assert_true(b.branch.rows >= 12 && b.branch.rows < whole.branch.rows);
    char file[] = "test_orbit.branch.h5";
    assert_int_equal(carom_follow_write(&b, &f, file, &err), CAROM_OK);
    carom_branch_free(&b);
    assert_int_equal(carom_follow_read(&b, &f, file, &err), CAROM_OK);
    f.on_point = NULL;
    assert_int_equal(carom_follow_run(&b, &f, &err), CAROM_OK);
    same_branch(&b, &whole);
    // stopped by the number of points, before its end and at it; more points may be wanted later, nothing else may
    // change
    const int all = (int)whole.branch.rows, some[] = {7, all};
    for (int i = 0; i < 2; ++i) {
        carom_branch_free(&b);
        f.max_points = some[i];
        b = follow(&f);
        assert_true(b.branch.rows >= some[i] && b.queue.rows >= (i == 0));
        assert_int_equal(carom_follow_write(&b, &f, file, &err), CAROM_OK);
        carom_branch_free(&b);
        f.max_points = 0;
        assert_int_equal(carom_follow_read(&b, &f, file, &err), CAROM_OK);
        assert_int_equal(carom_follow_run(&b, &f, &err), CAROM_OK);
        assert_int_equal(b.queue.rows, 0);
        same_branch(&b, &whole);
    }
    carom_branch_free(&b);
    carom_follow_def g = f;
    const char *const option[] = {"tol=1e-9", NULL};
    const carom_matrix_text matrix = {.name = "M", .text = "1", .length = 1, .file = "m.mtx"};
    for (int i = 0; i < 5; ++i) {
        static const char *const word[] = {"`step`", "`scheme`", "`option`", "`switch`", "`matrix`"};
        g = f;
        if (i == 0) g.step = 0.01;
        if (i == 1) g.run.scheme = "auto";
        if (i == 2) g.run.options = option;
        if (i == 3) g.switches = true;
        if (i == 4) g.model.matrices = &matrix, g.model.nmatrices = 1;
        assert_int_equal(carom_follow_read(&b, &g, file, &err), CAROM_BAD_INPUT);
        if (!strstr(err.text, word[i])) fail_msg("%s is not in: %s", word[i], err.text);
        carom_branch_free(&b);
    }
    remove(file);
    carom_branch_free(&whole);
    carom_orbit_free(&o);
}

// -- many coordinates -------------------------------------------------------------------------------------------------
// The oscillator with a stop among 300 others, which their damping stops within a period: 602 numbers are too many for
// a matrix (ORB-7).  The orbit, its events and its two multipliers are those of the oscillator alone, and
//     y'' + 12 y' + k y = cos(w t):   y = Re(exp(i w t)/(k - w^2 + 12 i w)).

enum { OTHERS = 300 };

static void one_among_many(void **state) {
    (void)state;
    static char text[1 << 16];
    static double start[2 * (OTHERS + 1)];
    size_t used = 0;
#define PUT(...) used += (size_t)snprintf(text + used, sizeof text - used, __VA_ARGS__)
    PUT("carom: 1\nparameters: {z: 0.1, w: 2.8, e: 0.7, s: 0.1}\ncoordinates:\n  x: {at: 0, rate: 0}\n");
    for (int i = 0; i < OTHERS; ++i) PUT("  y%d: {at: 0, rate: 0}\n", i);
    PUT("energy: {kinetic: \"1/2*(x'^2");
    for (int i = 0; i < OTHERS; ++i) PUT(" + y%d'^2", i);
    PUT(")\", potential: \"1/2*(x^2");
    for (int i = 0; i < OTHERS; ++i) PUT(" + %d*y%d^2", 30 + i % 7, i);
    PUT(")\"}\nforces:\n  x: \"cos(w*t) - 2*z*x'\"\n");
    for (int i = 0; i < OTHERS; ++i) PUT("  y%d: \"cos(w*t) - 12*y%d'\"\n", i, i);
    PUT("contacts: {stop: {gap: s - x, restitution: e}}\n");
#undef PUT
    assert_true(used < sizeof text - 1);
    carom_orbit_def d = define(text, "2*pi/w", 0), alone = define(STOP, "2*pi/w", 200);
    static const char *const s[] = {"s=0.1", NULL};
    alone.model.set = s;
    carom_orbit a = find_orbit(&alone);
    start[0] = a.q[0], start[OTHERS + 1] = a.v[0];
    d.start = start;
    carom_orbit o = find_orbit(&d);
    assert_int_equal(a.others, 0);
    assert_close(o.q[0], a.q[0], 1e-8);
    assert_close(o.v[0], a.v[0], 1e-8);
    const double w = 2.8;
    for (int i = 0; i < OTHERS; ++i) {
        const double k = 30 + i % 7 - w * w, c = 12 * w;
        assert_close(o.q[1 + i], k / (k * k + c * c), 1e-8);
    }
    assert_int_equal(o.nevents, a.nevents);
    for (int i = 0; i < a.nevents; ++i) assert_close(o.event[i].t, a.event[i].t, 1e-8);
    assert_true(o.nmultipliers >= 2 && o.nmultipliers + o.others == 2 * (OTHERS + 1));
    for (int i = 0; i < 2; ++i) assert_close(o.re[i], a.re[i], 1e-6), assert_close(o.im[i], a.im[i], 1e-6);
    carom_orbit_free(&o), carom_orbit_free(&a);
}

int main(int argc, char **argv) {
    (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table),
        cmocka_unit_test(one_among_many),
        cmocka_unit_test(stick_slip),
        cmocka_unit_test(chatter),
        cmocka_unit_test(onset_of_sticking),
        cmocka_unit_test(change_of_sequence),
        cmocka_unit_test(resting_on_a_table),
        cmocka_unit_test(from_balance),
        cmocka_unit_test(hits_at_the_start),
        cmocka_unit_test(impact_at_zero),
        cmocka_unit_test(between_stops),
        cmocka_unit_test(beyond_grazing),
        cmocka_unit_test(corners),
        cmocka_unit_test(grows_from_zero),
        cmocka_unit_test(rimless_wheel),
        cmocka_unit_test(arch),
        cmocka_unit_test(sum_rule),
        cmocka_unit_test(of_an_orbit),
        cmocka_unit_test(no_orbit),
        cmocka_unit_test(goes_on),
    };
    const struct CMUnitTest others[] = {cmocka_unit_test(impact_oscillator), cmocka_unit_test(impact_oscillator_fold),
                                        cmocka_unit_test(woodpecker)};
    return argc > 1 ? cmocka_run_group_tests(others, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}

// test_branch.c: time in a model, events along branches, branches through events: known answers.
#include "orbits.h"

static const double PI = 3.14159265358979323846;

// -- time in a model ------------------------------------------------------------------------------------------------
// x'' + 2 z x' + (1 + p cos(w t)) x + x^3 = 0: at x = 0 no force depends on time, but the model does.

#define MATHIEU                                                                                                        \
    "carom: 1\nparameters: {p: 0.01, w: 2, z: 0.01}\ncoordinates: {x: {at: 0, rate: 0}}\n"                             \
    "energy: {kinetic: \"1/2*x'^2\", potential: \"1/2*(1 + p*cos(w*t))*x^2 + 1/4*x^4\"}\nforces: {x: \"-2*z*x'\"}\n"

static void mathieu_rate(double t, const double *x, double p, double w, double z, double *to) {
    to[0] = x[1], to[1] = -2 * z * x[1] - (1 + p * cos(w * t)) * x[0];
}

// det(P + 1) of the linear equation over a period, by Runge and Kutta's method.
static double mathieu_doubles(double p, double w, double z) {
    enum { STEPS = 4000 };
    const double h = 2 * PI / w / STEPS;
    double P[2][2];
    for (int j = 0; j < 2; ++j) {
        double x[2] = {j == 0, j == 1};
        for (int i = 0; i < STEPS; ++i) {
            double k[4][2], y[2];
            mathieu_rate(i * h, x, p, w, z, k[0]);
            for (int s = 1; s < 4; ++s) {
                const double a = s < 3 ? h / 2 : h;
                y[0] = x[0] + a * k[s - 1][0], y[1] = x[1] + a * k[s - 1][1];
                mathieu_rate(i * h + a, y, p, w, z, k[s]);
            }
            for (int l = 0; l < 2; ++l) x[l] += h / 6 * (k[0][l] + 2 * k[1][l] + 2 * k[2][l] + k[3][l]);
        }
        P[0][j] = x[0], P[1][j] = x[1];
    }
    return (P[0][0] + 1) * (P[1][1] + 1) - P[0][1] * P[1][0];
}

static void parametric_excitation(void **state) {
    (void)state;
    carom_orbit_def d = define(MATHIEU, "free", 0);
    d.run.end = 50;
    refused(&d, CAROM_BAD_INPUT,
            "the force along 'x' does; replace `period free` by the excitation period, `period 3.14159265358979`");
    d = define(MATHIEU, "3", 0);
    refused(&d, CAROM_BAD_INPUT, "does not repeat itself after 3");
    d = define(MATHIEU, "2*pi/w", 0);
    carom_orbit o = find_orbit(&d);
    assert_int_equal(o.trivial, 0);
    double start[2];
    const carom_follow_def f = define_branch(&d, &o, start, "p", 0.005, 0.1);
    carom_branch b = follow(&f);
    double low = 0.01, high = 0.1;
    for (int i = 0; i < 50; ++i) {
        const double p = (low + high) / 2;
        if (mathieu_doubles(p, 2, 0.01) > 0) low = p;
        else high = p;
    }
    assert_close(at_event(&b, "period-doubling", 0), low, 1e-8 * 0.04);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// Is time in the model, with this parameter free?
static bool timeless(const char *text, const char *by) {
    carom_model *m = good(text);
    bool is = false;
    carom_error err = {0};
    assert_int_equal(carom_model_timeless(m, by, &is, &err), CAROM_OK);
    carom_model_destroy(m);
    return is;
}

static void time_in_expressions(void **state) {
    (void)state;
#define DRIVEN(F, force)                                                                                               \
    "carom: 1\nparameters: {F: " F                                                                                     \
    ", G: 2*F, w: 2}\ncoordinates: {x: 1}\nenergy: {kinetic: \"1/2*x'^2\", potential: 1/2*x^2}\nforces: {x: \"" force  \
    "\"}\n"
    assert_true(timeless(DRIVEN("1", "-x'"), NULL));
    assert_false(timeless(DRIVEN("1", "F*cos(w*t)"), NULL));
    assert_true(timeless(DRIVEN("0", "F*cos(w*t) - x'"), NULL));
    assert_false(timeless(DRIVEN("0", "F*cos(w*t)"), "F")); // it will not stay 0
    assert_true(timeless(DRIVEN("0", "F*cos(w*t)"), "w"));
    assert_true(timeless(DRIVEN("0", "G*cos(w*t)"), NULL));
    assert_false(timeless(DRIVEN("0", "G*cos(w*t)"), "F")); // which G follows
    assert_true(timeless(DRIVEN("1", "if(F > 2, cos(w*t), -x')"), NULL));
    assert_false(timeless(DRIVEN("1", "if(F > 2, cos(w*t), -x')"), "F"));
    assert_false(timeless(DRIVEN("1", "if(x > 2, cos(w*t), -x')"), NULL)); // not at the initial state
    // two rates with a common period, two without, and one that is hidden in another function
    carom_orbit_def d = define(DRIVEN("1", "cos(2*t) + sin(3*t + x)"), "free", 0);
    d.run.end = 20;
    refused(&d, CAROM_BAD_INPUT, "`period 6.28318530717959`");
    d = define(DRIVEN("1", "cos(2*t) + sin(sqrt(2)*t)"), "free", 0);
    d.run.end = 20;
    refused(&d, CAROM_BAD_INPUT, "`period EXPR`");
    d = define(DRIVEN("1", "x*if(t - floor(t) > 0.5, 1, 0)"), "free", 0);
    d.run.end = 20;
    refused(&d, CAROM_BAD_INPUT, "`period EXPR`");
    // a square wave that acts on x alone: at x = 0 nothing changes with time, beside it everything does
    d = define("carom: 1\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", potential: \"(1 + floor(2*(t - "
               "floor(t))))*x^2\"}\nforces: {x: \"-x'\"}\n",
               "0.7", 0);
    refused(&d, CAROM_BAD_INPUT, "does not repeat itself after 0.7");
    d.period = "1";
    carom_orbit o = find_orbit(&d);
    assert_int_equal(o.trivial, 0);
    carom_orbit_free(&o);
}

// -- Duffing's oscillator in any units --------------------------------------------------------------------------------
// With x = L X, t = S s:  X'' + d X' + X^3 = F cos s.  Each event is checked with an integration of its own: the state
// in the row returns, and its monodromy P has the multiplier that the event is named after.

#define DUFFING                                                                                                        \
    "carom: 1\nparameters: {F: 0.1, d: 0.2, L: %s, S: %s}\ncoordinates: {x: {at: -0.0968*L, rate: 0.01955*L/S}}\n"     \
    "energy: {kinetic: \"1/2*x'^2\", potential: x^4/(4*L^2*S^2)}\nforces: {x: \"F*L/S^2*cos(t/S) - d/S*x'\"}\n"

typedef struct duffing { double x[2], P[4]; } duffing;

static void duffing_rate(double t, const double *y, double F, double *to) {
    to[0] = y[1], to[1] = F * cos(t) - 0.2 * y[1] - pow(y[0], 3);
    for (int j = 0; j < 2; ++j)
        to[2 + 2 * j] = y[3 + 2 * j], to[3 + 2 * j] = -0.2 * y[3 + 2 * j] - 3 * y[0] * y[0] * y[2 + 2 * j];
}

// Over one period, by Runge and Kutta's method.
static duffing duffing_period(double F, double x, double v) {
    enum { STEPS = 8000 };
    const double h = 2 * PI / STEPS;
    double y[6] = {x, v, 1, 0, 0, 1};
    for (int i = 0; i < STEPS; ++i) {
        double k[4][6], z[6];
        duffing_rate(i * h, y, F, k[0]);
        for (int s = 1; s < 4; ++s) {
            const double a = s < 3 ? h / 2 : h;
            for (int l = 0; l < 6; ++l) z[l] = y[l] + a * k[s - 1][l];
            duffing_rate(i * h + a, z, F, k[s]);
        }
        for (int l = 0; l < 6; ++l) y[l] += h / 6 * (k[0][l] + 2 * k[1][l] + 2 * k[2][l] + k[3][l]);
    }
    return (duffing){{y[0], y[1]}, {y[2], y[3], y[4], y[5]}};
}

static double cell(const carom_branch *b, const char *name, long r) {
    const carom_column *c = carom_table_column(&b->branch, name);
    assert_non_null(c);
    return c->real[r];
}

static long event_row(const carom_branch *b, const char *name, int n) {
    for (long r = 0; r < b->branch.rows; ++r)
        if (strncmp(b->branch.column[5].text[r], name, strlen(name)) == 0 && n-- == 0) return r;
    return -1;
}

static int count_events(const carom_branch *b) {
    int n = 0;
    for (long r = 0; r < b->branch.rows; ++r) n += b->branch.column[5].text[r][0] != 0;
    return n;
}

// Stability, and the direction of the parameter, change across an event alone.
static void consistent(const carom_branch *b) {
    const carom_table *t = &b->branch;
    long last = -1;
    for (long r = 0; r < t->rows; ++r) {
        if (t->column[5].text[r][0]) {
            last = -1; // behind it all may be other
            continue;
        }
        if (last >= 0 && t->column[0].integer[last] == t->column[0].integer[r]) {
            if (t->column[3].integer[last] != t->column[3].integer[r])
                fail_msg("stability changes without an event at %.12g", t->column[1].real[r]);
            const bool more = r + 1 < t->rows && t->column[0].integer[r + 1] == t->column[0].integer[r] &&
                              !t->column[5].text[r + 1][0];
            if (more)
                assert_true((t->column[1].real[r] - t->column[1].real[last]) *
                                (t->column[1].real[r + 1] - t->column[1].real[r]) >
                            0);
        }
        last = r;
    }
}

static bool at_length; // all units and ranges, else some of them

static void any_units(void **state) {
    (void)state;
    static const char *const unit[][2] = {{"1", "1"}, {"1e-3", "1e3"}, {"1e6", "1e-4"}, {"1", "1"}, {"1", "1"}};
    static const double range[][2] = {{0.05, 3}, {0.05, 3}, {0.05, 3}, {0.09, 0.5}, {0.05, 8}};
    for (int i = 0; i < 5; ++i) {
        if (!at_length && i != 2) continue; // other units; those of the other tests are SI
        char text[600];
        snprintf(text, sizeof text, DUFFING, unit[i][0], unit[i][1]);
        const double L = atof(unit[i][0]), S = atof(unit[i][1]);
        const carom_orbit_def d = define(text, "2*pi*S", 0);
        carom_orbit o = find_orbit(&d);
        double start[2];
        const carom_follow_def f = define_branch(&d, &o, start, "F", range[i][0], range[i][1]);
        carom_branch b = follow(&f);
        consistent(&b);
        assert_int_equal(b.unlocated, 0);
        const int folds = 2, crossings = range[i][1] > 2.5;
        assert_int_equal(count_events(&b), folds + crossings);
        for (int k = 0; k < folds + crossings; ++k) {
            const long r = event_row(&b, k < folds ? "fold" : "branch", k < folds ? k : 0);
            assert_true(r >= 0);
            const double F = cell(&b, "F", r), x = cell(&b, "x", r) / L, v = cell(&b, "x'", r) / L * S;
            const duffing p = duffing_period(F, x, v);
            assert_close(p.x[0], x, 2e-9), assert_close(p.x[1], v, 2e-9);
            assert_close(1 - p.P[0] - p.P[3] + p.P[0] * p.P[3] - p.P[1] * p.P[2], 0, 1e-8); // det(P - 1)
        }
        assert_close(at_event(&b, "fold", 0), 0.461391155241, 1e-9),
            assert_close(at_event(&b, "fold", 1), 0.228323272866, 1e-9);
        if (crossings) assert_close(at_event(&b, "branch", 0), 2.403377116057, 1e-8);
        carom_branch_free(&b);
        carom_orbit_free(&o);
    }
}

// Beside F = 0 there is no stiffness: x changes by 60 000 times its size over the range of F, and the multiplier is 1
// to 5e-5.
static void small_beside_range(void **state) {
    (void)state;
    char text[600];
    snprintf(text, sizeof text, DUFFING, "1", "1");
    const char *const set[] = {"F=1e-3", "x=-1e-3", "x'=0", NULL};
    carom_orbit_def d = define(text, "2*pi", 0);
    d.model.set = set;
    carom_orbit o = find_orbit(&d);
    double start[2];
    carom_follow_def f = define_branch(&d, &o, start, "F", 1e-3, 60);
    f.max_points = 20;
    carom_branch b = follow(&f);
    assert_int_equal(b.branch.rows, 20);
    assert_int_equal(count_events(&b), 0);
    for (long r = 1; r < 20; ++r) assert_true(cell(&b, "F", r) > cell(&b, "F", r - 1));
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// -- buckling in any units --------------------------------------------------------------------------------------------
// A rigid strut with a spring of stiffness k at its foot: it buckles at P = 1 for every k.  Without damping the growth
// rate behind that is sqrt(k (P - 1)), as large as k is.

static void buckling(void **state) {
    (void)state;
    static const char *const k[] = {"1", "1e4", "1e8", "1e-6"};
    static const double high[] = {3, 30, 1.3, 3};
    for (int i = 0; i < 4; ++i) {
        char text[300];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {P: 0, k: %s}\ncoordinates: {a: 0}\nenergy: {kinetic: \"1/2*a'^2\", potential: "
                 "\"1/2*k*a^2 + P*k*cos(a)\"}\n",
                 k[i]);
        const carom_orbit_def d = define(text, NULL, 0);
        const carom_follow_def f = define_branch(&d, NULL, NULL, "P", 0, high[i]);
        carom_branch b = follow(&f);
        consistent(&b);
        assert_int_equal(count_events(&b), 1);
        assert_close(at_event(&b, "branch", 0), 1, 1e-9);
        carom_branch_free(&b);
    }
}

// A cantilever of n exact beams under a load along it.  Without a force across, y' = (lambda - N/GA) phi in every
// element; with lambda = 1 - P/EA and h = l/n what is left is a chain of angles, phi_i = sin(i a), a = (2 k - 1) pi/(2
// n):
//     P (1 - P/EA) + P^2/GA = 4 EI/h^2 tan(a/2)^2.
// Entries of the stiffness are 3e9 times what a load changes: a determinant of it knows eight digits.

static double cantilever_load(int n, int k, double EI, double EA, double GA, double l) {
    const double a = (2 * k - 1) * PI / (2 * n), c = 4 * EI * n * n / (l * l) * pow(tan(a / 2), 2),
                 r = 1 / EA - 1 / GA;
    return 2 * c / (1 + sqrt(1 - 4 * r * c));
}

static void buckling_of_a_beam(void **state) {
    (void)state;
    // lengths in m, mm and um; then a branch that begins where rounding can hardly tell the load from its own, and one
    // with a point at 1.001 times the load, where the column is soft and yet no mechanism
    static const struct { double l, P, low, high; int events; } as[] = {
        {1, 0, 0, 2.6, 1}, {1, 0, 0, 300, 5}, {1e3, 0, 0, 30, 2}, {1e6, 0, 0, 2.6, 1}, {1, 2.47, 2.4, 2.5, 1},
        {1, 2, 2, 3, 1}};
    for (int i = 0; i < (int)(sizeof as / sizeof *as); ++i) {
        if (!at_length && i != 2 && i != 4) continue;
        char text[400];
        const double l = as[i].l;
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {P: %g}\nflexible:\n  b: {type: exact beam, length: %g, elements: 20, density: "
                 "%g, modulus: %g, shear modulus: %g, area: %g, inertia: %g, fix: start}\nforces: {b.end.x: -P}\n",
                 as[i].P, l, 1e3 / (l * l * l), 1e6 / (l * l), 4e8 / (l * l), 1e-2 * l * l, 1e-6 * pow(l, 4));
        const carom_orbit_def d = define(text, NULL, 0);
        const carom_follow_def f = define_branch(&d, NULL, NULL, "P", as[i].low, as[i].high);
        carom_branch b = follow(&f);
        consistent(&b);
        assert_int_equal(count_events(&b), as[i].events);
        for (int k = 1; k <= as[i].events; ++k) {
            const double P = cantilever_load(20, k, 1, 1e4, 4e6 * 5 / 6, 1);
            assert_close(at_event(&b, "branch", k - 1), P, 1e-10 * P);
        }
        carom_branch_free(&b);
    }
}

// -- through grazing --------------------------------------------------------------------------------------------------
// x'' + 2 z x' + x = F cos(w t), x <= d, restitution e.  Without impacts the amplitude is R = F/|1 - w^2 + 2 i z w|: it
// grazes at R = d.  With one impact in a period and the rate V < 0 behind it, y = x - X goes with Phi = exp over the
// period, y = alpha V and y' = beta V behind the impact, (alpha, beta)' = (Phi - 1)^-1 (0, -(1 + 1/e))':
//     R^2 = (d - alpha V)^2 + (V (1 - beta)/w)^2.
// Monodromy: Phi S, S = [-e 0; (e a- + a+)/v- -e]; determinant e^2 exp(-2 z T).

#define STOP                                                                                                           \
    "carom: 1\nparameters: {e: 0.8, w: %s, d: 1, z: 0.1, F: %s}\ncoordinates: {x: {at: 0, rate: 0}}\nenergy: "         \
    "{kinetic: \"1/2*x'^2\", potential: 1/2*x^2}\n"                                                                    \
    "forces: {x: \"F*cos(w*t) - 2*z*x'\"}\ncontacts: {stop: {gap: d - x, restitution: e}}\n"

typedef struct stop { double alpha, beta, gain, T, P[4], w, z, e; } stop;

static stop stop_of(double w) {
    stop k = {.w = w, .z = 0.1, .e = 0.8, .T = 2 * PI / w};
    const double W = sqrt(1 - k.z * k.z), c = cos(W * k.T), s = sin(W * k.T), f = exp(-k.z * k.T);
    k.P[0] = f * (c + k.z / W * s), k.P[1] = f * s / W, k.P[2] = -f * s / W, k.P[3] = f * (c - k.z / W * s); // by rows
    const double a = k.P[0] - 1, b = k.P[1], g = k.P[2], h = k.P[3] - 1, det = a * h - b * g, r = -(1 + 1 / k.e);
    k.alpha = -b * r / det, k.beta = a * r / det;
    k.gain = hypot(1 - w * w, 2 * k.z * w);
    return k;
}

static double stop_force(const stop *k, double V) {
    return k->gain * hypot(1 - k->alpha * V, V * (1 - k->beta) / k->w);
}

static double stop_trace(const stop *k, double V) {
    const double X = 1 - k->alpha * V, Y = V * (1 - k->beta), drive = (1 - k->w * k->w) * X + 2 * k->z * Y,
                 before = -V / k->e;
    const double turn = (k->e * (drive - 2 * k->z * before - 1) + drive - 2 * k->z * V - 1) / before;
    return -k->e * (k->P[0] + k->P[3]) + k->P[1] * turn;
}

// Rows with an impact have the multipliers of the closed form at their F; of two rates V one must fit.
static int check_stop(const carom_branch *b, const stop *k) {
    const double q = k->alpha * k->alpha + pow((1 - k->beta) / k->w, 2), det = k->e * k->e * exp(-2 * k->z * k->T);
    int n = 0;
    for (long r = 0; r < b->branch.rows; ++r) {
        const double F = cell(b, "F", r), R = F / k->gain, root = k->alpha * k->alpha - q * (1 - R * R),
                     re = cell(b, "mu1.re", r), im = cell(b, "mu1.im", r), re_2 = cell(b, "mu2.re", r);
        if (b->branch.column[5].text[r][0] || cell(b, "max(x)", r) < 1 - 1e-9) continue;
        assert_close(im != 0 ? re * re + im * im : re * re_2, det, 1e-6 * fmax(1, fabs(re)));
        double off = INFINITY;
        for (int side = -1; side <= 1; side += 2) {
            const double V = (k->alpha + side * sqrt(fmax(0, root))) / q, trace = stop_trace(k, V);
            if (V < 0) off = fmin(off, fabs(re + re_2 - trace) / fmax(1, fabs(trace)));
        }
        if (!(off < 1e-5)) fail_msg("at F = %.12g the trace is %.9g", F, re + re_2);
        ++n;
    }
    return n;
}

static carom_branch follow_stop_by(const char *by, const char *w, const char *F, double transient, double from,
                                   double to) {
    char text[600];
    snprintf(text, sizeof text, STOP, w, F);
    const carom_orbit_def d = define(text, "2*pi/w", transient);
    carom_orbit o = find_orbit(&d);
    double start[2];
    const carom_follow_def f = define_branch(&d, &o, start, by, from, to);
    carom_branch b = follow(&f);
    if (b.note.code != CAROM_OK) fail_msg("%s", b.note.text);
    carom_orbit_free(&o);
    return b;
}

static carom_branch follow_stop(const char *w, const char *F, double transient, double from, double to) {
    return follow_stop_by("F", w, F, transient, from, to);
}

static void through_grazing(void **state) {
    (void)state;
    const stop k = stop_of(0.9);
    double low = -1, high = -1e-3; // of V: the multiplier -1 between them
    const double det = k.e * k.e * exp(-2 * k.z * k.T);
    for (int i = 0; i < 60; ++i) {
        const double V = (low + high) / 2;
        if (1 + stop_trace(&k, V) + det > 0) low = V;
        else high = V;
    }
    for (int side = 0; side < (at_length ? 2 : 1); ++side) { // from below, from above
        carom_branch b = side ? follow_stop("0.9", "0.55", 400, 0.2, 0.6) : follow_stop("0.9", "0.2", 100, 0.2, 0.6);
        consistent(&b);
        assert_int_equal(count_events(&b), 2); // one grazing is one event
        assert_close(at_event(&b, "grazing stop", 0), k.gain, 1e-9);
        assert_close(at_event(&b, "period-doubling", 0), stop_force(&k, low), 1e-8);
        assert_true(check_stop(&b, &k) > 8);
        bool free = false;
        for (long r = 0; r < b.branch.rows; ++r) free = free || cell(&b, "max(x)", r) < 0.9;
        assert_true(free); // and the side without impacts is there, too
        carom_branch_free(&b);
    }
}

// Between two stops: the orbit that hits both in turn is symmetric, becomes unstable at a pitchfork, and ends to hit
// where it is as wide as the stops, with a multiplier that grows without bound.  No other branch takes its place.
// Known by DOP853 over half a period.
static void two_stops(void **state) {
    (void)state;
    const carom_orbit_def d = define("carom: 1\nparameters: {F: 0.2, w: 1.1}\ncoordinates: {x: 0.2}\nenergy: {kinetic: "
                                     "\"1/2*x'^2\", potential: x^2/2 + 0.3*x^4/4}\nforces: {x: \"F*cos(w*t) - "
                                     "0.1*x'\"}\ncontacts: {right: {gap: 1 - x, restitution: 0.7}, left: {gap: 1 + x, "
                                     "restitution: 0.7}}\n",
                                     "2*pi/w", 100);
    carom_orbit o = find_orbit(&d);
    double start[2];
    const carom_follow_def f = define_branch(&d, &o, start, "F", 0.09, 0.25);
    carom_branch b = follow(&f);
    consistent(&b);
    assert_int_equal(count_events(&b), 4); // two folds of orbits that touch nothing
    assert_close(at_event(&b, "branch", 0), 0.124453386106, 1e-10);
    assert_close(at_event(&b, "grazing", 0), 0.109990494343, 1e-9);
    carom_branch_free(&b);
    if (!at_length) {
        carom_orbit_free(&o);
        return;
    }
    // a step over the crossing leads to the orbits without symmetry, where the parameter only seems to turn back
    const carom_follow_def narrow = define_branch(&d, &o, start, "F", 0.11, 0.45);
    b = follow(&narrow);
    consistent(&b);
    assert_int_equal(count_events(&b), 1);
    assert_close(at_event(&b, "branch", 0), 0.124453386106, 1e-10);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// The same of a linear oscillator: a free oscillation grazes both stops together at F = |1 - w^2 + 0.2 i w|, and the
// orbit that hits each of them once grazes both again at 3.46873359614 (Newton's method on its closed form over half a
// period), where orbits that hit each twice begin, at smaller F.  Down from there the branch passes its fold.
static void grazes_both(void **state) {
    (void)state;
    const carom_orbit_def d = define("carom: 1\nparameters: {F: 0.05, w: 0.9}\ncoordinates: {x: 0}\nenergy: {kinetic: "
                                     "\"1/2*x'^2\", potential: x^2/2}\nforces: {x: \"F*cos(w*t) - 0.2*x'\"}\n"
                                     "contacts: {right: {gap: 1 - x, restitution: 0.8}, left: {gap: 1 + x, "
                                     "restitution: 0.8}}\n",
                                     "2*pi/w", 0);
    const double w = 0.9, to[2] = {0.4, 5};
    carom_orbit o = find_orbit(&d);
    double start[2];
    for (int i = 0; i < 2; ++i) {
        const carom_follow_def f = define_branch(&d, &o, start, "F", 0.05, to[i]);
        carom_branch b = follow(&f);
        consistent(&b);
        assert_int_equal(count_events(&b), i == 0 ? 1 : 5); // and two pitchforks
        assert_close(at_event(&b, "grazing right and left", 0), hypot(1 - w * w, 0.2 * w), 1e-10);
        if (i == 1) assert_close(at_event(&b, "grazing", 1), 3.46873359614, 1e-10);
        assert_close(cell(&b, "F", b.branch.rows - 1), to[i], 1e-9);
        carom_branch_free(&b);
    }
    carom_orbit_free(&o);
}

// Above resonance the impacting branch turns back at grazing and has a fold where the quadratic of V has one root.
static void nonsmooth_fold(void **state) {
    (void)state;
    const stop k = stop_of(1.2);
    const double q = k.alpha * k.alpha + pow((1 - k.beta) / k.w, 2);
    carom_branch b = follow_stop("1.2", "0.3", 100, 0.25, 0.7);
    consistent(&b);
    assert_close(at_event(&b, "grazing stop (nonsmooth fold)", 0), k.gain, 1e-9);
    assert_close(at_event(&b, "fold", 0), k.gain * sqrt(1 - k.alpha * k.alpha / q), 1e-8);
    assert_true(check_stop(&b, &k) > 8);
    carom_branch_free(&b);
}

// In a range that the branch leaves while the impact is weak, and that it enters there.
static void narrow_ranges(void **state) {
    (void)state;
    const stop k = stop_of(0.9);
    carom_branch b = follow_stop("0.9", "0.2617", 100, 0.2617, 0.2618);
    consistent(&b);
    assert_int_equal(count_events(&b), 1);
    assert_close(at_event(&b, "grazing stop", 0), k.gain, 1e-11);
    assert_close(cell(&b, "F", b.branch.rows - 1), 0.2618, 1e-15);
    assert_true(check_stop(&b, &k) >= 1);
    carom_branch_free(&b);
    if (!at_length) return;
    b = follow_stop("0.9", "0.265", 300, 0.26, 0.266);
    consistent(&b);
    assert_int_equal(count_events(&b), 1);
    assert_close(at_event(&b, "grazing stop", 0), k.gain, 1e-10);
    carom_branch_free(&b);
}

// The period follows the parameter: with W = w^2 the stop is touched where (1 - W)^2 + 4 z^2 W = F^2.
static void grazes_by_frequency(void **state) {
    (void)state;
    carom_branch b = follow_stop_by("w", "0.9", "0.25", 100, 0.7, 1.3);
    consistent(&b);
    const double half = 1 - 2 * 0.1 * 0.1, root = sqrt(half * half - 1 + 0.25 * 0.25);
    assert_close(at_event(&b, "grazing stop", 0), sqrt(half - root), 1e-10);
    assert_close(at_event(&b, "grazing stop (nonsmooth fold)", 0), sqrt(half + root), 1e-10);
    assert_close(cell(&b, "w", event_row(&b, "grazing stop (nonsmooth fold)", 0) + 1), sqrt(half + root), 1e-5);
    bool whole = false; // up to the end of the range, where nothing is struck
    for (long r = 0; r < b.branch.rows; ++r)
        whole = whole || (cell(&b, "w", r) > 1.3 - 1e-9 && cell(&b, "max(x)", r) < 0.9);
    assert_true(whole);
    carom_branch_free(&b);
}

// A ball on a vibrating table, on the unstable one of its two orbits with one impact, at the phase with
// A w cos(phase) = (g T/2) (1 - e)/(1 + e) and sin(phase) < 0.  In flight it touches the table where both
//
//     A sin(phase) + g T s/2 - g s^2/2 = A sin(phase + w s)   and the slopes of both sides
//
// agree: A = 0.0269377268032, s = 0.0967767646.  Orbits with a second, weak impact lie below: the branch turns back.
// Its multiplier is 9.5 without that impact, and thousands with it.  Each impact shrinks states by e^2.  With the place
// of the table nothing changes.
static void grazes_twice(void **state) {
    (void)state;
    const double g = 9.81, e = 0.8, w = 30, A = 0.0268, T = 2 * PI / w,
                 t = acos(g * T / 2 * (1 - e) / (1 + e) / (A * w)) / w; // from the impact to t = 0
    char text[500];
    snprintf(text, sizeof text,
             "carom: 1\nparameters: {A: 0.0268, h: 0}\ncoordinates: {y: {at: %.17g, rate: %.17g}}\n"
             "energy: {kinetic: \"1/2*y'^2\", potential: 9.81*y}\n"
             "contacts: {table: {gap: y - h - A*sin(30*t), restitution: 0.8}}\n",
             -A * sin(w * t) + g * T / 2 * t - g * t * t / 2, g * T / 2 - g * t);
    const carom_orbit_def d = define(text, "2*pi/30", 0);
    carom_orbit o = find_orbit(&d);
    double start[2];
    const carom_follow_def up = define_branch(&d, &o, start, "h", 0, 0.1);
    carom_branch b = follow(&up);
    assert_int_equal(count_events(&b), 0);
    assert_close(cell(&b, "h", b.branch.rows - 1), 0.1, 1e-15);
    assert_close(cell(&b, "y", b.branch.rows - 1) - cell(&b, "y", 0), 0.1, 1e-9);
    carom_branch_free(&b);
    for (int narrow = 0; narrow < 2; ++narrow) {
        const carom_follow_def f = define_branch(&d, &o, start, "A", A, narrow ? 0.02695 : 0.03);
        b = follow(&f);
        assert_int_equal(b.note.code, CAROM_OK);
        assert_int_equal(count_events(&b), 1);
        assert_close(at_event(&b, "grazing table (nonsmooth fold)", 0), 0.0269377268032, 1e-11);
        const long r = event_row(&b, "grazing table (nonsmooth fold)", 0), last = b.branch.rows - 1;
        assert_true(last > r);
        for (long k = 0; k <= last; ++k)
            assert_close(cell(&b, "mu1.re", k) * cell(&b, "mu2.re", k), pow(e, k > r ? 4 : 2), 1e-6);
        assert_close(cell(&b, "A", last), A, 1e-15);
        carom_branch_free(&b);
    }
    carom_orbit_free(&o);
}

// -- contacts that stick, and contacts that yield ---------------------------------------------------------------------

// Den Hartog: x'' + x = cos(b t) - F sign(x').  It stops at its turning points from F = ((V - 1)^-2 + (U/V)^2)^-1/2 on,
// V = 1/(1 - b^2), U = sin(pi/b)/(b (1 + cos(pi/b))): friction is then as large as the other forces there.
static void crossing_sliding(void **state) {
    (void)state;
    const carom_orbit_def d = define("carom: 1\nparameters: {b: 0.7, F: 0.6}\ncoordinates: {x: {at: 0.5, rate: "
                                     "0}}\nenergy: {kinetic: \"1/2*x'^2\", potential: 1/2*x^2}\nforces: {x: cos(b*t)}\n"
                                     "contacts: {f: {normal force: 1, slip: x, friction: F}}\n",
                                     "2*pi/b", 100);
    carom_orbit o = find_orbit(&d);
    assert_int_equal(o.nmultipliers, 2); // none of the coordinate that presses
    double start[4];
    // at F = 0.89018 slip lasts half a natural period: the multiplier touches 1, nothing crosses; behind it, orbits
    // that begin where the contact sticks
    const carom_follow_def f = define_branch(&d, &o, start, "F", 0.6, 0.9);
    carom_branch b = follow(&f);
    const double beta = 0.7, V = 1 / (1 - beta * beta), U = sin(PI / beta) / (beta * (1 + cos(PI / beta)));
    assert_int_equal(count_events(&b), 1);
    assert_close(at_event(&b, "crossing-sliding f", 0), 1 / sqrt(pow(V - 1, -2) + pow(U / V, 2)), 1e-9);
    for (int i = 0; i < b.branch.columns; ++i) assert_null(strstr(b.branch.column[i].name, "f."));
    assert_non_null(carom_table_column(&b.branch, "mu2.re"));
    assert_null(carom_table_column(&b.branch, "mu3.re"));
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// A block on a shaken slope: s + cos(t)/2 + cos(2 t) is 1, what friction holds, at t = pi for s = 1/2, where slip
// begins inside the phase of sticking: 0 + becomes 0 + 0 +.  Its rate comes down to 0 between both, at cos(t) =
// -(1 + sqrt(1 + 32 (2 - s)))/8, where the integral from the start of slip vanishes: s = 0.8031806910365.  There the
// same words come from grazing.
static void words_alike(void **state) {
    (void)state;
    const carom_orbit_def d = define("carom: 1\nparameters: {s: 0.4}\ncoordinates: {x: 0}\nenergy: {kinetic: "
                                     "\"1/2*x'^2\", potential: 0*x}\nforces: {x: \"s + cos(t)/2 + cos(2*t)\"}\n"
                                     "contacts: {f: {normal force: 1, slip: x, friction: 1}}\n",
                                     "2*pi", 40);
    carom_orbit o = find_orbit(&d);
    double start[4];
    const carom_follow_def f = define_branch(&d, &o, start, "s", 0.3, 0.9);
    carom_branch b = follow(&f);
    assert_int_equal(count_events(&b), 2);
    assert_close(at_event(&b, "adding-sliding f", 0), 0.5, 1e-9);
    assert_close(at_event(&b, "grazing-sliding f", 0), 0.8031806910365, 1e-9);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// From F = 1 on, friction holds what cos(b t) would move: the branch ends there.
static void ends_held(double F, double to) {
    char text[400];
    snprintf(text, sizeof text,
             "carom: 1\nparameters: {b: 0.7, F: %g}\ncoordinates: {x: 0.5}\n"
             "energy: {kinetic: \"1/2*x'^2\", potential: 1/2*x^2}\nforces: {x: cos(b*t)}\n"
             "contacts: {f: {normal force: 1, slip: x, friction: F}}\n",
             F);
    const carom_orbit_def d = define(text, "2*pi/b", 100);
    carom_orbit o = find_orbit(&d);
    double start[4];
    const carom_follow_def f = define_branch(&d, &o, start, "F", F, to);
    carom_branch b = follow(&f);
    assert_close(at_event(&b, "adding-sliding f", 0), 1, 1e-7);
    assert_int_equal(event_row(&b, "adding-sliding f", 0), b.branch.rows - 1);
    assert_non_null(strstr(b.note.text, "friction holds everything"));
    assert_int_equal(count_events(&b), F < 0.722 ? 2 : 1);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// m x'' = P cos(w t) - f sgn(x'): no force depends on x, which moves by a thousand metres and is no angle.  Rest begins
// at the reversals where f/P = 2/sqrt(4 + pi^2).
static void anywhere(void **state) {
    (void)state;
    const carom_orbit_def d =
        define("carom: 1\nparameters: {f: 300}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\"}\nforces: {x: "
               "1000*cos(2*t)}\ncontacts: {g: {normal force: 1, slip: x, friction: f}}\n",
               "pi", 100);
    const carom_follow_def f = define_branch(&d, NULL, NULL, "f", 300, 550);
    carom_branch b = follow(&f);
    assert_int_equal(count_events(&b), 1);
    assert_close(at_event(&b, "crossing-sliding g", 0), 2000 / sqrt(4 + PI * PI), 1e-10 * 540);
    carom_branch_free(&b);
}

// The orbit's size is about 0.4 (1 - F)^(3/2) there, and runs have errors of 1e-10 of the largest one: F to 1e-7.
static void held_by_friction(void **state) {
    (void)state;
    ends_held(0.99, 9);
    if (at_length) ends_held(0.7, 2);
}

// A spring that is touched where the amplitude F/|1 - w^2 + 2 i z w| reaches its distance: W = w^2 with W^2 - (2 - 4
// z^2) W + 1 - F^2/d^2 = 0.
static void closing(void **state) {
    (void)state;
    const carom_orbit_def d =
        define("carom: 1\nparameters: {w: 2, k: 20, z: 0.05, d: 0.5}\ncoordinates: {x: {at: -0.3, rate: 0}}\nenergy: "
               "{kinetic: \"1/2*x'^2\", potential: 1/2*x^2}\n"
               "forces: {x: \"cos(w*t) - 2*z*x'\"}\ncontacts: {stop: {gap: d - x, stiffness: k}}\n",
               "2*pi/w", 200);
    carom_orbit o = find_orbit(&d);
    double start[2];
    const carom_follow_def f = define_branch(&d, &o, start, "w", 2, 1.6);
    carom_branch b = follow(&f);
    const double half = 1 - 2 * 0.05 * 0.05, W = half + sqrt(half * half - 1 + 4);
    assert_int_equal(count_events(&b), 1);
    assert_close(at_event(&b, "closing stop", 0), sqrt(W), 1e-9);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// The same spring below resonance: two folds, in between a second touch in the period.  At 0.75 runs of the usual
// tolerance are too rough for Newton's method, and are tightened.
static void bilinear(void **state) {
    (void)state;
    const carom_orbit_def d =
        define("carom: 1\nparameters: {w: 0.75}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", potential: "
               "1/2*x^2}\nforces: {x: \"cos(w*t) - 0.1*x'\"}\ncontacts: {stop: {gap: 0.5 - x, stiffness: 20}}\n",
               "2*pi/w", 200);
    carom_orbit o = find_orbit(&d);
    double start[2];
    const carom_follow_def f = define_branch(&d, &o, start, "w", 0.75, 0.69);
    carom_branch b = follow(&f);
    assert_close(at_event(&b, "fold", 0), 0.70263462206, 1e-9);
    assert_close(at_event(&b, "fold", 1), 0.73262979458, 1e-9);
    assert_close(at_event(&b, "touching stop", 0), 0.7026561803, 1e-8);
    assert_int_equal(count_events(&b), 3);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// x'' + x'/2 = p x + x^3/L^2 - x^5/L^4 from x = 0, where nothing tells how long a length is: the branch that crosses at
// p = 0 has a fold at x^2 = L^2/2, p = -1/4.
static void lengths(void **state) {
    (void)state;
    static const char *const all[] = {"1e-7", "1e-3", "1", "1e4"};
    for (int i = 0; i < 4; ++i) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {p: -1, L: %s}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", "
                 "potential: \"-1/2*p*x^2 - 1/4*x^4/L^2 + 1/6*x^6/L^4\"}\nforces: {x: \"-x'/2\"}\n",
                 all[i]);
        const carom_orbit_def d = define(text, NULL, 0);
        carom_follow_def f = define_branch(&d, NULL, NULL, "p", -1, 1);
        f.switches = CAROM_SWITCH_BRANCH;
        carom_branch b = follow(&f);
        assert_int_equal(count_events(&b), 2);
        assert_close(at_event(&b, "branch (subcritical pitchfork)", 0), 0, 1e-12);
        assert_close(at_event(&b, "fold", 0), -0.25, 1e-12);
        const long last = b.branch.rows - 1;
        const double L = atof(all[i]), x = cell(&b, "x", last) / L, p = b.branch.column[1].real[last];
        assert_close(x * x * (x * x - 1), p, 1e-10);
        carom_branch_free(&b);
    }
}

// x'' + 0.3 x' = p - c - x^2/L^2 in units of L: a fold at p = c.  Lengths far below and above a metre are found, over
// ranges of any width, and beyond the fold the initial state has no value.
static void folds_of_any_size(void **state) {
    (void)state;
    static const double L[] = {1, 1e-6, 1e5, 1e-9}, c[] = {0, 5, -1000, 0}, range[] = {10, 1, 0.1, 1e-3};
    for (int i = 0; i < 16; ++i) {
        char text[400];
        const double middle = c[i / 4], r = range[i % 4];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {p: %.17g, c: %.17g, L: %.17g}\ncoordinates: {x: {at: L*sqrt(p - c)}}\n"
                 "energy: {kinetic: \"1/2*x'^2\", potential: x^3/(3*L) - (p - c)*x*L}\nforces: {x: -0.3*x'}\n",
                 middle + r / 2, middle, L[i / 4]);
        const carom_orbit_def d = define(text, NULL, 0);
        const carom_follow_def f = define_branch(&d, NULL, NULL, "p", middle - r, middle + r);
        carom_branch b = follow(&f);
        assert_int_equal(count_events(&b), 1);
        assert_close(at_event(&b, "fold", 0), middle, 1e-10 * (fabs(middle) + r));
        consistent(&b);
        for (long k = 0; k < b.branch.rows; ++k) {
            const double x = cell(&b, "x", k) / L[i / 4], p = b.branch.column[1].real[k] - middle;
            assert_close(x * x, p, 1e-10 * (fabs(middle) + r));
        }
        carom_branch_free(&b);
    }
}

// Stick and slip on a belt: where slip begins the friction law has a kink, and the derivative by the speed of the belt
// must not be taken across it.
static double belt_at(double v, double end) {
    char text[400];
    snprintf(text, sizeof text,
             "carom: 1\ncoordinates: {x: {at: 1.2}}\nenergy: {kinetic: \"1/2*x'^2\", potential: 1/2*x^2}\ncontacts: "
             "{belt: {normal force: 1, slip rate: \"x' - %.17g\", friction: 1/(1 + 3*slip.speed)}}\n",
             v);
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, "event-driven", NULL, end / 10, end);
    model_sim_run(sim);
    const double x = carom_sim_now(sim).q[0];
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return x;
}

static void belt_gradient(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {v: 0.5}\ncoordinates: {x: {at: 1.2}}\nenergy: {kinetic: \"1/2*x'^2\", potential: "
        "1/2*x^2}\n"
        "contacts: {belt: {normal force: 1, slip rate: \"x' - v\", friction: 1/(1 + 3*slip.speed)}}\n";
    const char *const by[] = {"v", NULL};
    const double ends[] = {4, 7, 7.5}, h = 1e-4; // in stick, just behind it, later
    for (int i = 0; i < 3; ++i) {
        carom_gradient_def d = {.of = "x", .by = by, .run = carom_run_nothing()};
        d.model.text = text, d.model.length = strlen(text), d.model.file = "belt.yaml", d.run.end = ends[i];
        carom_gradient g;
        carom_error err = {0};
        if (carom_gradient_find(&g, &d, &err) != CAROM_OK) fail_msg("%s", err.text);
        assert_close(g.gradient[0], (belt_at(0.5 + h, ends[i]) - belt_at(0.5 - h, ends[i])) / (2 * h), 1e-5);
        carom_gradient_free(&g);
    }
}

// A block on a spring and on a rough floor, pushed by P from where it lies: k x + P = -friction, which holds up to mu m
// g.
static void sticking_equilibria(void **state) {
    (void)state;
    const carom_orbit_def d = define("carom: 1\nparameters: {P: 0, k: 10}\ncoordinates: {x: 0.1, y: 0}\nenergy: "
                                     "{kinetic: \"1/2*(x'^2 + y'^2)\", potential: 9.81*y + 1/2*k*x^2 + P*x}\n"
                                     "contacts: {p: {gap: y, slip: x, friction: 0.5}}\n",
                                     NULL, 0);
    const carom_follow_def f = define_branch(&d, NULL, NULL, "P", -8, 8);
    carom_branch b = follow(&f);
    assert_int_equal(count_events(&b), 2);
    const double first = at_event(&b, "slip begins p", 0), second = at_event(&b, "slip begins p", 1);
    assert_close(fmax(first, second), 4.905 - 1, 1e-8);
    assert_close(fmin(first, second), -4.905 - 1, 1e-8);
    for (long r = 0; r < b.branch.rows; ++r) assert_close(cell(&b, "x", r), 0.1, 1e-12);
    assert_non_null(strstr(b.note.text, "depends on the motion"));
    carom_branch_free(&b);
}

int main(int argc, char **argv) {
    at_length = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(parametric_excitation),
                                       cmocka_unit_test(time_in_expressions),
                                       cmocka_unit_test(any_units),
                                       cmocka_unit_test(small_beside_range),
                                       cmocka_unit_test(buckling),
                                       cmocka_unit_test(buckling_of_a_beam),
                                       cmocka_unit_test(through_grazing),
                                       cmocka_unit_test(two_stops),
                                       cmocka_unit_test(grazes_both),
                                       cmocka_unit_test(nonsmooth_fold),
                                       cmocka_unit_test(narrow_ranges),
                                       cmocka_unit_test(grazes_by_frequency),
                                       cmocka_unit_test(grazes_twice),
                                       cmocka_unit_test(crossing_sliding),
                                       cmocka_unit_test(anywhere),
                                       cmocka_unit_test(words_alike),
                                       cmocka_unit_test(held_by_friction),
                                       cmocka_unit_test(closing), cmocka_unit_test(bilinear),
                                       cmocka_unit_test(lengths),
                                       cmocka_unit_test(folds_of_any_size),
                                       cmocka_unit_test(belt_gradient),
                                       cmocka_unit_test(sticking_equilibria)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

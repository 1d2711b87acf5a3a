// test_locus.c: curves of events in two parameters: known answers.
#include <complex.h>
#include "orbits.h"

static const double PI = 3.14159265358979323846;

// The curve from the n-th event of a branch, a model with `text` and the parameter of the branch at `by[0]`.
static carom_locus curve_of(const char *text, const carom_branch *b, const char *event, int n, const char *period,
                            carom_locus_kind kind, const char *A, double a, double a_1, const char *B, double c,
                            double c_1, int most) {
    const long r = row_of(b, event, n);
    char value[60];
    snprintf(value, sizeof value, "%s=%.17g", b->branch.column[1].name, b->branch.column[1].real[r]);
    const char *const set[] = {value, NULL};
    const double start[2] = {b->branch.column[6].real[r], b->branch.column[7].real[r]};
    carom_locus_def d = {.model = {.text = text, .length = strlen(text), .file = "model.yaml", .set = set},
                         .run = carom_run_nothing(),
                         .kind = kind,
                         .start = start,
                         .period = period,
                         .guess = b->branch.column[2].real[r],
                         .by = {A, B},
                         .from = {a, c},
                         .to = {a_1, c_1},
                         .max_points = most};
    carom_locus l;
    carom_error err = {0};
    if (carom_locus_run(&l, &d, &err) != CAROM_OK) fail_msg("%s", err.text);
    return l;
}

static carom_branch rests(const char *text, const char *by, double from, double to, int switches) {
    const carom_orbit_def d = define(text, NULL, 0);
    carom_follow_def f = define_branch(&d, NULL, NULL, by, from, to);
    f.switches = switches;
    return follow(&f);
}

static carom_branch orbits(const char *text, const char *period, double transient, const char *by, double from,
                           double to) {
    const carom_orbit_def d = define(text, period, transient);
    carom_orbit o = find_orbit(&d);
    double start[2];
    const carom_follow_def f = define_branch(&d, &o, start, by, from, to);
    carom_branch b = follow(&f);
    carom_orbit_free(&o);
    return b;
}

static long event_row(const carom_locus *l, const char *name) {
    for (long r = 0; r < l->curve.rows; ++r)
        if (strcmp(l->curve.column[6].text[r], name) == 0) return r;
    fail_msg("there is no %s", name);
    return -1;
}

static int count(const carom_locus *l) {
    int n = 0;
    for (long r = 0; r < l->curve.rows; ++r) n += l->curve.column[6].text[r][0] != 0;
    return n;
}

// The same cusp from a fold over P, where the one stiffness there is vanishes to rounding.
static void imperfect_strut(void **state) {
    (void)state;
    static const char *const c[] = {"0.02", "0.03", "0.05"};
    for (int i = 0; i < 3; ++i) {
        char text[300];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {P: 1.4, c: %s}\ncoordinates: {a: -1.1}\nenergy: {kinetic: \"1/2*a'^2\", "
                 "potential: \"1/2*(a - c)^2 + P*cos(a)\"}\nforces: {a: \"-a'\"}\n",
                 c[i]);
        carom_branch b = rests(text, "P", 0, 1.5, 0);
        carom_locus l = curve_of(text, &b, "fold", 0, NULL, CAROM_LOCUS_FOLD, "P", 0, 2, "c", -0.3, 0.3, 0);
        const long r = event_row(&l, "cusp");
        assert_close(l.curve.column[1].real[r], 1, 1e-9), assert_close(l.curve.column[2].real[r], 0, 1e-9);
        assert_int_equal(count(&l), 1);
        carom_locus_free(&l), carom_branch_free(&b);
    }
}

// a - P sin a = c: folds where P cos a = 1, a cusp at P = 1, c = 0.  Without c the strut buckles at P = k.
static void strut(void **state) {
    (void)state;
    const char *text = "carom: 1\nparameters: {P: 1.2, c: 0.2, k: 1}\ncoordinates: {a: {at: 0.9}}\nenergy: {kinetic: "
                       "\"1/2*a'^2\", potential: \"1/2*k*a^2 + P*cos(a) - c*a\"}\nforces: {a: \"-a'\"}\n";
    carom_branch b = rests(text, "c", -0.3, 0.3, 0);
    assert_close(fabs(at_event(&b, "fold", 0)), 0.077639414614, 1e-10);
    carom_locus l = curve_of(text, &b, "fold", 0, NULL, CAROM_LOCUS_FOLD, "P", 0.5, 2, "c", -1, 1, 0);
    for (long r = 0; r < l.curve.rows; ++r) {
        const double P = l.curve.column[1].real[r], c = l.curve.column[2].real[r], a = acos(1 / fmax(P, 1));
        assert_close(fabs(c), P * sin(a) - a, 1e-9);
    }
    const long r = event_row(&l, "cusp");
    assert_close(l.curve.column[1].real[r], 1, 1e-9), assert_close(l.curve.column[2].real[r], 0, 1e-9);
    assert_int_equal(count(&l), 1);
    carom_locus_free(&l), carom_branch_free(&b);
    const char *straight = "carom: 1\nparameters: {P: 0, c: 0, k: 1}\ncoordinates: {a: 0}\nenergy: {kinetic: "
                           "\"1/2*a'^2\", potential: \"1/2*k*a^2 + P*cos(a) - c*a\"}\nforces: {a: \"-a'\"}\n";
    b = rests(straight, "P", 0, 2, 0);
    l = curve_of(straight, &b, "branch", 0, NULL, CAROM_LOCUS_BRANCH, "P", 0, 3, "k", 0.5, 2, 0);
    assert_true(l.curve.rows > 10);
    for (long i = 0; i < l.curve.rows; ++i) assert_close(l.curve.column[1].real[i], l.curve.column[2].real[i], 1e-9);
    carom_locus_free(&l), carom_branch_free(&b);
}

// The same without damping, where every fold has a double eigenvalue 0 and none of them is a point of Bogdanov and
// Takens; and with x'' = a + b x + x^2 + x x', where (0, 0) is one.
static void double_zeros(void **state) {
    (void)state;
    static const double range[][4] = {{0.5, 2, -1, 1}, {0, 30, -10, 10}, {0.99, 1.3, -0.1, 0.1}, {0, 3, -1, 1}};
    const char *text = "carom: 1\nparameters: {P: 1.2, c: 0.2, k: 1}\ncoordinates: {a: {at: 0.9}}\nenergy: {kinetic: "
                       "\"1/2*a'^2\", potential: \"1/2*k*a^2 + P*cos(a) - c*a\"}\n";
    carom_branch b = rests(text, "c", -0.3, 0.3, 0);
    for (int i = 0; i < 4; ++i) {
        const double *at = range[i];
        carom_locus l = curve_of(text, &b, "fold", 0, NULL, CAROM_LOCUS_FOLD, "P", at[0], at[1], "c", at[2], at[3], 0);
        const long r = event_row(&l, "cusp");
        assert_close(l.curve.column[1].real[r], 1, 1e-11), assert_close(l.curve.column[2].real[r], 0, 1e-11);
        assert_int_equal(count(&l), 1);
        carom_locus_free(&l);
    }
    carom_branch_free(&b);
    const char *normal = "carom: 1\nparameters: {a: -1, b: 0}\ncoordinates: {x: -1}\nenergy: {kinetic: \"1/2*x'^2\"}\n"
                         "forces: {x: \"a + b*x + x^2 + x*x'\"}\n";
    b = rests(normal, "a", -2, 1, 0);
    carom_locus l = curve_of(normal, &b, "fold", 0, NULL, CAROM_LOCUS_FOLD, "a", -3, 3, "b", -2, 2, 0);
    const long r = event_row(&l, "bogdanov-takens");
    assert_close(l.curve.column[1].real[r], 0, 1e-9), assert_close(l.curve.column[2].real[r], 0, 1e-9);
    for (long i = 0; i < l.curve.rows; ++i)
        assert_close(l.curve.column[1].real[i], pow(l.curve.column[2].real[i], 2) / 4, 1e-9);
    assert_int_equal(count(&l), 1);
    carom_locus_free(&l), carom_branch_free(&b);
    // Hopf points at a = 0 while b < 0, with the frequency sqrt(-b); the curve ends in (0, 0)
    const char *left = "carom: 1\nparameters: {a: -1, b: -1}\ncoordinates: {x: -0.6}\nenergy: {kinetic: \"1/2*x'^2\"}\n"
                       "forces: {x: \"a + b*x + x^2 + x*x'\"}\n";
    b = rests(left, "a", -2, 1, 0);
    assert_close(at_event(&b, "hopf", 0), 0, 1e-10);
    l = curve_of(left, &b, "hopf", 0, NULL, CAROM_LOCUS_HOPF, "a", -3, 3, "b", -2, 2, 0);
    const long end = event_row(&l, "bogdanov-takens");
    assert_close(l.curve.column[1].real[end], 0, 1e-9), assert_close(l.curve.column[2].real[end], 0, 1e-6);
    for (long i = 0; i < l.curve.rows; ++i) {
        const double B = l.curve.column[2].real[i];
        assert_close(l.curve.column[1].real[i], 0, 1e-9), assert_true(B < 1e-6);
        if (B < -1e-6) assert_close(l.curve.column[5].real[i], sqrt(-B), 1e-9);
        // c1 = 1/2 s/b of x'' = b x + x^2 + s x x', by (HOP-2)
        if (B < -0.1) assert_close(l.curve.column[7].real[i], -0.5 / B, 1e-7);
    }
    carom_locus_free(&l), carom_branch_free(&b);
}

// P (sin a - a) = 0 at P = 1, a = 0 for every k; with an imperfection eps there is no branch point.
static void stiffness_of_any_size(void **state) {
    (void)state;
    const char *text = "carom: 1\nparameters: {P: 0, k: 1, eps: 0}\ncoordinates: {a: 0}\nenergy: {kinetic: "
                       "\"1/2*a'^2\", potential: \"1/2*k*(a - eps)^2 + P*k*cos(a)\"}\n";
    carom_branch b = rests(text, "P", 0, 3, 0);
    carom_locus l = curve_of(text, &b, "branch", 0, NULL, CAROM_LOCUS_BRANCH, "P", 0, 3, "k", 0.1, 10, 0);
    assert_true(l.curve.rows > 10);
    for (long i = 0; i < l.curve.rows; ++i) assert_close(l.curve.column[1].real[i], 1, 1e-10);
    carom_locus_free(&l), carom_branch_free(&b);
}

// x'' + x = p x' + q x'^3 - x'^5: Hopf points at p = 0, Re c1 = 3/2 q; folds of orbits where p + 3/4 q r^2 - 5/8 r^4 =
// 0 to first order.
static void bautin(void **state) {
    (void)state;
    QUICK_SKIPS();
    const char *text = "carom: 1\nparameters: {p: -0.2, q: 0.5}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", "
                       "potential: \"1/2*x^2\"}\nforces: {x: \"p*x' + q*x'^3 - x'^5\"}\n";
    carom_branch b = rests(text, "p", -0.2, 0.2, CAROM_SWITCH_HOPF);
    assert_close(at_event(&b, "fold", 0), -0.056249381993, 1e-9);
    carom_locus l = curve_of(text, &b, "hopf", 0, NULL, CAROM_LOCUS_HOPF, "p", -0.2, 0.2, "q", -1, 1, 0);
    const long r = event_row(&l, "bautin");
    assert_close(l.curve.column[1].real[r], 0, 1e-9), assert_close(l.curve.column[2].real[r], 0, 1e-9);
    for (long i = 0; i < l.curve.rows; ++i)
        assert_close(l.curve.column[7].real[i], 1.5 * l.curve.column[2].real[i], 1e-9),
            assert_close(l.curve.column[5].real[i], 1, 1e-9);
    assert_int_equal(count(&l), 1);
    carom_locus_free(&l);
    l = curve_of(text, &b, "fold", 0, "free", CAROM_LOCUS_FOLD, "p", -0.1, 0.1, "q", 0.4, 0.6, 12);
    for (long i = 0; i < l.curve.rows; ++i)
        assert_close(l.curve.column[1].real[i], -9. / 40 * pow(l.curve.column[2].real[i], 2), 5e-6);
    carom_locus_free(&l);
    // down to where these orbits vanish
    l = curve_of(text, &b, "fold", 0, "free", CAROM_LOCUS_FOLD, "p", -0.2, 0.2, "q", -0.5, 1, 0);
    assert_int_equal(count(&l), 1);
    const long end = event_row(&l, "bautin");
    assert_int_equal(end, l.curve.rows - 1);
    assert_close(l.curve.column[1].real[end], 0, 1e-9), assert_close(l.curve.column[2].real[end], 0, 1e-8);
    assert_close(l.curve.column[3].real[end], 2 * PI, 1e-8);
    carom_locus_free(&l), carom_branch_free(&b);
}

// x'' + 0.2 x' + x + x^3 = F cos w t
static void duffing(void **state) {
    (void)state;
    QUICK_SKIPS();
    const char *text = "carom: 1\nparameters: {w: 1.2, F: 0.2}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", "
                       "potential: \"1/2*x^2 + 1/4*x^4\"}\nforces: {x: \"F*cos(w*t) - 0.2*x'\"}\n";
    carom_branch b = orbits(text, "2*pi/w", 100, "w", 1.1, 1.35);
    carom_locus l = curve_of(text, &b, "fold", 0, "2*pi/w", CAROM_LOCUS_FOLD, "w", 1.15, 1.35, "F", 0.15, 0.21, 0);
    const long r = event_row(&l, "cusp");
    assert_close(l.curve.column[1].real[r], 1.18729985814, 1e-8),
        assert_close(l.curve.column[2].real[r], 0.16470226034, 1e-8);
    carom_locus_free(&l), carom_branch_free(&b);
}

// Between two stops the symmetric orbit loses its symmetry at weak impacts, where Newton's method needs small steps,
// and at strong ones, where the start of the orbit must move along it although Newton's method for the orbit alone is
// singular.  Known by the map over half a period.  Steps beside weak impacts are many: that case is for the long test.
static bool at_length;
static void two_stops(void **state) {
    (void)state;
    QUICK_SKIPS();
    static const struct {
        const char *F, *w, *by;
        double from, to, range[2], other[2], at, F_at;
    } of[] = {{"0.2", "1.1", "c", 0.11, 0.2, {0.05, 1}, {0.0999, 0.115}, 0.115, 0.136825496825},
              {"0.8", "1.035", "w", 0.55, 0.85, {0.5, 1}, {1.02, 1.036}, 1.02, 0.695200112478}};
    for (int k = at_length ? 0 : 1; k < 2; ++k) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {F: %s, w: %s, c: 0.1}\ncoordinates: {x: 0.2}\nenergy: {kinetic: \"1/2*x'^2\", "
                 "potential: x^2/2 + 0.3*x^4/4}\nforces: {x: \"F*cos(w*t) - c*x'\"}\ncontacts: {right: {gap: 1 - x, "
                 "restitution: 0.7}, left: {gap: 1 + x, restitution: 0.7}}\n",
                 of[k].F, of[k].w);
        carom_branch b = orbits(text, "2*pi/w", 200, "F", of[k].from, of[k].to);
        carom_locus l = curve_of(text, &b, "branch", 0, "2*pi/w", CAROM_LOCUS_BRANCH, "F", of[k].range[0],
                                 of[k].range[1], of[k].by, of[k].other[0], of[k].other[1], 0);
        assert_int_equal(count(&l), 0); // no end
        bool there = false;
        for (long r = 0; r < l.curve.rows; ++r) {
            if (fabs(l.curve.column[2].real[r] - of[k].at) > 1e-8) continue;
            assert_close(l.curve.column[1].real[r], of[k].F_at, 1e-8);
            there = true;
        }
        assert_true(there);
        carom_locus_free(&l), carom_branch_free(&b);
    }
}

// x'' - 0.2 (1 - x^2) x' + x = F cos w t: resonance 1:4 on the border of entrainment.
static void van_der_pol(void **state) {
    (void)state;
    QUICK_SKIPS();
    const char *text = "carom: 1\nparameters: {w: 1.2, F: 1}\ncoordinates: {x: 2}\nenergy: {kinetic: \"1/2*x'^2\", "
                       "potential: \"1/2*x^2\"}\nforces: {x: \"0.2*(1 - x^2)*x' + F*cos(w*t)\"}\n";
    carom_branch b = orbits(text, "2*pi/w", 300, "w", 1.15, 1.4);
    carom_locus l =
        curve_of(text, &b, "neimark-sacker", 0, "2*pi/w", CAROM_LOCUS_TORUS, "w", 1.25, 1.36, "F", 0.98, 1.15, 0);
    const long r = event_row(&l, "resonance 1:4");
    assert_close(l.curve.column[1].real[r], 1.33757880115, 1e-9),
        assert_close(l.curve.column[2].real[r], 1.13350279466, 1e-9);
    carom_locus_free(&l), carom_branch_free(&b);
}

// A ball on a table: Q = sqrt((A w^2)^2 - (pi g (1 - e)/(1 + e))^2) is 0 at the fold and 2 g (1 + e^2)/(1 + e)^2 at the
// doubling.  c of the doubling: from the doubled orbits, and by differences.
static void table(void **state) {
    (void)state;
    const char *text =
        "carom: 1\nparameters: {g: 9.81, e: 0.8, w: 30, A: 0.01}\ncoordinates: {y: {at: 0, rate: 0.9}}\nenergy: "
        "{kinetic: \"1/2*y'^2\", potential: g*y}\ncontacts: {table: {gap: \"y - A*sin(w*t)\", restitution: e}}\n";
    const carom_orbit_def d = define(text, "2*pi/w", 20);
    carom_orbit o = find_orbit(&d);
    double start[2];
    carom_follow_def f = define_branch(&d, &o, start, "A", 0.002, 0.0125);
    f.switches = CAROM_SWITCH_DOUBLING;
    carom_branch b = follow(&f);
    for (int k = 0; k < 2; ++k) {
        carom_locus l = curve_of(text, &b, k ? "fold" : "period-doubling", 0, "2*pi/w",
                                 k ? CAROM_LOCUS_FOLD : CAROM_LOCUS_DOUBLING, "A", 0.0005, 0.03, "e", 0.3, 0.95, 0);
        if (l.curve.rows < 20) fail_msg("%ld points: %s", l.curve.rows, l.note.text);
        for (long i = 0; i < l.curve.rows; ++i) {
            const double A = l.curve.column[1].real[i], e = l.curve.column[2].real[i],
                         Q = k ? 0 : 2 * 9.81 * (1 + e * e) / pow(1 + e, 2);
            assert_close(A * 900, hypot(Q, PI * 9.81 * (1 - e) / (1 + e)), 1e-8);
        }
        if (k == 0)
            assert_close(l.curve.column[7].real[0] / value_in(&b, "coefficient", row_of(&b, "period-doubling", 0)), 1,
                         0.15); // their units, sizes of motions at A = 0.0117 and 0.01, differ
        carom_locus_free(&l);
    }
    carom_branch_free(&b), carom_orbit_free(&o);
}

// x'' + 0.2 x' + x = F cos w t, x <= 1: grazing at F = |1 - w^2 + 0.2 i w|.  It is degenerate where half the damped
// frequency divides that of the force, w = sqrt(0.99).
static void grazing(void **state) {
    (void)state;
    QUICK_SKIPS();
    const char *text =
        "carom: 1\nparameters: {e: 0.8, w: 0.9, F: 0.2}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", "
        "potential: 1/2*x^2}\nforces: {x: \"F*cos(w*t) - 0.2*x'\"}\ncontacts: {stop: {gap: 1 - x, restitution: e}}\n";
    carom_branch b = orbits(text, "2*pi/w", 100, "F", 0.2, 0.27);
    carom_locus l = curve_of(text, &b, "grazing", 0, "2*pi/w", CAROM_LOCUS_GRAZING, "F", 0.19, 0.3, "w", 0.88, 1.01, 0);
    for (long i = 0; i < l.curve.rows; ++i) {
        const double F = l.curve.column[1].real[i], w = l.curve.column[2].real[i];
        assert_close(F, hypot(1 - w * w, 0.2 * w), 1e-9);
    }
    const long r = event_row(&l, "degenerate-grazing");
    assert_close(l.curve.column[2].real[r], sqrt(0.99), 1e-8),
        assert_close(l.curve.column[1].real[r], 0.19924858845, 1e-8);
    carom_locus_free(&l), carom_branch_free(&b);
}

// The same between two stops, which a free oscillation grazes together.
static void grazing_both(void **state) {
    (void)state;
    const char *text =
        "carom: 1\nparameters: {w: 0.9, F: 0.2}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", "
        "potential: 1/2*x^2}\nforces: {x: \"F*cos(w*t) - 0.2*x'\"}\ncontacts: {right: {gap: 1 - x, restitution: 0.8}, "
        "left: {gap: 1 + x, restitution: 0.8}}\n";
    carom_branch b = orbits(text, "2*pi/w", 100, "F", 0.2, 0.27);
    carom_locus l =
        curve_of(text, &b, "grazing right and left", 0, "2*pi/w", CAROM_LOCUS_GRAZING, "F", 0.25, 0.27, "w", 0.8, 1, 0);
    for (long i = 0; i < l.curve.rows; ++i) {
        const double F = l.curve.column[1].real[i], w = l.curve.column[2].real[i];
        assert_close(F, hypot(1 - w * w, 0.2 * w), 1e-9);
        assert_string_equal(l.curve.column[6].text[i], "");
    }
    assert_true(l.curve.rows > 10);
    carom_locus_free(&l), carom_branch_free(&b);
}

// x'' = a + x^2 + (b + x) x': Hopf points at a = -b^2 < 0, b > 0, and a double zero at 0, whatever the ranges.
static void hopf_to_double_zero(void **state) {
    (void)state;
    const char *text = "carom: 1\nparameters: {a: -0.25, b: 0.2}\ncoordinates: {x: -0.5}\nenergy: {kinetic: "
                       "\"1/2*x'^2\", potential: \"-a*x - x^3/3\"}\nforces: {x: \"(b + x)*x'\"}\n";
    for (double range = 0.6; range < 100; range *= 5) {
        carom_branch b = rests(text, "b", -range, range, 0);
        carom_locus l =
            curve_of(text, &b, "hopf", 0, NULL, CAROM_LOCUS_HOPF, "a", -range, range, "b", -range, range, 0);
        const long r = event_row(&l, "bogdanov-takens");
        assert_close(l.curve.column[1].real[r], 0, 1e-12), assert_close(l.curve.column[2].real[r], 0, 1e-10);
        for (long i = 0; i < l.curve.rows; ++i)
            assert_close(l.curve.column[1].real[i], -pow(l.curve.column[2].real[i], 2), 1e-9 * range);
        carom_locus_free(&l), carom_branch_free(&b);
    }
}

// q'' + c q' + (1 + a cos w t) sin q = 0: the pendulum at rest doubles where Hill's determinant over the harmonics
// +-w/2, +-3w/2, ... vanishes, which is tridiagonal.  Nothing moves there, and no run takes long.
static double hill(double a, double w, double c) {
    double complex before = 1, d = 1;
    for (int k = -15; k <= 15; k += 2) {
        const double rate = k * w / 2, size = 1 + rate * rate;
        const double complex next = (1 - rate * rate + I * rate * c) / size * d -
                                    (k > -15 ? a * a / 4 / size / (1 + pow(rate - w, 2)) * before : 0);
        before = d, d = next;
    }
    return creal(d);
}

static void tongue(void **state) {
    (void)state;
    const char *text = "carom: 1\nparameters: {a: 0.01, w: 2, c: 0.02}\ncoordinates: {q: 0}\nenergy: {kinetic: "
                       "\"1/2*q'^2\", potential: \"-(1 + a*cos(w*t))*cos(q)\"}\nforces: {q: \"-c*q'\"}\n";
    carom_branch b = orbits(text, "2*pi/w", 0, "a", 0.01, 0.1);
    carom_locus l = curve_of(text, &b, "period-doubling", 0, "2*pi/w", CAROM_LOCUS_DOUBLING, "a", 0.01, 0.5, "w", 1.7,
                             2.3, 0);
    assert_true(l.curve.rows > 40);
    for (long i = 0; i < l.curve.rows; ++i) {
        const double a = l.curve.column[1].real[i], w = l.curve.column[2].real[i], h = 1e-5;
        const double slope =
            hypot(hill(a + h, w, 0.02) - hill(a - h, w, 0.02), hill(a, w + h, 0.02) - hill(a, w - h, 0.02));
        assert_close(hill(a, w, 0.02) / (slope / (2 * h)), 0, 1e-9); // a distance in the plane
    }
    carom_locus_free(&l), carom_branch_free(&b);
}

// Of orbits that are struck, doublings lead to the point where grazing is degenerate, and end there.
static void doubling_to_grazing(void **state) {
    (void)state;
    const char *text =
        "carom: 1\nparameters: {w: 0.985, F: 0.19}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", "
        "potential: 1/2*x^2}\nforces: {x: \"F*cos(w*t) - 0.2*x'\"}\ncontacts: {stop: {gap: 1 - x, restitution: 0.8}}\n";
    carom_branch b = orbits(text, "2*pi/w", 100, "F", 0.19, 0.24);
    carom_locus l = curve_of(text, &b, "period-doubling", 0, "2*pi/w", CAROM_LOCUS_DOUBLING, "F", 0.15, 0.24, "w", 0.98,
                             1, 0);
    const long r = event_row(&l, "grazing stop");
    assert_close(l.curve.column[2].real[r], sqrt(0.99), 1e-8);
    assert_close(l.curve.column[1].real[r], hypot(0.01, 0.2 * sqrt(0.99)), 1e-8);
    assert_int_equal(count(&l), 1);
    carom_locus_free(&l), carom_branch_free(&b);
}

static void refused_curves(void **state) {
    (void)state;
    carom_locus l;
    carom_error err = {0};
    const char *text = "carom: 1\nparameters: {p: 1, q: 1}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", "
                       "potential: \"1/2*p*q*x^2\"}\n";
    carom_locus_def d = {.model = {.text = text, .length = strlen(text), .file = "model.yaml"},
                         .run = carom_run_nothing(),
                         .kind = CAROM_LOCUS_TORUS,
                         .guess = NAN,
                         .by = {"p", "q"},
                         .from = {0, 0},
                         .to = {2, 2}};
    static const char *const words[] = {"`curve torus` belongs to orbits", "two different numbers", "got p twice",
                                        "outside the given ranges", "'x' is not a parameter"};
    for (int i = 0; i < 5; ++i) {
        carom_locus_def e = d;
        if (i > 0) e.kind = CAROM_LOCUS_FOLD;
        if (i == 1) e.to[1] = 0;
        if (i == 2) e.by[1] = "p";
        if (i == 3) e.from[0] = 1.5;
        if (i == 4) e.by[1] = "x";
        assert_int_equal(carom_locus_run(&l, &e, &err), CAROM_BAD_INPUT);
        if (!strstr(err.text, words[i])) fail_msg("'%s' is not in: %s", words[i], err.text);
        carom_locus_free(&l);
    }
}

int main(int argc, char **argv) {
    at_length = argc > 1 && strcmp(argv[1], "long") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(strut),         cmocka_unit_test(bautin),
                                       cmocka_unit_test(imperfect_strut), cmocka_unit_test(double_zeros),
                                       cmocka_unit_test(stiffness_of_any_size),
                                       cmocka_unit_test(hopf_to_double_zero),
                                       cmocka_unit_test(tongue),        cmocka_unit_test(duffing),
                                       cmocka_unit_test(van_der_pol),
                                       cmocka_unit_test(two_stops),
                                       cmocka_unit_test(table),         cmocka_unit_test(grazing),
                                       cmocka_unit_test(grazing_both),  cmocka_unit_test(doubling_to_grazing),
                                       cmocka_unit_test(refused_curves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

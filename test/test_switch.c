// test_switch.c: branches that bifurcate: known answers.
#include "orbits.h"

static const double PI = 3.14159265358979323846;

static carom_branch switch_from_rest(const char *text, const char *by, double from, double to, int switches) {
    const carom_orbit_def d = define(text, NULL, 0);
    carom_follow_def f = define_branch(&d, NULL, NULL, by, from, to);
    f.switches = switches;
    return follow(&f);
}

// k a = P k sin a: behind P = 1 the strut leans to a = P sin a, and a^2/6 = P - 1 there; both sides are images of each
// other.
static void strut(void **state) {
    (void)state;
    static const char *const k[] = {"1", "1e8"};
    for (int i = 0; i < 2; ++i) {
        char text[300];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {P: 0, k: %s}\ncoordinates: {a: 0}\nenergy: {kinetic: \"1/2*a'^2\", potential: "
                 "\"1/2*k*a^2 + P*k*cos(a)\"}\n",
                 k[i]);
        carom_branch b = switch_from_rest(text, "P", 0, 1.2, CAROM_SWITCH_ALL);
        assert_int_equal(b.branches, 2);
        const long r = row_of(&b, "branch (supercritical pitchfork)", 0);
        assert_close(b.branch.column[1].real[r], 1, 1e-9);
        assert_close(value_in(&b, "coefficient", r), 1. / 6, 1e-9);
        assert_close(fabs(value_in(&b, "a", row_at(&b, 2, 1.2))), 1.02673829137097, 1e-11);
        carom_branch_free(&b);
    }
}

// x'' = -x/S^2 + (p + q x'^2 S^2/L^2 - x'^4 S^4/L^4) x'/S: Re c1 = 3/2 q/(S L^2) exactly, whatever L is, and the term
// of fifth order has no part in it.
static void hopf_of_any_size(void **state) {
    (void)state;
    static const double L[] = {1, 1e-3, 1e6}, S[] = {1, 1e3, 1e-3};
    for (int i = 0; i < 3; ++i) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {p: -0.5, L: %.17g, S: %.17g}\ncoordinates: {x: 0}\nenergy: {kinetic: "
                 "\"1/2*x'^2\", potential: x^2/2/S^2}\nforces: {x: \"p*x'/S + 0.5*x'^3*S/L^2 - x'^5*S^3/L^4\"}\n",
                 L[i], S[i]);
        carom_branch b = switch_from_rest(text, "p", -0.5, 0.5, CAROM_SWITCH_HOPF);
        const long r = row_of(&b, "hopf (subcritical)", 0);
        assert_close(value_in(&b, "coefficient", r) * S[i] * L[i] * L[i], 0.75, 1e-9);
        assert_close(at_event(&b, "fold", 0), -0.056249381993, 1e-10);
        carom_branch_free(&b);
    }
}

// x (p - x) = 0: two lines that cross, each followed in both directions.
static void transcritical(void **state) {
    (void)state;
    carom_branch b = switch_from_rest("carom: 1\nparameters: {p: -0.5}\ncoordinates: {x: 0}\nenergy: {kinetic: "
                                      "\"1/2*x'^2\", potential: \"-1/2*p*x^2 + x^3/3\"}\nforces: {x: \"-x'\"}\n",
                                      "p", -0.5, 1, CAROM_SWITCH_BRANCH);
    assert_int_equal(b.branches, 3);
    assert_close(at_event(&b, "branch (transcritical)", 0), 0, 1e-9);
    for (long r = 0; r < b.branch.rows; ++r)
        if (b.branch.column[0].integer[r] > 1) assert_close(value_in(&b, "x", r), b.branch.column[1].real[r], 1e-10);
    carom_branch_free(&b);
}

// x'' - (p - x^2) x' + x + b x^2 = 0: sigma = p/2, c1 = -1/2 - 5 i/12 with q = (1, i) at b = 1/2.  b = 0: van der Pol's
// equation at p = 1.
static void hopf(void **state) {
    (void)state;
    const char *text = "carom: 1\nparameters: {p: -0.5, b: %s}\ncoordinates: {x: 0}\nenergy: {kinetic: \"1/2*x'^2\", "
                       "potential: \"1/2*x^2 + b*x^3/3\"}\nforces: {x: \"(p - x^2)*x'\"}\n";
    char own[300];
    snprintf(own, sizeof own, text, "0");
    carom_branch b = switch_from_rest(own, "p", -0.5, 1, CAROM_SWITCH_ALL);
    long r = row_of(&b, "hopf (supercritical)", 0);
    assert_close(b.branch.column[1].real[r], 0, 1e-9);
    assert_close(value_in(&b, "coefficient", r), -0.5, 1e-10);
    r = row_at(&b, 2, 1);
    assert_close(value_in(&b, "period", r), 6.663286859323, 1e-9);
    assert_close(value_in(&b, "max(x)", r), 2.008619860875, 1e-8);
    assert_close(value_in(&b, "mu1.re", r), 8.59695064e-4, 1e-7);
    carom_branch_free(&b);
    snprintf(own, sizeof own, text, "0.5");
    b = switch_from_rest(own, "p", -0.5, 0.3, CAROM_SWITCH_HOPF);
    assert_close(value_in(&b, "coefficient", row_of(&b, "hopf (supercritical)", 0)), -0.5, 1e-10);
    carom_branch_free(&b);
}

// A block on a belt with falling friction 1/(1 + 3 u) and damping 0.3: friction feeds 3/(1 + 3 v)^2 back, 0.3 of it at
// v = (sqrt(10) - 1)/3; the orbits are on the side of stable sliding.
static void belt(void **state) {
    (void)state;
    carom_branch b = switch_from_rest(
        "carom: 1\nparameters: {v: 0.9}\ncoordinates: {x: {at: 1.2}}\nenergy: {kinetic: \"1/2*x'^2\", potential: "
        "\"1/2*x^2\"}\nforces: {x: \"-0.3*x'\"}\n"
        "contacts: {belt: {normal force: 1, slip rate: \"x' - v\", friction: \"1/(1 + 3*slip.speed)\"}}\n",
        "v", 0.6, 1, CAROM_SWITCH_HOPF);
    const long r = row_of(&b, "hopf (subcritical)", 0);
    assert_close(b.branch.column[1].real[r], (sqrt(10) - 1) / 3, 1e-9);
    assert_true(value_in(&b, "coefficient", r) > 0);
    carom_branch_free(&b);
}

// x'' + 0.2 x' + x^3 = F cos t: the symmetric orbit loses its symmetry at F = 2.403377116057.
static void duffing(void **state) {
    (void)state;
    QUICK_SKIPS();
    const carom_orbit_def d = define("carom: 1\nparameters: {F: 2.3}\ncoordinates: {x: 1.2}\nenergy: {kinetic: "
                                     "\"1/2*x'^2\", potential: \"1/4*x^4\"}\nforces: {x: \"F*cos(t) - 0.2*x'\"}\n",
                                     "2*pi", 200);
    carom_orbit o = find_orbit(&d);
    double start[2];
    carom_follow_def f = define_branch(&d, &o, start, "F", 2.3, 2.6);
    f.switches = CAROM_SWITCH_BRANCH;
    carom_branch b = follow(&f);
    assert_int_equal(b.branches, 2);
    assert_close(at_event(&b, "branch (supercritical pitchfork)", 0), 2.403377116057, 1e-8);
    const long r = row_at(&b, 2, 2.6);
    const double x = value_in(&b, "x", r), v = value_in(&b, "x'", r);
    if (fabs(x - 1.45696874805) < 1e-3) assert_close(x, 1.45696874805, 1e-8), assert_close(v, 2.01716223293, 1e-8);
    assert_close(value_in(&b, "mu1.re", r), 0.32702075, 1e-7),
        assert_close(fabs(value_in(&b, "mu1.im", r)), 0.42150560, 1e-7);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// The same pitchfork met along its prongs, where F turns back as well: one event, whatever the range.
static void prongs(void **state) {
    (void)state;
    QUICK_SKIPS();
    static const double range[][2] = {{2.39, 2.61}, {2.3, 2.8}, {1.5, 3.2}};
    const carom_orbit_def d = define("carom: 1\nparameters: {F: 2.6}\ncoordinates: {x: {at: 1.457, rate: 2.017}}\n"
                                     "energy: {kinetic: \"1/2*x'^2\", potential: \"1/4*x^4\"}\n"
                                     "forces: {x: \"F*cos(t) - 0.2*x'\"}\n",
                                     "2*pi", 200);
    carom_orbit o = find_orbit(&d);
    for (int i = 0; i < 3; ++i) {
        double start[2];
        carom_follow_def f = define_branch(&d, &o, start, "F", range[i][0], range[i][1]);
        if (i == 0) f.switches = CAROM_SWITCH_BRANCH;
        carom_branch b = follow(&f);
        int events = 0;
        for (long r = 0; r < b.branch.rows; ++r) {
            const char *event = b.branch.column[5].text[r];
            events += strncmp(event, "branch", 6) == 0 || strncmp(event, "fold", 4) == 0;
        }
        assert_int_equal(events, 1);
        assert_close(at_event(&b, i == 0 ? "branch (supercritical pitchfork)" : "branch", 0), 2.403377116057, 1e-8);
        if (i == 0) assert_int_equal(b.branches, 4); // both ways from the start, and both of the symmetric orbits
        carom_branch_free(&b);
    }
    carom_orbit_free(&o);
}

// A ball on a table: orbits of two impacts behind the doubling.
static void table(void **state) {
    (void)state;
    const carom_orbit_def d = define("carom: 1\nparameters: {g: 9.81, e: 0.8, w: 30, A: 0.01}\ncoordinates: {y: {at: "
                                     "0, rate: 0.9}}\nenergy: {kinetic: \"1/2*y'^2\", potential: g*y}\n"
                                     "contacts: {table: {gap: \"y - A*sin(w*t)\", restitution: e}}\n",
                                     "2*pi/w", 20);
    carom_orbit o = find_orbit(&d);
    double start[2];
    carom_follow_def f = define_branch(&d, &o, start, "A", 0.01, 0.0125);
    f.switches = CAROM_SWITCH_ALL;
    carom_branch b = follow(&f);
    const long r = row_of(&b, "period-doubling (supercritical)", 0), end = row_at(&b, 2, 0.0125);
    assert_close(b.branch.column[1].real[r], 0.0116721175039, 1e-12);
    // of the first doubled orbits: c u^2 = (1 - mu)/4, u the way of y from the orbit that is doubled
    long first = r;
    while (b.branch.column[0].integer[first] != 2) ++first;
    const double u = value_in(&b, "y", first + 3) - value_in(&b, "y", r);
    assert_close(value_in(&b, "coefficient", r) / ((1 - value_in(&b, "mu1.re", first + 3)) / (4 * u * u)), 1, 1e-3);
    assert_close(value_in(&b, "mu1.re", end), -0.0678231385, 1e-8),
        assert_close(fabs(value_in(&b, "mu1.im", end)), 0.6363961203, 1e-8);
    assert_close(value_in(&b, "period", end), 4 * PI / 30, 1e-12);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

static int rows_with(const carom_branch *b, const char *event) {
    int n = 0;
    for (long r = 0; r < b->branch.rows; ++r) n += strcmp(b->branch.column[5].text[r], event) == 0;
    return n;
}

// p^2 + x^2 = 1 alone, as branches that cross x = 0 at right angles, and slanted, p^2 + x^2 + p x = 1: each is followed
// once, and none of its events twice.
static void closed(void **state) {
    (void)state;
#define ROUND(p, x, force)                                                                                             \
    "carom: 1\nparameters: {p: " p "}\ncoordinates: {x: " x "}\nenergy: {kinetic: \"1/2*x'^2\"}\n"                     \
    "forces: {x: \"" force "\"}\n"
    static const double range[][2] = {{-2, 2}, {-20, 20}, {-1.5, 1.2}};
    for (int i = 0; i < 3; ++i) {
        carom_branch b = switch_from_rest(ROUND("0.3", "0.95", "-x' + p^2 + x^2 - 1"), "p", range[i][0], range[i][1],
                                          CAROM_SWITCH_ALL);
        assert_int_equal(b.branches, 1);
        assert_int_equal(rows_with(&b, "fold"), 2);
        for (int k = 0; k < 2; ++k) assert_close(fabs(at_event(&b, "fold", k)), 1, 1e-9);
        const long last = b.branch.rows - 1;
        assert_string_equal(b.branch.column[5].text[last], "closed");
        // to 1e-12 of the length (FOL-9), which loads of the second range make ten times as large
        assert_close(value_in(&b, "x", last), value_in(&b, "x", 0), i == 1 ? 1e-11 : 1e-12);
        carom_branch_free(&b);
    }
    carom_branch b =
        switch_from_rest(ROUND("-2", "0", "-x' + x*(p^2 + x^2 - 1)"), "p", -2, 2, CAROM_SWITCH_BRANCH);
    assert_int_equal(b.branches, 2);
    assert_int_equal(rows_with(&b, "branch (subcritical pitchfork)"), 2);
    assert_close(at_event(&b, "joins branch 1", 0), 1, 1e-9);
    carom_branch_free(&b);
    b = switch_from_rest(ROUND("-2", "0", "-x' + x*(p^2 + x^2 + p*x - 1)"), "p", -2, 2, CAROM_SWITCH_BRANCH);
    assert_int_equal(b.branches, 2);
    assert_int_equal(rows_with(&b, "branch (transcritical)"), 2);
    assert_int_equal(rows_with(&b, "fold"), 2);
    assert_close(at_event(&b, "crosses branch 1", 0), 1, 1e-9);
    assert_close(at_event(&b, "joins branch 1", 0), -1, 1e-9);
    carom_branch_free(&b);
}

// Beside the second pitchfork of x'' + 0.2 x' + x^3 = F cos t the symmetric orbits are 0.002 of the size of the motion
// away: a branch of asymmetric ones goes over to their images whatever the range is.
static void prongs_of_wide_ranges(void **state) {
    (void)state;
    QUICK_SKIPS();
    const carom_orbit_def d =
        define("carom: 1\nparameters: {F: 15.1}\ncoordinates: {x: {at: 3.9813, rate: 0.931}}\nenergy: {kinetic: "
               "\"1/2*x'^2\", potential: \"1/4*x^4\"}\nforces: {x: \"F*cos(t) - 0.2*x'\"}\n",
               "2*pi", 0);
    static const double range[][2] = {{14, 15.3}, {1, 150}};
    carom_orbit o = find_orbit(&d);
    for (int i = 0; i < (BRIEF ? 1 : 2); ++i) {
        double start[2];
        carom_follow_def f = define_branch(&d, &o, start, "F", range[i][0], range[i][1]);
        f.max_points = 30;
        carom_branch b = follow(&f);
        assert_close(at_event(&b, "branch", 0), 15.1977365003, 1e-8);
        for (long r = row_of(&b, "branch", 0) + 1; r < b.branch.rows; ++r) // images: x' at t = 0 is larger
            assert_true(value_in(&b, "F", r) < 15.1977365003 && value_in(&b, "x", r) < 3.9582);
        carom_branch_free(&b);
    }
    carom_orbit_free(&o);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(strut),   cmocka_unit_test(hopf_of_any_size),
                                       cmocka_unit_test(transcritical),
                                       cmocka_unit_test(hopf),    cmocka_unit_test(belt),
                                       cmocka_unit_test(duffing), cmocka_unit_test(prongs),
                                       cmocka_unit_test(table),   cmocka_unit_test(closed),
                                       cmocka_unit_test(prongs_of_wide_ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

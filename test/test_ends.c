// test_ends.c: where branches of orbits end, and where they turn back: known answers.
#include "dynamics/endless.h"
#include "orbits.h"

// x'' + V'(x) = (p - H) x', H = x'^2/2 + V: the motion with H = p is an orbit.  With V = x^2/2 - x^3/3 orbits exist
// from the equilibrium, p = 0, to the saddle at x = 1, p = 1/6.
static void well(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nparameters: {p: 0.1, L: %s}\ncoordinates: {x: 0.4*L}\nenergy: {kinetic: \"1/2*x'^2\", potential: "
        "\"1/2*x^2 - 1/3*x^3/L\"}\nforces: {x: \"(p - (x'^2/2 + x^2/2 - x^3/3/L)/L^2)*x'\"}\nsimulation: {end: 50}\n";
    static const char *const unit[] = {"1", "1e-3"};
    for (int i = 0; i < (BRIEF ? 1 : 2); ++i) {
        char own[400];
        snprintf(own, sizeof own, text, unit[i]);
        const carom_orbit_def d = define(own, "free", 60);
        carom_orbit o = find_orbit(&d);
        double start[2];
        const carom_follow_def f = define_branch(&d, &o, start, "p", -0.2, 0.3);
        carom_branch b = follow(&f);
        int events = 0;
        for (long r = 0; r < b.branch.rows; ++r) events += b.branch.column[5].text[r][0] != 0;
        assert_int_equal(events, 2);
        const long r = row_of(&b, "homoclinic", 0), hopf = row_of(&b, "hopf (supercritical)", 0);
        assert_close(b.branch.column[1].real[r], 1.0 / 6, 1e-6);
        assert_true(value_in(&b, "event.low", r) <= 1.0 / 6 && value_in(&b, "event.high", r) >= 1.0 / 6);
        assert_non_null(strstr(b.note.text, "the period grows without bound"));
        assert_close(b.branch.column[1].real[hopf], 0, 1e-9);
        assert_close(value_in(&b, "period", hopf), 6.283185307179586, 1e-8);
        assert_close(value_in(&b, "x", hopf) / atof(unit[i]), 0, 1e-9);
        assert_true(value_in(&b, "coefficient", hopf) < 0);
        carom_branch_free(&b);
        carom_orbit_free(&o);
    }
}

// x'' = x^2 - 1 + (b + x) x': orbits from the Hopf point b = 1 are unstable, so that disturbances grow without bound
// where they end in the saddle.  Backwards in time they are those of b to -b and x' to -x', which are stable and have
// this end.
static void unstable(void **state) {
    (void)state;
    static const char text[] = "carom: 1\nparameters: {b: %s, s: %s}\ncoordinates: {x: -1}\nenergy: {kinetic: "
                               "\"1/2*x'^2\", potential: x - x^3/3}\nforces: {x: \"(b + s*x)*x'\"}\n";
    double end[2];
    for (int side = 0; side < (BRIEF ? 0 : 2); ++side) {
        char own[300];
        snprintf(own, sizeof own, text, side ? "0.9" : "-0.9", side ? "1" : "-1");
        const carom_orbit_def d = define(own, NULL, 0);
        carom_follow_def f = define_branch(&d, NULL, NULL, "b", side ? 0.5 : -1.5, side ? 1.5 : -0.5);
        f.switches = CAROM_SWITCH_HOPF;
        carom_branch b = follow(&f);
        const long r = row_of(&b, "homoclinic", 0);
        end[side] = b.branch.column[1].real[r];
        if (side) assert_true(value_in(&b, "event.low", r) < -end[0] && value_in(&b, "event.high", r) > -end[0]);
        carom_branch_free(&b);
    }
    if (!BRIEF) assert_close(end[1], -end[0], 2e-5);
}

// A pendulum of energy -g cos a + a'^2/2: swings end at the energy g of its upper equilibrium.
static void separatrix(void **state) {
    (void)state;
    const carom_orbit_def d = define(
        "carom: 1\ncoordinates: {a: 0.3}\nenergy: {kinetic: \"1/2*a'^2\", potential: \"-9.81*cos(a)\"}\n", "free", 0);
    double start[2] = {0.3, 0};
    carom_follow_def f = define_branch(&d, NULL, NULL, "energy", -9.81 * cos(0.3), 20);
    f.conservative = true, f.start = start, f.guess = 6.28 / sqrt(9.81);
    carom_branch b = follow(&f);
    assert_close(at_event(&b, "homoclinic", 0), 9.81, 1e-6);
    carom_branch_free(&b);
}

// The laws by themselves, with a further term.
static void laws(void **state) {
    (void)state;
    double p[CAROM_ENDLESS], T[CAROM_ENDLESS];
    carom_period_limit limit;
    for (int i = 0; i < CAROM_ENDLESS; ++i)
        T[i] = 10 + i, p[i] = 3 - 2 * exp(-0.7 * T[i]) + exp(-1.1 * T[i]);
    assert_true(carom_endless(p, T, CAROM_ENDLESS, &limit));
    assert_false(limit.saddle_node);
    assert_close(limit.rate, 0.7, 0.02);
    assert_close(limit.value, 3, 2e-6);
    assert_true(fabs(limit.value - 3) < limit.error);
    for (int i = 0; i < CAROM_ENDLESS; ++i) T[i] = 50 * pow(1.2, i), p[i] = 1 + 40 / pow(T[i] + 1, 2);
    assert_true(carom_endless(p, T, CAROM_ENDLESS, &limit));
    assert_true(limit.saddle_node);
    assert_close(limit.value, 1, 1e-6);
    assert_true(fabs(limit.value - 1) < limit.error);
    for (int i = 0; i < CAROM_ENDLESS; ++i) T[i] = 5 + i, p[i] = 1 + 0.1 * i; // no law of these
    assert_false(carom_endless(p, T, CAROM_ENDLESS, &limit));
}

// Orbits between two Hopf points, 1 - p^2 = 0: both are found from the orbit, and the branch from one ends at the
// other.
static void bubble(void **state) {
    (void)state;
    const carom_orbit_def d = define("carom: 1\nparameters: {p: -1.5}\ncoordinates: {x: 0}\nenergy: {kinetic: "
                                     "\"1/2*x'^2\", potential: 1/2*x^2}\nforces: {x: \"(1 - p^2 - x^2)*x'\"}\n",
                                     NULL, 0);
    carom_follow_def f = define_branch(&d, NULL, NULL, "p", -1.5, 1.5);
    f.switches = CAROM_SWITCH_ALL;
    carom_branch b = follow(&f);
    assert_int_equal(b.branches, 2);
    assert_close(at_event(&b, "hopf (supercritical)", 0), -1, 1e-9);
    assert_close(at_event(&b, "hopf (supercritical)", 1), 1, 1e-9);
    assert_close(at_event(&b, "joins branch 1", 0), 1, 1e-9);
    carom_branch_free(&b);
}

// A block on a belt with falling friction and damping: orbits with sticking and those without it meet at
// v = 1.115191040619, and the branch turns back.
static void belt(void **state) {
    QUICK_SKIPS();
    (void)state;
    const carom_orbit_def d =
        define("carom: 1\nparameters: {v: 1.1}\ncoordinates: {x: 2}\nenergy: {kinetic: \"1/2*x'^2\", potential: "
               "\"1/2*x^2\"}\nforces: {x: \"-0.3*x'\"}\nsimulation: {end: 50}\n"
               "contacts: {belt: {normal force: 1, slip rate: \"x' - v\", friction: \"1/(1 + 3*slip.speed)\"}}\n",
               "free", 50);
    carom_orbit o = find_orbit(&d);
    double start[4]; // a law of friction has a coordinate of its own
    const carom_follow_def f = define_branch(&d, &o, start, "v", 1.1, 1.2);
    carom_branch b = follow(&f);
    if (b.note.code != CAROM_OK) fail_msg("%s", b.note.text);
    const long r = row_of(&b, "grazing-sliding belt (nonsmooth fold)", 0);
    assert_close(b.branch.column[1].real[r], 1.115191040619, 1e-9);
    assert_close(value_in(&b, "period", r), 6.386842470, 1e-8);
    int sides[2] = {0, 0};
    for (long k = 0; k < b.branch.rows; ++k) {
        assert_true(k == r || b.branch.column[5].text[k][0] == 0);
        ++sides[b.branch.column[3].integer[k] != 0];
    }
    assert_true(sides[0] > 3 && sides[1] > 3); // those that slip are unstable
    carom_branch_free(&b);
    // steps that end within the errors of Newton's method of the fold do not go back where they came from; the
    // multiplier at the end, by differences of orbits of another program: 6.826958
    const carom_follow_def g = define_branch(&d, &o, start, "v", 1.1, 1.1156);
    b = follow(&g);
    const long last = b.branch.rows - 1;
    assert_int_equal(b.branches, 1);
    row_of(&b, "grazing-sliding belt (nonsmooth fold)", 0);
    assert_close(b.branch.column[1].real[last], 1.1, 1e-12);
    assert_close(value_in(&b, "multiplier", last), 6.826958, 2e-6);
    assert_close(value_in(&b, "period", last), 6.382522288936, 1e-9);
    carom_branch_free(&b);
    carom_orbit_free(&o);
}

// The belt without damping: slip that ends in sticking begins to pass it.  From either side it is one event, where
// accelerations of the size of decide-tol would have moved it by 5e-8.
static void passing(void **state) {
    (void)state;
    for (int side = 0; side < (BRIEF ? 1 : 2); ++side) {
        char text[400];
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {v: %s}\ncoordinates: {x: 1.2}\nenergy: {kinetic: \"1/2*x'^2\", potential: "
                 "\"1/2*x^2\"}\nsimulation: {end: 50}\n"
                 "contacts: {belt: {normal force: 1, slip rate: \"x' - v\", friction: \"1/(1 + 3*slip.speed)\"}}\n",
                 side ? "0.7" : "0.6");
        const carom_orbit_def d = define(text, "free", 50);
        carom_orbit o = find_orbit(&d);
        double start[4];
        const carom_follow_def f = define_branch(&d, &o, start, "v", side ? 0.64 : 0.6, 0.7);
        carom_branch b = follow(&f);
        const long r = row_of(&b, "switching-sliding belt", 0);
        assert_close(b.branch.column[1].real[r], 0.641988945750, 1e-9);
        assert_close(value_in(&b, "period", r), 7.731841030855, 1e-8);
        for (long k = 0; k < b.branch.rows; ++k) assert_true(k == r || b.branch.column[5].text[k][0] == 0);
        carom_branch_free(&b);
        carom_orbit_free(&o);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(well), cmocka_unit_test(unstable),
                                       cmocka_unit_test(separatrix), cmocka_unit_test(laws),
                                       cmocka_unit_test(bubble), cmocka_unit_test(belt),
                                       cmocka_unit_test(passing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

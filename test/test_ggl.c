// test_ggl.c: ggl-projection and ggl-midpoint against printed values, their promises about gaps, and friction, also of
// ggl-alpha.
//
// With the argument "long": energies after 4 s, which take ten seconds and more.
#include "crank.h"
#include "model_text.h"

// -- slider-crank: discrete maps, h = 1e-4, e = 0.4 -----------------------------------------------------------------
#define WITH(...)                                                                                                      \
    (const char *const[]) { __VA_ARGS__, NULL }

static void slider_crank_by_projection(void **state) {
    (void)state;
    const crank_values r = {0.34460711230519, 7.4292388801882, 4.76704202197,  0.52651271703049,
                            7.2560861620755,  8.8349508298792, 6.9037399323977};
    check_crank("ggl-projection", WITH("active=midpoint", "metric=euclidean"), 0, r);
    check_crank("ggl-projection", WITH("active=midpoint", "closed=strict", "metric=euclidean"), 0, r);
}

static void slider_crank_by_the_unified_scheme(void **state) {
    (void)state;
    const crank_values paper = {0.34509437500343, 7.4950937962693, 4.8014001640606, 0.52508728552035,
                                7.4234119866384,  9.0544540661686, 7.3522264419109};
    const crank_values exact = {0.34509437500343, 7.4950937962693, 4.7992076416323, 0.52519175638444,
                                7.4063755880974,  9.0450033810576, 7.3252301583841};
    check_crank("ggl-midpoint", WITH("active=midpoint", "local=paper", "metric=euclidean"), 0, paper);
    check_crank("ggl-midpoint", WITH("active=midpoint", "local=paper", "closed=strict", "metric=euclidean"), 0, paper);
    check_crank("ggl-midpoint", WITH("active=midpoint", "metric=euclidean"), 0, exact);
    check_crank("ggl-midpoint", WITH("active=midpoint", "closed=strict", "metric=euclidean"), 0, exact);
}

// -- energies and gaps at 0.15 s ------------------------------------------------------------------------------------
// Printed: E - E_ED and the smallest gap, two digits; E_ED to 5e-7.

static void energies_and_gaps_at_the_end(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *option, *more;
        double e, h, dE, gap, unit_E, unit_gap;
    } rows[] = {
        {"ggl-projection", "local=exact", NULL, 0.1, 1e-4, -6.6e-1, 0, 1e-2, 0},
        {"ggl-projection", "local=exact", NULL, 0.1, 1e-5, -7.0e-2, 0, 1e-3, 0},
        {"ggl-projection", "local=exact", NULL, 0.4, 1e-4, -6.6e-1, 0, 1e-2, 0},
        {"ggl-projection", "local=exact", NULL, 0.4, 1e-5, -7.1e-2, 0, 1e-3, 0},
        {"ggl-projection", "local=exact", NULL, 0.9, 1e-4, -6.9e-1, 0, 1e-2, 0},
        {"ggl-projection", "local=exact", NULL, 0.9, 1e-5, -7.1e-2, 0, 1e-3, 0},
        {"ggl-midpoint", "local=paper", NULL, 0.1, 1e-4, 3.4e-2, 1.9e-5, 1e-3, 1e-6},
        {"ggl-midpoint", "local=paper", NULL, 0.1, 1e-5, 2.5e-3, 2.0e-6, 1e-4, 1e-7},
        {"ggl-midpoint", "local=paper", NULL, 0.4, 1e-4, 2.7e-2, 4.4e-5, 1e-3, 1e-6},
        {"ggl-midpoint", "local=paper", NULL, 0.4, 1e-5, 7.7e-4, 3.9e-6, 1e-5, 1e-7},
        {"ggl-midpoint", "local=paper", NULL, 0.9, 1e-4, -8.0e-3, 3.8e-5, 1e-4, 1e-6},
        {"ggl-midpoint", "local=paper", NULL, 0.9, 1e-5, -6.7e-3, 2.8e-6, 1e-4, 1e-7},
        {"ggl-midpoint", "local=exact", NULL, 0.1, 1e-4, 3.1e-4, 5.3e-5, 1e-5, 1e-6},
        {"ggl-midpoint", "local=exact", NULL, 0.1, 1e-5, 3.0e-5, 4.1e-6, 1e-6, 1e-7},
        {"ggl-midpoint", "local=exact", NULL, 0.4, 1e-4, 4.2e-3, 4.4e-5, 1e-4, 1e-6},
        {"ggl-midpoint", "local=exact", NULL, 0.4, 1e-5, 5.6e-4, 3.8e-6, 1e-5, 1e-7},
        {"ggl-midpoint", "local=paper", "levels=velocity", 0.1, 1e-4, -1.1e-1, 1.08e-3, 1e-2, 1e-5},
        {"ggl-midpoint", "local=paper", "levels=velocity", 0.1, 1e-5, -9.2e-3, 9.4e-5, 1e-4, 1e-6},
        {"ggl-midpoint", "local=paper", "levels=velocity", 0.4, 1e-4, -5.6e-2, 6.7e-4, 1e-3, 1e-5},
        {"ggl-midpoint", "local=paper", "levels=velocity", 0.4, 1e-5, -1.9e-3, 3.4e-5, 1e-4, 1e-6},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        known k;
        known_slider_crank(&k, 1e-3, rows[i].e, 0, true);
        carom_sim *sim =
            sim_of(&k, rows[i].scheme, WITH(rows[i].option, "active=midpoint", "metric=euclidean", rows[i].more),
                   rows[i].h, 0.15);
        while (!carom_sim_done(sim)) sim_step(sim);
        const carom_ledger l = sim_ledger(sim);
        const double E_ED = rows[i].e == 0.1 ? 7.195859 : rows[i].e == 0.4 ? 7.217335 : 7.413541;
        check_near(l.energy.end - E_ED, rows[i].dE, 0.5 * rows[i].unit_E + 1e-6);
        check_near(l.penetration, rows[i].gap, 0.5 * rows[i].unit_gap + 1e-14);
        carom_sim_destroy(sim);
    }
}

// -- gaps and joints ------------------------------------------------------------------------------------------------

// Gaps and joints of all shipped models at step ends.  Newton's method on gaps stops at 1e-12 of the largest speed
// times h, or at the rounding of the gap, 8 eps times the coordinates: below 1e-13 m for all of them (h |u| < 0.05, |q|
// < 300).
static void shipped_models(const char *scheme, const char *option, double coarser) {
    for (int i = 0; shipped[i]; ++i) {
        carom_model *m = shipped_model(shipped[i]);
        const carom_model_run run = carom_model_simulation(m);
        carom_error err;
        carom_sim_def d = carom_sim_default();
        d.system = carom_model_system(m);
        d.scheme = scheme;
        d.options = WITH(option);
        d.h = coarser * run.step;
        d.t_end = fmin(run.end, 3000 * d.h);
        d.q0 = carom_model_q0(m);
        d.v0 = carom_model_v0(m);
        carom_sim *sim = carom_sim_create(&d, &err);
        if (!sim) fail_msg("%s", err.text);
        if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s by %s: %s", shipped[i], scheme, err.text);
        const carom_ledger l = sim_ledger(sim);
        if (!(l.penetration <= 1e-13 && l.drift <= 1e-13))
            fail_msg("%s by %s %s: penetration %g, drift %g", shipped[i], scheme, option, l.penetration, l.drift);
        if (l.counts.newton_many > 0 || (double)l.counts.newton > 3 * (double)l.steps)
            fail_msg("%s by %s: %ld Newton iterations in %ld steps, at most %d", shipped[i], scheme, l.counts.newton,
                     l.steps, l.counts.newton_max);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

static void projection_leaves_no_gap_open_in_any_shipped_model(void **state) {
    (void)state;
    shipped_models("ggl-projection", "local=exact", 1);
    shipped_models("ggl-projection", "local=exact", 4);
    shipped_models("ggl-projection", "local=paper", 1);
}

static void deciding_at_the_end_leaves_no_gap_open_in_any_shipped_model(void **state) {
    (void)state;
    shipped_models("ggl-midpoint", "active=end", 1);
    shipped_models("ggl-midpoint", "active=end", 4);
}

// The explicit decision misses what happens in the second half of a step: h/2 |u|, plus h^2/8 of the acceleration
// (below 1e4 m/s2 on the slider-crank).
static void deciding_at_the_midpoint_enters_by_half_a_step(void **state) {
    (void)state;
    for (double h = 1e-4; h > 5e-6; h /= 2) {
        known k;
        known_slider_crank(&k, 1e-3, 0.4, 0, true);
        carom_sim *sim = sim_of(&k, "ggl-midpoint", NULL, h, 0.1);
        double last = 0, u[8], fastest = 0;
        carom_error err;
        while (!carom_sim_done(sim)) {
            assert_int_equal(carom_sim_velocities(sim, u, &err), CAROM_OK);
            for (int c = 0; c < 4; ++c) fastest = fmax(fastest, -u[carom_sim_now(sim).dir[c]]);
            sim_step(sim);
            last = carom_sim_now(sim).t;
        }
        check_near(last, 0.1, 1e-12);
        assert_true(sim_ledger(sim).penetration <= 0.5 * h * fastest + h * h / 8 * 1e4);
        carom_sim_destroy(sim);
    }
}

// Ball A by the implicit decision: at rest after its accumulation, carried by impulses of its weight.
static void deciding_at_the_end_lets_bodies_rest(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    const double h = 1.3e-3;
    carom_sim *sim = sim_of(&k, "ggl-midpoint", WITH("active=end"), h, h * 3077);
    sim_to(sim, 3.8);
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        check_near(now.v[0], 0, 1e-12);
        check_near(now.q[0], 0,
                   2 * h * h); // it may stay where its last hop of less than a step began: above by |f| h^2
        assert_true(now.gap[0] >= -1e-17);
        check_near(now.impulse[0], 2 * h, 1e-12);
    }
    const carom_ledger l = sim_ledger(sim);
    assert_true(l.accumulations >= 1);
    assert_true(l.impacts >= 5 && l.impacts < 40);
    carom_sim_destroy(sim);
}

// Two balls, 0.7 and 2 kg, fall one above the other on the floor, e = 0.34: the limit of their impacts is rest, heights
// 0 and 0.1, energy 2 g 0.1 = 1.962 J, and how many impacts are counted hardly depends on the step: event-driven finds
// 26.  Gaps of a last hop may stay open, some |a| h^2.  The same with e = 0.7, where hops last several steps.
static void balls_on_balls_come_to_rest(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *option;
    } runs[] = {{"ggl-midpoint", "active=lasting"},
                {"ggl-midpoint", "active=end"},
                {"ggl-projection", "local=exact"},
                {"ggl-projection", "local=paper"}};
    static const double e[] = {0.34, 0.7}, end[] = {1, 4};
    static const long most[] = {35, 120};
    char text[600];
    for (int k = 0; k < 2; ++k)
        for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i)
            for (double h = 2e-3; h > (k ? 1e-3 : 1e-4); h /= 4) {
                snprintf(text, sizeof text,
                         "carom: 1\ncoordinates: {a: 0.2, b: 0.4}\n"
                         "energy: {kinetic: \"1/2*(0.7*a'^2 + 2*b'^2)\", potential: \"9.81*(0.7*a + 2*b)\"}\n"
                         "contact defaults: {restitution: %g}\ncontacts: {floor: {gap: a}, each: {gap: b - a - 0.1}}\n",
                         e[k]);
                carom_model *m = good(text);
                carom_sim *sim = model_sim(m, runs[i].scheme, WITH(runs[i].option), h, end[k]);
                model_sim_run(sim);
                const carom_now now = carom_sim_now(sim);
                const carom_ledger l = sim_ledger(sim);
                check_near(now.q[0], 0, 10 * h * h);
                check_near(now.q[1], 0.1, 20 * h * h);
                for (int j = 0; j < 2; ++j) check_near(now.v[j], 0, 1e-12);
                check_near(now.impulse[now.dir[0]], 2.7 * 9.81 * h, 1e-12);
                check_near(now.impulse[now.dir[1]], 2 * 9.81 * h, 1e-12);
                if (l.impacts < 15 || l.impacts > most[k])
                    fail_msg("%s %s, e = %g, h = %g: %ld impacts", runs[i].scheme, runs[i].option, e[k], h,
                             (long)l.impacts);
                carom_sim_destroy(sim);
                carom_model_destroy(m);
            }
}

// A joint and a wall: pendulum, exact rest force 10 at the wall, joints at rest (-10, 10) as impulses.
static void pendulum_comes_to_rest_at_the_wall(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *option;
    } runs[] = {{"ggl-midpoint", "active=end"}, {"ggl-projection", "local=exact"}};
    for (int i = 0; i < 2; ++i) {
        known k;
        known_pendulum(&k, 0.1);
        const double h = 1e-3;
        carom_sim *sim = sim_of(&k, runs[i].scheme, WITH(runs[i].option), h, 6);
        double force = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            if (now.t > 5.5 + 0.5 * h) force += now.impulse[2] / 0.5;
        }
        const carom_ledger l = sim_ledger(sim);
        assert_true(l.penetration <= 1e-14);
        assert_true(l.drift <= 1e-14);
        // mean over half a second; the velocity at its ends is known to h times the acceleration, 10/1.1
        check_near(force, 10, 2 * h * 10 / 1.1 / 0.5);
        check_near(carom_sim_now(sim).q[2], -3.14159265358979 / 4, 10 * h * h);
        carom_sim_destroy(sim);
    }
}

// Implicit midpoint rule with joints on both levels: exact reference 1.1 angle'' = -10 cos(angle), see references.
static void joints_have_second_order_in_the_unified_scheme(void **state) {
    (void)state;
    enum { SIZES = 4 };
    double h[SIZES], error[SIZES];
    for (int i = 0; i < SIZES; ++i) {
        known k;
        known_pendulum(&k, 0.1);
        h[i] = 4e-3 / (1 << i);
        carom_sim *sim = sim_of(&k, "ggl-midpoint", NULL, h[i], 0.4);
        while (!carom_sim_done(sim)) sim_step(sim);
        error[i] = fabs(carom_sim_now(sim).q[2] + 0.450878091411192185);
        carom_sim_destroy(sim);
    }
    const double order = slope(h, error, SIZES);
    print_message("    order %.3f, error %.1e at h = 5e-4\n", order, error[SIZES - 1]);
    assert_true(fabs(order - 2) < 0.05);
}

// -- friction -------------------------------------------------------------------------------------------------------

// Slider-crank with friction 0.01 at t = 0.01, behind impacts, accumulation and sliding contact.  Event-driven
// reference, 12 digits; half-explicit at h = 1e-6 beside it.  A step late at 100 rad/s is an error of 100 h: errors are
// below that, and of first order.
static void friction_converges_to_half_explicit(void **state) {
    (void)state;
    QUICK_SKIPS();
    static const struct {
        const char *scheme, *option;
    } runs[] = {{"ggl-projection", "local=exact"},
                {"ggl-midpoint", "metric=euclidean"},
                {"ggl-midpoint", "local=paper"},
                {"ggl-midpoint", "active=end"},
                {"ggl-alpha", "rho=0.8"},
                {"ggl-alpha", "newton=sequential"}};
    enum { RUNS = sizeof runs / sizeof *runs };
    const double exact[2] = {0.94796132178859, -0.41462420026003};
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0.01, true);
    carom_sim *he = sim_of(&k, "half-explicit", NULL, 1e-6, 0.01);
    while (!carom_sim_done(he)) sim_step(he);
    const double *q_he = carom_sim_now(he).q;
    check_near(q_he[0], exact[0], 100e-6);
    for (int i = 0; i < RUNS; ++i) {
        enum { SIZES = 3, PHASES = 5 }; // the mean of close step sizes: where an impact falls in its step is chance
        double h[SIZES], error[SIZES];
        for (int j = 0; j < SIZES; ++j) {
            h[j] = 2e-5 / (1 << (2 * j));
            error[j] = 0;
            for (int phase = 0; phase < PHASES; ++phase) {
                const int n = (int)(0.01 / h[j]) + phase * (int)(0.01 / h[j] / 37);
                carom_sim *sim = sim_of(&k, runs[i].scheme, WITH(runs[i].option), 0.01 / n, 0.01);
                while (!carom_sim_done(sim)) sim_step(sim);
                const carom_now now = carom_sim_now(sim);
                error[j] += fmax(fabs(now.q[0] - exact[0]), fabs(now.q[1] - exact[1])) / PHASES;
                scheme_near(runs[i].option, now.q[0], q_he[0], 100 * (h[j] + 1e-6));
                const carom_ledger l = sim_ledger(sim);
                // energy lost to friction until then: 7.4648 - 7.4495 = 0.0153 J between the two event-driven runs
                check_near(l.energy.friction, 0.0153, 0.003);
                if (i == 0 || i >= 3) assert_true(l.penetration <= 1e-15);
                carom_sim_destroy(sim);
            }
        }
        const double order = slope(h, error, SIZES);
        print_message("    %s %s: order %.2f, error %.1e at h = %.1e\n", runs[i].scheme, runs[i].option, order,
                      error[SIZES - 1], h[SIZES - 1]);
        scheme_true(runs[i].option, order > 0.8);
        scheme_true(runs[i].option, error[SIZES - 1] < 100 * h[SIZES - 1]);
    }
    carom_sim_destroy(he);
}

// Friction moves positions as well (GA-18).  A block on a slope sticks, or slides by t^2/2 (sin a - mu cos a) g; a
// slope that moves with it changes nothing; in turn and by the large systems' way too (idle coordinates make it large).
static void a_block_on_a_slope_sticks_or_slides_as_far_as_it_should(void **state) {
    (void)state;
    for (int i = 0; i < 16; ++i) {
        const bool slides = i & 1, moves = i & 2, large = i & 8;
        const double a = 0.5, mu = slides ? 0.3 : 0.6, V = moves ? 0.7 : 0;
        char text[2000], idle[800] = "", energy[800] = "";
        for (int k = 0; large && k < 20; ++k) {
            snprintf(idle + strlen(idle), sizeof idle - strlen(idle), ", i%d: {at: 0}", k);
            snprintf(energy + strlen(energy), sizeof energy - strlen(energy), " + 1/2*i%d'^2", k);
        }
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: 0, rate: %g}, y: {at: 0}%s}\n"
                 "energy: {kinetic: \"1/2*(x'^2 + y'^2)%s\", potential: 9.81*(y*cos(%g) - x*sin(%g))}\n"
                 "contacts: {foot: {gap: y, slip: x - %g*t, friction: %g}}\n", V, idle, energy, a, a, V, mu);
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, "ggl-alpha", i & 4 ? WITH("newton=sequential") : NULL, 4e-3, 1);
        while (!carom_sim_done(sim)) sim_step(sim);
        const double slid = slides ? 0.5 * 9.81 * (sin(a) - mu * cos(a)) : 0;
        check_near(carom_sim_now(sim).q[0], V + slid, slides || moves ? 1e-12 : 1e-16);
        check_near(sim_ledger(sim).energy.balance, 0, slides ? 1e-2 : 1e-12);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// A block on a belt of 0.5 m/s, held by a spring of 20 N/m, friction 0.4: it sticks until 20 x = 0.4 g, then slides:
// x'' = 0.4 g - 20 x from x_1 = 0.02 g, x' = 0.5.
static void a_block_on_a_belt_is_followed_with_second_order(void **state) {
    (void)state;
    const double g = 9.81, t_1 = 0.02 * g / 0.5, w = sqrt(20), s = w * (0.8 - t_1), exact = 0.02 * g + 0.5 / w * sin(s);
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 0, rate: 0.5}, y: {at: 0}}\n"
                          "energy: {kinetic: 1/2*(x'^2 + y'^2), potential: 1/2*20*x^2 + 9.81*y}\n"
                          "contacts: {foot: {gap: y, slip: x - 0.5*t, friction: 0.4}}\n");
    enum { SIZES = 8 };
    double h[SIZES], error[SIZES];
    for (int j = 0; j < SIZES; ++j) {
        h[j] = 0.8 / (int)(100 * pow(1.4, j));
        carom_sim *sim = model_sim(m, "ggl-alpha", NULL, h[j], 0.8);
        while (!carom_sim_done(sim)) sim_step(sim);
        error[j] = fabs(carom_sim_now(sim).q[0] - exact) + 1e-12;
        carom_sim_destroy(sim);
    }
    const double order = slope(h, error, SIZES);
    print_message("    order %.2f, error %.1e at h = %.1e\n", order, error[SIZES - 1], h[SIZES - 1]);
    // Where the slip begins in a step is chance: a part of h^2 0.5 sqrt(20) more or less.
    for (int j = 0; j < SIZES; ++j) assert_true(error[j] < 1 * h[j] * h[j]);
    carom_model_destroy(m);
}

// A ball with backspin, impacts with friction: no step gains energy.
static void impacts_with_friction_do_not_gain_energy(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0.5}, w: {at: 0, rate: 60}}\n"
                          "energy: {kinetic: 1/2*(x'^2 + y'^2) + 1/2*0.004*w'^2, potential: 9.81*y}\n"
                          "contacts: {foot: {gap: y, slip: x + 0.1*w, friction: 0.3, restitution: 0.7}}\n");
    carom_sim *sim = model_sim(m, "ggl-alpha", NULL, 1e-3, 1.6);
    const double start = sim_energy(sim);
    for (double before = start; !carom_sim_done(sim);) {
        sim_step(sim);
        const double energy = sim_energy(sim);
        assert_true(energy <= before + 1e-14 * start);
        before = energy;
    }
    assert_true(sim_energy(sim) < 0.8 * start);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Where a contact slips, friction is mu times the normal impulse, against the velocity.  The tangents of a rim have
// different inertia, and the direction of slip turns within steps: the model's own step and twice that.  Newton's
// method needs the contact solvers now and then.
static void friction_in_space_by_ggl_alpha_is_against_the_slip(void **state) {
    (void)state;
    static const char *const models[] = {"euler-disk", "falling-top"};
    for (int i = 0; i < 2; ++i) {
        carom_model *m = shipped_model(models[i]);
        const carom_system *sys = carom_model_system(m);
        carom_sim *sim = model_sim(m, "ggl-alpha", NULL, 2e-4, i ? 1.2 : 1.5);
        double u[64];
        long slips = 0, rejected = 0;
        assert_true(carom_sim_now(sim).dir[sys->ne + sys->nc] <= 64);
        carom_error err = {0};
        while (!carom_sim_done(sim)) {
            if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s: %s", models[i], err.text);
            assert_int_equal(carom_sim_velocities(sim, u, &err), CAROM_OK);
            const carom_now now = carom_sim_now(sim);
            const bool halves = sim_ledger(sim).rejected > rejected; // then impulses are sums
            rejected = sim_ledger(sim).rejected;
            if (halves) continue;
            for (int id = 0; id < sys->nc; ++id) {
                const int k = now.dir[id];
                const double slip = hypot(u[k + 1], u[k + 2]), most = sys->contacts[id].friction * now.impulse[k];
                if (!(now.impulse[k] > 0)) continue;
                assert_true(hypot(now.impulse[k + 1], now.impulse[k + 2]) <= most * (1 + 1e-9));
                if (slip < 1e-6) continue;
                ++slips;
                for (int j = 1; j < 3; ++j) check_near(now.impulse[k + j], -most * u[k + j] / slip, 1e-5 * most);
            }
        }
        assert_true(slips > 100);
        assert_true(sim_ledger(sim).counts.residual < 1e-10);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// -- 4 s, h = 1e-5, e = 0.1: the energy figure of the paper; event-driven 3.259727 ----------------------------------
// After 47 turns and thousands of impacts the last bits of the start decide the fifth digit.  A printed value of
// another program is one sample of that spread: it must lie within three of its widths around the mean of nine starts
// that differ by 1e-13, give or take half a unit of its last digit.

enum { STARTS = 9 };

typedef struct spread {
    double mean, square;
} spread;

static void take(spread *x, double value) {
    x->mean += value / STARTS;
    x->square += value * value / STARTS;
}

static double width(spread x) { return sqrt(fmax(0, x.square - x.mean * x.mean)); }

typedef struct long_run {
    spread energy, gains, rise; // at the end; sum of gains of single steps; largest rise above the least energy so far
} long_run;

static long_run four_seconds(const char *scheme, const char *const *options) {
    long_run r = {0};
    for (int start = 0; start < STARTS; ++start) {
        known k;
        known_slider_crank(&k, 1e-3, 0.1, 0, true);
        k.q0[0] = (start - STARTS / 2) * 1e-13;
        carom_sim *sim = sim_of(&k, scheme, options, 1e-5, 4);
        double E = sim_energy(sim), least = E, gains = 0, rise = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const double E_1 = sim_energy(sim);
            gains += fmax(0, E_1 - E);
            least = fmin(least, E_1);
            rise = fmax(rise, E_1 - least);
            E = E_1;
        }
        take(&r.energy, E);
        take(&r.gains, gains);
        take(&r.rise, rise);
        carom_sim_destroy(sim);
    }
    return r;
}

static void energies_after_four_seconds(void **state) {
    (void)state;
    static const struct {
        const char *scheme, *option, *more;
        double E, gains, rise, unit_gains, unit_rise; // 0: not printed
    } runs[] = {
        {"moreau-midpoint", "local=exact", NULL, 2.88023, 2e-4, 9e-6, 1e-4, 1e-6},
        {"moreau-midpoint", "local=paper", NULL, 2.86250, 0, 0, 0, 0},
        {"ggl-projection", "local=exact", NULL, 2.91555, 8e-3, 1.7e-4, 1e-3, 1e-5},
        {"ggl-projection", "local=paper", NULL, 2.92590, 2.8e-2, 5e-4, 1e-3, 1e-4},
        {"ggl-midpoint", "local=exact", NULL, 3.26048, 8e-4, 2.6e-5, 1e-4, 1e-6},
        {"ggl-midpoint", "local=paper", NULL, 3.27427, 4.2e-2, 8.8e-4, 1e-3, 1e-5},
        // the printed 3.18384 lies 11 widths below ours, for a reason that is not known; at 0.15 s all printed digits
        // agree
        {"ggl-midpoint", "local=paper", "levels=velocity", 0, 0, 0, 0, 0},
    };
    double E[sizeof runs / sizeof *runs];
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        // as printed
        const char *const active = strcmp(runs[i].scheme, "moreau-midpoint") != 0 ? "active=midpoint" : NULL;
        const long_run r = four_seconds(runs[i].scheme, WITH(runs[i].option, active, "metric=euclidean", runs[i].more));
        print_message("    %s %s %s: %.6f +- %.6f (printed %.5f), gains %.2e, rise %.2e\n", runs[i].scheme,
                      runs[i].option, runs[i].more ? runs[i].more : "", r.energy.mean, width(r.energy), runs[i].E,
                      r.gains.mean, r.rise.mean);
        E[i] = r.energy.mean;
        // 3e-5 of it: gaps within rounding count as closed here, which moves single impacts by a step
        if (runs[i].E > 0) check_near(runs[i].E, r.energy.mean, 3 * width(r.energy) + 3e-5 * runs[i].E);
        assert_true(width(r.energy) < 2e-3); // else this would say nothing
        if (runs[i].gains == 0) continue;
        check_near(runs[i].gains, r.gains.mean, 3 * width(r.gains) + 0.5 * runs[i].unit_gains);
        check_near(runs[i].rise, r.rise.mean, 3 * width(r.rise) + 0.5 * runs[i].unit_rise);
        assert_true(width(r.gains) < 0.1 * r.gains.mean && width(r.rise) < 0.1 * r.rise.mean);
    }
    assert_true(E[1] < E[6] && E[6] < E[5]); // the order of the paper: midpoint rule, velocity level alone, both levels
}

// A point slides along contacts whose normals differ by 1e-12 and less: which of them hold it is a matter of rounding,
// but not of the work of a step.  It falls 0.1 m in sqrt(0.2/9.81) s without restitution, loses m g 0.1 there, and goes
// on in x.
static void nearly_dependent_contacts_are_as_cheap_as_others(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: {at: 0.1}}\n"
                               "energy: {kinetic: 2e-5*(x'^2 + y'^2)/2, potential: 2e-5*9.81*y}\n"
                               "contacts: {a: {gap: y}, b: {gap: y}, c: {gap: y + 3e-6*x}, d: {gap: y + 1e-12*x}, e: "
                               "{gap: y + 4e-12*x}, f: {gap: y + 5e-12*x}}\n";
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, "ggl-alpha", NULL, 2e-4, 0.4);
    model_sim_run(sim);
    carom_ledger l;
    carom_error err;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_int_equal(l.rejected, 0);
    assert_true(l.counts.newton <= 3 * l.steps);
    assert_close(carom_sim_now(sim).q[0], 0.4, 1e-12);
    assert_close(carom_sim_now(sim).q[1], 0, 1e-12);
    assert_close(l.energy.impact, 2e-5 * 9.81 * 0.1, 2e-3 * 2e-5 * 9.81 * 0.1); // first order in the step
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Two rods hang from a pin and fall onto a tilted floor.  In the end the second lies on it: its angle is that of the
// floor, and its pin, the end of the first, lies half a
// thickness above it:  n.(cos a, sin a) + 0.822 = 0.05 |n|,  n = (0.0822, 1).  The gaps have a second solution with the
// second rod folded over, three radians away.
static void a_mechanism_on_the_floor_is_not_folded_over(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ngravity: [0, -9.81]\nbodies:\n"
                               "  a: {mass: 1, inertia: .1, at: [0.5, 0], shape: {box: [1, 0.1]}}\n"
                               "  b: {mass: 1.8923, inertia: .05, at: [1.4, 0], shape: {box: [.8, 0.1]}}\n"
                               "joints: {h: {type: revolute, between: [ground, a], at: [0, 0]}, k: {type: revolute, "
                               "between: [a, b], at: [1, 0]}}\n"
                               "shapes: {floor: {plane: [0.0822, 1], at: [0, -0.822]}}\n"
                               "contacts: {c: {between: [b, floor], friction: 0.5772, restitution: 0.2315}}\n";
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, "ggl-alpha", NULL, 1e-3, 1);
    model_sim_run(sim);
    const double n = hypot(0.0822, 1), tilt = atan2(0.0822, 1);
    assert_close(carom_sim_now(sim).q[5], -tilt, 1e-9);
    // 0.0822 cos a + sin a = |n| sin(a + tilt)
    assert_close(carom_sim_now(sim).q[2], asin((0.05 * n - 0.822) / n) - tilt, 1e-9);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A pendulum of length 1 with steps by error estimate: the force of its rod, lambda = -(v^2 - g y)/2, to 4e-3 of 15 N;
// 5.6e-3 with the accelerations of the step before as they are.
static void forces_follow_steps_of_other_sizes(void **state) {
    (void)state;
    static const char *const options[] = {"adaptive=on", "rtol=1e-5", "atol=1e-5", NULL};
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 1}, y: {at: 0}}\nenergy: {kinetic: (x'^2 + y'^2)/2, "
                          "potential: 9.81*y}\nconstraints: {rod: x^2 + y^2 - 1}\n");
    carom_error err;
    carom_sim_def d = sim_def(m, "ggl-alpha", options, 0.01, 3);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    double most = 0;
    long steps = 0;
    for (; !carom_sim_done(sim); ++steps) {
        sim_step(sim);
        const double *q = carom_sim_now(sim).q, *v = carom_sim_now(sim).v;
        if (steps > 10)
            most = fmax(most, fabs(carom_sim_now(sim).force[0] + 0.5 * (v[0] * v[0] + v[1] * v[1] - 9.81 * q[1])));
    }
    print_message("    force off by %.3g in %ld steps\n", most, steps);
    assert_true(most < 4e-3 && steps < 300);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A mass on a spring that is 1e-4 too long, h omega = 200: a step sees the mean of many vibrations, and accelerations k
// 1e-4/m at the start would
// lead far away.  The energy never exceeds that of the start; with M s_0 = f_0 it rose by 24 J and 1e5 J from 0.5 J.
static void a_stiff_spring_out_of_balance_makes_no_energy(void **state) {
    (void)state;
    static const char *const schemes[] = {"ggl-alpha", "generalized-alpha"}, *const rho[] = {"rho=0", "rho=0.5",
                                                                                             "rho=0.8", "rho=0.9"};
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 1.0001}, y: 0}\n"
                          "energy: {kinetic: (x'^2 + y'^2)/2, potential: 9.81*y + 5e7*(sqrt(x^2 + y^2) - 1)^2}\n");
    for (int i = 0; i < 8; ++i) {
        carom_sim *sim = model_sim(m, schemes[i / 4], WITH(rho[i % 4]), 0.02, 2);
        const double start = sim_energy(sim);
        double most = start;
        while (!carom_sim_done(sim)) sim_step(sim), most = fmax(most, sim_energy(sim));
        print_message("    %s %s: from %.3g J to at most %.3g J\n", schemes[i / 4], rho[i % 4], start, most);
        scheme_true(schemes[i / 4], most <= start);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// (GP-7)  A ball that enters by up to h u in the step of an impact: a tolerance is kept to, and one beyond h u leaves
//         nothing to correct, so that energy does not rise.
static void a_penetration_tolerance_is_kept_to(void **state) {
    (void)state;
    static const char *const option[] = {"penetration=0", "penetration=1e-4", "penetration=1e-2"};
    static const double depth[] = {0, 1e-4, 1e-2};
    for (int i = 0; i < 3; ++i) {
        known k;
        known_ball(&k, 1, -10, 0.8, 0.801);
        carom_sim *sim = sim_of(&k, "ggl-projection", WITH(option[i]), 2e-3, 3);
        double energy = sim_energy(sim), most = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            most = fmax(most, sim_energy(sim) - energy);
            energy = sim_energy(sim);
        }
        const double deepest = sim_ledger(sim).penetration;
        print_message("    %s: deepest %.3g, at most %.3g J in a step\n", option[i], deepest, most);
        assert_true(deepest <= depth[i] + 1e-15 && (i != 1 || deepest > 0.9 * depth[i]));
        assert_true(i < 2 ? most > 1e-3 : most < 1e-4);
        carom_sim_destroy(sim);
    }
}

// (GA-23) changes the way to the solution, not the solution: joints, impacts and friction.
static void penalty_terms_leave_the_solution(void **state) {
    (void)state;
    static const char *const names[] = {"pendulum", "slider-crank"};
    for (int i = 0; i < 2; ++i) {
        carom_model *m = shipped_model(names[i]);
        double q[2];
        for (int k = 0; k < 2; ++k) {
            const char *const options[] = {k ? "penalty=1" : "penalty=0", NULL};
            carom_sim *sim = model_sim(m, "ggl-alpha", options, i ? 1e-4 : 1e-3, i ? 0.05 : 2);
            while (!carom_sim_done(sim)) sim_step(sim);
            q[k] = carom_sim_now(sim).q[1];
            carom_sim_destroy(sim);
        }
        scheme_near(names[i], q[0], q[1], 1e-8);
        carom_model_destroy(m);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(penalty_terms_leave_the_solution),
        cmocka_unit_test(a_penetration_tolerance_is_kept_to),
        cmocka_unit_test(slider_crank_by_projection),
        cmocka_unit_test(slider_crank_by_the_unified_scheme),
        cmocka_unit_test(energies_and_gaps_at_the_end),
        cmocka_unit_test(projection_leaves_no_gap_open_in_any_shipped_model),
        cmocka_unit_test(deciding_at_the_end_leaves_no_gap_open_in_any_shipped_model),
        cmocka_unit_test(deciding_at_the_midpoint_enters_by_half_a_step),
        cmocka_unit_test(deciding_at_the_end_lets_bodies_rest),
        cmocka_unit_test(balls_on_balls_come_to_rest),
        cmocka_unit_test(pendulum_comes_to_rest_at_the_wall),
        cmocka_unit_test(joints_have_second_order_in_the_unified_scheme),
        cmocka_unit_test(friction_converges_to_half_explicit),
        cmocka_unit_test(a_block_on_a_slope_sticks_or_slides_as_far_as_it_should),
        cmocka_unit_test(a_block_on_a_belt_is_followed_with_second_order),
        cmocka_unit_test(impacts_with_friction_do_not_gain_energy),
        cmocka_unit_test(friction_in_space_by_ggl_alpha_is_against_the_slip),
        cmocka_unit_test(nearly_dependent_contacts_are_as_cheap_as_others),
        cmocka_unit_test(a_mechanism_on_the_floor_is_not_folded_over),
        cmocka_unit_test(forces_follow_steps_of_other_sizes),
        cmocka_unit_test(a_stiff_spring_out_of_balance_makes_no_energy),
    };
    const struct CMUnitTest tests_long[] = {
        cmocka_unit_test(energies_after_four_seconds),
    };
    if (argc > 1 && strcmp(argv[1], "long") == 0)
        return cmocka_run_group_tests_name("ggl, long", tests_long, NULL, NULL);
    return cmocka_run_group_tests_name("ggl", tests, NULL, NULL);
}

// test_nasty.c: cases that could keep a scheme busy for ever, through every scheme that chooses its own steps or finds
// its own events.  Each run must end in bounded work with a clean ledger and the right physics, or with an error that
// says what is wrong.  Cases of one scheme alone: test_event_nasty.c, test_mixed_nasty.c.
#include "nasty.h"

// A scheme with options, and the accuracy that its way of meeting events allows in these cases, whose lengths, masses
// and times are of order one: tolerances for those that have one, h^4 and a safety of ten for mixed (h = 0.01),
// penetration up to its tolerance and first order at impacts for those that step over them.
typedef struct way {
    const char *scheme;
    const char *option[4];
    double h, accuracy;
    bool located; // events are found in time: nothing gets inside a wall
} way;

static const way ways[] = {
    {"event-driven", {NULL}, 0.1, 1e-6, true},
    {"event-driven", {NULL}, 10, 1e-6, true},
    {"mixed", {NULL}, 0.01, 1e-6, true},
    {"splitting", {"adaptive=on", NULL}, 0.01, 1e-3, false},
    {"half-explicit", {"adaptive=on", NULL}, 0.01, 2e-2, false},
    {"moreau-jean", {"adaptive=on", NULL}, 0.01, 2e-2, false},
    {"auto", {NULL}, 0.1, 1e-5, true},
    {"auto", {NULL}, 10, 1e-5, true},
    {"auto", {"rtol=1e-4", NULL}, 0.01, 1e-2, true},
};
enum { WAYS = sizeof ways / sizeof *ways, MOST_STEPS = 200000 };

static result run(const way *w, const char *text, const char *const *set, double t_end) {
    result r = nasty_model(text, set);
    const carom_sim_def d = sim_def(r.model, w->scheme, w->option, w->h, t_end);
    nasty_run(&r, &d, MOST_STEPS);
    return r;
}

// A run that must arrive, its energy accounted for and nothing deeper in a wall than the way allows.
static result clean(const way *w, const char *text, const char *const *set, double t_end) {
    result r = run(w, text, set, t_end);
    if (r.status != CAROM_OK) fail_msg("%s (h = %g): %s", w->scheme, w->h, r.err.text);
    const double deep = w->located ? 1e-10 : w->accuracy;
    if (!(r.l.penetration <= deep)) fail_msg("%s: penetration %.3g", w->scheme, r.l.penetration);
    if (!(fabs(r.l.energy.balance) <= 10 * w->accuracy))
        fail_msg("%s: energy balance %.3g", w->scheme, r.l.energy.balance);
    return r;
}

#define near(w, x, y, tol)                                                                                             \
    do {                                                                                                               \
        const double x_ = (x), y_ = (y), tol_ = (tol);                                                                 \
        if (!(fabs(x_ - y_) <= tol_))                                                                                  \
            fail_msg("%s (h = %g): %s = %.15g, expected %.15g +- %.2g", (w)->scheme, (w)->h, #x, x_, y_, tol_);        \
    } while (0)

#define EACH_WAY(w) (w) = ways; (w) < ways + WAYS; ++(w)

static double v(const result *r, int i) { return carom_sim_now(r->sim).v[i]; }

// -- grazing ------------------------------------------------------------------------------------------------------

// An error eps in the amplitude at the first touch makes an impact of speed sqrt(2 eps), half of which is lost: 3/4 eps
// of energy.
static void a_wall_that_is_just_touched_changes_nothing(void **state) {
    (void)state;
    const way *w;
    for (EACH_WAY(w)) {
        result r = clean(w, nasty_grazing, NULL, 10);
        near(w, q(&r, 0), cos(10), 10 * w->accuracy);
        assert_true(r.l.impacts <= 4);
        end(&r);
    }
}

// -- simultaneous impacts -------------------------------------------------------------------------------------------

static void a_ball_falls_into_a_corner(void **state) {
    (void)state;
    const way *w;
    for (EACH_WAY(w)) {
        result r = clean(w, nasty_corner, NULL, 10);
        near(w, q(&r, 0), 0, w->accuracy);
        near(w, q(&r, 1), 0, w->accuracy);
        near(w, r.l.energy.impact, 4, 10 * w->accuracy);
        end(&r);
    }
}

static void an_impact_goes_through_balls_that_touch(void **state) {
    (void)state;
    const way *w;
    for (EACH_WAY(w)) {
        result r = clean(w, nasty_chain, NULL, 10);
        near(w, v(&r, 0) + v(&r, 1) + v(&r, 2) + v(&r, 3), 1, 1e-10);
        near(w, r.l.energy.end, 0.5, 1e-10);
        for (int i = 0; i < 3; ++i) assert_true(v(&r, i + 1) - v(&r, i) > -1e-9);
        end(&r);
    }
}

// -- accumulation -----------------------------------------------------------------------------------------------------

// From 0.2 under gravity 10 the ball rests at 0.2 (1 + e)/(1 - e).
static void balls_come_to_rest(void **state) {
    (void)state;
    static const struct {
        const char *e;
        double end;
    } balls[] = {{"e=0", 1}, {"e=0.3", 1}, {"e=0.8", 3}, {"e=0.97", 20}};
    const way *w;
    for (EACH_WAY(w))
        for (int i = 0; i < 4; ++i) {
            result r = clean(w, nasty_ball, (const char *const[]){balls[i].e, NULL}, balls[i].end);
            near(w, q(&r, 0), 0, w->accuracy);
            near(w, r.l.energy.impact, 2, 20 * w->accuracy);
            end(&r);
        }
}

// -- opening and closing at once --------------------------------------------------------------------------------------

static void a_body_without_clearance_changes_from_wall_to_wall(void **state) {
    (void)state;
    QUICK_SKIPS();
    const way *w;
    for (EACH_WAY(w)) {
        result r = clean(w, nasty_wedged, NULL, 10);
        near(w, q(&r, 0), 0, w->accuracy);
        end(&r);
    }
}

static void a_plastic_block_rocks_from_edge_to_edge(void **state) {
    (void)state;
    const way *w;
    for (EACH_WAY(w)) {
        result r = clean(w, nasty_block, NULL, 20);
        near(w, q(&r, 0), 0.75, w->accuracy);
        near(w, q(&r, 1), 0, w->accuracy);
        end(&r);
    }
}

// -- friction ---------------------------------------------------------------------------------------------------------

// Four reactions, three coordinates: how friction is shared is not unique, that the block stays is, and when it slides.
static void a_block_sticks_on_two_feet_until_it_is_pushed_hard_enough(void **state) {
    (void)state;
    QUICK_SKIPS();
    const way *w;
    for (EACH_WAY(w)) {
        result r = clean(w, nasty_feet, NULL, 10);
        near(w, q(&r, 0), 0, w->accuracy);
        end(&r);
        r = clean(w, nasty_feet, (const char *const[]){"tilt=0", "push=2", NULL}, 5);
        near(w, q(&r, 0), 2.5 * 2.5 * 2.5 / 3, 10 * w->accuracy);
        end(&r);
    }
}

// -- a valve ----------------------------------------------------------------------------------------------------------

// Pulses lift a valve from its seat against a spring; it falls back and chatters: 13 pulses, 13 openings.
static void a_chattering_valve_opens_at_every_pulse(void **state) {
    (void)state;
    const way *w;
    double external = 0;
    for (EACH_WAY(w)) {
        result r = clean(w, nasty_valve, NULL, 10);
        if (w == ways) external = r.l.energy.external;
        if (w->located) assert_int_equal(r.count[CAROM_OPEN], 13);
        near(w, r.l.energy.external, external, 100 * w->accuracy);
        end(&r);
    }
}

// -- friction against its own solution --------------------------------------------------------------------------------

// A rod slides on its tip with so much friction that the tip is driven into the ground: 1 + 3 cos th (cos th - mu sin
// th) < 0 (Painleve).  No force keeps the contact closed and sliding; impulses do, and they stop the tip at once.
// Schemes on velocity level go through and agree, `auto` by handing over to one; those on acceleration level say that
// there is no solution.  The other way round there is one, and all agree.  In the end the rod lies flat.
static void a_rod_that_jams_is_stopped_or_told(void **state) {
    (void)state;
    QUICK_SKIPS();
    static const char text[] =
        "carom: 1\nname: rod\nparameters: {th0: 1.1, u: 2}\n"
        "coordinates: {x: {rate: u}, y: {at: sin(th0)/2}, th: {at: th0}}\n"
        "energy: {kinetic: 1/2*(x'^2 + y'^2) + 1/24*th'^2, potential: 9.81*y}\n"
        "contact defaults: {friction: 2.5}\ncontacts:\n"
        "  tip: {gap: y - sin(th)/2, slip: x - cos(th)/2}\n  top: {gap: y + sin(th)/2, slip: x + cos(th)/2}\n";
    static const way fine = {"moreau-jean", {NULL}, 1e-4, 1e-4, false}; // first order: positions to about h
    for (int jams = 0; jams < 2; ++jams) {
        const char *const set[] = {jams ? "u=-2" : "u=2", NULL};
        result stepped = run(&fine, text, set, 1.5);
        assert_int_equal(stepped.status, CAROM_OK);
        const way *w;
        for (EACH_WAY(w)) {
            result r = run(w, text, set, 1.5);
            const bool acceleration = w->located ? strcmp(w->scheme, "auto") != 0 : strcmp(w->scheme, "splitting") == 0;
            if (jams && acceleration) {
                assert_int_equal(r.status, CAROM_NOT_CONVERGED);
                assert_non_null(strstr(r.err.text, "t = 0"));
            } else {
                if (r.status != CAROM_OK) fail_msg("%s: %s", w->scheme, r.err.text);
                near(w, r.l.energy.end, 0, 10 * w->accuracy);
                near(w, q(&r, 0), q(&stepped, 0), 10 * (w->accuracy + fine.accuracy));
            }
            if (jams && strcmp(w->scheme, "auto") == 0) assert_true(r.l.switches >= 1);
            end(&r);
        }
        end(&stepped);
    }
}

// -- what has no answer -----------------------------------------------------------------------------------------------

// Walls that meet at t = 1 leave no room: neither force nor impulse can help.
static void a_body_squeezed_between_two_walls_is_told(void **state) {
    (void)state;
    const way *w;
    for (EACH_WAY(w)) {
        result r = run(w, nasty_squeezed, NULL, 2);
        assert_int_equal(r.status, CAROM_NOT_CONVERGED);
        assert_non_null(strstr(r.err.text, "t = 1")); // with the digits that follow
        assert_true(carom_sim_now(r.sim).t < 1 + w->accuracy);
        end(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wall_that_is_just_touched_changes_nothing),
        cmocka_unit_test(a_ball_falls_into_a_corner),
        cmocka_unit_test(an_impact_goes_through_balls_that_touch),
        cmocka_unit_test(balls_come_to_rest),
        cmocka_unit_test(a_body_without_clearance_changes_from_wall_to_wall),
        cmocka_unit_test(a_plastic_block_rocks_from_edge_to_edge),
        cmocka_unit_test(a_block_sticks_on_two_feet_until_it_is_pushed_hard_enough),
        cmocka_unit_test(a_chattering_valve_opens_at_every_pulse),
        cmocka_unit_test(a_rod_that_jams_is_stopped_or_told),
        cmocka_unit_test(a_body_squeezed_between_two_walls_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

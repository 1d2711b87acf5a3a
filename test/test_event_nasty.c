// test_event_nasty.c: cases that could keep an event-driven scheme busy for ever.  Each must end in bounded work, with
// a clean ledger and the right physics, or with an error that says what is wrong.
#include "nasty.h"
#include "system/system.h"

#define check_near(x, y, tol)                                                                                          \
    do {                                                                                                               \
        const double x_ = (x), y_ = (y), tol_ = (tol);                                                                 \
        if (!(fabs(x_ - y_) <= tol_)) fail_msg("%s = %.15g, expected %.15g +- %.2g", #x, x_, y_, tol_);                \
    } while (0)

static void run_system(result *r, const carom_system *sys, const char *const *options, double h, double t_end) {
    carom_sim_def d = sim_def(r->model, "event-driven", options, h, t_end);
    d.system = sys;
    nasty_run(r, &d, 200000);
}

static result run_with(const char *text, const char *const *set, const char *const *options, double h, double t_end) {
    result r = nasty_model(text, set);
    run_system(&r, carom_model_system(r.model), options, h, t_end);
    return r;
}

static result run(const char *text, const char *const *set, double h, double t_end) {
    return run_with(text, set, NULL, h, t_end);
}

// A run that must arrive, with nothing rejected, nothing inside the wall and all energy accounted for.
static void check_clean(const result *r, double balance) {
    if (r->status != CAROM_OK) fail_msg("%s", r->err.text);
    assert_int_equal(r->l.rejected, 0);
    assert_true(r->l.penetration < 1e-10);
    check_near(r->l.energy.balance, 0, balance);
}

static result clean(const char *text, const char *const *set, double h, double t_end, double balance) {
    const result r = run(text, set, h, t_end);
    check_clean(&r, balance);
    return r;
}

static const double steps[] = {0.01, 0.13, 1, 10};
#define EACH_STEP(h)                                                                                                   \
    int i_ = 0;                                                                                                        \
    i_ < 4 && (h = steps[i_], true);                                                                                   \
    ++i_

// -- grazing ----------------------------------------------------------------------------------------------------

static void a_wall_that_is_just_touched_changes_nothing(void **state) {
    (void)state;
    double h;
    for (EACH_STEP(h)) {
        result r = clean(nasty_grazing, NULL, h, 10, 1e-8);
        check_near(q(&r, 0), cos(10), 1e-7);
        check_near(r.l.energy.impact, 0, 1e-10);
        end(&r);
        r = clean(nasty_grazing, (const char *const[]){"d=1e-9", NULL}, h, 10, 1e-8);
        assert_int_equal(r.l.impacts, 0);
        check_near(q(&r, 0), cos(10), 1e-8);
        end(&r);
    }
}

// With the wall 1e-6 inside the amplitude the impact takes (1 - e^2) of v^2/2 = (1 - (1 - 1e-6)^2)/2, and the next one,
// a period later with half the speed, a quarter of that.
static void a_slight_touch_is_an_impact_however_long_the_steps(void **state) {
    (void)state;
    double h;
    for (EACH_STEP(h)) {
        result r = clean(nasty_grazing, (const char *const[]){"d=-1e-6", NULL}, h, 10, 1e-8);
        assert_int_equal(r.count[CAROM_IMPACT], 2); // events: how many are fast enough for the ledger's count is a
                                                    // matter of the step
        check_near(r.l.energy.impact, 1.25 * 0.75 * 0.5 * (1 - (1 - 1e-6) * (1 - 1e-6)), 1e-9);
        end(&r);
    }
}

// -- simultaneous impacts ---------------------------------------------------------------------------------------

static void a_ball_falls_into_a_corner(void **state) {
    (void)state;
    double h;
    for (EACH_STEP(h)) {
        result r = clean(nasty_corner, NULL, h, 10, 1e-10);
        assert_int_equal(r.count[CAROM_ACCUMULATION], 2);
        check_near(r.last[CAROM_ACCUMULATION], 3, 1e-8);
        check_near(q(&r, 0), 0, 1e-12);
        check_near(q(&r, 1), 0, 1e-12);
        end(&r);
    }
}

static void an_impact_goes_through_balls_that_touch(void **state) {
    (void)state;
    double h;
    for (EACH_STEP(h)) {
        result r = clean(nasty_chain, NULL, h, 10, 1e-11);
        const double *v = carom_sim_now(r.sim).v;
        check_near(v[0] + v[1] + v[2] + v[3], 1, 1e-11);
        check_near(r.l.energy.end, 0.5, 1e-11);
        for (int i = 0; i < 3; ++i) assert_true(v[i + 1] - v[i] > -1e-11);
        end(&r);
    }
}

// -- accumulation -----------------------------------------------------------------------------------------------

static void very_elastic_balls_come_to_rest(void **state) {
    (void)state;
    const double t_1 = 0.2;
    result r = clean(nasty_ball, (const char *const[]){"e=0.97", NULL}, 0.5, 20, 1e-9);
    check_near(r.last[CAROM_ACCUMULATION], t_1 * 1.97 / 0.03, 1e-6);
    end(&r);
    // So many impacts that a step of this length is refused, and refused again: the limit closes it all the same.
    r = run(nasty_ball, (const char *const[]){"e=0.999", NULL}, 100, 500);
    if (r.status != CAROM_OK) fail_msg("%s", r.err.text);
    check_near(r.last[CAROM_ACCUMULATION], t_1 * 1.999 / 0.001, 1e-4);
    check_near(r.l.energy.balance, 0, 1e-8);
    end(&r);
}

// A step that has used up three quarters of its events ends a run of impacts only if that run ends within the step.
// Impact k of the ball is at t_k = 0.2 + 0.4 e (1 - e^(k-1))/(1 - e), and the flight after it takes 0.4 e^k and rises
// to 0.2 e^(2k).
static void a_run_that_outlasts_the_step_is_not_ended_in_it(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: 0.2}\nenergy: {kinetic: 1/2*x'^2, potential: "
                               "10*x}\ncontacts: {ground: {gap: x, restitution: 0.97}}\n";
    const double e = 0.97;
    for (int k = 80; k <= 95; k += 15) {
        const double t = 0.2 + 0.4 * e * (1 - pow(e, k - 1)) / (1 - e) + 0.2 * pow(e, k);
        result r = run_with(text, NULL, (const char *const[]){"most-events=100", NULL}, t, t);
        if (r.status != CAROM_OK) fail_msg("%s", r.err.text);
        assert_int_equal(r.count[CAROM_IMPACT], k);
        assert_int_equal(r.count[CAROM_ACCUMULATION], 0);
        check_near(q(&r, 0), 0.2 * pow(e, 2 * k), 1e-9);
        end(&r);
    }
}

// -- opening and closing at once ----------------------------------------------------------------------------------

static void a_body_without_clearance_changes_from_wall_to_wall(void **state) {
    (void)state;
    double h;
    for (EACH_STEP(h)) {
        result r = clean(nasty_wedged, NULL, h, 10, 1e-10);
        const double *force = carom_sim_now(r.sim).force;
        check_near(q(&r, 0), 0, 1e-12);
        check_near(force[0] - force[1], -cos(30), 1e-10);
        end(&r);
    }
}

static void a_plastic_block_rocks_from_edge_to_edge(void **state) {
    (void)state;
    double h;
    for (EACH_STEP(h)) {
        result r = clean(nasty_block, NULL, h, 20, 1e-9);
        assert_true(r.count[CAROM_OPEN] > 0);
        check_near(q(&r, 0), 0.75, 1e-10);
        check_near(q(&r, 1), 0, 1e-10);
        end(&r);
    }
}

// -- friction -----------------------------------------------------------------------------------------------------

// Four reactions, three coordinates: how friction is shared is not unique, that the block stays is.
static void a_block_sticks_on_two_feet_until_it_is_pushed_hard_enough(void **state) {
    (void)state;
    double h;
    for (EACH_STEP(h)) {
        result r = clean(nasty_feet, NULL, h, 10, 1e-9);
        const carom_now now = carom_sim_now(r.sim);
        check_near(now.q[0], 0, 1e-10);
        check_near(now.force[1] + now.force[3], -10 * sin(0.3), 1e-9);
        for (int i = 0; i < 4; i += 2) assert_true(fabs(now.force[i + 1]) <= 0.5 * now.force[i] + 1e-9);
        end(&r);
        r = clean(nasty_feet, (const char *const[]){"tilt=0", "push=2", NULL}, h, 5, 1e-8);
        check_near(r.last[CAROM_SLIP], 2.5, 1e-8);
        check_near(q(&r, 0), 2.5 * 2.5 * 2.5 / 3, 1e-7);
        end(&r);
    }
}

// A floor shakes with A sin(om t) under a block that is w wide and h high: one foot lifts when the moment m A sin(om t)
// h/2 is that of the weight, m g w/2.  Until then the friction of that foot falls to zero with its normal reaction, in
// whatever way the feet share.
static void a_foot_lifts_off_a_floor_that_shakes(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nname: shaken\nparameters: {w: 0.5, h: 1.5, A: 6, om: 6, e: 0.3}\ncoordinates: {x: {}, y: {at: h/2}, "
        "th: {}}\n"
        "energy: {kinetic: 1/2*(x'^2 + y'^2) + (w^2 + h^2)/24*th'^2, potential: 9.81*y + A*sin(om*t)*x}\n"
        "contact defaults: {friction: 0.7, restitution: e}\ncontacts:\n"
        "  right: {gap: y - h/2*cos(th) + w/2*sin(th), slip: x + h/2*sin(th) + w/2*cos(th)}\n"
        "  left: {gap: y - h/2*cos(th) - w/2*sin(th), slip: x + h/2*sin(th) - w/2*cos(th)}\n";
    const double lifts = asin(9.81 * 0.5 / (6 * 1.5)) / 6;
    double h;
    for (EACH_STEP(h)) {
        result r = clean(text, NULL, h, 0.15, 1e-10);
        assert_int_equal(r.count[CAROM_OPEN], 1);
        assert_int_equal(r.count[CAROM_SLIP] + r.count[CAROM_IMPACT], 0);
        check_near(r.last[CAROM_OPEN], lifts, 1e-7); // decided by (EV-11)
        end(&r);
        r = clean(text, (const char *const[]){"om=12", NULL}, h, 3, 1e-9);
        assert_true(r.count[CAROM_IMPACT] > 10);
        end(&r);
    }
}

// The same in space, on four feet: two lift together when A sin(om t) cos(beta) has the moment.
static void two_feet_of_four_lift_together(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nname: four feet\nparameters: {a: 0.25, b: 0.35, h: 0.75, A: 6, beta: 0.3}\ngravity: [0, 0, -9.81]\n"
        "shapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
        "  block: {mass: 1, inertia: [(b^2 + h^2)/3, (a^2 + h^2)/3, (a^2 + b^2)/3], at: [0, 0, h], shape: {box: [2*a, "
        "2*b, 2*h]}}\n"
        "loads: {shake: {on: block, force: [-A*sin(6*t)*cos(beta), -A*sin(6*t)*sin(beta), 0]}}\n"
        "contact defaults: {friction: 0.7, restitution: 0.3}\ncontacts: {feet: {between: [block, floor]}}\n";
    result r = clean(text, NULL, 0.01, 0.15, 1e-10);
    assert_int_equal(r.count[CAROM_OPEN], 2);
    check_near(r.last[CAROM_OPEN], asin(9.81 * 0.25 / (6 * 0.75 * cos(0.3))) / 6, 1e-7);
    end(&r);
}

// Sticks to the belt from asin(2/3)/2 until the spring pulls with mu N; then the slip velocity touches zero once in
// every period without changing its sign.
static void a_mass_on_a_belt_sticks_slides_and_nearly_sticks_again(void **state) {
    (void)state;
    static const char text[] = "carom: 1\nname: belt\ncoordinates: {x: {}, y: {}}\nenergy: {kinetic: 1/2*(x'^2 + "
                               "y'^2), potential: 2*x^2 + 10*y}\n"
                               "contacts: {belt: {gap: y, slip: x - t, friction: 0.3}}\n";
    const double caught = 0.5 * asin(2. / 3), free = caught + 0.75 - 0.75 * (1 - cos(2 * caught));
    double h;
    for (EACH_STEP(h)) {
        result r = clean(text, NULL, h, 10, 1e-7);
        check_near(q(&r, 0), 0.75 + 0.5 * sin(2 * (10 - free)), 1e-7);
        assert_true(r.count[CAROM_STICK] < 20);
        end(&r);
    }
}

// Four legs on a plane: normals are dependent, and each has a friction disc.  The resultant does not depend on how they
// share; positions agree between two divisions of time.
static void a_table_on_four_legs_is_dragged_about(void **state) {
    (void)state;
    static const char text[] = "carom: 1\nname: table\ncoordinates: {x: {}, y: {}, z: {}, a: {}, b: {}}\n"
                               "energy: {kinetic: 1/2*(x'^2 + y'^2 + z'^2 + a'^2 + b'^2), potential: 10*z}\nforces: "
                               "{x: 6*sin(2*t), y: 3*t*cos(t)}\n"
                               "contact defaults: {friction: 0.4}\ncontacts:\n"
                               "  one: {gap: z + a + b, slip: [x, y]}\n  two: {gap: z - a + b, slip: [x, y]}\n"
                               "  three: {gap: z + a - b, slip: [x, y]}\n  four: {gap: z - a - b, slip: [x, y]}\n";
    result r = clean(text, NULL, 0.1, 4, 1e-7), s = clean(text, NULL, 0.5, 4, 1e-7);
    check_near(q(&r, 0), q(&s, 0), 1e-6);
    check_near(q(&r, 1), q(&s, 1), 1e-6);
    assert_int_equal(r.count[CAROM_STICK], s.count[CAROM_STICK]);
    assert_true(r.l.energy.friction > 1);
    end(&r);
    end(&s);
}

// -- a valve ------------------------------------------------------------------------------------------------------

// Pulses lift a valve from its seat against a spring; it falls back and chatters.  While it is closed nothing moves,
// and steps must be short all the same, lest a pulse be missed.
static void a_chattering_valve_is_seen_however_long_the_steps(void **state) {
    (void)state;
    double h, external = 0;
    for (EACH_STEP(h)) {
        result r = clean(nasty_valve, NULL, h, 10, 1e-5);
        assert_int_equal(r.count[CAROM_OPEN], 13); // as many as there are pulses
        assert_int_equal(r.count[CAROM_CLOSE], 14);
        if (i_ == 0) external = r.l.energy.external;
        check_near(r.l.energy.external, external, 1e-4);
        end(&r);
    }
}

// A system that tells neither when its functions of time jump nor where they are even: steps must be short by what the
// integrator sees (EV-15).
static result unforeseen(const char *text, double h, double t_end, double balance) {
    static carom_system sys; // the simulation holds it
    result r = {.model = good(text)};
    sys = *carom_model_system(r.model);
    static carom_extensions own;
    carom_system_extend(&sys, &own);
    own.events.next_jump = NULL;
    own.events.limit_step = NULL;
    own.events.gap_bounds = NULL;
    run_system(&r, &sys, NULL, h, t_end);
    check_clean(&r, balance);
    return r;
}

// The valve has a second half, which a joint holds: reactions of contacts, and gaps to walls that move, are looked at
// behind those of joints, too.  A wall at -0.35 sin 40 t goes away first; it comes back and strikes a mass that stands
// at 0.3, when sin 40 t = -6/7.  With e = 1 the mass leaves with twice its speed, 14 sqrt(13)/7, faster than it ever
// is.
static void what_joints_hold_sees_walls_come(void **state) {
    (void)state;
    static const char text[] =
        "carom: 1\nname: joined valve\ncoordinates: {x: {}, y: {}}\nenergy: {kinetic: 1/4*(x'^2 + y'^2), potential: "
        "25*((x + 0.1)^2 + (y + 0.1)^2)}\nconstraints: {rod: x - y}\n"
        "forces: {x: \"-0.5*x' + 12*max(sin(8*t), 0) + 3*sin(31*t)\"}\ncontacts: {seat: {gap: y, restitution: 0.6}}\n";
    static const char wall[] = "carom: 1\nname: wall\ncoordinates: {x: {at: 0.3}, y: {}, z: {}}\nenergy: {kinetic: "
                               "1/2*(x'^2 + y'^2 + z'^2), potential: 10*z}\nconstraints: {rail: y}\n"
                               "contacts: {floor: {gap: z}, wall: {gap: x + 0.35*sin(40*t), restitution: 1}}\n";
    const double hit = (acos(-1) + asin(6. / 7)) / 40, u = 14 * sqrt(13) / 7;
    double h;
    for (EACH_STEP(h)) {
        result r = unforeseen(text, h, 10, 1e-5);
        assert_int_equal(r.count[CAROM_OPEN], 13);
        assert_int_equal(r.count[CAROM_CLOSE], 14);
        end(&r);
        r = unforeseen(wall, h, 10, 1e-5);
        assert_int_equal(r.count[CAROM_IMPACT], 1);
        check_near(r.last[CAROM_IMPACT], hit, 1e-7);
        check_near(q(&r, 0), 0.3 + 2 * u * (10 - hit), 1e-5);
        end(&r);
    }
}

// -- what has no answer ---------------------------------------------------------------------------------------------

static void a_body_squeezed_between_two_walls_ends_in_an_error(void **state) {
    (void)state;
    result r = run(nasty_squeezed, NULL, 0.3, 2);
    assert_true(r.status != CAROM_OK && r.status != CAROM_STOPPED);
    assert_true(strlen(r.err.text) > 20);
    assert_true(carom_sim_now(r.sim).t < 1);
    end(&r);
}

// At t = 1 y bounces and x is at a door that stands open: it goes through, to -1 at t = 2.
static void an_open_door_lets_pass_while_another_contact_bounces(void **state) {
    (void)state;
    static const char *const schemes[] = {"event-driven", "mixed"};
    carom_model *m = good(
        "carom: 1\ncoordinates: {x: {at: 1, rate: -1}, y: {at: 1, rate: -1}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2)}\n"
        "contacts: {door: {gap: x, restitution: 1, closes while: -1}, floor: {gap: y, restitution: 1}}\n");
    for (int i = 0; i < 2; ++i) {
        carom_sim *sim = model_sim(m, schemes[i], NULL, 0.3, 2);
        model_sim_run(sim);
        const double *q = carom_sim_now(sim).q;
        if (!(fabs(q[0] + 1) < 1e-5 && fabs(q[1] - 1) < 1e-5)) // mixed locates to (h/T)^4 of a step
            fail_msg("%s: x = %.17g, y = %.17g", schemes[i], q[0], q[1]);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Forces without a value from some position on: steps before it become shorter by a factor of at least 4 each time they
// meet it, from 1e-3 s to the rounding of a second in 23 times, between which a method of 12th order goes on for some
// dozens of steps.  Then the run ends, and names the force: also soon after t = 0, where the clock has more digits than
// positions.
static void a_force_that_has_no_value_ends_the_run(void **state) {
    (void)state;
    static const char *const forces[] = {"log(1 - 4*x)", "1/sqrt(0.25 - x)", "sqrt(0.25 - x)", "x - sqrt(1.2 - x')"};
    for (int i = 0; i < 8; ++i) {
        char text[300];
        snprintf(text, sizeof text,
                 "carom: 1\ncoordinates: {x: {at: %g, rate: 1}, y: 1}\nenergy: {kinetic: \"1/2*(x'^2 + y'^2)\", "
                 "potential: 9.81*y}\nforces: {x: \"%s%s\"}\ncontacts: {c: {gap: y, restitution: 0.5}}\n",
                 i < 4 ? 0.0 : 0.24999, i % 4 == 3 ? "5 + " : "", forces[i % 4]);
        result r = run(text, NULL, 1e-3, 2);
        assert_true(r.status != CAROM_OK);
        if (!strstr(r.err.text, "the force on 1 is")) fail_msg("%s: %s", forces[i % 4], r.err.text);
        if (r.l.counts.substeps > 4000) fail_msg("%s: %ld internal steps", forces[i % 4], r.l.counts.substeps);
        end(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_door_lets_pass_while_another_contact_bounces),
        cmocka_unit_test(a_wall_that_is_just_touched_changes_nothing),
        cmocka_unit_test(a_slight_touch_is_an_impact_however_long_the_steps),
        cmocka_unit_test(a_ball_falls_into_a_corner),
        cmocka_unit_test(an_impact_goes_through_balls_that_touch),
        cmocka_unit_test(very_elastic_balls_come_to_rest),
        cmocka_unit_test(a_run_that_outlasts_the_step_is_not_ended_in_it),
        cmocka_unit_test(a_body_without_clearance_changes_from_wall_to_wall),
        cmocka_unit_test(a_plastic_block_rocks_from_edge_to_edge),
        cmocka_unit_test(a_block_sticks_on_two_feet_until_it_is_pushed_hard_enough),
        cmocka_unit_test(what_joints_hold_sees_walls_come),
        cmocka_unit_test(a_foot_lifts_off_a_floor_that_shakes),
        cmocka_unit_test(two_feet_of_four_lift_together),
        cmocka_unit_test(a_mass_on_a_belt_sticks_slides_and_nearly_sticks_again),
        cmocka_unit_test(a_table_on_four_legs_is_dragged_about),
        cmocka_unit_test(a_chattering_valve_is_seen_however_long_the_steps),
        cmocka_unit_test(a_body_squeezed_between_two_walls_ends_in_an_error),
        cmocka_unit_test(a_force_that_has_no_value_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_joint_motion.c: one joint at a time against the formula of its motion: rail, pole, table, thread, cross, top,
// turntable.
#include "mechanisms.h"
#include "model/answers.h"
#include "scheme/registry.h"

// A model after `end` by the scheme of order 6.
static carom_sim *after(const carom_model *m, double h, double end) {
    carom_sim *sim = start(m, "mixed", "order=6", h, end);
    model_sim_run(sim);
    return sim;
}

// Down a rail: s'' = g sin a.  The rail pushes with m g cos a, across it.
static void a_prismatic_joint_is_a_rail(void **state) {
    (void)state;
    const double a = 0.4, g = 9.81, t = 1.5;
    carom_model *m = good("carom: 1\ngravity: [0, 0, -9.81]\nbodies: {b: {mass: 3, inertia: [0.1, 0.2, 0.3]}}\n"
                          "joints: {rail: {type: prismatic, between: [ground, b], at: [0, 0, 0], axis: [cos(0.4), 0, "
                          "-sin(0.4)]}}\noutputs: {s: rail.shift}\n");
    carom_sim *sim = after(m, 0.01, t);
    const carom_now now = carom_sim_now(sim);
    assert_close(now.q[0], 0.5 * g * sin(a) * t * t * cos(a), 1e-10);
    assert_close(now.q[2], -0.5 * g * sin(a) * t * t * sin(a), 1e-10);
    assert_close(hypot(now.force[0], now.force[1]), 3 * g * cos(a), 1e-9);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Along and about the axis there is nothing but gravity and a torque.
static void a_cylindrical_joint_falls_and_spins_up(void **state) {
    (void)state;
    const double t = 1.3;
    carom_model *m = good("carom: 1\ngravity: [1, 2, -9.81]\nbodies: {b: {mass: 3, inertia: [0.1, 0.2, 0.4], at: [0, "
                          "0, 1], spin: [0, 0, 3]}}\n"
                          "joints: {pole: {type: cylindrical, between: [ground, b], at: [0, 0, 0], axis: [0, 0, 1]}}\n"
                          "loads: {twist: {on: b, torque: [5, 6, 0.2]}}\noutputs: {phi: pole.angle}\n");
    carom_sim *sim = after(m, 0.01, t);
    const double *q = carom_sim_now(sim).q;
    assert_close(q[0], 0, 1e-12);
    assert_close(q[2], 1 - 0.5 * 9.81 * t * t, 1e-10);
    assert_close(q[position(m, "pole.angle")], 3 * t + 0.5 * 0.5 * t * t, 1e-9);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// In its plane a body flies, and the plane carries what is left of the weight.
static void a_planar_joint_is_a_table(void **state) {
    (void)state;
    const double t = 1.3;
    carom_model *m = good("carom: 1\ngravity: [1, 0, -9.81]\nbodies: {b: {mass: 3, inertia: [0.1, 0.2, 0.4], at: [0, "
                          "0, 1], velocity: [0, 2, 0], spin: [0, 0, 3]}}\n"
                          "joints: {table: {type: planar, between: [ground, b], at: [0, 0, 1], axis: [0, 0, 1]}}\n");
    carom_sim *sim = after(m, 0.01, t);
    const carom_now now = carom_sim_now(sim);
    assert_close(now.q[0], 0.5 * t * t, 1e-10);
    assert_close(now.q[1], 2 * t, 1e-10);
    assert_close(now.q[2], 1, 1e-12);
    assert_close(fabs(now.q[6]), fabs(sin(1.5 * t)), 1e-9);
    assert_close(now.force[0], 3 * 9.81, 1e-9);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A conical pendulum: w^2 = g/(l cos a), the thread pulls with m g/cos a.
static void a_distance_joint_is_a_thread(void **state) {
    (void)state;
    const double a = 0.6, g = 9.81, w = sqrt(g / cos(a)), t = 1;
    char text[400];
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, 0, -9.81]\nbodies: {b: {mass: 2, inertia: [1, 1, 1], at: [sin(0.6), 0, "
             "-cos(0.6)], velocity: [0, %.17g, 0]}}\n"
             "joints: {thread: {type: distance, between: [ground, b], points: [[0, 0, 0], [0, 0, 0]]}}\n",
             w * sin(a));
    carom_model *m = good(text);
    carom_sim *sim = after(m, 5e-3, t);
    const carom_now now = carom_sim_now(sim);
    assert_close(now.q[0], sin(a) * cos(w * t), 1e-9);
    assert_close(now.q[1], sin(a) * sin(w * t), 1e-9);
    assert_close(now.q[2], -cos(a), 1e-9);
    assert_close(fabs(now.force[0]), 2 * g / cos(a), 1e-8);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Two shafts that meet at an angle b: tan phi_2 = cos b tan phi_1, although the bearings alone would hold them in
// place.
static void a_universal_joint_turns_unevenly(void **state) {
    (void)state;
    const double b = 0.5, t = 1, phi_1 = 2 * t;
    carom_model *m = good(
        "carom: 1\nbodies: {one: {mass: 1, inertia: [0.1, 0.1, 0.1]}, two: {mass: 1, inertia: [0.1, 0.1, "
        "0.1]}}\njoints:\n"
        "  first: {type: revolute, between: [ground, one], at: [0, 0, 0], axis: [1, 0, 0], motion: 2*t}\n"
        "  cross: {type: universal, between: [one, two], at: [0, 0, 0], axis: [[0, 0, 1], [-sin(0.5), cos(0.5), 0]]}\n"
        "  second: {type: revolute, between: [ground, two], at: [0, 0, 0], axis: [cos(0.5), sin(0.5), 0]}\noutputs: "
        "{phi: second.angle}\n");
    assert_int_equal(examine(m).freedom, 0);
    assert_string_equal(carom_model_redundant(m), "second (3)");
    carom_sim *sim = after(m, 5e-3, t);
    const carom_now now = carom_sim_now(sim);
    assert_close(now.q[position(m, "second.angle")], atan2(cos(b) * sin(phi_1), cos(phi_1)), 1e-8);
    const double speed = 2 * cos(b) / (cos(phi_1) * cos(phi_1) + cos(b) * cos(b) * sin(phi_1) * sin(phi_1));
    assert_close(sqrt(carom_dot(now.v + 9, now.v + 9, 3)), speed, 1e-7);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A top that precesses steadily with W at the angle a from upright: J_3 w_3 W - J_1 W^2 cos a = m g l, moments about
// the tip.
static void a_spherical_joint_carries_a_top(void **state) {
    (void)state;
    const double m_ = 0.5, l = 0.06, J1 = 8e-4 + m_ * l * l, J3 = 4e-4, a = 0.5, W = 4, g = 9.81, t = 0.7;
    const double w_3 = (m_ * g * l + J1 * W * W * cos(a)) / (J3 * W);
    char text[500];
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, 0, -9.81]\nbodies: {top: {mass: 0.5, inertia: [8e-4, 8e-4, 4e-4], at: "
             "[0.06*sin(0.5), 0, 0.06*cos(0.5)], axis: [0, 1, 0], angle: 0.5, "
             "spin: [%.17g, 0, %.17g]}}\njoints: {tip: {type: spherical, between: [ground, top], at: [0, 0, 0]}}\n",
             -W * sin(a), w_3);
    carom_model *m = good(text);
    carom_sim *sim = after(m, 5e-4, t);
    const double *q = carom_sim_now(sim).q;
    assert_close(q[0], l * sin(a) * cos(W * t), 1e-9);
    assert_close(q[1], l * sin(a) * sin(W * t), 1e-9);
    assert_close(q[2], l * cos(a), 1e-9);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Ground that rises and turns carries a welded body round, and gives it its energy; a ball joint on it whirls a second
// one.
static void moving_ground_carries_bodies_and_its_work_is_external(void **state) {
    (void)state;
    const double t = 1.2;
    carom_model *m = good("carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
                          "  table: {motion: {at: [0, 0, 0.1*t^2], axis: [0, 0, 1], angle: 2*t^2}}\n"
                          "  cup: {mass: 0.5, inertia: [0.01, 0.02, 0.03], at: [1, 0, 0.2]}\n"
                          "  bob: {mass: 0.3, inertia: [0.01, 0.01, 0.01], at: [0, 1, -0.5]}\n"
                          "joints:\n  glue: {type: weld, between: [table, cup], at: [1, 0, 0]}\n  hook: {type: "
                          "spherical, between: [table, bob], at: [0, 1, 0]}\n");
    assert_int_equal(examine(m).faults, 0);
    assert_int_equal(examine(m).freedom, 3);
    carom_sim *sim = after(m, 2e-3, t);
    const carom_now now = carom_sim_now(sim);
    const double a = 2 * t * t, w = 4 * t, rise = 0.2 * t;
    assert_close(now.q[0], cos(a), 1e-9);
    assert_close(now.q[1], sin(a), 1e-9);
    assert_close(now.q[2], 0.2 + 0.1 * t * t, 1e-9);
    assert_close(now.q[6] * now.q[6], sin(a / 2) * sin(a / 2), 1e-9);
    assert_close(now.v[0], -w * sin(a), 1e-8);
    assert_close(now.v[2], rise, 1e-8);
    assert_close(now.v[5], w, 1e-8);
    carom_error err;
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_true(l.energy.external > 0.5 * (0.5 + 0.03) * w * w);
    assert_close(l.energy.balance, 0, 1e-7 * l.energy.external);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// A weight that hangs at a tilted hinge of a body that spins evenly: the hinge's z is its axis, the rest lies across
// it, and all of it turns with the body.
static void spatial_reactions_are_in_the_frame_of_the_joint(void **state) {
    (void)state;
    const double W = 3, m_ = 2, g = 10, r = 0.5, t = 0.8;
    // The block is at rest relative to the post: at distance r from the axis of the post, straight below the hinge.
    carom_model *m = good(
        "carom: 1\ngravity: [0, 0, -10]\nbodies:\n"
        "  post: {mass: 1, inertia: [1, 1, 1], spin: [0, 0, 3]}\n"
        "  block: {mass: 2, inertia: [0.1, 0.1, 0.1], at: [0.5, 0, -0.25], velocity: [0, 1.5, 0], spin: [0, 0, 3]}\n"
        "joints:\n"
        "  foot: {type: revolute, between: [ground, post], at: [0, 0, 0], axis: [0, 0, 1], motion: 3*t}\n"
        "  hinge: {type: revolute, between: [post, block], at: [0.5, 0, 0], axis: [0.8, 0, 0.6]}\n");
    carom_sim *sim = after(m, 2e-3, t);
    const carom_now now = carom_sim_now(sim);
    double f[11];
    carom_model_reactions(m, carom_sim_work(sim), now.t, now.q, now.dir, 11, now.force, f);
    const double *h = f + 6; // three forces, two torques
    // Seen from the post: weight m g down, carried by a force up; the path's centre is pulled at with m r W^2.
    const double up = m_ * g, in = m_ * r * W * W;
    assert_close(h[2], 0.6 * up - 0.8 * in, 1e-7);                       // along the axis
    assert_close(hypot(h[0], h[1]), fabs(0.8 * up + 0.6 * in), 1e-7);    // across it
    assert_close(sqrt(carom_dot(h, h, 3)), hypot(up, in), 1e-7);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// An arm of 0.6 kg m2 about its bearing is driven with 1 rad/s, from c on with 3 rad/s.  At c the drive pushes with
// 0.6*2 = 1.2 N m s: its work is 3*1.2 = 3.6 J, of which 0.6/2*2^2 = 1.2 J are lost, in every scheme, whether a step
// ends at c or not, and whatever law contacts follow.  A wheel on a spindle, without drive, takes no part.
static void a_drive_that_changes_its_speed_strikes(void **state) {
    (void)state;
    static const double times[] = {0.5, 0.5003};
    for (int i = 0; i < 2; ++i) {
        char text[600];
        const unsigned lacks = CAROM_NO_STEP_CHANGE | (i > 0 ? CAROM_NO_IMPACTS | CAROM_NO_IMPACT_LAWS : 0);
        snprintf(text, sizeof text,
                 "carom: 1\nparameters: {c: %g}\nbodies: {b: {mass: 2, inertia: 0.1, at: [0.5, 0], velocity: [0, 0.5], "
                 "spin: 1}, wheel: {mass: 1, inertia: 1, at: [3, 0], spin: 2}}\n"
                 "joints: {h: {type: revolute, between: [ground, b], at: [0, 0], motion: \"if(t < c, t, c + 3*(t - "
                 "c))\"}, spindle: {type: revolute, between: [ground, wheel], at: [3, 0]}}\n%s",
                 times[i], i > 0 ? "contacts: {far: {gap: b.y + 10, restitution: 0.5, impact law: poisson}}\n" : "");
        carom_model *m = good(text);
        for (int k = 0; carom_scheme_at(k); ++k) {
            const carom_scheme *scheme = carom_scheme_at(k);
            if (scheme->limitations & lacks) continue;
            carom_sim *sim = start(m, scheme->name, NULL, 1e-3, 1);
            model_sim_run(sim);
            carom_error err;
            carom_ledger l;
            assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
            const double angle = carom_sim_now(sim).q[2], expected = times[i] + 3 * (1 - times[i]);
            // reactions of Moreau's schemes work along directions h/2 behind the arm: m r^2 w^3 h/2 in a second, 1e-2 J
            if (!(fabs(angle - expected) < 1e-9 && fabs(l.energy.impact - 1.2) < 1e-6 &&
                  fabs(l.energy.external - 3.6) < 2e-2 && fabs(l.energy.balance) < 2e-2))
                fail_msg("%s, c = %g: angle off by %.3g, impact %.9g J, drive %.9g J, balance %.3g J", scheme->name,
                         times[i], angle - expected, l.energy.impact, l.energy.external, l.energy.balance);
            carom_sim_destroy(sim);
        }
        carom_model_destroy(m);
    }
}

// 3 kg on a rail are driven with 1 m/s and back with 1 m/s from 0.5 s on, the end of a step to the last bit: 3*2 = 6 N
// s against the motion, whose work behind it is 6 J, all lost.
static void a_drive_that_turns_back(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\nbodies: {s: {mass: 3, inertia: 1, velocity: [1, 0]}}\n"
                          "joints: {j: {type: prismatic, between: [ground, s], at: [0, 0], axis: [1, 0], motion: \"0.5 "
                          "- abs(t - 0.5)\"}}\n");
    for (int k = 0; carom_scheme_at(k); ++k) {
        const carom_scheme *scheme = carom_scheme_at(k);
        if (scheme->limitations & CAROM_NO_STEP_CHANGE) continue;
        carom_sim *sim = start(m, scheme->name, NULL, 1e-2, 0.75);
        model_sim_run(sim);
        carom_error err;
        carom_ledger l;
        assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
        if (!(fabs(carom_sim_now(sim).q[0] - 0.25) < 1e-9 && fabs(l.energy.impact - 6) < 1e-6 &&
              fabs(l.energy.external - 6) < 1e-6 && fabs(l.energy.balance) < 1e-6))
            fail_msg("%s: at %.9g m, impact %.9g J, drive %.9g J, balance %.3g J", scheme->name,
                     carom_sim_now(sim).q[0], l.energy.impact, l.energy.external, l.energy.balance);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_prismatic_joint_is_a_rail),
        cmocka_unit_test(a_cylindrical_joint_falls_and_spins_up),
        cmocka_unit_test(a_planar_joint_is_a_table),
        cmocka_unit_test(a_distance_joint_is_a_thread),
        cmocka_unit_test(a_universal_joint_turns_unevenly),
        cmocka_unit_test(a_spherical_joint_carries_a_top),
        cmocka_unit_test(a_drive_that_changes_its_speed_strikes),
        cmocka_unit_test(a_drive_that_turns_back),
        cmocka_unit_test(moving_ground_carries_bodies_and_its_work_is_external),
        cmocka_unit_test(spatial_reactions_are_in_the_frame_of_the_joint),
    };
    return cmocka_run_group_tests_name("motion of joints", tests, NULL, NULL);
}

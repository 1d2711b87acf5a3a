// test_event_bodies.c: `event-driven` on bodies with shapes: contacts that share what they carry.
#include "mechanisms.h"
#include <carom/event.h>

// -- contacts that depend on each other ------------------------------------------------------------------------------

// Ten boxes, twenty closed contacts with friction, thirty velocities: how weight is shared is not unique, that the stack stands is.  Then
// the ball, which flies at 3 m/s from x = -1.7, comes to the left side of b3, at -0.008 - 0.1.
static void a_stack_stands_still_until_the_ball_comes(void **state) {
    (void)state;
    carom_model *m = shipped_model("stack");
    carom_sim *sim = start(m, "event-driven", NULL, 1e-2, 0.511);
    const double impact = (1.7 - 0.06 - 0.108) / 3, *q0 = carom_model_q0(m);
    const int top = position(m, "b10.x");
    carom_error err = {0};
    double told = 0;
    while (!carom_sim_done(sim)) {
        if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s", err.text);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < now.nevents; ++i)
            if (now.events[i].kind == CAROM_IMPACT && told == 0) told = now.events[i].t;
        if (now.t > impact) continue;
        for (int i = 3; i < carom_model_system(m)->nq; ++i) assert_close(now.q[i], q0[i], 1e-8); // boxes begin 1e-9 inside each other
        assert_close(now.q[top + 2], 0, 1e-12);
    }
    assert_close(told, impact, 1e-12);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_int_equal(l.rejected, 0);
    assert_true(l.penetration < 1.1e-9);
    assert_true(l.counts.inner < 400); // standing still is no work
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Every reaction pushes, lies in its disc, and each layer carries what is above it.
static void a_stack_shares_its_weight_within_the_laws(void **state) {
    (void)state;
    carom_model *m = shipped_model("stack");
    carom_sim *sim = start(m, "event-driven", NULL, 1e-2, 0.02);
    model_sim_run(sim);
    const carom_system *sys = carom_model_system(m);
    const carom_now now = carom_sim_now(sim);
    double layer[10] = {0};
    for (int c = 0; c < 4 + 9 * 8; ++c) {
        const double *p = now.force + 2 * c;
        assert_true(p[0] >= 0 && fabs(p[1]) <= sys->contacts[c].friction * p[0] + 1e-12);
        layer[c < 4 ? 0 : (c + 4) / 8] += p[0];
    }
    for (int i = 0; i < 10; ++i) assert_close(layer[i], 9.81 * (10 - i), 1e-9);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stack_stands_still_until_the_ball_comes),
        cmocka_unit_test(a_stack_shares_its_weight_within_the_laws),
    };
    return cmocka_run_group_tests_name("event-driven on bodies", tests, NULL, NULL);
}

// test_changes.c: what observers learn of events is the whole motion: smooth motion from each event to the next, and what happens there.
#include "model_text.h"
#include <carom/event.h>
#include <math.h>

enum { MOST = 400, NQ = 2, PHASE = 64 };

typedef struct seen {
    double t, t_before, q_before[NQ], v_before[NQ], q[NQ], v[NQ], mode_before, mode, impulse, phase[PHASE];
    carom_change_kind kind;
} seen;

typedef struct all {
    seen x[MOST];
    int n;
} all;

static carom_status note(void *user, const carom_change *c) {
    all *a = user;
    while (a->n > 0 && a->x[a->n - 1].t > c->t) a->n -= 1; // a step that was halved
    assert_true(a->n < MOST);
    seen *x = a->x + a->n++;
    *x = (seen){.t = c->t, .t_before = c->t_before, .mode_before = c->mode_before[0], .mode = c->mode[0], .impulse = c->impulse[0], .kind = c->kind};
    for (int i = 0; i < NQ; ++i) x->q_before[i] = c->q_before[i], x->v_before[i] = c->v_before[i], x->q[i] = c->q[i], x->v[i] = c->v[i];
    assert_true(c->phase_size <= PHASE);
    for (size_t i = 0; i < c->phase_size; ++i) x->phase[i] = c->phase[i];
    return CAROM_OK;
}

static int count(const all *a, carom_change_kind kind) {
    int n = 0;
    for (int i = 0; i < a->n; ++i) n += a->x[i].kind == kind;
    return n;
}

// A block is thrown on a rough floor and held by a spring: it bounces until that accumulates, slides, turns round and sticks.
#define BLOCK "carom: 1\ncoordinates: {x: {at: 0.3, rate: -1}, y: {at: 0.06, rate: 0}}\nenergy: {kinetic: (x'^2 + y'^2)/2, potential: 10*y + 20*x^2}\n" \
              "contacts: {floor: {gap: y, slip: x, friction: 0.1, restitution: 0.4}}\n"

static void changes_tell_the_whole_motion(void **state) {
    (void)state;
    static const struct { const char *scheme; double near; } run[] = {{"event-driven", 1e-9}, {"mixed", 2e-6}, {"auto", 1e-6}};
    carom_model *m = good(BLOCK);
    for (size_t k = 0; k < sizeof run / sizeof *run; ++k) {
        static all a;
        carom_error err = {0};
        a = (all){0};
        carom_sim *sim = model_sim(m, run[k].scheme, NULL, 1e-2, 4);
        carom_sim_watch_changes(sim, note, &a);
        model_sim_run(sim);
        assert_true(count(&a, CAROM_CHANGE_IMPACT) >= 5);
        assert_true(count(&a, CAROM_CHANGE_REVERSAL) >= 3);
        assert_int_equal(count(&a, CAROM_CHANGE_STICK), 1);
        for (int i = 1; i < a.n; ++i) {
            const seen *x = a.x + i - 1, *y = a.x + i;
            double q[NQ], v[NQ];
            for (int j = 0; j < NQ; ++j) q[j] = x->q[j], v[j] = x->v[j];
            assert_true(x->mode == y->mode_before && y->t_before >= x->t && y->t >= y->t_before);
            if (carom_sim_flow(sim, x->phase, x->t, y->t_before, 1e-10, q, v, &err) != CAROM_OK) fail_msg("%s: %s", run[k].scheme, err.text);
            for (int j = 0; j < NQ; ++j) {
                assert_close(q[j], y->q_before[j], run[k].near);
                assert_close(v[j], y->v_before[j], 10 * run[k].near);
            }
            if (y->kind == CAROM_CHANGE_IMPACT && y->mode == CAROM_MODE_OPEN) { // Newton's law, and the impulse of a unit mass
                assert_close(y->v[1] - y->v_before[1], y->impulse, 1e-12);
                assert_close(y->v[1], -0.4 * y->v_before[1], 1e-9);
            }
            if (y->kind == CAROM_CHANGE_REVERSAL) assert_close(y->v[0], 0, run[k].near);
        }
        // Backwards to where the last smooth motion began.
        double q[NQ], v[NQ];
        const seen *x = a.x + 1;
        for (int j = 0; j < NQ; ++j) q[j] = x->q_before[j], v[j] = x->v_before[j];
        assert_int_equal(carom_sim_flow(sim, a.x[0].phase, x->t_before, a.x[0].t, 1e-10, q, v, &err), CAROM_OK);
        for (int j = 0; j < NQ; ++j) assert_close(q[j], a.x[0].q[j], run[k].near);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

static carom_status stop(void *user, const carom_change *c) {
    (void)user;
    return c->kind == CAROM_CHANGE_IMPACT ? CAROM_STOPPED : CAROM_OK;
}

static void an_observer_can_stop_the_run(void **state) {
    (void)state;
    carom_model *m = good(BLOCK);
    carom_sim *sim = model_sim(m, "mixed", NULL, 1e-2, 4);
    carom_error err = {0};
    carom_sim_watch_changes(sim, stop, NULL);
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_STOPPED);
    assert_close(carom_sim_now(sim).t, 0.1, 1e-12); // the step before the impact at sqrt(2 0.06/10) = 0.1095
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(changes_tell_the_whole_motion), cmocka_unit_test(an_observer_can_stop_the_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

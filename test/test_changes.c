// test_changes.c: what observers learn of events is the whole motion: smooth motion from each event to the next, and
// what happens there.
#include "model_text.h"
#include <carom/event.h>
#include <math.h>

enum { MOST = 400, NQ = 4 };

typedef struct seen {
    double t, t_before, q_before[NQ], v_before[NQ], q[NQ], v[NQ], mode_before, mode, impulse;
    carom_change_kind kind;
} seen;

typedef struct all {
    seen x[MOST];
    int n, nq;
} all;

static carom_status note(void *user, const carom_change *c) {
    all *a = user;
    while (a->n > 0 && a->x[a->n - 1].t > c->t) a->n -= 1; // a step that was halved
    assert_true(a->n < MOST);
    seen *x = a->x + a->n++;
    *x = (seen){.t = c->t,
                .t_before = c->t_before,
                .mode_before = c->mode_before[0],
                .mode = c->mode[0],
                .impulse = c->impulse[0],
                .kind = c->kind};
    for (int i = 0; i < a->nq; ++i)
        x->q_before[i] = c->q_before[i], x->v_before[i] = c->v_before[i], x->q[i] = c->q[i], x->v[i] = c->v[i];
    return CAROM_OK;
}

static int count(const all *a, carom_change_kind kind) {
    int n = 0;
    for (int i = 0; i < a->n; ++i) n += a->x[i].kind == kind;
    return n;
}

// A block is thrown on a rough floor and held by a spring: it bounces until that accumulates, slides, turns round and
// sticks.
#define BLOCK                                                                                                          \
    "carom: 1\ncoordinates: {x: {at: 0.3, rate: -1}, y: {at: 0.06, rate: 0}}\nenergy: {kinetic: (x'^2 + y'^2)/2, "     \
    "potential: 10*y + 20*x^2}\n"                                                                                      \
    "contacts: {floor: {gap: y, slip: x, friction: 0.1, restitution: 0.4}}\n"

static const struct {
    const char *scheme;
    double near;
} runs[] = {{"event-driven", 1e-9}, {"mixed", 2e-6}, {"auto", 1e-6}};

// A run from each event on, event-driven, has the next one as its first.  Times are known to the interval that encloses
// an event; speeds are below 3 and accelerations below 30.
static void motion_between_is_smooth(const carom_model *m, const all *a, double near) {
    for (int i = 1; i < a->n; ++i) {
        const seen *x = a->x + i - 1, *y = a->x + i;
        assert_true(x->mode == y->mode_before && y->t_before >= x->t && y->t >= y->t_before);
        if (y->t - x->t < near) continue; // a run from there begins as the event leads on
        static all b;
        b = (all){.nq = a->nq};
        carom_error err = {0};
        const double length = 1.01 * (y->t - x->t) + 1e-3;
        carom_sim_def d = sim_def(m, "event-driven", NULL, length, x->t + length);
        d.t0 = x->t, d.q0 = x->q, d.v0 = x->v;
        carom_sim *sim = carom_sim_create(&d, &err);
        if (!sim) fail_msg("%s", err.text);
        carom_sim_watch_changes(sim, note, &b);
        model_sim_run(sim);
        assert_true(b.n > 1);
        const double late = fabs(b.x[1].t_before - y->t_before);
        assert_true(late <= 10 * near);
        for (int j = 0; j < a->nq; ++j) {
            assert_close(b.x[1].q_before[j], y->q_before[j], near + 3 * late);
            assert_close(b.x[1].v_before[j], y->v_before[j], 10 * near + 30 * late);
        }
        carom_sim_destroy(sim);
    }
}

static carom_sim *watched(const carom_model *m, const char *scheme, double end, all *a) {
    *a = (all){.nq = carom_model_system(m)->nq};
    carom_sim *sim = model_sim(m, scheme, NULL, 1e-2, end);
    carom_sim_watch_changes(sim, note, a);
    model_sim_run(sim);
    return sim;
}

static void changes_tell_the_whole_motion(void **state) {
    (void)state;
    carom_model *m = good(BLOCK);
    for (size_t k = 0; k < sizeof runs / sizeof *runs; ++k) {
        static all a;
        carom_sim *sim = watched(m, runs[k].scheme, 4, &a);
        assert_true(count(&a, CAROM_CHANGE_IMPACT) >= 5);
        assert_true(count(&a, CAROM_CHANGE_REVERSAL) >= 3);
        assert_int_equal(count(&a, CAROM_CHANGE_STICK), 1);
        motion_between_is_smooth(m, &a, runs[k].near);
        for (int i = 1; i < a.n; ++i) {
            const seen *y = a.x + i;
            // Newton's law, and the impulse of a unit mass
            if (y->kind == CAROM_CHANGE_IMPACT && y->mode == CAROM_MODE_OPEN) {
                assert_close(y->v[1] - y->v_before[1], y->impulse, 1e-12);
                assert_close(y->v[1], -0.4 * y->v_before[1], 1e-9);
            }
            if (y->kind == CAROM_CHANGE_REVERSAL) assert_close(y->v[0], 0, runs[k].near);
        }
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// The same in space, where the direction of slip turns, with a rod that follows x^2: the floor's directions stand
// behind those of a joint, which bends. Not `mixed`, which has one direction of slip in each step, whatever the
// tolerance here.
static void slip_that_turns_is_told_as_well(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: {at: 0.3, rate: -1}, y: {at: 0.1, rate: 0.8}, z: {at: 0.06, "
                          "rate: 0}, w: {at: 0.09, rate: -0.6}}\n"
                          "energy: {kinetic: (x'^2 + y'^2 + z'^2 + w'^2)/2, potential: 10*z + 20*x^2 + "
                          "10*y^2}\nconstraints: {rod: w - x^2}\n"
                          "contacts: {floor: {gap: z, slip: [x, y], friction: 0.1, restitution: 0.4}}\n");
    for (size_t k = 0; k < sizeof runs / sizeof *runs; ++k) {
        static all a;
        if (strcmp(runs[k].scheme, "mixed") == 0) continue;
        carom_sim *sim = watched(m, runs[k].scheme, 4, &a);
        assert_true(count(&a, CAROM_CHANGE_IMPACT) >= 5);
        assert_true(count(&a, CAROM_CHANGE_STICK) >= 1);
        motion_between_is_smooth(m, &a, runs[k].near);
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
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_tell_the_whole_motion), cmocka_unit_test(slip_that_turns_is_told_as_well),
        cmocka_unit_test(an_observer_can_stop_the_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

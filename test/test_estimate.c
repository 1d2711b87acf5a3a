// test_estimate.c: the estimated error of a run against the true one: exact solutions, very fine runs, a chaotic
// motion.
#include "model/answers.h"
#include "model_text.h"
#include "study/trajectory.h"
#include <carom/event.h>
#include <carom/run.h>
#include <carom/study.h>

typedef struct given { const char *scheme; double h, end; const char *options[4]; } given;

static carom_run run_of(const given *x) {
    return (carom_run){.scheme = x->scheme, .step = x->h, .end = x->end, .options = (const char **)x->options};
}

static carom_estimate *estimate_of(const carom_model *m, const given *x) {
    const carom_run run = run_of(x);
    const carom_sim_def def = carom_run_sim(&run, m);
    const carom_estimate_def ed = {.model = m, .sim = &def};
    carom_error err = {0};
    carom_estimate *e = carom_estimate_create(&ed, &err);
    if (!e || carom_estimate_run(e, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", x->scheme, err.text);
    assert_non_null(carom_estimate_text(e));
    return e;
}

static carom_estimate_line line_of(const carom_estimate *e, const char *name) {
    for (int i = 0; i < carom_estimate_lines(e); ++i)
        if (strcmp(carom_estimate_line_at(e, i).name, name) == 0) return carom_estimate_line_at(e, i);
    fail_msg("no line for %s", name);
    return (carom_estimate_line){0};
}

// Positions at all step ends.
typedef struct motion { carom_trajectory tr; int nq; } motion;

static carom_status keep(void *user, const carom_now *now) {
    motion *x = user;
    if (x->tr.count == x->tr.room) assert_int_equal(carom_trajectory_reserve(&x->tr, 2 * x->tr.room, NULL), CAROM_OK);
    carom_trajectory_add(&x->tr, now->t, now->q, now->v, NAN);
    return CAROM_OK;
}

static motion motion_of(const carom_model *m, const given *x) {
    const carom_run run = run_of(x);
    const carom_sim_def def = carom_run_sim(&run, m);
    carom_error err = {0};
    carom_sim *sim = carom_sim_create(&def, &err);
    motion y = {.nq = def.system->nq};
    if (!sim) fail_msg("%s", err.text);
    assert_int_equal(carom_trajectory_create(&y.tr, y.nq, 1024, &err), CAROM_OK);
    if (carom_sim_total_steps(sim) == 0) carom_sim_stop_at(sim, x->end / 2000); // as a record does
    const carom_now now = carom_sim_now(sim);
    keep(&y, &now);
    if (carom_sim_run(sim, keep, &y, &err) != CAROM_OK) fail_msg("%s", err.text);
    carom_sim_destroy(sim);
    return y;
}

// True errors of coordinate i: at the end, and the largest one until t; by the exact solution, or (not NULL) a motion
// that is much finer.
static void true_error(const carom_model *m, const motion *x, const motion *fine, int i, double until, double *end,
                       double *most) {
    const carom_system *sys = carom_model_system(m);
    double q[32], v[32];
    long hint = 0;
    void *work = calloc(1, sys->work_size + 1);
    sys->work_init(sys->model, work);
    *most = 0;
    for (long k = 0; k < x->tr.count; ++k) {
        const double t = x->tr.t[k];
        if (fine) carom_trajectory_at(&fine->tr, t, CAROM_RIGHT, &hint, q, v);
        else carom_model_exact(m, work, t, q, v);
        if (fine && fmin(fabs(t - fine->tr.t[hint]), fabs(t - fine->tr.t[hint + 1])) > 1e-9)
            continue; // between its states the finer one is no better
        *end = fabs(x->tr.q[k * x->nq + i] - q[i]);
        if (t <= until) *most = fmax(*most, *end);
    }
    free(work);
}

// The estimate is no less than the true error, but for a little, and no more than so many times that.
static void meets(const char *what, double estimate, double truth, double times) {
    if (!(estimate > 0.8 * truth && estimate < times * truth))
        fail_msg("%s: the estimated error is %g, the true one %g", what, estimate, truth);
}

static void smooth_motion(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: {at: 1, rate: 0}}\nenergy: {kinetic: x'^2/2, potential: "
                               "9*x^2/2}\nexact: {x: cos(3*t)}\n";
    static const struct {
        given x;
        double order;
    } cases[] = {{{"moreau-jean", 0.01, 10, {0}}, 2},
                 {{"half-explicit", 0.01, 10, {0}}, 2},
                 {{"moreau-jean", 1e-3, 3, {"theta=1", NULL}}, 1},
                 {{"newmark", 0.02, 7, {0}}, 2},
                 {{"mixed", 0.05, 10, {0}}, 4}};
    carom_model *m = good(text);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const given *x = &cases[k].x;
        carom_estimate *e = estimate_of(m, x);
        motion y = motion_of(m, x);
        double end, most, level[3];
        true_error(m, &y, NULL, 0, HUGE_VAL, &end, &most);
        const carom_estimate_line l = line_of(e, "x");
        meets(x->scheme, l.largest, most, 1.5);
        assert_close(l.order, cases[k].order, 0.1);
        assert_close(carom_estimate_order(e), cases[k].order, 0.1);
        assert_true(l.error > 0.8 * end && l.digits == (int)floor(log10(1 / l.error)));
        assert_false(carom_estimate_levels(e, level));
        assert_close(level[2], x->h / 4, 1e-15);
        assert_true(carom_estimate_until(e) == HUGE_VAL);
        const carom_estimate_line v = line_of(e, "x'"), E = line_of(e, "energy");
        assert_true(v.largest < 6 * l.largest && v.largest > l.largest && E.size > 4.4);
        carom_estimate_destroy(e);
        carom_trajectory_destroy(&y.tr);
    }
    carom_model_destroy(m);
}

// An impact falls somewhere into a step: errors have no order that three runs show, and a difference may be small by
// chance.  The estimate is not.
static void impacts(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {x: {at: 1, rate: 0}}\nenergy: {kinetic: x'^2/2, potential: "
                               "2*x}\ncontacts: {ground: {gap: x, restitution: 1/2}}\n"
                               "exact: {x: 'if(t < 1, 1 - t^2, if(t < 2, (t - 1) - (t - 1)^2, if(t < 5/2, (t - 2)/2 - "
                               "(t - 2)^2, if(t < 11/4, (t - 5/2)/4 - (t - 5/2)^2, 0))))'}\n";
    carom_model *m = good(text);
    int few = 0;
    for (int k = 0; k < 12; ++k) {
        const given x = {k % 2 ? "half-explicit" : "moreau-jean", 2.7 / (900 + 37 * k), 2.7, {0}};
        carom_estimate *e = estimate_of(m, &x);
        motion y = motion_of(m, &x);
        double end, most;
        true_error(m, &y, NULL, 0, HUGE_VAL, &end, &most);
        const carom_estimate_line l = line_of(e, "x"), v = line_of(e, "x'");
        if (!(l.largest > 0.5 * most && l.largest < 6 * most))
            fail_msg("%s, step %g: the estimated error is %g, the true one %g", x.scheme, x.h, l.largest, most);
        few += l.largest < 0.8 * most;
        // A jump that comes a step earlier or later is no error of the velocity away from it: speeds are 2, 1, 1/2, ...
        // and off by about a step's part.
        if (!(v.largest < 0.05))
            fail_msg("%s, step %g: the velocity is off by %g at %g", x.scheme, x.h, v.largest, v.t);
        assert_true(line_of(e, "energy.impact").error < 0.02);
        carom_estimate_destroy(e);
        carom_trajectory_destroy(&y.tr);
    }
    if (few > 2) fail_msg("%d of 12 estimates are too small", few);
    carom_model_destroy(m);
}

// A scheme with a tolerance is repeated with a tenth and a hundredth of it.
static void tolerances(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {a: {at: 2, rate: 0}}\nenergy: {kinetic: a'^2/2, potential: "
                               "-9.81*cos(a)}\ncontacts: {stop: {gap: a + 1, restitution: 0.8}}\n";
    static const given cases[] = {{"auto", 0.01, 5, {"rtol=1e-5", NULL}},
                                  {"event-driven", 0.5, 5, {"rtol=1e-4", NULL}},
                                  {"moreau-jean", 0.01, 1, {"adaptive=on", "rtol=1e-4", NULL}}},
                       fine = {"event-driven", 0.001, 5, {0}};
    carom_model *m = good(text);
    motion z = motion_of(m, &fine);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        carom_estimate *e = estimate_of(m, &cases[k]);
        motion y = motion_of(m, &cases[k]);
        double end, most, level[3];
        assert_true(carom_estimate_levels(e, level));
        assert_close(level[1], 0.1 * level[0], 1e-9);
        true_error(m, &y, &z, 0, HUGE_VAL, &end, &most);
        const carom_estimate_line l = line_of(e, "a");
        if (!(l.largest > 0.3 * most && l.largest < 20 * most))
            fail_msg("%s: the estimated error is %g, the true one %g", cases[k].scheme, l.largest, most);
        carom_estimate_destroy(e);
        carom_trajectory_destroy(&y.tr);
    }
    carom_trajectory_destroy(&z.tr);
    carom_model_destroy(m);
}

// The slider-crank, against a run with located events.
static void slider_crank(void **state) {
    (void)state;
    size_t length;
    char *text = shipped_text("slider-crank", &length);
    carom_model *m = good(text);
    const given x = {"half-explicit", 4e-5, 0.06, {0}}, fine = {"event-driven", 1e-5, 0.06, {0}};
    carom_estimate *e = estimate_of(m, &x);
    motion y = motion_of(m, &x), z = motion_of(m, &fine);
    for (int i = 0; i < 2; ++i) {
        double end, most;
        true_error(m, &y, &z, i, HUGE_VAL, &end, &most);
        const carom_estimate_line l = carom_estimate_line_at(e, i);
        if (!(l.largest > 0.5 * most && l.largest < 6 * most))
            fail_msg("%s: the estimated error is %g, the true one %g", l.name, l.largest, most);
    }
    assert_int_equal(carom_estimate_line_at(e, 2).digits, -1); // the slider does not turn: zero to rounding
    carom_trajectory_destroy(&y.tr), carom_trajectory_destroy(&z.tr);
    carom_estimate_destroy(e);
    carom_model_destroy(m);
    free(text);
}

// A double pendulum with a stop.  Until the time that is named the motion is right to a tenth; soon after it, it is
// another one; half the step does not save it.
static void chaos(void **state) {
    (void)state;
    static const char text[] = "carom: 1\ncoordinates: {a: {at: 2.5, rate: 0}, b: {at: 2, rate: 0}}\n"
                               "energy: {kinetic: a'^2 + b'^2/2 + a'*b'*cos(a - b), potential: -9.81*(2*cos(a) + "
                               "cos(b))}\ncontacts: {stop: {gap: a + 1, restitution: 0.9}}\n";
    const given x = {"half-explicit", 1e-3, 20, {0}}, fine = {"event-driven", 1e-3, 20, {0}};
    carom_model *m = good(text);
    carom_estimate *e = estimate_of(m, &x);
    motion y = motion_of(m, &x), z = motion_of(m, &fine);
    const double until = carom_estimate_until(e);
    double size = 0, worst = 0;
    assert_true(until > 0.5 && until < 19);
    for (int i = 0; i < 2; ++i) {
        double end, most, all;
        true_error(m, &y, &z, i, 0.98 * until, &end, &most);
        true_error(m, &y, &z, i, HUGE_VAL, &end, &all);
        size = carom_estimate_line_at(e, i).size;
        if (!(most < 0.15 * size))
            fail_msg("%s is off by %g of %g before t = %g", carom_estimate_line_at(e, i).name, most, size, until);
        worst = fmax(worst, all / size);
    }
    if (!(worst > 0.3)) fail_msg("the motion is right to %g to the end, not until t = %g", worst, until);
    assert_non_null(strstr(carom_estimate_text(e), "\"until\": "));
    carom_trajectory_destroy(&y.tr), carom_trajectory_destroy(&z.tr);
    carom_estimate_destroy(e);
    carom_model_destroy(m);
}

static bool stop_soon(void *user, double fraction) {
    int *calls = user;
    assert_true(fraction >= 0 && fraction <= 1);
    return ++*calls < 5;
}

static void stopped_and_failed(void **state) {
    (void)state;
    carom_model *m = good("carom: 1\ncoordinates: {x: 1}\nenergy: {kinetic: x'^2/2, potential: x^2/2}\n");
    const given x = {"half-explicit", 1e-4, 10, {0}};
    const carom_run run = run_of(&x);
    const carom_sim_def def = carom_run_sim(&run, m);
    carom_error err = {0};
    carom_estimate *e = carom_estimate_create(&(carom_estimate_def){.model = m, .sim = &def}, &err);
    int calls = 0;
    assert_int_equal(carom_estimate_run(e, stop_soon, &calls, &err), CAROM_STOPPED);
    assert_int_equal(calls, 5);
    assert_null(carom_estimate_text(e));
    carom_estimate_destroy(e);
    const given tight = {
        "event-driven", 0.01, 1, {"rtol=1e-13", NULL}}; // a hundredth of it is below what the scheme takes
    const carom_run other = run_of(&tight);
    const carom_sim_def too = carom_run_sim(&other, m);
    e = carom_estimate_create(&(carom_estimate_def){.model = m, .sim = &too}, &err);
    assert_int_equal(carom_estimate_run(e, NULL, NULL, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "rtol"));
    carom_estimate_destroy(e);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(smooth_motion), cmocka_unit_test(impacts),
                                       cmocka_unit_test(tolerances),    cmocka_unit_test(slider_crank),
                                       cmocka_unit_test(chaos),         cmocka_unit_test(stopped_and_failed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

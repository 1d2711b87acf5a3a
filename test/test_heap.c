// test_heap.c: the step loop asks the heap for nothing.
//
// Linked with --wrap for malloc and its relatives, so that every request passes through here (COUNT_REQUESTS); a build
// with sanitizers has a heap of its own and only runs the same motions.
#include "schemes.h"
#include "sim/sim.h"
#include <stdlib.h>

static long requests;
static bool counting;

#ifdef COUNT_REQUESTS

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

void *__wrap_malloc(size_t size) { return requests += counting, __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return requests += counting, __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return requests += counting, __real_realloc(old, size); }
void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return requests += counting, __real_aligned_alloc(alignment, size);
}
void __wrap_free(void *block) { requests += counting, __real_free(block); }
static const bool wrapped = true;
#else
static const bool wrapped = false;
#endif

static void run_counted(const known *k, const carom_scheme *s, double h, int steps) {
    counting = true;
    requests = 0;
    carom_sim *sim = sim_of(k, s->name, NULL, h, h * steps);
    scheme_true(s->name, !wrapped || requests > 0); // the count works: making a simulation does ask
    requests = 0;
    carom_error err;
    carom_status status = CAROM_OK;
    while (status == CAROM_OK && !carom_sim_done(sim)) status = carom_sim_step(sim, &err);
    const carom_ledger l = sim_ledger(sim);
    counting = false;
    if (status != CAROM_OK) fail_msg("%s: %s", s->name, err.text);
    scheme_true(s->name, requests == 0);
    scheme_true(s->name, s->limitations & CAROM_NO_IMPACTS || l.impacts > 0);
    carom_sim_destroy(sim);
}

static void steps_ask_the_heap_for_nothing(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        known k;
        known_slider_crank(&k, 1e-3, 0.4, s->limitations & CAROM_NO_FRICTION ? 0 : 0.01, false);
        run_counted(&k, s, 1e-4, 500);
        known_rocking_block(&k);
        run_counted(&k, s, 1e-3, 1000);
        known_pendulum(&k, 0.1);
        if (!(s->limitations & CAROM_NO_BILATERAL)) run_counted(&k, s, 1e-3, 1000);
        known_slope_spatial(&k, 1, 0.3, 0.1, 0.7);
        k.contact[0].friction = s->limitations & CAROM_NO_FRICTION ? 0 : 0.1;
        for (int i = 0; i < 3; ++i) k.q0[i] = 0.01 * k.frame[i];
        run_counted(&k, s, 1e-3, 200);
    }
}

static long evaluations;
static carom_status (*real_force)(const void *model, void *work, double t, const double *q, const double *v, double *f);
static carom_status counted_force(const void *model, void *work, double t, const double *q, const double *v,
                                  double *f) {
    ++evaluations;
    return real_force(model, work, t, q, v, f);
}

// Forces are evaluated so often in `steps` steps of a scheme that has taken `inner` internal steps before.
static long evaluated(const carom_scheme *s, long inner, int steps) {
    known k;
    known_pendulum(&k, 0.1);
    real_force = k.sys.force;
    k.sys.force = counted_force;
    carom_sim *sim = sim_of(&k, s->name, NULL, 1e-3, 1);
    carom_error err;
    assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
    sim->kept->ledger.counts.substeps += inner;
    counting = true;
    requests = evaluations = 0;
    for (int i = 0; i < steps; ++i) assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
    counting = false;
    scheme_true(s->name, requests == 0);
    carom_sim_destroy(sim);
    return evaluations;
}

// Millions of internal steps make a run look for forces that jump.  A pendulum has none, and the run goes on.  It looks
// in 16 to 32 steps of every doubling of their number: in at most 32 + 4 32 of the first 512, with two differences of
// two evaluations each for each of its three coordinates.
static void looking_for_jumps_asks_for_nothing(void **state) {
    (void)state;
    enum { STEPS = 510, LOOKS = 5 * 32, EACH_LOOK = 2 * 2 * 3 };
    const carom_scheme *s;
    for (EACH_SCHEME(s)) {
        if (!s->controls_own_steps || s->limitations & CAROM_NO_BILATERAL) continue;
        const long without = evaluated(s, 0, STEPS), with = evaluated(s, 100000000, STEPS);
        scheme_true(s->name, with > without); // it does look
        scheme_true(s->name, with <= without + LOOKS * EACH_LOOK);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_ask_the_heap_for_nothing),
                                       cmocka_unit_test(looking_for_jumps_asks_for_nothing)};
    return cmocka_run_group_tests_name("heap", tests, NULL, NULL);
}

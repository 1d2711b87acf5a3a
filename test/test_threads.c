// test_threads.c: several simulations at once in several threads, and host programs with other floating-point modes.
//
// The thread sanitizer looks at it with `make sanitize-threads`.  Threads share a model, as the header allows, and the
// results are the bits of one thread.
#include "model_text.h"
#include <carom/event.h>
#include <carom/sweep.h>
#include <fenv.h>
#include <pthread.h>

enum { THREADS = 4, MOST = 8 };

static const char text[] =
    "carom: 1\ncoordinates: {x: {at: 0, rate: 2}, y: {at: 0.3}}\nenergy: {kinetic: (x'^2 + y'^2)/2 + 0.1*sin(x)*y'^2, "
    "potential: 9.81*y + x^2}\n"
    "contacts: {ground: {gap: y, slip: x, restitution: 0.6, friction: 0.3}, wall: {gap: 1.2 - x, restitution: 0.8}}\n"
    "simulation: {scheme: mixed, step: 1e-2, end: 0.2}\n";
static const char *const schemes[] = {"half-explicit", "moreau-jean", "newmark",      "ggl-alpha",
                                      "mixed",         "auto",        "event-driven", "splitting"};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

typedef struct job {
    const carom_model *shared; // NULL: reads its own
    double q[SCHEMES][2], v[SCHEMES][2];
    int mode;                  // of floating point: FE_TONEAREST, ...
    bool flush;                // subnormal numbers to zero
    bool ended[SCHEMES];
} job;

#if defined(__aarch64__)
static void flush_to_zero(bool on) {
    uint64_t r;
    __asm__ volatile("mrs %0, fpcr" : "=r"(r));
    r = on ? r | (1u << 24) : r & ~(uint64_t)(1u << 24);
    __asm__ volatile("msr fpcr, %0" : : "r"(r));
}
#elif defined(__x86_64__)
#include <immintrin.h>
static void flush_to_zero(bool on) { _mm_setcsr(on ? _mm_getcsr() | 0x8040 : _mm_getcsr() & ~0x8040u); }
#else
static void flush_to_zero(bool on) { (void)on; }
#endif

static void *work(void *user) {
    job *j = user;
    fesetround(j->mode);
    flush_to_zero(j->flush);
    carom_error err = {0};
    carom_model *own =
        j->shared
            ? NULL
            : carom_model_create(&(carom_model_def){.text = text, .length = sizeof text - 1, .file = "m.yaml"}, &err);
    const carom_model *m = j->shared ? j->shared : own;
    for (int i = 0; m && i < SCHEMES; ++i) {
        carom_sim_def d = sim_def(m, schemes[i], NULL, 1e-3, 0.4);
        carom_sim *sim = carom_sim_create(&d, &err);
        if (!sim) continue;
        j->ended[i] = carom_sim_run(sim, NULL, NULL, &err) == CAROM_OK;
        memcpy(j->q[i], carom_sim_now(sim).q, sizeof j->q[i]);
        memcpy(j->v[i], carom_sim_now(sim).v, sizeof j->v[i]);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(own);
    flush_to_zero(false);
    fesetround(FE_TONEAREST);
    return NULL;
}

static void run_all(job *jobs, int n) {
    pthread_t thread[MOST];
    for (int i = 0; i < n; ++i) assert_int_equal(pthread_create(&thread[i], NULL, work, &jobs[i]), 0);
    for (int i = 0; i < n; ++i) assert_int_equal(pthread_join(thread[i], NULL), 0);
}

static void threads_do_not_disturb_each_other(void **state) {
    (void)state;
    carom_model *m = good(text);
    static job alone, jobs[THREADS];
    alone = (job){.shared = m, .mode = FE_TONEAREST};
    work(&alone);
    for (int i = 0; i < THREADS; ++i) jobs[i] = (job){.shared = i % 2 ? m : NULL, .mode = FE_TONEAREST};
    run_all(jobs, THREADS);
    for (int i = 0; i < THREADS; ++i)
        for (int s = 0; s < SCHEMES; ++s) {
            assert_true(alone.ended[s] && jobs[i].ended[s]);
            assert_memory_equal(jobs[i].q[s], alone.q[s], sizeof alone.q[s]);
            assert_memory_equal(jobs[i].v[s], alone.v[s], sizeof alone.v[s]);
        }
    carom_model_destroy(m);
}

// A sweep has threads of its own.
static bool on_row(void *user, const carom_sweep_row *row) {
    (void)row;
    ++*(int *)user;
    return true;
}

static void a_sweep_in_threads(void **state) {
    (void)state;
    carom_error err = {0};
    carom_sweep_def d = carom_sweep_default();
    d.model = (carom_model_def){.text = text, .length = sizeof text - 1, .file = "m.yaml"};
    d.vary = (const char *const[]){"x'=1:3:12", NULL};
    d.observe = (const char *const[]){"x", "max(y)", NULL};
    d.jobs = THREADS;
    carom_sweep *s = carom_sweep_create(&d, &err);
    if (!s) fail_msg("%s", err.text);
    int rows = 0;
    assert_int_equal(carom_sweep_run(s, &(carom_sweep_watch){.user = &rows, .row = on_row}, &err), CAROM_OK);
    assert_int_equal(rows, 12);
    carom_sweep_destroy(s);
}

// Another rounding direction, or subnormal numbers that are flushed to zero, change the last digits: every run ends, at
// the same place to the accuracy of its tolerances.  dx = 4e2 steps x some roundings of 1e-16, enlarged by impacts.
static void other_floating_point_modes_change_last_digits_only(void **state) {
    (void)state;
    static job usual, other;
    usual = (job){.mode = FE_TONEAREST};
    work(&usual);
    const struct {
        int mode;
        bool flush;
    } modes[] = {{FE_TONEAREST, true}, {FE_UPWARD, false}, {FE_DOWNWARD, false}, {FE_TOWARDZERO, true}};
    for (size_t k = 0; k < sizeof modes / sizeof *modes; ++k) {
        other = (job){.mode = modes[k].mode, .flush = modes[k].flush};
        work(&other);
        for (int s = 0; s < SCHEMES; ++s) {
            if (!other.ended[s]) fail_msg("%s ends early in mode %zu", schemes[s], k);
            for (int i = 0; i < 2; ++i)
                assert_close(other.q[s][i], usual.q[s][i], 1e-7), assert_close(other.v[s][i], usual.v[s][i], 1e-6);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_do_not_disturb_each_other),
        cmocka_unit_test(a_sweep_in_threads),
        cmocka_unit_test(other_floating_point_modes_change_last_digits_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

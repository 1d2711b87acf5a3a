// test_heap_sparse.c: what other libraries ask the heap for: steps ask for nothing, also where a library factorises;
// and memory that ends while a library is at work ends in a message.
//
// Their requests do not pass through --wrap, so malloc itself is replaced, which glibc allows (COUNT_REQUESTS, not with
// sanitizers).
#include "chain.h"
#include "schemes.h"
#include <carom/event.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static long requests;
static bool counting;
static size_t live, budget; // bytes since counting; 0: no limit

#if defined(COUNT_REQUESTS) && defined(__GLIBC__)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void __libc_free(void *block);

static void *granted(void *block) {
    live += counting && block ? malloc_usable_size(block) : 0;
    return block;
}
static bool refused(size_t size) { return requests += counting, counting && budget > 0 && live + size > budget; }

void *malloc(size_t size) { return refused(size) ? NULL : granted(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return refused(count * size) ? NULL : granted(__libc_calloc(count, size)); }
void *realloc(void *old, size_t size) { return refused(size) ? NULL : granted(__libc_realloc(old, size)); }
void free(void *block) {
    const size_t size = counting && block ? malloc_usable_size(block) : 0;
    live -= size < live ? size : live;
    __libc_free(block);
}
static const bool counts = true;
#else
static const bool counts = false;
#endif

static void sparse_steps_ask_the_heap_for_nothing(void **state) {
    (void)state;
    enum { N = 70 };
    int row[2 * N], col[2 * N];
    for (int e = 0; e < N; ++e) {
        row[2 * e] = col[2 * e + 1] = e;
        col[2 * e] = row[2 * e + 1] = e + 1;
    }
    const carom_scheme *s;
    for (EACH_SCHEME(s))
        for (int constant = 0; constant < 2; ++constant) {
            counting = true;
            requests = 0;
            carom_pattern *P = carom_pattern_create(N + 1, 2 * N, row, col, carom_direct_klu());
            assert_non_null(P);
            chain c;
            carom_error err;
            chain_make(&c, N, 400, 0.02, false);
            c.gap = 0.01;
            c.sys.mass_shape = c.sys.tangent_shape = carom_shape_sparse(P);
            if (!constant) c.sys.flags = CAROM_TIMELESS_GAPS; // matrices are factorised again in every step
            for (int i = 0; i <= N; ++i) c.v0[i] = -1;
            carom_sim *sim = chain_sim(&c, s->name, NULL, 1e-3, 0.03, &err);
            if (!sim) fail_msg("%s: %s", s->name, err.text);
            scheme_true(s->name, !counts || requests > 10); // the count works, and sees the library
            requests = 0;
            carom_status status = CAROM_OK;
            while (status == CAROM_OK && !carom_sim_done(sim)) status = carom_sim_step(sim, &err);
            counting = false;
            if (status != CAROM_OK) fail_msg("%s: %s", s->name, err.text);
            scheme_true(s->name, requests == 0);
            scheme_true(s->name, s->limitations & CAROM_NO_IMPACTS || sim_ledger(sim).impacts > 0);
            carom_sim_destroy(sim);
            carom_pattern_destroy(P);
        }
}

// A chain by CVODE; 0: it runs, 1: why not is said, 2: it is not said.
static int by_events(const char *method) {
    chain c;
    carom_error err = {0};
    chain_make(&c, 30, 400, 0.02, false);
    carom_sim_def d = carom_sim_default();
    d.system = &c.sys, d.schemes = carom_schemes(), d.scheme = "event-driven";
    d.options = (const char *const[]){method, NULL};
    d.h = 1e-3, d.t_end = 3e-3, d.q0 = c.q0, d.v0 = c.v0;
    counting = true, live = 0;
    carom_sim *sim = carom_sim_create(&d, &err);
    const bool good = sim && carom_sim_run(sim, NULL, NULL, &err) == CAROM_OK;
    carom_sim_destroy(sim);
    counting = false;
    return good ? 0 : strlen(err.text) > 20 ? 1 : 2;
}

// SUNDIALS 6 does not look whether the heap granted its vectors: that there is enough is made sure before.
static void memory_that_ends_in_the_integrator_is_told(void **state) {
    (void)state;
    if (!counts) skip();
    static const char *const methods[] = {"method=adams", "method=bdf"};
    for (int i = 0; i < 2; ++i) {
        int outcomes[3] = {0};
        for (budget = 1 << 12; outcomes[0] < 3; budget += 1 << 11) {
            const pid_t child = fork();
            if (child == 0) {
                signal(SIGSEGV, SIG_DFL); // not cmocka's
                _exit(by_events(methods[i]));
            }
            int status = 0;
            waitpid(child, &status, 0);
            if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
                fail_msg("%s with %zu bytes: status %x", methods[i], budget, (unsigned)status);
            ++outcomes[WEXITSTATUS(status)];
            assert_true(budget < 1 << 22);
        }
        budget = 0;
        assert_true(outcomes[1] > 20);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sparse_steps_ask_the_heap_for_nothing),
                                       cmocka_unit_test(memory_that_ends_in_the_integrator_is_told)};
    return cmocka_run_group_tests_name("heap_sparse", tests, NULL, NULL);
}

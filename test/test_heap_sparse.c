// test_heap_sparse.c: steps ask the heap for nothing, also where another library factorises.
//
// Its requests do not pass through --wrap, so malloc itself is replaced, which glibc allows (COUNT_REQUESTS, not with
// sanitizers).
#include "chain.h"
#include "schemes.h"
#include <stdlib.h>

static long requests;
static bool counting;

#if defined(COUNT_REQUESTS) && defined(__GLIBC__)
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size) { return requests += counting, __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return requests += counting, __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return requests += counting, __libc_realloc(old, size); }
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
            scheme_true(s->name, s->lacks & CAROM_NO_IMPACTS || sim_ledger(sim).impacts > 0);
            carom_sim_destroy(sim);
            carom_pattern_destroy(P);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sparse_steps_ask_the_heap_for_nothing)};
    return cmocka_run_group_tests_name("heap_sparse", tests, NULL, NULL);
}

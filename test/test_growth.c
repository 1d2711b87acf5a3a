// test_growth.c: the list of contacts that come and go needs more memory within a run, and does not get it.
//
// Each request of each step fails once.  The step says so and changes nothing; as soon as there is memory, the run goes on as one that had it all the time, to the bit.
#include "model_text.h"
#include <malloc.h>

static bool counting;
static long calls, refused_at;

static bool refuse(void) { return counting && ++calls == refused_at; }

#define WRAP(name, parameters, arguments) \
    void *__real_##name parameters;       \
    void *__wrap_##name parameters;       \
    void *__wrap_##name parameters { return refuse() ? NULL : __real_##name arguments; }

WRAP(malloc, (size_t n), (n))
WRAP(calloc, (size_t n, size_t size), (n, size))
void *__wrap_realloc(void *p, size_t n);

// Always elsewhere, and nothing is left at the old place.
void *__wrap_realloc(void *p, size_t n) {
    if (refuse()) return NULL;
    void *const more = __real_malloc(n);
    if (!p || !more) return more;
    const size_t had = malloc_usable_size(p);
    memcpy(more, p, had < n ? had : n);
    memset(p, 0xa5, had);
    free(p);
    return more;
}

enum { SPHERES = 64, STEPS = 90 };

// One step, again and again until no request of it fails; how many have.
static long insist(carom_sim *sim) {
    for (long n = 1;; ++n) {
        carom_error err = {0};
        calls = 0, refused_at = n;
        counting = true;
        const carom_status status = carom_sim_step(sim, &err);
        counting = false;
        if (status == CAROM_OK) return n - 1;
        if (status != CAROM_NO_MEMORY) fail_msg("%s", err.text);
        assert_non_null(strstr(err.text, "not enough memory"));
        const carom_system *sys = carom_sim_system(sim);
        for (int c = 0; c < sys->nc; ++c) assert_true(sys->contacts[c].friction >= 0.2); // the least of both laws below: the law is there
    }
}

// Spheres close ranks along x, then along y, then along z: 48, 96 and 144 pairs are near each other, and the list begins with 64 slots.
static void a_run_without_memory_can_go_on(void **state) {
    (void)state;
    static const char *const friction[] = {"0.3", "{static: 0.4, kinetic: 0.2, stribeck: 0.1}"};
    for (int law = 0; law < 2; ++law) {
        char text[800];
        snprintf(text, sizeof text,
                 "carom: 1\nbodies: {s: {repeat: [4, 4, 4], body: {mass: 1, inertia: [0.004, 0.004, 0.004], shape: {sphere: 0.1}, at: [0.23*i, 0.23*j, 0.23*k], velocity: [-1.2*i, -0.6*j, -0.4*k], "
                 "spin: [1, 2, 3]}}}\ncontacts: {all: {among: [s], friction: %s}}\n",
                 friction[law]);
        carom_model *m = good(text);
        carom_sim *poor = model_sim(m, "moreau-midpoint", NULL, 1e-3, 1e-3 * STEPS), *rich = model_sim(m, "moreau-midpoint", NULL, 1e-3, 1e-3 * STEPS);
        long failures = 0;
        while (!carom_sim_done(rich)) {
            carom_error err = {0};
            assert_int_equal(carom_sim_step(rich, &err), CAROM_OK);
            failures += insist(poor);
            assert_memory_equal(carom_sim_now(poor).q, carom_sim_now(rich).q, SPHERES * 7 * sizeof(double));
            assert_memory_equal(carom_sim_now(poor).v, carom_sim_now(rich).v, SPHERES * 6 * sizeof(double));
        }
        size_t size = 0, other = 0;
        carom_sim_state(poor, &size), carom_sim_state(rich, &other);
        assert_int_equal(size, other);
        print_message("    %ld requests failed\n", failures);
        assert_true(failures >= 6);
        carom_sim_destroy(poor);
        carom_sim_destroy(rich);
        carom_model_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_run_without_memory_can_go_on)};
    return cmocka_run_group_tests_name("lists that grow", tests, NULL, NULL);
}

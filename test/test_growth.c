// test_growth.c: the list of dynamic contact list needs more memory within a run, and does not get it.
//
// Each request of each step fails once.  The step says so and changes nothing; as soon as there is memory, the run goes
// on as one that had it all the time, to the bit.
#include "measures.h"
#include "scheme/registry.h"
#include "sim/inspect.h"
#include <malloc.h>

static bool counting;
static long calls, refused_at;

static bool refuse(void) { return counting && ++calls == refused_at; }

// Blocks that realloc() has left while a step insists, and that the heap has not handed out again: nobody must know
// them.
static void *left[16];
static int nleft;

static void *granted(void *p) {
    for (int i = 0; i < nleft; ++i)
        if (left[i] == p) left[i--] = left[--nleft];
    return p;
}

#define WRAP(name, parameters, arguments) \
    void *__real_##name parameters;       \
    void *__wrap_##name parameters;       \
    void *__wrap_##name parameters { return refuse() ? NULL : granted(__real_##name arguments); }

WRAP(malloc, (size_t n), (n))
WRAP(calloc, (size_t n, size_t size), (n, size))
void *__wrap_realloc(void *p, size_t n);
void __real_free(void *p);
void __wrap_free(void *p);

void __wrap_free(void *p) {
    for (int i = 0; counting && p && i < nleft; ++i) assert_ptr_not_equal(p, left[i]);
    __real_free(p);
}

// Always elsewhere, and nothing is left at the old place.
void *__wrap_realloc(void *p, size_t n) {
    if (refuse()) return NULL;
    for (int i = 0; p && i < nleft; ++i) assert_ptr_not_equal(p, left[i]);
    void *const more = granted(__real_malloc(n));
    if (!p || !more) return more;
    const size_t had = malloc_usable_size(p);
    memcpy(more, p, had < n ? had : n);
    memset(p, 0xa5, had);
    __real_free(p);
    if (counting && nleft < 16) left[nleft++] = p;
    return more;
}

enum { SPHERES = 64, STEPS = 90 };

static const char *const friction[] = {"0.3", "{static: 0.4, kinetic: 0.2, stribeck: 0.1}",
                                       "0.2 + 0.3/(1 + normal.force/10)"};
static const char spheres[] =
    "carom: 1\nbodies: {s: {repeat: [4, 4, 4], body: {mass: 1, inertia: [0.004, 0.004, 0.004], shape: {sphere: 0.1}, "
    "at: [0.23*i, 0.23*j, 0.23*k], velocity: [-1.2*i, -0.6*j, -0.4*k], "
    "spin: [1, 2, 3]}}}\ncontacts: {all: {among: [s], friction: %s}}\n";

// One step, again and again until no request of it fails; how many have.
static long insist(carom_sim *sim) {
    nleft = 0;
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
        // the least of all laws below: the law is there
        for (int c = 0; c < sys->nc; ++c) assert_true(sys->contacts[c].friction >= 0.2);
    }
}

// Spheres close ranks along x, then along y, then along z: 48, 96 and 144 pairs are near each other, and the list
// begins with 64 slots.
static void a_run_without_memory_can_go_on(void **state) {
    (void)state;
    for (int law = 0; law < 3; ++law) {
        char text[800];
        snprintf(text, sizeof text, spheres, friction[law]);
        carom_model *m = good(text);
        carom_sim *poor = model_sim(m, "moreau-midpoint", NULL, 1e-3, 1e-3 * STEPS),
                  *rich = model_sim(m, "moreau-midpoint", NULL, 1e-3, 1e-3 * STEPS);
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
        assert_true(failures >= 4); // where calloc refuses the block of the list, it is mapped
        carom_sim_destroy(poor);
        carom_sim_destroy(rich);
        carom_model_destroy(m);
    }
}

// -- slots ------------------------------------------------------------------------------------------------------------

// In slots behind all that are in use, where the last contact may have left anything.
static void soil(carom_sim *sim) {
    const int first = sim->own.ne + sim->own.nc - sim->own.listed, shift = sim->step.sys->ne - sim->own.ne;
    double *const by_direction[] = {sim->inside.warm, sim->step.record.impulse, sim->step.record.force,
                                    sim->step.record.nu};
    for (int i = sim->list.used; i < sim->list.slots; ++i) {
        const int c = first - sim->own.ne + i, d = sim->dir[first + i];
        sim->memory[c] = (carom_memory){.impulsive = 1,
                                        .reacting = 2,
                                        .closed = 1,
                                        .run = 2,
                                        .impact_t = 1e-3,
                                        .flight = 1,
                                        .theta = 1,
                                        .after = 1,
                                        .slip = 1};
        sim->held[c] = sim->step.record.lost[c] = 7;
        for (int k = d; k < sim->dir[first + i + 1]; ++k) {
            sim->lasting[k] = 7;
            if (sim->reaction) sim->reaction[k] = 7;
            for (int j = 0; j < 4; ++j)
                if (by_direction[j]) by_direction[j][k + shift] = 7;
        }
    }
}

// The same spheres: a contact begins afresh, whatever its slot was left with.
static void a_slot_says_nothing_of_its_next_contact(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-midpoint", "ggl-projection", "half-explicit"};
    for (int i = 0; i < 9; ++i) {
        char text[800];
        snprintf(text, sizeof text, spheres, friction[i % 3]);
        const made a = make(text, schemes[i / 3], NULL, 1e-3, 1e-3 * STEPS),
                   b = make(text, schemes[i / 3], NULL, 1e-3, 1e-3 * STEPS);
        int most = 0;
        while (!carom_sim_done(a.sim)) {
            carom_error err = {0};
            soil(b.sim);
            assert_true(carom_sim_step(a.sim, &err) == CAROM_OK && carom_sim_step(b.sim, &err) == CAROM_OK);
            const carom_now x = carom_sim_now(a.sim), y = carom_sim_now(b.sim);
            const carom_system *sys = carom_sim_system(a.sim);
            const size_t n = (size_t)x.dir[sys->ne + sys->nc] * sizeof(double);
            assert_memory_equal(x.q, y.q, (size_t)sys->nq * sizeof *x.q);
            assert_memory_equal(x.v, y.v, (size_t)sys->nv * sizeof *x.v);
            assert_memory_equal(x.impulse, y.impulse, n);
            assert_memory_equal(x.force, y.force, n);
            assert_memory_equal(x.lasting, y.lasting, n);
            if (x.nu) assert_memory_equal(x.nu, y.nu, n);
            const int first = sys->nc - sys->listed;
            for (int c = first; c < sys->nc; ++c)
                if (a.sim->list.key[c - first])
                    assert_memory_equal(a.sim->memory + c, b.sim->memory + c, sizeof *a.sim->memory);
            assert_int_equal(x.nevents, y.nevents);
            assert_memory_equal(&a.sim->kept->ledger.energy, &b.sim->kept->ledger.energy,
                                sizeof a.sim->kept->ledger.energy);
            most = a.sim->list.used > most ? a.sim->list.used : most;
        }
        assert_true(most > 64);
        done(&a), done(&b);
    }
}

enum { MANY = 1000 }; // slots
static bool told[MANY];

static void note(void *work, carom_step *s, int id) {
    (void)work, (void)s;
    assert_in_range(id, 0, MANY - 1);
    told[id] = true;
}

// A scheme that remembers something of contacts learns of every slot that has another one now, and of no other slot.
static void schemes_are_told_of_new_contacts(void **state) {
    (void)state;
    carom_scheme scheme = *carom_scheme_find("moreau-midpoint");
    const carom_scheme *const list[] = {&scheme, NULL};
    char text[800];
    scheme.reset_contact = note;
    snprintf(text, sizeof text, spheres, friction[0]);
    carom_model *m = good(text);
    carom_error err = {0};
    carom_sim_def d = sim_def(m, scheme.name, NULL, 1e-3, 1e-3 * STEPS);
    d.schemes = list;
    carom_sim *sim = carom_sim_create(&d, &err);
    int came = 0;
    while (!carom_sim_done(sim)) {
        const int slots = sim->list.slots;
        long long before[MANY] = {0};
        assert_in_range(slots, 1, MANY);
        memcpy(before, sim->list.key, (size_t)slots * sizeof *before);
        memset(told, 0, sizeof told);
        assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
        const int first = sim->own.ne + sim->own.nc - sim->own.listed;
        for (int i = 0; i < sim->list.slots; ++i) {
            const bool another = sim->list.key[i] && sim->list.key[i] != before[i];
            assert_int_equal(told[first + i], another);
            came += another;
        }
    }
    assert_true(came > 64);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_without_memory_can_go_on),
        cmocka_unit_test(a_slot_says_nothing_of_its_next_contact), cmocka_unit_test(schemes_are_told_of_new_contacts)};
    return cmocka_run_group_tests_name("lists that grow", tests, NULL, NULL);
}

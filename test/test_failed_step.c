// test_failed_step.c: a step that fails leaves nothing behind: neither in the state nor in the books, so that a run
// that goes on from there, or is resumed, is the same as one without it.
#include "counted.h"
#include "figures_models.h"
#include "ignoring.h"
#include "model_text.h"
#include "schemes.h"
#include "sim/inspect.h"
#include "sim/sim.h"
#include <math.h>

// A block slides on a table against a damper, and a ball rests on the floor beside it; a force is not a number, nor is
// its power, at the end of one step when `broken`, and is 0 otherwise.
static const char *const text =
    "carom: 1\ncoordinates: {x: {at: 0, rate: 1}, y: 0, z: {at: 0.02, rate: -1}}\nenergy: {kinetic: 1/2*(x'^2 + y'^2 + "
    "z'^2), potential: 9.81*(y + z)}\nforces: {x: -0.3*x'}\n"
    "contacts: {table: {gap: y, slip: x, friction: 0.2}, floor: {gap: z, restitution: 0.5}}\n";
// A weight that is lifted off its floor, where nothing else touches.
static const char *const lifted = "carom: 1\ncoordinates: {y: 0}\nenergy: {kinetic: 1/2*y'^2, potential: "
                                  "9.81*y}\nforces: {y: 150*t - 0.1*y'}\ncontacts: {floor: {gap: y}}\n";
static carom_system sound;
static double broken; // from this time on there is no power

static carom_status power(const void *m, void *w, double t, const double *q, const double *v, double *in, double *out) {
    return t > broken ? CAROM_USER : sound.power(m, w, t, q, v, in, out);
}

static carom_status observe(const void *m, void *w, double t, const double *q, const double *v, double *g, double *in,
                            double *out) {
    return t > broken ? CAROM_USER : sound.speed->observe(m, w, t, q, v, g, in, out);
}

static carom_status force(const void *m, void *w, double t, const double *q, const double *v, double *f) {
    return t > broken ? CAROM_USER : sound.force(m, w, t, q, v, f);
}

static carom_sim *start(const carom_model *m, const carom_system *sys, const char *scheme, bool adapts) {
    static const char *const adaptive[] = {"adaptive=on", "rtol=1e-3", NULL};
    carom_error err = {0};
    carom_sim_def d = sim_def(m, scheme, ignoring_impacts(scheme, sys, adapts ? adaptive : NULL), 1.0 / 256, 0.25);
    d.system = sys;
    return carom_sim_create(&d, &err);
}

static void same_state(const char *scheme, const carom_sim *a, const carom_sim *b) {
    const carom_now x = carom_sim_now(a), y = carom_sim_now(b);
    const size_t n = (size_t)carom_sim_system(a)->nv;
    if (x.t != y.t || memcmp(x.q, y.q, n * sizeof *x.q) != 0 || memcmp(x.v, y.v, n * sizeof *x.v) != 0)
        fail_msg("%s: the state at %g is another one after a failure", scheme, x.t);
}

static void same_books(const char *scheme, carom_sim *a, carom_sim *b) {
    carom_ledger l[2];
    carom_error err = {0};
    assert_int_equal(carom_sim_ledger(a, &l[0], &err), CAROM_OK);
    assert_int_equal(carom_sim_ledger(b, &l[1], &err), CAROM_OK);
    const double x[] = {l[0].energy.impact,   l[0].energy.friction, l[0].energy.damping,
                        l[0].energy.external, l[0].energy.lost,     l[0].energy.created,
                        l[0].kinetic,         (double)l[0].impacts, (double)l[0].steps};
    const double y[] = {l[1].energy.impact,   l[1].energy.friction, l[1].energy.damping,
                        l[1].energy.external, l[1].energy.lost,     l[1].energy.created,
                        l[1].kinetic,         (double)l[1].impacts, (double)l[1].steps};
    static const char *const names[] = {"impact",  "friction", "damping", "external", "lost",
                                        "created", "kinetic",  "impacts", "steps"};
    for (size_t i = 0; i < sizeof x / sizeof *x; ++i)
        if (x[i] != y[i]) fail_msg("%s: %s is %.17g, after a failure %.17g", scheme, names[i], x[i], y[i]);
}

// All that is kept, but what counts work, which was done in vain, too, and which gaps the next step looks at more
// closely: all, where those at its start were not known.
static unsigned char *kept_of(const carom_sim *sim, size_t *size) {
    const void *state = carom_sim_state(sim, size);
    unsigned char *copy = malloc(*size);
    memcpy(copy, state, *size);
    carom_kept *k = (carom_kept *)(void *)copy;
    const carom_counts *c = &k->ledger.counts;
    k->ledger.counts = (carom_counts){.residual = c->residual,
                                      .residual_id = c->residual_id,
                                      .accepted = c->accepted,
                                      .accepted_residual = c->accepted_residual};
    k->ledger.rejected = 0;
    k->near = 0;
    return copy;
}

static void same_kept(const char *model, const char *scheme, const carom_sim *a, const carom_sim *b) {
    size_t size, other;
    unsigned char *x = kept_of(a, &size), *y = kept_of(b, &other);
    assert_int_equal(size, other);
    for (size_t i = 0; i < size; ++i)
        if (x[i] != y[i])
            fail_msg("%s, %s, step %ld: byte %zu of what is kept is another one after a failure (the ledger is at %zu, "
                     "positions at %zu)",
                     model, scheme, a->kept->n, i, offsetof(carom_kept, ledger),
                     (size_t)((unsigned char *)a->q - (unsigned char *)a->kept));
    free(x), free(y);
}

// Every few steps one fails twice, after the scheme has done it; then it succeeds.  The other run has no failure.
static int fail_and_go_on(const carom_model *m, const char *scheme, bool adapts) {
    carom_system failing = *carom_model_system(m);
    carom_extensions own;
    sound = failing;
    carom_system_extend(&failing, &own);
    if (failing.power) failing.power = power;
    if (failing.speed->observe) own.speed.observe = observe;
    carom_sim *a = start(m, &sound, scheme, adapts), *b = start(m, &failing, scheme, adapts);
    int failures = 0;
    assert_true(!a == !b);
    for (int i = 0; a && !carom_sim_done(a) && i < 1000; ++i) {
        sim_step(a);
        for (int k = 0; k < 2 && i % 5 > 1; ++k) {
            carom_error err = {0};
            broken = carom_sim_now(b).t;
            if (carom_sim_step(b, &err) == CAROM_OK)
                fail_msg("%s: a step without power, at %g, is taken for one", scheme, broken);
            ++failures;
        }
        broken = HUGE_VAL;
        if (carom_sim_now(b).t < carom_sim_now(a).t) sim_step(b);
        same_state(scheme, a, b), same_books(scheme, a, b), same_kept("bodies on a floor", scheme, a, b);
    }
    carom_sim_destroy(a);
    carom_sim_destroy(b);
    return failures;
}

static void a_failed_step_leaves_nothing_behind(void **state) {
    (void)state;
    for (int i = 0; i < 2; ++i) {
        carom_model *m = good(i ? lifted : text);
        int failures = 0;
        broken = HUGE_VAL;
        for (const carom_scheme *const *s = carom_schemes(); *s; ++s)
            // those with steps of their own look for a short one for long
            if (i == 0 || !(*s)->controls_own_steps) failures += fail_and_go_on(m, (*s)->name, false);
        assert_true(failures > 100);
        assert_true(fail_and_go_on(m, "moreau-explicit", true) > 10);
        carom_model_destroy(m);
    }
}

// -- every call of the model fails once -------------------------------------------------------------------------------

static long calls, refused_at; // 0: none
static long spent;             // calls of a pair of model and scheme

static bool refused(void) { return ++spent, ++calls == refused_at; }

// Functions that cannot fail are as they were.
#define REFUSE_carom_status(call) (refused() ? CAROM_USER : (call))
#define REFUSE_double(call) (call)
#define REFUSING(type, group, name, weight, parameters, arguments) \
    static type refusing_##name parameters { return REFUSE_##type(sound.CALLED_##group(name) arguments); }
COUNTED_ALL(REFUSING)
#undef REFUSING
static carom_status refusing_works(const void *m, void *w, double t, const double *q, const double *v,
                                   double *power_of) {
    return refused() ? CAROM_USER : sound.accounts->works(m, w, t, q, v, power_of);
}
static carom_status refusing_sample(const void *m, void *w, int k, bool effect, double t, const double *q,
                                    const double *v, double *x) {
    return refused() ? CAROM_USER : sound.signals->sample(m, w, k, effect, t, q, v, x);
}
static carom_status refusing_list(const void *m, carom_list *l, double t, const double *q, const double *v, double h) {
    return refused() ? CAROM_USER : sound.contact_list->search(m, l, t, q, v, h);
}

static carom_system refusing(const carom_system *sys) {
    static carom_extensions own;
    carom_system s = sound = *sys;
    carom_system_extend(&s, &own);
#define REFUSING(type, group, name, weight, parameters, arguments) \
    if (s.CALLED_##group(name)) SET_##group(s, own, name) = refusing_##name;
    COUNTED_ALL(REFUSING)
#undef REFUSING
    if (s.accounts->works) own.accounts.works = refusing_works;
    if (s.signals->sample) own.signals.sample = refusing_sample;
    if (s.contact_list->search) own.list.search = refusing_list;
    return s;
}

// A step whose call number 1, 2, 3, 5, 8 ... fails, until there are no more.  A scheme that helps itself goes back and
// does not count.  How many steps failed.
static int insist(carom_sim *sim) {
    int failures = 0;
    long now = 1, next = 2;
    size_t size;
    const void *state = carom_sim_state(sim, &size);
    void *before = malloc(size);
    memcpy(before, state, size);
    for (bool whole = false; !whole; ) {
        carom_error err = {0};
        calls = 0, refused_at = now;
        const carom_status status = carom_sim_step(sim, &err);
        whole = calls < now;
        refused_at = 0;
        failures += status != CAROM_OK;
        if (!whole && status == CAROM_OK) assert_int_equal(carom_sim_restore(sim, before, size, &err), CAROM_OK);
        if (whole && status != CAROM_OK) fail_msg("%s: %s", carom_sim_scheme(sim)->name, err.text);
        const long sum = now + next;
        now = next, next = sum;
    }
    free(before);
    return failures;
}

static int refuse_and_go_on(const example *x, const carom_model *m, const char *scheme, bool adapts) {
    enum { STEPS = 6, MOST = 3000 }; // calls: some schemes need many for a step
    static const char *const adaptive[] = {"adaptive=on", "rtol=1e-2", "atol=1e-2", NULL};
    const carom_system failing = refusing(carom_model_system(m));
    carom_error err = {0};
    carom_sim_def d =
        sim_def(m, scheme, ignoring_impacts(scheme, &sound, adapts ? adaptive : NULL), x->h, x->h * x->steps);
    d.system = &sound;
    carom_sim *a = carom_sim_create(&d, &err);
    d.system = &failing;
    carom_sim *b = a ? carom_sim_create(&d, &err) : NULL;
    int failures = 0;
    spent = 0;
    for (int i = 0; b && i < STEPS && spent < MOST && !carom_sim_done(a); ++i) {
        if (carom_sim_step(a, &err) != CAROM_OK) break;
        failures += i % 3 == 1 ? insist(b) : (sim_step(b), 0);
        same_kept(x->name, scheme, a, b);
    }
    carom_sim_destroy(a);
    carom_sim_destroy(b);
    return failures;
}

// Each model with some of the schemes, all of them in turn.
static void whatever_fails_leaves_nothing_behind(void **state) {
    (void)state;
    enum { EACH = BRIEF ? 18 : 6 };
    int failures = 0, adaptive = 0;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; ++i) {
        carom_model *m = good(examples[i].text);
        for (int k = 0; carom_schemes()[k]; ++k) {
            const carom_scheme *s = carom_schemes()[k];
            if (((size_t)k + i) % EACH == 0) failures += refuse_and_go_on(examples + i, m, s->name, false);
            if (((size_t)k + i) % 8 == 0 && !(s->limitations & CAROM_NO_ADAPTIVE))
                adaptive += refuse_and_go_on(examples + i, m, s->name, true);
        }
        carom_model_destroy(m);
    }
    print_message("    %d steps failed, %d of adaptive ones\n", failures, adaptive);
    assert_true(failures > 6000 / EACH && adaptive > 10); // most adaptive steps try a shorter one
}

// What a record takes from a state is the same after a step has failed: a last row at the last good state shows its
// reactions.
static void a_failed_step_leaves_the_reactions_of_the_last_one(void **state) {
    (void)state;
    carom_model *m = good(text);
    carom_system failing = sound = *carom_model_system(m);
    int positions = 0;
    carom_extensions own;
    carom_system_extend(&failing, &own);
    failing.force = force, own.speed.motion = NULL, own.speed.free_motion = NULL, own.speed.motion_directions = NULL;
    for (const carom_scheme *const *s = carom_schemes(); *s; ++s) {
        carom_error err = {0};
        broken = HUGE_VAL;
        carom_sim *sim = start(m, &failing, (*s)->name, false);
        if (!sim) continue;
        for (int i = 0; i < 12; ++i) sim_step(sim);
        const carom_now a = carom_sim_now(sim);
        const int n = a.dir[2];
        double lasting[8], nu[8] = {0};
        assert_true(n <= 8);
        memcpy(lasting, a.lasting, (size_t)n * sizeof *lasting);
        if (a.nu) memcpy(nu, a.nu, (size_t)n * sizeof *nu);
        broken = a.t;
        if (carom_sim_step(sim, &err) != CAROM_OK) {
            const carom_now b = carom_sim_now(sim);
            if (memcmp(lasting, b.lasting, (size_t)n * sizeof *lasting) != 0)
                fail_msg("%s: other lasting forces after a failure", (*s)->name);
            if (b.nu && memcmp(nu, b.nu, (size_t)n * sizeof *nu) != 0)
                fail_msg("%s: nu is %g, and after a failure %g", (*s)->name, nu[0], b.nu[0]);
            for (int i = 0; i < n; ++i) positions += nu[i] != 0;
        }
        carom_sim_destroy(sim);
    }
    assert_true(positions > 0);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_step_leaves_nothing_behind),
        cmocka_unit_test(whatever_fails_leaves_nothing_behind),
        cmocka_unit_test(a_failed_step_leaves_the_reactions_of_the_last_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

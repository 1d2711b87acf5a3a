// test_every_scheme.c: every scheme on every shipped mechanism of bodies, joints, shapes and flexible members.
//
// A scheme either declines what it lacks, before it runs and in words, or it runs: no step fails for good, gaps and
// joints stay as near to zero as its level promises, energy that nobody accounts for stays small.  Without an argument
// the first steps of each pair; with "long" the whole motion, where it is affordable, and each pair that takes a second
// or more is reported when it ends; "long 2/8" is the second of eight parts, which have pairs in turn.  What a scheme
// promises stands in its table (carom_promises); docs/choosing-a-scheme.md tells the steps.
#include "ignoring.h"
#include "base/option.h"
#include "model_text.h"
#include "sim/inspect.h"
#include <carom/event.h>
#include <time.h>

static bool at_length; // "long"
static int part = 1, parts = 1, unit; // of pairs, counted in order
enum { FIRST_STEPS = BRIEF ? 8 : 40 };

// -- what runs with what ----------------------------------------------------------------------------------------------

// Lengths, and steps in place of the model's own; 0: that one serves.
typedef struct mechanism {
    const char *name;
    double size;  // of its smallest moving part, or its play where that is what matters
    double first; // step of schemes whose reactions, or whose free rotation, are of first order
    double stiff; // step of schemes whose step the fastest vibration limits
    double piles; // many dependent contacts with friction: the time up to which costly schemes are run
    double quiet; // the same: schemes that are not made for them
} mechanism;

static const mechanism mechanisms[] = {
    {.name = "chain", .size = 0.1, .first = 5e-4},
    {.name = "chain-drum", .size = 0.06},
    {.name = "dominoes", .size = 0.0075, .piles = 0.2, .quiet = 0.2},
    {.name = "euler-disk", .size = 0.0375, .first = 5e-5},
    {.name = "falling-top", .size = 0.04},
    {.name = "flexible-rod", .size = 0.1, .stiff = 2e-6},
    {.name = "four-bar", .size = 0.1, .first = 2.5e-4},
    {.name = "four-bar-clearance", .size = 0.1},
    {.name = "gear-rattle", .size = 0.05},
    {.name = "newtons-cradle", .size = 0.02},
    {.name = "rotor", .size = 1e-3},
    {.name = "slider-crank-bodies", .size = 0.05},
    {.name = "slider-crank-clearance", .size = 0.05},
    {.name = "spinning-top", .size = 0.1, .first = 1e-4},
    {.name = "stack", .size = 0.1, .piles = 0.65, .quiet = 0.2},
    {.name = "woodpecker", .size = 0.01},
};

// A reaction that acts as one impulse per step brakes by the order of h.
static double gain_of(const carom_promises *p) { return p->gain > 0 ? p->gain : 0.01; }
static double loss_of(const carom_promises *p) { return p->loss > 0 ? p->loss : p->joint_order < 2 ? 0.2 : 0.01; }

// -- one pair ---------------------------------------------------------------------------------------------------------

// What the model needs and a scheme may lack.
static unsigned needs(const carom_system *sys) {
    unsigned lacks = sys->ne > 0 ? CAROM_NO_BILATERAL : 0;
    for (int i = 0; i < sys->nc; ++i) {
        if (sys->contacts[i].friction > 0) lacks |= CAROM_NO_FRICTION;
        if (sys->contacts[i].restitution != sys->contacts[0].restitution) lacks |= CAROM_NO_UNEQUAL_RESTITUTION;
    }
    return lacks;
}

// Reactions of joints are of first order, or those of contacts are: impulses that act step by step.
static double step_size(const mechanism *m, const carom_scheme *p, const carom_system *sys, double own) {
    const bool first = p->promises.joint_order < 2 || (p->impulses && sys->nc > 0);
    double h = own;
    if (first && m->first > 0) h = fmin(h, m->first);
    if (p->promises.limited_steps && m->stiff > 0) h = fmin(h, m->stiff);
    return h;
}

static carom_sim *create(const carom_model *model, const carom_scheme *p, double h, double end, carom_error *err) {
    carom_sim_def d = carom_sim_default();
    d.system = carom_model_system(model);
    d.schemes = carom_schemes();
    d.scheme = p->name;
    const char *option[16] = {p->promises.option};
    d.options = ignoring_impacts(p->name, d.system, option);
    d.h = h;
    d.t_end = end;
    d.q0 = carom_model_q0(model);
    d.v0 = carom_model_v0(model);
    return carom_sim_create(&d, err);
}

// The largest kinetic energy and approach velocity on the way.
typedef struct seen {
    double kinetic, approach;
} seen;

static void look(carom_sim *sim, double *u, seen *s) {
    const carom_system *sys = carom_sim_system(sim);
    const carom_now now = carom_sim_now(sim);
    carom_error err = {0};
    double kinetic = 0, potential = 0;
    assert_int_equal(carom_sim_energy(sim, &kinetic, &potential, &err), CAROM_OK);
    assert_int_equal(carom_sim_velocities(sim, u, &err), CAROM_OK);
    s->kinetic = fmax(s->kinetic, kinetic);
    for (int id = sys->ne; id < sys->ne + sys->nc; ++id) s->approach = fmax(s->approach, -u[now.dir[id]]);
}

#define REFUSE(...)                                                                                                    \
    do {                                                                                                               \
        print_error("%s by %s, h = %g: ", m->name, p->name, h);                                                      \
        print_error(__VA_ARGS__);                                                                                      \
        print_error("\n");                                                                                             \
        return false;                                                                                                  \
    } while (0)

// A contact on velocity level enters by what it covers in one step; what is closed, and joints, may be off by a
// hundredth of the mechanism. Energy is seen at step ends: of a motion that has just begun the work of one step is a
// good part.
static bool kept(const mechanism *m, const carom_scheme *p, double h, double end, carom_sim *sim, const seen *s) {
    carom_ledger l;
    carom_error err = {0};
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    // time-stepping where contacts contradict each other
    const bool stepped = p->emits_events && l.counts.fallbacks > 0;
    // the stack starts 1e-9 deep
    const double exact = 2e-9, tolerance = p->controls_own_steps
                                               ? 3 * sqrt(p->options[carom_option_find(p->options, "rtol", 4)].fallback)
                                               : 0;
    const double closed = p->promises.contacts == CAROM_POSITION_LEVEL && !stepped ? exact + tolerance * m->size
                                                                                   : h * s->approach + 0.01 * m->size;
    if (!(l.penetration <= closed))
        REFUSE("enters by %g at t = %g, allowed %g", l.penetration, l.penetration_t, closed);
    const double joints = p->promises.joints == CAROM_POSITION_LEVEL && !stepped
                              ? exact * m->size
                              : (p->promises.joint_order < 2 ? 0.05 : 0.03) * m->size;
    if (!(l.drift <= joints)) REFUSE("joints drift by %g at t = %g, allowed %g", l.drift, l.drift_t, joints);
    const double energy = s->kinetic + l.energy.impact + l.energy.friction + l.energy.damping;
    const double gain = gain_of(&p->promises) + h / end, loss = loss_of(&p->promises) + h / end;
    if (!(l.energy.balance <= gain * energy))
        REFUSE("gains %g of %g J, allowed %g of it", l.energy.balance, energy, gain);
    if (!(-l.energy.balance <= loss * energy))
        REFUSE("loses %g of %g J without account, allowed %g of it", -l.energy.balance, energy, loss);
    if (!(l.counts.residual < 1e-6)) REFUSE("leaves a residual of %g in contact laws", l.counts.residual);
    return true;
}

static bool pair_runs(const mechanism *m, const carom_scheme *p, const carom_model *model) {
    const carom_system *sys = carom_model_system(model);
    const carom_model_run own = carom_model_simulation(model);
    const double h = step_size(m, p, sys, own.step);
    // joints held by accelerations drift with t^2
    double end = at_length && p->promises.joints != CAROM_ACCELERATION_LEVEL ? own.end : fmin(own.end, FIRST_STEPS * h);
    if (p->promises.slow_piles && m->piles > 0) end = fmin(end, m->piles);
    if (p->promises.no_piles && m->quiet > 0) end = fmin(end, m->quiet);
    carom_error err = {0};
    carom_sim *sim = create(model, p, h, end, &err);
    if (p->limitations & needs(sys)) {
        if (sim) REFUSE("runs, but lacks what this model needs");
        if (!strstr(err.text, p->name) || !strstr(err.text, "does not support")) REFUSE("declines with '%s'", err.text);
        return true;
    }
    if (!sim) REFUSE("%s", err.text);
    // runs, with a warning: nothing is promised about impacts
    const bool counter = p->limitations & CAROM_NO_IMPACTS && sys->nc > 0;
    if (counter && !carom_sim_warning(sim)) REFUSE("ignores restitution without a warning");
    double *u = calloc((size_t)carom_sim_now(sim).dir[sys->ne + sys->nc] + 1, sizeof *u);
    assert_non_null(u);
    seen s = {0};
    look(sim, u, &s);
    carom_status status = CAROM_OK;
    const clock_t began = clock();
    while (status == CAROM_OK && !carom_sim_done(sim)) {
        status = carom_sim_step(sim, &err);
        if (status == CAROM_OK) look(sim, u, &s);
    }
    free(u);
    const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    if (at_length && seconds >= 1)
        print_message("%s by %s, h = %g: to t = %g in %.0f s\n", m->name, p->name, h, carom_sim_now(sim).t, seconds);
    const bool good = counter || (status == CAROM_OK && kept(m, p, h, end, sim, &s));
    if (status != CAROM_OK && !counter) print_error("%s by %s, h = %g: %s\n", m->name, p->name, h, err.text);
    carom_sim_destroy(sim);
    return good;
}

// -- all of them ------------------------------------------------------------------------------------------------------

static void every_scheme_runs_every_mechanism_or_declines_it_in_words(void **state) {
    (void)state;
    int bad = 0;
    for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms; ++i) {
        carom_model *model = shipped_model(mechanisms[i].name);
        for (int k = 0; carom_scheme_at(k); ++k)
            if (unit++ % parts == part - 1) bad += !pair_runs(&mechanisms[i], carom_scheme_at(k), model);
        carom_model_destroy(model);
    }
    assert_int_equal(bad, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheme_runs_every_mechanism_or_declines_it_in_words),
    };
    at_length = argc > 1 && strcmp(argv[1], "long") == 0;
    if ((argc > 2 && sscanf(argv[2], "%d/%d", &part, &parts) != 2) || part < 1 || part > parts)
        return fprintf(stderr, "test_every_scheme [long [1/8 .. 8/8]]\n"), 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    return cmocka_run_group_tests_name("every scheme on every mechanism", tests, NULL, NULL);
}

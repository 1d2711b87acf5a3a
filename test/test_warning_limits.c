// test_warning_limits.c: warnings begin where their limits are: 1 % below there is none, 1 % above there is.
//
// Ledgers are made up, of a run whose forces, speeds and sizes are known: every limit is a product of the constants in
// diagnosis/warnings.c and of numbers given here.
#define _POSIX_C_SOURCE 200809L
#include "model_text.h"
#include "sim/sim.h"
#include <carom/event.h>
#include <time.h>

typedef struct setting {
    const char *scheme, *option;
    double force, h, end;    // on a mass of 1 kg, away from the wall; unit = 1/2 J at 1 m/s, a = force
    double at, speed, taken; // position; largest velocity of the run, and that contact problems had to take away, if
                             // that is more
    double explained, first; // energy that was accounted for, and that of one step at the start
    double radius;           // of what touches; 0: not known
    bool shut;               // the contact touches at the start
    double uneven;           // half the sum of what the work of damping changed by from step to step
} setting;

static const setting PLAIN = {.scheme = "moreau-midpoint", .h = 0.1, .end = 1, .explained = 100},
                     LOCATED = {.scheme = "mixed", .h = 0.1, .end = 1, .explained = 100},
                     OWN = {.scheme = "event-driven", .h = 0.1, .end = 1, .explained = 100};

static double radius; // what radius_of() answers
static double radius_of(const void *user, long long id) { return (void)user, (void)id, radius; }

static carom_sim *sim_of(const setting *x, carom_model **m) {
    char text[400];
    carom_error err = {0};
    snprintf(text, sizeof text,
             "carom: 1\ncoordinates: {x: {at: %.17g, rate: 0}}\nenergy: {kinetic: x'^2/2}\nforces: {x: "
             "%.17g}\ncontacts: {wall: {gap: x + 1}}\n",
             x->at, x->force);
    *m = good(text);
    const char *const options[] = {x->option, NULL};
    carom_sim_def sd = carom_sim_default();
    sd.system = carom_model_system(*m), sd.schemes = carom_schemes(), sd.scheme = x->scheme,
    sd.options = x->option ? options : NULL;
    sd.h = x->h, sd.t_end = x->end, sd.q0 = carom_model_q0(*m), sd.v0 = carom_model_v0(*m), sd.size = radius_of;
    carom_sim *sim = carom_sim_create(&sd, &err);
    if (!sim) fail_msg("%s", err.text);
    radius = x->radius;
    sim->kept->fastest = x->speed, sim->kept->speed = fmax(x->speed, x->taken), sim->kept->explained = x->explained,
    sim->kept->one_step = x->first, sim->kept->uneven = x->uneven;
    if (x->shut) sim->gaps.first[0] = 0;
    sim->kept->t = x->end; // as at the end of the run, but for the state
    return sim;
}

// A sound run, in which 100 J moved and the gap was up to 1 m.
static carom_ledger sound(void) {
    carom_ledger l = {.steps = 10,
                      .impacts = 1,
                      .kinetic = 100,
                      .gap = 1,
                      .penetration_id = 0,
                      .drift_id = -1,
                      .counts.residual_id = 0};
    l.energy.start = l.energy.end = 100;
    return l;
}

static void balance(carom_ledger *l) {
    l->energy.balance = l->energy.end - l->energy.start - l->energy.external + l->energy.impact + l->energy.friction +
                        l->energy.damping;
}

// The text of the first warning of this kind; NULL: none.
static const char *said(const carom_sim *sim, const carom_ledger *l, const char *kind) {
    static carom_warning list[CAROM_WARNINGS];
    const int n = carom_sim_warnings(sim, l, list);
    for (int i = 0; i < n; ++i)
        if (strcmp(list[i].kind, kind) == 0) return list[i].text;
    return NULL;
}

// What varies.
static void accepted(carom_ledger *l, double x) { l->counts.accepted = 1, l->counts.accepted_residual = x; }
static void created(carom_ledger *l, double x) { l->energy.created = x; }
static void grown(carom_ledger *l, double x) { l->energy.end += x, balance(l); }
static void faded(carom_ledger *l, double x) { l->energy.end -= x, balance(l); }
static void overlap(carom_ledger *l, double x) { l->penetration = x; }
static void moved(carom_ledger *l, double x) { l->moved = x; }
static void residual(carom_ledger *l, double x) { l->counts.residual = x; }
// Damping has taken 1000 J more than was there, x of which nothing explains.
static void overdraw(carom_ledger *l, double x) {
    l->energy.damping = 1000 + x, l->energy.end = l->energy.start - 1000, balance(l);
}
static void damped(carom_ledger *l, double x) { l->energy.damping = x, l->energy.end -= x, balance(l); }
static void unbalanced(carom_ledger *l, double x) { l->energy.damping = 100, l->energy.end = x, balance(l); }
static void toil(carom_ledger *l, double x) { l->counts.substeps = (long)x; }

// kind begins at the limit, with `above` in its text; below there is none, or one with `below`.
static void begins_saying(const setting *x, carom_ledger l, void (*set)(carom_ledger *l, double x), double limit,
                          const char *kind, const char *below, const char *above, int line) {
    carom_model *m;
    carom_sim *sim = sim_of(x, &m);
    for (int over = 0; over < 2; ++over) {
        carom_ledger one = l;
        set(&one, limit * (over ? 1.01 : 0.99));
        const char *text = said(sim, &one, kind), *want = over ? above : below;
        if ((text != NULL) != (want != NULL) || (text && !strstr(text, want)))
            fail_msg("line %d: %s, %s of the limit %g: %s", line, kind, over ? "101 %" : "99 %", limit,
                     text ? text : "no warning");
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}
#define BEGINS(x, l, set, limit, kind) begins_saying(&(x), l, set, limit, kind, NULL, "", __LINE__)
#define TURNS(x, l, set, limit, kind, below, above) begins_saying(&(x), l, set, limit, kind, below, above, __LINE__)

static void nothing_is_said_of_a_sound_run(void **state) {
    (void)state;
    const setting all[] = {PLAIN, LOCATED, OWN};
    for (int i = 0; i < 3; ++i) {
        carom_model *m;
        carom_warning list[CAROM_WARNINGS];
        carom_sim *sim = sim_of(&all[i], &m);
        const carom_ledger l = sound();
        assert_int_equal(carom_sim_warnings(sim, &l, list), 0);
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
}

static void energy_created(void **state) {
    (void)state;
    carom_ledger l = sound();
    setting x = PLAIN;
    BEGINS(PLAIN, l, created, 1e-2 * 100, "energy-created");
    BEGINS(LOCATED, l, created, 1e-3 * 100, "energy-created");
    l.energy.start = l.energy.end = -1e17; // known to 1e-13 of it
    BEGINS(PLAIN, l, created, 1e4, "energy-created");
    l = sound(), l.energy.start = 0, l.energy.end = l.energy.external = 1e17; // and what passed through counts
    BEGINS(PLAIN, l, created, 1e-2 * 1e17, "energy-created");
    l = sound(), l.kinetic = 0, l.energy.start = l.energy.end = 0,
    x.force = 1e7; // 1e-9 of what the force gives in a step, 1/2 (1e6 m/s)^2: 500 J
    BEGINS(x, l, created, 1e-2 * 500, "energy-created");
    x.speed = 1e6, l.counts.residual = 1e-6; // the work of the force on that velocity, in 1 s
    BEGINS(x, l, created, 10, "energy-created");
    l.counts.residual = 10; // more than 1e-6 of the speed: `unconverged` tells of the rest
    BEGINS(x, l, created, 1e7, "energy-created");
}

static void energy_that_appears(void **state) {
    (void)state;
    static const char trust[] = "Do not trust this result", first[] = "the error of first order",
                      taken[] = "damping dissipated";
    carom_ledger l = sound();
    setting x = PLAIN;
    TURNS(PLAIN, l, grown, 0.02 * 100, "unaccounted-energy", NULL, trust);
    TURNS(LOCATED, l, grown, 0.02 * 100, "unaccounted-energy", NULL, trust);
    x.explained = 0, x.force = 1e7; // where nothing moves: 1e-9 of 5e11 J
    TURNS(x, l, grown, 0.02 * 500, "unaccounted-energy", NULL, first);
    // What passes through is known to a hundredth of it, energies to 1e-13.
    l.energy.external = 1e5, l.energy.end = 1e5 + 100;
    TURNS(PLAIN, l, grown, 1000, "unaccounted-energy", NULL, trust);
    l = sound(), l.energy.external = 1e5, l.energy.friction = 6e4, l.energy.damping = 3e4, l.energy.impact = 1e4;
    TURNS(PLAIN, l, grown, 2000, "unaccounted-energy", NULL, trust);
    l = sound(), l.energy.start = l.energy.end = -1e15;
    TURNS(PLAIN, l, grown, 100, "unaccounted-energy", NULL, trust);
    l = sound(), l.energy.start = l.energy.end = -1e15;
    TURNS(PLAIN, l, grown, 100, "unaccounted-energy", NULL, trust);
    // What damping gives, and external work that takes, explain nothing: they only take.  Impacts that created energy
    // do.
    l = sound(), l.energy.friction = -1000, l.energy.end = 1100;
    TURNS(PLAIN, l, created, 1, "unaccounted-energy", trust, trust);
    l = sound(), l.energy.damping = -1000, l.energy.end = 1100; // damping of active forces does
    TURNS(PLAIN, l, grown, 0.01 * 1000, "unaccounted-energy", NULL, trust);
    l = sound(), l.energy.impact = -1000, l.energy.end = 1100, l.impulses.created = 1000;
    TURNS(PLAIN, l, grown, 0.01 * 1000, "unaccounted-energy", NULL, trust);
    // Damping that took half as much again as there was.
    TURNS(PLAIN, sound(), overdraw, 0.5 * 1000, "unaccounted-energy", trust, taken);
    // Errors of first order: 4 T h (1/2 k T_kin), with k = 4 1/s^2 80 J; and at most 4 times what moved.
    x = PLAIN, x.scheme = "moreau-explicit";
    l = sound(), l.pace[0].stiffness = 4;
    TURNS(x, l, grown, 0.02 * 100, "unaccounted-energy", NULL, first);
    TURNS(x, l, grown, 4 * 1 * 0.1 * 0.5 * 4 * 100, "unaccounted-energy", first, trust);
    x.explained = 10;
    TURNS(x, l, grown, 4 * 10, "unaccounted-energy", first, trust);
    x.explained = 100, x.force = 20, l.kinetic = 10; // and 4 T h (1/2 a^2) = 80 J, beside 4 T h 1/2 4 10 = 8 J
    TURNS(x, l, grown, 88, "unaccounted-energy", first, trust);
    x.end = 2;
    TURNS(x, l, grown, 176, "unaccounted-energy", first, trust);
    TURNS(PLAIN, l, grown, 0.02 * 100, "unaccounted-energy", NULL, first); // below 8 J, for 10 J that move
    x = LOCATED;
    TURNS(x, l, grown, 0.02 * 100, "unaccounted-energy", NULL, trust);
}

// At rest, below 1 % of it, the energy of forces in a step explains as much: 1/2 (h a)^2 = 50 J, up to those at the
// start, what moved and what was given.
static void energy_of_one_step(void **state) {
    (void)state;
    carom_ledger l = sound();
    setting x = PLAIN;
    x.force = 100, x.explained = 30, l.kinetic = 0.49;
    BEGINS(x, l, grown, 30, "unaccounted-energy");
    x.first = 5;
    BEGINS(x, l, grown, 35, "unaccounted-energy");
    l.energy.external = -3, l.energy.end = l.energy.start - 3;
    BEGINS(x, l, grown, 38, "unaccounted-energy");
    x.first = 1000;
    l = sound(), l.kinetic = 0.49;
    BEGINS(x, l, grown, 50, "unaccounted-energy");
    l.kinetic = 0.51; // it moves
    BEGINS(x, l, grown, 0.02 * 30, "unaccounted-energy");
    x.scheme = "mixed", l.kinetic = 0.49;
    BEGINS(x, l, grown, 0.02 * 30, "unaccounted-energy");
    // A scheme with a tolerance: of the work of all forces, or of that energy.
    x = OWN, x.option = "rtol=1e-3", x.force = 100, x.at = 1000, x.explained = 30;
    BEGINS(x, l, grown, 1e-3 * 100 * 1000, "unaccounted-energy");
    x.at = 0, x.force = 1e4, x.first = 1e9; // 5e5 J
    BEGINS(x, l, grown, 1e-3 * 5e5, "unaccounted-energy");
}

static void energy_that_disappears(void **state) {
    (void)state;
    static const char away[] = "are unaccounted for (lost)";
    carom_ledger l = sound();
    setting x = PLAIN;
    // Nothing vibrates, so nothing is damped: from a fiftieth on.
    TURNS(PLAIN, l, faded, 0.02 * 100, "unaccounted-energy", NULL, "forces or directions change too much");
    l.pace[0].stiffness = 4; // h omega = 0.2, which the scheme does not damp
    TURNS(PLAIN, l, faded, 0.02 * 100, "unaccounted-energy", NULL, "does not follow the motion");
    TURNS(LOCATED, l, faded, 0.02 * 100, "unaccounted-energy", NULL, away);
    TURNS(OWN, l, faded, 0.02 * 100, "unaccounted-energy", NULL, "Try smaller tolerances");
    x.explained = 0, x.force = 1e7; // a kinetic energy that came from nowhere is no measure
    TURNS(x, l, faded, 0.02 * 500, "unaccounted-energy", NULL, away);
    // theta = 1 damps a vibration of 100 rad/s away with steps of 0.1 s: from a fiftieth on.
    x = PLAIN, x.scheme = "moreau-jean", x.option = "theta=1";
    l = sound(), l.pace[0].stiffness = 1e4;
    TURNS(x, l, faded, 0.02 * 100, "resolution", NULL, "damps the model's vibration of 100 rad/s away");
    TURNS(x, l, faded, 0.5 * 100, "unaccounted-energy", NULL, "Numerical damping dominates"); // beyond half of it
    l.energy.external = 1e5, l.energy.end = 1e5 + 100; // known to a hundredth
    TURNS(x, l, faded, 1000, "resolution", NULL, "damps the model's vibration");
    l = sound(), l.pace[0].stiffness = 1e4, x.explained = 0, x.force = 1e7;
    TURNS(x, l, faded, 0.02 * 500, "resolution", NULL, "damps the model's vibration");
}

// A mode with which the scheme is not stable is a vibration or a decay, by which of its rates is larger.
static void fast_modes_are_named_by_their_larger_rate(void **state) {
    (void)state;
    static const struct {
        carom_pace pace;
        const char *says;
    } cases[] = {{{.stiffness = 1e4}, "a vibration of 100 rad/s"},
                 {{.stiffness = 1e4, .damping = 99}, "a vibration of 100 rad/s"},
                 {{.stiffness = 1e4, .damping = 101}, "a decay at the rate 101 1/s"},
                 {{.damping = 1e3}, "a decay at the rate 1e+03 1/s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        carom_model *m;
        carom_sim *sim = sim_of(&PLAIN, &m);
        carom_ledger l = sound();
        l.pace[0] = cases[i].pace;
        const char *text = said(sim, &l, "resolution");
        if (!text || !strstr(text, cases[i].says)) fail_msg("%s, not %s", text ? text : "nothing", cases[i].says);
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
}

// A mode of 1e31 rad/s: what the scheme makes of it is found out without halving each of the steps that are tried down
// to the last, which takes seconds.
static void modes_beyond_all_steps_are_soon_known(void **state) {
    (void)state;
    setting x = PLAIN;
    x.scheme = "moreau-jean";
    carom_model *m;
    carom_sim *sim = sim_of(&x, &m);
    carom_ledger l = sound();
    l.pace[0] = (carom_pace){.stiffness = 1e62, .damping = 1e60};
    l.pace[1] = (carom_pace){.damping = 1e60};
    const clock_t start = clock();
    said(sim, &l, "resolution");
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (seconds > 1) fail_msg("%g s", seconds);
    carom_sim_destroy(sim), carom_model_destroy(m);
}

// Damping of 2 D/uneven steps at a time, which is too few below 4; below 10 where a tenth of the largest kinetic
// energy, 10 J, is unaccounted for.  Less than that tenth is no matter.
static void damping_in_pulses(void **state) {
    (void)state;
    static const char text[] = "damping dissipated";
    setting x = PLAIN;
    x.uneven = 40;
    TURNS(x, sound(), damped, 80, "resolution", text, NULL);
    x.uneven = 9.9;
    TURNS(x, sound(), damped, 10, "resolution", NULL, NULL);
    x.uneven = 10.1;
    TURNS(x, sound(), damped, 10, "resolution", text, text);
    x.uneven = 20.1; // 100 J in pulses of just under 10 steps
    TURNS(x, sound(), unbalanced, 10, "resolution", NULL, text);
    x.uneven = 19.9;
    TURNS(x, sound(), unbalanced, 10, "resolution", NULL, NULL);
    x.uneven = 40, x.scheme = "mixed"; // it integrates the work between the events inside its steps
    TURNS(x, sound(), damped, 10, "resolution", NULL, NULL);
}

static void penetration(void **state) {
    (void)state;
    carom_ledger l = sound();
    setting x = PLAIN;
    TURNS(PLAIN, l, overlap, 0.1 * 1, "penetration", NULL, "where the largest gap of the run is 1");
    BEGINS(LOCATED, l, overlap, 1e-3 * 1, "penetration");
    TURNS(OWN, l, overlap, 1e-3 * 1, "penetration", NULL, "max-step=");
    x.at = 1e5; // positions round to a millionth
    BEGINS(x, l, overlap, 0.1 + 0.1, "penetration");
    x = PLAIN, x.radius = 2;
    TURNS(x, l, overlap, 0.1 * 2, "penetration", NULL, "where the smaller shape has a radius of 2");
    x.at = 1e7;
    BEGINS(x, l, overlap, 0.1 * 2, "penetration");
    x.speed = 1e9; // 1e-9 of the way of a step, 1e8 m
    BEGINS(x, l, overlap, 0.1 * 2 + 0.1, "penetration");
    // A contact that never opened by more than four steps, or never struck, may be off by four steps: 0.4 m.
    x = PLAIN, x.speed = 1, x.shut = true, l.gap = 0.396;
    BEGINS(x, l, overlap, 0.0396 + 0.4, "penetration");
    l.gap = 0.404;
    BEGINS(x, l, overlap, 0.0404, "penetration");
    l.gap = 1, l.impacts = 0;
    BEGINS(x, l, overlap, 0.1 + 0.4, "penetration");
    l.gap = -1, l.kinetic = 0; // never open at all
    BEGINS(x, l, overlap, 0.4, "penetration");
    l.kinetic = 8; // four steps of 4 m/s, with which a body follows its wall; where events are located that is no error
    BEGINS(x, l, overlap, 1.6, "penetration");
    x.scheme = "mixed";
    BEGINS(x, l, overlap, 0.4, "penetration");
    // One that was open at the start has a length, however long the steps are, and whether or not it was struck.
    x = PLAIN, x.speed = 100;
    l = sound();
    BEGINS(x, l, overlap, 0.1, "penetration");
    l.impacts = 0;
    BEGINS(x, l, overlap, 0.1, "penetration");
}

// Drift times reaction: a twentieth of the energy that moved, or has passed through; what stands still has its
// rounding.
static void begins_drifting(const setting *x, const carom_ledger l, double limit, int line) {
    carom_model *m;
    carom_sim *sim = sim_of(x, &m);
    for (int over = 0; over < 2; ++over) {
        sim->kept->joints.work = limit * (over ? 1.01 : 0.99), sim->kept->joints.force = 1000;
        const char *text = said(sim, &l, "drift");
        if ((text != NULL) != over)
            fail_msg("line %d: %s of the limit %g: %s", line, over ? "101 %" : "99 %", limit,
                     text ? text : "no warning");
    }
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static void drift_of_joints(void **state) {
    (void)state;
    carom_ledger l = sound();
    setting x = PLAIN;
    begins_drifting(&x, l, 0.02 * 100, __LINE__);
    l.energy.friction = 500, l.energy.external = -500;
    begins_drifting(&x, l, 0.02 * 1000, __LINE__);
    x.explained = 0, x.force = 1e6, l = sound(); // a millionth of what forces do in a step, 1/2 (1e5 m/s)^2
    begins_drifting(&x, l, 0.02 * 5e3, __LINE__);
    x.force = 0, x.at = 1e12; // of what rounding of the position is worth: 1e-12 1e12 m 1000 N
    begins_drifting(&x, l, 1000, __LINE__);
}

static void counts_and_residuals(void **state) {
    (void)state;
    carom_ledger l = sound();
    setting x = PLAIN;
    carom_model *m;
    x.speed = 2;
    BEGINS(x, l, residual, 1e-6 * 2, "unconverged");
    x.option = "tol=1e-4"; // no more is asked for
    BEGINS(x, l, residual, 1e-4 * 2, "unconverged");
    l = sound();
    BEGINS(PLAIN, l, accepted, 1e-8, "unconverged"); // below, it is less than the error of a step
    carom_sim *sim = sim_of(&PLAIN, &m);
    l.counts.residual = 1; // but nothing moves
    assert_null(said(sim, &l, "unconverged"));
    for (int n = 1; n <= 2; ++n) {
        l = sound(), l.counts.accepted = n, l.counts.accepted_residual = 1e-7, l.counts.missed = n,
        l.counts.missed_t = 0.25;
        assert_non_null(strstr(said(sim, &l, "unconverged"),
                               n == 1 ? "in 1 step a contact problem" : "in 2 steps a contact problem"));
        assert_non_null(
            strstr(said(sim, &l, "missed-contact"), n == 1 ? "in 1 step, first at" : "in 2 steps, first at"));
    }
    carom_sim_destroy(sim), carom_model_destroy(m);
    // Walls that signals move: a millionth of the largest gap; not where positions are held or events located.
    l = sound(), l.gap = 3;
    BEGINS(PLAIN, l, moved, 3e-6, "moved");
    l.moved = 1;
    static const char *const silent[] = {"mixed", "event-driven", "ggl-alpha"};
    for (int i = 0; i < 3; ++i) {
        x = PLAIN, x.scheme = silent[i];
        sim = sim_of(&x, &m);
        assert_null(said(sim, &l, "moved"));
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
    // A million internal steps, and a hundred for each step and impact.
    l = sound();
    BEGINS(OWN, l, toil, 1e6, "resolution");
    l.steps = 30000, l.impacts = 10000;
    BEGINS(OWN, l, toil, 4e6, "resolution");
    x = OWN, x.option = "max-step=0.01"; // asked for
    sim = sim_of(&x, &m);
    l.counts.substeps = 100000000;
    assert_null(said(sim, &l, "resolution"));
    carom_sim_destroy(sim), carom_model_destroy(m);
    // A warning names its contact and its time.
    sim = sim_of(&PLAIN, &m);
    carom_warning list[CAROM_WARNINGS];
    l = sound(), l.penetration = 1, l.penetration_t = 0.75;
    assert_int_equal(carom_sim_warnings(sim, &l, list), 1);
    assert_true(list[0].id == 0 && list[0].t == 0.75);
    for (int i = 0; i < 3; ++i) { // ids that are none
        l.penetration_id = i == 0 ? -1 : i == 1 ? 1 : 1000;
        assert_int_equal(carom_sim_warnings(sim, &l, list), 1);
        assert_int_equal(list[0].id, -1);
    }
    carom_sim_destroy(sim), carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_said_of_a_sound_run),
        cmocka_unit_test(energy_created),
        cmocka_unit_test(energy_that_appears),
        cmocka_unit_test(energy_of_one_step),
        cmocka_unit_test(energy_that_disappears),
        cmocka_unit_test(fast_modes_are_named_by_their_larger_rate),
        cmocka_unit_test(modes_beyond_all_steps_are_soon_known),
        cmocka_unit_test(damping_in_pulses),
        cmocka_unit_test(penetration),
        cmocka_unit_test(drift_of_joints),
        cmocka_unit_test(counts_and_residuals),
    };
    return cmocka_run_group_tests_name("limits of warnings", tests, NULL, NULL);
}

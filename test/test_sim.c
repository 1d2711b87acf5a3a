// test_sim.c: making and running a simulation: definitions that are refused, events, ledger, saved state, observers.
#define _POSIX_C_SOURCE 200809L // nanosleep
#include "schemes.h"
#include "sim/inspect.h"
#include "sim/sim.h"
#include "system/system.h"
#include <stdlib.h>
#include <time.h>

static void refused(carom_sim_def d, const char *because) {
    carom_error err = {0};
    carom_sim *sim = carom_sim_create(&d, &err);
    if (sim) fail_msg("taken, although: %s", because);
    assert_int_equal(err.code, CAROM_BAD_INPUT);
    if (!strstr(err.text, because)) fail_msg("'%s' does not say '%s'", err.text, because);
    assert_null(carom_sim_create(&d, NULL)); // nobody needs to listen
}

static void wrong_definitions_are_refused(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    const carom_sim_def good = known_run(&k, "moreau-jean", 0.1, 1);
    carom_sim_def d = good;
    d.system = NULL, refused(d, "needs a system");
    d = good, d.q0 = NULL, refused(d, "q0");
    d = good, d.h = 0, refused(d, "step size must be positive");
    d = good, d.h = NAN, refused(d, "step size must be positive");
    d = good, d.h = 1e-300, refused(d, "more than supported");
    d = good, d.t_end = 0, refused(d, "must lie after");
    d = good, d.t_end = INFINITY, refused(d, "must lie after");
    d = good, d.scheme = "moreau-jeam", refused(d, "did you mean 'moreau-jean'");
    d = good, d.scheme = "xyz", refused(d, "unknown scheme 'xyz'");
    d = good, d.options = (const char *const[]){"thetta=1", NULL}, refused(d, "did you mean 'theta'");
    d = good, d.options = (const char *const[]){"zzz=1", NULL},
    refused(d, "its options are: theta, gamma, at, gap, identity, closed, solver, tol, accept, newton-tol, adaptive, "
               "rtol, atol, estimate, violation");
    d = good, d.options = (const char *const[]){"theta", NULL}, refused(d, "key=value");
    d = good, d.options = (const char *const[]){"theta=2", NULL}, refused(d, "outside [0, 1]");
    d = good, d.options = (const char *const[]){"closed=maybe", NULL}, refused(d, "expected one of");
    known other;
    known_ball_a(&other);
    other.sys.mass = NULL;
    d = good, d.system = &other.sys, refused(d, "mass and force");
    carom_sim *sim = carom_sim_create(&good, NULL);
    assert_non_null(sim);
    carom_sim_destroy(sim);
    carom_sim_destroy(NULL);
}

// T = 1/2 v'M v where the system gives no energy; its potential counts as 0.
static void the_mass_matrix_gives_the_kinetic_energy(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 0.001, 0.4, 0.01, false);
    const carom_system with = k.sys;
    k.sys.energy = NULL;
    carom_sim *sim = sim_of(&k, "moreau-midpoint", NULL, 1e-4, 0.01);
    double T, V, want, ignored;
    carom_error err = {0};
    while (!carom_sim_done(sim)) {
        assert_int_equal(carom_sim_step(sim, &err), CAROM_OK);
        const carom_now now = carom_sim_now(sim);
        assert_int_equal(carom_sim_energy(sim, &T, &V, &err), CAROM_OK);
        assert_int_equal(with.energy(with.model, NULL, now.t, now.q, now.v, &want, &ignored), CAROM_OK);
        assert_true(want > 0 && fabs(T - want) <= 1e-12 * want && V == 0);
    }
    carom_sim_destroy(sim);
}

static void later_options_win_and_are_told(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    carom_sim *sim =
        sim_of(&k, "moreau-jean", (const char *const[]){"theta=1", "closed=strict", "theta=0.75", NULL}, 0.1, 1);
    char text[400], small[8];
    carom_sim_options_text(sim, text, sizeof text);
    assert_string_equal(text, "theta=0.75 gamma=0.5 at=end gap=position identity=on closed=strict solver=auto "
                              "tol=1e-08 accept=1e-08 newton-tol=1e-12 adaptive=off rtol=0.0001 atol=1e-06 "
                              "estimate=variable violation=on "
                        "safety=0.9 shrink=0.2 grow=2 extrapolate=off control=pi prox-r=0 prox-test=residual "
                        "prox-stop=0");
    carom_sim_options_text(sim, small, sizeof small);
    assert_string_equal(small, "theta=0");
    assert_string_equal(carom_sim_scheme(sim)->name, "moreau-jean");
    carom_sim_destroy(sim);
}

static void events_tell_the_story_of_the_ball(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    const double h = 1.3e-3;
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, h, 3077 * h);
    long impacts = 0, closings = 0, accumulations = 0;
    double speed = 2;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < now.nevents; ++i) {
            const carom_event *e = now.events + i;
            assert_int_equal(e->contact, 0);
            assert_true(e->t == now.t);
            if (e->kind == CAROM_IMPACT) {
                impacts += 1;
                check_near(e->after, -0.5 * e->before, 1e-12);               // Newton's law in every impact
                check_near(e->impulse, e->after - e->before + 2 * h, 1e-12); // and the weight of that step
                if (impacts <= 5) check_near(e->before, -speed, 8 * h);
                speed /= 2;
            }
            closings += e->kind == CAROM_CLOSE;
            accumulations += e->kind == CAROM_ACCUMULATION;
        }
    }
    const carom_ledger l = sim_ledger(sim);
    assert_int_equal(l.impacts, impacts);
    assert_int_equal(l.accumulations, accumulations);
    assert_int_equal(accumulations, 1);
    assert_int_equal(closings, 1);
    assert_int_equal(l.steps, 3077);
    assert_true(l.penetration > 0 && l.penetration <= 1.5 * h * 2);
    assert_int_equal(l.penetration_id, 0);
    carom_sim_destroy(sim);
}

// However the flights fall on the steps, impacts that end in rest are one accumulation.
static void accumulation_is_seen_for_every_restitution_and_step(void **state) {
    (void)state;
    static const double restitution[] = {0.3, 0.5, 0.8, 0.9, 0.95};
    for (int i = 0; i < 5; ++i)
        for (double h = 1e-2; h > 1e-3; h /= 1.13) {
            known k;
            const double e = restitution[i], T = sqrt(0.1) * (1 + e) / (1 - e) * 1.1 + 0.5;
            known_ball(&k, 1, -2, e, 0.1);
            carom_sim *sim = sim_of(&k, "moreau-jean", NULL, h, h * round(T / h));
            while (!carom_sim_done(sim)) sim_step(sim);
            assert_int_equal(sim_ledger(sim).accumulations, 1);
            carom_sim_destroy(sim);
        }
}

static void elastic_ball_never_accumulates(void **state) {
    (void)state;
    known k;
    known_ball(&k, 1, -2, 1, 1);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 1.3e-3, 1.3e-3 * 20000);
    while (!carom_sim_done(sim)) sim_step(sim);
    const carom_ledger l = sim_ledger(sim);
    assert_int_equal(l.accumulations, 0);
    check_near((double)l.impacts, 13, 0.5); // at t = 1, 3, 5, ... up to 26
    carom_sim_destroy(sim);
}

static carom_status count_calls(void *user, const carom_now *now) {
    long *n = user;
    *n += 1;
    assert_int_equal(now->step, *n);
    check_near(now->t, 0.01 * (double)now->step, 1e-14);
    return *n == 42 ? CAROM_STOPPED : CAROM_OK;
}

static void observer_sees_every_step_and_can_stop(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 0.01, 1);
    long n = 0;
    carom_error err;
    assert_int_equal(carom_sim_run(sim, count_calls, &n, &err), CAROM_STOPPED);
    assert_int_equal(n, 42);
    assert_false(carom_sim_done(sim));
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_OK); // and goes on
    assert_true(carom_sim_done(sim));
    assert_int_equal(carom_sim_now(sim).step, 100);
    assert_true(carom_sim_now(sim).t == 1);
    assert_true(sim_ledger(sim).seconds > 0);
    carom_sim_destroy(sim);
}

static void foreign_states_are_refused(void **state) {
    (void)state;
    known ball, block;
    carom_error err = {0};
    known_ball_a(&ball);
    known_rocking_block(&block);
    carom_sim *a = sim_of(&ball, "moreau-dissipative", NULL, 0.01, 1),
              *b = sim_of(&block, "moreau-dissipative", NULL, 0.01, 1);
    carom_sim *other_step = sim_of(&ball, "moreau-dissipative", NULL, 0.02, 1);
    for (int i = 0; i < 5; ++i) sim_step(a);
    size_t bytes;
    const void *saved = carom_sim_state(a, &bytes);
    assert_int_equal(carom_sim_restore(b, saved, bytes, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "another model"));
    assert_int_equal(carom_sim_restore(other_step, saved, bytes, &err), CAROM_BAD_INPUT);
    assert_non_null(strstr(err.text, "step size"));
    assert_int_equal(carom_sim_now(b).step, 0);

    // As many bytes, but another scheme, option or restitution.
    known softer;
    known_ball_a(&softer);
    softer.contact[0].restitution = 0.25;
    carom_sim *others[] = {sim_of(&ball, "moreau-midpoint", NULL, 0.01, 1),
                           sim_of(&ball, "moreau-dissipative", (const char *const[]){"theta=0.75", NULL}, 0.01, 1),
                           sim_of(&softer, "moreau-dissipative", NULL, 0.01, 1)};
    for (size_t i = 0; i < sizeof others / sizeof *others; ++i) {
        size_t same;
        carom_sim_state(others[i], &same);
        assert_true(same == bytes);
        assert_int_equal(carom_sim_restore(others[i], saved, bytes, &err), CAROM_BAD_INPUT);
        assert_non_null(strstr(err.text, "another scheme"));
        assert_int_equal(carom_sim_now(others[i]).step, 0);
        carom_sim_destroy(others[i]);
    }
    carom_sim_destroy(a);
    carom_sim_destroy(b);
    carom_sim_destroy(other_step);
}

// Damped oscillator: x'' = -x - 0.2 x' + cos 2t.  Energy books against the state, to the order of the trapezoidal rule.
static carom_status driven_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work;
    f[0] = -q[0] - 0.2 * v[0] + cos(2 * t);
    return CAROM_OK;
}

static carom_status driven_power(const void *model, void *work, double t, const double *q, const double *v,
                                 double *external, double *damping) {
    (void)model, (void)work, (void)q;
    *external = v[0] * cos(2 * t);
    *damping = 0.2 * v[0] * v[0];
    return CAROM_OK;
}

static void work_of_forces_is_booked(void **state) {
    (void)state;
    known k;
    known_oscillator(&k, 0.5);
    k.sys.nc = 0;
    k.sys.force = driven_force;
    k.sys.power = driven_power;
    double last = 0;
    for (int n = 500; n <= 2000; n *= 2) {
        carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 10.0 / n, 10);
        while (!carom_sim_done(sim)) sim_step(sim);
        const carom_ledger l = sim_ledger(sim);
        assert_true(l.energy.damping > 0.1);
        const double h = 10.0 / n;
        check_near(l.energy.balance, 0, h * h);                               // T/12 max|power''| with power of order 1
        if (last != 0) check_near(fabs(l.energy.balance / last), 0.25, 0.03); // second order
        last = l.energy.balance;
        carom_sim_destroy(sim);
    }
}

// Rows every 0.05 s, steps of at most 0.02 s: three steps of 0.05/3 s to a row, and rows are where they should be, to
// the bit.
static void steps_divide_the_time_between_rows(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    carom_sim *sim = sim_of(&k, "mixed", NULL, 0.02, 1);
    carom_sim_stop_at(sim, 0.05);
    for (long n = 1; !carom_sim_done(sim); ++n) {
        sim_step(sim);
        const double t = carom_sim_now(sim).t;
        check_near(t, (double)n * 0.05 / 3, 1e-14);
        if (n % 3 == 0) assert_true(t == (n == 60 ? 1 : (double)(n / 3) * 0.05));
    }
    assert_int_equal(carom_sim_now(sim).step, 60);
    carom_sim_destroy(sim);
}

static void velocities_of_all_directions_are_told(void **state) {
    (void)state;
    known k;
    known_slope(&k, 1, 0.1, 0.5);
    k.q0[1] = 3;
    k.v0[0] = 2;
    k.v0[1] = -4;
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 0.01, 1);
    double u[2] = {0};
    assert_int_equal(carom_sim_velocities(sim, u, NULL), CAROM_OK);
    assert_true(u[0] == -4 && u[1] == 2);
    const carom_now now = carom_sim_now(sim);
    assert_true(now.gap[0] == 3 && now.dir[0] == 0 && now.dir[1] == 2 && now.step == 0);
    carom_sim_destroy(sim);
}

// A scheme that chooses nothing says nothing of it, in any room.
static void choices_are_told(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 0.1, 1);
    char text[20] = "before";
    carom_sim_choice(sim, text, 0);
    carom_sim_options_text(sim, text, 0);
    assert_string_equal(text, "before");
    carom_sim_choice(sim, text, sizeof text);
    assert_string_equal(text, "");
    carom_sim_destroy(sim);
}

// -- time -------------------------------------------------------------------------------------------------------------

static carom_status doze(void *user, const carom_now *now) {
    (void)user, (void)now;
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    return now->step % 5 == 0 ? CAROM_STOPPED : CAROM_OK;
}

// Steps that are slept through take time by the clock and none of the processor; what several runs of one simulation
// take adds up, from what was known before on.
static void time_adds_up(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 0.1, 1);
    carom_error err = {0};
    carom_sim_spent(sim, 100, 200);
    assert_int_equal(carom_sim_run(sim, doze, NULL, &err), CAROM_STOPPED);
    const carom_ledger first = sim_ledger(sim);
    assert_int_equal(carom_sim_run(sim, doze, NULL, &err), CAROM_STOPPED);
    const carom_ledger both = sim_ledger(sim);
    assert_true(first.wall >= 200.01 && both.wall >= first.wall + 0.01 && both.wall < 260);
    assert_true(first.seconds > 100 && both.seconds > first.seconds && both.seconds < 100.01);
    assert_true(sim_ledger(sim).wall == both.wall); // nothing runs
    carom_sim_destroy(sim);
}

// -- between two steps ------------------------------------------------------------------------------------------------

static carom_status count_event(void *user, carom_side side, double t, const double *q, const double *v) {
    (void)side, (void)t, (void)q, (void)v;
    return ++*(int *)user, CAROM_OK;
}

static carom_status count_change(void *user, const carom_change *change) {
    (void)change;
    return ++*(int *)user, CAROM_OK;
}

static carom_status count_inner(void *user, double t, const double *q, const double *v) {
    (void)t, (void)q, (void)v;
    return ++*(int *)user, CAROM_OK;
}

// Looking at a time inside a step that is done: the state there is that of a step that ends there, to the bit;
// observers see nothing of it, and the run goes on as one that nobody looked into.
static void looking_inside_a_step_changes_nothing(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-midpoint", "half-explicit", "moreau-jean", "newmark", "mixed"};
    known k;
    known_oscillator(&k, 0.5);
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; ++i) {
        const double h = 0.05;
        int events[2] = {0}, inner[2] = {0}, changes[2] = {0};
        carom_sim *a = sim_of(&k, schemes[i], NULL, h, 4), *b = sim_of(&k, schemes[i], NULL, h, 4),
                  *c = sim_of(&k, schemes[i], NULL, h, 4);
        carom_sim_watch_events(a, count_event, &events[0]), carom_sim_watch_inner(a, count_inner, &inner[0]);
        carom_sim_watch_events(b, count_event, &events[1]), carom_sim_watch_inner(b, count_inner, &inner[1]);
        carom_sim_watch_changes(a, count_change, &changes[0]), carom_sim_watch_changes(b, count_change, &changes[1]);
        size_t size = 0, other = 0;
        carom_sim_state(a, &size);
        void *before = malloc(size), *room = malloc(size);
        carom_error err = {0};
        while (!carom_sim_done(a)) {
            const double t = carom_sim_now(a).t, was = carom_sim_now(a).q[0];
            double q, v;
            memcpy(before, carom_sim_state(a, &size), size);
            sim_step(a), sim_step(b);
            assert_int_equal(carom_sim_between(a, before, t + 0.375 * h, &q, &v, room, &err), CAROM_OK);
            assert_int_equal(carom_sim_restore(c, before, size, &err), CAROM_OK);
            assert_int_equal(carom_sim_step_until(c, t + 0.375 * h, &err), CAROM_OK);
            if (carom_sim_now(c).q[0] != q || carom_sim_now(c).v[0] != v)
                fail_msg("%s, t = %g: %.17g, %.17g is not %.17g, %.17g", schemes[i], t, q, v, carom_sim_now(c).q[0],
                         carom_sim_now(c).v[0]);
            assert_int_equal(carom_sim_between(a, before, t, &q, &v, room, &err), CAROM_OK); // where the step begins
            assert_true(q == was);
            assert_memory_equal(carom_sim_state(a, &size), carom_sim_state(b, &other), size);
            const carom_now x = carom_sim_now(a), y = carom_sim_now(b);
            assert_true(x.nevents == y.nevents && x.reacted == y.reacted);
            assert_true(events[0] == events[1] && inner[0] == inner[1] && changes[0] == changes[1]);
        }
        if (strcmp(schemes[i], "mixed") == 0) assert_true(events[0] > 0 && inner[0] > 0);
        assert_true(sim_ledger(a).impacts == 1 && sim_ledger(b).impacts == 1);
        free(before), free(room);
        carom_sim_destroy(a), carom_sim_destroy(b), carom_sim_destroy(c);
    }
}

// -- gaps that are no numbers -----------------------------------------------------------------------------------------

static double what_then, from_there_on; // a gap x that has this value from there on

static carom_status gap_with_an_end(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    return g[0] = q[0] < from_there_on ? q[0] : what_then, CAROM_OK;
}

// At the start there is no simulation then; later the step fails, and all stands where it began.
static void gaps_that_are_no_numbers_are_told(void **state) {
    (void)state;
    static const double values[] = {NAN, INFINITY, -INFINITY};
    static const char *const schemes[] = {"moreau-midpoint", "half-explicit", "moreau-jean"};
    for (int i = 0; i < 9; ++i)
        for (int late = 0; late < 2; ++late) {
            known k;
            known_ball(&k, 1, 0, 0, 1);
            k.v0[0] = 1;
            k.sys.gaps = gap_with_an_end;
            what_then = values[i % 3], from_there_on = late ? 1.55 : 0.5;
            carom_error err = {0};
            carom_sim_def d = known_run(&k, schemes[i / 3], 0.1, 1);
            carom_sim *sim = carom_sim_create(&d, &err);
            assert_int_equal(sim != NULL, late);
            if (late) {
                assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_USER);
                const carom_now now = carom_sim_now(sim);
                if (!(now.step == 5 && fabs(now.q[0] - 1.5) < 1e-12 && now.gap[0] == now.q[0]))
                    fail_msg("%s: step %ld, x = %g, gap %g", d.scheme, now.step, now.q[0], now.gap[0]);
            }
            if (!strstr(err.text, late ? "t = 0." : "t = 0: ") || !strstr(err.text, "gap")) fail_msg("%s", err.text);
            carom_sim_destroy(sim);
        }
}

// -- what costs time --------------------------------------------------------------------------------------------------

static carom_status (*plain_force)(const void *model, void *work, double t, const double *q, const double *v,
                                   double *f);
static long force_calls;

static carom_status counted_force(const void *model, void *work, double t, const double *q, const double *v,
                                  double *f) {
    return ++force_calls, plain_force(model, work, t, q, v, f);
}

// Where steps are long for a vibration the model is looked at once more when the number of steps has doubled, from 4096
// on, and at no other step.
static void a_fast_model_is_looked_at_when_steps_double(void **state) {
    (void)state;
    known k;
    known_oscillator(&k, 0.5);
    plain_force = k.sys.force, k.sys.force = counted_force;
    carom_extensions own;
    carom_system_extend(&k.sys, &own);
    k.q0[0] = 2, k.sys.nc = 0, own.speed.motion = NULL;
    carom_sim *sim = sim_of(&k, "half-explicit", NULL, 0.5, 4200);
    long usual = 0;
    for (long n = 1; n <= 8200; ++n) {
        const long before = force_calls;
        sim_step(sim);
        const long calls = force_calls - before;
        if (n == 1) usual = calls;
        const bool looks = n == 4096 || n == 8192;
        if (looks ? calls <= usual : calls != usual)
            fail_msg("step %ld: %ld evaluations of forces, usually %ld", n, calls, usual);
    }
    carom_sim_destroy(sim);
}

// A contact is busy while it reacts or is closed, and no longer.
static void contacts_are_busy_while_they_react(void **state) {
    (void)state;
    known k;
    known_ball_a(&k); // strikes at t = 1, flies until t = 2, and so on
    carom_sim *sim = sim_of(&k, "moreau-midpoint", NULL, 1e-2, 4);
    long busy = 0, idle = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const bool reacts = carom_sim_now(sim).impulse[0] > 0;
        if (sim->kept->busy > 1 || (reacts && sim->kept->busy == 0))
            fail_msg("t = %g: busy %ld", carom_sim_now(sim).t, sim->kept->busy);
        busy += sim->kept->busy, idle += sim->kept->busy == 0;
    }
    assert_true(busy > 10 && idle > 150); // it comes to rest at t = 3
    carom_sim_destroy(sim);
}

// Memory holds at least what is saved, and more where there are more coordinates and contacts.
static void memory_is_told(void **state) {
    (void)state;
    known k[2];
    known_ball_a(&k[0]);
    known_rocking_block(&k[1]);
    size_t last = 0;
    for (int i = 0; i < 2; ++i) {
        carom_sim *sim = sim_of(&k[i], "moreau-midpoint", NULL, 0.1, 1);
        size_t saved = 0;
        carom_sim_state(sim, &saved);
        assert_true(saved > 0 && carom_sim_memory(sim) >= saved && carom_sim_memory(sim) > last);
        last = carom_sim_memory(sim);
        carom_sim_destroy(sim);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_told), cmocka_unit_test(wrong_definitions_are_refused),
        cmocka_unit_test(the_mass_matrix_gives_the_kinetic_energy),
        cmocka_unit_test(later_options_win_and_are_told),
        cmocka_unit_test(events_tell_the_story_of_the_ball),
        cmocka_unit_test(accumulation_is_seen_for_every_restitution_and_step),
        cmocka_unit_test(elastic_ball_never_accumulates),
        cmocka_unit_test(observer_sees_every_step_and_can_stop),
        cmocka_unit_test(foreign_states_are_refused),
        cmocka_unit_test(work_of_forces_is_booked),
        cmocka_unit_test(steps_divide_the_time_between_rows),
        cmocka_unit_test(velocities_of_all_directions_are_told),
        cmocka_unit_test(choices_are_told),
        cmocka_unit_test(time_adds_up),
        cmocka_unit_test(looking_inside_a_step_changes_nothing),
        cmocka_unit_test(gaps_that_are_no_numbers_are_told),
        cmocka_unit_test(a_fast_model_is_looked_at_when_steps_double),
        cmocka_unit_test(contacts_are_busy_while_they_react),
    };
    return cmocka_run_group_tests_name("simulation", tests, NULL, NULL);
}

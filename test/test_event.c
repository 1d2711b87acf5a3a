// test_event.c: the scheme event-driven against closed solutions and published reference values, and the list of all
// schemes.  Cases that could keep it busy for ever are in test_event_nasty.c.
//
// Times and states before the first accumulation are held to 1e-8 with default tolerances and to 1e-10 with rtol=1e-14;
// behind an accumulation to 1e-7.
#include "schemes.h"
#include <carom/event.h>

enum { MOST = 4096 };

typedef struct told {
    carom_event event[MOST];
    int n;
} told;

static carom_sim *event_sim(const known *k, const char *const *options, double h, double t_end) {
    carom_error err;
    carom_sim_def d = known_run(k, "event-driven", h, t_end);
    d.schemes = carom_schemes();
    d.options = options;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    return sim;
}

static void collect(told *x, carom_sim *sim, double t) {
    while (!carom_sim_done(sim) && carom_sim_now(sim).t < t - 1e-9) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < now.nevents; ++i) {
            assert_true(x->n < MOST);
            if (x->n > 0) assert_true(now.events[i].t >= x->event[x->n - 1].t); // in order of time
            x->event[x->n++] = now.events[i];
        }
    }
}

// The i-th event of a kind, of a contact (-1: of any).
static const carom_event *event_of(const told *x, carom_event_kind kind, int contact, int i) {
    for (int j = 0; j < x->n; ++j)
        if (x->event[j].kind == kind && (contact < 0 || x->event[j].contact == contact) && i-- == 0)
            return x->event + j;
    fail_msg("no such event");
    return NULL;
}

static const char *const FINE[] = {"rtol=1e-14", NULL};

// -- pendulum ---------------------------------------------------------------------------------------------

static const double pendulum_t[8] = {0.48611044329720084401, 1.2812252569089714732, 1.9513403119340929248,
                                     2.5171373483738059192,  2.9912770469529051191, 3.3846149348166225436,
                                     3.7077947248191486503,  3.9712357859717689431};

static void check_pendulum(const char *const *options, double h, double tol) {
    known k;
    known_pendulum(&k, 0.1);
    carom_sim *sim = event_sim(&k, options, h, 6);
    told x = {.n = 0};
    collect(&x, sim, 0.4);
    check_near(carom_sim_now(sim).q[2], -0.450878091411192185, tol);
    check_near(carom_sim_now(sim).v[2], -3.5536794920964174, tol);
    collect(&x, sim, 6);
    double rate = -4.19073833002137375;
    for (int i = 0; i < 8; ++i, rate *= 0.8) {
        const carom_event *e = event_of(&x, CAROM_IMPACT, 0, i);
        check_near(e->t, pendulum_t[i], tol);
        check_near(e->before, rate * sqrt(0.5), tol);
        check_near(e->after, -0.8 * rate * sqrt(0.5), tol);
    }
    check_near(event_of(&x, CAROM_IMPACT, 0, 0)->impulse, 11.7346659856925444, 20 * tol); // 4 dP/du
    check_near(event_of(&x, CAROM_IMPACT, 0, 2)->impulse, 7.51018623084322842, 20 * tol);
    check_near(event_of(&x, CAROM_ACCUMULATION, 0, 0)->t, 5.053981620657049201, 1e-7);

    const carom_now now = carom_sim_now(sim);
    const double pi = 3.14159265358979323846;
    check_near(now.q[2], -pi / 4, 1e-12);
    check_near(now.force[0], -10, 1e-9);
    check_near(now.force[1], 10, 1e-9);
    check_near(now.force[2], 10, 1e-9);
    const carom_ledger l = sim_ledger(sim);
    assert_int_equal(l.accumulations, 1);
    assert_true(l.drift < 1e-13 && l.penetration < 1e-13);
    check_near(l.energy.balance, 0, 100 * tol);
    carom_sim_destroy(sim);
}

static void the_pendulum_meets_its_reference(void **state) {
    (void)state;
    check_pendulum(NULL, 0.1, 1e-8);
    check_pendulum(NULL, 1e-2, 1e-8);
    check_pendulum(FINE, 0.1, 1e-10);
}

// -- rocking block --------------------------------------------------------------------------------------------

static void the_rocking_block_meets_its_reference(void **state) {
    (void)state;
    static const struct {
        double t;
        int corner;
    } impact[9] = {{0.18375148378275077672, 1}, {0.29629686435003499239, 0}, {0.47269323389807440609, 1},
                   {0.51857658096827924884, 0}, {0.61464584704104760102, 1}, {0.61755552932041689055, 0},
                   {0.66283933639574552206, 0}, {0.68553553037147025427, 0}, {0.68922906315665545335, 1}};
    known k;
    known_rocking_block(&k);
    carom_sim *sim = event_sim(&k, NULL, 0.05, 2);
    told x = {.n = 0};
    collect(&x, sim, 0.5);
    check_near(carom_sim_now(sim).q[1], 0.764959464652246916, 1e-8);
    check_near(carom_sim_now(sim).q[2], 0.00291422183676242358, 1e-8);
    check_near(carom_sim_now(sim).v[1], -0.211173159104539411, 1e-8);
    check_near(carom_sim_now(sim).v[2], -1.17743795460235493, 1e-8);
    collect(&x, sim, 2);
    for (int i = 0; i < 9; ++i) {
        const carom_event *e = event_of(&x, CAROM_IMPACT, -1, i);
        check_near(e->t, impact[i].t, 1e-8);
        assert_int_equal(e->contact, impact[i].corner);
    }
    // Accumulations of one corner, each ended by an impact of the other that opens the first again, accumulate
    // themselves.
    static const double accumulation[4] = {0.71357280192857348989, 0.73012369490596156877, 0.7462250997044888256,
                                           0.7542362390024126622};
    for (int i = 0; i < 4; ++i) check_near(event_of(&x, CAROM_ACCUMULATION, 0, i)->t, accumulation[i], 1e-7);
    const carom_event *last = x.event + x.n - 1;
    assert_int_equal(last->kind, CAROM_CLOSE);
    check_near(last->t, 0.762170581789641992, 1e-7);

    const carom_now now = carom_sim_now(sim);
    check_near(now.q[1], 0.75, 1e-12);
    check_near(now.q[2], 0, 1e-12);
    check_near(now.force[0], 4.905, 1e-9);
    check_near(now.force[1], 4.905, 1e-9);
    check_near(sim_ledger(sim).energy.balance, 0, 1e-10);
    carom_sim_destroy(sim);
}

// -- balls and oscillator ---------------------------------------------------------------------------------------

static void the_bouncing_balls_meet_their_closed_solutions(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    for (double h = 0.01; h < 2; h *= 8) {
        carom_sim *sim = event_sim(&k, NULL, h, 4);
        while (!carom_sim_done(sim)) {
            double v, before, after;
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            check_near(now.q[0], known_ball_a_exact(now.t, &v), 1e-10);
            known_ball_a_exact(now.t - 1e-9, &before);
            known_ball_a_exact(now.t + 1e-9, &after);
            if (fabs(after - before) < 1e-8) check_near(now.v[0], v, 1e-8); // not at an impact
        }
        assert_int_equal(sim_ledger(sim).accumulations, 1);
        check_near(carom_sim_now(sim).force[0], 2, 1e-12);
        carom_sim_destroy(sim);
    }
    known_ball(&k, 1, -10, 0.8, 0.801);
    carom_sim *sim = event_sim(&k, NULL, 0.5, 5);
    told x = {.n = 0};
    collect(&x, sim, 5);
    double t = 0.40024992192379001;
    for (int i = 0; i < 20; ++i) {
        check_near(event_of(&x, CAROM_IMPACT, 0, i)->t, t, 1e-10);
        t += 2 * 0.40024992192379001 * pow(0.8, i + 1);
    }
    check_near(event_of(&x, CAROM_ACCUMULATION, 0, 0)->t, 3.60224929731411010, 1e-8);
    carom_sim_destroy(sim);
}

static void the_oscillator_meets_its_closed_solution(void **state) {
    (void)state;
    known k;
    known_oscillator(&k, 0.5);
    carom_sim *sim = event_sim(&k, NULL, 0.37, 10);
    while (!carom_sim_done(sim)) {
        double v;
        sim_step(sim);
        const double q = known_oscillator_exact(carom_sim_now(sim).t, 0.5, &v);
        check_near(carom_sim_now(sim).q[0], q, 1e-9);
        check_near(carom_sim_now(sim).v[0], v, 1e-9);
    }
    assert_int_equal(sim_ledger(sim).impacts, 3);
    carom_sim_destroy(sim);
}

static void check_two_balls(const char *const *options, double tol) {
    static const double impact[9] = {0.400249921923790011, 0.458719095698248049, 0.969382274542060324,
                                     1.03143322306040493,  1.07536605732245105,  1.56923371201832037,
                                     1.61206717726055237,  1.63873782487999209,  1.66759151982866294};
    known k;
    known_two_balls(&k, 1e3);
    carom_sim *sim = event_sim(&k, options, 0.2, 1.8);
    told x = {.n = 0};
    collect(&x, sim, 1);
    check_near(carom_sim_now(sim).q[0], 0.0397598722842451, tol);
    check_near(carom_sim_now(sim).q[1], -0.0446605435728015, tol);
    check_near(carom_sim_now(sim).v[0], 0.626024372021496, 45 * tol); // sqrt(2 k/m): a shift in time by tol
    check_near(carom_sim_now(sim).v[1], -3.47424629548408, 45 * tol);
    collect(&x, sim, 1.8);
    for (int i = 0; i < 9; ++i) check_near(event_of(&x, CAROM_IMPACT, 0, i)->t, impact[i], tol);
    carom_sim_destroy(sim);
}

static void the_two_ball_oscillator_meets_its_reference(void **state) {
    (void)state;
    check_two_balls(NULL, 1e-8);
    check_two_balls(FINE, 1e-10);
}

// -- slider-crank ---------------------------------------------------------------------------------------------

static void check_crank(carom_sim *sim, double t, double th1, double th2, double w1, double w2, double E, double tol) {
    sim_to(sim, t);
    const carom_now now = carom_sim_now(sim);
    check_near(now.q[0], th1, tol);
    check_near(now.q[1], th2, tol);
    check_near(now.v[0], w1, 150 * tol); // velocities are 150 times the positions
    check_near(now.v[1], w2, 150 * tol);
    check_near(now.q[2], 0, 1e-10);
    check_near(sim_energy(sim), E, tol);
}

static void the_slider_crank_meets_its_reference(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0, true);
    carom_sim *sim = event_sim(&k, NULL, 1e-3, 0.15);
    told x = {.n = 0};
    collect(&x, sim, 0.003);
    const carom_event *e = event_of(&x, CAROM_IMPACT, 0, 0);
    check_near(e->t, 0.002692502752021, 1e-8);
    check_near(e->before, -0.8416123220329, 1e-8);
    check_near(e->after, 0.336644928813, 1e-8);
    check_near(e->impulse, 0.05539501488302, 1e-8);
    assert_true(event_of(&x, CAROM_IMPACT, 1, 0)->t == e->t); // both corners at once
    check_crank(sim, 0.0030, 0.38809297833861, -0.18732972813055, 104.54283442782, -50.064165501445, 7.4675760737372,
                1e-8);
    check_crank(sim, 0.0050, 0.57617666023958, -0.27293176082336, 85.683250255125, -36.744414215762, 7.4675760737372,
                1e-8);
    sim_to(sim, 0.012);
    const carom_now now = carom_sim_now(sim);
    check_near(now.force[now.dir[0]] + now.force[now.dir[1]], 2.18396860184, 1e-7);
    check_crank(sim, 0.0200, 1.6145267238876, -0.51987995997003, 71.799705419838, 1.4326368383092, 7.4647775711932,
                1e-7);
    check_crank(sim, 0.0500, 4.7991045090043, 0.52520273324351, 68.55594452686, -3.42260734642, 7.4051987556077, 1e-7);
    check_crank(sim, 0.1000, 9.0442082806021, -0.19013625821456, 138.906015433, 65.667289348, 7.3218342217339, 1e-7);
    check_crank(sim, 0.1500, 13.700848255004, -0.46715720491578, 63.78298010208, -15.25484509437, 7.21733476398, 1e-7);
    const carom_ledger l = sim_ledger(sim);
    assert_true(l.penetration < 1e-13);
    check_near(l.energy.balance, 0, 1e-7);
    carom_sim_destroy(sim);
}

static void the_slider_crank_with_friction_meets_its_reference(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0.01, true);
    carom_sim *sim = event_sim(&k, NULL, 5e-4, 0.1);
    told x = {.n = 0};
    collect(&x, sim, 0.003);
    check_near(event_of(&x, CAROM_IMPACT, 0, 0)->impulse, 0.05574032307375, 1e-8);
    check_near(event_of(&x, CAROM_IMPACT, 1, 0)->impulse, 0.05518569299342, 1e-8);
    check_crank(sim, 0.003, 0.38807253694248, -0.18732015952313, 104.47888802508, -50.034747670653, 7.4581385062801,
                1e-8);
    check_crank(sim, 0.050, 4.7935542997301, 0.52547066853001, 68.473290603172, -3.204474152708, 7.3585625012018, 1e-7);
    check_crank(sim, 0.100, 9.0006398425259, -0.210588755100, 135.87277312701, 63.315565851134, 7.2276439467617, 1e-7);
    const carom_ledger l = sim_ledger(sim);
    assert_true(l.energy.friction > 0.05);
    check_near(l.energy.balance, 0, 1e-7); // friction between impacts is in the account
    carom_sim_destroy(sim);
}

static void half_explicit_tends_to_it_as_its_step_goes_to_zero(void **state) {
    (void)state;
    static const double h[3] = {1e-4, 1e-5, 1e-6};
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0.01, true);
    carom_sim *sim = event_sim(&k, NULL, 0.05, 0.15);
    sim_to(sim, 0.15);
    double error[3];
    for (int i = 0; i < 3; ++i) {
        carom_sim *other = sim_of(&k, "half-explicit", NULL, h[i], 0.15);
        sim_to(other, 0.15);
        error[i] = fmax(fabs(carom_sim_now(other).q[0] - carom_sim_now(sim).q[0]),
                        fabs(carom_sim_now(other).q[1] - carom_sim_now(sim).q[1]));
        carom_sim_destroy(other);
    }
    assert_true(error[2] < 1.5e-5); // first order across impacts: h times 15 rad of motion
    assert_true(slope(h, error, 3) > 0.8);
    carom_sim_destroy(sim);
}

// A slider that starts askew clatters on two corners.  Each impact takes 6 % of the velocity and half of the time:
// velocities are still large where time cannot be divided any more, but their limit is zero, because each of them
// changes sign infinitely often.  So the result must not depend on where the run is cut.
static void clattering_corners_accumulate_with_velocity_left(void **state) {
    (void)state;
    static const char *const cut[] = {"time-tol=1e-10", "time-tol=1e-8", "time-tol=1e-7"};
    double first[4] = {0};
    for (int c = 0; c < 3; ++c) {
        known k;
        known_slider_crank(&k, 1e-3, 0.4, 0, true);
        k.q0[2] = 0.005;
        carom_sim *sim = event_sim(&k, (const char *const[]){cut[c], NULL}, 5e-4, 0.01);
        told x = {.n = 0};
        collect(&x, sim, 0.0025);
        check_near(carom_sim_now(sim).q[0], 0.33394730404859, 1e-10);
        check_near(carom_sim_now(sim).q[2], 0.0024779159798695, 1e-10);
        check_near(carom_sim_now(sim).v[2], -20.60400795368, 1e-7);
        collect(&x, sim, 0.01);
        static const double impact[3] = {0.0023775925525849, 0.0026543877231375, 0.0026846636838141};
        for (int i = 0; i < 3; ++i) check_near(event_of(&x, CAROM_IMPACT, -1, i)->t, impact[i], 1e-10);
        check_near(event_of(&x, CAROM_ACCUMULATION, 0, 0)->t, 2.6997764e-3, 2e-10);
        const carom_now now = carom_sim_now(sim);
        const double last[4] = {now.q[0], now.q[1], now.v[0], sim_energy(sim)};
        if (c == 0) carom_copy(first, last, 4);
        for (int i = 0; i < 4; ++i) check_near(last[i], first[i], i == 2 ? 1e-6 : 1e-8);
        check_near(now.q[2], 0, 1e-12);
        carom_sim_destroy(sim);
    }
}

// -- stick and slip -------------------------------------------------------------------------------------------

static void a_block_on_a_slope_stops_and_sticks_or_slides_back(void **state) {
    (void)state;
    const double g = 9.81;
    known k;
    known_slope(&k, 1, 0.3, 0.5); // tan 0.3 < 0.5
    k.v0[0] = -2;
    carom_sim *sim = event_sim(&k, NULL, 0.7, 2);
    told x = {.n = 0};
    collect(&x, sim, 2);
    const double brake = g * (sin(0.3) + 0.5 * cos(0.3));
    check_near(event_of(&x, CAROM_STICK, 0, 0)->t, 2 / brake, 1e-10);
    check_near(carom_sim_now(sim).q[0], -2 / brake, 1e-10);
    check_near(carom_sim_now(sim).v[0], 0, 1e-14);
    check_near(carom_sim_now(sim).force[1], -g * sin(0.3), 1e-11);
    check_near(sim_ledger(sim).energy.friction, 0.5 * g * cos(0.3) * 2 / brake, 1e-9);
    carom_sim_destroy(sim);

    known_slope(&k, 1, 0.6, 0.5); // tan 0.6 > 0.5
    k.v0[0] = -2;
    sim = event_sim(&k, NULL, 0.7, 2);
    sim_to(sim, 2);
    const double up = g * (sin(0.6) + 0.5 * cos(0.6)), down = g * (sin(0.6) - 0.5 * cos(0.6)), left = 2 - 2 / up;
    check_near(carom_sim_now(sim).q[0], -2 / up + 0.5 * down * left * left, 1e-9);
    check_near(carom_sim_now(sim).v[0], down * left, 1e-9);
    check_near(sim_ledger(sim).energy.balance, 0, 1e-9);
    carom_sim_destroy(sim);
}

// In space the slip velocity turns while it slows down: u' = A e - B u/|u| with A = g sin a down the fall line e and
// B = mu g cos a.  Then (B |u| + A u.e)' = A^2 - B^2, which tells when it comes to rest.
static void slip_in_space_stops_when_its_invariant_says(void **state) {
    (void)state;
    const double a = 0.3, mu = 0.5, A = 9.81 * sin(a), B = mu * 9.81 * cos(a), u_1 = 1.5, u_2 = 2;
    known k;
    known_slope_spatial(&k, 1, a, mu, 0.4);
    for (int i = 0; i < 3; ++i) k.v0[i] = u_1 * k.frame[3 + i] + u_2 * k.frame[6 + i];
    carom_sim *sim = event_sim(&k, NULL, 0.25, 2);
    told x = {.n = 0};
    collect(&x, sim, 2);
    const double stop = (B * hypot(u_1, u_2) + A * (0.8 * u_1 + 0.6 * u_2)) / (B * B - A * A);
    check_near(event_of(&x, CAROM_STICK, 0, 0)->t, stop, 1e-8);
    const carom_now now = carom_sim_now(sim);
    check_near(carom_norm_max(now.v, 3), 0, 1e-14);
    check_near(hypot(now.force[1], now.force[2]), A, 1e-10);
    check_near(now.force[0], 9.81 * cos(a), 1e-10);
    carom_sim_destroy(sim);
}

// -- the account, resuming, the list ----------------------------------------------------------------------------

static void a_moving_floor_gives_the_energy_that_arrives(void **state) {
    (void)state;
    known k;
    known_moving_floor(&k, 0.1, 20, 0.5);
    carom_sim *sim = event_sim(&k, NULL, 0.3, 3);
    sim_to(sim, 3);
    const carom_ledger l = sim_ledger(sim);
    assert_true(l.energy.external > 1);
    check_near(l.energy.balance, 0, 1e-8);
    carom_sim_destroy(sim);
}

static void a_run_goes_on_bit_for_bit_from_its_saved_state(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0.01, true);
    carom_sim *one = event_sim(&k, NULL, 1e-3, 0.04), *two = event_sim(&k, NULL, 1e-3, 0.04);
    sim_to(one, 0.012); // inside a lasting contact
    size_t bytes;
    carom_error err;
    const void *saved = carom_sim_state(one, &bytes);
    assert_int_equal(carom_sim_restore(two, saved, bytes, &err), CAROM_OK);
    sim_to(one, 0.04);
    sim_to(two, 0.04);
    assert_memory_equal(carom_sim_now(one).q, carom_sim_now(two).q, 3 * sizeof(double));
    assert_memory_equal(carom_sim_now(one).v, carom_sim_now(two).v, 3 * sizeof(double));
    carom_sim_destroy(one);
    carom_sim_destroy(two);
}

static void both_integrators_agree(void **state) {
    (void)state;
    known k;
    known_double_pendulum(&k);
    carom_sim *adams = event_sim(&k, NULL, 0.5, 2),
              *bdf = event_sim(&k, (const char *const[]){"method=bdf", "rtol=1e-11", NULL}, 0.5, 2);
    sim_to(adams, 2);
    sim_to(bdf, 2);
    for (int i = 0; i < 2; ++i) {
        check_near(carom_sim_now(adams).q[i], carom_sim_now(bdf).q[i], 1e-7);
        check_near(carom_sim_now(adams).v[i], carom_sim_now(bdf).v[i], 1e-7);
    }
    carom_sim_destroy(adams);
    carom_sim_destroy(bdf);
}

static void the_list_of_schemes_is_the_cores_and_event_driven(void **state) {
    (void)state;
    const carom_scheme *const *all = carom_schemes();
    int n = 0;
    for (; carom_scheme_at(n); ++n) assert_ptr_equal(all[n], carom_scheme_at(n));
    assert_ptr_equal(all[n], &carom_scheme_event_driven);
    assert_null(all[n + 1]);
    assert_null(carom_scheme_find("event-driven")); // the core does without
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pendulum_meets_its_reference),
        cmocka_unit_test(the_rocking_block_meets_its_reference),
        cmocka_unit_test(the_bouncing_balls_meet_their_closed_solutions),
        cmocka_unit_test(the_oscillator_meets_its_closed_solution),
        cmocka_unit_test(the_two_ball_oscillator_meets_its_reference),
        cmocka_unit_test(the_slider_crank_meets_its_reference),
        cmocka_unit_test(the_slider_crank_with_friction_meets_its_reference),
        cmocka_unit_test(half_explicit_tends_to_it_as_its_step_goes_to_zero),
        cmocka_unit_test(clattering_corners_accumulate_with_velocity_left),
        cmocka_unit_test(a_block_on_a_slope_stops_and_sticks_or_slides_back),
        cmocka_unit_test(slip_in_space_stops_when_its_invariant_says),
        cmocka_unit_test(a_moving_floor_gives_the_energy_that_arrives),
        cmocka_unit_test(a_run_goes_on_bit_for_bit_from_its_saved_state),
        cmocka_unit_test(both_integrators_agree),
        cmocka_unit_test(the_list_of_schemes_is_the_cores_and_event_driven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

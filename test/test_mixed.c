// test_mixed.c: the Runge-Kutta tables, and `mixed` against exact solutions and references of other programs.
#include "event/rk.h"
#include "model_text.h"
#include "schemes.h"

// -- tables ----------------------------------------------------------------------------------------------------------

// Elementary weight of a rooted tree, by the parents of its vertices (parent[i] < i): vertex i gives at stage s the
// product over its children c of sum_j a_sj x_c(j).  An order condition says that it equals 1/(product of all subtree
// sizes).
static void check_tree(const carom_butcher *T, const double *b, const int *parent, int n) {
    double x[8][CAROM_RK_STAGES], density = 1, weight = 0;
    int size[8];
    for (int i = 0; i < n; ++i) {
        size[i] = 1;
        for (int s = 0; s < T->stages; ++s) x[i][s] = 1;
    }
    for (int i = n - 1; i > 0; --i) {
        size[parent[i]] += size[i];
        for (int s = 0; s < T->stages; ++s) {
            double sum = 0;
            for (int j = 0; j < T->stages; ++j) sum += carom_butcher_a(T, s, j) * x[i][j];
            x[parent[i]][s] *= sum;
        }
    }
    for (int i = 0; i < n; ++i) density *= size[i];
    for (int s = 0; s < T->stages; ++s) weight += b[s] * x[0][s];
    // some tens of roundings of terms up to 12 (the largest coefficient)
    if (!(fabs(weight - 1 / density) <= 2e-14))
        fail_msg("family %d, order %d: a tree of %d vertices weighs %.17g instead of %.17g", T->family, T->order, n,
                 weight, 1 / density);
}

// All trees of n vertices: every choice of parents, some trees more than once.
static void check_trees(const carom_butcher *T, const double *b, int n) {
    int parent[8] = {0};
    for (;;) {
        check_tree(T, b, parent, n);
        int i = n - 1;
        while (i > 0 && parent[i] == i - 1) parent[i--] = 0;
        if (i <= 0) return;
        parent[i] += 1;
    }
}

static void tables_meet_all_order_conditions(void **state) {
    (void)state;
    const carom_butcher *T;
    int tables = 0;
    for (; (T = carom_butcher_at(tables)); ++tables) {
        assert_true(T->stages <= CAROM_RK_STAGES);
        for (int n = 1; n <= T->order; ++n) check_trees(T, T->b, n);
        for (int n = 1; T->low && n <= T->order - 1; ++n) check_trees(T, T->low, n);
    }
    assert_true(tables >= 12);
}

static void asked_order_is_met_or_exceeded(void **state) {
    (void)state;
    for (int p = 2; p <= 6; ++p) {
        assert_int_equal(carom_butcher_find(CAROM_RK_EXPLICIT, p)->order, p);
        assert_int_equal(carom_butcher_find(CAROM_RK_GAUSS, p)->order, p + p % 2);
    }
    assert_int_equal(carom_butcher_find(CAROM_RK_RADAU, 2)->order, 3);
    assert_int_equal(carom_butcher_find(CAROM_RK_RADAU, 4)->order, 5);
    assert_int_equal(carom_butcher_find(CAROM_RK_RADAU, 6)->order, 5); // the highest there is
}

// -- order across impacts --------------------------------------------------------------------------------------------

typedef struct method {
    const char *rk, *order;
    int p;
} method;

static const method METHODS[] = {
    {"rk=explicit", "order=2", 2}, {"rk=explicit", "order=3", 3}, {"rk=explicit", "order=4", 4},
    {"rk=explicit", "order=5", 5}, {"rk=explicit", "order=6", 6}, {"rk=gauss", "order=2", 2},
    {"rk=gauss", "order=4", 4},    {"rk=gauss", "order=6", 6},    {"rk=radau", "order=3", 3},
    {"rk=radau", "order=5", 5},
};
enum { NMETHODS = sizeof METHODS / sizeof *METHODS };

static carom_sim *mixed(const known *k, const method *m, double h, double T) {
    const char *const options[] = {m->rk, m->order, NULL};
    return sim_of(k, "mixed", options, h, T);
}

static double ball_exact(double t) { return known_ball_a_exact(t, NULL); }
static double oscillator_exact(double t) { return known_oscillator_exact(t, 0.5, NULL); }

// L1 error in q; where in its step an impact falls decides much of it, so every size stands for several close ones.
static double mean_error(const known *k, const method *m, double T, int n, double (*exact)(double)) {
    enum { PHASES = 7 };
    double sum = 0;
    for (int i = 0; i < PHASES; ++i) {
        const int steps = n + i * (n / 25) + i % 2;
        carom_sim *sim = mixed(k, m, T / steps, T);
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            sum += fabs(now.q[0] - exact(now.t)) * T / steps / PHASES;
        }
        carom_sim_destroy(sim);
    }
    return sum;
}

// Step sizes fall until the error reaches 1e-12, a few hundred roundings.
static double measured(const known *k, const method *m, double T, int first, double (*exact)(double)) {
    enum { MOST = 9 };
    double h[MOST], error[MOST];
    int n = 0;
    for (int steps = first; n < MOST; ++n, steps = (int)(steps * 1.4)) {
        h[n] = 1.0 / steps;
        error[n] = mean_error(k, m, T, steps, exact);
        if (error[n] < 1e-12) break;
    }
    assert_true(n >= 4);
    const double order = slope(h, error, n);
    print_message("    %s %s: measured %.2f (error %.1e)\n", m->rk, m->order, order, error[n - 1]);
    return order;
}

static void impacting_oscillator_has_the_order_of_the_table(void **state) {
    (void)state;
    known k;
    known_oscillator(&k, 0.5);
    for (int i = 0; i < NMETHODS; ++i)
        assert_true(measured(&k, METHODS + i, 10, 83, oscillator_exact) >= METHODS[i].p - 0.3);
}

// Runge-Kutta is exact on parabolas: only the length of the enclosing intervals, h^(p+1), is left.
static void ball_with_accumulation_gains_an_order(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    for (int i = 0; i < 3; ++i) assert_true(measured(&k, METHODS + i, 4, 53, ball_exact) >= METHODS[i].p + 0.7);
}

// Impacts of ball A at 1, 2, 2.5, ...: told within the interval each was enclosed in, after earlier errors of that
// size.
static void events_are_told_with_their_times(void **state) {
    (void)state;
    known k;
    known_ball_a(&k);
    const double h = 0.013;
    carom_sim *sim = mixed(&k, METHODS + 2, h, 4);
    int impacts = 0;
    bool accumulated = false, closed = false;
    double at = 1, flight = 1;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < now.nevents; ++i) {
            const carom_event *e = now.events + i;
            assert_true(e->t > now.t - h - 1e-12 && e->t <= now.t);
            if (e->kind == CAROM_IMPACT && impacts < 10) {
                check_near(e->t, at, 20 * pow(h, 5));
                check_near(e->before, -2 * flight, 40 * pow(h, 5));
                check_near(e->after, -0.5 * e->before, 1e-11);
                at += flight;
                flight /= 2;
                impacts += 1;
            }
            if (e->kind == CAROM_ACCUMULATION) check_near(e->t, 3, 40 * pow(h, 5));
            accumulated = accumulated || e->kind == CAROM_ACCUMULATION;
            closed = closed || e->kind == CAROM_CLOSE;
        }
    }
    assert_int_equal(impacts, 10);
    assert_true(accumulated && closed);
    carom_sim_destroy(sim);
}

// -- double pendulum between two walls --------------------------------------------------------------------------------

static const double WALL = 0.05, E_WALL = 0.8;

static carom_status wall_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = sin(q[0]) + WALL;
    g[1] = sin(q[0]) + sin(q[0] + q[1]) + WALL;
    return CAROM_OK;
}

static void wall_direction(int c, const double *q, double *W) {
    W[0] = cos(q[0]) + (c == 1 ? cos(q[0] + q[1]) : 0);
    W[1] = c == 1 ? cos(q[0] + q[1]) : 0;
}

static carom_status wall_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t;
    for (int b = 0; b < L->nb; ++b) wall_direction(L->id[b], q, L->W.a + L->at[b] * 2);
    return CAROM_OK;
}

static void walls(known *k) {
    known_double_pendulum(k);
    k->sys.nc = 2;
    k->sys.gaps = wall_gaps;
    k->sys.directions = wall_directions;
    k->contact[0].restitution = k->contact[1].restitution = E_WALL;
}

static void solve_mass(const known *k, double t, const double *q, const double *r, double *x) {
    double a[4] = {0};
    k->sys.mass(k, NULL, t, q, (carom_matrix){{CAROM_DENSE, 2, 0, NULL}, a});
    const double det = a[0] * a[3] - a[1] * a[2];
    x[0] = (a[3] * r[0] - a[2] * r[1]) / det;
    x[1] = (a[0] * r[1] - a[1] * r[0]) / det;
}

static void classic_step(const known *k, double t, double h, const double *x, double *y) {
    static const double c[4] = {0, 0.5, 0.5, 1}, w[4] = {1, 2, 2, 1};
    double r[4][4], z[4];
    for (int i = 0; i < 4; ++i) y[i] = x[i];
    for (int j = 0; j < 4; ++j) {
        double f[2] = {0};
        for (int i = 0; i < 4; ++i) z[i] = x[i] + (j > 0 ? c[j] * h * r[j - 1][i] : 0);
        k->sys.force(k, NULL, t + c[j] * h, z, z + 2, f);
        r[j][0] = z[2], r[j][1] = z[3];
        solve_mass(k, t + c[j] * h, z, f, r[j] + 2);
        for (int i = 0; i < 4; ++i) y[i] += h / 6 * w[j] * r[j][i];
    }
}

// An event-driven integrator of its own: steps of 1e-4, bisection to the last bit, one contact at a time.
static int reference_run(const known *k, double T, double *x) {
    const int N = 30000;
    int impacts = 0;
    for (int n = 0; n < N; ++n) {
        double t = T * n / N, left = T / N, y[4], g[2];
        for (;;) {
            classic_step(k, t, left, x, y);
            wall_gaps(NULL, NULL, 0, y, g);
            if (g[0] >= 0 && g[1] >= 0) break;
            double a = 0, b = left;
            for (int i = 0; i < 60; ++i) {
                const double m = 0.5 * (a + b);
                classic_step(k, t, m, x, y);
                wall_gaps(NULL, NULL, 0, y, g);
                *(g[0] >= 0 && g[1] >= 0 ? &a : &b) = m;
            }
            classic_step(k, t, b, x, y);
            wall_gaps(NULL, NULL, 0, y, g);
            double W[2], X[2];
            wall_direction(g[1] < g[0], y, W);
            classic_step(k, t, a, x, y);
            solve_mass(k, t, y, W, X);
            const double p = -(1 + E_WALL) * (W[0] * y[2] + W[1] * y[3]) / (W[0] * X[0] + W[1] * X[1]);
            y[2] += p * X[0], y[3] += p * X[1];
            for (int i = 0; i < 4; ++i) x[i] = y[i];
            t += a, left -= a;
            impacts += 1;
        }
        for (int i = 0; i < 4; ++i) x[i] = y[i];
    }
    return impacts;
}

static void double_pendulum_at_two_walls_has_the_order_of_the_table(void **state) {
    (void)state;
    const double T = 3;
    known k;
    walls(&k);
    double x[4] = {k.q0[0], k.q0[1], k.v0[0], k.v0[1]};
    const int impacts = reference_run(&k, T, x);
    assert_true(impacts >= 3);
    for (int i = 0; i < NMETHODS; ++i) {
        enum { MOST = 8 };
        double h[MOST], error[MOST];
        int n = 0;
        for (int steps = 110; n < MOST; ++n, steps = (int)(steps * 1.5)) {
            carom_sim *sim = mixed(&k, METHODS + i, T / steps, T);
            int found = 0; // events: the ledger counts only those that are fast for the step
            while (!carom_sim_done(sim)) sim_step(sim), found += sim_impacts(sim);
            const carom_now now = carom_sim_now(sim);
            h[n] = T / steps;
            error[n] = fmax(fabs(now.q[0] - x[0]), fabs(now.q[1] - x[1]));
            assert_int_equal(found, impacts);
            carom_sim_destroy(sim);
            if (error[n] < 1e-11) break; // the reference: 30000 roundings, and some growth
        }
        const double order = slope(h, error, n);
        print_message("    %s %s: measured %.2f (error %.1e), %d impacts\n", METHODS[i].rk, METHODS[i].order, order,
                      error[n - 1], impacts);
        assert_true(n >= 3 && order >= METHODS[i].p - 0.3);
    }
}

// -- slider-crank, pendulum, block: references of other programs ------------------------------------------------------

// Frictionless e = 0.4 and with mu = 0.01, references-A 1.2: event-driven, 13 digits.  Several accumulations, lasting
// contact, release and, with friction, slip all the way.
static void slider_crank_meets_the_event_driven_reference(void **state) {
    (void)state;
    static const double R[2][6] = {
        {4.7991045090043, 0.52520273324351, 7.4051987556077, 9.0442082806021, -0.19013625821456, 7.3218342217339},
        {4.7935542997301, 0.52547066853001, 7.3585625012018, 9.0006398425259, -0.210588755100, 7.2276439467617}};
    for (int friction = 0; friction < 2; ++friction)
        for (int i = 1; i < 4; ++i) {
            enum { SIZES = 3 };
            double h[SIZES], error[SIZES];
            known k;
            known_slider_crank(&k, 1e-3, 0.4, friction ? 0.01 : 0, true);
            for (int j = 0; j < SIZES; ++j) {
                // order 5: so that the smallest error is still above the 13 digits of the reference
                h[j] = (METHODS[i].p == 5 ? 4e-4 : 2e-4) / (1 << j);
                carom_sim *sim = mixed(&k, METHODS + i, h[j], 0.1);
                const double *q = carom_sim_now(sim).q, *r = R[friction];
                sim_to(sim, 0.05);
                error[j] = fmax(fmax(fabs(q[0] - r[0]), fabs(q[1] - r[1])), fabs(sim_energy(sim) - r[2]));
                sim_to(sim, 0.1);
                error[j] =
                    fmax(error[j], fmax(fmax(fabs(q[0] - r[3]), fabs(q[1] - r[4])), fabs(sim_energy(sim) - r[5])));
                assert_true(fabs(q[2]) < 1e-11); // both corners of a side close together: the slider never turns
                assert_true(sim_ledger(sim).penetration < 1e-13);
                carom_sim_destroy(sim);
            }
            const double order = slope(h, error, SIZES);
            print_message("    %s, %s: measured %.2f (error %.1e)\n", METHODS[i].order,
                          friction ? "friction" : "frictionless", order, error[SIZES - 1]);
            assert_true(order >= METHODS[i].p - 0.3);
            assert_true(i < 3 || error[SIZES - 1] < 1e-9);
        }
}

// Rigid pendulum with two joints and a wall, references-B 1.1 (18 digits): impacts with their impulses, then rest.
static void pendulum_with_joints_meets_its_reference(void **state) {
    (void)state;
    static const double t_k[] = {0.48611044329720084401, 1.2812252569089714732, 1.9513403119340929248,
                                 2.5171373483738059192,  2.9912770469529051191, 3.3846149348166225436,
                                 3.7077947248191486503,  3.9712357859717689431};
    static const double P_k[] = {11.7346659856925444, 9.38773278855403553, 7.51018623084322842};
    known k;
    known_pendulum(&k, 0.1);
    carom_sim *sim = mixed(&k, METHODS + 3, 2e-3, 6);
    int n = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < now.nevents; ++i) {
            if (now.events[i].kind == CAROM_IMPACT && n < 8) {
                check_near(now.events[i].t, t_k[n], 1e-11);
                if (n < 3) check_near(now.events[i].impulse, P_k[n], 1e-9);
                n += 1;
            }
            // ends at eps_v
            if (now.events[i].kind == CAROM_ACCUMULATION) check_near(now.events[i].t, 5.053981620657049201, 2e-6);
        }
    }
    const carom_now now = carom_sim_now(sim);
    const carom_ledger l = sim_ledger(sim);
    assert_int_equal(n, 8);
    assert_int_equal(l.accumulations, 1);
    assert_true(l.drift < 1e-13); // projected at every step end
    check_near(now.force[0], -10, 1e-9);
    check_near(now.force[1], 10, 1e-9);
    check_near(now.force[2], 10, 1e-9);
    check_near(sim_energy(sim), -7.071067811865475244, 1e-12);
    carom_sim_destroy(sim);
}

// Rocking block, references-B 1.2: single impacts, then a cascade of accumulations that ends in rest.
static void rocking_block_comes_to_rest(void **state) {
    (void)state;
    static const double t_k[] = {0.18375148378275077672, 0.29629686435003499239, 0.47269323389807440609,
                                 0.51857658096827924884, 0.61464584704104760102, 0.61755552932041689055,
                                 0.66283933639574552206, 0.68553553037147025427};
    static const int corner[] = {1, 0, 1, 0, 1, 0, 0, 0};
    known k;
    known_rocking_block(&k);
    carom_sim *sim = mixed(&k, METHODS + 3, 1e-3, 1);
    int n = 0;
    double last = 0;
    while (!carom_sim_done(sim)) {
        sim_step(sim);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < now.nevents; ++i) {
            if (now.events[i].kind != CAROM_IMPACT) continue;
            last = now.events[i].t;
            if (n == 8) continue;
            check_near(now.events[i].t, t_k[n], 1e-10);
            assert_int_equal(now.events[i].contact, corner[n]);
            n += 1;
        }
    }
    const carom_now now = carom_sim_now(sim);
    assert_int_equal(n, 8);
    check_near(last, 0.762170581789641992, 1e-5);
    check_near(now.q[1], 0.75, 1e-14);
    check_near(now.q[2], 0, 1e-14);
    check_near(carom_norm_max(now.v, 3), 0, 1e-14);
    check_near(now.force[0], 4.905, 1e-11);
    check_near(now.force[1], 4.905, 1e-11);
    carom_sim_destroy(sim);
}

// Particle on an inclined plane with sideways velocity: friction turns with the motion.  Speed and angle obey
// s' = g (sin a cos b - mu cos a), b' = -g sin a sin b/s, b from the line of descent; here by the classic method.
static void spatial_slip_follows_its_direction(void **state) {
    (void)state;
    const double angle = 0.5, mu = 0.4, g = 9.81, T = 0.2;
    double s = 2, b = 1.2;
    for (int n = 0; n < 2000; ++n) {
        static const double c[4] = {0, 0.5, 0.5, 1}, w[4] = {1, 2, 2, 1};
        double ds[4], db[4], s_1 = s, b_1 = b;
        for (int j = 0; j < 4; ++j) {
            const double h = T / 2000, x = s + (j > 0 ? c[j] * h * ds[j - 1] : 0),
                         y = b + (j > 0 ? c[j] * h * db[j - 1] : 0);
            ds[j] = g * (sin(angle) * cos(y) - mu * cos(angle));
            db[j] = -g * sin(angle) * sin(y) / x;
            s_1 += h / 6 * w[j] * ds[j];
            b_1 += h / 6 * w[j] * db[j];
        }
        s = s_1, b = b_1;
    }
    for (int i = 1; i < 4; ++i) {
        double h[4], error[4];
        int n = 0;
        for (int j = 0; j < 4 && (j == 0 || error[j - 1] > 1e-11); ++j, ++n) { // above rounding
            known k;
            known_slope_spatial(&k, 1, angle, mu, 0.7);
            double down[3], side[3]; // the line of descent is 0.8 t1 + 0.6 t2
            for (int m = 0; m < 3; ++m) {
                down[m] = 0.8 * k.frame[3 + m] + 0.6 * k.frame[6 + m];
                side[m] = 0.6 * k.frame[3 + m] - 0.8 * k.frame[6 + m];
                k.v0[m] = 2 * (cos(1.2) * down[m] + sin(1.2) * side[m]);
            }
            h[j] = T / (5 << j);
            carom_sim *sim = mixed(&k, METHODS + i, h[j], T);
            while (!carom_sim_done(sim)) sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            error[j] = fmax(fabs(carom_dot(now.v, down, 3) - s * cos(b)), fabs(carom_dot(now.v, side, 3) - s * sin(b)));
            carom_sim_destroy(sim);
        }
        print_message("    %s: measured %.2f (error %.1e)\n", METHODS[i].order, slope(h, error, n), error[n - 1]);
        assert_true(n >= 2 && slope(h, error, n) >= METHODS[i].p - 0.3);
    }
}

// A spring of frequency 1e4 between the two balls, steps of 1e-3: explicit tables explode, Radau's do not.
static void radau_is_stable_for_stiff_models(void **state) {
    (void)state;
    known k;
    known_two_balls(&k, 5e7);
    carom_sim *sim = mixed(&k, METHODS + 9, 1e-3, 0.6);
    while (!carom_sim_done(sim)) sim_step(sim);
    // Both fall as one body until 0.40025 (references-B 1.5); afterwards energy is lost, not gained.
    assert_true(sim_ledger(sim).impacts >= 1);
    assert_true(sim_energy(sim) < 16.02 + 1e-6 && sim_energy(sim) > 0);
    assert_true(sim_ledger(sim).counts.newton > 0);
    assert_int_equal(sim_ledger(sim).rejected, 0);
    carom_sim_destroy(sim);
}

// Damped oscillator: the work of the damper is integrated with the order of the table.
static carom_status damped_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)t;
    f[0] = -q[0] - 0.2 * v[0];
    return CAROM_OK;
}

static carom_status damped_power(const void *model, void *work, double t, const double *q, const double *v, double *in,
                                 double *out) {
    (void)model, (void)work, (void)t, (void)q;
    *in = 0;
    *out = 0.2 * v[0] * v[0];
    return CAROM_OK;
}

static void ledger_closes_with_damping_and_impacts(void **state) {
    (void)state;
    known k;
    known_oscillator(&k, 0.5);
    k.sys.force = damped_force;
    k.sys.power = damped_power;
    for (int i = 2; i < NMETHODS; ++i) {
        if (METHODS[i].p < 4) continue;
        const double h = 0.05;
        carom_sim *sim = mixed(&k, METHODS + i, h, 10);
        while (!carom_sim_done(sim)) sim_step(sim);
        const carom_ledger l = sim_ledger(sim);
        assert_true(l.energy.damping > 0.1 && l.energy.impact > 0.1);
        check_near(l.energy.balance, 0, 10 * pow(h, 4)); // energies of order 1, over 10 time units, coefficients below
                                                         // 1
        carom_sim_destroy(sim);
    }
}

// -- several impacts in one step -------------------------------------------------------------------------------------

static double draw(unsigned *state, double low, double high) {
    *state = *state * 1664525u + 1013904223u;
    return low + (high - low) * (double)(*state >> 8) / (double)(1u << 24);
}

// Three masses on springs that fall on a wavy floor with friction, all within the second of four steps of 0.04 s; some
// hit it again.
static carom_model *falling_masses(unsigned seed) {
    unsigned r = seed * 2654435761u;
    char text[4000];
    size_t n = 0;
#define PUT(...) n += (size_t)snprintf(text + n, sizeof text - n, __VA_ARGS__)
    PUT("carom: 1\ncoordinates:\n");
    for (int i = 0; i < 3; ++i) {
        const double x = 0.4 * i + draw(&r, -0.05, 0.05), vx = draw(&r, -1, 1), y = draw(&r, 0.055, 0.065),
                     vy = draw(&r, -1.05, -0.95);
        PUT("  x%d: {at: %.6f, rate: %.6f}\n  y%d: {at: %.6f, rate: %.6f}\n", i, x, vx, i, y, vy);
    }
    double m[3];
    for (int i = 0; i < 3; ++i) m[i] = draw(&r, 0.5, 2);
    PUT("energy:\n  kinetic: 0");
    for (int i = 0; i < 3; ++i) PUT(" + %.4f/2*(x%d'^2 + y%d'^2)", m[i], i, i);
    PUT("\n  potential: 0");
    for (int i = 0; i < 3; ++i) PUT(" + %.4f*9.81*y%d", m[i], i);
    for (int i = 0; i < 2; ++i)
        PUT(" + %.3f/2*(sqrt((x%d - x%d)^2 + (y%d - y%d)^2) - 0.4)^2", draw(&r, 50, 300), i + 1, i, i + 1, i);
    PUT("\nforces: {x0: 0.3*sin(5*t) - 0.1*x0'}\ncontacts:\n");
    for (int i = 0; i < 3; ++i) {
        const double slope = draw(&r, -0.05, 0.05), mu = draw(&r, 0.05, 0.4), e = draw(&r, 0.3, 0.8);
        PUT("  floor%d: {gap: y%d - %.4f*x%d - 0.02*sin(3*x%d), slip: x%d + %.4f*y%d, friction: %.3f, restitution: "
            "%.3f}\n",
            i, i, slope, i, i, i, slope, i, mu, e);
    }
#undef PUT
    return good(text);
}

// Largest error of a position over the step ends at multiples of 0.04 s.
static double falling_error(carom_model *m, const char *scheme, const char *const *options, int parts,
                            double (*exact)[6], bool set) {
    const double h = 0.04 / parts;
    carom_sim *sim = model_sim(m, scheme, options, h, 0.16);
    double most = 0;
    for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < parts; ++i) sim_step(sim);
        for (int j = 0; j < 6; ++j) {
            const double q = carom_sim_now(sim).q[j];
            if (set) exact[k][j] = q;
            most = fmax(most, fabs(q - exact[k][j]));
        }
    }
    carom_sim_destroy(sim);
    return most;
}

// Ten of them: mean orders from two to thirty-two steps per 0.04 s.
static void several_impacts_in_one_step_keep_the_order(void **state) {
    (void)state;
    static const struct { const char *scheme, *option[4]; double low, high; } rows[] = {
        {"splitting", {NULL}, 0.7, 1.7}, {"mixed", {"order=2", NULL}, 1.7, 2.4}, {"mixed", {"order=4", NULL}, 3.3, 4.7},
        {"half-explicit", {"active=predicted", "impulsive-power=1", "impulsive-time=0.05", NULL}, 1.8, 3},
        {"alpha-forces", {"locate=yes", NULL}, 1.7, 2.4}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; ++r) {
        double mean = 0;
        for (unsigned seed = 1; seed <= 10; ++seed) {
            double exact[4][6];
            carom_model *m = falling_masses(seed);
            falling_error(m, "mixed", (const char *const[]){"order=5", "bracket=0", NULL}, 100, exact, true);
            const double first = falling_error(m, rows[r].scheme, rows[r].option, 2, exact, false),
                         last = falling_error(m, rows[r].scheme, rows[r].option, 32, exact, false);
            mean += log2(first / last) / 4 / 10;
            carom_model_destroy(m);
        }
        print_message("    %s %s: mean order %.2f\n", rows[r].scheme, rows[r].option[0] ? rows[r].option[0] : "", mean);
        assert_true(mean > rows[r].low && mean < rows[r].high);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_impacts_in_one_step_keep_the_order),
        cmocka_unit_test(tables_meet_all_order_conditions),
        cmocka_unit_test(asked_order_is_met_or_exceeded),
        cmocka_unit_test(impacting_oscillator_has_the_order_of_the_table),
        cmocka_unit_test(ball_with_accumulation_gains_an_order),
        cmocka_unit_test(events_are_told_with_their_times),
        cmocka_unit_test(double_pendulum_at_two_walls_has_the_order_of_the_table),
        cmocka_unit_test(slider_crank_meets_the_event_driven_reference),
        cmocka_unit_test(pendulum_with_joints_meets_its_reference),
        cmocka_unit_test(rocking_block_comes_to_rest),
        cmocka_unit_test(spatial_slip_follows_its_direction),
        cmocka_unit_test(radau_is_stable_for_stiff_models),
        cmocka_unit_test(ledger_closes_with_damping_and_impacts),
    };
    return cmocka_run_group_tests_name("mixed", tests, NULL, NULL);
}

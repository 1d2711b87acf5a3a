// test_accumulate.c: impacts that follow each other ever faster on two contacts, with the schemes that locate events.
//
// A slab on two feet, gaps y -+ a th, slip x + b th, inertia 1, 1, J: everything is linear, so flights are straight
// lines or parabolas, impacts on one foot have a closed form, and the sequence of impacts is known to rounding.  With c
// = -G_12/G_11 = (k - 1)/(k + 1), k = a^2/J, a sequence without weight and friction is infinite if and only if c >= 2
// sqrt(e)/(1 + e).
#include "model_text.h"
#include "schemes.h"
#include <carom/event.h>
#include <float.h>

typedef struct slab {
    double a, b, J, e, mu, g;    // geometry, inertia, laws, weight
    double e_T;                  // tangential restitution
    double y, th, vx, vy, vth;   // the start, at x = 0
    double belt;                 // everything moves along with a floor of this velocity; outcomes are relative to it
} slab;

typedef struct outcome {
    double t, x, v[3];           // end of the impacts; x and velocities there
    double at[100];              // when: the first impacts
    int impacts;
    bool finite;
} outcome;

static double normal(const slab *m, const double *v, int foot) { return v[1] + (foot ? m->a : -m->a) * v[2]; }

// Newton's and Coulomb's law at one foot: it sticks if it can.
static void hit(const slab *m, double *v, int foot) {
    const double lever = foot ? m->a : -m->a, NN = 1 + lever * lever / m->J, NT = lever * m->b / m->J,
                 TT = 1 + m->b * m->b / m->J;
    const double u_N = normal(m, v, foot), u_T = (1 + m->e_T) * (v[0] + m->b * v[2]), det = NN * TT - NT * NT;
    double N = (-(1 + m->e) * u_N * TT + u_T * NT) / det, T = (-u_T * NN + (1 + m->e) * u_N * NT) / det;
    if (fabs(T) > m->mu * N) {
        const double sign = T > 0 ? -1 : 1; // of the slip that is left
        N = -(1 + m->e) * u_N / (NN - m->mu * sign * NT);
        T = -m->mu * sign * N;
    }
    v[0] += T;
    v[1] += N;
    v[2] += (lever * N + m->b * T) / m->J;
}

// Gaps are numbers of their own: flights may become as short as they like.
static outcome exact(const slab *m) {
    double gap[2] = {m->y - m->a * m->th, m->y + m->a * m->th};
    outcome o = {.v = {m->vx, m->vy, m->vth}};
    for (o.impacts = 0; o.impacts < 2000; ++o.impacts) {
        double T = HUGE_VAL;
        int foot = -1;
        for (int i = 0; i < 2; ++i) {
            const double u = normal(m, o.v, i), root = sqrt(u * u + 2 * m->g * gap[i]);
            const double time = m->g > 0 ? (u > 0 ? (u + root) / m->g : 2 * gap[i] / (root - u))
                                : u < 0  ? -gap[i] / u
                                         : HUGE_VAL;
            if (time < T) T = time, foot = i;
        }
        if (T == HUGE_VAL) {
            o.finite = true;
            return o;
        }
        for (int i = 0; i < 2; ++i)
            gap[i] = i == foot ? 0 : fmax(gap[i] + normal(m, o.v, i) * T - 0.5 * m->g * T * T, 0);
        o.t += T, o.x += T * o.v[0];
        if (o.impacts < 100) o.at[o.impacts] = o.t;
        o.v[1] -= m->g * T;
        hit(m, o.v, foot);
    }
    return o;
}

typedef struct end {
    double q[4], v[4], t;        // t: of the first accumulation
    int accumulations, impacts;
    carom_ledger ledger;
} end;

static end run(const char *text, const char *scheme, const char *const *options, double h, double t_end) {
    carom_error err = {0};
    carom_model *m = good(text);
    carom_sim_def d = sim_def(m, scheme, options, h, t_end);
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s: %s", scheme, err.text);
    end e = {.t = 0};
    while (!carom_sim_done(sim)) {
        if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s: %s", scheme, err.text);
        const carom_now now = carom_sim_now(sim);
        for (int i = 0; i < now.nevents; ++i) {
            e.impacts += now.events[i].kind == CAROM_IMPACT;
            if (now.events[i].kind != CAROM_ACCUMULATION) continue;
            if (e.accumulations++ == 0) e.t = now.events[i].t;
        }
    }
    const carom_now now = carom_sim_now(sim);
    e.ledger = sim_ledger(sim);
    for (int i = 0; i < d.system->nv && i < 4; ++i) e.q[i] = now.q[i], e.v[i] = now.v[i];
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return e;
}

static end run_slab(const slab *m, const char *scheme, const char *const *options, double h, double t_end) {
    char text[1200];
    snprintf(
        text, sizeof text,
        "carom: 1\ncoordinates: {x: {at: 0, rate: %.17g}, y: {at: %.17g, rate: %.17g}, th: {at: %.17g, rate: %.17g}}\n"
        "energy: {kinetic: 1/2*(x'^2 + y'^2) + %.17g/2*th'^2, potential: %.17g*y}\n"
        "contact defaults: {tangential restitution: %.17g}\ncontacts:\n  left: {gap: y - %.17g*th, slip: x + %.17g*th "
        "- %.17g*t, restitution: %.17g, friction: %.17g}\n"
        "  right: {gap: y + %.17g*th, slip: x + %.17g*th - %.17g*t, restitution: %.17g, friction: %.17g}\n",
        m->vx + m->belt, m->y, m->vy, m->th, m->vth, m->J, m->g, m->e_T, m->a, m->b, m->belt, m->e, m->mu, m->a, m->b,
        m->belt, m->e, m->mu);
    end r = run(text, scheme, options, h, t_end);
    r.v[0] -= m->belt;
    return r;
}

typedef struct method {
    const char *name;
    const char *options[4];
    double tol; // error allowed, relative to the velocities
} method;

static const method METHODS[] = {
    {"event-driven", {NULL}, 1e-10},
    {"event-driven", {"velocity-tol=1e-11", "time-tol=1e-11", NULL}, 1e-10},
    {"mixed", {NULL}, 1e-8},
    {"auto", {"rtol=1e-8", NULL}, 1e-7},
};
enum { METHODS_N = sizeof METHODS / sizeof *METHODS };

// One percent above and below the bound: rest after infinitely many impacts, or feet that leave after many, with little
// speed but not none.
static void the_bound_divides_infinite_sequences_from_finite_ones(void **state) {
    (void)state;
    static const double restitution[] = {0.3, 0.5, 0.8};
    for (int i = 0; i < 3; ++i)
        for (int above = 0; above < 2; ++above) {
            const double e = restitution[i], c = (above ? 1.01 : 0.99) * 2 * sqrt(e) / (1 + e), k = (1 + c) / (1 - c);
            if (c >= 1) continue;
            const slab m = {.a = 1, .J = 1 / k, .e = e, .y = 0.1, .th = 0.01, .vy = -1};
            const outcome o = exact(&m);
            assert_int_equal(o.finite, !above);
            for (int j = 0; j < METHODS_N; ++j) {
                const end r = run_slab(&m, METHODS[j].name, METHODS[j].options, 0.01, 0.5);
                if (!o.finite) assert_int_equal(r.accumulations, 2);
                scheme_near(METHODS[j].name, r.v[1], o.finite ? o.v[1] : 0, METHODS[j].tol);
                scheme_near(METHODS[j].name, r.v[2] * sqrt(m.J), o.finite ? o.v[2] * sqrt(m.J) : 0, METHODS[j].tol);
                scheme_near(METHODS[j].name, r.q[1], o.finite ? 0.5 * o.v[1] : 0, o.finite ? 0.1 : METHODS[j].tol);
                scheme_near(METHODS[j].name, r.ledger.energy.balance, 0, 1e-9);
            }
        }
}

// (AC-4)  No tolerance is finer than 1e-14, however short the steps, (h/T)^6 = 1e-18: the limit is predicted once what
//         is left of the run is 1e-7 of it, and predictions of two cycles, of two impacts each, agree; one more for
//         rounding.
static void the_limit_is_predicted_in_time(void **state) {
    (void)state;
    const slab m = {.a = 1, .J = 0.05, .e = 0.3, .y = 0.1, .th = 0.01, .vy = -1};
    const outcome o = exact(&m);
    int n = 0;
    while (n < 100 && o.t - o.at[n] > 1e-7 * (o.at[n] - o.at[0])) ++n;
    assert_true(!o.finite && n > 10 && n < 60);
    const end r = run_slab(&m, "mixed", (const char *const[]){"order=6", NULL}, 1e-4, 0.15);
    assert_int_equal(r.accumulations, 2);
    assert_close(r.t, o.t, 1e-12);
    if (!(r.impacts <= n + 1 + 6)) fail_msg("%d impacts, and %d until 1e-7 are left", r.impacts, n + 1);
}

// With friction the limit is that of Coulomb's law if slip does not reverse on the way, and the sequence is followed
// further if it does.
static void with_friction_the_limit_is_the_sum_of_the_sequence(void **state) {
    (void)state;
    static const double friction[] = {0.05, 0.3, 0.8};
    unsigned seed = 7;
    int infinite = 0;
    for (int i = 0; i < 18; ++i) {
        double random[3];
        for (int k = 0; k < 3; ++k) seed = seed * 1664525u + 1013904223u, random[k] = seed / 4294967296. - 0.5;
        const slab m = {.a = 1,
                        .b = 0.2,
                        .J = 1. / 60,
                        .e = 0.4,
                        .mu = friction[i % 3],
                        .y = 0.1,
                        .th = 0.02 * random[0],
                        .vy = -1,
                        .vx = 2 * random[1],
                        .vth = random[2]};
        const outcome o = exact(&m);
        infinite += !o.finite;
        for (int j = 0; j < METHODS_N; ++j) {
            const end r = run_slab(&m, METHODS[j].name, METHODS[j].options, 0.01, fmax(0.3, 1.5 * o.t));
            if (o.finite) {
                for (int k = 0; k < 3; ++k) scheme_near(METHODS[j].name, r.v[k], o.v[k], 10 * METHODS[j].tol);
                continue;
            }
            scheme_near(METHODS[j].name, r.v[0], o.v[0], METHODS[j].tol);
            scheme_near(METHODS[j].name, r.v[1], 0, 1e-12);
            scheme_near(METHODS[j].name, r.v[2], 0, 1e-12);
            if (i >= 6) continue;
            // On a belt it is the same: the limit is recognised after as many impacts.
            slab moved = m;
            moved.belt = 3;
            const end s = run_slab(&moved, METHODS[j].name, METHODS[j].options, 0.01, fmax(0.3, 1.5 * o.t));
            scheme_near(METHODS[j].name, s.v[0], o.v[0], METHODS[j].tol);
            assert_in_range(s.ledger.impacts - r.ledger.impacts + 2, 0, 4);
        }
    }
    assert_true(infinite >= 9);
}

// Tangential restitution reverses the slip at every impact that sticks.  In the limit it has come to rest, or goes on
// in one direction: what (AC-1) says.
static void with_tangential_restitution(void **state) {
    (void)state;
    static const double back[] = {0.3, 0.6, 1};
    unsigned seed = 5;
    int rest = 0, slide = 0;
    for (int i = 0; i < 18; ++i) {
        double random[3];
        for (int k = 0; k < 3; ++k) seed = seed * 1664525u + 1013904223u, random[k] = seed / 4294967296. - 0.5;
        const slab m = {.a = 1,
                        .b = 0.2,
                        .J = 1. / 60,
                        .e = 0.4,
                        .e_T = back[i % 3],
                        .mu = i % 2 ? 0.3 : 0.8,
                        .y = 0.1,
                        .th = 0.02 * random[0],
                        .vy = -1,
                        .vx = 2 * random[1],
                        .vth = random[2]};
        const outcome o = exact(&m);
        if (o.finite) continue;
        *(fabs(o.v[0]) < 1e-9 ? &rest : &slide) += 1;
        for (int j = 0; j < METHODS_N; ++j) {
            const end r = run_slab(&m, METHODS[j].name, METHODS[j].options, 0.01, fmax(0.3, 1.5 * o.t));
            scheme_near(METHODS[j].name, r.v[0], o.v[0], METHODS[j].tol);
            scheme_near(METHODS[j].name, r.v[1], 0, 1e-12);
            scheme_near(METHODS[j].name, r.v[2], 0, 1e-12);
        }
    }
    print_message("    %d come to rest, %d slide on\n", rest, slide);
    assert_true(rest >= 2 && slide >= 2);
}

// A bar on two supports with c = 0.85, below the bound of 0.94 for e = 0.5.  Its weight brings it back again and again,
// and both feet come to rest at the same time.
static void a_bar_comes_to_rest_on_two_supports(void **state) {
    (void)state;
    const slab m = {.a = 0.5, .J = 0.02, .e = 0.5, .g = 9.81, .y = 0.1, .th = 0.01};
    const outcome o = exact(&m);
    for (int j = 0; j < METHODS_N; ++j) {
        const end r = run_slab(&m, METHODS[j].name, METHODS[j].options, 1e-3, 1.2 * o.t);
        assert_int_equal(r.accumulations, 2);
        scheme_near(METHODS[j].name, r.t, o.t, 1e-6);
        for (int k = 1; k < 3; ++k) {
            scheme_near(METHODS[j].name, r.q[k], 0, 1e-12);
            scheme_near(METHODS[j].name, r.v[k], 0, 1e-12);
        }
        scheme_near(METHODS[j].name, r.ledger.energy.balance, 0, 1e-9);
    }
}

// A slab without weight slides all the while it clatters to rest.  Friction is mu times the normal impulse y' - y'_0,
// so x' + mu y' stays what it was, and x + mu y grows evenly, over the flights that are left out, too: (AC-5) goes back
// along all impulses, those of friction included.
static void a_slab_slides_while_it_comes_to_rest(void **state) {
    (void)state;
    const slab m = {.a = 1, .J = 1. / 60, .e = 0.4, .mu = 0.8, .y = 0.1, .th = 0.01, .vx = 4, .vy = -1};
    const double t = 0.5, rounding = 100 * DBL_EPSILON * m.vx; // of some dozens of flights and impacts
    assert_false(exact(&m).finite);
    for (int j = 0; j < METHODS_N; ++j) {
        const end r = run_slab(&m, METHODS[j].name, METHODS[j].options, 0.01, t);
        // to rounding: the others put a contact onto the wall that is there within their tolerance
        const bool located = strcmp(METHODS[j].name, "event-driven") == 0;
        assert_int_equal(r.accumulations, 2);
        scheme_near(METHODS[j].name, r.q[0] + m.mu * (r.q[1] - m.y - m.vy * t), m.vx * t,
                    located ? rounding : 10 * METHODS[j].tol);
        scheme_near(METHODS[j].name, r.v[0] + m.mu * (r.v[1] - m.vy), m.vx, rounding);
        scheme_near(METHODS[j].name, r.ledger.energy.balance, 0, 1e-9);
    }
}

// A slider in a narrow guide, tilted by 0.005 rad, with friction: speeds fall by 6 % from impact to impact, flights by
// more than half.  The values at t = 0.003 and 0.01 are those of an event integration with 60 digits.  A coordinate
// that has nothing to do with it may be fast.
static end crank(const char *scheme, const char *const *options, double h, double w, double t_end) {
    static const char *const text =
        "carom: 1\ncoordinates: {p: {at: 0, rate: 150}, r: {at: 0, rate: -75}, s: 0.005, far: {at: 0, rate: %g}}\n"
        "let: {x: 0.153*cos(p) + 0.306*cos(r), y: 0.153*sin(p) + 0.306*sin(r), x_r: 0.153*cos(p) + 0.153*cos(r), y_r: "
        "0.153*sin(p) + 0.153*sin(r)}\n"
        "energy:\n  kinetic: 1/2*(7.4e-5 + 0.038*0.0765^2)*p'^2 + 0.019*(x_r'^2 + y_r'^2) + 2.95e-4*r'^2 + 0.038*(x'^2 "
        "+ y'^2) + 1.35e-6*s'^2 + 1/2*far'^2\n"
        "  potential: 9.81*(0.038*0.0765*sin(p) + 0.038*y_r + 0.076*y)\n"
        "contact defaults: {restitution: 0.4, friction: 0.01}\ncontacts:\n"
        "  a: {gap: 0.026 - (y - 0.05*sin(s) + 0.025*cos(s)), slip: x - 0.05*cos(s) - 0.025*sin(s)}\n"
        "  b: {gap: 0.026 - (y + 0.05*sin(s) + 0.025*cos(s)), slip: x + 0.05*cos(s) - 0.025*sin(s)}\n"
        "  c: {gap: 0.026 + (y - 0.05*sin(s) - 0.025*cos(s)), slip: x - 0.05*cos(s) + 0.025*sin(s)}\n"
        "  d: {gap: 0.026 + (y + 0.05*sin(s) - 0.025*cos(s)), slip: x + 0.05*cos(s) + 0.025*sin(s)}\n";
    char full[2000];
    snprintf(full, sizeof full, text, w);
    return run(full, scheme, options, h, t_end);
}

static void a_tilted_slider_clatters_to_its_limit(void **state) {
    (void)state;
    static const struct {
        method m;
        double h, w; // m.tol: absolute, at 0.003; ten times that at 0.01
    } runs[] = {
        {{"event-driven", {NULL}, 1e-11}, 1e-4, 0},
        {{"event-driven", {"velocity-tol=1e-11", "time-tol=1e-11", NULL}, 1e-11}, 1e-4, 0},
        {{"event-driven", {NULL}, 1e-11}, 1e-4, 1e3},
        {{"event-driven", {"velocity-tol=1e-11", "time-tol=1e-11", NULL}, 1e-11}, 1e-4, 1e6},
        {{"mixed", {NULL}, 1e-8}, 1e-4, 0}, // (h/T)^4 with T = 2.7e-3 is 2e-6
        {{"mixed", {NULL}, 1e-9}, 4e-5, 0},
        {{"mixed", {NULL}, 1e-11}, 1e-5, 1e6},
        {{"auto", {"rtol=1e-6", NULL}, 1e-7}, 1e-3, 0},
        {{"auto", {"rtol=1e-8", NULL}, 1e-9}, 1e-3, 1e3},
        {{"splitting", {NULL}, 1e-5}, 1e-5, 0}, // first order: h times 1 rad/s
        {{"splitting", {"adaptive=on", "rtol=1e-8", "atol=1e-8", NULL}, 1e-8}, 1e-3, 0},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; ++i) {
        const end a = crank(runs[i].m.name, runs[i].m.options, runs[i].h, runs[i].w, 0.003),
                  b = crank(runs[i].m.name, runs[i].m.options, runs[i].h, runs[i].w, 0.01);
        scheme_near(runs[i].m.name, a.q[0], 0.388141575205, runs[i].m.tol);
        scheme_near(runs[i].m.name, b.q[0], 0.947808550347, 10 * runs[i].m.tol);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bound_divides_infinite_sequences_from_finite_ones),
        cmocka_unit_test(the_limit_is_predicted_in_time),
        cmocka_unit_test(with_friction_the_limit_is_the_sum_of_the_sequence),
        cmocka_unit_test(with_tangential_restitution),
        cmocka_unit_test(a_bar_comes_to_rest_on_two_supports),
        cmocka_unit_test(a_slab_slides_while_it_comes_to_rest),
        cmocka_unit_test(a_tilted_slider_clatters_to_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

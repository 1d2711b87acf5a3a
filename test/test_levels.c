// test_levels.c: what schemes on position and velocity level promise, in every model of models/ and over a range of
// step sizes.
//
// Gaps and joints at step ends, and energies that may not rise.  With the argument "long": more step sizes, longer
// runs.
#include "model_text.h"
#include "scheme/registry.h"
#include "sim/inspect.h"
#include <float.h>

#ifndef CAROM_SHIPPED
#define CAROM_SHIPPED "" // names of models/, one space each; from CMake
#endif

#define WITH(...)                                                                                                      \
    (const char *const[]) { __VA_ARGS__, NULL }

static bool at_length; // "long"

// -- runs ---------------------------------------------------------------------------------------------------------

static carom_sim *start(const carom_model *m, const char *scheme, const char *const *options, double h, long steps) {
    return model_sim(m, scheme, options, h, fmin(carom_model_simulation(m).end, (double)steps * h));
}

// Calls back with the name of every shipped model, and the model.
static void each_model(void (*visit)(const char *name, const carom_model *m, void *user), void *user) {
    char names[] = CAROM_SHIPPED, *rest = names;
    int n = 0;
    for (char *end; *rest; rest = end, ++n) {
        end = rest + strcspn(rest, " ");
        if (*end) *end++ = 0;
        carom_model *m = shipped_model(rest);
        if (!carom_system_closes_while(carom_model_system(m), 0))
            visit(rest, m, user); // few schemes support `closes while`
        carom_model_destroy(m);
    }
    assert_true(n >= 17);
}

static double largest(const double *x, int n) {
    double most = 0;
    for (int i = 0; i < n; ++i) most = fmax(most, fabs(x[i]));
    return most;
}

// -- gaps and joints ------------------------------------------------------------------------------------------------

typedef struct promise {
    const char *scheme, *option;
    bool half;     // gaps may be negative by h/2 times the approach velocity where a contact did not react
    bool open_loop; // forces are: stiff models want steps below those of the sweep
    long runs, ended, missed; // how much was seen: runs, those that ended before their end, steps with a contact missed
} promise;

typedef struct watched {
    const char *name;
    const carom_model *m;
    promise *p;
    carom_sim *sim;
    double h, speed;
    long rejected; // steps that were made in halves
    double *u_0, *u_1; // local velocities at begin and end of the step, recorded directions
    double *q_0, *v_0; // state at its begin
} watched;

// The solvers' tolerance is 1e-12 of the largest local velocity, of which ten times the largest velocity is a bound in
// all these models (lengths are below ten); beside it there is rounding of gaps.
static double tolerance(const watched *w, const carom_now *now) {
    const carom_system *sys = carom_sim_system(w->sim);
    return 1e-11 * w->h * w->speed + 64 * DBL_EPSILON * fmax(1, largest(now->q, sys->nq));
}

static void go(const carom_system *sys, double *q, double h, const double *v) {
    if (sys->move) sys->move(sys->model, q, q, h, v);
    for (int i = 0; !sys->move && i < sys->nq; ++i) q[i] += h * v[i];
}

// A contact that is open at q_M = q_0 + h/2 v_0 moves from there to q_M + h/2 v_1, by its velocity and by the turning
// of its direction, and then with the bodies that others which react take out of what they would have entered.  In the
// next step it is closed.
static double entering(const watched *w, const carom_now *now, int id) {
    const carom_system *sys = carom_sim_system(w->sim);
    const size_t nq = (size_t)sys->nq, nb = (size_t)(sys->ne + sys->nc);
    const int k = now->dir[id];
    bool others = sys->ne > 0;
    for (int other = sys->ne; other < sys->ne + sys->nc; ++other)
        others = others || (other != id && now->impulse[now->dir[other]] > 0);
    double *q = calloc(nq + 2 * nb, sizeof *q), *g_M = q + nq, *g_f = g_M + nb;
    void *work = work_of(w->m);
    assert_non_null(q);
    memcpy(q, w->q_0, nq * sizeof *q);
    go(sys, q, w->h / 2, w->v_0);
    assert_int_equal(sys->gaps(sys->model, work, now->t - w->h / 2, q, g_M), CAROM_OK);
    go(sys, q, w->h / 2, now->v);
    assert_int_equal(sys->gaps(sys->model, work, now->t, q, g_f), CAROM_OK);
    const double turning = fabs(g_f[id] - g_M[id] - w->h / 2 * w->u_1[k]),
                 moved = others ? fabs(now->gap[id] - g_f[id]) : 0;
    free(work);
    free(q);
    return w->h / 2 * fmax(0, fmax(-w->u_0[k], -w->u_1[k])) + turning + moved;
}

static void check_gaps(watched *w) {
    const carom_system *sys = carom_sim_system(w->sim);
    const carom_now now = carom_sim_now(w->sim);
    const double tol = tolerance(w, &now);
    carom_ledger l;
    carom_error err;
    // of a halved step the midpoint is not known
    if (w->p->half && carom_sim_ledger(w->sim, &l, &err) == CAROM_OK && l.rejected > w->rejected) {
        w->rejected = l.rejected;
        return;
    }
    for (int id = 0; id < sys->ne + sys->nc; ++id) {
        const int k = now.dir[id];
        const double deep = id < sys->ne ? fabs(now.gap[id]) : -now.gap[id];
        if (deep <= tol) continue;
        const bool missed = id >= sys->ne && w->p->half && !(now.impulse[k] > 0);
        const double bound = missed ? entering(w, &now, id) : 0;
        if (missed && deep <= bound + tol)
            ++w->p->missed;
        else
            fail_msg("%s by %s %s, h = %g, t = %g: constraint %d is off by %g, allowed %g", w->name, w->p->scheme,
                     w->p->option, w->h, now.t, id, deep, bound + tol);
    }
}

static void watch(const char *name, const carom_model *m, promise *p, double h, long steps, bool must) {
    const carom_system *sys = carom_model_system(m);
    const carom_model_run run = carom_model_simulation(m);
    // options that the model asks for
    const bool own = strcmp(run.scheme, p->scheme) == 0 && run.options && run.options[0];
    watched w = {.name = name,
                 .m = m,
                 .p = p,
                 .h = h,
                 .sim = start(m, p->scheme, own ? run.options : WITH(p->option), h, steps)};
    const size_t n = (size_t)carom_sim_now(w.sim).dir[sys->ne + sys->nc] + 1;
    w.u_0 = calloc(2 * n + (size_t)sys->nq + (size_t)sys->nv, sizeof *w.u_0);
    assert_non_null(w.u_0);
    w.u_1 = w.u_0 + n;
    w.q_0 = w.u_1 + n;
    w.v_0 = w.q_0 + sys->nq;
    carom_error err = {0};
    w.speed = largest(carom_sim_now(w.sim).v, sys->nv);
    assert_int_equal(carom_sim_velocities(w.sim, w.u_1, &err), CAROM_OK);
    ++p->runs;
    while (!carom_sim_done(w.sim)) {
        memcpy(w.u_0, w.u_1, n * sizeof *w.u_0);
        memcpy(w.q_0, carom_sim_now(w.sim).q, (size_t)sys->nq * sizeof *w.q_0);
        memcpy(w.v_0, carom_sim_now(w.sim).v, (size_t)sys->nv * sizeof *w.v_0);
        if (carom_sim_step(w.sim, &err) != CAROM_OK) {
            if (must) fail_msg("%s by %s %s, h = %g: %s", name, p->scheme, p->option, h, err.text);
            print_message("    %s by %s %s, h = %g ends: %s\n", name, p->scheme, p->option, h, err.text);
            ++p->ended;
            break;
        }
        const double speed = largest(carom_sim_now(w.sim).v, sys->nv);
        if (p->open_loop && speed > 1e6) { // unstable, which the run will tell itself
            ++p->ended;
            break;
        }
        w.speed = fmax(w.speed, speed);
        assert_int_equal(carom_sim_velocities(w.sim, w.u_1, &err), CAROM_OK);
        check_gaps(&w);
    }
    carom_sim_destroy(w.sim);
    free(w.u_0);
}

// Steps from a third of the shipped one to 16 of it.  Newton's method must converge at the shipped step and below;
// above, a run may end.
static void sweep(const char *name, const carom_model *m, void *user) {
    static const double quick[] = {1, 7.3}, full[] = {0.3, 1, 2.1, 4, 7.3, 16};
    promise *p = user;
    const carom_scheme *scheme = carom_scheme_find(p->scheme);
    const carom_system *sys = carom_model_system(m);
    for (int i = 0; i < sys->nc; ++i)
        if (sys->contacts[i].friction > 0 && scheme->limitations & CAROM_NO_FRICTION) return;
    const int rows = 1 + sys->ne + (sys->nc > 6 ? sys->nc : 0);
    const double dear = rows * (double)rows; // joints and many contacts make steps dear
    const long steps = (long)fmin(at_length ? 6000 : 400, fmax(3, (at_length ? 1e6 : 3e4) / dear));
    // ggl-projection takes forces in the middle of a step, explicitly: elastic bodies are too fast for it with their
    // own step (flexible-rod: 1e19 m/s after four steps of 0.1 ms), and its contact problems then have no solution
    const bool stiff = p->open_loop && (strcmp(name, "rotating-beam") == 0 || strcmp(name, "bouncing-bar") == 0 ||
                                        strcmp(name, "flexible-rod") == 0);
    const bool pile = sys->nc > 10 && 2 * sys->nc > sys->nv; // more reactions than can be told apart: its own step and
                                                             // below
    for (int i = 0; i < (at_length ? 6 : 2); ++i) {
        const double factor = at_length ? full[i] : quick[i];
        if (pile && p->half && factor > 1) continue;
        watch(name, m, p, factor * carom_model_simulation(m).step, steps, factor <= 1 && !stiff);
    }
}

static void ggl_alpha_never_enters_nor_drifts(void **state) {
    (void)state;
    promise p = {.scheme = "ggl-alpha", .option = "newton=monolithic"};
    each_model(sweep, &p);
    print_message("    %ld runs, %ld ended early\n", p.runs, p.ended);
    assert_true(p.runs >= 34 && 40 * p.ended <= p.runs); // spatial friction at large steps: its direction lags in the
                                                         // iteration
}

static void ggl_projection_never_enters_nor_drifts(void **state) {
    (void)state;
    promise p = {.scheme = "ggl-projection", .option = "local=exact", .open_loop = true};
    each_model(sweep, &p);
    print_message("    %ld runs, %ld ended early\n", p.runs, p.ended);
    assert_true(p.runs >= 34 && 5 * p.ended <= p.runs);
}

static void ggl_midpoint_enters_by_half_a_step_at_most(void **state) {
    (void)state;
    promise p = {.scheme = "ggl-midpoint", .option = "active=lasting", .half = true};
    each_model(sweep, &p);
    print_message("    %ld runs, %ld ended early, contact missed in %ld steps\n", p.runs, p.ended, p.missed);
    assert_true(p.runs >= 34 && 10 * p.ended <= p.runs && p.missed > 0);
}

static void ggl_midpoint_that_decides_at_the_end_never_enters(void **state) {
    (void)state;
    promise p = {.scheme = "ggl-midpoint", .option = "active=end"};
    each_model(sweep, &p);
    print_message("    %ld runs, %ld ended early\n", p.runs, p.ended);
    assert_true(p.runs >= 34 && 10 * p.ended <= p.runs);
}

// A contact that lets go in the iteration leaves nothing behind: its velocity jump is gone with its impulse.  All in
// one and one after the other are the same equations.
static void contacts_that_let_go_do_not_stick(void **state) {
    (void)state;
    static const char *const models[] = {"bouncing-bar", "two-ball-oscillator", "rocking-block",
                                         "impacting-oscillator"};
    for (size_t i = 0; i < sizeof models / sizeof *models; ++i) {
        carom_model *m = shipped_model(models[i]);
        const carom_system *sys = carom_model_system(m);
        const double h = models[i][0] == 'b' ? 2e-3 : 1.3e-3; // the bar's release wants its own step
        carom_sim *one = start(m, "ggl-alpha", WITH(NULL), h, 750),
                  *turn = start(m, "ggl-alpha", WITH("newton=sequential"), h, 750);
        carom_error err = {0};
        while (!carom_sim_done(one)) {
            assert_int_equal(carom_sim_step(one, &err), CAROM_OK);
            assert_int_equal(carom_sim_step(turn, &err), CAROM_OK);
            const carom_now a = carom_sim_now(one), b = carom_sim_now(turn);
            for (int k = 0; k < sys->nv; ++k)
                if (!(fabs(a.v[k] - b.v[k]) <= 1e-8 * (1 + largest(b.v, sys->nv))))
                    fail_msg("%s, t = %g: velocity %d is %.12g and %.12g", models[i], a.t, k, a.v[k], b.v[k]);
        }
        carom_sim_destroy(one);
        carom_sim_destroy(turn);
        carom_model_destroy(m);
    }
}

// -- energy -----------------------------------------------------------------------------------------------------------

// For linear models under constant loads the balances (EN-2) to (EN-4) have one term that may be positive, the work of
// an impulse, and it is positive only where the contact was separating before, u_0 > 0.  At theta = 1/(1 + e) it is
// zero.
typedef struct loss {
    const char *scheme;
    double theta;  // 0: 1/(1 + e); below: no option
    bool always;   // also where u_0 > 0
    long rises, runs;
} loss;

static double energy(carom_sim *sim, double *size) {
    carom_error err = {0};
    double kinetic = 0, potential = 0;
    assert_int_equal(carom_sim_energy(sim, &kinetic, &potential, &err), CAROM_OK);
    *size = fmax(*size, fabs(kinetic) + fabs(potential));
    return kinetic + potential;
}

static bool separating(const carom_system *sys, const carom_now *now, const double *u_0) {
    for (int id = sys->ne; id < sys->ne + sys->nc; ++id)
        if (now->impulse[now->dir[id]] > 0 && u_0[now->dir[id]] > 0) return true;
    return false;
}

static void check_energy(const char *name, const carom_model *m, loss *l, double h) {
    const carom_system *sys = carom_model_system(m);
    const double theta = l->theta > 0 ? l->theta : 1 / (1 + sys->contacts[0].restitution);
    char option[40];
    snprintf(option, sizeof option, "theta=%.17g", theta);
    carom_sim *sim = start(m, l->scheme, l->theta < 0 ? WITH(NULL) : WITH(option), h, at_length ? 20000 : 1000);
    double u_0[64], u_1[64], size = 0, E = energy(sim, &size);
    assert_true(carom_sim_now(sim).dir[sys->ne + sys->nc] <= 64);
    carom_error err = {0};
    assert_int_equal(carom_sim_velocities(sim, u_1, &err), CAROM_OK);
    while (!carom_sim_done(sim)) {
        memcpy(u_0, u_1, sizeof u_0);
        if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s: %s", name, err.text);
        assert_int_equal(carom_sim_velocities(sim, u_1, &err), CAROM_OK);
        const carom_now now = carom_sim_now(sim);
        const double E_1 = energy(sim, &size);
        if (E_1 > E + 64 * DBL_EPSILON * (1 + sqrt(sys->nv)) * size) {
            ++l->rises;
            if (l->always || !separating(sys, &now, u_0))
                fail_msg("%s by %s, theta = %g, h = %g, t = %g: energy rises by %g", name, l->scheme, theta, h, now.t,
                         E_1 - E);
        }
        E = E_1;
    }
    ++l->runs;
    carom_sim_destroy(sim);
}

static void linear_models(const char *name, const carom_model *m, void *user) {
    const carom_system *sys = carom_model_system(m);
    if (!(sys->flags & CAROM_LINEAR && sys->flags & CAROM_CONSTANT_DIRECTIONS) || sys->ne > 0) return;
    for (int i = 0; i < sys->nc; ++i)
        if (sys->contacts[i].friction > 0) return;
    const double step = carom_model_simulation(m).step;
    check_energy(name, m, user, step);
    check_energy(name, m, user, 5.7 * step);
}

static void energy_rises_only_where_a_separating_contact_is_hit(void **state) {
    (void)state;
    loss cases[] = {
        {.scheme = "moreau-jean", .always = true},
        {.scheme = "moreau-jean", .theta = 0.5},
        {.scheme = "moreau-dissipative", .theta = 0.5},
        {.scheme = "moreau-dissipative", .theta = 1},
        {.scheme = "newmark", .theta = -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        each_model(linear_models, &cases[i]);
        print_message("    %s: %ld runs, %ld steps with a gain\n", cases[i].scheme, cases[i].runs, cases[i].rises);
        assert_true(cases[i].runs >= 10);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ggl_alpha_never_enters_nor_drifts),
        cmocka_unit_test(ggl_projection_never_enters_nor_drifts),
        cmocka_unit_test(ggl_midpoint_enters_by_half_a_step_at_most),
        cmocka_unit_test(ggl_midpoint_that_decides_at_the_end_never_enters),
        cmocka_unit_test(contacts_that_let_go_do_not_stick),
        cmocka_unit_test(energy_rises_only_where_a_separating_contact_is_hit),
    };
    at_length = argc > 1 && strcmp(argv[1], "long") == 0;
    return cmocka_run_group_tests_name("position and velocity level", tests, NULL, NULL);
}

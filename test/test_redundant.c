// test_redundant.c: mechanisms with more joints than they need move like those without, in every scheme.
#include "mechanisms.h"
#include "contact/residual.h"
#include "sim/sim.h"
#include "system/redundant.h"
#include <fenv.h>

#define scheme_near(scheme, x, y, tol)                                                                                 \
    do {                                                                                                               \
        const double x_ = (x), y_ = (y), tol_ = (tol);                                                                 \
        if (!(fabs(x_ - y_) <= tol_)) fail_msg("%s: %s = %.15g, expected %.15g +- %.2g", (scheme), #x, x_, y_, tol_);  \
    } while (0)

static const char DOOR[] = "carom: 1\ngravity: [0, 0, -9.81]\n"
                           "bodies:\n  d: {mass: 10, inertia: [3.5, 2.6, 0.9], at: [0.5, 0, 1], spin: [0, 0, 1]}\n"
                           "joints:\n"
                           "  h1: {type: revolute, between: [ground, d], at: [0, 0, 0.2], axis: [0, 0, 1]}\n"
                           "  h2: {type: revolute, between: [ground, d], at: [0, 0, 1.0], axis: [0, 0, 1]}\n"
                           "  h3: {type: revolute, between: [ground, d], at: [0, 0, 1.8], axis: [0, 0, 1]}\n";

// A bar on three cranks of length 1/2, at the angle a to the vertical.  `more` ends the text.
static carom_model *cranks(const char *a, double spin, const char *more) {
    char text[1600];
    snprintf(text, sizeof text,
             "carom: 1\ngravity: [0, -9.81]\nparameters: {a: %s, s: -sin(a), c: cos(a), w: %g}\nbodies:\n"
             "  c1: {mass: 1, inertia: 0.01, at: [0.25*s, 0.25*c], angle: a, spin: w}\n"
             "  c2: {mass: 1, inertia: 0.01, at: [1 + 0.25*s, 0.25*c], angle: a, spin: w}\n"
             "  c3: {mass: 1, inertia: 0.01, at: [2 + 0.25*s, 0.25*c], angle: a, spin: w}\n"
             "  bar: {mass: 2, inertia: 0.6, at: [1 + 0.5*s, 0.5*c], spin: 0}\n"
             "joints:\n"
             "  g1: {type: revolute, between: [ground, c1], at: [0, 0]}\n"
             "  g2: {type: revolute, between: [ground, c2], at: [1, 0]}\n"
             "  g3: {type: revolute, between: [ground, c3], at: [2, 0]}\n"
             "  b1: {type: revolute, between: [c1, bar], at: [0.5*s, 0.5*c]}\n"
             "  b2: {type: revolute, between: [c2, bar], at: [1 + 0.5*s, 0.5*c]}\n"
             "  b3: {type: revolute, between: [c3, bar], at: [2 + 0.5*s, 0.5*c]}\n%s",
             a, spin, more);
    return good(text);
}

// 3 (J + m l^2/4) a'' + M l^2 a'' = (3 m l/2 + M l) g sin(a), m = 1, J = 0.01, M = 2, l = 1/2: by Runge and Kutta's
// rule.
static double crank_angle(double a, double w, double t) {
    enum { STEPS = 2000 };
    const double k = (3 * 0.25 + 2 * 0.5) * 9.81 / (3 * (0.01 + 0.0625) + 2 * 0.25), h = t / STEPS;
    for (int i = 0; i < STEPS; ++i) {
        const double a1 = w, w1 = k * sin(a), a2 = w + h / 2 * w1, w2 = k * sin(a + h / 2 * a1);
        const double a3 = w + h / 2 * w2, w3 = k * sin(a + h / 2 * a2), a4 = w + h * w3, w4 = k * sin(a + h * a3);
        a += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4), w += h / 6 * (w1 + 2 * w2 + 2 * w3 + w4);
    }
    return a;
}

static const carom_scheme *with_joints(int i) {
    const carom_scheme *const *all = carom_schemes();
    for (int k = 0; all[k]; ++k)
        if (!(all[k]->limitations & CAROM_NO_BILATERAL) && i-- == 0) return all[k];
    return NULL;
}

// Schemes that keep second order with joints.
static bool second_order(const char *scheme) {
    static const char *const first[] = {"moreau-jean",      "moreau-explicit", "moreau-midpoint", "moreau-dissipative",
                                        "schatzman-paoli",  "ggl-projection",  "newmark",         "hht",
                                        "generalized-alpha"};
    for (size_t i = 0; i < sizeof first / sizeof *first; ++i)
        if (strcmp(scheme, first[i]) == 0) return false;
    return true;
}

static void run(carom_sim *sim, const char *scheme) {
    carom_error err = {0};
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", scheme, err.text);
}

static int redundant(carom_model *m) {
    const int k = carom_redundant_count(carom_model_system(m), 0, carom_model_q0(m));
    carom_model_destroy(m);
    return k;
}

static void they_are_counted(void **state) {
    (void)state;
    assert_int_equal(redundant(good(DOOR)), 10);
    assert_int_equal(redundant(shipped_model("four-bar")), 0);
    assert_int_equal(redundant(cranks("0", 0, "")), 1);
    assert_int_equal(redundant(cranks("1.1", 0, "")), 1);
    assert_int_equal(redundant(cranks("pi/2", 0, "")), 1); // a dead point: two rows depend on the others there
    // Without the third crank that start has a dependent row, but none is redundant.
    assert_int_equal(
        redundant(good("carom: 1\nbodies:\n  c1: {mass: 1, inertia: 0.01, at: [0.25, 0]}\n"
                       "  c2: {mass: 1, inertia: 0.01, at: [1.25, 0]}\n  bar: {mass: 2, inertia: 0.6, at: [1, 0]}\n"
                       "joints:\n  g1: {type: revolute, between: [ground, c1], at: [0, 0]}\n"
                       "  g2: {type: revolute, between: [ground, c2], at: [1, 0]}\n"
                       "  b1: {type: revolute, between: [c1, bar], at: [0.5, 0]}\n"
                       "  b2: {type: revolute, between: [c2, bar], at: [1.5, 0]}\n")),
        0);
    // The size does not matter: the same door for ants.
    assert_int_equal(
        redundant(good("carom: 1\nbodies:\n  d: {mass: 1e-8, inertia: [4e-20, 3e-20, 1e-20], at: [5e-7, 0, 1e-6]}\n"
                       "joints:\n  h1: {type: revolute, between: [ground, d], at: [0, 0, 2e-7], axis: [0, 0, 1]}\n"
                       "  h2: {type: revolute, between: [ground, d], at: [0, 0, 1e-6], axis: [0, 0, 1]}\n")),
        5);
}

// The spin of a door stays, and each hinge carries a third of its weight.
static void a_door_swings_on_three_hinges(void **state) {
    (void)state;
    carom_model *m = good(DOOR);
    for (int i = 0; with_joints(i); ++i) {
        const char *scheme = with_joints(i)->name;
        const double h = 2e-3, end = 0.5;
        carom_sim *sim = start(m, scheme, NULL, h, end);
        run(sim, scheme);
        const carom_now now = carom_sim_now(sim);
        scheme_near(scheme, atan2(now.q[1], now.q[0]), end, second_order(scheme) ? 2e-6 : 2e-3);
        for (int hinge = 0; hinge < 3; ++hinge) {
            const int z = now.dir[5 * hinge + 2];
            scheme_near(scheme, now.force[z] + now.impulse[z] / h, 98.1 / 3, 1e-3);
        }
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// Where `auto` ends its internal steps must not hang on a number that is none: inf - inf, which some implementations of
// fmin() hand on.
static void lengths_of_steps_are_numbers(void **state) {
    (void)state;
    carom_model *m = good(DOOR);
    carom_sim *sim = start(m, "auto", NULL, 2e-3, 0.5);
    feclearexcept(FE_INVALID);
    run(sim, "auto");
    assert_int_equal(fetestexcept(FE_INVALID), 0);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Over a dead point, where the kept rows are chosen anew or nearly depend on each other.
static void cranks_turn(void **state) {
    (void)state;
    carom_model *m = cranks("0.5", 6, "");
    const double end = 0.4, exact = crank_angle(0.5, 6, end);
    assert_true(exact > 3); // past pi/2
    for (int i = 0; with_joints(i); ++i) {
        const char *scheme = with_joints(i)->name;
        carom_sim *sim = start(m, scheme, NULL, 1e-3, end);
        run(sim, scheme);
        const double *q = carom_sim_now(sim).q;
        for (int crank = 0; crank < 3; ++crank) {
            static const char *const name[] = {"c1.angle", "c2.angle", "c3.angle"};
            scheme_near(scheme, q[position(m, name[crank])], exact, second_order(scheme) ? 2e-4 : 6e-2);
        }
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

// The ground's reactions change the momentum, m_i v_i of all bodies: sum of p_g = P_1 - P_0 - h m g in every step, also
// where other rows are kept than before. Directions of the ground's joints are constant and so is the mass: it holds up
// to what the solver leaves.
static void recorded_reactions_change_the_momentum(void **state) {
    (void)state;
    static const double mass[4] = {1, 1, 1, 2}, h = 2e-4; // upwards, slowly past the dead point: w^2 = 3.767^2 + 2 k
                                                          // cos(1.87) there, 0.3 rad/s, so that kept rows are weak at
                                                          // the end of a step
    carom_model *m = cranks("1.87", -3.767, "");
    carom_sim *sim = start(m, "moreau-midpoint", NULL, h, 0.16);
    const carom_redundant *r = &sim->independent.rows;
    const int left_out = r->order[r->n - 1];
    double P[2] = {0, 0};
    for (int n = 0; n <= 800; ++n) {
        carom_error err = {0};
        if (n > 0 && carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s", err.text);
        const carom_now now = carom_sim_now(sim);
        for (int k = 0; k < 2; ++k) {
            double sum = 0, p = 0;
            for (int i = 0; i < 4; ++i) sum += mass[i] * now.v[3 * i + k];
            for (int joint = 0; joint < 3; ++joint)
                p += now.impulse[now.dir[2 * joint + k]] + h * now.force[now.dir[2 * joint + k]];
            if (n > 0 && !(fabs(sum - P[k] - (p - k * h * 5 * 9.81)) <= 1e-9))
                fail_msg("step %d: momentum changes by %.12g, its reactions and weight give %.12g", n, sum - P[k],
                         p - k * h * 5 * 9.81);
            P[k] = sum;
        }
    }
    assert_int_not_equal(r->order[r->n - 1], left_out);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// With a stop besides: they come to rest on it, at cos(a) = 1/2.
static void cranks_rest_on_a_stop(void **state) {
    (void)state;
    carom_model *m = cranks("0", -2, "contacts:\n  stop: {gap: bar.y - 0.25, restitution: 0.5}\n");
    for (int i = 0; with_joints(i); ++i) {
        const char *scheme = with_joints(i)->name;
        const bool drifts = with_joints(i)->promises.joints == CAROM_ACCELERATION_LEVEL;
        if (with_joints(i)->limitations & CAROM_NO_IMPACTS || drifts) continue;
        carom_sim *sim = start(m, scheme, NULL, 1e-3, 1.6);
        run(sim, scheme);
        scheme_near(scheme, carom_sim_now(sim).q[position(m, "c1.angle")], -acos(0.5), 4e-3);
        carom_sim_destroy(sim);
    }
    carom_model_destroy(m);
}

static void a_saved_run_goes_on_with_the_same_bits(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-midpoint", "half-explicit", "ggl-midpoint", "ggl-alpha",
                                          "newmark",         "mixed",         "auto",         NULL};
    carom_model *m = cranks("0.5", 6, ""); // passes dead points after 200 and 540 steps
    for (int i = 0; schemes[i]; ++i) {
        carom_error err = {0};
        carom_sim *a = start(m, schemes[i], NULL, 1e-3, 0.6), *b = start(m, schemes[i], NULL, 1e-3, 0.6);
        for (int k = 0; k < 300; ++k)
            if (carom_sim_step(a, &err) != CAROM_OK) fail_msg("%s: %s", schemes[i], err.text);
        size_t bytes = 0;
        const void *kept = carom_sim_state(a, &bytes);
        assert_int_equal(carom_sim_restore(b, kept, bytes, &err), CAROM_OK);
        const carom_now then = carom_sim_now(a), restored = carom_sim_now(b);
        const size_t nl = (size_t)carom_model_system(m)->ne;
        assert_memory_equal(then.impulse, restored.impulse, nl * sizeof(double));
        assert_memory_equal(then.force, restored.force, nl * sizeof(double));
        run(a, schemes[i]), run(b, schemes[i]);
        const carom_now x = carom_sim_now(a), y = carom_sim_now(b);
        assert_memory_equal(x.q, y.q, (size_t)carom_model_system(m)->nq * sizeof(double));
        assert_memory_equal(x.v, y.v, (size_t)carom_model_system(m)->nv * sizeof(double));
        assert_memory_equal(x.impulse, y.impulse, nl * sizeof(double));
        assert_memory_equal(x.force, y.force, nl * sizeof(double));
        carom_sim_destroy(a), carom_sim_destroy(b);
    }
    carom_model_destroy(m);
}

// (CP-10)  A ball between two walls that approach: no impulse helps, however large, and rounding of large ones is no
//          excuse.
static void rounding_excuses_little(void **state) {
    (void)state;
    const carom_block blocks[] = {{CAROM_UNILATERAL, 0, 0}, {CAROM_UNILATERAL, 1, 0}};
    const double G[] = {1, -1, -1, 1}, c[] = {-1, -1};
    double p[] = {1e12, 1e12}, u[2];
    carom_problem pb = {.n = 2, .nb = 2, .ld = 2, .block = blocks, .G = G, .c = c, .p = p, .u = u};
    const double residual = carom_residual(&pb, NULL);
    scheme_near("residual", residual, 1, 0);
    assert_true(carom_rounding(&pb) > 1e-4);
    assert_false(carom_solved(&pb, residual, 1e-12));
    assert_false(carom_solved(&pb, 1e-7, 1e-12)); // below its rounding, above 1e-8 of the velocities
    assert_true(carom_solved(&pb, 1e-9, 1e-12));
    p[0] = p[1] = 1;
    assert_false(carom_solved(&pb, 1e-9, 1e-12));
    assert_true(carom_solved(&pb, 1e-12, 1e-12));
    assert_false(carom_solved(&pb, INFINITY, 1e-12));
}

// -- what schemes see -------------------------------------------------------------------------------------------------

// Every function that the system has, the one without its redundant constraints has, too, and it is another one: it
// knows where its model is.
static int handed_on(const carom_system *seen, const carom_system *base) {
    int n = 0;
#define HANDED(f)                                                                                                      \
    assert_true((seen->f != NULL) == (base->f != NULL) && (!base->f || seen->f != base->f)), n += base->f != NULL
    HANDED(work_init), HANDED(mass), HANDED(force), HANDED(gaps), HANDED(directions), HANDED(curvature),
        HANDED(tangent), HANDED(mass_gradient), HANDED(reaction_gradient), HANDED(rate_gradient);
    HANDED(move), HANDED(lift), HANDED(energy), HANDED(power), HANDED(speed->motion), HANDED(accounts->works),
        HANDED(events->freeze), HANDED(friction), HANDED(events->kinks), HANDED(events->next_jump),
        HANDED(events->limit_step), HANDED(restitution), HANDED(events->gap_bounds);
    HANDED(explain), HANDED(signals->set), HANDED(signals->sample), HANDED(contact_list->work_size),
        HANDED(contact_list->search), HANDED(contact_list->adopt), HANDED(contact_list->number_of),
        HANDED(contact_list->freeze_searched);
#undef HANDED
    assert_true(!seen->events->global_bounds && !seen->speed->rates && !seen->speed->observe);
    return n;
}

// Numbers of the two agree at a state of the run; gaps have other places.
static void same_numbers(const carom_sim *sim) {
    enum { ROOM = 200 };
    const carom_independent *I = &sim->independent;
    const carom_system *seen = &I->sys, *base = I->rows.sys;
    void *work = sim->step.sys_work, *own = aligned_alloc(64, (base->work_size + 127) / 64 * 64);
    double x[4][ROOM], y[4][ROOM];
    const double *q = sim->q, *v = sim->v, t = 0.125, run[2] = {0, 1};
    memset(own, 0, base->work_size), memset(x, 0, sizeof x), memset(y, 0, sizeof y);
    if (base->work_init) base->work_init(base->model, own);
    if (base->signals->set) base->signals->set(base->model, own, sim->input);
    assert_true(base->nv <= ROOM && base->ne + base->nc <= ROOM && seen->ne == base->ne - I->rows.k &&
                seen->nc == base->nc && seen->nq == base->nq);
    assert_true(seen->force(seen->model, work, t, q, v, x[0]) == CAROM_OK &&
                base->force(base->model, own, t, q, v, y[0]) == CAROM_OK);
    assert_memory_equal(x[0], y[0], sizeof x[0]);
    assert_true(seen->gaps(seen->model, work, t, q, x[1]) == CAROM_OK &&
                base->gaps(base->model, own, t, q, y[1]) == CAROM_OK);
    for (int id = 0; id < seen->ne + seen->nc; ++id) assert_true(x[1][id] == y[1][carom_independent_id(I, id)]);
    if (base->energy) {
        assert_true(seen->energy(seen->model, work, t, q, v, &x[2][0], &x[2][1]) == CAROM_OK &&
                    base->energy(base->model, own, t, q, v, &y[2][0], &y[2][1]) == CAROM_OK);
        assert_true(x[2][0] == y[2][0] && x[2][1] == y[2][1]);
    }
    if (base->power) {
        assert_true(seen->power(seen->model, work, t, q, v, &x[2][0], &x[2][1]) == CAROM_OK &&
                    base->power(base->model, own, t, q, v, &y[2][0], &y[2][1]) == CAROM_OK);
        assert_true(x[2][0] == y[2][0] && x[2][1] == y[2][1]);
    }
    if (base->events->kinks) {
        assert_true(seen->events->kinks(seen->model, work, t, q, v, x[3]) == CAROM_OK &&
                    base->events->kinks(base->model, own, t, q, v, y[3]) == CAROM_OK);
        assert_memory_equal(x[3], y[3], sizeof x[3]);
    }
    if (base->events->next_jump)
        assert_true(seen->events->next_jump(seen->model, work, 0, 1) ==
                    base->events->next_jump(base->model, own, 0, 1));
    if (base->events->limit_step)
        assert_true(seen->events->limit_step(seen->model, work, run, 1, 0, 1) ==
                    base->events->limit_step(base->model, own, run, 1, 0, 1));
    for (int c = 0; base->restitution && c < base->nc; ++c)
        if (base->contacts[c].varies)
            assert_true(seen->restitution(seen->model, work, c, 2) == base->restitution(base->model, own, c, 2));
    if (base->friction) { // by the reactions of those that are kept
        double kept[ROOM], all[ROOM] = {0}, law[2][ROOM] = {{0}};
        for (int i = 0; i < ROOM; ++i) kept[i] = 1 + i;
        for (int id = 0; id < seen->ne; ++id) all[I->rows.order[id]] = kept[id];
        for (int i = base->ne; i < I->ndir; ++i) all[i] = kept[i - I->rows.k];
        assert_true(seen->friction(seen->model, work, t, q, v, kept, law[0]) == CAROM_OK &&
                    base->friction(base->model, own, t, q, v, all, law[1]) == CAROM_OK);
        assert_memory_equal(law[0], law[1], sizeof law[0]);
    }
    free(own);
}

static void schemes_see_the_same_system(void **state) {
    (void)state;
    static const char *const texts[] = {
        // a gate, a jump, a pulse, friction and restitution that vary, damping, an input
        "carom: 1\ncoordinates: {x: {at: 1, rate: 0.5}, y: {at: 0.5, rate: -1}, z: 0, w: 0}\ninputs: {u: 0.5}\nenergy: "
        "{kinetic: (1 + 0.1*x^2)*(x'^2 + y'^2 + z'^2 + w'^2)/2, potential: 9.81*y + 2*x^2}\n"
        "forces: {x: \"if(t > 0.3, 2, 1) + u - 0.2*x'\", y: 'exp(-((t - 0.6)/0.001)^2)'}\nconstraints: {a: z, b: 2*z, "
        "c: w - z, d: w}\n"
        "contacts: {floor: {gap: y, slip: x, friction: 0.1 + 0.2*slip.speed, restitution: 0.5/(1 + approach.speed)}, "
        "door: {gap: x + 3, closes while: y - 0.1}}\n",
        // rotations in space, a spring
        "carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n  d: {mass: 10, inertia: [3.5, 2.6, 0.9], at: [0.5, 0, 1], spin: "
        "[0, 0, 1], shape: {sphere: 0.2}}\njoints:\n  h1: {type: revolute, between: [ground, d], at: [0, 0, 0.2], "
        "axis: [0, 0, 1]}\n"
        "  h2: {type: revolute, between: [ground, d], at: [0, 0, 1.8], axis: [0, 0, 1]}\nshapes: {wall: {plane: [0, "
        "-1, 0], at: [0, 1, 0]}}\ncontacts: {hit: {between: [d, wall], restitution: 0.5, friction: 0.2}}\n"
        "springs: {s: {between: [ground, d], points: [[0, -1, 0], [0.5, 0, 0]], stiffness: 10, damping: 1, length: "
        "1}}\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        carom_model *m = good(texts[i]);
        carom_sim *sim = model_sim(m, "mixed", NULL, 0.01, 1);
        carom_error err = {0};
        assert_true(sim->independent.rows.k > 0 && sim->step.sys == &sim->independent.sys);
        assert_true(handed_on(&sim->independent.sys, sim->independent.rows.sys) > 15);
        for (int k = 0; k < 20; ++k) {
            if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s", err.text);
            same_numbers(sim);
        }
        carom_sim_destroy(sim), carom_model_destroy(m);
    }
    // Contacts that come and go have four functions more.
    carom_model *m =
        good("carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n  d: {mass: 10, inertia: [3.5, 2.6, 0.9], at: [0.5, 30, 1]}\n "
             " s: {repeat: 70, body: {mass: 1, inertia: [1, 1, 1], at: [i, 0, 0.1], shape: {sphere: 0.1}}}\njoints:\n"
             "  h1: {type: revolute, between: [ground, d], at: [0, 30, 0.2], axis: [0, 0, 1]}\n  h2: {type: revolute, "
             "between: [ground, d], at: [0, 30, 1.8], axis: [0, 0, 1]}\n"
             "shapes: {floor: {plane: [0, 0, 1]}}\ncontacts: {all: {among: [s, floor]}}\n");
    carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, 0.01, 0.1);
    assert_true(sim->independent.rows.k > 0 && sim->list.slots > 0 &&
                handed_on(&sim->independent.sys, sim->independent.rows.sys) > 15);
    model_sim_run(sim);
    for (int i = 0; i < 70; ++i) assert_true(fabs(carom_sim_now(sim).q[7 * (i + 1) + 2] - 0.1) < 1e-6); // they rest
    carom_sim_destroy(sim), carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_counted),
        cmocka_unit_test(a_door_swings_on_three_hinges),
        cmocka_unit_test(lengths_of_steps_are_numbers),
        cmocka_unit_test(cranks_turn),
        cmocka_unit_test(recorded_reactions_change_the_momentum),
        cmocka_unit_test(cranks_rest_on_a_stop),
        cmocka_unit_test(a_saved_run_goes_on_with_the_same_bits),
        cmocka_unit_test(rounding_excuses_little),
        cmocka_unit_test(schemes_see_the_same_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_mechanisms.c: shipped models of bodies, joints and shapes do what such mechanisms are known to do.
#include "model_text.h"

enum { MOST = 40 };

typedef struct run {
    carom_model *m;
    carom_sim *sim;
} run;

// The model with `set` ("name=value", NULL: none) and scheme and step (NULL, 0: its own).
static run start(const char *name, const char *set, const char *scheme, double step, double end) {
    size_t length = 0;
    char *text = shipped_text(name, &length);
    carom_error err = {0};
    run r = {0};
    r.m = carom_model_create(
        &(carom_model_def){.text = text, .length = length, .file = name, .set = (const char *[]){set, NULL}}, &err);
    free(text);
    if (!r.m) fail_msg("%s", err.text);
    const carom_model_run own = carom_model_simulation(r.m);
    carom_sim_def d =
        sim_def(r.m, scheme ? scheme : own.scheme, scheme ? NULL : own.options, step > 0 ? step : own.step, end);
    r.sim = carom_sim_create(&d, &err);
    if (!r.sim) fail_msg("%s", err.text);
    return r;
}

static bool step(run *r) {
    carom_error err = {0};
    if (carom_sim_done(r->sim)) return false;
    if (carom_sim_step(r->sim, &err) != CAROM_OK) fail_msg("%s", err.text);
    return true;
}

static void finish(run *r) {
    carom_sim_destroy(r->sim);
    carom_model_destroy(r->m);
}

// Indices by names: positions, velocities, constraints.
static int position(const run *r, const char *name) {
    const int n = carom_model_system(r->m)->nq;
    for (int i = 0; i < n; ++i)
        if (strcmp(carom_model_coordinate(r->m, i), name) == 0) return i;
    fail_msg("no position %s", name);
    return -1;
}

static int velocity(const run *r, const char *name) {
    const int n = carom_model_system(r->m)->nv;
    for (int i = 0; i < n; ++i)
        if (strcmp(carom_model_velocity(r->m, i), name) == 0) return i;
    fail_msg("no velocity %s", name);
    return -1;
}

static int constraint(const run *r, const char *name) {
    const carom_system *s = carom_model_system(r->m);
    for (int i = 0; i < s->ne + s->nc; ++i)
        if (strcmp(carom_model_constraint(r->m, i), name) == 0) return i;
    fail_msg("no constraint %s", name);
    return -1;
}

static double energy(run *r) {
    double kinetic = 0, potential = 0;
    carom_error err = {0};
    assert_int_equal(carom_sim_energy(r->sim, &kinetic, &potential, &err), CAROM_OK);
    return kinetic + potential;
}

// -- impacts --------------------------------------------------------------------------------------------------------

static void the_last_ball_of_the_cradle_takes_over_the_velocity_of_the_first(void **state) {
    (void)state;
    run r = start("newtons-cradle", NULL, NULL, 0, 0.3);
    const double m = 0.1, rad = 0.02, l = 0.2, phi = 0.6, J = 0.4 * m * rad * rad;
    const double w = sqrt(2 * m * 9.81 * l * (1 - cos(phi)) / (m * l * l + J)); // at the bottom
    const int last = velocity(&r, "b5.wz");
    bool passed = false;
    while (step(&r)) {
        const double *v = carom_sim_now(r.sim).v;
        if (passed || v[last] < 0.5 * w) continue;
        passed = true;
        assert_close(v[last], w, 1e-3 * w); // the balls hang 2.5e-4 l apart
        for (int k = 1; k < 5; ++k) {
            char name[10];
            snprintf(name, sizeof name, "b%d.wz", k);
            assert_close(v[velocity(&r, name)], 0, 2e-3 * w);
        }
    }
    assert_true(passed);
    finish(&r);
}

// The flank force J a + drag w of the motion without play stays positive for drag above the limit.
static void the_idle_gear_rattles_below_the_limit_of_drag_alone(void **state) {
    (void)state;
    static const double J = 1e-4, wobble = 0.02, w = 160, speed = 80;
    const double limit = J * wobble * w * w / sqrt(speed * speed - wobble * wobble * w * w);
    for (int loud = 0; loud < 2; ++loud) {
        char set[40];
        snprintf(set, sizeof set, "drag=%.17g", limit * (loud ? 0.99 : 1.01));
        run r = start("gear-rattle", set, NULL, 0, 0.5);
        const int front = constraint(&r, "front");
        double widest = 0;
        while (step(&r))
            if (carom_sim_now(r.sim).t > 0.3) widest = fmax(widest, carom_sim_now(r.sim).gap[front]);
        if (loud) assert_true(widest > 1e-7);
        else assert_true(widest < 1e-9);
        finish(&r);
    }
}

// -- rest -------------------------------------------------------------------------------------------------------------

static void the_stack_stands_and_every_joint_carries_what_is_above(void **state) {
    (void)state;
    const double h = 5e-4;
    run r = start("stack", NULL, "moreau-midpoint", h, 0.4);
    double moved = 0;
    while (step(&r)) { // the ball is on its way
        const double *v = carom_sim_now(r.sim).v;
        for (int k = 3; k < 33; ++k) moved = fmax(moved, fabs(v[k]));
    }
    assert_true(moved < 1e-10);
    const carom_now now = carom_sim_now(r.sim);
    for (int k = 0, n = 1; k < 10; ++k) {
        double weight = 0, across = 0;
        for (int i = 0; i < (k ? 8 : 4); ++i, ++n) {
            char name[20];
            snprintf(name, sizeof name, "pile.%d", n);
            const int id = constraint(&r, name);
            // a scheme of impulses
            const double normal = now.impulse[now.dir[id]] / h, friction = now.impulse[now.dir[id] + 1] / h;
            assert_true(normal >= 0);
            assert_true(fabs(friction) <= 0.5 * normal + 1e-9);
            weight += normal;
            across += friction;
        }
        assert_close(weight, (10 - k) * 9.81, 1e-9);
        assert_close(across, 0, 1e-9);
    }
    finish(&r);
}

// -- falling ----------------------------------------------------------------------------------------------------------

static void dominoes_fall_in_order_and_ever_faster(void **state) {
    (void)state;
    run r = start("dominoes", NULL, NULL, 0, 0.8);
    int angle[7];
    double fell[7] = {0};
    for (int k = 0; k < 7; ++k) {
        char name[12];
        snprintf(name, sizeof name, "d%d.angle", k + 1);
        angle[k] = position(&r, name);
    }
    while (step(&r))
        for (int k = 0; k < 7; ++k)
            if (fell[k] == 0 && carom_sim_now(r.sim).q[angle[k]] < -0.05) fell[k] = carom_sim_now(r.sim).t;
    for (int k = 0; k < 7; ++k) assert_true(fell[k] > (k ? fell[k - 1] : 0));
    for (int k = 3; k < 7; ++k) assert_true(fell[k] - fell[k - 1] < fell[2] - fell[1]);
    finish(&r);
}

// A top upright sleeps while J_z spin > 2 sqrt(J m g l); this one falls later, on its rim, and rolls on tip and rim.
static void the_top_sleeps_while_it_spins_fast_and_ends_on_its_rim(void **state) {
    (void)state;
    static const double m = 0.2, l = 0.04, Jz = 1.6e-4, J = 1.2e-4 + 0.2 * 0.04 * 0.04;
    const double limit = 2 * sqrt(J * m * 9.81 * l) / Jz;
    run r = start("falling-top", NULL, NULL, 0, 2);
    const int spin = velocity(&r, "top.wz"), x = position(&r, "top.qx"), y = position(&r, "top.qy"),
              tip = constraint(&r, "tip"), rim = constraint(&r, "rim.1");
    double before = energy(&r), most = 0, tilt = 0;
    while (step(&r)) {
        const carom_now now = carom_sim_now(r.sim);
        tilt = acos(1 - 2 * (now.q[x] * now.q[x] + now.q[y] * now.q[y]));
        if (now.v[spin] > limit) most = fmax(most, tilt);
        const double e = energy(&r);
        assert_true(e < before + 1e-7);
        before = e;
    }
    assert_true(most < 0.1); // starts at 0.05
    assert_true(tilt > 0.5);
    assert_close(carom_sim_now(r.sim).gap[tip], 0, 1e-6);
    assert_close(carom_sim_now(r.sim).gap[rim], 0, 1e-6);
    finish(&r);
}

static void the_woodpecker_comes_down_in_equal_cycles(void **state) {
    (void)state;
    run r = start("woodpecker", NULL, NULL, 2e-5, 1.2);
    const int bird = position(&r, "bird"), y = position(&r, "y");
    double at[MOST], height[MOST], t = 0, q[3];
    memcpy(q, carom_sim_now(r.sim).q, sizeof q);
    int n = 0;
    while (step(&r)) {
        const carom_now now = carom_sim_now(r.sim);
        if (q[bird] < 0 && now.q[bird] >= 0) {
            assert_true(n < MOST);
            const double s = q[bird] / (q[bird] - now.q[bird]);
            at[n] = t + s * (now.t - t);
            height[n++] = q[y] + s * (now.q[y] - q[y]);
        }
        t = now.t;
        memcpy(q, now.q, sizeof q);
    }
    assert_int_equal(n, 8);
    for (int k = 2; k < n; ++k) {
        assert_close(at[k] - at[k - 1], 0.146, 5e-4);
        assert_close(height[k] - height[k - 1], -0.0194, 4e-4);
    }
    finish(&r);
}

// -- play -------------------------------------------------------------------------------------------------------------

// The angles of the mechanism without play; each of two pins may be `play` off, which turns the rocker by at most
// play/(l3 sin) each.
static void play_moves_the_four_bar_no_more_than_it_can(void **state) {
    (void)state;
    static const double l0 = 0.3, l1 = 0.1, l2 = 0.3, l3 = 0.25, play = 5e-4;
    run r = start("four-bar-clearance", NULL, NULL, 0, 0.6);
    const int crank = position(&r, "crank.angle"), rocker = position(&r, "rocker.angle");
    double most = 0;
    while (step(&r)) {
        const double *q = carom_sim_now(r.sim).q, a = q[crank];
        // from the pin of the crank to the pivot of the rocker
        const double x = l0 - l1 * cos(a), y = -l1 * sin(a), d = hypot(x, y);
        const double inner = acos((l2 * l2 + d * d - l3 * l3) / (2 * l2 * d)), phi = atan2(y, x) + inner;
        const double psi = atan2(l1 * sin(a) + l2 * sin(phi), l1 * cos(a) + l2 * cos(phi) - l0);
        const double off = fabs(q[rocker] - psi), bound = 2 * play / (l3 * fabs(sin(psi - phi)));
        assert_true(off < 1.05 * bound);
        most = fmax(most, off / bound);
    }
    assert_true(most > 0.3); // it does make use of it
    finish(&r);
}

// A box between planes by bodies and joints, and by angles with corners written out: one motion.
static void the_slider_crank_by_its_parts_moves_as_by_angles(void **state) {
    (void)state;
    double last[2] = {0};
    for (int k = 0; k < 2; ++k) {
        const double h = k ? 2e-6 : 8e-6;
        run a = start("slider-crank-clearance", NULL, "half-explicit", h, 0.03),
            b = start("slider-crank", NULL, "half-explicit", h, 0.03);
        while (step(&a) && step(&b)) {}
        const double *q = carom_sim_now(a.sim).q, *p = carom_sim_now(b.sim).q;
        last[k] = fabs(q[position(&a, "crank.angle")] - p[0]) + fabs(q[position(&a, "rod.angle")] - p[1]);
        finish(&a);
        finish(&b);
    }
    assert_true(last[1] < 1e-6);
    assert_true(last[1] < 0.1 * last[0]); // second order: 1/16
}

static void the_chain_hangs_over_the_drum(void **state) {
    (void)state;
    run r = start("chain-drum", NULL, NULL, 0, 1.2);
    double least = 0, touched = 0, fastest = 0;
    const int x = velocity(&r, "k12.vx");
    const double before = energy(&r);
    while (step(&r)) {
        const carom_now now = carom_sim_now(r.sim);
        fastest = fmax(fastest, hypot(now.v[x], now.v[x + 1]));
    }
    const carom_now now = carom_sim_now(r.sim);
    for (int k = 0; k < 12; ++k) {
        least = fmin(least, now.gap[24 + k]);
        touched += now.gap[24 + k] < 1e-5;
    }
    assert_true(least > -1e-12);
    assert_true(touched >= 2);
    assert_true(energy(&r) < before);
    assert_true(fastest > sqrt(2 * 9.81 * 12 * 0.06)); // faster than a free fall over the whole length: a whip
    finish(&r);
}

// Arms that go down together carry the platform straight down: -arm sin a - sqrt(rod^2 - (base + arm cos a - plate)^2).
static void the_robot_keeps_its_platform_level(void **state) {
    (void)state;
    run r = start("delta-robot", "circle=0", NULL, 0, 0.3);
    while (step(&r)) {}
    const double *q = carom_sim_now(r.sim).q, a = asin(-q[position(&r, "arms.0.z")] / 0.15),
                 reach = 0.15 + 0.3 * cos(a);
    assert_true(a > 0.1);
    assert_close(q[position(&r, "platform.z")], -0.3 * sin(a) - sqrt(0.36 - reach * reach), 1e-8);
    assert_close(q[position(&r, "platform.x")], 0, 1e-10);
    assert_close(fabs(q[position(&r, "platform.qw")]), 1, 1e-14);
    finish(&r);
}

// On level ground plates neither slip on it nor on the driven wheel: the hull is as fast as plates go round the axle.
static void the_crawler_rolls_on_its_track(void **state) {
    (void)state;
    run r = start("crawler-track", NULL, NULL, 0, BRIEF ? 0.1 : 0.8);
    while (step(&r)) {}
    const carom_now now = carom_sim_now(r.sim);
    const double wheel = -now.v[position(&r, "wheels.3.angle")], hull = now.v[position(&r, "hull.x")],
                 axle = 0.1 / (2 * tan(0.0625 * 3.14159265358979));
    assert_true(hull > (BRIEF ? 0 : 0.7));
    if (!BRIEF) assert_close(hull, wheel * axle, 0.1 * hull); // plates are straight, and the hull rocks
    finish(&r);
}

// Eight links in space, over a floor where `floor`: joints belong to the linear system, and contact problems have
// contacts alone.  A spring that does next to nothing couples two links without a joint: then joints are rows of the
// contact problem.  Both ways give the same motion.
static void joints_in_the_linear_system_move_as_rows_of_the_contact_problem(void **state) {
    (void)state;
    QUICK_SKIPS();
    static const char *const schemes[] = {"moreau-jean", "moreau-dissipative", "ggl-midpoint"};
    for (int variant = 0; variant < 6; ++variant) {
        const bool floor = variant & 1, levels = variant >= 4; // of two levels, contacts bring joints back into the
                                                               // problem
        double q[2][60], force[2];
        for (int spring = 0; spring < 2; ++spring) {
            char text[4000];
            int n = snprintf(text, sizeof text, "carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n");
            for (int i = 0; i < 8; ++i)
                n += snprintf(text + n, sizeof text - (size_t)n,
                              "  b%d: {mass: 0.1, inertia: [1e-5, 9e-5, 8e-5], at: [%g, 0, 0]%s}\n", i, 0.05 + 0.1 * i,
                              floor ? ", shape: {sphere: 0.02}" : "");
            n += snprintf(text + n, sizeof text - (size_t)n, "joints:\n");
            for (int i = 0; i < 8; ++i) {
                char other[8] = "ground";
                if (i > 0) snprintf(other, sizeof other, "b%d", i - 1);
                n += snprintf(text + n, sizeof text - (size_t)n,
                              "  j%d: {type: revolute, between: [%s, b%d], at: [%g, 0, 0], axis: [0, 1, %d]%s}\n", i,
                              other, i, 0.1 * i, i % 2, i == 0 ? ", motion: 0.3*sin(5*t)" : "");
            }
            if (floor)
                n += snprintf(text + n, sizeof text - (size_t)n,
                              "shapes: {floor: {plane: [0, 0, 1], at: [0, 0, -0.1]}}\ncontacts: {f: {between: [[b0, "
                              "b1, b2, b3, b4, b5, b6, b7], floor], friction: 0.3, restitution: 0.3}}\n");
            if (spring)
                snprintf(text + n, sizeof text - (size_t)n,
                         "springs: {s: {between: [b1, b6], points: [[0, 0, 0], [0, 0, 0]], stiffness: 1e-10, length: "
                         "0.1}}\n");
            carom_model *m = good(text);
            carom_sim *sim = model_sim(m, schemes[variant / 2], NULL, 1e-3, 0.25);
            model_sim_run(sim);
            carom_ledger l;
            assert_int_equal(carom_sim_ledger(sim, &l, NULL), CAROM_OK);
            assert_true(l.counts.problems >= 250);
            assert_true(spring || floor || l.counts.iterations == 0); // no solver was asked for joints
            assert_true(!spring || l.counts.iterations >= l.counts.problems);
            assert_true(spring || !floor || levels ||
                        (l.counts.iterations > 0 && l.impacts > 0 && l.counts.iterations < l.counts.problems));
            memcpy(q[spring], carom_sim_now(sim).q, 56 * sizeof(double));
            force[spring] = carom_sim_now(sim).impulse[0];
            carom_sim_destroy(sim);
            carom_model_destroy(m);
        }
        for (int i = 0; i < 56; ++i) assert_true(fabs(q[0][i] - q[1][i]) < 1e-9);
        assert_true(fabs(force[0] - force[1]) < 1e-9);
    }
}

// The differential of rotation (NEW-4) makes Newton's method quadratic for many bodies as for few: 20 links, 120
// velocities.
static void newton_is_quadratic_for_many_rotations(void **state) {
    (void)state;
    char text[6000];
    int n = snprintf(text, sizeof text, "carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n");
    for (int i = 0; i < 20; ++i)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  b%d: {mass: 0.1, inertia: [1e-5, 9e-5, 8e-5], at: [%g, 0, 0]}\n", i, 0.05 + 0.1 * i);
    n += snprintf(text + n, sizeof text - (size_t)n, "joints:\n");
    for (int i = 0; i < 20; ++i) {
        char other[8] = "ground";
        if (i > 0) snprintf(other, sizeof other, "b%d", i - 1);
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "  j%d: {type: revolute, between: [%s, b%d], at: [%g, 0, 0], axis: [0, 1, %d]}\n", i, other, i,
                      0.1 * i, i % 2);
    }
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, "ggl-midpoint", NULL, 1e-3, 0.1);
    model_sim_run(sim);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, NULL), CAROM_OK);
    assert_true(l.counts.newton <= 200); // 3 iterations from t = 0.05 on with T = 1
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newton_is_quadratic_for_many_rotations),
        cmocka_unit_test(joints_in_the_linear_system_move_as_rows_of_the_contact_problem),
        cmocka_unit_test(the_last_ball_of_the_cradle_takes_over_the_velocity_of_the_first),
        cmocka_unit_test(the_idle_gear_rattles_below_the_limit_of_drag_alone),
        cmocka_unit_test(the_stack_stands_and_every_joint_carries_what_is_above),
        cmocka_unit_test(dominoes_fall_in_order_and_ever_faster),
        cmocka_unit_test(the_top_sleeps_while_it_spins_fast_and_ends_on_its_rim),
        cmocka_unit_test(the_woodpecker_comes_down_in_equal_cycles),
        cmocka_unit_test(play_moves_the_four_bar_no_more_than_it_can),
        cmocka_unit_test(the_slider_crank_by_its_parts_moves_as_by_angles),
        cmocka_unit_test(the_chain_hangs_over_the_drum),
        cmocka_unit_test(the_robot_keeps_its_platform_level),
        cmocka_unit_test(the_crawler_rolls_on_its_track),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

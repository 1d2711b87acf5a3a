// test_shapes.c: contacts between shapes: distances against projections, derivatives, conservation, what is refused.
#include "model_text.h"
#include "linalg/matrix.h"
#include "poses.h"

// -- pairs ------------------------------------------------------------------------------------------------------------

// near: about how far centres are when they touch
typedef struct pairing { bool spatial; const char *a, *b; double near; int contacts; } pairing;

static const pairing pairs[] = {
    {false, "{circle: 0.2, at: [0.05, 0.1]}", "{circle: 0.3}", 0.5, 1},
    {false, "{point: [0.1, 0.2]}", "{circle: 0.3}", 0.4, 1},
    {false, "{circle: 0.2}", "{plane: [0.3, 1], at: [0.1, 0.2]}", 0.3, 1},
    {false, "{box: [0.4, 0.2], at: [0.1, 0], angle: 0.3}", "{plane: [-1, 2]}", 0.3, 4},
    {false, "{circle: 0.1}", "{box: [0.4, 0.2], angle: 0.5}", 0.3, 1},
    {false, "{circle: 0.1}", "{polygon: [[0.2, -0.1], [0.1, 0.2], [-0.1, 0.25], [-0.3, -0.1]]}", 0.35, 1},
    {false, "{box: [0.4, 0.2]}", "{polygon: [[0.2, -0.1], [0.1, 0.2], [-0.1, 0.25], [-0.3, -0.1]]}", 0.45, 8},
    {false, "{capsule: [0.1, 0.4], angle: 0.2}", "{box: [0.3, 0.3]}", 0.4, 6},
    {false, "{capsule: [0.1, 0.4]}", "{capsule: [0.05, 0.6], at: [0.1, 0]}", 0.4, 4},
    {false, "{circle: 0.1}", "{capsule: [0.05, 0.6], at: [0.1, 0]}", 0.3, 1},
    {false, "{capsule: [0.1, 0.4]}", "{plane: [0, 1]}", 0.2, 2},
    {false, "{circle: 0.1}", "{hole: 0.3}", 0.2, 1},
    {false, "{box: [0.2, 0.1]}", "{hole: 0.3, at: [0.1, 0]}", 0.2, 4},
    {false, "{circle: 0.1}", "{slot: [0.15, 0.5], angle: 0.3}", 0.05, 1},
    {true, "{sphere: 0.2, at: [0.05, 0.1, 0]}", "{sphere: 0.3}", 0.5, 1},
    {true, "{point: [0.1, 0.2, 0]}", "{sphere: 0.3}", 0.4, 1},
    {true, "{sphere: 0.2}", "{plane: [0.3, 1, 2], at: [0.1, 0.2, 0]}", 0.3, 1},
    {true, "{box: [0.4, 0.2, 0.3], at: [0.1, 0, 0], axis: [1, 1, 0], angle: 0.3}", "{plane: [-1, 2, 1]}", 0.3, 8},
    {true, "{sphere: 0.1}", "{box: [0.4, 0.2, 0.3], axis: [0, 1, 1], angle: 0.5}", 0.35, 1},
    {true, "{box: [0.4, 0.2, 0.3]}", "{box: [0.3, 0.3, 0.2]}", 0.45, 25},
    {true, "{capsule: [0.1, 0.4], axis: [1, 0, 1]}", "{box: [0.3, 0.3, 0.2]}", 0.4, 13},
    {true, "{capsule: [0.1, 0.4]}", "{capsule: [0.05, 0.6], at: [0.1, 0, 0]}", 0.3, 5},
    {true, "{sphere: 0.1}", "{capsule: [0.05, 0.6]}", 0.3, 1},
    {true, "{capsule: [0.1, 0.4]}", "{plane: [0, 0, 1]}", 0.25, 2},
    {true, "{cylinder: [0.2, 0.1], axis: [1, 0, 1]}", "{plane: [0, 1, 1]}", 0.2, 8},
    {true, "{sphere: 0.1}", "{cylinder: [0.2, 0.3]}", 0.3, 1},
    {true, "{sphere: 0.1}", "{hole: 0.3}", 0.2, 1},
    {true, "{sphere: 0.1}", "{slot: [0.15, 0.5], axis: [1, 2, 0]}", 0.05, 1},
    {true, "{sphere: 0.1}", "{bore: 0.15, axis: [1, 2, 0]}", 0.05, 1},
};
enum { PAIRS = sizeof pairs / sizeof *pairs, POSES = 12 };

static double next(unsigned *seed) { // -1 .. 1
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

// Both bodies free and turned at random, `factor` times as far apart as where they touch; b is `motion` when told.
static carom_model *posed(int i, unsigned seed, double factor, const char *more) {
    char text[1600];
    const pairing *p = &pairs[i];
    double x[3] = {0}, turn[2];
    for (int k = 0; k < (p->spatial ? 3 : 2); ++k) x[k] = next(&seed);
    for (int k = 0; k < 2; ++k) turn[k] = 3 * next(&seed);
    const double size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int k = 0; k < 3; ++k) x[k] *= p->near * factor / size;
    const double speed = 0.8 / (p->near * factor); // towards each other
    if (p->spatial)
        snprintf(text, sizeof text,
                 "carom: 1\nbodies:\n"
                 "  a: {mass: 2, inertia: [0.1, 0.1, 0.1], at: [%.17g, %.17g, %.17g], axis: [1, 2, 3], angle: %.17g, "
                 "velocity: [%.17g, %.17g, %.17g], spin: [1, -2, 0.5], shape: %s}\n"
                 "  b: {mass: 3, inertia: [0.2, 0.2, 0.2], axis: [2, -1, 0.5], angle: %.17g, spin: [0.3, 1, -2], "
                 "shape: %s}\n"
                 "contacts: {c: {between: [a, b], %s}}\n",
                 x[0], x[1], x[2], turn[0], -speed * x[0], -speed * x[1], -speed * x[2], p->a, turn[1], p->b, more);
    else
        snprintf(text, sizeof text,
                 "carom: 1\nbodies:\n"
                 "  a: {mass: 2, inertia: 0.1, at: [%.17g, %.17g], angle: %.17g, velocity: [%.17g, %.17g], spin: 2, "
                 "shape: %s}\n"
                 "  b: {mass: 3, inertia: 0.2, angle: %.17g, spin: -1, shape: %s}\n"
                 "contacts: {c: {between: [a, b], %s}}\n",
                 x[0], x[1], turn[0], -speed * x[0], -speed * x[1], p->a, turn[1], p->b, more);
    carom_error err = {0};
    carom_model *m = model_of(text, &err);
    if (!m && !strstr(err.text, "overlap initially")) fail_msg("%s\n%s", err.text, text);
    return m;
}

static void note(void *user, carom_finding kind, const char *sentence) {
    if (kind != CAROM_FAULT) return;
    print_message("    %s\n", sentence);
    ++*(int *)user;
}

static void gaps_have_exact_derivatives_at_random_poses(void **state) {
    (void)state;
    for (int i = 0; i < PAIRS; ++i)
        for (unsigned pose = 0; pose < POSES; pose += pairs[i].contacts > 8 ? 7 : 3) {
            carom_model *m = posed(i, 77 * (unsigned)i + pose, 1 + 0.1 * pose, "friction: 0.3");
            if (!m) continue;
            int faults = 0;
            carom_error err;
            assert_int_equal(carom_model_count(m).contacts, pairs[i].contacts);
            carom_model_examine(m, note, &faults, &err);
            if (faults) fail_msg("%s against %s, pose %u", pairs[i].a, pairs[i].b, pose);
            carom_model_destroy(m);
        }
}


// Normal columns against differences of gaps at poses that overlap, too (a kink between the two points of a difference
// shows up once in a while).
static void gradients_hold_inside_as_well(void **state) {
    (void)state;
    for (int i = 0; i < PAIRS; ++i) {
        carom_model *m = NULL;
        for (unsigned k = 0; !m && k < 50; ++k) m = posed(i, 5 + k, k % 2 ? 2 : 0.3, "friction: 0.3");
        assert_non_null(m);
        const carom_system *s = carom_model_system(m);
        void *work = work_of(m);
        carom_arena mem;
        carom_local L = local_of(m, &mem);
        double q[14], q_1[14], v[12], g_1[40], g_2[40], W[12];
        unsigned seed = 3 + (unsigned)i;
        int wrong = 0, seen = 0;
        for (int pose = 0; pose < 20; ++pose) {
            for (int k = 0; k < s->nv; ++k)
                v[k] = pairs[i].near * next(&seed) * (pairs[i].spatial ? k % 6 > 2 ? 5 : 0.5 : k % 3 == 2 ? 5 : 0.5);
            if (s->move) s->move(s->model, q, carom_model_q0(m), 1, v);
            else carom_add(q, carom_model_q0(m), 1, v, s->nv);
            // nearer
            for (int k = 0; k < s->nq && pose % 2; ++k) q[k] *= k < 2 || (pairs[i].spatial && k < 3) ? 0.7 : 1;
            assert_int_equal(s->directions(s->model, work, 0, q, &L), CAROM_OK);
            bool bad = false;
            for (int j = 0; j < s->nv; ++j) {
                const double h = 1e-6;
                for (int k = 0; k < s->nv; ++k) v[k] = k == j;
                for (int side = -1; side < 2; side += 2) {
                    if (s->move) s->move(s->model, q_1, q, side * h, v);
                    else carom_add(q_1, q, side * h, v, s->nv);
                    assert_int_equal(s->gaps(s->model, work, 0, q_1, side < 0 ? g_1 : g_2), CAROM_OK);
                }
                for (int id = 0; id < s->nc; ++id) {
                    carom_column_expand(W, &L.W, L.at[id]);
                    // all equal: the bound of a pair that is far apart
                    const double far = g_1[0] == g_1[s->nc - 1] && s->nc > 1;
                    bad = bad || (!far && s->nc > 1 && fabs((g_2[id] - g_1[id]) / (2 * h) - W[j]) > 1e-6);
                    if (s->nc == 1 && g_1[0] < 0.1 * pairs[i].near)
                        bad = bad || fabs((g_2[id] - g_1[id]) / (2 * h) - W[j]) > 1e-6;
                }
            }
            ++seen;
            wrong += bad;
        }
        if (wrong > 1) fail_msg("%s against %s: wrong at %d of %d poses", pairs[i].a, pairs[i].b, wrong, seen);
        free(mem.base);
        free(work);
        carom_model_destroy(m);
    }
}

// -- distances --------------------------------------------------------------------------------------------------------

// r, and the box or line inside
typedef struct solid { const char *word; bool spatial; double r, half[3]; int axis; } solid;

static const solid solids[] = {
    {"circle: 0.2", false, 0.2, {0}, 0},
    {"box: [0.5, 0.3]", false, 0, {0.25, 0.15, 0}, 0},
    {"capsule: [0.1, 0.5]", false, 0.1, {0.25, 0, 0}, 0},
    {"sphere: 0.2", true, 0.2, {0}, 2},
    {"box: [0.5, 0.3, 0.2]", true, 0, {0.25, 0.15, 0.1}, 2},
    {"capsule: [0.1, 0.5]", true, 0.1, {0, 0, 0.25}, 2},
    {"cylinder: [0.2, 0.3]", true, 0.2, {0, 0, 0.15}, 2},
};
enum { SOLIDS = sizeof solids / sizeof *solids };

// The nearest point of the solid, in its frame.
static void project(const solid *s, double *p) {
    double c[3], d = 0;
    if (s->word[1] == 'y') { // cylinder
        const double rho = hypot(p[0], p[1]);
        if (rho > s->r) p[0] *= s->r / rho, p[1] *= s->r / rho;
        p[2] = fmax(-s->half[2], fmin(s->half[2], p[2]));
        return;
    }
    for (int i = 0; i < 3; ++i) c[i] = fmax(-s->half[i], fmin(s->half[i], p[i])), d += (p[i] - c[i]) * (p[i] - c[i]);
    d = sqrt(d);
    for (int i = 0; i < 3 && d > s->r; ++i) p[i] = c[i] + (p[i] - c[i]) * s->r / d;
}

static double reach_of(const solid *s) {
    const double l = sqrt(s->half[0] * s->half[0] + s->half[1] * s->half[1] + s->half[2] * s->half[2]);
    return s->word[1] == 'y' ? hypot(s->r, l) : s->r + l;
}

static void project_world(const solid *s, const pose *x, double *p) {
    double y[3];
    for (int j = 0; j < 3; ++j) {
        y[j] = 0;
        for (int i = 0; i < 3; ++i) y[j] += x->R[3 * i + j] * (p[i] - x->r[i]);
    }
    project(s, y);
    for (int i = 0; i < 3; ++i) p[i] = x->r[i] + x->R[3 * i] * y[0] + x->R[3 * i + 1] * y[1] + x->R[3 * i + 2] * y[2];
}

// Distance of two convex solids by projecting from one onto the other and back.
static double distance(const solid *a, const pose *xa, const solid *b, const pose *xb) {
    double p[3] = {0}, q[3], d = 0;
    memcpy(p, xa->r, sizeof p);
    for (int k = 0; k < 20000; ++k) {
        memcpy(q, p, sizeof q);
        project_world(b, xb, q);
        memcpy(p, q, sizeof p);
        project_world(a, xa, p);
        const double e =
            sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) + (p[2] - q[2]) * (p[2] - q[2]));
        if (k > 200 && fabs(e - d) < 1e-13) return e;
        d = e;
    }
    return d;
}

static void pose_in(const double *q, bool spatial, pose *x) {
    const double c = cos(q[2]), s = sin(q[2]), R[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
    if (spatial) {
        pose_of(q, x);
        return;
    }
    x->r[0] = q[0], x->r[1] = q[1], x->r[2] = 0;
    memcpy(x->R, R, sizeof R);
}

static void the_smallest_gap_is_the_distance(void **state) {
    (void)state;
    int compared = 0;
    for (int i = 0; i < SOLIDS; ++i)
        for (int j = i; j < SOLIDS; ++j) {
            const solid *a = &solids[i], *b = &solids[j];
            if (a->spatial != b->spatial || (b->word[1] == 'y' && i != 3)) continue;
            char text[600];
            const char *const inertia = a->spatial ? "[1, 1, 1]" : "1", *const at =
                                                                            a->spatial ? "[0.9, 0, 0]" : "[0.9, 0]";
            snprintf(text, sizeof text,
                     "carom: 1\nbodies:\n  a: {mass: 1, inertia: %s, at: %s, shape: {%s}}\n  b: {mass: 1, inertia: %s, "
                     "shape: {%s}}\n"
                     "contacts: {c: {between: [a, b]}}\n",
                     inertia, at, a->word, inertia, b->word);
            carom_model *m = good(text);
            const carom_system *s = carom_model_system(m);
            void *work = work_of(m);
            unsigned seed = 1 + 10 * (unsigned)i + (unsigned)j;
            for (int k = 0; k < 25; ++k) {
                double v[12], q[14], g[40], least = HUGE_VAL;
                for (int l = 0; l < s->nv; ++l)
                    v[l] = a->spatial ? (l % 6 < 3 ? 0.3 : 3) * next(&seed) : (l % 3 < 2 ? 0.3 : 3) * next(&seed);
                v[0] -= 0.3;
                if (s->move) s->move(s->model, q, carom_model_q0(m), 1, v);
                else carom_add(q, carom_model_q0(m), 1, v, s->nv);
                pose x, y;
                pose_in(q, a->spatial, &x);
                pose_in(q + (a->spatial ? 7 : 3), a->spatial, &y);
                const double d = distance(a, &x, b, &y);
                assert_int_equal(s->gaps(s->model, work, 0, q, g), CAROM_OK);
                for (int l = 0; l < s->nc; ++l) least = fmin(least, g[l]);
                const double reach[2] = {reach_of(a), reach_of(b)};
                const double bound = sqrt(pow(x.r[0] - y.r[0], 2) + pow(x.r[1] - y.r[1], 2) + pow(x.r[2] - y.r[2], 2)) -
                                     reach[0] - reach[1];
                if (bound > fmin(reach[0], reach[1])) {
                    assert_close(least, bound, 1e-12);
                    assert_true(bound <= d + 1e-9);
                    continue;
                }
                ++compared;
                if (d > 1e-4 && fabs(least - d) > 1e-6)
                    fail_msg("%s and %s: gap %.9g, distance %.9g", a->word, b->word, least, d);
                if (d <= 1e-4) assert_true(least < 2e-4); // they touch or overlap
            }
            free(work);
            carom_model_destroy(m);
        }
    assert_true(compared > 120);
}

// -- motion -----------------------------------------------------------------------------------------------------------

static carom_sim *run(const carom_model *m, const char *scheme, double h, double end) {
    carom_sim *sim = model_sim(m, scheme, NULL, h, end);
    model_sim_run(sim);
    return sim;
}

// Momentum, then angular momentum round the origin (moments of inertia are alike about all axes); kinetic energy last.
static void motion_of(bool spatial, const double *q, const double *v, double *x) {
    static const double mass[2] = {2, 3}, J[2] = {0.1, 0.2};
    for (int k = 0; k < 7; ++k) x[k] = 0;
    for (int b = 0; b < 2; ++b) {
        const double *r = q + b * (spatial ? 7 : 3), *u = v + b * (spatial ? 6 : 3),
                     w[3] = {spatial ? u[3] : 0, spatial ? u[4] : 0, spatial ? u[5] : u[2]};
        const double p[3] = {mass[b] * u[0], mass[b] * u[1], spatial ? mass[b] * u[2] : 0};
        pose y;
        pose_in(r, spatial, &y);
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            x[i] += p[i];
            x[3 + i] += y.r[j] * p[k] - y.r[k] * p[j] +
                        J[b] * (y.R[3 * i] * w[0] + y.R[3 * i + 1] * w[1] + y.R[3 * i + 2] * w[2]);
            x[6] += 0.5 * (p[i] * p[i] / mass[b] + J[b] * w[i] * w[i]);
        }
    }
}

static void collide(int i, const char *law, bool keeps_energy, long *impacts) {
    for (unsigned k = 0, met = 0; k < 20 && met < 2; ++k) {
        const double far =
            strstr(pairs[i].b, "hole") || strstr(pairs[i].b, "slot") || strstr(pairs[i].b, "bore") ? 0.3 : 1.6;
        carom_model *m = posed(i, 900 + k, far, law);
        if (!m) continue; // starts on the wrong side of a plane
        ++met;
        double before[7], after[7];
        motion_of(pairs[i].spatial, carom_model_q0(m), carom_model_v0(m), before);
        carom_sim *sim = run(m, "moreau-midpoint", 2e-3, 2);
        motion_of(pairs[i].spatial, carom_sim_now(sim).q, carom_sim_now(sim).v, after);
        for (int l = 0; l < 6; ++l)
            if (!(fabs(after[l] - before[l]) < 1e-11))
                fail_msg("%s and %s (%s): component %d is %.15g, was %.15g", pairs[i].a, pairs[i].b, law, l, after[l],
                         before[l]);
        if (keeps_energy) assert_close(after[6], before[6], 1e-11 * before[6]);
        else assert_true(after[6] <= before[6] * (1 + 1e-12));
        carom_ledger ledger;
        carom_error err;
        assert_int_equal(carom_sim_ledger(sim, &ledger, &err), CAROM_OK);
        *impacts += ledger.impacts;
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

static void free_bodies_keep_momentum_and_angular_momentum(void **state) {
    (void)state;
    for (int i = 0; i < PAIRS; ++i) {
        long impacts = 0;
        collide(i, "restitution: 1", true, &impacts);
        collide(i, "restitution: 0.3, friction: 0.4", false, &impacts);
        if (impacts < 2) fail_msg("%s and %s do not meet", pairs[i].a, pairs[i].b);
    }
}

// -- sliding ----------------------------------------------------------------------------------------------------------

// A corner that slides along a row of equal boxes does not hang on their sides.
static void a_corner_does_not_hang_on_a_seam(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\ngravity: [0, -9.81]\nbodies:\n  s: {mass: 1, inertia: 0.01, at: [0.3, 0.15], velocity: [2, 0], "
             "shape: {box: [0.2, 0.1]}}\n"
             "shapes:\n  a: {box: [1, 0.2]}\n  b: {box: [1, 0.2], at: [1, 0]}\n  c: {box: [1, 0.2], at: [2, 0]}\n"
             "contacts: {on: {between: [s, [a, b, c]]}}\n");
    carom_sim *sim = run(m, "moreau-midpoint", 1e-3, 0.8);
    assert_close(carom_sim_now(sim).v[0], 2, 1e-9);
    assert_close(carom_sim_now(sim).q[2], 0, 1e-6);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// -- far pairs --------------------------------------------------------------------------------------------------------

static void gaps_depend_on_the_state_alone(void **state) {
    (void)state;
    for (int i = 0; i < PAIRS; ++i) {
        carom_model *m = NULL;
        for (unsigned k = 0; !m && k < 50; ++k) m = posed(i, 5 + k, k % 2 ? 2 : 0.3, "friction: 0.3");
        assert_non_null(m);
        const carom_system *s = carom_model_system(m);
        void *old = work_of(m);
        double q[14], v[12] = {0}, g_1[40], g_2[40];
        for (int k = 0; k < 30; ++k) { // there and back
            v[0] = pairs[i].near * 5 * sin(0.7 * k);
            if (s->move) s->move(s->model, q, carom_model_q0(m), 1, v);
            else carom_add(q, carom_model_q0(m), 1, v, s->nv);
            void *fresh = work_of(m);
            assert_int_equal(s->gaps(s->model, old, 0, q, g_1), CAROM_OK);
            assert_int_equal(s->gaps(s->model, fresh, 0, q, g_2), CAROM_OK);
            assert_memory_equal(g_1, g_2, (size_t)s->nc * sizeof *g_1);
            free(fresh);
        }
        free(old);
        carom_model_destroy(m);
    }
}

// -- how models say it ------------------------------------------------------------------------------------------------

// A shape may stand with its body or in the section shapes; pairs may be listed, or be all of a group.
static void shapes_and_pairs_may_be_written_in_two_ways(void **state) {
    (void)state;
    carom_model *m[] = {good("carom: 1\nbodies:\n  a: {mass: 1, inertia: 1, shape: {box: [1, 2], at: [0.1, 0]}}\n  b: "
                             "{mass: 1, inertia: 1, at: [3, 1], shape: {circle: 0.5}}\n"
                             "  c: {mass: 1, inertia: 1, at: [1, 4], shape: {circle: 0.3}}\ncontacts: {x: {between: "
                             "[a, b]}, y: {between: [a, c]}, z: {between: [b, c]}}\n"),
                        good("carom: 1\nbodies:\n  a: {mass: 1, inertia: 1}\n  b: {mass: 1, inertia: 1, at: [3, 1]}\n  "
                             "c: {mass: 1, inertia: 1, at: [1, 4]}\n"
                             "shapes: {k: {box: [1, 2], of: a, at: [0.1, 0]}, l: {circle: 0.5, of: b}, m: {circle: "
                             "0.3, of: c}}\ncontacts: {x: {among: [k, l, m]}}\n")};
    double g[2][3];
    for (int i = 0; i < 2; ++i) {
        const carom_system *s = carom_model_system(m[i]);
        void *work = work_of(m[i]);
        assert_int_equal(s->nc, 3);
        assert_int_equal(s->gaps(s->model, work, 0, carom_model_q0(m[i]), g[i]), CAROM_OK);
        free(work);
        carom_model_destroy(m[i]);
    }
    assert_memory_equal(g[0], g[1], sizeof g[0]);
    assert_true(g[0][0] > 1 && fabs(g[0][2] - (sqrt(13) - 0.8)) < 1e-14);
}

// -- refused ----------------------------------------------------------------------------------------------------------

static void wrong_shapes_are_refused_with_the_place(void **state) {
    (void)state;
    static const struct { const char *shape, *other, *contact, *message; } cases[] = {
        {"shape: {box: [1]}", "", "", "3:53: a box has two edges"},
        {"shape: {box: [1, 0]}", "", "", "the edge of a box must be positive, got 0"},
        {"shape: {circle: -1}", "", "", "the radius of a circle must be positive, got -1"},
        {"shape: {sphere: 1}", "", "", "is spatial, and body 'b' is planar; write `circle`"},
        {"shape: {box: [1, 1, 1]}", "", "", "is spatial, and body 'b' is planar; `box` is two edges, in space three"},
        {"shape: {sircle: 1}", "", "", "did you mean 'circle'?"},
        {"shape: {at: [0, 0]}", "", "", " has no form: "},
        {"shape: {circle: 1, box: [1, 1]}", "", "", "is both circle and box"},
        {"shape: {polygon: [[0, 0], [1, 0]]}", "", "", "three to 64 points"},
        {"shape: {polygon: [[0, 0], [1, 0], [2, 0], [0, 1]]}", "", "", "not convex"},
        {"shape: {polygon: [[0, 0], [1, 0], [0.2, 0.2], [0, 1]]}", "", "", "not convex"},
        {"shape: {polygon: [[0, 1], [0.6, -0.8], [-1, 0.3], [1, 0.3], [-0.6, -0.8]]}", "", "", "more than once"},
        {"shape: {plane: [0, 0]}", "", "", "no length"},
        {"shape: {capsule: 1}", "", "", "[radius, length]"},
        {"shape: {circle: 1, angle: 2}", "", "", "needs no angle"},
        {"shape: {point: [0, 0], at: [1, 0]}", "", "", "placed by its points"},
        {"shape: {circle: 0.1}", "f: {plane: [0, 1]}", "{between: [b, g]}", "unknown shape 'g'"},
        {"shape: {circle: 0.1}", "floor: {plane: [0, 1]}", "{between: [b, flor]}", "did you mean 'floor'?"},
        {"shape: {circle: 0.1}", "f: {plane: [0, 1]}", "{between: [b]}", "a list of two shapes"},
        {"shape: {circle: 0.1}", "f: {plane: [0, 1]}", "{between: [b, b]}", "belong to one body"},
        {"shape: {circle: 0.1}", "f: {plane: [0, 1]}, g: {circle: 1}", "{between: [g, f]}", "belong to one body"},
        {"shape: {circle: 0.1}", "f: {plane: [0, 0, 1]}", "{between: [b, f]}",
         "is planar and 'f' is spatial; in space `plane` has three numbers, in the plane two"},
        {"shape: {circle: 0.1}", "f: {hole: 0.1}", "{between: [b, f]}", "has no clearance"},
        {"shape: {point: [0, 0]}", "f: {point: [0, 1]}", "{between: [b, f]}", "never touch"},
        {"shape: {plane: [0, 1]}", "f: {hole: 1}", "{between: [b, f]}",
         "contact between a plane and a hole is not supported"},
        {"shape: {circle: 0.1}", "f: {plane: [0, 1]}", "{between: [b, f], gap: 1}", "unknown key 'gap'"},
        {"shape: {circle: 0.1}", "f: {plane: [0, 1]}", "{between: {a: 1}}", "a list of two shapes"},
        {"shape: {circle: 0.1}", "f: {plane: [0, 1]}", "{among: b}", "among is a list of shapes"},
        {"shape: {circle: 0.1}", "f: {plane: [0, 1]}", "{among: [b, f, b]}", "is listed twice"},
        {"shape: {circle: 0.1}", "f: {plane: [0, 1]}", "{among: [b, f], between: [b, f]}", "mutually exclusive"},
        {"shape: {circle: 0.1}", "f: {circle: 1, of: bb}", "{between: [b, f]}", "unknown body or flexible member 'bb'"},
        {"shape: {circle: 0.1}", "f: {plane: [0, 1]}", "{between: [b, [f, [f]]]}", "the name of a shape, got a list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char text[600];
        carom_error err = {0};
        snprintf(text, sizeof text,
                 "carom: 1\nbodies:\n  b: {mass: 1, inertia: 1, at: [0, 3], %s}\nshapes: {%s}\ncontacts: {%s%s}\n",
                 cases[i].shape, cases[i].other, *cases[i].contact ? "c: " : "", cases[i].contact);
        carom_model *m = model_of(text, &err);
        if (m || !strstr(err.text, cases[i].message))
            fail_msg("%s %s: %s", cases[i].shape, cases[i].contact, m ? "was taken" : err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gaps_have_exact_derivatives_at_random_poses),
        cmocka_unit_test(gradients_hold_inside_as_well),
        cmocka_unit_test(the_smallest_gap_is_the_distance),
        cmocka_unit_test(free_bodies_keep_momentum_and_angular_momentum),
        cmocka_unit_test(a_corner_does_not_hang_on_a_seam),
        cmocka_unit_test(gaps_depend_on_the_state_alone),
        cmocka_unit_test(shapes_and_pairs_may_be_written_in_two_ways),
        cmocka_unit_test(wrong_shapes_are_refused_with_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_piles.c: many bodies with shapes: pairs that share tapes, piles that stand, a pile that is hit.
#include "model_text.h"
#include "schemes.h"
#include "sim/sim.h"

static double next(unsigned *seed) { // -1 .. 1
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

// -- shared tapes -----------------------------------------------------------------------------------------------------

// Pairs of every sort side by side: equal boxes in both orders of their bodies, another size, a sphere, planar boxes,
// the ground, and a table that moves as told and shares with nobody.
static const char mixed[] =
    "carom: 1\n"
    "bodies:\n"
    "  a: {mass: 2, inertia: [0.1, 0.12, 0.11], at: [0, 0, 0.2], axis: [1, 2, 3], angle: 0.4, shape: {box: [0.2, 0.3, "
    "0.25]}}\n"
    "  b: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.4, 0, 0.2], axis: [3, 1, 0], angle: 1.4, shape: {box: [0.2, 0.3, "
    "0.25]}}\n"
    "  c: {mass: 3, inertia: [0.2, 0.1, 0.1], at: [0.2, 0.4, 0.2], axis: [0, 1, 1], angle: -1, shape: {box: [0.2, 0.3, "
    "0.25]}}\n"
    "  d: {mass: 3, inertia: [0.2, 0.1, 0.1], at: [0.2, 0.1, 0.6], axis: [0, 1, 2], angle: -2, shape: {box: [0.3, 0.2, "
    "0.1]}}\n"
    "  s: {mass: 1, inertia: [0.1, 0.1, 0.1], at: [0.2, 0.1, 0.9], shape: {sphere: 0.1}}\n"
    "  p: {mass: 1, inertia: 0.1, at: [0, 0.3], shape: {box: [0.3, 0.2]}}\n"
    "  r: {mass: 1, inertia: 0.1, at: [0.4, 0.3], angle: 0.3, shape: {box: [0.3, 0.2]}}\n"
    "  table: {motion: {at: [0, 0, -0.2 + 0.1*sin(3*t)], axis: [0, 1, 0], angle: 0.1*t}, shape: {box: [2, 2, 0.1]}}\n"
    "shapes: {floor: {plane: [0, 0.2, 1], at: [0, 0, -0.4]}, line: {plane: [0.1, 1]}}\n"
    "contact defaults: {friction: 0.3}\n"
    "contacts:\n"
    "  ab: {between: [a, b]}\n"
    "  ca: {between: [c, [a, b]]}\n"
    "  dx: {between: [d, [a, b, c, s]]}\n"
    "  sx: {between: [[a, b, c], s]}\n"
    "  on: {between: [[a, b, c, d, s], table]}\n"
    "  over: {between: [[s, a, b, c, d], floor]}\n"
    "  pr: {between: [p, r]}\n"
    "  rp: {between: [[r, p], line]}\n";

// Pairs are written, however many they are.
static carom_model *written(const char *text) {
    carom_error err = {0};
    const carom_model_def def = {.text = text, .length = strlen(text), .file = "m.yaml", .pairs = true};
    carom_model *m = carom_model_create(&def, &err);
    if (!m) fail_msg("%s", err.text);
    return m;
}

// The same with NAME.gap, NAME.slip1', ... of all contacts as outputs, which are expressions of the model's own graph.
static carom_model *with_outputs(const carom_model *m) {
    const size_t size = 1 << 20;
    char *text = malloc(size);
    assert_non_null(text);
    size_t used = (size_t)snprintf(text, size, "%soutputs:\n", mixed);
    for (int i = 0; i < carom_model_count(m).contacts; ++i) {
        const char *name = carom_model_constraint(m, i);
        used += (size_t)snprintf(text + used, size - used, "  g%d: %s.gap\n", i, name);
        const bool planar = carom_model_system(m)->contacts[i].tangents == 1;
        for (int k = 1; k <= (planar ? 1 : 2); ++k)
            used += planar ? (size_t)snprintf(text + used, size - used, "  t%d_%d: %s.slip'\n", i, k, name)
                           : (size_t)snprintf(text + used, size - used, "  t%d_%d: %s.slip%d'\n", i, k, name, k);
    }
    carom_model *out = written(text);
    free(text);
    return out;
}

static void pairs_that_share_a_tape_give_what_their_expressions_say(void **state) {
    (void)state;
    carom_model *bare = written(mixed), *m = with_outputs(bare);
    const carom_system *s = carom_model_system(m);
    void *work = work_of(m);
    carom_arena mem;
    carom_local L = local_of(m, &mem);
    const int nd = L.at[L.nb], nout = carom_model_count(m).outputs;
    double *g = calloc((size_t)s->nc + 2 * (size_t)nd + (size_t)nout, sizeof *g), *u = g + s->nc, *w = u + nd,
           *out = w + nd;
    double q[80], v[60];
    assert_non_null(g);
    assert_true(s->nq < 80 && nout == nd);
    unsigned seed = 5;
    int near = 0, far = 0;
    for (int pose = 0; pose < 20; ++pose) {
        const double t = 0.3 * pose;
        for (int k = 0; k < s->nv; ++k) v[k] = 0.3 * next(&seed);
        s->move(s->model, q, carom_model_q0(m), 1, v);
        for (int k = 0; k < s->nv; ++k) v[k] = 2 * next(&seed);
        assert_int_equal(s->gaps(s->model, work, t, q, g), CAROM_OK);
        assert_int_equal(s->speed->rates(s->model, work, t, q, v, u), CAROM_OK);
        assert_int_equal(s->directions(s->model, work, t, q, &L), CAROM_OK);
        carom_model_outputs(m, work, t, q, v, out);
        for (int id = 0, at = 0; id < s->nc; at += L.at[id + 1] - L.at[id], ++id) {
            if (g[id] != out[at]) assert_true(g[id] < out[at] + 1e-12); // a bound, or rounding
            const bool exact = out[at] < 0.05; // nearer than the margin of any pair
            near += exact, far += g[id] < out[at] - 1e-9;
            if (exact) assert_close(g[id], out[at], 1e-12);
            for (int k = L.at[id]; exact && k < L.at[id + 1]; ++k) {
                w[k] = carom_column_dot(&L.W, k, v) + L.w[k];
                assert_close(u[k], w[k], 1e-12);
                if (k > L.at[id]) assert_close(u[k], out[at + k - L.at[id]], 1e-12);
            }
        }
    }
    assert_true(near > 100 && far > 100); // both happen
    free(g);
    free(mem.base);
    free(work);
    carom_model_destroy(m);
    carom_model_destroy(bare);
}

static void note(void *user, carom_finding kind, const char *sentence) {
    if (kind != CAROM_FAULT) return;
    print_message("    %s\n", sentence);
    ++*(int *)user;
}

static void their_derivatives_are_exact(void **state) {
    (void)state;
    carom_model *m = written(mixed);
    carom_error err;
    int faults = 0;
    carom_model_examine(m, note, &faults, &err);
    assert_int_equal(faults, 0);
    carom_model_destroy(m);
}

// -- piles ------------------------------------------------------------------------------------------------------------

typedef struct writer { char *text; size_t used, size; } writer;

static void put(writer *w, const char *format, ...) {
    va_list list;
    va_start(list, format);
    w->used += (size_t)vsnprintf(w->text + w->used, w->size - w->used, format, list);
    va_end(list);
    assert_true(w->used < w->size);
}

enum { MOST_BOXES = 23 };
// edges; boxes overlap by a hair at the start
static const double A = 0.2, B = 0.12, H = 0.1, GRAVITY = 9.81, HAIR = 1e-10;

static void put_box(writer *w, int i, double size, double x, double y, double z) {
    put(w, "  b%d: {mass: 1, inertia: [%.17g, %.17g, %.17g], at: [%.17g, %.17g, %.17g], shape: {box: [%g, %g, %g]}}\n",
        i, (B * B + H * H) / 12, (A * A + H * H) / 12, (A * A + B * B) / 12, x, y, z, size * A, size * B, size * H);
}

// All pairs of boxes, and of boxes and `others` with the floor.
static void put_contacts(writer *w, int n, const char *others) {
    put(w, "contact defaults: {friction: 0.5}\ncontacts:\n");
    for (int i = 0; i + 1 < n; ++i) {
        put(w, "  p%d: {between: [b%d, [", i, i);
        for (int j = i + 1; j < n; ++j) put(w, "%sb%d", j == i + 1 ? "" : ", ", j);
        put(w, "]]}\n");
    }
    put(w, "  floor: {between: [ground, [b0");
    for (int j = 1; j < n; ++j) put(w, ", b%d", j);
    put(w, "%s]]}\n", others);
}

// rows, rows - 1, ... boxes on top of each other, each on two of the row below.
static int put_pyramid(writer *w, int rows) {
    int n = 0;
    for (int r = 0; r < rows; ++r)
        for (int i = 0; i < rows - r; ++i)
            put_box(w, n++, 1, (i - 0.5 * (rows - r - 1)) * 1.1 * A, 0, (r + 0.5) * (H - HAIR));
    return n;
}

static carom_model *pile(writer *w) {
    carom_model *m = written(w->text);
    free(w->text);
    return m;
}

static writer start(const char *bodies) {
    writer w = {calloc(1, 1 << 16), 0, 1 << 16};
    assert_non_null(w.text);
    put(&w, "carom: 1\ngravity: [0, 0, -%g]\nshapes: {ground: {plane: [0, 0, 1]}}\nbodies:\n%s", GRAVITY, bodies);
    return w;
}

// All pairs of 23 boxes, no two of one size: 253 times the 25 contacts of two boxes in space.  They share one tape, and
// the work of a simulation holds a few copies of what it computes, not 253.  (Contacts of more boxes come and go.)
static void all_pairs_of_many_boxes_are_a_model(void **state) {
    (void)state;
    writer w = start("");
    for (int i = 0; i < MOST_BOXES; ++i) put_box(&w, i, 1 + 0.01 * i, 1.5 * A * (i % 6), 1.5 * B * (i / 6), H);
    put_contacts(&w, MOST_BOXES, "");
    carom_model *m = pile(&w);
    const carom_system *s = carom_model_system(m);
    assert_int_equal(s->nc, 253 * 25 + 23 * 8);
    // 8 MiB, and 1 of addresses for each pair that can be held on its features, which event-driven alone touches
    assert_true(s->work_size < (size_t)(8 + 253 + 23) << 20);
    carom_model_destroy(m);
}

// At rest every reaction is that of the step before, and the velocity after a step is what the contact solver leaves:
// its residual, allowed to be 1e-12 (where rounding is in the way, 1e-9) of the largest local velocity of the run, g h.
// What comes of that in n steps is the drift; boxes carry it on to those above, one row after the other, so that the
// least stiff way amplifies it by less than 100.
static void stands(int rows, const char *scheme, int steps) {
    writer w = start("");
    put_contacts(&w, put_pyramid(&w, rows), "");
    carom_model *m = pile(&w);
    const double h = 1e-3, drift = 100 * steps * h * 1e-9 * GRAVITY * h;
    carom_sim *sim = model_sim(m, scheme, NULL, h, steps * h);
    model_sim_run(sim);
    carom_ledger ledger;
    carom_error err;
    assert_int_equal(carom_sim_ledger(sim, &ledger, &err), CAROM_OK);
    const carom_now now = carom_sim_now(sim);
    for (int i = 0; i < carom_model_system(m)->nq; ++i) assert_close(now.q[i], carom_model_q0(m)[i], drift);
    assert_true(ledger.penetration <= HAIR + drift);
    assert_close(ledger.energy.end, ledger.energy.start, 1e-9);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static void a_pyramid_of_boxes_stands_at_rest(void **state) {
    (void)state;
    stands(4, "moreau-midpoint", 30);
    stands(3, "moreau-jean", 30);
    stands(3, "half-explicit", 15);
}

// What the ground has given.
typedef struct books { double ground[3]; int first, count; } books;

static carom_status add_impulses(void *user, const carom_now *now) {
    books *b = user;
    if (!now->reacted) return CAROM_OK;
    for (int id = b->first; id < b->first + b->count; ++id) {
        const double *p = now->impulse + now->dir[id];
        // n = (0, 0, -1) from box to ground, t_1 = (1, 0, 0), t_2 = (0, -1, 0)
        b->ground[0] -= p[1], b->ground[1] += p[2], b->ground[2] += p[0];
    }
    return CAROM_OK;
}

// A ball throws a pyramid down: what all bodies gain in momentum is what weight and ground give, and what energy is
// missing went into impacts and friction.
static void a_ball_that_hits_a_pile_leaves_the_books_in_order(void **state) {
    (void)state;
    enum { ROWS = 3, BOXES = 6, STEPS = 300 };
    writer w = start("  ball: {mass: 0.5, inertia: [2e-4, 2e-4, 2e-4], at: [0.03, -0.4, 0.2], velocity: [0, 8, 0.6], "
                     "shape: {sphere: 0.05}}\n");
    put_contacts(&w, put_pyramid(&w, ROWS), ", ball");
    put(&w, "  hit: {between: [ball, [b0, b1, b2, b3, b4, b5]], restitution: 0.3}\n");
    carom_model *m = pile(&w);
    const carom_system *s = carom_model_system(m);
    const double h = 1e-3, *v0 = carom_model_v0(m);
    carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, h, STEPS * h);
    books b = {.first = BOXES * (BOXES - 1) / 2 * 25, .count = BOXES * 8 + 1};
    carom_error err = {0};
    if (carom_sim_run(sim, add_impulses, &b, &err) != CAROM_OK) fail_msg("%s", err.text);
    const double *v = carom_sim_now(sim).v;
    double gained[3] = {0, 0, 0.5 * GRAVITY * STEPS * h + BOXES * GRAVITY * STEPS * h};
    for (int i = 0; i < s->nv; ++i)
        if (i % 6 < 3) gained[i % 6] += (i < 6 ? 0.5 : 1) * (v[i] - v0[i]);
    for (int k = 0; k < 3; ++k) assert_close(gained[k], b.ground[k], 1e-11);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, &err), CAROM_OK);
    assert_true(l.energy.impact > 1 && l.energy.friction > 0.1); // it was no small matter: the ball brings 16 J
    assert_close(l.energy.balance, 0, 1e-3 * l.energy.start); // boxes tumble at up to 20 rad/s, which a step sees to (w
                                                              // h)^2 = 4e-4
    assert_true(l.penetration < 0.02);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

static void a_pyramid_stands_for_a_second(void **state) {
    (void)state;
    stands(4, "moreau-midpoint", 1000);
}

// -- planks across each other -----------------------------------------------------------------------------------------

// No corner of one is over the other: they lie on the four places where their edges cross.  Two on a block, 1.2 and 0.8
// rad apart, dropped by 0.1 mm.
static const char planks[] =
    "carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
    "  a: {mass: 1, inertia: [0.002, 0.03, 0.03], at: [0, 0, 0.1501], axis: [0, 0, 1], angle: 0.3, shape: {box: [0.6, "
    "0.1, 0.1]}}\n"
    "  b: {mass: 1, inertia: [0.002, 0.03, 0.03], at: [0.01, 0, 0.2502], axis: [0, 0, 1], angle: 1.5, shape: {box: "
    "[0.6, 0.1, 0.1]}}\n"
    "shapes: {base: {box: [0.2, 0.2, 0.1], at: [0, 0, 0.05]}}\ncontacts: {x: {among: [base, a, b], friction: 0.4}}\n";

static void planks_lie_across_each_other(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-midpoint", "half-explicit", "mixed"};
    for (int i = 0; i < 3; ++i) {
        carom_model *m = good(planks);
        const double h = 5e-4;
        carom_sim *sim = model_sim(m, schemes[i], NULL, h, 0.05);
        model_sim_run(sim);
        const carom_now now = carom_sim_now(sim);
        // What falls into them in a step before they are seen, and what that turns them by.
        const double deep = 2 * sqrt(2 * 9.81 * 2e-4) * h;
        assert_true(fabs(now.q[2] - 0.15) < deep && fabs(now.q[9] - 0.25) < 2 * deep);
        for (int k = 0; k < 12; ++k) assert_true(fabs(now.v[k]) < 1e-9);
        // neither tilts
        for (int k = 0; k < 2; ++k) assert_true(hypot(now.q[7 * k + 4], now.q[7 * k + 5]) < 2 * deep / 0.1);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// Standing still from the start: velocities have no size but that of what gravity would do.
static void a_pile_that_stands_still_runs_by_itself(void **state) {
    (void)state;
    carom_model *m =
        good("carom: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
             "  a: {mass: 1, inertia: [0.002, 0.03, 0.03], at: [0, 0, 0.15], shape: {box: [0.6, 0.1, 0.1]}}\n"
             "  b: {mass: 1, inertia: [0.002, 0.03, 0.03], at: [0, 0, 0.25], shape: {box: [0.1, 0.6, 0.1]}}\n"
             "shapes: {base: {box: [0.8, 0.8, 0.1], at: [0, 0, 0.05]}}\ncontacts: {x: {between: [base, a, b], "
             "friction: 0.4}}\n");
    carom_sim *sim = model_sim(m, "auto", NULL, 1e-2, 0.1);
    model_sim_run(sim);
    const carom_now now = carom_sim_now(sim);
    assert_true(fabs(now.q[2] - 0.15) < 1e-12 && fabs(now.q[9] - 0.25) < 1e-12);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

// Boxes rest on each other, off their middles.  (SOL-31): what a step was solved with is made better in the next, and
// those after that need no work: fewer than an iteration for four steps.  Six are solved by `newton`, ten by `hybrid`.
static void a_stack_at_rest_needs_hardly_any_work(void **state) {
    enum { STEPS = 300 };
    const double h = 2e-3;
    (void)state;
    for (int boxes = 6; boxes <= 10; boxes += 4) {
        char text[500];
        snprintf(text, sizeof text,
                 "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
                 "  b: {repeat: %d, body: {density: 1000, at: [0.003*sin(12.9898*i), 0.003*sin(78.233*i), 0.1 + "
                 "0.2*i],\n      shape: {box: [0.2, 0.2, 0.2]}}}\n"
                 "contact defaults: {friction: 0.5}\ncontacts: {bb: {among: b}, f: {between: [b, floor]}}\n",
                 boxes);
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, "moreau-midpoint", ((const char *const[]){"tol=1e-6", NULL}), h, STEPS * h);
        model_sim_run(sim);
        const carom_ledger l = sim_ledger(sim);
        assert_true(l.counts.problems >= STEPS);
        assert_true(l.counts.iterations < STEPS / 4);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// (SOL-32)  Sixteen stacks at rest: a start that stands is found by one product by bodies, and no blocks of G are made.
static void what_stands_needs_no_blocks(void **state) {
    enum { STEPS = 10 };
    const double h = 2e-3;
    (void)state;
    for (int precise = 0; precise < 2; ++precise) {
        carom_model *m =
            good("carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
                 "  b: {repeat: [16, 3], body: {density: 1000, at: [0.3*i, 0.003*sin(7*i*j), 0.1 + 0.2*j],\n"
                 "      shape: {box: [0.2, 0.2, 0.2]}}}\n"
                 "contact defaults: {friction: 0.5}\ncontacts: {bb: {among: b}, f: {between: [b, floor]}}\n");
        carom_sim *sim = model_sim(m, "moreau-midpoint",
                                   ((const char *const[]){precise ? "tol=1e-6" : "tol=1e-3", NULL}), h, STEPS * h);
        model_sim_run(sim);
        const carom_ledger l = sim_ledger(sim);
        assert_true(l.counts.problems == STEPS && l.counts.residual <= 1e-6);
        assert_true(sim->inside.delassus.parts.blocks > 0 && !sim->inside.delassus.parts.full);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

// (MID-8)  The contacts of a wall that residuals of (TOL-6) open stay closed: without that half of them are open in the
// second step, and bricks fall.  A residual r moves a contact by r t, and rows add up; at both ends of the rows bricks
// hang over and tip, so the middle is looked at.  (MID-9): gaps return over many steps; in one, each step takes 73
// iterations.
static void a_wall_without_mortar_stands(void **state) {
    enum { ROWS = 20, BRICKS = 15, STEPS = 20 };
    const double h = 2e-3;
    (void)state;
    carom_model *m =
        good("carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1]}}\nbodies:\n"
             "  b: {repeat: [20, 15], body: {density: 1800, at: [0.25*j + 0.125*(i - 2*floor(i/2)), 0, 0.0325 + "
             "0.065*i],\n      shape: {box: [0.249, 0.12, 0.065]}}}\n"
             "contact defaults: {friction: 0.6}\ncontacts: {bb: {among: b}, f: {between: [b, floor]}}\n");
    carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, h, STEPS * h);
    model_sim_run(sim);
    const carom_ledger l = sim_ledger(sim);
    const double *q = carom_sim_now(sim).q;
    assert_true(l.counts.accepted_residual <= 1e-4 && l.counts.iterations <= 10 * STEPS);
    for (int i = 0; i < ROWS; ++i)
        assert_true(fabs(q[7 * (i * BRICKS + BRICKS / 2) + 2] - 0.0325 - 0.065 * i) <=
                    ROWS * l.counts.residual * STEPS * h);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_that_share_a_tape_give_what_their_expressions_say),
        cmocka_unit_test(their_derivatives_are_exact),
        cmocka_unit_test(all_pairs_of_many_boxes_are_a_model),
        cmocka_unit_test(a_pyramid_of_boxes_stands_at_rest),
        cmocka_unit_test(a_ball_that_hits_a_pile_leaves_the_books_in_order),
        cmocka_unit_test(planks_lie_across_each_other),
        cmocka_unit_test(a_pile_that_stands_still_runs_by_itself),
        cmocka_unit_test(a_stack_at_rest_needs_hardly_any_work),
        cmocka_unit_test(what_stands_needs_no_blocks),
        cmocka_unit_test(a_wall_without_mortar_stands),
    };
    const struct CMUnitTest takes_long[] = {cmocka_unit_test(a_pyramid_stands_for_a_second)};
    if (argc > 1 && strcmp(argv[1], "long") == 0) return cmocka_run_group_tests(takes_long, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// test_list_derivatives.c: contacts of a dynamic list: rates, curvature and gradients are the derivatives of gaps and
// rates.
//
// Everything is compared with differences along motions of the same bodies, from gaps and rates alone; surfaces move
// along their bodies (conveyors), bodies spin, in the plane and in space.
#include "model_text.h"
#include "sim/sim.h"

enum { ROWS = 400, SPEEDS = 400 };

typedef struct point { double t, q[SPEEDS], v[SPEEDS], g[ROWS], u[ROWS]; } point;

static carom_local all_of(const carom_system *s, carom_arena *mem) {
    carom_arena count = {0};
    carom_allocate_local(&count, s);
    *mem = (carom_arena){.base = aligned_alloc(64, (count.used + 127) / 64 * 64), .size = count.used + 64};
    assert_non_null(mem->base);
    memset(mem->base, 0, mem->size);
    carom_local L = carom_allocate_local(mem, s);
    L.nb = s->ne + s->nc, L.at[0] = 0;
    for (int id = 0; id < L.nb; ++id) L.id[id] = id, L.at[id + 1] = L.at[id] + carom_system_directions(s, id);
    assert_true(L.at[L.nb] <= ROWS);
    return L;
}

static void look(carom_sim *sim, carom_local *L, point *x) {
    const carom_system *s = sim->sys;
    void *work = carom_sim_work(sim);
    memset(x->g, 0, sizeof x->g);
    assert_int_equal(s->gaps(s->model, work, x->t, x->q, x->g), CAROM_OK);
    assert_int_equal(s->directions(s->model, work, x->t, x->q, L), CAROM_OK);
    for (int k = 0; k < L->at[L->nb]; ++k) x->u[k] = carom_column_dot(&L->W, k, x->v) + L->w[k];
}

// The bodies of x after the time h with the velocity v.
static point later(const carom_sim *sim, const point *x, double h, const double *v) {
    const carom_system *s = sim->sys;
    point y = *x;
    y.t = x->t + h;
    if (s->move) s->move(s->model, y.q, x->q, h, v);
    else for (int i = 0; i < s->nq; ++i) y.q[i] = x->q[i] + h * v[i];
    return y;
}

// Rows of contacts that are near, and whose friction is known here; a corner that changes its feature within the
// differences has no derivative.
static int compare(const char *text, double speed) {
    static point x, y[2], z[2];
    carom_model *m = good(text);
    carom_sim *sim = model_sim(m, "moreau-midpoint", NULL, 0.04, 1);
    const carom_system *s = sim->sys;
    carom_error err = {0};
    assert_true(s->nv <= SPEEDS && s->nq <= SPEEDS);
    if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s", err.text); // the list is there now
    s = sim->sys;
    carom_arena mem;
    carom_local L = all_of(s, &mem);
    const carom_now now = carom_sim_now(sim);
    x.t = now.t;
    memcpy(x.q, now.q, (size_t)s->nq * sizeof *x.q);
    for (int i = 0; i < s->nv; ++i) x.v[i] = speed * sin(1 + 3.7 * i);
    look(sim, &L, &x);
    static double kappa[ROWS];
    memset(kappa, 0, sizeof kappa);
    assert_int_equal(s->curvature(s->model, carom_sim_work(sim), x.t, x.q, x.v, &L, kappa), CAROM_OK);
    const double h = 1e-5;
    for (int k = 0; k < 2; ++k) y[k] = later(sim, &x, k ? h : -h, x.v), look(sim, &L, &y[k]);
    for (int k = 0; k < 2; ++k) z[k] = later(sim, &x, k ? h / 2 : -h / 2, x.v), look(sim, &L, &z[k]);
    int seen = 0;
    for (int b = 0; b < L.nb; ++b) {
        if (!(fabs(x.g[b]) < 0.5)) continue;
        const double rate = (z[1].g[b] - z[0].g[b]) / h, coarse = (y[1].g[b] - y[0].g[b]) / (2 * h);
        if (fabs(rate - coarse) > 1e-6 * (1 + fabs(rate))) continue; // a kink
        ++seen;
        if (!(fabs(x.u[L.at[b]] - rate) <= 1e-7 * (1 + fabs(rate))))
            fail_msg("contact %d: gap' %.12g, u %.12g\n%s", b, rate, x.u[L.at[b]], text);
        for (int k = L.at[b]; k < L.at[b + 1]; ++k) {
            const double a = (z[1].u[k] - z[0].u[k]) / h, a_coarse = (y[1].u[k] - y[0].u[k]) / (2 * h);
            if (fabs(a - a_coarse) > 1e-5 * (1 + fabs(a))) continue;
            if (!(fabs(kappa[k] - a) <= 1e-6 * (1 + fabs(a))))
                fail_msg("contact %d, direction %d: u' %.12g, kappa %.12g\n%s", b, k - L.at[b], a, kappa[k], text);
        }
    }
    free(mem.base);
    carom_sim_destroy(sim);
    carom_model_destroy(m);
    return seen;
}

#define BALLS "  far: {repeat: 40, body: {mass: 1, inertia: [1, 1, 1], at: [3*i, 50, 50], shape: {sphere: 0.1}}}\n"
#define DISCS "  far: {repeat: 40, body: {mass: 1, inertia: 1, at: [3*i, 50], shape: {circle: 0.1}}}\n"

static void in_space(void **state) {
    (void)state;
    static const char *const texts[] = {
        "carom: 1\nbodies:\n"
        "  a: {mass: 1, inertia: [1, 2, 3], at: [0, 0, 0.34], velocity: [0, 0, 6], axis: [1, 2, 3], angle: 0.4, shape: "
        "{sphere: 0.25, surface velocity: [0.3, \"0.2 + 0.5*t\", -0.1]}}\n"
        "  b: {mass: 1, inertia: [1, 2, 3], at: [0.52, 0.1, 0.4], velocity: [0, 0, 6], axis: [1, -1, 0], angle: 0.7, "
        "shape: {sphere: 0.25, surface velocity: [-0.4, 0.1, \"sin(t)\"]}}\n"
        "  c: {mass: 1, inertia: [1, 2, 3], at: [0.2, 0.55, 0.27], velocity: [0, 0, 6], axis: [0, 1, 1], angle: 0.2, "
        "shape: {capsule: [0.1, 0.4], surface velocity: [0, 0.6, 0.2]}}\n" BALLS
        "shapes: {floor: {plane: [0.1, 0.2, 1], surface velocity: [0.7, \"0.3*t\", 0]}}\n"
        "contacts: {all: {among: [a, b, c, far], friction: 0.3}, ground: {between: [[a, b, c, far], floor], friction: "
        "0.2}}\n",
        "carom: 1\nbodies:\n"
        "  a: {mass: 1, inertia: [1, 2, 3], at: [0, 0, 0.34], velocity: [0, 0, 6], axis: [1, 2, 3], angle: 0.4, shape: "
        "{box: [0.4, 0.5, 0.45]}}\n"
        "  b: {mass: 1, inertia: [1, 2, 3], at: [0.6, 0.1, 0.4], velocity: [0, 0, 6], axis: [1, -1, 0], angle: 0.7, "
        "shape: {cylinder: [0.2, 0.3], axis: [1, 1, 1]}}\n"
        "  c: {mass: 1, inertia: [1, 2, 3], at: [0.2, 0.6, 0.4], velocity: [0, 0, 6], shape: {capsule: [0.1, "
        "0.4]}}\n" BALLS "shapes: {floor: {plane: [0.1, 0.2, 1]}}\n"
        "contacts: {all: {among: [b, c, far], friction: 0.3}, ground: {between: [[a, b, c, far], floor], friction: "
        "0.2}}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        if (compare(texts[i], 1) < 4) fail_msg("too few contacts are near:\n%s", texts[i]);
}

static void in_the_plane(void **state) {
    (void)state;
    static const char *const texts[] = {
        "carom: 1\nbodies:\n"
        "  a: {mass: 1, inertia: 2, at: [0, 0.34], velocity: [0, 6], angle: 0.4, shape: {circle: 0.25, surface "
        "velocity: [0.3, \"0.2 + 0.5*t\"]}}\n"
        "  b: {mass: 1, inertia: 2, at: [0.6, 0.4], velocity: [0, 6], angle: 0.7, shape: {polygon: [[-0.2, -0.2], "
        "[0.25, -0.15], [0.1, 0.3]], surface velocity: [-0.4, 0.1]}}\n"
        "  c: {mass: 1, inertia: 2, at: [-0.62, 0.25], velocity: [0, 6], angle: 0.2, shape: {capsule: [0.1, 0.3], "
        "surface velocity: [\"sin(t)\", 0.6]}}\n" DISCS
        "shapes: {floor: {plane: [0.1, 1], surface velocity: [0.7, 0]}}\n"
        "contacts: {all: {among: [a, b, c, far], friction: 0.3}, ground: {between: [[a, b, c, far], floor], friction: "
        "0.2}}\n",
        "carom: 1\nbodies:\n"
        "  a: {mass: 1, inertia: 2, at: [0, 0.34], velocity: [0, 6], angle: 0.4, shape: {box: [0.5, 0.3]}}\n"
        "  b: {mass: 1, inertia: 2, at: [0.6, 0.4], velocity: [0, 6], angle: 0.7, shape: {box: [0.3, 0.4]}}\n"
        "  c: {mass: 1, inertia: 2, at: [-0.62, 0.25], velocity: [0, 6], angle: 0.2, shape: {capsule: [0.1, "
        "0.3]}}\n" DISCS "shapes: {floor: {plane: [0.1, 1]}, hole: {hole: 200}}\n"
        "contacts: {all: {among: [a, b, c, far], friction: 0.3}, ground: {between: [[a, b, c, far], floor], friction: "
        "0.2}}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
        if (compare(texts[i], 1) < 4) fail_msg("too few contacts are near:\n%s", texts[i]);
}

// Piles of compliant circles: Newton's method has derivatives between two bodies, up to where its iterations without
// them cost less (system/system.h), and needs a few iterations a step: without them 32 circles take 790 in 100 steps.
static void piles_that_yield(void **state) {
    (void)state;
    static const int sizes[] = {16, 32};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        char text[1000];
        carom_error err = {0};
        carom_ledger ledger;
        snprintf(text, sizeof text,
                 "carom: 1\ngravity: [0, -10]\nbodies:\n"
                 "  o: {repeat: %d, index: i, body: {mass: 1, inertia: 0.005, at: [0.21*(i - 6*floor(i/6)), "
                 "0.1005 + 0.2*floor(i/6)], shape: {circle: 0.1}}}\n"
                 "shapes: {floor: {plane: [0, 1]}}\n"
                 "contacts: {c: {among: [o, floor], stiffness: 1e5, damping: 1, friction: 0.3, stiction speed: 0.1}}\n",
                 sizes[i]);
        carom_model *m = good(text);
        carom_sim *sim = model_sim(m, "newmark", NULL, 1e-3, 0.1);
        if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s", err.text);
        assert_int_equal(carom_sim_ledger(sim, &ledger, &err), CAROM_OK);
        print_message("    %d circles: %ld iterations in %ld steps\n", sizes[i], ledger.counts.newton, ledger.steps);
        assert_in_range(ledger.counts.newton, 1, 4 * ledger.steps);
        carom_sim_destroy(sim);
        carom_model_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_space), cmocka_unit_test(in_the_plane),
                                       cmocka_unit_test(piles_that_yield)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

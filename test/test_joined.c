// test_joined.c: many bodies with joints: storage of their matrices, derivatives of their directions, zeros of their
// contact problems.
#include "model_text.h"
#include "sim/sim.h"

enum { ROOM = 1 << 16 };

typedef struct text { char at[ROOM]; size_t used; } text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *form, ...) {
    va_list list;
    va_start(list, form);
    t->used += (size_t)vsnprintf(t->at + t->used, ROOM - t->used, form, list);
    va_end(list);
    assert_true(t->used < ROOM);
}

static carom_sim *advance(const carom_model *m, const char *scheme, const char *const *options, double h, long steps) {
    carom_error err = {0};
    carom_sim *sim = model_sim(m, scheme, options, h, 2 * h * (double)steps);
    for (long k = 0; k < steps; ++k)
        if (carom_sim_step(sim, &err) != CAROM_OK) fail_msg("%s: %s", scheme, err.text);
    return sim;
}

// -- storage --------------------------------------------------------------------------------------------------------

// Bodies in space in a row, and planar ones behind; one has a product of inertia, so that the mass matrix has a band;
// joints between bodies that are no neighbours make the
// tangent sparse.  `more` bodies that nothing touches make the matrices larger, and leave the others as they are.
static void write_joined(text *t, int kind, int more) {
    static const char *const joints[] = {"revolute", "prismatic", "spherical", "universal"};
    t->used = 0;
    put(t, "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {floor: {plane: [0, 0, 1], at: [0, 0, -0.3]}}\nbodies:\n");
    for (int i = 0; i < 9; ++i)
        put(t, "  b%d: {mass: %g, inertia: [1, 1.2, 0.9%s], at: [%d, 0, 0]%s%s}\n", i, 1 + 0.1 * i,
            i == 8 - kind % 3 ? ", 0, 0.1, 0" : "", 3 * i, i % 7 == 0 ? ", spin: [0.1, 0.3, 0.2]" : "",
            kind >= 4 && i == 1 ? ", shape: {sphere: 0.28}" : "");
    for (int i = 0; i < more; ++i) put(t, "  c%d: {mass: 1, inertia: [1, 1, 1], at: [%d, 9, 0]}\n", i, 3 * i);
    put(t, "joints:\n  j: {type: %s, between: [b0, b3], at: [0.5, 0, 0]%s}\n", joints[kind % 4],
        kind % 4 == 2   ? ""
        : kind % 4 == 3 ? ", axes: [[0, 1, 0], [0, 0, 1]]"
                        : ", axis: [0, 1, 0]");
    put(t, "  k: {type: revolute, between: [b7, b2], at: [6, 0, 0], axis: [0, 0, 1]%s}\n",
        kind % 2 ? ", motion: 0.1*t^2" : "");
    if (kind >= 4) put(t, "contacts: {c: {between: [b1, floor], friction: 0.3, restitution: 0.2}}\n");
}

// Dense, banded or sparse, it is the same mechanism.
static void storage_changes_no_motion(void **state) {
    (void)state;
    static text t;
    static const char *const schemes[] = {"moreau-jean", "moreau-midpoint", "ggl-midpoint", "generalized-alpha"};
    for (int kind = 0; kind < 8; ++kind) {
        write_joined(&t, kind, 0);
        carom_model *a = good(t.at);
        write_joined(&t, kind, 5);
        carom_model *b = good(t.at);
        assert_true(carom_model_system(b)->nv > 64); // large enough for sparse storage
        const char *scheme = schemes[kind / 2];
        carom_sim *x = advance(a, scheme, NULL, 2e-3, 40), *y = advance(b, scheme, NULL, 2e-3, 40);
        const double *v = carom_sim_now(x).v, *u = carom_sim_now(y).v;
        double moved = 0;
        for (int i = 0; i < 54; ++i) {
            if (!(fabs(u[i] - v[i]) < 1e-8))
                fail_msg("kind %d, %s: velocity %d is %.12g and %.12g", kind, scheme, i, v[i], u[i]);
            moved = fmax(moved, fabs(v[i] - carom_model_v0(a)[i]));
        }
        assert_true(moved > 0.5);
        carom_sim_destroy(x), carom_sim_destroy(y);
        carom_model_destroy(a), carom_model_destroy(b);
    }
}

// -- derivatives ----------------------------------------------------------------------------------------------------

// A chain let go sideways; with a wall at its end.
static carom_model *chain_at(int n, bool wall, const char *plane) {
    static text t;
    t.used = 0;
    put(&t, "carom: 1\ngravity: [0, 0, -9.81]\nshapes: {wall: {plane: %s}}\nbodies:\n", plane);
    for (int i = 1; i <= n; ++i)
        put(&t, "  b%d: {mass: 0.1, inertia: [5e-6, 8.3e-5, 8.3e-5], at: [%g, 0, 0]%s}\n", i, 0.1 * i - 0.05,
            wall && i == n ? ", shape: {sphere: 0.02}" : "");
    put(&t, "joints:\n");
    for (int i = 1; i <= n; ++i) {
        char before[12] = "ground";
        if (i > 1) snprintf(before, sizeof before, "b%d", i - 1);
        put(&t, "  j%d: {type: revolute, between: [%s, b%d], at: [%g, 0, 0], axis: [0, 1, %d]}\n", i, before, i,
            0.1 * (i - 1), (i + 1) % 2);
    }
    if (wall) put(&t, "contacts: {c: {between: [b%d, wall], friction: 0.2}}\n", n);
    return good(t.at);
}

static carom_model *chain_of(int n, bool wall) {
    char plane[60];
    snprintf(plane, sizeof plane, "[-1, 0, 0], at: [%g, 0, 0]", 0.1 * n + 0.005);
    return chain_at(n, wall, plane);
}

// V = W + h theta D has entries where W has none.  Without them Newton's method takes four iterations in a step of
// this chain.
static void newtons_method_has_all_derivatives(void **state) {
    (void)state;
    carom_model *m = chain_of(12, false);
    carom_sim *sim = advance(m, "moreau-jean", NULL, 1e-3, 100);
    carom_ledger l;
    assert_int_equal(carom_sim_ledger(sim, &l, NULL), CAROM_OK);
    if (!(l.counts.newton > 0 && l.counts.newton <= 3 * 100))
        fail_msg("%ld iterations in 100 steps", (long)l.counts.newton);
    carom_sim_destroy(sim), carom_model_destroy(m);
}

// -- the matrix of the problem --------------------------------------------------------------------------------------

// A contact that comes and goes between steps changes the rows of G; whatever it leaves there, the next problem must
// not see.  With dense columns nothing is left.
static void zeros_of_the_matrix_are_zero(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-midpoint", "half-explicit", "mixed", "event-driven", "dg-plus"};
    carom_model *m = chain_of(6, true);
    carom_system dense = *carom_model_system(m);
    assert_true(dense.column_stride < dense.nv);
    dense.column_stride = dense.nv;
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; ++k) {
        carom_error err = {0};
        carom_sim_def def = sim_def(m, schemes[k], NULL, 1e-3, 1);
        carom_sim *x = carom_sim_create(&def, &err);
        def.system = &dense;
        carom_sim *y = carom_sim_create(&def, &err);
        if (!x || !y) fail_msg("%s: %s", schemes[k], err.text);
        for (int i = 0; i < 60; ++i)
            if (carom_sim_step(x, &err) != CAROM_OK || carom_sim_step(y, &err) != CAROM_OK)
                fail_msg("%s: %s", schemes[k], err.text);
        const double *q = carom_sim_now(x).q, *p = carom_sim_now(y).q;
        for (int i = 0; i < dense.nq; ++i)
            if (!(fabs(q[i] - p[i]) < 1e-9)) fail_msg("%s: position %d is %.15g and %.15g", schemes[k], i, q[i], p[i]);
        carom_sim_destroy(x), carom_sim_destroy(y);
    }
    carom_model_destroy(m);
}

// -- joints in the linear system --------------------------------------------------------------------------------------

// A system that does not say which velocities are those of a body has its joints as rows of contact problems.  The end
// of the chain meets the floor, with friction.
static void joints_in_the_linear_system_change_no_motion(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-jean",  "moreau-dissipative", "newmark",   "generalized-alpha",
                                          "alpha-index3", "ggl-midpoint",       "ggl-alpha", "dg-plus"};
    for (size_t k = 0; k < 2 * sizeof schemes / sizeof *schemes; ++k) {
        const char *scheme = schemes[k / 2];
        const bool wall = k % 2;
        if (wall && strcmp(scheme, "alpha-index3") == 0) continue; // it has no friction
        carom_model *m = chain_at(8, wall, "[0, 0, 1], at: [0, 0, -0.023]");
        carom_system rows = *carom_model_system(m);
        rows.part = NULL, rows.nparts = 0;
        carom_error err = {0};
        carom_sim_def def = sim_def(m, scheme, NULL, 1e-3, 1);
        carom_sim *x = carom_sim_create(&def, &err);
        def.system = &rows;
        carom_sim *y = carom_sim_create(&def, &err);
        if (!x || !y) fail_msg("%s: %s", scheme, err.text);
        for (int i = 0; i < 40; ++i)
            if (carom_sim_step(x, &err) != CAROM_OK || carom_sim_step(y, &err) != CAROM_OK)
                fail_msg("%s: %s", scheme, err.text);
        const double *v = carom_sim_now(x).v, *u = carom_sim_now(y).v;
        carom_ledger ledger;
        assert_int_equal(carom_sim_ledger(x, &ledger, NULL), CAROM_OK);
        assert_true(!wall || ledger.impacts > 0);
        for (int i = 0; i < rows.nv; ++i)
            if (!(fabs(v[i] - u[i]) < 1e-8))
                fail_msg("%s%s: velocity %d is %.15g and %.15g", scheme, wall ? " at a wall" : "", i, v[i], u[i]);
        carom_sim_destroy(x), carom_sim_destroy(y);
        carom_model_destroy(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_changes_no_motion), cmocka_unit_test(newtons_method_has_all_derivatives),
        cmocka_unit_test(zeros_of_the_matrix_are_zero), cmocka_unit_test(joints_in_the_linear_system_change_no_motion)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

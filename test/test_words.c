// test_words.c: the vocabulary of a step, word by word, on systems small enough to compute by hand.
#include "schemes.h"
#include "linalg/matrix.h"
#include "scheme/newton.h"
#include "sim/sim.h"
#include <float.h>

static carom_step *step_of(carom_sim *sim) { return &sim->step; }

static void closing_takes_what_touches(void **state) {
    (void)state;
    known k;
    known_pendulum(&k, 0.1);
    const double g[3] = {5, 5, 0}, open[3] = {-1, -1, 1e-300};
    for (int strict = 0; strict < 2; ++strict) {
        carom_sim *sim = sim_of(&k, "moreau-jean",
                                (const char *const[]){strict ? "closed=strict" : "closed=nonstrict", NULL}, 1e-3, 1);
        carom_local *L = &sim->all;
        carom_close(step_of(sim), L, g);
        assert_int_equal(L->nb, strict ? 2 : 3); // bilateral ones always; g = 0 when not strict
        assert_int_equal(L->id[1], 1);
        assert_int_equal(L->at[L->nb], L->nb);
        carom_close(step_of(sim), L, open);
        assert_int_equal(L->nb, 2);
        carom_sim_destroy(sim);
    }
}

static void picking_follows_the_ids(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0.01, true);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 1e-3, 1);
    carom_step *s = step_of(sim);
    carom_local *all = &sim->all, *some = &s->inside->difference.L; // two frames
    carom_close_kinds(s, all, CAROM_JOINTS | CAROM_CONTACTS);
    assert_int_equal(all->at[4], 8);
    carom_close(s, some, (double[]){1, -1, 1, -1});
    assert_int_equal(some->nb, 2);
    assert_int_equal(some->at[2], 4);
    double y[4] = {0};
    carom_local_pick(y, some, (double[]){10, 11, 20, 21, 30, 31, 40, 41}, all);
    assert_true(y[0] == 20 && y[1] == 21 && y[2] == 40 && y[3] == 41);
    carom_sim_destroy(sim);
}

static void sets_by_kind(void **state) {
    (void)state;
    known k;
    known_pendulum(&k, 0.1); // two joints, one contact
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 1e-3, 1);
    carom_step *s = step_of(sim);
    carom_local *L = &sim->all;
    carom_close_kinds(s, L, CAROM_CONTACTS);
    assert_true(L->nb == 1 && L->id[0] == 2 && L->at[0] == 0);
    carom_close_kinds(s, L, CAROM_JOINTS);
    assert_true(L->nb == 2 && L->id[0] == 0 && L->id[1] == 1);
    carom_close_these(s, L, (bool[]){false});
    assert_int_equal(L->nb, 2);
    carom_close_these(s, L, (bool[]){true});
    assert_true(L->nb == 3 && L->id[2] == 2);
    const carom_local joints = carom_joints_of(s, L);
    assert_true(joints.nb == 2 && L->nb == 3 && joints.id == L->id);
    carom_close_kinds(s, L, CAROM_CONTACTS);
    assert_int_equal(carom_joints_of(s, L).nb, 0);
    carom_sim_destroy(sim);
}

// -- the iteration -----------------------------------------------------------------------------------------

typedef struct root {
    double x, left, grow; // of x^2 = 2; the residual; x is multiplied by it in each correction
    int evaluated;
} root;

static carom_status root_evaluate(void *work, carom_step *s, int k, bool *done) {
    (void)s;
    root *r = work;
    assert_int_equal(k, r->evaluated++);
    r->left = r->x * r->x - 2;
    *done = fabs(r->left) <= 1e-15 * 4;
    return CAROM_OK;
}

static carom_status root_correct(void *work, carom_step *s, int k) {
    (void)s, (void)k;
    root *r = work;
    r->x = r->grow > 0 ? r->grow * r->x : r->x - r->left / (2 * r->x);
    return CAROM_OK;
}

static void root_detail(void *work, carom_step *s, char *text, size_t size) {
    (void)s;
    snprintf(text, size, " (off by %g)", fabs(((root *)work)->left));
}

// Heron's iteration from 1: 3/2, 17/12, 577/408, 665857/470832, then rounding.
static void iteration_counts_and_says_how_it_ended(void **state) {
    (void)state;
    known k;
    known_ball(&k, 1, 0, 0.5, 0);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 1e-3, 1);
    carom_step *s = step_of(sim);
    carom_error err = {0};
    s->err = &err;
    root r = {.x = 1};
    carom_iteration I = {.method = "Heron's method",
                         .most = 9,
                         .x = &r.x,
                         .n = 1,
                         .evaluate = root_evaluate,
                         .correct = root_correct,
                         .detail = root_detail};
    int count = 10;
    assert_int_equal(carom_iterate(&I, &r, s, &count), CAROM_OK);
    check_near(r.x, sqrt(2), 2 * DBL_EPSILON);
    assert_int_equal(count, 15);
    r = (root){.x = sqrt(2)}; // the first guess is never the answer
    count = 0;
    assert_int_equal(carom_iterate(&I, &r, s, &count), CAROM_OK);
    assert_int_equal(count, 1);
    r = (root){.x = 1}, I.most = 2; // 17/12: 289/144 - 2 = 1/144
    assert_int_equal(carom_iterate(&I, &r, s, &count), CAROM_RETRY);
    assert_string_equal(err.text, "t = 0: Heron's method did not converge in 2 iterations (off by 0.00694444)");
    assert_true(r.evaluated == 3 && count == 1);
    r = (root){.x = 1, .grow = 1e200}, I.most = 9;
    assert_int_equal(carom_iterate(&I, &r, s, &count), CAROM_RETRY);
    assert_string_equal(err.text, "t = 0: Heron's method diverged");
    assert_int_equal(r.evaluated, 2);
    carom_sim_destroy(sim);
}

// To tolerance of the terms, or to what rounding of q = 1e3 leaves in forces of K = 2e5: 8 eps 2e8.
static void motion_is_met_to_tolerance_or_rounding(void **state) {
    (void)state;
    known k;
    known_ball(&k, 1, 0, 0.5, 0);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 1e-3, 1);
    carom_step *s = step_of(sim);
    double y[1], K[1] = {2e5}, one[1] = {1};
    const double q[1] = {1e3}, floor = 8 * DBL_EPSILON * 2e8;
    const carom_matrix S = {.shape = {CAROM_DENSE, 1, 0, NULL}, .a = K},
                       M = {.shape = {CAROM_DENSE, 1, 0, NULL}, .a = one};
    s->newton_tol = 1e-10;
    assert_true(carom_motion_met(s, 3e-10, 3, 0, S, M, q, y));
    assert_false(carom_motion_met(s, 4e-10, 3, 0, S, M, q, y));
    assert_true(carom_motion_met(s, 0.5 * floor, 0, 0.5, S, M, q, y));
    assert_false(carom_motion_met(s, 0.51 * floor, 0, 0.5, S, M, q, y));
    assert_false(carom_motion_met(s, NAN, 3, 0.5, S, M, q, y));
    carom_sim_destroy(sim);
}

// G = W'M^-1 W of two balls that touch: 1/m1 + 1/m2.  Exactly symmetric, and apply is M^-1 W p.
static void contact_problem_is_the_delassus_matrix(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0.01, true);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 1e-3, 1);
    carom_step *s = step_of(sim);
    const double q[3] = {0.3, -0.2, 0.01}, v[3] = {2, -1, 0.5};
    carom_local *L = &sim->all;
    carom_close_kinds(s, L, CAROM_JOINTS | CAROM_CONTACTS);
    assert_int_equal(carom_directions(s, L, 0, q), CAROM_OK);
    double space[16];
    carom_factor F = {.shape = k.sys.mass_shape, .symmetric = true, .a = space};
    assert_int_equal(carom_mass_factor(s, &F, 0, q), CAROM_OK);
    carom_problem_form(s, L, L, &F, 0.5);
    const carom_problem *pb = &s->problem;
    assert_int_equal(pb->n, 8);
    assert_int_equal(pb->nb, 4);
    for (int i = 0; i < 8; ++i) {
        double x[3];
        carom_column_expand(x, &L->W, i);
        carom_factor_solve(&F, x);
        for (int j = 0; j < 8; ++j) {
            const double G = 0.5 * carom_column_dot(&L->W, j, x);
            check_near(pb->G[j + 8 * i], G, 1e-12 * 1000); // entries up to 1e3 1/kg
            assert_true(pb->G[j + 8 * i] == pb->G[i + 8 * j]);
        }
    }
    for (int b = 0; b < 4; ++b) {
        assert_int_equal(pb->block[b].law, CAROM_PLANAR);
        assert_int_equal(pb->block[b].at, 2 * b);
        assert_true(pb->block[b].mu == 0.01);
    }
    // u changes by G p/a when v changes by M^-1 W p
    double u_0[8], u_1[8], v_1[3];
    for (int i = 0; i < 8; ++i) s->p[i] = 1e-3 * (i - 3);
    carom_copy(v_1, v, 3);
    carom_problem_apply(s, v_1, 0.5);
    carom_local_velocity(u_0, L, v);
    carom_local_velocity(u_1, L, v_1);
    for (int i = 0; i < 8; ++i) {
        double sum = u_0[i];
        for (int j = 0; j < 8; ++j) sum += pb->G[i + 8 * j] * s->p[j];
        check_near(u_1[i], sum, 1e-12 * 10);
    }
    // restitution: normal rows e u, tangential rows their own
    carom_problem_restitution(s, L, u_1, u_0);
    for (int i = 0; i < 8; ++i) check_near(s->c[i], u_1[i] + (i % 2 == 0 ? 0.4 : 0) * u_0[i], 1e-15 * 10);
    carom_sim_destroy(sim);
}

static void blending_adds_columns(void **state) {
    (void)state;
    known k;
    known_slider_crank(&k, 1e-3, 0.4, 0, true);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 1e-3, 1);
    carom_step *s = step_of(sim);
    const double q[3] = {0.3, -0.2, 0.01}, v[3] = {2, -1, 0.5};
    carom_local *L = &sim->all, *V = &s->inside->difference.L;
    carom_close(s, L, (double[]){-1, 1, -1, 1});
    carom_local_same(V, L);
    assert_int_equal(V->nb, 2);
    assert_int_equal(carom_directions(s, L, 0, q), CAROM_OK);
    double d[8 * 3];
    carom_columns D = {.rows = 3, .n = 8, .stride = 3, .a = d};
    assert_int_equal(carom_rate_gradient(s, &D, L, 0, q, v), CAROM_OK);
    carom_local_blend(V, L, 0.25, &D);
    carom_local_blend_restitution(s, V, 0.5, &D);
    for (int c = 0; c < 2; ++c)
        for (int i = 0; i < 3; ++i)
            check_near(V->W.a[3 * c + i], L->W.a[3 * c + i] + (0.25 + 0.4 * 0.5) * d[3 * c + i], 1e-15);
    carom_sim_destroy(sim);
}

// Work of impulses: 1/2 (u_before + u_after) p is taken, and a wall that moves with velocity -w gives -w p.
static void books_add_up(void **state) {
    (void)state;
    known k;
    known_slope(&k, 1, 0.1, 0.5);
    carom_sim *sim = sim_of(&k, "moreau-jean", NULL, 1e-3, 1);
    carom_step *s = step_of(sim);
    carom_local *L = &sim->all;
    carom_close_kinds(s, L, CAROM_JOINTS | CAROM_CONTACTS);
    carom_zero(s->record.impulse, 2);
    L->w[0] = -0.25;
    L->w[1] = 0;
    carom_account_impulses(s, L, (double[]){2, -0.5}, (double[]){-3, 1}, (double[]){1, 0.5});
    check_near(s->record.account.impact, -0.5 * (-3 + 1) * 2, 1e-15);
    check_near(s->record.account.friction, 0.5 * 1.5 * 0.5, 1e-15);
    check_near(s->record.account.external, 0.25 * 2, 1e-15);
    carom_account_impulses(s, L, (double[]){1, 0}, (double[]){1, 0.5}, (double[]){2, 0.5}); // a second, smaller step
    assert_true(s->record.impulse[0] == 3 && s->record.impulse[1] == -0.5);
    assert_true(s->record.u_before[0] == -3 && s->record.u_after[0] == 2);
    s->record.account = (carom_account){0};
    carom_account_forces(s, L, (double[]){4, -1}, (double[]){0, 0.5}, 0.1, true);
    check_near(s->record.account.friction, 0.05, 1e-15);
    check_near(s->record.account.external, 0.1, 1e-15);
    assert_true(s->record.force[0] == 4 && s->record.force[1] == -1);
    carom_sim_destroy(sim);
}

// The storage of mass, tangents and columns changes no answer beyond rounding.
static void storage_does_not_matter(void **state) {
    (void)state;
    const carom_scheme *s;
    for (EACH_SCHEME(s))
        for (int system = 0; system < 3; ++system) {
            double q[3][KNOWN_MOST];
            long impacts[3];
            for (int storage = 0; storage < 3; ++storage) {
                known k;
                if (system == 0) known_two_bodies(&k, 3, 0.25, 0.5);
                if (system == 1) known_two_balls(&k, 1e3);
                if (system == 2) known_rocking_block(&k);
                const int n = k.sys.nv;
                if (storage >= 1)
                    k.sys.mass_shape = (carom_shape){storage == 1 ? CAROM_DIAGONAL : CAROM_BANDED, n, 1, NULL};
                if (storage == 1 && system != 1) k.sys.tangent_shape = (carom_shape){CAROM_BANDED, n, 2, NULL};
                if (storage == 2) k.sys.tangent_shape = (carom_shape){CAROM_BANDED, n, 1, NULL};
                if (storage == 1 && system == 2) k.sys.column_stride = 2; // y and angle
                if (storage == 1 && system == 1) k.sys.column_stride = 1; // the lower ball alone
                carom_sim *sim = sim_of(&k, s->name, NULL, 1.3e-3, 1.3e-3 * 360);
                while (!carom_sim_done(sim)) sim_step(sim);
                carom_copy(q[storage], carom_sim_now(sim).q, n);
                impacts[storage] = sim_ledger(sim).impacts;
                carom_sim_destroy(sim);
                for (int i = 0; i < n; ++i) scheme_near(s->name, q[storage][i], q[0][i], 1e-10);
                scheme_true(s->name, s->limitations & CAROM_NO_IMPACTS || impacts[storage] > 0);
                scheme_true(s->name, impacts[storage] == impacts[0]);
            }
        }
}

static const char *wall_name(const void *user, long long id) {
    (void)user;
    return id == 0 ? "floor" : "?";
}

// A contact problem that cannot be solved names time and contact.
static carom_status nan_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t, (void)q;
    if (L->nb > 0) L->W.a[0] = t > 0.05 ? NAN : 1;
    return CAROM_OK;
}

static void unsolved_problem_names_time_and_contact(void **state) {
    (void)state;
    known k;
    known_ball(&k, 1, -2, 0.5, 0);
    k.sys.directions = nan_directions;
    carom_sim_def d = known_run(&k, "moreau-midpoint", 0.01, 1);
    d.name = wall_name;
    carom_error err = {0};
    carom_sim *sim = carom_sim_create(&d, &err);
    assert_non_null(sim);
    assert_int_equal(carom_sim_run(sim, NULL, NULL, &err), CAROM_NOT_CONVERGED);
    if (!strstr(err.text, "t = 0.05") || !strstr(err.text, "'floor'")) fail_msg("%s", err.text);
    carom_sim_destroy(sim);
}

// -- sparse columns ------------------------------------------------------------------------------------

enum { UNKNOWNS = 24, ENTRIES = 4 };

static double chance(unsigned *seed) {
    *seed = 1664525u * *seed + 1013904223u;
    return (double)(*seed >> 8) / (double)(1u << 24) - 0.5;
}

// Column id touches ENTRIES - 1 neighbours and, with model != NULL, the first unknown.  q[0] = 0: all entries other
// numbers.
static carom_status web(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)work, (void)t;
    for (int b = 0; b < L->nb; ++b) {
        unsigned seed = 77u * (unsigned)L->id[b] + (q[0] == 0 ? 5u : 0);
        carom_columns *W = &L->W;
        W->count[b] = model ? ENTRIES : ENTRIES - 1;
        for (int e = 0; e < W->count[b]; ++e) {
            W->row[b * W->stride + e] = e == ENTRIES - 1 ? 0 : 1 + (L->id[b] / 3 + e) % (UNKNOWNS - 1);
            W->a[b * W->stride + e] = chance(&seed);
        }
    }
    return CAROM_OK;
}

static carom_status web_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)work, (void)t, (void)q;
    for (int i = 0; i < UNKNOWNS; ++i) M.a[i] = 1 + i;
    return CAROM_OK;
}

static carom_status web_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)t, (void)q, (void)v, (void)f;
    return CAROM_OK;
}

static carom_status web_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t, (void)q, (void)g;
    return CAROM_OK;
}

static void check_web(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a) {
    const int n = L->nb;
    carom_problem_form(s, L, Lf, F, a);
    const carom_problem *pb = &s->problem;
    assert_non_null(pb->first);
    assert_int_equal(pb->symmetric, L == Lf);
    for (int k = 0; k < n; ++k) {
        double x[UNKNOWNS];
        carom_column_expand(x, &Lf->W, k);
        carom_factor_solve(F, x);
        for (int i = 0; i < n; ++i) {
            const double G = a * carom_column_dot(&L->W, i, x), found = pb->G[i + k * n];
            check_near(found, G, 4 * ENTRIES * DBL_EPSILON * a);
            if (found != 0) assert_true(i < k ? i >= pb->first[k] : k >= pb->first[i]); // rows and columns start there
            if (L == Lf) assert_true(found == pb->G[k + i * n]);
        }
    }
    // The certificate skips what lies before `first` and finds the same.
    carom_problem blind = *pb;
    blind.first = NULL;
    unsigned seed = 3;
    for (int i = 0; i < n; ++i) s->p[i] = chance(&seed), s->c[i] = chance(&seed);
    double u[200];
    const double residual = carom_residual(&blind, NULL);
    carom_copy(u, s->u, n);
    assert_true(carom_residual(pb, NULL) == residual);
    for (int i = 0; i < n; ++i) assert_true(s->u[i] == u[i]);
}

// Few joints and many, on a hub and not; with two sets of columns; after the rows have changed; with contacts that
// open.
static void sparse_columns_make_the_same_matrix(void **state) {
    (void)state;
    static const int sizes[] = {7, 200};
    for (int hub = 0; hub < 2; ++hub)
        for (int c = 0; c < 2; ++c) {
            carom_system sys = carom_system_default(UNKNOWNS, UNKNOWNS, sizes[c], 0);
            sys.mass_shape.storage = CAROM_DIAGONAL;
            sys.column_stride = ENTRIES;
            sys.mass = web_mass, sys.force = web_force, sys.gaps = web_gaps, sys.directions = web;
            sys.model = hub ? &sys : NULL;
            carom_sim_def d = carom_sim_default();
            const double q[UNKNOWNS] = {0}, other[UNKNOWNS] = {1};
            d.system = &sys, d.scheme = "moreau-explicit", d.h = 1, d.t_end = 2, d.q0 = d.v0 = q;
            carom_error err = {0};
            carom_sim *sim = carom_sim_create(&d, &err);
            if (!sim) fail_msg("%s", err.text);
            carom_step *s = step_of(sim);
            carom_local *L = &sim->all, *V = &s->inside->difference.L;
            double inverse[UNKNOWNS];
            for (int i = 0; i < UNKNOWNS; ++i) inverse[i] = 1 / (1.0 + i);
            carom_factor F = {.shape = sys.mass_shape, .symmetric = true, .ready = true, .a = inverse};
            for (int round = 0; round < 3; ++round) {
                carom_close_kinds(s, L, CAROM_JOINTS | CAROM_CONTACTS);
                if (round == 1) L->nb -= 2;
                carom_local_same(V, L);
                assert_int_equal(carom_directions(s, L, 0, q), CAROM_OK);
                assert_int_equal(carom_directions(s, V, 0, other), CAROM_OK);
                check_web(s, L, L, &F, 0.5);
                check_web(s, V, L, &F, 2);
            }
            carom_sim_destroy(sim);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closing_takes_what_touches),
        cmocka_unit_test(picking_follows_the_ids),
        cmocka_unit_test(sets_by_kind),
        cmocka_unit_test(iteration_counts_and_says_how_it_ended),
        cmocka_unit_test(motion_is_met_to_tolerance_or_rounding),
        cmocka_unit_test(contact_problem_is_the_delassus_matrix),
        cmocka_unit_test(sparse_columns_make_the_same_matrix),
        cmocka_unit_test(blending_adds_columns),
        cmocka_unit_test(books_add_up),
        cmocka_unit_test(storage_does_not_matter),
        cmocka_unit_test(unsolved_problem_names_time_and_contact),
    };
    return cmocka_run_group_tests_name("words", tests, NULL, NULL);
}

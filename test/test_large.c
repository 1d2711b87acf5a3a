// test_large.c: the same chain in every storage moves in the same way with every scheme; large ones move at all.
#include "chain.h"
#include "schemes.h"
#include "quick.h"
#include <stdlib.h>

enum { ELEMENTS = 24, NODES = ELEMENTS + 1, STEPS = 240 };

// The bar of chain.h between two walls that look the same way: one for the first node, one for the middle.  The last
// node may be held, one node may be without mass, one element may be soft.
typedef struct walls {
    chain bar; // the model of the functions of chain.h
    carom_contact contact[2];
    int node[2];
    double gap[2], curve;
    int massless, soft; // node, element; -1: none
} walls;

static carom_status wall_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    const walls *w = model;
    CAROM_TRY(chain_mass(model, work, t, q, M));
    if (w->massless >= 0) *carom_matrix_entry(M, w->massless, w->massless) = 0;
    return CAROM_OK;
}

static carom_status wall_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    const walls *w = model;
    const int e = w->soft;
    CAROM_TRY(chain_force(model, work, t, q, v, f));
    if (e < 0) return CAROM_OK;
    const double pull = -0.5 * w->bar.stiffness * (q[e + 1] - q[e]);
    f[e] += pull;
    f[e + 1] -= pull;
    return CAROM_OK;
}

static carom_status wall_tangent(const void *model, void *work, double t, const double *q, const double *v,
                                 carom_matrix K, carom_matrix C) {
    const walls *w = model;
    CAROM_TRY(chain_tangent(model, work, t, q, v, K, C));
    if (w->soft >= 0) chain_pair(K, w->soft, -0.5 * w->bar.stiffness, 0.5 * w->bar.stiffness);
    return CAROM_OK;
}

static carom_status wall_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)work, (void)t;
    const walls *w = model;
    const int ne = w->bar.sys.ne, last = w->bar.elements;
    if (ne) g[0] = q[last] - w->bar.q0[last];
    for (int i = 0; i < 2; ++i) g[ne + i] = w->gap[i] + q[w->node[i]] + w->curve * q[w->node[i]] * q[w->node[i]];
    return CAROM_OK;
}

static carom_status wall_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)work, (void)t;
    const walls *w = model;
    for (int b = 0; b < L->nb; ++b) {
        const int wall = L->id[b] - w->bar.sys.ne, node = wall < 0 ? w->bar.elements : w->node[wall];
        const size_t start = (size_t)b * (size_t)L->W.stride;
        if (L->W.count) L->W.count[b] = 1, L->W.row[start] = node;
        L->W.a[start + (L->W.count ? 0 : (size_t)node)] = wall < 0 ? 1 : 1 + 2 * w->curve * q[node];
    }
    return CAROM_OK;
}

static void make_walls(walls *w, int elements, bool lumped, bool held) {
    *w = (walls){.massless = -1, .soft = -1};
    chain_make(&w->bar, elements, 400, 0.02, lumped);
    carom_system *sys = &w->bar.sys;
    w->bar.damping = 1e-4;
    w->contact[0] = w->contact[1] = (carom_contact){.restitution = 0.3};
    w->node[0] = 0, w->node[1] = elements / 2;
    w->gap[0] = 0.0231, w->gap[1] = 0.0417;
    sys->model = w;
    sys->ne = held;
    sys->nc = 2;
    sys->contacts = w->contact;
    sys->mass = wall_mass;
    sys->force = wall_force;
    sys->tangent = wall_tangent;
    sys->gaps = wall_gaps;
    sys->directions = wall_directions;
    for (int i = 0; i <= elements; ++i) {
        w->bar.v0[i] = held ? -1.3 * (elements - i) / elements : -1.3;
        w->bar.q0[i] = 0.002 * sin(0.7 * i);
    }
}

static carom_pattern *chain_pattern(int nodes) {
    int *row = malloc(2 * (size_t)nodes * sizeof *row), *col = malloc(2 * (size_t)nodes * sizeof *col);
    for (int e = 0; e + 1 < nodes; ++e) {
        row[2 * e] = col[2 * e + 1] = e;
        col[2 * e] = row[2 * e + 1] = e + 1;
    }
    carom_pattern *P = carom_pattern_create(nodes, 2 * (size_t)(nodes - 1), row, col, carom_direct_klu());
    free(row);
    free(col);
    assert_non_null(P);
    return P;
}

typedef struct run {
    int n;
    double q[CHAIN_MOST], v[CHAIN_MOST];
    carom_ledger ledger;
} run;

static run run_walls(const walls *w, const char *scheme, const char *const *options, double h, int steps) {
    carom_error err;
    run r = {.n = w->bar.elements + 1};
    carom_sim *sim = chain_sim(&w->bar, scheme, options, h, steps * h, &err);
    if (!sim) fail_msg("%s: %s", scheme, err.text);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", scheme, err.text);
    const carom_now now = carom_sim_now(sim);
    carom_copy(r.q, now.q, r.n);
    carom_copy(r.v, now.v, r.n);
    r.ledger = sim_ledger(sim);
    carom_sim_destroy(sim);
    return r;
}

// Runs that differ by rounding alone may take an event anywhere inside its interval, delta = h (h/T)^p of (MX-7), up to
// h/16^4 = 1.5e-8 here: positions then differ by the jump of the velocity times delta, which is no rounding.  So they
// are compared with events located to rounding, where a scheme has an option for that.
static run run_located(const walls *w, const carom_scheme *s, double h, int steps) {
    const char *const located[] = {s->exact, NULL};
    return run_walls(w, s->name, s->exact && *s->exact ? located : NULL, h, steps);
}

static void check_same(const run *a, const run *b, double tol, const char *what) {
    double q = 0, v = 0;
    for (int i = 0; i < a->n; ++i) q = fmax(q, fabs(a->q[i] - b->q[i])), v = fmax(v, fabs(a->v[i] - b->v[i]));
    const double size = carom_norm_max(a->q, a->n), speed = carom_norm_max(a->v, a->n);
    if (!(q <= tol * size && v <= tol * speed))
        fail_msg("%s: positions differ by %g, velocities by %g", what, q / size, v / speed);
}

// Rounding enters as eps cond(A) in each step, cond up to 1e3, and adds up over 240 steps: 5e-11; times 20.
static const double ROUNDING = 1e-9;

static void every_scheme_moves_a_chain_alike_in_every_storage(void **state) {
    (void)state;
    carom_pattern *P = chain_pattern(NODES);
    const carom_scheme *s;
    for (EACH_SCHEME(s))
        for (int lumped = 0; lumped < 2; ++lumped) {
            walls w;
            make_walls(&w, ELEMENTS, lumped, false);
            carom_system *sys = &w.bar.sys;
            const carom_shape dense = {CAROM_DENSE, NODES, 0, NULL}, banded = {CAROM_BANDED, NODES, 1, NULL},
                              sparse = carom_shape_sparse(P);
            // Without an impact law a contact comes and goes by rounding: the first ones alone can be compared.
            const int steps = s->limitations & CAROM_NO_IMPACTS ? STEPS / 8 : STEPS;
            char what[100];
            sys->mass_shape = sys->tangent_shape = dense;
            sys->column_stride = NODES;
            const run first = run_located(&w, s, 1e-3, steps);
            scheme_true(s->name, s->limitations & CAROM_NO_IMPACTS || first.ledger.impacts > 0);
            for (int c = 0; c < 4; ++c) {
                sys->column_stride = c == 3 ? NODES : 1;
                sys->tangent_shape = c == 0 ? banded : sparse;
                sys->mass_shape = c == 2 ? sparse : lumped ? (carom_shape){CAROM_DIAGONAL, NODES, 0, NULL} : banded;
                const run other = run_located(&w, s, 1e-3, steps);
                snprintf(what, sizeof what, "%s, %s mass, storage %d", s->name, lumped ? "lumped" : "consistent", c);
                check_same(&first, &other, ROUNDING, what);
            }
        }
    carom_pattern_destroy(P);
}

// Without the flags nothing counts as constant, and nothing is kept from step to step.
static void what_is_kept_of_constant_systems_is_what_would_be_computed(void **state) {
    (void)state;
    QUICK_SKIPS();
    const carom_scheme *s;
    for (EACH_SCHEME(s))
        for (int held = 0; held < 2; ++held) {
            walls w;
            make_walls(&w, ELEMENTS, false, held);
            if (s->limitations & CAROM_NO_IMPACTS || (held && s->limitations & CAROM_NO_BILATERAL)) continue;
            const run kept = run_located(&w, s, 1e-3, STEPS);
            w.bar.sys.flags = CAROM_TIMELESS_GAPS;
            const run fresh = run_located(&w, s, 1e-3, STEPS);
            scheme_true(s->name, kept.ledger.impacts > 0);
            // Newton's method may stop at another iterate, within its tolerance of 1e-12 in each of 240 steps.
            check_same(&kept, &fresh, 1e-8, s->name);
        }
}

static void ggl_alpha_solves_the_same_equations_large_and_small(void **state) {
    (void)state;
    static const char *const monolithic[] = {NULL}, *const sequential[] = {"newton=sequential", NULL},
                      *const modified[] = {"complementarity=modified", NULL};
    const char *const *const options[] = {monolithic, sequential, modified};
    for (int held = 0; held < 2; ++held)
        for (int elements = ELEMENTS; elements <= 80; elements += 56) // below and above 64 unknowns
            for (int o = 0; o < 3; ++o) {
                walls w;
                make_walls(&w, elements, true, held);
                const int steps = o == 2 ? STEPS / 2 : STEPS; // modified: until it chatters
                const run constant = run_walls(&w, "ggl-alpha", options[o], 1e-3, steps);
                w.bar.sys.flags = CAROM_TIMELESS_GAPS | CAROM_CONSTANT_MASS;
                const run other = run_walls(&w, "ggl-alpha", options[o], 1e-3, steps);
                assert_true(constant.ledger.impacts > 0);
                char what[100];
                snprintf(what, sizeof what, "ggl-alpha, %d elements%s, option %d", elements, held ? ", held" : "", o);
                check_same(&constant, &other, 1e-8, what);
                // A curved wall: directions change, and the large way leaves their derivatives out.
                w.curve = 3;
                const run curved = run_walls(&w, "ggl-alpha", options[o], 1e-3, steps);
                assert_true(curved.ledger.impacts > 0 && curved.ledger.counts.newton_max <= 10);
                assert_true(curved.ledger.rejected == 0);
                assert_true(curved.ledger.penetration <= 1e-12);
            }
}

// A node without mass between two springs is one spring of half the stiffness.
static void coordinates_without_inertia_follow_their_neighbours(void **state) {
    (void)state;
    static const char *const implicit[] = {"theta=1", NULL};
    const struct { const char *scheme; const char *const *options; bool constant; } cases[] = {
        {"ggl-alpha", NULL, true}, {"ggl-alpha", NULL, false}, {"moreau-jean", implicit, true}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
        for (int held = 0; held < 2; ++held) {
            walls long_one, short_one;
            make_walls(&long_one, ELEMENTS + 1, true, held);
            make_walls(&short_one, ELEMENTS, true, held);
            const int massless = 5;
            long_one.massless = massless;
            short_one.soft = massless - 1;
            long_one.bar.damping = short_one.bar.damping = 0;
            long_one.node[1] = ELEMENTS / 2 + 1;
            for (int i = 0; i <= ELEMENTS + 1; ++i) {
                const int from = i < massless ? i : i - 1;
                long_one.bar.q0[i] = short_one.bar.q0[from];
                long_one.bar.v0[i] = short_one.bar.v0[from];
            }
            double *q = long_one.bar.q0, *v = long_one.bar.v0;
            q[massless] = 0.5 * (q[massless - 1] + q[massless + 1]);
            v[massless] = 0.5 * (v[massless - 1] + v[massless + 1]);
            if (!cases[c].constant) long_one.bar.sys.flags = short_one.bar.sys.flags = CAROM_TIMELESS_GAPS;
            run with = run_walls(&long_one, cases[c].scheme, cases[c].options, 1e-3, STEPS);
            const run without = run_walls(&short_one, cases[c].scheme, cases[c].options, 1e-3, STEPS);
            assert_true(without.ledger.impacts > 0);
            for (int i = massless; i < with.n - 1; ++i) with.q[i] = with.q[i + 1], with.v[i] = with.v[i + 1];
            with.n -= 1;
            check_same(&with, &without, 1e-8, cases[c].scheme);
        }
}

static void schemes_say_where_they_need_inertia(void **state) {
    (void)state;
    walls w;
    carom_error err;
    make_walls(&w, ELEMENTS, true, false);
    w.massless = 0;
    for (int constant = 0; constant < 2; ++constant) {
        assert_null(chain_sim(&w.bar, "ggl-alpha", NULL, 1e-3, 0.1, &err));
        assert_non_null(strstr(err.text, "without inertia"));
        w.bar.sys.flags = CAROM_TIMELESS_GAPS;
    }
    carom_sim *sim = chain_sim(&w.bar, "moreau-midpoint", NULL, 1e-3, 0.1, &err);
    assert_non_null(sim);
    assert_int_equal(carom_sim_step(sim, &err), CAROM_SINGULAR);
    assert_non_null(strstr(err.text, "at coordinate 1"));
    carom_sim_destroy(sim);
}

// -- large -----------------------------------------------------------------------------------------------------------

// A bar of many elements in sparse storage, thrown at a wall with its first node.
typedef struct rod {
    chain bar;
    carom_pattern *pattern;
    double *q, *v;
} rod;

static void make_rod(rod *r, int elements) {
    chain_make(&r->bar, elements, 900.0 / 10 * elements, 10.0 / elements, false);
    r->bar.gap = 0.5 / elements;
    r->pattern = chain_pattern(elements + 1);
    r->bar.sys.mass_shape = r->bar.sys.tangent_shape = carom_shape_sparse(r->pattern);
    r->q = calloc((size_t)elements + 1, sizeof *r->q);
    r->v = malloc(((size_t)elements + 1) * sizeof *r->v);
    for (int i = 0; i <= elements; ++i) r->v[i] = -10;
}

static void drop_rod(rod *r) {
    carom_pattern_destroy(r->pattern);
    free(r->q);
    free(r->v);
}

static carom_sim *rod_sim(const rod *r, const char *scheme, double h, int steps) {
    carom_sim_def d = carom_sim_default();
    carom_error err;
    d.system = &r->bar.sys;
    d.scheme = scheme;
    d.h = h;
    d.t_end = steps * h;
    d.q0 = r->q;
    d.v0 = r->v;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s: %s", scheme, err.text);
    return sim;
}

// While the wave has not come back, the end that touches the wall stands still and presses with sqrt(E rho) A v = 300.
static void ten_thousand_unknowns_press_on_a_wall_as_the_wave_says(void **state) {
    (void)state;
    enum { N = 10000, COUNT = 60 };
    static const char *const schemes[] = {"ggl-alpha",         "moreau-jean",    "newmark",
                                          "generalized-alpha", "ggl-projection", "moreau-midpoint"};
    rod r;
    make_rod(&r, N);
    for (size_t c = 0; c < sizeof schemes / sizeof *schemes; ++c) {
        const double h = 10.0 / N / 30 / 2;
        carom_sim *sim = rod_sim(&r, schemes[c], h, COUNT);
        double impulse = 0, touch = 0;
        while (!carom_sim_done(sim)) {
            sim_step(sim);
            const carom_now now = carom_sim_now(sim);
            if (touch == 0 && now.impulse[0] > 0) touch = now.t; // the first one stops half an element as well
            else if (touch > 0) impulse += now.impulse[0];
        }
        const carom_ledger l = sim_ledger(sim);
        const bool no_drift = c == 0 || c == 4;
        scheme_true(schemes[c], touch > 0 && l.rejected == 0);
        if (no_drift) scheme_true(schemes[c], l.penetration <= 1e-15);
        // The mesh makes the force oscillate by about half of it with the period of an element's wave, four steps and
        // more: what is left over is a few steps' worth.
        scheme_near(schemes[c], impulse / (carom_sim_now(sim).t - touch), 300, 300 * 4.0 / COUNT);
        carom_sim_destroy(sim);
    }
    drop_rod(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheme_moves_a_chain_alike_in_every_storage),
        cmocka_unit_test(what_is_kept_of_constant_systems_is_what_would_be_computed),
        cmocka_unit_test(ggl_alpha_solves_the_same_equations_large_and_small),
        cmocka_unit_test(coordinates_without_inertia_follow_their_neighbours),
        cmocka_unit_test(schemes_say_where_they_need_inertia),
        cmocka_unit_test(ten_thousand_unknowns_press_on_a_wall_as_the_wave_says),
    };
    return cmocka_run_group_tests_name("large", tests, NULL, NULL);
}

// test_large.c: the same chain in every storage moves in the same way with every scheme; large ones move at all.
#include "chain.h"
#include "schemes.h"
#include <stdlib.h>

enum { ELEMENTS = 24, NODES = ELEMENTS + 1, STEPS = 240 };

// The bar of chain.h between two walls that look the same way: one for the first node, one for the middle.
typedef struct walls {
    chain bar; // the model of the functions of chain.h
    carom_contact contact[2];
    int node[2];
    double gap[2];
} walls;

static carom_status wall_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)work, (void)t;
    const walls *w = model;
    for (int i = 0; i < 2; ++i) g[i] = w->gap[i] + q[w->node[i]];
    return CAROM_OK;
}

static carom_status wall_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)work, (void)t, (void)q;
    const walls *w = model;
    for (int b = 0; b < L->nb; ++b) {
        if (L->W.count) L->W.count[b] = 1, L->W.row[b * L->W.stride] = w->node[L->id[b]];
        L->W.a[b * L->W.stride + (L->W.count ? 0 : w->node[L->id[b]])] = 1;
    }
    return CAROM_OK;
}

static void make_walls(walls *w, bool lumped, double damping) {
    chain_make(&w->bar, ELEMENTS, 400, 0.02, lumped);
    w->bar.damping = damping;
    w->bar.sys.model = w;
    w->contact[0] = w->contact[1] = (carom_contact){.restitution = 0.3};
    w->node[0] = 0, w->node[1] = ELEMENTS / 2;
    w->gap[0] = 0.0231, w->gap[1] = 0.0417;
    w->bar.sys.nc = 2;
    w->bar.sys.contacts = w->contact;
    w->bar.sys.gaps = wall_gaps;
    w->bar.sys.directions = wall_directions;
    for (int i = 0; i < NODES; ++i) w->bar.v0[i] = -1.3, w->bar.q0[i] = 0.002 * sin(0.7 * i);
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
    double q[NODES], v[NODES];
    long impacts;
} run;

static run run_walls(const walls *w, const char *scheme, double h, int steps) {
    carom_error err;
    run r;
    carom_sim *sim = chain_sim(&w->bar, scheme, NULL, h, steps * h, &err);
    if (!sim) fail_msg("%s: %s", scheme, err.text);
    if (carom_sim_run(sim, NULL, NULL, &err) != CAROM_OK) fail_msg("%s: %s", scheme, err.text);
    const carom_now now = carom_sim_now(sim);
    carom_copy(r.q, now.q, NODES);
    carom_copy(r.v, now.v, NODES);
    r.impacts = sim_ledger(sim).impacts;
    carom_sim_destroy(sim);
    return r;
}

// Rounding enters as eps cond(A) in each step, cond up to 1e3, and adds up over 240 steps: 5e-11; times 20.
static void check_same(const run *a, const run *b, const char *what) {
    double q = 0, v = 0;
    for (int i = 0; i < NODES; ++i) q = fmax(q, fabs(a->q[i] - b->q[i])), v = fmax(v, fabs(a->v[i] - b->v[i]));
    const double size = carom_norm_max(a->q, NODES), speed = carom_norm_max(a->v, NODES);
    if (!(q <= 1e-9 * size && v <= 1e-9 * speed && a->impacts == b->impacts))
        fail_msg("%s: positions differ by %g, velocities by %g, impacts %ld and %ld", what, q / size, v / speed, a->impacts, b->impacts);
}

static void every_scheme_moves_a_chain_alike_in_every_storage(void **state) {
    (void)state;
    carom_pattern *P = chain_pattern(NODES);
    const carom_scheme *s;
    for (EACH_SCHEME(s))
        for (int lumped = 0; lumped < 2; ++lumped) {
            walls w;
            make_walls(&w, lumped, 1e-4);
            carom_system *sys = &w.bar.sys;
            const double h = 1e-3 * (s->lacks & CAROM_NO_STEP_CHANGE ? 1 : 0.999);
            const carom_shape dense = {CAROM_DENSE, NODES, 0, NULL}, banded = {CAROM_BANDED, NODES, 1, NULL}, sparse = carom_shape_sparse(P);
            // Without an impact law a contact comes and goes by rounding: the first ones alone can be compared.
            const int steps = s->lacks & CAROM_NO_IMPACTS ? STEPS / 8 : STEPS;
            char what[100];
            sys->mass_shape = sys->tangent_shape = dense;
            sys->column_stride = NODES;
            const run first = run_walls(&w, s->name, h, steps);
            scheme_true(s->name, s->lacks & CAROM_NO_IMPACTS || first.impacts > 0);
            for (int c = 0; c < 4; ++c) {
                sys->column_stride = c == 3 ? NODES : 1;
                sys->tangent_shape = c == 0 ? banded : sparse;
                sys->mass_shape = c == 2 ? sparse : lumped ? (carom_shape){CAROM_DIAGONAL, NODES, 0, NULL} : banded;
                const run other = run_walls(&w, s->name, h, steps);
                snprintf(what, sizeof what, "%s, %s mass, storage %d", s->name, lumped ? "lumped" : "consistent", c);
                check_same(&first, &other, what);
            }
        }
    carom_pattern_destroy(P);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheme_moves_a_chain_alike_in_every_storage),
    };
    return cmocka_run_group_tests_name("large", tests, NULL, NULL);
}

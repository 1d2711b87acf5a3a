// lagrange.c: mass matrix and forces of inertia from the kinetic energy.
//
// T = 1/2 v'M v + b'v + T_0, coefficients functions of (t, q); d/dq_i is taken along velocity i.  Two ways to write the
// forces of inertia:
//   by momenta    h_i = dT/dq_i - dp_i/dt along q' = v                          short for long chains of bodies
//   by entries    h_i = sum_jk (1/2 dM_jk/dq_i - dM_ij/dq_k) v_j v_k + ...      the terms that cancel are gone
// Both are built, the one with fewer operations wins.
#include "base/grow.h"
#include "expr/graph.h"
#include "expr/vector.h"
#include <stdlib.h>

typedef struct term { int i, j, k; carom_node c; } term; // c v_j v_k, j <= k, in h_i; k = n: c v_j; j = k = n: c

typedef struct terms { term *list; int count; bool failed; } terms;

// h_i += factor c v_j v_k
static void note(carom_graph *g, terms *t, int i, int j, int k, double factor, carom_node c) {
    if (c == CAROM_NONE || n_zero(g, c)) return;
    if (!CAROM_GROW(t->list, t->count)) {
        t->failed = true;
        return;
    }
    c = n_op(g, CAROM_OP_MUL, carom_graph_number(g, factor), c);
    t->list[t->count++] = (term){i, j < k ? j : k, j < k ? k : j, c};
}

static int compare(const void *x, const void *y) {
    const term *a = x, *b = y;
    if (a->i != b->i) return a->i < b->i ? -1 : 1;
    if (a->j != b->j) return a->j < b->j ? -1 : 1;
    if (a->k != b->k) return a->k < b->k ? -1 : 1;
    return a->c < b->c ? -1 : a->c > b->c;
}

// What M_jk gives to the forces.  reach: inputs that move with each velocity.
static void note_entry(carom_graph *g, terms *t, int n, const uint64_t *reach, int j, int k, carom_node M) {
    if (!(g->node[M].kinds & (1u << CAROM_POSITION | 1u << CAROM_TIME))) return;
    for (int l = 0; l < n; ++l) {
        if (!(g->node[M].inputs & reach[l])) continue;
        const carom_node d = carom_graph_along(g, M, l);
        note(g, t, l, j, k, j == k ? 0.5 : 1, d);
        note(g, t, j, k, l, -1, d);
        if (j != k) note(g, t, k, j, l, -1, d);
    }
    const carom_node rate = carom_graph_diff(g, M, CAROM_TIME, 0);
    note(g, t, j, k, n, -1, rate);
    if (j != k) note(g, t, k, j, n, -1, rate);
}

// What the momentum at rest b_j (prescribed motion) gives.
static void note_drift(carom_graph *g, terms *t, int n, const uint64_t *reach, int j, carom_node b) {
    for (int l = 0; b >= 0 && l < n; ++l) {
        if (!(g->node[b].inputs & reach[l])) continue;
        const carom_node d = carom_graph_along(g, b, l);
        note(g, t, l, j, n, 1, d);
        note(g, t, j, l, n, -1, d);
    }
    note(g, t, j, n, n, -1, carom_graph_diff(g, b, CAROM_TIME, 0));
}

static carom_node velocities(carom_graph *g, const term *x, int n) {
    carom_node v = carom_graph_number(g, 1);
    if (x->j < n) v = n_op(g, CAROM_OP_MUL, v, carom_graph_input(g, CAROM_VELOCITY, x->j));
    if (x->k < n) v = n_op(g, CAROM_OP_MUL, v, carom_graph_input(g, CAROM_VELOCITY, x->k));
    return v;
}

static bool by_entries(carom_graph *g, carom_node T, int n, uint64_t *reach, const carom_node *M, const carom_node *p,
                       carom_node *h) {
    terms t = {0};
    for (int l = 0; l < n; ++l) reach[l] = carom_graph_reach(g, l);
    for (int j = 0; j < n; ++j) {
        for (int k = 0; k <= j; ++k) note_entry(g, &t, n, reach, j, k, M[j * n + k]);
        note_drift(g, &t, n, reach, j, carom_graph_at_rest(g, p[j]));
    }
    const carom_node T_0 = carom_graph_at_rest(g, T);
    for (int i = 0; i < n; ++i) note(g, &t, i, n, n, 1, carom_graph_along(g, T_0, i));
    if (t.count) qsort(t.list, (size_t)t.count, sizeof *t.list, compare);

    for (int i = 0; i < n; ++i) h[i] = carom_graph_number(g, 0);
    for (int a = 0, b; a < t.count; a = b) {
        const term *x = &t.list[a];
        carom_node c = x->c;
        for (b = a + 1; b < t.count && t.list[b].i == x->i && t.list[b].j == x->j && t.list[b].k == x->k; ++b)
            c = n_op(g, CAROM_OP_ADD, c, t.list[b].c);
        h[x->i] = n_op(g, CAROM_OP_ADD, h[x->i], n_op(g, CAROM_OP_MUL, c, velocities(g, x, n)));
    }
    free(t.list);
    return !t.failed;
}

static void by_momenta(carom_graph *g, carom_node T, int n, const carom_node *p, carom_node *h) {
    for (int i = 0; i < n; ++i) h[i] = n_op(g, CAROM_OP_SUB, carom_graph_along(g, T, i), carom_graph_motion(g, p[i]));
}

// Operations per evaluation of M and h together; -1: no memory.
static int cost(const carom_graph *g, int n, const carom_node *M, const carom_node *h) {
    unsigned char *needed = calloc((size_t)g->count, 1);
    if (!needed) return -1;
    for (int i = 0; i < n * n; ++i) needed[M[i]] = 1;
    for (int i = 0; i < n; ++i) needed[h[i]] = 1;
    int count = 0;
    for (int x = g->count - 1; x >= 0; --x) {
        const carom_vertex *v = &g->node[x];
        if (!needed[x] || carom_vertex_leaf(v) || carom_vertex_class(v) <= CAROM_CLASS_PARAMETER) continue;
        needed[v->a] = 1;
        if (v->op == CAROM_OP_SYMBOL) continue;
        ++count;
        if (v->b != CAROM_NONE) needed[v->b] = 1;
        if (v->c != CAROM_NONE) needed[v->c] = 1;
    }
    free(needed);
    return count;
}

static carom_status too_large(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY,
                      "the equations of motion are too large: not enough memory, or more than 4 million nodes");
}

// own: scratch, the inputs that each velocity is.
static carom_status masses(carom_graph *g, carom_node T, int n, uint64_t *own, carom_node *M, carom_node *p,
                           carom_error *err) {
    const carom_node zero = carom_graph_number(g, 0);
    for (int i = 0; i < n; ++i) own[i] = carom_graph_inputs(g, carom_graph_find(g, CAROM_OP_INPUT, CAROM_VELOCITY, i));
    for (int i = 0; i < n; ++i) {
        p[i] = carom_graph_diff(g, T, CAROM_VELOCITY, i);
        const uint64_t of = carom_graph_inputs(g, p[i]);
        for (int j = 0; j <= i; ++j)
            M[i * n + j] = M[j * n + i] = of & own[j] ? carom_graph_diff(g, p[i], CAROM_VELOCITY, j) : zero;
        for (int j = 0; j <= i; ++j)
            if (M[i * n + j] != zero && carom_graph_depends(g, M[i * n + j], CAROM_VELOCITY, -1))
                return carom_fail(err, CAROM_BAD_INPUT, "the kinetic energy is not quadratic in the rates");
    }
    return carom_graph_failed(g) ? too_large(err) : CAROM_OK;
}

carom_status carom_graph_lagrange(carom_graph *g, carom_node T, int n, carom_node *M, carom_node *h, carom_error *err) {
    if (g->node[T].kinds == 0) { // bodies alone have no other energy: nothing moves it
        const carom_node zero = carom_graph_number(g, 0);
        for (size_t i = 0; i < (size_t)n * (size_t)n; ++i) M[i] = zero;
        for (int i = 0; i < n; ++i) h[i] = zero;
        return CAROM_OK;
    }
    carom_node *p = malloc(2 * (size_t)n * sizeof *p + 1);
    uint64_t *inputs = malloc((size_t)n * sizeof *inputs + 1);
    if (!p || !inputs) return free(p), free(inputs), too_large(err);
    carom_node *other = p + n;
    carom_status status = masses(g, T, n, inputs, M, p, err);
    if (status == CAROM_OK) {
        by_momenta(g, T, n, p, other);
        if (!by_entries(g, T, n, inputs, M, p, h) || carom_graph_failed(g)) status = too_large(err);
    }
    if (status == CAROM_OK) {
        const int x = cost(g, n, M, h), y = cost(g, n, M, other);
        if (x < 0 || y < 0) status = too_large(err);
        for (int i = 0; i < n && y < x; ++i) h[i] = other[i];
    }
    free(inputs);
    free(p);
    return status;
}

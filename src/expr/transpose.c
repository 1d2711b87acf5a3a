// transpose.c: gradients of linear expressions, backwards.
//
// y_i = sum_j A_ij v_j with A free of v: every node on the way from v to y is a sum of multiples of others, and with
// the weight of a node known, each of its arguments gets its part of it:
//
//     x_j = sum_i w_i A_ij,   all j in one pass over the nodes, in the opposite order (ADJ-1)
#include "expr/transpose.h"
#include "expr/graph.h"
#include "expr/vector.h"
#include <stdlib.h>

typedef struct reverse {
    carom_graph *g;
    bool *on;           // depends on the inputs
    carom_node *weight; // CAROM_NONE: none
    int first, count;
} reverse;

static bool is_input(const reverse *r, const carom_vertex *v) {
    return v->op == CAROM_OP_INPUT && v->a == CAROM_VELOCITY && v->b >= r->first && v->b < r->first + r->count;
}

static void give(reverse *r, carom_node to, carom_node w) {
    r->weight[to] = r->weight[to] == CAROM_NONE ? w : n_add(r->g, r->weight[to], w);
}

// The weight of node n to its arguments; false: it is not linear, or no sum.
static bool pass_on(reverse *r, carom_node n) {
    carom_graph *g = r->g;
    const carom_vertex v = g->node[n];
    const carom_node w = r->weight[n], zero = n_num(g, 0);
    const bool a = v.a >= 0 && r->on[v.a], b = v.op != CAROM_OP_SYMBOL && v.b >= 0 && r->on[v.b];
    switch ((carom_op)v.op) {
    case CAROM_OP_SYMBOL: give(r, v.a, w); return true;
    case CAROM_OP_NEG: give(r, v.a, n_fun(g, CAROM_OP_NEG, w)); return true;
    case CAROM_OP_ADD:
    case CAROM_OP_SUB:
        if (a) give(r, v.a, w);
        if (b) give(r, v.b, v.op == CAROM_OP_ADD ? w : n_fun(g, CAROM_OP_NEG, w));
        return true;
    case CAROM_OP_MUL:
        if (a && b) return false;
        give(r, a ? v.a : v.b, n_mul(g, w, a ? v.b : v.a));
        return true;
    case CAROM_OP_DIV:
        if (b) return false;
        give(r, v.a, n_div(g, w, v.b));
        return true;
    case CAROM_OP_IF:
        if (a) return false;
        if (b) give(r, v.b, carom_graph_apply(g, CAROM_OP_IF, v.a, w, zero));
        if (v.c >= 0 && r->on[v.c]) give(r, v.c, carom_graph_apply(g, CAROM_OP_IF, v.a, zero, w));
        return true;
    default: return false;
    }
}

carom_status carom_graph_transpose(carom_graph *g, int n, const carom_node *y, const carom_node *w, int first,
                                   int count, carom_node *x) {
    const int nodes = g->count;
    reverse r = {.g = g,
                 .on = calloc((size_t)nodes + 1, sizeof *r.on),
                 .weight = malloc(((size_t)nodes + 1) * sizeof *r.weight),
                 .first = first,
                 .count = count};
    carom_status status = r.on && r.weight ? CAROM_OK : CAROM_NO_MEMORY;
    for (int j = 0; j < count; ++j) x[j] = n_num(g, 0);
    for (int i = 0; status == CAROM_OK && i < nodes; ++i) { // arguments have smaller numbers
        const carom_vertex *v = &g->node[i];
        r.weight[i] = CAROM_NONE;
        if (v->op == CAROM_OP_NUMBER) continue;
        if (v->op == CAROM_OP_INPUT)
            r.on[i] = is_input(&r, v);
        else if (v->op == CAROM_OP_SYMBOL || v->op == CAROM_OP_CURVE)
            r.on[i] = v->a >= 0 && r.on[v->a]; // b is a number of its own
        else
            r.on[i] = (v->a >= 0 && r.on[v->a]) || (v->b >= 0 && r.on[v->b]) || (v->c >= 0 && r.on[v->c]);
    }
    for (int i = 0; status == CAROM_OK && i < n; ++i)
        if (y[i] >= 0 && y[i] < nodes && r.on[y[i]]) give(&r, y[i], w[i]);
    for (int i = nodes - 1; status == CAROM_OK && i >= 0; --i) {
        if (r.weight[i] == CAROM_NONE) continue;
        const carom_vertex v = g->node[i];
        if (v.op == CAROM_OP_INPUT)
            x[v.b - first] = r.weight[i];
        else if (!pass_on(&r, i))
            status = CAROM_UNSUPPORTED;
    }
    if (g->failed && status == CAROM_OK) status = CAROM_NO_MEMORY;
    free(r.on), free(r.weight);
    return status;
}

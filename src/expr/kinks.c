// kinks.c: where an expression has kinks.
#include "expr/graph.h"
#include <stdlib.h>

// The node whose sign decides which branch vertex x takes; CAROM_NONE: it has one branch.
static carom_node branch(carom_graph *g, carom_vertex x) {
    switch (x.op) {
    case CAROM_OP_ABS: case CAROM_OP_SIGN: return x.a;
    case CAROM_OP_MIN: case CAROM_OP_MAX: case CAROM_OP_LT: case CAROM_OP_LE: case CAROM_OP_GT: case CAROM_OP_GE:
        return carom_graph_apply(g, CAROM_OP_SUB, x.a, x.b, CAROM_NONE);
    default: return CAROM_NONE;
    }
}

int carom_graph_kinks(carom_graph *g, carom_node x, carom_node **list) {
    *list = NULL;
    if (x < 0 || !carom_graph_walk(g, x, UINT64_MAX, true)) return -1;
    const int n = g->walk->count;
    int *met = malloc(((size_t)n + 1) * sizeof *met), count = 0;
    if (!met) return -1;
    for (int i = 0; i < n; ++i) met[i] = g->walk->order[i]; // new nodes may need walks of their own
    for (int i = 0; i < n; ++i) {
        const carom_node k = branch(g, g->node[met[i]]);
        if (k == CAROM_NONE || !(g->node[k].kinds & (1u << CAROM_POSITION | 1u << CAROM_TIME))) continue;
        int j = 0;
        while (j < count && met[j] != k) ++j;
        met[j] = k; // count <= i
        count += j == count;
    }
    *list = met;
    return count;
}

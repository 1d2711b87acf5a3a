// kinks.c: where an expression has kinks.
#include "expr/curve.h"
#include "expr/graph.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 64 }; // knots of a curve with kinks; one with more approximates something smooth

typedef struct found {
    carom_node *node;
    int count, room;
    bool failed;
} found;

// A node whose sign decides, if it changes with positions or time.
static void add(found *f, const carom_graph *g, carom_node k) {
    if (k < 0 || !(g->node[k].kinds & (1u << CAROM_POSITION | 1u << CAROM_TIME))) return;
    for (int i = 0; i < f->count; ++i)
        if (f->node[i] == k) return;
    if (f->count == f->room) {
        carom_node *more = realloc(f->node, (size_t)(2 * f->room + 8) * sizeof *more);
        if (!more) {
            f->failed = true;
            return;
        }
        f->node = more;
        f->room = 2 * f->room + 8;
    }
    f->node[f->count++] = k;
}

// Has the curve a kink at knot i?  Outside it is constant.
static bool bends(const double *d, int i) {
    const int n = (int)d[0];
    const double *knot = d + 4, left = i > 0 ? carom_curve_value(d, 1, knot[i - 1], knot[i]) : 0, right = i < n - 1 ? carom_curve_value(d, 1, knot[i], knot[i]) : 0;
    return fabs(left - right) > 1e-9 * (fabs(left) + fabs(right)) + DBL_MIN;
}

static void add_knots(found *f, carom_graph *g, carom_vertex x) {
    int which, k, count = 0;
    const double *d = carom_curve_of(g, x.b, &which, &k);
    for (int i = 0; i < (int)d[0]; ++i) count += bends(d, i);
    for (int i = 0; i < (int)d[0] && count <= MOST; ++i)
        if (bends(d, i)) add(f, g, carom_graph_apply(g, CAROM_OP_SUB, x.a, carom_graph_number(g, d[4 + i]), CAROM_NONE));
}

static void look(found *f, carom_graph *g, carom_vertex x) {
    switch (x.op) {
    case CAROM_OP_ABS: case CAROM_OP_SIGN: add(f, g, x.a); break;
    case CAROM_OP_MIN: case CAROM_OP_MAX: case CAROM_OP_LT: case CAROM_OP_LE: case CAROM_OP_GT: case CAROM_OP_GE:
        add(f, g, carom_graph_apply(g, CAROM_OP_SUB, x.a, x.b, CAROM_NONE));
        break;
    case CAROM_OP_CURVE: add_knots(f, g, x); break;
    default: break;
    }
}

int carom_graph_kinks(carom_graph *g, carom_node x, carom_node **list) {
    found f = {0};
    *list = NULL;
    if (x < 0 || !carom_graph_walk(g, x, UINT64_MAX, true)) return -1;
    const int n = g->walk->count;
    int *met = malloc(((size_t)n + 1) * sizeof *met);
    if (!met) return -1;
    for (int i = 0; i < n; ++i) met[i] = g->walk->order[i]; // new nodes may need walks of their own
    for (int i = 0; i < n; ++i) look(&f, g, g->node[met[i]]);
    free(met);
    if (f.failed) free(f.node);
    *list = f.failed ? NULL : f.node;
    return f.failed ? -1 : f.count;
}

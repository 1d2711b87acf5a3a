// curve_node.c: nodes of curves: the value at an argument, and its derivative.
#include "expr/curve.h"
#include "expr/graph.h"

carom_node carom_graph_curve_at(carom_graph *g, int which, carom_node x) {
    if (which < 0 || which >= g->curves) return carom_graph_fail(g);
    return carom_graph_apply(g, CAROM_OP_CURVE, x, carom_graph_number(g, CAROM_CURVE_ORDERS * which), CAROM_NONE);
}

carom_node carom_curve_slope(carom_graph *g, carom_node a, carom_node b) {
    int which, k;
    const double *d = carom_curve_of(g, b, &which, &k);
    if (k + 1 > d[3]) return carom_graph_number(g, 0);
    return carom_graph_apply(g, CAROM_OP_CURVE, a, carom_graph_number(g, CAROM_CURVE_ORDERS * which + k + 1),
                             CAROM_NONE);
}

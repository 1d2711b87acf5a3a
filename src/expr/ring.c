// ring.c: where a ring is nearest to a line or to another ring: an angle that has no formula, and its derivatives,
// which have.
//
// The place x = (cos phi, sin phi) of a ring of radius 1 has from a point C of a line along b, or from the centre C of
// a ring with the axis b,
//     N = |x - C|^2 = p_0 - p_1 cos phi - p_2 sin phi,   z = b.(x - C) = p_3 cos phi + p_4 sin phi - p_5
// and the squares of its distances are
//     line  h = N - z^2,       ring of radius 1 (rings of other radii: scaled)  h = N - 2 rho + 1,  rho = sqrt(N - z^2)
// A minimum over phi is found between samples by Newton's method with bisection, to rounding; the same numbers give the
// same bits.  There may be two: the first is the one farther along b (ring: to the left of C), the second the other;
// when there is one, both are it.
#include "expr/graph.h"
#include "expr/ring.h"
#include "expr/vector.h"
#include <math.h>
#include "expr/ring.inc"

static const double FLAT = 1e-10; // slope of F below which the place moves without bound, and its derivative is not
                                  // used

double carom_ring_nearest(bool ring, int which, const double *p) { return nearest(ring, which, p); }

// -- in the graph -------------------------------------------------------------------------------------

carom_node carom_graph_nearest(carom_graph *g, bool ring, int which, const carom_node *p) {
    carom_node pair[3];
    for (int i = 0; i < 3; ++i) pair[i] = carom_graph_apply(g, CAROM_OP_PAIR, p[2 * i], p[2 * i + 1], CAROM_NONE);
    return carom_graph_apply(g,
                             ring    ? which ? CAROM_OP_RING_2 : CAROM_OP_RING_1
                             : which ? CAROM_OP_LINE_2
                                     : CAROM_OP_LINE_1,
                             pair[0], pair[1], pair[2]);
}

// Both of a pair; a derivative that is nothing is the number 0.
static void halves(carom_graph *g, carom_node pair, carom_node *x) {
    if (pair < 0) {
        x[0] = x[1] = carom_graph_fail(g);
        return;
    }
    const carom_vertex v = g->node[pair];
    x[0] = v.op == CAROM_OP_PAIR ? v.a : pair;
    x[1] = v.op == CAROM_OP_PAIR ? v.b : pair;
}

// (RNG-2)  phi' = -(dF/dp p')/F',  0 where F' vanishes: there every place is as near as its neighbours
carom_node carom_ring_rule(carom_graph *g, carom_node phi, const carom_node *d) {
    const carom_vertex v = g->node[phi];
    const bool ring = v.op == CAROM_OP_RING_1 || v.op == CAROM_OP_RING_2;
    carom_node p[6], q[6];
    const carom_node pair[3] = {v.a, v.b, v.c};
    for (int i = 0; i < 3; ++i) halves(g, pair[i], p + 2 * i), halves(g, d[i], q + 2 * i);
    const carom_node c = n_op(g, CAROM_OP_COS, phi, CAROM_NONE), s = n_op(g, CAROM_OP_SIN, phi, CAROM_NONE),
                     half = carom_graph_number(g, 0.5);
    const carom_node along = n_add(g, n_mul(g, p[1], c), n_mul(g, p[2], s)),
                     turn = n_add(g, n_mul(g, p[3], c), n_mul(g, p[4], s));
    const carom_node z = n_sub(g, turn, p[5]), z_1 = n_sub(g, n_mul(g, p[4], c), n_mul(g, p[3], s));
    const carom_node dz = n_sub(g, n_add(g, n_mul(g, q[3], c), n_mul(g, q[4], s)), q[5]),
                     dz_1 = n_sub(g, n_mul(g, q[4], c), n_mul(g, q[3], s));
    const carom_node dN_1 = n_mul(g, half, n_sub(g, n_mul(g, q[1], s), n_mul(g, q[2], c)));
    carom_node slope = n_add(g, n_sub(g, n_mul(g, half, along), n_mul(g, z_1, z_1)), n_mul(g, z, turn));
    carom_node dF = n_sub(g, dN_1, n_add(g, n_mul(g, dz, z_1), n_mul(g, z, dz_1)));
    if (ring) {
        const carom_node N_1 = n_mul(g, half, n_sub(g, n_mul(g, p[1], s), n_mul(g, p[2], c))),
                         G = n_sub(g, N_1, n_mul(g, z, z_1));
        const carom_node Q = n_sub(g, n_sub(g, p[0], along), n_mul(g, z, z)),
                         rho = n_op(g, CAROM_OP_SQRT, Q, CAROM_NONE);
        const carom_node dN = n_mul(g, half, n_sub(g, q[0], n_add(g, n_mul(g, q[1], c), n_mul(g, q[2], s))));
        const carom_node drho = n_div(g, n_sub(g, dN, n_mul(g, z, dz)), rho), bend = n_div(g, G, Q);
        slope = n_add(g, n_sub(g, n_mul(g, half, along), n_div(g, slope, rho)), n_div(g, n_mul(g, bend, G), rho));
        dF = n_add(g, n_sub(g, dN_1, n_div(g, dF, rho)), n_mul(g, bend, drho));
    }
    const carom_node steep = n_op(g, CAROM_OP_LT, carom_graph_number(g, FLAT), slope);
    return n_op(g, CAROM_OP_NEG,
                carom_graph_apply(g, CAROM_OP_IF, steep, n_div(g, dF, slope), carom_graph_number(g, 0)), CAROM_NONE);
}

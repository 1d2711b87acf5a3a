// crossings.c: two boxes in space that lie face to face: where an edge of one goes over the outline of the other's
// face, neither has a corner.
//
// Of both boxes the face that separates most is taken.  Each of the four edges of A's face comes in over the outline of
// B's face once and leaves it once: eight contacts, of which those are there whose edges cross, with a common normal
// that no side of the two boxes stands beyond.  With the corners of A over B and of B over A these are all corners of
// the area in which two faces lie on each other.
#include "base/tolerance.h"
#include "derive/shapes/shapes.h"

static const double ALONG = 1e-9;    // cosine: an edge that runs along a side less than this never crosses it
static const double PARALLEL = 1e-6; // square of the sine between edges that count as parallel
static const double CORNER = 1e-12;  // of half an edge: so near its end it is the corner's
static const double POINT = 1e-12;   // of the size: nearer points have no direction
static const double SLACK = 1e-3;    // of the size: where edges do not touch
static const double TILT = 0.1;      // sine: faces that lie on each other may be tilted by some degrees
static const double ROUND = 1e-12;   // sine: what is rounding

// A face: its middle and outward normal, its two directions and how far it goes along them.
typedef struct face { vec middle, normal, u, v; carom_node half_u, half_v; } face;

static face choose_face(carom_graph *g, carom_node when, face a, face b) {
    return (face){v_if(g, when, a.middle, b.middle), v_if(g, when, a.normal, b.normal), v_if(g, when, a.u, b.u),
                  v_if(g, when, a.v, b.v), n_if(g, when, a.half_u, b.half_u), n_if(g, when, a.half_v, b.half_v)};
}

static vec axis_of(carom_graph *g, const shape *s, int k) {
    return carom_shape_vector(g, s, (double[]){k == 0, k == 1, k == 2});
}

static carom_node support(carom_graph *g, const shape *s, vec n) {
    carom_node sum = n_num(g, 0);
    for (int k = 0; k < 3; ++k)
        sum = n_add(g, sum, n_mul(g, carom_shape_half(g, s, k), n_abs(g, v_dot(g, axis_of(g, s, k), n))));
    return sum;
}

// Of box s the face towards the other one that separates the two most; of equal ones the first.
static face foremost(carom_graph *g, const shape *s, const shape *other) {
    const vec centre = carom_shape_point(g, s, s->at), way = v_sub(g, carom_shape_point(g, other, other->at), centre);
    carom_node most = CAROM_NONE;
    face best = {0};
    for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const vec n = axis_of(g, s, k);
        const carom_node along = v_dot(g, n, way), half = carom_shape_half(g, s, k);
        const carom_node apart = n_sub(g, n_sub(g, n_abs(g, along), half), support(g, other, n));
        face f = {.normal = v_scale(g, n, n_sign(g, along)), .u = axis_of(g, s, i), .v = axis_of(g, s, j),
                  .half_u = carom_shape_half(g, s, i), .half_v = carom_shape_half(g, s, j)};
        f.middle = v_add(g, centre, v_scale(g, f.normal, half));
        const carom_node better = k ? n_less(g, most, apart) : CAROM_NONE;
        best = k ? choose_face(g, better, f, best) : f;
        most = k ? n_if(g, better, apart, most) : apart;
    }
    return best;
}

// An edge of a face: `side` is the normal of the other face that it belongs to.
typedef struct edge { vec middle, along, side; carom_node half; } edge;

static edge edge_of(carom_graph *g, const face *f, bool along_u, carom_node end) {
    const vec side = v_scale(g, along_u ? f->v : f->u, end);
    return (edge){v_add(g, f->middle, v_scale(g, side, along_u ? f->half_v : f->half_u)), along_u ? f->u : f->v, side,
                  along_u ? f->half_u : f->half_v};
}

// Where the line of an edge is over a face: from[] and to[] along u and v, over both from `enters` to `leaves`.
typedef struct overlap { carom_node from[2], to[2], enters, leaves; } overlap;

static overlap overlap_of(carom_graph *g, const face *f, const edge *e) {
    overlap s;
    for (int l = 0; l < 2; ++l) {
        const vec axis = l ? f->v : f->u;
        const carom_node d = v_dot(g, e->along, axis), m = v_dot(g, v_sub(g, e->middle, f->middle), axis);
        const carom_node crosses = n_less(g, n_num(g, ALONG), n_abs(g, d));
        const carom_node end = n_mul(g, n_sign(g, d), l ? f->half_v : f->half_u);
        s.from[l] = n_if(g, crosses, n_div(g, n_fun(g, CAROM_OP_NEG, n_add(g, end, m)), d), n_num(g, -CAROM_LARGEST));
        s.to[l] = n_if(g, crosses, n_div(g, n_sub(g, end, m), d), n_num(g, CAROM_LARGEST));
    }
    s.enters = n_op(g, CAROM_OP_MAX, s.from[0], s.from[1]);
    s.leaves = n_op(g, CAROM_OP_MIN, s.to[0], s.to[1]);
    return s;
}

// The edge of face f over which the line of e leaves it (way 1) or comes in (-1).
static edge crossed(carom_graph *g, const face *f, const edge *e, const overlap *s, int way) {
    edge found[2];
    for (int l = 0; l < 2; ++l) // ends in u, in v
        found[l] = edge_of(g, f, l == 1, n_mul(g, n_num(g, way), n_sign(g, v_dot(g, e->along, l ? f->v : f->u))));
    const carom_node first = way > 0 ? n_less(g, s->to[0], s->to[1]) : n_less(g, s->from[1], s->from[0]);
    return (edge){v_if(g, first, found[0].middle, found[1].middle), v_if(g, first, found[0].along, found[1].along),
                  v_if(g, first, found[0].side, found[1].side), n_if(g, first, found[0].half, found[1].half)};
}

// (SHP-21) for an edge that comes in over the other's face at x, way 1: along it, -1: against it.
// -n.m <= min(s/R, 1/10), m the normal of the side over which it comes in, s its way over the face.  out: n.m
static carom_node leads_in(carom_graph *g, const edge *e, const overlap *over, carom_node x, carom_node way,
                           carom_node out, carom_node size) {
    const carom_node forward = n_less(g, n_num(g, 0), way), minus = n_fun(g, CAROM_OP_NEG, e->half);
    const carom_node last = n_op(g, CAROM_OP_MIN, e->half, over->leaves);
    const carom_node first = n_op(g, CAROM_OP_MAX, minus, over->enters);
    const carom_node end = n_if(g, forward, last, first);
    const carom_node most = n_op(g, CAROM_OP_MIN, n_div(g, n_abs(g, n_sub(g, end, x)), size), n_num(g, TILT));
    return n_op(g, CAROM_OP_LE, n_fun(g, CAROM_OP_NEG, out), n_op(g, CAROM_OP_MAX, most, n_num(g, ROUND)));
}

// (SHP-11) between edge `number` (0 .. 3) of the face of A that is towards B and the outline of the face of B.
touching carom_crossing(carom_graph *g, const shape *A, const shape *B, int number, int way) {
    const carom_node zero = n_num(g, 0), R_A = carom_shape_bound_radius(g, A), R_B = carom_shape_bound_radius(g, B);
    const carom_node size = n_op(g, CAROM_OP_MIN, R_A, R_B);
    const face on_A = foremost(g, A, B), on_B = foremost(g, B, A);
    const edge a = edge_of(g, &on_A, number < 2, n_num(g, number % 2 ? 1 : -1));
    const overlap a_over = overlap_of(g, &on_B, &a);
    const edge b = crossed(g, &on_B, &a, &a_over, way);
    const overlap b_over = overlap_of(g, &on_A, &b);
    const vec w = v_sub(g, a.middle, b.middle), c = v_cross(g, a.along, b.along);
    const carom_node ef = v_dot(g, a.along, b.along), we = v_dot(g, w, a.along), wf = v_dot(g, w, b.along),
                     square = v_dot(g, c, c);
    const carom_node crosses = n_less(g, n_num(g, PARALLEL), square);
    const carom_node x = n_if(g, crosses, n_div(g, n_sub(g, n_mul(g, ef, wf), we), square), zero);
    const carom_node y = n_if(g, crosses, n_div(g, n_sub(g, wf, n_mul(g, ef, we)), square), zero);
    const carom_node length = n_mul(g, n_sign(g, v_dot(g, c, on_B.normal)), n_fun(g, CAROM_OP_SQRT, square));
    vec n;
    for (int k = 0; k < 3; ++k) n.c[k] = n_if(g, crosses, n_div(g, c.c[k], length), zero);
    // Ends belong to corners.
    const carom_node most = n_num(g, 1 - CORNER);
    const carom_node within =
        n_and(g, n_less(g, n_abs(g, x), n_mul(g, most, a.half)), n_less(g, n_abs(g, y), n_mul(g, most, b.half)));
    const vec back = v_scale(g, n, n_num(g, -1));
    const carom_node into_A = n_fun(g, CAROM_OP_NEG, n_sign(g, v_dot(g, b.along, a.side)));
    const carom_node into_B = n_num(g, -way);
    const carom_node by_B = n_and(g, n_less(g, zero, v_dot(g, n, on_B.normal)),
                                  leads_in(g, &a, &a_over, x, into_B, v_dot(g, n, b.side), size));
    const carom_node by_A = n_and(g, n_less(g, zero, v_dot(g, back, on_A.normal)),
                                  leads_in(g, &b, &b_over, y, into_A, v_dot(g, back, a.side), size));
    const carom_node here = n_and(g, n_and(g, crosses, within), n_and(g, by_A, by_B));
    // Elsewhere the middles of the edges, which are fixed in the boxes, and some slack: no less than the distance of
    // the shapes.
    const carom_node tiny = n_mul(g, n_num(g, POINT), size);
    const carom_node gap2 = v_dot(g, w, w), some = n_less(g, n_mul(g, tiny, tiny), gap2),
                     root = n_fun(g, CAROM_OP_SQRT, gap2);
    touching t = {.point = v_if(g, here, v_add(g, a.middle, v_scale(g, a.along, x)), a.middle)};
    t.gap = n_if(g, here, v_dot(g, n, w), n_add(g, n_if(g, some, root, zero), n_mul(g, n_num(g, SLACK), size)));
    for (int k = 0; k < 3; ++k) t.normal.c[k] = n_if(g, here, n.c[k], n_if(g, some, n_div(g, w.c[k], root), zero));
    return t;
}

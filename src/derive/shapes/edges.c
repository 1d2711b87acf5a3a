// edges.c: edges of boxes, middle lines of capsules and elements, and sides of cylinders against each other in space:
// one contact per pair.
//
// Of all pairs of edge directions (i, j) the one whose common normal separates the shapes most is taken, and on both
// shapes the edge that is foremost along it.  The contact is there when that separates more than every face, and the
// edges cross; then corners do not see it.
#include "base/tolerance.h"
#include "derive/shapes/shapes.h"

static const double POINT = 1e-12;   // of the size: nearer points have no direction
static const double PARALLEL = 1e-6; // square of the sine between edges that count as parallel
static const double FOREMOST = 1e-9; // of the size: faces are preferred to edges by so much
static const double SLACK = 1e-3;    // of the size: where edges do not touch

// The axes of a shape that have edges along them, and half lengths along all axes.
typedef struct frame {
    const shape *s;
    int n, edge[3];
    bool wide[3]; // has it a length along this axis?
    carom_node half[3];
    vec axis[3], centre;
} frame;

static frame element_frame(carom_graph *g, const shape *s) {
    const line l = carom_shape_line(g, s);
    const carom_node zero = n_num(g, 0);
    const vec none = {{zero, zero, zero}};
    return (frame){.s = s,
                   .n = 1,
                   .wide = {true},
                   .half = {l.half, zero, zero},
                   .axis = {l.along, none, none},
                   .centre = l.middle};
}

static frame frame_of(carom_graph *g, const shape *s) {
    if (s->kind == SHAPE_ELEMENT) return element_frame(g, s);
    frame f = {.s = s, .centre = carom_shape_point(g, s, s->at)};
    for (int k = 0; k < 3; ++k) {
        double e[3] = {0};
        e[k] = 1;
        f.axis[k] = carom_shape_vector(g, s, e);
        f.wide[k] = s->kind == SHAPE_BOX || k == s->axis;
        f.half[k] = s->kind == SHAPE_BOX ? carom_shape_half(g, s, k) : n_num(g, f.wide[k] ? s->half[0] : 0);
        if (f.wide[k]) f.edge[f.n++] = k;
    }
    return f;
}

// How far a shape reaches along n (not unit).
static carom_node support(carom_graph *g, const frame *f, vec n) {
    carom_node sum = n_num(g, 0);
    for (int k = 0; k < 3; ++k)
        if (f->wide[k]) sum = n_add(g, sum, n_mul(g, f->half[k], n_abs(g, v_dot(g, f->axis[k], n))));
    return sum;
}

// An edge: its direction, the way from the centre to its middle (own axes), half its length; all piecewise constant.
typedef struct edge { vec axis, way; carom_node half; } edge;

static edge edge_along(carom_graph *g, const frame *f, int i, vec n, carom_node s) {
    const carom_node zero = n_num(g, 0);
    edge e = {{{zero, zero, zero}}, {{zero, zero, zero}}, f->half[i]};
    e.axis.c[i] = n_num(g, 1);
    for (int k = 0; k < 3; ++k)
        if (k != i && f->wide[k]) e.way.c[k] = n_mul(g, f->half[k], n_mul(g, s, n_sign(g, v_dot(g, f->axis[k], n))));
    return e;
}

static edge choose(carom_graph *g, carom_node when, edge a, edge b) {
    return (edge){v_if(g, when, a.axis, b.axis), v_if(g, when, a.way, b.way), n_if(g, when, a.half, b.half)};
}

static vec combine(carom_graph *g, const frame *f, vec own) {
    vec x = v_scale(g, f->axis[0], own.c[0]);
    for (int k = 1; k < 3; ++k) x = v_add(g, x, v_scale(g, f->axis[k], own.c[k]));
    return x;
}

// The largest separation along a normal of a face.
static carom_node faces(carom_graph *g, const frame *A, const frame *B, vec way) {
    const frame *const both[2] = {A, B};
    carom_node most = n_num(g, -CAROM_LARGEST);
    for (int b = 0; b < 2; ++b)
        for (int k = 0; k < 3 && both[b]->s->kind == SHAPE_BOX; ++k) {
            const vec n = both[b]->axis[k];
            const carom_node apart = n_sub(g, n_abs(g, v_dot(g, n, way)), n_add(g, support(g, A, n), support(g, B, n)));
            most = n_op(g, CAROM_OP_MAX, most, apart);
        }
    return most;
}

// The size of what is small: of an element its thickness.
static carom_node size_of(carom_graph *g, const shape *s) {
    return s->kind == SHAPE_ELEMENT ? n_num(g, s->radius) : carom_shape_bound_radius(g, s);
}

// Against a cylinder: the foremost place of the other's edge on its surface; of two cylinders that is on the side of
// the second, towards the first.
static touching on_cylinder(carom_graph *g, const shape *sA, const shape *sB, vec on_A, vec on_B, vec axis_B) {
    const bool second = sB->kind == SHAPE_CYLINDER && sA->kind != SHAPE_CYLINDER;
    const shape *cylinder = second ? sB : sA, *other = second ? sA : sB;
    corner c = {.at = second ? on_A : on_B, .radius = other->radius};
    if (other->kind == SHAPE_CYLINDER) {
        const vec way = v_sub(g, on_A, on_B), side = v_sub(g, way, v_scale(g, axis_B, v_dot(g, way, axis_B)));
        const carom_node square = v_dot(g, side, side),
                         some = n_less(g, n_num(g, POINT * POINT * other->radius * other->radius), square);
        const carom_node length =
            n_if(g, some, n_div(g, n_num(g, other->radius), n_fun(g, CAROM_OP_SQRT, square)), n_num(g, 0));
        c = (corner){.at = v_add(g, on_B, v_scale(g, side, length))};
    }
    touching t = carom_surface(g, &c, cylinder);
    if (!second) t.normal = v_scale(g, t.normal, n_num(g, -1));
    return t;
}

// (SHP-11)  n = +-a x b / |a x b| from B to A,  g = n.(m_A - m_B) - r_A - r_B,  m the middles of the edges
touching carom_edges(carom_graph *g, const shape *sA, const shape *sB) {
    const frame A = frame_of(g, sA), B = frame_of(g, sB);
    const vec way = v_sub(g, A.centre, B.centre);
    const carom_node zero = n_num(g, 0), one = n_num(g, 1), parallel = n_num(g, PARALLEL);
    const carom_node scale = n_op(g, CAROM_OP_MIN, size_of(g, sA), size_of(g, sB)),
                     tiny = n_mul(g, n_num(g, POINT), scale);
    const double radii = sA->radius + sB->radius;
    carom_node most = CAROM_NONE;
    edge a = {0}, b = {0};
    for (int i = 0; i < A.n; ++i)
        for (int j = 0; j < B.n; ++j) {
            const int ka = A.edge[i], kb = B.edge[j];
            const vec c = v_cross(g, A.axis[ka], B.axis[kb]);
            const carom_node square = v_dot(g, c, c), along = v_dot(g, c, way), side = n_sign(g, along);
            const carom_node apart = n_sub(g, n_abs(g, along), n_add(g, support(g, &A, c), support(g, &B, c)));
            const carom_node key = n_if(g, n_less(g, parallel, square),
                                        n_div(g, apart, n_fun(g, CAROM_OP_SQRT, square)), n_num(g, -CAROM_LARGEST));
            const edge on_A = edge_along(g, &A, ka, c, n_fun(g, CAROM_OP_NEG, side)),
                       on_B = edge_along(g, &B, kb, c, side);
            const carom_node better = i + j ? n_less(g, most, key) : one;
            a = i + j ? choose(g, better, on_A, a) : on_A;
            b = i + j ? choose(g, better, on_B, b) : on_B;
            most = i + j ? n_if(g, better, key, most) : key;
        }
    const vec e = combine(g, &A, a.axis), f = combine(g, &B, b.axis), m_A = v_add(g, A.centre, combine(g, &A, a.way));
    const vec w = v_sub(g, m_A, v_add(g, B.centre, combine(g, &B, b.way))), c = v_cross(g, e, f);
    const carom_node ef = v_dot(g, e, f), we = v_dot(g, w, e), wf = v_dot(g, w, f), square = v_dot(g, c, c),
                     crossed = n_less(g, parallel, square);
    const carom_node x = n_if(g, crossed, n_div(g, n_sub(g, n_mul(g, ef, wf), we), square), zero);
    const carom_node y = n_if(g, crossed, n_div(g, n_sub(g, wf, n_mul(g, ef, we)), square), zero);
    const vec on_A = v_add(g, m_A, v_scale(g, e, n_clamp(g, x, a.half)));
    if (sA->kind == SHAPE_CYLINDER || sB->kind == SHAPE_CYLINDER)
        return on_cylinder(g, sA, sB, on_A, v_add(g, v_sub(g, m_A, w), v_scale(g, f, n_clamp(g, y, b.half))), f);
    const carom_node within =
        n_and(g, n_op(g, CAROM_OP_LE, n_abs(g, x), a.half), n_op(g, CAROM_OP_LE, n_abs(g, y), b.half));
    const carom_node foremost = n_less(g, n_add(g, faces(g, &A, &B, way), n_mul(g, n_num(g, FOREMOST), scale)), most);
    const carom_node here = n_and(g, crossed, n_and(g, within, foremost));
    const carom_node length = n_mul(g, n_sign(g, v_dot(g, c, way)), n_fun(g, CAROM_OP_SQRT, square));
    // Elsewhere the ends of the edges: no less than the distance of the shapes.
    const vec apart = v_sub(g, v_add(g, w, v_scale(g, e, n_clamp(g, x, a.half))), v_scale(g, f, n_clamp(g, y, b.half)));
    const carom_node gap2 = v_dot(g, apart, apart), some = n_less(g, n_mul(g, tiny, tiny), gap2),
                     root = n_fun(g, CAROM_OP_SQRT, gap2);
    const carom_node slack = radii > 0 ? zero : n_mul(g, n_num(g, SLACK), scale);
    touching t;
    t.gap = n_sub(g, n_if(g, here, n_div(g, v_dot(g, c, w), length), n_add(g, n_if(g, some, root, zero), slack)),
                  n_num(g, radii));
    for (int k = 0; k < 3; ++k)
        t.normal.c[k] = n_if(g, here, n_div(g, c.c[k], length), n_if(g, some, n_div(g, apart.c[k], root), zero));
    t.point = v_sub(g, on_A, v_scale(g, t.normal, n_num(g, sA->radius)));
    return t;
}

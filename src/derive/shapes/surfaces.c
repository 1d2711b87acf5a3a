// surfaces.c: how far a rounded corner is from the surface of a shape: gap, normal, place.
//
// Which feature of the surface is nearest is decided by `if` over numbers that are constant in the frame of the body (normals,
// corners), so that derivatives see one feature at a time and stay short.  A corner of an edged shape that is inside
// is pushed out through a face from which its own edges lead away (SHP-6): else a corner that slides along a row of equal boxes
// would hang on their sides.  Boxes stacked exactly in line have corners on the corners of the other box: which side of it they are on is
// rounding, and only faces from which the edges lead away count.
#include "derive/shapes/shapes.h"
#include <float.h>
#include <math.h>

static const double TINY = 1e-12;  // distances below TINY times the size have no direction
static const double AWAY = -0.5;   // edges with less than this along a normal lead through the face
static const double ROUND = 1e-12; // edges with less than this along a normal lie in the face
static const double FLAT = 1e-6;   // the same where which of two faces a corner is beyond is rounding
static const double SLACK = 1e-3;  // times the size: where a corner does not touch the feature nearest to it
static const double BAND = 1e-9;   // times the size: a corner less far beyond a face that its edges lead through is not outside

vec carom_shape_point(carom_graph *g, const shape *s, const double *x) {
    const body *b = s->body;
    return v_add(g, (vec){{b->r[0], b->r[1], b->r[2]}}, v_turn(g, b->R, v_num(g, x)));
}

static void in_body(const shape *s, const double *x, double *y) {
    for (int i = 0; i < 3; ++i) y[i] = s->X[3 * i] * x[0] + s->X[3 * i + 1] * x[1] + s->X[3 * i + 2] * x[2];
}

vec carom_shape_vector(carom_graph *g, const shape *s, const double *x) {
    double y[3];
    in_body(s, x, y);
    return v_turn(g, s->body->R, v_num(g, y));
}

// World -> own axes: X'(R'(p - r) - at).
static vec own(carom_graph *g, const shape *s, vec p) {
    const body *b = s->body;
    carom_node X[9];
    for (int i = 0; i < 9; ++i) X[i] = n_num(g, s->X[i]);
    const vec in_frame = v_back(g, b->R, v_sub(g, p, (vec){{b->r[0], b->r[1], b->r[2]}}));
    return v_back(g, X, v_sub(g, in_frame, v_num(g, s->at)));
}

static vec own_to_world(carom_graph *g, const shape *s, vec a) {
    carom_node X[9];
    for (int i = 0; i < 9; ++i) X[i] = n_num(g, s->X[i]);
    return v_turn(g, s->body->R, v_turn(g, X, a));
}

// |a| and a/|a|; both zero where a is too short to have a direction.
typedef struct ray { carom_node length; vec unit; } ray;

static ray ray_beyond(carom_graph *g, vec a, carom_node least) { // the least square
    const carom_node square = v_dot(g, a, a), zero = n_num(g, 0), root = n_fun(g, CAROM_OP_SQRT, square);
    const carom_node long_enough = n_less(g, least, square);
    ray x = {n_if(g, long_enough, root, zero), {{0}}};
    for (int i = 0; i < 3; ++i) x.unit.c[i] = n_if(g, long_enough, n_div(g, a.c[i], root), zero);
    return x;
}

static ray ray_of(carom_graph *g, vec a, double size) { return ray_beyond(g, a, n_num(g, TINY * size * TINY * size)); }

static touching made(carom_graph *g, const corner *c, carom_node distance, vec normal) {
    const carom_node radius = c->of ? carom_shape_radius(g, c->of) : n_num(g, c->radius);
    return (touching){n_sub(g, distance, radius), normal, v_sub(g, c->at, v_scale(g, normal, radius))};
}

// -- corners ------------------------------------------------------------------------------------------------------

int carom_shape_corners(const shape *s) {
    switch (s->kind) {
    case SHAPE_POINT: case SHAPE_ROUND: return 1;
    case SHAPE_CAPSULE: return 2;
    case SHAPE_POLYGON: return s->ncorners;
    case SHAPE_BOX: return s->space == PLANAR ? 4 : 8;
    case SHAPE_CYLINDER: return 6; // three on each rim: on its end it stands on these
    default: return 0;
    }
}

static vec edge_between(carom_graph *g, const shape *s, const double *from, const double *to) {
    const double l = hypot(to[0] - from[0], to[1] - from[1]), e[3] = {(to[0] - from[0]) / l, (to[1] - from[1]) / l, 0};
    return v_turn(g, s->body->R, v_num(g, e));
}

// Corner i of a box whose edges are no numbers.
static vec sized_corner(carom_graph *g, const shape *s, int i) {
    carom_node X[9];
    vec x;
    for (int k = 0; k < 9; ++k) X[k] = n_num(g, s->X[k]);
    for (int k = 0; k < 3; ++k) x.c[k] = n_mul(g, n_num(g, i >> k & 1 ? 1 : -1), s->size[k]);
    const body *b = s->body;
    return v_add(g, (vec){{b->r[0], b->r[1], b->r[2]}}, v_turn(g, b->R, v_add(g, v_turn(g, X, x), v_num(g, s->at))));
}

corner carom_shape_corner(carom_graph *g, const shape *s, int i) {
    corner c = {.radius = s->kind == SHAPE_CYLINDER ? 0 : s->radius};
    if (s->size && s->kind == SHAPE_ROUND) c.of = s;
    double x[3] = {0}, y[3] = {0};
    if (s->ncorners) {
        const int n = s->ncorners;
        for (int k = 0; k < 2; ++k) x[k] = s->corner[i][k];
        c.at = carom_shape_point(g, s, x);
        c.nedges = 2;
        c.edge[0] = edge_between(g, s, s->corner[i], s->corner[(i + 1) % n]);
        c.edge[1] = edge_between(g, s, s->corner[i], s->corner[(i + n - 1) % n]);
        return c;
    }
    if (s->kind == SHAPE_CAPSULE) x[s->axis] = i ? s->half[0] : -s->half[0];
    if (s->kind == SHAPE_CYLINDER) {
        const double phi = 2 * acos(-1.0) / 3 * (i % 3);
        x[0] = s->radius * cos(phi);
        x[1] = s->radius * sin(phi);
        x[2] = i < 3 ? -s->half[0] : s->half[0];
        c.nedges = 2;
        c.edge[0] = carom_shape_vector(g, s, (double[]){-cos(phi), -sin(phi), 0});
        c.edge[1] = carom_shape_vector(g, s, (double[]){0, 0, i < 3 ? 1 : -1});
    }
    for (int k = 0; k < 3 && s->kind == SHAPE_BOX; ++k) {
        double e[3] = {0};
        e[k] = i >> k & 1 ? -1 : 1; // back into the box
        x[k] = -e[k] * s->half[k];
        c.edge[c.nedges++] = carom_shape_vector(g, s, e);
    }
    if (s->size && s->kind == SHAPE_BOX) {
        c.at = sized_corner(g, s, i);
        return c;
    }
    in_body(s, x, y);
    for (int k = 0; k < 3; ++k) y[k] += s->at[k];
    c.at = carom_shape_point(g, s, y);
    return c;
}

// -- rounds and lines -----------------------------------------------------------------------------------------------

// (SHP-1)  g = |c - c_B| - r - r_B
static touching round_surface(carom_graph *g, const corner *c, const shape *s) {
    const ray d = ray_of(g, v_sub(g, c->at, carom_shape_point(g, s, s->at)), c->radius + s->radius);
    return made(g, c, n_sub(g, d.length, carom_shape_radius(g, s)), d.unit);
}

// (SHP-2)  g = n.(c - p) - r
static touching plane_surface(carom_graph *g, const corner *c, const shape *s) {
    const vec n = carom_shape_vector(g, s, (double[]){1, 0, 0});
    return made(g, c, v_dot(g, n, v_sub(g, c->at, carom_shape_point(g, s, s->at))), n);
}

// From the nearest point of the middle line, which ends at +- half (`ends`) or never.
static ray from_line(carom_graph *g, const corner *c, const shape *s, bool ends) {
    double e[3] = {0};
    e[s->axis] = 1;
    const vec a = carom_shape_vector(g, s, e), d = v_sub(g, c->at, carom_shape_point(g, s, s->at));
    const carom_node l = n_num(g, s->half[0]), minus = n_num(g, -s->half[0]);
    carom_node x = v_dot(g, a, d);
    if (ends) x = n_if(g, n_less(g, l, x), l, n_if(g, n_less(g, x, minus), minus, x));
    return ray_of(g, v_sub(g, d, v_scale(g, a, x)), c->radius + s->radius);
}

// (SHP-3)  g = |c - l| - r - r_B,  l the nearest point of the capsule's middle line
static touching capsule_surface(carom_graph *g, const corner *c, const shape *s) {
    const ray d = from_line(g, c, s, true);
    return made(g, c, n_sub(g, d.length, n_num(g, s->radius)), d.unit);
}

static touching element_surface(carom_graph *g, const corner *c, const shape *s) {
    const ray d = ray_of(g, v_sub(g, c->at, carom_element_nearest(g, s, c->at)), c->radius + s->radius);
    return made(g, c, n_sub(g, d.length, n_num(g, s->radius)), d.unit);
}

// (SHP-4)  inside:  g = R - r - |c - l|,  l the centre, or the nearest point of the middle line
static touching inside_surface(carom_graph *g, const corner *c, const shape *s) {
    const ray d = s->kind == SHAPE_HOLE ? ray_of(g, v_sub(g, c->at, carom_shape_point(g, s, s->at)), s->radius)
                                        : from_line(g, c, s, s->kind == SHAPE_SLOT);
    return made(g, c, n_sub(g, n_num(g, s->radius), d.length), v_scale(g, d.unit, n_num(g, -1)));
}

// -- polygons ---------------------------------------------------------------------------------------------------------

// What the chosen one of n features has, where they have of[].  is[i]: is it number i?
static carom_node look_up(carom_graph *g, const carom_node *is, const double *of, int n) {
    carom_node x = n_num(g, of[0]);
    for (int i = 1; i < n; ++i) x = n_if(g, is[i], n_num(g, of[i]), x);
    return x;
}

// What a corner has to be beyond a face to be outside: nothing, or a band where its edges lead through the face.  Far from the origin
// positions round by more than the band: it is at least 16 eps |r|.
static carom_node outside_from(carom_graph *g, carom_node good, const shape *s, carom_node size) {
    carom_node band = n_mul(g, n_num(g, BAND), size);
    for (int i = 0; i < 3; ++i) band = n_add(g, band, n_mul(g, n_num(g, 16 * DBL_EPSILON), n_fun(g, CAROM_OP_ABS, s->body->r[i])));
    return n_if(g, good, n_num(g, 0), band);
}

// The least of e.n over the edges e of a corner, and e.t of that edge.
typedef struct lead { carom_node out, along; } lead;

static lead leads(carom_graph *g, const vec *edge, int n, vec normal, vec tangent) {
    lead l = {v_dot(g, edge[0], normal), v_dot(g, edge[0], tangent)};
    for (int k = 1; k < n; ++k) {
        const carom_node out = v_dot(g, edge[k], normal), less = n_less(g, out, l.out);
        l = (lead){n_if(g, less, out, l.out), n_if(g, less, v_dot(g, edge[k], tangent), l.along)};
    }
    return l;
}

// 1 when no edge leads against the unit vector d, from a corner or edge of the other shape to the corner.
static carom_node touches_point(carom_graph *g, const vec *edge, int n, vec d) {
    carom_node least = v_dot(g, edge[0], d);
    for (int k = 1; k < n; ++k) least = n_op(g, CAROM_OP_MIN, least, v_dot(g, edge[k], d));
    return n_op(g, CAROM_OP_LE, n_num(g, -ROUND), least);
}

// (SHP-21)  -e.n <= min(s/R, 1/2) for the edge e with the least e.n, s the way to the end of the face to which e leads
static carom_node touches_face(carom_graph *g, lead l, carom_node along, double length, double size) {
    const carom_node ahead = n_if(g, n_less(g, n_num(g, 0), l.along), n_sub(g, n_num(g, length), along), along);
    const carom_node most = n_op(g, CAROM_OP_MAX, n_mul(g, n_num(g, 1 / size), ahead), n_num(g, ROUND));
    return n_op(g, CAROM_OP_LE, n_fun(g, CAROM_OP_NEG, l.out), n_op(g, CAROM_OP_MIN, most, n_num(g, -AWAY)));
}

// Which sides of a polygon does a corner touch (SHP-21), and how far beyond each is it outside?
static void judge_sides(carom_graph *g, const corner *c, const shape *s, const vec *edge, const vec *normal,
                        const carom_node *along, const double *length, carom_node *good, carom_node *least) {
    const int n = s->ncorners;
    carom_node flat[MOST_CORNERS];
    for (int i = 0; i < n; ++i) {
        good[i] = n_num(g, 1), least[i] = n_num(g, 0);
        if (c->nedges == 0) continue;
        const vec tangent = {{n_fun(g, CAROM_OP_NEG, normal[i].c[1]), normal[i].c[0], n_num(g, 0)}};
        const lead l = leads(g, edge, c->nedges, normal[i], tangent);
        good[i] = touches_face(g, l, along[i], length[i], s->bound_radius);
        flat[i] = n_less(g, n_abs(g, l.out), n_num(g, FLAT));
    }
    for (int i = 0; i < n && c->nedges > 0; ++i) {
        const carom_node beside_flat = n_or(g, flat[(i + 1) % n], flat[(i + n - 1) % n]);
        least[i] = outside_from(g, n_or(g, good[i], n_not(g, beside_flat)), s, n_num(g, s->bound_radius));
    }
}

// (SHP-5)  outside: the distance from the nearest side or corner;  inside: the largest n_f.(c - a_f) over faces f (SHP-6)
// Features have numbers: side i, n + corner i.  One is chosen, then its values are looked up: that is less to evaluate
// than choosing all of them each time.  A corner touches the chosen feature only if its edges lead away from it (SHP-21).
// Else a corner of the other polygon is nearer to that edge, and the gap has some slack: without it the corner would
// meet, where corners pass each other, a side that it only comes near to.
static touching polygon_surface(carom_graph *g, const corner *c, const shape *s) {
    const int n = s->ncorners;
    const body *b = s->body;
    const vec p = v_back(g, b->R, v_sub(g, c->at, (vec){{b->r[0], b->r[1], b->r[2]}}));
    const carom_node zero = n_num(g, 0), one = n_num(g, 1), count = n_num(g, n), far = n_num(g, 8 * s->bound_radius);
    carom_node number = zero, deepest = CAROM_NONE, along[MOST_CORNERS], out[MOST_CORNERS], is[MOST_CORNERS];
    carom_node good[MOST_CORNERS], least[MOST_CORNERS];
    double m[2][MOST_CORNERS], a[2][MOST_CORNERS], length[MOST_CORNERS], offset[MOST_CORNERS];
    vec edge[3], normals[MOST_CORNERS];
    for (int k = 0; k < c->nedges; ++k) edge[k] = v_back(g, b->R, c->edge[k]);
    for (int i = 0; i < n; ++i) {
        const double *e = s->corner[(i + 1) % n];
        for (int k = 0; k < 2; ++k) a[k][i] = s->corner[i][k];
        length[i] = hypot(e[0] - a[0][i], e[1] - a[1][i]);
        const double t[3] = {(e[0] - a[0][i]) / length[i], (e[1] - a[1][i]) / length[i], 0};
        m[0][i] = t[1], m[1][i] = -t[0];
        offset[i] = m[0][i] * a[0][i] + m[1][i] * a[1][i];
        normals[i] = v_num(g, (double[]){m[0][i], m[1][i], 0});
        out[i] = n_sub(g, v_dot(g, normals[i], p), n_num(g, offset[i]));
        along[i] = n_sub(g, v_dot(g, v_num(g, t), p), n_num(g, t[0] * a[0][i] + t[1] * a[1][i]));
    }
    judge_sides(g, c, s, edge, normals, along, length, good, least);
    for (int i = 0; i < n; ++i) {
        const carom_node key = n_sub(g, out[i], n_mul(g, far, n_not(g, good[i])));
        const carom_node better = i ? n_less(g, deepest, key) : one;
        number = n_if(g, better, n_num(g, i), number);
        deepest = i ? n_if(g, better, key, deepest) : key;
    }
    for (int i = 0; i < n; ++i) {
        const int k = (i + n - 1) % n;
        const carom_node start = n_fun(g, CAROM_OP_NEG, least[k]), end = n_add(g, n_num(g, length[i]), least[(i + 1) % n]);
        const carom_node beside = n_and(g, n_op(g, CAROM_OP_LE, start, along[i]), n_op(g, CAROM_OP_LE, along[i], end));
        number = n_if(g, n_and(g, n_less(g, least[i], out[i]), beside), n_num(g, i), number);
        const carom_node outside = n_or(g, n_less(g, least[i], out[i]), n_less(g, least[k], out[k]));
        const carom_node beyond = n_less(g, n_add(g, n_num(g, length[k]), least[i]), along[k]);
        number = n_if(g, n_and(g, outside, n_and(g, beyond, n_less(g, along[i], start))), n_num(g, n + i), number);
    }
    const carom_node face = n_less(g, number, count), which = n_if(g, face, number, n_sub(g, number, count));
    for (int i = 1; i < n; ++i) is[i] = n_op(g, CAROM_OP_EQ, which, n_num(g, i));
    const vec normal = {{look_up(g, is, m[0], n), look_up(g, is, m[1], n), zero}};
    const ray d = ray_of(g, v_sub(g, p, (vec){{look_up(g, is, a[0], n), look_up(g, is, a[1], n), zero}}), s->bound_radius);
    carom_node touches = good[0];
    for (int i = 1; i < n; ++i) touches = n_if(g, is[i], good[i], touches);
    if (c->nedges > 0) touches = n_if(g, face, touches, touches_point(g, edge, c->nedges, d.unit));
    const carom_node slack = n_if(g, touches, zero, n_num(g, SLACK * s->bound_radius));
    const carom_node distance = n_if(g, face, n_sub(g, v_dot(g, normal, p), look_up(g, is, offset, n)), d.length);
    return made(g, c, n_add(g, distance, slack), v_turn(g, b->R, v_if(g, face, normal, d.unit)));
}

// -- boxes and cylinders in space ----------------------------------------------------------------------------------------

// Edges of a corner in the own axes of s.
static void own_edges(carom_graph *g, const corner *c, const shape *s, vec *edge) {
    carom_node X[9];
    for (int i = 0; i < 9; ++i) X[i] = n_num(g, s->X[i]);
    for (int k = 0; k < c->nedges; ++k) edge[k] = v_back(g, X, v_back(g, s->body->R, c->edge[k]));
}

// (SHP-21) for one edge with d = -e.n: within: does the place d R e along the edge lie over the face?
static carom_node touches_along(carom_graph *g, carom_node d, carom_node within) {
    const carom_node some = n_and(g, within, n_op(g, CAROM_OP_LE, d, n_num(g, -AWAY)));
    return n_or(g, n_op(g, CAROM_OP_LE, d, n_num(g, ROUND)), some);
}

static carom_node between(carom_graph *g, carom_node x, carom_node half) { return n_op(g, CAROM_OP_LE, n_abs(g, x), half); }

// The face of a box on this side of axis i: does the corner at p touch it?  *least: the least e.n of its edges.
static carom_node touches_box(carom_graph *g, const shape *s, const vec *edge, int n, vec p, int i, carom_node side,
                              carom_node *least) {
    const carom_node size = carom_shape_bound_radius(g, s);
    carom_node good = n_num(g, 1);
    for (int k = 0; k < n; ++k) {
        const carom_node out = n_mul(g, side, edge[k].c[i]), d = n_fun(g, CAROM_OP_NEG, out), way = n_mul(g, d, size);
        carom_node within = n_num(g, 1);
        for (int j = (i + 1) % 3; j != i; j = (j + 1) % 3)
            within = n_and(g, within, between(g, n_add(g, p.c[j], n_mul(g, way, edge[k].c[j])), carom_shape_half(g, s, j)));
        good = n_and(g, good, touches_along(g, d, within));
        *least = k ? n_op(g, CAROM_OP_MIN, *least, out) : out;
    }
    return good;
}

static carom_node is_flat(carom_graph *g, carom_node least) { return n_less(g, n_abs(g, least), n_num(g, FLAT)); }

// The same with three pairs of faces: outside of one pair only or inside: a face, else the nearest point of an edge or corner.
static touching box_surface(carom_graph *g, const corner *c, const shape *s) {
    const vec p = own(g, s, c->at);
    const carom_node zero = n_num(g, 0), one = n_num(g, 1), bound_radius = carom_shape_bound_radius(g, s);
    const carom_node tiny = n_mul(g, n_num(g, TINY), bound_radius), far = n_mul(g, n_num(g, 8), bound_radius);
    const bool sharp = c->nedges > 0;
    carom_node beyond = zero, best = CAROM_NONE, offset = CAROM_NONE, touches = one, side[3], good[3], flat[3];
    vec normal = {{zero, zero, zero}}, to_edge = normal, edge[3];
    own_edges(g, c, s, edge);
    for (int i = 0; i < 3; ++i) {
        carom_node least = zero;
        side[i] = n_if(g, n_less(g, p.c[i], zero), n_num(g, -1), one);
        good[i] = touches_box(g, s, edge, c->nedges, p, i, side[i], &least);
        flat[i] = sharp ? is_flat(g, least) : zero;
    }
    for (int i = 0; i < 3; ++i) {
        const carom_node l = carom_shape_half(g, s, i), beside_flat = n_or(g, flat[(i + 1) % 3], flat[(i + 2) % 3]);
        vec face = {{zero, zero, zero}};
        face.c[i] = side[i];
        const carom_node least = outside_from(g, n_or(g, good[i], n_not(g, beside_flat)), s, bound_radius);
        const carom_node out = n_sub(g, n_mul(g, side[i], p.c[i]), l), over = n_less(g, least, out);
        const carom_node key = n_sub(g, out, n_mul(g, far, n_not(g, n_or(g, over, good[i]))));
        const carom_node better = i ? n_less(g, best, key) : one;
        normal = i ? v_if(g, better, face, normal) : face;
        offset = i ? n_if(g, better, l, offset) : l;
        best = i ? n_if(g, better, key, best) : key;
        touches = i ? n_if(g, better, good[i], touches) : good[i];
        beyond = n_add(g, beyond, over);
        to_edge.c[i] = n_if(g, over, n_sub(g, p.c[i], n_mul(g, side[i], l)), zero);
    }
    const carom_node face = n_less(g, beyond, n_num(g, 1.5));
    const ray d = ray_beyond(g, to_edge, n_mul(g, tiny, tiny));
    if (sharp) touches = n_if(g, face, touches, touches_point(g, edge, c->nedges, d.unit));
    const carom_node slack = n_if(g, touches, zero, n_mul(g, n_num(g, SLACK), bound_radius));
    const carom_node distance = n_if(g, face, n_sub(g, v_dot(g, normal, p), offset), d.length);
    return made(g, c, n_add(g, distance, slack), own_to_world(g, s, v_if(g, face, normal, d.unit)));
}

// The end of a cylinder on this side, or its side: does the corner at p touch it?  *least: the least e.n of its edges.
static carom_node touches_cylinder(carom_graph *g, const shape *s, const vec *edge, int n, vec p, vec normal, bool end,
                                   carom_node *least) {
    const carom_node size = n_num(g, s->bound_radius);
    carom_node good = n_num(g, 1);
    for (int k = 0; k < n; ++k) {
        const carom_node out = v_dot(g, edge[k], normal), d = n_fun(g, CAROM_OP_NEG, out);
        const vec ahead = v_add(g, p, v_scale(g, edge[k], n_mul(g, d, size)));
        const carom_node rho2 = n_add(g, n_mul(g, ahead.c[0], ahead.c[0]), n_mul(g, ahead.c[1], ahead.c[1]));
        const carom_node within = end ? n_op(g, CAROM_OP_LE, rho2, n_num(g, s->radius * s->radius))
                                      : between(g, ahead.c[2], n_num(g, s->half[0]));
        good = n_and(g, good, touches_along(g, d, within));
        *least = k ? n_op(g, CAROM_OP_MIN, *least, out) : out;
    }
    return good;
}

// (SHP-7)  with the distance rho from the axis and z along it:  side rho - R, end |z| - l/2, rim sqrt of both squares
static touching cylinder_surface(carom_graph *g, const corner *c, const shape *s) {
    const vec p = own(g, s, c->at);
    const carom_node zero = n_num(g, 0), one = n_num(g, 1), size = n_num(g, s->bound_radius), far = n_num(g, 8 * s->bound_radius);
    const ray rho = ray_of(g, (vec){{p.c[0], p.c[1], zero}}, s->radius);
    const carom_node z = n_if(g, n_less(g, p.c[2], zero), n_num(g, -1), one);
    const carom_node out[2] = {n_sub(g, n_mul(g, z, p.c[2]), n_num(g, s->half[0])), n_sub(g, rho.length, n_num(g, s->radius))};
    const vec normal[2] = {{{zero, zero, z}}, rho.unit};
    const ray rim = ray_of(g, v_add(g, v_scale(g, rho.unit, out[1]), (vec){{zero, zero, n_mul(g, z, out[0])}}), s->bound_radius);
    const bool sharp = c->nedges > 0;
    carom_node good[2], flat[2], over[2], key[2];
    vec edge[3];
    own_edges(g, c, s, edge);
    for (int i = 0; i < 2; ++i) { // end, side
        carom_node least = zero;
        good[i] = touches_cylinder(g, s, edge, c->nedges, p, normal[i], i == 0, &least);
        flat[i] = sharp ? is_flat(g, least) : zero;
    }
    for (int i = 0; i < 2; ++i) {
        over[i] = n_less(g, outside_from(g, n_or(g, good[i], n_not(g, flat[1 - i])), s, size), out[i]);
        key[i] = n_sub(g, out[i], n_mul(g, far, n_not(g, n_or(g, over[i], good[i]))));
    }
    const carom_node at_rim = n_and(g, over[0], over[1]), at_side = n_less(g, key[0], key[1]);
    const carom_node on_rim = sharp ? touches_point(g, edge, c->nedges, rim.unit) : one;
    const carom_node touches = n_if(g, at_rim, on_rim, n_if(g, at_side, good[1], good[0]));
    const carom_node slack = n_if(g, touches, zero, n_num(g, SLACK * s->bound_radius));
    const carom_node distance = n_if(g, at_rim, rim.length, n_if(g, at_side, out[1], out[0]));
    const vec unit = v_if(g, at_rim, rim.unit, v_if(g, at_side, normal[1], normal[0]));
    return made(g, c, n_add(g, distance, slack), own_to_world(g, s, unit));
}

touching carom_surface(carom_graph *g, const corner *c, const shape *s) {
    switch (s->kind) {
    case SHAPE_POINT: case SHAPE_ROUND: return round_surface(g, c, s);
    case SHAPE_CAPSULE: return capsule_surface(g, c, s);
    case SHAPE_POLYGON: return polygon_surface(g, c, s);
    case SHAPE_BOX: return s->space == PLANAR ? polygon_surface(g, c, s) : box_surface(g, c, s);
    case SHAPE_CYLINDER: return cylinder_surface(g, c, s);
    case SHAPE_ELEMENT: return element_surface(g, c, s);
    case SHAPE_PLANE: return plane_surface(g, c, s);
    case SHAPE_HULL: case SHAPE_HEIGHTS: case SHAPE_ELLIPSOID: // patches.c
    case SHAPE_HOLE: case SHAPE_SLOT: case SHAPE_BORE: case SHAPE_SKIN: break;
    }
    return inside_surface(g, c, s);
}

// (SHP-8)  the lowest point of a rim over a plane:  g = n.(c - p) - R |m|,  m = n - (n.a) a;  flat on the plane it is the centre
touching carom_rim(carom_graph *g, const shape *s, int end, const shape *plane) {
    const vec n = carom_shape_vector(g, plane, (double[]){1, 0, 0}), a = carom_shape_vector(g, s, (double[]){0, 0, 1});
    double x[3] = {0, 0, end ? s->half[0] : -s->half[0]}, y[3];
    in_body(s, x, y);
    for (int k = 0; k < 3; ++k) y[k] += s->at[k];
    const vec centre = carom_shape_point(g, s, y);
    const ray m = ray_of(g, v_sub(g, n, v_scale(g, a, v_dot(g, n, a))), 1);
    const carom_node height = v_dot(g, n, v_sub(g, centre, carom_shape_point(g, plane, plane->at)));
    return (touching){n_sub(g, height, n_mul(g, n_num(g, s->radius), m.length)), n, v_sub(g, centre, v_scale(g, m.unit, n_num(g, s->radius)))};
}

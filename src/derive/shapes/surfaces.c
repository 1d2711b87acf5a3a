// surfaces.c: how far a rounded corner is from the surface of a shape: gap, normal, place.
//
// Which feature of the surface is nearest is decided by `if` over numbers that are constant in the frame of the body
// (normals, corners), so that derivatives see one feature at a time and stay short.  A corner of an edged shape that is
// inside is pushed out through a face from which its own edges lead away (SHP-6): else a corner that slides along a row
// of equal boxes would hang on their sides.  A corner touches a feature only if its edges lead away from it (SHP-21).
#include "base/tolerance.h"
#include "derive/shapes/shapes.h"
#include <math.h>

static const double TINY = 1e-12;  // distances below TINY times the size have no direction
static const double AWAY = 0.5;    // sine: edges that lead through a face by more do not lie in it, whatever the drift
static const double ROUND = 1e-12; // edges with less than this along a normal lie in the face
static const double SLACK = 1e-3;  // times the size: where a corner does not touch the feature nearest to it
static const double PARALLEL = 1e-6; // square of the sine: lines that do not cross, but lie along each other

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
    if (s->kind == SHAPE_CAPSULE) { // its end touches only what the middle line does not lead towards
        double e[3] = {0};
        e[s->axis] = i ? -1 : 1;
        x[s->axis] = -e[s->axis] * s->half[0];
        c.edge[c.nedges++] = carom_shape_vector(g, s, e);
    }
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

static vec middle_line(carom_graph *g, const shape *s) {
    double e[3] = {0};
    e[s->axis] = 1;
    return carom_shape_vector(g, s, e);
}

// From the nearest point of the middle line, which ends at +- half (`ends`) or never.
static ray from_line(carom_graph *g, const corner *c, const shape *s, bool ends) {
    const vec a = middle_line(g, s), d = v_sub(g, c->at, carom_shape_point(g, s, s->at));
    const carom_node l = n_num(g, s->half[0]), minus = n_num(g, -s->half[0]);
    carom_node x = v_dot(g, a, d);
    if (ends) x = n_if(g, n_less(g, l, x), l, n_if(g, n_less(g, x, minus), minus, x));
    return ray_of(g, v_sub(g, d, v_scale(g, a, x)), c->radius + s->radius);
}

// (SHP-33)  e.d >= 0 or |e x f|^2 <= 1e-6: what leads along e ends here, d from a line f to the end; lines that lie
//           along each other touch at all ends
static carom_node touches_line(carom_graph *g, const corner *c, vec d, vec f) {
    carom_node good = n_num(g, 1);
    for (int k = 0; k < c->nedges; ++k) {
        const vec cross = v_cross(g, c->edge[k], f);
        good = n_and(g, good,
                     n_or(g, n_op(g, CAROM_OP_LE, n_num(g, -ROUND), v_dot(g, c->edge[k], d)),
                          n_op(g, CAROM_OP_LE, v_dot(g, cross, cross), n_num(g, PARALLEL))));
    }
    return good;
}

// (SHP-3)  g = |c - l| - r - r_B,  l the nearest point of the capsule's middle line
static touching capsule_surface(carom_graph *g, const corner *c, const shape *s) {
    const ray d = from_line(g, c, s, true);
    const carom_node touches = touches_line(g, c, d.unit, middle_line(g, s)),
                     slack = n_if(g, touches, n_num(g, 0), n_num(g, SLACK * s->bound_radius));
    return made(g, c, n_add(g, n_sub(g, d.length, n_num(g, s->radius)), slack), d.unit);
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

// (SHP-22)  c' = c + beta sum e,  beta = 1e-12 R + 16 eps |r|: the nearest feature is decided at a place just inside
//           the corner's own shape.  Boxes stacked exactly in line have corners on the corners of the other box, and
//           which face these are beyond is rounding.
static vec just_inside(carom_graph *g, const shape *s, vec p, const vec *edge, int n, carom_node size) {
    carom_node beta = n_mul(g, n_num(g, ROUND), size);
    for (int i = 0; i < 3; ++i) beta = n_add(g, beta, n_mul(g, n_num(g, CAROM_ROUNDING_SUM), n_abs(g, s->body->r[i])));
    vec sum = edge[0];
    for (int k = 1; k < n; ++k) sum = v_add(g, sum, edge[k]);
    return n > 0 ? v_add(g, p, v_scale(g, sum, beta)) : p;
}

// The least of e.n over the edges e of a corner, and whether that edge leads along t.
typedef struct lead { carom_node out, along; } lead;

static lead leads(carom_graph *g, const vec *edge, int n, vec normal, vec tangent) {
    const carom_node zero = n_num(g, 0);
    lead l = {v_dot(g, edge[0], normal), n_less(g, zero, v_dot(g, edge[0], tangent))};
    for (int k = 1; k < n; ++k) {
        const carom_node out = v_dot(g, edge[k], normal), along = n_less(g, zero, v_dot(g, edge[k], tangent));
        l = (lead){n_op(g, CAROM_OP_MIN, l.out, out), n_if(g, n_less(g, out, l.out), along, l.along)};
    }
    return l;
}

// 1 when no edge leads against the unit vector d, from a corner or edge of the other shape to the corner.
static carom_node touches_point(carom_graph *g, const vec *edge, int n, vec d) {
    carom_node least = v_dot(g, edge[0], d);
    for (int k = 1; k < n; ++k) least = n_op(g, CAROM_OP_MIN, least, v_dot(g, edge[k], d));
    return n_op(g, CAROM_OP_LE, n_num(g, -ROUND), least);
}

// What the chosen feature has, where they have of[].
static carom_node choose(carom_graph *g, const carom_node *is, const carom_node *of, int n) {
    carom_node x = of[0];
    for (int i = 1; i < n; ++i) x = n_if(g, is[i], of[i], x);
    return x;
}

// (SHP-5)  outside: the distance from the nearest side or corner
// (SHP-6)  inside: n_f.(c - a_f) of the side f with the largest n_f.(c - a_f) + 4 R min(0, e.n_f)
// Features have numbers: side i, n + corner i.  One is chosen, then its values are looked up: that is less to evaluate
// than choosing all of them each time.
// (SHP-21)  -e.n <= s/(4 R): a corner touches the chosen side, with its edge e of the least e.n and the way s to the
//           end of the side to which e leads.  It touches a chosen corner if no edge leads against the direction from
//           that.
// Else another corner is nearer, and the gap has some slack: without it the corner would meet, where corners pass each
// other, a side that it only comes near to.
static touching polygon_surface(carom_graph *g, const corner *c, const shape *s) {
    const int n = s->ncorners;
    const body *b = s->body;
    const double size = s->bound_radius;
    const bool sharp = c->nedges > 0;
    const vec p = v_back(g, b->R, v_sub(g, c->at, (vec){{b->r[0], b->r[1], b->r[2]}}));
    const carom_node zero = n_num(g, 0), one = n_num(g, 1), count = n_num(g, n);
    carom_node number = zero, deepest = CAROM_NONE, along[MOST_CORNERS], out[MOST_CORNERS], is[MOST_CORNERS];
    carom_node least[MOST_CORNERS], forward[MOST_CORNERS];
    double m[2][MOST_CORNERS], a[2][MOST_CORNERS], length[MOST_CORNERS], offset[MOST_CORNERS];
    vec edge[3] = {{{zero, zero, zero}}};
    for (int k = 0; k < c->nedges; ++k) edge[k] = v_back(g, b->R, c->edge[k]);
    const vec inside = just_inside(g, s, p, edge, c->nedges, n_num(g, size));
    for (int i = 0; i < n; ++i) {
        const double *e = s->corner[(i + 1) % n];
        for (int k = 0; k < 2; ++k) a[k][i] = s->corner[i][k];
        length[i] = hypot(e[0] - a[0][i], e[1] - a[1][i]);
        const double t[3] = {(e[0] - a[0][i]) / length[i], (e[1] - a[1][i]) / length[i], 0};
        m[0][i] = t[1], m[1][i] = -t[0];
        offset[i] = m[0][i] * a[0][i] + m[1][i] * a[1][i];
        const vec normal = v_num(g, (double[]){m[0][i], m[1][i], 0}), tangent = v_num(g, t);
        const lead l = sharp ? leads(g, edge, c->nedges, normal, tangent) : (lead){zero, one};
        least[i] = l.out, forward[i] = l.along;
        out[i] = n_sub(g, v_dot(g, normal, inside), n_num(g, offset[i]));
        along[i] = n_sub(g, v_dot(g, tangent, inside), n_num(g, t[0] * a[0][i] + t[1] * a[1][i]));
        const carom_node key = n_add(g, out[i], n_mul(g, n_num(g, 4 * size), n_op(g, CAROM_OP_MIN, zero, least[i])));
        const carom_node better = i ? n_less(g, deepest, key) : one;
        number = n_if(g, better, n_num(g, i), number);
        deepest = i ? n_if(g, better, key, deepest) : key;
    }
    for (int i = 0; i < n; ++i) {
        const int k = (i + n - 1) % n;
        const carom_node over = n_less(g, zero, out[i]), starts = n_op(g, CAROM_OP_LE, zero, along[i]);
        const carom_node beside = n_and(g, starts, n_op(g, CAROM_OP_LE, along[i], n_num(g, length[i])));
        number = n_if(g, n_and(g, over, beside), n_num(g, i), number);
        const carom_node beyond = n_and(g, n_less(g, n_num(g, length[k]), along[k]), n_less(g, along[i], zero));
        number = n_if(g, n_and(g, n_or(g, over, n_less(g, zero, out[k])), beyond), n_num(g, n + i), number);
    }
    const carom_node face = n_less(g, number, count), which = n_if(g, face, number, n_sub(g, number, count));
    for (int i = 1; i < n; ++i) is[i] = n_op(g, CAROM_OP_EQ, which, n_num(g, i));
    const vec normal = {{look_up(g, is, m[0], n), look_up(g, is, m[1], n), zero}};
    const ray d = ray_of(g, v_sub(g, p, (vec){{look_up(g, is, a[0], n), look_up(g, is, a[1], n), zero}}), size);
    carom_node distance = n_if(g, face, n_sub(g, v_dot(g, normal, p), look_up(g, is, offset, n)), d.length);
    if (sharp) {
        const carom_node x = choose(g, is, along, n), left = n_sub(g, look_up(g, is, length, n), x);
        const carom_node way = n_if(g, choose(g, is, forward, n), left, x);
        const carom_node most = n_op(g, CAROM_OP_MAX, way, n_num(g, 4 * ROUND * size));
        const carom_node on_side = n_op(g, CAROM_OP_LE, n_mul(g, n_num(g, -4 * size), choose(g, is, least, n)), most);
        const carom_node touches = n_if(g, face, on_side, touches_point(g, edge, c->nedges, d.unit));
        distance = n_if(g, touches, distance, n_add(g, distance, n_num(g, SLACK * size)));
    }
    return made(g, c, distance, v_turn(g, b->R, v_if(g, face, normal, d.unit)));
}

// -- boxes and cylinders in space -------------------------------------------------------------------------------------

// Edges of a corner in the own axes of s.
static void own_edges(carom_graph *g, const corner *c, const shape *s, vec *edge) {
    carom_node X[9];
    for (int i = 0; i < 9; ++i) X[i] = n_num(g, s->X[i]);
    for (int k = 0; k < c->nedges; ++k) edge[k] = v_back(g, X, v_back(g, s->body->R, c->edge[k]));
}

// (SHP-21) for one edge with d = -e.n: within: does the place d R e along the edge lie over the face?
static carom_node touches_along(carom_graph *g, carom_node d, carom_node within) {
    const carom_node some = n_and(g, within, n_op(g, CAROM_OP_LE, d, n_num(g, AWAY)));
    return n_or(g, n_op(g, CAROM_OP_LE, d, n_num(g, ROUND)), some);
}

static carom_node between(carom_graph *g, carom_node x, carom_node half) {
    return n_op(g, CAROM_OP_LE, n_abs(g, x), half);
}

// The face of a box on this side of axis i: does the corner at p touch it?
static carom_node touches_box(carom_graph *g, const shape *s, const vec *edge, int n, vec p, int i, carom_node side) {
    const carom_node size = carom_shape_bound_radius(g, s);
    carom_node good = n_num(g, 1);
    for (int k = 0; k < n; ++k) {
        const carom_node d = n_fun(g, CAROM_OP_NEG, n_mul(g, side, edge[k].c[i])), way = n_mul(g, d, size);
        carom_node within = n_num(g, 1);
        for (int j = (i + 1) % 3; j != i; j = (j + 1) % 3) {
            const carom_node ahead = n_add(g, p.c[j], n_mul(g, way, edge[k].c[j]));
            within = n_and(g, within, between(g, ahead, carom_shape_half(g, s, j)));
        }
        good = n_and(g, good, touches_along(g, d, within));
    }
    return good;
}

// An edge or corner of a box: does the corner, in direction d from there, touch it?  (SHP-33) for the end of a line; of
// the way to the corner the component along the edge is zero.
static carom_node touches_edge(carom_graph *g, const corner *c, const vec *edge, vec d, vec way) {
    const carom_node touches = touches_point(g, edge, c->nedges, d), zero = n_num(g, 0);
    carom_node along = n_num(g, 0);
    if (c->nedges != 1) return touches;
    for (int i = 0; i < 3; ++i) {
        const carom_node square = n_mul(g, edge[0].c[i], edge[0].c[i]);
        const carom_node lies = n_op(g, CAROM_OP_LE, n_num(g, 1 - PARALLEL), square);
        along = n_or(g, along, n_and(g, n_op(g, CAROM_OP_EQ, way.c[i], zero), lies));
    }
    return n_or(g, touches, along);
}

// The same with three pairs of faces: outside of one pair only or inside: a face, else the nearest point of an edge or
// corner.
static touching box_surface(carom_graph *g, const corner *c, const shape *s) {
    const vec p = own(g, s, c->at);
    const carom_node zero = n_num(g, 0), one = n_num(g, 1), bound_radius = carom_shape_bound_radius(g, s);
    const carom_node tiny = n_mul(g, n_num(g, TINY), bound_radius), far = n_mul(g, n_num(g, 8), bound_radius);
    const bool sharp = c->nedges > 0;
    carom_node beyond = zero, best = CAROM_NONE, offset = CAROM_NONE, touches = one;
    vec normal = {{zero, zero, zero}}, to_edge = normal, edge[3] = {normal};
    own_edges(g, c, s, edge);
    const vec inside = just_inside(g, s, p, edge, c->nedges, bound_radius);
    for (int i = 0; i < 3; ++i) {
        const carom_node l = carom_shape_half(g, s, i), side = n_if(g, n_less(g, p.c[i], zero), n_num(g, -1), one);
        const carom_node good = touches_box(g, s, edge, c->nedges, inside, i, side);
        vec face = {{zero, zero, zero}};
        face.c[i] = side;
        const carom_node out = n_sub(g, n_mul(g, side, inside.c[i]), l), over = n_less(g, zero, out);
        const carom_node key = n_sub(g, out, n_mul(g, far, n_not(g, n_or(g, over, good))));
        const carom_node better = i ? n_less(g, best, key) : one;
        normal = i ? v_if(g, better, face, normal) : face;
        offset = i ? n_if(g, better, l, offset) : l;
        best = i ? n_if(g, better, key, best) : key;
        touches = i ? n_if(g, better, good, touches) : good;
        beyond = n_add(g, beyond, over);
        to_edge.c[i] = n_if(g, over, n_sub(g, p.c[i], n_mul(g, side, l)), zero);
    }
    const carom_node face = n_less(g, beyond, n_num(g, 1.5)); // a count: 0 or 1
    const ray d = ray_beyond(g, to_edge, n_mul(g, tiny, tiny));
    if (sharp) touches = n_if(g, face, touches, touches_edge(g, c, edge, d.unit, to_edge));
    const carom_node slack = n_if(g, touches, zero, n_mul(g, n_num(g, SLACK), bound_radius));
    const carom_node distance = n_if(g, face, n_sub(g, v_dot(g, normal, p), offset), d.length);
    return made(g, c, n_add(g, distance, slack), own_to_world(g, s, v_if(g, face, normal, d.unit)));
}

// The end of a cylinder on this side, or its side: does the corner at p touch it?
static carom_node touches_cylinder(carom_graph *g, const shape *s, const vec *edge, int n, vec p, vec normal,
                                   bool end) {
    const carom_node size = n_num(g, s->bound_radius);
    carom_node good = n_num(g, 1);
    for (int k = 0; k < n; ++k) {
        const carom_node d = n_fun(g, CAROM_OP_NEG, v_dot(g, edge[k], normal));
        const vec ahead = v_add(g, p, v_scale(g, edge[k], n_mul(g, d, size)));
        const carom_node rho2 = n_add(g, n_mul(g, ahead.c[0], ahead.c[0]), n_mul(g, ahead.c[1], ahead.c[1]));
        const carom_node within = end ? n_op(g, CAROM_OP_LE, rho2, n_num(g, s->radius * s->radius))
                                      : between(g, ahead.c[2], n_num(g, s->half[0]));
        good = n_and(g, good, touches_along(g, d, within));
    }
    return good;
}

// (SHP-7)  with the distance rho from the axis and z along it:  side rho - R, end |z| - l/2, rim sqrt of both squares
static touching cylinder_surface(carom_graph *g, const corner *c, const shape *s) {
    const vec p = own(g, s, c->at);
    const carom_node zero = n_num(g, 0), one = n_num(g, 1), far = n_num(g, 8 * s->bound_radius);
    const bool sharp = c->nedges > 0;
    vec edge[3] = {{{zero, zero, zero}}};
    own_edges(g, c, s, edge);
    const vec inside = just_inside(g, s, p, edge, c->nedges, n_num(g, s->bound_radius));
    const ray rho = ray_of(g, (vec){{p.c[0], p.c[1], zero}}, s->radius);
    const ray near = ray_of(g, (vec){{inside.c[0], inside.c[1], zero}}, s->radius);
    const carom_node z = n_if(g, n_less(g, p.c[2], zero), n_num(g, -1), one);
    const carom_node half = n_num(g, s->half[0]), R = n_num(g, s->radius);
    const carom_node out[2] = {n_sub(g, n_mul(g, z, p.c[2]), half), n_sub(g, rho.length, R)};
    const carom_node beyond[2] = {n_sub(g, n_mul(g, z, inside.c[2]), half), n_sub(g, near.length, R)};
    const vec normal[2] = {{{zero, zero, z}}, rho.unit};
    const vec from_rim = v_add(g, v_scale(g, rho.unit, out[1]), (vec){{zero, zero, n_mul(g, z, out[0])}});
    const ray rim = ray_of(g, from_rim, s->bound_radius);
    carom_node good[2], over[2], key[2];
    for (int i = 0; i < 2; ++i) { // end, side
        good[i] = touches_cylinder(g, s, edge, c->nedges, inside, normal[i], i == 0);
        over[i] = n_less(g, zero, beyond[i]);
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
    case SHAPE_LINE: case SHAPE_ARC: case SHAPE_HOLLOW:        // pieces.c
    case SHAPE_HOLE: case SHAPE_SLOT: case SHAPE_BORE: case SHAPE_SKIN: break;
    }
    return inside_surface(g, c, s);
}

// (SHP-8)  the lowest point of a rim over a plane:  g = n.(c - p) - R |m|,  m = n - (n.a) a;  flat on the plane it is
//          the centre
touching carom_rim(carom_graph *g, const shape *s, int end, const shape *plane) {
    const vec n = carom_shape_vector(g, plane, (double[]){1, 0, 0}), a = carom_shape_vector(g, s, (double[]){0, 0, 1});
    double x[3] = {0, 0, end ? s->half[0] : -s->half[0]}, y[3];
    in_body(s, x, y);
    for (int k = 0; k < 3; ++k) y[k] += s->at[k];
    const vec centre = carom_shape_point(g, s, y);
    const ray m = ray_of(g, v_sub(g, n, v_scale(g, a, v_dot(g, n, a))), 1);
    const carom_node height = v_dot(g, n, v_sub(g, centre, carom_shape_point(g, plane, plane->at)));
    return (touching){n_sub(g, height, n_mul(g, n_num(g, s->radius), m.length)), n,
                      v_sub(g, centre, v_scale(g, m.unit, n_num(g, s->radius)))};
}

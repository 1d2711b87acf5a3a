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
static const double BAND = 1e-9;   // times the size: so far beyond a face that its edges lead through a corner is not outside yet

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

// 1 when all edges of the corner lead away from the face with this normal (in the world).
static carom_node leads_away(carom_graph *g, const corner *c, vec normal) {
    carom_node good = n_num(g, 1);
    for (int k = 0; k < c->nedges; ++k) good = n_and(g, good, n_less(g, n_num(g, AWAY), v_dot(g, c->edge[k], normal)));
    return good;
}

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

// (SHP-5)  outside: the distance from the nearest side or corner;  inside: the largest n_f.(c - a_f) over faces f (SHP-6)
// Features have numbers: side i, n + corner i.  One is chosen, then what it has is looked up: that is less to evaluate than choosing all of it each time.
static touching polygon_surface(carom_graph *g, const corner *c, const shape *s) {
    const int n = s->ncorners;
    const body *b = s->body;
    const vec p = v_back(g, b->R, v_sub(g, c->at, (vec){{b->r[0], b->r[1], b->r[2]}}));
    const carom_node zero = n_num(g, 0), count = n_num(g, n), far = n_num(g, 8 * s->bound_radius);
    carom_node number = zero, deepest = CAROM_NONE, along[MOST_CORNERS], out[MOST_CORNERS], least[MOST_CORNERS], is[MOST_CORNERS];
    double m[2][MOST_CORNERS], a[2][MOST_CORNERS], length[MOST_CORNERS], offset[MOST_CORNERS];
    for (int i = 0; i < n; ++i) {
        const double *e = s->corner[(i + 1) % n];
        for (int k = 0; k < 2; ++k) a[k][i] = s->corner[i][k];
        length[i] = hypot(e[0] - a[0][i], e[1] - a[1][i]);
        const double t[3] = {(e[0] - a[0][i]) / length[i], (e[1] - a[1][i]) / length[i], 0};
        m[0][i] = t[1], m[1][i] = -t[0];
        offset[i] = m[0][i] * a[0][i] + m[1][i] * a[1][i];
        const vec normal = v_num(g, (double[]){m[0][i], m[1][i], 0});
        out[i] = n_sub(g, v_dot(g, normal, p), n_num(g, offset[i]));
        along[i] = n_sub(g, v_dot(g, v_num(g, t), p), n_num(g, t[0] * a[0][i] + t[1] * a[1][i]));
        const carom_node good = leads_away(g, c, v_turn(g, b->R, normal));
        least[i] = outside_from(g, good, s, n_num(g, s->bound_radius));
        const carom_node key = n_sub(g, out[i], n_mul(g, far, n_not(g, good)));
        const carom_node better = i ? n_less(g, deepest, key) : n_num(g, 1);
        number = n_if(g, better, n_num(g, i), number);
        deepest = i ? n_if(g, better, key, deepest) : key;
    }
    for (int i = 0; i < n; ++i) {
        const int k = (i + n - 1) % n;
        const carom_node start = n_fun(g, CAROM_OP_NEG, least[k]), end = n_add(g, n_num(g, length[i]), least[(i + 1) % n]);
        const carom_node beside = n_and(g, n_op(g, CAROM_OP_LE, start, along[i]), n_op(g, CAROM_OP_LE, along[i], end));
        number = n_if(g, n_and(g, n_less(g, least[i], out[i]), beside), n_num(g, i), number);
        const carom_node outside = n_or(g, n_less(g, least[i], out[i]), n_less(g, least[k], out[k]));
        const carom_node between = n_and(g, n_less(g, n_add(g, n_num(g, length[k]), least[i]), along[k]), n_less(g, along[i], start));
        number = n_if(g, n_and(g, outside, between), n_num(g, n + i), number);
    }
    const carom_node face = n_less(g, number, count), which = n_if(g, face, number, n_sub(g, number, count));
    for (int i = 1; i < n; ++i) is[i] = n_op(g, CAROM_OP_EQ, which, n_num(g, i));
    const vec normal = {{look_up(g, is, m[0], n), look_up(g, is, m[1], n), zero}}, at = {{look_up(g, is, a[0], n), look_up(g, is, a[1], n), zero}};
    const ray d = ray_of(g, v_sub(g, p, at), s->bound_radius);
    const carom_node distance = n_if(g, face, n_sub(g, v_dot(g, normal, p), look_up(g, is, offset, n)), d.length);
    return made(g, c, distance, v_turn(g, b->R, v_if(g, face, normal, d.unit)));
}

// -- boxes and cylinders in space ----------------------------------------------------------------------------------------

// The same with three pairs of faces: outside of one pair only or inside: a face, else the nearest point of an edge or corner.
static touching box_surface(carom_graph *g, const corner *c, const shape *s) {
    const vec p = own(g, s, c->at);
    const carom_node zero = n_num(g, 0), one = n_num(g, 1), bound_radius = carom_shape_bound_radius(g, s), far = n_mul(g, n_num(g, 8), bound_radius);
    const carom_node tiny = n_mul(g, n_num(g, TINY), bound_radius);
    carom_node beyond = zero, best = CAROM_NONE, offset = CAROM_NONE;
    vec normal = {{zero, zero, zero}}, to_edge = normal;
    for (int i = 0; i < 3; ++i) {
        const carom_node side = n_if(g, n_less(g, p.c[i], zero), n_num(g, -1), one), l = carom_shape_half(g, s, i);
        vec face = {{zero, zero, zero}};
        face.c[i] = side;
        const carom_node away = leads_away(g, c, own_to_world(g, s, face));
        const carom_node out = n_sub(g, n_mul(g, side, p.c[i]), l), over = n_less(g, outside_from(g, away, s, bound_radius), out);
        const carom_node good = n_or(g, over, away);
        const carom_node key = n_sub(g, out, n_mul(g, far, n_not(g, good)));
        const carom_node better = i ? n_less(g, best, key) : one;
        normal = i ? v_if(g, better, face, normal) : face;
        offset = i ? n_if(g, better, l, offset) : l;
        best = i ? n_if(g, better, key, best) : key;
        beyond = n_add(g, beyond, over);
        to_edge.c[i] = n_if(g, over, n_sub(g, p.c[i], n_mul(g, side, l)), zero);
    }
    const carom_node face = n_less(g, beyond, n_num(g, 1.5));
    const ray d = ray_beyond(g, to_edge, n_mul(g, tiny, tiny));
    const carom_node distance = n_if(g, face, n_sub(g, v_dot(g, normal, p), offset), d.length);
    return made(g, c, distance, own_to_world(g, s, v_if(g, face, normal, d.unit)));
}

// The depth below a face with this normal (own axes), or much more when edges of the corner lead through it (SHP-6).  *over: is it outside?
static carom_node inside_key(carom_graph *g, const corner *c, const shape *s, carom_node depth, vec normal, carom_node *over) {
    const carom_node away = leads_away(g, c, own_to_world(g, s, normal));
    *over = n_less(g, outside_from(g, away, s, n_num(g, s->bound_radius)), depth);
    return n_sub(g, depth, n_mul(g, n_num(g, 8 * s->bound_radius), n_not(g, n_or(g, *over, away))));
}

// (SHP-7)  with the distance rho from the axis and z along it:  side rho - R, end |z| - l/2, rim sqrt of both squares
static touching cylinder_surface(carom_graph *g, const corner *c, const shape *s) {
    const vec p = own(g, s, c->at);
    const carom_node zero = n_num(g, 0), one = n_num(g, 1);
    const ray rho = ray_of(g, (vec){{p.c[0], p.c[1], zero}}, s->radius);
    const carom_node end = n_if(g, n_less(g, p.c[2], zero), n_num(g, -1), one);
    const carom_node side = n_sub(g, rho.length, n_num(g, s->radius)), over = n_sub(g, n_mul(g, end, p.c[2]), n_num(g, s->half[0]));
    const vec across = v_add(g, v_scale(g, rho.unit, side), (vec){{zero, zero, n_mul(g, end, over)}});
    const ray rim = ray_of(g, across, s->bound_radius);
    carom_node above, beside;
    const carom_node end_key = inside_key(g, c, s, over, (vec){{zero, zero, end}}, &above), side_key = inside_key(g, c, s, side, rho.unit, &beside);
    const carom_node at_rim = n_and(g, beside, above), at_side = n_less(g, end_key, side_key);
    const carom_node distance = n_if(g, at_rim, rim.length, n_if(g, at_side, side, over));
    const vec normal = v_if(g, at_rim, rim.unit, v_if(g, at_side, rho.unit, (vec){{zero, zero, end}}));
    return made(g, c, distance, own_to_world(g, s, normal));
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

// rims.c: rims of cylinders against what is finite: faces, middle lines, edges, other rims.
//
// Where a rim is nearest to a line or another rim has no formula; carom_graph_nearest() finds the angle, its
// derivatives are exact.  Against faces and whatever has a thickness, that place is a point on a surface like any
// other.  Sharp against sharp (edges of boxes, rims) has a gap that goes smoothly through zero: the distance along the
// common normal, as long as that normal separates most and both sides allow it; elsewhere the distance of the middles
// of rim and edge, which is never less than that of the shapes, and a little more.
#include "derive/shapes/shapes.h"
#include <math.h>

static const double FLAT = 1e-6;  // a rim tilted by less over a face is flat
static const double CONE = 1e-3;  // by how much a normal may leave the cone of normals of an edge; sine between edges
                                  // that cross
static const double SLACK = 1e-3; // times the size: where edges do not touch
static const double POINT = 1e-12;   // of the size: nearer points have no direction
static const double FOREMOST = 1e-6; // of the size: faces are preferred to edges by so much
static const double PARALLEL = 1e-6; // square of the sine between axes that count as parallel
static const double BESIDE = 1e-12;  // square of the distance from the axis, of the radius: nearer has no direction

typedef struct rim { vec centre, u, v, out; double radius; } rim; // out: away from the cylinder

// side: 1 at the end that z points to, -1 at the other; piecewise constant.
static rim rim_on(carom_graph *g, const shape *s, carom_node side) {
    rim r = {.radius = s->radius,
             .u = carom_shape_vector(g, s, (double[]){1, 0, 0}),
             .v = carom_shape_vector(g, s, (double[]){0, 1, 0})};
    r.out = v_scale(g, carom_shape_vector(g, s, (double[]){0, 0, 1}), side);
    r.centre = v_add(g, carom_shape_point(g, s, s->at), v_scale(g, r.out, n_num(g, s->half[0])));
    return r;
}

static rim rim_of(carom_graph *g, const shape *s, int end) { return rim_on(g, s, n_num(g, end ? 1 : -1)); }

// A place on a rim: itself, away from the axis, along the rim.
typedef struct place { vec at, radial, tangent; } place;

static place place_at(carom_graph *g, const rim *r, carom_node phi) {
    const carom_node c = n_fun(g, CAROM_OP_COS, phi), s = n_fun(g, CAROM_OP_SIN, phi);
    place x = {.radial = v_add(g, v_scale(g, r->u, c), v_scale(g, r->v, s)),
               .tangent = v_sub(g, v_scale(g, r->v, c), v_scale(g, r->u, s))};
    x.at = v_add(g, r->centre, v_scale(g, x.radial, n_num(g, r->radius)));
    return x;
}

// (SHP-15)  the place of a rim that is nearest to a line (point m, direction d), or to a rim (centre m, axis d, radius
//           b)
static place nearest(carom_graph *g, const rim *r, vec m, vec d, double b, int which) {
    const double unit = b > 0 ? b : r->radius, a = r->radius / unit;
    const vec w = v_sub(g, m, r->centre);
    const carom_node scale = n_num(g, 1 / unit), two = n_num(g, 2 * a / unit), turn = n_num(g, a);
    const carom_node p[6] = {n_add(g, n_num(g, a * a), n_mul(g, n_num(g, 1 / (unit * unit)), v_dot(g, w, w))),
                             n_mul(g, two, v_dot(g, w, r->u)),
                             n_mul(g, two, v_dot(g, w, r->v)),
                             n_mul(g, turn, v_dot(g, d, r->u)),
                             n_mul(g, turn, v_dot(g, d, r->v)),
                             n_mul(g, scale, v_dot(g, d, w))};
    return place_at(g, r, carom_graph_nearest(g, b > 0, which, p));
}

// -- places on surfaces -----------------------------------------------------------------------------------------------

// As a corner whose edges lead back to the axis and along the side.
static corner corner_at(carom_graph *g, const rim *r, vec at, vec radial) {
    const carom_node minus = n_num(g, -1);
    return (corner){.at = at, .nedges = 2, .edge = {v_scale(g, radial, minus), v_scale(g, r->out, minus)}};
}

touching carom_rim_to_line(carom_graph *g, const shape *s, int end, int which, const shape *other) {
    const rim r = rim_of(g, s, end);
    const line l = carom_shape_line(g, other);
    const place x = nearest(g, &r, l.middle, l.along, 0, which);
    const corner c = corner_at(g, &r, x.at, x.radial);
    return carom_surface(g, &c, other);
}

// How far a cylinder or box reaches along the unit vector n.
static carom_node support(carom_graph *g, const shape *s, vec n) {
    carom_node sum = n_num(g, 0);
    for (int k = 0; k < 3; ++k) {
        const carom_node along = v_dot(g, n, carom_shape_vector(g, s, (double[]){k == 0, k == 1, k == 2}));
        if (s->kind == SHAPE_BOX) sum = n_add(g, sum, n_mul(g, n_num(g, s->half[k]), n_abs(g, along)));
        if (s->kind == SHAPE_BOX || k < 2) continue;
        const carom_node across = n_fun(g, CAROM_OP_SQRT, n_abs(g, n_sub(g, n_num(g, 1), n_mul(g, along, along))));
        sum = n_add(g, n_mul(g, n_num(g, s->half[0]), n_abs(g, along)), n_mul(g, n_num(g, s->radius), across));
    }
    return sum;
}

static carom_node separation(carom_graph *g, const shape *A, const shape *B, vec way, vec n) {
    return n_sub(g, n_abs(g, v_dot(g, n, way)), n_add(g, support(g, A, n), support(g, B, n)));
}

// The face of s (box, or end of a cylinder) that faces the other shape: of a box the one that separates most.
static vec facing(carom_graph *g, const shape *s, const shape *other) {
    const vec way = v_sub(g, carom_shape_point(g, other, other->at), carom_shape_point(g, s, s->at));
    vec best = {{0}};
    carom_node most = CAROM_NONE;
    for (int k = s->kind == SHAPE_BOX ? 0 : 2; k < 3; ++k) {
        const vec axis = carom_shape_vector(g, s, (double[]){k == 0, k == 1, k == 2}),
                  n = v_scale(g, axis, n_sign(g, v_dot(g, axis, way)));
        const carom_node apart = separation(g, s, other, way, axis),
                         better = most == CAROM_NONE ? n_num(g, 1) : n_less(g, most, apart);
        best = most == CAROM_NONE ? n : v_if(g, better, n, best);
        most = most == CAROM_NONE ? apart : n_if(g, better, apart, most);
    }
    return best;
}

// The lowest point over that face (SHP-8), against the whole surface.
touching carom_rim_to_face(carom_graph *g, const shape *s, int end, const shape *other) {
    const rim r = rim_of(g, s, end);
    const vec n = facing(g, other, s), m = v_sub(g, n, v_scale(g, r.out, v_dot(g, n, r.out)));
    const carom_node square = v_dot(g, m, m), tilted = n_less(g, n_num(g, FLAT * FLAT), square),
                     length = n_fun(g, CAROM_OP_SQRT, square);
    vec radial;
    for (int k = 0; k < 3; ++k)
        radial.c[k] = n_if(g, tilted, n_fun(g, CAROM_OP_NEG, n_div(g, m.c[k], length)), n_num(g, 0));
    const corner c = corner_at(g, &r, v_add(g, r.centre, v_scale(g, radial, n_num(g, r.radius))), radial);
    return carom_surface(g, &c, other);
}

// -- sharp against sharp ----------------------------------------------------------------------------------------------

// Is n (to within CONE) one of the normals away from this place of a rim?
static carom_node rim_allows(carom_graph *g, const rim *r, const place *x, vec n) {
    const carom_node least = n_num(g, -CONE);
    return n_and(g, n_less(g, least, v_dot(g, n, r->out)), n_less(g, least, v_dot(g, n, x->radial)));
}

// (SHP-16)  n = +-t x d/|t x d| away from the rim,  g = n.(y - x),  x on the rim, y on the other edge along d
typedef struct sharp { vec normal; carom_node gap, crosses; } sharp;

static sharp sharp_at(carom_graph *g, const rim *r, const place *x, vec y, vec d) {
    const vec c = v_cross(g, x->tangent, d);
    const carom_node square = v_dot(g, c, c), crosses = n_less(g, n_num(g, CONE * CONE), square);
    const carom_node length =
        n_mul(g, n_sign(g, v_dot(g, c, v_add(g, r->out, x->radial))), n_fun(g, CAROM_OP_SQRT, square));
    sharp s = {.crosses = crosses};
    for (int k = 0; k < 3; ++k) s.normal.c[k] = n_if(g, crosses, n_div(g, c.c[k], length), n_num(g, 0));
    s.gap = v_dot(g, s.normal, v_sub(g, y, x->at));
    return s;
}

// Elsewhere two points that are fixed in the bodies.
static touching sharp_or_apart(carom_graph *g, const sharp *s, carom_node here, const place *x, vec from, vec to,
                               double scale) {
    const vec apart = v_sub(g, to, from);
    const carom_node square = v_dot(g, apart, apart), zero = n_num(g, 0),
                     some = n_less(g, n_num(g, POINT * POINT * scale * scale), square);
    const carom_node root = n_fun(g, CAROM_OP_SQRT, square);
    touching t = {.gap = n_if(g, here, s->gap, n_add(g, n_if(g, some, root, zero), n_num(g, SLACK * scale))),
                  .point = v_if(g, here, x->at, from)};
    for (int k = 0; k < 3; ++k)
        t.normal.c[k] =
            n_fun(g, CAROM_OP_NEG, n_if(g, here, s->normal.c[k], n_if(g, some, n_div(g, apart.c[k], root), zero)));
    return t;
}

// Does the normal separate more than these?
static carom_node foremost(carom_graph *g, carom_node gap, carom_node most, double scale) {
    return n_less(g, most, n_add(g, gap, n_num(g, FOREMOST * scale)));
}

// Of the four edges of a box along axis i, the two of that face on its side that separates more: number 0 or 1; f:
// normals of its faces.
typedef struct edge { line l; vec f[2]; carom_node most; } edge;

static edge edge_of(carom_graph *g, const shape *box, const shape *s, int i, int number) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const vec centre = carom_shape_point(g, box, box->at), way = v_sub(g, carom_shape_point(g, s, s->at), centre);
    vec axis[3];
    carom_node apart[3], side[3];
    for (int l = 0; l < 3; ++l) {
        axis[l] = carom_shape_vector(g, box, (double[]){l == 0, l == 1, l == 2});
        apart[l] = separation(g, s, box, way, axis[l]);
        side[l] = n_sign(g, v_dot(g, axis[l], way));
    }
    const carom_node over_k = n_less(g, apart[j], apart[k]), other = n_num(g, number ? 1 : -1);
    const carom_node s_j = n_if(g, over_k, other, side[j]), s_k = n_if(g, over_k, side[k], other);
    edge e = {.f = {v_scale(g, axis[j], s_j), v_scale(g, axis[k], s_k)}};
    e.l.along = axis[i];
    e.l.half = n_num(g, box->half[i]);
    e.l.middle = v_add(
        g, centre, v_add(g, v_scale(g, e.f[0], n_num(g, box->half[j])), v_scale(g, e.f[1], n_num(g, box->half[k]))));
    e.most = n_op(g, CAROM_OP_MAX, apart[0], n_op(g, CAROM_OP_MAX, apart[1], apart[2]));
    return e;
}

// Which rim the edge is at: of edges along the axis either, the first for the place farther along, else the one on the
// side where it passes.
static rim rim_at(carom_graph *g, const shape *s, const line *l, int which) {
    const vec w = v_sub(g, l->middle, carom_shape_point(g, s, s->at)),
              axis = carom_shape_vector(g, s, (double[]){0, 0, 1});
    const carom_node ad = v_dot(g, axis, l->along), wa = v_dot(g, w, axis), wd = v_dot(g, w, l->along);
    const carom_node ahead = n_mul(g, n_num(g, which ? -1 : 1), n_sign(g, ad)),
                     along = n_less(g, n_num(g, 0.7), n_abs(g, ad)); // 45 degrees: from there on it passes along
    // else the sign of z where it passes the axis
    return rim_on(g, s, n_if(g, along, ahead, n_sign(g, n_sub(g, wa, n_mul(g, ad, wd)))));
}

touching carom_rim_to_edge(carom_graph *g, const shape *s, const shape *box, int i, int number, int which) {
    const edge e = edge_of(g, box, s, i, number);
    const rim r = rim_at(g, s, &e.l, which);
    const place x = nearest(g, &r, e.l.middle, e.l.along, 0, which);
    const carom_node along = v_dot(g, e.l.along, v_sub(g, x.at, e.l.middle)), cone = n_num(g, CONE);
    const sharp y = sharp_at(g, &r, &x, e.l.middle, e.l.along);
    carom_node here =
        n_and(g, y.crosses, n_and(g, rim_allows(g, &r, &x, y.normal), foremost(g, y.gap, e.most, s->radius)));
    here = n_and(g, here, n_op(g, CAROM_OP_LE, n_abs(g, along), e.l.half));
    for (int k = 0; k < 2; ++k) here = n_and(g, here, n_less(g, v_dot(g, y.normal, e.f[k]), cone));
    return sharp_or_apart(g, &y, here, &x, r.centre, e.l.middle, fmin(s->radius, box->bound_radius));
}

// The most that two cylinders are separated along their axes, across both, and between the axes.
static carom_node most_apart(carom_graph *g, const shape *A, const shape *B) {
    const vec way = v_sub(g, carom_shape_point(g, B, B->at), carom_shape_point(g, A, A->at));
    const vec a = carom_shape_vector(g, A, (double[]){0, 0, 1}), b = carom_shape_vector(g, B, (double[]){0, 0, 1});
    const vec across[2] = {v_cross(g, a, b), v_sub(g, way, v_scale(g, a, v_dot(g, a, way)))};
    carom_node most = n_op(g, CAROM_OP_MAX, separation(g, A, B, way, a), separation(g, A, B, way, b));
    for (int k = 0; k < 2; ++k) {
        const carom_node square = v_dot(g, across[k], across[k]),
                         some = n_less(g, n_num(g, k ? BESIDE * A->radius * A->radius : PARALLEL), square);
        vec n;
        for (int i = 0; i < 3; ++i) n.c[i] = n_div(g, across[k].c[i], n_fun(g, CAROM_OP_SQRT, square));
        most = n_if(g, some, n_op(g, CAROM_OP_MAX, most, separation(g, A, B, way, n)), most);
    }
    return most;
}

touching carom_rim_to_rim(carom_graph *g, const shape *A, int end_A, const shape *B, int end_B, int which) {
    const rim r = rim_of(g, A, end_A), o = rim_of(g, B, end_B);
    const place x = nearest(g, &r, o.centre, o.out, o.radius, which);
    const vec w = v_sub(g, x.at, o.centre), flat = v_sub(g, w, v_scale(g, o.out, v_dot(g, w, o.out)));
    const carom_node square = v_dot(g, flat, flat),
                     some = n_less(g, n_num(g, POINT * POINT * B->radius * B->radius), square),
                     rho = n_fun(g, CAROM_OP_SQRT, square);
    place y;
    for (int k = 0; k < 3; ++k) y.radial.c[k] = n_if(g, some, n_div(g, flat.c[k], rho), o.u.c[k]);
    y.tangent = v_cross(g, o.out, y.radial);
    y.at = v_add(g, o.centre, v_scale(g, y.radial, n_num(g, o.radius)));
    const sharp n = sharp_at(g, &r, &x, y.at, y.tangent);
    const double scale = fmin(A->radius, B->radius);
    const vec back = v_scale(g, n.normal, n_num(g, -1));
    const carom_node allowed = n_and(g, rim_allows(g, &r, &x, n.normal), rim_allows(g, &o, &y, back));
    return sharp_or_apart(g, &n, n_and(g, n.crosses, n_and(g, allowed, foremost(g, n.gap, most_apart(g, A, B), scale))),
                          &x, r.centre, o.centre, scale);
}

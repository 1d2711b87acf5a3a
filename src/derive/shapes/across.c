// across.c: a middle line (capsule, element of a member, cylinder) that lies across a face of a box, in space: two
// contacts, where it comes in over the outline of the face and where it leaves.
//
// The face is the one that separates most; the edges are those where the line, seen along the face's normal, crosses
// the outline. Which edge that is, is piecewise constant in the frame of the box.
#include "base/tolerance.h"
#include "derive/shapes/shapes.h"

static const double ALONG = 1e-9;    // cosine: a line that runs along a side less than this never crosses it
static const double PARALLEL = 1e-6; // square of the sine between a line and an edge that count as parallel
static const double POINT = 1e-12;   // of the radius: nearer points have no direction

line carom_shape_line(carom_graph *g, const shape *s) {
    const carom_node half = n_num(g, 0.5);
    if (s->kind != SHAPE_ELEMENT) {
        double e[3] = {0};
        e[s->axis] = 1;
        return (line){carom_shape_point(g, s, s->at), carom_shape_vector(g, s, e), n_num(g, s->half[0])};
    }
    const vec from = {{s->body->r[0], s->body->r[1], s->body->r[2]}},
              to = {{s->next->r[0], s->next->r[1], s->next->r[2]}}, d = v_sub(g, to, from);
    const carom_node length = n_fun(g, CAROM_OP_SQRT, v_dot(g, d, d));
    line l = {v_scale(g, v_add(g, from, to), half), d, n_mul(g, half, length)};
    for (int k = 0; k < 3; ++k) l.along.c[k] = n_div(g, d.c[k], length);
    return l;
}

// An edge of a box in its own axes.
typedef struct edge { vec middle, along; carom_node half; } edge;

static edge choose(carom_graph *g, carom_node when, edge a, edge b) {
    return (edge){v_if(g, when, a.middle, b.middle), v_if(g, when, a.along, b.along), n_if(g, when, a.half, b.half)};
}

// Of face k on side `up`: the edge over which the line (middle m, direction d, own axes) leaves when `way` is 1, comes
// in when it is -1.
static edge crossed(carom_graph *g, const shape *s, int k, carom_node up, vec m, vec d, int way) {
    const carom_node zero = n_num(g, 0);
    edge e[2];
    carom_node when[2];
    for (int l = 0; l < 2; ++l) {
        const int j = (k + 1 + l) % 3, i = 3 - j - k;
        const carom_node side = n_mul(g, n_num(g, way), n_sign(g, d.c[j])),
                         reach = n_mul(g, side, n_num(g, s->half[j]));
        const carom_node runs = n_less(g, n_num(g, ALONG), n_abs(g, d.c[j]));
        when[l] =
            n_if(g, runs, n_mul(g, n_num(g, way), n_div(g, n_sub(g, reach, m.c[j]), d.c[j])), n_num(g, CAROM_LARGEST));
        e[l] = (edge){{{zero, zero, zero}}, {{zero, zero, zero}}, n_num(g, s->half[i])};
        e[l].middle.c[k] = n_mul(g, up, n_num(g, s->half[k]));
        e[l].middle.c[j] = reach;
        e[l].along.c[i] = n_num(g, 1);
    }
    return choose(g, n_less(g, when[0], when[1]), e[0], e[1]);
}

// The edge of box s that line l crosses first (way -1) or last (way 1), with its middle in the world and its direction.
static line crossed_edge(carom_graph *g, const shape *s, const line *l, int way) {
    vec axis[3], m, d;
    const vec centre = carom_shape_point(g, s, s->at), off = v_sub(g, l->middle, centre);
    carom_node most = CAROM_NONE;
    edge best = {0};
    for (int k = 0; k < 3; ++k) {
        axis[k] = carom_shape_vector(g, s, (double[]){k == 0, k == 1, k == 2});
        m.c[k] = v_dot(g, axis[k], off);
        d.c[k] = v_dot(g, axis[k], l->along);
    }
    for (int k = 0; k < 3; ++k) {
        const carom_node apart =
            n_sub(g, n_sub(g, n_abs(g, m.c[k]), n_num(g, s->half[k])), n_mul(g, l->half, n_abs(g, d.c[k])));
        const edge e = crossed(g, s, k, n_sign(g, m.c[k]), m, d, way);
        const carom_node better = k ? n_less(g, most, apart) : CAROM_NONE;
        best = k ? choose(g, better, e, best) : e;
        most = k ? n_if(g, better, apart, most) : apart;
    }
    line x = {centre, {{0}}, best.half};
    for (int k = 0; k < 3; ++k) {
        x.middle = v_add(g, x.middle, v_scale(g, axis[k], best.middle.c[k]));
        x.along = k ? v_add(g, x.along, v_scale(g, axis[k], best.along.c[k])) : v_scale(g, axis[k], best.along.c[k]);
    }
    return x;
}

// (SHP-14)  g = |x - y| - r,  x on the line and y on the edge nearest to each other
touching carom_across(carom_graph *g, const shape *s, const shape *box, int way) {
    const line l = carom_shape_line(g, s), e = crossed_edge(g, box, &l, way);
    const vec w = v_sub(g, l.middle, e.middle);
    const carom_node zero = n_num(g, 0), ef = v_dot(g, l.along, e.along), we = v_dot(g, w, l.along),
                     wf = v_dot(g, w, e.along);
    const carom_node square = n_sub(g, n_num(g, 1), n_mul(g, ef, ef)), crosses = n_less(g, n_num(g, PARALLEL), square);
    const carom_node x = n_if(g, crosses, n_clamp(g, n_div(g, n_sub(g, n_mul(g, ef, wf), we), square), l.half), zero);
    const carom_node y = n_if(g, crosses, n_clamp(g, n_div(g, n_sub(g, wf, n_mul(g, ef, we)), square), e.half), zero);
    if (s->kind == SHAPE_CYLINDER) { // the place of the edge on its surface
        const corner c = {.at = v_add(g, e.middle, v_scale(g, e.along, y))};
        touching t = carom_surface(g, &c, s);
        t.normal = v_scale(g, t.normal, n_num(g, -1));
        return t;
    }
    const vec apart = v_sub(g, v_add(g, w, v_scale(g, l.along, x)), v_scale(g, e.along, y));
    const carom_node distance2 = v_dot(g, apart, apart),
                     some = n_less(g, n_num(g, POINT * POINT * s->radius * s->radius), distance2);
    const carom_node distance = n_fun(g, CAROM_OP_SQRT, distance2);
    touching t = {.gap = n_sub(g, n_if(g, some, distance, zero), n_num(g, s->radius)),
                  .point = v_add(g, e.middle, v_scale(g, e.along, y))};
    for (int k = 0; k < 3; ++k) t.normal.c[k] = n_if(g, some, n_div(g, apart.c[k], distance), zero);
    return t;
}

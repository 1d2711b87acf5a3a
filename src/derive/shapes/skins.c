// skins.c: shapes of flexible members: a round at one of their points, or a skin of even thickness along all of them.
//
//   shapes: {journal: {circle: 0.01, of: axle.start}, whip: {skin: 0.002, of: rope}}
//
// A skin is a round at every node and a straight piece between neighbours; it bends with the nodes, not inside
// elements.
#include "base/option.h"
#include "derive/shapes/shapes.h"
#include "flex/member.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// Whose shape it may be: members, and bodies but for the ground.
static const char *owner_name(const void *user, int i) {
    const carom_model *m = user;
    const int k = i - m->nmember + 1;
    return i < m->nmember ? m->members[i].name : k < m->nbodies ? m->bodies[k].name : NULL;
}

static bool spatial(const member *b) { return strcmp(carom_member_component(b->kind, b->components - 1), "rz") == 0; }

static double arc(const member *b, int node) {
    return carom_member_field_place(b->flex, CAROM_FIELD_DISPLACEMENT, node);
}

// Own axis k of the member in the world, by the weights of the displacement `word` in places of a node that moves along
// it.
static bool axis_of(const member *b, const char *word, double *e) {
    int c = 0;
    while (c < b->components && strcmp(carom_member_component(b->kind, c), word) != 0) ++c;
    for (int node = 0; c < b->components && node < b->nodes; ++node) {
        const int unknown = carom_member_unknown(b->flex, node, c, NULL);
        if (unknown < 0) continue;
        for (int i = 0; i < 3; ++i) {
            int index[CAROM_MEMBER_POINT];
            double weight[CAROM_MEMBER_POINT], constant;
            const int n = carom_member_position(b->flex, arc(b, node), i, index, weight, &constant);
            e[i] = 0;
            for (int k = 0; k < n; ++k)
                if (index[k] == unknown) e[i] = weight[k];
        }
        return true;
    }
    return false;
}

static carom_status rate_of(resolver *r, member *b, double s, const char *word, carom_node *node) {
    carom_graph *g = r->m->graph;
    *node = n_num(g, 0);
    for (int c = 0; c < b->components; ++c) {
        if (strcmp(carom_member_component(b->kind, c), word) != 0) continue;
        int index[CAROM_MEMBER_POINT];
        double weight[CAROM_MEMBER_POINT], constant;
        const int n = carom_member_point(b->flex, s, c, index, weight, &constant);
        for (int k = 0; k < n; ++k) {
            carom_node x, v;
            if (carom_model_see(r->m, b, index[k], &x, &v) < 0) return carom_fault_memory(r);
            *node = n_add(g, *node, n_mul(g, n_num(g, weight[k]), v));
        }
    }
    return CAROM_OK;
}

// Angular velocity at s: that of the planar angle, or of (rx, ry, rz) about the member's own axes, which turn little.
static carom_status spin_at(resolver *r, member *b, double s, vec *spin) {
    static const char *const turn[] = {"rx", "ry", "rz"}, *const along[] = {"u", "v", "w"};
    carom_graph *g = r->m->graph;
    *spin = (vec){{n_num(g, 0), n_num(g, 0), n_num(g, 0)}};
    if (!spatial(b)) return rate_of(r, b, s, "angle", &spin->c[2]);
    double e[3][3] = {{0}};
    const bool found[3] = {axis_of(b, along[0], e[0]), axis_of(b, along[1], e[1]), axis_of(b, along[2], e[2])};
    for (int k = 0; k < 3 && !found[0]; ++k) { // a shaft does not move along its axis
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        e[0][k] = e[1][i] * e[2][j] - e[1][j] * e[2][i];
    }
    for (int k = 0; k < 3; ++k) {
        carom_node rate;
        CAROM_TRY(rate_of(r, b, s, turn[k], &rate));
        *spin = v_add(g, *spin, v_scale(g, v_num(g, e[k]), rate));
    }
    return CAROM_OK;
}

// A frame that goes with the member at s and stays parallel to the world; the angle is for drawings.
static carom_status frame_at(resolver *r, member *b, double s, shape *out) {
    carom_graph *g = r->m->graph;
    body *frame = carom_pool_take(&r->m->memory, sizeof *frame);
    if (!frame) return carom_fault_memory(r);
    *frame = (body){.name = b->name, .v = -1, .space = spatial(b) ? SPATIAL : PLANAR, .angle = n_num(g, 0)};
    frame->kind = "member";
    for (int i = 0; i < 3; ++i) {
        frame->r[i] = i < 2 || spatial(b) ? carom_member_where(r->m, b, s, i) : n_num(g, 0);
        if (frame->r[i] == CAROM_NONE) return carom_fault_memory(r);
        int index[CAROM_MEMBER_POINT];
        double weight[CAROM_MEMBER_POINT];
        if (i < 2 || spatial(b)) carom_member_position(b->flex, s, i, index, weight, &frame->r0[i]);
    }
    if (!carom_body_turned(r, frame, carom_shape_upright)) return carom_fault_memory(r);
    for (int i = 0; i < 9; ++i) frame->R[i] = n_num(g, frame->R0[i]);
    out->body = frame;
    out->member = b;
    return spin_at(r, b, s, &out->spin);
}

// The member of `MEMBER` or `MEMBER.POINT`, NULL: none; *point: behind the dot.
static member *seek(const carom_model *m, const char *text, const char **point) {
    for (int i = 0; i < m->nmember; ++i) {
        const size_t length = strlen(m->members[i].name);
        if (strncmp(text, m->members[i].name, length) != 0 || (text[length] && text[length] != '.')) continue;
        *point = text[length] ? text + length + 1 : NULL;
        return &m->members[i];
    }
    return NULL;
}

// A floating member is known by the body that its frame is.
static carom_status refuse_floating(resolver *r, const carom_datum *n) {
    for (int k = 1; k < r->m->nbodies; ++k) {
        const body *b = &r->m->bodies[k];
        if (!b->floating || strcmp(b->name, n->text) != 0) continue;
        return carom_fault(
            r, n, 0,
            "member '%.60s' has a floating frame, and only its points can have shapes: {%s: RADIUS, of: %.60s.end}",
            b->name, b->space == SPATIAL ? "sphere" : "circle", b->name);
    }
    return CAROM_OK;
}

static carom_status find(resolver *r, const carom_datum *n, member **b, const char **point) {
    if (n->kind != CAROM_TEXT)
        return carom_fault(r, n, 0, "`of` is a body, a flexible member, or one of its points: of: beam.end");
    *b = seek(r->m, n->text, point);
    if (*b && (*b)->kind == CAROM_MATRICES)
        return carom_fault(r, n, 0,
                           "member '%.60s' is given by matrices and has no places in the world; write the gap itself",
                           (*b)->name);
    if (*b) return CAROM_OK;
    CAROM_TRY(refuse_floating(r, n));
    const char *near = carom_nearest(n->text, owner_name, r->m);
    return carom_fault(r, n, 0, "unknown body or flexible member '%.60s'%s%s%s", n->text,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

space carom_skin_space(const carom_model *m, const carom_datum *of) {
    const char *point;
    const member *b = of && of->kind == CAROM_TEXT ? seek(m, of->text, &point) : NULL;
    return !b ? EITHER : spatial(b) ? SPATIAL : PLANAR;
}

static const char *point_name(const void *user, int i) {
    const member *b = user;
    return i < b->npoint ? b->point[i] : NULL;
}

carom_status carom_derive_round_of(resolver *r, const carom_datum *of, shape *s) {
    member *b = NULL;
    const char *point = NULL;
    CAROM_TRY(find(r, of, &b, &point));
    if (!point)
        return carom_fault(r, of, 0, "'%.60s' is a whole member; name one of its points (%.60s.end), or write `skin`",
                           of->text, b->name);
    if ((s->space == SPATIAL) != spatial(b))
        return carom_fault(r, of, 0, "this shape is %s and member '%.60s' is %s",
                           s->space == SPATIAL ? "spatial" : "planar", b->name, spatial(b) ? "spatial" : "planar");
    for (int i = 0; i < b->npoint; ++i)
        if (strcmp(b->point[i], point) == 0) return frame_at(r, b, b->place[i], s);
    const char *near = carom_nearest(point, point_name, b);
    return carom_fault(r, of, 0, "member '%.60s' has no point '%.60s'%s%s%s", b->name, point,
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

carom_status carom_derive_skin(resolver *r, const carom_datum *of, shape *s) {
    member *b = NULL;
    const char *point = NULL;
    if (!of) return carom_fault(r, s->place, 0, "a skin belongs to a flexible member; add `of: MEMBER`");
    CAROM_TRY(find(r, of, &b, &point));
    if (point)
        return carom_fault(r, of, 0, "a skin covers all of '%.60s'; remove '.%.60s', or write circle (sphere)", b->name,
                           point);
    enum { MOST_NODES = 5000 }; // one shape each
    if (b->nodes > MOST_NODES)
        return carom_fault(r, of, 0, "a skin over %d nodes; at most %d, else `along` in contacts", b->nodes,
                           MOST_NODES);
    s->space = spatial(b) ? SPATIAL : PLANAR;
    s->member = b;
    s->body = NULL;
    s->nodes = b->nodes;
    s->part = carom_pool_take(&r->m->memory, (size_t)(2 * b->nodes) * sizeof *s->part);
    if (!s->part) return carom_fault_memory(r);
    for (int i = 0; i < b->nodes; ++i) {
        shape *x = &s->part[i];
        *x = (shape){.name = s->name,
                     .place = s->place,
                     .space = s->space,
                     .kind = SHAPE_ROUND,
                     .radius = s->radius,
                     .X = carom_shape_upright,
                     .bound_radius = s->radius};
        CAROM_TRY(frame_at(r, b, arc(b, i), x));
    }
    for (int i = 0; i + 1 < b->nodes; ++i) {
        shape *x = &s->part[b->nodes + i];
        *x = s->part[i];
        x->kind = SHAPE_ELEMENT;
        x->next = s->part[i + 1].body;
        x->bound_radius = INFINITY;
    }
    return CAROM_OK;
}

// Where p is along an element: 0 at its start, 1 at its end; *d: from its start to its end.
static carom_node along(carom_graph *g, const shape *s, vec p, vec *d) {
    const vec a = {{s->body->r[0], s->body->r[1], s->body->r[2]}}, b = {{s->next->r[0], s->next->r[1], s->next->r[2]}};
    *d = v_sub(g, b, a);
    const carom_node zero = n_num(g, 0), one = n_num(g, 1),
                     x = n_div(g, v_dot(g, v_sub(g, p, a), *d), v_dot(g, *d, *d));
    return n_if(g, n_less(g, one, x), one, n_if(g, n_less(g, x, zero), zero, x));
}

vec carom_element_nearest(carom_graph *g, const shape *s, vec p) {
    vec d;
    const carom_node x = along(g, s, p, &d);
    return v_add(g, (vec){{s->body->r[0], s->body->r[1], s->body->r[2]}}, v_scale(g, d, x));
}

static vec rate(carom_graph *g, const carom_model *m, const carom_node *x) {
    vec v;
    for (int i = 0; i < 3; ++i) v.c[i] = carom_graph_rate(g, x[i], m->visible.nv);
    return v;
}

static vec element_spin(carom_graph *g, vec d, vec change) {
    return v_scale(g, v_cross(g, d, change), n_div(g, n_num(g, 1), v_dot(g, d, d)));
}

vec carom_flexible_spin(carom_graph *g, const carom_model *m, const shape *s) {
    if (s->kind != SHAPE_ELEMENT) return s->spin;
    vec d;
    for (int i = 0; i < 3; ++i) d.c[i] = n_sub(g, s->next->r[i], s->body->r[i]);
    return element_spin(g, d, v_sub(g, rate(g, m, s->next->r), rate(g, m, s->body->r)));
}

// Of the material point at p.  (SHP-12)  v = r' + spin x (p - r);  on an element r = (1 - x) r_1 + x r_2 and spin = d x
// d'/|d|^2
vec carom_flexible_velocity(carom_graph *g, const carom_model *m, const shape *s, vec p) {
    const vec v = rate(g, m, s->body->r);
    if (s->kind != SHAPE_ELEMENT)
        return v_add(g, v, v_cross(g, s->spin, v_sub(g, p, (vec){{s->body->r[0], s->body->r[1], s->body->r[2]}})));
    vec d;
    const carom_node x = along(g, s, p, &d);
    const vec change = v_sub(g, rate(g, m, s->next->r), v), at = carom_element_nearest(g, s, p);
    return v_add(g, v_add(g, v, v_scale(g, change, x)), v_cross(g, element_spin(g, d, change), v_sub(g, p, at)));
}

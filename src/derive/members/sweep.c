// sweep.c: a contact that sweeps along a flexible member: a place anywhere in the plane against the line of the member,
// element by element.
//
// With A, B the nodes of an element, d = B - A, P the place, r = (P - A).d/d.d where P stands along the element:
//
//     g = s d x (P - A)/|d| - radius,  slip' = (P' - (1 - r) A' - r B').d/|d|  for 0 <= r <= 1  (FLX-14)
//
// s = 1: the place is on the left of the member.  Elsewhere the neighbours look after it: half an element further the
// gap is g plus the length of the element, so that a place that comes over has had its velocity before; beyond, the
// distance to the nearer node.
#include "derive/resolver.h"
#include "expr/expr.h"
#include "flex/member.h"

// Of an element: on the outer side of a bend none of the two would see the place.
static const double OVERLAP = 0.01, NEAR = 0.5;

typedef struct plane {
    carom_node x, y;
} plane;

static carom_node op(resolver *r, carom_op what, carom_node a, carom_node b) {
    return carom_graph_apply(r->m->graph, what, a, b, CAROM_NONE);
}
static carom_node number(resolver *r, double x) { return carom_graph_number(r->m->graph, x); }
static plane minus(resolver *r, plane a, plane b) {
    return (plane){op(r, CAROM_OP_SUB, a.x, b.x), op(r, CAROM_OP_SUB, a.y, b.y)};
}
static plane times(resolver *r, carom_node s, plane a) {
    return (plane){op(r, CAROM_OP_MUL, s, a.x), op(r, CAROM_OP_MUL, s, a.y)};
}
static carom_node dot(resolver *r, plane a, plane b) {
    return op(r, CAROM_OP_ADD, op(r, CAROM_OP_MUL, a.x, b.x), op(r, CAROM_OP_MUL, a.y, b.y));
}
static carom_node cross(resolver *r, plane a, plane b) {
    return op(r, CAROM_OP_SUB, op(r, CAROM_OP_MUL, a.x, b.y), op(r, CAROM_OP_MUL, a.y, b.x));
}
static carom_node size(resolver *r, plane a) { return op(r, CAROM_OP_HYPOT, a.x, a.y); }

static plane rate(resolver *r, plane a) {
    return (plane){carom_graph_rate(r->m->graph, a.x, r->m->visible.nv),
                   carom_graph_rate(r->m->graph, a.y, r->m->visible.nv)};
}

static plane node(resolver *r, member *b, int i) {
    const double s = carom_member_arc(b->flex, i);
    return (plane){carom_member_where(r->m, b, s, 0), carom_member_where(r->m, b, s, 1)};
}

static carom_status read_place(resolver *r, const carom_datum *n, plane *P) {
    if (n->kind != CAROM_LIST || n->count != 2) return carom_fault(r, n, 0, "point is a list of two: [x, y]");
    CAROM_TRY(carom_resolve_expression(r, n->item, SCOPE_STATE, "the point", &P->x));
    CAROM_TRY(carom_resolve_expression(r, n->item + 1, SCOPE_STATE, "the point", &P->y));
    if (carom_graph_depends(r->m->graph, P->x, CAROM_VELOCITY, -1) ||
        carom_graph_depends(r->m->graph, P->y, CAROM_VELOCITY, -1))
        return carom_fault(r, n, 0, "the point depends on rates; it is a place, made of positions and time");
    return CAROM_OK;
}

carom_status carom_derive_sweep(resolver *r, const carom_mech_contact *of, member *b, int element, constraint *c) {
    const carom_datum *point = &of->point, *side = carom_given(&of->side), *round = carom_given(&of->radius);
    plane P;
    double radius = 0, sign = 1;
    if (b->kind > CAROM_EXACT_BEAM)
        return carom_fault(r, point->key, 0, "a point sweeps along planar members only: bar, beam, exact beam");
    CAROM_TRY(read_place(r, point, &P));
    if (round) CAROM_TRY(carom_resolve_number(r, round, "radius", &radius));
    if (!(radius >= 0)) return carom_fault(r, round, 0, "radius must not be negative, got %g", radius);
    if (side && !carom_datum_is(side, "left") && !carom_datum_is(side, "right"))
        return carom_fault(r, side, 0, "side is `left` or `right`: where the point is, looking along the member");
    if (carom_datum_is(side, "right")) sign = -1;

    // (FLX-14)
    carom_graph *g = r->m->graph;
    const plane A = node(r, b, element), B = node(r, b, element + 1), d = minus(r, B, A), e = minus(r, P, A);
    const carom_node length = size(r, d), at = op(r, CAROM_OP_DIV, dot(r, e, d), dot(r, d, d));
    const carom_node gap =
        op(r, CAROM_OP_SUB, op(r, CAROM_OP_DIV, op(r, CAROM_OP_MUL, number(r, sign), cross(r, d, e)), length),
           number(r, radius));
    const carom_node open = op(r, CAROM_OP_ADD, gap,
                               number(r, carom_member_arc(b->flex, element + 1) - carom_member_arc(b->flex, element)));
    const carom_node away = op(r, CAROM_OP_ABS, op(r, CAROM_OP_SUB, at, number(r, 0.5)), CAROM_NONE); // from the middle
    const carom_node node_off =
        carom_graph_apply(g, CAROM_OP_IF, op(r, CAROM_OP_LT, at, number(r, 0.5)), size(r, e), size(r, minus(r, P, B)));
    const carom_node outside =
        carom_graph_apply(g, CAROM_OP_IF, op(r, CAROM_OP_LE, away, number(r, 0.5 + NEAR)), open, node_off);
    c->gap = carom_graph_apply(g, CAROM_OP_IF, op(r, CAROM_OP_LE, away, number(r, 0.5 + OVERLAP)), gap, outside);
    const plane v_A = rate(r, A), v = minus(r, minus(r, rate(r, P), v_A), times(r, at, minus(r, rate(r, B), v_A)));
    c->slip[0] = op(r, CAROM_OP_DIV, dot(r, v, d), length);
    c->rate[0] = true;
    c->tangents = 1;
    c->place = point;
    return c->gap == CAROM_NONE || c->slip[0] == CAROM_NONE ? carom_fault_memory(r) : CAROM_OK;
}

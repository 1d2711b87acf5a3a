// pairs.c: pairs of shapes, and the contacts that each makes.
//
// Corners of one shape against the surface of the other and the other way round, always in the same order: a contact is
// the same corner for ever.  The gap and the slip rates are expressions; a reaction acts on both bodies at one point,
// so that momentum and angular momentum are kept whatever the gap.
#include "base/tolerance.h"
#include "derive/shapes/shapes.h"
#include "expr/graph.h"
#include <math.h>

static const double NORMAL = 1e-12; // sine: a direction of friction so near to the normal has no part in the plane;
                                    // this keeps the root from 0

enum { MOST_PLAN = 2 * MOST_CORNERS + 3 }; // of pieces of a polygon, too

static bool single(const shape *s) { return s->kind == SHAPE_POINT || s->kind == SHAPE_ROUND; }

// -- which contacts ---------------------------------------------------------------------------------------------------

typedef enum way { A_ON_B, B_ON_A, EDGES, CROSSING, ACROSS, RIM, RIM_LINE, RIM_FACE, RIM_EDGE, RIM_RIM, PIECES } way;
// corner: or edge, or bits that number rims and places; swapped: it is of B, on A
typedef struct plan { way way; int corner; bool swapped; } plan;

// Edges against edges in space; a line that lies across a box does so on two of them, a face on a face on up to eight.
static int plan_edges(const shape *A, const shape *B, plan *x, int n) {
    x[n++] = (plan){EDGES, 0, false};
    for (int i = 0; i < 8 && A->kind == SHAPE_BOX && B->kind == SHAPE_BOX; ++i) x[n++] = (plan){CROSSING, i, false};
    for (int way = -1; way < 2 && (A->kind == SHAPE_BOX) != (B->kind == SHAPE_BOX); way += 2)
        x[n++] = (plan){ACROSS, way, false};
    return n;
}

// Rims of a cylinder, which is A or (swapped) B, on the other.
static int plan_rims(const shape *other, bool swapped, plan *x, int n) {
    const bool box = other->kind == SHAPE_BOX;
    for (int end = 0; end < 2 && (box || other->kind == SHAPE_CYLINDER); ++end) x[n++] = (plan){RIM_FACE, end, swapped};
    for (int i = 0; i < (box ? 12 : 4); ++i) x[n++] = (plan){box ? RIM_EDGE : RIM_LINE, i, swapped};
    return n;
}

static int plan_corners(const shape *of, way way, plan *x, int n) {
    for (int i = 0; i < carom_shape_corners(of); ++i) x[n++] = (plan){way, i, way == B_ON_A};
    return n;
}

// The contacts of a pair; returns how many, 0: there is no formula.
static int make_plan(const shape *A, const shape *B, plan *x) {
    int n = 0;
    const bool rolls = A->kind == SHAPE_CYLINDER, B_rolls = B->kind == SHAPE_CYLINDER;
    if (carom_shape_piece(A) || carom_shape_piece(B)) {
        int which[MOST_PLAN];
        n = carom_pieces_plan(A, B, which);
        for (int i = 0; i < n; ++i) x[i] = (plan){PIECES, which[i], false};
        return n;
    }
    if (!carom_shape_finite(A) && !carom_shape_finite(B)) return 0;
    if ((rolls && !carom_shape_finite(B) && B->kind != SHAPE_PLANE) ||
        (B_rolls && !carom_shape_finite(A) && A->kind != SHAPE_PLANE))
        return 0;
    for (int end = 0; end < 2 && ((rolls && B->kind == SHAPE_PLANE) || (B_rolls && A->kind == SHAPE_PLANE)); ++end)
        x[n++] = (plan){RIM, end, B_rolls};
    if (!carom_shape_finite(B) || single(A)) return plan_corners(A, A_ON_B, x, n);
    if (!carom_shape_finite(A) || single(B)) return plan_corners(B, B_ON_A, x, n);
    // Corners on both; nodes of elements are rounds of their own, and what an element touches of a cylinder are its
    // rims and its side.
    if (!(rolls && B->kind == SHAPE_ELEMENT) && !(rolls && B->kind == SHAPE_CAPSULE) && A->kind != SHAPE_ELEMENT)
        n = plan_corners(A, A_ON_B, x, n);
    if (!(B_rolls && A->kind == SHAPE_ELEMENT) && !(B_rolls && A->kind == SHAPE_CAPSULE) && B->kind != SHAPE_ELEMENT)
        n = plan_corners(B, B_ON_A, x, n);
    if (A->space != SPATIAL) return n;
    n = plan_edges(A, B, x, n);
    if (rolls) n = plan_rims(B, false, x, n);
    if (B_rolls) n = plan_rims(A, true, x, n);
    for (int i = 0; i < 8 && rolls && B_rolls; ++i) x[n++] = (plan){RIM_RIM, i, false};
    return n;
}

int carom_pair_formulas(const shape *A, const shape *B) {
    plan x[MOST_PLAN];
    return make_plan(A, B, x);
}

// Is x of A and B what y is of B and A?
static bool same_contact(const plan *x, const plan *y) {
    const way other = x->way == A_ON_B ? B_ON_A : x->way == B_ON_A ? A_ON_B : x->way;
    const bool sided = x->way == A_ON_B || x->way == B_ON_A || (x->way >= RIM && x->way <= RIM_EDGE);
    return y->way == other && y->corner == x->corner && (!sided || y->swapped != x->swapped);
}

int carom_pair_part(const shape *A, const shape *B, int k) {
    plan x[MOST_PLAN], y[MOST_PLAN];
    const int n = make_plan(A, B, x), m = make_plan(B, A, y);
    for (int i = 0; i < m && k < n; ++i)
        if (same_contact(&x[k], &y[i])) return i;
    return k;
}

int carom_pair_contacts(const shape *A, const shape *B) {
    return carom_patch_listed(A, B) ? carom_patch_contacts(A, B) : carom_pair_formulas(A, B);
}

// -- velocities -------------------------------------------------------------------------------------------------------

// Of the material point of s that is at p.
static vec rigid_velocity(carom_graph *g, const carom_model *m, const shape *s, vec p) {
    if (s->member) return carom_flexible_velocity(g, m, s, p);
    const body *b = s->body;
    const vec r = {{b->r[0], b->r[1], b->r[2]}}, arm = v_sub(g, p, r);
    vec v = {{n_num(g, 0), n_num(g, 0), n_num(g, 0)}}, w = v;
    const int n = b->space == SPATIAL ? 3 : 2;
    if (b->v >= 0) {
        for (int i = 0; i < n; ++i) v.c[i] = carom_graph_input(g, CAROM_VELOCITY, b->v + i);
        for (int i = n; i < 2 * n && n == 3; ++i) w.c[i - 3] = carom_graph_input(g, CAROM_VELOCITY, b->v + i);
        if (n == 2) w.c[2] = carom_graph_input(g, CAROM_VELOCITY, b->v + 2);
        return v_add(g, v, v_cross(g, v_turn(g, b->R, w), arm));
    }
    carom_node rate[9];
    g->sided = true;
    for (int i = 0; i < 9; ++i) rate[i] = carom_graph_rate(g, b->R[i], m->visible.nv);
    for (int i = 0; i < 3; ++i) v.c[i] = carom_graph_rate(g, b->r[i], m->visible.nv);
    g->sided = false;
    return v_add(g, v, v_turn(g, rate, v_back(g, b->R, arm)));
}

// Angular velocity.  Of a body that moves as expressions say: 1/2 sum_k e_k x e_k', e_k its axes.
// Of the material at p; the surface of a conveyor moves along its body.
static vec velocity_at(carom_graph *g, const carom_model *m, const shape *s, vec p) {
    const vec v = rigid_velocity(g, m, s, p);
    return s->belt ? v_add(g, v, v_turn(g, s->body->R, *s->belt)) : v;
}

vec carom_shape_turning(carom_graph *g, const carom_model *m, const shape *s) {
    const body *b = s->body;
    vec w = {{n_num(g, 0), n_num(g, 0), n_num(g, 0)}};
    if (s->member) return carom_flexible_spin(g, m, s);
    if (b == m->bodies) return w; // the ground
    if (b->space != SPATIAL) {
        w.c[2] =
            b->v >= 0 ? carom_graph_input(g, CAROM_VELOCITY, b->v + 2) : carom_graph_rate(g, b->angle, m->visible.nv);
        return w;
    }
    if (b->v >= 0) {
        for (int i = 0; i < 3; ++i) w.c[i] = carom_graph_input(g, CAROM_VELOCITY, b->v + 3 + i);
        return v_turn(g, b->R, w);
    }
    for (int k = 0; k < 3; ++k) {
        vec e, rate;
        for (int i = 0; i < 3; ++i) e.c[i] = b->R[3 * i + k], rate.c[i] = carom_graph_rate(g, e.c[i], m->visible.nv);
        w = v_add(g, w, v_cross(g, e, rate));
    }
    return v_scale(g, w, n_num(g, 0.5));
}

// (SHP-9)  planar t = (n_y, -n_x);  spatial, with s = 1 for n_z > -0.618 and else -1, a = -1/(s + n_z):
// t_1 = (1 + s a n_x^2, s a n_x n_y, -s n_x),  t_2 = (a n_x n_y, s + a n_y^2, -n_y)
// At -0.618, and not at -0.6, which triangles of 3, 4 and 5 have: rounding must not decide.
int carom_pair_tangents(carom_graph *g, const shape *s, vec n, vec *t) {
    const carom_node zero = n_num(g, 0), one = n_num(g, 1), *x = n.c;
    if (s->space != SPATIAL) {
        t[0] = (vec){{x[1], n_fun(g, CAROM_OP_NEG, x[0]), zero}};
        return 1;
    }
    const carom_node up = n_if(g, n_less(g, n_num(g, -0.618), x[2]), one, n_num(g, -1)),
                     a = n_div(g, n_num(g, -1), n_add(g, up, x[2]));
    const carom_node both = n_mul(g, a, n_mul(g, x[0], x[1]));
    t[0] = (vec){{n_add(g, one, n_mul(g, up, n_mul(g, a, n_mul(g, x[0], x[0])))), n_mul(g, up, both),
                  n_fun(g, CAROM_OP_NEG, n_mul(g, up, x[0]))}};
    t[1] = (vec){{both, n_add(g, up, n_mul(g, a, n_mul(g, x[1], x[1]))), n_fun(g, CAROM_OP_NEG, x[1])}};
    return 2;
}

// -- bounds -----------------------------------------------------------------------------------------------------------

// (SHP-10)  every gap is at least |c_A - c_B| - rho_A - rho_B, over a plane n.(c_A - p) - rho_A;  rho: balls that hold
//           the shapes
static void bound_element(carom_graph *g, pair *p) {
    const bool first = p->A->kind == SHAPE_ELEMENT;
    const shape *s = first ? p->A : p->B, *other = first ? p->B : p->A;
    const vec from = {{s->body->r[0], s->body->r[1], s->body->r[2]}},
              to = {{s->next->r[0], s->next->r[1], s->next->r[2]}}, d = v_sub(g, to, from);
    const carom_node half = n_num(g, 0.5), length = n_fun(g, CAROM_OP_SQRT, v_dot(g, d, d));
    const vec way = v_sub(g, v_scale(g, v_add(g, from, to), half), carom_shape_point(g, other, other->at));
    const carom_node distance = n_fun(g, CAROM_OP_SQRT, v_dot(g, way, way));
    p->own->bound = n_sub(g, n_sub(g, distance, n_mul(g, half, length)), n_num(g, s->radius + other->bound_radius));
    p->own->margin = other->bound_radius;
}

// Where the bound of a shape is taken for its gaps must not be where it touches: a corner has no radius of its own.
static double margin_of(const shape *s) {
    // chosen: a tenth of the outline
    return carom_shape_piece(s) ? fmax(s->bound_radius, 0.1 * s->piece->x[PIECE_SIZE]) : s->bound_radius;
}

void carom_pair_bound(carom_graph *g, pair *p) {
    const shape *A = p->A, *B = p->B;
    p->own->bound = CAROM_NONE;
    if (A->kind == SHAPE_ELEMENT || B->kind == SHAPE_ELEMENT) {
        if (p->count > 1) bound_element(g, p);
        return; // one gap of its own costs no more
    }
    if (!carom_shape_finite(A)) A = p->B, B = p->A;
    if (!carom_shape_finite(A) || (!carom_shape_finite(B) && B->kind != SHAPE_PLANE)) return;
    const vec way = v_sub(g, carom_shape_point(g, A, A->at), carom_shape_point(g, B, B->at));
    const bool flat = B->kind == SHAPE_PLANE;
    const carom_node distance = flat ? v_dot(g, carom_shape_vector(g, B, (double[]){1, 0, 0}), way)
                                     : n_fun(g, CAROM_OP_SQRT, v_dot(g, way, way));
    p->own->bound = n_sub(g, distance, n_num(g, A->bound_radius + (flat ? 0 : B->bound_radius)));
    const double margin[2] = {margin_of(A), margin_of(B)};
    p->own->margin = flat || margin[0] < margin[1] ? margin[0] : margin[1];
    if (carom_shape_piece(A) != carom_shape_piece(B) && !(p->own->margin > 0))
        p->own->margin = fmax(margin[0], margin[1]);
}

// -- expressions ------------------------------------------------------------------------------------------------------

static touching make_touch(carom_graph *g, const shape *A, const shape *B, plan x) {
    const bool swapped = x.swapped || (x.way == ACROSS && A->kind == SHAPE_BOX);
    const shape *of = swapped ? B : A, *on = swapped ? A : B;
    const int bit = x.corner & 1, rest = x.corner >> 1;
    corner c;
    touching t;
    switch (x.way) {
    case PIECES: return carom_pieces_touch(g, A, B, x.corner);
    case EDGES: return carom_edges(g, A, B);
    case CROSSING: return carom_crossing(g, A, B, rest, bit ? 1 : -1);
    case ACROSS: t = carom_across(g, of, on, x.corner); break;
    case RIM: t = carom_rim(g, of, x.corner, on); break;
    case RIM_LINE: t = carom_rim_to_line(g, of, rest, bit, on); break;
    case RIM_FACE: t = carom_rim_to_face(g, of, x.corner, on); break;
    case RIM_EDGE: t = carom_rim_to_edge(g, of, on, rest / 2, rest % 2, bit); break;
    case RIM_RIM: t = carom_rim_to_rim(g, of, rest / 2, on, rest % 2, bit); break;
    default: c = carom_shape_corner(g, of, x.corner); t = carom_surface(g, &c, on);
    }
    if (swapped) t.normal = v_scale(g, t.normal, n_num(g, -1));
    return t;
}

// (FV-6)  t_1 = (d - (n.d) n)/|..|,  t_2 = n x t_1:  the direction d of an ellipse in the tangential plane.  Where d is
//         the normal there is none.
static void align(carom_graph *g, const ellipse *e, vec n, vec t[2]) {
    const vec own = v_num(g, e->direction), d = e->of ? v_turn(g, e->of->R, own) : own;
    const vec x = v_sub(g, d, v_scale(g, n, v_dot(g, n, d)));
    t[0] = v_scale(g, x,
                   n_div(g, n_num(g, 1), n_fun(g, CAROM_OP_SQRT, n_add(g, v_dot(g, x, x), n_num(g, NORMAL * NORMAL)))));
    t[1] = v_cross(g, n, t[0]);
}

bool carom_pair_misaligned(const carom_graph *g, const pair *p) {
    const ellipse *e = p->own->rub.ellipse;
    for (int k = 0; e && !e->of && k < p->count; ++k) {
        double n, along = 0;
        for (int i = 0; i < 3; ++i) {
            if (!carom_graph_is_number(g, p->own->touch[k].normal.c[i], &n)) return false;
            along += n * e->direction[i];
        }
        if (fabs(along) > 1 - CAROM_SAME) return true;
    }
    return false;
}

int carom_pair_along(carom_graph *g, const pair *p, vec n, vec *t) {
    const int count = carom_pair_tangents(g, p->A, n, t);
    if (p->own->rub.ellipse) align(g, p->own->rub.ellipse, n, t);
    return count;
}

// (SHP-13)  slip rates u_T, (rho/mu) w_T and (sigma/mu) w_n; in the plane u_T and (rho/mu) w
static void make_slips(carom_graph *g, const carom_model *m, const pair *p, const touching *t, constraint *c) {
    const rubbing rub = p->own->rub;
    vec along[2];
    const bool spatial = p->A->space == SPATIAL;
    const int n = carom_pair_along(g, p, t->normal, along);
    const vec v = v_sub(g, velocity_at(g, m, p->A, t->point), velocity_at(g, m, p->B, t->point));
    for (int i = 0; i < n; ++i) c->slip[c->tangents++] = v_dot(g, along[i], v);
    if (rub.roll > 0 || rub.spin > 0) {
        const vec w = v_sub(g, carom_shape_turning(g, m, p->A), carom_shape_turning(g, m, p->B));
        for (int i = 0; i < n && rub.roll > 0; ++i)
            c->slip[c->tangents++] = n_mul(g, n_num(g, rub.roll), spatial ? v_dot(g, along[i], w) : w.c[2]);
        if (rub.spin > 0) c->slip[c->tangents++] = n_mul(g, n_num(g, rub.spin), v_dot(g, t->normal, w));
    }
    for (int i = 0; i < c->tangents; ++i) c->rate[i] = true;
}

static bool stands(const carom_graph *g, const body *b) {
    for (int i = 0; i < 12; ++i)
        if (!carom_graph_is_number(g, i < 3 ? b->r[i] : b->R[i - 3], NULL)) return false;
    return b->v < 0 && !b->carried;
}

// (SHP-17)  a gap between places that are nearest to each other, or fixed in the bodies, has the gradient n on
//           velocities of A, (p - r) x n on
// its turning, and the opposite on B: short, where that of the whole expression is long.
static carom_node with_course(carom_graph *g, const shape *A, const shape *B, const touching *t) {
    const body *const both[2] = {A->body, B->body};
    int velocity[12], n = 0;
    carom_node factor[12];
    for (int side = 0; side < 2; ++side) {
        const body *b = both[side];
        if (stands(g, b)) continue;
        if (b->v < 0) return t->gap;
        const vec normal = v_scale(g, t->normal, n_num(g, side ? -1 : 1)),
                  arm = v_sub(g, t->point, (vec){{b->r[0], b->r[1], b->r[2]}});
        const vec moment = v_back(g, b->R, v_cross(g, arm, normal));
        for (int i = 0; i < 6; ++i) velocity[n] = b->v + i, factor[n++] = i < 3 ? normal.c[i] : moment.c[i - 3];
    }
    const carom_node gap = carom_graph_symbol(g, t->gap);
    carom_graph_course(g, gap, n, velocity, factor);
    return gap;
}

// Of contacts of cylinders with what is finite: corners on surfaces, and sharp against sharp; of two boxes all but the
// edges that stand out.
static bool has_course(const shape *A, const shape *B, way way) {
    if (A->space == SPATIAL && A->kind == SHAPE_BOX && B->kind == SHAPE_BOX) return way != EDGES;
    const bool rolls = A->kind == SHAPE_CYLINDER || B->kind == SHAPE_CYLINDER;
    return rolls && carom_shape_finite(A) && carom_shape_finite(B) && !single(A) && !single(B) && !A->member &&
           !B->member && (way == A_ON_B || way == B_ON_A || way == RIM_EDGE || way == RIM_RIM);
}

carom_status carom_pair_express(resolver *r, pair *p, constraint *c) {
    carom_graph *g = r->m->graph;
    plan x[MOST_PLAN];
    make_plan(p->A, p->B, x);
    p->own->touch = carom_pool_take(&r->m->memory, (size_t)p->count * sizeof *p->own->touch);
    if (!p->own->touch) return carom_fault_memory(r);
    for (int k = 0; k < p->count; ++k) {
        const touching t = p->own->touch[k] = make_touch(g, p->A, p->B, x[k]);
        c[k].gap = has_course(p->A, p->B, x[k].way) ? with_course(g, p->A, p->B, &t) : t.gap;
        c[k].tangents = 0;
        if (p->own->rub.slides) make_slips(g, r->m, p, &t, &c[k]);
    }
    if (carom_graph_failed(g))
        return carom_fault(r, &p->entry->name, 0, "contact '%.60s' makes the model too large", p->entry->name.text);
    return CAROM_OK;
}

// -- checks -----------------------------------------------------------------------------------------------------------

static bool depends(resolver *r, const body *b) {
    for (int i = 0; i < 3; ++i)
        if (carom_graph_depends(r->m->graph, b->r[i], CAROM_POSITION, -1)) return true;
    return false;
}

bool carom_shape_moves(resolver *r, const shape *s) {
    return s->body->v >= 0 || s->body->carried ||
           (s->member && (depends(r, s->body) || (s->next && depends(r, s->next))));
}

static const char *space_word(const shape *s) { return s->space == PLANAR ? "planar" : "spatial"; }

// What makes a shape of the ground planar or spatial; of a body, the body does.
static const char *space_hint(resolver *r, const shape *s) {
    if (s->body != r->m->bodies || s->member) return "";
    if (s->kind == SHAPE_PLANE) return "; in space `plane` has three numbers, in the plane two";
    if (s->kind == SHAPE_BOX) return "; in space `box` has three numbers, in the plane two";
    if (s->kind == SHAPE_POINT) return "; in space `point` has three numbers, in the plane two";
    return s->kind == SHAPE_CAPSULE || s->kind == SHAPE_HOLE || s->kind == SHAPE_SLOT
               ? "; in space `at` has three numbers, in the plane two"
               : "";
}

carom_status carom_pair_check(resolver *r, const carom_datum *n, const shape *A, const shape *B) {
    if (A->member && A->member == B->member)
        return carom_fault(r, n, 0, "'%s' and '%s' belong to one member and cannot touch", A->name, B->name);
    if (A->body && A->body == B->body)
        return carom_fault(r, n, 0, "'%s' and '%s' belong to one body and cannot touch", A->name, B->name);
    if (!A->part && !B->part && !carom_shape_moves(r, A) && !carom_shape_moves(r, B))
        return carom_fault(r, n, 0, "neither '%s' nor '%s' can move; remove this contact", A->name, B->name);
    if (A->space != B->space)
        return carom_fault(r, n, 0, "'%s' is %s and '%s' is %s%s", A->name, space_word(A), B->name, space_word(B),
                           space_hint(r, A->body == r->m->bodies ? A : B));
    if (A->kind == SHAPE_POINT && B->kind == SHAPE_POINT)
        return carom_fault(r, n, 0,
                           "'%s' and '%s' are points, which never touch; give one of them a radius (circle, sphere)",
                           A->name, B->name);
    const shape *in = carom_shape_finite(A) || A->part ? B : A, *of = in == A ? B : A;
    if (in->kind > SHAPE_PLANE && !in->part && (of->kind == SHAPE_ROUND || of->kind == SHAPE_CAPSULE || of->part) &&
        !(of->radius < in->radius))
        return carom_fault(r, n, 0,
                           "'%s' (radius %g) has no clearance in '%s' (radius %g); without clearance it is a joint",
                           of->name, of->radius, in->name, in->radius);
    return CAROM_OK;
}

carom_status carom_listed_twice(resolver *r, const carom_datum *c) {
    return carom_fault(r, c, 0, "'%.60s' is listed twice, and a shape cannot touch itself; remove one of the two",
                       c->text);
}

carom_status carom_pairs_never(resolver *r, const carom_mech_contact *entry) {
    return carom_fault(r, &entry->name, 0, "the shapes of contact '%.60s' can never touch; remove this contact",
                       entry->name.text);
}

carom_status carom_ignore_check(resolver *r, const carom_mech_contact *entry) {
    const carom_datum *list = carom_given(&entry->ignore);
    if (list && list->kind != CAROM_LIST)
        return carom_fault(r, list, 0, "ignore is a list of pairs: ignore: [[a, b], [c, d]]");
    for (int i = 0; list && i < list->count; ++i)
        if (list->item[i].kind != CAROM_LIST || list->item[i].count != 2)
            return carom_fault(r, &list->item[i], 0,
                               "each item of ignore is a pair of shapes, families or lists: [[a, b]]");
    return CAROM_OK;
}

// elements.c: the sections `springs`, `motors` and `loads`: forces between bodies, at joints, and from outside.
//
// Springs give their energy to the potential; dampers, motors and loads give forces, by velocity: what they are at rest
// is external, the rest damping.  With a coordinate x (a length, a joint's angle or shift, a component of a
// displacement),
//     V = 1/2 k (x - x_0)^2,   f = -c x' Dx,   f = F Dx   (D: along velocities)                  (ELM-1)
// With a clearance s, or on one side alone, d = max(0, x - x_0 - s) in tension, and alike in compression,
//     V = 1/2 k d^2,   f = -max(-k d, c x') Dx while d > 0: it never pushes                       (ELM-5)
#include "derive/bodies/body.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct element {
    resolver *r;
    const carom_datum *place; // its name
    const char *name;
    char where[80];
    const body *A, *B;
    bool spatial;
    double s_A[3], s_B[3];
    carom_node d[3];         // from the first point to the second
    carom_node energy, force, power; // stored; tension; what forces without potential give
} element;

/// A number, and the same with its parameters.
typedef struct coefficient { double value; carom_node node; } coefficient;

static carom_graph *graph(const element *e) { return e->r->m->graph; }
static carom_node num(const element *e, double x) { return carom_graph_number(graph(e), x); }
static carom_node add(const element *e, carom_node a, carom_node b) { return n_add(graph(e), a, b); }
static carom_node sub(const element *e, carom_node a, carom_node b) { return n_sub(graph(e), a, b); }
static carom_node mul(const element *e, carom_node a, carom_node b) { return n_mul(graph(e), a, b); }

// f += F Dx
static void push(element *e, carom_node F, carom_node x) {
    carom_model *m = e->r->m;
    e->power = add(e, e->power, mul(e, F, carom_graph_rate(m->graph, x, m->visible.nv_own)));
    for (int k = 0; k < m->visible.nv_own; ++k) {
        if (!carom_graph_moves(m->graph, x, k)) continue;
        const carom_node f = mul(e, F, carom_graph_along(m->graph, x, k));
        m->force[k] = m->force[k] == CAROM_NONE ? f : add(e, m->force[k], f);
    }
}

// (ELM-4)  T.Omega = sum_l 1/2 (T x R_l).R_l', R_l the axes of a body: a torque as forces on these, for bodies that are
//          carried
static void torque_by_axes(element *e, const body *b, bool body_frame, const carom_node given[3]) {
    carom_node T[3] = {given[0], given[1], given[2]};
    for (int i = 0; i < 3 && body_frame; ++i) {
        T[i] = num(e, 0);
        for (int j = 0; j < 3; ++j) T[i] = add(e, T[i], mul(e, b->R[3 * i + j], given[j]));
    }
    for (int l = 0; l < 3; ++l)
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, k = (i + 2) % 3;
            const carom_node F = sub(e, mul(e, T[j], b->R[3 * k + l]), mul(e, T[k], b->R[3 * j + l]));
            push(e, mul(e, num(e, 0.5), F), b->R[3 * i + l]);
        }
}

// (ELM-1)  spring and damper on a coordinate
static void spring(element *e, carom_node x, carom_node x0, coefficient k, coefficient c) {
    carom_model *m = e->r->m;
    const carom_node way = sub(e, x, x0), rate = carom_graph_rate(m->graph, x, m->visible.nv_own);
    const carom_node V = mul(e, mul(e, num(e, 0.5), k.node), mul(e, way, way));
    e->energy = add(e, e->energy, V);
    m->energy_of.body_potential = add(e, m->energy_of.body_potential, V);
    e->force = add(e, mul(e, k.node, way), mul(e, c.node, rate));
    if (c.value != 0) push(e, mul(e, sub(e, num(e, 0), c.node), rate), x);
}

// NAME.part for outputs and checks.
static carom_status name_quantity(const element *e, const char *part, carom_node node, carom_node rate) {
    carom_model *m = e->r->m;
    char text[90];
    snprintf(text, sizeof text, "%.60s.%s", e->name, part);
    const name *other = carom_names_find(&m->outs, text, strlen(text));
    if (other)
        return carom_fault(e->r, e->place, 0, "'%s' is already defined as %s%s; rename %s", text,
                           carom_name_kind(other->kind), carom_line_of(other->line).text, e->where);
    if (carom_names_find(&m->names, text, strlen(text))) return CAROM_OK; // the model's own name of that kind wins
    const char *copy = carom_pool_text(&m->memory, text, strlen(text));
    name *n = copy ? carom_names_add(&m->outs, copy, NAME_QUANTITY, 0, e->place->line) : NULL;
    if (!n) return carom_fault_memory(e->r);
    n->node = node;
    n->rate = rate;
    return CAROM_OK;
}

static coefficient number(const element *e, double x) { return (coefficient){x, num(e, x)}; }

static carom_status not_negative(const element *e, const carom_datum *n, const char *key, coefficient *x) {
    CAROM_TRY(carom_resolve_term(e->r, n, key, BOUND_COEFFICIENT, 0, &x->value, &x->node));
    if (x->value >= 0) return CAROM_OK;
    return carom_fault(e->r, n, 0, "%s must not be negative, got %g", key, x->value);
}

static carom_status read_coefficient(const element *e, const carom_datum *n, coefficient *x) {
    return carom_given(n) ? not_negative(e, n, n->key->text, x) : CAROM_OK;
}

// -- springs ---------------------------------------------------------------------------------------------------------

static carom_status fix_start(const element *e) {
    CAROM_TRY(carom_body_start_fixed(e->r, e->A));
    return carom_body_start_fixed(e->r, e->B);
}

static carom_status read_ends(element *e, const carom_mech_spring *of, bool one_place) {
    const carom_datum *between = carom_given(&of->between), *points = carom_given(&of->points),
                      *at = carom_given(&of->at);
    if (!between || between->kind != CAROM_LIST || between->count != 2)
        return carom_fault(e->r, between ? between : e->place, 0,
                           "%s acts between two bodies (`between: [ground, NAME]`) or at a joint (`joint: NAME`)",
                           e->where);
    const double *named[2];
    CAROM_TRY(carom_find_end(e->r, between->item, &e->A, &named[0]));
    CAROM_TRY(carom_find_end(e->r, between->item + 1, &e->B, &named[1]));
    if (e->A == e->B) return carom_fault(e->r, between, 0, "%s connects a body with itself", e->where);
    if (e->A->space != EITHER && e->B->space != EITHER && e->A->space != e->B->space)
        return carom_fault(e->r, between, 0, "%s connects a planar body with a spatial one; make both alike", e->where);
    e->spatial = e->A->space == SPATIAL || e->B->space == SPATIAL;
    if (named[0] || named[1]) {
        if (at || points)
            return carom_fault(e->r, at ? at->key : points->key, 0,
                               "%s names a point in `between` and has `%s` too; give only one", e->where,
                               at ? "at" : "points");
        CAROM_TRY(fix_start(e));
        carom_body_ends((const body *const[]){e->A, e->B}, named, one_place, e->s_A, e->s_B);
    } else if (at && one_place && !points) {
        double p[3] = {0};
        CAROM_TRY(carom_resolve_vector(e->r, at, "the place", e->spatial ? 3 : 2, p));
        CAROM_TRY(fix_start(e));
        carom_body_local(e->A, p, e->s_A);
        carom_body_local(e->B, p, e->s_B);
    } else {
        if (at || !points || points->kind != CAROM_LIST || points->count != 2)
            return carom_fault(e->r,
                               at       ? at->key
                               : points ? points
                                        : e->place,
                               0, "%s needs `points:` with one in the frame of each body%s, or BODY.POINT in `between`",
                               e->where, one_place ? ", or `at:` (world frame, initial position)" : "");
        CAROM_TRY(carom_body_point_at(e->r, points->item, e->A, e->spatial, e->s_A));
        CAROM_TRY(carom_body_point_at(e->r, points->item + 1, e->B, e->spatial, e->s_B));
    }
    carom_node p_A[3], p_B[3];
    carom_body_point(e->r, e->A, e->s_A, p_A);
    carom_body_point(e->r, e->B, e->s_B, p_B);
    for (int i = 0; i < 3; ++i) e->d[i] = sub(e, p_B[i], p_A[i]);
    return CAROM_OK;
}

// For drawings.
static carom_status keep_strut(const element *e) {
    carom_model *m = e->r->m;
    strut *s = carom_pool_take(&m->memory, sizeof *s);
    if (!s) return carom_fault_memory(e->r);
    *s = (strut){.name = e->name, .place = e->place, .A = e->A, .B = e->B, .next = m->struts};
    memcpy(s->s_A, e->s_A, sizeof s->s_A);
    memcpy(s->s_B, e->s_B, sizeof s->s_B);
    m->struts = s;
    return CAROM_OK;
}

// Jumps of the n expressions are events.
static carom_status note(element *e, int n, const carom_node *F) {
    for (int i = 0; i < n; ++i)
        if (!carom_terms_add(&e->r->m->as_written, F[i], 0, 0, 0)) return carom_fault_memory(e->r);
    return CAROM_OK;
}

// A force F against the coordinate x, which counts as that of a motor.
static carom_status law(element *e, const carom_mech_spring *of, carom_node x) {
    carom_model *m = e->r->m;
    const carom_datum *const other[] = {&of->stiffness, &of->damping, &of->clearance,
                                        &of->one_sided, &of->length,  &of->rest};
    for (int i = 0; i < 6; ++i)
        if (carom_given(other[i]))
            return carom_fault(e->r, other[i]->key, 0,
                               "%s: `force` and `%s` are mutually exclusive; write it into the expression", e->where,
                               other[i]->key->text);
    carom_node F = CAROM_NONE;
    e->r->spring_length = x, e->r->spring_rate = carom_graph_rate(m->graph, x, m->visible.nv_own);
    CAROM_TRY(carom_resolve_expression(e->r, &of->force, SCOPE_STATE | SCOPE_SPRING, "the force", &F));
    CAROM_TRY(note(e, 1, &F));
    e->force = F;
    push(e, sub(e, num(e, 0), F), x);
    return CAROM_OK;
}

// (ELM-5)  one side of it: d is how far it is beyond its clearance, sign 1 in tension
static void one_side(element *e, carom_node x, carom_node d, coefficient k, coefficient c, double sign) {
    carom_model *m = e->r->m;
    const carom_node zero = num(e, 0), elastic = mul(e, k.node, d),
                     V = mul(e, mul(e, num(e, 0.5), k.node), mul(e, d, d));
    const carom_node rate = mul(e, num(e, sign), carom_graph_rate(m->graph, x, m->visible.nv_own));
    e->energy = add(e, e->energy, V);
    m->energy_of.body_potential = add(e, m->energy_of.body_potential, V);
    carom_node F = elastic;
    if (c.value != 0) {
        const carom_node most =
            carom_graph_apply(m->graph, CAROM_OP_MAX, sub(e, zero, elastic), mul(e, c.node, rate), CAROM_NONE);
        const carom_node D = n_if(m->graph, carom_graph_apply(m->graph, CAROM_OP_GT, d, zero, CAROM_NONE), most, zero);
        push(e, mul(e, num(e, -sign), D), x);
        F = add(e, F, D);
    }
    e->force = add(e, e->force, mul(e, num(e, sign), F));
}

static carom_status spring_of(element *e, const carom_mech_spring *of, carom_node x, carom_node x0, coefficient k,
                              coefficient c) {
    const carom_datum *side = carom_given(&of->one_sided);
    const bool tension = side && carom_datum_is(side, "tension"),
               compression = side && carom_datum_is(side, "compression");
    coefficient s = number(e, 0);
    if (side && !tension && !compression)
        return carom_fault(e->r, side, 0, "%s: `one-sided` is tension or compression", e->where);
    CAROM_TRY(read_coefficient(e, &of->clearance, &s));
    if (!side && !carom_given(&of->clearance)) return spring(e, x, x0, k, c), CAROM_OK;
    const carom_node way = sub(e, x, x0), zero = num(e, 0);
    e->force = zero;
    if (!compression)
        one_side(e, x, carom_graph_apply(graph(e), CAROM_OP_MAX, zero, sub(e, way, s.node), CAROM_NONE), k, c, 1);
    if (!tension)
        one_side(e, x, carom_graph_apply(graph(e), CAROM_OP_MAX, zero, sub(e, sub(e, zero, way), s.node), CAROM_NONE),
                 k, c, -1);
    return CAROM_OK;
}

static carom_status line_spring(element *e, const carom_mech_spring *of) {
    double way[3], distance = 0;
    coefficient k = number(e, 0), c = k;
    CAROM_TRY(read_ends(e, of, false));
    CAROM_TRY(keep_strut(e));
    CAROM_TRY(read_coefficient(e, &of->stiffness, &k));
    CAROM_TRY(read_coefficient(e, &of->damping, &c));
    for (int i = 0; i < 3; ++i) {
        way[i] = e->B->r0[i] - e->A->r0[i];
        for (int j = 0; j < 3; ++j) way[i] += e->B->R0[3 * i + j] * e->s_B[j] - e->A->R0[3 * i + j] * e->s_A[j];
        distance += way[i] * way[i];
    }
    coefficient length = number(e, sqrt(distance));
    if (!carom_given(&of->length)) CAROM_TRY(fix_start(e));
    CAROM_TRY(read_coefficient(e, &of->length, &length));
    carom_node square = num(e, 0);
    for (int i = 0; i < (e->spatial ? 3 : 2); ++i) square = add(e, square, mul(e, e->d[i], e->d[i]));
    // no direction needed: V = 1/2 k d.d is smooth also where the points meet
    if (length.value == 0 && c.value == 0 && !carom_given(&of->force) && !carom_given(&of->clearance) &&
        !carom_given(&of->one_sided)) {
        e->energy = mul(e, mul(e, num(e, 0.5), k.node), square);
        e->r->m->energy_of.body_potential = add(e, e->r->m->energy_of.body_potential, e->energy);
        return name_quantity(e, "energy", e->energy, CAROM_NONE);
    }
    const carom_node x = carom_graph_apply(graph(e), CAROM_OP_SQRT, square, CAROM_NONE, CAROM_NONE);
    CAROM_TRY(carom_given(&of->force) ? law(e, of, x) : spring_of(e, of, x, length.node, k, c));
    CAROM_TRY(name_quantity(e, "length", x, CAROM_NONE));
    CAROM_TRY(name_quantity(e, "force", e->force, CAROM_NONE));
    return name_quantity(e, "energy", e->energy, CAROM_NONE);
}

static carom_status joint_spring(element *e, const carom_mech_spring *of) {
    double rest = 0;
    coefficient k = number(e, 0), c = k;
    joint *j = NULL;
    carom_node x, rest_node = num(e, 0);
    CAROM_TRY(carom_find_joint(e->r, &of->joint, &j));
    CAROM_TRY(carom_joint_coordinate(e->r, &of->joint, j, &x));
    const bool shift = x == j->shift;
    CAROM_TRY(carom_check_unit(e->r, e->where, &of->stiffness, shift ? "N/m" : "N m/rad", NULL));
    CAROM_TRY(carom_check_unit(e->r, e->where, &of->damping, shift ? "N s/m" : "N m s/rad", NULL));
    CAROM_TRY(carom_check_unit(e->r, e->where, &of->rest, shift ? "m" : "rad", NULL));
    CAROM_TRY(read_coefficient(e, &of->stiffness, &k));
    CAROM_TRY(read_coefficient(e, &of->damping, &c));
    if (carom_given(&of->rest))
        CAROM_TRY(carom_resolve_term(e->r, &of->rest, "rest", BOUND_NUMBER, 0, &rest, &rest_node));
    CAROM_TRY(carom_check_unit(e->r, e->where, &of->clearance, shift ? "m" : "rad", NULL));
    CAROM_TRY(carom_check_unit(e->r, e->where, &of->force, shift ? "N" : "N m", NULL));
    CAROM_TRY(carom_given(&of->force) ? law(e, of, x) : spring_of(e, of, x, rest_node, k, c));
    CAROM_TRY(name_quantity(e, "force", e->force, CAROM_NONE));
    return name_quantity(e, "energy", e->energy, CAROM_NONE);
}

// One number for all directions, or one each.
static carom_status each(const element *e, const carom_datum *t, int n, coefficient *x) {
    for (int i = 0; i < 3; ++i) x[i] = number(e, 0);
    if (!carom_given(t)) return CAROM_OK;
    const char *key = t->key->text;
    if (t->kind == CAROM_LIST) CAROM_TRY(carom_resolve_list(e->r, t, key, n));
    for (int i = 0; i < n; ++i) CAROM_TRY(not_negative(e, t->kind == CAROM_LIST ? &t->item[i] : t, key, &x[i]));
    return CAROM_OK;
}

// (ELM-2)  V = sum_i kappa_i (1 - a_i.b_i), kappa_x = (k_y + k_z - k_x)/2, ...: torque k_x sin(angle) about x
static void turn_spring(element *e, const carom_node *a, const carom_node *b, const coefficient *k) {
    carom_node V = num(e, 0);
    for (int i = 0; i < 3; ++i) {
        carom_node c = num(e, 1);
        for (int l = 0; l < 3; ++l) c = sub(e, c, mul(e, a[3 * i + l], b[3 * i + l]));
        V = add(e, V,
                mul(e, mul(e, num(e, 0.5), sub(e, add(e, k[(i + 1) % 3].node, k[(i + 2) % 3].node), k[i].node)), c));
    }
    e->energy = add(e, e->energy, V);
    e->r->m->energy_of.body_potential = add(e, e->r->m->energy_of.body_potential, V);
}

// Bushing: springs and dampers on the displacement d in the frame of A, and on the rotation; its damping on the rate of
// theta_x = 1/2 (z_A.y_B - y_A.z_B), the sine of an angle about x.
static carom_status bushing(element *e, const carom_mech_spring *of) {
    coefficient k[3], c[3], kr[3], cr[3];
    CAROM_TRY(read_ends(e, of, true));
    CAROM_TRY(fix_start(e));
    const int n = e->spatial ? 3 : 2, nr = e->spatial ? 3 : 1;
    CAROM_TRY(each(e, &of->stiffness, n, k));
    CAROM_TRY(each(e, &of->damping, n, c));
    CAROM_TRY(each(e, &of->torsion, nr, kr));
    CAROM_TRY(each(e, &of->torsion_damping, nr, cr));
    carom_node a[9], b[9];
    for (int i = 0; i < 3; ++i) {
        double x[3] = {i == 0, i == 1, i == 2}, world[3], back[3];
        for (int l = 0; l < 3; ++l) world[l] = e->A->R0[3 * l + i];
        carom_body_turn_back(e->B, world, back);
        carom_body_vector(e->r, e->A, x, a + 3 * i);
        carom_body_vector(e->r, e->B, back, b + 3 * i);
    }
    for (int i = 0; i < n; ++i) {
        carom_node x = num(e, 0);
        for (int l = 0; l < n; ++l) x = add(e, x, mul(e, a[3 * i + l], e->d[l]));
        if (k[i].value != 0 || c[i].value != 0) spring(e, x, num(e, 0), k[i], c[i]);
    }
    for (int i = 0; i < nr; ++i) {
        if ((e->spatial || kr[i].value == 0) && cr[i].value == 0) continue;
        carom_node x = num(e, 0);
        if (!e->spatial) {
            double angle_A = 0, angle_B = 0;
            CAROM_TRY(carom_body_angle(e->r, e->place, e->A, &angle_A));
            CAROM_TRY(carom_body_angle(e->r, e->place, e->B, &angle_B));
            x = sub(e, sub(e, e->B->angle, e->A->angle), num(e, angle_B - angle_A));
        } else {
            const int y = (i + 1) % 3, z = (i + 2) % 3;
            for (int l = 0; l < 3; ++l)
                x = add(e, x, sub(e, mul(e, a[3 * z + l], b[3 * y + l]), mul(e, a[3 * y + l], b[3 * z + l])));
            x = mul(e, num(e, 0.5), x);
        }
        spring(e, x, num(e, 0), e->spatial ? number(e, 0) : kr[i], cr[i]);
    }
    if (e->spatial) turn_spring(e, a, b, kr);
    return name_quantity(e, "energy", e->energy, CAROM_NONE);
}

static carom_status read_spring(element *e, const void *record) {
    const carom_mech_spring *of = record;
    if (carom_given(&of->type) && !carom_datum_is(&of->type, "bushing"))
        return carom_fault(
            e->r, &of->type, 0,
            "the type of a spring is `bushing`; others have none: they act between points or at a joint");
    if (!carom_given(&of->stiffness) && !carom_given(&of->damping) && !carom_given(&of->force) &&
        !carom_given(&of->torsion) && !carom_given(&of->torsion_damping))
        return carom_fault(e->r, e->place, 0, "%s has neither stiffness nor damping", e->where);
    return carom_given(&of->type) ? bushing(e, of) : carom_given(&of->joint) ? joint_spring(e, of) : line_spring(e, of);
}

// -- motors and loads -------------------------------------------------------------------------------------------------

static carom_status read_motor(element *e, const void *record) {
    const carom_mech_motor *of = record;
    const carom_datum *at = carom_given(&of->joint), *torque = carom_given(&of->torque),
                      *force = carom_given(&of->force), *n = torque ? torque : force;
    joint *j = NULL;
    carom_node x, F;
    if (!at) return carom_fault(e->r, e->place, 0, "%s has no joint; write `joint: NAME`", e->where);
    if (!n || (torque && force))
        return carom_fault(e->r, e->place, 0, "%s needs `torque:` (at an angle) or `force:` (at a shift)", e->where);
    CAROM_TRY(carom_find_joint(e->r, at, &j));
    CAROM_TRY(carom_resolve_expression(e->r, n, SCOPE_STATE, "the motor", &F));
    if (force && j->shift == CAROM_NONE)
        return carom_fault(e->r, n->key, 0, "joint '%s' has no shift; write `torque:`", j->name);
    if (force) x = j->shift;
    else CAROM_TRY(carom_joint_coordinate(e->r, at, j, &x));
    if (torque && x == j->shift)
        return carom_fault(e->r, n->key, 0, "joint '%s' has no angle; write `force:`", j->name);
    push(e, F, x);
    return note(e, 1, &F);
}

// (ELM-3)  force F at a point p: f += F.Dp;  torque T: f_w += R'T (spatial), f_angle += T (planar)
static carom_status read_load(element *e, const void *record) {
    const carom_mech_load *of = record;
    carom_model *m = e->r->m;
    const carom_datum *on = carom_given(&of->on), *force = carom_given(&of->force), *torque = carom_given(&of->torque),
                      *frame = carom_given(&of->frame), *place = carom_given(&of->point);
    const body *b = NULL;
    double s[3] = {0};
    carom_node p[3], F[3], T[3];
    if (!on) return carom_fault(e->r, e->place, 0, "%s acts on a body; write `on: NAME`", e->where);
    CAROM_TRY(carom_find_body(e->r, on, &b));
    if (carom_body_prescribed(b))
        return carom_fault(e->r, on, 0, "the motion of '%s' is prescribed; forces have no effect on it", b->name);
    if (!force && !torque) return carom_fault(e->r, e->place, 0, "%s has neither force nor torque", e->where);
    e->spatial = b->space == SPATIAL;
    const int n = e->spatial ? 3 : 2;
    const bool body_frame = carom_datum_is(frame, "body");
    if (frame && !body_frame && !carom_datum_is(frame, "world"))
        return carom_fault(e->r, frame, 0, "frame is `world` (default) or `body`: whose axes the components belong to");
    if (place) CAROM_TRY(carom_body_point_at(e->r, place, b, e->spatial, s));
    carom_body_point(e->r, b, s, p);
    if (force) {
        CAROM_TRY(carom_resolve_nodes(e->r, force, SCOPE_STATE, "the force", n, F));
        CAROM_TRY(note(e, n, F));
        for (int i = 0; i < n; ++i) {
            carom_node f = num(e, 0);
            for (int j = 0; j < n && body_frame; ++j) f = add(e, f, mul(e, b->R[3 * i + j], F[j]));
            push(e, body_frame ? f : F[i], p[i]);
        }
    }
    if (!torque) return CAROM_OK;
    if (!e->spatial) {
        CAROM_TRY(carom_resolve_expression(e->r, torque, SCOPE_STATE, "the torque", &T[0]));
        push(e, T[0], b->angle);
        return note(e, 1, T);
    }
    CAROM_TRY(carom_resolve_nodes(e->r, torque, SCOPE_STATE, "the torque", 3, T));
    CAROM_TRY(note(e, 3, T));
    if (b->carried) {
        torque_by_axes(e, b, body_frame, T);
        return CAROM_OK;
    }
    for (int k = 0; k < 3; ++k) {
        carom_node t = num(e, 0);
        for (int i = 0; i < 3 && !body_frame; ++i) t = add(e, t, mul(e, b->R[3 * i + k], T[i]));
        if (body_frame) t = T[k];
        carom_node *f = &m->force[b->v + 3 + k];
        *f = *f == CAROM_NONE ? t : add(e, *f, t);
        e->power = add(e, e->power, mul(e, t, carom_graph_input(graph(e), CAROM_VELOCITY, b->v + 3 + k)));
    }
    return CAROM_OK;
}

// For the ledger.
static carom_status keep_book(const element *e, const char *kind) {
    carom_model *m = e->r->m;
    m->elements[m->nelements++] = (element_book){e->name, kind, e->energy, e->power};
    return name_quantity(e, "power", e->power, CAROM_NONE);
}

carom_status carom_derive_elements(resolver *r) {
    const carom_mech *x = r->mech;
    const struct {
        const char *word;
        carom_status (*read)(element *e, const void *record);
        const void *list;
        int count;
        size_t size;
    } kinds[] = {{"spring", read_spring, x->springs, x->nsprings, sizeof *x->springs},
                 {"motor", read_motor, x->motors, x->nmotors, sizeof *x->motors},
                 {"load", read_load, x->loads, x->nloads, sizeof *x->loads}};
    carom_model *m = r->m;
    m->force = carom_pool_take(&m->memory, ((size_t)m->visible.nv_own + 1) * sizeof *m->force);
    m->elements = carom_pool_take(&m->memory, (size_t)(x->nsprings + x->nmotors + x->nloads + 1) * sizeof *m->elements);
    if (!m->force || !m->elements) return carom_fault_memory(r);
    for (int i = 0; i < m->visible.nv_own; ++i) m->force[i] = CAROM_NONE;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
        for (int i = 0; i < kinds[k].count; ++i) {
            // comes first
            const carom_datum *name = (const void *)((const unsigned char *)kinds[k].list + (size_t)i * kinds[k].size);
            element e = {.r = r, .place = name, .name = name->text};
            e.energy = e.force = e.power = carom_graph_number(m->graph, 0);
            snprintf(e.where, sizeof e.where, "%s '%.60s'", kinds[k].word, e.name);
            CAROM_TRY(carom_part_name(r, name));
            CAROM_TRY(kinds[k].read(&e, name));
            CAROM_TRY(keep_book(&e, kinds[k].word));
        }
    return CAROM_OK;
}

// stops.c: contacts that ropes and joints make: a rope that is taut, limits of joints, play of gears, friction in a
// bearing.
//
// Each becomes an entry of `contacts` like all others, in a mechanism of the model's own, behind those that are
// written: NAME of a rope; NAME.lower, NAME.upper and NAME.friction of a joint.  So laws, schemes, columns and events
// know nothing of them.  Their gaps:
//     c - lower >= 0,   upper - c >= 0,   c a coordinate of the joint                                 (JNT-8)
//     (z_A.z_B - cos(upper))/sin(upper) >= 0,   of a spherical joint whose axis z tilts               (JNT-9)
//     y - i x + b/2 >= 0,   b/2 - (y - i x) >= 0,   of a gear with the ratio i and the play b         (JNT-10)
//     l - sum |p_k+1 - p_k| >= 0,   of a rope through points p_k                                      (ELM-6)
// (JNT-9) is upper less the angle between the axes, to first order at the stop, and smooth where they are parallel.
#include "derive/bodies/body.h"
#include "derive/soft.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double TINY = 1e-9; // of the length of a rope: points nearer than this have no direction

struct carom_stop {
    stop_kind kind;
    const carom_mech_joint *joint; // NULL: a rope
    int rope;
};

static int count_stops(const carom_mech *x) {
    int n = x->nropes;
    for (int i = 0; i < x->njoints; ++i)
        n += 2 * (x->joints[i].limits != NULL) + 2 * (x->joints[i].backlash != NULL) +
             2 * (carom_given(&x->joints[i].friction) != NULL);
    return n;
}

typedef struct maker {
    resolver *r;
    carom_mech_contact *contact;
    struct carom_stop *stop;
    int n;
} maker;

// NAME.part, at the place of `name`.
static carom_status call(resolver *r, const carom_datum *name, const char *part, carom_datum *made) {
    char text[100];
    const int length = snprintf(text, sizeof text, "%.60s%s%s", name->text, *part ? "." : "", part);
    *made = *name;
    made->text = carom_pool_text(&r->m->memory, text, (size_t)length);
    made->length = (size_t)length;
    made->kind = CAROM_TEXT;
    return made->text ? CAROM_OK : carom_fault_memory(r);
}

// No friction, whatever the defaults say.
static carom_datum none_of(const carom_datum *at) {
    return (carom_datum){.kind = CAROM_NUMBER, .text = "", .line = at->line, .column = at->column, .of = at->of};
}

static carom_status make(maker *k, const carom_datum *name, const char *part, stop_kind kind,
                         const carom_mech_joint *joint, const carom_datum *gap) {
    carom_mech_contact *c = &k->contact[k->n];
    *c = (carom_mech_contact){.gap = *gap, .friction = none_of(name)};
    k->stop[k->n++] = (struct carom_stop){.kind = kind, .joint = joint};
    return call(k->r, name, part, &c->name);
}

static void law(maker *k, const carom_datum *restitution, const carom_datum *stiffness, const carom_datum *damping) {
    carom_mech_contact *c = &k->contact[k->n - 1];
    c->restitution = *restitution, c->stiffness = *stiffness, c->damping = *damping;
}

static carom_status make_limits(maker *k, const carom_mech_joint *j) {
    const carom_mech_limits *l = j->limits;
    const carom_datum *lower = carom_given(&l->lower), *upper = carom_given(&l->upper);
    if (!lower && !upper)
        return carom_fault(k->r, &l->name, 0, "limits of joint '%.60s' are empty; give `lower`, `upper` or both",
                           j->name.text);
    if (lower) {
        CAROM_TRY(make(k, &j->name, "lower", STOP_LOWER, j, lower));
        law(k, &l->restitution, &l->stiffness, &l->damping);
    }
    if (!upper) return CAROM_OK;
    CAROM_TRY(make(k, &j->name, "upper", STOP_UPPER, j, upper));
    law(k, &l->restitution, &l->stiffness, &l->damping);
    return CAROM_OK;
}

static carom_status make_backlash(maker *k, const carom_mech_joint *j) {
    const carom_mech_backlash *b = j->backlash;
    if (!carom_given(&b->width))
        return carom_fault(k->r, &b->name, 0, "backlash of joint '%.60s' has no width; write `backlash: 0.01`",
                           j->name.text);
    if (!carom_datum_is(&j->type, "gear")) return CAROM_OK; // joints.c says so
    for (int side = 0; side < 2; ++side) {
        CAROM_TRY(make(k, &j->name, side ? "upper" : "lower", side ? STOP_UPPER : STOP_LOWER, j, &b->width));
        law(k, &b->restitution, &b->stiffness, &b->damping);
    }
    return CAROM_OK;
}

// The bearings of a universal joint are two, one for each of its axes.
static carom_status make_friction(maker *k, const carom_mech_joint *j) {
    static const char *const parts[] = {"friction", "friction1", "friction2"};
    const bool two = carom_datum_is(&j->type, "universal");
    for (int i = two; i <= 2 * two; ++i) {
        carom_mech_contact *c = &k->contact[k->n];
        *c = (carom_mech_contact){.joint = j->name, .friction = j->friction, .radius = j->radius};
        c->joint.kind = CAROM_TEXT;
        k->stop[k->n++] = (struct carom_stop){.kind = i == 2 ? STOP_SECOND : STOP_FRICTION, .joint = j};
        CAROM_TRY(call(k->r, &j->name, parts[i], &c->name));
    }
    return CAROM_OK;
}

carom_status carom_derive_stops(resolver *r) {
    const carom_mech *x = r->mech;
    const int most = count_stops(x);
    r->first_stop = x->ncontacts;
    for (int i = 0; i < x->njoints; ++i)
        if (carom_given(&x->joints[i].radius) && !carom_given(&x->joints[i].friction))
            return carom_fault(r, x->joints[i].radius.key, 0,
                               "joint '%.60s' has a radius and no friction; add `friction:`, or remove `radius`",
                               x->joints[i].name.text);
    if (most == 0) return CAROM_OK;
    carom_mech *whole = carom_pool_take(&r->m->memory, sizeof *whole);
    maker k = {.r = r};
    carom_mech_contact *all =
        carom_pool_take(&r->m->memory, ((size_t)x->ncontacts + (size_t)most) * sizeof *k.contact);
    k.stop = carom_pool_take(&r->m->memory, (size_t)most * sizeof *k.stop);
    if (!whole || !all || !k.stop) return carom_fault_memory(r);
    if (x->ncontacts) memcpy(all, x->contacts, (size_t)x->ncontacts * sizeof *all);
    k.contact = all + x->ncontacts;
    for (int i = 0; i < x->nropes; ++i) {
        const carom_mech_rope *of = &x->ropes[i];
        CAROM_TRY(carom_part_name(r, &of->name));
        CAROM_TRY(make(&k, &of->name, "", STOP_ROPE, NULL, carom_given(&of->length) ? &of->length : &of->name));
        law(&k, &of->restitution, &of->stiffness, &of->damping);
        k.stop[k.n - 1].rope = i;
    }
    for (int i = 0; i < x->njoints; ++i) {
        const carom_mech_joint *j = &x->joints[i];
        if (j->limits) CAROM_TRY(make_limits(&k, j));
        if (j->backlash) CAROM_TRY(make_backlash(&k, j));
        if (carom_given(&j->friction)) CAROM_TRY(make_friction(&k, j));
    }
    *whole = *x;
    whole->contacts = all;
    whole->ncontacts += k.n;
    r->stops = k.stop;
    r->mech = whole;
    return CAROM_OK;
}

static const struct carom_stop *stop_of(const resolver *r, const carom_mech_contact *of) {
    const ptrdiff_t i = of - r->mech->contacts - r->first_stop;
    return r->stops && i >= 0 && i < r->mech->ncontacts - r->first_stop ? &r->stops[i] : NULL;
}

stop_kind carom_contact_stop(const resolver *r, const carom_mech_contact *of) {
    const struct carom_stop *s = stop_of(r, of);
    return s ? s->kind : STOP_NONE;
}

// -- ropes ------------------------------------------------------------------------------------------------------------

typedef struct end { const body *of; double s[3]; } end;

static carom_status read_ends(resolver *r, const carom_mech_rope *of, end *e, int n, bool *spatial) {
    const carom_datum *between = &of->between, *points = carom_given(&of->points);
    bool planar = false;
    for (int i = 0; i < n; ++i) {
        const double *named;
        CAROM_TRY(carom_find_end(r, &between->item[i], &e[i].of, &named));
        if (named) memcpy(e[i].s, named, sizeof e[i].s);
        *spatial = *spatial || e[i].of->space == SPATIAL;
        planar = planar || e[i].of->space == PLANAR;
        if (i > 0 && !points && e[i].of == e[i - 1].of && memcmp(e[i].s, e[i - 1].s, sizeof e[i].s) == 0)
            return carom_fault(r, &between->item[i], 0, "rope '%.60s' goes from a point to the same point",
                               of->name.text);
    }
    if (*spatial && planar)
        return carom_fault(r, between, 0, "rope '%.60s' connects a planar body with a spatial one; make both alike",
                           of->name.text);
    if (!points) return CAROM_OK;
    if (points->kind != CAROM_LIST || points->count != n)
        return carom_fault(r, points, 0, "points of rope '%.60s' is a list of %d, one in the frame of each body",
                           of->name.text, n);
    for (int i = 0; i < n; ++i) CAROM_TRY(carom_body_point_at(r, &points->item[i], e[i].of, *spatial, e[i].s));
    return CAROM_OK;
}

// For drawings.
static carom_status keep(resolver *r, const carom_mech_rope *of, const end *a, const end *b) {
    carom_model *m = r->m;
    strut *s = carom_pool_take(&m->memory, sizeof *s);
    if (!s) return carom_fault_memory(r);
    *s = (strut){.name = of->name.text, .place = &of->name, .A = a->of, .B = b->of, .rope = true, .next = m->struts};
    memcpy(s->s_A, a->s, sizeof s->s_A);
    memcpy(s->s_B, b->s, sizeof s->s_B);
    m->struts = s;
    return CAROM_OK;
}

static double distance(const end *a, const end *b) {
    double p[3], q[3];
    carom_body_place(a->of, a->s, p);
    carom_body_place(b->of, b->s, q);
    return sqrt((q[0] - p[0]) * (q[0] - p[0]) + (q[1] - p[1]) * (q[1] - p[1]) + (q[2] - p[2]) * (q[2] - p[2]));
}

// (ELM-6)  the length that the points want, by parts; a part without a direction, where two points meet, has none
static carom_status rope(resolver *r, const carom_mech_rope *of, carom_node *gap) {
    carom_graph *g = r->m->graph;
    const carom_datum *between = carom_given(&of->between), *length = carom_given(&of->length);
    if (!between || between->kind != CAROM_LIST || between->count < 2)
        return carom_fault(r, between ? between : &of->name, 0,
                           "rope '%.60s' connects bodies; write `between: [ground, NAME]`", of->name.text);
    const int n = between->count;
    bool spatial = false;
    end *e = carom_pool_take(&r->m->memory, (size_t)n * sizeof *e);
    if (!e) return carom_fault_memory(r);
    CAROM_TRY(read_ends(r, of, e, n, &spatial));
    double start = 0, size = 0;
    carom_node sum = n_num(g, 0);
    for (int i = 1; i < n; ++i) start += distance(&e[i - 1], &e[i]);
    if (length) {
        CAROM_TRY(carom_resolve_expression(r, length, SCOPE_STATE, "the length of a rope", gap));
        if (carom_graph_is_number(g, *gap, &size) && !(size > 0))
            return carom_fault(r, length, 0, "the length of a rope must be positive, got %g", size);
    } else {
        for (int i = 0; i < n; ++i) CAROM_TRY(carom_body_start_fixed(r, e[i].of));
        if (!(start > 0))
            return carom_fault(r, &of->name, 0, "the points of rope '%.60s' coincide initially; add `length:`",
                               of->name.text);
        *gap = n_num(g, start);
    }
    for (int i = 1; i < n; ++i) {
        carom_node a[3], b[3], square = n_num(g, 0);
        const double tiny = TINY * (size > 0 ? size : start > 0 ? start : 1);
        carom_body_point(r, e[i - 1].of, e[i - 1].s, a);
        carom_body_point(r, e[i].of, e[i].s, b);
        for (int c = 0; c < (spatial ? 3 : 2); ++c) {
            const carom_node d = n_sub(g, b[c], a[c]);
            square = n_add(g, square, n_mul(g, d, d));
        }
        sum = n_add(g, sum,
                    n_if(g, n_less(g, n_num(g, tiny * tiny), square), n_fun(g, CAROM_OP_SQRT, square), n_num(g, 0)));
        CAROM_TRY(keep(r, of, &e[i - 1], &e[i]));
    }
    *gap = n_sub(g, *gap, sum);
    return CAROM_OK;
}

carom_status carom_derive_ropes(resolver *r) {
    const int n = r->mech->nropes;
    if (n == 0) return CAROM_OK;
    r->rope_gap = carom_pool_take(&r->m->memory, (size_t)n * sizeof *r->rope_gap);
    if (!r->rope_gap) return carom_fault_memory(r);
    for (int i = 0; i < n; ++i) CAROM_TRY(rope(r, &r->mech->ropes[i], &r->rope_gap[i]));
    return CAROM_OK;
}

// -- gaps -------------------------------------------------------------------------------------------------------------

static carom_status check_units(resolver *r, const char *where, const carom_mech_contact *of, bool shift) {
    CAROM_TRY(carom_check_unit(r, where, &of->gap, shift ? "m" : "rad", NULL));
    CAROM_TRY(carom_check_unit(r, where, &of->stiffness, shift ? "N/m" : "N m/rad", NULL));
    return carom_check_unit(r, where, &of->damping, shift ? "s/m" : "s/rad", NULL);
}

// (JNT-9)
static carom_status swing(resolver *r, const carom_mech_contact *of, const struct carom_stop *s, const joint *j,
                          carom_node *x) {
    carom_graph *g = r->m->graph;
    double most = 0;
    carom_node a[3], b[3], c = n_num(g, 0);
    if (s->kind == STOP_LOWER)
        return carom_fault(r, of->gap.key, 0, "the axis of spherical joint '%s' tilts in any direction; give `upper` "
                                              "alone, the largest angle", j->name);
    if (carom_given(&s->joint->limits->of))
        return carom_fault(r, &s->joint->limits->of, 0,
                           "limits of a spherical joint are those of the angle of its axis; remove `of`");
    if (!carom_given(&s->joint->axis) && !carom_given(&s->joint->axes))
        return carom_fault(r, of->gap.key, 0,
                           "limits of spherical joint '%s' bound the tilt of its axis; add `axis: [0, 0, 1]` (world "
                           "frame, initial position)", j->name);
    CAROM_TRY(carom_resolve_number(r, &of->gap, "the limit", &most));
    if (!(most > 0 && most < 3.14159265358979323846))
        return carom_fault(r, &of->gap, 0, "the largest tilt must lie between 0 and pi, got %g", most);
    carom_body_vector(r, j->A, (const double[3]){j->X_A[2], j->X_A[5], j->X_A[8]}, a);
    carom_body_vector(r, j->B, (const double[3]){j->X_B[2], j->X_B[5], j->X_B[8]}, b);
    for (int i = 0; i < 3; ++i) c = n_add(g, c, n_mul(g, a[i], b[i]));
    *x = n_mul(g, n_sub(g, c, n_num(g, cos(most))), n_num(g, 1 / sin(most)));
    return CAROM_OK;
}

// Lower and upper limits that are numbers of parameters, in this order.
static carom_status check_order(resolver *r, const carom_mech_limits *l) {
    carom_node lower, upper;
    double a, b;
    if (!carom_given(&l->lower) || !carom_given(&l->upper)) return CAROM_OK;
    CAROM_TRY(carom_resolve_expression(r, &l->lower, SCOPE_STATE, "the limit", &lower));
    CAROM_TRY(carom_resolve_expression(r, &l->upper, SCOPE_STATE, "the limit", &upper));
    const carom_node way = n_sub(r->m->graph, upper, lower);
    if (carom_graph_depends(r->m->graph, way, CAROM_POSITION, -1) ||
        carom_graph_depends(r->m->graph, way, CAROM_TIME, 0))
        return CAROM_OK;
    CAROM_TRY(carom_resolve_start(r, &l->lower, lower, &a));
    CAROM_TRY(carom_resolve_start(r, &l->upper, upper, &b));
    if (a < b) return CAROM_OK;
    return carom_fault(r, &l->upper, 0, "upper is %g and lower %g; upper must be larger", b, a);
}

carom_status carom_stop_gap(resolver *r, const carom_mech_contact *of, carom_node *x) {
    const struct carom_stop *s = stop_of(r, of);
    carom_graph *g = r->m->graph;
    if (s->kind == STOP_ROPE) return *x = r->rope_gap[s->rope], CAROM_OK;
    joint *j = NULL;
    carom_node c, bound;
    bool shift = false;
    char where[80];
    snprintf(where, sizeof where, "joint '%.60s'", s->joint->name.text);
    CAROM_TRY(carom_find_joint(r, &s->joint->name, &j));
    if (carom_joint_spherical(j)) return swing(r, of, s, j, x);
    if (s->joint->backlash) {
        double width = 0;
        CAROM_TRY(check_units(r, where, of, j->shifts));
        CAROM_TRY(carom_resolve_number(r, &of->gap, "the width", &width));
        if (!(width > 0)) return carom_fault(r, &of->gap, 0, "the width of a backlash must be positive, got %g", width);
        const carom_node half = n_num(g, width / 2);
        *x = s->kind == STOP_LOWER ? n_add(g, j->play, half) : n_sub(g, half, j->play);
        return CAROM_OK;
    }
    CAROM_TRY(carom_joint_part(r, &s->joint->limits->name, j, carom_given(&s->joint->limits->of), &c, &shift));
    CAROM_TRY(check_units(r, where, of, shift));
    CAROM_TRY(check_order(r, s->joint->limits));
    CAROM_TRY(carom_resolve_expression(r, &of->gap, SCOPE_STATE, "the limit", &bound));
    *x = s->kind == STOP_LOWER ? n_sub(g, c, bound) : n_sub(g, bound, c);
    return CAROM_OK;
}

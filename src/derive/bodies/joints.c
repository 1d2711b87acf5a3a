// joints.c: the section `joints`: what two bodies may not do to each other, as constraints.
//
// Few primitives: points coincide (world components), a point in a plane or on a line of a body, directions
// perpendicular, a distance, joint coordinates coupled (JNT-1 .. JNT-5).  The joint's frame (x, y, z = axis) is fixed
// in the first body, and every constraint is signed such that its reaction is a component of what acts on the second
// body.
//
// An angle of a spatial joint is a position of its own, counted over turns: it moves as atan2 says and is set by
// move().
#include "base/tolerance.h"
#include "base/grow.h"
#include "base/option.h"
#include "derive/bodies/body.h"
#include "mech/keys.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum type { REVOLUTE, PRISMATIC, SPHERICAL, CYLINDRICAL, UNIVERSAL, PLANE, WELD, DISTANCE, SCREW, GEAR } type;

joint_look carom_joint_look(const joint *j) {
    switch ((type)j->type) {
    case REVOLUTE: case SPHERICAL: case UNIVERSAL: case WELD: return JOINT_PIN;
    case DISTANCE: return JOINT_ROD;
    case GEAR: return JOINT_NOWHERE;
    case PRISMATIC: case CYLINDRICAL: case PLANE: case SCREW: break;
    }
    return JOINT_SLIDE;
}

enum { // what a joint asks for, and allows
    POINT = 1, AXIS = 2, AXES = 4, PLANAR_TOO = 8, SPATIAL_TOO = 16, TURNS = 32, SLIDES = 64, DRIVEN = 128,
    MAY_AXIS = 256
};

static const unsigned needs_of[] = {
    [REVOLUTE] = POINT | AXIS | PLANAR_TOO | SPATIAL_TOO | TURNS | DRIVEN,
    [PRISMATIC] = POINT | AXIS | PLANAR_TOO | SPATIAL_TOO | SLIDES | DRIVEN,
    [SPHERICAL] = POINT | SPATIAL_TOO | MAY_AXIS,
    [CYLINDRICAL] = POINT | AXIS | SPATIAL_TOO | TURNS | SLIDES,
    [UNIVERSAL] = POINT | AXES | SPATIAL_TOO,
    [PLANE] = POINT | AXIS | SPATIAL_TOO | TURNS,
    [WELD] = POINT | PLANAR_TOO | SPATIAL_TOO,
    [DISTANCE] = POINT | PLANAR_TOO | SPATIAL_TOO,
    [SCREW] = POINT | AXIS | SPATIAL_TOO | TURNS | SLIDES | DRIVEN,
    [GEAR] = PLANAR_TOO | SPATIAL_TOO,
};
enum { TYPES = sizeof needs_of / sizeof *needs_of };

// in the order of the enum
static const char *type_name(const void *user, int i) { return (void)user, carom_key_joint_types[i].name; }

// A joint while it is read.
typedef struct maker {
    resolver *r;
    joint *j;
    const carom_mech_joint *of;
    char where[80];
    unsigned needs;
    const body *A, *B;
    const double *named[2]; // points of the two that `between` names, else NULL
    bool spatial;
    double X_A[9], X_B[9];  // columns x, y, z of the joint's frame in the frames of the bodies
    carom_node p_A[3], p_B[3], d[3]; // points, and the way from the first to the second
    carom_node a[9], b[9];  // the same columns in the world; only those asked for
    bool have_a[3], have_b[3];
} maker;

static carom_node num(const maker *k, double x) { return carom_graph_number(k->r->m->graph, x); }
static carom_node add(const maker *k, carom_node a, carom_node b) { return n_add(k->r->m->graph, a, b); }
static carom_node sub(const maker *k, carom_node a, carom_node b) { return n_sub(k->r->m->graph, a, b); }
static carom_node mul(const maker *k, carom_node a, carom_node b) { return n_mul(k->r->m->graph, a, b); }
static carom_node negative(const maker *k, carom_node a) {
    return carom_graph_apply(k->r->m->graph, CAROM_OP_NEG, a, CAROM_NONE, CAROM_NONE);
}

static carom_node dot(const maker *k, const carom_node *a, const carom_node *b) {
    carom_node sum = num(k, 0);
    for (int i = 0; i < (k->spatial ? 3 : 2); ++i) sum = add(k, sum, mul(k, a[i], b[i]));
    return sum;
}

// Axis i of the joint's frame as fixed in the first or second body, in the world.
static const carom_node *axis_A(maker *k, int i) {
    const double s[3] = {k->X_A[i], k->X_A[3 + i], k->X_A[6 + i]};
    if (!k->have_a[i]) carom_body_vector(k->r, k->A, s, k->a + 3 * i);
    k->have_a[i] = true;
    return k->a + 3 * i;
}

static const carom_node *axis_B(maker *k, int i) {
    const double s[3] = {k->X_B[i], k->X_B[3 + i], k->X_B[6 + i]};
    if (!k->have_b[i]) carom_body_vector(k->r, k->B, s, k->b + 3 * i);
    k->have_b[i] = true;
    return k->b + 3 * i;
}

// -- constraints -------------------------------------------------------------------------------------------------

static carom_status add_row(maker *k, carom_node g) {
    carom_model *m = k->r->m;
    if (!CAROM_GROW(m->rows, m->nrows)) return carom_fault_memory(k->r);
    m->rows[m->nrows++] = (constraint){.name = k->j->name, .place = k->j->place, .gap = g,
                                       .joint = (int)(k->j - m->joints), .part = ++k->j->nrows};
    return CAROM_OK;
}

// (JNT-1)  p_B - p_A = 0, in world components; reactions are turned into the joint's frame for the record
static carom_status points_coincide(maker *k) {
    k->j->turned = k->spatial ? 3 : 2;
    for (int i = 0; i < k->j->turned; ++i) CAROM_TRY(add_row(k, k->d[i]));
    for (int i = 0; i < k->j->turned; ++i) memcpy(k->j->frame + 3 * i, axis_A(k, i), 3 * sizeof *k->j->frame);
    return CAROM_OK;
}

// (JNT-2)  x_A.d = 0, y_A.d = 0: the second point stays on the axis;  z_A.d = 0: in the plane
static carom_status point_off(maker *k, int i) { return add_row(k, dot(k, axis_A(k, i), k->d)); }

// (JNT-3)  -y_A.z_B = 0, x_A.z_B = 0: the axes are parallel; torques about x and y
static carom_status axes_parallel(maker *k) {
    CAROM_TRY(add_row(k, negative(k, dot(k, axis_A(k, 1), axis_B(k, 2)))));
    return add_row(k, dot(k, axis_A(k, 0), axis_B(k, 2)));
}

// (JNT-4)  y_A.x_B = 0 beside parallel axes: no rotation about z; in the plane: equal angles
static carom_status no_twist(maker *k) {
    if (k->spatial) return add_row(k, dot(k, axis_A(k, 1), axis_B(k, 0)));
    return add_row(k, sub(k, sub(k, k->B->angle, k->A->angle), num(k, k->j->angle0)));
}

// -- joint coordinates -------------------------------------------------------------------------------------------

// d atan2(s, c) along velocity v
static carom_node turn_rate(const maker *k, carom_node s, carom_node c, int v) {
    carom_graph *g = k->r->m->graph;
    const carom_node up = sub(k, mul(k, c, carom_graph_along(g, s, v)), mul(k, s, carom_graph_along(g, c, v)));
    return carom_graph_apply(g, CAROM_OP_DIV, up, add(k, mul(k, c, c), mul(k, s, s)), CAROM_NONE);
}

// The angle of a spatial joint: a position with a course (JNT-5)  phi' = d/dt atan2(y_A.x_B, x_A.x_B)
static carom_status spatial_angle(maker *k, joint *j) {
    carom_model *m = k->r->m;
    if (j->moving)
        return carom_fault(
            k->r, j->place, 0,
            "the angle of joint '%s' is counted against a body that turns with time; that is not possible", j->name);
    if (m->nmember)
        return carom_fault(k->r, j->place, 0, "the angle of joint '%s' cannot be used with flexible members",
                           j->name);
    const carom_node c = dot(k, axis_A(k, 0), axis_B(k, 0)), s = dot(k, axis_A(k, 1), axis_B(k, 0));
    int n = 0, *v = carom_pool_take(&m->memory, (size_t)(m->nv > 6 ? m->nv : 6) * sizeof *v);
    carom_node *rate = carom_pool_take(&m->memory, (size_t)(m->nv > 6 ? m->nv : 6) * sizeof *rate);
    if (!v || !rate) return carom_fault_memory(k->r);
    const bool carried = k->A->carried || k->B->carried; // points of floating members turn with frame and unknowns
    for (int i = 0; i < m->nv && carried; ++i)
        if (carom_graph_moves(m->graph, c, i) || carom_graph_moves(m->graph, s, i)) v[n++] = i;
    for (int side = 0; side < 2 && !carried; ++side) {
        const body *b = side ? k->B : k->A;
        for (int i = 3; i < 6 && b->v >= 0; ++i) v[n++] = b->v + i;
    }
    for (int i = 0; i < n; ++i) rate[i] = turn_rate(k, s, c, v[i]);
    name *name = NULL;
    char text[80];
    snprintf(text, sizeof text, "%.60s.angle", j->name);
    name = carom_names_find(&m->names, text, strlen(text));
    j->angle = carom_graph_input(m->graph, CAROM_POSITION, m->nq);
    j->at = m->nq;
    m->coordinate_name[m->nq] = (int)(name - m->names.at);
    m->velocity_of[m->nq] = -1;
    m->q0[m->nq++] = 0;
    m->visible.nq = m->visible.nq_own = m->nq;
    name->kind = NAME_COORDINATE;
    name->index = j->at;
    name->node = j->angle;
    carom_graph_course(m->graph, j->angle, n, v, rate);
    return CAROM_OK;
}

// JOINT.angle and JOINT.shift as names; the angle of a spatial joint is made when somebody wants it.
static carom_status add_coordinate(maker *k, const char *part, carom_node node) {
    carom_model *m = k->r->m;
    char text[80];
    snprintf(text, sizeof text, "%.60s.%s", k->j->name, part);
    const name *other = carom_names_find(&m->names, text, strlen(text));
    if (other)
        return carom_fault(k->r, k->j->place, 0, "'%s' of joint '%s' is already defined as %s%s; rename one of them",
                           text, k->j->name, carom_name_kind(other->kind), carom_line_of(other->line).text);
    const char *copy = carom_pool_text(&m->memory, text, strlen(text));
    name *n = copy ? carom_names_add(&m->names, copy, NAME_LET, (int)(k->j - m->joints), k->j->place->line) : NULL;
    if (!n) return carom_fault_memory(k->r);
    n->node = node;
    n->used = true;
    n->angle = node == CAROM_NONE;
    return CAROM_OK;
}

static void set_frames(maker *k, const joint *j) {
    k->A = j->A, k->B = j->B;
    k->spatial = j->spatial;
    memcpy(k->X_A, j->X_A, sizeof k->X_A);
    memcpy(k->X_B, j->X_B, sizeof k->X_B);
    memset(k->have_a, 0, sizeof k->have_a);
    memset(k->have_b, 0, sizeof k->have_b);
}

carom_status carom_joint_angle(resolver *r, joint *j, carom_node *node) {
    if (j->angle == CAROM_NONE) {
        maker k = {.r = r, .j = j};
        set_frames(&k, j);
        CAROM_TRY(spatial_angle(&k, j));
    }
    *node = j->angle;
    return CAROM_OK;
}

carom_status carom_joint_coordinate(resolver *r, const carom_datum *place, joint *j, carom_node *node) {
    const unsigned needs = needs_of[j->type];
    if (needs & TURNS) return carom_joint_angle(r, j, node);
    *node = j->shift;
    if (needs & SLIDES) return CAROM_OK;
    return carom_fault(r, place, 0, "joint '%s' is %s %s: it has neither angle nor shift", j->name,
                       strchr("aeiou", type_name(NULL, j->type)[0]) ? "an" : "a", type_name(NULL, j->type));
}

// JOINT.PART among the names; NULL: it has no such coordinate.
static name *coordinate_name(resolver *r, const joint *j, const char *part) {
    char text[90];
    const int length = snprintf(text, sizeof text, "%.60s.%.24s", j->name, part);
    name *n = carom_names_find(&r->m->names, text, (size_t)length);
    return n && (n->kind == NAME_LET || n->kind == NAME_COORDINATE) ? n : NULL;
}

const char *const carom_joint_parts[] = {"angle", "shift", "angle1", "angle2", "shift1", "shift2", NULL};

carom_status carom_joint_part(resolver *r, const carom_datum *place, joint *j, const carom_datum *of, carom_node *node,
                              bool *shift) {
    char known[100] = "";
    for (int i = 0, used = 0; carom_joint_parts[i]; ++i) {
        const name *n = coordinate_name(r, j, carom_joint_parts[i]);
        if (!n) continue;
        used += snprintf(known + used, sizeof known - (size_t)used, "%s%s", used ? ", " : "", carom_joint_parts[i]);
        if (of && !carom_datum_is(of, carom_joint_parts[i])) continue;
        *shift = carom_joint_parts[i][0] == 's';
        *node = n->node;
        return *node == CAROM_NONE ? carom_joint_angle(r, j, node) : CAROM_OK;
    }
    if (of && *known)
        return carom_fault(r, of, 0, "joint '%s' has no coordinate '%.24s'; it has %s", j->name,
                           of->kind == CAROM_TEXT ? of->text : "", known);
    return carom_fault(r, place, 0, "joint '%s' is of type %s and has no coordinate that could have limits", j->name,
                       type_name(NULL, j->type));
}

bool carom_joint_spherical(const joint *j) { return j->type == SPHERICAL; }

carom_status carom_joint_slides(resolver *r, const carom_datum *place, const joint *j, carom_sliding_surfaces *what) {
    const int across = j->spatial ? 2 : 1;
    switch ((type)j->type) {
    case UNIVERSAL:
        return *what = (carom_sliding_surfaces){.turns = true, .crossed = true, .rows = j->turned}, CAROM_OK;
    case PLANE: return *what = (carom_sliding_surfaces){.plane = true, .rows = 1}, CAROM_OK;
    case SCREW:
        return *what = (carom_sliding_surfaces){.turns = true, .slides = true, .thread = true, .rows = 1}, CAROM_OK;
    case REVOLUTE: return *what = (carom_sliding_surfaces){.turns = true, .rows = j->turned}, CAROM_OK;
    case SPHERICAL: return *what = (carom_sliding_surfaces){.turns = true, .ball = true, .rows = j->turned}, CAROM_OK;
    case PRISMATIC: return *what = (carom_sliding_surfaces){.slides = true, .rows = across}, CAROM_OK;
    case CYLINDRICAL: return *what = (carom_sliding_surfaces){.turns = true, .slides = true, .rows = across}, CAROM_OK;
    case WELD: case DISTANCE: case GEAR: break;
    }
    return carom_fault(r, place, 0,
                       "friction acts between surfaces that slide on each other; joint '%s', which is of type %s, has "
                       "none",
                       j->name, type_name(NULL, j->type));
}

// (JNT-7)  The cross of a universal joint turns by atan2(y_A.z_B, x_A.z_B) about z_A, and alike about z_B, from the
//          start.
static carom_status cross_angle(maker *k, const char *part, const double *X, const carom_node *x, const carom_node *y,
                                const carom_node *z, const double *z0) {
    double c0 = 0, s0 = 0;
    for (int i = 0; i < 3; ++i) c0 += X[3 * i] * z0[i], s0 += X[3 * i + 1] * z0[i];
    const carom_node c = dot(k, x, z), s = dot(k, y, z);
    const carom_node up = sub(k, mul(k, num(k, c0), s), mul(k, num(k, s0), c)),
                     along = add(k, mul(k, num(k, c0), c), mul(k, num(k, s0), s));
    return add_coordinate(k, part, carom_graph_apply(k->r->m->graph, CAROM_OP_ATAN2, up, along, CAROM_NONE));
}

static carom_status universal_angles(maker *k) {
    double world[3], z0[3];
    const double *X[2] = {k->X_A, k->X_B};
    const body *of[2] = {k->A, k->B};
    for (int side = 0; side < 2; ++side) {
        for (int i = 0; i < 3; ++i) { // z of the other one at the start, in this frame
            world[i] = 0;
            for (int j = 0; j < 3; ++j) world[i] += of[1 - side]->R0[3 * i + j] * X[1 - side][3 * j + 2];
        }
        carom_body_turn_back(of[side], world, z0);
        if (side == 0) CAROM_TRY(cross_angle(k, "angle1", X[0], axis_A(k, 0), axis_A(k, 1), axis_B(k, 2), z0));
        else CAROM_TRY(cross_angle(k, "angle2", X[1], axis_B(k, 0), axis_B(k, 1), axis_A(k, 2), z0));
    }
    return CAROM_OK;
}

// Shifts of a planar joint in space, from the start.
static carom_status plane_shifts(maker *k) {
    static const char *const part[] = {"shift1", "shift2"};
    for (int i = 0; i < 2; ++i) {
        double start = 0;
        for (int j = 0; j < 3; ++j) start += k->X_A[3 * j + i] * k->j->way0[j];
        CAROM_TRY(add_coordinate(k, part[i], sub(k, dot(k, axis_A(k, i), k->d), num(k, start))));
    }
    return CAROM_OK;
}

static carom_status coordinates(maker *k) {
    joint *j = k->j;
    if (j->type == UNIVERSAL) CAROM_TRY(universal_angles(k));
    if (j->type == PLANE) CAROM_TRY(plane_shifts(k));
    if (k->needs & SLIDES) {
        const carom_node along = dot(k, axis_A(k, k->spatial ? 2 : 0), k->d);
        j->shift = sub(k, along, num(k, j->shift0));
        CAROM_TRY(add_coordinate(k, "shift", j->shift));
    }
    if (!(k->needs & TURNS)) return CAROM_OK;
    if (!k->spatial) j->angle = sub(k, sub(k, k->B->angle, k->A->angle), num(k, j->angle0));
    return add_coordinate(k, "angle", j->angle);
}

// -- reading -----------------------------------------------------------------------------------------------------

static carom_status read_type(maker *k) {
    const carom_datum *n = carom_given(&k->of->type);
    if (!n) return carom_fault(k->r, k->j->place, 0, "%s has no type; write `type: revolute`", k->where);
    for (int i = 0; i < TYPES; ++i)
        if (carom_datum_is(n, type_name(NULL, i))) {
            k->j->type = i;
            k->needs = needs_of[i];
            return CAROM_OK;
        }
    const char *near = n->kind == CAROM_TEXT ? carom_nearest(n->text, type_name, NULL) : NULL;
    if (near) return carom_fault(k->r, n, 0, "unknown joint type '%.60s'; did you mean '%s'?", n->text, near);
    char known[200] = "";
    for (int i = 0, used = 0; i < TYPES; ++i)
        used += snprintf(known + used, sizeof known - (size_t)used, "%s%s", i ? ", " : "", type_name(NULL, i));
    return carom_fault(k->r, n, 0, "unknown joint type '%.60s'; expected one of %s", n->text, known);
}

static carom_status read_between(maker *k) {
    const carom_datum *n = carom_given(&k->of->between);
    if (!n || n->kind != CAROM_LIST || n->count != 2)
        return carom_fault(k->r, n ? n : k->j->place, 0, "%s connects two bodies; write `between: [ground, NAME]`",
                           k->where);
    CAROM_TRY(carom_find_end(k->r, n->item, &k->A, &k->named[0]));
    CAROM_TRY(carom_find_end(k->r, n->item + 1, &k->B, &k->named[1]));
    if (k->A == k->B) return carom_fault(k->r, n, 0, "%s connects a body with itself", k->where);
    if (carom_body_prescribed(k->A) && carom_body_prescribed(k->B))
        return carom_fault(k->r, n, 0, "%s connects two bodies whose motion is prescribed", k->where);
    if (k->A->space != EITHER && k->B->space != EITHER && k->A->space != k->B->space)
        return carom_fault(k->r, n, 0, "%s connects a planar body with a spatial one; make both alike", k->where);
    k->spatial = k->A->space == SPATIAL || k->B->space == SPATIAL;
    if (!(k->needs & (k->spatial ? SPATIAL_TOO : PLANAR_TOO)))
        return carom_fault(k->r, carom_given(&k->of->type), 0, "a %s joint connects spatial bodies; these are planar",
                           type_name(NULL, k->j->type));
    k->j->A = k->A, k->j->B = k->B;
    k->j->spatial = k->spatial;
    return CAROM_OK;
}

// `at`: where it is in the world at the start;  `points`: where it is in the frame of each body, or BODY.POINT in
// `between`.
static carom_status read_points(maker *k) {
    const carom_datum *at = carom_given(&k->of->at), *points = carom_given(&k->of->points);
    const bool named = k->named[0] || k->named[1];
    const int n = k->spatial ? 3 : 2;
    double s_A[3] = {0}, s_B[3] = {0}, p[3] = {0};
    CAROM_TRY(carom_body_start_fixed(k->r, k->A));
    CAROM_TRY(carom_body_start_fixed(k->r, k->B));
    if (at && points)
        return carom_fault(k->r, points->key, 0, "%s has both `at` and `points`; give only one", k->where);
    if (named && (at || points))
        return carom_fault(k->r, at ? at->key : points->key, 0,
                           "%s names a point in `between` and has `%s` too; give only one", k->where,
                           at ? "at" : "points");
    if (!named && !at && !points)
        return carom_fault(k->r, k->j->place, 0,
                           "%s needs a location: `at: [%s]` (world frame, initial position), `points:` (one per body "
                           "frame), or BODY.POINT in `between`",
                           k->where, n == 3 ? "x, y, z" : "x, y");
    if (named) {
        carom_body_ends((const body *const[]){k->A, k->B}, k->named, k->j->type != DISTANCE, s_A, s_B);
    } else if (at) {
        if (k->j->type == DISTANCE)
            return carom_fault(k->r, at->key, 0, "%s is a distance between two points; write `points: [[...], [...]]`",
                               k->where);
        CAROM_TRY(carom_resolve_vector(k->r, at, "the place of a joint", n, p));
        carom_body_local(k->A, p, s_A);
        carom_body_local(k->B, p, s_B);
    } else {
        if (points->kind != CAROM_LIST || points->count != 2)
            return carom_fault(k->r, points, 0, "points is a list of two, one in the frame of each body");
        CAROM_TRY(carom_body_point_at(k->r, points->item, k->A, k->spatial, s_A));
        CAROM_TRY(carom_body_point_at(k->r, points->item + 1, k->B, k->spatial, s_B));
    }
    carom_body_point(k->r, k->A, s_A, k->p_A);
    carom_body_point(k->r, k->B, s_B, k->p_B);
    for (int i = 0; i < 3; ++i) k->d[i] = sub(k, k->p_B[i], k->p_A[i]);
    double way[3], world[3] = {0};
    for (int i = 0; i < 3; ++i) {
        way[i] = k->B->r0[i] - k->A->r0[i];
        for (int j = 0; j < 3; ++j) way[i] += k->B->R0[3 * i + j] * s_B[j] - k->A->R0[3 * i + j] * s_A[j];
    }
    carom_body_turn_back(k->A, way, world);
    memcpy(k->j->way0, world, sizeof world); // in the frame of A
    memcpy(k->j->s_A, s_A, sizeof s_A);
    memcpy(k->j->s_B, s_B, sizeof s_B);
    return CAROM_OK;
}

// Columns x, y, z with z given: x is the world-like axis farthest from z, made perpendicular.
static void complete(const double *z, double *X) {
    int least = 0;
    for (int i = 1; i < 3; ++i)
        if (fabs(z[i]) < fabs(z[least]) - CAROM_SAME) least = i;
    double x[3] = {0}, y[3];
    x[least] = 1;
    const double along = z[least];
    for (int i = 0; i < 3; ++i) x[i] -= along * z[i];
    const double size = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int i = 0; i < 3; ++i) x[i] /= size;
    for (int i = 0; i < 3; ++i) y[i] = z[(i + 1) % 3] * x[(i + 2) % 3] - z[(i + 2) % 3] * x[(i + 1) % 3];
    for (int i = 0; i < 3; ++i) X[3 * i] = x[i], X[3 * i + 1] = y[i], X[3 * i + 2] = z[i];
}

// X_B = R_B'R_A X_A: the frames are one at the start.
static void match(maker *k) {
    for (int c = 0; c < 3; ++c) {
        double world[3], s[3];
        for (int i = 0; i < 3; ++i) {
            world[i] = 0;
            for (int j = 0; j < 3; ++j) world[i] += k->A->R0[3 * i + j] * k->X_A[3 * j + c];
        }
        carom_body_turn_back(k->B, world, s);
        for (int i = 0; i < 3; ++i) k->X_B[3 * i + c] = s[i];
    }
}

// The axis of a planar prismatic joint is x of its frame.
static carom_status planar_axis(maker *k) {
    const carom_datum *axis = carom_given(&k->of->axis);
    double a[3] = {1, 0, 0}, s[3];
    if (k->j->type == PRISMATIC) {
        if (!axis)
            return carom_fault(k->r, k->j->place, 0,
                               "%s has no axis; write `axis: [1, 0]` (world frame, initial position)", k->where);
        CAROM_TRY(carom_resolve_vector(k->r, axis, "the axis", 2, a));
        const double size = hypot(a[0], a[1]);
        if (!(size > 0)) return carom_fault(k->r, axis, 0, "axis must be non-zero, e.g. [1, 0]");
        a[0] /= size, a[1] /= size;
        carom_body_turn_back(k->A, a, s);
    } else {
        memcpy(s, a, sizeof s);
    }
    const double X[9] = {s[0], -s[1], 0, s[1], s[0], 0, 0, 0, 1};
    memcpy(k->X_A, X, sizeof X);
    return CAROM_OK;
}

// Two directions: `axes` in the frames of the bodies, or a list of two under `axis` in the world at the start.
static carom_status two_axes(maker *k, double *z_A, double *z_B) {
    const carom_datum *axis = carom_given(&k->of->axis), *axes = carom_given(&k->of->axes), *n = axes ? axes : axis;
    if (!n || n->kind != CAROM_LIST || n->count != 2 || n->item->kind != CAROM_LIST)
        return carom_fault(k->r, n ? n : k->j->place, 0,
                           "%s needs two axes, one fixed in each body: `axis: [[1, 0, 0], [0, 1, 0]]` (world frame, "
                           "initial position) or "
                           "`axes:` in the bodies' frames",
                           k->where);
    CAROM_TRY(carom_resolve_direction(k->r, n->item, "the axis", z_A));
    CAROM_TRY(carom_resolve_direction(k->r, n->item + 1, "the axis", z_B));
    if (axes) return CAROM_OK;
    double a[3], b[3];
    carom_body_turn_back(k->A, z_A, a);
    carom_body_turn_back(k->B, z_B, b);
    memcpy(z_A, a, sizeof a);
    memcpy(z_B, b, sizeof b);
    return CAROM_OK;
}

static carom_status read_frames(maker *k) {
    const carom_datum *axis = carom_given(&k->of->axis), *axes = carom_given(&k->of->axes);
    const double unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(k->X_A, unit, sizeof unit);
    if (!(k->needs & (AXIS | AXES) || (k->needs & MAY_AXIS && (axis || axes))) ||
        (!k->spatial && k->j->type == REVOLUTE)) {
        if (axis || axes)
            return carom_fault(k->r, (axis ? axis : axes)->key, 0, "%s needs no axis; remove it", k->where);
        match(k);
        return CAROM_OK;
    }
    if (!k->spatial) {
        CAROM_TRY(planar_axis(k));
        match(k);
        return CAROM_OK;
    }
    double z_A[3], z_B[3];
    if (axis && axes) return carom_fault(k->r, axes->key, 0, "%s has both `axis` and `axes`; give only one", k->where);
    if (axes || k->needs & AXES) {
        CAROM_TRY(two_axes(k, z_A, z_B));
        complete(z_A, k->X_A);
        complete(z_B, k->X_B);
        if (k->needs & AXES) return CAROM_OK;
        // x and y of the second frame are those of the first, turned back and made perpendicular to its z.
        double own[9];
        memcpy(own, k->X_B, sizeof own);
        match(k);
        double x[3], along = 0, size = 0;
        for (int i = 0; i < 3; ++i) along += k->X_B[3 * i] * z_B[i];
        for (int i = 0; i < 3; ++i) x[i] = k->X_B[3 * i] - along * z_B[i], size += x[i] * x[i];
        static const double ALONG = 1e-6; // square of a sine: x along the other z has no part across it
        if (!(size > ALONG)) {
            memcpy(k->X_B, own, sizeof own);
            return CAROM_OK;
        }
        for (int i = 0; i < 3; ++i) x[i] /= sqrt(size);
        for (int i = 0; i < 3; ++i)
            k->X_B[3 * i] = x[i], k->X_B[3 * i + 2] = z_B[i],
            k->X_B[3 * i + 1] = z_B[(i + 1) % 3] * x[(i + 2) % 3] - z_B[(i + 2) % 3] * x[(i + 1) % 3];
        return CAROM_OK;
    }
    if (!axis)
        return carom_fault(k->r, k->j->place, 0,
                           "%s has no axis; write `axis: [0, 0, 1]` (world frame, initial position)", k->where);
    double a[3];
    CAROM_TRY(carom_resolve_direction(k->r, axis, "the axis", a));
    carom_body_turn_back(k->A, a, z_A);
    complete(z_A, k->X_A);
    match(k);
    return CAROM_OK;
}

// motion: an expression of time; the joint coordinate follows it, counted from the start.
static carom_status drive(maker *k) {
    const carom_datum *n = carom_given(&k->of->motion);
    carom_node motion, x;
    double start = 0;
    if (!n) return CAROM_OK;
    if (!(k->needs & DRIVEN))
        return carom_fault(k->r, n->key, 0,
                           "a %s joint cannot have `motion`; only revolute, prismatic and screw joints can",
                           type_name(NULL, k->j->type));
    CAROM_TRY(carom_resolve_expression(k->r, n, SCOPE_MOTION, "the motion", &motion));
    CAROM_TRY(carom_resolve_start(k->r, n, motion, &start));
    CAROM_TRY(carom_joint_coordinate(k->r, n, k->j, &x));
    return add_row(k, sub(k, x, sub(k, motion, num(k, start))));
}

static carom_status distance(maker *k) {
    const carom_datum *n = carom_given(&k->of->length);
    const double *w = k->j->way0;
    double length = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    if (n) CAROM_TRY(carom_resolve_number(k->r, n, "the length", &length));
    if (!(length > 0))
        return carom_fault(k->r, n ? n : k->j->place, 0, "the length is %g; points that coincide are a %s joint",
                           length, k->spatial ? "spherical" : "revolute");
    const carom_node size =
        carom_graph_apply(k->r->m->graph, CAROM_OP_SQRT, dot(k, k->d, k->d), CAROM_NONE, CAROM_NONE);
    return add_row(k, sub(k, size, num(k, length)));
}

static carom_status screw(maker *k) {
    const carom_datum *n = carom_given(&k->of->pitch);
    double pitch = 0;
    carom_node angle;
    if (!n)
        return carom_fault(k->r, k->j->place, 0, "%s has no pitch; write `pitch: 0.01`, its travel per turn", k->where);
    CAROM_TRY(carom_resolve_number(k->r, n, "the pitch", &pitch));
    CAROM_TRY(carom_joint_angle(k->r, k->j, &angle));
    k->j->lead = pitch / (2 * 3.14159265358979323846);
    return add_row(k, sub(k, k->j->shift, mul(k, num(k, pitch / (2 * 3.14159265358979323846)), angle)));
}

static const char *joint_name(const void *model, int i) {
    return i < ((const carom_model *)model)->njoints ? ((const carom_model *)model)->joints[i].name : NULL;
}

carom_status carom_find_joint(resolver *r, const carom_datum *n, joint **j) {
    for (int i = 0; n->kind == CAROM_TEXT && i < r->m->njoints; ++i)
        if (strcmp(r->m->joints[i].name, n->text) == 0) {
            *j = &r->m->joints[i];
            return CAROM_OK;
        }
    if (n->kind != CAROM_TEXT) return carom_fault(r, n, 0, "expected the name of a joint, got a list or map");
    const char *near = carom_nearest(n->text, joint_name, r->m);
    if (near) return carom_fault(r, n, 0, "there is no joint '%.60s' above; did you mean '%s'?", n->text, near);
    char known[200] = "";
    for (size_t used = 0, i = 0; joint_name(r->m, (int)i) && used < sizeof known; ++i)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", joint_name(r->m, (int)i));
    return carom_fault(r, n, 0, "there is no joint '%.60s' above; %s%s", n->text,
                       *known ? "joints are " : "joints are read in order", known);
}

// (JNT-6)  c_2 - ratio c_1 = 0, c the angles or shifts of two joints
static carom_status gear(maker *k) {
    const carom_datum *pair = carom_given(&k->of->joints), *n = carom_given(&k->of->ratio);
    joint *one = NULL, *two = NULL;
    carom_node x, y;
    double ratio = 0;
    if (!pair || pair->kind != CAROM_LIST || pair->count != 2)
        return carom_fault(k->r, pair ? pair : k->j->place, 0,
                           "%s couples two joints; write `joints: [NAME, NAME], ratio: -2`", k->where);
    if (!n)
        return carom_fault(k->r, k->j->place, 0,
                           "%s has no ratio: the second joint moves `ratio` times as far as the first", k->where);
    CAROM_TRY(carom_resolve_number(k->r, n, "the ratio", &ratio));
    CAROM_TRY(carom_find_joint(k->r, pair->item, &one));
    CAROM_TRY(carom_find_joint(k->r, pair->item + 1, &two));
    if (one == two) return carom_fault(k->r, pair, 0, "%s couples a joint with itself", k->where);
    CAROM_TRY(carom_joint_coordinate(k->r, pair->item, one, &x));
    CAROM_TRY(carom_joint_coordinate(k->r, pair->item + 1, two, &y));
    k->j->play = sub(k, y, mul(k, num(k, ratio), x));
    k->j->shifts = y == two->shift;
    return k->of->backlash ? CAROM_OK : add_row(k, k->j->play); // else contacts hold it: stops.c
}

static carom_status constrain(maker *k) {
    const bool spatial = k->spatial;
    switch ((type)k->j->type) {
    case REVOLUTE:
        CAROM_TRY(points_coincide(k));
        return spatial ? axes_parallel(k) : CAROM_OK;
    case SPHERICAL: return points_coincide(k);
    case UNIVERSAL:
        CAROM_TRY(points_coincide(k));
        return add_row(k, dot(k, axis_A(k, 2), axis_B(k, 2)));
    case WELD:
        CAROM_TRY(points_coincide(k));
        if (spatial) CAROM_TRY(axes_parallel(k));
        return no_twist(k);
    case PRISMATIC: case CYLINDRICAL: case SCREW:
        if (spatial) CAROM_TRY(point_off(k, 0));
        CAROM_TRY(point_off(k, 1));
        if (spatial) CAROM_TRY(axes_parallel(k));
        if (k->j->type == SCREW) return screw(k);
        return k->j->type == PRISMATIC ? no_twist(k) : CAROM_OK;
    case PLANE:
        CAROM_TRY(point_off(k, 2));
        return axes_parallel(k);
    case DISTANCE: return distance(k);
    case GEAR: break;
    }
    return gear(k);
}

static bool turns_with_time(const carom_model *m, const body *b) {
    for (int i = 0; i < 9; ++i)
        if (carom_graph_depends(m->graph, b->R[i], CAROM_TIME, 0)) return true;
    return false;
}

static carom_status read_joint(resolver *r, const carom_mech_joint *of, joint *j) {
    const struct {
        const carom_datum *given;
        type type;
    } only[] = {{&of->length, DISTANCE}, {&of->pitch, SCREW}, {&of->joints, GEAR}, {&of->ratio, GEAR}};
    maker k = {.r = r, .j = j, .of = of};
    snprintf(k.where, sizeof k.where, "joint '%.60s'", j->name);
    CAROM_TRY(read_type(&k));
    for (size_t i = 0; i < sizeof only / sizeof *only; ++i)
        if (carom_given(only[i].given) && (type)j->type != only[i].type)
            return carom_fault(r, only[i].given->key, 0, "'%s' does not apply to a %s joint", only[i].given->key->text,
                               type_name(NULL, j->type));
    if (of->backlash && (type)j->type != GEAR)
        return carom_fault(r, &of->backlash->name, 0, "'backlash' does not apply to a %s joint; it is that of gears",
                           type_name(NULL, j->type));
    if (j->type == GEAR) {
        if (carom_given(&of->between))
            return carom_fault(r, of->between.key, 0, "%s couples joints, not bodies; write `joints: [NAME, NAME]`",
                               k.where);
        return constrain(&k);
    }
    CAROM_TRY(read_between(&k));
    CAROM_TRY(read_points(&k));
    CAROM_TRY(read_frames(&k));
    memcpy(j->X_A, k.X_A, sizeof j->X_A);
    memcpy(j->X_B, k.X_B, sizeof j->X_B);
    j->moving = turns_with_time(r->m, k.A) || turns_with_time(r->m, k.B);
    const int slide = k.spatial ? 2 : 0;
    for (int i = 0; i < 3; ++i) j->shift0 += k.X_A[3 * i + slide] * j->way0[i];
    if (!k.spatial) {
        double a = 0, b = 0;
        CAROM_TRY(carom_body_angle(r, j->place, k.A, &a));
        CAROM_TRY(carom_body_angle(r, j->place, k.B, &b));
        j->angle0 = b - a;
    }
    CAROM_TRY(coordinates(&k));
    CAROM_TRY(constrain(&k));
    return drive(&k);
}

carom_status carom_derive_joints(resolver *r) {
    carom_model *m = r->m;
    m->joints = carom_pool_take(&m->memory, ((size_t)r->mech->njoints + 1) * sizeof *m->joints);
    if (!m->joints) return carom_fault_memory(r);
    for (int i = 0; i < r->mech->njoints; ++i) {
        const carom_mech_joint *of = &r->mech->joints[i];
        joint *j = &m->joints[m->njoints];
        *j = (joint){.name = of->name.text, .place = &of->name, .angle = CAROM_NONE, .shift = CAROM_NONE,
                     .play = CAROM_NONE, .at = -1};
        CAROM_TRY(carom_part_name(r, &of->name));
        CAROM_TRY(read_joint(r, of, j));
        ++m->njoints;
    }
    return CAROM_OK;
}

// bodies.c: the sections `bodies` and `gravity`: rigid bodies become coordinates, symbols and energies.
//
// A planar body brings x, y, angle.  A spatial one brings x, y, z and a unit quaternion, with the velocities vx, vy, vz
// (world) and wx, wy, wz (body frame), q' = 1/2 q o (0, w).  Its rotation matrix R is nine symbols with the course
// D_k R = R skew(e_k), so that no derivative ever looks into the quaternion (BOD-1).  R belongs to the direction of the
// quaternion, whatever its length.  The reference point is the centre of mass.
#include "derive/bodies/bodies.h"
#include "derive/shapes/solids.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static carom_node num(resolver *r, double x) { return carom_graph_number(r->m->graph, x); }
static carom_node add(resolver *r, carom_node a, carom_node b) { return carom_graph_plus(r->m->graph, a, b); }
static carom_node sub(resolver *r, carom_node a, carom_node b) { return carom_graph_minus(r->m->graph, a, b); }
static carom_node mul(resolver *r, carom_node a, carom_node b) { return carom_graph_times(r->m->graph, a, b); }
static carom_node call(resolver *r, carom_op op, carom_node a) {
    return carom_graph_apply(r->m->graph, op, a, CAROM_NONE, CAROM_NONE);
}

// -- vectors in the file -----------------------------------------------------------------------------------

carom_status carom_resolve_list(resolver *r, const carom_datum *n, const char *what, int size) {
    if (n->kind == CAROM_LIST && n->count == size) return CAROM_OK;
    return carom_fault(r, n, 0, "%s is a list of %d (`[%s]`), this is %s", what, size, size == 2 ? "x, y" : "x, y, z",
                       n->kind != CAROM_LIST ? "no list" : n->count < size ? "shorter" : "longer");
}

carom_status carom_resolve_vector(resolver *r, const carom_datum *n, const char *what, int size, double *x) {
    CAROM_TRY(carom_resolve_list(r, n, what, size));
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c) CAROM_TRY(carom_resolve_number(r, c, what, x++));
    return CAROM_OK;
}

carom_status carom_resolve_bound_vector(resolver *r, const carom_datum *n, const char *what, int size, bound_kind kind, int index, double *x) {
    CAROM_TRY(carom_resolve_list(r, n, what, size));
    for (int i = 0; i < size; ++i) CAROM_TRY(carom_resolve_bound(r, &n->item[i], what, kind, index + i, &x[i]));
    return CAROM_OK;
}

carom_status carom_resolve_nodes(resolver *r, const carom_datum *n, unsigned scope, const char *what, int size, carom_node *x) {
    CAROM_TRY(carom_resolve_list(r, n, what, size));
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c) CAROM_TRY(carom_resolve_expression(r, c, scope, what, x++));
    return CAROM_OK;
}

carom_status carom_resolve_direction(resolver *r, const carom_datum *n, const char *what, double *x) {
    CAROM_TRY(carom_resolve_vector(r, n, what, 3, x));
    const double size = hypot(hypot(x[0], x[1]), x[2]);
    if (!(size > 0)) return carom_fault(r, n, 0, "%s has no length; write a direction such as [0, 0, 1]", what);
    for (int i = 0; i < 3; ++i) x[i] /= size;
    return CAROM_OK;
}

// -- names -----------------------------------------------------------------------------------------------------

carom_status carom_body_name(resolver *r, const body *b, const char *part, name_kind kind, int index, name **out) {
    carom_model *m = r->m;
    char text[140];
    snprintf(text, sizeof text, "%.60s.%.70s", b->name, part);
    const name *other = carom_names_find(&m->names, text, strlen(text));
    if (other)
        return carom_fault(r, b->place, 0, "'%s' of body '%s' is already %s%s; rename one of the two", text, b->name,
                           carom_name_kind(other->kind), carom_line_of(other->line).text);
    const char *copy = carom_pool_text(&m->memory, text, strlen(text));
    *out = copy ? carom_names_add(&m->names, copy, kind, index, b->place->line) : NULL;
    if (!*out) return carom_fault_memory(r);
    (*out)->used = true;
    return CAROM_OK;
}

// A position of the body; moves with velocity v when v >= 0.
static carom_status add_position(resolver *r, const body *b, const char *part, double at, int v, carom_node *node) {
    carom_model *m = r->m;
    name *n = NULL;
    CAROM_TRY(carom_body_name(r, b, part, NAME_COORDINATE, m->nq, &n));
    m->coordinate_name[m->nq] = (int)(n - m->names.at);
    m->velocity_of[m->nq] = v;
    m->q0[m->nq] = at;
    *node = n->node = carom_graph_input(m->graph, CAROM_POSITION, m->nq++);
    if (v < 0) return CAROM_OK;
    const carom_node one = num(r, 1);
    n->rate = carom_graph_input(m->graph, CAROM_VELOCITY, v);
    carom_graph_course(m->graph, *node, 1, &v, &one);
    return CAROM_OK;
}

static carom_status add_velocity(resolver *r, const body *b, const char *part, double at, bool given) {
    carom_model *m = r->m;
    name *n = NULL;
    CAROM_TRY(carom_body_name(r, b, part, NAME_VELOCITY, m->nv, &n));
    n->node = carom_graph_input(m->graph, CAROM_VELOCITY, m->nv);
    m->velocity[m->nv] = n->text;
    m->given[m->nv] = given;
    m->v0[m->nv++] = at;
    return CAROM_OK;
}

// -- frames ----------------------------------------------------------------------------------------------------

// R of a unit quaternion, row by row.
static void rotation(const double *e, double *R) {
    const double w = e[0], x = e[1], y = e[2], z = e[3];
    const double M[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                         2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                         2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, M, sizeof M);
}

// (BOD-2)  R_ij = (2/|e|^2) (e_i e_j -+ w e_k) off the diagonal, 1 - (2/|e|^2) (e_j^2 + e_k^2) on it
static void rotation_nodes(resolver *r, const carom_node *e, carom_node *R) {
    carom_node square[4], norm = num(r, 0);
    for (int i = 0; i < 4; ++i) norm = add(r, norm, square[i] = mul(r, e[i], e[i]));
    const carom_node s = carom_graph_apply(r->m->graph, CAROM_OP_DIV, num(r, 2), norm, CAROM_NONE);
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        R[4 * i] = sub(r, num(r, 1), mul(r, s, add(r, square[1 + j], square[1 + k])));
        const carom_node both = mul(r, e[1 + i], e[1 + j]), turn = mul(r, e[0], e[1 + k]);
        R[3 * i + j] = mul(r, s, sub(r, both, turn));
        R[3 * j + i] = mul(r, s, add(r, both, turn));
    }
    for (int i = 0; i < 9; ++i) R[i] = carom_graph_symbol(r->m->graph, R[i]);
}

// (BOD-1)  e' = 1/2 e o (0, w),  D_k R = R skew(e_k): column k+1 of R turns into column k+2, that into minus column k+1
static void spatial_courses(resolver *r, const body *b, const carom_node *e) {
    carom_graph *g = r->m->graph;
    const int k[3] = {b->v + 3, b->v + 4, b->v + 5};
    const int from[4][3] = {{1, 2, 3}, {0, 3, 2}, {3, 0, 1}, {2, 1, 0}};
    const double sign[4][3] = {{-1, -1, -1}, {1, -1, 1}, {1, 1, -1}, {-1, 1, 1}};
    carom_node c[3];
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 3; ++j) c[j] = mul(r, num(r, 0.5 * sign[i][j]), e[from[i][j]]);
        carom_graph_course(g, e[i], 3, k, c);
    }
    for (int i = 0; i < 9; ++i) {
        const int row = i / 3, j = i % 3, next = (j + 1) % 3, last = (j + 2) % 3;
        const int by[2] = {k[next], k[last]};
        const carom_node f[2] = {call(r, CAROM_OP_NEG, b->R[3 * row + last]), b->R[3 * row + next]};
        carom_graph_course(g, b->R[i], 2, by, f);
    }
}

void carom_body_planar_frame(resolver *r, body *b) {
    const carom_node c = call(r, CAROM_OP_COS, b->angle), s = call(r, CAROM_OP_SIN, b->angle);
    const carom_node o = num(r, 0), R[9] = {c, call(r, CAROM_OP_NEG, s), o, s, c, o, o, o, num(r, 1)};
    memcpy(b->R, R, sizeof R);
}

void carom_body_frame(resolver *r, body *b, int position) {
    carom_graph *g = r->m->graph;
    const int n = b->space == SPATIAL ? 3 : 2;
    const carom_node one = num(r, 1);
    for (int i = 0; i < n; ++i) {
        const int v = b->v + i;
        b->r[i] = carom_graph_input(g, CAROM_POSITION, position + i);
        carom_graph_course(g, b->r[i], 1, &v, &one);
    }
    b->turn = position + n;
    if (n == 2) {
        const int v = b->v + 2;
        b->angle = carom_graph_input(g, CAROM_POSITION, b->turn);
        carom_graph_course(g, b->angle, 1, &v, &one);
        b->r[2] = num(r, 0);
        carom_body_planar_frame(r, b);
        return;
    }
    carom_node e[4];
    for (int i = 0; i < 4; ++i) e[i] = carom_graph_input(g, CAROM_POSITION, b->turn + i);
    rotation_nodes(r, e, b->R);
    spatial_courses(r, b, e);
}

// Rotation by an angle about a constant unit axis.
static void turned_frame(resolver *r, body *b, const double *n) {
    const carom_node c = call(r, CAROM_OP_COS, b->angle), s = call(r, CAROM_OP_SIN, b->angle), d = sub(r, num(r, 1), c);
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        b->R[4 * i] = add(r, c, mul(r, num(r, n[i] * n[i]), d));
        const carom_node both = mul(r, num(r, n[i] * n[j]), d), turn = mul(r, num(r, n[k]), s);
        b->R[3 * i + j] = sub(r, both, turn);
        b->R[3 * j + i] = add(r, both, turn);
    }
}

void carom_body_point(resolver *r, const body *b, const double *s, carom_node *p) {
    const int n = b->space == PLANAR ? 2 : 3;
    for (int i = 0; i < 3; ++i) p[i] = b->r[i];
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) p[i] = add(r, p[i], mul(r, b->R[3 * i + j], num(r, s[j])));
}

void carom_body_vector(resolver *r, const body *b, const double *s, carom_node *p) {
    body turned = *b;
    for (int i = 0; i < 3; ++i) turned.r[i] = num(r, 0);
    carom_body_point(r, &turned, s, p);
}

void carom_body_local(const body *b, const double *p, double *s) {
    for (int j = 0; j < 3; ++j) {
        s[j] = 0;
        for (int i = 0; i < 3; ++i) s[j] += b->R0[3 * i + j] * (p[i] - b->r0[i]);
    }
}

void carom_body_turn_back(const body *b, const double *a, double *s) {
    for (int j = 0; j < 3; ++j) {
        s[j] = 0;
        for (int i = 0; i < 3; ++i) s[j] += b->R0[3 * i + j] * a[i];
    }
}

// -- one body ------------------------------------------------------------------------------------------------------

// Initial orientation of a spatial body: a quaternion, or an angle about an axis.
static carom_status read_orientation(resolver *r, const carom_mech_body *of, const char *where, double *e) {
    const carom_datum *quaternion = carom_given(&of->quaternion), *axis = carom_given(&of->axis), *angle = carom_given(&of->angle);
    const double whole[4] = {1, 0, 0, 0};
    memcpy(e, whole, sizeof whole);
    if (quaternion) {
        if (axis || angle)
            return carom_fault(r, quaternion->key, 0, "%s has both a quaternion and an axis or angle; keep one", where);
        if (quaternion->kind != CAROM_LIST || quaternion->count != 4)
            return carom_fault(r, quaternion, 0, "the quaternion is a list of four, [w, x, y, z]");
        int i = 0;
        double square = 0;
        for (const carom_datum *c = carom_first(quaternion); c != carom_end(quaternion); ++c, ++i) {
            CAROM_TRY(carom_resolve_number(r, c, "the quaternion", &e[i]));
            square += e[i] * e[i];
        }
        if (!(square > 1e-300 && square < 1e300)) return carom_fault(r, quaternion, 0, "the quaternion has no length");
        for (i = 0; i < 4; ++i) e[i] /= sqrt(square);
        return CAROM_OK;
    }
    if (!axis && !angle) return CAROM_OK;
    if (!axis || !angle)
        return carom_fault(r, (axis ? axis : angle)->key, 0, "%s is turned by `axis: [x, y, z]` and `angle:`; one of the two is missing", where);
    double n[3], phi = 0;
    CAROM_TRY(carom_resolve_direction(r, axis, "the axis", n));
    CAROM_TRY(carom_resolve_number(r, angle, "the angle", &phi));
    e[0] = cos(phi / 2);
    for (int i = 0; i < 3; ++i) e[1 + i] = sin(phi / 2) * n[i];
    return CAROM_OK;
}

static carom_status read_planar(resolver *r, const carom_mech_body *of, body *b) {
    const carom_datum *at = carom_given(&of->at), *angle = carom_given(&of->angle), *velocity = carom_given(&of->velocity), *spin = carom_given(&of->spin);
    double v[3] = {0}, phi = 0;
    const int body = (int)(b - r->m->bodies), first = 6 * body;
    if (at) CAROM_TRY(carom_resolve_bound_vector(r, at, "the position of a planar body (its inertia is one number, in space it is a list of three)", 2, BOUND_PLACE, first, b->r0));
    if (angle) CAROM_TRY(carom_resolve_bound(r, angle, "the angle", BOUND_ANGLE, body, &phi));
    if (velocity) CAROM_TRY(carom_resolve_bound_vector(r, velocity, "the velocity of a planar body", 2, BOUND_SPEED, first, v));
    if (spin) CAROM_TRY(carom_resolve_bound(r, spin, "the spin of a planar body", BOUND_SPEED, first + 2, &v[2]));
    return carom_body_planar(r, b, phi, v, velocity != NULL, spin != NULL);
}

// What a free body starts with; it gets its place later.
static carom_status keep_start(resolver *r, body *b, const double *v, int nv, const double *turn, int n) {
    b->start = carom_pool_take(&r->m->memory, sizeof *b->start);
    if (!b->start) return carom_fault_memory(r);
    memcpy(b->start->v, v, (size_t)nv * sizeof *v);
    memcpy(b->start->turn, turn, (size_t)n * sizeof *turn);
    return CAROM_OK;
}

carom_status carom_body_planar(resolver *r, body *b, double phi, const double *v, bool linear, bool angular) {
    static const char *const part[] = {"vx", "vy", "wz"};
    const double R0[9] = {cos(phi), -sin(phi), 0, sin(phi), cos(phi), 0, 0, 0, 1};
    memcpy(b->R0, R0, sizeof R0);
    if (b->free) return keep_start(r, b, v, 3, &phi, 1);
    b->v = r->m->nv;
    for (int i = 0; i < 3; ++i) CAROM_TRY(add_velocity(r, b, part[i], v[i], i < 2 ? linear : angular));
    CAROM_TRY(add_position(r, b, "x", b->r0[0], b->v, &b->r[0]));
    CAROM_TRY(add_position(r, b, "y", b->r0[1], b->v + 1, &b->r[1]));
    b->turn = r->m->nq;
    CAROM_TRY(add_position(r, b, "angle", phi, b->v + 2, &b->angle));
    b->r[2] = num(r, 0);
    carom_body_planar_frame(r, b);
    return CAROM_OK;
}

static carom_status read_spatial(resolver *r, const carom_mech_body *of, body *b) {
    const carom_datum *at = carom_given(&of->at), *velocity = carom_given(&of->velocity), *spin = carom_given(&of->spin);
    double v[6] = {0}, e0[4];
    memcpy(b->r0, b->centre, sizeof b->r0);
    const int first = 6 * (int)(b - r->m->bodies);
    if (at) CAROM_TRY(carom_resolve_bound_vector(r, at, "the position of a spatial body", 3, BOUND_PLACE, first, b->r0));
    CAROM_TRY(read_orientation(r, of, b->where, e0));
    if (velocity) CAROM_TRY(carom_resolve_bound_vector(r, velocity, "the velocity of a spatial body", 3, BOUND_SPEED, first, v));
    if (spin) CAROM_TRY(carom_resolve_bound_vector(r, spin, "the spin of a spatial body", 3, BOUND_SPEED, first + 3, v + 3));
    return carom_body_spatial(r, b, e0, v, velocity != NULL, spin != NULL);
}

carom_status carom_body_spatial(resolver *r, body *b, const double *e0, const double *v, bool linear, bool angular) {
    static const char *const velocities[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
    static const char *const places[] = {"x", "y", "z"}, *const parts[] = {"qw", "qx", "qy", "qz"};
    carom_node e[4];
    rotation(e0, b->R0);
    if (b->free) return keep_start(r, b, v, 6, e0, 4);
    b->v = r->m->nv;
    for (int i = 0; i < 6; ++i) CAROM_TRY(add_velocity(r, b, velocities[i], v[i], i < 3 ? linear : angular));
    for (int i = 0; i < 3; ++i) CAROM_TRY(add_position(r, b, places[i], b->r0[i], b->v + i, &b->r[i]));
    b->turn = r->m->nq;
    for (int i = 0; i < 4; ++i) CAROM_TRY(add_position(r, b, parts[i], e0[i], -1, &e[i]));
    rotation_nodes(r, e, b->R);
    spatial_courses(r, b, e);
    return CAROM_OK;
}

bool carom_inertia_positive(const double *J) {
    const double two = J[0] * J[4] - J[1] * J[1];
    const double three = J[8] * two - J[2] * (J[2] * J[4] - J[5] * J[1]) - J[5] * (J[5] * J[0] - J[2] * J[1]);
    return J[0] > 0 && two > 0 && three > 0;
}

// Inertia: one number (planar), three principal moments, or six: xx, yy, zz, xy, xz, yz.
static carom_status read_mass(resolver *r, const carom_mech_body *of, body *b) {
    const carom_datum *mass = carom_given(&of->mass), *inertia = carom_given(&of->inertia), *density = carom_given(&of->density);
    if (density && (mass || inertia)) return carom_fault(r, density->key, 0, "%s has a density, and '%s' as well; remove one of the two", b->where, (mass ? mass : inertia)->key->text);
    if (density) return carom_solid_mass(r, of, b);
    if (!mass || !inertia)
        return carom_fault(r, b->place, 0, "%s has no %s; write `mass: 1, inertia: 0.1` (planar) or `inertia: [0.1, 0.1, 0.2]` (spatial), or in space `density: 1000` and a shape", b->where,
                           mass ? "inertia" : "mass");
    const int body = (int)(b - r->m->bodies), first = 6 * body;
    CAROM_TRY(carom_resolve_term(r, mass, "the mass", BOUND_MASS, body, &b->mass, &b->mass_node));
    if (!(b->mass > 0)) return carom_fault(r, mass, 0, "the mass is %g; it must be positive", b->mass);
    double J[6] = {0};
    int n = 0;
    for (int k = 0; k < 6; ++k) b->J_node[k] = num(r, 0);
    b->space = inertia->kind == CAROM_LIST ? SPATIAL : PLANAR;
    if (b->space == PLANAR) {
        CAROM_TRY(carom_resolve_term(r, inertia, "the inertia", BOUND_INERTIA, first + 2, &J[2], &b->J_node[2]));
        J[0] = J[1] = J[2];
    } else {
        if (inertia->count != 3 && inertia->count != 6)
            return carom_fault(r, inertia, 0, "the inertia of a spatial body is a list of three (principal) or six (xx, yy, zz, xy, xz, yz), not %d",
                               inertia->count);
        for (; n < inertia->count; ++n) CAROM_TRY(carom_resolve_term(r, &inertia->item[n], "the inertia", BOUND_INERTIA, first + n, &J[n], &b->J_node[n]));
    }
    const double full[9] = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]};
    memcpy(b->J, full, sizeof full);
    if (carom_inertia_positive(b->J)) return CAROM_OK;
    return carom_fault(r, inertia, 0, "the inertia must be positive%s", n ? " definite" : "");
}

// A body whose motion is prescribed.
static carom_status read_motion(resolver *r, const carom_mech_motion *motion, body *b) {
    static const char *const places[] = {"x", "y", "z"};
    const carom_datum *at = carom_given(&motion->at), *angle = carom_given(&motion->angle), *axis = carom_given(&motion->axis);
    if (!at && !angle && !axis) return carom_fault(r, &motion->name, 0, "the motion of %s is empty; write `motion: {at: [0, sin(t)]}`", b->where);
    if (!at || at->kind != CAROM_LIST || (at->count != 2 && at->count != 3))
        return carom_fault(r, at ? at : &motion->name, 0, "the motion needs `at:` with a list of two (planar) or three (spatial)");
    b->space = at->count == 2 ? PLANAR : SPATIAL;
    b->v = -1;
    b->r[2] = num(r, 0);
    CAROM_TRY(carom_resolve_nodes(r, at, SCOPE_MOTION, "the motion", at->count, b->r));
    b->angle = num(r, 0);
    if (angle) CAROM_TRY(carom_resolve_expression(r, angle, SCOPE_MOTION, "the motion", &b->angle));
    double n[3] = {0, 0, 1};
    if (b->space == SPATIAL && angle && !axis)
        return carom_fault(r, angle->key, 0, "an angle in space needs an axis; add `axis: [0, 0, 1]`");
    if (axis) CAROM_TRY(carom_resolve_direction(r, axis, "the axis", n));
    memcpy(b->axis, n, sizeof n);
    if (b->space == SPATIAL) turned_frame(r, b, n);
    else carom_body_planar_frame(r, b);
    for (int i = 0; i < 12; ++i) {
        const carom_node x = i < 3 ? b->r[i] : b->R[i - 3];
        CAROM_TRY(carom_resolve_start(r, i < at->count ? &at->item[i] : angle ? angle : at, x, i < 3 ? &b->r0[i] : &b->R0[i - 3]));
    }
    for (int i = 0; i < at->count; ++i) {
        name *n1 = NULL;
        CAROM_TRY(carom_body_name(r, b, places[i], NAME_LET, 0, &n1));
        n1->node = b->r[i];
    }
    return CAROM_OK;
}

// points: {tip: [0.1, 0]} makes BODY.tip.x, BODY.tip.y (and z): where the point is in the world.
static carom_status read_points(resolver *r, const carom_datum *points, body *b) {
    static const char *const axis[] = {"x", "y", "z"};
    const int n = b->space == SPATIAL ? 3 : 2;
    b->npoints = points->count;
    b->points = carom_pool_take(&r->m->memory, ((size_t)b->npoints + 1) * sizeof *b->points);
    if (!b->points) return carom_fault_memory(r);
    int i = 0;
    for (const carom_datum *c = carom_first(points); c != carom_end(points); ++c, ++i) {
        if (!carom_name_valid(c->key->text) || c->key->length > 60)
            return carom_fault(r, c->key, 0, "'%.60s' is not a name for a point", c->key->text);
        b->points[i].name = c->key->text;
        CAROM_TRY(carom_resolve_vector(r, c, "a point of a body", n, b->points[i].s));
        carom_node p[3];
        carom_body_point(r, b, b->points[i].s, p);
        for (int k = 0; k < n; ++k) {
            char part[70];
            name *made = NULL;
            snprintf(part, sizeof part, "%s.%s", c->key->text, axis[k]);
            CAROM_TRY(carom_body_name(r, b, part, NAME_LET, 0, &made));
            made->node = p[k];
        }
    }
    return CAROM_OK;
}

static carom_status read_body(resolver *r, const carom_mech_body *of, body *b) {
    const carom_datum *axis = carom_given(&of->axis), *quaternion = carom_given(&of->quaternion);
    if (of->motion) {
        const carom_datum *const free[] = {&of->mass, &of->inertia, &of->density, &of->at, &of->angle, axis, quaternion, &of->velocity, &of->spin};
        for (size_t i = 0; i < sizeof free / sizeof *free; ++i)
            if (free[i] && carom_given(free[i]))
                return carom_fault(r, free[i]->key, 0, "the motion of %s is prescribed; '%s' has no meaning beside `motion`", b->where, free[i]->key->text);
        CAROM_TRY(read_motion(r, of->motion, b));
    } else {
        CAROM_TRY(read_mass(r, of, b));
        if (b->space == PLANAR && (axis || quaternion))
            return carom_fault(r, (axis ? axis : quaternion)->key, 0, "%s is planar (its inertia is one number) and turns by `angle` alone", b->where);
        CAROM_TRY(b->space == SPATIAL ? read_spatial(r, of, b) : read_planar(r, of, b));
    }
    return read_points(r, &of->points, b);
}

// -- all bodies ----------------------------------------------------------------------------------------------------

static const char *body_name(const void *user, int i) {
    const carom_model *m = user;
    return i < m->nbodies ? m->bodies[i].name : NULL;
}

carom_status carom_find_body(resolver *r, const carom_datum *n, const body **b) {
    if (n->kind != CAROM_TEXT) return carom_fault(r, n, 0, "this is the name of a body, not a %s", n->kind == CAROM_LIST ? "list" : "map");
    for (int i = 0; i < r->m->nbodies; ++i)
        if (strcmp(r->m->bodies[i].name, n->text) == 0) {
            *b = &r->m->bodies[i];
            return CAROM_OK;
        }
    const char *near = carom_nearest(n->text, body_name, r->m);
    return near ? carom_fault(r, n, 0, "unknown body '%.60s'; did you mean '%s'?", n->text, near)
                : carom_fault(r, n, 0, "unknown body '%.60s'; bodies are `ground` and those of section bodies", n->text);
}

carom_status carom_body_point_at(resolver *r, const carom_datum *n, const body *b, bool spatial, double *s) {
    if (n->kind != CAROM_TEXT) return carom_resolve_vector(r, n, "the point", spatial ? 3 : 2, s);
    for (int i = 0; i < b->npoints; ++i)
        if (strcmp(b->points[i].name, n->text) == 0) {
            memcpy(s, b->points[i].s, 3 * sizeof *s);
            return CAROM_OK;
        }
    return carom_fault(r, n, 0, "body '%s' has no point '%.60s'; write its coordinates, or name it in `points` there", b->name, n->text);
}

carom_status carom_body_start_fixed(resolver *r, const body *b) {
    if (b->v < 0 || b->floating || !b->place) return CAROM_OK;
    const carom_mech_body *of = (const void *)b->place; // its name comes first
    CAROM_TRY(carom_fix_vector(r, carom_given(&of->at)));
    return carom_fix_vector(r, carom_given(&of->angle));
}

carom_status carom_body_angle(resolver *r, const carom_datum *place, const body *b, double *angle) {
    if (carom_body_prescribed(b)) return carom_resolve_start(r, place, b->angle, angle);
    *angle = b->carried ? b->angle0 : r->m->q0[b->turn];
    return carom_body_start_fixed(r, b);
}

static carom_status read_gravity(resolver *r, double *gravity) {
    const carom_datum *n = carom_given(&r->mech->gravity);
    for (int k = 0; k < 3; ++k) r->m->gravity_node[k] = num(r, 0);
    if (!n) return CAROM_OK;
    if (n->kind != CAROM_LIST || n->count < 2 || n->count > 3)
        return carom_fault(r, n, 0, "gravity is a list of two (planar) or three (spatial), such as [0, -9.81]");
    for (int k = 0; k < n->count; ++k) CAROM_TRY(carom_resolve_term(r, &n->item[k], "gravity", BOUND_GRAVITY, k, &gravity[k], &r->m->gravity_node[k]));
    return CAROM_OK;
}

// [0, 0, -9.81] would do nothing to bodies that are all in the plane.
static carom_status gravity_acts(resolver *r, const double *gravity) {
    const carom_model *m = r->m;
    int planar = 0;
    for (int i = 1; i < m->nbodies; ++i) {
        if (m->bodies[i].space == SPATIAL) return CAROM_OK;
        planar += m->bodies[i].space == PLANAR;
    }
    if (planar == 0 || gravity[2] == 0) return CAROM_OK;
    return carom_fault(r, &r->mech->gravity, 0,
                       "all bodies are planar, and the third component of gravity, %g, acts on none of them; write [x, y], such as [0, -9.81]", gravity[2]);
}

// Kinetic and potential energy of all bodies.
static void energies(resolver *r) {
    carom_model *m = r->m;
    const carom_node half = num(r, 0.5);
    carom_node T = num(r, 0), V = num(r, 0);
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v < 0) continue;
        const int n = b->space == SPATIAL ? 3 : 2;
        carom_node v[6], square = num(r, 0);
        for (int k = 0; k < 2 * n && k < (n == 2 ? 3 : 6); ++k) v[k] = carom_graph_input(m->graph, CAROM_VELOCITY, b->v + k);
        for (int k = 0; k < n; ++k) square = add(r, square, mul(r, v[k], v[k]));
        T = add(r, T, mul(r, mul(r, half, b->mass_node), square));
        for (int k = n; k < (n == 2 ? 3 : 6); ++k)
            for (int l = n; l <= k; ++l) {
                const carom_node J = n == 2 ? b->J_node[2] : b->J_node[carom_inertia_at[3 * (k - 3) + l - 3]];
                T = add(r, T, mul(r, k == l ? mul(r, half, J) : J, mul(r, v[k], v[l])));
            }
        for (int k = 0; k < n; ++k) V = sub(r, V, mul(r, mul(r, b->mass_node, m->gravity_node[k]), b->r[k]));
    }
    m->body_kinetic = T;
    m->body_potential = V;
}

enum { MOST_VELOCITIES = 2000 }; // beyond that, expressions are not the way

carom_status carom_derive_bodies(resolver *r) {
    carom_model *m = r->m;
    double *gravity = m->gravity;
    int coordinates = 0, floating = 0;
    CAROM_TRY(carom_floating_count(r, &coordinates, &floating));
    m->bodies = carom_pool_take(&m->memory, ((size_t)r->mech->nbodies + (size_t)floating + 1) * sizeof *m->bodies);
    if (!m->bodies) return carom_fault_memory(r);
    CAROM_TRY(read_gravity(r, gravity));
    body *ground = &m->bodies[m->nbodies++];
    *ground = (body){.name = "ground", .space = EITHER, .v = -1, .R0 = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int i = 0; i < 9; ++i) ground->R[i] = num(r, i % 4 == 0);
    for (int i = 0; i < 3; ++i) ground->r[i] = num(r, 0);
    ground->angle = num(r, 0);
    bool *is_free = carom_pool_take(&m->memory, (size_t)r->mech->nbodies + 1);
    if (!is_free) return carom_fault_memory(r);
    if (r->mech->nmembers == 0 && !carom_given(&r->mech->exact) && carom_pairs_many(r)) CAROM_TRY(carom_free_find(r, is_free));
    for (int i = 0; i < r->mech->nbodies; ++i) {
        const carom_mech_body *of = &r->mech->bodies[i];
        body *b = &m->bodies[m->nbodies];
        if (m->nv > MOST_VELOCITIES)
            return carom_fault(r, &of->name, 0, "more than %d bodies that expressions, joints or springs name; build such a system with the C library", MOST_VELOCITIES / 6);
        CAROM_TRY(carom_part_name(r, &of->name));
        if (carom_datum_is(&of->name, "ground"))
            return carom_fault(r, &of->name, 0, "the ground is always there; a body with prescribed motion has `motion`");
        *b = (body){.name = of->name.text, .place = &of->name, .material = carom_given(&of->material), .v = -1, .free = is_free[i]};
        snprintf(b->where, sizeof b->where, "body '%.60s'", b->name);
        CAROM_TRY(read_body(r, of, b));
        ++m->nbodies;
    }
    energies(r);
    if (floating) CAROM_TRY(carom_fix_vector(r, carom_given(&r->mech->gravity)));
    CAROM_TRY(carom_derive_floating(r, gravity));
    return gravity_acts(r, gravity);
}

// bodies.c: the sections `bodies` and `gravity`: rigid bodies become coordinates, symbols and energies.
//
// A planar body brings x, y, angle.  A spatial one brings x, y, z and a unit quaternion, with the velocities vx, vy, vz
// (world) and wx, wy, wz (body frame), q' = 1/2 q o (0, w).  Its rotation matrix R is nine symbols with the course
// D_k R = R skew(e_k), so that no derivative ever looks into the quaternion (BOD-1).  R belongs to the direction of the
// quaternion, whatever its length.  The reference point is the centre of mass.
#include "base/tolerance.h"
#include "derive/bodies/body.h"
#include "derive/shapes/shapes.h"
#include "expr/expr.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

// -- one body ------------------------------------------------------------------------------------------------------

// Initial orientation of a spatial body: a quaternion, or an angle about an axis.
static carom_status read_orientation(resolver *r, const carom_mech_body *of, const char *where, double *e) {
    const carom_datum *quaternion = carom_given(&of->quaternion), *axis = carom_given(&of->axis),
                      *angle = carom_given(&of->angle);
    const double whole[4] = {1, 0, 0, 0};
    memcpy(e, whole, sizeof whole);
    if (quaternion) {
        if (axis || angle)
            return carom_fault(r, quaternion->key, 0, "%s has both `quaternion` and `axis`/`angle`; give only one",
                               where);
        if (quaternion->kind != CAROM_LIST || quaternion->count != 4)
            return carom_fault(r, quaternion, 0, "the quaternion is a list of four, [w, x, y, z]");
        int i = 0;
        double square = 0;
        for (const carom_datum *c = carom_first(quaternion); c != carom_end(quaternion); ++c, ++i) {
            CAROM_TRY(carom_resolve_number(r, c, "the quaternion", &e[i]));
            square += e[i] * e[i];
        }
        if (!(square > CAROM_NOT_ZERO && square < CAROM_LARGEST))
            return carom_fault(r, quaternion, 0, "quaternion must be non-zero");
        for (i = 0; i < 4; ++i) e[i] /= sqrt(square);
        return CAROM_OK;
    }
    if (!axis && !angle) return CAROM_OK;
    if (!axis || !angle)
        return carom_fault(r, (axis ? axis : angle)->key, 0,
                           "%s is turned by `axis: [x, y, z]` and `angle:`; one of the two is missing", where);
    double n[3], phi = 0;
    CAROM_TRY(carom_resolve_direction(r, axis, "the axis", n));
    CAROM_TRY(carom_resolve_number(r, angle, "the angle", &phi));
    e[0] = cos(phi / 2);
    for (int i = 0; i < 3; ++i) e[1 + i] = sin(phi / 2) * n[i];
    return CAROM_OK;
}

static carom_status read_planar(resolver *r, const carom_mech_body *of, body *b) {
    const carom_datum *at = carom_given(&of->at), *angle = carom_given(&of->angle),
                      *velocity = carom_given(&of->velocity), *spin = carom_given(&of->spin);
    double v[3] = {0}, phi = 0;
    const int body = (int)(b - r->m->bodies), first = 6 * body;
    memcpy(b->r0, b->centre, sizeof b->r0);
    if (at)
        CAROM_TRY(carom_resolve_bound_vector(
            r, at, "the position of a planar body (its inertia is one number, in space it is a list of three)", 2,
            BOUND_PLACE, first, b->r0));
    if (angle) CAROM_TRY(carom_resolve_bound(r, angle, "the angle", BOUND_ANGLE, body, &phi));
    if (velocity)
        CAROM_TRY(carom_resolve_bound_vector(r, velocity, "the velocity of a planar body", 2, BOUND_SPEED, first, v));
    if (spin) CAROM_TRY(carom_resolve_bound(r, spin, "the spin of a planar body", BOUND_SPEED, first + 2, &v[2]));
    return carom_body_planar(r, b, phi, v, velocity != NULL, spin != NULL);
}

static carom_status read_spatial(resolver *r, const carom_mech_body *of, body *b) {
    const carom_datum *at = carom_given(&of->at), *velocity = carom_given(&of->velocity),
                      *spin = carom_given(&of->spin);
    double v[6] = {0}, e0[4];
    memcpy(b->r0, b->centre, sizeof b->r0);
    const int first = 6 * (int)(b - r->m->bodies);
    if (at)
        CAROM_TRY(carom_resolve_bound_vector(r, at, "the position of a spatial body", 3, BOUND_PLACE, first, b->r0));
    CAROM_TRY(read_orientation(r, of, carom_body_where(b).text, e0));
    if (velocity)
        CAROM_TRY(carom_resolve_bound_vector(r, velocity, "the velocity of a spatial body", 3, BOUND_SPEED, first, v));
    if (spin)
        CAROM_TRY(carom_resolve_bound_vector(r, spin, "the spin of a spatial body", 3, BOUND_SPEED, first + 3, v + 3));
    return carom_body_spatial(r, b, e0, v, velocity != NULL, spin != NULL);
}

// Inertia: one number (planar), three principal moments, or six: xx, yy, zz, xy, xz, yz.
static carom_status read_mass(resolver *r, const carom_mech_body *of, body *b) {
    const carom_datum *mass = carom_given(&of->mass), *inertia = carom_given(&of->inertia),
                      *density = carom_given(&of->density);
    if (density && (mass || inertia))
        return carom_fault(r, density->key, 0, "%s has a density, and '%s' as well; remove one of the two",
                           carom_body_where(b).text, (mass ? mass : inertia)->key->text);
    if (!density && carom_given(&of->thickness))
        return carom_fault(r, of->thickness.key, 0, "%s has no density; `thickness` belongs to that",
                           carom_body_where(b).text);
    if (density) return carom_solid_mass(r, of, b);
    if (!mass || !inertia)
        return carom_fault(r, b->place, 0,
                           "%s has no %s; write `mass: 1, inertia: 0.1` (planar) or `inertia: [0.1, 0.1, 0.2]` "
                           "(spatial), or `density: 1000` and a shape",
                           carom_body_where(b).text, mass ? "inertia" : "mass");
    const int body = (int)(b - r->m->bodies), first = 6 * body;
    CAROM_TRY(carom_resolve_term(r, mass, "the mass", BOUND_MASS, body, &b->mass, &b->mass_node));
    if (!(b->mass > 0)) return carom_fault(r, mass, 0, "mass must be positive, got %g", b->mass);
    double J[6] = {0};
    int n = 0;
    for (int k = 0; k < 6; ++k) b->J_node[k] = r_num(r, 0);
    b->space = inertia->kind == CAROM_LIST ? SPATIAL : PLANAR;
    if (b->space == PLANAR) {
        CAROM_TRY(carom_resolve_term(r, inertia, "the inertia", BOUND_INERTIA, first + 2, &J[2], &b->J_node[2]));
        J[0] = J[1] = J[2];
    } else {
        if (inertia->count != 3 && inertia->count != 6)
            return carom_fault(
                r, inertia, 0,
                "the inertia of a spatial body is a list of three (principal) or six (xx, yy, zz, xy, xz, yz), not %d",
                inertia->count);
        for (; n < inertia->count; ++n)
            CAROM_TRY(carom_resolve_term(r, &inertia->item[n], "the inertia", BOUND_INERTIA, first + n, &J[n],
                                         &b->J_node[n]));
    }
    const double full[9] = {J[0], J[3], J[4], J[3], J[1], J[5], J[4], J[5], J[2]};
    memcpy(b->J, full, sizeof full);
    if (carom_inertia_positive(b->J)) return CAROM_OK;
    return carom_fault(r, inertia, 0, "the inertia must be positive%s", n ? " definite" : "");
}

// A body whose motion is prescribed.
static carom_status read_motion(resolver *r, const carom_mech_motion *motion, body *b) {
    static const char *const places[] = {"x", "y", "z"};
    const carom_datum *at = carom_given(&motion->at), *angle = carom_given(&motion->angle),
                      *axis = carom_given(&motion->axis);
    if (!at && !angle && !axis)
        return carom_fault(r, &motion->name, 0, "the motion of %s is empty; write `motion: {at: [0, sin(t)]}`",
                           carom_body_where(b).text);
    if (!at || at->kind != CAROM_LIST || (at->count != 2 && at->count != 3))
        return carom_fault(r, at ? at : &motion->name, 0,
                           "the motion needs `at:` with a list of two (planar) or three (spatial)");
    b->space = at->count == 2 ? PLANAR : SPATIAL;
    b->v = -1;
    b->r[2] = r_num(r, 0);
    CAROM_TRY(carom_resolve_nodes(r, at, SCOPE_MOTION, "the motion", at->count, b->r));
    b->angle = r_num(r, 0);
    if (angle) CAROM_TRY(carom_resolve_expression(r, angle, SCOPE_MOTION, "the motion", &b->angle));
    double n[3] = {0, 0, 1};
    if (b->space == SPATIAL && angle && !axis)
        return carom_fault(r, angle->key, 0, "an angle in space needs an axis; add `axis: [0, 0, 1]`");
    if (axis) CAROM_TRY(carom_resolve_direction(r, axis, "the axis", n));
    memcpy(b->axis, n, sizeof n);
    if (b->space == SPATIAL) carom_body_turned_frame(r, b, n);
    else carom_body_planar_frame(r, b);
    if (!carom_body_turned(r, b, carom_shape_upright)) return carom_fault_memory(r);
    for (int i = 0; i < 12; ++i) {
        const carom_node x = i < 3 ? b->r[i] : b->R[i - 3];
        CAROM_TRY(carom_resolve_start(r,
                                      i < at->count ? &at->item[i]
                                      : angle       ? angle
                                                    : at,
                                      x, i < 3 ? &b->r0[i] : &b->R0[i - 3]));
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
        CAROM_TRY(carom_part_name(r, c->key));
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
        const carom_datum *const free[] = {&of->mass, &of->inertia, &of->density,  &of->at,  &of->angle,
                                           axis,      quaternion,   &of->velocity, &of->spin};
        for (size_t i = 0; i < sizeof free / sizeof *free; ++i)
            if (free[i] && carom_given(free[i]))
                return carom_fault(r, free[i]->key, 0,
                                   "the motion of %s is prescribed; '%s' cannot be combined with `motion`",
                                   carom_body_where(b).text, free[i]->key->text);
        CAROM_TRY(read_motion(r, of->motion, b));
    } else {
        CAROM_TRY(read_mass(r, of, b));
        if (b->space == PLANAR && (axis || quaternion))
            return carom_fault(r, (axis ? axis : quaternion)->key, 0,
                               "%s is planar (its inertia is one number) and turns by `angle` alone",
                               carom_body_where(b).text);
        CAROM_TRY(b->space == SPATIAL ? read_spatial(r, of, b) : read_planar(r, of, b));
    }
    return read_points(r, &of->points, b);
}

// -- all bodies ----------------------------------------------------------------------------------------------------

static carom_status read_gravity(resolver *r, double *gravity) {
    const carom_datum *n = carom_given(&r->mech->gravity);
    for (int k = 0; k < 3; ++k) r->m->gravity_node[k] = r_num(r, 0);
    if (!n) return CAROM_OK;
    if (n->kind != CAROM_LIST || n->count < 2 || n->count > 3)
        return carom_fault(r, n, 0,
                           "gravity must be a list of two (planar) or three (spatial) numbers, e.g. [0, -9.81]");
    for (int k = 0; k < n->count; ++k)
        CAROM_TRY(carom_resolve_term(r, &n->item[k], "gravity", BOUND_GRAVITY, k, &gravity[k], &r->m->gravity_node[k]));
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
                       "all bodies are planar, and the third component of gravity, %g, acts on none of them; write [x, "
                       "y], such as [0, -9.81]",
                       gravity[2]);
}

// Kinetic and potential energy of all bodies.
static void energies(resolver *r) {
    carom_model *m = r->m;
    const carom_node half = r_num(r, 0.5);
    carom_node T = r_num(r, 0), V = r_num(r, 0);
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v < 0) continue;
        const int n = b->space == SPATIAL ? 3 : 2;
        carom_node v[6], square = r_num(r, 0);
        for (int k = 0; k < 2 * n && k < (n == 2 ? 3 : 6); ++k)
            v[k] = carom_graph_input(m->graph, CAROM_VELOCITY, b->v + k);
        for (int k = 0; k < n; ++k) square = r_add(r, square, r_mul(r, v[k], v[k]));
        T = r_add(r, T, r_mul(r, r_mul(r, half, b->mass_node), square));
        for (int k = n; k < (n == 2 ? 3 : 6); ++k)
            for (int l = n; l <= k; ++l) {
                const carom_node J = n == 2 ? b->J_node[2] : b->J_node[carom_inertia_at[3 * (k - 3) + l - 3]];
                T = r_add(r, T, r_mul(r, k == l ? r_mul(r, half, J) : J, r_mul(r, v[k], v[l])));
            }
        for (int k = 0; k < n; ++k) V = r_sub(r, V, r_mul(r, r_mul(r, b->mass_node, m->gravity_node[k]), b->r[k]));
    }
    m->energy_of.body_kinetic = T;
    m->energy_of.body_potential = V;
}

enum { MOST_VELOCITIES = 30000 }; // beyond that, expressions are not the way

carom_status carom_derive_bodies(resolver *r) {
    carom_model *m = r->m;
    double *gravity = m->gravity;
    int coordinates = 0, floating = 0;
    CAROM_TRY(carom_floating_count(r, &coordinates, &floating));
    m->bodies = carom_pool_take(&m->memory, ((size_t)r->mech->nbodies + (size_t)floating + 1) * sizeof *m->bodies);
    if (!m->bodies) return carom_fault_memory(r);
    CAROM_TRY(read_gravity(r, gravity));
    body *ground = &m->bodies[m->nbodies++];
    *ground = (body){.name = "ground", .space = EITHER, .v = -1};
    if (!carom_body_turned(r, ground, carom_shape_upright)) return carom_fault_memory(r);
    for (int i = 0; i < 9; ++i) ground->R[i] = r_num(r, i % 4 == 0);
    for (int i = 0; i < 3; ++i) ground->r[i] = r_num(r, 0);
    ground->angle = r_num(r, 0);
    bool *is_free = carom_pool_take(&m->memory, (size_t)r->mech->nbodies + 1);
    if (!is_free) return carom_fault_memory(r);
    if (r->mech->nmembers == 0 && !carom_given(&r->mech->exact) && carom_pairs_many(r))
        CAROM_TRY(carom_free_find(r, is_free));
    for (int i = 0; i < r->mech->nbodies; ++i) {
        const carom_mech_body *of = carom_body_given(r, i);
        body *b = &m->bodies[m->nbodies];
        if (m->nv > MOST_VELOCITIES)
            return carom_fault(
                r, &of->name, 0,
                "more than %d bodies that expressions, joints or springs name; build such a system with the C library",
                MOST_VELOCITIES / 6);
        CAROM_TRY(carom_fresh_values(r));
        CAROM_TRY(carom_part_name(r, &of->name));
        if (carom_datum_is(&of->name, "ground"))
            return carom_fault(r, &of->name, 0,
                               "'ground' is predefined; for a body with prescribed motion use `motion:`");
        *b = (body){.name = of->name.text,
                    .kind = "body",
                    .place = carom_body_written(r, i),
                    .material = carom_given(&of->material),
                    .v = -1,
                    .free = is_free[i]};
        CAROM_TRY(read_body(r, of, b));
        if (carom_given(&of->exists_while))
            CAROM_TRY(carom_add_condition(r, &of->exists_while, b->name, m->nbodies, -1, &b->condition));
        ++m->nbodies;
    }
    energies(r);
    if (floating) CAROM_TRY(carom_fix_vector(r, carom_given(&r->mech->gravity)));
    CAROM_TRY(carom_derive_floating(r, gravity));
    return gravity_acts(r, gravity);
}

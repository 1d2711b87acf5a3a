// draw_bodies.c: mechanisms of parts draw themselves: a body by its shapes and by bars from its centre of mass to what
// the shapes leave out: named points, joints, small shapes at its ends.  Without shapes and with less than two bars, as
// the solid body of even density that has its mass and inertia.  Joints as marks, springs as springs, ropes as lines.
// What `draw` says something of is left to it.
#include "derive/bodies/body.h"
#include "derive/draw/draw.h"
#include "derive/shapes/shapes.h"
#include <math.h>

static const double ROUND = 1e-9; // of a radius: a point on the surface is covered
static const double EQUAL = 1e-6; // of the largest: moments that are given with few digits

void carom_draw_in_body(resolver *r, const body *b, int dim, const carom_node *s, carom_node *p) {
    carom_graph *g = r->m->graph;
    for (int i = 0; i < dim; ++i) {
        p[i] = b->r[i];
        for (int j = 0; j < dim; ++j) p[i] = n_add(g, p[i], n_mul(g, b->R[3 * i + j], s[j]));
    }
}

int carom_draw_turn(resolver *r, const body *b, int dim, carom_node *turn) {
    if (dim == 2) return turn[0] = b->angle, 1;
    if (b->space == SPATIAL && b->v >= 0) {
        for (int i = 0; i < 4; ++i) turn[i] = carom_graph_input(r->m->graph, CAROM_POSITION, b->orientation + i);
        return 4;
    }
    if (b->space != PLANAR) return 0;
    turn[0] = turn[1] = r_num(r, 0);
    turn[2] = b->angle;
    return 3;
}

static carom_status put(resolver *r, const carom_datum *n, const carom_node *x, int count) {
    for (int i = 0; i < count; ++i) CAROM_TRY(carom_draw_value(r, n, x[i]));
    return CAROM_OK;
}

static void in_world(resolver *r, const body *b, int dim, const double *s, carom_node *p) {
    carom_node local[3];
    for (int i = 0; i < 3; ++i) local[i] = r_num(r, s[i]);
    carom_draw_in_body(r, b, dim, local, p);
}

// From one point to another.
static carom_status stretch(resolver *r, const carom_datum *place, const char *name, carom_figure figure, int of,
                            int dim, const carom_node *a, const carom_node *b) {
    carom_drawn *s = NULL;
    CAROM_TRY(carom_draw_shape(r, place, name, figure, &s));
    s->points = 2;
    s->of = of;
    CAROM_TRY(put(r, place, a, dim));
    return put(r, place, b, dim);
}

static carom_status mark(resolver *r, const carom_datum *place, const char *name, int dim, const carom_node *p) {
    carom_drawn *s = NULL;
    CAROM_TRY(carom_draw_shape(r, place, name, CAROM_POINT, &s));
    s->points = 1;
    return put(r, place, p, dim);
}

// One way through all bars, back over the centre of mass from each to the next, so that there are no seams.  *count:
// how many bars.
static carom_status bar(resolver *r, const body *b, int dim, const double *s, carom_drawn **way, int *count) {
    carom_node p[3];
    if (hypot(hypot(s[0], s[1]), s[2]) == 0) return CAROM_OK;
    in_world(r, b, dim, s, p);
    if (*count == 0) {
        CAROM_TRY(carom_draw_shape(r, b->place, b->name, CAROM_SEGMENT, way));
        (*way)->of = (int)(b - r->m->bodies);
    }
    if (*count != 1) CAROM_TRY(put(r, b->place, *count ? b->r : p, dim));
    if (*count == 0) CAROM_TRY(put(r, b->place, b->r, dim));
    else CAROM_TRY(put(r, b->place, p, dim));
    (*way)->points += *count == 1 ? 1 : 2;
    ++*count;
    return CAROM_OK;
}

// Is it inside a closed outline?  Its points are those of the file, from which the centre of mass is not yet taken.
static bool inside(const contour *c, const body *b, const double *p) {
    const double x = p[0] + b->centre[0], y = p[1] + b->centre[1];
    bool odd = false;
    for (int i = 0, k = c->npoints - 1; i < c->npoints; k = i++) {
        const double *u = c->point[i], *v = c->point[k];
        if ((u[1] > y) != (v[1] > y) && x < u[0] + (y - u[1]) / (v[1] - u[1]) * (v[0] - u[0])) odd = !odd;
    }
    return odd && c->closed && !c->hollow;
}

// The shape of b that covers this point; NULL: none does.  Holes cover nothing.
static const shape *covering(const carom_model *m, const body *b, const double *p) {
    for (int i = m->drawn->head[b - m->bodies]; i >= 0; i = m->drawn->next[i]) {
        const shape *s = &m->shapes[i];
        if (s->member || s->kind == SHAPE_POINT || s->kind == SHAPE_HOLE || s->kind == SHAPE_SLOT ||
            s->kind == SHAPE_BORE)
            continue;
        if (carom_shape_piece(s) && !(s->contour && inside(s->contour, b, p))) continue;
        if (carom_shape_piece(s)) return s;
        if (!(hypot(hypot(p[0] - s->at[0], p[1] - s->at[1]), p[2] - s->at[2]) > s->bound_radius * (1 + ROUND)))
            return s;
    }
    return NULL;
}

// To joints that no shape covers; to the shapes as well when none lies over the centre of mass.
static carom_status bars_to_joints(resolver *r, const body *b, int dim, carom_drawn **way, int *count) {
    const carom_model *m = r->m;
    for (int k = 0; k < m->njoints; ++k) {
        const joint *j = &m->joints[k];
        const joint_look look = carom_joint_look(j);
        if (look != JOINT_PIN && look != JOINT_ROD) continue;
        if (j->A == b && !covering(m, b, j->s_A)) CAROM_TRY(bar(r, b, dim, j->s_A, way, count));
        if (j->B == b && !covering(m, b, j->s_B)) CAROM_TRY(bar(r, b, dim, j->s_B, way, count));
    }
    if (covering(m, b, (const double[3]){0, 0, 0})) return CAROM_OK;
    for (int i = m->drawn->head[b - m->bodies]; i >= 0; i = m->drawn->next[i]) {
        const shape *s = &m->shapes[i];
        if (!s->member && s->kind != SHAPE_POINT && !carom_shape_piece(s)) CAROM_TRY(bar(r, b, dim, s->at, way, count));
    }
    return CAROM_OK;
}

static carom_status bars(resolver *r, const body *b, int dim, int *count) {
    carom_drawn *way = NULL;
    for (int k = 0; k < b->npoints; ++k)
        if (!covering(r->m, b, b->points[k].s)) CAROM_TRY(bar(r, b, dim, b->points[k].s, &way, count));
    CAROM_TRY(bars_to_joints(r, b, dim, &way, count));
    for (int k = 0; k < b->npoints; ++k) {
        carom_node p[3];
        in_world(r, b, dim, b->points[k].s, p);
        CAROM_TRY(mark(r, b->place, b->points[k].name, dim, p));
    }
    return CAROM_OK;
}

// Sizes of the solid of even density with this mass and inertia: disc, ball, cylinder about z, or box.
static carom_figure solid(const body *b, int dim, double *size, int *sizes) {
    const double m = b->mass, x = b->J[0], y = b->J[4], z = b->J[8];
    if (b->space == PLANAR || dim == 2) {
        size[0] = sqrt(2 * z / m); // J = m r^2/2
        size[1] = 0.3 * size[0]; // chosen: a disc
        *sizes = dim == 2 ? 1 : 2;
        return dim == 2 ? CAROM_CIRCLE : CAROM_CYLINDER;
    }
    const double most = fmax(x, fmax(y, z));
    if (fabs(x - y) <= EQUAL * most && fabs(x - z) <= EQUAL * most) {
        *sizes = 1;
        size[0] = sqrt(2.5 * x / m); // J = 2/5 m r^2
        return CAROM_SPHERE;
    }
    if (fabs(x - y) <= EQUAL * most && x >= z / 2) {
        *sizes = 2;
        size[0] = sqrt(2 * z / m); // J_z = m r^2/2, J_x = m (3 r^2 + l^2)/12
        size[1] = fmax(sqrt(12 * (x / m - size[0] * size[0] / 4)), 0.05 * size[0]);
        return CAROM_CYLINDER;
    }
    const double edge[3] = {6 * (y + z - x) / m, 6 * (x + z - y) / m, 6 * (x + y - z) / m}; // J_x = m (b^2 + c^2)/12
    const double longest = sqrt(fmax(edge[0], fmax(edge[1], edge[2])));
    *sizes = 3;
    for (int i = 0; i < 3; ++i) size[i] = fmax(sqrt(fmax(edge[i], 0)), 0.04 * longest); // what is flat is still seen
    return CAROM_BOX;
}

static carom_status lump(resolver *r, const body *b, int dim) {
    double size[3] = {0};
    int sizes = 0;
    carom_node turn[4];
    carom_drawn *s = NULL;
    CAROM_TRY(carom_draw_shape(r, b->place, b->name, solid(b, dim, size, &sizes), &s));
    s->of = (int)(b - r->m->bodies);
    s->sizes = sizes;
    s->points = 1;
    for (int i = 0; i < sizes; ++i) CAROM_TRY(carom_draw_value(r, b->place, r_num(r, size[i])));
    CAROM_TRY(put(r, b->place, b->r, dim));
    s->rotation = carom_draw_turn(r, b, dim, turn);
    return put(r, b->place, turn, s->rotation);
}

// Does the file say how this body looks: a shape of its name, `NAME: none`, or shapes that move with it?
static bool drawn(const resolver *r, const body *b, int shapes) {
    const struct drawn *d = r->m->drawn;
    for (int i = 0; i < shapes; ++i)
        if (d->shape[i].of == (int)(b - r->m->bodies)) return true;
    return carom_draw_named(r->mech, b->name);
}

// Joints and springs.
static carom_status links(resolver *r, int dim) {
    const carom_model *m = r->m;
    carom_node a[3], b[3];
    for (int k = 0; k < m->njoints; ++k) {
        const joint *j = &m->joints[k];
        const joint_look look = carom_joint_look(j);
        if (look == JOINT_NOWHERE || look == JOINT_SLIDE || carom_draw_named(r->mech, j->name)) continue;
        in_world(r, j->B, dim, j->s_B, b);
        if (look == JOINT_ROD) {
            in_world(r, j->A, dim, j->s_A, a);
            CAROM_TRY(stretch(r, j->place, j->name, CAROM_LINE, 0, dim, a, b));
        }
        CAROM_TRY(mark(r, j->place, j->name, dim, b));
    }
    for (const strut *s = m->struts; s; s = s->next) {
        if (carom_draw_named(r->mech, s->name)) continue;
        in_world(r, s->A, dim, s->s_A, a);
        in_world(r, s->B, dim, s->s_B, b);
        CAROM_TRY(stretch(r, s->place, s->name, s->rope ? CAROM_LINE : CAROM_SPRING, 0, dim, a, b));
    }
    return CAROM_OK;
}

carom_status carom_draw_bodies(resolver *r) {
    carom_model *m = r->m;
    struct drawn *d = m->drawn;
    bool spatial = false;
    for (int i = 1; i < m->nbodies; ++i) spatial = spatial || m->bodies[i].space == SPATIAL;
    for (int i = 0; i < m->nshapes; ++i) spatial = spatial || m->shapes[i].space == SPATIAL;
    if (!d->dim_from && spatial) d->dim = 3;
    const int before = d->count;
    if (spatial && d->dim == 2) return CAROM_OK; // drawn in a plane of the file's choice
    bool shaped = false;
    if (!carom_draw_sort(m)) return carom_fault_memory(r);
    CAROM_TRY(carom_draw_shapes(r, &m->bodies[0], &shaped));
    for (int i = 1; i < m->nbodies; ++i) {
        body *b = &m->bodies[i];
        int count = 0;
        if (b->free) carom_body_frame(r, b, b->orientation - (b->space == SPATIAL ? 3 : 2));
        if (b->carried || b->floating || drawn(r, b, before)) continue; // floating members draw themselves
        CAROM_TRY(carom_draw_shapes(r, b, &shaped));
        CAROM_TRY(bars(r, b, d->dim, &count));
        if (count < 2 && b->v >= 0 && !shaped) CAROM_TRY(lump(r, b, d->dim));
    }
    CAROM_TRY(carom_draw_floating(r, d->dim));
    CAROM_TRY(links(r, d->dim));
    if (!d->dim_from && d->count > before) d->dim_from = m->bodies[1].place;
    return CAROM_OK;
}

// draw_bodies.c: bodies draw themselves: as bars from the centre of mass to their named points, or, without points, as the solid
// body of even density that has their mass and inertia.  A body of which `draw` says something is left to it.
#include "model/bodies.h"
#include "model/draw.h"
#include <math.h>

static carom_node num(reader *r, double x) { return carom_graph_number(r->m->graph, x); }

void carom_draw_in_body(reader *r, const body *b, int dim, const carom_node *s, carom_node *p) {
    carom_graph *g = r->m->graph;
    for (int i = 0; i < dim; ++i) {
        p[i] = b->r[i];
        for (int j = 0; j < dim; ++j) p[i] = carom_graph_plus(g, p[i], carom_graph_times(g, b->R[3 * i + j], s[j]));
    }
}

int carom_draw_turn(reader *r, const body *b, int dim, carom_node *turn) {
    if (dim == 2) return turn[0] = b->angle, 1;
    if (b->space == SPATIAL && b->v >= 0) {
        for (int i = 0; i < 4; ++i) turn[i] = carom_graph_input(r->m->graph, CAROM_POSITION, b->turn + i);
        return 4;
    }
    if (b->space != PLANAR) return 0;
    turn[0] = turn[1] = num(r, 0);
    turn[2] = b->angle;
    return 3;
}

static carom_status put(reader *r, const tree *n, const carom_node *x, int count) {
    for (int i = 0; i < count; ++i) CAROM_TRY(carom_draw_value(r, n, x[i]));
    return CAROM_OK;
}

static carom_status bars(reader *r, const body *b, int dim) {
    carom_drawn *s = NULL;
    for (int k = 0; k < b->npoints; ++k) {
        carom_node p[3], local[3];
        for (int i = 0; i < 3; ++i) local[i] = num(r, b->points[k].s[i]);
        carom_draw_in_body(r, b, dim, local, p);
        CAROM_TRY(carom_draw_shape(r, b->place, b->name, CAROM_SEGMENT, &s));
        s->points = 2;
        s->of = (int)(b - r->m->bodies);
        CAROM_TRY(put(r, b->place, b->r, dim));
        CAROM_TRY(put(r, b->place, p, dim));
        CAROM_TRY(carom_draw_shape(r, b->place, b->points[k].name, CAROM_POINT, &s));
        s->points = 1;
        CAROM_TRY(put(r, b->place, p, dim));
    }
    return CAROM_OK;
}

// Sizes of the solid of even density with this mass and inertia: disc, ball, cylinder about z, or box.
static carom_figure solid(const body *b, int dim, double *size, int *sizes) {
    const double m = b->mass, x = b->J[0], y = b->J[4], z = b->J[8];
    if (b->space == PLANAR || dim == 2) {
        size[0] = sqrt(2 * z / m); // J = m r^2/2
        size[1] = 0.3 * size[0];
        *sizes = dim == 2 ? 1 : 2;
        return dim == 2 ? CAROM_CIRCLE : CAROM_CYLINDER;
    }
    const double most = fmax(x, fmax(y, z));
    if (fabs(x - y) <= 1e-6 * most && fabs(x - z) <= 1e-6 * most) {
        *sizes = 1;
        size[0] = sqrt(2.5 * x / m); // J = 2/5 m r^2
        return CAROM_SPHERE;
    }
    if (fabs(x - y) <= 1e-6 * most && x >= z / 2) {
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

static carom_status lump(reader *r, const body *b, int dim) {
    double size[3] = {0};
    int sizes = 0;
    carom_node turn[4];
    carom_drawn *s = NULL;
    CAROM_TRY(carom_draw_shape(r, b->place, b->name, solid(b, dim, size, &sizes), &s));
    s->of = (int)(b - r->m->bodies);
    s->sizes = sizes;
    s->points = 1;
    for (int i = 0; i < sizes; ++i) CAROM_TRY(carom_draw_value(r, b->place, num(r, size[i])));
    CAROM_TRY(put(r, b->place, b->r, dim));
    s->turn = carom_draw_turn(r, b, dim, turn);
    return put(r, b->place, turn, s->turn);
}

// Does the file say how this body looks: a shape of its name, `NAME: none`, or shapes that move with it?
static bool told(const reader *r, const body *b, const tree *draw, int shapes) {
    const struct drawn *d = r->m->drawn;
    for (int i = 0; i < shapes; ++i)
        if (d->shape[i].of == (int)(b - r->m->bodies)) return true;
    return draw && carom_tree_get(draw, b->name) != NULL;
}

carom_status carom_draw_bodies(reader *r, const tree *draw) {
    carom_model *m = r->m;
    struct drawn *d = m->drawn;
    bool spatial = false;
    for (int i = 1; i < m->nbodies; ++i) spatial = spatial || m->bodies[i].space == SPATIAL;
    if (!d->dim_from && spatial) d->dim = 3;
    const int before = d->count;
    for (int i = 1; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (told(r, b, draw, before) || (b->space == SPATIAL && d->dim == 2)) continue;
        if (b->npoints) CAROM_TRY(bars(r, b, d->dim));
        else if (b->v >= 0) CAROM_TRY(lump(r, b, d->dim));
        if (!d->dim_from && d->count > before) d->dim_from = b->place;
    }
    return CAROM_OK;
}

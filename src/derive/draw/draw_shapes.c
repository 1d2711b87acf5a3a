// draw_shapes.c: shapes of bodies and of the ground draw themselves, and so do the contacts that they make.
//
// What `draw` says of a body or names like a shape is left to it.  Planes are drawn as far as the model reaches at the
// start.
#include "derive/draw/draw.h"
#include "base/three.h"
#include "collide/patch.h"
#include "derive/shapes/shapes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUND = 48, MOST_TOUCHES = 300 }; // points of a circle; contacts that are drawn

static carom_status put(resolver *r, const carom_datum *n, vec x, int dim) {
    for (int i = 0; i < dim; ++i) CAROM_TRY(carom_draw_value(r, n, x.c[i]));
    return CAROM_OK;
}

static carom_status put_number(resolver *r, const carom_datum *n, double x) {
    return carom_draw_value(r, n, n_num(r->m->graph, x));
}

// A point given in the shape's own axes, in the world.
static vec place(resolver *r, const shape *s, double x, double y, double z) {
    double p[3];
    for (int i = 0; i < 3; ++i) p[i] = s->at[i] + s->X[3 * i] * x + s->X[3 * i + 1] * y + s->X[3 * i + 2] * z;
    return carom_shape_point(r->m->graph, s, p);
}

// Component i of the quaternion of a body that is moved.
static carom_node half_angle(carom_graph *g, const body *b, int i) {
    const carom_node half = n_mul(g, n_num(g, 0.5), b->angle);
    return i == 0 ? n_fun(g, CAROM_OP_COS, half) : n_mul(g, n_num(g, b->axis[i - 1]), n_fun(g, CAROM_OP_SIN, half));
}

// Turn of the shape: in the plane the body's angle and its own, in space the product of both quaternions.
static carom_status put_turn(resolver *r, const shape *s, carom_drawn *d, int dim) {
    carom_graph *g = r->m->graph;
    const body *b = s->body;
    if (dim == 2) {
        d->rotation = 1;
        return carom_draw_value(r, s->place, n_add(g, b->angle, n_num(g, atan2(s->X[3], s->X[0]))));
    }
    double e[4];
    quaternion_of(s->X, e);
    d->rotation = 4;
    carom_node of_body[4];
    for (int i = 0; i < 4; ++i) {
        if (b->v >= 0) of_body[i] = carom_graph_input(g, CAROM_POSITION, b->orientation + i);
        else if (b == r->m->bodies) of_body[i] = n_num(g, i == 0);
        else of_body[i] = half_angle(g, b, i);
    }
    // (a o b)_i = sum +-a_j b_from
    static const int from[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    static const double sign[4][4] = {{1, -1, -1, -1}, {1, 1, 1, -1}, {1, -1, 1, 1}, {1, 1, -1, 1}};
    for (int i = 0; i < 4; ++i) {
        carom_node sum = n_num(g, 0);
        for (int j = 0; j < 4; ++j) sum = n_add(g, sum, n_mul(g, of_body[j], n_num(g, sign[i][j] * e[from[i][j]])));
        CAROM_TRY(carom_draw_value(r, s->place, sum));
    }
    return CAROM_OK;
}

static carom_status begin(resolver *r, const shape *s, carom_figure figure, int sizes, int points, carom_drawn **d) {
    CAROM_TRY(carom_draw_shape(r, s->place, s->name, figure, d));
    (*d)->of = s->member ? 0 : (int)(s->body - r->m->bodies);
    (*d)->sizes = sizes;
    (*d)->points = points;
    if (s->body == r->m->bodies) (*d)->colour = "grey"; // the ground stays behind what moves
    return CAROM_OK;
}

// Sizes, centre, turn.
static carom_status placed(resolver *r, const shape *s, carom_figure figure, const double *size, int sizes, int dim) {
    carom_drawn *d = NULL;
    CAROM_TRY(begin(r, s, figure, sizes, 1, &d));
    for (int i = 0; i < sizes; ++i) CAROM_TRY(put_number(r, s->place, size[i]));
    CAROM_TRY(put(r, s->place, carom_shape_point(r->m->graph, s, s->at), dim));
    return put_turn(r, s, d, dim);
}

static carom_status bar(resolver *r, const shape *s, int dim) {
    carom_drawn *d = NULL;
    double e[3] = {0};
    e[s->axis] = s->half[0];
    CAROM_TRY(begin(r, s, CAROM_SEGMENT, 1, 2, &d));
    CAROM_TRY(put_number(r, s->place, 2 * s->radius));
    CAROM_TRY(put(r, s->place, place(r, s, -e[0], -e[1], -e[2]), dim));
    CAROM_TRY(put(r, s->place, place(r, s, e[0], e[1], e[2]), dim));
    return dim == 3 && !s->member ? put_turn(r, s, d, dim) : CAROM_OK; // a bar may turn about itself
}

// The outline of a hole or slot; in space in its x, z plane, of a bore across its axis.
static carom_status outline(resolver *r, const shape *s, int dim) {
    carom_drawn *d = NULL;
    CAROM_TRY(begin(r, s, CAROM_LINE, 0, ROUND + 1, &d));
    const double l = s->kind == SHAPE_SLOT ? s->half[0] : 0;
    for (int k = 0; k <= ROUND; ++k) {
        const double phi = 2 * acos(-1.0) * (k + 0.5) / ROUND, x = s->radius * cos(phi) + (cos(phi) > 0 ? l : -l),
                     y = s->radius * sin(phi);
        CAROM_TRY(
            put(r, s->place, dim == 2 || s->kind == SHAPE_BORE ? place(r, s, x, y, 0) : place(r, s, y, 0, x), dim));
    }
    return CAROM_OK;
}

static carom_status corners(resolver *r, const shape *s) {
    carom_drawn *d = NULL;
    CAROM_TRY(begin(r, s, CAROM_POLYGON, 0, s->ncorners, &d));
    for (int i = 0; i < s->ncorners; ++i)
        CAROM_TRY(
            put(r, s->place, carom_shape_point(r->m->graph, s, (double[]){s->corner[i][0], s->corner[i][1], 0}), 2));
    return CAROM_OK;
}

// A whole outline; one that is open or hollow is a wall, which is solid on the right-hand side.
static carom_status contour_of(resolver *r, const shape *s) {
    carom_drawn *d = NULL;
    const contour *c = s->contour;
    const bool wall = !c->closed || c->hollow, again = wall && c->closed;
    const int n = c->npoints + again;
    CAROM_TRY(begin(r, s, wall ? CAROM_WALL : CAROM_POLYGON, 0, n, &d));
    for (int i = 0; i < n; ++i) {
        const double *p = c->point[(wall ? n - 1 - i : i) % c->npoints];
        const double *o = s->body->centre, own[3] = {p[0] - o[0], p[1] - o[1], 0};
        CAROM_TRY(put(r, s->place, carom_shape_point(r->m->graph, s, own), 2));
    }
    return CAROM_OK;
}

// How far the model reaches at the start: the centre and half the size of what holds all bodies.
static double extent(const carom_model *m, double *centre) {
    double low[3] = {0}, high[3] = {0}, size = 0;
    for (int i = 0; i < m->nshapes; ++i) {
        const shape *s = &m->shapes[i];
        if (!s->body) continue; // a skin
        const double bound_radius = s->bound_radius < HUGE_VAL ? s->bound_radius
                                    : s->kind == SHAPE_PLANE   ? 0
                                                               : s->radius + s->half[0];
        for (int k = 0; k < 3; ++k) {
            low[k] = fmin(low[k], s->body->r0[k] + s->at[k] - bound_radius);
            high[k] = fmax(high[k], s->body->r0[k] + s->at[k] + bound_radius);
        }
    }
    for (int k = 0; k < 3; ++k) {
        centre[k] = (low[k] + high[k]) / 2;
        size = fmax(size, (high[k] - low[k]) / 2);
    }
    return size > 0 ? 1.2 * size : 1; // chosen: a margin
}

// A wall that is solid behind the normal; in space a thin plate.
static carom_status flat(resolver *r, const shape *s, int dim) {
    carom_graph *g = r->m->graph;
    carom_drawn *d = NULL;
    double centre[3], n[3], at[3], way = 0, t[3];
    const double l = extent(r->m, centre);
    for (int k = 0; k < 3; ++k) n[k] = s->X[3 * k], centre[k] -= s->body->r0[k];
    for (int k = 0; k < 3; ++k) way += n[k] * (centre[k] - s->at[k]);
    for (int k = 0; k < 3; ++k) at[k] = centre[k] - way * n[k];
    if (dim == 2) {
        CAROM_TRY(begin(r, s, CAROM_WALL, 0, 2, &d));
        d->endless = true;
        for (int side = -1; side < 2; side += 2) {
            for (int k = 0; k < 3; ++k) t[k] = at[k] + side * l * (k == 0 ? n[1] : k == 1 ? -n[0] : 0);
            CAROM_TRY(put(r, s->place, carom_shape_point(g, s, t), 2));
        }
        return CAROM_OK;
    }
    shape plate = *s;
    double axes[9];
    const double size[3] = {4 * l, 4 * l, 0.02 * l}; // bodies wander over it
    carom_shape_axes_along(n, axes);
    plate.X = axes;
    for (int k = 0; k < 3; ++k) plate.at[k] = at[k] - 0.01 * l * n[k];
    CAROM_TRY(placed(r, &plate, CAROM_BOX, size, 3, 3));
    r->m->drawn->shape[r->m->drawn->count - 1].endless = true;
    return CAROM_OK;
}

// A hull or a surface: its corners from its centre on.
static carom_status fixed(resolver *r, const shape *s) {
    const carom_hull *h = s->hull;
    const bool grid = s->grid != NULL;
    const int n = grid ? 6 + h->nv : 3 * h->nv;
    double *x = carom_pool_take(&r->m->memory, (size_t)n * sizeof *x);
    if (!x) return carom_fault_memory(r);
    if (grid)
        memcpy(x,
               (double[]){s->grid->nx, s->grid->ny, s->grid->x - s->at[0], s->grid->y - s->at[1], s->grid->dx,
                          s->grid->dy},
               6 * sizeof *x);
    for (int i = 0; i < h->nv && grid; ++i) x[6 + i] = h->v[i][2] - s->at[2];
    for (int i = 0; i < n && !grid; ++i) x[i] = h->v[i / 3][i % 3] - s->at[i % 3];
    CAROM_TRY(placed(r, s, grid ? CAROM_SURFACE : CAROM_CONVEX, NULL, 0, 3));
    carom_drawn *d = &r->m->drawn->shape[r->m->drawn->count - 1];
    d->fixed = x;
    d->nfixed = n;
    return CAROM_OK;
}

static carom_status draw_one(resolver *r, const shape *s, int dim) {
    const double edges[3] = {2 * s->half[0], 2 * s->half[1], 2 * s->half[2]}, tube[2] = {s->radius, 2 * s->half[0]};
    carom_drawn *d = NULL;
    switch (s->kind) {
    case SHAPE_POINT:
        CAROM_TRY(begin(r, s, CAROM_POINT, 0, 1, &d));
        return put(r, s->place, carom_shape_point(r->m->graph, s, s->at), dim);
    case SHAPE_ROUND: return placed(r, s, dim == 2 ? CAROM_CIRCLE : CAROM_SPHERE, &s->radius, 1, dim);
    case SHAPE_CAPSULE: return bar(r, s, dim);
    case SHAPE_POLYGON: return corners(r, s);
    case SHAPE_BOX: return placed(r, s, CAROM_BOX, edges, dim, dim);
    case SHAPE_CYLINDER: return placed(r, s, CAROM_CYLINDER, tube, 2, 3);
    case SHAPE_HULL: case SHAPE_HEIGHTS: return fixed(r, s);
    case SHAPE_ELLIPSOID: return placed(r, s, CAROM_ELLIPSOID, s->half, 3, 3);
    case SHAPE_LINE: case SHAPE_ARC: case SHAPE_HOLLOW: return s->contour ? contour_of(r, s) : CAROM_OK;
    case SHAPE_PLANE: return flat(r, s, dim);
    case SHAPE_ELEMENT: case SHAPE_SKIN: return CAROM_OK; // members draw themselves
    case SHAPE_HOLE: case SHAPE_SLOT: case SHAPE_BORE: break;
    }
    return outline(r, s, dim);
}

bool carom_draw_sort(carom_model *m) {
    struct drawn *d = m->drawn;
    d->head = malloc((size_t)m->nbodies * sizeof *d->head);
    d->next = malloc(((size_t)m->nshapes + 1) * sizeof *d->next);
    if (!d->head || !d->next) return false;
    for (int i = 0; i < m->nbodies; ++i) d->head[i] = -1;
    for (int i = m->nshapes - 1; i >= 0; --i) { // from the last, so that lists begin with the first
        const shape *s = &m->shapes[i];
        if (!s->member && !s->body) continue; // a skin
        const int of = s->member ? 0 : (int)(s->body - m->bodies);
        d->next[i] = d->head[of];
        d->head[of] = i;
    }
    return true;
}

carom_status carom_draw_shapes(resolver *r, const body *b, bool *drawn) {
    const carom_model *m = r->m;
    const int dim = m->drawn->dim;
    *drawn = false;
    for (int i = m->drawn->head[b - m->bodies]; i >= 0; i = m->drawn->next[i]) {
        const shape *s = &m->shapes[i];
        if (s->place == b->place && s->kind == SHAPE_POINT) continue; // named points have bars
        if ((s->space == SPATIAL) != (dim == 3) || carom_draw_named(r->mech, s->name)) continue;
        CAROM_TRY(draw_one(r, s, dim));
        *drawn = true;
    }
    return CAROM_OK;
}

// Contact k of a pair, whose place is known: point, normal, directions of friction.
static carom_status put_touch(resolver *r, const pair *p, int k, const char *name, int id, int directions) {
    const carom_datum *place = &p->entry->name;
    const int dim = r->m->drawn->dim;
    vec t[2] = {{{n_num(r->m->graph, 0), n_num(r->m->graph, 0), n_num(r->m->graph, 0)}}};
    t[1] = t[0]; // rolling has no direction
    carom_pair_along(r->m->graph, p, p->own->touch[k].normal, t);
    CAROM_TRY(carom_draw_touch(r, place, name, id, directions));
    CAROM_TRY(put(r, place, p->own->touch[k].point, dim));
    CAROM_TRY(put(r, place, p->own->touch[k].normal, dim));
    for (int l = 0; l + 1 < directions; ++l) CAROM_TRY(put(r, place, t[l], dim));
    return CAROM_OK;
}

// Friction by direction of a kind, fixed in shape a or b instead of those that the kind was made for; NULL: none.
static const ellipse *own_ellipse(carom_model *m, const ellipse *e, const pair *kind, const shape *a, const shape *b) {
    if (!e || !e->of) return e;
    ellipse *own = carom_pool_take(&m->memory, sizeof *own);
    if (!own) return NULL;
    *own = *e;
    own->of = e->of == kind->A->body ? a->body : b->body;
    return own;
}

// Contacts of a list that have columns of their own, as those that are always there.
static carom_status draw_listed(resolver *r, int *count) {
    carom_model *m = r->m;
    struct near_pairs *x = m->near;
    constraint links[2 * MOST_CORNERS + 3];
    pair p = {0};
    for (int i = 0; x && i < x->nnamed && *count < MOST_TOUCHES; ++i) {
        const near_named *c = &x->named[i], *last = i ? c - 1 : NULL;
        const int kind = *carom_near_kind_of(x, c->rule, x->group[c->a], x->group[c->b]);
        char name[CAROM_CONTACT_NAME];
        carom_near_named_name(x, c, name, sizeof name);
        if (kind < 0 || x->pairs[kind].soft || (x->shape[c->a]->space == SPATIAL) != (m->drawn->dim == 3) ||
            carom_draw_placed(r->mech, name))
            continue;
        const rubbing rub = x->pairs[kind].own->rub;
        const int tangents = x->law[kind].tangents, directions = 1 + (tangents < 2 ? tangents : 2);
        if (!p.own || !last || last->rule != c->rule || last->a != c->a || last->b != c->b) {
            const shape *a = x->shape[c->a], *b = x->shape[c->b];
            p = x->pairs[kind];
            p.A = c->swapped ? b : a, p.B = c->swapped ? a : b;
            p.own = carom_pair_own(m, (rubbing){.ellipse = own_ellipse(m, rub.ellipse, &x->pairs[kind], a, b)});
            if (!p.own || !p.own->rub.ellipse != !rub.ellipse) return carom_fault_memory(r);
            CAROM_TRY(carom_pair_express(r, &p, links));
        }
        const char *own = carom_pool_text(&m->memory, name, strlen(name));
        if (!own) return carom_fault_memory(r);
        CAROM_TRY(put_touch(r, &p, c->own, own, -2 - i, directions));
        ++*count;
    }
    return CAROM_OK;
}

carom_status carom_draw_pairs(resolver *r) {
    const carom_model *m = r->m;
    const int dim = m->drawn->dim;
    int count = 0;
    for (int i = 0; i < m->npairs; ++i)
        for (int k = 0; k < m->pairs[i].count && count < MOST_TOUCHES; ++k) {
            const pair *p = &m->pairs[i];
            const int id = p->first + k;
            const constraint *c = &m->links[id];
            if ((p->A->space == SPATIAL) != (dim == 3) || carom_draw_placed(r->mech, c->name)) continue;
            CAROM_TRY(carom_pair_expressed(r, id));
            // of forces; the others are moments
            CAROM_TRY(put_touch(r, p, k, c->name, id, c->ndir < 3 ? c->ndir : 3));
            ++count;
        }
    return draw_listed(r, &count);
}

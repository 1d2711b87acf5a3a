// thin.c: how thin a shape is: whatever moves farther in a step may be on the other side of it.
#include "model/pairs.h"
#include <math.h>

// A convex polygon is thinnest across one of its sides.
static double polygon(const shape *s) {
    double least = INFINITY;
    for (int i = 0; i < s->ncorners; ++i) {
        const double *a = s->corner[i], *b = s->corner[(i + 1) % s->ncorners], length = hypot(b[0] - a[0], b[1] - a[1]);
        double most = 0;
        for (int k = 0; k < s->ncorners && length > 0; ++k)
            most =
                fmax(most, fabs((b[0] - a[0]) * (s->corner[k][1] - a[1]) - (b[1] - a[1]) * (s->corner[k][0] - a[0])) /
                               length);
        if (length > 0) least = fmin(least, most);
    }
    return 0.5 * least;
}

// Across one of its faces; a polyhedron may be somewhat thinner across two of its edges.
static double polyhedron(const carom_hull *hull) {
    double least = hull->nf ? INFINITY : 0;
    for (int f = 0; f < hull->nf; ++f) {
        double most = 0;
        for (int k = 0; k < hull->nv; ++k)
            most = fmax(most, hull->offset[f] - carom_dot(hull->normal[f], hull->v[k], 3));
        least = fmin(least, most);
    }
    return 0.5 * least;
}

double carom_shape_thin(const shape *s) {
    switch (s->kind) {
    case SHAPE_POINT: return 0;
    case SHAPE_ROUND: case SHAPE_CAPSULE: return s->radius;
    case SHAPE_CYLINDER: return fmin(s->radius, s->half[0]);
    case SHAPE_POLYGON: return polygon(s);
    case SHAPE_BOX: return fmin(fmin(s->half[0], s->half[1]), s->space == SPATIAL ? s->half[2] : INFINITY);
    case SHAPE_ELLIPSOID: return fmin(fmin(s->half[0], s->half[1]), s->half[2]);
    case SHAPE_HULL: return polyhedron(s->hull);
    case SHAPE_LINE: case SHAPE_ARC: case SHAPE_HOLLOW: return s->piece->x[PIECE_DEEP];
    case SHAPE_HEIGHTS:
    case SHAPE_ELEMENT:
    case SHAPE_PLANE:
    case SHAPE_HOLE:
    case SHAPE_SLOT:
    case SHAPE_BORE:
    case SHAPE_SKIN: break; // what has passed the surface of one is inside
    }
    return INFINITY;
}

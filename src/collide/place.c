// place.c: the contact of one feature.
#include "collide/posed.h"

static void corner(const carom_hull *h, const carom_frame *f, const double *origin, int i, double *x) {
    turned(f->R, h->v[i], x);
    for (int k = 0; k < 3; ++k) x[k] += f->r[k] - origin[k];
}

static void line(const carom_hull *h, const carom_frame *f, const double *origin, int e, double *p, double *d) {
    double q[3];
    corner(h, f, origin, h->edge[e][0], p);
    corner(h, f, origin, h->edge[e][1], q);
    minus(q, p, d);
}

// The point of the line p + s d that is nearest to x.
static void onto(const double *p, const double *d, const double *x, double *y) {
    double w[3];
    minus(x, p, w);
    const double s = dot(w, d) / dot(d, d);
    for (int k = 0; k < 3; ++k) y[k] = p[k] + s * d[k];
}

// (SHP-18)  the places x on A's hull and y on B's, and n;  gap = n.(x - y) - radii
void carom_patch_place(const carom_convex *A, const carom_frame *a, const carom_convex *B, const carom_frame *b,
                       const carom_feature *f, carom_patch_point *t) {
    double x[3] = {0}, y[3] = {0}, d[3], e[3], p[3], way[3];
    const double *o = b->r;
    if (f->kind == CAROM_SMOOTH) {
        carom_smooth_place(A, a, B, b, t);
        return;
    }
    const bool x_first = f->kind == CAROM_CORNER_FACE || f->kind == CAROM_CORNER_EDGE || f->kind == CAROM_CORNER_CORNER;
    const bool y_first = f->kind == CAROM_FACE_CORNER || f->kind == CAROM_EDGE_CORNER || f->kind == CAROM_CORNER_CORNER;
    if (x_first) corner(A->hull, a, o, f->a, x);
    if (y_first) corner(B->hull, b, o, f->b, y);
    if (f->kind == CAROM_CORNER_FACE) {
        turned(b->R, B->hull->normal[f->b], t->n);
        const double h = dot(t->n, x) - B->hull->offset[f->b];
        for (int k = 0; k < 3; ++k) y[k] = x[k] - h * t->n[k];
    } else if (f->kind == CAROM_FACE_CORNER) {
        turned(a->R, A->hull->normal[f->a], d);
        minus(a->r, o, p);
        const double h = dot(d, y) - dot(d, p) - A->hull->offset[f->a];
        for (int k = 0; k < 3; ++k) t->n[k] = -d[k], x[k] = y[k] - h * d[k];
    } else if (f->kind == CAROM_EDGE_EDGE) {
        double s = 0, u = 0;
        line(A->hull, a, o, f->a, x, d);
        line(B->hull, b, o, f->b, y, e);
        cross(d, e, t->n);
        const double size = size_of(t->n);
        nearest_lines(x, d, y, e, &s, &u);
        for (int k = 0; k < 3; ++k) x[k] += s * d[k], y[k] += u * e[k], t->n[k] *= size > 0 ? f->sign / size : 0;
    } else {
        if (f->kind == CAROM_CORNER_EDGE) line(B->hull, b, o, f->b, p, d), onto(p, d, x, y);
        if (f->kind == CAROM_EDGE_CORNER) line(A->hull, a, o, f->a, p, d), onto(p, d, y, x);
        minus(x, y, t->n);
        const double size = size_of(t->n);
        for (int k = 0; k < 3; ++k) t->n[k] /= size > 0 ? size : 1;
    }
    minus(x, y, way);
    t->gap = dot(t->n, way) - A->radius - B->radius;
    for (int k = 0; k < 3; ++k) t->p[k] = o[k] + y[k] + t->n[k] * (B->radius + 0.5 * t->gap);
}

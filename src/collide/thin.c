// thin.c: contacts of a point or a line, with a radius (sphere, capsule), and a polyhedron: the distance from the
// nearest face, edge or corner.
#include "collide/posed.h"

typedef struct closest { double distance; carom_feature_kind kind; int b; } closest;

static void closer(closest *x, double distance, carom_feature_kind kind, int b) {
    if (distance < x->distance) *x = (closest){distance, kind, b};
}

// Face, edge or corner of B that is nearest to p.
static closest nearest_feature(const posed *B, const double *p) {
    closest x = {INFINITY, CAROM_CORNER_FACE, 0};
    double most = -INFINITY;
    int deepest = 0;
    for (int f = 0; f < B->h->nf; ++f) {
        const double sep = dot(B->n[f], p) - B->offset[f];
        if (sep > most) most = sep, deepest = f;
        if (sep > 0 && over(B, f, p, B->n[f], 1, 0)) closer(&x, sep, CAROM_CORNER_FACE, f);
    }
    if (most <= 0) return (closest){most, CAROM_CORNER_FACE, deepest};
    for (int e = 0; e < B->h->ne; ++e) {
        double d[3], w[3], y[3];
        edge_along(B, e, d), minus(p, edge_from(B, e), w);
        const double s = dot(d, w) / dot(d, d);
        if (s < 0 || s > 1) continue;
        for (int i = 0; i < 3; ++i) y[i] = w[i] - s * d[i];
        closer(&x, size_of(y), CAROM_CORNER_EDGE, e);
    }
    for (int i = 0; i < B->h->nv; ++i) {
        double w[3];
        minus(p, B->v[i], w);
        closer(&x, size_of(w), CAROM_CORNER_CORNER, i);
    }
    return x;
}

static bool inside(const posed *B, const double *p) {
    for (int f = 0; f < B->h->nf; ++f)
        if (dot(B->n[f], p) > B->offset[f]) return false;
    return true;
}

// Where a line is nearest to corners and edges: so many places, in the order in which they were found.
enum { LINE = 3 };
typedef struct lowest { double gap[LINE], p[LINE][3]; carom_feature *f; } lowest;

static void lower(lowest *x, const carom_feature *f, const double *p, double gap, double R) {
    int worst = 0;
    for (int i = 0; i < LINE; ++i) {
        double w[3];
        if (x->gap[i] > x->gap[worst]) worst = i;
        if (x->f[i].kind != CAROM_EDGE_CORNER) continue;
        minus(p, x->p[i], w);
        if (dot(w, w) <= SAME * SAME * R * R) return; // an edge that ends at this corner
    }
    if (gap >= x->gap[worst]) return;
    for (int i = worst; i + 1 < LINE; ++i)
        x->f[i] = x->f[i + 1], x->gap[i] = x->gap[i + 1], memcpy(x->p[i], x->p[i + 1], sizeof *x->p);
    x->f[LINE - 1] = *f, x->gap[LINE - 1] = gap, memcpy(x->p[LINE - 1], p, sizeof *x->p);
}

// From corner v of B to the line of A; false: not between its ends.
static bool to_line(const posed *A, const posed *B, int v, double *w) {
    double d[3];
    edge_along(A, 0, d);
    minus(B->v[v], edge_from(A, 0), w);
    const double s = dot(d, w) / dot(d, d);
    for (int i = 0; i < 3; ++i) w[i] = s * d[i] - w[i];
    return s > 0 && s < 1;
}

// A line over corners of B: those that are nearer to it than all that is on the edges e that leave them, w.e <= 0.  B
// is convex, and lies behind the plane across w: no other corner is nearer.
static void line_corners(const posed *A, const posed *B, lowest *x) {
    double w[3], least = INFINITY;
    for (int v = 0; v < B->h->nv; ++v)
        if (to_line(A, B, v, w)) least = fmin(least, size_of(w));
    if (!(least > SIDE * B->size)) return;
    for (int v = 0; v < B->h->nv; ++v) {
        if (!to_line(A, B, v, w) || size_of(w) > least + SAME * B->size) continue;
        bool nearest = true;
        for (int e = 0; e < B->h->ne && nearest; ++e) {
            double g[3];
            const int *ends = B->h->edge[e];
            if (ends[0] != v && ends[1] != v) continue;
            minus(B->v[ends[ends[0] == v]], B->v[v], g);
            nearest = dot(g, w) <= SIDE * size_of(g) * B->size;
        }
        const carom_feature f = {.kind = CAROM_EDGE_CORNER, .a = 0, .b = v, .sign = 1};
        if (nearest) lower(x, &f, B->v[v], size_of(w), B->size);
    }
}

// A line over edges of B.  One that lies below an edge touches it only where it is inside of B there, not where it
// passes B on the other side.
static void line_edges(const posed *A, const posed *B, lowest *x) {
    double d[3];
    edge_along(A, 0, d);
    for (int e = 0; e < B->h->ne; ++e) {
        double g[3], n[3], w[3], p[3], foot[3], s, t;
        edge_along(B, e, g);
        if (!nearest_lines(edge_from(A, 0), d, edge_from(B, e), g, &s, &t) || s <= 0 || s >= 1 || t < 0 || t > 1)
            continue;
        cross(d, g, n);
        const double size = size_of(n), *a = B->n[B->h->edge[e][2]], *b = B->n[B->h->edge[e][3]],
                     sign = dot(n, a) + dot(n, b) > 0 ? 1 : -1;
        if (!(size > STEEP * size_of(d) * size_of(g))) continue;
        for (int i = 0; i < 3; ++i) n[i] *= sign / size;
        if (!between_faces(B, e, n)) continue;
        minus(edge_from(A, 0), edge_from(B, e), w);
        const double gap = dot(n, w);
        for (int i = 0; i < 3; ++i) p[i] = edge_from(A, 0)[i] + s * d[i], foot[i] = edge_from(B, e)[i] + t * g[i];
        if (gap < 0 && !inside(B, p)) continue;
        const carom_feature f = {.kind = CAROM_EDGE_EDGE, .a = 0, .b = e, .sign = sign};
        lower(x, &f, foot, gap, B->size);
    }
}

void carom_patch_thin(const posed *A, const posed *B, carom_feature *f) {
    for (int i = 0; i < A->h->nv; ++i) {
        const closest x = nearest_feature(B, A->v[i]);
        f[i] = (carom_feature){.kind = x.kind, .a = i, .b = x.b};
    }
    if (A->h->nv == 1) return;
    lowest x = {.gap = {INFINITY, INFINITY, INFINITY}, .f = f + A->h->nv};
    for (int i = 0; i < LINE; ++i) x.f[i] = (carom_feature){.kind = CAROM_EDGE_EDGE, .spare = true, .sign = 1};
    line_corners(A, B, &x);
    line_edges(A, B, &x);
}

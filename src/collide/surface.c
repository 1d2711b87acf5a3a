// surface.c: contacts of a solid with a surface over a grid.
//
// A surface is solid below, so its faces look up.  Corners of A touch faces, corners of the surface touch faces of A,
// and edges touch ridges; what is round touches ridges and peaks as well.  Of a valley, faces touch.
#include "collide/posed.h"

static bool convex(const posed *S, int e) {
    static const double FLAT = 1e-9; // of the edge: heights of one plane, rounded, make no ridge
    const int *of = S->h->edge[e];
    if (of[2] < 0 || of[3] < 0) return false; // the rim of the surface
    double n[3], d[3];
    cross(S->n[of[2]], S->n[of[3]], n);
    edge_along(S, e, d);
    return dot(n, d) > FLAT * size_of(d);
}

// Height of the surface over or under x; outside of it -infinity.
static double height(const posed *S, const carom_grid *g, const double *x) {
    const double u = (x[0] - g->x) / g->dx, v = (x[1] - g->y) / g->dy;
    if (!(u >= 0 && v >= 0 && u <= g->nx - 1 && v <= g->ny - 1)) return -INFINITY;
    const int i = u < g->nx - 1 ? (int)u : g->nx - 2, j = v < g->ny - 1 ? (int)v : g->ny - 2,
              f = 2 * (j * (g->nx - 1) + i) + (v - j > u - i);
    return (S->offset[f] - S->n[f][0] * x[0] - S->n[f][1] * x[1]) / S->n[f][2];
}

// Is corner v nearer to what lies `way` from it than all that is on the edges that leave it?
static bool peak(const posed *S, const carom_grid *g, int v, const double *way) {
    const int *star = g->star + 6 * v;
    for (int m = 0; m < 6; ++m) {
        double d[3];
        if (star[m] < 0) continue;
        minus(S->v[star[m]], S->v[v], d);
        if (dot(d, way) > SIDE * dot(d, d)) return false;
    }
    return true;
}

typedef struct window { int i0, i1, j0, j1; } window; // cells

static window window_of(const posed *A, const carom_grid *g, double radius) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    const double origin[2] = {g->x, g->y}, cell[2] = {g->dx, g->dy};
    const int last[2] = {g->nx - 2, g->ny - 2};
    int at[4];
    for (int i = 0; i < 2 * A->h->nv; ++i)
        low[i % 2] = fmin(low[i % 2], A->v[i / 2][i % 2]), high[i % 2] = fmax(high[i % 2], A->v[i / 2][i % 2]);
    for (int k = 0; k < 2; ++k) {
        const double a = floor((low[k] - radius - origin[k]) / cell[k]),
                     b = floor((high[k] + radius - origin[k]) / cell[k]);
        at[2 * k] = a < 0 ? 0 : a > last[k] ? last[k] : (int)a;
        at[2 * k + 1] = b < 0 ? 0 : b > last[k] ? last[k] : (int)b;
    }
    return (window){at[0], at[1], at[2], at[3]};
}

// Corner k of A: faces below it, and ridges and peaks if it is round.
static void corner_over(candidates *c, const posed *A, int k, const posed *S, const carom_grid *g, window w,
                        double radius) {
    const double *p = A->v[k];
    const bool below = p[2] < height(S, g, p);
    for (int j = w.j0; j <= w.j1; ++j)
        for (int f = 2 * (j * (g->nx - 1) + w.i0); f < 2 * (j * (g->nx - 1) + w.i1 + 1); ++f) {
            const double gap = dot(S->n[f], p) - S->offset[f];
            if ((gap <= -TIE * A->size && !below) || !over(S, f, p, S->n[f], 1, SIDE * A->size)) continue;
            const double foot[3] = {p[0] - gap * S->n[f][0], p[1] - gap * S->n[f][1], p[2] - gap * S->n[f][2]};
            add(c, CAROM_CORNER_FACE, k, f, 0, foot, gap - radius);
        }
    for (int j = w.j0; j <= w.j1 + 1 && radius > 0 && !below; ++j)
        for (int i = w.i0; i <= w.i1 + 1; ++i) {
            const int v = j * g->nx + i;
            double way[3];
            minus(p, S->v[v], way);
            if (peak(S, g, v, way)) add(c, CAROM_CORNER_CORNER, k, v, 0, S->v[v], size_of(way) - radius);
        }
}

static bool edge_in(const carom_grid *g, const carom_hull *h, int e, window w) {
    const int v = h->edge[e][0], i = v % g->nx, j = v / g->nx;
    return i >= w.i0 && i <= w.i1 + 1 && j >= w.j0 && j <= w.j1 + 1;
}

// Ridges under A: its round corners, and its edges.
static void over_ridge(candidates *c, const posed *A, const posed *S, int e, double radius) {
    double d[3];
    edge_along(S, e, d);
    for (int k = 0; k < A->h->nv && radius > 0; ++k) {
        double w[3], y[3];
        minus(A->v[k], edge_from(S, e), w);
        const double s = dot(d, w) / dot(d, d);
        if (s < 0 || s > 1) continue;
        double foot[3];
        for (int i = 0; i < 3; ++i) y[i] = w[i] - s * d[i], foot[i] = edge_from(S, e)[i] + s * d[i];
        const double size = size_of(y);
        for (int i = 0; i < 3 && size > 0; ++i) y[i] /= size;
        if (size > 0 && between_faces(S, e, y)) add(c, CAROM_CORNER_EDGE, k, e, 0, foot, size - radius);
    }
    for (int k = 0; k < A->h->ne; ++k) {
        double b[3], n[3], w[3], p[3], s, t;
        edge_along(A, k, b);
        if (!nearest_lines(edge_from(A, k), b, edge_from(S, e), d, &s, &t) || s < 0 || s > 1 || t < 0 || t > 1)
            continue;
        cross(b, d, n);
        const double size = size_of(n), sign = n[2] > 0 ? 1 : -1;
        if (!(size > STEEP * size_of(b) * size_of(d))) continue;
        for (int i = 0; i < 3; ++i)
            n[i] *= sign / size, w[i] = edge_from(A, k)[i] - edge_from(S, e)[i], p[i] = edge_from(A, k)[i] + s * b[i];
        const double down[3] = {-n[0], -n[1], -n[2]};
        if (!between_faces(S, e, n) || (!thin(A->h) && !between_faces(A, k, down))) continue;
        add(c, CAROM_EDGE_EDGE, k, e, sign, p, dot(n, w) - radius);
    }
}

// Corner v of the surface under the line of A.
static void line_over(candidates *c, const posed *A, const posed *S, const carom_grid *g, int v, double radius) {
    double d[3], w[3], p[3], way[3];
    edge_along(A, 0, d);
    minus(S->v[v], edge_from(A, 0), w);
    const double s = dot(d, w) / dot(d, d);
    if (s <= 0 || s >= 1) return;
    for (int i = 0; i < 3; ++i) p[i] = edge_from(A, 0)[i] + s * d[i], way[i] = p[i] - S->v[v][i];
    if (p[2] < height(S, g, p) || !peak(S, g, v, way)) return;
    add(c, CAROM_EDGE_CORNER, 0, v, 0, S->v[v], size_of(way) - radius);
}

// Corner v of the surface under or in A: the face of A that separates most.
static void corner_under(candidates *c, const posed *A, const posed *S, int v) {
    double most = -INFINITY;
    int best = 0;
    for (int f = 0; f < A->h->nf; ++f) {
        const double sep = dot(A->n[f], S->v[v]) - A->offset[f];
        if (sep > most) most = sep, best = f;
    }
    if (A->n[best][2] < 0 && over(A, best, S->v[v], A->n[best], 1, SIDE * A->size))
        add(c, CAROM_FACE_CORNER, best, v, 0, S->v[v], most);
}

void carom_patch_surface(const carom_convex *of, const posed *A, const carom_frame *a, const carom_convex *on,
                         carom_feature *f) {
    const carom_grid *g = on->grid;
    const posed S = {.h = on->hull,
                     .v = (const double(*)[3])on->hull->v,
                     .n = (const double(*)[3])on->hull->normal,
                     .offset = on->hull->offset};
    const window w = window_of(A, g, of->radius);
    candidates c;
    c.n = 0;
    for (int k = 0; k < A->h->nv; ++k) corner_over(&c, A, k, &S, g, w, of->radius);
    for (int j = w.j0; j <= w.j1 + 1; ++j)
        for (int i = w.i0; i <= w.i1 + 1; ++i) {
            const int v = j * g->nx + i;
            if (!thin(A->h)) corner_under(&c, A, &S, v);
            else if (A->h->ne) line_over(&c, A, &S, g, v, of->radius);
            for (int m = 0; m < 3; ++m) {
                const int e = g->edges[3 * v + m];
                if (e >= 0 && edge_in(g, S.h, e, w) && convex(&S, e)) over_ridge(&c, A, &S, e, of->radius);
            }
        }
    if (c.n == 0) { // beside the surface
        for (int k = 0; k < CAROM_PATCH; ++k) f[k] = (carom_feature){.kind = CAROM_CORNER_FACE, .spare = true};
        return;
    }
    carom_patch_choose(&c, a, (const double[]){0, 0, 1}, fmax(A->size, of->radius), f);
}

// patch.c: contacts of two convex solids.
//
// Two polyhedra (SHP-18): of all normals of faces, and of all n = e_A x e_B / |e_A x e_B| of edges whose normals meet on the sphere, the one that separates
// most decides which faces look at each other.  Their overlap has corners of three kinds: a corner of A over B's face, one of B over
// A's, and an edge across an edge.  Each is a contact with its own exact distance.  Of many the outermost in eight directions fixed in A stay,
// and the deepest.  A point or a line with a radius (sphere, capsule) has the distance from the nearest face, edge or corner.
#include "collide/patch.h"
#include <math.h>
#include <string.h>

enum { DIRECTIONS = 8, MOST = 4 * CAROM_HULL_CORNERS };
static const double SAME = 1e-5,   // of the size: contacts that are nearer are one
                    TIE = 1e-6,    // of the size: edges must separate by so much more than faces
                    SIDE = 1e-9,   // of the size: beside a face
                    ALIGNED = 0.9, // cosine between the normals of contacts of one patch
                    STEEP = 0.02;  // sine between edges that cross

static double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static void minus(const double *a, const double *b, double *c) { c[0] = a[0] - b[0], c[1] = a[1] - b[1], c[2] = a[2] - b[2]; }
static void cross(const double *a, const double *b, double *c) {
    c[0] = a[1] * b[2] - a[2] * b[1], c[1] = a[2] * b[0] - a[0] * b[2], c[2] = a[0] * b[1] - a[1] * b[0];
}
static double size_of(const double *a) { return sqrt(dot(a, a)); }
static void turned(const double *R, const double *x, double *y) {
    for (int i = 0; i < 3; ++i) y[i] = dot(R + 3 * i, x);
}

// -- a solid where it is, seen from B's origin ----------------------------------------------------------------------------

typedef struct posed {
    const carom_hull *h;
    double (*v)[3], (*n)[3], *offset;
    double size;
} posed;

typedef struct room { double v[CAROM_HULL_CORNERS][3], n[2 * CAROM_HULL_CORNERS][3], offset[2 * CAROM_HULL_CORNERS]; } room;

static void pose(const carom_hull *h, const carom_frame *f, const double *origin, posed *x, room *in) {
    double r[3], low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    minus(f->r, origin, r);
    *x = (posed){.h = h, .v = in->v, .n = in->n, .offset = in->offset};
    for (int i = 0; i < h->nv; ++i) {
        turned(f->R, h->v[i], x->v[i]);
        for (int k = 0; k < 3; ++k) {
            low[k] = fmin(low[k], x->v[i][k]), high[k] = fmax(high[k], x->v[i][k]);
            x->v[i][k] += r[k];
        }
    }
    for (int i = 0; i < h->nf; ++i) {
        turned(f->R, h->normal[i], x->n[i]);
        x->offset[i] = h->offset[i] + dot(x->n[i], r);
    }
    for (int k = 0; k < 3 && h->nv; ++k) x->size = fmax(x->size, high[k] - low[k]);
}

static const double *edge_from(const posed *x, int e) { return x->v[x->h->edge[e][0]]; }
static void edge_along(const posed *x, int e, double *d) { minus(x->v[x->h->edge[e][1]], x->v[x->h->edge[e][0]], d); }

// The corner that is farthest along n.
static int support(const posed *x, const double *n, double sign) {
    int best = 0;
    double most = -INFINITY;
    for (int i = 0; i < x->h->nv; ++i) {
        const double s = sign * dot(n, x->v[i]);
        if (s > most) most = s, best = i;
    }
    return best;
}

// Of the faces that hold corner c, the one that looks most along sign n.
static int face_at(const posed *x, int c, const double *n, double sign) {
    int best = 0;
    double most = -INFINITY;
    for (int f = 0; f < x->h->nf; ++f) {
        const double s = sign * dot(n, x->n[f]);
        if (s <= most) continue;
        for (int k = x->h->face_at[f]; k < x->h->face_at[f + 1]; ++k)
            if (x->h->face[k] == c) most = s, best = f;
    }
    return best;
}

// Where the lines p + s d and q + t e are nearest to each other; false: they are parallel.
static bool nearest_lines(const double *p, const double *d, const double *q, const double *e, double *s, double *t) {
    double w[3];
    minus(p, q, w);
    const double a = dot(d, d), b = dot(d, e), c = dot(e, e), u = dot(d, w), v = dot(e, w), det = a * c - b * b;
    if (!(det > 1e-14 * a * c)) return false;
    *s = (b * v - c * u) / det;
    *t = (a * v - b * u) / det;
    return true;
}

static bool thin(const carom_hull *h) { return h->nf == 0; }
static bool flat(const carom_hull *h) { return h->nv == 0; }

// -- two polyhedra ----------------------------------------------------------------------------------------------------------

typedef struct axis {
    double sep, n[3]; // n from B to A
    int a, b;         // face of A or of B, the other being the corner that is nearest to it; edges
    carom_feature_kind kind;
    double sign;
} axis;

static void try_faces(const posed *x, const posed *other, bool first, axis *best) {
    for (int f = 0; f < x->h->nf; ++f) {
        const int c = support(other, x->n[f], -1);
        const double sep = dot(x->n[f], other->v[c]) - x->offset[f];
        if (sep <= best->sep + (first ? 0 : TIE * other->size)) continue;
        *best = (axis){.sep = sep, .a = first ? f : c, .b = first ? c : f, .kind = first ? CAROM_FACE_CORNER : CAROM_CORNER_FACE};
        for (int k = 0; k < 3; ++k) best->n[k] = first ? -x->n[f][k] : x->n[f][k];
    }
}

// Do the arcs between the normals of A's edge and between the opposite ones of B's edge cross?  Then the edges make a face of A - B.
static bool arcs_cross(const posed *A, int e, const double *d, const posed *B, int f, const double *g) {
    const double *a = A->n[A->h->edge[e][2]], *b = A->n[A->h->edge[e][3]], *c = B->n[B->h->edge[f][2]], *m = B->n[B->h->edge[f][3]];
    const double c_side = dot(c, d), m_side = dot(m, d), a_side = -dot(a, g), b_side = -dot(b, g);
    return c_side * m_side < 0 && a_side * b_side < 0 && c_side * b_side > 0;
}

static void try_edges(const posed *A, const posed *B, axis *best) {
    double margin = TIE * fmin(A->size, B->size);
    for (int e = 0; e < A->h->ne; ++e) {
        double d[3];
        edge_along(A, e, d);
        for (int f = 0; f < B->h->ne; ++f) {
            double g[3], n[3], w[3], sum[3];
            edge_along(B, f, g);
            if (!arcs_cross(A, e, d, B, f, g)) continue;
            cross(d, g, n);
            const double size = size_of(n);
            if (!(size > 1e-6 * size_of(d) * size_of(g))) continue;
            for (int k = 0; k < 3; ++k) sum[k] = B->n[B->h->edge[f][2]][k] + B->n[B->h->edge[f][3]][k];
            const double sign = dot(n, sum) > 0 ? 1 : -1;
            minus(edge_from(A, e), edge_from(B, f), w);
            const double sep = sign * dot(n, w) / size;
            if (sep <= best->sep + margin) continue;
            margin = 0;
            *best = (axis){.sep = sep, .a = e, .b = f, .kind = CAROM_EDGE_EDGE, .sign = sign};
            for (int k = 0; k < 3; ++k) best->n[k] = sign * n[k] / size;
        }
    }
}

typedef struct candidates {
    int n;
    carom_feature f[MOST];
    double p[MOST][3], gap[MOST];
} candidates;

static void add(candidates *c, carom_feature_kind kind, int a, int b, double sign, const double *p, double gap) {
    if (c->n == MOST) return;
    c->f[c->n] = (carom_feature){.kind = kind, .a = a, .b = b, .sign = sign};
    memcpy(c->p[c->n], p, sizeof *c->p);
    c->gap[c->n++] = gap;
}

// Is p over face f, seen along n?  side = 1: the face looks along n.
static bool over(const posed *x, int f, const double *p, const double *n, double side, double tolerance) {
    const int *c = x->h->face + x->h->face_at[f], m = x->h->face_at[f + 1] - x->h->face_at[f];
    for (int i = 0; i < m; ++i) {
        double e[3], out[3], w[3];
        minus(x->v[c[(i + 1) % m]], x->v[c[i]], e);
        cross(e, n, out);
        minus(p, x->v[c[i]], w);
        if (side * dot(out, w) > tolerance * size_of(e)) return false;
    }
    return true;
}

static void corners_over(candidates *c, const posed *of, int face, const posed *on, int ground, const double *n, double side, double tolerance) {
    if (side * dot(n, on->n[ground]) < ALIGNED) return;
    for (int k = of->h->face_at[face]; k < of->h->face_at[face + 1]; ++k) {
        const int i = of->h->face[k];
        if (!over(on, ground, of->v[i], n, side, tolerance)) continue;
        const double gap = dot(on->n[ground], of->v[i]) - on->offset[ground];
        if (side > 0) add(c, CAROM_CORNER_FACE, i, ground, 0, of->v[i], gap);
        else add(c, CAROM_FACE_CORNER, ground, i, 0, of->v[i], gap);
    }
}

static void edges_across(candidates *c, const posed *A, int f, const posed *B, int g, const double *n) {
    for (int e = 0; e < A->h->ne; ++e) {
        if (A->h->edge[e][2] != f && A->h->edge[e][3] != f) continue;
        double d[3];
        edge_along(A, e, d);
        for (int k = 0; k < B->h->ne; ++k) {
            if (B->h->edge[k][2] != g && B->h->edge[k][3] != g) continue;
            double b[3], m[3], w[3], p[3], s, t;
            edge_along(B, k, b);
            cross(d, b, m);
            const double size = size_of(m);
            if (!(size > STEEP * size_of(d) * size_of(b)) || fabs(dot(m, n)) < ALIGNED * size) continue;
            if (!nearest_lines(edge_from(A, e), d, edge_from(B, k), b, &s, &t) || s < 0 || s > 1 || t < 0 || t > 1) continue;
            const double sign = dot(m, n) > 0 ? 1 : -1;
            minus(edge_from(A, e), edge_from(B, k), w);
            for (int i = 0; i < 3; ++i) p[i] = edge_from(A, e)[i] + s * d[i];
            add(c, CAROM_EDGE_EDGE, e, k, sign, p, sign * dot(m, w) / size);
        }
    }
}

// Two axes across n, fixed in A as long as n is.
static void across(const carom_frame *a, const double *n, double *u, double *v) {
    int k = 0;
    double along[3];
    for (int i = 0; i < 3; ++i) {
        along[i] = a->R[i] * n[0] + a->R[3 + i] * n[1] + a->R[6 + i] * n[2];
        if (fabs(along[i]) < fabs(along[k]) - 0.1) k = i;
    }
    for (int i = 0; i < 3; ++i) u[i] = a->R[3 * i + k] - along[k] * n[i];
    const double size = size_of(u);
    for (int i = 0; i < 3; ++i) u[i] /= size;
    cross(n, u, v);
}

// Which of the candidates stay: slot by slot, the outermost in its direction; deep ones count as farther out.
static void choose(const candidates *c, const carom_frame *a, const double *n, double size, carom_feature *f) {
    static const double DEEP = 10, EIGHTH = 0.78539816339744831;
    int chosen[CAROM_PATCH], deepest = 0;
    double u[3], v[3];
    across(a, n, u, v);
    for (int i = 1; i < c->n; ++i)
        if (c->gap[i] < c->gap[deepest] - SIDE * size) deepest = i;
    for (int k = 0; k < CAROM_PATCH; ++k) {
        const double x = cos((k + 0.5) * EIGHTH), y = sin((k + 0.5) * EIGHTH);
        int best = deepest;
        double most = -INFINITY;
        for (int i = 0; i < c->n && k < DIRECTIONS; ++i) {
            const double s = x * dot(u, c->p[i]) + y * dot(v, c->p[i]) - DEEP * c->gap[i];
            if (s > most + SIDE * size) most = s, best = i;
        }
        chosen[k] = best;
        f[k] = c->f[best];
        for (int j = 0; j < k && !f[k].spare; ++j) {
            double w[3];
            minus(c->p[best], c->p[chosen[j]], w);
            f[k].spare = size_of(w) <= SAME * size;
        }
    }
}

static void find_solids(const posed *A, const carom_frame *a, const posed *B, carom_feature *f) {
    axis best = {.sep = -INFINITY};
    candidates c;
    const double size = fmin(A->size, B->size);
    c.n = 0;
    try_faces(A, B, true, &best);
    try_faces(B, A, false, &best);
    try_edges(A, B, &best);
    const bool edges = best.kind == CAROM_EDGE_EDGE;
    const int of_A = edges ? A->h->edge[best.a][0] : best.kind == CAROM_CORNER_FACE ? best.a : -1;
    const int of_B = edges ? B->h->edge[best.b][0] : best.kind == CAROM_FACE_CORNER ? best.b : -1;
    const int g = of_A < 0 ? best.a : face_at(A, of_A, best.n, -1), h = of_B < 0 ? best.b : face_at(B, of_B, best.n, 1);
    if (edges) {
        double d[3], e[3], p[3], s = 0, t = 0;
        edge_along(A, best.a, d), edge_along(B, best.b, e);
        nearest_lines(edge_from(A, best.a), d, edge_from(B, best.b), e, &s, &t);
        for (int i = 0; i < 3; ++i) p[i] = edge_from(A, best.a)[i] + s * d[i];
        add(&c, CAROM_EDGE_EDGE, best.a, best.b, best.sign, p, best.sep);
    }
    corners_over(&c, A, g, B, h, best.n, 1, SIDE * size);
    corners_over(&c, B, h, A, g, best.n, -1, SIDE * size);
    edges_across(&c, A, g, B, h, best.n);
    if (c.n == 0) add(&c, best.kind, best.a, best.b, best.sign, best.kind == CAROM_CORNER_FACE ? A->v[best.a] : B->v[best.b], best.sep);
    choose(&c, a, best.n, size, f);
}

// All corners over a half-space.
static void find_flat(const posed *A, const carom_frame *a, const posed *B, carom_feature *f) {
    candidates c;
    c.n = 0;
    for (int i = 0; i < A->h->nv; ++i) add(&c, CAROM_CORNER_FACE, i, 0, 0, A->v[i], dot(B->n[0], A->v[i]) - B->offset[0]);
    choose(&c, a, B->n[0], A->size, f);
}

// -- a point or a line, and a polyhedron ----------------------------------------------------------------------------------------

typedef struct nearest { double distance; carom_feature_kind kind; int b; } nearest;

static void closer(nearest *x, double distance, carom_feature_kind kind, int b) {
    if (distance < x->distance) *x = (nearest){distance, kind, b};
}

// Face, edge or corner of B that is nearest to p.
static nearest nearest_feature(const posed *B, const double *p) {
    nearest x = {INFINITY, CAROM_CORNER_FACE, 0};
    double most = -INFINITY;
    int deepest = 0;
    for (int f = 0; f < B->h->nf; ++f) {
        const double sep = dot(B->n[f], p) - B->offset[f];
        if (sep > most) most = sep, deepest = f;
        if (sep > 0 && over(B, f, p, B->n[f], 1, 0)) closer(&x, sep, CAROM_CORNER_FACE, f);
    }
    if (most <= 0) return (nearest){most, CAROM_CORNER_FACE, deepest};
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

// Does n lie between the normals of the faces at this edge?
static bool between_faces(const posed *B, int e, const double *n) {
    static const double ROOM = 1e-6;
    const double *a = B->n[B->h->edge[e][2]], *b = B->n[B->h->edge[e][3]];
    const double ab = dot(a, b), na = dot(n, a), nb = dot(n, b);
    return na - ab * nb >= -ROOM && nb - ab * na >= -ROOM && na + nb > 0; // n = x a + y b with x, y >= 0
}

// A line over edges of B: the three that are nearest, in the order of edges.
static void line_edges(const posed *A, const posed *B, carom_feature *f) {
    enum { ROOM = 3 };
    double d[3], gap[ROOM] = {INFINITY, INFINITY, INFINITY};
    edge_along(A, 0, d);
    for (int i = 0; i < ROOM; ++i) f[i] = (carom_feature){.kind = CAROM_EDGE_EDGE, .spare = true, .sign = 1};
    for (int e = 0; e < B->h->ne; ++e) {
        double g[3], n[3], w[3], s, t;
        edge_along(B, e, g);
        if (!nearest_lines(edge_from(A, 0), d, edge_from(B, e), g, &s, &t) || s <= 0 || s >= 1 || t < 0 || t > 1) continue;
        cross(d, g, n);
        const double size = size_of(n), *a = B->n[B->h->edge[e][2]], *b = B->n[B->h->edge[e][3]], sign = dot(n, a) + dot(n, b) > 0 ? 1 : -1;
        if (!(size > STEEP * size_of(d) * size_of(g))) continue;
        for (int i = 0; i < 3; ++i) n[i] *= sign / size;
        if (!between_faces(B, e, n)) continue;
        minus(edge_from(A, 0), edge_from(B, e), w);
        int worst = 0;
        for (int i = 1; i < ROOM; ++i)
            if (gap[i] > gap[worst]) worst = i;
        const double now = dot(n, w);
        if (now >= gap[worst]) continue;
        for (int i = worst; i + 1 < ROOM; ++i) f[i] = f[i + 1], gap[i] = gap[i + 1]; // the order of edges stays
        f[ROOM - 1] = (carom_feature){.kind = CAROM_EDGE_EDGE, .a = 0, .b = e, .sign = sign};
        gap[ROOM - 1] = now;
    }
}

static void find_thin(const posed *A, const posed *B, carom_feature *f) {
    for (int i = 0; i < A->h->nv; ++i) {
        const nearest x = nearest_feature(B, A->v[i]);
        f[i] = (carom_feature){.kind = x.kind, .a = i, .b = x.b};
    }
    if (A->h->nv > 1) line_edges(A, B, f + 2);
}

// -- a solid over a surface ---------------------------------------------------------------------------------------------------
//
// A surface is solid below, so its faces look up.  Corners of A touch faces, corners of the surface touch faces of A, and edges touch ridges; what is
// round touches ridges and peaks as well.  Of a valley, faces touch.

static bool convex(const posed *S, int e) {
    static const double FLAT = 1e-9;
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
    const int i = u < g->nx - 1 ? (int)u : g->nx - 2, j = v < g->ny - 1 ? (int)v : g->ny - 2, f = 2 * (j * (g->nx - 1) + i) + (v - j > u - i);
    return (S->offset[f] - S->n[f][0] * x[0] - S->n[f][1] * x[1]) / S->n[f][2];
}

typedef struct window { int i0, i1, j0, j1; } window; // cells

static window window_of(const posed *A, const carom_grid *g, double radius) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    const double origin[2] = {g->x, g->y}, cell[2] = {g->dx, g->dy};
    const int last[2] = {g->nx - 2, g->ny - 2};
    int at[4];
    for (int i = 0; i < 2 * A->h->nv; ++i) low[i % 2] = fmin(low[i % 2], A->v[i / 2][i % 2]), high[i % 2] = fmax(high[i % 2], A->v[i / 2][i % 2]);
    for (int k = 0; k < 2; ++k) {
        const double a = floor((low[k] - radius - origin[k]) / cell[k]), b = floor((high[k] + radius - origin[k]) / cell[k]);
        at[2 * k] = a < 0 ? 0 : a > last[k] ? last[k] : (int)a;
        at[2 * k + 1] = b < 0 ? 0 : b > last[k] ? last[k] : (int)b;
    }
    return (window){at[0], at[1], at[2], at[3]};
}

// Corner k of A: faces below it, and ridges and peaks if it is round.
static void corner_over(candidates *c, const posed *A, int k, const posed *S, const carom_grid *g, window w, double radius) {
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
            bool peak = true; // nearer to p than what is on every edge that leaves it
            minus(p, S->v[v], way);
            const int *star = g->star + 6 * v;
            for (int m = 0; m < 6 && peak; ++m) {
                double d[3];
                if (star[m] < 0) continue;
                minus(S->v[star[m]], S->v[v], d);
                peak = dot(d, way) <= 0;
            }
            if (peak) add(c, CAROM_CORNER_CORNER, k, v, 0, S->v[v], size_of(way) - radius);
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
        if (!nearest_lines(edge_from(A, k), b, edge_from(S, e), d, &s, &t) || s < 0 || s > 1 || t < 0 || t > 1) continue;
        cross(b, d, n);
        const double size = size_of(n), sign = n[2] > 0 ? 1 : -1;
        if (!(size > STEEP * size_of(b) * size_of(d))) continue;
        for (int i = 0; i < 3; ++i) n[i] *= sign / size, w[i] = edge_from(A, k)[i] - edge_from(S, e)[i], p[i] = edge_from(A, k)[i] + s * b[i];
        const double down[3] = {-n[0], -n[1], -n[2]};
        if (!between_faces(S, e, n) || (!thin(A->h) && !between_faces(A, k, down))) continue;
        add(c, CAROM_EDGE_EDGE, k, e, sign, p, dot(n, w) - radius);
    }
}

// Corner v of the surface under or in A: the face of A that separates most.
static void corner_under(candidates *c, const posed *A, const posed *S, int v) {
    double most = -INFINITY;
    int best = 0;
    for (int f = 0; f < A->h->nf; ++f) {
        const double sep = dot(A->n[f], S->v[v]) - A->offset[f];
        if (sep > most) most = sep, best = f;
    }
    if (A->n[best][2] < 0 && over(A, best, S->v[v], A->n[best], 1, SIDE * A->size)) add(c, CAROM_FACE_CORNER, best, v, 0, S->v[v], most);
}

static void find_surface(const carom_convex *of, const posed *A, const carom_frame *a, const carom_convex *on, carom_feature *f) {
    const carom_grid *g = on->grid;
    const posed S = {.h = on->hull, .v = on->hull->v, .n = on->hull->normal, .offset = on->hull->offset};
    const window w = window_of(A, g, of->radius);
    candidates c;
    c.n = 0;
    for (int k = 0; k < A->h->nv; ++k) corner_over(&c, A, k, &S, g, w, of->radius);
    for (int j = w.j0; j <= w.j1 + 1; ++j)
        for (int i = w.i0; i <= w.i1 + 1; ++i) {
            const int v = j * g->nx + i;
            if (!thin(A->h)) corner_under(&c, A, &S, v);
            for (int m = 0; m < 3; ++m) {
                const int e = g->edges[3 * v + m];
                if (e >= 0 && edge_in(g, S.h, e, w) && convex(&S, e)) over_ridge(&c, A, &S, e, of->radius);
            }
        }
    if (c.n == 0) { // beside the surface
        for (int k = 0; k < CAROM_PATCH; ++k) f[k] = (carom_feature){.kind = CAROM_CORNER_FACE, .spare = true};
        return;
    }
    choose(&c, a, (const double[]){0, 0, 1}, fmax(A->size, of->radius), f);
}

// A's feature becomes B's.
static void swap(carom_feature *f) {
    static const carom_feature_kind other[] = {[CAROM_CORNER_FACE] = CAROM_FACE_CORNER, [CAROM_FACE_CORNER] = CAROM_CORNER_FACE, [CAROM_EDGE_EDGE] = CAROM_EDGE_EDGE,
                                               [CAROM_CORNER_EDGE] = CAROM_EDGE_CORNER, [CAROM_EDGE_CORNER] = CAROM_CORNER_EDGE, [CAROM_CORNER_CORNER] = CAROM_CORNER_CORNER};
    const int a = f->a; // n -> -n and e_A x e_B -> e_B x e_A: the sign stays
    f->kind = other[f->kind], f->a = f->b, f->b = a;
}

// -- all ------------------------------------------------------------------------------------------------------------------------

int carom_patch_count(const carom_convex *A, const carom_convex *B) {
    const carom_hull *a = A->hull, *b = B->hull;
    if (A->axes || B->axes) return 1;
    if (B->grid) return CAROM_PATCH;
    if ((thin(a) && thin(b)) || (flat(a) && flat(b))) return 0;
    const carom_hull *t = thin(a) ? a : b;
    if (!thin(t)) return CAROM_PATCH;
    return t->nv == 1 ? 1 : flat(a) || flat(b) ? 2 : 5;
}

void carom_patch_find(const carom_convex *A, const carom_frame *a, const carom_convex *B, const carom_frame *b, carom_feature *f) {
    const bool swapped = !B->grid && (thin(B->hull) || flat(A->hull));
    posed x, y;
    room in, other;
    if (A->axes || B->axes) {
        *f = (carom_feature){.kind = CAROM_SMOOTH};
        return;
    }
    pose((swapped ? B : A)->hull, swapped ? b : a, b->r, &x, &in);
    if (B->grid) {
        find_surface(A, &x, a, B, f);
        return;
    }
    pose((swapped ? A : B)->hull, swapped ? a : b, b->r, &y, &other);
    if (flat(y.h) && thin(x.h))
        for (int i = 0; i < x.h->nv; ++i) f[i] = (carom_feature){.kind = CAROM_CORNER_FACE, .a = i};
    else if (thin(x.h)) find_thin(&x, &y, f);
    else if (flat(y.h)) find_flat(&x, swapped ? b : a, &y, f);
    else find_solids(&x, a, &y, f);
    for (int i = 0; swapped && i < carom_patch_count(A, B); ++i) swap(&f[i]);
}

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
void carom_patch_place(const carom_convex *A, const carom_frame *a, const carom_convex *B, const carom_frame *b, const carom_feature *f, carom_patch_point *t) {
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

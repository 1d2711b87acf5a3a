// posed.h (private): convex solids where they are, and candidates for contacts: what patch.c and its parts have in
// common.
//
//   patch.c      two polyhedra; which way a pair goes          surface.c   a solid over a surface
//   thin.c       a point or a line, and a polyhedron           place.c     gap, normal and point of a feature
//   choose.c     which of many contacts stay                   smooth.c    ellipsoids
//
// All of these together are a part of the C text of models: no two of them use one name for two things.
#pragma once
#include "base/three.h"
#include "collide/patch.h"
#include <math.h>
#include <string.h>

// in which the outermost candidates become contacts; candidates of a pair, kept on the stack
enum { DIRECTIONS = 8, MOST = 4 * CAROM_HULL_CORNERS };
static const double SAME = 1e-5, // of the size: contacts that are nearer are one
    TIE = 1e-6,                  // of the size: edges must separate by so much more than faces
    SIDE = 1e-9,                 // of the size: beside a face
    FLUSH = 1e-9,                // of the size: faces that overlap by less only pass each other
    ALIGNED = 0.9,               // cosine between the normals of contacts of one patch
    STEEP = 0.02,                // sine between edges that cross
    ALONG = 1e-14;               // its square: lines that are parallel

static inline double size_of(const double *a) { return sqrt(dot(a, a)); }
static inline void turned(const double *R, const double *x, double *y) {
    for (int i = 0; i < 3; ++i) y[i] = dot(R + 3 * i, x);
}

// -- a solid where it is, seen from B's origin ------------------------------------------------------------------------

typedef struct posed {
    const carom_hull *h;
    const double (*v)[3], (*n)[3], *offset;
    double size;
} posed;

typedef struct room {
    double v[CAROM_HULL_CORNERS][3], n[2 * CAROM_HULL_CORNERS][3], offset[2 * CAROM_HULL_CORNERS];
} room;

static inline void pose(const carom_hull *h, const carom_frame *f, const double *origin, posed *x, room *in) {
    double r[3], low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    minus(f->r, origin, r);
    *x = (posed){.h = h, .v = (const double(*)[3])in->v, .n = (const double(*)[3])in->n, .offset = in->offset};
    for (int i = 0; i < h->nv; ++i) {
        turned(f->R, h->v[i], in->v[i]);
        for (int k = 0; k < 3; ++k) {
            if (in->v[i][k] < low[k]) low[k] = in->v[i][k];
            if (in->v[i][k] > high[k]) high[k] = in->v[i][k];
            in->v[i][k] += r[k];
        }
    }
    for (int i = 0; i < h->nf; ++i) {
        turned(f->R, h->normal[i], in->n[i]);
        in->offset[i] = h->offset[i] + dot(in->n[i], r);
    }
    for (int k = 0; k < 3 && h->nv; ++k) x->size = fmax(x->size, high[k] - low[k]);
}

static inline const double *edge_from(const posed *x, int e) { return x->v[x->h->edge[e][0]]; }
static inline void edge_along(const posed *x, int e, double *d) {
    minus(x->v[x->h->edge[e][1]], x->v[x->h->edge[e][0]], d);
}

// The corner that is farthest along n.
static inline int support(const posed *x, const double *n, double sign) {
    int best = 0;
    double most = -INFINITY;
    for (int i = 0; i < x->h->nv; ++i) {
        const double s = sign * dot(n, x->v[i]);
        if (s > most) most = s, best = i;
    }
    return best;
}

// Of the faces that hold corner c, the one that looks most along sign n.
static inline int face_at(const posed *x, int c, const double *n, double sign) {
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
static inline bool nearest_lines(const double *p, const double *d, const double *q, const double *e, double *s,
                                 double *t) {
    double w[3];
    minus(p, q, w);
    const double a = dot(d, d), b = dot(d, e), c = dot(e, e), u = dot(d, w), v = dot(e, w), det = a * c - b * b;
    if (!(det > ALONG * a * c)) return false;
    *s = (b * v - c * u) / det;
    *t = (a * v - b * u) / det;
    return true;
}

static inline bool thin(const carom_hull *h) { return h->nf == 0; }
static inline bool flat(const carom_hull *h) { return h->nv == 0; }

// Does n lie between the normals of the faces at this edge?
static inline bool between_faces(const posed *B, int e, const double *n) {
    // normals on the border belong to both sides: rounding of products of unit vectors, with room
    static const double ROOM = 1e-6;
    const double *a = B->n[B->h->edge[e][2]], *b = B->n[B->h->edge[e][3]];
    const double ab = dot(a, b), na = dot(n, a), nb = dot(n, b);
    return na - ab * nb >= -ROOM && nb - ab * na >= -ROOM && na + nb > 0; // n = x a + y b with x, y >= 0
}

// -- candidates -------------------------------------------------------------------------------------------------------

typedef struct candidates {
    int n;
    carom_feature f[MOST];
    double p[MOST][3], gap[MOST];
    bool flush; // some were none because faces only pass each other
} candidates;

static inline void add(candidates *c, carom_feature_kind kind, int a, int b, double sign, const double *p, double gap) {
    if (c->n == MOST) return;
    c->f[c->n] = (carom_feature){.kind = kind, .a = a, .b = b, .sign = sign};
    memcpy(c->p[c->n], p, sizeof *c->p);
    c->gap[c->n++] = gap;
}

// Is p over face f, seen along n?  side = 1: the face looks along n.
static inline bool over(const posed *x, int f, const double *p, const double *n, double side, double tolerance) {
    const int *c = x->h->face + x->h->face_at[f], m = x->h->face_at[f + 1] - x->h->face_at[f];
    for (int i = 0; i < m; ++i) {
        double e[3], out[3], w[3];
        minus(x->v[c[(i + 1) % m]], x->v[c[i]], e);
        cross(e, n, out);
        minus(p, x->v[c[i]], w);
        const double beside = side * dot(out, w);
        if (beside > 0 && beside > tolerance * size_of(e)) return false;
    }
    return true;
}

/// A face and where it ends: vectors in it across its edges, outwards, as long as these.
typedef struct border {
    const posed *x;
    int f, m;
    double out[CAROM_HULL_CORNERS][3], square[CAROM_HULL_CORNERS];
} border;

static inline void find_border(const posed *x, int f, border *b) {
    const int *c = x->h->face + x->h->face_at[f], m = x->h->face_at[f + 1] - x->h->face_at[f];
    b->x = x, b->f = f, b->m = m;
    for (int i = 0; i < m; ++i) {
        double e[3];
        minus(x->v[c[i + 1 < m ? i + 1 : 0]], x->v[c[i]], e);
        cross(e, x->n[f], b->out[i]);
        b->square[i] = STEEP * STEEP * dot(e, e);
    }
}

// How far it is from p along d to the end of the face, seen along its normal; d crosses the end there, and does not run
// along it.
static inline double to_end(const border *b, const double *p, const double *d) {
    const int *c = b->x->h->face + b->x->h->face_at[b->f];
    const double square = dot(d, d);
    double least = INFINITY;
    for (int i = 0; i < b->m; ++i) {
        double w[3];
        const double rate = dot(b->out[i], d);
        if (!(rate > 0 && rate * rate > b->square[i] * square)) continue;
        minus(b->x->v[c[i]], p, w);
        const double way = dot(b->out[i], w) / rate;
        if (way < least) least = way > 0 ? way : 0;
    }
    return least * sqrt(square);
}

// (SHP-21)  An edge that leads along d from x, over face f, touches there only if it does not pass through the face,
//           -d.n <= (s - 1e-9 R)/(4 R),  s the way to the end of the face, or `own` to that of the edge: else it meets
//           that end, and what is here comes to the face just where it runs off.  Where faces lie flat, s ~ R, and a
//           small angle between them is no matter; where they overlap by nothing, they only pass each other: *flush.
static inline bool passes_through(const border *on, const double *x, const double *d, double own, double R,
                                  bool *flush) {
    const double fall = -4 * dot(d, on->x->n[on->f]) * R / size_of(d);
    if (fall <= -FLUSH * R) return false; // it rises from the face: no way is negative
    const double way = to_end(on, x, d), s = fmin(way, own);
    if (fall > 0 && fall > way) return true;
    if (!(s < FLUSH * R && fall > s - FLUSH * R)) return false;
    return *flush = true;
}

// Does an edge of the corner pass through the face?
static inline bool corner_passes(const posed *of, int corner, const border *on, double R, bool *flush) {
    for (int e = 0; e < of->h->ne; ++e) {
        const int *ends = of->h->edge[e];
        double d[3];
        if (ends[0] != corner && ends[1] != corner) continue;
        minus(of->v[ends[ends[0] == corner]], of->v[corner], d);
        if (passes_through(on, of->v[corner], d, INFINITY, R, flush)) return true;
    }
    return false;
}

// Does the edge along d that crosses edge e of face f at x, a part s of it behind, pass through the face, where it is
// over it?
static inline bool edge_passes(const border *on, int e, const double *x, const double *d, double s, double R,
                               bool *flush) {
    double along[3], inside[3], way[3];
    edge_along(on->x, e, along);
    cross(on->x->n[on->f], along, inside);
    const double sign = (dot(inside, d) > 0) == (on->x->h->edge[e][2] == on->f) ? 1 : -1;
    for (int k = 0; k < 3; ++k) way[k] = sign * d[k];
    return passes_through(on, x, way, (sign > 0 ? 1 - s : s) * size_of(d), R, flush);
}

// R: the size of the smaller one.
static inline void corners_over(candidates *c, const posed *of, int face, const border *over_face, const double *n,
                                double side, double R) {
    const posed *on = over_face->x;
    const int ground = over_face->f;
    if (side * dot(n, on->n[ground]) < ALIGNED) return;
    for (int k = of->h->face_at[face]; k < of->h->face_at[face + 1]; ++k) {
        const int i = of->h->face[k];
        if (!over(on, ground, of->v[i], n, side, SIDE * R) || corner_passes(of, i, over_face, R, &c->flush)) continue;
        const double gap = dot(on->n[ground], of->v[i]) - on->offset[ground];
        if (side > 0)
            add(c, CAROM_CORNER_FACE, i, ground, 0, of->v[i], gap);
        else
            add(c, CAROM_FACE_CORNER, ground, i, 0, of->v[i], gap);
    }
}

static inline void edges_across(candidates *c, const border *of_A, const border *of_B, const double *n, double R) {
    const posed *A = of_A->x, *B = of_B->x;
    const int f = of_A->f, g = of_B->f;
    for (int e = 0; e < A->h->ne; ++e) {
        if (A->h->edge[e][2] != f && A->h->edge[e][3] != f) continue;
        double d[3];
        edge_along(A, e, d);
        const double square = dot(d, d);
        for (int k = 0; k < B->h->ne; ++k) {
            if (B->h->edge[k][2] != g && B->h->edge[k][3] != g) continue;
            double b[3], m[3], w[3], p[3], s, t;
            edge_along(B, k, b);
            cross(d, b, m);
            const double area = dot(m, m), size = sqrt(area);
            if (!(area > STEEP * STEEP * square * dot(b, b)) || fabs(dot(m, n)) < ALIGNED * size) continue;
            if (!nearest_lines(edge_from(A, e), d, edge_from(B, k), b, &s, &t) || s < 0 || s > 1 || t < 0 || t > 1)
                continue;
            const double sign = dot(m, n) > 0 ? 1 : -1;
            minus(edge_from(A, e), edge_from(B, k), w);
            for (int i = 0; i < 3; ++i) p[i] = edge_from(A, e)[i] + s * d[i];
            if (edge_passes(of_A, e, p, b, t, R, &c->flush) || edge_passes(of_B, k, p, d, s, R, &c->flush)) continue;
            add(c, CAROM_EDGE_EDGE, e, k, sign, p, sign * dot(m, w) / size);
        }
    }
}

/// Which of the candidates stay: slot by slot, the outermost in its direction; deep ones count as farther out.
CAROM_PART void carom_patch_choose(const candidates *c, const carom_frame *a, const double *n, double size,
                                   carom_feature *f);
CAROM_PART void carom_patch_thin(const posed *A, const posed *B, carom_feature *f);
CAROM_PART void carom_patch_surface(const carom_convex *of, const posed *A, const carom_frame *a,
                                    const carom_convex *on, carom_feature *f);

// cloud.c: hulls of points as files hold them, by Qhull.
//
// Where few and well separated points are given, gift wrapping (collide/hull.c) does, and needs no library.  Else Qhull
// makes the hull and merges faces that are coplanar to a tolerance.  A hull of too many corners is built up from
// outside: a tetrahedron of the farthest points, then those that are farthest outside of the hull of the corners so
// far, until there are enough.  It lies within the hull of all points, and its error is their largest distance from it:
//     e = max_i dist(x_i, hull) (SHP-30)
#define _POSIX_C_SOURCE 200809L // fmemopen
#include "derive/shapes/cloud.h"
#include "base/three.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef CAROM_HAS_QHULL
#include <libqhull_r/qhull_ra.h>
#endif

bool carom_cloud_any(void) {
#ifdef CAROM_HAS_QHULL
    return true;
#else
    return false;
#endif
}

#ifdef CAROM_HAS_QHULL

enum { WRAPPED = 512 }; // points: gift wrapping looks at all of them for every edge; Qhull does not
static const double EXACT = 1e-6, ROUGH = 1.1e-3; // of the size: tolerances of faces, by tens
static const double INSIDE = 1e-7;                // of the size: points outside of a hull by less are in it

// -- what Qhull finds -------------------------------------------------------------------------------------------------

typedef struct face {
    int m, *corner;
    double normal[3], offset;
} face; // counterclockwise seen from outside

typedef struct faces {
    int n, corners;
    face *face;
    int *corner; // of all
} faces;

static void free_faces(faces *f) { free(f->face), free(f->corner), *f = (faces){0}; }

// Newell's normal, that of the whole polygon, and the mean distance of its corners; false: it has no area.
static bool complete(const double (*x)[3], face *f) {
    double sum[3] = {0};
    for (int i = 1; i + 1 < f->m; ++i) {
        double a[3], b[3], n[3];
        minus(x[f->corner[i]], x[f->corner[0]], a), minus(x[f->corner[i + 1]], x[f->corner[0]], b), cross(a, b, n);
        for (int k = 0; k < 3; ++k) sum[k] += n[k];
    }
    const double size = sqrt(dot(sum, sum));
    f->offset = 0;
    for (int k = 0; k < 3; ++k) f->normal[k] = sum[k] / size;
    for (int i = 0; i < f->m; ++i) f->offset += dot(f->normal, x[f->corner[i]]) / f->m;
    return size > 0 && isfinite(f->offset);
}

static void reverse(int *c, int m) {
    for (int i = 0; i < m / 2; ++i) {
        const int one = c[i];
        c[i] = c[m - 1 - i], c[m - 1 - i] = one;
    }
}

// From the smallest number on: the order of Qhull's search does not matter.
static void turn(int *c, int m) {
    int first = 0;
    for (int i = 1; i < m; ++i)
        if (c[i] < c[first]) first = i;
    reverse(c, first), reverse(c + first, m - first), reverse(c, m);
}

static int by_corners(const void *p, const void *q) {
    const face *a = p, *b = q;
    for (int i = 0; i < a->m && i < b->m; ++i)
        if (a->corner[i] != b->corner[i]) return a->corner[i] < b->corner[i] ? -1 : 1;
    return a->m - b->m;
}

static bool copy_faces(qhT *qh, const double (*x)[3], faces *f) {
    facetT *facet;
    vertexT *vertex, **vertexp;
    int count = 0;
    FORALLfacets count += qh_setsize(qh, facet->vertices);
    f->face = calloc((size_t)qh->num_facets + 1, sizeof *f->face);
    f->corner = calloc((size_t)count + 1, sizeof *f->corner);
    if (!f->face || !f->corner) return false;
    FORALLfacets {
        face *one = &f->face[f->n++];
        setT *list = qh_facet3vertex(qh, facet);
        *one = (face){.corner = f->corner + f->corners};
        FOREACHvertex_(list) one->corner[one->m++] = qh_pointid(qh, vertex->point);
        qh_settempfree(qh, &list);
        f->corners += one->m;
        if (one->m < 3 || !complete(x, one)) return false;
        if (dot(one->normal, facet->normal) < 0) reverse(one->corner, one->m);
        turn(one->corner, one->m);
        if (!complete(x, one)) return false;
    }
    qsort(f->face, (size_t)f->n, sizeof *f->face, by_corners);
    return true;
}

// Faces of the hull; those that are coplanar to eps are one.  False: Qhull found none.
static bool find_faces(const double (*x)[3], int n, double eps, faces *f) {
    char command[60];
    qhT *volatile qh = calloc(1, sizeof *qh); // volatile: Qhull's errors jump
    char unread[256];
    FILE *volatile nowhere = fmemopen(unread, sizeof unread, "w"); // its messages
    volatile bool found = false;
    *f = (faces){0};
    snprintf(command, sizeof command, eps > 0 ? "qhull C-0 C%.3g" : "qhull", eps);
    if (qh && nowhere) {
        int shorter, longer;
        qh_zero(qh, nowhere);
        if (qh_new_qhull(qh, 3, n, (coordT *)(void *)x, False, command, NULL, nowhere) == 0) {
            qh->NOerrexit = False;
            if (setjmp(qh->errexit) == 0) found = copy_faces(qh, x, f);
            qh->NOerrexit = True;
        }
        qh_freeqhull(qh, !qh_ALL);
        qh_memfreeshort(qh, &shorter, &longer);
    }
    if (nowhere) fclose(nowhere);
    free(qh);
    if (!found) free_faces(f);
    return found;
}

// -- faces to a polyhedron --------------------------------------------------------------------------------------------

typedef struct side {
    int low, high, face, at;
} side; // of one face: corner `at` of it and the next

static int by_ends(const void *p, const void *q) {
    const side *a = p, *b = q;
    return a->low != b->low     ? (a->low < b->low ? -1 : 1)
           : a->high != b->high ? (a->high < b->high ? -1 : 1)
                                : a->face - b->face;
}

static int start_of(const face *f, int at) { return f->corner[at]; }
static int end_of(const face *f, int at) { return f->corner[(at + 1) % f->m]; }

// Edges, each of two faces that run along it in opposite senses; false: there is another one.
static bool find_edges(const faces *f, side *sides, carom_hull *h) {
    int n = 0;
    for (int i = 0; i < f->n; ++i)
        for (int k = 0; k < f->face[i].m; ++k) {
            const int a = start_of(&f->face[i], k), b = end_of(&f->face[i], k);
            sides[n++] = (side){a < b ? a : b, a < b ? b : a, i, k};
        }
    qsort(sides, (size_t)n, sizeof *sides, by_ends);
    for (int i = 0; i < n; i += 2) {
        const side *s = &sides[i], *t = s + 1;
        if (i + 1 == n || t->low != s->low || t->high != s->high ||
            (i + 2 < n && s[2].low == s->low && s[2].high == s->high))
            return false;
        const int a = start_of(&f->face[s->face], s->at), b = end_of(&f->face[s->face], s->at);
        if (start_of(&f->face[t->face], t->at) != b) return false;
        memcpy(h->edge[h->ne++], (int[4]){a, b, s->face, t->face}, sizeof *h->edge);
    }
    return true;
}

// Points x have size 1; those of the hull are `own`.
static carom_hull_fault build(const double (*x)[3], const double (*own)[3], int n, const faces *f, double eps,
                              carom_hull *hull) {
    const size_t nf = (size_t)f->n, nc = (size_t)f->corners;
    carom_hull h = {.nf = f->n};
    int *number = malloc((size_t)n * sizeof *number);
    side *sides = malloc(nc * sizeof *sides);
    h.v = malloc((size_t)n * sizeof *h.v), h.normal = malloc(nf * sizeof *h.normal),
    h.offset = malloc(nf * sizeof *h.offset);
    h.face_at = calloc(nf + 1, sizeof *h.face_at), h.face = malloc(nc * sizeof *h.face),
    h.edge = malloc(nc * sizeof *h.edge);
    carom_hull_fault fault = number && sides && h.v && h.normal && h.offset && h.face_at && h.face && h.edge
                                 ? CAROM_HULL_OK
                                 : CAROM_HULL_MEMORY;
    if (fault == CAROM_HULL_OK) {
        memset(number, -1, (size_t)n * sizeof *number);
        for (int i = 0; i < f->corners; ++i) number[f->corner[i]] = 0;
        for (int i = 0; i < n; ++i)
            if (number[i] == 0) number[i] = h.nv, memcpy(h.v[h.nv++], own[i], sizeof *h.v);
        for (int i = 0; i < f->n; ++i) {
            const face *one = &f->face[i];
            double depth = 0;
            for (int k = 0; k < f->corners; ++k) {
                const double below = one->offset - dot(one->normal, x[f->corner[k]]);
                depth = fmax(depth, below);
                if (below < -4 * eps) fault = CAROM_HULL_ROUGH; // beyond what points of one face may stand out
            }
            if (depth < CAROM_HULL_THINNEST) fault = CAROM_HULL_FLAT;
            h.face_at[i + 1] = h.face_at[i] + one->m;
            h.offset[i] = 0;
            memcpy(h.normal[i], one->normal, sizeof *h.normal);
            for (int k = 0; k < one->m; ++k)
                h.face[h.face_at[i] + k] = number[one->corner[k]],
                                      h.offset[i] += dot(one->normal, own[one->corner[k]]) / one->m;
            if (fault != CAROM_HULL_OK) break;
        }
    }
    if (fault == CAROM_HULL_OK && !find_edges(f, sides, &h)) fault = CAROM_HULL_ROUGH;
    for (int i = 0; fault == CAROM_HULL_OK && i < 2 * h.ne; ++i) h.edge[i / 2][i % 2] = number[h.edge[i / 2][i % 2]];
    if (fault == CAROM_HULL_OK && h.nv - h.ne + h.nf != 2) fault = CAROM_HULL_ROUGH; // Euler
    void *memory = fault == CAROM_HULL_OK ? malloc(carom_hull_size(&h)) : NULL;
    if (memory)
        *hull = carom_hull_copy(&h, memory);
    else if (fault == CAROM_HULL_OK)
        fault = CAROM_HULL_MEMORY;
    free(number), free(sides), free(h.v), free(h.normal), free(h.offset), free(h.face_at), free(h.face), free(h.edge);
    return fault;
}

// The tolerance grows until faces make a polyhedron: numbers of few digits.
static carom_hull_fault make(const double (*x)[3], const double (*own)[3], int n, carom_hull *hull) {
    carom_hull_fault fault = CAROM_HULL_ROUGH;
    for (double eps = EXACT; eps <= ROUGH && fault == CAROM_HULL_ROUGH; eps *= 10) {
        faces f;
        if (!find_faces(x, n, eps, &f)) continue;
        fault = build(x, own, n, &f, eps, hull);
        free_faces(&f);
    }
    return fault;
}

// -- distance ---------------------------------------------------------------------------------------------------------

static double to_segment(const double *p, const double *a, const double *b) {
    double d[3], y[3];
    minus(b, a, d), minus(p, a, y);
    const double size = dot(d, d), s = size > 0 ? fmin(fmax(dot(d, y) / size, 0), 1) : 0;
    for (int k = 0; k < 3; ++k) y[k] -= s * d[k];
    return sqrt(dot(y, y));
}

// Of a point from a hull; 0 inside.
static double distance(const carom_hull *h, const double *p) {
    double least = INFINITY;
    bool outside = false;
    for (int i = 0; i < h->nf; ++i) {
        const double above = dot(h->normal[i], p) - h->offset[i];
        if (!(above > 0)) continue;
        outside = true;
        if (above >= least) continue;
        const int m = h->face_at[i + 1] - h->face_at[i], *c = h->face + h->face_at[i];
        bool inside = true;
        double way = INFINITY;
        for (int k = 0; k < m; ++k) {
            const double *a = h->v[c[k]], *b = h->v[c[(k + 1) % m]];
            double d[3], y[3], out[3];
            minus(b, a, d), minus(p, a, y), cross(d, h->normal[i], out);
            if (dot(out, y) > 0) inside = false, way = fmin(way, to_segment(p, a, b));
        }
        least = fmin(least, inside ? above : way);
    }
    return outside ? least : 0;
}

static double error_of(const carom_hull *h, const double (*x)[3], int n) {
    double most = 0;
    for (int i = 0; i < n; ++i) most = fmax(most, distance(h, x[i]));
    return most;
}

// -- fewer corners ----------------------------------------------------------------------------------------------------

typedef struct far {
    double by;
    int point;
} far;

static int by_distance(const void *p, const void *q) {
    const far *a = p, *b = q;
    return a->by != b->by ? (a->by > b->by ? -1 : 1) : a->point - b->point;
}

// Four points that are far from each other.
static void tetrahedron(const double (*x)[3], int n, int *list) {
    for (int k = 0; k < 4; ++k) {
        double best = -1;
        list[k] = 0;
        for (int i = 0; i < n; ++i) {
            double a[3], b[3], c[3], y[3], size = -x[i][0];
            if (k > 0) minus(x[i], x[list[0]], y), size = dot(y, y);
            if (k > 1) minus(x[list[1]], x[list[0]], a), cross(a, y, b), size = dot(b, b);
            if (k > 2) minus(x[list[2]], x[list[0]], b), cross(a, b, c), size = fabs(dot(c, y));
            if (i == 0 || size > best) best = size, list[k] = i;
        }
    }
}

// Of points outside of the hull of the first `count` of the list, the farthest of each face; the farthest ones are
// added.  How many are in the list then.
static int add_farthest(const double (*x)[3], int n, const double (*chosen)[3], int *list, int count, int most,
                        far *farthest) {
    faces f;
    int found = 0;
    if (!find_faces(chosen, count, 0, &f)) return -1;
    for (int i = 0; i < f.n; ++i) farthest[i] = (far){INSIDE, -1};
    for (int i = 0; i < n; ++i) {
        int at = -1;
        double by = 0;
        for (int k = 0; k < f.n; ++k) {
            const double above = dot(f.face[k].normal, x[i]) - f.face[k].offset;
            if (above > by) by = above, at = k;
        }
        if (at >= 0 && by > farthest[at].by) farthest[at] = (far){by, i};
    }
    for (int i = 0; i < f.n; ++i)
        if (farthest[i].point >= 0) farthest[found++] = farthest[i];
    free_faces(&f);
    qsort(farthest, (size_t)found, sizeof *farthest, by_distance);
    const int more = fmin(fmin(found, most - count), count > 8 ? count / 4 : 1);
    for (int i = 0; i < more; ++i) list[count + i] = farthest[i].point;
    return count + more;
}

// The hull of `most` of these points, which all are corners.
static carom_hull_fault simplify(const double (*x)[3], const double (*own)[3], int n, int most, carom_hull *hull) {
    double(*chosen)[3] = malloc((size_t)most * sizeof *chosen),
    (*chosen_own)[3] = malloc((size_t)most * sizeof *chosen_own);
    int *list = malloc((size_t)most * sizeof *list), count = 4;
    far *farthest = malloc(4 * (size_t)most * sizeof *farthest);
    carom_hull_fault fault = CAROM_HULL_MEMORY;
    if (chosen && chosen_own && list && farthest) {
        tetrahedron(x, n, list);
        for (int known = 0;;) {
            for (int i = known; i < count; ++i)
                memcpy(chosen[i], x[list[i]], sizeof *chosen), memcpy(chosen_own[i], own[list[i]], sizeof *chosen_own);
            known = count;
            count = count == most ? count : add_farthest(x, n, (const double(*)[3])chosen, list, count, most, farthest);
            if (count <= known) break;
        }
        fault = count < 0 ? CAROM_HULL_ROUGH
                          : make((const double(*)[3])chosen, (const double(*)[3])chosen_own, count, hull);
    }
    free(chosen), free(chosen_own), free(list), free(farthest);
    return fault;
}

static carom_hull_fault many(const double (*points)[3], int n, int most, carom_hull *hull, double *error) {
    double low[3], high[3], size = 0;
    memcpy(low, points[0], sizeof low), memcpy(high, low, sizeof high);
    for (int i = 0; i < 3 * n; ++i) {
        const double y = points[i / 3][i % 3];
        low[i % 3] = fmin(low[i % 3], y), high[i % 3] = fmax(high[i % 3], y);
    }
    for (int k = 0; k < 3; ++k) size = fmax(size, high[k] - low[k]);
    if (!(size > 0 && size < CAROM_HULL_LARGEST)) return CAROM_HULL_FLAT;
    double(*x)[3] = malloc((size_t)n * sizeof *x);
    if (!x) return CAROM_HULL_MEMORY;
    for (int i = 0; i < 3 * n; ++i) x[i / 3][i % 3] = (points[i / 3][i % 3] - (low[i % 3] + high[i % 3]) / 2) / size;
    faces f;
    carom_hull_fault fault = CAROM_HULL_FLAT;          // what Qhull makes no hull of, is flat
    if (find_faces((const double(*)[3])x, n, 0, &f)) { // its corners alone count from here on
        double(*own)[3] = malloc((size_t)n * sizeof *own);
        bool *used = calloc((size_t)n, sizeof *used);
        int m = 0;
        for (int i = 0; own && used && i < f.corners; ++i) used[f.corner[i]] = true;
        for (int i = 0; own && used && i < n; ++i)
            if (used[i]) memcpy(own[m], points[i], sizeof *own), memmove(x[m++], x[i], sizeof *x);
        fault = CAROM_HULL_MEMORY;
        if (own && used) {
            const double(*at)[3] = (const double(*)[3])x, (*from)[3] = (const double(*)[3])own;
            fault = make(at, from, m, hull);
            if (fault == CAROM_HULL_OK && hull->nv > most)
                carom_hull_free(hull), fault = simplify(at, from, m, most, hull);
            if (fault == CAROM_HULL_OK) *error = error_of(hull, from, m);
        }
        free(own), free(used);
        free_faces(&f);
    }
    free(x);
    return fault;
}
#endif

double carom_cloud_volume(const double (*points)[3], int n) {
    double sum = 0;
    (void)points;
#ifdef CAROM_HAS_QHULL
    faces f;
    if (n < 4 || !find_faces(points, n, 0, &f)) return 0;
    const double *o = points[f.corner[0]];
    for (int i = 0; i < f.n; ++i)
        for (int k = 1; k + 1 < f.face[i].m; ++k) {
            double a[3], b[3], c[3], d[3];
            minus(points[f.face[i].corner[0]], o, a), minus(points[f.face[i].corner[k]], o, b),
                minus(points[f.face[i].corner[k + 1]], o, c), cross(b, c, d);
            sum += dot(a, d) / 6;
        }
    free_faces(&f);
#else
    (void)n;
#endif
    return fmax(sum, 0);
}

carom_hull_fault carom_cloud_hull(const double (*points)[3], int n, int most, carom_hull *hull, double *error) {
    *error = 0;
#ifdef CAROM_HAS_QHULL
    carom_hull_fault fault = n > WRAPPED ? CAROM_HULL_LARGE : carom_hull_make(points, n, hull);
    if (fault == CAROM_HULL_OK && hull->nv > most) carom_hull_free(hull), fault = CAROM_HULL_LARGE;
    return (fault == CAROM_HULL_LARGE || fault == CAROM_HULL_ROUGH || fault == CAROM_HULL_FLAT) && n >= 4
               ? many(points, n, most, hull, error)
               : fault;
#else
    carom_hull_fault fault = carom_hull_make(points, n, hull);
    if (fault == CAROM_HULL_OK && hull->nv > most) carom_hull_free(hull), fault = CAROM_HULL_LARGE;
    return fault;
#endif
}

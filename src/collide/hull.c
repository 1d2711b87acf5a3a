// hull.c: the convex hull of points by gift wrapping: a plane is turned about every edge of a face until it meets the
// next points.
//
// All points in that plane, within a tolerance, make one face, however many they are: so the faces of a brick are its
// six, and points that a file holds twice or in the middle of a face do no harm.  The order of points decides the order
// of corners and faces.
#include "collide/hull.h"
#include "base/three.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double EQUAL = 1e-9; // rad: planes turned by less contain the same points, and rounding turns them by less
static const double TOLERANCE = 1e-6; // of the size

typedef struct wrapping {
    const double (*x)[3];
    int n;
    double eps, size;
    int *chosen; // n: points of one face
    int nf, nc, ne;
    double (*normal)[3];
    double *offset;
    int *at, *corner;
    int (*edge)[4];
} wrapping;

// Euler: at most 3n - 6 edges, 2n - 4 faces
enum { MOST_EDGES = 3 * CAROM_HULL_CORNERS, MOST_FACES = 2 * CAROM_HULL_CORNERS };

// The plane with normal n through p is turned about the line along d, towards t = d x n, until it meets a point; -1:
// there is none.
static int turn(const wrapping *w, double *n, const double *p, const double *d) {
    double t[3], c = 0, s = 0, best = INFINITY, far = 0;
    int found = -1;
    cross(d, n, t);
    for (int i = 0; i < w->n; ++i) {
        double y[3];
        minus(w->x[i], p, y);
        const double u = dot(t, y), h = fmax(-dot(n, y), 0), size = hypot(u, h);
        if (size <= w->eps) continue;
        const double angle = atan2(h, u);
        // of equal ones the farthest is the most exact
        if (angle > best + EQUAL || (angle > best - EQUAL && size <= far)) continue;
        best = fmin(best, angle), far = size, found = i, c = u / size, s = h / size;
    }
    for (int i = 0; i < 3; ++i) n[i] = n[i] * c + t[i] * s;
    unit(n);
    return found;
}

// The corners of the polygon that the chosen points make in the plane with normal n, counterclockwise; how many.
static int outline(const wrapping *w, const double *n, int count, int *corner) {
    double u[3] = {0}, v[3];
    const int k = fabs(n[0]) < 0.6 ? 0 : 1;
    for (int i = 0; i < 3; ++i) u[i] = (i == k) - n[k] * n[i];
    unit(u);
    cross(n, u, v);
    int first = w->chosen[0], now, m = 0;
    for (int i = 1; i < count; ++i) {
        const double *x = w->x[w->chosen[i]], *y = w->x[first], a = dot(u, x) - dot(u, y);
        if (a < -w->eps || (a <= w->eps && dot(v, x) < dot(v, y))) first = w->chosen[i];
    }
    now = first;
    do { // from each corner on to the point that has all others on its left
        if (m == CAROM_HULL_CORNERS) return -1;
        corner[m++] = now;
        int next = -1;
        double to[3], size = 0;
        for (int i = 0; i < count; ++i) {
            double y[3], z[3];
            minus(w->x[w->chosen[i]], w->x[now], y);
            const double length = sqrt(dot(y, y));
            if (length <= w->eps) continue;
            if (next >= 0) {
                cross(to, y, z);
                const double side = dot(n, z) / size; // the point's way to the left of the line to `next`
                if (side > w->eps || (side >= -w->eps && length <= size)) continue;
            }
            next = w->chosen[i], size = length, memcpy(to, y, sizeof y);
        }
        if (next < 0) return -1;
        now = next;
    } while (now != first);
    return m;
}

static int find_edge(const wrapping *w, int a, int b) {
    for (int i = 0; i < w->ne; ++i)
        if ((w->edge[i][0] == a && w->edge[i][1] == b) || (w->edge[i][0] == b && w->edge[i][1] == a)) return i;
    return -1;
}

// The face in the plane through p with about this normal.
static carom_hull_fault add_face(wrapping *w, double *n, const double *p) {
    int count = 0, corner[CAROM_HULL_CORNERS];
    for (int i = 0; i < w->n; ++i) {
        double y[3];
        minus(w->x[i], p, y);
        if (fabs(dot(n, y)) <= w->eps) w->chosen[count++] = i;
    }
    const int m = count ? outline(w, n, count, corner) : 0;
    if (m < 0) return CAROM_HULL_LARGE;
    if (m < 3) return CAROM_HULL_ROUGH;
    if (w->nf == MOST_FACES || w->nc + m > 2 * MOST_EDGES || w->ne + m > MOST_EDGES) return CAROM_HULL_LARGE;
    double sum[3] = {0}, offset = 0, depth = 0;
    for (int i = 0; i < m; ++i) { // Newell's normal: that of the whole polygon
        double a[3], b[3], c[3];
        minus(w->x[corner[i]], w->x[corner[0]], a), minus(w->x[corner[(i + 1) % m]], w->x[corner[0]], b),
            cross(a, b, c);
        for (int j = 0; j < 3; ++j) sum[j] += c[j];
    }
    if (!(unit(sum) > 0) || dot(sum, n) < 0.5) return CAROM_HULL_ROUGH; // more than 60 degrees off: no plane face
    for (int i = 0; i < m; ++i) offset += dot(sum, w->x[corner[i]]) / m;
    for (int i = 0; i < w->n; ++i) {
        const double h = offset - dot(sum, w->x[i]);
        if (h < -4 * w->eps) return CAROM_HULL_ROUGH; // beyond what points of one face may stand out
        depth = fmax(depth, h);
    }
    if (depth < CAROM_HULL_THINNEST * w->size) return CAROM_HULL_FLAT;
    for (int i = 0; i < m; ++i) {
        const int a = corner[i], b = corner[(i + 1) % m], e = find_edge(w, a, b);
        if (e < 0) memcpy(w->edge[w->ne++], (int[4]){a, b, w->nf, -1}, 4 * sizeof(int));
        else if (w->edge[e][3] >= 0 || w->edge[e][0] == a)
            return CAROM_HULL_ROUGH; // a third face, or one that lies the wrong way
        else w->edge[e][3] = w->nf;
    }
    memcpy(w->normal[w->nf], sum, sizeof sum);
    w->offset[w->nf] = offset;
    memcpy(w->corner + w->nc, corner, (size_t)m * sizeof *corner);
    w->at[++w->nf] = w->nc += m;
    return CAROM_HULL_OK;
}

static carom_hull_fault wrap(wrapping *w) {
    int low = 0;
    for (int i = 1; i < w->n; ++i)
        for (int k = 0; k < 3; ++k)
            if (w->x[i][k] != w->x[low][k]) {
                if (w->x[i][k] < w->x[low][k]) low = i;
                break;
            }
    double n[3] = {-1, 0, 0}, d[3] = {0, 0, 1};
    const double *p = w->x[low];
    const int other = turn(w, n, p, d);
    if (other < 0) return CAROM_HULL_FLAT;
    minus(w->x[other], p, d);
    const double along = dot(n, d);
    for (int i = 0; i < 3; ++i) d[i] -= along * n[i];
    unit(d);
    if (turn(w, n, p, d) < 0) return CAROM_HULL_FLAT;
    carom_hull_fault fault = add_face(w, n, p);
    for (int e = 0; e < w->ne && fault == CAROM_HULL_OK; ++e) {
        if (w->edge[e][3] >= 0) continue;
        const double *a = w->x[w->edge[e][0]];
        memcpy(n, w->normal[w->edge[e][2]], sizeof n);
        minus(w->x[w->edge[e][1]], a, d);
        unit(d);
        if (turn(w, n, a, d) < 0) return CAROM_HULL_FLAT;
        fault = add_face(w, n, a);
        if (fault == CAROM_HULL_OK && w->edge[e][3] < 0) return CAROM_HULL_ROUGH;
    }
    return fault;
}

// -- memory -----------------------------------------------------------------------------------------------------------

static size_t layout(carom_hull *h, int corners, unsigned char *at) {
    const size_t v = 3 * (size_t)h->nv * sizeof(double), f = (size_t)h->nf;
    h->v = (void *)at;
    h->normal = (void *)(at + v);
    h->offset = (void *)(at + v + 3 * f * sizeof(double));
    h->face_at = (void *)(at + v + 4 * f * sizeof(double));
    h->face = h->face_at + f + 1;
    h->edge = (void *)(h->face + corners);
    return v + 4 * f * sizeof(double) + (f + 1 + (size_t)corners + 4 * (size_t)h->ne) * sizeof(int);
}

size_t carom_hull_size(const carom_hull *hull) {
    const size_t corners = hull->nf ? (size_t)hull->face_at[hull->nf] : 0;
    return (3 * (size_t)hull->nv + 4 * (size_t)hull->nf) * sizeof(double) +
           ((size_t)hull->nf + 1 + corners + 4 * (size_t)hull->ne) * sizeof(int);
}

carom_hull carom_hull_copy(const carom_hull *hull, void *memory) {
    carom_hull h = *hull;
    const int corners = hull->nf ? hull->face_at[hull->nf] : 0;
    layout(&h, corners, memory);
    if (h.nv) memcpy(h.v, hull->v, (size_t)h.nv * sizeof *h.v);
    for (int f = 0; f < h.nf; ++f)
        memcpy(h.normal[f], hull->normal[f], sizeof *h.normal), h.offset[f] = hull->offset[f];
    for (int f = 0; f <= h.nf; ++f) h.face_at[f] = h.nf ? hull->face_at[f] : 0;
    if (corners) memcpy(h.face, hull->face, (size_t)corners * sizeof *h.face);
    if (h.ne) memcpy(h.edge, hull->edge, (size_t)h.ne * sizeof *h.edge);
    return h;
}

void carom_hull_free(carom_hull *hull) { free(hull->v), hull->v = NULL; }

// Corners in the order of points; those that are in no face are none.
static carom_hull_fault keep(const wrapping *w, carom_hull *hull) {
    int *number = calloc((size_t)w->n, sizeof *number);
    *hull = (carom_hull){.nf = w->nf, .ne = w->ne};
    if (!number) return CAROM_HULL_MEMORY;
    for (int i = 0; i < w->nc; ++i) number[w->corner[i]] = 1;
    for (int i = 0; i < w->n; ++i) number[i] = number[i] ? hull->nv++ : -1;
    carom_hull sizes = *hull;
    unsigned char *memory = NULL;
    if (hull->nv <= CAROM_HULL_CORNERS) {
        sizes.face_at = w->at;
        memory = malloc(carom_hull_size(&sizes));
    }
    if (memory) {
        layout(hull, w->nc, memory);
        for (int i = 0; i < w->n; ++i)
            if (number[i] >= 0) memcpy(hull->v[number[i]], w->x[i], sizeof *hull->v);
        memcpy(hull->normal, w->normal, (size_t)w->nf * sizeof *hull->normal);
        memcpy(hull->offset, w->offset, (size_t)w->nf * sizeof *hull->offset);
        memcpy(hull->face_at, w->at, ((size_t)w->nf + 1) * sizeof *hull->face_at);
        for (int i = 0; i < w->nc; ++i) hull->face[i] = number[w->corner[i]];
        memcpy(hull->edge, w->edge, (size_t)w->ne * sizeof *hull->edge);
        for (int i = 0; i < 2 * w->ne; ++i) hull->edge[i / 2][i % 2] = number[hull->edge[i / 2][i % 2]];
    }
    free(number);
    if (hull->nv > CAROM_HULL_CORNERS) return CAROM_HULL_LARGE;
    // Euler
    return !memory ? CAROM_HULL_MEMORY : hull->nv - hull->ne + hull->nf == 2 ? CAROM_HULL_OK : CAROM_HULL_ROUGH;
}

carom_hull_fault carom_hull_make(const double (*points)[3], int n, carom_hull *hull) {
    *hull = (carom_hull){0};
    if (n > CAROM_HULL_POINTS) return CAROM_HULL_LARGE;
    if (n < 4) return CAROM_HULL_FLAT;
    double size = 0;
    for (int i = 1; i < n; ++i)
        for (int k = 0; k < 3; ++k) size = fmax(size, fabs(points[i][k] - points[0][k]));
    if (!(size > 0 && size < CAROM_HULL_LARGEST)) return CAROM_HULL_FLAT;
    wrapping w = {.x = points, .n = n, .eps = TOLERANCE * size, .size = size};
    w.chosen = calloc((size_t)n, sizeof *w.chosen);
    w.normal = calloc(MOST_FACES, sizeof *w.normal);
    w.offset = calloc(MOST_FACES, sizeof *w.offset);
    w.at = calloc(MOST_FACES + 1, sizeof *w.at);
    w.corner = calloc(2 * MOST_EDGES, sizeof *w.corner);
    w.edge = calloc(MOST_EDGES, sizeof *w.edge);
    const bool room = w.chosen && w.normal && w.offset && w.at && w.corner && w.edge;
    carom_hull_fault fault = room ? wrap(&w) : CAROM_HULL_MEMORY;
    if (fault == CAROM_HULL_OK) fault = keep(&w, hull);
    if (fault != CAROM_HULL_OK) carom_hull_free(hull);
    free(w.chosen), free(w.normal), free(w.offset), free(w.at), free(w.corner), free(w.edge);
    return fault;
}

// -- volume -----------------------------------------------------------------------------------------------------------

// Sums over tetrahedra from corner 0 to triangles (a, b, c) of faces, with d = det(a, b, c): volume d/6, first moments
// d (a + b + c)/24, second ones d/120 (s s' + a a' + b b' + c c'), s = a + b + c.
double carom_hull_volume(const carom_hull *hull, double *centre, double *second) {
    static const int I[6] = {0, 1, 2, 0, 0, 1}, J[6] = {0, 1, 2, 1, 2, 2};
    double volume = 0, first[3] = {0}, sum[6] = {0};
    for (int f = 0; f < hull->nf; ++f)
        for (int k = hull->face_at[f] + 2; k < hull->face_at[f + 1]; ++k) {
            double x[3][3], n[3];
            const int at[3] = {hull->face[hull->face_at[f]], hull->face[k - 1], hull->face[k]};
            for (int i = 0; i < 3; ++i) minus(hull->v[at[i]], hull->v[0], x[i]);
            cross(x[1], x[2], n);
            const double d = dot(x[0], n);
            volume += d / 6;
            for (int i = 0; i < 3; ++i) first[i] += d * (x[0][i] + x[1][i] + x[2][i]) / 24;
            for (int m = 0; m < 6; ++m) {
                const int i = I[m], j = J[m];
                double s = (x[0][i] + x[1][i] + x[2][i]) * (x[0][j] + x[1][j] + x[2][j]);
                for (int c = 0; c < 3; ++c) s += x[c][i] * x[c][j];
                sum[m] += d * s / 120;
            }
        }
    for (int i = 0; i < 3; ++i) first[i] /= volume;
    for (int m = 0; m < 6; ++m) second[m] = sum[m] - volume * first[I[m]] * first[J[m]];
    for (int i = 0; i < 3; ++i) centre[i] = hull->v[0][i] + first[i];
    return volume;
}

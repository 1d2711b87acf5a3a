// vtk_mesh.c: see vtk_mesh.h.  A ball, a cylinder or a capsule is a profile (r, z) turned about its axis.
#include "base/tolerance.h"
#include "cli/vtk_mesh.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERTEX = 1, LINE = 4, TRIANGLE = 5, POLYGON = 7 }; // numbers of the format
enum { MOST_SIDES = 48 }; // twice as many as vtk.c uses

// -- memory --------------------------------------------------------------------------------------------------

static bool grow(vtk_mesh *m, void **list, int count, int room, size_t size) {
    void *more = count <= room ? *list : realloc(*list, (size_t)count * 2 * size);
    if (more) *list = more;
    m->failed = m->failed || !more;
    return more != NULL;
}

static int add_point(vtk_mesh *m, const double *p) {
    if (!grow(m, (void **)&m->point, m->points + 1, m->point_room, sizeof *m->point)) return 0;
    if (m->points == m->point_room) m->point_room = 2 * (m->points + 1);
    memcpy(m->point[m->points], p, sizeof *m->point);
    return m->points++;
}

static void add_cell(vtk_mesh *m, uint8_t type, int index, const int *corner, int n) {
    const int c = m->cells + 1;
    if (!grow(m, (void **)&m->corner, m->corners + n, m->corner_room, sizeof *m->corner)) return;
    if (m->corners + n > m->corner_room) m->corner_room = 2 * (m->corners + n);
    if (!grow(m, (void **)&m->end, c, m->cell_room, sizeof *m->end) ||
        !grow(m, (void **)&m->shape, c, m->cell_room, sizeof *m->shape) ||
        !grow(m, (void **)&m->type, c, m->cell_room, sizeof *m->type))
        return;
    if (c > m->cell_room) m->cell_room = 2 * c;
    for (int i = 0; i < n; ++i) m->corner[m->corners++] = corner[i];
    m->end[m->cells] = m->corners;
    m->shape[m->cells] = index;
    m->type[m->cells++] = type;
}

static void triangle(vtk_mesh *m, int index, int a, int b, int c) {
    add_cell(m, TRIANGLE, index, (const int[]){a, b, c}, 3);
}

// The points from `first` on as one cell.
static void add_run(vtk_mesh *m, uint8_t type, int index, int first) {
    const int n = m->points - first;
    int *corner = m->failed ? NULL : malloc((size_t)n * sizeof *corner);
    m->failed = m->failed || !corner;
    for (int i = 0; corner && i < n; ++i) corner[i] = first + i;
    if (corner) add_cell(m, type, index, corner, n);
    free(corner);
}

void vtk_mesh_clear(vtk_mesh *m) { m->points = m->corners = m->cells = 0; }

void vtk_mesh_free(vtk_mesh *m) {
    free(m->point);
    free(m->corner);
    free(m->end);
    free(m->shape);
    free(m->type);
}

// -- places ----------------------------------------------------------------------------------------------------

typedef struct frame { double at[3], R[3][3]; } frame;

static int local_point(vtk_mesh *m, const frame *f, double x, double y, double z) {
    double p[3];
    for (int i = 0; i < 3; ++i) p[i] = f->at[i] + f->R[i][0] * x + f->R[i][1] * y + f->R[i][2] * z;
    return add_point(m, p);
}

static void quaternion(double w, double x, double y, double z, double R[3][3]) {
    const double e[3] = {x, y, z}, s = 2 / fmax(w * w + x * x + y * y + z * z, CAROM_NOT_ZERO);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const int k = 3 - i - j;
            const double turn = i == j ? 0 : w * e[k] * ((j - i + 3) % 3 == 1 ? -1 : 1);
            R[i][j] = (i == j) + s * (e[i] * e[j] + turn - (i == j ? x * x + y * y + z * z : 0));
        }
}

// From the point and the turn of a shape.
static frame frame_of(const carom_drawn *s, int dim, const double *at, const double *turn) {
    frame f = {{at[0], at[1], dim == 3 ? at[2] : 0}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    if (s->rotation == 4) quaternion(turn[0], turn[1], turn[2], turn[3], f.R);
    if (s->rotation == 1) quaternion(cos(turn[0] / 2), 0, 0, sin(turn[0] / 2), f.R);
    if (s->rotation == 3) {
        const double angle = hypot(hypot(turn[0], turn[1]), turn[2]), k = angle > 0 ? sin(angle / 2) / angle : 0.5;
        quaternion(cos(angle / 2), k * turn[0], k * turn[1], k * turn[2], f.R);
    }
    return f;
}

// z along b - a; x as near as possible to an axis of `own`, the axes of the shape: the one that `like` has farthest
// from z.
static frame frame_between(const double *a, const double *b, const frame *own, const double *like_a,
                           const double *like_b, const frame *like, double *length) {
    frame f = {{(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2}, {{0}}};
    double z[3], x[3], along[3] = {0}, way = 0, size = 0;
    int least = 0;
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k) along[i] += like->R[k][i] * (like_b[k] - like_a[k]);
    for (int i = 1; i < 3; ++i)
        if (fabs(along[i]) < fabs(along[least])) least = i;
    *length = hypot(hypot(b[0] - a[0], b[1] - a[1]), b[2] - a[2]);
    for (int i = 0; i < 3; ++i) z[i] = *length > 0 ? (b[i] - a[i]) / *length : own->R[i][(least + 1) % 3];
    for (int i = 0; i < 3; ++i) way += own->R[i][least] * z[i];
    for (int i = 0; i < 3; ++i) x[i] = own->R[i][least] - way * z[i], size += x[i] * x[i];
    for (int i = 0; i < 3; ++i) x[i] /= sqrt(size);
    for (int i = 0; i < 3; ++i) {
        f.R[i][0] = x[i];
        f.R[i][1] = z[(i + 1) % 3] * x[(i + 2) % 3] - z[(i + 2) % 3] * x[(i + 1) % 3];
        f.R[i][2] = z[i];
    }
    return f;
}

// -- solids ----------------------------------------------------------------------------------------------------

// The profile from the top (r = 0) to the bottom (r = 0), in between r > 0; x and y of the circles are scaled.
static void revolve(vtk_mesh *m, int index, const frame *f, const double (*profile)[2], int n, double sx, double sy) {
    const int sides = m->sides;
    int above = local_point(m, f, 0, 0, profile[0][1]);
    for (int k = 1; k < n; ++k) {
        const int here = m->points;
        const bool last = k == n - 1;
        for (int i = 0; i < (last ? 1 : sides); ++i) {
            const double phi = 2 * acos(-1.0) * i / sides;
            local_point(m, f, sx * profile[k][0] * cos(phi), sy * profile[k][0] * sin(phi), profile[k][1]);
        }
        for (int i = 0; i < sides; ++i) {
            const int j = (i + 1) % sides;
            if (k == 1) triangle(m, index, above, here + i, here + j);
            else if (last) triangle(m, index, above + i, here, above + j);
            else triangle(m, index, above + i, here + i, above + j), triangle(m, index, here + i, here + j, above + j);
        }
        above = here;
    }
}

// A ball of radius r whose halves are a length apart.
static void ball(vtk_mesh *m, int index, const frame *f, double r, double apart, double sx, double sy) {
    double profile[MOST_SIDES + 2][2] = {{0}};
    const int rings = m->sides / 2;
    int n = 0;
    for (int k = 0; k <= rings; ++k) {
        const double theta = acos(-1.0) * k / rings, z = r * cos(theta),
                     side = k == 0 || k == rings ? 0 : r * sin(theta);
        if (2 * k <= rings) profile[n][0] = side, profile[n++][1] = z + apart / 2;
        if (2 * k > rings || (2 * k == rings && apart > 0)) profile[n][0] = side, profile[n++][1] = z - apart / 2;
    }
    revolve(m, index, f, (const double(*)[2])profile, n, sx, sy);
}

static void box(vtk_mesh *m, int index, const frame *f, const double *edge) {
    static const int face[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    const int first = m->points;
    for (int i = 0; i < 8; ++i)
        local_point(m, f, (i & 1 ? 0.5 : -0.5) * edge[0], (i & 2 ? 0.5 : -0.5) * edge[1],
                    (i & 4 ? 0.5 : -0.5) * edge[2]);
    for (int k = 0; k < 6; ++k) {
        const int *c = face[k];
        triangle(m, index, first + c[0], first + c[1], first + c[2]);
        triangle(m, index, first + c[0], first + c[2], first + c[3]);
    }
}

static void convex(vtk_mesh *m, int index, const frame *f, const carom_hull *h) {
    const int first = m->points;
    for (int i = 0; i < h->nv; ++i) local_point(m, f, h->v[i][0], h->v[i][1], h->v[i][2]);
    for (int k = 0; k < h->nf; ++k)
        for (int i = h->face_at[k] + 2; i < h->face_at[k + 1]; ++i)
            triangle(m, index, first + h->face[h->face_at[k]], first + h->face[i - 1], first + h->face[i]);
}

// Heights over a grid: nx, ny, x, y, dx, dy, heights by rows.
static void surface(vtk_mesh *m, int index, const frame *f, const double *x) {
    const int nx = (int)x[0], ny = (int)x[1], first = m->points;
    for (int j = 0; j < ny; ++j)
        for (int i = 0; i < nx; ++i) local_point(m, f, x[2] + i * x[4], x[3] + j * x[5], x[6 + j * nx + i]);
    for (int j = 0; j + 1 < ny; ++j)
        for (int i = 0; i + 1 < nx; ++i) {
            const int a = first + j * nx + i;
            triangle(m, index, a, a + 1, a + nx + 1);
            triangle(m, index, a, a + nx + 1, a + nx);
        }
}

// -- in the plane ------------------------------------------------------------------------------------------------

static void disc(vtk_mesh *m, int index, const frame *f, double r) {
    const int first = m->points;
    for (int i = 0; i < m->sides; ++i)
        local_point(m, f, r * cos(2 * acos(-1.0) * i / m->sides), r * sin(2 * acos(-1.0) * i / m->sides), 0);
    add_run(m, POLYGON, index, first);
}

// A bar with round ends.
static void stadium(vtk_mesh *m, int index, const double *a, const double *b, double r) {
    const double angle = atan2(b[1] - a[1], b[0] - a[0]), pi = acos(-1.0);
    const int first = m->points, half = m->sides / 2;
    for (int end = 0; end < 2; ++end)
        for (int i = 0; i <= half; ++i) {
            const double phi = angle + pi * (0.5 + end) + pi * i / half;
            const double *c = end ? b : a;
            add_point(m, (const double[]){c[0] + r * cos(phi), c[1] + r * sin(phi), 0});
        }
    add_run(m, POLYGON, index, first);
}

// -- one shape ---------------------------------------------------------------------------------------------------

void vtk_mesh_vertex(vtk_mesh *m, const double *p, int index) {
    const int k = add_point(m, p);
    add_cell(m, VERTEX, index, &k, 1);
}

static void lined(vtk_mesh *m, const carom_drawn *s, int index, int dim, const double *x, const double *like) {
    const double *p = x + s->sizes, *q = like + s->sizes;
    const int first = m->points;
    if (s->figure == CAROM_SEGMENT && s->points == 2 && s->sizes == 1 && x[0] > 0) {
        double length;
        if (dim == 2) {
            stadium(m, index, p, p + 2, x[0] / 2);
        } else {
            const frame own = frame_of(s, dim, p, p + 6), other = frame_of(s, dim, q, q + 6),
                        f = frame_between(p, p + 3, &own, q, q + 3, &other, &length);
            ball(m, index, &f, x[0] / 2, length, 1, 1);
        }
        return;
    }
    for (int i = 0; i < s->points; ++i)
        add_point(m, (const double[]){p[i * dim], p[i * dim + 1], dim == 3 ? p[i * dim + 2] : 0});
    if (s->figure == CAROM_POINT)
        for (int i = first; i < m->points && !m->failed; ++i) add_cell(m, VERTEX, index, &i, 1);
    else if (!m->failed) add_run(m, s->figure == CAROM_POLYGON ? POLYGON : LINE, index, first);
}

void vtk_mesh_add(vtk_mesh *m, const carom_drawn *s, int index, int dim, const double *x, const double *like,
                  const carom_hull *hull) {
    const double *at = x + s->sizes;
    const bool placed = s->figure >= CAROM_BOX && s->figure != CAROM_CONTACT_MARKER;
    const frame f = placed ? frame_of(s, dim, at, at + dim * s->points) : (frame){.at = {0}};
    switch (s->figure) {
    case CAROM_CONTACT_MARKER: return;
    case CAROM_POINT:
    case CAROM_SEGMENT:
    case CAROM_LINE:
    case CAROM_POLYGON:
    case CAROM_WALL:
    case CAROM_SPRING: lined(m, s, index, dim, x, like); return;
    case CAROM_BOX:
        if (dim == 3) {
            box(m, index, &f, x);
        } else {
            const int first = m->points;
            for (int i = 0; i < 4; ++i)
                local_point(m, &f, (i == 1 || i == 2 ? 0.5 : -0.5) * x[0], (i > 1 ? 0.5 : -0.5) * x[1], 0);
            add_run(m, POLYGON, index, first);
        }
        return;
    case CAROM_CIRCLE: disc(m, index, &f, x[0]); return;
    case CAROM_SPHERE: ball(m, index, &f, x[0], 0, 1, 1); return;
    case CAROM_ELLIPSOID: ball(m, index, &f, x[2], 0, x[0] / x[2], x[1] / x[2]); return;
    case CAROM_CYLINDER:
        revolve(m, index, &f, (const double[][2]){{0, x[1] / 2}, {x[0], x[1] / 2}, {x[0], -x[1] / 2}, {0, -x[1] / 2}},
                4, 1, 1);
        return;
    case CAROM_CONVEX: if (hull) convex(m, index, &f, hull); return;
    case CAROM_SURFACE: surface(m, index, &f, s->fixed); return;
    }
}

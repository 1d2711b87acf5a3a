// split.c: a concave solid as several convex ones.
//
// A piece is what of the solid is in a box.  Its hull is that of the surface in the box and of those corners of the box
// that are inside of the solid. Again and again the piece is cut whose hull has most that is not solid, by the best of
// some planes across x, y and z, until there are as many as allowed or all are convex.  The best plane is that with the
// largest
//     V(hull P) - V(hull P_1) - V(hull P_2) - V(hull P)/20 ((V_1 - V_2)/(V_1 + V_2))^2 (SHP-31)
// the volume that hulls lose, and even halves where none loses any: those of a ring.
// A corner c is inside where the solid angles of all triangles, as seen from it, have a sum above half of the whole, 2
// pi.           (SHP-32)
#include "base/three.h"
#include "derive/shapes/split.h"
#include "derive/shapes/cloud.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PLANES = 5, LINES = 48 }; // across each axis; lines along x, for volumes, in each direction across
static const double LEAST = 1e-3;  // of the volume of all hulls: less is not worth a cut
static const double HOLLOW = 0.03; // of the volume of one hull: volumes by lines are not more exact

/// Triangles; those of three equal corners are points that count for the hull, too.
typedef struct soup {
    int nv, nt, v_room, t_room;
    double (*v)[3];
    int (*t)[3];
} soup;

typedef struct piece {
    soup s;
    int part;                // of the mesh
    double low[3], high[3];  // the box; infinite where it was not cut
    double volume, gain, at; // of its hull; what hulls lose by the best cut, across `axis`
    double hollow;           // volume of its hull that is not solid
    int axis;
    bool looked_at;
} piece;

/// Where lines along x cross the surface of a part.
typedef struct crossing {
    int line;
    double x;
} crossing;
typedef struct lines {
    double low[2], cell[2]; // in y and z
    int n, room;
    crossing *at; // in the order of lines
} lines;

typedef struct splitting {
    const carom_mesh *mesh;
    piece one, other; // for trials
    lines *lines;     // of parts
    int *number;      // of points, in a cut
    int room;
} splitting;

static void free_soup(soup *s) { free(s->v), free(s->t), *s = (soup){0}; }

// Room for one more; false: no memory.
static bool more(void **list, int n, int *room, size_t size) {
    if (n < *room) return true;
    const int next = *room ? 2 * *room : 64;
    void *p = realloc(*list, (size_t)next * size);
    if (!p) return false;
    *list = p, *room = next;
    return true;
}

static int add_point(soup *s, const double *x) { // -1: no memory
    if (!more((void **)&s->v, s->nv, &s->v_room, sizeof *s->v)) return -1;
    memcpy(s->v[s->nv], x, sizeof *s->v);
    return s->nv++;
}

static bool add_triangle(soup *s, int a, int b, int c) {
    if (a < 0 || b < 0 || c < 0 || !more((void **)&s->t, s->nt, &s->t_room, sizeof *s->t)) return false;
    memcpy(s->t[s->nt++], (int[3]){a, b, c}, sizeof *s->t);
    return true;
}

// -- is a point inside? -----------------------------------------------------------------------------------------------

static bool inside(const carom_mesh *m, int part, const double *p) {
    double sum = 0;
    for (int k = m->part_at[part]; k < m->part_at[part + 1]; ++k) {
        double x[3][3], size[3];
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) x[i][j] = m->v[m->t[k][i]][j] - p[j];
            size[i] = sqrt(dot(x[i], x[i]));
        }
        const double volume = x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) +
                              x[0][1] * (x[1][2] * x[2][0] - x[1][0] * x[2][2]) +
                              x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0]);
        sum += 2 * atan2(volume, size[0] * size[1] * size[2] + dot(x[0], x[1]) * size[2] + dot(x[0], x[2]) * size[1] +
                                     dot(x[1], x[2]) * size[0]);
    }
    return fabs(sum) > 6.283185307179586; // either orientation
}

// -- how much is solid? -----------------------------------------------------------------------------------------------

static int by_line(const void *p, const void *q) {
    const crossing *a = p, *b = q;
    return a->line != b->line ? a->line - b->line : a->x < b->x ? -1 : a->x > b->x;
}

static int clamp(double k) { return k < 0 ? 0 : k > LINES - 1 ? LINES - 1 : (int)k; }

static bool draw_lines(const carom_mesh *m, int part, lines *l) {
    double high[2] = {-INFINITY, -INFINITY};
    l->low[0] = l->low[1] = INFINITY;
    for (int k = 3 * m->part_at[part]; k < 3 * m->part_at[part + 1]; ++k)
        for (int i = 0; i < 2; ++i)
            l->low[i] = fmin(l->low[i], m->v[m->t[k / 3][k % 3]][i + 1]),
            high[i] = fmax(high[i], m->v[m->t[k / 3][k % 3]][i + 1]);
    for (int i = 0; i < 2; ++i) l->cell[i] = (high[i] - l->low[i]) / LINES;
    if (!(l->cell[0] > 0 && l->cell[1] > 0)) return true;
    for (int k = m->part_at[part]; k < m->part_at[part + 1]; ++k) {
        const double *a = m->v[m->t[k][0]], *b = m->v[m->t[k][1]], *c = m->v[m->t[k][2]];
        const double area = (b[1] - a[1]) * (c[2] - a[2]) - (c[1] - a[1]) * (b[2] - a[2]);
        int from[2], to[2];
        for (int i = 0; i < 2; ++i) {
            from[i] = clamp((fmin(a[i + 1], fmin(b[i + 1], c[i + 1])) - l->low[i]) / l->cell[i] - 1);
            to[i] = clamp((fmax(a[i + 1], fmax(b[i + 1], c[i + 1])) - l->low[i]) / l->cell[i]);
        }
        for (int i = from[0]; i <= to[0] && area != 0; ++i)
            for (int j = from[1]; j <= to[1]; ++j) {
                const double y = l->low[0] + (i + 0.5) * l->cell[0], z = l->low[1] + (j + 0.5) * l->cell[1];
                const double u = ((b[1] - y) * (c[2] - z) - (c[1] - y) * (b[2] - z)) / area,
                             v = ((c[1] - y) * (a[2] - z) - (a[1] - y) * (c[2] - z)) / area, w = 1 - u - v;
                if (u < 0 || v < 0 || w < 0) continue;
                if (!more((void **)&l->at, l->n, &l->room, sizeof *l->at)) return false;
                l->at[l->n++] = (crossing){i * LINES + j, u * a[0] + v * b[0] + w * c[0]};
            }
    }
    qsort(l->at, (size_t)l->n, sizeof *l->at, by_line);
    return true;
}

// Of the part in the box of a piece; between every two crossings of a line it is solid.
static double solid_volume(const lines *l, const piece *p) {
    double sum = 0;
    for (int k = 0; k + 1 < l->n; ++k) {
        if (l->at[k].line != l->at[k + 1].line) continue;
        const double y = l->low[0] + (l->at[k].line / LINES + 0.5) * l->cell[0],
                     z = l->low[1] + (l->at[k].line % LINES + 0.5) * l->cell[1];
        const double from = fmax(l->at[k].x, p->low[0]), to = fmin(l->at[k + 1].x, p->high[0]);
        if (y > p->low[1] && y < p->high[1] && z > p->low[2] && z < p->high[2] && to > from) sum += to - from;
        ++k;
    }
    return sum * l->cell[0] * l->cell[1];
}

// -- cuts -------------------------------------------------------------------------------------------------------------

// What of p lies at x_axis <= at (sign 1) or beyond (-1).  False: no memory.
static bool cut(splitting *z, const piece *p, int axis, double at, double sign, piece *to) {
    const soup *from = &p->s;
    soup *s = &to->s;
    if (from->nv > z->room) {
        int *number = realloc(z->number, (size_t)from->nv * sizeof *number);
        if (!number) return false;
        z->number = number, z->room = from->nv;
    }
    s->nv = s->nt = 0;
    to->part = p->part, to->looked_at = false;
    memcpy(to->low, p->low, sizeof to->low), memcpy(to->high, p->high, sizeof to->high);
    if (sign > 0)
        to->high[axis] = at;
    else
        to->low[axis] = at;
    for (int i = 0; i < from->nv; ++i) z->number[i] = -1;
    for (int i = 0; i < from->nt; ++i) {
        int polygon[4], m = 0;
        double u[3];
        for (int k = 0; k < 3; ++k) u[k] = sign * (from->v[from->t[i][k]][axis] - at);
        if (!(u[0] < 0 || u[1] < 0 || u[2] < 0)) continue; // it touches the plane at most
        for (int k = 0; k < 3; ++k) {
            const int j = from->t[i][k], next = (k + 1) % 3;
            const double *a = from->v[j], *b = from->v[from->t[i][next]];
            if (u[k] <= 0 && z->number[j] < 0) z->number[j] = add_point(s, a);
            if (u[k] <= 0) polygon[m++] = z->number[j];
            if ((u[k] < 0 && u[next] > 0) || (u[k] > 0 && u[next] < 0)) {
                double x[3];
                for (int c = 0; c < 3; ++c) x[c] = a[c] + u[k] / (u[k] - u[next]) * (b[c] - a[c]);
                x[axis] = at;
                polygon[m++] = add_point(s, x);
            }
        }
        for (int k = 2; k < m; ++k)
            if (!add_triangle(s, polygon[0], polygon[k - 1], polygon[k])) return false;
    }
    for (int k = 0; k < 4; ++k) { // corners of the box on the plane of the cut
        const int i = (axis + 1) % 3, j = (axis + 2) % 3;
        double x[3];
        x[axis] = at, x[i] = k & 1 ? to->high[i] : to->low[i], x[j] = k & 2 ? to->high[j] : to->low[j];
        if (!isfinite(x[i]) || !isfinite(x[j]) || !inside(z->mesh, p->part, x)) continue;
        const int point = add_point(s, x);
        if (!add_triangle(s, point, point, point)) return false;
    }
    to->volume = carom_cloud_volume((const double(*)[3])s->v, s->nv);
    return true;
}

// The best of some cuts.  False: no memory.
static bool find_cut(splitting *z, piece *p) {
    double low[3], high[3];
    double best = -INFINITY;
    p->looked_at = true, p->gain = 0, p->axis = -1;
    p->hollow = p->volume - solid_volume(&z->lines[p->part], p);
    if (p->s.nv == 0 || p->hollow < HOLLOW * p->volume) return true;
    memcpy(low, p->s.v[0], sizeof low), memcpy(high, low, sizeof high);
    for (int i = 0; i < 3 * p->s.nv; ++i)
        low[i % 3] = fmin(low[i % 3], p->s.v[i / 3][i % 3]), high[i % 3] = fmax(high[i % 3], p->s.v[i / 3][i % 3]);
    for (int axis = 0; axis < 3; ++axis)
        for (int k = 1; k <= PLANES; ++k) {
            const double at = low[axis] + (high[axis] - low[axis]) * k / (PLANES + 1);
            if (!cut(z, p, axis, at, 1, &z->one) || !cut(z, p, axis, at, -1, &z->other)) return false;
            const double a = z->one.volume, b = z->other.volume, gain = p->volume - a - b, uneven = (a - b) / (a + b);
            if (!(a > 0 && b > 0) || gain - p->volume / 20 * uneven * uneven <= best) continue;
            best = gain - p->volume / 20 * uneven * uneven;
            p->gain = gain, p->axis = axis, p->at = at;
        }
    return true;
}

static bool divide(splitting *z, piece *pieces, int *n, int most, double *sum) {
    while (*n < most) {
        int best = -1;
        for (int i = 0; i < *n; ++i)
            if (!pieces[i].looked_at && !find_cut(z, &pieces[i])) return false;
        for (int i = 0; i < *n; ++i)
            if (pieces[i].axis >= 0 && pieces[i].hollow > LEAST * *sum &&
                (best < 0 || pieces[i].hollow > pieces[best].hollow))
                best = i;
        if (best < 0) return true;
        piece *p = &pieces[best], low = {0}, high = {0};
        if (!cut(z, p, p->axis, p->at, 1, &low) || !cut(z, p, p->axis, p->at, -1, &high))
            return free_soup(&low.s), free_soup(&high.s), false;
        *sum -= p->gain;
        free_soup(&p->s);
        *p = low;
        pieces[(*n)++] = high;
    }
    return true;
}

// The piece that is a whole part of the mesh.
static bool begin(splitting *z, int part, piece *p) {
    const carom_mesh *m = z->mesh;
    *p = (piece){.part = part, .low = {-INFINITY, -INFINITY, -INFINITY}, .high = {INFINITY, INFINITY, INFINITY}};
    for (int k = m->part_at[part]; k < m->part_at[part + 1]; ++k)
        for (int i = 0; i < 3; ++i) z->number[m->t[k][i]] = -1;
    for (int k = m->part_at[part]; k < m->part_at[part + 1]; ++k) {
        int c[3];
        for (int i = 0; i < 3; ++i) {
            int *number = &z->number[m->t[k][i]];
            if (*number < 0) *number = add_point(&p->s, m->v[m->t[k][i]]);
            c[i] = *number;
        }
        if (!add_triangle(&p->s, c[0], c[1], c[2])) return false;
    }
    p->volume = carom_cloud_volume((const double(*)[3])p->s.v, p->s.nv);
    return draw_lines(m, part, &z->lines[part]);
}

int carom_mesh_split(const carom_mesh *mesh, int most, carom_piece **out, double *volume) {
    const int room = most > mesh->nparts ? most : mesh->nparts;
    splitting z = {.mesh = mesh,
                   .number = malloc(((size_t)mesh->nv + 1) * sizeof *z.number),
                   .room = mesh->nv,
                   .lines = calloc((size_t)mesh->nparts, sizeof *z.lines)};
    piece *pieces = calloc((size_t)room, sizeof *pieces);
    bool good = pieces && z.number && z.lines;
    int n = 0, count = 0;
    *out = NULL, *volume = 0;
    for (; good && n < mesh->nparts; ++n) {
        good = begin(&z, n, &pieces[n]);
        *volume += pieces[n].volume;
    }
    good = good && divide(&z, pieces, &n, most, volume);
    *out = good ? calloc((size_t)n + 1, sizeof **out) : NULL;
    good = good && *out;
    for (int i = 0; good && i < n; ++i) {
        if (!(pieces[i].volume > 0)) continue; // flat: it adds nothing
        (*out)[count++] = (carom_piece){pieces[i].s.nv, pieces[i].s.v};
        pieces[i].s.v = NULL;
    }
    for (int i = 0; pieces && i < n; ++i) free_soup(&pieces[i].s);
    for (int i = 0; z.lines && i < mesh->nparts; ++i) free(z.lines[i].at);
    free(pieces), free(z.lines), free(z.number), free_soup(&z.one.s), free_soup(&z.other.s);
    return good ? count : -1;
}

void carom_pieces_free(carom_piece *pieces, int n) {
    for (int i = 0; i < n; ++i) free(pieces[i].x);
    free(pieces);
}

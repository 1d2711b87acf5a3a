// heights.c: a surface of the ground, given by heights over a grid: rows in the model, or a CSV file.
#include "base/grow.h"
#include "base/number.h"
#include "derive/shapes/shapes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HEIGHTS = 250000 }; // memory of the search

typedef struct table {
    int nx, ny;
    double *z; // by rows
} table;

// -- reading ----------------------------------------------------------------------------------------------------------

static carom_status read_rows(resolver *r, const carom_datum *n, table *t) {
    if (n->kind != CAROM_LIST || n->count < 2 || n->item[0].kind != CAROM_LIST || n->item[0].count < 2)
        return carom_fault(r, n, 0,
                           "heights are two rows and more of two numbers and more: [[0, 0], [0, 1]], or a CSV file");
    t->nx = n->item[0].count;
    t->ny = n->count;
    if ((double)t->nx * t->ny > MOST_HEIGHTS)
        return carom_fault(r, n, 0, "%d x %d heights; at most %d are possible", t->nx, t->ny, MOST_HEIGHTS);
    t->z = malloc((size_t)t->nx * (size_t)t->ny * sizeof *t->z);
    if (!t->z) return carom_fault_memory(r);
    for (int j = 0; j < t->ny; ++j) {
        if (n->item[j].kind != CAROM_LIST || n->item[j].count != t->nx)
            return carom_fault(r, &n->item[j], 0, "this row does not have %d heights, as the first one does", t->nx);
        for (int i = 0; i < t->nx; ++i)
            CAROM_TRY(
                carom_resolve_number(r, &n->item[j].item[i], "a height", &t->z[(size_t)j * (size_t)t->nx + (size_t)i]));
    }
    return CAROM_OK;
}

// Numbers between commas, semicolons or blanks, a row in every line.
static carom_status read_csv(resolver *r, const carom_matrix_text *f, table *t) {
    size_t count = 0;
    int line = 1, in_row = 0;
    for (const char *p = f->text, *end = p + f->length; p <= end; ++p) {
        if (p == end || *p == '\n' || *p == '#') {
            if (in_row && t->nx && in_row != t->nx)
                return carom_fail(r->err, CAROM_BAD_INPUT,
                                  "%.200s:%d: this row has %d heights and the first one has %d", f->file, line, in_row,
                                  t->nx);
            if (in_row) t->nx = in_row, ++t->ny;
            in_row = 0;
            while (p < end && *p != '\n') ++p;
            ++line;
            continue;
        }
        if (*p == ' ' || *p == '\t' || *p == ',' || *p == ';' || *p == '\r') continue;
        char *stop = NULL;
        const double x = carom_number(p, &stop);
        if (stop == p || !isfinite(x))
            return carom_fail(r->err, CAROM_BAD_INPUT, "%.200s:%d: '%.20s' is not a number", f->file, line, p);
        if (count == MOST_HEIGHTS)
            return carom_fail(r->err, CAROM_BAD_INPUT, "%.200s: more than %d heights", f->file, MOST_HEIGHTS);
        if (!CAROM_GROW(t->z, count)) return carom_fault_memory(r);
        t->z[count++] = x;
        ++in_row;
        p = stop - 1;
    }
    if (t->nx < 2 || t->ny < 2)
        return carom_fail(r->err, CAROM_BAD_INPUT,
                          "%.200s: heights are two rows and more of two numbers and more; there are %d x %d", f->file,
                          t->ny, t->nx);
    return CAROM_OK;
}

// -- the surface ------------------------------------------------------------------------------------------------------

// Every cell has the diagonal from its first corner to its last: triangles (0, 1, 3) and (0, 3, 2).
static void put_faces(carom_hull *h, const carom_grid *g) {
    for (int f = 0; f < h->nf; ++f) {
        const int cell = f / 2, v = cell / (g->nx - 1) * g->nx + cell % (g->nx - 1), across = v + g->nx + 1,
                  side = f % 2 ? v + g->nx : v + 1;
        const int corner[3] = {v, f % 2 ? across : side, f % 2 ? side : across};
        double a[3], b[3], n[3];
        for (int k = 0; k < 3; ++k) a[k] = h->v[corner[1]][k] - h->v[v][k], b[k] = h->v[corner[2]][k] - h->v[v][k];
        for (int k = 0; k < 3; ++k) n[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
        const double size = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        memcpy(h->face + 3 * f, corner, sizeof corner);
        h->face_at[f] = 3 * f;
        h->offset[f] = 0;
        for (int k = 0; k < 3; ++k) h->normal[f][k] = n[k] / size, h->offset[f] += n[k] / size * h->v[v][k];
    }
    h->face_at[h->nf] = 3 * h->nf;
}

// From corner v along x, along y, and across; the faces on its left and right.
static void put_edges(carom_hull *h, carom_grid *g) {
    int e = 0;
    for (int v = 0; v < h->nv; ++v) {
        const int i = v % g->nx, j = v / g->nx, cells = g->nx - 1, here = 2 * (j * cells + i);
        const bool right = i < cells, up = j < g->ny - 1;
        const int to[3] = {right ? v + 1 : -1, up ? v + g->nx : -1, right && up ? v + g->nx + 1 : -1};
        const int left[3] = {up && right ? here : -1, i > 0 && up ? here - 2 : -1, here + 1},
                  other[3] = {j > 0 && right ? here - 2 * cells + 1 : -1, right && up ? here + 1 : -1, here};
        for (int m = 0; m < 3; ++m) {
            g->edges[3 * v + m] = to[m] < 0 ? -1 : e;
            if (to[m] >= 0) memcpy(h->edge[e++], (int[4]){v, to[m], left[m], other[m]}, sizeof *h->edge);
            g->star[6 * v + m] = to[m];
        }
        g->star[6 * v + 3] = i > 0 ? v - 1 : -1;
        g->star[6 * v + 4] = j > 0 ? v - g->nx : -1;
        g->star[6 * v + 5] = i > 0 && j > 0 ? v - g->nx - 1 : -1;
    }
    h->ne = e;
}

static carom_status make_surface(resolver *r, const table *t, const double *cell, shape *s) {
    pool *memory = &r->m->memory;
    carom_grid *g = carom_pool_take(memory, sizeof *g);
    carom_hull *h = carom_pool_take(memory, sizeof *h);
    if (!g || !h) return carom_fault_memory(r);
    const size_t nv = (size_t)t->nx * (size_t)t->ny, nf = 2 * (size_t)(t->nx - 1) * (size_t)(t->ny - 1);
    *g = (carom_grid){
        t->nx,   t->ny,   s->at[0] - 0.5 * cell[0] * (t->nx - 1),        s->at[1] - 0.5 * cell[1] * (t->ny - 1),
        cell[0], cell[1], carom_pool_take(memory, 3 * nv * sizeof(int)), carom_pool_take(memory, 6 * nv * sizeof(int))};
    *h = (carom_hull){.nv = (int)nv,
                      .nf = (int)nf,
                      .v = carom_pool_take(memory, nv * sizeof *h->v),
                      .normal = carom_pool_take(memory, nf * sizeof *h->normal),
                      .offset = carom_pool_take(memory, nf * sizeof *h->offset),
                      .face_at = carom_pool_take(memory, (nf + 1) * sizeof *h->face_at),
                      .face = carom_pool_take(memory, 3 * nf * sizeof *h->face),
                      .edge = carom_pool_take(memory, 3 * nv * sizeof *h->edge)};
    if (!g->edges || !g->star || !h->v || !h->normal || !h->offset || !h->face_at || !h->face || !h->edge)
        return carom_fault_memory(r);
    for (int v = 0; v < h->nv; ++v) {
        h->v[v][0] = g->x + cell[0] * (v % t->nx);
        h->v[v][1] = g->y + cell[1] * (v / t->nx);
        h->v[v][2] = s->at[2] + t->z[v];
    }
    put_faces(h, g);
    put_edges(h, g);
    s->hull = h;
    s->grid = g;
    return CAROM_OK;
}

carom_status carom_read_heights(resolver *r, const carom_mech_shape *of, const char *where, shape *s) {
    const carom_datum *cell = carom_given(&of->cell);
    double d[2] = {1, 1};
    table t = {0};
    int k = 0;
    if (s->body != r->m->bodies)
        return carom_fault(r, of->size.key, 0, "%s: heights belong to the ground; put them into the section shapes",
                           where);
    if (cell && cell->kind == CAROM_LIST) CAROM_TRY(carom_resolve_vector(r, cell, "the cell", 2, d));
    else if (cell) {
        CAROM_TRY(carom_resolve_number(r, cell, "the cell", d));
        d[1] = d[0];
    }
    if (!(d[0] > 0 && d[1] > 0))
        return carom_fault(r, cell, 0, "the cell is %g x %g; both must be positive", d[0], d[1]);
    carom_status status = CAROM_OK;
    if (of->size.kind == CAROM_TEXT) {
        CAROM_TRY(carom_shape_file(r, &of->size, &k));
        status = read_csv(r, &r->mech->matrices[k], &t);
    } else {
        status = read_rows(r, &of->size, &t);
    }
    if (status == CAROM_OK) status = make_surface(r, &t, d, s);
    free(t.z);
    CAROM_TRY(status);
    carom_shape_enclose(s);
    return CAROM_OK;
}

// mesh.c: STL and OBJ files become triangles with shared corners.
//
// Nobody vouches for such a file: counts are believed only as far as the file is long, and every index is checked.
// Corners of an STL file are equal where their numbers are.
#include "base/grow.h"
#include "read/mesh.h"
#include "base/number.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// chosen: memory; bytes of a line, corners of a face: safeguards against other files
enum { MOST_TRIANGLES = 2000000, MOST_LINE = 4096, MOST_FACE = 256 };

typedef struct reading {
    carom_mesh m;
    int *group;       // of every triangle
    int groups;
    const char *at, *end, *file;
    long line;
    carom_error *err;
} reading;

static carom_status no_memory(reading *r) {
    return carom_fail(r->err, CAROM_NO_MEMORY, "not enough memory for %.200s", r->file);
}

static carom_status bad(reading *r, const char *what) {
    return r->line ? carom_fail(r->err, CAROM_BAD_INPUT, "%.200s:%ld: %s", r->file, r->line, what)
                   : carom_fail(r->err, CAROM_BAD_INPUT, "%.200s: %s", r->file, what);
}

static carom_status add_corner(reading *r, const double *x) {
    if (!(isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]))) return bad(r, "a coordinate is not finite");
    if (r->m.nv == 3 * MOST_TRIANGLES || !CAROM_GROW(r->m.v, r->m.nv)) return no_memory(r);
    memcpy(r->m.v[r->m.nv++], x, sizeof *r->m.v);
    return CAROM_OK;
}

static carom_status add_triangle(reading *r, int a, int b, int c) {
    if (r->m.nt == MOST_TRIANGLES) return bad(r, "more than 2000000 triangles");
    if (!CAROM_GROW(r->m.t, r->m.nt) || !CAROM_GROW(r->group, r->m.nt)) return no_memory(r);
    r->group[r->m.nt] = r->groups;
    memcpy(r->m.t[r->m.nt++], (int[3]){a, b, c}, sizeof *r->m.t);
    return CAROM_OK;
}

// Begins the text with this word, in either case?
static bool begins(const char *at, const char *end, const char *word) {
    while (*word && at < end && carom_lower((unsigned char)*at) == *word) ++at, ++word;
    return !*word;
}

// -- lines of text ----------------------------------------------------------------------------------------------------

// The next line that is not empty, in lower case, without what stands around it; false: there is none.
static bool next_line(reading *r, char *line) {
    while (r->at < r->end) {
        const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at)), *to = stop ? stop : r->end;
        size_t n = 0;
        ++r->line;
        while (r->at < to && (unsigned char)*r->at <= ' ') ++r->at;
        for (; r->at < to && n + 1 < MOST_LINE; ++r->at)
            line[n++] = (char)((unsigned char)*r->at < ' ' ? ' ' : carom_lower((unsigned char)*r->at));
        while (n > 0 && line[n - 1] == ' ') --n;
        line[n] = 0;
        r->at = stop ? stop + 1 : r->end;
        if (n > 0) return true;
    }
    return false;
}

static const char *after(const char *line, const char *word) {
    const size_t n = strlen(word);
    return strncmp(line, word, n) == 0 && (line[n] == ' ' || line[n] == 0) ? line + n : NULL;
}

static bool three(const char *text, double *x) {
    for (int i = 0; i < 3; ++i) {
        char *stop = NULL;
        x[i] = carom_number(text, &stop);
        if (stop == text) return false;
        text = stop;
    }
    return true;
}

static carom_status read_stl_text(reading *r) {
    char line[MOST_LINE];
    int corners = 0;
    while (next_line(r, line)) {
        double x[3];
        const char *rest = after(line, "vertex");
        if (rest) {
            if (!three(rest, x)) return bad(r, "a vertex is three numbers: vertex X Y Z");
            CAROM_TRY(add_corner(r, x));
            if (++corners > 3) return bad(r, "a facet has three vertices");
        } else if (after(line, "endfacet")) {
            if (corners != 3) return bad(r, "a facet has three vertices");
            CAROM_TRY(add_triangle(r, r->m.nv - 3, r->m.nv - 2, r->m.nv - 1));
            corners = 0;
        } else if (after(line, "solid")) {
            ++r->groups;
        } else if (!after(line, "facet") && !after(line, "outer") && !after(line, "endloop") &&
                   !after(line, "endsolid")) {
            return bad(r, "this is no line of an STL file");
        }
    }
    return corners ? bad(r, "the file ends within a facet") : CAROM_OK;
}

static uint32_t word_at(const char *p) {
    const unsigned char *b = (const unsigned char *)p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

enum { HEAD = 84, FACET = 50 }; // bytes, of the format

static carom_status read_stl_binary(reading *r, const char *text, uint32_t count) {
    for (uint32_t k = 0; k < count; ++k)
        for (int c = 0; c < 3; ++c) {
            double x[3];
            for (int i = 0; i < 3; ++i) {
                const uint32_t bits = word_at(text + HEAD + (size_t)k * FACET + 12 + 12 * (size_t)c + 4 * (size_t)i);
                float f;
                memcpy(&f, &bits, sizeof f);
                x[i] = f;
            }
            CAROM_TRY(add_corner(r, x));
            if (c == 2) CAROM_TRY(add_triangle(r, r->m.nv - 3, r->m.nv - 2, r->m.nv - 1));
        }
    return CAROM_OK;
}

// f 1/2/3 4//5 -1 ...: corners alone count; a polygon becomes triangles from its first corner.
static carom_status read_face(reading *r, const char *text) {
    int corner[MOST_FACE], n = 0;
    while (*text) {
        char *stop = NULL;
        const long k = strtol(text, &stop, 10);
        if (stop == text) break;
        if (n == MOST_FACE) return bad(r, "a face with more than 256 corners");
        if (k == 0 || k > r->m.nv || k < -(long)r->m.nv) return bad(r, "a face names a vertex that is not above it");
        corner[n++] = (int)(k > 0 ? k - 1 : r->m.nv + k);
        while (*stop && *stop != ' ') ++stop;
        text = stop;
    }
    if (n < 3) return bad(r, "a face has three corners and more: f 1 2 3");
    for (int i = 2; i < n; ++i) CAROM_TRY(add_triangle(r, corner[0], corner[i - 1], corner[i]));
    return CAROM_OK;
}

static carom_status read_obj(reading *r) {
    char line[MOST_LINE];
    while (next_line(r, line)) {
        double x[3];
        const char *rest;
        if ((rest = after(line, "v"))) {
            if (!three(rest, x)) return bad(r, "a vertex is three numbers: v X Y Z");
            CAROM_TRY(add_corner(r, x));
        } else if ((rest = after(line, "f"))) {
            CAROM_TRY(read_face(r, rest));
        } else if (after(line, "o") || after(line, "g")) {
            ++r->groups;
        }
    }
    // points alone have a hull: a strip of triangles that holds all of them, and is open
    for (int k = 0; r->m.nt == k && k + 2 < r->m.nv; ++k)
        CAROM_TRY(add_triangle(r, k + k % 2, k + 1 - k % 2, k + 2));
    return CAROM_OK;
}

// -- corners that are equal, and parts --------------------------------------------------------------------------------

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

static uint64_t hash_corner(const double *x, int group) {
    uint64_t h = mix(1, (uint64_t)group);
    for (int i = 0; i < 3; ++i) {
        const double y = x[i] + 0.0; // one zero
        uint64_t bits;
        memcpy(&bits, &y, sizeof bits);
        h = mix(h, bits);
    }
    return h;
}

static size_t table_size(size_t n) {
    size_t size = 64;
    while (size < 2 * n) size *= 2;
    return size;
}

// Corners of triangles of one group at one place become one.
static carom_status merge(reading *r) {
    const size_t size = table_size(3 * (size_t)r->m.nt);
    int *table = malloc(size * sizeof *table), *group = malloc((3 * (size_t)r->m.nt + 1) * sizeof *group), n = 0;
    double (*v)[3] = malloc((3 * (size_t)r->m.nt + 1) * sizeof *v);
    if (!table || !group || !v) {
        free(table), free(group), free(v);
        return no_memory(r);
    }
    for (size_t i = 0; i < size; ++i) table[i] = -1;
    for (int k = 0; k < 3 * r->m.nt; ++k) {
        int *corner = &r->m.t[k / 3][k % 3];
        const double *x = r->m.v[*corner];
        size_t at = (size_t)hash_corner(x, r->group[k / 3]) & (size - 1);
        while (table[at] >= 0 && !(group[table[at]] == r->group[k / 3] && v[table[at]][0] == x[0] &&
                                   v[table[at]][1] == x[1] && v[table[at]][2] == x[2]))
            at = (at + 1) & (size - 1);
        if (table[at] < 0) table[at] = n, group[n] = r->group[k / 3], memcpy(v[n++], x, sizeof *v);
        *corner = table[at];
    }
    free(table), free(group), free(r->m.v);
    r->m.v = v, r->m.nv = n;
    return CAROM_OK;
}

static int root(int *of, int i) {
    while (of[i] != i) i = of[i] = of[of[i]];
    return i;
}

// Triangles in the order of parts, parts in the order of their first triangles.
static carom_status sort_parts(reading *r) {
    carom_mesh *m = &r->m;
    int *of = malloc(((size_t)m->nv + 1) * sizeof *of), *number = malloc(((size_t)m->nv + 1) * sizeof *number);
    int (*t)[3] = malloc(((size_t)m->nt + 1) * sizeof *t);
    m->part_at = calloc((size_t)m->nt + 2, sizeof *m->part_at);
    const bool room = of && number && t && m->part_at;
    for (int i = 0; room && i < m->nv; ++i) of[i] = i, number[i] = -1;
    for (int k = 0; room && k < 2 * m->nt; ++k) of[root(of, m->t[k / 2][k % 2])] = root(of, m->t[k / 2][k % 2 + 1]);
    for (int k = 0; room && k < m->nt; ++k) {
        int *part = &number[root(of, m->t[k][0])];
        if (*part < 0) *part = m->nparts++;
        ++m->part_at[*part + 1];
    }
    for (int i = 0; room && i < m->nparts; ++i) m->part_at[i + 1] += m->part_at[i];
    for (int k = 0; room && k < m->nt; ++k) { // part_at[i] runs to the start of i + 1
        const int part = number[root(of, m->t[k][0])];
        memcpy(t[m->part_at[part]++], m->t[k], sizeof *t);
    }
    for (int i = room ? m->nparts : 0; i > 0; --i) m->part_at[i] = m->part_at[i - 1];
    if (room) m->part_at[0] = 0, free(m->t), m->t = t;
    else free(t);
    free(of), free(number);
    return room ? CAROM_OK : no_memory(r);
}

carom_status carom_mesh_read(const char *text, size_t length, const char *file, carom_mesh *mesh, carom_error *err) {
    reading r = {.at = text, .end = text + length, .file = file, .err = err};
    const uint32_t count = length >= HEAD ? word_at(text + 80) : 0;
    const char *first = text;
    while (first < r.end && (unsigned char)*first <= ' ') ++first;
    const bool binary = length >= HEAD && (length - HEAD) / FACET == count && (length - HEAD) % FACET == 0;
    const bool stl = begins(first, r.end, "solid");
    carom_status status = CAROM_OK;
    if (length == 0) status = bad(&r, "the file is empty");
    else if (memchr(text, 0, length) && !binary)
        status = bad(&r, "this is neither an STL nor an OBJ file; a binary STL file has 84 bytes and 50 for each "
                         "triangle that it counts");
    else status = binary ? read_stl_binary(&r, text, count) : stl ? read_stl_text(&r) : read_obj(&r);
    r.line = 0;
    if (status == CAROM_OK && r.m.nt == 0) status = bad(&r, "there is no triangle in it; STL and OBJ files are read");
    if (status == CAROM_OK) status = merge(&r);
    if (status == CAROM_OK) status = sort_parts(&r);
    free(r.group);
    if (status != CAROM_OK) carom_mesh_free(&r.m);
    *mesh = r.m;
    return status;
}

void carom_mesh_free(carom_mesh *mesh) {
    free(mesh->v), free(mesh->t), free(mesh->part_at);
    *mesh = (carom_mesh){0};
}

// -- is it a solid? ---------------------------------------------------------------------------------------------------

// Do all corners lie in the plane of the largest triangle, but for a millionth of their distances?
static bool flat(const carom_mesh *m) {
    double n[3] = {0}, most = 0, size = 0, depth = 0;
    for (int k = 0; k < m->nt; ++k) {
        const double *a = m->v[m->t[k][0]], *b = m->v[m->t[k][1]], *c = m->v[m->t[k][2]];
        double x[3], length = 0;
        for (int i = 0; i < 3; ++i) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;
            x[i] = (b[j] - a[j]) * (c[l] - a[l]) - (b[l] - a[l]) * (c[j] - a[j]);
            length += x[i] * x[i];
        }
        if (!(length > most)) continue;
        most = length;
        for (int i = 0; i < 3; ++i) n[i] = x[i] / sqrt(length);
    }
    for (int k = 0; k < m->nv; ++k) {
        double way = 0;
        for (int i = 0; i < 3; ++i) {
            way += n[i] * (m->v[k][i] - m->v[m->t[0][0]][i]);
            size = fmax(size, fabs(m->v[k][i] - m->v[m->t[0][0]][i]));
        }
        depth = fmax(depth, fabs(way));
    }
    static const double FLAT = 1e-6; // of the size: numbers of a mesh file have six digits or more
    return depth <= FLAT * size;
}

// Every edge a, b belongs to one triangle, and b, a to another.
carom_status carom_mesh_closed(const carom_mesh *m, const char *file, carom_error *err) {
    if (flat(m))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "%.200s: the mesh is flat: all its points lie in one plane; a body needs a mesh that "
                          "encloses a volume, or a thin `box:`",
                          file);
    const size_t size = table_size(3 * (size_t)m->nt);
    int (*edge)[2] = malloc(size * sizeof *edge);
    if (!edge) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %.200s", file);
    for (size_t i = 0; i < size; ++i) edge[i][0] = -1;
    carom_status status = CAROM_OK;
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < 3 * m->nt && status == CAROM_OK; ++k) {
            int a = m->t[k / 3][k % 3], b = m->t[k / 3][(k + 1) % 3];
            const double *x = m->v[a], *y = m->v[b];
            if (a == b) continue; // a triangle without area
            if (pass) a = m->t[k / 3][(k + 1) % 3], b = m->t[k / 3][k % 3];
            size_t at = (size_t)mix(mix(1, (uint64_t)a), (uint64_t)b) & (size - 1);
            while (edge[at][0] >= 0 && !(edge[at][0] == a && edge[at][1] == b)) at = (at + 1) & (size - 1);
            if (pass && edge[at][0] < 0)
                status = carom_fail(err, CAROM_BAD_INPUT,
                                    "%.200s: the mesh is open: the edge from [%g, %g, %g] to [%g, %g, %g] belongs to "
                                    "one triangle only; close it, or take its hull: `hull:`",
                                    file, x[0], x[1], x[2], y[0], y[1], y[2]);
            if (!pass && edge[at][0] >= 0)
                status = carom_fail(err, CAROM_BAD_INPUT,
                                    "%.200s: two triangles run along the edge from [%g, %g, %g] to [%g, %g, %g] in the "
                                    "same sense; turn one of them round",
                                    file, x[0], x[1], x[2], y[0], y[1], y[2]);
            if (!pass) edge[at][0] = a, edge[at][1] = b;
        }
    free(edge);
    for (int i = 0; i < m->nparts && status == CAROM_OK; ++i)
        if (!(carom_mesh_volume(m, i) > 0))
            status = carom_fail(
                err, CAROM_BAD_INPUT,
                "%.200s: part %d is inside out: its triangles are clockwise seen from outside; turn all of them round",
                file, i + 1);
    return status;
}

double carom_mesh_volume(const carom_mesh *m, int part) {
    double sum = 0;
    for (int k = m->part_at[part]; k < m->part_at[part + 1]; ++k) {
        double x[3][3];
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) x[i][j] = m->v[m->t[k][i]][j] - m->v[m->t[m->part_at[part]][0]][j];
        for (int i = 0; i < 3; ++i)
            sum += x[0][i] * (x[1][(i + 1) % 3] * x[2][(i + 2) % 3] - x[1][(i + 2) % 3] * x[2][(i + 1) % 3]) / 6;
    }
    return sum;
}

// vtk.c: see vtk.h.  A row of the result is a file of cells; a snapshot of contacts, or a row, is a file of points with
// forces.
//
// Velocities of points come from differences: the drawing is evaluated at positions that are moved along the row's
// velocities by +-h, and at t +- h:
//     u = (p(t + h, q + h v) - p(t - h, q - h v)) / (2 h),   h = min(1e-4/max|v|, 1e-3 of the time between two rows)
// which is exact for what moves straight, and to (h omega)^2/6 <= 2e-9 of itself for what turns.
#define _POSIX_C_SOURCE 200809L
#include "base/column.h"
#include "base/grow.h"
#include "base/number.h"
#include "base/tolerance.h"
#include "cli/vtk.h"
#include "cli/vtk_mesh.h"
#include "derive/draw/words.h"
#include "derive/shapes/cloud.h"
#include "model/names.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_ROWS = 500, BUDGET = 1 << 28 }; // rows, and bytes of all files, where nothing is said
enum { BEFORE, HERE, AFTER, SIDES };

typedef struct series {
    page_view *v;
    const vtk_def *def;
    char *stem;               // of def->out, without .pvd
    const char *base;         // the last part of it
    int dim, shapes, nq, nv;
    int *from;                // columns of the state
    double *row, *state, *q, *x[SIDES]; // one row; positions and velocities; moved positions; numbers of the drawing
    carom_hull *hull;         // of shapes that are hulls
    bool *has_hull;
    vtk_mesh mesh[SIDES], touches;
    double *force, *impulse, *gap; // of every point of touches
    float *small;             // scratch for 32-bit numbers: places and velocities
    int room;                 // of these, in points
    int *column;              // of every touch: gap, then force, impulse of up to three directions; -1: none
    names contact;            // names of contacts, in the order of their numbers; those of snapshots are owned
    bool own;                 // contacts come from snapshots
    int failure;              // the exit status where something fails
} series;

// -- files -----------------------------------------------------------------------------------------------------

typedef struct array { const char *section, *name, *type; int components; const void *data; size_t count, size; } array;

static const char *byte_order(void) {
    const uint16_t one = 1;
    return *(const unsigned char *)&one ? "LittleEndian" : "BigEndian";
}

static void put_grid(FILE *f, double t, int points, int cells, const array *list, int n) {
    char text[40];
    uint64_t offset = 0;
    carom_format(text, sizeof text, "%.17g", t);
    fprintf(f,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\">\n<UnstructuredGrid>\n"
            "<FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" "
            "format=\"ascii\">%s</DataArray></FieldData>\n"
            "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">\n",
            byte_order(), text, points, cells);
    for (int i = 0; i < n; ++i) {
        const bool first = i == 0 || strcmp(list[i - 1].section, list[i].section) != 0,
                   last = i == n - 1 || strcmp(list[i + 1].section, list[i].section) != 0;
        if (first) fprintf(f, "<%s>\n", list[i].section);
        fprintf(f,
                "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n",
                list[i].type, list[i].name, list[i].components, (unsigned long long)offset);
        if (last) fprintf(f, "</%s>\n", list[i].section);
        offset += sizeof offset + list[i].count * list[i].size;
    }
    fputs("</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_", f);
    for (int i = 0; i < n; ++i) {
        const uint64_t bytes = list[i].count * list[i].size;
        fwrite(&bytes, sizeof bytes, 1, f);
        if (bytes) fwrite(list[i].data, list[i].size, list[i].count, f);
    }
    fputs("\n</AppendedData>\n</VTKFile>\n", f);
}

// The name of a file of the series has room for what comes behind the stem; to be freed.
static char *name_of(const series *s) {
    char *name = malloc(strlen(s->stem) + 80);
    if (!name) cli_say("not enough memory");
    return name;
}

static bool save_grid(const series *s, const char *kind, long k, double t, int points, int cells, const array *list,
                      int n) {
    char *name = name_of(s);
    whole_file w;
    if (name) sprintf(name, "%s.vtk/%s-%05ld.vtu", s->stem, kind, k);
    bool good = name && cli_begin(&w, name);
    if (good) put_grid(w.f, t, points, cells, list, n);
    good = good && cli_end(&w, true);
    free(name);
    return good;
}

static void put_list(const series *s, FILE *f, const char *kind, const double *t, long n) {
    char text[40];
    fprintf(f,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"%s\">\n<Collection>\n",
            byte_order());
    for (long k = 0; k < n; ++k) {
        carom_format(text, sizeof text, "%.17g", t[k]);
        fprintf(f, "<DataSet timestep=\"%s\" part=\"0\" file=\"", text);
        carom_escape_file(CAROM_FOR_XML, f, s->base);
        fprintf(f, ".vtk/%s-%05ld.vtu\"/>\n", kind, k);
    }
    fputs("</Collection>\n</VTKFile>\n", f);
}

// The list of files with their times; files of an earlier export that had more of them are removed.
static bool save_list(const series *s, const char *ending, const char *kind, const double *t, long n) {
    char *name = name_of(s);
    whole_file w;
    if (name) sprintf(name, "%s%s", s->stem, ending);
    bool good = name && cli_begin(&w, name);
    if (good) put_list(s, w.f, kind, t, n);
    good = good && cli_end(&w, true);
    for (long k = n; good; ++k) {
        sprintf(name, "%s.vtk/%s-%05ld.vtu", s->stem, kind, k);
        if (unlink(name) != 0) break;
    }
    free(name);
    return good;
}

// Which number is which name.
static bool save_names(const series *s, const char *kind, bool shapes) {
    char *name = name_of(s);
    whole_file w;
    if (name) sprintf(name, "%s.vtk/%s.csv", s->stem, kind);
    bool good = name && cli_begin(&w, name);
    if (good) fputs(shapes ? "shape,name,figure,body\n" : "contact,name\n", w.f);
    for (int i = 0; good && i < (shapes ? s->shapes : s->contact.count); ++i) {
        const carom_drawn d =
            shapes ? carom_drawing_shape(s->v->drawing, i) : (carom_drawn){.name = s->contact.at[i].text};
        fprintf(w.f, "%d,\"", i), carom_escape_file(CAROM_FOR_CSV, w.f, d.name), fputc('"', w.f);
        if (shapes) fprintf(w.f, ",%s,%d", carom_figure_word(d.figure), d.of);
        fputc('\n', w.f);
    }
    good = good && cli_end(&w, true);
    free(name);
    return good;
}

// -- shapes of a row ---------------------------------------------------------------------------------------------

static bool enough(series *s, int points) {
    if (points <= s->room) return true;
    const size_t n = (size_t)points * 2;
    double *force = realloc(s->force, n * 3 * sizeof *force), *impulse = realloc(s->impulse, n * 3 * sizeof *impulse),
           *gap = realloc(s->gap, n * sizeof *gap);
    float *small = realloc(s->small, n * 6 * sizeof *small);
    if (force) s->force = force;
    if (impulse) s->impulse = impulse;
    if (gap) s->gap = gap;
    if (small) s->small = small;
    if (!force || !impulse || !gap || !small) return cli_say("not enough memory"), false;
    s->room = 2 * points;
    return true;
}

static bool finite_all(const double *x, int n) {
    for (int i = 0; i < n; ++i)
        if (!isfinite(x[i])) return false;
    return true;
}

// The row's state, and the drawing there and on both sides; returns h.
static double evaluate(series *s, double spacing) {
    carom_drawing *d = s->v->drawing;
    const carom_system *sys = carom_model_system(s->v->model);
    double fastest = 0, *v = s->state + s->nq;
    for (int i = 0; i < s->nq + s->nv; ++i) s->state[i] = s->from[i] >= 0 ? s->row[s->from[i]] : NAN;
    for (int i = 0; carom_drawing_signal(d, i); ++i)
        if (s->from[s->nq + s->nv + i] >= 0) carom_drawing_set_signal(d, i, s->row[s->from[s->nq + s->nv + i]]);
    for (int i = 0; i < s->nv; ++i)
        if (isfinite(v[i])) fastest = fmax(fastest, fabs(v[i]));
    static const double WAY = 1e-4, PART = 1e-3; // of differences: way of the fastest coordinate; part of the time
                                                 // between two rows
    const double h = fmin(WAY / fmax(fastest, CAROM_NOT_ZERO), PART * spacing);
    for (int side = 0; side < SIDES; ++side) {
        const double dt = (side - HERE) * h;
        if (sys->move) sys->move(sys->model, s->q, s->state, dt, v);
        else for (int i = 0; i < s->nq; ++i) s->q[i] = s->state[i] + dt * v[i];
        carom_drawing_eval(d, s->row[0] + dt, side == HERE ? s->state : s->q, v, s->x[side]);
    }
    return h;
}

// A shape without a place in this row is left out.
static void mesh_row(series *s) {
    for (int side = 0; side < SIDES; ++side) vtk_mesh_clear(&s->mesh[side]);
    for (int i = 0; i < s->shapes; ++i) {
        const carom_drawn d = carom_drawing_shape(s->v->drawing, i);
        const int numbers = d.sizes + d.points * s->dim + d.rotation;
        if (!finite_all(s->x[HERE] + d.first, numbers)) continue;
        for (int side = 0; side < SIDES; ++side) {
            const double *x = s->x[side] + d.first;
            if (!finite_all(x, numbers)) x = s->x[HERE] + d.first; // velocities of members that are not recorded
            vtk_mesh_add(&s->mesh[side], &d, i, s->dim, x, s->x[HERE] + d.first, s->has_hull[i] ? &s->hull[i] : NULL);
        }
    }
}

static bool save_shapes(series *s, long k, double h) {
    mesh_row(s);
    const vtk_mesh *m = &s->mesh[HERE], *a = &s->mesh[BEFORE], *b = &s->mesh[AFTER];
    if (m->failed || a->failed || b->failed) return cli_say("not enough memory"), false;
    if (!enough(s, m->points)) return false;
    float *p = s->small, *u = s->small + 3 * (size_t)m->points;
    int32_t *body = malloc(((size_t)m->cells + 1) * sizeof *body);
    if (!body) return cli_say("not enough memory"), false;
    for (int i = 0; i < m->points; ++i)
        for (int c = 0; c < 3; ++c) {
            p[3 * i + c] = (float)m->point[i][c];
            u[3 * i + c] = (float)((b->point[i][c] - a->point[i][c]) / (2 * h));
        }
    for (int i = 0; i < m->cells; ++i) body[i] = carom_drawing_shape(s->v->drawing, m->shape[i]).of;
    const size_t np = (size_t)m->points, nc = (size_t)m->cells;
    const array list[] = {
        {"PointData", "velocity", "Float32", 3, u, 3 * np, sizeof *u},
        {"CellData", "shape", "Int32", 1, m->shape, nc, sizeof *m->shape},
        {"CellData", "body", "Int32", 1, body, nc, sizeof *body},
        {"Points", "Points", "Float32", 3, p, 3 * np, sizeof *p},
        {"Cells", "connectivity", "Int32", 1, m->corner, (size_t)m->corners, sizeof *m->corner},
        {"Cells", "offsets", "Int32", 1, m->end, nc, sizeof *m->end},
        {"Cells", "types", "UInt8", 1, m->type, nc, 1},
    };
    const bool good = save_grid(s, "shapes", k, s->row[0], m->points, m->cells, list, sizeof list / sizeof *list);
    free(body);
    return good;
}

// -- contacts --------------------------------------------------------------------------------------------------------

// The points of s->touches with what acts there; shape: the number of the contact.
static bool save_touches(series *s, long k, double t) {
    const vtk_mesh *m = &s->touches;
    if (m->failed) return cli_say("not enough memory"), false;
    const size_t n = (size_t)m->points;
    const array list[] = {
        {"PointData", "force", "Float64", 3, s->force, 3 * n, sizeof(double)},
        {"PointData", "impulse", "Float64", 3, s->impulse, 3 * n, sizeof(double)},
        {"PointData", "gap", "Float64", 1, s->gap, n, sizeof(double)},
        {"PointData", "contact", "Int32", 1, m->shape, n, sizeof *m->shape},
        {"Points", "Points", "Float64", 3, m->point, 3 * n, sizeof(double)},
        {"Cells", "connectivity", "Int32", 1, m->corner, n, sizeof *m->corner},
        {"Cells", "offsets", "Int32", 1, m->end, n, sizeof *m->end},
        {"Cells", "types", "UInt8", 1, m->type, n, 1},
    };
    return save_grid(s, "contacts", k, t, m->points, m->cells, list, sizeof list / sizeof *list);
}

enum { GAP, FORCE, IMPULSE = FORCE + 3, TOUCH_COLUMNS = IMPULSE + 3 }; // columns of a contact

// The columns of every place where a contact or constraint acts.
static bool find_touches(series *s) {
    s->column = calloc((size_t)s->shapes * TOUCH_COLUMNS + 1, sizeof *s->column);
    if (!s->column) return cli_say("not enough memory"), false;
    for (int i = 0; i < s->shapes; ++i) {
        const carom_drawn d = carom_drawing_shape(s->v->drawing, i);
        int *column = s->column + (size_t)i * TOUCH_COLUMNS;
        for (int k = 0; k < TOUCH_COLUMNS; ++k) {
            static const struct { carom_role role; int tangent; } of[TOUCH_COLUMNS] = {
                {CAROM_ROLE_GAP, 0},      {CAROM_ROLE_FORCE, 0},   {CAROM_ROLE_FRICTION, 1},
                {CAROM_ROLE_FRICTION, 2}, {CAROM_ROLE_IMPULSE, 0}, {CAROM_ROLE_FRICTION_IMPULSE, 1},
                {CAROM_ROLE_FRICTION_IMPULSE, 2}};
            char name[220], part[40];
            const bool alone = of[k].tangent == 1 && d.points <= 3; // one tangent has no number
            carom_role_text(of[k].role, alone ? 0 : of[k].tangent, part, sizeof part);
            if (d.figure == CAROM_CONTACT_MARKER) snprintf(name, sizeof name, "%.160s.%s", d.name, part);
            column[k] = d.figure == CAROM_CONTACT_MARKER ? carom_result_find(s->v->page.r, name) : -1;
        }
        if (d.figure == CAROM_CONTACT_MARKER && !s->own &&
            !carom_names_add(&s->contact, d.name, NAME_OUTPUT, s->contact.count, 0))
            return cli_say("not enough memory"), false;
    }
    return true;
}

static bool save_row_contacts(series *s, long k) {
    vtk_mesh *m = &s->touches;
    vtk_mesh_clear(m);
    for (int i = 0, number = 0; i < s->shapes; ++i) {
        const carom_drawn d = carom_drawing_shape(s->v->drawing, i);
        if (d.figure != CAROM_CONTACT_MARKER) continue;
        const double *x = s->x[HERE] + d.first;
        const int *column = s->column + (size_t)i * TOUCH_COLUMNS, at = m->points, id = number++;
        double p[3] = {0};
        if (!finite_all(x, s->dim * d.points)) continue;
        if (!enough(s, at + 1)) return false;
        memcpy(p, x, (size_t)s->dim * sizeof *p);
        for (int c = 0; c < 3; ++c) {
            double f[2] = {0, 0};
            for (int side = 0; side < 2 && c < s->dim; ++side)
                for (int dir = 0; dir + 1 < d.points && dir < 3; ++dir) {
                    const int from = column[(side ? IMPULSE : FORCE) + dir];
                    if (from >= 0 && isfinite(s->row[from])) f[side] += s->row[from] * x[(dir + 1) * s->dim + c];
                }
            s->force[3 * at + c] = f[0];
            s->impulse[3 * at + c] = f[1];
        }
        s->gap[at] = column[GAP] >= 0 ? s->row[column[GAP]] : NAN;
        vtk_mesh_vertex(m, p, id);
    }
    return save_touches(s, k, s->row[0]);
}

static bool add_name(series *s, const char *text) {
    char *own = strdup(text);
    if (own && carom_names_add(&s->contact, own, NAME_OUTPUT, s->contact.count, 0)) return true;
    free(own);
    return false;
}

// A file for every snapshot between from and to.
static bool save_snapshots(series *s, double **t, long *n) {
    enum { BLOCK = 4096 };
    const long count = carom_result_contact_count(s->v->page.r);
    carom_result_contact *block = malloc(BLOCK * sizeof *block);
    carom_error err = {0};
    bool good = block != NULL;
    double last = NAN;
    vtk_mesh_clear(&s->touches);
    for (long at = 0; good && at < count; at += BLOCK) {
        const long some = count - at < BLOCK ? count - at : BLOCK;
        good = carom_result_contacts(s->v->page.r, at, some, block, &err) == CAROM_OK;
        for (long i = 0; good && i < some; ++i) {
            carom_result_contact *c = &block[i];
            c->contact[sizeof c->contact - 1] = 0;
            if (!(c->t >= s->def->from && c->t <= s->def->to) || !finite_all(c->point, 3)) continue;
            if (c->t != last) {
                if (*n > 0) good = save_touches(s, *n - 1, last);
                good = good && CAROM_GROW(*t, *n);
                if (!good) break;
                (*t)[(*n)++] = last = c->t;
                vtk_mesh_clear(&s->touches);
            }
            const name *known = carom_names_find(&s->contact, c->contact, strlen(c->contact));
            const int id = known ? known->index : s->contact.count, p = s->touches.points;
            good = (known || add_name(s, c->contact)) && enough(s, p + 1);
            if (!good) break;
            memcpy(s->force + 3 * p, c->force, sizeof c->force);
            memset(s->impulse + 3 * p, 0, sizeof c->force);
            s->gap[p] = c->gap;
            vtk_mesh_vertex(&s->touches, c->point, id);
        }
    }
    if (good && *n > 0) good = save_touches(s, *n - 1, last);
    if (!good) cli_say("%s", err.text[0] ? err.text : "not enough memory");
    free(block);
    return good;
}

// -- all of it -----------------------------------------------------------------------------------------------------

static bool prepare(series *s) {
    const carom_model_sizes n = carom_model_count(s->v->model);
    const int values = carom_drawing_values(s->v->drawing);
    char why[300];
    s->dim = carom_drawing_dim(s->v->drawing);
    s->nq = n.coordinates;
    s->nv = n.velocities;
    s->from = page_columns(&s->v->page, s->v->model, s->v->drawing, why, sizeof why);
    if (!s->from) return cli_say("%s: %s", s->v->page.file, why), false;
    s->row = calloc((size_t)carom_result_columns(s->v->page.r) + 1, sizeof *s->row);
    s->state = calloc((size_t)(s->nq + s->nv) + 1, sizeof *s->state);
    s->q = calloc((size_t)s->nq + 1, sizeof *s->q);
    s->hull = calloc((size_t)s->shapes + 1, sizeof *s->hull);
    s->has_hull = calloc((size_t)s->shapes + 1, sizeof *s->has_hull);
    bool good = s->row && s->state && s->q && s->hull && s->has_hull && enough(s, 64);
    for (int side = 0; side < SIDES; ++side) {
        s->mesh[side].sides = s->shapes <= 200 ? 24 : s->shapes <= 2000 ? 12 : 8;
        s->x[side] = calloc((size_t)values + 1, sizeof **s->x);
        good = good && s->x[side];
    }
    for (int i = 0; good && i < s->shapes; ++i) {
        const carom_drawn d = carom_drawing_shape(s->v->drawing, i);
        if (d.figure == CAROM_CONVEX)
            s->has_hull[i] = carom_cloud_hull((const double(*)[3])d.fixed, d.nfixed / 3, CAROM_HULL_CORNERS,
                                              &s->hull[i], &(double){0}) == CAROM_HULL_OK;
    }
    if (!good) cli_say("not enough memory");
    return good && find_touches(s);
}

static void release(series *s) {
    for (int side = 0; side < SIDES; ++side) {
        free(s->x[side]);
        vtk_mesh_free(&s->mesh[side]);
    }
    for (int i = 0; s->has_hull && i < s->shapes; ++i)
        if (s->has_hull[i]) carom_hull_free(&s->hull[i]);
    vtk_mesh_free(&s->touches);
    for (int i = 0; s->own && i < s->contact.count; ++i) free((char *)s->contact.at[i].text);
    carom_names_free(&s->contact);
    void *const all[] = {s->stem,     s->from,  s->row,     s->state, s->q,     s->hull,
                         s->has_hull, s->force, s->impulse, s->gap,   s->small, s->column};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) free(all[i]);
}

// Rows between from and to; how many to write of them.
static bool choose(series *s, const double *t, long rows, long *first, long *count) {
    const vtk_def *def = s->def;
    *first = 0;
    while (*first < rows && t[*first] < def->from) ++*first;
    long last = rows;
    while (last > *first && t[last - 1] > def->to) --last;
    *count = last - *first;
    if (*count > 0) return true;
    cli_say("%s has no row between %g and %g; its times go from %g to %g", s->v->page.file, def->from, def->to, t[0],
            t[rows - 1]);
    s->failure = CLI_USAGE;
    return false;
}

// Row `row`, with the impulses since row `before`.
static bool read_row(series *s, long before, long row) {
    carom_error err = {0};
    carom_result *r = s->v->page.r;
    if (carom_result_read_rows(r, row, 1, s->row, &err) != CAROM_OK) return cli_say("%s", err.text), false;
    for (int i = 0; i < s->shapes * TOUCH_COLUMNS && !s->own; ++i) {
        const int column = i % TOUCH_COLUMNS >= IMPULSE ? s->column[i] : -1;
        double x[64];
        for (long at = before + 1; column >= 0 && at < row; at += 64) {
            const long n = row - at < 64 ? row - at : 64;
            if (carom_result_read(r, column, at, n, x, &err) != CAROM_OK) return cli_say("%s", err.text), false;
            for (long k = 0; k < n; ++k) s->row[column] += isfinite(x[k]) ? x[k] : 0;
        }
    }
    return true;
}

// As many rows as fit the budget, by the size of the first.
static long default_rows(series *s, long first, double spacing) {
    if (!read_row(s, first, first)) return 1; // and again in a moment
    evaluate(s, spacing);
    mesh_row(s);
    const vtk_mesh *m = &s->mesh[HERE];
    // of numbers as the format has them, and of its words
    const double bytes = 24.0 * m->points + 13.0 * m->cells + 4.0 * m->corners + 1500, fits = BUDGET / bytes;
    return fits > MOST_ROWS ? MOST_ROWS : fits < 20 ? 20 : (long)fits;
}

static bool save_rows(series *s, const double *t, long first, long count, double **times, long *n) {
    const double spacing =
        count > 1 && t[first + count - 1] > t[first] ? (t[first + count - 1] - t[first]) / (double)(count - 1) : 1e-3;
    const long most = s->def->rows > 0 ? s->def->rows : default_rows(s, first, spacing);
    *n = count < most ? count : most;
    *times = malloc((size_t)*n * sizeof **times);
    bool good = *times || (cli_say("not enough memory"), false);
    for (long k = 0, before = first; good && k < *n; ++k) {
        const long row = first + (*n > 1 ? (long)((double)k * (double)(count - 1) / (double)(*n - 1) + 0.5) : 0);
        good = read_row(s, before, row);
        before = row;
        if (!good) break;
        (*times)[k] = t[row];
        const double h = evaluate(s, spacing);
        good = save_shapes(s, k, h) && (s->own || s->contact.count == 0 || save_row_contacts(s, k));
    }
    return good;
}

static bool make_folder(const series *s) {
    char *name = malloc(strlen(s->stem) + 8);
    if (!name) return cli_say("not enough memory"), false;
    sprintf(name, "%s.vtk", s->stem);
    const bool good = mkdir(name, 0777) == 0 || errno == EEXIST;
    if (!good) cli_say("cannot create the directory %s: %s", name, strerror(errno));
    free(name);
    return good;
}

static bool save_all(series *s) {
    carom_result *r = s->v->page.r;
    const long rows = carom_result_rows(r);
    carom_error err = {0};
    double *t = malloc(((size_t)rows + 1) * sizeof *t), *times = NULL, *snapshot = NULL;
    long first = 0, count = 0, n = 0, snapshots = 0;
    bool good = t || (cli_say("not enough memory"), false);
    if (good && carom_result_read(r, 0, 0, rows, t, &err) != CAROM_OK) good = (cli_say("%s", err.text), false);
    good = good && choose(s, t, rows, &first, &count) && prepare(s) && make_folder(s) &&
           save_rows(s, t, first, count, &times, &n) && save_names(s, "shapes", true) &&
           save_list(s, ".pvd", "shapes", times, n);
    if (good && s->own) good = save_snapshots(s, &snapshot, &snapshots);
    if (good && s->contact.count > 0)
        good = save_names(s, "contacts", false) &&
               save_list(s, ".contacts.pvd", "contacts", s->own ? snapshot : times, s->own ? snapshots : n);
    if (good) cli_print("%s.pvd: %ld rows", s->stem, n);
    if (good && s->contact.count > 0)
        cli_print("; %s.contacts.pvd: %ld %s", s->stem, s->own ? snapshots : n, s->own ? "snapshots" : "rows");
    if (good) putchar('\n');
    free(t);
    free(times);
    free(snapshot);
    return good;
}

int vtk_write(page_view *v, const vtk_def *def) {
    if (!v->drawing) {
        if (!v->model) cli_say("%s contains no model, so there is nothing to draw; give --model FILE", v->page.file);
        return CLI_USAGE;
    }
    series s = {.v = v,
                .def = def,
                .stem = strdup(def->out),
                .shapes = carom_drawing_shapes(v->drawing),
                .own = carom_result_contact_count(v->page.r) > 0,
                .failure = CLI_FAILED};
    if (!s.stem) return cli_say("not enough memory"), CLI_FAILED;
    s.stem[strlen(s.stem) - strlen(".pvd")] = 0;
    const char *slash = strrchr(s.stem, '/');
    s.base = slash ? slash + 1 : s.stem;
    int status = CLI_USAGE;
    if (s.shapes == 0)
        cli_say("%s: the model has no bodies and no `draw` section, so there is nothing to export", v->page.file);
    else if (carom_result_rows(v->page.r) < 1) cli_say("%s has no rows", v->page.file);
    else status = save_all(&s) ? CLI_DONE : s.failure;
    release(&s);
    return status;
}

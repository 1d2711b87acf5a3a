// hulls.c: hulls and meshes as they are written, and the mass of solids of even density.
#include "derive/shapes/cloud.h"
#include "derive/shapes/shapes.h"
#include "derive/shapes/split.h"
#include "read/mesh.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 1000 }; // one shape each
// -- points -----------------------------------------------------------------------------------------------------------

/// Points of each part of a file, or of the list of points or of hulls that stands there.
typedef struct points {
    int n;          // 0: listed
    double (*x)[3];
} points;

carom_status carom_shape_file(resolver *r, const carom_datum *n, int *which) {
    const carom_mech *x = r->mech;
    for (*which = 0; *which < x->nmatrices && strcmp(x->matrices[*which].name, n->text) != 0;) ++*which;
    if (*which == x->nmatrices)
        return carom_fault(
            r, n, 0, "the file '%.100s' is not given; from a program hand it over like a matrix of that name", n->text);
    r->m->matrix_used[*which] = true;
    return CAROM_OK;
}

// The file that the model names, as it was given beside it; its parts.  The convex ones of a mesh, or all points for
// one hull.
static carom_status find_mesh(resolver *r, const carom_datum *n, bool parts, carom_mesh **out) {
    const carom_mech *x = r->mech;
    int k = 0;
    CAROM_TRY(carom_shape_file(r, n, &k));
    if (!r->m->meshes) r->m->meshes = carom_pool_take(&r->m->memory, (size_t)x->nmatrices * sizeof *r->m->meshes);
    if (!r->m->meshes) return carom_fault_memory(r);
    r->m->nmeshes = x->nmatrices;
    carom_mesh *mesh = *out = &r->m->meshes[k];
    if (mesh->nt == 0)
        CAROM_TRY(carom_mesh_read(x->matrices[k].text, x->matrices[k].length, x->matrices[k].file, mesh, r->err));
    if (!parts) return CAROM_OK;
    if (mesh->nparts > MOST_PARTS)
        return carom_fault(r, n, 0, "'%.100s' has %d parts; at most %d are possible", n->text, mesh->nparts,
                           MOST_PARTS);
    return carom_mesh_closed(mesh, x->matrices[k].file, r->err);
}

// -- hulls and solids of files: made once, however many bodies have them ----------------------------------------------

/// Corners of the hull of one part of a file (-1: of all of it), or of one of its solids, in the file's frame.
typedef struct kept_points {
    int file, part, corners, solids; // solids > 0: all of these solids are kept
    int n, of;                       // points of the file
    double (*x)[3];
    double error;                    // largest distance of a point of the file from the hull
    double share;                    // of a mesh that is solids: volume of the mesh / volume of all solids; 0: it is
                                     // not closed
    int pieces;
    struct kept_points *next;
} kept_points;

static carom_status made(resolver *r, const carom_datum *n, const char *where, carom_hull_fault fault) {
    switch (fault) {
    case CAROM_HULL_OK: return CAROM_OK;
    case CAROM_HULL_FLAT:
        return carom_fault(r, n, 0, "the points of %s lie in one plane, or nearly; a hull has a volume", where);
    case CAROM_HULL_LARGE:
        return carom_fault(r, n, 0, "the hull of %s has too many corners, at most %d are possible; use a coarser one%s",
                           where, CAROM_HULL_CORNERS,
                           carom_cloud_any() ? "" : ", or a carom that was built with Qhull, which simplifies it");
    case CAROM_HULL_ROUGH:
        return carom_fault(
            r, n, 0,
            "the hull of %s is not well defined: points nearly coincide or nearly lie in a plane; remove some%s", where,
            carom_cloud_any() ? "" : ", or use a carom that was built with Qhull");
    case CAROM_HULL_MEMORY: break;
    }
    return carom_fault_memory(r);
}

static kept_points *find_kept(const carom_model *m, int file, int part, int corners, int solids) {
    kept_points *k = m->kept;
    while (k && !(k->file == file && k->part == part && k->corners == corners && k->solids == solids)) k = k->next;
    return k;
}

// Corners of the hull of these points; they are kept under `key`.
static carom_status keep_hull(resolver *r, const carom_datum *n, const char *where, const double (*x)[3], int count,
                              kept_points key, kept_points **out) {
    carom_hull hull = {0};
    CAROM_TRY(made(r, n, where, carom_cloud_hull(x, count, key.corners, &hull, &key.error)));
    kept_points *k = carom_pool_take(&r->m->memory, sizeof *k);
    key.n = hull.nv, key.of = count, key.next = r->m->kept;
    key.x = carom_pool_take(&r->m->memory, (size_t)hull.nv * sizeof *key.x);
    if (!k || !key.x) return carom_hull_free(&hull), carom_fault_memory(r);
    memcpy(key.x, hull.v, (size_t)hull.nv * sizeof *key.x);
    carom_hull_free(&hull);
    *k = key;
    r->m->kept = *out = k;
    return CAROM_OK;
}

static carom_status keep_solids(resolver *r, const carom_datum *n, const char *where, int file, int corners, int solids,
                                const carom_mesh *mesh) {
    carom_piece *pieces = NULL;
    carom_error ignored;
    double sum = 0, own = 0;
    kept_points *k = NULL;
    if (find_kept(r->m, file, 0, corners, solids)) return CAROM_OK;
    if (!carom_cloud_any())
        return carom_fault(
            r, n, 0, "`solids` needs a carom that was built with Qhull; split '%.100s' into convex parts", n->text);
    const int count = carom_mesh_split(mesh, solids, &pieces, &sum);
    if (count < 0) return carom_fault_memory(r);
    if (carom_mesh_closed(mesh, "", &ignored) == CAROM_OK)
        for (int i = 0; i < mesh->nparts; ++i) own += carom_mesh_volume(mesh, i);
    carom_status status = count ? CAROM_OK : made(r, n, where, CAROM_HULL_FLAT);
    for (int i = count - 1; i >= 0 && status == CAROM_OK; --i)
        status = keep_hull(
            r, n, where, (const double(*)[3])pieces[i].x, pieces[i].n,
            (kept_points){
                .file = file, .part = i, .corners = corners, .solids = solids, .pieces = count, .share = own / sum},
            &k);
    carom_pieces_free(pieces, count);
    return status;
}

// `corners` and `solids`, or their defaults.
static carom_status read_limits(resolver *r, const carom_mech_shape *x, int *corners, int *solids) {
    double value = carom_given(&x->solids) ? 64 : CAROM_HULL_CORNERS, most = 0;
    if (carom_given(&x->corners)) CAROM_TRY(carom_resolve_number(r, &x->corners, "corners", &value));
    if (carom_given(&x->solids)) CAROM_TRY(carom_resolve_number(r, &x->solids, "solids", &most));
    if (!(value >= 4 && value <= CAROM_HULL_CORNERS) || value != floor(value))
        return carom_fault(r, &x->corners, 0, "corners must be an integer from 4 to %d, got %g", CAROM_HULL_CORNERS,
                           value);
    if (carom_given(&x->solids) && (!(most >= 1 && most <= MOST_PARTS) || most != floor(most)))
        return carom_fault(r, &x->solids, 0, "solids must be an integer from 1 to %d, got %g", MOST_PARTS, most);
    *corners = (int)value, *solids = (int)most;
    return CAROM_OK;
}

static bool is_mesh(const carom_mech_shape *x) { return carom_given(&x->size) && carom_datum_is(x->size.key, "mesh"); }

carom_status carom_mesh_parts(resolver *r, const carom_mech_shape *x, int *n) {
    carom_mesh *mesh = NULL;
    *n = 1;
    if (!is_mesh(x)) return CAROM_OK;
    if (x->size.kind == CAROM_LIST && x->size.count > MOST_PARTS)
        return carom_fault(r, &x->size, 0, "a mesh has at most %d parts", MOST_PARTS);
    if (x->size.kind == CAROM_LIST && x->size.count > 1) *n = x->size.count;
    int corners, solids, file;
    CAROM_TRY(read_limits(r, x, &corners, &solids));
    if (solids && x->size.kind != CAROM_TEXT)
        return carom_fault(r, &x->solids, 0, "`solids` belongs to a mesh that is a file");
    if (x->size.kind != CAROM_TEXT) return CAROM_OK;
    CAROM_TRY(find_mesh(r, &x->size, solids == 0, &mesh));
    *n = mesh->nparts;
    if (solids == 0) return CAROM_OK;
    CAROM_TRY(carom_shape_file(r, &x->size, &file));
    CAROM_TRY(keep_solids(r, &x->size, x->size.text, file, corners, solids, mesh));
    *n = find_kept(r->m, file, 0, corners, solids)->pieces;
    return CAROM_OK;
}

/// Where the points of a shape are in its body.
typedef struct pose { const shape *s; double scale[3]; } pose;

static void put_point(const pose *f, const double *p, double *x) {
    const double y[3] = {f->scale[0] * p[0], f->scale[1] * p[1], f->scale[2] * p[2]}, *X = f->s->X;
    for (int k = 0; k < 3; ++k) x[k] = f->s->at[k] + X[3 * k] * y[0] + X[3 * k + 1] * y[1] + X[3 * k + 2] * y[2];
}

static carom_status read_scale(resolver *r, const carom_datum *n, double *scale) {
    scale[0] = scale[1] = scale[2] = 1;
    if (!carom_given(n)) return CAROM_OK;
    if (n->kind == CAROM_LIST) CAROM_TRY(carom_resolve_vector(r, n, "the scale", 3, scale));
    else {
        CAROM_TRY(carom_resolve_number(r, n, "the scale", &scale[0]));
        scale[1] = scale[2] = scale[0];
    }
    for (int k = 0; k < 3; ++k)
        if (scale[k] == 0) return carom_fault(r, n, 0, "a scale must not be 0");
    return CAROM_OK;
}

static carom_status read_list(resolver *r, const carom_datum *n, const pose *f, points *x) {
    if (n->kind != CAROM_LIST || n->count < 4 || n->count > CAROM_HULL_POINTS)
        return carom_fault(r, n, 0, "a hull is a list of 4 to %d points [x, y, z]", CAROM_HULL_POINTS);
    x->x = malloc((size_t)n->count * sizeof *x->x);
    if (!x->x) return carom_fault_memory(r);
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c) {
        double p[3];
        CAROM_TRY(carom_resolve_vector(r, c, "a corner of a hull", 3, p));
        put_point(f, p, x->x[x->n++]);
    }
    return CAROM_OK;
}

// Points of a file in its own frame; part < 0: of all parts.
static carom_status read_file(resolver *r, const carom_datum *n, int part, points *x, double *volume) {
    carom_mesh *mesh = NULL;
    CAROM_TRY(find_mesh(r, n, part >= 0, &mesh));
    const int from = part < 0 ? 0 : mesh->part_at[part], to = part < 0 ? mesh->nt : mesh->part_at[part + 1];
    bool *used = calloc((size_t)mesh->nv, sizeof *used);
    x->x = malloc((size_t)mesh->nv * sizeof *x->x);
    if (!x->x || !used) return free(used), carom_fault_memory(r);
    for (int k = 3 * from; k < 3 * to; ++k) used[mesh->t[k / 3][k % 3]] = true;
    for (int i = 0; i < mesh->nv; ++i)
        if (used[i]) memcpy(x->x[x->n++], mesh->v[i], sizeof *x->x);
    free(used);
    if (part >= 0) *volume = carom_mesh_volume(mesh, part);
    return CAROM_OK;
}

static carom_status take_kept(resolver *r, const kept_points *k, points *x) {
    x->x = malloc((size_t)k->n * sizeof *x->x);
    if (!x->x) return carom_fault_memory(r);
    memcpy(x->x, k->x, (size_t)k->n * sizeof *x->x);
    x->n = k->n;
    return CAROM_OK;
}

// The points of a part of a file, or of one of its solids; of many the corners of their hull.
static carom_status read_points(resolver *r, const carom_mech_shape *of, int part, const char *where, points *x,
                                double *volume) {
    enum { FEW = 256 };
    const carom_datum *n = &of->size;
    int corners, solids, file;
    CAROM_TRY(read_limits(r, of, &corners, &solids));
    CAROM_TRY(carom_shape_file(r, n, &file));
    kept_points *k = find_kept(r->m, file, part, corners, solids);
    if (k && *volume < 0) return take_kept(r, k, x);
    if (solids) return carom_fault(r, &of->solids, 0, "`solids` belongs to a mesh; write `mesh: %.100s`", n->text);
    CAROM_TRY(read_file(r, n, part, x, volume));
    if (x->n <= FEW) return CAROM_OK;
    if (!k)
        CAROM_TRY(keep_hull(r, n, where, (const double(*)[3])x->x, x->n,
                            (kept_points){.file = file, .part = part, .corners = corners}, &k));
    free(x->x);
    *x = (points){0};
    return take_kept(r, k, x);
}

// The ball round the middle of its bounding box.
void carom_shape_enclose(shape *s) {
    double low[3], high[3];
    memcpy(low, s->hull->v[0], sizeof low), memcpy(high, low, sizeof high);
    for (int i = 0; i < 3 * s->hull->nv; ++i)
        low[i % 3] = fmin(low[i % 3], s->hull->v[i / 3][i % 3]),
                high[i % 3] = fmax(high[i % 3], s->hull->v[i / 3][i % 3]);
    for (int k = 0; k < 3; ++k) s->at[k] = (low[k] + high[k]) / 2;
    s->bound_radius = 0;
    for (int i = 0; i < s->hull->nv; ++i) {
        const double *v = s->hull->v[i];
        s->bound_radius = fmax(s->bound_radius, hypot(hypot(v[0] - s->at[0], v[1] - s->at[1]), v[2] - s->at[2]));
    }
}

carom_status carom_read_hull(resolver *r, const carom_mech_shape *of, int part, const char *where, shape *s) {
    static const double CONVEX = 1e-5; // of the volume
    const carom_datum *n = &of->size;
    const bool mesh = is_mesh(of), file = n->kind == CAROM_TEXT;
    int corners, solids;
    if (mesh && n->kind == CAROM_LIST && n->count == 0)
        return carom_fault(r, n, 0, "a mesh is a file, or a list of hulls");
    points x = {0};
    carom_hull hull = {0};
    pose f = {.s = s};
    double solid = mesh ? 0 : -1, error = 0, c[3], second[6];
    CAROM_TRY(read_limits(r, of, &corners, &solids));
    CAROM_TRY(read_scale(r, &of->scale, f.scale));
    if (solids) solid = -1; // they need not be convex
    carom_status status = file ? read_points(r, of, mesh ? part : -1, where, &x, &solid)
                               : read_list(r, mesh && n->kind == CAROM_LIST ? &n->item[part] : n, &f, &x);
    for (int i = 0; file && status == CAROM_OK && i < x.n; ++i) {
        const double p[3] = {x.x[i][0], x.x[i][1], x.x[i][2]};
        put_point(&f, p, x.x[i]);
    }
    if (status == CAROM_OK)
        status = made(r, n, where, carom_cloud_hull((const double(*)[3])x.x, x.n, corners, &hull, &error));
    solid *= fabs(f.scale[0] * f.scale[1] * f.scale[2]);
    if (status == CAROM_OK && solid > 0 && carom_hull_volume(&hull, c, second) > (1 + CONVEX) * solid)
        status = carom_fault(r, n, 0,
                             "part %d of '%.100s' is not convex: it fills %.3g of its hull; add `solids: 16` for up to "
                             "16 convex solids that contain it, or take the hull of all: `hull: %.100s`",
                             part + 1, n->text, solid / carom_hull_volume(&hull, c, second), n->text);
    if (status == CAROM_OK && !carom_patch_keep(r->m, &hull, s)) status = carom_fault_memory(r);
    carom_hull_free(&hull);
    free(x.x);
    if (status != CAROM_OK) return status;
    s->X = carom_shape_upright; // corners are in the body's frame
    carom_shape_enclose(s);
    return CAROM_OK;
}

// -- what the check of a model says about them ------------------------------------------------------------------------

void carom_kept_describe(const carom_model *m, void (*say)(void *user, const char *text), void *user) {
    char text[400];
    for (const kept_points *k = m->kept; k; k = k->next) {
        const char *file = m->mech->matrices[k->file].file;
        if (k->solids == 0 && k->error > 0) {
            snprintf(text, sizeof text,
                     "'%.100s': the hull of %d points has %d corners; no point is farther outside than %.3g, in the "
                     "file's units",
                     file, k->of, k->n, k->error);
            say(user, text);
        }
        if (k->solids == 0 || k->part != 0) continue;
        double error = 0;
        int corners = 0;
        for (const kept_points *other = m->kept; other; other = other->next)
            if (other->file == k->file && other->solids == k->solids && other->corners == k->corners)
                error = fmax(error, other->error), corners = other->n > corners ? other->n : corners;
        const int used = snprintf(text, sizeof text,
                                  "'%.100s': %d convex solid%s of at most %d corners; no point is farther outside than "
                                  "%.3g, in the file's units",
                                  file, k->pieces, k->pieces == 1 ? "" : "s", corners, error);
        if (k->share > 0 && used > 0 && (size_t)used < sizeof text)
            snprintf(text + used, sizeof text - (size_t)used, "; the mesh fills %.3g of them", k->share);
        say(user, text);
    }
}

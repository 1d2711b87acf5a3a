// hulls.c: hulls and meshes as they are written, and the mass of solids of even density.
#include "derive/shapes/shapes.h"
#include "read/mesh.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARTS = 1000 };
// -- points -------------------------------------------------------------------------------------------------------------

/// Points of each part of a file, or of the list of points or of hulls that stands there.
typedef struct points {
    int n;          // 0: listed
    double (*x)[3];
} points;

carom_status carom_shape_file(resolver *r, const carom_datum *n, int *which) {
    const carom_mech *x = r->mech;
    for (*which = 0; *which < x->nmatrices && strcmp(x->matrices[*which].name, n->text) != 0;) ++*which;
    if (*which == x->nmatrices) return carom_fault(r, n, 0, "the file '%.100s' is not given; from a program hand it over like a matrix of that name", n->text);
    r->m->matrix_used[*which] = true;
    return CAROM_OK;
}

// The file that the model names, as it was given beside it; its parts.  The convex ones of a mesh, or all points for one hull.
static carom_status find_mesh(resolver *r, const carom_datum *n, bool parts, carom_mesh **out) {
    const carom_mech *x = r->mech;
    int k = 0;
    CAROM_TRY(carom_shape_file(r, n, &k));
    if (!r->m->meshes) r->m->meshes = carom_pool_take(&r->m->memory, (size_t)x->nmatrices * sizeof *r->m->meshes);
    if (!r->m->meshes) return carom_fault_memory(r);
    r->m->nmeshes = x->nmatrices;
    carom_mesh *mesh = *out = &r->m->meshes[k];
    if (mesh->nt == 0) CAROM_TRY(carom_mesh_read(x->matrices[k].text, x->matrices[k].length, x->matrices[k].file, mesh, r->err));
    if (!parts) return CAROM_OK;
    if (mesh->nparts > MOST_PARTS) return carom_fault(r, n, 0, "'%.100s' has %d parts; at most %d are possible", n->text, mesh->nparts, MOST_PARTS);
    return carom_mesh_closed(mesh, x->matrices[k].file, r->err);
}

static bool is_mesh(const carom_mech_shape *x) { return carom_given(&x->size) && carom_datum_is(x->size.key, "mesh"); }

carom_status carom_mesh_parts(resolver *r, const carom_mech_shape *x, int *n) {
    carom_mesh *mesh = NULL;
    *n = 1;
    if (!is_mesh(x)) return CAROM_OK;
    if (x->size.kind == CAROM_LIST && x->size.count > MOST_PARTS) return carom_fault(r, &x->size, 0, "a mesh has at most %d parts", MOST_PARTS);
    if (x->size.kind == CAROM_LIST && x->size.count > 1) *n = x->size.count;
    if (x->size.kind == CAROM_TEXT) {
        CAROM_TRY(find_mesh(r, &x->size, true, &mesh));
        *n = mesh->nparts;
    }
    return CAROM_OK;
}

static void put_point(const shape *s, const double *p, double *x) {
    for (int k = 0; k < 3; ++k) x[k] = s->at[k] + s->X[3 * k] * p[0] + s->X[3 * k + 1] * p[1] + s->X[3 * k + 2] * p[2];
}

static carom_status read_list(resolver *r, const carom_datum *n, const shape *s, points *x) {
    if (n->kind != CAROM_LIST || n->count < 4 || n->count > CAROM_HULL_POINTS)
        return carom_fault(r, n, 0, "a hull is a list of 4 to %d points [x, y, z]", CAROM_HULL_POINTS);
    x->x = malloc((size_t)n->count * sizeof *x->x);
    if (!x->x) return carom_fault_memory(r);
    for (const carom_datum *c = carom_first(n); c != carom_end(n); ++c) {
        double p[3];
        CAROM_TRY(carom_resolve_vector(r, c, "a corner of a hull", 3, p));
        put_point(s, p, x->x[x->n++]);
    }
    return CAROM_OK;
}

// part < 0: of all parts.  A corner may stand there several times.
static carom_status read_file(resolver *r, const carom_datum *n, int part, const shape *s, points *x, double *volume) {
    carom_mesh *mesh = NULL;
    CAROM_TRY(find_mesh(r, n, part >= 0, &mesh));
    const int from = part < 0 ? 0 : mesh->part_at[part], to = part < 0 ? mesh->nt : mesh->part_at[part + 1];
    bool *used = calloc((size_t)mesh->nv, sizeof *used);
    x->x = malloc((size_t)mesh->nv * sizeof *x->x);
    if (!x->x || !used) return free(used), carom_fault_memory(r);
    for (int k = 3 * from; k < 3 * to; ++k) used[mesh->t[k / 3][k % 3]] = true;
    for (int i = 0; i < mesh->nv; ++i)
        if (used[i]) put_point(s, mesh->v[i], x->x[x->n++]);
    free(used);
    if (part >= 0) *volume = carom_mesh_volume(mesh, part);
    return CAROM_OK;
}

static carom_status made(resolver *r, const carom_datum *n, const char *where, carom_hull_fault fault) {
    switch (fault) {
    case CAROM_HULL_OK: return CAROM_OK;
    case CAROM_HULL_FLAT: return carom_fault(r, n, 0, "the points of %s lie in one plane, or nearly; a hull has a volume", where);
    case CAROM_HULL_LARGE: return carom_fault(r, n, 0, "the hull of %s has more than %d corners; use a coarser one", where, CAROM_HULL_CORNERS);
    case CAROM_HULL_ROUGH: return carom_fault(r, n, 0, "the hull of %s is not well defined: points nearly coincide or nearly lie in a plane; remove some", where);
    case CAROM_HULL_MEMORY: break;
    }
    return carom_fault_memory(r);
}

// The ball round the middle of its bounding box.
void carom_shape_enclose(shape *s) {
    double low[3], high[3];
    memcpy(low, s->hull->v[0], sizeof low), memcpy(high, low, sizeof high);
    for (int i = 0; i < 3 * s->hull->nv; ++i) low[i % 3] = fmin(low[i % 3], s->hull->v[i / 3][i % 3]), high[i % 3] = fmax(high[i % 3], s->hull->v[i / 3][i % 3]);
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
    const bool mesh = is_mesh(of);
    if (mesh && n->kind == CAROM_LIST && n->count == 0) return carom_fault(r, n, 0, "a mesh is a file, or a list of hulls");
    points x = {0};
    carom_hull hull = {0};
    double solid = 0, c[3], second[6];
    carom_status status = n->kind == CAROM_TEXT ? read_file(r, n, mesh ? part : -1, s, &x, &solid) : read_list(r, mesh && n->kind == CAROM_LIST ? &n->item[part] : n, s, &x);
    if (status == CAROM_OK) status = made(r, n, where, carom_hull_make((const double(*)[3])x.x, x.n, &hull));
    if (status == CAROM_OK && solid > 0 && carom_hull_volume(&hull, c, second) > (1 + CONVEX) * solid)
        status = carom_fault(r, n, 0, "part %d of '%.100s' is not convex: it fills %.3g of its hull; split it into convex parts, or take the hull of all: `hull: %.100s`", part + 1, n->text,
                             solid / carom_hull_volume(&hull, c, second), n->text);
    if (status == CAROM_OK && !carom_patch_keep(r->m, &hull, s)) status = carom_fault_memory(r);
    carom_hull_free(&hull);
    free(x.x);
    if (status != CAROM_OK) return status;
    memset(s->X, 0, sizeof s->X);
    s->X[0] = s->X[4] = s->X[8] = 1; // corners are in the body's frame
    carom_shape_enclose(s);
    return CAROM_OK;
}

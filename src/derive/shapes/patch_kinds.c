// patch_kinds.c: pairs of convex solids, whose contacts are found by search and not by formulas (model/patches.c):
// their solids, and the shape of their lists.
#include "derive/shapes/shapes.h"
#include <stdlib.h>

// -- solids -----------------------------------------------------------------------------------------------------------

// Hulls of boxes, points and lines, in the body's frame.
static void put_corner(const shape *s, double x, double y, double z, double *v) {
    for (int k = 0; k < 3; ++k) v[k] = s->at[k] + s->X[3 * k] * x + s->X[3 * k + 1] * y + s->X[3 * k + 2] * z;
}

bool carom_patch_keep(carom_model *m, const carom_hull *h, shape *s) {
    void *memory = carom_pool_take(&m->memory, carom_hull_size(h));
    carom_hull *copy = carom_pool_take(&m->memory, sizeof *copy);
    if (!memory || !copy) return false;
    *copy = carom_hull_copy(h, memory);
    s->hull = copy;
    return true;
}

bool carom_patch_solid(carom_model *m, shape *s) {
    double v[8][3] = {{0}}, n[1][3], offset[1] = {0};
    int edge[1][4] = {{0, 1, -1, -1}}, at[2] = {0, 0};
    carom_hull h = {.v = v, .normal = n, .offset = offset, .face_at = at, .edge = edge};
    if (s->hull || s->space == PLANAR) return true; // in the plane there are no patches
    if (s->kind == SHAPE_PLANE) {
        h.nf = 1;
        for (int k = 0; k < 3; ++k) n[0][k] = s->X[3 * k], offset[0] += s->X[3 * k] * s->at[k];
    } else if (s->kind == SHAPE_BOX) {
        for (int i = 0; i < 8; ++i)
            put_corner(s, i & 1 ? s->half[0] : -s->half[0], i & 2 ? s->half[1] : -s->half[1],
                       i & 4 ? s->half[2] : -s->half[2], v[i]);
        if (carom_hull_make((const double(*)[3])v, 8, &h) != CAROM_HULL_OK) return false;
        const bool kept = carom_patch_keep(m, &h, s);
        carom_hull_free(&h);
        return kept;
    } else if (s->kind == SHAPE_CAPSULE) {
        h.nv = 2, h.ne = 1;
        for (int i = 0; i < 2; ++i) put_corner(s, 0, 0, i ? s->half[0] : -s->half[0], v[i]);
    } else if (s->kind == SHAPE_POINT || s->kind == SHAPE_ROUND || s->kind == SHAPE_ELLIPSOID) {
        h.nv = 1;
        put_corner(s, 0, 0, 0, v[0]);
    } else {
        return true; // there is no patch
    }
    return carom_patch_keep(m, &h, s);
}

int carom_patch_contacts(const shape *A, const shape *B) {
    static const bool known[SHAPE_SKIN + 1] = {
        [SHAPE_POINT] = true, [SHAPE_ROUND] = true, [SHAPE_CAPSULE] = true, [SHAPE_BOX] = true,
        [SHAPE_HULL] = true,  [SHAPE_PLANE] = true, [SHAPE_HEIGHTS] = true, [SHAPE_ELLIPSOID] = true};
    if (!known[A->kind] || !known[B->kind] || A->member || B->member) return 0;
    const shape *other = A->kind == SHAPE_HULL ? B : A, *smooth = A->kind == SHAPE_ELLIPSOID ? B : A;
    if (A->kind == SHAPE_ELLIPSOID || B->kind == SHAPE_ELLIPSOID)
        return smooth->kind <= SHAPE_ROUND || smooth->kind == SHAPE_ELLIPSOID || smooth->kind == SHAPE_PLANE;
    if (A->kind == SHAPE_HEIGHTS || B->kind == SHAPE_HEIGHTS)
        return A->kind == SHAPE_PLANE || B->kind == SHAPE_PLANE || A->kind == B->kind ? 0 : CAROM_PATCH;
    return other->kind <= SHAPE_ROUND ? 1 : other->kind == SHAPE_CAPSULE ? 5 : CAROM_PATCH;
}

// -- a kind -----------------------------------------------------------------------------------------------------------

static bool dense(terms *t, int columns, int n, bool gradient) {
    const int each = gradient ? n * n : n;
    t->n = columns * each;
    t->i = malloc((size_t)t->n * sizeof *t->i);
    t->l = gradient ? malloc((size_t)t->n * sizeof *t->l) : NULL;
    if (!t->i || (gradient && !t->l)) return false;
    for (int e = 0; e < t->n; ++e) {
        t->i[e] = gradient ? e % each / n : e % n;
        if (gradient) t->l[e] = e % n;
    }
    return true;
}

// Every direction may act on all velocities of both bodies.
carom_status carom_patch_kind(carom_model *m, pair_kind *k, const constraint *links, carom_error *err) {
    const pair *p = k->first;
    carom_model *two = k->two = calloc(1, sizeof *two);
    const int directions = 1 + links->tangents, n = p->B->body->v >= 0 ? 12 : 6, ndir = p->count * directions;
    if (!two) return carom_model_no_memory(m, err);
    const size_t size = (size_t)ndir + 1;
    two->links = carom_pool_take(&two->memory, (size_t)p->count * sizeof *two->links);
    two->pairs = carom_pool_take(&two->memory, sizeof *two->pairs);
    two->place.W = carom_pool_take(&two->memory, size * sizeof *two->place.W);
    two->place.dW = carom_pool_take(&two->memory, size * sizeof *two->place.dW);
    two->place.D = carom_pool_take(&two->memory, size * sizeof *two->place.D);
    two->place.D_row = carom_pool_take(&two->memory, size * (size_t)n * sizeof *two->place.D_row);
    if (!two->links || !two->pairs || !two->place.W || !two->place.dW || !two->place.D || !two->place.D_row ||
        !dense(&two->W, ndir, n, false) || !dense(&two->dW, ndir, n, true))
        return carom_model_no_memory(m, err);
    *two->pairs = *p;
    two->npairs = 1;
    two->nc = p->count;
    two->ndir = ndir;
    two->nq = n == 12 ? 14 : 7, two->nv = n;
    for (int i = 0; i < p->count; ++i) {
        two->links[i] = links[i];
        two->links[i].dir = i * directions, two->links[i].ndir = directions;
    }
    for (int d = 0; d <= ndir; ++d) two->place.W[d] = two->place.D[d] = d * n, two->place.dW[d] = d * n * n;
    for (int e = 0; e < ndir * n; ++e) two->place.D_row[e] = e % n;
    k->patch = true;
    k->nq[0] = 7, k->nq[1] = n == 12 ? 7 : 0;
    k->nv[0] = 6, k->nv[1] = n - 6;
    for (int i = 0; i < n * n; ++i) k->couples[i / n][i % n] = true;
    if (two->dW.n > m->pair_count) m->pair_count = two->dW.n;
    return CAROM_OK;
}

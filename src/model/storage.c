// storage.c: in what storage the matrices of a model are: diagonal, banded, dense or sparse.
#include "linalg/places.h"
#include "flex/member.h"
#include "model/pairs.h"
#include "system/system.h"
#include <carom/sparse.h>
#include <stdlib.h>
#include "model/meet.inc"

enum { LARGEST_DENSE = 4000 }; // 128 MB: where nothing factorises sparse matrices, as in the engine of the page

typedef carom_places places;

static void put(places *p, int i, int j) { carom_places_put(p, i, j); }

static void put_terms(places *p, const int *i, const int *j, int n, bool both) {
    for (int e = 0; e < n; ++e) {
        put(p, i[e], j[e]);
        if (both) put(p, j[e], i[e]);
    }
}

static void put_member(places *p, const member *b, bool mass) {
    p->shift = b->v;
    carom_member_entries(b->flex, mass, p, carom_places_put);
    p->shift = 0;
}

static void put_mass(places *p, const carom_model *m) {
    for (int k = 0; m->nfree && k < m->nbodies; ++k)
        for (int i = 0; m->bodies[k].free && m->bodies[k].space == SPATIAL && i < 9; ++i)
            put(p, m->bodies[k].v + 3 + i / 3, m->bodies[k].v + 3 + i % 3);
    put_terms(p, m->mass.i, m->mass.j, m->mass.n, true);
    for (int k = 0; k < m->nmember; ++k) put_member(p, &m->members[k], true);
}

// A pair that shares its tape: derivatives of its directions.
static void put_pair(places *p, const carom_model *m, const pair *x) {
    if (!x->shares) return;
    const pair_kind *k = &m->kinds[x->kind];
    for (int i = 0; i < k->two->nv; ++i)
        for (int l = 0; l < k->two->nv; ++l)
            if (k->couples[i][l]) put(p, carom_kind_velocity(k, x, i), carom_kind_velocity(k, x, l));
}

// Pairs that come and go: derivatives of their directions, as far as they do not couple two bodies.
static void put_bodies(places *p, const carom_model *m) {
    for (int k = 0; m->near && k < m->nbodies; ++k) {
        const body *b = &m->bodies[k];
        const int n = b->v < 0 ? 0 : b->space == SPATIAL ? 6 : 3;
        for (int i = 0; i < n * n; ++i) put(p, b->v + i / n, b->v + i % n);
    }
}

static int band_of(const int *i, const int *j, int n, int band) {
    for (int e = 0; e < n; ++e)
        if (abs(i[e] - j[e]) > band) band = abs(i[e] - j[e]);
    return band;
}

// Is it a list whose bodies are not those of a world?  Then derivatives have room for two that may touch.
static bool coupled_list(const carom_model *m) { return m->near && !carom_near_world(m); }

static bool may_meet(const struct near_pairs *x, int a, int b) {
    for (int rule = 0; rule < x->nrules; ++rule)
        if (shapes_meet(x->side + (size_t)rule * (size_t)x->nshapes, x->rule[rule].ignore, x->rule[rule].nignored,
                        x->nshapes, a, b))
            return true;
    return false;
}

// Bodies of such a list that may touch each other; returns the band.  p NULL: the band alone.
static int put_meeting(places *p, const carom_model *m, int band) {
    const struct near_pairs *x = m->near;
    for (int a = 0; coupled_list(m) && a < x->nshapes; ++a)
        for (int b = a + 1, last = -1; b < x->nshapes; ++b) {
            const body *A = x->shape[a]->body, *B = x->shape[b]->body;
            if (x->group[a] < 0 || x->group[b] < 0 || A == B || A->v < 0 || B->v < 0 || B->v == last) continue;
            if (!may_meet(x, a, b)) continue;
            const int n = A->space == SPATIAL ? 6 : 3, ends[2][2] = {{A->v, B->v + n - 1}, {A->v + n - 1, B->v}};
            last = B->v;
            for (int i = 0; i < 2; ++i) band = band_of(&ends[i][0], &ends[i][1], 1, band);
            for (int i = 0; p && i < n * n; ++i)
                put(p, A->v + i / n, B->v + i % n), put(p, B->v + i % n, A->v + i / n);
        }
    return band;
}

// All that the storage of the mass matrix has room for: a tangent is M plus other terms, and the whole band of a
// banded M is added to it, zeros included.
static void put_band(places *p, carom_shape mass) {
    const int band = mass.storage == CAROM_BANDED ? mass.band : 0;
    for (int j = 0; j < mass.n; ++j)
        for (int i = j < band ? 0 : j - band; i <= j + band && i < mass.n; ++i) put(p, i, j);
}

static void put_tangent(places *p, const carom_model *m) {
    put_bodies(p, m);
    put_meeting(p, m, 0);
    put_mass(p, m);
    put_band(p, m->sys.mass_shape);
    for (int k = 0; k < m->nmember; ++k) put_member(p, &m->members[k], false);
    put_terms(p, m->K.i, m->K.j, m->K.n, false);
    put_terms(p, m->C.i, m->C.j, m->C.n, false);
    put_terms(p, m->dM.i, m->dM.l, m->dM.n, false);
    put_terms(p, m->dM.j, m->dM.l, m->dM.n, false);
    put_terms(p, m->dW.i, m->dW.l, m->dW.n, false);
    for (int i = 0; i < m->npairs; ++i) put_pair(p, m, &m->pairs[i]);
}

static int band_of_pair(const carom_model *m, const pair *x, int band) {
    if (!x->shares) return band;
    const pair_kind *k = &m->kinds[x->kind];
    for (int i = 0; i < k->two->nv; ++i)
        for (int l = 0; l < k->two->nv; ++l) {
            const int a = carom_kind_velocity(k, x, i), b = carom_kind_velocity(k, x, l);
            if (k->couples[i][l]) band = band_of(&a, &b, 1, band);
        }
    return band;
}

// Rows of column k of W + h D: those of W and those of its derivatives.
static int rows_of_column(const carom_model *m, int k) {
    int n = m->place.W[k + 1] - m->place.W[k];
    for (int e = m->place.D[k]; e < m->place.D[k + 1]; ++e) {
        bool known = false;
        for (int i = m->place.W[k]; i < m->place.W[k + 1] && !known; ++i) known = m->W.i[i] == m->place.D_row[e];
        n += !known;
    }
    return n;
}

static int widest_column(const carom_model *m) {
    int widest = 1;
    for (int k = 0; k < m->ndir; ++k) {
        const int rows = rows_of_column(m, k);
        if (rows > widest) widest = rows;
    }
    for (int k = 0; k < m->nkinds; ++k) {
        const int more = widest_column(m->kinds[k].two);
        if (more > widest) widest = more;
    }
    return widest;
}

// Sparse when a quarter of the entries are zero by structure, else dense.  Without KLU all that fit are dense.
static carom_status sparse(const carom_model *m, void (*fill)(places *, const carom_model *), carom_pattern **pattern,
                           carom_shape *shape, carom_error *err) {
    places p = {0};
    const carom_direct *direct = carom_direct_klu();
    if (!direct && m->nv <= LARGEST_DENSE) return CAROM_OK;
    fill(&p, m);
    *pattern = carom_places_pattern(&p, m->nv, direct);
    if (!*pattern) return carom_model_no_memory(m, err);
    // chosen: with fewer zeros a dense factor does little more
    if ((double)(*pattern)->start[m->nv] < 0.75 * m->nv * (double)m->nv) *shape = carom_shape_sparse(*pattern);
    return CAROM_OK;
}

bool carom_model_mass_whole(const carom_model *m) {
    carom_shape shape;
    const int band = band_of(m->mass.i, m->mass.j, m->mass.n, 0);
    return m->nmember == 0 && m->nfree == 0 && carom_band_shape(m->nv, band, true, &shape) &&
           shape.storage == CAROM_DENSE;
}

// Velocities from i on are coupled up to last[i].
static void couple(int *last, int i, int j) {
    const int low = i < j ? i : j, high = i < j ? j : i;
    if (last[low] < high) last[low] = high;
}

static void couple_terms(int *last, const int *i, const int *j, int n) {
    for (int e = 0; e < n; ++e) couple(last, i[e], j[e]);
}

carom_status carom_model_couple(carom_model *m, bool forces, carom_error *err) {
    int *last = malloc(((size_t)m->nv + 1) * sizeof *last),
        *part = carom_pool_take(&m->memory, ((size_t)m->nv + 1) * sizeof *part);
    if (!last || !part) return free(last), carom_model_no_memory(m, err);
    for (int i = 0; i < m->nv; ++i) last[i] = i;
    couple_terms(last, m->mass.i, m->mass.j, m->mass.n);
    couple_terms(last, m->dM.i, m->dM.l, m->dM.n);
    couple_terms(last, m->dM.j, m->dM.l, m->dM.n);
    if (forces) {
        couple_terms(last, m->K.i, m->K.j, m->K.n);
        couple_terms(last, m->C.i, m->C.j, m->C.n);
        couple_terms(last, m->dW.i, m->dW.l, m->dW.n);
    }
    for (int k = 0; k < m->nmember; ++k)
        if (m->members[k].count) couple(last, m->members[k].v, m->members[k].v + m->members[k].count - 1);
    for (int k = 0; k < m->nbodies; ++k)
        if (m->bodies[k].v >= 0) couple(last, m->bodies[k].v, m->bodies[k].v + (m->bodies[k].space == SPATIAL ? 5 : 2));
    int n = 0, end = 0;
    for (int i = 0; i < m->nv; ++i) {
        if (i >= end) part[n++] = i;
        if (last[i] + 1 > end || i >= end) end = last[i] + 1;
    }
    part[n] = m->nv;
    free(last);
    m->sys.part = part;
    m->sys.nparts = n;
    return CAROM_OK;
}

carom_status carom_model_shapes(carom_model *m, carom_error *err) {
    carom_system *s = &m->sys;
    int band = band_of(m->mass.i, m->mass.j, m->mass.n, 0);
    for (int k = 0; m->nfree && k < m->nbodies && band < 2; ++k)
        for (int i = 0; m->bodies[k].free && i < 9; ++i)
            if (i % 4 != 0 && m->bodies[k].J[i] != 0) band = 2;
    for (int k = 0; k < m->nmember; ++k)
        if (carom_member_mass_band(m->members[k].flex) > band) band = carom_member_mass_band(m->members[k].flex);
    if (!carom_band_shape(m->nv, band, true, &s->mass_shape))
        CAROM_TRY(sparse(m, put_mass, &m->mass_pattern, &s->mass_shape, err));
    for (int k = 0; k < m->nmember; ++k)
        if (carom_member_band(m->members[k].flex) > band) band = carom_member_band(m->members[k].flex);
    band = band_of(m->K.i, m->K.j, m->K.n, band);
    band = band_of(m->C.i, m->C.j, m->C.n, band);
    band = band_of(m->dM.i, m->dM.l, m->dM.n, band);
    band = band_of(m->dM.j, m->dM.l, m->dM.n, band);
    band = band_of(m->dW.i, m->dW.l, m->dW.n, band);
    for (int i = 0; i < m->npairs; ++i) band = band_of_pair(m, &m->pairs[i], band);
    if (m->near && band < 5) band = 5;
    if (coupled_list(m) && m->nv <= CAROM_SMALLEST_SPARSE) band = m->nv;
    band = put_meeting(NULL, m, band);
    if (!carom_band_shape(m->nv, band, true, &s->tangent_shape))
        CAROM_TRY(sparse(m, put_tangent, &m->tangent_pattern, &s->tangent_shape, err));
    if (m->near) m->near->couples = coupled_list(m);
    CAROM_TRY(carom_model_couple(m, false, err));
    int widest = widest_column(m);
    for (int k = 0; k < m->nkinds; ++k) { // a column of a world has all velocities of its two bodies
        const int both = m->kinds[k].nv[0] + m->kinds[k].nv[1];
        if (m->kinds[k].first->listed && widest < both) widest = both;
    }
    s->column_stride = m->nv > 16 && 2 * widest < m->nv ? widest : m->nv;
    return CAROM_OK;
}

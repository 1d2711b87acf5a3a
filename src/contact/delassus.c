// delassus.c: see delassus.h.
//
// Small systems get their columns anew for every operator.  Large ones must not: a column costs a solution, a stored
// column of F^-1 W costs n doubles.  So columns are computed for closed contacts only, kept while F and W do not
// change, and stored as long as there is room; reactions of many contacts are applied by one solution instead of many
// columns.
#include "contact/delassus_blocks.h"
#include "contact/delassus_products.h"
#include "contact/operator.h"
#include "linalg/matrix.h"
#include "linalg/two.h"
#include "system/system.h"
#include <assert.h>
#include <string.h>

enum { NOT_STORED = -1 };                   // in slot and column
enum { KEPT_FROM = 16 };                    // unknowns from which on columns are kept
static const size_t ROOM = (size_t)1 << 22; // doubles for columns, unless all are fewer
enum { MANY_BANDED = 8, MANY_SPARSE = 24 }; // a solution costs about as much as so many columns

size_t carom_delassus_dense_rows(const carom_system *sys, size_t rows, bool whole) {
    return !whole && carom_system_world(sys) && rows > CAROM_FEW_ROWS ? CAROM_FEW_ROWS : rows;
}

carom_delassus carom_allocate_delassus(carom_arena *mem, const carom_system *sys, int rows, int blocks, bool whole,
                                       bool keeps) {
    carom_delassus d = {.whole = whole};
    if (carom_system_world(sys)) d.parts = carom_allocate_assembly(mem, sys, blocks, rows);
    const size_t side = carom_delassus_dense_rows(sys, (size_t)rows, whole);
    d.G = carom_allocate(mem, side * side);
    if (d.parts.blocks) return d;
    d.keeps = keeps && sys->flags & CAROM_CONSTANT_DIRECTIONS && sys->flags & (CAROM_CONSTANT_MASS | CAROM_LINEAR) &&
              sys->nv >= KEPT_FROM;
    int n = 0;
    for (int id = 0; id < sys->ne + sys->nc; ++id) n += carom_system_recorded(sys, id);
    const size_t most = ROOM / (size_t)sys->nv + 1;
    d.sparse = carom_allocate_columns(mem, sys->nv, n, sys->column_stride);
    d.columns = carom_allocate_columns(mem, sys->nv, (size_t)n < most ? n : (int)most, sys->nv);
    d.column = carom_allocate_ints(mem, (size_t)n);
    d.x = carom_allocate(mem, (size_t)sys->nv);
    for (int i = 0; i < 2 && d.sparse.stride < sys->nv; ++i)
        d.products[i] = carom_allocate_products(mem, n, sys->nv, d.sparse.stride);
    if (!d.keeps && sys->flags & CAROM_CONSTANT_MASS && sys->nv >= KEPT_FROM)
        d.source = carom_allocate_columns(mem, sys->nv, d.columns.n, sys->column_stride);
    if (!d.keeps) return d;
    d.slot = carom_allocate_ints(mem, (size_t)n);
    d.from = carom_allocate_ints(mem, (size_t)n);
    d.keep = carom_allocate_responses(mem, sys, 1);
    return d;
}

// -- columns -----------------------------------------------------------------------------------------

static double *solve_dense(double *x, const carom_columns *W, const carom_factor *F, int k) {
    carom_column_expand(x, W, k);
    carom_factor_solve(F, x);
    return x;
}

static double *stored(const carom_delassus *d, int column) {
    return d->columns.a + (size_t)column * (size_t)d->columns.stride;
}

// Is column k of W the one remembered?  Then it is.  Schemes that evaluate both ends of a step meet every end twice.
static bool remembered_column(carom_delassus *d, const carom_columns *W, int k) {
    const size_t start = (size_t)k * (size_t)W->stride, n = (size_t)(W->count ? W->count[k] : W->rows);
    double *a = d->source.a + start;
    bool same = k < d->sources && memcmp(a, W->a + start, n * sizeof *a) == 0;
    if (W->count) {
        int *row = d->source.row + start;
        same = same && d->source.count[k] == W->count[k] && memcmp(row, W->row + start, n * sizeof *row) == 0;
        d->source.count[k] = W->count[k];
        if (!same) memcpy(row, W->row + start, n * sizeof *row);
    }
    if (!same) memcpy(a, W->a + start, n * sizeof *a);
    if (k >= d->sources) d->sources = k + 1;
    return same;
}

// F^-1 W, stored as the first n columns, two at a time where they are not remembered.
static void solve_stored(carom_delassus *d, const carom_columns *W, const carom_factor *F, int n) {
    const bool constant = d->source.a && F->count == CAROM_FACTOR_OF_MASS && W->stride == d->source.stride;
    double *other = NULL; // is to be solved
    if (!constant) d->sources = 0;
    for (int k = 0; k < n; ++k) {
        if (constant && remembered_column(d, W, k)) continue;
        double *x = stored(d, k);
        carom_column_expand(x, W, k);
        if (other) carom_factor_solve_two(F, other, x), other = NULL;
        else other = x;
    }
    if (other) carom_factor_solve(F, other);
}

// Column k of G = a V'X from column x of X, from row `first` on.
static inline void multiply_column(double *G, int n, int k, const carom_columns *V, const double *x, double a,
                                   int first) {
    enum { FEW = 2 };
    double *column = G + (size_t)k * (size_t)n;
    if (n - first <= FEW) { // stored once: what was stored as single numbers and is read as a vector, a processor waits
                            // for
        for (int i = first; i < n; ++i) column[i] = a * carom_column_dot(V, i, x);
    } else {
        carom_columns_dot(column + first, V, first, n - first, x);
        for (int i = first; i < n; ++i) column[i] *= a;
    }
}

// With equal directions G is symmetric, and exactly so.
static inline void mirror(double *G, int n, int k) {
    const size_t ld = (size_t)n;
    for (int i = k + 1; i < n; ++i) G[(size_t)k + (size_t)i * ld] = G[(size_t)i + (size_t)k * ld];
}

static void form_columns(carom_delassus *d, const carom_columns *V, const carom_columns *W, bool solved) {
    const int n = d->n;
    d->F_kept = NULL; // the columns are overwritten
    d->last = NULL;
    if (!solved || n > d->columns.n) solve_stored(d, W, d->F, n < d->columns.n ? n : d->columns.n);
    for (int k = 0; k < n; ++k) {
        d->column[k] = k < d->columns.n ? k : NOT_STORED;
        const double *x = k < d->columns.n ? stored(d, k) : solve_dense(d->x, W, d->F, k);
        multiply_column(d->G, n, k, V, x, d->a, d->symmetric ? k : 0);
        if (d->symmetric) mirror(d->G, n, k);
    }
}

void carom_delassus_dense(double *G, int n, double *X, const carom_columns *V, const int *row, const carom_factor *F,
                          double a, bool symmetric) {
    const size_t nv = (size_t)V->rows;
    for (int k = 0; F && k + 1 < n; k += 2) carom_factor_solve_two(F, X + (size_t)k * nv, X + (size_t)(k + 1) * nv);
    if (F && n % 2) carom_factor_solve(F, X + (size_t)(n - 1) * nv);
    for (int k = 0; k < n; ++k) {
        const int first = symmetric ? k : 0;
        if (!row) multiply_column(G, n, k, V, X + (size_t)k * nv, a, first);
        for (int i = first; row && i < n; ++i)
            G[(size_t)i + (size_t)k * (size_t)n] = a * carom_column_dot(V, row[i], X + (size_t)k * nv);
        if (symmetric) mirror(G, n, k);
    }
}

// -- kept columns --------------------------------------------------------------------------------------

// Columns of another F are forgotten.
static void prepare(carom_delassus *d) {
    const carom_factor *F = d->F;
    const bool same = d->F_kept && d->count == F->count && (d->F_kept == F || F->count == CAROM_FACTOR_OF_MASS);
    if (!same) carom_responses_forget(&d->keep), d->stored = 0;
    d->F_kept = F;
    d->count = F->count;
}

static void learn(carom_delassus *d, int k) {
    const bool room = d->stored < d->columns.n;
    carom_responses_put(&d->keep, 0, k, solve_dense(room ? stored(d, d->stored) : d->x, &d->keep.all.W, d->F, k));
    d->slot[k] = room ? d->stored++ : NOT_STORED;
}

static void form_kept(carom_delassus *d, const carom_local *L) {
    const int n = d->n;
    prepare(d);
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) {
            const int from = carom_responses_at(&d->keep, L, b, k);
            if (!d->keep.known[from]) learn(d, from);
            d->column[k] = d->slot[from];
            d->from[k] = from;
            double *G = d->G + (size_t)k * (size_t)n;
            const double *column = carom_responses_column(&d->keep, 0, from);
            for (int c = b; c < L->nb; ++c) // below the diagonal; above it the same, exactly
                for (int i = c == b ? k : L->at[c]; i < L->at[c + 1]; ++i)
                    G[i] = d->G[k + (size_t)i * (size_t)n] = d->a * column[carom_responses_at(&d->keep, L, c, i)];
        }
}

// -- the operator ----------------------------------------------------------------------------------------

static carom_delassus_storage storage_for(const carom_delassus *d, const carom_local *V, const carom_local *W,
                                          const carom_factor *F, bool kept) {
    if (d->parts.blocks) return CAROM_BY_PARTS;
    assert(!V->W.share && !W->W.share); // columns that share rows belong to bodies, which are parts
    const bool fits = V->W.stride == d->sparse.stride && W->W.stride == d->sparse.stride; // else there is no room
    if (F->shape.storage == CAROM_DIAGONAL && W->W.count && V->W.count && fits) return CAROM_BY_PRODUCTS;
    return kept && d->keeps && F->ready ? CAROM_BY_KEPT_COLUMNS : CAROM_BY_COLUMNS;
}

bool carom_delassus_form(carom_delassus *d, const carom_local *V, const carom_local *W, const carom_factor *F, double a,
                         carom_delassus_way way) {
    const bool solved = way.formed > 0 && way.formed == d->formed;
    assert(V->nb == W->nb && V->at[V->nb] == W->at[W->nb]);
    d->formed += 1;
    d->W = W, d->F = F, d->a = a;
    d->n = V->at[V->nb];
    d->first = NULL;
    d->ld = d->n;
    d->dense = true;
    d->storage = storage_for(d, V, W, F, way.kept);
    d->symmetric = V == W && !(way.whole && d->storage == CAROM_BY_COLUMNS);
    if (d->storage != CAROM_BY_PRODUCTS) carom_delassus_matrix(d, d->n);
    switch (d->storage) {
    case CAROM_BY_PRODUCTS: carom_products_form(d, &V->W, &W->W, solved, way.narrow); return true;
    case CAROM_BY_KEPT_COLUMNS: form_kept(d, W); return true;
    case CAROM_BY_COLUMNS: form_columns(d, &V->W, &W->W, solved); return true;
    case CAROM_BY_PARTS: break;
    }
    d->dense = d->whole || (d->n <= CAROM_FEW_ROWS && !way.parts);
    if (!carom_assembly_form(&d->parts, V, W, F, a, way.team)) return d->dense = false;
    if (d->dense) carom_assembly_dense(&d->parts, d->G);
    else if (way.blocks || V != W) return carom_assembly_rows(&d->parts, way.team);
    else carom_assembly_diagonal(&d->parts, way.team);
    return true;
}

const carom_block_rows *carom_delassus_rows(carom_delassus *d, struct carom_team *team) {
    if (d->dense) return NULL;
    return d->parts.full || carom_assembly_rows(&d->parts, team) ? &d->parts.rows : NULL;
}

double *carom_delassus_matrix(carom_delassus *d, int n) {
    const size_t numbers = (size_t)n * (size_t)n;
    if (d->written < numbers) d->written = numbers;
    return d->G;
}

// Is one solution cheaper than adding up columns, or are some of these not there?  The first is asked only while F and
// W are constant: else they may no longer be those of the operator.
static bool better_solved(const carom_delassus *d, const double *p, int rows) {
    const carom_storage storage = d->F->shape.storage;
    const bool kept = d->storage == CAROM_BY_KEPT_COLUMNS;
    const int many = kept && storage == CAROM_SPARSE   ? MANY_SPARSE
                     : kept && storage == CAROM_BANDED ? MANY_BANDED
                                                       : rows;
    int acting = 0;
    for (int k = 0; k < rows; ++k) {
        if (p[k] != 0 && d->column[k] == NOT_STORED) return true;
        acting += p[k] != 0;
    }
    return acting > many;
}

void carom_delassus_react(carom_delassus *d, double *v, double a, const double *p, int rows, struct carom_team *team) {
    const bool kept = d->storage == CAROM_BY_KEPT_COLUMNS;
    if (rows == 0) return;
    if (d->storage == CAROM_BY_PARTS) {
        carom_assembly_react(&d->parts, d->W, v, a, p, rows, team);
    } else if (d->storage == CAROM_BY_PRODUCTS) {
        for (int k = 0; k < rows; ++k) carom_column_axpy(v, a * p[k], &d->sparse, k);
    } else if (better_solved(d, p, rows)) {
        carom_zero(d->x, d->columns.rows);
        for (int k = 0; k < rows; ++k)
            carom_column_axpy(d->x, p[k], kept ? &d->keep.all.W : &d->W->W, kept ? d->from[k] : k);
        carom_factor_advance(d->F, v, a, d->x);
    } else {
        for (int k = 0; k < rows; ++k) carom_column_axpy(v, a * p[k], &d->columns, d->column[k]);
    }
}

// delassus.c: W'F^-1 W, the matrix of contact problems, and velocities from reactions.
//
// Small systems get it anew for every problem.  Large ones must not: a column costs a solution, a stored column of
// F^-1 W costs n doubles.  So columns are computed for closed contacts only, kept while F and W do not change, and stored
// as long as there is room; reactions of many contacts are applied by one solution instead of many columns.
#include <assert.h>
#include <carom/scheme.h>
#include <string.h>

enum { UNKNOWN = -2, NOT_STORED = -1 };                 // marks in slot
enum { KEPT_FROM = 16 };                                // unknowns from which on columns are kept
static const size_t ROOM = (size_t)1 << 22;             // doubles for columns, unless all are fewer
enum { MANY_BANDED = 8, MANY_SPARSE = 24 };             // a solution costs about as much as so many columns

carom_delassus carom_carve_delassus(carom_arena *mem, const carom_system *sys) {
    carom_delassus d = {.all = carom_carve_local(mem, sys)};
    const int n = d.all.W.n;
    const size_t most = ROOM / (size_t)sys->nv + 1;
    d.sparse = carom_carve_columns(mem, sys->nv, n, sys->column_stride);
    d.dense = carom_carve_columns(mem, sys->nv, (size_t)n < most ? n : (int)most, sys->nv);
    d.column = carom_carve_ints(mem, (size_t)n);
    d.x = carom_carve(mem, (size_t)sys->nv);
    d.low = carom_carve_ints(mem, (size_t)n);
    d.high = carom_carve_ints(mem, (size_t)n);
    d.keep = sys->flags & CAROM_CONSTANT_DIRECTIONS && sys->flags & (CAROM_CONSTANT_MASS | CAROM_LINEAR) && sys->nv >= KEPT_FROM;
    if (!d.keep) return d;
    d.slot = carom_carve_ints(mem, (size_t)n);
    d.from = carom_carve_ints(mem, (size_t)n);
    d.G = carom_carve(mem, (size_t)n * (size_t)n);
    return d;
}

// -- columns -----------------------------------------------------------------------------------------

// X_k = F^-1 W_k.  A diagonal F keeps the sparsity of W.
static void solve_sparse(carom_columns *X, const carom_columns *W, const carom_factor *F, int k) {
    const size_t start = (size_t)k * (size_t)W->stride;
    X->count[k] = W->count[k];
    for (int e = 0; e < W->count[k]; ++e) {
        const int i = X->row[start + (size_t)e] = W->row[start + (size_t)e];
        X->a[start + (size_t)e] = W->a[start + (size_t)e] * F->a[i];
    }
}

static double *solve_dense(double *x, const carom_columns *W, const carom_factor *F, int k) {
    carom_column_expand(x, W, k);
    carom_factor_solve(F, x);
    return x;
}

static double *stored(const carom_delassus *d, int column) { return d->dense.a + (size_t)column * (size_t)d->dense.stride; }

// The stretch of unknowns between the first and the last that column k touches.
static void stretch(const carom_columns *W, int k, int *low, int *high) {
    const int *row = W->row + (size_t)k * (size_t)W->stride;
    *low = W->rows;
    *high = -1;
    for (int e = 0; e < W->count[k]; ++e) {
        if (row[e] < *low) *low = row[e];
        if (row[e] > *high) *high = row[e];
    }
}

// G = a A'X, both sparse: X_k is spread over d->x once, and only columns whose stretches meet are multiplied.  Most do not:
// a joint touches two bodies.
static void form_sparse(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a) {
    carom_delassus *d = &s->delassus;
    const int n = L->at[L->nb];
    const size_t ld = (size_t)n;
    carom_columns *X = &d->sparse;
    carom_zero(d->x, X->rows);
    memset(s->G, 0, ld * ld * sizeof *s->G);
    for (int k = 0; k < n; ++k) stretch(&L->W, k, &d->low[k], &d->high[k]);
    for (int k = 0; k < n; ++k) {
        d->column[k] = k;
        solve_sparse(X, &Lf->W, F, k);
        const size_t start = (size_t)k * (size_t)X->stride;
        int low, high;
        stretch(X, k, &low, &high);
        for (int e = 0; e < X->count[k]; ++e) d->x[X->row[start + (size_t)e]] = X->a[start + (size_t)e];
        double *G = s->G + k * ld;
        for (int i = L == Lf ? k : 0; i < n; ++i) {
            if (d->high[i] < low || d->low[i] > high) continue;
            const size_t at = (size_t)i * (size_t)L->W.stride;
            const int *row = L->W.row + at, count = L->W.count[i];
            const double *w = L->W.a + at;
            double sum = 0;
            for (int e = 0; e < count; ++e) sum += w[e] * d->x[row[e]];
            G[i] = a * sum;
            if (L == Lf) s->G[k + i * ld] = G[i]; // symmetric, and exactly so
        }
        for (int e = 0; e < X->count[k]; ++e) d->x[X->row[start + (size_t)e]] = 0;
    }
}

// -- kept columns --------------------------------------------------------------------------------------

// Ready to keep columns of this F?  Forgets those of another.
static bool prepare(carom_step *s, const carom_factor *F) {
    carom_delassus *d = &s->delassus;
    if (!d->keep || !F->ready) return false;
    if (d->all.nb == 0) {
        carom_close_all(s, &d->all);
        if (carom_directions(s, &d->all, s->t, s->q) != CAROM_OK) return d->all.nb = 0, false;
    }
    const bool same = d->F_kept && d->count == F->count && (d->F_kept == F || F->count == CAROM_FACTOR_OF_MASS);
    if (!same) {
        for (int k = 0; k < d->all.at[d->all.nb]; ++k) d->slot[k] = UNKNOWN;
        d->stored = 0;
    }
    d->F_kept = F;
    d->count = F->count;
    return true;
}

static void learn(carom_delassus *d, const carom_factor *F, int k) {
    const bool room = d->stored < d->dense.n;
    const int n = d->all.at[d->all.nb];
    const double *x = solve_dense(room ? stored(d, d->stored) : d->x, &d->all.W, F, k);
    for (int i = 0; i < n; ++i) d->G[i + (size_t)k * (size_t)n] = carom_column_dot(&d->all.W, i, x);
    d->slot[k] = room ? d->stored++ : NOT_STORED;
}

static void form_kept(carom_step *s, const carom_local *L, const carom_factor *F, double a) {
    carom_delassus *d = &s->delassus;
    const int n = L->at[L->nb], all = d->all.at[d->all.nb];
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) {
            const int from = d->all.at[L->id[b]] + k - L->at[b];
            if (d->slot[from] == UNKNOWN) learn(d, F, from);
            d->column[k] = d->slot[from];
            d->from[k] = from;
            double *G = s->G + (size_t)k * (size_t)n;
            const double *column = d->G + (size_t)from * (size_t)all;
            for (int c = b; c < L->nb; ++c) // below the diagonal; above it the same, exactly
                for (int i = c == b ? k : L->at[c]; i < L->at[c + 1]; ++i)
                    G[i] = s->G[k + (size_t)i * (size_t)n] = a * column[d->all.at[L->id[c]] + i - L->at[c]];
        }
}

// -- the problem -----------------------------------------------------------------------------------------

static bool keeps_sparsity(const carom_factor *F, const carom_local *L) {
    return F->shape.storage == CAROM_DIAGONAL && L->W.count;
}

void carom_problem_form(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a) {
    carom_delassus *d = &s->delassus;
    const int n = L->at[L->nb];
    const bool sparse = keeps_sparsity(F, Lf);
    assert(L->nb == Lf->nb && n == Lf->at[Lf->nb]);
    carom_problem_blocks(s, L);
    s->a = a;
    d->F = F;
    d->L = Lf;
    d->kept = !sparse && prepare(s, F);
    if (d->kept) {
        form_kept(s, Lf, F, a);
        return;
    }
    if (sparse) {
        form_sparse(s, L, Lf, F, a);
        return;
    }
    d->F_kept = NULL; // the columns are overwritten
    // G = a A'X.  With equal directions G is symmetric, and exactly so.
    const size_t ld = (size_t)n;
    double *G = s->G;
    for (int k = 0; k < n; ++k) {
        d->column[k] = k < d->dense.n ? k : NOT_STORED;
        const double *x = solve_dense(k < d->dense.n ? stored(d, k) : d->x, &Lf->W, F, k);
        for (int i = L == Lf ? k : 0; i < n; ++i) G[i + k * ld] = a * carom_column_dot(&L->W, i, x);
        if (L == Lf)
            for (int i = k + 1; i < n; ++i) G[k + i * ld] = G[i + k * ld];
    }
}

// Is one solution cheaper than adding up columns, or are some of these not there?  The first is asked only while F and W
// are constant: else they may no longer be those of the problem.
static bool better_solved(const carom_delassus *d, const double *p, int rows) {
    const carom_storage storage = d->F->shape.storage;
    const int many = d->kept && storage == CAROM_SPARSE ? MANY_SPARSE : d->kept && storage == CAROM_BANDED ? MANY_BANDED : rows;
    int acting = 0;
    for (int k = 0; k < rows; ++k) {
        if (p[k] != 0 && d->column[k] == NOT_STORED) return true;
        acting += p[k] != 0;
    }
    return acting > many;
}

void carom_problem_react(carom_step *s, double *v, double a, const double *p, int rows) {
    carom_delassus *d = &s->delassus;
    if (rows == 0) return;
    if (keeps_sparsity(d->F, d->L)) {
        for (int k = 0; k < rows; ++k) carom_column_axpy(v, a * p[k], &d->sparse, k);
    } else if (better_solved(d, p, rows)) {
        carom_zero(d->x, d->dense.rows);
        for (int k = 0; k < rows; ++k) carom_column_axpy(d->x, p[k], d->kept ? &d->all.W : &d->L->W, d->kept ? d->from[k] : k);
        carom_factor_advance(d->F, v, a, d->x);
    } else {
        for (int k = 0; k < rows; ++k) carom_column_axpy(v, a * p[k], &d->dense, d->column[k]);
    }
}

void carom_problem_apply(carom_step *s, double *v, double a) { carom_problem_react(s, v, a, s->p, s->problem.n); }

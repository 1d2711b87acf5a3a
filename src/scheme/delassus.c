// delassus.c: W'F^-1 W, the matrix of contact problems, and velocities from reactions.
//
// Small systems get it anew for every problem.  Large ones must not: a column costs a solution, a stored column of
// F^-1 W costs n doubles.  So columns are computed for closed contacts only, kept while F and W do not change, and stored
// as long as there is room; reactions of many contacts are applied by one solution instead of many columns.
#include "linalg/two.h"
#include "scheme/inside.h"
#include "scheme/delassus_blocks.h"
#include "scheme/step.h"
#include "solver/solvers.h"
#include <assert.h>
#include <string.h>

enum { NOT_STORED = -1 };                               // in slot and column
enum { KEPT_FROM = 16 };                                // unknowns from which on columns are kept
static const size_t ROOM = (size_t)1 << 22;             // doubles for columns, unless all are fewer
enum { MANY_BANDED = 8, MANY_SPARSE = 24 };             // a solution costs about as much as so many columns

static carom_products allocate_products(carom_arena *mem, int n, int nv, int stride) {
    carom_products o = {.room = 16 * n * stride};
    const size_t entries = (size_t)n * (size_t)stride;
    o.first = carom_allocate_ints(mem, (size_t)n);
    o.count = carom_allocate_ints(mem, (size_t)n);
    o.head = carom_allocate_ints(mem, (size_t)nv);
    o.scratch = carom_allocate_ints(mem, 2 * (size_t)nv);
    o.next = carom_allocate_ints(mem, entries);
    o.of = carom_allocate_ints(mem, entries);
    for (int i = 0; i < 2; ++i) o.known[i] = carom_allocate_ints(mem, (size_t)n + entries);
    const size_t room = (size_t)o.room;
    o.at = carom_allocate_ints(mem, 2 * room), o.at_by_column = carom_allocate_ints(mem, 2 * room);
    o.terms = carom_allocate_ints(mem, room), o.terms_by_column = carom_allocate_ints(mem, room);
    o.pair = carom_allocate_ints(mem, 2 * room), o.pair_by_column = carom_allocate_ints(mem, 2 * room);
    return o;
}

carom_delassus carom_allocate_delassus(carom_arena *mem, const carom_system *sys) {
    if (sys->listed) return (carom_delassus){.x = NULL}; // by blocks
    carom_delassus d = {.keeps = sys->flags & CAROM_CONSTANT_DIRECTIONS && sys->flags & (CAROM_CONSTANT_MASS | CAROM_LINEAR) && sys->nv >= KEPT_FROM};
    int n = 0;
    for (int id = 0; id < sys->ne + sys->nc; ++id) n += carom_system_recorded(sys, id);
    const size_t most = ROOM / (size_t)sys->nv + 1;
    d.sparse = carom_allocate_columns(mem, sys->nv, n, sys->column_stride);
    d.dense = carom_allocate_columns(mem, sys->nv, (size_t)n < most ? n : (int)most, sys->nv);
    d.column = carom_allocate_ints(mem, (size_t)n);
    d.x = carom_allocate(mem, (size_t)sys->nv);
    for (int i = 0; i < 2 && d.sparse.stride < sys->nv; ++i) d.products[i] = allocate_products(mem, n, sys->nv, d.sparse.stride);
    if (!d.keeps && sys->flags & CAROM_CONSTANT_MASS && sys->nv >= KEPT_FROM)
        d.source = carom_allocate_columns(mem, sys->nv, d.dense.n, sys->column_stride);
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

static double *stored(const carom_delassus *d, int column) { return d->dense.a + (size_t)column * (size_t)d->dense.stride; }

// Is column k of W the one remembered?  Then it is.  Schemes that look at both ends of a step meet every end twice.
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

// F^-1 W, stored as the first n columns of `dense`, two at a time where they are not remembered.
static void solve_stored(carom_delassus *d, const carom_columns *W, const carom_factor *F, int n) {
    const bool constant = d->source.a && F->count == CAROM_FACTOR_OF_MASS;
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

// -- sparse columns ------------------------------------------------------------------------------------

// Entries of columns as lists: those of each unknown, in the order of columns.  first: column of the first of them.
static void list_entries(carom_products *o, const carom_columns *W, int n, int *first) {
    for (int i = 0; i < W->rows; ++i) o->head[i] = -1, first[i] = n;
    for (int k = n - 1; k >= 0; --k)
        for (int e = k * W->stride; e < k * W->stride + W->count[k]; ++e) {
            const int i = W->row[e];
            o->next[e] = o->head[i];
            o->of[e] = k;
            o->head[i] = e;
            first[i] = k;
        }
}

// The first row, or column, that shares an unknown with column k.
static int start_of(const carom_columns *W, int k, const int *first) {
    int least = k;
    for (int e = k * W->stride; e < k * W->stride + W->count[k]; ++e)
        if (first[W->row[e]] < least) least = first[W->row[e]];
    return least;
}

static bool same_rows(const carom_columns *A, const carom_columns *W, int n) {
    const size_t count = (size_t)n * sizeof *A->count;
    return memcmp(A->count, W->count, count) == 0 && memcmp(A->row, W->row, count * (size_t)A->stride) == 0;
}

// Are the rows of these columns those that are remembered?  Then they are.
static bool remembered(int *known, const carom_columns *W, int n) {
    const size_t count = (size_t)n * sizeof *known, row = count * (size_t)W->stride;
    const bool same = memcmp(known, W->count, count) == 0 && memcmp(known + n, W->row, row) == 0;
    if (!same) memcpy(known, W->count, count), memcpy(known + n, W->row, row);
    return same;
}

// Products of column k of X, by row of G; total: of the columns before.  False: there is no room.
static bool list_products(carom_products *o, const carom_columns *W, int n, int k, int *total) {
    const bool alike = o->alike;
    const int *restrict of = o->of, *restrict next = o->next, *restrict head = o->head, *restrict row = W->row;
    int *restrict count = o->count, *restrict pair = o->pair_by_column;
    const int start = k * W->stride, end = start + W->count[k], from = alike ? k : 0;
    int most = -1;
    for (int i = from; i < n; ++i) count[i] = 0;
    for (int e = start; e < end; ++e)
        for (int f = alike ? e : head[row[e]]; f >= 0; f = next[f]) {
            const int i = of[f];
            ++count[i];
            if (i > most) most = i;
        }
    for (int i = from; i <= most; ++i) {
        const int terms = count[i];
        if (terms == 0) continue;
        if (o->n == o->room || *total + terms > o->room) return false;
        int *at = o->at_by_column + 2 * (size_t)o->n;
        at[0] = i + k * n, at[1] = alike ? k + i * n : i + k * n;
        o->terms_by_column[o->n++] = terms;
        count[i] = *total;
        *total += terms;
    }
    for (int e = start; e < end; ++e)
        for (int f = alike ? e : head[row[e]]; f >= 0; f = next[f]) {
            int *to = pair + 2 * (size_t)count[of[f]]++;
            to[0] = f, to[1] = e;
        }
    return true;
}

// Sums of equally many products one after the other: loops of a known length are none, and no branch is guessed wrong.
static void sort_products(carom_products *o) {
    enum { CLASSES = CAROM_SHORT_SUM + 1 }; // class 0 has the long ones, and comes last
    const int *restrict terms = o->terms_by_column, *restrict from = o->pair_by_column, *restrict place = o->at_by_column;
    int products[CLASSES] = {0}, sum_at[CLASSES], pair_at[CLASSES], *restrict at = o->at, *restrict pair = o->pair;
    memset(o->sums, 0, sizeof o->sums);
    for (int j = 0; j < o->n; ++j) {
        const int class = terms[j] < CLASSES ? terms[j] : 0;
        ++o->sums[class];
        products[class] += terms[j];
    }
    for (int length = 1, sums = 0, pairs = 0; length <= CLASSES; ++length) {
        const int class = length % CLASSES;
        sum_at[class] = sums, pair_at[class] = pairs;
        sums += o->sums[class], pairs += products[class];
    }
    for (int j = 0; j < o->n; ++j) {
        const int count = terms[j], class = count < CLASSES ? count : 0, to = sum_at[class]++;
        at[2 * (size_t)to] = place[2 * (size_t)j], at[2 * (size_t)to + 1] = place[2 * (size_t)j + 1];
        o->terms[to] = count;
        int *restrict copy = pair + 2 * (size_t)pair_at[class];
        pair_at[class] += count;
        for (int e = 0; e < count; ++e, copy += 2, from += 2) copy[0] = from[0], copy[1] = from[1];
    }
}

// What there is to multiply, and where rows and columns of G start.
static void plan(carom_products *o, const carom_columns *A, const carom_columns *W, int n) {
    const bool alike = o->alike;
    int *first_A = o->scratch, *first_W = alike ? first_A : first_A + A->rows;
    if (!alike) list_entries(o, W, n, first_W);
    list_entries(o, A, n, first_A);
    o->of_n = n;
    o->n = 0;
    o->fits = true;
    int total = 0;
    for (int k = 0; k < n; ++k) {
        const int rows = start_of(W, k, first_A), columns = alike ? rows : start_of(A, k, first_W);
        o->first[k] = rows < columns ? rows : columns;
        o->fits = o->fits && list_products(o, W, n, k, &total);
    }
    if (o->fits) sort_products(o);
}

// X = F^-1 W with the sparsity of W, F being diagonal.
static void solve_sparse(carom_columns *X, const carom_columns *W, const double *restrict F, int n) {
    memcpy(X->count, W->count, (size_t)n * sizeof *W->count);
    memcpy(X->row, W->row, (size_t)n * (size_t)W->stride * sizeof *W->row);
    for (int k = 0; k < n; ++k) {
        const size_t start = (size_t)k * (size_t)W->stride;
        const int count = W->count[k], *restrict row = W->row + start;
        const double *restrict w = W->a + start;
        double *restrict x = X->a + start;
        for (int e = 0; e < count; ++e) x[e] = w[e] * F[row[e]];
    }
}

// `count` entries of G and those across the diagonal; terms of each, 0: as the list says.  Where A and W have the same rows but differ, the entry
// across is the sum with the two entries of every product exchanged.
static inline const int *sum_products(double *restrict G, const carom_products *o, int first, int count, int terms, const int *restrict pair,
                                      const double *restrict A, const double *restrict X, double a, bool both) {
    const int *restrict at = o->at + 2 * (size_t)first;
    for (int j = 0; j < count; ++j, at += 2) {
        const int n = terms ? terms : o->terms[first + j];
        double sum = 0, across = 0;
        for (int e = 0; e < n; ++e, pair += 2) {
            const unsigned f = (unsigned)pair[0], x = (unsigned)pair[1];
            sum += A[f] * X[x];
            if (both) across += A[x] * X[f];
        }
        G[(unsigned)at[0]] = a * sum;
        G[(unsigned)at[1]] = a * (both ? across : sum);
    }
    return pair;
}

static inline void multiply(double *restrict G, const carom_products *o, const double *restrict A, const double *restrict X, double a, bool both) {
    const int *pair = o->pair;
    int first = 0;
#define SUMS(n) pair = sum_products(G, o, first, o->sums[n], n, pair, A, X, a, both), first += o->sums[n];
    SUMS(1) SUMS(2) SUMS(3) SUMS(4) SUMS(5) SUMS(6) SUMS(7) SUMS(8) SUMS(0)
#undef SUMS
}

// The same when there are too many products to remember.
static void multiply_listed(double *G, const carom_products *o, const carom_columns *A, const carom_columns *X, int n, double a, bool both) {
    const size_t ld = (size_t)n;
    for (int k = 0; k < n; ++k)
        for (int e = k * X->stride; e < k * X->stride + X->count[k]; ++e)
            for (int f = o->alike ? e : o->head[X->row[e]]; f >= 0; f = o->next[f]) {
                G[(size_t)o->of[f] + (size_t)k * ld] += A->a[f] * (a * X->a[e]);
                if (both && f != e) G[(size_t)k + (size_t)o->of[f] * ld] += A->a[e] * (a * X->a[f]);
            }
    for (int k = 0; k < n && o->alike && !both; ++k)
        for (int i = o->first[k]; i < k; ++i) G[(size_t)i + (size_t)k * ld] = G[(size_t)k + (size_t)i * ld];
}

// G = a A'X: only products of entries that have the same unknown.  Most columns share none: a joint touches two bodies.  Who
// does stays the same while the same contacts are closed, and so does the envelope of G.  solved: X is that of the last problem.
static void form_sparse(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a, bool solved) {
    carom_delassus *d = &s->inside->delassus;
    const carom_columns *A = &L->W, *W = &Lf->W;
    const int n = L->at[L->nb];
    const bool symmetric = L == Lf; // and exactly so
    const bool alike = symmetric || same_rows(A, W, n), both = alike && !symmetric;
    carom_products *o = &d->products[alike];
    const bool as_before = solved && o == d->last && o->of_n == n; // with the rows of W, which A has too
    const bool same = as_before || remembered(o->known[0], A, n), same_f = alike || remembered(o->known[1], W, n);
    o->alike = alike;
    d->last = alike ? o : NULL;
    if (!same || !same_f || o->of_n != n) plan(o, A, W, n), d->only = NULL;
    if (!solved) solve_sparse(&d->sparse, W, F->a, n);
    if (d->only != o || !o->fits) memset(s->G, 0, (size_t)n * (size_t)n * sizeof *s->G); // else the rest is zero, and all others are written anew
    d->only = o->fits ? o : NULL;
    if (!o->fits) multiply_listed(s->G, o, A, &d->sparse, n, a, both);
    else if (both) multiply(s->G, o, A->a, d->sparse.a, a, true);
    else multiply(s->G, o, A->a, d->sparse.a, a, false);
    s->problem.first = o->first;
    s->problem.symmetric = symmetric;
}

// -- kept columns --------------------------------------------------------------------------------------

// Ready to keep columns of this F?  Forgets those of another.
static bool prepare(carom_step *s, const carom_factor *F) {
    carom_delassus *d = &s->inside->delassus;
    if (!d->keeps || !F->ready || carom_responses_begin(&d->keep, s) != CAROM_OK) return false;
    const bool same = d->F_kept && d->count == F->count && (d->F_kept == F || F->count == CAROM_FACTOR_OF_MASS);
    if (!same) carom_responses_forget(&d->keep), d->stored = 0;
    d->F_kept = F;
    d->count = F->count;
    return true;
}

static void learn(carom_delassus *d, const carom_factor *F, int k) {
    const bool room = d->stored < d->dense.n;
    carom_responses_put(&d->keep, 0, k, solve_dense(room ? stored(d, d->stored) : d->x, &d->keep.all.W, F, k));
    d->slot[k] = room ? d->stored++ : NOT_STORED;
}

static void form_kept(carom_step *s, const carom_local *L, const carom_factor *F, double a) {
    carom_delassus *d = &s->inside->delassus;
    const int n = L->at[L->nb];
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) {
            const int from = carom_responses_at(&d->keep, L, b, k);
            if (!d->keep.known[from]) learn(d, F, from);
            d->column[k] = d->slot[from];
            d->from[k] = from;
            double *G = s->G + (size_t)k * (size_t)n;
            const double *column = carom_responses_column(&d->keep, 0, from);
            for (int c = b; c < L->nb; ++c) // below the diagonal; above it the same, exactly
                for (int i = c == b ? k : L->at[c]; i < L->at[c + 1]; ++i)
                    G[i] = s->G[k + (size_t)i * (size_t)n] = a * column[carom_responses_at(&d->keep, L, c, i)];
        }
}

// -- the problem -----------------------------------------------------------------------------------------

static bool keeps_sparsity(const carom_factor *F, const carom_local *L) {
    return F->shape.storage == CAROM_DIAGONAL && L->W.count;
}

static bool assemble(carom_problem *pb) {
    carom_assembly *x = pb->assembly;
    if (carom_assembly_rows(x, pb->team)) pb->rows = &x->rows;
    else pb->assemble = NULL; // not again
    return pb->rows;
}

// Where contacts come and go.  Blocks of G are made at once where the chain of solvers begins with one that needs them.
static void form_blocks(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a) {
    s->inside->delassus.L = Lf;
    s->problem.G = NULL;
    carom_assembly *x = &s->inside->assembly;
    const double enough = fmax(s->inside->solved, carom_acceptable(s->inside, L->nb));
    const bool even = L == Lf, blocks = !even || !carom_chain_loose(L->at[L->nb], enough, 1);
    const bool formed = carom_assembly_form(x, L, Lf, F, a, s->sys->nv, blocks, s->team); // if not, nobody can solve it
    s->problem.symmetric = even;
    s->problem.team = s->team;
    s->problem.rows = formed && blocks ? &x->rows : NULL;
    s->problem.parts = formed && even ? &x->parts : NULL;
    s->problem.assemble = formed && !blocks ? assemble : NULL;
    s->problem.assembly = x;
}

double *carom_problem_matrix(carom_step *s) {
    s->inside->delassus.only = NULL;
    return s->G;
}

void carom_problem_form(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a) { carom_problem_form_as(s, L, Lf, F, a, 0); }

long carom_problem_number(const carom_step *s) { return s->inside->delassus.formed; }

void carom_problem_form_as(carom_step *s, const carom_local *L, const carom_local *Lf, const carom_factor *F, double a, long number) {
    carom_delassus *d = &s->inside->delassus;
    const bool solved = number > 0 && number == d->formed;
    const int n = L->at[L->nb];
    const bool sparse = keeps_sparsity(F, Lf);
    assert(L->nb == Lf->nb && n == Lf->at[Lf->nb]);
    carom_problem_blocks(s, L);
    s->inside->a = a;
    d->formed += 1;
    if (s->inside->assembly.x) {
        form_blocks(s, L, Lf, F, a);
        return;
    }
    assert(!L->W.share && !Lf->W.share); // columns that share rows belong to bodies, whose problems have blocks
    d->F = F;
    d->L = Lf;
    d->kept = !sparse && prepare(s, F);
    if (!sparse) d->only = NULL;
    if (d->kept) {
        form_kept(s, Lf, F, a);
        return;
    }
    if (sparse) {
        form_sparse(s, L, Lf, F, a, solved);
        return;
    }
    d->F_kept = NULL; // the columns are overwritten
    d->last = NULL;
    // G = a A'X.  With equal directions G is symmetric, and exactly so.
    enum { FEW = 2 };
    const size_t ld = (size_t)n;
    double *G = s->G;
    if (!solved || n > d->dense.n) solve_stored(d, &Lf->W, F, n < d->dense.n ? n : d->dense.n);
    for (int k = 0; k < n; ++k) {
        d->column[k] = k < d->dense.n ? k : NOT_STORED;
        const double *x = k < d->dense.n ? stored(d, k) : solve_dense(d->x, &Lf->W, F, k);
        const int first = L == Lf ? k : 0;
        double *column = G + k * ld;
        if (n - first <= FEW) // stored once: what was stored as single numbers and is read as a vector, a processor waits for
            for (int i = first; i < n; ++i) column[i] = a * carom_column_dot(&L->W, i, x);
        else {
            carom_columns_dot(column + first, &L->W, first, n - first, x);
            for (int i = first; i < n; ++i) column[i] *= a;
        }
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
    carom_delassus *d = &s->inside->delassus;
    if (rows == 0) return;
    if (s->inside->assembly.x) {
        carom_assembly_react(&s->inside->assembly, d->L, v, a, p, rows, s->team);
    } else if (keeps_sparsity(d->F, d->L)) {
        for (int k = 0; k < rows; ++k) carom_column_axpy(v, a * p[k], &d->sparse, k);
    } else if (better_solved(d, p, rows)) {
        carom_zero(d->x, d->dense.rows);
        for (int k = 0; k < rows; ++k) carom_column_axpy(d->x, p[k], d->kept ? &d->keep.all.W : &d->L->W, d->kept ? d->from[k] : k);
        carom_factor_advance(d->F, v, a, d->x);
    } else {
        for (int k = 0; k < rows; ++k) carom_column_axpy(v, a * p[k], &d->dense, d->column[k]);
    }
}

void carom_problem_apply(carom_step *s, double *v, double a) { carom_problem_react(s, v, a, s->p, s->problem.n); }

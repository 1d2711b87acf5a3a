// delassus_products.c: G = a V'F^-1 W of sparse columns and a diagonal F: only products of entries that have the same
// unknown.
//
// Most columns share none: a joint acts on two bodies.  Which do stays the same while the same contacts are closed, and
// so does the envelope of G.
#include "contact/delassus_products.h"
#include <string.h>

carom_products carom_allocate_products(carom_arena *mem, int n, int nv, int stride) {
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
        at[0] = i + k * o->ld, at[1] = alike ? k + i * o->ld : i + k * o->ld;
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
    const int *restrict terms = o->terms_by_column, *restrict from = o->pair_by_column,
                        *restrict place = o->at_by_column;
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

// (DLS-2)  G_ij at i + j ld, |i - j| <= band, with ld = 2 band: entries do not meet, and those of columns side by side
//          lie side by side, as in a banded matrix.  The margin: readers take rows in groups.
static int width(const carom_products *o, int n) {
    enum { MARGIN = 12, LONG = 4 };
    int band = 0;
    for (int k = 0; k < n && o->narrow; ++k)
        if (k - o->first[k] > band) band = k - o->first[k];
    return o->narrow && LONG * (band + MARGIN) < n ? 2 * (band + MARGIN) : n;
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
    }
    o->ld = width(o, n);
    for (int k = 0; k < n; ++k) o->fits = o->fits && list_products(o, W, n, k, &total);
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

// `count` entries of G and those across the diagonal; terms of each, 0: as the list says.  Where A and W have the same
// rows but differ, the entry across is the sum with the two entries of every product exchanged.
static inline const int *sum_products(double *restrict G, const carom_products *o, int first, int count, int terms,
                                      const int *restrict pair, const double *restrict A, const double *restrict X,
                                      double a, bool both) {
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

static inline void multiply(double *restrict G, const carom_products *o, const double *restrict A,
                            const double *restrict X, double a, bool both) {
    const int *pair = o->pair;
    int first = 0;
#define SUMS(n) pair = sum_products(G, o, first, o->sums[n], n, pair, A, X, a, both), first += o->sums[n];
    SUMS(1) SUMS(2) SUMS(3) SUMS(4) SUMS(5) SUMS(6) SUMS(7) SUMS(8) SUMS(0)
#undef SUMS
}

// The same when there are too many products to remember.
static void multiply_listed(double *G, const carom_products *o, const carom_columns *A, const carom_columns *X, int n,
                            double a, bool both) {
    const size_t ld = (size_t)o->ld;
    for (int k = 0; k < n; ++k)
        for (int e = k * X->stride; e < k * X->stride + X->count[k]; ++e)
            for (int f = o->alike ? e : o->head[X->row[e]]; f >= 0; f = o->next[f]) {
                G[(size_t)o->of[f] + (size_t)k * ld] += A->a[f] * (a * X->a[e]);
                if (both && f != e) G[(size_t)k + (size_t)o->of[f] * ld] += A->a[e] * (a * X->a[f]);
            }
    for (int k = 0; k < n && o->alike && !both; ++k)
        for (int i = o->first[k]; i < k; ++i) G[(size_t)i + (size_t)k * ld] = G[(size_t)k + (size_t)i * ld];
}

// G = 0: what was written.  Of a large one these are few pages, and what is never touched takes no memory.
static void erase(carom_delassus *d) {
    const carom_products *o = d->only;
    for (int j = 0; o && j < o->n; ++j) d->G[o->at[2 * (size_t)j]] = d->G[o->at[2 * (size_t)j + 1]] = 0;
    memset(d->G, 0, d->written * sizeof *d->G);
    d->written = 0;
    d->only = NULL;
}

void carom_products_form(carom_delassus *d, const carom_columns *V, const carom_columns *W, bool solved, bool narrow) {
    const int n = d->n;
    const bool alike = d->symmetric || same_rows(V, W, n), both = alike && !d->symmetric;
    carom_products *o = &d->products[alike];
    const bool as_before = solved && o == d->last && o->of_n == n; // with the rows of W, which V has too
    const bool same = as_before || remembered(o->known[0], V, n), same_f = alike || remembered(o->known[1], W, n);
    const bool planned = same && same_f && o->of_n == n && o->narrow == narrow;
    o->alike = alike;
    d->last = alike ? o : NULL;
    if (!planned || d->only != o || d->written > 0) erase(d); // while it is known what was written
    if (!planned) o->narrow = narrow, plan(o, V, W, n);
    if (!solved) solve_sparse(&d->sparse, W, d->F->a, n);
    d->ld = o->ld;
    d->only = o->fits ? o : NULL; // all of its entries are written anew
    if (!o->fits) d->written = (size_t)n * (size_t)(o->ld < n ? o->ld + 1 : n);
    if (!o->fits) multiply_listed(d->G, o, V, &d->sparse, n, d->a, both);
    else if (both) multiply(d->G, o, V->a, d->sparse.a, d->a, true);
    else multiply(d->G, o, V->a, d->sparse.a, d->a, false);
    d->first = o->first;
}

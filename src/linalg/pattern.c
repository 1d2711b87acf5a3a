// pattern.c: where sparse matrices have entries.
//
// A pattern is made once, before anything is simulated, and never changes.
#include "base/grow.h"
#include "linalg/matrix.h"
#include "linalg/places.h"
#include <stdlib.h>

carom_status carom_pattern_check(const carom_pattern *P, carom_error *err) {
    if (P->start[0] != 0)
        return carom_fail(err, CAROM_BAD_INPUT, "a sparse pattern must begin with start[0] = 0; it is %d", P->start[0]);
    for (int j = 0; j < P->n; ++j) {
        bool diagonal = false;
        if (P->start[j + 1] < P->start[j])
            return carom_fail(err, CAROM_BAD_INPUT, "column %d of a sparse pattern ends before it begins", j);
        for (int e = P->start[j]; e < P->start[j + 1]; ++e) {
            if (P->row[e] < 0 || P->row[e] >= P->n)
                return carom_fail(err, CAROM_BAD_INPUT, "column %d of a sparse pattern has an entry in row %d of %d", j,
                                  P->row[e], P->n);
            if (e > P->start[j] && P->row[e] <= P->row[e - 1])
                return carom_fail(err, CAROM_BAD_INPUT, "rows of column %d of a sparse pattern do not ascend", j);
            diagonal = diagonal || P->row[e] == j;
        }
        if (!diagonal)
            return carom_fail(err, CAROM_BAD_INPUT, "column %d of a sparse pattern has no entry on the diagonal", j);
    }
    return CAROM_OK;
}

// -- making one -------------------------------------------------------------------------------------

// One block: the pattern, its starts, room for `most` rows.
static carom_pattern *make(int n, size_t most, int **start, int **row, const carom_direct *direct) {
    if (n < 0 || most > (size_t)2147483647) return NULL;
    carom_pattern *P = malloc(sizeof *P + ((size_t)n + 1 + most) * sizeof(int));
    if (!P) return NULL;
    *start = (int *)(P + 1);
    *row = *start + n + 1;
    *P = (carom_pattern){n, *start, *row, direct};
    return P;
}

void carom_pattern_destroy(carom_pattern *pattern) { free(pattern); }

// Entries by rows: a counting sort; their columns stay in order within a row when they were.
static void sort_by(int n, size_t count, const int *key, const int *other, int *start, int *sorted) {
    for (int i = 0; i <= n; ++i) start[i] = 0;
    for (size_t e = 0; e < count; ++e) start[key[e] + 1] += 1;
    for (int i = 0; i < n; ++i) start[i + 1] += start[i];
    for (size_t e = 0; e < count; ++e) sorted[start[key[e]]++] = other[e];
    for (int i = n; i > 0; --i) start[i] = start[i - 1];
    start[0] = 0;
}

carom_pattern *carom_pattern_create(int n, size_t count, const int *row, const int *col, const carom_direct *direct) {
    if (n < 0 || count > (size_t)2147483647 - (size_t)n) return NULL;
    for (size_t e = 0; e < count; ++e)
        if (row[e] < 0 || row[e] >= n || col[e] < 0 || col[e] >= n) return NULL;
    // Sorted by rows first, then stably by columns: rows ascend in every column.
    const size_t all = count + (size_t)n;
    int *work = malloc((3 * all + (size_t)n + 1) * sizeof *work), *start, *to;
    carom_pattern *P = work ? make(n, all, &start, &to, direct) : NULL;
    if (P) {
        int *i = work, *j = work + all, *by_row = work + 2 * all, *at = work + 3 * all;
        for (size_t e = 0; e < count; ++e) i[e] = row[e], j[e] = col[e];
        for (int k = 0; k < n; ++k) i[count + (size_t)k] = j[count + (size_t)k] = k;
        sort_by(n, all, i, j, at, by_row);
        for (int k = 0; k < n; ++k)
            for (int e = at[k]; e < at[k + 1]; ++e) i[e] = k; // row of each sorted entry
        sort_by(n, all, by_row, i, start, to);
        int used = 0;
        for (int k = 0, e = 0; k < n; ++k) { // drop repeated rows
            const int first = used, end = start[k + 1];
            for (; e < end; ++e)
                if (used == first || to[used - 1] != to[e]) to[used++] = to[e];
            start[k] = first;
        }
        start[n] = used;
    }
    free(work);
    return P;
}

// Next row >= i that column j of a shape holds; n: none.  *e: place in a sparse column, kept by the caller.
static int next_row(carom_shape s, int j, int i, int *e) {
    switch (s.storage) {
    case CAROM_DIAGONAL: return i <= j ? j : s.n;
    case CAROM_BANDED: return i > j + s.band ? s.n : i < j - s.band ? j - s.band : i;
    case CAROM_SPARSE:
        while (*e < s.pattern->start[j + 1] && s.pattern->row[*e] < i) ++*e;
        return *e < s.pattern->start[j + 1] ? s.pattern->row[*e] : s.n;
    case CAROM_DENSE: break;
    }
    return i;
}

carom_pattern *carom_pattern_union(carom_shape A, carom_shape B, const carom_direct *direct) {
    const int n = A.n;
    int *start, *row;
    if (A.n != B.n) return NULL;
    carom_pattern *P = make(n, carom_shape_size(A) + carom_shape_size(B) + (size_t)n, &start, &row, direct);
    if (!P) return NULL;
    int used = 0;
    for (int j = 0; j < n; ++j) {
        int a = A.pattern ? A.pattern->start[j] : 0, b = B.pattern ? B.pattern->start[j] : 0;
        start[j] = used;
        for (int i = 0; i < n; ++i) {
            const int in_a = next_row(A, j, i, &a), in_b = next_row(B, j, i, &b), first = in_a < in_b ? in_a : in_b;
            i = i <= j && j < first ? j : first; // the diagonal in any case
            if (i < n) row[used++] = i;
        }
    }
    start[n] = used;
    return P;
}

bool carom_shape_holds(carom_shape big, carom_shape small) {
    if (big.n != small.n) return false;
    if (big.storage == CAROM_DENSE || small.storage == CAROM_DIAGONAL || (big.pattern && big.pattern == small.pattern))
        return true;
    if (big.storage == CAROM_DIAGONAL) return false;
    if (big.storage == CAROM_BANDED && small.storage == CAROM_BANDED) return big.band >= small.band;
    for (int j = 0; j < small.n; ++j) {
        int a = small.pattern ? small.pattern->start[j] : 0, b = big.pattern ? big.pattern->start[j] : 0;
        for (int i = next_row(small, j, 0, &a); i < small.n; i = next_row(small, j, i + 1, &a))
            if (next_row(big, j, i, &b) != i) return false;
    }
    return true;
}

bool carom_band_shape(int n, int band, bool sparse, carom_shape *shape) {
    *shape = (carom_shape){.storage = CAROM_DENSE, .n = n};
    if (band == 0) *shape = (carom_shape){.storage = CAROM_DIAGONAL, .n = n};
    else if (n > 8 && 4 * band < n && (band <= CAROM_WIDEST_BAND || !sparse))
        *shape = (carom_shape){.storage = CAROM_BANDED, .n = n, .band = band};
    return shape->storage != CAROM_DENSE || n <= CAROM_SMALLEST_SPARSE;
}

void carom_places_put(void *places, int i, int j) {
    carom_places *p = places;
    p->failed = p->failed || !CAROM_GROW(p->row, p->n) || !CAROM_GROW(p->col, p->n);
    if (p->failed) return;
    p->row[p->n] = p->shift + i;
    p->col[p->n++] = p->shift + j;
}

carom_pattern *carom_places_pattern(carom_places *p, int n, const carom_direct *direct) {
    carom_pattern *pattern = p->failed ? NULL : carom_pattern_create(n, p->n, p->row, p->col, direct);
    free(p->row), free(p->col);
    return pattern;
}

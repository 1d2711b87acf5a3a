// matrix.c: square matrices, diagonal, banded, dense or sparse, behind one set of verbs.
#include "linalg/matrix.h"
#include "linalg/sum.h"
#include <assert.h>
#include <carom/matrix.h>
#include <stdint.h>
#include <string.h>

size_t carom_shape_size(carom_shape shape) {
    const size_t n = (size_t)shape.n;
    switch (shape.storage) {
    case CAROM_DIAGONAL: return n;
    case CAROM_BANDED: return n * (2 * (size_t)shape.band + 1);
    case CAROM_SPARSE: return (size_t)shape.pattern->start[n];
    case CAROM_DENSE: break;
    }
    return n * n;
}

int carom_pattern_find(const carom_pattern *pattern, int i, int j) {
    int low = pattern->start[j], high = pattern->start[j + 1];
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (pattern->row[middle] < i) low = middle + 1;
        else high = middle;
    }
    return low < pattern->start[j + 1] && pattern->row[low] == i ? low : -1;
}

int carom_shape_band(carom_shape shape) {
    const carom_pattern *P = shape.pattern;
    int band = 0;
    switch (shape.storage) {
    case CAROM_DIAGONAL: return 0;
    case CAROM_BANDED: return shape.band;
    case CAROM_DENSE: return shape.n - 1;
    case CAROM_SPARSE: break;
    }
    for (int j = 0; j < P->n; ++j) {
        const int above = j - P->row[P->start[j]], below = P->row[P->start[j + 1] - 1] - j;
        band = above > band ? above : band;
        band = below > band ? below : band;
    }
    return band;
}

carom_matrix carom_allocate_matrix(carom_arena *mem, carom_shape shape) {
    return (carom_matrix){shape, carom_allocate(mem, carom_shape_size(shape))};
}

static inline double *place(const carom_matrix *A, int i, int j) {
    const int n = A->shape.n, b = A->shape.band;
    switch (A->shape.storage) {
    case CAROM_DIAGONAL: return i == j ? A->a + i : NULL;
    case CAROM_BANDED: return i - j <= b && j - i <= b ? A->a + (b + i - j) + (size_t)j * (size_t)(2 * b + 1) : NULL;
    case CAROM_SPARSE: {
        const int e = carom_pattern_find(A->shape.pattern, i, j);
        return e >= 0 ? A->a + e : NULL;
    }
    case CAROM_DENSE: break;
    }
    return A->a + i + (size_t)j * (size_t)n;
}

double *carom_matrix_entry(carom_matrix A, int i, int j) { return place(&A, i, j); }

const double *carom_matrix_not_finite(carom_matrix A, int *i, int *j) {
    const carom_shape s = A.shape;
    const int size = (int)carom_shape_size(s), n = s.n, width = 2 * s.band + 1;
    int k = 0;
    while (k < size && A.a[k] - A.a[k] == 0) ++k;
    if (k == size) return NULL;
    switch (s.storage) {
    case CAROM_DIAGONAL: *i = *j = k; break;
    case CAROM_BANDED: *j = k / width, *i = *j + k % width - s.band; break;
    case CAROM_SPARSE:
        for (*j = 0; s.pattern->start[*j + 1] <= k;) ++*j;
        *i = s.pattern->row[k];
        break;
    case CAROM_DENSE: *j = k / n, *i = k % n; break;
    }
    return A.a + k;
}

// The common sizes get a short path: the matrix of a planar body, and the single number of one unknown.
static inline bool of_three(carom_matrix A) { return A.shape.storage == CAROM_DENSE && A.shape.n == 3; }
static inline bool of_one(carom_matrix A) {
    return A.shape.n == 1 && (A.shape.storage == CAROM_DIAGONAL || A.shape.storage == CAROM_DENSE);
}

void carom_matrix_zero(carom_matrix A) {
    if (of_three(A)) for (int k = 0; k < 9; ++k) A.a[k] = 0;
    else if (of_one(A)) A.a[0] = 0;
    else carom_zero(A.a, (ptrdiff_t)carom_shape_size(A.shape));
}

// Magnitudes compare like their bits, and what is not a number lies above infinity: so the order does not matter, and
// eight maxima that do not wait for each other can be taken.
double carom_norm_max_long(const double *x, int n) {
    uint64_t most[8] = {0}, all = 0;
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; ++k) {
            uint64_t bits;
            memcpy(&bits, x + i + k, sizeof bits);
            bits &= UINT64_C(0x7fffffffffffffff);
            most[k] = bits > most[k] ? bits : most[k];
        }
    for (int k = 0; k < 8; ++k) all = most[k] > all ? most[k] : all;
    double size;
    memcpy(&size, &all, sizeof size);
    for (; i < n; ++i) {
        const double a = fabs(x[i]);
        if (!(a <= size)) size = a;
    }
    return size == size ? size : HUGE_VAL;
}

void carom_add_keeping(double *restrict x_0, double *restrict z_0, double *restrict x, double a,
                       const double *restrict z, int n) {
    for (int i = 0; i < n; ++i) {
        x_0[i] = x[i];
        z_0[i] = z[i];
        x[i] += a * z[i];
    }
}

// First and one past the last row of column j that the storage holds.
static inline int row_first(carom_shape s, int j) {
    return s.storage == CAROM_DIAGONAL ? j : s.storage == CAROM_DENSE || j < s.band ? 0 : j - s.band;
}
static inline int row_end(carom_shape s, int j) {
    return s.storage == CAROM_DIAGONAL                        ? j + 1
           : s.storage == CAROM_DENSE || j + s.band + 1 > s.n ? s.n
                                                              : j + s.band + 1;
}

static bool same_shape(carom_shape a, carom_shape b) {
    return a.storage == b.storage && a.n == b.n && (a.storage != CAROM_BANDED || a.band == b.band) &&
           a.pattern == b.pattern;
}

// A += x B, B's columns within those of a sparse A: both run downwards.
static void add_to_sparse(carom_matrix A, double x, carom_matrix B) {
    const carom_pattern *P = A.shape.pattern, *Q = B.shape.pattern;
    const bool sparse = B.shape.storage == CAROM_SPARSE;
    for (int j = 0; j < A.shape.n; ++j) {
        const int first = sparse ? Q->start[j] : row_first(B.shape, j),
                  end = sparse ? Q->start[j + 1] : row_end(B.shape, j);
        const double *b = sparse ? B.a + first : place(&B, first, j);
        for (int k = first, e = P->start[j]; k < end; ++k, ++e) {
            const int i = sparse ? Q->row[k] : k;
            while (e < P->start[j + 1] && P->row[e] < i) ++e;
            assert(e < P->start[j + 1] && P->row[e] == i); // B's storage must lie within A's
            A.a[e] += x * b[k - first];
        }
    }
}

void carom_matrix_add(carom_matrix A, double x, carom_matrix B) {
    assert(A.shape.n == B.shape.n);
    if (of_one(A) && of_one(B)) {
        A.a[0] += x * B.a[0];
        return;
    }
    if (of_three(A) && B.shape.storage == CAROM_DENSE) {
        double *restrict a = A.a;
        const double *restrict b = B.a;
        for (int k = 0; k < 9; ++k) a[k] += x * b[k];
        return;
    }
    if (same_shape(A.shape, B.shape)) {
        const size_t count = carom_shape_size(A.shape);
        for (size_t k = 0; k < count; ++k) A.a[k] += x * B.a[k];
        return;
    }
    if (A.shape.storage == CAROM_SPARSE) {
        add_to_sparse(A, x, B);
        return;
    }
    const carom_pattern *Q = B.shape.pattern;
    const bool sparse = B.shape.storage == CAROM_SPARSE;
    for (int j = 0; j < B.shape.n; ++j) {
        const int first = sparse ? Q->start[j] : row_first(B.shape, j),
                  end = sparse ? Q->start[j + 1] : row_end(B.shape, j);
        const double *b = sparse ? B.a + first : place(&B, first, j);
        for (int k = first; k < end; ++k) {
            double *a = place(&A, sparse ? Q->row[k] : k, j);
            assert(a); // B's storage must lie within A's
            *a += x * b[k - first];
        }
    }
}

// 0 + keeps the bits of adding the terms to a zero matrix, also if a product is -0.
static inline void sum_of(double *restrict a, double x, const double *restrict b, double y, const double *restrict c,
                          size_t n) {
    for (size_t k = 0; k < n; ++k) a[k] = 0 + x * b[k] + y * c[k];
}

void carom_matrix_sum(carom_matrix A, double x, carom_matrix B, double y, carom_matrix C) {
    if (!same_shape(A.shape, B.shape) || !same_shape(A.shape, C.shape)) {
        carom_matrix_zero(A);
        carom_matrix_add(A, x, B);
        carom_matrix_add(A, y, C);
        return;
    }
    if (of_three(A)) sum_of(A.a, x, B.a, y, C.a, 9);
    else sum_of(A.a, x, B.a, y, C.a, carom_shape_size(A.shape));
}

bool carom_shape_entry(carom_shape s, size_t e, int *i, int *j) {
    const size_t n = (size_t)s.n, rows = 2 * (size_t)s.band + 1;
    if (s.storage == CAROM_DIAGONAL) *i = *j = (int)e;
    else if (s.storage == CAROM_DENSE) *i = (int)(e % n), *j = (int)(e / n);
    else *j = (int)(e / rows), *i = (int)(e % rows) - s.band + *j;
    return *i >= 0 && *i < s.n;
}

void carom_matrix_add_block(double *S, int ld, double x, carom_matrix A) {
    const carom_pattern *P = A.shape.pattern;
    for (int j = 0; j < A.shape.n; ++j) {
        double *column = S + (size_t)j * (size_t)ld;
        if (A.shape.storage == CAROM_SPARSE) {
            for (int e = P->start[j]; e < P->start[j + 1]; ++e) column[P->row[e]] += x * A.a[e];
            continue;
        }
        const int first = row_first(A.shape, j), end = row_end(A.shape, j);
        const double *a = place(&A, first, j);
        for (int i = first; i < end; ++i) column[i] += x * a[i - first];
    }
}

// Row i of y += s A x, the columns in ascending order; absolute: of the magnitudes of its terms.
static inline double row_of(const double *a, size_t rows, double y, double s, const double *x, int i, int first,
                            int end, bool absolute) {
    const size_t b = rows / 2;
    for (int j = first; j < end; ++j) {
        const double term = s * x[j] * a[(size_t)j * rows + b + (size_t)(i - j)];
        y += absolute ? fabs(term) : term;
    }
    return y;
}

// Narrow bands by rows: nothing waits for what was just stored.  A constant b unrolls the inner loop.
static inline void muladd_rows(double *restrict y, double s, const double *restrict a, const double *restrict x, int n,
                               int b, bool absolute) {
    const size_t rows = (size_t)(2 * b + 1);
    const int low = b < n ? b : n, high = n - b > low ? n - b : low;
    for (int i = 0; i < low; ++i) y[i] = row_of(a, rows, y[i], s, x, i, 0, i + b + 1 < n ? i + b + 1 : n, absolute);
    for (int i = low; i < high; ++i) {
        double sum = y[i];
        for (int k = -b; k <= b; ++k) {
            const double term = s * x[i + k] * a[(size_t)(i + k) * rows + (size_t)(b - k)];
            sum += absolute ? fabs(term) : term;
        }
        y[i] = sum;
    }
    for (int i = high; i < n; ++i) y[i] = row_of(a, rows, y[i], s, x, i, i - b > 0 ? i - b : 0, n, absolute);
}

static inline bool narrow(carom_shape s) { return s.storage == CAROM_BANDED && s.band <= 3; }

static inline void muladd_band(double *y, double s, carom_matrix A, const double *x, bool absolute) {
    switch (A.shape.band) {
    case 1: muladd_rows(y, s, A.a, x, A.shape.n, 1, absolute); break;
    case 2: muladd_rows(y, s, A.a, x, A.shape.n, 2, absolute); break;
    case 3: muladd_rows(y, s, A.a, x, A.shape.n, 3, absolute); break;
    default: muladd_rows(y, s, A.a, x, A.shape.n, 0, absolute);
    }
}

static inline void muladd_diagonal(double *restrict y, double s, const double *restrict a, const double *restrict x,
                                   int n) {
    for (int i = 0; i < n; ++i) y[i] += s * (a[i] * x[i]);
}

// A constant n unrolls both loops.
static inline void muladd_dense(double *restrict y, double s, const double *restrict a, const double *restrict x,
                                int n) {
    for (int j = 0; j < n; ++j, a += n)
        for (int i = 0; i < n; ++i) y[i] += s * x[j] * a[i];
}

void carom_matrix_muladd(double *y, double s, carom_matrix A, const double *x) {
    const int n = A.shape.n;
    if (A.shape.storage == CAROM_DIAGONAL) {
        if (n == 2) muladd_diagonal(y, s, A.a, x, 2);
        else muladd_diagonal(y, s, A.a, x, n);
        return;
    }
    if (A.shape.storage == CAROM_SPARSE) {
        const carom_pattern *P = A.shape.pattern;
        for (int j = 0; j < n; ++j) {
            const double sx = s * x[j];
            for (int e = P->start[j]; e < P->start[j + 1]; ++e) y[P->row[e]] += sx * A.a[e];
        }
        return;
    }
    if (narrow(A.shape)) {
        muladd_band(y, s, A, x, false);
        return;
    }
    if (A.shape.storage == CAROM_DENSE) {
        if (n == 2) muladd_dense(y, s, A.a, x, 2);
        else if (n == 3) muladd_dense(y, s, A.a, x, 3);
        else muladd_dense(y, s, A.a, x, n);
        return;
    }
    for (int j = 0; j < n; ++j) {
        const int first = row_first(A.shape, j), end = row_end(A.shape, j);
        const double *a = place(&A, first, j), sx = s * x[j];
        for (int i = first; i < end; ++i) y[i] += sx * a[i - first];
    }
}

void carom_matrix_mul(double *y, carom_matrix A, const double *x) {
    if (of_three(A)) {
        double sum[3] = {0, 0, 0};
        muladd_dense(sum, 1, A.a, x, 3);
        for (int i = 0; i < 3; ++i) y[i] = sum[i];
        return;
    }
    if (of_one(A)) {
        y[0] = 0 + A.a[0] * x[0];
        return;
    }
    carom_zero(y, A.shape.n);
    carom_matrix_muladd(y, 1, A, x);
}

void carom_matrix_magnitude(double *y, carom_matrix A, const double *x) {
    const int n = A.shape.n;
    carom_zero(y, n);
    if (narrow(A.shape)) {
        muladd_band(y, 1, A, x, true);
        return;
    }
    for (int j = 0; j < n; ++j) {
        if (A.shape.storage == CAROM_SPARSE) {
            const carom_pattern *P = A.shape.pattern;
            for (int e = P->start[j]; e < P->start[j + 1]; ++e) y[P->row[e]] += fabs(A.a[e] * x[j]);
            continue;
        }
        const int first = row_first(A.shape, j), end = row_end(A.shape, j);
        const double *a = place(&A, first, j);
        for (int i = first; i < end; ++i) y[i] += fabs(a[i - first] * x[j]);
    }
}

// matrix.c: square matrices, diagonal, banded or dense, behind one set of verbs.
#include <assert.h>
#include <carom/matrix.h>

size_t carom_shape_size(carom_shape shape) {
    const size_t n = (size_t)shape.n;
    switch (shape.storage) {
    case CAROM_DIAGONAL: return n;
    case CAROM_BANDED: return n * (2 * (size_t)shape.band + 1);
    case CAROM_DENSE: break;
    }
    return n * n;
}

carom_matrix carom_carve_matrix(carom_arena *mem, carom_shape shape) {
    return (carom_matrix){shape, carom_carve(mem, carom_shape_size(shape))};
}

double *carom_matrix_entry(carom_matrix A, int i, int j) {
    const int n = A.shape.n, b = A.shape.band;
    switch (A.shape.storage) {
    case CAROM_DIAGONAL: return i == j ? A.a + i : NULL;
    case CAROM_BANDED: return i - j <= b && j - i <= b ? A.a + (b + i - j) + (size_t)j * (size_t)(2 * b + 1) : NULL;
    case CAROM_DENSE: break;
    }
    return A.a + i + (size_t)j * (size_t)n;
}

void carom_matrix_zero(carom_matrix A) {
    const size_t count = carom_shape_size(A.shape);
    for (size_t k = 0; k < count; ++k) A.a[k] = 0;
}

// First and one past the last row of column j that the storage holds.
static inline int row_first(carom_shape s, int j) {
    return s.storage == CAROM_DIAGONAL ? j : s.storage == CAROM_DENSE || j < s.band ? 0 : j - s.band;
}
static inline int row_end(carom_shape s, int j) {
    return s.storage == CAROM_DIAGONAL ? j + 1 : s.storage == CAROM_DENSE || j + s.band + 1 > s.n ? s.n : j + s.band + 1;
}

static bool same_shape(carom_shape a, carom_shape b) {
    return a.storage == b.storage && a.n == b.n && (a.storage != CAROM_BANDED || a.band == b.band);
}

void carom_matrix_add(carom_matrix A, double x, carom_matrix B) {
    assert(A.shape.n == B.shape.n);
    if (same_shape(A.shape, B.shape)) {
        const size_t count = carom_shape_size(A.shape);
        for (size_t k = 0; k < count; ++k) A.a[k] += x * B.a[k];
        return;
    }
    for (int j = 0; j < B.shape.n; ++j)
        for (int i = row_first(B.shape, j); i < row_end(B.shape, j); ++i) {
            double *a = carom_matrix_entry(A, i, j);
            assert(a); // B's storage must lie within A's
            *a += x * *carom_matrix_entry(B, i, j);
        }
}

void carom_matrix_muladd(double *y, double s, carom_matrix A, const double *x) {
    const int n = A.shape.n;
    if (A.shape.storage == CAROM_DIAGONAL) {
        for (int i = 0; i < n; ++i) y[i] += s * (A.a[i] * x[i]);
        return;
    }
    for (int j = 0; j < n; ++j) {
        const int first = row_first(A.shape, j), end = row_end(A.shape, j);
        const double *a = carom_matrix_entry(A, first, j), sx = s * x[j];
        for (int i = first; i < end; ++i) y[i] += sx * a[i - first];
    }
}

void carom_matrix_mul(double *y, carom_matrix A, const double *x) {
    carom_zero(y, A.shape.n);
    carom_matrix_muladd(y, 1, A, x);
}

// matrix.h: square matrices in the storage that suits them, and sets of columns.
//
// A scheme never accesses the entries of a matrix.  It adds, multiplies, factors and solves, and the storage
// (diagonal, banded, dense, sparse) is the system's choice.  Arguments: result first, then inputs.
#pragma once
#include <carom/arena.h>
#include <carom/status.h>
#include <math.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum carom_storage { CAROM_DIAGONAL, CAROM_BANDED, CAROM_DENSE, CAROM_SPARSE } carom_storage;

typedef struct carom_direct carom_direct;

/// Where a sparse matrix has entries: compressed columns, row numbers ascending in each, the diagonal always among
/// them.  Constant and shared by all matrices of that shape; its creator keeps it alive as long as they exist.
typedef struct carom_pattern {
    int n;
    const int *start;           // n + 1: column j has the entries start[j] .. start[j+1]-1
    const int *row;             // start[n]
    const carom_direct *direct; // how such matrices are factorised, see carom/sparse.h; NULL: not at all
} carom_pattern;

typedef struct carom_shape {
    carom_storage storage;
    int n;                        // rows = columns
    int band;                     // CAROM_BANDED: number of sub- and of super-diagonals
    const carom_pattern *pattern; // CAROM_SPARSE
} carom_shape;

static inline carom_shape carom_shape_sparse(const carom_pattern *pattern) {
    const carom_shape shape = {CAROM_SPARSE, pattern->n, 0, pattern};
    return shape;
}

/// A view; owns nothing.  Entry (i, j) is a[i + j n] when dense, a[band + i - j + j (2 band + 1)]
/// when banded, a[i] (i = j) when diagonal, a[carom_pattern_find(pattern, i, j)] when sparse.
typedef struct carom_matrix {
    carom_shape shape;
    double *a;
} carom_matrix;

carom_matrix carom_allocate_matrix(carom_arena *mem, carom_shape shape);
double *carom_matrix_entry(carom_matrix A, int i, int j);    // NULL outside the storage
void carom_matrix_zero(carom_matrix A);
void carom_matrix_mul(double *y, carom_matrix A, const double *x);              // y = A x
void carom_matrix_add(carom_matrix A, double x, carom_matrix B); // A += x B; B's storage within A's
void carom_matrix_muladd(double *y, double s, carom_matrix A, const double *x); // y += s A x

/// The pattern of the given entries (in any order, repeated as they like) and the diagonal.  NULL: no memory, or an
/// entry outside 0 .. n-1.
carom_pattern *carom_pattern_create(int n, size_t count, const int *row, const int *col, const carom_direct *direct);
/// The pattern of a sum: all entries of two shapes of the same size.  NULL: no memory.
carom_pattern *carom_pattern_union(carom_shape A, carom_shape B, const carom_direct *direct);
void carom_pattern_destroy(carom_pattern *pattern);
int carom_pattern_find(const carom_pattern *pattern, int i, int j); // place of an entry in `a`; -1: there is none

/// A sparse direct solver.  The core has none; an outer layer provides one.
struct carom_direct {
    const char *name;
    /// Analysis and all memory; NULL: no memory.  symmetric: matrices will be symmetric positive definite.
    void *(*create)(const carom_pattern *pattern, bool symmetric);
    /// As carom_factorise.  No heap allocation, unless the pivots found so far do not suit the matrix.
    carom_status (*factorise)(void *state, const double *a, int *where);
    void (*solve)(void *state, double *x);
    void (*destroy)(void *state);
};

enum { CAROM_FACTOR_OF_MASS = -1 };

/// A factorisation: LDL' without pivoting for symmetric positive definite matrices, LU with row
/// pivoting for the rest.
typedef struct carom_factor {
    carom_shape shape;
    bool symmetric;
    bool ready;    // for the owner: a constant matrix is factorised once
    bool positive; // LU was requested, but the matrix is symmetric positive definite: LDL' is used
    bool tiled;    // LU: by the kernels for larger dense matrices
    long count;    // factorisations so far; CAROM_FACTOR_OF_MASS: of the constant mass matrix, like every other of
                   // these
    double *a;
    int *pivot;   // LU only
    void *direct; // CAROM_SPARSE: state of the pattern's way to factorise, held by the arena
} carom_factor;

carom_factor carom_allocate_factor(carom_arena *mem, carom_shape shape, bool symmetric);

/// CAROM_SINGULAR when a pivot vanishes (relative to its column) or, for LDL', is not positive;
/// *where is then the row (NULL allowed).
carom_status carom_factorise(carom_factor *F, carom_matrix A, int *where);
void carom_factor_solve(const carom_factor *F, double *x); // x = A^-1 x

/// n columns of length rows.  Dense when count is NULL: column k is a + k rows.  Else column k holds
/// count[k] <= stride entries: values a[k stride + e], row numbers carom_column_rows(W, k)[e].  These are row[k stride
/// + e], unless columns share them: share[k] = j > 0 says that column k has those of list j, row[(n + j - 1) stride +
/// e].  All directions of a contact act on the same two bodies.
typedef struct carom_columns {
    int rows, n, stride;
    int *count, *row;
    double *a;
    int *share; // n; 0: row numbers of its own.  NULL: every column has its own
} carom_columns;

carom_columns carom_allocate_columns(carom_arena *mem, int rows, int n, int stride); // stride >= rows: dense
/// Row numbers of column k; W is sparse.
static inline int *carom_column_rows(const carom_columns *W, int k) {
    return W->row + (size_t)(W->share && W->share[k] > 0 ? W->n + W->share[k] - 1 : k) * (size_t)W->stride;
}
/// Column k gets count entries and row numbers of its own.  Returns the place where the caller writes these numbers.
static inline int *carom_column_own_rows(carom_columns *W, int k, int count) {
    if (W->share) W->share[k] = 0;
    W->count[k] = count;
    return W->row + (size_t)k * (size_t)W->stride;
}
double carom_column_dot(const carom_columns *W, int k, const double *x);            // W_k' x
/// y[k] = W_(first + k)'x for n columns.
void carom_columns_dot(double *y, const carom_columns *W, int first, int n, const double *x);
void carom_column_axpy(double *y, double s, const carom_columns *W, int k);         // y += s W_k

// Vectors; inline because most systems are small.  Lists of one to three numbers are the most frequent: a loop over
// them would cost more than what it does.
static inline void carom_copy(double *y, const double *x, ptrdiff_t n) { // n may be that of a matrix
    if (n == 3) {
        const double a = x[0], b = x[1], c = x[2];
        y[0] = a, y[1] = b, y[2] = c;
    } else if (n == 2) {
        const double a = x[0], b = x[1];
        y[0] = a, y[1] = b;
    } else if (n == 1) {
        y[0] = x[0];
    } else {
        for (ptrdiff_t i = 0; i < n; ++i) y[i] = x[i];
    }
}
static inline void carom_zero(double *y, ptrdiff_t n) {
    if (n == 3) y[0] = y[1] = y[2] = 0;
    else if (n == 2) y[0] = y[1] = 0;
    else if (n == 1) y[0] = 0;
    else for (ptrdiff_t i = 0; i < n; ++i) y[i] = 0;
}
/// y += a x
static inline void carom_axpy(double *y, double a, const double *x, int n) {
    if (n == 3) {
        const double b = y[0] + a * x[0], c = y[1] + a * x[1], d = y[2] + a * x[2];
        y[0] = b, y[1] = c, y[2] = d;
    } else if (n == 2) {
        const double b = y[0] + a * x[0], c = y[1] + a * x[1];
        y[0] = b, y[1] = c;
    } else if (n == 1) {
        y[0] += a * x[0];
    } else {
        for (int i = 0; i < n; ++i) y[i] += a * x[i];
    }
}
/// y = x + a z
static inline void carom_add(double *y, const double *x, double a, const double *z, int n) {
    if (n == 3) {
        const double b = x[0] + a * z[0], c = x[1] + a * z[1], d = x[2] + a * z[2];
        y[0] = b, y[1] = c, y[2] = d;
    } else if (n == 2) {
        const double b = x[0] + a * z[0], c = x[1] + a * z[1];
        y[0] = b, y[1] = c;
    } else if (n == 1) {
        y[0] = x[0] + a * z[0];
    } else {
        for (int i = 0; i < n; ++i) y[i] = x[i] + a * z[i];
    }
}
static inline double carom_dot(const double *x, const double *y, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}
/// Euclidean length of a few entries, n > 0; no square leaves the range of numbers.
static inline double carom_length(const double *x, int n) {
    double l = fabs(x[0]);
    for (int i = 1; i < n; ++i) l = hypot(l, x[i]);
    return l;
}
double carom_norm_max_long(const double *x, int n);
/// Largest absolute entry; infinite when an entry is not a number.
static inline double carom_norm_max(const double *x, int n) {
    if (n > 32) return carom_norm_max_long(x, n);
    double most = 0;
    for (int i = 0; i < n; ++i) {
        const double a = x[i] < 0 ? -x[i] : x[i];
        if (!(a <= most)) most = a == a ? a : HUGE_VAL;
    }
    return most;
}

#ifdef __cplusplus
}
#endif

// matrix.h: square matrices in the storage that suits them, and sets of columns.
//
// A scheme never looks inside a matrix.  It adds, multiplies, factors and solves, and the storage
// (diagonal, banded, dense) is the system's choice.  Arguments: result first, then inputs.
#pragma once
#include <carom/arena.h>
#include <carom/status.h>
#include <math.h>
#include <stdbool.h>

typedef enum carom_storage { CAROM_DIAGONAL, CAROM_BANDED, CAROM_DENSE } carom_storage;

typedef struct carom_shape {
    carom_storage storage;
    int n;    // rows = columns
    int band; // CAROM_BANDED: number of sub- and of super-diagonals
} carom_shape;

/// A view; owns nothing.  Entry (i, j) is a[i + j n] when dense, a[band + i - j + j (2 band + 1)]
/// when banded, a[i] (i = j) when diagonal.
typedef struct carom_matrix {
    carom_shape shape;
    double *a;
} carom_matrix;

size_t carom_shape_size(carom_shape shape);                   // number of doubles
carom_matrix carom_carve_matrix(carom_arena *mem, carom_shape shape);
double *carom_matrix_entry(carom_matrix A, int i, int j);    // NULL outside the storage
void carom_matrix_zero(carom_matrix A);
void carom_matrix_add(carom_matrix A, double x, carom_matrix B); // A += x B; B's storage within A's
void carom_matrix_mul(double *y, carom_matrix A, const double *x);           // y  = A x
void carom_matrix_muladd(double *y, double s, carom_matrix A, const double *x); // y += s A x

/// A factorisation: LDL' without pivoting for symmetric positive definite matrices, LU with row
/// pivoting for the rest.
typedef struct carom_factor {
    carom_shape shape;
    bool symmetric;
    bool ready; // set and read by carom_mass_factor: a constant matrix is factorised once
    double *a;
    int *pivot; // LU only
} carom_factor;

carom_factor carom_carve_factor(carom_arena *mem, carom_shape shape, bool symmetric);

/// CAROM_SINGULAR when a pivot vanishes (relative to its column) or, for LDL', is not positive;
/// *where is then the row (NULL allowed).
carom_status carom_factorise(carom_factor *F, carom_matrix A, int *where);
void carom_factor_solve(const carom_factor *F, double *x); // x = A^-1 x

/// n columns of length rows.  Dense when count is NULL: column k is a + k rows.  Else column k holds
/// count[k] <= stride entries: row numbers row[k stride + e], values a[k stride + e].
typedef struct carom_columns {
    int rows, n, stride;
    int *count, *row;
    double *a;
} carom_columns;

carom_columns carom_carve_columns(carom_arena *mem, int rows, int n, int stride); // stride >= rows: dense
double carom_column_dot(const carom_columns *W, int k, const double *x);            // W_k' x
void carom_column_axpy(double *y, double s, const carom_columns *W, int k);         // y += s W_k
void carom_column_expand(double *y, const carom_columns *W, int k);                 // y = W_k, dense

// Vectors; inline because most systems are small.
static inline void carom_copy(double *y, const double *x, int n) {
    for (int i = 0; i < n; ++i) y[i] = x[i];
}
static inline void carom_zero(double *y, int n) {
    for (int i = 0; i < n; ++i) y[i] = 0;
}
/// y += a x
static inline void carom_axpy(double *y, double a, const double *x, int n) {
    for (int i = 0; i < n; ++i) y[i] += a * x[i];
}
/// y = x + a z
static inline void carom_add(double *y, const double *x, double a, const double *z, int n) {
    for (int i = 0; i < n; ++i) y[i] = x[i] + a * z[i];
}
static inline double carom_dot(const double *x, const double *y, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}
/// Largest absolute entry; infinite when an entry is not a number.
static inline double carom_norm_max(const double *x, int n) {
    double most = 0;
    for (int i = 0; i < n; ++i) {
        const double a = x[i] < 0 ? -x[i] : x[i];
        if (!(a <= most)) most = a == a ? a : HUGE_VAL;
    }
    return most;
}

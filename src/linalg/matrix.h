// matrix.h: matrices and columns as schemes and models use them; users: <carom/matrix.h>.
#pragma once
#include <carom/matrix.h>

size_t carom_shape_size(carom_shape shape);                   // number of doubles
int carom_shape_band(carom_shape shape);                      // most |i - j| of an entry; sparse shapes are searched
/// The first entry that is not finite, and its row and column; NULL: all are finite.
const double *carom_matrix_not_finite(carom_matrix A, int *i, int *j);
void carom_matrix_magnitude(double *y, carom_matrix A, const double *x);         // y_i = sum_j |A_ij x_j|
/// Is it well-formed?  For patterns that carom_pattern_create() and carom_pattern_union() did not make.
carom_status carom_pattern_check(const carom_pattern *pattern, carom_error *err);
/// Does storage of shape big have room for every matrix of shape small?
bool carom_shape_holds(carom_shape big, carom_shape small);
/// Where entry e of a matrix that is not sparse is; false: it is none.
bool carom_shape_entry(carom_shape shape, size_t e, int *i, int *j);
void carom_factor_advance(const carom_factor *F, double *v, double h, double *x); // v += h A^-1 x; x is spoilt
/// With room for so many lists of row numbers that columns may share; 0: share is NULL.
carom_columns carom_allocate_sharing_columns(carom_arena *mem, int rows, int n, int stride, int lists);
void carom_column_expand(double *y, const carom_columns *W, int k);                 // y = W_k, dense
void carom_column_clear(carom_columns *W, int k);                                   // W_k = 0, where it has entries
/// Entries of column k: values a[e] in rows carom_entry_row(x, e), e < n.
typedef struct carom_entries { const double *a; const int *row; int n; } carom_entries;
static inline carom_entries carom_entries_of(const carom_columns *W, int k) {
    const double *a = W->a + (size_t)k * (size_t)W->stride;
    return W->count ? (carom_entries){a, carom_column_rows(W, k), W->count[k]} : (carom_entries){a, NULL, W->rows};
}
static inline int carom_entry_row(const carom_entries *x, int e) { return x->row ? x->row[e] : e; }
/// x_0 = x, z_0 = z, x += a z: a step of a large system that keeps where it began, in one pass.
void carom_add_keeping(double *x_0, double *z_0, double *x, double a, const double *z, int n);

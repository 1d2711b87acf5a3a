// columns.c: a set of columns, dense or with a few entries each.
#include "linalg/matrix.h"
#include <carom/matrix.h>

carom_columns carom_allocate_sharing_columns(carom_arena *mem, int rows, int n, int stride, int lists) {
    const bool dense = stride >= rows;
    carom_columns W = {.rows = rows, .n = n, .stride = dense ? rows : stride};
    W.a = carom_allocate(mem, (size_t)n * (size_t)W.stride);
    if (!dense) {
        W.count = carom_allocate_ints(mem, (size_t)n);
        W.row = carom_allocate_ints(mem, (size_t)(n + lists) * (size_t)W.stride);
        if (lists > 0) W.share = carom_allocate_ints(mem, (size_t)n);
    }
    return W;
}

carom_columns carom_allocate_columns(carom_arena *mem, int rows, int n, int stride) {
    return carom_allocate_sharing_columns(mem, rows, n, stride, 0);
}

// For three unknowns the overhead of a loop exceeds its work.
static inline double dot(const double *a, const double *x, int n) {
    return n == 3 ? 0 + a[0] * x[0] + a[1] * x[1] + a[2] * x[2] : carom_dot(a, x, n);
}

double carom_column_dot(const carom_columns *W, int k, const double *x) {
    const size_t start = (size_t)k * (size_t)W->stride;
    const double *a = W->a + start;
    if (!W->count) return dot(a, x, W->rows);
    const int *row = carom_column_rows(W, k);
    double sum = 0;
    for (int e = 0; e < W->count[k]; ++e) sum += a[e] * x[row[e]];
    return sum;
}

// Four sums side by side: each is added up in the order of carom_column_dot.
static void dots_dense(double *y, const double *a, ptrdiff_t stride, int n, const double *x, int rows) {
    for (; n >= 4; n -= 4, a += 4 * stride, y += 4) {
        const double *b = a + stride, *c = b + stride, *d = c + stride;
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (int i = 0; i < rows; ++i) {
            const double z = x[i];
            s0 += a[i] * z, s1 += b[i] * z, s2 += c[i] * z, s3 += d[i] * z;
        }
        y[0] = s0, y[1] = s1, y[2] = s2, y[3] = s3;
    }
    for (int k = 0; k < n; ++k, a += stride) y[k] = dot(a, x, rows);
}

// One after the other, for so few rows that a loop over them would cost as much as the sums; rows is a constant where
// this is called.
static inline void dots_few(double *restrict y, const double *a, int n, const double *x, int rows) {
    for (int k = 0; k < n; ++k, a += rows) y[k] = carom_dot(a, x, rows);
}

void carom_columns_dot(double *y, const carom_columns *W, int first, int n, const double *x) {
    const double *a = W->a + (size_t)first * (size_t)W->stride;
    if (!W->count) {
        switch (W->rows) { // dense columns lie side by side
        case 1: dots_few(y, a, n, x, 1); break;
        case 2: dots_few(y, a, n, x, 2); break;
        case 3: dots_few(y, a, n, x, 3); break;
        case 6: dots_few(y, a, n, x, 6); break; // a body in space
        default: dots_dense(y, a, W->stride, n, x, W->rows);
        }
        return;
    }
    for (int k = 0; k < n; ++k, a += W->stride) {
        const int *row = carom_column_rows(W, first + k);
        double sum = 0;
        for (int e = 0; e < W->count[first + k]; ++e) sum += a[e] * x[row[e]];
        y[k] = sum;
    }
}

void carom_column_axpy(double *y, double s, const carom_columns *W, int k) {
    const size_t start = (size_t)k * (size_t)W->stride;
    const double *a = W->a + start;
    if (!W->count && W->rows == 3) {
        const double x = y[0] + s * a[0], z = y[1] + s * a[1];
        y[2] += s * a[2];
        y[0] = x, y[1] = z;
        return;
    }
    if (!W->count) {
        switch (W->rows) {
        case 1: carom_axpy(y, s, a, 1); break;
        case 2: carom_axpy(y, s, a, 2); break;
        case 3: carom_axpy(y, s, a, 3); break;
        case 6: carom_axpy(y, s, a, 6); break;
        default: carom_axpy(y, s, a, W->rows);
        }
        return;
    }
    const int *row = carom_column_rows(W, k);
    for (int e = 0; e < W->count[k]; ++e) y[row[e]] += s * a[e];
}

void carom_column_expand(double *y, const carom_columns *W, int k) {
    if (!W->count && W->rows > 3) { // in one pass, with the bits of two: -0 becomes 0
        const double *restrict a = W->a + (size_t)k * (size_t)W->stride;
        double *restrict to = y;
        for (int i = 0; i < W->rows; ++i) to[i] = 0 + a[i];
        return;
    }
    carom_zero(y, W->rows);
    carom_column_axpy(y, 1, W, k);
}

void carom_column_clear(carom_columns *W, int k) {
    carom_zero(W->a + (size_t)k * (size_t)W->stride, W->count ? W->count[k] : W->rows);
}

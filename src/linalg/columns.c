// columns.c: a set of columns, dense or with a few entries each.
#include <carom/matrix.h>

carom_columns carom_allocate_columns(carom_arena *mem, int rows, int n, int stride) {
    const bool dense = stride >= rows;
    carom_columns W = {rows, n, dense ? rows : stride, NULL, NULL, NULL};
    const size_t size = (size_t)n * (size_t)W.stride;
    W.a = carom_allocate(mem, size);
    if (!dense) {
        W.count = carom_allocate_ints(mem, (size_t)n);
        W.row = carom_allocate_ints(mem, size);
    }
    return W;
}

double carom_column_dot(const carom_columns *W, int k, const double *x) {
    const size_t start = (size_t)k * (size_t)W->stride;
    const double *a = W->a + start;
    if (!W->count) return carom_dot(a, x, W->rows);
    const int *row = W->row + start;
    double sum = 0;
    for (int e = 0; e < W->count[k]; ++e) sum += a[e] * x[row[e]];
    return sum;
}

void carom_column_axpy(double *y, double s, const carom_columns *W, int k) {
    const size_t start = (size_t)k * (size_t)W->stride;
    const double *a = W->a + start;
    if (!W->count) {
        carom_axpy(y, s, a, W->rows);
        return;
    }
    const int *row = W->row + start;
    for (int e = 0; e < W->count[k]; ++e) y[row[e]] += s * a[e];
}

void carom_column_expand(double *y, const carom_columns *W, int k) {
    carom_zero(y, W->rows);
    carom_column_axpy(y, 1, W, k);
}

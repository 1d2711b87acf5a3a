// anderson.c: see anderson.h.
#include "solver/anderson.h"
#include <math.h>
#include <string.h>

enum { BACK = CAROM_ANDERSON_BACK };

void carom_carve_anderson(carom_anderson *a, carom_arena *mem, int n, int back) {
    const size_t m = (size_t)n, k = (size_t)back;
    a->back = back;
    a->A = carom_carve_bytes(mem, BACK * sizeof *a->A);
    a->dF = carom_carve(mem, k * m);
    a->dG = carom_carve(mem, k * m);
    a->f_old = carom_carve(mem, m);
    a->g_old = carom_carve(mem, m);
    a->safe = carom_carve(mem, m);
}

static void forget(carom_anderson *a) {
    a->count = a->next = 0;
    a->have = false;
    a->last = INFINITY;
}

void carom_anderson_reset(carom_anderson *a, int n) {
    a->n = n;
    forget(a);
}

static double dot(const double *x, const double *y, int n) {
    double a = 0, b = 0;
    int i = 0;
    for (; i + 1 < n; i += 2) a += x[i] * y[i], b += x[i + 1] * y[i + 1];
    return i < n ? a + b + x[i] * y[i] : a + b;
}

// Least squares: gamma of  |f - dF gamma|^2 + 1e-10 |dF|^2 |gamma|^2  minimal, by elimination.  False: nothing to go by.
static bool weights(const carom_anderson *a, const double *f, double *gamma) {
    double B[BACK][BACK], trace = 0;
    const int m = a->count;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) B[i][j] = a->A[i][j];
        gamma[i] = dot(a->dF + (size_t)i * (size_t)a->n, f, a->n);
        trace += B[i][i];
    }
    for (int i = 0; i < m; i++) B[i][i] += 1e-10 * trace;
    for (int k = 0; k < m; k++) {
        if (!(B[k][k] > 0)) return false;
        for (int i = k + 1; i < m; i++) {
            const double l = B[i][k] / B[k][k];
            for (int j = k; j < m; j++) B[i][j] -= l * B[k][j];
            gamma[i] -= l * gamma[k];
        }
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int j = i + 1; j < m; j++) gamma[i] -= B[i][j] * gamma[j];
        gamma[i] /= B[i][i];
    }
    return true;
}

static void remember(carom_anderson *a, const double *f, const double *g) {
    const size_t n = (size_t)a->n;
    double *dF = a->dF + (size_t)a->next * n, *dG = a->dG + (size_t)a->next * n;
    for (size_t i = 0; i < n; i++) dF[i] = f[i] - a->f_old[i], dG[i] = g[i] - a->g_old[i];
    if (a->count < a->back) a->count++;
    for (int k = 0; k < a->count; k++) a->A[a->next][k] = a->A[k][a->next] = dot(dF, a->dF + (size_t)k * n, a->n);
    a->next = (a->next + 1) % a->back;
}

// (SOL-20)  f_k = d (g(x_k) - x_k),   x_k+1 = g(x_k) - sum_j gamma_j (g(x_j+1) - g(x_j)),  gamma minimises |f_k - sum_j gamma_j (f_j+1 - f_j)|
void carom_anderson_next(carom_anderson *a, double *x, const double *g, const double *f, double size, double growth) {
    const size_t bytes = (size_t)a->n * sizeof *x;
    double gamma[BACK];
    if (!(size <= growth * a->last) && a->count > 0) {
        forget(a);
        memcpy(x, a->safe, bytes);
        return;
    }
    a->last = size;
    if (a->have) remember(a, f, g);
    a->have = true;
    memcpy(a->f_old, f, bytes), memcpy(a->g_old, g, bytes), memcpy(a->safe, g, bytes), memcpy(x, g, bytes);
    if (a->count == 0) return;
    if (!weights(a, f, gamma)) {
        forget(a);
        return;
    }
    for (int k = 0; k < a->count; k++) {
        const double *dG = a->dG + (size_t)k * (size_t)a->n;
        for (int i = 0; i < a->n; i++) x[i] -= gamma[k] * dG[i];
    }
}

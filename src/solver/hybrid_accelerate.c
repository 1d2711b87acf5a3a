// hybrid_accelerate.c: Gauss-Seidel sweeps with Anderson acceleration.
//
// Spec: docs/solvers.md, "hybrid".  Source: H. F. Walker, P. Ni, SIAM J. Numer. Anal. 49 (2011) 1715-1735.
#include "solver/hybrid.h"
#include "solver/sweep.h"

enum { BACK = CAROM_ANDERSON, CHECK = 10, PATIENCE = 60 };

typedef struct {
    double A[BACK][BACK]; // products of changes of steps
    int count, next;      // columns there are, column to be replaced
} history;

static double dot(const double *x, const double *y, int n) {
    double a = 0, b = 0;
    int i = 0;
    for (; i + 1 < n; i += 2) a += x[i] * y[i], b += x[i + 1] * y[i + 1];
    return i < n ? a + b + x[i] * y[i] : a + b;
}

// Least squares: g of  |f - dF g|^2 + 1e-10 |dF|^2 |g|^2  minimal, by elimination.  False: nothing to go by.
static bool weights(const history *h, const double *dF, const double *f, int n, double *g) {
    double B[BACK][BACK], trace = 0;
    const int m = h->count;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) B[i][j] = h->A[i][j];
        g[i] = dot(dF + (size_t)i * (size_t)n, f, n);
        trace += B[i][i];
    }
    for (int i = 0; i < m; i++) B[i][i] += 1e-10 * trace;
    for (int k = 0; k < m; k++) {
        if (!(B[k][k] > 0)) return false;
        for (int i = k + 1; i < m; i++) {
            const double l = B[i][k] / B[k][k];
            for (int j = k; j < m; j++) B[i][j] -= l * B[k][j];
            g[i] -= l * g[k];
        }
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int j = i + 1; j < m; j++) g[i] -= B[i][j] * g[j];
        g[i] /= B[i][i];
    }
    return true;
}

// The last changes of step and sweep into the history.
static void remember(history *h, double *dF, double *dG, const double *f, const double *f_old, const double *g, const double *g_old, int n) {
    double *a = dF + (size_t)h->next * (size_t)n, *b = dG + (size_t)h->next * (size_t)n;
    for (int i = 0; i < n; i++) a[i] = f[i] - f_old[i], b[i] = g[i] - g_old[i];
    if (h->count < BACK) h->count++;
    for (int k = 0; k < h->count; k++) h->A[h->next][k] = h->A[k][h->next] = dot(a, dF + (size_t)k * (size_t)n, n);
    h->next = (h->next + 1) % BACK;
}

// (SOL-20)  f_k = d (sweep(x_k) - x_k),   x_k+1 = sweep(x_k) - sum_j gamma_j (sweep(x_j+1) - sweep(x_j)),
//           gamma minimises |f_k - sum_j gamma_j (f_j+1 - f_j)|.  A step that grows twofold starts afresh from the last sweep.
void carom_hybrid_accelerate(carom_hybrid *w, int most) {
    const int n = w->pb.n;
    double *dF = w->history, *dG = dF + (size_t)BACK * (size_t)n;
    double *x = w->x, *f = w->r, *f_old = w->rhs, *g_old = w->centre, *safe = w->T, *g = w->p; // T is 6 n and free here
    double last = INFINITY, mark = INFINITY;
    history h = {.count = 0};
    bool have = false;
    for (int i = 0; i < n; i++) x[i] = safe[i] = w->best[i];
    for (int it = 1; it <= most; it++) {
        double size = 0;
        for (int i = 0; i < n; i++) g[i] = x[i];
        carom_sweep(&w->pb, g, 1);
        w->iterations++;
        for (int i = 0; i < n; i++) f[i] = w->d[i] * (g[i] - x[i]), size += f[i] * f[i];
        if (it % CHECK == 0 || it == most) {
            carom_hybrid_look(w);
            if (w->error <= w->target) return;
            if (it % PATIENCE == 0) {
                if (w->error > 0.5 * mark) return;
                mark = w->error;
            }
        }
        if (!(size <= 4 * last) && h.count > 0) {
            h.count = h.next = 0;
            have = false;
            last = INFINITY;
            for (int i = 0; i < n; i++) x[i] = safe[i];
            continue;
        }
        last = size;
        if (have) remember(&h, dF, dG, f, f_old, g, g_old, n);
        have = true;
        for (int i = 0; i < n; i++) x[i] = safe[i] = g_old[i] = g[i], f_old[i] = f[i];
        double gamma[BACK];
        if (h.count == 0) continue;
        if (!weights(&h, dF, f, n, gamma)) {
            h.count = h.next = 0;
            have = false;
            continue;
        }
        for (int k = 0; k < h.count; k++) {
            const double *b = dG + (size_t)k * (size_t)n;
            for (int i = 0; i < n; i++) x[i] -= gamma[k] * b[i];
        }
    }
}

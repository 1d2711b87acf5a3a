// anderson.c: see anderson.h.  Two passes over the columns, each shared by threads; sums are sums of pieces of fixed
// size.
#include "linalg/dense.h"
#include "base/team.h"
#include "solver/anderson.h"
#include <carom/team.h>
#include <math.h>
#include <string.h>

static const double DAMPING = 1e-10; // of the least squares: directions of earlier steps are nearly parallel

enum { BACK = CAROM_ANDERSON_BACK, PIECE = 512 }; // numbers: a fixed size, so that sums do not depend on threads

void carom_allocate_anderson(carom_anderson *a, carom_arena *mem, int n, int back) {
    const size_t m = (size_t)n, k = (size_t)back;
    a->back = back;
    a->A = carom_allocate_bytes(mem, BACK * sizeof *a->A);
    a->sum = carom_allocate_bytes(mem, (m / PIECE + 1) * sizeof *a->sum);
    CAROM_ALLOCATE(mem, k * m, &a->dF, &a->dG);
}

static void forget(carom_anderson *a) {
    a->count = a->next = 0;
    a->have = false;
    a->last = INFINITY;
}

void carom_anderson_reset(carom_anderson *a, int n, struct carom_team *team) {
    a->n = n;
    a->team = team;
    forget(a);
}

typedef struct task {
    carom_anderson *a;
    double *x, gamma[BACK];
    const double *f, *g;
    int column; // the one that is new; -1: none is
} task;

static int pieces(const carom_anderson *a) { return (a->n + PIECE - 1) / PIECE; }

// The new column, and products of pieces: of all columns with f, and with the new one.
static void measure(void *user, int part, int parts) {
    const task *t = user;
    carom_anderson *a = t->a;
    const size_t n = (size_t)a->n;
    for (int p = pieces(a) * part / parts; p < pieces(a) * (part + 1) / parts; p++) {
        const int at = p * PIECE, m = a->n - at < PIECE ? a->n - at : PIECE;
        const double *f = t->f + at;
        double *dF = a->dF + (size_t)t->column * n + at, *dG = a->dG + (size_t)t->column * n + at;
        for (int i = 0; i < m; i++) dF[i] = f[i] - dF[i], dG[i] = t->g[at + i] - dG[i];
        for (int k = 0; k < a->count; k++) {
            const double *other = a->dF + (size_t)k * n + at;
            a->sum[p][0][k] = carom_dot_by_two(dF, other, m);
            a->sum[p][1][k] = carom_dot_by_two(other, f, m);
        }
    }
}

// x = g - sum_j gamma_j dG_j;  f and g are remembered
static void combine(void *user, int part, int parts) {
    const task *t = user;
    carom_anderson *a = t->a;
    const int from = pieces(a) * part / parts * PIECE, end = pieces(a) * (part + 1) / parts * PIECE,
              to = end < a->n ? end : a->n;
    if (from >= to) return;
    const size_t bytes = (size_t)(to - from) * sizeof *t->x, next = (size_t)a->next * (size_t)a->n + (size_t)from;
    memcpy(t->x + from, t->g + from, bytes);
    for (int k = 0; k < a->count; k++) {
        const double *dG = a->dG + (size_t)k * (size_t)a->n, gamma = t->gamma[k];
        for (int i = from; i < to; i++) t->x[i] -= gamma * dG[i];
    }
    memcpy(a->dF + next, t->f + from, bytes); // in place of the oldest change
    memcpy(a->dG + next, t->g + from, bytes);
}

// Least squares: gamma of  |f - dF gamma|^2 + DAMPING |dF|^2 |gamma|^2  minimal, by elimination.  False: nothing to go
// by.
static bool weights(const carom_anderson *a, double *gamma) {
    double B[BACK][BACK], trace = 0;
    const int m = a->count;
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < m; j++) B[i][j] = a->A[i][j];
        trace += B[i][i];
    }
    for (int i = 0; i < m; i++) B[i][i] += DAMPING * trace;
    return carom_dense_positive(B[0], m, BACK, gamma);
}

static void remember(carom_anderson *a, task *t) {
    if (a->count < a->back) a->count++;
    carom_team_run(a->team, measure, t);
    for (int k = 0; k < a->count; k++) {
        double product = 0;
        for (int p = 0; p < pieces(a); p++) product += a->sum[p][0][k], t->gamma[k] += a->sum[p][1][k];
        a->A[a->next][k] = a->A[k][a->next] = product;
    }
    a->next = (a->next + 1) % a->back;
}

// (SOL-20)  f_k = d (g(x_k) - x_k),  x_k+1 = g(x_k) - sum_j gamma_j (g(x_j+1) - g(x_j)),  gamma minimises |f_k - sum_j
//           gamma_j (f_j+1 - f_j)|
void carom_anderson_next(carom_anderson *a, double *x, const double *g, const double *f, double size, double growth) {
    task t = {.a = a, .x = x, .f = f, .g = g, .column = a->next};
    if (!(size <= growth * a->last) && a->count > 0) {
        memcpy(x, a->dG + (size_t)a->next * (size_t)a->n, (size_t)a->n * sizeof *x);
        forget(a);
        return;
    }
    a->last = size;
    if (a->have) remember(a, &t);
    a->have = true;
    if (a->count > 0 && !weights(a, t.gamma)) forget(a);
    carom_team_run(a->team, combine, &t);
}

// envelope.c: see envelope.h.
#include "linalg/envelope.h"
#include "linalg/dense.h"
#include <math.h>

carom_envelope carom_allocate_envelope(carom_arena *mem, int n, double *store) {
    const size_t m = (size_t)n;
    carom_envelope E = {.first = carom_allocate_ints(mem, m),
                        .at = carom_allocate_bytes(mem, (m + 1) * sizeof *E.at),
                        .D = carom_allocate(mem, m)};
    E.L = store;
    E.U = store + m * (m - (m > 0)) / 2;
    return E;
}

// G is read column by column.
static void find(carom_envelope *E, const double *G, int n) {
    int *first = E->first;
    for (int i = 0; i < n; ++i) first[i] = i;
    for (int j = 0; j < n; ++j) {
        const double *column = G + (size_t)j * (size_t)n;
        int top = 0;
        while (top < first[j] && column[top] == 0) ++top;
        first[j] = top;
        for (int i = j + 1; i < n; ++i)
            if (column[i] != 0 && first[i] > j) first[i] = j;
    }
}

double carom_envelope_factor(carom_envelope *E, const double *G, int n, int ld, const int *first, double least) {
    const size_t step = (size_t)ld;
    double smallest = HUGE_VAL;
    E->n = 0;
    if (!first) find(E, G, n);
    for (int i = 0; first && i < n; ++i) E->first[i] = first[i] < i ? first[i] : i;
    E->at[0] = 0;
    for (int i = 0; i < n; ++i) {
        const int from = E->first[i];
        double *restrict l = E->L + E->at[i], *restrict u = E->U + E->at[i], d = G[(size_t)i * (step + 1)];
        E->at[i + 1] = E->at[i] + (size_t)(i - from);
        // (ENV-1)  d_j u_ji = G_ji - sum_k l_jk d_k u_ki,  l_ij d_j = G_ij - sum_k l_ik d_k u_kj,  k from where both
        //          have started
        for (int j = from; j < i; ++j) {
            const int k = E->first[j] > from ? E->first[j] : from;
            const size_t at = E->at[j] + (size_t)(k - E->first[j]);
            u[j - from] = G[(size_t)j + (size_t)i * step] - carom_dot_by_two(E->L + at, u + (k - from), j - k);
            l[j - from] = G[(size_t)i + (size_t)j * step] - carom_dot_by_two(E->U + at, l + (k - from), j - k);
        }
        // so far u holds d u, and l holds l d
        for (int j = from; j < i; ++j) {
            const double x = l[j - from] * E->D[j];
            d -= x * u[j - from];
            l[j - from] = x;
            u[j - from] *= E->D[j];
        }
        const double pivot = fabs(d / G[(size_t)i * (step + 1)]);
        if (!(pivot >= least) || !(pivot < HUGE_VAL)) return 0;
        smallest = fmin(smallest, pivot);
        E->D[i] = 1 / d;
    }
    E->n = n;
    return smallest;
}

void carom_envelope_solve(const carom_envelope *E, double *restrict x) {
    for (int i = 0; i < E->n; ++i) x[i] -= carom_dot_by_two(E->L + E->at[i], x + E->first[i], i - E->first[i]);
    for (int i = 0; i < E->n; ++i) x[i] *= E->D[i];
    for (int i = E->n - 1; i >= 0; --i) {
        const double *restrict u = E->U + E->at[i], own = x[i];
        for (int k = E->first[i]; k < i; ++k) x[k] -= u[k - E->first[i]] * own;
    }
}

void carom_envelope_magnitude(const carom_envelope *E, double *restrict y, const double *restrict G, int ld,
                              const double *restrict x) {
    const size_t n = (size_t)E->n, step = (size_t)ld;
    for (size_t i = 0; i < n; ++i) {
        double own = 0;
        for (size_t k = (size_t)E->first[i]; k < i; ++k) {
            own += fabs(G[i + k * step] * x[k]);
            y[k] += fabs(G[k + i * step] * x[i]);
        }
        y[i] += own + fabs(G[i + i * step] * x[i]);
    }
}

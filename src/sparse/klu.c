// klu.c: sparse factorisation by KLU.
//
// Everything KLU asks the heap for, it gets when the state is made: a diagonally dominant stand-in of the same pattern
// is factorised there, which puts all pivots on the diagonal, and later matrices are factorised in the same places.
// Symmetric positive definite ones need nothing else.  Others are watched: when entries grow far more than in the last
// factorisation with pivoting, the pivots are chosen afresh, and only that asks the heap again.
#include "sparse/pivots.h"
#include <klu.h>
#include <math.h>
#include <stdlib.h>

enum { COLUMNS = 1 };                // KLU: COLAMD
static const double TINY = 1e-14;    // a pivot below that part of its column is zero
static const double GROWTH = 1e-3;   // growth factors worse than those of the last pivoting by so much want new pivots

typedef struct state {
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    const carom_pattern *pattern;
    bool symmetric;
    double growth; // 1/growth factor after the last pivoting
} state;

// KLU declares its inputs without const, and leaves them alone.
static int *starts(const state *s) { return (int *)s->pattern->start; }
static int *rows(const state *s) { return (int *)s->pattern->row; }

static void destroy(void *memory) {
    state *s = memory;
    klu_free_numeric(&s->numeric, &s->common);
    klu_free_symbolic(&s->symbolic, &s->common);
    free(s);
}

// The stand-in: diagonal entries larger than the sum of all others in their row or column.
static double *stand_in(const carom_pattern *P) {
    double *a = malloc((size_t)P->start[P->n] * sizeof *a);
    int *in_row = calloc((size_t)P->n, sizeof *in_row);
    if (a && in_row) {
        for (int e = 0; e < P->start[P->n]; ++e) in_row[P->row[e]] += 1;
        for (int j = 0; j < P->n; ++j) {
            const int in_column = P->start[j + 1] - P->start[j], most = in_row[j] > in_column ? in_row[j] : in_column;
            for (int e = P->start[j]; e < P->start[j + 1]; ++e) a[e] = P->row[e] == j ? 1 + most : -1;
        }
    }
    free(in_row);
    if (in_row) return a;
    free(a);
    return NULL;
}

static void *make(const carom_pattern *pattern, bool symmetric, bool pivots) {
    state *s = calloc(1, sizeof *s);
    double *a = stand_in(pattern);
    if (s && a) {
        klu_defaults(&s->common);
        s->common.btf = 0; // mechanical systems hang together
        s->common.halt_if_singular = 0; // the state stays whole
        if (symmetric) s->common.scale = -1;
        if (pivots) s->common.ordering = COLUMNS;
        s->pattern = pattern;
        s->symmetric = symmetric;
        s->symbolic = klu_analyze(pattern->n, starts(s), rows(s), &s->common);
        if (s->symbolic) s->numeric = klu_factor(starts(s), rows(s), a, s->symbolic, &s->common);
    }
    free(a);
    if (s && s->numeric) return s;
    if (s) destroy(s);
    return NULL;
}

static void *create(const carom_pattern *pattern, bool symmetric) { return make(pattern, symmetric, false); }
static void *create_for_pivots(const carom_pattern *pattern, bool symmetric) {
    return make(pattern, symmetric, !symmetric);
}

static carom_status singular(int *where, int row) {
    if (where) *where = row >= 0 ? row : 0;
    return CAROM_SINGULAR;
}

// Pivots, all on the diagonal, against what stood there.
static carom_status check_positive(const state *s, const double *a, int *where) {
    const double *pivot = s->numeric->Udiag;
    for (int k = 0; k < s->pattern->n; ++k) {
        const int j = s->symbolic->Q[k];
        if (!(pivot[k] > TINY * a[carom_pattern_find(s->pattern, j, j)])) return singular(where, j);
    }
    return CAROM_OK;
}

// Pivots against the largest entries of their columns, both scaled by rows.
static carom_status check_pivots(const state *s, const double *a, int *where) {
    const double *pivot = s->numeric->Udiag;
    const int *inverse = s->numeric->Pinv;
    for (int k = 0; k < s->pattern->n; ++k) {
        const int j = s->symbolic->Q[k];
        double most = 0;
        for (int e = s->pattern->start[j]; e < s->pattern->start[j + 1]; ++e)
            most = fmax(most, fabs(a[e]) / s->numeric->Rs[inverse[s->pattern->row[e]]]);
        if (!(fabs(pivot[k]) > TINY * most)) return singular(where, j);
    }
    return CAROM_OK;
}

static carom_status pivot_afresh(state *s, const double *a, int *where) {
    klu_free_numeric(&s->numeric, &s->common);
    s->numeric = klu_factor(starts(s), rows(s), (double *)a, s->symbolic, &s->common);
    if (!s->numeric) return CAROM_NO_MEMORY;
    if (s->common.status != KLU_OK) return singular(where, s->common.singular_col);
    klu_rgrowth(starts(s), rows(s), (double *)a, s->symbolic, s->numeric, &s->common);
    s->growth = s->common.rgrowth;
    return check_pivots(s, a, where);
}

static bool finite(const double *a, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += 0 * a[i];
    return sum == 0;
}

static carom_status factorise(void *memory, const double *a, int *where) {
    state *s = memory;
    if (!s->numeric) return CAROM_NO_MEMORY;
    if (!finite(a, s->pattern->start[s->pattern->n])) return singular(where, 0);
    const bool done = klu_refactor(starts(s), rows(s), (double *)a, s->symbolic, s->numeric, &s->common) &&
                      s->common.status == KLU_OK;
    if (s->symmetric) return done ? check_positive(s, a, where) : singular(where, s->common.singular_col);
    if (!done) return pivot_afresh(s, a, where);
    klu_rgrowth(starts(s), rows(s), (double *)a, s->symbolic, s->numeric, &s->common);
    if (s->growth == 0) s->growth = 1;
    if (s->common.rgrowth < GROWTH * s->growth) return pivot_afresh(s, a, where);
    return check_pivots(s, a, where);
}

static void solve(void *memory, double *x) {
    state *s = memory;
    klu_solve(s->symbolic, s->numeric, s->pattern->n, 1, x, &s->common);
}

const carom_direct *carom_direct_klu(void) {
    static const carom_direct klu = {"klu", create, factorise, solve, destroy};
    return &klu;
}

const carom_direct *carom_direct_pivots(void) {
    static const carom_direct klu = {"klu", create_for_pivots, factorise, solve, destroy};
    return &klu;
}

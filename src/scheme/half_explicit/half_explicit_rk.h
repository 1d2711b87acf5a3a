// half_explicit_rk.h: the tables, for the scheme and for the test of their order conditions.
#pragma once

typedef struct carom_rk_table {
    int order, stages;
    const double *a, *b; // rows 1 .. stages-1 of the strictly lower triangle; weights
} carom_rk_table;

/// a_{l,k} for k < l.
static inline double carom_rk_a(const carom_rk_table *T, int l, int k) { return T->a[l * (l - 1) / 2 + k]; }

/// The same for the weights, l = stages; and c_l = sum_{k<l} of them: where stage l stands.
static inline double carom_rk_entry(const carom_rk_table *T, int l, int k) {
    return l < T->stages ? carom_rk_a(T, l, k) : T->b[k];
}
static inline double carom_rk_place(const carom_rk_table *T, int l) {
    double c = 0;
    for (int k = 0; k < l; ++k) c += carom_rk_entry(T, l, k);
    return c;
}

/// Part of what moves in a step: the local error of lasting contact is far smaller, flight is faster.
#define CAROM_RK_DRIFT 0.01

/// The table of that order; NULL when there is none.
const carom_rk_table *carom_rk_find(int order);

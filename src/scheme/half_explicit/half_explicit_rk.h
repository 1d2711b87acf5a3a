// half_explicit_rk.h: the tables, for the scheme and for the test of their order conditions.
#pragma once

typedef struct carom_rk_table {
    int order, stages;
    const double *a, *b; // rows 1 .. stages-1 of the strictly lower triangle; weights
} carom_rk_table;

/// a_{l,k} for k < l.
static inline double carom_rk_a(const carom_rk_table *T, int l, int k) { return T->a[l * (l - 1) / 2 + k]; }

/// The table of that order; NULL when there is none.
const carom_rk_table *carom_rk_find(int order);

// rk.h: Butcher tables of explicit and implicit Runge-Kutta methods for ordinary differential equations.
#pragma once
#include <stdbool.h>

typedef enum carom_rk_family {
    CAROM_RK_EXPLICIT,
    CAROM_RK_RADAU,
    CAROM_RK_GAUSS,
    CAROM_RK_FEHLBERG,
    CAROM_RK_DORMAND
} carom_rk_family;

enum { CAROM_RK_STAGES = 8 }; // most stages of a table

typedef struct carom_butcher {
    carom_rk_family family;
    int order, stages;
    const double *a;   // implicit: stages x stages by rows; explicit: rows 1 .. stages-1 of the strictly lower triangle
    const double *b;   // weights
    const double *low; // weights of the embedded method of one order less; NULL: none
} carom_butcher;

static inline bool carom_butcher_explicit(const carom_butcher *T) {
    return T->family != CAROM_RK_RADAU && T->family != CAROM_RK_GAUSS;
}

static inline double carom_butcher_a(const carom_butcher *T, int i, int j) {
    if (!carom_butcher_explicit(T)) return T->a[i * T->stages + j];
    return j < i ? T->a[i * (i - 1) / 2 + j] : 0;
}

/// c_i, the row sum.
double carom_butcher_c(const carom_butcher *T, int i);

/// The table of the family of at least that order; of its highest order when there is none.
const carom_butcher *carom_butcher_find(carom_rk_family family, int order);
const carom_butcher *carom_butcher_at(int i); // NULL after the last

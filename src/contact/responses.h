// responses.h: products W'X W over all constraints, for systems whose directions are constant and whose X changes
// rarely.
//
// A column is computed when its direction acts for the first time and kept until what X is made of changes.  The
// Delassus operator keeps W'F^-1 W, the Newmark family the response of its step to unit impulses, ggl-alpha the four
// products of its Schur complement.
#pragma once
#include <carom/system.h>

typedef struct carom_responses {
    carom_local all; // all constraints; nb = 0: their directions are not there yet
    int n;           // directions
    bool *known;     // by direction: its columns are there
    double *G;       // n x n each, one after the other
} carom_responses;

carom_responses carom_allocate_responses(carom_arena *mem, const carom_system *sys, int products);

/// Nothing is known any more.
void carom_responses_forget(carom_responses *k);

/// Column d of a product is W'x.
void carom_responses_put(carom_responses *k, int product, int d, const double *x);

/// The direction that row i of block b of L's set is.
static inline int carom_responses_at(const carom_responses *k, const carom_local *L, int b, int i) {
    return k->all.at[L->id[b]] + i - L->at[b];
}

/// Column d of a product, by direction.
static inline const double *carom_responses_column(const carom_responses *k, int product, int d) {
    return k->G + ((size_t)product * (size_t)k->n + (size_t)d) * (size_t)k->n;
}

// small.h: products of small blocks, column-major, with vectors.  Where the number of rows is known, two of them at a
// time stay in one register.
#pragma once
#include <string.h>

enum { CAROM_BLOCK_ROWS = 6 }; // most rows of a block

#define CAROM_INLINE static inline __attribute__((always_inline))

typedef double carom_two __attribute__((vector_size(16)));
CAROM_INLINE carom_two carom_load_two(const double *x) { carom_two a; memcpy(&a, x, sizeof a); return a; }
CAROM_INLINE void carom_store_two(double *x, carom_two a) { memcpy(x, &a, sizeof a); }

// y -= B x for r rows that are known where this is written out, and m columns.
CAROM_INLINE void carom_subtract_known(double *restrict y, const double *restrict B, const double *restrict x,
                                       const int r, const int m) {
    carom_two rest[CAROM_BLOCK_ROWS / 2];
    double odd = r % 2 ? y[r - 1] : 0;
    for (int i = 0; i < r / 2; i++) rest[i] = carom_load_two(y + 2 * i);
    for (int k = 0; k < m; k++, B += r) {
        for (int i = 0; i < r / 2; i++) rest[i] -= carom_load_two(B + 2 * i) * x[k];
        if (r % 2) odd -= B[r - 1] * x[k];
    }
    for (int i = 0; i < r / 2; i++) carom_store_two(y + 2 * i, rest[i]);
    if (r % 2) y[r - 1] = odd;
}

CAROM_INLINE void carom_subtract_product(double *y, const double *B, const double *x, const int r, const int m) {
    switch (r) {
    case 1: carom_subtract_known(y, B, x, 1, m); return;
    case 2: carom_subtract_known(y, B, x, 2, m); return;
    case 3: carom_subtract_known(y, B, x, 3, m); return;
    case 4: carom_subtract_known(y, B, x, 4, m); return;
    case 5: carom_subtract_known(y, B, x, 5, m); return;
    default: carom_subtract_known(y, B, x, 6, m); return;
    }
}

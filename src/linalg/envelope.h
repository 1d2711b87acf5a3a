// envelope.h: elimination of a matrix within its envelope.
//
//     G = L D U,   row i of L and column i of U start where row and column i of G do                          (ENV-1)
//
// A joint of a mechanism meets its neighbours only, so most of G = W'M^-1 W is zero, and stays so.  No pivoting: the
// caller looks at the smallest pivot.
#pragma once
#include <carom/arena.h>
#include <stddef.h>

typedef struct carom_envelope {
    int *first;   // n: where row and column i start
    size_t *at;   // n + 1: where they are stored
    double *L, *U; // n (n - 1)/2 each at most; unit diagonals
    double *D;    // n: 1/d
    int n;        // of the factor that stands; 0: none
} carom_envelope;

/// For n rows at most; store: n (n - 1) numbers.
carom_envelope carom_allocate_envelope(carom_arena *mem, int n, double *store);

/// Factor of G (n x n, by columns, ld from one to the next, and less than n where `first` is given and nothing beyond
/// it is there).  first: row and column i are zero before first[i]; NULL: it
/// is found.  The smallest |d_i/G_ii|; 0, and no factor, where it is below `least`.
double carom_envelope_factor(carom_envelope *E, const double *G, int n, int ld, const int *first, double least);

/// x = G^-1 x.
void carom_envelope_solve(const carom_envelope *E, double *x);

/// y += |G| |x|, by rows.
void carom_envelope_magnitude(const carom_envelope *E, double *y, const double *G, int ld, const double *x);

// banded.h: L D L' of symmetric positive definite matrices of small bandwidth, from both ends at once.
//
// Solving with a narrow band waits for its own results: each unknown needs the one before.  Two eliminations that start
// at the two ends and meet in the middle are two such chains, and take half the time.
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { CAROM_BAND_MOST = 12 }; // wider bands have work enough in every row

/// Is a band of this size for the functions below?
bool carom_band_suits(int n, int band);
size_t carom_band_size(int n, int band); // doubles of the factor

/// A is in banded storage (matrix.h), its lower triangle is read.  Returns n, or the row whose pivot is not positive.
int carom_band_ldl(double *L, const double *A, int n, int band);
/// x = A^-1 x.
void carom_band_solve(const double *L, double *x, int n, int band);
/// v += h A^-1 x; x is spoilt.
void carom_band_advance(const double *L, double *v, double h, double *x, int n, int band);

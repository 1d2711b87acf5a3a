// two.h: two right-hand sides at once.
#pragma once
#include <carom/matrix.h>

/// x = A^-1 x and y = A^-1 y, with the bits of two calls of carom_factor_solve().
void carom_factor_solve_two(const carom_factor *F, double *x, double *y);

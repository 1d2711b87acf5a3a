// border.h (private): singular matrices: their null vectors.
#pragma once
#include <stdbool.h>

/// x, of length 1, with |A x| least (transposed: |A'x|); A is n x n, column-major, and stays.  False: not enough
/// memory.
bool carom_null_vector(const double *A, int n, bool transposed, double *x);

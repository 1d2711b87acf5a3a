// sum.h: a sum of matrices in one pass.
#pragma once
#include <carom/matrix.h>

/// A = x B + y C, with the bits of zero, add, add; storage of B and C within A's, and A neither of them.
void carom_matrix_sum(carom_matrix A, double x, carom_matrix B, double y, carom_matrix C);

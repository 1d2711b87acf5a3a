// sum.h: a sum of matrices in one pass, and a matrix as a block of a dense one.
#pragma once
#include <carom/matrix.h>

/// A = x B + y C, with the bits of zero, add, add; storage of B and C within A's, and A neither of them.
void carom_matrix_sum(carom_matrix A, double x, carom_matrix B, double y, carom_matrix C);
/// S += x A, column by column; S: dense, column-major, ld entries from one column to the next.
void carom_matrix_add_block(double *S, int ld, double x, carom_matrix A);

// border.c: null vectors of matrices that are singular, or nearly so.
#include "dynamics/border.h"
#include "linalg/dense.h"
#include <carom/matrix.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double CUT = 1e-3 * DBL_EPSILON; // of a column: a pivot that is none
enum { ROUNDS = 12 }; // chosen: a gap of 10 between singular values leaves 1e-24 of the other vectors

// P A = L U (transposed: of A'); B: n x n.  A pivot that has cancelled is replaced by one of the size of rounding.
static void factorise(const double *A, int n, bool transposed, double *B, int *pivot) {
    double most = 0;
    for (int i = 0; i < n * n; ++i) most = fmax(most, fabs(A[i]));
    if (most == 0) most = 1;
    for (int round = 0; round < 8; ++round) {
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) B[i + j * n] = transposed ? A[j + i * n] : A[i + j * n];
        for (int i = 0; i < n && round > 0; ++i)
            // each a little different, so that no two pivots cancel alike
            B[i + i * n] += pow(4, round) * DBL_EPSILON * most * (1 + 0.37 * cos(1.7 * i + round));
        if (carom_dense_lu(B, n, n, CUT, pivot)) return;
    }
}

// (NUL-1)  x <- A^-1 A'^-1 x, normalised: the vector of the least singular value
bool carom_null_vector(const double *A, int n, bool transposed, double *x) {
    double *B = calloc(2 * (size_t)n * (size_t)n + 1, sizeof *B);
    int *pivot = calloc(2 * (size_t)n + 1, sizeof *pivot);
    const bool good = B && pivot;
    for (int i = 0; i < n && good; ++i) x[i] = 1 + 0.37 * cos(1.7 * i); // any vector
    for (int side = 0; side < 2 && good; ++side) // first the one that is solved first
        factorise(A, n, transposed == (side == 1), B + (size_t)side * (size_t)n * (size_t)n, pivot + side * n);
    for (int round = 0; round < 2 * ROUNDS && good; ++round) {
        const int side = round % 2;
        carom_dense_lu_solve(B + (size_t)side * (size_t)n * (size_t)n, n, n, pivot + side * n, x);
        const double length = carom_length(x, n);
        for (int i = 0; i < n && length > 0; ++i) x[i] /= length;
    }
    free(B), free(pivot);
    return good;
}

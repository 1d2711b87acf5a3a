// border.c: null vectors of matrices that are singular, or nearly so.
#include "dynamics/border.h"
#include "linalg/dense.h"
#include <carom/matrix.h>
#include <math.h>
#include <stdlib.h>

static const double SHIFT = 1e-15; // of A'A: keeps it definite
enum { ROUNDS = 12 };

// (NUL-1)  x <- (A'A + shift)^-1 x, normalised: the vector of the least singular value
bool carom_null_vector(const double *A, int n, bool transposed, double *x) {
    double *B = calloc((size_t)n * (size_t)n + (size_t)n, sizeof *B), *diagonal = B + (size_t)n * (size_t)n, trace = 0;
    if (!B) return false;
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) {
            double sum = 0;
            for (int k = 0; k < n; ++k) sum += transposed ? A[i + k * n] * A[j + k * n] : A[k + i * n] * A[k + j * n];
            B[i + j * n] = sum;
            if (i == j) trace += sum;
        }
    for (int i = 0; i < n; ++i)
        B[i + i * n] += SHIFT * trace + (trace == 0), x[i] = 1 + 0.37 * cos(1.7 * i); // any vector
    carom_dense_ldl(B, n, n, 0, diagonal);
    for (int round = 0; round < ROUNDS; ++round) {
        carom_dense_ldl_solve(B, n, n, x);
        const double length = carom_length(x, n);
        for (int i = 0; i < n && length > 0; ++i) x[i] /= length;
    }
    free(B);
    return true;
}

// dense.h: small dense systems for the contact solvers.  Column-major, leading dimension ld, result in place.
//
// Rank decisions are relative: a pivot counts as zero when elimination has cancelled it to `cut` times its size
// before.
#pragma once
#include <math.h>
#include <stdbool.h>

/// [a b; c d] (x, y) = (r, s) by elimination with row pivoting; Cramer's rule would leave a residual of
/// eps |x| cond.  False when the second pivot has cancelled to `cut`.
static inline bool carom_dense_two(double a, double b, double c, double d, double r, double s, double cut, double *x,
                                   double *y) {
    if (fabs(c) > fabs(a)) {
        double t = a;
        a = c, c = t;
        t = b, b = d, d = t;
        t = r, r = s, s = t;
    }
    const double l = c / a, lb = l * b, pivot = d - lb;
    if (!(fabs(pivot) > cut * (fabs(d) > fabs(lb) ? fabs(d) : fabs(lb)))) return false;
    const double z = (s - l * r) / pivot;
    *x = (r - b * z) / a;
    *y = z;
    return true;
}

/// x.y summed in order; and as two sums side by side, of even and of odd entries.  carom_dot() has another order.
static inline double carom_dot_in_order(const double *restrict x, const double *restrict y, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}
static inline double carom_dot_by_two(const double *restrict x, const double *restrict y, int n) {
    double even = 0, odd = 0;
    int k = 0;
    for (; k + 1 < n; k += 2) even += x[k] * y[k], odd += x[k + 1] * y[k + 1];
    return k < n ? even + odd + x[k] * y[k] : even + odd;
}

/// x = A^-1 x for a small positive definite A, symmetric, so that ld is that of rows or of columns; by elimination.  A
/// is spoilt.  False: it is not.
bool carom_dense_positive(double *A, int n, int ld, double *x);

/// A = L D L' without pivoting, for symmetric positive semi-definite A (lower triangle is read); null
/// pivots are skipped.  Returns their number.  diagonal: n doubles, that of A before.  ~n^3/6 multiply-adds.
int carom_dense_ldl(double *A, int n, int ld, double cut, double *diagonal);
/// x = A^-1 x; components of null pivots are 0.
void carom_dense_ldl_solve(const double *A, int n, int ld, double *x);
/// The same for two right-hand sides (y NULL: one), the panels of columns of L up to their ends, as
/// carom_dense_ldl_ends() finds them.  Zeros may have the other sign.
void carom_dense_ldl_solve_two(const double *A, int n, int ld, const double *end, double *x, double *y);
/// Of each panel of columns of L one past the last row that is not zero; end: n doubles at most.
void carom_dense_ldl_ends(const double *A, int n, int ld, double *end);

/// P A = L U, row pivoting.  False: A is singular to working precision, A is spoilt.  ~n^3/3 multiply-adds.
bool carom_dense_lu(double *A, int n, int ld, double cut, int *pivot);
/// The sign of det A, and log |det A|; 0: A is singular.  A is spoilt; pivot: n.
int carom_dense_determinant(double *A, int n, int ld, int *pivot, double *log_size);
void carom_dense_lu_solve(const double *A, int n, int ld, const int *pivot, double *x);

/// Full pivoting on the equilibrated matrix, for singular systems.  Returns the rank.  row, col: n;
/// scale: 2 n.
int carom_dense_full(double *A, int n, int ld, double cut, int *row, int *col, double *scale);
/// A basic solution of A x = b: free components are 0.  b is scratch.  Exact when b is in the range.
void carom_dense_full_solve(const double *A, int n, int ld, int rank, const int *row, const int *col,
                            const double *scale, double *b, double *x);

/// x = A^+ b, the shortest of all that minimise |A x - b|: QR with column pivoting, then the free columns
/// are rotated away.  A and b are spoilt.  Returns the rank.  col: n; work: 3 n.
int carom_dense_shortest(double *A, int n, int ld, double cut, int *col, double *work, double *b, double *x);

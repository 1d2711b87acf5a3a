// dense.c: factorisations of small dense systems.
//
// LDL' and LU are right-looking with panels of four columns: the trailing update reads and writes each entry
// once per four pivots, four columns at a time, and its inner loop runs down them, so it vectorises without
// reassociation.
#include "linalg/balance.h"
#include "linalg/dense.h"
#include "linalg/minus.h"
#include <math.h>
#include <stddef.h>

enum { PANEL = 4 }; // columns subtracted at once: one pass over y for all

#define COLUMN(j) (A + (size_t)(j) * (size_t)ld)

static void subtract(double *restrict y, const double *restrict x, double a, int n) {
    for (int i = 0; i < n; i++) y[i] -= a * x[i];
}

// y -= X w over four columns of X.
static void subtract4(double *restrict y, const double *restrict x, int ld, const double w[4], int n) {
    const double *restrict x1 = x + ld, *restrict x2 = x1 + ld, *restrict x3 = x2 + ld;
    const double w0 = w[0], w1 = w[1], w2 = w[2], w3 = w[3];
    for (int i = 0; i < n; i++) y[i] -= (w0 * x[i] + w1 * x1[i]) + (w2 * x2[i] + w3 * x3[i]);
}

// y_c -= X w_c for four columns y_c = y + c ld: what is read of X serves four times.
static void subtract44(double *restrict y, const double *restrict x, int ld, const double w[4][4], int n) {
    const double *restrict x1 = x + ld, *restrict x2 = x1 + ld, *restrict x3 = x2 + ld;
    double *restrict y1 = y + ld, *restrict y2 = y1 + ld, *restrict y3 = y2 + ld;
    const double w00 = w[0][0], w01 = w[0][1], w02 = w[0][2], w03 = w[0][3], w10 = w[1][0], w11 = w[1][1],
                 w12 = w[1][2], w13 = w[1][3], w20 = w[2][0], w21 = w[2][1], w22 = w[2][2], w23 = w[2][3],
                 w30 = w[3][0], w31 = w[3][1], w32 = w[3][2], w33 = w[3][3];
    for (int i = 0; i < n; i++) {
        const double a = x[i], b = x1[i], c = x2[i], d = x3[i];
        y[i] = carom_minus(carom_minus(carom_minus(carom_minus(y[i], w00, a), w01, b), w02, c), w03, d);
        y1[i] = carom_minus(carom_minus(carom_minus(carom_minus(y1[i], w10, a), w11, b), w12, c), w13, d);
        y2[i] = carom_minus(carom_minus(carom_minus(carom_minus(y2[i], w20, a), w21, b), w22, c), w23, d);
        y3[i] = carom_minus(carom_minus(carom_minus(carom_minus(y3[i], w30, a), w31, b), w32, c), w33, d);
    }
}

// The rows of a panel of unit L in column y, and the multiples of the panel's columns that the rows below lose.
static void eliminate(const double *A, int ld, int first, double *y, double w[PANEL]) {
    for (int t = 0; t < PANEL; t++) {
        w[t] = y[first + t];
        for (int i = t + 1; i < PANEL; i++) y[first + i] -= w[t] * COLUMN(first + t)[first + i];
    }
}

bool carom_dense_positive(double *A, int n, int ld, double *x) {
    for (int k = 0; k < n; ++k) {
        const double *a = A + k * ld; // row k
        if (!(a[k] > 0)) return false;
        for (int i = k + 1; i < n; ++i) {
            const double l = A[i * ld + k] / a[k];
            for (int j = k; j < n; ++j) A[i * ld + j] -= l * a[j];
            x[i] -= l * x[k];
        }
    }
    for (int i = n - 1; i >= 0; --i) {
        for (int j = i + 1; j < n; ++j) x[i] -= A[i * ld + j] * x[j];
        x[i] /= A[i * ld + i];
    }
    return true;
}

// -- L D L' --------------------------------------------------------------------------------------------

int carom_dense_ldl(double *A, int n, int ld, double cut, double *diagonal) {
    int null = 0;
    for (int k = 0; k < n; k++) diagonal[k] = COLUMN(k)[k];
    for (int first = 0; first < n; first += PANEL) {
        const int end = first + PANEL < n ? first + PANEL : n;
        double D[PANEL] = {0};
        for (int k = first; k < end; k++) {
            double *a = COLUMN(k);
            for (int t = first; t < k; t++) subtract(a + k, COLUMN(t) + k, COLUMN(t)[k] * D[t - first], n - k);
            const double pivot = a[k];
            if (pivot > cut * diagonal[k]) {
                D[k - first] = pivot;
                a[k] = 1 / pivot;
                for (int i = k + 1; i < n; i++) a[i] *= a[k];
            } else {
                null++;
                for (int i = k; i < n; i++) a[i] = 0;
            }
        }
        int j = end; // end - first is PANEL when this runs at all
        for (; j + 4 <= n; j += 4) {
            double w[4][PANEL];
            for (int c = 0; c < 4; c++)
                for (int t = 0; t < PANEL; t++) w[c][t] = COLUMN(first + t)[j + c] * D[t];
            // and a few entries above the diagonal, which nobody reads
            subtract44(COLUMN(j) + j, COLUMN(first) + j, ld, w, n - j);
        }
        for (; j < n; j++) {
            double w[PANEL];
            for (int t = 0; t < PANEL; t++) w[t] = COLUMN(first + t)[j] * D[t];
            subtract4(COLUMN(j) + j, COLUMN(first) + j, ld, w, n - j);
        }
    }
    return null;
}

void carom_dense_ldl_ends(const double *A, int n, int ld, double *end) {
    for (int k = 0; k + PANEL <= n; k += PANEL) {
        const double *a = COLUMN(k), *b = a + ld, *c = b + ld, *d = c + ld;
        int i = n;
        while (i > k + PANEL && a[i - 1] == 0 && b[i - 1] == 0 && c[i - 1] == 0 && d[i - 1] == 0) --i;
        *end++ = i + (i < n && (i - k) % 2); // an even number of rows below the panel, or all: of two sums each row
                                             // keeps its own
    }
}

// Rows k .. of x lose what a panel of unit L gives them, down to row `end`: four columns at a time, so that x is read
// and written once for them.
static inline void forward(const double *A, int ld, int k, int end, double *x) {
    double w[PANEL];
    eliminate(A, ld, k, x, w);
    subtract4(x + k + PANEL, COLUMN(k) + k + PANEL, ld, w, end - k - PANEL);
}

// x_k = x_k/D - L_k'x for the columns of a panel.
static inline void backward(const double *A, int ld, int k, int end, double *x) {
    const double *a = COLUMN(k), *b = a + ld, *c = b + ld, *d = c + ld;
    double s[PANEL] = {0}, u[PANEL] = {0}; // two sums each, so that additions need not wait
    int i = k + PANEL;
    for (; i + 1 < end; i += 2) {
        s[0] += a[i] * x[i], u[0] += a[i + 1] * x[i + 1];
        s[1] += b[i] * x[i], u[1] += b[i + 1] * x[i + 1];
        s[2] += c[i] * x[i], u[2] += c[i + 1] * x[i + 1];
        s[3] += d[i] * x[i], u[3] += d[i + 1] * x[i + 1];
    }
    if (i < end) s[0] += a[i] * x[i], s[1] += b[i] * x[i], s[2] += c[i] * x[i], s[3] += d[i] * x[i];
    for (int t = PANEL - 1; t >= 0; t--) {
        double sum = s[t] + u[t];
        for (int j = t + 1; j < PANEL; j++) sum += COLUMN(k + t)[k + j] * x[k + j];
        x[k + t] = COLUMN(k + t)[k + t] != 0 ? x[k + t] * COLUMN(k + t)[k + t] - sum : 0;
    }
}

// The columns behind the last panel, both ways.
static void solve_rest(const double *A, int n, int ld, int rest, double *x) {
    for (int k = rest; k < n; k++) subtract(x + k + 1, COLUMN(k) + k + 1, x[k], n - k - 1);
    for (int k = n - 1; k >= rest; k--) {
        double s = 0;
        for (int i = k + 1; i < n; i++) s += COLUMN(k)[i] * x[i];
        x[k] = COLUMN(k)[k] != 0 ? x[k] * COLUMN(k)[k] - s : 0;
    }
}

void carom_dense_ldl_solve(const double *A, int n, int ld, double *x) {
    const int rest = n - n % PANEL;
    for (int k = 0; k < rest; k += PANEL) forward(A, ld, k, n, x);
    solve_rest(A, n, ld, rest, x);
    for (int k = rest - PANEL; k >= 0; k -= PANEL) backward(A, ld, k, n, x);
}

void carom_dense_ldl_solve_two(const double *A, int n, int ld, const double *end, double *x, double *y) {
    const int rest = n - n % PANEL;
    for (int k = 0; k < rest; k += PANEL) { // what one side waits for, the other has time for
        forward(A, ld, k, (int)end[k / PANEL], x);
        if (y) forward(A, ld, k, (int)end[k / PANEL], y);
    }
    solve_rest(A, n, ld, rest, x);
    if (y) solve_rest(A, n, ld, rest, y);
    for (int k = rest - PANEL; k >= 0; k -= PANEL) {
        backward(A, ld, k, (int)end[k / PANEL], x);
        if (y) backward(A, ld, k, (int)end[k / PANEL], y);
    }
}

// -- L U -----------------------------------------------------------------------------------------------

static void swap_rows(double *A, int n, int ld, int i, int k) {
    if (i == k) return;
    for (int j = 0; j < n; j++) {
        double *a = COLUMN(j);
        const double t = a[i];
        a[i] = a[k];
        a[k] = t;
    }
}

static int largest_entry(const double *a, int from, int n, double *size) {
    int where = from;
    *size = from < n ? fabs(a[from]) : 0;
    for (int i = from + 1; i < n; i++)
        if (fabs(a[i]) > *size) {
            *size = fabs(a[i]);
            where = i;
        }
    return where;
}

bool carom_dense_lu(double *A, int n, int ld, double cut, int *pivot) {
    for (int first = 0; first < n; first += PANEL) {
        const int end = first + PANEL < n ? first + PANEL : n;
        for (int k = first; k < end; k++) {
            double *a = COLUMN(k), before = 0, size;
            // Left-looking inside the panel; the columns before it were already applied.
            for (int i = 0; i < n; i++) before = fabs(a[i]) > before ? fabs(a[i]) : before;
            for (int t = first; t < k; t++) subtract(a + t + 1, COLUMN(t) + t + 1, a[t], n - t - 1);
            pivot[k] = largest_entry(a, k, n, &size);
            if (!(size > cut * before)) return false;
            swap_rows(A, n, ld, k, pivot[k]);
            const double inverse = 1 / a[k];
            for (int i = k + 1; i < n; i++) a[i] *= inverse;
        }
        int j = end;
        for (; j + 4 <= n; j += 4) {
            double w[4][PANEL];
            for (int c = 0; c < 4; c++) eliminate(A, ld, first, COLUMN(j + c), w[c]);
            subtract44(COLUMN(j) + end, COLUMN(first) + end, ld, w, n - end);
        }
        for (; j < n; j++) {
            double w[PANEL];
            eliminate(A, ld, first, COLUMN(j), w);
            subtract4(COLUMN(j) + end, COLUMN(first) + end, ld, w, n - end);
        }
    }
    return true;
}

int carom_dense_determinant(double *A, int n, int ld, int *pivot, double *log_size) {
    *log_size = -HUGE_VAL;
    if (!carom_dense_lu(A, n, ld, 0, pivot)) return 0;
    int sign = 1;
    *log_size = 0;
    for (int k = 0; k < n; k++) {
        const double x = COLUMN(k)[k];
        if ((pivot[k] != k) != (x < 0)) sign = -sign;
        *log_size += log(fabs(x));
    }
    return sign;
}

void carom_dense_lu_solve(const double *A, int n, int ld, const int *pivot, double *x) {
    for (int k = 0; k < n; k++) {
        const double t = x[pivot[k]];
        x[pivot[k]] = x[k];
        x[k] = t;
    }
    int k = 0;
    for (; k + PANEL <= n; k += PANEL) {
        double w[PANEL];
        eliminate(A, ld, k, x, w);
        subtract4(x + k + PANEL, COLUMN(k) + k + PANEL, ld, w, n - k - PANEL);
    }
    for (; k < n; k++) subtract(x + k + 1, COLUMN(k) + k + 1, x[k], n - k - 1);
    for (k = n - 1; k >= 0 && (k + 1) % PANEL != 0; k--) {
        x[k] /= COLUMN(k)[k];
        subtract(x, COLUMN(k), x[k], k);
    }
    for (k -= PANEL - 1; k >= 0; k -= PANEL) {
        for (int t = PANEL - 1; t >= 0; t--) {
            x[k + t] /= COLUMN(k + t)[k + t];
            for (int i = 0; i < t; i++) x[k + i] -= x[k + t] * COLUMN(k + t)[k + i];
        }
        subtract4(x, COLUMN(k), ld, x + k, k);
    }
}

// -- full pivoting ---------------------------------------------------------------------------------------

// scale[i] A_ij scale[n + j] has a largest entry of 1 in every row and about 1 in every column.  First rows and columns
// are divided by the root of their diagonal entry, to a power of two: what is left does not depend on their units.
static void equilibrate(double *A, int n, int ld, double *scale) {
    double *d = scale + n;
    for (int i = 0; i < n; i++) d[i] = carom_inverse_root(COLUMN(i)[i], 1);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) COLUMN(j)[i] *= d[i] * d[j];
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int j = 0; j < n; j++) s = fmax(s, fabs(COLUMN(j)[i]));
        scale[i] = s > 0 ? 1 / s : 1;
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) COLUMN(j)[i] *= scale[i];
    for (int i = 0; i < n; i++) scale[i] *= d[i];
    for (int j = 0; j < n; j++) {
        double *a = COLUMN(j), s = 0;
        for (int i = 0; i < n; i++) s = fmax(s, fabs(a[i]));
        for (int i = 0; i < n && s > 0; i++) a[i] *= 1 / s;
        d[j] = s > 0 ? d[j] / s : d[j];
    }
}

int carom_dense_full(double *A, int n, int ld, double cut, int *row, int *col, double *scale) {
    equilibrate(A, n, ld, scale);
    for (int i = 0; i < n; i++) row[i] = col[i] = i;
    for (int k = 0; k < n; k++) {
        double best = 0, size;
        int r = k, c = k;
        for (int j = k; j < n; j++) {
            const int i = largest_entry(COLUMN(j), k, n, &size);
            if (size > best) {
                best = size;
                r = i;
                c = j;
            }
        }
        if (!(best > cut)) return k;
        swap_rows(A, n, ld, k, r);
        double *a = COLUMN(k), *b = COLUMN(c);
        for (int i = 0; c != k && i < n; i++) {
            const double t = a[i];
            a[i] = b[i];
            b[i] = t;
        }
        int t = row[k];
        row[k] = row[r];
        row[r] = t;
        t = col[k];
        col[k] = col[c];
        col[c] = t;
        for (int i = k + 1; i < n; i++) a[i] /= a[k];
        for (int j = k + 1; j < n; j++) subtract(COLUMN(j) + k + 1, a + k + 1, COLUMN(j)[k], n - k - 1);
    }
    return n;
}

void carom_dense_full_solve(const double *A, int n, int ld, int rank, const int *row, const int *col,
                            const double *scale, double *b, double *x) {
    for (int i = 0; i < n; i++) x[i] = b[row[i]] * scale[row[i]];
    for (int k = 0; k < rank; k++) subtract(x + k + 1, COLUMN(k) + k + 1, x[k], n - k - 1);
    for (int k = rank - 1; k >= 0; k--) {
        x[k] /= COLUMN(k)[k];
        subtract(x, COLUMN(k), x[k], k);
    }
    for (int i = 0; i < n; i++) b[i] = i < rank ? x[i] : 0;
    for (int i = 0; i < n; i++) x[col[i]] = b[i] * scale[n + col[i]];
}

// -- shortest least-squares solution -----------------------------------------------------------------------

static double norm(const double *x, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += x[i] * x[i];
    return sqrt(s);
}

// Householder: a[0..n) becomes (beta, v_1, .., v_n-1) with (I - tau v v') a = beta e_0, v_0 = 1.  Returns tau.
static double reflect(double *a, int n) {
    const double alpha = a[0], tail = norm(a + 1, n - 1);
    if (tail == 0) return 0;
    const double beta = -copysign(hypot(alpha, tail), alpha);
    for (int i = 1; i < n; i++) a[i] /= alpha - beta;
    a[0] = beta;
    return (beta - alpha) / beta;
}

static void apply(const double *v, double tau, double *y, int n) {
    double s = y[0];
    for (int i = 1; i < n; i++) s += v[i] * y[i];
    s *= tau;
    y[0] -= s;
    for (int i = 1; i < n; i++) y[i] -= s * v[i];
}

// A P = Q R, b = Q'b; stops at the first row of R that is nothing against R_00.
static int triangularise(double *A, int n, int ld, double cut, int *col, double *b) {
    double first = 0;
    for (int j = 0; j < n; j++) col[j] = j;
    for (int k = 0; k < n; k++) {
        int c = k;
        double best = -1;
        for (int j = k; j < n; j++) { // norms afresh: this is the slow and careful way
            const double s = norm(COLUMN(j) + k, n - k);
            if (s > best) {
                best = s;
                c = j;
            }
        }
        if (k == 0) first = best;
        if (!(best > cut * first)) return k;
        for (int i = 0; c != k && i < n; i++) {
            const double t = COLUMN(k)[i];
            COLUMN(k)[i] = COLUMN(c)[i];
            COLUMN(c)[i] = t;
        }
        const int t = col[k];
        col[k] = col[c];
        col[c] = t;
        double *v = COLUMN(k) + k;
        const double tau = reflect(v, n - k);
        for (int j = k + 1; j < n; j++) apply(v, tau, COLUMN(j) + k, n - k);
        apply(v, tau, b + k, n - k);
    }
    return n;
}

int carom_dense_shortest(double *A, int n, int ld, double cut, int *col, double *work, double *b, double *x) {
    const int r = triangularise(A, n, ld, cut, col, b), free = n - r;
    double *tau = work, *v = work + n, *y = work + 2 * n;
    // [R S] Z = [T 0]: row k = r-1 .. 0, its entries (k, free columns) are rotated into (k, k).
    for (int k = r - 1; k >= 0 && free > 0; k--) {
        v[0] = COLUMN(k)[k];
        for (int j = 0; j < free; j++) v[1 + j] = COLUMN(r + j)[k];
        tau[k] = reflect(v, free + 1);
        COLUMN(k)[k] = v[0];
        for (int j = 0; j < free; j++) COLUMN(r + j)[k] = v[1 + j]; // kept for Z below
        for (int i = 0; i < k; i++) {
            double s = COLUMN(k)[i];
            for (int j = 0; j < free; j++) s += v[1 + j] * COLUMN(r + j)[i];
            s *= tau[k];
            COLUMN(k)[i] -= s;
            for (int j = 0; j < free; j++) COLUMN(r + j)[i] -= s * v[1 + j];
        }
    }
    for (int k = 0; k < n; k++) y[k] = k < r ? b[k] : 0;
    for (int k = r - 1; k >= 0; k--) {
        y[k] /= COLUMN(k)[k];
        subtract(y, COLUMN(k), y[k], k);
    }
    for (int k = 0; k < r && free > 0; k++) { // x = P Z y
        double s = y[k];
        for (int j = 0; j < free; j++) s += COLUMN(r + j)[k] * y[r + j];
        s *= tau[k];
        y[k] -= s;
        for (int j = 0; j < free; j++) y[r + j] -= s * COLUMN(r + j)[k];
    }
    for (int k = 0; k < n; k++) x[col[k]] = y[k];
    return r;
}

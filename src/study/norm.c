// norm.c: norms of differences, gathered row by row.
//
// The largest singular value of the matrix of all rows is the root of the largest eigenvalue of its Gram matrix, which
// is n x n however many rows there are.  Squaring costs accuracy only in the small singular values.
#include "base/tolerance.h"
#include "base/missing.h"
#include "base/number.h"
#include "study/norm.h"
#include <carom/study.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// NULL outside, and for CAROM_NORM_LP, whose name has its exponent in it.
static const char *norm_word(int kind) {
    static const char *const word[] = {"l1", "l2", "linf", "matrix", "hausdorff"};
    return kind >= 0 && kind < (int)(sizeof word / sizeof *word) ? word[kind] : NULL;
}

carom_status carom_compare_norm(carom_compare_def *def, const char *name, carom_error *err) {
    if (!name) return CAROM_MISSING(err);
    static const char relative[] = "relative-";
    const bool part = strncmp(name, relative, sizeof relative - 1) == 0;
    const char *word = part ? name + sizeof relative - 1 : name;
    int kind = 0;
    while (norm_word(kind) && strcmp(norm_word(kind), word) != 0) ++kind;
    double p = 1;
    if (!norm_word(kind)) {
        char *end = NULL;
        p = *word == 'l' ? carom_number(word + 1, &end) : NAN;
        if (!end || end == word + 1 || *end || !isfinite(p))
            return carom_fail(
                err, CAROM_BAD_INPUT,
                "'%.60s' is not one of l1, l2, l3 and other exponents, linf, matrix, hausdorff, relative-l1 and so on",
                name);
        if (p < 1)
            return carom_fail(err, CAROM_BAD_INPUT, "'%.60s' is not a norm: the exponent must be 1 or more", name);
        kind = CAROM_NORM_LP;
    }
    if (part && kind == CAROM_NORM_HAUSDORFF)
        return carom_fail(err, CAROM_BAD_INPUT, "hausdorff is a distance of graphs and has no relative form");
    def->norm = (carom_norm_kind)kind, def->p = p, def->relative = part;
    return CAROM_OK;
}

carom_status carom_norm_begin(carom_norm *a, carom_norm_kind kind, double p, int n, carom_error *err) {
    if (!a) return CAROM_MISSING(err);
    *a = (carom_norm){.kind = kind, .p = p, .n = n};
    if (kind == CAROM_NORM_HAUSDORFF)
        return carom_fail(err, CAROM_BAD_INPUT, "the norm %s is not made of rows", norm_word(kind));
    if (kind != CAROM_NORM_MATRIX) return CAROM_OK;
    const size_t size = (size_t)n * (size_t)n;
    a->gram = calloc(2 * size + 2 * (size_t)n + 1, sizeof *a->gram);
    return a->gram ? CAROM_OK : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a matrix of %d columns", n);
}

void carom_norm_end(carom_norm *a) {
    if (!a) return;
    free(a->gram);
    a->gram = NULL;
}

void carom_norm_add(carom_norm *a, double h, const double *e) {
    if (!a) return;
    for (int j = 0; j < a->n; ++j) {
        switch (a->kind) {
        case CAROM_NORM_L1: a->sum += h * fabs(e[j]); break;
        case CAROM_NORM_L2: a->sum += h * e[j] * e[j]; break;
        case CAROM_NORM_LP: a->sum += h * pow(fabs(e[j]), a->p); break;
        case CAROM_NORM_MATRIX:
            for (int i = 0; i <= j; ++i) a->gram[j * a->n + i] += e[i] * e[j];
            break;
        default:
            if (!(fabs(e[j]) <= a->sum)) a->sum = isnan(a->sum) ? a->sum : fabs(e[j]); // NaN stays
        }
    }
}

// Householder: the symmetric A (lower half, row by row) to tridiagonal form with diagonal d and off-diagonal b[1 .. n).
static void tridiagonal(double *A, int n, double *d, double *b) {
    for (int k = n - 1; k > 0; --k) { // row k is cleared left of k-1 by a reflection of the first k coordinates
        double *x = A + (size_t)k * (size_t)n, scale = 0, square = 0;
        for (int j = 0; j < k - 1; ++j) scale = fmax(scale, fabs(x[j]));
        d[k] = x[k];
        b[k] = x[k - 1];
        if (scale == 0) continue;
        scale = fmax(scale, fabs(x[k - 1]));
        for (int j = 0; j < k; ++j) {
            x[j] /= scale;
            square += x[j] * x[j];
        }
        const double length = copysign(sqrt(square), x[k - 1]);
        b[k] = -scale * length;
        x[k - 1] += length;
        const double beta = 1 / (length * x[k - 1]); // 2 / x'x
        double dot = 0;                              // p = beta A x, into d[0 .. k); A -= x w' + w x', w = p - beta/2
                                                     // (p'x) x
        for (int i = 0; i < k; ++i) {
            d[i] = 0;
            for (int j = 0; j < k; ++j)
                d[i] += A[j <= i ? (size_t)i * (size_t)n + (size_t)j : (size_t)j * (size_t)n + (size_t)i] * x[j];
            d[i] *= beta;
            dot += d[i] * x[i];
        }
        for (int i = 0; i < k; ++i) d[i] -= 0.5 * beta * dot * x[i];
        for (int i = 0; i < k; ++i)
            for (int j = 0; j <= i; ++j) A[(size_t)i * (size_t)n + (size_t)j] -= x[i] * d[j] + d[i] * x[j];
    }
    d[0] = A[0];
}

// Is an eigenvalue of the tridiagonal matrix above s?  (Sturm: then a pivot of T - s is positive.)
static bool above(const double *d, const double *b, int n, double s) {
    double pivot = -1;
    for (int i = 0; i < n; ++i) {
        pivot = d[i] - s - (i > 0 ? b[i] * b[i] / pivot : 0);
        if (pivot > 0) return true;
        if (pivot == 0) pivot = -DBL_MIN;
    }
    return false;
}

static double largest_singular(const carom_norm *a) {
    const int n = a->n;
    const size_t size = (size_t)n * (size_t)n;
    double *A = a->gram + size, *d = A + size, *b = d + n, low = 0, high = 0, trace = 0;
    memcpy(A, a->gram, size * sizeof *A);
    for (int i = 0; i < n; ++i) trace += A[(size_t)i * (size_t)n + (size_t)i];
    if (!(trace > 0) || isinf(trace)) return sqrt(trace);
    tridiagonal(A, n, d, b);
    for (int i = 0; i < n; ++i) low = fmax(low, d[i]);
    high = trace * (1 + CAROM_SAME);
    // to the last bits; 200 halvings are more than they take
    for (int i = 0; i < 200 && high - low > 2 * DBL_EPSILON * high; ++i) {
        const double middle = 0.5 * (low + high);
        if (above(d, b, n, middle)) low = middle;
        else high = middle;
    }
    return sqrt(0.5 * (low + high));
}

double carom_norm_value(const carom_norm *a) {
    if (!a) return NAN;
    if (a->kind == CAROM_NORM_MATRIX) return largest_singular(a);
    return a->kind == CAROM_NORM_L2 ? sqrt(a->sum) : a->kind == CAROM_NORM_LP ? pow(a->sum, 1 / a->p) : a->sum;
}

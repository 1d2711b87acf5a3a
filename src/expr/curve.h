// curve.h: a table as a function: the value and derivatives of a piecewise cubic.
//
// The numbers of a curve of n knots: n, its value below the first and above the last knot (NaN: it has none), the
// degree of its pieces, n knots, then 4 (n - 1) coefficients: c_0 + c_1 s + c_2 s^2 + c_3 s^3 with s = x - knot.
#pragma once
#include "expr/expr.h"

// Derivative k at x of the piece on which `at` lies; at a knot the piece on its right.  Text and function are one, so
// compiled models have the same bits.
#define CAROM_CURVE_CODE                                                                           \
    static inline double curve(const double *d, int k, double at, double x) {                      \
        const int n = (int)d[0];                                                                   \
        const double below = d[1], above = d[2], *knot = d + 4, *c = knot + n;                     \
        int i = 0, j = n - 1;                                                                      \
        if (at != at) return at;                                                                   \
        if (at < knot[0] || at > knot[j] || (at == knot[j] && above == above)) {                   \
            const double value = at < knot[0] ? below : above;                                     \
            return k == 0 || value != value ? value : 0.0;                                         \
        }                                                                                          \
        while (j - i > 1) {                                                                        \
            const int m = (i + j) / 2;                                                             \
            if (knot[m] <= at) i = m;                                                              \
            else j = m;                                                                            \
        }                                                                                          \
        const double s = x - knot[i];                                                              \
        c += 4 * i;                                                                                \
        if (k == 0) return c[0] + s * (c[1] + s * (c[2] + s * c[3]));                              \
        if (k == 1) return c[1] + s * (2 * c[2] + s * (3 * c[3]));                                 \
        return k == 2 ? 2 * c[2] + s * (6 * c[3]) : 6 * c[3];                                      \
    }

extern const char carom_curve_text[]; // the same as text
double carom_curve_value(const double *d, int k, double at, double x);
/// How many numbers its numbers are.
static inline int carom_curve_numbers(const double *d) { return 5 * (int)d[0]; }

// In the graph: the curve and the derivative are a number beside the argument, CAROM_CURVE_ORDERS * curve + derivative.
enum { CAROM_CURVE_ORDERS = 4 }; // the third derivative of a cubic is constant
/// The numbers of the curve of such a node, and which derivative (k) of it the node is.
const double *carom_curve_of(const carom_graph *g, carom_node b, int *which, int *k);
/// d/dx of such a node.
carom_node carom_curve_slope(carom_graph *g, carom_node a, carom_node b);

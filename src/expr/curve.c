// curve.c: curves through points: straight pieces, or a cubic spline with continuous second derivatives; and their
// nodes.
#include "base/grow.h"
#include "expr/curve.h"
#include "expr/expr.h"
#include "expr/graph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(code) TEXT_OF(code)

CAROM_CURVE_CODE
const char carom_curve_text[] = TEXT(CAROM_CURVE_CODE);

double carom_curve_value(const double *d, int k, double at, double x) { return curve(d, k, at, x); }

// -- through points ---------------------------------------------------------------------------------------

// Slopes m of the spline whose third derivative is continuous at the second and last but one knot ("not a knot"), n >=
// 4; h: lengths of pieces, d: their mean slopes.  Inside
//     h_i m_{i-1} + 2 (h_{i-1} + h_i) m_i + h_{i-1} m_{i+1} = 3 (h_i d_{i-1} + h_{i-1} d_i)
// Elimination from the front; up: n numbers of scratch.
static void slopes(int n, const double *h, const double *d, double *m, double *up) {
    const double a = h[0] + h[1], b = h[n - 3] + h[n - 2];
    double pivot = h[1];
    m[0] = ((h[0] + 2 * a) * h[1] * d[0] + h[0] * h[0] * d[1]) / a / pivot;
    up[0] = a / pivot;
    for (int i = 1; i < n; ++i) {
        const bool last = i == n - 1;
        const double low = last ? b : h[i], middle = last ? h[n - 3] : 2 * (h[i - 1] + h[i]);
        const double right = last ? (h[n - 2] * h[n - 2] * d[n - 3] + (2 * b + h[n - 2]) * h[n - 3] * d[n - 2]) / b
                                  : 3 * (h[i] * d[i - 1] + h[i - 1] * d[i]);
        pivot = middle - low * up[i - 1];
        m[i] = (right - low * m[i - 1]) / pivot;
        up[i] = last ? 0 : h[i - 1] / pivot;
    }
    for (int i = n - 2; i >= 0; --i) m[i] -= up[i] * m[i + 1];
}

// Three points: a parabola.
static void parabola(const double *h, const double *d, double *m) {
    const double bend = (d[1] - d[0]) / (h[0] + h[1]);
    m[0] = d[0] - bend * h[0];
    m[1] = d[0] + bend * h[0];
    m[2] = d[1] + bend * h[1];
}

size_t carom_curve_size(int n) { return (size_t)n * 5; }

carom_status carom_curve_make(int n, const double *x, const double *y, bool spline, bool held, double *numbers) {
    double *work = malloc(4 * (size_t)n * sizeof *work), *h = work, *d = work + n, *m = work + 2 * n,
           *up = work + 3 * n;
    if (!work) return CAROM_NO_MEMORY;
    const double head[4] = {n, held ? y[0] : NAN, held ? y[n - 1] : NAN, spline && n > 2 ? 3 : 1};
    double *c = numbers + 4 + n;
    memcpy(numbers, head, sizeof head);
    memcpy(numbers + 4, x, (size_t)n * sizeof *x);
    for (int i = 0; i < n - 1; ++i) h[i] = x[i + 1] - x[i], d[i] = (y[i + 1] - y[i]) / h[i];
    if (n > 3) slopes(n, h, d, m, up);
    if (n == 3) parabola(h, d, m);
    for (int i = 0; i < n - 1; ++i) {
        const bool cubic = head[3] == 3;
        c[4 * i] = y[i];
        c[4 * i + 1] = cubic ? m[i] : d[i];
        c[4 * i + 2] = cubic ? (3 * d[i] - 2 * m[i] - m[i + 1]) / h[i] : 0;
        c[4 * i + 3] = cubic ? (m[i] + m[i + 1] - 2 * d[i]) / (h[i] * h[i]) : 0;
    }
    free(work);
    return CAROM_OK;
}

// -- in the graph -------------------------------------------------------------------------------------------

int carom_graph_curve(carom_graph *g, const double *numbers) {
    if (!CAROM_GROW(g->curve, g->curves)) return carom_graph_fail(g);
    g->curve[g->curves] = numbers;
    return g->curves++;
}

void carom_graph_share_curves(carom_graph *g, const carom_graph *from) {
    while (g->curves < from->curves && carom_graph_curve(g, from->curve[g->curves]) != CAROM_NONE) {}
}

const double *carom_curve_of(const carom_graph *g, carom_node b, int *which, int *k) {
    const int code = (int)g->node[b].value;
    *which = code / CAROM_CURVE_ORDERS;
    *k = code % CAROM_CURVE_ORDERS;
    return g->curve[*which];
}

const double *carom_graph_curve_numbers(const carom_graph *g, int which) { return g->curve[which]; }

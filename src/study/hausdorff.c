// hausdorff.c: distance of two graphs whose jumps are filled in.
//
// Over a window of time a filled-in graph is connected, so the values it takes there are an interval [m, M].  A point
// (t, x) is therefore within delta of the graph exactly when m - delta <= x <= M + delta over [t - delta, t + delta].
// The same test on a smaller window covers a whole stretch of the other graph at once; only what is not covered by the
// distance found so far is looked at more closely, down to DEPTH halvings of a segment.
#include "base/missing.h"
#include "study/norm.h"
#include <carom/study.h>
#include <math.h>
#include <stdlib.h>

static const double FIRST = 1e-9;    // of a value: the first distance that is tried, before it is doubled
static const double ROUNDED = 1e-14; // of a distance: bisection ends
enum { DEPTH = 5 }; // 1/32 of a segment

typedef struct graph {
    const double *t, *x;
    long n, leaf;      // leaf: first leaf of the trees
    double *low, *high; // extremes over blocks of vertices: a binary tree in an array
} graph;

static carom_status plant(graph *g, const carom_polyline *p, bool *finite, carom_error *err) {
    *g = (graph){.t = p->t, .x = p->x, .n = p->n, .leaf = 1};
    if (p->n < 1) return carom_fail(err, CAROM_BAD_INPUT, "a graph needs at least one point");
    for (long i = 0; i < p->n; ++i) {
        if (!isfinite(p->t[i]) || (i > 0 && p->t[i] < p->t[i - 1]))
            return carom_fail(err, CAROM_BAD_INPUT, "the times of a graph must not decrease; they do at point %ld", i);
        *finite = *finite && isfinite(p->x[i]);
    }
    while (g->leaf < p->n) g->leaf *= 2;
    g->low = malloc(4 * (size_t)g->leaf * sizeof *g->low);
    if (!g->low) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a graph of %ld points", p->n);
    g->high = g->low + 2 * g->leaf;
    for (long i = 0; i < g->leaf; ++i) {
        g->low[g->leaf + i] = i < p->n ? p->x[i] : INFINITY;
        g->high[g->leaf + i] = i < p->n ? p->x[i] : -INFINITY;
    }
    for (long i = g->leaf - 1; i > 0; --i) {
        g->low[i] = fmin(g->low[2 * i], g->low[2 * i + 1]);
        g->high[i] = fmax(g->high[2 * i], g->high[2 * i + 1]);
    }
    return CAROM_OK;
}

static void include(double x, double *m, double *M) {
    if (x < *m) *m = x;
    if (x > *M) *M = x;
}

// Extremes of the vertices first .. last.
static void extremes(const graph *g, long first, long last, double *m, double *M) {
    for (long a = first + g->leaf, b = last + g->leaf + 1; a < b; a /= 2, b /= 2) {
        if (a & 1) include(g->low[a], m, M), include(g->high[a], m, M), ++a;
        if (b & 1) --b, include(g->low[b], m, M), include(g->high[b], m, M);
    }
}

// First vertex with t >= a, or with t > a.
static long find(const graph *g, double a, bool after) {
    long low = 0, high = g->n;
    while (low < high) {
        const long middle = low + (high - low) / 2;
        if (after ? g->t[middle] > a : g->t[middle] >= a) high = middle;
        else low = middle + 1;
    }
    return low;
}

static double between(const graph *g, long i, double t) {
    const double s = (t - g->t[i]) / (g->t[i + 1] - g->t[i]);
    return (1 - s) * g->x[i] + s * g->x[i + 1];
}

// Is the stretch with times t_0 .. t_1 and values x_0 .. x_1 within delta of g?  Sufficient; for t_0 = t_1 also
// necessary.
static bool covered(const graph *g, double t_0, double t_1, double x_0, double x_1, double delta) {
    const double a = t_1 - delta, b = t_0 + delta;
    if (a > b || b < g->t[0] || a > g->t[g->n - 1]) return false;
    const long first = find(g, a, false), behind = find(g, b, true);
    double m = INFINITY, M = -INFINITY;
    if (first < behind) extremes(g, first, behind - 1, &m, &M);
    if (first > 0 && first < g->n) include(between(g, first - 1, a), &m, &M);
    if (behind > 0 && behind < g->n) include(between(g, behind - 1, b), &m, &M);
    return m - delta <= x_0 && x_1 <= M + delta;
}

// The distance of a point from g when it is above best, else best.
static double farther(const graph *g, double t, double x, double best) {
    if (covered(g, t, t, x, x, best)) return best;
    double low = best, high = best > 0 ? 2 * best : FIRST * (1 + fabs(x));
    while (!covered(g, t, t, x, x, high) && high < HUGE_VAL) low = high, high *= 2;
    for (int i = 0; i < 100 && high - low > ROUNDED * high; ++i) {
        const double middle = 0.5 * (low + high);
        if (covered(g, t, t, x, x, middle)) high = middle;
        else low = middle;
    }
    return high;
}

static double segment(const graph *g, double t_0, double x_0, double t_1, double x_1, int depth, double best) {
    if (t_0 == t_1 || depth == 0 || covered(g, t_0, t_1, fmin(x_0, x_1), fmax(x_0, x_1), best)) return best;
    const double t = 0.5 * (t_0 + t_1), x = 0.5 * (x_0 + x_1);
    best = farther(g, t, x, best);
    best = segment(g, t_0, x_0, t, x, depth - 1, best);
    return segment(g, t, x, t_1, x_1, depth - 1, best);
}

// How far f's vertices first .. last and what lies between them are from g, when that is above best.
static double excess(const graph *f, const graph *g, long first, long last, double best) {
    double m = INFINITY, M = -INFINITY;
    extremes(f, first, last, &m, &M);
    if (covered(g, f->t[first], f->t[last], m, M, best)) return best;
    if (last - first <= 1) {
        best = farther(g, f->t[first], f->x[first], best);
        best = farther(g, f->t[last], f->x[last], best);
        return segment(g, f->t[first], f->x[first], f->t[last], f->x[last], DEPTH, best);
    }
    const long middle = first + (last - first) / 2;
    best = excess(f, g, first, middle, best);
    return excess(f, g, middle, last, best);
}

carom_status carom_hausdorff(const carom_polyline *f, const carom_polyline *g, double *distance, carom_error *err) {
    if (!f || !distance) return CAROM_MISSING(err);
    graph a = {0}, b = {0};
    bool finite = true;
    carom_status status = plant(&a, f, &finite, err);
    if (status == CAROM_OK) status = plant(&b, g, &finite, err);
    *distance = NAN;
    if (status == CAROM_OK && finite) *distance = excess(&b, &a, 0, b.n - 1, excess(&a, &b, 0, a.n - 1, 0));
    free(a.low);
    free(b.low);
    return status;
}

// bar_yardstick.c: see bar_yardstick.h.
#include "bar_yardstick.h"
#include <math.h>
#include <stdlib.h>

// Steel would do as well: E = 900, density 1, length 10, area 1, 10 m/s; the step is half of what stability allows a
// lumped bar.
bool bar_make(bar *b, int elements, bool lumped) {
    const int n = elements + 1;
    const size_t size = (size_t)n * sizeof(double);
    *b = (bar){
        .n = n, .k = 900.0 / 10 * elements, .m = 10.0 / elements, .lumped = lumped, .h = 0.5 * (10.0 / elements) / 30};
    b->q = calloc(1, size), b->v = malloc(size), b->f = malloc(size), b->a = malloc(2 * size), b->x = calloc(1, size);
    if (!b->q || !b->v || !b->f || !b->a || !b->x) return bar_free(b), false;
    for (int i = 0; i < n; ++i) b->v[i] = -10;
    double *L = b->a, *D = b->a + n; // D: inverse pivots
    for (int i = 0; i < n; ++i) {
        const double ends = i == 0 || i == n - 1 ? 1 : 2;
        if (lumped) {
            L[i] = 1 / (ends * b->m / 2);
        } else {
            const double d = ends * b->m / 3 - (i ? b->m / 6 * b->m / 6 * D[i - 1] : 0);
            L[i] = i ? b->m / 6 * D[i - 1] : 0; // couples i to i - 1
            D[i] = 1 / d;
        }
    }
    b->x[0] = lumped ? L[0] : 1;
    if (!lumped) {
        for (int i = 1; i < n; ++i) b->x[i] = -L[i] * b->x[i - 1];
        for (int i = n - 1; i >= 0; --i) b->x[i] = b->x[i] * D[i] - (i + 1 < n ? L[i + 1] * b->x[i + 1] : 0);
    }
    b->x_0 = b->x[0];
    return true;
}

void bar_free(bar *b) { free(b->q), free(b->v), free(b->f), free(b->a), free(b->x); }

// The wall: node 0 stops when it was closed at q_M and would go on inwards.
static double reaction(const bar *b, double q_M, double v_free) {
    return q_M <= 0 && v_free < 0 ? -v_free / b->x_0 : 0;
}

static void solve(const bar *b, double *x) {
    const int n = b->n;
    const double *L = b->a, *D = b->a + n;
    for (int i = 1; i < n; ++i) x[i] = fma(-L[i], x[i - 1], x[i]);
    x[n - 1] *= D[n - 1];
    for (int i = n - 2; i >= 0; --i) x[i] = fma(-L[i + 1], x[i + 1], x[i] * D[i]);
}

void bar_engine_step(bar *b) {
    const int n = b->n;
    double *q = b->q, *v = b->v, *f = b->f;
    for (int i = 0; i < n; ++i) q[i] += b->h / 2 * v[i];
    for (int i = 0; i < n; ++i) f[i] = 0;
    for (int e = 0; e + 1 < n; ++e) {
        const double pull = b->k * (q[e + 1] - q[e]);
        f[e] += pull;
        f[e + 1] -= pull;
    }
    if (b->lumped)
        for (int i = 0; i < n; ++i) v[i] += b->h * f[i] * b->a[i];
    else {
        solve(b, f);
        for (int i = 0; i < n; ++i) v[i] += b->h * f[i];
    }
    const double p = reaction(b, q[0], v[0]);
    if (p > 0 && b->lumped) v[0] += b->x_0 * p;
    else if (p > 0)
        for (int i = 0; i < n; ++i) v[i] += b->x[i] * p;
    for (int i = 0; i < n; ++i) q[i] += b->h / 2 * v[i];
}

void bar_floor_begin(bar *b) {
    for (int i = 0; i < b->n; ++i) b->q[i] += b->h / 2 * b->v[i];
}
void bar_floor_end(bar *b) {
    for (int i = 0; i < b->n; ++i) b->q[i] -= b->h / 2 * b->v[i];
}

// v in blocks, positions one block behind.
static void lumped_floor(bar *b) {
    enum { BLOCK = 512 };
    const int n = b->n;
    const double c = b->h * b->k, r = b->a[1], h = b->h;
    double *restrict q = b->q, *restrict v = b->v;
    v[0] += c * (q[1] - q[0]) * b->a[0];
    v[0] += b->x_0 * reaction(b, q[0], v[0]);
    for (int first = 1, moved = 0; moved < n; first += BLOCK) {
        const int end = first + BLOCK < n - 1 ? first + BLOCK : n - 1;
        for (int i = first; i < end; ++i) v[i] += c * (q[i - 1] - 2 * q[i] + q[i + 1]) * r;
        if (end == n - 1) v[n - 1] += c * (q[n - 2] - q[n - 1]) * b->a[n - 1];
        const int until = end == n - 1 ? n : end - 1;
        for (int i = moved; i < until; ++i) q[i] += h * v[i];
        moved = until;
    }
}

// Right-hand side and forward sweep together, backward sweep and velocities together; positions follow.
static void consistent_floor(bar *b) {
    const int n = b->n;
    const double c = b->h * b->k, *L = b->a, *D = b->a + n, h = b->h;
    double *restrict q = b->q, *restrict v = b->v, *restrict f = b->f;
    double y = c * (q[1] - q[0]);
    f[0] = y;
    for (int i = 1; i < n - 1; ++i) f[i] = y = fma(-L[i], y, c * (q[i - 1] - 2 * q[i] + q[i + 1]));
    y = fma(-L[n - 1], y, c * (q[n - 2] - q[n - 1])) * D[n - 1];
    v[n - 1] += y;
    for (int i = n - 2; i >= 0; --i) {
        y = fma(-L[i + 1], y, f[i] * D[i]);
        v[i] += y;
    }
    const double p = reaction(b, q[0], v[0]);
    if (p > 0)
        for (int i = 0; i < n; ++i) v[i] += b->x[i] * p, q[i] += h * v[i];
    else
        for (int i = 0; i < n; ++i) q[i] += h * v[i];
}

void bar_floor_step(bar *b) {
    if (b->lumped) lumped_floor(b);
    else consistent_floor(b);
}

// three.h: vectors of three numbers.
#pragma once
#include <math.h>

static inline double dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static inline void minus(const double *a, const double *b, double *c) {
    c[0] = a[0] - b[0], c[1] = a[1] - b[1], c[2] = a[2] - b[2];
}
static inline void cross(const double *a, const double *b, double *c) {
    c[0] = a[1] * b[2] - a[2] * b[1], c[1] = a[2] * b[0] - a[0] * b[2], c[2] = a[0] * b[1] - a[1] * b[0];
}
/// Of length 1, unless it is 0; returns the length.
static inline double unit(double *a) {
    const double size = sqrt(dot(a, a));
    for (int i = 0; i < 3 && size > 0; ++i) a[i] /= size;
    return size;
}

// three.h: vectors of three numbers, and rotations.
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

/// The unit quaternion w, x, y, z of a rotation matrix by rows: e_i e_j for the largest e_i, over it.
static inline void quaternion_of(const double R[9], double e[4]) {
    const double X[4][4] = {{1 + R[0] + R[4] + R[8], R[7] - R[5], R[2] - R[6], R[3] - R[1]},
                            {R[7] - R[5], 1 + R[0] - R[4] - R[8], R[1] + R[3], R[2] + R[6]},
                            {R[2] - R[6], R[1] + R[3], 1 - R[0] + R[4] - R[8], R[5] + R[7]},
                            {R[3] - R[1], R[2] + R[6], R[5] + R[7], 1 - R[0] - R[4] + R[8]}}; // 4 e_i e_j
    int most = 0;
    for (int i = 1; i < 4; ++i)
        if (X[i][i] > X[most][most]) most = i;
    for (int i = 0; i < 4; ++i) e[i] = X[most][i] / (2 * sqrt(X[most][most]));
}

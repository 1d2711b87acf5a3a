// poses.h: where a spatial body is: q = position, unit quaternion.
#pragma once
#include <string.h>

typedef struct pose { double r[3], R[9]; } pose; // R by rows

static inline void pose_of(const double *q, pose *x) {
    const double w = q[3], a = q[4], b = q[5], c = q[6];
    const double R[9] = {1 - 2 * (b * b + c * c), 2 * (a * b - w * c),     2 * (a * c + w * b),
                         2 * (a * b + w * c),     1 - 2 * (a * a + c * c), 2 * (b * c - w * a),
                         2 * (a * c - w * b),     2 * (b * c + w * a),     1 - 2 * (a * a + b * b)};
    memcpy(x->r, q, sizeof x->r);
    memcpy(x->R, R, sizeof R);
}

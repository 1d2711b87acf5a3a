// move.c: moving along velocities where positions are no vectors: quaternions, and angles counted over turns.
//
// Orientations move by the exponential map: a constant angular velocity turns by exactly h w, the length of the
// quaternion stays 1 up to rounding, and that is taken out whenever it shows (BOD-3).
#include "model/answers.h"
#include "model/model.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/scalar.inc"
#include "base/libm.inc"
#include "model/turn.inc"
DEVICE double D_tan(double x) { return tan(x); }
#include "model/lift.inc"
#include "model/rotation.inc"

// Column c of X, fixed in body b, in the world.
static void axis(const body *b, const double *q, const double *X, int c, double *out) {
    const double s[3] = {X[c], X[3 + c], X[6 + c]};
    if (b->v >= 0) return D_world(q + b->orientation, s, out);
    for (int i = 0; i < 3; ++i) out[i] = b->R0[3 * i] * s[0] + b->R0[3 * i + 1] * s[1] + b->R0[3 * i + 2] * s[2];
}

static double turned_angle(const joint *j, const double *q, double before) {
    double x_A[3], y_A[3], x_B[3];
    axis(j->A, q, j->X_A, 0, x_A);
    axis(j->A, q, j->X_A, 1, y_A);
    axis(j->B, q, j->X_B, 0, x_B);
    return D_nearest_angle(x_A, y_A, x_B, before);
}

// The axes of a joint that has an angle: fixed in the body, or in the world.
void carom_joint_axes(const joint *j, double x_A[3], double y_A[3], double x_B[3]) {
    const struct {
        const body *b;
        const double *X;
        int column;
        double *out;
    } want[] = {{j->A, j->X_A, 0, x_A}, {j->A, j->X_A, 1, y_A}, {j->B, j->X_B, 0, x_B}};
    for (int k = 0; k < 3; ++k) {
        if (want[k].b->v < 0) axis(want[k].b, NULL, want[k].X, want[k].column, want[k].out);
        else for (int i = 0; i < 3; ++i) want[k].out[i] = want[k].X[3 * i + want[k].column];
    }
}

bool carom_model_turns(const carom_model *m) {
    bool same = m->nq == m->nv;
    for (int i = 0; i < m->visible.nq_own && same; ++i) same = m->velocity_of[i] == i;
    return !same;
}

void carom_model_move(const void *model, double *q1, const double *q0, double h, const double *v) {
    const carom_model *m = model;
    const int nq = carom_model_named_q(m), nv = carom_model_named_v(m);
    for (int i = 0; i < nq; ++i)
        if (m->velocity_of[i] >= 0) q1[i] = q0[i] + h * v[m->velocity_of[i]];
    carom_add(q1 + nq, q0 + nq, h, v + nv, m->nq - nq); // unknowns of members
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v >= 0 && b->space == SPATIAL) D_turn(q1 + b->orientation, q0 + b->orientation, h, v + b->v + 3);
    }
    for (int i = 0; i < m->njoints; ++i) {
        const joint *j = &m->joints[i];
        if (j->at >= 0) q1[j->at] = turned_angle(j, q1, q0[j->at]);
    }
}

void carom_model_lift(const void *model, double *dx, const double *x, const double *v) {
    const carom_model *m = model;
    if (dx != v) carom_copy(dx, v, m->nv);
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v < 0 || b->space != SPATIAL) continue;
        const double w[3] = {v[b->v + 3], v[b->v + 4], v[b->v + 5]};
        D_lift(dx + b->v + 3, x + b->v + 3, w);
    }
}

// -- rates of positions ------------------------------------------------------------------------------------

// (BOD-1)  e' = 1/2 e o (0, w)
static void turn_rate(double *de, const double *e, const double *w) {
    de[0] = 0.5 * (-e[1] * w[0] - e[2] * w[1] - e[3] * w[2]);
    de[1] = 0.5 * (e[0] * w[0] + e[2] * w[2] - e[3] * w[1]);
    de[2] = 0.5 * (e[0] * w[1] + e[3] * w[0] - e[1] * w[2]);
    de[3] = 0.5 * (e[0] * w[2] + e[1] * w[1] - e[2] * w[0]);
}

// Column c of X and its rate, in the world: (R s)' = R (w x s).
static void axis_moves(const body *b, const double *q, const double *v, const double *X, int c, double *out,
                       double *rate) {
    axis(b, q, X, c, out);
    rate[0] = rate[1] = rate[2] = 0;
    if (b->v < 0) return;
    const double *w = v + b->v + 3, s[3] = {X[c], X[3 + c], X[6 + c]};
    const double y[9] = {w[1] * s[2] - w[2] * s[1], 0, 0, w[2] * s[0] - w[0] * s[2], 0, 0,
                         w[0] * s[1] - w[1] * s[0], 0, 0};
    axis(b, q, y, 0, rate);
}

// Rate of (JNT-5).
static double angle_rate(const joint *j, const double *q, const double *v) {
    double x_A[3], y_A[3], x_B[3], dx_A[3], dy_A[3], dx_B[3];
    axis_moves(j->A, q, v, j->X_A, 0, x_A, dx_A);
    axis_moves(j->A, q, v, j->X_A, 1, y_A, dy_A);
    axis_moves(j->B, q, v, j->X_B, 0, x_B, dx_B);
    const double s = carom_dot(y_A, x_B, 3), c = carom_dot(x_A, x_B, 3);
    const double ds = carom_dot(dy_A, x_B, 3) + carom_dot(y_A, dx_B, 3),
                 dc = carom_dot(dx_A, x_B, 3) + carom_dot(x_A, dx_B, 3);
    return (c * ds - s * dc) / (c * c + s * s);
}

void carom_model_rates(const carom_model *m, const double *q, const double *v, double *dq) {
    if (!m || !v || !dq) return;
    const int nq = carom_model_named_q(m), nv = carom_model_named_v(m);
    for (int i = 0; i < nq; ++i)
        if (m->velocity_of[i] >= 0) dq[i] = v[m->velocity_of[i]];
    carom_copy(dq + nq, v + nv, m->nq - nq);
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v >= 0 && b->space == SPATIAL) turn_rate(dq + b->orientation, q + b->orientation, v + b->v + 3);
    }
    for (int i = 0; i < m->njoints; ++i)
        if (m->joints[i].at >= 0) dq[m->joints[i].at] = angle_rate(&m->joints[i], q, v);
}

void carom_model_velocities(const carom_model *m, const double *q, const double *dq, double *v) {
    if (!m || !dq || !v) return;
    const int nq = carom_model_named_q(m), nv = carom_model_named_v(m);
    for (int i = 0; i < nq; ++i)
        if (m->velocity_of[i] >= 0) v[m->velocity_of[i]] = dq[i];
    carom_copy(v + nv, dq + nq, m->nq - nq);
    for (int i = 0; i < m->nbodies; ++i) {
        const body *b = &m->bodies[i];
        if (b->v < 0 || b->space != SPATIAL) continue;
        const double *e = q + b->orientation, *d = dq + b->orientation,
                     two = 2 / carom_dot(e, e, 4); // w = 2 conj(e) o e' / |e|^2
        double *w = v + b->v + 3;
        w[0] = two * (e[0] * d[1] - e[1] * d[0] - e[2] * d[3] + e[3] * d[2]);
        w[1] = two * (e[0] * d[2] - e[2] * d[0] - e[3] * d[1] + e[1] * d[3]);
        w[2] = two * (e[0] * d[3] - e[3] * d[0] - e[1] * d[2] + e[2] * d[1]);
    }
}

int carom_model_quaternion(const carom_model *m, int i) {
    if (!m) return 0;
    if (i >= carom_model_named_q(m) || m->velocity_of[i] >= 0) return -1;
    for (int k = 0; k < m->nbodies; ++k) {
        const body *b = &m->bodies[k];
        if (b->v >= 0 && b->space == SPATIAL && i >= b->orientation && i < b->orientation + 4) return b->orientation;
    }
    return -1;
}

// -- where a body is, as numbers ---------------------------------------------------------------------------

void carom_body_pose(const body *b, const double *q, double *r, double *R) {
    if (b->v < 0) {
        memcpy(r, b->r0, 3 * sizeof *r);
        memcpy(R, b->R0, 9 * sizeof *R);
        return;
    }
    const int n = b->space == SPATIAL ? 3 : 2;
    const double *x = q + b->orientation;
    for (int i = 0; i < 3; ++i) r[i] = i < n ? x[i - n] : 0;
    if (n == 2) {
        const double c = cos(x[0]), s = sin(x[0]), planar[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
        memcpy(R, planar, sizeof planar);
        return;
    }
    rotation(x, R);
}

void carom_body_move(const body *b, double *q1, const double *q0, double h, const double *v) {
    if (b->v < 0) return;
    const int n = b->space == SPATIAL ? 3 : 2;
    carom_add(q1 + b->orientation - n, q0 + b->orientation - n, h, v + b->v, 3); // in the plane the angle is the third
    if (n == 3) D_turn(q1 + b->orientation, q0 + b->orientation, h, v + b->v + 3);
}

double carom_body_speed(const body *b, const double *v, double arm) {
    if (b->v < 0) return 0;
    const double *u = v + b->v;
    if (b->space != SPATIAL) return hypot(u[0], u[1]) + fabs(u[2]) * arm;
    return sqrt(carom_dot(u, u, 3)) + sqrt(carom_dot(u + 3, u + 3, 3)) * arm;
}

// |r_1 - r_0| + arm phi.  Unit quaternions: |p_1 - p_0| = 2 sin(phi/4) >= phi/pi for phi <= 2 pi, and 3.2 > pi.
double carom_body_travel(const body *b, const double *q0, const double *q1, double arm) {
    if (b->v < 0) return 0;
    const double *x = q0 + b->orientation, *y = q1 + b->orientation;
    if (b->space != SPATIAL)
        return sqrt((y[-2] - x[-2]) * (y[-2] - x[-2]) + (y[-1] - x[-1]) * (y[-1] - x[-1])) + fabs(y[0] - x[0]) * arm;
    const double r[3] = {y[-3] - x[-3], y[-2] - x[-2], y[-1] - x[-1]},
                 p[4] = {y[0] - x[0], y[1] - x[1], y[2] - x[2], y[3] - x[3]};
    return sqrt(carom_dot(r, r, 3)) + 3.2 * sqrt(carom_dot(p, p, 4)) * arm;
}

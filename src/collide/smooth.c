// smooth.c: ellipsoids against each other, against balls, points and half-spaces.
//
// (SHP-19)  The gap is the largest separation: the maximum over unit vectors n of  f(n) = n.(c_A - c_B) - |M_A' n| -
//           |M_B' n| - r_A - r_B,  where M = R diag(axes).
// Apart it is the distance, and inside of each other minus the least way out.  Newton's method on the sphere, always
// from the line of centres, to rounding.
#include "collide/posed.h"

typedef struct shadow { double P[9], radius, c[3]; } shadow; // P = M M'

static shadow shadow_of(const carom_convex *s, const carom_frame *f) {
    shadow x = {.radius = s->radius};
    double M[9];
    for (int i = 0; i < 3; ++i) x.c[i] = f->r[i] + dot(f->R + 3 * i, s->hull->v[0]);
    if (!s->axes) return x;
    for (int i = 0; i < 9; ++i)
        M[i] = (f->R[i / 3 * 3] * s->X[i % 3] + f->R[i / 3 * 3 + 1] * s->X[3 + i % 3] +
                f->R[i / 3 * 3 + 2] * s->X[6 + i % 3]) *
               s->axes[i % 3];
    for (int i = 0; i < 9; ++i) x.P[i] = dot(M + i / 3 * 3, M + i % 3 * 3);
    return x;
}

// f(n); its gradient and, of the shadows, second derivatives.
static double separation(const shadow *x, const double *d, const double *n, double *g, double *H) {
    double f = dot(n, d);
    memcpy(g, d, 3 * sizeof *g);
    memset(H, 0, 9 * sizeof *H);
    for (int side = 0; side < 2; ++side) {
        double y[3];
        turned(x[side].P, n, y);
        const double s = sqrt(fmax(dot(n, y), 0));
        f -= s + x[side].radius;
        for (int i = 0; i < 9 && s > 0; ++i) H[i] -= x[side].P[i] / s - y[i / 3] * y[i % 3] / (s * s * s);
        for (int i = 0; i < 3 && s > 0; ++i) g[i] -= y[i] / s;
    }
    return f;
}

// One step of Newton's method across n, or along the gradient where f is not concave; halved until f does not fall.
static bool climb(const shadow *x, const double *d, double *n, double *f) {
    double g[3], H[9], u[3], v[3], m[3], G[3], J[9], step[2];
    separation(x, d, n, g, H);
    const int k = fabs(n[0]) < 0.6 ? 0 : 1;
    for (int i = 0; i < 3; ++i) u[i] = (i == k) - n[k] * n[i];
    unit(u);
    cross(n, u, v);
    double Hu[3], Hv[3];
    turned(H, u, Hu), turned(H, v, Hv);
    const double l = dot(n, g), a = dot(u, Hu) - l, b = dot(u, Hv), c = dot(v, Hv) - l, p = dot(u, g), q = dot(v, g),
                 det = a * c - b * b;
    const bool concave = a < 0 && det > 0;
    const double scale = 1 / (fabs(a) + fabs(c) + fabs(b) + 1e-300); // no division by 0
    step[0] = concave ? (b * q - c * p) / det : scale * p;
    step[1] = concave ? (b * p - a * q) / det : scale * q;
    for (int halved = 0; halved < 40; ++halved) {
        for (int i = 0; i < 3; ++i) m[i] = n[i] + step[0] * u[i] + step[1] * v[i];
        unit(m);
        const double now = separation(x, d, m, G, J);
        if (now >= *f) {
            static const double STANDS = 1e-15; // of the unit normal: a step that changes its last digit
            const bool moved = hypot(step[0], step[1]) > STANDS;
            memcpy(n, m, sizeof m);
            *f = now;
            return moved;
        }
        step[0] /= 2, step[1] /= 2;
    }
    return false;
}

void carom_smooth_place(const carom_convex *A, const carom_frame *a, const carom_convex *B, const carom_frame *b,
                        carom_patch_point *t) {
    const bool flat_B = B->hull->nf == 1, flat_A = A->hull->nf == 1;
    const carom_convex *round = flat_A ? B : A, *plane = flat_A ? A : B;
    const carom_frame *of = flat_A ? b : a, *on = flat_A ? a : b;
    double n[3], y[3], d[3], g[3], H[9];
    shadow x[2];
    if (flat_A || flat_B) { // n is that of the plane
        x[0] = shadow_of(round, of);
        turned(on->R, plane->hull->normal[0], n);
        turned(x[0].P, n, y);
        const double s = sqrt(fmax(dot(n, y), 0));
        t->gap = dot(n, x[0].c) - dot(n, on->r) - plane->hull->offset[0] - s - round->radius;
        for (int i = 0; i < 3; ++i) {
            t->p[i] = x[0].c[i] - (s > 0 ? y[i] / s : 0) - n[i] * (round->radius + 0.5 * t->gap);
            t->n[i] = flat_A ? -n[i] : n[i];
        }
        return;
    }
    x[0] = shadow_of(A, a), x[1] = shadow_of(B, b);
    for (int i = 0; i < 3; ++i) n[i] = d[i] = x[0].c[i] - x[1].c[i];
    if (!(unit(n) > 0)) memcpy(n, (double[]){0, 0, 1}, sizeof n); // centres coincide
    double f = separation(x, d, n, g, H);
    for (int k = 0; k < 100 && climb(x, d, n, &f);) ++k;
    turned(x[1].P, n, y);
    const double s = sqrt(fmax(dot(n, y), 0));
    t->gap = f;
    for (int i = 0; i < 3; ++i)
        t->n[i] = n[i], t->p[i] = x[1].c[i] + (s > 0 ? y[i] / s : 0) + n[i] * (x[1].radius + 0.5 * f);
}

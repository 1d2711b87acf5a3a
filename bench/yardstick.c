// yardstick.c: the engine-like C loop: callbacks, libm, LDL', W only when a gap is closed, semi-smooth Newton.
//
// The scheme is Moreau's midpoint rule with one frozen W,
//     q_M = q + h/2 v,  v+ = v + M^-1 (h f(q_M, v) + W p),  q+ = q_M + h/2 v+,  0 <= p _|_ W'(v+ + e v) >= 0,
// the sums and factors as a person would write them who knows that there are three unknowns.
#define _POSIX_C_SOURCE 200809L
#include "yardstick.h"
#include <math.h>
#include <string.h>
#include <time.h>

enum { N = 3, MOST = 4 };

// -- the slider-crank --------------------------------------------------------------------------------

typedef struct slider { double l1, l2, a, b, c, M11, M22, J3, B, G1, G2; } slider;

static const slider the_slider = {
    .l1 = 0.153, .l2 = 0.306, .a = 0.05, .b = 0.025, .c = 0.001,
    .M11 = 7.4e-5 + 0.153 * 0.153 * (0.038 / 4 + 0.038 + 0.076),
    .M22 = 5.9e-4 + 0.306 * 0.306 * (0.038 / 4 + 0.076),
    .J3 = 2.7e-6,
    .B = 0.153 * 0.306 * (0.038 / 2 + 0.076),
    .G1 = 9.81 * 0.153 * (0.038 / 2 + 0.038 + 0.076),
    .G2 = 9.81 * 0.306 * (0.038 / 2 + 0.076),
};

static const double side[4] = {1, 1, -1, -1}, end[4] = {-1, 1, -1, 1};

enum { S1, C1, S2, C2, S3, C3, WORK };

static void slider_at(const void *user, double *w, const double *q) {
    (void)user;
    w[S1] = sin(q[0]), w[C1] = cos(q[0]);
    w[S2] = sin(q[1]), w[C2] = cos(q[1]);
    w[S3] = sin(q[2]), w[C3] = cos(q[2]);
}

static void slider_mass(const void *user, const double *w, double *M) {
    const slider *s = user;
    M[0] = s->M11;
    M[4] = s->M22;
    M[8] = s->J3;
    M[1] = M[3] = s->B * (w[C1] * w[C2] + w[S1] * w[S2]); // cos(q1 - q2)
    M[2] = M[5] = M[6] = M[7] = 0;
}

static void slider_force(const void *user, const double *w, const double *v, double *f) {
    const slider *s = user;
    const double x = s->B * (w[S1] * w[C2] - w[C1] * w[S2]);
    f[0] = -x * v[1] * v[1] - s->G1 * w[C1];
    f[1] = x * v[0] * v[0] - s->G2 * w[C2];
    f[2] = 0;
}

static void slider_gaps(const void *user, const double *w, double *g) {
    const slider *s = user;
    const double y = s->l1 * w[S1] + s->l2 * w[S2], as = s->a * w[S3], bc = s->b * w[C3];
    for (int k = 0; k < 4; ++k) g[k] = s->b + s->c - side[k] * (y + end[k] * as) - bc;
}

static void slider_direction(const void *user, const double *w, int k, double *W) {
    const slider *s = user;
    W[0] = -side[k] * s->l1 * w[C1];
    W[1] = -side[k] * s->l2 * w[C2];
    W[2] = -side[k] * end[k] * s->a * w[C3] + s->b * w[S3];
}

const yardstick_model yardstick_slider = {N,           4,           slider_at,        slider_mass,
                                          slider_force, slider_gaps, slider_direction, &the_slider};

void yardstick_evaluate(const double *q, const double *v, double *M, double *f, double *g, double *W) {
    double w[WORK];
    slider_at(&the_slider, w, q);
    slider_mass(&the_slider, w, M);
    slider_force(&the_slider, w, v, f);
    slider_gaps(&the_slider, w, g);
    for (int k = 0; k < 4; ++k) slider_direction(&the_slider, w, k, W + 3 * k);
}

// -- the loop ------------------------------------------------------------------------------------------

typedef struct factor { double l10, l20, l21, d0, d1, d2; } factor; // M = L D L', d: inverse pivots

static factor factorise(const double *M) {
    factor F;
    F.d0 = 1 / M[0];
    F.l10 = M[1] * F.d0;
    F.l20 = M[2] * F.d0;
    F.d1 = 1 / (M[4] - F.l10 * M[1]);
    const double m21 = M[5] - F.l20 * M[1];
    F.l21 = m21 * F.d1;
    F.d2 = 1 / (M[8] - F.l20 * M[2] - F.l21 * m21);
    return F;
}

static void solve(const factor *F, double *x) {
    x[1] -= F->l10 * x[0];
    x[2] -= F->l20 * x[0] + F->l21 * x[1];
    x[2] *= F->d2;
    x[1] = x[1] * F->d1 - F->l21 * x[2];
    x[0] = x[0] * F->d0 - F->l10 * x[1] - F->l20 * x[2];
}

static double dot(const double *x, const double *y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]; }

// Solves the rows and columns `on` of G p = -c by elimination; dependent rows (a vanishing pivot) keep p = 0.
static void solve_active(int n, double G[MOST][MOST], const double *c, const int *on, double *p) {
    double A[MOST][MOST + 1];
    int id[MOST], k = 0;
    for (int i = 0; i < n; ++i)
        if (on[i]) id[k++] = i;
    for (int i = 0; i < k; ++i) {
        for (int j = 0; j < k; ++j) A[i][j] = G[id[i]][id[j]];
        A[i][k] = -c[id[i]];
    }
    for (int j = 0; j < k; ++j) {
        const int dependent = A[j][j] <= 1e-12 * G[id[j]][id[j]];
        for (int i = j + 1; i < k && !dependent; ++i) {
            const double x = A[i][j] / A[j][j];
            for (int l = j; l <= k; ++l) A[i][l] -= x * A[j][l];
        }
    }
    for (int i = k - 1; i >= 0; --i) {
        double x = A[i][k];
        for (int j = i + 1; j < k; ++j) x -= A[i][j] * p[id[j]];
        p[id[i]] = A[i][i] <= 1e-12 * G[id[i]][id[i]] ? 0 : x / A[i][i];
    }
}

// Semi-smooth Newton on p = max(0, p - r u), u = G p + c.
static void solve_contacts(int n, double G[MOST][MOST], const double *c, double *p) {
    for (int i = 0; i < n; ++i) p[i] = 0;
    for (int iteration = 0; iteration < 20; ++iteration) {
        int on[MOST];
        double worst = 0;
        for (int i = 0; i < n; ++i) {
            double u = c[i];
            for (int j = 0; j < n; ++j) u += G[i][j] * p[j];
            const double z = p[i] - u / G[i][i], F = p[i] - (z > 0 ? z : 0);
            on[i] = z > 0;
            worst = fmax(worst, fabs(F) * G[i][i]);
        }
        if (worst < 1e-12) return;
        for (int i = 0; i < n; ++i) p[i] = 0;
        solve_active(n, G, c, on, p);
    }
}

static int step(const yardstick_model *model, double h, double e, double *q, double *v) {
    double M[N * N], a[N], g[MOST], W[MOST][N], X[MOST][N], G[MOST][MOST], c[MOST], p[MOST], work[WORK];
    int id[MOST], closed = 0;
    for (int i = 0; i < N; ++i) q[i] += h / 2 * v[i];
    model->at(model->user, work, q);
    model->mass(model->user, work, M);
    model->force(model->user, work, v, a);
    model->gaps(model->user, work, g);
    const factor F = factorise(M);
    solve(&F, a);
    double free[N];
    for (int i = 0; i < N; ++i) free[i] = v[i] + h * a[i];
    for (int k = 0; k < model->m; ++k)
        if (g[k] <= 0) id[closed++] = k;
    if (closed) {
        for (int k = 0; k < closed; ++k) {
            model->direction(model->user, work, id[k], W[k]);
            memcpy(X[k], W[k], sizeof X[k]);
            solve(&F, X[k]);
            c[k] = dot(W[k], free) + e * dot(W[k], v);
        }
        for (int k = 0; k < closed; ++k)
            for (int l = 0; l < closed; ++l) G[k][l] = dot(W[k], X[l]);
        solve_contacts(closed, G, c, p);
        for (int k = 0; k < closed; ++k)
            for (int i = 0; i < N; ++i) free[i] += X[k][i] * p[k];
    }
    for (int i = 0; i < N; ++i) {
        v[i] = free[i];
        q[i] += h / 2 * v[i];
    }
    return closed > 0;
}

double yardstick_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

yardstick_result yardstick_run(const yardstick_model *model, long steps, double h, double restitution) {
    yardstick_result r = {.v = {150, -75, 0}};
    const double start = yardstick_clock();
    for (long i = 0; i < steps; ++i) r.contact_steps += step(model, h, restitution, r.q, r.v);
    r.ns_per_step = 1e9 * (yardstick_clock() - start) / (double)steps;
    return r;
}

// sampled.c: modes of a mechanism with controllers.
//
// Between two instants the signals z are held, (y, y')' = A (y, y') + B z; at an instant of controller k, z changes:
//
//     x = (y, y', z):  x(t + h) = exp(h [A B; 0 0]) x(t),   z_k+ = c_q Z y + c_v Z y' + c_z z                   (SMP-2)
//
// The product over the common period of all controllers has the multipliers mu, and lambda = log(mu)/period.
#include "dynamics/sampled.h"
#include "base/tolerance.h"
#include "dynamics/shoot.h"
#include "dynamics/steady.h"
#include "linalg/dense.h"
#include "model/controls.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_RATIO = 64, MOST_INSTANTS = 100000, PADE = 8 }; // bounds of the work; exp to rounding for norms up to 1/2
static const double FORGOTTEN = 1e-7; // a multiplier that is zero, up to the root of rounding
static const double DOUBLE = 3e-8;    // of 1/period: a zero that is double may be off by the root of rounding

typedef struct instant { double t; int k; bool effect; } instant;

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the modes of a model with controllers");
}

static int by_time(const void *a, const void *b) {
    const instant *x = a, *y = b;
    if (x->t != y->t) return x->t < y->t ? -1 : 1;
    return x->k != y->k ? x->k - y->k : y->effect - x->effect; // outputs on their way take effect first
}

// C = A B, n x n
static void multiply(const double *A, const double *B, double *C, int n) {
    carom_zero(C, (ptrdiff_t)n * n);
    for (int j = 0; j < n; ++j)
        for (int k = 0; k < n; ++k)
            if (B[k + j * n] != 0) carom_axpy(C + (size_t)j * (size_t)n, B[k + j * n], A + (size_t)k * (size_t)n, n);
}

// E = exp(h A) by scaling, squaring and a diagonal Pade approximant; work: 4 n^2, pivot: n.
static bool exponential(const double *A, double h, double *E, int n, double *work, int *pivot) {
    const size_t nn = (size_t)n * (size_t)n;
    double *X = work, *P = X + nn, *D = P + nn, *Y = D + nn, size = 0, c = 1;
    for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int i = 0; i < n; ++i) sum += fabs(h * A[i + j * n]);
        size = fmax(size, sum);
    }
    if (!isfinite(size)) return false;
    int halvings = 0;
    frexp(size, &halvings);
    halvings = halvings > -1 ? halvings + 1 : 0;
    const double s = ldexp(h, -halvings);
    carom_zero(E, (ptrdiff_t)nn), carom_zero(D, (ptrdiff_t)nn), carom_zero(P, (ptrdiff_t)nn);
    for (int i = 0; i < n; ++i) E[i * (n + 1)] = D[i * (n + 1)] = P[i * (n + 1)] = 1;
    for (size_t i = 0; i < nn; ++i) X[i] = s * A[i];
    for (int k = 1; k <= PADE; ++k) {
        c *= (double)(PADE - k + 1) / (double)(k * (2 * PADE - k + 1));
        multiply(X, P, Y, n);
        carom_copy(P, Y, (ptrdiff_t)nn);
        carom_axpy(E, c, P, (ptrdiff_t)nn);
        carom_axpy(D, k % 2 ? -c : c, P, (ptrdiff_t)nn);
    }
    if (!carom_dense_lu(D, n, n, 0, pivot)) return false;
    for (int j = 0; j < n; ++j) carom_dense_lu_solve(D, n, n, pivot, E + (size_t)j * (size_t)n);
    for (int k = 0; k < halvings; ++k) multiply(E, E, Y, n), carom_copy(E, Y, (ptrdiff_t)nn);
    return true;
}

// The shortest time that is a whole number of samples of each.
static carom_status common(const carom_system *s, double *period, carom_error *err) {
    for (int i = 1; i <= MOST_RATIO; ++i) {
        bool all = true;
        for (int k = 0; k < s->signals->nsamplers && all; ++k) {
            const double n = i * s->signals->samplers[0].sample / s->signals->samplers[k].sample;
            all = fabs(n - round(n)) <= CAROM_INSTANT * n && round(n) > 0;
        }
        *period = i * s->signals->samplers[0].sample;
        if (all) return CAROM_OK;
    }
    return carom_fail(err, CAROM_UNSUPPORTED,
                      "the sample times of the controllers have no common multiple within %d samples of '%.60s': there "
                      "are no modes",
                      MOST_RATIO, s->signals->samplers[0].name);
}

static carom_status list_instants(const carom_system *s, double period, instant **list, int *count, carom_error *err) {
    double all = 0;
    for (int k = 0; k < s->signals->nsamplers; ++k) all += 2 * round(period / s->signals->samplers[k].sample);
    if (all > MOST_INSTANTS)
        return carom_fail(err, CAROM_UNSUPPORTED, "controllers sample too often in their common period of %g", period);
    *list = calloc((size_t)all + 1, sizeof **list);
    if (!*list) return no_memory(err);
    for (int k = 0; k < s->signals->nsamplers; ++k) {
        const carom_sampler *c = &s->signals->samplers[k];
        for (int i = 0; i < lround(period / c->sample); ++i)
            for (int effect = 0; effect < (c->delay > 0 ? 2 : 1); ++effect) {
                double t = fmod(c->offset + i * c->sample + (effect ? c->delay : 0), period);
                if (period - t <= CAROM_INSTANT * period) t = 0;
                for (int j = 0; j < *count; ++j) // the same instant, up to rounding
                    if (fabs((*list)[j].t - t) <= CAROM_INSTANT * period) t = (*list)[j].t;
                (*list)[(*count)++] = (instant){t, k, effect};
            }
    }
    qsort(*list, (size_t)*count, sizeof **list, by_time);
    return CAROM_OK;
}

// (SMP-2)  Row by row: what controller k makes of x, in S (n x n).
static void act(const carom_linear *l, const instant *a, const double *Z, int m, double *S, int n) {
    const carom_point *p = &l->grip.p;
    const carom_steady *c = &l->steady;
    const int nset = carom_model_system(p->model)->signals->nset, nv = p->nv;
    const carom_control_place at = carom_model_control(p->model, a->k);
    carom_zero(S, (ptrdiff_t)n * n);
    for (int i = 0; i < n; ++i) S[i * (n + 1)] = 1;
    for (int i = 0; i < at.noutputs + (a->effect ? 0 : at.nstates); ++i) {
        const bool output = i < at.noutputs;
        // c by signal: outputs on their way have the row of the output
        const int of = (output ? at.output + i : at.state + i - at.noutputs) - nset,
                  row = 2 * m + (output && at.delayed && !a->effect ? at.pending + i - nset : of);
        S[row + row * n] = 0;
        if (a->effect) {
            S[row + (2 * m + at.pending + i - nset) * n] = 1;
            continue;
        }
        for (int j = 0; j < m; ++j)
            for (int v = 0; v < nv; ++v) {
                const double z = Z[v + j * nv];
                S[row + j * n] += c->H[of + v * c->m] * z, S[row + (m + j) * n] += c->V[of + v * c->m] * z;
            }
        for (int j = 0; j < c->m; ++j) S[row + (2 * m + j) * n] += c->C[of + j * c->m];
    }
}

static carom_status product(const carom_linear *l, const instant *list, int count, double period, const double *A,
                            const double *Z, int m, double *M, carom_error *err) {
    const int nz = l->steady.m, n = 2 * m + nz;
    const size_t nn = (size_t)n * (size_t)n;
    double *work = calloc(7 * nn + 1, sizeof *work), *whole = work + 4 * nn, *E = whole + nn, *Y = E + nn, t = 0;
    int *pivot = calloc((size_t)n + 1, sizeof *pivot);
    carom_status status = work && pivot ? CAROM_OK : no_memory(err);
    for (int j = 0; j < n && status == CAROM_OK; ++j) {
        carom_copy(whole + (size_t)j * (size_t)n, A + (size_t)j * 2 * (size_t)m, 2 * m);
        M[j * (n + 1)] = 1;
    }
    for (int i = 0; i <= count && status == CAROM_OK; ++i) {
        const double to = i < count ? list[i].t : period;
        if (to > t) {
            if (!exponential(whole, to - t, E, n, work, pivot))
                status = carom_fail(err, CAROM_SINGULAR, "the motion between two samples has no finite value");
            multiply(E, M, Y, n), carom_copy(M, Y, (ptrdiff_t)nn);
        }
        t = to;
        if (i == count) break;
        act(l, &list[i], Z, m, E, n);
        multiply(E, M, Y, n), carom_copy(M, Y, (ptrdiff_t)nn);
    }
    free(work), free(pivot);
    return status;
}

// Of a pair LAPACK's two columns are real and imaginary part.
static void put(carom_spectrum *s, double mu, double nu, const double *vector, int n, const double *Z, int m, int nv,
                double period) {
    s->re[s->n] = log(hypot(mu, nu)) / period, s->im[s->n] = atan2(nu, mu) / period;
    double *shape = s->shape + 2 * (size_t)s->n++ * (size_t)nv;
    for (int side = 0; side < (nu != 0 ? 2 : 1); ++side)
        for (int j = 0; j < m; ++j)
            carom_axpy(shape + side * nv, vector[side * n + j], Z + (size_t)j * (size_t)nv, nv);
}

static carom_status spectrum(carom_spectrum *s, const carom_linear *l, double period, const double *M, const double *Z,
                             int m, int *forgotten, carom_error *err) {
    const int n = 2 * m + l->steady.m, nv = l->grip.p.nv;
    const size_t nn = (size_t)n * (size_t)n;
    double *re = calloc(2 * (size_t)n + 2 * nn + 1, sizeof *re), *im = re + n, *V = im + n, *copy = V + nn;
    if (!re) return no_memory(err);
    carom_copy(copy, M, (ptrdiff_t)nn);
    const carom_status status = carom_eigen(copy, n, re, im, V, err);
    for (int i = 0; i < n && status == CAROM_OK; ++i) {
        if (hypot(re[i], im[i]) <= FORGOTTEN) ++*forgotten;
        else if (im[i] >= 0) put(s, re[i], im[i], V + (size_t)i * (size_t)n, n, Z, m, nv, period);
    }
    // of multipliers near 1, as of eigenvalues (dense.c)
    s->rounding = 64 * DBL_EPSILON / period, s->tiny = DOUBLE / period;
    free(re);
    return status;
}

carom_status carom_spectrum_sampled(carom_spectrum *s, const carom_linear *l, double *period, int *forgotten,
                                    carom_error *err) {
    const carom_point *p = &l->grip.p;
    const carom_system *sys = carom_model_system(p->model);
    if (l->frame || l->drift)
        return carom_fail(err, CAROM_UNSUPPORTED,
                          "modes of a mechanism with controllers need a state at rest, or one in which nothing turns");
    CAROM_TRY(common(sys, period, err));
    double *A = NULL, *Z = NULL, *M = NULL;
    instant *list = NULL;
    int m = 0, count = 0;
    carom_status status = carom_linear_reduce(l, l->steady.F, l->steady.m, &m, &A, &Z, err);
    const size_t n = (size_t)(2 * m + l->steady.m), nv = (size_t)p->nv;
    if (status == CAROM_OK) status = list_instants(sys, *period, &list, &count, err);
    if (status == CAROM_OK) {
        M = calloc(n * n + 1, sizeof *M);
        s->re = calloc(n + 1, sizeof *s->re), s->im = calloc(n + 1, sizeof *s->im),
        s->shape = calloc(2 * n * nv + 1, sizeof *s->shape);
        if (!M || !s->re || !s->im || !s->shape) status = no_memory(err);
    }
    if (status == CAROM_OK) status = product(l, list, count, *period, A, Z, m, M, err);
    if (status == CAROM_OK) status = spectrum(s, l, *period, M, Z, m, forgotten, err);
    free(A), free(Z), free(M), free(list);
    return status;
}

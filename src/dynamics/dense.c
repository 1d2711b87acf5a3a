// dense.c: all eigenvalues of small linear equations, by LAPACK.
//
//     x = Z y with in'Z = 0, Y'out = 0:   Y'M Z y'' + Y'(C Z - M N Z) y' + Y'(K Z - C N Z) y = 0                (MOD-1)
//
// with x' = v - v_0 + N x, as a first-order system in time units of the fastest mode.
#include "dynamics/dynamics.h"
#include "dynamics/lapack.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double TURNS = 1e-7;  // of directions and rates: joints and contacts turn with the motion by more
static const double SLOWEST = 1e-6, SLOW = 1e-4, FAST = 1e-2; // of the fastest eigenvalue: below SLOW digits are lost
                                                              // beside it; the gap between slow and fast ones lies
                                                              // between the others
static const double SHIFT = 1.0371e-4; // of the fastest: among the slow ones, and none of them by chance
static const double TINY = 1e-6;   // of the shift: an eigenvalue that is zero
static const double NOTHING = 64 * DBL_EPSILON; // (MOD-4)  of the terms of a force: rounding
static const double DOUBLE = 3e-7; // of the fastest: a zero that is double may be off by the root of rounding

typedef struct dense {
    carom_lapack lapack;
    const carom_linear *l;
    int nv, m;        // velocities, freedoms
    double *Z, *Y;    // nv x nv, the last m columns count
    double *P, *Q;    // m x 3 m: M, K, C projected; m x 5 m: scratch
    double *A, *vr, *work;
    double *x, *y, *z; // nv
    int *pivot;
    carom_error *err;
} dense;

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the eigenvalues");
}

// An orthonormal basis of what is perpendicular to all rows, `in` or `out`: the columns of U from *rank on.
static carom_status complement(dense *d, bool out, double *U, int *rank) {
    const carom_grip *h = &d->l->grip;
    const int nv = d->nv, n = carom_grip_all(h), room = 5 * (nv + n) + 64, one = 1;
    for (int i = 0; i < nv * nv; ++i) U[i] = i % (nv + 1) == 0;
    *rank = 0;
    if (n == 0) return CAROM_OK;
    double *a = calloc((size_t)nv * (size_t)n + (size_t)nv + (size_t)n + (size_t)room, sizeof *a), none[1];
    if (!a) return no_memory(d->err);
    double *s = a + (size_t)nv * (size_t)n, *work = s + nv + n;
    for (int k = 0; k < n; ++k) {
        double *column = a + (size_t)k * (size_t)nv;
        carom_grip_row(h, k, out ? d->x : column, out ? column : d->x);
        const double length = carom_length(column, nv);
        for (int i = 0; i < nv; ++i) column[i] = length > 0 ? column[i] / length : 0;
    }
    int info = 0;
    d->lapack.dgesvd("A", "N", &nv, &n, a, &nv, s, U, &nv, none, &one, work, &room, &info, 1, 1);
    while (*rank < n && *rank < nv && s[*rank] > CAROM_DEPENDENT * s[0]) ++*rank;
    free(a);
    return info == 0
               ? CAROM_OK
               : carom_fail(d->err, CAROM_SINGULAR, "the directions of joints and contacts could not be decomposed");
}

// Column j of (MOD-1): Y'(A Z_j - B N Z_j); B may be the same as none.
static void project(dense *d, int j, carom_linear_part A, const double *Nz, carom_linear_part B, double *to) {
    const int nv = d->nv, first = nv - d->m;
    carom_linear_multiply(d->l, A, d->Z + (size_t)(first + j) * (size_t)nv, d->y);
    if (Nz) {
        carom_linear_multiply(d->l, B, Nz, d->x);
        carom_axpy(d->y, -1, d->x, nv);
    }
    for (int i = 0; i < d->m; ++i) to[i] = carom_dot(d->Y + (size_t)(first + i) * (size_t)nv, d->y, nv);
}

// Do joints and contacts turn with the motion?  Then frozen coefficients do not exist.
static carom_status check_drift(dense *d) {
    const carom_linear *l = d->l;
    for (int k = 0; l->drift && k < carom_grip_all(&l->grip); ++k) {
        const double *D = l->drift + (size_t)k * (size_t)d->nv;
        const double most = carom_norm_max(D, d->nv);
        carom_grip_row(&l->grip, k, d->x, d->y);
        for (int j = d->nv - d->m; most > 0 && j < d->nv; ++j)
            if (fabs(carom_dot(D, d->Z + (size_t)j * (size_t)d->nv, d->nv)) >
                TURNS * carom_norm_max(d->x, d->nv) * carom_point_largest(&l->grip.p, l->grip.p.v, d->nv))
                return carom_fail(d->err, CAROM_UNSUPPORTED,
                                  "joints or contacts turn with the motion in this state, so that the linearised "
                                  "equations change with time; "
                                  "linearise about an equilibrium, or write the model in coordinates of the joints");
    }
    return CAROM_OK;
}

static carom_status reduce(dense *d) {
    const carom_linear *l = d->l;
    const int nv = d->nv;
    int right = 0, left = 0;
    CAROM_TRY(complement(d, false, d->Z, &right));
    CAROM_TRY(complement(d, true, d->Y, &left));
    d->m = nv - right;
    const size_t m = (size_t)d->m;
    if (left != right)
        return carom_fail(
            d->err, CAROM_SINGULAR,
            "the linearisation is singular: a sliding contact jams, its friction blocks its own normal motion");
    if (m == 0) return CAROM_OK;
    CAROM_TRY(check_drift(d));
    for (int j = 0; j < d->m; ++j) {
        const double *Nz = NULL;
        if (l->frame) {
            carom_zero(d->z, nv);
            for (int k = 0; k < nv; ++k)
                carom_axpy(d->z, d->Z[(size_t)k + (size_t)(nv - d->m + j) * (size_t)nv],
                           l->frame + (size_t)k * (size_t)nv, nv);
            Nz = d->z;
        }
        project(d, j, CAROM_LINEAR_M, NULL, CAROM_LINEAR_M, d->P + (size_t)j * m);
        project(d, j, CAROM_LINEAR_K, Nz, CAROM_LINEAR_C, d->P + (m + (size_t)j) * m);
        project(d, j, CAROM_LINEAR_C, Nz, CAROM_LINEAR_M, d->P + (2 * m + (size_t)j) * m);
    }
    return CAROM_OK;
}

static double row_norm(const double *A, int m) {
    double most = 0;
    for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int j = 0; j < m; ++j) sum += fabs(A[i + (size_t)j * (size_t)m]);
        most = fmax(most, sum);
    }
    return most;
}

// (lambda^2 A + lambda B + C) y = 0 as a standard problem for (y, lambda y/w).  Vectors stay in d->vr.  Returns w, the
// scale of the largest; 0: A is singular.
static double quadratic(dense *d, const double *A, const double *B, const double *C, double *re, double *im,
                        carom_status *status) {
    const int m = d->m, n = 2 * m, one = 1, room = 12 * n + 64;
    const size_t mm = (size_t)m * (size_t)m;
    double *lu = d->Q, *X = lu + mm, *Y = X + mm, none[1];
    int info = 0;
    carom_copy(lu, A, (ptrdiff_t)mm), carom_copy(X, C, (ptrdiff_t)mm), carom_copy(Y, B, (ptrdiff_t)mm);
    d->lapack.dgesv(&m, &n, lu, &m, d->pivot, X, &m, &info);
    double w = info == 0 ? fmax(sqrt(row_norm(X, m)), row_norm(Y, m)) : NAN;
    if (!isfinite(w)) return 0;
    if (w == 0) w = 1;
    carom_zero(d->A, (ptrdiff_t)n * n);
    for (int j = 0; j < m; ++j) {
        d->A[j + (size_t)(m + j) * (size_t)n] = 1;
        for (int i = 0; i < m; ++i) {
            d->A[m + i + (size_t)j * (size_t)n] = -X[i + (size_t)j * (size_t)m] / (w * w);
            d->A[m + i + (size_t)(m + j) * (size_t)n] = -Y[i + (size_t)j * (size_t)m] / w;
        }
    }
    d->lapack.dgeev("N", "V", &n, d->A, &n, re, im, none, &one, d->vr, &n, d->work, &room, &info, 1, 1);
    if (info != 0)
        *status =
            carom_fail(d->err, CAROM_NOT_CONVERGED, "the eigenvalues did not converge (LAPACK's dgeev: %d)", info);
    for (int i = 0; i < n; ++i) re[i] *= w, im[i] *= w;
    return w;
}

// Displacement k of those in d->vr goes to shape `to`: of a pair, LAPACK's two columns are the real and the imaginary
// part.
static void put_shape(dense *d, int k, double im, bool conjugate, double *to) {
    const int nv = d->nv, n = 2 * d->m;
    const bool second = im < 0;
    const double *part[] = {d->vr + (size_t)(second ? k - 1 : k) * (size_t)n,
                            im != 0 ? d->vr + (size_t)(second ? k : k + 1) * (size_t)n : NULL};
    carom_zero(to, 2 * nv);
    for (int side = 0; side < 2 && part[side]; ++side)
        for (int i = 0; i < d->m; ++i)
            carom_axpy(to + side * nv, (side && second != conjugate ? -1 : 1) * part[side][i],
                       d->Z + (size_t)(nv - d->m + i) * (size_t)nv, nv);
}

static int by_size(const void *a, const void *b) {
    const double *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

// How many eigenvalues belong to the slow ones: up to the widest gap between SLOWEST and FAST of the fastest.  0: none
// is that slow.
static int slow(const double *re, const double *im, int n, double w, double *sorted) {
    int best = 0;
    double widest = 1;
    for (int i = 0; i < n; ++i) sorted[i] = hypot(re[i], im[i]);
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    if (!(sorted[0] < SLOW * w)) return 0;
    for (int i = 0; i < n; ++i) {
        const double next = i + 1 < n ? sorted[i + 1] : FAST * w,
                     ratio = fmin(next, FAST * w) / fmax(sorted[i], SLOWEST * w);
        if (ratio > widest) widest = ratio, best = i + 1;
    }
    return best;
}

// The slow ones again, with lambda = sigma + 1/nu: fast modes of light parts take the digits of slow ones, and the
// other way round.
//     (nu^2 (K + sigma C + sigma^2 M) + nu (C + 2 sigma M) + M) y = 0                                           (MOD-3)
static carom_status again(dense *d, carom_spectrum *s, double w, int count, double *sorted) {
    const int m = d->m, n = 2 * m;
    const size_t mm = (size_t)m * (size_t)m;
    const double sigma = SHIFT * w;
    double *M = d->P, *K = M + mm, *C = K + mm, *S = d->Q + 3 * mm, *T = S + mm, *re = sorted + 2 * n, *im = re + n;
    carom_status status = CAROM_OK;
    for (size_t i = 0; i < mm; ++i) S[i] = K[i] + sigma * (C[i] + sigma * M[i]), T[i] = C[i] + 2 * sigma * M[i];
    if (quadratic(d, S, T, M, re, im, &status) == 0 || status != CAROM_OK) return status; // what is known is the best
    for (int i = 0; i < n; ++i) { // pairs of size and number
        const double size = re[i] * re[i] + im[i] * im[i];
        re[i] = sigma + (size > 0 ? re[i] / size : HUGE_VAL), im[i] = size > 0 ? -im[i] / size : 0;
        sorted[2 * i] = hypot(re[i], im[i]), sorted[2 * i + 1] = i;
    }
    qsort(sorted, (size_t)n, 2 * sizeof *sorted, by_size);
    for (int k = 0; k < count; ++k) {
        const int i = (int)sorted[2 * k + 1];
        s->re[k] = re[i], s->im[k] = im[i];
        // 1/nu of a pair has its conjugate's vector
        put_shape(d, i, -im[i], true, s->shape + 2 * (size_t)k * (size_t)d->nv);
    }
    s->tiny = TINY * sigma;
    return CAROM_OK;
}

static carom_status eigenvalues(dense *d, carom_spectrum *s) {
    const int m = d->m, n = 2 * m;
    const size_t mm = (size_t)m * (size_t)m;
    double *re = calloc(6 * (size_t)n, sizeof *re), *im = re + n, *sorted = im + n;
    if (!re) return no_memory(d->err);
    carom_status status = CAROM_OK;
    const double w = quadratic(d, d->P, d->P + 2 * mm, d->P + mm, re, im, &status);
    if (w == 0) {
        free(re);
        return carom_fail(
            d->err, CAROM_SINGULAR,
            "the linearisation is singular: the mass matrix that joints and contacts leave cannot be inverted; "
            "a sliding contact may jam");
    }
    const int low = status == CAROM_OK ? slow(re, im, n, w, sorted) : 0;
    const double limit = low > 0 ? sorted[low - 1] : -1;
    s->n = low;
    for (int i = 0; status == CAROM_OK && i < n; ++i) {
        if (hypot(re[i], im[i]) <= limit) continue;
        s->re[s->n] = re[i], s->im[s->n] = im[i];
        put_shape(d, i, im[i], false, s->shape + 2 * (size_t)s->n++ * (size_t)d->nv);
    }
    s->rounding = 64 * DBL_EPSILON * w; // as NOTHING
    s->tiny = DOUBLE * w;
    if (status == CAROM_OK && low > 0) status = again(d, s, w, low, sorted);
    free(re);
    return status;
}

// (MOD-1) solved for the accelerations, with nz columns F of forces behind it.
static carom_status first_order(dense *d, const double *F, int nz, double *A) {
    const int m = d->m, n = 2 * m, nv = d->nv, many = 2 * m + nz;
    const size_t mm = (size_t)m * (size_t)m;
    double *X = calloc((size_t)m * (size_t)many + 1, sizeof *X);
    int info = 0;
    if (!X) return no_memory(d->err);
    for (size_t i = 0; i < mm; ++i) X[i] = -d->P[mm + i], X[mm + i] = -d->P[2 * mm + i];
    for (int j = 0; j < nz; ++j)
        for (int i = 0; i < m; ++i)
            X[2 * mm + (size_t)j * (size_t)m + (size_t)i] =
                carom_dot(d->Y + (size_t)(nv - m + i) * (size_t)nv, F + (size_t)j * (size_t)nv, nv);
    d->lapack.dgesv(&m, &many, d->P, &m, d->pivot, X, &m, &info);
    for (int j = 0; j < many && info == 0; ++j)
        for (int i = 0; i < m; ++i) {
            double *to = A + (size_t)j * (size_t)n;
            to[i] = j == m + i, to[m + i] = X[(size_t)j * (size_t)m + (size_t)i];
        }
    free(X);
    return info == 0 ? CAROM_OK
                     : carom_fail(d->err, CAROM_SINGULAR,
                                  "the linearisation is singular: the mass matrix that joints and contacts leave "
                                  "cannot be inverted; a sliding contact may jam");
}

carom_status carom_linear_reduce(const carom_linear *l, const double *F, int nz, int *m, double **A, double **Z,
                                 carom_error *err) {
    const size_t nv = (size_t)l->grip.p.nv, n = 2 * nv;
    dense d = {.l = l, .nv = (int)nv, .err = err};
    *A = *Z = NULL, *m = 0;
    CAROM_TRY(carom_lapack_load(&d.lapack, err));
    double *block = calloc(5 * nv * nv + 3 * nv, sizeof *block);
    d.pivot = calloc(nv, sizeof *d.pivot);
    *A = calloc(n * (n + (size_t)nz) + 1, sizeof **A), *Z = calloc(nv * nv + 1, sizeof **Z);
    carom_status status = block && d.pivot && *A && *Z ? CAROM_OK : no_memory(err);
    if (status == CAROM_OK) {
        d.Z = block, d.Y = d.Z + nv * nv, d.P = d.Y + nv * nv, d.x = d.P + 3 * nv * nv, d.y = d.x + nv, d.z = d.y + nv;
        status = reduce(&d);
    }
    *m = d.m;
    if (status == CAROM_OK && d.m > 0) status = first_order(&d, F, nz, *A);
    if (status == CAROM_OK) carom_copy(*Z, d.Z + (nv - (size_t)d.m) * nv, (ptrdiff_t)d.m * (ptrdiff_t)nv);
    free(block), free(d.pivot);
    return status;
}

carom_status carom_spectrum_dense(carom_spectrum *s, const carom_linear *l, carom_error *err) {
    const size_t nv = (size_t)l->grip.p.nv, n = 2 * nv;
    dense d = {.l = l, .nv = (int)nv, .err = err};
    CAROM_TRY(carom_lapack_load(&d.lapack, err));
    double *block = calloc(10 * nv * nv + 2 * n * n + 12 * n + 64 + 3 * nv, sizeof *block);
    d.pivot = calloc(nv, sizeof *d.pivot);
    s->re = calloc(n, sizeof *s->re), s->im = calloc(n, sizeof *s->im), s->shape = calloc(2 * n * nv, sizeof *s->shape);
    carom_status status = block && d.pivot && s->re && s->im && s->shape ? CAROM_OK : no_memory(err);
    if (status == CAROM_OK) {
        d.Z = block, d.Y = d.Z + nv * nv, d.P = d.Y + nv * nv, d.Q = d.P + 3 * nv * nv, d.A = d.Q + 5 * nv * nv,
        d.vr = d.A + n * n, d.work = d.vr + n * n;
        d.x = d.work + 12 * n + 64, d.y = d.x + nv, d.z = d.y + nv;
        status = reduce(&d);
    }
    if (status == CAROM_OK && d.m > 0) status = eigenvalues(&d, s);
    free(block);
    free(d.pivot);
    return status;
}

// (MOD-4)  Right singular vectors of K, in units of masses and of the terms of each force, whose singular values are
//          rounding.
static carom_status motionless(dense *d, double *shapes, int *count) {
    const int m = d->m, nv = d->nv, room = 16 * m + 64, one = 1;
    const size_t mm = (size_t)m * (size_t)m;
    double *M = d->P, *K = M + mm, *V = d->Q, *row = d->work, *unit = row + m, *s = unit + m, *work = s + m, none[1];
    double most = 0;
    int info = 0;
    for (int i = 0; i < m; ++i) unit[i] = M[(size_t)i * (size_t)(m + 1)] > 0 ? sqrt(M[(size_t)i * (size_t)(m + 1)]) : 1;
    for (int i = 0; i < m; ++i) row[i] = 0;
    for (size_t k = 0; k < mm; ++k) K[k] /= unit[k % (size_t)m] * unit[k / (size_t)m], row[k % (size_t)m] += fabs(K[k]);
    for (int i = 0; i < m; ++i) most = fmax(most, row[i]);
    for (size_t k = 0; k < mm; ++k) {
        const double terms = m < nv ? most : row[k % (size_t)m]; // constraints mix the forces
        K[k] = terms > 0 ? K[k] / terms : 0;
    }
    d->lapack.dgesvd("N", "A", &m, &m, K, &m, s, none, &one, V, &m, work, &room, &info, 1, 1);
    if (info != 0) return carom_fail(d->err, CAROM_SINGULAR, "the stiffness could not be decomposed");
    for (int k = 0; k < m; ++k) {
        if (!(s[k] <= NOTHING)) continue;
        double *to = shapes + (size_t)(*count)++ * (size_t)nv;
        carom_zero(to, nv);
        for (int i = 0; i < m; ++i)
            carom_axpy(to, V[k + i * m] / unit[i], d->Z + (size_t)(nv - m + i) * (size_t)nv, nv);
    }
    return CAROM_OK;
}

carom_status carom_linear_motionless(const carom_linear *l, double *shapes, int *count, carom_error *err) {
    const size_t nv = (size_t)l->grip.p.nv;
    dense d = {.l = l, .nv = (int)nv, .err = err};
    *count = 0;
    CAROM_TRY(carom_lapack_load(&d.lapack, err));
    double *block = calloc(8 * nv * nv + 22 * nv + 64, sizeof *block);
    if (!block) return no_memory(err);
    d.Z = block, d.Y = d.Z + nv * nv, d.P = d.Y + nv * nv, d.Q = d.P + 3 * nv * nv, d.x = d.Q + 3 * nv * nv;
    d.y = d.x + nv, d.z = d.y + nv, d.work = d.z + nv;
    carom_status status = reduce(&d);
    if (status == CAROM_OK && d.m > 0) status = motionless(&d, shapes, count);
    free(block);
    return status;
}

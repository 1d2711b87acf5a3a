// follow_crossing.c: where two branches cross, as the solution of regular equations.
//
// There the derivatives J of the n equations by their N = n + 1 unknowns z lack a rank, and a solution is known to
// eps/d at the distance d only.  With one more unknown beta
//
//     F(z) + beta psi = 0,   g_1(z) = g_2(z) = 0,   [J b; C' 0]' (psi; g_1; g_2) = (0; 1)  (FOL-7)
//
// has a unique solution, and beta = 0: psi'J = 0 where both g vanish.  b and C (N x 2) are null vectors at the first
// guess.  Directions of both branches, w = w_1 alpha_1 + w_2 alpha_2 with J w_i = 0:
//
//     sum_ij alpha_i alpha_j psi.(dJ/dz w_i) w_j = 0  (FOL-8)
#include "dynamics/border.h"
#include "dynamics/follow.h"
#include "linalg/dense.h"
#include <math.h>
#include <stdlib.h>

static const double DELTA = 1e-5, BEND = 1e-4;   // in units of tau: differences of g, of J
static const double GOOD = 1e-11, ENOUGH = 1e-8; // of a correction: to end with; where it falls no further
static const double FARTHEST = 0.3;              // of a correction, in units of tau
static const double CUT = 1e-14;                 // of a matrix that has cancelled
enum { NEWTON = 12, DERIVATIVES = 3 };           // rounds; those with new derivatives

typedef struct extended {
    follow_walk *w;
    int n, N;                                       // equations, unknowns
    double *F, *J, *K, *S, *b, *C, *y, *A, *B, *z, *g_z, *by; // S: ntau x N, unknowns as tangents; g_z: 2 x N
    int *pivot;
    double beta, g[2];
} extended;

// K = [J b; C' 0], or its transpose
static bool factorise(extended *x, bool transposed) {
    const int n = x->n, N = x->N, M = N + 1;
    carom_zero(x->K, (ptrdiff_t)M * M);
    for (int j = 0; j < N; ++j) {
        for (int i = 0; i < n; ++i) x->K[transposed ? j + i * M : i + j * M] = x->J[i + j * n];
        for (int i = 0; i < 2; ++i) x->K[transposed ? j + (n + i) * M : n + i + j * M] = x->C[j + i * N];
    }
    for (int i = 0; i < n; ++i) x->K[transposed ? N + i * M : i + N * M] = x->b[i];
    return carom_dense_lu(x->K, M, M, CUT, x->pivot);
}

static carom_status derivatives(extended *x) {
    int N = 0;
    CAROM_TRY(x->w->k.equations(x->w->k.user, x->F, x->J, &N));
    return N == x->N ? CAROM_OK : carom_fail(x->w->err, CAROM_NOT_CONVERGED, "other contacts are closed");
}

// F, J, psi and g, at the solution as it is.
static carom_status evaluate(extended *x) {
    CAROM_TRY(derivatives(x));
    carom_zero(x->y, x->N + 1);
    x->y[x->N] = 1;
    if (!factorise(x, true)) return carom_fail(x->w->err, CAROM_SINGULAR, "more than two branches meet");
    carom_dense_lu_solve(x->K, x->N + 1, x->N + 1, x->pivot, x->y);
    x->g[0] = x->y[x->n], x->g[1] = x->y[x->n + 1];
    return CAROM_OK;
}

// A change of the unknowns as a tangent.
static void spread(extended *x, const double *z, double *tau) {
    const int ntau = x->w->k.ntau;
    carom_zero(tau, ntau);
    for (int j = 0; j < x->N; ++j) carom_axpy(tau, z[j], x->S + (size_t)j * (size_t)ntau, ntau);
}

// Borders from the equations bordered by tau.
static carom_status begin(extended *x, const double *tau) {
    const follow_walk *w = x->w;
    const int n = x->n, N = x->N;
    for (int j = 0; j < N; ++j) {
        carom_zero(x->z, N);
        x->z[j] = 1;
        w->k.spread(w->k.user, x->z, x->S + (size_t)j * (size_t)w->k.ntau);
        for (int i = 0; i < n; ++i) x->K[i + j * N] = x->J[i + j * n];
        x->C[j] = x->K[n + j * N] = carom_dot(tau, x->S + (size_t)j * (size_t)w->k.ntau, w->k.ntau);
    }
    return carom_null_vector(x->K, N, false, x->C + N) && carom_null_vector(x->K, N, true, x->b)
               ? CAROM_OK
               : follow_no_memory(w->err);
}

// Derivatives of g, by differences; the place stays.
static carom_status differentiate(extended *x, double *place) {
    follow_walk *w = x->w;
    w->k.save(w->k.user, place);
    for (int j = 0; j < x->N; ++j)
        for (int side = -1; side <= 1; side += 2) { // both rows may be nearly parallel
            CAROM_TRY(w->k.predict(w->k.user, x->S + (size_t)j * (size_t)w->k.ntau, side * DELTA));
            CAROM_TRY(evaluate(x));
            for (int i = 0; i < 2; ++i)
                x->g_z[i + 2 * j] = (side < 0 ? 0 : x->g_z[i + 2 * j]) + side * x->g[i] / (2 * DELTA);
            CAROM_TRY(w->k.restore(w->k.user, place));
        }
    return evaluate(x);
}

// (FOL-7)
static carom_status solve(extended *x, double *place) {
    follow_walk *w = x->w;
    const int n = x->n, N = x->N, M = N + 1;
    double last = INFINITY;
    for (int round = 0; round < NEWTON; ++round) {
        CAROM_TRY(evaluate(x));
        if (round < DERIVATIVES) CAROM_TRY(differentiate(x, place));
        for (int j = 0; j < N; ++j) {
            for (int i = 0; i < n; ++i) x->A[i + j * M] = x->J[i + j * n];
            for (int i = 0; i < 2; ++i) x->A[n + i + j * M] = x->g_z[i + 2 * j];
        }
        for (int i = 0; i < M; ++i) x->A[i + N * M] = i < n ? x->y[i] : 0;
        for (int i = 0; i < n; ++i) x->z[i] = -x->F[i] - x->beta * x->y[i];
        for (int i = 0; i < 2; ++i) x->z[n + i] = -x->g[i];
        if (!carom_dense_lu(x->A, M, M, CUT, x->pivot)) break;
        carom_dense_lu_solve(x->A, M, M, x->pivot, x->z);
        spread(x, x->z, x->by);
        const double far = carom_length(x->by, w->k.ntau);
        if (!(far < FARTHEST) || far > 2 * last) break; // it diverges
        x->beta += x->z[N];
        CAROM_TRY(w->k.predict(w->k.user, x->by, 1));
        // no longer halved: rounding is what is left
        if (far < GOOD || (far < ENOUGH && far > 0.5 * last)) return w->k.linearise(w->k.user);
        last = far;
    }
    return carom_fail(w->err, CAROM_NOT_CONVERGED, "a crossing of branches cannot be located");
}

// (FOL-8)  Both directions in units of tau, of length 1; the curve stands at the crossing.
static carom_status directions(extended *x, double *place, double *first, double *second) {
    follow_walk *w = x->w;
    const int n = x->n, N = x->N, ntau = w->k.ntau;
    double *null[2] = {x->A, x->A + N + 1}, *psi = x->B, *side = x->B + n, Q[2][2] = {{0}};
    CAROM_TRY(evaluate(x));
    carom_copy(psi, x->y, n);
    if (!factorise(x, false)) return carom_fail(w->err, CAROM_SINGULAR, "more than two branches meet");
    for (int i = 0; i < 2; ++i) {
        carom_zero(null[i], N + 1);
        null[i][n + i] = 1;
        carom_dense_lu_solve(x->K, N + 1, N + 1, x->pivot, null[i]);
        spread(x, null[i], i ? second : first);
        const double length = carom_length(i ? second : first, ntau);
        for (int k = 0; k < N; ++k) null[i][k] /= length;
        for (int k = 0; k < ntau; ++k) (i ? second : first)[k] /= length;
    }
    w->k.save(w->k.user, place);
    for (int i = 0; i < 8; ++i) { // differences of fourth order: (4 D(h/2) - D(h))/3
        const int to = i % 2, sign = i / 2 % 2 ? 1 : -1;
        const double h = i < 4 ? BEND : BEND / 2, weight = i < 4 ? -1.0 / 3 : 4.0 / 3;
        CAROM_TRY(w->k.predict(w->k.user, to ? second : first, sign * h));
        CAROM_TRY(derivatives(x));
        for (int k = 0; k < 2; ++k) {
            carom_zero(side, n);
            for (int j = 0; j < N; ++j) carom_axpy(side, null[k][j], x->J + (size_t)j * (size_t)n, n);
            Q[to][k] += weight * sign * carom_dot(psi, side, n) / (2 * h);
        }
        CAROM_TRY(w->k.restore(w->k.user, place));
    }
    const double a = Q[0][0], b = (Q[0][1] + Q[1][0]) / 2, c = Q[1][1], d = b * b - a * c;
    if (!(d > 0)) return carom_fail(w->err, CAROM_NOT_CONVERGED, "branches touch and do not cross");
    // roots of a alpha^2 + 2 b alpha beta + c beta^2, without cancellation
    const double q = -(b + (b < 0 ? -sqrt(d) : sqrt(d))), root[2][2] = {{q, a}, {c, q}};
    for (int i = 0; i < ntau; ++i) {
        const double u = first[i], v = second[i];
        first[i] = root[0][0] * u + root[0][1] * v, second[i] = root[1][0] * u + root[1][1] * v;
    }
    for (int i = 0; i < 2; ++i) {
        const double length = carom_length(i ? second : first, ntau);
        for (int k = 0; k < ntau; ++k) (i ? second : first)[k] /= length;
    }
    return w->k.linearise(w->k.user);
}

carom_status follow_cross_exactly(follow_walk *w, const double *tau, double *first, double *second) {
    const size_t n = (size_t)w->k.ntau + 3;
    double *own = calloc(6 * n * n + 12 * n + (size_t)w->k.nplace, sizeof *own), *at = own;
    int *pivot = calloc(n, sizeof *pivot);
    carom_status status = own && pivot ? CAROM_OK : follow_no_memory(w->err);
    if (status == CAROM_OK) {
        extended x = {.w = w, .pivot = pivot};
        double **square[] = {&x.J, &x.K, &x.S, &x.A, &x.B}, **row[] = {&x.F, &x.b, &x.y, &x.z, &x.by};
        for (size_t i = 0; i < sizeof square / sizeof *square; ++i) *square[i] = at, at += n * n;
        for (size_t i = 0; i < sizeof row / sizeof *row; ++i) *row[i] = at, at += n;
        x.C = at, at += 2 * n, x.g_z = at, at += 2 * n;
        status = w->k.equations(w->k.user, x.F, x.J, &x.N);
        x.n = x.N - 1;
        if (status == CAROM_OK) status = begin(&x, tau);
        if (status == CAROM_OK) status = solve(&x, at);
        if (status == CAROM_OK) status = directions(&x, at, first, second);
    }
    free(own), free(pivot);
    return status;
}

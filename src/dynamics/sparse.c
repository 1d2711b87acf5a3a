// sparse.c: the slowest eigenvalues of large linear equations, by ARPACK with a shift and KLU.
//
// z = (x, x') goes to y with (A - sigma B) y = B z: y_2 = z_1 + sigma y_1 and
//
//     [ K + sigma C + sigma^2 M   -out ] [ y_1 ]   [ -(C + sigma M) z_1 - M z_2 ]
//     [ in'                         0  ] [ mu  ] = [             0              ]                              (MOD-2)
//
// whose largest eigenvalues 1/(lambda - sigma) belong to the lambda next to sigma.
#include "base/grow.h"
#include "dynamics/dynamics.h"
#include "dynamics/lapack.h"
#include "linalg/matrix.h"
#include "sparse/pivots.h"
#include <math.h>
#include <stdlib.h>

static const double SHIFT = 1e-4;     // of a typical rate, and ten times more as long as the matrix is singular
static const double AT_SHIFT = 1e-4, TINY = 1e-5; // of the shift: eigenvalues that are not counted among those that are
                                                  // not zero; that are zero
static const double ROUNDING = 1e-10, NOTHING = 1e-9; // of the least that is not zero: what is left of real parts; an
                                                      // eigenvalue that is zero

typedef struct sparse {
    carom_arpack arpack;
    carom_linear *l;
    int nv, rows, *keep;  // rows that are independent
    size_t count;         // entries of (MOD-2)
    int *row, *col;
    double *value;
    carom_pattern *pattern;
    double *a;
    void *direct;
    double sigma, *x, *rhs;
    carom_error *err;
} sparse;

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the eigenvalues");
}

// Rows whose `in` does not depend on those before, by Gram and Schmidt; joints that are no rows of the contact problem
// are independent, and are taken off by (JND-1) with A = 1.
static carom_status choose(sparse *s) {
    carom_grip *h = &s->l->grip;
    const size_t nv = (size_t)s->nv;
    const int all = carom_grip_all(h);
    double *Q = calloc(nv * ((size_t)h->rows + 2) + (size_t)h->nj + 1, sizeof *Q);
    s->keep = calloc((size_t)all + 1, sizeof *s->keep);
    if (!Q || !s->keep) return free(Q), no_memory(s->err);
    double *joints = Q + nv * ((size_t)h->rows + 2);
    if (h->nj > 0 && h->rows > 0) {
        carom_matrix_zero(h->B);
        for (int i = 0; i < s->nv; ++i) *carom_matrix_entry(h->B, i, i) = 1;
        const carom_status status = carom_joined_factor(&h->joined, h->B, &h->p.L.W);
        if (status != CAROM_OK)
            return free(Q), carom_fail(s->err, status, "the directions of joints could not be decomposed");
    }
    int rank = 0;
    while (s->rows < h->nj) s->keep[s->rows] = s->rows, ++s->rows;
    for (int k = h->nj; k < all; ++k) {
        double *q = Q + (size_t)rank * nv;
        carom_grip_row(h, k, q, q + nv);
        const double before = carom_length(q, s->nv);
        for (int twice = 0; twice < 2; ++twice) {
            carom_zero(joints, h->nj);
            if (h->nj > 0) carom_joined_solve(&h->joined, q, joints);
            for (int i = 0; i < rank; ++i)
                carom_axpy(q, -carom_dot(q, Q + (size_t)i * nv, s->nv), Q + (size_t)i * nv, s->nv);
        }
        const double after = carom_length(q, s->nv);
        if (!(after > CAROM_DEPENDENT * before)) continue;
        for (int i = 0; i < s->nv; ++i) q[i] /= after;
        ++rank;
        s->keep[s->rows++] = k;
    }
    free(Q);
    return CAROM_OK;
}

static bool put(sparse *s, int i, int j, double x) {
    if (!CAROM_GROW(s->row, s->count) || !CAROM_GROW(s->col, s->count) || !CAROM_GROW(s->value, s->count)) return false;
    s->row[s->count] = i, s->col[s->count] = j, s->value[s->count++] = x;
    return true;
}

static bool put_matrix(sparse *s, carom_matrix A, double factor) {
    const carom_pattern *P = A.shape.storage == CAROM_SPARSE ? A.shape.pattern : NULL;
    const int band = P ? -1 : carom_shape_band(A.shape);
    bool good = true;
    for (int j = 0; P && j < s->nv; ++j)
        for (int e = P->start[j]; e < P->start[j + 1]; ++e)
            if (A.a[e] != 0 || P->row[e] == j) good = good && put(s, P->row[e], j, factor * A.a[e]);
    for (int j = 0; !P && j < s->nv; ++j)
        for (int i = j > band ? j - band : 0; i < s->nv && i <= j + band; ++i) {
            const double *x = carom_matrix_entry(A, i, j);
            if (x && (*x != 0 || i == j)) good = good && put(s, i, j, factor * *x);
        }
    return good;
}

static carom_status assemble(sparse *s) {
    const carom_linear *l = s->l;
    const carom_point *p = &l->grip.p;
    const int nv = s->nv, n = nv + s->rows;
    s->count = 0;
    bool good = put_matrix(s, p->K, 1) && put_matrix(s, p->C, s->sigma) && put_matrix(s, p->M, s->sigma * s->sigma);
    for (int r = 0; good && r < l->nrank; ++r)
        for (int j = 0; j < nv; ++j)
            for (int i = 0; i < nv && l->rank[r].right[j] != 0; ++i)
                if (l->rank[r].left[i] != 0)
                    good = good &&
                           put(s, i, j, (l->rank[r].rate ? s->sigma : 1) * l->rank[r].left[i] * l->rank[r].right[j]);
    const carom_columns *W = &p->L.W;
    for (int k = 0; good && k < l->grip.nj; ++k)
        for (int e = 0; e < W->count[k]; ++e) {
            const double x = W->a[(size_t)k * (size_t)W->stride + (size_t)e];
            const int i = carom_column_rows(W, k)[e];
            good = good && put(s, i, nv + k, -x) && put(s, nv + k, i, x);
        }
    for (int k = l->grip.nj; good && k < s->rows; ++k)
        for (int i = 0; i < nv; ++i) {
            const size_t at = (size_t)(s->keep[k] - l->grip.nj) * (size_t)nv + (size_t)i;
            if (l->grip.out[at] != 0) good = good && put(s, i, nv + k, -l->grip.out[at]);
            if (l->grip.in[at] != 0) good = good && put(s, nv + k, i, l->grip.in[at]);
        }
    if (!good) return no_memory(s->err);
    const carom_direct *klu = carom_direct_pivots();
    if (s->direct) klu->destroy(s->direct);
    carom_pattern_destroy(s->pattern);
    free(s->a);
    s->direct = NULL;
    s->pattern = carom_pattern_create(n, s->count, s->row, s->col, klu);
    s->a = s->pattern ? calloc((size_t)s->pattern->start[n] + 1, sizeof *s->a) : NULL;
    if (!s->a) return no_memory(s->err);
    for (size_t e = 0; e < s->count; ++e) s->a[carom_pattern_find(s->pattern, s->row[e], s->col[e])] += s->value[e];
    s->direct = klu->create(s->pattern, false);
    return s->direct ? klu->factorise(s->direct, s->a, NULL) : no_memory(s->err);
}

// A shift where (MOD-2) is regular: 0, or, where something can fly away, a little to the right.
static carom_status shift(sparse *s) {
    const carom_point *p = &s->l->grip.p;
    carom_status status = assemble(s);
    double stiff = 0, heavy = 0;
    for (int i = 0; i < s->nv; ++i)
        stiff += fabs(*carom_matrix_entry(p->K, i, i)), heavy += *carom_matrix_entry(p->M, i, i);
    for (double part = SHIFT; status == CAROM_SINGULAR && part < 1; part *= 10) {
        s->sigma = part * (stiff > 0 ? sqrt(stiff / heavy) : 1);
        status = assemble(s);
    }
    return status == CAROM_SINGULAR ? carom_fail(s->err, status,
                                                 "the linearisation is singular: its matrix cannot be inverted at any "
                                                 "shift; a sliding contact may jam")
                                    : status;
}

// y = (A - sigma B)^-1 B z.
static void apply(sparse *s, const double *z, double *y) {
    const int nv = s->nv;
    carom_linear_multiply(s->l, CAROM_LINEAR_C, z, s->rhs);
    carom_linear_multiply(s->l, CAROM_LINEAR_M, z, s->x);
    carom_axpy(s->rhs, s->sigma, s->x, nv);
    carom_linear_multiply(s->l, CAROM_LINEAR_M, z + nv, s->x);
    for (int i = 0; i < nv; ++i) s->rhs[i] = -s->rhs[i] - s->x[i];
    carom_zero(s->rhs + nv, s->rows);
    s->pattern->direct->solve(s->direct, s->rhs);
    for (int i = 0; i < nv; ++i) y[nv + i] = z[i] + s->sigma * s->rhs[i];
    carom_copy(y, s->rhs, nv);
}

static carom_status iterate(sparse *s, carom_spectrum *out, int count) {
    const int n = 2 * s->nv, nev = 2 * count + 2 < n - 2 ? 2 * count + 2 : n - 2, wide = 2 * nev + 20,
              ncv = wide < n ? wide : n, lworkl = 3 * ncv * (ncv + 2), vectors = 1;
    const double tol = 0, zero = 0;
    const size_t N = (size_t)n, V = (size_t)ncv;
    double *block = calloc(N + N * V + 3 * N + (size_t)lworkl + 3 * V + N * ((size_t)nev + 1) + 2 * V, sizeof *block);
    int *select = calloc(V, sizeof *select), ido = 0, info = 1, iparam[11] = {1, 0, 3000, 1, 0, 0, 1}, ipntr[14] = {0};
    if (!block || !select) return free(block), free(select), no_memory(s->err);
    double *resid = block, *v = resid + N, *workd = v + N * V, *workl = workd + 3 * N, *workev = workl + lworkl,
           *z = workev + 3 * V, *dr = z + N * ((size_t)nev + 1), *di = dr + V;
    unsigned seed = 5;
    for (int i = 0; i < n; ++i) seed = seed * 1664525u + 1013904223u, workd[i] = (double)(seed >> 8) / 8388608.0 - 1;
    apply(s, workd, resid); // a start that joints and contacts allow; the second time its rates, too
    apply(s, resid, workd);
    carom_copy(resid, workd, n);
    for (;;) {
        s->arpack.dnaupd(&ido, "I", &n, "LM", &nev, &tol, resid, &ncv, v, &n, iparam, ipntr, workd, workl, &lworkl,
                         &info, 1, 2);
        if (ido != 1 && ido != -1) break;
        apply(s, workd + ipntr[0] - 1, workd + ipntr[1] - 1);
    }
    carom_status status = CAROM_OK;
    if (info < 0 || iparam[4] < 2)
        status =
            carom_fail(s->err, CAROM_NOT_CONVERGED, "the eigenvalues did not converge (ARPACK's dnaupd: %d)", info);
    if (status == CAROM_OK) {
        s->arpack.dneupd(&vectors, "A", select, dr, di, z, &n, &zero, &zero, workev, "I", &n, "LM", &nev, &tol, resid,
                         &ncv, v, &n, iparam, ipntr, workd, workl, &lworkl, &info, 1, 1, 2);
        if (info != 0)
            status =
                carom_fail(s->err, CAROM_NOT_CONVERGED, "the eigenvalues did not converge (ARPACK's dneupd: %d)", info);
    }
    for (int k = 0; status == CAROM_OK && k < iparam[4] && k < nev; ++k) {
        const double size = dr[k] * dr[k] + di[k] * di[k];
        const bool second = di[k] < 0, last = di[k] > 0 && k + 1 >= iparam[4]; // its partner is missing
        if (last || (second && k == 0)) continue;
        const double *real = z + N * (size_t)(second ? k - 1 : k);
        out->re[out->n] = s->sigma + dr[k] / size;
        out->im[out->n] = -di[k] / size;
        double *shape = out->shape + 2 * (size_t)out->n * (size_t)s->nv;
        carom_copy(shape, real, s->nv);
        for (int i = 0; di[k] != 0 && i < s->nv; ++i) shape[s->nv + i] = (second ? -1 : 1) * real[N + (size_t)i];
        ++out->n;
    }
    free(block);
    free(select);
    return status;
}

carom_status carom_spectrum_sparse(carom_spectrum *out, carom_linear *l, int count, carom_error *err) {
    sparse s = {.l = l, .nv = l->grip.p.nv, .err = err};
    if (l->frame || l->drift)
        return carom_fail(err, CAROM_UNSUPPORTED,
                          "modes of large models are linearised at rest; this state moves and has joints, contacts or "
                          "bodies that turn");
    CAROM_TRY(carom_arpack_load(&s.arpack, err));
    carom_status status = choose(&s);
    const size_t n = (size_t)(s.nv + s.rows), room = 2 * (size_t)count + 4;
    s.x = calloc(2 * n, sizeof *s.x);
    s.rhs = s.x ? s.x + n : NULL;
    out->re = calloc(room, sizeof *out->re), out->im = calloc(room, sizeof *out->im),
    out->shape = calloc(2 * room * (size_t)s.nv, sizeof *out->shape);
    if (status == CAROM_OK && !(s.x && out->re && out->im && out->shape)) status = no_memory(err);
    if (status == CAROM_OK) status = shift(&s);
    if (status == CAROM_OK) status = iterate(&s, out, count);
    double least = HUGE_VAL;
    for (int k = 0; k < out->n; ++k)
        if (hypot(out->re[k], out->im[k]) > AT_SHIFT * s.sigma) least = fmin(least, hypot(out->re[k], out->im[k]));
    out->rounding = ROUNDING * (isfinite(least) ? least : 0);
    out->tiny = fmax(TINY * s.sigma, NOTHING * (isfinite(least) ? least : 0));
    if (s.direct) carom_direct_pivots()->destroy(s.direct);
    carom_pattern_destroy(s.pattern);
    free(s.a), free(s.row), free(s.col), free(s.value), free(s.keep), free(s.x);
    return status;
}

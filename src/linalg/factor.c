// factor.c: LDL' for symmetric positive definite matrices, LU with row pivoting for the rest.
//
// LDL': A = L D L', the factor holds L below and 1/D on the diagonal.  Only the lower triangle of A is
// read.  LU: P A = L U, unit L below, U on and above with 1/diagonal on it.  Banded LU keeps room for the
// fill that pivoting makes.  Sparse matrices are the business of their pattern's way to factorise.  A pivot counts as
// zero when it is below 1e-14 of what its row (LDL') or column (LU) started with.
#include "base/tolerance.h"
#include "linalg/banded.h"
#include "linalg/dense.h"
#include "linalg/matrix.h"
#include "linalg/two.h"
#include <assert.h>
#include <carom/matrix.h>
#include <math.h>
#include <string.h>

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

static const double TINY = 1e-14; // of the column: a pivot that is no more than some roundings of its entries

// Banded LU: 3 band + 1 rows a column, entry (i, j) at [2 band + i - j].
static inline int lu_rows(carom_shape s) { return 3 * s.band + 1; }

carom_factor carom_allocate_factor(carom_arena *mem, carom_shape shape, bool symmetric) {
    const bool banded_lu = shape.storage == CAROM_BANDED && !symmetric;
    carom_factor F = {.shape = shape, .symmetric = symmetric};
    if (shape.storage == CAROM_SPARSE) {
        const carom_direct *direct = shape.pattern->direct;
        if (mem->base && direct) F.direct = direct->create(shape.pattern, symmetric);
        carom_arena_hold(mem, F.direct, direct ? direct->destroy : NULL);
        return F;
    }
    const bool narrow = symmetric && shape.storage == CAROM_BANDED && carom_band_suits(shape.n, shape.band);
    // scratch, then where columns of L end
    const size_t diagonal = symmetric && shape.storage == CAROM_DENSE ? (size_t)shape.n : 0;
    F.a = carom_allocate(mem, diagonal + (banded_lu ? (size_t)shape.n * (size_t)lu_rows(shape)
                                          : narrow  ? carom_band_size(shape.n, shape.band)
                                                    : carom_shape_size(shape)));
    if (!symmetric) F.pivot = carom_allocate_ints(mem, (size_t)shape.n);
    return F;
}

static carom_status singular(int *where, int row) {
    if (where) *where = row;
    return CAROM_SINGULAR;
}

// -- diagonal ---------------------------------------------------------------------------------------

static carom_status factor_diagonal(carom_factor *F, carom_matrix A, int *where) {
    for (int i = 0; i < A.shape.n; ++i) {
        const double d = A.a[i];
        // the only entry of its column, in units of its own
        if (!(F->symmetric ? d > 0 : fabs(d) > 0)) return singular(where, i);
        F->a[i] = 1 / d;
    }
    return CAROM_OK;
}

// -- dense LDL' -------------------------------------------------------------------------------------

// The sizes of planar and spatial single bodies, unrolled: most steps of most models end up here.
static carom_status ldl_2(double *L, const double *a, int *where) {
    const double d0 = a[0];
    if (!(d0 > 0)) return singular(where, 0);
    const double r0 = 1 / d0, l = a[1] * r0, d1 = a[3] - l * a[1];
    if (!(d1 > TINY * a[3])) return singular(where, 1);
    L[0] = r0, L[1] = l, L[3] = 1 / d1;
    return CAROM_OK;
}

static carom_status ldl_3(double *L, const double *a, int *where) {
    const double d0 = a[0];
    if (!(d0 > 0)) return singular(where, 0);
    const double r0 = 1 / d0, l1 = a[1] * r0, l2 = a[2] * r0;
    const double d1 = a[4] - l1 * a[1];
    if (!(d1 > TINY * a[4])) return singular(where, 1);
    const double r1 = 1 / d1, c = a[5] - l2 * a[1], l3 = c * r1;
    const double d2 = a[8] - l2 * a[2] - l3 * c;
    if (!(d2 > TINY * a[8])) return singular(where, 2);
    L[0] = r0, L[1] = l1, L[2] = l2, L[4] = r1, L[5] = l3, L[8] = 1 / d2;
    return CAROM_OK;
}

enum { TILED_FROM = 8 }; // rows from which on dense.h is faster

static carom_status ldl_dense(double *L, const double *A, int n, int *where) {
    if (n == 2) return ldl_2(L, A, where);
    const size_t ld = (size_t)n;
    for (size_t j = 0; j < ld; ++j) memcpy(L + j * ld + j, A + j * ld + j, (ld - j) * sizeof(double));
    if (n >= TILED_FROM) {
        if (carom_dense_ldl(L, n, n, TINY, L + ld * ld) == 0)
            return carom_dense_ldl_ends(L, n, n, L + ld * ld), CAROM_OK;
        int row = 0;
        while (L[(size_t)row * ld + (size_t)row] != 0) ++row;
        return singular(where, row);
    }
    // Right-looking by columns: the inner loop runs down contiguous memory and vectorises.
    for (int j = 0; j < n; ++j) {
        double *Lj = L + (size_t)j * ld;
        const double d = Lj[j];
        if (!(d > TINY * A[(size_t)j * ld + (size_t)j])) return singular(where, j);
        const double r = 1 / d;
        for (int k = j + 1; k < n; ++k) {
            const double l = Lj[k] * r;
            double *Lk = L + (size_t)k * ld;
            for (int i = k; i < n; ++i) Lk[i] -= l * Lj[i];
        }
        for (int i = j + 1; i < n; ++i) Lj[i] *= r;
        Lj[j] = r;
    }
    return CAROM_OK;
}

static inline void solve_ldl_3(const double *L, double *x) {
    const double x1 = x[1] - L[1] * x[0], x2 = (x[2] - (L[2] * x[0] + L[5] * x1)) * L[8];
    const double y1 = x1 * L[4] - L[5] * x2;
    x[0] = x[0] * L[0] - L[1] * y1 - L[2] * x2;
    x[1] = y1;
    x[2] = x2;
}

static void solve_ldl_dense(const double *L, double *x, int n) {
    const size_t ld = (size_t)n;
    if (n >= TILED_FROM) {
        carom_dense_ldl_solve_two(L, n, n, L + ld * ld, x, NULL);
        return;
    }
    for (int j = 0; j < n; ++j) {
        const double *Lj = L + (size_t)j * ld, xj = x[j];
        for (int i = j + 1; i < n; ++i) x[i] -= Lj[i] * xj;
    }
    for (int j = n - 1; j >= 0; --j) {
        const double *Lj = L + (size_t)j * ld;
        double sum = x[j] * Lj[j];
        for (int i = j + 1; i < n; ++i) sum -= Lj[i] * x[i];
        x[j] = sum;
    }
}

// -- banded LDL' -------------------------------------------------------------------------------------

static carom_status ldl_banded(double *L, const double *A, int n, int b, int *where) {
    const size_t rows = (size_t)(2 * b + 1);
    memcpy(L, A, (size_t)n * rows * sizeof(double));
    for (int j = 0; j < n; ++j) {
        double *Lj = L + (size_t)j * rows + b; // Lj[i - j]
        const int reach = n - 1 - j < b ? n - 1 - j : b;
        const double d = Lj[0];
        if (!(d > TINY * A[(size_t)j * rows + (size_t)b])) return singular(where, j);
        const double r = 1 / d;
        for (int k = 1; k <= reach; ++k) {
            const double l = Lj[k] * r;
            double *Lk = L + (size_t)(j + k) * rows + b;
            for (int i = k; i <= reach; ++i) Lk[i - k] -= l * Lj[i];
        }
        for (int k = 1; k <= reach; ++k) Lj[k] *= r;
        Lj[0] = r;
    }
    return CAROM_OK;
}

static void solve_ldl_banded(const double *L, double *x, int n, int b) {
    const size_t rows = (size_t)(2 * b + 1);
    for (int j = 0; j < n; ++j) {
        const double *Lj = L + (size_t)j * rows + b;
        const int reach = n - 1 - j < b ? n - 1 - j : b;
        for (int k = 1; k <= reach; ++k) x[j + k] -= Lj[k] * x[j];
    }
    for (int j = n - 1; j >= 0; --j) {
        const double *Lj = L + (size_t)j * rows + b;
        const int reach = n - 1 - j < b ? n - 1 - j : b;
        double sum = x[j] * Lj[0];
        for (int k = 1; k <= reach; ++k) sum -= Lj[k] * x[j + k];
        x[j] = sum;
    }
}

// -- LU, dense and banded ----------------------------------------------------------------------------

// Dense is a band that reaches everywhere.  Entry (i, j) stands at a + i + j step: dense columns begin one below the
// other, banded ones one row lower each.
typedef struct lu {
    double *a;
    int n, below, above; // sub-diagonals of L, super-diagonals of U (with fill)
    size_t step;
    bool banded;
} lu;

static inline double *at(const lu *A, int i, int j) { return A->a + (size_t)j * A->step + (size_t)i; }

static lu lu_view(const carom_factor *F) {
    const carom_shape s = F->shape;
    if (s.storage == CAROM_BANDED)
        return (lu){F->a + 2 * s.band, s.n, s.band, 2 * s.band, (size_t)lu_rows(s) - 1, true};
    return (lu){F->a, s.n, s.n, s.n, (size_t)s.n, false};
}

INLINE int last(const lu *A, int j, int reach) { return j + reach < A->n - 1 ? j + reach : A->n - 1; }

static double column_size(carom_matrix M, int j) {
    double most = 0;
    for (int i = 0; i < M.shape.n; ++i) {
        const double *m = carom_matrix_entry(M, i, j);
        if (m) most = fmax(most, fabs(*m));
    }
    return most;
}

// A = M, of the same shape.  Returns the largest entry.
INLINE double load(const lu *A, const carom_factor *F, carom_matrix M) {
    const int n = A->n, band = A->banded ? M.shape.band : n;
    assert(M.shape.storage == F->shape.storage && band == A->below);
    double most = 0;
    if (A->banded) memset(F->a, 0, (size_t)n * (A->step + 1) * sizeof(double));
    for (int j = 0; j < n; ++j) {
        const int first = j > band ? j - band : 0, end = j + band + 1 < n ? j + band + 1 : n;
        const double *m = A->banded ? carom_matrix_entry(M, first, j) : M.a + (size_t)j * (size_t)n;
        double *a = at(A, first, j);
        for (int i = 0; i < end - first; ++i) {
            a[i] = m[i];
            most = fabs(m[i]) > most ? fabs(m[i]) : most;
        }
    }
    return most;
}

// Dense and large enough: the tiled way.  False: it met a pivot that may be nothing.
static bool factor_tiled(carom_factor *F, carom_matrix M) {
    const int n = M.shape.n;
    double scale = 0, least = HUGE_VAL;
    memcpy(F->a, M.a, (size_t)n * (size_t)n * sizeof(double));
    for (size_t k = 0; k < (size_t)n * (size_t)n; ++k) scale = fabs(M.a[k]) > scale ? fabs(M.a[k]) : scale;
    if (!carom_dense_lu(F->a, n, n, 0, F->pivot)) return false;
    for (size_t k = 0; k < (size_t)n; ++k) {
        const double pivot = fabs(F->a[k * (size_t)n + k]);
        if (!(pivot >= least)) least = pivot;
    }
    return least > TINY * scale;
}

static bool tiled(const carom_factor *F) { return F->shape.storage == CAROM_DENSE && F->shape.n >= TILED_FROM; }

INLINE carom_status lu_of(const lu A, carom_factor *F, carom_matrix M, int *where) {
    const int n = A.n;
    const double scale = load(&A, F, M); // a pivot that is not small against the largest entry needs no closer look
    for (int j = 0; j < n; ++j) {
        const int down = last(&A, j, A.below), right = last(&A, j, A.above);
        int p = j;
        for (int i = j + 1; i <= down; ++i)
            if (fabs(*at(&A, i, j)) > fabs(*at(&A, p, j))) p = i;
        F->pivot[j] = p;
        const double pivot = fabs(*at(&A, p, j));
        if (!(pivot > TINY * scale || pivot > TINY * column_size(M, j))) return singular(where, j);
        if (p != j)
            for (int k = j; k <= right; ++k) {
                double *x = at(&A, j, k), *y = at(&A, p, k), z = *x;
                *x = *y, *y = z;
            }
        double *col = at(&A, j, j); // col[i - j]
        const double r = 1 / *col;
        for (int i = 1; i <= down - j; ++i) col[i] *= r;
        for (int k = j + 1; k <= right; ++k) {
            double *ck = at(&A, j, k);
            const double u = ck[0];
            if (u != 0)
                for (int i = 1; i <= down - j; ++i) ck[i] -= col[i] * u;
        }
        *col = r;
    }
    return CAROM_OK;
}

// Is the pivot nonzero relative to the largest entry of the matrix, or of its column?
static inline bool is_pivot(double pivot, double scale, const double *column) {
    return pivot > TINY * scale || pivot > TINY * fmax(fmax(fabs(column[0]), fabs(column[1])), fabs(column[2]));
}

#define SWAP(x, y) do { const double z_ = x; x = y, y = z_; } while (0)

// The same for three unknowns, without loops: aij is the entry in row i and column j.
static carom_status lu_3(carom_factor *F, const double *m, int *where) {
    double a00 = m[0], a10 = m[1], a20 = m[2], a01 = m[3], a11 = m[4], a21 = m[5], a02 = m[6], a12 = m[7], a22 = m[8],
           scale = 0, *L = F->a;
    for (int k = 0; k < 9; ++k) scale = fmax(scale, fabs(m[k]));
    int p = fabs(a10) > fabs(a00) ? 1 : 0;
    if (fabs(a20) > fabs(p ? a10 : a00)) p = 2;
    F->pivot[0] = p;
    if (p == 1) {
        SWAP(a00, a10);
        SWAP(a01, a11);
        SWAP(a02, a12);
    } else if (p == 2) {
        SWAP(a00, a20);
        SWAP(a01, a21);
        SWAP(a02, a22);
    }
    if (!is_pivot(fabs(a00), scale, m)) return singular(where, 0);
    const double r0 = 1 / a00, l10 = a10 * r0, l20 = a20 * r0;
    if (a01 != 0) a11 -= l10 * a01, a21 -= l20 * a01;
    if (a02 != 0) a12 -= l10 * a02, a22 -= l20 * a02;
    F->pivot[1] = fabs(a21) > fabs(a11) ? 2 : 1;
    if (F->pivot[1] == 2) {
        SWAP(a11, a21);
        SWAP(a12, a22);
    }
    if (!is_pivot(fabs(a11), scale, m + 3)) return singular(where, 1);
    const double r1 = 1 / a11, l21 = a21 * r1;
    if (a12 != 0) a22 -= l21 * a12;
    F->pivot[2] = 2;
    if (!is_pivot(fabs(a22), scale, m + 6)) return singular(where, 2);
    L[0] = r0, L[1] = l10, L[2] = l20, L[3] = a01, L[4] = r1, L[5] = l21, L[6] = a02, L[7] = a12, L[8] = 1 / a22;
    return CAROM_OK;
}

// A dense matrix with a constant n: loops are none then.
static inline lu small(const carom_factor *F, int n) { return (lu){F->a, n, n, n, (size_t)n, false}; }

static carom_status factor_lu(carom_factor *F, carom_matrix M, int *where) {
    const int n = F->shape.storage == CAROM_DENSE ? F->shape.n : 0;
    F->tiled = tiled(F) && factor_tiled(F, M);
    if (F->tiled) return CAROM_OK;
    return n == 2 ? lu_of(small(F, 2), F, M, where) : n == 3 ? lu_3(F, M.a, where) : lu_of(lu_view(F), F, M, where);
}

INLINE void solve_lu_of(const lu A, const carom_factor *F, double *x) {
    for (int j = 0; j < A.n; ++j) {
        const int p = F->pivot[j], down = last(&A, j, A.below);
        const double xj = x[p];
        x[p] = x[j], x[j] = xj;
        const double *col = at(&A, j, j);
        for (int i = 1; i <= down - j; ++i) x[j + i] -= col[i] * xj;
    }
    for (int j = A.n - 1; j >= 0; --j) {
        const int up = A.banded && j > A.above ? j - A.above : 0;
        x[j] *= *at(&A, j, j);
        const double xj = x[j], *col = at(&A, up, j);
        for (int i = up; i < j; ++i) x[i] -= col[i - up] * xj;
    }
}

// The same for three unknowns, without loops.
static inline void solve_lu_3(const double *L, const int *pivot, double *x) {
    double x0 = x[0], x1 = x[1], x2 = x[2];
    if (pivot[0] == 1) SWAP(x0, x1);
    else if (pivot[0] == 2) SWAP(x0, x2);
    x1 -= L[1] * x0, x2 -= L[2] * x0;
    if (pivot[1] == 2) SWAP(x1, x2);
    x2 -= L[5] * x1;
    x2 *= L[8];
    x0 -= L[6] * x2, x1 -= L[7] * x2;
    x1 *= L[4];
    x0 -= L[3] * x1;
    x[0] = x0 * L[0], x[1] = x1, x[2] = x2;
}

static void solve_lu(const carom_factor *F, double *x) {
    const int n = F->shape.storage == CAROM_DENSE ? F->shape.n : 0;
    if (F->tiled) carom_dense_lu_solve(F->a, n, n, F->pivot, x);
    else if (n == 2) solve_lu_of(small(F, 2), F, x);
    else if (n == 3) solve_lu_3(F->a, F->pivot, x);
    else solve_lu_of(lu_view(F), F, x);
}

// -- verbs --------------------------------------------------------------------------------------------

// Equal to a few units in the last place, as sums of the same terms in another order are.
static bool symmetric_band(carom_matrix A) {
    const int n = A.shape.n, b = A.shape.band;
    const size_t rows = (size_t)(2 * b + 1);
    for (int j = 0; j < n; ++j)
        for (int k = 1; k <= b && j + k < n; ++k) {
            const double x = A.a[(size_t)j * rows + (size_t)(b + k)], y = A.a[(size_t)(j + k) * rows + (size_t)(b - k)];
            if (!(fabs(x - y) <= CAROM_ROUNDING * (fabs(x) + fabs(y)))) return false;
        }
    return true;
}

static bool narrow(const carom_factor *F) {
    return F->shape.storage == CAROM_BANDED && carom_band_suits(F->shape.n, F->shape.band);
}

static carom_status factor_narrow(carom_factor *F, carom_matrix A, int *where) {
    const int row = carom_band_ldl(F->a, A.a, F->shape.n, F->shape.band);
    return row == F->shape.n ? CAROM_OK : singular(where, row);
}

// Most steps of most models: nothing else is asked on the way.
static inline bool of_three(const carom_factor *F) {
    return F->shape.storage == CAROM_DENSE && F->shape.n == 3 && F->symmetric;
}

static carom_status factorise(carom_factor *F, carom_matrix A, int *where) {
    if (F->shape.storage == CAROM_SPARSE)
        return F->direct ? F->shape.pattern->direct->factorise(F->direct, A.a, where) : CAROM_NO_MEMORY;
    if (F->shape.storage == CAROM_DIAGONAL) return factor_diagonal(F, A, where);
    if (narrow(F) && F->symmetric) return factor_narrow(F, A, where);
    if (narrow(F) && symmetric_band(A) && factor_narrow(F, A, NULL) == CAROM_OK) return F->positive = true, CAROM_OK;
    if (!F->symmetric) return factor_lu(F, A, where);
    if (F->shape.storage == CAROM_BANDED) return ldl_banded(F->a, A.a, F->shape.n, F->shape.band, where);
    return ldl_dense(F->a, A.a, F->shape.n, where);
}

carom_status carom_factorise(carom_factor *F, carom_matrix A, int *where) {
    F->count += 1;
    F->positive = false;
    return of_three(F) ? ldl_3(F->a, A.a, where) : factorise(F, A, where);
}

static inline void solve_diagonal(const double *restrict a, double *restrict x, int n) {
    for (int i = 0; i < n; ++i) x[i] *= a[i];
}

static void solve(const carom_factor *F, double *x) {
    if (F->shape.storage == CAROM_SPARSE) F->shape.pattern->direct->solve(F->direct, x);
    else if (F->shape.storage == CAROM_DIAGONAL) solve_diagonal(F->a, x, F->shape.n);
    else if (F->positive || (F->symmetric && narrow(F))) carom_band_solve(F->a, x, F->shape.n, F->shape.band);
    else if (!F->symmetric) solve_lu(F, x);
    else if (F->shape.storage == CAROM_BANDED) solve_ldl_banded(F->a, x, F->shape.n, F->shape.band);
    else solve_ldl_dense(F->a, x, F->shape.n);
}

void carom_factor_solve(const carom_factor *F, double *x) {
    if (of_three(F)) solve_ldl_3(F->a, x);
    else solve(F, x);
}

void carom_factor_solve_two(const carom_factor *F, double *x, double *y) {
    const size_t n = (size_t)F->shape.n;
    if (F->shape.storage == CAROM_DENSE && F->symmetric && n >= TILED_FROM)
        carom_dense_ldl_solve_two(F->a, (int)n, (int)n, F->a + n * n, x, y);
    else carom_factor_solve(F, x), carom_factor_solve(F, y);
}

static void advance(const carom_factor *F, double *v, double h, double *x) {
    if (F->shape.storage == CAROM_DIAGONAL) {
        const double *a = F->a;
        for (int i = 0; i < F->shape.n; ++i) v[i] += h * (x[i] * a[i]);
        return;
    }
    if (F->positive || (F->symmetric && narrow(F))) {
        carom_band_advance(F->a, v, h, x, F->shape.n, F->shape.band);
        return;
    }
    solve(F, x);
    carom_axpy(v, h, x, F->shape.n);
}

void carom_factor_advance(const carom_factor *F, double *v, double h, double *x) {
    if (!of_three(F)) {
        advance(F, v, h, x);
        return;
    }
    double y[3] = {x[0], x[1], x[2]}; // numbers that were stored one by one are slow to load as a vector
    solve_ldl_3(F->a, y);
    for (int i = 0; i < 3; ++i) v[i] += h * y[i];
}

// joints.c: joints alone: G p = -c, eliminated within the envelope of G.
//
// Spec: docs/solvers.md, "joints".  A joint of a chain meets its neighbours only, so most of G is zero, and stays so: row i of L
// and column i of U start where row or column i of G starts.  Rows that start together (those of a joint) are eliminated
// together.  No pivoting: G = W'M^-1 W is positive definite, or nearly so.  When a pivot has cancelled (redundant joints) the
// shortest of all answers is taken.
#include "contact/law.h"
#include "linalg/dense.h"
#include <math.h>
#include <stdlib.h>

enum { WIDE = 6 }; // most rows that are eliminated at the same time

typedef struct joints {
    double *L, *U;       // n x n: row i of L, column i of U, from first[i] to i - 1; unit diagonals; U is not there when G is symmetric
    double *D, *r;       // n: 1/d, what is left
    double *X, *Y;       // n x WIDE: columns of D U and, beside them, rows of L D that are being computed
    double *work;        // 3 n
    int *first, *column; // n
    bool symmetric, factored; // of the problem at hand
} joints;

static const double CUT = 1e-12; // a pivot that has cancelled to this, relatively, counts as zero

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    (void)nb;
    joints *w = work;
    const size_t m = (size_t)n;
    CAROM_ALLOCATE(mem, m * m, &w->L, &w->U);
    CAROM_ALLOCATE(mem, m, &w->D, &w->r);
    CAROM_ALLOCATE(mem, m * WIDE, &w->X, &w->Y);
    w->work = carom_allocate(mem, 3 * m);
    w->first = carom_allocate_ints(mem, m);
    w->column = carom_allocate_ints(mem, m);
}

// Two sums, so that additions need not wait for each other.
static double dot(const double *a, const double *b, int n) {
    double s = 0, t = 0;
    int i = 0;
    for (; i + 1 < n; i += 2) {
        s += a[i] * b[i];
        t += a[i + 1] * b[i + 1];
    }
    return i < n ? s + a[i] * b[i] + t : s + t;
}

// Where row and column i of G start; G is read column by column.
static void find_envelope(joints *w, const carom_problem *pb) {
    const int n = pb->n;
    for (int i = 0; i < n; i++) w->first[i] = i;
    for (int j = 0; j < n; j++) {
        const double *column = pb->G + (size_t)j * (size_t)pb->ld;
        int top = 0;
        while (top < w->first[j] && column[top] == 0) top++;
        w->first[j] = top;
        for (int i = j + 1; i < n; i++)
            if (column[i] != 0 && w->first[i] > j) w->first[i] = j;
    }
}

static bool is_symmetric(const joints *w, const carom_problem *pb) {
    const size_t ld = (size_t)pb->ld;
    for (int i = 0; i < pb->n; i++)
        for (int j = w->first[i]; j < i; j++)
            if (pb->G[j + i * ld] != pb->G[i + j * ld]) return false;
    return true;
}

// X_j = X_j - sum_k t_jk X_k for j = from .. to - 1: rows of the triangle T that are known, in the envelope
static void sweep(double *X, const double *T, const int *first, int n, int from, int to) {
    for (int j = from; j < to; j++) {
        const double *t = T + (size_t)j * (size_t)n;
        double *x = X + (size_t)j * WIDE, sum[WIDE];
        for (int r = 0; r < WIDE; r++) sum[r] = x[r];
        for (int k = first[j] > from ? first[j] : from; k < j; k++)
            for (int r = 0; r < WIDE; r++) sum[r] -= t[k] * X[(size_t)k * WIDE + (size_t)r];
        for (int r = 0; r < WIDE; r++) x[r] = sum[r];
    }
}

// X = columns i .. i + m - 1 of G from row `from` on
static void load_columns(double *X, const double *G, size_t ld, int from, int i, int m) {
    for (int r = 0; r < WIDE; r++) {
        const double *g = G + (size_t)(i + r) * ld;
        for (int j = from; j < i + m; j++) X[(size_t)j * WIDE + (size_t)r] = r < m ? g[j] : 0;
    }
}

// X = rows i .. i + m - 1 of G from column `from` on, side by side in memory; rows behind them do no harm
static void load_rows(double *restrict X, const double *restrict G, size_t ld, int from, int i, int m, int n) {
    const bool last = i + WIDE > n;
    for (int j = from; j < i + m; j++) {
        const double *g = G + (size_t)j * ld + (size_t)i;
        double *x = X + (size_t)j * WIDE;
        for (int r = 0; r < WIDE && !last; r++) x[r] = g[r];
        for (int r = 0; r < WIDE && last; r++) x[r] = r < m ? g[r] : 0;
    }
}

// The block of rows i .. i + m - 1 on the diagonal, of which S is left.
static bool eliminate_block(joints *w, const carom_problem *pb, int i, int m, double *U, double S[restrict WIDE][WIDE]) {
    const int n = pb->n;
    for (int k = 0; k < m; k++) {
        double row[WIDE], *restrict L = w->L + (size_t)i * n + i + k;
        for (int c = 0; c < WIDE; c++) row[c] = S[k][c];
        if (!(fabs(row[k]) > CUT * fabs(pb->G[(size_t)(i + k) * (size_t)(pb->ld + 1)]))) return false;
        const double d = w->D[i + k] = 1 / row[k];
        for (int r = k + 1; r < m; r++) {
            const double l = L[(size_t)r * n] = S[r][k] * d;
            for (int c = 0; c < WIDE; c++) S[r][c] -= l * row[c];
        }
        for (int r = k + 1; U && r < m; r++) U[(size_t)(i + r) * n + i + k] = row[r] * d;
    }
    return true;
}

// The rows i .. i + m - 1, which start together.  Rows of L and columns of U: U is NULL where they are the same.
static bool eliminate(joints *w, const carom_problem *pb, int i, int m, double *U) {
    const int n = pb->n, from = w->first[i];
    const size_t ld = (size_t)pb->ld;
    double *X = w->X, *Y = U ? w->Y : w->X, S[WIDE][WIDE];
    if (U) load_columns(X, pb->G, ld, from, i, m), load_rows(Y, pb->G, ld, from, i, m, n), sweep(Y, U, w->first, n, from, i);
    else load_rows(X, pb->G, ld, from, i, m, n);
    sweep(X, w->L, w->first, n, from, i);
    for (int r = 0; r < m; r++) {
        const double *x = X + (size_t)from * WIDE, *y = Y + (size_t)from * WIDE + (size_t)r;
        double *L = w->L + (size_t)(i + r) * n, sum[WIDE];
        for (int c = 0; c < WIDE; c++) sum[c] = X[(size_t)(i + r) * WIDE + (size_t)c];
        for (int k = from; k < i; k++, x += WIDE, y += WIDE) {
            const double l = L[k] = *y * w->D[k];
            if (U) U[(size_t)(i + r) * n + k] = x[r] * w->D[k];
            for (int c = 0; c < WIDE; c++) sum[c] -= l * x[c];
        }
        for (int c = 0; c < WIDE; c++) S[r][c] = sum[c];
    }
    return eliminate_block(w, pb, i, m, U, S);
}

// Rows from i on, up to WIDE, that start at about the same place; then at exactly the same.
static int together(int *first, int i, int n) {
    int least = first[i], m = 1;
    for (; i + m < n && m < WIDE && abs(first[i + m] - least) < WIDE / 2; m++)
        if (first[i + m] < least) least = first[i + m];
    for (int r = 0; r < m; r++) first[i + r] = least < i ? least : i;
    return m;
}

// (SOL-17)  G = L D U:  d_j u_ji = G_ji - sum_k l_jk d_k u_ki,   l_ij d_j = G_ij - sum_k l_ik d_k u_kj,   k from where both
//           rows have started
static bool factor(joints *w, const carom_problem *pb) {
    const int n = pb->n;
    if (pb->first)
        for (int i = 0; i < n; i++) w->first[i] = pb->first[i];
    else find_envelope(w, pb);
    w->symmetric = pb->symmetric || is_symmetric(w, pb);
    for (int i = 0, m; i < n; i += m) {
        m = together(w->first, i, n);
        if (!eliminate(w, pb, i, m, w->symmetric ? NULL : w->U)) return false;
    }
    return true;
}

// r = (L D U)^-1 r
static void solve_factored(const joints *w, int n) {
    double *r = w->r;
    const double *U = w->symmetric ? w->L : w->U;
    for (int i = 0; i < n; i++) r[i] -= dot(w->L + (size_t)i * n + w->first[i], r + w->first[i], i - w->first[i]);
    for (int i = 0; i < n; i++) r[i] *= w->D[i];
    for (int i = n - 1; i >= 0; i--)
        for (int j = w->first[i]; j < i; j++) r[j] -= U[(size_t)i * n + j] * r[i];
}

// p = -G^+ c
static void shortest(joints *w, const carom_problem *pb) {
    const int n = pb->n;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) w->L[i + (size_t)j * n] = pb->G[i + (size_t)j * pb->ld];
    for (int i = 0; i < n; i++) w->r[i] = -pb->c[i];
    carom_dense_shortest(w->L, n, n, CUT, w->column, w->work, w->r, pb->p);
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    (void)tol;
    joints *w = work;
    w->factored = factor(w, pb);
    if (w->factored) {
        for (int i = 0; i < pb->n; i++) w->r[i] = pb->c[i];
        solve_factored(w, pb->n);
        for (int i = 0; i < pb->n; i++) pb->p[i] = -w->r[i];
    } else shortest(w, pb);
    return (carom_report){.converged = true, .iterations = 1};
}

// p = p - G^-1 (G p + c): rounding has left too much
static bool refine(void *work, carom_problem *pb) {
    joints *w = work;
    if (!w->factored) return false;
    for (int i = 0; i < pb->n; i++) w->r[i] = pb->u[i];
    solve_factored(w, pb->n);
    for (int i = 0; i < pb->n; i++) pb->p[i] -= w->r[i];
    return true;
}

const carom_solver carom_solver_joints = {
    .name = "joints",
    .about = "joints alone, by elimination",
    .laws = 1u << CAROM_BILATERAL,
    .work_size = sizeof(joints),
    .allocate = allocate,
    .solve = solve,
    .refine = refine,
};

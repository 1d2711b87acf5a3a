// joints.c: joints alone: G p = -c, eliminated within the envelope of G.
//
// Spec: docs/solvers.md, "joints".  A joint of a chain meets its neighbours only, so most of G is zero, and stays so: row i of L
// and column i of U start where row or column i of G starts.  No pivoting: G = W'M^-1 W is positive definite, or nearly
// so.  When a pivot has cancelled (redundant joints) the shortest of all answers is taken.
#include "contact/law.h"
#include "linalg/dense.h"
#include <math.h>

typedef struct joints {
    double *L, *U;  // n x n: row i of L, column i of U, from first[i] to i - 1; the diagonal of U in D
    double *D, *r;  // n
    double *work;   // 3 n
    int *first, *column; // n
} joints;

static const double CUT = 1e-12; // a pivot that has cancelled to this, relatively, counts as zero

static void carve(void *work, carom_arena *mem, int n, int nb) {
    (void)nb;
    joints *w = work;
    const size_t m = (size_t)n;
    w->L = carom_carve(mem, m * m);
    w->U = carom_carve(mem, m * m);
    w->D = carom_carve(mem, m);
    w->r = carom_carve(mem, m);
    w->work = carom_carve(mem, 3 * m);
    w->first = carom_carve_ints(mem, m);
    w->column = carom_carve_ints(mem, m);
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

// Where row and column i of G start; G is read column by column.  Is it symmetric?
static bool envelope(joints *w, const carom_problem *pb) {
    const int n = pb->n;
    const size_t ld = (size_t)pb->ld;
    for (int i = 0; i < n; i++) w->first[i] = i;
    for (int j = 0; j < n; j++) {
        const double *column = pb->G + (size_t)j * ld;
        int top = 0;
        while (top < w->first[j] && column[top] == 0) top++;
        w->first[j] = top;
        for (int i = j + 1; i < n; i++)
            if (column[i] != 0 && w->first[i] > j) w->first[i] = j;
    }
    for (int i = 0; i < n; i++)
        for (int j = w->first[i]; j < i; j++)
            if (pb->G[j + i * ld] != pb->G[i + j * ld]) return false;
    return true;
}

// (SOL-17)  u_ji = G_ji - sum_k l_jk u_ki,   l_ij = (G_ij - sum_k l_ik u_kj)/u_jj,   k from where both rows have started
static bool factor(joints *w, const carom_problem *pb) {
    const int n = pb->n;
    const size_t ld = (size_t)pb->ld;
    const bool symmetric = envelope(w, pb);
    for (int i = 0; i < n; i++) {
        double *L = w->L + (size_t)i * n, *U = w->U + (size_t)i * n;
        const double *column = pb->G + (size_t)i * ld;
        for (int j = w->first[i]; j < i; j++) {
            const int from = w->first[i] > w->first[j] ? w->first[i] : w->first[j];
            U[j] = column[j] - dot(w->L + (size_t)j * n + from, U + from, j - from);
            if (symmetric) L[j] = U[j] / w->D[j];
            else L[j] = (pb->G[i + j * ld] - dot(L + from, w->U + (size_t)j * n + from, j - from)) / w->D[j];
        }
        const int from = w->first[i];
        w->D[i] = column[i] - dot(L + from, U + from, i - from);
        if (!(fabs(w->D[i]) > CUT * fabs(column[i]))) return false;
    }
    return true;
}

// r = (L U)^-1 r
static void solve_factored(const joints *w, int n) {
    double *r = w->r;
    for (int i = 0; i < n; i++) r[i] -= dot(w->L + (size_t)i * n + w->first[i], r + w->first[i], i - w->first[i]);
    for (int i = n - 1; i >= 0; i--) {
        const double *U = w->U + (size_t)i * n;
        r[i] /= w->D[i];
        for (int j = w->first[i]; j < i; j++) r[j] -= U[j] * r[i];
    }
}

// r = c + G p
static void residual(const joints *w, const carom_problem *pb) {
    const size_t ld = (size_t)pb->ld;
    for (int i = 0; i < pb->n; i++) {
        const double *column = pb->G + (size_t)i * ld, p = pb->p[i];
        double sum = pb->c[i] + column[i] * p;
        for (int j = w->first[i]; j < i; j++) {
            sum += pb->G[i + j * ld] * pb->p[j];
            w->r[j] += column[j] * p;
        }
        w->r[i] = sum;
    }
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
    joints *w = work;
    const int n = pb->n;
    if (!factor(w, pb)) {
        shortest(w, pb);
        return (carom_report){.converged = true, .iterations = 1};
    }
    for (int i = 0; i < n; i++) pb->p[i] = 0;
    for (int k = 0; k < 2; k++) { // once more when rounding has left too much
        residual(w, pb);
        double most = 0;
        for (int i = 0; i < n; i++) most = fmax(most, fabs(w->r[i]));
        if (k > 0 && most <= 0.1 * tol) break;
        solve_factored(w, n);
        for (int i = 0; i < n; i++) pb->p[i] -= w->r[i];
    }
    return (carom_report){.converged = true, .iterations = 1};
}

const carom_solver carom_solver_joints = {
    .name = "joints",
    .about = "joints alone, by elimination",
    .laws = 1u << CAROM_BILATERAL,
    .work_size = sizeof(joints),
    .carve = carve,
    .solve = solve,
};

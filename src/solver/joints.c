// joints.c: joints alone: G p = -c, eliminated within the envelope of G.
//
// Spec: docs/solvers.md, "joints".  A joint of a chain meets its neighbours only, so most of G is zero, and stays so:
// row i of L and column i of U start where row or column i of G starts.  Rows that start together (those of a joint)
// are a group: they are eliminated together, and stored side by side, so that vector instructions treat all of them at
// once.  No pivoting: G = W'M^-1 W is positive definite, or nearly so.  When a pivot has cancelled (redundant joints)
// the shortest of all answers is taken; before contacts, any one, by full pivoting.
#include "solver/joints.h"
#include "contact/law.h"
#include "linalg/dense.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 6 }; // most rows of a group
#define INLINE static inline __attribute__((always_inline))

/// Rows i .. i + m - 1.  Entry k of row i + r of L, and of column i + r of U, stands at [at + (k - from) width + r] for
/// k = from .. i + r - 1.
typedef struct group {
    int i, m, from;
    int width;  // m, made even
    size_t at;
} group;

typedef struct joints {
    double *L, *U;       // by groups; unit diagonals; U is not there when G is symmetric
    double *D, *r;       // n: 1/d, what is left
    double *X, *Y;       // n x WIDE: columns of D U and, beside them, rows of L D that are being computed
    double *work;        // 3 n
    int *first, *column; // n: where a row starts, if the problem does not say so; scratch; rows and columns in the
                         // order of full pivoting
    int rank;            // by full pivoting, which has its factor in L and its scales in `work`
    group *groups;       // n at most
    int count;           // of groups
    bool symmetric, factored; // of the problem at hand
} joints;

static const double CUT = 1e-12; // a pivot that has cancelled to this, relatively, counts as zero

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    (void)nb;
    joints *w = work;
    const size_t m = (size_t)n;
    CAROM_ALLOCATE(mem, m * (m + 2 * WIDE), &w->L, &w->U); // a width is at most m + 1: no row takes more than two of
                                                           // its length
    CAROM_ALLOCATE(mem, m, &w->D, &w->r);
    CAROM_ALLOCATE(mem, m * WIDE, &w->X, &w->Y);
    w->work = carom_allocate(mem, 3 * m);
    w->first = carom_allocate_ints(mem, m);
    w->column = carom_allocate_ints(mem, m);
    w->groups = carom_allocate_bytes(mem, m * sizeof *w->groups);
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

static bool is_symmetric(const int *first, const carom_problem *pb) {
    const size_t ld = (size_t)pb->ld;
    for (int i = 0; i < pb->n; i++)
        for (int j = first[i]; j < i; j++)
            if (pb->G[j + i * ld] != pb->G[i + j * ld]) return false;
    return true;
}

// The functions below are written out for every width: `width` is a constant where they are called, and so are the
// lengths of their loops.

typedef double two __attribute__((vector_size(16)));
INLINE two load_two(const double *x) { two a; memcpy(&a, x, sizeof a); return a; }
INLINE void store_two(double *x, two a) { memcpy(x, &a, sizeof a); }

// X_j = X_j - sum_k l_jk X_k for j = start .. of an earlier group p, whose rows of L are known, k from where both have
// started; both: Y with columns of U likewise
INLINE void sweep_rows(double *restrict X, double *restrict Y, const joints *w, const group *p, int start,
                       const int width, const bool both) {
    const int from = p->from > start ? p->from : start;
    for (int j = p->i > start ? p->i : start; j < p->i + p->m; j++) {
        const size_t at = (size_t)j * (size_t)width,
                     entry = p->at + (size_t)(from - p->from) * (size_t)p->width + (size_t)(j - p->i);
        const double *l = w->L + entry, *u = w->U + entry;
        size_t k = (size_t)from * (size_t)width;
        two x[WIDE / 2], y[WIDE / 2];
        for (int r = 0; r < width / 2; r++) x[r] = load_two(X + at + 2 * r);
        for (int r = 0; both && r < width / 2; r++) y[r] = load_two(Y + at + 2 * r);
        for (; k < at; k += (size_t)width, l += p->width, u += p->width) {
            for (int r = 0; r < width / 2; r++) x[r] -= *l * load_two(X + k + 2 * r);
            for (int r = 0; both && r < width / 2; r++) y[r] -= *u * load_two(Y + k + 2 * r);
        }
        for (int r = 0; r < width / 2; r++) store_two(X + at + 2 * r, x[r]);
        for (int r = 0; both && r < width / 2; r++) store_two(Y + at + 2 * r, y[r]);
    }
}

// The rows before group g, from where it starts.
INLINE void sweep(double *restrict X, double *restrict Y, const joints *w, const group *g, const int width,
                  const bool both) {
    const group *p = g;
    while (p->i > g->from) p--;
    for (; p < g; p++) sweep_rows(X, Y, w, p, g->from, width, both);
}

// X = columns of G of the group, rows `from` to before its own
INLINE void load_columns(double *restrict X, const double *restrict G, size_t ld, const group *g, const int m) {
    const double *column = G + (size_t)g->i * ld + (size_t)g->from;
    X += (size_t)g->from * (size_t)(m + m % 2);
    for (int j = g->from; j < g->i; j++, column++, X += m + m % 2) {
        for (int r = 0; r < m; r++) X[r] = column[(size_t)r * ld];
        if (m % 2) X[m] = 0;
    }
}

// Column j of G, rows of the group, which stand side by side in memory
INLINE void load_column(two x[restrict WIDE / 2], const double *restrict G, size_t ld, const group *g, int j,
                        const int m) {
    const double *column = G + (size_t)j * ld + (size_t)g->i;
    for (int r = 0; r < m / 2; r++) x[r] = load_two(column + 2 * r);
    if (m % 2) x[m / 2] = (two){column[m - 1], 0};
}

INLINE void load_rows(double *restrict X, const double *restrict G, size_t ld, const group *g, const int m) {
    const int width = m + m % 2;
    for (int j = g->from; j < g->i; j++) {
        two x[WIDE / 2];
        load_column(x, G, ld, g, j, m);
        for (int r = 0; r < width / 2; r++) store_two(X + (size_t)j * (size_t)width + 2 * r, x[r]);
    }
}

// Pivot k of the block on the diagonal, of which the columns S are left.
INLINE bool take_pivot(joints *w, const carom_problem *pb, const group *g, two S[restrict WIDE][WIDE / 2], const int k,
                       const int m, const bool both) {
    const int width = m + m % 2;
    const size_t i = (size_t)(g->i + k), at = g->at + (i - (size_t)g->from) * (size_t)width;
    const double own = S[k][k / 2][k % 2];
    if (!(fabs(own) > CUT * fabs(pb->G[i * (size_t)(pb->ld + 1)]))) return false;
    const double d = w->D[i] = 1 / own;
    two l[WIDE / 2];
    for (int r = 0; r < width / 2; r++) store_two(w->L + at + 2 * r, l[r] = S[k][r] * d);
    for (int c = k + 1; c < m; c++) {
        const double u = S[c][k / 2][k % 2];
        if (both) w->U[at + (size_t)c] = u * d;
        for (int r = k / 2; r < width / 2; r++) S[c][r] -= l[r] * u;
    }
    return true;
}

// Rows of L and columns of U of the group; both: they differ.
INLINE bool eliminate(joints *w, const carom_problem *pb, const group *g, const int m, const bool both) {
    const int width = m + m % 2;
    const size_t ld = (size_t)pb->ld;
    double *X = w->X, *Y = both ? w->Y : w->X;
    load_rows(Y, pb->G, ld, g, m);
    if (both) load_columns(X, pb->G, ld, g, m);
    sweep(X, w->Y, w, g, width, both);
    two S[WIDE][WIDE / 2];
    for (int c = 0; c < m; c++) load_column(S[c], pb->G, ld, g, g->i + c, m);
    double *restrict L = w->L + g->at, *restrict U = w->U + g->at;
    const double *restrict x = X + (size_t)g->from * (size_t)width, *restrict y = Y + (size_t)g->from * (size_t)width;
    for (int k = g->from; k < g->i; k++, L += width, U += width, x += width, y += width) {
        const double d = w->D[k];
        two l[WIDE / 2];
        for (int r = 0; r < width / 2; r++) store_two(L + 2 * r, l[r] = load_two(y + 2 * r) * d);
        for (int r = 0; both && r < width / 2; r++) store_two(U + 2 * r, load_two(x + 2 * r) * d);
        for (int c = 0; c < m; c++)
            for (int r = 0; r < width / 2; r++) S[c][r] -= l[r] * x[c];
    }
#define PIVOT(k) ((k) >= m || take_pivot(w, pb, g, S, k, m, both))
    return PIVOT(0) && PIVOT(1) && PIVOT(2) && PIVOT(3) && PIVOT(4) && PIVOT(5);
#undef PIVOT
}

// call(m) with the number of rows of the group as a constant
#define BY_ROWS(g, call)                                                                                               \
    ((g)->m == 6   ? call(6)                                                                                           \
     : (g)->m == 5 ? call(5)                                                                                           \
     : (g)->m == 4 ? call(4)                                                                                           \
     : (g)->m == 3 ? call(3)                                                                                           \
     : (g)->m == 2 ? call(2)                                                                                           \
                   : call(1))

static bool eliminate_group(joints *w, const carom_problem *pb, const group *g) {
#define SAME(m) eliminate(w, pb, g, m, false)
#define BOTH(m) eliminate(w, pb, g, m, true)
    return w->symmetric ? BY_ROWS(g, SAME) : BY_ROWS(g, BOTH);
}

// r_i = r_i - sum_k l_ik r_k of the group.  Two sums each, of even and of odd entries, so that additions need not wait
// for each other.
INLINE void forward(const double *restrict L, double *restrict r, const group *g, const int m) {
    enum { EVEN, ODD };
    const int width = m + m % 2;
    two sum[2][WIDE / 2] = {{{0}}};
    int k = g->from;
    L += g->at;
    for (; k + 1 < g->i; k += 2, L += 2 * width)
        for (int c = 0; c < width / 2; c++)
            sum[EVEN][c] += load_two(L + 2 * c) * r[k], sum[ODD][c] += load_two(L + width + 2 * c) * r[k + 1];
    if (k < g->i) { // one more; the next is an odd one
        for (int c = 0; c < width / 2; c++) {
            const two even = sum[EVEN][c] + load_two(L + 2 * c) * r[k];
            sum[EVEN][c] = sum[ODD][c];
            sum[ODD][c] = even;
        }
        L += width;
    }
    r += g->i;
    for (int q = 0; q < m; q++) {
        const double x = r[q] -= sum[EVEN][q / 2][q % 2] + sum[ODD][q / 2][q % 2];
        for (int c = q / 2; c < width / 2; c++) sum[q % 2][c] += load_two(L + q * width + 2 * c) * x;
    }
}

static void forward_group(const joints *w, const group *g) {
#define FORWARD(m) forward(w->L, w->r, g, m)
    BY_ROWS(g, FORWARD);
}

// Rows from i on, up to WIDE, that start at about the same place: a group starts where the first of them does.
static int together(const int *first, int i, int n, int *from) {
    int least = first[i], m = 1;
    for (; i + m < n && m < WIDE && abs(first[i + m] - least) < WIDE / 2; m++)
        if (first[i + m] < least) least = first[i + m];
    *from = least < i ? least : i;
    return m;
}

// (SOL-17)  G = L D U:  d_j u_ji = G_ji - sum_k l_jk d_k u_ki,  l_ij d_j = G_ij - sum_k l_ik d_k u_kj,  k from where
//           both rows have started.  r = L^-1 r on the way: a processor does that while it eliminates the next group.
static bool factor(joints *w, const carom_problem *pb) {
    const int n = pb->n, *first = pb->first ? pb->first : w->first;
    size_t at = 0;
    if (!pb->first) find_envelope(w, pb);
    w->symmetric = pb->symmetric || is_symmetric(first, pb);
    w->count = 0;
    for (int i = 0; i < n;) {
        group *g = w->groups + w->count++;
        g->i = i;
        g->m = together(first, i, n, &g->from);
        g->width = g->m + g->m % 2;
        g->at = at;
        if (!eliminate_group(w, pb, g)) return false;
        forward_group(w, g);
        i += g->m;
        at += (size_t)(i - g->from) * (size_t)g->width;
    }
    return true;
}

// r_j = r_j - u_ji r_i for i of the group, the last one first
INLINE void backward(const double *restrict U, double *restrict r, const group *g, const int m) {
    const int width = m + m % 2;
    const double *own = U + g->at + (size_t)(g->i - g->from) * (size_t)width;
    double x[WIDE];
    for (int q = 0; q < m; q++) x[q] = r[g->i + q];
    for (int q = m - 1; q >= 0; q--) {
        r[g->i + q] = x[q];
        for (int j = 0; j < q; j++) x[j] -= own[j * width + q] * x[q];
    }
    U += g->at;
    for (int k = g->from; k < g->i; k++, U += width)
        for (int q = m - 1; q >= 0; q--) r[k] -= U[q] * x[q];
}

// r = (D U)^-1 r
static void solve_upper(const joints *w, int n) {
#define BACKWARD(m) backward(w->symmetric ? w->L : w->U, w->r, g, m)
    for (int i = 0; i < n; i++) w->r[i] *= w->D[i];
    for (const group *g = w->groups + w->count; g > w->groups;) {
        g--;
        BY_ROWS(g, BACKWARD);
    }
}

// x = G^+ x, in units of the levers
static void shortest(joints *w, const carom_problem *pb, double *x) {
    const int n = pb->n;
    carom_problem_copy(pb, w->L, n);
    for (int i = 0; i < n; i++) w->r[i] = x[i];
    for (int j = 0; j < n && pb->lever; j++) {
        for (int i = 0; i < n; i++) w->L[i + (size_t)j * (size_t)n] *= pb->lever[i] * pb->lever[j];
        w->r[j] *= pb->lever[j];
    }
    carom_dense_shortest(w->L, n, n, CUT, w->column, w->work, w->r, x);
    for (int i = 0; i < n && pb->lever; i++) x[i] *= pb->lever[i];
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    (void)tol;
    joints *w = work;
    for (int i = 0; i < pb->n; i++) w->r[i] = pb->c[i];
    w->factored = factor(w, pb);
    if (w->factored) {
        solve_upper(w, pb->n);
        for (int i = 0; i < pb->n; i++) pb->p[i] = -w->r[i];
    } else {
        for (int i = 0; i < pb->n; i++) pb->p[i] = -pb->c[i];
        shortest(w, pb, pb->p);
    }
    return (carom_report){.converged = true, .iterations = 1};
}

void carom_joints_factor(void *work, const carom_problem *pb) {
    joints *w = work;
    const int n = pb->n;
    for (int i = 0; i < n; i++) w->r[i] = pb->c[i];
    w->factored = factor(w, pb);
    if (w->factored) return;
    carom_problem_copy(pb, w->L, n);
    w->rank = carom_dense_full(w->L, n, n, CUT, w->first, w->column, w->work);
}

void carom_joints_solve(void *work, double *x, int n) {
    joints *w = work;
    double *own = w->r;
    int g = 0, zeros = 0;
    if (!w->factored) {
        for (int i = 0; i < n; i++) w->r[i] = x[i];
        carom_dense_full_solve(w->L, n, n, w->rank, w->first, w->column, w->work, w->r, x);
        return;
    }
    while (zeros < n && x[zeros] == 0) zeros++;
    while (g + 1 < w->count && w->groups[g + 1].i <= zeros) g++;
    w->r = x;
    for (; g < w->count; g++) forward_group(w, w->groups + g);
    solve_upper(w, n);
    w->r = own;
}

void carom_joints_answer(void *work, const carom_problem *pb, double *x) {
    joints *w = work;
    if (w->factored) carom_joints_solve(work, x, pb->n);
    else shortest(w, pb, x);
}

// p = p - G^-1 (G p + c): rounding has left too much
static bool refine(void *work, carom_problem *pb) {
    joints *w = work;
    if (!w->factored) return false;
    for (int i = 0; i < pb->n; i++) w->r[i] = pb->u[i];
    carom_joints_solve(w, w->r, pb->n);
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

// block_lu.c: see block_lu.h.  Rows are eliminated one block row after the other, up-looking:
//
//     L_ik = (A_ik - sum_m L_im U_mk) U_kk^-1,   U_ij = A_ij - sum_m L_im U_mj
//
// with U_kk^-1 kept.  A row of U has the columns of its own row of A and those of the rows whose first column it is.
#include "linalg/block_lu.h"
#include "linalg/order.h"
#include <math.h>
#include <string.h>

#define INLINE CAROM_INLINE

enum { NONE = -1, MOST = CAROM_BLOCK_ROWS }; // no block; rows of one

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// The analysis works where U and L will be: adjacent blocks in one, the ordering in the other.
void carom_allocate_block_lu(carom_block_lu *F, carom_arena *mem, int n, int nb, size_t entries, size_t values) {
    const size_t b = (size_t)nb, list = 2 * entries, ordering = carom_order_work(nb, smaller(list, b * b));
    F->entries = entries;
    F->values = smaller((size_t)n * (size_t)n, values);
    F->blocks = smaller(b * (b + 1) / 2, F->values);
    int **vectors[] = {&F->order, &F->place, &F->rows, &F->from, &F->up, &F->lp, &F->ua, &F->la, &F->used, &F->da};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = carom_allocate_ints(mem, b + 1);
    F->uc = carom_allocate_ints(mem, F->blocks);
    F->lc = carom_allocate_ints(mem, F->blocks);
    F->uj = carom_allocate_ints(mem, F->blocks);
    F->U = carom_allocate_bytes(mem, larger(F->values * sizeof(double), list * sizeof(int)));
    F->L = carom_allocate_bytes(mem, larger(F->values * sizeof(double), ordering * sizeof(int)));
    CAROM_ALLOCATE(mem, (size_t)n * MOST, &F->D, &F->row);
    F->y = carom_allocate(mem, (size_t)n);
    F->skip = carom_allocate_bytes(mem, b * sizeof *F->skip);
}

// -- the pattern -----------------------------------------------------------------------------------------------

// The pattern and its transpose without the diagonal: row i has adj[begin[i]] .. adj[begin[i + 1] - 1], none twice.
static void symmetrise(int nb, const int *start, const int *col, int *begin, int *adj, int *mark) {
    int *count = mark;
    for (int i = 0; i <= nb; i++) begin[i] = 0;
    for (int i = 0; i < nb; i++)
        for (int k = start[i]; k < start[i + 1]; k++)
            if (col[k] != i) begin[i + 1]++, begin[col[k] + 1]++;
    for (int i = 0; i < nb; i++) begin[i + 1] += begin[i];
    for (int i = 0; i < nb; i++) count[i] = begin[i];
    for (int i = 0; i < nb; i++)
        for (int k = start[i]; k < start[i + 1]; k++)
            if (col[k] != i) adj[count[i]++] = col[k], adj[count[col[k]]++] = i;
    for (int i = 0; i < nb; i++) mark[i] = NONE;
    int to = 0;
    for (int i = 0, from = 0; i < nb; i++) {
        const int end = begin[i + 1];
        begin[i] = to;
        for (; from < end; from++)
            if (mark[adj[from]] != i) mark[adj[from]] = i, adj[to++] = adj[from];
    }
    begin[nb] = to;
}

typedef struct {
    size_t blocks, values; // stored so far
    int row, parent;       // being filled; its first column
    int *mark;
} filling;

// Block j of the row, unless it is there already or left of the diagonal; false: no room.
static bool add(carom_block_lu *F, filling *f, int j) {
    if (j <= f->row || f->mark[j] == f->row) return true;
    const size_t values = (size_t)(F->rows[f->row] * F->rows[j]);
    if (f->blocks == F->blocks || f->values + values > F->values) return false;
    f->mark[j] = f->row;
    F->uc[f->blocks++] = j;
    f->values += values;
    if (j < f->parent) f->parent = j;
    return true;
}

// Columns of U; child, brother: rows whose first column is this one.
static bool fill(carom_block_lu *F, const int *begin, const int *adj, int *mark, int *child, int *brother) {
    filling f = {.mark = mark};
    F->work = 0;
    for (int k = 0; k < F->nb; k++) mark[k] = child[k] = NONE;
    for (int k = 0; k < F->nb; k++) {
        const int i = F->order[k];
        f.row = k;
        f.parent = F->nb;
        F->up[k] = (int)f.blocks;
        F->ua[k] = (int)f.values;
        for (int e = begin[i]; e < begin[i + 1]; e++)
            if (!add(F, &f, F->place[adj[e]])) return false;
        for (int c = child[k]; c != NONE; c = brother[c])
            for (int e = F->up[c]; e < F->up[c + 1]; e++)
                if (!add(F, &f, F->uc[e])) return false;
        F->up[k + 1] = (int)f.blocks;
        if (f.parent < F->nb) brother[k] = child[f.parent], child[f.parent] = k;
        const double m = (double)(F->up[k + 1] - F->up[k]);
        F->work += m * m + m;
    }
    return true;
}

// Columns of each row of U in their order: sums have the same order whatever blocks, all zero, the pattern has besides.
static void sort(carom_block_lu *F) {
    for (int k = 0; k < F->nb; k++)
        for (int e = F->up[k] + 1; e < F->up[k + 1]; e++) {
            const int j = F->uc[e];
            int to = e;
            for (; to > F->up[k] && F->uc[to - 1] > j; to--) F->uc[to] = F->uc[to - 1];
            F->uc[to] = j;
        }
}

// L has the pattern of U, transposed.
static void transpose(carom_block_lu *F, int *next) {
    for (int k = 0; k <= F->nb; k++) F->lp[k] = 0;
    for (int e = 0; e < F->up[F->nb]; e++) F->lp[F->uc[e] + 1]++;
    for (int k = 0; k < F->nb; k++) F->lp[k + 1] += F->lp[k];
    for (int k = 0; k < F->nb; k++) next[k] = F->lp[k];
    for (int k = 0; k < F->nb; k++)
        for (int e = F->up[k]; e < F->up[k + 1]; e++) F->lc[next[F->uc[e]]++] = k;
    size_t at = 0;
    for (int k = 0; k < F->nb; k++) {
        F->la[k] = (int)at;
        for (int e = F->lp[k]; e < F->lp[k + 1]; e++) at += (size_t)(F->rows[k] * F->rows[F->lc[e]]);
    }
}

bool carom_block_lu_analyse(carom_block_lu *F, const carom_block_pattern *P) {
    return carom_block_lu_analyse_in(F, P, NULL);
}

bool carom_block_lu_analyse_in(carom_block_lu *F, const carom_block_pattern *P, const int *order) {
    const int nb = P->nb;
    int *begin = F->used, *mark = F->la, *child = F->lp, *brother = F->da, *adj = (int *)F->U; // not needed yet
    if ((size_t)P->start[nb] > F->entries) return false;
    F->pattern = *P;
    F->nb = nb;
    symmetrise(nb, P->start, P->col, begin, adj, mark);
    if (order) memcpy(F->order, order, (size_t)nb * sizeof *order);
    else carom_order(nb, begin, adj, F->order, (int *)F->L);
    F->from[0] = 0;
    for (int k = 0; k < nb; k++) {
        F->place[F->order[k]] = k;
        F->rows[k] = P->size[F->order[k]];
        F->from[k + 1] = F->from[k] + F->rows[k];
        F->skip[k] = false;
    }
    if (!fill(F, begin, adj, mark, child, brother)) return false;
    if (order) sort(F);
    transpose(F, F->used);
    F->da[0] = 0;
    for (int k = 0; k < nb; k++) F->da[k + 1] = F->da[k] + F->rows[k] * F->rows[k];
    return true;
}

// -- blocks ------------------------------------------------------------------------------------------------------

// C -= A B, all column-major: r x m, m x s
INLINE void subtract(double *restrict C, const double *restrict A, const double *restrict B, const int r, const int m,
                     const int s) {
    for (int j = 0; j < s; j++)
        for (int i = 0; i < r; i++) {
            double sum = A[i] * B[j * m];
            for (int k = 1; k < m; k++) sum += A[i + k * r] * B[k + j * m];
            C[i + j * r] -= sum;
        }
}

typedef carom_two two;
#define load_two carom_load_two
#define store_two carom_store_two

// row_j -= A U_j for blocks of three rows, in the order of subtract(): the columns of A stay in registers.
static void subtract_three(double *restrict row, const int *from, const double *restrict A, const double *restrict U,
                           const int *uj, int count) {
    const two a = load_two(A), b = load_two(A + 3), c = load_two(A + 6);
    const double x = A[2], y = A[5], z = A[8];
    for (int g = 0; g < count; g++, U += 9) {
        double *C = row + 3 * from[uj[g]];
        for (int j = 0; j < 3; j++, C += 3) {
            const double *B = U + 3 * j;
            store_two(C, load_two(C) - (a * B[0] + b * B[1] + c * B[2]));
            C[2] -= x * B[0] + y * B[1] + z * B[2];
        }
    }
}

// C = A B
INLINE void multiply(double *restrict C, const double *restrict A, const double *restrict B, const int r, const int m,
                     const int s) {
    for (int j = 0; j < s; j++)
        for (int i = 0; i < r; i++) {
            double sum = A[i] * B[j * m];
            for (int k = 1; k < m; k++) sum += A[i + k * r] * B[k + j * m];
            C[i + j * r] = sum;
        }
}

// Columns 0 .. n - 1 of C = A B or C -= A B, with the sums of multiply() and subtract(), for r rows and n columns that
// are known where this is written out: the sums stay in registers, and n columns share what is read of A.
INLINE void combine_columns(double *restrict C, const double *restrict A, const double *restrict B, const int r,
                            const int m, const int n, const bool minus) {
    two sum[2][MOST / 2];
    double odd[2] = {0, 0};
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < r / 2; i++) sum[j][i] = load_two(A + 2 * i) * B[j * m];
        if (r % 2) odd[j] = A[r - 1] * B[j * m];
    }
    for (int k = 1; k < m; k++) {
        const double *a = A + k * r;
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < r / 2; i++) sum[j][i] += load_two(a + 2 * i) * B[k + j * m];
            if (r % 2) odd[j] += a[r - 1] * B[k + j * m];
        }
    }
    for (int j = 0; j < n; j++, C += r) {
        for (int i = 0; i < r / 2; i++) store_two(C + 2 * i, minus ? load_two(C + 2 * i) - sum[j][i] : sum[j][i]);
        if (r % 2) C[r - 1] = minus ? C[r - 1] - odd[j] : odd[j];
    }
}

// All s columns.
INLINE void combine(double *restrict C, const double *restrict A, const double *restrict B, const int r, const int m,
                    const int s, const bool minus) {
    int j = 0;
    for (; j + 1 < s; j += 2) combine_columns(C + j * r, A, B + j * m, r, m, 2, minus);
    if (j < s) combine_columns(C + j * r, A, B + j * m, r, m, 1, minus);
}

static void combine_any(double *restrict C, const double *restrict A, const double *restrict B, int r, int m, int s,
                        bool minus) {
    switch (r) {
    case 1: combine(C, A, B, 1, m, s, minus); return;
    case 2: combine(C, A, B, 2, m, s, minus); return;
    case 3: combine(C, A, B, 3, m, s, minus); return;
    case 4: combine(C, A, B, 4, m, s, minus); return;
    case 5: combine(C, A, B, 5, m, s, minus); return;
    default: combine(C, A, B, 6, m, s, minus); return;
    }
}

// Columns j of X, -= l x with x = X_kj/pivot, which stays in its row.
INLINE void sweep_columns(double *restrict X, const double *restrict l, double inverse, int k, const int d) {
    two by[MOST / 2];
    for (int i = 0; i < d / 2; i++) by[i] = load_two(l + 2 * i);
    for (int j = 0; j < d; j++, X += d) {
        const double x = X[k] *= inverse;
        for (int i = 0; i < d / 2; i++) store_two(X + 2 * i, load_two(X + 2 * i) - by[i] * x);
        if (d % 2) X[d - 1] -= l[d - 1] * x;
    }
}

INLINE void exchange(double *x, double *y, const int d, const int stride) {
    for (int j = 0; j < d; j++) {
        const double t = x[j * stride];
        x[j * stride] = y[j * stride], y[j * stride] = t;
    }
}

// X = A^-1 by elimination with row pivoting, in place: column k of the inverse takes the room of the k-th that is done.
INLINE bool invert_known(const double *restrict A, double *restrict X, const int d) {
    int from[MOST];
    memcpy(X, A, (size_t)(d * d) * sizeof *X);
    for (int k = 0; k < d; k++) {
        int p = k;
        for (int i = k + 1; i < d; i++)
            if (fabs(X[i + k * d]) > fabs(X[p + k * d])) p = i;
        const double pivot = X[p + k * d];
        if (!(fabs(pivot) > 0) || !(fabs(pivot) < HUGE_VAL)) return false;
        from[k] = p;
        if (p != k) exchange(X + k, X + p, d, d);
        double l[MOST];
        for (int i = 0; i < d; i++) l[i] = X[i + k * d], X[i + k * d] = 0;
        l[k] = 0, X[k + k * d] = 1;
        sweep_columns(X, l, 1 / pivot, k, d);
    }
    for (int k = d - 1; k >= 0; k--)
        if (from[k] != k) exchange(X + k * d, X + from[k] * d, d, 1);
    return true;
}

static bool invert(const double *A, double *X, int d) {
    switch (d) {
    case 1: return invert_known(A, X, 1);
    case 2: return invert_known(A, X, 2);
    case 3: return invert_known(A, X, 3);
    case 4: return invert_known(A, X, 4);
    case 5: return invert_known(A, X, 5);
    default: return invert_known(A, X, 6);
    }
}

// -- factorising ---------------------------------------------------------------------------------------------------

// Row i of the matrix into F->row, a panel of its rows times all columns.  d: rows of all blocks, 0: they differ.
INLINE void load(carom_block_lu *F, const carom_block_values *A, int i, const int d) {
    const carom_block_pattern *P = &F->pattern;
    const int block = F->order[i], r = d ? d : F->rows[i];
    const size_t own = MOST * (size_t)P->first[block];
    double *row = F->row;
    for (int e = F->lp[i]; e < F->lp[i + 1]; e++) {
        const int j = F->lc[e], s = d ? d : F->rows[j];
        memset(row + r * F->from[j], 0, (size_t)(r * s) * sizeof *row);
    }
    for (int e = F->up[i]; e < F->up[i + 1]; e++) {
        const int j = F->uc[e], s = d ? d : F->rows[j];
        memset(row + r * F->from[j], 0, (size_t)(r * s) * sizeof *row);
    }
    for (int k = P->start[block]; k < P->start[block + 1]; k++) {
        const int j = F->place[P->col[k]], s = d ? d : F->rows[j];
        if (F->skip[j]) continue;
        const double *a = A->value + P->at[k];
        double *to = row + r * F->from[j];
        if (A->plain[block]) memcpy(to, a, (size_t)(r * s) * sizeof *a);
        else multiply(to, A->T + own, a, r, r, s);
    }
    for (int q = 0; A->S && q < r * r; q++) row[r * F->from[i] + q] += A->S[own + (size_t)q];
}

INLINE bool factor(carom_block_lu *F, const carom_block_values *A, const int d) {
    for (int i = 0; i < F->nb; i++) {
        F->used[i] = 0;
        if (F->skip[i]) continue;
        const int r = d ? d : F->rows[i];
        load(F, A, i, d);
        double *l = F->L + F->la[i];
        for (int e = F->lp[i]; e < F->lp[i + 1]; e++) {
            const int k = F->lc[e], m = d ? d : F->rows[k];
            if (F->skip[k]) continue;
            const double *u = F->U + F->ua[k];
            const int *uj = F->uj + F->up[k], count = F->used[k];
            if (d) multiply(l, F->row + r * F->from[k], F->D + F->da[k], r, m, m);
            else combine_any(l, F->row + r * F->from[k], F->D + F->da[k], r, m, m, false);
            if (d == 3) subtract_three(F->row, F->from, l, u, uj, count);
            for (int g = 0; g < count && d != 3; g++) {
                const int j = uj[g], s = d ? d : F->rows[j];
                if (d) subtract(F->row + r * F->from[j], l, u, r, m, s);
                else combine_any(F->row + r * F->from[j], l, u, r, m, s, true);
                u += m * s;
            }
            l += r * m;
        }
        double *u = F->U + F->ua[i];
        for (int e = F->up[i]; e < F->up[i + 1]; e++) {
            const int j = F->uc[e], s = d ? d : F->rows[j];
            if (F->skip[j]) continue;
            memcpy(u, F->row + r * F->from[j], (size_t)(r * s) * sizeof *u);
            u += r * s;
            F->uj[F->up[i] + F->used[i]++] = j;
        }
        if (!invert(F->row + r * F->from[i], F->D + F->da[i], r)) return false;
    }
    return true;
}

bool carom_block_lu_factor(carom_block_lu *F, const carom_block_values *A) {
    switch (F->pattern.uniform) {
    case 1: return factor(F, A, 1);
    case 2: return factor(F, A, 2);
    case 3: return factor(F, A, 3);
    default: return factor(F, A, 0);
    }
}

// -- solving -------------------------------------------------------------------------------------------------------

INLINE void solve(carom_block_lu *F, const double *b, double *x, const int d) {
    const int *first = F->pattern.first;
    double *y = F->y;
    for (int i = 0; i < F->nb; i++) {
        const int r = d ? d : F->rows[i], at = first[F->order[i]];
        double *z = y + F->from[i];
        const double *l = F->L + F->la[i];
        for (int q = 0; q < r; q++) z[q] = F->skip[i] ? 0 : b[at + q];
        for (int e = F->lp[i]; !F->skip[i] && e < F->lp[i + 1]; e++) {
            const int k = F->lc[e], m = d ? d : F->rows[k];
            if (F->skip[k]) continue;
            carom_subtract_product(z, l, y + F->from[k], r, m);
            l += r * m;
        }
    }
    for (int i = F->nb - 1; i >= 0; i--) {
        const int r = d ? d : F->rows[i], at = first[F->order[i]];
        double *z = y + F->from[i], sum[MOST];
        const double *u = F->U + F->ua[i], *D = F->D + F->da[i];
        for (int q = 0; q < r; q++) sum[q] = 0;
        for (int g = 0; g < F->used[i]; g++) {
            const int j = F->uj[F->up[i] + g], s = d ? d : F->rows[j];
            carom_subtract_product(z, u, y + F->from[j], r, s);
            u += r * s;
        }
        if (!F->skip[i]) carom_subtract_product(sum, D, z, r, r);
        for (int q = 0; q < r; q++) x[at + q] = z[q] = 0 - sum[q];
    }
}

void carom_block_lu_solve(carom_block_lu *F, const double *b, double *x) {
    switch (F->pattern.uniform) {
    case 1: solve(F, b, x, 1); return;
    case 2: solve(F, b, x, 2); return;
    case 3: solve(F, b, x, 3); return;
    default: solve(F, b, x, 0);
    }
}

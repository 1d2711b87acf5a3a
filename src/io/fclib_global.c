// fclib_global.c: a global problem of FCLIB becomes a local one:
//
//     W = H' M^-1 H,   V = H' M^-1 G,   R = G' M^-1 G,   q = H' M^-1 f + w,   s = G' M^-1 f + b
//
// Columns of M^-1 (H G) are solved one by one; they are short where M consists of bodies.
#include "base/grow.h"
#include "io/fclib.h"
#include <carom/sparse.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Columns of H, then of G; and the same by rows, to find those that share an unknown of v.
typedef struct {
    int n, columns;          // unknowns of v, columns of H and G
    size_t *start, *across;  // columns + 1, n + 1
    int *row, *column;       // by column, by row
    double *x, *y;           // likewise
} sheaf;

static void sheaf_free(sheaf *s) {
    free(s->start), free(s->across), free(s->row), free(s->column), free(s->x), free(s->y);
}

static bool sheaf_make(sheaf *s, const fclib_matrix *H, const fclib_matrix *G) {
    const size_t count = H->count + G->count;
    s->start = calloc((size_t)s->columns + 2, sizeof *s->start),
    s->across = calloc((size_t)s->n + 2, sizeof *s->across);
    s->row = calloc(count + 1, sizeof *s->row), s->column = calloc(count + 1, sizeof *s->column);
    s->x = calloc(count + 1, sizeof *s->x), s->y = calloc(count + 1, sizeof *s->y);
    if (!s->start || !s->across || !s->row || !s->column || !s->x || !s->y) return false;
    for (int pass = 0; pass < 2; ++pass) // counts, then places
        for (size_t k = 0; k < count; ++k) {
            const problem_entry *e = k < H->count ? H->entry + k : G->entry + (k - H->count);
            const int col = k < H->count ? e->col : H->n + e->col;
            if (pass == 0) {
                s->start[col + 2] += 1, s->across[e->row + 2] += 1;
                if (k + 1 < count) continue;
                for (int j = 0; j < s->columns; ++j) s->start[j + 2] += s->start[j + 1];
                for (int i = 0; i < s->n; ++i) s->across[i + 2] += s->across[i + 1];
                continue;
            }
            const size_t a = s->start[col + 1]++, b = s->across[e->row + 1]++;
            s->row[a] = e->row, s->x[a] = e->x;
            s->column[b] = col, s->y[b] = e->x;
        }
    return true;
}

static bool put(fclib_matrix *A, int row, int col, double x) {
    if (A->count == MOST_ENTRIES || !CAROM_GROW(A->entry, A->count)) return false;
    A->entry[A->count++] = (problem_entry){row, col, x};
    return true;
}

// sum = (H G)' x; touched: columns that x meets, their number returned
static int products(const sheaf *s, const double *x, double *sum, int *touched, bool *seen) {
    int n = 0;
    for (int i = 0; i < s->n; ++i) {
        if (x[i] == 0) continue;
        for (size_t k = s->across[i]; k < s->across[i + 1]; ++k) {
            const int col = s->column[k];
            if (!seen[col]) seen[col] = true, sum[col] = 0, touched[n++] = col;
            sum[col] += s->y[k] * x[i];
        }
    }
    for (int k = 0; k < n; ++k) seen[touched[k]] = false;
    return n;
}

static bool form(fclib_local *p, const sheaf *s, const carom_factor *F, const double *f, const double *w,
                 const double *b, double *x, double *sum, int *touched, bool *seen) {
    const int rows = p->nc * p->spacedim;
    for (int j = 0; j < s->columns; ++j) {
        for (int i = 0; i < s->n; ++i) x[i] = 0;
        for (size_t k = s->start[j]; k < s->start[j + 1]; ++k) x[s->row[k]] += s->x[k];
        carom_factor_solve(F, x);
        const int n = products(s, x, sum, touched, seen);
        for (int k = 0; k < n; ++k) {
            const int i = touched[k];
            const bool good = j < rows ? i >= rows || put(&p->W, i, j, sum[i])
                              : i < rows ? put(&p->V, i, j - rows, sum[i]) : put(&p->R, i - rows, j - rows, sum[i]);
            if (!good) return false;
        }
    }
    for (int i = 0; i < s->n; ++i) x[i] = f[i];
    carom_factor_solve(F, x);
    for (int j = 0; j < s->columns; ++j) {
        double c = j < rows ? w[j] : b[j - rows];
        for (size_t k = s->start[j]; k < s->start[j + 1]; ++k) c += s->x[k] * x[s->row[k]];
        if (j < rows) p->q[j] = c;
        else p->s[j - rows] = c;
    }
    return true;
}

// M, factorised, in an arena of its own.
typedef struct { carom_pattern *pattern; carom_arena mem; carom_factor F; } inverse;

static carom_status factorise(inverse *v, const fclib_matrix *M, const char *file, carom_error *err) {
    int *row = calloc(M->count + 1, sizeof *row), *col = calloc(M->count + 1, sizeof *col), where = 0;
    for (size_t k = 0; row && col && k < M->count; ++k) row[k] = M->entry[k].row, col[k] = M->entry[k].col;
    if (row && col) v->pattern = carom_pattern_create(M->m, M->count, row, col, carom_direct_klu());
    free(row), free(col);
    if (!v->pattern) return problem_no_memory(err, file);
    const carom_shape shape = carom_shape_sparse(v->pattern);
    carom_arena count = {0};
    carom_allocate_matrix(&count, shape);
    carom_allocate_factor(&count, shape, false);
    carom_arena_release(&count);
    v->mem = (carom_arena){.base = aligned_alloc(64, (count.used + 127) / 64 * 64), .size = count.used};
    if (!v->mem.base) return problem_no_memory(err, file);
    memset(v->mem.base, 0, count.used);
    const carom_matrix A = carom_allocate_matrix(&v->mem, shape);
    v->F = carom_allocate_factor(&v->mem, shape, false);
    if (v->mem.failed) return problem_no_memory(err, file);
    for (size_t k = 0; k < M->count; ++k) *carom_matrix_entry(A, M->entry[k].row, M->entry[k].col) += M->entry[k].x;
    if (carom_factorise(&v->F, A, &where) == CAROM_OK) return CAROM_OK;
    return carom_fail(err, CAROM_BAD_INPUT,
                      "%.200s: the matrix M is singular (row %d), so that velocities do not follow from forces", file,
                      where);
}

carom_status fclib_eliminate(fclib_local *p, const fclib_matrix *M, const fclib_matrix *H, const fclib_matrix *G,
                             const double *f, const double *w, const double *b, const char *file, carom_error *err) {
    const int rows = H->n;
    sheaf s = {.n = M->m, .columns = H->n + p->ne};
    inverse v = {0};
    carom_status status = s.n > 0 ? factorise(&v, M, file, err) : CAROM_OK;
    double *x = calloc((size_t)s.n + 1, sizeof *x), *sum = calloc((size_t)s.columns + 1, sizeof *sum);
    int *touched = calloc((size_t)s.columns + 1, sizeof *touched);
    bool *seen = calloc((size_t)s.columns + 1, sizeof *seen);
    p->q = calloc((size_t)rows + 1, sizeof *p->q), p->s = calloc((size_t)p->ne + 1, sizeof *p->s);
    p->W = (fclib_matrix){.m = rows, .n = rows}, p->V = (fclib_matrix){.m = rows, .n = p->ne},
    p->R = (fclib_matrix){.m = p->ne, .n = p->ne};
    if (status == CAROM_OK && !(x && sum && touched && seen && p->q && p->s && sheaf_make(&s, H, G) &&
                                (s.n == 0 || form(p, &s, &v.F, f, w, b, x, sum, touched, seen))))
        status = problem_no_memory(err, file);
    sheaf_free(&s);
    free(x), free(sum), free(touched), free(seen);
    carom_arena_release(&v.mem);
    free(v.mem.base);
    carom_pattern_destroy(v.pattern);
    return status;
}

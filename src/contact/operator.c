// operator.c: products with G by blocks, from and to a dense matrix.
//
// Blocks of one, two and three rows throughout (frictionless, planar, spatial) have kernels of their own; the rest
// takes the general one.
#include "contact/operator.h"
#include <math.h>

#define INLINE static inline __attribute__((always_inline))

// Blocks of d rows, d a constant.
INLINE void row_uniform(const carom_problem *pb, int b, const double *p, double *y, const int d) {
    const carom_block_rows *R = pb->rows;
    const double *g = R->value + (size_t)R->start[b] * (size_t)(d * d);
    double a[3];
    for (int i = 0; i < d; i++) a[i] = pb->c[b * d + i];
    for (int k = R->start[b]; k < R->start[b + 1]; k++, g += d * d) {
        const double *x = p + (size_t)R->col[k] * (size_t)d;
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) a[i] += g[i + j * d] * x[j];
    }
    for (int i = 0; i < d; i++) y[i] = a[i];
}

static void row_any(const carom_problem *pb, int b, const double *p, double *y) {
    const carom_block_rows *R = pb->rows;
    const int rows = carom_rows_of(pb->block + b), at = pb->block[b].at;
    double a[1 + CAROM_TANGENTS];
    for (int i = 0; i < rows; i++) a[i] = pb->c[at + i];
    const double *g = R->value + R->at[R->start[b]];
    for (int k = R->start[b]; k < R->start[b + 1]; k++) {
        const carom_block *other = pb->block + R->col[k];
        const double *x = p + other->at;
        for (int j = 0; j < carom_rows_of(other); j++, g += rows)
            for (int i = 0; i < rows; i++) a[i] += g[i] * x[j];
    }
    for (int i = 0; i < rows; i++) y[i] = a[i];
}

void carom_rows_row(const carom_problem *pb, int b, const double *p, double *y) {
    switch (pb->rows->uniform) {
    case 1: row_uniform(pb, b, p, y, 1); return;
    case 2: row_uniform(pb, b, p, y, 2); return;
    case 3: row_uniform(pb, b, p, y, 3); return;
    default: row_any(pb, b, p, y);
    }
}

void carom_rows_multiply(const carom_problem *pb, const double *p, double *u) {
    const int d = pb->rows->uniform;
    if (d == 3)
        for (int b = 0; b < pb->nb; b++) row_uniform(pb, b, p, u + 3 * (size_t)b, 3);
    else if (d == 2)
        for (int b = 0; b < pb->nb; b++) row_uniform(pb, b, p, u + 2 * (size_t)b, 2);
    else
        for (int b = 0; b < pb->nb; b++) carom_rows_row(pb, b, p, u + pb->block[b].at);
}

void carom_rows_diagonal(const carom_problem *pb, double *d) {
    for (int b = 0; b < pb->nb; b++) {
        const int rows = carom_rows_of(pb->block + b);
        const double *g = carom_own_block(pb, b);
        for (int i = 0; i < rows; i++) d[pb->block[b].at + i] = g[i * (rows + 1)];
    }
}

void carom_rows_sums(const carom_problem *pb, double *r) {
    const carom_block_rows *R = pb->rows;
    for (int i = 0; i < pb->n; i++) r[i] = 0;
    for (int b = 0; b < pb->nb; b++) {
        const int rows = carom_rows_of(pb->block + b);
        const double *g = R->value + R->at[R->start[b]];
        for (int k = R->start[b]; k < R->start[b + 1]; k++)
            for (int j = 0; j < carom_rows_of(pb->block + R->col[k]); j++, g += rows)
                for (int i = 0; i < rows; i++) r[pb->block[b].at + i] += fabs(g[i]);
    }
}

void carom_problem_copy(const carom_problem *pb, double *G, int ld) {
    for (int j = 0; j < pb->n; j++)
        for (int i = 0; i < pb->n; i++)
            G[i + (size_t)j * (size_t)ld] =
                carom_problem_inside(pb, i, j) ? pb->G[i + (size_t)j * (size_t)pb->ld] : 0;
}

void carom_problem_expand(const carom_problem *pb, double *G, int ld) {
    const carom_block_rows *R = pb->rows;
    for (int j = 0; j < pb->n; j++)
        for (int i = 0; i < pb->n; i++) G[i + (size_t)j * (size_t)ld] = 0;
    for (int b = 0; b < pb->nb; b++) {
        const int rows = carom_rows_of(pb->block + b);
        for (int k = R->start[b]; k < R->start[b + 1]; k++) {
            const carom_block *other = pb->block + R->col[k];
            const double *g = R->value + R->at[k];
            double *to = G + pb->block[b].at + (size_t)other->at * (size_t)ld;
            for (int j = 0; j < carom_rows_of(other); j++, to += ld)
                for (int i = 0; i < rows; i++) to[i] = *g++;
        }
    }
}

void carom_allocate_rows(carom_rows_space *s, carom_arena *mem, int n, int nb, size_t values) {
    const size_t m = (size_t)n, b = (size_t)nb;
    s->values = m * m < values ? m * m : values;
    s->blocks = b * b < s->values ? b * b : s->values;
    s->start = carom_allocate_ints(mem, b + 1);
    s->diagonal = carom_allocate_ints(mem, b);
    s->col = carom_allocate_ints(mem, s->blocks);
    s->at = carom_allocate_ints(mem, s->blocks);
    s->value = carom_allocate(mem, s->values);
}

static bool any(const double *g, int ld, int rows, int cols) {
    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            if (g[i + (size_t)j * (size_t)ld] != 0) return true; // NaN counts
    return false;
}

bool carom_rows_gather(carom_rows_space *s, const carom_problem *pb, carom_block_rows *rows) {
    size_t k = 0, used = 0;
    int uniform = pb->nb > 0 ? carom_rows_of(pb->block) : 0;
    for (int b = 0; b < pb->nb; b++) {
        const int at = pb->block[b].at, m = carom_rows_of(pb->block + b);
        int first = 0; // row b is zero before it
        for (int i = 0; pb->first && i < m; i++)
            first = i == 0 || pb->first[at + i] < first ? pb->first[at + i] : first;
        if (m != uniform) uniform = 0;
        s->start[b] = (int)k;
        for (int c = 0; c < pb->nb; c++) {
            const int from = pb->block[c].at, width = carom_rows_of(pb->block + c);
            if (from + width <= first) continue;
            const double *g = pb->G + at + (size_t)from * (size_t)pb->ld;
            if (c != b && !any(g, pb->ld, m, width)) continue;
            if (k == s->blocks || used + (size_t)(m * width) > s->values) return false;
            if (c == b) s->diagonal[b] = (int)k;
            s->col[k] = c;
            s->at[k++] = (int)used;
            for (int j = 0; j < width; j++)
                for (int i = 0; i < m; i++) s->value[used++] = g[i + (size_t)j * (size_t)pb->ld];
        }
    }
    s->start[pb->nb] = (int)k;
    *rows = (carom_block_rows){
        .start = s->start, .col = s->col, .at = s->at, .diagonal = s->diagonal, .value = s->value, .uniform = uniform};
    return true;
}

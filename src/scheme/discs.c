// discs.c: sliding, rolling and spinning with a bound each: |p_T| <= mu p_N, |p_R| <= mu p_N, |p_S| <= mu p_N (levers
// are in the directions, SHP-13).
//
// No solver knows such a contact.  It becomes up to three blocks with friction: the first has the normal and the slip,
// the others a copy of the normal impulse, which does not act, and rolling or spinning:
// (DSC-1)  u_copy = D (p_copy - p_N),  0 <= u_copy _|_ p_copy >= 0,  D = G_NN:  p_copy = max(p_N, 0)
// G is not symmetric then.
#include "scheme/discs.h"
#include "contact/delassus.h"
#include "contact/residual.h"
#include <string.h>

bool carom_discs_used(const carom_system *sys) {
    for (int i = 0; i < sys->nc; ++i)
        if (sys->contacts[i].disc[0] > 0) return true;
    return false;
}

carom_discs *carom_allocate_discs(carom_arena *mem, const carom_system *sys, int n, int nb, size_t blocks,
                                  size_t values) {
    carom_discs *x = carom_allocate_bytes(mem, sizeof *x), scratch, *to = x ? x : &scratch;
    const size_t rows = (size_t)n + CAROM_DISC_ROWS * (size_t)nb, many = CAROM_DISC_BLOCKS * (size_t)nb;
    to->row = carom_allocate_ints(mem, rows);
    to->normal = carom_allocate_ints(mem, rows);
    to->of = carom_allocate_ints(mem, many);
    to->first = carom_allocate_ints(mem, (size_t)nb + 1);
    to->block = carom_allocate_bytes(mem, many * sizeof *to->block);
    to->disc = carom_allocate_bytes(mem, (size_t)nb * sizeof *to->disc);
    double **const lines[] = {&to->c, &to->p, &to->u};
    for (int i = 0; i < 3; ++i) *lines[i] = carom_allocate(mem, rows);
    const size_t dense = carom_delassus_dense_rows(sys, (size_t)n, false),
                 side = dense < (size_t)n ? (1 + CAROM_DISC_ROWS) * dense : rows;
    to->G = carom_allocate(mem, side * side);
    to->space = (carom_rows_space){.blocks = 9 * blocks, .values = 2 * values};
    if (!blocks) return x;
    to->space.start = carom_allocate_ints(mem, many + 1);
    to->space.diagonal = carom_allocate_ints(mem, many);
    to->space.col = carom_allocate_ints(mem, to->space.blocks);
    to->space.at = carom_allocate_ints(mem, to->space.blocks);
    to->space.value = carom_allocate(mem, to->space.values);
    return x;
}

const int (*carom_discs_find(carom_discs *x, const carom_system *sys, const int *id, int nb))[2] {
    for (int b = 0; b < nb; ++b)
        for (int k = 0; k < 2; ++k)
            x->disc[b][k] = id[b] < sys->ne || !(sys->contacts[id[b] - sys->ne].friction > 0)
                                ? 0
                                : sys->contacts[id[b] - sys->ne].disc[k];
    return (const int(*)[2])x->disc;
}

// Rows of a contact's discs, in turn: sliding, rolling, spinning.
static int discs_of(const carom_block *b, const int disc[2], int size[3]) {
    const int tangents = carom_law_rows(b->law) - 1, given[3] = {disc[0], disc[1], tangents - disc[0] - disc[1]};
    int n = 0;
    if (!disc[0] || tangents < 1) return 0;
    for (int i = 0; i < 3; ++i)
        if (given[i] > 0) size[n++] = given[i];
    return n;
}

static void add_row(carom_discs *x, int row, int normal) { x->row[x->n] = row, x->normal[x->n++] = normal; }

static void add_block(carom_discs *x, int of, carom_law law, double mu) {
    x->of[x->nb] = of;
    x->block[x->nb++] = (carom_block){.law = law, .at = x->n, .mu = mu};
}

// Blocks and rows.
static void plan(carom_discs *x, const carom_problem *from) {
    x->n = x->nb = 0;
    for (int b = 0; b < from->nb; ++b) {
        const carom_block *of = from->block + b;
        int size[3] = {0}, row = of->at + 1;
        const int discs = discs_of(of, from->disc[b], size), normal = x->n;
        x->first[b] = x->nb;
        add_block(x, b, discs ? carom_law_friction(size[0]) : of->law, of->mu);
        add_row(x, of->at, 0);
        for (int i = 1; !discs && i < carom_law_rows(of->law); ++i) add_row(x, row++, 0);
        for (int k = 0; k < discs; ++k) {
            if (k > 0) add_block(x, b, carom_law_friction(size[k]), of->mu), add_row(x, -1, normal);
            for (int i = 0; i < size[k]; ++i) add_row(x, row++, 0);
        }
    }
    x->first[from->nb] = x->nb;
}

static void split_dense(carom_discs *x, const carom_problem *from) {
    const size_t n = (size_t)x->n;
    for (int k = 0; k < x->n; ++k)
        for (int i = 0; i < x->n; ++i)
            x->G[(size_t)i + (size_t)k * n] =
                x->row[i] < 0 || x->row[k] < 0 ? 0 : from->G[x->row[i] + (size_t)x->row[k] * (size_t)from->ld];
    for (int i = 0; i < x->n; ++i) {
        if (x->row[i] >= 0) continue;
        const size_t N = (size_t)x->normal[i];
        const double D = x->G[N + N * n] > 0 ? x->G[N + N * n] : 1; // (DSC-1)
        x->G[(size_t)i + (size_t)i * n] = D;
        x->G[(size_t)i + N * n] = -D;
    }
}

// Block (b, c) of the problem that is solved, out of block k of the one given; (DSC-1)
static void fill_block(const carom_discs *x, const carom_problem *from, int k, int b, int c, double *to) {
    const carom_block *B = x->block + b, *C = x->block + c, *of = from->block + x->of[b], *on = from->block + x->of[c];
    const int rows = carom_rows_of(B), columns = carom_rows_of(C), ld = carom_rows_of(of);
    const double *g = from->rows->value + from->rows->at[k];
    for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) {
            const int row = x->row[B->at + i], column = x->row[C->at + j];
            to[i + j * rows] = row < 0 || column < 0 ? 0 : g[row - of->at + (column - on->at) * ld];
        }
    if (x->of[b] != x->of[c] || x->row[B->at] >= 0) return;
    const double *own = carom_rows_diagonal_block(from->rows, x->of[b]), D = own[0] > 0 ? own[0] : 1;
    if (b == c) to[0] = D;
    else if (C->at == x->normal[B->at]) to[0] = -D;
}

static bool split_rows(carom_discs *x, const carom_problem *from) {
    const carom_block_rows *R = from->rows;
    carom_rows_space *s = &x->space;
    size_t k = 0, used = 0;
    int uniform = x->nb ? carom_rows_of(x->block) : 0;
    for (int b = 0; b < x->nb; ++b) {
        const int of = x->of[b], rows = carom_rows_of(x->block + b);
        if (rows != uniform) uniform = 0;
        s->start[b] = (int)k;
        for (int m = R->start[of]; m < R->start[of + 1]; ++m)
            for (int c = x->first[R->col[m]]; c < x->first[R->col[m] + 1]; ++c) {
                const size_t size = (size_t)(rows * carom_rows_of(x->block + c));
                if (k == s->blocks || used + size > s->values) return false;
                if (c == b) s->diagonal[b] = (int)k;
                s->col[k] = c;
                s->at[k++] = (int)used;
                fill_block(x, from, m, b, c, s->value + used);
                used += size;
            }
    }
    s->start[x->nb] = (int)k;
    x->rows = (carom_block_rows){
        .start = s->start, .col = s->col, .at = s->at, .diagonal = s->diagonal, .value = s->value, .uniform = uniform};
    return true;
}

bool carom_discs_split(carom_discs *x, const carom_problem *from, carom_problem *to) {
    plan(x, from);
    if (from->G) split_dense(x, from);
    else if (!split_rows(x, from)) return false;
    for (int i = 0; i < x->n; ++i) {
        const int normal = x->row[x->normal[i]];
        x->c[i] = x->row[i] < 0 ? 0 : from->c[x->row[i]];
        x->p[i] = from->p[x->row[i] < 0 ? normal : x->row[i]];
    }
    *to = (carom_problem){.n = x->n,
                          .nb = x->nb,
                          .ld = x->n,
                          .block = x->block,
                          .G = from->G ? x->G : NULL,
                          .rows = from->G ? NULL : &x->rows,
                          .c = x->c,
                          .p = x->p,
                          .u = x->u,
                          .acceptable = from->acceptable,
                          .team = from->team};
    return true;
}

void carom_discs_join(const carom_discs *x, const carom_problem *to, const carom_problem *from) {
    for (int i = 0; i < x->n; ++i)
        if (x->row[i] >= 0) from->p[x->row[i]] = to->p[i], from->u[x->row[i]] = to->u[i];
}

// problem_data.c: contact problems being read and written, in memory; all formats fill them.
#include "base/grow.h"
#include "contact/operator.h"
#include "contact/residual.h"
#include "io/problem_data.h"
#include <stdlib.h>

carom_status problem_no_memory(carom_error *err, const char *file) {
    return carom_fail(err, CAROM_NO_MEMORY, "%.200s: not enough memory for the problem", file);
}

static int rows_of(const carom_block *b) { return carom_law_rows(b->law); }

void problem_data_destroy(problem_data *d) {
    if (!d) return;
    void *parts[] = {d->block, d->start, d->col, d->at, d->diagonal, d->value, d->c, d->p, d->u, d->title};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) free(parts[i]);
    free(d);
}

static void *zeros(size_t count, size_t size) { return calloc(count + 1, size); }

// Entries sorted by block row and then block column, stable: order[k] is the k-th.  first has room for nb + 1.
static void sort_entries(const problem_entry *entry, size_t count, const int *block_of, int nb, size_t *first,
                         size_t *order, size_t *scratch) {
    for (int pass = 0; pass < 2; ++pass) {
        for (int b = 0; b <= nb; ++b) first[b] = 0;
        for (size_t k = 0; k < count; ++k) first[block_of[pass ? entry[k].row : entry[k].col] + 1] += 1;
        for (int b = 0; b < nb; ++b) first[b + 1] += first[b];
        for (size_t k = 0; k < count; ++k) {
            const size_t e = pass ? scratch[k] : k;
            (pass ? order : scratch)[first[block_of[pass ? entry[e].row : entry[e].col]]++] = e;
        }
    }
}

// Blocks that the sorted entries touch, and the diagonal: counted, or filled in.
static void lay_out(problem_data *d, const problem_entry *entry, size_t count, const int *block_of, const size_t *order,
                    size_t *blocks, size_t *values, bool fill) {
    size_t k = 0, used = 0, n = 0;
    for (int b = 0; b < d->pb.nb; ++b) {
        const int rows = rows_of(d->block + b);
        bool diagonal = false;
        if (fill) d->start[b] = (int)n;
        while (true) {
            const bool more = k < count && block_of[entry[order[k]].row] == b;
            int c = more ? block_of[entry[order[k]].col] : b;
            if (!diagonal && c >= b) {
                if (fill) d->diagonal[b] = (int)n;
                diagonal = true;
                c = b;
            } else if (!more) break;
            const int width = rows_of(d->block + c);
            if (fill) d->col[n] = c, d->at[n] = (int)used;
            for (; k < count && block_of[entry[order[k]].row] == b && block_of[entry[order[k]].col] == c; ++k) {
                const problem_entry *e = entry + order[k];
                if (fill)
                    d->value[used + (size_t)(e->row - d->block[b].at) +
                             (size_t)(e->col - d->block[c].at) * (size_t)rows] += e->x;
            }
            ++n;
            used += (size_t)(rows * width);
        }
    }
    *blocks = n;
    *values = used;
    if (fill) d->start[d->pb.nb] = (int)n;
}

static bool build(problem_data *d, const problem_entry *entry, size_t count, int *block_of, size_t *first,
                  size_t *order, size_t *scratch) {
    size_t blocks = 0, values = 0;
    const int nb = d->pb.nb, n = d->pb.n;
    for (int b = 0; b < nb; ++b)
        for (int i = 0; i < rows_of(d->block + b); ++i) block_of[d->block[b].at + i] = b;
    sort_entries(entry, count, block_of, nb, first, order, scratch);
    lay_out(d, entry, count, block_of, order, &blocks, &values, false);
    if (values > MOST_ENTRIES) return false;
    d->values = values;
    d->start = zeros((size_t)nb + 1, sizeof *d->start);
    d->col = zeros(blocks, sizeof *d->col);
    d->at = zeros(blocks, sizeof *d->at);
    d->diagonal = zeros((size_t)nb, sizeof *d->diagonal);
    d->value = zeros(values, sizeof *d->value);
    d->c = zeros((size_t)n, sizeof *d->c);
    d->p = zeros((size_t)n, sizeof *d->p);
    d->u = zeros((size_t)n, sizeof *d->u);
    if (!d->start || !d->col || !d->at || !d->diagonal || !d->value || !d->c || !d->p || !d->u) return false;
    lay_out(d, entry, count, block_of, order, &blocks, &values, true);
    int uniform = nb > 0 ? rows_of(d->block) : 0;
    for (int b = 0; b < nb; ++b)
        if (rows_of(d->block + b) != uniform) uniform = 0;
    d->rows = (carom_block_rows){
        .start = d->start, .col = d->col, .at = d->at, .diagonal = d->diagonal, .value = d->value, .uniform = uniform};
    d->pb.c = d->c, d->pb.p = d->p, d->pb.u = d->u, d->pb.rows = &d->rows;
    return true;
}

problem_data *problem_data_create(const carom_block *block, int nb, const problem_entry *entry, size_t count) {
    problem_data *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->block = zeros((size_t)nb, sizeof *d->block);
    if (!d->block) return free(d), NULL;
    int n = 0;
    for (int b = 0; b < nb; ++b) d->block[b] = block[b], d->block[b].at = n, n += rows_of(block + b);
    d->pb = (carom_problem){.n = n, .nb = nb, .ld = n > 0 ? n : 1, .block = d->block};
    int *block_of = zeros((size_t)n, sizeof *block_of);
    size_t *first = zeros((size_t)nb + 1, sizeof *first), *order = zeros(count, sizeof *order),
           *scratch = zeros(count, sizeof *scratch);
    const bool good = block_of && first && order && scratch && build(d, entry, count, block_of, first, order, scratch);
    free(block_of);
    free(first);
    free(order);
    free(scratch);
    if (good) return d;
    problem_data_destroy(d);
    return NULL;
}

carom_status problem_list_append(carom_problem_list *list, problem_data *d, carom_error *err) {
    if (!d || !CAROM_GROW(list->item, list->n)) {
        problem_data_destroy(d);
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the contact problem");
    }
    list->item[list->n++] = d;
    return CAROM_OK;
}

size_t problem_entries(const carom_problem *pb, problem_entry *to) {
    size_t n = 0;
    for (int j = 0; !pb->rows && j < pb->n; ++j)
        for (int i = 0; i < pb->n; ++i) {
            const double x = carom_problem_inside(pb, i, j) ? pb->G[i + (size_t)j * (size_t)pb->ld] : 0;
            if (x == 0) continue;
            if (to) to[n] = (problem_entry){i, j, x};
            ++n;
        }
    for (int b = 0; pb->rows && b < pb->nb; ++b)
        for (int k = pb->rows->start[b]; k < pb->rows->start[b + 1]; ++k) {
            const carom_block *other = pb->block + pb->rows->col[k];
            const double *g = pb->rows->value + pb->rows->at[k];
            for (int j = 0; j < rows_of(other); ++j)
                for (int i = 0; i < rows_of(pb->block + b); ++i, ++g) {
                    if (to) to[n] = (problem_entry){pb->block[b].at + i, other->at + j, *g};
                    ++n;
                }
        }
    return n;
}

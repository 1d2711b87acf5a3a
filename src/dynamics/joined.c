// joined.c: see joined.h.
#include "dynamics/joined.h"
#include "base/block.h"
#include "base/grow.h"
#include "linalg/matrix.h"
#include "sparse/pivots.h"
#include <stdlib.h>
#include <string.h>

enum { MANY = 30 }; // rows of joints: fewer are rows of the contact problem

typedef struct entries { int *row, *col; size_t n; bool good; } entries;

bool carom_joined_open(carom_joined *J, const carom_system *sys, carom_shape A, bool masses, const carom_columns *W) {
    *J = (carom_joined){.nv = sys->nv, .ne = sys->ne, .shape = A, .stride = W->stride};
    J->on = sys->ne >= MANY && A.storage != CAROM_DENSE && W->count != NULL;
    if (!J->on) return true;
    const size_t columns = (size_t)J->ne * (size_t)(J->stride + 1);
    J->of_A = calloc(carom_shape_size(A) + 1, sizeof *J->of_A);
    J->known = calloc(3 * columns, sizeof *J->known);
    J->x = calloc((size_t)(J->nv + J->ne), sizeof *J->x);
    if (!J->of_A || !J->known || !J->x) return false;
    J->above = J->known + columns, J->below = J->above + columns;
    for (int round = 0; round < 2 && masses; ++round) {
        J->S = carom_allocate_saddle(&J->mem, sys->nv, sys->nparts, sys->part, sys->ne, A, J->stride, NULL);
        if (round == 0 && !carom_arena_begin(&J->mem)) return false;
    }
    return true;
}

static void forget(carom_joined *J) {
    if (J->direct) J->pattern->direct->destroy(J->direct);
    carom_pattern_destroy(J->pattern);
    free(J->a);
    J->direct = NULL, J->pattern = NULL, J->a = NULL;
}

void carom_joined_close(carom_joined *J) {
    forget(J);
    free(J->of_A), free(J->known), free(J->x);
    carom_arena_release(&J->mem);
    free(J->mem.base);
    *J = (carom_joined){0};
}

static void put(entries *E, int i, int j) {
    E->good = E->good && CAROM_GROW(E->row, E->n) && CAROM_GROW(E->col, E->n);
    if (E->good) E->row[E->n] = i, E->col[E->n++] = j;
}

// Entries of A: their rows and columns to E or, where the pattern is there, their places in it.
static void put_matrix(const carom_joined *J, entries *E, int *place) {
    const carom_pattern *P = J->shape.storage == CAROM_SPARSE ? J->shape.pattern : NULL;
    int i, j = 0;
    for (size_t e = 0; e < carom_shape_size(J->shape); ++e) {
        while (P && (int)e >= P->start[j + 1]) ++j;
        const bool there = P ? (i = P->row[e], true) : carom_shape_entry(J->shape, e, &i, &j);
        if (place) place[e] = there ? carom_pattern_find(J->pattern, i, j) : -1;
        else if (there) put(E, i, j);
    }
}

// The pattern of A and W, and of what it had before.
static carom_status analyse(carom_joined *J, const carom_columns *W) {
    const int n = J->nv + J->ne;
    entries E = {.good = true};
    put_matrix(J, &E, NULL);
    for (int k = 0; k < J->ne; ++k)
        for (int e = 0; e < W->count[k]; ++e) {
            const int i = carom_column_rows(W, k)[e];
            put(&E, i, J->nv + k), put(&E, J->nv + k, i);
        }
    for (int j = 0; J->pattern && j < n; ++j)
        for (int e = J->pattern->start[j]; e < J->pattern->start[j + 1]; ++e) put(&E, J->pattern->row[e], j);
    forget(J);
    J->pattern = E.good ? carom_pattern_create(n, E.n, E.row, E.col, carom_direct_pivots()) : NULL;
    free(E.row), free(E.col);
    J->direct = J->pattern && J->pattern->direct ? J->pattern->direct->create(J->pattern, false) : NULL;
    J->a = J->direct ? calloc((size_t)J->pattern->start[n] + 1, sizeof *J->a) : NULL;
    if (!J->a) return CAROM_NO_MEMORY;
    put_matrix(J, NULL, J->of_A);
    for (int k = 0; k < J->ne; ++k) J->known[(size_t)k * (size_t)(J->stride + 1)] = -1;
    return CAROM_OK;
}

// Places of the entries of column k; false: the pattern lacks one.
static bool find_column(carom_joined *J, const carom_columns *W, int k) {
    const size_t at = (size_t)k * (size_t)(J->stride + 1);
    const int *row = carom_column_rows(W, k), n = W->count[k];
    if (J->known[at] == n && memcmp(J->known + at + 1, row, (size_t)n * sizeof *row) == 0) return true;
    J->known[at] = -1;
    for (int e = 0; e < n; ++e) {
        J->known[at + 1 + (size_t)e] = row[e];
        J->above[at + 1 + (size_t)e] = carom_pattern_find(J->pattern, row[e], J->nv + k);
        J->below[at + 1 + (size_t)e] = carom_pattern_find(J->pattern, J->nv + k, row[e]);
        if (J->above[at + 1 + (size_t)e] < 0 || J->below[at + 1 + (size_t)e] < 0) return false;
    }
    J->known[at] = n;
    return true;
}

static carom_status choose_pivots(carom_joined *J, carom_matrix A, const carom_columns *W) {
    bool found = J->pattern != NULL;
    for (int k = 0; k < J->ne && found; ++k) found = find_column(J, W, k);
    if (!found) {
        if (analyse(J, W) != CAROM_OK) return CAROM_NO_MEMORY;
        for (int k = 0; k < J->ne; ++k) find_column(J, W, k);
    }
    memset(J->a, 0, (size_t)J->pattern->start[J->nv + J->ne] * sizeof *J->a);
    for (size_t e = 0; e < carom_shape_size(J->shape); ++e)
        if (J->of_A[e] >= 0) J->a[J->of_A[e]] += A.a[e];
    for (int k = 0; k < J->ne; ++k) {
        const size_t at = (size_t)k * (size_t)(J->stride + 1) + 1;
        const double *w = W->a + (size_t)k * (size_t)W->stride;
        for (int e = 0; e < W->count[k]; ++e)
            J->a[J->above[at + (size_t)e]] -= w[e], J->a[J->below[at + (size_t)e]] += w[e];
    }
    return J->pattern->direct->factorise(J->direct, J->a, NULL);
}

// By blocks, where a solution shows that no pivot between them was missed.
static bool factor_blocks(carom_joined *J, carom_matrix A, const carom_columns *W) {
    if (!carom_saddle_factor(&J->S, A, W, W)) return false;
    for (int i = 0; i < J->nv + J->ne; ++i) J->S.b[i] = 1;
    return carom_saddle_solve_checked(&J->S, 0);
}

carom_status carom_joined_factor(carom_joined *J, carom_matrix A, const carom_columns *W) {
    J->by_blocks = factor_blocks(J, A, W);
    return J->by_blocks ? CAROM_OK : choose_pivots(J, A, W);
}

void carom_joined_solve(carom_joined *J, double *b, double *c) {
    double *x = J->by_blocks ? J->S.b : J->x;
    carom_copy(x, b, J->nv), carom_copy(x + J->nv, c, J->ne);
    if (J->by_blocks) carom_saddle_solve(&J->S), x = J->S.x;
    else J->pattern->direct->solve(J->direct, x);
    carom_copy(b, x, J->nv), carom_copy(c, x + J->nv, J->ne);
    for (int k = 0; k < J->ne && J->by_blocks; ++k) c[k] = -c[k]; // (SDL-1) has +W
}

// operator.h: G by blocks as solvers see it: products, diagonal blocks, neighbours.
//
// Private to the solvers, like law.h.  Neighbours of block b are the columns col[start[b]] .. col[start[b + 1] - 1] of
// carom_block_rows.
#pragma once
#include <carom/problem.h>

/// Rows up to which G with friction is dense: beyond it solvers use blocks or bodies.
enum { CAROM_FEW_ROWS = 30 };

/// As carom_law_friction(), without a call.
static inline carom_law carom_law_with(int tangents) { return (carom_law)(CAROM_UNILATERAL + tangents); }

static inline int carom_rows_of(const carom_block *b) {
    return b->law > CAROM_UNILATERAL ? 1 + (int)b->law - (int)CAROM_UNILATERAL : 1;
}

/// The block on the diagonal, column-major; its leading dimension is the number of rows of b.
static inline const double *carom_rows_diagonal_block(const carom_block_rows *R, int b) {
    return R->value + R->at[R->diagonal[b]];
}

/// The same of a problem that is given by blocks or by bodies.
static inline const double *carom_own_block(const carom_problem *pb, int b) {
    return pb->rows ? carom_rows_diagonal_block(pb->rows, b)
                    : pb->parts->diagonal + (size_t)pb->parts->max_rows * (size_t)pb->block[b].at;
}

/// Is there a G, dense or by blocks?  Blocks are made of bodies where they can be.
static inline bool carom_problem_rows(carom_problem *pb) {
    return pb->G || pb->rows || (pb->assemble && pb->assemble(pb));
}

/// Is G narrow, with entries inside its envelope alone?
static inline bool carom_problem_narrow(const carom_problem *pb) { return pb->G && pb->ld < pb->n; }
/// Is entry (i, j) inside the envelope, where that is known?
static inline bool carom_problem_inside(const carom_problem *pb, int i, int j) {
    return !pb->first || (i > j ? j >= pb->first[i] : i >= pb->first[j]);
}
/// Joints that come first, of one row each: columns of contacts follow all of theirs.
static inline int carom_problem_joints(const carom_problem *pb) {
    int n = 0;
    while (n < pb->nb && pb->block[n].law == CAROM_BILATERAL) n++;
    return n;
}
/// Entries of rows i to before end stand in columns from .. last - 1 and, of joints, in those of contacts, joints ..
/// n - 1.  Rows are asked for from the last one to the first, so that all together cost as much as there are entries.
typedef struct carom_span { int from, last, joints; } carom_span;
static inline carom_span carom_span_begin(const carom_problem *pb) {
    return (carom_span){.last = pb->n, .joints = pb->first ? carom_problem_joints(pb) : pb->n};
}
static inline void carom_span_of(carom_span *x, const carom_problem *pb, int i, int end) {
    x->from = 0;
    if (!pb->first) return;
    x->from = i;
    for (int k = i; k < end; k++)
        if (pb->first[k] < x->from) x->from = pb->first[k];
    if (i >= x->joints) return; // of contacts: all columns from there on
    if (x->last > x->joints && end <= x->joints) x->last = x->joints;
    while (x->last > end && pb->first[x->last - 1] >= end) x->last--;
}
/// Columns of contacts that come beside those.
static inline int carom_span_more(const carom_span *x, const carom_problem *pb) {
    return x->last <= x->joints ? x->joints : pb->n;
}
/// G as a matrix of n x n numbers; ld: from one column to the next.
void carom_problem_copy(const carom_problem *pb, double *G, int ld);

/// y = c_b + sum_j G_bj p_j, the rows of block b
void carom_rows_row(const carom_problem *pb, int b, const double *p, double *y);
/// u = G p + c
void carom_rows_multiply(const carom_problem *pb, const double *p, double *u);
/// d_i = G_ii
void carom_rows_diagonal(const carom_problem *pb, double *d);
/// r_i = sum_j |G_ij|
void carom_rows_sums(const carom_problem *pb, double *r);

/// Memory for carom_rows_gather().
typedef struct carom_rows_space {
    int *start, *col, *at, *diagonal;
    double *value;
    size_t blocks, values; // room
} carom_rows_space;

/// Room for all blocks of a problem of n rows and nb blocks, or for `values` numbers if that is less.
void carom_allocate_rows(carom_rows_space *s, carom_arena *mem, int n, int nb, size_t values);
/// The blocks of a dense G that are not zero.  False: there is no room for them.
bool carom_rows_gather(carom_rows_space *s, const carom_problem *pb, carom_block_rows *rows);

// saddle.h: joints as part of the linear system.
//
//     K = [A W; V' 0],   K (x, y) = b                                                  (SDL-1)
//
// A couples velocities in groups of at most CAROM_BLOCK_ROWS (bodies) with those of groups that a column of W joins, or as its sparse pattern says.  K is factorised by
// blocks of groups and of joints, rows that join the same groups, without pivoting between blocks, in an order that follows the graph of the mechanism: groups by least
// degree; a joint follows its outer group at once while all beyond it is a tree (articulated bodies), else the last of its groups.
#pragma once
#include "linalg/block_lu.h"
#include <carom/matrix.h>

typedef struct carom_saddle {
    bool on;               // K may be factorised: groups are small, there are joints
    bool known;            // the pattern is there
    int nv, ne, ng, nb;    // velocities, joint rows, groups, blocks
    const int *group;      // ng + 1: first velocity of each group
    int *size, *first;     // of each block
    int *of;               // nv + ne: block of each row
    int *start, *col, *at; // pattern of blocks
    double *value;
    size_t entries, values; // room
    size_t stored;          // entries of A
    int *map_A;             // where entry e of A stands in value; -1: nowhere
    int *map_W, *map_V;     // the same for entries of columns; their rows
    int *row_W, *row_V;     // ne (1 + stride): count and rows of the columns that the maps belong to
    int *joint, *joined;    // groups of each joint: nb - ng + 1, and their lists
    int *order;             // of elimination
    int *work;
    carom_block_lu F;
    carom_block_values a;
    double *b, *x, *r;      // nv + ne: right-hand side, solution, what is left
} carom_saddle;

/// For ne joint rows and a matrix A of this shape; columns have `stride` entries at most.  Off where groups are too large, or columns are dense.
carom_saddle carom_allocate_saddle(carom_arena *mem, int nv, int ng, const int *group, int ne, carom_shape A, int stride);
/// Factor of K with the first ne columns of W and V.  False: it is singular, there is no room, or A couples other groups; the caller goes another way.
bool carom_saddle_factor(carom_saddle *S, carom_matrix A, const carom_columns *W, const carom_columns *V);
/// S->x = K^-1 S->b.  With `check`, false where what is left is more than rounding of a well-behaved elimination.
bool carom_saddle_solve(carom_saddle *S, bool check);

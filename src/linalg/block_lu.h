// block_lu.h: LU factors of a matrix of small blocks, in an order that keeps them sparse, without pivoting between
// blocks.
//
// The pattern is analysed once; matrices of that pattern are then factorised and solved without further decisions.
// Blocks that are skipped are not part of the system: their rows and columns are left out and their solution is 0.
#pragma once
#include "linalg/small.h"
#include <carom/arena.h>

/// Where blocks are: row i has the blocks start[i] .. start[i + 1] - 1 in columns col[k], the diagonal always among
/// them; the numbers of block k start at at[k].  The pattern need not be symmetric.
typedef struct carom_block_pattern {
    int nb;
    const int *start, *col, *at;
    const int *size, *first; // rows of each block, its first row
    int uniform;             // rows of every block; 0: they differ
} carom_block_pattern;

/// The matrix with blocks T_i A_ij + S_i (i = j).  T and S: square blocks, those of block i at CAROM_BLOCK_ROWS
/// first[i]; plain[i]: T_i is the identity.  S NULL: zero.
typedef struct carom_block_values {
    const double *value, *T, *S;
    const bool *plain;
} carom_block_values;

typedef struct carom_block_lu {
    carom_block_pattern pattern;
    int nb;
    int *order, *place;  // block eliminated k-th; when a block is eliminated           nb
    int *rows, *from;    // rows of the k-th block, and of all before it                nb, nb + 1
    int *up, *uc;        // U: columns of the k-th row, not sorted
    int *ua, *used, *uj; // U: where each row starts; blocks that the factorisation stored there, and their columns
    int *lp, *lc, *la;   // L: columns of the k-th row, ascending; where each row starts
    int *da;             // where each inverse of D starts                              nb
    double *U, *L;       // blocks, column-major
    double *D;           // inverses of the diagonal blocks
    double *row, *y;     // the row being eliminated; the solution in the order of elimination
    bool *skip;          // by place: leave this block out; the caller's                nb
    size_t entries, blocks, values; // room: blocks of the matrix, of U (or L), numbers in U (or L)
    double work;         // products of blocks in one factorisation
} carom_block_lu;

/// Room for n rows in nb blocks, a matrix of up to `entries` blocks, and up to `values` numbers in each of U and L.
void carom_allocate_block_lu(carom_block_lu *F, carom_arena *mem, int n, int nb, size_t entries, size_t values);
/// P must live as long as it is factorised.  Nothing is skipped.  False: there is no room.
bool carom_block_lu_analyse(carom_block_lu *F, const carom_block_pattern *P);
/// The same in a given order: block order[k] is eliminated k-th.  NULL: in one of least degree.
bool carom_block_lu_analyse_in(carom_block_lu *F, const carom_block_pattern *P, const int *order);
bool carom_block_lu_factor(carom_block_lu *F, const carom_block_values *A); // false: a diagonal block is singular
void carom_block_lu_solve(carom_block_lu *F, const double *b, double *x);

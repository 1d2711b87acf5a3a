// saddle.h: joints as part of the linear system.
//
//     K = [A W; V' 0],   K (x, y) = b                                                  (SDL-1)
//
// A couples velocities in groups of at most CAROM_BLOCK_ROWS (bodies) with those of groups that a column of W joins, or
// as its sparse pattern says.  K is factorised by blocks of groups and of joints, rows that join the same groups,
// without pivoting between blocks, in an order that follows the graph of the mechanism: trees from their outer ends
// to the ground, then groups by least degree; a joint follows its outer group at once while all beyond it is a tree
// (articulated bodies), else the last of its groups.
//
// Schemes whose steps hold a mechanism several times, on velocity and on position level or at stages, have as many
// levels of velocities x_l and of reactions y_m,
//
//     sum_m A_lm x_m + sum_m W_lm y_m = b_l,   sum_l V_ml'x_l = c_m                       (SDL-2)
//
// with all A, W and V of one structure.  The order is the same; what stands for a group or a joint is eliminated level
// by level.
//
// Where what a level does to those before it is small, by about the turn within a step, each level has its own factor,
// and levels are solved one after the other, twice, or three times (Gauss and Seidel):
//
//     K_ll (x_l, y_l) = (b_l, c_l) - sum_{m != l} K_lm (x_m, y_m)                         (SDL-5)
//
// Three levels have a ninth of the operations then.  A correction that is not exact costs Newton's method little.
//
// Bodies that no force couples have no entries between them.  The factor of all levels takes those of A_lm as zero
// until one is not,
//
//     A_lm = diag(A_lm of group 1, A_lm of group 2, ..)                                (SDL-6)
//
// and then for good.  Neither the order of elimination nor that of sums depends on it: numbers are the same either way.
#pragma once
#include "linalg/block_lu.h"
#include <carom/matrix.h>

enum { CAROM_SADDLE_LEVELS = 4 }; // schemes with more do without this structure

/// Levels of velocities and of reactions, and which matrices there are: A[l][m], W[l][m] of velocities l and reactions
/// m, V[m][l].  The last `absent` joint rows have no reactions on the levels m with lacks[m]: there y = b (SDL-3).
typedef struct carom_saddle_levels {
    int velocities, reactions;
    bool A[CAROM_SADDLE_LEVELS][CAROM_SADDLE_LEVELS], W[CAROM_SADDLE_LEVELS][CAROM_SADDLE_LEVELS],
        V[CAROM_SADDLE_LEVELS][CAROM_SADDLE_LEVELS];
    int absent;
    bool lacks[CAROM_SADDLE_LEVELS];
} carom_saddle_levels;

/// Where entries of columns stand, with the rows that this belongs to: the structures of each column that were seen
/// last.
typedef struct carom_saddle_map { int *to, *row; } carom_saddle_map;

typedef struct carom_saddle {
    bool on;               // K may be factorised: groups are small, there are joints
    bool known;            // the pattern is there
    int nv, ne, ng, nb;    // velocities, joint rows, groups; blocks of one level
    carom_saddle_levels levels;
    const int *group;      // ng + 1: first velocity of each group
    int *size, *first;     // of each block
    int *of;               // nv + ne: block of each row
    int *start, *col, *at; // pattern of blocks of one level
    size_t stride;         // numbers of one level: those of levels l and m, of n levels, stand at (l n + m) stride
    double *value;
    size_t entries, values; // room, of one level
    size_t stored;          // entries of A
    int *entry, *map_A;     // entries of A, those within groups first, then those between groups, then those that stand
                            // nowhere; where they stand in value
    size_t within, mapped;  // before the second kind, before the third
    bool couples[CAROM_SADDLE_LEVELS][CAROM_SADDLE_LEVELS]; // (SDL-6): A_lm has had such an entry that is not zero
    bool grown;             // one of them since K was analysed
    carom_saddle_map W, V;   // of all levels
    int *joint, *joined;    // groups of each joint: nb - ng + 1, and their lists
    int *order;             // of elimination
    int *work;
    carom_block_pattern all; // of all levels
    int *all_start, *all_col, *all_at, *all_size, *all_first, *all_order;
    size_t all_entries;
    carom_block_lu F;
    carom_block_values a;
    carom_block_lu own[CAROM_SADDLE_LEVELS]; // (SDL-5): factors of levels
    bool by_levels;         // they may be factorised: there are several, each with its reactions
    bool by_level;          // they stand instead of F
    double *level_b, *level_x; // nv + ne
    double *lever;          // ne: lengths by which rows of joints count, 1 at first
    double *b, *x;          // right-hand side and solution: velocities of each level (nv), then reactions of each level
                            // (ne)
    double *rest, *change;  // b - K x, and the correction that follows from it
    int refined;            // corrections that solutions with this factor need
} carom_saddle;

/// For ne joint rows and a matrix A of this shape; columns have `stride` entries at most.  Off where groups are too
/// large, or columns are dense.  levels NULL: one of each.
carom_saddle carom_allocate_saddle(carom_arena *mem, int nv, int ng, const int *group, int ne, carom_shape A,
                                   int stride, const carom_saddle_levels *levels);
/// Factor of K with the first ne columns of W and V.  False: it is singular, there is no room, or A couples other
/// groups; the caller goes another way.
bool carom_saddle_factor(carom_saddle *S, carom_matrix A, const carom_columns *W, const carom_columns *V);

/// The same for several levels: everything is zero; x A, x W, x V are added; then the factor.  W and V show the
/// structure.
bool carom_saddle_begin(carom_saddle *S, carom_matrix A, const carom_columns *W, const carom_columns *V);
bool carom_saddle_add_matrix(carom_saddle *S, int l, int m, double x, carom_matrix A);
bool carom_saddle_add_forces(carom_saddle *S, int l, int m, double x, const carom_columns *W);
bool carom_saddle_add_rates(carom_saddle *S, int m, int l, double x, const carom_columns *V);
bool carom_saddle_finish(carom_saddle *S);
/// The same by levels (SDL-5): solutions are good to a few digits.  False also where there are none.
bool carom_saddle_finish_levels(carom_saddle *S);

/// S->x = K^-1 S->b.
void carom_saddle_solve(carom_saddle *S);
/// The same; false where what is left is more than rounding of a well-behaved elimination, and in rows of joints more
/// than `small`: right-hand sides may be rounding themselves.  Up to two corrections are made where entries of A differ
/// by many orders of magnitude, and in all solutions with this factor from then on:
///
///     x += K^-1 (b - K x)                                                              (SDL-4)
bool carom_saddle_solve_checked(carom_saddle *S, double small);

// joined.h (private): motion and joints as one linear system.
//
//     A x - W y = b,   W'x = c                                                                                 (JND-1)
//
// over the joints of a mechanism, whose first directions W are: x moves as joints allow, y are their reactions.  By
// sparse elimination with pivots: A may be singular or indefinite, as the stiffness at an equilibrium is.  Masses are
// neither, and (SDL-1) is faster, by blocks of bodies and joints; where a solution shows that they are needed, pivots
// are chosen.
#pragma once
#include "linalg/saddle.h"
#include <carom/matrix.h>
#include <carom/system.h>

typedef struct carom_joined {
    int nv, ne;
    bool on;                 // (JND-1) is used: there are many joints, and A and W are sparse
    carom_shape shape;       // of A
    carom_pattern *pattern;  // NULL: not yet known
    void *direct;
    double *a, *x;           // its entries; nv + ne
    int *of_A;               // where entry e of A is in a; -1: it is none
    int *known, *above, *below; // by column of W: number and rows of its entries, where -W and W' have them
    int stride;
    carom_arena mem;
    carom_saddle S;
    bool by_blocks;          // S has the factor
} carom_joined;

/// For `ne` joints and matrices of this shape, of masses or not.  False: no memory.  To be closed whatever happens.
bool carom_joined_open(carom_joined *J, const carom_system *sys, carom_shape A, bool masses, const carom_columns *W);
void carom_joined_close(carom_joined *J);
/// Factor with the first ne columns of W.  CAROM_SINGULAR: there is none.
carom_status carom_joined_factor(carom_joined *J, carom_matrix A, const carom_columns *W);
/// (JND-1): b becomes x, c becomes y.
void carom_joined_solve(carom_joined *J, double *b, double *c);

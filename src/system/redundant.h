// redundant.h: bilateral constraints that follow from the others, and which of them to leave out.
//
// Spec: docs/solvers.md, "Redundant joints".  Exactly at positions that all constraints allow, redundant rows of W'
// depend on the others.  Beside them, by drift or rounding, they are independent, and W'v = 0 for all rows locks the
// mechanism.  So they are counted once, at the start, and that many rows are left out.
//
//     A = D W S,   D = diag(M_ii)^-1/2 at the start,   S: columns of length one                        (RED-1)
//     A = Q R with the longest remaining column first;  k = number of |r_jj| <= 1e-5                    (RED-2)
//     the same after small motions along the mechanism: the smallest k counts                           (RED-3)
//     n - k rows are kept; when some |r_jj| of theirs falls to 1e-4, they are chosen anew, with the same k    (RED-4)
//     recorded reactions: p - Z (Z'Z)^-1 Z'p,  W Z = 0: the smallest of all that move the system alike    (RED-5)
#pragma once
#include <carom/system.h>

typedef struct carom_redundant {
    const carom_system *sys;
    int n, k;       // bilateral constraints; redundant ones
    int *order;     // n, kept: ids of the n - k that are kept, ascending, then those left out, ascending
    int *before;    // n: the order before the last choice
    double *D;      // nv
    carom_local L;  // the bilateral constraints
    double *A, *R;  // nv x n by id: columns of A, then of Q; n x n: by place in order
    double *S;      // n: lengths of the columns of D W
    double *Z, *B;  // n x k, k x k
    double *x, *y;  // n each
} carom_redundant;

/// Redundant constraints of sys near (t, q).  -1: no memory.  For systems of more constraints than a dense matrix
/// allows: 0.
int carom_redundant_count(const carom_system *sys, double t, const double *q);

/// Workspace for k redundant constraints; order is allocated from keep.
carom_redundant carom_allocate_redundant(carom_arena *mem, carom_arena *keep, const carom_system *sys, int k);

/// The weights D, and the first choice.  False: the system could not give its mass or directions.
bool carom_redundant_start(carom_redundant *r, void *work, carom_matrix M, double t, const double *q);

/// Factorise the kept rows at (t, q), and choose them anew where they have become nearly dependent.  *changed (NULL
/// allowed): they were.  False: the system could not give its directions.
bool carom_redundant_look(carom_redundant *r, void *work, double t, const double *q, bool *changed);

/// Reactions p, by id, that move the system alike; after carom_redundant_look: the smallest; those that are zero for
/// the rows left out.
void carom_redundant_share(carom_redundant *r, double *p);
void carom_redundant_gather(carom_redundant *r, double *p);

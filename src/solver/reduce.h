// reduce.h: eliminating the bilateral rows of a contact problem.
//
//     S = G_UU - G_UE G_EE^- G_EU,   s = c_U - G_UE G_EE^- c_E,   p_E = -G_EE^- (G_EU p_U + c_E)     (SOL-6)
//
// G_EE^- is any inverse on the range: redundant joints are allowed, and of all answers the shortest p_E is taken.
// U leaves out the tangential rows of blocks without friction; their p is 0.  When U is everything, S and s
// are the problem's own arrays and nothing is copied.
#pragma once
#include "contact/law.h"

typedef struct carom_reduced {
    int nu, ne;          // rows of U and E
    const double *S, *s; // nu x nu, nu
    int ld;              // of S
    int *U, *E;          // their row numbers in the problem, ascending
    int rank;            // of G_EE
    double *S_own, *s_own;
    double *F, *scale;   // factor of G_EE
    double *X;           // G_EE^- [G_EU c_E]    ne x (nu + 1), ne + nu <= n
    double *b;
    int *row, *col;
    double *G, *g, *x;   // redundant joints: G_EE, G_EE p_E, the shortest p_E
} carom_reduced;

void carom_allocate_reduced(carom_reduced *r, carom_arena *mem, int n);
void carom_reduce(carom_reduced *r, const carom_problem *pb);
/// pb->p from p_U, which is in the order of U.
void carom_reduced_expand(carom_reduced *r, const carom_problem *pb, const double *pU);

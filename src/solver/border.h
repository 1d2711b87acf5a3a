// border.h: a contact problem without its joints.
//
//     S = G_cc - G_cj G_jj^-1 G_jc,   s = c_c - G_cj G_jj^-1 c_j,   p_j = -G_jj^-1 (c_j + G_jc p_c)           (SOL-30)
//
// j: the joints, which come first; c: the contacts.  G_jj is eliminated within its envelope, a contact meets the joints
// of its bodies only: all costs grow as the number of joints does.
#pragma once
#include <carom/problem.h>
#include <stdalign.h>

typedef struct carom_border {
    alignas(64) unsigned char joints[CAROM_SOLVER_WORK]; // work of carom_solver_joints
    int rows, blocks, rigid;                             // there is room for: contacts, joints
    int n;                                               // joints of the problem at hand
    carom_block *block;                                  // of contacts
    double *S, *s, *u;                                   // rows x rows, rows, rows
    double *R;                                           // rows x rigid: rows of G_cj where G is not symmetric
    int *from, *to;                                      // rows: where the entries of G_cj stand
    double *x;                                           // rigid
    carom_problem contacts;
} carom_border;

/// For problems of n rows and nb blocks, up to `rigid` of them joints.
void carom_allocate_border(carom_border *w, carom_arena *mem, int n, int nb, int rigid);

/// The problem of contacts alone, w->contacts, from the p of the caller.  False: the problem has few joints or nothing
/// else, or they depend on each other.
bool carom_border_split(carom_border *w, const carom_problem *pb);
/// p of all, from that of contacts; the answer is its residual.
double carom_border_join(carom_border *w, carom_problem *pb, double tol, int *worst);

// border.h: a contact problem without its joints.
//
//     S = G_cc - G_cj G_jj^- G_jc,   s = c_c - G_cj G_jj^- c_j,   p_j = -G_jj^+ (c_j + G_jc p_c)           (SOL-30)
//
// j: the bilateral rows, joints and contacts that are held; c: the contacts.  G_jj is eliminated within its envelope; a
// contact meets the joints of its bodies only, so that all costs grow as the number of joints does.  Where joints
// depend on each other G_jj^- is any inverse on the range, and of all answers the shortest p_j is taken.
#pragma once
#include <carom/problem.h>
#include <stdalign.h>

typedef struct carom_border {
    alignas(64) unsigned char factor[CAROM_SOLVER_WORK]; // work of carom_solver_joints
    int rows, rigid;                                     // there is room for: rows of contacts, joints
    int n, m;                                            // joints, rows of contacts of the problem at hand
    int *j, *c;                                          // which rows of it these are, ascending
    double *space;                                       // `room`, for the next three of the problem at hand:
    size_t room;
    double *S, *R, *G;                                   // S; G_cj, row by row; G_jj where joints do not come first
    double *s, *p, *u;                                   // rows
    int *from, *to;                                      // rows: where the entries of G_cj stand
    double *x, *lever;                                   // rigid
    carom_block *block;                                  // of contacts
    int (*disc)[2];
    carom_problem joints, contacts;
} carom_border;

/// For problems of n rows, of which `rigid` may be joints that come first.
void carom_allocate_border(carom_border *w, carom_arena *mem, int n, int rigid);

/// S couples all contacts, a sparse G does not: is S no dearer all the same?
bool carom_border_pays(const carom_problem *pb, int joints);
/// The problem of contacts alone, w->contacts, from the p of the caller.  False: there is no room.
bool carom_border_split(carom_border *w, const carom_problem *pb);
/// p of all, from that of contacts; the answer is its residual.
double carom_border_join(carom_border *w, carom_problem *pb, double tol, int *worst);

// dg.h: the stages of a time-discontinuous Galerkin step, and Newton's method over them.
//
// Block l = 0..m is the stage at t_0 + tau_l h.  Block m + 1 is the velocity jump w at the end of the step, written
// as an acceleration w/h that acts through the column of stage m, and its reactions as forces p/h.  So everything
// below knows accelerations and forces only.  A contact with friction either slides, decided before the solution: then
// its one unknown is the normal force, which acts along W_N - mu W_T d; or it obeys Coulomb's law with all its rows.
#pragma once
#include "scheme/newton.h"
#include "scheme/dg/dg_weights.h"
#include "scheme/step.h"

typedef struct carom_dg_block {
    double t;
    double *q, *v, *a;    // state of the stage; its acceleration
    double *f, *R, *size; // forces; M a - f; magnitudes of the terms
    carom_matrix M;
    bool have_M;          // M is constant and stands
    carom_local L;        // closed constraints, their directions at (t, q)
    carom_columns D;      // d(W'v + w)/dq
    bool *slides;         // by constraint of L
    int *first;           // by row: (CP-1) without the tangential rows of what slides
    const bool *stays;    // by id: comes to rest, and has the static coefficient; NULL: none does
    double *d;            // by row: tangential direction of a contact that slides
    double *lambda;       // by row: forces; block m + 1: p/h
    double *row;          // by row: the velocity of the law: h (W'a + kappa); block m + 1: u_1 + e o u_0
    double *kappa;        // by row, of a stage: what is in its acceleration except W'a
} carom_dg_block;

typedef struct carom_dg {
    carom_dg_weights c;         // of the present degree m
    carom_dg_block *block;      // m + 2
    int lowest, highest;        // degrees there is room for
    carom_dg_weights *weights;  // of each of them
    carom_dg_block *own;        // highest + 2: blocks with storage of their own; the jump shares q, v and M with stage
                                // m
    double *x;                  // nv: displacement, scratch
    double *d, *shift;          // (m + 1) nv, where (+) is no sum: rates of the displacements, displacements of the
                                // stages
    const bool *lasting;        // by id: p + h sum beta lambda >= 0 instead of p >= 0, see (DG-10)
    const int *start;           // by id: first of its directions among those of all constraints
    const double *lambda_0;     // by direction of all constraints: forces at t_0
    const double *slow;         // by direction of all constraints: u_T of contacts too slow to slide, added to the rows
                                // of stages
    const double *bias;         // by direction of all constraints: e u_0, added to the rows of p
    // Newton over blocks first..last
    int first, last, count;
    double correction, before;  // largest change of an acceleration by the last correction, by the one before;
                                // HUGE_VAL: none yet
    carom_matrix A;             // coordinates of all blocks, those of one coordinate side by side
    carom_factor F;
    struct { double h; int m, first, last; } of_F; // step, degree and blocks of a constant A whose factor stands; h =
                                                   // 0: none
    carom_matrix K, C;          // tangent_shape
    carom_saddle S;             // (DG-24): joints of all blocks in the linear system
    carom_chord chord;          // its factor
    double free;                // (TOL-1): velocities of joints without reactions, about
    carom_matrix A_lk;          // of (DG-14), in the storage of K
    bool joined;                // its factor stands
    double *r, *y;              // count nv
    double *X, *V;              // columns of reactions A^-1 W, derivatives of rows; count nv each
    int *id;                    // constraint of each block of the contact problem
    int *of, *at_row;           // of each row of it: its block l; its row there
    int *at;                    // count nv: where a row of V is not zero
    double *r_p, *p_b;          // weights of the proximal term; p before
    double *u;                  // local velocities of a block
} carom_dg;

carom_dg carom_allocate_dg(carom_arena *mem, const carom_system *sys, int lowest, int highest, bool plus);

/// The next step has degree m.
void carom_dg_degree(carom_dg *w, int m);

/// Blocks that are solved together, at most.
int carom_dg_coupled(int m, bool plus);

/// Velocities and positions of blocks first..last from all accelerations of an iterate, 0 where nothing is iterated.
void carom_dg_move(carom_dg *w, const carom_step *s, int first, int last, int iterate);

/// v = v_0 + h sum beta_k a_k, without the jump.
void carom_dg_end(const carom_dg *w, const carom_step *s, double *v);

/// Solve the contact problem of the block, formed with all directions of its L, (s->c set).  Sliding contacts act along
/// W_N - mu W_T d.  s->p and s->u have all rows again.
carom_status carom_dg_react(carom_step *s, const carom_dg_block *b);

/// Direction d of constraint k of the block from its velocities u, all rows of L, as long as it does not reverse.
void carom_dg_follow(carom_dg_block *b, int k, const double *u);

/// Solve blocks first..last for accelerations and forces on the sets of their L.  The accelerations on entry are
/// the first guess.  Counts its iterations in *iterations.
carom_status carom_dg_solve(carom_dg *w, carom_step *s, int first, int last, int *iterations);

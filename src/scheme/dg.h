// dg.h: the stages of a time-discontinuous Galerkin step, and Newton's method over them.
//
// Block l = 0..m is the stage at t_0 + tau_l h.  Block m + 1 is the velocity jump w at the end of the step, written
// as an acceleration w/h that acts through the column of stage m, and its reactions as forces p/h.  So everything
// below knows accelerations and forces only.  Constraints have one direction each: there is no friction here.
#pragma once
#include "scheme/dg_weights.h"
#include <carom/scheme.h>

typedef struct carom_dg_block {
    double t;
    double *q, *v, *a;    // state of the stage; its acceleration
    double *f, *R, *size; // forces; M a - f; magnitudes of the terms
    carom_matrix M;
    carom_local L;        // closed constraints, their directions at (t, q)
    carom_columns D;      // d(W'v + w)/dq
    double *lambda;       // forces; block m + 1: p/h
    double *row;          // what the law wants to be >= 0, as a velocity: h (W'a + kappa); block m + 1: u_1 + e o u_0
} carom_dg_block;

typedef struct carom_dg {
    carom_dg_weights c;
    carom_dg_block *block;      // m + 2
    double *x;                  // nv: displacement, scratch
    double *d, *shift;          // (m + 1) nv, where (+) is no sum: rates of the displacements, displacements of the stages
    const bool *lasting;        // by id: p + h sum beta lambda >= 0 instead of p >= 0, see (DG-10)
    const double *bias;         // by id: e u_0, added to the row of p
    // Newton over blocks first..last
    int first, last, count;
    double noise;               // rounding of the rows
    carom_matrix A;             // coordinates of all blocks, those of one coordinate side by side
    carom_factor F;
    carom_matrix K, C;          // tangent_shape
    double *r, *y;              // count nv
    double *X, *V;              // columns of reactions A^-1 W, derivatives of rows; count nv each
    int *id;                    // constraint of each row of the contact problem
    int *at;                    // count nv: where a row of V is not zero
    double *r_p;                // weights of the proximal term
} carom_dg;

carom_dg carom_carve_dg(carom_arena *mem, const carom_system *sys, int m, bool plus);

/// Blocks that are solved together, at most.
int carom_dg_coupled(int m, bool plus);

/// Velocities and positions of blocks first..last from all accelerations of an iterate, 0 where nothing is iterated.
void carom_dg_move(carom_dg *w, const carom_step *s, int first, int last, int iterate);

/// v = v_0 + h sum beta_k a_k, without the jump.
void carom_dg_end(const carom_dg *w, const carom_step *s, double *v);

/// Solve blocks first..last for accelerations and forces on the sets of their L.  The accelerations on entry are
/// the first guess.  Counts its iterations in *iterations.
carom_status carom_dg_solve(carom_dg *w, carom_step *s, int first, int last, int *iterations);

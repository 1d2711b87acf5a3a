// dg_weights.h: nodes and weights of the time-discontinuous Galerkin schemes.
//
// Spec: docs/METHODS.md, section DG, (DG-1) to (DG-4).  All numbers of a step of degree m on the m + 1 Chebyshev
// extreme points of the unit interval.  They are computed in long double and rounded once, so that a double here
// is off by an ulp or two of 1.
#pragma once
#include <carom/arena.h>
#include <stdbool.h>

enum { CAROM_DG_MOST = 20 }; // largest degree

/// Matrices are row by row with m + 1 columns: row l belongs to the stage at tau_l.
typedef struct carom_dg_weights {
    int m;          // degree of the velocity polynomial, >= 1
    double *tau;    // m + 1: nodes, 0 = tau_0 < ... < tau_m = 1
    double *b;      // m + 1: beta_l, integrals of the basis over [0, 1]: Clenshaw-Curtis
    double *P;      // (m + 1)^2: beta_k(tau_l), positions from velocities
    double *A;      // (m + 1)^2: velocities from accelerations
    double *Q;      // (m + 1)^2: P A, positions from accelerations
    double *b_part; // m: integrals of the basis on m nodes (D+: 1..m, D-: 0..m-1)
    double *l_part; // m: its values at the end that is left out
} carom_dg_weights;

/// Basis polynomials of all m + 1 nodes at x in [0, 1], and their integrals from 0 to x.
void carom_dg_basis(const carom_dg_weights *c, double x, double *value, double *integral);

/// Room for degree m, and its numbers.  plus: D+, else D-.  Nothing is computed while mem only counts.
carom_dg_weights carom_allocate_dg_weights(carom_arena *mem, int m, bool plus);

// implicit.h: interface for authors of implicit schemes, with scheme.h: Newton's method with the contact law inside,
// gradients, and the loop of every iteration.  See docs/add-an-implicit-scheme.md.
#pragma once
#include <carom/scheme.h>

#ifdef __cplusplus
extern "C" {
#endif

// -- Newton's method on velocity level ------------------------------------------------------------------------------
// A scheme gives the residual R of its equation of motion at a trial velocity v_1, without reactions:
//
//     R(v_1) - W p = 0,     law(u_1 + e o u_0, p)                                    (NEW-1)
//
// Each iteration linearises both and solves one contact problem:
//
//     A dv = W p - R,   G = V' A^-1 W,   c = u_1 + e o u_0 - V' A^-1 R               (NEW-2)
//
// where A = d(R - W p)/dv_1 and V' = d(u_1 + e o u_0)/dv_1.  The set of active constraints is decided before and
// stays.  The iteration ends when the residual of the equation of motion, relative to its terms, and that of the
// contact law at the new velocity are within tolerance.

typedef struct carom_newton {
    carom_local L;      // the set, chosen before; with its directions W, w at the iterate
    carom_matrix M;     // the scheme's mass at the iterate, which measures momenta; set once
    double *R;          // nv: equation of motion without reactions
    double *size;       // nv: sum of the magnitudes of its terms; not read for the first iterate, k = 0
    double *u_0, *u_1;  // local velocities before the step and at v_1
    carom_matrix A;     // tangent_shape: d(R - W p)/dv_1
    carom_local V;      // d(u_1 + e o u_0)/dv_1
    carom_matrix K;     // -df/dq at the position q; share: the factor of f in R, 0: not known.  A residual that is
    const double *q;    // rounding of q in K is accepted
    double share;
    double *p;          // impulses: of the iterate, then of the solution
    int k;              // number of the iterate
    bool constant;      // A depends on the step size alone: linear systems with constant directions
    struct carom_newton_inside *inside; // of these functions
} carom_newton;

/// At v_1: write R, size, L's directions, u_0, u_1.  With `matrix`, which follows at the same iterate: A, V and, where
/// known, K, q, share.  A constant matrix is requested once.
typedef carom_status carom_newton_eval(void *work, carom_step *s, carom_newton *N, const double *v_1, bool matrix);

/// M is left to the scheme.
carom_newton carom_allocate_newton(carom_arena *mem, carom_arena *keep, const carom_system *sys);

/// v_1: first guess, then the solution; the last evaluation was there.
carom_status carom_newton_solve(carom_newton *N, carom_step *s, double *v_1, carom_newton_eval *eval, void *work);

// -- parts of an iterate ---------------------------------------------------------------------------------------------

/// carom_move() for iterate k: from the fourth on, components that would change by one unit in their last place stay
/// (docs/METHODS.md, "When the position rounds").  q1: the position of the iterate before.
void carom_move_iterate(const carom_step *s, double *q1, const double *q0, double h, const double *v, int k);

/// D += x d(M y)/dq; D += x d(W lambda)/dq; columns d(W'v + w)/dq.  By the system, or by finite differences where it
/// has none.
carom_status carom_mass_gradient(carom_step *s, carom_matrix D, double x, double t, const double *q, const double *y);
carom_status carom_reaction_gradient(carom_step *s, carom_matrix D, double x, const carom_local *L,
                                     const double *lambda, double t, const double *q);
carom_status carom_rate_gradient(carom_step *s, carom_columns *D, const carom_local *L, double t, const double *q,
                                 const double *v);

/// V = W + a D, column by column; V += a e o D, e the restitution of each column.
void carom_local_blend(carom_local *V, const carom_local *L, double a, const carom_columns *D);
void carom_local_blend_restitution(const carom_step *s, carom_local *V, double a, const carom_columns *D);

/// y += s W p.
void carom_local_react(double *y, double s, const carom_local *L, const double *p);

/// Has a mass that varies no negative pivot (up to 3 velocities) and no negative entry on its diagonal?  For schemes
/// that do not factorise M itself.
carom_status carom_mass_still_positive(carom_step *s, carom_matrix M);

// -- iterations of another form --------------------------------------------------------------------------------------

typedef struct carom_iteration {
    const char *method; // subject of the messages
    int most;           // maximum number of corrections
    const double *x;    // n numbers that must stay finite: the iterate, or its last correction
    int n;
    /// Evaluate iterate k; *done: it is the solution.  False on entry; ignored for k = 0.
    carom_status (*evaluate)(void *work, carom_step *s, int k, bool *done);
    /// From iterate k to iterate k + 1.
    carom_status (*correct)(void *work, carom_step *s, int k);
    /// The reason, appended to the message that it did not converge; NULL: none.
    void (*detail)(void *work, carom_step *s, char *text, size_t size);
} carom_iteration;

/// Evaluate and correct in turn until an iterate is the solution, or the step fails.  Only the contact problem of the
/// solution enters the ledger.  count: the number of corrections is added to it; NULL: it is accounted here.
carom_status carom_iterate(const carom_iteration *I, void *work, carom_step *s, int *count);

/// Is the residual `left` of the equations of motion within newton_tol of their terms, or within the rounding of the
/// position q in `share` of the forces (0: not known)?  Sizes by carom_momentum_size(); y: scratch, nv.
bool carom_motion_met(const carom_step *s, double left, double size, double share, carom_matrix K, carom_matrix M,
                      const double *q, double *y);
/// (NEW-5)  The size of momenta, or forces: max |p_i|/sqrt(M_ii), in which coordinates of any unit count alike.
double carom_momentum_size(const double *p, carom_matrix M);

/// F = factor of the matrix of an iteration.
carom_status carom_iteration_factor(carom_step *s, carom_factor *F, carom_matrix A);

#ifdef __cplusplus
}
#endif

// newton.h: the one iteration of implicit steps, and Newton's method on velocity level with the contact law inside.
//
// carom_iterate() is the loop of every scheme that iterates: how often, when it has diverged, what is counted and what
// is said are decided there. What an iterate is, and when it is the answer, is the scheme's: equations of motion to
// carom_motion_met(), laws to carom_problem_met().
//
// carom_newton_solve() is such an iteration for schemes on velocity level.  A scheme gives the residual R of its
// equation of motion at a trial velocity v_1, without reactions:
//
//     R(v_1) - W p = 0,     law(u_1 + e o u_0, p)                                    (NEW-1)
//
// Each iteration linearises both and solves one contact problem:
//
//     A dv = W p - R,   G = V' A^-1 W,   c = u_1 + e o u_0 - V' A^-1 R               (NEW-2)
//
// where A = d(R - W p)/dv_1 and V' = d(u_1 + e o u_0)/dv_1.  The set of active constraints is decided before and
// stays.  It stops when the residual of the equation of motion (relative to its terms) and the residual of the
// contact law at the new velocity are both within tolerance.  Where the position rounds,
// carom_move_iterate lets it settle.
//
// Joints of mechanisms belong to the linear system (SDL-1):
//
//     A dv - W_j dp_j = W_j p_j + W_c p_c - R,   V_j' dv = -u_1j                     (NEW-6)
//
// by the factor of [A W_j; V_j' 0], whose cost grows with the number of joints, not with its cube.  The contact problem
// is one of contacts alone, G = V_c' dv/dp_c.  The factor of the first iterate serves all of a step while the iteration
// contracts with it, and the first iterate continues the last steps:
//
//     v_1 = v_0 + 3 (dv_-1 - dv_-2) + dv_-3,   p_j = that of the last step            (NEW-7)
#pragma once
#include "linalg/saddle.h"
#include "scheme/step.h"

typedef struct carom_iteration {
    const char *method; // subject of the messages
    int most;           // corrections; a step that needs more is better made smaller
    const double *x;    // n numbers that must stay finite: the iterate, or its last correction
    int n;
    /// Iterate k; is it the answer?  *done is false on entry, and is ignored for k = 0, the first guess.
    carom_status (*evaluate)(void *work, carom_step *s, int k, bool *done);
    /// From iterate k to iterate k + 1.
    carom_status (*correct)(void *work, carom_step *s, int k);
    /// Why it did not converge, to follow that sentence; NULL: nothing to say.
    void (*detail)(void *work, carom_step *s, char *text, size_t size);
} carom_iteration;

/// Evaluate and correct in turn until an iterate is the answer.  Of contact problems, the last one leaves its traces
/// (carom_traces).  count: its corrections are added there, for the scheme to book; NULL: they are booked.
carom_status carom_iterate(const carom_iteration *I, void *work, carom_step *s, int *count);

/// Is what is left of the equations of motion within newton-tol of their terms, both by carom_momentum_size(), or
/// within what rounding of the position q leaves in `share` of the forces (carom_force_rounding; 0: not known)?  y is
/// scratch (nv).
bool carom_motion_met(const carom_step *s, double left, double size, double share, carom_matrix K, carom_matrix M,
                      const double *q, double *y);

/// F = factor of the matrix of an iteration.
carom_status carom_iteration_factor(carom_step *s, carom_factor *F, carom_matrix A);

/// Groups of velocities by which joints belong to the linear system (SDL-1); NULL: they are rows of the contact
/// problem.
const int *carom_saddle_groups(const carom_system *sys);

/// Increments of the last steps, which Newton's method continues where many joints make it dear (NEW-7).  All of it is
/// kept.
typedef struct carom_past {
    struct { double h; int steps, nb; } *head; // of these steps: length, number, constraints of their sets; NULL:
                                               // nothing is remembered
    double *dv[3], *p;                         // increments of velocities, the last one first; reactions of joints
} carom_past;
carom_past carom_allocate_past(carom_arena *keep, const carom_system *sys);
/// v_1 and the reactions p of joints of a step over nb constraints, where the last steps may be continued; else they
/// stay as they are.
bool carom_past_continue(const carom_past *past, const carom_step *s, int nb, double *v_1, double *p);
/// The step over nb constraints has found v_1, p.
void carom_past_note(carom_past *past, const carom_step *s, int nb, const double *v_1, const double *p);

/// A factor that serves several iterates: corrections made with it beyond the first; what was left of the equations at
/// the last iterate, and at the one before.
typedef struct carom_chord {
    int age;
    double left, before;
    double *whole; // kept: steps that begin with the whole factor; NULL: all do
} carom_chord;
/// Does it serve once more?  It does while the iteration contracts with it.
static inline bool carom_chord_serves(const carom_chord *c) { return c->age == 0 || c->left <= 0.1 * c->before; }
static inline void carom_chord_note(carom_chord *c, double left) { c->before = c->left, c->left = left; }
/// The factor of what S has been given.  Without contacts the first one of a step is by levels (SDL-5); where the
/// iteration does not contract with it, the steps that follow begin with whole ones.
bool carom_chord_finish(carom_chord *c, carom_saddle *S, bool first, bool contacts);
/// carom_saddle_solve_checked() with it; with the whole factor where that by levels does not serve.
bool carom_chord_solve_checked(carom_chord *c, carom_saddle *S, double small);

/// The contacts of L's set, behind its joints; at: their rows, counted from the first one (room for all of L).
carom_local carom_contacts_of(const carom_step *s, const carom_local *L, int *at);

/// What a solution may leave in the rows of joints, velocities, whatever their size: little against the tolerance of
/// contact problems.
static inline double carom_joints_small(const carom_step *s) { return 0.01 * s->tol * s->scale; }
/// (LV-4)  Rows of joints, the first of L, count as lengths in the check of a solution.
static inline void carom_joints_weigh(const carom_step *s, carom_saddle *S, const carom_local *L) {
    for (int j = 0; j < S->ne; ++j) S->lever[j] = carom_row_lever(s, L, j);
}
/// Do joints that a scheme has solved itself hold: are their velocities, or gaps over h, carom_joints_size(), within
/// the tolerance of contact problems, or rounding?
static inline bool carom_joints_met(const carom_step *s, double size, double rounding) {
    return size <= fmax(s->tol * s->scale, rounding);
}

typedef struct carom_newton carom_newton;

/// At v_1: fill N->R, N->M, N->size (not read for the first guess, N->k = 0), N->L (W, w), N->u_0, N->u_1; with
/// `matrix`, which follows at the same point, N->A and N->V, and N->K, N->q, N->share. While A is constant the matrix
/// is asked for once.
typedef carom_status carom_newton_eval(void *work, carom_step *s, carom_newton *N, const double *v_1, bool matrix);

struct carom_newton {
    carom_past past;       // there where S is on
    carom_matrix A;        // tangent_shape
    carom_matrix M;        // the scheme's mass at the point, by which its evaluation measures momenta
    carom_factor F;        // LU of A
    carom_saddle S;        // (NEW-6)
    bool by_saddle;        // the last correction was made with it
    carom_chord chord;     // its factor
    bool have_A;           // A and V stand for the iterate
    double free;           // largest velocity of a joint without reactions
    int *at;               // rows of the contacts of L alone
    carom_local L, V;      // W and w; V's columns replace W in the constraint
    double *R;             // nv: equation of motion without reactions
    double *size;          // nv: sum of the magnitudes of its terms
    double *x, *r;         // nv: scratch
    double *u_0, *u_1;     // local velocities before and at v_1
    double *p;             // impulses
    carom_matrix K;        // -df/dq at q, and how much of f stands in R: a residual may be rounding of f; share 0: not
                           // known
    const double *q;
    double share;
    int k;                 // number of the iterate, for carom_move_iterate
    double *v_1;           // the iterate; what evaluates it, and for whom
    carom_newton_eval *eval;
    void *work;
    bool constant;         // A depends on the step size only, and V = W: linear systems with constant directions
    double h;              // of the A whose factor stands, when F.ready
};

carom_newton carom_allocate_newton(carom_arena *mem, carom_arena *keep, const carom_system *sys);

/// v_1 on entry is the first guess.  N->L's set must be chosen and N->p is zeroed here.
carom_status carom_newton_solve(carom_newton *N, carom_step *s, double *v_1, carom_newton_eval *eval, void *work);

/// The same without constraints, with F, the factor of a matrix close to A, and so without evaluating A:  v_1 -= F^-1
/// R.  Returns the number of corrections, 0 if CAROM_CHORDS are not enough or an evaluation fails.  Books nothing.
enum { CAROM_CHORDS = 2 }; // a third would cost more than A does
int carom_newton_chord(carom_newton *N, carom_step *s, double *v_1, const carom_factor *F, carom_newton_eval *eval,
                       void *work);

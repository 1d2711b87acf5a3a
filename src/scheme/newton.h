// newton.h (private): Newton's method of implicit steps, beyond carom/implicit.h: joints in the linear system, factors
// of several iterates.
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
#include <carom/implicit.h>

/// Groups of velocities by which joints belong to the linear system (SDL-1); NULL: they are rows of the contact
/// problem.  joined: also where these have the factor of the mechanism, for schemes with a dense matrix of rows.
const int *carom_saddle_groups(const carom_system *sys), *carom_joined_groups(const carom_system *sys);

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
/// (LV-4)  Rows of joints, the first of L, count as lengths in the check of a solution, and while its factor serves.
static inline void carom_joints_weigh(const carom_step *s, carom_saddle *S, const carom_local *L) {
    for (int j = 0; j < S->ne; ++j) S->lever[j] = carom_row_lever(s, L, j);
}
/// The largest |u_j| of the rows of joints, so weighed.
double carom_joints_size(const carom_saddle *S, const double *u);
/// (TOL-1)  What the reactions p - y of joints do to their velocities, about, W_j'(diag A)^-1 W_j (p - y): velocities
/// without reactions are as large.  y NULL: none; x (nv): (diag A)^-1 W_j (p - y).
double carom_joints_free(const carom_saddle *S, const carom_columns *W, carom_matrix A, const double *p,
                         const double *y, double *x);
/// Do joints that a scheme has solved itself hold: are their velocities, or gaps over h, carom_joints_size(), within
/// the tolerance of contact problems, or rounding?
static inline bool carom_joints_met(const carom_step *s, double size, double rounding) {
    return size <= fmax(s->tol * s->scale, rounding);
}

/// What carom_newton_solve() keeps, for schemes of this folder that share its factor and its joints.
struct carom_newton_inside {
    carom_past past;   // there where S is on
    carom_factor F;    // LU of A
    carom_saddle S;    // (NEW-6)
    bool by_saddle;    // the last correction was made with it
    carom_chord chord; // its factor
    bool have_A;       // A and V are those of the iterate
    double free;       // (TOL-1): velocities of joints without reactions, about
    int *at;           // rows of the contacts of L alone
    double *x, *r;     // nv: scratch
    double *v_1;       // the iterate; its evaluation, and the owner of that
    carom_newton_eval *eval;
    void *work;
    double h; // of the A whose factor is there, when F.ready
};

/// carom_newton_solve() without constraints, with F, the factor of a matrix close to A, and so without evaluating A:
/// v_1 -= F^-1 R.  Returns the number of corrections, 0 if CAROM_CHORDS are not enough or an evaluation fails.  Nothing
/// is accounted.
enum { CAROM_CHORDS = 2 }; // a third would cost more than A does
int carom_newton_chord(carom_newton *N, carom_step *s, double *v_1, const carom_factor *F, carom_newton_eval *eval,
                       void *work);

// ggl_alpha.h: what the parts of ggl-alpha share: the iterate, the linear system, and its two ways of being solved.
//
// Small systems assemble the whole matrix (GA-11).  Large ones (ggl_alpha_schur.c) factorise A and M alone and solve
// for the multipliers first.
#pragma once
#include "linalg/saddle.h"
#include "scheme/newton.h"
#include "scheme/bent.h"
#include "scheme/responses.h"
#include "scheme/rho.h"
#include "scheme/increments.h"

enum { CAROM_GGL_CORRECTED, CAROM_GGL_SMOOTH, CAROM_GGL_START, CAROM_GGL_FORECAST, CAROM_GGL_END }; // option active
enum { SMOOTH = 1, POSITION = 2, VELOCITY = 4, ALL = 7 }; // blocks of the linear system

/// What the Schur complement is made of.
typedef struct carom_ggl_schur {
    bool on;                    // the system is large enough
    int room;                   // multipliers for which there is a matrix
    bool constant;              // A depends on the step size only, and directions do not change
    double h;                   // constant: the step of the A that stands; 0: none
    bool damped;                // C is not zero
    bool mass_ready;            // the factor of a constant M stands
    double *dv, *y, *dw, *z;    // nv: a response; scratch
    int *kind, *of, *row;       // multipliers: to which block they belong, which constraint of L, which row of L
    double *e;                  // multipliers: right-hand side, then they
    carom_matrix A, M_plus;     // iteration matrix; M, with a trace of inertia where it has none
    carom_factor F_A, F_M;
    carom_saddle saddle;        // (GA-24): joints of all blocks in the linear system
    bool joints_alone;          // the last correction of this step was made with it, and no contact took part
    carom_chord chord;          // its factor
    carom_matrix M_t;           // M in the storage of A
    carom_responses keep;            // constant: products W'XW for X = A^-1, M^-1, A^-1 K M^-1, A^-1 C M^-1
} carom_ggl_schur;

typedef struct carom_ggl_alpha {
    double alpha_m, alpha_f, beta, gamma; // (GA-1)
    double c;                             // (1 - alpha_f)/(1 - alpha_m): a_{n+1} = a_p + c s
    bool sequential;
    int way;                              // of the iteration under way: how ggl_alpha.c solves
    bool modified;                        // (GA-12)
    double theta;                         // weight of the end of the step in (GA-12)
    double penalty;                       // r of (GA-23)
    double *mu_n;                         // kept, by id: mu at the start of the step
    int active;                           // which gap closes a contact on velocity level (GA-17), CAROM_GGL_*
    double *a_n, *s_n;                    // kept
    double *h_n;                          // kept, one: step that a_n belongs to; 0: a_n is that of the start
    double *solvers;                      // kept, one: steps that the contact solvers have first
    double *nu_n, *Lambda_n, *T_n;        // kept: multipliers of lasting contacts in the last step, 0 for others; T_n:
                                          // recorded directions
    // the step: predicted, then found
    double *a_p, *v_p, *x_p;              // a, v~ and displacement of q~ at s = 0
    double *dv, *s, *U, *w;               // v~ - v_p; rate of v~; position correction; velocity jump
    double first;                         // |U| of the first iterate that corrects positions
    double *lambda, *nu, *Lambda;         // lambda~ (ne); multipliers on position and velocity level, by constraint id
    // one evaluation
    double *x, *q_s, *q, *v_s, *v, *f;    // displacement; q~, q; v~, v; forces
    double *q_W;                          // where directions are those of the iterate
    double *g_s, *g, *g_0;                // gaps at q~, q and, for active=start and forecast, where these look, by id
    double *u_0, *u, *u_s, *D;            // local velocities of v_n at q_n (rows of L_0), of v and v~ at q (rows of L);
                                          // W'M^-1 W, roughly
    double *b, *closed;                   // other laws of impact than Newton's: velocities after the impact (rows of
                                          // L_0), of the set with -1 (by id)
    double *T, *slide;                    // rows of L_0: friction impulses; of contacts that slide, friction per Lambda
    bool *sticks;                         // by id: in B, and friction holds
    int *slipped;                         // by id: how often it has begun to slip in this iteration
    bool have_u_0, *in_A, *in_B;          // by id
    carom_local L, L_0;                   // candidates at q; all constraints at q_n
    carom_bent bent;                      // where nothing else leads to an answer (seeks): found at the first q that
                                          // meets a kink
    bool seeks;
    carom_matrix M, K, C, P, V;           // M, -df/dq, -df/dv, d(M U - W nu)/dq, d(M w - W Lambda)/dq
    carom_columns D_s, D_v;               // d(W'v~ + w)/dq, d(W'v + w)/dq
    // the linear system
    int N, at_l, at_U, at_nu, at_w, at_L; // size; first row of each block
    double *S, *r, *S_copy, *x_N, *scratch;
    int *pivot;
    bool have_M;                          // M is constant and stands
    bool have_K;                          // K and C are constant and stand
    carom_increments turn;                      // at x
    carom_ggl_schur schur;
    carom_past past;      // there where joints belong to the linear system
    // the contact solvers, where Newton's method fails or its matrix would be too large
    carom_factor F_M;
    carom_local L_p;
    bool crowded;                         // there may be more multipliers than Newton's matrix has room for
    bool judged;                          // such a system, by the solvers: sets are those that react, and the laws are
                                          // judged as in (CP-7), (CP-8)
    double *balance;                      // scales of the rows and columns of S
    double *unit;                         // nv: of velocities, by the size of momenta
    double speed;                         // largest local velocity of the run, and of the iterate judged last
    double accepted;                      // residual that the solvers left in this iteration beyond the tolerance
} carom_ggl_alpha;

/// A and B of (GA-9), and friction (GA-14), at the present iterate; multipliers of who is in neither become zero.
void carom_ggl_alpha_sets(carom_ggl_alpha *w, const carom_step *s);

/// Of a row of L: W'M^-1 W, with the diagonal of M where there is inertia.  Of row k of constraint b: the local
/// velocity that the law is about, u + e o u_0.
double carom_ggl_alpha_mobility(const carom_ggl_alpha *w, int k);
double carom_ggl_alpha_law_velocity(const carom_ggl_alpha *w, const carom_step *s, int b, int k);

/// mu at the end of the step becomes that of the start (GA-12), at the answer.
void carom_ggl_alpha_next_mu(carom_ggl_alpha *w, const carom_step *s);

/// The largest residual of both laws, and at which constraint (-1: none); that at the answer, into the counts.
double carom_ggl_alpha_residual(carom_ggl_alpha *w, const carom_step *s, int *id);
void carom_ggl_alpha_certify(carom_ggl_alpha *w, carom_step *s);

/// Is constraint b of L in lasting contact: held on both levels, without normal velocity?
bool carom_ggl_alpha_lasts(const carom_ggl_alpha *w, const carom_step *s, int b);

/// Is this contact closed on velocity level?  By default at q~, or where its position had to be corrected; else
/// (GA-17).
bool carom_ggl_alpha_closed(const carom_ggl_alpha *w, const carom_step *s, int id);

/// Friction of constraint b of L: rows from L.at[b] + 1 on.  How many, and are they equations of their own?
int carom_ggl_alpha_tangents(const carom_ggl_alpha *w, int b);

/// x := -S^-1 x for the N x N matrix in w->S; the shortest least-squares answer when dependent constraints make it
/// singular.
void carom_ggl_alpha_solve(carom_ggl_alpha *w, int N, double *x);

/// Into w->S: the matrix of (GA-11) for these blocks, the gradients standing; that of the start (GA-2), M and L
/// standing.
void carom_ggl_alpha_assemble(carom_ggl_alpha *w, const carom_step *s, int blocks);
/// (GA-23)  for the matrix and the residual of these blocks, which stand.
void carom_ggl_alpha_augment(carom_ggl_alpha *w, const carom_step *s, int blocks);
void carom_ggl_alpha_assemble_start(carom_ggl_alpha *w, const carom_step *s);

void carom_ggl_alpha_allocate_schur(carom_ggl_alpha *w, carom_arena *mem, const carom_system *sys);
/// The increments of (GA-11) in place of the residual in w->r; the gradients must stand.
carom_status carom_ggl_alpha_schur(carom_ggl_alpha *w, carom_step *s, int blocks, bool again);
/// Need K and C be computed for it?
bool carom_ggl_alpha_wants_tangent(const carom_ggl_alpha *w, const carom_step *s);
/// (GA-2) for it: w->r = s, lambda~ for the right-hand side -w->r.
carom_status carom_ggl_alpha_schur_start(carom_ggl_alpha *w, carom_step *s);

/// Position and velocity level at the present iterate by the contact solvers: U and nu; w, Lambda and T.
void carom_ggl_alpha_allocate_solver(carom_ggl_alpha *w, carom_arena *mem, const carom_system *sys);
/// Where contacts follow other laws of impact than Newton's: w->b, found anew when the set of the velocity level
/// changes (afresh: in any case).
carom_status carom_ggl_alpha_bounce(carom_ggl_alpha *w, carom_step *s, bool afresh);
carom_status carom_ggl_alpha_positions(carom_ggl_alpha *w, carom_step *s);
carom_status carom_ggl_alpha_velocities(carom_ggl_alpha *w, carom_step *s);

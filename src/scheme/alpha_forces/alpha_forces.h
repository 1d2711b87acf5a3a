// alpha_forces.h: what the parts of alpha-forces share: the state, the sets, and the three levels of a step.
//
// Spec: docs/methods-alpha-forces.md, section AF.
#pragma once
#include "scheme/newmark/newmark_family.h"
#include "scheme/newton.h"
#include "scheme/projection.h"

/// A state with all that the next step needs of it.
typedef struct carom_alpha_state {
    double *q, *v;      // right limits
    double *s, *a;      // accelerations: M s = f + W lambda; a is that of another time
    double *lambda, *l; // recorded directions: reactions, and what is to them as a to s
    double *in;         // nc: 1 for contacts that carry forces, F
    double *h;          // one: step that a and l belong to; negative: they are those of a restart
} carom_alpha_state;

typedef struct carom_alpha_forces {
    carom_newmark_par par;                 // (GA-1), by rho
    double c;                              // (1 - alpha_f)/(1 - alpha_m)
    bool locates, crossing, mean_recorded; // options
    carom_alpha_state kept, now, next;
    bool massless, seen; // M is singular; that has been looked at
    // forces
    carom_newton N;       // unknown v~, impulses h gamma c (lambda + off)
    carom_matrix M, K, C; // M, -df/dq, -df/dv
    carom_matrix A;       // (AF-18), its factor, and that to be used
    carom_factor F_A;
    const carom_factor *F;
    bool have_M;                   // M is constant and stands
    carom_columns D;               // du/dq
    double *a_p, *v_p, *x_p;       // a, v~ and displacement of q~ at s = 0
    double *a_n, *l_n;             // those of now, for this step's size
    double *l_p, *kap;             // recorded directions: (AF-1), (AF-5)
    double *x, *s, *v_s, *q_s, *f; // displacement of q~; s, v~, q~; forces
    double *v_f;                   // v~ before (AF-7)
    double *lambda, *off;          // rows of N.L
    double *mu, *mu_before;        // nc: coefficients at the last iterates
    carom_local L_0;               // directions at the start, of N.L's set
    double *u_0, *mean;            // local velocities there; mean reactions of the step
    bool *in, *turns;              // by id: in F; in T
    // positions
    carom_projection P;
    double *g_s, *g_0;       // gaps at q~, at the start
    bool *holds, *hit, *due; // by id: H; I; located at the end of this part
    // velocities
    carom_factor F_M, F_B; // M; M + h gamma c C
    carom_matrix B;
    double *v_1, *x_v;             // v_1; scratch (nv)
    carom_local L_v, L_r, push;    // F and I at q_1; some rows of it, or of L_a; what acts along them
    double *u, *u_s, *u_free;      // rows of L_v: velocities after, at v~, at v~ before (AF-7)
    double *u_before, *u_book, *p; // u^- for the law, for the books; impulses
    bool *plastic;                 // by constraint of L_v
    int *row;                      // of each row of L_r: its row in L_a, or L_v
    bool struck, captured;         // an impulse acted in I; one of them gave nothing back
    // restart
    carom_local L_a;            // joints and F
    double *u_r;                // local velocities of its rows
    bool *pick;                 // nc
    bool *stuck, *slides;       // by id: sticks, as its last reaction says; slides
    double *slip;               // recorded directions: of slip
    double *kappa, *rows_r, *z; // rows of L_a; reactions by its rows, by those of L_r
    double *y;                  // nv: scratch
    double *a_r, *lambda_r;     // the answer, lambda by recorded directions
    double *q_r, *v_r;          // where
} carom_alpha_forces;

/// (AF-10), (AF-11) at (t, z->q, z->v) with z->in and w->stuck:  z->s, z->a, z->lambda, z->l.
carom_status carom_alpha_restart(carom_alpha_forces *w, carom_step *s, double t, carom_alpha_state *z);
/// (AF-18)  A = M + h gamma c C + h^2 beta c K of the M, K, C at hand:  without d(M s - W lambda)/dq, which may make
///          it indefinite.
carom_status carom_alpha_metric(carom_alpha_forces *w, carom_step *s);

/// (AF-6), (AF-7): from q~ to w->P.q; w->hit.
carom_status carom_alpha_positions(carom_alpha_forces *w, carom_step *s);
/// (AF-8), (AF-9): from v~ to w->v_1; w->struck, w->captured; w->L_v, and u, u_s, u_before, p of its rows.
carom_status carom_alpha_velocities(carom_alpha_forces *w, carom_step *s);

/// What rounding and the contact solvers may leave of the local velocity of row k of L.
double carom_alpha_no_velocity(const carom_step *s, const carom_local *L, int k, const double *v);

/// (AF-17)  Does a contact stick whose reaction is p, n tangents behind the normal one:  |p_T| < mu p_N?  Velocities
///          that rounding leaves under a heavy load say nothing.
bool carom_alpha_sticks(const carom_step *s, int id, const double *p, int n);

/// L's rows, of their constraints' recorded directions, and back; others stay as they are.
void carom_alpha_gather(double *x, const carom_step *s, const carom_local *L, const double *by_direction);
void carom_alpha_scatter(double *by_direction, const carom_step *s, const carom_local *L, const double *x);
/// w->mean = gamma c (lambda + kap), mean reactions of the step, by rows of N.L.
void carom_alpha_mean(carom_alpha_forces *w, const carom_step *s);
/// Column r of `to` += a W_k of `from`.
void carom_alpha_add_row(carom_local *to, int r, double a, const carom_local *from, int k);
/// (AF-12)  Where the cubic through gaps g_0, g_1 and their rates u_0, u_1 over h becomes zero, of h, and *u: its
///          rate there.
double carom_alpha_crossing(double g_0, double u_0, double g_1, double u_1, double h, double *u);

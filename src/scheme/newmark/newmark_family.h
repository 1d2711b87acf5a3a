// newmark_family.h: one step of Newmark, HHT and generalized-alpha, nonsmooth by splitting or with contact forced into
// it.
//
//     M s_1 = f(t_1, q_1, v_1),   (1 - am) a_1 + am a_0 = (1 - af) s_1 + af s_0                  (NM-1)
//     v_1 = v_0 + h ((1 - gam) a_0 + gam a_1) + dw                                              (NM-2)
//     q_1 = q_0 + h v_0 + h^2 ((1/2 - bet) a_0 + bet a_1) + h/2 dw                              (NM-3)
//     M dw = W(q_1) p,   Newton's law and friction between u(q_0, v_0) and u(q_1, v_1)           (NM-4)
//
// am = af = 0: Newmark; am = 0: HHT.  The table of each scheme is in a file of its own.
#pragma once
#include "scheme/bent.h"
#include "linalg/saddle.h"
#include "scheme/identity.h"
#include "scheme/newton.h"
#include "scheme/responses.h"
#include "scheme/rho.h"
#include "scheme/increments.h"

typedef enum carom_newmark_contact {
    CAROM_NEWMARK_NONSMOOTH, // (NM-4)
    CAROM_NEWMARK_POSITION,  // a force in (NM-1), on position level
    CAROM_NEWMARK_VELOCITY   // a force in (NM-1), on velocity level
} carom_newmark_contact;

typedef struct carom_newmark_par {
    double alpha_m, alpha_f, gamma, beta;
    carom_newmark_contact contact;
    bool half;     // forecast of closed contacts at q_0 + h/2 v_0 instead of the end of the step without contact
    bool identity; // check the energy balance where there is one
    bool from_force; // start with M s_0 = f_0, which the energy balances need, instead of A s_0 = f_0 (NM-10)
    bool choose_beta; // not given: gamma/2 where there are joints
} carom_newmark_par;

/// Parameters of generalized-alpha from the spectral radius at infinite frequency.
carom_newmark_par carom_newmark_rho(double rho);

/// Second order without contacts and joints: gamma = 1/2 + alpha_f - alpha_m.
int carom_newmark_order(carom_newmark_par par);

typedef struct carom_newmark {
    carom_newmark_par par;
    double c;          // (1 - alpha_f)/(1 - alpha_m): a_1 = a_p + c s_1
    double *a_0, *s_0; // kept
    double *h_0;       // kept, one: step that a_0 belongs to; 0: a_0 is that of the start
    double *dq_before, *df_before,
        *before;                 // kept, HHT with identity: steps of position and load before; are they there?
    double *a_h;                 // a_0 for the step at hand (NM-15)
    double *a_p, *v_p, *x_p;     // a_1, v_1 and displacement for s_1 = 0
    double *s, *dw, *p;          // rate of the smooth velocity; jump; impulses (forces times h)
    double *q_1, *v_1, *x, *f;   // the end of the step; displacement; forces
    double *r_s, *r_w, *size;    // residuals of (NM-1) times h and of (NM-4), magnitude of the terms of the first
    double *g, *sign, *u_0, *u;  // gaps; set as signs; local velocities
    double *y_s, *y_w, *dv, *dx; // increments and what they do to velocity and position
    double *dx_0;                // scratch: dx as an increment of x
    carom_increments turn;             // at x
    double *X_s, *X_w;           // the same for unit impulses, by columns; room for `room` of them
    int room;
    bool constant;               // the columns depend on the step size only: they are kept by direction
    carom_responses keep;             // constant: W' times their effect on velocities, on position level on positions
    carom_local L, L_0;          // directions at q_1, at q_0
    carom_bent bent;
    carom_columns D;             // d(W'v + w)/dq
    carom_matrix M, K, C, E, A;  // M, d(M s - f)/dq, -df/dv, d(M dw - W p)/dq, iteration matrix of s
    carom_factor F_A, F_E, F_0;  // of A; of M + h/2 E; of M at the start
    double h_A;                  // step of a constant A that stands; 0: none
    bool factored;               // F_A is the factor of A
    carom_saddle S;              // (NM-16): joints in the linear system
    carom_local V;               // derivatives of their rows
    carom_columns TD;            // T'D
    int *at;                     // rows of contacts alone
    double *g_j;                 // rows of joints at the present iterate
    bool by_saddle;              // the last correction was made with it
    carom_chord chord;           // its factor
    carom_past past;             // contact=nonsmooth, where S is on
    double free;                 // (TOL-1): rows of joints without reactions, about
    bool supported;              // what rests has acted in the iteration by which they are found
    bool decided, chosen;        // the contacts of this step are known; the set is new: its impact is not known yet
    bool have_M;                 // M is constant and stands
    carom_identity I;
} carom_newmark;

void carom_newmark_allocate(carom_newmark *w, carom_newmark_par par, carom_arena *mem, carom_arena *keep,
                         const carom_system *sys);
carom_status carom_newmark_start(void *w, carom_step *s);
carom_status carom_newmark_step(void *w, carom_step *s);

/// The sentence for the ledger about parameters that are there for comparison only; NULL: none.
const char *carom_newmark_warning(carom_newmark_par par);

// Options that newmark and hht share, behind their own.
// clang-format off
/// The functions of a member of the family that has parameters(opt), and their lines in its table.
#define CAROM_NEWMARK_FUNCTIONS                                                                                        \
    static void allocate(void *w, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {   \
        carom_newmark_allocate(w, parameters(opt), mem, keep, sys);                                                    \
    }                                                                                                                  \
    static int order_of(const double *opt) { return carom_newmark_order(parameters(opt)); }                            \
    static const char *warning(const double *opt) { return carom_newmark_warning(parameters(opt)); }
#define CAROM_NEWMARK_TABLE                                                                                            \
    .order = 2, .order_of = order_of, .impulses = true, .options = options, .warning = warning,                        \
    .promises = {.forces = CAROM_AT_END, .gaps = CAROM_AT_END, .directions = CAROM_AT_START | CAROM_AT_END},           \
    .limitations = CAROM_NO_REST, .dense_operator = true, .follows_features = true,                                    \
    .work_size = sizeof(carom_newmark), .allocate = allocate, .start = carom_newmark_start, .step = carom_newmark_step

#define CAROM_NEWMARK_OPTIONS                                                                                          \
    {.name = "contact", .kind = CAROM_CHOICE, .choices = "nonsmooth|position|velocity",                                \
     .about = "nonsmooth: impulses apart from accelerations; the others put contact into them, wrong at impacts"},     \
    {.name = "active", .kind = CAROM_CHOICE, .choices = "free|half",                                                   \
     .about = "contacts closed at the end of the step without contact, or at q_0 + h/2 v_0"},                          \
    {.name = "identity", .kind = CAROM_CHOICE, .choices = "on|off",                                                    \
     .about = "check the discrete energy balance at every step of a linear system"}
// clang-format on

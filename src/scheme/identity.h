// identity.h: the discrete energy balance that a scheme obeys on linear systems, checked at every step.
//
//     M v' = f(t) - K q - C v + W lambda,     E = 1/2 v'M v + 1/2 q'K q                        (EN-1)
//
// Each function returns by how much one step violates an identity that follows from the scheme's equations alone.  What
// is left is rounding and the tolerances of Newton's method; a wrong sign anywhere leaves far more.  *scale receives
// the sum of the magnitudes of the terms.
#pragma once
#include "scheme/step.h"

typedef struct carom_identity {
    bool asked, ready, on;
    bool damped; // C is not zero
    carom_matrix M, K, C;
    double *x, *y;     // nv: scratch
    double *f_0, *f_1; // nv: loads at both ends of the step
    double t_1;        // time of f_1, which is the f_0 of the next step
} carom_identity;

/// Nothing is allocated when it is not asked for or the system is not linear.
carom_identity carom_allocate_identity(carom_arena *mem, const carom_system *sys, bool asked);

/// Fetch M, K and C once.  I->on tells whether to check: K and M must be symmetric.
carom_status carom_identity_begin(carom_identity *I, carom_step *s);

/// I->f_0 and, when the times differ, I->f_1: the loads f(t), which are the forces at q = 0 and v = 0.
carom_status carom_identity_loads(carom_identity *I, carom_step *s, double t_0, double t_1);

/// One step: states, loads f, impulse r = W p acting in it, and for the Newmark family accelerations.
typedef struct carom_balance {
    double h;
    const double *q_0, *v_0, *q_1, *v_1;
    const double *f_0, *f_1; // moreau-dissipative: f_0 is the load where the scheme sees it
    const double *r;
    const double *a_0, *a_1;
} carom_balance;

/// (EN-6)  By how much energy, with Newmark's algorithmic part, rises beyond the work of loads and damping.
double carom_rise_theta(const carom_identity *I, const carom_balance *b, double theta);
double carom_rise_dissipative(const carom_identity *I, const carom_balance *b, double theta);
double carom_rise_newmark(const carom_identity *I, const carom_balance *b, double gamma, double beta);

double carom_identity_theta(const carom_identity *I, const carom_balance *b, double theta, double *scale);
double carom_identity_dissipative(const carom_identity *I, const carom_balance *b, double theta, double *scale);
/// Loads are f(t) - C v here.  HHT (alpha > 0) also wants dq and df of the step before.
double carom_identity_newmark(const carom_identity *I, const carom_balance *b, double gamma, double beta, double alpha,
                              const double *dq_before, const double *df_before, double *scale);

// moreau.h: Moreau's steps, for the schemes named after him and for those that take one of them.
#pragma once
#include "scheme/bent.h"
#include "scheme/identity.h"
#include "scheme/newton.h"
#include "scheme/stage.h"

/// The midpoint rule (moreau_midpoint.c).
typedef struct carom_midpoint {
    carom_stage M;             // at q_M
    double *q_0, *v_0;         // state before
    double *u_0, *u;           // local velocities: before; free, then after
    double *opened;            // by contact: gaps that residuals have opened (MID-8)
    bool returns, paper;       // is there one; local=paper
} carom_midpoint;
void carom_midpoint_allocate(carom_midpoint *w, carom_arena *mem, const carom_system *sys);
carom_status carom_midpoint_step(carom_midpoint *w, carom_step *s, bool paper); // option local=paper
/// The same in two parts, for steps that may be taken again: without books; the books of the step taken last.
carom_status carom_midpoint_take(carom_midpoint *w, carom_step *s, bool paper);
void carom_midpoint_account(const carom_midpoint *w, carom_step *s);

/// The theta rule (moreau_jean.c); the options of moreau-jean.
typedef struct carom_theta_rule {
    double theta, gamma;
    bool inside, start;    // at=theta; at=start
    bool updates;          // gap=update
    bool identity;         // check the energy balance
} carom_theta_rule;

/// Steps without contacts one after the other, up to the last step.
typedef struct carom_theta_past {
    double steps; // how many of length h, 2 at most; negative: as many as must follow before they are counted
    double h;
} carom_theta_past;

typedef struct carom_theta {
    carom_newton N;
    carom_factor F_0;            // M(q_0)
    carom_local L_0;             // directions at q_0
    carom_bent bent;
    carom_matrix M, K, C;
    bool have_M;                 // M is constant and stands
    carom_columns D, D_0;        // d(W'v + w)/dq with v_1 and, at=theta, with v_0
    double theta, gamma;
    bool inside, start;          // at=theta; at=start
    double *gap;                 // kept, gap=update: gaps as (MJ-13) has them; NULL: gap=position
    double *gap_1, *U;           // those at the end of the step; local velocities of all constraints
    carom_local L_all;           // all constraints, directions at q_0
    double *s_0, *v_m, *q_1;     // M_0^-1 f_0; (1 - theta) v_0 + theta v_1; new position
    double *f_0, *q_theta;       // at=theta: forces at the start; q_0 + theta (q_1 - q_0)
    double *v_1, *y, *f, *g;     // trial velocity; v_1 - v_0, at=end: less h (1 - theta) s_0; forces; forecast gaps
    double *u_0;                 // W(q_0)'v_0 + w
    double *jump, *strikes;      // walls and drives that move: by row of L_0, by its constraints
    carom_theta_past *past;      // kept, with s_1 and s_2; NULL: not used
    double *s_1, *s_2;           // M^-1 f at the start of the last step and of the one before it
    carom_identity I;
} carom_theta;
/// keep NULL: steps do not depend on those before.
void carom_theta_allocate(carom_theta *w, carom_theta_rule rule, carom_arena *mem, carom_arena *keep,
                          const carom_system *sys);
carom_status carom_theta_step(void *w, carom_step *s);

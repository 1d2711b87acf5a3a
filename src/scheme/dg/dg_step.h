// dg_step.h: a step of degree m, its sets, stages and impulse, and what the schemes dg-plus and dg-minus keep for it.
#pragma once
#include "scheme/dg/dg.h"
#include "scheme/moreau/moreau.h"
#include "scheme/newton.h"

enum { CAROM_DG_ORDER, CAROM_DG_REST, CAROM_DG_ORDER_TOL }; // options

typedef struct carom_dg_work {
    bool plus, automatic;
    int m;
    double *q_0, *v_0;             // where the step began, m = 0
    double *degree;                // kept, order=auto: [0] degree of the next step, 0: the first; [k] steps of degree
                                   // k; then steps done again
    double *largest;               // kept, order=auto: by velocity, the largest |v| so far
    carom_theta moreau;            // m = 0
    carom_dg dg;
    double *kept;                  // by id, kept: 1 for a lasting contact that the last step held
    carom_factor F;                // M at the stage treated last
    carom_local L;                 // candidates
    double *g, *sign;              // by id: gaps; set as signs
    double *u;                     // by row of a set: local velocities
    double *a_0, *v_1;             // acceleration at t_0; new velocity
    int *start;                    // by id: first of its directions among those of all constraints
    double *u_0, *bias, *slow;     // by direction of all constraints: W(q_0)'v_0 + w; e o u, or -b of other laws; u_T
                                   // of contacts too slow to slide
    double *lambda_0;              // the same: forces at t_0
    carom_past past;               // D+ with joints in the linear system: increments of the last steps
    double *p_past;                // ne: scratch
    double *u_b, *u_f, *u_a;       // rows of the impulse: local velocity of the law before it; v_1 - w; v_1
    double *p_i, *p_f, *s;         // p counted as impulse, as force; h sum beta lambda
    bool have_u_0, plastic;        // u_0 is there; Newton's law had no solution: no restitution in this step
    bool *closed_0, *still;        // by id: closed at t_0; and at rest
    bool *kinked;                  // by id: meets a kink
    bool *carries;                 // by id: lasting contact, all stages
    bool *gives_none;              // by block of the impulse: gives nothing back, other laws than Newton's
    bool *lasting;                 // by id: held at the end as well, (DG-10)
    bool rubs;                     // there are contacts with friction
    bool *slips, *turns;           // by id: slides at t_0, (DG-17); comes to rest or reverses in this step
    bool *stays, jammed;           // by id: then with the static coefficient; (DG-22)
} carom_dg_work;

/// w->start: those of contacts that come and go change with them.
void carom_dg_directions(carom_dg_work *w, const carom_system *sys);
/// One step of degree m, up to v_1; counts its iterations in *iterations.
carom_status carom_dg_attempt(carom_dg_work *w, carom_step *s, int m, int *iterations);
/// u_f = velocities of the impulse's rows without the impulse, v_1 with it being known.
void carom_dg_free_velocity(carom_dg_work *w, const carom_step *s, const double *v_1);

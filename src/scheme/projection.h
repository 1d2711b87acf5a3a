// projection.h: positions moved on the constraints: ggl-projection and alpha-forces.
//
//     q_1 = q_P + F^-1 N_f Psi h,   g(t_1, q_1) = 0 for joints,  0 <= Psi _|_ g(t_1, q_1) >= 0 for contacts
//     (GP-2)
//
// N_f are the normals where the correction acts, and stay; the gaps are those at q_1.
#pragma once
#include "linalg/saddle.h"
#include "scheme/bent.h"

typedef struct carom_projection {
    // the caller's
    const carom_factor *F; // metric of the correction
    double t_f;            // N_f are the normals at (t_f, q_f)
    const double *q_f;
    const double *q_0, *v_0; // start of the step
    double *q_P;             // position to be corrected
    double depth;            // penetration that is left alone (GP-7)
    bool *equal;             // by id: a contact that is held like a joint; NULL: none is
    bool free;               // the last attempt gave `equal` up
    carom_saddle *joints;   // factor of [A N; V'  0] of all joints; NULL: none
    // answer
    double *q, *moved;  // corrected position; its displacement from q_P
    double *Psi, *sign; // multipliers over h, by id; -1 for those that took part
    double *g;          // gaps, by id: on entry those at q_P
    // scratch
    carom_local L_f, L; // normals at q_f, at the present position
    carom_bent bent;    // at q_P
    double *x, *u;
    int *at;            // rows of contacts alone
    double least; // largest gap of the best iterate; iterates in turn that did not halve it
    int stalls;
} carom_projection;

carom_projection carom_allocate_projection(carom_arena *mem, const carom_system *sys);

/// From q_P and the gaps g there.  *some: something was below zero, or a joint or held contact was off; else q = q_P,
/// Psi = 0.  Books nothing.
carom_status carom_project(carom_projection *w, carom_step *s, bool *some);

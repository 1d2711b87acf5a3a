// scan.h: does a gap close and open again inside a step, or a reaction vanish and come back?
//
// The ends of a step do not show it: an integrator of free flight takes steps of any length.  A scan samples the gaps
// inside the step, more densely where they may be small, until every interval between two samples is known to be clear
// or ends beyond an event.  Spec: docs/methods-mixed.md, SC.  Shared by `mixed`, `auto`, `splitting` and
// `event-driven`.
#pragma once
#include "event/flow.h"

/// The contacts, and what has kinks, at one instant of a step: gaps of open contacts (nc), kinks (nk), normal reactions
/// and friction of closed contacts (2 nc).
typedef struct carom_sample {
    double tau;    // since the start of the step
    double *phi;   // event functions, negative beyond the event
    double *u;     // their rates
    double *gamma; // rates of these
    double *most;  // what |u| may become when directions turn
    double *q, *v, *a; // the motion there, where the system has bounds
} carom_sample;

enum { CAROM_SCAN_DEPTH = 24 }; // halvings: 6e-8 of a step

typedef struct carom_scan {
    int n;                                           // 3 nc + nk
    bool *watched;                                   // n: functions to look at; the caller's
    carom_sample left, right[CAROM_SCAN_DEPTH];      // right[0]: the end of the step
    bool sorted;                                     // group is that of this phase
    int *group;                                      // nv: velocities of one kind (SC-2), by the first of them
    double *W_size, *v_size;                         // nv, by group
    double *kappa;                                   // by direction of all constraints
    double t;                                        // of tau = 0
    const double *offset;                            // as in carom_sample_set
    double *v_off;                                   // nv: how far velocities are off straight lines between two
                                                     // samples
    double *least, *slowest, *fastest, *change;      // nc: bounds of gaps and rates there, as systems give them
    double *ends;                                    // nc: |phi| at both ends of the step

    // the path of a Runge-Kutta step, for carom_path_at
    const double *q_0, *v_0;
    double tau;
    double *way, *v_1, *rate_1, *mean, *doubt;       // nv: displacement, velocity and its lift at the end, mean
                                                     // velocity, error of the cubic
    double *q, *v, *a, *shift;                       // the last point of it
} carom_scan;

carom_scan carom_allocate_scan(carom_arena *mem, const carom_system *sys);

/// At the beginning of a phase.
void carom_scan_begin(carom_scan *z, double t);

/// (SC-2)  The most that rates of gaps may be at velocities up to v, nc, with the directions in `all` at (t, q).
carom_status carom_scan_rates(carom_scan *z, carom_step *s, const carom_local *all, double t, const double *q,
                              const double *v, double *most);

/// A sample of contacts from gaps g (by id), offset[c] (NULL: none) added to each, and the directions in `all`; a:
/// accelerations.
carom_status carom_sample_set(carom_scan *z, carom_step *s, const carom_local *all, double t, const double *q,
                              const double *v, const double *a, const double *g, const double *offset, carom_sample *P);

/// The path of the step of tau from (q_0, v_0) to v_1 that f made last; both must live as long as the path is used.
void carom_path_set(carom_scan *z, const carom_step *s, const carom_flow *f, double tau, const double *q_0,
                    const double *v_0, const double *v_1);
/// z->q, z->v, z->a at tau, by cubics.
void carom_path_at(carom_scan *z, const carom_step *s, double tau);

/// Samples at tau, for carom_scan_run.
typedef carom_status (*carom_scan_look)(void *user, carom_step *s, double tau, carom_sample *P);

/// z->left is the start, z->right[0] the end of the step.  *found: the first event lies before *at, which is a sample
/// beyond it, and no event was seen before that.  No interval shorter than `shortest` is divided.
carom_status carom_scan_run(carom_scan *z, carom_step *s, carom_scan_look look, void *user, double shortest,
                            bool *found, double *at);

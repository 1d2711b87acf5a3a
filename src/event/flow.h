// flow.h: smooth motion between events, with the contacts that are closed, and what happens to them at an event.
//
//     M v' = f + W lambda,   W'v' + kappa = 0 over joints, closed normals and sticking tangents              (MX-1)
//
// A sliding contact pushes along W_N - mu W_T d.  Shared by all schemes that locate events.  The modes of the contacts
// are the caller's; every function works on copies of the state and writes nothing of carom_step but its books.
#pragma once
#include "event/accumulate.h"
#include "contact/delassus.h"
#include "event/filippov.h"
#include "event/rk.h"
#include "linalg/envelope.h"
#include "scheme/step.h"

/// Rounding of accelerations and reactions, relative to their terms.
static const double CAROM_FLOW_ROUNDING = 1e-11;

/// Is the friction `used` all that there is?  Solvers meet the limit to rounding of their sums.
static inline bool carom_flow_exhausted(double used, double mu, double normal) {
    return used >= mu * normal * (1 - CAROM_FLOW_ROUNDING);
}

/// What is known of the last point looked at, each kind under its key.
typedef struct carom_flow_known {
    enum { CAROM_KNOWN_NOTHING,
           CAROM_KNOWN_FREE,       // a and a_f at (t, q, v), where nothing is closed
           CAROM_KNOWN_PLACE,      // F and L at (t, q) for `closed` and the features `held`
           CAROM_KNOWN_ALL } what; // besides, all that was found at (t, q, v) with these modes, at the end of a step
    double t, *q, *v, *mode;
    bool *closed;                  // nc: contacts of L
    long held;
    int n;                         // of a place: D and G are there, of so many rows and none of them of a slip; -1:
                                   // they are not
} carom_flow_known;

typedef struct carom_flow {
    const carom_butcher *T;
    carom_filippov filippov;
    int room;                      // contacts that there is room for: sys->nc, or more where they come and go
    size_t size;                   // of the caller's part
    double *mode;                  // nc, the caller's: one of CAROM_MODE_...
    double *dir;                   // CAROM_TANGENTS nc, the caller's: slip direction of a sliding contact
    double *live;                  // nc, the caller's: not 0: slip along more than one tangent, fast enough to follow
                                   // the direction of its velocity
    bool follows;                  // the caller's: a live slip follows its velocity wherever that turns; else a trial
                                   // beyond the stop keeps its direction
    bool slow;                     // there are slow slips, which keep one direction
    double turn;                   // of these: how far their velocity is from the direction they keep at the start,
                                   // relative to `range`
    double *range;                 // nc: magnitude of the velocities there, at the start
    double per_h;                  // 1/h while the laws are asked where slow slips will go, else 0: (MX-14) for
                                   // contacts marked live

    // the last point looked at
    carom_factor F;
    carom_local L;                 // joints and contacts that are not open
    bool *closed;                  // nc: mode is not open
    double *a, *a_f;               // nv: accelerations with and without reactions
    double *u, *kappa, *lambda, *Gamma, *noise; // L's directions; Gamma: where there is a row; noise: magnitude of the
                                                // terms of W'v' + kappa
    double *D;                     // L's directions: diagonal of G, 0 where there is no row
    double *slip;                  // CAROM_TANGENTS nc: directions in which sliding contacts push, of the last point
                                   // that forces were wanted for
    double *lightest;              // nc: largest W_k'M^-1 W_k of the tangents of a contact of L; -1: nobody has asked
                                   // there
    bool shared;                   // reactions are not unique: those nearest to `choice` are meant (share.c), or what
                                   // the laws picked
    double pivot;                  // smallest pivot of G of the last smooth point, relatively: 0 where reactions are
                                   // not unique
    bool keeps;                    // where the laws pick and all slide: the nearest to the choice, for directions found
                                   // with that
    double *choice;                // recorded directions, the caller's
    int n, *row;                   // rows of the problem: directions of L
    int most;                      // there is room for so many
    carom_delassus G;              // W'M^-1 B: column r of B is the direction in which unknown r pushes
    const carom_local *of_G[2];    // W and B of the last one
    carom_local rows, push_on;     // W and B, where they are not the directions of L: rows that are left out, slips
    carom_columns push_few, push_all; // columns of B, with the entries of W and with all
    double *S, *x, *scratch;       // n x n, to be eliminated; n; 3 n
    double *balance;               // n: scales of rows of S
    carom_envelope E;              // factor of G within its envelope, in the place of S
    long of_E;                     // the operator that it belongs to; 0: none
    int *col, *order;              // n: pivots
    double *N, *x_0, *b;           // share.c: n x n, n, n
    double *q_on, *v_on;           // a state put on the constraints
    double *q_last;                // before the last correction of a position
    double *g, *dv;                // by id; nv
    carom_flow_known at;                // what is still known of it

    // stages
    double *V[CAROM_RK_STAGES], *K[CAROM_RK_STAGES]; // velocities and accelerations
    double *shift[CAROM_RK_STAGES], *lifted[CAROM_RK_STAGES]; // where (+) is no sum: displacements from the start,
                                                              // their rates; else lifted = V
    carom_account power[CAROM_RK_STAGES];            // of reactions and of forces without potential
    carom_account power_0;                           // implicit: at the start
    double *push[CAROM_RK_STAGES];                   // nc: reactions, one number each (carom_flow_witness)
    double *aside[CAROM_RK_STAGES];                  // 2 nc, of slow slips: |u_T - |u_T| d|, and how fast the friction
                                                     // along d instead of u_T changes the slip
    double *margin[CAROM_RK_STAGES + 1];             // 2 nc: event functions of closed contacts (carom_flow_margins),
                                                     // of stages without laws; the last at the start of the phase
    double *Q, *V_sum, *K_sum;     // after a step: V_sum = sum b_i V_i
    double *Jq, *Jv, *J, *r;       // implicit: derivatives of the accelerations at the start, Newton matrix, residual
    double *a_0;                   // acceleration at the start
    int *J_pivot;
    bool ready;                    // Jq and Jv belong to this start
} carom_flow;

carom_flow carom_allocate_flow(carom_arena *mem, const carom_system *sys, const carom_butcher *T);

/// At the start of a step: the caller's part as it was kept, f->size numbers.  Nothing else survives from step to step.
void carom_flow_load(carom_flow *f, const carom_step *s, double *kept);
/// It is kept in so many arrays of these sizes, each with the same numbers of every contact one behind the other;
/// constraint id is another contact now.
enum { CAROM_FLOW_KEPT = 4 }; // mode, direction, live, choice
void carom_flow_sizes(const carom_system *sys, size_t *size);
void carom_flow_forget(const carom_step *s, double *const *kept, int id);

/// What an implicit table needs besides, for a flow that changes its table (f->T) on the way.
void carom_allocate_flow_implicit(carom_flow *f, carom_arena *mem, const carom_system *sys, const carom_butcher *T);

/// Is there neither a joint nor a closed contact?  Then there are no rows and no reactions.
bool carom_flow_free(carom_flow *f, const carom_step *s);
/// The point just looked at with velocities v, without laws, is the end of a step: the next one begins there, with all
/// that is known of it.
void carom_flow_remember(carom_flow *f, const carom_step *s, const double *v);
bool carom_flow_remembers(const carom_flow *f, const carom_step *s, double t, const double *q, const double *v);
/// f->E, the factor of G within its envelope, where rows are many: joints meet their neighbours only.  False: rows are
/// few, or a pivot is small, and pivots must be looked for.
bool carom_flow_eliminate(carom_flow *f);
/// F and L are no longer those of a place.
void carom_flow_leave(carom_flow *f);
/// F and L: the joints and these contacts at a point.  Where it was the last one looked at, they are there.
carom_status carom_flow_look(carom_flow *f, carom_step *s, double t, const double *q, const bool *closed);
/// Accelerations and reactions at a point.  `laws`: the contact laws on acceleration level (MX-2) instead of the
/// equations
/// (MX-1), so that closed contacts let go and sticking ones slip as they must.
carom_status carom_flow_rate(carom_flow *f, carom_step *s, double t, const double *q, const double *v, bool laws);
/// The same with the forces f->filippov.given, if it gives, else those of the state.  stage: nobody asks here again.
carom_status carom_flow_rate_given(carom_flow *f, carom_step *s, double t, const double *q, const double *v, bool laws,
                                   bool stage);
/// carom_flow_rate() for integrators: near a singular position at the nearest state on the constraints, which *q and
/// *v are then.
carom_status carom_flow_rate_near(carom_flow *f, carom_step *s, double t, const double **q, const double **v,
                                  bool laws);
static const double CAROM_FLOW_CUT = 1e-11;     // pivots smaller than this, relatively, count as zero
static const double CAROM_FLOW_SINGULAR = 1e-4; // pivots smaller than this: the position is nearly singular (EV-19),
                                                // (EV-20)

// -- share.c
/// f->x: reactions of constraints that depend on each other, the nearest to the choice.
void carom_flow_share(carom_flow *f, carom_step *s);
/// Reactions that solve the laws of the system last formed, by direction of L, go as far inside the laws as they can.
void carom_flow_inside(carom_flow *f, carom_step *s, double *lambda);
/// The choice for the phase that begins at the point whose rates were found last, where reactions are not unique: as
/// far inside the laws as it can.
void carom_flow_choose(carom_flow *f, carom_step *s);
/// The choice: the reactions of the system last formed.
void carom_flow_take(carom_flow *f, const carom_step *s, const double *lambda);

/// Start of a phase at (t, q, v): the first stage of an explicit method, which slips along more than one tangent are
/// live.
carom_status carom_flow_begin(carom_flow *f, carom_step *s, double t, double h, const double *q, const double *v,
                              bool laws);

/// From that start over tau: (q_1, v_1).  When error is not NULL, estimates of both (nq and nv) go there: those of the
/// embedded method, or for Radau IIA of order 5 (MX-13); other tables have none.
carom_status carom_flow_step(carom_flow *f, carom_step *s, double t, double tau, const double *q, const double *v,
                             bool laws, double *q_1, double *v_1, double *error);

/// Largest estimate over its tolerance, rtol |x| + atol size_q or size_v over its lever (LV-3), of a step from (q_0,
/// v_0) to (q_1, v_1).
double carom_flow_error(const carom_step *s, const double *error, const double *q_0, const double *v_0,
                        const double *q_1, const double *v_1, double rtol, double atol, double size_q, double size_v);
/// The reaction of block b of L, normal and friction, as one number that changes when one of them does.
double carom_flow_witness(const carom_flow *f, int b);
/// What block b of L, a closed contact, has left before it changes: its normal reaction, and the friction that a
/// sticking one has left or the speed of a sliding one along its direction.  Reactions are multiplied by their Delassus
/// number.
void carom_flow_margins(const carom_flow *f, const carom_step *s, int b, double *normal, double *friction);
/// Reactions may change while nothing moves: their estimate in the step of h just made, an impulse over `size`.  0
/// where the table has none.
double carom_flow_reaction_error(const carom_flow *f, const carom_step *s, double h, double size);

/// (AU-13)  Slow slips keep one direction for a step: the error of the step of h just made by that, relative to the
///          velocities there.  0 where none is slow.
double carom_flow_turn_error(const carom_flow *f, const carom_step *s, double h);

/// The works of the step just made.
carom_account carom_flow_work(const carom_flow *f, double tau);
/// (AU-16)  The estimated error of these works, largest of friction, external and damping work, over its tolerance; 0
///          where the table has no estimate.  *sum: the sum of
/// their magnitudes over the steps so far, of which the tolerance is a part; carom_flow_work_add() adds the step once
/// it is accepted.  q and v: the start of the step.  size_v: the size of velocities, for a step so short that (AU-22)
/// holds; 0 for longer ones.
carom_status carom_flow_work_error(carom_flow *f, carom_step *s, double t, double tau, const double *q, const double *v,
                                   double rtol, double atol, double size_v, double sum, double *error);
void carom_flow_work_add(const carom_flow *f, double tau, double *sum);

/// Positions, then velocities, onto the constraints of the set.
carom_status carom_flow_project_position(carom_flow *f, carom_step *s, double t, double *q);
carom_status carom_flow_project_velocity(carom_flow *f, carom_step *s, double t, const double *q, double *v);
/// The same; the impulses f->x are left to the caller's books.
carom_status carom_flow_stop(carom_flow *f, carom_step *s, double t, const double *q, double *v);
/// (JT-4)  The velocity of a driven joint has jumped: an impact of the joints alone, booked as such.  open: room for nc
///         numbers.
carom_status carom_flow_jerk(carom_flow *f, carom_step *s, double t, const double *q, double *v, double *open);

/// (EV-42)  Of the impulses that do what p, the answer of the last problem, does to the bodies, the shortest.
void carom_flow_shortest(carom_flow *f, const carom_step *s, double *p);

/// Newton's impact law over joints and the contacts with touching[c], if one of these approaches, or always; slow[c]
/// are speeds below which no restitution acts.  *some: there was an impulse.  u_before and u_after: normal velocities
/// by contact, p: normal impulses by contact.
carom_status carom_flow_impact(carom_flow *f, carom_step *s, double t, const double *q, double *v, const bool *touching,
                               const double *slow, bool always, bool *some, double *u_before, double *u_after,
                               double *p);

/// Normal velocities of direction k that the solver of impacts cannot tell from zero.
double carom_flow_no_approach(const carom_step *s, const carom_local *L, int k, const double *v);

/// The same where contacts z->among[c] of touching[c], with gaps z->gap[c] known to z->eps[c], arrive within one
/// interval of time: they hit one after the other, with the directions of `all` (all constraints at (t, q)).  The rest
/// is a plastic impact when all are slow, or after CAROM_TURNS impacts.
carom_status carom_flow_impact_in_turn(carom_flow *f, carom_step *s, double t, const double *q, double *v,
                                       const bool *touching, const double *slow, carom_turns *z, const carom_local *all,
                                       bool *some, double *u_before, double *u_after, double *p);

/// Accelerations of direction k that the solver of (MX-2) cannot tell from zero.
double carom_flow_resolution(const carom_flow *f, const carom_step *s, int k);

/// Reactions at the end of the step go to the records.  next: the next step begins there.
carom_status carom_flow_finish(carom_flow *f, carom_step *s, double t, const double *q, const double *v, bool laws,
                               bool next);

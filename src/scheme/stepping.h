// stepping.h (private): what the texts of steps ask for, in the library.
//
// The step of a scheme that lanes have, too, is such a text: NAME.inc, which the library and the text of lanes take as
// it is.  It names the points of a step, its sets, velocities and contact problems; how they are found is told here for
// systems of any size, in sweep/lanes/flight.inc for vectors of systems in flight and in sweep/lanes/full.inc for one
// small system with contacts.  There, functions that end a step of the library early set a mask or return a status, and
// those for books, options and storages that lanes do not have are empty.
//
//   state: t, h, q, v of a step, in place.  point: where something is evaluated, with the motion without reactions
//   there, gaps, and its set of closed contacts and joints with their directions.  set: those alone.
#pragma once
#include "linalg/matrix.h"
#include "scheme/stage.h"

#define ASK(name) step_##name
#ifndef DEVICE
#define DEVICE static inline
#endif
typedef carom_step step_state;
typedef carom_stage step_point;
typedef carom_local step_set;
typedef double step_real;

/// q = q_0 (+) h v
static inline void step_move(const carom_step *s, double *q, const double *q_0, double h, const double *v) {
    carom_move(s, q, q_0, h, v);
}
/// q (+)= h v of the state, in place.
static inline void step_go(const carom_step *s, double h) { carom_move(s, s->q, s->q, h, s->v); }
/// The same; q_0 and v_0 keep the state as it was.
static inline void step_leave(const carom_step *s, double *q_0, double *v_0, double h) {
    carom_move_keeping(s, q_0, v_0, h);
}
/// The number of velocities, of joints, of joints and contacts.
static inline int step_velocities(const carom_step *s) { return s->sys->nv; }
static inline int step_joints(const carom_step *s) { return s->sys->ne; }
static inline int step_constraints(const carom_step *s) { return s->sys->ne + s->sys->nc; }
/// y = x;  y = a + h b
static inline void step_copy(const carom_step *s, double *y, const double *x) { carom_copy(y, x, s->sys->nv); }
static inline void step_add(const carom_step *s, double *y, const double *a, double h, const double *b) {
    carom_add(y, a, h, b, s->sys->nv);
}

/// P is at (t, q, v): the motion without reactions, and gaps.
static inline carom_status step_motion(carom_step *s, carom_stage *P, double t, const double *q, const double *v) {
    return carom_stage_motion(P, s, t, q, v);
}
/// v += h a of the state, once.
static inline void step_advance(const carom_step *s, carom_stage *P, double h) { carom_stage_advance(P, s->v, h); }
/// P's set and its directions, as carom_stage_close().
static inline carom_status step_close(carom_step *s, carom_stage *P, const double *held, const carom_stage *like) {
    return carom_stage_close(P, s, held, like);
}
/// Is there anything in P's set?  A contact?
static inline bool step_some(const carom_step *s, const carom_stage *P) { return (void)s, P->L.nb > 0; }
static inline bool step_contacts(const carom_step *s, const carom_stage *P) { return carom_some_contact(s, &P->L); }

/// u = W'v + w of P's set: of contacts before impulses, and after them, for books; of all without impulses.
static inline void step_before(const carom_step *s, double *u, const carom_stage *P, const double *v) {
    if (carom_some_contact(s, &P->L)) carom_local_velocity_shared(s, u, &P->L, v);
}
static inline void step_after(const carom_step *s, double *u, const carom_stage *P, const double *v) {
    step_before(s, u, P, v);
}
static inline void step_without(const carom_step *s, double *u, const carom_stage *P, const double *v) {
    carom_local_velocity_shared(s, u, &P->L, v);
}
/// v += M^-1 W p,  p solves CP over P's set with  G = W'M^-1 W,  c = u + e o u_0,  u: those of v
static inline carom_status step_impulses(carom_step *s, carom_stage *P, double *v, const double *u_0,
                                         const double *u) {
    CAROM_TRY(carom_problem_step(s, &P->L, &P->F, u, u_0));
    carom_problem_apply(s, v, 1);
    return CAROM_OK;
}
/// They are booked; u_0, u: velocities before and after.
static inline void step_book(carom_step *s, const carom_stage *P, const double *u_0, const double *u) {
    carom_account_impulses(s, &P->L, s->problem.p, u_0, u);
}
/// The state is (q, v).
static inline void step_end(const carom_step *s, const double *q, const double *v) {
    carom_copy(s->v, v, s->sys->nv);
    carom_copy(s->q, q, s->sys->nq);
}

// Forces at a point.

/// M^-1 f at P once more, for another velocity or position.
static inline carom_status step_accelerate(carom_step *s, carom_stage *P, const double *q, const double *v) {
    CAROM_TRY(carom_force(s, P->a, P->t, q, v));
    carom_factor_solve(&P->F, P->a);
    return CAROM_OK;
}
static inline carom_local *step_set_of(carom_stage *P) { return &P->L; }
static inline bool step_any(const carom_local *L) { return L->nb > 0; }
/// lambda solves CP over L, P's set or its joints, with  G = weight V'M^-1 W,  c = V'v_f:  law(V'(v_f + weight M^-1 W
/// lambda), lambda).  V: directions of that set elsewhere.  Unless they are NULL,  a += M^-1 W lambda  and
/// v += weight M^-1 W lambda.  number: of the problem in its step.
static inline carom_status step_forces(carom_step *s, int number, carom_stage *P, const carom_local *L,
                                       const carom_local *V, const double *v_f, double weight, double *lambda,
                                       double *a, double *v) {
    (void)number;
    carom_stage_form(P, s, V, L, weight);
    carom_local_velocity(s->c, V, v_f);
    CAROM_TRY(carom_problem_solve(s, L));
    carom_copy(lambda, s->problem.p, s->problem.n);
    if (v) carom_problem_apply(s, v, weight);
    if (a) carom_problem_apply(s, a, 1);
    return CAROM_OK;
}

/// (CL-4)  Does a contact of P's set approach with v faster than forces explain?  u: their velocities.
static inline carom_status step_struck(carom_step *s, int *some, const carom_stage *P, double *u, const double *v) {
    bool struck;
    carom_contact_velocity(s, u, &P->L, v);
    CAROM_TRY(carom_struck(s, &struck, NULL, &P->L, u, carom_stage_point(P)));
    *some = struck;
    return CAROM_OK;
}
/// Does a contact that is open by g_0 close by g_1?
static inline bool step_closes(const carom_step *s, const double *g_0, const double *g_1) {
    return carom_closes(s, g_0, g_1);
}
/// An impact over P's set: v changes.  u_0, u_1: scratch.
static inline carom_status step_strike(carom_step *s, carom_stage *P, double *v, double *u_0, double *u_1) {
    return carom_impact(s, &P->L, &P->F, v, u_0, NULL, u_1);
}

/// Books of powers: between these two calls, with shares of the step.
static inline void step_power_begin(carom_step *s) { carom_power_begin(s); }
static inline carom_status step_power(carom_step *s, double share, double t, const double *q, const double *v) {
    return carom_power_stage(s, share, t, q, v);
}
static inline void step_power_end(carom_step *s, const double *v_0, const double *v) { carom_account_power(s, v_0, v); }

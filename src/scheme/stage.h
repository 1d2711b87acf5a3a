// stage.h: a point of a step, with what a scheme evaluates there: the motion without reactions, the active set and its
// directions.
//
// A scheme names the point and reads F, a, g and L.  What is evaluated together, and what is known from the step
// before, is decided in stage.c and changes no bit of a result.
#pragma once
#include "scheme/step.h"

typedef struct carom_stage {
    double t;
    const double *q, *v;   // the point
    carom_factor F;        // M; not where `free`
    double *a, *g;         // M^-1 f, or f where `force`; gaps
    carom_local L;         // the active set, with its directions at the point
    const double *join;    // by id: contacts with -1 take part wherever they are; NULL: none
    // of stage.c
    bool force, free;      // a holds f; nothing is active, and M has not been factorised
    bool lasts;            // the set of the last step was that of the step before
    carom_local L_known;   // a set whose directions at the point are there where `known`
    bool known;
    double *g_known;       // gaps as the system gives them; NULL: no step returns to this point
    bool stands, directed; // F and g_known belong to (t, q); L does
    long number;           // the contact problem in which F^-1 W was formed; 0: in none
} carom_stage;

/// returns: the next step may start at the point, by carom_stage_start().
carom_stage carom_allocate_stage(carom_arena *mem, const carom_system *sys, bool returns);

/// S: M, f and gaps at the point.  Where nothing is near, a system may give M^-1 f without M.
carom_status carom_stage_motion(carom_stage *S, carom_step *s, double t, const double *q, const double *v);

/// The same at the start of a step: *start and *end change places where *end, of the last step, has the same position,
/// and M, gaps and directions are known then.
carom_status carom_stage_start(carom_stage **start, carom_stage **end, carom_step *s, double t, const double *q,
                               const double *v);
/// The same at the end of a step, where the next one may start.
carom_status carom_stage_end(carom_stage *S, carom_step *s, double t, const double *q, const double *v);

/// I = { j : g_j <= 0 } and all joints, as carom_close_at(), and their directions.  held: contacts that reacted just
/// before; NULL: in the last step.  like: a stage whose directions serve where they are the same everywhere; NULL:
/// none.
carom_status carom_stage_close(carom_stage *S, carom_step *s, const double *held, const carom_stage *like);

/// The point, for decisions about contacts.
static inline carom_evaluation_point carom_stage_point(const carom_stage *S) {
    return (carom_evaluation_point){.t = S->t, .q = S->q, .v = S->v, .F = S->force ? &S->F : NULL, .f = S->a};
}
/// Are the directions of a system the same everywhere?  Then no gap has a kink.
static inline bool carom_straight(const carom_system *sys) {
    return sys->flags & CAROM_CONSTANT_DIRECTIONS && sys->flags & CAROM_TIMELESS_GAPS;
}

/// v += h M^-1 f, once.
void carom_stage_advance(carom_stage *S, double *v, double h);
/// The contact problem G = a V'F^-1 W of L's set, a part of S->L's; V: other directions of it.
void carom_stage_form(carom_stage *S, carom_step *s, const carom_local *V, const carom_local *L, double a);

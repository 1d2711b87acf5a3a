// bent.h: contacts that meet a kink inside an implicit step.
//
// Directions that jump let an iteration jump with them: beyond the kink the impact takes the position back before it,
// and there is no impact.  Contacts that meet a kink on the way (CL-5) keep the directions in which the first iterate
// has met it, and on position level the plane that they make with the gap there: where the two sides of a kink are at
// right angles, no multiplier along one of them changes the gap of the other.
#pragma once
#include "scheme/step.h"

typedef struct carom_bent {
    bool some, *which; // by constraint of the set
    carom_local L;     // the set, with their directions
    double *u;         // scratch
    double *g, *x;     // by constraint of the set: gap at the displacement x
    bool *plane;       // by constraint of the set: has one
    double *g_0;       // scratch
    bool *left;        // by constraint of the set: (CL-13)
    bool *keeps;       // scratch, by id
} carom_bent;

carom_bent carom_allocate_bent(carom_arena *mem, const carom_system *sys);

/// As carom_velocity_before(); contacts whose u it changes are bent, with the directions that L has.
carom_status carom_bent_find(carom_bent *z, carom_step *s, double *u, const carom_local *L, carom_evaluation_point at);
/// (CL-13)  Those among them that have run off their features on the way, (CL-12), have no direction at the point, and
///          u = w > 0 of L there, so that they do not push.
carom_status carom_bent_leave(carom_bent *z, carom_step *s, double *u, carom_local *L, carom_evaluation_point at);
/// The derivatives D of L's rates by the position: those have none.
void carom_bent_rates(const carom_bent *z, carom_columns *D, const carom_local *L);
/// Their directions go to L, a frame that has been evaluated elsewhere; its set may be another.
void carom_bent_keep(const carom_bent *z, carom_local *L);
/// The iterate at which they were found has the displacement x and gaps g (by id), ...  *all: every one of them has a
/// plane.  One that was below zero at the start of the step, q_0, has none: steps that follow the plane enter the other
/// side by what forces do in them, and must not go on doing so.
carom_status carom_bent_plane(carom_bent *z, carom_step *s, bool *all, const double *g, const double *x,
                              const double *q_0);
/// ... and one with the displacement x has theirs in the plane through it.
void carom_bent_gaps(const carom_bent *z, double *g, const double *x);

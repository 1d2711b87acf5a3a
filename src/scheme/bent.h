// bent.h: contacts that meet a kink inside an implicit step.
//
// Directions that jump let an iteration jump with them: beyond the kink the impact takes the position back before it, and there is no impact.  Contacts that meet
// a kink on the way (CL-5) keep the directions in which the first iterate has met it.
#pragma once
#include "scheme/step.h"

typedef struct carom_bent {
    bool some, *which; // by constraint of the set
    carom_local L;     // their directions
    double *u;         // scratch
} carom_bent;

carom_bent carom_allocate_bent(carom_arena *mem, const carom_system *sys);

/// As carom_velocity_before(); contacts whose u it changes are bent, with the directions that L has.
carom_status carom_bent_find(carom_bent *z, carom_step *s, double *u, const carom_local *L, carom_place at);
/// Their directions go to L, a frame of the same set that has been evaluated elsewhere.
void carom_bent_keep(const carom_bent *z, carom_local *L);

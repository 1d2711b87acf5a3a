// tube.h: which contacts cannot close in a step.
#pragma once
#include "event/state.h"

/// From the start of a phase on, around its motion: contacts that cannot close while velocities stay near those of its
/// start.
carom_tube carom_allocate_tube(carom_arena *mem, carom_arena *keep, const carom_system *sys);
void carom_tube_load(carom_tube *z, const carom_step *s);
void carom_tube_keep(carom_tube *z, const carom_step *s);
void carom_tube_forget(carom_tube *z, int c); // contact c is another one now
/// The motion is another one now.
void carom_tube_leave(carom_tube *z);
/// At the start of a phase with steps up to w->longest: a tube, where there is none any more.  *needless: no contact
/// that the scan watches can close in a step that stays in it.
carom_status carom_tube_enter(carom_phase *w, carom_step *s, bool *needless);
/// Did the step to w->b stay in it?  Then contact c did not close if it is clear.
bool carom_tube_holds(const carom_phase *w, const carom_step *s);
bool carom_tube_clear(const carom_phase *w, const carom_step *s, int c);

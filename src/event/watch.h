// watch.h: event functions.
#pragma once
#include "event/state.h"

/// Gaps, rates and event functions at a point.
carom_status carom_phase_watch(carom_phase *w, carom_step *s, carom_event_point *P);

/// Gaps and normal velocities alone.  Gaps and directions of open contacts are what they are.
carom_status carom_phase_gaps(carom_phase *w, carom_step *s, double t, carom_event_point *P);
/// Functions at whose zeros forces and gaps have kinks; 1 for those that are idle.
carom_status carom_phase_kinks_raw(const carom_phase *w, carom_step *s, double t, const double *q, const double *v,
                                   double *k);
/// Event functions of kinks of forces and gaps.
carom_status carom_phase_kinks(const carom_phase *w, carom_step *s, double t, const double *q, const double *v,
                               double *phi);
/// Does kink i belong to the gap of a contact that is open, or to what lets one close that is closed?  Then nothing
/// happens there.
bool carom_phase_idle(const carom_phase *w, const carom_system *sys, int i);

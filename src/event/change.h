// change.h: events for observers, and the smooth motion between them.
#pragma once
#include "event/state.h"

/// For observers: the state before an event, whose smooth motion ended at t_before; then what happened there.
void carom_phase_remember(carom_phase *w, const carom_step *s);
carom_status carom_phase_emit(carom_phase *w, carom_step *s, double t_before, bool limit);
/// The smooth motion of a phase (carom_change) from t_0 to t_1, forwards or backwards, whatever its event functions do:
/// q and v become those at t_1. By Dormand and Prince's method, the table of w->f, with error control; error: room for
/// nq + nv.
carom_status carom_phase_flow(carom_phase *w, carom_step *s, const double *phase, double t_0, double t_1, double rtol,
                              double *q, double *v, double *error);

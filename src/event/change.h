// change.h: events for observers.
#pragma once
#include "event/state.h"

/// For observers: the state before an event, whose smooth motion ended at t_before; then what happened there.
void carom_phase_remember(carom_phase *w, const carom_step *s);
carom_status carom_phase_emit(carom_phase *w, carom_step *s, double t_before, bool limit);

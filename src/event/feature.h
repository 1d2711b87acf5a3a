// feature.h: contacts that switch features.
#pragma once
#include "event/state.h"

/// Asks the system to hold the features that contacts have at (t, q), where it has some; to free them, so that each point has its own; to hold the former once more.
carom_status carom_phase_hold(carom_step *s, double t, const double *q);
carom_status carom_phase_free(carom_step *s);
carom_status carom_phase_held(carom_step *s);

/// At the end of a step with this status: no feature is held any more, so that between steps the system shows all.  The status of both.
carom_status carom_phase_leave(carom_step *s, carom_status status);
/// Which closed contacts have another feature at P than the one they are held on; the system f formed last, and w->all, are those of P.
void carom_phase_switches(carom_phase *w, const carom_step *s, carom_point *P);

// feature.h: contacts that switch features.
#pragma once
#include "event/state.h"

/// Asks the system to hold the features of contacts, where it has some.
carom_status carom_phase_hold(carom_step *s, carom_hold what, double t, const double *q);

/// At the end of a step with this status: no feature is held any more, so that between steps the system shows all.  The status of both.
carom_status carom_phase_leave(carom_step *s, carom_status status);
/// Which closed contacts have another feature at P than the one they are held on; the system f formed last is that of P.
carom_status carom_phase_switches(carom_phase *w, carom_step *s, double t, carom_point *P);

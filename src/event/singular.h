// singular.h: positions that are nearly singular.
#pragma once
#include "event/state.h"

/// At a nearly singular position: the time until it is left behind, at most `left`, and what rounding leaves
/// undetermined in positions and velocities, relatively; 0 elsewhere, and where constraints are redundant everywhere.
/// The system f formed last is that of the start.
carom_status carom_phase_crossing(carom_phase *w, carom_step *s, double left, double *time, double *blur);

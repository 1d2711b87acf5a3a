// hidden.h: does a force change and come back inside a step, where no stage has met it?
#pragma once
#include "event/state.h"

carom_hidden carom_allocate_hidden(carom_arena *mem, const carom_system *sys);

/// In the step of the integrator from w->from to w->b, which is otherwise accepted: *hidden, and before *at (since the
/// start of the phase) there is none; it was met in the middle of *width.  Forces that
/// change no velocity by `part` of the largest count as none.  wide: as of (HF-3).
carom_status carom_phase_hidden(carom_phase *w, carom_step *s, double part, double wide, bool *hidden, double *at,
                                double *width);

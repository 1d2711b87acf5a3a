// side.h: on which side of a kink of forces a phase begins.
#pragma once
#include "event/state.h"

/// w->sign, w->beyond and w->floor of the kinks, for a phase that starts at w->from with accelerations w->f.a and has
/// steps of h at most; their event functions there.  *moved, w->passing: it began at a jump that it had not
/// quite passed, and now has.
carom_status carom_phase_sides(carom_phase *w, carom_step *s, double h, bool *moved);
/// w->from is the end of a step: kinks that the phase began on may be left.
carom_status carom_phase_sides_left(carom_phase *w, carom_step *s);
/// Does the step to w->a end on a jump of forces, to rounding, that it did not begin on?  What comes back to the jump
/// from both sides may stay there, and the integrator with it, in steps of rounding.
bool carom_phase_reaches_jump(const carom_phase *w, const carom_step *s);
/// Is there a jump of forces between the start of the phase and (q, v)?
carom_status carom_phase_across_jump(carom_phase *w, carom_step *s, const double *q, const double *v, bool *across);

// decide.h: what happens at an event.
#pragma once
#include "event/state.h"

/// What happens at (w->t, w->q, w->v), at the functions in w->hit; the gaps seen are in w->gap.  dt: the interval that
/// is left to pass.
carom_status carom_phase_resolve(carom_phase *w, carom_step *s, double delta, double dt, bool first,
                                 const bool *lasting);
/// Features that contacts leave here: none.
void carom_phase_features_last(carom_phase *w, const carom_step *s);
/// The last part of it: which of the contacts w->in stay, stick and slide; w->slow and w->slow_T are velocities that
/// count as none, delta the interval of (MX-11). Modes are set.
carom_status carom_phase_sort(carom_phase *w, carom_step *s, double delta);
/// eps_g of direction k of w->all: what positions, way and fall round to over h.
double carom_phase_gap_rounding(const carom_phase *w, const carom_step *s, int k, double h);

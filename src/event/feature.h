// feature.h: contacts that switch features.
#pragma once
#include "event/state.h"

/// Asks the system to hold the features that contacts have at (t, q), where it has some; to free them, so that each
/// point has its own; to hold the former once more.
carom_status carom_phase_hold(carom_step *s, double t, const double *q);
carom_status carom_phase_free(carom_step *s);
carom_status carom_phase_held(carom_step *s);

/// At the end of a step with this status: no feature is held any more, so that between steps the system shows all.  The
/// status of both.
carom_status carom_phase_leave(carom_step *s, carom_status status);
/// Which closed contacts have another feature at P than the one they are held on; the system f formed last, and w->all,
/// are those of P.
carom_status carom_phase_switches(carom_phase *w, carom_step *s, carom_event_point *P);
/// Of the terms of a gap: far above its rounding and drift, far below the slack of features that do not touch.
#define CAROM_ELSEWHERE 1e-6
/// An open contact closes between w->a and w->b.  *some: one of those has another feature at b than at a, so that the
/// direction at a is not that of the feature it meets.
carom_status carom_phase_turns(carom_phase *w, carom_step *s, bool *some);
/// *some: a closed contact has another feature at (w->t, w->q) than the one that is held.  The features of (w->t, w->q)
/// are held from then on.
carom_status carom_phase_moved_on(carom_phase *w, carom_step *s, bool *some);

/// Is this gap, or difference of gaps, of block b of L finite, so that features lie apart?
bool carom_phase_apart(const carom_phase *w, const carom_local *L, int b, double gap);

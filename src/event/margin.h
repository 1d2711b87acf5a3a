// margin.h: closed contacts inside a step.
#pragma once
#include "event/state.h"

/// Which event functions of closed contacts may have a minimum below zero inside the step to w->b, w->margins: the scan
/// watches them.  wanted false: none.
void carom_phase_margins(carom_phase *w, const carom_step *s, bool wanted);
/// Their samples at both ends of the step.
carom_status carom_phase_margin_ends(carom_phase *w, carom_step *s);
/// The same at P, inside the step, where event functions are known.
carom_status carom_phase_margin_sample(carom_phase *w, carom_step *s, const carom_event_point *P, carom_sample *S);

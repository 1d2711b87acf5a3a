// more.h: what front ends in this tree need to resolve a run.
#pragma once
#include <carom/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Signals of controllers as another run left them (ni + 1 numbers, as from carom_state_signals(); NULL: as the model
/// has them).  room: ni numbers that live as long as def, where `left` may lie.
void carom_run_signals(carom_sim_def *def, const double *left, double *room);

#ifdef __cplusplus
}
#endif

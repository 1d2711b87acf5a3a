// controls.h (private): where the signals of controllers are, for those that linearise them.
#pragma once
#include <carom/model.h>

/// Of one controller: its signals among the system's ni, what it computes among that of all: outputs, then next
/// states.
// pending: outputs on their way; those of a controller without delay have none
typedef struct carom_control_place {
    int state, nstates, output, noutputs, pending, first;
    bool delayed;
} carom_control_place;
carom_control_place carom_model_control(const carom_model *m, int k);
/// What all controllers compute at (t, q, v), with the signals that the work block has: carom_model_controlled()
/// numbers.
void carom_model_compute(const carom_model *m, void *work, double t, const double *q, const double *v, double *y);
int carom_model_controlled(const carom_model *m);
/// The first constraint or contact whose gap or directions follow a signal of a controller; -1: none does.
int carom_model_controlled_link(const carom_model *m);

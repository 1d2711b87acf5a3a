// steady.h (private): controllers where the mechanism rests, and their linearisation there.
#pragma once
#include "dynamics/dynamics.h"

/// Beside a point of n recorded directions.  CAROM_UNSUPPORTED: a controller moves a joint or a wall.  To be closed
/// whatever happens.
carom_status carom_steady_open(carom_steady *s, const carom_point *p, bool rates, carom_error *err);
void carom_steady_close(carom_steady *s);
/// The point has these signals from now on.
void carom_steady_hold(carom_steady *s, carom_point *p);
/// What controllers compute, by signal: outputs on their way are the same as outputs.
void carom_steady_spread(const carom_model *m, const double *computed, double *to);
/// r = c - z; returns its largest part, relative to the signals.
double carom_steady_error(carom_steady *s, carom_point *p);
/// F, H, C and, where wanted, V at the point.
carom_status carom_steady_linearise(carom_steady *s, carom_point *p, carom_error *err);
/// (STD-1) with A of the grip; slow: weight of what z has moved in the step.  False: singular.
bool carom_steady_factor(carom_steady *s, carom_grip *grip, double slow);
/// x = A^-1 b becomes what it is with controllers, dz what they answer; r NULL: for a change of forces alone.
void carom_steady_answer(const carom_steady *s, const carom_point *p, const double *r, double *x, double *dz);

// sampled.h (private): modes of a mechanism with controllers.
#pragma once
#include "dynamics/dynamics.h"

/// Eigenvalues log(mu)/period of the map over the common period of all controllers; multipliers mu that are 0 are
/// counted in *forgotten.  CAROM_UNSUPPORTED: there is no such period, or the state turns.
carom_status carom_spectrum_sampled(carom_spectrum *s, const carom_linear *l, double *period, int *forgotten,
                                    carom_error *err);

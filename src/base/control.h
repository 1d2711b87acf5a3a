// control.h: the size of the next step by the estimated error of the last one.
#pragma once
#include <math.h>

/// h_1/h_0 = safety error^(-1/k) between least and most, as in (AD-5): an error that grows as h^k then meets the
/// tolerance, which is 1.  Of a step that is made again, most is safety.
static inline double carom_step_factor(double error, double k, double safety, double least, double most) {
    return fmin(most, fmax(least, safety * pow(error, -1 / k)));
}

/// The error for which that is h_1/h_0 = factor.
static inline double carom_step_error(double factor, double k, double safety) { return pow(safety / factor, k); }

/// (AD-4)  h_1/h_0 with the error of the step before, which damps oscillations of the step size.
static inline double carom_step_factor_pi(double error, double before, double k, double safety, double least,
                                          double most) {
    // the PI controller of Hairer and Wanner
    return fmin(most, fmax(least, safety * pow(error, -0.7 / k) * pow(before, 0.4 / k)));
}

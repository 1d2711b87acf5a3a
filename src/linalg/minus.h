// minus.h: a - x y with one rounding where the machine does that as fast as a product, else with two.
//
// It shortens chains of dependent results and halves the arithmetic of dense updates.  The choice is made by the
// machine, not by the compiler, so that every compiler gives the same bits.
#pragma once
#include <math.h>

#if defined(FP_FAST_FMA) || defined(__aarch64__) || defined(__FMA__)
static inline double carom_minus(double a, double x, double y) { return fma(-x, y, a); }
#else
static inline double carom_minus(double a, double x, double y) { return a - x * y; }
#endif

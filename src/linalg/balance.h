// balance.h: scales of rows and columns that round nothing.
#pragma once
#include <math.h>

/// A power of two about 1/sqrt(x); 1 where x is not positive or not finite.
static inline double carom_inverse_root(double x) {
    int e = 0;
    if (!(x > 0 && x < HUGE_VAL)) return 1;
    frexp(x, &e);
    return ldexp(1, -(e / 2));
}

// balance.h: scales of rows and columns that round nothing.
#pragma once
#include <math.h>

/// A power of two about sqrt(unit/x), x and unit positive; 1 for anything else.  With every x and the unit times a
/// power of two the scales stay the same.
static inline double carom_inverse_root(double x, double unit) {
    int e = 0, of = 0;
    if (!(x > 0 && x < HUGE_VAL && unit > 0 && unit < HUGE_VAL)) return 1;
    frexp(x, &e);
    frexp(unit, &of);
    e -= of;
    return ldexp(1, -(e - (e < 0 && e % 2 != 0)) / 2);
}

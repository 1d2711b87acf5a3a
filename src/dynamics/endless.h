// endless.h (private): the parameter at which the period of orbits is infinite.
#pragma once
#include <stdbool.h>

/// The parameter at which the period of orbits would be infinite.
typedef struct carom_period_limit {
    double value, error, before; // error: as the last points tell it; before: as those before them told it
    double rate;                 // of the saddle: the period grows by 1/rate where the parameter comes nearer by e
    bool saddle_node;
} carom_period_limit;
enum { CAROM_ENDLESS = 7 }; // points that it needs
/// By the last of n points with growing periods, which should not lie closer together than their errors allow.  False:
/// they do not follow such a law.
bool carom_endless(const double *p, const double *T, int n, carom_period_limit *to);

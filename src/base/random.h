// random.h: numbers in [-1, 1) that look random and are the same every time.
#pragma once

static inline double carom_random(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 8388608.0 - 1;
}

// clock.h: seconds of a clock of the system; the file that includes it first defines _POSIX_C_SOURCE.
#pragma once
#include <time.h>

static inline double carom_seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// option.h: self-describing options.
//
// A scheme or solver declares its options in one table.  Checking, defaults, `carom schemes NAME`
// and every error message come from that table; there is no second place to keep in step.
#pragma once
#include <carom/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum carom_option_kind { CAROM_REAL, CAROM_INTEGER, CAROM_CHOICE } carom_option_kind;

typedef struct carom_option {
    const char *name;     // "theta"; the list ends at NULL
    carom_option_kind kind;
    double fallback;      // default; for a choice the index of the default word; NaN: see derived
    double low, high;     // allowed range, inclusive; for CAROM_REAL, see open_high
    const char *choices;  // CAROM_CHOICE: words separated by '|', "nonstrict|strict".  CAROM_INTEGER: words besides the
                          // numbers, which mean high + 1 and so on
    const char *about;    // one sentence
    bool open_high;       // the upper end is excluded
    const char *derived;  // default that is not a number of its own, for display, one word: "by-alpha"; the value is
                          // then NaN
} carom_option;

#ifdef __cplusplus
}
#endif

#ifdef CAROM_INSIDE
#include "base/more.h"
#endif

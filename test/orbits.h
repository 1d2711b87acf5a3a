// orbits.h: periodic orbits and branches that must be found.
#pragma once
#include "model_text.h"
#include <carom/dynamics.h>
#include <string.h>

static inline carom_orbit find_orbit(const carom_orbit_def *d) {
    carom_orbit o;
    carom_error err = {0};
    if (carom_orbit_find(&o, d, &err) != CAROM_OK) fail_msg("%s", err.text);
    assert_true(o.residual < 1e-10);
    return o;
}

// The parameter at the n-th event of this name (its first word), from 0.
static inline double at_event(const carom_branch *b, const char *name, int n) {
    for (long r = 0; r < b->branch.rows; ++r)
        if (strncmp(b->branch.column[5].text[r], name, strlen(name)) == 0 && n-- == 0) return b->branch.column[1].real[r];
    fail_msg("there is no %s", name);
    return NAN;
}

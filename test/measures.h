// measures.h: for tests of numbers inside a simulation: one from a text, and numbers that must be near each other.
#pragma once
#include "model_text.h"
#include "sim/sim.h"
#include <carom/event.h>

static inline void is_near(const char *what, double x, double want, double tolerance) {
    if (!(fabs(x - want) <= tolerance)) fail_msg("%s is %.12g instead of %.12g +- %.2g", what, x, want, tolerance);
}

typedef struct made { carom_model *m; carom_sim *sim; } made;

static inline made make(const char *text, const char *scheme, const char *option, double h, double end) {
    const char *const options[] = {option, NULL};
    made x = {.m = good(text)};
    x.sim = model_sim(x.m, scheme, option ? options : NULL, h, end);
    return x;
}

static inline void done(const made *x) { carom_sim_destroy(x->sim), carom_model_destroy(x->m); }

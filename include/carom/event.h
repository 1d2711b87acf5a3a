// event.h: schemes that need more than the core: event-driven integration through SUNDIALS.
//
// A simulation has them when its definition names the list:
//
//     carom_sim_def def = carom_sim_default();
//     def.schemes = carom_schemes();
//     def.scheme = "event-driven";
#pragma once
#include <carom/option.h>
#include <carom/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Smooth phases by an adaptive multistep method, events located to rounding.  docs/methods-event.md.
extern const carom_scheme carom_scheme_event_driven;

/// All schemes, NULL-terminated: those of the core, then event-driven.  For carom_sim_def.schemes.
const carom_scheme *const *carom_schemes(void);

/// Scheme i of carom_schemes(), for lists and help; name is NULL after the last.
typedef struct carom_scheme_line {
    const char *name, *about;
    int order;
    bool own_steps;              // it controls its steps itself
    const carom_option *options; // the list ends at name NULL; NULL: none
} carom_scheme_line;
carom_scheme_line carom_scheme_line_at(int i);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

const carom_scheme_line *carom_scheme_line_at_view(int i);
#ifndef CAROM_INSIDE
#define carom_scheme_line_at(...) (*carom_scheme_line_at_view(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

#ifdef CAROM_INSIDE
#include "event/more.h"
#include <carom/scheme.h>
#endif

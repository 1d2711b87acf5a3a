// narrow.h: are forces looked at inside steps, by their bounds?  Do they jump at a kink?
#pragma once
#include <carom/system.h>
#include <limits.h>

/// A private flag of carom_system.flags: forces are narrow in time or between kinks alone.  Schemes that divide their
/// steps at pulses in time, and end them at kinks, need no force_bounds then.
enum { CAROM_NARROW_AT_EVENTS = 1 << 16 };

/// A private value in carom_system_events.kink_of: coefficients of friction jump there.
#define CAROM_JUMPS INT_MIN

/// May forces be narrow at some states?
static inline bool carom_system_hides(const carom_system *sys) {
    return sys->events->force_bounds && !(sys->flags & CAROM_NARROW_AT_EVENTS);
}

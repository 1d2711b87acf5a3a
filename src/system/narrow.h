// narrow.h: are forces looked at inside steps, by their bounds?  Do they jump at a kink?
#pragma once
#include <carom/system.h>
#include <limits.h>

/// A private flag of carom_system.flags: forces are narrow in time or between kinks alone.  Schemes that divide their
/// steps at pulses in time, and end them at kinks, need no force_bounds then.
enum { CAROM_NARROW_AT_EVENTS = 1 << 16 };

/// A private value in carom_system_events.kink_of: coefficients of friction jump there.
#define CAROM_JUMPS INT_MIN
/// Do forces or friction have the kink?
static inline bool carom_kink_is_of_forces(int of) { return of == -1 || of == CAROM_JUMPS; }
/// The open contact that closes only while the function is positive; -1: none.
static inline int carom_kink_condition(int of) { return of < -1 && of != CAROM_JUMPS ? CAROM_CLOSES_WHILE(of) : -1; }

/// May forces be narrow at some states?
static inline bool carom_system_hides(const carom_system *sys) {
    return sys->events->force_bounds && !(sys->flags & CAROM_NARROW_AT_EVENTS);
}

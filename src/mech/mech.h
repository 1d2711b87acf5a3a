// mech.h: mechanisms as the library handles them; users: <carom/mech.h>.
#pragma once
#include <carom/mech.h>

/// The unit of a column of results or of a parameter, by its usual name ("m/s", "J"), where the mechanism gives units;
/// false: not known.
bool carom_mech_unit(const carom_mech *m, const char *name, char *text, size_t size);
/// A copy; NULL: no memory.
carom_mech *carom_mech_copy(const carom_mech *m);

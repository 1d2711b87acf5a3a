// mech.h: mechanisms as the library handles them; users: <carom/mech.h>.
#pragma once
#include <carom/mech.h>

/// The unit of a column of results or of a parameter, by its usual name ("m/s", "J"), where the mechanism gives units;
/// false: not known.
bool carom_mech_unit(const carom_mech *m, const char *name, char *text, size_t size);
/// Of a column of a table about a model: a name of the model, its max(), min(), mean(), rms() or abs(), its mean or
/// amplitude over a period, an energy of the ledger, a period.  m: a carom_mech.
bool carom_mech_column_unit(const void *m, const char *column, char *text, size_t size);
/// A copy; NULL: no memory.
carom_mech *carom_mech_copy(const carom_mech *m);

// registry.h: schemes by name and number.
#pragma once
#include <carom/scheme.h>

const carom_scheme *carom_scheme_find(const char *name);
const carom_scheme *carom_scheme_at(int i); // NULL after the last

// schemes.h (private): the tables of schemes.def, for the lists of schemes and for schemes that fall back on another
// one.
#pragma once
#include "scheme/step.h"

#define CAROM_SCHEME(scheme) extern const carom_scheme scheme;
#include "scheme/schemes.def"
#undef CAROM_SCHEME

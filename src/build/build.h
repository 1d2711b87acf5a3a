// build.h: the mechanism that calls of <carom/build.h> made.
#pragma once
#include <carom/build.h>

/// The mechanism, which still belongs to the builder; NULL after a mistake.
const carom_mech *carom_build_mech(carom_build *b, carom_error *err);

// missing.h: what public functions return when an argument is missing: see status.h.
#pragma once
#include <carom/status.h>
#include <stddef.h>

/// The failure of a public function that needs an argument which is NULL.
#define CAROM_MISSING(err) carom_fail(err, CAROM_BAD_INPUT, "%s(): missing argument", __func__)

// yaml.h: a YAML text as data that know their place in the file.
//
// Every scalar is text; what it means is decided by the reader of the data.  Anchors, aliases, tags and several
// documents are refused, so data are never larger than their text.
#pragma once
#include "mech/datum.h"
#include "mech/pool.h"

enum { YAML_DEEPEST = 64 }; // levels: the reader calls itself; bytes: a safeguard against other files
#define YAML_BYTES ((size_t)256 << 20)

/// Is this UTF-8 without control characters?  If not, err->text is `file:line:column: what; what to do`.
carom_status carom_text_check(const char *text, size_t length, const char *file, carom_error *err);
/// NULL on failure; err->text is `file:line:column: what; what to do`.
carom_datum *carom_yaml_read(pool *p, const char *text, size_t length, const char *file, carom_error *err);

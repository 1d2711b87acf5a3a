// tree.h (private): the data of a model file as text that needs no YAML library.
//
// A datum is a line `KIND COUNT LINE COLUMN FLAGS LENGTH`, its text in a line of its own, and its items; in a map each
// item comes behind its key.  KIND: T, L, M (text, list, map); FLAGS: 1 flow, 2 bare, 4 aligned.
#pragma once
#include <carom/status.h>
#include <stddef.h>

/// The tree of a model file, to be freed; NULL on failure, as of carom_yaml_read().
char *carom_tree_text(const char *text, size_t length, const char *file, carom_error *err);

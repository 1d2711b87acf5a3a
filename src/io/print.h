// print.h: escaped texts in files and on terminals, see base/escape.h.
#pragma once
#include "base/escape.h"
#include <stdio.h>

/// A carom_escape_write; user: a FILE.
void carom_write_file(void *user, const char *text, size_t length);
void carom_escape_file(carom_target target, FILE *f, const char *text); // NULL: writes nothing

/// fprintf() with every %s and %c escaped for a terminal.
void carom_safe_file(FILE *f, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

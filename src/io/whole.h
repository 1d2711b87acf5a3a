// whole.h: a file that gets its name when it is whole.
//
// It is written beside, as NAME.PID.part, and renamed at the end: after a failed write an older file of that name is
// still there.  A device or a pipe (/dev/null, /dev/stdout) is written directly: renaming would replace it.
#pragma once
#include <carom/status.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct whole_file {
    FILE *f;
    const char *name;
    char *part; // NULL: written directly
} whole_file;

/// The text of a file of at most `most` bytes, NUL behind it, to be freed; NULL: err gives the reason.
char *whole_read(const char *file, size_t most, size_t *length, carom_error *err);

carom_status whole_open(whole_file *w, const char *name, carom_error *err);
/// Fails if anything written since whole_open() was lost.  good false: the file is given up, which is not a failure.
carom_status whole_close(whole_file *w, bool good, carom_error *err);

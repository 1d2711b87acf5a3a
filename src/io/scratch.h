// scratch.h: files and folders for the time of a command: in $TMPDIR, else in /tmp, else in the current folder.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/// A file without a name, to be written and read; gone when it is closed.  NULL: errno says why.
FILE *scratch_file(void);
/// A new folder whose name begins so.  False: errno says why.
bool scratch_folder(char *folder, size_t size, const char *name);

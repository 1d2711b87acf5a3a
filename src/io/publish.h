// publish.h: how a result gets its name, and how writers and readers keep out of each other's way.
//
// A result is begun as NAME.PID.part and renamed when it can be read, so that NAME never means half a file.
#pragma once
#include <carom/status.h>
#include <stdbool.h>

/// To be freed; NULL: no memory.
char *part_name(const char *name);

/// A new file for reading and writing: an older file of that name is removed, a link is never followed.  -1: see errno.
int part_open(const char *part);

/// The part gets its name.  Fails, and removes the part, if another run is writing a file of that name.  keep: an older
/// file of that name becomes NAME.before, unless there is one already: then that is the better one.
carom_status publish(const char *name, bool keep, carom_error *err);
/// Remove the part.
void publish_not(const char *name);
/// The run is done: NAME replaces NAME.before.
void publish_for_good(const char *name);

/// Locks lie on bytes far behind every file and belong to the open file.  FILE_WRITER: its one writer.  FILE_COMMIT:
/// shared by readers, held by the writer while it changes what they may be reading.  kind: F_WRLCK, F_RDLCK, F_UNLCK;
/// patience in seconds.  False: somebody else has it.  Where there are no such locks everybody has them.
enum { FILE_WRITER, FILE_COMMIT };
bool file_lock(int fd, int what, int kind, double patience);

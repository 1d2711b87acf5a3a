// child.h: other programs as children, without a shell.
#pragma once
#include <stdbool.h>
#include <sys/types.h>

/// Starts argv[0], found on the PATH, with these files as its standard streams; -1: nothing.  0, or why not: ENOENT
/// means that there is no such program.
int cli_child_start(pid_t *pid, const char *const *argv, int in, int out, int complaints);
/// Did it end well?
bool cli_child_wait(pid_t pid);

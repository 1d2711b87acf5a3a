// follow_plot.h: pictures of branches.
#pragma once
#include <carom/table.h>
#include <stdbool.h>
#include <stdio.h>

/// A column over the parameter, stable parts solid, unstable ones dashed, events as points with their names.  of: a
/// column (NULL: the largest position of the first coordinate).  script: keep gnuplot's script in this file (NULL: no).
/// False: complained.
int follow_plot(const char *result, const char *of, const char *file, const char *script);
/// On standard output, as members of a JSON object: `events` (the rows whose column `event` is not empty), `columns`.
void follow_json(const carom_table *t, int event);
/// The script with the picture's name in it, behind its terminal.  False: complained.
bool follow_keep_script(FILE *s, const char *script, const char *file);

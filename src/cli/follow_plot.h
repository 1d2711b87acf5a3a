// follow_plot.h: pictures of branches.
#pragma once
#include <carom/table.h>
#include <stdbool.h>
#include <stdio.h>

/// A column over the parameter, stable parts solid, unstable ones dashed, events as points with their names.  of: a
/// column (NULL: the largest position of the first coordinate).  script: keep gnuplot's script in this file (NULL: no).
/// False: complained.
int follow_plot(const char *result, const char *of, const char *file, const char *script);
/// Pieces of the curve of y over the second column that are stable, or are not; a piece begins where the one before it
/// ends.  event: names of the rows that are events; NULL: a piece is what its end is.
void follow_put_lines(FILE *s, const carom_table *t, const carom_column *y, const carom_column *stability,
                      const carom_column *event, bool stable);
/// On standard output, as members of a JSON object: `events` (the rows whose column `event` is not empty), `columns`.
void follow_json(const carom_table *t, int event);
/// The script with the picture's name in it, behind its terminal.  False: complained.
bool follow_keep_script(FILE *s, const char *script, const char *file);

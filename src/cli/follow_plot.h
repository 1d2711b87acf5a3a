// follow_plot.h: pictures of branches.
#pragma once
#include <stdbool.h>

/// A column over the parameter, stable parts solid, unstable ones dashed, events as points with their names.  of: a column (NULL: the largest position of the
/// first coordinate).  script: keep gnuplot's script in this file (NULL: no).  False: complained.
int follow_plot(const char *result, const char *of, const char *file, const char *script);

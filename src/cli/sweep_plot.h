// sweep_plot.h: pictures of sweeps.
#pragma once
#include "cli/cli.h"

/// Section points over the last varied number; without a section observed values over it, or a map over two.  of: the
/// observed expression (NULL: the first).  False: complained.
int sweep_plot(const char *result, const char *of, const char *file);

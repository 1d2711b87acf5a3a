// follow_curve.h: `carom follow BRANCH.h5 --curve`, and pictures of such curves.
#pragma once
#include "cli/cli.h"

int follow_curve(const cli_args *a);
/// Curves of one or several files in the plane of their parameters.  script: as in follow_plot().
int curve_plot(const char *const *files, int n, const char *file, const char *script);

// compare_plot.h: the work-precision picture of a comparison.
#pragma once
#include "cli/cli.h"
#include <carom/study.h>

/// "svg", "png" or "pdf" by the ending of file; NULL: none of them.
const char *compare_plot_kind(const char *file);
/// False: complained.
bool compare_plot(const carom_compare *c, const char *title, const char *norm, const char *file);

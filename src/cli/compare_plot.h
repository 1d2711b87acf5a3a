// compare_plot.h: the work-precision picture of a comparison.
#pragma once
#include "cli/cli.h"
#include <carom/study.h>

/// False: complained.
bool compare_plot(const carom_compare *c, const char *title, const char *norm, const char *file);

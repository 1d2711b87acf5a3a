// spacing.h (private): how far apart the rows of a record are; without HDF5, for the program.
#pragma once
#include <carom/result.h>

/// Time from one row to the next, where steps are constant.
double record_spacing(const carom_record *r);

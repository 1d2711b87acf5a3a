// recording.h: what the program asks a record; users: <carom/result.h>.
#pragma once
#include <carom/result.h>

/// Smallest and largest value of every watched expression so far, for carom_model_check().
void carom_record_extremes(const carom_record *r, const double **low, const double **high);
/// Does the file look like a result?  It begins with the signature of HDF5, or is a regular file whose name ends in
/// .h5, or the name ends in .csv.
bool carom_result_probe(const char *file);

// names.h: names of parameters that vary, and loci as files.
#pragma once
#include <carom/dynamics.h>

/// "NAME=SPEC" as in sweeps.  CAROM_BAD_INPUT: the model has no parameter of that name, or SPEC is wrong.
typedef struct carom_vary { char *name; long n; double *value; } carom_vary;
carom_status carom_vary_of(carom_vary *v, const carom_model *m, const char *text, carom_error *err);
void carom_vary_drop(carom_vary *v);
const char *carom_locus_word(carom_locus_kind kind);
// .h5 or .csv
carom_status carom_locus_write(const carom_locus *l, const carom_locus_def *def, const char *file, carom_error *err);

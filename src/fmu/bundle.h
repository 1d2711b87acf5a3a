// bundle.h (private): what an FMU carries of a model: the mechanism, as data, and how it is to be simulated.
//
// One text, resources/model.txt.  Mechanisms travel as data, not as YAML: an FMU then needs no YAML library, and
// messages still know the lines of the model's file.
#pragma once
#include <carom/model.h>
#include <carom/run.h>

typedef struct fmu_bundle {
    carom_mech *mech;      // parameters overridden, matrices added
    char *scheme;
    double step, end;
    char **options;        // NULL-terminated
    char **inputs;         // parameters that are inputs, NULL-terminated
} fmu_bundle;

/// A model's file as a bundle, with the settings of a run of it.  mech and the rest are only read.  CAROM_BAD_INPUT:
/// the text is no model.
typedef struct fmu_bundle_def {
    const char *text;       // the model file
    size_t length;
    const char *file;       // its name, for messages
    const char *const *set; // NULL-terminated lists; NULL: none
    const char *const *inputs;
    const carom_matrix_text *matrices;
    int nmatrices;
    const carom_run *run;
} fmu_bundle_def;
carom_status carom_fmu_bundle_write(const fmu_bundle_def *def, carom_write_text *write, void *user, carom_error *err);

/// The bundle that a text holds; b is to be freed in any case.
carom_status carom_fmu_bundle_read(fmu_bundle *b, const char *text, size_t length, carom_error *err);
void carom_fmu_bundle_free(fmu_bundle *b);

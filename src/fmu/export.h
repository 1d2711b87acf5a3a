// export.h (private): an FMU as a file.
#pragma once
#include "compile/compile.h"
#include "fmu/bundle.h"
#include <stdio.h>

/// A file that every FMU holds: the library, sources.  The list ends at name NULL.
typedef struct fmu_part { const char *name; const unsigned char *begin, *end; } fmu_part;

typedef struct fmu_export_def {
    int version;             // of FMI: 2 or 3
    const char *identifier;  // modelIdentifier: a C name
    const carom_model *model;
    const fmu_bundle_def *bundle;
    const unsigned char *library, *library_end; // for this machine
    const fmu_part *sources;
    const fmu_part *licences;
    const carom_native_model *native; // the compiled model; NULL: the FMU interprets it
    bool event_driven;       // does the library have this scheme?
} fmu_export_def;

/// CAROM_BAD_INPUT: the model needs something that an FMU does not have.  CAROM_IO: f did not take it all.
carom_status carom_fmu_export(const fmu_export_def *def, FILE *f, carom_error *err);
/// The folder of binaries in which importers on this machine look; NULL: not known.
/// The directories of binaries/ in which importers on a machine ("x86_64-linux") look for the library; NULL: no more.
/// FMI 3 names machines.  FMI 2 has linux64 alone; on aarch64 some importers look there and some where FMI 3 has it.
const char *carom_fmu_folder(int version, const char *machine, int i);
const char *carom_fmu_platform(int version);

/// describe.c: modelDescription.xml.
#include "fmu/variables.h"
void carom_fmu_describe(FILE *f, const fmu_export_def *def, const fmu_bundle *b, const fmu_variables *v,
                        const char *token);
/// sources/buildDescription.xml of FMI 3.
void carom_fmu_describe_build(FILE *f, const fmu_export_def *def);

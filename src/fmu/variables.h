// variables.h (private): the variables of an FMU of a model, in the order of their value references.
#pragma once
#include "fmu/bundle.h"

typedef enum fmu_kind {
    FMU_TIME,
    FMU_STEP,      // the scheme's step size, a parameter
    FMU_PARAMETER, // index: of the model's parameters
    FMU_INPUT,     // the same, a parameter that is an input
    FMU_SIGNAL,    // index: of the model's inputs
    FMU_CALCULATED, // the same, a parameter given by an expression of others
    FMU_POSITION, FMU_VELOCITY, // initial values, and states
    FMU_KINETIC, FMU_POTENTIAL, FMU_ENERGY,
    FMU_GAP,       // index: id of the constraint
    FMU_RATE, FMU_FORCE, FMU_IMPULSE, // index: recorded direction
    FMU_OUTPUT,
    FMU_KINDS
} fmu_kind;

typedef struct fmu_variable {
    char *name;
    fmu_kind kind;
    int index;
    double scale;   // of reactions; rates are divided by it
    bool joint;     // a reaction of a joint, in the joint's frame
    bool state;     // a first-order state
    int first, parts, stride; // of the contacts that are parts of one gap, together: id of the first, how many,
                              // directions of each; parts 0: a single one
    double start;   // of those that have one
} fmu_variable;

// nothing: where there was no memory
typedef struct fmu_variables { fmu_variable *list, nothing; int n; bool failed; } fmu_variables;

/// In terms of FMI.
typedef struct fmu_role { const char *causality, *variability, *initial; bool start; } fmu_role;
fmu_role carom_fmu_role(fmu_kind kind);

/// The variables of a model that was made from b->mech, or from a copy with other values of parameters.  To be freed in
/// any case.  CAROM_BAD_INPUT: an input is no parameter, or two variables have the same name.
carom_status carom_fmu_variables(fmu_variables *v, const fmu_bundle *b, const carom_model *m, carom_error *err);
void carom_fmu_variables_free(fmu_variables *v);

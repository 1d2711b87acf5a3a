// variables.h (private): the variables of an FMU of a model, in the order of their value references.
#pragma once
#include "fmu/bundle.h"
#include "model/columns.h"

typedef enum fmu_kind {
    FMU_TIME,
    FMU_STEP,      // the scheme's step size, a parameter
    FMU_PARAMETER, // index: of the model's parameters
    FMU_INPUT,     // the same, a parameter that is an input
    FMU_SIGNAL,    // index: of the model's inputs
    FMU_CALCULATED, // the same, a parameter given by an expression of others
    FMU_POSITION, FMU_VELOCITY, // initial values, and states
    FMU_KINETIC, FMU_POTENTIAL, FMU_ENERGY,
    FMU_REACTION,  // index: of the columns of contacts and joints
    FMU_OUTPUT,
    FMU_KINDS
} fmu_kind;

typedef struct fmu_variable {
    char *name;
    fmu_kind kind;
    int index;
    bool state;     // a first-order state
    double start;   // of those that have one
} fmu_variable;

typedef struct fmu_variables {
    fmu_variable *list, nothing; // nothing: where there was no memory
    int n;
    column_table columns;        // of contacts and joints
    contact_groups *groups;
    bool failed;
} fmu_variables;

/// In terms of FMI.
typedef struct fmu_role { const char *causality, *variability, *initial; bool start; } fmu_role;
fmu_role carom_fmu_role(fmu_kind kind);

/// The variables of a model that was made from b->mech, or from a copy with other values of parameters.  To be freed in
/// any case.  CAROM_BAD_INPUT: an input is no parameter, or two variables have the same name.
carom_status carom_fmu_variables(fmu_variables *v, const fmu_bundle *b, const carom_model *m, carom_error *err);
void carom_fmu_variables_free(fmu_variables *v);

// unit_data.h (private): the insides of a unit.
//
// (1) value[i] of settings (parameters, inputs, initial values) is what was set, where given[i]; else the model has its
// own. (2) The model and the simulation belong to these settings unless `stale`. (3) row[] holds the values of all
// variables at the present state where `fresh`.
#pragma once
#include "fmu/native.h"
#include "fmu/unit.h"
#include <stdint.h>

struct fmu_unit {
    fmu_unit_def def;
    char *folder, *token;
    fmu_mode mode;
    uint64_t about;      // checksum of the token: states of another FMU are refused
    fmu_bundle bundle;
    fmu_variables variables;
    double *value;
    bool *given;
    bool stale, fresh;
    const carom_native *const *native; // the compiled model, NULL: none
    void *code;          // where it is from
    carom_model *model;
    carom_sim *sim;
    double start, stop;
    int ndir;
    int sums;            // of these, and of groups of contacts
    double *impulse;     // sums: of every recorded direction, since the last communication point
    double *u, *gap, *out, *turned; // scratch of rows; turned: forces, then impulses
    double *row;
};

/// A model and a simulation for the present settings; a simulation that has begun goes on.
carom_status carom_fmu_prepare(fmu_unit *u, carom_error *err);
void carom_fmu_add_impulses(fmu_unit *u, const carom_now *now);

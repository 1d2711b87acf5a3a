// model.h: a model, made from text (docs/model-file.md) or from a mechanism: names, expressions, and the system made of
// them.
#pragma once
#include <carom/status.h>
#include <carom/types.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_model carom_model;

/// A model in text.
typedef struct carom_model_def {
    const char *text;            // YAML
    size_t length;
    const char *file;            // for messages
    const char *const *set;      // parameters: "name=expression", NULL-terminated; NULL: none
    const carom_matrix_text *matrices; // nmatrices of them; copied
    int nmatrices;
    const char *const *observe;  // further expressions of the state, for carom_variation_observed(), NULL-terminated;
                                 // NULL: none
    bool pairs;                  // every pair of shapes has equations of its own, however many there are; else many
                                 // pairs are a dynamic contact list.  For what needs equations at a point, such as
                                 // derivatives and orbits
    const void *reserved[6];     // NULL: room for later fields, because other definitions contain this one
} carom_model_def;

/// NULL on failure: err->text is `file:line:column: what; what to do`.
carom_model *carom_model_create(const carom_model_def *def, carom_error *err);
void carom_model_destroy(carom_model *m);

/// Texts of the files that a model's text names: tables, meshes, heights.  They lie in the directory of `file` or below
/// it; links are followed where they end there.  Names that the list has already are left alone.  *list (NULL, or from
/// malloc) grows; carom_model_files_free() when the model is made.
carom_status carom_model_files(const char *text, size_t length, const char *file, carom_matrix_text **list, int *n,
                               carom_error *err);
void carom_model_files_free(carom_matrix_text *list, int n);

const carom_system *carom_model_system(const carom_model *m);
const char *carom_model_name(const carom_model *m);
const double *carom_model_q0(const carom_model *m);
const double *carom_model_v0(const carom_model *m);

/// Numbers of what the model has; coordinates and velocities are nq and nv of its system, constraints and contacts ne
/// and nc, members its flexible members.
typedef struct carom_model_sizes {
    int parameters, inputs, coordinates, velocities, lets, constraints, contacts, outputs, checks, members;
    bool exact; // it contains its exact solution
} carom_model_sizes;
carom_model_sizes carom_model_count(const carom_model *m);
const char *carom_model_coordinate(const carom_model *m, int i); // of nq
const char *carom_model_velocity(const carom_model *m, int i);   // of nv: "x'", "body.vx"
const char *carom_model_parameter(const carom_model *m, int i, double *value); // its name; value: may be NULL
/// Other values of n parameters, numbered as above; parameters given by expressions of these follow.  The model is
/// then, bit for bit, the one that is created with these values: mostly by writing numbers, and where one goes into the
/// structure by deriving it again (*derived, may be NULL).  Work blocks, simulations and drawings made from it before
/// are invalid, and so are names and texts.  On failure it is unchanged.
carom_status carom_model_set(carom_model *m, int n, const int *index, const double *value, bool *derived,
                             carom_error *err);
/// Input i, as carom_sim_input() counts them, and its value at the start; NULL after the last.  Inputs that follow a
/// signal are not among them.
const char *carom_model_input(const carom_model *m, int i, double *value);
/// Name of a constraint by its id: joints and constraints, then contacts.
const char *carom_model_constraint(const carom_model *m, long long id);
const char *carom_model_output(const carom_model *m, int i);

/// Outputs at a state, carom_model_count().outputs of them: those of the section `outputs`, forces of compliant
/// contacts, signals, coordinates of joints, points of members; `work` is carom_sim_work() of a simulation of this
/// model's system.
void carom_model_outputs(const carom_model *m, void *work, double t, const double *q, const double *v, double *out);

/// Check the model.  Findings are reported one by one: derivatives against finite differences, mass matrix, initial
/// constraints, degrees of freedom, unused names.  Returns the number of faults (warnings do not count).
typedef enum carom_finding { CAROM_FINE, CAROM_WARNING, CAROM_FAULT } carom_finding;
int carom_model_examine(const carom_model *m, void (*report)(void *user, carom_finding kind, const char *message),
                        void *user, carom_error *err);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

carom_model *carom_model_create_sized(size_t size, const carom_model_def *def, carom_error *err);
const carom_model_sizes *carom_model_count_view(const carom_model *m);
#ifndef CAROM_INSIDE
#define carom_model_create(...) carom_model_create_sized(sizeof(carom_model_def), __VA_ARGS__)
#define carom_model_count(...) (*carom_model_count_view(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

#ifdef CAROM_INSIDE
#include "model/more.h"
#include <carom/flex.h>
#include <carom/inspect.h>
#include <carom/mech.h>
#include <carom/sim.h>
#include <carom/system.h>
#endif

// dynamics.h: from one run to the dynamics: states of rest, modes, fits, gradients.
//
// docs/dynamics.md says what the words mean.  Everything here is at t = 0.
#pragma once
#include <carom/model.h>
#include <carom/run.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// -- states in files ----------------------------------------------------------------------------------------------

/// The state in a file: one that carom_state_write() wrote, or the last row of a result.  Every coordinate and velocity of the model must be
/// there by its name, and the state must fit the joints.  CAROM_BAD_INPUT: err says what is wrong with which name.
carom_status carom_state_read(const carom_model *m, const char *file, double *q, double *v, carom_error *err);
/// Every coordinate and velocity under its name: a table with one row, in full precision.
carom_status carom_state_write(const carom_model *m, const char *file, const double *q, const double *v, carom_error *err);

// -- a state of rest ----------------------------------------------------------------------------------------------

/// One reaction at rest.
typedef struct carom_rest_force {
    char name[80];     // as the column of a result: "floor.force", "floor.friction", "hinge.force2"
    int id;            // constraint
    double value;      // where forces are not unique, the smallest that are admissible
    double low, high;  // all admissible values, where they are known; else NaN
} carom_rest_force;

typedef enum carom_rest_kind { CAROM_REST_OPEN, CAROM_REST_CLOSED, CAROM_REST_STICKS, CAROM_REST_SLIDES } carom_rest_kind;

/// A state of rest, or the best one found.
typedef struct carom_rest {
    int nq, nv, nforce, nc;
    double *q;                // nq; velocities are zero
    carom_rest_force *force;  // nforce: all joints and constraints, all contacts
    carom_rest_kind *contact; // nc; a contact over a moving surface slides at rest
    double residual;          // largest violation, relative: balance of forces, laws of the contacts, gaps
    int iterations;
    int free;                 // independent combinations of reactions that move nothing; 0: forces are unique
    int unbalanced;           // not at rest: velocity whose force is balanced least, and that force
    double force_left;
} carom_rest;

/// Find a state of rest near (q, 0), q NULL: near the initial state.  CAROM_NOT_CONVERGED: there is none that was found; err says what is in the way and
/// `rest` holds the best state.  To be freed whatever happens.
carom_status carom_rest_find(carom_rest *rest, const carom_model *m, const double *q, carom_error *err);
void carom_rest_free(carom_rest *rest);

// -- modes --------------------------------------------------------------------------------------------------------

/// One solution exp(lambda t) of the linearised equations; of a conjugate pair the one with im > 0.
typedef struct carom_mode {
    double re, im;             // lambda, 1/s
    double frequency, damping; // |lambda|/(2 pi) in Hz; -re/|lambda|, 0 where lambda is 0
    double *shape;             // nv real parts, then nv imaginary ones, of the displacement along the velocities; the largest is 1
} carom_mode;

typedef struct carom_modes {
    int nv, count;       // modes, slowest first
    carom_mode *mode;
    double *q, *v;       // where
    int joints, sticking, sliding; // constraints in force; closed contacts that stick (or have no friction) and that slide
    double unbalanced;   // acceleration that is left, relative to that of the forces: 0 at an equilibrium
    const char *method;  // "lapack", "arpack"
    double *shapes;      // storage
} carom_modes;

typedef struct carom_modes_def {
    const double *q, *v; // linearise here; q NULL: at the state of rest near the initial state; v NULL: at rest
    bool open;           // contacts do not act, closed or not
    int count;           // modes wanted; 0: all of a small model, twenty of a large one
} carom_modes_def;

/// M x'' + C x' + K x = out mu, in'x = 0 about a state: joints and contacts that stick hold both normal and tangential motion, contacts that slide hold
/// their normal motion and carry friction in proportion to its force.  To be freed whatever happens.
carom_status carom_modes_find(carom_modes *modes, const carom_model *m, const carom_modes_def *def, carom_error *err);
void carom_modes_free(carom_modes *modes);

/// One period of mode k as a result, which `carom view` plays.
typedef struct carom_play_def {
    const carom_model *model;
    const char *text;       // the model's, its length and file name, what was set: as in carom_record_def
    size_t length;
    const char *model_file;
    const char *const *set;
    const char *file;       // .h5 or .csv
    double scale;           // largest displacement; 0: a twentieth of the model's size
} carom_play_def;
carom_status carom_modes_play(const carom_modes *modes, int k, const carom_play_def *def, carom_error *err);

// -- values of a parameter ----------------------------------------------------------------------------------------

/// "NAME=SPEC" as in sweeps.  CAROM_BAD_INPUT: the model has no parameter of that name, or SPEC is wrong.
typedef struct carom_vary { char *name; long n; double *value; } carom_vary;
carom_status carom_vary_of(carom_vary *v, const carom_model *m, const char *text, carom_error *err);
void carom_vary_drop(carom_vary *v);

// -- fits ---------------------------------------------------------------------------------------------------------

typedef struct carom_fit_def {
    carom_model_def model;       // `observe` is not used here
    carom_run_given run;         // scheme, step, options
    const double *start;         // positions, velocities; NULL: the model's own
    const char *const *free;     // names: parameters, `x` and `x'` for initial values; NULL-terminated
    const char *const *match;    // "COLUMN=EXPR", or "COLUMN=impact CONTACT": the column holds the times of its impacts
    const char *const *bounds;   // "NAME=low:high", either may be empty; NULL: none
    const char *const *sigma;    // "COLUMN=VALUE": standard deviation of its entries; NULL: none, all weights are equal
    const char *const *data;     // CSV files with a column t, NULL-terminated
    int most;                    // evaluations of the model; 0: 200 times the number of free names
    bool (*stop)(const void *user); // NULL: none
    const void *user;
} carom_fit_def;

/// A point of the data, and what the fit makes of it.
typedef struct carom_fit_point { double t, data, model; int match, file; } carom_fit_point; // at impacts t is their number, from 1

typedef struct carom_fit {
    int nfree, npoints, nmatch;
    char **name;              // nfree
    double *value, *start;    // nfree
    double *error;            // nfree: standard errors, NaN where there are as many free names as points
    double *covariance;       // nfree x nfree
    double confidence;        // 95 %: value +- confidence error
    double residual, residual_start; // root mean square of (model - data)/sigma
    carom_fit_point *point;
    char **match;             // nmatch: the columns
    int evaluations;          // runs without derivatives
    int jacobians, differences; // derivatives of all points; those of them by central differences, the others are exact
    char not_exact[400];      // why
    const char *scheme;       // in use
} carom_fit;

/// CAROM_NOT_CONVERGED: the iteration gave up, `fit` holds the best values.  To be freed whatever happens.
carom_status carom_fit_find(carom_fit *fit, const carom_fit_def *def, carom_error *err);
void carom_fit_free(carom_fit *fit);

// -- gradients ----------------------------------------------------------------------------------------------------

typedef struct carom_gradient_def {
    carom_model_def model;       // `observe` is not used here
    carom_run_given run;         // scheme (NULL: event-driven), step, end, options
    const double *start;         // positions, velocities; NULL: the model's own
    const char *of;              // an expression at the end; integral(x), mean(x), rms(x), max(x) or min(x) over the run
    const char *const *by;       // names: parameters, `x` and `x'` for initial values; NULL-terminated
    bool rows;                   // keep a row at the end of every step, as if the run ended there
    bool (*stop)(const void *user); // NULL: none
    const void *user;
} carom_gradient_def;

typedef struct carom_gradient {
    int n;
    char **name;
    double value, *gradient, t;  // at the end t
    long rows;
    double *row;                 // t, value and gradient: 2 + n numbers each
    const char *scheme;
} carom_gradient;

/// Exact derivatives of the motion, through impacts, opening, stick and slip.  CAROM_NOT_CONVERGED: there is no derivative, as at grazing; err says where.
/// To be freed whatever happens.
carom_status carom_gradient_find(carom_gradient *g, const carom_gradient_def *def, carom_error *err);
void carom_gradient_free(carom_gradient *g);

#ifdef __cplusplus
}
#endif

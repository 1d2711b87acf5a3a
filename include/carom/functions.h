// functions.h: a system from a handful of plain functions, alone or added to another system.
//
// For quick models, and for languages that can give functions of numbers but no more (python/ is built on it).
// Matrices are dense; derivatives that are not given are finite differences.  For sparse storage, exact gradients or
// speed, fill in a carom_system.
#pragma once
#include <carom/system.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_functions_def {
    const carom_system *base;      // system to which the functions are added, and which must outlive them; NULL: none
    int n;                         // coordinates, each with its rate; without effect with a base, which has its own
    int ne, nc;                    // constraints (only without a base) and contacts that gaps() gives, after those of
                                   // the base
    const carom_contact *contacts; // nc; copied
    unsigned flags;                // CAROM_CONSTANT_MASS, CAROM_CONSTANT_DIRECTIONS, CAROM_TIMELESS_GAPS; without
                                   // effect with a base

    // Outputs are zero on entry (force: the base's).  A status other than CAROM_OK fails the step; after CAROM_RETRY it
    // is repeated with a smaller size.
    void *user;
    /// n x n, column-major.  Required without a base, otherwise not called.
    carom_status (*mass)(void *user, double t, const double *q, double *M);
    /// Adds to f.  NULL: no force.
    carom_status (*force)(void *user, double t, const double *q, const double *v, double *f);
    /// One number per direction: constraints, then for each contact its gap, followed by its slips (displacements).
    carom_status (*gaps)(void *user, double t, const double *q, double *g);
    /// Their derivatives along velocities, a column of W (nv) per direction, and with respect to time, w.  The slips of
    /// gaps() are then ignored.  NULL: by central differences of gaps().
    carom_status (*directions)(void *user, double t, const double *q, double *W, double *w);
    /// Of the forces here that have one.  NULL: 0.  Forces not derived from it are accounted as damping and as external
    /// work.
    carom_status (*potential)(void *user, double t, const double *q, double *potential);
} carom_functions_def;

typedef struct carom_functions carom_functions;

/// NULL on failure: err gives the reason.
carom_functions *carom_functions_create(const carom_functions_def *def, carom_error *err);
void carom_functions_destroy(carom_functions *f);
/// Valid as long as f.  Its work block starts with the base's, so that carom_sim_work() serves functions of a base that
/// is a model.
const carom_system *carom_functions_system(const carom_functions *f);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

carom_functions *carom_functions_create_sized(size_t size, const carom_functions_def *def, carom_error *err);
#ifndef CAROM_INSIDE
#define carom_functions_create(...) carom_functions_create_sized(sizeof(carom_functions_def), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

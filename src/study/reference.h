// reference.h: the quantities that are compared, and what they are compared with.
#pragma once
#include "study/norm.h"
#include "study/trajectory.h"
#include <carom/study.h>

typedef enum quantity_kind { COORDINATE, RATE, VELOCITY, OUTPUT } quantity_kind;

typedef struct quantity {
    quantity_kind kind;
    int index;        // of the coordinate, velocity or output
    const char *name; // the model's, or owned by the list
} quantity;

typedef struct quantities {
    const carom_model *model;
    int n, nq, nv, nout;
    bool turns;  // rates of positions are not the velocities
    quantity *at;
    int *opposite; // by quantity: -1, or where a quaternion starts, all four of which are here in order
    char *names; // copies
} quantities;

/// of: names, NULL-terminated; NULL: all coordinates.
carom_status carom_quantities_create(quantities *s, const carom_model *m, const char *const *of, carom_error *err);
void carom_quantities_destroy(quantities *s);

/// What a thread scribbles on; `work` belongs to a simulation of the model.
typedef struct scratch {
    void *work;
    double *q, *v, *out;
    double *dq;    // rates of positions
    double *x, *y; // quantities: of the run, of the reference
    long hint;
    double *block;
} scratch;

carom_status carom_scratch_create(scratch *w, const quantities *s, carom_error *err);
void carom_scratch_destroy(scratch *w);

/// x = the quantities at a state; by positions and their rates.
void carom_quantities_eval(const quantities *s, scratch *w, double t, const double *q, const double *dq, double *x);
/// x -= y; y and -y of a quaternion are the same rotation, the nearer one counts.
void carom_quantities_subtract(const quantities *s, double *x, const double *y);

typedef enum reference_kind { REFERENCE_EXACT, REFERENCE_RUN, REFERENCE_FILE } reference_kind;

typedef struct reference {
    reference_kind kind;
    const quantities *of;
    carom_trajectory tr; // RUN: of the model's positions and their rates; FILE: one position per quantity
    double apart;        // FILE: largest distance of rows
} reference;

/// Rows of a result that hold every quantity by name until `end`; at most `most` bytes.
carom_status carom_reference_read(reference *r, const quantities *of, const char *file, double end, size_t most,
                                  carom_error *err);
void carom_reference_destroy(reference *r);

/// x = the quantities of the reference at t.  w->hint is used; w->q, w->dq and w->v are written.
void carom_reference_at(const reference *r, scratch *w, double t, carom_side side, double *x);

/// The graph of quantity j until `end`; t and x are for free(), also after a failure.  `fine` is the spacing at which
/// an exact solution is first looked at.
carom_status carom_reference_graph(carom_polyline *p, const reference *r, scratch *w, int j, double end, double fine,
                                   carom_error *err);

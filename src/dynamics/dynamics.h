// dynamics.h (private): a model at one point: its matrices, constraints and contacts, as equilibria and modes need them.
#pragma once
#include "system/independent.h"
#include <carom/dynamics.h>
#include <carom/problem.h>

/// Everything at (t, q, v).  One block of memory.
typedef struct carom_point {
    const carom_model *model;
    carom_independent independent; // without redundant constraints
    carom_system sys;         // independent, with contacts of its own: friction is that at (t, q, v)
    carom_contact *contacts;  // nc
    void *block, *work;
    carom_arena mem;
    int nq, nv, ne, nc, n;    // n: recorded directions
    int redundant;            // constraints of the model that are left out
    double t, *q, *v;         // where
    double *g, *f, *law;      // gaps, forces, CAROM_FRICTION_LAW nc
    carom_local L;            // the constraints that take part
    carom_matrix M, K, C;     // K = -df/dq, C = -df/dv
    carom_difference difference;
} carom_point;

/// At the initial state of the model, at rest.  p must stay where it is.
carom_status carom_point_open(carom_point *p, const carom_model *m, carom_error *err);
void carom_point_close(carom_point *p);

/// Gaps, forces, mass matrix and coefficients of friction at (t, q, v).
carom_status carom_point_look(carom_point *p, carom_error *err);
/// Directions W and w of the constraints in L->id, L->nb of them.
carom_status carom_point_directions(carom_point *p, carom_local *L, carom_error *err);
/// K and C there; reactions lambda of L (NULL: none) stiffen: K = -d(f + W lambda)/dq.
carom_status carom_point_tangent(carom_point *p, const double *lambda, carom_error *err);
/// Which constraint of the model is constraint id here?
static inline int carom_point_id(const carom_point *p, int id) { return carom_independent_id(&p->independent, id); }
/// Of a contact that takes part as block b of L: does it slide?  Then the unit direction of its friction force is in d (tangents).
bool carom_point_slides(const carom_point *p, int b, double *d);

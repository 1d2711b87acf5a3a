// increments.h: increments of positions that are no vectors.
//
// Implicit schemes look for x in q_1 = q_0 (+) x.  Derivatives by q are taken along velocities at q_1, and
//
//     dq_1 = T(x) dx,     T^-1 is lift()                                                                     (NEW-4)
//
// Where rotations in space make T differ from 1, by |x|/2, an iteration that takes T = 1 converges only linearly.
// Systems without lift() and those with large parts (members, where angles are few) do take T = 1.
#pragma once
#include "scheme/step.h"

typedef struct carom_increments {
    bool on;            // the system has a lift() and its parts are small
    bool ready;         // T stands
    int parts, largest; // T is a block for each part of the system
    const int *part;    // NULL: there is one part, `whole`
    int whole[2];
    double *T;          // blocks one after the other, by columns
    double *A, *own, *e; // scratch
    int *pivot;
    int *of;            // nv: part of each velocity
    size_t *at;         // parts: where its T begins
    int *turned, *turns; // velocities of each part, counted from its first one, in which T is not 1; their number
    int *seen;          // parts: the last column that has it
} carom_increments;

carom_increments carom_allocate_increments(carom_arena *mem, const carom_system *sys);
/// T at x.
void carom_increments_at(carom_increments *t, const carom_step *s, const double *x);
/// y = T dx;  y = T'w.  y is not x.
void carom_increments_move(const carom_increments *t, double *y, const double *dx, int nv);
void carom_increments_row(const carom_increments *t, double *y, const double *w, int nv);
/// Y_k = T'W_k for the first n columns; the same where T does not stand.  Entries for which Y has no room are left out.
void carom_increments_columns(const carom_increments *t, carom_columns *Y, const carom_columns *W, int n);

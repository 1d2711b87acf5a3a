// examine.h (private): a model under examination.
#pragma once
#include "derive/shapes/shapes.h"
#include "scheme/step.h"
#include "system/difference.h"

enum { LARGE = 400 }; // beyond so many coordinates differences are not taken

// An entry: its least error in the looks at a state and beside it; its last difference.
typedef struct entry { double error, difference; } entry;

// The largest relative error of a derivative, and which entry has it.
typedef struct worst { double error; char entry[300]; } worst;

typedef struct exam {
    const carom_model *m;
    void (*report)(void *user, carom_finding kind, const char *sentence);
    void *user;
    int faults;
    void *work;
    double *q, *v, *q_1, *dq;  // state; a state beside it; a way there
    double *q_0, *v_0;         // the state while one beside it is examined
    double *g, *a, *b;         // gaps; two vectors as long as the longest side
    carom_local L, slot;       // all constraints; one contact of a list
    carom_difference difference;
    carom_factor F; // of M, for large models
    carom_matrix A, B, C, D; // tangent_shape
    carom_columns P, Q;
    double *W;    // nv: a column
    int *group;   // nv: coordinates whose differences of gaps are taken at once
    int groups;
    bool *free;   // nv + 1: groups that a coordinate may join
    double step;  // of differences, relative
    worst worst, most, lasting; // of a look; of all states; of those with an error also beside them
    entry *at; // every entry of a look, in the order in which they are judged
    size_t judged, room;
    bool full;  // no memory for more
    bool again; // the same look as before with another step
    int disagree, wrong; // states at which a derivative was wrong; those beside which it was wrong, too
} exam;

void carom_exam_say(exam *x, carom_finding kind, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/// Derivatives and differences, and the mass matrix, at the start and beside it.
void carom_exam_derivatives(exam *x);

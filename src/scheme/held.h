// held.h: steps of implicit schemes with contacts that are found by search.
#pragma once
#include "scheme/step.h"

typedef struct carom_held_step {
    carom_status (*solve)(void *work, carom_step *s);
    void *work;
    const double *q;                                 // the prediction; after solve() the solution
    double (*left)(const void *work, carom_step *s); // what the solution leaves of gaps
    double *g;                                       // scratch, by id
} carom_held_step;

/// (GA-22)  Slots of contacts that are found by search change their features from iterate to iterate, and one then
///          has the reaction of another feature: such iterations do not end.  So features are held while the
///          equations are solved: those at the prediction, and, while a gap is below zero with the features at the
///          solution, those there.  Where features do not change it is solve().
carom_status carom_held_solve(const carom_held_step *z, carom_step *s);

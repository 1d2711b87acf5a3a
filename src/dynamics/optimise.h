// optimise.h (private): a search for an optimum, and the runs that it makes.
#pragma once
#include "dynamics/lapack.h"
#include "dynamics/results.h"

typedef struct search {
    const carom_optimise_def *def;
    carom_optimum *o;
    carom_task task, simple; // with derivatives; as the model or the command line has the scheme
    bool plain;              // runs of `simple`
    bool forwards;           // there is no way back
    bool given;              // a method without derivatives was asked for
    const char **texts;      // the objective, both sides of every constraint; NULL-terminated
    char **own;
    int *relation;           // -1: <=, 1: >=, 0: =
    bool equal;              // there is one with =
    double *result, *slopes; // of the texts; by name
    // evaluated last, at u; objective to be minimised, constraints <= 0
    double *u, *x, *value, *slope, *shown, distance;
    bool known, derived, failed;
    double *size, scale, worst;
    // the best
    double *best_u, *best_slope, best_f;
    bool best_derived;
    int best_search;
    // NLopt
    carom_nlopt nlopt;
    carom_nlopt_opt opt;
    const char *method;
    int stale;                 // runs since the last that was better
    bool gradients, exhausted; // the method uses derivatives; it ran out of runs
    carom_status status;
    carom_error why, *err; // why: the first run that failed
} search;

/// The model with its free names.
carom_status carom_evaluate_open(search *k);
/// Results at k->x, by a run with its variations, or the values alone.
carom_status carom_evaluate_path(search *k, bool derive, carom_error *err);
/// By a run of any scheme.
carom_status carom_evaluate_plain(search *k, carom_error *err);

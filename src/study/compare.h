// compare.h: the insides of a comparison.
//
// Jobs are numbered from the largest step on, schemes as given within a step; rows are delivered in that order.
#pragma once
#include "study/reference.h"
#include <carom/sim.h>
#include <stdatomic.h>

/// A scheme with its options, as "name:key=value:key=value".
typedef struct spec {
    char *text, *own;     // as given; cut up
    const char *name;
    const char **options; // the file's (for its own scheme), the common ones, then its own
} spec;

typedef struct job {
    int scheme;
    double step, error, order, seconds;
    long steps;
    bool done, told;
    carom_status status;
    carom_error failure;
} job;

struct carom_compare {
    const carom_model *model;
    quantities of;
    carom_norm_kind norm;
    double end;
    spec *schemes;
    int nschemes;
    double *steps;       // decreasing
    int nsteps, threads;
    size_t memory;
    spec against;        // the reference's scheme, when it is one
    double against_step;
    long stride;         // every so many steps of the reference are kept
    reference reference;
    char about[300];     // the reference, for a person
    job *jobs;
    int njobs;
    atomic_bool stop;
    atomic_long progress; // steps done
    long total;
};

/// A simulation of the comparison's model.
carom_sim *carom_compare_sim(const carom_compare *c, const spec *s, double step, carom_error *err);

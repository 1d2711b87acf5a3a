// compare.h: the insides of a comparison.
//
// Jobs are numbered from the largest step or tolerance on, schemes as given within a level; rows are delivered in that
// order.
#pragma once
#include "study/reference.h"
#include <carom/sim.h>
#include <stdatomic.h>

/// A scheme with its options, as "name:key=value:key=value".
typedef struct spec {
    char *text, *own;     // as given; cut up
    const char *name;
    const char **options; // the file's (for its own scheme), the common ones, then its own
    int files;            // number of the file's; tolerances come behind them
    const carom_scheme *scheme; // NULL: there is none of that name
    bool adaptive;        // runs with tolerances
    bool divides;         // by dividing its steps itself
} spec;

typedef struct job {
    int scheme;
    double step, tolerance; // step with a tolerance: the first to try, or a piece for a scheme that divides it
    double error, order, seconds;
    long steps, rejected;
    bool done, told;
    carom_status status;
    carom_error failure;
    carom_warning warning; // the first one; kind NULL: none
} job;

struct carom_compare {
    const carom_model *model;
    quantities of;
    carom_norm_kind norm;
    bool dense;          // errors over the dense output
    double p;            // of CAROM_NORM_LP
    bool relative;       // errors over the norm of the reference
    double end;
    spec *schemes;
    int nschemes;
    double *steps, *tolerances; // decreasing
    int nsteps, ntolerances, threads;
    double first;        // step that adaptive runs try first
    double fine;         // spacing at which graphs are looked at
    size_t memory, most; // bytes for all trajectories, for that of one run
    spec against;        // the reference's scheme, when it is one
    double against_step, against_tolerance; // tolerance: NaN, or a reference that was chosen
    long stride;         // every so many steps of the reference are kept
    reference reference;
    char about[300];     // the reference, for a person
    job *jobs;
    int njobs;
    int *at;             // job of scheme i and level k: at[i*levels + k], -1: none
    int levels;
    atomic_bool stop;
    atomic_long progress; // steps done; an adaptive run counts CAROM_COMPARE_UNITS
    long total;
};

enum { CAROM_COMPARE_UNITS = 1000, CAROM_COMPARE_DENSE = 8 }; // the latter: states in each step
/// A scheme that divides its steps runs in so many.  Each costs it a start, but inner steps may be few and all end at
/// impacts, where there is little to see: the motion is looked at in between as well.  Prime, so that pieces do not end
/// at impacts too.
enum { CAROM_COMPARE_PIECES = 17 };

/// What "name:key=value:key=value" says, with options for all schemes.  To be freed, also after a failure.
carom_status carom_spec_read(spec *s, const carom_model *m, const char *text, const char *const *common,
                             carom_error *err);
void carom_spec_free(spec *s);
/// There are tolerances; a scheme that is not adaptive becomes so, unless there are step sizes for it too.
carom_status carom_spec_tolerate(spec *s, bool steps, carom_error *err);
/// The smallest rtol that the scheme takes.
double carom_spec_tightest(const spec *s);

/// A simulation of the comparison's model; tolerance: NaN for the options as they are.
carom_sim *carom_compare_sim(const carom_compare *c, const spec *s, double step, double tolerance, carom_error *err);
/// The step of a run, for orders: the mean one of an adaptive run.
double carom_compare_mean_step(const carom_compare *c, const job *j);

// sweep.h: many runs of one model: grids, lists and samples of parameters, initial values and options.
//
// docs/sweep.md defines the terms.  A sweep is a list of runs, numbered from 0; every run depends on its number
// alone (with follow: on its neighbour too), so tables are the same whatever the number of threads and parts.
#pragma once
#include <carom/model.h>
#include <carom/run.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum carom_follow { CAROM_FOLLOW_NONE, CAROM_FOLLOW_UP, CAROM_FOLLOW_DOWN, CAROM_FOLLOW_BOTH } carom_follow;

/// Many runs at once in vectors, where model and scheme allow it.  Their results agree with those of single runs up to
/// rounding.
typedef enum carom_lanes_mode { CAROM_LANES_OFF, CAROM_LANES_AUTO, CAROM_LANES_ON } carom_lanes_mode;

typedef struct carom_sweep_def {
    carom_model_def model;       // `observe` is not used here
    carom_run_given run;         // scheme, step, end, options
    const double *start;         // positions, velocities: where all runs begin; NULL: the model's own initial state
    const double *signals;       // there, as from carom_state_signals(); NULL: the model's own
    const char *const *vary;     // "NAME=SPEC", NULL-terminated; the last one runs fastest
    bool zip;                    // walk the lists together instead of making a grid
    const char *const *observe;  // expressions, NULL-terminated
    const char *section;         // "every EXPR", "EXPR = VALUE [rising|falling]", "impact NAME"; NULL: none
    long count;                  // a run ends after this number of section points; 0: at its end time
    double transient;            // nothing is observed before this time
    carom_follow follow;
    int part, parts;             // only part `part` (from 1) of `parts`; parts 0: all
    int jobs;                    // threads
    carom_lanes_mode lanes;
    bool gpu;                    // lanes on a GPU, compiled by $CAROM_NVCC or nvcc
    /// A file named in a SPEC, opened by the caller: its bytes (freed by the sweep with free()); NULL: see err.
    char *(*read_file)(void *user, const char *name, carom_error *err);
    void *read_user;
    const void *reserved[6];     // NULL: room for later fields, because another definition contains this one
} carom_sweep_def;

carom_sweep_def carom_sweep_default(void);

/// One run that is done.
typedef struct carom_sweep_row {
    long run;
    int direction;           // follow: +1 up, -1 down; else 0
    const double *vary;      // values of the varied quantities
    int status;              // exit status of `carom run`, not a carom_status: 0, 1 (failed), 2 (wrong model or option)
    const char *message;     // why, where status is not 0; else ""
    const double *observed;  // at the end of the run; NaN where there is none
    long points;             // section points
    const double *section;   // points rows: t, then the observed expressions
    const double *end;       // positions and velocities at the end, with follow also signals as from
                             // carom_state_signals(), whose last number is the time, and the period of the forcing (0:
                             // unknown); NaN where there are none
} carom_sweep_row;

typedef struct carom_sweep_watch {
    void *user;
    bool (*row)(void *user, const carom_sweep_row *row); // in any order, one call at a time; false: stop
    bool (*tick)(void *user, long done, long total);     // ten times a second; false: stop
    bool often;                                          // tick a thousand times a second
    /// A process that does runs for another one: the next chains to do, first to before last; false: none are left.
    /// NULL: all runs are its own.  A chain is a run or, with follow, the runs that follow each other.  One call of
    /// fetch or row at a time.
    bool (*fetch)(void *user, long *first, long *last);
} carom_sweep_watch;

typedef struct carom_sweep carom_sweep;

/// NULL on failure; err names the wrong word.
carom_sweep *carom_sweep_create(const carom_sweep_def *def, carom_error *err);
void carom_sweep_destroy(carom_sweep *s);

long carom_sweep_runs(const carom_sweep *s);             // in all parts

/// CAROM_STOPPED: a callback requested a stop.  A failed run is a row, not an error.
carom_status carom_sweep_run(carom_sweep *s, const carom_sweep_watch *watch, carom_error *err);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

const carom_sweep_def *carom_sweep_default_view(void);
carom_sweep *carom_sweep_create_sized(size_t size, const carom_sweep_def *def, carom_error *err);
carom_status carom_sweep_run_sized(size_t size, carom_sweep *s, const carom_sweep_watch *watch, carom_error *err);
#ifndef CAROM_INSIDE
#define carom_sweep_default() (*carom_sweep_default_view())
#define carom_sweep_create(...) carom_sweep_create_sized(sizeof(carom_sweep_def), __VA_ARGS__)
#define carom_sweep_run(...) carom_sweep_run_sized(sizeof(carom_sweep_watch), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#ifdef CAROM_INSIDE
#include "sweep/more.h"
#endif

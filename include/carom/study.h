// study.h: comparing motions: trajectories, norms, and schemes x step sizes against a reference.
//
// docs/compare.md defines the numbers.  Nothing here prints; a comparison runs on several threads and calls back
// on the thread that started it.
#pragma once
#include <carom/model.h>
#include <carom/sim.h>
#include <carom/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// -- norms of differences at step ends ---------------------------------------------------------------

typedef enum carom_norm_kind {
    CAROM_NORM_L1,
    CAROM_NORM_L2,
    CAROM_NORM_LINF,
    CAROM_NORM_MATRIX,
    CAROM_NORM_HAUSDORFF,
    CAROM_NORM_LP
} carom_norm_kind;

// -- schemes x step sizes, schemes x tolerances ---------------------------------------------------------------

typedef struct carom_compare carom_compare;

typedef struct carom_compare_def {
    const carom_model *model;      // owned by the caller; must not change meanwhile
    const char *const *schemes;    // "moreau-jean:theta=1:closed=strict", NULL-terminated
    const double *steps;           // of schemes with equal steps
    int nsteps;
    const double *tolerances;      // of adaptive schemes: rtol, with atol in the proportion of the scheme's defaults.
    int ntolerances;               // Where steps are given too, these are the schemes with adaptive=on and those that
                                   // control their own steps; else all
    double first;                  // first step that adaptive runs try; 0: a thousandth of the end
    double end;
    const char *const *options;    // "key=value" for every scheme, the reference's included; NULL: none
    const char *reference;         // "SCHEME:STEP", a result file (.h5, .csv), "exact"; NULL: exact when the model has
                                   // it, else the first scheme at a tenth of the smallest step or a hundredth of the
                                   // smallest tolerance
    carom_norm_kind norm;          // with p and relative below; carom_compare_norm sets all three
    bool dense;                    // errors over the dense output instead of at step ends: 8 states in each step; of
                                   // schemes that have one
    const char *const *of;         // coordinates, rates (x'), outputs, NULL-terminated; NULL: all coordinates
    int threads;                   // at least 1
    size_t memory;                 // bytes for trajectories; 0: 2 GB
    double p;                      // exponent of CAROM_NORM_LP
    bool relative;                 // error over the same norm of the reference, at the same times; not with hausdorff
} carom_compare_def;

carom_compare_def carom_compare_default(void);

/// The norm by its name: "l1", "l2", "linf", "lP" with a number P from 1 on, "matrix", "hausdorff"; "relative-" before
/// any but the last.
carom_status carom_compare_norm(carom_compare_def *def, const char *name, carom_error *err);

/// Checks everything that can be checked before a run: schemes, their options and limitations, names, the
/// reference file, memory.  NULL: err gives the reason.
carom_compare *carom_compare_create(const carom_compare_def *def, carom_error *err);
void carom_compare_destroy(carom_compare *c);

typedef struct carom_compare_row {
    const char *scheme;  // as given
    double step;         // NaN for a run with a tolerance
    double tolerance;    // NaN for a run with equal steps
    double error;        // NaN when the run failed
    double order;        // slope to the next larger (mean) step of the same scheme; NaN: none
    long steps;          // done; those inside for a scheme that divides its steps itself
    long rejected;       // attempts rejected
    double seconds;      // thread CPU time of the step loop; of the fastest of up to five when it is short
    bool done;           // false: not reached
    const char *failure; // NULL: it ran
    const carom_warning *warning; // the first one about that run, as in its ledger; NULL: none
} carom_compare_row;

/// Calls on the thread that runs the comparison.  Either may be NULL.
typedef struct carom_compare_watch {
    void *user;
    void (*row)(void *user, const carom_compare_row *row); // larger steps and tolerances first, schemes as given;
                                                           // independent of threads
    bool (*tick)(void *user, double fraction);             // about ten times a second; false: stop
} carom_compare_watch;

/// The reference, then every scheme with every step or tolerance.  CAROM_STOPPED when tick requested it; rows that are
/// done remain.  A run that fails fails in its row; only a reference that fails is an error here.
carom_status carom_compare_run(carom_compare *c, const carom_compare_watch *watch, carom_error *err);

int carom_compare_schemes(const carom_compare *c);
int carom_compare_runs(const carom_compare *c, int scheme);
/// Run k of a scheme (as given), from the largest step or tolerance.
carom_compare_row carom_compare_row_at(const carom_compare *c, int scheme, int run);
/// Least-squares slope of log error over log (mean) step; NaN with fewer than two errors above 0.
double carom_compare_order(const carom_compare *c, int scheme);
/// Description of the reference, for display; where it is interpolated between stored rows, *apart is their largest
/// distance in time, else 0.
const char *carom_compare_reference(const carom_compare *c, double *apart);
/// i-th name compared; NULL after the last.
const char *carom_compare_name(const carom_compare *c, int i);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

const carom_compare_def *carom_compare_default_view(void);
carom_status carom_compare_norm_sized(size_t size, carom_compare_def *def, const char *name, carom_error *err);
carom_compare *carom_compare_create_sized(size_t size, const carom_compare_def *def, carom_error *err);
carom_status carom_compare_run_sized(size_t size, carom_compare *c, const carom_compare_watch *watch, carom_error *err);
const carom_compare_row *carom_compare_row_at_view(const carom_compare *c, int scheme, int run);
#ifndef CAROM_INSIDE
#define carom_compare_default() (*carom_compare_default_view())
#define carom_compare_norm(...) carom_compare_norm_sized(sizeof(carom_compare_def), __VA_ARGS__)
#define carom_compare_create(...) carom_compare_create_sized(sizeof(carom_compare_def), __VA_ARGS__)
#define carom_compare_run(...) carom_compare_run_sized(sizeof(carom_compare_watch), __VA_ARGS__)
#define carom_compare_row_at(...) (*carom_compare_row_at_view(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

#ifdef CAROM_INSIDE
#include <carom/estimate.h>
#endif

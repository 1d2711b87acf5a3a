// estimate.h: the estimated error of a run.
#pragma once
#include <carom/model.h>
#include <carom/sim.h>
#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The run is repeated twice, each time with half the step, or with a tenth of the tolerance where the scheme has one;
/// see docs/reference-ledger.md.
typedef struct carom_estimate carom_estimate;

typedef struct carom_estimate_def {
    const carom_model *model;   // owned by the caller; must not change meanwhile
    const carom_sim_def *sim;   // the run: its scheme, step, end, options and start
    double dt_out;              // interval of its rows, as in carom_record_def
    struct carom_team *team;    // threads of each run; NULL: none
    size_t memory;              // bytes for trajectories; 0: 1 GB
} carom_estimate_def;

/// The estimated error of a quantity.  NaN: unknown.
typedef struct carom_estimate_line {
    const char *name;           // coordinate, velocity, "energy", or a name of the ledger ("energy.impact")
    double end;                 // its value at the end of the run
    double error;               // there; velocities and the energy: NaN where an impact is near
    double largest, t;          // the largest one, and when; velocities and the energy: away from impacts.
                                // NaN: known at the end only
    double order;               // observed: of the step, or of the tolerance
    double size;                // the largest value of the quantity, that digits are counted from
    int digits;                 // correct ones at the end, where the error there is known, else everywhere;
                                // -1: the quantity is zero to rounding
} carom_estimate_line;

/// NULL: err gives the reason.
carom_estimate *carom_estimate_create(const carom_estimate_def *def, carom_error *err);
void carom_estimate_destroy(carom_estimate *e);
typedef bool (*carom_estimate_tick)(void *user, double fraction);
/// The three runs.  tick: some ten times a second with the part that is done; false: stop, which is CAROM_STOPPED.
carom_status carom_estimate_run(carom_estimate *e, carom_estimate_tick tick, void *user, carom_error *err);
int carom_estimate_lines(const carom_estimate *e);
/// Coordinates, velocities, energies.
carom_estimate_line carom_estimate_line_at(const carom_estimate *e, int i);
/// Until when no coordinate is off by more than a tenth of its size; infinite: to the end.
double carom_estimate_until(const carom_estimate *e);
/// The observed order, that of the coordinate with the largest error relative to its size; NaN: the errors are
/// rounding, or do not become smaller.
double carom_estimate_order(const carom_estimate *e);
/// The three steps, or tolerances.
bool carom_estimate_levels(const carom_estimate *e, double level[3]); // true: tolerances
/// The estimate as a block of text, and as a JSON object with the first 200 lines, for carom_record_estimate().  The
/// latter belongs to the estimate; NULL: it has not run.
void carom_estimate_print(FILE *f, const carom_estimate *e);
const char *carom_estimate_text(const carom_estimate *e);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

carom_estimate *carom_estimate_create_sized(size_t size, const carom_estimate_def *def, carom_error *err);
const carom_estimate_line *carom_estimate_line_at_view(const carom_estimate *e, int i);
#ifndef CAROM_INSIDE
#define carom_estimate_create(...) carom_estimate_create_sized(sizeof(carom_estimate_def), __VA_ARGS__)
#define carom_estimate_line_at(...) (*carom_estimate_line_at_view(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif

// result.h: the results of a run: rows, events and the ledger, written to HDF5 or CSV and read again.
//
// The recorder watches a simulation.  Its columns are those of docs/results.md; the step loop performs no heap
// allocation and a row costs one evaluation of energies, local velocities and outputs.  A result opens also when the
// run was killed or a write failed: it then has everything up to the last carom_record_flush().
#pragma once
#include <carom/model.h>
#include <carom/sim.h>
#include <carom/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_record carom_record;
typedef struct carom_result carom_result;

/// The ledger as of now, with the names of constraints (carom/sim.h).  The caller frees it.  NULL: see err; a
/// result may have none.
carom_ledger *carom_ledger_of_record(carom_record *r, carom_error *err);
carom_ledger *carom_ledger_of_result(const carom_result *r, carom_error *err);

// -- recording ------------------------------------------------------------------------------------

typedef struct carom_record_def {
    const carom_model *model;    // NULL: there is none, the columns of state and contacts are all
    carom_sim *sim;              // of this model's system, or of one that carom_functions made of it
    const char *file;            // *.csv: CSV, with FILE.events.csv next to it; else HDF5.  NULL: CSV to stream
    FILE *stream;                // used when file is NULL; events are then left out
    bool memory;                 // neither: rows and events are kept in memory, see carom_record_result()
    bool replace;                // an older file of that name is replaced at once; else it is FILE.before until the run
                                 // is done
    double step, end;            // those of the simulation (carom_sim_def), for the run's entry in the file
    long every;                  // steps between two rows, or
    double dt_out;               // at the first step end at or after k dt_out; both 0: about 2000 rows
    bool event_rows;             // and two rows at every event that the scheme locates, left and right limits; their
                                 // reactions are NaN
    const char *text;            // the model's text, kept in the file
    size_t length;
    const char *model_file;      // its name
    const char *const *set;      // NULL-terminated lists as given, kept for resuming; NULL: none
    const char *const *options;
    // Names where the model has none: nq coordinates (velocities are x'), contacts and constraints by id.  NULL: q1,
    // contact1, ...
    const char *const *coordinates, *const *constraints;
    // Columns of the caller: NULL-terminated names, and their values whenever a row is written.  NULL:
    // none.
    const char *const *extra;
    const double *extra_value;
    // Columns by patterns, NULL-terminated, as `record: columns` of a model has them, which they replace.  NULL: the
    // model's.
    const char *const *columns;
    bool compress;               // HDF5: tables are compressed (shuffle, deflate)
    bool units;                  // CSV: a second line names the units of columns, - where they are unknown
} carom_record_def;

carom_record_def carom_record_default(void);

/// Open a new result.  The file appears under its name when it is complete enough to be read.
carom_record *carom_record_create(const carom_record_def *def, carom_error *err);

/// To be called after every step, in the form of carom_sim_run(); record is a carom_record.
carom_status carom_record_step(void *record, const carom_now *now);
/// The failure of a carom_record_step() that did not return CAROM_OK.
const carom_error *carom_record_error(const carom_record *r);

/// Steps and records: at most `steps` steps and `rows` more rows (0: no limit), or until the end,
/// as carom_sim_done() returns.
carom_status carom_record_advance(carom_record *r, long steps, long rows, carom_error *err);

/// Flush to disk, so that the data so far survive a kill.  Call it every half second or so.  All or nothing: after a
/// failure the file is that of the flush before, and nothing is written any more.
carom_status carom_record_flush(carom_record *r, carom_error *err);

/// The last row, the ledger, and the word for how it ended ("done", "interrupted", "failed") with its reason (NULL:
/// none). The record is only good for carom_record_destroy() afterwards.
carom_status carom_record_finish(carom_record *r, const char *status, const char *why, carom_error *err);
void carom_record_destroy(carom_record *r);

// -- reading --------------------------------------------------------------------------------------

typedef struct carom_result_event {
    double t, before, after, impulse;
    char contact[128], kind[16]; // names of a model are shorter, longer ones of a program are cut
} carom_result_event;

/// Open a result, HDF5 or CSV.  Nothing in the file is trusted.
carom_result *carom_result_open(const char *file, carom_error *err);
void carom_result_close(carom_result *r);

/// A finished record in memory as a result, which takes its rows and events; the rest of the record can be destroyed.
/// It has a ledger, /run and the model's text, like the file that would have been written.
carom_result *carom_record_result(carom_record *r, carom_error *err);

/// Write it under this name, .h5 or .csv (without ledger, fields and text), in the place of an older file.  It cannot
/// be resumed.
carom_status carom_result_save(carom_result *r, const char *file, carom_error *err);
int carom_result_columns(const carom_result *r);
const char *carom_result_column(const carom_result *r, int i);
int carom_result_find(const carom_result *r, const char *column); // -1: none
long carom_result_rows(const carom_result *r);
/// The unit of a column ("m/s", "J"), where the model in the result specifies units; false: unknown.
bool carom_result_unit(carom_result *r, const char *column, char *text, size_t size);
/// out[k] = column at row first + k.
carom_status carom_result_read(carom_result *r, int column, long first, long count, double *out, carom_error *err);

/// The same with all columns: out is count x columns.
carom_status carom_result_read_rows(carom_result *r, long first, long count, double *out, carom_error *err);

long carom_result_event_count(const carom_result *r);
carom_status carom_result_events(carom_result *r, long first, long count, carom_result_event *out, carom_error *err);

/// Attributes of /run: texts and numbers by name.  NULL, false: not there.  i-th name; NULL after the last.
const char *carom_result_text(const carom_result *r, const char *name);
bool carom_result_number(const carom_result *r, const char *name, double *value);
/// The model's text; NULL: none (CSV).
const char *carom_result_model(const carom_result *r, size_t *length);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

const carom_record_def *carom_record_default_view(void);
carom_record *carom_record_create_sized(size_t size, const carom_record_def *def, carom_error *err);
#ifndef CAROM_INSIDE
#define carom_record_default() (*carom_record_default_view())
#define carom_record_create(...) carom_record_create_sized(sizeof(carom_record_def), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

#ifdef CAROM_INSIDE
#include "io/more.h"
#include <carom/record.h>
#endif

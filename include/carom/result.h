// result.h: what a run leaves behind: rows, events and the ledger, in HDF5 or CSV; and reading it again.
//
// The recorder watches a simulation.  Its columns are those of docs/results.md; the step loop asks the heap
// for nothing and a row costs one evaluation of energies, local velocities and outputs.  A result opens also
// when the run was killed or a write failed: it then holds everything up to the last carom_record_flush().
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

// -- the ledger, in words -----------------------------------------------------------------------------

/// Names that belong to the ids of a ledger; NULL where there is none.
typedef struct carom_ledger_names {
    const char *penetration, *drift, *residual;
    const char *redundant; // joints and constraints that say nothing new at the start, as one text; NULL: none
    const char *compliant; // contact of finite stiffness with the largest overlap; NULL: none
    const char *estimate;  // errors, as a JSON object (carom_estimate_text()); NULL: not estimated
    const char *warnings;  // as a JSON list of {kind, text, name, t}; NULL: none
} carom_ledger_names;

carom_ledger_names carom_ledger_names_of(const carom_ledger *l, const carom_model *m);
/// A block for a person, lines of at most about 100 columns.
void carom_ledger_print(FILE *f, const carom_ledger *l, carom_ledger_names names);
/// Members of a JSON object, without the braces: `"steps": 10, ..., "energy": {...}`.  What is not finite is null.
void carom_ledger_json(FILE *f, const carom_ledger *l, carom_ledger_names names);
/// Warnings as the JSON list of carom_ledger_names, into text of CAROM_WARNINGS_ROOM bytes.
enum { CAROM_WARNINGS_ROOM = 8192 };
void carom_warnings_json(char *text, const carom_warning *list, int n);

/// What springs, motors and loads of the model store and have done, a line each (the first twenty); all of them as a
/// member "elements" of a JSON object, with a comma before it.  Nothing where there are none.
void carom_elements_print(FILE *f, const carom_model *m, carom_sim *sim);
void carom_elements_json(FILE *f, const carom_model *m, carom_sim *sim);

/// One line of a ledger, as in docs/reference-ledger.md.
typedef struct carom_ledger_line {
    const char *name;  // "energy.start"
    bool is_text;      // a name of a constraint; else a number
    const char *text;  // NULL: it never happened
    double value;      // NaN: not known, or it never happened
    bool whole;        // value is a count
} carom_ledger_line;

/// Line i; name is NULL after the last.
carom_ledger_line carom_ledger_line_at(const carom_ledger *l, const carom_ledger_names *names, int i);

const char *carom_event_word(carom_event_kind kind); // "impact", "close", ...; NULL outside

// -- recording ------------------------------------------------------------------------------------

typedef struct carom_record carom_record;

typedef struct carom_record_def {
    const carom_model *model;    // NULL: there is none, the columns of state and contacts are all
    carom_sim *sim;              // of this model's system, or of one that carom_functions made of it
    const char *file;            // *.csv: CSV, with FILE.events.csv beside it; else HDF5.  NULL: CSV to stream
    FILE *stream;                // used when file is NULL; events are then left out
    bool memory;                 // neither: rows and events stay in memory, see carom_record_result()
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
    // Columns of the caller: NULL-terminated names, and where their values stand whenever a row is written.  NULL:
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

/// Open def->file, a result that stopped, bring def->sim to the state it stopped in, and go on writing behind it.
/// def->model, sim, step must be those of the file (carom_result_text tells them); every and dt_out come from it.
carom_record *carom_record_resume(const carom_record_def *def, carom_error *err);

/// Bytes that the table of rows will have, and its columns; before the run, by the rows that are to be expected.
double carom_record_expected(const carom_record *r, int *columns);

/// To be called after every step, in the form that carom_sim_run() wants; record is a carom_record.
carom_status carom_record_step(void *record, const carom_now *now);
/// The failure behind a carom_record_step() that did not return CAROM_OK.
const carom_error *carom_record_error(const carom_record *r);

/// Steps and records: at most `steps` steps and `rows` more rows (0: no limit), or until the end,
/// which carom_sim_done() tells.
carom_status carom_record_advance(carom_record *r, long steps, long rows, carom_error *err);

/// Put everything known so far where a kill cannot reach it.  Call it every half second or so.
/// All of it, or nothing: after a failure the file is that of the flush before, and nothing is written any more.
carom_status carom_record_flush(carom_record *r, carom_error *err);
/// The time of the last flush that succeeded, of a text file that is finished the time of its last row: the file holds
/// everything until then.
double carom_record_saved(const carom_record *r);

/// The estimated errors of the run, for its ledger; before carom_record_finish().  The text must live until then.
void carom_record_estimate(carom_record *r, const char *json);

/// The last row, the ledger, and the word for how it ended ("done", "interrupted", "failed") with its reason (NULL:
/// none). The record is only good for carom_record_destroy() afterwards.
carom_status carom_record_finish(carom_record *r, const char *status, const char *why, carom_error *err);
void carom_record_destroy(carom_record *r);

/// Verdict on check i of the model now; see carom_model_check().
bool carom_record_check(carom_record *r, int i, const char **text, double *left, double *right, carom_error *err);
/// The ledger as of now, and the names that belong to it (valid as long as the record and its model).
carom_status carom_record_ledger(carom_record *r, carom_ledger *l, carom_ledger_names *names, carom_error *err);
int carom_record_columns(const carom_record *r);
const char *carom_record_column(const carom_record *r, int i);
long carom_record_rows(const carom_record *r);
/// Row i of a record in memory, carom_record_columns() numbers, valid until the next step; NULL: not there.
const double *carom_record_row(const carom_record *r, long i);

// -- reading --------------------------------------------------------------------------------------

typedef struct carom_result carom_result;

typedef struct carom_result_event {
    double t, before, after, impulse;
    char contact[128], kind[16]; // names of a model are shorter, longer ones of a program are cut
} carom_result_event;

/// A row of a snapshot of contacts: where, the normal from the second shape to the first, and the force on the first.
typedef struct carom_result_contact {
    double t, point[3], normal[3], gap, force[3];
    char contact[128];
} carom_result_contact;

/// Open a result, HDF5 or CSV.  Nothing in the file is trusted.
carom_result *carom_result_open(const char *file, carom_error *err);
void carom_result_close(carom_result *r);

/// A finished record in memory as a result, which takes its rows and events; the rest of the record can be destroyed.
/// It has a ledger, /run and the model's text, like the file that would have been written.
carom_result *carom_record_result(carom_record *r, carom_error *err);

/// Write it under this name, .h5 or .csv (without ledger, fields and text), in the place of an older file.  It cannot
/// be resumed.
carom_status carom_result_save(carom_result *r, const char *file, carom_error *err);
bool carom_result_is_hdf5(const carom_result *r);
int carom_result_columns(const carom_result *r);
const char *carom_result_column(const carom_result *r, int i);
int carom_result_find(const carom_result *r, const char *column); // -1: none
long carom_result_rows(const carom_result *r);
/// The unit of a column ("m/s", "J"), where the model in the result gives units; false: not known.
bool carom_result_unit(carom_result *r, const char *column, char *text, size_t size);
/// out[k] = column at row first + k.
carom_status carom_result_read(carom_result *r, int column, long first, long count, double *out, carom_error *err);
/// Fields along flexible members, by name ("rod.displacement"): values in a row, -1 when there is none of that name
/// (CSV has none); and one row, which belongs to the same row of the columns.
long carom_result_field_size(carom_result *r, const char *name);
carom_status carom_result_field_read(carom_result *r, const char *name, long row, double *x, carom_error *err);

/// The same with all columns: out is count x columns.
carom_status carom_result_read_rows(carom_result *r, long first, long count, double *out, carom_error *err);
/// All values, row by row, when they are in memory (CSV, carom_record_result()); NULL: they are in a file.
const double *carom_result_values(const carom_result *r);

long carom_result_event_count(const carom_result *r);
carom_status carom_result_events(carom_result *r, long first, long count, carom_result_event *out, carom_error *err);

long carom_result_contact_count(const carom_result *r);
carom_status carom_result_contacts(carom_result *r, long first, long count, carom_result_contact *out,
                                   carom_error *err);

/// All events when they are in memory, else NULL.
const carom_result_event *carom_result_event_values(const carom_result *r);

/// What /run says: texts and numbers by name.  NULL, false: not there.  i-th name; NULL after the last.
const char *carom_result_text(const carom_result *r, const char *name);
bool carom_result_number(const carom_result *r, const char *name, double *value);
const char *carom_result_attribute(const carom_result *r, int i);
/// The model's text; NULL: none (CSV).
const char *carom_result_model(const carom_result *r, size_t *length);
/// The matrices that the model was given, for carom_model_def; they stay valid until close.
carom_status carom_result_matrices(carom_result *r, const carom_matrix_text **list, int *n, carom_error *err);
/// The ledger of the run; false: the file has none.  Names stay valid until close.
bool carom_result_ledger(const carom_result *r, carom_ledger *l, carom_ledger_names *names);

#ifdef __cplusplus
}
#endif

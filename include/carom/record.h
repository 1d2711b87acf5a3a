// record.h: details of recording and of results: resuming, rows in memory, fields of members, snapshots of contacts.
//
// For bindings and user interfaces; carom/result.h has what most programs need.
#pragma once
#include <carom/result.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Open def->file, a result that stopped, bring def->sim to the state it stopped in, and continue after it.
/// def->model, sim, step must be those of the file (see carom_result_text); every and dt_out come from it.
carom_record *carom_record_resume(const carom_record_def *def, carom_error *err);

/// Bytes that the table of rows will have, and its columns; before the run, by the rows that are to be expected.
double carom_record_expected(const carom_record *r, int *columns);

/// The estimated errors of the run, for its ledger; before carom_record_finish().  The text must live until then.
void carom_record_estimate(carom_record *r, const char *json);

/// Is check i of the model met by the run so far?  *text: as written; *left, *right: the values of its two sides.
/// False with err: they could not be computed.
bool carom_record_check(carom_record *r, int i, const char **text, double *left, double *right, carom_error *err);
int carom_record_columns(const carom_record *r);
const char *carom_record_column(const carom_record *r, int i);
long carom_record_rows(const carom_record *r);

/// Row i of a record in memory, carom_record_columns() numbers, valid until the next step; NULL: not there.
const double *carom_record_row(const carom_record *r, long i);

/// A row of a snapshot of contacts: where, the normal from the second shape to the first, and the force on the first.
typedef struct carom_result_contact {
    double t, point[3], normal[3], gap, force[3];
    char contact[128];
} carom_result_contact;

/// Fields along flexible members, by name ("rod.displacement"): values in a row, -1 when there is none of that name
/// (CSV has none); and one row, which belongs to the same row of the columns.
long carom_result_field_size(carom_result *r, const char *name);
carom_status carom_result_field_read(carom_result *r, const char *name, long row, double *x, carom_error *err);

/// All values, row by row, when they are in memory (CSV, carom_record_result()); NULL: they are in a file.
const double *carom_result_values(const carom_result *r);
long carom_result_contact_count(const carom_result *r);
carom_status carom_result_contacts(carom_result *r, long first, long count, carom_result_contact *out,
                                   carom_error *err);
const char *carom_result_attribute(const carom_result *r, int i);

// -- calls between versions: see carom/carom.h --------------------------------------------------------------------

carom_record *carom_record_resume_sized(size_t size, const carom_record_def *def, carom_error *err);
#ifndef CAROM_INSIDE
#define carom_record_resume(...) carom_record_resume_sized(sizeof(carom_record_def), __VA_ARGS__)
#endif

#ifdef __cplusplus
}
#endif

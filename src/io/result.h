// result.h (private): the insides of a result that can be read, and how one grows in memory.
//
// A result in memory is filled by the recorder and then read like a CSV file that was loaded.  Rows and events ask the
// heap only when their room, which is reckoned before the run, is used up; then it doubles.
#pragma once
#include "io/csv.h"
#include "io/h5.h"

enum { RESULT_ATTRIBUTES = 200 }; // more than carom writes

typedef struct result_attribute { char *name, *text; double number; } result_attribute; // text NULL: a number

struct carom_result {
    char *file;
    hid_t h5, data, event_set; // < 0: none
    csv_table table;           // names; and, unless HDF5, the values
    char ***by_name;           // places of the names, sorted by them; NULL: they are few
    long room;                 // rows that memory is there for
    carom_result_event *event; // unless HDF5
    long events;
    hid_t contact_set;         // < 0: none
    bool replaced;             // by another file while it was read: nothing more of it is
    carom_result_contact *contact; // unless HDF5
    long contacts;
    result_attribute run[RESULT_ATTRIBUTES], ledger[RESULT_ATTRIBUTES];
    int nrun, nledger;
    char *model;
    size_t model_length;
    carom_mech *mech;          // of it, for units; NULL: not asked for yet, or it cannot be read
    carom_matrix_text *matrix; // NULL: not read yet
    int nmatrix;
};

void result_drop_matrices(carom_result *r);
void result_drop_attributes(result_attribute *a, int *n);

// Of files in HDF5 (result_h5.c): r->file is opened; what lies between first and first + count is there.
carom_status result_h5_open(carom_result *r, carom_error *err);
void result_h5_close(carom_result *r); // or nothing, when none is open
carom_status result_h5_rows(carom_result *r, int column, int columns, long first, long count, double *out,
                            carom_error *err);
carom_status result_h5_events(carom_result *r, long first, long count, carom_result_event *out, carom_error *err);
carom_status result_h5_contacts(carom_result *r, long first, long count, carom_result_contact *out, carom_error *err);
/// Copies /fields into another file; there may be none.
carom_status result_h5_copy_fields(carom_result *r, hid_t to, carom_error *err);

/// An empty result in memory with room for so many rows; text: the model's, NULL: none.
carom_result *memory_create(int columns, char *const *column, long room, const char *text, size_t length,
                            carom_error *err);
/// The next row, to be filled in; NULL: no memory.  memory_row_done() when it is.
double *memory_row(carom_result *r, carom_error *err);
void memory_row_done(carom_result *r);
carom_status memory_put_event(carom_result *r, const carom_event *e, const char *contact, carom_error *err);
carom_status memory_put_contact(carom_result *r, const carom_result_contact *c, carom_error *err);
/// An attribute of /run, new or in the place of an older one.
bool memory_put_text(carom_result *r, const char *name, const char *text);
bool memory_put_real(carom_result *r, const char *name, double x);
carom_status memory_put_ledger(carom_result *r, const carom_ledger *l, carom_ledger_names names, carom_error *err);

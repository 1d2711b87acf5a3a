// csv.h: results as comma-separated values, full precision, one header line.
#pragma once
#include <carom/result.h>
#include <stdlib.h>
#include <sys/types.h>

/// Where lines go: to a file, or to a stream of the caller.  After the first failure nothing is written any more.
typedef struct csv_sink {
    FILE *stream;      // NULL: file
    int file;
    bool regular;      // it can be cut
    char *buffer;      // lines that are not written yet
    size_t fill, room;
    off_t sound;       // bytes of whole lines in the file
    double last;       // the number that the last of them begins with: its time
    bool failed;
    int reason;        // errno
} csv_sink;

typedef struct csv_file {
    csv_sink rows, events, contacts;
    bool has_events;           // events are written
    bool snapshots;      // contacts are
    int columns;
    double *row;         // the row being filled in
    char *name;
} csv_file;

/// file NULL: rows to stream, no events.  keep: see publish().  unit: a second line, "-" where it is unknown; NULL:
/// none.  snapshots: of contacts, in FILE.contacts.csv.
csv_file *csv_create(const char *file, bool keep, FILE *stream, int columns, char *const *column, char *const *unit,
                     bool snapshots, carom_error *err);
carom_status csv_put_contact(csv_file *f, const carom_result_contact *c, carom_error *err);
carom_status csv_row_done(csv_file *f, carom_error *err);
carom_status csv_put_event(csv_file *f, const carom_event *e, const char *contact, carom_error *err);
carom_status csv_flush(csv_file *f, carom_error *err);
/// The run is done: see publish_for_good().
void csv_for_good(csv_file *f);
carom_status csv_destroy(csv_file *f, carom_error *err);

/// A table read back: header and numbers.
typedef struct csv_table {
    int columns;
    char **column;
    long rows;
    double *value; // rows x columns; NULL: there are many, and they are in
    FILE *spill;   // a temporary file without a name, by rows
} csv_table;

/// Of a table with more than CSV_MEMORY bytes of numbers these go to a temporary file as they are read.
enum { CSV_MEMORY = 1 << 24 };
carom_status csv_read(csv_table *t, const char *file, carom_error *err);
/// whole: a last line without its end counts, as in tables of other programs; else it was cut off.  All numbers stay in
/// memory.
carom_status csv_read_to(csv_table *t, const char *file, bool whole, carom_error *err);
/// Events beside a CSV result; *count 0 when there are none.
carom_status csv_read_events(const char *file, carom_result_event **event, long *count, carom_error *err);
carom_status csv_read_contacts(const char *file, carom_result_contact **contact, long *count, carom_error *err);
/// From the temporary file: `columns` columns from `column` on of `count` rows from `first` on, which are there.
carom_status csv_rows(const csv_table *t, int column, int columns, long first, long count, double *out,
                      carom_error *err);
static inline void csv_free(csv_table *t) {
    for (int i = 0; i < t->columns; ++i) free(t->column[i]);
    free(t->column);
    free(t->value);
    if (t->spill) fclose(t->spill);
    *t = (csv_table){0};
}

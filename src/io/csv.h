// csv.h: results as comma-separated values, full precision, one header line.
#pragma once
#include <carom/result.h>

typedef struct csv_file {
    FILE *rows, *events; // events NULL: left out
    bool owned;          // close rows
    int columns;
    double *row;         // the row being filled in
    char *name;
} csv_file;

/// file NULL: rows to stream, no events.
csv_file *csv_create(const char *file, FILE *stream, int columns, char *const *column, carom_error *err);
carom_status csv_row_done(csv_file *f, carom_error *err);
carom_status csv_put_event(csv_file *f, const carom_event *e, const char *contact, carom_error *err);
carom_status csv_flush(csv_file *f, carom_error *err);
carom_status csv_destroy(csv_file *f, carom_error *err);

/// A table read back: header and numbers.
typedef struct csv_table {
    int columns;
    char **column;
    long rows;
    double *value; // rows x columns
} csv_table;

carom_status csv_read(csv_table *t, const char *file, carom_error *err);
/// Events beside a CSV result; *count 0 when there are none.
carom_status csv_read_events(const char *file, carom_result_event **event, long *count, carom_error *err);
void csv_free(csv_table *t);

// table.h: small tables with names: the results of sweeps, in HDF5 or CSV files.
//
// HDF5: each table as a compound dataset, and by columns in the group /columns/NAME for other programs.  CSV: FILE for
// the first table, FILE.NAME.csv for the others.  A file has no computing times: equal tables make equal CSV files.
#pragma once
#include <carom/status.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum carom_column_kind { CAROM_COLUMN_REAL, CAROM_COLUMN_INTEGER, CAROM_COLUMN_TEXT } carom_column_kind;

typedef struct carom_column {
    char *name;
    carom_column_kind kind;
    double *real;       // rows of one of these
    long long *integer;
    char **text;
} carom_column;

typedef struct carom_table {
    char *name;         // "runs"
    long rows;
    int columns;
    carom_column *column;
} carom_table;

/// A text about the tables as a whole; HDF5 only.
typedef struct carom_table_note { const char *name, *text; } carom_table_note;

void carom_table_free(carom_table *t);

/// Table `name` of an HDF5 file; CAROM_BAD_INPUT: it has none.
carom_status carom_table_read(const char *file, const char *name, carom_table *t, carom_error *err);

#ifdef __cplusplus
}
#endif

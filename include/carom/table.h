// table.h: small tables with names: what sweeps leave behind, in HDF5 or CSV files.
//
// HDF5: one compound dataset a table.  CSV: FILE for the first table, FILE.NAME.csv for the others.  A file holds no
// times of computing: equal tables make equal CSV files.
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

/// Room for this number of rows of columns that have their names and kinds already.
carom_status carom_table_reserve(carom_table *t, long rows, carom_error *err);
void carom_table_free(carom_table *t);
carom_column *carom_table_column(const carom_table *t, const char *name); // NULL: none

/// Into a file beside it first, which then gets the name.
carom_status carom_tables_write(const char *file, const carom_table *tables, int n, const carom_table_note *notes,
                                int nnotes, carom_error *err);
/// Table `name` of an HDF5 file; CAROM_BAD_INPUT: it has none.
carom_status carom_table_read(const char *file, const char *name, carom_table *t, carom_error *err);
/// Does this HDF5 file hold such a table?
bool carom_table_probe(const char *file, const char *name);
/// A note of an HDF5 file, to be freed; NULL: there is none.
char *carom_table_note_read(const char *file, const char *name);

#ifdef __cplusplus
}
#endif

// table.h: tables in files; users: <carom/table.h>.
#pragma once
#include <carom/table.h>

/// Room for so many rows of columns that have their names and kinds already.
carom_status carom_table_reserve(carom_table *t, long rows, carom_error *err);
carom_column *carom_table_column(const carom_table *t, const char *name); // NULL: none
/// Units of columns of real numbers, for HDF5; false: not known.
typedef struct carom_table_units {
    bool (*find)(const void *user, const char *column, char *text, size_t size);
    const void *user;
} carom_table_units;

/// Into a file beside it first, which then gets the name.
carom_status carom_tables_write(const char *file, const carom_table *tables, int n, const carom_table_note *notes,
                                int nnotes, carom_error *err);
carom_status carom_tables_write_units(const char *file, const carom_table *tables, int n, const carom_table_note *notes,
                                      int nnotes, const carom_table_units *units, carom_error *err);
/// Does this HDF5 file hold such a table?
bool carom_table_probe(const char *file, const char *name);
/// A note of an HDF5 file, to be freed; NULL: there is none.
char *carom_table_note_read(const char *file, const char *name);
/// For carom_table_units: as in the tables of a sweep; user: the name of that file.
bool carom_table_unit_read(const void *user, const char *column, char *text, size_t size);

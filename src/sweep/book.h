// book.h: the rows of a sweep: a journal while it runs, tables when it is done.
#pragma once
#include <carom/sweep.h>
#include <carom/table.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_journal carom_journal;

/// A row as bytes, to be freed, for a journal or another process; NULL: no memory.
unsigned char *carom_row_pack(const carom_sweep *s, const carom_sweep_row *row, size_t *n);
/// The row in these bytes, which must be aligned as malloc() does; direction and vary are not set.  false: they are
/// none of this sweep.
bool carom_row_unpack(const carom_sweep *s, const unsigned char *bytes, size_t n, carom_sweep_row *row);

/// A new journal.  definition: bytes that identify the sweep, returned by carom_journal_open().  file NULL: rows in
/// memory only.  CAROM_BAD_INPUT: the file exists already.
carom_journal *carom_journal_create(const char *file, const void *definition, size_t length, carom_error *err);
/// An existing one; *definition is to be freed.
carom_journal *carom_journal_open(const char *file, char **definition, size_t *length, carom_error *err);
/// The sweep it belongs to.  Rows that an opened journal holds are read, and count as done.
carom_status carom_journal_bind(carom_journal *b, carom_sweep *s, carom_error *err);
void carom_journal_destroy(carom_journal *b); // the journal stays
void carom_journal_remove(carom_journal *b);  // the journal goes

bool carom_journal_add(carom_journal *b,
                       const carom_sweep_row *row); // false: no memory, or the journal cannot be written
carom_status carom_journal_flush(carom_journal *b, carom_error *err); // flush: rows added so far survive a crash
long carom_journal_rows(const carom_journal *b);
long carom_journal_failed(const carom_journal *b);
// false if absent; direction and vary are not set
bool carom_journal_row(const carom_journal *b, long run, carom_sweep_row *row);
const char *carom_journal_message(const carom_journal *b, long *run); // of the first run that failed; NULL: none

/// /runs and, with a section, /section, of the runs that are there; each to be freed with carom_table_free().  Where it
/// fails there are none.
carom_status carom_journal_tables(const carom_journal *b, carom_table tables[2], int *n, carom_error *err);

#ifdef __cplusplus
}
#endif

// more.h: ledgers and results, for the parts of carom around them.
#pragma once
#include <carom/result.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_ledger carom_ledger;

carom_ledger_names carom_ledger_names_of(const carom_ledger *l, const carom_model *m);

/// Human-readable text, lines of at most about 100 columns.
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

const char *carom_event_word(carom_event_kind kind); // "impact", "close", ...; NULL outside

/// The time of the last flush that succeeded, of a text file that is finished the time of its last row: the file holds
/// everything until then.
double carom_record_saved(const carom_record *r);

/// The ledger as of now, and the names that belong to it (valid as long as the record and its model).
carom_status carom_record_ledger(carom_record *r, carom_ledger *l, carom_ledger_names *names, carom_error *err);

/// The matrices that the model was given, for carom_model_def; they stay valid until close.
carom_status carom_result_matrices(carom_result *r, const carom_matrix_text **list, int *n, carom_error *err);

/// The ledger of the run; false: the file has none.  Names stay valid until close.
bool carom_result_ledger(const carom_result *r, carom_ledger *l, carom_ledger_names *names);

#ifdef __cplusplus
}
#endif

// ledger_read.c: ledgers of records and results as programs see them (sim/ledger.c).
#include "base/missing.h"
#include <carom/result.h>

carom_ledger *carom_ledger_of_record(carom_record *r, carom_error *err) {
    carom_ledger l;
    carom_ledger_names names;
    if (!r) CAROM_MISSING(err);
    if (!r || carom_record_ledger(r, &l, &names, err) != CAROM_OK) return NULL;
    return carom_ledger_keep(&l, &names, err);
}

carom_ledger *carom_ledger_of_result(const carom_result *r, carom_error *err) {
    carom_ledger l;
    carom_ledger_names names;
    if (!r) CAROM_MISSING(err);
    if (!r) return NULL;
    if (carom_result_ledger(r, &l, &names)) return carom_ledger_keep(&l, &names, err);
    carom_fail(err, CAROM_BAD_INPUT, "the result has no ledger");
    return NULL;
}

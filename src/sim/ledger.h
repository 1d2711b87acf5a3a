// ledger.h: the ledger as a table of names, for every place that writes or reads it.
#pragma once
#include <carom/sim.h>
#include <stddef.h>

typedef enum ledger_kind { LEDGER_LONG, LEDGER_INT, LEDGER_REAL, LEDGER_NS, LEDGER_NAME, LEDGER_JSON } ledger_kind;

/// A name may hold one dot; entries of one group stand together.
typedef struct ledger_entry {
    const char *name;
    ledger_kind kind;
    size_t at; // offset in carom_ledger, in carom_ledger_names for texts
} ledger_entry;

static inline bool ledger_is_text(const ledger_entry *e) { return e->kind == LEDGER_NAME || e->kind == LEDGER_JSON; }

extern const ledger_entry ledger_table[]; // ends at name NULL

double ledger_get(const carom_ledger *l, const ledger_entry *e);
void ledger_set(carom_ledger *l, const ledger_entry *e, double x);
const char *ledger_get_name(const carom_ledger_names *names, const ledger_entry *e);

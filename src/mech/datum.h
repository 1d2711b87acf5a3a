// datum.h (private): questions to data of a mechanism, and how it grows.
#pragma once
#include <carom/mech.h>

/// The data of a list or map one by one: for (c = carom_first(d); c != carom_end(d); ++c).  NULL has none.
static inline const carom_datum *carom_first(const carom_datum *d) { return d ? d->item : NULL; }
static inline const carom_datum *carom_end(const carom_datum *d) { return d && d->item ? d->item + d->count : NULL; }
/// The same where one alone may stand for a list of one.
static inline const carom_datum *carom_ones(const carom_datum *d) { return d->kind >= CAROM_LIST ? d->item : d; }
static inline const carom_datum *carom_ones_end(const carom_datum *d) {
    return d->kind >= CAROM_LIST ? carom_end(d) : d + 1;
}
static inline int carom_count(const carom_datum *d) { return d ? d->count : 0; }
/// A key without a value, as in `forces:`.
static inline bool carom_datum_empty(const carom_datum *d) {
    return d->kind == CAROM_TEXT && d->bare && d->length == 0;
}
/// The datum, or NULL where it is absent.
static inline const carom_datum *carom_given(const carom_datum *d) { return d->kind == CAROM_ABSENT ? NULL : d; }
/// What a map has under this name, or NULL.
const carom_datum *carom_datum_get(const carom_datum *map, const char *key);
/// Is it this word?
bool carom_datum_is(const carom_datum *d, const char *word);
/// Characters in the first bytes of UTF-8 text.
size_t carom_characters(const char *text, size_t bytes);

/// Where the mechanism starts, for messages about what is missing.
const carom_datum *carom_mech_start(const carom_mech *m);
/// "file:12:3", "joints.main", "`set` a=3"; offset: in bytes of the text.
void carom_datum_place(const carom_datum *d, const char *file, size_t offset, char *text, size_t size);
/// Copy all that a datum holds into the pool; false: no memory.
bool carom_datum_own(struct carom_pool *memory, carom_datum *d);
/// What a map holds joins what another one holds already; false: no memory.
bool carom_datum_add(carom_mech *m, carom_datum *map, const carom_datum *more);
/// Room in a list of n records for more behind them; the first new one, NULL: no memory.  Rooms are powers of two.
void *carom_mech_extend(carom_mech *m, void *list, int n, int more, size_t size);
/// What stands in a model file under section.name (NULL: under section), as text there; `of` names it in messages.
carom_status carom_mech_add_entry(carom_mech *m, const char *section, const char *name, const char *text,
                                  const char *of, carom_error *err);
/// Has YAML perhaps cut this text off at a comma: inside { } or [ ], with a parenthesis open?
bool carom_datum_cut(const carom_datum *d);
/// Is this key (empty: nothing stands behind it) perhaps the rest of an expression that was cut?  Then the advice, else
/// NULL.
const char *carom_datum_advice(const carom_datum *key, bool empty);
extern const char carom_advice_comma[]; // "an expression with a comma inside { } or [ ] needs quotes"

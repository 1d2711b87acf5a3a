// keys.h (private): the one table of what a mechanism consists of: every key of a model file, what it means, and where
// it stands in carom_mech.
//
// The table drives reading and writing files, nearest-name suggestions, copying, comparing and hashing, `carom help
// model`, the reference page and the manual page.  A new key is a field of a record in <carom/mech.h> and a line in
// keys.c.
#pragma once
#include <carom/mech.h>

typedef enum key_kind {
    // A datum.  A number is an expression of parameters; an expression may use more: the state, time.  Lists of them
    // are of the same kind.
    KEY_NUMBER, KEY_EXPRESSION, KEY_NAME, KEY_WORD, KEY_TEXT,
    KEY_NAMED, // named data
    KEY_FORM,  // one of several keys for the same datum, which is what the record is: circle, box, ...
    // Records: a pointer to one, or to several that are called by name.
    KEY_RECORD, KEY_RECORDS
} key_kind;

typedef struct carom_key {
    const char *name;     // NULL ends a list
    const char *fallback; // default, "needed", or ""
    const char *about;
    key_kind kind;
    const char *unit;     // SI; "1": it has none; "": it depends, or does not matter
    size_t at, count;     // where it stands in its record; of KEY_RECORDS: how many there are
    const struct key_group *const *groups; // of records: candidates, the first whose condition holds; NULL at the end
    const struct carom_key *own;           // of KEY_RECORDS: a key among the names that has a meaning of its own; NULL:
                                           // none
} carom_key;

/// A kind of record, or one of several variants of it.
typedef struct key_group {
    const char *place; // "contacts.NAME": where in the file; "": at the top
    const char *about;
    const carom_key *keys, *beside; // beside: keys that are known there as well; NULL: none
    size_t size;                    // of the record
    const char *called;             // in messages: "body", which the name follows; or, without_name, the whole
    bool without_name;
    struct { const char *key, *is; } when[2]; // variant: each key is given, and (is not NULL) is this word; is "": the
                                              // key is absent
    carom_datum_kind brief;         // instead of a map a datum of this kind may stand, which is meant for the field at
                                    // brief_at
    size_t brief_at;
} key_group;

typedef struct key_word { const char *name, *arguments, *about; } key_word;

extern const key_group carom_key_top;             // the whole file
extern const key_group *const carom_key_groups[]; // in the order of the reference; NULL at the end
extern const key_word carom_key_joint_types[];    // values of `type` of a joint, in the order of carom_joint_type; ends
                                                  // at a NULL name
extern const key_word carom_key_functions[];      // of expressions

static inline void *carom_key_field(const void *record, size_t at) { return (unsigned char *)record + at; }
static inline bool carom_key_is_record(const carom_key *k) { return k->kind >= KEY_RECORD; }
/// Of a key of records: how many there are in `record`, and the i-th of them.
static inline int carom_key_count(const void *record, const carom_key *k) {
    return k->kind == KEY_RECORD ? *(void *const *)carom_key_field(record, k->at) != NULL
                                 : *(const int *)carom_key_field(record, k->count);
}
static inline void *carom_key_record(const void *record, const carom_key *k, int i) {
    return *(unsigned char *const *)carom_key_field(record, k->at) + (size_t)i * (*k->groups)->size;
}
const char *carom_key_kind(key_kind kind); // "number", ...
/// Key i of the group with those beside it; NULL after the last.
const carom_key *carom_key_at(const key_group *g, int i);
/// Call visit once for every field of a record whose variants are `groups`: its key, with own keys and brief forms.
typedef void key_visit(void *user, const carom_key *key);
void carom_key_fields(const key_group *const *groups, key_visit *visit, void *user);

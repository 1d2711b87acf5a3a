// test_keys.c: the table of keys, from which reading, help and the reference come, is whole: every field of a record
// has a key, every key a place.
#include "model/names.h"
#include "mech/keys.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
// cmocka wants the above first
#include <cmocka.h>

static const key_group *const top[] = {&carom_key_top, NULL};

/// A record type: which of its bytes belong to a field that the table knows.
typedef struct record { const key_group *group; unsigned char known[8192]; } record;

static void mark(record *r, const char *key, size_t at, size_t size) {
    if (at + size > r->group->size || at + size > sizeof r->known)
        fail_msg("'%s' of '%s' lies outside its record", key, r->group->called);
    for (size_t i = at; i < at + size; ++i) {
        if (r->known[i]) fail_msg("'%s' of '%s' lies on another field", key, r->group->called);
        r->known[i] = 1;
    }
}

static void visit(void *user, const carom_key *k);

static void look(const key_group *const *groups) {
    record r = {.group = *groups};
    for (int i = 0; groups[i]; ++i) assert_int_equal(groups[i]->size, r.group->size);
    if (*groups == &carom_key_top) mark(&r, "file, matrices, memory", 0, sizeof(char *));
    else mark(&r, "name", 0, sizeof(carom_datum));
    carom_key_fields(groups, visit, &r);
    if (*groups == &carom_key_top)
        mark(&r, "matrices", offsetof(carom_mech, matrices), sizeof(carom_mech) - offsetof(carom_mech, matrices));
    for (size_t i = 0; i < r.group->size; i += sizeof(void *)) // the second half of one may be padding
        if (!r.known[i]) fail_msg("byte %zu of '%s' has no key: keys.c lacks a field of mech.h", i, r.group->called);
}

static void visit(void *user, const carom_key *k) {
    record *r = user;
    mark(r, k->name, k->at, carom_key_is_record(k) ? sizeof(void *) : sizeof(carom_datum));
    if (k->kind == KEY_RECORDS) mark(r, k->name, k->count, sizeof(int));
    // a family holds a record of its own type
    if (carom_key_is_record(k) && strcmp((*k->groups)->called, r->group->called) != 0) look(k->groups);
}

static void every_field_of_a_record_has_a_key(void **state) {
    (void)state;
    look(top);
}

// Reference and manual page show a group by its place, a key by its name and meaning, and a default.
static void every_key_is_described(void **state) {
    (void)state;
    for (const key_group *const *g = carom_key_groups; *g; ++g)
        for (const carom_key *k = (*g)->keys; k->name; ++k) {
            if (!k->about || !k->fallback || !k->unit) fail_msg("'%s' of '%s' is not described", k->name, (*g)->place);
            for (const carom_key *other = (*g)->keys; other != k; ++other)
                if (strcmp(other->name, k->name) == 0) fail_msg("'%s' stands twice in '%s'", k->name, (*g)->place);
        }
}

static bool listed(const key_group *g) {
    for (const key_group *const *x = carom_key_groups; *x; ++x)
        if (*x == g || (*x)->keys == g->keys) return true;
    return false;
}

static void check_listed(void *user, const carom_key *k) {
    (void)user;
    for (int i = 0; carom_key_is_record(k) && k->groups[i]; ++i)
        if (!listed(k->groups[i])) fail_msg("the keys of '%s' are not in the reference", k->groups[i]->place);
    if (carom_key_is_record(k)) carom_key_fields(k->groups, check_listed, NULL);
}

static void every_group_is_in_the_reference(void **state) {
    (void)state;
    carom_key_fields(top, check_listed, NULL);
}

static void functions_are_the_reserved_words(void **state) {
    (void)state;
    assert_string_equal(carom_name_reserved(0), "t");
    assert_string_equal(carom_name_reserved(1), "pi");
    assert_string_equal(carom_name_reserved(2), carom_key_functions[0].name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_of_a_record_has_a_key),
        cmocka_unit_test(every_key_is_described),
        cmocka_unit_test(every_group_is_in_the_reference),
        cmocka_unit_test(functions_are_the_reserved_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// read.c: a model file becomes a mechanism, as the table of keys says.
//
// Here it is decided what is a key, a record or a map; whether a value makes sense where it stands is decided when the
// mechanism is derived.
#include "base/missing.h"
#include "base/option.h"
#include "base/unit.h"
#include "mech/keys.h"
#include "read/yaml.h"
#include <carom/option.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/// A value that is the name of something, perhaps of a parameter with a unit.
typedef struct named { const carom_datum *value; const carom_key *key; struct named *next; } named;

typedef struct reading {
    carom_mech *m;
    carom_error *err;
    named *names;
} reading;

static carom_status fail(reading *r, const carom_datum *d, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

static carom_status fail(reading *r, const carom_datum *d, const char *format, ...) {
    char text[700], place[240];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    carom_datum_place(d, r->m->file, 0, place, sizeof place);
    return carom_fail(r->err, CAROM_BAD_INPUT, "%s: %s", place, text);
}

static carom_status no_memory(reading *r) {
    return carom_fail(r->err, CAROM_NO_MEMORY, "not enough memory to read %.200s", r->m->file);
}

static carom_status is_map(reading *r, const carom_datum *d, const char *where) {
    if (d->kind == CAROM_MAP) return CAROM_OK;
    return fail(r, d, "%s must be a map (`name: value`), got a %s", where,
                d->kind == CAROM_LIST ? "list" : "single value");
}

// -- keys ----------------------------------------------------------------------------------------------------------

static const carom_key *find(const key_group *g, const char *name) {
    const carom_key *k = g->keys;
    while (k->name && strcmp(k->name, name) != 0) ++k;
    if (k->name || !g->beside) return k->name ? k : NULL;
    for (k = g->beside; k->name && strcmp(k->name, name) != 0;) ++k;
    return k->name ? k : NULL;
}

static const char *key_name(const void *group, int i) {
    const carom_key *k = carom_key_at(group, i);
    return k ? k->name : NULL;
}

// Key i of all variants: a misspelt one may be the key that decides which variant a map is.
static const char *any_key(const void *groups, int i) {
    for (const key_group *const *g = groups; *g; ++g)
        for (int k = 0; carom_key_at(*g, k); ++k)
            if (i-- == 0) return key_name(*g, k);
    return NULL;
}

static carom_status unknown(reading *r, const key_group *g, const key_group *const *groups, const carom_datum *c,
                            const char *where) {
    const char *hint = carom_datum_advice(c->key, carom_datum_empty(c)),
               *near = carom_nearest(c->key->text, any_key, groups);
    // it belongs to another variant
    if (near && strcmp(near, c->key->text) == 0) near = carom_nearest(c->key->text, key_name, g);
    if (!hint && strcmp(where, "the model") == 0 && strcmp(c->key->text, "ground") == 0)
        hint = "shapes of the ground stand under `shapes`";
    if (hint) return fail(r, c->key, "unknown key '%.60s' in %s; %s", c->key->text, where, hint);
    if (near) return fail(r, c->key, "unknown key '%.60s' in %s; did you mean '%s'?", c->key->text, where, near);
    char known[400] = "";
    for (size_t used = 0, i = 0; key_name(g, (int)i) && used < sizeof known; ++i)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", key_name(g, (int)i));
    return fail(r, c->key, "unknown key '%.60s' in %s; expected one of %s", c->key->text, where, known);
}

static bool holds(const carom_datum *map, const char *key, const char *is) {
    const carom_datum *c = key ? carom_datum_get(map, key) : NULL;
    return !key || (is ? *is ? carom_datum_is(c, is) : !c : c != NULL);
}

// The variant that a map is; NULL: none, for a word that is not one of those that decide.
static const key_group *variant(const key_group *const *groups, const carom_datum *map) {
    while (*groups && !(holds(map, (*groups)->when[0].key, (*groups)->when[0].is) &&
                        holds(map, (*groups)->when[1].key, (*groups)->when[1].is)))
        ++groups;
    return *groups;
}

// -- units ---------------------------------------------------------------------------------------------------------

// Is `quantity`, which has unit u, what key k wants?  d: where it is used.
static carom_status check_unit(reading *r, const carom_datum *d, const carom_datum *quantity, const carom_unit *u,
                               const carom_key *k) {
    carom_unit wanted;
    char is[60], other[200] = "";
    if (!*k->unit || !carom_unit_read(k->unit, strlen(k->unit), &wanted) || carom_unit_fits(u, &wanted))
        return CAROM_OK;
    const char *kind = carom_unit_kind(u), *want = carom_unit_kind(&wanted);
    carom_unit_write(u, false, is, sizeof is);
    if (quantity != d) snprintf(other, sizeof other, " = %.60s", quantity->text);
    if (strcmp(k->unit, "1") == 0)
        return fail(r, d, "%s is a number without a unit, and '%.60s'%s has one", k->name, d->text, other);
    return fail(r, d, "'%.60s'%s is %s%s, but %s is %s%sin %s", d->text, other, kind ? kind : "in ", kind ? "" : is,
                k->name, want ? want : "", want ? ", " : "", k->unit);
}

static carom_status see_units(reading *r, const carom_datum *d, const carom_key *k) {
    double x;
    size_t at;
    carom_unit u;
    if (d->kind == CAROM_LIST)
        for (int i = 0; i < d->count; ++i) CAROM_TRY(see_units(r, &d->item[i], k));
    if (d->kind != CAROM_TEXT || !*k->unit) return CAROM_OK;
    if (carom_quantity_read(d->text, d->length, &x, &u, &at) == CAROM_QUANTITY_READ) return check_unit(r, d, d, &u, k);
    if (d->length == 0 || strpbrk(d->text, "+-*/^( ")) return CAROM_OK;
    named *n = carom_pool_take(r->m->memory, sizeof *n); // a name, perhaps: parameters may come later
    if (!n) return no_memory(r);
    *n = (named){d, k, r->names};
    r->names = n;
    return CAROM_OK;
}

// Values that are parameters with units.
static carom_status see_names(reading *r) {
    for (const named *n = r->names; n; n = n->next) {
        double x;
        size_t at;
        carom_unit u;
        const carom_datum *p = carom_datum_get(&r->m->parameters, n->value->text);
        if (p && p->kind == CAROM_TEXT && carom_quantity_read(p->text, p->length, &x, &u, &at) == CAROM_QUANTITY_READ)
            CAROM_TRY(check_unit(r, n->value, p, &u, n->key));
    }
    return CAROM_OK;
}

// -- records -------------------------------------------------------------------------------------------------------

static carom_status read_record(reading *r, const carom_datum *d, const key_group *const *groups, void *record,
                                const char *parent, bool single);

static carom_status read_records(reading *r, const carom_datum *d, const carom_key *k, void *record, const char *parent,
                                 const char *where) {
    CAROM_TRY(is_map(r, d, where));
    const size_t size = (*k->groups)->size;
    int *count = carom_key_field(record, k->count);
    unsigned char *next = carom_mech_extend(r->m, carom_key_field(record, k->at), *count, d->count, size);
    if (!next) return no_memory(r);
    for (const carom_datum *c = carom_first(d); c != carom_end(d); ++c) {
        if (k->own && strcmp(c->key->text, k->own->name) == 0) {
            char own[80];
            snprintf(own, sizeof own, "%s of %s", k->own->name, k->name);
            if (!carom_datum_empty(c)) CAROM_TRY(read_records(r, c, k->own, record, parent, own));
        } else {
            CAROM_TRY(read_record(r, c, k->groups, next, parent, false));
            next += size;
            ++*count;
        }
    }
    return CAROM_OK;
}

// What stands under key k of a record that is called `name`; NULL: the whole model.
static carom_status put(reading *r, const carom_datum *c, const carom_key *k, void *record, const char *name,
                        const char *where) {
    void *field = carom_key_field(record, k->at);
    char section[80];
    snprintf(section, sizeof section, "%s%s", name ? "" : "section ", k->name);
    switch (k->kind) {
    case KEY_RECORD:
        *(void **)field = carom_pool_take(r->m->memory, (*k->groups)->size);
        if (!*(void **)field) return no_memory(r);
        return read_record(r, c, k->groups, *(void **)field, name, true);
    case KEY_RECORDS: return carom_datum_empty(c) ? CAROM_OK : read_records(r, c, k, record, name, section);
    case KEY_NAMED:
        if (carom_datum_empty(c)) return CAROM_OK;
        CAROM_TRY(is_map(r, c, section));
        return carom_datum_add(r->m, field, c) ? CAROM_OK : no_memory(r);
    case KEY_FORM:
        if (((carom_datum *)field)->kind != CAROM_ABSENT)
            return fail(r, c->key, "%s is both %s and %s; give each a name of its own", where,
                        ((carom_datum *)field)->key->text, k->name);
        break;
    case KEY_NUMBER: case KEY_EXPRESSION: case KEY_NAME: case KEY_WORD: case KEY_TEXT: break;
    }
    if (k->kind == KEY_NUMBER || k->kind == KEY_EXPRESSION || k->kind == KEY_FORM) CAROM_TRY(see_units(r, c, k));
    *(carom_datum *)field = *c;
    return CAROM_OK;
}

static carom_status read_map(reading *r, const carom_datum *map, const key_group *g, const key_group *const *groups,
                             void *record, const char *name, const char *where) {
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c) {
        const carom_key *k = g ? find(g, c->key->text) : NULL;
        // no variant: the derivation finds the fault
        for (int i = 0; !g && !k && groups[i]; ++i) k = find(groups[i], c->key->text);
        if (k && (g || !carom_key_is_record(k))) CAROM_TRY(put(r, c, k, record, name, where));
        else if (g) return unknown(r, g, groups, c, where);
    }
    return CAROM_OK;
}

// "body 'arm'", "shape 'arm.tip'", "motion"
static void describe(const key_group *g, const char *parent, const char *name, bool single, char *where, size_t size) {
    if (g->without_name) snprintf(where, size, "%s", g->called);
    else if (!parent) snprintf(where, size, "%s '%.60s'", g->called, name);
    else if (single) snprintf(where, size, "%s '%.60s'", g->called, parent);
    else snprintf(where, size, "%s '%.60s.%.60s'", g->called, parent, name);
}

static carom_status read_record(reading *r, const carom_datum *d, const key_group *const *groups, void *record,
                                const char *parent, bool single) {
    const key_group *g = variant(groups, d);
    char where[170];
    describe(*groups, parent, d->key->text, single, where, sizeof where);
    *(carom_datum *)record = *d->key; // its name comes first
    if (carom_datum_empty(d)) return CAROM_OK;
    if (g && g->brief == d->kind && g->brief != CAROM_ABSENT) {
        *(carom_datum *)carom_key_field(record, g->brief_at) = *d;
        return CAROM_OK;
    }
    CAROM_TRY(is_map(r, d, where));
    return read_map(r, d, g, groups, record, parent && single ? parent : d->key->text, where);
}

// -- all -----------------------------------------------------------------------------------------------------------

static carom_status read_all(reading *r, const char *text, size_t length) {
    static const key_group *const top[] = {&carom_key_top, NULL};
    const carom_datum *root = carom_yaml_read(r->m->memory, text, length, r->m->file, r->err);
    if (!root) return CAROM_BAD_INPUT;
    CAROM_TRY(read_map(r, root, &carom_key_top, top, r->m, NULL, "the model"));
    const carom_datum *format = &r->m->format;
    if (format->kind == CAROM_ABSENT) return fail(r, root, "missing format version; start the file with `carom: 1`");
    if (!carom_datum_is(format, "1")) return fail(r, format, "unsupported format version; this carom reads `carom: 1`");
    return see_names(r);
}

carom_mech *carom_mech_read(const char *text, size_t length, const char *file, carom_error *err) {
    if (!text) return carom_fail(err, CAROM_BAD_INPUT, "the text of a model is missing"), NULL;
    reading r = {.m = carom_mech_create(file), .err = err};
    if (!r.m) {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory to read %.200s", file ? file : "a model");
        return NULL;
    }
    if (read_all(&r, text, length) == CAROM_OK) return r.m;
    carom_mech_destroy(r.m);
    return NULL;
}

// -- entries -------------------------------------------------------------------------------------------------------

// Not from a file: all of it was given by `of`.
static void give(carom_datum *d, const char *of) {
    d->of = of;
    d->line = d->column = 0;
    if (d->key) give((carom_datum *)d->key, of);
    for (int i = 0; i < d->count; ++i) give(&d->item[i], of);
}

// Does the mechanism hold section.name (NULL: section) already?
static bool present(const carom_mech *m, const carom_key *k, const char *name) {
    const void *field = carom_key_field(m, k->at);
    if (!carom_key_is_record(k)) return name ? carom_datum_get(field, name) != NULL : carom_given(field) != NULL;
    for (int i = 0; i < carom_key_count(m, k); ++i)
        if (!name || k->kind == KEY_RECORD || carom_datum_is(carom_key_record(m, k, i), name)) return true;
    return false;
}

// A value, whose own data are the mechanism's, under section.name (NULL: under section).
static carom_status add(reading *r, const char *section, const char *name, carom_datum *value, const char *of) {
    static const key_group *const top[] = {&carom_key_top, NULL};
    carom_datum *keys = carom_pool_take(r->m->memory, 2 * sizeof *keys);
    if (!keys) return no_memory(r);
    for (int i = 0; i < 2; ++i) {
        const char *word = i ? name : section;
        keys[i] = (carom_datum){.kind = CAROM_TEXT,
                                .text = word ? carom_pool_text(r->m->memory, word, strlen(word)) : "",
                                .length = word ? strlen(word) : 0};
        if (!keys[i].text) return no_memory(r);
    }
    carom_datum map = {.kind = CAROM_MAP, .count = 1, .text = "", .item = value, .key = &keys[0]}, file = map;
    value->key = &keys[name ? 1 : 0];
    if (name) file.item = &map;
    give(&file, of);
    return read_map(r, &file, &carom_key_top, top, r->m, NULL, "the model");
}

carom_status carom_mech_add_entry(carom_mech *m, const char *section, const char *name, const char *text,
                                  const char *of, carom_error *err) {
    reading r = {.m = m, .err = err};
    const carom_key *k = find(&carom_key_top, section);
    const bool braces = name && k && k->kind == KEY_RECORDS && !(*k->groups)->brief && text[strspn(text, " ")] != '{';
    const size_t size = strlen(text) + 8;
    char *all = carom_pool_take(m->memory, size);
    if (!all) return no_memory(&r);
    if (k && present(m, k, name)) return carom_fail(err, CAROM_BAD_INPUT, "%s already exists", of);
    snprintf(all, size, braces ? "x: {%s}" : "x: %s", text);
    carom_error wrong = {0};
    carom_datum *root = carom_yaml_read(m->memory, all, strlen(all), "", &wrong);
    if (!root || root->count != 1)
        return carom_fail(err, CAROM_BAD_INPUT, "%s: %s", of, root ? "this is no value" : strstr(wrong.text, ": ") + 2);
    return add(&r, section, name, root->item, of);
}

// Data from elsewhere: every text is there and ends, every item of a map has a name, nothing is deeper than any model
// needs.
static bool sound(const carom_datum *d, int depth) {
    if (!d || depth > 16 || d->count < 0 || d->kind < CAROM_NUMBER || d->kind > CAROM_MAP ||
        (d->kind >= CAROM_LIST && d->count > 0 && !d->item))
        return false;
    if (!d->text || strlen(d->text) != d->length) return false;
    for (int i = 0; d->kind >= CAROM_LIST && i < d->count; ++i) {
        const carom_datum *key = d->item[i].key;
        if (d->kind == CAROM_MAP && (!key || key->kind != CAROM_TEXT || !key->text || strlen(key->text) != key->length))
            return false;
        if (!sound(&d->item[i], depth + 1)) return false;
    }
    return true;
}

carom_status carom_mech_add(carom_mech *m, const char *section, const char *name, const carom_datum *value,
                            carom_error *err) {
    if (!section) return CAROM_MISSING(err);
    reading r = {.m = m, .err = err};
    char of[140];
    snprintf(of, sizeof of, "%.60s%s%.60s", section, name ? "." : "", name ? name : "");
    const carom_key *k = find(&carom_key_top, section);
    if (!sound(value, 0)) return carom_fail(err, CAROM_BAD_INPUT, "%s: this is not a datum of a mechanism", of);
    if (k && present(m, k, name)) return carom_fail(err, CAROM_BAD_INPUT, "%s already exists", of);
    const char *kept = carom_pool_text(m->memory, of, strlen(of));
    carom_datum *own = carom_pool_take(m->memory, sizeof *own);
    if (!own || !kept) return no_memory(&r);
    *own = *value;
    own->key = NULL;
    return carom_datum_own(m->memory, own) ? add(&r, section, name, own, kept) : no_memory(&r);
}

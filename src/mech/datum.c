// datum.c: one piece of data of a mechanism, as given.
#include "mech/datum.h"
#include <stdio.h>
#include <string.h>

size_t carom_characters(const char *text, size_t bytes) {
    size_t n = 0;
    for (size_t i = 0; i < bytes; ++i) n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

// Column of byte `offset` of a text, or of its start when that is not known.
static int column_of(const carom_datum *d, size_t offset) {
    return d->aligned && offset <= d->length ? d->column + (int)carom_characters(d->text, offset) : d->column;
}

void carom_datum_place(const carom_datum *d, const char *file, size_t offset, char *text, size_t size) {
    if (d->of) snprintf(text, size, "%s", d->of);
    else if (d->line) snprintf(text, size, "%.200s:%d:%d", file, d->line, column_of(d, offset));
    else snprintf(text, size, "%.200s", file);
}

const carom_datum *carom_datum_get(const carom_datum *map, const char *key) {
    if (!map || map->kind != CAROM_MAP) return NULL;
    for (const carom_datum *c = carom_first(map); c != carom_end(map); ++c)
        if (strcmp(c->key->text, key) == 0) return c;
    return NULL;
}

bool carom_datum_is(const carom_datum *d, const char *word) {
    return d && d->kind == CAROM_TEXT && strcmp(d->text, word) == 0;
}

const char carom_advice_comma[] = "an expression with a comma inside { } or [ ] needs quotes";

bool carom_datum_cut(const carom_datum *d) {
    int open = 0;
    for (const char *c = d->text; *c; ++c) open += (*c == '(') - (*c == ')');
    return d->flow && d->bare && open > 0;
}

const char *carom_datum_advice(const carom_datum *key, bool empty) {
    static const char point[] = "a comma parts entries inside { } and [ ]; decimals are written with a point: 9.81";
    if (!key->flow || !key->bare || !(empty || strpbrk(key->text, "()*/^+<>"))) return NULL;
    return key->length && strspn(key->text, "0123456789") == key->length ? point : carom_advice_comma;
}

const carom_datum *carom_mech_start(const carom_mech *m) { return m->format.key ? m->format.key : &m->format; }

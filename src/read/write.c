// write.c: a mechanism as a model file, in the order of the table of keys; mechanisms of which the same is written are
// equal.
#include "base/escape.h"
#include "base/grow.h"
#include "base/number.h"
#include "mech/datum.h"
#include "mech/keys.h"
#include "mech/mech.h"
#include <stdlib.h>
#include <string.h>

typedef struct writing {
    carom_text text;
    const void *record; // whose fields are written
    bool first;         // none is written yet
    const carom_datum *brief; // what stands for all of them
} writing;

static void put(writing *w, const char *text, size_t length) { carom_text_append(&w->text, text, length); }

static void append(void *user, const char *text, size_t length) { put(user, text, length); }

static void say(writing *w, const char *text) { put(w, text, strlen(text)); }

// A text; in quotes unless it is a plain word or number.
static void put_text(writing *w, const char *text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
    if (*text && text[strspn(text, plain)] == 0) {
        say(w, text);
        return;
    }
    say(w, "\"");
    carom_escape(CAROM_FOR_YAML, text, strlen(text), append, w);
    say(w, "\"");
}

static void put_number(writing *w, double x) {
    char text[40];
    carom_shortest(text, sizeof text, 15, x);
    say(w, text);
}

static void put_datum(writing *w, const carom_datum *d) {
    if (d->kind == CAROM_NUMBER) put_number(w, d->number);
    if (d->kind == CAROM_TEXT && !carom_datum_empty(d)) put_text(w, d->text);
    if (d->kind < CAROM_LIST) return;
    say(w, d->kind == CAROM_LIST ? "[" : "{");
    for (const carom_datum *c = carom_first(d); c != carom_end(d); ++c) {
        if (c != d->item) say(w, ", ");
        if (d->kind == CAROM_MAP) put_text(w, c->key->text), say(w, ": ");
        put_datum(w, c);
    }
    say(w, d->kind == CAROM_LIST ? "]" : "}");
}

static void put_key(writing *w, const char *key) {
    if (!w->first) say(w, ", ");
    w->first = false;
    put_text(w, key);
    say(w, ": ");
}

static void put_field(void *user, const carom_key *k);

// A form that stands for the whole record, and is no key of it.
static void find_brief(void *user, const carom_key *k) {
    writing *w = user;
    const carom_datum *d = *k->name ? NULL : carom_given(carom_key_field(w->record, k->at));
    if (d) w->brief = d;
}

// {key: value, ...}
static void put_record(writing *w, const void *record, const key_group *const *groups) {
    const void *outer = w->record;
    w->record = record;
    w->first = true;
    w->brief = NULL;
    carom_key_fields(groups, find_brief, w);
    if (w->brief) {
        put_datum(w, w->brief);
    } else {
        say(w, "{");
        carom_key_fields(groups, put_field, w);
        say(w, "}");
    }
    w->record = outer;
    w->first = false;
}

// NAME: record, each behind `before`.
static void put_records(writing *w, const carom_key *k, const char *before, const char *between) {
    for (int i = 0; i < carom_key_count(w->record, k); ++i) {
        const void *record = carom_key_record(w->record, k, i);
        say(w, i ? between : before);
        put_text(w, ((const carom_datum *)record)->text);
        say(w, ": ");
        put_record(w, record, k->groups);
    }
}

static void put_field(void *user, const carom_key *k) {
    writing *w = user;
    void *const *field = carom_key_field(w->record, k->at);
    const carom_datum *d = carom_key_is_record(k) ? NULL : (const void *)field;
    if (d ? !carom_given(d) : !*field) return;
    put_key(w, k->kind == KEY_FORM ? d->key->text : k->name);
    if (d) put_datum(w, d);
    else if (k->kind == KEY_RECORD) put_record(w, *field, k->groups);
    else say(w, "{"), put_records(w, k, "", ", "), say(w, "}");
}

// A section: records a line each.
static void put_section(writing *w, const carom_key *k) {
    void *const *field = carom_key_field(w->record, k->at);
    if (k->kind != KEY_RECORDS) {
        w->first = true;
        const size_t before = w->text.n;
        put_field(w, k);
        if (w->text.n > before) say(w, "\n");
        return;
    }
    const int own = k->own ? *(const int *)carom_key_field(w->record, k->own->count) : 0;
    if (!*field || *(const int *)carom_key_field(w->record, k->count) + own == 0) return;
    put_text(w, k->name);
    say(w, ":");
    put_records(w, k, "\n  ", "\n  ");
    if (own) {
        say(w, "\n  ");
        put_text(w, k->own->name);
        say(w, ":");
        put_records(w, k->own, "\n    ", "\n    ");
    }
    say(w, "\n");
}

char *carom_mech_text(const carom_mech *m) {
    if (!m) return NULL;
    writing w = {.record = m};
    const carom_key *k;
    say(&w, "carom: 1\n");
    for (int i = 0; (k = carom_key_at(&carom_key_top, i)); ++i)
        if (k->at != offsetof(carom_mech, format)) put_section(&w, k);
    if (!w.text.failed) return w.text.at;
    free(w.text.at);
    return NULL;
}

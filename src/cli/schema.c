// schema.c: the keys of a model file as JSON Schema (draft 2020-12), for editors: completion, descriptions, and marks
// at unknown keys.
//
// Every scalar of a model file is a text that carom reads, so numbers, texts and words are all allowed where a datum
// stands; lists and maps too, because what a value must be is decided where it is used.  Keys and their places are
// exact.
#define _POSIX_C_SOURCE 200809L
#include "cli/manual.h"
#include "mech/keys.h"
#include <stdlib.h>
#include <string.h>

enum { MOST = 200 }; // more than there are: those beyond would have no definition

// Lists of variants that have a definition of their own: records refer to each other, and to themselves.
typedef struct schema {
    FILE *f;
    const key_group *const *list[MOST];
    int n;
} schema;

static void put_text(FILE *f, const char *text) {
    fputc('"', f);
    for (const char *c = text; *c; ++c) {
        if (*c == '"' || *c == '\\') fputc('\\', f);
        if ((unsigned char)*c >= 32)
            fputc(*c, f);
        else
            fprintf(f, "\\u%04x", (unsigned)*c);
    }
    fputc('"', f);
}

static int number_of(schema *s, const key_group *const *groups) {
    int i = 0;
    while (i < s->n && s->list[i] != groups) ++i;
    if (i == s->n && i < MOST) s->list[s->n++] = groups;
    return i;
}

static void put_reference(schema *s, const key_group *const *groups) {
    fprintf(s->f, "{\"$ref\": \"#/$defs/g%d\"}", number_of(s, groups));
}

static void put_about(const schema *s, const carom_key *k) {
    char text[900];
    const bool unit = *k->unit && strcmp(k->unit, "1") != 0, needed = strcmp(k->fallback, "needed") == 0;
    snprintf(text, sizeof text, "%s%s%s%s%s%s", k->about, unit ? " [" : "", unit ? k->unit : "", unit ? "]" : "",
             *k->fallback ? needed ? " (required)" : " (default: " : "", *k->fallback && !needed ? k->fallback : "");
    if (*k->fallback && !needed) strncat(text, ")", sizeof text - strlen(text) - 1);
    fputs("\"description\": ", s->f);
    put_text(s->f, text);
}

static void put_key(schema *s, const carom_key *k) {
    fputs("        ", s->f);
    put_text(s->f, k->name);
    fputs(": {", s->f);
    put_about(s, k);
    switch (k->kind) {
    case KEY_NUMBER:
    case KEY_EXPRESSION:
    case KEY_FORM: break; // numbers, expressions, lists and maps of them
    case KEY_NAME:
        fputs(", \"type\": [\"string\", \"number\", \"boolean\", \"array\", \"object\", \"null\"]", s->f);
        break;
    case KEY_WORD:
    case KEY_TEXT:
        fputs(", \"type\": [\"string\", \"number\", \"boolean\", \"array\", \"object\", \"null\"]", s->f);
        break;
    case KEY_NAMED:
        fputs(", \"type\": [\"object\", \"null\", \"array\"]", s->f);
        if (strcmp(k->name, "constraints") == 0) // NAME: expression, or NAME: {rate: expression}
            fputs(", \"additionalProperties\": {\"anyOf\": [{\"type\": [\"number\", \"string\"]}, {\"type\": "
                  "\"object\", \"required\": [\"rate\"], \"additionalProperties\": false, \"properties\": {\"rate\": "
                  "{}}}]}",
                  s->f);
        break;
    case KEY_RECORD:
        fputs(", \"anyOf\": [", s->f), put_reference(s, k->groups), fputs(", {\"type\": \"null\"}]", s->f);
        break;
    case KEY_RECORDS:
        fputs(", \"type\": [\"object\", \"null\"], \"additionalProperties\": ", s->f), put_reference(s, k->groups);
        if (k->own && k->own->groups) {
            fputs(", \"properties\": {", s->f), put_text(s->f, k->own->name),
                fputs(": {\"type\": [\"object\", \"null\"], \"additionalProperties\": ", s->f);
            put_reference(s, k->own->groups), fputs("}}", s->f);
        }
        break;
    }
    fputc('}', s->f);
}

static void put_condition(const schema *s, const key_group *g) {
    bool first = true;
    for (int i = 0; i < 2; ++i) {
        if (!g->when[i].key || (g->when[i].is && !*g->when[i].is)) continue;
        fputs(first ? ", \"required\": [" : ", ", s->f);
        put_text(s->f, g->when[i].key);
        first = false;
    }
    if (!first) fputs("]", s->f);
}

// Keys of one variant, or of the whole file.
static void put_group(schema *s, const key_group *g) {
    fputs("{\"type\": \"object\"", s->f);
    if (*g->about) fputs(", \"description\": ", s->f), put_text(s->f, g->about);
    put_condition(s, g);
    fputs(", \"additionalProperties\": false, \"properties\": {\n", s->f);
    for (int i = 0; carom_key_at(g, i); ++i) {
        if (i) fputs(",\n", s->f);
        put_key(s, carom_key_at(g, i));
    }
    fputs("\n    }}", s->f);
}

static void put_variants(schema *s, const key_group *const *groups) {
    fputs("{\"anyOf\": [", s->f);
    bool brief = false;
    for (int i = 0; groups[i]; ++i) {
        brief = brief || groups[i]->brief;
        if (i) fputs(", ", s->f);
        put_group(s, groups[i]);
    }
    if (brief) fputs(", {\"type\": [\"number\", \"string\", \"boolean\", \"array\"]}", s->f);
    fputs("]}", s->f);
}

void manual_schema(FILE *f) {
    schema s = {.f = f};
    fputs("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"title\": \"carom model file\",\n  "
          "\"required\": [",
          f);
    for (int i = 0, n = 0; carom_key_at(&carom_key_top, i); ++i) {
        const carom_key *k = carom_key_at(&carom_key_top, i);
        if (strcmp(k->fallback, "needed") != 0) continue;
        if (n++) fputs(", ", f);
        put_text(f, k->name);
    }
    fputs("],\n  \"$defs\": {\n", f);
    // References of the top first; definitions may name more.
    FILE *const out = s.f;
    char *top = NULL;
    size_t length = 0;
    s.f = open_memstream(&top, &length);
    if (!s.f) abort();
    put_group(&s, &carom_key_top);
    fclose(s.f);
    s.f = out;
    for (int i = 0; i < s.n; ++i) {
        fprintf(f, "%s    \"g%d\": ", i ? ",\n" : "", i);
        put_variants(&s, s.list[i]);
    }
    fputs("\n  },\n  \"allOf\": [", f);
    fwrite(top, 1, length, f);
    fputs("]\n}\n", f);
    free(top);
}

// names.c: a table of names, found by hashing, kept in order of definition.
#include "model/names.h"
#include "expr/expr.h"
#include "mech/keys.h"
#include <stdlib.h>
#include <string.h>

static unsigned hash(const char *text, size_t length) {
    unsigned h = 2166136261u; // FNV-1a
    for (size_t i = 0; i < length; ++i) h = (h ^ (unsigned char)text[i]) * 16777619u;
    return h;
}

static int *find_slot(const names *t, const char *text, size_t length) {
    for (unsigned i = hash(text, length);; ++i) {
        int *slot = &t->slot[i & (unsigned)(t->slots - 1)];
        if (*slot == 0) return slot;
        const char *known = t->at[*slot - 1].text;
        if (strncmp(known, text, length) == 0 && known[length] == 0) return slot;
    }
}

name *carom_names_find(const names *t, const char *text, size_t length) {
    if (t->count == 0) return NULL;
    const int *slot = find_slot(t, text, length);
    return *slot ? &t->at[*slot - 1] : NULL;
}

static bool grow(names *t) {
    const int capacity = t->capacity ? t->capacity + t->capacity / 2 : 64;
    int slots = t->slots ? t->slots : 128;
    while (slots < capacity + capacity / 2) slots *= 2; // at most two thirds of them are in use
    name *at = realloc(t->at, (size_t)capacity * sizeof *at);
    if (!at) return false;
    t->at = at;
    t->capacity = capacity;
    if (slots == t->slots) return true;
    int *slot = calloc((size_t)slots, sizeof *slot);
    if (!slot) return false;
    free(t->slot);
    t->slot = slot;
    t->slots = slots;
    for (int i = 0; i < t->count; ++i) *find_slot(t, t->at[i].text, strlen(t->at[i].text)) = i + 1;
    return true;
}

name *carom_names_add(names *t, const char *text, name_kind kind, int index, int line) {
    if (t->count == t->capacity && !grow(t)) return NULL;
    *find_slot(t, text, strlen(text)) = t->count + 1;
    name *n = &t->at[t->count++];
    *n = (name){.text = text, .kind = kind, .index = index, .line = line, .node = CAROM_NONE, .rate = CAROM_NONE};
    return n;
}

void carom_names_free(names *t) {
    free(t->at);
    free(t->slot);
    *t = (names){0};
}

bool carom_name_valid(const char *s) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    if (*s == 0 || !strchr(letters, *s)) return false;
    for (const char *c = s; *c; ++c) {
        if (strchr(letters, *c) || strchr("0123456789", *c)) continue;
        if (*c != '.' || c[1] == 0 || c[1] == '.') return false;
    }
    return true;
}

const char *carom_name_reserved(int i) { return i == 0 ? "t" : i == 1 ? "pi" : carom_key_functions[i - 2].name; }

const char *carom_name_kind(name_kind kind) {
    switch (kind) {
    case NAME_PARAMETER: return "a parameter";
    case NAME_COORDINATE: return "a coordinate";
    case NAME_LET: return "a let name";
    case NAME_HELPER: return "a name of exact";
    case NAME_QUANTITY: return "the name of a contact or constraint";
    case NAME_OUTPUT: return "an output";
    case NAME_VELOCITY: return "a velocity of a body";
    case NAME_STATE: return "a state";
    case NAME_POINT: return "a point of a flexible member";
    case NAME_TABLE: return "a table";
    case NAME_INPUT: return "an input or a signal of a controller";
    case NAME_MEMBER: return "a flexible member";
    }
    return "a name";
}

// section.c: "every EXPR", "impact NAME", "EXPR = VALUE [rising|falling]".
#include "base/option.h"
#include "sweep/sweep.h"
#include <ctype.h>
#include <carom/option.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *constraint_name(const void *user, int i) {
    const carom_model *m = user;
    return i < carom_model_count(m).contacts ? carom_model_constraint(m, carom_model_count(m).constraints + i) : NULL;
}

static char *copy_of(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

static carom_status read_impact(carom_sweep *s, const char *name, carom_error *err) {
    s->section.contact = carom_model_contact(s->model, name);
    s->section.name = copy_of(name);
    if (!s->section.name) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a sweep");
    if (s->section.contact != CAROM_NO_CONTACT) return CAROM_OK;
    const char *near = carom_nearest(name, constraint_name, s->model);
    return carom_fail(err, CAROM_BAD_INPUT, "`section impact`: the model has no contact '%.60s'%s%s%s", name,
                      near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

// The word at the end of text, if it is there; it is cut off.
static bool ends_in(char *text, const char *word) {
    size_t n = strlen(text);
    const size_t k = strlen(word);
    while (n > 0 && isspace((unsigned char)text[n - 1])) text[--n] = 0;
    if (n <= k || strcmp(text + n - k, word) != 0 || !isspace((unsigned char)text[n - k - 1])) return false;
    text[n - k] = 0;
    return true;
}

// The '=' that is not part of a comparison.
static char *equals(char *text) {
    for (char *c = text; *c; ++c)
        if (*c == '=' && c[1] != '=' && (c == text || !strchr("=<>!", c[-1]))) return c;
    return NULL;
}

static carom_status read_crossing(carom_sweep *s, char *text, carom_error *err) {
    s->section.direction = ends_in(text, "rising") ? 1 : ends_in(text, "falling") ? -1 : 0;
    char *sign = equals(text);
    if (!sign)
        return carom_fail(
            err, CAROM_BAD_INPUT,
            "`section '%.100s'`: write `every PERIOD`, `impact CONTACT`, or `NAME = VALUE rising` (or falling)", text);
    *sign = 0;
    const size_t room = strlen(text) + strlen(sign + 1) + 16;
    s->section.expression = malloc(room);
    if (!s->section.expression) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a sweep");
    snprintf(s->section.expression, room, "(%s) - (%s)", text, sign + 1);
    return CAROM_OK;
}

carom_status carom_section_read(carom_sweep *s, const char *text, carom_error *err) {
    if (!text) return CAROM_OK;
    char *copy = copy_of(text);
    if (!copy) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a sweep");
    char *at = copy + strspn(copy, " \t");
    carom_status status = CAROM_OK;
    const size_t n = strcspn(at, " \t");
    const char *rest = at + n + strspn(at + n, " \t");
    if (n == 5 && strncmp(at, "every", 5) == 0 && *rest) {
        s->section.kind = SECTION_EVERY;
        s->section.expression = copy_of(rest);
        if (!s->section.expression) status = carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a sweep");
    } else if (n == 6 && strncmp(at, "impact", 6) == 0 && *rest && !equals(at)) {
        s->section.kind = SECTION_IMPACT;
        status = read_impact(s, rest, err);
    } else {
        s->section.kind = SECTION_CROSSING;
        status = read_crossing(s, at, err);
    }
    free(copy);
    return status;
}

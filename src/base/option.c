// option.c: reading and writing described settings; the nearest known name.
#include "base/missing.h"
#include "base/number.h"
#include "base/option.h"
#include <carom/option.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int carom_option_count(const carom_option *list) {
    int n = 0;
    while (list && list[n].name) ++n;
    return n;
}

int carom_option_find(const carom_option *list, const char *name, size_t length) {
    for (int i = 0; list && list[i].name; ++i)
        if (strlen(list[i].name) == length && memcmp(list[i].name, name, length) == 0) return i;
    return -1;
}

void carom_option_defaults(const carom_option *list, double *value) {
    for (int i = 0; list && list[i].name; ++i) value[i] = list[i].fallback;
}

// The i-th word of "a|b|c": its length, and its start in *word; 0 after the last.
static size_t choice(const char *choices, int i, const char **word) {
    const char *at = choices;
    while (i-- > 0) {
        at = strchr(at, '|');
        if (!at) return 0;
        ++at;
    }
    *word = at;
    return strcspn(at, "|");
}

static carom_status read_choice(const carom_option *o, const char *text, double *value, carom_error *err) {
    const char *word = NULL;
    size_t length = 0;
    for (int i = 0; (length = choice(o->choices, i, &word)) > 0; ++i) {
        if (strlen(text) == length && memcmp(text, word, length) == 0) {
            *value = i;
            return CAROM_OK;
        }
    }
    return carom_fail(err, CAROM_BAD_INPUT, "option %s: expected one of %s, got '%.60s'", o->name, o->choices, text);
}

// A whole number, or a word that stands for one above all of them.
static carom_status read_integer(const carom_option *o, const char *text, double *value, carom_error *err) {
    carom_error other;
    if (read_choice(o, text, value, &other) == CAROM_OK) return *value += o->high + 1, CAROM_OK;
    char *end = NULL;
    const double x = carom_number(text, &end);
    if (end == text || *end || x != floor(x) || x < o->low || x > o->high)
        return carom_fail(err, CAROM_BAD_INPUT, "option %s: expected an integer from %g to %g or %s, got '%.60s'",
                          o->name, o->low, o->high, o->choices, text);
    *value = x;
    return CAROM_OK;
}

carom_status carom_option_read(const carom_option *o, const char *text, double *value, carom_error *err) {
    if (!o || !text) return CAROM_MISSING(err);
    if (o->kind == CAROM_CHOICE) return read_choice(o, text, value, err);
    if (o->kind == CAROM_INTEGER && o->choices) return read_integer(o, text, value, err);
    if (o->derived && strcmp(text, o->derived) == 0) return *value = NAN, CAROM_OK;
    char *end = NULL;
    const double x = carom_number(text, &end);
    if (end == text || *end || !isfinite(x))
        return carom_fail(err, CAROM_BAD_INPUT, "option %s: expected a number, got '%.60s'", o->name, text);
    if (o->kind == CAROM_INTEGER && x != floor(x))
        return carom_fail(err, CAROM_BAD_INPUT, "option %s: expected an integer, got %.60s", o->name, text);
    if (x < o->low || x > o->high || (o->open_high && x >= o->high))
        return carom_fail(err, CAROM_BAD_INPUT, "option %s: %.60s is outside [%g, %g%c", o->name, text, o->low, o->high,
                          o->open_high ? ')' : ']');
    *value = x;
    return CAROM_OK;
}

void carom_option_write(const carom_option *o, double value, char *text, size_t size) {
    if (!o || !text) return;
    const char *word = NULL;
    size_t length = 0;
    const double index = o->kind == CAROM_CHOICE ? value : value - o->high - 1;
    if (o->kind != CAROM_REAL && o->choices && index >= 0 && (length = choice(o->choices, (int)index, &word)) > 0)
        snprintf(text, size, "%.*s", (int)length, word);
    else if (isnan(value) && o->derived)
        snprintf(text, size, "%s", o->derived);
    else
        carom_format(text, size, "%.15g", value);
}

// Edits between two words (insert, delete, replace, swap of neighbours), capped at the size of the table.
static int distance(const char *a, const char *b) {
    enum { MOST = 64 };
    int row[3][MOST + 1];
    const int m = (int)strlen(a), n = (int)strlen(b);
    if (m > MOST || n > MOST) return MOST;
    for (int j = 0; j <= n; ++j) row[0][j] = j;
    for (int i = 1; i <= m; ++i) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *older = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= n; ++j) {
            const int same = carom_lower((unsigned char)a[i - 1]) == carom_lower((unsigned char)b[j - 1]);
            int best = last[j - 1] + (same ? 0 : 1);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && older[j - 2] + 1 < best)
                best = older[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[m % 3][n];
}

static int common_start(const char *a, const char *b) {
    int n = 0;
    while (a[n] && carom_lower((unsigned char)a[n]) == carom_lower((unsigned char)b[n])) ++n;
    return n;
}

// More than half of the letters are there, or all but one: 'rate' does not mean 'at'.
static bool alike(const char *a, const char *b, int d) {
    const int m = (int)strlen(a), n = (int)strlen(b), longer = m > n ? m : n;
    return d <= 1 || 2 * d < longer;
}

// Of names equally near it is the one that starts alike: 'rat' means 'rate', not 'at'.  The start of a name, four
// letters or more, is nearer than two edits and farther than one; of several names that start so it is the shortest.
// Between names of one letter there is nothing to guess.
const char *carom_nearest(const char *word, const char *(*next)(const void *user, int i), const void *user) {
    if (!word || !next) return NULL;
    const char *best = NULL;
    int least = 2 * (1 + (int)strlen(word) / 3), start = -1; // half edits: a third of the letters may be wrong
    for (int i = 0;; ++i) {
        const char *candidate = next(user, i);
        if (!candidate) return best;
        const int edits = distance(word, candidate), same = common_start(word, candidate);
        const bool begins = same >= 4 && !word[same], letters = strlen(word) < 2 && strlen(candidate) < 2;
        const int d = begins && edits > 1 ? 3 : 2 * edits;
        const bool shorter = best && begins && same == start && strlen(candidate) < strlen(best);
        if ((letters && d > 0) || (!begins && !alike(word, candidate, edits)) || d > least ||
            (d == least && same <= start && !shorter))
            continue;
        least = d, start = same;
        best = candidate;
    }
}

// text.h: small questions about texts.
#pragma once
#include <stdbool.h>
#include <string.h>

static inline bool carom_ends(const char *text, const char *ending) {
    const size_t n = strlen(text), k = strlen(ending);
    return n >= k && strcmp(text + n - k, ending) == 0;
}

/// Characters of names, whatever the locale; with dots as names of parts have them.
static inline bool carom_is_digit(int c) { return c >= '0' && c <= '9'; }
static inline bool carom_is_letter(int c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static inline bool carom_in_word(int c) { return carom_is_letter(c) || carom_is_digit(c); }
static inline bool carom_in_name(int c) { return carom_in_word(c) || c == '.'; }

/// Entries of a NULL-terminated list; NULL has none.
static inline int carom_list_length(const char *const *list) {
    int n = 0;
    while (list && list[n]) ++n;
    return n;
}

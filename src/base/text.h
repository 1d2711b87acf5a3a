// text.h: small questions about texts.
#pragma once
#include <stdbool.h>
#include <string.h>

static inline bool carom_ends(const char *text, const char *ending) {
    const size_t n = strlen(text), k = strlen(ending);
    return n >= k && strcmp(text + n - k, ending) == 0;
}

/// Entries of a NULL-terminated list; NULL has none.
static inline int carom_list_length(const char *const *list) {
    int n = 0;
    while (list && list[n]) ++n;
    return n;
}

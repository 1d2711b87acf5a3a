// grow.c: see grow.h.
#include "base/grow.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool carom_grow(void *list, size_t n, size_t size) {
    enum { FIRST = 8 }; // chosen: short lists are allocated once, and waste little
    if (n > 0 && (n < FIRST || (n & (n - 1)) != 0)) return true;
    const size_t room = n > 0 ? 2 * n : FIRST;
    void *old, *more;
    memcpy(&old, list, sizeof old); // whatever it points to
    more = n <= SIZE_MAX / 2 / size ? realloc(old, room * size) : NULL;
    if (more) memcpy(list, &more, sizeof more);
    return more != NULL;
}

void carom_text_append(void *text, const char *from, size_t length) {
    carom_text *b = text;
    if (b->n + length + 1 > b->room && !b->failed) {
        const size_t room = 2 * (b->n + length) + 256;
        char *more = realloc(b->at, room);
        b->failed = !more;
        if (more) b->at = more, b->room = room;
    }
    if (b->failed) return;
    if (length > 0) memcpy(b->at + b->n, from, length);
    b->at[b->n += length] = 0;
}

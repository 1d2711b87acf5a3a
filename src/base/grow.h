// grow.h: lists that grow, and text that is appended.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Room for one more behind the n entries of a list (an lvalue, NULL at first) that grew by this alone.  False: no
/// memory; the list is as it was.
#define CAROM_GROW(list, n) carom_grow(&(list), (size_t)(n), sizeof *(list))

/// The same for entries of any size; `list` is the address of the pointer.  The room doubles when n is a power of two:
/// nobody keeps it.
bool carom_grow(void *list, size_t n, size_t size);

/// Text with a NUL behind it, not counted in n.  failed: no memory, and what came since is lost.  `at` is to be freed.
typedef struct carom_text { char *at; size_t n, room; bool failed; } carom_text;

/// carom_text_append(b, "...", length); the user of functions that write text in pieces.
void carom_text_append(void *text, const char *from, size_t length);

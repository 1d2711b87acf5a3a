// sized.h: calls from programs that were compiled with another version of carom, whose structs may be shorter or
// longer.
//
// Structs grow at their end only, and a zero in a new field of a definition means what the version before did.  A
// definition is copied into one of today's size; a result is computed in today's size, and the program gets the part
// that it knows.  New fields of results therefore own no memory that carom_..._free() would have to find in them.
#pragma once
#include <carom/status.h>
#include <string.h>

/// As much of `from` as fits, and zeros behind it.
static inline void carom_resize(void *to, size_t size, const void *from, size_t known) {
    const size_t n = size < known ? size : known;
    memcpy(to, from, n);
    memset((char *)to + n, 0, size - n);
}

/// OBJECT *NAME(const DEF *def, carom_error *err)
#define CAROM_SIZED_CREATE(NAME, OBJECT, DEF)                                                                          \
    OBJECT *NAME##_sized(size_t size, const DEF *def, carom_error *err) {                                              \
        if (!def || size == sizeof *def) return NAME(def, err);                                                        \
        DEF whole;                                                                                                     \
        carom_resize(&whole, sizeof whole, def, size);                                                                 \
        return NAME(&whole, err);                                                                                      \
    }

/// carom_status NAME(OUT *x, const DEF *def, carom_error *err)
#define CAROM_SIZED_FIND(NAME, OUT, DEF)                                                                               \
    carom_status NAME##_sized(size_t out, size_t in, OUT *x, const DEF *def, carom_error *err) {                       \
        if (!x || !def || (out == sizeof *x && in == sizeof *def)) return NAME(x, def, err);                           \
        DEF whole;                                                                                                     \
        OUT all = {0};                                                                                                 \
        carom_resize(&whole, sizeof whole, def, in);                                                                   \
        const carom_status status = NAME(&all, &whole, err);                                                           \
        carom_resize(x, out, &all, sizeof all);                                                                        \
        return status;                                                                                                 \
    }

/// void NAME(OUT *x)
#define CAROM_SIZED_FREE(NAME, OUT)                                                                                    \
    void NAME##_sized(size_t size, OUT *x) {                                                                           \
        if (!x || size == sizeof *x) {                                                                                 \
            NAME(x);                                                                                                   \
            return;                                                                                                    \
        }                                                                                                              \
        OUT all;                                                                                                       \
        carom_resize(&all, sizeof all, x, size);                                                                       \
        NAME(&all);                                                                                                    \
        carom_resize(x, size, &all, sizeof all);                                                                       \
    }

/// const VIEW *NAME_view(PARAMETERS): what NAME(ARGUMENTS) returns, until the next call in the same thread.
#define CAROM_SIZED_VIEW(NAME, VIEW, PARAMETERS, ARGUMENTS)                                                            \
    const VIEW *NAME##_view PARAMETERS {                                                                               \
        static _Thread_local VIEW view;                                                                                \
        view = NAME ARGUMENTS;                                                                                         \
        return &view;                                                                                                  \
    }

// types.h: values that several headers share, and names of objects.
#pragma once
#include <carom/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_system carom_system; // carom/system.h
typedef struct carom_scheme carom_scheme; // carom/scheme.h
typedef struct carom_mech carom_mech;     // carom/mech.h

typedef enum carom_event_kind {
    CAROM_IMPACT,
    CAROM_CLOSE,
    CAROM_OPEN,
    CAROM_STICK,
    CAROM_SLIP,
    CAROM_ACCUMULATION
} carom_event_kind;

typedef struct carom_event {
    double t;
    long long contact; // 0 .. nc-1; one of a dynamic contact list in a simulation: carom_system_list.number_of less ne
    carom_event_kind kind;
    double before, after, impulse; // normal velocities and impulse (tangential velocities for stick and slip)
} carom_event;

/// A file that the mechanism names, as text: a matrix (Matrix Market), or a table (then `name` is the file that the
/// model names).  A model opens no files itself.
typedef struct carom_matrix_text {
    const char *name, *text;
    size_t length;
    const char *file; // for messages; NULL: the name
} carom_matrix_text;

#ifdef __cplusplus
}
#endif

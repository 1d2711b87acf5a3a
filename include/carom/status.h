// status.h: error reporting.
//
// A function that can fail returns a carom_status.  The message is written where the failure is detected, into a
// carom_error that the caller owns: where, what is wrong with which value, what to do.  The library never prints,
// never exits and keeps no global state.
//
// A missing argument (NULL where a header does not allow it) is an error, not a crash.  Functions that return a
// carom_status return CAROM_BAD_INPUT.  Functions that create return NULL, and err has the message.  Other functions
// have no effect and return false, 0, NULL, NaN or a zeroed struct.  err is always optional; functions that destroy,
// free or close accept NULL.  Exceptions are the functions of inner loops, which check nothing: those of arena.h,
// matrix.h, flex.h, system.h, problem.h, scheme.h and implicit.h.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum carom_status {
    CAROM_OK = 0,
    CAROM_RETRY,         // this step failed; a smaller one may succeed
    CAROM_BAD_INPUT,     // a model, option or argument is wrong
    CAROM_NO_MEMORY,
    CAROM_SINGULAR,      // a matrix that must be regular is not
    CAROM_NOT_CONVERGED, // an iteration gave up, also at the smallest step
    CAROM_USER,          // a callback of the user's model failed
    CAROM_IO,            // a file could not be read or written
    CAROM_STOPPED,       // stop requested by the caller
    CAROM_UNSUPPORTED,   // the scheme does not support a feature of the model; another one may
    CAROM_END            // no step was taken: the run is at its end
} carom_status;

typedef struct carom_error {
    carom_status code;
    char text[960]; // one message: where, what, remedy
} carom_error;

/// Fill *err (NULL is allowed) and return code, so that a caller can write `return carom_fail(...)`.
carom_status carom_fail(carom_error *err, carom_status code, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/// Takes a long text piece by piece: C and CUDA files, models.
typedef void carom_write_text(void *user, const char *text, size_t length);

/// Propagate a failure.  A run owns one block of memory, so that nothing needs freeing on the way.
#define CAROM_TRY(call)                                                                            \
    do {                                                                                           \
        carom_status status_ = (call);                                                             \
        if (status_ != CAROM_OK) return status_;                                                   \
    } while (0)

#ifdef __cplusplus
}
#endif

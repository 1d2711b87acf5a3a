// compile.h: a model's expressions as machine code.
//
// The tapes of a model are written as one C file, compiled with $CC or cc into a shared object, and loaded.  The
// results are the same bits as the interpreter's.  Compiled files are kept in the user's cache directory
// ($XDG_CACHE_HOME/carom or ~/.cache/carom), named by a hash of the expressions, the compiler, its flags and carom's
// version.  A directory or file that belongs to another user, or that others can write to, is never used.
#pragma once
#include <carom/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum carom_compile_mode {
    CAROM_COMPILE_OFF,  // interpret
    CAROM_COMPILE_AUTO, // compile if it saves time, or if it was compiled before; interpret if that fails
    CAROM_COMPILE_ON    // compile; a failure is an error
} carom_compile_mode;

/// Attach compiled code to the model, which owns it from then on.  `evaluations`: how often the equations of motion
/// will be evaluated, roughly, for CAROM_COMPILE_AUTO.  *compiled (may be NULL): is compiled code in use? CAROM_IO,
/// CAROM_BAD_INPUT only with CAROM_COMPILE_ON: no compiler, a compiler that failed, no place for files.
carom_status carom_model_compile(carom_model *m, carom_compile_mode mode, double evaluations, bool *compiled,
                                 carom_error *err);

#ifdef __cplusplus
}
#endif

#ifdef CAROM_INSIDE
#include "compile/more.h"
#endif

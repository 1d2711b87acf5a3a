// native.h (private): the compiled model of an FMU: a shared object among its resources, for the machine of the export;
// in a library that is built from the FMU's sources, a part of it.
#pragma once
#include "expr/expr.h"

#define FMU_NATIVE_SOURCE "src/fmu/model.c" // written by the export
#if defined(__aarch64__)
#define FMU_NATIVE_OBJECT "model-aarch64-linux.so"
#else
#define FMU_NATIVE_OBJECT "model-x86_64-linux.so"
#endif

/// Compiled tapes in the order of carom_model_tapes(), then NULL; NULL: there are none.  *code: for
/// carom_fmu_native_close(), may be NULL.
const carom_native *const *carom_fmu_native(const char *folder, void **code);
void carom_fmu_native_close(void *code);

// native.c: the compiled model from the resources of an FMU.
#include "expr/expr.h"
#include "fmu/native.h"
#include <dlfcn.h>
#include <stdio.h>

const carom_native *const *carom_fmu_native(const char *folder, void **code) {
    char path[4096];
    *code = NULL;
    if (snprintf(path, sizeof path, "%s/" FMU_NATIVE_OBJECT, folder) >= (int)sizeof path) return NULL;
    *code = dlopen(path, RTLD_NOW | RTLD_LOCAL); // not there: another machine, or the model was not compiled
    return *code ? dlsym(*code, "carom_native_tapes") : NULL;
}

void carom_fmu_native_close(void *code) { if (code) dlclose(code); }

// exported.h: the C file of a model, compiled strictly and loaded.
#pragma once
#include "model_text.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void exported(double t, const double *q, const double *v, const double *p, double *out);

static inline void write_text(void *user, const char *text, size_t length) {
    assert_int_equal(fwrite(text, 1, length, user), length);
}

/// Writes FILE.c and FILE.so into the build's folder of tests, with this level of optimisation; name: of the model, in
/// messages.  Close the answer with dlclose.
static inline void *load_exported(const carom_model *m, const char *text, const char *file, const char *level,
                                  const char *name) {
    char source[500], object[500], command[1300];
    carom_error err = {0};
    snprintf(source, sizeof source, CAROM_BINARY_DIR "/test/%s.c", file);
    snprintf(object, sizeof object, CAROM_BINARY_DIR "/test/%s.so", file);
    snprintf(command, sizeof command,
             "cc -std=c17 -Wall -Wextra -Werror %s -ffp-contract=off -fPIC -shared -o '%s' '%s' -lm", level, object,
             source);
    FILE *f = fopen(source, "w");
    assert_non_null(f);
    if (carom_model_write_c(m, "model", text, strlen(text), write_text, f, &err) != CAROM_OK)
        fail_msg("%s: %s", name, err.text);
    assert_int_equal(fclose(f), 0);
    unlink(object);
    if (system(command) != 0) fail_msg("the C file of %s does not compile", name);
    void *code = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!code) fail_msg("%s", dlerror());
    return code;
}

// lapack.c: see lapack.h.
#include "dynamics/lapack.h"
#include <dlfcn.h>
#include <string.h>

// The build says by which names the dynamic linker finds the libraries that it has found.
#ifndef CAROM_LAPACK_FILE
#define CAROM_LAPACK_FILE NULL
#endif
#ifndef CAROM_ARPACK_FILE
#define CAROM_ARPACK_FILE NULL
#endif

#ifndef CAROM_NLOPT_FILE
#define CAROM_NLOPT_FILE NULL
#endif

typedef struct library { const char *file, *name, *finds, *package; } library;

// n functions by their names.  What is loaded stays.
static carom_status load(const library *l, const char *const *name, size_t n, void *to, carom_error *err) {
    if (!l->file)
        return carom_fail(err, CAROM_UNSUPPORTED,
                          "this carom was built without %s, which finds %s (Debian: %s); install it and build again",
                          l->name, l->finds, l->package);
    void *loaded = dlopen(l->file, RTLD_LAZY | RTLD_LOCAL);
    if (!loaded)
        return carom_fail(err, CAROM_UNSUPPORTED,
                          "%s, which finds %s, cannot be loaded: %.400s; install it (Debian: %s)", l->name, l->finds,
                          dlerror(), l->package);
    for (size_t i = 0; i < n; ++i) {
        void *function = dlsym(loaded, name[i]);
        if (!function)
            return carom_fail(err, CAROM_UNSUPPORTED,
                              "%s has no function %s; install another version of %s (Debian: %s)", l->file, name[i],
                              l->name, l->package);
        memcpy((char *)to + i * sizeof function, &function, sizeof function); // ISO C does not convert it
    }
    return CAROM_OK;
}

carom_status carom_lapack_load(carom_lapack *to, carom_error *err) {
    static const library lapack = {CAROM_LAPACK_FILE, "LAPACK", "modes and multipliers", "liblapack-dev"};
    static const char *const name[] = {"dgesvd_", "dgesv_", "dgeev_"};
    return load(&lapack, name, 3, to, err);
}

carom_status carom_arpack_load(carom_arpack *to, carom_error *err) {
    static const library arpack = {CAROM_ARPACK_FILE, "ARPACK", "modes of large models", "libarpack2-dev"};
    static const char *const name[] = {"dnaupd_", "dneupd_"};
    return load(&arpack, name, 2, to, err);
}

carom_status carom_nlopt_load(carom_nlopt *to, carom_error *err) {
    static const library nlopt = {CAROM_NLOPT_FILE, "NLopt", "optima", "libnlopt-dev"};
    static const char *const name[] = {"nlopt_create",
                                       "nlopt_destroy",
                                       "nlopt_optimize",
                                       "nlopt_set_min_objective",
                                       "nlopt_add_inequality_mconstraint",
                                       "nlopt_add_equality_mconstraint",
                                       "nlopt_set_lower_bounds1",
                                       "nlopt_set_upper_bounds1",
                                       "nlopt_set_xtol_abs1",
                                       "nlopt_set_ftol_rel",
                                       "nlopt_set_maxeval",
                                       "nlopt_set_initial_step1",
                                       "nlopt_force_stop",
                                       "nlopt_algorithm_from_string"};
    return load(&nlopt, name, sizeof name / sizeof *name, to, err);
}

// sized.c: dynamics for programs that were compiled with another version (base/sized.h).
#include "base/sized.h"
#include <carom/dynamics.h>

CAROM_SIZED_FREE(carom_equilibrium_free, carom_equilibrium)
CAROM_SIZED_FREE(carom_modes_free, carom_modes)
CAROM_SIZED_FIND(carom_fit_find, carom_fit, carom_fit_def)
CAROM_SIZED_FREE(carom_fit_free, carom_fit)
CAROM_SIZED_FIND(carom_gradient_find, carom_gradient, carom_gradient_def)
CAROM_SIZED_FREE(carom_gradient_free, carom_gradient)
CAROM_SIZED_FIND(carom_optimise, carom_optimum, carom_optimise_def)
CAROM_SIZED_FREE(carom_optimum_free, carom_optimum)
CAROM_SIZED_FIND(carom_orbit_find, carom_orbit, carom_orbit_def)
CAROM_SIZED_FREE(carom_orbit_free, carom_orbit)
CAROM_SIZED_FIND(carom_basins_find, carom_basins, carom_basins_def)
CAROM_SIZED_FREE(carom_basins_free, carom_basins)
CAROM_SIZED_FIND(carom_lyapunov_find, carom_lyapunov, carom_lyapunov_def)
CAROM_SIZED_FREE(carom_lyapunov_free, carom_lyapunov)
CAROM_SIZED_FREE(carom_branch_free, carom_branch)
CAROM_SIZED_FIND(carom_locus_run, carom_locus, carom_locus_def)
CAROM_SIZED_FREE(carom_locus_free, carom_locus)

carom_status carom_equilibrium_find_sized(size_t size, carom_equilibrium *x, const carom_model *m, const double *q,
                                   carom_error *err) {
    if (!x || size == sizeof *x) return carom_equilibrium_find(x, m, q, err);
    carom_equilibrium all = {0};
    const carom_status status = carom_equilibrium_find(&all, m, q, err);
    carom_resize(x, size, &all, sizeof all);
    return status;
}

carom_status carom_equilibrium_range_sized(size_t size, const carom_model *m, const carom_equilibrium *x,
                                           int coordinate, double range[2], carom_error *err) {
    carom_equilibrium all;
    if (x) carom_resize(&all, sizeof all, x, size);
    return carom_equilibrium_range(m, x ? &all : NULL, coordinate, range, err);
}

carom_status carom_modes_find_sized(size_t out, size_t in, carom_modes *x, const carom_model *m,
                                    const carom_modes_def *def, carom_error *err) {
    carom_modes_def whole;
    if (def) carom_resize(&whole, sizeof whole, def, in);
    if (!x || out == sizeof *x) return carom_modes_find(x, m, def ? &whole : NULL, err);
    carom_modes all = {0};
    const carom_status status = carom_modes_find(&all, m, def ? &whole : NULL, err);
    carom_resize(x, out, &all, sizeof all);
    return status;
}

carom_status carom_modes_play_sized(size_t out, size_t in, const carom_modes *x, int k, const carom_play_def *def,
                                    carom_error *err) {
    if (!x || !def) return carom_modes_play(x, k, def, err);
    carom_modes all;
    carom_play_def whole;
    carom_resize(&all, sizeof all, x, out);
    carom_resize(&whole, sizeof whole, def, in);
    return carom_modes_play(&all, k, &whole, err);
}

carom_status carom_orbit_record_sized(size_t out, size_t in, const carom_orbit *x, const carom_orbit_def *def,
                                      const char *file, carom_error *err) {
    if (!x || !def) return carom_orbit_record(x, def, file, err);
    carom_orbit all;
    carom_orbit_def whole;
    carom_resize(&all, sizeof all, x, out);
    carom_resize(&whole, sizeof whole, def, in);
    return carom_orbit_record(&all, &whole, file, err);
}

// A branch is continued: what the program has of it comes in, and goes out.
carom_status carom_follow_run_sized(size_t out, size_t in, carom_branch *x, const carom_follow_def *def,
                                    carom_error *err) {
    if (!x || !def || (out == sizeof *x && in == sizeof *def)) return carom_follow_run(x, def, err);
    carom_branch all;
    carom_follow_def whole;
    carom_resize(&all, sizeof all, x, out);
    carom_resize(&whole, sizeof whole, def, in);
    const carom_status status = carom_follow_run(&all, &whole, err);
    carom_resize(x, out, &all, sizeof all);
    return status;
}

carom_status carom_follow_write_sized(size_t out, size_t in, const carom_branch *x, const carom_follow_def *def,
                                      const char *file, carom_error *err) {
    if (!x || !def) return carom_follow_write(x, def, file, err);
    carom_branch all;
    carom_follow_def whole;
    carom_resize(&all, sizeof all, x, out);
    carom_resize(&whole, sizeof whole, def, in);
    return carom_follow_write(&all, &whole, file, err);
}

carom_status carom_follow_read_sized(size_t out, size_t in, carom_branch *x, const carom_follow_def *def,
                                     const char *file, carom_error *err) {
    carom_follow_def whole;
    if (def) carom_resize(&whole, sizeof whole, def, in);
    if (!x || out == sizeof *x) return carom_follow_read(x, def ? &whole : NULL, file, err);
    carom_branch all = {0};
    const carom_status status = carom_follow_read(&all, def ? &whole : NULL, file, err);
    carom_resize(x, out, &all, sizeof all);
    return status;
}

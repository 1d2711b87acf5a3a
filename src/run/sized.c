// sized.c: settings of programs that were compiled with another version (base/sized.h).
#include "base/sized.h"
#include <carom/run.h>

CAROM_SIZED_VIEW(carom_run_nothing, carom_run_given, (void), ())

carom_status carom_run_resolve_sized(size_t out, size_t in, carom_run *run, const carom_model *m,
                                     const carom_run_given *given, carom_error *err) {
    if (!run || !given || (out == sizeof *run && in == sizeof *given)) return carom_run_resolve(run, m, given, err);
    carom_run_given whole;
    carom_run all = {0};
    carom_resize(&whole, sizeof whole, given, in);
    const carom_status status = carom_run_resolve(&all, m, &whole, err);
    carom_resize(run, out, &all, sizeof all);
    return status;
}

CAROM_SIZED_FREE(carom_run_free, carom_run)

const carom_sim_def *carom_run_sim_view(size_t size, const carom_run *run, const carom_model *m) {
    static _Thread_local carom_run all; // what the definition refers to lives longer than this call
    static _Thread_local carom_sim_def view;
    const bool same = !run || size == sizeof *run;
    if (!same) carom_resize(&all, sizeof all, run, size);
    view = carom_run_sim(same ? run : &all, m);
    return &view;
}

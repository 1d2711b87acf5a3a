// sized.c: sweeps of programs that were compiled with another version (base/sized.h).
#include "base/sized.h"
#include <carom/sweep.h>

CAROM_SIZED_VIEW(carom_sweep_default, carom_sweep_def, (void), ())
CAROM_SIZED_CREATE(carom_sweep_create, carom_sweep, carom_sweep_def)

carom_status carom_sweep_run_sized(size_t size, carom_sweep *s, const carom_sweep_watch *watch, carom_error *err) {
    carom_sweep_watch whole;
    if (watch) carom_resize(&whole, sizeof whole, watch, size);
    return carom_sweep_run(s, watch ? &whole : NULL, err);
}

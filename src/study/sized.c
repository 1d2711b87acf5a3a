// sized.c: comparisons of programs that were compiled with another version (base/sized.h).
#include "base/sized.h"
#include <carom/estimate.h>
#include <carom/study.h>

CAROM_SIZED_VIEW(carom_compare_default, carom_compare_def, (void), ())
CAROM_SIZED_CREATE(carom_compare_create, carom_compare, carom_compare_def)
CAROM_SIZED_CREATE(carom_estimate_create, carom_estimate, carom_estimate_def)
CAROM_SIZED_VIEW(carom_estimate_line_at, carom_estimate_line, (const carom_estimate *e, int i), (e, i))
CAROM_SIZED_VIEW(carom_compare_row_at, carom_compare_row, (const carom_compare *c, int scheme, int run),
                 (c, scheme, run))

carom_status carom_compare_norm_sized(size_t size, carom_compare_def *def, const char *name, carom_error *err) {
    if (!def || size == sizeof *def) return carom_compare_norm(def, name, err);
    carom_compare_def whole;
    carom_resize(&whole, sizeof whole, def, size);
    const carom_status status = carom_compare_norm(&whole, name, err);
    carom_resize(def, size, &whole, sizeof whole);
    return status;
}

carom_status carom_compare_run_sized(size_t size, carom_compare *c, const carom_compare_watch *watch,
                                     carom_error *err) {
    carom_compare_watch whole;
    if (watch) carom_resize(&whole, sizeof whole, watch, size);
    return carom_compare_run(c, watch ? &whole : NULL, err);
}

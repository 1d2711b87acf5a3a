// schemes.c: the list of all schemes.
#include "scheme/schemes.h"
#include "base/sized.h"
#include <carom/event.h>
#include <stddef.h>

static const carom_scheme *const all[] = {
#define CAROM_SCHEME(scheme) &scheme,
#include "scheme/schemes.def"
#undef CAROM_SCHEME
    &carom_scheme_event_driven,
    NULL,
};

const carom_scheme *const *carom_schemes(void) { return all; }

carom_scheme_line carom_scheme_line_at(int i) {
    const carom_scheme *const *all = carom_schemes();
    for (int k = 0; all[k] && i >= 0; ++k)
        if (k == i)
            return (carom_scheme_line){all[k]->name, all[k]->about, all[k]->order, all[k]->controls_own_steps,
                                       all[k]->options};
    return (carom_scheme_line){.name = NULL};
}

CAROM_SIZED_VIEW(carom_scheme_line_at, carom_scheme_line, (int i), (i))

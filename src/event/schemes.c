// schemes.c: the list of all schemes.
#include <carom/event.h>
#include <stddef.h>

#define CAROM_SCHEME(scheme) extern const carom_scheme scheme;
#include "scheme/schemes.def"
#undef CAROM_SCHEME

static const carom_scheme *const all[] = {
#define CAROM_SCHEME(scheme) &scheme,
#include "scheme/schemes.def"
#undef CAROM_SCHEME
    &carom_scheme_event_driven,
    NULL,
};

const carom_scheme *const *carom_schemes(void) { return all; }

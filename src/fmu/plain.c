// plain.c: schemes and sparse factors of an FMU that is built without SUNDIALS and SuiteSparse, and what its sources
// lack.
#include "scheme/schemes.h"
#include <carom/event.h>
#include <carom/sparse.h>
#include <stddef.h>

static const carom_scheme *const all[] = {
#define CAROM_SCHEME(scheme) &scheme,
#include "scheme/schemes.def"
#undef CAROM_SCHEME
    NULL,
};

const carom_scheme *const *carom_schemes(void) { return all; }

const carom_direct *carom_direct_klu(void) { return NULL; } // matrices are dense, if they are not too large

// registry.c: the list of schemes.
#include "scheme/registry.h"
#include "scheme/schemes.h"
#include <string.h>

static const carom_scheme *const all[] = {
#define CAROM_SCHEME(scheme) &scheme,
#include "scheme/schemes.def"
#undef CAROM_SCHEME
};

const carom_scheme *carom_scheme_at(int i) {
    return i >= 0 && i < (int)(sizeof all / sizeof *all) ? all[i] : NULL;
}

const carom_scheme *carom_scheme_find(const char *name) {
    for (int i = 0; name && carom_scheme_at(i); ++i)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

// find_scheme.c: a scheme by its name, whatever schemes a program was built with.
#include <carom/event.h>
#include <string.h>

const carom_scheme *carom_schemes_find(const char *name) {
    if (!name) return NULL;
    const carom_scheme *const *s = carom_schemes();
    while (*s && strcmp((*s)->name, name) != 0) ++s;
    return *s;
}

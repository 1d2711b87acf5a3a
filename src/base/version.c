// version.c: which carom was built.
#include <carom/version.h>

const char *carom_version(void) {
    return CAROM_VERSION;
}

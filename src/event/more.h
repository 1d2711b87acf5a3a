// more.h: schemes by name, for the parts of carom around them.
#pragma once
#include <carom/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The one of that name; NULL: there is none.
const carom_scheme *carom_schemes_find(const char *name);

#ifdef __cplusplus
}
#endif

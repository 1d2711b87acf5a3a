// more.h: words of the command line.
#pragma once
#include <carom/compile.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Parse "off", "auto" or "on"; false if the name is unknown.
bool carom_compile_mode_find(const char *name, carom_compile_mode *mode);

#ifdef __cplusplus
}
#endif

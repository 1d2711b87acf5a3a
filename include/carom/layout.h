// layout.h: sizes of public structs, for languages that mirror them: a mirror of another size is stale.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes of the struct of that name ("carom_now"); 0: not one of those that can be asked for.
size_t carom_layout_size(const char *name);

#ifdef __cplusplus
}
#endif

// layout.h: sizes of public structs, so that bindings in other languages can detect a mismatch.
#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Bytes of the struct of that name ("carom_now"); 0: unknown.
size_t carom_layout_size(const char *name);

#ifdef __cplusplus
}
#endif

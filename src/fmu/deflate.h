// deflate.h (private): compression as zip files have it (RFC 1951).
#pragma once
#include <stddef.h>

/// One block of fixed codes; to be freed.  *out_size: its bytes.  NULL: no memory, or it would be no shorter.
unsigned char *carom_deflate(const unsigned char *in, size_t size, size_t *out_size);

// zip.h (private): a zip file, of files that are deflated, or stored where that is no shorter.
#pragma once
#include <carom/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// packed: bytes in the zip file; size: stored
typedef struct zip_entry { char *name; uint32_t crc, size, packed, at; } zip_entry;
typedef struct zip { FILE *f; zip_entry *list; size_t n; uint64_t used; bool failed; } zip; // zeros and f: an empty one

void carom_zip_add(zip *z, const char *name, const void *bytes, size_t size);
/// The list of contents; frees what z holds.  False: something could not be written, or all is larger than 4 GB.
bool carom_zip_finish(zip *z);

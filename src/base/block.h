// block.h (private): the block behind an arena.
#pragma once
#include <carom/arena.h>
#include <stdlib.h>
#include <string.h>

/// An arena that has counted gets its block, of zeros, and is empty again; false: no memory.  mem->base is to be freed.
static inline bool carom_arena_begin(carom_arena *mem) {
    const size_t size = (mem->used + 127) & ~(size_t)63;
    *mem = (carom_arena){.base = aligned_alloc(64, size), .size = size};
    if (mem->base) memset(mem->base, 0, size);
    return mem->base != NULL;
}

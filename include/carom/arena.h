// arena.h: one block of memory, carved once.
//
// Create measures, allocates one block, carves it.  A carve function describes its memory once and
// runs twice: first against an empty arena (base NULL), which only counts, then for real.  The step
// loop asks the heap for nothing.
#pragma once
#include <stddef.h>

typedef struct carom_arena {
    unsigned char *base; // NULL while counting
    size_t used, size;   // bytes
} carom_arena;

/// Bytes aligned to 64; NULL while counting.  The memory is zero when the block was.
void *carom_carve_bytes(carom_arena *mem, size_t bytes);
double *carom_carve(carom_arena *mem, size_t count);
int *carom_carve_ints(carom_arena *mem, size_t count);

// arena.h: one block of memory, allocated once.
//
// Creation has two passes over the same allocate function: the first runs on an empty arena (base NULL) and only counts
// bytes, the second hands out memory.  A simulation is one block, and its step loop performs no heap allocation; the
// one exception is a list of contacts that outgrows its block: it gets a larger one, between steps.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// An external resource owned by the arena, and its release function.
typedef struct carom_resource {
    struct carom_resource *next;
    void (*release)(void *object);
    void *object;
} carom_resource;

typedef struct carom_arena {
    unsigned char *base; // NULL while counting
    size_t used, size;   // bytes
    carom_resource *resources;
    bool failed;         // a resource could not be created
    size_t *ends;        // end offset of each allocation, in order; NULL: not requested
    int pieces, capacity; // number of allocations; capacity
} carom_arena;

/// Bytes aligned to 64; NULL while counting.  The memory is zero when the block was.
void *carom_allocate_bytes(carom_arena *mem, size_t bytes);
double *carom_allocate(carom_arena *mem, size_t count);
/// count doubles for each of the pointers whose addresses are listed, in their order: CAROM_ALLOCATE(mem, n, &a, &b);
#define CAROM_ALLOCATE(mem, count, ...) carom_allocate_each(mem, count, (double **const[]){__VA_ARGS__, NULL})
void carom_allocate_each(carom_arena *mem, size_t count, double **const *to); // the list ends with NULL
int *carom_allocate_ints(carom_arena *mem, size_t count);

/// Transfer ownership of object to the arena; NULL marks a failed creation.
void carom_arena_hold(carom_arena *mem, void *object, void (*release)(void *object));
/// Release owned resources, newest first; call before freeing the block.
void carom_arena_release(carom_arena *mem);

#ifdef __cplusplus
}
#endif

// arena.h: one block of memory, allocated once.
//
// A function that allocates describes its memory once and runs twice: first against an empty arena (base NULL), which
// only counts, then for real.  So a simulation is one block, and its step loop takes no memory; a list of contacts that
// outgrows its block is the one exception: it gets a larger one, between steps.
#pragma once
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Something that lives with the block but is not made of it, and how to give it back.
typedef struct carom_held {
    struct carom_held *next;
    void (*release)(void *object);
    void *object;
} carom_held;

typedef struct carom_arena {
    unsigned char *base; // NULL while counting
    size_t used, size;   // bytes
    carom_held *held;
    bool failed;         // something to hold could not be made
    size_t *ends;        // where each piece ends, in the order of carving; NULL: not wanted
    int pieces, room;    // number of pieces; capacity
} carom_arena;

/// Bytes aligned to 64; NULL while counting.  The memory is zero when the block was.
void *carom_allocate_bytes(carom_arena *mem, size_t bytes);
double *carom_allocate(carom_arena *mem, size_t count);
/// count doubles for each of the pointers whose addresses are listed, in their order: CAROM_ALLOCATE(mem, n, &a, &b);
#define CAROM_ALLOCATE(mem, count, ...) carom_allocate_each(mem, count, (double **const[]){__VA_ARGS__, NULL})
void carom_allocate_each(carom_arena *mem, size_t count, double **const *to); // the list ends with NULL
int *carom_allocate_ints(carom_arena *mem, size_t count);

/// From now on the arena owns object; NULL: it could not be made.
void carom_arena_hold(carom_arena *mem, void *object, void (*release)(void *object));
/// Give back what the arena holds, newest first; before the block itself is freed.
void carom_arena_release(carom_arena *mem);

#ifdef __cplusplus
}
#endif

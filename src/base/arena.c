// arena.c: carving one block.
#include <assert.h>
#include <carom/arena.h>

void *carom_carve_bytes(carom_arena *mem, size_t bytes) {
    const size_t slot = (bytes + 63) & ~(size_t)63;
    void *place = mem->base ? mem->base + mem->used : NULL;
    mem->used += slot;
    assert(!mem->base || mem->used <= mem->size); // counting and carving must describe the same memory
    return place;
}

double *carom_carve(carom_arena *mem, size_t count) {
    return carom_carve_bytes(mem, count * sizeof(double));
}

int *carom_carve_ints(carom_arena *mem, size_t count) {
    return carom_carve_bytes(mem, count * sizeof(int));
}

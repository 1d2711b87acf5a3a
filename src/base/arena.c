// arena.c: carving one block.
#include <assert.h>
#include <carom/arena.h>

void *carom_carve_bytes(carom_arena *mem, size_t bytes) {
    const size_t slot = (bytes + 63) & ~(size_t)63;
    void *place = mem->base ? mem->base + mem->used : NULL;
    mem->used += slot;
    if (mem->ends && mem->pieces < mem->room) mem->ends[mem->pieces++] = mem->used;
    assert(!mem->base || mem->used <= mem->size); // counting and carving must describe the same memory
    return place;
}

double *carom_carve(carom_arena *mem, size_t count) {
    return carom_carve_bytes(mem, count * sizeof(double));
}

int *carom_carve_ints(carom_arena *mem, size_t count) {
    return carom_carve_bytes(mem, count * sizeof(int));
}

void carom_arena_hold(carom_arena *mem, void *object, void (*release)(void *object)) {
    carom_held *held = carom_carve_bytes(mem, sizeof *held);
    if (!mem->base) return;
    if (!object) {
        mem->failed = true;
        return;
    }
    *held = (carom_held){mem->held, release, object};
    mem->held = held;
}

void carom_arena_release(carom_arena *mem) {
    for (; mem->held; mem->held = mem->held->next) mem->held->release(mem->held->object);
}

// arena.c: carving one block.
#include <assert.h>
#include <carom/arena.h>

void *carom_allocate_bytes(carom_arena *mem, size_t bytes) {
    const size_t slot = (bytes + 63) & ~(size_t)63;
    void *place = mem->base ? mem->base + mem->used : NULL;
    mem->used += slot;
    if (mem->ends && mem->pieces < mem->capacity) mem->ends[mem->pieces++] = mem->used;
    assert(!mem->base || mem->used <= mem->size); // counting and carving must describe the same memory
    return place;
}

double *carom_allocate(carom_arena *mem, size_t count) {
    return carom_allocate_bytes(mem, count * sizeof(double));
}

void carom_allocate_each(carom_arena *mem, size_t count, double **const *to) {
    for (; *to; ++to) **to = carom_allocate(mem, count);
}

int *carom_allocate_ints(carom_arena *mem, size_t count) {
    return carom_allocate_bytes(mem, count * sizeof(int));
}

void carom_arena_hold(carom_arena *mem, void *object, void (*release)(void *object)) {
    carom_resource *held = carom_allocate_bytes(mem, sizeof *held);
    if (!mem->base) return;
    if (!object) {
        mem->failed = true;
        return;
    }
    *held = (carom_resource){mem->resources, release, object};
    mem->resources = held;
}

void carom_arena_release(carom_arena *mem) {
    for (; mem->resources; mem->resources = mem->resources->next) mem->resources->release(mem->resources->object);
}

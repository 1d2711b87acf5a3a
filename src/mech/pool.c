// pool.c: a list of chunks, allocated from the front.
#include "mech/pool.h"
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

typedef struct pool_chunk {
    struct pool_chunk *next;
    size_t used, size;
    alignas(max_align_t) unsigned char data[];
} chunk;

void *carom_pool_take(pool *p, size_t bytes) {
    const size_t align = alignof(max_align_t), need = (bytes + align - 1) / align * align;
    chunk *c = p->head;
    if (!c || c->size - c->used < need) {
        const size_t size = need > 32768 ? need : 32768;
        c = calloc(1, sizeof *c + size);
        if (!c) return NULL;
        c->size = size;
        c->next = p->head;
        p->head = c;
    }
    void *place = c->data + c->used;
    c->used += need;
    return place;
}

char *carom_pool_text(pool *p, const char *text, size_t length) {
    char *copy = carom_pool_take(p, length + 1);
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void carom_pool_free(pool *p) {
    for (chunk *c = p->head, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    p->head = NULL;
}

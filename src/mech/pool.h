// pool.h: memory that lives as long as a model: taken in small pieces, given back at once.
#pragma once
#include <stddef.h>

typedef struct carom_pool {
    struct pool_chunk *head;
} pool;

void *carom_pool_take(pool *p, size_t bytes);                    // zeros; NULL: no memory
char *carom_pool_text(pool *p, const char *text, size_t length); // a copy that ends in NUL
void carom_pool_free(pool *p);

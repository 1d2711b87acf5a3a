// terms.c: sparse lists of expressions.
#include "model/model.h"
#include <stdlib.h>

bool carom_terms_add(terms *t, carom_node node, int i, int j, int l) {
    if (t->n == t->capacity) {
        const int capacity = t->capacity ? 2 * t->capacity : 16;
        const size_t n = (size_t)capacity;
        void *node1 = realloc(t->node, n * sizeof *t->node);
        if (node1) t->node = node1;
        int *i1 = realloc(t->i, n * sizeof *i1);
        if (i1) t->i = i1;
        int *j1 = realloc(t->j, n * sizeof *j1);
        if (j1) t->j = j1;
        int *l1 = realloc(t->l, n * sizeof *l1);
        if (l1) t->l = l1;
        if (!node1 || !i1 || !j1 || !l1) return false;
        t->capacity = capacity;
    }
    t->node[t->n] = node;
    t->i[t->n] = i;
    t->j[t->n] = j;
    t->l[t->n++] = l;
    return true;
}

void carom_terms_free(terms *t) {
    free(t->node);
    free(t->i);
    free(t->j);
    free(t->l);
    *t = (terms){0};
}

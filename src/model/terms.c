// terms.c: sparse lists of expressions.
#include "base/grow.h"
#include "model/model.h"
#include <stdlib.h>

bool carom_terms_add(terms *t, carom_node node, int i, int j, int l) {
    if (!CAROM_GROW(t->node, t->n) || !CAROM_GROW(t->i, t->n) || !CAROM_GROW(t->j, t->n) || !CAROM_GROW(t->l, t->n))
        return false;
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

// responses.c: see responses.h.
#include "contact/responses.h"

carom_responses carom_allocate_responses(carom_arena *mem, const carom_system *sys, int products) {
    carom_responses k = {.all = carom_allocate_local(mem, sys)};
    const size_t n = (size_t)k.all.W.n;
    k.n = (int)n;
    k.known = carom_allocate_bytes(mem, n * sizeof *k.known);
    k.G = carom_allocate(mem, (size_t)products * n * n);
    return k;
}

void carom_responses_forget(carom_responses *k) {
    for (int d = 0; d < k->n; ++d) k->known[d] = false;
}

void carom_responses_put(carom_responses *k, int product, int d, const double *x) {
    double *G = k->G + ((size_t)product * (size_t)k->n + (size_t)d) * (size_t)k->n;
    for (int i = 0; i < k->all.at[k->all.nb]; ++i) G[i] = carom_column_dot(&k->all.W, i, x);
    k->known[d] = true;
}

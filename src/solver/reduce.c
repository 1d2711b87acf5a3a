// reduce.c: see reduce.h.
#include "solver/reduce.h"
#include "contact/residual.h"

void carom_allocate_reduced(carom_reduced *r, carom_arena *mem, int n) {
    const size_t m = (size_t)n;
    r->row = carom_allocate_ints(mem, m);
    r->S_own = carom_allocate(mem, m * m);
    r->s_own = carom_allocate(mem, m);
}

void carom_reduce(carom_reduced *r, const carom_problem *pb) {
    r->n = 0, r->S = pb->G, r->s = pb->c, r->ld = pb->ld;
    for (int i = 0; i < pb->nb; i++) {
        const carom_block *b = pb->block + i;
        const int rows = carom_has_friction(b) ? carom_law_rows(b->law) : 1;
        for (int k = 0; k < rows; k++) r->row[r->n++] = b->at + k;
    }
    const int n = r->n;
    if (n == pb->n) return;
    for (int k = 0; k < n; k++) {
        r->s_own[k] = pb->c[r->row[k]];
        for (int i = 0; i < n; i++) r->S_own[i + k * n] = pb->G[r->row[i] + (size_t)r->row[k] * (size_t)pb->ld];
    }
    r->S = r->S_own, r->s = r->s_own, r->ld = n;
}

void carom_reduced_expand(const carom_reduced *r, const carom_problem *pb, const double *p) {
    for (int i = 0; i < pb->n; i++) pb->p[i] = 0;
    for (int k = 0; k < r->n; k++) pb->p[r->row[k]] = p[k];
}

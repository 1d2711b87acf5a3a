// warm.c: the contact problem of a set, started from reactions that are known, with friction that varies.
#include "scheme/friction.h"
#include "scheme/inside.h"
#include "scheme/step.h"

// p = x warm, for the rows of L's set; keep: warm = x p.
static inline void exchange(const carom_step *s, const carom_local *L, double x, bool keep) {
    double *restrict warm = s->inside->warm, *restrict p = s->p;
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b], d = s->dir[L->id[b]]; k < L->at[b + 1]; ++k, ++d)
            if (keep) warm[d] = x * p[k];
            else p[k] = warm[d] * x;
}

carom_status carom_problem_solve(carom_step *s, const carom_local *L) {
    carom_problem *pb = &s->problem;
    if (pb->n == 0) return CAROM_OK;
    // Small problems start from zero: where contacts are dependent (a slider without clearance) the last reactions
    // would come back as ever growing prestress, and with friction that brakes.  Large ones start from them.
    const bool warm = pb->n > CAROM_WARM;
    if (!warm) carom_zero(s->p, pb->n);
    if (warm) exchange(s, L, 1 / s->inside->a, false);
    CAROM_TRY(carom_problem_rub(s, L->id));
    if (warm) exchange(s, L, s->inside->a, true);
    return CAROM_OK;
}

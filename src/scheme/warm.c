// warm.c: the contact problem of a set, started from reactions that are known, with friction that varies.
#include "scheme/friction.h"
#include "scheme/inside.h"
#include "scheme/step.h"

// p = x warm, for the rows of L's set; keep: warm = x p.
static inline void exchange(const carom_step *s, const carom_local *L, double x, bool keep) {
    double *restrict warm = s->inside->warm, *restrict p = s->p;
    const int *restrict id = L->id, *restrict at = L->at, *restrict dir = s->dir;
    for (int b = 0, end; b < L->nb; b = end) { // rows that stand side by side in both: joints are one piece as a rule
        const int shift = dir[id[b]] - at[b];
        for (end = b + 1; end < L->nb && dir[id[end]] - at[end] == shift; ++end) continue;
        for (int k = at[b]; k < at[end]; ++k)
            if (keep) warm[k + shift] = x * p[k];
            else p[k] = warm[k + shift] * x;
    }
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

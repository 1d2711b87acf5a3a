// warm.c: the contact problem of a set, started from reactions that are known, with friction that varies.
#include "scheme/friction.h"
#include "scheme/inside.h"
#include "scheme/step.h"

// p = x warm, for the rows of L's set.  Joints come first, of one row each.
static void start_warm(carom_step *s, const carom_local *L, double x) {
    const double *restrict warm = s->inside->warm;
    double *restrict p = s->p;
    const int *dir = s->dir, *id = L->id, *at = L->at;
    int b = 0;
    for (; b < L->nb && id[b] < s->sys->ne; ++b) p[at[b]] = warm[dir[id[b]]] * x;
    for (; b < L->nb; ++b)
        for (int k = at[b], d = dir[id[b]]; k < at[b + 1]; ++k, ++d) p[k] = warm[d] * x;
}

// warm = x p
static void keep_warm(carom_step *s, const carom_local *L, double x) {
    double *restrict warm = s->inside->warm;
    const double *restrict p = s->p;
    const int *dir = s->dir, *id = L->id, *at = L->at;
    int b = 0;
    for (; b < L->nb && id[b] < s->sys->ne; ++b) warm[dir[id[b]]] = x * p[at[b]];
    for (; b < L->nb; ++b)
        for (int k = at[b], d = dir[id[b]]; k < at[b + 1]; ++k, ++d) warm[d] = x * p[k];
}

carom_status carom_problem_solve(carom_step *s, const carom_local *L) {
    carom_problem *pb = &s->problem;
    if (pb->n == 0) return CAROM_OK;
    // Small problems start from zero: where contacts are dependent (a slider without clearance) the last reactions
    // would come back as ever growing prestress, and with friction that brakes.  Large ones start from them.
    const bool warm = pb->n > CAROM_WARM;
    if (!warm) carom_zero(s->p, pb->n);
    if (warm) start_warm(s, L, 1 / s->inside->a);
    CAROM_TRY(carom_problem_rub(s, L->id));
    if (warm) keep_warm(s, L, s->inside->a);
    return CAROM_OK;
}

// held.c: see held.h.
#include "scheme/held.h"
#include "scheme/inside.h"

enum { ROUNDS = 4 }; // with features held anew

// Is no gap below zero at q, with the features there, beyond what the solution leaves of gaps?
static carom_status clear(const carom_held_step *z, carom_step *s, bool *all) {
    const int ne = s->sys->ne;
    const double left = z->left(z->work, s);
    CAROM_TRY(carom_gaps(s, z->g, s->t + s->h, z->q));
    *all = true;
    for (int id = ne; id < ne + s->sys->nc && *all; ++id) *all = z->g[id] >= -left;
    return CAROM_OK;
}

carom_status carom_held_solve(const carom_held_step *z, carom_step *s) {
    if (!s->sys->contact_list->freeze_searched) return z->solve(z->work, s);
    bool all = false;
    const carom_traces before = carom_problem_traces(s);
    for (int k = 0; !all && k < ROUNDS; ++k) {
        if (k > 0) carom_problem_take_back(s, &before);
        CAROM_TRY(carom_freeze_searched(s, k > 0 ? CAROM_FREEZE_AGAIN : CAROM_FREEZE, s->t + s->h, z->q));
        const carom_status status = z->solve(z->work, s);
        CAROM_TRY(carom_freeze_searched(s, CAROM_RELEASE, s->t, s->q));
        CAROM_TRY(status);
        CAROM_TRY(clear(z, s, &all));
    }
    return all || s->inside->last ? CAROM_OK
                                  : carom_retry(s, "contacts overlap with other features than those that reacted");
}

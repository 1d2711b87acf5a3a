// stage.c: what is evaluated at a point of a step, and what of it is known already.
#include "scheme/stage.h"
#include "linalg/matrix.h"
#include <string.h>

carom_stage carom_allocate_stage(carom_arena *mem, const carom_system *sys, bool returns) {
    const size_t all = (size_t)(sys->ne + sys->nc);
    return (carom_stage){.F = carom_allocate_factor(mem, sys->mass_shape, true),
                         .L = carom_allocate_local(mem, sys),
                         .L_known = carom_allocate_local(mem, sys),
                         .a = carom_allocate(mem, (size_t)sys->nv),
                         .g = carom_allocate(mem, all),
                         .g_known = returns ? carom_allocate(mem, all) : NULL};
}

static void exchange(carom_stage *S) {
    const carom_local L = S->L;
    S->L = S->L_known;
    S->L_known = L;
}

carom_status carom_stage_motion(carom_stage *S, carom_step *s, double t, const double *q, const double *v) {
    const carom_system *sys = s->sys;
    double *g = sys->nc ? S->g : NULL;
    S->t = t, S->q = q, S->v = v;
    S->known = S->free = false;
    if (sys->speed->motion_directions) carom_local_same(&S->L_known, &S->L);
    if (!S->lasts && !S->join && sys->ne == 0) CAROM_TRY(carom_acceleration(s, &S->free, &S->F, S->a, S->g, t, q, v));
    S->free = S->free && carom_all_open(S->g, s->active, sys->nc);
    S->force = !S->free;
    if (S->free) return CAROM_OK;
    // the directions as well where a set of contacts lasts
    if (S->lasts) CAROM_TRY(carom_motion_ahead(s, &S->F, S->a, g, &S->L_known, &S->known, t, q, v));
    else CAROM_TRY(carom_motion_factor(s, &S->F, S->a, g, t, q, v));
    for (int id = sys->ne; S->join && id < sys->ne + sys->nc; ++id) S->g[id] = fmin(S->g[id], S->join[id]);
    return CAROM_OK;
}

// Are all bits the same?  Few numbers one at a time: a call takes longer.
static bool unmoved(const double *a, const double *b, int n) {
    enum { FEW = 8 };
    int i = 0;
    if (n > FEW) return memcmp(a, b, (size_t)n * sizeof *a) == 0;
    while (i < n && memcmp(a + i, b + i, sizeof *a) == 0) ++i;
    return i == n;
}

// The end of the last step is the start of this one, unless the state was moved in between, or a signal has changed,
// on which masses may depend.  t + h and the time at which the next step starts often differ by rounding; where time
// enters nothing of what was evaluated, that does not matter.  Gaps may depend on signals, which a restored state
// replaces: then the time decides.
static bool stands(const carom_stage *S, const carom_step *s, double t, const double *q) {
    const carom_system *sys = s->sys;
    const bool timeless =
        sys->flags & CAROM_CONSTANT_MASS && sys->flags & CAROM_TIMELESS_GAPS && sys->signals->ni == 0;
    return S->stands && (timeless || S->t == t) && !s->jumped && unmoved(S->q, q, sys->nq);
}

carom_status carom_stage_start(carom_stage **start, carom_stage **end, carom_step *s, double t, const double *q,
                               const double *v) {
    carom_stage *S = *end;
    const bool same = stands(S, s, t, q);
    if (same) *end = *start, *start = S;
    else S = *start;
    const bool gaps = same && S->directed && !s->renumbers;
    S->known = gaps && S->L.nb > 0;
    S->stands = S->force = S->free = false;
    S->t = t, S->q = q, S->v = v;
    if (!same) CAROM_TRY(carom_mass_factor(s, &S->F, t, q));
    CAROM_TRY(carom_force(s, S->a, t, q, v));
    carom_factor_solve(&S->F, S->a);
    if (S->known) exchange(S);
    if (s->sys->nc == 0) return CAROM_OK; // joints alone need no gaps
    if (!gaps) return carom_gaps(s, S->g, t, q);
    carom_copy(S->g, S->g_known, s->sys->ne + s->sys->nc);
    return CAROM_OK;
}

carom_status carom_stage_end(carom_stage *S, carom_step *s, double t, const double *q, const double *v) {
    double *g = s->sys->nc > 0 ? S->g : NULL;
    S->t = t, S->q = q, S->v = v;
    S->stands = S->directed = S->known = S->force = S->free = false;
    CAROM_TRY(carom_free_motion(s, &S->F, S->a, g, t, q, v));
    S->stands = true;
    if (g) carom_copy(S->g_known, g, s->sys->ne + s->sys->nc);
    return CAROM_OK;
}

// The set.  Gaps at the start of a step are no forecast of those at its end.
static carom_status close_by_gaps(carom_stage *S, carom_step *s, const double *held) {
    if (S->stands || !S->g_known) carom_note_gaps(s, S->g, S->q);
    if (carom_close_open(s, &S->L, S->g, held)) return CAROM_OK;
    carom_evaluation_point at = carom_stage_point(S);
    at.active = held;
    return carom_close_near(s, &S->L, S->g, &at);
}

carom_status carom_stage_close(carom_stage *S, carom_step *s, const double *held, const carom_stage *like) {
    CAROM_TRY(close_by_gaps(S, s, held));
    S->directed = true;
    S->lasts = false;
    if (S->L.nb > 0 && carom_local_alike(&S->L, &S->L_known)) {
        S->lasts = s->sys->speed->motion_directions;
        if (S->known) return exchange(S), CAROM_OK; // with the problem that they stand in
    }
    S->number = 0;
    if (S->L.nb == 0) return CAROM_OK;
    if (!like || !carom_straight(s->sys) || !carom_local_alike(&S->L, &like->L))
        return carom_directions(s, &S->L, S->t, S->q);
    carom_local_blend(&S->L, &like->L, 0, NULL);
    if (s->sys->flags & CAROM_CONSTANT_MASS) S->number = carom_problem_number(s); // that of `like`
    return CAROM_OK;
}

void carom_stage_advance(carom_stage *S, double *v, double h) {
    if (S->force) carom_factor_advance(&S->F, v, h, S->a);
    else carom_axpy(v, h, S->a, S->F.shape.n);
}

void carom_stage_form(carom_stage *S, carom_step *s, const carom_local *V, const carom_local *L, double a) {
    carom_problem_form_as(s, V, L, &S->F, a, S->number);
    S->number = carom_problem_number(s);
}

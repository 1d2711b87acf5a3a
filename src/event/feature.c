// feature.c: contacts of edged bodies go from feature to feature: from a side to a corner, from one body's corner to
// the other's.
//
// During a phase gaps, directions and curvatures of closed contacts belong to the features they had when it began
// (CAROM_FREEZE), so that the integrator sees smooth functions also where it tries a step too far.  Where the nearest
// feature of one is another one, the phase ends
// (EV-18) and all is decided anew, with the features that lie ahead.  Gaps that are written are not held: the zeros of
// what decides between their branches are events (EV-23).  Other gaps, of systems in C, are watched: where their
// direction jumps, the contact approaches, and the phase ends with an impact; only in models without shapes that touch.
#include "event/feature.h"
#include "linalg/matrix.h"
#include "scheme/inside.h"
#include <math.h>
#include <string.h>

static const double OTHER = 1e-7; // directions of one feature differ by rounding

carom_status carom_phase_hold(carom_step *s, double t, const double *q) {
    return carom_freeze_features(s, CAROM_FREEZE, t, q);
}
carom_status carom_phase_free(carom_step *s) { return carom_freeze_features(s, CAROM_RELEASE, s->t, s->q); }
carom_status carom_phase_held(carom_step *s) { return carom_freeze_features(s, CAROM_FREEZE_AGAIN, s->t, s->q); }

carom_status carom_phase_leave(carom_step *s, carom_status status) {
    const carom_status freed = carom_phase_free(s);
    return status == CAROM_OK ? freed : status;
}

// Are two columns the same, bit by bit?
static bool same(const carom_columns *A, int k, const carom_columns *B, int j) {
    const carom_entries a = carom_entries_of(A, k), b = carom_entries_of(B, j);
    const size_t n = (size_t)a.n;
    return a.n == b.n && (!a.row || memcmp(a.row, b.row, n * sizeof *a.row) == 0) &&
           memcmp(a.a, b.a, n * sizeof *a.a) == 0;
}

// Direction k of some contacts, held, and j of all, free: mostly they are the same.
static bool differ(carom_phase *w, const carom_step *s, const carom_local *L, int k, int j) {
    double size = 0, apart = 0, *held = w->f.dv, *free = w->v_1;
    if (same(&L->W, k, &w->all.W, j)) return false;
    carom_column_expand(held, &L->W, k);
    carom_column_expand(free, &w->all.W, j);
    for (int i = 0; i < s->sys->nv; ++i) size = fmax(size, fabs(held[i])), apart = fmax(apart, fabs(held[i] - free[i]));
    return apart > OTHER * size;
}

// (MX-17), (EV-21)  A kink of a gap that is written: the direction of a closed contact jumps, and it approaches by more
//                   than the reactions of the step explain,
//          u < -4 tau G lambda - kink sum |W v|, and than what counts as none.  What integration leaves of u is far
//          below that.
static double kink(const carom_phase *w, const carom_step *s, const carom_event_point *P, int c, int b) {
    const carom_flow *f = &w->f;
    const int k = f->L.at[b];
    const double explained = w->limits.exact ? 4 * carom_phase_still(w, s, &f->L, k, false)
                                             : 4 * (P->tau - w->from.tau) * fabs(f->lambda[k]) * f->D[k];
    const double theta = explained + w->limits.kink * (carom_local_magnitude(&f->L, k, P->v) + fabs(f->L.w[k])) +
                         carom_flow_no_approach(s, &f->L, k, P->v);
    return P->u[c] < -theta ? P->u[c] : 0;
}

// (EV-27)  Features may have one direction and lie apart: then the gap shows the change.
bool carom_phase_apart(const carom_phase *w, const carom_local *L, int b, double gap) {
    return fabs(gap) > CAROM_ELSEWHERE * carom_local_magnitude(L, L->at[b], w->span);
}

// Gaps by the features that are held are computed only where a closed contact is not at the wall.
static carom_status switched_gaps(carom_phase *w, carom_step *s, carom_event_point *P) {
    const carom_flow *f = &w->f;
    const int ne = s->sys->ne;
    bool known = false;
    for (int b = ne; b < f->L.nb && s->sys->events->freeze; ++b) {
        const int c = f->L.id[b] - ne;
        if (P->kink[c] < 0 || !carom_phase_apart(w, &f->L, b, P->g[ne + c])) continue;
        if (!known) CAROM_TRY(carom_gaps(s, w->aside.g, w->t + P->tau, P->q));
        known = true;
        if (carom_phase_apart(w, &f->L, b, P->g[ne + c] - w->aside.g[ne + c])) P->kink[c] = -1;
    }
    return CAROM_OK;
}

carom_status carom_phase_switches(carom_phase *w, carom_step *s, carom_event_point *P) {
    const carom_flow *f = &w->f;
    const int ne = s->sys->ne;
    for (int b = ne; b < f->L.nb; ++b) {
        const int c = f->L.id[b] - ne;
        if (!s->sys->events->freeze) P->kink[c] = kink(w, s, P, c, b);
        const int j = w->all.at[f->L.id[b]] - f->L.at[b];
        for (int k = f->L.at[b]; k < f->L.at[b + 1] && s->sys->events->freeze && P->kink[c] == 0; ++k)
            P->kink[c] = differ(w, s, &f->L, k, k + j) ? -1 : 0;
    }
    return switched_gaps(w, s, P);
}

// Does a direction of contact c in w->C (held features) differ from that in w->all (features of the point itself)?
static bool turns(carom_phase *w, const carom_step *s, int c) {
    for (int k = w->C.at[s->sys->ne + c], end = w->C.at[s->sys->ne + c + 1]; k < end; ++k)
        if (differ(w, s, &w->C, k, k)) return true;
    return false;
}

// (MX-20)  Another feature may have the same direction, and show in the gap alone (EV-27).  A contact that is at the
//          wall beyond the event, as with the corner of a step that a face meets, takes part like those that close.
carom_status carom_phase_turns(carom_phase *w, carom_step *s, bool *some) {
    const double t_a = w->t + w->a.tau, t_b = w->t + w->b.tau;
    *some = false;
    if (!s->sys->events->freeze) return CAROM_OK;
    carom_close_kinds(s, &w->C, CAROM_JOINTS | CAROM_CONTACTS);
    CAROM_TRY(carom_phase_hold(s, t_a, w->a.q));
    CAROM_TRY(carom_directions(s, &w->C, t_b, w->b.q));
    CAROM_TRY(carom_gaps(s, w->aside.g, t_b, w->b.q));
    CAROM_TRY(carom_phase_free(s));
    CAROM_TRY(carom_directions(s, &w->all, t_b, w->b.q));
    for (int c = 0, ne = s->sys->ne; c < s->sys->nc && !*some; ++c)
        *some = carom_phase_open(w, c) && (w->b.phi[c] < 0 || w->b.g[ne + c] <= 4 * w->tol_g[c]) &&
                (turns(w, s, c) || carom_phase_apart(w, &w->C, ne + c, w->aside.g[ne + c] - w->b.g[ne + c]));
    return carom_phase_held(s);
}

carom_status carom_phase_moved_on(carom_phase *w, carom_step *s, bool *some) {
    bool closed = false;
    *some = false;
    for (int c = 0; c < s->sys->nc && !closed; ++c) closed = !carom_phase_open(w, c);
    if (!s->sys->events->freeze || !closed || memcmp(w->q, w->q_held, (size_t)s->sys->nq * sizeof *w->q) == 0)
        return CAROM_OK;
    carom_close_kinds(s, &w->C, CAROM_JOINTS | CAROM_CONTACTS);
    CAROM_TRY(carom_directions(s, &w->C, w->t, w->q));
    CAROM_TRY(carom_phase_hold(s, w->t, w->q));
    CAROM_TRY(carom_directions(s, &w->all, w->t, w->q));
    CAROM_TRY(carom_gaps(s, w->aside.g, w->t, w->q));
    for (int c = 0, ne = s->sys->ne; c < s->sys->nc && !*some; ++c)
        *some = !carom_phase_open(w, c) && (turns(w, s, c) || carom_phase_apart(w, &w->C, ne + c, w->aside.g[ne + c]));
    return CAROM_OK;
}

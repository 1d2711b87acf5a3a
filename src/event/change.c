// change.c: events for observers.
#include "event/change.h"
#include "event/feature.h"
#include "scheme/inside.h"
#include <math.h>

void carom_phase_remember(carom_phase *w, const carom_step *s) {
    if (!s->inside->on_change) return;
    carom_copy(w->q_before, w->q, s->sys->nq);
    carom_copy(w->v_before, w->v, s->sys->nv);
    carom_copy(w->phase_before, w->now + CAROM_PHASE_HEAD, (ptrdiff_t)(w->size - CAROM_PHASE_HEAD));
}

// What contact c does.
static carom_change_kind kind_of(const carom_phase *w, int c, bool limit) {
    const double was = w->phase_before[c], is = w->f.mode[c];
    if (limit && w->over[c]) return CAROM_CHANGE_ACCUMULATION;
    if (w->p[c] > 0) return CAROM_CHANGE_IMPACT;
    if (was != is)
        return was == CAROM_MODE_OPEN   ? CAROM_CHANGE_CLOSE
               : is == CAROM_MODE_OPEN  ? CAROM_CHANGE_OPEN
               : is == CAROM_MODE_STICK ? CAROM_CHANGE_STICK
                                        : CAROM_CHANGE_SLIP;
    const double *d = w->f.dir + CAROM_TANGENTS * c, *d_before = w->phase_before + (d - w->f.mode);
    if (is == CAROM_MODE_SLIP && carom_dot(d, d_before, CAROM_TANGENTS) < 0) return CAROM_CHANGE_REVERSAL;
    return w->b.kink[c] < 0 && w->switched ? CAROM_CHANGE_FEATURE : CAROM_CHANGE_NONE;
}

carom_status carom_phase_emit(carom_phase *w, carom_step *s, double t_before, bool limit) {
    if (!s->inside->on_change) return CAROM_OK;
    carom_change x = {.t = w->t,
                      .t_before = t_before,
                      .kind = CAROM_CHANGE_NONE,
                      .q_before = w->q_before,
                      .v_before = w->v_before,
                      .q = w->q,
                      .v = w->v,
                      .mode_before = w->phase_before,
                      .mode = w->f.mode,
                      .phase_before = w->phase_before,
                      .phase = w->now + CAROM_PHASE_HEAD,
                      .phase_size = w->size - CAROM_PHASE_HEAD,
                      .in = w->in,
                      .impulse = w->p,
                      .jumped = s->jumped && w->t == s->t};
    for (int c = 0; c < s->sys->nc; ++c) {
        const carom_change_kind kind = kind_of(w, c, limit);
        if (kind < x.kind) x.kind = kind;
    }
    for (int i = 2 * s->sys->nc; i < w->nphi && x.kind == CAROM_CHANGE_NONE; ++i)
        if (w->a.phi[i] < 0 || w->b.phi[i] < 0) x.kind = CAROM_CHANGE_KINK;
    const carom_status status = s->inside->on_change(s->inside->change_user, &x);
    return status == CAROM_OK ? CAROM_OK : carom_fail(s->err, status, "t = %.9g: stopped", w->t);
}

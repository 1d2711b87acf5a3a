// change.c: events for observers, and the smooth motion between them.
#include "base/tolerance.h"
#include "event/change.h"
#include "event/feature.h"
#include "scheme/inside.h"
#include <float.h>
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

static const double SLIPS = 1e-9; // of the terms of a slip: what the projection of velocities leaves of one that has
                                  // none

// Slip along more than one tangent follows its velocity, if it has one.
static carom_status direct(carom_phase *w, carom_step *s) {
    carom_flow *f = &w->f;
    CAROM_TRY(carom_flow_rate(f, s, w->t, w->q, w->v, false));
    for (int b = s->sys->ne; b < f->L.nb; ++b) {
        const int c = f->L.id[b] - s->sys->ne, k = f->L.at[b] + 1, tangents = f->L.at[b + 1] - k;
        if (f->mode[c] == CAROM_MODE_SLIP && tangents > 1)
            f->live[c] = carom_length(f->u + k, tangents) > SLIPS * carom_local_magnitude(&f->L, k, w->v);
    }
    return CAROM_OK;
}

carom_status carom_phase_flow(carom_phase *w, carom_step *s, const double *phase, double t_0, double t_1, double rtol,
                              double *q, double *v, double *error) {
    enum { MOST = 1000000 }; // a message instead of a run without an end
    const int nq = s->sys->nq, nv = s->sys->nv;
    carom_flow *f = &w->f;
    double h = 0.1 * (t_1 - t_0);
    carom_copy(w->now + CAROM_PHASE_HEAD, phase, (ptrdiff_t)(w->size - CAROM_PHASE_HEAD));
    carom_flow_load(f, s, w->now + CAROM_PHASE_HEAD);
    f->follows = true;
    w->t = t_0;
    carom_copy(w->q, q, nq);
    carom_copy(w->v, v, nv);
    CAROM_TRY(carom_phase_hold(s, w->t, w->q));
    CAROM_TRY(direct(w, s));
    for (int i = 0; w->t != t_1; ++i) {
        if (i == MOST) return carom_retry(s, "more than %d steps of the smooth motion", MOST);
        const bool last = fabs(h) >= fabs(t_1 - w->t) * (1 - CAROM_INSTANT);
        const double tau = last ? t_1 - w->t : h;
        if (!(fabs(tau) > 4 * DBL_EPSILON * fabs(w->t)) && !last)
            return carom_retry(s, "the tolerance %g of the smooth motion cannot be met", rtol);
        CAROM_TRY(carom_flow_begin(f, s, w->t, tau, w->q, w->v, false));
        CAROM_TRY(carom_flow_step(f, s, w->t, tau, w->q, w->v, false, w->b.q, w->b.v, error));
        const double size_q = carom_size_of_positions(s->sys, w->q),
                     size_v =
                         fmax(carom_size_of_rates(s->sys, w->v), sqrt(size_q * carom_size_of_rates(s->sys, f->K[0])));
        const double e = carom_flow_error(s, error, w->q, w->v, w->b.q, w->b.v, rtol, 0.01 * rtol, size_q, size_v);
        h = tau * fmin(4, fmax(0.2, 0.9 * pow(fmax(e, CAROM_ESTIMATE), -0.2)));
        if (e > 1) continue;
        w->t = last ? t_1 : w->t + tau;
        carom_copy(w->q, w->b.q, nq);
        carom_copy(w->v, w->b.v, nv);
        CAROM_TRY(carom_flow_project_position(f, s, w->t, w->q));
        CAROM_TRY(carom_flow_stop(f, s, w->t, w->q, w->v));
    }
    carom_copy(q, w->q, nq);
    carom_copy(v, w->v, nv);
    return carom_phase_free(s);
}

// side.c: on which side of a kink of forces a phase begins; see side.h.
//
// A body that rests on a kink, or comes to rest there, is on either side by rounding.  That is no event, and the next
// step must not find it on the other side.
#include "base/tolerance.h"
#include "event/side.h"
#include "event/watch.h"
#include "system/narrow.h"
#include "system/system.h"
#include <float.h>
#include <math.h>

static const double NUDGE = 0x1p-20; // of all positions and velocities: what a kink changes by is far above rounding
static const double TIMES = 16;      // eps: sums of several terms, put on their constraints

static bool of_forces(const carom_system *sys, int i) { return carom_kink_is_of_forces(carom_system_kink_of(sys, i)); }

// Numbers in [1/2, 1] that no sum of a few makes zero.
static double part(int i) {
    const double x = 0.6180339887498949 * (i + 1);
    return 1 - 0.5 * (x - floor(x));
}

// (EV-45)  eps_k = 16 eps max |k(q + d x, v + d y) - k|/d,  x_i and y_i between a half and the whole of max |q| and
//          max |v|, with equal and with alternating signs: of the state alone, so that whoever takes the phase up again
//          finds the same
static carom_status set_floors(carom_phase *w, carom_step *s, const double *k) {
    const carom_system *sys = s->sys;
    const int nc = sys->nc, nk = sys->events->nk, nv = sys->nv;
    const double size_q = carom_size_of_positions(sys, w->q), size_v = carom_size_of_rates(sys, w->v);
    double *floors = w->floor + 2 * nc, *other = w->aside.phi;
    carom_zero(floors, nk);
    for (int time = 0; time < 2; ++time) {
        for (int i = 0; i < nv; ++i) {
            const double x = (time && i % 2 ? -1 : 1) * part(i) / carom_tolerance_lever(carom_lever(sys, i), size_q);
            w->f.dv[i] = x * size_q;
            w->v_1[i] = w->v[i] + NUDGE * x * size_v;
        }
        carom_move(s, w->q_1, w->q, NUDGE, w->f.dv);
        CAROM_TRY(carom_phase_kinks_raw(w, s, w->t, w->q_1, w->v_1, other));
        for (int i = 0; i < nk; ++i)
            if (of_forces(sys, i)) floors[i] = fmax(floors[i], TIMES * DBL_EPSILON / NUDGE * fabs(other[i] - k[i]));
    }
    return CAROM_OK;
}

// (EV-46)  |k| <= eps_k: the motion goes to the side of  k(t + e, q + e v + e^2/2 a, v + e a),  e = h/1000, h/100,
//          h/10, h, where that is above eps_k; to none, and the state rests on the kink, where it never is
static carom_status look_ahead(carom_phase *w, carom_step *s, double h) {
    const carom_system *sys = s->sys;
    static const double FIRST = 1e-3; // part of the step that is looked ahead first
    double *floors = w->floor + 2 * sys->nc, *k = w->aside.phi, e = FIRST * h;
    int left = 0;
    for (int i = 0; i < sys->events->nk; ++i) left += w->sign[i] == 0;
    for (int time = 0; time < 4 && left > 0; ++time, e *= 10) {
        for (int i = 0; i < sys->nv; ++i) w->f.dv[i] = w->v[i] + 0.5 * e * w->f.a[i];
        carom_move(s, w->q_1, w->q, e, w->f.dv);
        carom_add(w->v_1, w->v, e, w->f.a, sys->nv);
        CAROM_TRY(carom_phase_kinks_raw(w, s, w->t + e, w->q_1, w->v_1, k));
        for (int i = 0; i < sys->events->nk; ++i)
            if (w->sign[i] == 0 && fabs(k[i]) > floors[i]) w->sign[i] = k[i] < 0 ? -1 : 1, --left;
    }
    return CAROM_OK;
}

// How far the phase begins beyond kinks, by rounding.  Where something jumps, its first stage would know what lies
// behind, not ahead; so the state goes on with its velocity until it is beyond none.
static carom_status go_on(carom_phase *w, carom_step *s, bool *moved) {
    enum { TIMES = 60 };
    const carom_system *sys = s->sys;
    double *k = w->from.phi + 2 * sys->nc, e = 0;
    bool behind = true;
    for (int time = 0; behind && time < TIMES; ++time) {
        behind = false;
        for (int i = 0; i < sys->events->nk; ++i) {
            w->beyond[i] = fmax(0, -w->sign[i] * k[i]);
            behind = behind || (w->beyond[i] > 0 && carom_system_kink_of(sys, i) == CAROM_JUMPS);
        }
        if (!behind) break;
        e = e > 0 ? 2 * e : DBL_EPSILON * carom_size_of_positions(sys, w->q) / carom_size_of_rates(sys, w->v);
        if (!(e < HUGE_VAL)) break;
        carom_move(s, w->q_1, w->q, e, w->v);
        CAROM_TRY(carom_phase_kinks_raw(w, s, w->t, w->q_1, w->v, k));
    }
    *moved = w->passing = e > 0 && !behind;
    if (*moved) carom_copy(w->q, w->q_1, sys->nq);
    return CAROM_OK;
}

carom_status carom_phase_sides(carom_phase *w, carom_step *s, double h, bool *moved) {
    const carom_system *sys = s->sys;
    double *k = w->from.phi + 2 * sys->nc;
    bool rests = false;
    *moved = w->passing = false;
    if (sys->events->nk == 0) return CAROM_OK;
    CAROM_TRY(carom_phase_kinks_raw(w, s, w->t, w->from.q, w->from.v, k));
    CAROM_TRY(set_floors(w, s, k));
    for (int i = 0; i < sys->events->nk; ++i) {
        const bool on = of_forces(sys, i) && fabs(k[i]) <= w->floor[2 * sys->nc + i];
        w->sign[i] = on ? 0 : k[i] < 0 ? -1 : 1;
        rests = rests || on;
    }
    if (rests) CAROM_TRY(look_ahead(w, s, h));
    for (int i = 0; i < sys->events->nk; ++i) // where nothing jumps, an event at once does no harm
        if (w->sign[i] != 0 && carom_system_kink_of(sys, i) != CAROM_JUMPS) w->sign[i] = k[i] < 0 ? -1 : 1;
    CAROM_TRY(go_on(w, s, moved));
    return carom_phase_kinks(w, s, w->t, w->q, w->from.v, k);
}

carom_status carom_phase_sides_left(carom_phase *w, carom_step *s) {
    const carom_system *sys = s->sys;
    double *k = w->aside.phi;
    bool rests = false;
    for (int i = 0; i < sys->events->nk; ++i) rests = rests || w->sign[i] == 0;
    if (!rests) return CAROM_OK;
    CAROM_TRY(carom_phase_kinks_raw(w, s, w->t + w->from.tau, w->from.q, w->from.v, k));
    for (int i = 0; i < sys->events->nk; ++i)
        if (w->sign[i] == 0 && fabs(k[i]) > w->floor[2 * sys->nc + i]) w->sign[i] = k[i] < 0 ? -1 : 1;
    return CAROM_OK;
}

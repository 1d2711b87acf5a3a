// side.c: on which side of a kink of forces a phase begins; see side.h.
//
// A body that rests on a kink, or comes to rest there, is on either side by rounding.  That is no event, and the next
// step must not find it on the other side.
#include "base/tolerance.h"
#include "event/side.h"
#include "event/watch.h"
#include "linalg/matrix.h"
#include "system/narrow.h"
#include "system/system.h"
#include <float.h>
#include <math.h>

static const double NUDGE = 0x1p-20; // of all positions and velocities: what a kink changes by is far above rounding
static const double TIMES = 16;      // eps: sums of several terms, put on their constraints

static bool of_forces(const carom_system *sys, int i) { return carom_kink_is_of_forces(carom_system_kink_of(sys, i)); }

// Numbers in [1/2, 1] that no sum of a few makes zero.
static double part(int i) {
    const double x = 0.6180339887498949 * (i + 1); // the golden section: no two parts are near each other
    return 1 - 0.5 * (x - floor(x));
}

static bool jumps(const carom_system *sys, int i) { return carom_system_kink_of(sys, i) == CAROM_JUMPS; }

static bool some_jump(const carom_system *sys) {
    for (int i = 0; i < sys->events->nk; ++i)
        if (jumps(sys, i)) return true;
    return false;
}

// k(t + e, q + e v + e^2/2 a, v + e a)
static carom_status move_on(carom_phase *w, carom_step *s, double e, double *k) {
    for (int i = 0; i < s->sys->nv; ++i) w->f.dv[i] = w->v[i] + 0.5 * e * w->f.a[i];
    carom_move(s, w->q_1, w->q, e, w->f.dv);
    carom_add(w->v_1, w->v, e, w->f.a, s->sys->nv);
    return carom_phase_kinks_raw(w, s, w->t + e, w->q_1, w->v_1, k);
}

// (EV-45)  eps_k = 16 eps max |k(q + d x, v + d y) - k|/d,  x_i and y_i between a half and the whole of max |q| and of
//          the largest velocity of the run, with equal and with alternating signs; where forces jump, with the
//          16 eps (|t| + h) |k'| that time cannot resolve
static carom_status set_floors(carom_phase *w, carom_step *s, const double *k) {
    const carom_system *sys = s->sys;
    const int nc = sys->nc, nk = sys->events->nk, nv = sys->nv;
    const double size_q = carom_size_of_positions(sys, w->q), size_v = w->now[CAROM_PHASE_SPEED],
                 e = NUDGE * carom_phase_time(w);
    double *floors = w->floor + 2 * nc, *other = w->aside.phi;
    carom_zero(floors, nk);
    for (int time = 0; time < 2; ++time) {
        for (int i = 0; i < nv; ++i) {
            const double x = (time && i % 2 ? -1 : 1) * part(i) / carom_tolerance_lever(carom_lever(sys, i), size_q);
            w->f.dv[i] = x * size_q;
            w->v_1[i] = w->v[i] + NUDGE * (carom_is_state(sys, i) ? part(i) / carom_lever(sys, i) : x * size_v);
        }
        carom_move(s, w->q_1, w->q, NUDGE, w->f.dv);
        CAROM_TRY(carom_phase_kinks_raw(w, s, w->t, w->q_1, w->v_1, other));
        for (int i = 0; i < nk; ++i)
            if (of_forces(sys, i)) floors[i] = fmax(floors[i], TIMES * DBL_EPSILON / NUDGE * fabs(other[i] - k[i]));
    }
    if (some_jump(sys)) CAROM_TRY(move_on(w, s, e, other));
    for (int i = 0; i < nk; ++i)
        if (jumps(sys, i)) floors[i] += TIMES * DBL_EPSILON * (fabs(w->t) + s->h) / e * fabs(other[i] - k[i]);
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
        CAROM_TRY(move_on(w, s, e, k));
        for (int i = 0; i < sys->events->nk; ++i)
            if (w->sign[i] == 0 && fabs(k[i]) > floors[i]) w->sign[i] = k[i] < 0 ? -1 : 1, --left;
    }
    return CAROM_OK;
}

static const double HELD = 2; // in w->sign while sides are looked for

// Kink i into the place of the list that is free: its slope there, and k'.
static carom_status look_at(carom_phase *w, carom_step *s, int i, double *rate) {
    carom_filippov *z = &w->f.filippov;
    const int m = z->n;
    double *slope = z->slope + (size_t)m * (size_t)s->sys->nv;
    z->kink[m] = i;
    CAROM_TRY(carom_filippov_slope(z, s, i, w->t, w->q, w->v, slope, z->quick + m, z->drift + m, rate));
    z->eps[m] = fmax(w->floor[2 * s->sys->nc + i],
                     DBL_EPSILON * DBL_EPSILON * carom_filippov_magnitude(z, s, slope, z->quick[m], false));
    return CAROM_OK;
}

// Is the surface in the free place one of those held, as x < 0 and x > 0 are?
static bool is_held(const carom_filippov *z, int nv) {
    static const double SAME = 1e-9;
    const double *x = z->slope + (size_t)z->n * (size_t)nv, xx = carom_dot(x, x, nv);
    for (int m = 0; m < z->n; ++m) {
        const double *y = z->slope + (size_t)m * (size_t)nv, yy = carom_dot(y, y, nv), xy = carom_dot(x, y, nv);
        if (z->quick[m] == z->quick[z->n] && xy * xy >= (1 - SAME) * xx * yy) return true;
    }
    return false;
}

// k'' (k') under the forces on both sides of the surface in the free place; a_- goes to w->v_1, a_+ to w->f.a.
static carom_status rates_beside(carom_phase *w, carom_step *s, double rho[2]) {
    carom_filippov *z = &w->f.filippov;
    const int nv = s->sys->nv;
    carom_status status = CAROM_OK;
    for (int side = 0; side < 2 && status == CAROM_OK; ++side) {
        z->lean = side ? 1 : -1;
        status = carom_flow_rate(&w->f, s, w->t, w->q, w->v, w->laws);
        rho[side] = z->drift[z->n] + carom_dot(z->slope + (size_t)z->n * (size_t)nv, w->f.a, nv);
        if (side == 0) carom_copy(w->v_1, w->f.a, nv);
    }
    z->lean = 0;
    return status;
}

static carom_status kinetic(carom_phase *w, carom_step *s, double *T) {
    CAROM_TRY(carom_mass(s, s->M, w->t, w->q));
    carom_matrix_mul(w->f.dv, s->M, w->v);
    carom_zero(w->f.dv + s->sys->first_state, s->sys->nstates);
    *T = 0.5 * carom_dot(w->f.dv, w->v, s->sys->nv);
    return CAROM_OK;
}

// (EV-50)  v <- v - (a_+ - a_-) k'/(rho_+ - rho_-):  what is left of flights to and fro ends; its energy counts as
//           taken by the forces.
static carom_status hold(carom_phase *w, carom_step *s, const double rho[2], double rate, bool *moved) {
    const int nv = s->sys->nv;
    double before, after;
    w->f.filippov.n += 1;
    *moved = true;
    if (rate == 0) return CAROM_OK;
    CAROM_TRY(kinetic(w, s, &before));
    for (int j = 0; j < nv; ++j) w->v[j] -= (w->f.a[j] - w->v_1[j]) * rate / (rho[1] - rho[0]);
    CAROM_TRY(kinetic(w, s, &after));
    s->record.account.damping += before - after;
    return CAROM_OK;
}

// (EV-49)  At a jump:  rho_- >= 0 >= rho_+, k'^2 <= 2 min |rho| tol |k|:  the motion comes back from both sides, no
//           farther than the tolerance: it is held.  Else it goes where k' goes, or without that where both sides go.
static carom_status decide(carom_phase *w, carom_step *s, int i, bool *moved) {
    static const double NONE = 1e-9, NOISE = 1e-10; // of both rates; of velocities
    const int nv = s->sys->nv;
    carom_filippov *z = &w->f.filippov;
    double rho[2], rate;
    if (z->n == CAROM_SURFACES) return CAROM_OK;
    CAROM_TRY(look_at(w, s, i, &rate));
    if (is_held(z, nv)) return w->sign[i] = HELD, CAROM_OK;
    CAROM_TRY(rates_beside(w, s, rho));
    const double *slope = z->slope + (size_t)z->n * (size_t)nv, none = NONE * (fabs(rho[0]) + fabs(rho[1]));
    const bool back = rho[0] >= -none && rho[1] <= none && rho[0] - rho[1] > 0, quick = z->quick[z->n];
    const double way = carom_filippov_magnitude(z, s, slope, quick, false), most = fmin(fabs(rho[0]), fabs(rho[1]));
    double noise = 0;
    for (int j = 0; j < nv; ++j) noise += NOISE * fabs(slope[j] * w->v[j]);
    const bool still = quick || fabs(rate) <= noise;
    if (back && (still || rate * rate <= 2 * most * w->tol * way)) {
        CAROM_TRY(hold(w, s, rho, rate, moved));
        w->sign[i] = HELD;
    } else if (!still) w->sign[i] = rate < 0 ? -1 : 1;
    else if (rho[0] > none && rho[1] > none) w->sign[i] = 1;
    else if (rho[0] < -none && rho[1] < -none) w->sign[i] = -1;
    return CAROM_OK;
}

static bool at_jump(const carom_phase *w, const carom_step *s, int i) {
    const int at = 2 * s->sys->nc + i;
    return jumps(s->sys, i) && w->sign[i] != HELD && fabs(w->from.phi[at]) <= w->floor[at];
}

// Surface m of the list is none.
static void let_go(carom_filippov *z, int m, int nv) {
    z->n -= 1;
    for (int i = m; i < z->n; ++i) {
        z->kink[i] = z->kink[i + 1], z->quick[i] = z->quick[i + 1], z->eps[i] = z->eps[i + 1];
        carom_copy(z->slope + (size_t)i * (size_t)nv, z->slope + (size_t)(i + 1) * (size_t)nv, nv);
    }
}

// All jumps that the state is at: what holds at one of them may hold at others.  Where one side pulls with all that
// holds, alpha outside of [0, 1], the motion goes there.
static carom_status decide_all(carom_phase *w, carom_step *s, bool *moved) {
    carom_filippov *z = &w->f.filippov;
    int n = -1;
    while (z->n > n) {
        n = z->n;
        for (int i = 0; i < s->sys->events->nk; ++i) {
            if (!at_jump(w, s, i)) continue;
            w->sign[i] = 0;
            CAROM_TRY(decide(w, s, i, moved));
        }
    }
    for (bool pulled = true; pulled && z->n > 1;) {
        CAROM_TRY(carom_flow_rate(&w->f, s, w->t, w->q, w->v, w->laws));
        pulled = false;
        for (int m = 0; m < z->n && !pulled; ++m) {
            pulled = fabs(z->part[m] - 0.5) > 0.5 + w->limits.decide;
            if (!pulled) continue;
            w->sign[z->kink[m]] = z->part[m] > 1 ? 1 : -1;
            let_go(z, m, s->sys->nv);
        }
    }
    return CAROM_OK;
}

// How far the phase begins beyond kinks, by rounding.  Where something jumps, its first stage would know what lies
// behind, not ahead; so the state is put beside the jump, and beyond none.
static carom_status put_aside(carom_phase *w, carom_step *s, bool *moved) {
    enum { TIMES = 4 };
    const carom_system *sys = s->sys;
    carom_filippov *z = &w->f.filippov;
    double *k = w->from.phi + 2 * sys->nc, rate;
    bool behind = true;
    for (int time = 0; behind && time < TIMES; ++time) {
        behind = false;
        for (int i = 0; i < sys->events->nk; ++i) {
            const int side = w->sign[i] < 0 ? -1 : 1;
            if (w->sign[i] == 0 || !jumps(sys, i) || side * k[i] > 0 || z->n == CAROM_SURFACES) continue;
            CAROM_TRY(look_at(w, s, i, &rate));
            CAROM_TRY(carom_filippov_beside(z, s, z->n, 1, &side, w->t, w->q, w->v));
            carom_copy(w->q, z->q, sys->nq);
            carom_copy(w->v, z->v, sys->nv);
            CAROM_TRY(carom_phase_kinks_raw(w, s, w->t, w->q, w->v, k));
            behind = true;
        }
        *moved = *moved || behind;
        w->passing = w->passing || behind;
    }
    for (int i = 0; i < sys->events->nk; ++i) w->beyond[i] = fmax(0, -w->sign[i] * k[i]);
    return CAROM_OK;
}

carom_status carom_phase_sides(carom_phase *w, carom_step *s, double h, bool *moved) {
    const carom_system *sys = s->sys;
    double *k = w->from.phi + 2 * sys->nc;
    bool rests = false;
    *moved = w->passing = false;
    if (sys->events->nk == 0) return CAROM_OK;
    w->f.filippov.size_q = w->now[CAROM_PHASE_SIZE_Q], w->f.filippov.size_v = w->now[CAROM_PHASE_SIZE_V];
    CAROM_TRY(carom_phase_kinks_raw(w, s, w->t, w->q, w->v, k));
    CAROM_TRY(set_floors(w, s, k));
    for (int i = 0; i < sys->events->nk; ++i) {
        const bool on = of_forces(sys, i) && fabs(k[i]) <= w->floor[2 * sys->nc + i];
        w->sign[i] = on ? 0 : k[i] < 0 ? -1 : 1;
    }
    CAROM_TRY(decide_all(w, s, moved));
    for (int i = 0; i < sys->events->nk; ++i) rests = rests || w->sign[i] == 0;
    if (rests) CAROM_TRY(look_ahead(w, s, h));
    for (int i = 0; i < sys->events->nk; ++i) { // where nothing jumps, an event at once does no harm
        if (w->sign[i] == HELD) w->sign[i] = 0;
        else if (w->sign[i] != 0 && !jumps(sys, i)) w->sign[i] = k[i] < 0 ? -1 : 1;
    }
    CAROM_TRY(put_aside(w, s, moved));
    carom_copy(w->from.q, w->q, sys->nq);
    carom_copy(w->from.v, w->v, sys->nv);
    return carom_phase_kinks(w, s, w->t, w->q, w->v, k);
}

static bool holds(const carom_filippov *z, int i) {
    for (int m = 0; m < z->n; ++m)
        if (z->kink[m] == i) return true;
    return false;
}

carom_status carom_phase_sides_left(carom_phase *w, carom_step *s) {
    const carom_system *sys = s->sys;
    double *k = w->aside.phi;
    bool rests = false;
    for (int i = 0; i < sys->events->nk; ++i) rests = rests || w->sign[i] == 0;
    if (!rests) return CAROM_OK;
    CAROM_TRY(carom_phase_kinks_raw(w, s, w->t + w->from.tau, w->from.q, w->from.v, k));
    for (int i = 0; i < sys->events->nk; ++i)
        if (w->sign[i] == 0 && fabs(k[i]) > w->floor[2 * sys->nc + i] && !holds(&w->f.filippov, i))
            w->sign[i] = k[i] < 0 ? -1 : 1;
    return CAROM_OK;
}

bool carom_phase_reaches_jump(const carom_phase *w, const carom_step *s) {
    for (int i = 0; i < s->sys->events->nk; ++i) {
        const int at = 2 * s->sys->nc + i;
        if (jumps(s->sys, i) && w->sign[i] != 0 && fabs(w->a.phi[at]) <= w->floor[at] &&
            fabs(w->from.phi[at]) > w->floor[at])
            return true;
    }
    return false;
}

carom_status carom_phase_across_jump(carom_phase *w, carom_step *s, const double *q, const double *v, bool *across) {
    const carom_system *sys = s->sys;
    double *k_0 = w->aside.phi, *k_1 = w->trial.phi;
    *across = false;
    if (!some_jump(sys)) return CAROM_OK;
    CAROM_TRY(carom_phase_kinks_raw(w, s, w->t, w->q, w->v, k_0));
    CAROM_TRY(carom_phase_kinks_raw(w, s, w->t, q, v, k_1));
    for (int i = 0; i < sys->events->nk; ++i) *across = *across || (jumps(sys, i) && !(k_0[i] * k_1[i] > 0));
    return CAROM_OK;
}

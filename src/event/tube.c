// tube.c: open contacts that cannot close for a while: steps inside a tube around the motion need not look for them;
// see phase.h.
#include "event/tube.h"
#include <math.h>

enum { BY_RATE = 2 }; // clear[...]: 0 no, 1 yes, or as long as its rate allows
enum { T_0, T_1, NEXT, LENGTH, HEAD }; // now[...]: when it begins and ends; when to try again; how long the next one
                                       // shall be; then v, off, clear and most

static double *velocity(const carom_tube *z) { return z->now + HEAD; }
static double *off(const carom_tube *z, const carom_step *s) { return velocity(z) + s->sys->nv; }
static double *clear(const carom_tube *z, const carom_step *s) { return off(z, s) + s->sys->nv; }
static double *most(const carom_tube *z, const carom_step *s) { return clear(z, s) + z->room; }

carom_tube carom_allocate_tube(carom_arena *mem, carom_arena *keep, const carom_system *sys) {
    carom_tube z = {.size = sys->nc > 0 ? HEAD + 2 * (size_t)(sys->nv + sys->nc) : 0, .room = sys->nc};
    if (z.size == 0) return z;
    z.now = carom_allocate(mem, z.size);
    z.kept = carom_allocate(keep, HEAD + 2 * (size_t)sys->nv);
    CAROM_ALLOCATE(keep, (size_t)sys->nc, &z.kept_clear, &z.kept_most);
    return z;
}

void carom_tube_load(carom_tube *z, const carom_step *s) {
    if (z->size > 0) {
        carom_copy(z->now, z->kept, HEAD + 2 * s->sys->nv);
        carom_copy(clear(z, s), z->kept_clear, z->room);
        carom_copy(most(z, s), z->kept_most, z->room);
    }
    if (s->jumped) carom_tube_leave(z);
}

void carom_tube_keep(carom_tube *z, const carom_step *s) {
    if (z->size == 0) return;
    carom_copy(z->kept, z->now, HEAD + 2 * s->sys->nv);
    carom_copy(z->kept_clear, clear(z, s), z->room);
    carom_copy(z->kept_most, most(z, s), z->room);
}

void carom_tube_forget(carom_tube *z, int c) {
    z->kept_clear[c] = z->kept_most[c] = 0;
}

void carom_tube_leave(carom_tube *z) {
    if (z->size > 0) z->now[T_1] = z->now[NEXT] = -HUGE_VAL;
}

// Half of what is allowed: stages and ends of steps do not show all.
static bool within(const carom_tube *z, const carom_step *s, const double *v) {
    const double *v_0 = velocity(z), *d = off(z, s);
    for (int i = 0; i < s->sys->nv; ++i)
        if (!(fabs(v[i] - v_0[i]) <= 0.5 * d[i])) return false;
    return true;
}

// (SC-10)  From (t, q, v) on, as long as no velocity changes by more than d, positions at time x differ from q + x v by
//          no more than x d, and components of a quaternion from their chord by no more than x |w|.  Bounds over a
//          motion of 2 L, with quaternions 4 L, allow for so much while x <= L: gaps above zero by them stay so.
// (SC-11)  Where the system has no bounds: (SC-2) at the largest velocities of the tube, doubled for levers that
//          change, bounds the rates of gaps over its steps. *room: how much longer the tube might be, by how far the
//          gaps that are watched fall.
static carom_status lay(carom_phase *w, carom_step *s, double length, double *room) {
    const carom_system *sys = s->sys;
    const double T = (sys->move ? 4 : 2) * length, fastest = carom_size_of_rates(sys, w->v);
    carom_tube *z = &w->tube;
    carom_scan *b = &w->scan;
    static const double WIDE = 0.02, LEAST = 1e-6; // of a velocity, and of the fastest: the tube is wider than what two
                                                   // lengths of the present acceleration make of them
    double *d = off(z, s);
    for (int i = 0; i < sys->nv; ++i)
        d[i] = 2 * length * fabs(w->f.a[i]) + WIDE * fabs(w->v[i]) + LEAST * fastest / carom_lever(sys, i);
    carom_copy(velocity(z), w->v, sys->nv);
    carom_move(s, w->q_1, w->q, T, w->v);
    for (int c = 0; c < sys->nc; ++c) b->least[c] = NAN;
    if (sys->events->gap_bounds)
        CAROM_TRY(sys->events->gap_bounds(sys->model, s->sys_work, w->t, w->t + T, w->q, w->q_1, w->v, w->v, d,
                                          b->least, b->slowest, b->fastest, b->change));
    bool rates = false;
    *room = HUGE_VAL;
    for (int c = 0; c < sys->nc; ++c) {
        const double g = w->from.g[sys->ne + c], least = b->least[c] - w->tol_g[c];
        clear(z, s)[c] = least > 0;
        most(z, s)[c] = HUGE_VAL;
        rates = rates || isnan(least);
        if (isnan(least)) clear(z, s)[c] = BY_RATE;
        else if (b->watched[c]) *room = least < g ? fmin(*room, g / (g - least)) : *room;
        if (b->watched[c] && (least == -HUGE_VAL || !(g > 0))) *room = 0;
    }
    for (int i = 0; i < sys->nv; ++i) w->v_1[i] = fabs(w->v[i]) + d[i];
    if (rates) CAROM_TRY(carom_scan_rates(b, s, &w->all, w->t, w->q, w->v_1, most(z, s)));
    z->now[T_0] = w->t;
    z->now[T_1] = w->t + length;
    return CAROM_OK;
}

// As long as all that is watched is clear, if that is possible for a step at all; else for a step, and for some steps
// no other is tried.
static carom_status begin(carom_phase *w, carom_step *s) {
    const double LONGEST = s->sys->events->gap_bounds ? 64 : 16, PART = 0.7; // steps; of the room
    enum { TRIES = 4, WAIT = 4 }; // shorter each time; steps until it is tried again
    double *now = w->tube.now, length, room = 0;
    const double shortest = 1.001 * w->longest; // longer than any step, by rounding of their sums
    for (int i = 0; i < TRIES && !(room > 1); ++i) {
        length = i < TRIES - 1 ? fmax(fmin(now[LENGTH], LONGEST * w->longest), shortest) : shortest;
        CAROM_TRY(lay(w, s, length, &room));
        now[LENGTH] = length * fmin(2, PART * room);
        if (length == shortest) break;
    }
    now[NEXT] = room > 1 ? now[T_1] : w->t + WAIT * length;
    return CAROM_OK;
}

// Is contact c clear in a step of h with gaps g at its end?  It may have jumped, as in (SC-12): each end stands alone.
static bool far(const carom_phase *w, const carom_step *s, int c, double h, const double *g) {
    const int id = s->sys->ne + c;
    const double how = clear(&w->tube, s)[c], rate = most(&w->tube, s)[c];
    if (how != BY_RATE) return how != 0;
    const double g_0 = w->from.g[id], g_1 = g[id], way = h * rate + 2 * w->tol_g[c];
    return fmin(g_0, g_1) > way && fabs(w->from.u[c]) <= rate;
}

carom_status carom_tube_enter(carom_phase *w, carom_step *s, bool *needless) {
    carom_tube *z = &w->tube;
    *needless = false;
    if (z->size == 0) return CAROM_OK;
    const bool out = w->t < z->now[T_0] || (w->t < z->now[T_1] && !within(z, s, w->v));
    if (out) z->now[LENGTH] *= 0.5;
    if (out || w->t + w->longest > fmax(z->now[T_1], z->now[NEXT])) CAROM_TRY(begin(w, s));
    *needless = w->t + w->longest <= z->now[T_1];
    for (int c = 0; c < s->sys->nc; ++c)
        *needless = *needless && (!w->scan.watched[c] || far(w, s, c, w->longest, w->from.g));
    return CAROM_OK;
}

bool carom_tube_holds(const carom_phase *w, const carom_step *s) {
    const carom_tube *z = &w->tube;
    if (z->size == 0 || !w->integrator->velocity || w->t < z->now[T_0] || w->t + w->b.tau > z->now[T_1]) return false;
    const double *v;
    bool inside = within(z, s, w->b.v);
    for (int i = 0; inside && (v = w->integrator->velocity(w, i)); ++i) inside = within(z, s, v);
    return inside;
}

bool carom_tube_clear(const carom_phase *w, const carom_step *s, int c) {
    return far(w, s, c, w->b.tau, w->b.g) &&
           (clear(&w->tube, s)[c] != BY_RATE || fabs(w->b.u[c]) <= most(&w->tube, s)[c]);
}

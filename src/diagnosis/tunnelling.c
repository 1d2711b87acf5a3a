// tunnelling.c: did a step pass an obstacle?
//
// A scheme that does not locate events looks at gaps at a point or two of a step.  Something thin may lie between.  A
// line through the gaps of the step before tells whether one may have closed (carom_sim_may_have_closed() in sim.h).
// Where it is open all the same, and nothing reacted, the motion inside the step is looked at.
#include "diagnosis/diagnosis.h"
#include "system/system.h"
#include <math.h>

enum { PLACES = 16, NARROWED = 48, HALVED = 40 }; // places in a step; by golden section, 0.618^48 of two of them;
                                                  // halvings until the gap's zero is known to rounding
static const double START = 1e-3;                 // of a step: a difference over it gives rates
static const double FEW = 4;                      // times: a gap that is as far below zero as the motion is not known,
                                                  // and an approach that forces of a few steps explain, are no obstacle
static const double SHARP = 0.75;                 // of the way to where tangents meet: half of it on a parabola, all of
                                                  // it at a kink
static const double ROUNDING = 1e-9;              // of the largest local velocity of the run: what moves more slowly is
                                                  // at rest

// The motion inside the last step of h from t_0 on: v(x) = v_0 + x (v_1 - v_0), from its start up to the middle, and
// back from its end.
typedef struct path {
    carom_sim *sim;
    double t_0, h;
    const double *v_0; // at the start of the step
    int id;      // the gap that is looked at,
    const carom_list_pair *pair; // or the smallest of this pair of the list, its k-th; only its bodies move then.
                                 // NULL: none
    int k;
    double g_0, g_next; // at the start of the step, and soon after along its velocity
    bool reacted;
    enum { BOTH, FROM_START, FROM_END } motion; // one of the two where they do not fit together
    bool failed;
} path;

static double gap_here(path *p, double t, const double *q) {
    const carom_sim *sim = p->sim;
    carom_zero(sim->gaps.inside, sim->sys->ne + sim->sys->nc);
    if (sim->sys->gaps(sim->sys->model, sim->step.sys_work, t, q, sim->gaps.inside) != CAROM_OK) p->failed = true;
    return sim->gaps.inside[p->id];
}

// The gap after a move from a position along v for the time h, at the time t.
static double gap_after(path *p, double t, const double *from, double h, const double *v) {
    const carom_sim *sim = p->sim;
    double gap = HUGE_VAL;
    if (!p->pair) {
        carom_move(&sim->step, sim->whole.q, from, h, v);
        return gap_here(p, t, sim->whole.q);
    }
    if (sim->sys->contact_list->gap_of_pair(sim->sys->model, sim->step.sys_work, p->k, from, h, v, sim->whole.q,
                                           &gap) !=
        CAROM_OK)
        p->failed = true;
    return gap;
}

static void way(const path *p, double x, bool from_end, int first, int n) {
    const carom_sim *sim = p->sim;
    const double y = 1 - x;
    for (int i = first; i < first + n; ++i) {
        const double dv = sim->v[i] - p->v_0[i];
        sim->whole.v[i] = from_end ? 0.5 * y * y * dv - y * sim->v[i] : x * p->v_0[i] + 0.5 * x * x * dv;
    }
}

// q_0 (+) h (x v_0 + x^2/2 dv), or q_1 (-) h (y v_1 - y^2/2 dv), y = 1 - x
static double gap_from(path *p, double x, bool from_end) {
    const carom_sim *sim = p->sim;
    if (!p->pair) way(p, x, from_end, 0, sim->sys->nv);
    for (int i = 0; p->pair && i < 2; ++i) way(p, x, from_end, p->pair->v[i], p->pair->nv[i]);
    return gap_after(p, p->t_0 + x * p->h, from_end ? sim->q : sim->undo.q, p->h, sim->whole.v);
}

static double gap_inside(path *p, double x) {
    return gap_from(p, x, p->motion == BOTH ? x > 0.5 : p->motion == FROM_END);
}

// Where the gap is smallest: the smallest of some, then by golden section between its neighbours.
static double smallest(path *p, double *least) {
    const double golden = 0.6180339887498949; // (sqrt(5) - 1)/2
    double best = 0;
    *least = HUGE_VAL;
    for (int i = 1; i < PLACES; ++i) {
        const double x = (double)i / PLACES, g = gap_inside(p, x);
        if (g < *least) *least = g, best = x;
    }
    double a = best - 1.0 / PLACES, b = best + 1.0 / PLACES, x = b - golden * (b - a), y = a + golden * (b - a),
           g_x = gap_inside(p, x), g_y = gap_inside(p, y);
    for (int i = 0; i < NARROWED; ++i) {
        if (g_x < g_y) b = y, y = x, g_y = g_x, x = b - golden * (b - a), g_x = gap_inside(p, x);
        else a = x, x = y, g_x = g_y, y = a + golden * (b - a), g_y = gap_inside(p, y);
    }
    const double last = fmin(g_x, g_y);
    if (last < *least) *least = last, best = g_x < g_y ? x : y;
    return best;
}

// The rate with which the gap changes at x, were the velocity v: looked at from before, where nothing is closed.
static double rate(path *p, double x, const double *v) {
    const carom_sim *sim = p->sim;
    const double e = fmin(START, 0.5 * x) * p->h, g = gap_inside(p, x);
    return (g - gap_after(p, p->t_0 + x * p->h - e, sim->whole.q, -e, v)) / e;
}

static bool reacted(const carom_sim *sim, int c) {
    const carom_step *s = &sim->step;
    const int d = s->dir[s->sys->ne + c];
    return s->record.reacted && (s->record.impulse[d] > 0 || s->record.force[d] > 0);
}

// How deep contacts are that react, at the end of the step: where bodies are is known no better.  Or, at its start, FEW
// times those that stay as deep as they are: a corner that runs off them meets the next feature as deep, along another
// normal.
static double sunk(const path *p) {
    const carom_sim *sim = p->sim;
    const int ne = sim->sys->ne;
    double least = 0;
    for (int id = ne; id < ne + sim->sys->nc; ++id)
        if (sim->gaps.now[id] < least && reacted(sim, id - ne)) least = sim->gaps.now[id];
    for (int id = ne; id < ne + carom_sim_fixed_contacts(sim) && !p->pair; ++id) {
        const double g = sim->gaps.start[id], stays = FEW * fabs(sim->gaps.soon[id] - g);
        if (FEW * g < least && stays <= START * -g && !carom_system_closes_while(sim->sys, id - ne)) least = FEW * g;
    }
    return -least;
}

// (PO-6)  h/8 |dg/dq (v_1 - v_0)| at x: what the gap changes by if velocities do not change evenly, as where a contact
//         that is closed at the start ends inside the step.  The lesser of two differences in a row: where a gap jumps
//         to another feature one of them has the jump in it, which is no rate.
static double bend(path *p, double x, double least) {
    const carom_sim *sim = p->sim;
    bool closed = false;
    for (int id = sim->sys->ne; id < sim->sys->ne + carom_sim_fixed_contacts(sim) && !p->pair && !closed; ++id)
        closed = sim->gaps.start[id] <= sim->gaps.touches;
    if (!closed) return 0;
    gap_inside(p, x);
    for (int i = 0; i < sim->sys->nv; ++i) sim->whole.v[i] = sim->v[i] - p->v_0[i];
    double g[2];
    for (int k = 0; k < 2; ++k) g[k] = gap_after(p, p->t_0 + x * p->h, sim->whole.q, START * p->h, sim->whole.v);
    return fmin(fabs(g[0] - least), fabs(g[1] - g[0])) / (8 * START);
}

// (PO-1)  Passed: the smallest gap inside the step is below zero by more than contacts that react have sunk, and by
//         more than FEW times what its two ends differ by about the middle, and where it became zero the approach was
//         larger than FEW times what the step's change of velocity explains: an impact (CL-4) that did not take place.
//         Velocities of two-step schemes are means of two steps, and do not lead from one end to the other: the motion
//         from either end must be below zero.
static bool passed(path *p, double *at) {
    double least;
    *at = p->t_0;
    if (p->g_0 <= p->sim->gaps.touches) return !p->failed; // closed at the start already
    if (p->sim->scheme->limitations & CAROM_NO_STEP_CHANGE && p->v_0 == p->sim->undo.v) {
        p->motion = FROM_END;
        smallest(p, &least);
        if (!(-least > p->sim->gaps.touches)) return false;
        p->motion = FROM_START;
    }
    const double x = smallest(p, &least),
                 unknown = p->motion == FROM_START ? 0 : fabs(gap_from(p, 0.5, false) - gap_from(p, 0.5, true));
    if (p->failed || !(-least > p->sim->gaps.touches + sunk(p) + FEW * (unknown + bend(p, x, least)))) return false;
    double a = 0, b = x;
    for (int i = 0; i < HALVED; ++i) *(gap_inside(p, 0.5 * (a + b)) > 0 ? &a : &b) = 0.5 * (a + b);
    const double before = rate(p, a, p->v_0), after = rate(p, a, p->sim->v);
    *at = p->t_0 + a * p->h;
    return !p->failed && -fmax(before, after) > FEW * fabs(after - before);
}

// Has the scheme moved the position at the end by a multiplier of this contact?  The motion from the start alone is
// what there was before.
static bool corrected(const carom_sim *sim, int c) {
    return sim->step.record.nu && sim->step.record.nu[sim->step.dir[sim->step.sys->ne + c]] > 0;
}

// May a contact have closed that did not react?  Two-step schemes need two steps for an impact: a reaction in the first
// may leave it inside, and one in the second push it out on the far side.
static bool in_question(const carom_sim *sim, int c, uint64_t near) {
    return near & CAROM_NEAR(c) && (sim->scheme->limitations & CAROM_NO_STEP_CHANGE || !reacted(sim, c)) &&
           !carom_system_closes_while(sim->sys, c);
}

// Does the line through the gap at the start of the step, and soon after, fall to zero?  Of one that is closed there,
// or reacted: is the approach larger than forces and rounding explain, with the velocity at the end, too?
static bool approaches(path *p) {
    const carom_sim *sim = p->sim;
    const double e = START * p->h, before = (p->g_next - p->g_0) / e;
    const bool open = p->g_0 > sim->gaps.touches;
    if (open && !(p->g_0 + before * p->h < sim->gaps.touches)) return false;
    if (open && !p->reacted) return true;
    const double after = (gap_after(p, p->t_0 + e, sim->undo.q, e, sim->v) - p->g_0) / e;
    return -fmax(before, after) >
           fmax(FEW * fabs(after - before), fmax(sim->gaps.touches / e, ROUNDING * sim->kept->fastest));
}

// Is it open at the end, too?  Or on its way out of an obstacle in whose middle the normal turns round?
static bool leaves(path *p) {
    const carom_sim *sim = p->sim;
    const double e = START * p->h, g = p->pair ? gap_after(p, p->t_0 + p->h, sim->q, 0, sim->v) : sim->gaps.now[p->id];
    return g > sim->gaps.touches || gap_after(p, p->t_0 + p->h + e, sim->q, e, sim->v) > g;
}

typedef enum outcome { OTHERWISE, DUE, PASSED } outcome; // DUE: an impact is due in the next step

static outcome looked_at(path *p, double *at) {
    if (!approaches(p)) return OTHERWISE;
    if (!leaves(p)) return DUE;
    return passed(p, at) ? PASSED : OTHERWISE;
}

// (PO-5)  Does the gap fall and rise again at once, as at a plate, and not along a curve, as a smooth surface under the
//         chord of a step?  The tangents at both ends meet at L, below the chord at C: the least gap of a parabola is
//         in the middle between C and L, that of a kink is L.
static bool turns_at_once(path *p) {
    const carom_sim *sim = p->sim;
    const double e = START * p->h, g_0 = p->g_0, g_1 = sim->gaps.now[p->id], fall = (p->g_next - g_0) / START,
                 rise = (g_1 - gap_after(p, p->t_0 + p->h - e, sim->q, -e, sim->v)) / START;
    const double x = (g_1 - rise - g_0) / (fall - rise), L = g_0 + x * fall, C = g_0 + x * (g_1 - g_0);
    double least;
    if (!(fall < 0 && rise > 0)) return false;
    smallest(p, &least);
    return C - least > SHARP * (C - L);
}

// (PO-4)  A two-step scheme moves with d = (q_1 - q_0)/h and reports v_1 = 1/2 (d + d_next).  Its v_0 has half of the
//         reactions of the step before in it: a point that these have slowed seems to change its velocity.  v_0 = 2 d -
//         v_1 has none of them, and leads from one end to the other.
static const double *behind_reactions(const carom_sim *sim, double h) {
    for (int i = 0; i < sim->sys->nv; ++i) sim->v_start[i] = 2 * (sim->q[i] - sim->undo.q[i]) / h - sim->v[i];
    return sim->v_start;
}

void carom_diagnosis_after_step(carom_sim *sim, double t_0, bool stale, uint64_t near) {
    const int ne = sim->sys->ne, nc = carom_sim_fixed_contacts(sim);
    if (stale) near = UINT64_MAX;
    sim->kept->near = 0;
    carom_counts *counts = &sim->kept->ledger.counts;
    path p = {.sim = sim, .t_0 = t_0, .h = sim->kept->t - t_0, .v_0 = sim->undo.v, .id = ne};
    bool some = false;
    if (stale) gap_here(&p, t_0, sim->undo.q), carom_copy(sim->gaps.start + ne, sim->gaps.inside + ne, nc);
    for (int c = 0; c < nc && !some; ++c) some = in_question(sim, c, near);
    if (!some || !(p.h > 0)) return;
    carom_move(&sim->step, sim->whole.q, sim->undo.q, START * p.h, sim->undo.v);
    gap_here(&p, t_0 + START * p.h, sim->whole.q);
    carom_copy(sim->gaps.soon, sim->gaps.inside, ne + nc);
    for (int c = 0; c < nc && !p.failed; ++c) {
        double at;
        if (!in_question(sim, c, near)) continue;
        p.id = ne + c;
        p.g_0 = sim->gaps.start[p.id], p.g_next = sim->gaps.soon[p.id];
        p.reacted = reacted(sim, c), p.motion = corrected(sim, c) ? FROM_START : BOTH;
        outcome what = looked_at(&p, &at);
        if (what != PASSED && sim->v_start && !sim->sys->move) {
            p.v_0 = behind_reactions(sim, p.h), p.motion = BOTH;
            p.g_next = gap_after(&p, t_0 + START * p.h, sim->undo.q, START * p.h, p.v_0);
            what = looked_at(&p, &at) == PASSED && turns_at_once(&p) ? PASSED : what;
            p.v_0 = sim->undo.v;
        }
        if (what == DUE) sim->kept->near |= CAROM_NEAR(c);
        if (what == PASSED && counts->missed++ == 0) counts->missed_id = p.id, counts->missed_t = at;
    }
}

// Did none of the contacts of a pair of the list react?
static bool pair_in_question(path *p) {
    const carom_sim *sim = p->sim;
    const int first = sim->sys->nc - sim->sys->listed + p->pair->first;
    p->motion = BOTH;
    for (int c = first; c < first + p->pair->count; ++c) {
        if (reacted(sim, c) || carom_system_closes_while(sim->sys, c)) return false;
        if (corrected(sim, c)) p->motion = FROM_START;
    }
    return true;
}

// Counts the step once, whatever it has passed: in a world of many fast bodies the first look that finds something ends
// the search.
void carom_diagnosis_after_list(carom_sim *sim, double t_0) {
    const carom_system *sys = sim->sys;
    carom_counts *counts = &sim->kept->ledger.counts;
    carom_list_pair pair;
    path p = {.sim = sim, .t_0 = t_0, .h = sim->kept->t - t_0, .v_0 = sim->undo.v, .pair = &pair};
    if (sim->scheme->emits_events || !sys->contact_list->may_tunnel || !(p.h > 0)) return;
    for (p.k = 0; p.k < sim->list.pairs; ++p.k) {
        double at;
        if (!sys->contact_list->may_tunnel(sys->model, &sim->list, p.k, &pair) || !pair_in_question(&p)) continue;
        p.g_0 = gap_after(&p, t_0, sim->undo.q, 0, sim->undo.v),
        p.g_next = gap_after(&p, t_0 + START * p.h, sim->undo.q, START * p.h, sim->undo.v);
        const bool found = approaches(&p) && leaves(&p) && passed(&p, &at);
        if (p.failed) return;
        if (!found) continue;
        if (counts->missed++ == 0)
            counts->missed_id = carom_sim_known_as(sim, sys->ne + sys->nc - sys->listed + pair.first),
            counts->missed_t = at;
        return;
    }
}

void carom_diagnosis_after_impacts(carom_sim *sim, double h) {
    const double far = FEW * h * sim->kept->speed;
    for (int c = 0; c < carom_sim_fixed_contacts(sim); ++c)
        if (sim->gaps.now[sim->sys->ne + c] < far) sim->kept->near |= CAROM_NEAR(c);
}

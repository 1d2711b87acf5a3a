// decide.c: what happens at an event: impact, then which contacts stay, stick, slide or leave.
//
// Newton's law acts on all contacts at the wall at once (EV-9); those that are left without normal velocity enter the
// laws on acceleration level (EV-5), and those decide.  Where acceleration and reaction both vanish, the laws are asked
// again a moment later (EV-11).
#include "base/tolerance.h"
#include "event/change.h"
#include "linalg/matrix.h"
#include "event/decide.h"
#include "event/feature.h"
#include "event/filippov.h"
#include "event/tube.h"
#include "linalg/dense.h"
#include <float.h>
#include <math.h>

enum { LONG_RUN = 50 }; // impacts in a row, each sooner than the one before
static const double LATER = 1e-3; // part of the tolerance that decides a moment later, where what vanished has grown

// -- what counts as none ----------------------------------------------------------------------------------------------

double carom_phase_gap_rounding(const carom_phase *w, const carom_step *s, int k, double h) {
    const carom_entries W = carom_entries_of(&w->all.W, k);
    const bool same = s->sys->nq == s->sys->nv;
    double place = 0, way = 0, fall = 0;
    for (int e = 0; e < W.n; ++e) {
        const int i = carom_entry_row(&W, e);
        const double x = W.a[e];
        if (same) place += fabs(x * w->q[i]);
        way += fabs(x * w->v[i]);
        fall += fabs(x * w->f.a_f[i]);
    }
    const double eps = CAROM_ROUNDING_SUM;
    const double here = same ? eps * place : carom_local_rounding(&w->all, k, w->q, s->sys->nq);
    return h > 0 ? here + h * (eps * way) + h * h * (eps * fall) : here;
}

static double still_exactly(const carom_phase *w, const carom_step *s, int k, bool slip) {
    return carom_phase_still(w, s, &w->all, k, slip) + CAROM_ROUNDING_SOLVED * carom_local_magnitude(&w->all, k, w->v);
}

// What rounding leaves of the velocity of a row where events are located to rounding.
static double little(const carom_phase *w, const carom_step *s, const carom_local *L, int k) {
    return CAROM_PHASE_LITTLE * carom_phase_still(w, s, L, k, false) +
           CAROM_ROUNDING_SOLVED * carom_local_magnitude(L, k, w->v);
}

static const double LEAST_FED = 16, MOST_FED = 1e4; // k of (MX-11): of plastic impacts, and of elastic ones

// (MX-11)  eps_v = 2 |Gamma| delta + sqrt(2 k |Gamma| eps_g): flights and slips that last no longer than the interval,
//          and flights that the rounding eps_g of the gap hides.  Each of those falls too deep by eps_g, which feeds
//          speeds up to (2 |Gamma| eps_g e^2/(1 - e^2))^1/2; k is above that.
static double slow_speed(const carom_phase *w, const carom_step *s, int c, double press, double delta) {
    const int k = w->all.at[s->sys->ne + c];
    const double e = s->sys->contacts[c].restitution, n = fmin(fmax(LEAST_FED, 2 * e * e / (1 - e * e)), MOST_FED);
    const double residual = 4 * s->tol * s->scale,
                 rounding = CAROM_ROUNDING_SOLVED * carom_local_magnitude(&w->all, k, w->v);
    return 2 * press * delta + sqrt(2 * n * press * w->tol_g[c]) + residual + w->none + rounding;
}

static carom_status slow_speeds(carom_phase *w, carom_step *s, double delta) {
    const int ne = s->sys->ne;
    carom_flow *f = &w->f;
    if (!w->limits.exact) {
        CAROM_TRY(carom_flow_rate(f, s, w->t, w->q, w->v, false));
        CAROM_TRY(carom_curvature(s, w->kappa, &w->all, w->t, w->q, w->v));
    }
    const double residual = 4 * s->tol * s->scale;
    for (int c = 0; c < s->sys->nc; ++c) {
        const int first = w->all.at[ne + c], end = w->all.at[ne + c + 1];
        if (w->limits.exact) {
            w->slow[c] = still_exactly(w, s, first, false) + w->over_to[c];
            w->slow_T[c] = end > first + 1 ? still_exactly(w, s, first + 1, true) : 0;
            continue;
        }
        double Gamma_T = 0;
        for (int i = first + 1; i < end; ++i)
            Gamma_T = hypot(Gamma_T, carom_column_dot(&w->all.W, i, f->a) + w->kappa[i]);
        double press = fmax(0, -(carom_column_dot(&w->all.W, first, f->a) + w->kappa[first]));
        for (int b = ne; b < f->L.nb; ++b) // a closed one: what its reaction prevents
            if (f->L.id[b] == ne + c) press = fmax(press, f->lambda[f->L.at[b]] * f->D[f->L.at[b]]);
        w->slow[c] = slow_speed(w, s, c, press, delta) + w->over_to[c];
        w->slow_T[c] = 2 * Gamma_T * delta + residual +
                       (end > first + 1 ? CAROM_ROUNDING_SOLVED * carom_local_magnitude(&w->all, first + 1, w->v) : 0);
    }
    return CAROM_OK;
}

// -- accumulations of single contacts ---------------------------------------------------------------------------------

// A step that has used up most of its events hands over sooner: a long run of impacts that will end within the step, by
// its own restitution, is ended now.
static bool hand_over(const carom_phase *w, const carom_step *s, int c) {
    const carom_impact_run *r = w->runs.run + c;
    const double e = s->sys->contacts[c].restitution, rest = e < 1 ? r->flight * e / (1 - e) : HUGE_VAL;
    // chosen: a quarter is left for what follows
    const bool late = (double)w->events > 0.75 * w->limits.events || s->record.nevents > 0.75 * s->record.max_events;
    return late && carom_phase_open(w, c) && r->count >= LONG_RUN && w->hit[c] && w->t + rest <= s->t + s->h;
}

// (EV-14)  Flights so short, after a run of ever shorter ones, have accumulated: whatever velocity is left, the limit
// has none, because a velocity that changes sign infinitely often before one instant tends to zero there.  Contacts
// that take turns are left to carom_accumulation_limit().
static void find_accumulated(carom_phase *w, const carom_step *s) {
    const double shortest = w->limits.time * carom_phase_time(w);
    const carom_impact_run *run = w->runs.run;
    for (int i = 0; i < s->sys->nc; ++i) {
        bool alone = w->limits.exact;
        for (int j = 0; j < s->sys->nc && alone; ++j)
            alone = j == i || run[j].count == 0 || run[j].t < run[i].t - run[i].flight;
        w->over[i] = w->runs.over[i] || hand_over(w, s, i) ||
                     (alone && carom_phase_open(w, i) && run[i].count >= CAROM_RUN && w->t - run[i].t <= shortest);
    }
}

// (EV-12)  The rest of a run that is closed now would have lasted 2 u/(Gamma (1 - e)), by its last flight T e/(1 - e).
static double rest_of_run(const carom_phase *w, const carom_step *s, int c, double Gamma) {
    const double e = s->sys->contacts[c].restitution, left = w->left[c];
    if (e >= 1) return 0;
    if (w->over[c]) return w->runs.run[c].flight * e / (1 - e);
    return left > 0 && Gamma > 0 ? 2 * left / (Gamma * (1 - e)) : 0;
}

// -- impact -----------------------------------------------------------------------------------------------------------

// (EV-9)  I_c: contacts that were closed, that were reported, or that are at the wall.  One without a direction
//         (corners that
// coincide) carries nothing.
// (EV-27)  A contact that was closed, or that would close, and has run off its feature is open where the gap of the
// next feature is finite: the next feature is elsewhere, and nothing puts the contact on the wall there.
static void gather(carom_phase *w, carom_step *s, double delta, bool first, const bool *lasting) {
    const carom_system *sys = s->sys;
    const double relative = first || w->switched ? w->limits.gap_first : w->limits.gap;
    find_accumulated(w, s);
    for (int c = 0; c < sys->nc; ++c) {
        const double reach = carom_local_magnitude(&w->all, w->all.at[sys->ne + c], w->span);
        const double near = (w->limits.exact ? relative * reach : 4 * w->tol_g[c]) + w->passed * w->over_to[c];
        w->was[c] = w->f.mode[c];
        const bool passes = w->barred[c] && !(first && w->gap[c] >= -near); // at the start it may be closed already
        const double speed = carom_local_magnitude(&w->all, w->all.at[sys->ne + c], w->v);
        const bool closed = w->was[c] != CAROM_MODE_OPEN,
                   elsewhere = w->gap[c] > CAROM_ELSEWHERE * reach + 2 * delta * speed;
        const bool gone = elsewhere && (w->hit[c] || (w->switched && closed));
        const bool lasts = lasting && lasting[c] && !(w->stepped > 0); // else (EV-41) asks where it touches
        const bool there = closed || w->hit[c] || w->over[c] || lasts || w->gap[c] <= near;
        w->in[c] = reach > 0 && !passes && !gone && there;
    }
}

// (EV-36)  Contacts that were struck together last time, as two corners of an edge that lands flat, arrive together
//          again: g <= 4 (t - t_last) eps_u, what the speeds that count as none make of a gap since then.  Which of
//          them the integrator brings to the wall first is its error, and would decide what follows.
static void bring_together(carom_phase *w, const carom_step *s) {
    static const double FEW = 4; // both contacts, and both sides: twice two errors of speed
    const carom_impact_run *r = w->runs.run;
    const int ne = s->sys->ne, nc = s->sys->nc;
    for (int c = 0; c < nc; ++c)
        for (int d = 0; d < nc && w->in[c] && w->hit[c] && w->was[c] == CAROM_MODE_OPEN && r[c].count > 0; ++d) {
            const int k = w->all.at[ne + d];
            if (w->in[d] || w->was[d] != CAROM_MODE_OPEN || w->barred[d] || !(r[d].count > 0 && r[d].t == r[c].t) ||
                !(w->gap[d] <= FEW * (w->t - r[d].t) * w->slow[d]) || !(carom_local_magnitude(&w->all, k, w->span) > 0))
                continue;
            w->in[d] = w->hit[d] = carom_column_dot(&w->all.W, k, w->v) + w->all.w[k] < -w->slow[d];
        }
}

// Contacts that were closed are put on the wall, and so are those reported where that was located to rounding; also
// those that will leave: their gap is zero to rounding only.  Not so those that leave because they have run off their
// feature.
//
// (EV-41)  A contact that has lasted through a time step of h touches, and an approach of at most 2 |Gamma| h is what
//          the step leaves of it, and no impact.
static carom_status touch(carom_phase *w, carom_step *s, const bool *lasting) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    carom_close_these(s, &w->C, w->in);
    CAROM_TRY(carom_directions(s, &w->C, w->t, w->q));
    carom_local_velocity(w->u_minus, &w->C, w->v);
    for (int c = 0; c < nc; ++c)
        w->f.mode[c] = !w->in[c]                      ? CAROM_MODE_OPEN
                       : w->was[c] != CAROM_MODE_OPEN ? w->was[c]
                       : w->limits.exact && w->hit[c] ? CAROM_MODE_STICK
                                                      : CAROM_MODE_OPEN;
    for (int b = ne; b < w->C.nb && lasting && w->stepped > 0; ++b) {
        const int c = w->C.id[b] - ne, k = w->all.at[ne + c];
        const double u = w->u_minus[w->C.at[b]], Gamma = carom_column_dot(&w->all.W, k, w->f.a) + w->kappa[k];
        const double most = w->slow[c] + 2 * fmax(0, -Gamma) * w->stepped;
        if (lasting[c] && u >= -most && u <= w->slow[c]) w->f.mode[c] = CAROM_MODE_SLIP;
    }
    for (int b = ne; b < w->C.nb && w->switched; ++b)
        if (w->u_minus[w->C.at[b]] > w->slow[w->C.id[b] - ne]) w->f.mode[w->C.id[b] - ne] = CAROM_MODE_OPEN;
    CAROM_TRY(carom_flow_project_position(&w->f, s, w->t, w->q));
    // What an interval leaves of the velocity of closed contacts is drift; where features switch, the approach is an
    // impact.
    if (!w->limits.exact && !w->switched) CAROM_TRY(carom_flow_project_velocity(&w->f, s, w->t, w->q, w->v));
    for (int c = 0; c < nc; ++c) w->f.mode[c] = w->in[c] ? w->was[c] : CAROM_MODE_OPEN;
    return carom_directions(s, &w->all, w->t, w->q);
}

// How well closing times are known: to the interval, and instants round.
static double located(const carom_phase *w) { return w->b.tau - w->a.tau + 16 * DBL_EPSILON * fabs(w->t); }

// (MX-21)  One impact of all contacts whose closing times -g/u differ by less than the location error.  Times count
//          from where closed contacts are on the wall: by the drift of one, those that close with it by geometry (the
//          other end of an edge, the corners of a face) would differ by more.
static carom_status join(carom_phase *w, carom_step *s) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    double last = -HUGE_VAL;
    CAROM_TRY(carom_gaps(s, w->trial.g, w->t, w->q));
    for (int c = 0; c < nc; ++c) {
        const int k = w->all.at[ne + c];
        const double u = w->u_plus[c] = carom_column_dot(&w->all.W, k, w->v) + w->all.w[k];
        w->gap[c] = w->trial.g[ne + c];
        const bool hits = w->in[c] && w->hit[c] && u < -carom_flow_no_approach(s, &w->all, k, w->v);
        if (hits) last = fmax(last, -w->gap[c] / u);
    }
    for (int c = 0; c < nc; ++c) {
        const int k = w->all.at[ne + c];
        const bool directed = carom_local_magnitude(&w->all, k, w->span) > 0;
        const bool may = w->was[c] == CAROM_MODE_OPEN && !w->barred[c] && directed;
        const bool approaches = w->u_plus[c] < -carom_flow_no_approach(s, &w->all, k, w->v);
        // 4: (MX-21)
        if (may && approaches && w->gap[c] + w->u_plus[c] * (last + located(w)) <= 4 * w->tol_g[c]) w->in[c] = true;
    }
    return CAROM_OK;
}

// (EV-35)  Gaps of contacts that were struck together last time are not known better now: eps = max(eps, eps then).
//          Flights of an accumulation become shorter, but what one of them has left of the angle between an edge and
//          the wall stays, and in the end it would decide which corner is first.
static void keep_together(carom_phase *w, const carom_step *s) {
    carom_turns *z = &w->runs.turns;
    carom_impact_run *r = w->runs.run;
    for (int c = 0; c < s->sys->nc; ++c)
        for (int d = 0; d < s->sys->nc && z->among[c] && r[c].count > 0; ++d)
            if (d != c && z->among[d] && r[d].count > 0 && r[d].t == r[c].t) z->eps[c] = fmax(z->eps[c], r[c].eps);
    for (int c = 0; c < s->sys->nc; ++c)
        if (z->among[c]) r[c].eps = r[c].count > 0 ? z->eps[c] : 0;
}

// Contacts that arrive within one interval, or that belong to a run that has come too near to the wall for events of
// their own, hit one after the other.
static bool in_turn(carom_phase *w, const carom_step *s, bool across) {
    carom_turns *z = &w->runs.turns;
    int n = 0;
    bool run = across;
    for (int c = 0; c < s->sys->nc; ++c) {
        const int k = w->all.at[s->sys->ne + c];
        const carom_impact_run *r = w->runs.run + c;
        z->among[c] = w->in[c] && w->was[c] == CAROM_MODE_OPEN && !w->over[c];
        z->gap[c] = across ? w->gap[c] : fmax(w->gap[c], 0);
        const double unknown = w->limits.exact ? w->slow[c] : carom_flow_no_approach(s, &w->all, k, w->v);
        z->eps[c] = (w->limits.exact ? carom_local_rounding(&w->all, k, w->q, s->sys->nq) : w->tol_g[c]) +
                    (r->count > 0 ? w->t - r->t : 0) * unknown;
        if (across) z->eps[c] += located(w) * fabs(carom_column_dot(&w->all.W, k, w->v) + w->all.w[k]);
        n += z->among[c];
        run = run || (w->limits.exact && z->among[c] && r->count >= CAROM_RUN);
    }
    if (!run || n < 2) return false;
    if (!across) keep_together(w, s);
    return true;
}

// So slowly a gap goes by no more than its rounding while something happens: eps_g over size_q/size_v.
static double unseen(const carom_phase *w, int c) { return w->tol_g[c] / carom_phase_time(w); }

// Does a contact approach faster than what location and rounding leave?
static bool approaches(const carom_phase *w, const carom_step *s) {
    for (int c = 0; c < s->sys->nc; ++c) {
        const int k = w->all.at[s->sys->ne + c];
        const double none = w->limits.exact ? little(w, s, &w->all, k)
                                            : carom_flow_no_approach(s, &w->all, k, w->v) + unseen(w, c);
        if (w->in[c] && carom_column_dot(&w->all.W, k, w->v) + w->all.w[k] < -(none + w->over_to[c])) return true;
    }
    return false;
}

static carom_status impact(carom_phase *w, carom_step *s, bool across) {
    static const double TRACE = 1e-9; // of the fastest approach so far: what projections leave of none
    bool some;
    for (int c = 0; c < s->sys->nc; ++c) w->p[c] = 0;
    if (!approaches(w, s)) return CAROM_OK;
    const bool turns = in_turn(w, s, across);
    for (int c = 0; c < s->sys->nc; ++c)
        w->pull[c] = w->over[c] ? HUGE_VAL : w->limits.exact && !turns ? 0 : w->slow[c];
    if (turns)
        CAROM_TRY(carom_flow_impact_in_turn(&w->f, s, w->t, w->q, w->v, w->in, w->pull, &w->runs.turns, &w->all, &some,
                                            w->before, w->after, w->p));
    else
        CAROM_TRY(
            carom_flow_impact(&w->f, s, w->t, w->q, w->v, w->in, w->pull, false, &some, w->before, w->after, w->p));
    if (!some) return CAROM_OK;
    for (int c = 0; c < s->sys->nc; ++c)
        if (w->p[c] > 0) w->now[CAROM_PHASE_STRUCK] = fmax(w->now[CAROM_PHASE_STRUCK], -w->before[c]);
    // One that separates, or rests, is struck all the same where another arrives.
    bool arrives = !w->limits.exact;
    for (int c = 0; c < s->sys->nc; ++c) {
        const double trace = fmin(w->slow[c], TRACE * w->now[CAROM_PHASE_STRUCK]);
        arrives = arrives || w->over[c] || (w->p[c] > 0 && -w->before[c] > trace);
    }
    for (int c = 0; c < s->sys->nc; ++c)
        w->runs.lasting[c] = !arrives || (w->was[c] != CAROM_MODE_OPEN && !(-w->before[c] > w->slow[c]));
    return carom_accumulation_impacts(&w->runs, s, w->t, &w->all, w->v, w->before, w->after, w->p);
}

// The rest of the interval, with the new velocity.
static carom_status pass(carom_phase *w, carom_step *s, double dt) {
    carom_move(s, w->q, w->q, dt, w->v);
    for (int c = 0; c < s->sys->nc; ++c) w->f.mode[c] = w->in[c] ? CAROM_MODE_STICK : CAROM_MODE_OPEN;
    return carom_flow_project_position(&w->f, s, w->t, w->q);
}

// -- candidates -------------------------------------------------------------------------------------------------------

// Does the contact slide, and where?
static void slip(carom_phase *w, const carom_step *s, int c, int tangents, const double *u) {
    const double size = carom_length(u, tangents);
    const bool slid = w->was[c] == CAROM_MODE_SLIP, young = slid && carom_phase_young(w, c, tangents),
               event = slid && w->hit[s->sys->nc + c];
    const bool stopped = w->f.follows && event && !young && !w->switched; // else the features ahead tell
    if (!stopped && size > w->slow_T[c]) w->f.mode[c] = CAROM_MODE_SLIP;
    const bool slides = w->f.mode[c] == CAROM_MODE_SLIP;
    for (int b = s->sys->ne; b < w->f.L.nb && slides && young && !event; ++b) // as before the event
        if (w->f.L.id[b] == s->sys->ne + c && size <= carom_phase_own_direction(w, s, b)) return;
    w->f.live[c] = w->f.follows && tangents > 1;
    for (int i = 0; slides && i < tangents; ++i) w->f.dir[CAROM_TANGENTS * c + i] = u[i] / size;
}

// (MX-10)  Contacts with a normal velocity leave; the others are candidates, sliding or perhaps sticking.
static carom_status candidates(carom_phase *w, carom_step *s) {
    carom_close_these(s, &w->C, w->in);
    CAROM_TRY(carom_directions(s, &w->C, w->t, w->q));
    carom_local_velocity(w->u_plus, &w->C, w->v);
    for (int c = 0; c < s->sys->nc; ++c) w->f.mode[c] = CAROM_MODE_OPEN;
    for (int b = s->sys->ne; b < w->C.nb; ++b) {
        const int k = w->C.at[b], tangents = w->C.at[b + 1] - k - 1, c = w->C.id[b] - s->sys->ne;
        const double *u = w->u_plus + k;
        w->left[c] = u[0];
        if (u[0] > w->slow[c]) {
            w->in[c] = false;
            continue;
        }
        w->f.mode[c] = CAROM_MODE_STICK;
        if (tangents > 0) slip(w, s, c, tangents, u + 1);
    }
    return CAROM_OK;
}

// (EV-39)  Features that meet at one place, as an edge and a corner of it, have nearly the same direction.  What their
//          velocities differ by would be taken away by impulses that cancel, |P_i| G_ii > 1e3 max |u|: of these
//          contacts those that move away, by more than rounding, leave, and the others are stopped without them.
static bool let_go(carom_phase *w, const carom_step *s) {
    // impulses a thousand times what the velocities need act on nothing but each other
    static const double CANCEL = 1e3;
    const carom_flow *f = &w->f;
    const int ne = s->sys->ne;
    double most = 0, least = HUGE_VAL;
    bool some = false;
    for (int r = 0; r < f->n; ++r) most = fmax(most, fabs(f->u[f->row[r]]));
    for (int r = 0, b = 0; r < f->n; ++r) {
        const int k = f->row[r];
        while (k >= f->L.at[b + 1]) ++b;
        if (f->L.id[b] < ne || k != f->L.at[b]) continue;
        least = fmin(least, f->u[k]);
        some = some || fabs(f->x[r]) * f->G.G[(size_t)r * (size_t)(f->G.ld + 1)] > CANCEL * most;
    }
    for (int b = ne; b < f->L.nb && some; ++b) {
        const int c = f->L.id[b] - ne;
        const double u = f->u[f->L.at[b]];
        if (u > little(w, s, &f->L, f->L.at[b]) && u > least) w->in[c] = false, w->f.mode[c] = CAROM_MODE_OPEN;
    }
    return some;
}

// (EV-10)  The velocities that are left are taken away by one last, plastic impulse.  It is booked where it is more
// than rounding.
static carom_status settle(carom_phase *w, carom_step *s) {
    carom_flow *f = &w->f;
    const carom_local *L = &f->L;
    carom_copy(w->trial.v, w->v, s->sys->nv);
    CAROM_TRY(carom_flow_stop(f, s, w->t, w->q, w->v));
    if (let_go(w, s)) {
        carom_copy(w->v, w->trial.v, s->sys->nv);
        CAROM_TRY(carom_flow_stop(f, s, w->t, w->q, w->v));
    }
    bool some = false;
    carom_zero(w->impulse, L->at[L->nb]);
    for (int r = 0; r < f->n; ++r) {
        w->impulse[f->row[r]] = f->x[r];
        some = some ||
               // chosen: ten bits, less is left of a solution that holds
               fabs(f->u[f->row[r]]) * (f->x[r] != 0) > 1024 * DBL_EPSILON * carom_local_magnitude(L, f->row[r], w->v);
    }
    if (!some) return CAROM_OK;
    carom_copy(w->u_minus, f->u, L->at[L->nb]);
    carom_local_velocity(w->u_plus, L, w->v);
    s->record.t = w->t;
    carom_account_impulses(s, L, w->impulse, w->u_minus, w->u_plus);
    return CAROM_OK;
}

// Contacts that come to rest may stop others with them, whose slip is coupled to theirs: those are candidates for
// sticking too.
static bool stopped_too(carom_phase *w, const carom_step *s) {
    bool some = false;
    carom_local_velocity(w->u_plus, &w->C, w->v);
    for (int b = s->sys->ne; b < w->C.nb; ++b) {
        const int k = w->C.at[b], c = w->C.id[b] - s->sys->ne, tangents = w->C.at[b + 1] - k - 1;
        if (w->f.mode[c] != CAROM_MODE_SLIP || carom_phase_young(w, c, tangents) ||
            carom_length(w->u_plus + k + 1, tangents) > w->slow_T[c])
            continue;
        w->f.mode[c] = CAROM_MODE_STICK;
        some = true;
    }
    return some;
}

// -- laws on acceleration level ---------------------------------------------------------------------------------------

// What the laws say of block b: 1 holds, -1 lets go, 0 cannot say.  First for the normal, then for the tangents.
static int holds(const double *lambda, const double *Gamma, const double *noise, const double *D, double tol) {
    if (Gamma[0] > tol * noise[0]) return -1;
    return lambda[0] * D[0] > tol * noise[0] ? 1 : 0;
}

// Has friction something left?
static bool reserve(const double *lambda, const double *noise, const double *D, int tangents, double mu, double tol) {
    return (mu * lambda[0] - carom_length(lambda + 1, tangents)) * D[1] > tol * (noise[1] + mu * noise[0]);
}

static int sticks(const double *lambda, const double *Gamma, const double *noise, const double *D, int tangents,
                  double mu, double tol) {
    if (carom_length(Gamma + 1, tangents) > tol * (noise[1] + noise[0])) return -1;
    return reserve(lambda, noise, D, tangents, mu, tol) ? 1 : 0;
}

// What the laws at the present state say, by *_0: does every contact hold, or does none decide what tol cannot see?
enum { UNSURE, SURE, ALL_HOLD };
static int say(const carom_phase *w, const carom_step *s, double tol) {
    int answer = ALL_HOLD;
    for (int b = s->sys->ne; b < w->f.L.nb && answer != UNSURE; ++b) {
        const int k = w->f.L.at[b], c = w->f.L.id[b] - s->sys->ne;
        int here = holds(w->lambda_0 + k, w->Gamma_0 + k, w->noise_0 + k, w->D_0 + k, tol);
        if (here > 0 && w->f.mode[c] == CAROM_MODE_STICK && w->f.L.at[b + 1] - k > 1)
            here = sticks(w->lambda_0 + k, w->Gamma_0 + k, w->noise_0 + k, w->D_0 + k, w->f.L.at[b + 1] - k - 1,
                          s->sys->contacts[c].friction, tol);
        answer = here == 0 ? UNSURE : here < 0 ? SURE : answer;
    }
    return answer;
}

// No contact moves away: whoever carries nothing may yet share.
static bool none_leaves(const carom_phase *w, const carom_step *s, double tol) {
    for (int r = 0; r < w->f.n; ++r) {
        const int k = w->f.row[r];
        if (fabs(w->Gamma_0[k]) > tol * w->noise_0[k]) return false;
    }
    return w->f.L.nb > s->sys->ne;
}

// Laws at the present state go to *_0; where they do not decide, contacts that share may do so by sharing better.  Else
// the state is moved on by a moment, where the first derivative that is not zero has had its say.
static carom_status look_ahead(carom_phase *w, carom_step *s) {
    const int m = w->f.L.at[w->f.L.nb];
    carom_copy(w->lambda_0, w->f.lambda, m);
    carom_copy(w->Gamma_0, w->f.Gamma, m);
    carom_copy(w->noise_0, w->f.noise, m);
    carom_copy(w->D_0, w->f.D, m);
    const double tol = w->limits.decide;
    if (say(w, s, tol) != UNSURE) return CAROM_OK;
    if (none_leaves(w, s, tol)) {
        carom_flow_inside(&w->f, s, w->lambda_0);
        carom_copy(w->f.lambda, w->lambda_0, m);
        if (say(w, s, LATER * tol) == ALL_HOLD) return CAROM_OK;
    }
    // (EV-11)  delta = 10 tol size_q/size_v
    const double delta = CAROM_PHASE_MOMENT * tol * carom_phase_time(w);
    carom_move(s, w->q_1, w->q, delta, w->v);
    carom_add(w->v_1, w->v, delta, w->f.a, s->sys->nv);
    return carom_flow_rate(&w->f, s, w->t + delta, w->q_1, w->v_1, true);
}

static void decide_block(carom_phase *w, const carom_step *s, int b) {
    const carom_flow *f = &w->f;
    const int k = f->L.at[b], c = f->L.id[b] - s->sys->ne, tangents = f->L.at[b + 1] - k - 1;
    const double tol = w->limits.decide, mu = s->sys->contacts[c].friction;
    int normal = holds(w->lambda_0 + k, w->Gamma_0 + k, w->noise_0 + k, w->D_0 + k, tol);
    if (normal == 0) normal = holds(f->lambda + k, f->Gamma + k, f->noise + k, f->D + k, LATER * tol);
    if (normal < 0 || (normal == 0 && w->was[c] != CAROM_MODE_OPEN && w->hit[c])) {
        f->mode[c] = CAROM_MODE_OPEN; // its reaction fell to zero
        return;
    }
    if (f->mode[c] != CAROM_MODE_STICK || tangents == 0) return;
    double *Gamma = w->Gamma_0 + k, *lambda = w->lambda_0 + k;
    int tangential = sticks(lambda, Gamma, w->noise_0 + k, w->D_0 + k, tangents, mu, tol);
    const bool later = tangential == 0;
    if (later) tangential = sticks(f->lambda + k, f->Gamma + k, f->noise + k, f->D + k, tangents, mu, LATER * tol);
    // Its friction is exhausted: it slides against it.  Where reactions are not unique, others may take its share.
    const double used = carom_length(lambda + 1, tangents);
    const bool at_limit = w->limits.exact ? w->was[c] == CAROM_MODE_STICK && w->hit[s->sys->nc + c]
                                          : carom_flow_exhausted(used, mu, lambda[0]);
    const bool exhausted = tangential == 0 && !f->shared && at_limit && used > 0;
    if (tangential >= 0 && !exhausted) return;
    f->mode[c] = CAROM_MODE_SLIP;
    f->live[c] = 0;
    if (later) carom_copy(Gamma, f->Gamma + k, 1 + tangents); // that decided
    if (later && !exhausted) carom_copy(lambda, f->lambda + k, 1 + tangents);
    const double size = carom_length(Gamma + 1, tangents);
    for (int i = 1; i <= tangents; ++i)
        f->dir[CAROM_TANGENTS * c + i - 1] = exhausted ? -lambda[i] / used : Gamma[i] / size;
}

// -- slip that begins slowly ------------------------------------------------------------------------------------------

static const double SLOW = 0.03;     // of what friction prevents: faster slip has its direction from Gamma_T well
                                     // enough
static const double STRAIGHT = 1e-8; // angle by which the last correction turns: the next one would turn by
                                     // |Gamma_T|/(D |lambda_T|) of it
static const double SMALL = 0.1;     // angle
enum { TURNS = 4 };

// The rows of contacts that begin to slide slowly along more than one tangent, into f->order; their number.
static int slow_rows(carom_phase *w, const carom_step *s) {
    carom_flow *f = &w->f;
    int m = 0;
    for (int r = 0, b = 0; r < f->n; ++r) {
        while (f->row[r] >= f->L.at[b + 1]) ++b;
        const int k = f->L.at[b], c = f->L.id[b] - s->sys->ne, tangents = f->L.at[b + 1] - k - 1;
        if (c < 0 || f->row[r] == k || tangents < 2 || f->mode[c] != CAROM_MODE_SLIP) continue;
        const double size = carom_length(w->Gamma_0 + k + 1, tangents),
                     used = carom_length(w->lambda_0 + k + 1, tangents), *D = w->D_0 + k;
        // says nothing of the direction
        if (reserve(w->lambda_0 + k, w->noise_0 + k, D, tangents, s->sys->contacts[c].friction, w->limits.decide))
            continue;
        if (size > LATER * w->limits.decide * (w->noise_0[k] + w->noise_0[k + 1]) && size < SLOW * used * D[1])
            f->order[m++] = r;
    }
    return m;
}

// (EV-26)  (I + G K) x = -G r,  r = |lambda_T| d + lambda_T,  d = Gamma_T/|Gamma_T|,  K = |lambda_T|/|Gamma_T| (I - d
//          d')  over the m rows of f->order; x goes to f->b.
// False: no answer.
static bool straighter(carom_phase *w, int m) {
    carom_flow *f = &w->f;
    double *J = f->S, *x = f->b;
    carom_zero(x, m);
    carom_zero(J, (ptrdiff_t)m * m);
    for (int j = 0, b = 0, tangents; j < m; j += tangents) {
        const int k = f->row[f->order[j]];
        while (k >= f->L.at[b + 1]) ++b;
        tangents = f->L.at[b + 1] - k;
        const double *lambda = w->lambda_0 + k, used = carom_length(lambda, tangents),
                     size = carom_length(w->Gamma_0 + k, tangents);
        double d[CAROM_TANGENTS];
        for (int l = 0; l < tangents; ++l) d[l] = w->Gamma_0[k + l] / size, J[j + l + (ptrdiff_t)(j + l) * m] = 1;
        for (int i = 0; i < m; ++i) {
            const double *G = f->G.G + f->order[i] + (ptrdiff_t)f->order[j] * f->n;
            double along = 0;
            for (int l = 0; l < tangents; ++l) along += G[(ptrdiff_t)l * f->n] * d[l];
            for (int l = 0; l < tangents; ++l) {
                const double g = G[(ptrdiff_t)l * f->n];
                x[i] -= g * (used * d[l] + lambda[l]);
                J[i + (ptrdiff_t)(j + l) * m] += used / size * (g - along * d[l]);
            }
        }
    }
    if (!carom_dense_lu(J, m, m, 0, f->col)) return false;
    carom_dense_lu_solve(J, m, m, f->col, x);
    return true;
}

// Gamma_T and the direction of the blocks of those rows, turned by x; the largest angle.  An angle that is not small is
// no correction, and is left out.
static double turn_slips(carom_phase *w, const carom_step *s, int m) {
    carom_flow *f = &w->f;
    double turn = 0;
    for (int j = 0, b = 0, tangents; j < m; j += tangents) {
        const int k = f->row[f->order[j]];
        while (k >= f->L.at[b + 1]) ++b;
        tangents = f->L.at[b + 1] - k;
        double *Gamma = w->Gamma_0 + k, *d = f->dir + CAROM_TANGENTS * (f->L.id[b] - s->sys->ne);
        const double angle = carom_length(f->b + j, tangents) / carom_length(Gamma, tangents);
        if (!(angle < SMALL)) continue;
        turn = fmax(turn, angle);
        carom_axpy(Gamma, 1, f->b + j, tangents);
        const double size = carom_length(Gamma, tangents);
        for (int l = 0; l < tangents; ++l) d[l] = Gamma[l] / size;
    }
    return turn;
}

// Just beyond the angle of friction Gamma_T is next to nothing, and what the laws leave over, a tiny part of friction,
// is a larger one of it.  The angle by which its direction is wrong is small, but friction in that direction is wrong
// by that angle too, which may be as much as Gamma_T itself.  What lambda_T does to the bodies is known; that of each
// contact alone no better than Gamma_T.  So slip begins where friction against it does to the bodies what lambda_T
// does.
static void straighten(carom_phase *w, const carom_step *s) {
    const int m = slow_rows(w, s);
    double turn = HUGE_VAL;
    for (int i = 0; m > 0 && i < TURNS && turn > STRAIGHT && straighter(w, m); ++i) turn = turn_slips(w, s, m);
}

// (EV-5)  Who of the candidates stays, sticks and slides.
static carom_status decide(carom_phase *w, carom_step *s) {
    carom_flow *f = &w->f;
    CAROM_TRY(carom_flow_rate(f, s, w->t, w->q, w->v, true));
    CAROM_TRY(look_ahead(w, s));
    carom_zero(w->pull, s->sys->nc);
    carom_zero(f->choice, s->dir[s->sys->ne + s->sys->nc]);
    carom_flow_take(f, s, w->lambda_0);
    for (int b = s->sys->ne; b < f->L.nb; ++b) {
        // what pulls it back to the wall
        w->pull[f->L.id[b] - s->sys->ne] = w->lambda_0[f->L.at[b]] * w->D_0[f->L.at[b]];
        decide_block(w, s, b);
    }
    straighten(w, s);
    for (int c = 0; c < s->sys->nc; ++c) w->pull[c] = rest_of_run(w, s, c, w->pull[c]);
    return CAROM_OK;
}

// (MX-23)  A contact that left by (MX-11) with the accelerations before the decision, and with those that the decision
//          leaves falls back by less than (MX-11), has not left: all is decided once more with it.
static carom_status fall_back(carom_phase *w, carom_step *s, double delta, bool *some) {
    *some = false;
    bool none = true;
    for (int c = 0; c < s->sys->nc; ++c) none = none && !(w->left[c] > w->slow[c]);
    if (none) return CAROM_OK;
    CAROM_TRY(carom_flow_rate(&w->f, s, w->t, w->q, w->v, false));
    CAROM_TRY(carom_curvature(s, w->kappa, &w->all, w->t, w->q, w->v));
    for (int c = 0; c < s->sys->nc; ++c) {
        const int k = w->all.at[s->sys->ne + c];
        const double Gamma = carom_column_dot(&w->all.W, k, w->f.a) + w->kappa[k];
        if (!(w->left[c] > w->slow[c]) || !(Gamma < 0)) continue;
        const double slow = slow_speed(w, s, c, -Gamma, delta);
        if (!(w->left[c] <= slow)) continue;
        w->slow[c] = slow;
        w->in[c] = *some = true;
    }
    return CAROM_OK;
}

carom_status carom_phase_sort(carom_phase *w, carom_step *s, double delta) {
    carom_zero(w->left, s->sys->nc);
    CAROM_TRY(candidates(w, s));
    if (!w->limits.exact) { // what an interval leaves of velocities is the error of the step, and stays in the balance
        CAROM_TRY(decide(w, s));
        for (bool again = true; again;) { // each time with a contact more
            CAROM_TRY(fall_back(w, s, delta, &again));
            if (!again) break;
            CAROM_TRY(candidates(w, s));
            CAROM_TRY(decide(w, s));
        }
        if (w->walls) CAROM_TRY(carom_flow_project_position(&w->f, s, w->t, w->q));
        return carom_flow_project_velocity(&w->f, s, w->t, w->q, w->v);
    }
    do {
        CAROM_TRY(settle(w, s));
    } while (stopped_too(w, s));
    return decide(w, s);
}

// (EV-44)  An approach that the rounding of the gap hides is no impact,
//          u^2 <= 2 k Gamma eps_g,  Gamma > 0 under the contacts that are closed:  it ends by itself before the gap
//          shows it (the corner of a tooth that comes to the flank while another pair carries, g ~ (t - t*)^2).
static carom_status graze(carom_phase *w, carom_step *s) {
    static const double SLIGHT = 1e-5; // of the speeds whose sum it is: rounding hides no more
    static const double FEW = 4; // eps_g: the search ends up to one below zero, which is one deep; those closed as much
    const int ne = s->sys->ne, nc = s->sys->nc;
    const carom_columns *W = &w->all.W;
    bool some = false;
    for (int c = 0; c < nc; ++c) {
        const int k = w->all.at[ne + c];
        const double u = carom_column_dot(W, k, w->v) + w->all.w[k];
        w->over[c] = carom_phase_open(w, c) && w->hit[c] && u < 0 &&
                     -u <= SLIGHT * (carom_local_magnitude(&w->all, k, w->v) + fabs(w->all.w[k]));
        some = some || w->over[c];
    }
    if (!some) return CAROM_OK;
    CAROM_TRY(carom_flow_rate(&w->f, s, w->t, w->q, w->v, false));
    CAROM_TRY(carom_curvature(s, w->kappa, &w->all, w->t, w->q, w->v));
    for (int c = 0; c < nc; ++c) {
        const int k = w->all.at[ne + c];
        const double eps = w->limits.exact ? carom_local_rounding(&w->all, k, w->q, s->sys->nq) : w->tol_g[c];
        const double Gamma = carom_column_dot(W, k, w->f.a) + w->kappa[k];
        if (w->over[c] && Gamma > 0) w->over_to[c] = fmax(w->over_to[c], sqrt(2 * FEW * Gamma * eps));
    }
    return CAROM_OK;
}

static carom_status resolve(carom_phase *w, carom_step *s, double delta, double dt, bool first, const bool *lasting) {
    bool limit = false;
    carom_tube_leave(&w->tube);
    for (int c = 0; c < s->sys->nc; ++c) limit = limit || w->runs.over[c];
    CAROM_TRY(carom_beside(s, CAROM_LEFT, w->t, w->q, w->v));
    carom_phase_remember(w, s);
    carom_copy(w->q_held, w->q, s->sys->nq);
    CAROM_TRY(carom_phase_hold(s, w->t, w->q));
    CAROM_TRY(carom_directions(s, &w->all, w->t, w->q));
    CAROM_TRY(graze(w, s));
    CAROM_TRY(slow_speeds(w, s, delta));
    gather(w, s, delta, first, lasting);
    if (w->limits.exact) bring_together(w, s);
    CAROM_TRY(touch(w, s, lasting));
    if (dt > 0) CAROM_TRY(join(w, s));
    CAROM_TRY(impact(w, s, dt > 0));
    if (dt > 0) CAROM_TRY(pass(w, s, dt));
    CAROM_TRY(carom_phase_sort(w, s, delta));
    CAROM_TRY(carom_accumulation_changes(&w->runs, s, w->t, w->was, w->f.mode, w->left, w->pull));
    if (limit) carom_accumulation_end(&w->runs, s, w->q);
    CAROM_TRY(carom_beside(s, CAROM_RIGHT, w->t, w->q, w->v));
    CAROM_TRY(carom_flow_rate(&w->f, s, w->t, w->q, w->v, false));
    if (w->f.shared) carom_flow_choose(&w->f, s);
    return carom_phase_emit(w, s, w->t - dt, limit);
}

// (EV-28)  Putting contacts on the wall may bring them to other features.  Where a contact that stays closed has
// another one, all is decided once more with the features that lie ahead.
static carom_status follow(carom_phase *w, carom_step *s, double delta) {
    enum { TIMES = 4 };
    bool other = false;
    for (int i = 0; i < TIMES; ++i) {
        CAROM_TRY(carom_phase_moved_on(w, s, &other));
        if (!other) break;
        w->switched = true;
        for (int c = 0; c < 2 * s->sys->nc; ++c) w->hit[c] = false;
        CAROM_TRY(carom_gaps(s, w->trial.g, w->t, w->q));
        CAROM_TRY(carom_directions(s, &w->all, w->t, w->q));
        for (int c = 0; c < s->sys->nc; ++c) {
            w->gap[c] = w->trial.g[s->sys->ne + c];
            // no phase may have begun in this step of the run
            w->tol_g[c] = carom_phase_gap_rounding(w, s, w->all.at[s->sys->ne + c], 0);
        }
        CAROM_TRY(resolve(w, s, delta, 0, false, NULL));
    }
    return CAROM_OK;
}

carom_status carom_phase_resolve(carom_phase *w, carom_step *s, double delta, double dt, bool first,
                                 const bool *lasting) {
    CAROM_TRY(resolve(w, s, delta, dt, first, lasting));
    return follow(w, s, delta);
}

void carom_phase_features_last(carom_phase *w, const carom_step *s) {
    w->passed = 0;
    carom_zero(w->over_to, s->sys->nc);
}

// (EV-40)  So may the end of a phase, where no event is: the next one would hold a contact closed on a feature that
//          nobody has decided on, and that may lie elsewhere.
carom_status carom_phase_project(carom_phase *w, carom_step *s, double delta) {
    CAROM_TRY(carom_filippov_put_back(&w->f.filippov, s, w->t, w->q, w->v));
    CAROM_TRY(carom_flow_project_position(&w->f, s, w->t, w->q));
    CAROM_TRY(carom_flow_project_velocity(&w->f, s, w->t, w->q, w->v));
    carom_phase_features_last(w, s);
    return follow(w, s, delta);
}

// splitting.c: Runge-Kutta-Fehlberg 4(5) for the smooth motion, then an impact at its end.
//
// Spec: docs/methods-mixed.md (Acary: the lecture's splitting).  With constant steps the impact comes up to a step too
// late: first order.  adaptive=on divides the step so that the embedded error estimate and the penetration stay within
// tolerance; then the error follows the tolerance, whatever the step.
#include "base/control.h"
#include "base/swap.h"
#include "base/tolerance.h"
#include "event/decide.h"
#include "event/feature.h"
#include "event/hidden.h"
#include "event/phase.h"
#include "scheme/works.h"
#include "event/watch.h"
#include "linalg/matrix.h"
#include <math.h>

enum { OPT_FORCES, OPT_ADAPTIVE, OPT_RTOL, OPT_ATOL, OPT_STEPS };
static const carom_option options[] = {
    [OPT_FORCES] = {.name = "forces", .kind = CAROM_CHOICE, .choices = "on|off",
     .about = "contact forces in the smooth motion; off: impacts alone carry a resting body, and it sinks"},
    [OPT_ADAPTIVE] = {.name = "adaptive", .kind = CAROM_CHOICE, .choices = "off|on",
     .about = "divide steps by error and penetration"},
    [OPT_RTOL] = {.name = "rtol", .kind = CAROM_REAL, .fallback = 1e-6, .low = 1e-13, .high = 1,
     .about = "error of one part, relative to each component"},
    [OPT_ATOL] = {.name = "atol", .kind = CAROM_REAL, .fallback = 1e-6, .low = 1e-14, .high = 1e3,
     .about = "error of one part, absolute; also the penetration allowed at an impact"},
    [OPT_STEPS] = {.name = "most-steps", .kind = CAROM_INTEGER, .fallback = 1e6, .low = 1, .high = 1e9,
     .about = "parts of one step before it is refused"},
    {0},
};

static const double MOST_PARTS = 2000, MORE_PARTS = 20; // of a step of constant length, with its halves; and for each
                                                        // contact: more than that are impacts of a motion that has run
                                                        // away

typedef struct work {
    carom_phase P;
    double *kept, next;  // length of the next part; kept[0], then the last kink and `works`
    double works;        // magnitude of the works of the last parts
    double last[2];      // as of carom_kinked_parts
    double *g;           // by id: at the start of a part
    double *still;       // nc
    bool *halted;        // nc: has no slip at the end of the part, whatever its velocity says
    bool *came;          // nc: takes over from a contact that has run off its feature
    double *passes;      // nc: closes beside what others rest on, no deeper than this, and is not struck (RKF-10);
                         // else 0
    double *way;         // nc: how long it is followed for that; 0: not at all
    double *held;        // by id: gaps there by the features that close
    double *error;       // nq + nv
    int stops;           // of slip, in this step
} work;

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)opt;
    work *w = memory;
    w->P = carom_allocate_phase(mem, keep, sys, carom_butcher_find(CAROM_RK_FEHLBERG, 5));
    w->P.walls = false;
    w->kept = carom_allocate(keep, 4);
    w->g = carom_allocate(mem, (size_t)(sys->nc + sys->ne));
    w->still = carom_allocate(mem, (size_t)sys->nc);
    w->halted = carom_allocate_bytes(mem, (size_t)sys->nc * sizeof(bool));
    w->came = carom_allocate_bytes(mem, (size_t)sys->nc * sizeof(bool));
    w->passes = carom_allocate(mem, (size_t)sys->nc);
    w->way = carom_allocate(mem, (size_t)sys->nc);
    w->held = carom_allocate(mem, (size_t)(sys->nc + sys->ne));
    w->error = carom_allocate(mem, (size_t)(sys->nq + sys->nv));
}

static bool adaptive(const carom_step *s) { return s->opt[OPT_ADAPTIVE] == 1; }

// (RKF-4)  eps_v = 2 |Gamma| h for constant steps; (2 |Gamma| atol)^1/2, the speed of a flight as high as the
//          penetration allowed, for adaptive ones
static carom_status slow_speeds(work *w, carom_step *s, double h) {
    const int ne = s->sys->ne;
    carom_phase *P = &w->P;
    carom_flow *f = &P->f;
    CAROM_TRY(carom_flow_rate(f, s, P->t, P->q, P->v, P->laws));
    CAROM_TRY(carom_directions(s, &P->all, P->t, P->q));
    CAROM_TRY(carom_curvature(s, P->kappa, &P->all, P->t, P->q, P->v));
    for (int c = 0; c < s->sys->nc; ++c) {
        const int k = P->all.at[ne + c];
        double press = fmax(0, -(carom_column_dot(&P->all.W, k, f->a) + P->kappa[k]));
        for (int b = ne; b < f->L.nb; ++b)
            if (f->L.id[b] == ne + c) press = fmax(press, f->lambda[f->L.at[b]] * f->D[f->L.at[b]]);
        const double residual =
            carom_velocity_left(s) + CAROM_ROUNDING_SOLVED * carom_local_magnitude(&P->all, k, P->v);
        P->slow[c] = residual + (adaptive(s) ? sqrt(2 * press * s->opt[OPT_ATOL]) : 2 * press * h);
        P->slow_T[c] =
            residual +
            (P->all.at[ne + c + 1] - k > 1 ? CAROM_ROUNDING_SOLVED * carom_local_magnitude(&P->all, k + 1, P->v) : 0);
        w->still[c] = carom_phase_open(P, c) ? residual : P->slow[c]; // what a closed one has gained is drift
        // Sliding that turned round inside the part has stopped.  (RKF-5)  Slip that began in it goes where the end of
        // the part accelerates it: a part of whose stages only the last slid may have sent it the other way, by a
        // negative weight.  Such a contact has no slip yet.  Slip that a jump of the surface's velocity makes is one.
        w->halted[c] = false;
        if ((s->jumped && P->t == s->t) || f->mode[c] == CAROM_MODE_OPEN || P->all.at[ne + c + 1] - k < 2) continue;
        double along = 0;
        for (int i = k + 1; i < P->all.at[ne + c + 1]; ++i) {
            const double d = f->mode[c] == CAROM_MODE_SLIP ? f->dir[CAROM_TANGENTS * c + i - k - 1]
                                                           : carom_column_dot(&P->all.W, i, f->a) + P->kappa[i];
            along += d * (carom_column_dot(&P->all.W, i, P->v) + P->all.w[i]);
        }
        w->halted[c] = along <= 0;
    }
    return CAROM_OK;
}

// Contacts that close in the same part hit one after the other.
static carom_status hit(work *w, carom_step *s) {
    carom_phase *P = &w->P;
    carom_turns *z = &P->runs.turns;
    const int ne = s->sys->ne, nc = s->sys->nc;
    bool some;
    int arrive = 0;
    for (int c = 0; c < nc; ++c) {
        z->among[c] = P->in[c] && carom_phase_open(P, c);
        z->gap[c] = w->g[ne + c];
        arrive += z->among[c];
    }
    if (arrive < 2)
        return carom_flow_impact(&P->f, s, P->t, P->q, P->v, P->in, P->slow, false, &some, P->before, P->after, P->p);
    CAROM_TRY(carom_directions(s, &P->all, P->t, P->q));
    for (int c = 0; c < nc; ++c) {
        const int k = P->all.at[ne + c];
        const double u = carom_column_dot(&P->all.W, k, P->v) + P->all.w[k];
        // (CL-11)
        z->eps[c] = carom_local_rounding(&P->all, k, P->q, s->sys->nq) +
                    s->h * fmax(carom_flow_no_approach(s, &P->all, k, P->v), CAROM_INSTANT * fabs(u));
    }
    return carom_flow_impact_in_turn(&P->f, s, P->t, P->q, P->v, P->in, P->slow, z, &P->all, &some, P->before, P->after,
                                     P->p);
}

// Contacts without slip, by slow_speeds(), lose what the part has left of it.  This comes before the impact: slip that
// an impact makes is real.
static carom_status halt(work *w, carom_step *s) {
    carom_phase *P = &w->P;
    bool some = false;
    for (int c = 0; c < s->sys->nc; ++c) {
        const int k = P->all.at[s->sys->ne + c];
        const bool stays = fabs(carom_column_dot(&P->all.W, k, P->v) + P->all.w[k]) <= P->slow[c];
        P->f.mode[c] = w->halted[c] && stays ? CAROM_MODE_STICK : CAROM_MODE_OPEN;
        some = some || P->f.mode[c] == CAROM_MODE_STICK;
    }
    if (some) CAROM_TRY(carom_flow_project_velocity(&P->f, s, P->t, P->q, P->v));
    carom_copy(P->f.mode, P->was, s->sys->nc);
    return CAROM_OK;
}

// (RKF-9)  The features of the end of the part.  A closed contact that has run off its own is open, (EV-27); one that
//          has come in the same part takes over where it is no farther from the wall than drift and the part explain,
//          g <= max |g| of those that ran off + h |u|.
static carom_status change_features(work *w, carom_step *s, double h) {
    carom_phase *P = &w->P;
    const int ne = s->sys->ne, nc = s->sys->nc;
    double drift = -1;
    if (!s->sys->events->freeze || nc == 0) return carom_phase_hold(s, P->t, P->q);
    CAROM_TRY(carom_phase_held(s));
    CAROM_TRY(carom_gaps(s, P->aside.g, P->t, P->q));
    CAROM_TRY(carom_phase_hold(s, P->t, P->q));
    CAROM_TRY(carom_gaps(s, w->g, P->t, P->q));
    CAROM_TRY(carom_directions(s, &P->all, P->t, P->q));
    for (int c = 0; c < nc; ++c) {
        const double g = w->g[ne + c], held = P->aside.g[ne + c];
        w->came[c] = carom_phase_apart(P, &P->all, ne + c, g - held);
        if (carom_phase_open(P, c) || !w->came[c] || !(g > 0)) continue;
        P->f.mode[c] = CAROM_MODE_OPEN;
        w->came[c] = false;
        drift = fmax(drift, fabs(held));
    }
    for (int c = 0; c < nc; ++c) {
        const int k = P->all.at[ne + c];
        const double u = carom_column_dot(&P->all.W, k, P->v) + P->all.w[k];
        w->came[c] = w->came[c] && carom_phase_open(P, c) && drift >= 0 && w->g[ne + c] <= drift + h * fabs(u);
    }
    return CAROM_OK;
}

// How deep has what contact c moves sunk into others when the part begins?
static double sunk(work *w, const carom_step *s, int c) {
    const int ne = s->sys->ne;
    const carom_phase *P = &w->P;
    const carom_columns *W = &P->all.W;
    double deepest = 0, *moved = P->f.dv;
    carom_column_expand(moved, W, P->all.at[ne + c]);
    for (int i = 0; i < s->sys->nc; ++i) {
        if (!(-P->from.g[ne + i] > deepest) || P->barred[i]) continue;
        const carom_entries x = carom_entries_of(W, P->all.at[ne + i]);
        bool too = false;
        for (int e = 0; e < x.n && !too; ++e) too = x.a[e] != 0 && moved[carom_entry_row(&x, e)] != 0;
        if (too) deepest = -P->from.g[ne + i];
    }
    return deepest;
}

// Of those that pass by their gaps in w->P.aside.g, at P->q_1 and t + T, and have w->way < 0: only those that have
// other features at (t, q), by which they are deeper.
static carom_status keep_those_run_off(work *w, carom_step *s, double t, const double *q, double T, bool *more) {
    static const double DEEPER = 0.25; // of what they pass at
    carom_phase *P = &w->P;
    CAROM_TRY(carom_phase_hold(s, t, q));
    CAROM_TRY(carom_gaps(s, w->held, t + T, P->q_1));
    for (int c = 0; c < s->sys->nc; ++c) {
        const int id = s->sys->ne + c;
        if (!(w->way[c] < 0)) continue;
        w->way[c] = 0;
        if (!(P->aside.g[id] - w->held[id] > DEEPER * w->passes[c])) w->passes[c] = 0;
        *more = *more || w->passes[c] > 0;
    }
    return CAROM_OK;
}

// (RKF-10)  What has sunk by D meets the sides of shapes that it slides onto.  Who closes passes, and is not struck,
//           where  g(q + T v) >= -9/8 D,  T = (2 D + max(g, 0))/|u| <= 64 h, and deeper by a quarter of that by the
//           features held at q.  One place serves contacts whose T is a little shorter.  P->in: those that are asked;
//           w->P.all is that of X.  *more: others pass than before.
static carom_status look_beside(work *w, carom_step *s, const carom_event_point *X, bool *more) {
    static const double DEEP = 1.125, SAME = 0.75, // of D; of the longest T
        LONG = 64;                                 // steps: who is so slow is struck
    carom_phase *P = &w->P;
    const int ne = s->sys->ne, nc = s->sys->nc;
    const double *g = X->g + ne, *u = X->u;
    double *way = w->way, *there = P->aside.g;
    *more = false;
    if (!s->sys->events->freeze) return CAROM_OK;
    for (int c = 0; c < nc; ++c) {
        way[c] = 0;
        if (!P->in[c] || !carom_phase_open(P, c) || w->passes[c] > 0 || !(u[c] < 0)) continue;
        const double D = sunk(w, s, c), T = (2 * D + fmax(g[c], 0)) / -u[c];
        if (!(D > P->tol_g[c] && g[c] >= -DEEP * D && T <= LONG * s->h)) continue;
        way[c] = T;
        w->passes[c] = DEEP * D;
    }
    for (;;) {
        double T = 0;
        for (int c = 0; c < nc; ++c) T = fmax(T, way[c]);
        if (T == 0) return CAROM_OK;
        const double t = P->t + X->tau;
        carom_move(s, P->q_1, X->q, T, X->v);
        CAROM_TRY(carom_phase_free(s));
        CAROM_TRY(carom_gaps(s, there, t + T, P->q_1));
        bool some = false;
        for (int c = 0; c < nc; ++c) {
            if (!(way[c] >= SAME * T)) continue;
            const bool shallow = there[ne + c] >= -w->passes[c];
            way[c] = shallow ? -1 : 0;
            if (!shallow) w->passes[c] = 0;
            some = some || shallow;
        }
        if (some) CAROM_TRY(keep_those_run_off(w, s, t, X->q, T, more));
        CAROM_TRY(carom_phase_hold(s, P->t, P->q));
    }
}

// Those that are closed at P->b and pass.
static carom_status look_beside_end(work *w, carom_step *s, bool *more) {
    carom_phase *P = &w->P;
    for (int c = 0; c < s->sys->nc; ++c) P->in[c] = carom_closed(s, P->b.g[s->sys->ne + c]) && !P->barred[c];
    return look_beside(w, s, &P->b, more);
}

// Who passes takes no part in the impact at the end of the part.
static carom_status let_pass(work *w, carom_step *s) {
    carom_phase *P = &w->P;
    const int nc = s->sys->nc;
    bool deep = false, closes = false;
    for (int c = 0; c < nc; ++c) {
        deep = deep || P->from.g[s->sys->ne + c] < 0;
        closes = closes || (P->in[c] && carom_phase_open(P, c));
    }
    if (!deep || !closes) return CAROM_OK;
    carom_zero(w->passes, nc);
    carom_copy(P->trial.q, P->q, s->sys->nq);
    carom_copy(P->trial.v, P->v, s->sys->nv);
    P->trial.tau = 0;
    CAROM_TRY(carom_phase_gaps(P, s, P->t, &P->trial));
    CAROM_TRY(look_beside(w, s, &P->trial, &closes));
    for (int c = 0; c < nc; ++c) P->in[c] = P->in[c] && w->passes[c] == 0;
    return CAROM_OK;
}

// (RKF-2)  q_1 stays;  v = v_1 + M^-1 W P with Newton's law over contacts with g(q_1) <= 0.  Then, with forces, the
//          contacts without normal velocity that push are the closed ones of the next part.
static carom_status impact(work *w, carom_step *s, double h) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    carom_phase *P = &w->P;
    carom_flow *f = &P->f;
    CAROM_TRY(change_features(w, s, h));
    if (ne > 0) {
        carom_copy(P->was, f->mode, nc);
        carom_zero(f->mode, nc); // open: joints alone
        CAROM_TRY(carom_flow_project_position(f, s, P->t, P->q));
        CAROM_TRY(carom_flow_project_velocity(f, s, P->t, P->q, P->v));
        carom_copy(f->mode, P->was, nc);
    }
    if (nc == 0) return CAROM_OK;
    CAROM_TRY(carom_gaps(s, w->g, P->t, P->q));
    CAROM_TRY(carom_close_at(s, &P->C, w->g, (carom_evaluation_point){.t = P->t, .q = P->q, .v = P->v}));
    bool some = false;
    for (int c = 0; c < nc; ++c) {
        P->in[c] = carom_closed(s, w->g[ne + c]) || !carom_phase_open(P, c) || w->came[c];
        P->was[c] = f->mode[c];
    }
    CAROM_TRY(let_pass(w, s));
    for (int c = 0; c < nc; ++c) some = some || P->in[c];
    if (!some && (ne == 0 || s->opt[OPT_FORCES] == 1)) return CAROM_OK;
    if (s->opt[OPT_FORCES] == 1) {
        carom_zero(P->slow, nc);
        return hit(w, s);
    }
    if (some) {
        CAROM_TRY(slow_speeds(w, s, h));
        CAROM_TRY(halt(w, s));
        CAROM_TRY(hit(w, s));
        carom_copy(P->slow, w->still, nc);
    }
    CAROM_TRY(carom_phase_sort(P, s, 0));
    P->laws = false;
    for (int c = 0; c < nc; ++c) P->laws = P->laws || !carom_phase_open(P, c);
    return CAROM_OK;
}

static carom_status gaps(work *w, carom_step *s) {
    carom_event_point *b = &w->P.b;
    if (s->sys->nc == 0) return CAROM_OK;
    CAROM_TRY(carom_phase_free(s));
    CAROM_TRY(carom_gaps(s, b->g, w->P.t + b->tau, b->q));
    CAROM_TRY(carom_directions(s, &w->P.all, w->P.t + b->tau, b->q));
    for (int c = 0; c < s->sys->nc; ++c) {
        const int k = w->P.all.at[s->sys->ne + c];
        b->u[c] = carom_column_dot(&w->P.all.W, k, b->v) + w->P.all.w[k];
    }
    return carom_phase_held(s);
}

// (RKF-1)  q_1, v_1 by the method of order 5 with the laws of the closed contacts in its stages; the error by that of
//          order 4
static carom_status smooth(work *w, carom_step *s, double h) {
    for (int i = 0; i < 2 * s->sys->nc; ++i) w->P.armed[i] = true;
    w->P.tol = adaptive(s) ? s->opt[OPT_RTOL] : carom_phase_relative(&w->P, s);
    CAROM_TRY(carom_phase_start(&w->P, s, h));
    CAROM_TRY(w->P.integrator->advance(&w->P, s, h, &w->P.b, w->error));
    return gaps(w, s);
}

// Kinks of forces alone are watched, or contacts alone.
static void watch_kinks(carom_phase *P, int nc, bool kinks) {
    for (int i = 0; i < 2 * nc; ++i) P->armed[i] = !kinks;
    for (int c = 0; c < nc; ++c) P->scan.watched[c] = !kinks && carom_phase_open(P, c) && !P->barred[c];
}

// (RKF-8)  The part ends where forces have a kink, (EV-22), and is short against the time to it and from it, (MX-18).
//          Not *done: a shorter part is to be tried.
static carom_status end_at_kink(work *w, carom_step *s, carom_kinked_parts *p, bool *done) {
    carom_phase *P = &w->P;
    const double tau = P->b.tau, shortest = CAROM_ROUNDING * (fabs(s->t) + s->h);
    bool met, found, kink;
    *done = true;
    if (s->sys->events->nk == 0) return CAROM_OK;
    *done = !carom_kinked_passing(P, p);
    if (!*done) return CAROM_OK;
    CAROM_TRY(carom_phase_stages_kink(P, s, 0, &met));
    watch_kinks(P, s->sys->nc, true);
    CAROM_TRY(carom_phase_watch(P, s, &P->b));
    CAROM_TRY(carom_phase_look(P, s, &found));
    kink = found && carom_phase_meets_kink(P, s); // of a gap: that is no matter of parts
    if (kink) {
        CAROM_TRY(carom_phase_enclose(P, s, shortest));
        CAROM_TRY(P->integrator->at(P, s, P->a.tau, &P->trial));
        CAROM_TRY(carom_phase_stages_kink(P, s, CAROM_PHASE_FAR, &met));
    } else if (!found) {
        CAROM_SWAP(carom_event_point, &P->a, &P->b);
    }
    watch_kinks(P, s->sys->nc, false);
    const bool strays = kink && P->strays && P->a.tau > shortest;
    kink = kink && !strays;
    const double end = strays ? P->a.tau : kink ? P->b.tau : tau;
    *done = false;
    if (kink) CAROM_TRY(carom_phase_begins_at_kink(P, s, done));
    *done = *done || !carom_kinked_divide(s, end, kink, met, p);
    s->counts->substeps_rejected += !*done || kink;
    if (!*done) return CAROM_OK;
    if (kink) carom_kinked_begin(p, P->t + end);
    else p->kinked = false;
    // its stages are wanted
    if (P->tried != end || P->b.tau != end) CAROM_TRY(P->integrator->advance(P, s, end, &P->b, NULL));
    if (kink) CAROM_TRY(carom_phase_before_kink(P, s));
    return gaps(w, s);
}

// The part ends at t: its impact.
static carom_status accept(work *w, carom_step *s, double t) {
    carom_phase *P = &w->P;
    const double h = P->b.tau;
    carom_phase_near(P, s, &P->b);
    carom_phase_account(s, &P->b.work);
    carom_flow_work_add(&P->f, h, &w->works);
    carom_copy(P->q, P->b.q, s->sys->nq);
    carom_copy(P->v, P->b.v, s->sys->nv);
    P->t = t;
    CAROM_TRY(carom_filippov_put_back(&P->f.filippov, s, t, P->q, P->v));
    return impact(w, s, h);
}

// Does an open contact close and open again inside the part?  Then it is cut to end where it is closed.  Contacts that
// pass there are looked at from deeper on.
static carom_status look_inside(work *w, carom_step *s, bool *found) {
    carom_phase *P = &w->P;
    const double h = P->b.tau;
    const int nc = s->sys->nc;
    *found = false;
    carom_zero(w->passes, nc);
    for (bool more = nc > 0; more;) {
        CAROM_TRY(carom_phase_look_inside(P, s, found));
        if (!*found) return CAROM_OK;
        if (P->b.tau < h) s->counts->substeps_rejected += 1;
        CAROM_TRY(look_beside_end(w, s, &more));
        if (!more) return CAROM_OK;
        for (int c = 0; c < nc; ++c) P->offset[c] = fmax(P->offset[c], P->tol_g[c] + w->passes[c]);
        if (P->b.tau < h) CAROM_TRY(P->integrator->advance(P, s, h, &P->b, NULL));
        CAROM_TRY(gaps(w, s));
        P->bare = true; // the scan begins anew
    }
    return CAROM_OK;
}

// Has a contact that arrives lost half of its approach between u at the wall and the rates u_1 at the end?
static bool turned(const work *w, int nc, const double *u_1) {
    const carom_phase *P = &w->P;
    for (int c = 0; c < nc; ++c)
        if (carom_phase_open(P, c) && w->passes[c] == 0 && P->b.phi[c] < 0 && P->b.u[c] < 0 && u_1[c] > 0.5 * P->b.u[c])
            return true;
    return false;
}

// (RKF-6)  A contact is closed at the end of the part.  An impact there has the direction of there: where the normal
//          turns faster than steps are short, the part ends at the wall instead, not later than 1/1024 of it.
static carom_status arrive(work *w, carom_step *s) {
    carom_phase *P = &w->P;
    const double tau = P->b.tau;
    bool more;
    for (int i = 0; i < 2 * s->sys->nc; ++i) P->armed[i] = i < s->sys->nc && carom_phase_open(P, i);
    CAROM_TRY(carom_phase_watch(P, s, &P->b));
    carom_copy(P->before, P->b.u, s->sys->nc);
    CAROM_TRY(carom_phase_enclose(P, s, tau / 1024));
    CAROM_TRY(look_beside_end(w, s, &more));
    if (turned(w, s->sys->nc, P->before)) {
        s->counts->substeps_rejected += 1;
        return CAROM_OK;
    }
    CAROM_TRY(P->integrator->advance(P, s, tau, &P->b, NULL));
    return gaps(w, s);
}

// Does contact c slide on at the end of the part, where directions are known?
static bool slides_on(const carom_phase *P, const carom_step *s, int c) {
    const int k = P->all.at[s->sys->ne + c] + 1;
    double along = 0;
    for (int i = k; i < P->all.at[s->sys->ne + c + 1]; ++i)
        along += P->f.dir[CAROM_TANGENTS * c + i - k] * (carom_column_dot(&P->all.W, i, P->b.v) + P->all.w[i]);
    return along > 0 && !s->sys->events->freeze;
}

// (RKF-7)  Slip has turned round in the part: the part ends where it stops, and there the contact sticks or slides the
//          other way.  Slip that stops as soon as it begins only stops at the end of the part, and so do those behind
//          MOST_STOPS others in a step.
static carom_status stop_slip(work *w, carom_step *s) {
    static const double SHORT = 1e-6; // of the part: slip that stops so early has only just begun
    enum { MOST_STOPS = 64 };
    carom_phase *P = &w->P;
    const int nc = s->sys->nc;
    const double tau = P->b.tau;
    bool slides = false, turned = false;
    for (int c = 0; c < nc; ++c) {
        P->armed[c] = false;
        P->armed[nc + c] = P->f.mode[c] == CAROM_MODE_SLIP;
        slides = slides || P->armed[nc + c];
    }
    if (slides) CAROM_TRY(carom_directions(s, &P->all, P->t + tau, P->b.q)); // the look inside may have left others
    bool on = slides;
    for (int c = 0; c < nc; ++c) on = on && (!P->armed[nc + c] || slides_on(P, s, c));
    if (on) return CAROM_OK;
    if (slides && w->stops < MOST_STOPS) CAROM_TRY(carom_phase_watch(P, s, &P->b));
    else return CAROM_OK;
    for (int c = 0; c < nc; ++c) turned = turned || P->b.phi[nc + c] < 0;
    if (!turned) return CAROM_OK;
    w->stops += 1;
    s->counts->substeps_rejected += 1;
    CAROM_TRY(carom_phase_enclose(P, s, CAROM_ROUNDING * (fabs(P->t) + tau)));
    if (P->b.tau > SHORT * tau) return CAROM_OK;
    CAROM_TRY(P->integrator->advance(P, s, tau, &P->b, NULL));
    return gaps(w, s);
}

// Largest new penetration of an open contact, relative to its tolerance.  *cut: by how much to shorten the part, the
// secant to g = 0.
static double violation(const work *w, const carom_step *s, double *cut) {
    double most = 0;
    *cut = 1;
    for (int c = 0; c < s->sys->nc; ++c) {
        const double g = w->g[s->sys->ne + c], g_1 = w->P.b.g[s->sys->ne + c], deeper = fmin(0, g) - g_1;
        if (!carom_phase_open(&w->P, c) || w->passes[c] > 0) continue;
        // the secant may lead to 0; a gap below it has none
        if (deeper > s->opt[OPT_ATOL]) *cut = fmin(*cut, g > 0 ? fmax(g / (g - g_1), 0.02) : 0.5);
        most = fmax(most, deeper / s->opt[OPT_ATOL]);
    }
    return most;
}

// (RKF-3)  error = max(embedded estimate, that of works (AU-16), turn of slow slips (AU-13), violation); accepted up to
//          1.  Next part: safety error^-1/5 of this one, within
//          [shrink, grow]; when the violation is to blame, the secant to g = 0.
static carom_status divide(work *w, carom_step *s) {
    static const double SHORT = 1e-6; // of a step: parts that are not searched for narrow forces any more
    carom_phase *P = &w->P;
    const double t_1 = s->t + s->h, shortest = CAROM_ROUNDING * (fabs(s->t) + s->h),
                 safety = s->inside->control.safety, atol = s->opt[OPT_ATOL];
    double next = w->next > 0 ? w->next : 0.01 * s->h; // chosen: a first part, which errors correct
    bool refused = false, found, done;
    carom_kinked_parts p = {.cap = HUGE_VAL, .last = w->last};
    for (long n = 0; t_1 - P->t > shortest; ++n) {
        CAROM_TRY(carom_limit_parts(s, 1, 4 * fmax(s->opt[OPT_STEPS], options[OPT_STEPS].fallback)));
        if ((double)n >= s->opt[OPT_STEPS])
            return carom_retry(s, "more than %g parts in one step; looser tolerances or most-steps= may help",
                               s->opt[OPT_STEPS]);
        const double left = t_1 - P->t, most = carom_kinked_part(s, &p, P->t, next), h = most >= left ? left : most;
        double cut;
        const carom_traces before = carom_problem_traces(s);
        const carom_status status = smooth(w, s, h);
        if (status != CAROM_OK && status != CAROM_RETRY && status != CAROM_SINGULAR && status != CAROM_USER)
            return status;
        // Too long a part may lead where the model makes no sense.
        const double rtol = s->opt[OPT_RTOL],
                     state = status == CAROM_OK
                                 ? carom_flow_error(s, w->error, P->q, P->v, P->b.q, P->b.v, rtol, atol, 1, 1)
                                 : HUGE_VAL;
        double works = 0;
        if (status == CAROM_OK)
            CAROM_TRY(carom_flow_work_error(&P->f, s, P->t, h, P->q, P->v, rtol, atol,
                                            h <= carom_works_shortest(s) ? P->now[CAROM_PHASE_SIZE_V] : 0, w->works,
                                            &works));
        const double error =
            status == CAROM_OK ? fmax(fmax(state, works), carom_flow_turn_error(&P->f, s, h) / rtol) : HUGE_VAL;
        const double factor = carom_step_factor(fmax(error, CAROM_ESTIMATE), 5, safety, s->inside->control.shrink,
                                                refused ? 1 : s->inside->control.grow);
        bool hidden = false;
        double at = 0, width;
        if (error <= 1 && h > SHORT * s->h) CAROM_TRY(carom_phase_hidden(P, s, rtol, 1, &hidden, &at, &width));
        if (error > 1 || hidden) {
            next = hidden ? fmax(0.1 * h, fmin(at, 0.5 * h)) : h * fmin(factor, safety); // (AU-17)
            refused = true;
            carom_problem_take_back(s, &before);
            s->counts->substeps_rejected += 1;
            if (next < shortest)
                return status != CAROM_OK ? status : carom_retry(s, "tolerances rtol and atol cannot be met");
            continue;
        }
        CAROM_TRY(end_at_kink(w, s, &p, &done));
        if (!done) continue;
        // A part that only the contact or the end made short says nothing against the length that was good before.
        const double wish = h == left || most < next || P->b.tau < h || refused ? fmax(next, h * factor) : h * factor;
        CAROM_TRY(look_inside(w, s, &found));
        while (violation(w, s, &cut) > 1 && P->b.tau * cut > shortest) {
            s->counts->substeps_rejected += 1;
            CAROM_TRY(P->integrator->advance(P, s, P->b.tau * cut, &P->b, NULL));
            CAROM_TRY(gaps(w, s));
        }
        CAROM_TRY(stop_slip(w, s));
        CAROM_TRY(accept(w, s, P->b.tau == left ? t_1 : P->t + P->b.tau));
        CAROM_TRY(carom_substep_done(s, P->t, P->q, P->v));
        next = wish;
        refused = false;
    }
    w->next = next;
    return CAROM_OK;
}

// A step as one part; as several where a contact closes and opens again inside, or forces have a kink.
static carom_status whole(work *w, carom_step *s) {
    carom_phase *P = &w->P;
    const double t_1 = s->t + s->h, shortest = CAROM_ROUNDING * (fabs(s->t) + s->h);
    carom_kinked_parts p = {.cap = HUGE_VAL, .last = w->last};
    while (t_1 - P->t > shortest) {
        const double left = t_1 - P->t;
        bool found, done;
        CAROM_TRY(carom_limit_parts(s, 1, MOST_PARTS + MORE_PARTS * s->sys->nc));
        CAROM_TRY(smooth(w, s, carom_kinked_part(s, &p, P->t, left)));
        CAROM_TRY(carom_phase_divide_hidden(P, s, &p, &done));
        if (done) continue;
        CAROM_TRY(end_at_kink(w, s, &p, &done));
        if (!done) continue;
        CAROM_TRY(look_inside(w, s, &found));
        if (found) CAROM_TRY(arrive(w, s));
        CAROM_TRY(stop_slip(w, s));
        CAROM_TRY(accept(w, s, P->b.tau == left ? t_1 : P->t + P->b.tau));
    }
    return CAROM_OK;
}

static carom_status march(work *w, carom_step *s) {
    carom_phase *P = &w->P;
    carom_phase_load(P, s);
    w->next = *w->kept;
    carom_copy(w->last, w->kept + 1, 2);
    w->works = w->kept[3];
    w->stops = 0;
    if (P->now[CAROM_PHASE_BEGUN] == 0 || s->jumped) {
        bool changes;
        P->laws = false;
        CAROM_TRY(carom_phase_enter(P, s, s->h, &changes));
        if (s->opt[OPT_FORCES] == 0) CAROM_TRY(impact(w, s, s->h));
    }
    P->laws = false;
    for (int c = 0; c < s->sys->nc; ++c) P->laws = P->laws || !carom_phase_open(P, c);
    if (s->sys->nc > 0 && adaptive(s)) CAROM_TRY(carom_gaps(s, w->g, s->t, P->q));
    CAROM_TRY(adaptive(s) ? divide(w, s) : whole(w, s));
    CAROM_TRY(carom_flow_finish(&P->f, s, s->t + s->h, P->q, P->v, P->laws, true));
    carom_copy(s->q, P->q, s->sys->nq);
    carom_copy(s->v, P->v, s->sys->nv);
    *w->kept = w->next;
    carom_copy(w->kept + 1, w->last, 2);
    w->kept[3] = w->works;
    carom_phase_keep(P, s);
    return CAROM_OK;
}

static carom_status step(void *memory, carom_step *s) { return carom_phase_leave(s, march(memory, s)); }

static bool recalls(const void *memory, const carom_step *s, int id) {
    return carom_phase_recalls(&((const work *)memory)->P, s, id);
}

static void forget(void *memory, carom_step *s, int id) { carom_phase_forget(&((work *)memory)->P, s, id); }

const carom_scheme carom_scheme_splitting = {
    .name = "splitting",
    .about = "Runge-Kutta-Fehlberg 4(5) for the smooth motion, then an impact; constant or adaptive",
    .text =
        "q_1, v_1 = Fehlberg's step of order 5 of  M v' = f + W lambda,  contact laws on acceleration level in the "
        "stages\n"
        "(forces=on, for contacts that are closed without normal velocity) or no contact forces at all (forces=off)\n"
        "v = v_1 + M^-1 W P,   Newton's law over contacts with g(q_1) <= 0, one after the other where several close in "
        "a step\n\n"
        "Constant steps: order 5 in smooth motion, first order across impacts, penetration up to h times the approach\n"
        "speed; rebounds below 2 |Gamma| h close a contact.  adaptive=on divides each step by the embedded error "
        "estimate\n"
        "and the penetration (rtol, atol): the error is about ten times the tolerance, and the step is only the "
        "interval\n"
        "between records.  forces=off: a resting body sinks with about h |a| (1/2 - e/(1 + e)).",
    .order = 5,
    .promises = {.joint_order = 5, .limited_steps = true, .slow_piles = true},
    .accounts_power = true,
    .options = options,
    .work_size = sizeof(work),
    .limitations = CAROM_NO_REST,
    .allocate = allocate,
    .step = step,
    .reset_contact = forget,
    .follows_features = true,
    .recalls = recalls,
};

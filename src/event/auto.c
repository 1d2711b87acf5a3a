// auto.c: the scheme `auto`: chooses a method by the model and the tolerance, and another one when that was wrong.
//
// Spec: docs/methods-auto.md.  The step is the interval between records and does not enter the error.
#include "event/auto.h"
#include "event/feature.h"
#include "scheme/schemes.h"
#include <math.h>
#include <string.h>

static const carom_option options[AUTO_OPTIONS + 1] = {
    [AUTO_RTOL] = {.name = "rtol", .kind = CAROM_REAL, .fallback = 1e-7, .low = 1e-13, .high = 1e-1,
                   .about = "error allowed in one internal step, relative to each component"},
    [AUTO_ATOL] = {.name = "atol", .kind = CAROM_REAL, .fallback = 0, .low = 0, .high = 1e-1,
                   .about = "the same, relative to the largest position (velocity) of the run; 0: a hundredth of rtol"},
    [AUTO_LONGEST] = {.name = "max-step", .kind = CAROM_REAL, .fallback = 0, .low = 0, .high = 1e12,
                      .about = "longest internal step (time); 0: no limit"},
    [AUTO_GROW] = {.name = "grow", .kind = CAROM_REAL, .fallback = 4, .low = 1.05, .high = 100,
                   .about = "largest ratio of an internal step to the one before; at most 2 in time-stepping"},
    {0},
};

enum { MOST_VELOCITIES = 8000, MOST_IMPLICIT = 200 }; // dense matrices: docs/limits.md

static void place(auto_work *w, const carom_system *sys) {
    double *at = w->now;
    double **part[] = {&w->q_a, &w->q_b, &w->v_a, &w->a_a, &w->v_b, &w->a_b, &w->way};
    for (int i = 0; i < 7; ++i) {
        *part[i] = at;
        if (at) at += i < 2 ? sys->nq : sys->nv;
    }
}

static void allocate(void *memory, carom_arena *mem, carom_arena *keep, const carom_system *sys, const double *opt) {
    (void)opt;
    auto_work *w = memory;
    const size_t nq = (size_t)sys->nq, nv = (size_t)sys->nv;
    w->large = sys->nv > MOST_VELOCITIES; // joints are eliminated with their bodies, and cost as little
    w->kept_head = carom_allocate_bytes(keep, sizeof *w->kept_head);
    auto_stepping_allocate(w, mem, keep, sys);
    w->error = carom_allocate(mem, nq + nv);
    w->q = carom_allocate(mem, nq);
    w->v = carom_allocate(mem, nv);
    if (w->large) return;
    w->kept_size = 2 * nq + 5 * nv;
    w->kept = carom_allocate(keep, w->kept_size);
    w->now = carom_allocate(mem, w->kept_size);
    place(w, sys);
    CAROM_ALLOCATE(mem, nv, &w->x, &w->y);
    w->lasting = carom_allocate_bytes(mem, (size_t)sys->nc * sizeof *w->lasting);
    w->explicit = carom_butcher_find(CAROM_RK_DORMAND, 5);
    w->P = carom_allocate_phase(mem, keep, sys, w->explicit);
    w->implicit = sys->nv <= MOST_IMPLICIT && !sys->move ? carom_butcher_find(CAROM_RK_RADAU, 5) : NULL;
    if (w->implicit) carom_allocate_flow_implicit(&w->P.f, mem, sys, w->implicit);
}

static void load(auto_work *w, carom_step *s) {
    w->head = *w->kept_head;
    for (int c = 0; c < s->sys->nc; ++c) w->memory[c] = w->kept_memory[c];
    w->t = s->t;
    w->went_on = s->jumped;
    carom_copy(w->q_s, s->q, s->sys->nq);
    carom_copy(w->v_s, s->v, s->sys->nv);
    if (w->large) return;
    memcpy(w->now, w->kept, w->kept_size * sizeof *w->now);
    carom_phase_load(&w->P, s);
    if (!w->head.there) return;
    w->P.t = w->head.t_a;
    carom_copy(w->P.q, w->q_a, s->sys->nq);
    carom_copy(w->P.v, w->v_a, s->sys->nv);
}

static void store(auto_work *w, carom_step *s, const double *q, const double *v) {
    carom_copy(s->q, q, s->sys->nq);
    carom_copy(s->v, v, s->sys->nv);
    if (!w->went_on) { // a record inside the segment: of what is kept the works booked so far have changed
        carom_copy(w->kept_head->done, w->head.done, AUTO_WORKS);
        return;
    }
    s->counts->switches += (long)(w->head.changes - w->kept_head->changes) - (w->kept_head->changes == 0);
    *w->kept_head = w->head;
    for (int c = 0; c < s->sys->nc; ++c) w->kept_memory[c] = w->memory[c];
    if (w->large) return;
    memcpy(w->kept, w->now, w->kept_size * sizeof *w->now);
    carom_phase_keep(&w->P, s);
}

// To time-stepping: for a while, and four times as long as it has lasted when the trouble comes back at once.
//
// (AU-20)  When it has done so twice in a row, rtol becomes ten times as large, up to 1e-3: what time-stepping leaves
//          of an error, sqrt(rtol), and the impacts that have multiplied it, exceed what the smaller one would buy.
static void step_instead(auto_work *w, carom_step *s, auto_why why) {
    static const double LOOSER = 10, LOOSEST = 1e-3;
    auto_head *h = &w->head;
    const double t = w->P.t, T = h->size_v > 0 ? h->size_q / h->size_v : s->h;
    const bool at_once = h->since > 0 && t - h->since < 8 * h->lasted;
    h->returns = at_once ? h->returns + 1 : 0;
    const bool again = h->returns >= 2 && LOOSER * h->rtol <= LOOSEST;
    if (again) h->rtol = w->opt[AUTO_RTOL] = LOOSER * h->rtol;
    h->hold = at_once ? 4 * h->lasted : 0.1 * sqrt(s->opt[AUTO_RTOL]) * T;
    h->since = t;
    h->before = h->method;
    auto_stepping_begin(w, s);
    auto_change_to(w, t, AUTO_STEPPING, again ? AUTO_AGAIN : why);
    h->seen = h->still = 0;
    h->next = 0.1 * h->hold; // chosen: ten steps at first, which errors correct
}

static carom_status begin(auto_work *w, carom_step *s) {
    w->head.begun = 1;
    w->head.rtol = s->opt[AUTO_RTOL];
    w->went_on = true;
    if (w->large) return auto_choose(w, s);
    CAROM_TRY(carom_phase_begin(&w->P, s, s->h));
    auto_measure(w, s, w->P.q, w->P.v, w->P.f.a);
    // whatever the interval between records
    const carom_status status =
        carom_phase_settle(&w->P, s, auto_delta(w, s, w->head.size_v > 0 ? HUGE_VAL : s->h), NULL);
    if (status != CAROM_OK && status != CAROM_RETRY) return status;
    CAROM_TRY(auto_choose(w, s));
    if (w->head.method == AUTO_STEPPING) auto_stepping_begin(w, s);
    else if (status == CAROM_RETRY) step_instead(w, s, AUTO_REFUSED);
    return CAROM_OK;
}

enum { QUIET = 12 }; // parts of time-stepping without impact before events are located again

static carom_status locate_again(auto_work *w, carom_step *s) {
    auto_head *h = &w->head;
    if (w->large || h->before == AUTO_STEPPING || h->quiet < QUIET || w->t - h->since < h->hold ||
        auto_stepping_crowded(w, s))
        return CAROM_OK;
    const carom_status status = auto_stepping_end(w, s);
    if (status == CAROM_OK) {
        h->lasted = fmax(w->t - h->since, h->hold);
        h->since = w->t;
        auto_change_to(w, w->t, (auto_method)h->before, AUTO_QUIET);
        return CAROM_OK;
    }
    h->quiet = 0; // not yet
    return status == CAROM_RETRY ? CAROM_OK : status;
}

// A segment, or time-stepping where there is none.
static carom_status plan(auto_work *w, carom_step *s, double t_1) {
    const auto_why many = auto_too_many(w, s);
    if (many != AUTO_FEW) return step_instead(w, s, many), CAROM_OK;
    auto_reconsider(w, s);
    const carom_status status = auto_plan(w, s, t_1);
    if (status == CAROM_RETRY) return step_instead(w, s, AUTO_REFUSED), CAROM_OK;
    return status;
}

// Across the end of a segment.  Where the contact laws leave an event undecided, time-stepping goes on from there: what
// has been booked of the event stands.
static carom_status pass(auto_work *w, carom_step *s) {
    const carom_status status = auto_pass(w, s);
    if (status == CAROM_OK) return carom_substep_done(s, w->P.t, w->P.q, w->P.v);
    if (status != CAROM_RETRY) return status;
    w->P.t = w->head.t_b;
    step_instead(w, s, AUTO_REFUSED);
    return CAROM_OK;
}

// So much work between two records ends the run, in evaluations of a small model (AU-19): some 11 s of CPU time.
static const double MOST = 1e8;

// To t_1: segments and parts.  The last segment may reach beyond; none is begun at t_1.
static carom_status go(auto_work *w, carom_step *s, double t_1) {
    for (;;) {
        const bool stepping = w->head.method == AUTO_STEPPING;
        if (w->head.there) {
            if (w->head.t_b > t_1) return CAROM_OK;
            w->went_on = true;
            CAROM_TRY(carom_limit_work(s, MOST));
            CAROM_TRY(pass(w, s));
        } else if (t_1 - (stepping ? w->t : w->P.t) <= auto_shortest(s, t_1)) {
            return CAROM_OK;
        } else if (stepping) {
            w->went_on = true;
            CAROM_TRY(carom_limit_work(s, MOST));
            CAROM_TRY(auto_stepping_part(w, s, t_1));
            CAROM_TRY(carom_substep_done(s, w->t, w->q_s, w->v_s));
            CAROM_TRY(locate_again(w, s));
        } else {
            w->went_on = true;
            CAROM_TRY(plan(w, s, t_1));
        }
    }
}

// The state at a record inside a segment.  An open contact that is closed there touched inside the segment, and nobody
// saw it: *missed, and the segment is planned anew to end there.
static carom_status read_off(auto_work *w, carom_step *s, double t_1, bool *missed) {
    carom_phase *P = &w->P;
    CAROM_TRY(auto_inside(w, s, t_1));
    if (s->sys->nc == 0) return CAROM_OK;
    CAROM_TRY(carom_phase_free(s));
    CAROM_TRY(carom_gaps(s, w->g_1, t_1, w->q));
    CAROM_TRY(carom_phase_held(s));
    bool below = false;
    for (int c = 0; c < s->sys->nc; ++c)
        below = below || (carom_phase_open(P, c) &&
                          w->g_1[s->sys->ne + c] < -AUTO_ENCLOSED * s->opt[AUTO_RTOL] * w->head.size_q);
    w->went_on = w->went_on || below;
    return below ? auto_plan_until(w, s, t_1, missed) : CAROM_OK;
}

// So many are never asked for.
static const double MOST_STEPS = 1e6;

static carom_status start(void *memory, carom_step *s) {
    (void)memory;
    const double longest = s->opt[AUTO_LONGEST];
    if (!(longest > 0 && s->h > MOST_STEPS * longest)) return CAROM_OK;
    return carom_fail(s->err, CAROM_BAD_INPUT,
                      "max-step=%g would divide every step of %g into %.3g; at most %g are allowed: give a larger "
                      "max-step, or a smaller step",
                      longest, s->h, s->h / longest, MOST_STEPS);
}

// Forces have jumped: the segment under way ends, and a phase starts at the record with contacts as they are.
static carom_status renew(auto_work *w, carom_step *s) {
    carom_phase *P = &w->P;
    if (w->large || w->head.method == AUTO_STEPPING) return CAROM_OK;
    w->went_on = true;
    w->head.there = 0;
    P->t = s->t;
    carom_copy(P->q, s->q, s->sys->nq);
    carom_copy(P->v, s->v, s->sys->nv);
    CAROM_TRY(carom_flow_jerk(&P->f, s, P->t, P->q, P->v, P->was));
    CAROM_TRY(carom_phase_start(P, s, s->h));
    const carom_status status = carom_phase_settle(P, s, auto_delta(w, s, w->head.next), NULL);
    if (status == CAROM_RETRY) step_instead(w, s, AUTO_REFUSED);
    return status == CAROM_RETRY ? CAROM_OK : status;
}

static carom_status advance(auto_work *w, carom_step *s) {
    const double t_1 = s->t + s->h;
    load(w, s);
    if (w->head.begun && s->jumped) CAROM_TRY(renew(w, s));
    if (w->head.there) CAROM_TRY(carom_phase_hold(s, w->head.t_a, w->q_a));
    if (!w->head.begun) CAROM_TRY(begin(w, s));
    for (bool missed = true; missed;) {
        CAROM_TRY(go(w, s, t_1));
        missed = false;
        if (w->head.method != AUTO_STEPPING && w->head.there) CAROM_TRY(read_off(w, s, t_1, &missed));
    }
    if (w->head.method == AUTO_STEPPING) return store(w, s, w->q_s, w->v_s), CAROM_OK;
    carom_phase *P = &w->P;
    if (!w->head.there) {
        carom_copy(w->q, P->q, s->sys->nq);
        carom_copy(w->v, P->v, s->sys->nv);
    }
    CAROM_TRY(carom_flow_finish(&P->f, s, t_1, w->q, w->v, false, !w->head.there));
    store(w, s, w->q, w->v);
    return CAROM_OK;
}

// With the tolerance in use (AU-20) in the place of the one given.
static carom_status step(void *memory, carom_step *s) {
    auto_work *w = memory;
    const double *given = s->opt;
    carom_copy(w->opt, given, AUTO_OPTIONS);
    if (w->kept_head->rtol > 0) w->opt[AUTO_RTOL] = w->kept_head->rtol;
    s->opt = w->opt;
    const carom_status status = carom_phase_leave(s, advance(memory, s));
    s->opt = given;
    return status;
}

static void forget(void *memory, carom_step *s, int id) {
    auto_work *w = memory;
    w->kept_memory[id - s->sys->ne] = (carom_memory){0};
    if (!w->large) carom_phase_forget(&w->P, s, id);
}

static bool recalls(const void *memory, const carom_step *s, int id) {
    const auto_work *w = memory;
    return carom_memory_recalls(&w->kept_memory[id - s->sys->ne], s->t + s->h) ||
           (!w->large && carom_phase_recalls(&w->P, s, id));
}

// The segment under way: the rest of it was planned with the list of contacts of an earlier step, and its event is that
// of a contact that the next list must have.
static bool ahead(const void *memory, double t, carom_way *motion) {
    const auto_work *w = memory;
    const auto_head *h = w->kept_head;
    if (w->large || !h->there) return false;
    const double *q_b = w->kept + (w->q_b - w->now), *v_b = w->kept + (w->v_b - w->now);
    motion->q_1 = q_b, motion->v_1 = v_b, motion->h = fmax(h->t_a + h->tau - t, 0);
    return true;
}

const carom_scheme carom_scheme_auto = {
    .name = "auto",
    .about =
        "chooses the method by a tolerance: located events, explicit or implicit, or time-stepping; reports its "
        "choices",
    .text =
        "Small models that are not stiff: Dormand and Prince's Runge-Kutta method with steps by error estimate; events "
        "enclosed in\n"
        "1e-3 rtol of a step, Moreau across them, as in `mixed`.  Stiff ones: Radau IIA of order 5 in its place.  "
        "Large\n"
        "ones, and where events come too thick or contradict each other: moreau-jean with steps by doubling, until it "
        "is quiet.\n"
        "The choice is examined on the way; every change is reported with its time and reason.\n\n"
        "The step is the interval between records and does not enter the error: states inside internal steps are read "
        "off\n"
        "polynomials of degree 5.  Steps of time-stepping end at records.  There an impact is resolved to sqrt(rtol).",
    .order = 5,
    .promises = {.contacts = CAROM_POSITION_LEVEL,
                 .joints = CAROM_POSITION_LEVEL,
                 .joint_order = 5,
                 .impact_order = 5,
                 .gain = 1e-3,
                 .loss = 1e-3,
                 .slow_piles = true},
    .controls_own_steps = true,
    .worlds = &carom_scheme_moreau_midpoint,
    .exact = "",
    .emits_events = true,
    .accounts_power = true,
    .limitations = CAROM_NO_ADAPTIVE | CAROM_NO_REST,
    .ahead = ahead,
    .reset_contact = forget,
    .follows_features = true,
    .recalls = recalls,
    .options = options,
    .work_size = sizeof(auto_work),
    .allocate = allocate,
    .start = start,
    .step = step,
    .describe = auto_describe,
};

// auto_stepping.c: the third method of `auto`: moreau-jean in parts whose length step doubling controls.
//
// For what located events are too many for, and for models too large for dense matrices.  A part is computed
// once as a whole and once in two halves; the halves are kept.  Parts end at records.
#include "base/control.h"
#include "base/tolerance.h"
#include "base/option.h"
#include "scheme/friction.h"
#include "event/auto.h"
#include "event/feature.h"
#include "scheme/schemes.h"
#include "system/system.h"
#include <assert.h>
#include <math.h>

enum { ATTEMPTS = 80 }; // the same, with steps that shrink by less

void auto_stepping_allocate(auto_work *w, carom_arena *mem, carom_arena *keep, const carom_system *sys) {
    const size_t nq = (size_t)sys->nq, nv = (size_t)sys->nv, nc = (size_t)sys->nc, nb = nc + (size_t)sys->ne;
    w->stepper = &carom_scheme_moreau_jean;
    assert(w->stepper->work_size <= sizeof w->room && carom_option_count(w->stepper->options) <= 16);
    carom_option_defaults(w->stepper->options, w->stepper_opt);
    w->stepper_opt[carom_option_find(w->stepper->options, "identity", 8)] = 1; // off
    w->stepper->allocate(w->room, mem, keep, sys, w->stepper_opt);
    w->kept_memory = carom_allocate_bytes(keep, nc * sizeof *w->memory);
    w->memory = carom_allocate_bytes(mem, nc * sizeof *w->memory);
    w->held = carom_allocate(mem, nc);
    w->struck = carom_allocate_bytes(mem, nc * sizeof *w->struck);
    w->L_s = carom_allocate_local(mem, sys);
    CAROM_ALLOCATE(mem, nq, &w->q_s, &w->q_w, &w->q_h);
    CAROM_ALLOCATE(mem, nv, &w->v_s, &w->v_w, &w->v_h);
    w->F_s = carom_allocate_factor(mem, sys->mass_shape, true);
    w->a_s = carom_allocate(mem, nv);
    CAROM_ALLOCATE(mem, nb, &w->g_0, &w->g_1);
    w->nl = 0;
    for (int id = 0; id < sys->ne + sys->nc; ++id) w->nl += carom_system_recorded(sys, id);
    CAROM_ALLOCATE(mem, (size_t)w->nl, &w->impulse, &w->force, &w->u_before, &w->u_after, &w->whole[0], &w->whole[1],
                   &w->whole[2], &w->whole[3]);
}

// One step of the stepper with books of its own.
static carom_status one(auto_work *w, carom_step *z, double t, double h) {
    z->t = t;
    z->h = h;
    z->record.t = t + h;
    CAROM_TRY(carom_friction_at(z, t, z->q, z->v));
    CAROM_TRY(w->stepper->step(w->room, z));
    if (!(carom_norm_max(z->q, z->sys->nq) < HUGE_VAL && carom_norm_max(z->v, z->sys->nv) < HUGE_VAL))
        return carom_retry(z, "a coordinate became infinite or not a number");
    return CAROM_OK;
}

// A copy of the step that works on (q, v) and books into the given arrays.
static carom_step aside(auto_work *w, const carom_step *s, double *q, double *v, double *impulse, double *force,
                        double *u_before, double *u_after) {
    carom_step z = *s;
    z.opt = w->stepper_opt;
    z.q = q, z.v = v;
    z.record.impulse = impulse, z.record.force = force, z.record.u_before = u_before, z.record.u_after = u_after;
    for (int c = 0; c < s->sys->nc; ++c) w->held[c] = w->memory[c].reacting > 0;
    z.active = w->held;
    carom_copy(q, w->q_s, s->sys->nq);
    carom_copy(v, w->v_s, s->sys->nv);
    carom_zero(impulse, w->nl);
    carom_zero(force, w->nl);
    carom_zero(u_before, w->nl);
    carom_zero(u_after, w->nl);
    z.record.account = (carom_account){0};
    z.record.reacted = false;
    return z;
}

static bool jumps(const auto_work *w, const carom_step *s) {
    for (int c = 0; c < s->sys->nc; ++c)
        if (w->impulse[s->dir[s->sys->ne + c]] > 0 && !w->memory[c].closed) return true;
    return false;
}

static bool touches(const auto_work *w, const carom_step *s) {
    for (int c = 0; c < s->sys->nc; ++c)
        if (w->impulse[s->dir[s->sys->ne + c]] > 0) return true;
    return s->sys->ne > 0;
}

// Which contacts a list holds is a matter of cost: their gaps say nothing, the size of positions does.
static void measure_gap(auto_work *w, const carom_step *s, double g, int id) {
    const double size = id < s->sys->ne + s->sys->nc - s->sys->listed ? fabs(g) : w->head.size_q;
    w->head.length = fmax(w->head.length, size);
}

// New penetration at the end of the part, relative to what is allowed.
static carom_status violation(auto_work *w, carom_step *s, double t, double *error) {
    const int ne = s->sys->ne, all = ne + s->sys->nc;
    if (s->sys->nc == 0) return CAROM_OK;
    CAROM_TRY(carom_gaps(s, w->g_1, t, w->q_h));
    for (int id = ne; id < all; ++id) {
        measure_gap(w, s, w->g_1[id], id); // of refused attempts, too: where all gaps are rounding, nothing else says
                                           // how long things are
        const double deeper = -w->g_1[id] - fmax(0, -w->g_0[id]);
        if (deeper > 0) *error = fmax(*error, deeper / (sqrt(s->opt[AUTO_RTOL]) * w->head.length));
    }
    return CAROM_OK;
}

static carom_status power_at(carom_step *s, double t, const double *q, const double *v, double *P) {
    P[CAROM_WORK_FRICTION] = P[CAROM_WORK_EXTERNAL] = P[CAROM_WORK_DAMPING] = 0;
    if (s->sys->power &&
        s->sys->power(s->sys->model, s->sys_work, t, q, v, &P[CAROM_WORK_EXTERNAL], &P[CAROM_WORK_DAMPING]) != CAROM_OK)
        return carom_retry(s, "the model could not compute its power");
    return CAROM_OK;
}

static void booked(const carom_step *z, double *W) {
    W[CAROM_WORK_FRICTION] = z->record.account.friction, W[CAROM_WORK_EXTERNAL] = z->record.account.external,
    W[CAROM_WORK_DAMPING] = z->record.account.damping;
}

// (AU-16) by (AD-10); an impact has its own measure, and velocities are in it.
static carom_status work_error(auto_work *w, carom_step *s, double h, bool jump, double weight, double atol,
                               double *error) {
    const double rtol = s->opt[AUTO_RTOL], most = carom_works_error(&w->works, h, weight, &w->work_size);
    double push = 0, allowed = rtol * (w->head.size_w + w->work_size);
    if (jump || !(most > 0)) return CAROM_OK;
    if (most > allowed) { // velocities are not known better than atol
        for (int i = 0; i < w->nl; ++i) push += fabs(w->impulse[i]);
        CAROM_TRY(carom_force(s, w->a_s, w->t, w->q_s, w->v_s));
        for (int i = 0; i < s->sys->nv; ++i) push += h * fabs(w->a_s[i]);
        allowed += atol * w->head.size_v * push;
    }
    const double own = most / allowed;
    *error = fmax(*error, h <= fmax(auto_coarse(w, s), carom_works_shortest(s)) ? fmin(own, CAROM_WORKS_COARSE) : own);
    return CAROM_OK;
}

// (AU-8)  A part of h as a whole and in two halves.  Their difference over 2^p - 1 counts against rtol; with an impact,
//         the velocities are of order 0: twice the difference counts against sqrt(rtol).
static carom_status attempt(auto_work *w, carom_step *s, double h, double *error, int *p, carom_step *z) {
    const int nq = s->sys->nq, nv = s->sys->nv;
    carom_step whole = aside(w, s, w->q_w, w->v_w, w->whole[0], w->whole[1], w->whole[2], w->whole[3]);
    CAROM_TRY(one(w, &whole, w->t, h));
    *z = aside(w, s, w->q_h, w->v_h, w->impulse, w->force, w->u_before, w->u_after);
    z->scale = whole.scale;
    carom_works *x = &w->works;
    CAROM_TRY(power_at(s, w->t, w->q_s, w->v_s, x->P[0]));
    CAROM_TRY(one(w, z, w->t, 0.5 * h));
    CAROM_TRY(power_at(s, w->t + 0.5 * h, w->q_h, w->v_h, x->P[1]));
    CAROM_TRY(one(w, z, w->t + 0.5 * h, 0.5 * h));
    CAROM_TRY(power_at(s, w->t + h, w->q_h, w->v_h, x->P[2]));
    booked(&whole, x->whole);
    booked(z, x->halves);
    x->powers = s->sys->power != NULL;
    const bool jump = jumps(w, s);
    *p = jump ? 0 : touches(w, s) ? 1 : 2;
    const double weight = *p == 0 ? 2 * sqrt(s->opt[AUTO_RTOL]) : 1 / (ldexp(1, *p) - 1);
    for (int i = 0; i < nq; ++i) w->error[i] = weight * (w->q_h[i] - w->q_w[i]);
    for (int i = 0; i < nv; ++i) w->error[nq + i] = weight * (w->v_h[i] - w->v_w[i]);
    const double atol = s->opt[AUTO_ATOL] > 0 ? s->opt[AUTO_ATOL]
                        : *p < 2              ? s->opt[AUTO_RTOL]
                                              : 0.01 * s->opt[AUTO_RTOL]; // as absolute() of auto_segment.c
    *error = carom_flow_error(s, w->error, w->q_s, w->v_s, w->q_h, w->v_h, s->opt[AUTO_RTOL], atol, w->head.size_q,
                              w->head.size_v);
    CAROM_TRY(work_error(w, s, h, *p == 0, weight, atol, error));
    return violation(w, s, w->t + h, error);
}

// (CL-6)  Is the normal impulse of contact c in a part over h an impact: does the contact approach faster than the
//         forces of a few halves explain?
static carom_status struck(auto_work *w, carom_step *s, const carom_step *books, int c, double h, bool *is) {
    const double approach = -w->u_before[s->dir[s->sys->ne + c]], h_0 = s->h;
    double theta = 0;
    *is = carom_memory_fresh(w->memory + c, books, c) && approach > 0;
    if (!*is) return CAROM_OK;
    s->h = 0.5 * h;
    const carom_status status = carom_explained(s, &theta, &w->L_s, s->sys->ne + c, false,
                                                (carom_evaluation_point){.t = w->t, .q = w->q_s, .v = w->v_s});
    s->h = h_0;
    *is = approach > theta;
    return status;
}

// z: the books of the halves, from w->t to t.
static carom_status accept(auto_work *w, carom_step *s, const carom_step *z, double t) {
    carom_step books = *s;
    books.record.impulse = w->impulse, books.record.force = w->force, books.record.u_before = w->u_before,
    books.record.u_after = w->u_after;
    for (int c = 0; c < s->sys->nc; ++c) CAROM_TRY(struck(w, s, &books, c, t - w->t, &w->struck[c]));
    carom_list_suffices(s, &(carom_way){w->q_s, w->v_s, w->q_h, w->v_h, t - w->t});
    carom_copy(w->q_s, w->q_h, s->sys->nq);
    carom_copy(w->v_s, w->v_h, s->sys->nv);
    carom_copy(w->g_0, w->g_1, s->sys->ne + s->sys->nc);
    s->scale = fmax(s->scale, z->scale);
    s->record.account.impact += z->record.account.impact;
    s->record.account.friction += z->record.account.friction;
    s->record.account.external += z->record.account.external;
    carom_account_split(&s->record.account, &z->record.account);
    if (z->record.reacted)
        for (int i = 0; i < w->nl; ++i) {
            if (w->u_before[i] == 0 && w->u_after[i] == 0 && w->impulse[i] == 0) continue; // had no part in it
            if (s->record.impulse[i] == 0) s->record.u_before[i] = w->u_before[i];
            s->record.impulse[i] += w->impulse[i];
            s->record.u_after[i] = w->u_after[i];
        }
    s->record.reacted = s->record.reacted || z->record.reacted;
    // Events of this part, read off its own impulses.
    double *fastest = w->large ? NULL : w->P.now + CAROM_PHASE_STRUCK; // events will be located again
    for (int c = 0; c < s->sys->nc; ++c) {
        const int d = s->dir[s->sys->ne + c];
        if (fastest && z->record.reacted && w->impulse[d] > 0) *fastest = fmax(*fastest, -w->u_before[d]);
        carom_memory_update(w->memory + c, &books, t, c, w->struck[c]);
    }
    s->record.nevents = books.record.nevents;
    w->t = t;
    return CAROM_OK;
}

// (AD-10)  Forces without potential, by Simpson's rule over the part.
static void book_power(auto_work *w, carom_step *s, double h) {
    const carom_works *x = &w->works;
    s->record.account.external += 0.5 * h * (x->P[0][CAROM_WORK_EXTERNAL] + x->P[2][CAROM_WORK_EXTERNAL]) +
                           carom_works_middle(x, h, CAROM_WORK_EXTERNAL);
    s->record.account.damping += 0.5 * h * (x->P[0][CAROM_WORK_DAMPING] + x->P[2][CAROM_WORK_DAMPING]) +
                          carom_works_middle(x, h, CAROM_WORK_DAMPING);
    w->head.size_w += w->work_size;
}

// What stands still has no size of velocities yet: (AU-1) with the accelerations that it would have without contacts.
static carom_status measure(auto_work *w, carom_step *s) {
    auto_measure(w, s, w->q_s, w->v_s, NULL);
    if (w->head.size_v > 0) return CAROM_OK;
    CAROM_TRY(carom_mass_factor(s, &w->F_s, w->t, w->q_s));
    CAROM_TRY(carom_force(s, w->a_s, w->t, w->q_s, w->v_s));
    carom_factor_solve(&w->F_s, w->a_s);
    auto_measure(w, s, w->q_s, w->v_s, w->a_s);
    return CAROM_OK;
}

carom_status auto_stepping_part(auto_work *w, carom_step *s, double t_1) {
    auto_head *h = &w->head;
    const double shortest = auto_shortest(s, w->t), left = t_1 - w->t, rtol = s->opt[AUTO_RTOL];
    if (s->record.nevents + 4 * s->sys->nc > s->record.max_events)
        return carom_retry(s, "more than %d events in one step; reduce the step", s->record.max_events);
    CAROM_TRY(carom_phase_free(s));
    CAROM_TRY(measure(w, s));
    if (s->sys->ne + s->sys->nc > 0) CAROM_TRY(carom_gaps(s, w->g_0, w->t, w->q_s));
    for (int id = s->sys->ne; id < s->sys->ne + s->sys->nc; ++id) measure_gap(w, s, w->g_0[id], id);
    if (!(h->next > 0)) h->next = left;
    // An impact is not looked at more closely than this.
    const double coarse = h->size_v > 0 ? auto_coarse(w, s) : 0;
    // Nor is what made events impossible to locate.
    const double least = w->large || h->before == AUTO_STEPPING ? 0 : 0.01 * sqrt(rtol) * auto_time(w, w->t);
    double length = h->next;
    bool refused = false;
    for (int i = 0; i < ATTEMPTS; ++i) {
        const bool last = length >= left * (1 - CAROM_INSTANT);
        const double part = last ? left : length;
        double error = HUGE_VAL;
        int p = 0;
        carom_step z;
        const carom_traces before = carom_problem_traces(s);
        const carom_status status = attempt(w, s, part, &error, &p, &z);
        if (status != CAROM_OK && status != CAROM_RETRY) return status;
        if (status == CAROM_OK && (error <= 1 || part <= least || (p == 0 && part <= coarse))) {
            static const double LEAST = 1e-8; // estimates below it are taken for it: `most` limits the next part long
                                              // before
            const double most = fmin(2, s->opt[AUTO_GROW]);
            const double factor = carom_step_factor(fmax(error, LEAST), p + 1, s->inside->control.safety,
                                                    s->inside->control.shrink, refused ? 1 : most);
            const double t = last ? t_1 : w->t + part;
            book_power(w, s, part);
            h->next = part * factor;
            if (last && factor >= 1) h->next = fmax(h->next, length);
            if (s->opt[AUTO_LONGEST] > 0) h->next = fmin(h->next, s->opt[AUTO_LONGEST]);
            h->quiet = p == 0 ? 0 : h->quiet + 1;
            return accept(w, s, &z, t);
        }
        refused = true;
        carom_problem_take_back(s, &before);
        s->counts->substeps_rejected += 1;
        length =
            part * (status != CAROM_OK ? 0.25
                                       : carom_step_factor(error, p + 1, s->inside->control.safety,
                                                           0.5 * s->inside->control.shrink, s->inside->control.safety));
        if (status == CAROM_OK) length = fmax(length, least);
        if (length < shortest)
            return status != CAROM_OK ? status
                                      : carom_retry(s, "the tolerance rtol = %g cannot be met by time-stepping", rtol);
    }
    return carom_retry(s, "no part met the tolerance in %d attempts", ATTEMPTS);
}

bool auto_stepping_crowded(const auto_work *w, const carom_step *s) {
    int n = 0;
    for (int c = 0; c < s->sys->nc; ++c)
        if (w->memory[c].closed) n += carom_system_directions(s->sys, s->sys->ne + c);
    return n > AUTO_CROWD;
}

void auto_stepping_begin(auto_work *w, const carom_step *s) {
    carom_phase *P = &w->P;
    w->t = P->t;
    carom_copy(w->q_s, P->q, s->sys->nq);
    carom_copy(w->v_s, P->v, s->sys->nv);
    for (int c = 0; c < s->sys->nc; ++c) {
        const bool closed = !carom_phase_open(P, c);
        w->memory[c] = (carom_memory){.impulsive = closed,
                                      .reacting = closed,
                                      .closed = closed,
                                      .run = (short)fmin(P->runs.run[c].count, CAROM_RUN),
                                      .impact_t = P->runs.run[c].t,
                                      .flight = P->runs.run[c].flight};
    }
    w->head.quiet = 0;
    w->head.there = 0;
}

// Back to located events: lasting contacts stay closed; their events have been emitted.
carom_status auto_stepping_end(auto_work *w, carom_step *s) {
    carom_phase *P = &w->P;
    const int emitted = s->record.nevents;
    P->t = w->t;
    carom_copy(P->q, w->q_s, s->sys->nq);
    carom_copy(P->v, w->v_s, s->sys->nv);
    for (int c = 0; c < s->sys->nc; ++c) w->lasting[c] = w->memory[c].closed && w->memory[c].reacting > 0;
    const double h = w->head.next;
    P->none = auto_none(w, s);
    CAROM_TRY(carom_phase_begin(P, s, h));
    CAROM_TRY(carom_phase_settle(P, s, auto_delta(w, s, h), w->lasting));
    int n = emitted;
    for (int i = emitted; i < s->record.nevents; ++i)
        if (!(s->record.events[i].kind == CAROM_CLOSE && w->lasting[s->record.events[i].contact]))
            s->record.events[n++] = s->record.events[i];
    s->record.nevents = n;
    return CAROM_OK;
}

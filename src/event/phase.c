// phase.c: see phase.h.
#include "base/swap.h"
#include "base/tolerance.h"
#include "event/change.h"
#include "event/decide.h"
#include "event/feature.h"
#include "event/hidden.h"
#include "event/margin.h"
#include "event/phase.h"
#include "event/side.h"
#include "event/tube.h"
#include "event/watch.h"
#include "scheme/inside.h"
#include "system/narrow.h"
#include "system/system.h"
#include <float.h>
#include <math.h>

static carom_event_point allocate_point(carom_arena *mem, const carom_system *sys) {
    const size_t nc = (size_t)sys->nc;
    carom_event_point P = {0};
    P.q = carom_allocate(mem, (size_t)sys->nq);
    P.v = carom_allocate(mem, (size_t)sys->nv);
    P.g = carom_allocate(mem, nc + (size_t)sys->ne);
    P.u = carom_allocate(mem, nc);
    P.phi = carom_allocate(mem, 2 * nc + (size_t)sys->events->nk);
    P.kink = carom_allocate(mem, nc);
    return P;
}

carom_phase carom_allocate_phase(carom_arena *mem, carom_arena *keep, const carom_system *sys, const carom_butcher *T) {
    carom_phase w = {.integrator = &carom_integrator_rk, .limits = CAROM_LIMITS_ENCLOSED, .walls = true};
    const size_t nq = (size_t)sys->nq, nv = (size_t)sys->nv, nc = (size_t)sys->nc;
    w.f = carom_allocate_flow(mem, sys, T);
    w.f.filippov = carom_allocate_filippov(mem, sys);
    w.size = CAROM_PHASE_HEAD + w.f.size;
    w.kept = carom_allocate(keep, CAROM_PHASE_HEAD);
    carom_flow_sizes(sys, w.kept_size);
    for (int i = 0; i < CAROM_FLOW_KEPT; ++i) w.kept_flow[i] = carom_allocate(keep, w.kept_size[i]);
    w.now = carom_allocate(mem, w.size);
    w.phase_before = carom_allocate(mem, w.f.size);
    w.all = carom_allocate_local(mem, sys);
    w.C = carom_allocate_local(mem, sys);
    w.scan = carom_allocate_scan(mem, sys);
    w.tube = carom_allocate_tube(mem, keep, sys);
    w.hidden = carom_allocate_hidden(mem, sys);
    w.runs = carom_allocate_accumulation(mem, keep, sys);
    carom_event_point *points[] = {&w.from, &w.a, &w.b, &w.trial, &w.aside};
    for (size_t i = 0; i < sizeof points / sizeof *points; ++i) *points[i] = allocate_point(mem, sys);
    CAROM_ALLOCATE(mem, nq, &w.q, &w.q_1, &w.q_before, &w.q_held);
    CAROM_ALLOCATE(mem, nv, &w.v, &w.v_1, &w.v_before, &w.span);
    CAROM_ALLOCATE(mem, nc, &w.tol_g, &w.offset, &w.gap, &w.slow, &w.slow_T, &w.over_to, &w.was, &w.before, &w.after,
                   &w.p, &w.left, &w.pull);
    CAROM_ALLOCATE(mem, (size_t)w.all.W.n, &w.kappa, &w.u_minus, &w.u_plus, &w.impulse, &w.lambda_0, &w.Gamma_0,
                   &w.noise_0, &w.D_0);
    CAROM_ALLOCATE(mem, (size_t)sys->events->nk, &w.sign, &w.beyond);
    CAROM_ALLOCATE(mem, 2 * nc + (size_t)sys->events->nk, &w.scale, &w.floor);
    bool **flags[] = {&w.armed, &w.hit, &w.in, &w.over, &w.barred};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i)
        *flags[i] = carom_allocate_bytes(mem, (i < 2 ? 2 : 1) * nc * sizeof(bool));
    return w;
}

static void spread(carom_phase *w, const carom_step *s) {
    const double size_q = w->now[CAROM_PHASE_SIZE_Q];
    for (int i = 0; i < s->sys->nv; ++i)
        w->span[i] = size_q > 0 ? size_q / carom_tolerance_lever(carom_lever(s->sys, i), size_q) : 0;
}

void carom_phase_load(carom_phase *w, carom_step *s) {
    carom_copy(w->now, w->kept, CAROM_PHASE_HEAD);
    double *at = w->now + CAROM_PHASE_HEAD;
    for (int i = 0; i < CAROM_FLOW_KEPT; at += w->kept_size[i++])
        carom_copy(at, w->kept_flow[i], (ptrdiff_t)w->kept_size[i]);
    carom_flow_load(&w->f, s, w->now + CAROM_PHASE_HEAD);
    w->f.filippov.n = 0;
    w->nphi = 2 * s->sys->nc + s->sys->events->nk; // contacts come and go
    w->scan.n = w->nphi + s->sys->nc;
    w->f.follows = w->limits.exact;
    carom_accumulation_load(&w->runs, s);
    carom_tube_load(&w->tube, s);
    spread(w, s); // what is decided before a phase begins needs it too
    carom_copy(w->q, s->q, s->sys->nq);
    carom_copy(w->v, s->v, s->sys->nv);
    w->t = s->t;
    w->events = 0;
    for (int i = 0; i < 2 * s->sys->nc; ++i) w->hit[i] = false, w->armed[i] = true;
    carom_close_kinds(s, &w->all, CAROM_JOINTS | CAROM_CONTACTS);
}

void carom_phase_keep(carom_phase *w, const carom_step *s) {
    carom_copy(w->kept, w->now, CAROM_PHASE_HEAD);
    const double *at = w->now + CAROM_PHASE_HEAD;
    for (int i = 0; i < CAROM_FLOW_KEPT; at += w->kept_size[i++])
        carom_copy(w->kept_flow[i], at, (ptrdiff_t)w->kept_size[i]);
    carom_accumulation_keep(&w->runs, s);
    carom_tube_keep(&w->tube, s);
}

void carom_phase_forget(carom_phase *w, const carom_step *s, int id) {
    carom_flow_forget(s, w->kept_flow, id);
    w->runs.kept[id - s->sys->ne] = (carom_impact_run){0};
    carom_tube_forget(&w->tube, id - s->sys->ne);
}

bool carom_phase_recalls(const carom_phase *w, const carom_step *s, int id) {
    const int c = id - s->sys->ne;
    const carom_impact_run *r = &w->runs.kept[c];
    return w->kept_flow[0][c] != CAROM_MODE_OPEN || carom_run_goes_on(r->count, r->t, r->flight, s->t + s->h);
}

void carom_phase_near(const carom_phase *w, carom_step *s, const carom_event_point *P) {
    carom_list_suffices(s, &(carom_way){w->from.q, w->from.v, P->q, P->v, P->tau - w->from.tau});
}

void carom_phase_account(carom_step *s, const carom_account *work) {
    s->record.account.impact += work->impact;
    s->record.account.friction += work->friction;
    s->record.account.external += work->external;
    s->record.account.damping += work->damping;
}

// (EV-29)  size_q = |v| T/1000 of what starts in the origin, T the length of the run; max(|v| h, |v'| h^2) where |v| <=
//          |v'| T/1000: what accelerations make of it
double carom_phase_first_size(const carom_step *s, double h, double v, double a) {
    static const double SHORT = 1e-3; // of the run
    const double T = SHORT * (s->inside->t_end - s->inside->t_0);
    return T > 0 && v > a * T ? v * T : fmax(v * h, a * h * h);
}

// (EV-13)  size_q = max |q|,  size_v = max(|v|, sqrt(size_q |v'|)) over the run so far, by (LV-2)
static void measure(carom_phase *w, const carom_step *s, double h) {
    const double v = carom_size_of_rates(s->sys, w->v), a = carom_size_of_rates(s->sys, w->f.a);
    double *now = w->now, *size_q = now + CAROM_PHASE_SIZE_Q, *size_v = now + CAROM_PHASE_SIZE_V;
    now[CAROM_PHASE_SPEED] = fmax(now[CAROM_PHASE_SPEED], v);
    now[CAROM_PHASE_SIZE_A] = fmax(now[CAROM_PHASE_SIZE_A], a);
    *size_q = fmax(*size_q, carom_size_of_positions(s->sys, w->q));
    if (*size_q == 0) *size_q = carom_phase_first_size(s, h, v, a);
    if (*size_q == 0) *size_q = 1;
    *size_v = fmax(fmax(*size_v, v), sqrt(*size_q * a));
    if (*size_v == 0) *size_v = *size_q / h;
    carom_phase_grow(w, s, w->q);
}

void carom_phase_grow(carom_phase *w, const carom_step *s, const double *q) {
    double *size_q = w->now + CAROM_PHASE_SIZE_Q;
    *size_q = fmax(*size_q, carom_size_of_positions(s->sys, q));
    spread(w, s);
}

// -- Runge-Kutta -----------------------------------------------------------------------------------------------------

static carom_status rk_reset(carom_phase *w, carom_step *s, double h) {
    return carom_flow_begin(&w->f, s, w->t, h, w->q, w->v, w->laws);
}

static carom_status rk_advance(carom_phase *w, carom_step *s, double tau, carom_event_point *P, double *error) {
    P->tau = w->tried = tau;
    P->work = (carom_account){0};
    if (tau == 0) {
        carom_copy(P->q, w->q, s->sys->nq);
        carom_copy(P->v, w->v, s->sys->nv);
        return CAROM_OK;
    }
    CAROM_TRY(carom_flow_step(&w->f, s, w->t, tau, w->q, w->v, w->laws, P->q, P->v, error));
    P->work = carom_flow_work(&w->f, tau);
    return CAROM_OK;
}

static carom_status rk_at(carom_phase *w, carom_step *s, double tau, carom_event_point *P) {
    return rk_advance(w, s, tau, P, NULL);
}

static carom_status rk_look(carom_phase *w, carom_step *s, const carom_event_point *P) {
    carom_path_set(&w->scan, s, &w->f, P->tau, w->q, w->v, P->v);
    return CAROM_OK;
}

static carom_status rk_path(carom_phase *w, carom_step *s, double tau) {
    carom_path_at(&w->scan, s, tau);
    return CAROM_OK;
}

static void rk_range(const carom_phase *w, int j, double *low, double *high) {
    for (int i = 0; i <= w->f.T->stages; ++i) {
        const double x = w->f.margin[i < w->f.T->stages ? i : CAROM_RK_STAGES][j];
        *low = fmin(*low, x), *high = fmax(*high, x);
    }
}

static const double *rk_velocity(const carom_phase *w, int i) { return i < w->f.T->stages ? w->f.V[i] : NULL; }

const carom_integrator carom_integrator_rk = {.reset = rk_reset,
                                              .advance = rk_advance,
                                              .at = rk_at,
                                              .look = rk_look,
                                              .path = rk_path,
                                              .range = rk_range,
                                              .velocity = rk_velocity};

// -- the start of a phase -----------------------------------------------------------------------------------------

// (MX-7)  (h/T)^p,  T = max(largest |v| / largest |v'| of the run, time since its start, 16 h)
double carom_phase_relative(const carom_phase *w, const carom_step *s) {
    const double natural = w->now[CAROM_PHASE_SIZE_A] > 0 ? w->now[CAROM_PHASE_SPEED] / w->now[CAROM_PHASE_SIZE_A] : 0;
    return pow(s->h / fmax(fmax(natural, s->t - w->now[CAROM_PHASE_START]), 16 * s->h), w->f.T->order);
}

carom_status carom_phase_arm(carom_phase *w, carom_step *s) {
    for (int c = 0; c < s->sys->nc; ++c) w->scan.watched[c] = carom_phase_open(w, c) && w->armed[c] && !w->barred[c];
    w->scan.left.tau = 0;
    CAROM_TRY(carom_tube_enter(w, s, &w->bare));
    if (w->bare) return CAROM_OK;
    CAROM_TRY(carom_phase_free(s));
    CAROM_TRY(carom_sample_set(&w->scan, s, &w->all, w->t, w->q, w->v, w->f.a, w->from.g, w->offset, &w->scan.left));
    return carom_phase_held(s);
}

// (EV-24)  An open contact with a condition k is barred as long as k < 0: it may pass through the wall.  It must be out
//          of it where k > 0 again.  Slots of a list that hold nothing have no gap.  Schemes that do not ask for gates
//          have switches (SW-2).
static carom_status bar(carom_phase *w, carom_step *s) {
    static const double INSIDE = 1e-6; // of the terms of a gap: far above its rounding and the error of a step, far
                                       // below what passing through a wall means
    const carom_system *sys = s->sys;
    for (int c = 0; c < sys->nc; ++c) w->barred[c] = w->from.g[sys->ne + c] == HUGE_VAL;
    for (int i = 0; w->gates && sys->events->kink_of && i < sys->events->nk; ++i) {
        const int c = carom_kink_condition(carom_system_kink_of(sys, i));
        if (c < 0 || !carom_phase_open(w, c)) continue;
        const double g = w->from.g[sys->ne + c];
        w->barred[c] = w->sign[i] < 0;
        if (!w->barred[c] && g < -INSIDE * carom_local_magnitude(&w->all, w->all.at[sys->ne + c], w->span)) {
            char name[80];
            return carom_fail(
                s->err, CAROM_USER,
                "t = %.9g: '%.60s' may close again (`closes while`), but its gap is %.6g: it must be positive there",
                w->t, carom_constraint_text(s, sys->ne + c, name, sizeof name), g);
        }
    }
    return CAROM_OK;
}

carom_status carom_phase_start(carom_phase *w, carom_step *s, double h) {
    const int nc = s->sys->nc, nv = s->sys->nv;
    CAROM_TRY(carom_phase_hold(s, w->t, w->q));
    carom_copy(w->q_held, w->q, s->sys->nq);
    w->f.filippov.n = 0;
    CAROM_TRY(w->integrator->reset(w, s, h));
    measure(w, s, h);
    w->longest = h;
    carom_event_point *P = &w->from;
    carom_copy(P->q, w->q, s->sys->nq);
    carom_copy(P->v, w->v, nv);
    P->tau = 0;
    P->work = (carom_account){0};
    bool moved;
    CAROM_TRY(carom_phase_sides(w, s, h, &moved));
    if (moved) CAROM_TRY(w->integrator->reset(w, s, h));
    if (nc == 0) return CAROM_OK;
    carom_scan_begin(&w->scan, w->t);
    CAROM_TRY(carom_phase_gaps(w, s, w->t, P));
    CAROM_TRY(bar(w, s));
    for (int c = 0; c < nc; ++c) {
        w->tol_g[c] = carom_phase_gap_rounding(w, s, w->all.at[s->sys->ne + c], h);
        w->offset[c] = w->tol_g[c] - fmin(0, P->g[s->sys->ne + c]);
    }
    return w->limits.exact ? CAROM_OK : carom_phase_arm(w, s);
}

carom_status carom_phase_try(carom_phase *w, carom_step *s, double tau, carom_event_point *P, double *error) {
    CAROM_TRY(rk_advance(w, s, tau, P, error));
    return carom_phase_watch(w, s, P);
}

carom_status carom_phase_advance(carom_phase *w, carom_step *s, double tau, double *error) {
    CAROM_TRY(w->integrator->advance(w, s, tau, &w->b, error));
    return carom_phase_watch(w, s, &w->b);
}

static carom_status at(carom_phase *w, carom_step *s, double tau, carom_event_point *P) {
    CAROM_TRY(w->integrator->at(w, s, tau, P));
    return carom_phase_watch(w, s, P);
}

static bool violated(const carom_phase *w, const carom_event_point *P) {
    for (int j = 0; j < w->nphi; ++j)
        if (P->phi[j] < 0) return true;
    return false;
}

static void copy_point(carom_event_point *A, const carom_event_point *B, const carom_step *s) {
    A->tau = B->tau;
    A->work = B->work;
    carom_copy(A->q, B->q, s->sys->nq);
    carom_copy(A->v, B->v, s->sys->nv);
    carom_copy(A->g, B->g, s->sys->ne + s->sys->nc);
    carom_copy(A->u, B->u, s->sys->nc);
}

// (SC-6)  k' and k'' by differences along the motion:  k(t +- e, q +- e v + e^2/2 a, v +- e a)
static carom_status sample_kinks(carom_phase *w, carom_step *s, double t, const double *q, const double *v,
                                 const double *a, carom_sample *P) {
    const int nc = s->sys->nc, nk = s->sys->events->nk, nv = s->sys->nv;
    double *side = w->aside.phi, *phi = P->phi + nc, *u = P->u + nc, *gamma = P->gamma + nc, e = w->nudge;
    if (nk == 0) return CAROM_OK;
    CAROM_TRY(carom_phase_kinks(w, s, t, q, v, phi));
    for (int i = 0; i < nk; ++i) u[i] = gamma[i] = 0, P->most[nc + i] = HUGE_VAL;
    for (int k = 0; k < 2; ++k, e = -e) {
        for (int i = 0; i < nv; ++i) w->f.dv[i] = v[i] + 0.5 * e * a[i];
        carom_move(s, w->q_1, q, e, w->f.dv);
        carom_add(w->v_1, v, e, a, nv);
        CAROM_TRY(carom_phase_kinks(w, s, t + e, w->q_1, w->v_1, side));
        for (int i = 0; i < nk; ++i) u[i] += side[i] / (2 * e), gamma[i] += (side[i] - phi[i]) / (e * e);
    }
    return CAROM_OK;
}

static bool negative(const carom_step *s, const carom_sample *P, const carom_scan *z, const carom_local *all) {
    for (int c = 0; c < s->sys->nc; ++c)
        if (z->watched[c] && P->phi[c] < carom_local_magnitude(all, all->at[s->sys->ne + c], z->doubt)) return true;
    for (int i = 0; i < s->sys->events->nk; ++i)
        if (z->watched[s->sys->nc + i] && P->phi[s->sys->nc + i] < 0) return true;
    return false;
}

// At (t, q, v), where gaps g and directions are known, with the accelerations of the path.
static carom_status sample_at(carom_phase *w, carom_step *s, double t, const double *q, const double *v,
                              const double *g, carom_sample *P) {
    if (s->sys->nc > 0) {
        CAROM_TRY(carom_phase_free(s));
        CAROM_TRY(carom_sample_set(&w->scan, s, &w->all, t, q, v, w->scan.a, g, w->offset, P));
        CAROM_TRY(carom_phase_held(s));
    }
    return sample_kinks(w, s, t, q, v, w->scan.a, P);
}

// A sample inside the step: by its path, and where that leaves in doubt whether a gap is negative, by the integrator.
static carom_status sample(void *user, carom_step *s, double tau, carom_sample *P) {
    carom_phase *w = user;
    carom_scan *z = &w->scan;
    const double t = w->t + tau;
    P->tau = tau;
    CAROM_TRY(w->integrator->path(w, s, tau));
    if (s->sys->nc > 0) {
        CAROM_TRY(carom_phase_free(s));
        CAROM_TRY(carom_gaps(s, w->trial.g, t, z->q));
        CAROM_TRY(carom_directions(s, &w->all, t, z->q));
    }
    CAROM_TRY(sample_at(w, s, t, z->q, z->v, w->trial.g, P));
    const bool unsure = negative(s, P, z, &w->all);
    if (!unsure && !w->margins) return CAROM_OK;
    CAROM_TRY(at(w, s, tau, &w->trial));
    if (unsure) CAROM_TRY(sample_at(w, s, t, w->trial.q, w->trial.v, w->trial.g, P));
    return carom_phase_margin_sample(w, s, &w->trial, P);
}

// A sample at the start of the step, where there is none yet; the directions at its end are wanted afterwards.
static carom_status sample_start(carom_phase *w, carom_step *s) {
    const carom_event_point *P = &w->from;
    CAROM_TRY(carom_phase_free(s));
    CAROM_TRY(carom_directions(s, &w->all, w->t + P->tau, P->q));
    CAROM_TRY(sample_at(w, s, w->t + P->tau, P->q, P->v, P->g, &w->scan.left));
    CAROM_TRY(carom_phase_free(s));
    CAROM_TRY(carom_directions(s, &w->all, w->t + w->b.tau, w->b.q));
    w->bare = false;
    return carom_phase_held(s);
}

static const double NUDGE = 1e-3; // of a step: second differences over it keep half of the digits

// all: not gaps alone, but kinks and closed contacts too.
static carom_status look_inside(carom_phase *w, carom_step *s, bool all, bool *found) {
    carom_scan *z = &w->scan;
    const double tau = w->b.tau;
    bool some = false;
    *found = false;
    for (int i = 0; i < s->sys->events->nk; ++i)
        z->watched[s->sys->nc + i] = all && w->sign[i] != 0 && !carom_phase_idle(w, s->sys, i);
    carom_phase_margins(w, s, all);
    const bool holds = carom_tube_holds(w, s);
    for (int c = 0; holds && c < s->sys->nc; ++c) z->watched[c] = z->watched[c] && !carom_tube_clear(w, s, c);
    for (int c = 0; c < z->n; ++c) some = some || z->watched[c];
    if (!some) return CAROM_OK;
    double where = tau;
    w->nudge = NUDGE * (tau - w->from.tau);
    z->left.tau = w->from.tau;
    z->right[0].tau = tau;
    CAROM_TRY(w->integrator->look(w, s, &w->b));
    if (w->bare || s->sys->events->nk > 0) CAROM_TRY(w->integrator->path(w, s, w->from.tau));
    CAROM_TRY(w->bare ? sample_start(w, s)
                      : sample_kinks(w, s, w->t + w->from.tau, w->from.q, w->from.v, z->a, &z->left));
    CAROM_TRY(w->integrator->path(w, s, tau));
    CAROM_TRY(sample_at(w, s, w->t + tau, w->b.q, w->b.v, w->b.g, z->right));
    CAROM_TRY(carom_phase_margin_ends(w, s));
    CAROM_TRY(carom_scan_run(z, s, sample, w, CAROM_INSTANT * (tau - w->from.tau), found, &where));
    return *found && where < tau ? at(w, s, where, &w->b) : CAROM_OK;
}

// Open contacts that touch and leave again inside the step.
carom_status carom_phase_look_inside(carom_phase *w, carom_step *s, bool *found) {
    return look_inside(w, s, false, found);
}

carom_status carom_phase_next(carom_phase *w, carom_step *s) {
    CAROM_SWAP(carom_event_point, &w->from, &w->a);
    return carom_phase_sides_left(w, s);
}

static bool jumps(const carom_system *sys) {
    for (int i = 0; i < sys->events->nk; ++i)
        if (carom_system_kink_of(sys, i) == CAROM_JUMPS) return true;
    return false;
}

typedef enum kinks { BENDS = 1, JUMPS = 2, ALL = BENDS | JUMPS } kinks; // bits

// Is phi beyond a kink of forces, by more than that part of the way to it?
static bool force_kink(const carom_phase *w, const carom_system *sys, const double *phi, double part, kinks which) {
    for (int i = 0; i < sys->events->nk; ++i) {
        const int of = carom_system_kink_of(sys, i);
        if (phi[i] < -part * w->from.phi[2 * sys->nc + i] && carom_kink_is_of_forces(of) &&
            which & (of == CAROM_JUMPS ? JUMPS : BENDS))
            return true;
    }
    return false;
}

bool carom_phase_kink(const carom_phase *w, const carom_step *s) {
    return force_kink(w, s->sys, w->b.phi + 2 * s->sys->nc, 0, ALL);
}

// (MX-27)  Halfway there, at q + tau (3 v + v_b)/8, it is as near.
carom_status carom_phase_begins_at_kink(carom_phase *w, carom_step *s, bool *at) {
    const double *phi = w->b.phi + 2 * s->sys->nc, *from = w->from.phi + 2 * s->sys->nc,
                 *floors = w->floor + 2 * s->sys->nc;
    bool known = false;
    *at = false;
    for (int i = 0; i < s->sys->events->nk && !*at; ++i) {
        const bool of_forces = carom_kink_is_of_forces(carom_system_kink_of(s->sys, i));
        if (!(of_forces && phi[i] < 0 && from[i] <= floors[i])) continue;
        if (!known) {
            // half way by a parabola: v_0/2 + (v_1 - v_0)/8
            for (int k = 0; k < s->sys->nv; ++k) w->f.dv[k] = 0.375 * w->v[k] + 0.125 * w->b.v[k];
            carom_move(s, w->q_1, w->q, w->b.tau, w->f.dv);
            CAROM_TRY(carom_phase_kinks(w, s, w->t + 0.5 * w->b.tau, w->q_1, w->v, w->aside.phi));
            known = true;
        }
        *at = w->aside.phi[i] <= floors[i];
    }
    return CAROM_OK;
}

bool carom_phase_meets_kink(const carom_phase *w, const carom_step *s) { return w->strays || carom_phase_kink(w, s); }

bool carom_phase_jump(const carom_phase *w, const carom_step *s) {
    return force_kink(w, s->sys, w->b.phi + 2 * s->sys->nc, 0, JUMPS);
}

static carom_status stages_kink(carom_phase *w, carom_step *s, double part, kinks which, bool *met) {
    const carom_butcher *T = w->f.T;
    double *const *rates = carom_butcher_explicit(T) ? w->f.lifted : w->f.V, *phi = w->aside.phi;
    *met = false;
    for (int i = 0; s->sys->events->nk > 0 && i < T->stages && !*met; ++i) {
        carom_zero(w->f.dv, s->sys->nv);
        for (int j = 0; j < T->stages; ++j)
            if (carom_butcher_a(T, i, j) != 0) carom_axpy(w->f.dv, carom_butcher_a(T, i, j), rates[j], s->sys->nv);
        carom_move(s, w->q_1, w->q, w->tried, w->f.dv);
        CAROM_TRY(carom_phase_kinks(w, s, w->t + carom_butcher_c(T, i) * w->tried, w->q_1, w->f.V[i], phi));
        *met = force_kink(w, s->sys, phi, part, which);
    }
    return CAROM_OK;
}

carom_status carom_phase_stages_kink(carom_phase *w, carom_step *s, double part, bool *met) {
    return stages_kink(w, s, part, BENDS, met);
}

// (MX-26)  A stage of the step to w->b beyond a jump of forces: whatever the velocity of w->b shows is of there.
static carom_status stray(carom_phase *w, carom_step *s, bool *strays) {
    *strays = false;
    if (!jumps(s->sys) || w->limits.exact || !(w->b.tau > 0)) return CAROM_OK;
    if (w->tried != w->b.tau) CAROM_TRY(at(w, s, w->b.tau, &w->trial));
    return stages_kink(w, s, 0, JUMPS, strays);
}

carom_status carom_phase_look(carom_phase *w, carom_step *s, bool *found) {
    const double tau = w->b.tau;
    w->strays = false;
    CAROM_TRY(look_inside(w, s, true, found));
    *found = *found || violated(w, &w->b);
    if (!*found) {
        CAROM_TRY(stray(w, s, &w->strays));
        *found = w->strays;
    }
    if (*found) return CAROM_OK;
    CAROM_SWAP(carom_event_point, &w->a, &w->b);
    // A function that was negative in a stage may have been so for a moment that neither end of the step shows.
    if (!w->crossed) return CAROM_OK;
    CAROM_TRY(at(w, s, 0.5 * (w->from.tau + tau), &w->b));
    *found = violated(w, &w->b);
    return CAROM_OK;
}

// Where stages alone are beyond it, by rounding, w->b moves on until it is, too, so that the next phase begins with the
// forces of there.  Where forces jump, no stage of the step to w->a is beyond, and positions are those of there, too.
carom_status carom_phase_before_kink(carom_phase *w, carom_step *s) {
    enum { TIMES = 40 };
    carom_copy(w->b.v, w->a.v, s->sys->nv);
    if (w->strays || carom_phase_jump(w, s)) carom_move(s, w->b.q, w->a.q, w->b.tau - w->a.tau, w->a.v);
    w->b.work = w->a.work;
    double e = fmax(w->b.tau - w->a.tau, DBL_EPSILON * w->b.tau);
    for (int i = 0; i < TIMES && jumps(s->sys) && !carom_phase_kink(w, s); ++i, e *= 2) {
        carom_move(s, w->q_1, w->b.q, e, w->b.v);
        CAROM_TRY(carom_phase_kinks(w, s, w->t + w->b.tau, w->q_1, w->b.v, w->b.phi + 2 * s->sys->nc));
        if (carom_phase_kink(w, s)) carom_copy(w->b.q, w->q_1, s->sys->nq);
    }
    return CAROM_OK;
}

// (MX-19)  tau <= 1/8 of the time since the last kink, where that is in an earlier step: what begins at a kink may last
//          a few steps, and vibrate as fast as they can follow.
double carom_kinked_part(const carom_step *s, const carom_kinked_parts *p, double t, double left) {
    static const double LEAST = 1e-3; // of a step
    const bool young = p->cap == HUGE_VAL && p->last[0] != 0 && p->last[1] <= s->t;
    const double most = young ? 0.125 * fmax(t - p->last[1], LEAST * s->h) : p->cap;
    return fmin(left, p->thin > 0 ? fmin(most, p->thin) : most);
}

void carom_kinked_begin(carom_kinked_parts *p, double t) {
    p->cap = HUGE_VAL;
    p->kinked = true;
    p->last[0] = 1, p->last[1] = t;
}

bool carom_kinked_passing(const carom_phase *w, carom_kinked_parts *p) {
    const bool led = w->passing && p->cap < HUGE_VAL;
    if (led) carom_kinked_begin(p, w->t);
    return led;
}

bool carom_kinked_divide(const carom_step *s, double tau, bool kink, bool met, carom_kinked_parts *p) {
    static const double FINEST = 1e-9; // of a step
    const bool thin = p->thin > 0, // it is short already
        wanted = met || (!thin && (kink ? p->kinked || p->cap == HUGE_VAL : p->kinked && p->cap == HUGE_VAL));
    if (!wanted || !(tau > FINEST * s->h)) return false;
    *(thin ? &p->thin : &p->cap) = tau / CAROM_PHASE_FINE;
    return true;
}

// What a step does not follow of a force, about `wide` of what it spans (HF-3), does about that part of the work of the
// force: a measure of what the energy may be wrong by, of what goes into a barrier and comes back.
carom_status carom_phase_divide_hidden(carom_phase *w, carom_step *s, carom_kinked_parts *p, bool *shorter) {
    static const double PART = 1e-6, FINEST = 1e-6, WIDE = 1e-4; // of the largest velocity; of a step; of (HF-3)
    double at, width;
    *shorter = false;
    const double length = w->b.tau - w->from.tau;
    if (length > FINEST * s->h) CAROM_TRY(carom_phase_hidden(w, s, PART, WIDE, shorter, &at, &width));
    if (*shorter) p->thin = width / CAROM_PHASE_FINE;
    else p->thin = length < p->thin ? 0 : 2 * p->thin; // 0: something else has made it short
    return CAROM_OK;
}

// -- enclosing the event ----------------------------------------------------------------------------------------------

static double worst(const carom_phase *w, const carom_event_point *P) {
    double least = HUGE_VAL;
    for (int j = 0; j < w->nphi; ++j) least = fmin(least, P->phi[j] / w->scale[j]);
    return least;
}

// Below zero, but by no more than rounding, or a change of features that is near enough: nothing is gained by coming
// nearer.
static bool near_enough(const carom_phase *w, const carom_step *s, const carom_event_point *P) {
    const int nc = s->sys->nc;
    const bool close = w->b.tau - w->a.tau <= w->limits.time * carom_phase_time(w);
    for (int i = 0; i < w->nphi; ++i)
        if (P->phi[i] < 0 && !(i < nc && P->kink[i] < 0 ? close : P->phi[i] >= -w->floor[i])) return false;
    return true;
}

// Has an open contact closed between a and b faster than its rate at a tells?  Then what it meets is thinner than the
// interval, and the direction at a is not that of the wall.
static bool steep(const carom_phase *w, const carom_step *s) {
    for (int c = 0; c < s->sys->nc; ++c)
        if (carom_phase_open(w, c) && w->b.phi[c] < 0 &&
            w->a.g[s->sys->ne + c] > 2 * fabs(w->a.u[c]) * (w->b.tau - w->a.tau) + w->tol_g[c])
            return true;
    return false;
}

// (MX-26)  Forces jump at a kink, and a stage of the step to P is beyond it: whatever the velocity of P shows is of
//          there.  P counts as beyond; *strays: it is not beyond the kink itself.
static carom_status judge(carom_phase *w, carom_step *s, const carom_event_point *P, double *y, bool *strays) {
    const double *phi = P->phi + 2 * s->sys->nc;
    bool met = false;
    *y = worst(w, P);
    *strays = false;
    if (!jumps(s->sys) || w->limits.exact || !(P->tau > 0)) return CAROM_OK;
    CAROM_TRY(stages_kink(w, s, 0, JUMPS, &met));
    *strays = met && !force_kink(w, s->sys, phi, 0, JUMPS);
    if (met) *y = fmin(*y, -DBL_EPSILON);
    return CAROM_OK;
}

// On entry w->b lies beyond an event.  Then w->a before, w->b beyond and b - a <= delta.  By the method of Oliveira and
// Takahashi (interpolate, truncate, project): superlinear, and never slower than bisection by more than one evaluation.
carom_status carom_phase_enclose(carom_phase *w, carom_step *s, double delta) {
    for (int j = 0; j < w->nphi; ++j) w->scale[j] = fmax(fabs(w->b.phi[j]), DBL_MIN);
    CAROM_TRY(carom_phase_watch(w, s, &w->from));
    double y_a = fmax(worst(w, &w->from), DBL_EPSILON), y_b = worst(w, &w->b);
    copy_point(&w->a, &w->from, s); // where nothing has happened yet
    const double length = w->b.tau - w->a.tau, k_1 = 0.2 / length; // of the paper
    double reach = 0.5 * delta; // eps 2^(n_max - j)
    while (reach < length) reach *= 2;
    if (!(y_b < 0)) y_b = -DBL_EPSILON;
    for (; w->b.tau - w->a.tau > delta || steep(w, s); reach *= 0.5) {
        const double a = w->a.tau, b = w->b.tau, half = 0.5 * (a + b), r = fmax(reach - 0.5 * (b - a), 0);
        const double x_f = (y_b * a - y_a * b) / (y_b - y_a), side = x_f < half ? 1 : -1, cut = k_1 * (b - a) * (b - a);
        const double x_t = cut <= fabs(half - x_f) ? x_f + side * fmax(cut, 0.25 * delta) : half;
        double x = fabs(x_t - half) <= r ? x_t : half - side * r;
        if (!(x > a && x < b)) x = half;
        if (!(x > a && x < b)) break; // neighbours in floating point
        CAROM_TRY(at(w, s, x, &w->trial));
        double y;
        bool strays;
        CAROM_TRY(judge(w, s, &w->trial, &y, &strays));
        if (y < 0) w->strays = strays;
        CAROM_SWAP(carom_event_point, &w->trial, y < 0 ? &w->b : &w->a);
        *(y < 0 ? &y_b : &y_a) = y < 0 ? y : fmax(y, DBL_EPSILON);
        if (y < 0 && w->limits.exact && near_enough(w, s, &w->b)) break;
    }
    const double *phi = w->a.phi + 2 * s->sys->nc, *floors = w->floor + 2 * s->sys->nc;
    for (int i = 0; i < s->sys->events->nk; ++i) // w->a is there to rounding
        if (carom_system_kink_of(s->sys, i) == CAROM_JUMPS && phi[i] <= floors[i]) w->strays = false;
    return CAROM_OK;
}

// -- what happens there -----------------------------------------------------------------------------------------------

static carom_status ahead(void *user, carom_step *s, double tau, const bool *without, double *q, double *v,
                          bool *clear) {
    carom_phase *w = user;
    const int nc = s->sys->nc;
    const carom_integrator *integrator = w->integrator;
    w->integrator = &carom_integrator_rk;
    const carom_status status = carom_phase_start(w, s, tau);
    w->integrator = integrator;
    CAROM_TRY(status);
    CAROM_TRY(carom_phase_try(w, s, tau, &w->trial, NULL));
    for (int c = 0; c < nc; ++c) *clear = *clear && (without[c] || !(w->trial.phi[c] < 0 || w->trial.phi[nc + c] < 0));
    carom_copy(q, w->trial.q, s->sys->nq);
    carom_copy(v, w->trial.v, s->sys->nv);
    return CAROM_OK;
}

// What is not known of the time of the next impact: where this one was, and what rounding of the gap makes of a flight,
// 2 eps_g/u.
static double late(const carom_phase *w, const carom_step *s, int c) {
    const int k = w->all.at[s->sys->ne + c];
    const double eps = w->limits.exact ? carom_local_rounding(&w->all, k, w->q, s->sys->nq) : w->tol_g[c];
    return w->p[c] > 0 && w->after[c] > 0 ? 2 * eps / w->after[c] + w->b.tau - w->a.tau : 0;
}

// If the impact just made belongs to a run whose limit is known: there.
static carom_status end_run(carom_phase *w, carom_step *s, double delta) {
    carom_accumulation *z = &w->runs;
    const int nc = s->sys->nc;
    for (int c = 0; c < nc; ++c) z->closed[c] = !carom_phase_open(w, c), z->late[c] = late(w, s, c);
    CAROM_TRY(carom_accumulation_limit(z, s, w->t, w->tol, ahead, w, &w->ended));
    if (!w->ended) return CAROM_OK;
    carom_copy(w->q, z->q, s->sys->nq);
    carom_copy(w->v, z->v, s->sys->nv);
    w->t = z->t;
    carom_phase_account(s, &w->trial.work);
    carom_list_suffices(s, &(carom_way){w->q, w->v, w->q, w->v, 0});
    w->switched = false;
    carom_phase_features_last(w, s);
    for (int i = 0; i < 2 * nc; ++i) w->hit[i] = i < nc && z->over[i];
    CAROM_TRY(carom_gaps(s, w->trial.g, w->t, w->q));
    for (int c = 0; c < nc; ++c) w->gap[c] = z->over[c] ? 0 : w->trial.g[s->sys->ne + c];
    return carom_phase_resolve(w, s, delta, 0, false, NULL);
}

void carom_phase_end(carom_phase *w, carom_step *s, double t) {
    carom_copy(w->q, w->a.q, s->sys->nq);
    carom_copy(w->v, w->a.v, s->sys->nv);
    carom_phase_account(s, &w->a.work);
    w->t = t;
}

static carom_status happen(carom_phase *w, carom_step *s, double delta, double dt, bool hits) {
    ++w->events;
    w->ended = false;
    CAROM_TRY(carom_filippov_put_back(&w->f.filippov, s, w->t, w->q, w->v));
    CAROM_TRY(carom_phase_resolve(w, s, delta, dt, false, NULL));
    return hits ? end_run(w, s, delta) : CAROM_OK;
}

static void go_to(carom_phase *w, carom_step *s, const carom_event_point *P) {
    carom_copy(w->q, P->q, s->sys->nq);
    carom_copy(w->v, P->v, s->sys->nv);
    carom_phase_account(s, &P->work);
}

// Normal velocities of all contacts, by the features of the position itself.
static carom_status rates_here(carom_phase *w, carom_step *s, double *u) {
    CAROM_TRY(carom_phase_free(s));
    CAROM_TRY(carom_directions(s, &w->all, w->t, w->q));
    CAROM_TRY(carom_phase_held(s));
    for (int c = 0; c < s->sys->nc; ++c) {
        const int k = w->all.at[s->sys->ne + c];
        u[c] = carom_column_dot(&w->all.W, k, w->v) + w->all.w[k];
    }
    return CAROM_OK;
}

static const double OTHER = 1e-5; // of the speeds that make it up: drift makes no such change of a rate

// (EV-38)  What puts the state on the constraints that end may take it back to before the change of features, which
//          was located to less than that.  Then the features ahead would be those behind, once more: it goes on with
//          its velocity, t + T, q + T v, T = T_0, 4 T_0, ... until the contacts that change have the features ahead.
static carom_status go_beyond(carom_phase *w, carom_step *s, double *u_ahead) {
    enum { TIMES = 6 };
    const double t = w->t;
    double T = w->passed;
    carom_copy(w->trial.q, w->q, s->sys->nq);
    for (int i = 0;; ++i, T *= 4) {
        bool back = false;
        CAROM_TRY(rates_here(w, s, w->left));
        for (int c = 0; c < s->sys->nc; ++c)
            back = back || (!carom_phase_open(w, c) &&
                            fabs(w->left[c] - u_ahead[c]) >
                                OTHER * carom_local_magnitude(&w->all, w->all.at[s->sys->ne + c], w->v));
        if (!back) return CAROM_OK;
        if (i == TIMES || !(w->t + T < s->t + s->h)) break;
        w->t += T;
        carom_move(s, w->q, w->q, T, w->v);
    }
    w->t = t; // these features come and go: it stays, and their difference is none of drift
    carom_copy(w->q, w->trial.q, s->sys->nq);
    return rates_here(w, s, u_ahead);
}

// (EV-37)  Beyond a change of features the state is put on the constraints that end here, so that a contact which takes
//          over finds no drift of the step.  So fast it may be by what is not known of the time of the change, T:
//          2 |Gamma| T + 2 |u - u_b| + 2 max |u - u_b| of those that end,  T = max(t_b - t_a, 1e-10 size_q/size_v),
//          Gamma by the constraints that end,  u - u_b what drift does to rates, by the same features; an open contact
//          that has others at u than at u_b, or none at u_b, as where corners coincide, has u as it is.
static carom_status leave_features(carom_phase *w, carom_step *s) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    const carom_local *L = &w->f.L;
    double change = 0;
    CAROM_TRY(rates_here(w, s, w->over_to));
    CAROM_TRY(carom_flow_rate(&w->f, s, w->t, w->q, w->v, false));
    carom_local_velocity(w->u_minus, L, w->v);
    CAROM_TRY(carom_flow_project_position(&w->f, s, w->t, w->q));
    CAROM_TRY(carom_flow_rate(&w->f, s, w->t, w->q, w->v, false));
    carom_local_velocity(w->u_plus, L, w->v);
    for (int b = ne; b < L->nb; ++b) change = fmax(change, fabs(w->u_plus[L->at[b]] - w->u_minus[L->at[b]]));
    CAROM_TRY(go_beyond(w, s, w->over_to));
    CAROM_TRY(carom_phase_free(s));
    CAROM_TRY(carom_gaps(s, w->trial.g, w->t, w->q));
    CAROM_TRY(carom_directions(s, &w->all, w->t, w->q));
    CAROM_TRY(carom_curvature(s, w->kappa, &w->all, w->t, w->q, w->v));
    CAROM_TRY(carom_phase_held(s));
    for (int c = 0; c < nc; ++c) {
        const int k = w->all.at[ne + c];
        const double u = carom_column_dot(&w->all.W, k, w->v) + w->all.w[k],
                     Gamma = carom_column_dot(&w->all.W, k, w->f.a) + w->kappa[k];
        const double drift = fabs(u - w->over_to[c]), most = OTHER * carom_local_magnitude(&w->all, k, w->v);
        w->gap[c] = w->trial.g[ne + c];
        w->over_to[c] = 2 * (w->passed * fabs(Gamma) + (drift <= most ? drift : 0) + change);
    }
    return carom_flow_project_velocity(&w->f, s, w->t, w->q, w->v);
}

// Is there a contact in this event whose gap is written with a kink?  It cannot be held as it was before.
static bool bends(const carom_phase *w, const carom_step *s) {
    const carom_system *sys = s->sys;
    for (int i = 0; i < sys->events->nk && sys->events->kink_of; ++i) {
        const int c = carom_system_kink_of(sys, i);
        if (c >= 0 && (w->b.phi[c] < 0 || w->b.kink[c] < 0)) return true;
    }
    return false;
}

// (MX-25)  Forces that have a kink may jump there, and the last stages of the step that ends beyond it are beyond it,
//          too, perhaps before its end is: of that step only positions are taken.  Velocities, and what closed contacts
//          do, are those of t_a.
static carom_status before_kink(carom_phase *w, carom_step *s) {
    bool met = carom_phase_kink(w, s);
    const int nc = s->sys->nc;
    if (!met && s->sys->events->nk > 0) {
        CAROM_TRY(w->integrator->at(w, s, w->b.tau, &w->trial));
        CAROM_TRY(stages_kink(w, s, 0, ALL, &met));
    }
    if (!met) return CAROM_OK;
    CAROM_TRY(carom_phase_before_kink(w, s));
    for (int c = 0; c < nc; ++c) {
        if (carom_phase_open(w, c)) continue;
        w->b.phi[c] = w->a.phi[c], w->b.phi[nc + c] = w->a.phi[nc + c], w->b.kink[c] = w->a.kink[c];
    }
    return CAROM_OK;
}

// (MX-12)  Across the enclosed event.  A contact that closes: the Moreau step  v = v_a + M^-1 W P at q_a,  q = q_a +
//          (t_b - t_a) v, then the contacts that touch are put on the wall.  The velocity is that of t_a and no height
//          is left over, so that a short flight never gains speed from the length of the interval.  Else, and where
//          there is no interval, the state beyond the event is taken as it is.
// (MX-20)  So it is where a contact that closes has another feature beyond the event than before it: the outcome
//          depends on the motion ahead, not on the side of the event on which the search has stopped.
carom_status carom_phase_event(carom_phase *w, carom_step *s, double delta) {
    const int ne = s->sys->ne, nc = s->sys->nc;
    bool hits = false, some = false, turns = false;
    w->switched = false;
    if (!w->limits.exact) CAROM_TRY(before_kink(w, s));
    for (int i = 0; i < s->sys->events->nk; ++i) // a closed contact whose gap has a kink has another direction beyond,
                                                 // as where features switch
        if (w->b.phi[2 * nc + i] < 0 && carom_system_kink_of(s->sys, i) >= 0)
            w->b.kink[carom_system_kink_of(s->sys, i)] = -1, some = turns = true;
    for (int i = 0; i < 2 * nc; ++i) some = some || w->b.phi[i] < 0;
    w->bent = !some;
    if (!some) { // forces have a kink, and nothing else happens
        CAROM_SWAP(carom_event_point, &w->a, &w->b);
        w->ended = w->switched = false;
        ++w->events;
        carom_phase_end(w, s, w->t + w->a.tau);
        CAROM_TRY(carom_phase_project(w, s, delta));
        for (int c = 0; c < nc; ++c) w->was[c] = w->f.mode[c], w->in[c] = w->over[c] = false, w->p[c] = 0;
        carom_phase_remember(w, s);
        return carom_phase_emit(w, s, w->t, false);
    }
    for (int c = 0; c < nc; ++c)
        hits = hits || (carom_phase_open(w, c) && w->b.phi[c] < 0), w->switched = w->switched || w->b.kink[c] < 0;
    hits = hits && !w->switched;
    bool passes = false; // from feature to feature
    if (hits && !w->limits.exact) CAROM_TRY(carom_phase_turns(w, s, &passes));
    const bool across = hits && !w->limits.exact && !passes;
    // Stages beyond the kink of a gap have the other direction: nothing of them is taken.
    turns = turns && !w->limits.exact;
    const carom_event_point *P = across || turns ? &w->a : &w->b;
    go_to(w, s, P);
    if (turns) carom_move(s, w->q, P->q, w->b.tau - w->a.tau, P->v);
    for (int i = 0; i < 2 * nc; ++i) w->hit[i] = w->b.phi[i] < 0 && !(i < nc && w->b.kink[i] < 0);
    for (int c = 0; c < nc; ++c) w->gap[c] = fmin(P->g[ne + c], w->b.g[ne + c]);
    w->t += w->b.tau;
    w->switched = w->switched || passes;
    carom_phase_features_last(w, s);
    if (w->switched && !bends(w, s))
        w->passed = fmax(fmax(w->b.tau - w->a.tau, delta), w->limits.time * carom_phase_time(w));
    if (w->passed > 0) CAROM_TRY(leave_features(w, s));
    return happen(w, s, delta, across ? w->b.tau - w->a.tau : 0, hits);
}

bool carom_phase_unchanged(const carom_phase *w, const carom_step *s) {
    for (int c = 0; c < s->sys->nc; ++c)
        if (w->was[c] != w->f.mode[c] || w->p[c] != 0) return false;
    return !w->bent;
}

carom_status carom_phase_impact(carom_phase *w, carom_step *s, const carom_event_point *P) {
    w->switched = w->bent = false;
    carom_phase_features_last(w, s);
    go_to(w, s, P);
    for (int c = 0; c < s->sys->nc; ++c) w->gap[c] = P->g[s->sys->ne + c];
    w->t += P->tau;
    return happen(w, s, 0, 0, true);
}

carom_status carom_phase_begin(carom_phase *w, carom_step *s, double h) {
    for (int c = 0; c < s->sys->nc; ++c) w->f.mode[c] = CAROM_MODE_OPEN, w->runs.run[c].count = 0;
    if (w->now[CAROM_PHASE_BEGUN] == 0) w->now[CAROM_PHASE_START] = w->t;
    w->now[CAROM_PHASE_BEGUN] = 1;
    return carom_phase_start(w, s, h);
}

carom_status carom_phase_enter(carom_phase *w, carom_step *s, double h, bool *changes) {
    const bool begun = w->now[CAROM_PHASE_BEGUN] != 0;
    *changes = !begun || s->jumped;
    if (begun && s->jumped) CAROM_TRY(carom_flow_jerk(&w->f, s, w->t, w->q, w->v, w->was));
    return !begun ? carom_phase_begin(w, s, h) : s->jumped ? carom_phase_start(w, s, h) : CAROM_OK;
}

carom_status carom_phase_settle(carom_phase *w, carom_step *s, double delta, const bool *lasting) {
    const int nc = s->sys->nc;
    if (nc == 0 && !w->limits.exact) return CAROM_OK;
    carom_phase_features_last(w, s);
    w->switched = s->jumped; // walls may have changed their velocity: a closed contact that approaches has an impact
    for (int i = 0; i < 2 * nc; ++i) w->hit[i] = false;
    for (int c = 0; c < nc; ++c) w->gap[c] = w->from.g[s->sys->ne + c];
    return carom_phase_resolve(w, s, delta, 0, true, lasting);
}

// auto_segment.c: one step with located events, of a length that meets the tolerance, and the state inside it.
//
// Records lie inside steps: the state there is read off a polynomial, so the length of steps does not depend on
// how often somebody looks.
#include "base/control.h"
#include "base/tolerance.h"
#include "event/auto.h"
#include "event/hidden.h"
#include "scheme/inside.h"
#include <float.h>
#include <math.h>

enum { ATTEMPTS = 60 }; // halvings: below the rounding of time

double auto_shortest(const carom_step *s, double t) { return CAROM_ROUNDING * (fabs(t) + s->h); }

// (AU-3)  delta = 1e-3 rtol min(h, size_q/size_v)
double auto_delta(const auto_work *w, const carom_step *s, double h) {
    const double T = w->head.size_v > 0 ? fmin(h, w->head.size_q / w->head.size_v) : h;
    return fmax(AUTO_ENCLOSED * s->opt[AUTO_RTOL] * T, auto_shortest(s, w->P.t));
}

// (AU-1)  size_q = max |q|, size_v = max(|v|, sqrt(size_q |v'|)) over the run so far, by (LV-2)
void auto_measure(auto_work *w, const carom_step *s, const double *q, const double *v, const double *a) {
    auto_head *h = &w->head;
    const double speed = carom_size_of_rates(s->sys, v), acceleration = a ? carom_size_of_rates(s->sys, a) : 0;
    h->size_q = fmax(h->size_q, carom_size_of_positions(s->sys, q));
    if (h->size_q == 0) h->size_q = carom_phase_first_size(s, s->h, speed, acceleration);
    h->size_v = fmax(h->size_v, fmax(speed, sqrt(h->size_q * acceleration)));
}

static double absolute(const carom_step *s) {
    // chosen: for coordinates a hundred times smaller than the largest
    return s->opt[AUTO_ATOL] > 0 ? s->opt[AUTO_ATOL] : 0.01 * s->opt[AUTO_RTOL];
}

double auto_error(const auto_work *w, const carom_step *s, const double *q_0, const double *v_0, const double *q_1,
                  const double *v_1) {
    const double rtol = s->opt[AUTO_RTOL], atol = absolute(s);
    return carom_flow_error(s, w->error, q_0, v_0, q_1, v_1, rtol, atol, w->head.size_q, w->head.size_v);
}

// (AU-14)  Kinks that time passes, k(t), are found where a step follows k:  |k(t + f h) - (1 - f) k(t) - f k(t + h)| <=
//          |k|/4.  A step of a thousandth of s->h is short enough for every k that has no jumps of its own.
static carom_status follows_kinks(auto_work *w, carom_step *s, double h, bool *follows) {
    // not all of them in step with what repeats itself
    static const double at[] = {0.25, 0.38, 0.5, 0.75}, SHORT = 1e-3;
    carom_phase *P = &w->P;
    const carom_system *sys = s->sys;
    double *k_0 = P->a.phi + 2 * sys->nc, *k_1 = P->b.phi + 2 * sys->nc, *k = P->trial.phi + 2 * sys->nc;
    *follows = true;
    if (sys->events->nk == 0 || h <= SHORT * s->h) return CAROM_OK;
    if (sys->events->kinks(sys->model, s->sys_work, P->t, P->q, P->v, k_0) != CAROM_OK ||
        sys->events->kinks(sys->model, s->sys_work, P->t + h, P->q, P->v, k_1) != CAROM_OK)
        return CAROM_OK;
    bool moves = false;
    for (int i = 0; i < sys->events->nk; ++i) moves = moves || k_1[i] != k_0[i];
    if (!moves) return CAROM_OK; // time passes none
    for (size_t j = 0; j < sizeof at / sizeof *at && *follows; ++j) {
        if (sys->events->kinks(sys->model, s->sys_work, P->t + at[j] * h, P->q, P->v, k) != CAROM_OK) return CAROM_OK;
        for (int i = 0; i < sys->events->nk; ++i) {
            const double size = fmax(fabs(k[i]), fmax(fabs(k_0[i]), fabs(k_1[i])));
            // chosen: nearer to a line than that, it follows time
            *follows = *follows && !(fabs(k[i] - (1 - at[j]) * k_0[i] - at[j] * k_1[i]) > 0.25 * size);
        }
    }
    return CAROM_OK;
}

// Size of the accelerations that what stands here would have at t without contacts; 0 where the model cannot tell.
static double acceleration_at(auto_work *w, carom_step *s, double t) {
    if (carom_mass_factor(s, &w->F_s, t, w->P.q) != CAROM_OK || carom_force(s, w->a_s, t, w->P.q, w->P.v) != CAROM_OK)
        return 0;
    carom_factor_solve(&w->F_s, w->a_s);
    return carom_size_of_rates(s->sys, w->a_s);
}

// (AU-15)  What has stood still without force has no size yet.  Forces that follow functions of time may begin as
//          rounding, 5 + 5 tanh(t - 9), whose error is as large as itself whatever the step: sizes by the largest
//          acceleration of 16 times of the step and 16 of the run.
static void foresee(auto_work *w, carom_step *s) {
    enum { TIMES = 16 };
    const carom_phase *P = &w->P;
    double most = 0, at = P->t;
    for (int i = 0; i < 2 * TIMES; ++i) {
        const double t = P->t + ((i < TIMES ? s->t + s->h : s->inside->t_end) - P->t) * (i % TIMES + 1) / TIMES,
                     a = acceleration_at(w, s, t);
        if (a > most && a < HUGE_VAL) most = a, at = t;
    }
    if (most > 0 && acceleration_at(w, s, at) > 0) auto_measure(w, s, P->q, P->v, w->a_s);
}

double auto_none(const auto_work *w, const carom_step *s) {
    return 0.1 * s->opt[AUTO_RTOL] * w->P.now[CAROM_PHASE_STRUCK]; // chosen: a tenth of an error of rtol
}

static void prepare(auto_work *w, const carom_step *s) {
    w->P.none = auto_none(w, s);
    w->P.tol = s->opt[AUTO_RTOL];
    w->P.f.T = w->head.method == AUTO_IMPLICIT ? w->implicit : w->explicit;
}

// (AU-21)  T = max(size_q/size_v, min(size_q/max |v|, t - t_start)):  a light body between heavy ones has accelerations
//          that say nothing of the time in which it moves
double auto_time(const auto_work *w, double t) {
    const double speed = w->P.now[CAROM_PHASE_SPEED], q = w->head.size_q, so_far = t - w->P.now[CAROM_PHASE_START];
    return fmax(w->head.size_v > 0 ? q / w->head.size_v : 0, speed > 0 ? fmin(q / speed, so_far) : 0);
}

double auto_coarse(const auto_work *w, const carom_step *s) {
    static const double NONE = 1e-6; // of an interval between records: of what has no size
    const auto_head *h = &w->head;
    // beside a line, positions then change by 1e-4 rtol in a step
    return h->size_v > 0 && h->size_q > 0 ? 0.01 * sqrt(s->opt[AUTO_RTOL]) * h->size_q / h->size_v : NONE * s->h;
}

// (AU-2), (AU-4), (AU-13), (AU-16)  The error of the step of h just made to E: of states, of reactions, of slips that
// kept one direction, and of works.
static carom_status error_of(auto_work *w, carom_step *s, double h, const carom_event_point *E, double *error) {
    carom_phase *P = &w->P;
    const double rtol = s->opt[AUTO_RTOL];
    double work;
    const bool is_short = h <= fmax(auto_coarse(w, s), carom_works_shortest(s));
    CAROM_TRY(carom_flow_work_error(&P->f, s, P->t, h, P->q, P->v, rtol, absolute(s), is_short ? w->head.size_v : 0,
                                    w->head.size_w, &work));
    *error = fmax(fmax(auto_error(w, s, P->q, P->v, E->q, E->v), work),
                  fmax(carom_flow_reaction_error(&P->f, s, h, sqrt(rtol) * w->head.size_p),
                       carom_flow_turn_error(&P->f, s, h) / rtol));
    return CAROM_OK;
}

// (AU-17)  A force that no stage has met (HF): the step is refused, and the next one ends before it, between a tenth
//          and a half of this one.
static carom_status avoid_hidden(auto_work *w, carom_step *s, double h, double *error) {
    bool hidden = false;
    double at, width;
    if (h > auto_coarse(w, s)) CAROM_TRY(carom_phase_hidden(&w->P, s, s->opt[AUTO_RTOL], 1, &hidden, &at, &width));
    if (!hidden) return CAROM_OK;
    const double length = fmax(0.1 * h, fmin(at, 0.5 * h));
    *error = carom_step_error(length / h, 5, s->inside->control.safety);
    return CAROM_OK;
}

static const double TOO_LONG = 1e3; // an error that is not known: a fourth of the step

static carom_status attempt(auto_work *w, carom_step *s, double h, double *error) {
    carom_phase *P = &w->P;
    CAROM_TRY(carom_phase_start(P, s, h));
    *error = P->f.turn / s->opt[AUTO_RTOL];
    if (*error > 1) return CAROM_OK;
    bool follows;
    CAROM_TRY(follows_kinks(w, s, h, &follows));
    if (!follows) {
        *error = TOO_LONG;
        return CAROM_OK;
    }
    auto_measure(w, s, P->q, P->v, P->f.a);
    if (w->head.size_v == 0 && (s->sys->events->limit_step || s->sys->events->next_jump)) foresee(w, s);
    carom_copy(w->a_a, P->f.a, s->sys->nv);
    CAROM_TRY(carom_phase_advance(P, s, h, w->error));
    // What has stood in the origin without force has no size yet: the step gives it one, if it is good.
    const double size_q = w->head.size_q, size_v = w->head.size_v;
    if (size_q == 0 || size_v == 0) auto_measure(w, s, P->b.q, P->b.v, NULL);
    CAROM_TRY(error_of(w, s, h, &P->b, error));
    if (*error > 1) w->head.size_q = size_q, w->head.size_v = size_v;
    return *error > 1 ? CAROM_OK : avoid_hidden(w, s, h, error);
}

static void account_to(double *x, const carom_account *a) {
    x[0] = a->impact, x[1] = a->friction, x[2] = a->external, x[3] = a->damping;
}

static void book(carom_step *s, const double *x, double sign) {
    s->record.account.impact += sign * x[0];
    s->record.account.friction += sign * x[1];
    s->record.account.external += sign * x[2];
    s->record.account.damping += sign * x[3];
}

// (AU-12)  Works inside a segment: the continuous extension of order 4 of Dormand and Prince's method, whose quartic
//          part is tau sum d_i P_i; for Radau IIA the integral of the parabola through the powers P_i of the stages
static void note_powers(auto_work *w) {
    static const double d[7] = {-12715105075. / 11282082432, 0, 87487479700. / 32700410799, -10690763975. / 1880347072,
                                701980252875. / 199316789632, -1453857185. / 822651844, 69997945. / 29380423};
    const carom_flow *f = &w->P.f;
    const bool explicit = carom_butcher_explicit(f->T);
    double P[CAROM_RK_STAGES][AUTO_WORKS], L[3];
    for (int i = 0; i < f->T->stages; ++i) account_to(P[i], &f->power[i]);
    for (int i = 0; i < 3 && !explicit; ++i) { // Lagrange's polynomials at the start of the step
        L[i] = 1;
        for (int j = 0; j < 3; ++j)
            if (j != i) L[i] *= carom_butcher_c(f->T, j) / (carom_butcher_c(f->T, j) - carom_butcher_c(f->T, i));
    }
    for (int k = 0; k < AUTO_WORKS; ++k) {
        w->head.power_a[k] = explicit ? P[0][k] : L[0] * P[0][k] + L[1] * P[1][k] + L[2] * P[2][k];
        w->head.power_b[k] = P[f->T->stages - 1][k];
        w->head.bend[k] = 0;
        for (int i = 0; i < 7 && explicit; ++i) w->head.bend[k] += w->head.tau * d[i] * P[i][k];
    }
}

// The ends of the polynomial: where the phase starts, and E, which was tried last.
static void note_segment(auto_work *w, const carom_step *s, const carom_event_point *E) {
    const carom_flow *f = &w->P.f;
    const int nq = s->sys->nq, nv = s->sys->nv, last = f->T->stages - 1; // that stage is at the end of the step
    auto_head *h = &w->head;
    h->t_a = w->P.t;
    h->tau = E->tau;
    carom_copy(w->q_a, w->P.q, nq);
    carom_copy(w->v_a, w->P.v, nv);
    carom_copy(w->q_b, E->q, nq);
    carom_copy(w->v_b, E->v, nv);
    for (int i = 0; i < nv; ++i) w->way[i] = E->tau * f->V_sum[i];
    carom_copy(w->a_b, f->K[last], nv);
    account_to(h->work, &E->work);
    note_powers(w);
    carom_flow_work_add(f, E->tau, &h->size_w);
}

// What happens inside the step of *h that was accepted.  A step that went beyond a kink of forces knows nothing of its
// error before it: then *h and *error become those of the step to the kink, which may be refused.  error NULL: it is
// not.
static carom_status close_segment(auto_work *w, carom_step *s, double *h, double *error) {
    carom_phase *P = &w->P;
    bool found = false;
    CAROM_TRY(carom_phase_look(P, s, &found));
    w->head.event = found;
    w->head.h = *h;
    if (found) {
        const bool kink = carom_phase_meets_kink(P, s);
        CAROM_TRY(carom_phase_enclose(P, s, kink ? auto_shortest(s, P->t) : auto_delta(w, s, *h)));
        w->head.from = P->a.tau;
        w->head.to = P->b.tau;
    }
    const double end = P->a.tau;
    const bool short_of = found && P->strays && end > auto_shortest(s, P->t); // it ends before the jump, without event
    if (short_of) w->head.event = found = false;
    carom_phase_near(P, s, found ? &P->b : &P->a);
    w->head.t_b = w->P.t + (found ? P->b.tau : short_of ? end : *h);
    if (error && (found || short_of) && (s->sys->events->nk > 0 || P->f.slow) && end > 0) {
        CAROM_TRY(carom_phase_try(P, s, end, &P->a, w->error));
        CAROM_TRY(error_of(w, s, end, &P->a, error));
        *h = end;
        if (*error > 1) return CAROM_OK;
    }
    if (P->tried != end) CAROM_TRY(carom_phase_try(P, s, end, &P->a, NULL)); // its polynomial needs its stages
    note_segment(w, s, &P->a);
    w->head.there = 1;
    for (int i = 0; i < AUTO_WORKS; ++i) w->head.done[i] = 0;
    return CAROM_OK;
}

// (AU-6)  accepted: h <- h safety error^(-0.7/5) last^(0.4/5), between shrink and grow; rejected: h safety
//         error^(-1/5), between shrink/2 and safety; no step is longer than the run so far, or max-step
static double grow(auto_work *w, const carom_step *s, double h, double error, bool refused) {
    const double e = fmax(error, CAROM_ESTIMATE);
    static const double LAST = 1e-4; // the least that the error before counts with
    const double factor = carom_step_factor_pi(e, fmax(w->head.last, LAST), 5, s->inside->control.safety,
                                               s->inside->control.shrink, refused ? 1 : s->opt[AUTO_GROW]);
    w->head.last = fmax(e, LAST);
    const double next = fmin(h * factor, fmax(w->head.t_b - w->P.now[CAROM_PHASE_START], h));
    return s->opt[AUTO_LONGEST] > 0 ? fmin(next, s->opt[AUTO_LONGEST]) : next;
}

static double first_length(const auto_work *w, const carom_step *s) {
    const double a = w->P.now[CAROM_PHASE_SIZE_A], v = w->head.size_v, q = w->head.size_q;
    double h = v > 0 && q > 0 ? 0.01 * q / v : s->h; // chosen: a hundredth of what moves; errors correct it
    if (a > 0 && v > 0) h = fmin(h, 0.01 * v / a);
    return s->opt[AUTO_LONGEST] > 0 ? fmin(h, s->opt[AUTO_LONGEST]) : h;
}

// The end of a segment of `length` in which functions of time have no short pulse that an estimate of the error might
// miss; not before t_1, up to which none is.
static double even(const auto_work *w, const carom_step *s, double length, double t_1) {
    const carom_system *sys = s->sys;
    const double run[2] = {s->inside->t_0, s->inside->t_end}, to = w->P.t + length;
    return !sys->events->limit_step || to <= t_1
               ? HUGE_VAL
               : fmax(t_1, sys->events->limit_step(sys->model, s->sys_work, run, 1, w->P.t, to));
}

// Where a segment of `length` must end at the latest: at the record t_1 where positions are not sums and have no
// polynomial; before short pulses, and before the next time at which forces jump, which is none before t_1.
static double latest(const auto_work *w, const carom_step *s, double length, double t_1) {
    const carom_system *sys = s->sys;
    // records and jumps that several roundings put apart are one
    const double end = sys->move ? t_1 : even(w, s, length, t_1), near = 16 * DBL_EPSILON * fmax(fabs(t_1), s->h),
                 at = sys->events->next_jump
                          ? sys->events->next_jump(sys->model, s->sys_work, fmax(w->P.t, t_1 - near), w->P.t + length)
                          : HUGE_VAL;
    if (at == HUGE_VAL) return end;
    return fabs(at - t_1) <= near ? t_1 : fmin(end, at - CAROM_ROUNDING * fabs(at)); // t_1 is before it
}

carom_status auto_plan(auto_work *w, carom_step *s, double t_1) {
    auto_head *h = &w->head;
    const double shortest = auto_shortest(s, w->P.t), left = t_1 - w->P.t;
    if (!(h->next > 0)) h->next = first_length(w, s);
    double length = fmax(h->next, 4 * shortest);
    const double end = latest(w, s, length, t_1), most = end - w->P.t;
    bool refused = false;
    prepare(w, s);
    for (int i = 0; i < ATTEMPTS; ++i) {
        const bool whole = length >= most * (1 - CAROM_INSTANT);
        double try = whole ? most : length;
        double error = HUGE_VAL;
        const carom_traces before = carom_problem_traces(s);
        carom_status status = attempt(w, s, try, &error);
        if (status == CAROM_OK && error <= 1) status = close_segment(w, s, &try, &error);
        if (status == CAROM_OK && error <= 1) {
            const double next = grow(w, s, try, error, refused);
            h->next = whole ? fmax(length, next) : next;
            if (whole && !h->event) h->t_b = end;
            return CAROM_OK;
        }
        // Too long a step may lead where the model makes no sense (CAROM_USER), and a model that fails beyond the next
        // record may be right to do so.
        const bool shorter = status == CAROM_OK || status == CAROM_RETRY || status == CAROM_SINGULAR ||
                             status == CAROM_USER || try > left;
        if (status == CAROM_STOPPED || !shorter) return status;
        refused = true;
        carom_problem_take_back(s, &before);
        s->counts->substeps_rejected += 1;
        length =
            try * (status != CAROM_OK ? 0.25
                                      : carom_step_factor(error, 5, s->inside->control.safety,
                                                          0.5 * s->inside->control.shrink, s->inside->control.safety));
        if (length < shortest)
            return status != CAROM_OK ? status
                                      : carom_retry(s, "the tolerance rtol = %g cannot be met", s->opt[AUTO_RTOL]);
    }
    return carom_retry(s, "no step met the tolerance in %d attempts", ATTEMPTS);
}

carom_status auto_plan_until(auto_work *w, carom_step *s, double t, bool *missed) {
    carom_phase *P = &w->P;
    double h = t - w->head.t_a;
    if (!(h > 0)) return CAROM_OK;
    prepare(w, s);
    CAROM_TRY(carom_phase_start(P, s, h));
    CAROM_TRY(carom_phase_try(P, s, h, &P->b, NULL));
    for (int c = 0; c < s->sys->nc; ++c) *missed = *missed || (carom_phase_open(P, c) && P->b.phi[c] < 0);
    if (!*missed) return CAROM_OK;
    book(s, w->head.done, -1);
    return close_segment(w, s, &h, NULL);
}

carom_status auto_pass(auto_work *w, carom_step *s) {
    auto_head *h = &w->head;
    carom_phase *P = &w->P;
    h->there = 0;
    book(s, h->done, -1);
    if (!h->event) {
        carom_copy(P->q, w->q_b, s->sys->nq);
        carom_copy(P->v, w->v_b, s->sys->nv);
        P->t = h->t_b;
        h->still = 0;
        book(s, h->work, 1);
        return carom_phase_project(P, s, auto_delta(w, s, h->h));
    }
    // The states on both sides of the event are not kept: they are computed again.
    const double before = P->t;
    prepare(w, s);
    CAROM_TRY(carom_phase_start(P, s, h->h));
    CAROM_TRY(carom_phase_try(P, s, h->from, &P->a, NULL));
    CAROM_TRY(carom_phase_try(P, s, h->to, &P->b, NULL));
    CAROM_TRY(carom_phase_event(P, s, auto_delta(w, s, h->h)));
    if (!P->ended) P->t = h->t_b;
    // longer: time goes on
    h->still = P->t - before > 8 * auto_shortest(s, P->t) ? 0 : h->still + 1;
    h->event_t[(int)h->seen % AUTO_FLURRY_OF] = P->t;
    h->prompt[(int)h->seen % AUTO_FLURRY_OF] = h->from == 0;
    h->seen += 1;
    return CAROM_OK;
}

// (AU-7)  q: the polynomial of degree 5 through positions, velocities and accelerations at both ends; v: its
//         derivative.  The way between the ends is the sum of the stages, not a difference of positions: that would
//         cost v its last digits.
static void polynomial(const auto_work *w, int n, double x, double *q, double *v) {
    const double h = w->head.tau, x2 = x * x, x3 = x2 * x;
    for (int i = 0; i < n; ++i) {
        const double m_0 = h * w->v_a[i], m_1 = h * w->v_b[i], k_0 = 0.5 * h * h * w->a_a[i],
                     k_1 = 0.5 * h * h * w->a_b[i];
        const double d = w->way[i] - m_0 - k_0, e = m_1 - m_0 - 2 * k_0, f = k_1 - k_0;
        const double c_3 = 10 * d - 4 * e + f, c_4 = -15 * d + 7 * e - 2 * f, c_5 = 6 * d - 3 * e + f;
        q[i] = w->q_a[i] + x * (m_0 + x * k_0) + x3 * (c_3 + x * (c_4 + x * c_5));
        v[i] = h > 0 ? (m_0 + 2 * x * k_0 + x2 * (3 * c_3 + x * (4 * c_4 + x * 5 * c_5))) / h : w->v_a[i];
    }
}

carom_status auto_inside(auto_work *w, carom_step *s, double t) {
    auto_head *h = &w->head;
    const double x = h->tau > 0 ? fmin(fmax((t - h->t_a) / h->tau, 0), 1) : 0;
    polynomial(w, s->sys->nv, x, w->q, w->v);
    book(s, h->done, -1);
    for (int i = 0; i < AUTO_WORKS; ++i) {
        const double W = h->work[i], m_0 = h->tau * h->power_a[i] - W, m_1 = W - h->tau * h->power_b[i] - m_0;
        h->done[i] = x * (W + (1 - x) * (m_0 + x * (m_1 + (1 - x) * h->bend[i])));
    }
    book(s, h->done, 1);
    // On its constraints; what that is worth is booked until the segment goes on.
    double before[AUTO_WORKS], after[AUTO_WORKS];
    account_to(before, &s->record.account);
    CAROM_TRY(carom_flow_project_position(&w->P.f, s, t, w->q));
    CAROM_TRY(carom_flow_project_velocity(&w->P.f, s, t, w->q, w->v));
    account_to(after, &s->record.account);
    for (int i = 0; i < AUTO_WORKS; ++i) h->done[i] += after[i] - before[i];
    return CAROM_OK;
}

// adaptive.c: step sizes from error estimates, for every one-step scheme.
//
// Spec: docs/METHODS.md, section AD.  A step of h is tried once as a whole and once as two halves; the halves are
// kept.  Their difference estimates the error, but it is blind to an impact that both step over, so penetration at
// the ends of the halves counts too.  What a rejected step did is undone to the last bit.
#include "base/control.h"
#include "base/tolerance.h"
#include "scheme/works.h"
#include "sim/inspect.h"
#include "sim/sim.h"
#include <float.h>
#include <math.h>
#include <string.h>

static const double STILL = 1e-3;      // of the tolerance: what moves by less in a step does not move noticeably
static const double ENDING = 1e-6;     // of a step: what is left after it is no step any more
static const double FIRST = 1e-3;      // of the run: near t = 0 the rounding of times is judged by this time
static const double LEAST = 1e-8;      // error over tolerance: below, growth is limited by `grow` anyway
static const double REMEMBERED = 1e-4; // least error that the controller remembers: an exact step says nothing about
                                       // the next

enum { ATTEMPTS = 60, NEAR = 16 }; // instants (JT-1): a jump so near to another stop is there

enum { WHOLE = 1, FIRST_HALF = 2, SECOND_HALF = 4 }; // of `hit`: where a contact was struck

// A normal impulse of a contact that is not in lasting contact: velocities jump, and the error is of order 0.  `more`:
// beside the impulses in `booked`.
static bool jumps(carom_sim *sim, unsigned char where, bool more) {
    const carom_step *s = &sim->step;
    bool any = false;
    for (int c = 0; s->record.reacted && c < s->sys->nc; ++c) {
        const int d = s->dir[s->sys->ne + c];
        if (sim->memory[c].closed || !(s->record.impulse[d] > (more ? sim->booked[d] : 0))) continue;
        sim->whole.hit[c] |= where;
        any = true;
    }
    return any;
}

// Were several contacts struck, and not all together, once in the whole step and once in the halves?
static bool order_differs(const carom_sim *sim) {
    int contacts = 0;
    unsigned char any = 0, all = WHOLE | FIRST_HALF | SECOND_HALF;
    for (int c = 0; c < sim->step.sys->nc; ++c) {
        if (!sim->whole.hit[c]) continue;
        contacts += 1;
        any |= sim->whole.hit[c];
        all &= sim->whole.hit[c];
    }
    return contacts > 1 && !(any == all && (all == (WHOLE | FIRST_HALF) || all == (WHOLE | SECOND_HALF)));
}

// Does a contact act?
static bool touches(const carom_sim *sim) {
    const carom_step *s = &sim->step;
    for (int c = 0; s->record.reacted && c < s->sys->nc; ++c)
        if (s->record.impulse[s->dir[s->sys->ne + c]] != 0 || s->record.force[s->dir[s->sys->ne + c]] != 0) return true;
    return false;
}

// Largest penetration at the present positions, time t, beyond what the step began with: how deep a resting contact
// sits already says nothing about the step size.  A scheme that lifts contacts that close leaves none: there it is the
// depth before.
static carom_status violation(carom_sim *sim, double t, double *most, carom_error *err) {
    const int ne = sim->step.sys->ne, all = ne + sim->sys->nc, k = sim->sys->ne - ne; // gap_try: of what schemes see
    if (all == 0 || !sim->control.violation) return CAROM_OK;
    carom_status status = carom_gaps(&sim->step, sim->whole.gap, t, sim->q);
    if (status == CAROM_RETRY) status = CAROM_NOT_CONVERGED; // a smaller step may do
    if (status != CAROM_OK) return carom_fail(err, status, "%s", sim->error.text);
    for (int id = ne; id < all; ++id) *most = fmax(*most, -sim->whole.gap[id] - fmax(0, -sim->gaps.now[id + k]));
    *most = fmax(*most, sim->inside.entered);
    return CAROM_OK;
}

// (AD-2)  error = max_i |x'_i - x_i| weight/(atol + rtol max(|x_0i|, |x_i|))
static double difference(const carom_sim *sim, const double *x_try, const double *x, const double *x_0, int n) {
    double most = 0;
    for (int i = 0; i < n; ++i) {
        const double e =
            fabs(x[i] - x_try[i]) / (sim->control.atol + sim->control.rtol * fmax(fabs(x_0[i]), fabs(x[i])));
        if (!(e <= most)) most = e == e ? e : HUGE_VAL;
    }
    return most;
}

// The slip speed of a contact as the last step left it.
static double slip_of(const carom_step *s, int c) {
    double sum = 0;
    for (int d = s->dir[s->sys->ne + c] + 1; d < s->dir[s->sys->ne + c + 1]; ++d)
        sum += s->record.u_after[d] * s->record.u_after[d];
    return sqrt(sum);
}

// The fastest slip at the start of an attempt, as saved, that has ended by now.
static double slip_that_ended(const carom_sim *sim) {
    static const double ENDED = 0.2; // of the slip before: stages some of which stick leave up to a tenth of it
    const carom_step *s = &sim->step;
    const size_t at = (size_t)((const unsigned char *)s->record.u_after - (const unsigned char *)sim->kept);
    carom_step before = *s;
    double most = 0;
    before.record.u_after = (double *)((unsigned char *)sim->undo.block + at);
    // schemes that locate events begin anew there
    for (int c = 0; s->record.reacted && !sim->scheme->emits_events && c < s->sys->nc; ++c) {
        if (carom_system_recorded(s->sys, s->sys->ne + c) == 1 || !sim->memory[c].closed) continue;
        const double slip = slip_of(&before, c);
        if (slip > most && slip_of(s, c) <= ENDED * slip) most = slip;
    }
    return most;
}

// How far the largest velocity goes in h, in units of the tolerance.
static double moved(const carom_sim *sim, double h) {
    const carom_system *sys = sim->sys;
    const double speed = fmax(carom_size_moving(sys, sim->v, sys->nv), carom_size_moving(sys, sim->undo.v, sys->nv));
    return speed * h / (sim->control.atol + sim->control.rtol * carom_size_moving(sys, sim->undo.q, sys->nq));
}

// The difference of velocities, in units of the tolerance of the largest of the run: a slow bounce among fast ones is
// not resolved where it does not move noticeably.
static double noticeable(const carom_sim *sim) {
    const double size = fmax(sim->kept->fastest, carom_size_moving(sim->sys, sim->undo.v, sim->sys->nv));
    double most = 0;
    for (int i = 0; i < sim->sys->nv; ++i) most = fmax(most, fabs(sim->v[i] - sim->whole.v[i]));
    return most / (sim->control.atol + sim->control.rtol * size);
}

// From t to t_1, without the instants of jumps at both ends (JT-1).
typedef struct span {
    double t, from, to, t_1;
} span;

static carom_status begin_behind(carom_sim *sim, const span *x, carom_error *err) {
    return x->from > x->t ? carom_sim_pass(sim, 0, x->t, x->from, err) : CAROM_OK;
}

// -- works --------------------------------------------------------------------------------------------

static void booked(const carom_sim *sim, double *W) {
    const carom_ledger *l = &sim->kept->ledger;
    W[CAROM_WORK_FRICTION] = l->energy.friction, W[CAROM_WORK_EXTERNAL] = l->energy.external,
    W[CAROM_WORK_DAMPING] = l->energy.damping;
}

static carom_status power_at(carom_sim *sim, double t, double *P, carom_error *err) {
    const carom_system *sys = sim->sys;
    P[CAROM_WORK_FRICTION] = P[CAROM_WORK_EXTERNAL] = P[CAROM_WORK_DAMPING] = 0;
    const carom_status status =
        sys->power(sys->model, sim->step.sys_work, t, sim->q, sim->v, &P[CAROM_WORK_EXTERNAL], &P[CAROM_WORK_DAMPING]);
    return status == CAROM_OK ? CAROM_OK
                              : carom_fail(err, status, "t = %.9g: the model failed to compute its power", t);
}

// (AD-10)  error = max_k |e_k|/(rtol S + atol F),  S the magnitude of the works of this step and of those before it;  F
//          = sum of the impulses of contacts and
//         joints, and h |f|: velocities are not known better than atol.  F is looked at where S alone refuses a step.
static carom_status work_error(carom_sim *sim, const carom_works *w, double t, double h, double weight, double *error,
                               double *sum, carom_error *err) {
    carom_step *s = &sim->step;
    double size, push = 0;
    const double most = carom_works_error(w, h, weight, &size), all = sim->kept->works + size;
    *sum = all;
    *error = most > 0 ? most / (sim->control.rtol * all) : 0;
    if (!(*error > 1)) return CAROM_OK;
    for (int i = 0; s->record.reacted && i < sim->nl; ++i)
        push += fabs(s->record.impulse[i]) + h * fabs(s->record.force[i]);
    carom_status status = carom_force(s, sim->whole.v, t, sim->q, sim->v);
    if (status == CAROM_RETRY) status = CAROM_NOT_CONVERGED; // a smaller step may do
    if (status != CAROM_OK) return carom_fail(err, status, "%s", sim->error.text);
    for (int i = 0; i < sim->sys->nv; ++i) push += h * fabs(sim->whole.v[i]);
    *error = most / (sim->control.rtol * all + sim->control.atol * push);
    return CAROM_OK;
}

// The trapezoidal rule, by which works are booked after the step, becomes Simpson's.
static void book_middle(carom_sim *sim, const carom_works *w, double h) {
    carom_ledger *l = &sim->kept->ledger;
    l->energy.external += carom_works_middle(w, h, CAROM_WORK_EXTERNAL);
    l->energy.damping += carom_works_middle(w, h, CAROM_WORK_DAMPING);
}

// The order of the motion between contacts: with joints it may be another.
static int order_between(const carom_sim *sim) {
    const carom_scheme *scheme = sim->scheme;
    const int order = carom_sim_order(scheme, sim->opt),
              with_joints = scheme->promises.joint_order > 0 ? scheme->promises.joint_order : 1;
    return sim->sys->ne > 0 && with_joints < scheme->order && with_joints < order ? with_joints : order;
}

// A step taken at once and in two halves.
typedef struct two_ways {
    bool jump, touch;         // velocities jumped; a contact was closed
    double deepest, ended;    // new penetration; slip that ended in the first half
    double before[CAROM_WORKS]; // works before the halves
    carom_works w;
} two_ways;

// At once: its end goes to sim->whole, and the simulation back to the start.
static carom_status at_once(carom_sim *sim, const span *x, double h, two_ways *a, carom_error *err) {
    memset(sim->whole.hit, 0, (size_t)sim->step.sys->nc);
    CAROM_TRY(begin_behind(sim, x, err));
    booked(sim, a->before);
    CAROM_TRY(carom_sim_advance(sim, x->from, h, err));
    booked(sim, a->w.whole);
    for (int i = 0; i < CAROM_WORKS; ++i) a->w.whole[i] -= a->before[i];
    a->jump = jumps(sim, WHOLE, false);
    a->touch = touches(sim);
    carom_copy(sim->whole.q, sim->q, sim->sys->nq);
    carom_copy(sim->whole.v, sim->v, sim->sys->nv);
    carom_sim_try_again(sim);
    sim->inside.entered = 0;
    return CAROM_OK;
}

static carom_status in_halves(carom_sim *sim, const span *x, double h, two_ways *a, carom_error *err) {
    const carom_kept *k = sim->kept;
    const double t = x->from;
    carom_works *w = &a->w;
    CAROM_TRY(begin_behind(sim, x, err));
    booked(sim, a->before);
    w->P[0][CAROM_WORK_EXTERNAL] = k->power_in, w->P[0][CAROM_WORK_DAMPING] = k->power_out;
    CAROM_TRY(carom_sim_advance(sim, t, 0.5 * h, err));
    w->powers = sim->sys->power && !sim->scheme->accounts_power && !sim->inside.power.accounted;
    if (w->powers) CAROM_TRY(power_at(sim, t + 0.5 * h, w->P[1], err));
    a->jump = jumps(sim, FIRST_HALF, false) || a->jump;
    a->touch = a->touch || touches(sim);
    CAROM_TRY(violation(sim, t + 0.5 * h, &a->deepest, err));
    a->ended = slip_that_ended(sim);
    const bool reacted = sim->step.record.reacted;
    CAROM_TRY(carom_sim_advance(sim, t + 0.5 * h, 0.5 * h, err));
    a->jump = jumps(sim, SECOND_HALF, reacted) || a->jump;
    a->touch = a->touch || touches(sim);
    return violation(sim, t + h, &a->deepest, err);
}

// The error of positions and velocities, relative to the tolerance, by a difference that counts with this weight.
static double error_of(carom_sim *sim, double h, bool last, const two_ways *a, double weight) {
    const int nq = sim->sys->nq, nv = sim->sys->nv;
    const double atol = sim->control.atol, rtol = sim->control.rtol;
    // (AD-3)  new penetration counts against the tolerance of a length
    double error = fmax(weight * difference(sim, sim->whole.q, sim->q, sim->undo.q, nq),
                        a->deepest / (atol + rtol * sim->kept->length));
    // error <- max(error, h u/12) where slip u ends in the first half and whole and halves agree
    const double unknown = h * a->ended / 12 / (atol + rtol * carom_size_moving(sim->sys, sim->undo.q, nq));
    if (error < 0.5 * unknown) error = unknown; // half: they agree
    // (AD-6)  Contacts that close within rounding of each other may be hit in another order by the halves, and
    //         velocities then differ whatever the step.  Where nothing moves noticeably during the step, that is the
    //         model's to decide.  Contacts hit in the same order leave velocities that differ by the forces during the
    //         step: a shorter one brings them together.
    const double apart = weight * difference(sim, sim->whole.v, sim->v, sim->undo.v, nv);
    const bool still = apart > 1 && a->jump && error <= 1 && moved(sim, h) < STILL;
    if (!still) return fmax(error, apart);
    if (!last && !order_differs(sim)) return fmax(error, weight * noticeable(sim));
    sim->kept->ledger.undecided += 1;
    return error;
}

// (AD-7)  x <- x + (x - x')/(2^p - 1) where no contact acts: closed contacts would chatter.
static void extrapolate(carom_sim *sim) {
    const double part = 1 / (ldexp(1, order_between(sim)) - 1);
    for (int i = 0; i < sim->sys->nq; ++i) sim->q[i] += part * (sim->q[i] - sim->whole.q[i]);
    for (int i = 0; i < sim->sys->nv; ++i) sim->v[i] += part * (sim->v[i] - sim->whole.v[i]);
}

// One attempt over h.  *error <= 1: what the halves computed stands.  *p is the order the estimate was made with.
// last: there is no shorter step.
static carom_status attempt(carom_sim *sim, const span *x, double h, bool last, double *error, int *p,
                            carom_error *err) {
    const double t = x->from;
    double work, sum;
    two_ways a = {.w = {.powers = false}};
    CAROM_TRY(at_once(sim, x, h, &a, err));
    CAROM_TRY(in_halves(sim, x, h, &a, err));

    // (AD-1)  weight of the difference: 2 for order 0, 1/(2^p - 1) for order p
    const int order = carom_sim_order(sim->scheme, sim->opt);
    *p = sim->control.estimate >= 0 ? sim->control.estimate : a.jump ? 0 : order;
    // (AD-8)  a step in which slip ends is of second order at best
    const int most = *p > 2 && (a.ended > 0 || slip_that_ended(sim) > 0) ? 2 : *p;
    const double weight = *p == 0 ? 2 : 1 / (ldexp(1, most) - 1);
    *error = error_of(sim, h, last, &a, weight);
    if (sim->control.extrapolate && !a.touch) extrapolate(sim);

    booked(sim, a.w.halves);
    for (int i = 0; i < CAROM_WORKS; ++i) a.w.halves[i] -= a.before[i];
    if (a.w.powers) CAROM_TRY(power_at(sim, t + h, a.w.P[2], err));
    CAROM_TRY(work_error(sim, &a.w, t + h, h, weight, &work, &sum, err));
    // powers may jump where nobody knows of it
    if (h <= carom_works_shortest(&sim->step)) work = fmin(work, CAROM_WORKS_COARSE);
    if (!a.jump) *error = fmax(*error, work); // an impact has its own measure, and velocities are in it
    book_middle(sim, &a.w, h);
    sim->kept->works = sum;
    sim->unbooked = x->to < x->t_1 ? 0 : HUGE_VAL;
    return x->to < x->t_1 ? carom_sim_pass_end(sim, h, x->to, x->t_1, err) : CAROM_OK;
}

// h cut to end on the next stop, which may be a jump, or where a pulse begins; never leaving a crumb behind.
static double cut(const carom_sim *sim, double h, double from, double *t_1, bool *jump) {
    const carom_kept *k = sim->kept;
    double stop = sim->t_end;
    if (sim->control.stop > 0) {
        const double next = sim->t0 + (double)(k->stops + 1) * sim->control.stop;
        if (next < stop - CAROM_INSTANT * sim->control.stop) stop = next; // else the end is meant
    }
    stop = fmin(stop, carom_sim_next_sample(sim));
    const double at = carom_sim_jump(sim, from + k->blur,
                                     fmin(from + 2 * h, stop - NEAR * carom_sim_instant(sim, stop))),
                 end = fmin(fmin(stop, at), from + h), even = carom_sim_even(sim, true, from, end);
    stop = fmin(stop, at);
    if (even < end) h = even - k->t;
    const double left = stop - k->t;
    *jump = stop == at && h >= left * (1 - CAROM_INSTANT);
    if (h >= left * (1 - CAROM_INSTANT)) {
        *t_1 = stop;
        return left;
    }
    if (2 * h > left) h = 0.5 * left;
    *t_1 = k->t + h;
    return h;
}

// The step to t_1 begins behind a jump near its start and ends before one near its end.
static span beside(const carom_sim *sim, double from, double t_1) {
    const double e = carom_sim_instant(sim, t_1);
    span x = {sim->kept->t, from, t_1, t_1};
    if (sim->sys->events->next_jump) x.to = fmin(t_1, carom_sim_jump(sim, fmax(from, t_1 - NEAR * e), t_1 + e) - e);
    if (!(x.to > from)) x.to = t_1;
    return x;
}

static double first_behind(const carom_sim *sim) {
    const double t = sim->kept->t, d = carom_sim_instant(sim, t), at = carom_sim_jump(sim, t - NEAR * d, t + d);
    return at < HUGE_VAL ? fmax(t, at + d) : t;
}

// (JT-3)
static void note_jump(carom_sim *sim, const span *x, bool jump) {
    const double e = carom_sim_instant(sim, x->t_1), blur = sim->kept->blur;
    sim->kept->blur = !jump                                      ? fmax(0, blur - (x->t_1 - x->t))
                      : x->t_1 - x->from <= NEAR * fmax(blur, e) ? 2 * fmax(blur, e)
                                                                 : 0;
}

bool carom_sim_ending(const carom_sim *sim) {
    if (!sim) return false;
    const carom_kept *k = sim->kept;
    if (!sim->control.on) return k->t + sim->h * (1 + ENDING) >= sim->t_end;
    const bool before = sim->control.stop > 0 && sim->t0 + (double)(k->stops + 1) * sim->control.stop < sim->t_end;
    return !before && 2 * k->h_next > (sim->t_end - k->t) * (1 - CAROM_INSTANT);
}

carom_status carom_adaptive_step(carom_sim *sim, double *h_done, carom_error *err) {
    carom_kept *k = sim->kept;
    const double least = 64 * DBL_EPSILON * fmax(fabs(k->t), FIRST * (sim->t_end - sim->t0)); // what still moves t
    const double safety = sim->step.inside->control.safety, shrink = sim->step.inside->control.shrink;
    double h = k->h_next, t_1, error = 0;
    const double from = first_behind(sim);
    int p = 0;
    for (int i = 0; i < ATTEMPTS; ++i) {
        bool jump;
        const double h_try = cut(sim, h, from, &t_1, &jump);
        const span x = beside(sim, from, t_1);
        carom_error why;
        const bool last = 0.5 * shrink * h_try < least;
        const carom_status status =
            attempt(sim, &x, x.from == x.t && x.to == t_1 ? h_try : x.to - x.from, last, &error, &p, &why);
        // Too long a step may lead where the model makes no sense (CAROM_USER).
        const bool shorter =
            status == CAROM_OK || status == CAROM_NOT_CONVERGED || status == CAROM_SINGULAR || status == CAROM_USER;
        if (!shorter) return carom_fail(err, status, "%s", why.text);
        if (status == CAROM_OK && error <= 1) {
            // (AD-4)  PI controller: h <- h safety error^(-0.7/(p+1)) last^(0.4/(p+1)), between shrink and grow
            const double e = fmax(error, LEAST);
            // (AD-9)  lecture:  h <- h safety error^(-1/(p+1)), between shrink and grow, also after a rejection
            const double grow = sim->step.inside->control.grow; // pi: none after a rejection
            const double factor = sim->control.lecture
                                      ? carom_step_factor(e, p + 1, safety, shrink, grow)
                                      : carom_step_factor_pi(e, k->error_last, p + 1, safety, shrink, i > 0 ? 1 : grow);
            k->h_next = fmax(factor * h_try, least);
            if (h_try < h && factor >= 1) k->h_next = fmax(k->h_next, h); // a stop made it short
            k->error_last = fmax(e, REMEMBERED);
            if (t_1 >= sim->t0 + (double)(k->stops + 1) * sim->control.stop && sim->control.stop > 0) k->stops += 1;
            note_jump(sim, &x, jump);
            *h_done = h_try;
            k->t = t_1;
            return CAROM_OK;
        }
        carom_sim_try_again(sim);
        k->ledger.rejected += 1;
        // (AD-5)  rejected: h <- h safety error^(-1/(p+1)), between shrink/2 and safety; an unsolved step: h/4
        h = h_try *
            (status != CAROM_OK
                 ? 0.25
                 : carom_step_factor(error, p + 1, safety, (sim->control.lecture ? 1 : 0.5) * shrink, safety));
        if (h < least) {
            if (status != CAROM_OK) return carom_fail(err, status, "%.800s (also with a step of %.3g)", why.text, h);
            return carom_fail(err, CAROM_NOT_CONVERGED,
                              "t = %.9g: tolerance not met: estimated error is %.3g times too large at step %.3g; "
                              "increase `rtol` or `atol`",
                              k->t, error, h);
        }
    }
    return carom_fail(err, CAROM_NOT_CONVERGED, "t = %.9g: no step size met the tolerance in %d attempts", k->t,
                      ATTEMPTS);
}

// sim.c: the loop, and what it books.
#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "base/pages.h"
#include "base/tolerance.h"
#include "scheme/friction.h"
#include "base/number.h"
#include "sim/sim.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SMALLER = 10 }; // a failed step is halved at most this many times
// (TOL-4)  Accepted where the halves of a refused step are refused too, and their scale has halved: there it is weight that makes the
// velocities, and halving on cannot help.
static const double AT_REST = 1e-6;
static const double TOUCHES = 1e-9; // of the coordinates and of the way of a step: a gap at the start, written by hand, that is meant to be 0

// -- one step --------------------------------------------------------------------------------------

// Schemes that know impulses alone write no forces.
static void clear_forces(const carom_sim *sim) {
    if (sim->list.slots) carom_zero_changes(sim->step.force, (size_t)sim->nl);
    else carom_zero(sim->step.force, sim->nl);
}

static carom_status give_up(carom_sim *sim, carom_error *err, int depth) {
    carom_status code = sim->error.code;
    if (code == CAROM_RETRY) code = CAROM_NOT_CONVERGED;
    if (sim->scheme->lacks & CAROM_NO_STEP_CHANGE || depth == 0 || sim->control.on) return carom_fail(err, code, "%s", sim->error.text); // adaptive steps are not halved here
    return carom_fail(err, code, "%.900s (also with the step halved %d times)", sim->error.text, depth);
}

// Which rate ran away.
static carom_status grown(carom_sim *sim, double t, double h, carom_error *err) {
    char text[80];
    int i = 0;
    while (fabs(sim->v[i]) < CAROM_GROWN) ++i;
    sim->grown = true;
    return carom_fail(err, CAROM_NOT_CONVERGED, "t = %.9g: the rate of coordinate %s has grown to %.3g; a step of %.3g is too large for this scheme "
                      "and model; try %s", t, carom_rate_text(&sim->step, i, text, sizeof text), sim->v[i], h, carom_sim_finer(sim));
}

// Are there rotations that are none any more?  They turn with the stages of a scheme, which may be faster than its answer.
static bool lost(const carom_sim *sim) { return sim->sys->move && !(carom_norm_max(sim->q, sim->sys->nq) < HUGE_VAL); }

// Which contacts reacted in the step just done; an earlier half of it had booked the impulses in `booked`.
static void hold(carom_sim *sim, bool earlier) {
    const carom_step *s = &sim->step;
    if (!s->reacted && !sim->kept->holding) return;
    sim->kept->holding = 0;
    for (int c = 0; c < sim->sys->nc; ++c) {
        const int d = sim->dir[sim->sys->ne + c];
        sim->held[c] = s->force[d] > 0 || s->impulse[d] > (earlier ? sim->booked[d] : 0);
        sim->kept->holding += sim->held[c] > 0;
    }
}

// States inside the step that is just done.
static carom_status show_dense(carom_sim *sim, double t, double h, carom_error *err) {
    for (int j = 0; j < sim->dense; ++j) {
        const double x = (j + 0.5) / sim->dense;
        sim->scheme->dense(sim->scheme_work, &sim->step, x, sim->q_in, sim->v_in);
        const carom_status status = sim->on_dense(sim->dense_user, t + x * h, sim->q_in, sim->v_in);
        if (status != CAROM_OK) return carom_fail(err, status, "t = %.9g: stopped", t);
    }
    return CAROM_OK;
}

// Reactions of the last step, for coefficients of friction that depend on them.
static void show_reactions(carom_sim *sim) {
    const carom_step *s = &sim->step;
    for (int id = 0; s->rub && s->rub->force && id < s->sys->ne + s->sys->nc; ++id)
        carom_copy(s->rub->force + s->dir[id], sim->reaction + sim->dir[carom_independent_id(&sim->independent, id)], s->dir[id + 1] - s->dir[id]);
}

// What the scheme has booked goes to the ledger.
static inline void book_account(carom_sim *sim) {
    carom_account *a = &sim->step.account;
    carom_ledger *l = &sim->kept->ledger;
    l->energy.impact += a->impact;
    l->energy.friction += a->friction;
    l->energy.external += a->external;
    l->energy.damping += a->damping;
    if (sim->scheme->emits_events) { // what impacts inside the step took was there
        l->kinetic = fmax(l->kinetic, a->lost);
        sim->kept->explained = fmax(sim->kept->explained, a->lost);
    }
    if (a->gain > 0) a->gain_id = carom_sim_known_as(sim, carom_independent_id(&sim->independent, a->gain_id));
    carom_account_split(&l->impulses, a);
}

void carom_sim_book_account(carom_sim *sim) { book_account(sim); }

// From t over h; when the scheme asks for it, in two halves.
static carom_status advance(carom_sim *sim, double t, double h, int depth, carom_error *err) {
    carom_step *s = &sim->step;
    s->t = t;
    s->h = h;
    s->n = sim->kept->n;
    s->jumped = (sim->kept->jumped && t == sim->kept->t) || t == sim->behind;
    s->account = (carom_account){0};
    s->inside->gaps = sim->keeps_gaps && !sim->stale && depth == 0 && !s->jumped && t == sim->kept->t ? sim->gap : NULL;
    s->booked_t = t + h;
    // Most steps touch nothing: then impulses and forces are zero already and stay so.
    s->q_0 = depth == 0 && sim->scheme->keeps && !sim->refused ? sim->q_0 : NULL;
    s->v_0 = depth == 0 && sim->scheme->keeps && !sim->refused ? sim->v_0 : NULL;
    s->bounded = s->inside->power.booked = false;
    s->inside->forecast.least = -HUGE_VAL;
    s->inside->forecast.most = HUGE_VAL;
    const bool reacted = s->reacted; // an earlier half of this step did
    if (reacted) {
        clear_forces(sim);
        carom_copy(sim->booked, s->impulse, sim->nl);
        carom_copy(sim->booked + sim->nl, s->lost, sim->sys->nc);
    }
    const int told = s->nevents;
    const double speed = sim->kept->speed; // iterates of a refused step say nothing about the motion
    const double accept = s->inside->accept;
    s->scale = speed;
    memset(&s->contact, 0, sizeof s->contact);
    show_reactions(sim);
    carom_status status = s->rub ? carom_friction_at(s, s->t, s->q, s->v) : CAROM_OK;
    if (status == CAROM_OK) status = sim->scheme->step(sim->scheme_work, s);
    if (status != CAROM_OK && s->inside->stop && s->inside->stop(s->inside->stop_user)) status = carom_fail(s->err, CAROM_STOPPED, "t = %.9g: stopped", t); // whatever it made of it
    if (status == CAROM_OK && (s->bounded || carom_norm_max(sim->v, sim->sys->nv) < CAROM_GROWN) && !lost(sim)) { // positions only grow with them
        carom_ledger *l = &sim->kept->ledger;
        sim->kept->speed = fmax(sim->kept->speed, s->scale);
        if (s->contact.most > 0) l->counts.accepted += 1, l->counts.accepted_residual = fmax(l->counts.accepted_residual, s->contact.most);
        book_account(sim);
        hold(sim, reacted);
        return sim->on_dense ? show_dense(sim, t, h, err) : CAROM_OK;
    }
    if (status == CAROM_OK) return grown(sim, t, h, err);
    const bool at_rest = s->contact.refused > 0 && s->contact.refused <= 0.75 * sim->refused_scale;
    const bool ends = sim->scheme->lacks & CAROM_NO_STEP_CHANGE || depth == SMALLER || (at_rest && accept >= AT_REST), again = ends && sim->scheme->positions && !s->inside->last;
    if (status != CAROM_RETRY || (ends && !again)) return give_up(sim, err, depth);
    if (!sim->refused && !sim->control.on) memcpy(sim->before, sim->kept, sim->kept_size); // a refused step changed nothing; its halves may, before one of them fails for good
    sim->refused = true; // adaptive attempts have saved their start, which may lie before this half
    sim->kept->ledger.rejected += 1;
    sim->kept->speed = speed;
    if (reacted) carom_copy(s->impulse, sim->booked, sim->nl), carom_copy(s->lost, sim->booked + sim->nl, sim->sys->nc);
    else if (s->reacted) carom_zero(s->impulse, sim->nl), carom_zero(s->lost, sim->sys->nc);
    s->nevents = told;
    if (again) { // (CL-10)
        s->inside->last = true;
        status = advance(sim, t, h, depth, err);
        s->inside->last = false;
        return status;
    }
    if (at_rest) {
        s->inside->accept = AT_REST;
        status = advance(sim, t, h, depth, err);
        s->inside->accept = accept;
        return status;
    }
    sim->refused_scale = s->contact.refused;
    CAROM_TRY(advance(sim, t, 0.5 * h, depth + 1, err));
    return advance(sim, t + 0.5 * h, 0.5 * h, depth + 1, err);
}

carom_status carom_sim_advance(carom_sim *sim, double t, double h, carom_error *err) {
    return advance(sim, t, h, SMALLER, err);
}
carom_status carom_sim_advance_halving(carom_sim *sim, double t, double h, carom_error *err) { return advance(sim, t, h, 0, err); }

// A motion that ran away fails in the end by something else, a matrix or a contact: then that is said too.
static void report_runaway(carom_sim *sim, carom_error *err) {
    carom_ledger l;
    carom_error mine;
    if (sim->grown || carom_sim_ledger(sim, &l, &mine) != CAROM_OK || !carom_sim_ran_away(&l)) return;
    const size_t used = strlen(err->text);
    carom_format(err->text + used, sizeof err->text - used, "; the energy has grown from %.3g to %.3g without a cause: the step is too large for this scheme and model, or the scheme is not "
             "stable for it; try %s", l.energy.start, l.energy.end, carom_sim_finer(sim));
}

// What the model itself knows of its failure.
static carom_status explain(const carom_sim *sim, carom_status status, carom_error *err) {
    char text[300];
    const carom_system *sys = sim->sys;
    if (status != CAROM_USER || !err || !sys->explain || !sys->explain(sys->model, sim->step.sys_work, text, sizeof text)) return status;
    const size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, ": %s", text);
    return status;
}

// A force that jumps with a rate is why no method converges.
static void report_rough(const carom_sim *sim, carom_status status, carom_error *err) {
    char text[300];
    if (status != CAROM_NOT_CONVERGED || !carom_sim_rough(sim, text, sizeof text)) return;
    const size_t used = strlen(err->text);
    carom_format(err->text + used, sizeof err->text - used, "; %s", text);
}

// After a failure the simulation stands where the step began.
static carom_status undo(carom_sim *sim, carom_status status) {
    if (sim->refused) memcpy(sim->kept, sim->before, sim->kept_size);
    carom_copy(sim->q, sim->q_0, sim->sys->nq);
    carom_copy(sim->v, sim->v_0, sim->sys->nv);
    sim->stale = sim->sys->ne + sim->sys->nc > 0; // gaps may be those of the step that failed
    return status;
}

// -- books -------------------------------------------------------------------------------------------

// Gaps and the power of forces without potential, at the present state; power that the scheme has booked is not asked for.
static inline carom_status observe(carom_sim *sim, double *in, double *out, carom_error *err) {
    const carom_system *sys = sim->sys;
    void *work = sim->step.sys_work;
    const double t = sim->kept->t;
    carom_status status = CAROM_OK;
    const bool power = !sim->inside.power.booked || sys->listed; // gaps of slots that are not in use are infinite
    *in = *out = 0;
    sim->stale = false;
    if (sys->observe && power) {
        status = sys->observe(sys->model, work, t, sim->q, sim->v, sim->gap, in, out);
        return status == CAROM_OK ? CAROM_OK : carom_sim_failed(sim, status, "gaps and power", err);
    }
    carom_zero(sim->gap, sys->ne + sys->nc);
    if (sys->ne + sys->nc > 0) status = sys->gaps(sys->model, work, t, sim->q, sim->gap);
    if (status == CAROM_OK && !(carom_norm_max(sim->gap, sys->ne + sys->nc) < HUGE_VAL)) status = CAROM_USER;
    if (status != CAROM_OK) return carom_sim_failed(sim, status, "gaps", err);
    if (sys->power && power) status = sys->power(sys->model, work, t, sim->q, sim->v, in, out);
    return status == CAROM_OK ? CAROM_OK : carom_sim_failed(sim, status, "power", err);
}

carom_status carom_sim_observe(carom_sim *sim, double *in, double *out, carom_error *err) { return observe(sim, in, out, err); }

// Is no contact deeper and no joint farther off than booked so far?  Then the largest gap is all there is to book.
static inline bool book_largest(carom_sim *sim) {
    carom_ledger *l = &sim->kept->ledger;
    const int ne = sim->sys->ne;
    const double *g = sim->gap, *const contacts = g + ne, *const end = contacts + sim->sys->nc;
    double most = l->gap;
    for (; g < contacts; ++g)
        if (!(fabs(*g) <= l->drift)) return false;
    for (; g < end; ++g) {
        if (!(-*g <= l->penetration)) return false;
        most = *g > most ? *g : most;
    }
    if (!(most < HUGE_VAL)) return false; // infinite gaps are none
    l->gap = most;
    return true;
}

// (JT-6)  Are the gaps worse than all before, but at this instant alone?
static bool passing(carom_sim *sim) {
    const int ne = sim->sys->ne, all = ne + sim->sys->nc;
    const carom_ledger *l = &sim->kept->ledger;
    const double t = sim->kept->t, e = carom_sim_instant(sim, t);
    bool worse = false;
    for (int id = 0; id < all && !worse; ++id) worse = id < ne ? fabs(sim->gap[id]) > l->drift : -sim->gap[id] > l->penetration;
    return worse && carom_sim_jump(sim, t - e, t + e) < HUGE_VAL && carom_sim_alone(sim, t);
}

static void book_worse_gaps(carom_sim *sim) {
    const int ne = sim->sys->ne, all = ne + sim->sys->nc;
    carom_ledger *l = &sim->kept->ledger;
    if (sim->sys->jump && passing(sim)) return;
    for (int id = 0; id < ne; ++id)
        if (!(fabs(sim->gap[id]) <= l->drift)) l->drift = fabs(sim->gap[id]), l->drift_id = id, l->drift_t = sim->kept->t;
    for (int id = ne; id < all; ++id) {
        if (!(-sim->gap[id] <= l->penetration) && !carom_system_gated(sim->sys, id - ne)) l->penetration = -sim->gap[id], l->penetration_id = carom_sim_known_as(sim, id), l->penetration_t = sim->kept->t;
        if (sim->gap[id] < HUGE_VAL) l->gap = fmax(l->gap, sim->gap[id]);
    }
    for (int id = ne; id < all && sim->control.on; ++id)
        if (sim->gap[id] < HUGE_VAL) sim->kept->length = fmax(sim->kept->length, fabs(sim->gap[id]));
}

static inline void book_gaps(carom_sim *sim) {
    if (sim->control.on || sim->list.slots || !book_largest(sim)) book_worse_gaps(sim); // slots that are not in use have infinite gaps
}

// The work of each force, by the trapezoidal rule.
carom_status carom_sim_book_works(carom_sim *sim, double h, carom_error *err) {
    const carom_system *sys = sim->sys;
    if (!sys->works) return CAROM_OK;
    carom_zero(sim->power_now, sys->nworks);
    const carom_status status = sys->works(sys->model, sim->step.sys_work, sim->kept->t, sim->q, sim->v, sim->power_now);
    if (status != CAROM_OK) return carom_sim_failed(sim, status, "powers", err);
    for (int i = 0; i < sys->nworks; ++i) {
        sim->done[i] += 0.5 * h * (sim->power[i] + sim->power_now[i]);
        sim->power[i] = sim->power_now[i];
    }
    return CAROM_OK;
}

// Power alone.
static carom_status observe_power(carom_sim *sim, double *in, double *out, carom_error *err) {
    const carom_system *sys = sim->sys;
    sim->stale = true;
    *in = *out = 0;
    if (sim->inside.forecast.reach.powerless || !sys->power) return CAROM_OK;
    const carom_status status = sys->power(sys->model, sim->step.sys_work, sim->kept->t, sim->q, sim->v, in, out);
    return status == CAROM_OK ? CAROM_OK : carom_sim_failed(sim, status, "gaps and power", err);
}

// Gaps of the present state, where the last step did without.  They are finite: bounds of them are known.
const double *carom_sim_gaps(carom_sim *sim) {
    const carom_system *sys = sim->sys;
    double in, out;
    if (sim->stale) sim->kept->near = UINT64_MAX; // gaps of the step before are not known
    if (sim->stale && sys->observe) sys->observe(sys->model, sim->step.sys_work, sim->kept->t, sim->q, sim->v, sim->gap, &in, &out); // as after other steps: what a row asks for next is prepared for that
    else if (sim->stale) sys->gaps(sys->model, sim->step.sys_work, sim->kept->t, sim->q, sim->gap);
    sim->stale = false;
    return sim->gap;
}

void carom_sim_ask_gaps(carom_sim *sim, carom_status (*on_step)(void *user, const carom_now *now)) { sim->asks = on_step; }

// After a step of length h: gaps, and the work of forces without potential by the trapezoidal rule.
static carom_status book(carom_sim *sim, double t_0, double h, carom_error *err) {
    carom_kept *k = sim->kept;
    double in, out;
    h = fmin(h, sim->unbooked);
    const bool known = carom_gaps_known(sim), watched = sim->watched && !known, stale = sim->stale;
    const uint64_t near = watched ? carom_sim_may_have_closed(sim) : 0;
    CAROM_TRY(known ? observe_power(sim, &in, &out, err) : observe(sim, &in, &out, err));
    if (sim->sys->works) CAROM_TRY(carom_sim_book_works(sim, h, err));
    if (!known) book_gaps(sim);
    if (near || (watched && stale)) carom_sim_look_back(sim, t_0, stale, near);
    if (sim->list.rushes) carom_sim_look_back_listed(sim, t_0);
    if (!sim->sys->power || sim->scheme->powers || sim->inside.power.booked) return CAROM_OK; // there is none, or it did that
    k->ledger.energy.external += 0.5 * h * (k->power_in + in);
    k->ledger.energy.damping += 0.5 * h * (k->power_out + out);
    k->power_in = in;
    k->power_out = out;
    return CAROM_OK;
}

// -- redundant constraints -------------------------------------------------------------------------------

// p by number of all constraints, from that of the first n - k of `order` and the contacts; and back.
static void spread(const carom_sim *sim, double *all, const double *seen, const int *order) {
    const carom_redundant *r = &sim->independent.rows;
    const int kept = r->n - r->k;
    carom_zero(all, r->n);
    for (int i = 0; i < kept; ++i) all[order[i]] = seen[i];
    carom_copy(all + r->n, seen + kept, sim->nl - r->n);
}

// Reactions of rows that were kept become those of the rows that are.
static void pass_on(carom_sim *sim, double *seen) {
    carom_redundant *r = &sim->independent.rows;
    spread(sim, sim->booked, seen, r->before);
    carom_redundant_gather(r, sim->booked);
    for (int i = 0; i < r->n - r->k; ++i) seen[i] = sim->booked[r->order[i]];
}

// Kept rows that have become weak are chosen anew.
static bool look(carom_sim *sim, double t, const double *q) {
    bool changed;
    if (!carom_redundant_look(&sim->independent.rows, sim->step.sys_work, t, q, &changed)) return false;
    if (changed) pass_on(sim, sim->inside.warm), pass_on(sim, sim->step.impulse), pass_on(sim, sim->step.force);
    return true;
}

// At the ends of steps inside a step.
static carom_status look_inside(void *user, double t, const double *q, const double *v) {
    carom_sim *sim = user;
    if (!(sim->sys->flags & CAROM_CONSTANT_DIRECTIONS) && !look(sim, t, q)) return CAROM_RETRY;
    return sim->on_inner ? sim->on_inner(sim->inner_user, t, q, v) : CAROM_OK;
}

static carom_status look_at_end(carom_sim *sim, carom_error *err) {
    if (sim->independent.rows.k == 0 || look(sim, sim->kept->t, sim->q)) return CAROM_OK;
    return carom_sim_failed(sim, CAROM_USER, "constraint directions", err);
}

// Recorded reactions of all constraints.
static void share(carom_sim *sim) {
    carom_redundant *r = &sim->independent.rows;
    if (r->k == 0) return;
    spread(sim, sim->impulse, sim->step.impulse, r->order);
    spread(sim, sim->force, sim->step.force, r->order);
    if (sim->nu) spread(sim, sim->nu, sim->step.nu, r->order), carom_redundant_share(r, sim->nu);
    carom_redundant_share(r, sim->impulse);
    carom_redundant_share(r, sim->force);
}

carom_status carom_sim_share(carom_sim *sim, carom_error *err) {
    CAROM_TRY(look_at_end(sim, err));
    share(sim);
    return CAROM_OK;
}

// -- the run -------------------------------------------------------------------------------------------

// Contacts that touch at the start, to rounding, count as such that reacted: whether they stay is then decided as in later steps (CL-3).
static void hold_touching(carom_sim *sim) {
    const double near = TOUCHES * (carom_norm_max(sim->q, sim->sys->nq) + sim->h * carom_norm_max(sim->v, sim->sys->nv));
    sim->touches = near;
    sim->kept->near = UINT64_MAX;
    for (int c = 0; c < sim->sys->nc; ++c) {
        sim->held[c] = sim->gap[sim->sys->ne + c] <= near;
        sim->kept->holding += sim->held[c] > 0;
    }
}

carom_status carom_sim_begin(carom_sim *sim, carom_error *err) {
    carom_kept *k = sim->kept;
    carom_step *s = &sim->step;
    double kinetic, potential;
    CAROM_TRY(carom_sim_list(sim, sim->h, err));
    CAROM_TRY(carom_sim_sample(sim, err));
    k = sim->kept; // the list may have wanted more memory
    k->jumped = 0;
    k->ledger.energy.external = 0;
    carom_sim_plan(sim);
    CAROM_TRY(carom_sim_observe(sim, &k->power_in, &k->power_out, err));
    CAROM_TRY(carom_sim_book_works(sim, 0, err));
    book_gaps(sim);
    hold_touching(sim);
    CAROM_TRY(carom_sim_energy(sim, &kinetic, &potential, err));
    k->ledger.energy.start = kinetic + potential;
    k->ledger.kinetic = k->explained = kinetic;
    k->one_step = carom_sim_one_step(sim);
    s->t = sim->t0;
    s->h = sim->sys->nsamplers ? carom_sim_planned(sim) : sim->total == 1 ? sim->t_end - sim->t0 : sim->h;
    s->scale = k->speed;
    if (sim->scheme->start && sim->scheme->start(sim->scheme_work, s) != CAROM_OK) return give_up(sim, err, 0);
    carom_sim_book_account(sim); // a scheme that runs ahead may have met an impact
    k->speed = fmax(k->speed, s->scale);
    k->ledger.counts.residual_id = carom_independent_id(&sim->independent, k->ledger.counts.residual_id);
    carom_resolution_look(sim, k->ledger.pace, true);
    return carom_sim_share(sim, err);
}

bool carom_sim_done(const carom_sim *sim) {
    return sim->control.on || sim->sys->nsamplers ? sim->kept->t >= sim->t_end : sim->kept->n >= sim->total;
}

// T/h counts as whole when it is so up to CAROM_INSTANT.
long carom_sim_last_step(const carom_sim *sim, const carom_kept *k) {
    const double steps = (sim->t_end - k->from_t) / sim->h, nearest = round(steps);
    if (!(steps > -1 && steps < CAROM_MOST_STEPS)) return -1;
    const bool whole = (nearest >= 1 || k->from_n > 0) && fabs(steps - nearest) <= CAROM_INSTANT * fmax(1, nearest);
    return k->from_n + (long)(whole ? nearest : ceil(steps));
}

// Equal steps, no longer than h, whole numbers of which make dt.
static void plan_rows(carom_sim *sim, double dt) {
    const double count = dt / sim->h;
    if (!(count < CAROM_MOST_STEPS)) return;
    if (sim->sys->nsamplers) {
        sim->row = dt;
        carom_sim_plan(sim);
        return;
    }
    sim->per_row = fmax(1, ceil(count * (1 - CAROM_INSTANT)));
    sim->row = dt;
    sim->h = dt / (double)sim->per_row;
    sim->total = carom_sim_last_step(sim, sim->kept);
}

void carom_sim_stop_at(carom_sim *sim, double dt) {
    if (!sim->control.on && dt > 0 && sim->scheme->emits_events && !(sim->scheme->lacks & CAROM_NO_STEP_CHANGE)) plan_rows(sim, dt);
    if (!sim->control.on) return;
    sim->control.stop = dt;
    if (dt > 0) sim->kept->stops = (long)fmin(floor((sim->kept->t - sim->t0) / dt * (1 + CAROM_QUOTIENT)), 1e18); // those that have passed
}
void carom_sim_watch_inner(carom_sim *sim, carom_status (*on_inner)(void *user, double t, const double *q, const double *v), void *user) {
    const bool looks = sim->independent.rows.k > 0;
    sim->on_inner = on_inner;
    sim->inner_user = user;
    sim->step.on_inner = looks ? look_inside : on_inner;
    sim->inside.inner_user = looks ? sim : user;
}
// One step of the planned size; kept->t is moved.
static inline carom_status planned_step(carom_sim *sim, double *h_done, carom_error *err) {
    carom_kept *k = sim->kept;
    const double t_1 = carom_sim_end_of(sim, k, k->n + 1);
    const double planned = sim->sys->nsamplers ? carom_sim_planned(sim) : sim->h;
    const bool last = sim->sys->nsamplers ? t_1 == sim->t_end : k->n + 1 == sim->total;
    const double h = last ? t_1 - k->t : planned;
    const double used = fabs(h - sim->h) <= CAROM_INSTANT * sim->h ? sim->h : h;
    CAROM_TRY(sim->sys->jump || sim->sys->even ? carom_sim_pieces(sim, k->t, used, t_1, err) : advance(sim, k->t, used, 0, err));
    *h_done = h;
    k->t = t_1;
    return CAROM_OK;
}

// 16 to 32 steps in every doubling of their number: which ones does not depend on how long the run is to be.
static long stride(long n) {
#if defined(__GNUC__)
    return n < 32 ? 1 : 1L << (8 * (int)sizeof n - __builtin_clzl((unsigned long)n >> 5));
#else
    long x = 1;
    while (n >> 5 >= x) x *= 2;
    return x;
#endif
}

long carom_sim_next_sampled(long n) { return n - n % stride(n) + stride(n); }

static bool sampled(long n) { return (n & (stride(n) - 1)) == 0; }

static void measure_kinetic(carom_sim *sim) {
    double kinetic, potential;
    carom_error ignored;
    carom_kept *k = sim->kept;
    if (carom_sim_energy(sim, &kinetic, &potential, &ignored) != CAROM_OK) return;
    k->ledger.kinetic = fmax(k->ledger.kinetic, kinetic);
    // What an impact took was there, as seen from its wall, which may move.
    k->explained = fmax(k->explained, fmax(kinetic, sim->step.account.lost) - fmax(0, carom_sim_excess(&k->ledger, kinetic + potential)));
}

// (BK-5)  uneven = sum 1/2 |w_n - w_(n-1)|, w_n the work of damping in step n, h P where it is known at step ends.  A pulse of N steps with the largest work w takes N w/2 and adds w; what varies slowly adds nothing.
static void follow_damping(carom_sim *sim, double h) {
    carom_kept *k = sim->kept;
    const double work = sim->inside.power.booked ? k->ledger.energy.damping - k->damped : h * k->power_out;
    if (k->n > k->counted_from + 1) k->uneven += 0.5 * fabs(work - k->damped_step);
    k->damped = k->ledger.energy.damping;
    k->damped_step = work;
}

static inline carom_status take_step(carom_sim *sim, double *h, carom_error *err) {
    return sim->control.on ? carom_adaptive_step(sim, h, err) : planned_step(sim, h, err);
}

// (FV-4)  Before the first step no reactions are known.  Those of a trial step are, and of another one with them; both are undone.
static void guess_reactions(carom_sim *sim) {
    enum { TRIALS = 3 };
    carom_step *s = &sim->step;
    const int told = s->nevents;
    const bool reacted = s->reacted;
    for (int i = 0; i < TRIALS; ++i) {
        carom_error none = {0};
        double h;
        memcpy(sim->before, sim->kept, sim->kept_size);
        const carom_status status = take_step(sim, &h, &none);
        if (status == CAROM_OK) share(sim), carom_last_reactions(sim, h);
        carom_copy(sim->guess, sim->reaction, sim->nl);
        memcpy(sim->kept, sim->before, sim->kept_size);
        carom_copy(sim->reaction, sim->guess, sim->nl);
        s->nevents = told;
        s->reacted = reacted;
    }
}

carom_status carom_sim_ready(carom_sim *sim, carom_error *err) {
    return sim->kept->n > 0 && sim->list.slots ? carom_sim_list(sim, sim->control.on ? sim->kept->h_next : sim->h, err) : CAROM_OK;
}

// A step of length h from t_0 is done.  reacts: in the step before contacts reacted.
#if defined(__GNUC__)
__attribute__((always_inline)) // a call less in each step
#endif
static inline carom_status end_step(carom_sim *sim, double t_0, double h, bool reacts, carom_error *err) {
    carom_kept *k = sim->kept;
    carom_step *s = &sim->step;
    k->n += 1;
    carom_status booked = book(sim, t_0, h, err);
    if (booked == CAROM_OK && sim->independent.rows.k > 0) booked = look_at_end(sim, err);
    const bool looks = sampled(k->n);
    if (looks && booked == CAROM_OK && carom_resolution_mass(sim) != CAROM_OK) booked = give_up(sim, err, 0);
    if (booked != CAROM_OK) { // the new state has no gaps or no power: it does not count
        explain(sim, booked, err);
        k->n -= 1;
        k->t = t_0;
        return undo(sim, booked);
    }
    if (s->reacted || reacts || k->busy || sim->scheme->emits_events) carom_contacts_update(sim, t_0, h);
    if (sim->independent.rows.k > 0) share(sim);
    if (s->reacted || reacts) carom_lasting_forces(sim, h);
    if (sim->reaction) carom_last_reactions(sim, h);
    for (int i = 0; i < s->nevents && sim->list.slots; ++i) s->events[i].contact = carom_sim_known_as(sim, sim->sys->ne + s->events[i].contact) - sim->sys->ne;
    if (s->nevents > 0 && sim->watched) carom_sim_thrown(sim, h);
    k->jumped = 0;
    sim->inside.forecast.low = -k->ledger.penetration;
    sim->inside.forecast.high = k->ledger.gap;
    k->ledger.steps = k->n - k->counted_from;
    if (sim->sys->power) follow_damping(sim, h);
    if (looks || s->account.lost > k->explained) measure_kinetic(sim);
    s->account.lost = 0; // steps in flight book nothing
    if (k->n >= 4096 && (k->n & (k->n - 1)) == 0) carom_resolution_look(sim, k->ledger.pace, false);
    if (!sim->sys->nsamplers) return CAROM_OK;
    CAROM_TRY(carom_sim_sample(sim, err));
    if (k->n >= k->to_n) carom_sim_plan(sim);
    return CAROM_OK;
}

carom_status carom_sim_end_step(carom_sim *sim, double t_0, double h, bool reacts, carom_error *err) { return end_step(sim, t_0, h, reacts, err); }

// Before the end.
static carom_status step(carom_sim *sim, carom_error *err) {
    carom_kept *k = sim->kept;
    carom_step *s = &sim->step;
    CAROM_TRY(carom_sim_ready(sim, err));
    k = sim->kept; // the list of contacts may have wanted more memory
    const double residual = k->ledger.counts.residual, t_0 = k->t;
    const bool reacts = s->reacted; // did so in the step before
    if (k->n > 0) { // at n = 0 the scheme's start may have booked
        s->nevents = 0;
        if (s->reacted) carom_zero(s->impulse, sim->nl), clear_forces(sim), carom_zero(s->lost, sim->sys->nc);
        s->reacted = false;
        if (s->nu) carom_zero(s->nu, sim->nl);
    }
    if (sim->control.on || !sim->scheme->keeps || s->rub) { // evaluating friction coefficients may fail before the scheme copies the state
        carom_copy(sim->q_0, sim->q, sim->sys->nq);
        carom_copy(sim->v_0, sim->v, sim->sys->nv);
    }
    sim->refused = false;
    sim->refused_scale = 0;
    sim->grown = false;
    const int told = s->nevents;
    const bool reacted = s->reacted;
    double h;
    if (k->n == 0 && sim->reaction && !sim->scheme->emits_events) guess_reactions(sim);
    s->parts = 0;
    s->inside->t_0 = sim->t0;
    s->inside->t_end = sim->t_end;
    sim->unbooked = HUGE_VAL;
    const carom_status status = take_step(sim, &h, err);
    if (status != CAROM_OK) {
        explain(sim, status, err);
        undo(sim, status);
        s->nevents = told;
        if (!reacted && s->reacted) carom_zero(s->impulse, sim->nl), clear_forces(sim);
        s->reacted = reacted;
        if (err) report_runaway(sim, err), report_rough(sim, status, err);
        return status;
    }
    if (k->ledger.counts.residual > residual) {
        k->ledger.residual_t = k->t;
        k->ledger.counts.residual_id = carom_sim_known_as(sim, carom_independent_id(&sim->independent, k->ledger.counts.residual_id));
    }
    return end_step(sim, t_0, h, reacts, err);
}

carom_status carom_sim_step(carom_sim *sim, carom_error *err) {
    return carom_sim_done(sim) ? carom_fail(err, CAROM_STOPPED, "the end time %g is reached", sim->t_end) : step(sim, err);
}

// From t to the end of the next step, or to `end` if that comes first.
carom_status carom_sim_step_until(carom_sim *sim, double end, carom_error *err) {
    carom_kept *k = sim->kept;
    if (carom_sim_done(sim) || !(end > k->t)) return carom_sim_step(sim, err);
    const bool whole = carom_sim_end_of(sim, k, k->n + 1) <= end + CAROM_INSTANT * sim->h + 8 * DBL_EPSILON * fabs(end);
    if (!sim->control.on && whole) return carom_sim_step(sim, err);
    if (!sim->control.on && sim->scheme->lacks & CAROM_NO_STEP_CHANGE)
        return carom_fail(err, CAROM_UNSUPPORTED, "t = %.9g: a step of %s cannot be shortened to end at %.9g; stop at whole numbers of steps of %g", k->t, sim->scheme->name, end, sim->h);
    const double t_end = sim->t_end;
    const long total = sim->total;
    sim->t_end = end;
    sim->total = k->n + 1;
    const carom_status status = carom_sim_step(sim, err);
    sim->t_end = t_end;
    sim->total = total;
    k = sim->kept; // it may have wanted more memory
    if (status == CAROM_OK && !sim->control.on) {
        k->from_n = k->n, k->from_t = k->t;
        sim->total = carom_sim_last_step(sim, k);
    }
    if (status == CAROM_OK) carom_sim_plan(sim);
    return status;
}

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// What the present run has taken so far.
void carom_sim_add_time(const carom_sim *sim, carom_ledger *l) {
    if (!sim->running) return;
    l->seconds += seconds(CLOCK_THREAD_CPUTIME_ID) - sim->cpu;
    l->wall += seconds(CLOCK_MONOTONIC) - sim->wall;
}

carom_status carom_sim_run(carom_sim *sim, carom_status (*on_step)(void *user, const carom_now *now), void *user, carom_error *err) {
    carom_error mine;
    sim->running = true;
    sim->cpu = seconds(CLOCK_THREAD_CPUTIME_ID);
    sim->wall = seconds(CLOCK_MONOTONIC);
    carom_status status = CAROM_OK;
    carom_now now = carom_sim_now(sim);
    sim->lazy = sim->inside.forecast.on && (!on_step || on_step == sim->asks);
    const bool flies = carom_sim_flies(sim);
    while (status == CAROM_OK && !carom_sim_done(sim)) {
        if (flies) status = carom_sim_fly(sim, on_step, user, &now, err ? err : &mine);
        if (status == CAROM_OK) status = step(sim, err ? err : &mine);
        if (status != CAROM_OK || !on_step) continue;
        if (sim->list.slots) now = carom_sim_now(sim);
        now.t = sim->kept->t;
        now.step = sim->kept->n;
        now.nevents = sim->step.nevents;
        now.reacted = sim->step.reacted;
        status = on_step(user, &now);
    }
    sim->lazy = false;
    carom_sim_gaps(sim);
    carom_sim_add_time(sim, &sim->kept->ledger);
    sim->running = false;
    return status;
}

// books.c: what a step adds to the ledger: what its scheme has accounted for, gaps, and the work of forces; and
// energies.
#include "base/missing.h"
#include "linalg/matrix.h"
#include "sim/sim.h"
#include "system/system.h"
#include <math.h>
#include <stdint.h>

// Forces and gaps name the one that has no value.
carom_status carom_sim_failed(carom_sim *sim, carom_status status, const char *what, carom_error *err) {
    carom_step *s = &sim->step;
    const double t = sim->kept->t;
    if (status == CAROM_USER && (carom_gaps(s, sim->whole.gap, t, sim->q) != CAROM_OK ||
                                 carom_force(s, sim->whole.v, t, sim->q, sim->v) != CAROM_OK))
        return carom_fail(err, status, "%s", sim->error.text);
    return carom_fail(err, status, "t = %.9g: the model failed to compute its %s", sim->kept->t, what);
}

carom_status carom_sim_energy(carom_sim *sim, double *kinetic, double *potential, carom_error *err) {
    if (!sim || !kinetic || !potential) return CAROM_MISSING(err);
    const carom_system *sys = sim->sys;
    carom_step *s = &sim->step;
    *kinetic = *potential = 0;
    if (sys->energy) {
        const carom_status status =
            sys->energy(sys->model, s->sys_work, sim->kept->t, sim->q, sim->v, kinetic, potential);
        return status == CAROM_OK
                   ? CAROM_OK
                   : carom_fail(err, status, "t = %.9g: the model failed to compute its energy", sim->kept->t);
    }
    carom_matrix_zero(s->M);
    const carom_status status = sys->mass(sys->model, s->sys_work, sim->kept->t, sim->q, s->M);
    if (status != CAROM_OK)
        return carom_fail(err, status, "t = %.9g: the model failed to compute its mass matrix", sim->kept->t);
    carom_matrix_mul(s->inside->difference.a, s->M, sim->v);
    *kinetic = 0.5 * carom_dot(sim->v, s->inside->difference.a, sys->nv);
    return CAROM_OK;
}

// What the scheme has booked goes to the ledger.
void carom_sim_account_step(carom_sim *sim) {
    carom_account *a = &sim->step.record.account;
    carom_ledger *l = &sim->kept->ledger;
    l->energy.impact += a->impact;
    l->energy.friction += a->friction;
    l->energy.external += a->external;
    l->energy.damping += a->damping;
    if (sim->scheme->emits_events) { // what impacts inside the step took was there
        l->kinetic = fmax(l->kinetic, a->lost);
        sim->kept->explained = fmax(sim->kept->explained, a->lost);
    }
    if (a->gain > 0) a->gain_id = carom_sim_known_as(sim, carom_independent_id(&sim->independent, (int)a->gain_id));
    carom_account_split(&l->impulses, a);
}

// Gaps and the power of forces without potential, at the present state; power that the scheme has booked is not asked
// for.
static inline carom_status observe(carom_sim *sim, double *in, double *out, carom_error *err) {
    const carom_system *sys = sim->sys;
    void *work = sim->step.sys_work;
    const double t = sim->kept->t;
    carom_status status = CAROM_OK;
    const bool power = !sim->inside.power.accounted || sys->listed; // gaps of slots that are not in use are infinite
    *in = *out = 0;
    sim->gaps.stale = false;
    if (sys->speed->observe && power) {
        status = sys->speed->observe(sys->model, work, t, sim->q, sim->v, sim->gaps.now, in, out);
        return status == CAROM_OK ? CAROM_OK : carom_sim_failed(sim, status, "gaps and power", err);
    }
    carom_zero(sim->gaps.now, sys->ne + sys->nc);
    if (sys->ne + sys->nc > 0) status = sys->gaps(sys->model, work, t, sim->q, sim->gaps.now);
    if (status == CAROM_OK && !(carom_norm_max(sim->gaps.now, sys->ne + sys->nc) < HUGE_VAL)) status = CAROM_USER;
    if (status != CAROM_OK) return carom_sim_failed(sim, status, "gaps", err);
    if (sys->power && power) status = sys->power(sys->model, work, t, sim->q, sim->v, in, out);
    return status == CAROM_OK ? CAROM_OK : carom_sim_failed(sim, status, "power", err);
}

carom_status carom_sim_observe(carom_sim *sim, double *in, double *out, carom_error *err) {
    return observe(sim, in, out, err);
}

// Is no contact deeper than booked so far, and no joint farther off, but where that is booked at once?  Then the
// largest gap is all there is left to book.
static inline bool book_largest(carom_sim *sim) {
    carom_ledger *l = &sim->kept->ledger;
    const int ne = sim->sys->ne;
    const double *g = sim->gaps.now, *const contacts = g + ne, *const end = contacts + sim->sys->nc;
    double most = l->gap;
    for (; g < contacts; ++g) {
        if (fabs(*g) <= l->drift) continue;
        if (sim->sys->events->next_jump) return false;
        // joints of many models drift a little in every step
        l->drift = fabs(*g), l->drift_id = (int)(g - sim->gaps.now), l->drift_t = sim->kept->t;
    }
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
    for (int id = 0; id < all && !worse; ++id)
        worse = id < ne ? fabs(sim->gaps.now[id]) > l->drift : -sim->gaps.now[id] > l->penetration;
    return worse && carom_sim_jump(sim, t - e, t + e) < HUGE_VAL && carom_sim_alone(sim, t);
}

static void book_worse_gaps(carom_sim *sim) {
    const int ne = sim->sys->ne, all = ne + sim->sys->nc;
    carom_ledger *l = &sim->kept->ledger;
    if (sim->sys->events->next_jump && passing(sim)) return;
    for (int id = 0; id < ne; ++id)
        if (!(fabs(sim->gaps.now[id]) <= l->drift))
            l->drift = fabs(sim->gaps.now[id]), l->drift_id = id, l->drift_t = sim->kept->t;
    for (int id = ne; id < all; ++id) {
        if (!(-sim->gaps.now[id] <= l->penetration) && !carom_system_closes_while(sim->sys, id - ne))
            l->penetration = -sim->gaps.now[id], l->penetration_id = carom_sim_known_as(sim, id),
            l->penetration_t = sim->kept->t;
        if (sim->gaps.now[id] < HUGE_VAL) l->gap = fmax(l->gap, sim->gaps.now[id]);
    }
    for (int id = ne; id < all && sim->control.on; ++id)
        if (sim->gaps.now[id] < HUGE_VAL) sim->kept->length = fmax(sim->kept->length, fabs(sim->gaps.now[id]));
}

// Which coordinates are angles is not known here, nor how long bodies are: the places of two bodies move by 2 sqrt(3)
// max |q_1 - q_0| at most, and where they turn by an angle, that times a length.  (1 + L), L the largest gap and
// position, is an estimate.
static double reach_of_step(const carom_sim *sim) {
    double moved = 0, far = sim->kept->ledger.gap > 0 ? sim->kept->ledger.gap : 0;
    for (int i = 0; i < sim->sys->nq; ++i) {
        const double way = fabs(sim->q[i] - sim->undo.q[i]), x = fabs(sim->q[i]);
        moved = way > moved ? way : moved, far = x > far ? x : far;
    }
    return 4 * moved * (1 + far);
}

// (PO-3)  Gaps of shapes that are far from each other are lower bounds (SHP-10): a line through one of those and one
//         that is exact says nothing.  Gaps up to the size of the smaller shape are exact.  No gap falls by more than
//         points of its two shapes move; twice that leaves room for what they move inside the step.  Where the system
//         does not know it, an estimate decides.
bool carom_sim_moves_by(const carom_sim *sim, int c, double gap, double *reach) {
    const carom_system *sys = sim->sys;
    const double travel = sys->checks->displacement_bound
                              ? sys->checks->displacement_bound(sys->model, sys->ne + c, sim->undo.q, sim->q)
                              : HUGE_VAL;
    if (travel < HUGE_VAL) return gap < 2 * travel;
    if (*reach < 0) *reach = reach_of_step(sim);
    return gap < *reach;
}

static inline void book_gaps(carom_sim *sim) {
    // slots that are not in use have infinite gaps
    if (sim->control.on || sim->list.slots || !book_largest(sim)) book_worse_gaps(sim);
}

void carom_sim_account_gaps(carom_sim *sim) { book_gaps(sim); }

void carom_sim_account_compliant(carom_sim *sim) {
    carom_ledger *l = &sim->kept->ledger;
    long long which = -1;
    const double overlap =
        sim->sys->checks->compliant_overlap(sim->sys->model, sim->step.sys_work, sim->kept->t, sim->q, &which);
    if (overlap > l->compliant.overlap)
        l->compliant.overlap = overlap, l->compliant.t = sim->kept->t, l->compliant.which = which;
}

// The work of each force, by the trapezoidal rule.
carom_status carom_sim_account_works(carom_sim *sim, double h, carom_error *err) {
    const carom_system *sys = sim->sys;
    if (!sys->accounts->works) return CAROM_OK;
    carom_zero(sim->power_now, sys->accounts->nworks);
    const carom_status status =
        sys->accounts->works(sys->model, sim->step.sys_work, sim->kept->t, sim->q, sim->v, sim->power_now);
    if (status != CAROM_OK) return carom_sim_failed(sim, status, "powers", err);
    for (int i = 0; i < sys->accounts->nworks; ++i) {
        sim->done[i] += 0.5 * h * (sim->power[i] + sim->power_now[i]);
        sim->power[i] = sim->power_now[i];
    }
    return CAROM_OK;
}

// Power alone.
static carom_status observe_power(carom_sim *sim, double *in, double *out, carom_error *err) {
    const carom_system *sys = sim->sys;
    sim->gaps.stale = true;
    *in = *out = 0;
    if (sim->forecast.reach.powerless || !sys->power) return CAROM_OK;
    const carom_status status = sys->power(sys->model, sim->step.sys_work, sim->kept->t, sim->q, sim->v, in, out);
    return status == CAROM_OK ? CAROM_OK : carom_sim_failed(sim, status, "gaps and power", err);
}

// Gaps of the present state, where the last step did without.  They are finite: bounds of them are known.
const double *carom_sim_gaps(carom_sim *sim) {
    if (!sim) return NULL;
    const carom_system *sys = sim->sys;
    double in, out;
    if (sim->gaps.stale) sim->kept->near = UINT64_MAX, sim->undo.quiet = false; // gaps of the step before are not known
    // as after other steps: what a row asks for next is prepared for that
    if (sim->gaps.stale && sys->speed->observe)
        sys->speed->observe(sys->model, sim->step.sys_work, sim->kept->t, sim->q, sim->v, sim->gaps.now, &in, &out);
    else if (sim->gaps.stale) sys->gaps(sys->model, sim->step.sys_work, sim->kept->t, sim->q, sim->gaps.now);
    sim->gaps.stale = false;
    return sim->gaps.now;
}

// After a step of length h: gaps, and the work of forces without potential by the trapezoidal rule.
carom_status carom_sim_account(carom_sim *sim, double t_0, double h, bool known, carom_error *err) {
    carom_kept *k = sim->kept;
    double in, out;
    h = fmin(h, sim->unbooked);
    const bool watched = sim->gaps.watched && !known, stale = sim->gaps.stale;
    const uint64_t near = watched ? carom_sim_may_have_closed(sim) : 0;
    CAROM_TRY(known ? observe_power(sim, &in, &out, err) : observe(sim, &in, &out, err));
    if (sim->sys->accounts->works) CAROM_TRY(carom_sim_account_works(sim, h, err));
    if (!known) book_gaps(sim);
    if (sim->sys->checks->compliant_overlap) carom_sim_account_compliant(sim);
    if (near || (watched && stale)) carom_diagnosis.after_step(sim, t_0, stale, near);
    if (sim->list.has_fast_bodies && !sim->scheme->emits_events) carom_diagnosis.after_list(sim, t_0);
    // there is none, or it did that
    if (!sim->sys->power || sim->scheme->accounts_power || sim->inside.power.accounted) return CAROM_OK;
    k->ledger.energy.external += 0.5 * h * (k->power_in + in);
    k->ledger.energy.damping += 0.5 * h * (k->power_out + out);
    k->power_in = in;
    k->power_out = out;
    return CAROM_OK;
}

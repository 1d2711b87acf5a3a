// advance.c: one step of the scheme, in halves where it asks for them, and the message where it fails.
#include "base/pages.h"
#include "base/tolerance.h"
#include "scheme/advice.h"
#include "scheme/friction.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

enum { SMALLER = 10 }; // a failed step is halved at most this many times
// (TOL-4)  Accepted where the halves of a refused step are refused too, and their scale has halved: there it is weight
//          that makes the
// velocities, and halving on cannot help.
static const double AT_REST = 1e-6;

// Schemes that know impulses alone write no forces.
void carom_sim_clear_forces(const carom_sim *sim) {
    if (sim->list.slots) carom_zero_changes(sim->step.record.force, (size_t)sim->nl);
    else carom_zero(sim->step.record.force, sim->nl);
}

carom_status carom_sim_give_up(carom_sim *sim, carom_error *err, int depth) {
    carom_status code = sim->error.code;
    if (code == CAROM_RETRY) code = CAROM_NOT_CONVERGED;
    // adaptive steps are not halved here
    if (sim->scheme->limitations & CAROM_NO_STEP_CHANGE || depth == 0 || sim->control.on)
        return carom_fail(err, code, "%s", sim->error.text);
    return carom_fail(err, code, "%.900s (also with the step halved %d times)", sim->error.text, depth);
}

// Those that are named find their steps, also in stiff models.
const char *carom_sim_finer(const carom_sim *sim) {
    if (sim->scheme->controls_own_steps) return "smaller tolerances";
    return sim->scheme->emits_events || sim->sys->nc == 0
               ? "a smaller step, or a scheme that chooses its own (" CAROM_LOCATING ")"
               : "a smaller step, or a scheme that locates events (" CAROM_LOCATING ")";
}

// Which rate ran away.
static carom_status grown(carom_sim *sim, double t, double h, carom_error *err) {
    char text[80];
    int i = 0;
    while (fabs(sim->v[i]) < CAROM_GROWN) ++i;
    sim->grown = true;
    return carom_fail(err, CAROM_NOT_CONVERGED,
                      "t = %.9g: the solution diverges (%s%s is %.3g); step %.3g is too large for this "
                      "scheme and model; try %s",
                      t, carom_is_state(sim->sys, i) ? "" : "rate of ",
                      carom_rate_text(&sim->step, i, text, sizeof text), sim->v[i], h, carom_sim_finer(sim));
}

// Are there rotations that are none any more?  They turn with the stages of a scheme, which may be faster than its
// answer.
static bool lost(const carom_sim *sim) { return sim->sys->move && !(carom_norm_max(sim->q, sim->sys->nq) < HUGE_VAL); }

// Which contacts reacted in the step just done; an earlier half of it had booked the impulses in `booked`.
static void hold(carom_sim *sim, bool earlier) {
    const carom_step *s = &sim->step;
    double fastest = sim->kept->fastest;
    sim->kept->holding = 0;
    for (int c = 0; c < sim->sys->nc; ++c) {
        const int d = sim->dir[sim->sys->ne + c];
        sim->held[c] = s->record.force[d] > 0 || s->record.impulse[d] > (earlier ? sim->booked[d] : 0);
        sim->kept->holding += sim->held[c] > 0;
        if (sim->held[c] > 0) fastest = fmax(fastest, fmax(fabs(s->record.u_before[d]), fabs(s->record.u_after[d])));
    }
    sim->kept->fastest = fastest;
}

// States inside the step that is just done.
static carom_status show_dense(carom_sim *sim, double t, double h, carom_error *err) {
    for (int j = 0; j < sim->callbacks.states; ++j) {
        const double x = (j + 0.5) / sim->callbacks.states;
        sim->scheme->dense(sim->scheme_work, &sim->step, x, sim->callbacks.q, sim->callbacks.v);
        const carom_status status =
            sim->callbacks.dense(sim->callbacks.dense_user, t + x * h, sim->callbacks.q, sim->callbacks.v);
        if (status != CAROM_OK) return carom_fail(err, status, "t = %.9g: stopped", t);
    }
    return CAROM_OK;
}

// Reactions of the last step, for coefficients of friction that depend on them.
static void show_reactions(carom_sim *sim) {
    const carom_step *s = &sim->step;
    for (int id = 0; s->inside->friction->force && id < s->sys->ne + s->sys->nc; ++id)
        carom_copy(s->inside->friction->force + s->dir[id],
                   sim->reaction + sim->dir[carom_independent_id(&sim->independent, id)], s->dir[id + 1] - s->dir[id]);
}

// A step of the scheme from t over h, `depth` times halved, and what a refused one goes back to.
typedef struct attempt {
    double t, h, accept;
    int depth, nevents; // nevents: before it
    bool reacted;       // an earlier half of the step did
    bool later;         // it does not begin where the step does, but with
    carom_largest largest;
} attempt;

static carom_status advance(carom_sim *sim, double t, double h, int depth, carom_error *err);

// It was refused, or failed for good: again, in two halves where that may help.
#if defined(__GNUC__)
__attribute__((noinline)) // most steps never come here
#endif
static carom_status again(carom_sim *sim, const attempt *a, carom_status status, carom_error *err) {
    carom_step *s = &sim->step;
    const double t = a->t, h = a->h;
    const carom_largest largest = a->later ? a->largest : carom_largest_of(sim->undo.block);
    carom_largest_again(sim->kept, &largest); // iterates of a refused step say nothing about the motion
    // whatever it made of it
    if (s->inside->stop && s->inside->stop(s->inside->stop_user))
        status = carom_fail(s->err, CAROM_STOPPED, "t = %.9g: stopped", t);
    const bool at_rest = s->contact.refused > 0 && s->contact.refused <= 0.75 * sim->undo.refused_scale;
    const bool ends = sim->scheme->limitations & CAROM_NO_STEP_CHANGE || a->depth == SMALLER ||
                      (at_rest && a->accept >= AT_REST),
               last = ends && sim->scheme->positions && !s->inside->last;
    if (status != CAROM_RETRY || (ends && !last)) return carom_sim_give_up(sim, err, a->depth);
    sim->kept->ledger.rejected += 1;
    if (a->reacted)
        carom_copy(s->record.impulse, sim->booked, sim->nl),
            carom_copy(s->record.lost, sim->booked + sim->nl, sim->sys->nc);
    else if (s->record.reacted) carom_zero(s->record.impulse, sim->nl), carom_zero(s->record.lost, sim->sys->nc);
    s->record.nevents = a->nevents;
    if (last) { // (CL-10)
        s->inside->last = true;
        status = advance(sim, t, h, a->depth, err);
        s->inside->last = false;
        return status;
    }
    if (at_rest) {
        s->inside->accept = AT_REST;
        status = advance(sim, t, h, a->depth, err);
        s->inside->accept = a->accept;
        return status;
    }
    sim->undo.refused_scale = s->contact.refused;
    CAROM_TRY(advance(sim, t, 0.5 * h, a->depth + 1, err));
    return advance(sim, t + 0.5 * h, 0.5 * h, a->depth + 1, err);
}

// From t over h; when the scheme asks for it, in two halves.
static carom_status advance(carom_sim *sim, double t, double h, int depth, carom_error *err) {
    carom_step *s = &sim->step;
    attempt a = {.t = t,
                 .h = h,
                 .accept = s->inside->accept,
                 .depth = depth,
                 .nevents = s->record.nevents,
                 .reacted = s->record.reacted,
                 .later = depth > 0 || t != sim->kept->t};
    if (a.later) a.largest = carom_largest_of(sim->kept);
    s->t = t;
    s->h = h;
    s->n = sim->kept->n;
    s->jumped = (sim->kept->jumped && t == sim->kept->t) || t == sim->behind;
    if (!carom_account_empty(&s->record.account)) s->record.account = (carom_account){0};
    const bool known = sim->gaps.kept && !sim->gaps.stale && depth == 0 && !s->jumped && t == sim->kept->t;
    s->inside->gaps = known ? sim->gaps.now : NULL;
    s->record.t = t + h;
    // Most steps touch nothing: then impulses and forces are zero already and stay so.
    s->inside->power.accounted = false;
    if (a.reacted) {
        carom_sim_clear_forces(sim);
        carom_copy(sim->booked, s->record.impulse, sim->nl);
        carom_copy(sim->booked + sim->nl, s->record.lost, sim->sys->nc);
    }
    s->scale = sim->kept->speed;
    memset(&s->contact, 0, sizeof s->contact);
    if (s->inside->friction) show_reactions(sim);
    carom_status status = s->inside->friction ? carom_friction_at(s, s->t, s->q, s->v) : CAROM_OK;
    if (status == CAROM_OK) status = sim->scheme->step(sim->scheme_work, s);
    if (status != CAROM_OK) return again(sim, &a, status, err);
    const double fastest = carom_size_moving(sim->sys, sim->v, sim->sys->nv);
    if (carom_norm_max(sim->v, sim->sys->nv) < CAROM_GROWN && !lost(sim)) { // positions only grow with them
        carom_ledger *l = &sim->kept->ledger;
        if (s->scale > sim->kept->speed) sim->kept->speed = s->scale;
        if (fastest > sim->kept->fastest) sim->kept->fastest = fastest;
        if (s->contact.most > 0)
            l->counts.accepted += 1, l->counts.accepted_residual = fmax(l->counts.accepted_residual, s->contact.most);
        const bool books = s->record.reacted || !carom_account_empty(&s->record.account),
                   holds = s->record.reacted || sim->kept->holding;
        if (books) carom_sim_account_step(sim);
        if (holds) hold(sim, a.reacted);
        return sim->callbacks.dense ? show_dense(sim, a.t, a.h, err) : CAROM_OK;
    }
    return grown(sim, a.t, a.h, err);
}

carom_status carom_sim_advance(carom_sim *sim, double t, double h, carom_error *err) {
    return advance(sim, t, h, SMALLER, err);
}

carom_status carom_sim_advance_halving(carom_sim *sim, double t, double h, carom_error *err) {
    return advance(sim, t, h, 0, err);
}

// signals.c: signals that are held between steps: inputs, which the caller sets, and controllers, which compute at
// sample instants.
//
// Steps end exactly at sample instants: steps of a planned size are equal between two instants and no longer than h,
// adaptive ones are cut there.  When a signal changes, forces jump, and carom_step.jumped says so.  If an energy jumps
// with it, the difference is external work.
#include "base/missing.h"
#include "base/tolerance.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

static const double TOO_OFTEN = 1e-6; // of a step: sampling that would take a million steps for one

void carom_sim_signals_allocate(carom_sim *sim, carom_arena *mem, carom_arena *keep) {
    sim->input = carom_allocate(keep, (size_t)sim->sys->signals->ni);
    sim->sampled = carom_allocate(keep, 2 * (size_t)sim->sys->signals->nsamplers);
    sim->signal = carom_allocate(mem, (size_t)sim->sys->signals->ni);
    sim->gaps.before = sim->sys->signals->ni > 0 && !sim->sys->listed
                          ? carom_allocate(mem, (size_t)(sim->sys->ne + sim->sys->nc))
                          : NULL;
}

// Is t a sample instant of a controller?
static bool samples_at(const carom_sampler *c, double t) {
    const double n = (t - c->offset) / c->sample;
    return n > -CAROM_INSTANT && fabs(n - round(n)) <= CAROM_INSTANT * fmax(1, round(n));
}

// How many samples of a controller lie before this time since its first one?  Negative: so many fit in between.
static double before(const carom_sampler *c, double t) {
    const double n = t / c->sample;
    return ceil(n - CAROM_QUOTIENT * fabs(n));
}

void carom_sim_signals_start(carom_sim *sim, const carom_sim_def *def) {
    const carom_system *sys = sim->sys;
    carom_copy(sim->input, def->input ? def->input : sys->signals->input, sys->signals->ni);
    for (int k = 0; k < sys->signals->nsamplers;
         ++k) { // those before the start are past, and one at the start that was done
                // already
        const carom_sampler *c = &sys->signals->samplers[k];
        const bool done = def->input && !def->input_whole && def->input_t > 0 && samples_at(c, def->input_t) &&
                          samples_at(c, sim->t0);
        const double past = before(c, sim->t0 - c->offset);
        // signals that are whole may be those of a motion that has gone on for ever
        sim->sampled[2 * k] = sim->sampled[2 * k + 1] = (def->input_whole ? past : fmax(0, past)) + done;
        if (def->input_whole && c->delay > 0) sim->sampled[2 * k + 1] = before(c, sim->t0 - c->offset - c->delay);
    }
    sim->callbacks.sample = def->on_sample, sim->callbacks.sample_user = def->sample_user;
}

// -- when -------------------------------------------------------------------------------------------------------------

// The next sample of controller k, or the next time that its outputs take effect.
static double instant(const carom_sim *sim, int k, bool effect) {
    const carom_sampler *c = &sim->sys->signals->samplers[k];
    const double *done = &sim->sampled[2 * k];
    if (!effect) return c->offset + done[0] * c->sample;
    return c->delay > 0 && done[1] < done[0] ? c->offset + done[1] * c->sample + c->delay : HUGE_VAL;
}

double carom_sim_next_sample(const carom_sim *sim) {
    double next = HUGE_VAL;
    for (int i = 0; i < 2 * sim->sys->signals->nsamplers; ++i) next = fmin(next, instant(sim, i / 2, i % 2));
    return next;
}

void carom_sim_plan(carom_sim *sim) {
    carom_kept *k = sim->kept;
    if (!sim->sys->signals->nsamplers) return;
    k->from_n = k->n;
    k->from_t = k->t;
    k->to_t = fmin(carom_sim_next_sample(sim), k->t + 1e6 * sim->h); // steps that can be counted
    if (sim->plan.row > 0)
        k->to_t =
            fmin(k->to_t,
                 sim->t0 + sim->plan.row * (floor((k->t - sim->t0) / sim->plan.row * (1 + CAROM_QUOTIENT) +
                                                  CAROM_INSTANT) + 1));
    k->to_n = k->n + (long)fmax(1, ceil((k->to_t - k->from_t) / sim->h * (1 - CAROM_INSTANT)));
}

double carom_sim_planned(const carom_sim *sim) {
    const carom_kept *k = sim->kept;
    const double h = (k->to_t - k->from_t) / (double)(k->to_n - k->from_n);
    return fabs(h - sim->h) <= CAROM_INSTANT * sim->h ? sim->h : h;
}

static bool whole(const carom_sim *sim, double t) {
    const double n = t / sim->h;
    return fabs(n - round(n)) <= CAROM_INSTANT * fmax(1, round(n));
}

carom_status carom_sim_signals_check(carom_sim *sim, carom_error *err) {
    sim->plan.regular = true;
    const bool fixed = sim->scheme->limitations & CAROM_NO_STEP_CHANGE && !sim->control.on;
    for (int k = 0; k < sim->sys->signals->nsamplers; ++k) {
        const carom_sampler *c = &sim->sys->signals->samplers[k];
        const bool regular = whole(sim, c->sample) && whole(sim, c->offset) && whole(sim, c->delay);
        sim->plan.regular = sim->plan.regular && regular;
        if (c->sample < TOO_OFTEN * sim->h)
            return carom_fail(err, CAROM_BAD_INPUT,
                              "controller '%.60s' samples every %g s; with steps of %g that is too often", c->name,
                              c->sample, sim->h);
        if (fixed && !regular)
            return carom_fail(err, CAROM_BAD_INPUT,
                              "controller '%.60s' samples every %g s, and scheme %s takes equal steps of %g; choose a "
                              "step of which sample, offset and delay are whole multiples, or another scheme",
                              c->name, c->sample, sim->scheme->name, sim->h);
    }
    return CAROM_OK;
}

// -- what -------------------------------------------------------------------------------------------------------------

// Signals become sim->signal.  Powers are those of the new ones, and what the change adds to the energy is external.
static carom_status change(carom_sim *sim, carom_error *err) {
    const carom_system *sys = sim->sys;
    carom_kept *k = sim->kept;
    double T[2], V[2];
    if (memcmp(sim->input, sim->signal, (size_t)sys->signals->ni * sizeof *sim->input) == 0) return CAROM_OK;
    CAROM_TRY(carom_sim_energy(sim, &T[0], &V[0], err));
    const int all = sys->ne + sys->nc;
    if (sim->gaps.before) carom_copy(sim->gaps.before, sim->gaps.now, all);
    carom_copy(sim->input, sim->signal, sys->signals->ni);
    sys->signals->set(sys->model, sim->step.sys_work, sim->input);
    CAROM_TRY(carom_sim_energy(sim, &T[1], &V[1], err));
    *(k->n > 0 ? &k->ledger.energy.external : &k->ledger.energy.start) += (T[1] + V[1]) - (T[0] + V[0]);
    CAROM_TRY(carom_sim_observe(sim, &k->power_in, &k->power_out, err));
    for (int id = sys->ne; sim->gaps.before && k->n > 0 && id < all; ++id) {
        const double way = fabs(sim->gaps.now[id] - sim->gaps.before[id]);
        if (way > k->ledger.moved) k->ledger.moved = way, k->ledger.moved_id = id, k->ledger.moved_t = k->t;
    }
    CAROM_TRY(carom_sim_account_works(sim, 0, err));
    k->jumped = 1;
    return CAROM_OK;
}

// What controller k does at its instant.
static carom_status act(carom_sim *sim, int k, bool effect, carom_error *err) {
    const carom_system *sys = sim->sys;
    const double t = instant(sim, k, effect); // kept->t, without the rounding of steps
    carom_copy(sim->signal, sim->input, sys->signals->ni);
    const carom_callbacks *x = &sim->callbacks;
    if (x->sample && x->sample(x->sample_user, k, effect, t, sim->q, sim->v, sim->input) != CAROM_OK)
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the samples of controller '%.60s'",
                          sys->signals->samplers[k].name);
    const carom_status status =
        sys->signals->sample(sys->model, sim->step.sys_work, k, effect, t, sim->q, sim->v, sim->signal);
    if (status != CAROM_OK)
        return carom_fail(err, status, "t = %.9g: a state or output of controller '%.60s' is not a finite number",
                          sim->kept->t, sys->signals->samplers[k].name);
    sim->sampled[2 * k + effect] += 1;
    return change(sim, err);
}

// In the order of the model; outputs of an earlier sample take effect before the next one.
carom_status carom_sim_sample(carom_sim *sim, carom_error *err) {
    const double now = sim->kept->t + CAROM_INSTANT * sim->h;
    for (int k = 0; k < sim->sys->signals->nsamplers; ++k) {
        if (instant(sim, k, true) <= now) CAROM_TRY(act(sim, k, true, err));
        if (instant(sim, k, false) <= now) CAROM_TRY(act(sim, k, false, err));
        if (sim->sys->signals->samplers[k].delay == 0) sim->sampled[2 * k + 1] = sim->sampled[2 * k];
    }
    return CAROM_OK;
}

carom_status carom_sim_input(carom_sim *sim, int i, double value, carom_error *err) {
    if (!sim) return CAROM_MISSING(err);
    if (i < 0 || i >= sim->sys->signals->nset)
        return carom_fail(err, CAROM_BAD_INPUT, "there is no input %d; the model has %d", i, sim->sys->signals->nset);
    if (!isfinite(value))
        return carom_fail(err, CAROM_BAD_INPUT, "t = %.9g: input %d is not a finite number", sim->kept->t, i);
    carom_copy(sim->signal, sim->input, sim->sys->signals->ni);
    sim->signal[i] = value;
    return change(sim, err);
}

const double *carom_sim_inputs(const carom_sim *sim) { return sim ? sim->input : NULL; }

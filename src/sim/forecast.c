// forecast.c: bounds of the gaps at the end of a step, without evaluating them there.
//
// Most of what a step costs in which nothing touches is sines, and gaps at its end are booked only where they are the
// largest or the smallest so far.  The scheme has evaluated gaps somewhere in its step, and in the one before
// (carom_note_gaps): those bound them.
#include "sim/sim.h"
#include <math.h>

void carom_forecast_allocate(carom_sim *sim, carom_arena *mem) {
    const carom_system *sys = sim->sys;
    carom_forecast *f = &sim->forecast;
    carom_noted *x = &sim->inside.noted;
    *f = (carom_forecast){0};
    *x = (carom_noted){0};
    if (!sys->events->global_bounds) return;
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &f->reach.slope, &f->reach.bend);
    CAROM_ALLOCATE(mem, (size_t)sys->nq, &f->q, &x->q);
    CAROM_ALLOCATE(mem, (size_t)sys->nc, &f->g, &x->g);
}

void carom_forecast_start(carom_sim *sim) {
    const carom_system *sys = sim->sys;
    const carom_step *s = &sim->step;
    carom_forecast *f = &sim->forecast;
    sim->inside.noted.on = sys->events->global_bounds && !sim->control.on &&
                           sys->events->global_bounds(sys->model, s->sys_work, &f->reach);
    f->alone = f->reach.powerless && !sys->signals->ni && !sys->accounts->nworks && !sim->list.slots &&
               sim->independent.rows.k == 0 && !s->inside->friction && !sim->reaction && !sim->scheme->emits_events;
}

// (FC-1)  Gaps were evaluated at q_a in the last step and at q_b in this one, which ends at q_1.  With d = q_b - q_a, e
//         = q_1 - q_b and G, B of carom_gap_bounds, by Taylor's formula at q_b |g(q_1) - g_b - (g_b - g_a)/2| <= sum
//         G_k |e_k - d_k/2| + sum B_k (e_k^2/2 + d_k^2/4);  positions and gaps are rounded.
bool carom_forecast_leaves_books(carom_sim *sim) {
    static const double ROUNDING = 1e-12; // of positions and gaps: some thousand roundings, so that the bound stays one
    carom_forecast *f = &sim->forecast;
    carom_noted *x = &sim->inside.noted;
    const carom_ledger *l = &sim->kept->ledger;
    const int nv = sim->sys->nv, nc = sim->sys->nc;
    double *q_a = f->q, *g_a = f->g, *q_b = x->q, *g_b = x->g, least = HUGE_VAL, most = -HUGE_VAL;
    bool known = f->known && x->seen;
    f->known = x->seen;
    x->seen = false;
    f->q = q_b, f->g = g_b;
    x->q = q_a, x->g = g_a;
    if (!known || sim->inside.gaps_before) return false; // a scheme that asks for the gaps at the start of a step had
                                                         // better find them
    for (int c = 0; c < nc; ++c) {
        const double g = g_b[c] + 0.5 * (g_b[c] - g_a[c]);
        least = g < least ? g : least;
        most = g > most ? g : most;
    }
    if (!(least > -l->penetration && most < l->gap)) return false;
    double margin = ROUNDING * f->reach.size;
    for (int k = 0; k < nv; ++k) {
        const double d = q_b[k] - q_a[k], e = sim->q[k] - q_b[k];
        margin += f->reach.slope[k] * (fabs(e - 0.5 * d) + ROUNDING * fabs(sim->q[k])) +
                  f->reach.bend[k] * (0.5 * e * e + 0.25 * d * d);
    }
    return least - margin > -l->penetration && most + margin < l->gap;
}

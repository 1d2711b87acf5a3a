// contacts.c: what happened at each contact in the last step, for the ledger.
#include "sim/sim.h"
#include <math.h>

// (BK-3)  What a scheme knows as an impulse only is, in lasting contact, a force: impulse/h.  Not so in an impact, and then for joints
//         neither.
static void forces_of_impulses(carom_sim *sim, double h) {
    carom_step *s = &sim->step;
    const int ne = s->sys->ne, all = ne + s->sys->nc;
    bool impact = false;
    for (int i = 0; i < s->nevents; ++i) {
        if (s->events[i].kind != CAROM_IMPACT) continue;
        impact = true;
        sim->struck[s->events[i].contact] = true;
    }
    for (int id = 0; id < all; ++id) {
        const int d = s->dir[id];
        const bool lasts = id < ne ? !impact : sim->memory[id - ne].closed && !sim->struck[id - ne];
        if (!lasts || s->force[d] != 0 || s->impulse[d] == 0) continue;
        for (int k = d; k < s->dir[id + 1]; ++k) s->force[k] = s->impulse[k] / h;
    }
    for (int i = 0; i < s->nevents; ++i)
        if (s->events[i].kind == CAROM_IMPACT) sim->struck[s->events[i].contact] = false;
}

enum { STALE = 32 }; // steps after which the threshold of a lasting contact is found anew

// theta of contact c for a step of h from t_0 on (CL-4); 0 where the model cannot tell.
static double threshold(carom_sim *sim, int c, double t_0, double h) {
    carom_step *s = &sim->step;
    double theta = 0;
    s->h = sim->control.on ? h : sim->h; // the step of the run, also where the last one is shorter
    const carom_place at = {.t = t_0, .q = sim->q_0, .v = sim->v_0};
    return carom_explained(s, &theta, &sim->all, s->sys->ne + c, at) == CAROM_OK ? theta : 0;
}

// Does the scheme carry lasting contact by impulses along directions that change?  What these take is then its error.
static bool numerical(const carom_sim *sim) {
    const unsigned straight = CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS;
    return sim->scheme->impulses && (sim->sys->flags & straight) != straight;
}

// (CL-6)  an impact: an impulse with u < -theta before it.  In lasting contact theta is kept for a while.
static bool struck(carom_sim *sim, int c, double t_0, double h) {
    const int d = sim->step.dir[sim->step.sys->ne + c];
    carom_memory *m = sim->memory + c;
    const double approach = -sim->step.u_before[d];
    if (m->reacting == 0) m->theta = 0;
    if (m->impulsive == 2) return false; // some schemes spread an impact over two steps
    if (!(sim->step.impulse[d] > 0 && approach > 4 * sim->step.tol * sim->kept->speed)) return false;
    if (m->theta > 0 && ++m->age < STALE && approach <= m->theta) return false;
    m->theta = threshold(sim, c, t_0, h);
    m->age = 0;
    return approach > m->theta;
}

void carom_contacts_update(carom_sim *sim, double t_0, double h) {
    carom_step *s = &sim->step;
    carom_ledger *l = &sim->kept->ledger;
    const bool tells = sim->scheme->tells;
    sim->kept->busy = 0;
    for (int c = 0; c < sim->sys->nc && !tells; ++c) {
        const bool impact = struck(sim, c, t_0, h);
        // Lasting contact: what its impulses take remains in the balance.  The step after an impact may finish that.
        if (!impact && sim->memory[c].impulsive == 1 && numerical(sim)) l->energy.impact -= s->lost[c];
        carom_memory_update(sim->memory + c, s, sim->kept->t, c, impact);
        sim->kept->busy += sim->memory[c].reacting > 0 || sim->memory[c].closed;
    }
    if (s->reacted && !sim->scheme->tells) forces_of_impulses(sim, h);
    for (int i = 0; i < s->nevents; ++i) {
        const carom_event *e = s->events + i;
        if (e->kind == CAROM_IMPACT) l->impacts += !tells || e->before < -threshold(sim, e->contact, t_0, h);
        if (e->kind == CAROM_ACCUMULATION) l->accumulations += 1;
    }
}

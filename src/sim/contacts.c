// contacts.c: what happened at each contact in the last step: impacts, closings, openings, stick and slip.
//
// An impact is the first step of a contact with a normal impulse after one without.  A contact is closed
// when it reacts by a force, or by impulses in three steps in a row.  An accumulation is a run of at least three
// impacts, none later after its predecessor than the one before, that ends closed.
#include "sim/sim.h"
#include <math.h>

enum { RUN = 3, LASTING = 3 };

static void tell(carom_sim *sim, int contact, carom_event_kind kind, double before, double after, double impulse) {
    carom_tell(&sim->step, (carom_event){sim->kept->t, contact, kind, before, after, impulse}); // there is room for all
}

static void impact(carom_sim *sim, int contact, carom_memory *m, int d) {
    const double flight = sim->kept->t - m->impact_t;
    m->run = m->run > 0 && (m->run == 1 || flight <= m->flight * (1 + 1e-9)) ? m->run + 1 : 1; // equal: short flights are counted in steps
    m->flight = flight;
    m->impact_t = sim->kept->t;
    tell(sim, contact, CAROM_IMPACT, sim->step.u_before[d], sim->step.u_after[d], sim->step.impulse[d]);
}

// Sticking: the tangential reaction stays inside the disc.  Impulses decide where there are any, forces otherwise.
static void friction(carom_sim *sim, int contact, carom_memory *m, int d) {
    const carom_contact *c = sim->sys->contacts + contact;
    if (c->friction == 0) return;
    const double *p = sim->step.impulse[d] > 0 ? sim->step.impulse + d : sim->step.force + d;
    const double tangential = c->tangents == 2 ? hypot(p[1], p[2]) : fabs(p[1]);
    const int stick = tangential < c->friction * p[0] * (1 - 1e-12) ? 1 : -1;
    if (m->stick != 0 && stick != m->stick)
        tell(sim, contact, stick > 0 ? CAROM_STICK : CAROM_SLIP, m->slip, sim->step.u_after[d + 1], sim->step.impulse[d + 1]);
    m->stick = stick;
    m->slip = sim->step.u_after[d + 1];
}

static void update(carom_sim *sim, int contact) {
    carom_memory *m = sim->memory + contact;
    const int d = sim->step.dir[sim->sys->ne + contact];
    const double impulse = sim->step.impulse[d], force = sim->step.force[d];

    if (impulse > 0 && !m->impulsive) impact(sim, contact, m, d);
    m->impulsive = impulse > 0;
    m->reacting = impulse > 0 || force > 0 ? m->reacting + 1 : 0;
    if (m->reacting == 0 && m->closed) {
        tell(sim, contact, CAROM_OPEN, 0, 0, 0);
        m->closed = m->stick = 0;
    }
    if (!m->closed && (force > 0 || m->reacting >= LASTING)) {
        if (m->run >= RUN) tell(sim, contact, CAROM_ACCUMULATION, 0, 0, 0);
        tell(sim, contact, CAROM_CLOSE, 0, 0, 0);
        m->closed = 1;
        m->run = 0;
    }
    if (m->closed) friction(sim, contact, m, d);
}

void carom_contacts_update(carom_sim *sim) {
    const carom_step *s = &sim->step;
    carom_ledger *l = &sim->kept->ledger;
    sim->kept->busy = 0;
    for (int c = 0; c < sim->sys->nc && !sim->scheme->tells; ++c) {
        update(sim, c);
        sim->kept->busy += sim->memory[c].reacting > 0 || sim->memory[c].closed;
    }
    for (int i = 0; i < s->nevents; ++i) {
        if (s->events[i].kind == CAROM_IMPACT) l->impacts += 1;
        if (s->events[i].kind == CAROM_ACCUMULATION) l->accumulations += 1;
    }
}

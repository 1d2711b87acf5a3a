// memory.c: what happened at each contact in the last step: impacts, closings, openings, stick and slip.
//
// Whether an impulse is an impact is the caller's to say (CL-6).  A contact is closed
// when it reacts by a force, or by impulses in three steps in a row.  An accumulation is a run of at least three
// landings, none later after its predecessor than the one before, that begins with an impact and ends closed; the last
// ones may be too slow for impacts.  Landings that are all too slow are those of a lasting contact that rounding lifts.
#include "base/tolerance.h"
#include "scheme/memory.h"
#include <math.h>

enum { RUN = CAROM_RUN, LASTING = 3 }; // steps with reactions in a row that make a lasting contact

static void emit(carom_step *s, double t, int contact, carom_event_kind kind, double before, double after,
                 double impulse) {
    carom_emit_event(s, (carom_event){t, contact, kind, before, after, impulse}); // there is room for all
}

// A flight has ended: with an impact, or too slowly for one.
static void land(carom_memory *m, double t, bool struck) {
    const double flight = t - m->impact_t;
    // equal: short flights are counted in steps
    const bool sooner = m->run == 1 || flight <= m->flight * (1 + CAROM_INSTANT);
    m->run = m->run > 0 && sooner ? m->run + (m->run < RUN) : struck;
    m->flight = flight;
    m->impact_t = t;
}

// Sticking: the tangential reaction stays inside the disc.  Impulses decide where there are any, forces otherwise.
static void friction(carom_memory *m, carom_step *s, double t, int contact, int d) {
    const carom_contact *c = s->sys->contacts + contact;
    if (c->friction == 0) return;
    const double *p = s->record.impulse[d] > 0 ? s->record.impulse + d : s->record.force + d;
    const int stick =
        carom_length(p + 1, c->disc[0] ? c->disc[0] : c->tangents) < c->friction * p[0] * (1 - CAROM_SAME) ? 1 : -1;
    if (m->stick != 0 && stick != m->stick)
        emit(s, t, contact, stick > 0 ? CAROM_STICK : CAROM_SLIP, m->slip, s->record.u_after[d + 1],
             s->record.impulse[d + 1]);
    m->stick = stick;
    m->slip = s->record.u_after[d + 1];
}

void carom_memory_update(carom_memory *m, carom_step *s, double t, int contact, bool struck) {
    const int d = s->dir[s->sys->ne + contact];
    const double impulse = s->record.impulse[d], force = s->record.force[d];

    if (impulse > 0 && (struck || !m->impulsive)) land(m, t, struck);
    if (struck) emit(s, t, contact, CAROM_IMPACT, s->record.u_before[d], s->record.u_after[d], impulse);
    m->impulsive = impulse > 0 ? 1 + struck : 0;
    if (impulse > 0) m->after = s->record.u_after[d];
    m->reacting = impulse > 0 || force > 0 ? m->reacting + (m->reacting < LASTING) : 0;
    if (m->reacting == 0) m->theta = 0; // of a contact that is over; later steps may pass over it, and then nothing
                                        // must be left
    if (m->reacting == 0 && m->closed) {
        emit(s, t, contact, CAROM_OPEN, 0, 0, 0);
        m->closed = m->stick = 0;
    }
    if (!m->closed && (force > 0 || m->reacting >= LASTING)) {
        if (m->run >= RUN) emit(s, t, contact, CAROM_ACCUMULATION, 0, 0, 0);
        emit(s, t, contact, CAROM_CLOSE, 0, 0, 0);
        m->closed = 1;
        m->run = 0;
    }
    if (m->closed) friction(m, s, t, contact, d);
}

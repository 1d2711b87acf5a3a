// memory.h: what is remembered of a contact from step to step, to tell impacts from lasting contact.
#pragma once
#include "scheme/step.h"

typedef struct carom_memory {
    signed char impulsive; // the last step had a normal impulse: 1; an impact: 2
    signed char reacting;  // consecutive steps with a normal reaction, as many as matter
    signed char closed;    // lasting contact
    signed char stick;     // lasting contact with friction: 1 sticks, -1 slips, 0 unknown
    short run;          // landings in a row, each sooner after its predecessor than the one before, as many as matter
    short age;          // steps since theta was found, as many as matter
    double impact_t;    // time of the last landing
    double flight;      // time between the last two
    double theta;       // approach that lasting contact explains (CL-4), while it lasts; 0: not known
    double after;       // normal velocity that the last impulse left
    double touched;     // time from the start of the run to the last reaction
    double slip;        // first tangential velocity at the end of the last step in lasting contact
} carom_memory;

enum { CAROM_RUN = 3 }; // landings in a row that make an accumulation

/// After a step that ended at t: the events that its reactions tell of that contact; struck: its impulse is an impact.
void carom_memory_update(carom_memory *m, carom_step *s, double t, int contact, bool struck);

/// May a landing after t still belong to the run of those before?  A flight in it is no longer than the one before, the
/// first one as a rule no longer than twice the time until its start.
static inline bool carom_run_goes_on(double count, double last, double flight, double t) {
    return count > 0 && t - last <= 2 * flight;
}
static inline bool carom_memory_recalls(const carom_memory *m, double t) {
    return m->impulsive || m->reacting || m->closed || carom_run_goes_on(m->run, m->impact_t, m->flight, t);
}

/// Did a contact that has nothing to remember take no part in the step?  Then the memory stays as it is.
static inline bool carom_memory_idle(const carom_memory *m, const carom_step *s, int contact) {
    const int d = s->dir[s->sys->ne + contact];
    return !(s->record.impulse[d] > 0 || s->record.force[d] > 0) && m->impulsive == 0 && m->reacting == 0 &&
           m->closed == 0 && m->theta == 0;
}

/// Does the last step have a normal impulse after one that had none?
static inline bool carom_memory_fresh(const carom_memory *m, const carom_step *s, int contact) {
    return !m->impulsive && s->record.impulse[s->dir[s->sys->ne + contact]] > 0;
}

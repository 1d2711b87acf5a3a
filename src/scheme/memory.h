// memory.h: what is remembered of a contact from step to step, to tell impacts from lasting contact.
#pragma once
#include <carom/scheme.h>

typedef struct carom_memory {
    int impulsive;      // the last step had a normal impulse
    int reacting;       // consecutive steps with a normal reaction
    int closed;         // lasting contact
    int stick;          // lasting contact with friction: 1 sticks, -1 slips, 0 unknown
    int run;            // impacts in a row, each sooner after its predecessor than the one before
    int pad;
    double impact_t;    // time of the last impact
    double flight;      // time between the last two
    double slip;        // first tangential velocity at the end of the last step in lasting contact
} carom_memory;

/// After a step that ended at t: the events that its reactions tell of that contact.
void carom_memory_update(carom_memory *m, carom_step *s, double t, int contact);

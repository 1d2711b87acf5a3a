// sides.h (private): the states on both sides of the events of a step, until the step has succeeded.
#pragma once
#include <carom/scheme.h>
#include <stdbool.h>

typedef struct sides {
    int nq, nv, count, room;
    double *t, *x; // count times; q and v of each
    bool failed;   // no memory
} sides;

void sides_clear(sides *s);
void sides_free(sides *s);
/// For carom_sim_watch_events().  Of several events at one time the left side of the first and the right side of the
/// last stay; a step that is tried again begins before what its first attempt left.
carom_status sides_add(void *user, carom_side side, double t, const double *q, const double *v);

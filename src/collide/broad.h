// broad.h: which of many boxes with edges along the axes overlap.  Pure geometry: no model, no shape.
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct carom_bounds {
    double low[3], high[3];
    int id;
    int strip; // scratch of the search
} carom_bounds;

/// Calls found(user, a, b) once for every two of the n boxes that overlap or touch, a and b being their ids.  The order of the calls
/// depends on the boxes alone.  Sorts the boxes; room: as many again.
void carom_broad(carom_bounds *box, int n, carom_bounds *room, void (*found)(void *user, int a, int b), void *user);

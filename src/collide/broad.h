// broad.h: which of many boxes with edges along the axes overlap.  Pure geometry: no model, no shape.
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct carom_bounds {
    double low[3], high[3];
    int id;
    int strip; // scratch of the search
} carom_bounds;

/// Along axis k; along all of them.
static inline bool carom_bounds_overlap(const carom_bounds *a, const carom_bounds *b, int k) {
    return a->low[k] <= b->high[k] && b->low[k] <= a->high[k];
}
static inline bool carom_bounds_meet(const carom_bounds *a, const carom_bounds *b) {
    return carom_bounds_overlap(a, b, 0) && carom_bounds_overlap(a, b, 1) && carom_bounds_overlap(a, b, 2);
}

struct carom_team;

enum { CAROM_BROAD_PARTS = 4 }; // threads that share a search; the others of a team wait

/// The part of n things that a thread has of a search; none for those that wait.
static inline void carom_broad_part(int n, int part, int parts, int *from, int *to) {
    if (parts > CAROM_BROAD_PARTS) parts = CAROM_BROAD_PARTS;
    *from = part < parts ? (int)((long)n * part / parts) : n;
    *to = part < parts ? (int)((long)n * (part + 1) / parts) : n;
}

/// Calls found(user, part, a, b) once for every two of the n boxes that overlap or touch, a and b being their ids, part
/// the thread of the team that calls, below CAROM_BROAD_PARTS (0: alone).  The order of a thread's calls depends on the
/// boxes and the number of threads alone.  Sorts the boxes; room: as many again.
void carom_broad(carom_bounds *box, int n, carom_bounds *room, struct carom_team *team,
                 void (*found)(void *user, int part, int a, int b), void *user);

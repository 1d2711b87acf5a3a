// graze.h (private): an orbit one of whose impacts is weak, in coordinates in which it is smooth down to grazing.
#pragma once
#include "dynamics/cycle.h"

/// The orbit begins at the weak impact.  Of the cycle, the parameter and the period are used.
typedef struct carom_graze {
    carom_cycle *c;
    int contact;
    double t, T, y;   // when it is struck, the period, the approach speed
    double size;      // of the parameter
    double coast;     // of the period: for so long before the impact no contact is looked at
    double *x, *mode; // nq + nv: the state before the impact; modes of all contacts
    double *after;    // nq + nv: behind it
    double *last;     // nq + nv: x of the solution before
    double
        *way; // n + 2: how state, phase and parameter change with the parameter, of the orbit that is not struck at all
    double rises; // how the gap changes with the parameter on it
    bool *with;
    double *A, *b, *z, *work;
    int *col;
} carom_graze;

/// touch: of the cycle's shooter.  To be closed whatever happens.
carom_status carom_graze_open(carom_graze *g, carom_cycle *c, const carom_touching *touch, double size);
void carom_graze_close(carom_graze *g);
/// The approach speed at x.
carom_status carom_graze_speed(carom_graze *g, double *y);
/// A typical speed along the normal of the contact.
double carom_graze_typical(const carom_graze *g);
/// The orbit with this approach speed; 0: it touches.  The parameter is unknown.  Guess: the one before.
carom_status carom_graze_solve(carom_graze *g, double y);
/// The same from the orbit with g->y, in shorter ways where Newton's method fails: what is left of a guess grows with
/// the multipliers.  Where the parameter leaves range[0] .. range[1] on the way, it is the orbit at that edge, with its
/// own speed: *edge.  range: may be NULL.
carom_status carom_graze_reach(carom_graze *g, double y, const double *range, bool *edge);
/// The cycle is this orbit, begun where nothing happens; at y = 0 that with the gap `clear` instead of 0, which is not
/// struck, at the parameter that belongs to it.
carom_status carom_graze_orbit(carom_graze *g, double clear);

// graze.h (private): an orbit with weak impacts, in coordinates in which it is smooth down to grazing.
#pragma once
#include "dynamics/cycle.h"

/// A weak impact, and the motion from it to the next one.
typedef struct carom_weak_impact {
    int contact;
    double t, y;      // when it is struck, the approach speed
    double coast;     // of the period: for so long before it no contact is looked at
    double *x, *mode; // nq + nv: the state before the impact; modes of all contacts
    double *after;    // nq + nv: behind it
    bool *with;
    double *last, t_last, y_last; // nq + nv: x, t, y of the solution before
    double *kick, speed;          // nv: what a unit of y does to velocities; the y that changes one of them by its size
    // the last run from `after`: as in carom_shooter; residual; its changes with y
    int m, at;                    // at: of its unknowns
    double *Z, *Y, *rate_0, *rate_1, *p_0, *p_1, *mode_0, *r;
} carom_weak_impact;

/// The orbit begins at the first weak impact.  Of the cycle, the parameter and the period are used.
typedef struct carom_graze {
    carom_cycle *c;
    int n;            // weak impacts; several vanish together on symmetric orbits
    carom_weak_impact *hit;
    double T;         // the period
    double size;      // of the parameter
    int M, N;         // unknowns: of states; all
    double
        *way; // n + 2: how state, phase and parameter change with the parameter, of the orbit that is not struck at all
    double rises;     // how the first gap changes with the parameter on it
    double leads;     // the change of the parameter with y, in units of size
    double *A, *b, *z, *work, *rows, *block; // A has one more column, of y
    int *col;
} carom_graze;

/// touch: of the cycle's shooter, in any order.  To be closed whatever happens.
carom_status carom_graze_open(carom_graze *g, carom_cycle *c, const carom_touching *const *touch, int n, double size);
void carom_graze_close(carom_graze *g);
/// Approach speeds as they are at x, to y of each impact.
carom_status carom_graze_speed(carom_graze *g);
/// A typical speed along the normal of the first contact.
double carom_graze_typical(carom_graze *g);
/// The orbit whose first impact has this approach speed; 0: it touches all its contacts.  The parameter is unknown, and
/// so are the other speeds.  Guess: the one before.
carom_status carom_graze_solve(carom_graze *g, double y);
/// The same from the orbit as it is, in shorter ways where Newton's method fails: what is left of a guess grows with
/// the multipliers.  Where the parameter leaves range[0] .. range[1] on the way, it is the orbit at that edge, with its
/// own speed: *edge.  range: may be NULL.
carom_status carom_graze_reach(carom_graze *g, double y, const double *range, bool *edge);
/// The cycle is this orbit, begun where nothing happens; at y = 0 that with the gap `clear` instead of 0, which is not
/// struck, at the parameter that belongs to it.
carom_status carom_graze_orbit(carom_graze *g, double clear);

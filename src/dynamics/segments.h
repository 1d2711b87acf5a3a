// segments.h (private): an orbit in pieces, for multiple shooting.
#pragma once
#include "dynamics/cycle.h"

typedef struct carom_piece {
    double *x, *y;           // nq + nv: where it begins; before the last step of Newton's method
    int m, at;               // states beside x; their place among the unknowns
    double *Z, *Y;           // n x m in units of scale: a basis of them, and what becomes of it
    double *r;               // n: from the next piece to the end of this one
    double *rate_0, *rate_1; // n
    double *mode;            // nc: contacts at x
} carom_piece;

typedef struct carom_segments {
    carom_cycle *c;
    int n, *col;
    carom_piece *piece;
    double *block, *A, *b, *z, *work, residual;
    double *end;             // nq: positions after a period
    carom_hit *hit;          // of all pieces
    int nhits;
} carom_segments;

/// Of a cycle with a guess (x, T), in n pieces of equal time.  To be closed whatever happens.
carom_status carom_segments_open(carom_segments *g, carom_cycle *c, int n);
void carom_segments_close(carom_segments *g);
/// Newton's method on all pieces; c->x, c->T, c->residual and c->iterations are set.
carom_status carom_segments_solve(carom_segments *g);
/// As carom_cycle_multipliers().
carom_status carom_segments_multipliers(carom_segments *g, double *re, double *im, int *count, int *trivial, int *lost);
/// The state at time t of the orbit.
carom_status carom_segments_state(carom_segments *g, double t, double *x);

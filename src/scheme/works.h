// works.h: friction, external and damping work of a step that is made as a whole and in halves: how well they are
// known, and what counts.
#pragma once
#include "scheme/inside.h"
#include <math.h>
#include <stdbool.h>

enum { CAROM_WORK_FRICTION, CAROM_WORK_EXTERNAL, CAROM_WORK_DAMPING, CAROM_WORKS };

/// The error that counts for works, relative to its tolerance, in a step that is not shortened any more for them: the
/// next one may be as long.
#define CAROM_WORKS_COARSE 0.1
/// Steps no longer than this part of the run are not shortened any more for works: powers may jump where nobody knows
/// of it, and what is at rest has works of rounding.
#define CAROM_WORKS_SHORTEST 1e-5
static inline double carom_works_shortest(const carom_step *s) {
    return CAROM_WORKS_SHORTEST * (s->inside->t_end - s->inside->t_0);
}

/// What the scheme books in the whole step and in its halves, and the powers of forces without potential at the start,
/// in the middle and at the end, where it does not book those.
typedef struct carom_works {
    double whole[CAROM_WORKS], halves[CAROM_WORKS], P[3][CAROM_WORKS];
    bool powers;
} carom_works;

// (AD-10)  e_k = |W_halves - W_whole| weight of works that the scheme books.  Of powers P_0, P_1, P_2 at the start, in
//         the middle and at the end the work is Simpson's,
//         h/6 (P_0 + 4 P_1 + P_2), and e_k = d^2/(h max |P|), d = h/6 (P_0 - 2 P_1 + P_2), a third of what the
//         trapezoidal rule over the halves differs by from that over the whole.
/// The largest error; *size: the sum of the magnitudes of all works.
static inline double carom_works_error(const carom_works *w, double h, double weight, double *size) {
    double most = 0;
    *size = 0;
    for (int k = 0; k < CAROM_WORKS; ++k) {
        const double d = w->powers ? h / 6 * fabs(w->P[0][k] - 2 * w->P[1][k] + w->P[2][k]) : 0;
        const double all = w->powers ? h * fmax(fabs(w->P[0][k]), fmax(fabs(w->P[1][k]), fabs(w->P[2][k]))) : 0;
        most = fmax(most, weight * fabs(w->halves[k] - w->whole[k]) + (all > 0 ? d * d / all : 0));
        *size += fabs(w->halves[k]) + all;
    }
    return most;
}

/// What Simpson's rule adds to the trapezoidal rule over the step.
static inline double carom_works_middle(const carom_works *w, double h, int k) {
    return w->powers ? h / 3 * (2 * w->P[1][k] - w->P[0][k] - w->P[2][k]) : 0;
}

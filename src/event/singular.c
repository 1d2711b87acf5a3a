// singular.c: positions where constraints depend on each other for an instant.
#include "event/singular.h"
#include <float.h>
#include <math.h>

// The least pivot of W'M^-1 W at q + tau v.
static carom_status pivot_ahead(carom_phase *w, carom_step *s, double tau, double *least) {
    carom_move(s, w->q_1, w->q, tau, w->v);
    CAROM_TRY(carom_flow_rate(&w->f, s, w->t + tau, w->q_1, w->v, false));
    *least = w->f.pivot;
    return CAROM_OK;
}

// (EV-20)  A step over the singular position: to where, along q + tau v, the least pivot is as large again as it is
//          here.  It stops a
// little short of that, so that the position lies between two stages.  At the position, and behind it: to where it is
// near no more.  Velocities across the constraints are known to rounding over the distance, which is the root of the
// pivot; accelerations, which act during the step, to rounding over its square.  That goes when the state is put on the
// constraints farther away.
carom_status carom_phase_crossing(carom_phase *w, carom_step *s, double left, double *time, double *blur) {
    enum { DOUBLINGS = 18, HALVINGS = 6 };
    // FIRST: of the time that velocities need for positions
    static const double FIRST = 1e-6, AT = 1e-2, SHORT = 0.9, AWAY = 0.25;
    static const double ROUNDINGS = 1024, MORE = 1e6, UNKNOWN = 1e-2; // MORE: a stage may lie at the position itself
    const double here = w->f.pivot;
    double a = 0, b = fmin(FIRST * carom_phase_time(w), left), ahead = 0;
    *time = *blur = 0;
    if (here >= CAROM_FLOW_SINGULAR) return CAROM_OK;
    CAROM_TRY(pivot_ahead(w, s, b, &ahead));
    const bool comes = ahead < here && here > AT * CAROM_FLOW_SINGULAR;
    const double enough = comes ? here : CAROM_FLOW_SINGULAR;
    double most = fmax(here, ahead), least = fmin(here, ahead);
    for (int i = 0; i < DOUBLINGS && ahead < enough && b < left; ++i) {
        a = b, b = fmin(2 * b, left);
        CAROM_TRY(pivot_ahead(w, s, b, &ahead));
        most = fmax(most, ahead), least = fmin(least, ahead);
    }
    for (int i = 0; i < HALVINGS && ahead >= enough; ++i) {
        const double tau = 0.5 * (a + b);
        double middle;
        CAROM_TRY(pivot_ahead(w, s, tau, &middle));
        if (middle >= enough) b = tau, ahead = middle;
        else a = tau;
    }
    // Redundant everywhere, or near to that all the time: no position to step over.
    if (ahead >= enough || (b == left && most > CAROM_FLOW_CUT && least < AWAY * most)) {
        *time = comes && ahead >= enough ? SHORT * b : b;
        const double nearer = fmin(here, ahead), distance = sqrt(fmax(nearer, CAROM_FLOW_CUT)),
                     turn = *time / carom_phase_time(w);
        *blur = (ahead >= enough && here > AT * CAROM_FLOW_SINGULAR ? ROUNDINGS : MORE) * DBL_EPSILON / distance *
                (1 + turn / distance);
        if (nearer < CAROM_FLOW_CUT) *blur = UNKNOWN; // there the acceleration across the constraints is not known at
                                                      // all
    }
    return carom_flow_rate(&w->f, s, w->t, w->q, w->v, false);
}

// held.h: motion along surfaces where forces jump, so that it comes back to them from both sides.
//
//     M v' = f_- + alpha (f_+ - f_-),   k'' = 0, or k' = 0 where k depends on velocities               (EV-47)
//
// f_- and f_+ are the forces on both sides of the surface k(t, q, v) = 0.  What switches at the surface holds the
// motion there, as friction does what sticks: a relay, dry friction that is written as a force.  alpha in [0, 1] is
// what it gives on the average of ever shorter times; beyond, one side pulls the motion away (Filippov).
#pragma once
#include "event/flow.h"

carom_held carom_allocate_held(carom_arena *mem, const carom_system *sys);

/// At (t, q, v): the slope of kink i along positions, or along velocities if it depends on these (*quick), and what its
/// change k'' (k') is without accelerations; *rate: k' (0).
carom_status carom_held_slope(carom_held *z, carom_step *s, int i, double t, const double *q, const double *v,
                              double *slope, bool *quick, double *drift, double *rate);
/// The largest change of k, or of k' (rate), that positions and velocities of the size of the run give.
double carom_held_magnitude(const carom_held *z, const carom_step *s, const double *slope, bool quick, bool rate);

/// (z->q, z->v): the state beside (q, v), by rounding, on sides[i] of each of n kinks of the list, from `first` on;
/// (q, v) itself where no state that near is on these sides.
carom_status carom_held_beside(carom_held *z, carom_step *s, int first, int n, const int *sides, double t,
                               const double *q, const double *v);
/// (q, v) goes back to the surfaces that hold it, which the errors of the integrator have left.
carom_status carom_held_put_back(carom_held *z, carom_step *s, double t, double *q, double *v);
/// The power of the forces that hold.
carom_status carom_held_power(carom_held *z, carom_step *s, double t, const double *q, const double *v, double *in,
                              double *out);

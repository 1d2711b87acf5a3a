// variation.h: variations for controllers, averages and adjoints; users: <carom/variation.h>.
#pragma once
#include "model/answers.h"
#include <carom/variation.h>

/// Expressions inside min(x), max(x), mean(x), rms(x), integral(x), carom_model_watched() of them.
carom_status carom_variation_watched(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                     double *y);
/// Observed expressions with these extremes and averages, which change by five numbers of each watched expression: its
/// least and largest value, mean, rms and integral.
carom_status carom_variation_composed(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                      const carom_average *a, const double *watched, double *y);
/// What controllers compute, all of them: outputs and next states of the first, of the second, ...
carom_status carom_variation_control(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                     double *y);
/// The end of a run that takes it from the model, by parameters p (as in carom_direction).
double carom_variation_end(carom_variation *x, const double *p);
/// Signals (all of the system's ni) have these values from now on.
void carom_variation_hold(carom_variation *x, const double *signals);
// Backwards: the gradient of one number that is a weighted sum of changes, by all directions at once.
/// Prepare for it.  CAROM_UNSUPPORTED: not with flexible members, bodies that turn in space, parameters of the
/// structure, nearest places of rings.
carom_status carom_variation_transpose(carom_variation *x, carom_error *err);
int carom_variation_parameters(const carom_variation *x); // all of the model, chosen or not
/// By velocities (nv), of velocities (nv) and by all parameters, added to gq, gv and gp: of r.(d(f - M a) + d(W
/// lambda)) + s.d(W'a + kappa) + slip.d(coefficients of friction of contacts that slide); lambda and s by direction,
/// slip by contact; lambda NULL: of r.d(f - M a).
carom_status carom_variation_back(carom_variation *x, double t, const double *q, const double *v, const double *a,
                                  const double *lambda, const double *r, const double *s, const double *slip,
                                  double *gq, double *gv, double *gp);
carom_status carom_variation_watched_back(carom_variation *x, double t, const double *q, const double *v,
                                          const double *weight, double *gq, double *gv, double *gp);
/// A gradient by all parameters, added to that by the chosen ones.
void carom_variation_gather(const carom_variation *x, const double *all, double *chosen);
/// Does chosen parameter k enter masses, gaps, directions, rates, laws, or (forces) any of these and forces?  True
/// where it is not known.
bool carom_variation_enters(const carom_variation *x, int k, bool forces);

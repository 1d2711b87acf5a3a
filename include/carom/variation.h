// variation.h: how the terms of a model change, to first order, when time, state and parameters change.
//
// Along M a = f + W lambda the sensitivities (dq, dv, dp) obey, with d() at constant a and lambda and for constraints
// that are closed,
//     M da = d(f - M a) + d(W lambda) + W dlambda,     W'da = -d(W'a + kappa),     dq' = dv
// (kappa: carom_system.curvature); at an impact at time t the change of t is that which keeps g = 0, dg = 0 with dt in
// the change.  Changes by q are taken along velocities, as everywhere.  Derivatives are exact: the expressions of the
// model are differentiated.  Of a parameter that is part of the structure (carom_model_fixed) they are differences of
// the fourth order between models beside it, good to about 1e-10.
#pragma once
#include <carom/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct carom_variation carom_variation;

/// By time, along velocities (nv), of velocities (nv), of the chosen parameters; NULL: none.
typedef struct carom_direction {
    double t;
    const double *q, *v, *p;
} carom_direction;

/// Of model m as it is now, with respect to n parameters (numbers of carom_model_parameter(); after them signals:
/// numbers of carom_model_signal(), and those of all parameters added).  Parameters given by
/// expressions of these follow; one that is chosen does not follow others.  It keeps nothing of m, and belongs to one
/// thread at a time.  NULL on failure: CAROM_UNSUPPORTED where contacts come and go or friction depends on reactions,
/// CAROM_BAD_INPUT where there is no model beside this one (a count, say).
carom_variation *carom_variation_create(const carom_model *m, int n, const int *parameter, carom_error *err);
void carom_variation_destroy(carom_variation *x);
/// Other values of the chosen parameters.  *kept false: the structure of the model holds one of them, and it has to be
/// created again; carom_variation_start() fails from then on.
carom_status carom_variation_set(carom_variation *x, const double *value, bool *kept, carom_error *err);
/// Are derivatives by chosen parameter k exact, no differences?
bool carom_variation_exact(const carom_variation *x, int k);
/// Directions of all constraints, in the order of ids: one each, and the tangents of contacts with friction.
int carom_variation_directions(const carom_variation *x);

// Derivatives at (t, q, v) in the direction d.  y: the requested values.  CAROM_USER: an entry is not finite.
// d(f - M a), nv
carom_status carom_variation_motion(carom_variation *x, double t, const double *q, const double *v, const double *a,
                                    carom_direction d, double *y);
// dg, ne + nc
carom_status carom_variation_gaps(carom_variation *x, double t, const double *q, carom_direction d, double *y);
// d(W lambda), nv
carom_status carom_variation_reaction(carom_variation *x, double t, const double *q, const double *lambda,
                                      carom_direction d, double *y);
// d(W'v + w), by direction
carom_status carom_variation_rates(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                   double *y);
// d(W'a + kappa), by direction
carom_status carom_variation_acceleration(carom_variation *x, double t, const double *q, const double *v,
                                          const double *a, carom_direction d, double *y);
carom_status carom_variation_outputs(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                     double *y);
/// Observed expressions of the state (carom_model_def.observe); ledger, extremes and averages count as constant zeros.
carom_status carom_variation_observed(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                      double *y);
/// Restitution of one contact that is struck with an approach speed which changes by d; p: as in carom_direction.
/// Where it varies with the speed, by differences; CAROM_USER: it varies, and the speed is not positive.
carom_status carom_variation_restitution(carom_variation *x, int contact, double speed, double d, const double *p,
                                         double *y);
/// Coefficients of every contact (NULL: not requested), restitution that varies at approach speed 0; of friction that
/// varies the two that carom_system.friction begins with: it slips, it sticks.
carom_status carom_variation_laws(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                  double *restitution, double *tangential, double *slip, double *stick);
/// The initial state by parameters p (as in carom_direction): along velocities, and of velocities.
carom_status carom_variation_start(carom_variation *x, const double *p, double *q, double *v, carom_error *err);

#ifdef __cplusplus
}
#endif

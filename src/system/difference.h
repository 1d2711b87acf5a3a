// difference.h: derivatives of a system by central differences, where it gives none of its own.
//
// Same meaning and arguments as the functions of carom_system that they stand in for.  Relative
// accuracy about 1e-10 for smooth functions of unit scale.
#pragma once
#include <carom/system.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Scratch; one per simulation.
typedef struct carom_difference {
    double *q, *a, *b, *e; // nq, nv or local directions
    carom_matrix M;
    carom_local L; // the constraints that a difference is about
    int *of;       // and where they stand in the list that was given
    double step; // relative step; 0: 6e-6.  Lengths of its size in the model want a smaller one
} carom_difference;

carom_difference carom_allocate_difference(carom_arena *mem, const carom_system *sys);
carom_status carom_difference_tangent(carom_difference *d, const carom_system *sys, void *work, double t,
                                      const double *q, const double *v, carom_matrix K, carom_matrix C);
carom_status carom_difference_mass_gradient(carom_difference *d, const carom_system *sys, void *work, double t,
                                            const double *q, const double *x, double s, carom_matrix D);
carom_status carom_difference_reaction_gradient(carom_difference *d, const carom_system *sys, void *work, double t,
                                                const double *q, const carom_local *L, const double *lambda, double s,
                                                carom_matrix D);
carom_status carom_difference_rate_gradient(carom_difference *d, const carom_system *sys, void *work, double t,
                                            const double *q, const double *v, const carom_local *L, carom_columns *D);
carom_status carom_difference_curvature(carom_difference *d, const carom_system *sys, void *work, double t,
                                        const double *q, const double *v, const carom_local *L, double *kappa);

#ifdef __cplusplus
}
#endif

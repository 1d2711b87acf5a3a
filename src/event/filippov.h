// filippov.h: motion along surfaces where forces jump, so that it comes back to them from both sides.
//
//     M v' = f_- + alpha (f_+ - f_-),   k'' = 0, or k' = 0 where k depends on velocities               (EV-47)
//
// f_- and f_+ are the forces on both sides of the surface k(t, q, v) = 0.  What switches at the surface holds the
// motion there, as friction does what sticks: a relay, dry friction that is written as a force.  alpha in [0, 1] is
// what it gives on the average of ever shorter times; beyond, one side pulls the motion away (Filippov).
#pragma once
#include <carom/scheme.h>

enum { CAROM_SURFACES = 8 }; // surfaces at once

typedef struct carom_filippov {
    int n, kink[CAROM_SURFACES + 1]; // of each the number of its function; the last one is that which leans
    int lean;                        // not 0: surface n is not held, but forces are those of this side of it
    bool quick[CAROM_SURFACES + 1];  // k depends on velocities
    bool gives;                      // forces are z->given
    double *eps;                     // rounding of k
    double *slope, *drift, *part;    // n + 1 of each: dk/dq or dk/dv, what changes k besides accelerations; alpha
    double *force, *a;               // forces below all and above one after the other, their accelerations
    double size_q, size_v;           // of the run
    double *given, *k, *k_1, *S, *x, *q, *v, *dv;
} carom_filippov;

carom_filippov carom_allocate_filippov(carom_arena *mem, const carom_system *sys);

/// At (t, q, v): the slope of kink i along positions, or along velocities if it depends on these (*quick), and what its
/// change k'' (k') is without accelerations; *rate: k' (0).
carom_status carom_filippov_slope(carom_filippov *z, carom_step *s, int i, double t, const double *q, const double *v,
                                  double *slope, bool *quick, double *drift, double *rate);
/// The largest change of k, or of k' (rate), that positions and velocities of the size of the run give.
double carom_filippov_magnitude(const carom_filippov *z, const carom_step *s, const double *slope, bool quick,
                                bool rate);

/// (z->q, z->v): the state beside (q, v), by rounding, on sides[i] of each of n kinks of the list, from `first` on;
/// (q, v) itself where no state that near is on these sides.
carom_status carom_filippov_beside(carom_filippov *z, carom_step *s, int first, int n, const int *sides, double t,
                                   const double *q, const double *v);
/// Sides of force number j, 0 .. n: the surfaces are below, but for j - 1, and the last one, if it leans, is where it
/// leans to.
void carom_filippov_sides(const carom_filippov *z, int j, int *sides);
/// z->part by z->a: k'' = 0 (k' = 0) of all surfaces is linear in their parts.  False: they do not hold the motion.
bool carom_filippov_solve(carom_filippov *z, const carom_step *s);
/// (q, v) goes back to the surfaces that hold it, which the errors of the integrator have left.
carom_status carom_filippov_put_back(carom_filippov *z, carom_step *s, double t, double *q, double *v);
/// The power of the forces that hold.
carom_status carom_filippov_power(carom_filippov *z, carom_step *s, double t, const double *q, const double *v,
                                  double *in, double *out);

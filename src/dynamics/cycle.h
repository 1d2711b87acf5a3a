// cycle.h (private): a motion that repeats itself: unknowns, equations, Newton's method.
#pragma once
#include "dynamics/shoot.h"

/// (x, T, p) with  x(t_0 + T) = x moved by turns and along what the model does not depend on.
typedef struct carom_cycle {
    carom_shooter s;
    const char *expression;  // of the period; NULL: it is free
    bool timeless;           // time does not enter the model: a phase is chosen
    int fold;                // periods of the expression in one of the orbit: 1, 2 behind a period doubling
    double T, T_p, t_0;      // period, its change with the parameter, where the orbit begins
    double *x, *first;       // nq + nv: there; where the search began, at t = 0
    int *partner;            // nv: which coordinate has this one's place after a period; NULL: none changes
    bool conservative;       // the energy is the parameter: s.value; orbits come in families
    bool hold;               // of Newton's method: the energy becomes `target`
    double target, *slope;   // slope: m: how the energy changes along Z
    int nsym;
    double *sym;             // n x nsym, orthonormal in units of scale: what the model does not depend on
    double *shift;           // nq: whole turns in a period
    double *r, residual;     // of the last shot, in units of scale, without what goes along sym; its largest
    int iterations, rank, unknowns; // of the last Newton step
    int steps;               // of a shot
    int most, halvings;      // Newton steps; of each
    bool near;               // to a solution, as along a branch: the residuals that are wanted follow from the accuracy
                             // of runs
    bool precise;            // the residual falls as far as it can
    double rtol;             // of runs along a branch; tightened where they are too rough
    double noise;            // errors of runs in units of rtol and of their growth, as far as they were measured
    double good, enough;     // residual wanted; accepted where it falls no further
    double *least;           // n: typical sizes are measured no smaller; zeros: as they are
    double *learnt;          // pairs of room numbers: what steps since the last linearisation told
    int nlearnt, room;
    double *A, *B, *b, *z, *work, *tau, *by, *y, *r_0; // of Newton's method
    int *col;
    const char *nearer;      // what to give where none is found, for messages
    int order_changed;       // attempts whose sequence of events was another one
    carom_error *err;
} carom_cycle;

/// Of a shooter that is open; period: an expression, or "free"; value of it at the start in c->T.
carom_status carom_cycle_open(carom_cycle *c, const char *period, const char *const *exchanges, const char *by,
                              carom_error *err);
void carom_cycle_close(carom_cycle *c);
/// How Newton's method works: from any guess (the default), or from near a solution, as along a branch.
void carom_cycle_expect(carom_cycle *c, bool near);
/// Does time enter the model?  c->timeless.  CAROM_BAD_INPUT: it does, and the period is free; or the model does not
/// repeat itself after c->T.  x: a state.
carom_status carom_cycle_time(carom_cycle *c, const double *x);
/// A guess: from x, after `transient`, within `window` (free periods), near the period `guess` (NAN: the first return).
carom_status carom_cycle_guess(carom_cycle *c, const double *x, double transient, double window, double guess);
/// Begin at another phase of the motion over one period from x, where nothing happens.
carom_status carom_cycle_rephase(carom_cycle *c);
/// The same, from a start at which something happens, in the same units.
carom_status carom_cycle_away(carom_cycle *c);
/// The best return of the motion from the start of the search, within sixty periods, as another guess (models with
/// time).
carom_status carom_cycle_near(carom_cycle *c);
/// Sizes and what the model does not depend on, from the motion over `span` alone.
carom_status carom_cycle_survey(carom_cycle *c, double span);
/// What the model does not depend on, to c->sym: the complement of what it depends on at some states and times.
carom_status carom_cycle_symmetry(carom_cycle *c, const double *samples, const double *times, int count);
/// The coordinates of a state that change places in a period.
void carom_cycle_exchange(const carom_cycle *c, double *x);
carom_status carom_orbit_no_memory(carom_error *err);
static inline double *cycle_column(double *A, int j, int n) { return A + (size_t)j * (size_t)n; }
/// The end of the last shot, its linearisation too, as an orbit that returns to x should have it: exchanged, without
/// turns; r: from x to it, without what goes along sym.
void carom_cycle_return(carom_cycle *c, const double *x, bool linear, double *r);
/// The shot from (x, T) as it is now, and its residual.
carom_status carom_cycle_shoot(carom_cycle *c, bool linear);
/// Kinetic and potential energy of a state.
double carom_cycle_energy(carom_cycle *c, const double *x);
/// Its changes along the basis of the last linearised shot, at x, to c->slope.
carom_status carom_cycle_slope(carom_cycle *c, const double *x);
/// Another value of the parameter, with the period that belongs to it.
carom_status carom_cycle_set(carom_cycle *c, double value);
/// Errors of the runs: the shot from x again, with a tenth of the tolerance.  *more: they are larger than was known.
carom_status carom_cycle_measure(carom_cycle *c, bool *more);
/// Newton's method from there; the last shot is linearised.  tau: n + 2 numbers (state in units of scale, T/T,
/// parameter/size): the parameter is unknown too, and corrections are perpendicular to tau; NULL: it stays.
carom_status carom_cycle_solve(carom_cycle *c, const double *tau, double size);
/// Do these rates, in units of scale, move nothing in a period?  Then it is a state of rest, which is refused.
bool carom_cycle_still(const carom_cycle *c, double rate);
carom_status carom_cycle_rests(carom_cycle *c);
/// The tangent of the branch through the orbit of the last linearised shot, n + 2 numbers of length 1.  False: it is
/// not unique.  sign, log_size (NULL: not wanted): of the determinant of
/// (ORB-2) with the tangent as its last row, which vanishes where branches cross; sign 0: it vanishes everywhere here,
/// as where orbits come in families.
bool carom_cycle_tangent(carom_cycle *c, double size, double *tau, int *sign, double *log_size);
/// The period, after the parameters have changed.
carom_status carom_cycle_refresh(carom_cycle *c);
/// (ORB-2) at the last linearised shot: residuals F (N - 1) and their derivatives J, (N - 1) x N, the last column by
/// the parameter in units of size.  Returns N.
int carom_cycle_equations(carom_cycle *c, double size, double *F, double *J);
/// A change of its N unknowns as n + 2 numbers, like a tangent.
void carom_cycle_spread(carom_cycle *c, double size, const double *z, double *tau);
/// Where branches cross: the direction perpendicular to the tangent in which there are other orbits, n + 2 numbers of
/// length 1.  False: it was not found.
bool carom_cycle_cross(carom_cycle *c, double size, const double *tau, double *other);
/// Directions that are no states: coordinates and rates of friction laws alone, integrals of first-order states.
int carom_cycle_hidden(const carom_cycle *c);
/// P = Z'Y of the last linearised shot, m x m, reduced by the motion and sym: nontrivial multipliers into re, im (room
/// n), how many; vectors (n x n, in units of scale, as LAPACK has them; NULL: not wanted).  *trivial: how many were
/// left out; *lost: how many are zero because contacts are closed.
carom_status carom_cycle_multipliers(carom_cycle *c, double *re, double *im, double *vectors, int *count, int *trivial,
                                     int *lost);
/// Of large models (s.few): runs are rough from here on, as far as their tolerance is not given.
carom_status carom_cycle_roughly(carom_cycle *c);
/// Newton's method without P, from there, with finer and finer runs.
carom_status carom_cycle_krylov(carom_cycle *c);
/// The largest multipliers at the orbit that it found, as far as they converge; how many others there are.
carom_status carom_cycle_largest(carom_cycle *c, double *re, double *im, int *count, int *trivial, int *lost,
                                 int *others);

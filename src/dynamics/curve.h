// curve.h (private): a curve of solutions over a parameter, for continuation: orbits (curve_orbit.c) and states of rest
// (curve_rest.c).
#pragma once
#include "dynamics/dynamics.h"

/// Functions that vanish at an event: the parameter's part of the tangent; the determinant of the equations bordered by
/// the tangent; det(P + 1); the distance of a pair from its border.
typedef enum carom_curve_test { CAROM_FOLD, CAROM_BRANCH, CAROM_DOUBLING, CAROM_PAIR, CAROM_TESTS } carom_curve_test;
/// sign exp(log_size); sign 0: it is zero, or not defined.
typedef struct carom_signed { int sign; double log_size; } carom_signed;

/// What a solution is like.
typedef struct carom_curve_look {
    bool stable;
    double largest;
    int unstable;               // eigenvalues beyond the border of stability
    double noise;               // those nearer to it than this may lie on either side
    carom_signed test[CAROM_TESTS];
    int n;                      // eigenvalues
    double *re, *im;            // neig
} carom_curve_look;

enum { CAROM_RESPONSES = 19 }; // the mean, amplitude and phase of CAROM_HARMONICS

typedef struct carom_curve {
    void *user;
    int ntau;            // of a tangent; the last number belongs to the parameter
    int nplace;          // of a place, which holds all about a solution; the first number is the parameter
    int neig;            // most eigenvalues
    const char *const *test; // CAROM_TESTS names
    double clear;        // so far behind an event of contacts it is clear what has changed; 0: at once
    // the first solution, at the parameter's value
    carom_status (*begin)(void *user);
    void (*save)(void *user, double *place);
    carom_status (*restore)(void *user, const double *place);
    carom_status (*predict)(void *user, const double *tau, double sigma);
    // perpendicular to tau; NULL: at the parameter as it is
    carom_status (*correct)(void *user, const double *tau, int *iterations);
    // a place that was restored, as correct() left it
    carom_status (*linearise)(void *user);
    // in: one that points forward; border: the determinant, NULL: not wanted
    bool (*tangent)(void *user, double *tau, carom_signed *border);
    // at the last correction; all but the tests of the tangent
    carom_status (*look)(void *user, carom_curve_look *l);
    // how far an eigenvalue lies beyond the border of stability; negative: on this side of it
    double (*beyond)(void *user, double re, double im);
    // choose better coordinates of the same solution; *moved: its tangent is another one
    carom_status (*settle)(void *user, bool *moved);
    // lengths are so much longer from here on; the tangent is then another one.  NULL: they are known
    void (*resize)(void *user, double by);
    // (FOL-9) a length that the model itself has, 0: none.  NULL: not asked for
    double (*natural)(void *user);
    carom_status (*row)(void *user, double *period, double *x, double *least, double *most); // x: nq + nv
    // as the solution that was kept: contacts do the same
    bool (*same)(void *user);
    // contacts go on as in this solution; tau: may turn round, where the branch does so with the contacts
    carom_status (*keep)(void *user, double *tau);
    // of the solution, in units of tau, not below 1
    double (*extent)(void *user);
    // orbits of a period of their own: how slow they are where they are slowest, against where they are fastest; NULL:
    // there are none
    double (*slowest)(void *user);
    // from a place to this solution, in units of tau
    void (*apart)(void *user, const double *place, double *by);
    // how this solution differs from the one kept; failed: there is none
    void (*describe)(void *user, bool failed, char *text, size_t size);
    // has the linearised motion alone seen this difference?  NULL: never
    bool (*roughly)(void *user);
    // does friction hold everything all the time?  NULL: it never does
    bool (*held)(void *user);
    // as accurate as possible, where events are located; NULL: it always is
    carom_status (*precise)(void *user, bool on);
    // a contact is hardly touched: the curve goes to the orbit that touches it, in words, or to the edge of the
    // parameter's range (two numbers; NULL: there is none), without a word.  NULL: there are none
    carom_status (*graze)(void *user, const double *range, char *text, size_t size);
    // from there to the next solution on the other side; *clear: the branch can be followed as usual from here on;
    // *edge: it leaves the range there
    carom_status (*leave)(void *user, const double *range, double *tau, bool *clear, bool *edge);
    // the solution at the parameter as it is, from a state moved by sigma tau, if contacts do something else from there
    // (*other) than in the solution that was kept; NULL: there are none
    carom_status (*beside)(void *user, const double *tau, double sigma, bool *other);
    // of a doubled solution: from its start to the state after half its period, in units of tau
    void (*half)(void *user, double *by);
    // the same of every orbit; NULL: not at all
    carom_status (*across)(void *user, double *by);
    // of an orbit that may shrink to an equilibrium, in units of tau
    double (*width)(void *user);
    // are doubled solutions followed?  NULL: there are none
    bool (*doubles)(void *user);
    // the doubled solution beside a period doubling; NULL: there are none
    carom_status (*twice)(void *user, double *tau);
    // at a crossing of branches: the direction perpendicular to the tangent in which there are others, of length 1
    bool (*cross)(void *user, const double *tau, double *other);
    // there: null vectors of the equations bordered by the tangent, ntau each; then, at a solution, left'[F_x F_p]
    // right, which vanishes at the crossing like the determinant and is more accurate.  NULL: the determinant will do
    bool (*critical)(void *user, const double *tau, double *left, double *right);
    carom_status (*projected)(void *user, const double *left, const double *right, double *g);
    // of equilibria at a Hopf point: the state, the displacement of the mode (2 nv) and its frequency; NULL: not at all
    carom_status (*pair)(void *user, double *x, double *shape, double *rate);
    // orbits: that beside an equilibrium, displaced by size times the shape; NULL: not at all
    carom_status (*grow)(void *user, double value, const double *x, const double *shape, double rate, double size,
                         double *tau);
    // mean, then amplitude and phase (degrees) of every harmonic of the response: CAROM_RESPONSES numbers; NULL: there
    // is none
    carom_status (*response)(void *user, double *to);
    // two parameters
    // the parameters are at + value way from here on
    carom_status (*aim)(void *user, const double *at, const double *way, double value);
    // here, of n unknowns: F (n - 1) and its derivatives, (n - 1) x n; room: (ntau + 2)^2
    carom_status (*equations)(void *user, double *F, double *J, int *n);
    // of equilibria, (LOC-6): left'C right/left'M right, with null vectors of the equations; NaN: not here
    carom_status (*drag)(void *user, const double *left, const double *right, double *value);
    // a change of these unknowns as a tangent
    void (*spread)(void *user, const double *z, double *tau);
    // at a Hopf point: Re c1; at a period doubling: c.  CAROM_UNSUPPORTED: not here.  NULL: never
    carom_status (*first_lyapunov)(void *user, double *c);
    // behind graze(): the orbit with this approach speed, on the line of aim()
    carom_status (*touch)(void *user, double y);
    // states and times where it touches, to keep them (x NULL: not at all) or to put them back; returns how many
    int (*touching)(void *user, double *x, bool put);
    // speed along the normal of that contact
    double (*typical)(void *user);
    // the weakest impact of an orbit, its jump in typical speeds (INFINITY: there is none); the contact
    double (*weakest)(void *user, const char **contact);
    // before begin(): the orbit has so many periods of the excitation
    carom_status (*multiple)(void *user, int periods);
} carom_curve;

/// Room for one more row behind those of t; *room: how many it has room for.  False: no memory.
bool carom_curve_room(carom_table *t, long *room);

/// also: a second parameter, for aim(); NULL: none.  To be closed whatever happens.
carom_status carom_curve_orbits(carom_curve *k, const carom_follow_def *def, const char *also, const carom_model **m,
                                const char **scheme, carom_error *err);
void carom_curve_orbits_close(carom_curve *k);
carom_status carom_curve_rests(carom_curve *k, const carom_follow_def *def, const char *also, const carom_model **m,
                               const char **scheme, carom_error *err);
void carom_curve_rests_close(carom_curve *k);

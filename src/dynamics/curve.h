// curve.h (private): a curve of solutions over a parameter, for continuation: orbits (curve_orbit.c) and states of rest (curve_rest.c).
#pragma once
#include "dynamics/dynamics.h"

enum { CAROM_TESTS = 3 };
/// What a solution is like.  count[k] eigenvalues lie beyond the k-th border of stability; distance[k]: of that next to it.
typedef struct carom_curve_look { bool stable; double largest; int count[CAROM_TESTS]; double distance[CAROM_TESTS]; } carom_curve_look;

typedef struct carom_curve {
    void *user;
    int ntau;            // of a tangent; the last number belongs to the parameter
    int nplace;          // of a place, which holds all about a solution; the first number is the parameter
    const char *const *test; // CAROM_TESTS names
    double clear;        // so far behind an event of contacts it is clear what has changed; 0: at once
    carom_status (*begin)(void *user);                                            // the first solution, at the parameter's value
    void (*save)(void *user, double *place);
    carom_status (*restore)(void *user, const double *place);
    carom_status (*predict)(void *user, const double *tau, double sigma);
    carom_status (*correct)(void *user, const double *tau, int *iterations);       // perpendicular to tau; NULL: at the parameter as it is
    carom_status (*linearise)(void *user);                                        // a place that was restored, as correct() left it
    bool (*tangent)(void *user, double *tau);                                     // in: one that points forward
    carom_status (*look)(void *user, carom_curve_look *l);                        // at the last correction
    carom_status (*settle)(void *user, bool *moved);                              // choose better coordinates of the same solution; *moved: its tangent is another one
    carom_status (*row)(void *user, double *period, double *x, double *least, double *most); // x: nq + nv
    bool (*same)(void *user);                                                     // as the solution that was kept: contacts do the same
    carom_status (*keep)(void *user, double *tau);                                // contacts go on as in this solution; tau: may turn round, where the branch does so with the contacts
    double (*extent)(void *user);                                                 // of the solution, in units of tau, not below 1
    void (*describe)(void *user, bool failed, char *text, size_t size);           // how this solution differs from the one kept; failed: there is none
    bool (*doubles)(void *user);                                                  // are doubled solutions followed?  NULL: there are none
    carom_status (*twice)(void *user, double *tau);                               // the doubled solution beside a period doubling; NULL: there are none
} carom_curve;

/// Both are closed by close(user).
carom_status carom_curve_orbits(carom_curve *k, const carom_follow_def *def, const carom_model **m, const char **scheme, carom_error *err);
void carom_curve_orbits_close(carom_curve *k);
carom_status carom_curve_rests(carom_curve *k, const carom_follow_def *def, const carom_model **m, const char **scheme, carom_error *err);
void carom_curve_rests_close(carom_curve *k);

// vanish.h (private): where orbits shrink to an equilibrium, by extrapolation.
//
// Beside that point all that belongs to an orbit and not to its phase is a function of the square of its amplitude.
#pragma once
#include <stdbool.h>

enum { CAROM_VANISHING = 6 }; // orbits that are kept

typedef struct carom_vanishing {
    int n, nq, kept;         // numbers of each orbit, coordinates, orbits
    double small;            // of the largest one: from there on a limit counts
    double *first, largest;  // nq: how far coordinates move in the largest one; its size, the square of its amplitude
    double size[CAROM_VANISHING], *value; // the smallest last; their numbers
} carom_vanishing;

/// Neville's scheme: the value at 0 of the polynomial through y over x; y is spoilt.
double carom_value_at_zero(const double *x, double *y, int n);
/// Each orbit has n numbers.  False: no memory.
bool carom_vanishing_open(carom_vanishing *v, int nq, int n);
void carom_vanishing_close(carom_vanishing *v);
/// The next orbit, with the range of each coordinate.  Those that are little smaller than the last one are left out;
/// where orbits grow, it begins anew.
void carom_vanishing_add(carom_vanishing *v, const double *value, const double *least, const double *most);
/// The same of any size in which these numbers are smooth.
void carom_vanishing_put(carom_vanishing *v, const double *value, double size);
/// Is the last orbit much smaller than the largest one?
bool carom_vanishing_small(const carom_vanishing *v);
/// The numbers where orbits have vanished; error: of the first two, from the polynomial of a lower degree.  False: too
/// few orbits.
bool carom_vanishing_limit(const carom_vanishing *v, double *to, double error[2]);

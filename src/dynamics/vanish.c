// vanish.c: where orbits shrink to an equilibrium, by extrapolation; see vanish.h.
#include "dynamics/vanish.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double APART = 0.7; // of a size: the next one that is kept is smaller
static const double SMALL = 0.1; // of the first one
enum { FEWEST = 4 };             // orbits that tell a limit and its error

double carom_value_at_zero(const double *x, double *y, int n) {
    for (int k = 1; k < n; ++k)
        for (int i = 0; i + k < n; ++i) y[i] = (x[i + k] * y[i] - x[i] * y[i + 1]) / (x[i + k] - x[i]);
    return y[0];
}

bool carom_vanishing_open(carom_vanishing *v, int nq, int n) {
    *v = (carom_vanishing){.n = n, .nq = nq, .small = SMALL};
    v->first = calloc((size_t)nq + 1, sizeof *v->first);
    v->value = calloc(CAROM_VANISHING * (size_t)n, sizeof *v->value);
    return v->first && v->value;
}

void carom_vanishing_close(carom_vanishing *v) {
    free(v->first), free(v->value);
    *v = (carom_vanishing){0};
}

static double square_of(const carom_vanishing *v, const double *least, const double *most) {
    double square = 0;
    for (int i = 0; i < v->nq; ++i)
        if (v->first[i] > 0) square += pow((most[i] - least[i]) / v->first[i], 2);
    return square;
}

void carom_vanishing_put(carom_vanishing *v, const double *value, double size) {
    if (v->kept > 0 && size > v->size[v->kept - 1]) v->kept = 0;
    if (v->kept == 0) v->largest = size;
    else if (size > APART * v->size[v->kept - 1]) return;
    if (v->kept == CAROM_VANISHING) {
        --v->kept;
        memmove(v->size, v->size + 1, (size_t)v->kept * sizeof *v->size);
        memmove(v->value, v->value + v->n, (size_t)v->kept * (size_t)v->n * sizeof *v->value);
    }
    v->size[v->kept] = size;
    memcpy(v->value + (size_t)v->kept * (size_t)v->n, value, (size_t)v->n * sizeof *value);
    ++v->kept;
}

void carom_vanishing_add(carom_vanishing *v, const double *value, const double *least, const double *most) {
    if (v->kept > 0 && square_of(v, least, most) > v->size[v->kept - 1]) v->kept = 0;
    for (int i = 0; i < v->nq && v->kept == 0; ++i) v->first[i] = most[i] - least[i];
    carom_vanishing_put(v, value, square_of(v, least, most));
}

bool carom_vanishing_small(const carom_vanishing *v) {
    return v->kept >= FEWEST && v->size[v->kept - 1] < v->small * v->largest;
}

bool carom_vanishing_limit(const carom_vanishing *v, double *to, double error[2]) {
    if (!carom_vanishing_small(v)) return false;
    for (int i = 0; i < v->n; ++i) {
        double y[CAROM_VANISHING], x[CAROM_VANISHING];
        for (int lower = 1; lower >= 0; --lower) { // without the largest orbit; with it
            for (int k = lower; k < v->kept; ++k) y[k - lower] = v->value[k * v->n + i], x[k - lower] = v->size[k];
            const double limit = carom_value_at_zero(x, y, v->kept - lower);
            if (i < 2) error[i] = lower ? limit : fabs(limit - error[i]);
            if (!lower) to[i] = limit;
        }
    }
    return true;
}

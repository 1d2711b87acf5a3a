// endless.c: where does the period of a branch of orbits grow without bound?
//
// Near an orbit that begins and ends in a saddle (homoclinic, or heteroclinic round several of them), and near one
// through a saddle-node, most of the period is spent beside the equilibrium:
//
//     p = p_0 + C exp(-lambda T),   p = p_0 + a/T^2 + b/T^3  (END-1)
//
// Each law has three unknowns, which three points give; the points before them tell how well it holds, and how the
// limit itself converges.
#include "dynamics/endless.h"
#include <math.h>

static const double HOLDS = 0.1; // of the way that is left: how well the law must tell the limit
static const double ALIKE = 0.3; // of the rate: between the first points and the last ones
static const double LINEAR = 1e-8;    // exponent: beyond, 1 - exp(-x) = x to the last digit of a square root
static const double BISECTED = 1e-15; // relative width of a rate that is found
static const double CREEPS = 1e-3;    // least part of the way that a point is nearer than the one before

// (p_3 - p_2)/(p_2 - p_1) of an exponential law over the periods between.
static double ratio(double lambda, double first, double second) {
    if (lambda * fmax(first, second) < LINEAR) return second / first;
    return exp(-lambda * first) * expm1(-lambda * second) / expm1(-lambda * first);
}

// (END-1)  The limit of the exponential law through three points; NAN: they do not follow one.
static double saddle(const double *p, const double *T, double *lambda) {
    const double a = T[1] - T[0], b = T[2] - T[1], wanted = (p[2] - p[1]) / (p[1] - p[0]);
    if (!(a > 0 && b > 0 && wanted > 0 && wanted < b / a)) return NAN;
    double low = 0, high = 700 / fmax(a, b);
    for (int i = 0; i < 200 && high - low > BISECTED * high; ++i) {
        const double mid = (low + high) / 2;
        if (ratio(mid, a, b) > wanted) low = mid;
        else high = mid;
    }
    *lambda = (low + high) / 2;
    return p[2] + (p[2] - p[1]) / expm1(*lambda * b);
}

// (END-1)  That of the law in powers of 1/T.
static double saddle_node(const double *p, const double *T) {
    double x[3];
    for (int i = 0; i < 3; ++i) x[i] = 1 / T[i];
    // p - p_0 = x^2 (a + b x): with d_i = p_i/x_i^2 and e_i = 1/x_i^2, the second differences of d - p_0 e vanish
    double d = 0, e = 0;
    for (int i = 0; i < 3; ++i) {
        double w = 1;
        for (int k = 0; k < 3; ++k) w *= k == i ? 1 : 1 / (x[i] - x[k]);
        d += w * (p[i] - p[2]) / (x[i] * x[i]), e += w / (x[i] * x[i]);
    }
    return e != 0 ? p[2] + d / e : NAN;
}

// The limits that consecutive triples of points tell come nearer to the true one, by the next term of the law: it is
// taken away in the same manner, where that helps.
static double nearer(const double *limit, const double *T) {
    double rate;
    const double at = saddle(limit, T, &rate);
    // chosen: an improvement is no larger than a few changes of what it improves
    return isnan(at) || fabs(at - limit[2]) > 3 * fabs(limit[2] - limit[1]) ? limit[2] : at;
}

bool carom_endless(const double *p, const double *T, int n, carom_period_limit *to) {
    enum { LIMITS = 5 }; // three improved ones, each of three
    *to = (carom_period_limit){.value = NAN, .error = INFINITY};
    if (n < CAROM_ENDLESS) return false;
    p += n - CAROM_ENDLESS, T += n - CAROM_ENDLESS;
    for (int law = 0; law < 2; ++law) {
        double at[LIMITS], better[3], lambda = 0, first = 0;
        for (int k = 0; k < LIMITS; ++k) {
            at[k] = law ? saddle_node(p + k, T + k) : saddle(p + k, T + k, &lambda);
            if (k == 0) first = lambda;
        }
        if (fabs(lambda - first) > ALIKE * lambda) continue;
        for (int k = 0; k < 3; ++k) better[k] = law ? at[k + 2] : nearer(at + k, T + k + 2);
        const double left = fabs(p[CAROM_ENDLESS - 1] - better[2]),
                     closer = left / fabs(p[CAROM_ENDLESS - 2] - better[2]); // by such a part in a step
        double off[2];
        // what all further steps would change, if each changes by this part of the one before
        for (int k = 0; k < 2; ++k)
            off[k] = fmax(fabs(better[k + 1] - better[k]), fabs(better[k + 1] - at[k + 3])) / fmax(1 - closer, CREEPS);
        const double error = fmax(off[1], closer * off[0]); // two of them may agree by chance
        if (isnan(off[0] + off[1]) || !(error < HOLDS * left) || !(error < to->error)) continue;
        *to = (carom_period_limit){
            .value = better[2], .error = error, .before = off[0], .rate = lambda, .saddle_node = law == 1};
    }
    return !isnan(to->value);
}

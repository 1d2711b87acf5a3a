// energetic.c: see energetic.h.
//
// Where friction has a constant direction (in the plane, while sticking, without friction) u is linear in the normal
// impulse x and its work quadratic: such pieces are exact.  A slip that turns, in space, is integrated over s with dx =
// |u_T| ds, in which it is smooth up to the end of slip.
#include "base/control.h"
#include "base/dormand.h"
#include "base/tolerance.h"
#include "contact/energetic.h"
#include "linalg/dense.h"
#include <carom/system.h>
#include <math.h>

static const double TRACE = 1e-15;     // of the trace of g: mobility that makes a singular A regular
static const double LAST_BITS = 1e-15; // of an interval's end: where a search is done
static const double STOPPED = 1e-14;   // of the speed before the impact: slip has ended

enum { M = CAROM_TANGENTS, STATE = 2 * M + 3, PIECES = 16, MOST = 200000 };
enum { U_N = 0, WORK = 1, P_N = 2, U_T = 3, P_T = 3 + M }; // places in the state

typedef struct impact {
    const double *g;
    int ld, m;
    double mu, e;
    double y[STATE];
    bool expands;
    double goal;  // of the work, in expansion
    double speed; // at the start
} impact;

static double g_of(const impact *a, int i, int j) { return a->g[i + j * a->ld]; }

static double size(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * x[i];
    return sqrt(sum);
}

// d = (lambda I + x A)^-1 g_T
static bool shifted(const impact *a, double lambda, double x, double *d) {
    double A[M][M];
    for (int i = 0; i < a->m; ++i) {
        d[i] = g_of(a, 1 + i, 0);
        for (int j = 0; j < a->m; ++j) A[i][j] = x * g_of(a, 1 + i, 1 + j) + (i == j ? lambda : 0);
    }
    return carom_dense_positive(A[0], a->m, M, d);
}

// (IL-7)  friction of a contact without slip: f = -A^-1 g_T sticks where |f| <= mu (A may be singular: then so is g,
//         and a trace of mobility decides); else it slides off along the one direction d that stays, g_T - mu A d =
//         lambda d, lambda > 0:  |(lambda I + mu A)^-1 g_T| = 1
static bool without_slip(const impact *a, double *f) {
    double trace = 0;
    for (int i = 0; i <= a->m; ++i) trace += g_of(a, i, i);
    if (!shifted(a, TRACE * trace, 1, f)) return false;
    if (size(f, a->m) <= a->mu) {
        for (int i = 0; i < a->m; ++i) f[i] = -f[i];
        return true;
    }
    double low = 0, high = 0;
    for (int i = 0; i < a->m; ++i) high += fabs(g_of(a, 1 + i, 0));
    for (int k = 0; k < 200 && high - low > LAST_BITS * high; ++k) {
        const double lambda = 0.5 * (low + high);
        if (!shifted(a, lambda, a->mu, f)) return false;
        *(size(f, a->m) > 1 ? &low : &high) = lambda;
    }
    const double length = size(f, a->m);
    for (int i = 0; i < a->m; ++i) f[i] *= -a->mu / length;
    return true;
}

// The end of compression, or of the impact: true.
static bool turn(impact *a) {
    if (a->expands) return true;
    a->y[U_N] = 0;
    a->expands = true;
    a->goal = (1 - a->e * a->e) * a->y[WORK];
    return a->e == 0;
}

// A piece with constant f, at most as long as `stop`; *ended: the impact is over.  False: it would never end.  A
// contact that sticks and whose normal does not yield is jammed: what it has not given back is lost.
static bool straight(impact *a, const double *f, double stop, bool sticks, bool *ended) {
    // of the normal entry: a difference of entries that is no more than their rounding
    static const double JAMMED = 1e-10;
    double *y = a->y, slope[1 + M];
    for (int i = 0; i <= a->m; ++i) {
        slope[i] = g_of(a, i, 0);
        for (int j = 0; j < a->m; ++j) slope[i] += g_of(a, i, 1 + j) * f[j];
    }
    *ended = sticks && slope[0] <= JAMMED * g_of(a, 0, 0);
    if (*ended) return true;
    double x = HUGE_VAL;
    if (!a->expands && slope[0] > 0) x = -y[U_N] / slope[0];
    if (a->expands) {
        // u_N x + slope x^2/2 = goal - W
        const double left = a->goal - y[WORK], root = y[U_N] * y[U_N] + 2 * slope[0] * left;
        if (left <= 0) x = 0;
        else if (root >= 0 && y[U_N] + sqrt(root) > 0) x = 2 * left / (y[U_N] + sqrt(root));
    }
    const bool stops = stop < x;
    if (stops) x = stop;
    if (!(x < HUGE_VAL)) return false;
    y[WORK] += (y[U_N] + 0.5 * slope[0] * x) * x;
    y[U_N] += slope[0] * x;
    y[P_N] += x;
    for (int i = 0; i < a->m; ++i) {
        y[U_T + i] = stops ? 0 : y[U_T + i] + slope[1 + i] * x;
        y[P_T + i] += f[i] * x;
    }
    *ended = !stops && turn(a);
    return true;
}

// dy/ds of a slip, dx = |u_T| ds
static void rate(const impact *a, const double *y, double *dy) {
    const double r = size(y + U_T, a->m);
    dy[U_N] = r * g_of(a, 0, 0);
    dy[WORK] = r * y[U_N];
    dy[P_N] = r;
    for (int i = 0; i < a->m; ++i) {
        dy[U_N] -= a->mu * g_of(a, 0, 1 + i) * y[U_T + i];
        dy[P_T + i] = -a->mu * y[U_T + i];
        dy[U_T + i] = r * g_of(a, 1 + i, 0);
        for (int j = 0; j < a->m; ++j) dy[U_T + i] -= a->mu * g_of(a, 1 + i, 1 + j) * y[U_T + j];
    }
}

// One step of Dormand and Prince, y_1 of order 5; returns its error relative to tolerance.
static double leap(const impact *a, double h, double *y_1) {
    static const double A[] = {CAROM_DORMAND_A};
    static const double E[7] = {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};
    static const double TOL = 1e-12; // error of a piece, relative: rounding for all that follows
    double k[7][STATE] = {{0}};
    rate(a, a->y, k[0]);
    for (int l = 0; l < 6; ++l) {
        for (int i = 0; i < STATE; ++i) {
            y_1[i] = a->y[i];
            for (int j = 0; j <= l; ++j) y_1[i] += h * A[l * (l + 1) / 2 + j] * k[j][i];
        }
        rate(a, y_1, k[l + 1]);
    }
    double error = 0;
    const double slip = size(a->y + U_T, a->m), mass = 1 / g_of(a, 0, 0);
    for (int i = 0; i < STATE; ++i) {
        double x = 0;
        for (int l = 0; l < 7; ++l) x += h * E[l] * k[l][i];
        const bool impulse = i == P_N || i >= P_T;
        const double scale = i == WORK  ? a->speed * a->speed * mass
                             : impulse  ? a->speed * mass
                             : i == U_N ? a->speed
                                        : slip;
        error = fmax(error, fabs(x) / (TOL * scale));
    }
    return error;
}

// What is below zero until the end of compression, or of the impact.
static double until(const impact *a, const double *y) { return a->expands ? y[WORK] - a->goal : y[U_N]; }

// A slip that turns, up to its end, that of compression or that of the impact.
static bool curved(impact *a, bool *ended) {
    double h = 0, y_1[STATE];
    for (int i = 0; i < a->m; ++i) {
        h = fmax(h, fabs(g_of(a, 1 + i, 0)));
        for (int j = 0; j < a->m; ++j) h = fmax(h, a->mu * fabs(g_of(a, 1 + i, 1 + j)));
    }
    h = 0.01 / h;
    for (int k = 0; k < MOST; ++k) {
        const double error = leap(a, h, y_1);
        if (!(error < HUGE_VAL)) return false;
        const double factor = carom_step_factor(fmax(error, CAROM_ESTIMATE), 5, 0.9, 0.2, 5);
        if (error > 1) {
            h *= factor;
            continue;
        }
        if (until(a, y_1) >= 0) {
            // The piece of the step that ends there, by false position (Illinois).
            double low = 0, high = h, f_low = until(a, a->y), f_high = until(a, y_1);
            for (int i = 0; i < 100 && f_high > 0 && high - low > LAST_BITS * high; ++i) {
                const double x = f_low < 0 ? high - f_high * (high - low) / (f_high - f_low) : 0.5 * (low + high);
                leap(a, x, y_1);
                const double f = until(a, y_1);
                if (f < 0) low = x, f_low = f, f_high *= 0.5;
                else high = x, f_high = f, f_low *= 0.5;
            }
            leap(a, high, y_1);
            for (int i = 0; i < STATE; ++i) a->y[i] = y_1[i];
            *ended = turn(a);
            return true;
        }
        for (int i = 0; i < STATE; ++i) a->y[i] = y_1[i];
        if (size(a->y + U_T, a->m) <= STOPPED * a->speed) {
            for (int i = 0; i < a->m; ++i) a->y[U_T + i] = 0;
            return true;
        }
        h *= factor;
    }
    return false;
}

// The next piece.
static bool follow(impact *a, bool *ended) {
    double f[M] = {0};
    const double *u = a->y + U_T, slip = size(u, a->m);
    if (a->mu == 0 || a->m == 0) return straight(a, f, HUGE_VAL, false, ended);
    if (slip == 0) return without_slip(a, f) && straight(a, f, HUGE_VAL, true, ended);
    if (a->m > 1) return curved(a, ended);
    f[0] = u[0] > 0 ? -a->mu : a->mu;
    const double slope = g_of(a, 1, 0) + g_of(a, 1, 1) * f[0];
    return straight(a, f, slope * u[0] < 0 ? -u[0] / slope : HUGE_VAL, false, ended);
}

bool carom_energetic_impact(const double *g, int ld, int tangents, double mu, double e, const double *u, double *p) {
    impact a = {.g = g, .ld = ld, .m = tangents, .mu = mu, .e = e, .speed = size(u, 1 + tangents)};
    a.y[U_N] = u[0];
    for (int i = 0; i < tangents; ++i) a.y[U_T + i] = u[1 + i];
    bool ended = false;
    if (!(g[0] > 0) || !(a.speed < HUGE_VAL)) return false;
    for (int k = 0; k < PIECES && !ended; ++k)
        if (!follow(&a, &ended)) return false;
    p[0] = a.y[P_N];
    for (int i = 0; i < tangents; ++i) p[1 + i] = a.y[P_T + i];
    return ended;
}

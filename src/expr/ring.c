// ring.c: where a ring is nearest to a line or to another ring: an angle that has no formula, and its derivatives, which have.
//
// The place x = (cos phi, sin phi) of a ring of radius 1 has from a point C of a line along b, or from the centre C of a ring with the axis b,
//     N = |x - C|^2 = p_0 - p_1 cos phi - p_2 sin phi,   z = b.(x - C) = p_3 cos phi + p_4 sin phi - p_5
// and the squares of its distances are
//     line  h = N - z^2,       ring of radius 1 (rings of other radii: scaled)  h = N - 2 rho + 1,  rho = sqrt(N - z^2)
// A minimum over phi is found between samples by Newton's method with bisection, to rounding; the same numbers give the same bits.  There
// may be two: the first is the one farther along b (ring: to the left of C), the second the other; when there is one, both are it.
#include "expr/graph.h"
#include "expr/ring.h"
#include "expr/vector.h"
#include <math.h>

enum { SAMPLES = 24, MOST_MINIMA = 8 };
static const double ON_AXIS = 1e-30; // square of the distance from the axis: below, the nearest place is anywhere
static const double CUBED = 1e-9;    // a step of Newton's method after which the next is below rounding
static const double FLAT = 1e-10;    // slope of F below which the place moves without bound, and its derivative is not used

typedef struct curve { const double *p; bool ring; } curve;
typedef struct local { double h, F, slope; } local; // h, F = h'/2 and F' at an angle

// (RNG-1)  G = N'/2 - z z';  line F = G;  ring F = N'/2 - G/rho,  F' = N''/2 - G'/rho + G^2/rho^3
static local at(const curve *k, double c, double s) {
    const double *p = k->p, along = p[1] * c + p[2] * s, turn = p[3] * c + p[4] * s;
    const double N = p[0] - along, dN = 0.5 * (p[1] * s - p[2] * c), z = turn - p[5], dz = p[4] * c - p[3] * s;
    const double G = dN - z * dz, dG = 0.5 * along - dz * dz + z * turn, Q = N - z * z;
    if (!k->ring) return (local){Q, G, dG};
    const double rho = sqrt(fmax(Q, ON_AXIS));
    return (local){N - 2 * rho + 1, dN - G / rho, 0.5 * along - dG / rho + G * G / (rho * rho * rho)};
}

static local at_angle(const curve *k, double phi) { return at(k, cos(phi), sin(phi)); }

typedef struct spot { double phi, h, order; } spot; // a minimum; of two, the one with the larger order is the first

static spot spot_at(const curve *k, double phi, double c, double s) {
    const double *p = k->p;
    return (spot){phi, at(k, c, s).h, k->ring ? p[1] * s - p[2] * c : p[3] * c + p[4] * s};
}

// The zero of F between lo, where it is negative, and hi, where it is not.  Steps turn (c, s) without sines; x follows to d^5.
static spot refine(const curve *k, double lo, double hi) {
    double x = 0.5 * (lo + hi), c = cos(x), s = sin(x), d = 1;
    for (int i = 0; i < 100 && fabs(d) > CUBED; ++i) {
        const local y = at(k, c, s);
        if (y.F < 0) lo = x;
        else hi = x;
        d = y.slope > 0 ? -y.F / y.slope : 2 * (hi - lo);
        if (fabs(d) > CUBED && !(x + d > lo && x + d < hi)) d = 0.5 * (lo + hi) - x;
        const double half = 0.5 * d, w = 1 / (1 + half * half), turned = (c * (1 - half * half) - 2 * s * half) * w;
        s = (s * (1 - half * half) + 2 * c * half) * w, c = turned;
        x += d - d * d * d / 12;
    }
    const double phi = atan2(s, c);
    return spot_at(k, phi < 0 ? phi + 2 * acos(-1.0) : phi, c, s);
}

// Where the slope of F changes its sign between two samples; rising: from minus to plus.
static double root_of_slope(const curve *k, double lo, double hi, bool rising) {
    for (int i = 0; i < 50; ++i) {
        const double x = 0.5 * (lo + hi);
        if ((at_angle(k, x).slope < 0) == rising) lo = x;
        else hi = x;
    }
    return 0.5 * (lo + hi);
}

// A minimum between two samples: F goes from minus to plus, at the ends or around a turning point of F inside.
static bool bracket(const curve *k, double *lo, double *hi, local a, local b) {
    if (a.F < 0 && b.F >= 0) return true;
    const bool below = a.F < 0 && b.F < 0 && a.slope > 0 && b.slope < 0, above = a.F > 0 && b.F > 0 && a.slope < 0 && b.slope > 0;
    if (!below && !above) return false;
    const double turn = root_of_slope(k, *lo, *hi, above), F = at_angle(k, turn).F;
    if (below ? !(F > 0) : !(F < 0)) return false;
    if (below) *hi = turn;
    else *lo = turn;
    return true;
}

// Minima between two samples.  Where F is small at both (minima may be about to merge) it is looked at in quarters.
static int cell(const curve *k, double from, double to, local a, local b, double large, spot *found, int room) {
    const int parts = fabs(a.F) + fabs(b.F) < 0.05 * large ? 4 : 1;
    int n = 0;
    for (int i = 0; i < parts; ++i) {
        double lo = from + i * (to - from) / parts, hi = i + 1 < parts ? from + (i + 1) * (to - from) / parts : to;
        const local end = i + 1 < parts ? at_angle(k, hi) : b;
        if (n < room && bracket(k, &lo, &hi, a, end)) found[n++] = refine(k, lo, hi);
        a = end;
    }
    return n;
}

// All minima; without any (F is zero everywhere but for rounding) the lowest sample.
static int minima(const curve *k, spot *found) {
    const double step = 2 * acos(-1.0) / SAMPLES, dc = cos(step), ds = sin(step);
    const double *p = k->p, axis = fabs(p[3]) + fabs(p[4]), large = fabs(p[1]) + fabs(p[2]) + axis * (axis + fabs(p[5])); // F is of this size
    double c = 1, s = 0;
    const local start = at(k, 1, 0);
    local a = start;
    spot low = spot_at(k, 0, 1, 0);
    int n = 0;
    for (int i = 0; i < SAMPLES; ++i) {
        const double lo = i * step, hi = (i + 1) * step;
        if (a.h < low.h) low = spot_at(k, lo, c, s);
        const double turned = c * dc - s * ds;
        s = s * dc + c * ds, c = turned;
        const local b = i + 1 < SAMPLES ? at(k, c, s) : start;
        n += cell(k, lo, hi, a, b, large, found + n, MOST_MINIMA - n);
        a = b;
    }
    if (n == 0) found[n++] = low;
    return n;
}

double carom_ring_nearest(bool ring, int which, const double *p) {
    const curve k = {p, ring};
    spot x[MOST_MINIMA];
    const int n = minima(&k, x);
    int best = 0, second = -1;
    for (int i = 1; i < n; ++i)
        if (x[i].h < x[best].h) best = i;
    for (int i = 0; i < n; ++i)
        if (i != best && (second < 0 || x[i].h < x[second].h)) second = i;
    if (second < 0) return x[best].phi;
    return x[(x[best].order >= x[second].order) == (which == 0) ? best : second].phi;
}

// -- in the graph -------------------------------------------------------------------------------------

carom_node carom_graph_nearest(carom_graph *g, bool ring, int which, const carom_node *p) {
    carom_node pair[3];
    for (int i = 0; i < 3; ++i) pair[i] = carom_graph_apply(g, CAROM_OP_PAIR, p[2 * i], p[2 * i + 1], CAROM_NONE);
    return carom_graph_apply(g, ring ? which ? CAROM_OP_RING_2 : CAROM_OP_RING_1 : which ? CAROM_OP_LINE_2 : CAROM_OP_LINE_1, pair[0], pair[1], pair[2]);
}

// Both of a pair; a derivative that is nothing is the number 0.
static void halves(carom_graph *g, carom_node pair, carom_node *x) {
    if (pair < 0) {
        x[0] = x[1] = carom_graph_fail(g);
        return;
    }
    const carom_vertex v = g->node[pair];
    x[0] = v.op == CAROM_OP_PAIR ? v.a : pair;
    x[1] = v.op == CAROM_OP_PAIR ? v.b : pair;
}

// (RNG-2)  phi' = -(dF/dp p')/F',  0 where F' vanishes: there every place is as near as its neighbours
carom_node carom_ring_rule(carom_graph *g, carom_node phi, const carom_node *d) {
    const carom_vertex v = g->node[phi];
    const bool ring = v.op == CAROM_OP_RING_1 || v.op == CAROM_OP_RING_2;
    carom_node p[6], q[6];
    const carom_node pair[3] = {v.a, v.b, v.c};
    for (int i = 0; i < 3; ++i) halves(g, pair[i], p + 2 * i), halves(g, d[i], q + 2 * i);
    const carom_node c = n_op(g, CAROM_OP_COS, phi, CAROM_NONE), s = n_op(g, CAROM_OP_SIN, phi, CAROM_NONE), half = carom_graph_number(g, 0.5);
    const carom_node along = n_add(g, n_mul(g, p[1], c), n_mul(g, p[2], s)), turn = n_add(g, n_mul(g, p[3], c), n_mul(g, p[4], s));
    const carom_node z = n_sub(g, turn, p[5]), z_1 = n_sub(g, n_mul(g, p[4], c), n_mul(g, p[3], s));
    const carom_node dz = n_sub(g, n_add(g, n_mul(g, q[3], c), n_mul(g, q[4], s)), q[5]), dz_1 = n_sub(g, n_mul(g, q[4], c), n_mul(g, q[3], s));
    const carom_node dN_1 = n_mul(g, half, n_sub(g, n_mul(g, q[1], s), n_mul(g, q[2], c)));
    carom_node slope = n_add(g, n_sub(g, n_mul(g, half, along), n_mul(g, z_1, z_1)), n_mul(g, z, turn));
    carom_node dF = n_sub(g, dN_1, n_add(g, n_mul(g, dz, z_1), n_mul(g, z, dz_1)));
    if (ring) {
        const carom_node N_1 = n_mul(g, half, n_sub(g, n_mul(g, p[1], s), n_mul(g, p[2], c))), G = n_sub(g, N_1, n_mul(g, z, z_1));
        const carom_node Q = n_sub(g, n_sub(g, p[0], along), n_mul(g, z, z)), rho = n_op(g, CAROM_OP_SQRT, Q, CAROM_NONE);
        const carom_node dN = n_mul(g, half, n_sub(g, q[0], n_add(g, n_mul(g, q[1], c), n_mul(g, q[2], s))));
        const carom_node drho = n_div(g, n_sub(g, dN, n_mul(g, z, dz)), rho), bend = n_div(g, G, Q);
        slope = n_add(g, n_sub(g, n_mul(g, half, along), n_div(g, slope, rho)), n_div(g, n_mul(g, bend, G), rho));
        dF = n_add(g, n_sub(g, dN_1, n_div(g, dF, rho)), n_mul(g, bend, drho));
    }
    const carom_node steep = n_op(g, CAROM_OP_LT, carom_graph_number(g, FLAT), slope);
    return n_op(g, CAROM_OP_NEG, carom_graph_apply(g, CAROM_OP_IF, steep, n_div(g, dF, slope), carom_graph_number(g, 0)), CAROM_NONE);
}

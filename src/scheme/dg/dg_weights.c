// dg_weights.c: see dg_weights.h.
//
// Basis polynomials are products of differences; their integrals are taken by Gauss-Legendre quadrature with as
// many points as make it exact.  Cost: O(m^4) once per simulation.
#include "scheme/dg/dg_weights.h"
#include <math.h>

typedef long double real;
enum { POINTS = CAROM_DG_MOST / 2 + 1 }; // Gauss points are exact to degree 2 POINTS - 1 > CAROM_DG_MOST

// Points x and weights w of Gauss-Legendre quadrature on [0, 1], by Newton's method on the Legendre polynomial.
static void gauss(real *x, real *w) {
    const real pi = acosl(-1.0L);
    for (int i = 0; i < POINTS; ++i) {
        real z = cosl(pi * ((real)i + 0.75L) / (POINTS + 0.5L)), slope = 1;
        for (int newton = 0; newton < 8; ++newton) {
            real p = 1, before = 0;
            for (int k = 1; k <= POINTS; ++k) {
                const real next = ((2 * k - 1) * z * p - (k - 1) * before) / k;
                before = p;
                p = next;
            }
            slope = POINTS * (z * p - before) / (z * z - 1);
            z -= p / slope;
        }
        x[i] = 0.5L * (1 - z);
        w[i] = 1 / ((1 - z * z) * slope * slope);
    }
}

// Basis polynomial k on nodes first..last, at x.
static real basis(const real *tau, int first, int last, int k, real x) {
    real value = 1;
    for (int j = first; j <= last; ++j)
        if (j != k) value *= (x - tau[j]) / (tau[k] - tau[j]);
    return value;
}

// Its integral over [0, end].
static real integral(const real *tau, int first, int last, int k, real end, const real *x, const real *w) {
    real sum = 0;
    for (int i = 0; i < POINTS; ++i) sum += w[i] * basis(tau, first, last, k, end * x[i]);
    return end * sum;
}

static void fill(carom_dg_weights *c, bool plus) {
    const int m = c->m, n = m + 1, first = plus ? 1 : 0, last = plus ? m : m - 1, left_out = plus ? 0 : m;
    const real pi = acosl(-1.0L);
    real tau[CAROM_DG_MOST + 1], b[CAROM_DG_MOST + 1] = {0}, x[POINTS], w[POINTS];
    real P[CAROM_DG_MOST + 1][CAROM_DG_MOST + 1], A[CAROM_DG_MOST + 1][CAROM_DG_MOST + 1];
    gauss(x, w);

    // (DG-1)  tau_l = (1 - cos(pi l/m))/2 = sin^2(pi l/(2m)), symmetric to the last bit
    for (int l = 0; l <= m; ++l) {
        const real s = sinl(pi * (2 * l <= m ? l : m - l) / (2.0L * m));
        tau[l] = 2 * l <= m ? s * s : 1 - s * s;
        c->tau[l] = (double)tau[l];
    }
    // (DG-2)  beta_k(tau) = int_0^tau L_k
    for (int k = 0; k <= m; ++k) {
        b[k] = integral(tau, 0, m, k, 1, x, w);
        c->b[k] = (double)b[k];
        for (int l = 0; l <= m; ++l) P[l][k] = integral(tau, 0, m, k, tau[l], x, w);
    }
    // (DG-3)  D+: A_l0 = beta_0, A_lk = beta~_k(tau_l) - beta_0 l~_k;   D-: A_lk = beta~_k(tau_l), A_lm = 0
    for (int l = 0; l <= m; ++l) A[l][left_out] = plus ? b[0] : 0;
    for (int k = first; k <= last; ++k) {
        const real end = basis(tau, first, last, k, tau[left_out]);
        c->l_part[k - first] = (double)end;
        c->b_part[k - first] = (double)integral(tau, first, last, k, 1, x, w);
        for (int l = 0; l <= m; ++l) A[l][k] = integral(tau, first, last, k, tau[l], x, w) - (plus ? b[0] * end : 0);
    }
    // (DG-4)  Q = P A
    for (int l = 0; l <= m; ++l)
        for (int k = 0; k <= m; ++k) {
            real sum = 0;
            for (int j = 0; j <= m; ++j) sum += P[l][j] * A[j][k];
            c->P[l * n + k] = (double)P[l][k];
            c->A[l * n + k] = (double)A[l][k];
            c->Q[l * n + k] = (double)sum;
        }
}

// L_k = 2/m sum'' e_k T_j(y_k) T_j(y),  y = 2x - 1,  y_k = -cos(pi k/m), the first and the last term of a sum and of e
// halved; int T_j dy = (T_(j+1)/(j+1) - T_(j-1)/(j-1))/2 for j > 1
void carom_dg_basis(const carom_dg_weights *c, double x, double *value, double *integral) {
    const int m = c->m;
    const double y = 2 * x - 1, pi = acos(-1.0);
    double T[CAROM_DG_MOST + 2] = {1, y}, I[CAROM_DG_MOST + 1] = {y + 1, (y * y - 1) / 2};
    for (int j = 1; j <= m; ++j) T[j + 1] = 2 * y * T[j] - T[j - 1];
    for (int j = 2; j <= m; ++j)
        I[j] = ((T[j + 1] + (j % 2 ? -1 : 1)) / (j + 1) - (T[j - 1] + (j % 2 ? -1 : 1)) / (j - 1)) / 2;
    for (int k = 0; k <= m; ++k) {
        value[k] = integral[k] = 0;
        for (int j = 0; j <= m; ++j) {
            const double weight = (k % m ? 1 : 0.5) * (j % m ? 1 : 0.5) * (j % 2 ? -2 : 2) * cos(pi * j * k / m) / m;
            value[k] += weight * T[j];
            integral[k] += 0.5 * weight * I[j];
        }
    }
}

carom_dg_weights carom_allocate_dg_weights(carom_arena *mem, int m, bool plus) {
    const size_t n = (size_t)m + 1;
    carom_dg_weights c = {.m = m};
    CAROM_ALLOCATE(mem, n, &c.tau, &c.b);
    CAROM_ALLOCATE(mem, n * n, &c.P, &c.A, &c.Q);
    CAROM_ALLOCATE(mem, n, &c.b_part, &c.l_part);
    if (c.tau) fill(&c, plus);
    return c;
}

// exact_beam.c: the planar geometrically exact beam: x, y and the angle of the section, linear shape functions.
//
// Strains in the middle of an element, phi = (phi1 + phi2)/2, r' = (r2 - r1)/l, c = cos phi, s = sin phi:
//     eps = c x' + s y' - 1,   gamma = -s x' + c y',   kappa = (phi2 - phi1)/l                              (FLX-5)
//     V = l/2 (E A eps^2 + G A_s gamma^2 + E I kappa^2)                                                     (FLX-6)
// One point of integration: with two, an element that bends would also have to shear, and thin beams would lock.  With
// B the gradients of the strains, H their second derivatives, D the stiffnesses and sigma = D (strain + b strain'):
//     f = -l B'sigma,   K = l (B'D B + sum sigma H + b B'D (H y)'),   C = b l B'D B                         (FLX-7)
// Mass is constant: rho A for x and y, rho I for the angle.
#include "flex/flex.h"
#include <math.h>
#include "base/scalar.inc"
#include "base/libm.inc"
#include "flex/exact_beam.inc"

static void stress(const carom_member *m, const double *x, double *s) {
    D_strains a;
    D_strain(m, x, &a);
    for (int k = 0; k < 3; ++k) s[k] = m->section[k] * a.e[k];
}

// (FLX-7)  df = -l (B'dsigma + sum sigma H dx),  dsigma = D (B dx + b (y'H dx + B dy))
static void change(const carom_member *m, const double *x, const double *y, const double *dx, const double *dy,
                   double *f) {
    D_strains a;
    const double *D = m->section, b = m->damping_stiffness;
    double H[2][36];
    D_strain(m, x, &a);
    D_hessians(m, &a, H);
    for (int k = 0; k < 3; ++k) {
        double dB[6] = {0};
        for (int i = 0; i < 6 && k < 2; ++i) dB[i] = D_dot6(H[k] + 6 * i, dx);
        const double d = m->l * D[k], sigma = d * (a.e[k] + b * D_dot6(a.B[k], y)),
                     by = d * (D_dot6(a.B[k], dx) + b * (D_dot6(dB, y) + D_dot6(a.B[k], dy)));
        for (int i = 0; i < 6; ++i) f[i] -= by * a.B[k][i] + sigma * dB[i];
    }
}

static void element(const carom_member *m, double *Me, double *Ke) {
    const carom_member_def *d = &m->def;
    const double area = d->density * d->area * m->l, turn = d->density * d->inertia * m->l;
    for (int i = 0; i < 3; ++i) {
        const double mass = i == 2 ? turn : area;
        Me[7 * i] = Me[7 * (i + 3)] = d->lumped ? mass / 2 : mass / 3;
        Me[i + 6 * (i + 3)] = Me[i + 3 + 6 * i] = d->lumped ? 0 : mass / 6;
    }
    double x[6], y[6] = {0}, Ce[36];
    for (int i = 0; i < 6; ++i) x[i] = member_rest(m, i / 3, i % 3);
    D_exact_beam_tangent(m, x, y, Ke, Ce);
}

const flex_kind carom_flex_exact_beam = {.component = {"x", "y", "angle"},
                                         .per = 3,
                                         .stresses = 3,
                                         .rule = EXACT_BEAM_RULE,
                                         .element = element,
                                         .stress = stress,
                                         .change = change};

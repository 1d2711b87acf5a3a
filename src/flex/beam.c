// beam.c: the planar Euler-Bernoulli beam for small displacements: axial u, deflection w, angle = dw/ds.
//
// The axial part is a bar; with E I and l, for (w1, angle1, w2, angle2):
//     K_e = E I/l^3 [12 6l -12 6l; 6l 4l^2 -6l 2l^2; -12 -6l 12 -6l; 6l 2l^2 -6l 4l^2]                      (FLX-3)
//     M_e = rho A l/420 [156 22l 54 -13l; 22l 4l^2 13l -3l^2; 54 13l 156 -22l; -13l -3l^2 -22l 4l^2]        (FLX-4)
// lumped: rho A l/2 for w and rho A l^3/78 for the angle: the diagonal of (FLX-4), scaled to the right mass.
// The section has no rotary inertia of its own.
#include "flex/bending.h"
#include "flex/flex.h"
#include <string.h>

void carom_flex_hermite(double l, double r, double *N, double *dN) {
    N[0] = 1 - r * r * (3 - 2 * r);
    N[1] = l * r * (1 - r) * (1 - r);
    N[2] = r * r * (3 - 2 * r);
    N[3] = -l * r * r * (1 - r);
    dN[0] = -6 * r * (1 - r) / l;
    dN[1] = (1 - r) * (1 - 3 * r);
    dN[2] = 6 * r * (1 - r) / l;
    dN[3] = r * (3 * r - 2);
}

void carom_flex_slopes(double l, double G[16]) {
    const double G0[16] = {36,  3 * l,  -36, 3 * l,  3 * l, 4 * l * l, -3 * l, -l * l,
                           -36, -3 * l, 36,  -3 * l, 3 * l, -l * l,    -3 * l, 4 * l * l};
    memcpy(G, G0, sizeof G0);
}

// Bending matrices of one plane.
void carom_flex_bending(double l, double EI, double mass, bool lumped, double K[16], double M[16]) {
    const double k = EI / (l * l * l), c = mass / 420;
    const double K0[16] = {12,  6 * l,  -12, 6 * l, 6 * l, 4 * l * l, -6 * l, 2 * l * l,
                           -12, -6 * l, 12,  -6 * l, 6 * l, 2 * l * l, -6 * l, 4 * l * l};
    const double M0[16] = {156, 22 * l,  54,  -13 * l,     22 * l,  4 * l * l,  13 * l,  -3 * l * l,
                           54,  13 * l,  156, -22 * l,     -13 * l, -3 * l * l, -22 * l, 4 * l * l};
    for (int e = 0; e < 16; ++e) {
        K[e] = k * K0[e];
        M[e] = lumped ? 0 : c * M0[e];
    }
    if (!lumped) return;
    M[0] = M[10] = mass / 2;
    M[5] = M[15] = mass * l * l / 78;
}

static void element(const carom_member *m, double *Me, double *Ke) {
    static const int at[4] = {1, 2, 4, 5}; // w, angle of the two nodes
    const carom_member_def *d = &m->def;
    const double k = d->modulus * d->area / m->l, mass = d->density * d->area * m->l;
    double K[16], M[16];
    carom_flex_bending(m->l, d->modulus * d->inertia, mass, d->lumped, K, M);
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) {
            Ke[at[i] + 6 * at[j]] = K[i + 4 * j];
            Me[at[i] + 6 * at[j]] = M[i + 4 * j];
        }
    Ke[0] = Ke[21] = k;
    Ke[3] = Ke[18] = -k;
    Me[0] = Me[21] = d->lumped ? mass / 2 : mass / 3;
    Me[3] = Me[18] = d->lumped ? 0 : mass / 6;
}

// N = E A u', V = -(E I w'')', moment = E I w'' in the middle.
static void stress(const carom_member *m, const double *x, double *s) {
    const double l = m->l, EI = m->def.modulus * m->def.inertia;
    s[0] = m->def.modulus * m->def.area * (x[3] - x[0]) / l;
    s[1] = -EI * (12 * (x[1] - x[4]) / l + 6 * (x[2] + x[5])) / (l * l);
    s[2] = EI * (x[5] - x[2]) / l;
}

const flex_kind carom_flex_beam = {
    .component = {"u", "w", "angle"}, .per = 3, .stresses = 3, .linear = true, .element = element, .stress = stress};

// spatial_beam.c: the spatial Euler-Bernoulli beam with torsion for small displacements.
//
// Along the own axes: u (a bar), v with rz = dv/ds and w with -ry = dw/ds (bending, FLX-3 and FLX-4), rx (torsion):
//     K_e = G J/l [1 -1; -1 1],     M_e = rho (I_y + I_z) l/6 [2 1; 1 2]  or  /2 I                          (FLX-8)
#include "flex/bending.h"
#include "flex/flex.h"

static void pair(double *A, int i, double same, double other) {
    A[i + 12 * i] = A[(i + 6) + 12 * (i + 6)] = same;
    A[i + 12 * (i + 6)] = A[(i + 6) + 12 * i] = other;
}

// Bending of component c with the rotation r; sign: of the rotation in terms of the slope.
static void bend(double *A, const double *B, int c, int r, double sign) {
    const int at[4] = {c, r, c + 6, r + 6};
    const double s[4] = {1, sign, 1, sign};
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) A[at[i] + 12 * at[j]] = s[i] * s[j] * B[i + 4 * j];
}

static void element(const carom_member *m, double *Me, double *Ke) {
    const carom_member_def *d = &m->def;
    const double l = m->l, mass = d->density * d->area * l, turn = d->density * (d->inertia + d->inertia_v) * l;
    const double k = d->modulus * d->area / l, t = d->shear_modulus * d->torsion / l;
    double K[16], M[16];
    pair(Ke, 0, k, -k);
    pair(Ke, 3, t, -t);
    pair(Me, 0, d->lumped ? mass / 2 : mass / 3, d->lumped ? 0 : mass / 6);
    pair(Me, 3, d->lumped ? turn / 2 : turn / 3, d->lumped ? 0 : turn / 6);
    carom_flex_bending(l, d->modulus * d->inertia_v, mass, d->lumped, K, M);
    bend(Ke, K, 1, 5, 1);
    bend(Me, M, 1, 5, 1);
    carom_flex_bending(l, d->modulus * d->inertia, mass, d->lumped, K, M);
    bend(Ke, K, 2, 4, -1);
    bend(Me, M, 2, 4, -1);
}

void carom_flex_section(double l, double EI, double w1, double a1, double w2, double a2, double *V, double *M) {
    *V = -EI * (12 * (w1 - w2) / l + 6 * (a1 + a2)) / (l * l);
    *M = EI * (a2 - a1) / l;
}

static void stress(const carom_member *m, const double *x, double *s) {
    const carom_member_def *d = &m->def;
    const double l = m->l;
    s[0] = d->modulus * d->area * (x[6] - x[0]) / l;
    s[3] = d->shear_modulus * d->torsion * (x[9] - x[3]) / l;
    carom_flex_section(l, d->modulus * d->inertia_v, x[1], x[5], x[7], x[11], &s[1], &s[5]);
    carom_flex_section(l, d->modulus * d->inertia, x[2], -x[4], x[8], -x[10], &s[2], &s[4]);
}

const flex_kind carom_flex_spatial_beam = {.component = {"u", "v", "w", "rx", "ry", "rz"}, .per = 6, .stresses = 6,
                                           .linear = true, .element = element, .stress = stress};

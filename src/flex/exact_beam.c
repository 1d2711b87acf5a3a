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

typedef struct strains {
    double e[3];    // eps, gamma, kappa
    double B[3][6]; // by the six unknowns
    double c, s;
} strains;

static void strain(const carom_member *m, const double *x, strains *a) {
    const double l = m->l, phi = 0.5 * (x[2] + x[5]), dx = (x[3] - x[0]) / l, dy = (x[4] - x[1]) / l;
    const double c = cos(phi), s = sin(phi);
    a->c = c;
    a->s = s;
    a->e[0] = c * dx + s * dy - 1;
    a->e[1] = c * dy - s * dx;
    a->e[2] = (x[5] - x[2]) / l;
    const double turn0 = 0.5 * a->e[1], turn1 = -0.5 * (1 + a->e[0]); // by either angle
    const double B[3][6] = {{-c / l, -s / l, turn0, c / l, s / l, turn0},
                            {s / l, -c / l, turn1, -s / l, c / l, turn1},
                            {0, 0, -1 / l, 0, 0, 1 / l}};
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 6; ++i) a->B[k][i] = B[k][i];
}

static void stiffness(const carom_member *m, double D[3]) {
    D[0] = m->def.modulus * m->def.area;
    D[1] = m->def.shear_modulus * m->def.shear_area;
    D[2] = m->def.modulus * m->def.inertia;
}

static double dot6(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < 6; ++i) sum += a[i] * b[i];
    return sum;
}

static void internal(const carom_member *m, const double *x, const double *y, double *f) {
    strains a;
    double D[3];
    strain(m, x, &a);
    stiffness(m, D);
    const double b = m->def.damping_stiffness;
    for (int k = 0; k < 3; ++k) {
        const double sigma = m->l * D[k] * (a.e[k] + (b > 0 ? b * dot6(a.B[k], y) : 0));
        for (int i = 0; i < 6; ++i) f[i] -= sigma * a.B[k][i];
    }
}

// Second derivatives of eps and gamma.
static void hessians(const carom_member *m, const strains *a, double H[2][36]) {
    const double l = m->l, c = a->c, s = a->s;
    const double T[6] = {0, 0, 0.5, 0, 0, 0.5};                         // the middle's angle
    const double p[6] = {s / l, -c / l, 0, -s / l, c / l, 0};           // -s x' + c y'
    const double q[6] = {-c / l, -s / l, 0, c / l, s / l, 0};           // c x' + s y'
    for (int j = 0; j < 6; ++j)
        for (int i = 0; i < 6; ++i) {
            H[0][i + 6 * j] = p[i] * T[j] + T[i] * p[j] - (1 + a->e[0]) * T[i] * T[j];
            H[1][i + 6 * j] = -(q[i] * T[j] + T[i] * q[j]) - a->e[1] * T[i] * T[j];
        }
}

static void tangent(const carom_member *m, const double *x, const double *y, double *Ke, double *Ce) {
    strains a;
    double D[3], H[2][36];
    strain(m, x, &a);
    stiffness(m, D);
    hessians(m, &a, H);
    const double b = m->def.damping_stiffness;
    for (int e = 0; e < 36; ++e) Ke[e] = Ce[e] = 0;
    for (int k = 0; k < 3; ++k) {
        const double d = m->l * D[k], sigma = d * (a.e[k] + b * dot6(a.B[k], y));
        for (int j = 0; j < 6; ++j) {
            const double Hy = k < 2 ? dot6(H[k] + 6 * j, y) : 0;
            for (int i = 0; i < 6; ++i) {
                const double BB = d * a.B[k][i] * a.B[k][j];
                Ke[i + 6 * j] += BB + (k < 2 ? sigma * H[k][i + 6 * j] : 0) + b * d * a.B[k][i] * Hy;
                Ce[i + 6 * j] += b * BB;
            }
        }
    }
}

static void energy(const carom_member *m, const double *x, const double *y, double *potential, double *dissipation) {
    strains a;
    double D[3];
    strain(m, x, &a);
    stiffness(m, D);
    for (int k = 0; k < 3; ++k) {
        const double rate = dot6(a.B[k], y);
        *potential += 0.5 * m->l * D[k] * a.e[k] * a.e[k];
        *dissipation += m->def.damping_stiffness * m->l * D[k] * rate * rate;
    }
}

static void stress(const carom_member *m, const double *x, double *s) {
    strains a;
    double D[3];
    strain(m, x, &a);
    stiffness(m, D);
    for (int k = 0; k < 3; ++k) s[k] = D[k] * a.e[k];
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
    for (int i = 0; i < 6; ++i) x[i] = carom_flex_rest(m, i / 3, i % 3);
    tangent(m, x, y, Ke, Ce);
}

const flex_kind carom_flex_exact_beam = {.component = {"x", "y", "angle"}, .per = 3, .stresses = 3, .element = element,
                                         .internal = internal, .tangent = tangent, .energy = energy, .stress = stress};

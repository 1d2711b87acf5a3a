// shaft.c: a round shaft that turns about its axis: two deflections v, w, their slopes rz = dv/ds, ry = -dw/ds, and the
// angle rx about the axis; flywheels on its nodes.
//
// Bending in a frame that does not turn with the shaft: a round section is the same in both.  Every element has its own
// length and radius; in each plane, for the deflections and slopes of its two nodes, (FLX-3), (FLX-4) and
//     M_r = rho I/(30 l) [36 3l -36 3l; 3l 4l^2 -3l -l^2; -36 -3l 36 -3l; 3l -l^2 -3l 4l^2]                  (FLX-10)
// for the turning of the sections; torsion by (FLX-8).  With a = (v1, rz1, v2, rz2), b = (w1, -ry1, w2, -ry2) and the
// mean Omega of rx' over the element the gyroscopic forces are
//     f_a = -2 Omega M_r b',     f_b = 2 Omega M_r a'                                                       (FLX-11)
// and of a flywheel with inertia J_p about the axis
//     f_ry = -J_p rx' rz',       f_rz = J_p rx' ry'                                                         (FLX-12)
// They have no power.  What bending does to the spin is of second order and left out.
#include "flex/bending.h"
#include "flex/flex.h"
#include <stdlib.h>
#include <string.h>

enum { V, W, RX, RY, RZ, PER, D = 2 * PER }; // components of a node; unknowns of an element
// The planes of a and b: unknowns of an element, and their signs as deflections and slopes.
static const int plane[2][4] = {{V, RZ, PER + V, PER + RZ}, {W, RY, PER + W, PER + RY}};
static const double sign[2][4] = {{1, 1, 1, 1}, {1, -1, 1, -1}};

// -- elements -----------------------------------------------------------------------------------------------------

// (FLX-10)
static void rotary(double l, double turn, double M[16]) {
    const double c = turn / (30 * l);
    const double M0[16] = {36,  3 * l,  -36, 3 * l,  3 * l, 4 * l * l, -3 * l, -l * l,
                           -36, -3 * l, 36,  -3 * l, 3 * l, -l * l,    -3 * l, 4 * l * l};
    for (int e = 0; e < 16; ++e) M[e] = c * M0[e];
}

static flex_shaft element_of(const carom_member_def *d, double s, double l, double A, double I, double J) {
    flex_shaft x = {.s = s, .l = l, .mass = d->density * A * l, .turn = d->density * I, .EI = d->modulus * I,
                    .GJ = d->shear_modulus * J};
    carom_flex_bending(l, x.EI, x.mass, false, x.K, x.M);
    rotary(l, x.turn, x.R);
    for (int e = 0; e < 16; ++e) x.M[e] += x.R[e];
    return x;
}

bool carom_flex_shaft_elements(carom_member *m) {
    const double pi = 3.14159265358979323846;
    carom_member_def *d = &m->def;
    m->shaft = calloc((size_t)d->elements, sizeof *m->shaft);
    m->wheel = calloc((size_t)d->nflywheels + 1, sizeof *m->wheel);
    if (!m->shaft || !m->wheel) return false;
    if (d->nflywheels) memcpy(m->wheel, d->flywheels, (size_t)d->nflywheels * sizeof *m->wheel);
    m->nwheel = d->nflywheels;
    double s = 0;
    for (int e = 0; e < d->elements; ++e) {
        if (!d->shaft) {
            m->shaft[e] = element_of(d, m->l * e, m->l, d->area, d->inertia, d->torsion);
            continue;
        }
        const double r = d->shaft[e].radius, b = d->shaft[e].bore, l = d->shaft[e].length;
        const double A = pi * (r * r - b * b), I = pi / 4 * (r * r * r * r - b * b * b * b);
        m->shaft[e] = element_of(d, s, l, A, I, 2 * I);
        if (e == 0) d->area = A, d->inertia = I, d->torsion = 2 * I; // typical
        s += l;
    }
    if (d->shaft) d->length = s;
    return true;
}

static void put(double *A, const double *B, const int *at, const double *sign) {
    for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 4; ++i) A[at[i] + D * at[j]] = sign[i] * sign[j] * B[i + 4 * j];
}

static void twist(double *A, double same, double other) {
    A[RX + D * RX] = A[PER + RX + D * (PER + RX)] = same;
    A[RX + D * (PER + RX)] = A[PER + RX + D * RX] = other;
}

void carom_flex_shaft_matrices(const flex_shaft *s, double *Me, double *Ke) {
    for (int p = 0; p < 2; ++p) {
        put(Ke, s->K, plane[p], sign[p]);
        put(Me, s->M, plane[p], sign[p]);
    }
    twist(Ke, s->GJ / s->l, -s->GJ / s->l); // (FLX-8)
    twist(Me, 2 * s->turn * s->l / 3, 2 * s->turn * s->l / 6);
}

// The first element stands for all where only the pattern counts.
static void element(const carom_member *m, double *Me, double *Ke) { carom_flex_shaft_matrices(&m->shaft[0], Me, Ke); }

static double *mass_at(const carom_member *m, int i, int j) {
    return m->mass + (size_t)j * (size_t)(m->mass_band + 1) + (i - j);
}

static bool build(carom_member *m) {
    m->mass = calloc((size_t)m->n * (size_t)(m->mass_band + 1) + 1, sizeof *m->mass);
    if (!m->mass) return false;
    for (int e = 0; e + 1 < m->nodes; ++e) {
        double Me[D * D] = {0}, Ke[D * D] = {0};
        const int *u = m->unknown + e * PER;
        carom_flex_shaft_matrices(&m->shaft[e], Me, Ke);
        for (int j = 0; j < D; ++j)
            for (int i = 0; i < D; ++i)
                if (u[j] >= 0 && u[i] >= u[j] && Me[i + D * j] != 0) *mass_at(m, u[i], u[j]) += Me[i + D * j];
    }
    for (int k = 0; k < m->nwheel; ++k) {
        const carom_flywheel *w = &m->wheel[k];
        const double inertia[PER] = {w->mass, w->mass, w->polar, w->diametral, w->diametral};
        for (int c = 0; c < PER; ++c) {
            const int i = m->unknown[w->node * PER + c];
            if (i >= 0) *mass_at(m, i, i) += inertia[c];
        }
    }
    return true;
}

// -- the state of an element ------------------------------------------------------------------------------------------

// Component c of a node, of positions or rates.
static double value(const carom_member *m, const double *x, int node, int c) {
    const int i = m->unknown[node * PER + c];
    return i >= 0 ? x[i] : 0;
}

// y = a, b of an element (b with the signs of slopes), of positions or rates.
static void gather(const carom_member *m, int e, const double *x, double y[2][4]) {
    const int *u = m->unknown + e * PER;
    for (int p = 0; p < 2; ++p)
        for (int i = 0; i < 4; ++i) {
            const int k = u[plane[p][i]];
            y[p][i] = k >= 0 ? sign[p][i] * x[k] : 0;
        }
}

static void mul(const double *A, const double *x, double *y) { // symmetric, 4 x 4
    for (int i = 0; i < 4; ++i) y[i] = A[4 * i] * x[0] + A[4 * i + 1] * x[1] + A[4 * i + 2] * x[2] + A[4 * i + 3] * x[3];
}

/// Torsion of an element: stiffness and damping, twist and its rate.  The difference of angles, which may be large, comes first.
typedef struct twisted { double k, c, angle, rate; } twisted;

static twisted twisted_of(const carom_member *m, int e, const double *q, const double *v) {
    const flex_shaft *s = &m->shaft[e];
    const double k = s->GJ / s->l;
    return (twisted){.k = k, .c = m->def.damping_stiffness * k + m->def.damping_torsion,
                     .angle = value(m, q, e + 1, RX) - value(m, q, e, RX), .rate = value(m, v, e + 1, RX) - value(m, v, e, RX)};
}

// Omega: the mean of rx'
static double spin_of(const carom_member *m, int e, const double *v) { return 0.5 * (value(m, v, e, RX) + value(m, v, e + 1, RX)); }

// -- force ---------------------------------------------------------------------------------------------------------------

// K (x + b y) + a M y -+ 2 Omega M_r y of the other plane.  Mass damping leaves the spin alone.
static void force(const carom_member *m, const double *q, const double *v, double *f) {
    const double a = m->def.damping_mass, b = m->def.damping_stiffness;
    for (int e = 0; e + 1 < m->nodes; ++e) {
        const flex_shaft *s = &m->shaft[e];
        const int *u = m->unknown + e * PER;
        const double turn = 2 * spin_of(m, e, v);
        double x[2][4], y[2][4];
        gather(m, e, q, x);
        gather(m, e, v, y);
        for (int p = 0; p < 2; ++p) {
            double z[4], elastic[4], inert[4], gyroscopic[4]; // (FLX-11)
            for (int i = 0; i < 4; ++i) z[i] = x[p][i] + b * y[p][i];
            mul(s->K, z, elastic);
            mul(s->M, y[p], inert);
            mul(s->R, y[1 - p], gyroscopic);
            for (int i = 0; i < 4; ++i)
                if (u[plane[p][i]] >= 0)
                    f[u[plane[p][i]]] -= sign[p][i] * (elastic[i] + a * inert[i] + (p ? -turn : turn) * gyroscopic[i]);
        }
        const twisted t = twisted_of(m, e, q, v);
        const double torque = t.k * t.angle + t.c * t.rate;
        if (u[RX] >= 0) f[u[RX]] += torque;
        if (u[PER + RX] >= 0) f[u[PER + RX]] -= torque;
    }
    for (int k = 0; k < m->nwheel; ++k) { // (FLX-12)
        const int node = m->wheel[k].node, *u = m->unknown + node * PER;
        const double H = m->wheel[k].polar * value(m, v, node, RX);
        if (u[RY] >= 0) f[u[RY]] -= H * value(m, v, node, RZ);
        if (u[RZ] >= 0) f[u[RZ]] += H * value(m, v, node, RY);
    }
}

// -- tangents --------------------------------------------------------------------------------------------------------------

static void add(carom_matrix C, int at, int i, int j, double x) {
    if (i >= 0 && j >= 0 && x != 0) *carom_matrix_entry(C, at + i, at + j) += x;
}

// Entry (i, j) of the two planes of element e.
static void bending_tangent(const carom_member *m, int e, const double *v, carom_matrix K, carom_matrix C, int at) {
    const flex_shaft *s = &m->shaft[e];
    const int *u = m->unknown + e * PER;
    const double turn = 2 * spin_of(m, e, v);
    double y[2][4];
    gather(m, e, v, y);
    for (int p = 0; p < 2; ++p) {
        double other[4];
        mul(s->R, y[1 - p], other);
        for (int i = 0; i < 4; ++i) {
            const int row = u[plane[p][i]];
            for (int j = 0; j < 4; ++j) {
                const double k = s->K[i + 4 * j], c = m->def.damping_mass * s->M[i + 4 * j] + m->def.damping_stiffness * k;
                const int same = u[plane[p][j]], across = u[plane[1 - p][j]];
                add(K, at, row, same, sign[p][i] * sign[p][j] * k);
                add(C, at, row, same, sign[p][i] * sign[p][j] * c);
                add(C, at, row, across, sign[p][i] * sign[1 - p][j] * (p ? -turn : turn) * s->R[i + 4 * j]);
            }
            for (int n = 0; n < 2; ++n) add(C, at, row, u[n * PER + RX], (p ? -1 : 1) * sign[p][i] * other[i]); // by Omega
        }
    }
}

static void tangent(const carom_member *m, const double *v, carom_matrix K, carom_matrix C, int at) {
    for (int e = 0; e + 1 < m->nodes; ++e) {
        const int *u = m->unknown + e * PER;
        bending_tangent(m, e, v, K, C, at);
        const twisted t = twisted_of(m, e, v, v);
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) {
                add(K, at, u[i * PER + RX], u[j * PER + RX], i == j ? t.k : -t.k);
                add(C, at, u[i * PER + RX], u[j * PER + RX], i == j ? t.c : -t.c);
            }
    }
    for (int k = 0; k < m->nwheel; ++k) {
        const int node = m->wheel[k].node, *u = m->unknown + node * PER;
        const double J = m->wheel[k].polar, spin = value(m, v, node, RX);
        add(C, at, u[RY], u[RZ], J * spin);
        add(C, at, u[RZ], u[RY], -J * spin);
        add(C, at, u[RY], u[RX], J * value(m, v, node, RZ));
        add(C, at, u[RZ], u[RX], -J * value(m, v, node, RY));
    }
}

// -- energy, stress -----------------------------------------------------------------------------------------------------------

static double square(const double *A, const double *x) {
    double y[4];
    mul(A, x, y);
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3];
}

static void energy(const carom_member *m, const double *q, const double *v, double *potential, double *dissipation) {
    for (int e = 0; e + 1 < m->nodes; ++e) {
        const flex_shaft *s = &m->shaft[e];
        double x[2][4], y[2][4];
        gather(m, e, q, x);
        gather(m, e, v, y);
        for (int p = 0; p < 2; ++p) {
            *potential += 0.5 * square(s->K, x[p]);
            *dissipation += m->def.damping_mass * square(s->M, y[p]) + m->def.damping_stiffness * square(s->K, y[p]);
        }
        const twisted t = twisted_of(m, e, q, v);
        *potential += 0.5 * t.k * t.angle * t.angle;
        *dissipation += t.c * t.rate * t.rate;
    }
}

static void stress(const carom_member *m, int e, const double *x, double *s) {
    const flex_shaft *t = &m->shaft[e];
    carom_flex_section(t->l, t->EI, x[V], x[RZ], x[PER + V], x[PER + RZ], &s[0], &s[4]);
    carom_flex_section(t->l, t->EI, x[W], -x[RY], x[PER + W], -x[PER + RY], &s[1], &s[3]);
    s[2] = t->GJ * (x[PER + RX] - x[RX]) / t->l;
}

static const flex_whole whole = {.build = build, .force = force, .tangent = tangent, .energy = energy, .stress = stress};

const flex_kind carom_flex_shaft = {
    .component = {"v", "w", "rx", "ry", "rz"}, .per = PER, .stresses = 5, .element = element, .whole = &whole};

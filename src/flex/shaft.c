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
#include "flex/shaft.inc"

// -- elements -----------------------------------------------------------------------------------------------------

// (FLX-10)
static void rotary(double l, double turn, double M[16]) {
    const double c = turn / (30 * l);
    carom_flex_slopes(l, M);
    for (int e = 0; e < 16; ++e) M[e] *= c;
}

static flex_shaft element_of(const carom_member_def *d, double s, double l, double A, double I, double J) {
    flex_shaft x = {.s = s, .l = l, .mass = d->density * A * l, .rotary = d->density * I, .EI = d->modulus * I,
                    .GJ = d->shear_modulus * J};
    carom_flex_bending(l, x.EI, x.mass, false, x.K, x.M);
    rotary(l, x.rotary, x.R);
    for (int e = 0; e < 16; ++e) x.M[e] += x.R[e];
    return x;
}

bool carom_flex_shaft_elements(carom_member *m) {
    const double pi = 3.14159265358979323846;
    carom_member_def *d = &m->def;
    m->shaft = calloc((size_t)d->elements, sizeof *m->shaft);
    m->wheel = calloc((size_t)d->nflywheels + 1, sizeof *m->wheel);
    if (!m->shaft || !m->wheel) return false;
    for (int k = 0; k < d->nflywheels; ++k)
        m->wheel[k] =
            (flex_wheel){d->flywheels[k].node, d->flywheels[k].mass, d->flywheels[k].polar, d->flywheels[k].diametral};
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
        put(Ke, s->K, shaft_plane[p], shaft_sign[p]);
        put(Me, s->M, shaft_plane[p], shaft_sign[p]);
    }
    twist(Ke, s->GJ / s->l, -s->GJ / s->l); // (FLX-8)
    twist(Me, 2 * s->rotary * s->l / 3, 2 * s->rotary * s->l / 6);
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
        const flex_wheel *w = &m->wheel[k];
        const double inertia[PER] = {w->mass, w->mass, w->polar, w->diametral, w->diametral};
        for (int c = 0; c < PER; ++c) {
            const int i = m->unknown[w->node * PER + c];
            if (i >= 0) *mass_at(m, i, i) += inertia[c];
        }
    }
    return true;
}

static void stress(const carom_member *m, int e, const double *x, double *s) {
    const flex_shaft *t = &m->shaft[e];
    carom_flex_section(t->l, t->EI, x[V], x[RZ], x[PER + V], x[PER + RZ], &s[0], &s[4]);
    carom_flex_section(t->l, t->EI, x[W], -x[RY], x[PER + W], -x[PER + RY], &s[1], &s[3]);
    s[2] = t->GJ * (x[PER + RX] - x[RX]) / t->l;
}

static const flex_whole whole = {.build = build, .stress = stress};

const flex_kind carom_flex_shaft = {.component = {"v", "w", "rx", "ry", "rz"},
                                    .per = PER,
                                    .stresses = 5,
                                    .rule = SHAFT_RULE,
                                    .element = element,
                                    .whole = &whole};

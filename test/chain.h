// chain.h: a bar of linear elements that hits a wall with its first node, for tests of larger linear systems.
//
// Stiffness-proportional damping and a load at the last node make it a system with M, K, C and f(t), all constant but
// f.
#pragma once
#include "ignoring.h"
#include <carom/carom.h>
#include <math.h>

enum { CHAIN_MOST = 256 };

typedef struct chain {
    carom_system sys;
    carom_contact contact;
    int elements;
    double stiffness, mass; // of one element
    bool lumped;            // else consistent mass
    double gap;             // of node 0 at displacement 0
    double damping;         // C = damping K
    double load, frequency; // force on the last node: load cos(frequency t)
    double q0[CHAIN_MOST], v0[CHAIN_MOST];
} chain;

static inline void chain_pair(carom_matrix A, int e, double same, double other) {
    for (int i = e; i <= e + 1; ++i)
        for (int j = e; j <= e + 1; ++j) {
            double *a = carom_matrix_entry(A, i, j);
            if (a) *a += i == j ? same : other;
        }
}

static inline carom_status chain_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)work, (void)t, (void)q;
    const chain *c = model;
    for (int e = 0; e < c->elements; ++e)
        chain_pair(M, e, c->lumped ? c->mass / 2 : c->mass / 3, c->lumped ? 0 : c->mass / 6);
    return CAROM_OK;
}

static inline carom_status chain_force(const void *model, void *work, double t, const double *q, const double *v,
                                       double *f) {
    (void)work;
    const chain *c = model;
    for (int e = 0; e < c->elements; ++e) {
        const double pull = c->stiffness * (q[e + 1] - q[e] + c->damping * (v[e + 1] - v[e]));
        f[e] += pull;
        f[e + 1] -= pull;
    }
    f[c->elements] += c->load * cos(c->frequency * t);
    return CAROM_OK;
}

static inline carom_status chain_tangent(const void *model, void *work, double t, const double *q, const double *v,
                                         carom_matrix K, carom_matrix C) {
    (void)work, (void)t, (void)q, (void)v;
    const chain *c = model;
    for (int e = 0; e < c->elements; ++e) {
        chain_pair(K, e, c->stiffness, -c->stiffness);
        if (c->damping != 0) chain_pair(C, e, c->damping * c->stiffness, -c->damping * c->stiffness);
    }
    return CAROM_OK;
}

static inline carom_status chain_gaps(const void *model, void *work, double t, const double *q, double *g) {
    (void)work, (void)t;
    g[0] = ((const chain *)model)->gap + q[0];
    return CAROM_OK;
}

static inline carom_status chain_directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t, (void)q;
    if (L->nb == 0) return CAROM_OK;
    if (L->W.count) L->W.count[0] = 1, L->W.row[0] = 0;
    L->W.a[0] = 1;
    return CAROM_OK;
}

static inline carom_status chain_energy(const void *model, void *work, double t, const double *q, const double *v,
                                        double *kinetic, double *potential) {
    (void)work, (void)t;
    const chain *c = model;
    *kinetic = *potential = 0;
    for (int e = 0; e < c->elements; ++e) {
        const double s = q[e + 1] - q[e], a = v[e], b = v[e + 1];
        *potential += 0.5 * c->stiffness * s * s;
        *kinetic += c->lumped ? c->mass / 4 * (a * a + b * b) : c->mass / 6 * (a * a + a * b + b * b);
    }
    return CAROM_OK;
}

/// A bar of n elements with these constants of an element.
static inline void chain_make(chain *c, int n, double stiffness, double mass, bool lumped) {
    *c = (chain){.elements = n, .stiffness = stiffness, .mass = mass, .lumped = lumped};
    c->sys = carom_system_default(n + 1, n + 1, 0, 1);
    c->sys.model = c;
    c->sys.contacts = &c->contact;
    c->sys.flags = CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS | CAROM_LINEAR;
    c->sys.mass_shape = (carom_shape){lumped ? CAROM_DIAGONAL : CAROM_BANDED, n + 1, 1, NULL};
    c->sys.tangent_shape = (carom_shape){CAROM_BANDED, n + 1, 1, NULL};
    c->sys.column_stride = 1;
    c->sys.mass = chain_mass;
    c->sys.force = chain_force;
    c->sys.tangent = chain_tangent;
    c->sys.gaps = chain_gaps;
    c->sys.directions = chain_directions;
    c->sys.energy = chain_energy;
}

/// The bouncing bar: E = 900, density 1, length 10, area 1, 200 elements, 10 m/s towards a wall 5.005 m away, e = 0.
static inline void chain_bouncing_bar(chain *c, bool lumped) {
    chain_make(c, 200, 900 / (10.0 / 200), 10.0 / 200, lumped);
    c->gap = 5.005;
    for (int i = 0; i <= 200; ++i) c->v0[i] = -10;
}

static inline carom_sim *chain_sim(const chain *c, const char *scheme, const char *const *options, double h,
                                   double t_end, carom_error *err) {
    carom_sim_def d = carom_sim_default();
    d.system = &c->sys;
    d.scheme = scheme;
    d.options = ignoring_impacts(scheme, &c->sys, options);
    d.h = h;
    d.t_end = t_end;
    d.q0 = c->q0;
    d.v0 = c->v0;
    return carom_sim_create(&d, err);
}

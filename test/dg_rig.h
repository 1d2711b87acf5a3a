// dg_rig.h: runs of the discontinuous Galerkin schemes, and systems that several of their tests have in common.
#pragma once
#include "schemes.h"

static const char *const both[] = {"dg-minus", "dg-plus"};

// Options of a run: order=m, and another one or NULL.
typedef struct opts {
    char order[16];
    const char *list[3];
} opts;
static const char *const *with(opts *o, int m, const char *more) {
    snprintf(o->order, sizeof o->order, "order=%d", m);
    o->list[0] = o->order;
    o->list[1] = more;
    o->list[2] = NULL;
    return o->list;
}

static carom_sim *sim_for(const carom_system *sys, const char *scheme, const char *const *options, double h,
                          double t_end, const double *q0, const double *v0) {
    carom_error err;
    carom_sim_def d = carom_sim_default();
    d.system = sys, d.scheme = scheme, d.options = options, d.h = h, d.t_end = t_end, d.q0 = q0, d.v0 = v0;
    carom_sim *sim = carom_sim_create(&d, &err);
    if (!sim) fail_msg("%s", err.text);
    return sim;
}

static double halved(double e_coarse, double e_fine) { return log2(e_coarse / e_fine); } // order when h is halved

static carom_status unit_mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    (void)model, (void)work, (void)t, (void)q;
    for (int i = 0; i < M.shape.n; ++i) *carom_matrix_entry(M, i, i) = 1;
    return CAROM_OK;
}
static carom_status floor_gap(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = q[0];
    return CAROM_OK;
}
static carom_status square_load(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work, (void)q, (void)v;
    f[0] = -10 * t * t;
    return CAROM_OK;
}
static const carom_contact half = {.restitution = 0.5};

// A bead on the unit circle, pressed on it from outside by a varying load and driven around.
static carom_status bead_force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    (void)model, (void)work;
    const double r = hypot(q[0], q[1]), load = 80 + 20 * sin(3 * t);
    f[0] = -load * q[0] / r - 2 * q[1] + 0.3 * cos(2 * t) - 0.1 * v[0];
    f[1] = -load * q[1] / r + 2 * q[0] - 1 - 0.1 * v[1];
    return CAROM_OK;
}
static carom_status bead_gap(const void *model, void *work, double t, const double *q, double *g) {
    (void)model, (void)work, (void)t;
    g[0] = hypot(q[0], q[1]) - 1;
    return CAROM_OK;
}
static carom_status bead_direction(const void *model, void *work, double t, const double *q, carom_local *L) {
    (void)model, (void)work, (void)t;
    const double r = hypot(q[0], q[1]);
    for (int k = 0; k < L->nb; ++k) L->W.a[2 * k] = q[0] / r, L->W.a[2 * k + 1] = q[1] / r;
    return CAROM_OK;
}
static carom_status bead_curvature(const void *model, void *work, double t, const double *q, const double *v,
                                   const carom_local *L, double *kappa) {
    (void)model, (void)work, (void)t;
    const double r = hypot(q[0], q[1]), u = (q[0] * v[0] + q[1] * v[1]) / r;
    for (int k = 0; k < L->nb; ++k) kappa[k] = (v[0] * v[0] + v[1] * v[1] - u * u) / r;
    return CAROM_OK;
}
static carom_system bead(bool bilateral) {
    carom_system s = carom_system_default(2, 2, bilateral, !bilateral);
    s.flags = CAROM_CONSTANT_MASS | CAROM_TIMELESS_GAPS;
    s.contacts = bilateral ? NULL : &half;
    s.mass = unit_mass, s.force = bead_force, s.gaps = bead_gap, s.directions = bead_direction,
    s.curvature = bead_curvature;
    return s;
}

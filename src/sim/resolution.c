// resolution.c: the fastest vibration and the fastest decay of the model, which limit the step; with the same factors,
// accelerations with joints and a check of the mass.
//
// Both are estimated by a few steps of the power method with differences of forces: with K = -df/dq and C = -df/dv,
// reduced to motions that joints allow, omega^2 is the largest eigenvalue of M^-1 K and delta that of M^-1 C.  That
// costs a dozen evaluations of forces where the step is short, at the start and when the number of steps has doubled;
// in carom_sim_ledger() once more, if the step was too long every time.
#include "base/pages.h"
#include "base/option.h"
#include "contact/delassus.h"
#include "linalg/dense.h"
#include "linalg/matrix.h"
#include "sim/sim.h"
#include <math.h>
#include <string.h>

// iterations that show that nothing is fast; for a value; rows of joints: G is dense; in every step
enum { FEW = 3, MANY = 16, MOST_JOINTS = 200, FEW_JOINTS = 60 };
static const double SHORT = 0.1;       // h omega, or h delta: no scheme minds
static const double DEPENDENT = 1e-12; // joints whose directions agree to this are one
static const double DIFFERENCE = 6e-6; // of the size: central differences, where rounding and the error of third order
                                       // are equal
static const double TRACE = 1e-10;     // of the largest mass

// Are steps of the size that was given taken?
static bool fixed_steps(const carom_sim *sim) {
    const carom_option *own = sim->scheme->options;
    const int i = carom_option_find(own, "adaptive", strlen("adaptive"));
    return !sim->scheme->controls_own_steps && sim->opt[carom_option_count(own) + CAROM_OPT_ADAPTIVE] == 0 &&
           !(i >= 0 && sim->opt[i] == 1);
}

void carom_allocate_resolution(carom_sim *sim, carom_arena *mem) {
    const carom_system *sys = sim->step.sys;
    carom_resolution *r = &sim->resolution;
    const size_t nv = (size_t)sys->nv, ne = (size_t)sys->ne;
    r->on = fixed_steps(sim) && sys->ne <= MOST_JOINTS && sys->nv > 0;
    r->joints = ne > 0 && (r->on || (sys->nc > 0 && ne <= FEW_JOINTS));
    if (r->on) {
        CAROM_ALLOCATE(mem, nv, &r->x, &r->y, &r->z, &r->v, &r->f);
        r->q = carom_allocate(mem, (size_t)sys->nq);
    }
    if (r->on || r->joints) r->F = carom_allocate_factor(mem, sys->mass_shape, true);
    if (!r->joints) return;
    r->L = carom_allocate_local(mem, sys);
    r->B = carom_allocate(mem, nv * ne);
    r->G = carom_allocate(mem, ne * ne);
    r->u = carom_allocate(mem, 2 * ne);
}

// B = M^-1 W and G = W'B of the joints.
static carom_status reduce(carom_sim *sim, double t, const double *q) {
    carom_resolution *r = &sim->resolution;
    carom_step *s = &sim->step;
    const int nv = s->sys->nv, ne = s->sys->ne;
    CAROM_TRY(carom_mass_factor(s, &r->F, t, q));
    if (ne == 0) return CAROM_OK;
    carom_close_kinds(s, &r->L, CAROM_JOINTS);
    CAROM_TRY(carom_directions(s, &r->L, t, q));
    for (int j = 0; j < ne; ++j) carom_column_expand(r->B + (size_t)j * (size_t)nv, &r->L.W, j);
    carom_delassus_dense(r->G, ne, r->B, &r->L.W, NULL, &r->F, 1, true);
    carom_dense_ldl(r->G, ne, ne, DEPENDENT, r->u);
    return CAROM_OK;
}

// In the steps whose kinetic energy is looked at, unless the scheme factorises M itself.  A scheme that allows
// coordinates without inertia gets a trace of it for them.
carom_status carom_resolution_mass(carom_sim *sim) {
    carom_step *s = &sim->step;
    const bool seen = s->inside->mass_seen;
    s->inside->mass_seen = false;
    if (seen || !sim->resolution.on || s->sys->flags & CAROM_CONSTANT_MASS) return CAROM_OK;
    s->t = sim->kept->t;
    CAROM_TRY(carom_mass(s, s->M, s->t, sim->q));
    double most = 0;
    for (int i = 0; i < s->sys->nv; ++i) most = fmax(most, fabs(*carom_matrix_entry(s->M, i, i)));
    for (int i = 0; sim->scheme->massless && i < s->sys->nv; ++i) *carom_matrix_entry(s->M, i, i) += TRACE * most;
    return carom_mass_factorise(s, &sim->resolution.F);
}

carom_status carom_resolution_joints(carom_sim *sim, double *a, double t, const double *q, const double *v) {
    carom_resolution *r = &sim->resolution;
    const int nv = sim->step.sys->nv, ne = sim->step.sys->ne;
    if (!r->joints || ne > FEW_JOINTS) return CAROM_OK;
    CAROM_TRY(reduce(sim, t, q));
    CAROM_TRY(carom_curvature(&sim->step, r->u, &r->L, t, q, v));
    for (int j = 0; j < ne; ++j) r->u[j] += carom_column_dot(&r->L.W, j, a);
    carom_dense_ldl_solve(r->G, ne, ne, r->u);
    for (int j = 0; j < ne; ++j) carom_axpy(a, -r->u[j], r->B + (size_t)j * (size_t)nv, nv);
    return CAROM_OK;
}

// x -= B G^-1 W'x
static void allow(const carom_sim *sim, double *x) {
    const carom_resolution *r = &sim->resolution;
    const int nv = sim->step.sys->nv, ne = sim->step.sys->ne;
    for (int j = 0; j < ne; ++j) r->u[j] = carom_column_dot(&r->L.W, j, x);
    if (ne > 0) carom_dense_ldl_solve(r->G, ne, ne, r->u);
    for (int j = 0; j < ne; ++j) carom_axpy(x, -r->u[j], r->B + (size_t)j * (size_t)nv, nv);
}

// y = K x, or C x where `rate`
static carom_status apply(carom_sim *sim, double *y, const double *x, bool rate) {
    carom_resolution *r = &sim->resolution;
    carom_step *s = &sim->step;
    const int nv = s->sys->nv;
    const double size = carom_size_moving(s->sys, rate ? sim->v : sim->q, rate ? nv : s->sys->nq),
                 h = DIFFERENCE * fmax(1, size) / carom_norm_max(x, nv);
    for (int side = -1; side <= 1; side += 2) {
        carom_add(r->v, sim->v, rate ? side * h : 0, x, nv);
        carom_move(s, r->q, sim->q, rate ? 0 : side * h, x);
        CAROM_TRY(carom_force(s, side < 0 ? y : r->f, sim->kept->t, r->q, r->v));
    }
    for (int i = 0; i < nv; ++i) y[i] = (y[i] - r->f[i]) / (2 * h);
    return CAROM_OK;
}

// The largest eigenvalue of M^-1 K, or of M^-1 C where `rate`, as the Rayleigh quotient x'K x/x'M x of its mode, and
// that of the other matrix.
static carom_status largest(carom_sim *sim, bool rate, double *own, double *other) {
    carom_resolution *r = &sim->resolution;
    const int nv = sim->step.sys->nv;
    const double h = sim->h, small = rate ? SHORT / h : SHORT * SHORT / (h * h);
    unsigned seed = 12345;
    double inertia = 0;
    *own = *other = 0;
    for (int i = 0; i < nv; ++i) seed = seed * 1664525u + 1013904223u, r->x[i] = (double)(seed >> 8) / 16777216.0 - 0.5;
    allow(sim, r->x);
    for (int k = 1; k <= MANY; ++k) {
        const double size = carom_norm_max(r->x, nv);
        if (!(size > 0)) return CAROM_OK; // joints hold everything, or no force is there
        for (int i = 0; i < nv; ++i) r->x[i] /= size;
        carom_matrix_mul(r->z, sim->step.M, r->x);
        inertia = carom_dot(r->x, r->z, nv);
        CAROM_TRY(apply(sim, r->y, r->x, rate));
        *own = carom_dot(r->x, r->y, nv) / inertia;
        carom_copy(r->z, r->y, nv);
        carom_factor_solve(&r->F, r->z);
        allow(sim, r->z);
        if (k == FEW && !(sqrt(fabs(carom_dot(r->z, r->y, nv)) / inertia) > small)) return CAROM_OK;
        if (k < MANY) carom_copy(r->x, r->z, nv);
    }
    CAROM_TRY(apply(sim, r->z, r->x, !rate));
    *other = carom_dot(r->x, r->z, nv) / inertia;
    return CAROM_OK;
}

bool carom_resolution_short_enough(const carom_sim *sim, carom_pace p) {
    return !(sim->h * sqrt(fmax(p.stiffness, 0)) > SHORT || sim->h * p.damping > SHORT);
}

// The slower of what is known and what is here.
static void slower(carom_pace *p, double stiffness, double damping, bool rate, bool first) {
    if (first || (rate ? damping < p->damping : stiffness < p->stiffness))
        *p = (carom_pace){.stiffness = stiffness, .damping = damping};
}

// Vectors of large systems, until the next time.
static void forget(const carom_sim *sim) {
    const carom_resolution *r = &sim->resolution;
    double *const vectors[] = {r->x, r->y, r->z, r->v, r->f};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; ++i)
        carom_forget(vectors[i], (size_t)sim->step.sys->nv * sizeof *vectors[i]);
    carom_forget(r->q, (size_t)sim->step.sys->nq * sizeof *r->q);
}

void carom_resolution_look(carom_sim *sim, carom_pace pace[2], bool first) {
    double own, other;
    if (!sim->resolution.on ||
        (!first && carom_resolution_short_enough(sim, pace[0]) && carom_resolution_short_enough(sim, pace[1])))
        return;
    if (reduce(sim, sim->kept->t, sim->q) != CAROM_OK ||
        carom_mass(&sim->step, sim->step.M, sim->kept->t, sim->q) != CAROM_OK)
        return;
    if (largest(sim, false, &own, &other) == CAROM_OK && isfinite(own + other))
        slower(&pace[0], own, other, false, first);
    if (largest(sim, true, &own, &other) == CAROM_OK && isfinite(own + other))
        slower(&pace[1], other, own, true, first);
    forget(sim);
}

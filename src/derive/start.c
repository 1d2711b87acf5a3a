// start.c: is the kinetic energy what it must be, and may the motion start where the file says?
#include "model/conditions.h"
#include "model/contours.h"
#include "base/missing.h"
#include "base/random.h"
#include "derive/shapes/shapes.h"
#include "expr/graph.h"
#include "scheme/step.h"
#include "system/system.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double POSITION_TOLERANCE = 1e-8, RATE_TOLERANCE = 1e-8, GAP_TOLERANCE = 1e-9; // relative
static const double QUADRATIC = 1e-9;     // of the energy: T(v) is quadratic up to rounding when T(v/2) = T(v)/4
static const double CONSTANT = 1e-10;     // of the energy: T(0) is 0 up to rounding
static const double ROUNDING = 1e-13;     // of the terms of a relative velocity
static const double ALONG_NORMAL = 1e-6;  // tangential part of a direction below this: it is the normal

// 1/2 v'Mv from the tape's terms, and the sum of absolute values beside it.
static double quadratic(const carom_model *m, void *work, const double *q, const double *v, double *size) {
    double *x = carom_model_scratch(m, work), sum = 0;
    carom_model_eval(m, work, GROUP_MASS, 0, q, v, x);
    *size = 0;
    for (int e = 0; e < m->mass.n; ++e) {
        const int i = m->mass.i[e], j = m->mass.j[e];
        const double term = (i == j ? 0.5 : 1) * x[e] * v[i] * v[j];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

static double kinetic(const carom_model *m, void *work, const double *q, const double *v) {
    double x[2];
    carom_model_eval(m, work, GROUP_ENERGY, 0, q, v, x);
    return x[0];
}

// T = 1/2 v'Mv at the initial position and near it.  M is known not to depend on v, so only a part that is
// constant or linear in v can be left over.
static carom_status check_kinetic(const carom_model *m, void *work, double *q, double *v, carom_error *err) {
    unsigned seed = 1;
    for (int trial = 0; trial < 6; ++trial) {
        for (int i = 0; i < m->nq; ++i)
            // chosen: beside the start by a tenth of sizes
            q[i] = m->q0[i] + (trial ? 0.1 * carom_random(&seed) * (1 + fabs(m->q0[i])) : 0);
        for (int i = 0; i < m->nv; ++i) v[i] = carom_random(&seed) * (1 + fabs(m->v0[i]));
        carom_zero(v + m->state.first, m->state.n); // they have mass and no energy
        double size = 0;
        const double half = quadratic(m, work, q, v, &size), T = kinetic(m, work, q, v);
        if (trial == 0 && !(isfinite(T) && isfinite(half)))
            return carom_model_fault(m, err, m->energy,
                                     "the kinetic energy has no finite value at the initial position; check divisions, "
                                     "roots and logarithms");
        if (!(isfinite(T) && isfinite(half)) || fabs(T - half) <= QUADRATIC * (size + fabs(T))) continue;
        for (int i = 0; i < m->nv; ++i) v[i] = 0;
        const bool rest = fabs(kinetic(m, work, q, v)) > CONSTANT * (size + fabs(T));
        return carom_model_fault(m, err, m->energy,
                                 "the kinetic energy is not quadratic in the rates: it has a part %s; every "
                                 "term must hold two rates as factors%s", rest ? "without rates" : "with a single rate",
                                 rest ? ", the rest belongs into potential" : "");
    }
    return CAROM_OK;
}

// A length of the shape and of the place where it is written.
static double shape_size(const shape *s) {
    const double reach = s->bound_radius < HUGE_VAL ? s->bound_radius : s->radius < HUGE_VAL ? s->radius : 0;
    return fmax(carom_norm_max(s->at, 3), reach);
}

// What a gap or constraint is made of: where all coordinates are 0, nothing else says how large its rounding is.
// Shapes have their sizes, expressions the parts that are added up.
static carom_status part_sizes(const carom_model *m, void *work, double *size, carom_error *err) {
    const int links = m->ne + m->nc, own = m->own.links < links ? m->own.links : links;
    int n = 0;
    for (int id = 0; id < links; ++id) {
        size[id] = 0;
        if (id < own && m->links[id].gap >= n) n = m->links[id].gap + 1;
        if (id < own || !m->npairs || id < m->pairs[0].first) continue;
        const pair *p = &m->pairs[m->pair_of[id - m->pairs[0].first]];
        size[id] = fmax(shape_size(p->A), shape_size(p->B));
    }
    if (n == 0) return CAROM_OK;
    carom_sized *x = malloc((size_t)n * sizeof *x);
    if (!x) return carom_model_no_memory(m, err);
    const double *q = m->q0, *v = m->v0;
    if (m->nmember) carom_model_look(m, work, &q, &v, false);
    carom_graph_sizes(m->graph, carom_model_given(m, work), m->np, q, x, n);
    for (int id = 0; id < own; ++id) {
        const double s = x[m->links[id].gap].size;
        size[id] = s < HUGE_VAL ? s : 0; // not known
    }
    free(x);
    return CAROM_OK;
}

static carom_status check_position(const carom_model *m, int id, double g, double scale, carom_error *err) {
    const constraint *c = &m->links[id];
    const char *kind = c->part ? "joint" : id < m->ne ? "constraint" : "contact";
    if (!isfinite(g))
        return carom_model_fault(
            m, err, c->place,
            "%s '%.60s' has no finite value at the initial position; check divisions, roots and logarithms", kind,
            c->name);
    if (m->followed) return CAROM_OK; // it stands at a solution that was found, not here
    if (c->part && fabs(g) > POSITION_TOLERANCE * scale)
        return carom_model_fault(
            m, err, c->place, "joint '%.60s' is not assembled initially: constraint %d is %.6g, expected 0; %s",
            c->name, c->part, g,
            m->assemble ? "no positions near these let it fit" : "change positions, or use `assemble: yes`");
    if (id < m->ne && fabs(g) > POSITION_TOLERANCE * scale)
        return carom_model_fault(m, err, c->place,
                                 "constraint '%.60s' is %.6g at the initial position, not 0; change `at` of its "
                                 "coordinates (an expression is allowed there)",
                                 c->name, g);
    if (id >= m->ne && g < -GAP_TOLERANCE * scale && m->npairs && id >= m->pairs[0].first) {
        const pair *p = &m->pairs[m->pair_of[id - m->pairs[0].first]];
        return carom_model_fault(m, err, c->place,
                                 "contact '%.60s': '%.60s' and '%.60s' overlap initially (gap %.6g); %s", c->name,
                                 p->A->name, p->B->name, g,
                                 m->project ? "no positions near these let it fit; move one, or leave the contact out"
                                 : m->ne    ? "move one, or use `start: project`"
                                            : "move one, or use `settle: yes`");
    }
    if (id >= m->ne && g < -GAP_TOLERANCE * scale)
        return carom_model_fault(m, err, c->place,
                                 "contact '%.60s' has a negative initial gap (%.6g); %s", c->name, g,
                                 m->project ? "no positions near these let it fit"
                                            : "change the initial positions (`at`) or the sign of the gap, or use "
                                              "`start: project`");
    return CAROM_OK;
}

// The rate of a bilateral constraint must vanish too; say which rate of which coordinate would do.
static carom_status check_rate(const carom_model *m, int id, const double *x, carom_error *err) {
    const constraint *c = &m->links[id];
    const int d = c->dir;
    double u = m->place.w[d] < 0 ? 0 : x[m->W.n + m->place.w[d]], size = fabs(u);
    const double fastest = carom_norm_max(m->v0, m->nv);
    double reach = 0; // were all as fast as that
    int strongest = -1;
    for (int e = m->place.W[d]; e < m->place.W[d + 1]; ++e) {
        u += x[e] * m->v0[m->W.i[e]];
        size += fabs(x[e] * m->v0[m->W.i[e]]);
        reach += fabs(x[e]) * fastest;
        if (strongest < 0 || fabs(x[e]) > fabs(x[strongest])) strongest = e;
    }
    if (fabs(u) <= fmax(RATE_TOLERANCE * size, ROUNDING * reach)) return CAROM_OK;
    if (m->njoints)
        return carom_model_fault(m, err, c->place,
                                 "initial velocities violate %s '%.60s' (rate %.6g, expected 0); give "
                                 "fewer velocities (those not given are completed), others, or use `start: project`",
                                 c->part ? "joint" : "constraint", c->name, u);
    if (strongest < 0 || x[strongest] == 0 || !isfinite(u))
        return carom_model_fault(m, err, c->place,
                                 "constraint '%.60s' is violated initially (rate %.6g, expected 0) and depends on no "
                                 "coordinate; check the expression",
                                 c->name, u);
    const int i = m->W.i[strongest];
    return carom_model_fault(
        m, err, c->place,
        "initial velocities violate constraint '%.60s' (rate %.6g, expected 0); for example set %.60s: {rate: %.15g}",
        c->name, u, carom_model_freedom(m, i), m->v0[i] - u / x[strongest]);
}

// Gradients and the parts by time of what the model itself writes; shapes give theirs everywhere.
static carom_status check_directions(const carom_model *m, int id, const double *x, carom_error *err) {
    const constraint *c = &m->links[id];
    const int end = id + 1 < m->ne + m->nc && m->links[id + 1].dir < m->own.dir ? m->links[id + 1].dir : m->own.dir;
    for (int d = c->dir; d < end; ++d) {
        bool fine = m->place.w[d] < 0 || isfinite(x[m->W.n + m->place.w[d]]);
        for (int e = m->place.W[d]; e < m->place.W[d + 1]; ++e) fine = fine && isfinite(x[e]);
        if (!fine)
            return carom_model_fault(
                m, err, c->place,
                "the %s of '%.60s' has no finite derivative at the initial position; a root, or hypot of zeros, has "
                "none: start near that point",
                d == c->dir ? id < m->ne ? "expression" : "gap" : "slip", c->name);
    }
    return CAROM_OK;
}

// Friction by direction needs tangents: the direction of a closed contact is not its normal.
static carom_status check_tangents(const carom_model *m, void *work, const double *g, double scale, carom_error *err) {
    const carom_system *s = &m->sys;
    bool some = false;
    for (int c = 0; c < m->nc; ++c)
        some = some || (m->contacts[c].ellipse[0] > 0 && g[m->ne + c] <= GAP_TOLERANCE * scale);
    if (!some) return CAROM_OK;
    carom_arena mem = {0};
    carom_local L = carom_allocate_local(&mem, s);
    const size_t size = (mem.used + 63) & ~(size_t)63;
    mem = (carom_arena){.base = aligned_alloc(64, size), .size = size};
    if (!mem.base) return carom_model_no_memory(m, err);
    memset(mem.base, 0, size);
    L = carom_allocate_local(&mem, s);
    carom_status status = CAROM_OK;
    for (int c = 0; c < m->nc && status == CAROM_OK; ++c) {
        if (!(m->contacts[c].ellipse[0] > 0 && g[m->ne + c] <= GAP_TOLERANCE * scale)) continue;
        L.nb = 1;
        L.id[0] = m->ne + c;
        L.at[1] = carom_system_directions(s, m->ne + c);
        if (!L.W.count) carom_zero(L.W.a, L.at[1] * L.W.rows); // the place may have held another contact's columns
        status = s->directions(m, work, 0, m->q0, &L);
        double most[2] = {0};
        for (int k = 0; k < L.at[1]; ++k)
            for (int i = 0; i < (L.W.count ? L.W.count[k] : L.W.rows); ++i)
                most[k > 0] = fmax(most[k > 0], fabs(L.W.a[(size_t)k * (size_t)L.W.stride + (size_t)i]));
        if (status == CAROM_OK && most[1] < ALONG_NORMAL * most[0])
            status = carom_model_fault(m, err, m->links[m->ne + c].place,
                                       "the direction of friction of contact '%.60s' is its normal initially; give one "
                                       "that lies in the tangential plane",
                                       m->links[m->ne + c].name);
    }
    free(mem.base);
    return status;
}

// Gaps and constraints at the initial position.
static carom_status check_positions(const carom_model *m, void *work, carom_error *err) {
    const int links = m->ne + m->nc;
    double *g = calloc(2 * (size_t)links + 1, sizeof *g), *size = g + links, scale = 0, shapes = 0;
    if (!g) return carom_model_no_memory(m, err);
    carom_status status = part_sizes(m, work, size, err);
    carom_model_gaps(m, work, 0, m->q0, g);
    carom_conditions_hide(m, work, g);
    for (int i = 0; i < m->nq; ++i) scale = fmax(scale, fabs(m->q0[i]));
    for (int id = 0; id < links; ++id) scale = fmax(scale, fabs(g[id]));
    for (int i = 0; i < m->nshapes && m->near; ++i) shapes = fmax(shapes, shape_size(&m->shapes[i]));
    if (scale == 0) scale = 1;
    for (int id = 0; id < links && status == CAROM_OK; ++id)
        status = check_position(m, id, g[id], fmax(scale, size[id]), err);
    if (status == CAROM_OK) status = check_tangents(m, work, g, scale, err);
    free(g);
    if (status == CAROM_OK && m->near) status = carom_near_start(m, work, fmax(scale, shapes), err);
    return status == CAROM_OK ? carom_contours_start(m, work, scale, err) : status;
}

static carom_status check_motion(const carom_model *m, void *work, carom_error *err) {
    double *x = carom_model_scratch(m, work);
    carom_status status = CAROM_OK;
    carom_model_directions(m, work, 0, m->q0, (int[]){0}, 0, x);
    for (int id = 0; id < m->ne + m->nc && status == CAROM_OK; ++id) status = check_directions(m, id, x, err);
    for (int id = 0; id < m->ne && status == CAROM_OK; ++id) status = check_rate(m, id, x, err);
    return status;
}

// Rates of first-order states there.
static carom_status check_states(const carom_model *m, void *work, carom_error *err) {
    double *x = carom_model_scratch(m, work);
    if (m->state.n == 0) return CAROM_OK;
    carom_model_eval(m, work, GROUP_FORCE, 0, m->q0, m->v0, x);
    for (int k = 0; k < m->state.n; ++k)
        if (!isfinite(x[m->state.first + k]))
            return carom_model_fault(m, err, &m->mech->states[k].rate,
                                     "the rate of '%.60s' has no finite value at the start; check divisions, roots and "
                                     "logarithms",
                                     m->velocity[m->state.first + k]);
    return CAROM_OK;
}

carom_status carom_model_start(carom_model *m, void *work, carom_error *err) {
    double *x = calloc((size_t)m->nq + (size_t)m->nv + 1, sizeof *x);
    if (!x) return carom_model_no_memory(m, err);
    const carom_status status = check_kinetic(m, work, x, x + m->nq, err);
    free(x);
    CAROM_TRY(status);
    CAROM_TRY(check_positions(m, work, err));
    CAROM_TRY(check_motion(m, work, err));
    return check_states(m, work, err);
}

carom_status carom_model_start_at(carom_model *m, double *q, carom_error *err) {
    if (!m || !q) return CAROM_MISSING(err);
    void *work = carom_model_work(m, err);
    if (!work) return CAROM_NO_MEMORY;
    double *const own = m->q0;
    m->q0 = q;
    carom_status status = m->settle ? carom_model_settle(m, work, err) : CAROM_OK;
    if (status == CAROM_OK) status = check_positions(m, work, err);
    m->q0 = own;
    free(work);
    return status;
}

// functions.c: plain functions as a system; with a base they are added to it.
//
// Ids of the base stay: the contacts that are added stand behind its own, and so do their directions.  The base does
// its part of a frame as if the rest were not there.  Work block: the base's, then scratch.
#include "linalg/matrix.h"
#include "system/system.h"
#include <carom/functions.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct carom_functions {
    carom_functions_def def;
    carom_system base;      // a system without constraints and functions when there is none
    carom_system sys;
    carom_extensions extensions; // of sys
    carom_contact *contacts;
    int first, ndir;        // id of the first constraint here; directions of all here
    size_t scratch;         // place in the work block
};

typedef struct scratch {
    double *g[3];  // ndir
    double *W, *w; // nv x ndir, ndir
    double *q;     // nq
    double *e, *f; // nv
} scratch;

static size_t scratch_count(const carom_functions *m) {
    return (size_t)m->ndir * (4 + (size_t)m->sys.nv) + (size_t)m->sys.nq + 2 * (size_t)m->sys.nv;
}

static scratch scratch_of(const carom_functions *m, void *work) {
    double *x = (double *)(void *)((unsigned char *)work + m->scratch);
    scratch s = {.W = x};
    x += (size_t)m->ndir * (size_t)m->sys.nv;
    for (int i = 0; i < 3; ++i, x += m->ndir) s.g[i] = x;
    s.w = x, x += m->ndir;
    s.q = x, x += m->sys.nq;
    s.e = x, x += m->sys.nv;
    s.f = x;
    return s;
}

static void work_init(const void *model, void *work) {
    const carom_functions *m = model;
    if (m->base.work_init) m->base.work_init(m->base.model, work);
}

// Infinities and NaN must not travel on.
static carom_status finite(const double *x, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; ++i)
        if (!isfinite(x[i])) return CAROM_USER;
    return CAROM_OK;
}

// Local directions of constraint id, and its first one among those here.
static int recorded(const carom_functions *m, int id) {
    return carom_system_recorded(&m->sys, id);
}

static int place(const carom_functions *m, int id) {
    int k = 0;
    for (int i = m->first; i < id; ++i) k += recorded(m, i);
    return k;
}

// -- motion --------------------------------------------------------------------------------------------

static carom_status mass(const void *model, void *work, double t, const double *q, carom_matrix M) {
    const carom_functions *m = model;
    if (m->def.base) return m->base.mass(m->base.model, work, t, q, M);
    CAROM_TRY(m->def.mass(m->def.user, t, q, M.a));
    return finite(M.a, (ptrdiff_t)carom_shape_size(M.shape));
}

static carom_status force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    const carom_functions *m = model;
    if (m->def.base) CAROM_TRY(m->base.force(m->base.model, work, t, q, v, f));
    if (!m->def.force) return CAROM_OK;
    CAROM_TRY(m->def.force(m->def.user, t, q, v, f));
    return finite(f, m->sys.nv);
}

static void move(const void *model, double *q1, const double *q0, double h, const double *v) {
    const carom_functions *m = model;
    m->base.move(m->base.model, q1, q0, h, v);
}

static void lift(const void *model, double *dx, const double *x, const double *v) {
    const carom_functions *m = model;
    m->base.lift(m->base.model, dx, x, v);
}

static void displace(const carom_functions *m, double *q1, const double *q0, double h, const double *v) {
    if (m->base.move) m->base.move(m->base.model, q1, q0, h, v);
    else carom_add(q1, q0, h, v, m->sys.nv);
}

// -- gaps and their derivatives ------------------------------------------------------------------------

static carom_status own_gaps(const carom_functions *m, double t, const double *q, double *g) {
    carom_zero(g, m->ndir);
    CAROM_TRY(m->def.gaps(m->def.user, t, q, g));
    return finite(g, m->ndir);
}

static carom_status gaps(const void *model, void *work, double t, const double *q, double *g) {
    const carom_functions *m = model;
    if (m->first > 0) CAROM_TRY(m->base.gaps(m->base.model, work, t, q, g));
    if (m->ndir == 0) return CAROM_OK;
    const scratch s = scratch_of(m, work);
    CAROM_TRY(own_gaps(m, t, q, s.g[0]));
    for (int id = m->first, k = 0; id < m->sys.ne + m->sys.nc; k += recorded(m, id), ++id) g[id] = s.g[0][k];
    return CAROM_OK;
}

// Third and fourth root of the rounding unit: where rounding and truncation of a first and a second difference meet.
static const double STEP = 6e-6, STEP_2 = 1.2e-4;

// All columns and w by central differences.
static carom_status differences(const carom_functions *m, scratch s, double t, const double *q) {
    const int nv = m->sys.nv;
    for (int j = 0; j < nv; ++j) {
        const double h = STEP * fmax(1, m->sys.nq == nv ? fabs(q[j]) : carom_norm_max(q, m->sys.nq));
        carom_zero(s.e, nv);
        s.e[j] = 1;
        displace(m, s.q, q, h, s.e);
        CAROM_TRY(own_gaps(m, t, s.q, s.g[0]));
        displace(m, s.q, q, -h, s.e);
        CAROM_TRY(own_gaps(m, t, s.q, s.g[1]));
        for (int k = 0; k < m->ndir; ++k) s.W[j + (ptrdiff_t)k * nv] = (s.g[0][k] - s.g[1][k]) / (2 * h);
    }
    const double h = STEP * fmax(1, fabs(t));
    CAROM_TRY(own_gaps(m, t + h, q, s.g[0]));
    CAROM_TRY(own_gaps(m, t - h, q, s.g[1]));
    for (int k = 0; k < m->ndir; ++k) s.w[k] = (s.g[0][k] - s.g[1][k]) / (2 * h);
    return CAROM_OK;
}

// The part of L that the base knows; ids ascend.
static carom_local known(const carom_functions *m, const carom_local *L) {
    carom_local part = *L;
    while (part.nb > 0 && part.id[part.nb - 1] >= m->first) --part.nb;
    return part;
}

static carom_status directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    const carom_functions *m = model;
    const int nv = m->sys.nv;
    carom_local part = known(m, L);
    if (part.nb > 0) CAROM_TRY(m->base.directions(m->base.model, work, t, q, &part));
    if (part.nb == L->nb) return CAROM_OK;
    const scratch s = scratch_of(m, work);
    if (m->def.directions) {
        carom_zero(s.W, (ptrdiff_t)nv * m->ndir);
        carom_zero(s.w, m->ndir);
        CAROM_TRY(m->def.directions(m->def.user, t, q, s.W, s.w));
        CAROM_TRY(finite(s.W, (ptrdiff_t)nv * m->ndir));
        CAROM_TRY(finite(s.w, m->ndir));
    } else {
        CAROM_TRY(differences(m, s, t, q));
    }
    for (int b = part.nb; b < L->nb; ++b)
        for (int k = L->at[b], d = place(m, L->id[b]); k < L->at[b + 1]; ++k, ++d) {
            carom_copy(L->W.a + (ptrdiff_t)k * nv, s.W + (ptrdiff_t)d * nv, nv);
            L->w[k] = s.w[d];
        }
    return CAROM_OK;
}

// Along a constant velocity all of d^2 g/dt^2 is curvature: a second difference, without the noise that a difference of
// differences would have.
static carom_status curvature(const void *model, void *work, double t, const double *q, const double *v,
                              const carom_local *L, double *kappa) {
    const carom_functions *m = model;
    carom_local part = known(m, L);
    if (part.nb > 0) CAROM_TRY(m->base.curvature(m->base.model, work, t, q, v, &part, kappa));
    if (part.nb == L->nb) return CAROM_OK;
    const scratch s = scratch_of(m, work);
    const double h = STEP_2 * fmax(1, carom_norm_max(q, m->sys.nq)) / fmax(1, carom_norm_max(v, m->sys.nv));
    for (int i = 0; i < 3; ++i) {
        displace(m, s.q, q, (i - 1) * h, v);
        CAROM_TRY(own_gaps(m, t + (i - 1) * h, s.q, s.g[i]));
    }
    for (int b = part.nb; b < L->nb; ++b)
        for (int k = L->at[b], d = place(m, L->id[b]); k < L->at[b + 1]; ++k, ++d)
            kappa[k] = (s.g[0][d] - 2 * s.g[1][d] + s.g[2][d]) / (h * h);
    return CAROM_OK;
}

// -- energy ----------------------------------------------------------------------------------------------

static carom_status potential_at(const carom_functions *m, double t, const double *q, double *V) {
    *V = 0;
    if (!m->def.potential) return CAROM_OK;
    CAROM_TRY(m->def.potential(m->def.user, t, q, V));
    return finite(V, 1);
}

static carom_status base_energy(const carom_functions *m, void *work, double t, const double *q, const double *v,
                                double *kinetic, double *potential) {
    *kinetic = *potential = 0;
    if (m->base.energy) return m->base.energy(m->base.model, work, t, q, v, kinetic, potential);
    const carom_shape shape = m->base.mass_shape;
    const scratch s = scratch_of(m, work);
    const carom_matrix M = {shape, s.f + m->sys.nv};
    carom_matrix_zero(M);
    CAROM_TRY(mass(m, work, t, q, M));
    carom_matrix_mul(s.f, M, v);
    *kinetic = 0.5 * carom_dot(v, s.f, m->sys.nv);
    return CAROM_OK;
}

static carom_status energy(const void *model, void *work, double t, const double *q, const double *v, double *kinetic,
                           double *potential) {
    const carom_functions *m = model;
    double V;
    CAROM_TRY(base_energy(m, work, t, q, v, kinetic, potential));
    CAROM_TRY(potential_at(m, t, q, &V));
    *potential += V;
    return CAROM_OK;
}

static carom_status own_power(const carom_functions *m, scratch s, double t, const double *q, const double *v,
                              double *p) {
    carom_zero(s.f, m->sys.nv);
    CAROM_TRY(m->def.force(m->def.user, t, q, v, s.f));
    *p = carom_dot(v, s.f, m->sys.nv);
    return finite(p, 1);
}

// v.f = -dV/dt + external - damping, where dV/dt is taken along v at constant time.
static carom_status power(const void *model, void *work, double t, const double *q, const double *v, double *external,
                          double *damping) {
    const carom_functions *m = model;
    const scratch s = scratch_of(m, work);
    *external = *damping = 0;
    if (m->base.power) CAROM_TRY(m->base.power(m->base.model, work, t, q, v, external, damping));
    if (!m->def.force) return CAROM_OK;
    double still, moving, V[2] = {0, 0};
    CAROM_TRY(own_power(m, s, t, q, v, &moving));
    carom_zero(s.f, m->sys.nv);
    carom_zero(s.e, m->sys.nv);
    CAROM_TRY(m->def.force(m->def.user, t, q, s.e, s.f));
    still = carom_dot(v, s.f, m->sys.nv);
    CAROM_TRY(finite(&still, 1));
    const double h = STEP * fmax(1, carom_norm_max(q, m->sys.nq)) / fmax(1, carom_norm_max(v, m->sys.nv));
    for (int i = 0; i < 2 && m->def.potential; ++i) {
        displace(m, s.q, q, i ? h : -h, v);
        CAROM_TRY(potential_at(m, t, s.q, &V[i]));
    }
    *external += still + (V[1] - V[0]) / (2 * h);
    *damping += still - moving;
    return CAROM_OK;
}

// -- gradients that only the base has ----------------------------------------------------------------------

static carom_status mass_gradient(const void *model, void *work, double t, const double *q, const double *x, double s,
                                  carom_matrix D) {
    const carom_functions *m = model;
    return m->base.mass_gradient(m->base.model, work, t, q, x, s, D);
}

static carom_status reaction_gradient(const void *model, void *work, double t, const double *q, const carom_local *L,
                                      const double *lambda, double s, carom_matrix D) {
    const carom_functions *m = model;
    return m->base.reaction_gradient(m->base.model, work, t, q, L, lambda, s, D);
}

static carom_status rate_gradient(const void *model, void *work, double t, const double *q, const double *v,
                                  const carom_local *L, carom_columns *D) {
    const carom_functions *m = model;
    return m->base.rate_gradient(m->base.model, work, t, q, v, L, D);
}

static carom_status rates(const void *model, void *work, double t, const double *q, const double *v, double *u) {
    const carom_functions *m = model;
    return m->base.speed->rates(m->base.model, work, t, q, v, u);
}

// -- life ------------------------------------------------------------------------------------------------

static carom_status check(const carom_functions_def *def, carom_error *err) {
    if (def->nc < 0 || def->ne < 0)
        return carom_fail(err, CAROM_BAD_INPUT, "numbers of constraints cannot be negative; ne = %d, nc = %d", def->ne,
                          def->nc);
    if (def->base && def->ne > 0)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "only contacts and forces can be added to a system, no bilateral constraints");
    if (def->base && def->mass)
        return carom_fail(err, CAROM_BAD_INPUT, "the system that is added to has its mass already; leave mass out");
    if (def->base && def->base->conditional->nswitches)
        return carom_fail(err, CAROM_UNSUPPORTED,
                          "functions cannot be added to a model whose contacts or bodies are not always there (`exists "
                          "while`, `closes while`)");
    if (def->base) CAROM_TRY(carom_system_check(def->base, err));
    if (!def->base && def->n < 1)
        return carom_fail(err, CAROM_BAD_INPUT, "a system needs at least one coordinate; n = %d", def->n);
    if (!def->base && !def->mass) return carom_fail(err, CAROM_BAD_INPUT, "a system needs the function mass");
    if (def->ne + def->nc > 0 && !def->gaps)
        return carom_fail(err, CAROM_BAD_INPUT, "a system with constraints or contacts needs the function gaps");
    if (def->nc > 0 && !def->contacts)
        return carom_fail(err, CAROM_BAD_INPUT, "a system with %d contacts needs the array contacts", def->nc);
    return CAROM_OK;
}

// What the base gives and the functions leave as it is.
static void inherit(carom_functions *m) {
    const carom_system *b = &m->base;
    carom_system *s = &m->sys;
    carom_extensions *e = &m->extensions;
    const bool more = m->ndir > 0;
    s->flags = b->flags & CAROM_CONSTANT_MASS;
    if (!more) s->flags |= b->flags & (CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS);
    s->mass_shape = b->mass_shape;
    s->mass_gradient = b->mass_gradient ? mass_gradient : NULL;
    if (more) return;
    s->column_stride = b->column_stride;
    s->reaction_gradient = b->reaction_gradient ? reaction_gradient : NULL;
    s->rate_gradient = b->rate_gradient ? rate_gradient : NULL;
    e->speed.rates = b->speed->rates ? rates : NULL;
}

static carom_status friction(const void *model, void *work, double t, const double *q, const double *v,
                             const double *force, double *law) {
    const carom_functions *m = model;
    return m->base.friction(m->base.model, work, t, q, v, force, law);
}

static carom_status kinks(const void *model, void *work, double t, const double *q, const double *v, double *k) {
    const carom_functions *m = model;
    return m->base.events->kinks(m->base.model, work, t, q, v, k);
}

static double jump(const void *model, void *work, double t_0, double t_1) {
    const carom_functions *m = model;
    return m->base.events->next_jump(m->base.model, work, t_0, t_1);
}

static double even(const void *model, void *work, const double *run, double share, double t_0, double t_1) {
    const carom_functions *m = model;
    return m->base.events->limit_step(m->base.model, work, run, share, t_0, t_1);
}

static bool explain(const void *model, void *work, char *text, size_t size) {
    const carom_functions *m = model;
    return m->base.explain(m->base.model, work, text, size);
}

static void inputs(const void *model, void *work, const double *x) {
    const carom_functions *m = model;
    m->base.signals->set(m->base.model, work, x);
}

static carom_status sample(const void *model, void *work, int k, bool effect, double t, const double *q,
                           const double *v, double *x) {
    const carom_functions *m = model;
    return m->base.signals->sample(m->base.model, work, k, effect, t, q, v, x);
}

static double restitution(const void *model, void *work, int contact, double speed) {
    const carom_functions *m = model;
    return m->base.restitution(m->base.model, work, contact, speed);
}

static carom_status fill(carom_functions *m, carom_error *err) {
    const carom_functions_def *def = &m->def;
    const carom_system *b = &m->base;
    carom_system *s = &m->sys;
    carom_extensions *e = &m->extensions;
    *s = carom_system_default(b->nq, b->nv, b->ne + def->ne, b->nc + def->nc);
    carom_system_extend(s, e);
    m->first = b->ne + b->nc;
    m->contacts = calloc((size_t)s->nc + 1, sizeof *m->contacts);
    if (!m->contacts) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for %d contacts", s->nc);
    if (b->nc) memcpy(m->contacts, b->contacts, sizeof *m->contacts * (size_t)b->nc);
    if (def->nc) memcpy(m->contacts + b->nc, def->contacts, sizeof *m->contacts * (size_t)def->nc);
    s->contacts = m->contacts;
    m->def.contacts = NULL;
    s->model = m;
    s->mass = mass;
    s->force = force;
    s->gaps = s->ne + s->nc > 0 ? gaps : NULL;
    s->directions = s->ne + s->nc > 0 ? directions : NULL;
    s->move = b->move ? move : NULL;
    s->lift = b->lift ? lift : NULL;
    s->friction = b->friction ? friction : NULL;
    e->events.nk = b->events->nk;
    e->events.kink_of = b->events->kink_of;
    e->events.kinks = b->events->kinks ? kinks : NULL;
    e->events.next_jump = b->events->next_jump ? jump : NULL;
    e->events.limit_step = b->events->limit_step ? even : NULL;
    e->signals.ni = b->signals->ni, e->signals.nset = b->signals->nset, e->signals.input = b->signals->input,
    e->signals.nsamplers = b->signals->nsamplers, e->signals.samplers = b->signals->samplers;
    e->signals.set = b->signals->set ? inputs : NULL;
    s->explain = b->explain ? explain : NULL;
    e->signals.sample = b->signals->sample ? sample : NULL;
    s->restitution = b->restitution ? restitution : NULL;
    CAROM_TRY(carom_system_check(s, err));
    for (int id = m->first; id < s->ne + s->nc; ++id) m->ndir += recorded(m, id);
    s->flags = def->flags & (CAROM_CONSTANT_MASS | CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS);
    if (def->base) inherit(m);
    // With exact directions curvature is a first difference of them, unless the base has its own to be asked.
    if (s->ne + s->nc > 0 && (m->first == 0 || b->curvature) && (m->ndir == 0 || !def->directions))
        s->curvature = curvature;
    s->energy = energy;
    s->power = power;
    s->work_init = work_init;
    m->scratch = (b->work_size + 63) & ~(size_t)63;
    s->work_size = m->scratch + sizeof(double) * (scratch_count(m) + carom_shape_size(s->mass_shape));
    return CAROM_OK;
}

carom_functions *carom_functions_create(const carom_functions_def *def, carom_error *err) {
    if (!def) return carom_fail(err, CAROM_BAD_INPUT, "the definition of a system of functions is missing"), NULL;
    if (check(def, err) != CAROM_OK) return NULL;
    carom_functions *m = calloc(1, sizeof *m);
    if (!m) {
        carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a system of functions");
        return NULL;
    }
    m->def = *def;
    m->base = def->base ? *def->base : carom_system_default(def->n, def->n, 0, 0);
    if (fill(m, err) != CAROM_OK) {
        carom_functions_destroy(m);
        return NULL;
    }
    return m;
}

void carom_functions_destroy(carom_functions *f) {
    if (!f) return;
    free(f->contacts);
    free(f);
}

const carom_system *carom_functions_system(const carom_functions *f) {
    return &f->sys;
}

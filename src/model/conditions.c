// conditions.c: contacts and bodies that are there only while an expression is positive.
//
// A simulation holds which conditions are met, and tells the work block (carom_system_conditions.set); the functions of
// the system then answer as if the rest were not there:
//     a contact that is off:  g = L, W = 0, w = 0, kappa = 0,   L > 0 constant                          (CND-1)
//     a body that is off:     f = 0 on its velocities, which are 0, and all its contacts are off         (CND-2)
// so that no scheme knows of conditions.  Contacts of a list: near.c leaves out pairs of bodies that are off.
#include "model/conditions.h"
#include "model/pairs.h"
#include <math.h>

static bool *off_of(const carom_model *m, void *work) { return (bool *)((unsigned char *)work + m->at.off); }

static bool hidden(const carom_model *m, const bool *off, int c) {
    const int *needs = m->condition.system->needs[c];
    for (int k = 0; k < CAROM_NEEDS; ++k)
        if (needs[k] > 0 && off[needs[k] - 1]) return true;
    return false;
}

static int velocities_of(const body *b) { return b->space == SPATIAL ? 6 : 3; }

void carom_conditions_hide(const carom_model *m, const void *work, double *g) {
    if (!m->condition.system) return;
    const bool *off = carom_conditions_off(m, work);
    for (int c = 0; c < m->nc; ++c)
        if (hidden(m, off, c)) g[m->ne + c] = m->condition.system->gap;
}

static carom_status gaps(const void *model, void *work, double t, const double *q, double *g) {
    const carom_model *m = model;
    CAROM_TRY(m->condition.system->plain.gaps(m, work, t, q, g));
    carom_conditions_hide(m, work, g);
    return CAROM_OK;
}

static carom_status observe(const void *model, void *work, double t, const double *q, const double *v, double *g,
                            double *external, double *damping) {
    const carom_model *m = model;
    CAROM_TRY(m->condition.system->plain.speed->observe(m, work, t, q, v, g, external, damping));
    carom_conditions_hide(m, work, g);
    return CAROM_OK;
}

static bool off_block(const carom_model *m, const bool *off, const carom_local *L, int b) {
    const int c = L->id[b] - m->ne;
    return c >= 0 && c < m->nc && hidden(m, off, c);
}

static carom_status directions(const void *model, void *work, double t, const double *q, carom_local *L) {
    const carom_model *m = model;
    const bool *off = carom_conditions_off(m, work);
    CAROM_TRY(m->condition.system->plain.directions(m, work, t, q, L));
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1] && off_block(m, off, L, b); ++k) {
            carom_zero(L->W.a + (size_t)k * (size_t)L->W.stride, L->W.count ? L->W.count[k] : L->W.rows);
            L->w[k] = 0;
        }
    return CAROM_OK;
}

static carom_status curvature(const void *model, void *work, double t, const double *q, const double *v,
                              const carom_local *L, double *kappa) {
    const carom_model *m = model;
    const bool *off = carom_conditions_off(m, work);
    CAROM_TRY(m->condition.system->plain.curvature(m, work, t, q, v, L, kappa));
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1] && off_block(m, off, L, b); ++k) kappa[k] = 0;
    return CAROM_OK;
}

static carom_status rates(const void *model, void *work, double t, const double *q, const double *v, double *u) {
    const carom_model *m = model;
    const bool *off = carom_conditions_off(m, work);
    CAROM_TRY(m->condition.system->plain.speed->rates(m, work, t, q, v, u));
    u += m->ne;
    for (int c = 0; c < m->nc; ++c) {
        const int n = carom_system_recorded(&m->sys, m->ne + c);
        if (hidden(m, off, c)) carom_zero(u, n);
        u += n;
    }
    return CAROM_OK;
}

// The body that condition i lets move; NULL: none.
static const body *body_of(const carom_model *m, int i) {
    const body *b = m->condition.list[i].body < 0 ? NULL : &m->bodies[m->condition.list[i].body];
    return b && b->v >= 0 ? b : NULL;
}

// (CND-2)
static void still(const carom_model *m, const void *work, double *f) {
    const bool *off = carom_conditions_off(m, work);
    for (int i = 0; i < m->condition.n; ++i)
        if (off[i] && body_of(m, i)) carom_zero(f + body_of(m, i)->v, velocities_of(body_of(m, i)));
}

static carom_status force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    const carom_model *m = model;
    CAROM_TRY(m->condition.system->plain.force(m, work, t, q, v, f));
    still(m, work, f);
    return CAROM_OK;
}

// Some are off?
static bool some_off(const carom_model *m, const void *work) {
    const bool *off = carom_conditions_off(m, work);
    for (int i = 0; i < m->condition.n; ++i)
        if (off[i]) return true;
    return false;
}

// What answers several questions at once does so where all is there.
static carom_status motion(const void *model, void *work, double t, const double *q, const double *v, carom_matrix M,
                           double *f, double *g) {
    const carom_model *m = model;
    CAROM_TRY(m->condition.system->plain.speed->motion(m, work, t, q, v, M, f, g));
    still(m, work, f);
    if (g) carom_conditions_hide(m, work, g);
    return CAROM_OK;
}

static carom_status free_motion(const void *model, void *work, double t, const double *q, const double *v, double *a,
                                double *g) {
    const carom_model *m = model;
    return some_off(m, work) ? CAROM_RETRY : m->condition.system->plain.speed->free_motion(m, work, t, q, v, a, g);
}

static carom_status motion_directions(const void *model, void *work, double t, const double *q, const double *v,
                                      carom_matrix M, double *f, double *g, carom_local *L) {
    const carom_model *m = model;
    return some_off(m, work) ? CAROM_RETRY
                             : m->condition.system->plain.speed->motion_directions(m, work, t, q, v, M, f, g, L);
}

// Nothing is known of contacts and forces that are off.
static carom_status bounds(const void *model, void *work, double t_0, double t_1, const double *q_0, const double *q_1,
                           const double *v_0, const double *v_1, const double *v_off, double *least, double *slowest,
                           double *fastest, double *turn) {
    const carom_model *m = model;
    const bool *off = carom_conditions_off(m, work);
    CAROM_TRY(m->condition.system->plain.events->gap_bounds(m, work, t_0, t_1, q_0, q_1, v_0, v_1, v_off, least,
                                                            slowest, fastest, turn));
    for (int c = 0; c < m->nc; ++c)
        if (hidden(m, off, c)) least[c] = NAN;
    return CAROM_OK;
}

static carom_status force_bounds(const void *model, void *work, double t_0, double t_1, const double *q_0,
                                 const double *q_1, const double *v_0, const double *v_1, const double *v_off,
                                 double *mid, double *slope, double *off) {
    const carom_model *m = model;
    CAROM_TRY(
        m->condition.system->plain.events->force_bounds(m, work, t_0, t_1, q_0, q_1, v_0, v_1, v_off, mid, slope, off));
    still(m, work, mid), still(m, work, slope), still(m, work, off);
    return CAROM_OK;
}

static carom_status conditions(const void *model, void *work, double t, const double *q, const double *v, double *c) {
    const carom_model *m = model;
    double *y = carom_model_scratch(m, work);
    carom_model_eval(m, work, GROUP_CONTROL, t, q, v, y);
    for (int i = 0; i < m->condition.n; ++i) {
        c[i] = y[m->condition.first + i];
        if (isnan(c[i])) return CAROM_USER;
    }
    return CAROM_OK;
}

static void switches(const void *model, void *work, const double *on) {
    const carom_model *m = model;
    for (int i = 0; i < m->condition.n; ++i) off_of(m, work)[i] = on[i] == 0;
}

static void switched(const void *model, int i, bool on, double *v) {
    const carom_model *m = model;
    const body *b = body_of(m, i);
    if (!b) return;
    if (on) carom_copy(v + b->v, m->v0 + b->v, velocities_of(b));
    else carom_zero(v + b->v, velocities_of(b));
}

static const char *switch_name(const void *model, int i) {
    return ((const carom_model *)model)->condition.list[i].name;
}

void carom_conditions_start(const carom_model *m, void *work) {
    double *y = carom_model_scratch(m, work);
    if (!m->condition.n) return;
    carom_model_eval(m, work, GROUP_CONTROL, 0, m->q0, m->v0, y);
    for (int i = 0; i < m->condition.n; ++i) off_of(m, work)[i] = !(y[m->condition.first + i] > 0);
}

// Conditions of the contacts of a pair: its own, and those of its bodies.
static void pair_needs(const carom_model *m, const pair *p, int *needs) {
    int n = 0;
    for (int i = 0; i < m->condition.n; ++i)
        if (m->condition.list[i].text == &p->entry->exists_while) needs[n++] = i + 1;
    const body *const two[] = {p->A->body, p->B->body};
    for (int k = 0; k < 2; ++k)
        if (two[k]->condition > 0) needs[n++] = two[k]->condition;
}

carom_status carom_conditions_system(carom_model *m, carom_error *err) {
    carom_system *s = &m->sys;
    carom_extensions *e = m->extensions;
    if (!m->condition.n) return CAROM_OK;
    carom_conditional *x = carom_pool_take(&m->memory, sizeof *x);
    if (!x) return carom_model_no_memory(m, err);
    *x = (carom_conditional){.plain = *s, .gap = 0};
    carom_system_extend(&x->plain, &x->plain_extensions);
    x->needs = carom_pool_take(&m->memory, ((size_t)m->nc + 1) * sizeof *x->needs);
    x->gate_of = carom_pool_take(&m->memory, (size_t)m->condition.n * sizeof *x->gate_of);
    if (!x->needs || !x->gate_of) return carom_model_no_memory(m, err);
    for (int c = 0; c < m->nc; ++c) {
        for (int k = 0; k < CAROM_NEEDS; ++k) x->needs[c][k] = 0;
        x->needs[c][0] = m->links[m->ne + c].condition;
    }
    for (int i = 0; i < m->npairs; ++i)
        for (int k = 0; k < m->pairs[i].count; ++k)
            pair_needs(m, &m->pairs[i], x->needs[m->pairs[i].first - m->ne + k]);
    for (int i = 0; i < m->condition.n; ++i) {
        x->gate_of[i] = m->condition.list[i].gate;
        if (x->gate_of[i] >= 0) x->needs[x->gate_of[i]][1] = i + 1;
    }
    for (int i = 0; i < m->nq; ++i) x->gap = fmax(x->gap, fabs(m->q0[i]));
    if (x->gap == 0) x->gap = 1;
    m->condition.system = x;
    m->at.off = (s->work_size + 63) & ~(size_t)63;
    s->work_size = m->at.off + (size_t)m->condition.n * sizeof(bool);
    e->conditions.nswitches = m->condition.n;
    e->conditions.contact_of = x->gate_of;
    e->conditions.evaluate = conditions, e->conditions.set = switches, e->conditions.velocities = switched,
    e->conditions.name = switch_name;
    s->force = force;
    if (s->gaps) s->gaps = gaps;
    if (s->directions) s->directions = directions;
    if (s->curvature) s->curvature = curvature;
    if (s->speed->rates) e->speed.rates = rates;
    if (s->speed->observe) e->speed.observe = observe;
    if (s->speed->motion) e->speed.motion = motion;
    if (s->speed->free_motion) e->speed.free_motion = free_motion;
    if (s->speed->motion_directions) e->speed.motion_directions = motion_directions;
    if (s->events->gap_bounds) e->events.gap_bounds = bounds;
    if (s->events->force_bounds) e->events.force_bounds = force_bounds;
    e->events.global_bounds = NULL; // it does not know of conditions
    return CAROM_OK;
}

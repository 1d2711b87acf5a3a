// conditions.c: contacts and bodies that are there only while an expression is positive.
//
// A simulation holds which conditions are met, and tells the work block (carom_system.switches); the functions of the
// system then answer as if the rest were not there:
//     a contact that is off:  g = L, W = 0, w = 0, kappa = 0,   L > 0 constant                          (CND-1)
//     a body that is off:     f = 0 on its velocities, which are 0, and all its contacts are off         (CND-2)
// so that no scheme knows of conditions.  Contacts of a list: near.c leaves out pairs of bodies that are off.
#include "model/conditions.h"
#include "model/pairs.h"
#include <math.h>

static bool *off_of(const carom_model *m, void *work) { return (bool *)((unsigned char *)work + m->off_work); }

static bool hidden(const carom_model *m, const bool *off, int c) {
    const int *needs = m->conditional->needs[c];
    for (int k = 0; k < CAROM_NEEDS; ++k)
        if (needs[k] > 0 && off[needs[k] - 1]) return true;
    return false;
}

static int velocities_of(const body *b) { return b->space == SPATIAL ? 6 : 3; }

void carom_conditions_hide(const carom_model *m, const void *work, double *g) {
    if (!m->conditional) return;
    const bool *off = carom_conditions_off(m, work);
    for (int c = 0; c < m->nc; ++c)
        if (hidden(m, off, c)) g[m->ne + c] = m->conditional->gap;
}

static carom_status gaps(const void *model, void *work, double t, const double *q, double *g) {
    const carom_model *m = model;
    CAROM_TRY(m->conditional->plain.gaps(m, work, t, q, g));
    carom_conditions_hide(m, work, g);
    return CAROM_OK;
}

static carom_status observe(const void *model, void *work, double t, const double *q, const double *v, double *g,
                            double *external, double *damping) {
    const carom_model *m = model;
    CAROM_TRY(m->conditional->plain.observe(m, work, t, q, v, g, external, damping));
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
    CAROM_TRY(m->conditional->plain.directions(m, work, t, q, L));
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
    CAROM_TRY(m->conditional->plain.curvature(m, work, t, q, v, L, kappa));
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1] && off_block(m, off, L, b); ++k) kappa[k] = 0;
    return CAROM_OK;
}

static carom_status rates(const void *model, void *work, double t, const double *q, const double *v, double *u) {
    const carom_model *m = model;
    const bool *off = carom_conditions_off(m, work);
    CAROM_TRY(m->conditional->plain.rates(m, work, t, q, v, u));
    u += m->ne;
    for (int c = 0; c < m->nc; ++c) {
        const int n = carom_system_recorded(&m->sys, m->ne + c);
        if (hidden(m, off, c)) carom_zero(u, n);
        u += n;
    }
    return CAROM_OK;
}

// (CND-2)
static carom_status force(const void *model, void *work, double t, const double *q, const double *v, double *f) {
    const carom_model *m = model;
    const bool *off = carom_conditions_off(m, work);
    CAROM_TRY(m->conditional->plain.force(m, work, t, q, v, f));
    for (int i = 0; i < m->nconditions; ++i) {
        const body *b = m->conditions[i].body < 0 ? NULL : &m->bodies[m->conditions[i].body];
        if (b && off[i]) carom_zero(f + b->v, velocities_of(b));
    }
    return CAROM_OK;
}

static carom_status conditions(const void *model, void *work, double t, const double *q, const double *v, double *c) {
    const carom_model *m = model;
    double *y = carom_model_scratch(m, work);
    carom_model_eval(m, work, GROUP_CONTROL, t, q, v, y);
    for (int i = 0; i < m->nconditions; ++i) {
        c[i] = y[m->first_condition + i];
        if (isnan(c[i])) return CAROM_USER;
    }
    return CAROM_OK;
}

static void switches(const void *model, void *work, const double *on) {
    const carom_model *m = model;
    for (int i = 0; i < m->nconditions; ++i) off_of(m, work)[i] = on[i] == 0;
}

static void switched(const void *model, int i, bool on, double *v) {
    const carom_model *m = model;
    const body *b = m->conditions[i].body < 0 ? NULL : &m->bodies[m->conditions[i].body];
    if (!b) return;
    if (on) carom_copy(v + b->v, m->v0 + b->v, velocities_of(b));
    else carom_zero(v + b->v, velocities_of(b));
}

static const char *switch_name(const void *model, int i) { return ((const carom_model *)model)->conditions[i].name; }

void carom_conditions_start(const carom_model *m, void *work) {
    double *y = carom_model_scratch(m, work);
    if (!m->nconditions) return;
    carom_model_eval(m, work, GROUP_CONTROL, 0, m->q0, m->v0, y);
    for (int i = 0; i < m->nconditions; ++i) off_of(m, work)[i] = !(y[m->first_condition + i] > 0);
}

// Conditions of the contacts of a pair: its own, and those of its bodies.
static void pair_needs(const carom_model *m, const pair *p, int *needs) {
    int n = 0;
    for (int i = 0; i < m->nconditions; ++i)
        if (m->conditions[i].text == &p->entry->exists_while) needs[n++] = i + 1;
    const body *const two[] = {p->A->body, p->B->body};
    for (int k = 0; k < 2; ++k)
        if (two[k]->condition > 0) needs[n++] = two[k]->condition;
}

carom_status carom_conditions_system(carom_model *m, carom_error *err) {
    carom_system *s = &m->sys;
    if (!m->nconditions) return CAROM_OK;
    carom_conditional *x = carom_pool_take(&m->memory, sizeof *x);
    if (!x) return carom_model_no_memory(m, err);
    *x = (carom_conditional){.plain = *s, .gap = 0};
    x->needs = carom_pool_take(&m->memory, ((size_t)m->nc + 1) * sizeof *x->needs);
    x->gate_of = carom_pool_take(&m->memory, (size_t)m->nconditions * sizeof *x->gate_of);
    if (!x->needs || !x->gate_of) return carom_model_no_memory(m, err);
    for (int c = 0; c < m->nc; ++c) {
        for (int k = 0; k < CAROM_NEEDS; ++k) x->needs[c][k] = 0;
        x->needs[c][0] = m->links[m->ne + c].condition;
    }
    for (int i = 0; i < m->npairs; ++i)
        for (int k = 0; k < m->pairs[i].count; ++k)
            pair_needs(m, &m->pairs[i], x->needs[m->pairs[i].first - m->ne + k]);
    for (int i = 0; i < m->nconditions; ++i) {
        x->gate_of[i] = m->conditions[i].gate;
        if (x->gate_of[i] >= 0) x->needs[x->gate_of[i]][1] = i + 1;
    }
    for (int i = 0; i < m->nq; ++i) x->gap = fmax(x->gap, fabs(m->q0[i]));
    if (x->gap == 0) x->gap = 1;
    m->conditional = x;
    m->off_work = (s->work_size + 63) & ~(size_t)63;
    s->work_size = m->off_work + (size_t)m->nconditions * sizeof(bool);
    s->nswitches = m->nconditions;
    s->gate_of = x->gate_of;
    s->conditions = conditions, s->switches = switches, s->switched = switched, s->switch_name = switch_name;
    s->force = force;
    if (s->gaps) s->gaps = gaps;
    if (s->directions) s->directions = directions;
    if (s->curvature) s->curvature = curvature;
    if (s->rates) s->rates = rates;
    if (s->observe) s->observe = observe;
    // what else answers several questions at once, or for all states, does not know of conditions
    s->motion = NULL, s->free_motion = NULL, s->motion_directions = NULL;
    s->reach = NULL, s->bounds = NULL, s->force_bounds = NULL;
    return CAROM_OK;
}

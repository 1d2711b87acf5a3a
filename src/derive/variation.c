// variation.c: first variations of a model: by expressions where they know the parameter, by models beside it where
// they do not.
//
// The tape's velocities are those of the graph, then the change: along velocities, of velocities, of time, of
// parameters (carom_graph_change()). With F at p - 2h, ..., p + 2h the derivative by p is (F(-2h) - 8 F(-h) + 8 F(h) -
// F(2h))/(12 h) + O(h^4).
#include "base/missing.h"
#include "derive/variation.h"
#include "expr/graph.h"
#include "expr/transpose.h"
#include "flex/flex.h"
#include "derive/shapes/shapes.h"
#include "flex/member.h"
#include "linalg/matrix.h"
#include "model/answers.h"
#include "model/watch.h"
#include "system/system.h"
#include <carom/variation.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    V_FORCE,
    V_MASS,
    V_GAPS,
    V_DIRECTIONS,
    V_RATES,
    V_CURVATURE,
    V_FRICTION,
    V_BOUND,
    V_OUTPUTS,
    V_OBSERVED,
    V_WATCHED,
    V_PARAMETERS,
    V_CONTROL,
    V_COUNT
};
enum { BESIDE = 4 }; // points of a difference of fourth order
// fourth order: the error STEP^4 is that of rounding, 1e-16/STEP, to a factor of ten
static const double STEP = 1e-3, WEIGHT[BESIDE] = {1. / 12, -8. / 12, 8. / 12, -1. / 12}, AT[BESIDE] = {-2, -1, 1, 2};

/// A model, and what is needed to ask it.
typedef struct desk {
    carom_model *m;
    void *work;
    carom_arena mem;
    carom_local L;     // all constraints
    carom_matrix M, K, C;
    double *value;     // of everything that is asked for
} desk;

struct carom_variation {
    desk own;
    carom_tape *tape;
    void *work;
    int n, count[V_COUNT];
    int *parameter;    // n: which
    double *P;         // np for each of n: how all parameters change with it
    double *h;         // n: step of differences; 0: exact
    desk *beside;      // BESIDE for each of n, where there are differences
    double *start;     // 2 nv for each of n
    carom_error *no_start; // n: why there is none
    double *q, *y, *out, *parameters;
    double *member;    // 2 nv: unknowns of a member
    struct backwards *back; // NULL: not yet
};

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for derivatives of a model");
}

// -- asking a model ---------------------------------------------------------------------------------------------------

static void desk_close(desk *d) {
    carom_model_destroy(d->m);
    free(d->work);
    free(d->mem.base);
}

static void allocate(desk *d) {
    const carom_system *s = &d->m->sys;
    d->L = carom_allocate_local(&d->mem, s);
    d->M = carom_allocate_matrix(&d->mem, s->mass_shape);
    d->K = carom_allocate_matrix(&d->mem, s->tangent_shape);
    d->C = carom_allocate_matrix(&d->mem, s->tangent_shape);
    d->value = carom_allocate(&d->mem, (size_t)s->nv + (size_t)s->ne +
                                           (size_t)(5 + CAROM_FRICTION_LAW) * (size_t)s->nc + (size_t)d->m->ndir +
                                           (size_t)d->m->nout + (size_t)d->m->nobserved + (size_t)d->m->nwatch +
                                           (size_t)d->m->signal.nnodes + 1);
}

// The model belongs to the desk from now on, also when there is no memory.
static carom_status desk_open(desk *d, carom_model *m, carom_error *err) {
    const carom_system *s = &m->sys;
    *d = (desk){.m = m};
    allocate(d);
    const size_t size = (d->mem.used + 127) & ~(size_t)63, work = (s->work_size + 127) & ~(size_t)63;
    d->mem = (carom_arena){.base = aligned_alloc(64, size), .size = size};
    d->work = aligned_alloc(64, work);
    if (!d->mem.base || !d->work) return no_memory(err);
    memset(d->mem.base, 0, size);
    memset(d->work, 0, work);
    allocate(d);
    s->work_init(m, d->work);
    carom_pairs_exact(m, d->work, true); // no bounds instead of gaps of pairs that are far from each other
    carom_local *L = &d->L;
    L->nb = s->ne + s->nc;
    L->at[0] = 0;
    for (int id = 0; id < L->nb; ++id) L->id[id] = id, L->at[id + 1] = L->at[id] + carom_system_directions(s, id);
    return CAROM_OK;
}

/// A question: z is a, lambda, or nothing.
typedef struct question {
    enum { MOTION, GAPS, REACTION, RATES, ACCELERATION, OUTPUTS, OBSERVED, WATCHED, CONTROL, LAWS } what;
    double t;
    const double *q, *v, *z;
    const carom_average *average; // OBSERVED: NULL: zeros
} question;

static int answers(const carom_model *m, const question *k) {
    switch (k->what) {
    case MOTION: case REACTION: return m->nv;
    case GAPS: return m->ne + m->nc;
    case RATES: case ACCELERATION: return m->ndir;
    case OUTPUTS: return m->nout;
    case OBSERVED: return m->nobserved;
    case WATCHED: return m->nwatch;
    case CONTROL: return m->signal.nnodes;
    case LAWS: break;
    }
    return 4 * m->nc;
}

static carom_status laws(desk *d, const question *k, double *y) {
    const carom_model *m = d->m;
    double *rub = y + 4 * m->nc;
    if (m->sys.friction) CAROM_TRY(m->sys.friction(m, d->work, k->t, k->q, k->v, NULL, rub));
    for (int c = 0; c < m->nc; ++c) {
        const carom_contact *l = &m->contacts[c];
        const double *own = rub + CAROM_FRICTION_LAW * c,
                     law[4] = {l->restitution, l->tangential_restitution, l->friction_varies ? own[0] : l->friction,
                               l->friction_varies ? own[1] : l->friction};
        carom_copy(y + 4 * c, law, 4);
    }
    return CAROM_OK;
}

static carom_status inertia(desk *d, const question *k, double *y) {
    const carom_system *s = &d->m->sys;
    carom_zero(y, s->nv);
    carom_matrix_zero(d->M);
    CAROM_TRY(s->force(d->m, d->work, k->t, k->q, k->v, y));
    CAROM_TRY(s->mass(d->m, d->work, k->t, k->q, d->M));
    carom_matrix_muladd(y, -1, d->M, k->z);
    return CAROM_OK;
}

// y = W'v + w (v not NULL), y = W'a + kappa or y = W lambda
static carom_status directed(desk *d, const question *k, double *y) {
    const carom_system *s = &d->m->sys;
    const carom_local *L = &d->L;
    CAROM_TRY(s->directions(d->m, d->work, k->t, k->q, &d->L));
    if (k->what == ACCELERATION) CAROM_TRY(s->curvature(d->m, d->work, k->t, k->q, k->v, L, y));
    if (k->what == REACTION) carom_zero(y, s->nv);
    for (int i = 0; i < L->at[L->nb]; ++i) {
        if (k->what == REACTION) carom_column_axpy(y, k->z[i], &L->W, i);
        else if (k->what == RATES) y[i] = carom_column_dot(&L->W, i, k->v) + L->w[i];
        else y[i] += carom_column_dot(&L->W, i, k->z);
    }
    return CAROM_OK;
}

static carom_status value(desk *d, const question *k) {
    const carom_model *m = d->m;
    double *y = d->value;
    switch (k->what) {
    case MOTION: return inertia(d, k, y);
    case GAPS: return m->sys.gaps ? m->sys.gaps(m, d->work, k->t, k->q, y) : CAROM_OK;
    case REACTION:
    case RATES:
    case ACCELERATION: return m->sys.directions ? directed(d, k, y) : (carom_zero(y, answers(m, k)), CAROM_OK);
    case OUTPUTS: carom_model_outputs(m, d->work, k->t, k->q, k->v, y); return CAROM_OK;
    case OBSERVED: break;
    case WATCHED: carom_model_watch(m, d->work, k->t, k->q, k->v, y, y, true); return CAROM_OK;
    case CONTROL: carom_model_eval(m, d->work, GROUP_CONTROL, k->t, k->q, k->v, y); return CAROM_OK;
    case LAWS: return laws(d, k, y);
    }
    const carom_ledger nothing = {0};
    carom_average *average = calloc((size_t)m->nwatch + 1, sizeof *average);
    if (average) carom_model_observe(m, k->average ? k->average : average, &nothing, d->work, k->t, k->q, k->v, y);
    free(average);
    return average ? CAROM_OK : CAROM_NO_MEMORY;
}

// -- by expressions ---------------------------------------------------------------------------------------------------

// Energies of members at q + s dq, v + s dv.
static void energies(const carom_model *m, const double *q, const double *v, double s, const double *dq,
                     const double *dv, double *x, double *T, double *V) {
    *T = *V = 0;
    for (int k = 0; k < m->nmember; ++k) {
        const member *b = &m->members[k];
        const int n = carom_member_unknowns(b->flex);
        double t, u;
        carom_add(x, q + b->q, dq ? s : 0, dq ? dq + b->v : q + b->q, n);
        carom_add(x + n, v + b->v, dv ? s : 0, dv ? dv + b->v : v + b->v, n);
        carom_member_energy(b->flex, x, x + n, &t, &u);
        *T += t, *V += u;
    }
}

// They are polynomials of q and v, or nearly so: differences of the fourth order are exact.
static void change_energies(carom_variation *x, const double *q, const double *v, carom_direction d, double *T,
                            double *V, double *dT, double *dV) {
    const carom_model *m = x->own.m;
    const double size_q = d.q ? carom_norm_max(d.q, m->nv) : 0, size_v = d.v ? carom_norm_max(d.v, m->nv) : 0;
    const double far = carom_norm_max(q, m->nq), fast = carom_norm_max(v, m->nv);
    const double h = fmin(size_q > 0 && far > 0 ? STEP * far / size_q : HUGE_VAL,
                          size_v > 0 && fast > 0 ? STEP * fast / size_v : HUGE_VAL),
                 step = isfinite(h) ? h : STEP;
    energies(m, q, v, 0, NULL, NULL, x->member, T, V);
    *dT = *dV = 0;
    for (int b = 0; b < BESIDE && (size_q > 0 || size_v > 0); ++b) {
        double t, u;
        energies(m, q, v, AT[b] * step, d.q, d.v, x->member, &t, &u);
        *dT += WEIGHT[b] * t / step, *dV += WEIGHT[b] * u / step;
    }
}

// A group of the tape for this change.
static const double *changed(carom_variation *x, int group, double t, const double *q, const double *v,
                             carom_direction d) {
    const carom_model *m = x->own.m;
    const int n = m->visible.nv;
    double *const part[3] = {x->y, x->y + n, x->y + 2 * n};
    const double *const from[3] = {v, d.q, d.v};
    for (int i = 0; i < 3; ++i) {
        if (!from[i]) carom_zero(part[i], n);
        else if (m->nmember) carom_model_gather(m, q, from[i], x->q, part[i]);
        else carom_copy(part[i], from[i], n);
    }
    if (m->nmember) carom_model_gather(m, q, v ? v : m->v0, x->q, x->y);
    const int e = m->visible.nv_own;
    if (m->member_energies && (group == V_OUTPUTS || group == V_OBSERVED || group == V_WATCHED))
        change_energies(x, q, v, d, &part[0][e], &x->q[m->visible.nq_own], &part[2][e], &part[1][e]);
    double *dp = x->y + 3 * n;
    *dp++ = d.t;
    carom_zero(dp, m->np);
    for (int k = 0; k < x->n && d.p; ++k)
        if (x->h[k] == 0 && d.p[k] != 0) carom_axpy(dp, d.p[k], x->P + (size_t)k * (size_t)m->np, m->np);
    carom_tape_eval(x->tape, x->work, group, t, m->nmember ? x->q : q, x->y, x->out);
    return x->out;
}

// d(f - M a): terms of expressions, then members.
static void change_motion(carom_variation *x, const question *k, carom_direction d, double *y) {
    desk *own = &x->own;
    const carom_model *m = own->m;
    const double *f = changed(x, V_FORCE, k->t, k->q, k->v, d);
    carom_zero(y, m->nv);
    for (int i = 0; i < m->visible.nv; ++i) {
        const int to = m->nmember ? carom_model_visible(m, i) : i;
        if (to >= 0) y[to] += f[i];
    }
    const double *M = changed(x, V_MASS, k->t, k->q, k->v, d);
    for (int e = 0; e < m->mass.n; ++e) {
        const int i = m->mass.i[e], j = m->mass.j[e];
        y[i] -= M[e] * k->z[j];
        if (i != j) y[j] -= M[e] * k->z[i];
    }
    if (m->nmember == 0 || (!d.q && !d.v)) return;
    bool rest = false; // members by their tangents
    carom_matrix_zero(own->K);
    carom_matrix_zero(own->C);
    for (int i = 0; i < m->nmember; ++i) {
        const member *b = &m->members[i];
        if (carom_flex_change(b->flex, k->q + b->q, k->v + b->v, d.q ? d.q + b->v : NULL, d.v ? d.v + b->v : NULL,
                              y + b->v))
            continue;
        rest = true;
        carom_member_tangent(b->flex, k->q + b->q, k->v + b->v, own->K, own->C, b->v);
    }
    if (!rest) return;
    if (d.q) carom_matrix_muladd(y, -1, own->K, d.q);
    if (d.v) carom_matrix_muladd(y, -1, own->C, d.v);
}

// d(W lambda), or d(W'a) onto what is in y
static void change_directions(carom_variation *x, const question *k, carom_direction d, double *y) {
    const carom_model *m = x->own.m;
    const double *W = changed(x, V_DIRECTIONS, k->t, k->q, NULL, d);
    for (int e = 0; e < m->W.n; ++e) {
        const int i = m->W.i[e], j = m->W.j[e];
        if (k->what == REACTION) y[i] += W[e] * k->z[j];
        else y[j] += W[e] * k->z[i];
    }
}

static void change_laws(carom_variation *x, const question *k, carom_direction d, double *y) {
    const carom_model *m = x->own.m;
    const double *b = changed(x, V_BOUND, 0, m->q0, NULL, d);
    carom_zero(y, 4 * m->nc);
    for (int i = 0; i < m->nbound; ++i) {
        const bound *of = &m->bound[i];
        if (of->kind < BOUND_RESTITUTION || of->kind > BOUND_FRICTION) continue;
        y[4 * of->index + (int)of->kind - BOUND_RESTITUTION] = b[i];
        if (of->kind == BOUND_FRICTION) y[4 * of->index + 3] = b[i];
    }
    const double *f = changed(x, V_FRICTION, k->t, k->q, k->v, d);
    for (int c = 0; c < m->nc; ++c)
        if (m->contacts[c].friction_varies) carom_copy(y + 4 * c + 2, f + 2 * m->friction.of[c], 2);
}

static carom_status answer(carom_variation *x, const question *k, carom_direction d, double *y) {
    const bool with_z = k->what == MOTION || k->what == ACCELERATION || k->what == REACTION;
    if (!x || !k->q || !k->v || !y || (with_z && !k->z)) return CAROM_BAD_INPUT;
    const carom_model *m = x->own.m;
    const int n = answers(m, k),
              group[] = {[GAPS] = V_GAPS,       [RATES] = V_RATES,       [ACCELERATION] = V_CURVATURE,
                         [OUTPUTS] = V_OUTPUTS, [OBSERVED] = V_OBSERVED, [WATCHED] = V_WATCHED,
                         [CONTROL] = V_CONTROL};
    switch (k->what) {
    case MOTION: change_motion(x, k, d, y); break;
    case LAWS: change_laws(x, k, d, y); break;
    case REACTION: carom_zero(y, n); break;
    default: carom_copy(y, changed(x, group[k->what], k->t, k->q, k->v, d), n);
    }
    if (k->what == REACTION || k->what == ACCELERATION) change_directions(x, k, d, y);
    for (int i = 0; i < x->n && d.p; ++i)
        for (int b = 0; b < BESIDE && x->h[i] != 0 && d.p[i] != 0; ++b) {
            desk *beside = &x->beside[BESIDE * i + b];
            CAROM_TRY(value(beside, k));
            carom_axpy(y, WEIGHT[b] * d.p[i] / x->h[i], beside->value, n);
        }
    bool fine = true;
    for (int i = 0; i < n; ++i) fine = fine && fabs(y[i]) <= DBL_MAX;
    return fine ? CAROM_OK : CAROM_USER;
}

carom_status carom_variation_motion(carom_variation *x, double t, const double *q, const double *v, const double *a,
                                    carom_direction d, double *y) {
    return answer(x, &(question){MOTION, t, q, v, a, NULL}, d, y);
}

carom_status carom_variation_gaps(carom_variation *x, double t, const double *q, carom_direction d, double *y) {
    if (!x) return CAROM_BAD_INPUT;
    return answer(x, &(question){GAPS, t, q, x->own.m->v0, NULL, NULL}, d, y);
}

carom_status carom_variation_reaction(carom_variation *x, double t, const double *q, const double *lambda,
                                      carom_direction d, double *y) {
    if (!x) return CAROM_BAD_INPUT;
    return answer(x, &(question){REACTION, t, q, x->own.m->v0, lambda, NULL}, d, y);
}

carom_status carom_variation_rates(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                   double *y) {
    return answer(x, &(question){RATES, t, q, v, NULL, NULL}, d, y);
}

carom_status carom_variation_acceleration(carom_variation *x, double t, const double *q, const double *v,
                                          const double *a, carom_direction d, double *y) {
    return answer(x, &(question){ACCELERATION, t, q, v, a, NULL}, d, y);
}

carom_status carom_variation_outputs(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                     double *y) {
    return answer(x, &(question){OUTPUTS, t, q, v, NULL, NULL}, d, y);
}

carom_status carom_variation_observed(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                      double *y) {
    return answer(x, &(question){OBSERVED, t, q, v, NULL, NULL}, d, y);
}

carom_status carom_variation_control(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                     double *y) {
    return answer(x, &(question){CONTROL, t, q, v, NULL, NULL}, d, y);
}

void carom_variation_hold(carom_variation *x, const double *signals) {
    if (!x || !signals) return;
    const carom_model *m = x->own.m;
    carom_copy(x->parameters + m->np_own, signals, m->signal.n);
    carom_tape_work_parameters(x->tape, x->work, x->parameters);
    for (int i = -1; i < BESIDE * x->n; ++i) {
        desk *d = i < 0 ? &x->own : &x->beside[i];
        if (d->m) d->m->sys.signals->set(d->m, d->work, signals);
    }
}

carom_status carom_variation_watched(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                     double *y) {
    return answer(x, &(question){WATCHED, t, q, v, NULL, NULL}, d, y);
}

// Values and changes of watched expressions are parameters of the tape behind those of the model and the ledger.
carom_status carom_variation_composed(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                      const carom_average *a, const double *watched, double *y) {
    if (!x || !q || !v || !y || !a || !watched) return CAROM_BAD_INPUT;
    const carom_model *m = x->own.m;
    const int all = WATCH_COUNT * m->nwatch, first = m->check_parameters - all;
    double *dw = x->y + 3 * m->visible.nv + 1 + first;
    for (int k = 0; k < m->nwatch; ++k) carom_average_values(&a[k], x->parameters + first + WATCH_COUNT * k);
    carom_tape_work_init(x->tape, x->work, x->parameters);
    carom_copy(dw, watched, all);
    const carom_status status = answer(x, &(question){OBSERVED, t, q, v, NULL, a}, d, y);
    carom_zero(dw, all);
    carom_zero(x->parameters + first, all);
    carom_tape_work_init(x->tape, x->work, x->parameters);
    return status;
}

carom_status carom_variation_laws(carom_variation *x, double t, const double *q, const double *v, carom_direction d,
                                  double *restitution, double *tangential, double *slip, double *stick) {
    if (!x || !q || !v) return CAROM_BAD_INPUT;
    double *y = x->own.value, *const to[4] = {restitution, tangential, slip, stick};
    CAROM_TRY(answer(x, &(question){LAWS, t, q, v, NULL, NULL}, d, y));
    for (int c = 0; c < x->own.m->nc; ++c)
        for (int k = 0; k < 4; ++k)
            if (to[k]) to[k][c] = y[4 * c + k];
    return CAROM_OK;
}

static double bounce(desk *d, int contact, double speed) {
    const carom_model *m = d->m;
    return m->contacts[contact].varies ? m->sys.restitution(m, d->work, contact, speed)
                                       : m->contacts[contact].restitution;
}

carom_status carom_variation_restitution(carom_variation *x, int contact, double speed, double d, const double *p,
                                         double *y) {
    if (!x || !y) return CAROM_BAD_INPUT;
    const carom_model *m = x->own.m;
    const double h = STEP * speed;
    *y = 0;
    if (m->contacts[contact].varies && d != 0 && !(h > 0)) return CAROM_USER;
    for (int b = 0; b < BESIDE && m->contacts[contact].varies && d != 0; ++b)
        *y += WEIGHT[b] * d / h * bounce(&x->own, contact, speed + AT[b] * h);
    if (!p) return CAROM_OK;
    const double *e = changed(x, V_BOUND, 0, m->q0, NULL, (carom_direction){.p = p});
    for (int i = 0; i < m->nbound; ++i)
        if (m->bound[i].kind == BOUND_RESTITUTION && m->bound[i].index == contact) *y += e[i];
    for (int i = 0; i < BESIDE * x->n; ++i)
        if (x->h[i / BESIDE] != 0)
            *y += WEIGHT[i % BESIDE] * p[i / BESIDE] / x->h[i / BESIDE] * bounce(&x->beside[i], contact, speed);
    return fabs(*y) <= DBL_MAX ? CAROM_OK : CAROM_USER;
}

carom_status carom_variation_start(carom_variation *x, const double *p, double *q, double *v, carom_error *err) {
    if (!x || !q || !v) return CAROM_MISSING(err);
    const int nv = x->own.m->nv;
    carom_zero(q, nv);
    carom_zero(v, nv);
    for (int k = 0; k < x->n; ++k) {
        const double *s = x->start + (size_t)k * 2 * (size_t)nv;
        if (p[k] != 0 && x->no_start[k].code != CAROM_OK)
            return carom_fail(err, x->no_start[k].code, "%s", x->no_start[k].text);
        carom_axpy(q, p[k], s, nv);
        carom_axpy(v, p[k], s + nv, nv);
    }
    return CAROM_OK;
}

double carom_variation_end(carom_variation *x, const double *p) {
    const carom_model *m = x->own.m;
    const double *b = changed(x, V_BOUND, 0, m->q0, NULL, (carom_direction){.p = p});
    double y = 0;
    for (int i = 0; i < m->nbound; ++i)
        if (m->bound[i].kind == BOUND_END) y += b[i];
    for (int i = 0; i < BESIDE * x->n; ++i)
        if (x->h[i / BESIDE] != 0)
            y += WEIGHT[i % BESIDE] * p[i / BESIDE] / x->h[i / BESIDE] * x->beside[i].m->end;
    return y;
}

bool carom_variation_exact(const carom_variation *x, int k) { return x ? x->h[k] == 0 : false; }

int carom_variation_directions(const carom_variation *x) { return x ? x->own.m->ndir : 0; }

// -- making it --------------------------------------------------------------------------------------------------------

// Expressions of parameters that stand outside of the graph: those of other parameters, and what is bound.
static carom_status outside(resolver *r, carom_node *parameter, carom_node *of_bound) {
    carom_model *m = r->m;
    r->slip_speed = r->normal_force = carom_graph_number(m->graph, 0);
    for (int i = 0; i < m->np_own; ++i)
        CAROM_TRY(carom_resolve_expression(r, &m->whole->parameters.item[i], NAME_PARAMETER, "this", &parameter[i]));
    // signals: those whose start depends on parameters are bound
    for (int i = m->np_own; i < m->np; ++i) parameter[i] = carom_graph_number(m->graph, 0);
    for (int i = 0; i < m->nbound; ++i) {
        CAROM_TRY(carom_resolve_expression(r, m->bound[i].from, NAME_PARAMETER | SCOPE_SPEED | SCOPE_SLIP, "this",
                                           &of_bound[i]));
        if (m->bound[i].kind == BOUND_INPUT) parameter[m->np_own + m->bound[i].index] = of_bound[i];
    }
    return CAROM_OK;
}

static carom_status read_outside(carom_model *m, carom_node *parameter, carom_node *of_bound, carom_error *err) {
    resolver r = {.m = m, .mech = m->whole, .err = err, .lazy = &carom_lazy_names, .values = carom_graph_create()};
    const carom_status status = r.values ? outside(&r, parameter, of_bound) : no_memory(err);
    if (r.values) carom_graph_destroy(r.values);
    return status;
}

// Changes of everything, group by group; node is to be freed.
static carom_status changes(carom_variation *x, carom_node **node, carom_node *of[V_COUNT], int *most,
                            carom_error *err) {
    carom_model *m = x->own.m;
    carom_graph *g = m->graph;
    const int links = m->ne + m->nc, n = m->visible.nv;
    const int count[V_COUNT] = {n,           m->mass.n, links,   m->W.n + m->w.n, m->ndir,   m->ndir,
                                2 * m->friction.n, m->nbound, m->nout, m->nobserved,    m->nwatch, m->np,
                                m->signal.nnodes};
    memcpy(x->count, count, sizeof count);
    size_t all = 0;
    *most = 0;
    for (int k = 0; k < V_COUNT; ++k) all += (size_t)count[k], *most = count[k] > *most ? count[k] : *most;
    carom_node *next = *node = calloc(all + 1, sizeof **node);
    if (!next) return no_memory(err);
    for (int k = 0; k < V_COUNT; next += count[k++]) of[k] = next;
    for (int i = 0; i < n; ++i) of[V_FORCE][i] = m->f[i];
    for (int i = 0; i < m->mass.n; ++i) of[V_MASS][i] = m->mass.node[i];
    for (int i = 0; i < links; ++i) of[V_GAPS][i] = m->links[i].gap;
    for (int i = 0; i < m->W.n; ++i) of[V_DIRECTIONS][i] = m->W.node[i];
    for (int i = 0; i < m->w.n; ++i) of[V_DIRECTIONS][m->W.n + i] = m->w.node[i];
    for (int i = 0; i < m->ndir; ++i) of[V_RATES][i] = m->u[i], of[V_CURVATURE][i] = carom_graph_motion(g, m->u[i]);
    for (int i = 0; i < 2 * m->friction.n; ++i)
        of[V_FRICTION][i] = m->friction.node[CAROM_FRICTION_LAW * (i / 2) + i % 2];
    for (int i = 0; i < m->nout; ++i) of[V_OUTPUTS][i] = m->output_node[i];
    for (int i = 0; i < m->nobserved; ++i) of[V_OBSERVED][i] = m->observed[i];
    for (int i = 0; i < m->nwatch; ++i) of[V_WATCHED][i] = m->watch[i];
    for (int i = 0; i < m->signal.nnodes; ++i) of[V_CONTROL][i] = m->signal.node[i];
    CAROM_TRY(read_outside(m, of[V_PARAMETERS], of[V_BOUND], err));
    for (int k = 0; k < V_COUNT; ++k)
        for (int i = 0; i < count[k]; ++i) of[k][i] = carom_graph_change(g, of[k][i], n);
    return CAROM_OK;
}

static carom_status make_tape(carom_variation *x, carom_error *err) {
    carom_model *m = x->own.m;
    const int n = m->visible.nv;
    carom_node *node = NULL, *of[V_COUNT];
    int most;
    carom_status status = changes(x, &node, of, &most, err);
    carom_group group[V_COUNT];
    for (int k = 0; k < V_COUNT && status == CAROM_OK; ++k)
        group[k] = (carom_group){.count = x->count[k], .nodes = of[k]};
    const int inputs = 3 * n + 1 + m->check_parameters;
    if (status == CAROM_OK)
        x->tape = carom_tape_compile(m->graph, group, V_COUNT, m->visible.nq, inputs, m->check_parameters, err);
    free(node);
    if (status != CAROM_OK || !x->tape) return status != CAROM_OK ? status : CAROM_NO_MEMORY;
    x->work = calloc(1, carom_tape_work_size(x->tape));
    x->q = calloc((size_t)m->visible.nq + (size_t)inputs + (size_t)most + (size_t)m->check_parameters +
                      2 * (size_t)m->nv + 1,
                  sizeof *x->q);
    if (!x->work || !x->q) return no_memory(err);
    x->y = x->q + m->visible.nq;
    x->out = x->y + inputs;
    x->member = x->out + most;
    x->parameters = x->member + 2 * m->nv; // then the ledger and averages: zeros
    carom_copy(x->parameters, m->parameter, m->np);
    carom_tape_work_init(x->tape, x->work, x->parameters);
    return CAROM_OK;
}

// -- backwards --------------------------------------------------------------------------------------------------------

// Weights of forces, masses, directions, curvatures, friction that varies, what is bound, and watched expressions, in
// this order.
static const int weighed[] = {V_FORCE, V_MASS, V_DIRECTIONS, V_CURVATURE, V_FRICTION, V_BOUND, V_WATCHED};
enum { WEIGHED = sizeof weighed / sizeof *weighed };
enum { B_FREE, B_ALL, B_WATCHED, B_COUNT }; // forces and masses; all but what is watched

struct backwards {
    carom_tape *tape;
    void *work;
    int n, first[WEIGHED + 1], size; // gradients; places of weights behind the changes; of a gradient
    double *y, *out, *w;
    bool *anywhere, *at_impacts;     // np: does a parameter enter?
};

static carom_status transpose(carom_variation *x, struct backwards *b, carom_node *of[V_COUNT], carom_error *err) {
    carom_model *m = x->own.m;
    carom_graph *g = m->graph;
    const int n = m->visible.nv, inputs = 3 * n + 1 + m->check_parameters;
    for (int k = 0; k < WEIGHED; ++k) b->first[k + 1] = b->first[k] + x->count[weighed[k]];
    b->size = 2 * n + 1 + m->np;
    const size_t all = (size_t)b->first[WEIGHED] + 1, size = (size_t)b->size;
    size_t touched = 0;
    static const int impact[] = {V_MASS, V_GAPS, V_DIRECTIONS, V_RATES, V_FRICTION, V_BOUND};
    for (size_t k = 0; k < sizeof impact / sizeof *impact; ++k) touched += (size_t)x->count[impact[k]];
    carom_node *node = calloc(2 * all + (B_COUNT + 1) * size + 2 * touched + 1, sizeof *node);
    if (!node) return no_memory(err);
    carom_node *y = node, *w = y + all, *to = w + all, *events = to + (B_COUNT + 1) * size, *one = events + touched;
    for (int k = 0; k < WEIGHED; ++k)
        for (int i = 0; i < x->count[weighed[k]]; ++i)
            y[b->first[k] + i] = of[weighed[k]][i],
                            w[b->first[k] + i] = carom_graph_input(g, CAROM_VELOCITY, inputs + b->first[k] + i);
    const int from[B_COUNT] = {0, 0, b->first[WEIGHED - 1]},
              last[B_COUNT] = {b->first[2], b->first[WEIGHED - 1], b->first[WEIGHED]};
    carom_status status = CAROM_OK;
    for (int k = 0; k < B_COUNT && status == CAROM_OK; ++k)
        status =
            carom_graph_transpose(g, last[k] - from[k], y + from[k], w + from[k], n, b->size, to + (size_t)k * size);
    size_t at = 0;
    for (size_t k = 0; k < sizeof impact / sizeof *impact; ++k)
        for (int i = 0; i < x->count[impact[k]]; ++i, ++at)
            events[at] = of[impact[k]][i],
            one[at] = carom_graph_input(g, CAROM_VELOCITY, inputs + b->first[WEIGHED] + (int)at);
    if (status == CAROM_OK)
        status = carom_graph_transpose(g, (int)touched, events, one, n, b->size, to + B_COUNT * size);
    const carom_node zero = carom_graph_number(g, 0);
    for (int i = 0; i < m->np && status == CAROM_OK; ++i) {
        const size_t place = (size_t)(2 * n + 1 + i);
        b->at_impacts[i] = to[B_COUNT * size + place] != zero;
        b->anywhere[i] = b->at_impacts[i] || to[B_ALL * size + place] != zero;
    }
    carom_group group[B_COUNT];
    for (int k = 0; k < B_COUNT; ++k) group[k] = (carom_group){.count = b->size, .nodes = to + (size_t)k * size};
    if (status == CAROM_OK)
        b->tape =
            carom_tape_compile(g, group, B_COUNT, m->visible.nq, inputs + b->first[WEIGHED], m->check_parameters, err);
    else if (status == CAROM_UNSUPPORTED)
        carom_fail(err, status, "the derivatives of this model cannot be taken backwards");
    free(node);
    if (status != CAROM_OK || !b->tape) return status != CAROM_OK ? status : CAROM_NO_MEMORY;
    b->work = calloc(1, carom_tape_work_size(b->tape));
    b->y = calloc((size_t)inputs + all + size, sizeof *b->y);
    if (!b->work || !b->y) return no_memory(err);
    b->w = b->y + inputs, b->out = b->w + all;
    carom_tape_work_init(b->tape, b->work, x->parameters);
    return CAROM_OK;
}

static void backwards_free(struct backwards *b) {
    if (!b) return;
    carom_tape_destroy(b->tape);
    free(b->work), free(b->y), free(b->anywhere), free(b);
}

carom_status carom_variation_transpose(carom_variation *x, carom_error *err) {
    if (!x) return CAROM_MISSING(err);
    const carom_model *m = x->own.m;
    if (x->back) return CAROM_OK;
    if (m->nmember || m->sys.lift)
        return carom_fail(
            err, CAROM_UNSUPPORTED,
            "derivatives backwards are not supported with flexible members and with bodies that turn in space");
    for (int k = 0; k < x->n; ++k)
        if (x->h[k] != 0)
            return carom_fail(err, CAROM_UNSUPPORTED,
                              "derivatives backwards are not supported by parameters that are part of the structure");
    struct backwards *b = x->back = calloc(1, sizeof *b);
    carom_node *node = NULL, *of[V_COUNT];
    int most;
    if (!b) return no_memory(err);
    b->anywhere = calloc(2 * (size_t)m->np + 1, sizeof *b->anywhere);
    b->at_impacts = b->anywhere + m->np;
    carom_status status = b->anywhere ? changes(x, &node, of, &most, err) : no_memory(err);
    if (status == CAROM_OK) status = transpose(x, b, of, err);
    free(node);
    if (status == CAROM_OK) return CAROM_OK;
    backwards_free(b);
    x->back = NULL;
    return status;
}

int carom_variation_parameters(const carom_variation *x) { return x ? x->own.m->np : 0; }

bool carom_variation_enters(const carom_variation *x, int k, bool forces) {
    if (!x || !x->back) return true;
    const double *P = x->P + (size_t)k * (size_t)x->own.m->np;
    for (int i = 0; i < x->own.m->np; ++i)
        if (P[i] != 0 && (forces ? x->back->anywhere : x->back->at_impacts)[i]) return true;
    return false;
}

void carom_variation_gather(const carom_variation *x, const double *all, double *chosen_ones) {
    if (!x) return;
    for (int k = 0; k < x->n; ++k)
        chosen_ones[k] += carom_dot(x->P + (size_t)k * (size_t)x->own.m->np, all, x->own.m->np);
}

static carom_status add_back(carom_variation *x, int group, double t, const double *q, const double *v, double *gq,
                             double *gv, double *gp) {
    struct backwards *b = x->back;
    const carom_model *m = x->own.m;
    const int n = m->visible.nv;
    carom_copy(b->y, v, n);
    carom_tape_eval(b->tape, b->work, group, t, q, b->y, b->out);
    carom_axpy(gq, 1, b->out, n), carom_axpy(gv, 1, b->out + n, n), carom_axpy(gp, 1, b->out + 2 * n + 1, m->np);
    bool fine = true;
    for (int i = 0; i < b->size; ++i) fine = fine && fabs(b->out[i]) <= DBL_MAX;
    return fine ? CAROM_OK : CAROM_USER;
}

carom_status carom_variation_back(carom_variation *x, double t, const double *q, const double *v, const double *a,
                                  const double *lambda, const double *r, const double *s, const double *slip,
                                  double *gq, double *gv, double *gp) {
    if (!x || !x->back || !q || !v || !a || !r) return CAROM_BAD_INPUT;
    const carom_model *m = x->own.m;
    double *const w = x->back->w;
    const int *first = x->back->first;
    carom_copy(w, r, m->nv);
    for (int e = 0; e < m->mass.n; ++e) {
        const int i = m->mass.i[e], j = m->mass.j[e];
        w[first[1] + e] = -(r[i] * a[j] + (i != j ? r[j] * a[i] : 0));
    }
    if (!lambda) return add_back(x, B_FREE, t, q, v, gq, gv, gp);
    carom_zero(w + first[2], first[WEIGHED - 1] - first[2]);
    for (int e = 0; e < m->W.n; ++e) w[first[2] + e] = r[m->W.i[e]] * lambda[m->W.j[e]] + s[m->W.j[e]] * a[m->W.i[e]];
    carom_copy(w + first[3], s, m->ndir);
    for (int c = 0; c < m->nc; ++c)
        if (m->contacts[c].friction_varies) w[first[4] + 2 * m->friction.of[c]] += slip[c];
    for (int i = 0; i < m->nbound; ++i)
        if (m->bound[i].kind == BOUND_FRICTION) w[first[5] + i] = slip[m->bound[i].index];
    return add_back(x, B_ALL, t, q, v, gq, gv, gp);
}

carom_status carom_variation_watched_back(carom_variation *x, double t, const double *q, const double *v,
                                          const double *weight, double *gq, double *gv, double *gp) {
    if (!x || !x->back || !q || !v) return CAROM_BAD_INPUT;
    carom_copy(x->back->w + x->back->first[WEIGHED - 1], weight, x->own.m->nwatch);
    return add_back(x, B_WATCHED, t, q, v, gq, gv, gp);
}

static bool chosen(const carom_variation *x, int i) {
    for (int k = 0; k < x->n; ++k)
        if (x->parameter[k] == i) return true;
    return false;
}

// How all parameters change with chosen parameter k: as often as one can be given by another.
static void follow(carom_variation *x, int k) {
    const carom_model *m = x->own.m;
    double *P = x->P + (size_t)k * (size_t)m->np, *dp = x->y + 3 * m->visible.nv + 1;
    P[x->parameter[k]] = 1;
    bool more = true;
    for (int round = 0; round < m->np && more; ++round) {
        more = false;
        carom_zero(x->y, 3 * m->visible.nv + 1 + m->check_parameters);
        carom_copy(dp, P, m->np);
        carom_tape_eval(x->tape, x->work, V_PARAMETERS, 0, x->q, x->y, x->out);
        for (int i = 0; i < m->np; ++i) {
            if (chosen(x, i) || x->out[i] == P[i]) continue;
            P[i] = x->out[i];
            more = true;
        }
    }
}

// How many of the chosen ones are parameters; signals stand behind them.
static int own_parameters(const carom_variation *x) {
    int n = 0;
    while (n < x->n && x->parameter[n] < x->own.m->np_own) ++n;
    return n;
}

// The model with chosen parameter k elsewhere and the other chosen ones as they are; the caller destroys it, also after
// a failure.
static carom_status beside(const carom_variation *x, int k, int b, carom_model **m, carom_error *err) {
    const carom_model *a = x->own.m;
    const double p = a->parameter[x->parameter[k]];
    const int given = own_parameters(x);
    carom_error own = {0};
    double *value = calloc((size_t)x->n, sizeof *value);
    if (!value) return no_memory(err);
    for (int i = 0; i < given; ++i) value[i] = a->parameter[x->parameter[i]];
    value[k] += AT[b] * (p != 0 ? STEP * fabs(p) : STEP);
    *m = carom_model_apart(a->mech, a->observe, true, a->written, a->observing, &own);
    carom_status status = *m ? carom_model_set(*m, given, x->parameter, value, NULL, &own) : own.code;
    const carom_model *c = *m;
    if (status == CAROM_OK &&
        (a->nq != c->nq || a->nv != c->nv || a->ne != c->ne || a->nc != c->nc || a->ndir != c->ndir))
        status = carom_fail(&own, CAROM_BAD_INPUT, "the model has other coordinates or contacts there");
    if (status != CAROM_OK)
        carom_fail(err, status, "there is no derivative by parameter '%.60s': with %.17g instead of %.17g, %.600s",
                   a->names.at[a->parameter_name[x->parameter[k]]].text, value[k], p, own.text);
    free(value);
    return status;
}

// The initial state by parameter k: where it is put together or completed, and where structure changes, by differences.
static carom_status make_start(carom_variation *x, int k, carom_error *err) {
    const carom_model *m = x->own.m;
    double *s = x->start + (size_t)k * 2 * (size_t)m->nv, *dq = calloc((size_t)m->nq + (size_t)x->n + 1, sizeof *dq),
           *p = dq + m->nq;
    if (!dq) return no_memory(err);
    if (x->parameter[k] >= m->np_own) return free(dq), CAROM_OK; // a signal
    const double at = m->parameter[x->parameter[k]], h = at != 0 ? STEP * fabs(at) : STEP;
    p[k] = 1;
    if (x->h[k] == 0 && m->ne == 0) {
        const double *b = changed(x, V_BOUND, 0, m->q0, NULL, (carom_direction){.p = p});
        for (int i = 0; i < m->nbound; ++i) {
            const int index = m->bound[i].index;
            const body *o = m->bodies + (m->bound[i].kind == BOUND_ANGLE ? index : index / 6);
            if (m->bound[i].kind == BOUND_POSITION) dq[index] = b[i];
            if (m->bound[i].kind == BOUND_RATE) s[m->nv + index] = b[i];
            if (m->bound[i].kind == BOUND_PLACE) dq[o->orientation - (o->space == SPATIAL ? 3 : 2) + index % 6] = b[i];
            if (m->bound[i].kind == BOUND_ANGLE) dq[o->orientation] = b[i];
            if (m->bound[i].kind == BOUND_SPEED) s[m->nv + o->v + index % 6] = b[i];
        }
    }
    for (int b = 0; b < BESIDE && (x->h[k] != 0 || m->ne > 0); ++b) {
        carom_model *other = x->h[k] != 0 ? x->beside[BESIDE * k + b].m : NULL;
        if (!other && beside(x, k, b, &other, &x->no_start[k]) != CAROM_OK) b = BESIDE;
        if (b < BESIDE) {
            carom_axpy(dq, WEIGHT[b] / h, other->q0, m->nq);
            carom_axpy(s + m->nv, WEIGHT[b] / h, other->v0, m->nv);
        }
        if (x->h[k] == 0) carom_model_destroy(other);
    }
    carom_model_velocities(m, m->q0, dq, s);
    free(dq);
    return CAROM_OK;
}

static carom_status make_beside(carom_variation *x, int k, carom_error *err) {
    const carom_model *m = x->own.m;
    const double *P = x->P + (size_t)k * (size_t)m->np, p = m->parameter[x->parameter[k]];
    bool exact = true;
    for (int i = 0; i < m->np; ++i) exact = exact && !(m->fixed[i] && P[i] != 0);
    x->h[k] = exact ? 0 : p != 0 ? STEP * fabs(p) : STEP;
    for (int b = 0; b < BESIDE && !exact; ++b) {
        carom_model *other = NULL;
        const carom_status status = beside(x, k, b, &other, err);
        if (status != CAROM_OK) return carom_model_destroy(other), status;
        CAROM_TRY(desk_open(&x->beside[BESIDE * k + b], other, err));
    }
    return CAROM_OK;
}

static carom_status make(carom_variation *x, const carom_model *m, const int *parameter, carom_error *err) {
    const size_t n = (size_t)x->n + 1, np = (size_t)m->np + 1;
    for (int k = 0; k < x->n; ++k)
        if (parameter[k] < 0 || parameter[k] >= m->np || (parameter[k] < m->np_own && k > 0 &&
                                                          parameter[k - 1] >= m->np_own))
            return carom_fail(err, CAROM_BAD_INPUT, "%.200s has %d parameters and no number %d", m->file, m->np_own,
                              parameter[k]);
    if (m->near)
        return carom_fail(err, CAROM_UNSUPPORTED, "%.200s: derivatives are not supported with dynamic contact lists",
                          m->file);
    if (m->friction.nreacting)
        return carom_fail(
            err, CAROM_UNSUPPORTED,
            "%.200s: derivatives are not supported where friction depends on reactions (normal.force, joint.force)",
            m->file);
    x->parameter = calloc(n, sizeof *x->parameter);
    x->P = calloc(n * np, sizeof *x->P);
    x->h = calloc(n, sizeof *x->h);
    x->beside = calloc(BESIDE * n, sizeof *x->beside);
    x->start = calloc(2 * n * ((size_t)m->nv + 1), sizeof *x->start);
    x->no_start = calloc(n, sizeof *x->no_start);
    if (!x->parameter || !x->P || !x->h || !x->beside || !x->start || !x->no_start) return no_memory(err);
    for (int k = 0; k < x->n; ++k) x->parameter[k] = parameter[k];
    carom_model *own = carom_model_apart(m->mech, m->observe, true, m->written, m->observing, err);
    if (!own) return CAROM_NO_MEMORY;
    own->followed = m->followed;
    CAROM_TRY(desk_open(&x->own, own, err));
    CAROM_TRY(make_tape(x, err));
    for (int k = 0; k < x->n; ++k) follow(x, k);
    for (int k = 0; k < x->n; ++k) CAROM_TRY(make_beside(x, k, err));
    for (int k = 0; k < x->n; ++k) CAROM_TRY(make_start(x, k, err));
    return CAROM_OK;
}

carom_variation *carom_variation_create(const carom_model *m, int n, const int *parameter, carom_error *err) {
    if (!m || n < 0 || (n > 0 && !parameter))
        return carom_fail(err, CAROM_BAD_INPUT, "a variation needs a model and its parameters"), NULL;
    carom_variation *x = calloc(1, sizeof *x);
    if (!x) return no_memory(err), NULL;
    x->n = n;
    if (make(x, m, parameter, err) == CAROM_OK) return x;
    carom_variation_destroy(x);
    return NULL;
}

carom_status carom_variation_set(carom_variation *x, const double *value, bool *kept, carom_error *err) {
    if (!x || !kept || !value) return CAROM_MISSING(err);
    carom_model *m = x->own.m;
    bool derived = false;
    *kept = true;
    for (int k = 0; k < x->n; ++k) *kept = *kept && x->h[k] == 0;
    const int n = own_parameters(x);
    if (!*kept || n == 0) return CAROM_OK;
    CAROM_TRY(carom_model_set(m, n, x->parameter, value, &derived, err));
    *kept = !derived;
    if (derived) return CAROM_OK;
    carom_copy(x->parameters, m->parameter, m->np);
    carom_tape_work_init(x->tape, x->work, x->parameters);
    if (x->back) carom_tape_work_init(x->back->tape, x->back->work, x->parameters);
    m->sys.work_init(m, x->own.work);
    carom_pairs_exact(m, x->own.work, true);
    carom_zero(x->P, x->n * m->np);
    for (int k = 0; k < x->n; ++k) follow(x, k);
    for (int k = 0; k < x->n; ++k)
        carom_fail(&x->no_start[k], CAROM_UNSUPPORTED,
                   "the initial state has no derivative by parameters that were set");
    return CAROM_OK;
}

void carom_variation_destroy(carom_variation *x) {
    if (!x) return;
    for (int i = 0; x->beside && i < BESIDE * x->n; ++i) desk_close(&x->beside[i]);
    desk_close(&x->own);
    backwards_free(x->back);
    carom_tape_destroy(x->tape);
    free(x->work);
    free(x->parameter);
    free(x->P);
    free(x->h);
    free(x->beside);
    free(x->start);
    free(x->no_start);
    free(x->q);
    free(x);
}

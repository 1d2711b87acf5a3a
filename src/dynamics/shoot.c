// shoot.c: the motion over a span of time as a map of states, with its linearisation.
//
// States beside a start satisfy joints and the contacts that are closed there, to first order:  c(x) = 0,  C dx = 0.  Z
// is an orthonormal basis of these dx in units of typical sizes, Y what becomes of it, by (VAR-1) and (VAR-2).
#include "base/missing.h"
#include "base/grow.h"
#include "base/number.h"
#include "base/option.h"
#include "derive/variation.h"
#include "dynamics/shoot.h"
#include "dynamics/steady.h"
#include "dynamics/lapack.h"
#include "linalg/matrix.h"
#include "model/answers.h"
#include "model/controls.h"
#include "model/forcing.h"
#include "model/soft_gaps.h"
#include "scheme/advice.h"
#include <carom/event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ROUNDING = 2e-16; // of typical sizes: a state is not known better
static const double VANISHED = 1e-13, NARROW = 1e-14; // of the rates at both ends; of the step: where a gap is least
static const double SOFT_ZERO = 1e-13; // of typical sizes: a gap that is zero
static const double SOFT_STEP = 1e-7; // of a step: the rate of a gap by a difference
static const double LAST_BIT = 1e-15; // of positions and rates: what a projection leaves
static const double ALIKE = 1e-8;     // of the terms of a state: those of its image under an exchange
static const double SHOOT_RTOL = 1e-11; // of a step of the linearised motion, where none is given
enum { MOST = 1000000 };              // hits kept
enum { LARGE = 240 };                 // numbers of a state: more are followed one column at a time

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a run");
}

const char *carom_hit_word(carom_hit_kind kind) {
    static const char *const word[] = {"impact", "chatter", "close", "open", "stick", "slip", "reverse"};
    return word[kind];
}

// -- what happens -------------------------------------------------------------------------------------------------

static void add_hit(carom_shooter *s, double t, int contact, carom_hit_kind kind, double jump) {
    if (s->nhits == MOST || !CAROM_GROW(s->hit, s->nhits)) return;
    s->hit[s->nhits++] = (carom_hit){
        .t = t, .jump = jump, .contact = contact, .closed = s->closed, .kind = kind, .end = t, .after = s->after};
}

// Contact c closes at t behind a run of impacts: these are one chatter.
static void add_closing(carom_shooter *s, double t, int c) {
    int first = s->nhits;
    while (first > 0 && s->hit[first - 1].contact == c && s->hit[first - 1].kind == CAROM_HIT_IMPACT) --first;
    const int impacts = s->nhits - first;
    if (impacts < 3) {
        add_hit(s, t, c, CAROM_HIT_CLOSE, 0);
        return;
    }
    s->nhits = first + 1;
    s->hit[first].kind = CAROM_HIT_CHATTER, s->hit[first].jump = 0, s->hit[first].closed = s->closed;
    s->hit[first].end = t, s->hit[first].impacts = impacts, s->hit[first].after = s->after;
}

static void keep_touch(const carom_shooter *s, carom_touching *to, int contact, double t, const double *q,
                       const double *v, const double *mode) {
    to->contact = contact, to->t = t;
    carom_copy(to->x, q, s->nq), carom_copy(to->x + s->nq, v, s->nv), carom_copy(to->mode, mode, s->p.nc);
    carom_copy(to->x + s->nq + s->nv, s->signal + carom_model_system(s->task.base)->signals->nset, s->nz);
}

static void note_change(carom_shooter *s, const carom_change *x, bool linear) {
    const int nc = s->p.nc;
    double jump = 0;
    for (int i = 0; i < s->nv; ++i) jump = fmax(jump, fabs(x->v[i] - x->v_before[i]) / s->scale[s->nv + i]);
    s->closed = 0;
    for (int c = 0; c < nc; ++c) s->closed += x->mode[c] != CAROM_MODE_OPEN;
    for (int c = 0; c < nc; ++c) {
        const bool was = x->mode_before[c] != CAROM_MODE_OPEN, is = x->mode[c] != CAROM_MODE_OPEN;
        const double *e = x->phase_before + nc + CAROM_TANGENTS * c, *e_1 = x->phase + nc + CAROM_TANGENTS * c;
        const double t = x->t;
        s->after = !is ? 'o' : x->mode[c] == CAROM_MODE_STICK ? '0' : e_1[0] < 0 ? '-' : '+';
        if (!was && is) add_closing(s, t, c);
        else if (!was && x->impulse[c] > 0) {
            add_hit(s, t, c, CAROM_HIT_IMPACT, jump);
            carom_touching *weak = &s->weakest[c];
            if (linear && (weak->contact < 0 || jump < weak->jump))
                keep_touch(s, weak, c, t, x->q_before, x->v_before, x->mode_before), weak->jump = jump;
        }
        else if (was && !is) add_hit(s, t, c, CAROM_HIT_OPEN, 0);
        else if (was && x->mode_before[c] != x->mode[c])
            add_hit(s, t, c, x->mode[c] == CAROM_MODE_STICK ? CAROM_HIT_STICK : CAROM_HIT_SLIP, 0);
        else if (was && x->mode[c] == CAROM_MODE_SLIP && carom_dot(e, e_1, CAROM_TANGENTS) < 0)
            add_hit(s, t, c, CAROM_HIT_REVERSE, 0);
        s->mode[c] = x->mode[c];
    }
}

// Plain runs; a step that is halved tells some events again.
static carom_status on_change(void *user, const carom_change *x) {
    carom_shooter *s = user;
    while (s->nhits > 0 && s->hit[s->nhits - 1].end > x->t_before) --s->nhits;
    if (x->t > s->t_0 || x->t_before < x->t) note_change(s, x, false);
    else
        for (int c = 0; c < s->p.nc; ++c) s->mode[c] = x->mode[c], s->struck = s->struck || x->impulse[c] > 0;
    s->closed = 0;
    for (int c = 0; c < s->p.nc; ++c) s->closed += s->mode[c] != CAROM_MODE_OPEN;
    return CAROM_OK;
}

static void range(carom_shooter *s, const double *q) {
    for (int i = 0; i < s->nq; ++i) s->least[i] = fmin(s->least[i], q[i]), s->most[i] = fmax(s->most[i], q[i]);
}

static carom_status on_cross(void *user, carom_path *w, const carom_change *x) {
    note_change(user, x, true);
    range(user, w->q);
    return CAROM_OK;
}

// -- states beside the start --------------------------------------------------------------------------------------

// Component i of a direction in units of `scale`.
static carom_direction unit_direction(const carom_shooter *s, double *e, int i) {
    carom_zero(e, s->n);
    e[i] = s->scale[i];
    return (carom_direction){0, e, e + s->nv, NULL}; // constraints do not follow signals of controllers
}

// Column i of C (i < n), or how c changes with the parameter (i = n).  n_rows: its length.
static carom_status constraint_column(carom_shooter *s, carom_path *w, int i, double *column, int *n_rows) {
    const carom_point *p = &w->p;
    const carom_direction d = i < s->n ? unit_direction(s, s->scratch, i) : (carom_direction){0, NULL, NULL, s->way};
    int n = 0;
    if (carom_variation_gaps(w->x, p->t, p->q, d, w->gaps) != CAROM_OK ||
        carom_variation_rates(w->x, p->t, p->q, p->v, d, w->full) != CAROM_OK)
        return carom_fail(s->err, CAROM_USER, "t = %.9g: the derivatives of the model have no finite value here", p->t);
    for (int b = 0; b < p->L.nb; ++b) {
        const int id = p->L.id[b],
                  rows = id >= p->ne && w->phase[id - p->ne] == CAROM_MODE_SLIP ? 1 : p->L.at[b + 1] - p->L.at[b];
        column[n++] = w->gaps[carom_point_id(p, id)];
        for (int k = 0; k < rows; ++k) column[n++] = w->full[w->at_full[id] + k];
    }
    *n_rows = n;
    return CAROM_OK;
}

double carom_basis_reject(const double *basis, int count, double *x, int n) {
    for (int round = 0; round < 2; ++round)
        for (int k = 0; k < count; ++k)
            carom_axpy(x, -carom_dot(basis + (size_t)k * (size_t)n, x, n), basis + (size_t)k * (size_t)n, n);
    return carom_length(x, n);
}

void carom_basis_complete(double *basis, int count, int n, double *x) {
    while (count < n) {
        int best = 0;
        double most = -1;
        for (int i = 0; i < n; ++i) {
            double left = 1;
            for (int k = 0; k < count; ++k)
                left -= basis[(size_t)k * (size_t)n + (size_t)i] * basis[(size_t)k * (size_t)n + (size_t)i];
            if (left > most + CAROM_SAME) most = left, best = i;
        }
        carom_zero(x, n);
        x[best] = 1;
        const double length = carom_basis_reject(basis, count, x, n);
        for (int i = 0; i < n; ++i) basis[(size_t)count * (size_t)n + (size_t)i] = x[i] / length;
        ++count;
    }
}

// Component i of column j: the motion has positions and velocities, its changes of parameters the signals.
static double *entry(carom_shooter *s, carom_path *w, int j, int i) {
    const int own = 2 * s->nv;
    return i < own ? w->y + (size_t)j * (size_t)own + i : s->dp + j * (s->np + s->nz) + s->np + i - own;
}

// -- controllers ------------------------------------------------------------------------------------------------------
//
//     z+ = c(t, q, v, z, p)  at fixed times t, the rest goes on:  dz+ = c_q dq + c_v dv + c_z dz + c_p dp     (SMP-1)

static carom_status keep_sampling(void *user, int k, bool effect, double t, const double *q, const double *v,
                                  const double *signals) {
    carom_shooter *s = user;
    const int ni = carom_model_system(s->task.base)->signals->ni;
    if (s->ended) return CAROM_OK;
    if (t > s->sim_end - CAROM_INSTANT * s->span) {
        s->ended = true;
        carom_copy(s->end + s->nq + s->nv, signals + ni - s->nz, s->nz);
        return CAROM_OK;
    }
    double *x = malloc((size_t)(s->nq + s->nv + ni) * sizeof *x);
    if (!x || !CAROM_GROW(s->sampling, s->nsampling)) return free(x), CAROM_NO_MEMORY;
    carom_copy(x, q, s->nq), carom_copy(x + s->nq, v, s->nv), carom_copy(x + s->nq + s->nv, signals, ni);
    s->sampling[s->nsampling++] = (carom_sampling){k, effect, t, x};
    return CAROM_OK;
}

static void drop_samplings(carom_shooter *s) {
    for (int i = 0; i < s->nsampling; ++i) free(s->sampling[i].x);
    s->nsampling = 0;
}

// Forces and their derivatives with these signals.
static void hold(carom_shooter *s, carom_path *w, const double *signals) {
    const carom_system *sys = &w->p.sys;
    if (signals != s->signal) carom_copy(s->signal, signals, sys->signals->ni);
    sys->signals->set(sys->model, w->p.work, signals);
    carom_variation_hold(s->x, signals);
    w->ready = false;
}

// (SMP-1)  What has happened since the columns jumped last, up to now: the scheme may be a step ahead.
static carom_status pass_samplings(carom_shooter *s, carom_path *w) {
    const carom_system *sys = &w->p.sys;
    const int nset = sys->signals->nset, columns = w->n;
    int done = 0;
    for (; done < s->nsampling && s->sampling[done].t <= w->t + CAROM_INSTANT * s->span; ++done) {
        const carom_sampling *a = &s->sampling[done];
        const carom_control_place c = carom_model_control(s->task.base, a->k);
        const double *q = a->x, *v = q + s->nq;
        carom_variation_hold(s->x, v + s->nv);
        for (int j = 0; j < columns; ++j) {
            double *dp = s->dp + j * (s->np + s->nz), *dz = dp + s->np - nset;
            const double *dq = w->y + (size_t)j * 2 * (size_t)s->nv, *y = s->computed + c.first;
            if (a->effect) {
                carom_copy(dz + c.output, dz + c.pending, c.noutputs);
                continue;
            }
            if (carom_variation_control(s->x, a->t, q, v, (carom_direction){0, dq, dq + s->nv, dp}, s->computed) !=
                CAROM_OK)
                return carom_fail(s->err, CAROM_USER,
                                  "t = %.9g: the derivatives of a controller have no finite value here", a->t);
            carom_copy(dz + (c.delayed ? c.pending : c.output), y, c.noutputs);
            carom_copy(dz + c.state, y + c.noutputs, c.nstates);
        }
        hold(s, w, v + s->nv);
        if (sys->signals->sample(sys->model, w->p.work, a->k, a->effect, a->t, q, v, s->signal) != CAROM_OK)
            return carom_fail(s->err, CAROM_USER, "t = %.9g: a controller has no finite value here", a->t);
        hold(s, w, s->signal);
        free(a->x);
    }
    s->nsampling -= done;
    if (done > 0) memmove(s->sampling, s->sampling + done, (size_t)s->nsampling * sizeof *s->sampling);
    return CAROM_OK;
}

static void put_rate(carom_shooter *s, const carom_path *w) {
    for (int i = 0; i < s->nv; ++i)
        s->rate_0[i] = carom_model_state(s->task.base, i) ? 0 : w->v[i] / s->scale[i],
        s->rate_0[s->nv + i] = w->a_after[i] / s->scale[s->nv + i];
}

// Columns of the path: Z, then the change with the parameter.
static void put_columns(carom_shooter *s, carom_path *w) {
    const int n = s->n, m = s->m, np = s->np + s->nz;
    w->n = m + (s->parameter >= 0);
    carom_zero(s->dp, (ptrdiff_t)w->n * np);
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < n; ++i) *entry(s, w, j, i) = s->scale[i] * s->Z[(size_t)j * (size_t)n + (size_t)i];
    if (s->parameter < 0) return;
    carom_copy(s->dp + m * np, s->way, np);
    for (int i = 0; i < n; ++i) *entry(s, w, m, i) = s->scale[i] * s->p_0[i];
}

// (ORB-6)  The nearest direction, as masses measure it, of states beside that at which w stands:
//
//     W'dq = 0,   d(W'v + w) = 0:   dq - M^-1 W G^-1 W'dq,   dv - M^-1 W G^-1 d(W'v + w)
//
// over joints and closed contacts, sparse as the mechanism is.
static carom_status make_tangent(carom_shooter *s, carom_path *w, double *z) {
    const carom_point *p = &w->p;
    const carom_local *L = &p->L;
    const int nv = s->nv;
    double *d = s->scratch;
    for (int i = 0; i < s->n; ++i) d[i] = s->scale[i] * z[i];
    for (int i = 0; i < nv; ++i)
        if (carom_model_state(s->task.base, i)) d[i] = 0; // (STA-5)
    for (int half = 0; half < 2 && L->nb > 0; ++half) {
        const carom_direction along = {0, d, d + nv, NULL};
        if ((half ? carom_variation_rates(w->x, p->t, p->q, p->v, along, w->full)
                  : carom_variation_gaps(w->x, p->t, p->q, along, w->gaps)) != CAROM_OK)
            return carom_fail(s->err, CAROM_USER, "t = %.9g: the derivatives of the model have no finite value here",
                              p->t);
        int n = 0;
        for (int b = 0; b < L->nb; ++b) {
            const int id = L->id[b];
            const bool one = !half || (id >= p->ne && w->phase[id - p->ne] == CAROM_MODE_SLIP);
            for (int k = L->at[b]; k < (one ? L->at[b] + 1 : L->at[b + 1]); ++k) {
                const double wrong = half ? w->full[w->at_full[id] + k - L->at[b]] : w->gaps[carom_point_id(p, id)];
                if (b < w->nj) {
                    w->joint[k] = -wrong;
                    continue;
                }
                carom_column_expand(w->X + (size_t)n * (size_t)nv, &L->W, k);
                w->r[n] = -wrong;
                w->row[n++] = k;
            }
        }
        carom_path_respond(w, n, true);
        carom_zero(w->dx, nv);
        carom_path_push(w, w->dx, w->r, w->joint);
        carom_axpy(d + half * nv, 1, w->dx, nv);
    }
    for (int i = 0; i < s->n; ++i) z[i] = d[i] / s->scale[i];
    return CAROM_OK;
}

static carom_status start_one(carom_shooter *s, carom_path *w) {
    carom_copy(s->mode_0, w->phase, s->p.nc), carom_copy(s->mode, w->phase, s->p.nc);
    s->m = 1;
    CAROM_TRY(make_tangent(s, w, s->Z));
    put_columns(s, w);
    put_rate(s, w);
    return CAROM_OK;
}

// (STA-5)  Integrals of first-order states are no part of the map: they start as they are, and end there.
// Rows of C, orthonormal, with -c by the parameter as their right-hand sides; then Z.
static carom_status on_start(void *user, carom_path *w) {
    carom_shooter *s = user;
    if (s->few) return start_one(s, w);
    const int n = s->n, most = 2 * w->p.L.at[w->p.L.nb] + 1;
    carom_copy(s->mode_0, w->phase, s->p.nc), carom_copy(s->mode, w->phase, s->p.nc);
    double *C = calloc((size_t)most * (size_t)(n + 1), sizeof *C), *row = calloc((size_t)n + 1, sizeof *row);
    int rank = 0, n_rows = 0;
    carom_status status = C && row ? CAROM_OK : no_memory(s->err);
    for (int i = 0; i < n + (s->parameter >= 0) && status == CAROM_OK && w->p.L.nb > 0; ++i)
        status = constraint_column(s, w, i, C + (size_t)i * (size_t)most, &n_rows);
    carom_zero(s->p_0, n);
    for (int i = 0; i < s->nv && status == CAROM_OK; ++i) { // (STA-5)
        if (!carom_model_state(s->task.base, i)) continue;
        carom_zero(s->rows + (size_t)rank * (size_t)n, n);
        s->rows[(size_t)rank * (size_t)n + (size_t)i] = 1;
        s->scratch[n + rank++] = 0;
    }
    for (int r = 0; r < n_rows && status == CAROM_OK && rank < n; ++r) {
        for (int i = 0; i <= n; ++i) row[i] = C[(size_t)i * (size_t)most + (size_t)r];
        const double size = carom_length(row, n);
        double right = -row[n];
        for (int round = 0; round < 2; ++round)
            for (int k = 0; k < rank; ++k) {
                const double along = carom_dot(s->rows + (size_t)k * (size_t)n, row, n);
                carom_axpy(row, -along, s->rows + (size_t)k * (size_t)n, n);
                right -= along * s->scratch[n + k];
            }
        const double left = carom_length(row, n);
        if (!(left > CAROM_DEPENDENT * size) || size == 0) continue;
        for (int i = 0; i < n; ++i) s->rows[(size_t)rank * (size_t)n + (size_t)i] = row[i] / left;
        s->scratch[n + rank] = right / left;
        carom_axpy(s->p_0, s->scratch[n + rank], s->rows + (size_t)rank * (size_t)n, n);
        ++rank;
    }
    if (status == CAROM_OK) {
        if (rank < n) carom_basis_complete(s->rows, rank, n, row);
        s->m = n - rank;
        carom_copy(s->Z, s->rows + (size_t)rank * (size_t)n, (ptrdiff_t)s->m * n);
        put_columns(s, w);
        put_rate(s, w);
    }
    free(C), free(row);
    return status == CAROM_OK ? pass_samplings(s, w) : status;
}

// -- lowest gaps --------------------------------------------------------------------------------------------------

// g and g' of contact c at a state; w->full, w->gaps are scratch.
static carom_status gap_at(carom_path *w, int c, double t, const double *q, const double *v, double *g, double *rate) {
    carom_point *p = &w->p;
    CAROM_TRY(carom_path_stand(w, t, q, v, NULL));
    *g = p->g[p->ne + c];
    const carom_status status = carom_variation_gaps(w->x, t, q, (carom_direction){1, v, NULL, NULL}, w->gaps);
    *rate = w->gaps[carom_model_system(w->model)->ne + c];
    return status;
}

// An open contact that turns back inside the step comes nearest where g' = 0: by regula falsi (Illinois).
static carom_status nearest(carom_shooter *s, carom_path *w, int c, double h, double rate_0, double rate_1) {
    double g = 0, rate = rate_1;
    carom_bracket k = {.b = h, .f_a = rate_0, .f_b = rate_1};
    for (int i = 0; i < 60 && fabs(rate) > VANISHED * (fabs(k.f_a) + fabs(k.f_b)) && k.b - k.a > NARROW * h; ++i) {
        const double tau = carom_bracket_next(&k);
        CAROM_TRY(carom_path_try(w, tau, NULL));
        CAROM_TRY(gap_at(w, c, w->t + tau, w->q_1, w->v_1, &g, &rate));
        carom_bracket_cut(&k, tau, rate, rate < 0);
    }
    if (g < s->low[c]) {
        s->low[c] = g;
        keep_touch(s, &s->nearest[c], c, w->t + w->tried, w->q_1, w->v_1, w->phase);
    }
    return CAROM_OK;
}

// Position i turns back inside the step: where the cubic through both ends with their slopes does.
static void turning(carom_shooter *s, int i, double q_0, double d_0, double q_1, double d_1) {
    // q_0 + d_0 x + b x^2 + c x^3
    const double rise = q_1 - q_0, b = 3 * rise - 2 * d_0 - d_1, c = d_0 + d_1 - 2 * rise;
    const double root = sqrt(fmax(0, b * b - 3 * c * d_0)), x = d_0 / (-b + (d_0 > 0 ? root : -root)),
                 q = q_0 + x * (d_0 + x * (b + x * c));
    if (x > 0 && x < 1) s->least[i] = fmin(s->least[i], q), s->most[i] = fmax(s->most[i], q);
}

// -- contacts of finite stiffness ------------------------------------------------------------------------------------

// The gap of contact i and its rate, by a difference along the motion.
static double soft_at(carom_shooter *s, carom_path *w, int i, double t, const double *q, const double *v, double h,
                      double *rate) {
    const carom_system *sys = &w->p.sys;
    double *g = s->soft_gap, *moved = s->block, by = SOFT_STEP * h;
    carom_model_soft_gaps(w->model, w->p.work, t, q, g);
    const double gap = g[i];
    if (sys->move) sys->move(sys->model, moved, q, by, v);
    else carom_add(moved, q, by, v, s->nv);
    carom_model_soft_gaps(w->model, w->p.work, t + by, moved, g);
    *rate = (g[i] - gap) / by;
    return gap;
}

// A value of the gap on the way; where it is zero up to rounding, as at a kink that the scheme has located, the sign
// before goes on.
static void pass_soft(carom_shooter *s, int i, double g) {
    if (!(fabs(g) > SOFT_ZERO * carom_norm_max(s->scale, s->nv)) || (g < 0) == s->soft_now[i]) return;
    s->soft_now[i] = g < 0;
    ++s->crossed[i];
}

// How often the gap goes through zero in a step: at its ends, and where it is least or largest in between.
static carom_status cross_soft(carom_shooter *s, carom_path *w, double h) {
    for (int i = 0; i < s->soft; ++i) {
        double rate_0, rate_1, between = NAN;
        const double g_0 = soft_at(s, w, i, w->t, w->q, w->v, h, &rate_0),
                     g_1 = soft_at(s, w, i, w->t + h, w->q_1, w->v_1, h, &rate_1);
        pass_soft(s, i, g_0);
        if (rate_0 * rate_1 < 0) {
            carom_bracket k = {.b = h, .f_a = rate_0, .f_b = rate_1};
            for (int n = 0; n < 60 && k.b - k.a > NARROW * h; ++n) {
                const double tau = carom_bracket_next(&k);
                double rate;
                if (!(tau > k.a && tau < k.b)) break;
                CAROM_TRY(carom_path_try(w, tau, NULL));
                between = soft_at(s, w, i, w->t + tau, w->q_1, w->v_1, h, &rate);
                if (fabs(rate) <= SOFT_STEP * (fabs(rate_0) + fabs(rate_1))) break;
                carom_bracket_cut(&k, tau, rate, (rate < 0) == (rate_0 < 0));
            }
            if (w->tried != h) CAROM_TRY(carom_path_try(w, h, NULL));
        }
        if (!isnan(between)) pass_soft(s, i, between);
        pass_soft(s, i, g_1);
    }
    return CAROM_OK;
}

// -- harmonics of a response ------------------------------------------------------------------------------------------
//
//     X_k = 2/T integral x exp(-i k w t) dt,  by Gauss's rule of five points over every step  (RSP-1)

static carom_status add_response(carom_shooter *s, carom_path *w, double h) {
    static const double node[5] = {0.04691007703066800, 0.23076534494715845, 0.5, 0.76923465505284155,
                                   0.95308992296933200};
    static const double weight[5] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324,
                                     0.11846344252809454};
    const carom_ledger none = {0};
    for (int i = 0; i < 5; ++i) {
        double value[4] = {0};
        const double t = w->t + node[i] * h, part = weight[i] * h;
        CAROM_TRY(carom_path_try(w, node[i] * h, NULL));
        carom_model_observe(w->model, s->averages, &none, w->p.work, t, w->q_1, w->v_1, value);
        const double x = value[s->observed];
        s->mean += part * x;
        for (int k = 0; k < CAROM_HARMONICS; ++k)
            s->harmonic[2 * k] += part * x * cos((k + 1) * s->pitch * t),
                s->harmonic[2 * k + 1] += part * x * sin((k + 1) * s->pitch * t);
    }
    return w->tried == h ? CAROM_OK : carom_path_try(w, h, NULL);
}

static void pace(carom_shooter *s, const carom_path *w, double h) {
    double rate = 0;
    for (int i = 0; i < s->nv; ++i)
        rate = fmax(rate, fmax(fabs(w->v_1[i]) / s->scale[i], fabs(w->v_1[i] - w->v[i]) / (h * s->scale[s->nv + i])));
    s->slow = fmin(s->slow, rate), s->fast = fmax(s->fast, rate);
}

static carom_status on_step(void *user, carom_path *w, double h) {
    carom_shooter *s = user;
    pace(s, w, h);
    if (s->respond) CAROM_TRY(add_response(s, w, h));
    if (s->soft > 0) CAROM_TRY(cross_soft(s, w, h));
    range(s, w->q), range(s, w->q_1);
    for (int i = 0; i < s->nq && s->nq == s->nv; ++i)
        if (w->v[i] * w->v_1[i] < 0) turning(s, i, w->q[i], w->v[i] * h, w->q_1[i], w->v_1[i] * h);
    for (int c = 0; c < s->p.nc; ++c) {
        double g, rate_0, g_1, rate_1;
        if (w->phase[c] != CAROM_MODE_OPEN) continue;
        CAROM_TRY(gap_at(w, c, w->t, w->q, w->v, &g, &rate_0));
        if (!(rate_0 < 0)) continue;
        CAROM_TRY(gap_at(w, c, w->t + h, w->q_1, w->v_1, &g_1, &rate_1));
        if (!(rate_1 > 0)) continue;
        CAROM_TRY(nearest(s, w, c, h, rate_0, rate_1));
        if (w->tried != h) CAROM_TRY(carom_path_try(w, h, NULL));
    }
    return CAROM_OK;
}

// -- runs ---------------------------------------------------------------------------------------------------------

static carom_sim *simulate(carom_shooter *s, double t_0, double span, const double *x, int steps) {
    carom_sim_def def = carom_run_sim(&s->run, s->task.base);
    def.t0 = t_0, def.h = span / steps, def.t_end = t_0 + span, def.q0 = x, def.v0 = x + s->nq;
    if (s->nz > 0) {
        const carom_system *sys = carom_model_system(s->task.base);
        carom_copy(s->signal, sys->signals->input, sys->signals->nset),
            carom_copy(s->signal + sys->signals->nset, x + s->nq + s->nv, s->nz);
        def.input = s->signal, def.input_whole = true;
        def.on_sample = keep_sampling, def.sample_user = s;
        drop_samplings(s);
    }
    s->sim_end = def.t_end, s->ended = false;
    carom_sim *sim = carom_sim_create(&def, s->err);
    if (sim) carom_sim_stop_when(sim, s->stop, s->user);
    return sim;
}

static carom_status plain(carom_shooter *s, carom_sim *sim) {
    carom_sim_watch_changes(sim, on_change, s);
    while (!carom_sim_done(sim)) {
        CAROM_TRY(carom_sim_step(sim, s->err));
        const carom_now now = carom_sim_now(sim);
        drop_samplings(s);
        if (s->nz > 0) carom_copy(s->signal, carom_sim_inputs(sim), carom_model_system(s->task.base)->signals->ni);
        if (s->on_state) CAROM_TRY(s->on_state(s->watch, now.t, now.q, now.v, s->closed));
    }
    return CAROM_OK;
}

static void close_path(carom_shooter *s) {
    if (s->opened) carom_path_close(&s->path);
    s->opened = false;
}

static carom_status on_row(void *user, carom_path *w) {
    carom_shooter *s = user;
    CAROM_TRY(pass_samplings(s, w));
    return s->on_row ? s->on_row(s->watch, w) : CAROM_OK;
}

static carom_status open_path(carom_shooter *s, carom_sim *sim) {
    const int columns = s->few ? 1 : s->n + (s->parameter >= 0);
    close_path(s);
    s->path = (carom_path){.user = s,
                           .on_start = on_start,
                           .on_cross = on_cross,
                           .on_step = s->lows ? on_step : NULL,
                           .on_row = s->on_row || s->nz > 0 ? on_row : NULL,
                           .x = s->x,
                           .borrowed = true,
                           .records = s->few && sim,
                           .rtol = s->rtol > 0 ? s->rtol : SHOOT_RTOL,
                           .longest = s->lows ? s->span / 40 : 0};
    s->opened = true;
    CAROM_TRY(carom_path_open(&s->path, s->task.base, sim, columns, s->dp, s->np + s->nz, s->index, 0, s->err));
    if (s->nz > 0 && sim) hold(s, &s->path, carom_sim_inputs(sim));
    return CAROM_OK;
}

// Y, rates and modes at the end.
static carom_status put_end(carom_shooter *s) {
    const int n = s->n;
    carom_path *w = &s->path;
    for (int j = 0; j < s->m; ++j)
        for (int i = 0; i < n; ++i) s->Y[(size_t)j * (size_t)n + (size_t)i] = *entry(s, w, j, i) / s->scale[i];
    for (int i = 0; i < n && s->parameter >= 0; ++i) s->p_1[i] = *entry(s, w, s->m, i) / s->scale[i];
    CAROM_TRY(carom_path_evaluate(w, w->t, w->q, w->v));
    for (int i = 0; i < s->nv; ++i)
        s->rate_1[i] = w->v[i] / s->scale[i], s->rate_1[s->nv + i] = w->a[i] / s->scale[s->nv + i];
    for (int i = 0; i < s->nv; ++i) {
        if (!carom_model_state(s->task.base, i)) continue;
        for (int j = 0; j < s->m; ++j) s->Y[(size_t)j * (size_t)n + (size_t)i] = 0;
        s->p_1[i] = s->rate_1[i] = 0;
    }
    carom_copy(s->mode_1, w->phase, s->p.nc);
    s->linear = true;
    return CAROM_OK;
}

static carom_status linearised(carom_shooter *s, carom_sim *sim) {
    carom_path *w = &s->path;
    CAROM_TRY(open_path(s, sim));
    CAROM_TRY(carom_path_run(w));
    if (s->few) return CAROM_OK;
    if (s->coast > 0) CAROM_TRY(carom_path_coast(w, s->t_0 + s->span));
    return put_end(s);
}

carom_status carom_shoot(carom_shooter *s, double t_0, double span, const double *x, bool linear, int steps) {
    s->t_0 = t_0, s->span = span, s->nhits = 0, s->closed = 0, s->struck = false;
    if (x != s->start) carom_copy(s->start, x, s->nx);
    for (int c = 0; c < s->p.nc; ++c) s->mode[c] = CAROM_MODE_OPEN, s->low[c] = linear ? INFINITY : s->low[c];
    for (int i = 0; i < s->nq && linear; ++i) s->least[i] = INFINITY, s->most[i] = -INFINITY;
    if (linear) s->slow = INFINITY, s->fast = 0;
    if (linear) s->linear = false, s->mean = 0, carom_zero(s->harmonic, 2 * CAROM_HARMONICS);
    for (int c = 0; c < s->p.nc && linear; ++c) s->nearest[c].contact = s->weakest[c].contact = -1;
    if (s->soft > 0 && linear) carom_model_soft_gaps(s->task.base, s->p.work, t_0, s->start, s->soft_gap);
    for (int i = 0; i < s->soft && linear; ++i)
        s->crossed[i] = 0, s->soft_closed[i] = s->soft_now[i] = s->soft_gap[i] < 0;
    carom_sim *sim = simulate(s, t_0, linear ? span - s->coast : span, s->start, steps);
    if (!sim) return s->err->code;
    if (linear && s->coast > 0 && s->nz > 0) {
        carom_sim_destroy(sim);
        return carom_fail(s->err, CAROM_UNSUPPORTED, "branches through grazing are not supported with controllers");
    }
    carom_status status = linear ? linearised(s, sim) : plain(s, sim);
    const carom_now now = carom_sim_now(sim);
    const bool coasted = linear && s->coast > 0 && status == CAROM_OK;
    carom_copy(s->end, coasted ? s->path.q : now.q, s->nq),
        carom_copy(s->end + s->nq, coasted ? s->path.v : now.v, s->nv);
    for (int i = 0; i < s->nv; ++i)
        if (carom_model_state(s->task.base, i)) s->end[i] = s->start[i];
    if (s->nz > 0 && !s->ended)
        carom_copy(s->end + s->nq + s->nv, carom_sim_inputs(sim) + carom_model_system(s->task.base)->signals->nset,
                   s->nz);
    s->path.sim = NULL;
    carom_sim_destroy(sim);
    return status;
}

carom_status carom_shooter_tangent(carom_shooter *s, double *z) {
    carom_path *w = &s->path;
    double *phase = w->phase;
    w->phase = s->mode_0;
    carom_status status = carom_path_stand(w, s->t_0, s->start, s->start + s->nq, NULL);
    if (status == CAROM_OK) status = make_tangent(s, w, z);
    w->phase = phase;
    return status;
}

carom_status carom_shooter_follow(carom_shooter *s, double *z) {
    carom_path *w = &s->path;
    s->nhits = 0, s->linear = false;
    if (z != s->Z) carom_copy(s->Z, z, s->n);
    CAROM_TRY(carom_path_again(w));
    CAROM_TRY(put_end(s));
    if (z != s->Z) carom_copy(z, s->Z, s->n);
    return carom_shooter_tangent(s, s->Y);
}

// -- moving states ------------------------------------------------------------------------------------------------

void carom_shooter_apart(const carom_shooter *s, const double *a, const double *b, double *out) {
    const carom_model *m = s->task.base;
    if (s->nq == s->nv) {
        for (int i = 0; i < s->nq; ++i) out[i] = b[i] - a[i];
    } else {
        double *dq = s->block;
        for (int i = 0; i < s->nq; ++i) dq[i] = b[i] - a[i];
        for (int i = 0; i < s->nq; ++i) { // of q and -q, which turn alike, that which is nearer
            if (carom_model_quaternion(m, i) != i || carom_dot(a + i, b + i, 4) >= 0) continue;
            for (int k = 0; k < 4; ++k) dq[i + k] = -b[i + k] - a[i + k];
        }
        carom_model_velocities(m, a, dq, out);
    }
    for (int i = 0; i < s->nv + s->nz; ++i) out[s->nv + i] = b[s->nq + i] - a[s->nq + i];
    for (int i = 0; i < s->n; ++i) out[i] /= s->scale[i];
}

// Joints and contacts that are closed: on the wall, then along it.
static carom_status project(carom_shooter *s, double *q, double *v) {
    carom_path *w = &s->path;
    const carom_point *p = &w->p;
    const carom_local *L = &p->L;
    const carom_system *sys = &p->sys;
    for (int round = 0; round < 8; ++round) {
        const bool positions = round < 6;
        CAROM_TRY(carom_path_stand(w, s->t_0, q, v, NULL));
        double wrong = 0;
        int n = 0;
        for (int k = 0; k < w->nj; ++k)
            w->joint[k] = positions ? -p->g[k] : -w->u[k], wrong = fmax(wrong, fabs(w->joint[k]));
        for (int b = w->nj; b < L->nb; ++b) {
            const bool slides = L->id[b] >= p->ne && w->phase[L->id[b] - p->ne] == CAROM_MODE_SLIP;
            for (int k = L->at[b]; k < (positions || slides ? L->at[b] + 1 : L->at[b + 1]); ++k) {
                carom_column_expand(w->X + (size_t)n * (size_t)s->nv, &L->W, k);
                w->r[n] = positions ? -p->g[L->id[b]] : -w->u[k];
                wrong = fmax(wrong, fabs(w->r[n]));
                w->row[n++] = k;
            }
        }
        if (wrong <= LAST_BIT * (positions ? carom_norm_max(q, s->nq) : carom_norm_max(v, s->nv))) {
            if (positions) round = 5;
            continue;
        }
        carom_path_respond(w, n, true);
        carom_zero(w->dx, s->nv);
        carom_path_push(w, w->dx, w->r, w->joint);
        if (!positions) carom_axpy(v, 1, w->dx, s->nv);
        else if (sys->move) sys->move(sys->model, q, q, 1, w->dx);
        else carom_axpy(q, 1, w->dx, s->nv);
    }
    return CAROM_OK;
}

static carom_status settle(carom_shooter *s, double *q, double *v) {
    carom_path *w = &s->path;
    bool some = s->p.ne > 0;
    for (int c = 0; c < s->p.nc; ++c) some = some || s->mode_0[c] != CAROM_MODE_OPEN;
    if (!some) return CAROM_OK;
    if (!s->opened) CAROM_TRY(open_path(s, NULL));
    double *phase = w->phase;
    w->phase = s->mode_0;
    const carom_status status = project(s, q, v);
    w->phase = phase;
    return status;
}

carom_status carom_shooter_stand(carom_shooter *s, double t, const double *x, double *mode, const bool *with) {
    carom_path *w = &s->path;
    if (!s->opened) CAROM_TRY(open_path(s, NULL));
    double *phase = w->phase;
    w->phase = mode;
    const carom_status status = carom_path_stand(w, t, x, x + s->nq, with);
    w->phase = phase;
    return status;
}

carom_status carom_shooter_snap(carom_shooter *s, double t, double *x) {
    carom_copy(s->mode_0, s->mode, s->p.nc);
    s->t_0 = t;
    return settle(s, x, x + s->nq);
}

carom_status carom_shooter_move(carom_shooter *s, const double *x, const double *by, double *y) {
    const carom_system *sys = carom_model_system(s->task.base);
    double *d = s->block;
    for (int i = 0; i < s->nv; ++i) d[i] = s->scale[i] * by[i];
    if (sys->move) sys->move(sys->model, y, x, 1, d);
    else carom_add(y, x, 1, d, s->nv);
    for (int i = 0; i < s->nv + s->nz; ++i) y[s->nq + i] = x[s->nq + i] + s->scale[s->nv + i] * by[s->nv + i];
    // what is left of a solution that is zero would be integrated as accurately as any other
    bool zero = s->nq == s->nv;
    for (int i = 0; i < s->nx; ++i) zero = zero && fabs(y[i]) < ROUNDING * s->scale[i];
    if (zero) carom_zero(y, s->nx);
    return settle(s, y, y + s->nq);
}

// -- the model ----------------------------------------------------------------------------------------------------

carom_status carom_shooter_observe(carom_shooter *s, double *value, double *change) {
    const carom_model *m = s->task.base;
    const carom_ledger none = {0};
    double all[4] = {0};
    carom_model_observe(m, s->averages, &none, s->p.work, 0, s->p.q, s->p.v, all);
    *value = all[0];
    if (!change) return CAROM_OK;
    *change = 0;
    if (s->parameter < 0) return CAROM_OK;
    CAROM_TRY(carom_variation_observed(s->x, 0, s->p.q, s->p.v, (carom_direction){0, NULL, NULL, s->way}, all));
    *change = all[0];
    return CAROM_OK;
}

// Gaps, forces, M v, W'v + w and what controllers compute, in units of `scale`, at (t, q, v), one behind the other;
// sizes: of each group, the largest so far.
static carom_status terms(carom_shooter *s, double *to, double size[5]) {
    carom_point *p = &s->p;
    const int links = p->ne + p->nc;
    CAROM_TRY(carom_point_look(p, s->err));
    for (p->L.nb = 0; p->L.nb < links; ++p->L.nb) p->L.id[p->L.nb] = p->L.nb;
    CAROM_TRY(carom_point_directions(p, &p->L, s->err));
    const int rows = p->L.at[p->L.nb], control = links + 2 * s->nv + p->n,
              first[] = {0, links, links + s->nv, links + 2 * s->nv, control, control + s->nz};
    carom_copy(to, p->g, links), carom_copy(to + first[1], p->f, s->nv);
    carom_zero(to + first[2], s->nv);
    carom_matrix_muladd(to + first[2], 1, p->M, p->v);
    for (int k = 0; k < rows; ++k) to[first[3] + k] = carom_column_dot(&p->L.W, k, p->v) + p->L.w[k];
    if (s->nz > 0) {
        carom_model_compute(s->task.base, p->work, p->t, p->q, p->v, s->computed);
        carom_steady_spread(s->task.base, s->computed, to + control);
    }
    for (int i = 0; i < s->nz; ++i) to[control + i] /= s->scale[2 * s->nv + i];
    for (int g = 0; g < 5; ++g) size[g] = fmax(size[g], carom_norm_max(to + first[g], first[g + 1] - first[g]));
    return CAROM_OK;
}

carom_status carom_shooter_same(carom_shooter *s, double span, const double *x, double dt, const double *dq,
                                bool *same) {
    enum { TIMES = 7 };
    carom_point *p = &s->p;
    const int links = p->ne + p->nc, control = links + 2 * s->nv + p->n, n = control + s->nz,
              first[] = {0, links, links + s->nv, links + 2 * s->nv, control, n};
    double *all = calloc(2 * TIMES * (size_t)(n + 1), sizeof *all), size[5] = {0};
    carom_status status = all ? CAROM_OK : no_memory(s->err);
    carom_copy(s->signal + p->sys.signals->ni - s->nz, x + s->nq + s->nv, s->nz);
    if (s->nz > 0) p->sys.signals->set(p->sys.model, p->work, s->signal);
    for (int k = 0; k < 2 * TIMES && status == CAROM_OK; ++k) {
        p->t = 0.131 * span * (k / 2) + k % 2 * dt;
        carom_copy(p->q, x, p->nq), carom_copy(p->v, x + p->nq, s->nv);
        for (int i = 0; k % 2 && dq && i < p->nq; ++i) p->q[i] += dq[i];
        status = terms(s, all + (size_t)k * (size_t)n, size);
    }
    *same = true;
    for (int k = 0; k < TIMES && status == CAROM_OK; ++k)
        for (int g = 0; g < 5; ++g)
            for (int i = first[g]; i < first[g + 1]; ++i)
                *same = *same && fabs(all[(size_t)(2 * k) * (size_t)n + (size_t)i] -
                                      all[(size_t)(2 * k + 1) * (size_t)n + (size_t)i]) <= ALIKE * size[g];
    free(all);
    carom_copy(p->q, x, p->nq), carom_copy(p->v, x + p->nq, s->nv);
    p->t = 0;
    return status;
}

carom_status carom_model_timeless(const carom_model *m, const char *by, bool *timeless, carom_error *err) {
    if (!m || !timeless) return CAROM_MISSING(err);
    int free_one = -1;
    for (int i = 0; by && i < carom_model_count(m).parameters; ++i)
        if (strcmp(carom_model_parameter(m, i, NULL), by) == 0) free_one = i;
    carom_forcing f;
    CAROM_TRY(carom_model_forcing(m, free_one, &f, err));
    *timeless = !f.forced;
    return CAROM_OK;
}

static carom_status prepare(carom_shooter *s) {
    carom_point_close(&s->p);
    CAROM_TRY(carom_point_open(&s->p, s->task.base, s->err));
    if (s->x) return CAROM_OK;
    s->x = carom_variation_create(s->task.base, s->np + s->nz, s->index, s->err);
    return s->x ? CAROM_OK : s->err->code;
}

static carom_status set_parameters(carom_shooter *s, double value) {
    bool derived = false, kept = false;
    double to[2];
    for (int k = 0; k < s->np; ++k) to[k] = s->at[k] + value * s->way[k];
    CAROM_TRY(carom_model_set(s->task.base, s->np, s->index, to, &derived, s->err));
    s->value = value;
    close_path(s);
    if (!derived) CAROM_TRY(carom_variation_set(s->x, to, &kept, s->err));
    if (!kept) carom_variation_destroy(s->x), s->x = NULL;
    return prepare(s);
}

carom_status carom_shooter_set(carom_shooter *s, double value) {
    return value == s->value ? CAROM_OK : set_parameters(s, value);
}

carom_status carom_shooter_aim(carom_shooter *s, const double *at, const double *way, double value) {
    carom_copy(s->at, at, 2), carom_copy(s->way, way, 2);
    s->linear = false;
    return set_parameters(s, value);
}

static carom_status allocate(carom_shooter *s) {
    const size_t n = (size_t)s->n, nc = (size_t)s->p.nc, x = (size_t)s->nx, np = (size_t)(s->np + s->nz);
    double **part[] = {&s->scale, &s->p_0,   &s->p_1,     &s->rate_0, &s->rate_1, &s->Z,    &s->Y,
                       &s->rows,  &s->start, &s->end,     &s->mode_0, &s->mode_1, &s->mode, &s->low,
                       &s->block, &s->dp,    &s->scratch, &s->least,  &s->most};
    const size_t all = s->few ? n : n * n;
    const size_t size[] = {n, n, n, n, n, all, all, s->few ? 0 : all, x, x, nc, nc, nc, nc, x + n, (n + 1) * np,
                           2 * n, x, x};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) {
        *part[i] = calloc(size[i] + 1, sizeof(double));
        if (!*part[i]) return no_memory(s->err);
    }
    for (int i = 0; i < s->n; ++i) s->scale[i] = 1;
    // one block for all touches
    s->soft = carom_model_soft_count(s->task.base);
    s->crossed = calloc((size_t)s->soft + 1, sizeof *s->crossed),
    s->soft_gap = calloc((size_t)s->soft + 1, sizeof *s->soft_gap),
    s->soft_closed = calloc(2 * (size_t)s->soft + 2, sizeof *s->soft_closed);
    if (!s->crossed || !s->soft_gap || !s->soft_closed) return no_memory(s->err);
    s->soft_now = s->soft_closed + s->soft + 1;
    s->nearest = calloc(2 * nc + 1, sizeof *s->nearest), s->touches = calloc(2 * nc * (x + nc) + 1, sizeof *s->touches);
    if (!s->nearest || !s->touches) return no_memory(s->err);
    s->weakest = s->nearest + nc;
    for (size_t c = 0; c < 2 * nc; ++c) {
        carom_touching *t = &s->nearest[c];
        *t = (carom_touching){.contact = -1, .x = s->touches + c * (x + nc)};
        t->mode = t->x + x;
    }
    return CAROM_OK;
}

// Signals of controllers behind the parameters.
static carom_status open_signals(carom_shooter *s) {
    const carom_model *m = s->task.base;
    const carom_system *sys = carom_model_system(m);
    if (s->nz == 0) return CAROM_OK;
    const int link = carom_model_controlled_link(m);
    if (link >= 0)
        return carom_fail(s->err, CAROM_UNSUPPORTED,
                          "orbits are not supported where a controller moves a joint or a wall, as '%.60s'",
                          carom_model_constraint(m, link));
    for (int i = 0; i < s->nz; ++i) s->index[s->np + i] = carom_model_count(m).parameters + sys->signals->nset + i;
    for (int k = 0; k < s->np; ++k) { // instants must not move with a parameter
        const carom_sampler *c = sys->signals->samplers;
        static const double CHANGED = 1e-3; // what an instant that depends on the value feels far beyond rounding
        const double value = s->task.free[k].value, other = value != 0 ? value * (1 + CHANGED) : CHANGED;
        bool same = true;
        carom_sampler *kept = malloc((size_t)sys->signals->nsamplers * sizeof *kept);
        if (!kept) return no_memory(s->err);
        memcpy(kept, c, (size_t)sys->signals->nsamplers * sizeof *kept);
        carom_error none = {0};
        carom_status status = carom_model_set(s->task.base, 1, &s->index[k], &other, NULL, &none);
        c = carom_model_system(m)->signals->samplers;
        for (int i = 0; i < sys->signals->nsamplers && status == CAROM_OK; ++i)
            same = same && c[i].sample == kept[i].sample && c[i].offset == kept[i].offset &&
                   c[i].delay == kept[i].delay;
        free(kept);
        CAROM_TRY(carom_model_set(s->task.base, 1, &s->index[k], &value, NULL, s->err));
        if (!same)
            return carom_fail(s->err, CAROM_UNSUPPORTED,
                              "the sample times of controllers depend on '%.60s': orbits cannot be followed along it; "
                              "modes and sweeps can vary it",
                              s->task.free[k].name);
    }
    return CAROM_OK;
}

void carom_shooter_begin(const carom_shooter *s, const double *start, double *x) {
    const carom_model *m = s->task.base;
    const carom_system *sys = carom_model_system(m);
    carom_copy(x, start ? start : carom_model_q0(m), s->nq);
    carom_copy(x + s->nq, start ? start + s->nq : carom_model_v0(m), s->nv);
    if (s->nz > 0)
        carom_copy(x + s->nq + s->nv, (s->task.signals ? s->task.signals : sys->signals->input) + sys->signals->nset,
                   s->nz);
}

const char *carom_shooter_scheme(const char *name) {
    const carom_scheme *s = carom_schemes_find(name);
    return s && s->exact && s->controls_own_steps ? s->name : NULL;
}

// What the options make of the tolerance, and its least value.
static double tolerance_of(const carom_shooter *s, double *least) {
    const carom_option *list = s->run.table->options;
    const int at = carom_option_find(list, "rtol", 4);
    double rtol = at >= 0 ? list[at].fallback : 0;
    *least = at >= 0 ? list[at].low : 0;
    for (int i = 0; s->run.options && s->run.options[i]; ++i)
        if (strncmp(s->run.options[i], "rtol=", 5) == 0) rtol = carom_number(s->run.options[i] + 5, NULL);
    return rtol;
}

// (ORB-9)  What accelerations decide at events follows from the tolerance of the run: tol = 10 rtol, at most the
//           scheme's own, which moves events of sliding by 10 tol.  One that is given stays.
static carom_status sharpen(carom_shooter *s, carom_run_given *given) {
    static const char name[] = "decide-tol";
    const carom_option *list = s->run.table ? s->run.table->options : NULL;
    const int at = list ? carom_option_find(list, name, sizeof name - 1) : -1;
    double least;
    const double tol = at >= 0 ? fmax(list[at].low, 10 * tolerance_of(s, &least)) : HUGE_VAL;
    int n = 0;
    for (int i = 0; s->run.options && s->run.options[i]; ++i)
        if (strncmp(s->run.options[i], "decide-tol=", sizeof name) == 0) return CAROM_OK;
    if (at < 0 || !(tol < list[at].fallback)) return CAROM_OK;
    while (given->options && given->options[n]) ++n;
    const char **more = realloc(s->options, ((size_t)n + 2) * sizeof *more);
    if (!more) return no_memory(s->err);
    s->options = more;
    carom_format(s->decide, sizeof s->decide, "decide-tol=%.17g", tol);
    more[0] = s->decide;
    for (int i = 0; i <= n; ++i) more[i + 1] = i < n ? given->options[i] : NULL;
    given->options = more;
    carom_run_free(&s->run);
    return carom_run_resolve(&s->run, s->task.base, given, s->err);
}

// The scheme, with its tolerance; a tolerance among the options comes last and wins.
static carom_status resolve(carom_shooter *s, double rtol) {
    carom_run_given given = s->task.run;
    if (!given.scheme) given.scheme = CAROM_SCHEME_OF_DERIVATIVES;
    given.end = given.step = 1, given.rtol = rtol;
    carom_run_free(&s->run);
    CAROM_TRY(carom_run_resolve(&s->run, s->task.base, &given, s->err));
    return sharpen(s, &given);
}

carom_status carom_shooter_tolerance(carom_shooter *s, double rtol, bool *changed) {
    double least;
    const double before = tolerance_of(s, &least), to = fmax(rtol, least);
    *changed = !s->given && to != before;
    if (!*changed) return CAROM_OK;
    CAROM_TRY(resolve(s, to));
    s->run_rtol = to;
    return CAROM_OK;
}

carom_status carom_shooter_open(carom_shooter *s, const char *by, carom_error *err) {
    const char *const names[] = {by, by ? s->also : NULL, NULL};
    s->err = err;
    s->parameter = -1;
    s->task.model.pairs = true;
    CAROM_TRY(carom_task_open(&s->task, names, err));
    carom_model_follow(s->task.base);
    const carom_system *sys = carom_model_system(s->task.base);
    s->nq = sys->nq, s->nv = sys->nv, s->nz = sys->signals->nsamplers > 0 ? sys->signals->ni - sys->signals->nset : 0;
    s->nx = s->nq + s->nv + s->nz, s->n = 2 * s->nv + s->nz;
    s->few = s->may_follow_few && s->nz == 0 && s->n > LARGE;
    s->index = calloc((size_t)s->nz + 3, sizeof *s->index), s->way = calloc((size_t)s->nz + 3, sizeof *s->way);
    s->signal = calloc((size_t)sys->signals->ni + 1, sizeof *s->signal);
    s->computed = calloc((size_t)carom_model_controlled(s->task.base) + 1, sizeof *s->computed);
    if (!s->index || !s->way || !s->signal || !s->computed) return no_memory(err);
    s->way[0] = by != NULL;
    CAROM_TRY(resolve(s, s->task.run.rtol));
    if (!carom_shooter_scheme(s->run.scheme))
        return carom_fail(err, CAROM_UNSUPPORTED,
                          "this needs a scheme that locates events to rounding (" CAROM_LOCATING_ORBITS "), not %.40s",
                          s->run.scheme);
    double least;
    s->run_rtol = tolerance_of(s, &least);
    s->given = !isnan(s->task.run.rtol);
    for (int i = 0; s->task.run.options && s->task.run.options[i]; ++i)
        s->given = s->given || strncmp(s->task.run.options[i], "rtol=", 5) == 0;
    for (int k = 0; k < 2 && names[0] && names[k]; ++k) {
        if (s->task.free[k].kind != CAROM_FREE_PARAMETER)
            return carom_fail(err, CAROM_BAD_INPUT, "'%.60s' is not a parameter of the model", names[k]);
        s->index[s->np++] = s->task.free[k].index;
    }
    if (by) s->parameter = s->index[0], s->value = s->task.free[0].value;
    if (s->np == 2) s->at[1] = s->task.free[1].value;
    if (sys->nv == 0) return carom_fail(err, CAROM_BAD_INPUT, "the model has no coordinates");
    CAROM_TRY(open_signals(s));
    CAROM_TRY(prepare(s));
    s->averages = calloc((size_t)carom_model_watched(s->task.base) + 1, sizeof *s->averages);
    if (!s->averages) return no_memory(err);
    return allocate(s);
}

void carom_shooter_close(carom_shooter *s) {
    close_path(s);
    carom_point_close(&s->p);
    carom_variation_destroy(s->x);
    carom_run_free(&s->run);
    carom_task_close(&s->task);
    double *part[] = {s->scale, s->p_0,   s->p_1,     s->rate_0, s->rate_1, s->Z,    s->Y,
                      s->rows,  s->start, s->end,     s->mode_0, s->mode_1, s->mode, s->low,
                      s->block, s->dp,    s->scratch, s->least,  s->most};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) free(part[i]);
    drop_samplings(s);
    free(s->options), free(s->index), free(s->way), free(s->signal), free(s->computed), free(s->sampling);
    free(s->averages), free(s->hit), free(s->nearest), free(s->touches), free(s->crossed), free(s->soft_gap),
        free(s->soft_closed);
    *s = (carom_shooter){0};
}

// -- eigenvalues --------------------------------------------------------------------------------------------------

carom_status carom_eigen(double *A, int m, double *re, double *im, double *vectors, carom_error *err) {
    if (m == 0) return CAROM_OK;
    carom_lapack lapack;
    CAROM_TRY(carom_lapack_load(&lapack, err));
    const int one = 1, room = 8 * m + 64;
    int info = 0;
    double none[1], *work = calloc((size_t)room, sizeof *work);
    if (!work) return no_memory(err);
    lapack.dgeev("N", vectors ? "V" : "N", &m, A, &m, re, im, none, &one, vectors ? vectors : none, vectors ? &m : &one,
                 work, &room, &info, 1, 1);
    free(work);
    return info == 0
               ? CAROM_OK
               : carom_fail(err, CAROM_NOT_CONVERGED, "the multipliers did not converge (LAPACK's dgeev: %d)", info);
}

// adjoint.c: the gradient of one result of a run by many names, backwards.
//
// Columns y obey linear recursions: of a step of Dormand and Prince y_1 = y + h sum_s b_s k_s, k_s = A_s (y + h sum_j
// a_sj k_j) + B_s dp, at an event y_1 = S y + S_p dp.  The weights l of y obey the transposed ones, from the end of the
// run to its start, whatever the number of parameters:
//
//     kappa_s = h b_s l + h sum_(j > s) a_js A_j'kappa_j,   l <- l + sum_s A_s'kappa_s,   dJ += B_s'kappa_s
//     at events  l <- S'l,   dJ += S_p'l                                                                  (ADJ-2)
//
// A' is that of (VAR-1): with X = M^-1 B, G = W'X and weights mu of da,
//
//     s = G^-T X'mu,   r = M^-1 (mu - W s):      d(f - M a) + d(B lambda) by r, d(W'a + kappa) by -s  (ADJ-3)
//
// and their gradients by the state and all parameters come in one pass (ADJ-1).  S is found by columns along the state
// and those parameters that enter there.
#include "dynamics/adjoint.h"
#include "base/grow.h"
#include "base/tolerance.h"
#include "derive/variation.h"
#include "event/rk.h"
#include "model/answers.h"
#include "model/watch.h"
#include "system/system.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STAGES = 6 }; // of those of the method, the last one has no weight

typedef struct record { // a step, or an event (h < 0)
    double t, h, *x;    // a step: positions, velocities, accelerations of its stages; an event: what `change` points to
    long phase;         // of a step
    carom_change change;
} record;

typedef struct adjoint {
    carom_task *task;
    carom_task_run *run;
    carom_results *r;
    const char *of;
    carom_path path; // of the run, without columns; then of its stages
    carom_path jump; // of events, with columns
    record *rec;
    long n, nphases;
    double *phase; // nphases x phase_size
    int nv, nq, np, columns;
    double *l, *g, *all;  // weights of the state, 2 nv; gradient by names; by all parameters of the model
    double *kappa, *back; // STAGES x 2 nv: weights of the stages, A'kappa
    double *omega;        // nwatch: weights of integrals
    double *square;       // and of integrals of squares
    double *z;            // columns: what integrals change by at an event
    double *dp, *touched, *scratch;
    int *name; // of a column beyond the state: which name
    carom_error *err;
} adjoint;

static carom_status no_memory(adjoint *k) {
    return carom_fail(k->err, CAROM_NO_MEMORY, "not enough memory for the way back of a run");
}

// -- forwards -----------------------------------------------------------------------------------------------------

static carom_status on_step(void *user, carom_path *w, double h) {
    adjoint *k = ((carom_results *)user)->user;
    const size_t nq = (size_t)k->nq, nv = (size_t)k->nv;
    if (!carom_grow(&k->rec, (size_t)k->n, sizeof *k->rec)) return no_memory(k);
    double *x = malloc((nq + nv + STAGES * nv + 1) * sizeof *x);
    if (!x) return no_memory(k);
    k->rec[k->n++] = (record){.t = w->t, .h = h, .x = x, .phase = k->nphases - 1};
    carom_copy(x, w->q, k->nq), carom_copy(x + nq, w->v, k->nv);
    for (int s = 0; s < STAGES; ++s) carom_copy(x + nq + nv + (size_t)s * nv, w->stage[s].a, k->nv);
    return CAROM_OK;
}

static carom_status keep_phase(adjoint *k, const carom_path *w) {
    if (!carom_grow(&k->phase, (size_t)k->nphases, (w->phase_size + 1) * sizeof *k->phase)) return no_memory(k);
    carom_copy(k->phase + (size_t)k->nphases++ * w->phase_size, w->phase, (ptrdiff_t)w->phase_size);
    return CAROM_OK;
}

static carom_status on_start(void *user, carom_path *w) { return keep_phase(((carom_results *)user)->user, w); }

// The event itself, so that it can be crossed again.
static carom_status on_cross(void *user, carom_path *w, const carom_change *c) {
    adjoint *k = ((carom_results *)user)->user;
    const size_t nq = (size_t)k->nq, nv = (size_t)k->nv, nc = (size_t)w->p.nc, size = c->phase_size;
    if (!carom_grow(&k->rec, (size_t)k->n, sizeof *k->rec)) return no_memory(k);
    double *at = malloc((2 * (nq + nv + size) + nc + 1) * sizeof *at);
    if (!at) return no_memory(k);
    record *to = &k->rec[k->n++];
    *to = (record){.t = c->t, .h = -1, .x = at, .change = *c};
    carom_change *x = &to->change;
    const double **part[] = {&x->q_before, &x->q, &x->v_before, &x->v, &x->phase_before, &x->phase, &x->impulse};
    const size_t length[] = {nq, nq, nv, nv, size, size, nc};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) {
        carom_copy(at, *part[i], (ptrdiff_t)length[i]);
        *part[i] = at, at += length[i];
    }
    x->mode_before = x->phase_before, x->mode = x->phase, x->in = NULL;
    return keep_phase(k, w);
}

// -- a step back --------------------------------------------------------------------------------------------------

// (ADJ-3)  A'(kq, kv) to g (2 nv), B'(kq, kv) to k->all, at the point evaluated last.
static carom_status stage_back(adjoint *k, const double *kq, const double *kv, double *g) {
    carom_path *w = &k->path;
    const carom_local *L = &w->p.L;
    const int nv = k->nv, n = w->n_rows;
    double *r = w->da, *s = w->full_0, *slip = w->dmu;
    carom_copy(r, kv, nv);
    for (int i = 0; i < n; ++i) { // G'x = X'mu
        w->rhs[i] = carom_dot(w->X + (size_t)i * (size_t)nv, kv, nv);
        for (int j = 0; j < n; ++j) w->A[i + j * n] = w->G[j + i * n];
    }
    carom_copy(w->r, w->rhs, n);
    if (n > 0) carom_path_solve(w, w->A, n, w->r);
    carom_zero(s, w->nfull), carom_zero(slip, w->p.nc);
    for (int i = 0, b = 0; i < n; ++i) {
        while (w->row[i] >= L->at[b + 1]) ++b;
        carom_column_axpy(r, -w->r[i], &L->W, w->row[i]);
        s[w->at_full[L->id[b]] + w->row[i] - L->at[b]] = -w->r[i];
    }
    carom_zero(w->joint, w->nj);
    carom_path_invert(w, r, w->joint);
    for (int k = 0; k < w->nj; ++k) s[w->at_full[k]] = w->joint[k];
    for (int b = 0; b < L->nb; ++b) { // friction of contacts that slide: -dmu lambda_N e
        const int c = L->id[b] - w->p.ne, t = L->at[b] + 1;
        if (c < 0 || w->phase[c] != CAROM_MODE_SLIP || t >= L->at[b + 1]) continue;
        slip[c] = -w->lambda[t - 1] * w->phase[w->p.nc + CAROM_TANGENTS * c] * carom_column_dot(&L->W, t, r);
    }
    carom_axpy(g + nv, 1, kq, nv); // dq' = dv
    carom_path_spread(w, w->lambda);
    const double *reactions = L->nb > 0 ? w->full : NULL;
    const carom_status status =
        carom_variation_back(w->x, w->p.t, w->p.q, w->p.v, w->a, reactions, r, s, slip, g, g + nv, k->all);
    return status == CAROM_OK
               ? CAROM_OK
               : carom_fail(k->err, status, "t = %.9g: the derivatives of the model have no finite value here", w->p.t);
}

// Integrals: weight h b_s of what is watched.
static carom_status watched_back(adjoint *k, double by, const double *q, const double *v, double t, double *g) {
    carom_results *r = k->r;
    if (r->nz == 0 || by == 0) return CAROM_OK;
    carom_model_watch(r->model, carom_sim_work(r->sim), t, q, v, r->x, r->x, true);
    for (int i = 0; i < r->nwatch; ++i) r->dx[i] = by * (k->omega[i] + 2 * k->square[i] * r->x[i]);
    const carom_status status = carom_variation_watched_back(k->path.x, t, q, v, r->dx, g, g + k->nv, k->all);
    return status == CAROM_OK
               ? CAROM_OK
               : carom_fail(k->err, status, "t = %.9g: the derivative of '%.80s' is not finite", t, r->expression[0]);
}

// (ADJ-2)
static carom_status step_back(adjoint *k, const record *e) {
    const carom_butcher *T = carom_butcher_find(CAROM_RK_DORMAND, 5);
    carom_path *w = &k->path;
    const int nv = k->nv, n = 2 * nv;
    const double *q = e->x, *v = q + k->nq, *a = v + nv;
    w->phase = k->phase + (size_t)e->phase * w->phase_size;
    for (int s = STAGES - 1; s >= 0; --s) {
        double *kappa = k->kappa + (size_t)s * (size_t)n, *back = k->back + (size_t)s * (size_t)n, *q_s = w->q_1,
               *v_s = w->v_1;
        for (int i = 0; i < n; ++i) kappa[i] = e->h * T->b[s] * k->l[i];
        for (int j = s + 1; j < STAGES; ++j)
            carom_axpy(kappa, e->h * carom_butcher_a(T, j, s), k->back + (size_t)j * (size_t)n, n);
        carom_copy(v_s, v, nv), carom_copy(q_s, q, k->nq);
        for (int j = 0; j < s; ++j) { // shift = h sum a_sj v_j, v_j = v + h sum a_ji a_i
            const double h_a = e->h * carom_butcher_a(T, s, j);
            carom_axpy(v_s, h_a, a + (size_t)j * (size_t)nv, nv), carom_axpy(q_s, h_a, v, nv);
            for (int i = 0; i < j; ++i)
                carom_axpy(q_s, h_a * e->h * carom_butcher_a(T, j, i), a + (size_t)i * (size_t)nv, nv);
        }
        const double t = e->t + e->h * carom_butcher_c(T, s);
        CAROM_TRY(carom_path_evaluate(w, t, q_s, v_s));
        carom_zero(back, n);
        CAROM_TRY(stage_back(k, kappa, kappa + nv, back));
        CAROM_TRY(watched_back(k, e->h * T->b[s], w->p.q, w->p.v, t, back));
    }
    for (int s = 0; s < STAGES; ++s) carom_axpy(k->l, 1, k->back + (size_t)s * (size_t)n, n);
    return CAROM_OK;
}

// -- an event back ------------------------------------------------------------------------------------------------

// Parts of integrals meet at an event.
static carom_status on_side(void *user, carom_path *w, carom_side side) {
    adjoint *k = user;
    carom_results *r = k->r;
    if (r->nz == 0) return CAROM_OK;
    carom_model_watch(r->model, carom_sim_work(r->sim), w->t, w->q, w->v, r->x, r->x, true);
    double x = 0;
    for (int i = 0; i < r->nwatch; ++i) x += k->omega[i] * r->x[i] + k->square[i] * r->x[i] * r->x[i];
    for (int j = 0; j < w->n; ++j) k->z[j] += (side == CAROM_LEFT ? x : -x) * w->dt[j];
    return CAROM_OK;
}

// Columns along the state, then along names that enter there.
static void unit_columns(adjoint *k) {
    carom_path *w = &k->jump;
    carom_zero(w->y, (ptrdiff_t)2 * k->nv * w->n);
    for (int j = 0; j < 2 * k->nv; ++j) w->y[(size_t)j * 2 * (size_t)k->nv + (size_t)j] = 1;
    carom_zero(k->z, w->n);
}

// When contacts were touched before record i.
static void find_touches(adjoint *k, long i) {
    const int nc = k->path.p.nc;
    for (int c = 0; c < nc; ++c) {
        k->jump.touched[c] = k->rec[0].t;
        for (long j = i - 1; j >= 0; --j) {
            const carom_change *x = &k->rec[j].change;
            if (k->rec[j].h >= 0 || !(x->impulse[c] > 0 || x->mode_before[c] != x->mode[c])) continue;
            k->jump.touched[c] = x->t;
            break;
        }
    }
}

static carom_status cross_again(adjoint *k, long i) {
    unit_columns(k);
    find_touches(k, i);
    return carom_path_jump(&k->jump, &k->rec[i].change, k->path.size_q, k->path.size_v);
}

static carom_status event_back(adjoint *k, long i) {
    const int n = 2 * k->nv;
    CAROM_TRY(cross_again(k, i));
    for (int j = 0; j < k->jump.n; ++j) {
        const double x = carom_dot(k->l, k->jump.y + (size_t)j * (size_t)n, n) + k->z[j];
        if (j < n)
            k->scratch[j] = x;
        else
            k->g[k->name[j - n]] += x;
    }
    carom_copy(k->l, k->scratch, n);
    return CAROM_OK;
}

// -- all of it ----------------------------------------------------------------------------------------------------

static carom_status check(adjoint *k) {
    const carom_results *r = k->r;
    const carom_system *s = &k->path.p.sys;
    for (int c = 0; c < s->nc; ++c)
        if (carom_system_directions(s, s->ne + c) > 2)
            return carom_fail(k->err, CAROM_UNSUPPORTED,
                              "derivatives backwards are not supported with contacts of two tangents");
    if (r->all > r->n)
        return carom_fail(k->err, CAROM_UNSUPPORTED,
                          "derivatives backwards are not supported for expressions of results at events");
    for (int i = 0; i < r->nwatch; ++i)
        if (r->watch[i].slots & (1u << WATCH_LOW | 1u << WATCH_HIGH))
            return carom_fail(k->err, CAROM_UNSUPPORTED, "derivatives backwards are not supported for extremes");
    if (r->event[0].some && r->event[0].time && r->event[0].word == CAROM_AT_CLOSE)
        return carom_fail(k->err, CAROM_UNSUPPORTED, "derivatives backwards are not supported for limits of impacts");
    return CAROM_OK;
}

// An end that depends on a name moves all that follows it.
static carom_status check_end(adjoint *k) {
    const carom_task *t = k->task;
    for (int j = 0; j < t->nfree; ++j)
        if (carom_variation_end(k->path.x, t->dp + (size_t)j * (size_t)t->np) != 0)
            return carom_fail(k->err, CAROM_UNSUPPORTED,
                              "derivatives backwards are not supported with an end that depends on '%.60s'",
                              t->free[j].name);
    return CAROM_OK;
}

// The second path: a column for every component of the state, and for every name that enters where velocities jump, or
// where contacts open, stick and slip.
static carom_status open_jump(adjoint *k) {
    const carom_task *t = k->task;
    bool forces = false;
    for (long i = 0; i < k->n; ++i) // reactions decide
        for (int c = 0; c < k->path.p.nc && k->rec[i].h < 0; ++c) {
            const int was = (int)k->rec[i].change.mode_before[c];
            forces = forces || (was != CAROM_MODE_OPEN && k->rec[i].change.mode[c] != was);
        }
    const int state = 2 * k->nv;
    int n = state;
    k->name = calloc((size_t)t->nfree + 1, sizeof *k->name);
    k->dp = calloc((size_t)(state + t->nfree) * (size_t)t->np + 1, sizeof *k->dp);
    if (!k->name || !k->dp) return no_memory(k);
    for (int j = 0, p = 0; j < t->nfree; ++j) {
        if (t->free[j].kind != CAROM_FREE_PARAMETER) continue;
        const int at = p++;
        if (!carom_variation_enters(k->path.x, at, forces)) continue;
        k->name[n - state] = j;
        k->dp[(size_t)n++ * (size_t)t->np + (size_t)at] = 1;
    }
    k->z = calloc((size_t)n + 1, sizeof *k->z);
    if (!k->z) return no_memory(k);
    k->jump.borrowed = true, k->jump.x = k->path.x;
    return carom_path_open(&k->jump, k->run->model, k->run->sim, n, k->dp, t->np, t->parameter, 0, k->err);
}

// J at the end: weights of the state, of integrals, and what names do there themselves.
static carom_status end(adjoint *k) {
    carom_results *r = k->r;
    const carom_task *t = k->task;
    carom_path *w = &k->path;
    const int nv = k->nv, none = WATCH_COUNT * r->nwatch;
    const double T = w->t;
    carom_zero(r->dwatch, none);
    for (int j = 0; j < 2 * nv + t->np; ++j) {
        double *e = k->scratch, *p = e + 2 * nv;
        carom_zero(e, 2 * nv + t->np);
        e[j] = 1;
        if (carom_variation_composed(w->x, T, w->q, w->v, (carom_direction){0, e, e + nv, p}, r->average, r->dwatch,
                                     r->dout) != CAROM_OK)
            return carom_fail(k->err, CAROM_USER, "t = %.9g: the derivative of '%.80s' is not finite", T,
                              r->expression[0]);
        if (j < 2 * nv) k->l[j] = r->dout[0];
        for (int i = 0, at = 0; j >= 2 * nv && i < t->nfree; ++i)
            if (t->free[i].kind == CAROM_FREE_PARAMETER && at++ == j - 2 * nv) k->g[i] += r->dout[0];
    }
    for (int i = 0; i < 2 * r->nwatch; ++i) {
        const carom_watching *of = &r->watch[i / 2];
        const bool square = i % 2;
        if ((square ? of->square : of->integral) < 0) continue;
        double *d = r->dwatch + WATCH_COUNT * (i / 2);
        const double rms = square ? sqrt(w->z[of->square] / T) : 0;
        if (square)
            d[WATCH_RMS] = rms > 0 ? 1 / (2 * T * rms) : 0;
        else
            d[WATCH_MEAN] = 1 / T, d[WATCH_INTEGRAL] = 1;
        if (carom_variation_composed(w->x, T, w->q, w->v, (carom_direction){0, NULL, NULL, NULL}, r->average, r->dwatch,
                                     r->dout) != CAROM_OK)
            return carom_fail(k->err, CAROM_USER, "t = %.9g: the derivative of '%.80s' is not finite", T,
                              r->expression[0]);
        (square ? k->square : k->omega)[i / 2] = r->dout[0];
        carom_zero(r->dwatch, none);
    }
    return CAROM_OK;
}

// Names in the expression itself that do not enter the event.
static carom_status direct(adjoint *k, const carom_change *x, bool before) {
    const carom_task *t = k->task;
    for (int j = 0, p = 0; j < t->nfree; ++j) {
        if (t->free[j].kind != CAROM_FREE_PARAMETER) continue;
        bool column = false;
        for (int i = 0; i < k->jump.n - 2 * k->nv; ++i) column = column || k->name[i] == j;
        double *e = k->scratch;
        carom_zero(e, t->np);
        e[p++] = 1;
        if (column) continue;
        if (carom_variation_observed(k->path.x, x->t, before ? x->q_before : x->q, before ? x->v_before : x->v,
                                     (carom_direction){0, NULL, NULL, e}, k->r->dout) != CAROM_OK)
            return carom_fail(k->err, CAROM_USER, "t = %.9g: the derivative of '%.80s' is not finite", x->t,
                              k->r->expression[0]);
        k->g[j] += k->r->dout[0];
    }
    return CAROM_OK;
}

// J at the event of record i: crossed with all columns, which give the weights before it.
static carom_status end_at_event(adjoint *k, long i) {
    const char *texts[] = {k->of, NULL};
    carom_results at;
    carom_status status = carom_results_read(&at, texts, "`of`", k->err);
    if (status == CAROM_OK) status = carom_results_bind(&at, k->run->model, k->jump.n, "`of`", k->err);
    if (status == CAROM_OK) {
        carom_results_attach(&at, &k->jump, k->run->sim);
        k->jump.on_step = NULL;
        at.event[0].seen = at.event[0].number - 1;
        status = cross_again(k, i);
        if (status == CAROM_STOPPED && at.event[0].found)
            status = CAROM_OK;
        else if (status == CAROM_OK)
            status = carom_fail(k->err, CAROM_NOT_CONVERGED, "the event was not found on the way back");
    }
    for (int j = 0; j < k->jump.n && status == CAROM_OK; ++j) {
        if (j < 2 * k->nv)
            k->l[j] = at.gradient[j];
        else
            k->g[k->name[j - 2 * k->nv]] += at.gradient[j];
    }
    if (status == CAROM_OK && !at.event[0].time) status = direct(k, &k->rec[i].change, at.event[0].before);
    k->jump.user = k, k->jump.on_side = on_side, k->jump.asks = NULL;
    carom_results_free(&at);
    return status;
}

// At the start the state changes with names: J by them.
static carom_status start(adjoint *k) {
    const carom_task *t = k->task;
    carom_path w = {.borrowed = true, .x = k->path.x};
    carom_status status = carom_task_columns(t, k->run, &w, 0, k->err);
    for (int j = 0; j < t->nfree && status == CAROM_OK; ++j)
        k->g[j] += carom_dot(k->l, w.y + (size_t)j * 2 * (size_t)k->nv, 2 * k->nv);
    carom_path_close(&w);
    if (status != CAROM_OK) return status;
    double *chosen = calloc((size_t)t->np + 1, sizeof *chosen);
    if (!chosen) return no_memory(k);
    carom_variation_gather(k->path.x, k->all, chosen);
    for (int j = 0, p = 0; j < t->nfree; ++j)
        if (t->free[j].kind == CAROM_FREE_PARAMETER) k->g[j] += chosen[p++];
    free(chosen);
    return CAROM_OK;
}

static carom_status allocate(adjoint *k) {
    const size_t nv = (size_t)k->nv, n = 2 * nv, watched = (size_t)k->r->nwatch + 1;
    double **part[] = {&k->l, &k->all, &k->kappa, &k->back, &k->omega, &k->square, &k->scratch};
    const size_t size[] = {n,
                           (size_t)carom_variation_parameters(k->path.x) + 1,
                           STAGES * n,
                           STAGES * n,
                           watched,
                           watched,
                           n + (size_t)k->task->np + 1};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) {
        *part[i] = calloc(size[i] + 1, sizeof(double));
        if (!*part[i]) return no_memory(k);
    }
    return CAROM_OK;
}

static carom_status find(adjoint *k, double *value, double *at) {
    carom_results *r = k->r;
    carom_path *w = &k->path;
    const carom_task *t = k->task;
    carom_error *err = k->err;
    CAROM_TRY(carom_results_bind(r, k->run->model, 0, "`of`", err));
    carom_results_attach(r, w, k->run->sim);
    r->user = k, w->plain = true, w->on_step = on_step, w->on_cross = on_cross, w->on_start = on_start;
    CAROM_TRY(carom_path_open(w, k->run->model, k->run->sim, 0, NULL, t->np, t->parameter, r->nz, err));
    k->nv = w->p.nv, k->nq = w->p.nq;
    CAROM_TRY(check(k));
    if (isnan(t->run.end)) CAROM_TRY(check_end(k));
    CAROM_TRY(carom_variation_transpose(w->x, err));
    CAROM_TRY(allocate(k));
    const carom_status status = carom_path_run(w);
    if (status != CAROM_OK && !(status == CAROM_STOPPED && carom_results_complete(r))) return status;
    *at = w->t;
    CAROM_TRY(carom_results_now(r, value, NULL));
    bool event = w->t - w->t_event <= CAROM_INSTANT * w->t;
    if (!r->event[0].some && !event) CAROM_TRY(carom_path_arrives(w, CAROM_INSTANT * w->t, &event));
    if (!r->event[0].some && event && carom_model_observes_state(k->run->model, 0))
        return carom_fail(err, CAROM_NOT_CONVERGED,
                          "t = %.9g: an event falls on the end of the run, where the motion has no derivative; end it "
                          "earlier or later",
                          w->t);
    double *own_phases = w->phase; // stages take the phases that were kept
    CAROM_TRY(open_jump(k));
    k->jump.user = k, k->jump.on_side = on_side;
    carom_status back = CAROM_OK;
    long last = k->n - 1;
    if (r->event[0].some) {
        while (last >= 0 && k->rec[last].h >= 0) --last;
        back = end_at_event(k, last--);
    } else
        back = end(k);
    for (long i = last; i >= 0 && back == CAROM_OK; --i)
        back = k->rec[i].h < 0 ? event_back(k, i) : step_back(k, &k->rec[i]);
    w->phase = own_phases;
    CAROM_TRY(back);
    return start(k);
}

carom_status carom_adjoint_find(carom_task *t, carom_task_run *run, carom_results *r, const char *of,
                                bool (*stop)(const void *user), const void *user, double *value, double *gradient,
                                double *at, carom_error *err) {
    adjoint k = {.task = t, .run = run, .r = r, .of = of, .g = gradient, .err = err};
    carom_sim_stop_when(run->sim, stop, user);
    carom_zero(gradient, t->nfree);
    const carom_status status = find(&k, value, at);
    for (long i = 0; i < k.n; ++i) free(k.rec[i].x);
    free(k.rec), free(k.phase), free(k.l), free(k.all), free(k.kappa), free(k.back), free(k.omega), free(k.square),
        free(k.scratch), free(k.z), free(k.dp), free(k.name);
    carom_path_close(&k.jump);
    carom_path_close(&k.path);
    return status;
}

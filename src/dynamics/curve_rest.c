// curve_rest.c: states of rest as a curve over a parameter.
//
//     f(q, 0, p) + W lambda = 0,  g = 0 over joints and closed contacts  (FOL-2)
//
// Newton's method on it with K = -d(f + W lambda)/dq; contacts open where lambda and close where g falls to zero.  A
// contact over a moving surface slides: its force is (W_N + mu W_T d) lambda.  Contacts that stick stay where they are,
// W_T'dq = 0, until friction no longer holds them; beyond that rest depends on the motion.
#include "dynamics/border.h"
#include "dynamics/curve.h"
#include "linalg/dense.h"
#include "model/answers.h"
#include "system/system.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double GOOD = 1e-12, ENOUGH = 1e-9; // residuals, relative: to end with; where rounding does not allow more
static const double CUT = 1e-12;      // of a matrix that has cancelled
static const double SOFT = 1e3;       // sizes by which a typical force moves soft directions
static const double UNIQUE = 3e-14;   // the same, where only one that vanishes everywhere counts
static const double SMALLEST = 1e-3;  // m: the size of a linear model whose coordinates are all 0
static const double VANISHED = 1e-6;   // of what the parameter does to forces: a stiffness that counts as zero
static const double BENDS = 0.1;      // (FOL-9) of a stiffness: the change that shows a length
static const double OUTGROWN = 10;    // of that size: it is measured again
static const double GROWS = 1e-9;     // of the fastest rate: real parts of eigenvalues below are 0
static const double CROSSES = 1e-13;  // the same, of a pair that has been seen to cross its border
static const double NOUGHT = 1e-9;    // of a tangent: a part of it that is none
static const double AT_CORNER = 1e-8; // of forces and lengths: contacts that change together with the first one

typedef struct rests {
    const carom_follow_def *def;
    carom_task task;
    carom_point p;
    carom_variation *x;
    int nq, nv, ids, n, *col; // n: unknowns: nv, one for each constraint, one for each tangent, the parameter
    int ntan, *tangent;                  // tangents of all contacts; ids + 1: the first one of each
    bool *sticks;                        // ids: contacts that friction holds where they are
    double *friction;                    // ntan: their forces along tangents
    double value, size, length, force;
    double natural;                      // (FOL-9) 0: the model has none
    int np, index[2];                    // one parameter or two: at + value way
    double at[2], way[2];
    bool *with;                          // ids: joints and closed contacts
    double *q, *lambda, *F, *J, *B, *z, *b, *work, *v, *u, *full, *dmu, *scale;
    carom_error *err;
} rests;

static const char *const tests[CAROM_TESTS] = {"fold", "branch", "", "hopf"};

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for equilibria");
}

static carom_status set(rests *r, double value) {
    bool derived = false, kept = false;
    if (value != r->value) {
        double to[2];
        for (int k = 0; k < r->np; ++k) to[k] = r->at[k] + value * r->way[k];
        CAROM_TRY(carom_model_set(r->task.base, r->np, r->index, to, &derived, r->err));
        r->value = value;
        if (!derived && r->x) CAROM_TRY(carom_variation_set(r->x, to, &kept, r->err));
        if (!kept) carom_variation_destroy(r->x), r->x = NULL;
        carom_point_close(&r->p);
    }
    if (!r->p.mem.base) CAROM_TRY(carom_point_open(&r->p, r->task.base, r->err));
    r->p.still = true;
    if (!r->x) r->x = carom_variation_create(r->task.base, r->np, r->index, r->err);
    return r->x ? CAROM_OK : r->err->code;
}

// The size of unknown i < nv: a length, a radian, or the scale that a first-order state has where the branch begins;
// and that of the force on it, so that work is force times length.
static bool turns(const rests *r, int i) { return r->p.sys.lever && r->p.sys.lever[i] != 1; } // (LV-3)
static double unit(const rests *r, int i) {
    return carom_model_state(r->task.base, i) ? r->scale[i] : turns(r, i) ? 1 : r->length;
}
static double load(const rests *r, int i) {
    return !carom_model_state(r->task.base, i) && turns(r, i) ? r->force * r->length : r->force;
}

static void save(void *user, double *place) {
    const rests *r = user;
    *place++ = r->value, *place++ = r->length, *place++ = r->force;
    for (int id = 0; id < r->ids; ++id) *place++ = r->with[id] + 2 * r->sticks[id], *place++ = r->lambda[id];
    carom_copy(place, r->friction, r->ntan), place += r->ntan;
    carom_copy(place, r->q, r->nq);
}

static carom_status restore(void *user, const double *place) {
    rests *r = user;
    CAROM_TRY(set(r, *place++));
    r->length = *place++, r->force = *place++;
    for (int id = 0; id < r->ids; ++id) {
        const int flags = (int)fmax(0, fmin(*place++, 3));
        r->with[id] = flags & 1, r->sticks[id] = flags & 2, r->lambda[id] = *place++;
    }
    carom_copy(r->friction, place, r->ntan), place += r->ntan;
    carom_copy(r->q, place, r->nq);
    return CAROM_OK;
}

static void move(rests *r, const double *dq) {
    const carom_system *s = &r->p.sys;
    if (s->move) s->move(s->model, r->q, r->q, 1, dq);
    else carom_axpy(r->q, 1, dq, r->nv);
}

// Coefficients of friction of contacts that slide change with the parameter, and where they vary with positions: J +=
// lambda W_T d dmu'
static carom_status change_friction(rests *r) {
    const carom_point *p = &r->p;
    bool slides = false, varies = false;
    for (int b = 0; b < p->L.nb; ++b)
        if (p->L.id[b] >= p->ne && p->L.at[b + 1] > p->L.at[b] + 1)
            slides = true, varies = varies || p->contacts[p->L.id[b] - p->ne].friction_varies;
    for (int j = varies ? 0 : r->nv; j <= r->nv && slides; ++j) {
        carom_zero(r->v, r->nv);
        if (j < r->nv) r->v[j] = 1;
        if (carom_variation_laws(r->x, 0, p->q, p->v,
                                 j < r->nv ? carom_model_state(r->task.base, j) ? (carom_direction){0, NULL, r->v, NULL}
                                                                        : (carom_direction){0, r->v, NULL, NULL}
                                           : (carom_direction){0, NULL, NULL, r->way},
                                 NULL, NULL, r->dmu, NULL) != CAROM_OK)
            return carom_fail(r->err, CAROM_USER, "the derivatives of the friction have no finite value");
        for (int b = 0; b < p->L.nb; ++b) {
            double d[CAROM_TANGENTS] = {0};
            const int id = p->L.id[b];
            if (id < p->ne || r->sticks[id] || !carom_point_slides(p, b, d)) continue;
            for (int i = p->L.at[b] + 1; i < p->L.at[b + 1]; ++i)
                carom_column_axpy(r->J + (size_t)(j < r->nv ? j : r->n - 1) * (size_t)r->n,
                                  r->lambda[id] * r->dmu[id - p->ne] * d[i - p->L.at[b] - 1], &p->L.W, i);
        }
    }
    return CAROM_OK;
}

// F and J at the place, in units of force and length; row n - 1 of J is left free.
static carom_status evaluate(rests *r) {
    carom_point *p = &r->p;
    const int nv = r->nv, n = r->n;
    p->t = 0;
    carom_copy(p->q, r->q, r->nq), carom_zero(p->v, nv);
    CAROM_TRY(carom_point_look(p, r->err));
    p->L.nb = 0;
    for (int id = 0; id < r->ids; ++id)
        if (r->with[id]) p->L.id[p->L.nb++] = id;
    CAROM_TRY(carom_point_directions(p, &p->L, r->err));
    carom_zero(r->z, p->n);
    carom_zero(r->full, carom_variation_directions(r->x));
    carom_zero(r->J, (ptrdiff_t)n * n), carom_zero(r->F, n);
    carom_copy(r->F, p->f, nv);
    for (int b = 0; b < p->L.nb; ++b) {
        const int k = p->L.at[b], id = p->L.id[b];
        double d[CAROM_TANGENTS] = {0};
        const bool slides = !r->sticks[id] && carom_point_slides(p, b, d);
        int at = 0;
        for (int i = 0; i < carom_point_id(p, id); ++i)
            at += carom_system_directions(carom_model_system(r->task.base), i);
        r->F[nv + id] = p->g[id];
        carom_zero(r->u, nv), carom_column_axpy(r->u, 1, &p->L.W, k);
        for (int i = 0; i < nv; ++i) r->J[nv + id + i * n] = r->u[i];
        for (int i = k; i < p->L.at[b + 1]; ++i) {
            const double part = i == k ? 1 : slides ? p->contacts[id - p->ne].friction * d[i - k - 1] : 0;
            if (i > k) carom_column_axpy(r->u, part, &p->L.W, i);
            r->z[i] = r->full[at + i - k] =
                r->sticks[id] && i > k ? r->friction[r->tangent[id] + i - k - 1] : part * r->lambda[id];
        }
        for (int i = k + 1; i < p->L.at[b + 1] && r->sticks[id]; ++i) { // it stays where it is, whatever that needs
            const int t = nv + r->ids + r->tangent[id] + i - k - 1;
            carom_zero(r->v, nv), carom_column_axpy(r->v, 1, &p->L.W, i);
            for (int j = 0; j < nv; ++j) r->J[j + t * n] = r->J[t + j * n] = r->v[j];
            carom_axpy(r->F, r->friction[t - nv - r->ids], r->v, nv);
        }
        for (int i = 0; i < nv; ++i) r->J[i + (nv + id) * n] = r->u[i];
        carom_axpy(r->F, r->lambda[id], r->u, nv);
    }
    for (int id = 0; id < r->ids; ++id)
        if (!r->with[id]) r->J[nv + id + (nv + id) * n] = 1;
    for (int id = 0; id < r->ids; ++id)
        for (int t = r->tangent[id]; t < r->tangent[id + 1] && !(r->with[id] && r->sticks[id]); ++t)
            r->J[nv + r->ids + t + (nv + r->ids + t) * n] = 1;
    CAROM_TRY(carom_point_tangent(p, r->z, r->err));
    for (int j = 0; j < nv; ++j) {
        carom_zero(r->v, nv), carom_zero(r->u, nv);
        r->v[j] = 1;
        carom_matrix_muladd(r->u, -1, p->K, r->v);
        for (int i = 0; i < nv; ++i) r->J[i + j * n] = r->u[i];
    }
    CAROM_TRY(change_friction(r));
    carom_zero(r->v, nv);
    const carom_direction d = {0, NULL, NULL, r->way};
    if (carom_variation_motion(r->x, 0, p->q, p->v, r->v, d, r->u) != CAROM_OK ||
        carom_variation_reaction(r->x, 0, p->q, r->full, d, r->v) != CAROM_OK ||
        carom_variation_gaps(r->x, 0, p->q, d, r->z) != CAROM_OK)
        return carom_fail(r->err, CAROM_USER, "the derivatives of the model by '%.60s' have no finite value",
                          r->def->by);
    for (int i = 0; i < nv; ++i) r->J[i + (n - 1) * n] += r->u[i] + r->v[i];
    for (int id = 0; id < r->ids; ++id)
        if (r->with[id]) r->J[nv + id + (n - 1) * n] = r->z[carom_point_id(p, id)];
    // units: columns length, force, size; rows force, length
    for (int i = 0; i < n - 1; ++i) {
        const double by = i < nv ? load(r, i) : r->length;
        r->F[i] /= by;
        for (int j = 0; j < n; ++j) r->J[i + j * n] *= (j < nv ? unit(r, j) : j < n - 1 ? r->force : r->size) / by;
    }
    for (int id = 0; id < r->ids; ++id) // what is open stays without force
        if (!r->with[id]) r->F[nv + id] = 0, r->J[nv + id + (nv + id) * n] = 1;
    for (int id = 0; id < r->ids; ++id) // what does not stick has no friction of its own
        for (int t = nv + r->ids + r->tangent[id];
             t < nv + r->ids + r->tangent[id + 1] && !(r->with[id] && r->sticks[id]); ++t)
            r->F[t] = 0, r->J[t + t * n] = 1;
    return CAROM_OK;
}

static void put_row(rests *r, const double *tau) {
    for (int j = 0; j < r->n; ++j) r->J[r->n - 1 + j * r->n] = tau ? tau[j] : j == r->n - 1;
}

static void advance(rests *r, const double *z, double by) {
    for (int i = 0; i < r->nv; ++i) r->v[i] = by * unit(r, i) * z[i];
    move(r, r->v);
    for (int id = 0; id < r->ids; ++id) r->lambda[id] += by * r->force * z[r->nv + id];
    for (int t = 0; t < r->ntan; ++t) r->friction[t] += by * r->force * z[r->nv + r->ids + t];
}

static carom_status predict(void *user, const double *tau, double sigma) {
    rests *r = user;
    advance(r, tau, sigma);
    return set(r, r->value + sigma * r->size * tau[r->n - 1]);
}

static const double WORSE = 1e3;   // times the residual before: Newton's method diverges
static const double FAR_OFF = 1e3; // typical sizes: a step that no branch has

static carom_status correct(void *user, const double *tau, int *iterations) {
    rests *r = user;
    double last = INFINITY;
    bool once_more = true; // what is a small force for stiff directions may move soft ones far
    for (int i = 0; i < 30; ++i) {
        *iterations = i;
        CAROM_TRY(evaluate(r));
        const double residual = carom_norm_max(r->F, r->n - 1);
        // no longer halved: rounding is what is left
        if (residual == 0 || (residual < GOOD && !once_more) || (residual < ENOUGH && residual > 0.5 * last))
            return CAROM_OK;
        once_more = once_more && residual >= GOOD;
        if (!isfinite(residual) || residual > WORSE * last) break;
        last = residual;
        put_row(r, tau);
        for (int k = 0; k < r->n; ++k) r->b[k] = k < r->n - 1 ? -r->F[k] : 0;
        carom_dense_shortest(r->J, r->n, r->n, CUT, r->col, r->work, r->b, r->z);
        if (!(carom_norm_max(r->z, r->n) < FAR_OFF)) break;
        if (residual < GOOD && carom_norm_max(r->z, r->n) < SOFT * residual) return CAROM_OK; // there are none
        double *z = r->full; // z is scratch of evaluate()
        carom_copy(z, r->z, r->n);
        advance(r, z, 1);
        CAROM_TRY(set(r, r->value + r->size * z[r->n - 1]));
    }
    return carom_fail(r->err, CAROM_NOT_CONVERGED, "no equilibrium found near %.60s = %.9g", r->def->by, r->value);
}

static bool tangent(void *user, double *tau, carom_signed *border) {
    rests *r = user;
    if (border) border->sign = 0;
    if (evaluate(r) != CAROM_OK) return false;
    put_row(r, tau);
    carom_zero(r->b, r->n);
    r->b[r->n - 1] = 1;
    if (border) {
        carom_copy(r->B, r->J, (ptrdiff_t)r->n * r->n);
        border->sign = carom_dense_determinant(r->B, r->n, r->n, r->col, &border->log_size);
    }
    const int rank = carom_dense_shortest(r->J, r->n, r->n, UNIQUE, r->col, r->work, r->b, r->z);
    const double length = carom_length(r->z, r->n);
    for (int i = 0; i < r->n; ++i) tau[i] = r->z[i] / length;
    return rank == r->n && length > 0;
}

static void apart(void *user, const double *place, double *by) {
    const rests *r = user;
    const double *lambda = place + 3, *q = lambda + 2 * r->ids + r->ntan;
    if (r->nq == r->nv) carom_add(r->full, r->q, -1, q, r->nq);
    else { // positions that turn
        for (int i = 0; i < r->nq; ++i) r->full[r->nv + i] = r->q[i] - q[i];
        carom_model_velocities(r->task.base, q, r->full + r->nv, r->full);
    }
    for (int i = 0; i < r->nv; ++i) by[i] = r->full[i] / unit(r, i);
    for (int id = 0; id < r->ids; ++id) by[r->nv + id] = (r->lambda[id] - lambda[2 * id + 1]) / r->force;
    for (int t = 0; t < r->ntan; ++t) by[r->nv + r->ids + t] = (r->friction[t] - lambda[2 * r->ids + t]) / r->force;
    by[r->n - 1] = (r->value - place[0]) / r->size;
}

// Changes of the tangents K and C at q + h y, at velocity rate h y, against those at q and against their sizes: the
// largest of all rows.  Stiffnesses may vanish there; the change of the parameter by its range is a load f, and f/h is
// a size of stiffnesses, too.  h = 0: only the sizes grow, and the tangents are kept.
static carom_status stiffness_beside(rests *r, const double *q, const double *y, double h, double rate, double *base,
                                     double *size, double *most) {
    enum { PRODUCTS = 3 };
    const int n = r->n, nv = r->nv, rows = n - 1 + nv;
    double *loads = size + rows;
    carom_copy(r->q, q, r->nq);
    double *d = r->b, *to = r->work;
    for (int i = 0; i < nv; ++i) d[i] = turns(r, i) ? 0 : h * y[i];
    move(r, d);
    CAROM_TRY(evaluate(r));
    if (rate > 0) {
        for (int i = 0; i < nv; ++i) r->p.v[i] = carom_model_state(r->task.base, i) ? 0 : rate * d[i];
        CAROM_TRY(carom_point_tangent(&r->p, NULL, r->err));
    }
    for (int i = 0; i < n - 1 && h == 0; ++i) loads[i] = fmax(loads[i], fabs(r->J[i + (n - 1) * n]));
    for (int k = 0; k < PRODUCTS; ++k, base += rows) {
        carom_zero(to, rows);
        for (int j = 0; j < n - 1; ++j)
            carom_axpy(to, y[(j + k) % nv] * (k > 0 && j % 2 ? -1 : 1), r->J + j * n, n - 1);
        for (int j = 0; j < nv; ++j) d[j] = y[(j + k) % nv] * (k > 0 && j % 2 ? -1 : 1);
        carom_matrix_muladd(to + n - 1, 1, r->p.C, d);
        for (int i = 0; i < rows; ++i) {
            if (!isfinite(to[i])) return carom_fail(r->err, CAROM_USER, "the model has no finite stiffness there");
            const double load = i < n - 1 ? loads[i] / h : loads[i] / sqrt(h);
            if (h == 0) base[i] = to[i], size[i] = fmax(size[i], fabs(to[i]));
            else if (size[i] > 0 || load > 0) *most = fmax(*most, fabs(to[i] - base[i]) / fmax(size[i], load));
        }
    }
    return CAROM_OK;
}

// The least displacement at which the equations bend at this, the first and the last value of the parameter, where the
// coordinates may all be 0:
//
//     |J(q + h y) - J(q)|_i >= max(|J|_i, |F_p (p_1 - p_0)|_i/h) / 10  of a row i of stiffnesses or dampings  (FOL-9)
//
// If they depend on positions nowhere, dampings may depend on velocities, and a gap is a length.
static carom_status find_natural(rests *r) {
    enum { PRODUCTS = 3, LOW = -12, HIGH = 12 };
    const int nv = r->nv, rows = r->n - 1 + nv;
    const double at[3] = {r->value, r->def->from, r->def->to}, value = r->value;
    double *room = calloc((size_t)(3 * PRODUCTS * rows + 2 * rows + nv + r->nq + 1), sizeof *room);
    if (!room) return no_memory(r->err);
    double *base = room, *size = base + 3 * PRODUCTS * rows, *y = size + 2 * rows, *q = y + nv, fast = 0;
    carom_status status = CAROM_OK;
    carom_error before = *r->err;
    carom_copy(q, r->q, r->nq);
    for (int i = 0; i < nv; ++i) y[i] = (i % 3 == 1 ? -1 : 1) * (0.5 + fmod(0.618033988749895 * (i + 1), 0.5));
    bool there[3] = {false};
    for (int k = 0; k < 3 && status == CAROM_OK; ++k) {
        status = set(r, at[k]);
        if (status == CAROM_OK)
            status = stiffness_beside(r, q, y, 0, 0, base + (size_t)(k * PRODUCTS * rows), size, NULL);
        there[k] = status == CAROM_OK;
        for (int i = 0; i < nv && there[k]; ++i) { // the fastest row, for velocities
            double mass = 0, stiff = fabs(size[i]);
            carom_zero(r->u, nv), carom_zero(r->v, nv), r->v[i] = 1;
            carom_matrix_muladd(r->u, 1, r->p.M, r->v), mass = r->u[i];
            if (mass > 0 && !carom_model_state(r->task.base, i)) fast = fmax(fast, sqrt(stiff / mass));
        }
        if (status == CAROM_USER || status == CAROM_BAD_INPUT) status = CAROM_OK, *r->err = before;
    }
    for (int i = 0; i < nv; ++i) { // dampings may vanish: against those that stop a vibration within a period
        carom_zero(r->u, nv), carom_zero(r->v, nv), r->v[i] = 1;
        if (r->p.mem.base) carom_matrix_muladd(r->u, 1, r->p.M, r->v);
        size[r->n - 1 + i] = fmax(size[r->n - 1 + i], fast * fabs(r->u[i]));
        size[rows + r->n - 1 + i] = sqrt(fabs(r->u[i]) * size[rows + i]); // the same by loads, times sqrt(h)
    }
    for (int moving = 0; moving < 2 && r->natural == 0; ++moving)
        for (int k = 0; k < 3 && status == CAROM_OK && !(moving && fast == 0); ++k) {
            if (!there[k]) continue;
            status = set(r, at[k]);
            for (int e = 2 * LOW; e <= 2 * HIGH && status == CAROM_OK; ++e) {
                const double h = pow(10, e / 2.0);
                double most = 0;
                if (r->natural > 0 && h >= r->natural) break;
                status = stiffness_beside(r, q, y, h, moving ? fast : 0, base + (size_t)(k * PRODUCTS * rows), size,
                                          &most);
                if (status == CAROM_OK && most >= BENDS) {
                    r->natural = h;
                    break;
                }
            }
            if (status == CAROM_USER || status == CAROM_BAD_INPUT) status = CAROM_OK, *r->err = before;
        }
    carom_copy(r->q, q, r->nq);
    if (status == CAROM_OK) status = set(r, value);
    if (status == CAROM_OK) status = evaluate(r);
    double widest = 0;
    for (int id = r->p.ne; id < r->ids; ++id) widest = fmax(widest, r->p.g[id]);
    for (int id = r->p.ne; id < r->ids && status == CAROM_OK && r->natural == 0; ++id)
        if (r->p.g[id] > AT_CORNER * widest) r->natural = fmax(r->natural, r->p.g[id]);
    free(room);
    return status;
}

static carom_status begin(void *user) {
    rests *r = user;
    const carom_model *m = r->task.base;
    carom_equilibrium rest;
    carom_status status = carom_equilibrium_find(&rest, m, r->def->start, r->err);
    // from a fold it may lead to another one
    for (int i = 0; i < r->nq && status == CAROM_OK && r->np == 2 && r->def->start; ++i)
        if (fabs(rest.q[i] - r->def->start[i]) > AT_CORNER * fmax(carom_norm_max(r->def->start, r->nq), SMALLEST))
            status = CAROM_SINGULAR;
    if (status == CAROM_OK) {
        carom_copy(r->q, rest.q, r->nq);
        for (int id = 0; id < r->ids; ++id) {
            const int of = carom_point_id(&r->p, id);
            r->with[id] = id < r->p.ne || rest.contact[id - r->p.ne] != CAROM_EQUILIBRIUM_OPEN;
            for (int k = rest.nforce - 1; k >= 0; --k)
                if (rest.force[k].id == of) r->lambda[id] = rest.force[k].value;
            r->sticks[id] = id >= r->p.ne && rest.contact[id - r->p.ne] == CAROM_EQUILIBRIUM_STICKS;
            for (int k = 0, t = r->tangent[id] - 1; k < rest.nforce; ++k) // the normal force, then those along tangents
                if (rest.force[k].id == of && r->sticks[id] && t < r->tangent[id + 1]) {
                    if (t >= r->tangent[id]) r->friction[t] = rest.force[k].value;
                    ++t;
                }
        }
        for (int i = 0; i < rest.nforce; ++i) r->force = fmax(r->force, fabs(rest.force[i].value));
    }
    carom_equilibrium_free(&rest);
    if (status == CAROM_NO_MEMORY || (status != CAROM_OK && !r->def->start)) return status;
    if (status != CAROM_OK) { // a state at which equilibria are singular: contacts are closed where their gaps are
        carom_copy(r->q, r->def->start, r->nq), carom_copy(r->p.q, r->q, r->nq);
        CAROM_TRY(carom_point_look(&r->p, r->err));
        for (int id = 0; id < r->ids; ++id)
            r->with[id] =
                id < r->p.ne || r->p.g[id] < AT_CORNER * fmax(carom_point_largest(&r->p, r->q, r->nq), SMALLEST);
    }
    const double force = r->force;
    r->length = r->force = 1;
    CAROM_TRY(find_natural(r));
    r->length = fmax(carom_point_largest(&r->p, r->q, r->nq), r->natural > 0 ? r->natural : SMALLEST), r->force = force;
    // typical forces: those of a displacement of one length
    r->force = fmax(r->force, CAROM_NOT_ZERO);
    CAROM_TRY(evaluate(r));
    double most = 0;
    for (int j = 0; j < r->nv; ++j)
        for (int i = 0; i < r->nv; ++i) most = fmax(most, fabs(r->J[i + j * r->n]));
    // the stiffness may have vanished, as at a fold of one freedom
    const double load_by = carom_norm_max(r->J + (size_t)(r->n - 1) * (size_t)r->n, r->nv);
    if (status != CAROM_OK || most < VANISHED * load_by) most = fmax(most, load_by);
    if (most > 0) r->force *= most;
    // an event at which equations are singular is a start, too: there Newton's method leads away
    int iterations;
    double *kept = calloc((size_t)(r->nq + r->ids + r->ntan) + 1, sizeof *kept);
    if (!kept) return no_memory(r->err);
    carom_copy(kept, r->q, r->nq), carom_copy(kept + r->nq, r->lambda, r->ids);
    carom_copy(kept + r->nq + r->ids, r->friction, r->ntan);
    status = evaluate(r);
    const bool good = status == CAROM_OK && carom_norm_max(r->F, r->n - 1) < GOOD;
    if (status == CAROM_OK) status = correct(r, NULL, &iterations);
    if (good && (status == CAROM_NOT_CONVERGED || status == CAROM_SINGULAR)) {
        carom_copy(r->q, kept, r->nq), carom_copy(r->lambda, kept + r->nq, r->ids);
        carom_copy(r->friction, kept + r->nq + r->ids, r->ntan);
        status = evaluate(r);
    }
    free(kept);
    return status;
}

static double beyond(void *user, double re, double im) { return (void)user, (void)im, re; }

// Real parts of the modes; of pairs and of real ones.
static carom_status look(void *user, carom_curve_look *l) {
    rests *r = user;
    carom_modes modes;
    carom_model_at_rest(r->task.base, r->q, r->v);
    const carom_modes_def def = {.q = r->q, .v = r->v, .closed = r->with + r->p.ne};
    const carom_status status = carom_modes_find(&modes, r->task.base, &def, r->err);
    double fastest = 0, nearest = INFINITY;
    l->largest = -INFINITY, l->unstable = 0, l->n = 0;
    for (int i = 0; i < modes.count; ++i) fastest = fmax(fastest, hypot(modes.mode[i].re, modes.mode[i].im));
    l->noise = GROWS * fastest;
    for (int i = 0; i < modes.count && status == CAROM_OK; ++i) {
        const double re = modes.mode[i].re, im = modes.mode[i].im;
        l->largest = fmax(l->largest, re);
        l->unstable += (re > l->noise) * (im != 0 ? 2 : 1);
        if (im != 0 && fabs(re) < fabs(nearest)) nearest = re;
        for (int side = 0; side < (im != 0 ? 2 : 1) && l->n < 2 * r->nv; ++side)
            l->re[l->n] = re, l->im[l->n++] = side ? -im : im;
    }
    l->test[CAROM_DOUBLING] = (carom_signed){0, 0};
    l->test[CAROM_PAIR] = isfinite(nearest) && fabs(nearest) > CROSSES * fastest
                              ? (carom_signed){nearest < 0 ? -1 : 1, log(fabs(nearest))}
                              : (carom_signed){0, 0};
    l->stable = l->unstable == 0;
    carom_modes_free(&modes);
    return status;
}

static bool cross(void *user, const double *tau, double *other) {
    rests *r = user;
    if (evaluate(r) != CAROM_OK) return false;
    put_row(r, tau);
    return carom_null_vector(r->J, r->n, false, other);
}

// The entries of K may be much larger than what a buckling load changes, and their rounding hides it.  A product K v by
// the derivative of the forces along v has no such terms: it is made of strains, which are small.
//
//     g = u'[F_x F_p] v,  [F_x F_p; tau'] v = 0,  u'[F_x F_p; tau'] = 0  at the crossing  (FOL-6)
static bool critical(void *user, const double *tau, double *left, double *right) {
    rests *r = user;
    if (r->p.sys.nstates > 0 || evaluate(r) != CAROM_OK) return false;
    for (int b = 0; b < r->p.L.nb; ++b) { // friction that varies has derivatives of its own
        double d[CAROM_TANGENTS] = {0};
        const int id = r->p.L.id[b];
        if (id >= r->p.ne && r->p.contacts[id - r->p.ne].friction_varies && carom_point_slides(&r->p, b, d))
            return false;
    }
    put_row(r, tau);
    return carom_null_vector(r->J, r->n, false, right) && carom_null_vector(r->J, r->n, true, left);
}

static carom_status projected(void *user, const double *left, const double *right, double *g) {
    rests *r = user;
    const carom_point *p = &r->p;
    const int nv = r->nv, n = r->n;
    CAROM_TRY(evaluate(r)); // r->full: reactions
    for (int i = 0; i < nv; ++i) r->b[i] = unit(r, i) * right[i];
    carom_zero(r->v, nv);
    double *change = r->z;
    const carom_direction d = {0, r->b, NULL, NULL};
    if (carom_variation_motion(r->x, 0, p->q, p->v, r->v, d, r->u) != CAROM_OK ||
        carom_variation_reaction(r->x, 0, p->q, r->full, d, change) != CAROM_OK)
        return carom_fail(r->err, CAROM_USER, "the derivatives of the model have no finite value");
    *g = 0;
    for (int i = 0; i < n - 1; ++i) {
        double sum = i < nv ? (r->u[i] + change[i]) / load(r, i) : 0;
        for (int j = i < nv ? nv : 0; j < n; ++j) sum += r->J[i + j * n] * right[j];
        *g += left[i] * sum;
    }
    return CAROM_OK;
}

// The mode whose growth is nearest to 0 among those that oscillate.
static carom_status pair(void *user, double *x, double *shape, double *rate) {
    rests *r = user;
    carom_modes modes;
    carom_model_at_rest(r->task.base, r->q, r->v);
    const carom_modes_def def = {.q = r->q, .v = r->v, .closed = r->with + r->p.ne};
    carom_status status = carom_modes_find(&modes, r->task.base, &def, r->err);
    int best = -1;
    for (int i = 0; i < modes.count && status == CAROM_OK; ++i)
        if (modes.mode[i].im != 0 && (best < 0 || fabs(modes.mode[i].re) < fabs(modes.mode[best].re))) best = i;
    if (status == CAROM_OK && best < 0) status = carom_fail(r->err, CAROM_NOT_CONVERGED, "no mode oscillates");
    if (status == CAROM_OK) {
        carom_copy(x, r->q, r->nq), carom_model_at_rest(r->task.base, r->q, x + r->nq);
        carom_copy(shape, modes.mode[best].shape, 2 * r->nv);
        *rate = modes.mode[best].im;
    }
    carom_modes_free(&modes);
    return status;
}

static carom_status linearise(void *user) { return evaluate(user); }

static double natural(void *user) { return ((rests *)user)->natural; }

static void resize(void *user, double by) { ((rests *)user)->length *= by, ((rests *)user)->force *= by; }

// A branch that begins where all coordinates vanish does not know its lengths: they are measured again, and with them
// the forces of a displacement by one length.
static carom_status settle(void *user, bool *moved) {
    rests *r = user;
    const double most = carom_point_largest(&r->p, r->q, r->nq);
    *moved = most > OUTGROWN * r->length;
    if (!*moved) return CAROM_OK;
    resize(r, most / r->length);
    int iterations;
    return correct(r, NULL, &iterations);
}

static carom_status row(void *user, double *period, double *x, double *least, double *most) {
    const rests *r = user;
    *period = 0;
    carom_copy(x, r->q, r->nq), carom_model_at_rest(r->task.base, r->q, x + r->nq);
    carom_copy(least, r->q, r->nq), carom_copy(most, r->q, r->nq);
    return CAROM_OK;
}

// Does friction no longer hold contact id?
static bool slips(const rests *r, int id) {
    if (!r->with[id] || !r->sticks[id]) return false;
    const double held = carom_length(r->friction + r->tangent[id], r->tangent[id + 1] - r->tangent[id]);
    return held > r->p.contacts[id - r->p.ne].friction * r->lambda[id] + GOOD * r->force;
}

// The first contact from `id` on whose force pulls, whose gap is negative or that slips; -1: none.
static int next_wrong(const rests *r, int id) {
    for (; id < r->ids; ++id)
        if (slips(r, id) || (r->with[id] ? r->lambda[id] < -GOOD * r->force : r->p.g[id] < -GOOD * r->length))
            return id;
    return -1;
}

static int wrong(const rests *r) { return next_wrong(r, r->p.ne); }

static bool same(void *user) { return wrong(user) < 0; }

// -- where contacts change --------------------------------------------------------------------------------------------
//
// At a corner of the branch, contacts with neither gap nor force may go on open or closed.  On the branch that leads
// away from it
//
//     dlambda/ds >= 0 of those that are closed,  dg/ds >= 0 of those that are open  (FOL-3)
//
// which is looked for among all combinations; the way back is left out.  The parameter may turn round, as at a fold.

enum { CORNER = 8 }; // contacts: 256 combinations

// row: n x r->n, dg by unknowns
typedef struct corner { int n, id[CORNER]; double *row, *tau; unsigned before; } corner;

static void put_combination(rests *r, const corner *k, unsigned closed) {
    for (int i = 0; i < k->n; ++i) r->with[k->id[i]] = closed >> i & 1;
}

// Does this combination lead away along its tangent, or against it?  That goes to k->tau, its part along tau to *along.
static carom_status leads_away(rests *r, corner *k, unsigned closed, const double *tau, bool *away, double *along) {
    const double small = NOUGHT;
    *away = false;
    put_combination(r, k, closed);
    CAROM_TRY(evaluate(r));
    for (int round = 0; round < 2; ++round) { // the tangent may be perpendicular to the last one
        put_row(r, round ? NULL : tau);
        carom_zero(r->b, r->n);
        r->b[r->n - 1] = 1;
        if (carom_dense_shortest(r->J, r->n, r->n, CUT, r->col, r->work, r->b, r->z) == r->n) break;
        if (round) return CAROM_OK;
        CAROM_TRY(evaluate(r));
    }
    const double length = carom_length(r->z, r->n);
    for (int side = 1; side >= -1 && !*away; side -= 2) {
        for (int i = 0; i < r->n; ++i) k->tau[i] = side * r->z[i] / length;
        *along = carom_dot(k->tau, tau, r->n);
        *away = closed != k->before || *along > 0;
        for (int i = 0; i < k->n && *away; ++i)
            *away = (closed >> i & 1 ? k->tau[r->nv + k->id[i]]
                                     : carom_dot(k->row + (size_t)i * (size_t)r->n, k->tau, r->n)) > -small;
    }
    return CAROM_OK;
}

static carom_status turn_corner(rests *r, corner *k, double *tau) {
    unsigned best = k->before;
    double most = -INFINITY, along;
    bool away;
    for (int i = 0; i < k->n; ++i) k->before |= (unsigned)r->with[k->id[i]] << i;
    put_combination(r, k, ~0u);
    CAROM_TRY(evaluate(r));
    for (int i = 0; i < k->n; ++i)
        for (int j = 0; j < r->n; ++j) k->row[(size_t)i * (size_t)r->n + (size_t)j] = r->J[r->nv + k->id[i] + j * r->n];
    for (unsigned closed = 0; closed < 1u << k->n; ++closed) {
        CAROM_TRY(leads_away(r, k, closed, tau, &away, &along));
        if (away && along > most) most = along, best = closed;
    }
    if (most == -INFINITY)
        return carom_fail(r->err, CAROM_SINGULAR, "no equilibrium exists beyond %.60s = %.9g, where '%.60s' %s",
                          r->def->by, r->value, carom_model_constraint(r->task.base, carom_point_id(&r->p, k->id[0])),
                          k->before & 1 ? "opens" : "closes");
    CAROM_TRY(leads_away(r, k, best, tau, &away, &along));
    carom_copy(tau, k->tau, r->n);
    return evaluate(r);
}

// Contacts that have neither gap nor force, or too little of it.
static carom_status keep(void *user, double *tau) {
    rests *r = user;
    corner k = {.n = 0};
    const int first = wrong(r);
    if (first < 0) return CAROM_OK;
    for (int id = r->p.ne; id < r->ids; ++id)
        if (slips(r, id))
            return carom_fail(r->err, CAROM_UNSUPPORTED,
                              "'%.60s' slips from %.60s = %.9g on: where it comes to rest depends on the motion",
                              carom_model_constraint(r->task.base, carom_point_id(&r->p, id)), r->def->by, r->value);
    k.id[k.n++] = first;
    for (int id = r->p.ne; id < r->ids && k.n < CORNER; ++id)
        if (id != first && (r->with[id] ? r->lambda[id] < AT_CORNER * r->force : r->p.g[id] < AT_CORNER * r->length))
            k.id[k.n++] = id;
    for (int i = 0; i < k.n; ++i) r->lambda[k.id[i]] = 0;
    k.row = calloc((size_t)(k.n + 1) * (size_t)r->n, sizeof *k.row);
    if (!k.row) return no_memory(r->err);
    k.tau = k.row + (size_t)k.n * (size_t)r->n;
    const carom_status status = turn_corner(r, &k, tau);
    free(k.row);
    return status;
}

// -- two parameters -------------------------------------------------------------------------------------------------

static carom_status aim(void *user, const double *at, const double *way, double value) {
    rests *r = user;
    carom_copy(r->at, at, 2), carom_copy(r->way, way, 2);
    r->value = NAN;
    return set(r, value);
}

static carom_status equations(void *user, double *F, double *J, int *n) {
    rests *r = user;
    CAROM_TRY(evaluate(r));
    *n = r->n;
    carom_copy(F, r->F, r->n - 1);
    for (int j = 0; j < r->n; ++j)
        carom_copy(J + (size_t)j * (size_t)(r->n - 1), r->J + (size_t)j * (size_t)r->n, r->n - 1);
    return CAROM_OK;
}

// (LOC-6)  Dampings are what rates are multiplied by: C, and the masses of first-order states.
static carom_status drag(void *user, const double *left, const double *right, double *value) {
    rests *r = user;
    *value = 0;
    CAROM_TRY(evaluate(r));
    for (int b = 0; b < r->p.L.nb; ++b) { // friction has dampings of its own
        double d[CAROM_TANGENTS] = {0};
        if (!r->sticks[r->p.L.id[b]] && carom_point_slides(&r->p, b, d)) *value = NAN;
    }
    double mass = 0; // left'M right, with the signs of both vectors, which may be either
    for (int i = 0; i < r->nv; ++i) r->b[i] = unit(r, i) * right[i];
    carom_zero(r->u, r->nv), carom_zero(r->v, r->nv);
    carom_matrix_muladd(r->u, 1, r->p.C, r->b), carom_matrix_muladd(r->v, 1, r->p.M, r->b);
    for (int i = 0; i < r->nv; ++i) mass += left[i] * r->v[i] / load(r, i);
    for (int i = 0; i < r->nv; ++i)
        if (!carom_model_state(r->task.base, i)) r->b[i] = 0;
    carom_matrix_muladd(r->u, 1, r->p.M, r->b);
    for (int i = 0; i < r->nv; ++i) *value += left[i] * r->u[i] / load(r, i);
    *value /= mass != 0 ? mass : NAN;
    return CAROM_OK;
}

static void spread(void *user, const double *z, double *tau) { carom_copy(tau, z, ((rests *)user)->n); }

// The first Lyapunov coefficient at A q = i w q, A'p = -i w p, conj(p).q = 1, of x' = A x + B(x, x)/2 + C(x, x, x)/6:
//
//     c1 = conj(p).[C(q, q, qb) - 2 B(q, A^-1 B(q, qb)) + B(qb, (2 i w - A)^-1 B(q, q))]/2  (HOP-2)
//
// q has 1 as its largest position; B and C by differences of A, whose products with vectors are exact.
typedef struct bend { rests *r; int n, *pivot; double *A, *M, *LU, *a, *work, h; } bend; // n = 2 nv

static const double FARTHEST = 1e5; // of the size: the longest differences of A, where the model has no length

// to = A(x_0 + by z) y
static carom_status tangent_at(bend *k, double by, const double *z, const double *y, double *to) {
    rests *r = k->r;
    carom_point *p = &r->p;
    const int nv = r->nv;
    for (int i = 0; i < nv; ++i) p->q[i] = r->q[i] + (z ? by * z[i] : 0), p->v[i] = z ? by * z[nv + i] : 0;
    CAROM_TRY(carom_point_look(p, r->err));
    for (int j = 0; j < nv; ++j) {
        carom_zero(k->work, 2 * nv);
        k->work[nv + j] = 1;
        carom_matrix_muladd(k->work, 1, p->M, k->work + nv);
        carom_copy(k->M + (size_t)j * (size_t)nv, k->work, nv);
    }
    if (!carom_dense_lu(k->M, nv, nv, CUT, k->pivot))
        return carom_fail(r->err, CAROM_SINGULAR, "the mass matrix is singular");
    carom_copy(k->a, p->f, nv);
    carom_dense_lu_solve(k->M, nv, nv, k->pivot, k->a);
    if (carom_variation_motion(r->x, 0, p->q, p->v, k->a, (carom_direction){0, y, y + nv, NULL}, k->work) != CAROM_OK)
        return carom_fail(r->err, CAROM_USER, "the derivatives of the model have no finite value");
    carom_dense_lu_solve(k->M, nv, nv, k->pivot, k->work);
    carom_copy(to, y + nv, nv), carom_copy(to + nv, k->work, nv);
    return CAROM_OK;
}

// to += c B(y, z)
static carom_status add_second(bend *k, double c, const double *y, const double *z, double *to) {
    double *one = k->LU;
    for (int side = -1; side <= 1; side += 2) {
        CAROM_TRY(tangent_at(k, side * k->h, z, y, one));
        carom_axpy(to, side * c / (2 * k->h), one, k->n);
    }
    return CAROM_OK;
}

// to += c C(y, z, z)
static carom_status add_third(bend *k, double c, const double *y, const double *z, double *to) {
    double *one = k->LU;
    for (int side = -1; side <= 1; ++side) {
        CAROM_TRY(tangent_at(k, side * k->h, z, y, one));
        carom_axpy(to, (side == 0 ? -2 : 1) * c / (k->h * k->h), one, k->n);
    }
    return CAROM_OK;
}

// (re, im) = (shift i w - A)^-1 (re, im), as real equations
static bool solve_shifted(bend *k, double w, double *x, double *E) {
    const int n = k->n, N = 2 * n;
    carom_zero(E, (ptrdiff_t)N * N);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i < n; ++i) E[i + j * N] = E[n + i + (n + j) * N] = -k->A[i + j * n];
        E[n + j + j * N] += w, E[j + (n + j) * N] -= w;
    }
    if (!carom_dense_lu(E, N, N, CUT, k->pivot)) return false;
    carom_dense_lu_solve(E, N, N, k->pivot, x);
    return true;
}

static carom_status coefficient_with(rests *r, double h, double *c) {
    const int nv = r->nv, n = 2 * nv, N = 2 * n;
    bool free_of_contacts = r->nq == nv && r->p.sys.nstates == 0;
    for (int id = 0; id < r->ids; ++id) free_of_contacts = free_of_contacts && !r->with[id];
    if (!free_of_contacts)
        return carom_fail(r->err, CAROM_UNSUPPORTED,
                          "the coefficient is not computed with joints, closed contacts and states");
    double *own = calloc((size_t)(2 * N * N + n * n + nv * nv + 16 * N), sizeof *own), *at = own;
    int *pivot = calloc((size_t)N + 1, sizeof *pivot);
    if (!own || !pivot) return free(own), free(pivot), no_memory(r->err);
    bend k = {.r = r, .n = n, .pivot = pivot, .h = h};
    double *E = at, *G = at + N * N;
    at += 2 * N * N;
    k.A = at, at += n * n, k.M = at, at += nv * nv, k.LU = at, at += N, k.a = at, at += N, k.work = at, at += N;
    // re and im parts
    double *q = at, *p = at + N, *b = at + 2 * N, *d = at + 3 * N, *sum = at + 4 * N, *e = at + 5 * N;
    double rate = 0;
    carom_status status = CAROM_OK;
    for (int j = 0; j < n && status == CAROM_OK; ++j) {
        carom_zero(e, n);
        e[j] = 1;
        status = tangent_at(&k, 0, NULL, e, k.A + (size_t)j * (size_t)n);
    }
    double *shape = malloc((size_t)(r->nq + 3 * nv + 1) * sizeof *shape);
    if (!shape) status = no_memory(r->err);
    if (status == CAROM_OK) status = pair(r, shape + 2 * nv, shape, &rate);
    if (status == CAROM_OK) {
        const double w = fabs(rate);
        // A q = i w q; A'p = -i w p: null vectors of real equations, each up to a complex factor
        for (int left = 0; left < 2; ++left) {
            carom_zero(G, (ptrdiff_t)N * N);
            for (int j = 0; j < n; ++j) {
                for (int i = 0; i < n; ++i)
                    G[i + j * N] = G[n + i + (n + j) * N] = left ? k.A[j + i * n] : k.A[i + j * n];
                G[j + (n + j) * N] += left ? -w : w, G[n + j + j * N] += left ? w : -w;
            }
            if (!carom_null_vector(G, N, false, left ? p : q)) status = no_memory(r->err);
        }
        int most = 0;
        for (int i = 0; i < nv; ++i)
            if (hypot(q[i], q[n + i]) > hypot(q[most], q[n + most])) most = i;
        const double re = q[most], im = q[n + most], size = re * re + im * im;
        for (int i = 0; i < n; ++i) { // divided by its largest position
            const double u = q[i], v = q[n + i];
            q[i] = (u * re + v * im) / size, q[n + i] = (v * re - u * im) / size;
        }
        // conj(p).q = s: p is divided by conj(s)
        const double s_re = carom_dot(p, q, n) + carom_dot(p + n, q + n, n),
                     s_im = carom_dot(p, q + n, n) - carom_dot(p + n, q, n), s_size = s_re * s_re + s_im * s_im;
        for (int i = 0; i < n; ++i) {
            const double u = p[i], v = p[n + i];
            p[i] = (u * s_re - v * s_im) / s_size, p[n + i] = (v * s_re + u * s_im) / s_size;
        }
        // C(q, q, qb) = C(a, a, a) + C(a, b, b) + i (C(b, a, a) + C(b, b, b)), q = a + i b
        for (int i = 0; i < 4 && status == CAROM_OK; ++i)
            status = add_third(&k, 1, i < 2 ? q : q + n, i % 2 ? q + n : q, i < 2 ? sum : sum + n);
        // B(q, qb) = B(a, a) + B(b, b); B(q, q) = B(a, a) - B(b, b) + 2 i B(a, b)
        for (int i = 0; i < 2 && status == CAROM_OK; ++i) {
            const double *y = i ? q + n : q;
            carom_zero(e, n);
            status = add_second(&k, 1, y, y, e);
            carom_axpy(b, 1, e, n), carom_axpy(d, i ? -1 : 1, e, n);
        }
        if (status == CAROM_OK) status = add_second(&k, 2, q, q + n, d + n);
        if (status == CAROM_OK && (!solve_shifted(&k, 0, b, E) || !solve_shifted(&k, 2 * w, d, E)))
            status = carom_fail(r->err, CAROM_SINGULAR, "an eigenvalue is zero at the Hopf point");
        // b = -A^-1 B(q, qb), so -2 B(q, A^-1 B(q, qb)) = 2 B(q, b)
        if (status == CAROM_OK) status = add_second(&k, 2, q, b, sum);
        if (status == CAROM_OK) status = add_second(&k, 2, q + n, b, sum + n);
        // B(qb, d) = B(a, d_re) + B(b, d_im) + i (B(a, d_im) - B(b, d_re))
        if (status == CAROM_OK) status = add_second(&k, 1, q, d, sum);
        if (status == CAROM_OK) status = add_second(&k, 1, q + n, d + n, sum);
        if (status == CAROM_OK) status = add_second(&k, 1, q, d + n, sum + n);
        if (status == CAROM_OK) status = add_second(&k, -1, q + n, d, sum + n);
        *c = (carom_dot(p, sum, n) + carom_dot(p + n, sum + n, n)) / 2;
    }
    free(shape), free(own), free(pivot);
    return status;
}

// Differences over h are off by a series in h^2, which is extrapolated, and by rounding, which grows as h falls:
//
//     T_i0 = c(h_i),  T_ik = T_i,k-1 + (T_i,k-1 - T_i-1,k-1)/(4^k - 1),  h_i = h_0/2^i  (HOP-4)
//
// Of all these the one counts that differs least from the two it was made of.
static carom_status first_lyapunov(void *user, double *c) {
    enum { LENGTHS = 16, UNKNOWN = 40, ORDER = 4 };
    rests *r = user;
    const int lengths = r->natural > 0 ? LENGTHS : UNKNOWN;
    double last[ORDER + 1] = {0}, now[ORDER + 1] = {0}, h = r->natural > 0 ? 4 * r->natural : FARTHEST * r->length,
                     least = INFINITY;
    carom_status status = CAROM_OK;
    for (int i = 0, n = 0; i < lengths && status == CAROM_OK; ++i, h /= 2) {
        status = coefficient_with(r, h, &now[0]);
        if (status == CAROM_USER || status == CAROM_SINGULAR || (status == CAROM_OK && !isfinite(now[0]))) {
            status = CAROM_OK, n = 0; // too far away
            continue;
        }
        for (int k = 1; k <= ORDER && k <= n && status == CAROM_OK; ++k) {
            now[k] = now[k - 1] + (now[k - 1] - last[k - 1]) / (pow(4, k) - 1);
            const double off = fmax(fabs(now[k] - now[k - 1]), fabs(now[k] - last[k - 1]));
            if (off < least) least = off, *c = now[k];
        }
        carom_copy(last, now, ORDER + 1);
        ++n;
    }
    if (status == CAROM_OK && least == INFINITY)
        status = carom_fail(r->err, CAROM_NOT_CONVERGED, "the coefficient of the Hopf point was not found");
    const carom_status back = evaluate(r);
    return status == CAROM_OK ? back : status;
}

static double extent(void *user) {
    const rests *r = user;
    return fmax(1, fmax(carom_point_largest(&r->p, r->q, r->nq) / r->length,
                        carom_norm_max(r->lambda, r->ids) / r->force));
}

static void describe(void *user, bool failed, char *text, size_t size) {
    const rests *r = user;
    const char *before = "";
    if (failed || wrong(r) < 0) snprintf(text, size, "end");
    for (int id = failed ? -1 : wrong(r); id >= 0; id = next_wrong(r, id + 1)) { // several at once: opening a + b
        const char *word = slips(r, id) ? "slip begins" : r->with[id] ? "opening" : "closing";
        const size_t n = strcmp(before, "") == 0 ? 0 : strlen(text);
        if (strcmp(before, word) == 0)
            snprintf(text + n, size - n, " + %.60s", carom_model_constraint(r->task.base, carom_point_id(&r->p, id)));
        else
            snprintf(text + n, size - n, "%s%s %.60s", n ? ", " : "", word,
                     carom_model_constraint(r->task.base, carom_point_id(&r->p, id)));
        before = word;
    }
}

carom_status carom_curve_rests(carom_curve *k, const carom_follow_def *def, const char *also, const carom_model **m,
                               const char **scheme, carom_error *err) {
    rests *r = calloc(1, sizeof *r);
    const char *const names[] = {def->by, also, NULL};
    *k = (carom_curve){.user = r};
    if (!r) return no_memory(err);
    r->def = def, r->err = err, r->size = fabs(def->to - def->from), r->way[0] = r->length = r->force = 1;
    r->task.model = def->model, r->task.run = def->run;
    r->task.model.pairs = true;
    CAROM_TRY(carom_task_open(&r->task, names, err));
    carom_model_follow(r->task.base);
    if (carom_model_system(r->task.base)->signals->nsamplers > 0)
        return carom_fail(err, CAROM_UNSUPPORTED,
                          "branches of equilibria are not supported with controllers, as '%.60s'; follow them as "
                          "orbits whose period is the sample time",
                          carom_model_system(r->task.base)->signals->samplers[0].name);
    for (int i = 0; i < 2 && names[i]; ++i) {
        if (r->task.free[i].kind != CAROM_FREE_PARAMETER)
            return carom_fail(err, CAROM_BAD_INPUT, "'%.60s' is not a parameter of the model", names[i]);
        r->index[r->np++] = r->task.free[i].index;
    }
    r->value = r->task.free[0].value;
    if (also) r->at[1] = r->task.free[1].value;
    CAROM_TRY(set(r, r->value));
    r->nq = r->p.nq, r->nv = r->p.nv, r->ids = r->p.ne + r->p.nc;
    r->tangent = calloc((size_t)r->ids + 2, sizeof *r->tangent);
    if (!r->tangent) return no_memory(err);
    for (int id = 0; id < r->ids; ++id)
        r->tangent[id + 1] = r->tangent[id] + (id >= r->p.ne ? carom_system_directions(&r->p.sys, id) - 1 : 0);
    r->ntan = r->tangent[r->ids], r->n = r->nv + r->ids + r->ntan + 1;
    const size_t n = (size_t)r->n,
                 full = (size_t)carom_variation_directions(r->x) + n + (size_t)carom_model_system(r->task.base)->ne +
                        (size_t)r->nq,
                 nv = (size_t)r->nv;
    double **part[] = {&r->q,    &r->lambda, &r->F, &r->J,    &r->B,   &r->z,       &r->b,
                       &r->work, &r->v,      &r->u, &r->full, &r->dmu, &r->friction, &r->scale};
    const size_t size[] = {(size_t)r->nq,   (size_t)r->ids, n, n * n, n * n, full, n, 3 * n, nv, nv, full,
                           (size_t)r->p.nc, (size_t)r->ntan, nv};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) {
        *part[i] = calloc(size[i] + 1, sizeof **part[i]);
        if (!*part[i]) return no_memory(err);
    }
    for (int i = 0; i < r->nv; ++i) r->scale[i] = carom_model_state(r->task.base, i) ? 1 / r->p.sys.lever[i] : 1;
    r->sticks = calloc((size_t)r->ids + 1, sizeof *r->sticks), r->with = calloc((size_t)r->ids + 1, sizeof *r->with),
    r->col = calloc(n, sizeof *r->col);
    if (!r->with || !r->col || !r->sticks) return no_memory(err);
    *k = (carom_curve){.user = r,
                       .ntau = r->n,
                       .nplace = 3 + 2 * r->ids + r->ntan + r->nq,
                       .neig = 2 * r->nv,
                       .test = tests,
                       .begin = begin,
                       .save = save,
                       .restore = restore,
                       .predict = predict,
                       .correct = correct,
                       .linearise = linearise,
                       .tangent = tangent,
                       .look = look,
                       .beyond = beyond,
                       .apart = apart,
                       .settle = settle,
                       .resize = resize,
                       .natural = natural,
                       .row = row,
                       .same = same,
                       .keep = keep,
                       .extent = extent,
                       .describe = describe,
                       .cross = cross,
                       .critical = critical,
                       .projected = projected,
                       .pair = pair,
                       .aim = aim,
                       .equations = equations,
                       .spread = spread,
                       .drag = drag,
                       .first_lyapunov = first_lyapunov};
    *m = r->task.base, *scheme = "";
    return CAROM_OK;
}

void carom_curve_rests_close(carom_curve *k) {
    rests *r = k->user;
    if (!r) return;
    carom_variation_destroy(r->x);
    carom_point_close(&r->p);
    carom_task_close(&r->task);
    double *part[] = {r->q, r->lambda, r->F, r->J, r->B, r->z, r->b, r->work, r->v, r->u, r->full, r->dmu, r->friction,
                      r->scale};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) free(part[i]);
    free(r->with), free(r->sticks), free(r->tangent), free(r->col), free(r);
    k->user = NULL;
}

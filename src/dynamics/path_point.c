// path_point.c: accelerations and reactions of a run at one point, and how they change along a direction.
//
//     M a = f + B lambda,  W'a + kappa = 0:  M da = d(f - M a) + d(B lambda) + B dlambda,  W'da = -d(W'a + kappa)
//     (VAR-1)
//
// over joints, closed normals and sticking tangents; B has the friction of sliding contacts in it.
#include "base/block.h"
#include "contact/delassus.h"
#include "dynamics/dynamics.h"
#include "linalg/dense.h"
#include "linalg/matrix.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double CUT = 1e-11;     // of a pivot: below it a constraint is redundant
static const double YOUNG = 1.5e-7; // above what event-driven takes for it

static carom_status bad(carom_path *w, carom_status status, double t) {
    return status == CAROM_OK
               ? CAROM_OK
               : carom_fail(w->err, status, "t = %.9g: the derivatives of the model have no finite value here", t);
}

static int mode_of(const carom_path *w, int id) {
    return id < w->p.ne ? CAROM_MODE_STICK : (int)w->phase[id - w->p.ne];
}

// Slip direction of block b: as the phase has it along one tangent and where slip has only begun, else that of the
// velocity, whose size is returned.
static double slip(const carom_path *w, int b, double *d) {
    const carom_local *L = &w->p.L;
    const int c = L->id[b] - w->p.ne, k = L->at[b] + 1, tangents = L->at[b + 1] - k;
    carom_copy(d, w->young[c] ? w->first + CAROM_TANGENTS * c : w->phase + w->p.nc + CAROM_TANGENTS * c, tangents);
    const double speed = carom_length(w->u + k, tangents);
    if (tangents < 2 || w->young[c] || speed == 0) return 0;
    for (int i = 0; i < tangents; ++i) d[i] = w->u[k + i] / speed;
    return speed;
}

static bool slides(const carom_path *w, int b) {
    return mode_of(w, w->p.L.id[b]) == CAROM_MODE_SLIP && w->p.L.at[b + 1] - w->p.L.at[b] > 1;
}

// x = G^-1 x, or the shortest that comes near.
void carom_path_solve(carom_path *w, const double *G, int n, double *x) {
    carom_copy(w->S, G, (ptrdiff_t)n * n);
    if (carom_dense_lu(w->S, n, n, CUT, w->pivot)) {
        carom_dense_lu_solve(w->S, n, n, w->pivot, x);
        return;
    }
    carom_copy(w->S, G, (ptrdiff_t)n * n);
    carom_copy(w->rhs, x, n);
    carom_dense_shortest(w->S, n, n, CUT, w->pivot, w->scratch, w->rhs, x);
}

// Room for rows of the contacts that take part, a quarter more and FEW: those of all contacts of a model of many
// shapes would be gigabytes.
carom_status carom_path_rows(carom_path *w, bool joined) {
    enum { FEW = 8 };
    carom_arena *mem = &w->of_rows;
    const int nj = joined ? w->p.ne : 0, rows = w->p.L.at[w->p.L.nb], wanted = rows > nj ? rows - nj : 0,
              all = w->p.n - nj, more = wanted + wanted / 4 + FEW;
    if (mem->base && nj == w->nj && wanted <= w->row_room) return CAROM_OK;
    free(mem->base);
    *mem = (carom_arena){0};
    w->nj = nj, w->row_room = more < all ? more : all;
    const size_t n = (size_t)w->row_room, nv = (size_t)w->p.nv;
    for (int round = 0; round < 2; ++round) {
        w->X = carom_allocate(mem, n * nv), w->Y = carom_allocate(mem, n * (size_t)nj);
        CAROM_ALLOCATE(mem, n * n, &w->G, &w->S, &w->A, &w->LU);
        w->pivots = carom_allocate_ints(mem, n);
        if (round == 0 && !carom_arena_begin(mem))
            return carom_fail(w->err, CAROM_NO_MEMORY, "not enough memory for %zu joints and contacts", n);
    }
    return CAROM_OK;
}

void carom_path_invert(carom_path *w, double *x, double *joint) {
    if (w->nj == 0) {
        carom_factor_solve(&w->F, x);
        return;
    }
    if (!joint) carom_zero(joint = w->joint, w->nj);
    carom_joined_solve(&w->joined, x, joint);
}

void carom_path_respond(carom_path *w, int n, bool symmetric) {
    const size_t nv = (size_t)w->p.nv, nj = (size_t)w->nj;
    w->n_rows = n, w->factored = false;
    carom_zero(w->Y, (ptrdiff_t)nj * n);
    for (int r = 0; r < n && nj > 0; ++r)
        carom_path_invert(w, w->X + (size_t)r * nv, w->Y + (size_t)r * nj);
    carom_delassus_dense(w->G, n, w->X, &w->p.L.W, w->row, nj > 0 ? NULL : &w->F, 1, symmetric);
}

// x = G^-1 x with the factors of the first of many columns.
static void solve_again(carom_path *w, int n, double *x) {
    if (!w->factored) {
        carom_copy(w->LU, w->G, (ptrdiff_t)n * n);
        w->regular = carom_dense_lu(w->LU, n, n, CUT, w->pivots), w->factored = true;
    }
    if (w->regular) carom_dense_lu_solve(w->LU, n, n, w->pivots, x);
    else carom_path_solve(w, w->G, n, x);
}

void carom_path_push(carom_path *w, double *x, double *r, double *joint) {
    const int n = w->n_rows, nv = w->p.nv;
    if (!joint) carom_zero(joint = w->joint, w->nj);
    carom_path_invert(w, x, joint);
    for (int i = 0; i < n; ++i) r[i] -= carom_column_dot(&w->p.L.W, w->row[i], x);
    if (n > 0) solve_again(w, n, r);
    for (int i = 0; i < n; ++i) {
        carom_axpy(x, r[i], w->X + (size_t)i * (size_t)nv, nv);
        carom_axpy(joint, r[i], w->Y + (size_t)i * (size_t)w->nj, w->nj);
    }
}

carom_status carom_path_look(carom_path *w, double t, const double *q, const double *v, const bool *with) {
    carom_point *p = &w->p;
    p->t = t;
    carom_copy(p->q, q, p->nq), carom_copy(p->v, v, p->nv);
    CAROM_TRY(carom_point_look(p, w->err));
    for (int c = 0; c < p->nc; ++c)
        if (p->contacts[c].friction_varies)
            p->contacts[c].friction =
                fmax(p->law[CAROM_FRICTION_LAW * c + (w->phase[c] == CAROM_MODE_STICK)], CAROM_NO_FRICTION);
    p->L.nb = 0;
    for (int id = 0; id < p->ne + p->nc; ++id)
        if (id < p->ne || (with ? with[id - p->ne] : w->phase[id - p->ne] != CAROM_MODE_OPEN)) p->L.id[p->L.nb++] = id;
    CAROM_TRY(carom_point_directions(p, &p->L, w->err));
    for (int k = 0; k < p->L.at[p->L.nb]; ++k) w->u[k] = carom_column_dot(&p->L.W, k, v) + p->L.w[k];
    return CAROM_OK;
}

carom_status carom_path_stand(carom_path *w, double t, const double *q, const double *v, const bool *with) {
    carom_point *p = &w->p;
    int where = 0;
    CAROM_TRY(carom_path_look(w, t, q, v, with));
    if (carom_factorise(&w->F, p->M, &where) != CAROM_OK)
        return carom_fail(w->err, CAROM_SINGULAR, "the mass matrix is not positive definite at '%.60s'",
                          carom_point_rate(p, where));
    const carom_status status = w->nj > 0 ? carom_joined_factor(&w->joined, p->M, &p->L.W) : CAROM_OK;
    if (status == CAROM_NO_MEMORY) return carom_fail(w->err, status, "not enough memory for %d joints", p->ne);
    // joints that depend on each other share what they carry
    return carom_path_rows(w, w->nj > 0 && status == CAROM_OK);
}

// Numbers by direction of L to those of all constraints of the model.
void carom_path_spread(carom_path *w, const double *x) {
    const carom_local *L = &w->p.L;
    carom_zero(w->full, w->nfull);
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) w->full[w->at_full[L->id[b]] + k - L->at[b]] = x[k];
}

// (VAR-1), left: accelerations w->a and reactions at a point of the phase.
carom_status carom_path_evaluate(carom_path *w, double t, const double *q, const double *v) {
    carom_point *p = &w->p;
    const carom_local *L = &p->L;
    const size_t nv = (size_t)p->nv;
    double d[CAROM_TANGENTS];
    int n = 0;
    CAROM_TRY(carom_path_stand(w, t, q, v, NULL));
    carom_copy(w->a, p->f, p->nv);
    carom_factor_solve(&w->F, w->a);
    w->drive = carom_norm_max(w->a, p->nv);
    CAROM_TRY(carom_point_curvature(p, w->kappa, w->err));
    for (int b = w->nj; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + (slides(w, b) ? 0 : 1)] + slides(w, b); ++k) {
            double *X = w->X + (size_t)n * nv;
            carom_column_expand(X, &L->W, k);
            if (slides(w, b)) slip(w, b, d);
            for (int i = k + 1; slides(w, b) && i < L->at[b + 1]; ++i)
                carom_column_axpy(X, -p->contacts[L->id[b] - p->ne].friction * d[i - k - 1], &L->W, i);
            w->row[n++] = k;
        }
    carom_path_respond(w, n, false);
    for (int r = 0; r < n; ++r) w->r[r] = -w->kappa[w->row[r]];
    for (int k = 0; k < w->nj; ++k) w->joint[k] = -w->kappa[k];
    carom_copy(w->a, p->f, p->nv);
    carom_path_push(w, w->a, w->r, w->joint);
    carom_zero(w->lambda, L->at[L->nb]);
    carom_copy(w->lambda, w->joint, w->nj);
    for (int r = 0; r < n; ++r) w->lambda[w->row[r]] = w->r[r];
    for (int b = 0; b < L->nb; ++b) {
        if (!slides(w, b)) continue;
        slip(w, b, d);
        for (int k = L->at[b] + 1; k < L->at[b + 1]; ++k)
            w->lambda[k] = -p->contacts[L->id[b] - p->ne].friction * d[k - L->at[b] - 1] * w->lambda[L->at[b]];
    }
    return CAROM_OK;
}

// Slip along several tangents that begins from rest keeps the direction that it begins with, and its change, until it
// is fast against what friction does in the time ahead: before, the direction of the velocity would make the equations
// as stiff as one likes.  How fast the slip of block b is, 1: fast enough.
static double age_of(carom_path *w, int b) {
    const carom_local *L = &w->p.L;
    const int c = L->id[b] - w->p.ne, k = L->at[b] + 1;
    carom_column_expand(w->dx, &L->W, k);
    carom_factor_solve(&w->F, w->dx);
    const double pull = w->p.contacts[c].friction * fabs(w->lambda[k - 1]) * carom_column_dot(&L->W, k, w->dx);
    return carom_length(w->u + k, L->at[b + 1] - k) / (YOUNG * fmax(w->size_v + w->span * pull, DBL_MIN));
}

static bool is_young(const carom_path *w, int b) { return w->p.L.id[b] >= w->p.ne && w->young[w->p.L.id[b] - w->p.ne]; }

double carom_path_age(carom_path *w) {
    double most = 0;
    for (int b = 0; b < w->p.L.nb; ++b)
        if (is_young(w, b)) most = fmax(most, age_of(w, b));
    return most;
}

// A basis of what is perpendicular to e, m - 1 columns.
static void perpendicular(const double *e, int m, double *B) {
    int n = 0;
    for (int i = 0; i < m && n < m - 1; ++i) {
        double *b = B + n * m;
        for (int k = 0; k < m; ++k) b[k] = (k == i) - e[i] * e[k];
        for (int j = 0; j < n; ++j) carom_axpy(b, -carom_dot(b, B + j * m, m), B + j * m, m);
        const double size = carom_length(b, m);
        if (size < 0.5 / m) continue;
        for (int k = 0; k < m; ++k) b[k] /= size;
        ++n;
    }
}

// Slip that begins from rest grows along e alone, u = e j s^2/2 + ..., because friction turns with what drives it.
// What has grown across a fixed direction is taken back by friction across it, from the state and from every column.
static carom_status straighten(carom_path *w, int b) {
    const carom_local *L = &w->p.L;
    const int nv = w->p.nv, k = L->at[b] + 1, m = L->at[b + 1] - k, across = m - 1, n = w->n_rows + across;
    double B[CAROM_TANGENTS * CAROM_TANGENTS];
    perpendicular(w->first + CAROM_TANGENTS * (L->id[b] - w->p.ne), m, B);
    for (int i = 0; i < across; ++i) {
        double *X = w->X + (size_t)(w->n_rows + i) * (size_t)nv;
        carom_zero(X, nv);
        for (int l = 0; l < m; ++l) carom_column_axpy(X, B[i * m + l], &L->W, k + l);
        carom_path_invert(w, X, NULL);
    }
    for (int j = 0; j < n; ++j) {
        const double *X = w->X + (size_t)j * (size_t)nv;
        for (int r = 0; r < w->n_rows; ++r) w->A[r + j * n] = carom_column_dot(&L->W, w->row[r], X);
        for (int i = 0; i < across; ++i) {
            w->A[w->n_rows + i + j * n] = 0;
            for (int l = 0; l < m; ++l) w->A[w->n_rows + i + j * n] += B[i * m + l] * carom_column_dot(&L->W, k + l, X);
        }
    }
    for (int j = -1; j < w->n; ++j) {
        double *dv = j < 0 ? w->v : w->y + ((size_t)j * 2 + 1) * (size_t)nv;
        if (j >= 0)
            CAROM_TRY(bad(w,
                          carom_variation_rates(w->x, w->p.t, w->p.q, w->p.v,
                                                (carom_direction){0, dv - nv, dv, w->dp + (size_t)j * (size_t)w->np},
                                                w->full),
                          w->t));
        const double *u = j < 0 ? w->u + k : w->full + w->at_full[L->id[b]] + 1;
        carom_zero(w->r, w->n_rows);
        for (int i = 0; i < across; ++i) w->r[w->n_rows + i] = -carom_dot(B + i * m, u, m);
        carom_path_solve(w, w->A, n, w->r);
        for (int i = 0; i < n; ++i) carom_axpy(dv, w->r[i], w->X + (size_t)i * (size_t)nv, nv);
    }
    return CAROM_OK;
}

carom_status carom_path_grow_up(carom_path *w) {
    CAROM_TRY(carom_path_evaluate(w, w->t, w->q, w->v));
    for (int b = 0; b < w->p.L.nb; ++b) {
        if (!is_young(w, b) || age_of(w, b) <= 1) continue;
        if (w->starts[w->p.L.id[b] - w->p.ne]) CAROM_TRY(straighten(w, b));
        w->young[w->p.L.id[b] - w->p.ne] = w->ready = false;
    }
    return CAROM_OK;
}

// Friction of contacts that slide changes with its coefficient and its direction.
static carom_status change_friction(carom_path *w, carom_direction d, int j, double *r) {
    carom_point *p = &w->p;
    const carom_local *L = &p->L;
    bool some = false;
    for (int b = 0; b < L->nb; ++b) some = some || slides(w, b);
    if (!some) return CAROM_OK;
    CAROM_TRY(bad(w, carom_variation_laws(w->x, p->t, p->q, p->v, d, NULL, NULL, w->dmu, NULL), p->t));
    CAROM_TRY(bad(w, carom_variation_rates(w->x, p->t, p->q, p->v, d, w->full), p->t));
    for (int b = 0; b < L->nb; ++b) {
        if (!slides(w, b)) continue;
        const int c = L->id[b] - p->ne, k = L->at[b] + 1, tangents = L->at[b + 1] - k;
        double e[CAROM_TANGENTS];
        const double speed = slip(w, b, e), *du = w->full + w->at_full[L->id[b]] + 1,
                     along = speed > 0 ? carom_dot(e, du, tangents) : 0;
        const double *begun = w->young[c] && j >= 0 ? carom_path_turn(w, j, c) : NULL;
        for (int i = 0; i < tangents; ++i) {
            const double turn = speed > 0 ? (du[i] - along * e[i]) / speed : begun ? begun[i] : 0;
            carom_column_axpy(r, -(w->dmu[c] * e[i] + p->contacts[c].friction * turn) * w->lambda[k - 1], &L->W, k + i);
        }
    }
    return CAROM_OK;
}

// (VAR-1), right: da, and the change of reactions by row, along a direction at the point evaluated last.
carom_status carom_path_differentiate(carom_path *w, carom_direction d, int j, double *da, double *dlambda) {
    carom_point *p = &w->p;
    const carom_local *L = &p->L;
    const int nv = p->nv;
    CAROM_TRY(bad(w, carom_variation_motion(w->x, p->t, p->q, p->v, w->a, d, da), p->t));
    if (L->nb > 0) {
        carom_path_spread(w, w->lambda);
        CAROM_TRY(bad(w, carom_variation_reaction(w->x, p->t, p->q, w->full, d, w->dv), p->t));
        carom_axpy(da, 1, w->dv, nv);
        CAROM_TRY(change_friction(w, d, j, da));
        CAROM_TRY(bad(w, carom_variation_acceleration(w->x, p->t, p->q, p->v, w->a, d, w->full), p->t));
    }
    for (int r = 0, b = 0; r < w->n_rows; ++r) {
        while (w->row[r] >= L->at[b + 1]) ++b;
        dlambda[r] = -w->full[w->at_full[L->id[b]] + w->row[r] - L->at[b]];
    }
    for (int k = 0; k < w->nj; ++k) w->joint[k] = -w->full[w->at_full[k]];
    carom_path_push(w, da, dlambda, w->joint);
    return CAROM_OK;
}

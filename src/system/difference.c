// difference.c: central differences along velocities.
#include "linalg/matrix.h"
#include "system/difference.h"
#include "system/system.h"
#include <math.h>
#include <stdlib.h>

carom_local carom_allocate_local(carom_arena *mem, const carom_system *sys) {
    const int nb = sys->ne + sys->nc;
    int n = 0;
    for (int id = 0; id < nb; ++id) n += carom_system_recorded(sys, id);
    carom_local L = {.nb = 0, .lever = sys->lever};
    L.id = carom_allocate_ints(mem, (size_t)nb);
    L.at = carom_allocate_ints(mem, (size_t)nb + 1);
    L.W = carom_allocate_sharing_columns(mem, sys->nv, n, sys->column_stride, carom_system_world(sys) ? nb : 0);
    L.w = carom_allocate(mem, (size_t)n);
    return L;
}

carom_difference carom_allocate_difference(carom_arena *mem, const carom_system *sys) {
    carom_difference d = {.L = carom_allocate_local(mem, sys)};
    const int longest = d.L.W.n > sys->nv ? d.L.W.n : sys->nv;
    d.q = carom_allocate(mem, (size_t)sys->nq);
    CAROM_ALLOCATE(mem, (size_t)longest, &d.a, &d.b);
    d.e = carom_allocate(mem, (size_t)sys->nv);
    d.of = carom_allocate_ints(mem, (size_t)(sys->ne + sys->nc));
    d.M = carom_allocate_matrix(mem, sys->mass_shape);
    return d;
}

// Third root of the rounding unit: where rounding and truncation of a central difference meet.
static const double STEP = 6e-6;

static double relative(const carom_difference *d) { return d->step > 0 ? d->step : STEP; }

static double step_for(const carom_difference *d, const carom_system *sys, const double *q, int j) {
    return relative(d) * fmax(1, sys->nq == sys->nv ? fabs(q[j]) : carom_norm_max(q, sys->nq));
}

// d->q = q moved by s along velocity j.
static void nudge(carom_difference *d, const carom_system *sys, const double *q, int j, double s) {
    if (sys->move) {
        carom_zero(d->e, sys->nv);
        d->e[j] = 1;
        sys->move(sys->model, d->q, q, s, d->e);
    } else {
        carom_copy(d->q, q, sys->nq);
        d->q[j] += s;
    }
}

// Column j of A += scale x, where the storage has room.
static void add_column(carom_matrix A, int j, double scale, const double *x) {
    const carom_pattern *P = A.shape.pattern;
    for (int e = P ? P->start[j] : 0; P && e < P->start[j + 1]; ++e) A.a[e] += scale * x[P->row[e]];
    if (P) return;
    const int band = carom_shape_band(A.shape), first = j > band ? j - band : 0,
              end = j + band < A.shape.n ? j + band + 1 : A.shape.n;
    for (int i = first; i < end; ++i) *carom_matrix_entry(A, i, j) += scale * x[i];
}

static carom_status force_at(carom_difference *d, const carom_system *sys, void *work, double t, const double *q,
                             const double *v, double *f) {
    (void)d;
    carom_zero(f, sys->nv);
    return sys->force(sys->model, work, t, q, v, f);
}

carom_status carom_difference_tangent(carom_difference *d, const carom_system *sys, void *work, double t,
                                      const double *q, const double *v, carom_matrix K, carom_matrix C) {
    for (int j = 0; j < sys->nv; ++j) {
        const double h = step_for(d, sys, q, j);
        nudge(d, sys, q, j, h);
        CAROM_TRY(force_at(d, sys, work, t, d->q, v, d->a));
        nudge(d, sys, q, j, -h);
        CAROM_TRY(force_at(d, sys, work, t, d->q, v, d->b));
        add_column(K, j, -0.5 / h, d->a);
        add_column(K, j, 0.5 / h, d->b);
    }
    for (int j = 0; j < sys->nv; ++j) {
        const double h = relative(d) * fmax(1, fabs(v[j]));
        carom_copy(d->e, v, sys->nv);
        d->e[j] = v[j] + h;
        CAROM_TRY(force_at(d, sys, work, t, q, d->e, d->a));
        d->e[j] = v[j] - h;
        CAROM_TRY(force_at(d, sys, work, t, q, d->e, d->b));
        add_column(C, j, -0.5 / h, d->a);
        add_column(C, j, 0.5 / h, d->b);
    }
    return CAROM_OK;
}

carom_status carom_difference_mass_gradient(carom_difference *d, const carom_system *sys, void *work, double t,
                                            const double *q, const double *x, double s, carom_matrix D) {
    for (int j = 0; j < sys->nv; ++j) {
        const double h = step_for(d, sys, q, j);
        for (int side = 1; side >= -1; side -= 2) {
            nudge(d, sys, q, j, side * h);
            carom_matrix_zero(d->M);
            CAROM_TRY(sys->mass(sys->model, work, t, d->q, d->M));
            carom_matrix_mul(d->a, d->M, x);
            add_column(D, j, side * 0.5 * s / h, d->a);
        }
    }
    return CAROM_OK;
}

// Can the directions of constraint b of L change with coordinate j?  They can if it touches j.  Rotations turn
// directions also about axes that the constraint leaves free: those of the same body, whose six rates stand together.
static bool touches(const carom_system *sys, const carom_local *L, int b, int j) {
    const int beside = sys->move ? 5 : 0;
    const carom_columns *W = &L->W;
    if (!W->count || j < 0) return true;
    for (int k = L->at[b]; k < L->at[b + 1]; ++k)
        for (int e = 0; e < W->count[k]; ++e)
            if (abs(carom_column_rows(W, k)[e] - j) <= beside) return true;
    return false;
}

// d->L: those of L that touch coordinate j (-1: all), d->of where they stand in L.
static void choose(carom_difference *d, const carom_system *sys, const carom_local *L, int j) {
    int nb = 0;
    d->L.at[0] = 0;
    for (int b = 0; b < L->nb; ++b) {
        if (!touches(sys, L, b, j)) continue;
        d->of[nb] = b;
        d->L.id[nb] = L->id[b];
        d->L.at[nb + 1] = d->L.at[nb] + L->at[b + 1] - L->at[b];
        ++nb;
    }
    d->L.nb = nb;
}

// The directions of d->L at d->q.
static carom_status directions_at(carom_difference *d, const carom_system *sys, void *work, double t) {
    const int n = d->L.at[d->L.nb];
    if (n == 0) return CAROM_OK;
    carom_zero(d->L.w, n);
    if (!d->L.W.count) carom_zero(d->L.W.a, n * sys->nv);
    return sys->directions(sys->model, work, t, d->q, &d->L);
}

// The local velocity of row k of d->L.
static double rate(const carom_difference *d, int k, const double *v) {
    return carom_column_dot(&d->L.W, k, v) + d->L.w[k];
}

carom_status carom_difference_reaction_gradient(carom_difference *d, const carom_system *sys, void *work, double t,
                                                const double *q, const carom_local *L, const double *lambda, double s,
                                                carom_matrix D) {
    for (int j = 0; j < sys->nv; ++j) {
        const double h = step_for(d, sys, q, j);
        choose(d, sys, L, j);
        for (int side = 1; d->L.nb > 0 && side >= -1; side -= 2) {
            nudge(d, sys, q, j, side * h);
            CAROM_TRY(directions_at(d, sys, work, t));
            carom_zero(d->a, sys->nv);
            for (int b = 0; b < d->L.nb; ++b)
                for (int k = d->L.at[b], of = L->at[d->of[b]]; k < d->L.at[b + 1]; ++k, ++of)
                    carom_column_axpy(d->a, lambda[of], &d->L.W, k);
            add_column(D, j, side * 0.5 * s / h, d->a);
        }
    }
    return CAROM_OK;
}

// Column k of D: room for the coordinates that a gap touches, which its rate depends on.
static void lay_out(carom_columns *D, const carom_columns *W, int k) {
    const size_t start = (size_t)k * (size_t)D->stride;
    if (!D->count) return carom_zero(D->a + start, D->rows);
    int *row = carom_column_own_rows(D, k, W->count[k]);
    for (int e = 0; e < W->count[k]; ++e) row[e] = carom_column_rows(W, k)[e], D->a[start + (size_t)e] = 0;
}

static double *column_entry(carom_columns *D, int k, int j) {
    const size_t start = (size_t)k * (size_t)D->stride;
    if (!D->count) return D->a + start + j;
    for (int e = 0; e < D->count[k]; ++e)
        if (carom_column_rows(D, k)[e] == j) return D->a + start + e;
    return NULL;
}

carom_status carom_difference_rate_gradient(carom_difference *d, const carom_system *sys, void *work, double t,
                                            const double *q, const double *v, const carom_local *L, carom_columns *D) {
    for (int k = 0; k < L->at[L->nb]; ++k) lay_out(D, &L->W, k);
    for (int j = 0; j < sys->nv; ++j) {
        const double h = step_for(d, sys, q, j);
        choose(d, sys, L, j);
        nudge(d, sys, q, j, h);
        CAROM_TRY(directions_at(d, sys, work, t));
        for (int k = 0; k < d->L.at[d->L.nb]; ++k) d->a[k] = rate(d, k, v);
        nudge(d, sys, q, j, -h);
        CAROM_TRY(directions_at(d, sys, work, t));
        for (int b = 0; b < d->L.nb; ++b)
            for (int k = d->L.at[b], of = L->at[d->of[b]]; k < d->L.at[b + 1]; ++k, ++of) {
                double *entry = column_entry(D, of, j);
                if (entry) *entry = (d->a[k] - rate(d, k, v)) / (2 * h);
            }
    }
    return CAROM_OK;
}

carom_status carom_difference_curvature(carom_difference *d, const carom_system *sys, void *work, double t,
                                        const double *q, const double *v, const carom_local *L, double *kappa) {
    const int n = L->at[L->nb];
    const double h = relative(d) * fmax(1, carom_norm_max(q, sys->nq)) / fmax(1, carom_norm_max(v, sys->nv));
    choose(d, sys, L, -1);
    for (int side = 1; side >= -1; side -= 2) {
        if (sys->move)
            sys->move(sys->model, d->q, q, side * h, v);
        else
            carom_add(d->q, q, side * h, v, sys->nq);
        CAROM_TRY(directions_at(d, sys, work, t + side * h));
        for (int k = 0; k < n; ++k) kappa[k] = side > 0 ? rate(d, k, v) : (kappa[k] - rate(d, k, v)) / (2 * h);
    }
    return CAROM_OK;
}

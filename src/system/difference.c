// difference.c: central differences along velocities.
#include <carom/difference.h>
#include <math.h>

carom_local carom_carve_local(carom_arena *mem, const carom_system *sys) {
    const int nb = sys->ne + sys->nc;
    int n = 0;
    for (int id = 0; id < nb; ++id) n += carom_system_recorded(sys, id);
    carom_local L = {.nb = 0};
    L.id = carom_carve_ints(mem, (size_t)nb);
    L.at = carom_carve_ints(mem, (size_t)nb + 1);
    L.W = carom_carve_columns(mem, sys->nv, n, sys->column_stride);
    L.w = carom_carve(mem, (size_t)n);
    return L;
}

carom_difference carom_carve_difference(carom_arena *mem, const carom_system *sys) {
    carom_difference d = {.L = carom_carve_local(mem, sys)};
    const int longest = d.L.W.n > sys->nv ? d.L.W.n : sys->nv;
    d.q = carom_carve(mem, (size_t)sys->nq);
    d.a = carom_carve(mem, (size_t)longest);
    d.b = carom_carve(mem, (size_t)longest);
    d.e = carom_carve(mem, (size_t)sys->nv);
    d.M = carom_carve_matrix(mem, sys->mass_shape);
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
    const int band = carom_shape_band(A.shape), first = j > band ? j - band : 0, end = j + band < A.shape.n ? j + band + 1 : A.shape.n;
    for (int i = first; i < end; ++i) *carom_matrix_entry(A, i, j) += scale * x[i];
}

static carom_status force_at(carom_difference *d, const carom_system *sys, void *work, double t, const double *q, const double *v, double *f) {
    (void)d;
    carom_zero(f, sys->nv);
    return sys->force(sys->model, work, t, q, v, f);
}

carom_status carom_difference_tangent(carom_difference *d, const carom_system *sys, void *work, double t, const double *q,
                                      const double *v, carom_matrix K, carom_matrix C) {
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

carom_status carom_difference_mass_gradient(carom_difference *d, const carom_system *sys, void *work, double t, const double *q,
                                            const double *x, double s, carom_matrix D) {
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

// Directions of L's set at d->q.
static carom_status directions_at(carom_difference *d, const carom_system *sys, void *work, double t, const carom_local *L) {
    d->L.nb = L->nb;
    for (int b = 0; b < L->nb; ++b) d->L.id[b] = L->id[b], d->L.at[b] = L->at[b];
    d->L.at[L->nb] = L->at[L->nb];
    carom_zero(d->L.w, L->at[L->nb]);
    if (!d->L.W.count) carom_zero(d->L.W.a, L->at[L->nb] * sys->nv);
    return sys->directions(sys->model, work, t, d->q, &d->L);
}

carom_status carom_difference_reaction_gradient(carom_difference *d, const carom_system *sys, void *work, double t, const double *q,
                                                const carom_local *L, const double *lambda, double s, carom_matrix D) {
    const int n = L->at[L->nb];
    for (int j = 0; j < sys->nv; ++j) {
        const double h = step_for(d, sys, q, j);
        for (int side = 1; side >= -1; side -= 2) {
            nudge(d, sys, q, j, side * h);
            CAROM_TRY(directions_at(d, sys, work, t, L));
            carom_zero(d->a, sys->nv);
            for (int k = 0; k < n; ++k) carom_column_axpy(d->a, lambda[k], &d->L.W, k);
            add_column(D, j, side * 0.5 * s / h, d->a);
        }
    }
    return CAROM_OK;
}

// Entry (j, k) of sparse or dense columns; sparse ones take the rows of W: a gap's gradient depends on
// the coordinates that it touches.
static double *column_entry(carom_columns *D, const carom_columns *W, int k, int j) {
    const size_t start = (size_t)k * (size_t)D->stride;
    if (!D->count) return D->a + start + j;
    if (j == 0) {
        D->count[k] = W->count[k];
        for (int e = 0; e < W->count[k]; ++e) D->row[start + (size_t)e] = W->row[start + (size_t)e];
    }
    for (int e = 0; e < D->count[k]; ++e)
        if (D->row[start + (size_t)e] == j) return D->a + start + e;
    return NULL;
}

carom_status carom_difference_rate_gradient(carom_difference *d, const carom_system *sys, void *work, double t, const double *q,
                                            const double *v, const carom_local *L, carom_columns *D) {
    const int n = L->at[L->nb];
    for (int j = 0; j < sys->nv; ++j) {
        const double h = step_for(d, sys, q, j);
        nudge(d, sys, q, j, h);
        CAROM_TRY(directions_at(d, sys, work, t, L));
        for (int k = 0; k < n; ++k) d->a[k] = carom_column_dot(&d->L.W, k, v) + d->L.w[k];
        nudge(d, sys, q, j, -h);
        CAROM_TRY(directions_at(d, sys, work, t, L));
        for (int k = 0; k < n; ++k) {
            double *entry = column_entry(D, &L->W, k, j);
            if (entry) *entry = (d->a[k] - carom_column_dot(&d->L.W, k, v) - d->L.w[k]) / (2 * h);
        }
    }
    return CAROM_OK;
}

carom_status carom_difference_curvature(carom_difference *d, const carom_system *sys, void *work, double t, const double *q,
                                        const double *v, const carom_local *L, double *kappa) {
    const int n = L->at[L->nb];
    const double h = relative(d) * fmax(1, carom_norm_max(q, sys->nq)) / fmax(1, carom_norm_max(v, sys->nv));
    for (int side = 1; side >= -1; side -= 2) {
        if (sys->move)
            sys->move(sys->model, d->q, q, side * h, v);
        else
            carom_add(d->q, q, side * h, v, sys->nq);
        CAROM_TRY(directions_at(d, sys, work, t + side * h, L));
        for (int k = 0; k < n; ++k) {
            const double u = carom_column_dot(&d->L.W, k, v) + d->L.w[k];
            kappa[k] = side > 0 ? u : (kappa[k] - u) / (2 * h);
        }
    }
    return CAROM_OK;
}

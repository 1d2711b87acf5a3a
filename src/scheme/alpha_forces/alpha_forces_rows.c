// alpha_forces_rows.c: local velocities, reactions and directions of alpha-forces, row by row.
#include "base/tolerance.h"
#include "linalg/matrix.h"
#include "scheme/alpha_forces/alpha_forces.h"
#include <math.h>
#include <string.h>

double carom_alpha_no_velocity(const carom_step *s, const carom_local *L, int k, const double *v) {
    return CAROM_ROUNDING_SUM * (carom_local_magnitude(L, k, v) + fabs(L->w[k])) + carom_velocity_left(s);
}

bool carom_alpha_sticks(const carom_step *s, int id, const double *p, int n) {
    static const double INSIDE = 1 - 1e-6; // on the cone to rounding of the solver: it slides
    return n > 0 && p[0] > 0 && carom_length(p + 1, n) < INSIDE * s->sys->contacts[id - s->sys->ne].friction * p[0];
}

void carom_alpha_gather(double *x, const carom_step *s, const carom_local *L, const double *by_direction) {
    for (int b = 0; b < L->nb; ++b) carom_copy(x + L->at[b], by_direction + s->dir[L->id[b]], L->at[b + 1] - L->at[b]);
}

void carom_alpha_scatter(double *by_direction, const carom_step *s, const carom_local *L, const double *x) {
    for (int b = 0; b < L->nb; ++b) carom_copy(by_direction + s->dir[L->id[b]], x + L->at[b], L->at[b + 1] - L->at[b]);
}

void carom_alpha_add_row(carom_local *to, int r, double x, const carom_local *from, int k) {
    const carom_columns *W = &from->W;
    double *a = to->W.a + (size_t)r * (size_t)to->W.stride;
    if (!to->W.count) {
        carom_column_axpy(a, x, W, k);
        return;
    }
    int *row = carom_column_rows(&to->W, r);
    const int *of = carom_column_rows(W, k);
    for (int e = 0; e < W->count[k]; ++e) {
        int i = 0;
        while (i < to->W.count[r] && row[i] != of[e]) ++i;
        if (i == to->W.count[r]) a[i] = 0, row[i] = of[e], to->W.count[r] = i + 1;
        a[i] += x * W->a[(size_t)k * (size_t)W->stride + (size_t)e];
    }
}

void carom_alpha_mean(carom_alpha_forces *w, const carom_step *s) {
    const carom_local *L = &w->N.L;
    carom_alpha_gather(w->mean, s, L, w->kap);
    for (int k = 0; k < L->at[L->nb]; ++k) w->mean[k] = w->par.gamma * w->c * (w->lambda[k] + w->mean[k]);
}

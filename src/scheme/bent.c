// bent.c: see bent.h.
#include "linalg/matrix.h"
#include "scheme/bent.h"
#include <math.h>
#include <string.h>

carom_bent carom_allocate_bent(carom_arena *mem, const carom_system *sys) {
    carom_bent z = {.which = carom_allocate_bytes(mem, (size_t)(sys->ne + sys->nc) * sizeof *z.which),
                    .L = carom_allocate_local(mem, sys)};
    z.u = carom_allocate(mem, (size_t)z.L.W.n);
    z.plane = carom_allocate_bytes(mem, (size_t)(sys->ne + sys->nc) * sizeof *z.plane);
    CAROM_ALLOCATE(mem, (size_t)(sys->ne + sys->nc), &z.g, &z.g_0);
    z.x = carom_allocate(mem, (size_t)sys->nv);
    z.left = carom_allocate_bytes(mem, (size_t)(sys->ne + sys->nc) * sizeof *z.left);
    z.keeps = carom_allocate_bytes(mem, (size_t)(sys->ne + sys->nc) * sizeof *z.keeps);
    return z;
}

// Of constraint c of one set to constraint b of another.
static void copy_directions(carom_local *to, int b, const carom_local *from, int c) {
    const size_t stride = (size_t)(to->W.count ? to->W.stride : to->W.rows);
    for (int k = to->at[b], j = from->at[c]; k < to->at[b + 1]; ++k, ++j) {
        const size_t at = (size_t)k * stride, of = (size_t)j * stride;
        memcpy(to->W.a + at, from->W.a + of, stride * sizeof *to->W.a);
        to->w[k] = from->w[j];
        if (to->W.count)
            memcpy(carom_column_own_rows(&to->W, k, from->W.count[j]), carom_column_rows(&from->W, j),
                   stride * sizeof *to->W.row);
    }
}

carom_status carom_bent_find(carom_bent *z, carom_step *s, double *u, const carom_local *L, carom_evaluation_point at) {
    z->some = false;
    for (int b = 0; b < L->nb; ++b) z->plane[b] = z->left[b] = false;
    carom_copy(z->u, u, L->at[L->nb]);
    CAROM_TRY(carom_velocity_before(s, u, L, at));
    for (int b = 0; b < L->nb; ++b) {
        z->which[b] = u[L->at[b]] != z->u[L->at[b]];
        z->some = z->some || z->which[b];
    }
    if (!z->some) return CAROM_OK;
    carom_local_same(&z->L, L);
    for (int b = 0; b < L->nb; ++b)
        if (z->which[b]) copy_directions(&z->L, b, L, b);
    return CAROM_OK;
}

// Row k leaves with the velocity w, along no direction.
static void leave(carom_local *L, double *u, int k, double w) {
    carom_column_clear(&L->W, k);
    u[k] = L->w[k] = w;
}

carom_status carom_bent_leave(carom_bent *z, carom_step *s, double *u, carom_local *L, carom_evaluation_point at) {
    if (!z->some || !s->sys->events->freeze) return CAROM_OK;
    for (int b = 0; b < L->nb; ++b) z->keeps[L->id[b]] = z->which[b];
    CAROM_TRY(carom_gaps(s, z->g, at.t, at.q));
    CAROM_TRY(carom_run_off(s, L, (carom_evaluation_point){.t = s->t, .q = s->q}, at, z->g, z->g_0, z->keeps));
    for (int b = 0; b < L->nb; ++b) {
        const int first = L->at[b];
        z->left[b] = z->which[b] && !z->keeps[L->id[b]];
        if (!z->left[b]) continue;
        leave(L, u, first, fabs(u[first] - z->u[first])); // a jump, so not 0
        for (int k = first + 1; k < L->at[b + 1]; ++k) leave(L, u, k, 0);
        copy_directions(&z->L, b, L, b);
    }
    return CAROM_OK;
}

void carom_bent_rates(const carom_bent *z, carom_columns *D, const carom_local *L) {
    for (int b = 0, c = 0; z->some && c < z->L.nb; ++c) {
        while (b < L->nb && L->id[b] < z->L.id[c]) ++b;
        if (!z->left[c] || b == L->nb || L->id[b] != z->L.id[c]) continue;
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) carom_column_clear(D, k);
    }
}

void carom_bent_keep(const carom_bent *z, carom_local *L) {
    for (int b = 0, c = 0; z->some && c < z->L.nb; ++c) {
        while (b < L->nb && L->id[b] < z->L.id[c]) ++b;
        if (z->which[c] && b < L->nb && L->id[b] == z->L.id[c]) copy_directions(L, b, &z->L, c);
    }
}

carom_status carom_bent_plane(carom_bent *z, carom_step *s, bool *all, const double *g, const double *x,
                              const double *q_0) {
    static const double ROUNDINGS = 1 << 10; // sums of some hundred terms lose ten bits
    *all = true;
    if (!z->some) return CAROM_OK;
    CAROM_TRY(carom_gaps(s, z->g_0, s->t, q_0));
    carom_copy(z->x, x, s->sys->nv);
    for (int c = 0; c < z->L.nb; ++c) {
        z->g[c] = g[z->L.id[c]];
        z->plane[c] = z->which[c] &&
                      z->g_0[z->L.id[c]] >= -(ROUNDINGS * carom_local_rounding(&z->L, z->L.at[c], q_0, s->sys->nq) +
                                              s->h * s->tol * s->scale);
        *all = *all && z->plane[c] == z->which[c];
    }
    return CAROM_OK;
}

// (CL-10)  g = g* + W'(x - x*)
void carom_bent_gaps(const carom_bent *z, double *g, const double *x) {
    for (int c = 0; z->some && c < z->L.nb; ++c)
        if (z->plane[c])
            g[z->L.id[c]] =
                z->g[c] + (carom_column_dot(&z->L.W, z->L.at[c], x) - carom_column_dot(&z->L.W, z->L.at[c], z->x));
}

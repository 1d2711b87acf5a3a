// grip.c: the contact problem at a point.
#include "contact/delassus.h"
#include "base/block.h"
#include "dynamics/dynamics.h"
#include <math.h>
#include <stdlib.h>

static void allocate(carom_grip *s, carom_arena *mem) {
    const carom_point *p = &s->p;
    const size_t n = (size_t)p->n, nv = (size_t)p->nv, nb = (size_t)(p->ne + p->nc);
    s->A = carom_allocate_factor(mem, p->sys.tangent_shape, false);
    s->B = carom_allocate_matrix(mem, p->sys.tangent_shape);
    s->in = carom_allocate(mem, nv * n), s->out = carom_allocate(mem, nv * n), s->X = carom_allocate(mem, nv * n);
    s->G = carom_allocate(mem, n * n), s->c = carom_allocate(mem, n), s->x = carom_allocate(mem, n),
    s->u = carom_allocate(mem, n);
    s->a = carom_allocate(mem, nv);
    s->block_of = carom_allocate_bytes(mem, nb * sizeof *s->block_of);
    s->row = carom_allocate_ints(mem, nb + 1);
    s->slides = carom_allocate_bytes(mem, nb * sizeof *s->slides),
    s->with = carom_allocate_bytes(mem, nb * sizeof *s->with);
    s->direction = carom_allocate(mem, nb * CAROM_TANGENTS);
    s->lambda = carom_allocate(mem, n), s->warm = carom_allocate(mem, n);
    s->dir = carom_allocate_ints(mem, nb + 1);
    s->chain = carom_allocate_chain(mem, p->n, (int)nb, p->n < CAROM_DENSE_ROWS ? p->n : CAROM_DENSE_ROWS, NULL);
}

carom_status carom_grip_open(carom_grip *s, const carom_model *m, carom_error *err) {
    *s = (carom_grip){.err = err};
    CAROM_TRY(carom_point_open(&s->p, m, err));
    allocate(s, &s->mem);
    const bool room = carom_arena_begin(&s->mem);
    if (room) allocate(s, &s->mem);
    if (!room || s->mem.failed)
        return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the contact problem of the model");
    for (int id = 0; id < s->p.ne + s->p.nc; ++id) s->dir[id + 1] = s->dir[id] + carom_system_recorded(&s->p.sys, id);
    return CAROM_OK;
}

void carom_grip_close(carom_grip *s) {
    carom_arena_release(&s->mem);
    free(s->mem.base);
    carom_point_close(&s->p);
}

static double mu_of(const carom_grip *s, int id) { return s->p.contacts[id - s->p.ne].friction; }

carom_status carom_grip_gather(carom_grip *s) {
    carom_point *p = &s->p;
    p->L.nb = 0;
    for (int id = 0; id < p->ne + p->nc; ++id)
        if (id < p->ne || s->with[id - p->ne]) p->L.id[p->L.nb++] = id;
    return carom_point_directions(p, &p->L, s->err);
}

void carom_grip_lay_out(carom_grip *s) {
    carom_point *p = &s->p;
    const carom_local *L = &p->L;
    const size_t nv = (size_t)p->nv;
    s->rows = 0;
    for (int b = 0; b < L->nb; ++b) {
        const int id = L->id[b], first = L->at[b], count = L->at[b + 1] - first;
        double *d = s->direction + CAROM_TANGENTS * b;
        carom_zero(d, CAROM_TANGENTS);
        s->slides[b] = carom_point_slides(p, b, d);
        s->row[b] = s->rows;
        const int rows = s->slides[b] ? 1 : count;
        s->block_of[b] = (carom_block){id < p->ne ? CAROM_BILATERAL : carom_law_friction(rows - 1), s->rows,
                                       rows > 1 ? mu_of(s, id) : 0};
        for (int k = 0; k < rows; ++k, ++s->rows) {
            carom_column_expand(s->in + (size_t)s->rows * nv, &L->W, first + k);
            carom_copy(s->out + (size_t)s->rows * nv, s->in + (size_t)s->rows * nv, p->nv);
        }
        for (int k = 1; s->slides[b] && k < count; ++k) // (W_N + mu W_T d) lambda_N
            carom_column_axpy(s->out + (size_t)(s->rows - 1) * nv, mu_of(s, id) * d[k - 1], &L->W, first + k);
    }
    s->row[L->nb] = s->rows;
}

void carom_grip_fill(carom_grip *s) {
    const size_t nv = (size_t)s->p.nv, n = (size_t)s->rows;
    const carom_columns in = {.rows = s->p.nv, .n = s->rows, .stride = s->p.nv, .a = s->in};
    carom_copy(s->X, s->out, (ptrdiff_t)(n * nv));
    carom_delassus_dense(s->G, s->rows, s->X, &in, NULL, &s->A, 1, false);
}

carom_problem carom_grip_problem(carom_grip *s) {
    return (carom_problem){
        .n = s->rows, .nb = s->p.L.nb, .ld = s->rows, .block = s->block_of, .G = s->G, .c = s->c, .p = s->x, .u = s->u};
}

void carom_grip_spread(carom_grip *s) {
    const carom_local *L = &s->p.L;
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) {
            const int i = k - L->at[b];
            s->lambda[k] = s->slides[b] && i > 0
                               ? mu_of(s, L->id[b]) * s->direction[CAROM_TANGENTS * b + i - 1] * s->x[s->row[b]]
                               : s->x[s->row[b] + i];
        }
}

void carom_grip_recall(carom_grip *s) {
    for (int b = 0; b < s->p.L.nb; ++b)
        for (int k = s->row[b]; k < s->row[b + 1]; ++k) s->x[k] = s->warm[s->dir[s->p.L.id[b]] + k - s->row[b]];
}

void carom_grip_remember(carom_grip *s) {
    const carom_local *L = &s->p.L;
    carom_zero(s->warm, s->p.n);
    for (int b = 0; b < L->nb; ++b)
        for (int k = L->at[b]; k < L->at[b + 1]; ++k) s->warm[s->dir[L->id[b]] + k - L->at[b]] = s->lambda[k];
}

void carom_grip_measure(carom_grip *s) {
    const carom_point *p = &s->p;
    s->length = fmax(s->length, carom_point_largest(p, p->q, p->nq));
    for (int id = 0; id < p->ne + p->nc; ++id)
        if (isfinite(p->g[id])) s->length = fmax(s->length, fabs(p->g[id]));
    if (s->length == 0) s->length = 1;
}

carom_status carom_grip_weigh(carom_grip *s) {
    carom_point *p = &s->p;
    carom_matrix_zero(s->B);
    carom_matrix_add(s->B, 1, p->M);
    int where = 0;
    if (carom_factorise(&s->A, s->B, &where) != CAROM_OK)
        return carom_fail(s->err, CAROM_SINGULAR, "the mass matrix is not positive definite at '%.60s'",
                          carom_point_rate(p, where));
    carom_copy(s->a, p->f, p->nv);
    carom_factor_solve(&s->A, s->a);
    return CAROM_OK;
}

carom_status carom_grip_accelerate(carom_grip *s) {
    carom_point *p = &s->p;
    CAROM_TRY(carom_grip_gather(s));
    carom_grip_lay_out(s);
    CAROM_TRY(carom_grip_weigh(s));
    carom_grip_fill(s);
    CAROM_TRY(carom_point_curvature(p, s->u, s->err));
    for (int b = 0; b < p->L.nb; ++b)
        for (int k = s->row[b]; k < s->row[b + 1]; ++k)
            s->c[k] = carom_dot(s->in + (size_t)k * (size_t)p->nv, s->a, p->nv) + s->u[p->L.at[b] + k - s->row[b]];
    return CAROM_OK;
}

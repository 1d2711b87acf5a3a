// grip.c: the contact problem at a point.
#include "contact/delassus.h"
#include "base/block.h"
#include "contact/residual.h"
#include "dynamics/dynamics.h"
#include "linalg/matrix.h"
#include <math.h>
#include <stdlib.h>

static void allocate(carom_grip *s, carom_arena *mem) {
    const carom_point *p = &s->p;
    const size_t n = (size_t)p->n, nv = (size_t)p->nv, nb = (size_t)(p->ne + p->nc);
    s->A = carom_allocate_factor(mem, p->sys.tangent_shape, false);
    s->B = carom_allocate_matrix(mem, p->sys.tangent_shape);
    s->u = carom_allocate(mem, n);
    s->a = carom_allocate(mem, nv);
    s->joint = carom_allocate(mem, (size_t)p->ne);
    s->block_of = carom_allocate_bytes(mem, nb * sizeof *s->block_of);
    s->row = carom_allocate_ints(mem, nb + 1);
    s->slides = carom_allocate_bytes(mem, nb * sizeof *s->slides),
    s->with = carom_allocate_bytes(mem, nb * sizeof *s->with);
    s->direction = carom_allocate(mem, nb * CAROM_TANGENTS);
    s->lambda = carom_allocate(mem, n), s->warm = carom_allocate(mem, n);
    s->dir = carom_allocate_ints(mem, nb + 1);
}

static void allocate_rows(carom_grip *s, carom_arena *mem) {
    const size_t n = (size_t)s->room, nv = (size_t)s->p.nv;
    s->in = carom_allocate(mem, nv * n), s->out = carom_allocate(mem, nv * n), s->X = carom_allocate(mem, nv * n);
    s->Y = carom_allocate(mem, (size_t)s->nj * n);
    s->G = carom_allocate(mem, n * n), s->c = carom_allocate(mem, n), s->x = carom_allocate(mem, n);
    s->spare = carom_allocate(mem, 7 * n + n * n);
    s->pivot = carom_allocate_ints(mem, 2 * n);
    s->chain = carom_allocate_chain(mem, s->room, s->room, s->room < CAROM_DENSE_ROWS ? s->room : CAROM_DENSE_ROWS,
                                    NULL);
}

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the contact problem of the model");
}

// Room for the rows of L; of all contacts few take part, and G is dense.
static carom_status make_rows(carom_grip *s) {
    const int rows = s->p.L.at[s->p.L.nb] - s->nj;
    if (rows <= s->room) return CAROM_OK;
    carom_arena_release(&s->of_rows);
    free(s->of_rows.base);
    s->of_rows = (carom_arena){0};
    s->room = rows + rows / 2;
    allocate_rows(s, &s->of_rows);
    const bool room = carom_arena_begin(&s->of_rows);
    if (room) allocate_rows(s, &s->of_rows);
    return room && !s->of_rows.failed ? CAROM_OK : no_memory(s->err);
}

carom_status carom_grip_open(carom_grip *s, const carom_model *m, carom_error *err) {
    *s = (carom_grip){.err = err};
    CAROM_TRY(carom_point_open(&s->p, m, err));
    allocate(s, &s->mem);
    const bool room = carom_arena_begin(&s->mem);
    if (room) allocate(s, &s->mem);
    if (!room || s->mem.failed || !carom_joined_open(&s->joined, &s->p.sys, s->p.sys.tangent_shape, false, &s->p.L.W))
        return no_memory(err);
    for (int id = 0; id < s->p.ne + s->p.nc; ++id) s->dir[id + 1] = s->dir[id] + carom_system_recorded(&s->p.sys, id);
    s->nj = s->joined.on ? s->p.ne : 0; // joints are rows, or all of them are none
    return CAROM_OK;
}

void carom_grip_close(carom_grip *s) {
    carom_joined_close(&s->joined);
    carom_arena_release(&s->of_rows), carom_arena_release(&s->mem);
    free(s->of_rows.base), free(s->mem.base);
    carom_point_close(&s->p);
}

static double mu_of(const carom_grip *s, int id) { return s->p.contacts[id - s->p.ne].friction; }

carom_status carom_grip_gather(carom_grip *s) {
    carom_point *p = &s->p;
    p->L.nb = 0;
    for (int id = 0; id < p->ne + p->nc; ++id)
        if (id < p->ne || s->with[id - p->ne]) p->L.id[p->L.nb++] = id;
    CAROM_TRY(carom_point_directions(p, &p->L, s->err));
    return make_rows(s);
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
        if (b < s->nj) continue;
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

carom_status carom_grip_factor(carom_grip *s) {
    carom_point *p = &s->p;
    if (s->nj == 0) return carom_factorise(&s->A, s->B, NULL);
    carom_status status = carom_joined_factor(&s->joined, s->B, &p->L.W);
    if (status != CAROM_SINGULAR) return status;
    // do joints depend on each other?  Then they are rows from here on, and laws of the contact problem
    carom_matrix_zero(s->B), carom_matrix_add(s->B, 1, p->M);
    const bool depend = carom_joined_factor(&s->joined, s->B, &p->L.W) == CAROM_SINGULAR;
    if (depend) {
        s->nj = 0;
        CAROM_TRY(make_rows(s));
    }
    return CAROM_SINGULAR;
}

void carom_grip_solve(carom_grip *s, double *x, double *joints) {
    if (s->nj == 0) {
        carom_factor_solve(&s->A, x);
        return;
    }
    if (!joints) carom_zero(joints = s->joint, s->nj);
    carom_joined_solve(&s->joined, x, joints);
}

void carom_grip_row(const carom_grip *s, int k, double *in, double *out) {
    const size_t at = (size_t)(k - s->nj) * (size_t)s->p.nv;
    if (k < s->nj) carom_column_expand(in, &s->p.L.W, k), carom_copy(out, in, s->p.nv);
    else carom_copy(in, s->in + at, s->p.nv), carom_copy(out, s->out + at, s->p.nv);
}

void carom_grip_fill(carom_grip *s) {
    const size_t nv = (size_t)s->p.nv, n = (size_t)s->rows;
    const carom_columns in = {.rows = s->p.nv, .n = s->rows, .stride = s->p.nv, .a = s->in};
    carom_copy(s->X, s->out, (ptrdiff_t)(n * nv));
    carom_zero(s->Y, (ptrdiff_t)s->nj * s->rows);
    for (int k = 0; k < s->rows && s->nj > 0; ++k)
        carom_joined_solve(&s->joined, s->X + (size_t)k * nv, s->Y + (size_t)k * (size_t)s->nj);
    carom_delassus_dense(s->G, s->rows, s->X, &in, NULL, s->nj > 0 ? NULL : &s->A, 1, false);
}

carom_problem carom_grip_problem(carom_grip *s) {
    return (carom_problem){.n = s->rows,
                           .nb = s->p.L.nb - s->nj,
                           .ld = s->rows,
                           .block = s->block_of + s->nj,
                           .G = s->G,
                           .c = s->c,
                           .p = s->x,
                           .u = s->u};
}

void carom_grip_spread(carom_grip *s) {
    const carom_local *L = &s->p.L;
    carom_copy(s->lambda, s->joint, s->nj);
    for (int k = 0; k < s->rows; ++k) carom_axpy(s->lambda, s->x[k], s->Y + (size_t)k * (size_t)s->nj, s->nj);
    for (int b = s->nj; b < L->nb; ++b)
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
    CAROM_TRY(carom_grip_weigh(s));
    if (s->nj > 0) CAROM_TRY(carom_grip_factor(s) == CAROM_NO_MEMORY ? no_memory(s->err) : CAROM_OK);
    carom_grip_lay_out(s); // joints that depend on each other are rows now
    carom_grip_fill(s);
    CAROM_TRY(carom_point_curvature(p, s->u, s->err));
    if (s->nj > 0) {
        carom_copy(s->a, p->f, p->nv);
        for (int k = 0; k < s->nj; ++k) s->joint[k] = -s->u[k];
        carom_grip_solve(s, s->a, s->joint);
    }
    for (int b = 0; b < p->L.nb; ++b)
        for (int k = s->row[b]; k < s->row[b + 1]; ++k)
            s->c[k] = carom_dot(s->in + (size_t)k * (size_t)p->nv, s->a, p->nv) + s->u[p->L.at[b] + k - s->row[b]];
    return CAROM_OK;
}

// assemble.c: initial positions and velocities that joints allow, and which constraints say nothing new.
//
// `assemble: yes` moves the positions onto the joints and constraints, by the shortest way in the metric of the mass matrix,
//     q <- q (+) M^-1 W x,   W'M^-1 W x = -g                                                    (ASM-1)
// Velocities that the file does not give are completed, those it gives stay:  with F the free ones,
//     v_F <- v_F + M_FF^-1 W_F x,   W_F'M_FF^-1 W_F x = -(W'v + w)                              (ASM-2)
#include "linalg/dense.h"
#include "model/model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double CUT = 1e-10, DEPENDENT = 1e-9; // relative
static const double MASSLESS = 1e-14; // pivots of the mass matrix that have cancelled to this, relatively
static const double FITS = 1e-8;     // of the misfit at the start: one that no longer shrinks from here on is rounding
static const double FOLLOWS = 1e-14; // of its terms: the rate of a joint that fits already

typedef struct desk {
    carom_model *m;
    void *work;
    int n, ne, nf;      // velocities, bilateral rows, free velocities
    int *free;          // nf
    double *M, *W, *X;  // free part of M, factorised; rows of W by column; M^-1 W
    double *G, *x, *b, *scratch, *diagonal, *v, *q, *g;
    int *col;
} desk;

static bool desk_open(desk *d) {
    const size_t n = (size_t)d->n, ne = (size_t)d->ne;
    d->free = calloc(2 * n + ne + 1, sizeof *d->free);
    d->M = calloc(n * n + 2 * n * ne + ne * ne + 6 * ne + n + (size_t)d->m->nv + (size_t)d->m->nq + (size_t)d->m->nc + 1, sizeof *d->M);
    if (!d->free || !d->M) return false;
    d->col = d->free + n;
    d->W = d->M + n * n;
    d->X = d->W + n * ne;
    d->G = d->X + n * ne;
    d->x = d->G + ne * ne;
    d->b = d->x + ne;
    d->scratch = d->b + ne;
    d->diagonal = d->scratch + 3 * ne;
    d->v = d->diagonal + n;
    d->q = d->v + d->m->nv;
    d->g = d->q + d->m->nq;
    return true;
}

static void desk_close(desk *d) {
    free(d->free);
    free(d->M);
}

// M and W of the free velocities at q, and G = W'M^-1 W; u (when not NULL) gets W'v0 + w, and b the sizes of its terms.  False: M is not positive definite.
static bool look(desk *d, const double *q, double *u) {
    const carom_model *m = d->m;
    double *x = carom_model_scratch(m, d->work);
    int *place = d->col; // of a velocity among the free ones, + 1
    for (int i = 0; i < d->n; ++i) place[i] = 0;
    for (int i = 0; i < d->nf; ++i) place[d->free[i]] = i + 1;
    const size_t nf = (size_t)d->nf;
    carom_tape_eval(m->tape, d->work, GROUP_MASS, 0, q, m->v0, x);
    for (size_t e = 0; e < nf * nf; ++e) d->M[e] = 0;
    for (int e = 0; e < m->mass.n; ++e) {
        const int i = place[m->mass.i[e]] - 1, j = place[m->mass.j[e]] - 1;
        if (i >= 0 && j >= 0) d->M[(size_t)i + (size_t)j * nf] = d->M[(size_t)j + (size_t)i * nf] = x[e];
    }
    carom_model_directions(m, d->work, 0, q, (int[]){0}, 0, x);
    for (int id = 0; id < d->ne; ++id) {
        const int k = m->links[id].dir;
        double *w = d->W + (size_t)id * nf;
        carom_zero(w, d->nf);
        if (u) u[id] = m->w_of[k] < 0 ? 0 : x[m->W.n + m->w_of[k]], d->b[id] = fabs(u[id]);
        for (int e = m->W_at[k]; e < m->W_at[k + 1]; ++e) {
            const int i = place[m->W.i[e]] - 1;
            if (i >= 0) w[i] = x[e];
            if (u) u[id] += x[e] * m->v0[m->W.i[e]], d->b[id] += fabs(x[e] * m->v0[m->W.i[e]]);
        }
        carom_copy(d->X + (size_t)id * nf, w, d->nf);
    }
    if (carom_dense_ldl(d->M, d->nf, d->nf, MASSLESS, d->diagonal) > 0) return false;
    for (int id = 0; id < d->ne; ++id) carom_dense_ldl_solve(d->M, d->nf, d->nf, d->X + (size_t)id * nf);
    for (int j = 0; j < d->ne; ++j)
        for (int i = 0; i < d->ne; ++i)
            d->G[i + (size_t)j * (size_t)d->ne] = carom_dot(d->W + (size_t)i * nf, d->X + (size_t)j * nf, d->nf);
    return true;
}

// Length of column k of W in the metric of M^-1: rows over it have one unit, those of angles and those of lengths.
static double length(const desk *d, int k) {
    const double g = d->G[(size_t)k * (size_t)(d->ne + 1)];
    return g > 0 ? sqrt(g) : 1; // else the row is zero
}

// v = M^-1 W x with G x = -b, shortest x of rows over their lengths; over all velocities, zero where not free.
static void answer(desk *d, double *v) {
    const int ne = d->ne;
    for (int i = 0; i < ne; ++i) d->x[i] = length(d, i);
    for (int j = 0; j < ne; ++j)
        for (int i = 0; i < ne; ++i) d->G[i + (size_t)j * (size_t)ne] /= d->x[i] * d->x[j];
    for (int i = 0; i < ne; ++i) {
        d->b[i] = -d->b[i] / d->x[i];
        for (int k = 0; k < d->nf; ++k) d->X[k + (size_t)i * (size_t)d->nf] /= d->x[i];
    }
    carom_dense_shortest(d->G, ne, ne, CUT, d->col, d->scratch, d->b, d->x);
    carom_zero(v, d->n);
    for (int id = 0; id < ne; ++id)
        for (int i = 0; i < d->nf; ++i) v[d->free[i]] += d->X[i + (size_t)id * (size_t)d->nf] * d->x[id];
}

static void move(const carom_model *m, double *q, const double *dq) {
    if (m->sys.move) m->sys.move(m, q, q, 1, dq);
    else carom_axpy(q, 1, dq, m->nv);
}

// (ASM-1)
static void positions(desk *d) {
    enum { MOST = 50 };
    carom_model *m = d->m;
    d->nf = d->n;
    for (int i = 0; i < d->n; ++i) d->free[i] = i;
    carom_copy(d->q, m->q0, m->nq);
    double last = HUGE_VAL, first = 0;
    for (int k = 0; k < MOST; ++k) {
        carom_tape_eval(m->tape, d->work, GROUP_GAPS, 0, d->q, m->v0, d->g);
        carom_copy(d->b, d->g, d->ne);
        const double gap = carom_norm_max(d->b, d->ne);
        if (k == 0) m->moved = gap;
        if (!(gap < HUGE_VAL) || gap == 0 || !look(d, d->q, NULL)) break;
        double size = 0; // in the metric of M^-1: angles and lengths
        for (int i = 0; i < d->ne; ++i) size = fmax(size, fabs(d->b[i]) / length(d, i));
        if (k == 0) first = size;
        if (k > 3 && size < FITS * first && size >= 0.5 * last) break;
        last = size;
        answer(d, d->v);
        move(m, d->q, d->v);
    }
    if (last < HUGE_VAL) carom_copy(m->q0, d->q, m->nq);
}

// (ASM-2)
static void velocities(desk *d) {
    carom_model *m = d->m;
    d->nf = 0;
    for (int i = 0; i < d->n; ++i)
        if (!m->given[i]) d->free[d->nf++] = i;
    if (d->nf == 0 || !look(d, m->q0, d->g)) return;
    bool fits = true;
    for (int i = 0; i < d->ne; ++i) fits = fits && fabs(d->g[i]) <= FOLLOWS * d->b[i];
    if (fits) return;
    carom_copy(d->b, d->g, d->ne);
    answer(d, d->v);
    for (int i = 0; i < d->n; ++i) {
        m->completed = fmax(m->completed, fabs(d->v[i]));
        m->v0[i] += d->v[i];
    }
}

// Gram-Schmidt over the columns of W, in units of the roots of the diagonal of M, twice for accuracy: a column that vanishes depends on those before it.
static void dependence(desk *d) {
    carom_model *m = d->m;
    d->nf = d->n;
    for (int i = 0; i < d->n; ++i) d->free[i] = i;
    if (!look(d, m->q0, NULL)) return;
    const int n = d->n;
    int rank = 0;
    for (int id = 0; id < d->ne; ++id) {
        double *w = d->X + (size_t)rank * (size_t)n;
        for (int i = 0; i < n; ++i) w[i] = d->W[i + (size_t)id * (size_t)n] / sqrt(d->diagonal[i]);
        const double before = sqrt(carom_dot(w, w, n));
        for (int pass = 0; pass < 2; ++pass)
            for (int k = 0; k < rank; ++k)
                carom_axpy(w, -carom_dot(w, d->X + (size_t)k * (size_t)n, n), d->X + (size_t)k * (size_t)n, n);
        const double after = sqrt(carom_dot(w, w, n));
        if (after > DEPENDENT * before && rank < n) {
            for (int i = 0; i < n; ++i) w[i] /= after;
            ++rank;
        } else {
            m->links[id].redundant = true;
            ++m->nredundant;
        }
    }
}

// "hinge, strut (2)": joints with the number of their constraints that say nothing new.  A long list is cut.
static bool name_redundant(carom_model *m) {
    char text[200] = "";
    size_t used = 0;
    for (int id = 0; id < m->ne && used < sizeof text; ++id) {
        const constraint *c = &m->links[id];
        int count = c->redundant;
        for (; c->part && id + 1 < m->ne && m->links[id + 1].part && m->links[id + 1].joint == c->joint; ++id) count += m->links[id + 1].redundant;
        if (count == 0) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.60s", used ? ", " : "", c->name);
        if (count > 1 && used < sizeof text) used += (size_t)snprintf(text + used, sizeof text - used, " (%d)", count);
    }
    if (!m->redundant || strcmp(m->redundant, text) != 0) m->redundant = used ? carom_pool_text(&m->memory, text, strlen(text)) : NULL;
    return !used || m->redundant;
}

carom_status carom_model_assemble(carom_model *m, void *work, carom_error *err) {
    enum { MOST_ROWS = 2000 }; // dense, beyond that it would take minutes
    if (m->nmember && m->assemble)
        return carom_fail(err, CAROM_BAD_INPUT, "%.200s: assemble is for models without flexible members; give positions that fit", m->file);
    if (m->ne == 0 || m->ne > MOST_ROWS || m->nmember) return CAROM_OK;
    desk d = {.m = m, .work = work, .n = m->visible.nv, .ne = m->ne};
    m->moved = m->completed = m->nredundant = 0;
    for (int id = 0; id < m->ne; ++id) m->links[id].redundant = false;
    if (!desk_open(&d)) {
        desk_close(&d);
        return carom_model_no_memory(m, err);
    }
    if (m->assemble) positions(&d);
    if (m->njoints) velocities(&d);
    dependence(&d);
    desk_close(&d);
    if (!name_redundant(m)) return carom_model_no_memory(m, err);
    return CAROM_OK;
}

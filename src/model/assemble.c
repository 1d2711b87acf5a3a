// assemble.c: initial positions and velocities that joints allow, and which constraints say nothing new.
//
// `assemble: yes` moves the positions onto the joints and constraints, by the shortest way in the metric of the mass
// matrix,
//     q <- q (+) M^-1 W x,   W'M^-1 W x = -g                                                    (ASM-1)
// Velocities that the file does not give are completed, those it gives stay:  with F the free ones,
//     v_F <- v_F + M_FF^-1 W_F x,   W_F'M_FF^-1 W_F x = -(W'v + w)                              (ASM-2)
// `start: project` does both for all velocities, those that are given, too, and moves positions out of obstacles:
//     min |x|_M  such that  g + W'x = 0 of joints,  g + W'x >= 0 of contacts,  q <- q (+) x      (ASM-4)
// round by round, in each with the contacts that overlap and those of the round before that still push.
#include "base/tolerance.h"
#include "contact/delassus.h"
#include "expr/expr.h"
#include "linalg/dense.h"
#include "linalg/matrix.h"
#include "model/model.h"
#include "model/pairs.h"
#include "system/system.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 2000 }; // of dense matrices: beyond that it would take minutes
static const double CUT = 1e-10, DEPENDENT = 1e-9; // relative
static const double MASSLESS = 1e-14; // pivots of the mass matrix that have cancelled to this, relatively
static const double FITS = 1e-8;     // of the misfit at the start: one that no longer shrinks from here on is rounding
static const double FOLLOWS = 1e-14; // of its terms: the rate of a joint that fits already

typedef struct desk {
    carom_model *m;
    void *work;
    int n, ne, nf;      // velocities, rows, free velocities
    int *free;          // nf
    int *id;            // ne: whose rows they are; ascending, joints first
    double *M, *W, *X;  // free part of M, factorised; rows of W by column; M^-1 W
    double *G, *x, *b, *scratch, *diagonal, *v, *q, *g;
    int *col;
    carom_local L;      // of contacts, where these have rows
    carom_matrix mass;  // of all velocities, where some bodies are numbers; a NULL: expressions say all
} desk;

static bool desk_open(desk *d) {
    const size_t n = (size_t)d->n, ne = (size_t)d->ne;
    d->free = calloc(2 * n + 2 * ne + 1, sizeof *d->free);
    d->x = calloc(6 * ne + n + (size_t)d->m->nv + (size_t)d->m->nq + (size_t)d->m->nc + 1, sizeof *d->x);
    if (!d->free || !d->x) return false;
    d->col = d->free + n;
    d->id = d->col + n + ne;
    for (int i = 0; i < d->ne; ++i) d->id[i] = i;
    d->b = d->x + ne;
    d->scratch = d->b + ne;
    d->diagonal = d->scratch + 3 * ne;
    d->v = d->diagonal + n;
    d->q = d->v + d->m->nv;
    d->g = d->q + d->m->nq;
    return true;
}

// Dense matrices, for what must be solved.  False: no memory, or they are too large.
static bool desk_matrices(desk *d) {
    const size_t n = (size_t)d->n, ne = (size_t)d->ne;
    if (d->M) return true;
    d->M = d->ne <= MOST_ROWS ? calloc(n * n + 2 * n * ne + ne * ne + 1, sizeof *d->M) : NULL;
    if (!d->M) return false;
    d->W = d->M + n * n;
    d->X = d->W + n * ne;
    d->G = d->X + n * ne;
    return true;
}

static void desk_close(desk *d) {
    free(d->free);
    free(d->x);
    free(d->M);
}

// W'v0 + w at q, and the sizes of its terms; NULL: neither.  The directions are in the scratch of the model.
static const double *rates(desk *d, const double *q, double *u, double *size) {
    const carom_model *m = d->m;
    double *x = carom_model_scratch(m, d->work);
    int joints = 0;
    while (joints < d->ne && d->id[joints] < m->ne) ++joints;
    carom_model_directions(m, d->work, 0, q, d->id, joints, x);
    for (int i = 0; u && i < d->ne; ++i) {
        const int k = m->links[d->id[i]].dir;
        u[i] = m->place.w[k] < 0 ? 0 : x[m->W.n + m->place.w[k]], size[i] = fabs(u[i]);
        for (int e = m->place.W[k]; e < m->place.W[k + 1]; ++e) {
            const double term = x[e] * m->v0[m->W.i[e]];
            u[i] += term, size[i] += fabs(term);
        }
    }
    return x;
}

// The normal direction of a contact, whatever tape it comes from.
static bool normal(desk *d, const double *q, int id, const int *place, double *w) {
    const carom_system *s = &d->m->sys;
    carom_local *L = &d->L;
    L->nb = 1;
    L->id[0] = id;
    L->at[0] = 0, L->at[1] = carom_system_directions(s, id);
    if (!L->W.count) carom_zero(L->W.a, L->at[1] * L->W.rows);
    if (s->directions(s->model, d->work, 0, q, L) != CAROM_OK) return false;
    const int *rows = L->W.row ? carom_column_rows(&L->W, 0) : NULL;
    for (int e = 0; e < (rows ? L->W.count[0] : L->W.rows); ++e) {
        const int i = place[rows ? rows[e] : e] - 1;
        if (i >= 0) w[i] += L->W.a[e];
    }
    return true;
}

// M and W of the free velocities at q, and G = W'M^-1 W.  False: M is not positive definite.
static bool look(desk *d, const double *q) {
    const carom_model *m = d->m;
    double *x = carom_model_scratch(m, d->work);
    int *place = d->col; // of a velocity among the free ones, + 1
    for (int i = 0; i < d->n; ++i) place[i] = 0;
    for (int i = 0; i < d->nf; ++i) place[d->free[i]] = i + 1;
    const size_t nf = (size_t)d->nf;
    for (size_t e = 0; e < nf * nf; ++e) d->M[e] = 0;
    if (d->mass.a) {
        carom_matrix_zero(d->mass);
        if (m->sys.mass(m, d->work, 0, q, d->mass) != CAROM_OK) return false;
        for (int j = 0; j < d->n; ++j)
            for (int i = 0; i < d->n; ++i) {
                const double *entry = carom_matrix_entry(d->mass, i, j);
                if (entry && place[i] && place[j]) d->M[(size_t)(place[i] - 1) + (size_t)(place[j] - 1) * nf] = *entry;
            }
    } else carom_tape_eval(m->tape, d->work, GROUP_MASS, 0, q, m->v0, x);
    for (int e = 0; e < m->mass.n && !d->mass.a; ++e) {
        const int i = place[m->mass.i[e]] - 1, j = place[m->mass.j[e]] - 1;
        if (i >= 0 && j >= 0) d->M[(size_t)i + (size_t)j * nf] = d->M[(size_t)j + (size_t)i * nf] = x[e];
    }
    const double *directions = rates(d, q, NULL, NULL);
    for (int id = 0; id < d->ne; ++id) {
        const bool joint = d->id[id] < m->ne;
        const int k = joint ? m->links[d->id[id]].dir : 0;
        double *w = d->W + (size_t)id * nf;
        carom_zero(w, d->nf);
        for (int e = m->place.W[k]; joint && e < m->place.W[k + 1]; ++e) {
            const int i = place[m->W.i[e]] - 1;
            if (i >= 0) w[i] = directions[e];
        }
        if (!joint && !normal(d, q, d->id[id], place, w)) return false;
        carom_copy(d->X + (size_t)id * nf, w, d->nf);
    }
    if (carom_dense_ldl(d->M, d->nf, d->nf, MASSLESS, d->diagonal) > 0) return false;
    for (int id = 0; id < d->ne; ++id) carom_dense_ldl_solve(d->M, d->nf, d->nf, d->X + (size_t)id * nf);
    const carom_columns W = {.rows = d->nf, .n = d->ne, .stride = d->nf, .a = d->W};
    carom_delassus_dense(d->G, d->ne, d->X, &W, NULL, NULL, 1, true);
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
    d->ne = m->ne - m->nrates;
    d->nf = d->n;
    for (int i = 0; i < d->n; ++i) d->free[i] = i;
    carom_copy(d->q, m->q0, m->nq);
    double last = HUGE_VAL, first = 0;
    for (int k = 0; k < MOST; ++k) {
        carom_tape_eval(m->tape, d->work, GROUP_GAPS, 0, d->q, m->v0, d->g);
        carom_copy(d->b, d->g, d->ne);
        const double gap = carom_norm_max(d->b, d->ne);
        if (k == 0) m->moved = gap;
        if (!(gap < HUGE_VAL) || gap == 0 || !look(d, d->q)) break;
        double size = 0; // in the metric of M^-1: angles and lengths
        for (int i = 0; i < d->ne; ++i) size = fmax(size, fabs(d->b[i]) / length(d, i));
        if (k == 0) first = size;
        if (k > 3 && size < FITS * first && size >= 0.5 * last) break; // no longer halved: rounding
        last = size;
        answer(d, d->v);
        move(m, d->q, d->v);
    }
    if (last < HUGE_VAL) carom_copy(m->q0, d->q, m->nq);
    d->ne = m->ne;
}

// (ASM-2)
static void velocities(desk *d) {
    carom_model *m = d->m;
    d->nf = 0;
    for (int i = 0; i < d->n; ++i)
        if (!m->given[i]) d->free[d->nf++] = i;
    if (d->nf == 0) return;
    bool fits = true;
    rates(d, m->q0, d->g, d->b);
    for (int i = 0; i < d->ne; ++i) fits = fits && fabs(d->g[i]) <= FOLLOWS * d->b[i];
    if (fits || !desk_matrices(d) || !look(d, m->q0)) return;
    carom_copy(d->b, d->g, d->ne);
    answer(d, d->v);
    for (int i = 0; i < d->n; ++i) {
        m->completed = fmax(m->completed, fabs(d->v[i]));
        m->v0[i] += d->v[i];
    }
}

// -- start: project -------------------------------------------------------------------------------------

// How far n gaps are from what they must be: joints from 0, contacts below it.  *worst: whose it is.
static double misfit(const double *g, int n, int joints, int *worst) {
    double most = 0;
    for (int id = 0; id < n; ++id) {
        const double lack = id < joints ? fabs(g[id]) : -g[id];
        if (!(lack > most)) continue;
        most = lack, *worst = id;
    }
    return most;
}

// One round of (ASM-4) for the rows of d->id, of which the first `gaps` are joints with a position to hold: contacts
// that would pull are left out one by one.
static bool push_rows(desk *d, int gaps, const double *g, bool *pushes) {
    for (;;) {
        int pulls = -1;
        if (!look(d, d->q)) return false;
        for (int i = 0; i < d->ne; ++i) d->b[i] = g[d->id[i]];
        answer(d, d->v);
        for (int i = gaps; i < d->ne; ++i)
            if (d->x[i] < 0 && (pulls < 0 || d->x[i] < d->x[pulls])) pulls = i;
        if (pulls < 0) return true;
        if (pushes) pushes[d->id[pulls] - d->m->ne] = false;
        memmove(&d->id[pulls], &d->id[pulls + 1], (size_t)(--d->ne - pulls) * sizeof *d->id);
    }
}

// Rows of joints and of contacts that overlap or have pushed.
static bool push(desk *d, int joints, bool *pushes) {
    const int gaps = joints - d->m->nrates;
    d->ne = gaps;
    for (int c = 0; c < d->m->nc; ++c) {
        pushes[c] = pushes[c] || d->g[joints + c] < 0;
        if (pushes[c]) d->id[d->ne++] = joints + c;
    }
    return push_rows(d, gaps, d->g, pushes);
}

static void say(carom_model *m, const char *format, ...) CAROM_FORMAT(2);
static void say(carom_model *m, const char *format, ...) {
    const size_t used = strlen(m->settled);
    va_list args;
    va_start(args, format);
    vsnprintf(m->settled + used, sizeof m->settled - used, format, args);
    va_end(args);
}

static const char *kind_of(const carom_model *m, int id) {
    return m->links[id].part ? "joint" : id < m->ne ? "constraint" : "contact";
}

// They are where the model starts; say so.
static void adopt_positions(carom_model *m, const double *q, double size, const char *kind, const char *name) {
    double most = 0;
    int who = -1;
    for (int i = 0; i < m->nq; ++i)
        if (fabs(q[i] - m->q0[i]) > most) most = fabs(q[i] - m->q0[i]), who = i;
    carom_copy(m->q0, q, m->nq);
    if (who >= 0 && size > CAROM_SAME * (1 + carom_norm_max(m->q0, m->nq)))
        say(m, "start: %s '%.60s' was violated by %.6g; positions moved, '%.60s' farthest, by %.6g", kind, name, size,
            carom_model_coordinate(m, who), most);
}

static carom_status too_many(const carom_model *m, int n, carom_error *err) {
    return carom_fail(err, CAROM_BAD_INPUT,
                      "%.200s: `start: project` is for at most %d velocities, and as many constraints and contacts "
                      "that are near, got %d; %s",
                      m->file, MOST_ROWS, n,
                      m->ne ? "give positions that fit" : "use `settle: yes`, which moves bodies apart");
}

// (ASM-4)
static void project_positions(desk *d) {
    enum { MOST = 100 };
    carom_model *m = d->m;
    const int joints = m->ne;
    int worst = 0, first = 0;
    double last = HUGE_VAL, start = 0;
    bool *pushes = calloc((size_t)m->nc + 1, sizeof *pushes);
    d->nf = d->n;
    for (int i = 0; i < d->n; ++i) d->free[i] = i;
    carom_copy(d->q, m->q0, m->nq);
    for (int k = 0; pushes && k < MOST; ++k) {
        carom_model_gaps(m, d->work, 0, d->q, d->g);
        const double size = misfit(d->g, joints + m->nc, joints, &worst);
        if (k == 0) start = size, first = worst;
        // no longer halved: rounding
        if (size == 0 || !(size < HUGE_VAL) || (k > 3 && size < FITS * start && size >= 0.5 * last)) break;
        last = size;
        if (!push(d, joints, pushes)) break;
        move(m, d->q, d->v);
    }
    free(pushes);
    if (start > 0) adopt_positions(m, d->q, start, kind_of(m, first), m->links[first].name);
}

// The desk of one round for the n constraints and contacts of a list with gaps g, with rows for joints, and for
// contacts that overlap or are no farther away than the largest misfit `size`: they may be pushed into.
static carom_status round_of_list(carom_model *m, void *work, double *q, const double *g, int n, double size,
                                  bool *good, carom_error *err) {
    const int gaps = m->ne - m->nrates;
    desk d = {.m = m, .work = work, .n = m->nv, .nf = m->nv, .ne = gaps};
    for (int id = m->ne; id < n; ++id) d.ne += g[id] < size;
    if (d.ne > MOST_ROWS || m->nv > MOST_ROWS) return too_many(m, d.ne > m->nv ? d.ne : m->nv, err);
    carom_arena mem = {0};
    d.L = carom_allocate_local(&mem, &m->sys), d.mass = carom_allocate_matrix(&mem, m->sys.mass_shape); // counts
    const size_t bytes = (mem.used + 63) & ~(size_t)63;
    mem = (carom_arena){.base = aligned_alloc(64, bytes), .size = bytes};
    const bool room = mem.base && desk_open(&d) && desk_matrices(&d);
    if (room) {
        memset(mem.base, 0, bytes);
        d.L = carom_allocate_local(&mem, &m->sys), d.mass = carom_allocate_matrix(&mem, m->sys.mass_shape);
        for (int i = 0; i < d.n; ++i) d.free[i] = i;
        carom_copy(d.q, q, m->nq);
        for (int id = m->ne, k = gaps; id < n; ++id)
            if (g[id] < size) d.id[k++] = id;
        *good = push_rows(&d, gaps, g, NULL);
        if (*good) move(m, q, d.v);
    }
    free(mem.base);
    desk_close(&d);
    return room ? CAROM_OK : carom_model_no_memory(m, err);
}

// (ASM-4) where contacts come and go: the list is made anew in each round.
static carom_status project_list(carom_model *m, void *work, double *q, carom_error *err) {
    enum { MOST = 100 };
    double last = HUGE_VAL, start = 0;
    char name[140] = "";
    const char *kind = "";
    bool good = true;
    carom_status status = CAROM_OK;
    for (int k = 0; k < MOST && good && status == CAROM_OK; ++k) {
        near_look x;
        int worst = 0;
        CAROM_TRY(carom_near_open(m, work, q, 0, &x, err));
        const int n = m->ne + m->nc + x.list.used;
        carom_model_gaps(m, work, 0, q, x.gap);
        const double size = misfit(x.gap, n, m->ne, &worst);
        if (k == 0) {
            start = size;
            kind = worst < m->ne + m->nc ? kind_of(m, worst) : "contact";
            if (worst < m->ne + m->nc) snprintf(name, sizeof name, "%s", m->links[worst].name);
            else carom_near_slot_name(m, &x, worst - m->ne - m->nc, name, sizeof name);
        }
        // no longer halved: rounding
        good = size > 0 && size < HUGE_VAL && !(k > 3 && size < FITS * start && size >= 0.5 * last);
        last = size;
        if (good) status = round_of_list(m, work, q, x.gap, n, size, &good, err);
        carom_near_close(m, work, &x);
    }
    if (status == CAROM_OK && start > 0) adopt_positions(m, q, start, kind, name);
    return status;
}

// All velocities, those that are given, too.
static void project_velocities(desk *d) {
    carom_model *m = d->m;
    int worst = 0;
    d->ne = m->ne;
    d->nf = d->n;
    for (int i = 0; i < d->n; ++i) d->free[i] = i;
    for (int i = 0; i < d->ne; ++i) d->id[i] = i;
    bool fits = true;
    rates(d, m->q0, d->g, d->b);
    for (int i = 0; i < d->ne; ++i) {
        fits = fits && fabs(d->g[i]) <= FITS * d->b[i];
        if (fabs(d->g[i]) > fabs(d->g[worst])) worst = i;
    }
    if (fits || !look(d, m->q0)) return;
    const double rate = d->g[worst];
    carom_copy(d->b, d->g, d->ne);
    answer(d, d->v);
    double most = 0;
    int who = 0;
    for (int i = 0; i < d->n; ++i) {
        if (fabs(d->v[i]) > most) most = fabs(d->v[i]), who = i;
        m->v0[i] += d->v[i];
    }
    say(m, "%svelocities against %s '%.60s' (rate %.6g) are projected, that of '%.60s' most, by %.6g",
        *m->settled ? "; " : "start: ", kind_of(m, worst), m->links[worst].name, rate, carom_model_freedom(m, who),
        most);
}

carom_status carom_model_project(carom_model *m, void *work, bool velocities, carom_error *err) {
    if (m->nmember)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "%.200s: `start: project` is for models without flexible members; give positions that fit",
                          m->file);
    if (m->near && !velocities) {
        double *q = calloc((size_t)m->nq + 1, sizeof *q);
        m->settled[0] = 0;
        if (q) carom_copy(q, m->q0, m->nq);
        const carom_status status = q ? project_list(m, work, q, err) : carom_model_no_memory(m, err);
        free(q);
        return status;
    }
    if (m->ne + m->nc > MOST_ROWS) return too_many(m, m->ne + m->nc, err);
    desk d = {.m = m, .work = work, .n = m->visible.nv, .ne = m->ne + m->nc};
    if (!velocities) m->settled[0] = 0;
    carom_arena mem = {0};
    d.L = carom_allocate_local(&mem, &m->sys); // counts
    const size_t size = (mem.used + 63) & ~(size_t)63;
    mem = (carom_arena){.base = size ? aligned_alloc(64, size) : NULL, .size = size};
    bool good = mem.base && desk_open(&d) && desk_matrices(&d);
    if (good) memset(mem.base, 0, size), d.L = carom_allocate_local(&mem, &m->sys);
    if (good && velocities && m->ne) project_velocities(&d);
    if (good && !velocities) project_positions(&d);
    free(mem.base);
    desk_close(&d);
    return good ? CAROM_OK : carom_model_no_memory(m, err);
}

// -- dependent constraints ------------------------------------------------------------------------------

// Rows of W in units of the roots of the diagonal of M, in which those of angles and those of lengths compare.
// W' = Q'R with R upper triangular, by columns in their order: |R_kk| is what column k of W has besides those before
// it.  Rows of W come one after the other, and rotations
// merge them with the rows of R.  Most joints share no body: a row of R has few entries, from `k` to before `end`, and
// a row of W soon finds a place that is free.  (ASM-3)
typedef struct triangle {
    int n, *end;   // columns; of each row
    double **row;  // NULL: free
    double *w;     // n: the row at work
} triangle;

static bool triangle_open(triangle *x, int n) {
    const size_t size = (size_t)n + 1;
    *x = (triangle){.n = n,
                    .end = calloc(size, sizeof(int)),
                    .row = calloc(size, sizeof(double *)),
                    .w = calloc(size, sizeof(double))};
    return x->end && x->row && x->w;
}

static void triangle_close(triangle *x) {
    for (int k = 0; x->row && k < x->n; ++k) free(x->row[k]);
    free(x->end), free(x->row), free(x->w);
}

// Row k gets room up to before `end`.
static bool triangle_widen(triangle *x, int k, int end) {
    if (x->row[k] && end <= x->end[k]) return true;
    double *row = realloc(x->row[k], (size_t)(end - k) * sizeof *row);
    if (!row) return false;
    for (int i = x->row[k] ? x->end[k] : k; i < end; ++i) row[i - k] = 0;
    x->row[k] = row;
    x->end[k] = end;
    return true;
}

// w, with entries from `from` to before `end`, becomes part of R; it is zero afterwards.
static bool triangle_merge(triangle *x, int from, int end) {
    double *w = x->w;
    for (int k = from; k < end; ++k) {
        if (w[k] == 0) continue;
        const bool taken = x->row[k] != NULL;
        if (!triangle_widen(x, k, end)) return false;
        double *row = x->row[k];
        if (taken && x->end[k] > end) end = x->end[k];
        const double length = hypot(row[0], w[k]), c = row[0] / length, s = w[k] / length;
        for (int i = k; i < end; ++i) {
            const double a = row[i - k], b = w[i];
            row[i - k] = taken ? c * a + s * b : b;
            w[i] = taken ? c * b - s * a : 0;
        }
        w[k] = 0;
        if (!taken) return true;
    }
    return true;
}

// 1/sqrt(M_ii); 1 where a velocity has no mass of its own.
static void weigh(desk *d) {
    const carom_model *m = d->m;
    double *x = carom_model_scratch(m, d->work);
    carom_tape_eval(m->tape, d->work, GROUP_MASS, 0, m->q0, m->v0, x);
    for (int i = 0; i < d->n; ++i) d->diagonal[i] = 1;
    for (int e = 0; e < m->mass.n; ++e)
        if (m->mass.i[e] == m->mass.j[e] && x[e] > 0) d->diagonal[m->mass.i[e]] = 1 / sqrt(x[e]);
}

// Rows of W, and the lengths of its columns.
static bool triangle_fill(triangle *x, const desk *d, const double *directions, double *length) {
    const carom_model *m = d->m;
    int *start = calloc((size_t)d->n + 2, sizeof *start), *entry = NULL, *column = NULL;
    for (int id = 0; start && id < d->ne; ++id)
        for (int e = m->place.W[m->links[id].dir]; e < m->place.W[m->links[id].dir + 1]; ++e) ++start[m->W.i[e] + 2];
    for (int i = 1; start && i <= d->n; ++i) start[i + 1] += start[i];
    const size_t size = start ? (size_t)start[d->n + 1] + 1 : 1;
    if (start) entry = calloc(size, sizeof *entry), column = calloc(size, sizeof *column);
    bool good = start && entry && column;
    for (int id = 0; good && id < d->ne; ++id) { // start[i + 1] is where row i goes on
        double sum = 0;
        for (int e = m->place.W[m->links[id].dir]; e < m->place.W[m->links[id].dir + 1]; ++e) {
            const int at = start[m->W.i[e] + 1]++;
            entry[at] = e, column[at] = id;
            sum += pow(directions[e] * d->diagonal[m->W.i[e]], 2);
        }
        length[id] = sqrt(sum);
    }
    for (int i = 0; good && i < d->n; ++i) {
        if (start[i] == start[i + 1]) continue;
        for (int e = start[i]; e < start[i + 1]; ++e) x->w[column[e]] = directions[entry[e]] * d->diagonal[i];
        good = triangle_merge(x, column[start[i]], column[start[i + 1] - 1] + 1);
    }
    free(start), free(entry), free(column);
    return good;
}

// A column that has nothing besides those before it depends on them, and its row of R belongs to the columns behind
// it.  False: no memory.
static bool dependence(desk *d) {
    carom_model *m = d->m;
    triangle x;
    weigh(d);
    bool good = triangle_open(&x, d->ne) && triangle_fill(&x, d, rates(d, m->q0, NULL, NULL), d->b);
    for (int k = 0; good && k < d->ne; ++k) {
        if (x.row[k] && fabs(x.row[k][0]) > DEPENDENT * d->b[k]) continue;
        m->links[k].redundant = true;
        ++m->nredundant;
        const int end = x.row[k] ? x.end[k] : 0;
        for (int i = k + 1; i < end; ++i) x.w[i] = x.row[k][i - k];
        good = triangle_merge(&x, k + 1, end);
    }
    triangle_close(&x);
    return good;
}

// "hinge, strut (2)": joints with the number of their constraints that say nothing new.  A long list is cut.
static bool name_redundant(carom_model *m) {
    char text[200] = "";
    size_t used = 0;
    for (int id = 0; id < m->ne && used < sizeof text; ++id) {
        const constraint *c = &m->links[id];
        int count = c->redundant;
        for (; c->part && id + 1 < m->ne && m->links[id + 1].part && m->links[id + 1].joint == c->joint; ++id)
            count += m->links[id + 1].redundant;
        if (count == 0) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.60s", used ? ", " : "", c->name);
        if (count > 1 && used < sizeof text) used += (size_t)snprintf(text + used, sizeof text - used, " (%d)", count);
    }
    if (!m->redundant || strcmp(m->redundant, text) != 0)
        m->redundant = used ? carom_pool_text(&m->memory, text, strlen(text)) : NULL;
    return !used || m->redundant;
}

carom_status carom_model_assemble(carom_model *m, void *work, carom_error *err) {
    if (m->nmember && m->assemble)
        return carom_fail(err, CAROM_BAD_INPUT,
                          "%.200s: assemble is for models without flexible members; give positions that fit", m->file);
    if (m->ne == 0 || m->nmember) return CAROM_OK;
    desk d = {.m = m, .work = work, .n = m->visible.nv, .ne = m->ne};
    m->moved = m->completed = m->nredundant = 0;
    for (int id = 0; id < m->ne; ++id) m->links[id].redundant = false;
    if (!desk_open(&d)) {
        desk_close(&d);
        return carom_model_no_memory(m, err);
    }
    bool good = !m->assemble || desk_matrices(&d);
    if (m->assemble && good) positions(&d);
    if (m->njoints) velocities(&d);
    good = good && dependence(&d);
    desk_close(&d);
    if (!good) return carom_model_no_memory(m, err);
    if (!name_redundant(m)) return carom_model_no_memory(m, err);
    return CAROM_OK;
}

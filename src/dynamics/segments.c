// segments.c: motions that repeat themselves, by multiple shooting: an orbit that grows too much in one period is cut
// into pieces.
//
//     x_1(x_k) - x_k+1 = 0,  k = 0 .. N-2,  x_1(x_N-1) - x_0 - shift = S sigma  (ORB-3)
//     Z_k+1'(Y_k z_k + x'_1k dT/N) - z_k+1 = -Z_k+1' r_k,     x'_0 z_0 = 0,     S'z_0 = 0
//
// The multipliers are those of the product of all A_k = Z_k+1'Y_k, by orthogonal iteration around the orbit: A_k Q_k =
// Q_k+1 R_k, so that large ones do not drown small ones.
#include "base/tolerance.h"
#include "dynamics/cycle.h"
#include "dynamics/segments.h"
#include "linalg/dense.h"
#include "system/system.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40, HALVINGS = 10, SWEEPS = 200 }; // Newton steps; to a thousandth of one; of the QR iteration
// residual of pieces: reached where derivatives are exact; accepted where it stalls; rank within rounding
static const double GOOD = 1e-11, ENOUGH = 1e-10, CUT = 1e-13;
static const double LAST_BIT = 1e-15; // of a column: what orthogonalisation leaves of a dependent one
static const double COUPLED = 1e-6;   // entry below the diagonal: two rows belong to a pair of complex eigenvalues
static const double MODERATE = 1e4;   // growth over the whole orbit: its matrix has all digits that pieces have

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the pieces of an orbit");
}

static double *column(const double *A, int j, int n) { return (double *)(size_t)(A + (size_t)j * (size_t)n); }

static double *allocate(double **at, size_t n) {
    double *p = *at;
    *at += n;
    return p;
}

carom_status carom_segments_open(carom_segments *g, carom_cycle *c, int n) {
    const carom_shooter *s = &c->s;
    const size_t nx = (size_t)s->nx, dim = (size_t)s->n,
                 one = 2 * nx + 2 * dim * dim + 3 * dim + (size_t)s->p.nc, N = (size_t)n * dim + dim + 2;
    *g = (carom_segments){.c = c, .n = n};
    g->piece = calloc((size_t)n, sizeof *g->piece),
    g->block = calloc((size_t)n * one + N * N + 6 * N + nx, sizeof *g->block), g->col = calloc(N, sizeof *g->col);
    if (!g->piece || !g->block || !g->col) return no_memory(c->err);
    double *at = g->block;
    for (int k = 0; k < n; ++k) {
        carom_piece *p = &g->piece[k];
        p->x = allocate(&at, nx), p->y = allocate(&at, nx), p->Z = allocate(&at, dim * dim),
        p->Y = allocate(&at, dim * dim);
        p->r = allocate(&at, dim), p->rate_0 = allocate(&at, dim), p->rate_1 = allocate(&at, dim),
        p->mode = allocate(&at, (size_t)s->p.nc);
    }
    g->end = allocate(&at, nx);
    g->A = allocate(&at, N * N), g->b = allocate(&at, N), g->z = allocate(&at, N), g->work = at;
    return CAROM_OK;
}

void carom_segments_close(carom_segments *g) {
    free(g->piece), free(g->block), free(g->col), free(g->hit);
    *g = (carom_segments){0};
}

static double start_of(const carom_segments *g, int k) { return g->c->t_0 + k * g->c->T / g->n; }

static carom_status keep_hits(carom_segments *g, bool first) {
    const carom_shooter *s = &g->c->s;
    if (first) g->nhits = 0;
    carom_hit *more = realloc(g->hit, (size_t)(g->nhits + s->nhits + 1) * sizeof *more);
    if (!more) return no_memory(g->c->err);
    g->hit = more;
    if (s->nhits > 0) memcpy(more + g->nhits, s->hit, (size_t)s->nhits * sizeof *more);
    g->nhits += s->nhits;
    return CAROM_OK;
}

// All pieces from their states, with the residual of each.
static carom_status shoot(carom_segments *g, bool linear) {
    carom_cycle *c = g->c;
    carom_shooter *s = &c->s;
    g->residual = 0;
    for (int k = 0; k < g->n; ++k) {
        carom_piece *p = &g->piece[k];
        const double *to = g->piece[(k + 1) % g->n].x;
        CAROM_TRY(carom_shoot(s, start_of(g, k), c->T / g->n, p->x, linear, 1));
        if (k + 1 < g->n) carom_shooter_apart(s, to, s->end, p->r);
        else carom_cycle_return(c, to, linear, p->r);
        g->residual = fmax(g->residual, carom_norm_max(p->r, s->n));
        CAROM_TRY(keep_hits(g, k == 0));
        if (k + 1 == g->n) carom_copy(g->end, s->end, s->nq);
        if (!linear) continue;
        p->m = s->m;
        carom_copy(p->Z, s->Z, (ptrdiff_t)s->n * s->n), carom_copy(p->Y, s->Y, (ptrdiff_t)s->n * s->n);
        carom_copy(p->rate_0, s->rate_0, s->n), carom_copy(p->rate_1, s->rate_1, s->n),
            carom_copy(p->mode, s->mode_0, s->p.nc);
    }
    return isfinite(g->residual) ? CAROM_OK
                                 : carom_fail(c->err, CAROM_NOT_CONVERGED, "the pieces of the orbit are not finite");
}

// A_k = Z_k+1'Y_k by columns.
static void piece_column(const carom_segments *g, int k, const double *x, double *to) {
    const carom_piece *next = &g->piece[(k + 1) % g->n];
    for (int i = 0; i < next->m; ++i) to[i] = carom_dot(column(next->Z, i, g->c->s.n), x, g->c->s.n);
}

// (ORB-3)  z: by pieces, then dT/T, then sigma.  Returns the number of unknowns.
static int solve(carom_segments *g) {
    carom_cycle *c = g->c;
    const int n = c->s.n;
    int M = 0;
    for (int k = 0; k < g->n; ++k) g->piece[k].at = M, M += g->piece[k].m;
    const int N = M + c->timeless + c->nsym, sigma = M + c->timeless;
    carom_zero(g->A, (ptrdiff_t)N * N), carom_zero(g->b, N);
    for (int k = 0; k < g->n; ++k) {
        const carom_piece *p = &g->piece[k], *next = &g->piece[(k + 1) % g->n];
        for (int j = 0; j < p->m; ++j) piece_column(g, k, column(p->Y, j, n), column(g->A, p->at + j, N) + next->at);
        for (int i = 0; i < next->m; ++i) column(g->A, next->at + i, N)[next->at + i] -= 1;
        piece_column(g, k, p->r, g->b + next->at);
        if (!c->timeless || c->expression) continue;
        piece_column(g, k, p->rate_1, column(g->A, M, N) + next->at);
        for (int i = 0; i < next->m; ++i) column(g->A, M, N)[next->at + i] *= c->T / g->n;
    }
    for (int i = 0; i < M; ++i) g->b[i] = -g->b[i];
    const carom_piece *first = &g->piece[0];
    for (int j = 0; j < first->m; ++j) {
        const double *Z = column(first->Z, j, n);
        if (c->timeless)
            column(g->A, j, N)[M] =
                carom_dot(Z, first->rate_0, n) / fmax(carom_length(first->rate_0, n), CAROM_NOT_ZERO);
        for (int k = 0; k < c->nsym; ++k)
            column(g->A, j, N)[sigma + k] = carom_dot(Z, column(c->sym, k, n), n),
                                       column(g->A, sigma + k, N)[j] = -column(g->A, j, N)[sigma + k];
    }
    carom_dense_shortest(g->A, N, N, CUT, g->col, g->work, g->b, g->z);
    return N;
}

// x_k = y_k moved by `a` of the step.
static carom_status go(carom_segments *g, double a, double T, double dT) {
    carom_cycle *c = g->c;
    carom_shooter *s = &c->s;
    for (int k = 0; k < g->n; ++k) {
        carom_piece *p = &g->piece[k];
        carom_zero(c->by, s->n);
        for (int j = 0; j < p->m; ++j) carom_axpy(c->by, a * g->z[p->at + j], column(p->Z, j, s->n), s->n);
        carom_copy(s->mode_0, p->mode, s->p.nc);
        s->t_0 = start_of(g, k);
        CAROM_TRY(carom_shooter_move(s, p->y, c->by, p->x));
    }
    c->T = T + a * dT;
    return CAROM_OK;
}

// One step of Newton's method, halved until the residual falls.  CAROM_RETRY: it does not.
static carom_status step(carom_segments *g) {
    carom_cycle *c = g->c;
    const carom_shooter *s = &c->s;
    const double before = g->residual, T = c->T;
    solve(g);
    const double dT = c->timeless && !c->expression ? g->z[g->piece[g->n - 1].at + g->piece[g->n - 1].m] * T : 0;
    for (int k = 0; k < g->n; ++k) carom_copy(g->piece[k].y, g->piece[k].x, s->nx);
    // a period changes by a third at most: farther, the guess tells nothing
    double a = fmin(1, 0.3 * T / fmax(fabs(dT), CAROM_NOT_ZERO));
    for (int i = 0; i < HALVINGS; ++i, a /= 2) {
        carom_status status = go(g, a, T, dT);
        if (status == CAROM_OK) status = shoot(g, false);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        // a fifth of the fall that the step promises
        if (status == CAROM_OK && (g->residual < before * (1 - 0.2 * a) || g->residual < GOOD)) return CAROM_OK;
    }
    for (int k = 0; k < g->n; ++k) carom_copy(g->piece[k].x, g->piece[k].y, s->nx);
    c->T = T, g->residual = before;
    return CAROM_RETRY;
}

// States of the pieces: along the motion from x as long as that stays near.
static carom_status guess(carom_segments *g) {
    carom_cycle *c = g->c;
    carom_shooter *s = &c->s;
    const int nx = s->nx;
    carom_copy(g->piece[0].x, c->x, nx);
    for (int k = 0; k + 1 < g->n; ++k) {
        CAROM_TRY(carom_shoot(s, start_of(g, k), c->T / g->n, g->piece[k].x, false, 1));
        carom_shooter_apart(s, c->x, s->end, c->r);
        const bool near = carom_norm_max(c->r, s->n) < 10;
        carom_copy(g->piece[k + 1].x, near ? s->end : g->piece[k].x, nx);
        if (near) CAROM_TRY(carom_shooter_snap(s, start_of(g, k + 1), g->piece[k + 1].x));
    }
    return CAROM_OK;
}

static bool at_rest(const carom_segments *g) {
    double fastest = 0;
    for (int k = 0; k < g->n; ++k) fastest = fmax(fastest, carom_norm_max(g->piece[k].rate_0, g->c->s.n));
    return g->c->timeless && g->nhits == 0 && carom_cycle_still(g->c, fastest);
}

carom_status carom_segments_solve(carom_segments *g) {
    carom_cycle *c = g->c;
    CAROM_TRY(carom_cycle_survey(c, c->T / g->n));
    CAROM_TRY(guess(g));
    carom_status status = CAROM_OK;
    for (c->iterations = 0; c->iterations < MOST; ++c->iterations) {
        CAROM_TRY(shoot(g, true));
        if (g->residual < GOOD) break;
        status = step(g);
        if (status != CAROM_OK) break;
    }
    if (status == CAROM_RETRY) status = shoot(g, true);
    c->residual = g->residual;
    if (status != CAROM_OK) return status;
    if (g->residual < ENOUGH && at_rest(g)) return carom_cycle_rests(c);
    if (g->residual < ENOUGH) return carom_copy(c->x, g->piece[0].x, c->s.nx), CAROM_OK;
    return carom_fail(c->err, CAROM_NOT_CONVERGED,
                      "no orbit of period %.9g was found in %d pieces: the residual stays at %.2g after %d iterations; "
                      "give %s, or other `segments`",
                      c->T, g->n, g->residual, c->iterations, c->nearer);
}

// -- multipliers ----------------------------------------------------------------------------------------------------

// Columns of X (rows x m) become orthonormal; R is upper triangular.  A column that is lost becomes zero.
static void orthonormalise(double *X, int rows, int m, double *R) {
    carom_zero(R, (ptrdiff_t)m * m);
    for (int j = 0; j < m; ++j) {
        double *x = column(X, j, rows);
        const double before = carom_length(x, rows);
        for (int round = 0; round < 2; ++round)
            for (int i = 0; i < j; ++i) {
                const double along = carom_dot(column(X, i, rows), x, rows);
                column(R, j, m)[i] += along;
                carom_axpy(x, -along, column(X, i, rows), rows);
            }
        const double left = carom_length(x, rows);
        column(R, j, m)[j] = left > LAST_BIT * before ? left : 0;
        for (int i = 0; i < rows; ++i) x[i] = left > LAST_BIT * before ? x[i] / left : 0;
    }
}

// The m_0 columns of Q through piece k: as many of `next`; how many rows these have.
static int through(const carom_segments *g, int k, const double *Q, double *next, double *work) {
    const carom_piece *p = &g->piece[k];
    const int n = g->c->s.n, m = g->piece[0].m, rows = g->piece[(k + 1) % g->n].m;
    for (int j = 0; j < m; ++j) {
        carom_zero(work, n);
        for (int i = 0; i < p->m; ++i) carom_axpy(work, column(Q, j, p->m)[i], column(p->Y, i, n), n);
        piece_column(g, k, work, column(next, j, rows));
    }
    return rows;
}

// Once around from Q (m_0 columns of m_0): the new Q, and the product of all R.
static void around(const carom_segments *g, double *Q, double *next, double *R, double *product, double *work) {
    const int m = g->piece[0].m;
    carom_zero(product, (ptrdiff_t)m * m);
    for (int i = 0; i < m; ++i) column(product, i, m)[i] = 1;
    for (int k = 0; k < g->n; ++k) {
        const int rows = through(g, k, Q, next, work);
        orthonormalise(next, rows, m, R);
        carom_copy(Q, next, (ptrdiff_t)rows * m);
        for (int j = 0; j < m; ++j) { // product = R product; both are upper triangular
            for (int i = 0; i <= j; ++i) {
                work[i] = 0;
                for (int l = i; l <= j; ++l) work[i] += column(R, l, m)[i] * column(product, j, m)[l];
            }
            carom_copy(column(product, j, m), work, j + 1);
        }
    }
}

// The product of all pieces, where it does not grow so much that it loses digits.
static bool whole(const carom_segments *g, double *P, double *next, double *work) {
    const int m = g->piece[0].m;
    double most = 1;
    carom_zero(P, (ptrdiff_t)m * m);
    for (int i = 0; i < m; ++i) column(P, i, m)[i] = 1;
    for (int k = 0; k < g->n; ++k) {
        const int rows = through(g, k, P, next, work);
        carom_copy(P, next, (ptrdiff_t)rows * m);
        most = fmax(most, carom_norm_max(P, rows * m));
    }
    return most < MODERATE;
}

carom_status carom_segments_multipliers(carom_segments *g, double *re, double *im, int *count, int *trivial,
                                        int *lost) {
    carom_cycle *c = g->c;
    const carom_shooter *s = &c->s;
    const int n = s->n, m = g->piece[0].m;
    const size_t size = (size_t)n * (size_t)n;
    double *Q = calloc(5 * size + (size_t)n, sizeof *Q), *was = Q + size, *next = was + size, *R = next + size,
           *product = R + size, *work = product + size;
    if (!Q) return no_memory(c->err);
    const bool moderate = whole(g, product, next, work);
    if (moderate) {
        const carom_status status = carom_eigen(product, m, re, im, NULL, c->err);
        if (status != CAROM_OK) return free(Q), status;
    }
    for (int i = 0; i < m; ++i) column(Q, i, m)[i] = 1;
    for (int k = 0; k < SWEEPS && !moderate; ++k) {
        carom_copy(was, Q, (ptrdiff_t)m * m);
        around(g, Q, next, R, product, work);
    }
    // was'Q product: blocks of one, or of two where the plane turns
    for (int i = 0; i < m && !moderate; ++i) {
        double u[4], b[4];
        const int w = i + 1 < m && fabs(carom_dot(column(was, i + 1, m), column(Q, i, m), m)) > COUPLED ? 2 : 1;
        for (int j = 0; j < w; ++j)
            for (int l = 0; l < w; ++l) u[l + j * w] = carom_dot(column(was, i + l, m), column(Q, i + j, m), m);
        for (int j = 0; j < w; ++j)
            for (int l = 0; l < w; ++l) {
                b[l + j * w] = 0;
                for (int h = 0; h <= j; ++h) b[l + j * w] += u[l + h * w] * column(product, i + j, m)[i + h];
            }
        const double trace = w == 2 ? b[0] + b[3] : 2 * b[0], det = w == 2 ? b[0] * b[3] - b[1] * b[2] : b[0] * b[0],
                     root = trace * trace / 4 - det;
        for (int j = 0; j < w; ++j)
            re[i + j] = trace / 2 + (root > 0 ? (j ? -1 : 1) * sqrt(root) : 0),
                   im[i + j] = root < 0 ? (j ? -1 : 1) * sqrt(-root) : 0;
        i += w - 1;
    }
    free(Q);
    // those of the motion and of what the model does not depend on are 1
    *trivial = c->nsym + c->timeless;
    *count = m;
    for (int k = 0; k < *trivial && *count > 0; ++k) {
        int best = 0;
        for (int i = 1; i < *count; ++i)
            if (hypot(re[i] - 1, im[i]) < hypot(re[best] - 1, im[best])) best = i;
        --*count;
        memmove(re + best, re + best + 1, (size_t)(*count - best) * sizeof *re),
            memmove(im + best, im + best + 1, (size_t)(*count - best) * sizeof *im);
    }
    int joints = 0;
    for (int id = 0; id < s->p.ne; ++id) joints += 2 * carom_system_directions(&s->p.sys, id);
    const int left = n - joints - m - carom_cycle_hidden(c);
    *lost = left > 0 ? left : 0;
    return CAROM_OK;
}

carom_status carom_segments_state(carom_segments *g, double t, double *x) {
    carom_cycle *c = g->c;
    carom_shooter *s = &c->s;
    const double since = fmod(t - c->t_0 + 2 * c->T, c->T);
    const int k = (int)fmin(g->n - 1, floor(since / c->T * g->n));
    const double over = since - k * c->T / g->n;
    carom_copy(x, g->piece[k].x, s->nx);
    if (!(over > CAROM_QUOTIENT * c->T)) return CAROM_OK;
    CAROM_TRY(carom_shoot(s, start_of(g, k), over, g->piece[k].x, false, 1));
    carom_copy(x, s->end, s->nx);
    return CAROM_OK;
}

// krylov.c: periodic motions of large mechanisms: Newton's method without the matrix P of (ORB-2).
//
//     (P - 1) z + x'_1 dT = -r,   x'_0 z = 0                                                                    (ORB-7)
//
// is solved by conjugate residuals (GCR), each of which needs P z along one direction z of (ORB-6): one column that
// follows a run that is kept.  Directions and what becomes of them serve the next steps, too, as long as these
// converge.  Motions that damping ends within a period need few directions, however many joints there are.
#include "dynamics/cycle.h"
#include "system/system.h"
#include <math.h>
#include <stdlib.h>

static const double INNER = 1e-2;   // of the residual: a step is known well enough
static const double SLOW = 0.3;     // of the residual before: directions are old
static const double FAR = 0.7;      // of a step, in typical sizes
static const double NEAR = 1e-2;    // residual from which on steps are short, or do not help
static const double LOST = 1e-10;   // of a direction: what is left of it beside the others
static const double SHARP = 1e-6;   // of a multiplier: it has converged
static const double ROUGH = 1e-5;   // tolerance of runs to begin with: P is that of the orbit to about as many digits
static const double FINER = 2e-4;   // of the tolerance before: what two steps can follow
static const double UNKNOWN = 100;  // errors of runs in units of their tolerance, until they are measured
static const double ENOUGH = 1e-10; // residual that is small, whatever runs allow
static const double COLUMN = 1e-4;  // tolerance of columns: a hundredth of INNER
static const double SHARP_COLUMN = 1e-7, LOOSE_COLUMN = 1e-5; // of multipliers: the first; the most of the last
// chosen: steps; halvings of one; directions kept for all, columns of the search for WANTED multipliers, which take
// memory; PIECES of a run, for other steps (ORB-10)
enum { MOST = 30, HALVINGS = 8, DIRECTIONS = 80, ARNOLDI = 60, WANTED = 2, PIECES = 7 };

typedef struct pairs {
    int n, count, room;  // numbers of one
    double *z, *c;       // directions, and what (ORB-7) makes of them, orthonormal
} pairs;

static double *of(double *a, int k, int n) { return a + (size_t)k * (size_t)n; }

static carom_status keep(carom_cycle *c) {
    CAROM_TRY(carom_shoot(&c->s, c->t_0, c->T, c->x, true, c->steps));
    carom_cycle_return(c, c->x, false, c->r);
    c->residual = carom_norm_max(c->r, c->s.n);
    return isfinite(c->residual) ? CAROM_OK
                                 : carom_fail(c->err, CAROM_NOT_CONVERGED, "the motion of the orbit is not finite");
}

static bool has_phase(const carom_cycle *c) { return c->timeless && !c->expression; }

// (ORB-7)  Left side for (z, dT/T); z becomes a direction of states beside x, of size 1: that of the motion, by which
//          errors of columns are measured.
static carom_status apply(carom_cycle *c, double *z, double *to) {
    carom_shooter *s = &c->s;
    const int n = s->n;
    const double size = fmax(carom_norm_max(z, n + 1), CAROM_NOT_ZERO);
    for (int i = 0; i <= n; ++i) z[i] /= size;
    CAROM_TRY(carom_shooter_follow(s, z));
    for (int i = 0; i < n; ++i) to[i] = s->Y[i] - z[i];
    to[n] = 0;
    if (!has_phase(c)) return CAROM_OK;
    carom_axpy(to, z[n] * c->T, s->rate_1, n);
    to[n] = carom_dot(s->rate_0, z, n) / fmax(carom_length(s->rate_0, n), CAROM_NOT_ZERO);
    return CAROM_OK;
}

// One more pair, from a direction; false: it adds nothing.
static bool add(pairs *p) {
    double *z = of(p->z, p->count, p->n), *c = of(p->c, p->count, p->n);
    const double before = carom_length(c, p->n);
    for (int round = 0; round < 2; ++round)
        for (int k = 0; k < p->count; ++k) {
            const double along = carom_dot(of(p->c, k, p->n), c, p->n);
            carom_axpy(c, -along, of(p->c, k, p->n), p->n), carom_axpy(z, -along, of(p->z, k, p->n), p->n);
        }
    const double left = carom_length(c, p->n);
    if (!(left > LOST * before)) return false;
    for (int i = 0; i < p->n; ++i) z[i] /= left, c[i] /= left;
    ++p->count;
    return true;
}

// The step, in `by` (n and dT/T).  *fresh: no direction is older than this state.
static carom_status solve(carom_cycle *c, pairs *p, double *rho, double *by, bool *fresh) {
    carom_shooter *s = &c->s;
    const int n = s->n;
    *fresh = p->count == 0;
    carom_zero(by, n + 1);
    for (int i = 0; i < n; ++i) rho[i] = -c->r[i];
    rho[n] = 0;
    if (*fresh) {
        const double size = carom_norm_max(rho, n + 1);
        carom_copy(p->z, rho, n + 1);
        CAROM_TRY(apply(c, p->z, p->c));
        for (int i = 0; i <= n; ++i) rho[i] = size * p->z[i]; // it is a direction now
        add(p);
    } else CAROM_TRY(carom_shooter_tangent(s, rho));
    const double whole = carom_length(rho, n + 1);
    for (int k = 0;; ++k) {
        if (k == p->count) {
            if (p->count == p->room || !(carom_length(rho, n + 1) > INNER * whole)) break;
            carom_copy(of(p->z, k, p->n), rho, n + 1);
            CAROM_TRY(apply(c, of(p->z, k, p->n), of(p->c, k, p->n)));
            if (!add(p)) break;
        }
        const double along = carom_dot(of(p->c, k, p->n), rho, n + 1);
        carom_axpy(by, along, of(p->z, k, p->n), n + 1), carom_axpy(rho, -along, of(p->c, k, p->n), n + 1);
    }
    carom_axpy(by, -1, rho, n); // what is left ends by itself: P is small there
    return CAROM_OK;
}

// Of a step: as a part of the largest motions of its kind.
static double size_of(const carom_cycle *c, const double *by) {
    const carom_shooter *s = &c->s;
    double most = 3 * fabs(by[s->n]);
    for (int half = 0; half < 2; ++half) {
        const double *scale = s->scale + half * s->nv, largest = carom_point_largest(&s->p, scale, s->nv);
        for (int i = 0; i < s->nv; ++i) most = fmax(most, fabs(by[half * s->nv + i]) * scale[i] / largest);
    }
    return most;
}

// One step, halved until the residual falls.  CAROM_RETRY: it does not, and everything is as before.
static carom_status step(carom_cycle *c, pairs *p, double *rho, double *by, bool *fresh) {
    carom_shooter *s = &c->s;
    const int n = s->n;
    const double T = c->T, before = c->residual, whole = carom_length(c->r, n);
    CAROM_TRY(solve(c, p, rho, by, fresh));
    const double most = size_of(c, by);
    if (!isfinite(most)) return CAROM_RETRY;
    double a = most > FAR ? FAR / most : 1;
    carom_copy(c->y, c->x, s->nx), carom_copy(c->r_0, c->r, n);
    for (int k = 0; k < (before < NEAR ? HALVINGS / 4 : HALVINGS); ++k, a /= 2) {
        for (int i = 0; i < n; ++i) c->by[i] = a * by[i];
        c->T = T * (1 + a * by[n]);
        CAROM_TRY(carom_shooter_move(s, c->y, c->by, c->x));
        const carom_status status = keep(c);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        // a fifth of the fall that the step promises
        if (status == CAROM_OK && (carom_length(c->r, n) < whole * (1 - 0.2 * fmin(a, 1)) || c->residual < c->good))
            return CAROM_OK;
        if (!*fresh) break;
    }
    carom_copy(c->x, c->y, s->nx), carom_copy(c->r, c->r_0, n);
    c->T = T;
    CAROM_TRY(keep(c));
    return CAROM_RETRY;
}

// Steps until the residual is `good` or falls no further.
static carom_status converge(carom_cycle *c, pairs *p, double *rho, double *by) {
    carom_status status = CAROM_OK;
    for (int k = 0; status == CAROM_OK && c->residual > c->good && k < MOST; ++k, ++c->iterations) {
        const double before = c->residual, whole = carom_length(c->r, c->s.n);
        bool fresh = false;
        status = step(c, p, rho, by, &fresh);
        if (status == CAROM_RETRY && !fresh && before > c->enough) status = CAROM_OK, p->count = 0;
        else if (status == CAROM_OK && carom_length(c->r, c->s.n) > SLOW * whole) p->count = 0;
    }
    return status == CAROM_RETRY ? CAROM_OK : status;
}

// (ORB-10)  What runs of a tolerance are wrong by is what a finer one changes at the end of the period, or the same
//           one with other steps; that of the finer one is less by the ratio of both.
static carom_status finer(carom_cycle *c, double rtol) {
    const double before = c->s.run_rtol;
    bool changed = false;
    carom_copy(c->r_0, c->r, c->s.n);
    CAROM_TRY(carom_shooter_tolerance(&c->s, rtol, &changed));
    c->steps = changed ? 1 : PIECES;
    const carom_status status = keep(c);
    c->steps = 1;
    CAROM_TRY(status);
    double eps = 0;
    for (int i = 0; i < c->s.n; ++i) eps = fmax(eps, fabs(c->r[i] - c->r_0[i]));
    c->noise = eps / before;
    return CAROM_OK;
}

static void expect(carom_cycle *c) {
    c->enough = fmax(ENOUGH, 10 * c->noise * c->s.run_rtol), c->good = c->enough / 10;
}

carom_status carom_cycle_roughly(carom_cycle *c) {
    bool changed;
    c->rtol = c->s.run_rtol, c->s.rtol = COLUMN;
    return carom_shooter_tolerance(&c->s, fmax(ROUGH, c->rtol), &changed);
}

carom_status carom_cycle_krylov(carom_cycle *c) {
    const int n = c->s.n;
    pairs p = {.n = n + 1, .room = DIRECTIONS};
    const size_t one = (size_t)n + 1;
    double *block = calloc((2 * DIRECTIONS + 4) * one, sizeof *block), *rho = block + 2 * DIRECTIONS * one,
           *by = rho + one;
    if (!block) return carom_orbit_no_memory(c->err);
    p.z = block, p.c = block + DIRECTIONS * one;
    c->iterations = 0, c->noise = UNKNOWN;
    carom_status status = keep(c);
    for (bool last = false; status == CAROM_OK; last = c->s.run_rtol <= c->rtol) {
        expect(c);
        status = converge(c, &p, rho, by);
        if (status == CAROM_OK && c->residual > c->enough) status = finer(c, c->s.run_rtol), expect(c);
        if (status != CAROM_OK || c->residual > c->enough || last) break;
        status = finer(c, fmax(FINER * c->s.run_rtol, c->rtol));
    }
    free(block);
    if (status != CAROM_OK) return status;
    if (c->residual <= c->enough) return CAROM_OK;
    return carom_fail(c->err, CAROM_NOT_CONVERGED,
                      "no orbit of period %.9g was found: the residual stays at %.2g after %d iteration%s; give %s",
                      c->T, c->residual, c->iterations, c->iterations == 1 ? "" : "s", c->nearer);
}

// -- multipliers ------------------------------------------------------------------------------------------------------
//
//     P Q_k = Q_k H_k + h q_k+1 e_k',   H_k y = theta y:   |P Q y - theta Q y| = h |y_k|                        (ORB-8)

// The motion itself, which repeats itself trivially, where time does not enter.
static void put_trivial(const carom_cycle *c, double *t, int *trivial) {
    const carom_shooter *s = &c->s;
    const double size = carom_length(s->rate_0, s->n);
    *trivial = c->timeless && size > 0;
    for (int i = 0; i < s->n && *trivial; ++i) t[i] = s->rate_0[i] / size;
}

typedef struct ritz { double re, im, off; } ritz;

static int by_size(const void *a, const void *b) {
    const ritz *x = a, *y = b;
    const double d = hypot(x->re, x->im) - hypot(y->re, y->im);
    return d < 0 ? 1 : d > 0 ? -1 : (x->im < y->im) - (x->im > y->im);
}

// Eigenvalues of H_k, largest first, with their residuals; how many of the first ones are sharp.
static carom_status examine(carom_cycle *c, const double *H, int k, double h, double *work, ritz *to, int *sharp) {
    double *A = work, *V = A + ARNOLDI * ARNOLDI, *re = V + ARNOLDI * ARNOLDI, *im = re + ARNOLDI;
    for (int j = 0; j < k; ++j) carom_copy(A + j * k, H + j * (ARNOLDI + 1), k);
    CAROM_TRY(carom_eigen(A, k, re, im, V, c->err));
    for (int i = 0; i < k; ++i) {
        const int first = im[i] < 0 ? i - 1 : i; // of a pair: real and imaginary part
        const double last = im[i] != 0 ? hypot(V[k - 1 + first * k], V[k - 1 + (first + 1) * k]) : V[k - 1 + i * k];
        to[i] = (ritz){re[i], im[i], h * fabs(last)};
    }
    qsort(to, (size_t)k, sizeof *to, by_size);
    for (*sharp = 0; *sharp < k && to[*sharp].off <= SHARP * fmax(1, hypot(to[*sharp].re, to[*sharp].im));) ++*sharp;
    return CAROM_OK;
}

// Directions of states that joints leave, and those that contacts take which are closed at the start.
static int dimension(const carom_cycle *c, int *lost) {
    const carom_shooter *s = &c->s;
    int n = s->n - carom_cycle_hidden(c);
    *lost = 0;
    for (int id = 0; id < s->p.ne + s->p.nc; ++id) {
        const int rows = carom_system_directions(&s->p.sys, id);
        if (id < s->p.ne) n -= 2 * rows;
        else if (s->mode_0[id - s->p.ne] != CAROM_MODE_OPEN)
            *lost += 1 + (s->mode_0[id - s->p.ne] == CAROM_MODE_SLIP ? 1 : rows);
    }
    return n;
}

// One column more of H; *h is what is left of P q_k, 0: nothing.
static carom_status expand(carom_cycle *c, double *Q, int k, const double *t, double *H, double *h) {
    carom_shooter *s = &c->s;
    const int n = s->n;
    double *next = of(Q, k + 1, n);
    CAROM_TRY(carom_shooter_follow(s, of(Q, k, n)));
    carom_copy(next, s->Y, n);
    if (t) carom_axpy(next, -carom_dot(t, next, n), t, n);
    const double before = carom_length(next, n);
    for (int round = 0; round < 2; ++round)
        for (int j = 0; j <= k; ++j) {
            const double along = carom_dot(of(Q, j, n), next, n);
            H[j + k * (ARNOLDI + 1)] += along;
            carom_axpy(next, -along, of(Q, j, n), n);
        }
    *h = carom_length(next, n);
    if (!(*h > LOST * before)) *h = 0;
    for (int i = 0; i < n && *h > 0; ++i) next[i] /= *h;
    H[k + 1 + k * (ARNOLDI + 1)] = *h;
    return CAROM_OK;
}

carom_status carom_cycle_largest(carom_cycle *c, double *re, double *im, int *count, int *trivial, int *lost,
                                 int *others) {
    carom_shooter *s = &c->s;
    const int n = s->n;
    const size_t square = (size_t)(ARNOLDI + 1) * ARNOLDI;
    double *Q = calloc((size_t)(ARNOLDI + 2) * (size_t)n + 4 * square, sizeof *Q);
    if (!Q) return carom_orbit_no_memory(c->err);
    double *t = of(Q, ARNOLDI + 1, n), *H = t + n, *work = H + square, h = 1, off = 1;
    ritz found[ARNOLDI];
    int sharp = 0;
    for (int i = 0; i < n; ++i) Q[i] = cos(1 + 2.3 * i); // any direction
    s->path.rtol = SHARP_COLUMN;
    carom_status status = carom_shooter_follow(s, Q);
    put_trivial(c, t, trivial);
    if (*trivial) carom_axpy(Q, -carom_dot(t, Q, n), t, n);
    const double size = carom_length(Q, n);
    for (int i = 0; i < n && size > 0; ++i) Q[i] /= size;
    const int all = dimension(c, lost) - *lost - *trivial, most = all < ARNOLDI ? all : ARNOLDI;
    for (int k = 0; k < most && status == CAROM_OK && h > 0 && sharp < WANTED; ++k) {
        s->path.rtol = fmin(LOOSE_COLUMN, SHARP_COLUMN / fmin(off, 1)); // (ORB-8)
        status = expand(c, Q, k, *trivial ? t : NULL, H, &h);
        if (k + 1 == all) h = 0;
        if (status == CAROM_OK) status = examine(c, H, k + 1, h, work, found, &sharp);
        off = 0;
        for (int i = 0; i < WANTED; ++i) off = fmax(off, i <= k ? found[i].off : 1);
    }
    for (int i = 0; i < sharp; ++i) re[i] = found[i].re, im[i] = found[i].im;
    *count = sharp;
    *others = all > sharp ? all - sharp : 0;
    free(Q);
    return status;
}

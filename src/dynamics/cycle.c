// cycle.c: motions that repeat themselves, by shooting.
//
//     x_1(x, T, p) - x - shift = S sigma                                                                        (ORB-1)
//     (P - 1) z + x'_1 dT + x_p dp - S dsigma = -r,  x'_0 z = 0,  S'z = 0,  tau (z, dT, dp) = 0  (ORB-2)
//
// with x_1 the state after a period, P = dx_1/dx on the states beside x, S what the model does not depend on.  The
// second equation is that of models without time, the last one that of continuation.
//
// Orbits of conservative models come in families over the energy E, and (P - 1, x'_1) has one dimension too few.  A
// column along the slope of E fills it,
//
//     (P - 1) z + x'_1 dT + E_x delta - S dsigma = -r,  E_x z = E* - E  or  tau (z, dT, dE) = 0  (ORB-5)
//
// with delta = 0 at the solution, because the motion keeps E.
#include "dynamics/cycle.h"
#include "derive/variation.h"
#include "dynamics/border.h"
#include "linalg/dense.h"
#include "model/answers.h"
#include "model/controls.h"
#include "system/system.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FAR = 0.7;   // of a step, in typical sizes
static const double SLOW = 0.1;  // of the residual before: the linearisation is done again
static const double CUT = 1e-9;  // of a matrix that has cancelled: a direction is not determined
static const double GOOD = 1e-11, ENOUGH = 1e-10; // residuals of one orbit, relative: to end with; where rounding does
                                                  // not allow more
static const double WIDE = 1e3;  // a column of the parameter beside which others could seem to have cancelled
static const double FLOOR = 1e-13; // of typical sizes: no residual is smaller for certain
static const double ROUGHEST = 1e-4; // the largest residual of what is called an orbit
static const double MOST_NOISE = 1e6; // errors of a run, in units of its tolerance
static const double TIGHTER = 0.1, WORTH = 1e4; // (ORB-4)  of the tolerance, where Newton's method stalls; of the
                                                // residual that is enough: from farther away, tolerances are not the
                                                // reason
// tolerances of the linearised motion and of the scheme where neighbouring runs part fast
static const double TIGHTEST = 1e-12, TIGHTEST_RUN = 1e-13;
static const double BESIDE = 1e-7;  // of a direction: what must be left of it beside others
static const double SAME_ENERGY = 1e-12; // in typical sizes: an energy that is held
static const double BESIDE_STATE = 1e-5; // in typical sizes: differences of the energy
static const double STILL = 1e-5;   // way in a period: that is a state of rest
enum { LEARNT = 12 };

carom_status carom_orbit_no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an orbit");
}

// -- what the model does not depend on -----------------------------------------------------------------------------

// Rows of d(gaps), d(f - M a), d(W'v + w), d(W'a + kappa) and of what controllers compute along unit vectors of
// positions, at a state; orthonormal rows go to basis.
static carom_status dependence(carom_cycle *c, double t, const double *x, double *basis, int *rank) {
    carom_shooter *s = &c->s;
    const int nv = s->nv, links = carom_model_system(s->task.base)->ne + s->p.nc,
              dirs = carom_variation_directions(s->x),
              control = carom_model_controlled(s->task.base), rows = links + nv + 2 * dirs + control;
    double *D = calloc((size_t)rows * (size_t)nv + 3 * (size_t)nv + (size_t)rows, sizeof *D),
           *e = D + (size_t)rows * (size_t)nv, *a = e + nv, *row = a + nv;
    if (!D) return carom_orbit_no_memory(c->err);
    bool good = true;
    const double *q = x, *v = x + s->nq;
    for (int i = 0; i < nv; ++i) a[i] = s->scale[nv + i] * (1 + 0.37 * i); // any acceleration
    for (int i = 0; i < nv && good; ++i) {
        carom_zero(e, nv);
        e[i] = s->scale[i];
        const carom_direction d = {0, e, NULL, NULL};
        double *to = cycle_column(D, i, rows);
        good = carom_variation_gaps(s->x, t, q, d, to) == CAROM_OK &&
               carom_variation_motion(s->x, t, q, v, a, d, to + links) == CAROM_OK &&
               carom_variation_rates(s->x, t, q, v, d, to + links + nv) == CAROM_OK &&
               carom_variation_acceleration(s->x, t, q, v, a, d, to + links + nv + dirs) == CAROM_OK &&
               carom_variation_control(s->x, t, q, v, d, to + links + nv + 2 * dirs) == CAROM_OK;
    }
    const int first[] = {0, links, links + nv, links + nv + dirs, links + nv + 2 * dirs, rows};
    for (int g = 0; g < 5 && good; ++g) {
        double most = 0;
        for (int i = 0; i < nv; ++i)
            most = fmax(most, carom_norm_max(cycle_column(D, i, rows) + first[g], first[g + 1] - first[g]));
        for (int r = first[g]; r < first[g + 1] && *rank < nv; ++r) {
            for (int i = 0; i < nv; ++i) row[i] = cycle_column(D, i, rows)[r];
            const double size = carom_length(row, nv);
            if (!(size > CUT * most)) continue;
            const double left = carom_basis_reject(basis, *rank, row, nv);
            if (!(left > BESIDE * size)) continue;
            for (int i = 0; i < nv; ++i) cycle_column(basis, *rank, nv)[i] = row[i] / left;
            ++*rank;
        }
    }
    free(D);
    return good ? CAROM_OK
                : carom_fail(c->err, CAROM_USER, "the derivatives of the model have no finite value on the way");
}

carom_status carom_cycle_symmetry(carom_cycle *c, const double *samples, const double *times, int count) {
    carom_shooter *s = &c->s;
    const int nv = s->nv, nx = s->nx;
    double *basis = calloc((size_t)nv * (size_t)nv + (size_t)nv, sizeof *basis), *x = basis + (size_t)nv * (size_t)nv;
    if (!basis) return carom_orbit_no_memory(c->err);
    int rank = 0;
    carom_status status = CAROM_OK;
    for (int i = 0; i < nv; ++i) // integrals of first-order states are left out
        if (carom_model_state(s->task.base, i)) cycle_column(basis, rank++, nv)[i] = 1;
    for (int k = 0; k < count && status == CAROM_OK; ++k)
        status = dependence(c, times[k], samples + (size_t)k * (size_t)nx, basis, &rank);
    if (status == CAROM_OK) {
        carom_basis_complete(basis, rank, nv, x);
        c->nsym = nv - rank;
        for (int k = 0; k < c->nsym; ++k) {
            carom_copy(cycle_column(c->sym, k, s->n), cycle_column(basis, rank + k, nv), nv);
            carom_zero(cycle_column(c->sym, k, s->n) + nv, s->n - nv);
        }
    }
    free(basis);
    return status;
}

// -- places that change -----------------------------------------------------------------------------------------------

// x with the coordinates exchanged that change places in a period; an even number of periods leaves them where they
// are.
static void exchange(const carom_cycle *c, double *x, int n) {
    for (int i = 0; i < n && c->partner && c->fold % 2; ++i) {
        const int k = c->partner[i];
        if (k <= i) continue;
        const double y = x[i];
        x[i] = x[k], x[k] = y;
    }
}

void carom_cycle_exchange(const carom_cycle *c, double *x) {
    exchange(c, x, c->s.nv), exchange(c, x + c->s.nq, c->s.nv);
}

// The same of a direction in units of scale.
static void exchange_direction(const carom_cycle *c, double *x) {
    const carom_shooter *s = &c->s;
    for (int i = 0; i < s->n && c->partner; ++i) x[i] *= s->scale[i];
    exchange(c, x, s->nv), exchange(c, x + s->nv, s->nv);
    for (int i = 0; i < s->n && c->partner; ++i) x[i] /= s->scale[i];
}

// -- the equations --------------------------------------------------------------------------------------------------

void carom_cycle_return(carom_cycle *c, const double *x, bool linear, double *r) {
    carom_shooter *s = &c->s;
    carom_cycle_exchange(c, s->end);
    for (int j = 0; j < s->m && linear; ++j) exchange_direction(c, cycle_column(s->Y, j, s->n));
    if (linear) exchange_direction(c, s->rate_1), exchange_direction(c, s->p_1);
    for (int i = 0; i < s->nq; ++i) s->end[i] -= c->shift[i];
    carom_shooter_apart(s, x, s->end, r);
    for (int i = 0; i < s->nq; ++i) s->end[i] += c->shift[i];
    for (int k = 0; k < c->nsym; ++k)
        carom_axpy(r, -carom_dot(cycle_column(c->sym, k, s->n), r, s->n), cycle_column(c->sym, k, s->n), s->n);
}

double carom_cycle_energy(carom_cycle *c, const double *x) {
    carom_shooter *s = &c->s;
    const carom_system *sys = carom_model_system(s->task.base);
    double kinetic = 0, potential = 0;
    if (sys->energy) sys->energy(sys->model, s->p.work, 0, x, x + s->nq, &kinetic, &potential);
    return kinetic + potential;
}

// How the energy changes along the basis of states beside x.
carom_status carom_cycle_slope(carom_cycle *c, const double *x) {
    carom_shooter *s = &c->s;
    for (int j = 0; j < s->m; ++j) {
        double E[2];
        for (int side = 0; side < 2; ++side) {
            for (int i = 0; i < s->n; ++i)
                c->by[i] = (side ? BESIDE_STATE : -BESIDE_STATE) * cycle_column(s->Z, j, s->n)[i];
            CAROM_TRY(carom_shooter_move(s, x, c->by, c->y));
            E[side] = carom_cycle_energy(c, c->y);
        }
        c->slope[j] = (E[1] - E[0]) / (2 * BESIDE_STATE);
    }
    return CAROM_OK;
}

carom_status carom_cycle_shoot(carom_cycle *c, bool linear) {
    carom_shooter *s = &c->s;
    if (linear) c->nlearnt = 0;
    carom_status status = carom_shoot(s, c->t_0, c->T, c->x, linear, c->steps);
    // errors have grown so far that both runs part: as tight as possible
    if (linear && status == CAROM_NOT_CONVERGED && c->near && s->rtol > TIGHTEST && !s->given) {
        const double rtol = s->rtol, run_rtol = s->run_rtol;
        bool changed;
        s->rtol = TIGHTEST;
        status = carom_shooter_tolerance(s, TIGHTEST_RUN, &changed);
        if (status == CAROM_OK) status = carom_shoot(s, c->t_0, c->T, c->x, true, c->steps);
        s->rtol = rtol;
        const carom_status back = carom_shooter_tolerance(s, run_rtol, &changed);
        if (status == CAROM_OK) status = back;
    }
    CAROM_TRY(status);
    carom_cycle_return(c, c->x, linear, c->r);
    c->residual = carom_norm_max(c->r, s->n);
    if (!c->conservative) return CAROM_OK;
    s->value = carom_cycle_energy(c, c->x);
    if (linear) CAROM_TRY(carom_cycle_slope(c, c->x));
    const double off = fabs(c->target - s->value) / fmax(carom_length(c->slope, s->m), CAROM_NOT_ZERO);
    // runs have errors, the energy of a state has none
    if (c->hold) c->residual = fmax(c->residual, off * fmax(1, c->good / SAME_ENERGY));
    return CAROM_OK;
}

static int unknowns(const carom_cycle *c, bool parameter) {
    return c->s.m + c->timeless + c->nsym + (parameter || c->conservative);
}

// Z'x
static void project(const carom_shooter *s, const double *x, double *to) {
    for (int j = 0; j < s->m; ++j) to[j] = carom_dot(cycle_column(s->Z, j, s->n), x, s->n);
}

// (ORB-2)  The matrix, N x N, of unknowns z, dT/T (models without time), dsigma, dp/size; the last row is left to the
//          caller.
static void assemble(carom_cycle *c, bool parameter, double size) {
    carom_shooter *s = &c->s;
    const int m = s->m, n = s->n, N = unknowns(c, parameter), T = m, sigma = m + c->timeless, p = N - 1;
    double *A = c->A, *z = c->work;
    carom_zero(A, (ptrdiff_t)N * N);
    // what is left of P - 1 below it is no more than errors of the motion
    const double rounding = (c->near ? fmin(CUT, s->rtol) : CUT) * fmax(1, carom_norm_max(s->Y, m * n));
    for (int j = 0; j < m; ++j) {
        project(s, cycle_column(s->Y, j, n), cycle_column(A, j, N));
        cycle_column(A, j, N)[j] -= 1;
        for (int i = 0; i < m; ++i)
            if (fabs(cycle_column(A, j, N)[i]) < rounding) cycle_column(A, j, N)[i] = 0;
    }
    project(s, s->rate_1, z);
    if (c->timeless && !c->expression) carom_copy(cycle_column(A, T, N), z, m);
    for (int j = 0; j < m && c->timeless && !c->expression; ++j) cycle_column(A, T, N)[j] *= c->T;
    const double steep = carom_length(c->slope, m);
    // (ORB-5)
    for (int j = 0; j < m && c->conservative; ++j) cycle_column(A, p, N)[j] = c->slope[j] / fmax(steep, CAROM_NOT_ZERO);
    if (parameter && !c->conservative) {
        for (int i = 0; i < n; ++i)
            c->by[i] = size * (s->p_1[i] - s->p_0[i] + s->rate_1[i] * (c->expression ? c->T_p : 0));
        project(s, c->by, cycle_column(A, p, N));
    }
    if (c->timeless) {
        project(s, s->rate_0, z);
        const double length = carom_length(z, m);
        for (int j = 0; j < m && length > 0; ++j) cycle_column(A, j, N)[T] = z[j] / length;
    }
    for (int k = 0; k < c->nsym; ++k) {
        project(s, cycle_column(c->sym, k, n), z);
        for (int j = 0; j < m; ++j) cycle_column(A, sigma + k, N)[j] = -z[j], cycle_column(A, j, N)[sigma + k] = z[j];
    }
}

// The last row: a step along the tangent.
static void put_tangent(carom_cycle *c, const double *tau, double size, int N) {
    const carom_shooter *s = &c->s;
    project(s, tau, c->work);
    for (int j = 0; j < s->m; ++j)
        cycle_column(c->A, j, N)[N - 1] = c->work[j] + (c->conservative ? tau[s->n + 1] * c->slope[j] / size : 0);
    if (c->timeless) cycle_column(c->A, s->m, N)[N - 1] = tau[s->n];
    cycle_column(c->A, N - 1, N)[N - 1] = c->conservative ? 0 : tau[s->n + 1];
}

// The last row where the energy is given.
static void put_energy(carom_cycle *c, int N) {
    const double steep = fmax(carom_length(c->slope, c->s.m), CAROM_NOT_ZERO);
    for (int j = 0; j < c->s.m; ++j) cycle_column(c->A, j, N)[N - 1] = c->slope[j] / steep;
    c->b[N - 1] = (c->target - c->s.value) / steep;
}

static void keep_hits(carom_hit **to, int *n, const carom_shooter *s) {
    carom_hit *more = realloc(*to, ((size_t)s->nhits + 1) * sizeof *more);
    if (!more) return;
    *to = more, *n = s->nhits;
    if (s->nhits > 0) memcpy(more, s->hit, (size_t)s->nhits * sizeof *more);
}

// Is the sequence of events that of other hits?
static bool alike(const carom_cycle *c, const carom_hit *hit, int n) {
    bool same = n == c->s.nhits;
    for (int i = 0; i < n && same; ++i) same = c->s.hit[i].kind == hit[i].kind && c->s.hit[i].contact == hit[i].contact;
    return same;
}

// The shortest solution z of A z = b.  Where states change by thousands of their sizes over the range of the parameter,
// it is in units in which they do not, so that the rank does not depend on the range.
static int shortest(carom_cycle *c, int N) {
    double *p = cycle_column(c->A, N - 1, N);
    const double most = carom_norm_max(p, N), unit = !c->conservative && most > WIDE ? most : 1;
    for (int i = 0; i < N; ++i) p[i] /= unit;
    const int rank = carom_dense_shortest(c->A, N, N, CUT, c->col, c->work, c->b, c->z);
    c->z[N - 1] /= unit;
    return rank;
}

// (ORB-2)  The step from x with the linearisation of the last linearised shot, in c->by (n), *dT, *dp.  False: it is
//          not finite.
static bool solve_step(carom_cycle *c, const double *tau, double size, double *dT, double *dp) {
    carom_shooter *s = &c->s;
    const int n = s->n, m = s->m, N = unknowns(c, tau != NULL);
    assemble(c, tau != NULL, size);
    carom_zero(c->b, N);
    project(s, c->r, c->b);
    for (int i = 0; i < m; ++i) c->b[i] = -c->b[i];
    if (tau) put_tangent(c, tau, size, N);
    else if (c->conservative) put_energy(c, N);
    for (int k = 0; k < c->nlearnt; ++k) { // Broyden: A += r d'/d'd
        const double *r = c->learnt + (size_t)(2 * k) * (size_t)c->room, *d = r + c->room;
        for (int j = 0; j < N; ++j) carom_axpy(cycle_column(c->A, j, N), d[j] / carom_dot(d, d, N), r, m);
    }
    c->rank = carom_dense_shortest(c->A, N, N, CUT, c->col, c->work, c->b, c->z);
    c->unknowns = N - (c->timeless && c->expression);
    double most = carom_norm_max(c->z, N);
    if (c->timeless) most = fmax(most, 3 * fabs(c->z[m]));
    for (int i = 0; i < N && most > FAR; ++i) c->z[i] *= FAR / most;
    *dT = c->timeless && !c->expression ? c->z[m] * c->T : 0, *dp = tau && !c->conservative ? c->z[N - 1] * size : 0;
    carom_zero(c->by, n);
    for (int j = 0; j < m; ++j) carom_axpy(c->by, c->z[j], cycle_column(s->Z, j, n), n);
    if (tau) carom_axpy(c->by, *dp, s->p_0, n);
    return isfinite(most);
}

carom_status carom_cycle_set(carom_cycle *c, double value) {
    if (c->conservative) {
        c->target = c->s.value = value;
        return CAROM_OK;
    }
    CAROM_TRY(carom_shooter_set(&c->s, value));
    return carom_cycle_refresh(c);
}

carom_status carom_cycle_refresh(carom_cycle *c) {
    if (!c->expression) return CAROM_OK;
    CAROM_TRY(carom_shooter_observe(&c->s, &c->T, &c->T_p));
    c->T *= c->fold, c->T_p *= c->fold;
    return CAROM_OK;
}

// What the last step c->z tells about the matrix: without an error of it, r would be zero now.
static void learn(carom_cycle *c, bool parameter) {
    if (c->nlearnt == LEARNT) return;
    double *r = c->learnt + (size_t)(2 * c->nlearnt++) * (size_t)c->room;
    project(&c->s, c->r, r);
    carom_copy(r + c->room, c->z, unknowns(c, parameter));
}

// One step, halved until the residual falls.  CAROM_RETRY: it does not.
static carom_status step(carom_cycle *c, const double *tau, double size, carom_hit **hits, int *nhits) {
    carom_shooter *s = &c->s;
    const int n = s->n;
    const double T = c->T, value = s->value, before = c->residual;
    double *x = c->y, *by = c->tau, dT, dp;
    if (!solve_step(c, tau, size, &dT, &dp)) return CAROM_RETRY;
    carom_copy(x, c->x, s->nx), carom_copy(by, c->by, n), carom_copy(c->r_0, c->r, n);
    double a = 1;
    for (int k = 0; k < c->halvings; ++k, a /= 2) {
        for (int i = 0; i < n; ++i) c->by[i] = a * by[i];
        c->T = T + a * dT;
        carom_status status = tau ? carom_cycle_set(c, value + a * dp) : CAROM_OK;
        CAROM_TRY(carom_shooter_move(s, x, c->by, c->x)); // closed contacts are closed with the new parameter
        if (status == CAROM_OK) status = carom_cycle_shoot(c, false);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        if (status == CAROM_OK && *hits && !alike(c, *hits, *nhits)) ++c->order_changed;
        if (status == CAROM_OK) keep_hits(hits, nhits, s);
        // a fifth of the fall that the step promises
        if (status == CAROM_OK && (c->residual < before * (1 - 0.2 * a) || c->residual < c->good)) {
            if (k == 0) learn(c, tau != NULL);
            return CAROM_OK;
        }
    }
    // back to where it was best
    carom_copy(c->x, x, s->nx), carom_copy(c->r, c->r_0, n);
    c->T = T, c->residual = before;
    if (tau) CAROM_TRY(carom_cycle_set(c, value));
    return CAROM_RETRY;
}

// (ORB-4)  Errors of the run reach its end as eps = noise rtol G with G = |dx_1/dx|, jumps included: no residual falls
//          below a few of them.
static double growth(const carom_shooter *s) { return fmax(1, s->linear ? carom_norm_max(s->Y, s->n * s->m) : 1); }

static void expect_noise(carom_cycle *c) {
    if (!c->near) return;
    const double eps = fmax(FLOOR, c->noise * c->s.run_rtol * growth(&c->s));
    c->good = c->precise ? FLOOR : fmin(3 * eps, ROUGHEST), c->enough = fmin(10 * eps, ROUGHEST);
}

carom_status carom_cycle_measure(carom_cycle *c, bool *more) {
    carom_shooter *s = &c->s;
    const double rtol = s->run_rtol, G = growth(s), before = c->noise;
    bool changed = false;
    *more = false;
    if (s->given) return CAROM_OK;
    const bool linear = s->linear;
    CAROM_TRY(carom_cycle_shoot(c, false));
    carom_copy(c->r_0, c->r, s->n);
    carom_hit *hits = NULL;
    int nhits = 0;
    keep_hits(&hits, &nhits, s);
    carom_status status = carom_shooter_tolerance(s, TIGHTER * rtol, &changed);
    if (status == CAROM_OK && changed) status = carom_cycle_shoot(c, false);
    const bool same = alike(c, hits, nhits); // a contact that is just touched, or not, says nothing about the accuracy
    free(hits);
    CAROM_TRY(status);
    if (changed) {
        double eps = 0;
        for (int i = 0; i < s->n && same; ++i) eps = fmax(eps, fabs(c->r[i] - c->r_0[i]));
        c->noise = fmin(MOST_NOISE, fmax(c->noise, eps / (rtol * G)));
        CAROM_TRY(carom_shooter_tolerance(s, rtol, &changed));
        CAROM_TRY(carom_cycle_shoot(c, false));
    }
    s->linear = linear;
    *more = c->noise > before;
    expect_noise(c);
    return CAROM_OK;
}

static carom_status newton(carom_cycle *c, const double *tau, double size);

carom_status carom_cycle_solve(carom_cycle *c, const double *tau, double size) {
    bool changed = true, more = false;
    c->hold = c->conservative && !tau;
    if (c->near) CAROM_TRY(carom_shooter_tolerance(&c->s, c->rtol, &changed));
    carom_status status = newton(c, tau, size);
    if (status != CAROM_NOT_CONVERGED || !(c->residual < WORTH * c->enough)) return status;
    // it may be the runs that are rougher than it was thought
    const carom_error kept = *c->err;
    if (c->near) CAROM_TRY(carom_cycle_measure(c, &more));
    c->s.linear = c->s.linear && !more;
    if (more) status = newton(c, tau, size);
    else *c->err = kept;
    for (changed = true; status == CAROM_NOT_CONVERGED && c->residual < WORTH * c->enough && changed;) {
        CAROM_TRY(carom_shooter_tolerance(&c->s, TIGHTER * c->s.run_rtol, &changed));
        c->s.linear = c->s.linear && !changed;
        if (changed) status = newton(c, tau, size);
    }
    return status;
}

bool carom_cycle_still(const carom_cycle *c, double rate) { return rate * c->T < STILL; }

carom_status carom_cycle_rests(carom_cycle *c) {
    return carom_fail(c->err, CAROM_NOT_CONVERGED,
                      "the iteration converged to an equilibrium, not a periodic orbit; give %s%s", c->nearer,
                      c->expression ? ", or `period free`" : "");
}

static carom_status newton(carom_cycle *c, const double *tau, double size) {
    c->err->text[0] = 0;
    c->order_changed = 0;
    c->nlearnt = 0;
    bool here = !c->s.linear, stale = false; // the linearisation is that at x; it is too old
    carom_status status = carom_cycle_shoot(c, here);
    expect_noise(c);
    carom_hit *hits = NULL;
    int nhits = 0;
    for (c->iterations = 0; status == CAROM_OK && c->residual > c->good && c->iterations < c->most; ++c->iterations) {
        const double before = c->residual;
        if (stale && !here) {
            status = carom_cycle_shoot(c, true);
            here = true, stale = false;
            if (status != CAROM_OK) break;
            expect_noise(c);
        }
        status = step(c, tau, size, &hits, &nhits);
        if (status == CAROM_RETRY && !here && before > c->enough) status = CAROM_OK, stale = true;
        else if (status == CAROM_OK) here = false, stale = c->residual > SLOW * before;
    }
    if ((status == CAROM_RETRY || status == CAROM_OK) && !here) { // with the linearisation there
        const double before = c->residual;
        const carom_status last = carom_cycle_shoot(c, true);
        expect_noise(c);
        if (last != CAROM_OK && before < c->enough) status = last;
        if (last != CAROM_OK) c->residual = before;
    }
    free(hits);
    const bool good = (status == CAROM_RETRY || status == CAROM_OK) && c->residual < c->enough;
    if (good && c->timeless && carom_cycle_still(c, carom_norm_max(c->s.rate_0, c->s.n)) && c->s.nhits == 0)
        return carom_cycle_rests(c);
    if (good) return CAROM_OK;
    // the iteration has led to a motion without derivatives
    const bool astray = c->iterations > 0 && status == CAROM_UNSUPPORTED;
    if (status != CAROM_RETRY && status != CAROM_OK && !astray) return status;
    if (c->conservative)
        return carom_fail(c->err, CAROM_NOT_CONVERGED,
                          "no orbit was found near the energy %.9g (residual %.2g): the model must be conservative, "
                          "without damping, friction and restitution below 1, or give %s",
                          c->s.value, c->residual, c->nearer);
    if (c->order_changed > 2)
        return carom_fail(c->err, CAROM_NOT_CONVERGED,
                          "no orbit was found: the sequence of contacts changes under the iteration (%d times, "
                          "residual %.2g): give %s",
                          c->order_changed, c->residual, c->nearer);
    if (c->rank < c->unknowns)
        return carom_fail(c->err, CAROM_SINGULAR,
                          "no orbit was found: the linearisation is singular (rank %d of %d, residual %.2g)%s", c->rank,
                          c->unknowns, c->residual,
                          c->timeless && c->expression
                              ? ": time does not enter the model; is it `period free`?"
                              : "; other parameters or some damping may help, as at resonance");
    char why[300] = "";
    if (c->err->text[0]) memcpy(why, c->err->text, sizeof why - 1);
    return carom_fail(c->err, CAROM_NOT_CONVERGED,
                      "no orbit of period %.9g was found: the residual stays at %.2g after %d iteration%s%s%s; give %s",
                      c->T, c->residual, c->iterations, c->iterations == 1 ? "" : "s",
                      why[0] ? "; the last attempt: " : "", why,
                      c->timeless && c->expression
                          ? "`period free`: time does not enter the model, so orbits have periods of their own"
                          : c->nearer);
}

bool carom_cycle_tangent(carom_cycle *c, double size, double *tau, int *sign, double *log_size) {
    carom_shooter *s = &c->s;
    const int n = s->n, N = unknowns(c, true);
    assemble(c, true, size);
    // the row that is left asks for a part of 1 along the last tangent
    double *b = c->b;
    put_tangent(c, tau, size, N);
    carom_zero(b, N);
    b[N - 1] = 1;
    if (sign) {
        carom_copy(c->B, c->A, (ptrdiff_t)N * N);
        *sign = carom_dense_determinant(c->B, N, N, c->col, log_size);
        if ((n - s->m) % 2 != 0) *sign = -*sign; // P - 1 = -1 along what closed contacts hold where the orbit begins
    }
    const int rank = shortest(c, N);
    carom_cycle_spread(c, size, c->z, tau);
    const double length = carom_length(tau, n + 2);
    for (int i = 0; i < n + 2; ++i) tau[i] /= length;
    return rank >= N - (c->timeless && c->expression) && isfinite(length) && length > 0;
}

void carom_cycle_spread(carom_cycle *c, double size, const double *z, double *tau) {
    carom_shooter *s = &c->s;
    const int n = s->n, N = unknowns(c, true);
    carom_zero(tau, n + 2);
    for (int j = 0; j < s->m; ++j) carom_axpy(tau, z[j], cycle_column(s->Z, j, n), n);
    carom_axpy(tau, z[N - 1] * size, s->p_0, n);
    tau[n] = c->timeless && !c->expression ? z[s->m] : 0,
    tau[n + 1] = c->conservative ? carom_dot(c->slope, z, s->m) / size : z[N - 1];
}

int carom_cycle_equations(carom_cycle *c, double size, double *F, double *J) {
    const int N = unknowns(c, true);
    assemble(c, true, size);
    carom_zero(F, N - 1);
    project(&c->s, c->r, F);
    for (int j = 0; j < N; ++j) carom_copy(J + (size_t)j * (size_t)(N - 1), cycle_column(c->A, j, N), N - 1);
    return N;
}

bool carom_cycle_cross(carom_cycle *c, double size, const double *tau, double *other) {
    carom_shooter *s = &c->s;
    const int n = s->n, N = unknowns(c, true);
    assemble(c, true, size);
    put_tangent(c, tau, size, N);
    if (!carom_null_vector(c->A, N, false, c->z)) return false;
    carom_cycle_spread(c, size, c->z, other);
    const double length = carom_length(other, n + 2);
    for (int i = 0; i < n + 2; ++i) other[i] /= length;
    return isfinite(length) && length > 0;
}

int carom_cycle_hidden(const carom_cycle *c) {
    int n = 0;
    for (int i = 0; i < c->s.nq; ++i)
        n += carom_model_state(c->s.task.base, i) ? 1 : 2 * carom_model_presses(c->s.task.base, i);
    return n;
}

// -- multipliers ----------------------------------------------------------------------------------------------------

carom_status carom_cycle_multipliers(carom_cycle *c, double *re, double *im, double *vectors, int *count, int *trivial,
                                     int *lost) {
    carom_shooter *s = &c->s;
    const int n = s->n, m = s->m;
    double *P = calloc(3 * (size_t)n * (size_t)n + 2 * (size_t)n, sizeof *P), *B = P + (size_t)n * (size_t)n,
           *V = B + (size_t)n * (size_t)n, *x = V + (size_t)n * (size_t)n;
    if (!P) return carom_orbit_no_memory(c->err);
    // a basis of the states beside x: first what repeats itself trivially, then the rest
    int known = 0;
    for (int k = 0; k <= c->nsym; ++k) {
        if (k == c->nsym && !c->timeless) break;
        project(s, k < c->nsym ? cycle_column(c->sym, k, n) : s->rate_0, x);
        const double size = carom_length(x, m);
        const double left = carom_basis_reject(B, known, x, m);
        if (!(left > BESIDE * size) || size == 0) continue;
        for (int i = 0; i < m; ++i) cycle_column(B, known, m)[i] = x[i] / left;
        ++known;
    }
    *trivial = known;
    carom_basis_complete(B, known, m, x);
    const int rest = m - known;
    for (int j = 0; j < rest; ++j) { // Q'P Q
        carom_zero(x, n);
        for (int k = 0; k < m; ++k) carom_axpy(x, cycle_column(B, known + j, m)[k], cycle_column(s->Y, k, n), n);
        project(s, x, x + n);
        for (int i = 0; i < rest; ++i) P[i + j * rest] = carom_dot(cycle_column(B, known + i, m), x + n, m);
    }
    const carom_status status = carom_eigen(P, rest, re, im, vectors ? V : NULL, c->err);
    for (int j = 0; j < rest && vectors && status == CAROM_OK; ++j) {
        carom_zero(cycle_column(vectors, j, n), n);
        for (int i = 0; i < rest; ++i)
            for (int k = 0; k < m; ++k)
                carom_axpy(cycle_column(vectors, j, n), V[i + j * rest] * cycle_column(B, known + i, m)[k],
                           cycle_column(s->Z, k, n), n);
    }
    *count = rest;
    if (c->conservative && rest > 0 && status == CAROM_OK) { // the one along the family of orbits
        int nearest = 0;
        for (int i = 1; i < rest; ++i)
            if (hypot(re[i] - 1, im[i]) < hypot(re[nearest] - 1, im[nearest])) nearest = i;
        for (int i = nearest; i + 1 < rest; ++i) {
            re[i] = re[i + 1], im[i] = im[i + 1];
            if (vectors) carom_copy(cycle_column(vectors, i, n), cycle_column(vectors, i + 1, n), n);
        }
        --*count, ++*trivial;
    }
    // directions that closed contacts have taken; those of joints are no states
    int joints = 0;
    if (s->p.ne > 0) {
        for (int id = 0; id < s->p.ne; ++id) joints += 2 * carom_system_directions(&s->p.sys, id);
    }
    *lost = n - joints - m - carom_cycle_hidden(c);
    if (*lost < 0) *lost = 0;
    free(P);
    return status;
}

// -- life -----------------------------------------------------------------------------------------------------------

// "A=B": two coordinates that change places.
static carom_status read_exchange(carom_cycle *c, const char *text) {
    const carom_shooter *s = &c->s;
    const char *sign = strchr(text, '=');
    int at[2] = {-1, -1};
    for (int i = 0; i < s->nq && sign && s->nq == s->nv; ++i) {
        const char *name = carom_model_coordinate(s->task.base, i);
        if (strlen(name) == (size_t)(sign - text) && strncmp(name, text, strlen(name)) == 0) at[0] = i;
        if (strcmp(name, sign + 1) == 0) at[1] = i;
    }
    if (s->nq != s->nv) return carom_fail(c->err, CAROM_UNSUPPORTED, "`exchange` does not support rotations in space");
    if (at[0] < 0 || at[1] < 0 || at[0] == at[1] || c->partner[at[0]] != at[0] || c->partner[at[1]] != at[1])
        return carom_fail(c->err, CAROM_BAD_INPUT,
                          "`exchange %.60s`: write A=B with two coordinates of the model, each of them once", text);
    c->partner[at[0]] = at[1], c->partner[at[1]] = at[0];
    return CAROM_OK;
}

static carom_status read_exchanges(carom_cycle *c, const char *const *list) {
    if (!list || !list[0]) return CAROM_OK;
    c->partner = calloc((size_t)c->s.nv + 1, sizeof *c->partner);
    if (!c->partner) return carom_orbit_no_memory(c->err);
    for (int i = 0; i < c->s.nv; ++i) c->partner[i] = i;
    for (int i = 0; list[i]; ++i) CAROM_TRY(read_exchange(c, list[i]));
    return CAROM_OK;
}

void carom_cycle_expect(carom_cycle *c, bool near) {
    c->near = near;
    c->most = near ? 10 : 40, c->halvings = near ? 2 : 8;
    c->good = GOOD, c->enough = ENOUGH;
    expect_noise(c);
}

carom_status carom_cycle_open(carom_cycle *c, const char *period, const char *const *exchanges, const char *by,
                              carom_error *err) {
    carom_shooter *s = &c->s;
    c->err = err;
    c->fold = 1;
    c->expression = strcmp(period, "free") == 0 ? NULL : period;
    if (!c->nearer)
        c->nearer = c->expression ? "`transient T`, or a `start` nearer to the orbit"
                                  : "`transient T`, a longer `end`, or a `start` nearer to the orbit";
    c->steps = 1;
    carom_cycle_expect(c, false);
    const char *const observe[] = {c->expression ? period : s->response, c->expression ? s->response : NULL, NULL};
    if (observe[0]) s->task.model.observe = observe, s->task.option = c->expression ? "`period`" : "`response`";
    s->observed = c->expression != NULL;
    carom_status status = carom_shooter_open(s, by, err);
    s->task.model.observe = NULL;
    CAROM_TRY(status);
    c->rtol = s->run_rtol, c->noise = 1;
    const size_t n = (size_t)s->n, x = (size_t)s->nx, N = 2 * n + 3;
    double **part[] = {&c->x,   &c->y, &c->first, &c->shift, &c->sym, &c->r,    &c->r_0,    &c->by,
                       &c->tau, &c->A, &c->B,     &c->b,     &c->z,   &c->work, &c->learnt, &c->slope, &c->least};
    const size_t all = s->few ? 0 : 1; // there is no matrix
    const size_t size[] = {x, x,     x,           x,           all * n * n, n,     n,                    n + 2, n + 2,
                           all * N * N, all * N * N, N, N, 3 * N, all * 2 * LEARNT * N, n, n};
    c->room = (int)N;
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) {
        *part[i] = calloc(size[i] + 1, sizeof(double));
        if (!*part[i]) return carom_orbit_no_memory(err);
    }
    c->col = calloc(N, sizeof *c->col);
    if (!c->col) return carom_orbit_no_memory(err);
    CAROM_TRY(read_exchanges(c, exchanges));
    if (!c->expression) return CAROM_OK;
    if (carom_model_observes_state(s->task.base, 0))
        return carom_fail(err, CAROM_BAD_INPUT,
                          "`period`: '%.80s' depends on the state or on time; give an expression of parameters",
                          period);
    CAROM_TRY(carom_shooter_observe(s, &c->T, &c->T_p));
    if (!(c->T > 0) || !isfinite(c->T))
        return carom_fail(err, CAROM_BAD_INPUT, "`period`: '%.80s' must be positive, got %.9g", period, c->T);
    return CAROM_OK;
}

void carom_cycle_close(carom_cycle *c) {
    carom_shooter_close(&c->s);
    double *part[] = {c->x,   c->y, c->first, c->shift, c->sym, c->r,    c->r_0,    c->by,
                      c->tau, c->A, c->B,     c->b,     c->z,   c->work, c->learnt, c->slope, c->least};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) free(part[i]);
    free(c->col), free(c->partner);
    *c = (carom_cycle){0};
}

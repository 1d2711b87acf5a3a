// locus.c: curves of events in two parameters.
//
//     F(u, A, B) = 0,   g(u, A, B) = 0,   tau (du, dA, dB) = 0 (LOC-1)
//
// with F the equations of equilibria or orbits and g a function that vanishes at the event:
//
//     fold:      [M b; c' 0] (w; g) = (0; 1),  M = F_u, b and c its null vectors at the last point (LOC-2) branch:    F
//     + beta psi = 0, this g, and psi.F_A = 0 with psi the left null vector                            (LOC-3)
//     quadrature: Re X_1 = 0, the first harmonic of a response against cos of the excitation (LOC-5) doubling:  prod
//     (mu_i + 1);   torus: prod_{i<j} (mu_i mu_j - 1);   hopf: prod_{i<j} (lambda_i + lambda_j)     (LOC-4)
//
// Products are symmetric in the eigenvalues, so they are smooth where these collide; each is divided by its other
// factors at the last point.  Orbits that graze are found by (GRZ-1) along the normal of the curve in the plane of both
// parameters, in which it is smooth.
#include "base/missing.h"
#include "base/tolerance.h"
#include "dynamics/border.h"
#include "dynamics/curve.h"
#include "dynamics/names.h"
#include "dynamics/vanish.h"
#include "io/table.h"
#include "linalg/dense.h"
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double STEP = 0.05, FIRST = 0.1, SMALLEST = 1e-4; // steps: the longest; of it the first, the shortest
static const double DELTA = 1e-5, FINE = 1e-6;                 // in units of the unknowns: differences of g; where it
                                                               // bends, as beside weak impacts
static const double GOOD = 1e-10, ENOUGH = 1e-8; // of a correction: to end with; where it falls no further
static const double CUT = 1e-13;                 // of a matrix that has cancelled
static const double SHARP = 0.94;                // cosine of the largest turn in a step
static const double LEAST = 0.05;                // a factor of (LOC-4) that is not critical counts as no less
static const double REAL = 1e-3;                 // beta of (LOC-3): the curve is one of three parameters
static const double SETTLED = 1e-9;              // of a step: a point that is located; of a range: a value inside
static const double MOVED = 0.01;                // of the range: a grazing orbit so far from the event is another one
static const double ASIDE = 1e-3;                // of the range: how far a line of search lies beside the start
static const double NEAR = 1e-6;                 // of a step: an interval that counts as a point
static const double NOUGHT = 1e-13;              // of the fastest rate: a drag that is rounding
static const double WEAK = 1e-3;                 // of typical speeds: an impact beside grazing
static const double WEAKER = 0.3;                // of the speed of an impact: from there on its end is looked for
static const double SHRUNK = 1e-5, LOCATED = 1e-10; // of the range: where orbits vanish is known; as well as it can be
static const double BESIDE = 1e-5;               // of the range: from grazing to an orbit that does not touch
enum { TESTS = 8, MOST_POINTS = 1000, NEWTON = 10 };
enum { QUICK = 4, SLOW = 6 }; // iterations: steps may grow; derivatives are too rough
enum { OWN = 3 }; // where orbits vanish: parameters and period, before the positions

// One-sided; central; central ones with a smaller step.
typedef enum differences { ONE_SIDED, CENTRAL, CENTRAL_FINE } differences;

typedef struct locus {
    carom_locus *l;
    const carom_locus_def *def;
    carom_follow_def follow; // of the curve
    carom_curve k;
    const carom_model *m;
    carom_locus_kind kind;
    bool orbits;
    int nq, nv, ntau, N, U;                  // N: unknowns of F with A; U: with B, and beta
    double other, size[2], beta;             // B; ranges
    double *F, *J, *K, *S, *b, *c, *w, *psi; // S: ntau x N, unknowns as tangents
    double *A, *A_0, *rhs, *z, *work;        // of Newton's method; A_0: U x U without its last row
    int *col, *pivot;
    double *tau, *tau_1, *by, *x, *least, *most;
    double norm;     // log of the other factors of (LOC-4), at the last point
    double unit;     // of eigenvalues there: g is smooth where all of them vanish
    double critical; // cos of the angle of the pair (torus), square of its frequency (hopf)
    bool complex_pair;
    double coefficient; // of the bifurcation, (HOP-2) or (DBL-1); NaN: not computed
    double *place, *place_0, *place_1, *place_known;
    bool known;                       // F, J and the response are those at place_known
    double response[CAROM_RESPONSES]; // quadrature
    carom_curve_look look;
    differences how;  // of steps along the curve
    double ahead[2];  // direction of the curve in the plane at the last point
    int ntouch;       // numbers of states that touch
    double *touch[4]; // of the last two points, of the next one, scratch
    carom_vanishing small; // folds of orbits of a period of their own, that may shrink to an equilibrium
    carom_vanishing weak;  // orbits with an impact that becomes weak
    const char *contact;   // of it
    double *rest, uncertain; // that equilibrium: both parameters, the period, positions; the error, of the ranges
    double *half, *half_1; // of these: from x to x(T/2), at the last point and at the next one
    long room;
    carom_error *err;
} locus;

typedef struct test {
    double value;
    const char *name;
    bool genuine, ends;
} test;

static carom_status no_memory(carom_error *err) {
    return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for a curve");
}

const char *carom_locus_word(carom_locus_kind kind) {
    static const char *const word[CAROM_LOCUS_KINDS] = {"fold",  "branch",  "hopf",      "doubling",
                                                        "torus", "grazing", "quadrature"};
    return word[kind];
}

static carom_status set_other(locus *s, double B) {
    const double at[2] = {0, B}, way[2] = {1, 0};
    s->k.save(s->k.user, s->place);
    s->other = B;
    return s->k.aim(s->k.user, at, way, s->place[0]);
}

static double first_value(locus *s) {
    s->k.save(s->k.user, s->place);
    return s->place[0];
}

// -- g --------------------------------------------------------------------------------------------------------------

typedef struct factor {
    double size;
    int i, j;
} factor;

// (LOC-4)  The product in logarithms, and its least factor.  `without`: eigenvalues left out, -1: none.
static carom_signed product(const carom_curve_look *l, carom_locus_kind kind, double unit, int without_i, int without_j,
                            bool all, factor *least, double *rest) {
    double log_size = 0, angle = 0, others = 0;
    *least = (factor){INFINITY, -1, -1};
    for (int i = 0; i < l->n; ++i)
        for (int j = kind == CAROM_LOCUS_DOUBLING || kind == CAROM_LOCUS_FOLD ? i : i + 1; j < l->n; ++j) {
            if ((kind == CAROM_LOCUS_DOUBLING || kind == CAROM_LOCUS_FOLD) && j != i) break;
            const bool out = i == without_i || i == without_j, out_2 = j == without_i || j == without_j;
            if (all ? out || out_2 : out && out_2) continue;
            const double complex a = l->re[i] + I * l->im[i], b = l->re[j] + I * l->im[j];
            const double complex f = kind == CAROM_LOCUS_DOUBLING ? a + 1
                                     : kind == CAROM_LOCUS_FOLD   ? (unit > 0 ? a / unit : a - 1)
                                     : kind == CAROM_LOCUS_HOPF   ? (a + b) / unit
                                                                  : a * b - 1;
            const double size = cabs(f);
            const bool conjugate = l->im[i] != 0 && l->re[i] == l->re[j] && l->im[i] == -l->im[j];
            log_size += log(fmax(size, CAROM_NOT_ZERO)), angle += carg(f), others += log(fmax(size, LEAST));
            const double rank = size * (conjugate || i == j ? 1 : 1.000001); // of equal ones, a pair
            if (rank < least->size) *least = (factor){rank, i, j};
        }
    if (least->i >= 0) others -= log(fmax(least->size, LEAST));
    *rest = others;
    return (carom_signed){cos(angle) < 0 ? -1 : 1, log_size};
}

// A unit of eigenvalues of equilibria.
static double unit_of(const locus *s) {
    double most = 0;
    for (int i = 0; i < s->look.n; ++i) most = fmax(most, hypot(s->look.re[i], s->look.im[i]));
    return s->orbits ? 0 : fmax(most, CAROM_NOT_ZERO);
}

static bool bordered(const locus *s) { return s->kind == CAROM_LOCUS_FOLD || s->kind == CAROM_LOCUS_BRANCH; }

// (LOC-2)  K = [M b; c' 0]: w, psi and g
static bool solve_border(locus *s, double *g) {
    const int n = s->N - 1, N = s->N;
    for (int transposed = 0; transposed < 2; ++transposed) {
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) s->K[i + j * N] = transposed ? s->J[j + i * n] : s->J[i + j * n];
        for (int i = 0; i < n; ++i)
            s->K[i + n * N] = transposed ? s->c[i] : s->b[i], s->K[n + i * N] = transposed ? s->b[i] : s->c[i];
        s->K[n + n * N] = 0;
        double *x = transposed ? s->psi : s->w;
        carom_zero(x, N);
        x[n] = 1;
        if (!carom_dense_lu(s->K, N, N, CUT, s->pivot)) return false;
        carom_dense_lu_solve(s->K, N, N, s->pivot, x);
        *g = x[n];
        const double length = carom_length(x, n);
        for (int i = 0; i < n && transposed; ++i) x[i] /= length;
    }
    return true;
}

// F, J and the response at the solution as it is; nothing is done where they are known.
static carom_status find_equations(locus *s, int *N) {
    const int n = s->k.nplace;
    s->k.save(s->k.user, s->place), s->place[n] = s->other;
    *N = s->N;
    if (s->known && memcmp(s->place, s->place_known, (size_t)(n + 1) * sizeof *s->place) == 0) return CAROM_OK;
    s->known = false;
    if (s->kind == CAROM_LOCUS_QUADRATURE) CAROM_TRY(s->k.response(s->k.user, s->response));
    CAROM_TRY(s->k.equations(s->k.user, s->F, s->J, N));
    carom_copy(s->place_known, s->place, n + 1);
    s->known = true;
    return CAROM_OK;
}

// F, J and g, two of them at branch points, at the solution as it is.
static carom_status evaluate(locus *s, double g[2]) {
    int N = 0;
    CAROM_TRY(find_equations(s, &N));
    if (s->N > 0 && N != s->N)
        return s->known = false, carom_fail(s->err, CAROM_NOT_CONVERGED, "other contacts are closed");
    s->N = N;
    if (bordered(s)) {
        if (!solve_border(s, &g[0])) return carom_fail(s->err, CAROM_SINGULAR, "the equations are singular");
        g[1] = carom_dot(s->psi, s->J + (size_t)(N - 1) * (size_t)(N - 1), N - 1);
        return CAROM_OK;
    }
    CAROM_TRY(s->k.look(s->k.user, &s->look));
    factor least;
    double rest;
    if (s->kind == CAROM_LOCUS_QUADRATURE) {
        g[0] = s->response[1] / s->norm * cos(s->response[2] * atan(1) / 45), g[1] = 0;
        s->coefficient = s->response[1];
        return CAROM_OK;
    }
    const carom_signed x = product(&s->look, s->kind, s->unit, -1, -1, false, &least, &rest);
    if (least.i < 0) return carom_fail(s->err, CAROM_NOT_CONVERGED, "there are no eigenvalues");
    g[0] = x.sign * exp(fmin(x.log_size - s->norm, 300)), g[1] = 0;
    const double complex a = s->look.re[least.i] + I * s->look.im[least.i],
                         b = s->look.re[least.j] + I * s->look.im[least.j];
    s->complex_pair = s->look.im[least.i] != 0;
    s->critical = s->kind == CAROM_LOCUS_TORUS ? creal(a + b) / 2 : s->kind == CAROM_LOCUS_HOPF ? creal(a * b) : 0;
    return CAROM_OK;
}

// What g is measured by, at the last point.
static carom_status refresh(locus *s) {
    int N = 0;
    CAROM_TRY(find_equations(s, &N));
    s->N = N, s->U = N + 1 + (s->kind == CAROM_LOCUS_BRANCH);
    if (bordered(s))
        return carom_null_vector(s->J, N - 1, false, s->c) && carom_null_vector(s->J, N - 1, true, s->b)
                   ? CAROM_OK
                   : no_memory(s->err);
    CAROM_TRY(s->k.look(s->k.user, &s->look));
    factor least;
    if (s->kind == CAROM_LOCUS_QUADRATURE) return s->norm = fmax(s->response[1], CAROM_NOT_ZERO), CAROM_OK;
    s->unit = unit_of(s);
    product(&s->look, s->kind, s->unit, -1, -1, false, &least, &s->norm);
    return CAROM_OK;
}

// -- (LOC-1) --------------------------------------------------------------------------------------------------------

// All derivatives at the solution as it is: A_0, S.  The place stays.
static carom_status differentiate(locus *s, differences how) {
    const bool both = how != ONE_SIDED;
    const double delta = how == CENTRAL_FINE ? FINE : DELTA;
    const int N = s->N, n = N - 1, U = s->U, gs = s->kind == CAROM_LOCUS_BRANCH ? 2 : 1;
    double g[2], g_1[2], *F = s->work;
    const double B = s->other;
    CAROM_TRY(evaluate(s, g));
    carom_zero(s->A_0, (ptrdiff_t)U * U);
    carom_copy(F, s->F, n);
    for (int j = 0; j < N; ++j)
        for (int i = 0; i < n; ++i) s->A_0[i + j * U] = s->J[i + j * n];
    for (int i = 0; i < n && gs == 2; ++i) s->A_0[i + (N + 1) * U] = s->psi[i];
    for (int j = 0; j < N; ++j) {
        carom_zero(s->z, N);
        s->z[j] = 1;
        s->k.spread(s->k.user, s->z, s->S + (size_t)j * (size_t)s->ntau);
    }
    s->k.save(s->k.user, s->place_0);
    carom_status status = CAROM_OK;
    for (int j = 0; j <= N && status == CAROM_OK; ++j)
        for (int side = both ? -1 : 1; side <= 1 && status == CAROM_OK; side += 2) {
            const double by = side * delta, part = 1 / (both ? 2 * by : by);
            status = j < N ? s->k.predict(s->k.user, s->S + (size_t)j * (size_t)s->ntau, by)
                           : set_other(s, B + by * s->size[1]);
            if (status == CAROM_OK) status = evaluate(s, g_1);
            for (int k = 0; k < gs; ++k) s->A_0[n + k + j * U] += (g_1[k] - (both ? 0 : g[k])) * part;
            for (int i = 0; i < n && j == N; ++i) s->A_0[i + j * U] += (s->F[i] - (both ? 0 : F[i])) * part;
            if (j == N && status == CAROM_OK) status = set_other(s, B);
            if (status == CAROM_OK) status = s->k.restore(s->k.user, s->place_0);
        }
    return status == CAROM_OK ? evaluate(s, g) : status;
}

static void last_row(locus *s, const double *tau) {
    for (int j = 0; j < s->N; ++j)
        s->A[s->U - 1 + j * s->U] = carom_dot(tau, s->S + (size_t)j * (size_t)s->ntau, s->ntau);
    s->A[s->U - 1 + s->N * s->U] = tau[s->ntau];
}

static carom_status solve(locus *s, const double *tau) {
    carom_copy(s->A, s->A_0, (ptrdiff_t)s->U * s->U);
    last_row(s, tau);
    carom_dense_shortest(s->A, s->U, s->U, CUT, s->col, s->work, s->rhs, s->z);
    return isfinite(carom_norm_max(s->z, s->U))
               ? CAROM_OK
               : carom_fail(s->err, CAROM_SINGULAR, "the equations of the curve are singular");
}

static carom_status move(locus *s, const double *tau, double by) {
    CAROM_TRY(s->k.predict(s->k.user, tau, by));
    return tau[s->ntau] == 0 ? CAROM_OK : set_other(s, s->other + by * tau[s->ntau] * s->size[1]);
}

// Newton's method with the derivatives that there are, which learn from its steps (Broyden).
static carom_status correct(locus *s, const double *tau, int *iterations) {
    const int n = s->N - 1, U = s->U, gs = s->kind == CAROM_LOCUS_BRANCH ? 2 : 1;
    double last = INFINITY, g[2];
    int grown = 0; // a first correction may be the smaller one by chance
    for (*iterations = 0; *iterations < NEWTON; ++*iterations) {
        CAROM_TRY(evaluate(s, g));
        carom_zero(s->rhs, U);
        for (int i = 0; i < n; ++i) s->rhs[i] = -s->F[i] - (gs == 2 ? s->beta * s->psi[i] : 0);
        for (int k = 0; k < gs; ++k) s->rhs[n + k] = -g[k];
        if (*iterations > 0) { // A += r d'/d'd, r = what is left
            const double size = carom_dot(s->z, s->z, U);
            for (int j = 0; j < U && size > 0; ++j)
                carom_axpy(s->A_0 + (size_t)j * (size_t)U, -s->z[j] / size, s->rhs, U - 1);
        }
        CAROM_TRY(solve(s, tau));
        const double far = carom_norm_max(s->z, U);
        if (far < GOOD || (far < ENOUGH && far > 0.5 * last)) return CAROM_OK;
        grown = far > 2 * last ? grown + 1 : 0;
        if (far > 0.3 || grown > 1) break;
        last = far;
        carom_zero(s->by, s->ntau + 1);
        for (int j = 0; j < s->N; ++j) carom_axpy(s->by, s->z[j], s->S + (size_t)j * (size_t)s->ntau, s->ntau);
        s->by[s->ntau] = s->z[s->N];
        if (gs == 2) s->beta += s->z[s->N + 1];
        CAROM_TRY(move(s, s->by, 1));
    }
    return carom_fail(s->err, CAROM_NOT_CONVERGED, "no point of the curve was found");
}

// The tangent at the solution as it is, in the direction of tau.
static carom_status turn(locus *s, double *tau, differences how) {
    CAROM_TRY(refresh(s));
    CAROM_TRY(differentiate(s, how));
    carom_zero(s->rhs, s->U);
    s->rhs[s->U - 1] = 1;
    CAROM_TRY(solve(s, tau));
    carom_zero(tau, s->ntau + 1);
    for (int j = 0; j < s->N; ++j) carom_axpy(tau, s->z[j], s->S + (size_t)j * (size_t)s->ntau, s->ntau);
    tau[s->ntau] = s->z[s->N];
    const double length = carom_length(tau, s->ntau + 1);
    for (int i = 0; i <= s->ntau; ++i) tau[i] /= length;
    return length > 0 ? CAROM_OK : carom_fail(s->err, CAROM_SINGULAR, "the curve has no tangent");
}

// -- points of codimension two ----------------------------------------------------------------------------------------

static int put_test(test *t, int n, double value, const char *name, bool genuine, bool ends) {
    return t[n] = (test){value, name, genuine, ends}, n + 1;
}

// What else vanishes: a further eigenvalue at its border, each with the name that it has together with that of the
// curve.
static carom_status put_products(locus *s, test *t, int *count) {
    int n = *count;
    const double unit = unit_of(s);
    factor own = {0, -1, -1}, least;
    double rest;
    product(&s->look, s->kind == CAROM_LOCUS_BRANCH ? CAROM_LOCUS_FOLD : s->kind, unit, -1, -1, false, &own, &rest);
    static const char *const of_orbits[3][3] = {{"resonance 1:1", "fold-flip", "fold-torus"},
                                                {"fold-flip", "double-flip", "flip-torus"},
                                                {"fold-torus", "flip-torus", "double-torus"}};
    static const char *const of_rests[2][2] = {{"bogdanov-takens", "zero-hopf"}, {"zero-hopf", "double-hopf"}};
    static const carom_locus_kind kinds[3] = {CAROM_LOCUS_FOLD, CAROM_LOCUS_DOUBLING, CAROM_LOCUS_TORUS};
    const int mine = s->kind == CAROM_LOCUS_DOUBLING                               ? 1
                     : s->kind == CAROM_LOCUS_TORUS || s->kind == CAROM_LOCUS_HOPF ? 2
                                                                                   : 0;
    for (int k = 0; k < 3; ++k) {
        if (!s->orbits && k == 1) continue;
        const carom_locus_kind kind = k == 2 && !s->orbits ? CAROM_LOCUS_HOPF : kinds[k];
        const bool same = k == mine;
        const carom_signed x = product(&s->look, kind, unit, same || k == 2 || mine == 2 ? own.i : -1,
                                       same || k == 2 || mine == 2 ? own.j : -1, true, &least, &rest);
        const bool pair = k < 2 || (least.i >= 0 && s->look.im[least.i] != 0);
        double drag = NAN; // (LOC-6)  smooth, where the second eigenvalue is the other one of a double zero
        if (!s->orbits && same && mine == 0) CAROM_TRY(s->k.drag(s->k.user, s->b, s->c, &drag));
        if (fabs(drag) < NOUGHT * unit) drag = 0;
        const char *name = s->orbits ? of_orbits[mine][k] : of_rests[mine == 2][k == 2];
        const double others = least.i < 0 ? NAN : x.sign * exp(fmax(-300, fmin(300, x.log_size - rest)));
        n = put_test(t, n, isnan(drag) ? others : drag, name, pair, false);
    }
    *count = n;
    return CAROM_OK;
}

static carom_status tests(locus *s, const double *tau, test *t, int *count) {
    int n = 0;
    if (bordered(s)) CAROM_TRY(s->k.look(s->k.user, &s->look));
    if (s->kind == CAROM_LOCUS_FOLD)
        n = put_test(t, n, tau[s->ntau - 1] * s->ahead[0] + tau[s->ntau] * s->ahead[1], "cusp", true, false);
    if (s->kind == CAROM_LOCUS_HOPF) n = put_test(t, n, s->critical, "bogdanov-takens", true, true);
    if (s->kind == CAROM_LOCUS_TORUS) {
        static const double at[4] = {1, -1, -0.5, 0};
        static const char *const name[4] = {"resonance 1:1", "resonance 1:2", "resonance 1:3", "resonance 1:4"};
        for (int i = 0; i < 4; ++i) n = put_test(t, n, s->critical - at[i], name[i], true, i < 2);
    }
    double c = NAN;
    if (s->kind == CAROM_LOCUS_QUADRATURE) return *count = 0, CAROM_OK;
    s->coefficient = NAN;
    if (s->k.first_lyapunov && (s->kind == CAROM_LOCUS_HOPF || s->kind == CAROM_LOCUS_DOUBLING)) {
        const carom_status status = s->k.first_lyapunov(s->k.user, &c);
        if (status == CAROM_STOPPED || status == CAROM_NO_MEMORY) return status;
        if (status == CAROM_OK)
            s->coefficient = c;
        else
            c = NAN;
        n = put_test(t, n, c, s->kind == CAROM_LOCUS_HOPF ? "bautin" : "generalised-doubling", true, false);
    }
    *count = n;
    return s->kind == CAROM_LOCUS_TORUS ? CAROM_OK : put_products(s, t, count);
}

// -- rows -----------------------------------------------------------------------------------------------------------

enum { HEAD = 8 }; // part, A, B, period, stable, frequency, event, coefficient

static bool add_column(carom_table *t, carom_column_kind kind, const char *name) {
    carom_column *c = &t->column[t->columns];
    c->name = malloc(strlen(name) + 1), c->kind = kind;
    if (!c->name) return false;
    strcpy(c->name, name);
    return ++t->columns;
}

static carom_status make_table(locus *s) {
    carom_table *t = &s->l->curve;
    t->name = malloc(sizeof "curve"), t->column = calloc((size_t)(HEAD + s->nq + s->nv) + 1, sizeof *t->column);
    if (!t->name || !t->column) return no_memory(s->err);
    strcpy(t->name, "curve");
    bool good = add_column(t, CAROM_COLUMN_INTEGER, "part") && add_column(t, CAROM_COLUMN_REAL, s->def->by[0]) &&
                add_column(t, CAROM_COLUMN_REAL, s->def->by[1]) && add_column(t, CAROM_COLUMN_REAL, "period") &&
                add_column(t, CAROM_COLUMN_INTEGER, "stable") && add_column(t, CAROM_COLUMN_REAL, "frequency") &&
                add_column(t, CAROM_COLUMN_TEXT, "event") &&
                add_column(t, CAROM_COLUMN_REAL, s->kind == CAROM_LOCUS_QUADRATURE ? "amplitude" : "coefficient");
    for (int i = 0; i < s->nq; ++i)
        good =
            good && (carom_model_hidden(s->m, i) || add_column(t, CAROM_COLUMN_REAL, carom_model_coordinate(s->m, i)));
    for (int i = 0; i < s->nv; ++i)
        good =
            good && (carom_model_presses(s->m, i) || add_column(t, CAROM_COLUMN_REAL, carom_model_velocity(s->m, i)));
    return good ? CAROM_OK : no_memory(s->err);
}

// How many eigenvalues are unstable beside those that are on the border all along the curve.
static bool is_stable(locus *s) {
    factor own = {0, -1, -1};
    double rest;
    if (s->kind < CAROM_LOCUS_GRAZING)
        product(&s->look, s->kind == CAROM_LOCUS_BRANCH ? CAROM_LOCUS_FOLD : s->kind, unit_of(s), -1, -1, false, &own,
                &rest);
    for (int i = 0; i < s->look.n; ++i) {
        const double off = s->orbits ? hypot(s->look.re[i], s->look.im[i]) - 1 : s->look.re[i];
        if (off > s->look.noise && i != own.i && i != own.j) return false;
    }
    return true;
}

static carom_status add_row(locus *s, int part, double A, double B, const char *event) {
    carom_table *t = &s->l->curve;
    if (!carom_curve_room(t, &s->room)) return no_memory(s->err);
    double period = 0, frequency = NAN;
    CAROM_TRY(s->k.row(s->k.user, &period, s->x, s->least, s->most));
    if (s->kind == CAROM_LOCUS_HOPF) frequency = sqrt(fmax(0, s->critical));
    if (s->kind == CAROM_LOCUS_TORUS) frequency = acos(fmax(-1, fmin(1, s->critical))) / period;
    char *text = malloc(strlen(event) + 1);
    if (!text) return no_memory(s->err);
    strcpy(text, event);
    const long r = t->rows;
    t->column[0].integer[r] = part, t->column[1].real[r] = A, t->column[2].real[r] = B, t->column[3].real[r] = period,
    t->column[4].integer[r] = is_stable(s);
    t->column[5].real[r] = frequency, t->column[6].text[r] = text, t->column[7].real[r] = s->coefficient;
    int at = HEAD;
    for (int i = 0; i < s->nq + s->nv; ++i)
        if (i < s->nq ? !carom_model_hidden(s->m, i) : !carom_model_presses(s->m, i - s->nq))
            t->column[at++].real[r] = s->x[i];
    ++t->rows;
    return CAROM_OK;
}

// -- the curve --------------------------------------------------------------------------------------------------------

static bool fatal(carom_status status) { return status == CAROM_STOPPED || status == CAROM_NO_MEMORY; }

typedef struct here {
    double *place, *tau, B, beta;
} here;

// The point at `by` along the tangent of the last one.  Its derivatives are in A_0; the new ones are found if these do
// not lead there.
static carom_status step_to(locus *s, const here *from, double by, int *iterations) {
    for (int round = 0; round < 2; ++round) {
        CAROM_TRY(set_other(s, from->B));
        CAROM_TRY(s->k.restore(s->k.user, from->place));
        s->beta = from->beta;
        if (round) CAROM_TRY(differentiate(s, s->how));
        CAROM_TRY(move(s, from->tau, by));
        const carom_status status = correct(s, from->tau, iterations);
        if (status == CAROM_OK || fatal(status) || round) return status;
    }
    return CAROM_OK;
}

static bool inside(const locus *s, double A, double B, double slack) {
    const double x[2] = {A, B};
    for (int i = 0; i < 2; ++i) {
        const double low = fmin(s->def->from[i], s->def->to[i]), high = fmax(s->def->from[i], s->def->to[i]);
        if (!(x[i] >= low - slack * s->size[i] && x[i] <= high + slack * s->size[i])) return false;
    }
    return true;
}

// A test that has another sign at the end of the step than at its start vanishes in between: regula falsi (Illinois).
static carom_status locate(locus *s, const here *from, double ds, const test *a, const test *b, int which, int part,
                           bool *ends) {
    carom_bracket k = {.b = ds, .f_a = a[which].value, .f_b = b[which].value};
    test t[2 * TESTS];
    int iterations, n = 0;
    double last = 0;
    *ends = false;
    bool genuine = a[which].genuine, sharp = false;
    for (int i = 0, failed = 0; i < 60 && failed < 4; ++i) {
        // where the equations of the curve are singular, as at double zeros, beside them
        static const double beside[4] = {0, 0.38, 0.62, 0.9};
        double by = failed ? k.a + beside[failed] * (k.b - k.a) : carom_bracket_next(&k);
        if (!(by > k.a && by < k.b)) by = (k.a + k.b) / 2;
        carom_status status = step_to(s, from, by, &iterations);
        carom_copy(s->tau_1, from->tau, s->ntau + 1);
        if (status == CAROM_OK && s->kind == CAROM_LOCUS_FOLD && which == 0) status = turn(s, s->tau_1, CENTRAL);
        if (status == CAROM_OK) status = tests(s, s->tau_1, t, &n);
        if (fatal(status)) return status;
        if (status != CAROM_OK || which >= n || isnan(t[which].value)) {
            ++failed;
            continue;
        }
        genuine = t[which].genuine, failed = 0;
        sharp = fabs(by - last) < SETTLED * ds || k.b - k.a < SETTLED * ds || t[which].value == 0;
        last = by;
        if (sharp) break;
        carom_bracket_cut(&k, by, t[which].value, (t[which].value < 0) == (k.f_a < 0));
    }
    if (!genuine) return CAROM_OK; // two real eigenvalues whose sum or product passes its border: nothing happens
    *ends = a[which].ends;
    char name[60];
    if (!sharp) { // as near as solutions were found, with a question mark where that is not near
        const carom_status status = step_to(s, from, k.a, &iterations);
        if (status != CAROM_OK) return fatal(status) ? status : CAROM_OK;
        CAROM_TRY(tests(s, from->tau, t, &n));
    }
    snprintf(name, sizeof name, "%.50s%s", a[which].name, sharp || k.b - k.a < NEAR * ds ? "" : "?");
    return add_row(s, part, first_value(s), s->other, name);
}

static void note_end(locus *s, int part, double A, double B) {
    if (s->l->note.code != CAROM_OK) return;
    const carom_error why = *s->err;
    carom_fail(&s->l->note, why.code == CAROM_OK ? CAROM_NOT_CONVERGED : why.code,
               "part %d ends at %.60s = %.9g, %.60s = %.9g: %.400s", part, s->def->by[0], A, s->def->by[1], B,
               why.code == CAROM_OK ? "the sequence of contacts changes" : why.text);
}

// On to the border of the ranges, which lies before ds: bisection on the step, then the last point inside.
static carom_status to_border(locus *s, const here *from, double ds, int part) {
    double low = 0, high = ds;
    int iterations;
    for (int i = 0; i < 50 && high - low > CAROM_SAME; ++i) {
        const double by = (low + high) / 2;
        const carom_status status = step_to(s, from, by, &iterations);
        if (fatal(status)) return status;
        if (status == CAROM_OK && inside(s, first_value(s), s->other, 0))
            low = by;
        else
            high = by;
        if (high - low < SETTLED && low > 0) break;
    }
    test t[2 * TESTS];
    CAROM_TRY(step_to(s, from, low, &iterations));
    CAROM_TRY(tests(s, from->tau, t, &iterations));
    return add_row(s, part, first_value(s), s->other, "");
}

// An event has come near the start of the orbit: it begins elsewhere, and the curve goes the same way in the plane of
// both parameters.  Newton's method for an orbit alone is singular on curves of folds and crossings, and may end at the
// errors of the runs there.
static carom_status settle(locus *s, double *tau) {
    bool moved = false;
    int iterations;
    const carom_status status = s->k.settle(s->k.user, &moved);
    if (fatal(status) || !moved) return status;
    s->weak.kept = 0; // speeds are in other units, phases are other ones
    carom_zero(tau, s->ntau - 1);
    if (status != CAROM_OK) CAROM_TRY(s->k.linearise(s->k.user));
    CAROM_TRY(turn(s, tau, s->how));
    return status == CAROM_OK ? CAROM_OK : correct(s, tau, &iterations);
}

// Folds of orbits end at a Hopf point that is neither sub- nor supercritical, where they vanish.
static bool may_vanish(const locus *s) {
    return s->kind == CAROM_LOCUS_FOLD && s->orbits && isfinite(s->k.slowest(s->k.user));
}

// The limit of such orbits, as it is known now.  *known: as well as it will be; errors of smaller orbits grow.
static void watch(locus *s, const carom_vanishing *v, bool *known) {
    double *limit = s->by, error[2];
    *known = false;
    if (!carom_vanishing_limit(v, limit, error)) {
        s->uncertain = INFINITY;
        return;
    }
    const double now = fmax(error[0] / s->size[0], error[1] / s->size[1]);
    *known = now < LOCATED || (s->uncertain < SHRUNK && now > s->uncertain);
    if (!(now < s->uncertain)) return;
    s->uncertain = now;
    carom_copy(s->rest, limit, v->n);
}

// The last row, with the ranges that it has taken, may be one of those that lead to an equilibrium.
static void watch_size(locus *s, bool *known) {
    const carom_table *t = &s->l->curve;
    double *own = s->by;
    for (int i = 0; i < OWN; ++i) own[i] = t->column[1 + i].real[t->rows - 1];
    for (int i = 0; i < s->nq; ++i) own[OWN + i] = (s->least[i] + s->most[i]) / 2;
    carom_vanishing_add(&s->small, own, s->least, s->most);
    watch(s, &s->small, known);
}

// Curves end where an impact ends to be one.  Beside that, all is smooth in its speed, while the radius of Newton's
// method is like the square of it.
static void watch_impact(locus *s, bool *known) {
    const carom_table *t = &s->l->curve;
    const double speed = s->k.weakest(s->k.user, &s->contact);
    double *own = s->by;
    *known = false;
    if (!isfinite(speed)) {
        s->weak.kept = 0, s->uncertain = INFINITY;
        return;
    }
    for (int i = 0; i < OWN; ++i) own[i] = t->column[1 + i].real[t->rows - 1];
    carom_copy(own + OWN, s->x, s->nq + s->nv);
    carom_vanishing_put(&s->weak, own, speed);
    watch(s, &s->weak, known);
}

// The equilibrium to which the last orbits shrink, or the orbit that grazes.  *found: it is in the table.
static carom_status end_at_limit(locus *s, int part, bool *found) {
    const double *own = s->rest;
    const bool grazes = !may_vanish(s);
    carom_table *t = &s->l->curve;
    char text[80] = "bautin";
    *found = s->uncertain < SHRUNK && inside(s, own[0], own[1], SHRUNK);
    if (!*found) return CAROM_OK;
    if (grazes) snprintf(text, sizeof text, "grazing %.60s", s->contact);
    CAROM_TRY(add_row(s, part, own[0], own[1], text));
    const long r = t->rows - 1;
    t->column[3].real[r] = own[2];
    if (!grazes) t->column[5].real[r] = 8 * atan(1) / own[2];
    int at = HEAD;
    for (int i = 0; i < s->nq; ++i)
        if (!carom_model_hidden(s->m, i)) t->column[at++].real[r] = own[OWN + i];
    for (int i = 0; i < s->nv; ++i)
        if (!carom_model_presses(s->m, i)) t->column[at++].real[r] = grazes ? own[OWN + s->nq + i] : 0;
    return CAROM_OK;
}

// Between two orbits of the curve both halves have changed places: there the orbit has vanished.
static carom_status turned_over(locus *s, const here *from, bool *over) {
    *over = false;
    if (!may_vanish(s) || !carom_vanishing_small(&s->small)) return CAROM_OK;
    CAROM_TRY(s->k.across(s->k.user, s->half_1));
    s->k.save(s->k.user, s->place_0);
    const double B = s->other;
    CAROM_TRY(set_other(s, from->B));
    CAROM_TRY(s->k.restore(s->k.user, from->place));
    CAROM_TRY(s->k.across(s->k.user, s->half));
    *over = carom_dot(s->half, s->half_1, s->ntau) < 0;
    CAROM_TRY(set_other(s, B));
    return s->k.restore(s->k.user, s->place_0);
}

// From the first point, along tau.
static carom_status walk(locus *s, int part, const double *start, double B_0, const double *tau_0, here *at) {
    const double longest = s->def->step > 0 ? s->def->step : STEP;
    const int most = s->def->max_points > 0 ? s->def->max_points : MOST_POINTS;
    double ds = FIRST * longest, way = 0;
    test a[2 * TESTS], b[2 * TESTS];
    int n = 0, n_1 = 0, iterations = 0;
    CAROM_TRY(set_other(s, B_0));
    CAROM_TRY(s->k.restore(s->k.user, start));
    s->beta = 0;
    carom_copy(at->tau, tau_0, s->ntau + 1);
    s->how = ONE_SIDED;
    CAROM_TRY(turn(s, at->tau, s->how));
    CAROM_TRY(s->k.keep(s->k.user, at->tau));
    s->small.kept = s->weak.kept = 0, s->uncertain = INFINITY;
    differences tangent = s->how;
    for (;;) {
        s->k.save(s->k.user, at->place);
        at->B = s->other, at->beta = s->beta;
        const double plane = hypot(at->tau[s->ntau - 1], at->tau[s->ntau]), A = at->place[0];
        for (int i = 0; i < 2; ++i) s->ahead[i] = at->tau[s->ntau - 1 + i] / fmax(plane, CAROM_NOT_ZERO);
        if (n == 0) CAROM_TRY(tests(s, at->tau, a, &n)); // else they are those of the end of the last step
        if (s->kind == CAROM_LOCUS_FOLD) a[0].value = plane;
        if (s->kind == CAROM_LOCUS_HOPF) s->coefficient = a[1].value; // behind that of Bogdanov and Takens
        if (s->kind == CAROM_LOCUS_DOUBLING) s->coefficient = a[0].value;
        CAROM_TRY(add_row(s, part, A, at->B, ""));
        bool good = false, over = false;
        if (may_vanish(s)) watch_size(s, &over);
        else if (s->orbits) watch_impact(s, &over);
        if (over) CAROM_TRY(end_at_limit(s, part, &over));
        if (over) return CAROM_OK;
        if (s->l->curve.rows >= most) return CAROM_OK;
        if (way > 4 * longest) { // is it back where it began?
            s->k.apart(s->k.user, start, s->by);
            s->by[s->ntau] = (at->B - B_0) / s->size[1];
            if (carom_length(s->by, s->ntau + 1) < 0.75 * ds) return add_row(s, part, A, at->B, "closed");
        }
        carom_status status = CAROM_OK;
        for (; !good; ds /= 2) {
            if (ds < SMALLEST * longest) {
                CAROM_TRY(end_at_limit(s, part, &over));
                if (over) return CAROM_OK;
                char text[120];
                const bool same = s->k.same(s->k.user);
                s->k.describe(s->k.user, same, text, sizeof text);
                CAROM_TRY(set_other(s, at->B));
                CAROM_TRY(s->k.restore(s->k.user, at->place));
                CAROM_TRY(s->k.linearise(s->k.user));
                if (status == CAROM_OK) s->err->code = CAROM_OK;
                note_end(s, part, A, at->B);
                return add_row(s, part, A, at->B, same ? "end" : text);
            }
            if (s->how != tangent) { // that of one-sided differences may point elsewhere
                CAROM_TRY(set_other(s, at->B));
                CAROM_TRY(s->k.restore(s->k.user, at->place));
                CAROM_TRY(turn(s, at->tau, s->how));
                tangent = s->how;
            }
            status = step_to(s, at, ds, &iterations);
            if (fatal(status)) return status;
            if (status != CAROM_OK || iterations > SLOW) s->how = CENTRAL_FINE;
            if (status != CAROM_OK || !s->k.same(s->k.user)) continue;
            carom_copy(s->tau_1, at->tau, s->ntau + 1);
            s->k.save(s->k.user, s->place_1);
            status = turn(s, s->tau_1, s->how);
            if (fatal(status)) return status;
            good = status == CAROM_OK && carom_dot(s->tau_1, at->tau, s->ntau + 1) > SHARP;
            if (good) break;
        }
        CAROM_TRY(turned_over(s, at, &over));
        if (over) CAROM_TRY(end_at_limit(s, part, &over));
        if (over) return CAROM_OK;
        const double B = s->other, value = first_value(s), beta = s->beta;
        if (s->kind == CAROM_LOCUS_BRANCH && fabs(beta) > REAL * ds)
            return carom_fail(s->err, CAROM_UNSUPPORTED,
                              "branch points are isolated in these two parameters: without a symmetry they form curves "
                              "in three parameters only");
        CAROM_TRY(tests(s, s->tau_1, b, &n_1));
        bool ended = false;
        double *kept = malloc(((size_t)s->ntau + 1) * sizeof *kept);
        if (!kept) return no_memory(s->err);
        carom_copy(kept, s->tau_1, s->ntau + 1);
        carom_copy(s->place, s->place_1, s->k.nplace);
        double *place = malloc((size_t)s->k.nplace * sizeof *place);
        if (!place) return free(kept), no_memory(s->err);
        carom_copy(place, s->place_1, s->k.nplace);
        status = CAROM_OK;
        bool located = false;
        for (int i = 0; i < n && i < n_1 && status == CAROM_OK && !ended; ++i)
            if ((a[i].value < 0) != (b[i].value < 0) && !isnan(a[i].value) && !isnan(b[i].value))
                located = true, status = locate(s, at, ds, a, b, i, part, &ended);
        if (status == CAROM_OK && !ended && !inside(s, value, B, 0)) status = to_border(s, at, ds, part), ended = true;
        if (status == CAROM_OK && !ended && located) {
            status = set_other(s, B);
            if (status == CAROM_OK) status = s->k.restore(s->k.user, place);
            carom_copy(s->tau_1, kept, s->ntau + 1);
            s->beta = beta;
            if (status == CAROM_OK) status = turn(s, s->tau_1, s->how);
        }
        carom_copy(at->tau, kept, s->ntau + 1);
        memcpy(a, b, sizeof a), n = n_1;
        free(kept), free(place);
        if (status != CAROM_OK || ended) return status;
        tangent = s->how;
        CAROM_TRY(settle(s, at->tau));
        CAROM_TRY(s->k.keep(s->k.user, at->tau));
        way += ds;
        if (iterations <= QUICK)
            ds = fmin(1.5 * ds, longest);
        else if (iterations > SLOW)
            ds *= 0.7;
    }
}

// -- orbits that graze ------------------------------------------------------------------------------------------------

// A point of the plane, in units of the ranges.
typedef struct spot {
    double x[2];
} spot;

// The orbit with approach speed y on the line through `at` along the normal of u; *sigma: how far.
static carom_status touch_on(locus *s, const spot *at, const double *u, double y, double *sigma) {
    const double origin[2] = {at->x[0] * s->size[0], at->x[1] * s->size[1]},
                 way[2] = {-u[1] * s->size[0] / s->size[0], u[0] * s->size[1] / s->size[0]};
    // the line is measured in units of the first range, as the curve has it
    CAROM_TRY(s->k.aim(s->k.user, origin, way, 0));
    CAROM_TRY(s->k.touch(s->k.user, y));
    *sigma = first_value(s) / s->size[0];
    return CAROM_OK;
}

static void along(const spot *at, const double *u, double sigma, spot *to) {
    to->x[0] = at->x[0] - sigma * u[1], to->x[1] = at->x[1] + sigma * u[0];
}

// How the parameters must move for a weak impact, per speed in units of typical ones: it vanishes where grazing is
// degenerate.  exact: its limit for speed 0, by extrapolation.
static carom_status weak_side(locus *s, const spot *at, const double *u, bool exact, double *side) {
    double sigma = 0, x[3] = {0};
    const double speed = WEAK * s->k.typical(s->k.user);
    *side = NAN;
    for (int i = exact ? 2 : 0; i >= 0; --i) {
        const carom_status status = touch_on(s, at, u, speed / (1 << i), &sigma);
        if (status != CAROM_OK) return fatal(status) ? status : CAROM_OK;
        x[i] = sigma / WEAK * (1 << i);
    }
    *side = exact ? (8 * x[2] - 6 * x[1] + x[0]) / 3 : x[0]; // a_0 of a_0 + a_1 y + a_2 y^2
    return CAROM_OK;
}

// The orbit that touches at a point of the curve, as it was found.
static carom_status put_touching(locus *s, const spot *at, double *touched) {
    const double origin[2] = {at->x[0] * s->size[0], at->x[1] * s->size[1]}, way[2] = {1, 0};
    CAROM_TRY(s->k.aim(s->k.user, origin, way, 0));
    s->k.touching(s->k.user, touched, true);
    return CAROM_OK;
}

static carom_status grazing_row(locus *s, int part, const spot *at, const char *event) {
    s->look.n = 0;
    return add_row(s, part, at->x[0] * s->size[0], at->x[1] * s->size[1], event);
}

// The next point: ds along u from `at`; states that touch are extrapolated.
static carom_status next_grazing(locus *s, const spot *at, const double *u, double ds, double before, spot *to) {
    double sigma = 0;
    const spot guess = {{at->x[0] + ds * u[0], at->x[1] + ds * u[1]}};
    for (int i = 0; i < s->ntouch; ++i)
        s->touch[3][i] = s->touch[1][i] + (before > 0 ? ds / before : 0) * (s->touch[1][i] - s->touch[0][i]);
    s->k.touching(s->k.user, s->touch[3], true);
    CAROM_TRY(touch_on(s, &guess, u, 0, &sigma));
    if (fabs(sigma) > 0.5 * ds) return carom_fail(s->err, CAROM_NOT_CONVERGED, "the curve turns too fast");
    along(&guess, u, sigma, to);
    return CAROM_OK;
}

// Where the weak impact changes sides, between `at` and ds further along u.
static carom_status locate_degenerate(locus *s, int part, const spot *at, const double *u, double ds, double before,
                                      double side, double there) {
    carom_bracket k = {.b = ds, .f_a = side, .f_b = there};
    spot found = *at;
    double last = 0, *touched = malloc((size_t)s->ntouch * sizeof *touched);
    carom_status status = touched ? CAROM_OK : no_memory(s->err);
    bool good = false;
    for (int i = 0; i < 40 && status == CAROM_OK && !good; ++i) {
        double by = carom_bracket_next(&k), value = NAN;
        if (!(by > k.a && by < k.b)) by = (k.a + k.b) / 2;
        status = next_grazing(s, at, u, by, before, &found);
        if (status == CAROM_OK)
            s->k.touching(s->k.user, touched, false), status = weak_side(s, &found, u, true, &value);
        if (status != CAROM_OK || isnan(value)) break;
        good = fabs(by - last) < SETTLED * ds;
        last = by;
        carom_bracket_cut(&k, by, value, (value < 0) == (k.f_a < 0));
    }
    if (status == CAROM_OK && good) status = put_touching(s, &found, touched);
    if (status == CAROM_OK && good) status = grazing_row(s, part, &found, "degenerate-grazing");
    free(touched);
    return fatal(status) ? status : CAROM_OK;
}

static carom_status walk_grazing(locus *s, int part, const spot *start, const double *first, const double *u_0) {
    const double longest = s->def->step > 0 ? s->def->step : STEP;
    const int most = s->def->max_points > 0 ? s->def->max_points : MOST_POINTS, n = s->ntouch;
    double ds = FIRST * longest, before = 0, u[2] = {u_0[0], u_0[1]}, side = NAN, way = 0;
    spot at = *start;
    carom_copy(s->touch[0], first, n), carom_copy(s->touch[1], first, n);
    CAROM_TRY(put_touching(s, &at, s->touch[1]));
    CAROM_TRY(grazing_row(s, part, &at, ""));
    CAROM_TRY(weak_side(s, &at, u, false, &side));
    while (s->l->curve.rows < most) {
        spot next;
        double turned = 0, there = NAN;
        for (; ds > SMALLEST * longest; ds /= 2) {
            const carom_status status = next_grazing(s, &at, u, ds, before, &next);
            if (fatal(status)) return status;
            const double dx = next.x[0] - at.x[0], dy = next.x[1] - at.x[1];
            turned = (dx * u[0] + dy * u[1]) / fmax(hypot(dx, dy), CAROM_NOT_ZERO);
            if (status == CAROM_OK && turned > SHARP) break;
        }
        if (!(ds > SMALLEST * longest)) {
            note_end(s, part, at.x[0] * s->size[0], at.x[1] * s->size[1]);
            CAROM_TRY(put_touching(s, &at, s->touch[1]));
            return grazing_row(s, part, &at, "end");
        }
        if (!inside(s, next.x[0] * s->size[0], next.x[1] * s->size[1], 0)) {
            double low = 0, high = ds;
            spot last = at;
            for (int i = 0; i < 40 && high - low > SETTLED; ++i) {
                const double by = (low + high) / 2;
                const carom_status status = next_grazing(s, &at, u, by, before, &next);
                if (fatal(status)) return status;
                if (status == CAROM_OK && inside(s, next.x[0] * s->size[0], next.x[1] * s->size[1], 0))
                    low = by, last = next;
                else
                    high = by;
            }
            return low > 0 ? grazing_row(s, part, &last, "") : CAROM_OK;
        }
        const double length = hypot(next.x[0] - at.x[0], next.x[1] - at.x[1]),
                     v[2] = {(next.x[0] - at.x[0]) / length, (next.x[1] - at.x[1]) / length};
        s->k.touching(s->k.user, s->touch[2], false);
        carom_status status = weak_side(s, &next, u, false, &there);
        if (status == CAROM_OK && side * there < 0)
            status = locate_degenerate(s, part, &at, u, ds, before, side, there);
        if (status == CAROM_OK) status = put_touching(s, &next, s->touch[2]);
        if (status == CAROM_OK) status = grazing_row(s, part, &next, "");
        carom_copy(s->touch[0], s->touch[1], n), carom_copy(s->touch[1], s->touch[2], n);
        CAROM_TRY(status);
        before = length, way += length, side = there, at = next;
        u[0] = v[0], u[1] = v[1];
        if (way > 4 * longest && hypot(at.x[0] - start->x[0], at.x[1] - start->x[1]) < 0.75 * ds)
            return grazing_row(s, part, &at, "closed");
        if (turned > 0.995) ds = fmin(1.5 * ds, longest);
    }
    return CAROM_OK;
}

// Both ways from the orbit that touches here.  The first tangent: the parameter that grazes a little beside, on
// lines along one axis, then along the other.
static carom_status walk_both_ways(locus *s, double *first) {
    const spot start = {{first_value(s) / s->size[0], s->other / s->size[1]}};
    carom_status status = CAROM_NOT_CONVERGED;
    double u[2] = {0, 1};
    s->k.touching(s->k.user, first, false);
    for (int i = 0; i < 4 && status != CAROM_OK; ++i) {
        const double d = ASIDE * (i % 2 ? -1 : 1), normal[2] = {i < 2 ? 0 : 1, i < 2 ? 1 : 0};
        const spot aside = {{start.x[0] + d * normal[0], start.x[1] + d * normal[1]}};
        double sigma = 0;
        s->k.touching(s->k.user, first, true);
        status = touch_on(s, &aside, normal, 0, &sigma);
        if (fatal(status)) return status;
        if (status == CAROM_OK && fabs(sigma) > 3 * fabs(d)) status = CAROM_NOT_CONVERGED;
        spot there;
        along(&aside, normal, sigma, &there);
        u[0] = there.x[0] - start.x[0], u[1] = there.x[1] - start.x[1];
    }
    const double length = hypot(u[0], u[1]);
    for (int part = 1; part <= 2 && status == CAROM_OK; ++part) {
        const double way[2] = {(part == 1 ? u[0] : -u[0]) / length, (part == 1 ? u[1] : -u[1]) / length};
        status = walk_grazing(s, part, &start, first, way);
    }
    return status;
}

static carom_status follow_grazing(locus *s) {
    char text[120];
    carom_status status = CAROM_NOT_CONVERGED;
    const double first = first_value(s),
                 shift[] = {0, BESIDE, -BESIDE, 10 * BESIDE, -10 * BESIDE, 100 * BESIDE, -100 * BESIDE};
    for (size_t i = 0; i < sizeof shift / sizeof *shift && status != CAROM_OK; ++i) {
        const double at[2] = {0, s->other}, way[2] = {1, 0};
        status = s->k.aim(s->k.user, at, way, first + shift[i] * s->size[0]);
        if (status == CAROM_OK) status = s->k.begin(s->k.user);
        if (status == CAROM_OK) status = s->k.linearise(s->k.user);
        if (status == CAROM_OK) status = s->k.graze(s->k.user, NULL, text, sizeof text);
        if (status == CAROM_OK && fabs(first_value(s) - first) > MOVED * s->size[0])
            status = carom_fail(s->err, CAROM_NOT_CONVERGED, "no orbit that grazes was found at the event");
        if (fatal(status)) return status;
    }
    if (status == CAROM_OK) status = s->k.precise(s->k.user, true);
    CAROM_TRY(status);
    s->ntouch = s->k.touching(s->k.user, NULL, false);
    const size_t n = (size_t)s->ntouch;
    double *own = calloc(5 * n, sizeof *own);
    if (!own) return no_memory(s->err);
    for (size_t i = 0; i < 4; ++i) s->touch[i] = own + (i + 1) * n;
    status = walk_both_ways(s, own);
    free(own);
    return status;
}

// -- all of it --------------------------------------------------------------------------------------------------------

static carom_status follow_smooth(locus *s) {
    int iterations;
    bool moved;
    CAROM_TRY(s->k.begin(s->k.user));
    CAROM_TRY(s->k.linearise(s->k.user));
    CAROM_TRY(s->k.settle(s->k.user, &moved));
    if (s->k.precise) CAROM_TRY(s->k.precise(s->k.user, true));
    CAROM_TRY(refresh(s));
    CAROM_TRY(differentiate(s, s->how));
    // the event exactly: the second parameter stays
    carom_zero(s->tau, s->ntau + 1);
    s->tau[s->ntau] = 1;
    carom_status status = correct(s, s->tau, &iterations);
    for (int k = 0; k < 2 && (status == CAROM_NOT_CONVERGED || status == CAROM_SINGULAR); ++k) { // or the first one
        const carom_error kept = *s->err;
        if (k > 0) s->how = CENTRAL_FINE;
        CAROM_TRY(s->k.begin(s->k.user));
        CAROM_TRY(s->k.settle(s->k.user, &moved));
        CAROM_TRY(refresh(s));
        CAROM_TRY(differentiate(s, s->how));
        carom_zero(s->tau, s->ntau + 1);
        s->tau[s->ntau - 1] = 1;
        status = correct(s, s->tau, &iterations);
        if (status != CAROM_OK && !fatal(status)) *s->err = kept;
    }
    if (status != CAROM_OK) {
        const carom_error why = *s->err;
        return fatal(status) ? status
                             : carom_fail(s->err, status, "no %s was found at the start of the curve: %.400s",
                                          carom_locus_word(s->kind), why.text);
    }
    if (s->kind == CAROM_LOCUS_TORUS && !s->complex_pair)
        return carom_fail(s->err, CAROM_BAD_INPUT,
                          "the multipliers at the start are real: it is no torus bifurcation but a neutral saddle");
    CAROM_TRY(turn(s, s->tau, s->how));
    const double start_B = s->other;
    const size_t nplace = (size_t)s->k.nplace, ntau = (size_t)s->ntau + 1;
    double *start = malloc((2 * nplace + 2 * ntau) * sizeof *start);
    if (!start) return no_memory(s->err);
    double *tau = start + nplace;
    here at = {.tau = tau + ntau, .place = tau + 2 * ntau};
    s->k.save(s->k.user, start), carom_copy(tau, s->tau, s->ntau + 1);
    for (int part = 1; part <= 2 && status == CAROM_OK; ++part) {
        status = walk(s, part, start, start_B, tau, &at);
        const carom_table *t = &s->l->curve;
        if (t->rows > 0 && strcmp(t->column[6].text[t->rows - 1], "closed") == 0) break;
        for (int i = 0; i <= s->ntau; ++i) tau[i] = -tau[i];
    }
    free(start);
    return status;
}

static carom_status run(locus *s) {
    const carom_locus_def *def = s->def;
    for (int i = 0; i < 2; ++i) {
        if (!def->by[i] || def->from[i] == def->to[i] || !isfinite(def->from[i]) || !isfinite(def->to[i]))
            return carom_fail(s->err, CAROM_BAD_INPUT, "`by`: give NAME=A:B twice, with two different numbers each");
        s->size[i] = fabs(def->to[i] - def->from[i]);
    }
    if (strcmp(def->by[0], def->by[1]) == 0)
        return carom_fail(s->err, CAROM_BAD_INPUT, "`by`: give two different parameters, got %.60s twice", def->by[0]);
    s->orbits = def->period != NULL;
    if (s->kind == CAROM_LOCUS_QUADRATURE && !def->response)
        return carom_fail(s->err, CAROM_BAD_INPUT, "`curve quadrature` needs a branch with `response NAME`");
    if (s->orbits ? s->kind == CAROM_LOCUS_HOPF : s->kind >= CAROM_LOCUS_DOUBLING)
        return carom_fail(s->err, CAROM_BAD_INPUT, "`curve %s` belongs to %s", carom_locus_word(s->kind),
                          s->orbits ? "equilibria" : "orbits");
    s->follow = (carom_follow_def){.model = def->model,
                                   .run = def->run,
                                   .start = def->start,
                                   .period = def->period,
                                   .guess = def->guess,
                                   .exchange = def->exchange,
                                   .response = def->response,
                                   .by = def->by[0],
                                   .from = def->from[0],
                                   .to = def->to[0],
                                   .stop = def->stop,
                                   .user = (void *)(size_t)def->user};
    CAROM_TRY(s->orbits ? carom_curve_orbits(&s->k, &s->follow, def->by[1], &s->m, &s->l->scheme, s->err)
                        : carom_curve_rests(&s->k, &s->follow, def->by[1], &s->m, &s->l->scheme, s->err));
    const carom_system *sys = carom_model_system(s->m);
    s->nq = sys->nq, s->nv = sys->nv, s->ntau = s->k.ntau;
    const size_t n = (size_t)s->ntau + 4, nplace = (size_t)s->k.nplace, nx = (size_t)(s->nq + s->nv) + 2;
    double **part[] = {&s->F,       &s->J,       &s->K,       &s->S,        &s->b,       &s->c,     &s->w,
                       &s->psi,     &s->A,       &s->A_0,     &s->rhs,      &s->z,       &s->work,  &s->tau,
                       &s->tau_1,   &s->by,      &s->x,       &s->least,    &s->most,    &s->place, &s->place_0,
                       &s->place_1, &s->place_known, &s->look.re, &s->look.im, &s->half, &s->half_1, &s->rest};
    const size_t size[] = {n,
                           n * n,
                           n * n,
                           n * n,
                           n,
                           n,
                           n,
                           n,
                           n * n,
                           n * n,
                           n,
                           n,
                           4 * n,
                           n,
                           n,
                           n + 3 * nx,
                           nx,
                           nx,
                           nx,
                           nplace,
                           nplace,
                           nplace,
                           nplace,
                           (size_t)s->k.neig + 1,
                           (size_t)s->k.neig + 1,
                           n,
                           n,
                           nx + OWN};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) {
        *part[i] = calloc(size[i] + 1, sizeof **part[i]);
        if (!*part[i]) return no_memory(s->err);
    }
    if (!carom_vanishing_open(&s->small, s->nq, OWN + s->nq) ||
        !carom_vanishing_open(&s->weak, 0, OWN + s->nq + s->nv))
        return no_memory(s->err);
    s->weak.small = WEAKER;
    s->col = calloc(n, sizeof *s->col), s->pivot = calloc(n, sizeof *s->pivot);
    if (!s->col || !s->pivot) return no_memory(s->err);
    CAROM_TRY(make_table(s));
    for (int i = 0, index = 0; i < carom_model_count(s->m).parameters && index < 1; ++i) {
        double value;
        if (strcmp(carom_model_parameter(s->m, i, &value), def->by[1]) == 0) s->other = value, index = 1;
    }
    if (!inside(s, first_value(s), s->other, SETTLED))
        return carom_fail(s->err, CAROM_BAD_INPUT,
                          "`by`: the event lies at %.60s = %.9g, %.60s = %.9g, outside the given ranges", def->by[0],
                          first_value(s), def->by[1], s->other);
    // periods of the excitation in the orbit
    if (s->orbits && strcmp(def->period, "free") != 0 && !isnan(def->guess)) {
        double period = 0;
        CAROM_TRY(s->k.row(s->k.user, &period, s->x, s->least, s->most));
        const int times = (int)fmax(1, fmin(1e3, round(def->guess / period)));
        CAROM_TRY(s->k.multiple(s->k.user, times));
    }
    return s->kind == CAROM_LOCUS_GRAZING ? follow_grazing(s) : follow_smooth(s);
}

carom_status carom_locus_run(carom_locus *l, const carom_locus_def *def, carom_error *err) {
    if (!l || !def) return CAROM_MISSING(err);
    *l = (carom_locus){0};
    locus s = {.l = l, .def = def, .kind = def->kind, .coefficient = NAN, .err = err};
    const carom_status status = run(&s);
    if (s.orbits)
        carom_curve_orbits_close(&s.k);
    else
        carom_curve_rests_close(&s.k);
    double *part[] = {s.F,    s.J,     s.K,       s.S,       s.b,       s.c,       s.w,        s.psi,     s.A,
                      s.A_0,  s.rhs,   s.z,       s.work,    s.tau,     s.tau_1,   s.by,       s.x,       s.least,
                      s.most, s.place, s.place_0, s.place_1, s.place_known, s.look.re, s.look.im, s.half, s.half_1,
                      s.rest};
    for (size_t i = 0; i < sizeof part / sizeof *part; ++i) free(part[i]);
    carom_vanishing_close(&s.small), carom_vanishing_close(&s.weak);
    free(s.col), free(s.pivot);
    return status;
}

carom_status carom_locus_write(const carom_locus *l, const carom_locus_def *def, const char *file, carom_error *err) {
    if (!l || !def || !file) return CAROM_MISSING(err);
    const carom_table_note notes[] = {{"kind", carom_locus_word(def->kind)}, {"by", def->by[0]}, {"and", def->by[1]}};
    const size_t n = strlen(file);
    const bool csv = n > 4 && strcmp(file + n - 4, ".csv") == 0;
    return carom_tables_write(file, &l->curve, 1, notes, csv ? 0 : 3, err);
}

void carom_locus_free(carom_locus *l) {
    if (!l) return;
    carom_table_free(&l->curve);
    *l = (carom_locus){0};
}

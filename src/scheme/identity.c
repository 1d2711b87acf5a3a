// identity.c: see identity.h.
#include "base/tolerance.h"
#include "linalg/matrix.h"
#include "scheme/identity.h"
#include <math.h>

carom_identity carom_allocate_identity(carom_arena *mem, const carom_system *sys, bool asked) {
    carom_identity I = {.asked = asked && sys->flags & CAROM_LINEAR && sys->nq == sys->nv && !sys->move};
    if (!I.asked) return I;
    const size_t nv = (size_t)sys->nv;
    I.M = carom_allocate_matrix(mem, sys->mass_shape);
    I.K = carom_allocate_matrix(mem, sys->tangent_shape);
    I.C = carom_allocate_matrix(mem, sys->tangent_shape);
    CAROM_ALLOCATE(mem, nv, &I.x, &I.y, &I.f_0, &I.f_1);
    return I;
}

static bool equal(const double *a, const double *b) {
    const double x = a ? *a : 0, y = b ? *b : 0;
    return fabs(x - y) <= CAROM_SAME * (fabs(x) + fabs(y));
}

static bool symmetric(carom_matrix A) {
    const carom_pattern *P = A.shape.pattern;
    for (int j = 0; P && j < A.shape.n; ++j)
        for (int e = P->start[j]; e < P->start[j + 1]; ++e)
            if (!equal(A.a + e, carom_matrix_entry(A, j, P->row[e]))) return false;
    if (P) return true;
    const int reach = A.shape.storage == CAROM_DIAGONAL ? 0
                      : A.shape.storage == CAROM_BANDED ? A.shape.band
                                                        : A.shape.n;
    for (int j = 0; j < A.shape.n; ++j)
        for (int i = j + 1; i < A.shape.n && i <= j + reach; ++i)
            if (!equal(carom_matrix_entry(A, i, j), carom_matrix_entry(A, j, i))) return false;
    return true;
}

carom_status carom_identity_begin(carom_identity *I, carom_step *s) {
    if (!I->asked || I->ready) return CAROM_OK;
    CAROM_TRY(carom_mass(s, I->M, s->t, s->q));
    CAROM_TRY(carom_tangent(s, I->K, I->C, s->t, s->q, s->v));
    I->ready = true;
    I->t_1 = NAN;
    I->damped = carom_norm_max(I->C.a, (int)carom_shape_size(I->C.shape)) > 0;
    I->on = symmetric(I->K) && symmetric(I->M);
    return CAROM_OK;
}

carom_status carom_identity_loads(carom_identity *I, carom_step *s, double t_0, double t_1) {
    double *f = I->f_0;
    carom_zero(I->x, I->M.shape.n);
    if (I->t_1 == t_0) {
        I->f_0 = I->f_1;
        I->f_1 = f;
    } else {
        CAROM_TRY(carom_force(s, I->f_0, t_0, I->x, I->x));
    }
    I->t_1 = NAN;
    if (t_0 == t_1) return CAROM_OK; // f_0 serves
    CAROM_TRY(carom_force(s, I->f_1, t_1, I->x, I->x));
    I->t_1 = t_1;
    return CAROM_OK;
}

// -- sums of terms --------------------------------------------------------------------------------------------------

// A term of the balance: its value is added up, its magnitude too.
static double term(double x, double *scale) {
    *scale += fabs(x);
    return x;
}

static double product(const carom_identity *I, const double *x, carom_matrix A, const double *y) {
    carom_matrix_mul(I->y, A, y);
    return carom_dot(x, I->y, A.shape.n);
}

// 1/2 (b'A b - a'A a) as (b - a)'A (a + b)/2, which loses no digits.
static double change(const carom_identity *I, carom_matrix A, const double *a, const double *b, double *scale) {
    const int n = A.shape.n;
    for (int i = 0; i < n; ++i) I->x[i] = 0.5 * (a[i] + b[i]);
    carom_matrix_mul(I->y, A, I->x);
    double step = 0;
    for (int i = 0; i < n; ++i) step += (b[i] - a[i]) * I->y[i];
    *scale += 0.5 * fabs(carom_dot(I->x, I->y, n)); // about the energy itself
    return step;
}

// x (b - a)'A (b - a), not computed for x = 0
static double square(const carom_identity *I, double x, carom_matrix A, const double *a, const double *b,
                     double *scale) {
    if (x == 0) return 0;
    for (int i = 0; i < A.shape.n; ++i) I->x[i] = b[i] - a[i];
    return term(x * product(I, I->x, A, I->x), scale);
}

// x ((1 - th) v_0 + th v_1)'C (...)
static double damping(const carom_identity *I, const carom_balance *b, double x, double theta, double *scale) {
    if (!I->damped) return 0;
    for (int i = 0; i < I->C.shape.n; ++i) I->x[i] = (1 - theta) * b->v_0[i] + theta * b->v_1[i];
    return term(x * product(I, I->x, I->C, I->x), scale);
}

// ((1 - x) a + x b).((1 - y) c + y d)
static double mixed(double x, const double *a, const double *b, double y, const double *c, const double *d, int n) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += ((1 - x) * a[i] + x * b[i]) * ((1 - y) * c[i] + y * d[i]);
    return sum;
}

// -- the identities -------------------------------------------------------------------------------------------------

// (EN-2)  E_1 - E_0 = h v_th.(f_th - C v_th) + (1/2 - th) (|dv|_M^2 + |dq|_K^2) + v_th.W p
//         with x_th = (1 - th) x_0 + th x_1
double carom_identity_theta(const carom_identity *I, const carom_balance *b, double theta, double *scale) {
    const int n = I->M.shape.n;
    double sum = *scale = 0;
    sum += change(I, I->M, b->v_0, b->v_1, scale) + change(I, I->K, b->q_0, b->q_1, scale);
    sum -= square(I, 0.5 - theta, I->M, b->v_0, b->v_1, scale) + square(I, 0.5 - theta, I->K, b->q_0, b->q_1, scale);
    sum -= term(b->h * mixed(theta, b->v_0, b->v_1, theta, b->f_0, b->f_1, n), scale);
    sum -= term(mixed(theta, b->v_0, b->v_1, 0, b->r, b->r, n), scale);
    return sum + damping(I, b, b->h, theta, scale);
}

// (EN-3)  E_1 - E_0 = h v_M.(f(t_th) - C v_M) + (1/2 - th) |dq|_K^2 + v_M.W p,   v_M = (v_0 + v_1)/2
double carom_identity_dissipative(const carom_identity *I, const carom_balance *b, double theta, double *scale) {
    const int n = I->M.shape.n;
    double sum = *scale = 0;
    sum += change(I, I->M, b->v_0, b->v_1, scale) + change(I, I->K, b->q_0, b->q_1, scale);
    sum -= square(I, 0.5 - theta, I->K, b->q_0, b->q_1, scale);
    sum -= term(b->h * mixed(0.5, b->v_0, b->v_1, 0, b->f_0, b->f_0, n), scale);
    sum -= term(mixed(0.5, b->v_0, b->v_1, 0, b->r, b->r, n), scale);
    return sum + damping(I, b, b->h, 0.5, scale);
}

// The part of (EN-5) that needs the step before, with H = 2 alpha (1 - gam):  H d(w'K w) + H |dw|_K^2 - H dq.dy
static double filtered(const carom_identity *I, const carom_balance *b, double H, const double *dq_before,
                       const double *df_before, double *scale) {
    const int n = I->M.shape.n;
    double load = 0, *dq = I->x;
    // w_1'K w_1 - w_0'K w_0 + |w_1 - w_0|_K^2 = 2 w_1'K (w_1 - w_0)
    for (int i = 0; i < n; ++i) {
        dq[i] = b->q_1[i] - b->q_0[i];
        load += dq[i] * 0.5 * (b->f_1[i] - b->f_0[i] - df_before[i]);
    }
    carom_matrix_mul(I->y, I->K, dq);
    double filter = 0;
    for (int i = 0; i < n; ++i) filter += 0.5 * I->y[i] * (dq[i] - dq_before[i]);
    return term(H * filter, scale) - term(H * load, scale);
}

// (EN-4)  with N = h^2/4 (2 beta - gam) a'M a:
//         d(E + N) = dq.f_gam + v_M.W p - (gam - 1/2) (|dq|_K^2 + h^2/2 (2 beta - gam) |da|_M^2)
// (EN-5)  HHT, with H = 2 alpha (1 - gam) w'K w, w = dq/2, y = df/2 besides:
//         d(E + N + H) = dq.f_{gam-alpha} + v_M.W p - (gam - 1/2 - alpha) |dq|_K^2
//                        - h^2/2 (gam - 1/2) (2 beta - gam) |da|_M^2 - 2 alpha (1 - gam) (|dw|_K^2 - dq.dy)
double carom_identity_newmark(const carom_identity *I, const carom_balance *b, double gamma, double beta, double alpha,
                              const double *dq_before, const double *df_before, double *scale) {
    const int n = I->M.shape.n;
    const double h2 = b->h * b->h * (2 * beta - gamma);
    double sum = *scale = 0, unused = 0, work = 0;
    sum += change(I, I->M, b->v_0, b->v_1, scale) + change(I, I->K, b->q_0, b->q_1, scale);
    if (h2 != 0) sum += term(0.5 * h2 * change(I, I->M, b->a_0, b->a_1, &unused), scale);
    sum += square(I, gamma - 0.5 - alpha, I->K, b->q_0, b->q_1, scale) +
           square(I, 0.5 * h2 * (gamma - 0.5), I->M, b->a_0, b->a_1, scale);
    sum -= term(mixed(0.5, b->v_0, b->v_1, 0, b->r, b->r, n), scale);
    for (int i = 0; i < n; ++i)
        work += (b->q_1[i] - b->q_0[i]) * ((1 - gamma + alpha) * b->f_0[i] + (gamma - alpha) * b->f_1[i]);
    sum -= term(work, scale);
    return alpha == 0 ? sum : sum + filtered(I, b, 2 * alpha * (1 - gamma), dq_before, df_before, scale);
}

// -- rules of dissipation -------------------------------------------------------------------------------------------

// (EN-6)  moreau-jean:         (1/2 - th) (|dv|_M^2 + |dq|_K^2) + v_th.W p <= 0  for  1/2 <= th <= 1/(1 + e)
//         moreau-dissipative:  (1/2 - th) |dq|_K^2 + v_M.W p <= 0  for  th >= 1/2
//         newmark:             (1/2 - gam) (|dq|_K^2 + h^2/2 (2 beta - gam) |da|_M^2) + v_M.W p <= 0  for  2 beta >=
//         gam >= 1/2
double carom_rise_theta(const carom_identity *I, const carom_balance *b, double theta) {
    double unused = 0;
    return square(I, 0.5 - theta, I->M, b->v_0, b->v_1, &unused) +
           square(I, 0.5 - theta, I->K, b->q_0, b->q_1, &unused) +
           mixed(theta, b->v_0, b->v_1, 0, b->r, b->r, I->M.shape.n);
}

double carom_rise_dissipative(const carom_identity *I, const carom_balance *b, double theta) {
    double unused = 0;
    return square(I, 0.5 - theta, I->K, b->q_0, b->q_1, &unused) +
           mixed(0.5, b->v_0, b->v_1, 0, b->r, b->r, I->M.shape.n);
}

double carom_rise_newmark(const carom_identity *I, const carom_balance *b, double gamma, double beta) {
    double unused = 0;
    return square(I, 0.5 - gamma, I->K, b->q_0, b->q_1, &unused) +
           mixed(0.5, b->v_0, b->v_1, 0, b->r, b->r, I->M.shape.n) +
           square(I, 0.5 * b->h * b->h * (2 * beta - gamma) * (0.5 - gamma), I->M, b->a_0, b->a_1, &unused);
}

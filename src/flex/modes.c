// modes.c: natural frequencies of a member: the lowest by subspace iteration, a bound of the highest by elements.
//
// (K + sigma M) X_{k+1} = M X_k, then Rayleigh-Ritz on X; sigma > 0 keeps members regular that can fly away.
#include "flex/flex.h"
#include "flex/member.h"
#include "linalg/matrix.h"
#include <math.h>
#include <stdlib.h>

static const double JACOBI = 1e-15;    // off-diagonal part that is left, of the whole
static const double CONVERGED = 1e-12; // relative change of the eigenvalues in an iteration
static const double RIGID = 1e-8;      // of the shift: squares of frequencies below are those of rigid motion

enum { MOST_VECTORS = 24, ROUNDS = 60, MOST_BAND = 10000000 }; // of matrices without order nothing is told

// Eigenvalues (on the diagonal of A) and eigenvectors (columns of Z) of a symmetric p x p matrix, by Jacobi's
// rotations.
static void jacobi(double *A, double *Z, int p) {
    for (int i = 0; i < p * p; ++i) Z[i] = i % (p + 1) == 0;
    for (int sweep = 0; sweep < 60; ++sweep) {
        double off = 0, all = 0;
        for (int j = 0; j < p; ++j)
            for (int i = 0; i < p; ++i) {
                all += A[i + p * j] * A[i + p * j];
                if (i != j) off += A[i + p * j] * A[i + p * j];
            }
        if (!(off > JACOBI * JACOBI * all)) return;
        for (int j = 1; j < p; ++j)
            for (int i = 0; i < j; ++i) {
                const double a = A[i + p * j];
                if (a == 0) continue;
                const double tau = (A[j + p * j] - A[i + p * i]) / (2 * a);
                const double t = (tau < 0 ? -1 : 1) / (fabs(tau) + sqrt(1 + tau * tau)), c = 1 / sqrt(1 + t * t),
                             s = t * c;
                for (int k = 0; k < p; ++k) {
                    const double x = A[k + p * i], y = A[k + p * j];
                    A[k + p * i] = c * x - s * y, A[k + p * j] = s * x + c * y;
                    const double u = Z[k + p * i], w = Z[k + p * j];
                    Z[k + p * i] = c * u - s * w, Z[k + p * j] = s * u + c * w;
                }
                for (int k = 0; k < p; ++k) {
                    const double x = A[i + p * k], y = A[j + p * k];
                    A[i + p * k] = c * x - s * y, A[j + p * k] = s * x + c * y;
                }
            }
    }
}

// Eigenvalues of K z = lambda M z, both p x p, M positive definite; vectors in Z.  False: M is not.
static bool ritz(double *K, double *M, double *Z, int p) {
    double L[MOST_VECTORS * MOST_VECTORS] = {0};
    for (int j = 0; j < p; ++j)
        for (int i = j; i < p; ++i) {
            double x = M[i + p * j];
            for (int k = 0; k < j; ++k) x -= L[i + p * k] * L[j + p * k];
            if (i == j && !(x > 0)) return false;
            L[i + p * j] = i == j ? sqrt(x) : x / L[j + p * j];
        }
    for (int side = 0; side < 2; ++side) // L^-1 K L^-T
        for (int c = 0; c < p; ++c)
            for (int i = 0; i < p; ++i) {
                double *x = side ? &K[c + p * i] : &K[i + p * c];
                for (int k = 0; k < i; ++k) *x -= L[i + p * k] * (side ? K[c + p * k] : K[k + p * c]);
                *x /= L[i + p * i];
            }
    for (int j = 0; j < p; ++j)
        for (int i = 0; i < j; ++i) K[i + p * j] = K[j + p * i] = 0.5 * (K[i + p * j] + K[j + p * i]);
    jacobi(K, Z, p);
    for (int c = 0; c < p; ++c) // vectors: L^-T y
        for (int i = p - 1; i >= 0; --i) {
            for (int k = i + 1; k < p; ++k) Z[i + p * c] -= L[k + p * i] * Z[k + p * c];
            Z[i + p * c] /= L[i + p * i];
        }
    return true;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef struct space {
    carom_matrix K, M;
    carom_factor F; // K + sigma M
    double *X, *Y;  // n x p each
    double value[MOST_VECTORS]; // of the columns of X
    int n, p;
} space;

static void allocate(space *s, carom_arena *mem, const carom_member *m) {
    const carom_shape shape = {.storage = CAROM_BANDED, .n = m->n, .band = m->band};
    s->K = carom_allocate_matrix(mem, shape);
    s->M = carom_allocate_matrix(mem, shape);
    s->F = carom_allocate_factor(mem, shape, true);
    CAROM_ALLOCATE(mem, (size_t)s->n * (size_t)s->p, &s->X, &s->Y);
}

// One round: X <- (K + sigma M)^-1 M X, turned to the Ritz vectors; lambda ascending.
static bool iterate(space *s, double *lambda) {
    const int n = s->n, p = s->p;
    double A[MOST_VECTORS * MOST_VECTORS], B[MOST_VECTORS * MOST_VECTORS], Z[MOST_VECTORS * MOST_VECTORS];
    for (int c = 0; c < p; ++c) {
        double *y = s->Y + (size_t)c * (size_t)n;
        carom_matrix_mul(y, s->M, s->X + (size_t)c * (size_t)n);
        carom_factor_solve(&s->F, y);
    }
    for (int c = 0; c < p; ++c) { // X is scratch here
        const double *y = s->Y + (size_t)c * (size_t)n;
        carom_matrix_mul(s->X, s->K, y);
        for (int r = 0; r < p; ++r) A[r + p * c] = carom_dot(s->Y + (size_t)r * (size_t)n, s->X, n);
        carom_matrix_mul(s->X, s->M, y);
        for (int r = 0; r < p; ++r) B[r + p * c] = carom_dot(s->Y + (size_t)r * (size_t)n, s->X, n);
    }
    for (int c = 0; c < p; ++c)
        for (int r = 0; r < c; ++r) {
            A[r + p * c] = A[c + p * r] = 0.5 * (A[r + p * c] + A[c + p * r]);
            B[r + p * c] = B[c + p * r] = 0.5 * (B[r + p * c] + B[c + p * r]);
        }
    if (!ritz(A, B, Z, p)) return false;
    carom_zero(s->X, n * p);
    for (int c = 0; c < p; ++c)
        for (int r = 0; r < p; ++r)
            carom_axpy(s->X + (size_t)c * (size_t)n, Z[r + p * c], s->Y + (size_t)r * (size_t)n, n);
    for (int c = 0; c < p; ++c) lambda[c] = s->value[c] = A[c + p * c];
    qsort(lambda, (size_t)p, sizeof *lambda, ascending);
    return true;
}

// A frequency squared of the size of the lowest.
static double typical(const carom_member *m) {
    const carom_member_def *d = &m->def;
    if (m->matrices) return carom_flex_matrices_typical(m);
    const double L = d->length, axial = d->modulus / (d->density * L * L);
    if (d->kind == CAROM_BAR) return axial;
    return fmin(axial, d->modulus * d->inertia / (d->density * d->area * L * L * L * L));
}

int carom_member_frequencies(const carom_member *m, int most, double *omega) {
    return carom_member_modes(m, most, omega, NULL);
}

// The columns of X in ascending order of their values, `count` of them.
static void put_modes(const space *s, int count, double *phi) {
    bool taken[MOST_VECTORS] = {false};
    for (int k = 0; k < count; ++k) {
        int best = -1;
        for (int c = 0; c < s->p; ++c)
            if (!taken[c] && (best < 0 || s->value[c] < s->value[best])) best = c;
        taken[best] = true;
        carom_copy(phi + (size_t)k * (size_t)s->n, s->X + (size_t)best * (size_t)s->n, s->n);
    }
}

int carom_member_modes(const carom_member *member, int most, double *omega, double *phi) {
    carom_member plain = *member;
    const carom_member *const m = &plain; // without damping by modes, which is not banded
    plain.nmodal = 0;
    space s = {.n = m->n, .p = most + 8};
    if (s.p > MOST_VECTORS) s.p = MOST_VECTORS;
    if (s.p > s.n) s.p = s.n;
    if (m->light && s.p > s.n / 2) s.p = s.n / 2; // M has not the full rank
    if (s.p < 1 || (double)m->n * m->band > MOST_BAND) return 0;
    carom_arena mem = {0};
    allocate(&s, &mem, m);
    void *block = aligned_alloc(64, mem.used);
    double *rest = calloc((size_t)m->n * 2, sizeof *rest), lambda[MOST_VECTORS], last[MOST_VECTORS] = {0};
    if (!block || !rest) {
        free(block);
        free(rest);
        return -1;
    }
    mem = (carom_arena){.base = block, .size = mem.used};
    allocate(&s, &mem, m);
    carom_matrix_zero(s.K);
    carom_matrix_zero(s.M);
    carom_member_rest(m, rest);
    carom_member_tangent(m, rest, rest + m->n, s.K, s.M, 0);
    carom_matrix_zero(s.M); // C went there
    carom_member_mass(m, s.M, 0);
    const double sigma = typical(m);
    carom_matrix_add(s.K, sigma, s.M);
    int found = 0;
    unsigned seed = 3;
    if (carom_factorise(&s.F, s.K, NULL) == CAROM_OK) {
        carom_matrix_add(s.K, -sigma, s.M);
        for (int i = 0; i < s.n * s.p; ++i) {
            seed = seed * 1664525u + 1013904223u;
            s.X[i] = (double)(seed >> 8) / 8388608.0 - 1;
        }
        const int wanted = most < s.p ? most : s.p;
        for (int round = 0; round < ROUNDS && iterate(&s, lambda); ++round) {
            double change = 0;
            for (int k = 0; k < wanted; ++k) {
                change = fmax(change, fabs(lambda[k] - last[k]) / (fabs(lambda[k]) + sigma));
                last[k] = lambda[k];
            }
            found = wanted;
            if (change < CONVERGED) break;
        }
        for (int k = 0; k < found; ++k) omega[k] = last[k] > RIGID * sigma ? sqrt(last[k]) : 0;
        if (phi) put_modes(&s, found, phi);
    }
    free(block);
    free(rest);
    return found;
}

// The highest eigenvalue of one element alone.
static double highest(const carom_member *m, const double *Ke, const double *Me) {
    const int d = 2 * m->per;
    double K[MOST_ELEMENT * MOST_ELEMENT], M[MOST_ELEMENT * MOST_ELEMENT], Z[MOST_ELEMENT * MOST_ELEMENT], most = 0;
    for (int e = 0; e < d * d; ++e) K[e] = Ke[e], M[e] = Me[e];
    if (!ritz(K, M, Z, d)) return HUGE_VAL;
    for (int i = 0; i < d; ++i) most = fmax(most, K[i + d * i]);
    return most;
}

double carom_member_fastest(const carom_member *m) {
    if (m->light) return HUGE_VAL;
    if (m->matrices) return carom_flex_matrices_fastest(m);
    double most = highest(m, m->Ke, m->Me);
    for (int e = 0; m->shaft && e + 1 < m->nodes; ++e) {
        double Me[MOST_ELEMENT * MOST_ELEMENT] = {0}, Ke[MOST_ELEMENT * MOST_ELEMENT] = {0};
        carom_flex_shaft_matrices(&m->shaft[e], Me, Ke);
        most = fmax(most, highest(m, Ke, Me));
    }
    return sqrt(most);
}

double carom_member_step(const carom_member *m, double stable) {
    const double omega = carom_member_fastest(m), z = 0.5 * m->def.damping_stiffness * omega + m->modal_most;
    if (isnan(omega)) return HUGE_VAL; // nothing is known
    return isfinite(omega) ? stable / omega * (sqrt(1 + z * z) - z) : 0;
}

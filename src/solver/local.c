// local.c: one contact with Coulomb friction.
//
// Spec: docs/solvers.md, "direct".  The cases are tried in the order open, stick, slip; where more than one fits
// (large mu, strong coupling of normal and tangent) the first one counts.
#include "solver/local.h"
#include "contact/operator.h"
#include "linalg/dense.h"

static const double SINGULAR = 1e-14;  // determinant against the product of the diagonal, pivots against the largest:
                                       // rounding

// Slip in the direction s = +-1 of u_T.  Returns how much it contradicts itself, in velocity units.
static double slip(const double *g, int ld, const double *c, double mu, double s, double *p) {
    const double a = g[0] - s * mu * g[ld]; // (SOL-1)  u_N = 0 with p_T = -s mu p_N
    p[0] = a != 0 ? -c[0] / a : 0;
    p[1] = -s * mu * p[0];
    const double backwards = -s * (c[1] + g[1] * p[0] + g[1 + ld] * p[1]);
    const double pulls = a > 0 ? -p[0] * g[0] : INFINITY;
    return fmax(fmax(backwards, pulls), 0);
}

void carom_local_planar(const double *g, int ld, const double *c, double mu, double *p) {
    p[0] = p[1] = 0;
    if (c[0] >= 0) return;
    double pN, pT;
    if (carom_dense_two(g[0], g[ld], g[1], g[1 + ld], -c[0], -c[1], SINGULAR, &pN, &pT) && pN >= 0 &&
        fabs(pT) <= mu * pN) {
        p[0] = pN;
        p[1] = pT;
        return;
    }
    // The direction that the contact would slip in without friction comes first.
    const double s = g[0] > 0 && c[1] - g[1] * c[0] / g[0] < 0 ? -1 : 1;
    const double wrong = slip(g, ld, c, mu, s, p);
    if (wrong == 0) return;
    double q[2];
    if (slip(g, ld, c, mu, -s, q) < wrong) {
        p[0] = q[0];
        p[1] = q[1];
    }
}

// The tangential problem that is left when u_N = 0 has been used to eliminate p_N.
typedef struct {
    double a, b, c, d; // A = [a b; c d] = G_TT - G_TN G_NT / G_NN
    double r0, r1;     // r = c_T - G_TN c_N / G_NN
    double n0, n1;     // G_NT / G_NN
    double pN;         // -c_N / G_NN
    double mu;
} tangent;

// (SOL-2)  (A + alpha I) p_T = -r,  p_N = p_N0 - n.p_T.  False when singular.
static bool at(const tangent *t, double alpha, double *p) {
    const double a = t->a + alpha, d = t->d + alpha, det = a * d - t->b * t->c;
    if (!(fabs(det) > SINGULAR * fabs(a * d))) return false;
    p[1] = (t->b * t->r1 - d * t->r0) / det;
    p[2] = (t->c * t->r0 - a * t->r1) / det;
    p[0] = t->pN - t->n0 * p[1] - t->n1 * p[2];
    return true;
}

// (SOL-3)  phi(alpha) = mu p_N / |p_T| - 1 is nearly a straight line; *slope is its derivative.
static double phi(const tangent *t, double alpha, const double *p, double *slope) {
    const double a = t->a + alpha, d = t->d + alpha, det = a * d - t->b * t->c;
    const double q1 = (t->b * p[2] - d * p[1]) / det, q2 = (t->c * p[1] - a * p[2]) / det; // p_T' = -(A + alpha)^-1 p_T
    const double l2 = p[1] * p[1] + p[2] * p[2], l = sqrt(l2), qN = -(t->n0 * q1 + t->n1 * q2);
    *slope = t->mu * (qN - p[0] * (p[1] * q1 + p[2] * q2) / l2) / l;
    return t->mu * p[0] / l - 1;
}

// The next alpha: Newton inside the bracket, or its middle.
static double closer(double alpha, double f, double slope, double *low, double *high) {
    if (f < 0) *low = alpha;
    else *high = alpha;
    const double next = slope > 0 ? alpha - f / slope : NAN;
    if (next > *low && next < *high) return next;
    return *high < INFINITY ? 0.5 * (*low + *high) : 2 * alpha;
}

// Where the search for alpha begins: where it was found before, or where A = mean I would have it.
static inline double begin_at(double before, double guess, double mean) {
    if (before > 0 && before < INFINITY) return before;
    return guess > mean ? guess - mean : 0.5 * guess;
}

// The root of phi on alpha > 0, to an error of tol.  At 0 phi is negative (it does not stick), and it grows beyond all
// bounds.
static void root(const tangent *t, carom_slip how, double *p) {
    const double guess = sqrt(t->r0 * t->r0 + t->r1 * t->r1) / (t->mu * t->pN);
    double low = 0, high = INFINITY, alpha = begin_at(how.alpha, guess, 0.5 * (t->a + t->d));
    for (int k = 0; k < 100; k++) {
        double slope = 0;
        const double f = at(t, alpha, p) ? phi(t, alpha, p, &slope) : -1;
        if (fabs(f) <= how.tol) return;
        const double next = closer(alpha, f, slope, &low, &high);
        if (next == alpha || !(next < INFINITY)) break;
        alpha = next;
    }
    at(t, alpha, p);
}

void carom_local_spatial(const double *g, int ld, const double *c, double mu, carom_slip how, double *p) {
    p[0] = p[1] = p[2] = 0;
    if (c[0] >= 0 || !(g[0] > 0)) return;
    const double *g1 = g + ld, *g2 = g1 + ld, w = 1 / g[0];
    const tangent t = {.a = g1[1] - g[1] * g1[0] * w, .b = g2[1] - g[1] * g2[0] * w,
                       .c = g1[2] - g[2] * g1[0] * w, .d = g2[2] - g[2] * g2[0] * w,
                       .r0 = c[1] - g[1] * c[0] * w,  .r1 = c[2] - g[2] * c[0] * w,
                       .n0 = g1[0] * w,               .n1 = g2[0] * w,
                       .pN = -c[0] * w,               .mu = mu};
    if (at(&t, 0, p) && p[0] >= 0 && p[1] * p[1] + p[2] * p[2] <= mu * mu * p[0] * p[0]) return; // stick
    if (t.r0 == 0 && t.r1 == 0) { // no tendency to slip at all
        p[0] = t.pN;
        p[1] = p[2] = 0;
        return;
    }
    root(&t, how, p);
    // Put it exactly on the cone and on u_N = 0: what is left is an error of direction.
    const double l = sqrt(p[1] * p[1] + p[2] * p[2]), s1 = p[1] / l, s2 = p[2] / l;
    const double a = g[0] + mu * (g1[0] * s1 + g2[0] * s2);
    if (!(l > 0) || !(a > 0)) return;
    p[0] = -c[0] / a;
    p[1] = mu * p[0] * s1;
    p[2] = mu * p[0] * s2;
}

// The same with k tangents.
typedef struct {
    int k;
    double A[CAROM_TANGENTS * CAROM_TANGENTS], r[CAROM_TANGENTS], n[CAROM_TANGENTS], pN, mu;
    double F[CAROM_TANGENTS * CAROM_TANGENTS]; // factors of A + alpha I
} ball;

static ball reduce(const double *g, int ld, const double *c, int k, double mu) {
    ball b = {.k = k, .pN = -c[0] / g[0], .mu = mu};
    for (int j = 0; j < k; j++) {
        const double *column = g + (size_t)(j + 1) * (size_t)ld;
        b.n[j] = column[0] / g[0];
        b.r[j] = c[j + 1] - g[j + 1] * (c[0] / g[0]);
        for (int i = 0; i < k; i++) b.A[i + j * k] = column[i + 1] - g[i + 1] * b.n[j];
    }
    return b;
}

static inline double dot(const double *x, const double *y, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

// L U = A + alpha I without pivoting, 1/U_ii on the diagonal: A is nearly symmetric, and positive.  False when
// singular.
static inline bool ball_factor(ball *b, double alpha, int k) {
    double *F = b->F, most = 0;
    for (int i = 0; i < k * k; i++) F[i] = b->A[i];
    for (int i = 0; i < k; i++) F[i * (k + 1)] += alpha, most = fmax(most, fabs(F[i * (k + 1)]));
    for (int j = 0; j < k; j++) {
        if (!(F[j * (k + 1)] > SINGULAR * most)) return false;
        F[j * (k + 1)] = 1 / F[j * (k + 1)];
        for (int i = j + 1; i < k; i++) {
            const double l = F[i + j * k] *= F[j * (k + 1)];
            for (int m = j + 1; m < k; m++) F[i + m * k] -= l * F[j + m * k];
        }
    }
    return true;
}

static inline void ball_solve(const ball *b, int k, double *x) {
    for (int j = 0; j < k; j++)
        for (int i = j + 1; i < k; i++) x[i] -= b->F[i + j * k] * x[j];
    for (int j = k; j-- > 0;) {
        x[j] *= b->F[j * (k + 1)];
        for (int i = 0; i < j; i++) x[i] -= b->F[i + j * k] * x[j];
    }
}

// (SOL-2)
static inline bool ball_at(ball *b, double alpha, int k, double *p) {
    if (!ball_factor(b, alpha, k)) return false;
    for (int i = 0; i < k; i++) p[1 + i] = -b->r[i];
    ball_solve(b, k, p + 1);
    p[0] = b->pN - dot(b->n, p + 1, k);
    return true;
}

// (SOL-3); q becomes dp_T/dalpha.
static inline double ball_phi(const ball *b, int k, const double *p, double *q, double *slope) {
    for (int i = 0; i < k; i++) q[i] = -p[1 + i];
    ball_solve(b, k, q);
    const double l2 = dot(p + 1, p + 1, k), l = sqrt(l2);
    *slope = b->mu * (-dot(b->n, q, k) - p[0] * dot(p + 1, q, k) / l2) / l;
    return b->mu * p[0] / l - 1;
}

static inline bool ball_sticks(ball *b, int k, double *p) {
    return ball_at(b, 0, k, p) && p[0] >= 0 && dot(p + 1, p + 1, k) <= b->mu * b->mu * p[0] * p[0];
}

// Sticks, or slips: then as root(), inlined for its number of tangents.  Newton's method squares the error: its last
// step needs no new factors.  A contact that has slipped is asked whether it sticks only where alpha would not be
// positive.  Returns whether it slips.
static inline bool ball_root_of(ball *b, int k, carom_slip how, double *p) {
    const double guess = sqrt(dot(b->r, b->r, k)) / (b->mu * b->pN);
    double low = 0, high = INFINITY, mean = 0;
    bool asked = !(how.alpha > 0);
    if (asked && ball_sticks(b, k, p)) return false;
    for (int i = 0; i < k; i++) mean += b->A[i * (k + 1)] / k;
    double alpha = begin_at(how.alpha, guess, mean);
    for (int it = 0; it < 100; it++) {
        double slope = 0, q[CAROM_TANGENTS];
        const double f = ball_at(b, alpha, k, p) ? ball_phi(b, k, p, q, &slope) : -1;
        if (f * f <= how.tol) {
            for (int i = 0; i < k && slope > 0; i++) p[1 + i] -= f / slope * q[i];
            return true;
        }
        if (!asked && f > 0 && !(slope * alpha > f)) {
            asked = true;
            if (ball_sticks(b, k, p)) return false;
        }
        const double next = closer(alpha, f, slope, &low, &high);
        if (next == alpha || !(next < INFINITY)) break;
        alpha = next;
    }
    ball_at(b, alpha, k, p);
    return true;
}

static bool ball_slips(ball *b, carom_slip how, double *p) {
    if (b->k == 3) return ball_root_of(b, 3, how, p);
    if (b->k == 4) return ball_root_of(b, 4, how, p);
    if (b->k == 5) return ball_root_of(b, 5, how, p);
    return ball_root_of(b, b->k, how, p);
}

void carom_local_ball(const double *g, int ld, const double *c, int tangents, double mu, carom_slip how, double *p) {
    for (int i = 0; i <= tangents; i++) p[i] = 0;
    if (c[0] >= 0 || !(g[0] > 0)) return;
    ball b = reduce(g, ld, c, tangents, mu);
    if (dot(b.r, b.r, tangents) == 0) {
        p[0] = b.pN;
        return;
    }
    if (!ball_slips(&b, how, p)) return;
    const double l = sqrt(dot(p + 1, p + 1, tangents));
    double a = g[0];
    for (int i = 1; i <= tangents && l > 0; i++) a += mu * g[(size_t)i * (size_t)ld] * p[i] / l;
    if (!(l > 0) || !(a > 0)) return;
    p[0] = -c[0] / a;
    for (int i = 1; i <= tangents; i++) p[i] *= mu * p[0] / l;
}

bool carom_local_slides(const double *A, const double *r, int tangents, double limit, double *s) {
    ball b = {.k = tangents, .pN = limit, .mu = 1};
    double p[1 + CAROM_TANGENTS] = {0};
    for (int i = 0; i < tangents * tangents; i++) b.A[i] = A[i];
    for (int i = 0; i < tangents; i++) b.r[i] = r[i];
    const double size = sqrt(dot(r, r, tangents));
    if (size == 0 || (limit > 0 && !ball_slips(&b, CAROM_SLIP_EXACT, p))) return false;
    for (int i = 0; i < tangents; i++) s[i] = -r[i] / size;
    if (!(limit > 0)) return true;
    const double l = sqrt(dot(p + 1, p + 1, tangents));
    for (int i = 0; i < tangents && l > 0; i++) s[i] = p[1 + i] / l;
    return true;
}

void carom_cone_project(const carom_block *b, const double *x, double *y) {
    const int rows = carom_rows_of(b);
    const double mu = b->law >= CAROM_PLANAR ? b->mu : 0;
    double t = 0;
    for (int k = 1; k < rows; k++) t += x[k] * x[k];
    t = sqrt(t);
    if (b->law == CAROM_BILATERAL || (x[0] >= 0 && t <= mu * x[0])) {
        for (int k = 0; k < rows; k++) y[k] = x[k];
        return;
    }
    const double N = mu * t <= -x[0] ? 0 : (x[0] + mu * t) / (1 + mu * mu);
    y[0] = N;
    for (int k = 1; k < rows; k++) y[k] = t > 0 ? mu * N * x[k] / t : 0;
}

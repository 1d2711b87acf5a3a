// scan.c: see scan.h.
#include "event/scan.h"
#include "linalg/matrix.h"
#include "base/swap.h"
#include "system/narrow.h"
#include "system/system.h"
#include <math.h>

static const double SAFE = 4; // (SC-3): twice what a kink needs
enum { GRID = 8, MOST = 400 }; // places where an envelope is looked at; samples in a step

static carom_sample allocate_sample(carom_arena *mem, const carom_system *sys) {
    carom_sample P = {0};
    CAROM_ALLOCATE(mem, (size_t)(3 * sys->nc + sys->events->nk), &P.phi, &P.u, &P.gamma, &P.most);
    if (!sys->events->gap_bounds) return P;
    P.q = carom_allocate(mem, (size_t)sys->nq);
    CAROM_ALLOCATE(mem, (size_t)sys->nv, &P.v, &P.a);
    return P;
}

carom_scan carom_allocate_scan(carom_arena *mem, const carom_system *sys) {
    carom_scan z = {.n = 3 * sys->nc + sys->events->nk};
    const size_t nv = (size_t)sys->nv;
    size_t directions = 0;
    if (z.n == 0 && !carom_system_hides(sys)) return z;
    for (int id = 0; id < sys->ne + sys->nc; ++id) directions += (size_t)carom_system_directions(sys, id);
    z.watched = carom_allocate_bytes(mem, (size_t)z.n * sizeof *z.watched);
    z.left = allocate_sample(mem, sys);
    for (int i = 0; i < CAROM_SCAN_DEPTH; ++i) z.right[i] = allocate_sample(mem, sys);
    z.group = carom_allocate_ints(mem, nv);
    z.kappa = carom_allocate(mem, directions);
    CAROM_ALLOCATE(mem, nv, &z.W_size, &z.v_size, &z.way, &z.v_1, &z.rate_1, &z.mean, &z.doubt, &z.v, &z.a, &z.shift);
    z.q = carom_allocate(mem, (size_t)sys->nq);
    CAROM_ALLOCATE(mem, nv, &z.v_off);
    CAROM_ALLOCATE(mem, (size_t)sys->nc, &z.least, &z.slowest, &z.fastest, &z.change, &z.ends);
    return z;
}

// -- samples ---------------------------------------------------------------------------------------------------------

// Neighbours with the same inertia are one kind: the coordinates of a point.  Only a constant mass says so for good.
static carom_status sort_kinds(carom_scan *z, carom_step *s, double t, const double *q) {
    const int nv = s->sys->nv;
    z->sorted = true;
    for (int i = 0; i < nv; ++i) z->group[i] = i;
    if (!(s->sys->flags & CAROM_CONSTANT_MASS)) return CAROM_OK;
    CAROM_TRY(carom_mass(s, s->M, t, q));
    for (int i = 1; i < nv; ++i)
        if (*carom_matrix_entry(s->M, i, i) == *carom_matrix_entry(s->M, i - 1, i - 1)) z->group[i] = z->group[i - 1];
    return CAROM_OK;
}

void carom_scan_begin(carom_scan *z, double t) {
    z->t = t;
    z->sorted = false;
}

// (SC-2)  |u| <= sum over kinds of |W_kind| |v_kind| + |w|, whatever the direction of W within a kind
static double largest_rate(carom_scan *z, const carom_local *L, int k, const double *v) {
    const carom_entries W = carom_entries_of(&L->W, k);
    double most = fabs(L->w[k]);
    for (int pass = 0; pass < 3; ++pass)
        for (int e = 0; e < W.n; ++e) {
            const int i = carom_entry_row(&W, e), g = z->group[i];
            const double x = W.a[e];
            if (pass == 1) z->W_size[g] += x * x, z->v_size[g] += v[i] * v[i];
            if (pass == 2) most += sqrt(z->W_size[g] * z->v_size[g]);
            if (pass != 1) z->W_size[g] = z->v_size[g] = 0;
        }
    return most;
}

carom_status carom_scan_rates(carom_scan *z, carom_step *s, const carom_local *all, double t, const double *q,
                              const double *v, double *most) {
    if (!z->sorted) CAROM_TRY(sort_kinds(z, s, t, q));
    for (int c = 0; c < s->sys->nc; ++c) most[c] = largest_rate(z, all, all->at[s->sys->ne + c], v);
    return CAROM_OK;
}

carom_status carom_sample_set(carom_scan *z, carom_step *s, const carom_local *all, double t, const double *q,
                              const double *v, const double *a, const double *g, const double *offset,
                              carom_sample *P) {
    const int ne = s->sys->ne;
    const unsigned flat = CAROM_CONSTANT_DIRECTIONS | CAROM_TIMELESS_GAPS;
    z->offset = offset;
    if (!z->sorted) CAROM_TRY(sort_kinds(z, s, t, q));
    if (s->sys->events->gap_bounds) {
        carom_copy(P->q, q, s->sys->nq);
        carom_copy(P->v, v, s->sys->nv);
        carom_copy(P->a, a, s->sys->nv);
    }
    carom_zero(z->kappa, all->at[all->nb]);
    if ((s->sys->flags & flat) != flat) CAROM_TRY(carom_curvature(s, z->kappa, all, t, q, v));
    for (int c = 0; c < s->sys->nc; ++c) {
        if (!z->watched[c]) continue;
        const int k = all->at[ne + c];
        P->phi[c] = g[ne + c] + (offset ? offset[c] : 0);
        P->u[c] = carom_column_dot(&all->W, k, v) + all->w[k];
        P->gamma[c] = carom_column_dot(&all->W, k, a) + z->kappa[k];
        P->most[c] = largest_rate(z, all, k, v);
    }
    return CAROM_OK;
}

// -- the path ---------------------------------------------------------------------------------------------------------

// (SC-5)  v: the parabola with v_0, v_1 at the ends and the mean of the stages, V = sum b_i V_i;  q = q_0 (+) x, x the
//         cubic with the displacement and its rates at the ends.  Both are exact for accelerations linear in time.
void carom_path_set(carom_scan *z, const carom_step *s, const carom_flow *f, double tau, const double *q_0,
                    const double *v_0, const double *v_1) {
    const int nv = s->sys->nv;
    z->q_0 = q_0;
    z->v_0 = v_0;
    z->tau = tau;
    carom_zero(z->mean, nv);
    for (int i = 0; i < f->T->stages; ++i) carom_axpy(z->mean, f->T->b[i], f->V[i], nv);
    for (int i = 0; i < nv; ++i) z->way[i] = tau * f->V_sum[i];
    carom_copy(z->v_1, v_1, nv);
    carom_copy(z->rate_1, v_1, nv);
    if (s->sys->lift) carom_lift(s, z->rate_1, z->way, v_1);
    // What the cubic may be off: x^2 (1 - x)^2/2 tau^2 times the error of its second derivative at the start.
    const double *a_0 = carom_butcher_explicit(f->T) ? f->K[0] : f->a_0;
    carom_path_at(z, s, 0);
    for (int i = 0; i < nv; ++i) z->doubt[i] = tau * tau / 16 * fabs(a_0[i] - z->a[i]);
}

void carom_path_at(carom_scan *z, const carom_step *s, double tau) {
    const double h = z->tau, x = tau / h, y = 1 - x;
    for (int i = 0; i < s->sys->nv; ++i) {
        const double bulge = 6 * (z->mean[i] - 0.5 * (z->v_0[i] + z->v_1[i]));
        z->v[i] = y * z->v_0[i] + x * z->v_1[i] + x * y * bulge;
        z->a[i] = (z->v_1[i] - z->v_0[i] + (1 - 2 * x) * bulge) / h;
        const double m_0 = h * z->v_0[i], m_1 = h * z->rate_1[i], d = z->way[i];
        z->shift[i] = x * (m_0 + x * (3 * d - 2 * m_0 - m_1 + x * (m_0 + m_1 - 2 * d)));
    }
    carom_move(s, z->q, z->q_0, 1, z->shift);
}

// -- the scan ---------------------------------------------------------------------------------------------------------

typedef struct interval {
    double d, g_0, g_1, m_0, m_1; // length, values, rates times d
    double a, b, E;               // (SC-3)
} interval;

static double cubic(const interval *I, double x) { return I->g_0 + x * (I->m_0 + x * (I->b + x * I->a)); }
static double margin(const interval *I, double x) { return I->E * x * x * (1 - x) * (1 - x); }

// Where the cubic is lowest inside, 0.5 when that is at an end.
static double bottom(const interval *I) {
    const double root = I->b * I->b - 3 * I->a * I->m_0; // of 3 a x^2 + 2 b x + m_0, where it curves upwards
    if (!(root > 0)) return 0.5;
    const double x = I->b > 0 ? -I->m_0 / (I->b + sqrt(root)) : I->a != 0 ? (-I->b + sqrt(root)) / (3 * I->a) : 0.5;
    return x > 0 && x < 1 ? x : 0.5;
}

// Where to look next: at the bottom when that is negative for certain; else where the tangents of both ends cross,
// which is at the kink of a V; else in the middle.  Parts never shrink slowly.
static double place(const interval *I, double lowest) {
    if (cubic(I, lowest) + margin(I, lowest) < 0) return lowest;
    const double x = I->m_0 < 0 && I->m_1 > 0 ? (I->g_1 - I->g_0 - I->m_1) / (I->m_0 - I->m_1) : 0.5;
    return x > 0.1 && x < 0.9 ? x : 0.5; // a tenth off the end at least
}

// Is contact c clear between two samples, or crosses it once?  Else *x is where to divide.
//
// (SC-1)  no event where phi_0 + phi_1 > d (max most + d/2 max |gamma|)
// (SC-12) a gap that has not changed as its rates tell, |phi_1 - phi_0 - d (u_0 + u_1)/2| > d/10 max most + d^2/2 max
//         |gamma|, may have jumped to another feature, also from below zero: both ends must be above that
// (SC-3)  no event where the cubic p through phi and u at both ends has  p - E x^2 (1 - x)^2 > 0,
//         E = 4 max |d^2 gamma - p''| at both ends: 2 is enough for a kink wherever it lies
// (SC-4)  one event where phi_1 < 0 and p - E .. has fallen below zero for good before p + E .. does
static bool clear(const carom_sample *A, const carom_sample *B, int c, double *x) {
    interval I = {.d = B->tau - A->tau, .g_0 = A->phi[c], .g_1 = B->phi[c]};
    const double rate = fmax(A->most[c], B->most[c]), bend = 0.5 * I.d * fmax(fabs(A->gamma[c]), fabs(B->gamma[c])),
                 most = rate + bend;
    const bool jumps = !(fabs(I.g_1 - I.g_0 - 0.5 * I.d * (A->u[c] + B->u[c])) <= I.d * (0.1 * rate + bend));
    if (I.g_1 >= 0 && (jumps ? fmin(I.g_0, I.g_1) : I.g_0 + I.g_1) > I.d * most) return true;
    I.m_0 = I.d * A->u[c], I.m_1 = I.d * B->u[c];
    I.a = I.m_0 + I.m_1 - 2 * (I.g_1 - I.g_0);
    I.b = 3 * (I.g_1 - I.g_0) - 2 * I.m_0 - I.m_1;
    I.E = SAFE * fmax(fabs(I.d * I.d * A->gamma[c] - 2 * I.b), fabs(I.d * I.d * B->gamma[c] - 2 * I.b - 6 * I.a));
    double lowest = bottom(&I), least = cubic(&I, lowest) - margin(&I, lowest);
    bool below = false, good = true;
    for (int i = 1; i < GRID; ++i) {
        const double at = (double)i / GRID, p = cubic(&I, at), e = margin(&I, at);
        if (p - e < least) least = p - e, lowest = at;
        if (below && p + e > 0) good = false;
        below = below || !(p - e > 0);
    }
    if (I.g_1 >= 0 ? least > 0 : good) return true;
    *x = place(&I, lowest);
    return false;
}

static bool beyond(const carom_scan *z, const carom_sample *P) {
    for (int c = 0; c < z->n; ++c)
        if (z->watched[c] && P->phi[c] < 0) return true;
    return false;
}

// Between two samples d apart a gap is above  phi_0 + int_0^t slow  and  phi_1 - int_t^d fast,  with lines slow <= u <=
// fast that are w apart:
// the first is the higher one before  t = (phi_0 - phi_1 + int_0^d fast)/w,  the second behind.
// the lines at the start; what they rise by in unit time
typedef struct fan { double d, phi_0, phi_1, slow, fast, bend; } fan;

static fan fan_of(const carom_scan *z, const carom_sample *A, const carom_sample *B, int c) {
    const double d = B->tau - A->tau;
    return (fan){d, A->phi[c], B->phi[c], z->slowest[c], z->fastest[c], z->change[c] / d};
}

// The least of  g + u t + bend t^2/2  for t between 0 and `to`, 0 itself excepted where it rises from there.
static double least_ahead(double g, double u, double bend, double to) {
    const double end = g + to * (u + 0.5 * bend * to), at = -u / bend;
    return bend > 0 && at > 0 && at < to ? g - 0.5 * u * u / bend : end;
}

// What the gap does not fall below inside, where it is not below at the ends.
static double least_inside(const fan *f) {
    const double w = f->fast - f->slow, last = f->fast + f->bend * f->d;
    const double cross = (f->phi_0 - f->phi_1 + 0.5 * f->d * (f->fast + last)) / w,
                 at = cross > 0 ? fmin(cross, f->d) : 0;
    if (!isfinite(w)) return -HUGE_VAL;
    return fmin(at > 0 ? least_ahead(f->phi_0, f->slow, f->bend, at) : HUGE_VAL,
                at < f->d ? least_ahead(f->phi_1, -last, f->bend, f->d - at) : HUGE_VAL);
}

// Does it only fall once it may have come to zero?
static bool falls_once(const fan *f) {
    const double last = f->fast + f->bend * f->d;
    return f->fast > 0 && last <= 0 && least_ahead(f->phi_0, f->slow, f->bend, -f->fast / f->bend) > 0;
}

// (SC-7)  no event where  g > 0  by the bound of the system; none or one where the rate between its bounds has one
//         sign; none where these keep the gap above zero, and one where they do as long as it may rise
static bool certain(const carom_scan *z, const carom_sample *A, const carom_sample *B, int c) {
    if (!(fabs(z->least[c]) >= 0)) return true; // nothing is known
    if (z->least[c] + (z->offset ? z->offset[c] : 0) > 0) return true;
    const fan f = fan_of(z, A, B, c);
    const double rise = z->change[c];
    if ((f.slow >= 0 && f.slow + rise >= 0) || (f.fast <= 0 && f.fast + rise <= 0)) return true;
    return f.phi_1 < 0 ? falls_once(&f) : least_inside(&f) > 0;
}

// Bounds between left and P.  Velocities are parabolas there:  v is not farther off than d |a_1 - a_0|/8; twice that
// for others.
static carom_status bounds(carom_scan *z, carom_step *s, const carom_sample *P) {
    const carom_system *sys = s->sys;
    const carom_sample *A = &z->left;
    for (int i = 0; i < sys->nv; ++i) z->v_off[i] = 0.25 * (P->tau - A->tau) * fabs(P->a[i] - A->a[i]);
    for (int c = sys->nc - sys->listed; c < sys->nc; ++c) z->least[c] = NAN; // bounds are of gaps that are written
    return sys->events->gap_bounds(sys->model, s->sys_work, z->t + A->tau, z->t + P->tau, A->q, P->q, A->v, P->v,
                                   z->v_off, z->least, z->slowest, z->fastest, z->change);
}

// The first one that is not clear between left and P divides the interval.
static carom_status divide(carom_scan *z, carom_step *s, const carom_sample *P, double *x, bool *divides) {
    bool open = false;
    *divides = true;
    for (int c = 0; c < z->n; ++c) {
        if (z->watched[c] && !clear(&z->left, P, c, x)) return CAROM_OK;
        open = open || (c < s->sys->nc && z->watched[c]);
    }
    *divides = false;
    if (!s->sys->events->gap_bounds || !open) return CAROM_OK;
    CAROM_TRY(bounds(z, s, P));
    *x = 0.5;
    for (int c = 0; c < s->sys->nc; ++c) *divides = *divides || (z->watched[c] && !certain(z, &z->left, P, c));
    return CAROM_OK;
}

// The interval from left to P is not divided any more.  *unseen: a gap may fall below zero in it by more than a
// thousandth of what it is at the ends of the step, at rates that neither sample explains, whichever way normals turn
// (SC-2); bounds are never tight where a contact leaves with hardly any.  Which and when is noted the first time.
static carom_status overlook(carom_scan *z, carom_step *s, const carom_sample *P, bool *unseen) {
    // less is no contact worth a warning; rates above twice those of both samples are not seen by them
    static const double SLIGHT = 1e-3, STEEP = 4;
    const carom_sample *A = &z->left;
    if (!s->sys->events->gap_bounds || *unseen) return CAROM_OK;
    CAROM_TRY(bounds(z, s, P));
    for (int c = 0; c < s->sys->nc && !*unseen; ++c) {
        if (!z->watched[c] || certain(z, A, P, c)) continue;
        const fan f = fan_of(z, A, P, c);
        const double spread = f.fast - f.slow + fabs(z->change[c]);
        *unseen =
            -fmax(z->least[c], least_inside(&f)) > SLIGHT * z->ends[c] && spread > STEEP * (A->most[c] + P->most[c]);
        if (*unseen && s->counts->missed++ == 0)
            s->counts->missed_id = s->sys->ne + c, s->counts->missed_t = z->t + A->tau;
    }
    return CAROM_OK;
}

carom_status carom_scan_run(carom_scan *z, carom_step *s, carom_scan_look look, void *user, double shortest,
                            bool *found, double *at) {
    bool unseen = false;
    *found = false;
    for (int c = 0; c < s->sys->nc; ++c) z->ends[c] = fabs(z->left.phi[c]) + fabs(z->right->phi[c]);
    for (int n = 1, looks = 0; n > 0;) {
        carom_sample *P = z->right + n - 1;
        const double d = P->tau - z->left.tau;
        double x = 0.5;
        bool divides = false;
        if (d > shortest && looks < MOST && n < CAROM_SCAN_DEPTH) CAROM_TRY(divide(z, s, P, &x, &divides));
        else CAROM_TRY(overlook(z, s, P, &unseen));
        if (divides) {
            CAROM_TRY(look(user, s, z->left.tau + x * d, z->right + n));
            ++looks;
            const bool late = beyond(z, z->right + n); // what is later does not matter any more
            if (late) CAROM_SWAP(carom_sample, P, z->right + n);
            else ++n;
            continue;
        }
        if (beyond(z, P)) {
            *found = true;
            *at = P->tau;
            return CAROM_OK;
        }
        CAROM_SWAP(carom_sample, &z->left, P);
        --n;
    }
    return CAROM_OK;
}

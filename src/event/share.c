// share.c: how contacts that depend on each other share what they carry.
//
// Two feet of a block that stick, four legs of a table: accelerations are unique, reactions are not.  Those of a phase
// are the ones nearest to a choice made when it began (EV-16), so that they are smooth and cost one linear system; the
// choice lies as far inside the contact laws as it can (EV-17).
#include "event/flow.h"
#include "scheme/inside.h"
#include "linalg/dense.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { LEVELS = 40, ROUNDS = 24 }; // chosen: reserves, down to 7e-10; projections for each
static const double RESERVE = 0.3; // part of its own size and of its disc that a contact should keep, at first
static const double LESS = 0.6;    // of the reserve, when that cannot be had
static const double ENOUGH = 0.75; // of the reserve, to end the search
static const double LIGHT = 1e-6;  // smallest weight: what a foot about to lift carries vanishes along its own ray

static double *place(const carom_flow *f, const carom_step *s, int k, int b) {
    return f->choice + s->dir[f->L.id[b]] + (k - f->L.at[b]);
}

// Square roots of the weights: a contact that carries more takes more of what comes.
static void weigh(carom_flow *f, const carom_step *s, double *weight) {
    double most = 0;
    for (int r = 0; r < f->n; ++r) most = fmax(most, fabs(f->x_0[r]));
    for (int r = 0, b = 0; r < f->n; ++r) {
        while (f->row[r] >= f->L.at[b + 1]) ++b;
        const double normal = *place(f, s, f->L.at[b], b);
        weight[r] = f->L.id[b] >= s->sys->ne && most > 0 ? sqrt(fmin(fmax(normal / most, LIGHT), 1)) : 1;
    }
}

// What block b, rows r .. r + tangents, carries along tangent i for each unit of its normal reaction: as in the choice.
static double ratio(const carom_flow *f, const carom_step *s, int b, int r, int i) {
    const double normal = f->x_0[r], most = s->sys->contacts[f->L.id[b] - s->sys->ne].friction;
    return normal > 0 ? fmin(fmax(f->x_0[r + i] / normal, -most), most) : 0;
}

// The block of row r, and how many tangents of it have rows: of joints none counts.
static int tangents_of(const carom_flow *f, const carom_step *s, int r, int *b) {
    while (f->row[r] >= f->L.at[*b + 1]) ++*b;
    int tangents = 0;
    while (f->L.id[*b] >= s->sys->ne && r + 1 + tangents < f->n && f->row[r + 1 + tangents] < f->L.at[*b + 1])
        ++tangents;
    return tangents;
}

// (EV-16)  x = x_0 + B (B'G B)^+ B'(-c - G x_0),  B = R D: D the roots of the weights, R: tangents follow their normal
//          as in the choice
void carom_flow_share(carom_flow *f, carom_step *s) {
    const int n = f->n;
    double *D = f->N; // free while a phase lasts
    for (int r = 0, b = 0; r < n; ++r) {
        while (f->row[r] >= f->L.at[b + 1]) ++b;
        f->x_0[r] = *place(f, s, f->row[r], b);
        f->b[r] = -s->c[r];
    }
    weigh(f, s, D);
    carom_copy(f->S, f->G.G, (ptrdiff_t)n * n);
    for (int c = 0; c < n; ++c) carom_axpy(f->b, -f->x_0[c], f->G.G + (ptrdiff_t)c * n, n);
    for (int r = 0, b = 0, tangents; r < n; r += 1 + tangents) {
        tangents = tangents_of(f, s, r, &b);
        for (int i = 1; i <= tangents; ++i) {
            const double rho = ratio(f, s, b, r, i);
            carom_axpy(f->S + (ptrdiff_t)r * n, rho, f->S + (ptrdiff_t)(r + i) * n, n);
            for (int c = 0; c < n; ++c) f->S[r + (ptrdiff_t)c * n] += rho * f->S[r + i + (ptrdiff_t)c * n];
            f->b[r] += rho * f->b[r + i];
        }
    }
    for (int c = 0; c < n; ++c)
        for (int r = 0; r < n; ++r) f->S[r + (ptrdiff_t)c * n] *= D[r] * D[c];
    for (int r = 0; r < n; ++r) f->b[r] *= D[r];
    carom_dense_shortest(f->S, n, n, CAROM_FLOW_CUT, f->col, f->scratch, f->b, f->x);
    for (int r = 0; r < n; ++r) f->x[r] *= D[r];
    for (int r = 0, b = 0, tangents; r < n; r += 1 + tangents) {
        tangents = tangents_of(f, s, r, &b);
        for (int i = 1; i <= tangents; ++i) f->x[r + i] += ratio(f, s, b, r, i) * f->x[r];
    }
    for (int r = 0; r < n; ++r) f->x[r] += f->x_0[r];
}

// Directions in which reactions may change without an effect: an orthonormal basis, by columns, of G N = 0.  By
// full pivoting, P G Q = L [U V]: the columns of N are Q (-U^-1 V e_j, e_j).
static int null_space(carom_flow *f, const double *G, int n, int ld) {
    for (int c = 0; c < n; ++c) carom_copy(f->S + (ptrdiff_t)c * n, G + (ptrdiff_t)c * ld, n);
    const int rank = carom_dense_full(f->S, n, n, CAROM_FLOW_CUT, f->order, f->col, f->scratch), free = n - rank;
    const double *scale = f->scratch + n;
    for (int j = 0; j < free; ++j) {
        double *y = f->b, *N = f->N + (ptrdiff_t)j * n;
        for (int k = 0; k < rank; ++k) y[k] = -f->S[k + (ptrdiff_t)(rank + j) * n];
        for (int k = rank - 1; k >= 0; --k) {
            y[k] /= f->S[k + (ptrdiff_t)k * n];
            for (int i = 0; i < k; ++i) y[i] -= f->S[i + (ptrdiff_t)k * n] * y[k];
        }
        carom_zero(N, n);
        for (int k = 0; k < rank; ++k) N[f->col[k]] = y[k] * scale[f->col[k]];
        N[f->col[rank + j]] = scale[f->col[rank + j]];
        for (int pass = 0; pass < 2; ++pass)
            for (int i = 0; i < j; ++i)
                carom_axpy(N, -carom_dot(f->N + (ptrdiff_t)i * n, N, n), f->N + (ptrdiff_t)i * n, n);
        const double size = sqrt(carom_dot(N, N, n));
        for (int i = 0; i < n; ++i) N[i] /= size > 0 ? size : 1;
    }
    return free;
}

// How far reaction x of a block lies inside its law, in forces of its size and parts of its disc; y is near to x and
// lies inside by `reserve`.
static double inside(double *y, const double *x, int tangents, double mu, double size, double reserve) {
    double T = 0;
    for (int i = 1; i <= tangents; ++i) T += x[i] * x[i];
    T = sqrt(T);
    y[0] = fmax(x[0], reserve * size);
    const double most = (1 - reserve) * mu * y[0];
    for (int i = 1; i <= tangents; ++i) y[i] = T > most ? x[i] * most / T : x[i];
    const double normal = x[0] / size;
    return tangents > 0 ? fmin(normal, mu * x[0] > 0 ? 1 - T / (mu * x[0]) : -T / size) : normal;
}

// The size of a contact's reaction is what it takes to hold its own bodies: (|W||a_f| + |kappa|)/D; `part` of it
// counts.  discs: friction counts too.
static double all_inside(carom_flow *f, const carom_step *s, const double *x, double *y, double reserve, double part,
                         bool discs) {
    double least = HUGE_VAL;
    carom_copy(y, x, f->n);
    for (int r = 0, b = 0; r < f->n;) {
        while (f->row[r] >= f->L.at[b + 1]) ++b;
        const int contact = f->L.id[b] - s->sys->ne, k = f->row[r];
        const double size = part * (carom_local_magnitude(&f->L, k, f->a_f) + fabs(f->kappa[k])) / f->D[k];
        int tangents = 0;
        while (r + 1 + tangents < f->n && f->row[r + 1 + tangents] < f->L.at[b + 1]) ++tangents;
        if (contact >= 0 && size > 0 && size < HUGE_VAL)
            least = fmin(least,
                         inside(y + r, x + r, discs ? tangents : 0, s->sys->contacts[contact].friction, size, reserve));
        r += 1 + tangents;
    }
    return least;
}

// (EV-17)  x <- x + N N'(P(x) - x), P(x) near to x and inside the laws by a reserve, which is made less until x comes
//          to lie
// inside by three quarters of it.  The best on the way is kept; the reserve it has is returned.
static double go_inside(carom_flow *f, carom_step *s, int free, double *x, double *best, double part, bool discs) {
    const int n = f->n;
    double *y = f->scratch, most = -HUGE_VAL, reserve = RESERVE;
    for (int level = 0; level < LEVELS; ++level, reserve *= LESS)
        for (int i = 0; i < ROUNDS; ++i) {
            const double now = all_inside(f, s, x, y, reserve, part, discs);
            if (now > most) most = now, carom_copy(best, x, n);
            if (free == 0 || most >= ENOUGH * reserve) return most;
            carom_axpy(y, -1, x, n);
            for (int j = 0; j < free; ++j) {
                const double *N = f->N + (ptrdiff_t)j * n;
                carom_axpy(x, carom_dot(N, y, n), N, n);
            }
        }
    return most;
}

// Gradient and second derivative, for a block, of -log x_N, or of -log((mu x_N)^2 - |x_T|^2).  False: x is not inside.
static bool barrier(const double *x, int tangents, double mu, double *g, double *H) {
    const int n = 1 + tangents;
    double inside = x[0];
    for (int i = 0; i < n; ++i) g[i] = i == 0 ? 2 * mu * mu * x[0] : -2 * x[i];
    if (tangents > 0) {
        inside = 0.5 * carom_dot(g, x, n);
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                H[i + j * n] = g[i] * g[j] / (inside * inside) - (i != j ? 0 : i == 0 ? 2 * mu * mu : -2) / inside;
    } else {
        g[0] = 1;
        H[0] = 1 / (inside * inside);
    }
    for (int i = 0; i < n; ++i) g[i] /= -inside;
    return x[0] > 0 && inside > 0;
}

// Rows of the contact that starts at row r; 0: a joint's.
static int rows_of(const carom_flow *f, const carom_step *s, int r, int *b) {
    while (f->row[r] >= f->L.at[*b + 1]) ++*b;
    int rows = 1;
    while (r + rows < f->n && f->row[r + rows] < f->L.at[*b + 1]) ++rows;
    return f->L.id[*b] >= s->sys->ne ? rows : -rows;
}

// N with columns that are orthonormal over the rows of contacts, from row `first` on; those that share among joints
// alone are left out.
static int among_contacts(carom_flow *f, int free, int n, int first) {
    int kept = 0;
    for (int j = 0; j < free; ++j) {
        double *N = f->N + (ptrdiff_t)kept * n;
        if (kept != j) carom_copy(N, f->N + (ptrdiff_t)j * n, n);
        for (int pass = 0; pass < 2; ++pass)
            for (int i = 0; i < kept; ++i) {
                const double *other = f->N + (ptrdiff_t)i * n;
                carom_axpy(N, -carom_dot(other + first, N + first, n - first), other, n);
            }
        const double size = sqrt(carom_dot(N + first, N + first, n - first));
        if (!(size > sqrt(CAROM_FLOW_CUT))) continue;
        for (int i = 0; i < n; ++i) N[i] /= size;
        ++kept;
    }
    return kept;
}

// Does N, of n rows, change one of these?
static bool changes(const carom_flow *f, int at, int rows, int free, int n) {
    for (int j = 0; j < free; ++j)
        if (carom_norm_max(f->N + at + (ptrdiff_t)j * n, rows) > sqrt(CAROM_FLOW_CUT)) return true;
    return false;
}

// Rows of x that are those of joints: the first.
static int joints_first(const carom_flow *f, const carom_step *s) {
    int r = 0;
    for (int b = 0; r < f->n && rows_of(f, s, r, &b) < 0;) ++r;
    return r;
}

// (EV-43)  Where the laws leave less room, alternating projections end near the side from which they come, and the
//          load of that contact vanishes again at once.  There the choice is the least of
//          -sum log x_N, or -sum log((mu x_N)^2 - |x_T|^2), + |N z|^2/(2 |x|^2) over x + N z, norms over contacts.
//          Where laws are m linear ones, s_i > 0, no choice within 2 sqrt(m) |x| gives any of them more than 2 m times
//          what this one c does: from grad (x - c) = 0 follows
//          sum s_i(x)/s_i(c) = m + z_c'(z - z_c)/|x|^2 <= m + |z|^2/(4 |x|^2).
//          Newton's method with the steps 1/(1 + lambda) of self-concordant functions, lambda^2 = -g'd, stays inside.
static void centre(carom_flow *f, const carom_step *s, int free, double *x) {
    enum { STEPS = 100 };
    static const double NEAR = 1e-3; // lambda: the centre need not be known better
    const int n = f->n, first = joints_first(f, s);
    free = among_contacts(f, free, n, first);
    const double size = carom_dot(x + first, x + first, n - first);
    double *H = f->S, *step = f->b, *z = f->scratch, *slope = f->scratch + n;
    double g[1 + CAROM_TANGENTS], h[(1 + CAROM_TANGENTS) * (1 + CAROM_TANGENTS)];
    carom_zero(z, free);
    for (int k = 0; k < STEPS && free > 0 && size > 0; ++k) {
        carom_zero(H, (ptrdiff_t)free * free);
        for (int j = 0; j < free; ++j) H[j + (ptrdiff_t)j * free] = 1 / size, step[j] = -z[j] / size;
        for (int r = first, b = 0, rows; r < n; r += rows) {
            rows = rows_of(f, s, r, &b);
            const double mu = s->sys->contacts[f->L.id[b] - s->sys->ne].friction;
            const int m = mu > 0 ? rows : 1;
            if (!changes(f, r, m, free, n)) continue;
            if (!barrier(x + r, m - 1, mu, g, h)) return;
            for (int j = 0; j < free; ++j) {
                const double *N = f->N + r + (ptrdiff_t)j * n;
                step[j] -= carom_dot(N, g, m);
                for (int i = 0; i < free; ++i)
                    for (int c = 0; c < m; ++c)
                        H[i + (ptrdiff_t)j * free] += f->N[r + c + (ptrdiff_t)i * n] * carom_dot(N, h + c * m, m);
            }
        }
        carom_copy(slope, step, free);
        if (!carom_dense_positive(H, free, free, step)) return;
        const double lambda = sqrt(carom_dot(slope, step, free)), length = 1 / (1 + lambda);
        for (int j = 0; j < free; ++j) {
            z[j] += length * step[j];
            carom_axpy(x, length * step[j], f->N + (ptrdiff_t)j * n, n);
        }
        if (!(lambda > NEAR)) return;
    }
}

// From x_0.  A foot about to lift has next to no normal reaction, however they are shared: its friction has a reserve
// all the same.
static void choose(carom_flow *f, carom_step *s) {
    const int free = null_space(f, f->G.G, f->n, f->n);
    carom_copy(f->x, f->x_0, f->n);
    const double most = go_inside(f, s, free, f->x, f->b, 1, false);
    carom_copy(f->x, f->x_0, f->n);
    go_inside(f, s, free, f->x, f->x_0, most < ENOUGH * RESERVE ? fmax(most / RESERVE, DBL_EPSILON) : 1, true);
    if (most < ENOUGH * RESERVE) centre(f, s, free, f->x_0);
}

void carom_flow_inside(carom_flow *f, carom_step *s, double *lambda) {
    for (int r = 0; r < f->n; ++r) f->x_0[r] = lambda[f->row[r]];
    choose(f, s);
    for (int r = 0; r < f->n; ++r) lambda[f->row[r]] = f->x_0[r];
}

void carom_flow_take(carom_flow *f, const carom_step *s, const double *lambda) {
    for (int b = 0; b < f->L.nb; ++b)
        carom_copy(f->choice + s->dir[f->L.id[b]], lambda + f->L.at[b], f->L.at[b + 1] - f->L.at[b]);
}

void carom_flow_choose(carom_flow *f, carom_step *s) {
    carom_copy(f->x_0, f->x, f->n);
    choose(f, s);
    for (int r = 0, b = 0; r < f->n; ++r) {
        while (f->row[r] >= f->L.at[b + 1]) ++b;
        *place(f, s, f->row[r], b) = f->x_0[r];
    }
}

// -- impulses ---------------------------------------------------------------------------------------------------------

// The impulse of a block that obeys its law and is nearest to y.  as: one that does, with the same velocity u; one that
// slides keeps its direction.
static void obey(double *y, const carom_block *b, const double *as, const double *u, double none) {
    const int tangents = (int)b->law - (int)CAROM_UNILATERAL;
    const double mu = tangents > 0 ? b->mu : 0, T = tangents > 0 ? carom_length(y + 1, tangents) : 0;
    if (u[0] > none) {
        carom_zero(y, 1 + tangents);
    } else if (tangents > 0 && carom_length(u + 1, tangents) > none) {
        const double slip = carom_length(u + 1, tangents);
        double along = y[0], size = 1;
        for (int i = 1; i <= tangents; ++i) {
            const double rho = as[0] > 0 ? as[i] / as[0] : -mu * u[i] / slip;
            along += rho * y[i], size += rho * rho;
        }
        y[0] = fmax(0, along / size);
        for (int i = 1; i <= tangents; ++i) y[i] = y[0] * (as[0] > 0 ? as[i] / as[0] : -mu * u[i] / slip);
    } else if (mu * T <= -y[0]) {
        carom_zero(y, 1 + tangents);
    } else if (T > mu * y[0]) {
        const double normal = (y[0] + mu * T) / (1 + mu * mu);
        for (int i = 1; i <= tangents; ++i) y[i] *= mu * normal / T;
        y[0] = normal;
    }
}

// Is contact block b among those that N changes?
static bool depends(const carom_flow *f, const carom_block *b, int free, int n) {
    return changes(f, b->at, 1 + (int)b->law - (int)CAROM_UNILATERAL, free, n);
}

// (EV-42)  Impulses p of contacts that depend on each other are not unique, and which of them a solver finds is a
//          matter of rounding; so is how much of the energy counts as friction's.  Of all that give the same velocities
//          and obey the laws the shortest counts, over contacts: the projection of 0 on p + N z and the laws, by
//          Dykstra's alternating projections.  What counts obeys the laws exactly, and what is rounding is zero: a
//          trace of an impulse inside its disc would be a stick, one at all an impact.
void carom_flow_shortest(carom_flow *f, const carom_step *s, double *p) {
    enum { ROUNDS_MOST = 20000 };
    static const double NEAR = 1e-13, FAR = 1e-9; // of the longest impulse: to end with; with which p stays as it is
    const carom_problem *pb = &s->problem;
    const int n = pb->n, first = f->L.at[s->sys->ne];
    const double none = 4 * s->tol * s->scale;
    bool known =
        !s->impacts && !s->inside->friction && pb->G && pb->ld == n && n <= f->most && f->L.nb > s->sys->ne + 1;
    for (int b = 0; b < pb->nb; ++b) known = known && pb->block[b].law <= CAROM_SPATIAL;
    if (!known) return;
    const int free = among_contacts(f, null_space(f, pb->G, n, n), n, first);
    double *x = f->b, *y = f->x_0, *rest = f->scratch, far = HUGE_VAL, size = 0;
    for (int b = s->sys->ne; b < pb->nb; ++b)
        if (depends(f, pb->block + b, free, n)) size = fmax(size, fabs(p[pb->block[b].at]));
    if (!(size > 0)) return;
    carom_zero(x, n);
    carom_zero(rest, n);
    for (int round = 0; round < ROUNDS_MOST && far > NEAR * size; ++round) {
        carom_copy(y, p, n); // the nearest one to x that gives the same velocities
        for (int j = 0; j < free; ++j) {
            const double *N = f->N + (ptrdiff_t)j * n;
            carom_axpy(y, carom_dot(N + first, x + first, n - first) - carom_dot(N + first, p + first, n - first), N,
                       n);
        }
        far = 0;
        for (int i = first; i < n; ++i) x[i] = y[i] + rest[i];
        for (int b = s->sys->ne; b < pb->nb; ++b) {
            const int at = pb->block[b].at, rows = 1 + (int)pb->block[b].law - (int)CAROM_UNILATERAL;
            if (!depends(f, pb->block + b, free, n)) continue;
            for (int i = at; i < at + rows; ++i) rest[i] += y[i];
            obey(x + at, pb->block + b, p + at, pb->u + at, none);
            for (int i = at; i < at + rows; ++i) rest[i] -= x[i], far = fmax(far, fabs(x[i] - y[i]));
        }
    }
    if (!(far <= FAR * size)) return;
    carom_copy(p, y, first);
    for (int b = s->sys->ne; b < pb->nb; ++b) {
        const int at = pb->block[b].at, rows = 1 + (int)pb->block[b].law - (int)CAROM_UNILATERAL;
        if (!depends(f, pb->block + b, free, n)) continue;
        carom_copy(p + at, x + at, rows);
        if (!(p[at] > NEAR * size)) carom_zero(p + at, rows);
    }
}

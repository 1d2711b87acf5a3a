// bodies_four.c: sweeps of the solver `bodies` in single precision, four contacts of a colour at once.
//
// Spec: docs/solvers.md, "bodies", (SOL-29).  A sweep waits for memory and for the arithmetic of one contact after the
// other; contacts of a colour share no body, so that four of them are one vector of each number.  What a group of four
// does to one contact does not depend on the other three: which contacts stand together changes no bit.
//
// Only where all contacts have friction in space and the tolerance is far above single precision; impulses are judged
// in double precision, and so are velocities summed up there (carom_bodies_look).
#include "base/team.h"
#include "solver/bodies.h"

typedef float four __attribute__((vector_size(16)));
typedef int mask __attribute__((vector_size(16))); // of a comparison: -1 where it is true

enum { WIDE = CAROM_BODIES_WIDE };
static const double PRECISE = 1e-4; // of the largest |c|: the least residual aimed at in single precision
static const double REGULAR = 1e-5; // det G_bb over the product of its diagonal: below it the inverse is not used

/// Velocities of a body and two zeros; what extrapolation adds to them after the sweep: one cache line.
struct carom_body_row { four y[2], E[2]; };

/// Contacts from turn `first` on, `count` of them.  For lanes of no contact and for missing bodies a thread has a row.
struct carom_quartet {
    int of[2 * WIDE], first, count, unused[2];
    four c[3], G[6], inverse[6], mu;       // G_bb and its inverse by columns of the lower triangle
    four J[36];                            // of body s, row r, velocity k: 18 s + 6 r + k
    four x[3], z[3], alpha;                // (SOL-27); of slip: G_TT p_T + r = -alpha p_T, from the last sweep
    mask age;
};

size_t carom_bodies_four_size(int n, int nb) {
    const size_t contacts = (size_t)(nb < n / 3 ? nb : n / 3), most = contacts / WIDE + 2 * COLOURS * CAROM_TEAM;
    return (contacts < most ? contacts : most) * sizeof(carom_quartet) +
           (2 * contacts + CAROM_TEAM) * sizeof(carom_body_row);
}

// -- vectors ----------------------------------------------------------------------------------------------------------

static inline four pick(mask m, four a, four b) { return (four)(((mask)a & m) | ((mask)b & ~m)); }

static inline bool any(mask m) {
    typedef long long halves __attribute__((vector_size(16)));
    const halves both = (halves)m;
    return (both[0] | both[1]) != 0;
}

static inline four root(four a) {
    for (int i = 0; i < WIDE; i++) a[i] = sqrtf(a[i]);
    return a;
}

static inline four absolute(four a) { return pick(a < 0, -a, a); }
static inline four larger(four a, four b) { return pick(a > b, a, b); }

// Numbers i, j, k, l of those of a and then those of b.
#if !defined(__clang__) && __GNUC__ < 12
#define MIX(a, b, i, j, k, l) __builtin_shuffle(a, b, (mask){i, j, k, l})
#else
#define MIX(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#endif

static inline void transpose(four *m) {
    const four a = MIX(m[0], m[1], 0, 4, 2, 6), b = MIX(m[0], m[1], 1, 5, 3, 7), c = MIX(m[2], m[3], 0, 4, 2, 6),
               d = MIX(m[2], m[3], 1, 5, 3, 7);
    m[0] = MIX(a, c, 0, 1, 4, 5), m[1] = MIX(b, d, 0, 1, 4, 5);
    m[2] = MIX(a, c, 2, 3, 6, 7), m[3] = MIX(b, d, 2, 3, 6, 7);
}

// Velocities of four bodies, a vector for each of the six.
static inline void gather(const carom_body_row *row, const int *of, four *m) {
    for (int i = 0; i < WIDE; i++) m[i] = row[of[i]].y[0], m[WIDE + i] = row[of[i]].y[1];
    transpose(m), transpose(m + WIDE);
}

static inline void scatter(carom_body_row *row, const int *of, four *m, four *e) {
    transpose(m), transpose(m + WIDE), transpose(e), transpose(e + WIDE);
    for (int i = 0; i < WIDE; i++) {
        carom_body_row *to = row + of[i];
        to->y[0] += m[i], to->y[1] += m[WIDE + i], to->E[0] += e[i], to->E[1] += e[WIDE + i];
    }
}

// -- one group --------------------------------------------------------------------------------------------------------

// (SOL-29)  The law with velocities c at p = 0: open where c_N >= 0; p = -G_bb^-1 c where that is in the cone; else
//           slip, (G_TT - G_TN G_NT/G_NN + alpha) p_T = -r with |p_T| = mu p_N, by one step of Newton's method for
//           alpha from the last sweep's, and p = p_N (1, mu s) in the direction s of that p_T.
static inline void local(const four *g, const four *I, const four *c, four mu, four *keep, four *p) {
    const four none = {0};
    const mask open = c[0] >= 0;
    p[0] = -(I[0] * c[0] + I[1] * c[1] + I[2] * c[2]);
    p[1] = -(I[1] * c[0] + I[3] * c[1] + I[4] * c[2]);
    p[2] = -(I[2] * c[0] + I[4] * c[1] + I[5] * c[2]);
    const mask stick = (p[0] >= 0) & (p[1] * p[1] + p[2] * p[2] <= mu * mu * p[0] * p[0]), slips = ~(stick | open);
    if (any(slips)) {
        const four w = 1 / g[0], n_1 = g[1] * w, n_2 = g[2] * w, p_N = -c[0] * w;
        const four A = g[3] - g[1] * n_1, B = g[4] - g[1] * n_2, D = g[5] - g[2] * n_2;
        const four r_1 = c[1] + g[1] * p_N, r_2 = c[2] + g[2] * p_N;
        const four guess = root(r_1 * r_1 + r_2 * r_2) / (mu * p_N), first = guess - 0.5f * (A + D);
        const four alpha = pick(*keep > 0, *keep, pick(first > 0, first, 0.5f * guess));
        const four a = A + alpha, d = D + alpha, det = 1 / (a * d - B * B);
        const four t_1 = (B * r_2 - d * r_1) * det, t_2 = (B * r_1 - a * r_2) * det;
        const four N = p_N - n_1 * t_1 - n_2 * t_2, over = 1 / root(t_1 * t_1 + t_2 * t_2);
        // f = mu p_N/|p_T| - 1, and its slope with p_T' = -(G_TT + alpha)^-1 p_T
        const four q_1 = (B * t_2 - d * t_1) * det, q_2 = (B * t_1 - a * t_2) * det, f = mu * N * over - 1;
        const four slope = mu * (-(n_1 * q_1 + n_2 * q_2) - N * (t_1 * q_1 + t_2 * q_2) * over * over) * over;
        const four next = alpha - f / slope;
        // chosen: by ten at most, a step of Newton's method is trusted
        const mask good = (slope > 0) & (next > 0.1f * alpha) & (next < 10 * alpha);
        const four kept = pick(good, next, pick(f < 0, 2 * alpha, 0.5f * alpha));
        *keep = pick(slips, pick((kept > 0) & (kept < 1e30f), kept, none), *keep);
        const four s_1 = t_1 * over, s_2 = t_2 * over, own = g[0] + mu * (g[1] * s_1 + g[2] * s_2);
        const four q_N = pick((own > 0) & (over < 1e30f), -c[0] / own, none);
        const four q[3] = {q_N, mu * q_N * s_1, mu * q_N * s_2};
        for (int i = 0; i < 3; i++) p[i] = pick(slips, pick(q[i] == q[i], q[i], none), p[i]);
    }
    for (int i = 0; i < 3; i++) p[i] = pick(open, none, p[i]);
}

// (SOL-27) of four contacts; returns their largest changes, as velocities.
static inline four relax(carom_quartet *k, carom_body_row *row, const float *beta) {
    const four *g = k->G, none = {0};
    four u[3] = {k->c[0], k->c[1], k->c[2]}, q[3], e[3], m[2 * WIDE], f[2 * WIDE], *x = k->x, *z = k->z;
    for (int s = 0; s < 2; s++) {
        const four *J = k->J + 18 * s;
        gather(row, k->of + WIDE * s, m);
        for (int r = 0; r < 3; r++)
            for (int i = 0; i < SIZE; i++) u[r] += J[SIZE * r + i] * m[i];
    }
    const mask rests = (x[0] == 0) & (z[0] == 0) & (u[0] >= 0); // open, and stays so
    if (!any(~rests)) return k->age = (mask){0}, none;
    u[0] -= g[0] * x[0] + g[1] * x[1] + g[2] * x[2];
    u[1] -= g[1] * x[0] + g[3] * x[1] + g[4] * x[2];
    u[2] -= g[2] * x[0] + g[4] * x[1] + g[5] * x[2];
    local(g, k->inverse, u, k->mu, &k->alpha, q);
    const four d = larger(g[3], g[5]); // (CP-6)
    const four back = g[0] * (x[0] - q[0]) * (q[0] - z[0]) +
                      d * ((x[1] - q[1]) * (q[1] - z[1]) + (x[2] - q[2]) * (q[2] - z[2]));
    const mask age = k->age & ~(back > 0);
    const four b = {beta[age[0]], beta[age[1]], beta[age[2]], beta[age[3]]};
    k->age = (age - (age < CAROM_BODIES_AGES - 1)) & ~rests;
    for (int i = 0; i < 3; i++) e[i] = b * (q[i] - z[i]), z[i] = q[i], q[i] -= x[i], x[i] = z[i] + e[i];
    for (int s = 0; s < 2; s++) {
        const four *J = k->J + 18 * s;
        for (int i = 0; i < SIZE; i++) {
            m[i] = J[i] * q[0] + J[SIZE + i] * q[1] + J[2 * SIZE + i] * q[2];
            f[i] = J[i] * e[0] + J[SIZE + i] * e[1] + J[2 * SIZE + i] * e[2];
        }
        m[6] = m[7] = f[6] = f[7] = none;
        scatter(row, k->of + WIDE * s, m, f);
    }
    return larger(g[0] * absolute(q[0]), d * larger(absolute(q[1]), absolute(q[2])));
}

// -- groups and threads -----------------------------------------------------------------------------------------------

// Groups of turns from .. to - 1, the first of which stands in `lead`.
static int groups_of(bodies *w, int from, int to, int group) {
    w->lead[from] = group;
    for (; from < to; from += WIDE, group++) {
        w->group[group].first = from;
        w->group[group].count = to - from < WIDE ? to - from : WIDE;
    }
    return group;
}

static void list_groups(bodies *w) {
    const int parts = w->team ? w->team->n : 1;
    int n = 0, from, to;
    for (int k = 0; k < w->colours; k++)
        for (int part = 0; part < parts; part++) {
            const int middle = w->middle[k * (CAROM_TEAM + 1) + part];
            own_contacts(w, k, part, parts, &from, &to);
            if (from < middle) n = groups_of(w, from, middle, n);
            if (middle < to) n = groups_of(w, middle, to, n);
        }
}

static bool invert(const double *g, float *own, float *inverse) {
    const double a = g[0], b = g[1], c = g[2], d = g[4], e = g[5], f = g[8];
    const double A = d * f - e * e, B = c * e - b * f, D = b * e - c * d, det = a * A + b * B + c * D;
    if (!(det > REGULAR * a * d * f)) return false;
    const double all[2][6] = {{a, b, c, d, e, f}, {A, B, D, a * f - c * c, b * c - a * e, a * d - b * b}};
    for (int i = 0; i < 6; i++) own[i] = (float)all[0][i], inverse[i] = (float)(all[1][i] / det);
    return true;
}

// Lane i of a group from contact b; false: its block is nearly singular.
static bool fill_lane(const bodies *w, carom_quartet *k, int i, int b) {
    const int at = w->block[b].at;
    const double *J = w->J + 2 * SIZE * (size_t)at, *p = given_rows(w, b, w->given->p);
    float own[6], inverse[6];
    if (!invert(w->G[b], own, inverse)) return false;
    for (int j = 0; j < 6; j++) k->G[j][i] = own[j], k->inverse[j][i] = inverse[j];
    for (int j = 0; j < 3; j++) k->c[j][i] = (float)w->c[at + j], k->x[j][i] = k->z[j][i] = (float)p[j];
    k->mu[i] = (float)w->block[b].mu;
    for (int s = 0; s < 2 && w->of[2 * b + s] >= 0; s++) {
        k->of[WIDE * s + i] = w->of[2 * b + s];
        for (int j = 0; j < 18; j++) k->J[18 * s + j][i] = (float)J[18 * s + j];
    }
    return true;
}

// Lanes without a contact are open; `none` is the row of bodies that are missing.
static bool fill_group(const bodies *w, carom_quartet *k, int none) {
    const four one = {1, 1, 1, 1};
    bool good = true;
    *k = (carom_quartet){
        .first = k->first, .count = k->count, .c = {one}, .G = {one, [3] = one, [5] = one}, .mu = one};
    for (int i = 0; i < 2 * WIDE; i++) k->of[i] = none;
    for (int i = 0; i < k->count; i++) good = fill_lane(w, k, i, w->order[k->first + i]) && good;
    return good;
}

/// For every group k of a thread.
#define OWN_GROUPS(w, part, parts, k)                                                                                  \
    for (int c_ = 0, at_, end_; c_ < (w)->colours; c_++)                                                               \
        if (own_contacts(w, c_, part, parts, &at_, &end_), at_ < end_)                                                 \
            for (carom_quartet *k = (w)->group + (w)->lead[at_]; at_ < end_; at_ += k++->count)

static void begin(void *user, int part, int parts) {
    task *t = user;
    const bodies *w = t->w;
    const int own = w->count + part;
    OWN_GROUPS(w, part, parts, k)
    if (!fill_group(w, k, own)) t->most[part] = INFINITY;
    w->row[own] = (carom_body_row){0};
}

bool carom_bodies_four_begin(bodies *w) {
    double size = 0;
    if (w->colours > COLOURS) return false; // some contacts may share bodies
    for (int b = 0; b < w->nb; b++)
        if (w->block[b].law != CAROM_SPATIAL || !(w->block[b].mu > 0)) return false;
    for (int i = 0; i < w->n; i++) size = fmax(size, fabs(w->c[i]));
    if (!(fmax(w->target, w->given->acceptable) >= PRECISE * size)) return false;
    task t = {.w = w};
    w->group = (carom_quartet *)(void *)(w->row + w->count + CAROM_TEAM);
    list_groups(w);
    carom_team_run(w->team, begin, &t);
    return largest(&t) < INFINITY;
}

static void write_rows(void *user, int part, int parts) {
    const task *t = user;
    const bodies *w = t->w;
    int from, to;
    own_bodies(w, part, parts, &from, &to);
    for (int i = from; i < to; i++) {
        carom_body_row *row = w->row + i;
        const double *y = t->in + SIZE * (size_t)i;
        row->y[0] = (four){(float)y[0], (float)y[1], (float)y[2], (float)y[3]};
        row->y[1] = (four){(float)y[4], (float)y[5]};
        if (t->alpha == 0) row->E[0] = row->E[1] = (four){0};
    }
}

void carom_bodies_four_set(bodies *w, const double *y, bool first) {
    carom_team_run(w->team, write_rows, &(task){.w = w, .in = y, .alpha = !first});
}

static double relax_groups(const task *t, int from, int to) {
    const bodies *w = t->w;
    four most = {0};
    for (carom_quartet *k = w->group + w->lead[from]; from < to; from += k++->count)
        most = larger(most, relax(k, w->row, w->beta_four));
    return fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
}

static void sweep_own(void *user, int part, int parts) {
    task *t = user;
    const bodies *w = t->w;
    int step = 0, from, to;
    own_bodies(w, part, parts, &from, &to);
    for (carom_body_row *row = w->row + from; row < w->row + to; row++)
        for (int i = 0; i < 2; i++) row->y[i] += row->E[i], row->E[i] = (four){0};
    t->most[part] = carom_bodies_in_order(t, part, parts, &step, relax_groups);
}

double carom_bodies_four_sweep(bodies *w) {
    task t = {.w = w};
    carom_team_run(w->team, sweep_own, &t);
    return largest(&t);
}

static void read_impulses(void *user, int part, int parts) {
    const task *t = user;
    const bodies *w = t->w;
    OWN_GROUPS(w, part, parts, k)
    for (int i = 0; i < k->count; i++) {
        double *z = w->z + w->block[w->order[k->first + i]].at;
        for (int j = 0; j < 3; j++) z[j] = k->z[j][i];
    }
}

void carom_bodies_four_read(bodies *w) { carom_team_run(w->team, read_impulses, &(task){.w = w}); }

// rest.c: a state of rest.
//
//     f(q, 0) + W lambda = 0,   g_e = 0,   0 <= g _|_ lambda_N >= 0,   |lambda_T| <= mu lambda_N                (RST-1)
//
// A contact over a moving surface (w_T not 0) slides at rest: lambda_T = -mu lambda_N w_T/|w_T|.  Each iteration solves
// a contact problem for a displacement,
//
//     (M/tau^2 + K) d = f + W lambda - M D/tau^2,  K = -d(f + W lambda)/dq,  g + W'd with the laws of the contacts,
//     (RST-2)
//
// which is Newton's method for a step of implicit Euler from rest, M D/tau^2 = f + W lambda with D the sum of all d:
// far away it descends along the forces and friction resists, with tau to infinity it is Newton's method for (RST-1).
// Friction resists the way W_T'(D + d) of the whole step: an iteration that went too far is taken back.
#include "base/block.h"
#include "base/tolerance.h"
#include "contact/residual.h"
#include "dynamics/steady.h"
#include "linalg/dense.h"
#include "linalg/matrix.h"
#include "model/answers.h"
#include "system/system.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// chosen: pseudo-steps; iterations of one, few of them; rounds in which contacts join
enum { MOST_STEPS = 600, NEWTON = 8, QUICK = 4, ROUNDS = 30 };
// after few iterations a pseudo-step is four times as long, after a failure a quarter; it is solved to two digits, it
// only leads on; rank within rounding of factors; a residual above WRONG is no equilibrium
static const double GROW = 4, SHRINK = 0.25, GOOD = 1e-2, RANK = 1e-10, WRONG = 1e-6;
// residuals of contact problems, relative: asked for; of an answer that is certified; that a step may go on with
static const double SOLVED = 1e-13, CERTIFIED = 1e-12, USABLE = 1e-8;
static const double WEAK = 1e-3;      // of the strongest force of the model: where all are weaker, the balance is
                                      // judged by this
static const double NOTHING = 1e-9;   // of it: a force that is rounding
static const double MOVED = 1e-4;     // of a step: a gap that it leaves open is closed by the next
static const double CLOSED = 1e-10;   // of the size of the model: a gap that is closed; of forces: those that agree
static const double AT_LIMIT = 1e-6;  // of the limit of friction: what is nearer slides
static const double SHORTEST = 1e-12; // of the first step
static const double LONGEST = 1e10;   // s: such a step is one of Newton's method
static const double FAR = 1e6;        // of the size of the model, or of 1: it is leaving

typedef struct search {
    carom_grip grip;          // p.q is the present position
    carom_steady steady;      // controllers
    carom_arena mem;
    carom_local all;          // contacts with finite gaps, for their normals
    double *kept;             // reactions before the step
    double *q, *q_best;       // nq: before the step; with the least force left so far
    double *d, *D, *r, *size; // nv: an iteration, their sum, force that is left, sum of absolute terms
    double *predicted, *left; // nv: M D/tau^2; scratch
    double *low, *high;       // n: ranges of reactions, by recorded direction
    double strength, balance; // largest terms of f + W lambda so far; |f + W lambda| relative to its terms
    double rounding;          // of f
    double period;            // the longest sample time
} search;

static void allocate(search *s, carom_arena *mem) {
    const carom_point *p = &s->grip.p;
    const size_t n = (size_t)p->n, nv = (size_t)p->nv;
    s->all = carom_allocate_local(mem, &p->sys);
    s->kept = carom_allocate(mem, n);
    s->q = carom_allocate(mem, (size_t)p->nq), s->q_best = carom_allocate(mem, (size_t)p->nq);
    s->d = carom_allocate(mem, nv), s->r = carom_allocate(mem, nv), s->left = carom_allocate(mem, nv),
    s->size = carom_allocate(mem, nv);
    s->predicted = carom_allocate(mem, nv), s->D = carom_allocate(mem, nv);
    s->low = carom_allocate(mem, n), s->high = carom_allocate(mem, n);
}

static carom_status open(search *s, const carom_model *m, carom_error *err) {
    CAROM_TRY(carom_grip_open(&s->grip, m, err));
    s->grip.p.still = true;
    CAROM_TRY(carom_steady_open(&s->steady, &s->grip.p, false, err));
    allocate(s, &s->mem);
    if (!carom_arena_begin(&s->mem)) return carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an equilibrium");
    allocate(s, &s->mem);
    return CAROM_OK;
}

static void close(search *s) {
    free(s->mem.base);
    carom_steady_close(&s->steady);
    carom_grip_close(&s->grip);
}

// A joint or surface that moves along its normal lets nothing rest.  motion: by direction of L, its velocity or
// acceleration.
static carom_status check_still(search *s, const double *motion) {
    const carom_point *p = &s->grip.p;
    const carom_local *L = &p->L;
    for (int b = 0; b < L->nb; ++b)
        if (motion[L->at[b]] != 0)
            return carom_fail(s->grip.err, CAROM_NOT_CONVERGED, "no equilibrium exists: %s '%.60s' %s",
                              L->id[b] < p->ne ? "constraint" : "contact",
                              carom_model_constraint(p->model, carom_point_id(p, L->id[b])),
                              carom_on_rates(&p->sys, L->id[b]) ? "prescribes a velocity" : "depends on time");
    return CAROM_OK;
}

static carom_status lay_out(search *s) {
    CAROM_TRY(check_still(s, s->grip.p.L.w));
    carom_grip_lay_out(&s->grip);
    return CAROM_OK;
}

// Contacts that the displacement would close; false: there are none.
static bool closes_more(search *s) {
    const carom_point *p = &s->grip.p;
    bool more = false;
    for (int b = 0; b < s->all.nb; ++b) {
        const int c = s->all.id[b] - p->ne;
        if (s->grip.with[c] || p->g[p->ne + c] + carom_column_dot(&s->all.W, s->all.at[b], s->d) >= 0) continue;
        s->grip.with[c] = more = true;
    }
    return more;
}

// -- a step -------------------------------------------------------------------------------------------------------

// Are reactions x (by row) within their laws, up to rounding?
static bool admissible(const search *s, const double *x) {
    const double tiny = SOLVED * carom_norm_max(x, s->grip.rows);
    for (int b = 0; b < s->grip.p.L.nb; ++b) {
        const carom_block *k = &s->grip.block_of[b];
        const int tangents = carom_law_rows(k->law) - 1;
        if (k->law == CAROM_BILATERAL) continue;
        if (!(x[k->at] >= -tiny) || (tangents > 0 && carom_length(x + k->at + 1, tangents) > k->mu * x[k->at] + tiny))
            return false;
    }
    return true;
}

// Where M/tau^2 + K is indefinite, the laws may have several answers, near and far.  The near one: contacts that carry
// go on carrying, if the laws allow.
static bool carries_on(search *s, carom_problem *pb, double scale) {
    const carom_grip *h = &s->grip;
    const int n = h->rows;
    if (h->p.L.nb == h->p.ne) return false; // joints have one answer
    double *y = h->spare, *b = y + n, *work = b + n, *G = work + 3 * n;
    int m = 0, *carrying = h->pivot + n;
    for (int i = 0; i < h->p.L.nb; ++i)
        for (int k = h->row[i]; k < h->row[i + 1]; ++k)
            if (h->p.L.id[i] < h->p.ne || h->warm[h->dir[h->p.L.id[i]]] > 0) carrying[m++] = k;
    for (int j = 0; j < m; ++j) {
        b[j] = -h->c[carrying[j]];
        for (int i = 0; i < m; ++i) G[i + j * m] = h->G[carrying[i] + (size_t)carrying[j] * (size_t)n];
    }
    carom_dense_shortest(G, m, m, RANK, h->pivot, work, b, y);
    carom_zero(h->x, n);
    for (int j = 0; j < m; ++j) h->x[carrying[j]] = y[j];
    return admissible(s, h->x) && carom_residual(pb, NULL) <= CERTIFIED * scale;
}

// (STD-1)  Controllers answer what contacts do: their rows, and G.
static void answer_rows(search *s) {
    carom_grip *h = &s->grip;
    const size_t nv = (size_t)h->p.nv, m = (size_t)s->steady.m;
    for (int j = 0; j < h->rows && m > 0; ++j) {
        double *X = h->X + (size_t)j * nv;
        carom_steady_answer(&s->steady, &h->p, NULL, X, s->steady.rows + (size_t)j * m);
        for (int i = 0; i < h->rows; ++i)
            h->G[(size_t)i + (size_t)j * (size_t)h->rows] = carom_dot(h->in + (size_t)i * nv, X, h->p.nv);
    }
}

// What controllers have to change, as slowly as the step goes.
static void answer_forces(search *s, double tau) {
    carom_steady *c = &s->steady;
    if (c->m == 0) return;
    carom_steady_error(c, &s->grip.p);
    carom_axpy(c->r, -s->period / tau, c->moved, c->m);
    carom_steady_answer(c, &s->grip.p, c->r, s->d, c->dz);
}

// Reactions of joints to what controllers have answered: with all forces at once.
static void react(search *s) {
    carom_grip *h = &s->grip;
    const carom_point *p = &h->p;
    carom_add(s->left, p->f, -1, s->predicted, p->nv);
    for (int i = 0; i < s->steady.m; ++i)
        carom_axpy(s->left, s->steady.dz[i], s->steady.F + (size_t)i * (size_t)p->nv, p->nv);
    for (int k = 0; k < h->nj; ++k) h->joint[k] = -p->g[k];
    carom_grip_solve(h, s->left, h->joint);
}

// (RST-2); CAROM_RETRY: a smaller tau may do.
static carom_status displace(search *s, double tau) {
    carom_point *p = &s->grip.p;
    if (p->L.nb < s->grip.nj) CAROM_TRY(carom_grip_gather(&s->grip)); // at the start
    CAROM_TRY(carom_point_tangent(p, s->grip.lambda, s->grip.err));
    carom_matrix_zero(s->grip.B);
    carom_matrix_add(s->grip.B, 1, p->K);
    carom_matrix_add(s->grip.B, 1 / (tau * tau), p->M);
    if (carom_grip_factor(&s->grip) != CAROM_OK) return CAROM_RETRY;
    if (s->steady.m > 0) {
        CAROM_TRY(carom_steady_linearise(&s->steady, p, s->grip.err));
        if (!carom_steady_factor(&s->steady, &s->grip, s->period / tau)) return CAROM_RETRY;
    }
    s->all.nb = 0;
    for (int c = 0; c < p->nc; ++c) {
        if (p->g[p->ne + c] < HUGE_VAL) s->all.id[s->all.nb++] = p->ne + c;
        s->grip.with[c] = p->g[p->ne + c] <= CAROM_CLOSE * s->grip.length || s->grip.warm[s->grip.dir[p->ne + c]] > 0;
    }
    CAROM_TRY(carom_point_directions(p, &s->all, s->grip.err));
    for (int round = 0; round < ROUNDS; ++round) {
        CAROM_TRY(carom_grip_gather(&s->grip));
        CAROM_TRY(lay_out(s));
        carom_grip_fill(&s->grip);
        answer_rows(s);
        carom_add(s->d, p->f, -1, s->predicted, p->nv);
        for (int k = 0; k < s->grip.nj; ++k) s->grip.joint[k] = -p->g[k];
        carom_grip_solve(&s->grip, s->d, s->grip.joint);
        answer_forces(s, tau);
        double scale = 0;
        for (int b = 0; b < p->L.nb; ++b)
            for (int k = s->grip.row[b]; k < s->grip.row[b + 1]; ++k) {
                const double *in = s->grip.in + (size_t)k * (size_t)p->nv;
                s->grip.c[k] =
                    carom_dot(in, s->d, p->nv) + (k == s->grip.row[b] ? p->g[p->L.id[b]] : carom_dot(in, s->D, p->nv));
                scale = fmax(scale, fabs(s->grip.c[k]));
            }
        carom_problem pb = carom_grip_problem(&s->grip);
        if (!carries_on(s, &pb, scale)) {
            carom_grip_recall(&s->grip);
            const carom_report report = s->grip.rows > 0 ? carom_chain_solve(s->grip.chain, &pb, SOLVED * scale)
                                                         : (carom_report){.converged = true};
            if (!report.converged && !(report.residual <= USABLE * scale)) return CAROM_RETRY;
        }
        for (int k = 0; k < s->grip.rows; ++k)
            carom_axpy(s->d, s->grip.x[k], s->grip.X + (size_t)k * (size_t)p->nv, p->nv),
                carom_axpy(s->steady.dz, s->grip.x[k], s->steady.rows + k * s->steady.m, s->steady.m);
        if (!isfinite(carom_norm_max(s->d, p->nv))) return CAROM_RETRY;
        if (!closes_more(s)) break;
    }
    if (s->steady.m > 0 && s->grip.nj > 0) react(s);
    carom_grip_spread(&s->grip);
    carom_grip_remember(&s->grip);
    return CAROM_OK;
}

// Length of a force in the metric of the masses, so that forces and torques can be added.
static double norm(const search *s, const double *x) {
    double sum = 0;
    for (int i = 0; i < s->grip.p.nv; ++i) sum += x[i] * x[i] / *carom_matrix_entry(s->grip.p.M, i, i);
    return sqrt(sum);
}

// r = f + W lambda, the sum of the absolute values of its terms, and what rounding may leave in f.  Terms that vanish
// at rest are compared with those on the way.
static void balance(search *s) {
    carom_point *p = &s->grip.p;
    double most = carom_norm_max(p->q, p->nq);
    for (int i = 0; i < p->nv; ++i) s->left[i] = p->nq == p->nv ? p->q[i] : most;
    carom_matrix_magnitude(s->size, p->K, s->left);
    s->rounding = CAROM_ROUNDING_SUM * norm(s, s->size);
    for (int i = 0; i < p->nv; ++i) s->size[i] = fabs(p->f[i]);
    carom_copy(s->r, p->f, p->nv);
    for (int k = 0; k < p->L.at[p->L.nb]; ++k) {
        const carom_entries W = carom_entries_of(&p->L.W, k);
        for (int e = 0; e < W.n; ++e) {
            const int i = carom_entry_row(&W, e);
            s->r[i] += W.a[e] * s->grip.lambda[k], s->size[i] += fabs(W.a[e] * s->grip.lambda[k]);
        }
    }
    const double size = norm(s, s->size);
    s->strength = fmax(s->strength, size);
    s->balance = s->strength > 0 ? norm(s, s->r) / fmax(size, WEAK * s->strength) : 0;
}

// Largest violation of gaps: joints that are open, contacts that penetrate, contacts that push although they are open.
static double gap_error(const search *s) {
    const carom_point *p = &s->grip.p;
    double most = carom_norm_max(p->g, p->ne);
    for (int c = 0; c < p->nc; ++c) {
        const double g = p->g[p->ne + c], wrong = s->grip.warm[s->grip.dir[p->ne + c]] > 0 ? fabs(g) : -g;
        if (wrong > most) most = wrong;
    }
    return most;
}

static void move(search *s, double *to, const double *from, const double *d) {
    if (s->grip.p.sys.move) s->grip.p.sys.move(s->grip.p.sys.model, to, from, 1, d);
    else carom_add(to, from, 1, d, s->grip.p.nq);
}

// M D/tau^2, the force that a step leaves; its size.
static double inertia(search *s, double tau) {
    carom_zero(s->predicted, s->grip.p.nv);
    carom_matrix_muladd(s->predicted, 1 / (tau * tau), s->grip.p.M, s->D);
    return norm(s, s->predicted);
}

// d'(M/tau^2 + K) d is not negative: else the step leads to a maximum.
static bool downhill(search *s, double tau) {
    carom_point *p = &s->grip.p;
    carom_zero(s->r, p->nv);
    carom_matrix_muladd(s->r, 1 / (tau * tau), p->M, s->d);
    carom_matrix_muladd(s->r, 1, p->K, s->d);
    return carom_dot(s->d, s->r, p->nv) >= 0;
}

static carom_status look(search *s) {
    CAROM_TRY(carom_point_look(&s->grip.p, s->grip.err));
    return carom_point_directions(&s->grip.p, &s->grip.p.L, s->grip.err);
}

// How much is missing after one iteration, relative to the step.
static double missing(search *s, double tau) {
    carom_point *p = &s->grip.p;
    balance(s);
    const double size = inertia(s, tau);
    for (int i = 0; i < p->nv; ++i) s->left[i] = s->r[i] - s->predicted[i];
    const double off = norm(s, s->left), open = carom_norm_max(p->g, p->ne);
    return fmax(off > 0 ? off / fmax(size, NOTHING * s->strength) : 0,
                open > 0 ? open / (MOVED * carom_point_largest(p, s->D, p->nv) + CLOSED * s->grip.length) : 0);
}

static carom_status iterate(search *s, double tau, int *count) {
    carom_point *p = &s->grip.p;
    double last = HUGE_VAL;
    carom_zero(s->D, p->nv);
    carom_zero(s->steady.moved, s->steady.m);
    for (*count = 1; *count <= NEWTON; ++*count) {
        inertia(s, tau);
        CAROM_TRY(displace(s, tau));
        // forces of controllers and of states have no valleys
        if (*count == 1 && s->steady.m == 0 && p->sys.nstates == 0 && !downhill(s, tau)) return CAROM_RETRY;
        move(s, p->q, p->q, s->d);
        carom_axpy(s->steady.z, 1, s->steady.dz, s->steady.m);
        carom_axpy(s->steady.moved, 1, s->steady.dz, s->steady.m);
        carom_steady_hold(&s->steady, p);
        carom_axpy(s->D, 1, s->d, p->nv);
        if (look(s) != CAROM_OK) return CAROM_RETRY;
        const double now = missing(s, tau);
        if (now < GOOD) return CAROM_OK;
        if (*count > 1 && !(now < 2 * last)) return CAROM_RETRY; // it diverges: a shorter pseudo-step
        last = now;
    }
    return CAROM_RETRY;
}

// One step from p->q; *count: iterations.  CAROM_RETRY: nothing has changed.
static carom_status step(search *s, double tau, int *count) {
    carom_point *p = &s->grip.p;
    carom_copy(s->q, p->q, p->nq);
    carom_copy(s->kept, s->grip.warm, p->n);
    carom_copy(s->steady.before, s->steady.z, s->steady.m);
    const carom_status status = iterate(s, tau, count);
    if (status == CAROM_RETRY) {
        carom_copy(p->q, s->q, p->nq);
        carom_copy(s->steady.z, s->steady.before, s->steady.m);
        carom_steady_hold(&s->steady, p);
        carom_copy(s->grip.warm, s->kept, p->n);
        CAROM_TRY(look(s));
        for (int b = 0; b < p->L.nb; ++b)
            for (int k = p->L.at[b]; k < p->L.at[b + 1]; ++k)
                s->grip.lambda[k] = s->grip.warm[s->grip.dir[p->L.id[b]] + k - p->L.at[b]];
    }
    return status;
}

// -- what is in the way -------------------------------------------------------------------------------------------

static carom_status describe(search *s, carom_equilibrium *rest) {
    const carom_point *p = &s->grip.p;
    double most = -1;
    for (int i = 0; i < p->nv; ++i) {
        const double size = s->r[i] * s->r[i] / *carom_matrix_entry(p->M, i, i);
        if (size > most) most = size, rest->unbalanced = i, rest->force_left = s->r[i];
    }
    char why[200] = "nothing holds it";
    for (int b = 0; b < p->L.nb; ++b) {
        const int id = p->L.id[b], first = p->L.at[b], tangents = p->L.at[b + 1] - first - 1;
        if (id < p->ne || tangents < 1 || s->grip.slides[b] || !(s->grip.lambda[first] > 0)) continue;
        if (carom_length(s->grip.lambda + first + 1, tangents) <
            (1 - AT_LIMIT) * p->contacts[id - p->ne].friction * s->grip.lambda[first])
            continue;
        snprintf(why, sizeof why, "friction of contact '%.60s' is at its limit",
                 carom_model_constraint(p->model, carom_point_id(p, id)));
        break;
    }
    if (carom_model_state(p->model, rest->unbalanced))
        return carom_fail(s->grip.err, CAROM_NOT_CONVERGED, "no equilibrium found: the rate of '%.60s' is %.6g; %s",
                          carom_point_rate(p, rest->unbalanced),
                          rest->force_left / *carom_matrix_entry(p->M, rest->unbalanced, rest->unbalanced), why);
    return carom_fail(s->grip.err, CAROM_NOT_CONVERGED, "no equilibrium found: unbalanced force %.6g on '%.60s'; %s",
                      rest->force_left, carom_point_rate(p, rest->unbalanced), why);
}

// -- the search ---------------------------------------------------------------------------------------------------

// A first tau: the forces move the model by a hundredth of its size.
static double first_tau(search *s) {
    carom_point *p = &s->grip.p;
    double most = 0;
    for (int i = 0; i < p->nv; ++i) most = fmax(most, fabs(p->f[i]) / *carom_matrix_entry(p->M, i, i));
    return most > 0 ? sqrt(0.01 * s->grip.length / most) : 1;
}

static carom_status descend(search *s, carom_equilibrium *rest) {
    carom_point *p = &s->grip.p;
    static const double TIGHT = 1e-13, ENOUGH = 1e-10; // residuals, relative: to end with; where rounding does not
                                                       // allow more
    double best = HUGE_VAL;
    CAROM_TRY(carom_point_look(p, s->grip.err));
    carom_grip_measure(&s->grip);
    p->L.nb = 0;
    p->L.at[0] = 0;
    carom_copy(s->q_best, p->q, p->nq);
    carom_copy(s->steady.best, s->steady.z, s->steady.m);
    s->strength = norm(s, p->f);
    const double far = FAR * fmax(s->grip.length, 1);
    double tau = first_tau(s), least = SHORTEST * tau, most = LONGEST, gap = HUGE_VAL;
    for (rest->iterations = 1; rest->iterations <= MOST_STEPS; ++rest->iterations) {
        int count = 0;
        const carom_status status = step(s, tau, &count);
        if (status == CAROM_RETRY) {
            tau *= SHRINK;
            if (tau < least) break;
            continue;
        }
        CAROM_TRY(status);
        carom_grip_measure(&s->grip);
        const double control = carom_steady_error(&s->steady, p), before = gap;
        gap = gap_error(s) / s->grip.length;
        const double now = fmax(fmax(s->balance, control), gap);
        const bool better = now < 0.5 * best, // halved: it is worth going on
                   exact = norm(s, s->r) <= s->rounding && gap <= ENOUGH && control <= ENOUGH;
        if (now < best)
            best = now, carom_copy(s->q_best, p->q, p->nq), carom_copy(s->steady.best, s->steady.z, s->steady.m);
        if (now <= TIGHT || ((now <= ENOUGH || exact) && !better)) return CAROM_OK;
        if (carom_point_largest(p, p->q, p->nq) > far) break;
        // (RST-3)  where K holds nothing, rounding of forces moves what contacts hold by eps f tau^2/m
        if (s->balance <= ENOUGH && control <= ENOUGH && gap > ENOUGH && gap > 0.5 * before) tau = most = SHRINK * tau;
        else if (count <= QUICK) tau = fmin(GROW * tau, most);
    }
    carom_copy(p->q, s->q_best, p->nq);
    carom_copy(s->steady.z, s->steady.best, s->steady.m);
    carom_steady_hold(&s->steady, p);
    CAROM_TRY(carom_point_look(p, s->grip.err));
    return CAROM_NOT_CONVERGED;
}

// -- forces -------------------------------------------------------------------------------------------------------

// Accelerations of the contacts that are closed, with the reactions that were found.
static carom_status accelerate(search *s) {
    const carom_point *p = &s->grip.p;
    for (int c = 0; c < p->nc; ++c)
        s->grip.with[c] = p->g[p->ne + c] <= CAROM_CLOSE * s->grip.length || s->grip.warm[s->grip.dir[p->ne + c]] > 0;
    CAROM_TRY(carom_grip_accelerate(&s->grip));
    CAROM_TRY(check_still(s, s->grip.u)); // at rest the curvature is the acceleration of what is given by time
    carom_grip_recall(&s->grip);
    carom_grip_spread(&s->grip);
    return CAROM_OK;
}

// The largest part of the way along z, up to `most`, on which reactions stay admissible; the admissible ones are
// convex.
static double way(search *s, const double *z, double most) {
    double low = 0, high = most, *y = s->grip.spare;
    for (int i = 0; i < 200; ++i) {
        const double middle = i == 0 ? most : 0.5 * (low + high);
        carom_add(y, s->grip.x, middle, z, s->grip.rows);
        if (admissible(s, y)) low = middle;
        else high = middle;
        if (low == most) break;
    }
    return low;
}

// y = G^+ G x, the part of reactions x that moves something; returns the rank of G.
static int moving(search *s, const double *x, double *y) {
    const int n = s->grip.rows;
    double *b = s->grip.spare + n, *work = b + n, *G = work + 3 * n;
    carom_zero(b, n);
    for (int j = 0; j < n; ++j) carom_axpy(b, x[j], s->grip.G + (size_t)j * (size_t)n, n);
    carom_copy(G, s->grip.G, (ptrdiff_t)n * n);
    return carom_dense_shortest(G, n, n, RANK, s->grip.pivot, work, b, y);
}

// The longest z = e_i - G^+ G e_i: where one combination of reactions moves nothing, it is that one.
static void free_combination(search *s, double *z) {
    const int n = s->grip.rows;
    double *e = s->grip.spare + 5 * n + n * n, *y = e + n, longest = 0; // behind what moving() uses
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) e[k] = k == i;
        moving(s, e, y);
        for (int k = 0; k < n; ++k) y[k] = e[k] - y[k];
        const double length = carom_length(y, n);
        if (length > longest) longest = length, carom_copy(z, y, n);
    }
}

// Where reactions are not unique: the smallest of them, or the nearest to these that is admissible.  If one combination
// is free and no constraint was left out, also the ranges that it allows, low and high by recorded direction.
static void share(search *s, carom_equilibrium *rest) {
    const int n = s->grip.rows;
    const double FAR = 1e9; // of the forces: an end that lies farther is none
    double *z = s->grip.u;
    rest->free = s->grip.p.redundant;
    if (n == 0) return;
    const int nullity = n - moving(s, s->grip.x, z);
    rest->free += nullity;
    if (nullity == 0 || !admissible(s, s->grip.x)) return;
    for (int i = 0; i < n; ++i) z[i] -= s->grip.x[i];
    carom_axpy(s->grip.x, way(s, z, 1), z, n);
    carom_grip_spread(&s->grip);
    carom_grip_remember(&s->grip);
    if (rest->free != 1 || nullity != 1) return;
    free_combination(s, z);
    const double size = carom_norm_max(s->grip.x, n), up = way(s, z, FAR * size);
    for (int i = 0; i < n; ++i) z[i] = -z[i];
    const double down = way(s, z, FAR * size);
    if (up >= FAR * size || down >= FAR * size) return; // without limit
    if ((up + down) * carom_norm_max(z, n) < NOTHING * size) { // limits of friction leave no choice
        rest->free = 0;
        return;
    }
    double *const end[] = {s->low, s->high}, far[] = {down, -up};
    for (int side = 0; side < 2; ++side) {
        carom_axpy(s->grip.x, far[side], z, n);
        carom_grip_spread(&s->grip);
        for (int b = 0; b < s->grip.p.L.nb; ++b)
            for (int k = s->grip.p.L.at[b]; k < s->grip.p.L.at[b + 1]; ++k)
                end[side][s->grip.dir[s->grip.p.L.id[b]] + k - s->grip.p.L.at[b]] = s->grip.lambda[k];
        carom_axpy(s->grip.x, -far[side], z, n);
    }
    carom_grip_spread(&s->grip);
}

// The certificate: laws of the contacts with accelerations, by the function that judges all answers, relative to the
// accelerations without reactions; balance of forces; gaps.  What rounding of f may leave does not count: |W_k'M^-1 r|
// <= sqrt(G_kk) |r|.
static double certify(search *s) {
    carom_problem pb = carom_grip_problem(&s->grip);
    double laws = s->grip.rows > 0 ? carom_residual(&pb, NULL) : 0, most = 0, scale = 0;
    balance(s);
    for (int k = 0; k < s->grip.rows; ++k) {
        most = fmax(most, sqrt(fabs(s->grip.G[(size_t)k * (size_t)(s->grip.rows + 1)])));
        scale = fmax(scale, fabs(s->grip.c[k]));
    }
    scale = fmax(scale, WEAK * most * s->strength);
    laws = laws > most * s->rounding ? laws / scale : 0;
    return fmax(fmax(fmax(norm(s, s->r) > s->rounding ? s->balance : 0, laws), gap_error(s) / s->grip.length),
                carom_steady_error(&s->steady, &s->grip.p));
}

// -- the answer ---------------------------------------------------------------------------------------------------

static void name_force(carom_equilibrium_force *f, const carom_model *m, int id, int k, int tangents) {
    const char *name = carom_model_constraint(m, id);
    const int part = carom_model_part(m, id);
    if (k == 0 && part == 0) snprintf(f->name, sizeof f->name, "%.60s.force", name);
    else if (k == 0) snprintf(f->name, sizeof f->name, "%.60s.force%d", name, part);
    else if (tangents == 1) snprintf(f->name, sizeof f->name, "%.60s.friction", name);
    else snprintf(f->name, sizeof f->name, "%.60s.friction%d", name, k);
}

// Reactions of all constraints of the model, in the frames that records have.
static carom_status answer(search *s, carom_equilibrium *rest, carom_error *err) {
    carom_point *p = &s->grip.p;
    const carom_model *m = p->model;
    const carom_system *all = carom_model_system(m);
    const int shift = p->redundant;
    carom_copy(rest->q, p->q, p->nq);
    carom_copy(rest->signals, s->steady.z, s->steady.m);
    const size_t n = (size_t)rest->nforce;
    double *x = calloc(2 * n + 1, sizeof *x), *y = x ? x + n : NULL;
    int *dir = calloc((size_t)(all->ne + all->nc) + 1, sizeof *dir);
    if (!x || !dir)
        return free(x), free(dir), carom_fail(err, CAROM_NO_MEMORY, "not enough memory for the reactions at rest");
    for (int id = 0; id < all->ne + all->nc; ++id) dir[id + 1] = dir[id] + carom_system_recorded(all, id);
    for (int i = 0; i < p->ne; ++i) x[dir[carom_point_id(p, i)]] = s->grip.warm[s->grip.dir[i]];
    if (shift) carom_redundant_share(&p->independent.rows, x);
    for (int i = s->grip.dir[p->ne]; i < p->n; ++i) x[i + shift] = s->grip.warm[i];
    for (int i = 0; i < rest->nforce; ++i) y[i] = x[i];
    if (carom_model_turned(m)) carom_model_reactions(m, p->work, p->t, p->q, dir, rest->nforce, x, y);
    rest->nforce = 0;
    for (int id = 0; id < all->ne + all->nc; ++id)
        for (int k = dir[id]; k < dir[id + 1]; ++k) {
            const carom_contact *c = id < all->ne ? NULL : &all->contacts[id - all->ne];
            const int tangent = k - dir[id];
            // as in records
            const double scale = c && c->ellipse[0] > 0 && (tangent == 1 || tangent == 2) ? c->ellipse[tangent - 1] : 1;
            if (c && c->friction_only && tangent == 0) continue; // friction alone
            carom_equilibrium_force *f = &rest->force[rest->nforce++];
            *f = (carom_equilibrium_force){.id = id, .value = scale * y[k], .low = NAN, .high = NAN};
            name_force(f, m, id, k - dir[id], dir[id + 1] - dir[id] - 1);
            if (shift || isnan(s->low[k])) continue;
            f->low = scale * fmin(s->low[k], s->high[k]), f->high = scale * fmax(s->low[k], s->high[k]);
        }
    for (int b = 0; b < p->L.nb; ++b)
        if (p->L.id[b] >= p->ne)
            rest->contact[p->L.id[b] - p->ne] =
                s->grip.slides[b] ? carom_length(s->grip.direction + CAROM_TANGENTS * b, CAROM_TANGENTS) > 0
                                        ? CAROM_EQUILIBRIUM_SLIDES
                                        : CAROM_EQUILIBRIUM_CLOSED
                : p->L.at[b + 1] - p->L.at[b] > 1 ? CAROM_EQUILIBRIUM_STICKS
                                                  : CAROM_EQUILIBRIUM_CLOSED;
    free(x);
    free(dir);
    return CAROM_OK;
}

static carom_status find(search *s, carom_equilibrium *rest, carom_error *err) {
    const carom_status status = descend(s, rest);
    if (status == CAROM_NOT_CONVERGED && err->code == CAROM_NOT_CONVERGED) return status; // it has said why
    if (status != CAROM_OK && status != CAROM_NOT_CONVERGED) return status;
    CAROM_TRY(accelerate(s));
    if (status == CAROM_NOT_CONVERGED) {
        carom_problem pb = carom_grip_problem(&s->grip);
        if (s->grip.rows > 0)
            carom_chain_solve(s->grip.chain, &pb, CERTIFIED * carom_norm_max(s->grip.c, s->grip.rows));
        carom_grip_spread(&s->grip);
        carom_grip_remember(&s->grip);
        balance(s);
        describe(s, rest);
        const carom_error why = *err;
        rest->residual = 1;
        CAROM_TRY(answer(s, rest, err));
        *err = why;
        return status;
    }
    rest->residual = certify(s);
    carom_copy(s->kept, s->grip.warm, s->grip.p.n);
    share(s, rest);
    const double shared = certify(s);
    if (shared > fmax(10 * rest->residual, CLOSED)) { // directions are almost dependent: what was found is better
        carom_copy(s->grip.warm, s->kept, s->grip.p.n);
        for (int i = 0; i < s->grip.p.n; ++i) s->low[i] = s->high[i] = NAN;
    } else {
        rest->residual = shared;
    }
    CAROM_TRY(answer(s, rest, err));
    if (rest->residual <= WRONG) return CAROM_OK;
    return carom_fail(err, CAROM_NOT_CONVERGED,
                      "no equilibrium found: the best candidate violates its contact laws by %.3g (relative)",
                      rest->residual);
}

carom_status carom_equilibrium_find(carom_equilibrium *rest, const carom_model *m, const double *q, carom_error *err) {
    carom_error own = {0};
    if (!err) err = &own;
    if (rest) *rest = (carom_equilibrium){0};
    if (!rest || !m) return carom_fail(err, CAROM_BAD_INPUT, "null model or output pointer");
    const carom_system *all = carom_model_system(m);
    search s = {0};
    *rest = (carom_equilibrium){.nq = all->nq, .nv = all->nv, .nc = all->nc, .unbalanced = -1, .residual = NAN};
    for (int id = 0; id < all->ne + all->nc; ++id) rest->nforce += carom_system_recorded(all, id);
    rest->q = calloc((size_t)all->nq, sizeof *rest->q);
    rest->force = calloc((size_t)rest->nforce + 1, sizeof *rest->force);
    rest->contact = calloc((size_t)all->nc + 1, sizeof *rest->contact);
    rest->nsignals = all->signals->nsamplers > 0 ? all->signals->ni - all->signals->nset : 0;
    rest->signals = calloc((size_t)rest->nsignals + 1, sizeof *rest->signals);
    for (int k = 0; k < all->signals->nsamplers; ++k) s.period = fmax(s.period, all->signals->samplers[k].sample);
    *err = (carom_error){0};
    carom_status status = rest->q && rest->force && rest->contact && rest->signals
                              ? CAROM_OK
                              : carom_fail(err, CAROM_NO_MEMORY, "not enough memory for an equilibrium");
    if (status == CAROM_OK) status = open(&s, m, err);
    if (status == CAROM_OK) {
        for (int i = 0; i < all->nv; ++i)
            if (carom_model_state(m, i)) s.grip.p.q[i] = carom_model_v0(m)[i];
        if (q) carom_copy(s.grip.p.q, q, all->nq);
        carom_copy(rest->q, s.grip.p.q, all->nq);
        for (int i = 0; i < s.grip.p.n; ++i) s.low[i] = s.high[i] = NAN;
        status = find(&s, rest, err);
    }
    close(&s);
    if (rest->force && !rest->force[0].name[0]) rest->nforce = 0; // they were not found
    return status;
}

void carom_equilibrium_free(carom_equilibrium *rest) {
    if (!rest) return;
    free(rest->q);
    free(rest->force);
    free(rest->contact);
    free(rest->signals);
    *rest = (carom_equilibrium){0};
}

// newton.c: semi-smooth Newton method on the laws, warm-started.
//
// Spec: docs/solvers.md, "newton".  Sources: P. Alart, A. Curnier, Comput. Methods Appl. Mech. Engrg. 92 (1991)
// 353-375; safeguard without friction: J. J. Judice, F. M. Pires, Comput. Oper. Res. 21 (1994) 587-596.  Every block is
// in a state (open, stick, slip) read off p - u/d; the law linearised in that state is a linear system in the new p.
// Open contacts and planar slip leave no equation of their own, so the system is small.  A singular one gets the
// shortest least-squares step.  What does not converge so is tried again with a proximal term, which makes dependent
// contacts independent.  Success is likely, not certain: a chain has something behind it.
#include "base/tolerance.h"
#include "contact/law.h"
#include "contact/residual.h"
#include "linalg/dense.h"
#include "solver/solvers.h"

static const double SAME = 1e-14;       // asymmetry of G by rounding, relative
static const double NULL_PIVOT = 1e-11; // of the largest: pivots of dependent contacts, symmetric matrix
static const double NULL_SLIP = 1e-12;  // the same with slip, where a wrong verdict costs a dearer step
static const double ARMIJO = 1e-4;      // least part of the fall that the slope promises; the usual one
static const double NEARLY = 1e6;      // of the target: a start that needs few changes
static const double LEAST_DELTA = 1e-9; // proximal term: a smaller one makes nothing independent

enum { FEW = 96 }; // unknowns up to which a singular system with friction gets the shortest step (piles at rest need
                   // one such step), and
                    // rows up to which the halving sequence is tried

typedef enum { OPEN, STICK, SLIP } state; // frictionless closed contacts: STICK

typedef struct {
    state is;
    double s[CAROM_TANGENTS]; // SLIP: direction of p_T
    double kappa;             // SLIP: rho / |z|, in [0, 1]
} mode;

// Unknown of the reduced system: column G_:row + f G_:row+1, equation row `row`.
typedef struct {
    int row, block;
    double f;
} unknown;

typedef struct {
    double *d;               // scales                     n
    double *u, *f;           // velocity, natural map      n
    double *p, *old;         // trial, its start           n
    double *best, *safe;     // best trial; best of all    n
    double delta;            // proximal term, 0: none
    double *centre, *c;      // its centre, c with it      n
    mode *now, *next;        // nb
    unknown *x;              // n
    double *A;               // reduced system             n x n
    double *b, *step;        // n
    double *work;            // 3 n
    int *pivot;              // n
    int m;                   // unknowns
    bool symmetric;          // no slip: A is a principal part of G
    bool friction;           // any block with mu > 0
    bool singular;           // a null pivot was met
    bool dependent;          // many contacts with friction turned out to be dependent
    double tol, target;      // error asked for, error to reach
} newton;

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    newton *w = work;
    const size_t k = (size_t)n;
    double **vectors[] = {&w->d, &w->u, &w->f, &w->p, &w->old, &w->best, &w->b, &w->step, &w->centre, &w->c, &w->safe};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = carom_allocate(mem, k);
    w->now = carom_allocate_bytes(mem, (size_t)nb * sizeof(mode));
    w->next = carom_allocate_bytes(mem, (size_t)nb * sizeof(mode));
    w->x = carom_allocate_bytes(mem, k * sizeof(unknown));
    w->A = carom_allocate(mem, k * k);
    w->work = carom_allocate(mem, 3 * k);
    w->pivot = carom_allocate_ints(mem, k);
}

// (SOL-16)  u = G p + c + delta d (p - centre)
static void multiply(newton *w, const carom_problem *pb) {
    carom_problem_multiply(pb, w->p, w->u);
    if (w->delta > 0)
        for (int i = 0; i < pb->n; i++) w->u[i] += w->delta * w->d[i] * (w->p[i] - w->centre[i]);
}

// (SOL-12)  z = p - u/d decides: open when z_N <= 0, stick when |z_T| <= mu z_N, slip else.
static void read_states(const newton *w, const carom_problem *pb, mode *z) {
    for (int k = 0; k < pb->nb; k++) {
        const carom_block *b = pb->block + k;
        const int i = b->at;
        const double zN = w->d[i] * w->p[i] - w->u[i];
        z[k].is = zN > 0 ? STICK : OPEN;
        if (!(zN > 0) || !carom_has_friction(b)) continue;
        const double d = w->d[i + 1], rho_dN = b->mu * d * zN, z1 = d * w->p[i + 1] - w->u[i + 1];
        if (b->law == CAROM_PLANAR) {
            if (fabs(z1) * w->d[i] <= rho_dN) continue;
            z[k].is = SLIP;
            z[k].s[0] = z1 > 0 ? 1 : -1;
            continue;
        }
        const int tangents = carom_block_tangents(b);
        double *s = z[k].s, ss = z1 * z1;
        s[0] = z1;
        for (int t = 1; t < tangents; t++) s[t] = d * w->p[i + 1 + t] - w->u[i + 1 + t], ss += s[t] * s[t];
        const double length = sqrt(ss);
        if (length * w->d[i] <= rho_dN) continue;
        z[k].is = SLIP;
        z[k].kappa = rho_dN / (length * w->d[i]);
        for (int t = 0; t < tangents; t++) s[t] /= length;
    }
}

static void list_unknowns(newton *w, const carom_problem *pb) {
    w->m = 0;
    w->symmetric = true;
    for (int k = 0; k < pb->nb; k++) {
        const carom_block *b = pb->block + k;
        const mode *z = w->now + k;
        if (z->is == OPEN) continue;
        const bool rubs = carom_has_friction(b), carried = z->is == SLIP && b->law == CAROM_PLANAR;
        w->symmetric = w->symmetric && z->is == STICK;
        w->x[w->m++] = (unknown){b->at, k, carried ? b->mu * z->s[0] : 0}; // planar slip: p_T = mu s p_N
        for (int t = 1; rubs && !carried && t < carom_law_rows(b->law); t++) w->x[w->m++] = (unknown){b->at + t, k, 0};
    }
}

// kappa P of (SOL-13); the diagonal from |s| = 1, without cancellation.
static void across(const mode *z, int tangents, double P[CAROM_TANGENTS][CAROM_TANGENTS]) {
    const double *s = z->s;
    for (int i = 0; i < tangents; i++) {
        P[i][i] = 0;
        for (int j = 0; j < tangents; j++)
            if (j != i) P[i][i] += z->kappa * s[j] * s[j];
        for (int j = i + 1; j < tangents; j++) P[i][j] = P[j][i] = -z->kappa * s[i] * s[j];
    }
}

// x = P x
static void turn(const double P[CAROM_TANGENTS][CAROM_TANGENTS], int tangents, double *x) {
    double y[CAROM_TANGENTS];
    for (int i = 0; i < tangents; i++) {
        y[i] = P[i][0] * x[0];
        for (int j = 1; j < tangents; j++) y[i] += P[i][j] * x[j];
    }
    for (int i = 0; i < tangents; i++) x[i] = y[i];
}

// (SOL-13)  Slip with two tangents and more:  d p_T - mu d s p_N - kappa P (d p_T - u_T) = 0,  P = I - s s'.  On entry
//           the
// tangential rows of A hold the rows of u_T, and b the negative of its constant part.
static void slip_rows(newton *w, const mode *z, const carom_block *b, int row) {
    const int tangents = carom_block_tangents(b);
    const double d = w->d[b->at + 1];
    double P[CAROM_TANGENTS][CAROM_TANGENTS];
    across(z, tangents, P);
    for (int j = 0; j < w->m; j++) turn(P, tangents, w->A + row + (size_t)j * w->m);
    turn(P, tangents, w->b + row);
    double *N = w->A + row + (size_t)(row - 1) * w->m;
    for (int i = 0; i < tangents; i++) {
        N[i] -= b->mu * d * z->s[i];
        for (int j = 0; j < tangents; j++) N[i + (size_t)(j + 1) * w->m] += i == j ? d * (1 - P[i][i]) : -d * P[i][j];
    }
}

// A x = b in the present states for the new p (from == NULL), or for the change of a `from` that already has
// the shape of the states; u belongs to it.
static void assemble(newton *w, const carom_problem *pb, const double *from, const double *u) {
    const int m = w->m;
    for (int j = 0; j < m; j++) {
        const double *g = pb->G + (size_t)w->x[j].row * pb->ld, f = w->x[j].f;
        double *a = w->A + (size_t)j * m;
        if (f == 0)
            for (int i = 0; i < m; i++) a[i] = g[w->x[i].row];
        else
            for (int i = 0; i < m; i++) a[i] = g[w->x[i].row] + f * g[w->x[i].row + pb->ld];
    }
    const double *c = from ? u : w->delta > 0 ? w->c : pb->c;
    if (w->delta > 0) // before slip_rows turns rows of u_T into rows of the law
        for (int i = 0; i < m; i++) w->A[(size_t)i * (m + 1)] += w->delta * w->d[w->x[i].row];
    for (int i = 0; i < m; i++) w->b[i] = -c[w->x[i].row];
    for (int i = 0; i < m; i++) {
        const carom_block *b = pb->block + w->x[i].block;
        const mode *z = w->now + w->x[i].block;
        if (b->law < CAROM_SPATIAL || z->is != SLIP || w->x[i].row != b->at + 1) continue;
        slip_rows(w, z, b, i);
        if (!from) continue;
        const double d = w->d[b->at + 1], *p = from + b->at, k = z->kappa;
        const int tangents = carom_block_tangents(b);
        double along = z->s[0] * p[1];
        for (int t = 1; t < tangents; t++) along += z->s[t] * p[1 + t];
        for (int t = 0; t < tangents; t++) { // minus what d p_T - mu d s p_N - kappa P d p_T is at `from`
            const double beside = p[1 + t] - along * z->s[t];
            w->b[i + t] -= d * (p[1 + t] - b->mu * z->s[t] * p[0] - k * beside);
        }
    }
}

// Largest asymmetry of A below rounding?  Costs m^2/2 comparisons and saves half of the factorisation.
static bool symmetric(const newton *w) {
    const int m = w->m;
    if (!w->symmetric || m < (w->friction ? 6 : 3)) return false;
    for (int j = 0; j < m; j++)
        for (int i = j + 1; i < m; i++) {
            const double a = w->A[i + (size_t)j * m], b = w->A[j + (size_t)i * m];
            if (fabs(a - b) > SAME * (fabs(a) + fabs(b))) {
                const double scale = w->A[(size_t)i * (m + 1)] * w->A[(size_t)j * (m + 1)];
                if ((a - b) * (a - b) > SAME * SAME * scale) return false;
            }
        }
    return true;
}

// step = A^-1 b; false: singular, A is spoilt.  `basic`: for symmetric A a solution without the null pivots will do.
static bool solve_regular(newton *w, bool basic) {
    const int m = w->m;
    if (m == 0) return true;
    if (m == 1) {
        w->step[0] = w->b[0] / w->A[0];
        return w->A[0] != 0;
    }
    if (m == 2)
        return carom_dense_two(w->A[0], w->A[2], w->A[1], w->A[3], w->b[0], w->b[1], NULL_PIVOT, w->step, w->step + 1);
    for (int i = 0; i < m; i++) w->step[i] = w->b[i];
    if (symmetric(w)) {
        const bool full = carom_dense_ldl(w->A, m, m, NULL_PIVOT, w->work) == 0;
        w->singular = w->singular || !full;
        if (full || basic) carom_dense_ldl_solve(w->A, m, m, w->step);
        return full || basic;
    }
    if (!carom_dense_lu(w->A, m, m, NULL_SLIP, w->pivot)) return false;
    carom_dense_lu_solve(w->A, m, m, w->pivot, w->step);
    return true;
}

// p takes the shape of the states: open 0, planar slip on the cone, frictionless p_T = 0.
static void shape(const newton *w, const carom_problem *pb, double *p) {
    for (int k = 0; k < pb->nb; k++) {
        const carom_block *b = pb->block + k;
        const mode *z = w->now + k;
        double *x = p + b->at;
        const int rows = carom_law_rows(b->law);
        if (z->is == OPEN) x[0] = 0;
        if (z->is == SLIP && b->law == CAROM_PLANAR) x[1] = b->mu * z->s[0] * x[0];
        for (int t = 1; (z->is == OPEN || !carom_has_friction(b)) && t < rows; t++) x[t] = 0;
    }
}

static void expand(const newton *w, double *p) {
    for (int j = 0; j < w->m; j++) {
        p[w->x[j].row] += w->step[j];
        if (w->x[j].f != 0) p[w->x[j].row + 1] += w->x[j].f * w->step[j];
    }
}

// The new p of the present states into w->p, starting from w->old.  `correct`: as a change of old, which removes
// the rounding of an earlier solve in the same states.  False: many dependent contacts with friction, for which the
// shortest step is dear and the proximal sequence better.
static bool newton_step(newton *w, const carom_problem *pb, bool correct) {
    const int n = pb->n;
    list_unknowns(w, pb);
    if (!correct) {
        assemble(w, pb, NULL, NULL);
        if (solve_regular(w, false)) {
            for (int i = 0; i < n; i++) w->p[i] = 0;
            expand(w, w->p);
            return true;
        }
        if (w->friction && w->delta == 0 && w->m > FEW) {
            w->dependent = true;
            return false;
        }
    }
    for (int i = 0; i < n; i++) w->p[i] = w->old[i];
    shape(w, pb, w->p);
    multiply(w, pb);
    assemble(w, pb, w->p, w->u);
    const int m = w->m;
    // The change is small near the solution, so that even a basic one keeps the signs of p; the shortest one, with
    // impulses measured as velocities, is better and dearer.
    if (!solve_regular(w, m > 32)) {
        assemble(w, pb, w->p, w->u);
        for (int j = 0; j < m; j++)
            for (int i = 0; i < m; i++) w->A[i + (size_t)j * m] /= w->d[w->x[j].row];
        carom_dense_shortest(w->A, m, m, NULL_PIVOT, w->pivot, w->work, w->b, w->step);
        for (int j = 0; j < m; j++) w->step[j] /= w->d[w->x[j].row];
    }
    expand(w, w->p);
    return true;
}

// Natural map at w->p; the states there go to `next`.
static double look(newton *w, const carom_problem *pb, double *merit) {
    multiply(w, pb);
    read_states(w, pb, w->next);
    return carom_problem_map(pb, w->d, w->p, w->u, w->f, merit);
}

static void keep(newton *w, int n, double error, double *best) {
    if (!(error < *best)) return;
    *best = error;
    for (int i = 0; i < n; i++) w->best[i] = w->p[i];
}

static void take_states(newton *w) {
    mode *t = w->now;
    w->now = w->next;
    w->next = t;
}

// Blocks whose state changed; a change of the slip direction counts for planar blocks only.
static int changes(const newton *w, const carom_problem *pb, int *last) {
    int count = 0;
    for (int k = 0; k < pb->nb; k++) {
        const mode *a = w->now + k, *b = w->next + k;
        const bool turned = a->is == SLIP && b->is == SLIP && pb->block[k].law == CAROM_PLANAR && a->s[0] != b->s[0];
        if (a->is != b->is || turned) {
            count++;
            *last = k;
        }
    }
    return count;
}

// The states stay and the error does too: rounding sets the target then (CP-9).
static void lower_the_bar(newton *w, const carom_problem *pb) {
    carom_problem at = *pb;
    at.p = w->p;
    const double rounding = carom_rounding(&at);
    if (CAROM_LOWERED * rounding > w->target) w->target = fmin(CAROM_LOWERED * rounding, CAROM_LOWERED_MOST * w->tol);
}

// (SOL-14)  Without friction: all blocks that contradict their state change it; when their number has not fallen
// for a while, only the last of them does, which cannot go round in circles for positive definite G.
static int pivot_blocks(newton *w, const carom_problem *pb, double *best) {
    const int most = 60 + pb->nb, patience = 6;
    // what another solver left nearly done: change it as little as possible
    const bool near = *best < NEARLY * w->target;
    int fewest = pb->nb + 1, left = patience, same = 0, it = 0, stuck = 0;
    take_states(w);
    while (it < most) {
        for (int i = 0; i < pb->n; i++) w->old[i] = w->p[i];
        newton_step(w, pb, same > 0 || (near && it < 3));
        it++;
        const double error = look(w, pb, NULL);
        keep(w, pb->n, error, best);
        if (*best <= w->target || !(error < INFINITY)) break;
        if (w->delta == 0 && w->singular && ++stuck > 5) break; // dependent contacts: see run_proximal
        int last = 0;
        const int wrong = changes(w, pb, &last);
        same = wrong == 0 ? same + 1 : 0; // the right states, but not exact enough yet
        if (same > 1) lower_the_bar(w, pb);
        if (same > 2) break;
        if (wrong < fewest) {
            fewest = wrong;
            left = patience;
        } else if (left > 0) left--;
        if (left > 0 || wrong == 0) take_states(w);
        else w->now[last] = w->next[last];
    }
    return it;
}

// With friction, first the undamped method: when it works it needs a handful of steps, and in between the merit may
// rise.
static int run_free(newton *w, const carom_problem *pb, double *best) {
    const int most = 14;
    int same = 0, it = 0, last;
    take_states(w);
    while (it < most) {
        for (int i = 0; i < pb->n; i++) w->old[i] = w->p[i];
        it++;
        if (!newton_step(w, pb, same > 0)) break;
        const double error = look(w, pb, NULL);
        keep(w, pb->n, error, best);
        if (*best <= w->target || !(error < INFINITY)) break;
        same = changes(w, pb, &last) == 0 ? same + 1 : 0;
        if (same > 3) lower_the_bar(w, pb);
        if (same > 5) break;
        take_states(w);
    }
    return it;
}

// (SOL-15)  Then from the best point, damped: the step is halved until the sum of squares of the natural map falls.
static int run_damped(newton *w, const carom_problem *pb, double *best) {
    const int most = 40, n = pb->n;
    double merit;
    int it = 0;
    for (int i = 0; i < n; i++) w->p[i] = w->best[i];
    look(w, pb, &merit);
    while (it < most && *best > w->target) {
        for (int i = 0; i < n; i++) w->old[i] = w->p[i];
        take_states(w);
        it++;
        if (!newton_step(w, pb, false)) break;
        for (int i = 0; i < n; i++) w->step[i] = w->p[i] - w->old[i];
        bool falls = false;
        double t = 1;
        for (int k = 0; k < 12 && !falls; k++, t *= 0.5) {
            double trial;
            for (int i = 0; i < n; i++) w->p[i] = w->old[i] + t * w->step[i];
            const double error = look(w, pb, &trial);
            falls = trial < (1 - ARMIJO * t) * merit;
            if (falls) merit = trial;
            keep(w, n, error, best);
        }
        if (!falls) break;
    }
    return it;
}

static int iterate(newton *w, const carom_problem *pb, double *best) {
    int it = 0;
    if (*best <= w->target) return it;
    if (!w->friction) return pivot_blocks(w, pb, best);
    it = run_free(w, pb, best);
    const double goal = w->delta == 0 ? fmax(w->target, CAROM_AIM * pb->acceptable) : w->target; // (TOL-5)
    return *best <= goal || w->dependent ? it : it + run_damped(w, pb, best);
}

// Undamped steps on the problem with the proximal term, until its error is at most `goal`.
static int run_inner(newton *w, const carom_problem *pb, double goal, double *best) {
    int it = 0;
    while (it < 14 && *best > goal) {
        take_states(w);
        for (int i = 0; i < pb->n; i++) w->old[i] = w->p[i];
        newton_step(w, pb, false);
        it++;
        const double error = look(w, pb, NULL);
        keep(w, pb->n, error, best);
        if (!(error < INFINITY)) break;
    }
    return it;
}

// (SOL-18)  delta falls while the inner problems are easy, and rises when one fails.
static double next_delta(double delta, bool solved, int steps) {
    if (!solved) return fmin(CAROM_DELTA_GROWS * delta, CAROM_DELTA_MOST);
    const double by = steps <= 2 ? CAROM_DELTA_EASY : steps <= 4 ? CAROM_DELTA_FAIR : CAROM_DELTA_HARD;
    return fmax(delta * by, LEAST_DELTA);
}

// The problem with the proximal term around w->p: u = G p + c + delta d (p - centre).  Returns its error there.
static double centre(newton *w, const carom_problem *pb, double delta, double *inner) {
    w->delta = delta;
    for (int i = 0; i < pb->n; i++) {
        w->centre[i] = w->p[i];
        w->c[i] = pb->c[i] - delta * w->d[i] * w->p[i];
    }
    *inner = INFINITY;
    keep(w, pb->n, look(w, pb, NULL), inner);
    return *inner;
}

// The answer of that problem in the one without the term; false: not a number.
static bool accept(newton *w, const carom_problem *pb, double *best) {
    w->delta = 0;
    for (int i = 0; i < pb->n; i++) w->p[i] = w->best[i];
    const double error = look(w, pb, NULL);
    if (!(error < INFINITY)) return false;
    if (error < *best) {
        *best = error;
        for (int i = 0; i < pb->n; i++) w->safe[i] = w->p[i];
    }
    return true;
}

// (SOL-16)  A sequence of problems with a proximal term around the answer before: contacts are then independent, and
//           the term vanishes
// when the sequence comes to rest.  First each is solved completely and delta halved: with few contacts this keeps what
// is symmetric symmetric.  Three that cannot be solved end it.
static int run_proximal(newton *w, const carom_problem *pb, double *best) {
    const int most = 25, longest = w->friction ? 400 : 60;
    double delta = w->friction ? 0.1 : 0.01, inner; // chosen: without friction problems are easier
    int it = 0, failures = 0;
    for (int k = 0; k < most && *best > w->target && it < longest && failures < 3; k++, delta *= 0.5) {
        const double start = centre(w, pb, delta, &inner);
        const double before = *best;
        it += iterate(w, pb, &inner);
        if (w->friction && inner > CAROM_INNER * start && inner > w->target) failures++;
        if (!accept(w, pb, best) || carom_stagnates(CAROM_AIM * pb->acceptable, before, *best)) break;
    }
    return it;
}

// (SOL-18)  With friction, then the same with a delta that falls as fast as the problems allow, and rises when one
//           fails.
static int run_adaptive(newton *w, const carom_problem *pb, double *best) {
    const int n = pb->n, most = 200, longest = 600;
    double speed = 0, inner;
    for (int i = 0; i < n; i++) speed = fmax(speed, fabs(pb->c[i]));
    double delta = fmin(CAROM_DELTA_FIRST, CAROM_DELTA_ROOT * sqrt(*best / (speed > 0 ? speed : 1)));
    int it = 0;
    for (int i = 0; i < n; i++) w->p[i] = w->safe[i];
    for (int k = 0; k < most && *best > w->target && it < longest; k++) {
        const double start = centre(w, pb, delta, &inner);
        const double before = *best;
        const int steps = run_inner(w, pb, CAROM_INNER * start, &inner);
        it += steps;
        if (!accept(w, pb, best) || carom_stagnates(CAROM_AIM * pb->acceptable, before, *best)) break;
        if (!(inner < 0.5 * start)) // the error has not halved
            for (int i = 0; i < n; i++) w->p[i] = w->centre[i];
        delta = next_delta(delta, inner <= CAROM_INNER * start, steps);
        if (delta <= LEAST_DELTA) lower_the_bar(w, pb);
    }
    return it;
}

// What does not converge directly.  Large singular systems with friction need the adaptive sequence and get it at once.
static int run_sequences(newton *w, const carom_problem *pb, double *best) {
    int it = 0;
    for (int i = 0; i < pb->n; i++) w->safe[i] = w->p[i] = w->best[i];
    if (!w->friction || pb->n <= FEW) it = run_proximal(w, pb, best);
    if (w->friction && *best > w->target) it += run_adaptive(w, pb, best);
    for (int i = 0; i < pb->n; i++) w->best[i] = w->safe[i];
    return it;
}

// (SOL-31)  Worth a step?  Rounding is all that is left where the tolerance is tight.
static bool worth_it(const newton *w, const carom_problem *pb, double error) {
    double speed = 0;
    if (!carom_improvable(pb, error, w->target)) return false;
    for (int i = 0; i < pb->n; i++) speed = fmax(speed, fabs(pb->c[i]));
    return w->tol > CAROM_EXCUSED * speed;
}

static int polish(newton *w, const carom_problem *pb, double *best) {
    int it = 0;
    double inner;
    centre(w, pb, CAROM_IMPROVING, &inner);
    while (it < CAROM_IMPROVEMENTS && *best > CAROM_IMPROVED * w->target) {
        w->delta = CAROM_IMPROVING;
        for (int i = 0; i < pb->n; i++) w->old[i] = w->p[i];
        take_states(w);
        newton_step(w, pb, true);
        w->delta = 0;
        keep(w, pb->n, look(w, pb, NULL), best);
        it++;
    }
    return it;
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    newton *w = work;
    double best = INFINITY;
    carom_report report = {.converged = false};
    w->friction = w->singular = w->dependent = false;
    w->delta = 0;
    w->tol = tol;
    w->target = CAROM_AIM * tol;
    for (int k = 0; k < pb->nb; k++) w->friction = w->friction || carom_has_friction(pb->block + k);
    carom_problem_scales(pb, w->d);
    for (int i = 0; i < pb->n; i++) w->p[i] = pb->p[i];
    keep(w, pb->n, look(w, pb, NULL), &best);
    if (!(best < INFINITY)) return report;
    report.iterations = worth_it(w, pb, best) ? polish(w, pb, &best) : iterate(w, pb, &best);
    if (best > fmax(w->target, CAROM_AIM * pb->acceptable) && (w->friction || w->singular))
        report.iterations += run_sequences(w, pb, &best);
    for (int i = 0; i < pb->n; i++) pb->p[i] = w->best[i];
    report.converged = best <= tol;
    return report;
}

const carom_solver carom_solver_newton = {
    .name = "newton",
    .about = "semi-smooth Newton from the start given; all laws of contacts",
    .laws = CAROM_CONTACT_LAWS,
    .max_rows = 3000,
    .work_size = sizeof(newton),
    .allocate = allocate,
    .solve = solve,
};

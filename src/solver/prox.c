// prox.c: the prox fixed point, all blocks at once.
//
// Spec: docs/solvers.md, "prox".  Source: P. Alart, A. Curnier, Comput. Methods Appl. Mech. Engrg. 92 (1991) 353-375;
// step control after M. Foerg, F. Pfeiffer, H. Ulbrich, Multibody Syst. Dyn. 14 (2005) 1-15.  Linear convergence, slow
// when contacts are nearly dependent; needs no factorisation and is indifferent to rank.
#include "contact/law.h"
#include "solver/solvers.h"

enum { CHECK = 64 };                 // iterations
static const double SHORTEST = 1e-3; // factor of the step length

typedef struct {
    double *d, *r;    // scales; 1 / sum_j |G_ij|    n
    double *u, *f;    // velocity, natural map       n
    double *best;     // n
    double *before;   // p of the iterate before    n
    const carom_prox_rule *rule; // NULL: the defaults
} prox;

void carom_prox_set(void *work, const carom_prox_rule *rule) { ((prox *)work)->rule = rule; }

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    prox *w = work;
    (void)nb;
    CAROM_ALLOCATE(mem, (size_t)n, &w->d, &w->r, &w->u, &w->f, &w->best, &w->before);
    w->rule = NULL;
}

// r_i = 1 / sum_j |G_ij| makes the iteration safe for symmetric semi-definite G; tangential rows of a block share one
// r.
static void steps(prox *w, const carom_problem *pb) {
    if (w->rule && w->rule->r > 0) {
        for (int i = 0; i < pb->n; i++) w->r[i] = w->rule->r;
        return;
    }
    for (int i = 0; i < pb->n; i++) w->r[i] = 0;
    if (!pb->G) carom_rows_sums(pb, w->r);
    for (int j = 0; pb->G && j < pb->n; j++)
        for (int i = 0; i < pb->n; i++) w->r[i] += fabs(pb->G[i + (size_t)j * pb->ld]);
    for (int i = 0; i < pb->n; i++) w->r[i] = 1 / (w->r[i] > 0 ? w->r[i] : w->d[i]);
    for (int b = 0; b < pb->nb; b++)
        if (pb->block[b].law >= CAROM_SPATIAL) {
            const int tangents = carom_block_tangents(pb->block + b);
            double *r = w->r + pb->block[b].at + 1, least = r[0];
            for (int i = 1; i < tangents; i++) least = fmin(least, r[i]);
            for (int i = 0; i < tangents; i++) r[i] = least;
        }
}

// (SOL-10)  p_N = max(0, p_N - a r u_N),  p_T = proj(p_T - a r u_T) on the ball of radius mu p_N
static void project(prox *w, const carom_problem *pb, double a) {
    double *p = pb->p;
    for (int i = 0; i < pb->n; i++) p[i] -= a * w->r[i] * w->u[i];
    for (int k = 0; k < pb->nb; k++) {
        const carom_block *b = pb->block + k;
        double *x = p + b->at;
        if (b->law == CAROM_BILATERAL) continue;
        x[0] = x[0] > 0 ? x[0] : 0;
        if (b->law == CAROM_UNILATERAL) continue;
        const int tangents = carom_block_tangents(b);
        double xx = 0;
        for (int t = 1; t <= tangents; t++) xx += x[t] * x[t];
        const double limit = b->mu * x[0], size = b->law == CAROM_PLANAR ? fabs(x[1]) : sqrt(xx);
        const double s = size > limit ? limit / size : 1;
        for (int t = 1; t <= tangents; t++) x[t] *= s;
    }
}

// The size of a step: largest |p - x| of the rows.
static double change(const carom_problem *pb, const double *x) {
    double most = 0;
    for (int i = 0; i < pb->n; i++) most = fmax(most, fabs(pb->p[i] - x[i]));
    return most;
}

// The length of the next step.
// (SOL-25)  natural: |p_k+1 - p_k| < |p_k - p_k-1|, the natural monotonicity test, else half of the length and back to
//           p_k-1
static double next_length(prox *w, const carom_problem *pb, double a, bool down, bool first, double *moved) {
    const int test = w->rule ? w->rule->test : CAROM_PROX_RESIDUAL;
    if (test == CAROM_PROX_CONSTANT) return a;
    // Longer steps while it goes down, shorter ones when it goes up; 1.9 stays inside the stable range.
    if (test == CAROM_PROX_RESIDUAL) return down ? fmin(1.05 * a, 1.9) : fmax(0.6 * a, SHORTEST);
    if (first) return a;
    const double now = change(pb, w->before);
    if (now < *moved || now == 0 || !(a > SHORTEST * SHORTEST)) return *moved = now, a; // equal ones: a cycle
    for (int i = 0; i < pb->n; i++) pb->p[i] = w->before[i];
    carom_problem_multiply(pb, pb->p, w->u);
    *moved = INFINITY;
    return 0.5 * a;
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    prox *w = work;
    carom_report report = {.converged = false};
    double a = 1, best = INFINITY, last = INFINITY, mark = INFINITY, moved = INFINITY;
    const double stop = w->rule ? w->rule->stop : 0;
    int stale = 0;
    carom_problem_scales(pb, w->d);
    steps(w, pb);
    const double entries = pb->G ? (double)pb->n * pb->n : 10.0 * pb->n + 10.0 * pb->rows->start[pb->nb];
    // chosen: 4e7 products, and 500 passes more
    const double passes = 500 + 4e7 / (entries + 1);
    const int most = passes < 20000 ? (int)passes : 20000;
    for (; report.iterations < most; report.iterations++) {
        carom_problem_multiply(pb, pb->p, w->u);
        const double error = carom_problem_map(pb, w->d, pb->p, w->u, w->f, NULL);
        if (!(error < INFINITY)) break;
        if (error < best) {
            best = error;
            stale = 0;
            for (int i = 0; i < pb->n; i++) w->best[i] = pb->p[i];
            if (best <= CAROM_AIM * tol) break;
        } else if (++stale > 2000) break; // chosen: it wanders
        if (report.iterations % CHECK == CHECK - 1) {
            if (carom_stagnates(CAROM_AIM * pb->acceptable, mark, best)) break;
            mark = best;
        }
        a = next_length(w, pb, a, error <= last, report.iterations == 0, &moved);
        last = error;
        for (int i = 0; i < pb->n; i++) w->before[i] = pb->p[i];
        project(w, pb, a);
        // (SOL-26)  the residual of the augmented Lagrangian, p - proj(p - r u), against an absolute tolerance
        if (stop > 0 && change(pb, w->before) <= stop) {
            for (int i = 0; i < pb->n; i++) w->best[i] = w->before[i];
            report.converged = true, best = fmin(best, error);
            break;
        }
    }
    for (int i = 0; i < pb->n && best < INFINITY; i++) pb->p[i] = w->best[i];
    report.converged = report.converged || best <= tol;
    return report;
}

const carom_solver carom_solver_prox = {
    .name = "prox",
    .about = "prox fixed point over all blocks at once; all laws, slow and undemanding",
    .laws = CAROM_EVERY_LAW,
    .sparse = true,
    .work_size = sizeof(prox),
    .allocate = allocate,
    .solve = solve,
};

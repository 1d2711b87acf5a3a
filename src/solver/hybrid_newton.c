// hybrid_newton.c: semi-smooth Newton on the laws within a proximal sequence, on a sparse matrix of blocks.
//
// Spec: docs/solvers.md, "hybrid".  Sources: P. Alart, A. Curnier, Comput. Methods Appl. Mech. Engrg. 92 (1991)
// 353-375; R. T. Rockafellar, SIAM J. Control Optim. 14 (1976) 877-898 for the proximal sequence.  Undamped: a line
// search on the natural map stops at kinks where the undamped method goes on.
#include "contact/residual.h"
#include "solver/hybrid.h"
#include "solver/solvers.h"

enum { INNER = 14, OUTER = 600 }; // chosen: steps of a problem, after which delta grows; problems
static const double LEAST_DELTA = 1e-9;     // proximal term: a smaller one makes nothing independent
static const double NEARLY_SINGULAR = 1e-5; // factors of a smaller one lose half of the digits

// (SOL-13) of one block around p with the velocities v = u + delta d (p - centre), as  T u + S p = rhs.  False: open.
static bool linearise(carom_hybrid *w, int b, double delta) {
    const carom_block *k = w->pb.block + b;
    const int at = k->at, rows = w->size[b];
    const double *d = w->d + at, *p = w->p + at, *u = w->u + at, *centre = w->centre + at, *c = w->pb.c + at;
    double *T = w->T + CAROM_BLOCK_ROWS * (size_t)at, *S = w->S + CAROM_BLOCK_ROWS * (size_t)at, *rhs = w->rhs + at;
    double z[1 + CAROM_TANGENTS] = {0}, length = 0;
    for (int i = 0; i < rows; i++) z[i] = d[i] * p[i] - u[i] - delta * d[i] * (p[i] - centre[i]);
    if (k->law != CAROM_BILATERAL && !(z[0] > 0)) return false;
    for (int i = 1; i < rows; i++) length += z[i] * z[i];
    length = sqrt(length);
    const double mu = carom_has_friction(k) ? k->mu : 0, rho = rows > 1 ? mu * d[1] * z[0] / d[0] : 0;
    for (int q = 0; q < rows * rows; q++) S[q] = q % (rows + 1) == 0 ? delta * d[q / (rows + 1)] : 0;
    for (int i = 0; i < rows; i++) rhs[i] = delta * d[i] * centre[i] - c[i];
    w->plain[b] = rows == 1 || (mu > 0 && length <= rho); // u = 0
    if (w->plain[b]) return true;
    // slip:  d p_T - mu d s p_N - kappa P (d p_T - v_T) = 0,  P = I - s s'
    const double kappa = length > 0 ? rho / length : 0, per = length > 0 ? 1 / length : 0;
    double given[1 + CAROM_TANGENTS], s[1 + CAROM_TANGENTS];
    for (int i = 0; i < rows; i++) given[i] = rhs[i], s[i] = z[i] * per;
    for (int q = 0; q < rows * rows; q++) T[q] = 0;
    T[0] = 1;
    for (int i = 1; i < rows; i++) {
        rhs[i] = 0;
        S[i] = -mu * d[1] * s[i];
        for (int j = 1; j < rows; j++) {
            double P = i == j ? 0 : -s[i] * s[j];
            for (int m = 1; m < rows && i == j; m++) P += m == i ? 0 : s[m] * s[m]; // |s| = 1, without cancellation
            P *= kappa;
            T[i + j * rows] = P;
            S[i + j * rows] = d[1] * ((i == j) - P + delta * P);
            rhs[i] += P * given[j];
        }
    }
    return true;
}

// r = rhs - T G x - S x; open contacts are not part of the system
static void defect(carom_hybrid *w, const double *x) {
    carom_rows_multiply(&w->pb, x, w->r);
    for (int b = 0; b < w->pb.nb; b++) {
        if (w->lu.skip[w->lu.place[b]]) continue;
        const int at = w->first[b], rows = w->size[b];
        const double *T = w->T + CAROM_BLOCK_ROWS * (size_t)at, *S = w->S + CAROM_BLOCK_ROWS * (size_t)at;
        double g[1 + CAROM_TANGENTS], y[1 + CAROM_TANGENTS];
        for (int i = 0; i < rows; i++)
            g[i] = w->r[at + i] - w->pb.c[at + i], y[i] = w->rhs[at + i] - (w->plain[b] ? g[i] : 0);
        for (int j = 0; j < rows; j++)
            for (int i = 0; i < rows; i++)
                y[i] -= S[i + j * rows] * x[at + j] + (w->plain[b] ? 0 : T[i + j * rows] * g[j]);
        for (int i = 0; i < rows; i++) w->r[at + i] = y[i];
    }
}

// p of the law linearised at p.  False: singular.
static bool step(carom_hybrid *w, double delta) {
    const int n = w->pb.n;
    w->spent += carom_hybrid_factor_work(w) + carom_hybrid_sweep_work(w);
    for (int b = 0; b < w->pb.nb; b++) w->lu.skip[w->lu.place[b]] = !linearise(w, b, delta);
    if (!carom_block_lu_factor(&w->lu, &(carom_block_values){w->pb.rows->value, w->T, w->S, w->plain})) return false;
    carom_block_lu_solve(&w->lu, w->rhs, w->x);
    if (delta < NEARLY_SINGULAR) { // one step of refinement
        defect(w, w->x);
        carom_block_lu_solve(&w->lu, w->r, w->r);
        for (int i = 0; i < n; i++) w->x[i] += w->r[i];
    }
    double *t = w->p;
    w->p = w->x;
    w->x = t;
    w->iterations++;
    return true;
}

// Error of p in the problem with the proximal term.
static double proximal_error(carom_hybrid *w, double delta) {
    for (int i = 0; i < w->pb.n; i++) w->r[i] = w->u[i] + delta * w->d[i] * (w->p[i] - w->centre[i]);
    return carom_problem_map(&w->pb, w->d, w->p, w->r, w->f, NULL);
}

typedef struct { double start, best; int steps; bool solved; } inner;

// (SOL-16)  Up to INNER steps on  u + delta d (p - centre), until its error has fallen tenfold.  The best p is left in
//           w->p.  One that is not a number has no
// error below another, and the law linearised there opens the contact.
static inner solve_inner(carom_hybrid *w, double delta, double *kept) {
    inner s = {.best = INFINITY};
    for (; s.steps < INNER && !carom_hybrid_tired(w); s.steps++) {
        carom_hybrid_look(w);
        const double error = proximal_error(w, delta);
        if (s.steps == 0) s.start = error;
        if (error < s.best) {
            s.best = error;
            for (int i = 0; i < w->pb.n; i++) kept[i] = w->p[i];
        }
        s.solved = w->error <= w->target || (s.steps > 0 && error < CAROM_INNER * s.start);
        if (s.solved || !step(w, delta)) break;
    }
    if (!s.solved)
        for (int i = 0; i < w->pb.n; i++) w->p[i] = kept[i];
    return s;
}

// What rounding leaves in G p + c (CP-9) at the best point.
static double rounding(const carom_hybrid *w) {
    carom_problem at = w->pb;
    at.p = w->best;
    return carom_rounding(&at);
}

// It may be more than the target.
static void lower_the_bar(carom_hybrid *w) {
    const double most = CAROM_LOWERED_MOST * w->tol;
    if (w->error <= most) w->target = fmax(w->target, fmin(CAROM_LOWERED * rounding(w), most));
}

// Problems of the sequence that may pass without a gain: 60, and up to all of them where a factorisation is cheap,
// unless rounding is all that is left.
enum { LEAST = 60 };
static const double WORTH = 1e9; // operations of all these factorisations together
static const double GAIN = 0.9;  // of the error: problems that end above have not gained
static int patience(const carom_hybrid *w) {
    const double d = (double)w->pb.n / w->pb.nb, flops = 2 * d * d * d * (w->lu.work + w->pb.nb);
    return (int)fmin(fmax(WORTH / flops, LEAST), OUTER);
}

// (SOL-17)
static double first_delta(const carom_hybrid *w) {
    const double by_error = CAROM_DELTA_ROOT * sqrt(w->error / (w->speed > 0 ? w->speed : 1));
    return fmax(fmin(CAROM_DELTA_FIRST, by_error), LEAST_DELTA);
}

void carom_hybrid_polish(carom_hybrid *w) {
    for (int i = 0; i < w->pb.n; i++) w->centre[i] = w->p[i];
    for (int k = 0; k < CAROM_IMPROVEMENTS && w->error > CAROM_IMPROVED * w->target; k++)
        if (step(w, CAROM_IMPROVING)) carom_hybrid_look(w);
}

// (SOL-18)  delta falls while the inner problems are easy, and rises threefold when one fails.
void carom_hybrid_newton(carom_hybrid *w) {
    const int n = w->pb.n, wait = patience(w);
    double delta = first_delta(w), mark = w->error, last = w->error;
    for (int i = 0; i < n; i++) w->p[i] = w->best[i];
    for (int k = 1; k <= OUTER && w->error > w->target && !carom_hybrid_tired(w); k++) {
        const double before = w->error;
        for (int i = 0; i < n; i++) w->centre[i] = w->p[i];
        const inner s = solve_inner(w, delta, w->kept);
        if (carom_stagnates(CAROM_AIM * w->pb.acceptable, before, w->error)) return;
        if (s.solved) {
            const double by = s.steps <= 2 ? CAROM_DELTA_EASY : s.steps <= 4 ? CAROM_DELTA_FAIR : CAROM_DELTA_HARD;
            delta = fmax(delta * by, LEAST_DELTA);
        } else {
            for (int i = 0; i < n && !(s.best < 0.5 * s.start); i++) w->p[i] = w->centre[i];
            delta = fmin(CAROM_DELTA_GROWS * delta, CAROM_DELTA_MOST);
        }
        if (k % LEAST == 0) {
            if (w->error > GAIN * last && w->error <= rounding(w)) return;
            last = w->error;
        }
        if (k % wait != 0 && delta > LEAST_DELTA && s.solved) continue;
        lower_the_bar(w); // inner problems fail where rounding is all that is left
        if (k % wait != 0) continue;
        if (w->error > GAIN * mark) return;
        mark = w->error;
    }
}

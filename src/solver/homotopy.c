// homotopy.c: from a problem whose answer is known to the one that is asked, along the path of answers.
//
// Spec: docs/solvers.md, "homotopy".  Sources: E. L. Allgower, K. Georg, Introduction to Numerical Continuation Methods
// (SIAM, 2003), chapters 2, 10 and 15.  With friction the path may turn back, and where a contact opens, closes, sticks
// or slips it has a kink.  So the length of the path is followed and not t, and the sign of a determinant, which stays
// the same from end to end, tells behind a kink which of two directions is forward.
//
// All numbers are velocities divided by the largest |c|: x = d p.  The path is y = (x, tau).
#include "contact/law.h"
#include "contact/residual.h"
#include "linalg/dense.h"

static const double EXACT = 1e-13;    // error of a point of the path, relative to the largest x
static const double LAST = 18.4;      // tau at the end, 1 - t = 1e-8: what dependent contacts leave in the factors;
                                      // proximal steps remove what it leaves in x
static const double SINGULAR = 1e-14; // pivot, relative to its column
static const double FIRST = 0.05;     // length of the first step
static const double LONGEST = 0.2;    // and of the longest, relative to 1 + the largest x
static const double KINK = 1e-10;     // a step so short that still fails ends at a kink
static const double BEHIND = 0.1;     // length of the first step behind one
static const double ALONG = 0.95;     // cosine of 18 degrees: of a step and its direction, and of the direction where
                                      // it ends
static const double FAR = 1e9;        // larger impulses: the path goes to infinity, and the problem has most likely no
                                      // answer

enum { CORRECTIONS = 8, SYSTEMS = 4000, KINKS = 100 }; // quadratic, or the step is too long; bounds of the work

typedef struct {
    carom_problem pb;
    int n, m;                  // rows; n + 1
    double size;               // largest |c|
    double *scale, *d;         // of the certificate; of the path      n
    double *a;                 // the answer at t = 0                  n
    double *v, *f;             // G p + c; residuals of the equations  n, m
    double *p;                 // impulses of x                        n
    double *y, *trial;         // point of the path, the next one      m
    double *forward, *ahead;   // directions                           m
    double *end;               // (0, .., 0, 1)                        m
    double *A;                 // m x m
    int *pivot;                // m
    int systems;               // solved
    double error;              // of the answer
    bool positive;             // sign of the determinant along the path
} homotopy;

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    (void)nb;
    homotopy *w = work;
    const size_t k = (size_t)n, m = k + 1;
    CAROM_ALLOCATE(mem, k, &w->scale, &w->d, &w->a, &w->v, &w->p);
    CAROM_ALLOCATE(mem, m, &w->f, &w->y, &w->trial, &w->forward, &w->ahead, &w->end);
    w->A = carom_allocate(mem, m * m);
    w->pivot = carom_allocate_ints(mem, m);
}

static double largest(const double *x, int n) {
    double most = 0;
    for (int i = 0; i < n; i++) {
        if (!(fabs(x[i]) < INFINITY)) return INFINITY;
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// p and v = (G p + c) / size at x
static void look(homotopy *w, const double *x) {
    for (int i = 0; i < w->n; i++) w->p[i] = w->size * x[i] / w->d[i];
    carom_problem_multiply(&w->pb, w->p, w->v);
    for (int i = 0; i < w->n; i++) w->v[i] /= w->size;
}

// x_i = 0 in place of u_i = 0
static void release(homotopy *w, const double *y, int i) {
    for (int j = 0; j < w->m; j++) w->A[i + (size_t)j * w->m] = j == i;
    w->f[i] = y[i];
}

// Slip; the tangential rows of A are still those of u:  x_T - rho s = 0,  s = z_T/|z_T|.  With dz = dx - du,
// dx_T - s drho - (rho/|z_T|) (dz_T - s s'dz_T) = 0
static void slip(homotopy *w, const double *y, const carom_block *b, const double *z, double length) {
    const int i = b->at, tangents = carom_block_tangents(b);
    const double rho = b->mu * z[0], kappa = rho / length;
    double s[CAROM_TANGENTS];
    for (int t = 0; t < tangents; t++) {
        s[t] = z[1 + t] / length;
        w->f[i + 1 + t] = y[i + 1 + t] - rho * s[t];
    }
    for (int j = 0; j < w->m; j++) {
        double *a = w->A + i + (size_t)j * w->m, dz[CAROM_TANGENTS];
        for (int t = 0; t < tangents; t++) dz[t] = (j == i + 1 + t) - a[1 + t];
        const double drho = b->mu * ((j == i) - a[0]), along = carom_dot_in_order(s, dz, tangents);
        for (int t = 0; t < tangents; t++) a[1 + t] = (j == i + 1 + t) - s[t] * drho - kappa * (dz[t] - s[t] * along);
    }
}

// (SOL-24)  The law of a block; on entry its rows are u = 0.
static void impose(homotopy *w, const double *y, const carom_block *b) {
    const int i = b->at, tangents = carom_block_tangents(b);
    double z[1 + CAROM_TANGENTS] = {0};
    for (int k = 0; k <= tangents; k++) z[k] = y[i + k] - w->f[i + k];
    const bool open = !(z[0] > 0);
    if (open) release(w, y, i);
    for (int k = 1; k <= tangents && (open || !carom_has_friction(b)); k++) release(w, y, i + k);
    if (open || !carom_has_friction(b)) return;
    const double length = sqrt(carom_dot_in_order(z + 1, z + 1, tangents));
    if (length > b->mu * z[0]) slip(w, y, b, z, length);
}

// (SOL-23), (SOL-24) at y: residuals f and derivatives A, the last row being `border`.
static void linearise(homotopy *w, const double *y, const double *border) {
    const int n = w->n, m = w->m;
    const double rest = exp(-y[n]), t = 1 - rest;
    look(w, y);
    for (int j = 0; j < n; j++) {
        double *a = w->A + (size_t)j * m;
        const double *g = w->pb.G + (size_t)j * w->pb.ld;
        for (int i = 0; i < n; i++) a[i] = t * g[i] / w->d[j];
        a[j] += rest;
        a[n] = border[j];
    }
    double *last = w->A + (size_t)n * m;
    for (int i = 0; i < n; i++) {
        last[i] = rest * (w->v[i] - (y[i] - w->a[i]));
        w->f[i] = t * w->v[i] + rest * (y[i] - w->a[i]);
    }
    last[n] = border[n];
    for (int b = 0; b < w->pb.nb; b++) impose(w, y, w->pb.block + b);
}

static bool factorise(homotopy *w) {
    w->systems++;
    return carom_dense_lu(w->A, w->m, w->m, SINGULAR, w->pivot);
}

static bool positive(const homotopy *w) {
    bool sign = true;
    for (int k = 0; k < w->m; k++) sign ^= (w->A[(size_t)k * (w->m + 1)] < 0) ^ (w->pivot[k] != k);
    return sign;
}

// Newton on the path and  border'y = value,  from y, `least` steps and more.  False: it does not converge.
static bool correct(homotopy *w, double *y, const double *border, double value, int least) {
    double before = INFINITY;
    for (int k = 0; k < CORRECTIONS; k++) {
        linearise(w, y, border);
        w->f[w->n] = carom_dot_in_order(border, y, w->m) - value;
        const double error = largest(w->f, w->m);
        if (k >= least && error <= EXACT * (1 + largest(y, w->n))) return true;
        // not halved in three steps: it does not converge
        if (!(error < INFINITY) || (k % 3 == 2 && error > 0.5 * before) || !factorise(w)) return false;
        if (k % 3 == 2 || k == 0) before = error;
        carom_dense_lu_solve(w->A, w->m, w->m, w->pivot, w->f);
        for (int i = 0; i < w->m; i++) y[i] -= w->f[i];
    }
    return false;
}

// Forward at y, of length one: A ahead = 0, in the direction that the sign of the determinant tells.  w->forward below
// A makes it square.
static bool look_ahead(homotopy *w, const double *y) {
    linearise(w, y, w->forward);
    if (!factorise(w)) return false;
    for (int i = 0; i < w->m; i++) w->ahead[i] = i == w->n;
    carom_dense_lu_solve(w->A, w->m, w->m, w->pivot, w->ahead);
    const double length = sqrt(carom_dot_in_order(w->ahead, w->ahead, w->m)),
                 sign = positive(w) == w->positive ? 1 : -1;
    for (int i = 0; i < w->m; i++) w->ahead[i] *= sign / length;
    return true;
}

static void turn(homotopy *w) {
    for (int i = 0; i < w->m; i++) w->forward[i] = w->ahead[i];
}

// (CP-7), (CP-8) of p
static double error_of(homotopy *w, const double *p) {
    carom_problem_multiply(&w->pb, p, w->v);
    return carom_problem_map(&w->pb, w->scale, p, w->v, w->f, NULL);
}

// From `trial`, near the end: the answer there, and proximal steps around it.  False: that is not where the path ends.
static bool finish(homotopy *w, double target) {
    while (w->error > target && w->systems < SYSTEMS && correct(w, w->trial, w->end, LAST, 1)) {
        look(w, w->trial);
        const double error = error_of(w, w->p);
        if (!(error < w->error)) break;
        w->error = error;
        for (int i = 0; i < w->n; i++) w->a[i] = w->trial[i], w->pb.p[i] = w->p[i];
    }
    return w->error < INFINITY;
}

// A step of the path to w->trial, and the direction there.  False: no point of it was found in that direction and at
// that distance, or one of another branch: it lies aside, or the path comes from elsewhere there.
static bool advance(homotopy *w, double step) {
    for (int i = 0; i < w->m; i++) w->trial[i] = w->y[i] + step * w->forward[i];
    if (!correct(w, w->trial, w->forward, carom_dot_in_order(w->forward, w->y, w->m) + step, 0) ||
        !look_ahead(w, w->trial))
        return false;
    double moved = 0, along = 0;
    for (int i = 0; i < w->m; i++) {
        const double change = w->trial[i] - w->y[i];
        moved += change * change;
        along += change * w->ahead[i];
    }
    moved = sqrt(moved);
    return step >= ALONG * moved && along >= ALONG * moved;
}

static void arrive(homotopy *w) {
    for (int i = 0; i < w->m; i++) w->y[i] = w->trial[i];
    turn(w);
}

// The first step forward that works; 0: none.
static double leave(homotopy *w) {
    for (double step = BEHIND; step > KINK; step /= 10)
        if (advance(w, step)) return arrive(w), step;
    return 0;
}

// At a kink, at a distance of about `step`: on, along the tangent behind it.  The length of the step; 0: no way leads
// on.
static double pass_kink(homotopy *w, double step) {
    for (int i = 0; i < w->m; i++) w->trial[i] = w->y[i] + 10 * step * w->forward[i];
    if (!look_ahead(w, w->trial)) return 0;
    turn(w);
    return leave(w);
}

// Where a step crosses the end: the answer between its two points.
static bool end_between(homotopy *w, double target) {
    const double share = (LAST - w->y[w->n]) / (w->trial[w->n] - w->y[w->n]);
    for (int i = 0; i < w->m; i++) w->trial[i] = w->y[i] + share * (w->trial[i] - w->y[i]);
    return finish(w, target);
}

static void follow(homotopy *w, double target) {
    double step = FIRST;
    int kinks = 0;
    while (w->systems < SYSTEMS) {
        const bool moved = advance(w, step), crosses = moved && w->trial[w->n] >= LAST;
        if (crosses && end_between(w, target)) return;
        if (!moved || crosses) {
            step /= 3;
            if (step > KINK) continue;
            step = kinks++ < KINKS ? pass_kink(w, step) : 0;
            if (!(step > 0)) return;
            continue;
        }
        arrive(w);
        const double far = largest(w->y, w->n);
        if (far > FAR || w->y[w->n] < 0) return;
        step = fmin(2 * step, LONGEST * (1 + far));
    }
}

// Scales: those of the certificate; and for the path one of all rows of a contact, so that its cone keeps its shape.
static void begin(homotopy *w, const carom_problem *pb) {
    w->pb = *pb;
    w->n = pb->n;
    w->m = pb->n + 1;
    w->size = largest(pb->c, pb->n);
    w->systems = 0;
    w->error = INFINITY;
    carom_problem_scales(pb, w->scale);
    for (int b = 0; b < pb->nb; b++) {
        const int at = pb->block[b].at, rows = carom_law_rows(pb->block[b].law);
        const double d = largest(w->scale + at, rows);
        for (int i = 0; i < rows; i++) w->d[at + i] = d;
    }
}

// y = (a, 0): every contact presses and sticks, each a little differently, so that no two of them change at once where
// all are alike.
static bool set_out(homotopy *w) {
    if (!(w->size > 0 && w->size < INFINITY)) return false;
    for (int i = 0; i < w->m; i++) w->end[i] = w->forward[i] = i == w->n, w->y[i] = 0;
    for (int b = 0; b < w->pb.nb; b++)
        // parts of the golden section, no two of which are near each other
        w->y[w->pb.block[b].at] = 1 + 0.3 * fmod(0.6180339887 * (b + 1), 1);
    for (int i = 0; i < w->n; i++) w->a[i] = w->y[i];
    w->positive = true;
    if (!look_ahead(w, w->y)) return false;
    turn(w);
    w->positive = w->forward[w->n] > 0;
    for (int i = 0; i < w->m && !w->positive; i++) w->forward[i] = -w->forward[i];
    return true;
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    homotopy *w = work;
    begin(w, pb);
    if (error_of(w, pb->p) <= CAROM_AIM * tol) return (carom_report){.converged = true};
    if (set_out(w)) follow(w, CAROM_AIM * tol);
    return (carom_report){.converged = w->error <= tol, .iterations = w->systems};
}

const carom_solver carom_solver_homotopy = {
    .name = "homotopy",
    .about = "the path of answers from a problem that has one; all laws of contacts, few of them, slow",
    .laws = CAROM_CONTACT_LAWS,
    .max_rows = 60,
    .work_size = sizeof(homotopy),
    .allocate = allocate,
    .solve = solve,
};

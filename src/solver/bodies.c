// bodies.c: contact problems of many contacts in the space of bodies: sweeps with momentum, then accelerated ADMM.
//
// Spec: docs/solvers.md, "bodies".  G = J J' with a row of J for every row of the problem and six columns for every body, so that
// y = J'p are velocities in which the mass is the identity and u = J y + c: a product with G costs two with J, and neither G nor a factor of it
// is needed.  Sources: Y. Nesterov, Sov. Math. Dokl. 27 (1983) 372-376 for the momentum; hybrid_split.c and hybrid_accelerate.c for the rest.
#include "contact/law.h"
#include "solver/anderson.h"
#include "solver/local.h"
#include <string.h>

enum { SIZE = 6, SWEEPS = 30, CHECK = 4, MOST = 1000, WINDOW = 200, KRYLOV = 50 };
static const double RHO = 0.3, RELAX = 1.6;

typedef struct bodies {
    const carom_problem *pb;
    int n, nb, count;          // rows, contacts, bodies
    int *of;                   // 2 nb: bodies of each contact, -1: none
    double *J;                 // 2 SIZE n: of contact b from 2 SIZE at on, first body then second, by rows
    double *d, *scale;         // scales of rows; of contacts
    double *p, *u, *f, *best;  // n
    double *x, *z, *g, *step;  // ADMM, and sweeps
    carom_anderson anderson;
    double *y, *y_old, *y_new, *r, *w, *direction, *product; // SIZE bodies each
    double *diagonal;          // SIZE^2 bodies: inverses of the blocks of I + J'K J
    double error, target;
    int iterations;
} bodies;

static void carve(void *work, carom_arena *mem, int n, int nb) {
    bodies *w = work;
    const size_t m = (size_t)n, b = 2 * (size_t)nb;
    double **rows[] = {&w->d, &w->p, &w->u, &w->f, &w->best, &w->x, &w->z, &w->g, &w->step};
    double **by_body[] = {&w->y, &w->y_old, &w->y_new, &w->r, &w->w, &w->direction, &w->product};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i] = carom_carve(mem, m);
    for (size_t i = 0; i < sizeof by_body / sizeof *by_body; i++) *by_body[i] = carom_carve(mem, SIZE * b);
    w->scale = carom_carve(mem, (size_t)nb);
    w->of = carom_carve_ints(mem, b);
    w->J = carom_carve(mem, 2 * SIZE * m);
    w->diagonal = carom_carve(mem, SIZE * SIZE * b);
    carom_carve_anderson(&w->anderson, mem, n, 5);
}

// -- the problem ----------------------------------------------------------------------------------------------------------

// F = L L' of a symmetric positive block, lower triangle, column-major.  False: it is not.
static bool factor(const double *F, int n, double *L) {
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = F[i + j * n];
            for (int k = 0; k < j; k++) sum -= L[i + k * n] * L[j + k * n];
            if (i == j && !(sum > 0)) return false;
            L[i + j * n] = i == j ? sqrt(sum) : sum / L[j + j * n];
        }
    return true;
}

// J = A L with a M^-1 = L L', body by body.
static bool begin_rows(bodies *w, const carom_parts *x) {
    double L[SIZE * SIZE];
    int last = -1;
    for (int b = 0; b < w->nb; b++) {
        const int at = w->pb->block[b].at, rows = carom_rows_of(w->pb->block + b);
        double *J = w->J + 2 * SIZE * (size_t)at;
        memset(J, 0, 2 * SIZE * (size_t)rows * sizeof *J);
        w->of[2 * b] = w->of[2 * b + 1] = -1;
        for (int l = x->first[b]; l < x->first[b + 1]; l++) {
            const int part = x->link_part[l], n = x->part[part + 1] - x->part[part];
            if (l - x->first[b] == 2 || n > SIZE) return false;
            double F[SIZE * SIZE];
            for (int i = 0; i < n * n && part != last; i++) F[i] = x->scale * x->inverse[x->inverse_at[part] + (size_t)i];
            if (part != last && !factor(F, n, L)) return false;
            last = part;
            const double *A = x->A + x->link_at[l];
            double *to = J + (l - x->first[b]) * SIZE * rows;
            w->of[2 * b + l - x->first[b]] = x->link_body[l];
            for (int r = 0; r < rows; r++)
                for (int j = 0; j < n; j++)
                    for (int i = j; i < n; i++) to[r * SIZE + j] += A[r * n + i] * L[i + j * n];
        }
    }
    w->count = x->bodies;
    return true;
}

static inline void row_add(const double *restrict J, int rows, const double *restrict p, double *restrict y) { // y += J'p
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < SIZE; k++) y[k] += J[r * SIZE + k] * p[r];
}

static inline void row_take(const double *restrict J, int rows, const double *restrict y, double *restrict u) { // u += J y
    for (int r = 0; r < rows; r++) {
        const double *j = J + r * SIZE;
        u[r] += j[0] * y[0] + j[1] * y[1] + j[2] * y[2] + j[3] * y[3] + j[4] * y[4] + j[5] * y[5];
    }
}

static inline void contact_add(const bodies *w, int b, int rows, const double *p, double *y) {
    const double *J = w->J + 2 * SIZE * (size_t)w->pb->block[b].at;
    for (int s = 0; s < 2 && w->of[2 * b + s] >= 0; s++) row_add(J + s * SIZE * rows, rows, p, y + SIZE * (size_t)w->of[2 * b + s]);
}

static inline void contact_take(const bodies *w, int b, int rows, const double *y, double *u) {
    const double *J = w->J + 2 * SIZE * (size_t)w->pb->block[b].at;
    for (int s = 0; s < 2 && w->of[2 * b + s] >= 0; s++) row_take(J + s * SIZE * rows, rows, y + SIZE * (size_t)w->of[2 * b + s], u);
}

// y = J'p, u = J y + c, and the error of p; the best is kept.
static double look(bodies *w, const double *p, double *y) {
    memset(y, 0, SIZE * (size_t)w->count * sizeof *y);
    for (int b = 0; b < w->nb; b++) contact_add(w, b, carom_rows_of(w->pb->block + b), p + w->pb->block[b].at, y);
    for (int i = 0; i < w->n; i++) w->u[i] = w->pb->c[i];
    for (int b = 0; b < w->nb; b++) contact_take(w, b, carom_rows_of(w->pb->block + b), y, w->u + w->pb->block[b].at);
    const double error = carom_problem_map(w->pb, w->d, p, w->u, w->f, NULL);
    if (error < w->error) {
        w->error = error;
        memcpy(w->best, p, (size_t)w->n * sizeof *p);
    }
    return error < INFINITY ? error : INFINITY;
}

// -- sweeps with momentum -----------------------------------------------------------------------------------------------------

// (SOL-11) of all contacts, y follows; returns the largest change, as a velocity.
static double sweep(bodies *w, double *p, double *y) {
    double most = 0;
    for (int b = 0; b < w->nb; b++) {
        const carom_block *k = w->pb->block + b;
        const int rows = carom_rows_of(k), at = k->at;
        const double *g = carom_rows_diagonal_block(w->pb->rows, b);
        double u[1 + CAROM_TANGENTS], q[1 + CAROM_TANGENTS];
        for (int i = 0; i < rows; i++) u[i] = w->pb->c[at + i];
        contact_take(w, b, rows, y, u);
        if (carom_has_friction(k)) {
            if (p[at] == 0 && u[0] >= 0) continue; // open, and stays so
            for (int j = 0; j < rows; j++)
                for (int i = 0; i < rows; i++) u[i] -= g[i + j * rows] * p[at + j];
            carom_local_friction(g, rows, u, rows - 1, k->mu, q);
        } else {
            q[0] = g[0] > 0 ? p[at] - u[0] / g[0] : p[at];
            if (k->law != CAROM_BILATERAL && !(q[0] > 0)) q[0] = 0;
            for (int i = 1; i < rows; i++) q[i] = 0;
        }
        for (int i = 0; i < rows; i++) {
            const double change = q[i] - p[at + i];
            most = fmax(most, w->d[at + i] * fabs(change));
            p[at + i] = q[i];
            q[i] = change;
        }
        contact_add(w, b, rows, q, y);
    }
    return most;
}

// (SOL-21)  g_k = sweep(x_k),  x_k+1 = g_k + beta (g_k - g_k-1),  beta = (theta - 1)/theta',  theta' = (1 + sqrt(1 + 4 theta^2))/2;
//           theta = 1 again when a step turns back
static void sweeps(bodies *w) {
    const size_t rows = (size_t)w->n * sizeof(double), all = SIZE * (size_t)w->count * sizeof(double);
    double *x = w->x, *g = w->g, *last = w->z, theta = 1;
    memcpy(x, w->best, rows), memcpy(last, x, rows);
    memcpy(w->y_old, w->y, all);
    for (int it = 1; it <= SWEEPS; it++) {
        memcpy(g, x, rows), memcpy(w->y_new, w->y, all);
        const double change = sweep(w, g, w->y_new);
        w->iterations++;
        if (change <= 3 * w->target || it % 10 == 0 || it == SWEEPS) {
            look(w, g, w->y_new); // y anew: sums gather rounding
            if (w->error <= w->target) return;
        }
        double back = 0;
        for (int i = 0; i < w->n; i++) back += w->d[i] * (x[i] - g[i]) * (g[i] - last[i]);
        if (back > 0) theta = 1;
        const double next = 0.5 * (1 + sqrt(1 + 4 * theta * theta)), beta = (theta - 1) / next;
        theta = next;
        for (int i = 0; i < w->n; i++) x[i] = g[i] + beta * (g[i] - last[i]), last[i] = g[i];
        for (int i = 0; i < SIZE * w->count; i++) w->y[i] = w->y_new[i] + beta * (w->y_new[i] - w->y_old[i]), w->y_old[i] = w->y_new[i];
    }
}

// -- ADMM -----------------------------------------------------------------------------------------------------------------------

// The inverse of a symmetric positive matrix, in place.
static bool invert(double *A) {
    double L[SIZE * SIZE] = {0}, X[SIZE * SIZE] = {0};
    if (!factor(A, SIZE, L)) return false;
    for (int j = 0; j < SIZE; j++)
        for (int i = j; i < SIZE; i++) { // L^-1
            double sum = i == j;
            for (int k = j; k < i; k++) sum -= L[i + k * SIZE] * X[k + j * SIZE];
            X[i + j * SIZE] = sum / L[i + i * SIZE];
        }
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            double sum = 0;
            for (int k = i > j ? i : j; k < SIZE; k++) sum += X[k + i * SIZE] * X[k + j * SIZE];
            A[i + j * SIZE] = sum;
        }
    return true;
}

// Blocks of I + J'K J on the diagonal, inverted; K = 1/(rho d).
static bool precondition(bodies *w) {
    memset(w->diagonal, 0, SIZE * SIZE * (size_t)w->count * sizeof *w->diagonal);
    for (int i = 0; i < w->count; i++)
        for (int k = 0; k < SIZE; k++) w->diagonal[SIZE * SIZE * (size_t)i + (size_t)(k * (SIZE + 1))] = 1;
    for (int b = 0; b < w->nb; b++) {
        const int rows = carom_rows_of(w->pb->block + b);
        const double *J = w->J + 2 * SIZE * (size_t)w->pb->block[b].at, K = 1 / (RHO * w->scale[b]);
        for (int s = 0; s < 2 && w->of[2 * b + s] >= 0; s++, J += SIZE * rows) {
            double *A = w->diagonal + SIZE * SIZE * (size_t)w->of[2 * b + s];
            for (int r = 0; r < rows; r++)
                for (int i = 0; i < SIZE; i++)
                    for (int j = 0; j < SIZE; j++) A[i + j * SIZE] += K * J[r * SIZE + i] * J[r * SIZE + j];
        }
    }
    for (int i = 0; i < w->count; i++)
        if (!invert(w->diagonal + SIZE * SIZE * (size_t)i)) return false;
    return true;
}

// q = (I + J'K J) x
static void apply(const bodies *w, const double *x, double *q) {
    memcpy(q, x, SIZE * (size_t)w->count * sizeof *q);
    for (int b = 0; b < w->nb; b++) {
        const int rows = carom_rows_of(w->pb->block + b);
        double u[1 + CAROM_TANGENTS] = {0};
        contact_take(w, b, rows, x, u);
        for (int i = 0; i < rows; i++) u[i] /= RHO * w->scale[b];
        contact_add(w, b, rows, u, q);
    }
}

static double dot(const double *x, const double *y, int n) {
    double a = 0, b = 0;
    int i = 0;
    for (; i + 1 < n; i += 2) a += x[i] * y[i], b += x[i + 1] * y[i + 1];
    return i < n ? a + b + x[i] * y[i] : a + b;
}

// (I + J'K J) y = rhs, rhs in w->r, by conjugate gradients from the y that stands.
static void solve_bodies(bodies *w, double *y, double tol) {
    const int n = SIZE * w->count;
    double *r = w->r, *z = w->w, *p = w->direction, *q = w->product, rho = 0;
    apply(w, y, q);
    for (int i = 0; i < n; i++) r[i] -= q[i];
    for (int it = 0; it < KRYLOV && (it == 0 || dot(r, r, n) > tol * tol); it++) {
        for (int i = 0; i < w->count; i++) {
            const double *D = w->diagonal + SIZE * SIZE * (size_t)i, *a = r + SIZE * (size_t)i;
            double *to = z + SIZE * (size_t)i;
            for (int k = 0; k < SIZE; k++) to[k] = D[k] * a[0] + D[k + 6] * a[1] + D[k + 12] * a[2] + D[k + 18] * a[3] + D[k + 24] * a[4] + D[k + 30] * a[5];
        }
        const double now = dot(r, z, n), beta = it ? now / rho : 0;
        rho = now;
        for (int i = 0; i < n; i++) p[i] = it ? z[i] + beta * p[i] : z[i];
        apply(w, p, q);
        const double alpha = rho / dot(p, q, n);
        if (!(fabs(alpha) < 1e300)) return;
        for (int i = 0; i < n; i++) y[i] += alpha * p[i], r[i] -= alpha * q[i];
        w->iterations++;
    }
}

// x = z + w with z the impulse and -rho d w its velocity, at the best point.
static void split_start(bodies *w) {
    look(w, w->best, w->y);
    for (int b = 0; b < w->nb; b++) {
        const carom_block *k = w->pb->block + b;
        const int at = k->at, rows = carom_rows_of(k);
        const double s = -1 / (RHO * w->scale[b]), *u = w->u + at;
        double slip = 0;
        for (int i = 1; i < rows; i++) slip += u[i] * u[i];
        const bool open = k->law != CAROM_BILATERAL && w->best[at] == 0 && u[0] < 0;
        for (int i = 0; i < rows; i++) {
            const double v = open || k->law == CAROM_BILATERAL ? 0 : i ? u[i] : fmax(u[0] + (carom_has_friction(k) ? k->mu * sqrt(slip) : 0), 0);
            w->x[at + i] = w->best[at + i] + s * v;
        }
    }
}

// (SOL-22)  z = proj(x),  b = 2 z - x - K (c + mu |rho d w_T| n),  (I + J'K J) y = J'b,  p = b - K J y,  g(x) = x + 1.6 (p - z);
//           returns |d (g - x)|, the largest in *most.
static double split(bodies *w, double last, double *most) {
    const double *x = w->x;
    double *b_ = w->p, sum = 0;
    memset(w->r, 0, SIZE * (size_t)w->count * sizeof *w->r);
    for (int b = 0; b < w->nb; b++) {
        const carom_block *k = w->pb->block + b;
        const int at = k->at, rows = carom_rows_of(k);
        const double K = 1 / (RHO * w->scale[b]);
        double slip = 0;
        carom_cone_project(k, x + at, w->z + at);
        for (int i = at; i < at + rows; i++) {
            b_[i] = 2 * w->z[i] - x[i] - K * w->pb->c[i];
            if (i > at) slip += (x[i] - w->z[i]) * (x[i] - w->z[i]);
        }
        if (carom_has_friction(k)) b_[at] -= k->mu * sqrt(slip);
        contact_add(w, b, rows, b_ + at, w->r);
    }
    solve_bodies(w, w->y, fmin(0.1 * w->error, 0.1 * last));
    *most = 0;
    for (int b = 0; b < w->nb; b++) {
        const int at = w->pb->block[b].at, rows = carom_rows_of(w->pb->block + b);
        double u[1 + CAROM_TANGENTS] = {0};
        contact_take(w, b, rows, w->y, u);
        for (int i = 0; i < rows; i++) {
            const double e = RELAX * (b_[at + i] - u[i] / (RHO * w->scale[b]) - w->z[at + i]);
            w->g[at + i] = x[at + i] + e;
            w->step[at + i] = w->scale[b] * e;
            sum += w->step[at + i] * w->step[at + i];
            *most = fmax(*most, fabs(w->step[at + i]));
        }
    }
    return sqrt(sum);
}

static void splits(bodies *w) {
    const int n = w->n;
    double mark = INFINITY, most;
    if (!precondition(w)) return;
    split_start(w);
    carom_anderson_reset(&w->anderson, n);
    for (int it = 1; it <= MOST; it++) {
        const double size = split(w, w->anderson.last, &most);
        w->iterations++;
        if (!(size < INFINITY)) return;
        if (it % CHECK == 0 || most < w->target || it == MOST) {
            look(w, w->z, w->y_new);
            if (w->error <= w->target) return;
            if (it % WINDOW == 0 && w->error > 0.5 * mark) return;
            if (it % WINDOW == 0) mark = w->error;
        }
        carom_anderson_next(&w->anderson, w->x, w->g, w->step, size, 2);
    }
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    bodies *w = work;
    w->pb = pb;
    w->n = pb->n, w->nb = pb->nb;
    if (!pb->parts || !pb->rows || !begin_rows(w, pb->parts)) return (carom_report){.converged = false};
    carom_problem_scales(&(carom_problem){.n = pb->n, .nb = pb->nb, .block = pb->block, .rows = pb->rows}, w->d);
    for (int b = 0; b < pb->nb; b++) {
        const int rows = carom_rows_of(pb->block + b);
        w->scale[b] = 0;
        for (int i = 0; i < rows; i++) w->scale[b] += w->d[pb->block[b].at + i] / rows;
    }
    w->error = INFINITY;
    w->target = 0.5 * tol;
    w->iterations = 0;
    memcpy(w->best, pb->p, (size_t)pb->n * sizeof *pb->p);
    look(w, pb->p, w->y);
    if (!(w->error < INFINITY)) return (carom_report){.converged = false};
    if (w->error > w->target) sweeps(w);
    if (w->error > w->target) splits(w);
    memcpy(pb->p, w->best, (size_t)pb->n * sizeof *pb->p);
    return (carom_report){.converged = w->error <= tol, .iterations = w->iterations};
}

const carom_solver carom_solver_bodies = {
    .name = "bodies",
    .about = "sweeps and ADMM over bodies; all laws, thousands of contacts to moderate tolerances",
    .laws = CAROM_EVERY_LAW,
    .sparse = true,
    .parts = true,
    .work_size = sizeof(bodies),
    .carve = carve,
    .solve = solve,
};

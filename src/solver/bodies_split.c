// bodies_split.c: accelerated ADMM of the solver `bodies`.
//
// Spec: docs/solvers.md, "bodies", (SOL-22).
#include "base/tolerance.h"
#include "solver/bodies.h"
#include "base/team.h"
#include "solver/local.h"

enum { CHECK = 4, MOST = 1000, WINDOW = 200, KRYLOV = 50 }; // iterations between residuals; bounds of the work
// (SOL-22); relaxation of 1.5 to 1.8 is usual for ADMM; inner residuals follow the outer one
static const double RHO = 0.6, RELAX = 1.6, INEXACT = 0.3;

// The inverse of a symmetric positive matrix, in place.
static bool invert(double *A) {
    double L[SIZE * SIZE] = {0}, X[SIZE * SIZE] = {0};
    if (!carom_bodies_factor(A, SIZE, L)) return false;
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

static void scale_contacts(void *user, int part, int parts) {
    const task *t = user;
    const bodies *w = t->w;
    OWN_CONTACTS(w, part, parts, b) {
        const int at = w->block[b].at, rows = carom_rows_of(w->block + b);
        w->scale[b] = 0;
        for (int i = 0; i < rows; i++) w->scale[b] += w->d[at + i] / rows;
        w->K[b] = 1 / (RHO * w->scale[b]);
    }
}

// Blocks of I + J'K J on the diagonal, inverted; K = 1/(rho d).
static void precondition_part(void *user, int part, int parts) {
    task *t = user;
    bodies *w = t->w;
    int from, to;
    own_bodies(w, part, parts, &from, &to);
    for (int i = from; i < to; i++) {
        double *A = w->diagonal + SIZE * SIZE * (size_t)i;
        for (int k = 0; k < SIZE * SIZE; k++) A[k] = k % (SIZE + 1) == 0;
        for (int l = w->start[i]; l < w->start[i + 1]; l++) {
            const int b = w->at[l] / 2, at = w->block[b].at, rows = carom_rows_of(w->block + b);
            const double *J = w->J + SIZE * (size_t)(2 * at + (w->at[l] & 1) * rows), K = w->K[b];
            for (int r = 0; r < rows; r++)
                for (int m = 0; m < SIZE; m++)
                    for (int j = 0; j < SIZE; j++) A[m + j * SIZE] += K * J[r * SIZE + m] * J[r * SIZE + j];
        }
        if (!invert(A)) t->most[part] = INFINITY;
    }
}

static bool precondition(bodies *w) {
    task t = {.w = w};
    carom_team_run(w->team, scale_contacts, &t);
    carom_team_run(w->team, carom_bodies_list, &t);
    carom_team_run(w->team, precondition_part, &t);
    return largest(&t) < INFINITY;
}

// visit: product += J'K J direction
static double apply_turns(const task *t, int from, int to) {
    const bodies *w = t->w;
    for (int i = from; i < to; i++) {
        const int b = w->order[i], rows = carom_rows_of(w->block + b);
        double u[1 + CAROM_TANGENTS] = {0};
        contact_take(w, b, rows, w->direction, u);
        for (int k = 0; k < rows; k++) u[k] *= w->K[b];
        contact_add(w, b, rows, u, w->product);
    }
    return 0;
}

// product = (I + J'K J) direction; a thread's part of the direction stands.
static void apply(const task *t, int part, int parts, int *step) {
    const bodies *w = t->w;
    int from, to;
    own_bodies(w, part, parts, &from, &to);
    memcpy(w->product + SIZE * (size_t)from, w->direction + SIZE * (size_t)from,
           SIZE * (size_t)(to - from) * sizeof *w->product);
    carom_bodies_in_order(t, part, parts, step, apply_turns);
}

// Products x.y of the bodies of each piece, from `from` to `to`.
static void dots(const double *x, const double *y, int from, int to, double *sum) {
    for (int i = from; i < to; i += PIECE) {
        const int end = SIZE * (i + PIECE < to ? i + PIECE : to);
        double a = 0, b = 0;
        for (int k = SIZE * i; k < end; k += 2) a += x[k] * y[k], b += x[k + 1] * y[k + 1];
        sum[i / PIECE] = a + b;
    }
}

// y += alpha direction,  r -= alpha product,  w = D r,  and r.r, r.w
static void advance(void *user, int part, int parts) {
    const task *t = user;
    bodies *w = t->w;
    int from, to;
    own_bodies(w, part, parts, &from, &to);
    own_pieces(w->count, &from, &to);
    for (int i = SIZE * from; i < SIZE * to; i++)
        t->out[i] += t->alpha * w->direction[i], w->r[i] -= t->alpha * w->product[i];
    for (int i = from; i < to; i++) {
        const double *D = w->diagonal + SIZE * SIZE * (size_t)i, *a = w->r + SIZE * (size_t)i;
        double *z = w->w + SIZE * (size_t)i;
        for (int k = 0; k < SIZE; k++)
            z[k] = D[k] * a[0] + D[k + 6] * a[1] + D[k + 12] * a[2] + D[k + 18] * a[3] + D[k + 24] * a[4] +
                   D[k + 30] * a[5];
    }
    dots(w->r, w->r, from, to, w->sum[0]);
    dots(w->r, w->w, from, to, w->sum[1]);
}

// r = rhs - A y, and y again: a step of length 1 along y, from 0.
static void start_bodies(void *user, int part, int parts) {
    const task *t = user;
    const bodies *w = t->w;
    int from, to, step = 0;
    own_bodies(w, part, parts, &from, &to);
    const size_t at = SIZE * (size_t)from, bytes = SIZE * (size_t)(to - from) * sizeof *t->out;
    memcpy(w->direction + at, t->out + at, bytes);
    memset(t->out + at, 0, bytes);
    apply(t, part, parts, &step);
    advance(user, part, parts);
}

// direction = w + alpha direction, and its product
static void turn(void *user, int part, int parts) {
    const task *t = user;
    const bodies *w = t->w;
    int from, to, step = 0;
    own_bodies(w, part, parts, &from, &to);
    for (int i = SIZE * from; i < SIZE * to; i++)
        w->direction[i] = t->alpha != 0 ? w->w[i] + t->alpha * w->direction[i] : w->w[i];
    apply(t, part, parts, &step);
    own_pieces(w->count, &from, &to);
    dots(w->direction, w->product, from, to, w->sum[0]);
}

// (I + J'K J) y = rhs, rhs in w->r, by conjugate gradients from the y that stands.
static void solve_bodies(bodies *w, double *y, double tol) {
    task t = {.w = w, .out = y, .alpha = 1};
    carom_team_run(w->team, start_bodies, &t);
    double rho = 0;
    for (int it = 0; it < KRYLOV && (it == 0 || total(w->sum[0], w->count) > tol * tol); it++) {
        const double now = total(w->sum[1], w->count);
        t.alpha = it ? now / rho : 0;
        rho = now;
        carom_team_run(w->team, turn, &t);
        t.alpha = rho / total(w->sum[0], w->count);
        if (!(fabs(t.alpha) < CAROM_LARGEST)) return;
        carom_team_run(w->team, advance, &t);
        w->iterations++;
    }
}

// x = z + w with z the impulse and -rho d w its velocity, at the best point.
static void split_start(bodies *w) {
    for (int b = 0; b < w->nb; b++)
        memcpy(w->z + w->block[b].at, given_rows(w, b, w->given->p),
               (size_t)carom_rows_of(w->block + b) * sizeof *w->z);
    carom_bodies_look(w, w->z, w->y);
    for (int b = 0; b < w->nb; b++) {
        const carom_block *k = w->block + b;
        const int at = k->at, rows = carom_rows_of(k);
        const double s = -w->K[b], *u = w->u + at;
        double slip = 0;
        for (int i = 1; i < rows; i++) slip += u[i] * u[i];
        const bool open = k->law != CAROM_BILATERAL && w->z[at] == 0 && u[0] < 0;
        for (int i = 0; i < rows; i++) {
            const double v = open || k->law == CAROM_BILATERAL ? 0
                             : i                               ? u[i]
                                 : fmax(u[0] + (carom_has_friction(k) ? k->mu * sqrt(slip) : 0), 0);
            w->x[at + i] = w->z[at + i] + s * v;
        }
    }
}

// (SOL-22)  z = proj(x),  b = 2 z - x - K (c + mu |rho d w_T| n),  (I + J'K J) y = J'b,  p = b - K J y,  g(x) = x + 1.6
//           (p - z); returns |d (g - x)|, the largest in *most.
static void project(void *user, int part, int parts) {
    const task *t = user;
    const bodies *w = t->w;
    const double *x = w->x;
    OWN_CONTACTS(w, part, parts, b) {
        const carom_block *k = w->block + b;
        const int at = k->at, rows = carom_rows_of(k);
        const double K = w->K[b];
        double slip = 0;
        carom_cone_project(k, x + at, w->z + at);
        for (int i = at; i < at + rows; i++) {
            w->p[i] = 2 * w->z[i] - x[i] - K * w->c[i];
            if (i > at) slip += (x[i] - w->z[i]) * (x[i] - w->z[i]);
        }
        if (carom_has_friction(k)) w->p[at] -= k->mu * sqrt(slip);
    }
    int from, to, step = 0;
    own_bodies(w, part, parts, &from, &to);
    memset(t->out + SIZE * (size_t)from, 0, SIZE * (size_t)(to - from) * sizeof *t->out);
    carom_bodies_in_order(t, part, parts, &step, carom_bodies_push); // J'b
}

static void correct(void *user, int part, int parts) {
    task *t = user;
    const bodies *w = t->w;
    double most = 0;
    OWN_CONTACTS(w, part, parts, b) {
        const int at = w->block[b].at, rows = carom_rows_of(w->block + b);
        double u[1 + CAROM_TANGENTS] = {0}, sum = 0;
        contact_take(w, b, rows, w->y, u);
        for (int i = 0; i < rows; i++) {
            const double e = RELAX * (w->p[at + i] - w->K[b] * u[i] - w->z[at + i]);
            w->g[at + i] = w->x[at + i] + e;
            w->step[at + i] = w->scale[b] * e; // in place of p
            sum += w->step[at + i] * w->step[at + i];
            most = fmax(most, fabs(w->step[at + i]));
        }
        w->t[b] = sum;
    }
    t->most[part] = fmax(t->most[part], most);
}

// |step|, a sum of pieces; squares of contacts stand in w->t.
static double length(const bodies *w) {
    double all = 0;
    for (int from = 0; from < w->nb; from += PIECE) {
        double sum = w->t[from];
        for (int b = from + 1; b < from + PIECE && b < w->nb; b++) sum += w->t[b];
        all += sum;
    }
    return sqrt(all);
}

static double split(bodies *w, double last, double *most) {
    task t = {.w = w, .in = w->p, .out = w->r};
    carom_team_run(w->team, project, &t);
    solve_bodies(w, w->y, INEXACT * fmin(w->error, last));
    carom_team_run(w->team, correct, &t);
    *most = largest(&t);
    return length(w);
}

void carom_bodies_split(bodies *w) {
    const int n = w->n;
    double mark = INFINITY, most;
    if (!precondition(w)) return;
    split_start(w);
    carom_anderson_reset(&w->anderson, n, w->team);
    for (int it = 1; it <= MOST && !carom_bodies_tired(w); it++) {
        const double size = split(w, w->anderson.last, &most);
        w->iterations++;
        if (!(size < INFINITY)) return;
        carom_anderson_next(&w->anderson, w->x, w->g, w->step, size, 2);
        if (it % CHECK == 0 || most < w->target || it == MOST) {
            const double before = w->error;
            carom_bodies_look(w, w->z, w->y_new);
            if (w->error <= w->target ||
                carom_stagnates(CAROM_BODIES_AIM * w->given->acceptable, before, w->error))
                return;
            if (it % WINDOW == 0 && w->error > 0.5 * mark) return; // not halved in a window
            if (it % WINDOW == 0) mark = w->error;
        }
    }
}

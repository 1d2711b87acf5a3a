// bodies.c: contact problems of many contacts in the space of bodies: sweeps with momentum, then accelerated ADMM.
//
// Spec: docs/solvers.md, "bodies".  G = J J' with a row of J for every row of the problem and six columns for every
// body, so that y = J'p are velocities in which the mass is the identity and u = J y + c: a product with G costs two
// with J, and neither G nor a factor of it is needed.  Sources: Y. Nesterov, Sov. Math. Dokl. 27 (1983) 372-376 for the
// momentum; hybrid_split.c and hybrid_accelerate.c for the rest.
//
// Contacts are ordered by colour: those of one colour share no body, so threads may sweep them together
// (bodies_order.c).  A body sums up what its contacts give in their order, and sums over all are sums of pieces of
// fixed size: the bits do not depend on the number of threads.
#include "solver/bodies.h"
#include "solver/local.h"

enum { SWEEPS = 60, AHEAD = 4 }; // contacts

static void allocate(void *work, carom_arena *mem, int n, int nb) {
    bodies *w = work;
    const size_t m = (size_t)n, b = 2 * (size_t)nb;
    double **rows[] = {&w->d, &w->c, &w->p, &w->x, &w->z, &w->g};
    double **by_body[] = {&w->y, &w->product, &w->r, &w->w, &w->direction};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i] = carom_allocate(mem, m);
    for (size_t i = 0; i < sizeof by_body / sizeof *by_body; i++) *by_body[i] = carom_allocate(mem, SIZE * b);
    w->u = w->step = w->p, w->y_old = w->r, w->y_new = w->product;
    for (int i = 0; i < 2; i++) w->sum[i] = carom_allocate(mem, b / PIECE + m / PIECE + 2);
    CAROM_ALLOCATE(mem, (size_t)nb, &w->scale, &w->K);
    w->block = carom_allocate_bytes(mem, (size_t)nb * sizeof *w->block);
    w->from = carom_allocate_ints(mem, (size_t)nb);
    w->of = carom_allocate_ints(mem, b);
    w->start = carom_allocate_ints(mem, b + 1);
    w->at = carom_allocate_ints(mem, b);
    w->own = carom_allocate_ints(mem, CAROM_TEAM + 1);
    w->cut = carom_allocate_ints(mem, (COLOURS + 1) * (CAROM_TEAM + 1));
    w->middle = carom_allocate_ints(mem, (COLOURS + 1) * (CAROM_TEAM + 1));
    w->turn = carom_allocate_ints(mem, (size_t)nb);
    w->shared = carom_allocate_bytes(mem, b * sizeof *w->shared);
    w->J = carom_allocate(mem, 2 * SIZE * m);
    w->t = carom_allocate(mem, (size_t)nb);
    w->G = (void *)w->t;
    w->diagonal = carom_allocate(mem, SIZE * SIZE * b);
    carom_allocate_anderson(&w->anderson, mem, n, 5);
}

// -- sweeps with momentum ---------------------------------------------------------------------------------------------

// (SOL-11) of a contact, y follows; returns the largest change, as a velocity.  Inlined for its number of rows.
static inline double relax_rows(const bodies *w, int b, int rows, double *p, double *y) {
    const carom_block *k = w->block + b;
    const int at = k->at;
    const double *g = w->G[b];
    double u[1 + CAROM_TANGENTS], q[1 + CAROM_TANGENTS], most = 0;
    for (int i = 0; i < rows; i++) u[i] = w->c[at + i];
    contact_take(w, b, rows, y, u);
    if (carom_has_friction(k)) {
        if (p[at] == 0 && u[0] >= 0) return 0; // open, and stays so
        for (int j = 0; j < rows; j++)
            for (int i = 0; i < rows; i++) u[i] -= g[i + j * rows] * p[at + j];
        if (rows == 3) carom_local_spatial(g, 3, u, k->mu, 1e-6, q); // the next sweep changes more
        else carom_local_friction(g, rows, u, rows - 1, k->mu, q);
    } else {
        q[0] = carom_local_normal(k->law, g[0], u[0], p[at]);
        for (int i = 1; i < rows; i++) q[i] = 0;
    }
    for (int i = 0; i < rows; i++) {
        const double change = q[i] - p[at + i];
        most = fmax(most, w->d[at + i] * fabs(change));
        p[at + i] = q[i];
        q[i] = change;
    }
    contact_add(w, b, rows, q, y);
    return most;
}

static double relax(const bodies *w, int b, double *p, double *y) {
    const int rows = carom_rows_of(w->block + b);
    return rows == 3 ? relax_rows(w, b, 3, p, y) : relax_rows(w, b, rows, p, y);
}

static double relax_turns(const task *t, int from, int to) {
    const bodies *w = t->w;
    double most = 0;
    for (int i = from; i < to; i++) {
        if (i + AHEAD < to) __builtin_prefetch(w->G[w->turn[i + AHEAD]]); // these lie in another order
        most = fmax(most, relax(w, w->turn[i], t->out, w->y_new));
    }
    return most;
}

// new = x + alpha (x - before), in place and in `start`; before = x
static void extend(double *restrict x, double *restrict start, double *restrict before, double alpha, int n) {
    for (int i = 0; i < n; i++) {
        const double own = x[i];
        x[i] = start[i] = own + alpha * (own - before[i]);
        before[i] = own;
    }
}

// x and y of the next sweep, which begins from them.
static void extrapolate(const task *t, int part, int parts) {
    const bodies *w = t->w;
    int from, to;
    for (int k = 0; k < w->colours; k++) {
        own_rows(w, k, part, parts, &from, &to);
        extend(w->g + from, w->x + from, w->z + from, t->alpha, to - from);
    }
    own_bodies(w, part, parts, &from, &to);
    extend(w->y_new + SIZE * from, w->y + SIZE * from, w->y_old + SIZE * from, t->alpha, SIZE * (to - from));
}

// Products of pieces of (x - g) and (g - z).
static void turns_back(const bodies *w, int part, int parts) {
    for (int c = 0, from, to; c < w->colours; c++) {
        own_rows(w, c, part, parts, &from, &to);
        own_pieces(w->n, &from, &to);
        for (int i = from; i < to; i += PIECE) {
            const double *d = w->d, *x = w->x, *g = w->g, *z = w->z;
            double back = 0;
            for (int k = i; k < i + PIECE && k < w->n; k++) back += d[k] * (x[k] - g[k]) * (g[k] - z[k]);
            w->sum[0][i / PIECE] = back;
        }
    }
}

static void sweep_own(void *user, int part, int parts) {
    task *t = user;
    int step = 0;
    if (t->moves) extrapolate(t, part, parts);
    t->most[part] = carom_bodies_in_order(t, part, parts, &step, relax_turns);
    turns_back(t->w, part, parts);
}

// g = sweep(x), from where the last left off or, if that moves, alpha further; returns the largest change.
static double sweep(bodies *w, double alpha, bool moves) {
    task t = {.w = w, .out = w->g, .alpha = alpha, .moves = moves};
    carom_team_run(w->team, sweep_own, &t);
    return largest(&t);
}

static void begin_sweeps(void *user, int part, int parts) {
    const task *t = user;
    const bodies *w = t->w;
    int from, to;
    OWN_CONTACTS(w, part, parts, b) {
        const double *best = given_rows(w, b, w->given->p);
        // z: g_k-1
        for (int i = w->block[b].at, end = i + carom_rows_of(w->block + b); i < end; i++)
            w->x[i] = w->z[i] = w->g[i] = *best++;
    }
    own_bodies(w, part, parts, &from, &to);
    const size_t at = SIZE * (size_t)from, bytes = SIZE * (size_t)(to - from) * sizeof *w->y;
    memcpy(w->y_old + at, w->y + at, bytes), memcpy(w->y_new + at, w->y + at, bytes);
}

// (SOL-21)  g_k = sweep(x_k),  x_k+1 = g_k + beta (g_k - g_k-1),  beta = (theta - 1)/theta',  theta' = (1 + sqrt(1 + 4
//           theta^2))/2; theta = 1 again when a step turns back
static void sweeps(bodies *w) {
    double theta = 1, beta = 0;
    carom_team_run(w->team, begin_sweeps, &(task){.w = w});
    for (int it = 1; it <= SWEEPS; it++) {
        const double change = sweep(w, beta, it > 1);
        w->iterations++;
        if (change <= 3 * w->target || it % 10 == 0 || it == SWEEPS) {
            const double before = w->error;
            carom_bodies_look(w, w->g, w->y_new); // y anew: sums gather rounding
            if (w->error <= w->target || carom_stagnates(0.95 * w->given->enough, before, w->error)) return;
        }
        if (total(w->sum[0], w->n) > 0) theta = 1;
        const double next = 0.5 * (1 + sqrt(1 + 4 * theta * theta));
        beta = (theta - 1) / next;
        theta = next;
    }
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    bodies *w = work;
    w->given = pb;
    w->team = pb->team && pb->team->n > 1 && pb->team->await && pb->nb >= FEW ? pb->team : NULL;
    w->n = pb->n, w->nb = pb->nb;
    if (!pb->parts || !(pb->rows || pb->parts->diagonal) || !carom_bodies_begin(w))
        return (carom_report){.converged = false};
    w->error = INFINITY;
    w->target = 0.95 * tol; // the certificate measures the same, up to rounding
    w->iterations = 0;
    carom_bodies_look(w, w->z, w->y);
    if (!(w->error < INFINITY)) return (carom_report){.converged = false};
    if (w->error > w->target) sweeps(w);
    if (w->error > fmax(w->target, 0.95 * pb->enough)) carom_bodies_split(w);
    return (carom_report){.converged = w->error <= tol, .iterations = w->iterations};
}

const carom_solver carom_solver_bodies = {
    .name = "bodies",
    .about = "sweeps and ADMM over bodies; all laws, thousands of contacts to moderate tolerances",
    .laws = CAROM_EVERY_LAW,
    .sparse = true,
    .parts = true,
    .work_size = sizeof(bodies),
    .allocate = allocate,
    .solve = solve,
};

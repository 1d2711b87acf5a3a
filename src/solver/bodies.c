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
#include "base/team.h"
#include "solver/choice.h"
#include "solver/local.h"

static const double SWEPT = 1e-6; // of a friction direction: the next sweep changes more
enum { SWEEPS = 600, WINDOW = 150, LOOK = 10, AHEAD = 4 }; // the last: contacts

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
    w->order = carom_allocate_ints(mem, (size_t)nb);
    w->shared = carom_allocate_bytes(mem, b * sizeof *w->shared);
    w->J = carom_allocate(mem, 2 * SIZE * m);
    w->t = carom_allocate(mem, (size_t)nb);
    w->G = (void *)w->t;
    w->age = carom_allocate_bytes(mem, (size_t)nb);
    w->diagonal = carom_allocate(mem, SIZE * SIZE * b);
    const size_t mark = mem->used;
    carom_allocate_anderson(&w->anderson, mem, n, 5);
    const size_t end = mem->used;
    mem->used = mark; // sweeps are over when ADMM begins
    w->row = carom_allocate_bytes(mem, carom_bodies_four_size(n, nb));
    if (mem->used < end) mem->used = end;
    w->lead = w->at;
    w->limit = INFINITY;
}

// -- sweeps with momentum ---------------------------------------------------------------------------------------------

// (SOL-21) beta of a contact that has not turned back for so many sweeps; the last one counts for all that follow.
enum { AGES = CAROM_BODIES_AGES };

static void set_momentum(double *beta, float *beta_four) {
    double theta = 1;
    for (int i = 0; i < AGES; i++) {
        const double next = 0.5 * (1 + sqrt(1 + 4 * theta * theta));
        beta[i] = (theta - 1) / next;
        beta_four[i] = (float)beta[i];
        theta = next;
    }
}

// (SOL-2)  alpha = |u_T| / |p_T| of a contact that slips, near the answer.
static inline double slip_at(const double *u, const double *p, int rows) {
    double u_T = 0, p_T = 0;
    for (int i = 1; i < rows; i++) u_T += u[i] * u[i], p_T += p[i] * p[i];
    return p_T > 0 ? sqrt(u_T / p_T) : 0;
}

// (SOL-27) of a contact: x is where it begins, z its last answer, y_new follows, y_old gathers what extrapolation will
// add to that after the sweep.  Returns the largest change, as a velocity.  Inlined for its number of rows.
static inline double relax_rows(const bodies *w, int b, int rows) {
    const carom_block *k = w->block + b;
    const int at = k->at;
    const double *g = w->G[b], *d = w->d + at;
    double *x = w->x + at, *z = w->z + at, most = 0, back = 0;
    double u[1 + CAROM_TANGENTS], q[1 + CAROM_TANGENTS], e[1 + CAROM_TANGENTS];
    for (int i = 0; i < rows; i++) u[i] = w->c[at + i];
    contact_take(w, b, rows, w->y_new, u);
    if (carom_has_friction(k)) {
        if (x[0] == 0 && z[0] == 0 && u[0] >= 0) return w->age[b] = 0; // open, and stays so
        const carom_slip how = {SWEPT, slip_at(u, x, rows)};
        for (int j = 0; j < rows; j++)
            for (int i = 0; i < rows; i++) u[i] -= g[i + j * rows] * x[j];
        carom_local_friction(g, rows, u, rows - 1, k->mu, how, q);
    } else {
        q[0] = carom_local_normal(k->law, g[0], u[0], x[0]);
        for (int i = 1; i < rows; i++) q[i] = 0;
    }
    for (int i = 0; i < rows; i++) back += d[i] * (x[i] - q[i]) * (q[i] - z[i]);
    const int age = back > 0 ? 0 : w->age[b];
    w->age[b] = (unsigned char)(age < AGES - 1 ? age + 1 : age);
    for (int i = 0; i < rows; i++) {
        const double change = q[i] - x[i];
        most = fmax(most, d[i] * fabs(change));
        e[i] = w->beta[age] * (q[i] - z[i]);
        z[i] = q[i];
        x[i] = q[i] + e[i];
        q[i] = change;
    }
    contact_add(w, b, rows, q, w->y_new);
    contact_add(w, b, rows, e, w->y_old);
    return most;
}

static double relax(const bodies *w, int b) {
    const int rows = carom_rows_of(w->block + b);
    return rows == 3 ? relax_rows(w, b, 3) : relax_rows(w, b, rows);
}

static double relax_turns(const task *t, int from, int to) {
    const bodies *w = t->w;
    double most = 0;
    for (int i = from; i < to; i++) {
        if (i + AHEAD < to) __builtin_prefetch(w->G[w->order[i + AHEAD]]); // these lie in another order
        most = fmax(most, relax(w, w->order[i]));
    }
    return most;
}

static void sweep_own(void *user, int part, int parts) {
    task *t = user;
    const bodies *w = t->w;
    int step = 0, from, to;
    own_bodies(w, part, parts, &from, &to);
    for (int i = SIZE * from; i < SIZE * to; i++) {
        w->y_new[i] += w->y_old[i]; // what the last sweep extrapolated
        w->y_old[i] = 0;
    }
    t->most[part] = carom_bodies_in_order(t, part, parts, &step, relax_turns);
}

// One sweep more; returns the largest change.
static double sweep(bodies *w) {
    task t = {.w = w};
    carom_team_run(w->team, sweep_own, &t);
    return largest(&t);
}

static void begin_sweeps(void *user, int part, int parts) {
    const task *t = user;
    const bodies *w = t->w;
    int from, to;
    OWN_CONTACTS(w, part, parts, b) {
        const double *best = given_rows(w, b, w->given->p);
        w->age[b] = 0;
        for (int i = w->block[b].at, end = i + carom_rows_of(w->block + b); i < end; i++) w->x[i] = w->z[i] = *best++;
    }
    own_bodies(w, part, parts, &from, &to);
    const size_t at = SIZE * (size_t)from, bytes = SIZE * (size_t)(to - from) * sizeof *w->y;
    memset(w->y_old + at, 0, bytes);
    memcpy(w->y_new + at, w->y + at, bytes);
}

// Sweeps until the answers are good, or hardly better than a window ago: then ADMM goes on.
static void sweeps(bodies *w) {
    double mark = INFINITY, beta[AGES];
    float beta_four[AGES];
    set_momentum(beta, beta_four);
    w->beta = beta, w->beta_four = beta_four;
    w->four = carom_bodies_four_begin(w);
    if (w->four) carom_bodies_four_set(w, w->y, true);
    else carom_team_run(w->team, begin_sweeps, &(task){.w = w});
    for (int it = 1; it <= SWEEPS && !carom_bodies_tired(w); it++) {
        const double change = w->four ? carom_bodies_four_sweep(w) : sweep(w);
        w->iterations++, w->quick += w->four;
        // chosen: a look may pay
        if (change <= 3 * w->target || it % (w->four ? 2 * LOOK : LOOK) == 0) {
            const double before = w->error;
            if (w->four) carom_bodies_four_read(w);
            carom_bodies_look(w, w->z, w->y_new); // y anew: sums gather rounding
            if (w->four) carom_bodies_four_set(w, w->y_new, false);
            if (w->error <= w->target ||
                carom_stagnates(CAROM_BODIES_AIM * w->given->acceptable, before, w->error))
                return;
        }
        if (it % WINDOW == 0) {
            if (w->error > 0.5 * mark) return; // not halved: ADMM gains more
            mark = w->error;
        }
    }
}

static carom_report solve(void *work, carom_problem *pb, double tol) {
    bodies *w = work;
    w->given = pb;
    w->team = pb->team && pb->team->n > 1 && pb->team->wait && pb->nb >= FEW ? pb->team : NULL;
    w->n = pb->n, w->nb = pb->nb;
    if (!pb->parts || !(pb->rows || pb->parts->diagonal) || !carom_bodies_begin(w))
        return (carom_report){.converged = false};
    w->error = INFINITY;
    w->target = CAROM_BODIES_AIM * tol;
    w->iterations = w->quick = 0;
    carom_bodies_look(w, w->z, w->y);
    if (!(w->error < INFINITY)) return (carom_report){.converged = false};
    if (w->error > w->target) sweeps(w);
    if (w->error > fmax(w->target, CAROM_BODIES_AIM * pb->acceptable)) carom_bodies_split(w);
    return (carom_report){.converged = w->error <= tol, .iterations = w->iterations};
}

void carom_bodies_limit(void *work, double limit) { ((bodies *)work)->limit = limit; }

double carom_bodies_spent(const void *work) { return carom_bodies_work(work); }

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
